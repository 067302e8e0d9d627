#include "ptx/vgpu/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ptx::vgpu {
namespace {

FlowInst plain(std::vector<std::uint32_t> reads = {}, std::vector<std::uint32_t> writes = {}) {
  return {0, -1, true, false, std::move(reads), std::move(writes)};
}
FlowInst jump(std::int64_t target) { return {0, target, false, false, {}, {}}; }
FlowInst branch(std::int64_t target) { return {0, target, true, true, {}, {}}; }
FlowInst end() { return {0, -1, false, false, {}, {}}; }

TEST(Blocks, BeginAtTargetsAndBehindBranches) {
  const std::vector<FlowInst> code = {plain(), branch(4), plain(), jump(5), plain(), end()};
  const auto blocks = find_blocks(code);
  ASSERT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks[0].last, 2u);
  EXPECT_EQ(blocks[0].next, 1);
  EXPECT_EQ(blocks[0].taken, 2);
  EXPECT_EQ(blocks[1].next, -1);
  EXPECT_EQ(blocks[1].taken, 3);
  EXPECT_EQ(blocks[2].next, 3);
  EXPECT_EQ(blocks[3].next, -1);
  EXPECT_EQ(blocks[4].first, 6u) << "the end of the body is a block of its own";
  EXPECT_EQ(blocks[4].last, 6u);
}

// Blocks by hand: {next, taken}.
std::vector<std::uint32_t> order_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> edges) {
  std::vector<Block> blocks;
  for (const auto& [next, taken] : edges) blocks.push_back({0, 0, next, taken});
  return weak_topological_order(blocks);
}

TEST(Order, KeepsStraightCodeAndDropsWhatCannotBeReached) {
  EXPECT_EQ(order_of({{1, -1}, {3, -1}, {3, -1}, {-1, -1}}), (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(Order, PutsBothSidesBeforeTheJoin) {
  const auto order = order_of({{1, 2}, {3, -1}, {-1, 3}, {-1, -1}});
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Order, KeepsLoopsTogetherAndTheirExitsBehind) {
  // 0 -> 1 (head) -> 2 -> 1; 1 -> 3 (exit), though the exit stands first in the text; 2 -> 4: a break out of the middle
  const auto order = order_of({{-1, 2}, {-1, -1}, {3, 1}, {4, 1}, {-1, 2}});
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 2, 3, 4, 1}));
  // two nested loops: inner head 2, outer head 1
  const auto nested = order_of({{1, -1}, {2, 5}, {3, 4}, {-1, 2}, {-1, 1}, {-1, -1}});
  EXPECT_EQ(nested, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Order, StandsManyThousandsOfBlocks) {
  constexpr std::int64_t n = 200000;
  std::vector<Block> blocks;
  for (std::int64_t i = 0; i < n; ++i) blocks.push_back({0, 0, i + 1 < n ? i + 1 : -1, i + 2 < n ? i + 2 : -1});
  const auto order = weak_topological_order(blocks);
  ASSERT_EQ(order.size(), static_cast<std::size_t>(n));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> undefined(const std::vector<FlowInst>& code, std::size_t registers) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const MaybeUndefined& m : find_maybe_undefined(code, find_blocks(code), registers)) found.emplace_back(m.inst, m.reg);
  return found;
}
using Found = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

TEST(Undefined, FollowsEveryPath) {
  EXPECT_EQ(undefined({plain({}, {0}), plain({0}, {1}), plain({1}), end()}, 2), Found{});
  EXPECT_EQ(undefined({plain({0}, {0}), plain({0}), end()}, 1), (Found{{0, 0}}));
  // written on one side only
  EXPECT_EQ(undefined({branch(3), plain({}, {0}), jump(3), plain({0}), end()}, 1), (Found{{3, 0}}));
  // on both
  EXPECT_EQ(undefined({branch(3), plain({}, {0}), jump(4), plain({}, {0}), plain({0}), end()}, 1), Found{});
}

TEST(Undefined, CountsNoGuardedWrite) {
  FlowInst guarded = plain({1}, {0});
  guarded.guarded = true;
  EXPECT_EQ(undefined({plain({}, {1}), guarded, plain({0}), end()}, 2), (Found{{2, 0}}));
}

TEST(Undefined, SeesLoops) {
  // the register is written at the end of the body and read at its start: undefined the first time round
  EXPECT_EQ(undefined({plain({0}), plain({}, {0}), branch(0), end()}, 1), (Found{{0, 0}}));
  EXPECT_EQ(undefined({plain({}, {0}), plain({0}), plain({}, {0}), branch(1), end()}, 1), Found{});
}

TEST(Undefined, IgnoresWhatCannotBeReached) { EXPECT_EQ(undefined({jump(2), plain({0}), end()}, 1), Found{}); }

}  // namespace
}  // namespace ptx::vgpu
