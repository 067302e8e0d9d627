// Kernels that nobody would write for a test, and somebody writes.
#include <numeric>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::params;

LaunchConfig config(std::uint32_t blocks, std::uint32_t threads) {
  LaunchConfig c;
  c.grid = {blocks, 1, 1};
  c.block = {threads, 1, 1};
  return c;
}
constexpr std::string_view start =
    ".reg .b64 %rd<6>; .reg .b32 %r<12>; .reg .pred %p<6>; ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r9, %ctaid.x; "
    "mov.u32 "
    "%r10, %ntid.x; mad.lo.u32 %r11, %r9, %r10, %r0; mul.wide.u32 %rd1, %r11, 4; add.u64 %rd0, %rd0, %rd1;\n";
std::vector<std::uint32_t> run(std::string_view body, std::uint32_t blocks, std::uint32_t threads, unsigned workers = 1) {
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(std::size_t{blocks} * threads)};
  Options options;
  options.workers = workers;
  testing::run(testing::text_program(".param .u64 out", cat(start, body)), config(blocks, threads), params({out.address()}),
               {out.region()}, options);
  return out.data;
}

TEST(Strange, LocalMemoryOfAnOddSizeIsAlignedInEveryLane) {
  for (const std::string_view odd : {"1", "2", "3", "7", "9", "15", "17"}) {
    const auto out = run(cat(".local .align 8 .u64 word; .local .b8 odd[", odd, R"(];
      mov.u64 %rd4, word; cvta.local.u64 %rd4, %rd4; mov.u64 %rd5, odd; cvta.local.u64 %rd5, %rd5;
      mul.lo.u32 %r1, %r11, 3; cvt.u64.u32 %rd2, %r1; st.volatile.u64 [%rd4], %rd2; st.volatile.u8 [%rd5], %r0;
      ld.volatile.u64 %rd3, [%rd4]; ld.volatile.u8 %r2, [%rd5]; cvt.u32.u64 %r3, %rd3; add.u32 %r3, %r3, %r2;
      st.global.u32 [%rd0], %r3; ret;)"),
                         2, 64);
    for (std::uint32_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 3 * i + i % 64) << "odd[" << odd << "], thread " << i;
  }
}

TEST(Strange, EveryThreadOfALargeBlockLeavesAtAnotherTime) {
  // thread t goes round hash(t) times and leaves by one of three exits; the rest of its warp goes on
  const auto out = run(R"(
    mul.lo.u32 %r1, %r0, 2654435761; shr.u32 %r1, %r1, 23; mov.u32 %r2, 0;
  L: setp.ge.u32 %p0, %r2, %r1; @%p0 bra OUT; add.u32 %r2, %r2, 1; and.b32 %r3, %r2, 63; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;
    and.b32 %r4, %r0, 7; setp.eq.u32 %p2, %r4, 5; @!%p2 bra L; st.global.u32 [%rd0], 77; exit;
  OUT: st.global.u32 [%rd0], %r2; and.b32 %r4, %r0, 1; setp.eq.u32 %p3, %r4, 0; @%p3 ret; exit;)",
                       2, 1024);
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    const std::uint32_t t = i % 1024, trips = t * 2654435761u >> 23;
    ASSERT_EQ(out[i], t % 8 == 5 && trips >= 64 ? 77 : trips) << t;
  }
}

TEST(Strange, BarriersInNestedLoopsThatWarpsLeaveEarly) {
  // warp w takes part in the first w + 1 rounds of 3 barriers each, and then exits
  const auto out = run(R"(
    shr.u32 %r1, %r0, 5; mov.u32 %r2, 0; mov.u32 %r5, 0;
  A: mov.u32 %r3, 0;
  B: bar.sync 0; add.u32 %r5, %r5, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, 3; @%p0 bra B;
    add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r1; @%p1 bra A;
    st.global.u32 [%rd0], %r5; ret;)",
                       3, 1024, 2);
  for (std::uint32_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 3 * (i % 1024 / 32 + 1));
}

TEST(Strange, ReturnsBeforeABarrierOfSomeLanesOfEveryWarp) {
  const auto out = run(R"(
    .shared .align 4 .b8 s[4096]; mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 4, %r1; st.shared.u32 [%r1], %r0;
    and.b32 %r2, %r0, 3; setp.eq.u32 %p0, %r2, 1; @%p0 ret;
    barrier.sync 0; xor.b32 %r3, %r0, 1023; mov.u32 %r4, s; mad.lo.u32 %r4, %r3, 4, %r4; ld.shared.u32 %r5, [%r4];
    setp.eq.u32 %p1, %r2, 2; @%p1 ret; barrier.sync 0; st.global.u32 [%rd0], %r5; ret;)",
                       1, 1024);
  for (std::uint32_t t = 0; t < 1024; ++t) ASSERT_EQ(out[t], t % 4 == 1 || t % 4 == 2 ? 0 : t ^ 1023);
}

