// What is looked at once for many: lanes that lie as a swizzle puts them, the copies of a warp, boxes that tensor cores read. And
// what is told of memory that is in another use: mbarriers, matrices.
#include "ptx/vgpu/races/detector.hpp"
#include "ptx/vgpu/testing/races.hpp"

namespace ptx::vgpu::races::together_tests {
namespace {

using testing::races::rules;
using testing::races::run;
using testing::races::Shape;

// %r6: 16 bytes of the lane, exchanged in lines of 128 bytes; %r7: those of the lane beside it.
constexpr std::string_view places =
    "xor.b32 %r6, %r0, 3;\nshl.b32 %r6, %r6, 4;\nadd.u32 %r6, %r1, %r6;\nxor.b32 %r7, %r6, 16;\nmul.wide.u32 %rd3, %r0, 16;\n"
    "add.u64 %rd3, %rd0, %rd3;\n";
constexpr std::string_view store = "st.shared.v4.b32 [%r6], {%r0, %r0, %r0, %r0};\n", own = "ld.shared.b32 %r8, [%r6+4];\n",
                           other = "ld.shared.b32 %r8, [%r7+8];\n", lanes_meet = "bar.warp.sync -1;\n";
constexpr std::string_view copy = "cp.async.cg.shared.global [%r6], [%rd3], 16;\n", copied = "cp.async.wait_all;\n";
const Shape warp{32};

TEST(Exchanged, LanesAreToldApart) {
  EXPECT_EQ(rules(cat(places, store, own), warp), "");
  EXPECT_EQ(rules(cat(places, store, other), warp), "W-01");
  EXPECT_EQ(rules(cat(places, store, lanes_meet, other), warp), "");
  EXPECT_EQ(rules(cat(places, own, "st.shared.b32 [%r6+8], %r0;\n"), warp), "");
  EXPECT_EQ(rules(cat(places, own, "st.shared.b32 [%r7+4], %r0;\n"), warp), "W-01");
  EXPECT_EQ(rules(cat(places, store, "xor.b32 %r7, %r6, 512;\nld.shared.b32 %r8, [%r7];\n")), "R-rw R-wr");  // the other warp's
  EXPECT_EQ(rules(cat(places, store, "bar.sync 0;\nxor.b32 %r7, %r6, 512;\nld.shared.b32 %r8, [%r7];\n")), "");
  // Some of the lanes, and accesses of several sizes.
  EXPECT_EQ(rules(cat(places, "setp.lt.u32 %p3, %r0, 5;\n@%p3 ", store, "@%p3 ", own), warp), "");
  EXPECT_EQ(rules(cat(places, "setp.lt.u32 %p3, %r0, 5;\n@%p3 ", store, other), warp), "W-01");
}

TEST(Exchanged, LanesCopyTogether) {
  EXPECT_EQ(rules(cat(places, copy, copied, own), warp), "");
  EXPECT_EQ(rules(cat(places, copy, own, copied), warp), "R-rw R-wr");
  EXPECT_EQ(rules(cat(places, copy, copied, other), warp), "");  // the warp has waited together
  EXPECT_EQ(rules(cat(places, copy, copied, lanes_meet, other), warp), "");
  EXPECT_EQ(rules(cat(places, own, copy, copied), warp), "");
  EXPECT_EQ(rules(cat(places, other, copy, copied), warp), "R-rw");
  EXPECT_EQ(rules(cat(places, other, lanes_meet, copy, copied), warp), "");
  EXPECT_EQ(
      rules(cat(places, copy, "cp.async.commit_group;\n", copy, "cp.async.commit_group;\ncp.async.wait_group 0;\n", own), warp),
      "R-ww");
  // Some read less than they copy.
  EXPECT_EQ(rules(cat(places, "and.b32 %r9, %r0, 12;\ncp.async.cg.shared.global [%r6], [%rd3], 16, %r9;\n", copied, own), warp),
            "");
}

// A box of 2048 bytes, of whose first 256 wgmma reads a matrix.
const std::string filled =
    cat("@%p0 mbarrier.init.shared.b64 [%r20], 1;\nbar.sync 0;\n@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 2048;\n"
        "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 2048, [%r20];\n"
        "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0;\n@!%p2 bra WAIT;\n");
constexpr std::string_view product =
    "{\n.reg .f32 %f<4>;\ncvt.u64.u32 %rd5, %r1;\nshr.u64 %rd5, %rd5, 4;\nor.b64 %rd5, %rd5, 34360262656;\nmov.u32 %r6, 0;\n"
    "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%r6, %r6, %r6, %r6}, "
    "%rd5, 0, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\n}\n";
constexpr std::string_view done = "wgmma.wait_group.sync.aligned 0;\n";
constexpr std::string_view again =
    "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 2048;\n"
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 2048, [%r20];\n"
    "WAIT2:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r20], 1;\n@!%p2 bra WAIT2;\n";

TEST(Boxes, AreReadAndFilledAgain) {
  const Shape group{128};
  EXPECT_EQ(rules(cat(filled, product, done, "bar.sync 0;\n", again, product, done), group), "");
  EXPECT_EQ(rules(cat(filled, product, "bar.sync 0;\n", again, done), group), "R-rw");
  EXPECT_EQ(rules(cat(filled, product, done, again), group), "");  // what one warp has waited for its group has
  const std::string_view meet = "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
  EXPECT_EQ(rules(cat(filled, product, "bar.sync 0;\n@%p0 st.shared.b32 [%r1+1024], 7;\n@%p0 st.shared.b32 [%r1+256], 7;\n", done,
                      meet, again),
                  group),
            "");  // beside the matrix
  EXPECT_EQ(rules(cat(filled, product, "bar.sync 0;\n@%p0 st.shared.b32 [%r1+252], 7;\n", done, meet, again), group), "R-rw");
  // Part of it is filled anew, by a copy of its own.
  const std::string_view part =
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 1024;\n"
      "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1024], [%rd0], 1024, [%r20];\n"
      "WAIT2:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r20], 1;\n@!%p2 bra WAIT2;\n";
  EXPECT_EQ(rules(cat(filled, product, "bar.sync 0;\n", part, done), group), "");
}

// ---- strong stores that nothing orders

TEST(StrongStores, StandBesideEachOther) {
  const std::string_view store_one = "st.relaxed.gpu.global.u32 [%rd0], %r0;\n", load = "ld.global.u32 %r6, [%rd0];\n",
                         second = "setp.eq.u32 %p3, %r0, 32;\n@%p3 ";
  EXPECT_EQ(rules(cat("@%p0 ", store_one, second, store_one, "@%p3 ", load)), "R-wr");
  EXPECT_EQ(rules(cat("@%p0 ", store_one, second, store_one, "bar.sync 0;\n@%p3 ", load)), "");
  EXPECT_EQ(rules(cat("@%p0 ", store_one, "@%p0 ", load)), "");
  // What an atomic operation has observed comes before what follows that.
  const std::string_view add = "red.relaxed.gpu.global.add.u32 [%rd0], 1;\n";
  EXPECT_EQ(rules(cat("@%p0 ", add, second, add, "@%p3 ", load)), "");
}

// ---- memory in another use

TEST(Mbarriers, AreNoData) {
  const std::string_view init = "@%p0 mbarrier.init.shared.b64 [%r20], 1;\nbar.sync 0;\n";
  const std::string_view end = "bar.sync 0;\n@%p0 mbarrier.inval.shared.b64 [%r20];\nbar.sync 0;\n";
  EXPECT_EQ(rules(cat(init, "@%p0 ld.shared.b32 %r6, [%r20+4];\n")), "M-03");
  EXPECT_EQ(rules(cat(init, "@%p0 st.shared.b32 [%r20], %r0;\n")), "M-03");
  EXPECT_EQ(rules(cat(init, "@%p0 ld.shared.b32 %r6, [%r20+8];\n")), "");
  EXPECT_EQ(rules(cat(init, end, "@%p0 st.shared.b32 [%r20], %r0;\n@%p0 ld.shared.b32 %r6, [%r20];\n")), "");
  // A copy to where one is, or beside it.
  const auto copy_to = [&](int at) {
    return cat(init, "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 16;\n",
               "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+", at,
               "], [%rd0], 16, [%r20];\nWAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0;\n@!%p2 bra WAIT;\n");
  };
  const std::string_view a_third = "@%p0 mbarrier.init.shared.b64 [%r1+32], 1;\nbar.sync 0;\n";
  EXPECT_EQ(rules(cat(a_third, copy_to(0))), "");
  EXPECT_EQ(rules(cat(a_third, copy_to(32))), "M-03");
}

TEST(Matrices, LieAtMultiplesOfTheirFragments) {
  const auto load = [](int at, int stride) {
    return cat(
        ".reg .b32 %m<8>;\nwmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%m0, %m1, %m2, %m3, %m4, %m5, %m6, %m7}, [%r1+", at,
        "], ", stride, ";\n");
  };
  EXPECT_EQ(rules(load(32, 16), warp), "");
  EXPECT_EQ(rules(load(16, 16), warp), "A-02");
  EXPECT_EQ(rules(load(64, 24), warp), "");  // CUDA C++ asks for multiples of 16 bytes
  const auto report = run(load(16, 16), warp);
  ASSERT_TRUE(report && report->findings.size() == 1);
  EXPECT_EQ(report->findings[0].severity, Severity::warning);
}

}  // namespace
}  // namespace ptx::vgpu::races::together_tests
