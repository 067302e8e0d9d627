#include "ptx/text/text.hpp"

#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/script.hpp"

namespace ptx::text {
namespace {

using testing::Script;

// A golden of the printer is a script, the line `-- prints`, and the PTX that it prints as.
class TextGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(TextGolden, PrintsWhatItSays) {
  const std::string file = testing::read_file(GetParam());
  ASSERT_FALSE(file.empty()) << GetParam();
  std::vector<std::string> script;
  for (const std::string& line : testing::lines_of(file)) {
    if (line == "-- prints") break;
    script.push_back(line);
  }
  const std::string printed = print(Script::module(script, GetParam()));
  const std::string seen = testing::join_lines(script) + "-- prints\n" + printed;
  if (testing::blessing()) {
    std::ofstream(GetParam(), std::ios::binary) << seen;
    return;
  }
  EXPECT_EQ(file, seen) << testing::how_to_bless;
}

INSTANTIATE_TEST_SUITE_P(Files, TextGolden, testing::each_of(testing::golden_files("text")),
                         [](const auto& file) { return testing::stem(file.param); });

TEST(Print, IsTheSameForEqualModules) {
  const std::vector<std::string> script = {".param .u64 x", "ld.param.u64 %rd0, [x]", "ld.global.f32 %f0, [%rd0+4]", "ret"};
  EXPECT_EQ(print(Script::module(script, "a.py", 1)), print(Script::module(script, "b.py", 90)))
      << "places are no part of the text";
}

TEST(Print, OneItemHasNoIndentationAndNoNewline) {
  const ir::Module module = Script::module({"L:", "{", ".reg .b32 %q<4>", "@!%p1 fma.rn.f32 %f2, %f1, 0f3F800000, %f2", "// why",
                                            "raw foo.bar %q1;", "}", ".pragma \"nounroll\"", ".shared .align 16 .b8 tile[64]"});
  const ir::Function& f = module.functions[0];
  std::vector<std::string> items;
  for (const ir::Inst& item : f.body) items.push_back(print(module, f, item));
  EXPECT_EQ(items,
            (std::vector<std::string>{"L:", "{", ".reg .b32 %q<4>;", "@!%p1 fma.rn.f32 %f2, %f1, 0f3F800000, %f2;", "// why",
                                      "foo.bar %q1;", "}", ".pragma \"nounroll\";", ".shared .align 16 .b8 tile[64];"}));
}

TEST(List, SaysWhereEachItemStands) {
  ir::Module module = Script::module({".visible .entry one", "mov.u32 %r0, %tid.x", "L:", "ret", ".func two", "raw a;", "ret"});
  // raw text of several lines moves what follows
  module.functions[1].body[0].payload = module.intern("a;\nb;\nc;").index;
  const ir::Listing listing = list(module);
  ASSERT_EQ(listing.line_of.size(), 2u);
  EXPECT_EQ(listing.line(listing.line_of[0][0]), "mov.u32 %r0, %tid.x;");
  EXPECT_EQ(listing.line(listing.line_of[0][1]), "L:");
  EXPECT_EQ(listing.line(listing.line_of[0][2]), "ret;");
  EXPECT_EQ(listing.line(listing.line_of[1][0]), "a;");
  EXPECT_EQ(listing.line(listing.line_of[1][1]), "ret;");
  EXPECT_EQ(listing.line_of[1][1], listing.line_of[1][0] + 3);
  EXPECT_EQ(listing.text, print(module));
}

TEST(Spell, NumbersOfEverySize) {
  const ir::Module module =
      Script::module({"mov.b64 %rd0, -9223372036854775808", "mov.b64 %rd0, 9223372036854775807",
                      "mov.f64 %fd0, 0d7FF8000000000000", "mov.f32 %f0, 0f00000001", "ld.global.b32 %r0, [%rd0+-8]"});
  const ir::Function& f = module.functions[0];
  EXPECT_EQ(ir::spell(module, f, f.body[0]), "mov.b64 %rd0, -9223372036854775808;");
  EXPECT_EQ(ir::spell(module, f, f.body[1]), "mov.b64 %rd0, 9223372036854775807;");
  EXPECT_EQ(ir::spell(module, f, f.body[2]), "mov.f64 %fd0, 0d7FF8000000000000;");
  EXPECT_EQ(ir::spell(module, f, f.body[3]), "mov.f32 %f0, 0f00000001;");
  EXPECT_EQ(ir::spell(module, f, f.body[4]), "ld.global.b32 %r0, [%rd0+-8];");
}

}  // namespace
}  // namespace ptx::text
