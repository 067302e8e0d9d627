#include "ptx/isa/target.hpp"

#include <gtest/gtest.h>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

Target at(std::size_t i) { return static_cast<Target>(i); }

TEST(Target, NamesGoToAndFro) {
  for (std::size_t i = 0; i < target_count; ++i) {
    EXPECT_EQ(target_from_name(name(at(i))), at(i));
    const TargetInfo& t = info(at(i));
    const std::string suffix = t.variant == ' ' ? "" : std::string(1, t.variant);
    EXPECT_EQ(t.name, cat("sm_", t.base, suffix));
  }
  EXPECT_EQ(target_from_name("sm_91"), std::nullopt);
  EXPECT_EQ(target_from_name("sm_90A"), std::nullopt);
  EXPECT_EQ(target_from_name(""), std::nullopt);
}

TEST(Target, AllowsItselfAndOlderBaseTargets) {
  for (std::size_t i = 0; i < target_count; ++i)
    for (std::size_t j = 0; j < target_count; ++j) {
      const TargetInfo &t = info(at(i)), &u = info(at(j));
      if (i == j) {
        EXPECT_TRUE(allows(at(i), node(at(j))));
      } else if (u.variant == ' ') {
        EXPECT_EQ(allows(at(i), node(at(j))), u.base <= t.base) << t.name << ' ' << u.name;
      } else if (u.variant == 'a') {
        EXPECT_FALSE(allows(at(i), node(at(j)))) << t.name << ' ' << u.name << ": an exact target runs nowhere else";
      }
    }
}

TEST(Target, IsALattice) {
  for (std::size_t i = 0; i < target_count; ++i)
    for (std::size_t j = 0; j < target_count; ++j) {
      // transitive: what the targets that i implies imply, i implies
      const bool below = allows(at(i), node(at(j)));
      EXPECT_TRUE(!below || (implied(at(j)) & ~implied(at(i))) == 0) << name(at(i)) << ' ' << name(at(j));
      // antisymmetric
      EXPECT_TRUE(i == j || !below || !allows(at(j), node(at(i)))) << name(at(i)) << ' ' << name(at(j));
    }
}

TEST(Target, FamiliesReachTheirLaterMembersAlone) {
  EXPECT_TRUE(allows(Target::sm_100a, node(Target::sm_100f)));
  EXPECT_TRUE(allows(Target::sm_103f, node(Target::sm_100f)));
  EXPECT_TRUE(allows(Target::sm_103a, node(Target::sm_103f)));
  EXPECT_FALSE(allows(Target::sm_100f, node(Target::sm_103f)));
  EXPECT_FALSE(allows(Target::sm_103, node(Target::sm_100f)));
  EXPECT_FALSE(allows(Target::sm_103a, node(Target::sm_100a)));
  EXPECT_FALSE(allows(Target::sm_110a, node(Target::sm_100f)));
  EXPECT_FALSE(allows(Target::sm_120a, node(Target::sm_100f)));
  EXPECT_TRUE(allows(Target::sm_121a, node(Target::sm_120f)));
  EXPECT_FALSE(allows(Target::sm_90, node(Target::sm_90a)));
  EXPECT_FALSE(allows(Target::sm_100a, node(Target::sm_90a)));
  EXPECT_TRUE(allows(Target::sm_120, node(Target::sm_90)));
}

TEST(Target, SetsAreAnyOf) {
  const TargetSet either = node(Target::sm_90a) | node(Target::sm_100f);
  EXPECT_TRUE(allows(Target::sm_90a, either) && allows(Target::sm_103a, either));
  EXPECT_FALSE(allows(Target::sm_90, either) || allows(Target::sm_120a, either));
  EXPECT_EQ(list_targets(node(Target::sm_90a)), "`sm_90a`");
  EXPECT_EQ(list_targets(either), "`sm_90a` or `sm_100f`");
  EXPECT_EQ(list_targets(either | node(Target::sm_110a)), "`sm_90a`, `sm_100f` or `sm_110a`");
}

TEST(Target, VersionsOrder) {
  EXPECT_LT((Version{7, 8}), (Version{8, 0}));
  EXPECT_LT((Version{8, 6}), (Version{8, 8}));
  EXPECT_EQ(to_string(Version{8, 10}), "8.10");
  EXPECT_EQ(info(Target::sm_90a).since, (Version{8, 0}));
}

// The CUDA programming guide's "Technical Specifications per Compute Capability", and cuda_occupancy.h of CUDA 13.0, which alone
// knows 8.8: of that generation 8.0 and 8.7 have 164 KiB an SM, the others 100.
TEST(Targets, HaveTheSharedMemoryOfTheirMachines) {
  const struct {
    Target target;
    std::uint32_t kib;
  } cases[] = {{Target::sm_60, 48},   {Target::sm_70, 96},    {Target::sm_75, 64},   {Target::sm_80, 163}, {Target::sm_86, 99},
               {Target::sm_87, 163},  {Target::sm_88, 99},    {Target::sm_89, 99},   {Target::sm_90, 227}, {Target::sm_90a, 227},
               {Target::sm_100, 227}, {Target::sm_103a, 227}, {Target::sm_110, 227}, {Target::sm_120, 99}, {Target::sm_121a, 99}};
  for (const auto& c : cases) EXPECT_EQ(max_shared_bytes(c.target), c.kib * 1024) << name(c.target);
}

}  // namespace
}  // namespace ptx::isa
