// What must have happened before a block ends, what lanes of one store leave undefined, and what operations do to many lines.
#include <set>

#include "ptx/vgpu/races/detector.hpp"
#include "ptx/vgpu/testing/races.hpp"

namespace ptx::vgpu::races::ends_tests {
namespace {

using testing::races::rules;
using testing::races::run;
using testing::races::Shape;

constexpr std::string_view init = "@%p0 mbarrier.init.shared.b64 [%r20], 1;\nbar.sync 0;\n";
constexpr std::string_view wait = "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0;\n@!%p2 bra WAIT;\n";

std::string copy_in(std::string_view at, int bytes) {
  return cat("@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], ", bytes,
             ";\n@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [", at, "], [%rd0], ", bytes,
             ", [%r20];\n");
}
std::string copy_out(std::string_view at, int bytes, std::string_view waits = "@%p0 cp.async.bulk.wait_group.read 0;\n") {
  return cat("@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0+8192], [", at, "], ", bytes,
             ";\n@%p0 cp.async.bulk.commit_group;\n", waits);
}

// ---- the end of a block

TEST(Ends, WaitForCopies) {
  EXPECT_EQ(rules(cat(init, copy_in("%r1", 128))), "Y-04");
  EXPECT_EQ(rules(cat(init, copy_in("%r1", 128), wait)), "");
  // Anybody's wait will do, as will one that acquires nothing.
  EXPECT_EQ(rules(cat(init, copy_in("%r1", 128), "setp.ne.u32 %p3, %r0, 40;\n@%p3 bra END;\n", wait, "END:\n")), "");
  EXPECT_EQ(rules(cat(init, copy_in("%r1", 128),
                      "WAIT:\nmbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [%r20], 0;\n@!%p2 bra WAIT;\n")),
            "");
  // Of the phase before it is none.
  EXPECT_EQ(rules(cat(init, copy_in("%r1", 128), wait, "bar.sync 0;\n", copy_in("%r1+128", 128))), "Y-04");
}

TEST(Ends, WaitForCopiesByThreads) {
  const std::string_view copy = "cp.async.ca.shared.global [%r2], [%rd1], 4;\n";
  EXPECT_EQ(rules(copy), "Y-04");
  EXPECT_EQ(rules(cat(copy, "cp.async.commit_group;\n")), "Y-04");
  EXPECT_EQ(rules(cat(copy, "cp.async.wait_all;\n")), "");
  EXPECT_EQ(rules(cat(copy, "cp.async.commit_group;\ncp.async.wait_group 0;\n")), "");
  EXPECT_EQ(rules(cat("@%p0 mbarrier.init.shared.b64 [%r20], 64;\nbar.sync 0;\n", copy,
                      "cp.async.mbarrier.arrive.noinc.shared.b64 [%r20];\n", wait)),
            "");
}

TEST(Ends, OfAnotherBlock) {
  const Shape pair{32, 2, 2};
  const std::string_view meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  const std::string_view other =
      "mov.u32 %r6, %cluster_ctarank;\nxor.b32 %r6, %r6, 1;\nmapa.shared::cluster.u32 %r7, %r2, %r6;\n"
      "mapa.shared::cluster.u32 %r8, %r20, %r6;\nsetp.eq.u32 %p4, %r6, 0;\n";
  for (const std::string_view use : {"@%p4 st.shared::cluster.u32 [%r7], %r0;\n", "@%p4 ld.shared::cluster.u32 %r9, [%r7];\n",
                                     "@%p4 red.shared::cluster.add.u32 [%r7], 1;\n"}) {
    EXPECT_EQ(rules(cat(other, meet, use), pair), "C-03") << use;
    EXPECT_EQ(rules(cat(other, meet, use, meet), pair), "") << use;
    EXPECT_EQ(rules(cat(other, meet, use, "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"), pair), "") << use;
  }
  // An arrival that the other one waits for, or does not.
  const std::string arrive = cat("@%p0 mbarrier.init.shared.b64 [%r20], 32;\n@%p0 fence.mbarrier_init.release.cluster;\n", other,
                                 meet, "@%p4 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\n");
  EXPECT_EQ(rules(arrive, pair), "C-03");
  EXPECT_EQ(rules(cat(arrive, "@%p4 bra END;\n", wait, "END:\n"), pair), "");
}

// ---- lanes of one store

TEST(Lanes, StoreUnlike) {
  EXPECT_EQ(rules("st.global.u32 [%rd0], %r0;\n", {32}), "W-02");
  EXPECT_EQ(rules("mov.u32 %r6, 7;\nst.global.u32 [%rd0], %r6;\n", {32}), "");
  EXPECT_EQ(
      rules("shr.b32 %r6, %r0, 1;\nmul.wide.u32 %rd3, %r6, 4;\nadd.u64 %rd3, %rd0, %rd3;\nst.global.u32 [%rd3], %r6;\n", {32}),
      "");
  EXPECT_EQ(
      rules("shr.b32 %r6, %r0, 1;\nmul.wide.u32 %rd3, %r6, 4;\nadd.u64 %rd3, %rd0, %rd3;\nst.global.u32 [%rd3], %r0;\n", {32}),
      "W-02");
  EXPECT_EQ(rules("@%p0 st.global.u32 [%rd0], %r0;\n", {32}), "");
  EXPECT_EQ(rules("st.shared.u32 [%r3], %r0;\n", {32}), "");  // one behind the other, backwards
  EXPECT_EQ(rules("st.volatile.global.u32 [%rd0], %r0;\n", {32}), "");
  const auto report = run("st.global.u32 [%rd0], %r0;\n", {32});
  ASSERT_TRUE(report && report->findings.size() == 1);
  EXPECT_EQ(report->findings[0].severity, Severity::warning);
  EXPECT_EQ(
      report->findings[0].message,
      "`st.global.u32` stores different values to bytes 0 to 3 of `memory` in 32 lanes: which of them stays is not defined");
}

TEST(Lanes, StoreInAnyOrderWhereThreadsDo) {
  const auto program =
      testing::text_program(".param .u64 memory", cat(testing::races::start, "st.global.u32 [%rd0], %r0;\nret;\n"));
  std::set<std::uint32_t> stays;
  for (std::uint64_t seed = 0; seed < 32; ++seed)
    for (const Checks checks : {Checks::off, Checks::full}) {
      testing::Buffer<std::uint32_t> memory{"memory", std::vector<std::uint32_t>(4096)};
      Options options;
      options.checks = checks;
      options.threads = Threads::random;
      options.seed = seed;
      const std::vector<Region> regions{memory.region()};
      ASSERT_TRUE(program->run(testing::block(32), testing::params({memory.address()}), regions, options));
      stays.insert(memory.data[0]);
    }
  EXPECT_GT(stays.size(), 8u);
}

// ---- many lines at once: a copy of 2048 bytes

TEST(Sheets, AreFilledAndRead) {
  const std::string filled = cat(init, copy_in("%r1", 2048));
  EXPECT_EQ(rules(cat(filled, wait, "ld.shared.u32 %r6, [%r2];\nld.shared.u32 %r7, [%r3+1024];\n")), "");
  EXPECT_EQ(rules(cat(filled, "@%p1 bra OVER;\n", wait, "OVER:\nld.shared.u32 %r7, [%r2+1024];\nbar.sync 0;\n")), "R-rw R-wr");
  EXPECT_EQ(rules(cat(filled, wait, "st.shared.u32 [%r2+1024], %r0;\n")), "");
}

TEST(Sheets, AreCopiedOnAndFilledAgain) {
  const std::string filled = cat(init, copy_in("%r1", 2048), wait, "bar.sync 0;\n");
  const std::string_view again = "WAIT2:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r20], 1;\n@!%p2 bra WAIT2;\n";
  EXPECT_EQ(rules(cat(filled, copy_out("%r1", 2048), copy_in("%r1", 2048), again)), "");
  EXPECT_EQ(rules(cat(filled, copy_out("%r1", 2048, ""), copy_in("%r1", 2048), again)), "R-rw R-wr Y-03");
  // Part of it, and another part.
  EXPECT_EQ(rules(cat(filled, copy_out("%r1", 1024, ""), copy_in("%r1+1024", 1024), again)), "Y-03");
  EXPECT_EQ(rules(cat(filled, copy_out("%r1", 1040, ""), copy_in("%r1+1024", 1024), again)), "R-rw R-wr Y-03");
  EXPECT_EQ(rules(cat(filled, copy_out("%r1+16", 1024, ""), copy_in("%r1", 16), again)), "Y-03");
  EXPECT_EQ(rules(cat(filled, copy_out("%r1+16", 1024, ""), copy_in("%r1", 32), again)), "R-rw R-wr Y-03");
}

TEST(Sheets, AreFilledOverWhatThreadsDid) {
  const std::string_view fence = "fence.proxy.async.shared::cta;\n";
  const auto body = [&](std::string_view use, std::string_view between) {
    return cat(init, use, between, "bar.sync 0;\n", copy_in("%r1", 2048), wait, "ld.shared.u32 %r6, [%r2];\n");
  };
  EXPECT_EQ(rules(body("ld.shared.u32 %r7, [%r2+1152];\n", fence)), "");
  EXPECT_EQ(rules(body("ld.shared.u32 %r7, [%r2+1152];\n", "")), "P-02");
  EXPECT_EQ(rules(body("st.shared.u32 [%r2+1152], %r0;\n", fence)), "");
  EXPECT_EQ(rules(body("st.shared.u32 [%r2+1152], %r0;\n", "")), "P-01");
}

// The four warps of a group multiply by the same matrix, each for itself: here of zeros.
TEST(Products, OfEachWarpOfTheGroup) {
  const auto program = [](std::string_view before) {
    return cat(before,
               "cvt.u64.u32 %rd5, %r1;\nshr.u64 %rd5, %rd5, 4;\nor.b64 %rd5, %rd5, 34360262656;\n.reg .f32 %f<4>;\n"
               "mov.u32 %r6, 0;\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, "
               "%f3}, {%r6, %r6, %r6, %r6}, %rd5, 0, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\n"
               "wgmma.wait_group.sync.aligned 0;\n");
  };
  const Shape group{128};
  const std::string filled = cat(init, copy_in("%r1", 2048));
  EXPECT_EQ(rules(program(cat(filled, wait)), group), "");
  EXPECT_EQ(rules(program(cat(filled, "@!%p1 bra OVER;\n", wait, "OVER:\nbar.sync 1, 128;\n")), group), "");
  EXPECT_EQ(rules(program(cat(filled, "@!%p1 bra OVER;\n", wait, "OVER:\n")), group), "R-rw R-wr");
  EXPECT_EQ(rules(program(cat(filled, "@!%p0 bra OVER;\n", wait, "OVER:\nbar.warp.sync -1;\nbar.sync 1, 128;\n")), group), "");
  const std::string_view fence = "fence.proxy.async.shared::cta;\n";
  EXPECT_EQ(rules(program(cat("@%p1 st.shared.u32 [%r2], %r0;\n", fence, "bar.sync 0;\n")), group), "");
  EXPECT_EQ(rules(program(cat("@%p1 st.shared.u32 [%r2], %r0;\n", fence)), group), "R-wr");
  // The last warp's.
  const std::string last = "setp.ge.u32 %p3, %r0, 96;\nmov.u32 %r9, 77;\n@%p3 st.shared.u32 [%r2+-384], %r9;\n";
  EXPECT_EQ(rules(program(cat(last, fence, "bar.sync 0;\n")), group), "");
  EXPECT_EQ(rules(program(cat(last, "bar.sync 0;\n")), group), "P-01");
}

}  // namespace
}  // namespace ptx::vgpu::races::ends_tests
