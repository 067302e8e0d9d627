// Accesses of tensor memory, and of tensor maps that kernels write, by what is left out of what orders them.
#include <set>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/races/detector.hpp"
#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::races_in_tensor_memory {
namespace {

using testing::Buffer;

std::string rules_of(const Expected<Report>& report) {
  if (!report) return render(report.error());
  std::set<std::string> all;
  for (const Diagnostic& finding : report->findings)
    for (const std::string& note : notes_of(finding))
      if (note.starts_with("rule: ")) all.insert(note.substr(6, note.find(' ', 6) - 6));
  std::string words;
  for (const std::string& rule : all) words += cat(words.empty() ? "" : " ", rule);
  return words;
}

Options checked() {
  Options options;
  options.checks = Checks::full;
  options.check_initialised = false;
  return options;
}

// Five warps; %p0: warp 0, %p4: warp 4, which reach the same lanes. %r5: 64 columns of tensor memory. `alloc` and `taken` stand
// around what tells the block of them, `given_back` before warp 0 gives them back.
std::string rules(std::string_view body, std::string_view taken = "bar.sync 0;\n",
                  std::string_view given_back = "bar.sync 0;\n") {
  const auto program = testing::body_program(
      ".param .u64 memory",
      cat(".shared .align 1024 .b8 tile[4096];\n.shared .align 8 .b64 bar;\n.shared .align 4 .b32 slot;\n"
          "mov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\nsetp.eq.u32 %p0, %r1, 0;\nsetp.eq.u32 %p4, %r1, 4;\n"
          "setp.eq.u32 %p1, %r0, 0;\nmov.u32 %r2, tile;\nshr.u32 %r2, %r2, 4;\nand.b32 %r2, %r2, 0x3FFF;\ncvt.u64.u32 %rd1, "
          "%r2;\n"
          "or.b64 %rd1, %rd1, 0x401000080000;\n"  // no swizzle, matrices of 8 rows and 16 bytes 128 bytes apart along k
          "@%p1 mbarrier.init.shared::cta.b64 [bar], 1;\n"
          "@!%p0 bra TAKEN;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;\nTAKEN:\n",
          taken, "ld.shared.b32 %r5, [slot];\n", body, given_back,
          "@!%p0 bra GIVEN;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 64;\nGIVEN:\n"),
      {"9.0", "sm_100a"});
  Buffer<std::uint32_t> memory{"memory", std::vector<std::uint32_t>(64)};
  const std::vector<Region> regions{memory.region()};
  return rules_of(program->run(testing::block(160), testing::params({memory.address()}), regions, checked()));
}

constexpr std::string_view store = "@%p0 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r0};\n",
                           stored = "@%p0 tcgen05.wait::st.sync.aligned;\n", before = "@%p0 tcgen05.fence::before_thread_sync;\n",
                           after = "@%p4 tcgen05.fence::after_thread_sync;\n", meet = "bar.sync 0;\n";
std::string load(std::string_view warp, int column = 0) {
  return cat("@%p", warp, " tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r5+", column, "];\n@%p", warp,
             " tcgen05.wait::ld.sync.aligned;\n");
}

TEST(RacesInTensorMemory, AWarpWaitsForItsOwn) {
  EXPECT_EQ(rules(cat(store, stored, load("0"))), "");
  EXPECT_EQ(rules(cat(store, load("0"), stored)), "K-07");
  EXPECT_EQ(rules(cat(store, load("0", 1), stored)), "");  // another column
  EXPECT_EQ(rules(cat(store, store, stored)), "K-07");
  EXPECT_EQ(rules(cat(store, stored, "@%p0 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r5];\n", store, stored)), "K-07");
}

TEST(RacesInTensorMemory, WarpsAreOrderedBetweenFences) {
  EXPECT_EQ(rules(cat(store, stored, before, meet, after, load("4"))), "");
  EXPECT_EQ(rules(cat(store, before, meet, after, load("4"))), "K-07");
  EXPECT_EQ(rules(cat(store, stored, before, after, load("4"))), "K-07");
  EXPECT_EQ(rules(cat(store, stored, meet, after, load("4"))), "K-06");
  EXPECT_EQ(rules(cat(store, stored, before, meet, load("4"))), "K-06");
  EXPECT_EQ(rules(cat(store, before, stored, meet, after, load("4"))), "K-06");  // the fence is too early
  EXPECT_EQ(rules(cat(store, stored, meet, load("4"))), "");  // whoever writes no such fence relies on the barrier
}

TEST(RacesInTensorMemory, OfTheTensorCores) {
  const std::string_view copy = "@%p1 tcgen05.cp.cta_group::1.128x256b [%r5], %rd1;\n",
                         commit = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n",
                         wait = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;\n@!%p3 bra WAIT;\n",
                         behind = "tcgen05.fence::after_thread_sync;\n";
  EXPECT_EQ(rules(cat(copy, commit, wait, behind, load("0"), load("4"))), "");
  EXPECT_EQ(rules(cat(copy, copy, commit, wait, behind, load("0"))), "");
  EXPECT_EQ(rules(cat(copy, commit, wait, load("0"), behind)), "K-06");
  EXPECT_EQ(rules(cat(copy, commit, behind, load("0"), wait)), "K-07");
  EXPECT_EQ(rules(cat(commit, copy, wait, behind, load("0"))), "K-07");  // what comes behind the commit is not told of
  EXPECT_EQ(rules(cat(store, copy, commit, wait, stored)), "K-07");
  // What they read from shared memory is ordered by such a fence, too.
  const std::string_view write = "@%p4 st.shared.b32 [tile], 7;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n";
  EXPECT_EQ(rules(cat(write, behind, copy, commit, wait, behind, load("0"))), "");
  EXPECT_EQ(rules(cat(write, copy, commit, wait, behind, load("0"))), "K-06");
  EXPECT_EQ(rules(cat(write, copy, commit, wait, load("0"))), "");  // without any, the barrier does
  EXPECT_EQ(rules(cat(copy, commit)), "K-07");                      // given back while it may still be on its way
}

TEST(RacesInTensorMemory, OfItsAddress) {
  EXPECT_EQ(rules("", "").substr(0, 4), "R-wr");  // nothing tells the other warps where it is
  EXPECT_EQ(rules(cat(store, stored, load("0")), meet, ""), "");
  EXPECT_EQ(
      rules(cat(store, stored, before, meet, after, "@%p4 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r5];\n"), meet, ""),
      "K-07");  // given back under a load
}

TEST(RacesInTensorMemory, AreSaidWithBothAccesses) {
  const auto program = testing::body_program(
      ".param .u64 memory",
      "mov.u32 %r0, %tid.x;\n.shared .align 4 .b32 slot;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n"
      "bar.warp.sync -1;\nld.shared.b32 %r5, [slot];\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r5+3], {%r0};\n"
      "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r6, %r7}, [%r5+2];\ntcgen05.wait::st.sync.aligned;\n"
      "tcgen05.wait::ld.sync.aligned;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;\n",
      {"9.0", "sm_100a"});
  Buffer<std::uint32_t> memory{"memory", std::vector<std::uint32_t>(64)};
  const std::vector<Region> regions{memory.region()};
  const auto report = program->run(testing::block(32), testing::params({memory.address()}), regions, checked());
  ASSERT_TRUE(report) << render(report.error());
  ASSERT_EQ(report->findings.size(), 1u);
  const Diagnostic& found = report->findings[0];
  EXPECT_EQ(found.kind, Kind::unordered_tensor_memory);
  EXPECT_EQ(
      found.message,
      "`tcgen05.ld.sync.aligned.32x32b.x2.b32` loads lanes 0 to 15 of column 3 of tensor memory, and nothing says that what "
      "warp 0 stores to there by `tcgen05.st.sync.aligned.32x32b.x1.b32` is complete");
  EXPECT_TRUE(testing::has_note(found, "hint: tcgen05.wait::st in the warp of the first")) << render(found);
  EXPECT_EQ(name(Kind::missing_tensor_fence), "missing_tensor_fence");
}

// ---- tensor maps

// Lane 0 of warp 0 writes a map in global memory; thread 32 copies by it.
std::string rules_of_maps(std::string_view between, std::string_view before_the_copy) {
  layout::TensorMap map{.type = layout::TensorMapType::u32, .rank = 1};
  map.sizes[0] = map.box[0] = 16;
  Buffer<std::uint32_t> x{"X", std::vector<std::uint32_t>(32)};
  const std::uint64_t at = (x.address() + 15) / 16 * 16;
  struct alignas(64) Words {
    layout::TensorMapWords words;
  };
  Buffer<Words> placed{"map", {Words{layout::encode(map, at)}}};
  const auto program = testing::body_program(
      ".param .u64 map, .param .u64 x",
      cat(".shared .align 128 .b8 tile[128];\n.shared .align 8 .b64 bar;\nld.param.u64 %rd0, [map];\nld.param.u64 %rd1, [x];\n"
          "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 32;\nmov.u32 %r1, 0;\n"
          "@%p1 mbarrier.init.shared::cta.b64 [bar], 1;\n"
          "@%p0 tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd1;\n",
          between, before_the_copy,
          "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
          "@%p1 cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [%rd0, {%r1}], [bar];\n"
          "@!%p1 bra END;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\nEND:\n"),
      {"8.7", "sm_90a"});
  const std::vector<Region> regions{placed.region(), x.region()};
  return rules_of(program->run(testing::block(64), testing::params({placed.address(), at}), regions, checked()));
}

TEST(RacesForTensorMaps, NeedTheFencesOfTheirProxy) {
  const std::string_view release = "fence.proxy.tensormap::generic.release.cta;\n",
                         acquire = "fence.proxy.tensormap::generic.acquire.cta [%rd0], 128;\n";
  EXPECT_EQ(rules_of_maps(cat(release, meet), acquire), "");
  EXPECT_EQ(rules_of_maps(meet, acquire), "P-03");
  EXPECT_EQ(rules_of_maps(cat(release, meet), ""), "P-03");
  EXPECT_EQ(rules_of_maps(release, acquire), "R-wr");
  EXPECT_EQ(rules_of_maps(cat(meet, "@%p0 ", release), acquire), "P-03");  // too late
  EXPECT_EQ(name(Kind::missing_tensor_map_fence), "missing_tensor_map_fence");
}

}  // namespace
}  // namespace ptx::vgpu::races_in_tensor_memory