TEST(Strange, DivergentLoopsWithinDivergentLoops) {
  const auto out = run(R"(
    and.b32 %r1, %r0, 7; mov.u32 %r2, 0; mov.u32 %r5, 0;
  A: setp.gt.u32 %p0, %r2, %r1; @%p0 bra DONE; mov.u32 %r3, 0;
  B: setp.ge.u32 %p1, %r3, %r2; @%p1 bra NEXT; add.u32 %r5, %r5, %r3; xor.b32 %r4, %r3, %r0; and.b32 %r4, %r4, 3;
    setp.eq.u32 %p2, %r4, 3; @%p2 bra NEXT; add.u32 %r3, %r3, 1; bra B;
  NEXT: add.u32 %r2, %r2, 1; bra A;
  DONE: redux.sync.add.u32 %r6, %r5, -1; st.global.u32 [%rd0], %r6; ret;)",
                       1, 32);
  std::uint32_t sum = 0;
  for (std::uint32_t t = 0; t < 32; ++t)
    for (std::uint32_t i = 0; i <= (t & 7); ++i)
      for (std::uint32_t j = 0; j < i; ++j) {
        sum += j;
        if (((j ^ t) & 3) == 3) break;
      }
  for (const std::uint32_t v : out) ASSERT_EQ(v, sum);
}

TEST(Strange, GridsOfEveryShapeAndOddBlocks) {
  const auto program = testing::text_program(
      ".param .u64 out",
      ".reg .b64 %rd<4>; .reg .b32 %r<20>; ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, "
      "%tid.z; "
      "mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z; mad.lo.u32 %r6, %r2, %r4, %r1; mad.lo.u32 %r6, %r6, "
      "%r3, %r0; "
      "mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z; mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y; "
      "mad.lo.u32 %r12, %r9, %r11, %r8; mad.lo.u32 %r12, %r12, %r10, %r7; mul.lo.u32 %r13, %r3, %r4; mul.lo.u32 %r13, %r13, %r5; "
      "mad.lo.u32 %r14, %r12, %r13, %r6; mul.wide.u32 %rd1, %r14, 4; add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r14; ret;");
  const std::array<std::uint32_t, 3> shapes[] = {{1, 1, 1}, {7, 3, 2}, {1, 1, 33}, {5, 40, 1}, {1, 31, 3}};
  for (const auto& grid : shapes)
    for (const auto& block : shapes) {
      const std::uint32_t threads = block[0] * block[1] * block[2];
      if (threads > 1024) continue;
      Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(std::size_t{threads} * grid[0] * grid[1] * grid[2])};
      LaunchConfig c;
      c.grid = grid;
      c.block = block;
      Options options;
      options.workers = 2;
      testing::run(program, c, params({out.address()}), {out.region()}, options);
      for (std::uint32_t i = 0; i < out.data.size(); ++i) ASSERT_EQ(out.data[i], i);
    }
}

TEST(Strange, KernelsOfAlmostNothing) {
  for (const std::string_view body : {"", "ret;", "exit;", "L: ret; bra L;", "{ { } }", "bra L; L:",
                                      ".reg .pred %p; setp.eq.u32 %p, 1, 1; @%p bra L; L: @!%p bra M; M:", "bar.sync 0;",
                                      "bar.sync 0; bar.sync 0; ret; bar.sync 1;", "barrier.sync 15; exit;"})
    for (const std::uint32_t threads : {1u, 32u, 33u, 1024u})
      testing::run(testing::text_program("", body), config(3, threads), {}, {});
}

TEST(Strange, UndefinedEverywhere) {
  // every warp of a large block is traced, exits at its own time, and comes back to barriers
  const auto out = run(R"(
    .reg .b32 %u; .shared .align 4 .b8 s[4096]; mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 4, %r1;
    add.u32 %r2, %u, 1; st.shared.u32 [%r1], %r2; bar.sync 0; ld.shared.u32 %r3, [%r1]; shfl.sync.bfly.b32 %r4, %r3, 16, 31, -1;
    and.b32 %r5, %r0, 1; setp.eq.u32 %p0, %r5, 0; @%p0 st.shared.u32 [%r1], %r0; bar.sync 0; selp.b32 %r6, %r0, %r4, %p0;
    @!%p0 ret; ld.shared.u32 %r7, [%r1]; add.u32 %r7, %r7, %r6; st.global.u32 [%rd0], %r7; ret;)",
                       2, 1024, 2);
  for (std::uint32_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i % 2 == 0 ? 2 * (i % 1024) : 0);
}

}  // namespace
}  // namespace ptx::vgpu
