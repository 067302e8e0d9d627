#include "ptx/cuda/sections.hpp"

#include <gtest/gtest.h>

namespace ptx::cuda {
namespace {

constexpr std::string_view magic = "ptx-test";

std::string packed() {
  return pack_sections(magic, 3, std::vector<Section>{{"one", "first"}, {"", std::string(3, '\0')}, {"empty", ""}});
}
std::string refusal(std::string_view bytes, std::uint32_t newest = 3) {
  const auto read = unpack_sections(magic, newest, bytes, "`file`");
  EXPECT_FALSE(read);
  if (read) return "";
  EXPECT_EQ(read.error().kind, Kind::bad_image);
  return read.error().message;
}

TEST(Sections, come_back_in_order) {
  const auto read = unpack_sections(magic, 3, packed(), "`file`");
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(*read, (std::vector<Section>{{"one", "first"}, {"", std::string(3, '\0')}, {"empty", ""}}));
  EXPECT_TRUE(unpack_sections(magic, 4, packed(), "`file`")) << "older formats are read";
  EXPECT_TRUE(unpack_sections(magic, 1, pack_sections(magic, 1, {}), "`file`")->empty());
}

TEST(Sections, every_cut_and_every_changed_byte_is_seen) {
  const std::string whole = packed();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string said = refusal(std::string_view(whole).substr(0, length));
    EXPECT_NE(said.find(length == 0 ? "is empty" : "is cut off"), std::string::npos) << length << ": " << said;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (at >= 8 && at < 12) continue;  // the version, which may be an older one
    for (const int bit : {0, 7}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      EXPECT_FALSE(unpack_sections(magic, 3, changed, "`file`")) << "byte " << at;
    }
  }
  EXPECT_EQ(refusal(whole + "x"), "`file` is damaged: 1 bytes follow its last section");
}

TEST(Sections, foreign_and_newer_files_are_named) {
  EXPECT_EQ(refusal("\x7f"
                    "ELF and more"),
            "`file` is not one: it does not begin with pyptx's mark");
  EXPECT_EQ(refusal(packed(), 2), "`file` has format 3; this pyptx reads formats up to 2");
}

TEST(Sections, a_length_that_cannot_be_allocates_nothing) {
  std::string huge = packed();
  for (std::size_t at = 20; at < 28; ++at) huge[at] = '\xff';  // of the first section's bytes
  EXPECT_NE(refusal(huge).find("is cut off"), std::string::npos);
}

}  // namespace
}  // namespace ptx::cuda
