// clusterlaunchcontrol: blocks take over the work of clusters that have not begun, and all of a grid's work is done once.
#include <numeric>

#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::cluster_launch {
namespace {

using testing::body_program;
using testing::Buffer;
using testing::params;

constexpr testing::TextOptions blackwell{"9.0", "sm_100a"};
constexpr std::string_view parameters = ".param .u64 work, .param .u64 begun";
constexpr std::string_view learn =
    "ld.shared.b128 %answer, [answer];\nclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %answer;\n";

// One thread a block. %r0, %r1, %r2 is the block whose work is done: each time 1 is added to its word of `work`. `request` asks
// for another, `find` puts its first block into %r4, %r5, %r6.
std::string worker(std::string_view request, std::string_view find) {
  return cat(
      ".shared .align 16 .b8 answer[16];\n.shared .align 8 .b64 bar;\n.reg .b128 %answer;\n"
      "ld.param.u64 %rd0, [work];\nld.param.u64 %rd1, [begun];\nred.global.add.u32 [%rd1], 1;\n"
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ctaid.y;\nmov.u32 %r2, %ctaid.z;\nmov.u32 %r3, 0;\n"
      "mov.u32 %r10, %cluster_ctarank;\nmbarrier.init.shared::cta.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
      "NEXT:\nbarrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"
      "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;\n",
      request,
      // the work
      "mov.u32 %r7, %nctaid.y;\nmad.lo.u32 %r8, %r2, %r7, %r1;\nmov.u32 %r7, %nctaid.x;\nmad.lo.u32 %r8, %r8, %r7, %r0;\n"
      "mul.wide.u32 %rd2, %r8, 4;\nadd.u64 %rd2, %rd2, %rd0;\nred.global.add.u32 [%rd2], 1;\n"
      "WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, [bar], %r3;\n@!%p0 bra WAIT;\nxor.b32 %r3, %r3, 1;\n",
      learn, "@!%p2 bra DONE;\n", find,
      // the blocks of a cluster lie beside each other in x
      "add.u32 %r0, %r4, %r10;\nmov.u32 %r1, %r5;\nmov.u32 %r2, %r6;\n"
      "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\nbra NEXT;\nDONE:\n");
}
constexpr std::string_view request_alone =
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];\n";
constexpr std::string_view request_generic =
    "cvta.shared.u64 %rd4, answer;\ncvta.shared.u64 %rd5, bar;\n"
    "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%rd4], [%rd5];\n";
constexpr std::string_view request_for_all =
    "setp.eq.u32 %p3, %r10, 0;\n@%p3 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
    ".multicast::cluster::all.b128 [answer], [bar];\n";
constexpr std::string_view find_all =
    "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r4, %r5, %r6, _}, %answer;\n";
constexpr std::string_view find_each =
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r4, %answer;\n"
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r5, %answer;\n"
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r6, %answer;\n";

TEST(ClusterLaunchControl, AllWorkIsDoneOnce) {
  struct Case {
    std::string_view request, find;
    std::uint32_t cluster;
  };
  for (const Case& c : {Case{request_alone, find_all, 1}, Case{request_generic, find_each, 1}, Case{request_for_all, find_all, 1},
                        Case{request_for_all, find_each, 2}, Case{request_for_all, find_all, 4}})
    for (const unsigned workers : {1u, 3u}) {
      const auto program = body_program(parameters, worker(c.request, c.find), blackwell);
      if (program == nullptr) return;
      LaunchConfig config = testing::block(1);
      config.grid = {8, 5, 3};
      config.cluster = {c.cluster, 1, 1};
      const std::size_t blocks = 8 * 5 * 3;
      Buffer<std::uint32_t> work{"work", std::vector<std::uint32_t>(blocks)}, begun{"begun", std::vector<std::uint32_t>(1)};
      Options options;
      options.workers = workers;
      const Report report =
          testing::run(program, config, params({work.address(), begun.address()}), {work.region(), begun.region()}, options);
      for (std::size_t i = 0; i < blocks; ++i) EXPECT_EQ(work.data[i], 1u) << "block " << i << " of clusters of " << c.cluster;
      EXPECT_EQ(report.ctas, begun.data[0]) << "those that ran";
      EXPECT_LT(report.ctas, blocks) << "some were taken over";
      EXPECT_EQ(report.ctas % c.cluster, 0u);
    }
}

