// All orders of small kernels: as many as there are, with each outcome that any of them can have.
#include "ptx/vgpu/machine/exploration.hpp"

#include <set>

#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::explorations {
namespace {

using testing::Buffer;

struct Explored {
  std::uint64_t runs = 0, redundant = 0;
  bool exhausted = false;
  std::set<std::vector<std::uint32_t>> outcomes;  // the first words of memory
  std::set<std::string> rules;                    // of findings and faults
};

// `threads`: what lane 0 of each warp does. %rd0 is memory; x is its word 64, y its word 128.
Explored explore(const std::vector<std::string>& threads, std::size_t words, std::uint64_t most = 0, std::uint32_t blocks = 1,
                 std::string_view setup = {}) {
  std::string body =
      cat(".shared .align 128 .b8 tile[128];\n.shared .align 8 .b64 bar;\nld.param.u64 %rd0, [memory];\nmov.u32 %r0, %tid.x;\n"
          "shr.u32 %r1, %r0, 5;\nand.b32 %r2, %r0, 31;\nsetp.eq.u32 %p7, %r0, 0;\nmov.u32 %r14, tile;\nmov.u32 %r15, bar;\n",
          setup, "setp.ne.u32 %p0, %r2, 0;\n@%p0 bra END;\n");
  for (std::size_t i = 0; i < threads.size(); ++i) body += cat("setp.eq.u32 %p1, %r1, ", i, ";\n@%p1 bra T", i, ";\n");
  for (std::size_t i = 0; i < threads.size(); ++i) body += cat("T", i, ":\n", threads[i], "bra END;\n");
  const auto program = testing::body_program(".param .u64 memory", body + "END:\n");
  Explored all;
  if (program == nullptr) return all;
  LaunchConfig config = testing::block(static_cast<std::uint32_t>(32 * threads.size()));
  config.grid[0] = blocks;
  Exploration exploration(most);
  while (exploration.begin_run()) {
    Buffer<std::uint32_t> memory{"memory", std::vector<std::uint32_t>(256)};
    Options options;
    options.checks = Checks::full;
    options.exploration = &exploration;
    const std::vector<Region> regions{memory.region()};
    const auto report = program->run(config, testing::params({memory.address()}), regions, options);
    exploration.end_run();
    if (!report)
      all.rules.insert(report.error().execution.front().rule);
    else
      all.outcomes.insert({memory.data.begin(), memory.data.begin() + static_cast<std::ptrdiff_t>(words)});
    if (report)
      for (const Diagnostic& finding : report->findings) all.rules.insert(finding.execution.front().rule);
  }
  EXPECT_FALSE(exploration.diverged());
  all.runs = exploration.runs();
  all.redundant = exploration.redundant();
  all.exhausted = exploration.exhausted();
  return all;
}

std::string put(std::string_view to) { return cat("st.relaxed.gpu.global.u32 [%rd0+", to, "], 1;\n"); }
std::string get(std::string_view from, int result) {
  return cat("ld.relaxed.gpu.global.u32 %r3, [%rd0+", from, "];\nst.global.u32 [%rd0+", 4 * result, "], %r3;\n");
}
constexpr std::string_view x = "256", y = "512";

TEST(Exploration, FindsEachOutcome) {
  // Store buffering: whose load comes behind whose store. The fourth combination has no order.
  const Explored sb = explore({put(x) + get(y, 0), put(y) + get(x, 1)}, 2);
  EXPECT_TRUE(sb.exhausted);
  EXPECT_EQ(sb.outcomes, (std::set<std::vector<std::uint32_t>>{{0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(sb.runs - sb.redundant, 3u);
  EXPECT_TRUE(sb.rules.empty());
}

// Who comes to a barrier last makes no difference.
TEST(Exploration, GoesOnBehindBarriers) {
  const std::string meet = "barrier.sync 1, 64;\n";
  const Explored sb = explore({meet + put(x) + get(y, 0), meet + put(y) + get(x, 1)}, 2);
  EXPECT_TRUE(sb.exhausted);
  EXPECT_EQ(sb.outcomes, (std::set<std::vector<std::uint32_t>>{{0, 1}, {1, 0}, {1, 1}}));
  const Explored whole = explore({put(x) + get(y, 0), put(y) + get(x, 1)}, 2, 0, 1, "bar.sync 0;\n");
  EXPECT_TRUE(whole.exhausted);
  EXPECT_EQ(whole.outcomes.size(), 3u);
  EXPECT_EQ(whole.runs - whole.redundant, 3u);
}

TEST(Exploration, OfThreadsThatTouchNothingAlikeTakesOneRun) {
  const Explored apart = explore({put("256") + put("260"), put("512") + put("516"), put("768") + put("772")}, 1);
  EXPECT_TRUE(apart.exhausted);
  EXPECT_EQ(apart.runs - apart.redundant, 1u);
}

TEST(Exploration, HasAllOrdersOfUpdates) {
  std::vector<std::string> threads;
  for (int i = 0; i < 4; ++i)
    threads.push_back(cat("atom.relaxed.gpu.global.add.u32 %r3, [%rd0+256], 1;\nst.global.u32 [%rd0+", 4 * i, "], %r3;\n"));
  const Explored four = explore(threads, 4);
  EXPECT_TRUE(four.exhausted);
  EXPECT_EQ(four.outcomes.size(), 24u);
  EXPECT_EQ(four.runs - four.redundant, 24u);
}

TEST(Exploration, FindsWhatOneOrderAloneShows) {
  // The data are read, with no barrier, by who has seen the flag before anybody else took it.
  const std::string take = "atom.relaxed.gpu.global.exch.b32 %r3, [%rd0+512], 0;\nsetp.ne.u32 %p2, %r3, 1;\n@%p2 bra END;\n";
  const Explored race = explore({"st.global.u32 [%rd0+256], 7;\n" + put(y), take, take + "ld.global.u32 %r4, [%rd0+256];\n"}, 1);
  EXPECT_TRUE(race.exhausted);
  EXPECT_EQ(race.rules, std::set<std::string>{"S-01"});
  // Two locks that two threads take in different orders.
  const auto lock = [](std::string_view which, std::string_view label) {
    return cat(label, ":\natom.acquire.gpu.global.cas.b32 %r3, [%rd0+", which, "], 0, 1;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra ",
               label, ";\n");
  };
  const auto unlock = [](std::string_view which) { return cat("st.release.gpu.global.u32 [%rd0+", which, "], 0;\n"); };
  const Explored locks =
      explore({lock(x, "A") + lock(y, "B") + unlock(y) + unlock(x), lock(y, "C") + lock(x, "D") + unlock(x) + unlock(y)}, 1);
  EXPECT_TRUE(locks.exhausted);
  EXPECT_EQ(locks.rules, std::set<std::string>{"D-02"});
  EXPECT_FALSE(locks.outcomes.empty());  // some orders end
}

TEST(Exploration, OfMbarriersAndCopies) {
  constexpr std::string_view setup =
      "@%p7 mbarrier.init.shared::cta.b64 [%r15], 2;\n@%p7 st.global.u32 [%rd0+256], 5;\nfence.proxy.async;\nbar.sync 0;\n";
  const std::string fill =
      "add.u64 %rd1, %rd0, 256;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r15], 16;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r14], [%rd1], 16, [%r15];\n";
  const std::string wait = "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r15], 0;\n@!%p2 bra W;\n";
  const Explored right = explore(
      {fill, "mbarrier.arrive.shared::cta.b64 _, [%r15];\n", wait + "ld.shared.u32 %r3, [%r14];\nst.global.u32 [%rd0], %r3;\n"},
      1, 0, 1, setup);
  EXPECT_TRUE(right.exhausted);
  EXPECT_EQ(right.outcomes, (std::set<std::vector<std::uint32_t>>{{5}}));
  EXPECT_TRUE(right.rules.empty()) << *right.rules.begin();
  EXPECT_GT(right.runs, 3u);
}

TEST(Exploration, OfBlocksIsOneAfterTheOther) {
  const Explored two = explore({put(x) + get(y, 0), put(y) + get(x, 1)}, 0, 0, 2);
  EXPECT_TRUE(two.exhausted);
  EXPECT_LE(two.runs - two.redundant, 6u);
}

TEST(Exploration, EndsAfterSoManyRuns) {
  const Explored some = explore({put(x) + get(y, 0), put(y) + get(x, 1)}, 2, 2);
  EXPECT_EQ(some.runs, 2u);
  EXPECT_FALSE(some.exhausted);
}

}  // namespace
}  // namespace ptx::vgpu::explorations
