// Goldens of check. A *.ptx file holds modules as text, each behind a line `// == title` and with a header of its own or the
// usual one; a *.golden file holds scripts (tests/support/script.hpp) behind lines `== title`, for what text cannot say. Findings
// stand behind their line as `//! kind: message (hint: …)`, those without a place behind the title. A case that ptxas takes
// although check refuses it says `ptxas accepts: why`.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/script.hpp"

namespace ptx {
namespace {

constexpr std::string_view accepts = "ptxas accepts:";

struct Case {
  std::size_t title = 0;           // index of its `== title` line
  std::vector<std::string> lines;  // what the script is made of, one for each line behind the title
  bool ptxas_accepts = false;
};

// What check says of a case, and the text that ptxas is asked about.
struct Seen {
  Diagnostics found;
  std::string text, target;
};

// A file's lines without their expectations, and the cases among them.
struct Golden {
  std::string path;
  std::vector<std::string> source;
  std::vector<Case> cases;

  explicit Golden(std::string file) : path(std::move(file)) {
    for (std::string line : testing::lines_of(testing::read_file(path))) {
      if (const std::size_t mark = line.find("//!"); mark != std::string::npos) line.resize(mark);
      while (line.ends_with(' ')) line.pop_back();
      const bool title = line.starts_with(plain() ? "// ==" : "==");
      if (title) cases.push_back({.title = source.size()});
      const bool aside = line.starts_with(plain() ? cat("// ", accepts) : std::string(accepts));
      if (aside && !cases.empty()) cases.back().ptxas_accepts = true;
      if (!title && !cases.empty()) cases.back().lines.push_back(aside ? "" : line);
      source.push_back(std::move(line));
    }
  }
  Seen look(const Case& c) const {
    Seen seen;
    if (plain()) {
      const text::Parsed parsed = text::parse(text_of(c), path);
      seen.found = parsed.findings;
      for (Diagnostic& d : check::check(parsed.module)) seen.found.push_back(std::move(d));
      seen.text = text_of(c);
      seen.target = isa::name(parsed.module.target);
    } else {
      const ir::Module module = testing::Script::module(c.lines, path, static_cast<std::uint32_t>(c.title + 2));
      seen.found = check::check(module);
      // The registers of a script declare themselves, and nothing gives them values: dataflow.ptx shows this warning.
      std::erase_if(seen.found, [](const Diagnostic& d) { return d.kind == Kind::uninitialised; });
      seen.text = text::print(module);
      seen.target = isa::name(module.target);
    }
    return seen;
  }
  const std::string& title(const Case& c) const { return source[c.title]; }

