// Reductions over barriers, arrivals without .aligned, the barrier of a cluster of one CTA, and fences.
#include <numeric>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::has_note;
using testing::params;

// `body` between: %r0 the thread, %x0 the thread's word of out, %p0 to %p3 and %r1 to %r9 free. What is in %r1 goes to out.
std::string kernel(std::string_view body) {
  return cat(
      ".reg .b64 %x<4>; .reg .b32 %r<10>; .reg .pred %p<4>;\nld.param.u64 %x0, [out];\nmov.u32 %r0, %tid.x;\n"
      "mul.wide.u32 %x1, %r0, 4;\nadd.u64 %x0, %x0, %x1;\n",
      body, "\nst.global.u32 [%x0], %r1;\nret;");
}
std::vector<std::uint32_t> run(std::string_view body, std::uint32_t threads, unsigned workers = 1) {
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(threads)};
  testing::run(testing::text_program(".param .u64 out", kernel(body)), block(threads), params({out.address()}), {out.region()},
               {.workers = workers});
  return out.data;
}
Diagnostic faulty(std::string_view body, std::uint32_t threads) {
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(threads)};
  return testing::fault(testing::text_program(".param .u64 out", kernel(body)), block(threads), params({out.address()}),
                        {out.region()});
}

// Which threads bring a true predicate: those whose bit of a pattern over 96 threads is set.
TEST(BarrierReductions, CountAndDecide) {
  for (const std::string form : {"bar", "barrier", "bar.cta", "barrier.cta"})
    for (const std::string aligned : {"", ".aligned"}) {
      if (form.starts_with("bar.") && !aligned.empty()) continue;
      if (form == "bar" && !aligned.empty()) continue;
      // true in threads below a bound, for bounds that are nobody, some, all but one, all
      for (const std::uint32_t bound : {0u, 1u, 37u, 95u, 96u}) {
        const auto test = [&](std::string_view op, std::string_view result, std::string_view c) {
          const bool counts = op == "popc";
          return run(
              cat("setp.lt.u32 %p0, %r0, ", bound, ";\n", form, ".red.", op, aligned, counts ? ".u32 %r1, 3, " : ".pred %p1, 3, ",
                  c, ";\n", counts ? "" : "selp.u32 %r1, 1, 0, %p1;\n", result),
              96);
        };
        EXPECT_EQ(test("popc", "", "%p0"), std::vector<std::uint32_t>(96, bound)) << form << bound;
        EXPECT_EQ(test("popc", "", "!%p0"), std::vector<std::uint32_t>(96, 96 - bound)) << form << bound;
        EXPECT_EQ(test("and", "", "%p0"), std::vector<std::uint32_t>(96, bound == 96 ? 1 : 0)) << form << bound;
        EXPECT_EQ(test("or", "", "%p0"), std::vector<std::uint32_t>(96, bound != 0 ? 1 : 0)) << form << bound;
      }
    }
}

TEST(BarrierReductions, AgainAndAgainAndInPartOfTheBlock) {
  // 20 rounds; in round i the threads below 3 * i say yes. Then the upper two warps alone, at another barrier.
  const auto seen = run(
      "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nTOP:\nmul.lo.u32 %r3, %r2, 3;\nsetp.lt.u32 %p0, %r0, %r3;\n"
      "bar.red.popc.u32 %r4, 0, %p0;\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 20;\n@%p1 bra TOP;\n"
      "setp.lt.u32 %p2, %r0, 32;\n@%p2 bra OUT;\nmov.pred %p3, 1;\nbar.red.popc.u32 %r4, 5, 64, %p3;\nmad.lo.u32 %r1, %r4, 1000, "
      "%r1;\nOUT:",
      96);
  const std::uint32_t sum = 3 * 19 * 20 / 2;
  for (std::uint32_t t = 0; t < 96; ++t) EXPECT_EQ(seen[t], sum + (t < 32 ? 0 : 64000));
}

TEST(BarrierReductions, ThreadsThatHaveExitedDoNotCount) {
  // half of warp 0 is gone, and warp 2 wholly; a block of 90 threads has a warp of 26
  const auto seen =
      run("setp.lt.u32 %p0, %r0, 16;\n@%p0 ret;\nsetp.ge.u32 %p0, %r0, 64;\n@%p0 ret;\nmov.pred %p1, 1;\n"
          "bar.red.popc.u32 %r2, 0, %p1;\nbar.red.and.pred %p2, 0, %p1;\nselp.u32 %r3, 100, 0, %p2;\nadd.u32 %r1, %r2, %r3;",
          90);
  for (std::uint32_t t = 0; t < 90; ++t) EXPECT_EQ(seen[t], t >= 16 && t < 64 ? 148u : 0u);
}

