// The matrix product for Blackwell of the C++ examples, whose Python twin tests/python/test_examples_blackwell_gemm.py holds to
// the same text.
#include <gtest/gtest.h>

#include "examples/cpp/gemm_blackwell.hpp"
#include "tests/support/golden.hpp"

namespace ptx {
namespace {

TEST(ExampleGemmBlackwell, is_its_python_twin) {
  const std::string path = "tests/golden/write/gemm_blackwell_1000_520_4104.ptx";
  const auto compiled = compile(examples::gemm_blackwell(1000, 520, 4104));
  ASSERT_TRUE(compiled) << render(compiled.error());
  if (testing::blessing()) std::ofstream(path, std::ios::binary) << compiled->ptx();
  EXPECT_EQ(compiled->ptx(), testing::read_file(path)) << path << ": " << testing::how_to_bless;
}

TEST(ExampleGemmBlackwell, needs_rows_of_whole_sixteen_bytes) {
  const auto compiled = compile(examples::gemm_blackwell(64, 64, 60));
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().kind, Kind::bad_tile);
  EXPECT_NE(render(compiled.error()).find("120 bytes"), std::string::npos) << render(compiled.error());
}

}  // namespace
}  // namespace ptx
