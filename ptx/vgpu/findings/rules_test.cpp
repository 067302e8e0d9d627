// The list of rules, suppressions, and what is kept of findings.
#include "ptx/vgpu/findings/rules.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ptx/vgpu/findings/findings.hpp"

namespace ptx::vgpu {
namespace {

TEST(Rules, AreFoundByTheirIds) {
  std::set<std::string_view> ids;
  for (const RuleRow& known : all_rules()) {
    EXPECT_TRUE(ids.insert(known.id).second) << known.id;
    EXPECT_EQ(&row(known.rule), &known);
    EXPECT_EQ(rule_from_id(known.id), known.rule);
    EXPECT_FALSE(known.summary.empty() || known.mend.empty() || known.section.empty()) << known.id;
    EXPECT_NE(explain(known.rule).find(known.summary), std::string::npos);
  }
  EXPECT_EQ(rule_from_id("r-WW"), Rule::R_ww);
  EXPECT_EQ(rule_from_id("R-w"), std::nullopt);
  EXPECT_EQ(rule_from_id(""), std::nullopt);
}

TEST(Rules, OfAKind) {
  EXPECT_EQ(usual_rule(Kind::out_of_bounds), Rule::A_01);
  EXPECT_EQ(usual_rule(Kind::barrier_misuse), Rule::B_02);
  EXPECT_EQ(usual_rule(Kind::deadlock), Rule::D_01);
  EXPECT_EQ(usual_rule(Kind::trapped), std::nullopt);
  EXPECT_EQ(usual_rule(Kind::step_limit), std::nullopt);
}

TEST(Rules, AnExampleAndItsMendDifferInTheMarkedLines) {
  const std::string bad = example(Rule::R_ww), good = mended_example(Rule::R_ww);
  EXPECT_NE(bad.find("%index, %thread, 31;"), std::string::npos);
  EXPECT_EQ(good.find("%index, %thread, 31;"), std::string::npos);
  EXPECT_NE(good.find("%index, %thread;\n"), std::string::npos);
  EXPECT_EQ(bad.find("//"), std::string::npos) << bad;
  EXPECT_EQ(example_arguments(Rule::R_ww), "--block 64");
}

// At line 7 of gemm.py, with the access before at line 3.
Diagnostic finding(Rule rule) {
  Diagnostic d{
      .kind = row(rule).kind, .severity = row(rule).severity, .message = "m", .where = {"kernels/gemm.py", 7, 0}, .notes = {}};
  d.execution = {{.rule = std::string(id(rule)), .kernel = "gemm", .ptx_line = 70},
                 {.kernel = "gemm", .ptx_line = 30, .where = {"kernels/gemm.py", 3, 0}}};
  return d;
}

TEST(Suppressions, FitByRuleAndPlace) {
  const auto fits = [](std::string_view text) {
    const auto one = Suppression::read(text);
    EXPECT_TRUE(one) << text;
    return one && one->fits(finding(Rule::P_01));
  };
  for (const std::string_view text : {"P-01", "p-01", "P-*", "*", "P-01@gemm.py", "P-01@kernels/gemm.py:7", " P-01 @ gemm.py:3 ",
                                      "*@gemm", "P-01@gemm.py:3+gemm.py:7", "P-01@ptx:70", "P-01@ptx:30"})
    EXPECT_TRUE(fits(text)) << text;
  for (const std::string_view text :
       {"P-02", "R-*", "P-01@emm.py", "P-01@gemm.py:8", "*@gem", "P-01@gemm.py:3+gemm.py:8", "P-01@ptx:7"})
    EXPECT_FALSE(fits(text)) << text;
  EXPECT_FALSE(Suppression::read("*")->fits({.kind = Kind::launch_config, .message = {}, .where = {}, .notes = {}}));
}

TEST(Suppressions, AreReadFromLines) {
  const auto all = Suppression::read_all("# known\n\n  P-01@a.py:1   # why\r\nR-*\n", "known.txt");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].text, "P-01@a.py:1");
  EXPECT_EQ((*all)[1].rule, "R-*");
  const auto wrong = Suppression::read_all("R-*\nX-1", "known.txt");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message.find("known.txt, line 2: suppression `X-1` names a rule that there is not"), 0u);
  EXPECT_EQ(wrong.error().kind, Kind::bad_setting);
}

TEST(Findings, AreKeptOnceAndCounted) {
  Options options;
  options.max_findings = 1;
  options.stop_at_first = true;
  options.suppress = {*Suppression::read("P-02"), *Suppression::read("M-10")};
  Findings all(options);
  const auto meet = [&](Rule rule, std::uint32_t item) {
    const Findings::Key key(rule, item, item);
    if (all.is_new(key)) all.add(key, finding(rule));
  };
  meet(Rule::P_02, 1);  // suppressed
  EXPECT_FALSE(all.stops());
  for (int i = 0; i < 3; ++i) meet(Rule::P_01, 1);
  EXPECT_TRUE(all.stops());
  EXPECT_EQ(all.first_error().kind, Kind::missing_proxy_fence);
  for (int i = 0; i < 2; ++i) meet(Rule::P_01, 2);  // beyond the limit
  Report report;
  all.give_to(report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].execution[0].times, 3u);
  EXPECT_EQ(report.suppressed, 1u);
  EXPECT_EQ(report.left_out, 1u);
  EXPECT_EQ(report.unused_suppressions, std::vector<std::string>{"M-10"});
}

TEST(Findings, WarningsDoNotStopARun) {
  Options options;
  options.stop_at_first = true;
  Findings all(options);
  const Findings::Key key(Rule::Y_03, 1, 1);
  ASSERT_TRUE(all.is_new(key));
  all.add(key, finding(Rule::Y_03));
  EXPECT_FALSE(all.stops());
}

}  // namespace
}  // namespace ptx::vgpu
