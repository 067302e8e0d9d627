// Threads in random order: who counts on an order finds it changed, who does not gets the same.
#include <set>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu::threads_at_random {
namespace {

using testing::Buffer;
using testing::params;

std::vector<std::uint32_t> run(const std::shared_ptr<const Program>& program, std::uint32_t threads, std::uint64_t seed,
                               Threads order = Threads::random, std::uint32_t blocks = 1) {
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(1024)};
  LaunchConfig config = testing::block(threads);
  config.grid[0] = blocks;
  Options options;
  options.threads = order;
  options.seed = seed;
  const std::vector<Region> regions{out.region()};
  const auto report = program->run(config, params({out.address()}), regions, options);
  EXPECT_TRUE(report) << render(report.error());
  return out.data;
}

// Each thread draws a number, in one place for even threads and in another for odd ones.
std::shared_ptr<const Program> drawn() {
  return testing::text_program(
      ".param .u64 out",
      ".reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<3>; ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, "
      "%r0, 4; add.u64 %rd1, %rd0, %rd1; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra EVEN; atom.global.add.u32 %r2, "
      "[%rd0+2048], 1; bra DRAWN; EVEN: atom.global.add.u32 %r2, [%rd0+2048], 1; DRAWN: st.global.u32 [%rd1], %r2; ret;");
}

TEST(RandomThreads, ComeInAnyOrder) {
  const auto program = drawn();
  std::set<std::vector<std::uint32_t>> orders, of_warps, of_parts;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    std::vector<std::uint32_t> order = run(program, 128, seed);
    EXPECT_EQ(order, run(program, 128, seed)) << "seed " << seed << " gives one order";
    of_warps.insert({order[0] / 16, order[32] / 16, order[64] / 16, order[96] / 16});
    of_parts.insert({order[0] < order[1]});
    order.resize(128);
    std::vector<std::uint32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(sorted[i], i);
    orders.insert(std::move(order));
  }
  EXPECT_GT(orders.size(), 8u);
  EXPECT_GT(of_warps.size(), 4u);
  EXPECT_EQ(of_parts.size(), 2u);
  EXPECT_EQ(run(program, 128, 1, Threads::in_turn), run(program, 128, 2, Threads::in_turn));
}

// A lock that each lane takes in turn, parts that meet at barriers and exchange values, loops of lengths of their own.
TEST(RandomThreads, WhoNeedsNoOrderGetsTheSame) {
  const auto program = testing::text_program(
      ".param .u64 out",
      ".reg .b64 %rd<4>; .reg .b32 %r<12>; .reg .pred %p<4>; .shared .align 4 .b32 lock; .shared .align 4 .b32 sum; "
      "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1; setp.eq.u32 %p0, %r0, "
      "0; @%p0 st.shared.u32 [lock], 0; @%p0 st.shared.u32 [sum], 0; barrier.sync 0; "
      "TRY: atom.shared.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY; ld.shared.u32 %r2, [sum]; add.u32 %r2, "
      "%r2, %r0; st.shared.u32 [sum], %r2; atom.shared.exch.b32 %r1, [lock], 0; "
      "mov.u32 %r3, 0; and.b32 %r4, %r0, 7; LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r4; @%p2 bra LOOP; barrier.sync 0; "
      "shfl.sync.bfly.b32 %r5, %r3, 1, 31, -1; ld.shared.u32 %r6, [sum]; add.u32 %r6, %r6, %r5; st.global.u32 [%rd1], %r6; ret;");
  const std::vector<std::uint32_t> right = run(program, 96, 0, Threads::in_turn);
  EXPECT_EQ(right[0], 96u * 95 / 2 + 1);
  for (std::uint64_t seed = 0; seed < 24; ++seed) EXPECT_EQ(run(program, 96, seed), right) << "seed " << seed;
}

TEST(RandomThreads, AreAskedForByAWord) {
  EXPECT_EQ(threads_from_name("random"), Threads::random);
  EXPECT_EQ(threads_from_name(words_of_threads()[0]), Threads::in_turn);
  EXPECT_FALSE(threads_from_name("eager"));
  EXPECT_EQ(threads_of(Completion::lazy), Threads::in_turn);
  EXPECT_EQ(threads_of(Completion::random), Threads::random);
}

}  // namespace
}  // namespace ptx::vgpu::threads_at_random
