#include "ptx/cuda/target.hpp"

#include <gtest/gtest.h>

namespace ptx::cuda {
namespace {

Target target(std::string_view word) {
  auto parsed = parse_target(word);
  EXPECT_TRUE(parsed) << word;
  return parsed ? *parsed : Target{};
}

TEST(Target, reads_and_prints_back) {
  for (const char* word : {"sm_75", "sm_90", "sm_90a", "sm_100a", "sm_100f", "sm_121a"}) EXPECT_EQ(to_string(target(word)), word);
  EXPECT_EQ(target("sm_103a").capability, (ComputeCapability{10, 3}));
}

TEST(Target, refuses_what_is_none) {
  for (const char* word : {"", "sm_", "sm_9", "sm_90b", "sm_90aa", "sm_090", "compute_90", "sm_-90", "sm_999999"}) {
    const auto parsed = parse_target(word);
    ASSERT_FALSE(parsed) << word;
    EXPECT_EQ(parsed.error().kind, Kind::unknown_target);
  }
}

TEST(Target, is_found_in_a_text) {
  EXPECT_EQ(*target_of(".version 8.0\n.target sm_90a\n.address_size 64\n"), target("sm_90a"));
  EXPECT_EQ(*target_of("// .target sm_10\n/* .target sm_20 */ .version 8.0 // x\n\n.target\tsm_100f, debug\n"),
            target("sm_100f"));
  for (const char* text : {"", ".version 8.0", "/* open", ".entry k() {} .target sm_90", "mov"})
    EXPECT_FALSE(target_of(text)) << text;
  EXPECT_FALSE(target_of(".version 8.0\n.target map_f64_to_f32\n"));
}

TEST(Target, text_runs_where_ptxas_assembles_it_for) {
  const auto runs = [](std::string_view word, int major, int minor) { return runs_on(target(word), {major, minor}); };
  EXPECT_TRUE(runs("sm_90a", 9, 0));
  EXPECT_FALSE(runs("sm_90a", 10, 0));
  EXPECT_TRUE(runs("sm_90", 12, 1));
  EXPECT_TRUE(runs("sm_80", 9, 0));
  EXPECT_FALSE(runs("sm_100", 9, 0));
  EXPECT_TRUE(runs("sm_100f", 10, 3));
  EXPECT_FALSE(runs("sm_103f", 10, 0));
  EXPECT_FALSE(runs("sm_100f", 11, 0));
  EXPECT_FALSE(runs("sm_100f", 10, 1));  // the old number of 11.0
  EXPECT_TRUE(runs("sm_120f", 12, 1));
}

TEST(Target, a_cubin_stays_within_its_major_version) {
  const auto runs = [](std::string_view word, int major, int minor) {
    return runs_on(target(word), {major, minor}, ImageKind::cubin);
  };
  EXPECT_TRUE(runs("sm_80", 8, 9));
  EXPECT_FALSE(runs("sm_89", 8, 6));
  EXPECT_FALSE(runs("sm_80", 9, 0));
  EXPECT_TRUE(runs("sm_90a", 9, 0));
}

TEST(Target, names_what_a_gpu_can_do_most) {
  const auto name = [](int major, int minor) { return target_name(ComputeCapability{major, minor}); };
  EXPECT_EQ(name(9, 0), "sm_90a");
  EXPECT_EQ(name(10, 0), "sm_100a");
  EXPECT_EQ(name(10, 3), "sm_103a");
  EXPECT_EQ(name(11, 0), "sm_110a");
  EXPECT_EQ(name(12, 0), "sm_120a");
  EXPECT_EQ(name(12, 1), "sm_121a");
  EXPECT_EQ(name(8, 9), "sm_89");
}

TEST(Target, is_assembled_for_the_gpu_itself) {
  EXPECT_EQ(assembly_target(target("sm_80"), {9, 0}), "sm_90");
  EXPECT_EQ(assembly_target(target("sm_90a"), {9, 0}), "sm_90a");
  EXPECT_EQ(assembly_target(target("sm_100f"), {10, 3}), "sm_103f");
}

}  // namespace
}  // namespace ptx::cuda
