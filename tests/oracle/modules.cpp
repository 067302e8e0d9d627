// Modules in the small, each with one construct that ptxas takes or refuses: declarations, calls, initialisers, flow. The verdict
// of `check` must be the recorded one, and where ptxas is found the recorded one must be its own. Where ours differs for a
// reason, the list says so, and only shrinks.
#include <gtest/gtest.h>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/modules.hpp"
#include "tests/support/ptxas.hpp"

namespace ptx {
namespace {

class Modules : public ::testing::TestWithParam<std::string> {};

TEST_P(Modules, HaveTheRecordedVerdict) {
  const std::vector<testing::SmallModule> modules = testing::small_modules(GetParam());
  ASSERT_FALSE(modules.empty()) << GetParam() << " holds no module";
  for (const testing::SmallModule& m : modules) {
    const text::Parsed parsed = text::parse(m.text, m.title);
    Diagnostics found = parsed.findings;
    for (Diagnostic& d : check::check(parsed.module)) found.push_back(std::move(d));
    std::string said;
    for (const Diagnostic& d : found) said += render(d);
    const bool accepted = !has_errors(found);
    if (m.differs)
      EXPECT_NE(accepted, m.accepted) << GetParam() << ':' << m.line << ": " << m.title << " is settled: take the `~` away";
    else
      EXPECT_EQ(accepted, m.accepted) << GetParam() << ':' << m.line << ": " << m.title << "\nptxas "
                                      << (m.accepted ? "takes" : "refuses") << " it; here it is "
                                      << (m.accepted ? "refused:\n" : "taken:\n") << said << m.text;
  }
}

TEST_P(Modules, HaveTheVerdictOfPtxas) {
  const auto ptxas = testing::Ptxas::find();
  if (!ptxas) GTEST_SKIP() << "no ptxas here: what it would say of " << GetParam() << " is not known";
  for (const testing::SmallModule& m : testing::small_modules(GetParam())) {
    auto verdict = ptxas->judge(m.text, m.target);
    // What another module defines is no mistake in one that is linked later.
    const auto says = [&](std::string_view words) { return verdict.said.find(words) != std::string::npos; };
    if (says("Unresolved extern") || says("--compile-only") || says("Cannot take address of function"))
      verdict = ptxas->judge(m.text, m.target, "-c");
    EXPECT_EQ(verdict.accepted, m.accepted) << GetParam() << ':' << m.line << ": " << m.title << '\n' << verdict.said << m.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Modules, testing::each_of(testing::module_files()),
                         [](const auto& file) { return testing::stem(file.param); });

}  // namespace
}  // namespace ptx