TEST(BarrierReductions, LanesMayComeFromDifferentPlaces) {
  const auto seen =
      run("and.b32 %r2, %r0, 1;\nsetp.eq.u32 %p0, %r2, 0;\nsetp.lt.u32 %p1, %r0, 20;\n@%p0 bra EVEN;\n"
          "barrier.red.popc.u32 %r1, 2, %p1;\nbra JOIN;\nEVEN:\nmov.pred %p2, 1;\nbarrier.red.popc.u32 %r1, 2, %p2;\nJOIN:",
          64);
  EXPECT_EQ(seen, std::vector<std::uint32_t>(64, 32 + 10));
}

TEST(BarrierReductions, WhatIsMisuse) {
  const Diagnostic mixed = faulty(
      "mov.u32 %r1, 0;\nsetp.lt.u32 %p0, %r0, 32;\n@%p0 bra FIRST;\nbar.sync 1;\nbra OUT;\nFIRST:\nbar.red.popc.u32 %r1, 1, "
      "%p0;\nOUT:",
      64);
  EXPECT_EQ(mixed.kind, Kind::barrier_misuse) << render(mixed);
  EXPECT_NE(mixed.message.find("all threads of a barrier reduce, or none"), std::string::npos) << mixed.message;
  const Diagnostic undefined = faulty(".reg .pred %u;\nbar.red.popc.u32 %r1, 0, %u;", 32);
  EXPECT_EQ(undefined.kind, Kind::uninitialised) << render(undefined);
}

TEST(BarrierArrival, WithoutAlignedTheLanesOfAWarpComeTogether) {
  // warp 0 produces from two places, warp 1 consumes
  const auto seen =
      run(".shared .u32 box[32];\nmov.u32 %r2, box;\nand.b32 %r3, %r0, 31;\nmad.lo.u32 %r2, %r3, 4, %r2;\nmov.u32 %r1, 7;\n"
          "setp.ge.u32 %p0, %r0, 32;\n@%p0 bra CONSUME;\nst.shared.u32 [%r2], %r0;\nsetp.lt.u32 %p1, %r0, 11;\n@%p1 bra HERE;\n"
          "barrier.arrive 4, 64;\nbra OUT;\nHERE:\nbarrier.arrive 4, 64;\nbra OUT;\nCONSUME:\nbarrier.sync 4, 64;\nld.shared.u32 "
          "%r1, [%r2];\nOUT:",
          64);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(seen[t], t < 32 ? 7 : t - 32);
}

TEST(ClusterBarrier, OfOneBlock) {
  for (const std::string aligned : {"", ".aligned"})
    for (const std::string sem : {"", ".relaxed", ".release"}) {
      const std::string acquire = sem == ".release" ? ".acquire" : "";
      const auto seen = run(
          cat(".shared .u32 box[96];\nmov.u32 %r2, box;\nmad.lo.u32 %r3, %r0, 4, %r2;\nmov.u32 %r1, 0;\nmov.u32 %r4, 0;\nTOP:\n"
              "add.u32 %r5, %r4, %r0;\nst.shared.u32 [%r3], %r5;\nbarrier.cluster.arrive",
              sem, aligned, ";\nbarrier.cluster.wait", acquire, aligned,
              ";\nsub.u32 %r6, 95, %r0;\nmad.lo.u32 %r6, %r6, 4, %r2;\nld.shared.u32 %r7, [%r6];\nadd.u32 %r1, %r1, %r7;\n"
              "barrier.cluster.arrive",
              aligned, ";\nadd.u32 %r4, %r4, 1;\nbarrier.cluster.wait", aligned, ";\nsetp.lt.u32 %p0, %r4, 5;\n@%p0 bra TOP;"),
          96);
      for (std::uint32_t t = 0; t < 96; ++t) EXPECT_EQ(seen[t], 5 * (95 - t) + 10) << sem << aligned;
    }
  // who exits need not come; nor do lanes of one warp have to come from one place
  const auto seen =
      run("setp.lt.u32 %p0, %r0, 40;\n@%p0 ret;\nand.b32 %r2, %r0, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra "
          "EVEN;\nbarrier.cluster.arrive;\n"
          "bra JOIN;\nEVEN:\nbarrier.cluster.arrive;\nJOIN:\nbarrier.cluster.wait;\nmov.u32 %r1, 5;",
          96);
  for (std::uint32_t t = 0; t < 96; ++t) EXPECT_EQ(seen[t], t < 40 ? 0u : 5u);
}

