// Litmus tests of PTX's memory model: two to four threads, each with a few accesses, and what the race checks have to say of them
// in whatever order they run. Their names are those of the literature: MP message passing, SB store buffering, LB load buffering,
// CoRR … coherence, IRIW independent reads of independent writes, WRC write to read causality, ISA2 and so on (J. Alglave et al.,
// "Herding Cats", 2014; D. Lustig et al., "A Formal Analysis of the NVIDIA PTX Memory Consistency Model", 2019, whose axioms are
// the manual's chapter "Memory Consistency Model"). `section` is the manual's.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::litmus {
namespace {

using testing::Buffer;

// Where the threads are, each in a warp of its own.
enum class Place : std::uint8_t {
  warps,    // of one block
  cluster,  // each in a block of one cluster
  blocks,   // each in a block of its own
  pairs,    // threads 0 and 1 in a block, 2 and 3 in another one
};

struct Litmus {
  std::string name;
  std::string_view section;
  Place place = Place::warps;
  std::vector<std::string> threads;
  std::string rules = {};           // that are broken, in some order of the threads: "R-wr S-02"
  std::vector<int> forbidden = {};  // what results 0, 1, … must not be together; -1: any
  std::string_view setup = {};      // by all threads of each block, before a barrier of the block, or of the cluster
};

// x and y lie in different lines of global memory, sx in shared memory of the thread's own block, and of block 0 as `remote`.
std::string text_of(const Litmus& test) {
  std::string body =
      ".reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n.reg .pred %p<8>;\n.shared .align 128 .b8 sx[128];\n.shared .align 8 .b64 bar;\n"
      "ld.param.u64 %rd0, [memory];\nmov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\nand.b32 %r2, %r0, 31;\nmov.u32 %r3, %ctaid.x;\n"
      "mov.u32 %r20, bar;\nmov.u32 %r21, sx;\nsetp.eq.u32 %p7, %r0, 0;\n";
  if (test.place == Place::cluster) body += "mapa.shared::cluster.u32 %r22, %r20, 0;\nmapa.shared::cluster.u32 %r23, %r21, 0;\n";
  body += test.setup;
  if (!test.setup.empty())
    body += test.place == Place::cluster
                ? "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                : "bar.sync 0;\n";
  const std::string_view number = test.place == Place::warps   ? "mov.u32 %r4, %r1;\n"
                                  : test.place == Place::pairs ? "mad.lo.u32 %r4, %r3, 2, %r1;\n"
                                                               : "mov.u32 %r4, %r3;\n";
  body += cat(number, "setp.ne.u32 %p0, %r2, 0;\n@%p0 bra END;\n");
  for (std::size_t i = 0; i < test.threads.size(); ++i) body += cat("setp.eq.u32 %p1, %r4, ", i, ";\n@%p1 bra T", i, ";\n");
  body += "bra END;\n";
  for (std::size_t i = 0; i < test.threads.size(); ++i) {
    std::string thread = test.threads[i];
    for (std::size_t at; (at = thread.find("LOOP")) != std::string::npos;) thread.replace(at, 4, cat("W", i));
    body += cat("T", i, ":\n", thread, "\nbra END;\n");
  }
  body += test.place == Place::cluster ? "END:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n" : "END:\nret;\n";
  for (const auto& [word, address] : {std::pair("[x]", "[%rd0]"), std::pair("[y]", "[%rd0+256]"), std::pair("[z]", "[%rd0+512]")})
    for (std::size_t at; (at = body.find(word)) != std::string::npos;) body.replace(at, 3, address);
  return body;
}

void check(const Litmus& test, std::uint64_t seeds) {
  SCOPED_TRACE(cat(test.name, " (", test.section, ")"));
  const auto program = testing::text_program(".param .u64 memory", text_of(test));
  ASSERT_NE(program, nullptr) << text_of(test);
  const auto threads = static_cast<std::uint32_t>(test.threads.size());
  LaunchConfig config = testing::block(test.place == Place::warps ? 32 * threads : test.place == Place::pairs ? 64 : 32);
  config.grid[0] = test.place == Place::warps ? 1 : test.place == Place::pairs ? 2 : threads;
  config.cluster[0] = test.place == Place::cluster ? threads : 1;
  std::set<std::string> rules;
  for (std::uint64_t seed = 0; seed < seeds + 2; ++seed) {
    Buffer<std::uint32_t> memory{"memory", std::vector<std::uint32_t>(1024)};
    Options options;
    options.checks = Checks::full;
    options.seed = seed;
    options.completion = seed == seeds ? Completion::eager : seed == seeds + 1 ? Completion::lazy : Completion::random;
    options.threads = seed >= seeds ? Threads::in_turn : Threads::random;
    const std::vector<Region> regions{memory.region()};
    const auto report = program->run(config, testing::params({memory.address()}), regions, options);
    ASSERT_TRUE(report) << render(report.error());
    for (const Diagnostic& finding : report->findings) {
      const std::string& rule = finding.execution.front().rule;
      rules.insert(rule);
      EXPECT_NE(test.rules.find(rule), std::string::npos) << render(finding);
    }
    if (test.forbidden.empty()) continue;
    bool met = true;
    for (std::size_t i = 0; i < test.forbidden.size(); ++i)
      met = met && (test.forbidden[i] < 0 || static_cast<int>(memory.data[256 + i]) == test.forbidden[i]);
    EXPECT_FALSE(met) << "seed " << seed;
  }
  std::string words;
  for (const std::string& rule : rules) words += cat(words.empty() ? "" : " ", rule);
  EXPECT_EQ(words, test.rules);
}

// ---- the accesses

std::string store(std::string_view how, std::string_view to, int value = 1) {
  return cat("st", how, ".global.u32 ", to, ", ", value, ";\n");
}
std::string load(std::string_view how, std::string_view from, int result = -1) {
  return cat("ld", how, ".global.u32 %r10, ", from, ";\n",
             result < 0 ? std::string() : cat("st.global.u32 [%rd0+", 1024 + 4 * result, "], %r10;\n"));
}
// Until what is there is the value.
std::string await(std::string_view how, std::string_view from, int value = 1) {
  return cat("LOOP:\nld", how, ".global.u32 %r11, ", from, ";\nsetp.ne.u32 %p2, %r11, ", value, ";\n@%p2 bra LOOP;\n");
}
// Once; what follows runs where the value was there.
std::string if_there(std::string_view how, std::string_view from) {
  return cat("ld", how, ".global.u32 %r11, ", from, ";\nsetp.ne.u32 %p2, %r11, 1;\n@%p2 bra END;\n");
}

Litmus message(std::string name, Place place, std::string_view release, std::string_view acquire, std::string rules = "") {
  return {cat("MP+", name),
          "Release and Acquire Patterns",
          place,
          {store("", "[x]") + store(release, "[y]"), await(acquire, "[y]") + load("", "[x]", 0)},
          std::move(rules),
          {0}};
}
Litmus fenced(std::string name, Place place, std::string_view before, std::string_view behind, std::string rules = "",
              std::string_view access = ".relaxed.gpu") {
  return {cat("MP+fences+", name),
          "Release and Acquire Patterns",
          place,
          {cat(store("", "[x]"), before, store(access, "[y]")), cat(await(access, "[y]"), behind, load("", "[x]", 0))},
          std::move(rules),
          {0}};
}

TEST(Litmus, MessagePassing) {
  for (const Litmus& test : std::vector<Litmus>{
           message("cta", Place::warps, ".release.cta", ".acquire.cta"),
           message("gpu", Place::blocks, ".release.gpu", ".acquire.gpu"),
           message("sys", Place::blocks, ".release.sys", ".acquire.gpu"),
           message("cluster", Place::cluster, ".release.cluster", ".acquire.cluster"),
           message("release of the block alone", Place::blocks, ".release.cta", ".acquire.gpu", "S-02"),
           message("acquire of the block alone", Place::blocks, ".release.gpu", ".acquire.cta", "S-02"),
           message("of the cluster, between clusters", Place::blocks, ".release.cluster", ".acquire.cluster", "S-02"),
           message("of the block, in a cluster", Place::cluster, ".release.cta", ".acquire.cta", "S-02"),
           message("no release", Place::blocks, ".relaxed.gpu", ".acquire.gpu", "S-01"),
           message("no acquire", Place::blocks, ".release.gpu", ".relaxed.gpu", "S-01"),
           message("volatile", Place::warps, ".volatile", ".volatile", "S-01"),
           fenced("acq_rel", Place::blocks, "fence.acq_rel.gpu;\n", "fence.acq_rel.gpu;\n"),
           fenced("sc", Place::blocks, "fence.sc.gpu;\n", "fence.sc.gpu;\n"),
           fenced("membar", Place::blocks, "membar.gl;\n", "membar.gl;\n", "", ".volatile"),
           fenced("of the block, within it", Place::warps, "fence.acq_rel.cta;\n", "membar.cta;\n"),
           fenced("of the block, beyond it", Place::blocks, "fence.acq_rel.cta;\n", "fence.acq_rel.gpu;\n", "S-02"),
           fenced("the reader's of the block", Place::blocks, "fence.acq_rel.gpu;\n", "fence.acq_rel.cta;\n", "S-02"),
           fenced("none of the writer's", Place::blocks, "", "fence.acq_rel.gpu;\n", "S-01"),
           fenced("none of the reader's", Place::blocks, "fence.acq_rel.gpu;\n", "", "S-01"),
       })
    check(test, 24);
}

TEST(Litmus, MessagePassingByFencesAtTheWrongPlace) {
  check({"MP+fence before the data",
         "Release and Acquire Patterns",
         Place::blocks,
         {"fence.acq_rel.gpu;\n" + store("", "[x]") + store(".relaxed.gpu", "[y]"),
          await(".acquire.gpu", "[y]") + load("", "[x]", 0)},
         "S-01"},
        24);
  check({"MP+fence before the flag is read",
         "Release and Acquire Patterns",
         Place::blocks,
         {store("", "[x]") + store(".release.gpu", "[y]"),
          "fence.acq_rel.gpu;\n" + await(".relaxed.gpu", "[y]") + load("", "[x]", 0)},
         "S-01"},
        24);
}

TEST(Litmus, MessagePassingByWeakAccesses) {
  check({"MP+weak",
         "Data-races",
         Place::warps,
         {store("", "[x]") + store("", "[y]"), if_there("", "[y]") + load("", "[x]")},
         "R-rw R-wr"},
        64);
  check({"MP+weak flag",
         "Data-races",
         Place::warps,
         {store(".relaxed.cta", "[x]") + store("", "[y]"), if_there("", "[y]") + load(".relaxed.cta", "[x]")},
         "R-rw R-wr"},
        64);
}

TEST(Litmus, Updates) {
  const std::string add = "red.release.gpu.global.add.u32 [y], 1;\n", read = await(".acquire.gpu", "[y]", 2);
  for (const Litmus& test : std::vector<Litmus>{
           {"MP+exch",
            "Observation Order",
            Place::blocks,
            {store("", "[x]") + "atom.release.gpu.global.exch.b32 %r12, [y], 1;\n",
             "LOOP:\natom.acquire.gpu.global.cas.b32 %r11, [y], 1, 2;\nsetp.ne.u32 %p2, %r11, 1;\n@%p2 bra LOOP;\n" +
                 load("", "[x]", 0)},
            "",
            {0}},
           {"two releases counted",
            "Observation Order",
            Place::blocks,
            {store("", "[x]") + add, store("", "[z]") + add, read + load("", "[x]", 0) + load("", "[z]", 1)},
            "",
            {0, 0}},
           {"one of two released",
            "Observation Order",
            Place::blocks,
            {store("", "[x]") + add, store("", "[z]") + "red.relaxed.gpu.global.add.u32 [y], 1;\n",
             read + load("", "[x]", 0) + load("", "[z]", 1)},
            "S-01"},
           {"a release read through an update",
            "Observation Order",
            Place::blocks,
            {store("", "[x]") + store(".release.gpu", "[y]"),
             await(".relaxed.gpu", "[y]") + "atom.relaxed.gpu.global.add.u32 %r12, [y], 1;\n", read + load("", "[x]", 0)},
            "",
            {0}},
           {"a release that a store hides",
            "Observation Order",
            Place::blocks,
            {store("", "[x]") + store(".release.gpu", "[y]"), await(".relaxed.gpu", "[y]") + store(".relaxed.gpu", "[y]", 2),
             read + load("", "[x]", 0)},
            "R-wr"},
           {"atomics",
            "Atomicity",
            Place::blocks,
            {"red.relaxed.gpu.global.add.u32 [x], 1;\n", "atom.relaxed.gpu.global.add.u32 %r12, [x], 1;\n"}},
           {"atomics of the block",
            "Morally Strong Operations",
            Place::blocks,
            {"red.relaxed.cta.global.add.u32 [x], 1;\n", "atom.relaxed.cta.global.add.u32 %r12, [x], 1;\n"},
            "S-02"},
           {"atomics of the block, within it",
            "Morally Strong Operations",
            Place::warps,
            {"red.relaxed.cta.global.add.u32 [x], 1;\n", "atom.relaxed.cta.global.add.u32 %r12, [x], 1;\n"}},
           {"an atomic and a weak store",
            "Data-races",
            Place::blocks,
            {"red.relaxed.gpu.global.add.u32 [x], 1;\n", store("", "[x]", 7)},
            "R-ww"}})
    check(test, 32);
}

TEST(Litmus, Transitivity) {
  const auto isa2 = [](std::string_view name, Place place, std::string_view first, std::string_view second, std::string rules) {
    return Litmus{cat("ISA2+", name),
                  "Causality Order",
                  place,
                  {store("", "[x]") + store(cat(".release", first), "[y]"),
                   await(cat(".acquire", first), "[y]") + store(cat(".release", second), "[z]"),
                   await(cat(".acquire", second), "[z]") + load("", "[x]", 0)},
                  std::move(rules),
                  {0}};
  };
  for (const Litmus& test : {isa2("gpu", Place::blocks, ".gpu", ".gpu", ""), isa2("cta, cta", Place::warps, ".cta", ".cta", ""),
                             isa2("cta within the block, gpu beyond", Place::pairs, ".cta", ".gpu", ""),
                             isa2("cta within the block and beyond", Place::pairs, ".cta", ".cta", "S-02"),
                             isa2("cta between blocks, then gpu", Place::blocks, ".cta", ".gpu", "S-02")})
    check(test, 24);
  check({"WRC",
         "Causality Order",
         Place::blocks,
         {store(".relaxed.gpu", "[x]"), await(".relaxed.gpu", "[x]") + store(".release.gpu", "[y]"),
          await(".acquire.gpu", "[y]") + load(".relaxed.gpu", "[x]", 0)},
         "",
         {0}},
        24);
  check(
      {"WRC+weak",
       "Data-races",
       Place::warps,
       {store("", "[x]"), if_there("", "[x]") + store(".release.gpu", "[y]"), if_there(".acquire.gpu", "[y]") + load("", "[x]")},
       "R-rw R-wr"},
      64);
}

// Strong accesses are no races; what the model forbids the executor, in which accesses follow each other, never shows.
TEST(Litmus, StrongAccesses) {
  const std::string sc = "fence.sc.gpu;\n", of = ".relaxed.gpu";
  for (const Litmus& test : std::vector<Litmus>{
           {"SB+fence.sc",
            "Fence-SC",
            Place::blocks,
            {store(of, "[x]") + sc + load(of, "[y]", 0), store(of, "[y]") + sc + load(of, "[x]", 1)},
            "",
            {0, 0}},
           {"LB",
            "Causality",
            Place::blocks,
            {load(of, "[x]", 0) + store(of, "[y]"), load(of, "[y]", 1) + store(of, "[x]")},
            "",
            {1, 1}},
           {"R",
            "Fence-SC",
            Place::blocks,
            {store(of, "[x]") + sc + store(of, "[y]", 2), store(of, "[y]") + sc + load(of, "[x]", 0)}},
           {"S",
            "Causality",
            Place::blocks,
            {store(of, "[x]", 2) + store(".release.gpu", "[y]"), if_there(".acquire.gpu", "[y]") + store(of, "[x]")}},
           {"2+2W", "Coherence", Place::blocks, {store(of, "[x]") + store(of, "[y]", 2), store(of, "[y]") + store(of, "[x]", 2)}},
           {"IRIW+fence.sc",
            "Fence-SC",
            Place::blocks,
            {store(of, "[x]"), store(of, "[y]"), load(of, "[x]", 0) + sc + load(of, "[y]", 1),
             load(of, "[y]", 2) + sc + load(of, "[x]", 3)},
            "",
            {1, 0, 1, 0}},
           {"CoRR", "Coherence", Place::blocks, {store(of, "[x]"), load(of, "[x]", 0) + load(of, "[x]", 1)}, "", {1, 0}},
           {"CoWR", "Coherence", Place::blocks, {store(of, "[x]") + load(of, "[x]", 0), store(of, "[x]", 2)}, "", {0}},
           {"CoRW", "Coherence", Place::blocks, {load(of, "[x]", 0) + store(of, "[x]"), store(of, "[x]", 2)}, "", {1}},
           {"CoWW",
            "Coherence",
            Place::blocks,
            {store(of, "[x]") + store(of, "[x]", 2), load(of, "[x]", 0) + load(of, "[x]", 1)},
            "",
            {2, 1}}})
    check(test, 32);
}

TEST(Litmus, AccessesThatAreNotStrongEnough) {
  const std::string cta = ".relaxed.cta", gpu = ".relaxed.gpu";
  for (const Litmus& test : std::vector<Litmus>{
           {"SB+weak",
            "Data-races",
            Place::blocks,
            {store("", "[x]") + load("", "[y]"), store("", "[y]") + load("", "[x]")},
            "R-rw R-wr"},
           {"LB+weak",
            "Data-races",
            Place::warps,
            {load("", "[x]") + store("", "[y]"), load("", "[y]") + store("", "[x]")},
            "R-rw R-wr"},
           {"CoWW+weak", "Data-races", Place::blocks, {store("", "[x]"), store("", "[x]", 2)}, "R-ww"},
           {"CoRR+a weak load", "Data-races", Place::warps, {store(gpu, "[x]"), load("", "[x]")}, "R-rw R-wr"},
           {"CoRR+of the block", "Morally Strong Operations", Place::blocks, {store(cta, "[x]"), load(cta, "[x]")}, "S-02"},
           {"CoRR+one of the block", "Morally Strong Operations", Place::cluster, {store(gpu, "[x]"), load(cta, "[x]")}, "S-02"},
           {"CoWW+of the block, within it",
            "Morally Strong Operations",
            Place::warps,
            {store(cta, "[x]"), store(cta, "[x]", 2)}}})
    check(test, 64);
}

// ---- barriers and mbarriers

std::string remember(int result = 0) { return cat("st.global.u32 [%rd0+", 1024 + 4 * result, "], %r10;\n"); }
const std::string put = "st.shared.u32 [sx], 1;\n", get = "ld.shared.u32 %r10, [sx];\n" + remember();
constexpr std::string_view init = "@%p7 mbarrier.init.shared::cta.b64 [%r20], 1;\n@%p7 st.shared.u32 [sx], 0;\n";

TEST(Litmus, Barriers) {
  for (const Litmus& test : std::vector<Litmus>{{"MP+barrier.sync",
                                                 "Instruction Set: bar",
                                                 Place::warps,
                                                 {put + "barrier.sync 1, 64;\n", "barrier.sync 1, 64;\n" + get},
                                                 "",
                                                 {0},
                                                 init},
                                                {"MP+barrier.arrive",
                                                 "Instruction Set: bar",
                                                 Place::warps,
                                                 {put + "barrier.arrive 1, 64;\n", "barrier.sync 1, 64;\n" + get},
                                                 "",
                                                 {0},
                                                 init},
                                                {"MP+barrier.arrive by the reader",
                                                 "Instruction Set: bar",
                                                 Place::warps,
                                                 {put + "barrier.sync 1, 64;\n", "barrier.arrive 1, 64;\n" + get},
                                                 "R-rw R-wr",
                                                 {},
                                                 init},
                                                {"MP+barriers of different numbers",
                                                 "Instruction Set: bar",
                                                 Place::warps,
                                                 {put + "barrier.sync 1, 32;\n", "barrier.sync 2, 32;\n" + get},
                                                 "R-rw R-wr",
                                                 {},
                                                 init}})
    check({test.name,
           test.section,
           test.place,
           {"bar.warp.sync 1;\n" + test.threads[0], test.threads[1]},
           test.rules,
           test.forbidden,
           test.setup},
          32);
}

TEST(Litmus, Mbarriers) {
  const auto passed = [](std::string_view name, std::string_view arrive, std::string_view wait, std::string rules) {
    return Litmus{cat("MP+mbarrier+", name),
                  "Instruction Set: mbarrier.arrive",
                  Place::warps,
                  {cat(put, "mbarrier.arrive", arrive, ".shared::cta.b64 _, [%r20];\n"),
                   cat("LOOP:\nmbarrier.try_wait.parity", wait, ".shared::cta.b64 %p2, [%r20], 0;\n@!%p2 bra LOOP;\n", get)},
                  std::move(rules),
                  {0},
                  init};
  };
  for (const Litmus& test : {passed("as it is", "", "", ""), passed("words", ".release.cta", ".acquire.cta", ""),
                             passed("arrive.relaxed", ".relaxed.cta", ".acquire.cta", "S-01"),
                             passed("try_wait.relaxed", ".release.cta", ".relaxed.cta", "S-01")})
    check(test, 24);
  // Thread 1 tells thread 0, in another block, at that block's mbarrier.
  const auto remote = [](std::string_view name, std::string_view arrive, std::string rules) {
    return Litmus{cat("MP+remote+", name),
                  "Instruction Set: mbarrier.arrive",
                  Place::cluster,
                  {cat("LOOP:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r20], 0;\n@!%p2 bra LOOP;\n", get),
                   cat("st.shared::cluster.u32 [%r23], 1;\nmbarrier.arrive", arrive, ".shared::cluster.b64 _, [%r22];\n")},
                  std::move(rules),
                  {0},
                  init};
  };
  for (const Litmus& test : {remote("as it is", "", ""), remote("cluster", ".release.cluster", ""),
                             remote("cta", ".release.cta", "S-02"), remote("relaxed", ".relaxed.cluster", "S-01")})
    check(test, 24);
}

// ---- the asynchronous proxy

TEST(Litmus, Proxies) {
  const std::string fence = "fence.proxy.async.shared::cta;\n", meet = "barrier.sync 1, 64;\n";
  const std::string copy =
      "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r21], 16;\ncp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group 0;\n";
  const std::string fill =
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 16;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd0], 16, [%r20];\n";
  const std::string wait = "LOOP:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r20], 0;\n@!%p2 bra LOOP;\n";
  constexpr std::string_view zeros =
      "@%p7 mbarrier.init.shared::cta.b64 [%r20], 1;\n@%p7 st.shared.v4.u32 [sx], {%r2, %r2, %r2, %r2};\n"
      "fence.proxy.async.shared::cta;\n";
  for (const Litmus& test : std::vector<Litmus>{
           {"a copy behind the writer's fence", "Proxies", Place::warps, {put + fence + meet, meet + copy}, "", {}, zeros},
           {"a copy behind its own thread's fence", "Proxies", Place::warps, {put + meet, meet + fence + copy}, "", {}, zeros},
           {"a copy behind no fence", "Proxies", Place::warps, {put + meet, meet + copy}, "P-01", {}, zeros},
           {"a fence before the store", "Proxies", Place::warps, {fence + put + meet, meet + copy}, "P-01", {}, zeros},
           {"a fence behind the copy", "Proxies", Place::warps, {put + meet, meet + copy + fence}, "P-01", {}, zeros},
           {"a fence, and no barrier", "Data-races", Place::warps, {put + fence, copy}, "R-rw R-wr", {}, zeros},
           {"a copy over what was loaded", "Proxies", Place::warps, {get + meet, meet + fill + wait}, "P-02", {}, zeros},
           {"a copy over what was loaded, behind a fence",
            "Proxies",
            Place::warps,
            {get + fence + meet, meet + fill + wait},
            "",
            {},
            zeros},
           {"a load behind a wait for the copy",
            "Completion Mechanisms for Asynchronous Copy Operations",
            Place::warps,
            {fill, wait + get},
            "",
            {},
            zeros},
           {"a load that does not wait",
            "Completion Mechanisms for Asynchronous Copy Operations",
            Place::warps,
            {fill + wait, get},
            "R-rw R-wr",
            {},
            zeros},
           {"a store behind a copy that is complete",
            "Instruction Set: cp.async.bulk.wait_group",
            Place::warps,
            {copy + put},
            "",
            {},
            zeros},
           {"a store behind a copy that may still read",
            "Instruction Set: cp.async.bulk.wait_group",
            Place::warps,
            {"cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r21], 16;\ncp.async.bulk.commit_group;\n" + put +
             "cp.async.bulk.wait_group 0;\n"},
            "R-rw R-wr",
            {},
            zeros}})
    check(test, 24);
}

}  // namespace
}  // namespace ptx::vgpu::litmus
