// Accesses that nothing orders, by the rule that each breaks, and what orders them.
#include "ptx/vgpu/races/detector.hpp"

#include <map>

#include "ptx/vgpu/testing/races.hpp"

namespace ptx::vgpu::races {
namespace {

using testing::Buffer;
using testing::params;
using testing::text_program;
using testing::races::parameters;
using testing::races::rules;
using testing::races::run;
using testing::races::Shape;
using testing::races::start;

// ---- races within a block

TEST(Races, BetweenWarpsInSharedMemory) {
  const auto body = [](std::string_view first, std::string_view between, std::string_view second) {
    return cat(first, ";\n", between, "\n", second, ";\n");
  };
  const std::string_view store = "st.shared.u32 [%r2], %r0", load = "ld.shared.u32 %r6, [%r3]", over = "st.shared.u32 [%r3], %r0";
  EXPECT_EQ(rules(body(store, "", load)), "R-rw R-wr");  // the first warp loads before the second one stores
  EXPECT_EQ(rules(body(store, "", over)), "R-ww");
  EXPECT_EQ(rules(body(load, "", store)), "R-rw R-wr");
  for (const std::string_view barrier :
       {"bar.sync 0;", "bar.sync 3, 64;", "barrier.sync 0;", "bar.red.popc.u32 %r7, 0, %p0;",
        "@%p1 bar.arrive 1, 64;\n@!%p1 bar.sync 1, 64;\n@!%p1 bar.arrive 2, 64;\n@%p1 bar.sync 2, 64;",
        "barrier.cluster.arrive;\nbarrier.cluster.wait;"}) {
    EXPECT_EQ(rules(body(store, barrier, load)), "") << barrier;
    EXPECT_EQ(rules(body(store, barrier, over)), "") << barrier;
    EXPECT_EQ(rules(body(load, barrier, store)), "") << barrier;
  }
  EXPECT_EQ(rules(body(store, "bar.warp.sync -1;", load)), "R-rw R-wr");
  EXPECT_EQ(rules(body(store, "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;", over)), "S-01");
  // Who only arrives learns nothing.
  EXPECT_EQ(rules(body(store, "@%p1 bar.sync 1, 64;\n@!%p1 bar.arrive 1, 64;", load)), "R-wr");
}

TEST(Races, ByTheByte) {
  EXPECT_EQ(rules("add.u32 %r6, %r1, %r0;\nst.shared.u8 [%r6], %r0;\n"), "");
  EXPECT_EQ(rules("xor.b32 %r7, %r0, 32;\nshl.b32 %r7, %r7, 1;\nadd.u32 %r6, %r1, %r7;\nst.shared.u16 [%r6], %r0;\n"), "");
  EXPECT_EQ(rules("shr.b32 %r7, %r0, 1;\nmul.lo.u32 %r7, %r7, 2;\nadd.u32 %r6, %r1, %r7;\nor.b32 %r7, %r7, 64;\n@%p1 "
                  "st.shared.u16 [%r6], %r7;\n"
                  "mov.u32 %r8, 77;\n@!%p1 st.shared.u8 [%r1+33], %r8;\n@!%p1 st.shared.u8 [%r1+1], %r8;\n"),
            "R-ww");
}

TEST(Races, StoringTheSameIsNone) {
  EXPECT_EQ(rules("mov.u32 %r6, 7;\nst.shared.u32 [%r1], %r6;\n"), "");
  EXPECT_EQ(rules("st.shared.u32 [%r1], %r0;\n"), "R-ww W-02");
}

// Stores of what is there agree with each other. That a load in between sees the same is this run's luck: a warning.
TEST(Races, StoringTheSameOverWhatIsLoaded) {
  const auto body = [](std::string_view between) {
    return cat("mov.u32 %r6, 7;\nst.shared.u32 [%r1], %r6;\nbar.sync 0;\n@%p1 ld.shared.u32 %r8, [%r1];\n", between,
               "@!%p1 st.shared.u32 [%r1], %r6;\n");
  };
  EXPECT_EQ(rules(body("")), "R-wr");
  EXPECT_EQ(rules(body("bar.sync 0;\n")), "");
  const auto severity = [](std::string_view value) {
    const auto report = run(cat("mov.u32 %r6, 7;\n@%p0 st.shared.u32 [%r1], %r6;\nbar.sync 0;\n@%p1 ld.shared.u32 %r8, [%r1];\n",
                                "mov.u32 %r6, ", value, ";\n@!%p1 st.shared.u32 [%r1], %r6;\n"),
                            {});
    return report && report->findings.size() == 1 ? report->findings.front().severity : Severity::note;
  };
  EXPECT_EQ(severity("7"), Severity::warning);
  EXPECT_EQ(severity("8"), Severity::error);
}

TEST(Races, OfLanes) {
  const std::string_view share =
      "@%p1 st.shared.u32 [%r2], %r0;\nxor.b32 %r7, %r0, 1;\nshl.b32 %r7, %r7, 2;\nadd.u32 %r7, %r1, %r7;\n";
  EXPECT_EQ(rules(cat(share, "@%p1 ld.shared.u32 %r6, [%r7];\n")), "W-01");
  EXPECT_EQ(rules(cat(share, "bar.warp.sync -1;\n@%p1 ld.shared.u32 %r6, [%r7];\n")), "");
  EXPECT_EQ(rules(cat(share, "@%p1 ld.shared.u32 %r6, [%r2];\n")), "");  // each its own
  // What one lane tells others is what it did, and what its warp did before it met.
  const auto told = [](std::string_view between) {
    return cat("@%p0 mbarrier.init.shared.b64 [%r20], 1;\nbar.sync 0;\n@%p1 st.shared.u32 [%r2], %r0;\n", between,
               "@%p0 mbarrier.arrive.shared.b64 _, [%r20];\nWAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0;\n"
               "@!%p2 bra WAIT;\n@!%p1 ld.shared.u32 %r6, [%r3];\n");
  };
  EXPECT_EQ(rules(told("@%p1 bar.warp.sync -1;\n")), "");
  EXPECT_EQ(rules(told("")), "R-wr");
}

// Lanes of one warp have a lock in turn: the others go round until it is theirs.
TEST(Races, ALockOfLanes) {
  const auto lock = [](std::string_view take, std::string_view acquire, std::string_view release, std::string_view give) {
    return rules(cat("@%p0 st.shared.u32 [%r1], 0;\n@%p0 st.shared.u32 [%r1+4], 0;\nbar.sync 0;\nTAKE:\n", take,
                     " %r6, [%r1], 0, 1;\nsetp.ne.u32 %p2, %r6, 0;\n@%p2 bra NOT;\n", acquire,
                     "\nld.shared.u32 %r7, [%r1+4];\nadd.u32 %r7, %r7, 1;\nst.shared.u32 [%r1+4], %r7;\n", release, '\n', give,
                     " %r8, [%r1], 0;\nNOT:\n@%p2 bra TAKE;\n"));
  };
  const std::string_view cas = "atom.shared.cas.b32", exchange = "atom.shared.exch.b32", fence = "fence.acq_rel.cta;";
  EXPECT_EQ(lock(cas, fence, fence, exchange), "");
  EXPECT_EQ(lock(cas, "membar.cta;", "membar.cta;", exchange), "");
  EXPECT_EQ(lock("atom.acquire.cta.shared.cas.b32", "", "", "atom.release.cta.shared.exch.b32"), "");
  for (const std::string& wrong : {lock(cas, "", "", exchange), lock(cas, fence, "", exchange), lock(cas, "", fence, exchange),
                                   lock("atom.acquire.cta.shared.cas.b32", "", "", exchange)})
    EXPECT_NE(wrong.find("W-01"), std::string::npos) << wrong;
}

// ---- through memory

TEST(Races, ReleaseAndAcquire) {
  const auto body = [](std::string_view store, std::string_view load, std::string_view fence = "") {
    return cat("mov.u32 %r6, 1;\nmov.u32 %r9, 5;\n@%p1 bra PRODUCER;\nWAIT:\n", load,
               " %r7, [%rd0+8192];\nsetp.ne.u32 %p2, %r7, 1;\n@%p2 bra WAIT;\n", fence,
               "\nld.global.u32 %r8, [%rd0+4];\nbra END;\nPRODUCER:\n@%p0 st.global.u32 [%rd0+4], %r9;\n", fence, "\n@%p0 ",
               store, " [%rd0+8192], %r6;\nEND:\n");
  };
  EXPECT_EQ(rules(body("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32")), "");
  EXPECT_EQ(rules(body("st.release.cta.global.u32", "ld.acquire.cta.global.u32")), "");
  EXPECT_EQ(rules(body("st.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32")), "S-01");
  EXPECT_EQ(rules(body("st.release.gpu.global.u32", "ld.relaxed.gpu.global.u32")), "S-01");
  EXPECT_EQ(rules(body("st.volatile.global.u32", "ld.volatile.global.u32")), "S-01");
  for (const std::string_view fence : {"fence.acq_rel.gpu;", "membar.gl;", "fence.sc.cta;"})
    EXPECT_EQ(rules(body("st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32", fence)), "") << fence;
  EXPECT_EQ(rules(body("red.release.gpu.global.add.u32", "ld.acquire.gpu.global.u32")
                      .replace(0, 0, "st.volatile.global.u32 [%rd0+8192], 0;\nbar.sync 0;\n")),
            "");
}

TEST(Races, AtomicsAreNone) {
  EXPECT_EQ(rules("red.global.add.u32 [%rd0], 1;\n", {64, 4}), "");
  EXPECT_EQ(rules("red.shared.add.u32 [%r1], 1;\n"), "");
  EXPECT_EQ(rules("atom.cta.global.add.u32 %r6, [%rd0], 1;\n", {64, 1}), "");
  EXPECT_EQ(rules("atom.cta.global.add.u32 %r6, [%rd0], 1;\n", {64, 2}), "S-02");  // the scope does not reach the other block
  EXPECT_EQ(rules("@%p1 red.global.add.u32 [%rd0], 1;\n@!%p1 st.global.u32 [%rd0], 7;\n"), "R-ww");
}

TEST(Races, BetweenBlocks) {
  EXPECT_EQ(rules("mov.u32 %r6, %ctaid.x;\nst.global.u32 [%rd1], %r6;\n", {32, 2}), "R-ww");
  EXPECT_EQ(rules("mov.u32 %r6, %ctaid.x;\nmul.wide.u32 %rd3, %r6, 128;\nadd.u64 %rd4, %rd1, %rd3;\nst.global.u32 [%rd4], %r6;\n",
                  {32, 8}),
            "");
  // The last block reads what all have written: threadFenceReduction.
  const auto last_block = [](std::string_view fence) {
    return cat(
        "mov.u32 %r6, %ctaid.x;\nmul.wide.u32 %rd3, %r6, 4;\nadd.u64 %rd4, %rd0, %rd3;\nadd.u32 %r9, %r6, 100;\n"
        "@%p0 st.global.u32 [%rd4+4096], %r9;\n",
        fence, "\n@%p0 atom.global.add.u32 %r7, [%rd0], 1;\nsetp.eq.u32 %p2, %r7, 3;\n", fence,
        "\n@%p2 ld.global.u32 %r8, [%rd0+4096];\n");
  };
  EXPECT_EQ(rules(last_block("membar.gl;"), {32, 4}), "");
  EXPECT_EQ(rules(last_block(""), {32, 4}), "S-01");
}

// ---- asynchronous

constexpr std::string_view init = "@%p0 mbarrier.init.shared.b64 [%r20], 1;\nbar.sync 0;\n";
constexpr std::string_view load =
    "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 128;\n"
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 128, [%r20];\n";
constexpr std::string_view wait = "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0;\n@!%p2 bra WAIT;\n";

TEST(Races, OfBulkCopies) {
  EXPECT_EQ(rules(cat(init, load, wait, "ld.shared.u32 %r6, [%r1];\n")), "");
  EXPECT_EQ(rules(cat(init, load, "ld.shared.u32 %r6, [%r1];\n", wait)), "R-rw R-wr");
  // Of a wait of one lane the others hear at a barrier.
  const std::string alone =
      "@!%p0 bra OTHERS;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0;\n@!%p2 bra WAIT;\nOTHERS:\n";
  EXPECT_EQ(rules(cat(init, load, alone, "bar.sync 0;\nld.shared.u32 %r6, [%r2];\n"), {32}), "");
  EXPECT_EQ(rules(cat(init, load, alone, "bar.warp.sync -1;\nld.shared.u32 %r6, [%r2];\n"), {32}), "");
  EXPECT_EQ(rules(cat(init, load, alone, "ld.shared.u32 %r6, [%r2];\n"), {32}), "R-wr");
}

TEST(Races, FencesOfTheProxy) {
  const auto body = [](std::string_view before, std::string_view behind) {
    return cat("st.shared.u32 [%r2], %r0;\n", before, "bar.sync 0;\n", behind,
               "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n@%p0 cp.async.bulk.commit_group;\n"
               "@%p0 cp.async.bulk.wait_group.read 0;\n");
  };
  EXPECT_EQ(rules(body("fence.proxy.async.shared::cta;\n", "")), "");  // by the writers
  EXPECT_EQ(rules(body("", "fence.proxy.async.shared::cta;\n")), "");  // by the thread that copies
  EXPECT_EQ(rules(body("", "")), "P-01");
  EXPECT_EQ(rules(body("@%p1 fence.proxy.async.shared::cta;\n", "")), "P-01");      // by half of the writers
  EXPECT_EQ(rules(cat("fence.proxy.async.shared::cta;\n", body("", ""))), "P-01");  // too early
  // A load in the ordinary way, and then a copy over it.
  EXPECT_EQ(rules(cat(init, "ld.shared.u32 %r6, [%r2];\nbar.sync 0;\n", load, wait)), "P-02");
  EXPECT_EQ(rules(cat(init, "ld.shared.u32 %r6, [%r2];\nfence.proxy.async.shared::cta;\nbar.sync 0;\n", load, wait)), "");
}

TEST(Races, LoadsThroughTheReadOnlyCache) {
  const std::string store = "st.global.u32 [%rd1], %r0;\n", read = "ld.global.nc.u32 %r6, [%rd1];\n";
  EXPECT_EQ(rules(read), "");
  EXPECT_EQ(rules(cat(store, read)), "P-04") << "by the same thread";
  EXPECT_EQ(run(cat(store, read), {})->findings.front().kind, Kind::stale_load);
  EXPECT_EQ(rules(cat(store, "ld.global.u32 %r6, [%rd1];\n")), "");
  EXPECT_EQ(rules(cat(store, "ldu.global.u32 %r6, [%rd1];\n")), "P-04");
  EXPECT_EQ(rules(cat(read, store)), "") << "what is loaded is loaded: a kernel in place";
  EXPECT_EQ(rules(cat(store, "bar.sync 0;\nxor.b32 %r4, %r4, 128;\ncvt.u64.u32 %rd2, %r4;\nadd.u64 %rd1, %rd0, %rd2;\n", read)),
            "P-04")
      << "by another warp, in order";
}

TEST(Races, StrongAccessesOfDifferentSizes) {
  const auto body = [](std::string_view first, std::string_view second) {
    return cat("@%p1 bra SECOND;\n", first, "ret;\nSECOND:\n", second);
  };
  const std::string add = "atom.relaxed.cta.shared.add.u32 %r6, [%r1], 1;\n";
  EXPECT_EQ(rules(body(add, ".reg .b16 %h;\ncvt.u16.u32 %h, %r0;\nst.relaxed.cta.shared.u16 [%r1], %h;\n")), "R-ww");
  EXPECT_EQ(rules(body(add, "st.relaxed.cta.shared.u32 [%r1], %r0;\n")), "");
  EXPECT_EQ(rules(body(add, "st.relaxed.cta.shared.v2.u32 [%r1], {%r0, %r0};\n")), "") << "two of one size";
  EXPECT_EQ(rules(body(add, "atom.relaxed.cta.shared.add.u64 %rd3, [%r1], 1;\n")), "") << "atomic ones are atomic";
  EXPECT_EQ(rules(body("st.relaxed.cta.shared.u64 [%r1], 1;\n", "ld.relaxed.cta.shared.u32 %r6, [%r1+4];\n")), "R-rw");
}

TEST(Races, UnfinishedCopies) {
  const auto body = [](std::string_view end) {
    return cat("fence.proxy.async.shared::cta;\n@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n", end);
  };
  const std::string_view commit = "@%p0 cp.async.bulk.commit_group;\n", wait_for_it = "@%p0 cp.async.bulk.wait_group.read 0;\n";
  EXPECT_EQ(rules(body(cat(commit, wait_for_it))), "");
  EXPECT_EQ(rules(body(commit)), "Y-03");
  EXPECT_EQ(rules(body(wait_for_it)), "Y-03");
  EXPECT_EQ(rules(body(cat(commit, "@%p0 cp.async.bulk.wait_group.read 1;\n"))), "Y-03");
  EXPECT_EQ(rules(body(cat(commit, wait_for_it, "st.shared.u32 [%r2], %r0;\n")), {32}), "R-rw");  // the others did not wait
}

TEST(Races, OfCopiesByThreads) {
  const std::string_view copy = "cp.async.ca.shared.global [%r2], [%rd1], 4;\n";
  EXPECT_EQ(rules(cat(copy, "cp.async.wait_all;\nld.shared.u32 %r6, [%r2];\n")), "");
  EXPECT_EQ(rules(cat(copy, "cp.async.commit_group;\nld.shared.u32 %r6, [%r2];\ncp.async.wait_all;\n")), "R-rw R-wr");
  EXPECT_EQ(rules(cat(copy, "cp.async.wait_all;\nld.shared.u32 %r6, [%r3];\n")), "R-rw R-wr");  // the others' too need a barrier
  EXPECT_EQ(rules(cat(copy, "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r6, [%r3];\n")), "");
  EXPECT_EQ(rules(cat(copy,
                      "cp.async.commit_group;\ncp.async.ca.shared.global [%r2+256], [%rd1], 4;\ncp.async.commit_group;\n"
                      "cp.async.wait_group 1;\nld.shared.u32 %r6, [%r2];\ncp.async.wait_all;\n")),
            "");
  // They go through the ordinary proxy.
  const std::string arrives = "mbarrier.init.shared.b64 [%r20], 64;\n";
  EXPECT_EQ(rules(cat("@%p0 ", arrives, "bar.sync 0;\n", copy, "cp.async.mbarrier.arrive.noinc.shared.b64 [%r20];\n", wait,
                      "ld.shared.u32 %r6, [%r3];\n")),
            "");
}

TEST(Races, OfMbarriers) {
  const std::string_view arrive = "mbarrier.arrive.shared.b64 _, [%r20];\n";
  EXPECT_EQ(rules(cat("@%p0 mbarrier.init.shared.b64 [%r20], 64;\nbar.sync 0;\nst.shared.u32 [%r2], %r0;\n", arrive, wait,
                      "ld.shared.u32 %r6, [%r3];\n")),
            "");
  EXPECT_EQ(rules(cat("@%p0 mbarrier.init.shared.b64 [%r20], 64;\nbar.sync 0;\nst.shared.u32 [%r2], %r0;\n"
                      "mbarrier.arrive.relaxed.cta.shared.b64 _, [%r20];\n",
                      wait, "ld.shared.u32 %r6, [%r3];\n")),
            "S-01");
  EXPECT_EQ(rules(cat("@%p0 mbarrier.init.shared.b64 [%r20], 64;\n", arrive)), "M-10");
}

// ---- what is said

TEST(Races, AreSaidWithBothAccesses) {
  const auto report = run("@%p1 st.shared.u32 [%r2], %r0;\n@!%p1 ld.shared.u32 %r6, [%r3];\n", {});
  ASSERT_TRUE(report) << render(report.error());
  ASSERT_EQ(report->findings.size(), 1u);
  const Diagnostic& found = report->findings[0];
  EXPECT_EQ(found.kind, Kind::race);
  EXPECT_EQ(found.message,
            "`ld.shared.u32` loads shared address 0x404 (`tile + 0x4`), and nothing orders that behind what lane 1 of warp 0 "
            "stores there by "
            "`st.shared.u32`");
  ASSERT_EQ(found.execution.size(), 2u);
  EXPECT_EQ(found.execution[0].warp, 1u);
  EXPECT_EQ(found.execution[0].rule, "R-wr");
  EXPECT_EQ(found.execution[0].times, 32u);
  EXPECT_EQ(found.execution[1].instruction, "st.shared.u32");
  EXPECT_EQ(found.execution[1].warp, 0u);
  EXPECT_EQ(found.execution[1].access->element, "tile + 0x4");
  EXPECT_TRUE(testing::has_note(found, "rule: R-wr (docs/rules/R-wr.md)"));
  EXPECT_TRUE(testing::has_note(found, "seen 32 times"))
      << render(found);  // thread 0, which stores the 0 that is there, with them
  EXPECT_TRUE(testing::has_note(found, "hint: bar.sync, or an arrival and a wait at an mbarrier, between the two"));
}

TEST(Races, SayWhatIsMissingOnTheWay) {
  const auto said = [](std::string_view store, std::string_view read, Shape shape) {
    const auto report =
        run(cat("mov.u32 %r6, %ctaid.x;\nmov.u32 %r7, %ntid.x;\nmad.lo.u32 %r6, %r6, %r7, %r0;\n"
                "setp.eq.u32 %p2, %r6, 0;\nsetp.eq.u32 %p3, %r6, 32;\n@%p2 st.global.u32 [%rd0], 7;\n@%p2 ",
                store, " [%rd0+128], 1;\n@!%p3 bra END;\nWAIT:\n", read,
                " %r8, [%rd0+128];\nsetp.ne.u32 %p4, %r8, 1;\n@%p4 bra WAIT;\nld.global.u32 %r9, [%rd0];\nEND:\n"),
            shape);
    std::string order;
    if (report)
      for (const std::string& note : notes_of(report->findings.back()))
        if (note.starts_with("order: ")) order = note;
    return order.substr(0, order.find(" (line")) + "…" +
           order.substr(order.find("; what") == std::string::npos ? 0 : order.find("; what"));
  };
  EXPECT_EQ(said("st.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32", {64}),
            "order: a way leads from the first access to the second by `st.relaxed.gpu.global.u32`…; what is missing on it is "
            ".release at `st.relaxed.gpu.global.u32` (line 35), or a fence of scope .cta before it");
  EXPECT_EQ(said("st.release.cta.global.u32", "ld.acquire.gpu.global.u32", {32, 2}),
            "order: a way leads from the first access to the second by `st.release.cta.global.u32`…; what is missing on it is a "
            "scope of at least .gpu at both");
}

TEST(Races, HaveAKindForEachRule) {
  const std::map<std::string, Kind> kinds{{"R-ww", Kind::race},
                                          {"W-01", Kind::race_of_lanes},
                                          {"P-01", Kind::missing_proxy_fence},
                                          {"M-10", Kind::unordered_mbarrier},
                                          {"Y-03", Kind::unfinished_copy}};
  const std::string_view copy = "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n";
  for (const std::string& body :
       {std::string("st.shared.u32 [%r3], %r0;\nst.shared.u32 [%r1], %r0;\n"),
        cat("mov.u32 %r9, 5;\n@%p0 st.shared.u32 [%r1], %r9;\nbar.sync 0;\n", copy),
        std::string("@%p0 mbarrier.init.shared.b64 [%r20], 64;\nmbarrier.arrive.shared.b64 _, [%r20];\n")}) {
    const auto report = run(body, {});
    ASSERT_TRUE(report) << render(report.error());
    EXPECT_FALSE(report->findings.empty());
    for (const Diagnostic& finding : report->findings)
      if (const auto known = kinds.find(finding.execution.front().rule); known != kinds.end()) {
        EXPECT_EQ(finding.kind, known->second) << render(finding);
      }
  }
}

TEST(Races, AreNotLookedForUnasked) {
  const auto program = text_program(parameters, cat(start, "st.shared.u32 [%r1], %r0;\nret;\n"));
  Buffer<std::uint32_t> memory{"memory", std::vector<std::uint32_t>(4096)};
  EXPECT_TRUE(testing::run(program, testing::block(64), params({memory.address()}), {memory.region()}).findings.empty());
}

}  // namespace
}  // namespace ptx::vgpu::races
