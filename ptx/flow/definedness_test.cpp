#include "ptx/flow/definedness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ptx/flow/testing/code.hpp"

namespace ptx::flow {
namespace {

using testing::branch;
using testing::Code;
using testing::end;
using testing::Instruction;
using testing::jump;
using testing::plain;
using testing::Structure;

std::vector<std::pair<std::uint32_t, std::uint32_t>> undefined(const Code& code, std::size_t registers) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const MaybeUndefined& m : find_maybe_undefined(testing::graph_of(code), testing::uses_of(code), registers))
    found.emplace_back(m.instruction, m.reg);
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
  Instruction guarded = plain({1}, {0});
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
    const Code code = Structure(random, registers).code();
    Found expected;
    for (std::uint32_t reg = 0; reg < registers; ++reg) {
      std::vector<bool> unwritten(code.size() + 1);
      std::vector<std::size_t> open{0};
      while (!open.empty()) {
        const std::size_t at = open.back();
        open.pop_back();
        if (at >= code.size() || unwritten[at]) continue;
        unwritten[at] = true;
        const Instruction& inst = code[at];
        const auto has = [&](const std::vector<std::uint32_t>& list) {
          return std::find(list.begin(), list.end(), reg) != list.end();
        };
        if (has(inst.reads)) expected.emplace_back(static_cast<std::uint32_t>(at), reg);
        if (has(inst.writes) && !inst.guarded) continue;
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
}  // namespace ptx::flow