 private:
  bool plain() const { return path.ends_with(".ptx"); }
  // The module's text, each line where it stands in the file; the usual header stands in the title's line.
  std::string text_of(const Case& c) const {
    std::string text(c.title, '\n');
    const bool header =
        std::any_of(c.lines.begin(), c.lines.end(), [](const std::string& l) { return l.starts_with(".version"); });
    if (!header) text += ".version 8.5 .target sm_90a .address_size 64";
    text += '\n';
    return text + testing::join_lines(c.lines);
  }
};

std::string shown(const Diagnostic& d) {
  std::string out = cat(d.severity == Severity::warning ? "warning "
                        : d.severity == Severity::note  ? "note "
                                                        : "",
                        name(d.kind), ": ", d.message);
  for (const std::string& note : notes_of(d))
    if (note.starts_with("hint: ")) out += cat(" (", note, ')');
  return out;
}

std::vector<std::string> test_files() {
  std::vector<std::string> files = testing::golden_files("check");
  for (std::string& file : testing::golden_files("check", ".ptx")) files.push_back(std::move(file));
  return files;
}

class CheckGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(CheckGolden, FindsWhatItSays) {
  const Golden golden(GetParam());
  ASSERT_FALSE(golden.cases.empty()) << GetParam() << " holds no case";
  std::vector<std::string> lines = golden.source;
  for (const Case& c : golden.cases)
    for (const Diagnostic& d : golden.look(c).found)
      lines[d.where.known() ? d.where.line - 1 : c.title] += cat("  //! ", shown(d));
  const std::string seen = testing::join_lines(lines), expected = testing::read_file(golden.path);
  if (testing::blessing()) {
    std::ofstream(golden.path, std::ios::binary) << seen;
    return;
  }
  const std::vector<std::string> expected_lines = testing::lines_of(expected);
  ASSERT_EQ(expected_lines.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(expected_lines[i], lines[i]) << golden.path << ':' << i + 1;
  if (HasFailure()) ADD_FAILURE() << testing::how_to_bless;
}

TEST_P(CheckGolden, PtxasAgrees) {
  const auto ptxas = testing::Ptxas::find();
  if (!ptxas) GTEST_SKIP() << "no ptxas here: what it would say of " << GetParam() << " is not known";
  const Golden golden(GetParam());
  for (const Case& c : golden.cases) {
    const Seen seen = golden.look(c);
    const bool ours = !has_errors(seen.found);
    auto verdict = ptxas->judge(seen.text, seen.target);
    // What another module defines is no mistake in one that is linked later.
    if (verdict.said.find("Unresolved extern") != std::string::npos || verdict.said.find("--compile-only") != std::string::npos)
      verdict = ptxas->judge(seen.text, seen.target, "-c");
    const std::string context =
        cat(golden.path, ':', c.title + 1, ": ", golden.title(c), "\nptxas said:\n", verdict.said, "\nof\n", seen.text);
    if (ours) {
      EXPECT_TRUE(verdict.accepted) << "check accepts and ptxas refuses " << context;
      EXPECT_FALSE(c.ptxas_accepts) << "nothing to explain: check accepts it too: " << context;
    } else {
      EXPECT_EQ(verdict.accepted, c.ptxas_accepts) << "check refuses; the golden says whether ptxas does: " << context;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, CheckGolden, testing::each_of(test_files()), [](const auto& file) {
  return cat(testing::stem(file.param), file.param.ends_with(".ptx") ? "_ptx" : "");
});

// What the printer's goldens show must be right PTX too.
class PrintedGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(PrintedGolden, IsAccepted) {
  std::vector<std::string> script;
  for (const std::string& line : testing::lines_of(testing::read_file(GetParam()))) {
    if (line == "-- prints") break;
    script.push_back(line);
  }
  const ir::Module module = testing::Script::module(script, GetParam());
  for (const Diagnostic& d : check::check(module)) EXPECT_NE(d.severity, Severity::error) << render(d);
  const auto ptxas = testing::Ptxas::find();
  if (!ptxas) GTEST_SKIP() << "no ptxas here: what it would say of " << GetParam() << " is not known";
  const auto verdict = ptxas->judge(text::print(module), std::string(isa::name(module.target)));
  EXPECT_TRUE(verdict.accepted) << GetParam() << ":\n" << verdict.said;
}

INSTANTIATE_TEST_SUITE_P(Files, PrintedGolden, ::testing::ValuesIn(testing::golden_files("text")),
                         [](const auto& file) { return testing::stem(file.param); });

// Every kind that the room's sources or isa::match name is shown by a golden; those that cannot be are listed, with the reason.
TEST(CheckGoldens, ShowEveryKind) {
  std::set<std::string> emitted = {"operand_count", "operand_mismatch", "immediate_range"};  // isa::match's
  const std::regex kind("[^a-zA-Z]Kind::([a-z_]+)");
  for (const auto& entry : std::filesystem::directory_iterator("ptx/check")) {
    const std::string path = entry.path().generic_string();
    if (!path.ends_with(".cpp") || path.ends_with("_test.cpp")) continue;
    const std::string source = testing::read_file(path);
    for (std::sregex_iterator it(source.begin(), source.end(), kind), end; it != end; ++it) emitted.insert((*it)[1]);
  }
  emitted.erase("internal");  // a row that names a rule which is not there: RulesTest.RowsAndRulesNameEachOther
  ASSERT_GE(emitted.size(), 14u);
  std::string goldens;
  for (const std::string& file : test_files()) goldens += testing::read_file(file);
  for (const std::string& name : emitted)
    EXPECT_TRUE(goldens.find(cat("//! ", name, ": ")) != std::string::npos ||
                goldens.find(cat("//! warning ", name, ": ")) != std::string::npos)
        << "no golden of tests/golden/check shows " << name;
}

}  // namespace
}  // namespace ptx
