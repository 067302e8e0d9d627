#include "ptx/vgpu/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ptx::vgpu {
namespace {

FlowInst made(std::int64_t target, bool falls_through, bool guarded) {
  FlowInst inst;
  inst.target = target;
  inst.falls_through = falls_through;
  inst.guarded = guarded;
  return inst;
}
FlowInst plain(const std::vector<std::uint32_t>& reads = {}, const std::vector<std::uint32_t>& writes = {}) {
  FlowInst inst = made(-1, true, false);
  inst.uses(reads, writes);
  return inst;
}
FlowInst jump(std::int64_t target) { return made(target, false, false); }
FlowInst branch(std::int64_t target) { return made(target, true, true); }
FlowInst end() { return made(-1, false, false); }

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

TEST(Order, StandsThousandsOfNestedLoops) {
  // heads 0 to n - 1, one inside the other, then their ends from the innermost out
  constexpr std::int64_t n = 8000;
  std::vector<Block> blocks;
  for (std::int64_t i = 0; i < 2 * n; ++i) blocks.push_back({0, 0, i + 1 < 2 * n ? i + 1 : -1, i < n ? -1 : 2 * n - 1 - i});
  const auto order = weak_topological_order(blocks);
  ASSERT_EQ(order.size(), static_cast<std::size_t>(2 * n));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// Code with structure at random: straight pieces, branches and loops in each other, breaks out of some.
class Structure {
 public:
  explicit Structure(std::mt19937& random, std::uint32_t registers) : random_(random), registers_(registers) {}
  std::vector<FlowInst> code() {
    body(0);
    code_.push_back(end());
    return std::move(code_);
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }
  void straight() {
    FlowInst inst = plain({below(registers_)}, {below(registers_)});
    inst.guarded = below(4) == 0;
    code_.push_back(inst);
  }
  void body(int depth) {
    for (std::uint32_t n = 1 + below(4); n > 0; --n) {
      const std::uint32_t kind = depth < 5 ? below(4) : 0;
      if (kind <= 1) {
        straight();
      } else if (kind == 2) {
        const std::size_t at = code_.size();
        code_.push_back(branch(0));
        body(depth + 1);
        code_[at].target = static_cast<std::int64_t>(code_.size());
      } else {
        const auto head = static_cast<std::int64_t>(code_.size());
        body(depth + 1);
        const std::size_t out = code_.size();
        code_.push_back(branch(0));
        body(depth + 1);
        code_.push_back(branch(head));
        code_[out].target = static_cast<std::int64_t>(code_.size());
      }
    }
    straight();
  }
  std::mt19937& random_;
  std::uint32_t registers_;
  std::vector<FlowInst> code_;
};

// Bourdoncle's own recursion: components of what is left, each after its head the same without the head.
class Bourdoncle {
 public:
  explicit Bourdoncle(std::span<const Block> blocks) : blocks_(blocks), number_(blocks.size()) {}
  std::vector<std::uint32_t> order() {
    visit(0, order_);
    std::reverse(order_.begin(), order_.end());
    return order_;
  }

 private:
  static constexpr std::uint32_t done = ~0u;
  template <class Use>
  void each_successor(std::uint32_t b, Use use) {
    if (blocks_[b].taken >= 0) use(static_cast<std::uint32_t>(blocks_[b].taken));
    if (blocks_[b].next >= 0) use(static_cast<std::uint32_t>(blocks_[b].next));
  }
  // Appends the components that `v` reaches, the last first, each reversed.
  std::uint32_t visit(std::uint32_t v, std::vector<std::uint32_t>& into) {
    stack_.push_back(v);
    std::uint32_t head = number_[v] = ++count_;
    bool loop = false;
    each_successor(v, [&](std::uint32_t w) {
      const std::uint32_t least = number_[w] == 0 ? visit(w, into) : number_[w];
      if (least <= head) head = least, loop = true;
    });
    if (head != number_[v]) return head;
    number_[v] = done;
    std::uint32_t element = stack_.back();
    stack_.pop_back();
    if (loop) {
      for (; element != v; element = stack_.back(), stack_.pop_back()) number_[element] = 0;
      std::vector<std::uint32_t> inner;
      each_successor(v, [&](std::uint32_t w) {
        if (number_[w] == 0) visit(w, inner);
      });
      into.insert(into.end(), inner.begin(), inner.end());
    }
    into.push_back(v);
    return head;
  }
  std::span<const Block> blocks_;
  std::vector<std::uint32_t> number_, stack_, order_;
  std::uint32_t count_ = 0;
};

TEST(Order, IsBourdonclesOnStructuredCode) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const std::vector<FlowInst> code = Structure(random, 4).code();
    const std::vector<Block> blocks = find_blocks(code);
    EXPECT_EQ(weak_topological_order(blocks), Bourdoncle(blocks).order()) << "round " << round;
  }
}

// Any edges at all: each block once, a loop's blocks together.
TEST(Order, HoldsEveryReachableBlockOnceWhateverTheEdges) {
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 1 + random() % 40;
    std::vector<Block> blocks;
    const auto edge = [&] { return static_cast<std::int64_t>(random() % (n + 1)) - 1; };
    for (std::size_t i = 0; i < n; ++i) blocks.push_back({0, 0, edge(), edge()});
    std::vector<bool> reached(n);
    std::vector<std::size_t> open{0};
    while (!open.empty()) {
      const std::size_t b = open.back();
      open.pop_back();
      if (reached[b]) continue;
      reached[b] = true;
      for (const std::int64_t to : {blocks[b].next, blocks[b].taken})
        if (to >= 0) open.push_back(static_cast<std::size_t>(to));
    }
    std::vector<bool> seen(n);
    for (const std::uint32_t b : weak_topological_order(blocks)) {
      EXPECT_FALSE(seen[b]);
      seen[b] = true;
    }
    EXPECT_EQ(seen, reached);
  }
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

// Against every register on its own: instructions that can be reached without a write of it before.
TEST(Undefined, FindsWhatASearchFromTheStartFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t registers = round % 20 == 0 ? 1100 : 6;  // more than are looked at together
    const std::vector<FlowInst> code = Structure(random, registers).code();
    Found expected;
    for (std::uint32_t reg = 0; reg < registers; ++reg) {
      std::vector<bool> unwritten(code.size() + 1);
      std::vector<std::size_t> open{0};
      while (!open.empty()) {
        const std::size_t at = open.back();
        open.pop_back();
        if (at >= code.size() || unwritten[at]) continue;
        unwritten[at] = true;
        const FlowInst& inst = code[at];
        const auto has = [&](std::span<const std::uint32_t> list) {
          return std::find(list.begin(), list.end(), reg) != list.end();
        };
        if (has(inst.reads())) expected.emplace_back(static_cast<std::uint32_t>(at), reg);
        if (has(inst.writes()) && !inst.guarded) continue;
        if (inst.falls_through) open.push_back(at + 1);
        if (inst.target >= 0) open.push_back(static_cast<std::size_t>(inst.target));
      }
    }
    std::sort(expected.begin(), expected.end());
    Found found = undefined(code, registers);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected) << "round " << round;
  }
}

TEST(Undefined, IgnoresWhatCannotBeReached) { EXPECT_EQ(undefined({jump(2), plain({0}), end()}, 1), Found{}); }

}  // namespace
}  // namespace ptx::vgpu
