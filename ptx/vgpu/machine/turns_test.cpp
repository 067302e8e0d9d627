// Kernels whose lengths, trip counts and warps lie on both sides of every place where the scheduler turns from one warp, or one
// block, to the next.
#include <set>

#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::params;

// Numbers around every multiple of a turn of the warp, and of the block.
std::vector<int> around_turns() {
  std::set<int> lengths;
  for (const auto turn : {warp_turn, cta_turn})
    for (const std::uint64_t multiple : {1, 2, 3})
      for (int off = -12; off <= 12; ++off)
        if (const auto at = static_cast<int>(turn * multiple) + off; at < 70000) lengths.insert(at);
  return {lengths.begin(), lengths.end()};
}

constexpr std::uint32_t lanes = 32;

// Each thread adds 1 `length` times without a jump, and stores the sum.
std::vector<std::string> straight(int length, bool barrier) {
  std::vector<std::string> lines = {".visible .entry k",   ".param .u64 out",           "ld.param.u64 %rd0, [out]",
                                    "mov.u32 %r0, %tid.x", "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1",
                                    "mov.u32 %r1, 0"};
  lines.insert(lines.end(), static_cast<std::size_t>(length), "add.u32 %r1, %r1, 1");
  if (barrier) lines.emplace_back("bar.sync 0");
  lines.insert(lines.end(), {"st.global.b32 [%rd0], %r1", "ret"});
  return lines;
}

TEST(Turns, StraightKernelsOfEveryLength) {
  for (int length = static_cast<int>(warp_turn) - 12; length < static_cast<int>(warp_turn) + 4; ++length)
    for (const bool barrier : {false, true}) {
      const auto program = testing::program(straight(length, barrier));
      for (const std::uint32_t threads : {1u, 32u, 33u, 64u, 128u}) {
        Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(threads)};
        LaunchConfig config;
        config.block = {threads, 1, 1};
        testing::run(program, config, params({out.address()}), {out.region()});
        for (const std::uint32_t sum : out.data) ASSERT_EQ(sum, length) << threads << " threads";
      }
    }
}

// Trip counts that end a warp at every instruction of its turn. The loop's body has an odd number of instructions, so that its
// exits fall on every remainder; the last lanes leave together, one after the other, or by a branch of half of them.
TEST(Turns, LoopsOfEveryTripCount) {
  const std::string_view endings[] = {"", "@%p1 ret;", "setp.lt.u32 %p1, %r0, 7; @%p1 bra L2; ret; L2: add.u32 %r1, %r1, 0;"};
  for (const std::string_view ending : endings) {
    const auto program = testing::text_program(
        ".param .u64 out, .param .u64 trips",
        cat(".reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p<3>; ld.param.u64 %rd0, [out]; ld.param.u32 %r2, [trips]; mov.u32 "
            "%r0, %tid.x; setp.ge.u32 %p1, %r0, 16; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1; mov.u32 %r1, 0; L1: "
            "add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %r2; @%p0 bra L1; st.global.b32 [%rd0], %r1; ",
            ending, " ret;"));
    for (const std::uint32_t warps : {1u, 2u, 5u})
      for (const int instructions : around_turns()) {
        if (warps != 1 && instructions > 3 * static_cast<int>(warp_turn)) continue;
        const auto trips = static_cast<std::uint32_t>(instructions / 3);
        Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(warps * lanes)};
        LaunchConfig config;
        config.block = {warps * lanes, 1, 1};
        testing::run(program, config, params({out.address(), trips}), {out.region()});
        for (const std::uint32_t sum : out.data) ASSERT_EQ(sum, trips) << warps << " warps, `" << ending << '`';
      }
  }
}

// Every thread runs for a time of its own and leaves; the others meet at barriers.
TEST(Turns, ThreadsLeaveAtTimesOfTheirOwn) {
  const auto program = testing::text_program(
      ".param .u64 out, .param .u64 scale",
      ".reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<3>; ld.param.u64 %rd0, [out]; ld.param.u32 %r2, [scale]; mov.u32 %r0, "
      "%tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1; mov.u32 %r1, 0; mul.lo.u32 %r3, %r0, %r2; L1: add.u32 %r1, "
      "%r1, 1; barrier.sync 0; setp.lt.u32 %p0, %r1, %r3; @%p0 bra L1; st.global.b32 [%rd0], %r1; ret;");
  for (const std::uint32_t threads : {32u, 64u, 96u, 256u})
    for (const std::uint32_t scale : {1u, 2u, 3u}) {
      Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(threads)};
      LaunchConfig config;
      config.block = {threads, 1, 1};
      testing::run(program, config, params({out.address(), scale}), {out.region()});
      for (std::uint32_t t = 0; t < threads; ++t) ASSERT_EQ(out.data[t], std::max(1u, t * scale));
    }
}

// The limit on instructions lies at every place of a short kernel.
TEST(Turns, StepLimitsOfEverySize) {
  const auto program = testing::program(straight(50, true));
  LaunchConfig config;
  config.block = {3 * lanes, 1, 1};
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(3 * lanes)};
  const std::uint64_t all = testing::run(program, config, params({out.address()}), {out.region()}).warp_instructions;
  for (std::uint64_t limit = 1; limit <= all + 2; ++limit) {
    Options options;
    options.max_instructions = limit;
    const std::vector<Region> regions = {out.region()};
    const auto report = program->run(config, params({out.address()}), regions, options);
    if (!report) {
      EXPECT_EQ(report.error().kind, Kind::step_limit) << limit;
    }
    if (limit >= all) {
      EXPECT_TRUE(report) << limit;
    }
  }
}

}  // namespace
}  // namespace ptx::vgpu
