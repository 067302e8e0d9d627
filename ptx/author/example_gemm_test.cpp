// The matrix product of the C++ examples, whose Python twin tests/python/test_examples_hopper_gemm.py holds to the same text.
#include <gtest/gtest.h>

#include "examples/cpp/gemm_hopper.hpp"
#include "tests/support/golden.hpp"

namespace ptx {
namespace {

TEST(ExampleGemm, is_its_python_twin_for_any_sizes) {
  const std::string path = "tests/golden/write/gemm_warp_specialized.ptx";
  const auto compiled =
      compile(examples::gemm_warp_specialized(512, 768, 256), {std::int64_t{512}, std::int64_t{768}, std::int64_t{256}});
  ASSERT_TRUE(compiled) << render(compiled.error());
  if (testing::blessing()) std::ofstream(path, std::ios::binary) << compiled->ptx();
  EXPECT_EQ(compiled->ptx(), testing::read_file(path)) << path << ": " << testing::how_to_bless;

  const auto other =
      compile(examples::gemm_warp_specialized(72, 40, 8200), {std::int64_t{72}, std::int64_t{40}, std::int64_t{8200}});
  ASSERT_TRUE(other) << render(other.error());
  EXPECT_EQ(compiled->ptx(), other->ptx());
}

TEST(ExampleGemm, has_no_more_blocks_than_tiles) {
  EXPECT_EQ(examples::gemm::grid(8, 8), 2);
  EXPECT_EQ(examples::gemm::grid(512, 257), 8);
  EXPECT_EQ(examples::gemm::grid(8192, 8192), 132);
}

TEST(ExampleGemm, needs_rows_of_whole_sixteen_bytes) {
  const auto compiled =
      compile(examples::gemm_warp_specialized(64, 64, 60), {std::int64_t{64}, std::int64_t{64}, std::int64_t{60}});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().kind, Kind::bad_tile);
  EXPECT_NE(render(compiled.error()).find("120 bytes"), std::string::npos) << render(compiled.error());
}

}  // namespace
}  // namespace ptx