TEST(ClusterBarrier, WhatIsMisuse) {
  const Diagnostic alone = faulty("mov.u32 %r1, 0;\nbarrier.cluster.wait;", 32);
  EXPECT_EQ(alone.kind, Kind::barrier_misuse);
  EXPECT_NE(alone.message.find("to which it has not come"), std::string::npos) << alone.message;
  const Diagnostic twice = faulty(
      "mov.u32 %r1, 0;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 bra "
      "OUT;\nbarrier.cluster.arrive;\nbarrier.cluster.arrive;\nOUT:\nbar.sync 0;",
      64);
  EXPECT_EQ(twice.kind, Kind::barrier_misuse);
  EXPECT_NE(twice.message.find("a second time"), std::string::npos) << twice.message;
  const Diagnostic stuck = faulty(
      "mov.u32 %r1, 0;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 bra AWAY;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nbra "
      "OUT;\nAWAY:\nbar.sync 0;\nOUT:",
      64);
  EXPECT_EQ(stuck.kind, Kind::deadlock) << render(stuck);
  EXPECT_NE(render(stuck).find("waits at the cluster's barrier"), std::string::npos) << render(stuck);
}

TEST(Fences, OfEveryKind) {
  std::string body;
  for (const std::string_view fence : {"membar.cta",
                                       "membar.gl",
                                       "membar.sys",
                                       "fence.sc.gpu",
                                       "fence.acq_rel.cta",
                                       "fence.acq_rel.cluster",
                                       "fence.proxy.alias",
                                       "membar.proxy.alias",
                                       "fence.proxy.async",
                                       "fence.proxy.async.global",
                                       "fence.proxy.async.shared::cta",
                                       "fence.proxy.async.shared::cluster",
                                       "fence.mbarrier_init.release.cluster",
                                       "fence.acquire.sync_restrict::shared::cluster.cluster",
                                       "fence.release.sync_restrict::shared::cta.cluster",
                                       "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
                                       "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
                                       "fence.proxy.tensormap::generic.release.gpu",
                                       "fence.proxy.tensormap::generic.acquire.gpu [%x0], 128",
                                       "griddepcontrol.launch_dependents",
                                       "griddepcontrol.wait",
                                       "setmaxnreg.dec.sync.aligned.u32 40",
                                       "setmaxnreg.inc.sync.aligned.u32 232",
                                       "pmevent 3",
                                       "pmevent.mask 5"})
    body += cat(fence, ";\n");
  EXPECT_EQ(run(cat("mov.u32 %r1, 9;\n", body), 64), std::vector<std::uint32_t>(64, 9));
}

// A message from one block to the others, ordered by fences and atomics alone: several workers.
TEST(Fences, OrderBlocksOnSeveralWorkers) {
  const auto program = testing::text_program(
      ".param .u64 out",
      ".reg .b64 %x<4>; .reg .b32 %r<10>; .reg .pred %p<4>;\nld.param.u64 %x0, [out];\nmov.u32 %r0, %ctaid.x;\n"
      "mul.wide.u32 %x1, %r0, 4;\nadd.u64 %x1, %x1, %x0;\nadd.u32 %r1, %r0, 100;\nst.global.u32 [%x1+8], "
      "%r1;\nfence.acq_rel.gpu;\n"
      "atom.relaxed.gpu.global.inc.u32 %r2, [%x0], 15;\nsetp.ne.u32 %p0, %r2, 15;\n@%p0 ret;\nfence.acq_rel.gpu;\nmov.u32 %r3, "
      "0;\n"
      "mov.u32 %r4, 0;\nTOP:\nmul.wide.u32 %x2, %r4, 4;\nadd.u64 %x2, %x2, %x0;\nld.global.u32 %r5, [%x2+8];\nadd.u32 %r3, %r3, "
      "%r5;\n"
      "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 16;\n@%p1 bra TOP;\nst.global.u32 [%x0+4], %r3;\nret;");
  for (const unsigned workers : {1u, 4u}) {
    Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(18)};
    LaunchConfig config = block(1);
    config.grid[0] = 16;
    testing::run(program, config, params({out.address()}), {out.region()}, {.workers = workers});
    EXPECT_EQ(out.data[1], 100u * 16 + 120);
    EXPECT_EQ(out.data[0], 0u) << "counted round";
  }
}

}  // namespace
}  // namespace ptx::vgpu
