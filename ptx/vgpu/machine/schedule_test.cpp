// Convergence, barriers and fairness.
#include "ptx/vgpu/machine/schedule.hpp"

#include <numeric>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::params;

// ---- .sync instructions in parted warps -----------------------------------------------------------------------------

TEST(Sync, ExchangesBetweenDifferentPlaces) {
  // the same shfl.sync stands in both arms of a branch: the manual asks for the same opcode, qualifiers and membermask, not the
  // same place
  const auto program = testing::program(
      {".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]", "mov.u32 %r0, %laneid", "mul.wide.u32 %rd1, %r0, 4",
       "add.u64 %rd0, %rd0, %rd1", "and.b32 %r1, %r0, 1", "setp.eq.u32 %p0, %r1, 0", "@%p0 bra EVEN", "mul.lo.u32 %r2, %r0, 100",
       "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1", "bra JOIN", "EVEN:", "mul.lo.u32 %r4, %r0, 1000",
       "shfl.sync.bfly.b32 %r3, %r4, 1, 31, -1", "JOIN:", "st.global.b32 [%rd0], %r3", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
  testing::run(program, block(32), params({out.address()}), {out.region()});
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out.data[lane], lane % 2 == 0 ? (lane + 1) * 100 : (lane - 1) * 1000);
}

TEST(Sync, WaitsForAllMembersThatHaveNotExited) {
  // lanes 0 to 15 exit first; the others still name them in the membermask
  const auto program =
      testing::program({".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]", "mov.u32 %r0, %laneid",
                        "setp.lt.u32 %p0, %r0, 16", "@%p0 ret", "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1",
                        "redux.sync.add.u32 %r1, %r0, -1", "st.global.b32 [%rd0], %r1", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
  testing::run(program, block(32), params({out.address()}), {out.region()});
  for (std::uint32_t lane = 16; lane < 32; ++lane) EXPECT_EQ(out.data[lane], (16u + 31u) * 8u);
}

TEST(Sync, GroupsWithTheirOwnMembermasksDoNotMix) {
  // each quarter of the warp reduces by itself, with its membermask in a register
  const auto program =
      testing::program({".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]", "mov.u32 %r0, %laneid",
                        "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1", "and.b32 %r1, %r0, 24", "mov.u32 %r2, 255",
                        "shl.b32 %r2, %r2, %r1", "redux.sync.add.u32 %r3, %r0, %r2", "st.global.b32 [%rd0], %r3", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
  testing::run(program, block(32), params({out.address()}), {out.region()});
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out.data[lane], lane / 8 * 64 + 28);
}

TEST(Sync, AlignedBarriersWaitForTheRestOfTheWarp) {
  // a guard holds half of the warp back for a while: the barrier waits until it has exited
  const auto program = testing::program({".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]",
                                         "mov.u32 %r0, %tid.x", "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1",
                                         "and.b32 %r1, %r0, 16", "setp.ne.u32 %p0, %r1, 0", "@%p0 bra AWAY", "bar.sync 0",
                                         "st.global.b32 [%rd0], 1", "ret", "AWAY:", "st.global.b32 [%rd0], 2", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(64)};
  testing::run(program, block(64), params({out.address()}), {out.region()});
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out.data[t], (t & 16) != 0 ? 2u : 1u);
}

TEST(Sync, NonAlignedBarriersMayStandInBothArms) {
  const auto program = testing::program({".visible .entry k",
                                         ".param .u64 out",
                                         ".shared .align 4 .b8 flags[256]",
                                         "ld.param.u64 %rd0, [out]",
                                         "mov.u32 %r0, %tid.x",
                                         "mul.wide.u32 %rd1, %r0, 4",
                                         "add.u64 %rd0, %rd0, %rd1",
                                         "mov.u32 %r1, flags",
                                         "mad.lo.u32 %r2, %r0, 4, %r1",
                                         "st.shared.b32 [%r2], %r0",
                                         "and.b32 %r3, %r0, 1",
                                         "setp.eq.u32 %p0, %r3, 0",
                                         "@%p0 bra EVEN",
                                         "barrier.sync 0",
                                         "bra JOIN",
                                         "EVEN:",
                                         "barrier.sync 0",
                                         "JOIN:",
                                         "xor.b32 %r4, %r0, 33",
                                         "mad.lo.u32 %r4, %r4, 4, %r1",
                                         "ld.shared.b32 %r5, [%r4]",
                                         "st.global.b32 [%rd0], %r5",
                                         "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(64)};
  testing::run(program, block(64), params({out.address()}), {out.region()});
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out.data[t], t ^ 33);
}

// ---- barriers of the CTA ----------------------------------------------------------------------------------------------

TEST(Barrier, OrdersSharedMemoryBetweenWarps) {
  // a tree reduction over 256 threads
  std::vector<std::string> lines = {
      ".visible .entry k",        ".param .u64 out",   ".shared .align 4 .b8 sums[1024]", "ld.param.u64 %rd0, [out]",
      "mov.u32 %r0, %tid.x",      "mov.u32 %r1, sums", "mad.lo.u32 %r1, %r0, 4, %r1",     "mul.lo.u32 %r2, %r0, %r0",
      "st.shared.b32 [%r1], %r2", "bar.sync 0"};
  for (int half = 128; half >= 1; half /= 2)
    lines.insert(lines.end(),
                 {cat("setp.lt.u32 %p0, %r0, ", half), cat("@%p0 ld.shared.b32 %r3, [%r1+", 4 * half, "]"),
                  "@%p0 ld.shared.b32 %r4, [%r1]", "@%p0 add.u32 %r4, %r4, %r3", "@%p0 st.shared.b32 [%r1], %r4", "bar.sync 0"});
  lines.insert(lines.end(), {"setp.eq.u32 %p1, %r0, 0", "@%p1 ld.shared.b32 %r5, [%r1]", "mov.u32 %r6, %ctaid.x",
                             "mul.wide.u32 %rd1, %r6, 4", "add.u64 %rd0, %rd0, %rd1", "@%p1 st.global.b32 [%rd0], %r5", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(30)};
  LaunchConfig config = block(256);
  config.grid = {30, 1, 1};
  for (const unsigned workers : {1u, 3u}) {
    Options options;
    options.workers = workers;
    const Report report = testing::run(testing::program(lines), config, params({out.address()}), {out.region()}, options);
    EXPECT_EQ(report.ctas, 30u);
    for (const std::uint32_t sum : out.data) EXPECT_EQ(sum, 255u * 256u * 511u / 6u);
  }
}

TEST(Barrier, NamedOnesPassDataFromProducersToConsumers) {
  // warp 0 produces 8 values, one a round; warps 1 and 2 consume: full = barrier 1 (arrive, sync), empty = barrier 2 (sync,
  // arrive)
  const auto program = testing::program({".visible .entry k",
                                         ".param .u64 out",
                                         ".shared .align 4 .b8 slot[4]",
                                         "ld.param.u64 %rd0, [out]",
                                         "mov.u32 %r0, %tid.x",
                                         "mov.u32 %r1, 0",
                                         "mov.u32 %r9, 0",
                                         "setp.lt.u32 %p0, %r0, 32",
                                         "@%p0 bra PRODUCER",
                                         "CONSUMER:",
                                         "bar.sync 1, 96",
                                         "ld.shared.b32 %r2, [slot]",
                                         "mad.lo.u32 %r9, %r9, 10, %r2",
                                         "bar.arrive 2, 96",
                                         "add.u32 %r1, %r1, 1",
                                         "setp.lt.u32 %p1, %r1, 8",
                                         "@%p1 bra CONSUMER",
                                         "mul.wide.u32 %rd1, %r0, 4",
                                         "add.u64 %rd0, %rd0, %rd1",
                                         "st.global.b32 [%rd0], %r9",
                                         "ret",
                                         "PRODUCER:",
                                         "add.u32 %r3, %r1, 1",
                                         "st.shared.b32 [slot], %r3",
                                         "bar.arrive 1, 96",
                                         "bar.sync 2, 96",
                                         "add.u32 %r1, %r1, 1",
                                         "setp.lt.u32 %p1, %r1, 8",
                                         "@%p1 bra PRODUCER",
                                         "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(96)};
  testing::run(program, block(96), params({out.address()}), {out.region()});
  for (std::size_t t = 32; t < 96; ++t) EXPECT_EQ(out.data[t], 12345678u);
}

TEST(Barrier, DoesNotWaitForWarpsThatHaveExited) {
  const auto program =
      testing::program({"mov.u32 %r0, %tid.x", "setp.ge.u32 %p0, %r0, 64", "@%p0 ret", "bar.sync 0", "bar.sync 0", "ret"});
  testing::run(program, block(256), {}, {});
}

// ---- progress ---------------------------------------------------------------------------------------------------------

TEST(Progress, ALaneMayWaitForAnotherLaneOfItsWarp) {
  // lane l spins until flag l is set, then sets flag l + 1: without fairness the spinners run for ever
  const auto program = testing::program({".visible .entry k",
                                         ".param .u64 out",
                                         ".shared .align 4 .b8 flags[132]",
                                         "ld.param.u64 %rd0, [out]",
                                         "mov.u32 %r0, %laneid",
                                         "mov.u32 %r1, flags",
                                         "mad.lo.u32 %r1, %r0, 4, %r1",
                                         "st.shared.b32 [%r1+4], 0",
                                         "setp.eq.u32 %p0, %r0, 0",
                                         "@%p0 st.shared.b32 [%r1], 1",
                                         "bar.warp.sync -1",
                                         "SPIN:",
                                         "ld.volatile.shared.b32 %r2, [%r1]",
                                         "setp.eq.u32 %p1, %r2, 0",
                                         "@%p1 bra SPIN",
                                         "add.u32 %r3, %r2, 1",
                                         "st.volatile.shared.b32 [%r1+4], %r3",
                                         "mul.wide.u32 %rd1, %r0, 4",
                                         "add.u64 %rd0, %rd0, %rd1",
                                         "st.global.b32 [%rd0], %r2",
                                         "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
  const Report report = testing::run(program, block(32), params({out.address()}), {out.region()});
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out.data[lane], lane + 1);
  EXPECT_LT(report.warp_instructions, 30000u);
}

TEST(Progress, AWarpMayWaitForAnotherWarp) {
  const auto program =
      testing::program({".visible .entry k", ".shared .align 4 .b8 flag[4]", "mov.u32 %r0, %tid.x", "setp.eq.u32 %p0, %r0, 0",
                        "@%p0 st.shared.b32 [flag], 0", "bar.sync 0", "setp.eq.u32 %p1, %r0, 40", "@%p1 bra SET",
                        "SPIN:", "ld.acquire.cta.shared.b32 %r1, [flag]", "setp.eq.u32 %p2, %r1, 0", "@%p2 bra SPIN", "ret",
                        "SET:", "st.release.cta.shared.b32 [flag], 1", "ret"});
  testing::run(program, block(64), {}, {});
}

TEST(Progress, ABlockMayWaitForALaterBlock) {
  // block b waits for the flag of block b + 1; the last one sets its own: one worker must keep all of them going
  const auto program = testing::program(
      {".visible .entry k", ".param .u64 flags", "ld.param.u64 %rd0, [flags]", "mov.u32 %r0, %ctaid.x",
       "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1", "mov.u32 %r1, %nctaid.x", "sub.u32 %r1, %r1, 1",
       "setp.eq.u32 %p0, %r0, %r1", "@%p0 bra SET", "SPIN:", "ld.relaxed.gpu.global.b32 %r2, [%rd0+4]", "setp.eq.u32 %p1, %r2, 0",
       "@%p1 bra SPIN", "fence.acq_rel.gpu", "SET:", "st.release.gpu.global.b32 [%rd0], 1", "ret"});
  for (const unsigned workers : {1u, 2u}) {
    Buffer<std::uint32_t> flags{"flags", std::vector<std::uint32_t>(5)};
    LaunchConfig config = block(32);
    config.grid = {5, 1, 1};
    Options options;
    options.workers = workers;
    testing::run(program, config, params({flags.address()}), {flags.region()}, options);
    EXPECT_EQ(std::accumulate(flags.data.begin(), flags.data.end(), 0u), 5u);
  }
}

}  // namespace
}  // namespace ptx::vgpu
