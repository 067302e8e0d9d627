// What the executor's checks find in these programs, which their makers take for right: nothing, but for what stands here.
#include <map>
#include <set>

#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

// The rules that a program breaks, as the manual has them, and why its makers do not mind.
const std::map<std::string, std::map<std::string, std::string>> known = {
    {"atomics",
     {{"S-01", "last_block: the last block reads the others' sums behind an atomic without a fence"},
      {"R-wr", "older: a plain load of what a CAS of 16 bits is to replace (cuda_bf16.hpp)"},
      {"W-01", "older: the same, within a warp"}}},
    {"cutlass_blackwell",
     {{"M-10",
       "the mbarrier of the deallocation is initialised behind the last fence.mbarrier_init, and the blocks meet by "
       "barrier.cluster.arrive.relaxed"}}},
    {"cutlass_geforce",
     {{"P-02", "ldmatrix reads a stage that a tensor copy fills next, with no fence of the proxy"},
      {"R-wr", "all warps store the same 16 zeros for `no more work`, and read them, without meeting"},
      {"W-01", "all lanes store them"}}},
    {"cutlass_hopper", {{"P-01", "what cp.async and st.shared have stored wgmma reads with no fence of the proxy"}}},
    {"deep_gemm", {{"P-02", "as in CUTLASS"}, {"Y-03", "nothing waits for the last tensor store: the grid's end does"}}},
    {"groups",
     {{"R-wr", "a tile of several warps: lane 0 acquires what the warps have stored, and tells its lanes by shfl.sync alone"},
      {"R-ww", "the same"}}},
    {"thunder_attention",
     {{"Y-04", "forward, causal: the stages that are loaded last lie behind the diagonal, and nobody waits for them"},
      {"R-rw",
       "back: nothing keeps the second warpgroup, which stores the next tile's gradients of the scores, behind the first one's "
       "product for q, which reads this tile's"}}},
};

std::string rule_of(const Diagnostic& finding) {
  return finding.execution.empty() ? std::string() : finding.execution.front().rule;
}

class CheckedRuns : public ::testing::TestWithParam<std::string> {};
class RandomRuns : public ::testing::TestWithParam<std::string> {};

TEST_P(CheckedRuns, FindWhatIsKnown) {
  const auto expected = known.find(GetParam());
  std::map<std::string, std::string> left = expected == known.end() ? std::map<std::string, std::string>{} : expected->second;
  for (const Played& run : played(GetParam()))
    for (const Diagnostic& finding : run.findings) {
      const std::string rule = rule_of(finding);
      EXPECT_TRUE(expected != known.end() && expected->second.contains(rule)) << run.name << ": " << render(finding);
      left.erase(rule);
    }
  for (const auto& [rule, why] : left) ADD_FAILURE() << GetParam() << " breaks " << rule << " no more: " << why;
}

// Whose results go by the order of threads, and whose threads need one.
const std::map<std::string, std::string> ordered_results = {
    {"asynchronous", "numbers are drawn"},
    {"atomics", "the same"},
    {"groups", "the same"},
    {"thunder_attention", "it has a race, and the gradient of q is added up in memory, in f32"}};
const std::map<std::string, std::string> ordered_threads = {
    {"thunder_gemm",
     "the three warps beside the one that loads wait for each phase of a stage, and nobody waits for them: one that "
     "is two rounds behind takes a phase for the one before, and waits for ever"}};

// What only threads in another order show.
const std::map<std::string, std::map<std::string, std::string>> known_at_random = {
    {"asynchronous",
     {{"W-01",
       "sm_75: of the lanes that come to libcu++'s barrier together one arrives for all, whom match.any.sync elects: it orders "
       "no "
       "memory, so what the others have loaded may still be on its way when the stage is filled again"}}}};

// To the others it does not matter in which order threads and asynchronous copies go on: the same memory, and nothing new is
// found.
TEST_P(RandomRuns, AreTheSame) {
  if (const auto why = ordered_threads.find(GetParam()); why != ordered_threads.end()) GTEST_SKIP() << why->second;
  const std::vector<Played>& right = played(GetParam());
  const std::vector<Played> runs = played_at_random(GetParam(), 1);
  ASSERT_EQ(runs.size(), right.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::set<std::string> rules;
    for (const Diagnostic& finding : right[i].findings) rules.insert(rule_of(finding));
    if (rules.contains("R-wr")) rules.insert("R-rw");  // the same race, where the store comes behind the load
    if (const auto more = known_at_random.find(GetParam()); more != known_at_random.end())
      for (const auto& [rule, why] : more->second) rules.insert(rule);
    for (const Diagnostic& finding : runs[i].findings)
      EXPECT_TRUE(rules.contains(rule_of(finding))) << runs[i].name << ": " << render(finding);
    if (ordered_results.contains(GetParam())) continue;
    for (const auto& [what, content] : right[i].contents)
      EXPECT_TRUE(runs[i].contents.at(what).after == content.after) << runs[i].name << ": " << what;
  }
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

const auto programs =
    ::testing::Values("asynchronous", "atomics", "attention_ampere", "attention_hopper", "calls", "cub_blocks", "cub_device",
                      "cub_segments", "cutlass_ampere", "cutlass_blackwell", "cutlass_convolution", "cutlass_geforce",
                      "cutlass_hopper", "cutlass_hopper_clusters", "cutlass_kinds", "cutlass_splits", "deep_gemm", "groups",
                      "mathematics", "tensor_copies", "thunder_attention", "thunder_gemm", "warp_matrices", "words");
INSTANTIATE_TEST_SUITE_P(Of, CheckedRuns, programs, name_of);
INSTANTIATE_TEST_SUITE_P(Of, RandomRuns, programs, name_of);

}  // namespace
}  // namespace ptx::producers
