// The kernel of the C++ example, whose Python twin tests/python/test_examples_norm.py holds to the same texts.
#include "examples/cpp/rms_norm.hpp"

#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace ptx {
namespace {

struct Case {
  const char* file;
  int rows, columns;
  Target arch;
  Type dtype;
};

class Example : public ::testing::TestWithParam<Case> {};

TEST_P(Example, rms_norm_is_its_python_twin) {
  const Case& c = GetParam();
  const auto compiled = compile(examples::rms_norm(c.rows, c.columns, 1e-6, c.arch, c.dtype));
  ASSERT_TRUE(compiled) << render(compiled.error());
  const std::string path = std::string("tests/golden/write/") + c.file;
  if (testing::blessing()) std::ofstream(path, std::ios::binary) << compiled->ptx();
  EXPECT_EQ(compiled->ptx(), testing::read_file(path)) << path << ": " << testing::how_to_bless;
}

INSTANTIATE_TEST_SUITE_P(sizes, Example,
                         ::testing::Values(Case{"rms_norm_16_512_f32.ptx", 16, 512, Target::sm_90a, Type::f32},
                                           Case{"rms_norm_3_1000_bf16.ptx", 3, 1000, Target::sm_80, Type::bf16},
                                           Case{"rms_norm_2_32776_bf16.ptx", 2, 32776, Target::sm_100a,
                                                Type::bf16}),  // longer than registers keep
                         [](const auto& test) { return testing::stem(test.param.file); });

TEST(Example, rms_norm_refuses_a_row_it_cannot_load) {
  EXPECT_THROW(examples::rms_norm(4, 510), std::invalid_argument);
  EXPECT_THROW(examples::rms_norm(4, 516, 1e-6, Target::sm_90a, Type::bf16), std::invalid_argument);
  EXPECT_THROW(examples::rms_norm(4, 512, 1e-6, Target::sm_90a, Type::f16), std::invalid_argument);
}

}  // namespace
}  // namespace ptx