TEST(ClusterLaunchControl, WhoAsksFirstGetsTheNextCluster) {
  const auto program = body_program(parameters, worker(request_alone, find_all), blackwell);
  LaunchConfig config = testing::block(1);
  config.grid = {2, 1, 1};
  Buffer<std::uint32_t> work{"work", std::vector<std::uint32_t>(2)}, begun{"begun", std::vector<std::uint32_t>(1)};
  const Report report = testing::run(program, config, params({work.address(), begun.address()}), {work.region(), begun.region()});
  EXPECT_EQ(report.ctas, 1u);
  EXPECT_EQ(work.data, (std::vector<std::uint32_t>{1, 1}));
}

void expect_fault(std::string_view body, Kind kind, std::string_view words) {
  const auto program = body_program(".param .u64 out",
                                    cat(".shared .align 16 .b8 answer[32];\n.shared .align 8 .b64 bar;\n.reg .b128 %answer;\n",
                                        "ld.param.u64 %rd0, [out];\nmbarrier.init.shared::cta.b64 [bar], 1;\n", body),
                                    blackwell);
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(8)};
  const Diagnostic d = testing::fault(program, testing::block(1), params({out.address()}), {out.region()});
  EXPECT_EQ(d.kind, kind) << body;
  EXPECT_NE(render(d).find(words), std::string::npos) << body << '\n' << render(d);
}

TEST(ClusterLaunchControl, Misuse) {
  expect_fault(cat(request_alone, learn, request_alone), Kind::barrier_misuse, "after the block has learned that there is none");
  expect_fault(cat(request_alone, learn,
                   "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r0, %answer;\nst.global.b32 [%rd0], %r0;\n"),
               Kind::uninitialised, "asks for the first block of a cluster, but none was cancelled");
  // 16 zeros are a kernel's own word that nothing was cancelled
  expect_fault(cat("st.shared.v2.b64 [answer], {0, 0};\n", learn,
                   "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r0, %answer;\nst.global.b32 [%rd0], %r0;\n"),
               Kind::uninitialised, "asks for the first block of a cluster, but none was cancelled");
  expect_fault(cat("st.shared.v2.b64 [answer], {1, 2};\n", learn), Kind::barrier_misuse,
               "is given 16 bytes that no clusterlaunchcontrol.try_cancel has left");
  expect_fault("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer+8], [bar];\n",
               Kind::misaligned, "which is not a multiple of 16");
  expect_fault(
      "cvta.shared.u64 %rd5, bar;\nclusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%rd0], [%rd5];\n",
      Kind::out_of_bounds, "of global memory; what fits is the block's own shared memory");
  expect_fault("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [answer+16];\n",
               Kind::barrier_misuse, "mbarrier");
}

// What it has not got it must not use; what it does not use is nobody's matter.
TEST(ClusterLaunchControl, AnUnusedAnswerIsNoFault) {
  const auto program = body_program(
      ".param .u64 out",
      cat(".shared .align 16 .b8 answer[16];\n.shared .align 8 .b64 bar;\n.reg .b128 %answer;\nld.param.u64 %rd0, [out];\n"
          "mbarrier.init.shared::cta.b64 [bar], 1;\n",
          request_alone, learn, find_all, "@!%p2 mov.u32 %r4, 77;\nst.global.b32 [%rd0], %r4;\n"),
      blackwell);
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(1)};
  testing::run(program, testing::block(1), params({out.address()}), {out.region()});
  EXPECT_EQ(out.data[0], 77u);
}

}  // namespace
}  // namespace ptx::vgpu::cluster_launch
