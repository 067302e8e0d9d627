// Goldens of the parser's findings: a text per case, and behind each line what is found in it, as
// `//! column kind: message (hint: …)`. What is found behind the last line stands behind the title. `== title` is a body, `==
// module: title` what follows a header, `== text: title` a whole text. A case that ptxas takes although the parser refuses it
// says
// `// ptxas accepts: why`.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/header.hpp"
#include "tests/support/ptxas.hpp"

namespace ptx::text {
namespace {

using testing::header;
constexpr std::string_view entry_header =
    ".visible .entry k(.param .u64 x)\n{\n"
    ".reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .pred %p<9>;\n";

struct Case {
  std::size_t title = 0;  // index of its `== title` line
  std::string text;
  std::size_t lines_before = 0;  // of the text, before the case's own
};

struct Golden {
  std::string path;
  std::vector<std::string> source;  // the lines without their expectations
  std::vector<Case> cases;

  explicit Golden(std::string file) : path(std::move(file)) {
    bool is_body = false;
    const auto end = [&] {
      if (is_body && !cases.empty()) cases.back().text += "}\n";
    };
    for (std::string line : testing::lines_of(testing::read_file(path))) {
      if (const std::size_t mark = line.find("//!"); mark != std::string::npos) line.resize(mark);
      while (line.ends_with(' ')) line.pop_back();
      if (line.starts_with("==")) {
        end();
        Case& c = cases.emplace_back(Case{.title = source.size()});
        const bool is_module = line.starts_with("== module:");
        is_body = !is_module && !line.starts_with("== text:");
        if (is_module || is_body) c.text = header;
        if (is_body) c.text += entry_header;
        c.lines_before = static_cast<std::size_t>(std::count(c.text.begin(), c.text.end(), '\n'));
      } else if (!cases.empty()) {
        cases.back().text += line + '\n';
      }
      source.push_back(std::move(line));
    }
    end();
  }
};

std::string shown(const Diagnostic& d) {
  std::string out = cat(d.where.column, ' ', d.severity == Severity::note ? "note " : "", name(d.kind), ": ", d.message);
  for (const std::string& note : notes_of(d))
    if (note.starts_with("hint: ")) out += cat(" (", note, ')');
  return out;
}

class ErrorGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(ErrorGolden, FindsWhatItSays) {
  const Golden golden(GetParam());
  ASSERT_FALSE(golden.cases.empty()) << GetParam() << " holds no case";
  std::vector<std::string> lines = golden.source;
  for (std::size_t i = 0; i < golden.cases.size(); ++i) {
    const Case& c = golden.cases[i];
    const std::size_t end = i + 1 < golden.cases.size() ? golden.cases[i + 1].title : lines.size();
    for (const Diagnostic& d : parse(c.text, GetParam()).findings) {
      ASSERT_NE(d.where.column, 0u);
      const std::size_t line = c.title + d.where.line - c.lines_before;
      lines[d.where.line <= c.lines_before || line >= end ? c.title : line] += cat("  //! ", shown(d));
    }
  }
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

TEST_P(ErrorGolden, IsRestoredAllTheSame) {
  for (const Case& c : Golden(GetParam()).cases) EXPECT_EQ(restore(parse(c.text)), c.text);
}

// What the parser calls no PTX, ptxas does not take either: each line is refused in a text of its own.
TEST_P(ErrorGolden, PtxasRefuses) {
  const auto ptxas = testing::Ptxas::find();
  if (!ptxas) GTEST_SKIP() << "no ptxas here: what it would say of " << GetParam() << " is not known";
  const Golden golden(GetParam());
  for (const Case& c : golden.cases) {
    if (!parse(c.text).broken()) continue;
    const bool excused = c.text.find("// ptxas accepts:") != std::string::npos;
    const auto verdict = ptxas->judge(c.text, "sm_90a");
    EXPECT_EQ(verdict.accepted, excused) << GetParam() << ':' << c.title + 1 << '\n' << verdict.said;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ErrorGolden, testing::each_of(testing::golden_files("text/errors")),
                         [](const auto& file) { return testing::stem(file.param); });

// Each form with each word of its opcode's other forms put in, at each place: a word that does not fit is not among those that
// do.
TEST(Modifiers, MessagesDoNotContradictThemselves) {
  std::map<std::string, std::set<std::string>, std::less<>> words_of;
  for (const isa::Form& f : isa::forms())
    for (const isa::FormSlot& slot : f.slots)
      for (const isa::Choice& choice : slot.choices) words_of[std::string(f.opcode)].insert(std::string(choice.word));
  std::string text = std::string(header) + std::string(entry_header);
  std::size_t turn = 0;
  for (const isa::Form& f : isa::forms()) {
    std::vector<std::string> own;
    for (const isa::FormSlot& slot : f.slots)
      if (!slot.optional) own.emplace_back(slot.choices.front().word);
    for (const std::string& word : words_of[std::string(f.opcode)])
      for (std::size_t at = 0; at <= own.size(); at += std::max<std::size_t>(1, own.size() / 2)) {
        if (++turn % 5 != 0) continue;  // each word meets many forms of its opcode
        std::string spelled(f.opcode);
        for (std::size_t k = 0; k <= own.size(); ++k) {
          if (k == at) spelled += '.' + word;
          if (k < own.size()) spelled += '.' + own[k];
        }
        text += spelled + " %r0;\n";
      }
  }
  std::size_t said = 0, beside = 0;
  for (std::size_t from = header.size() + entry_header.size(); from < text.size();) {
    // The parser stops after a hundred findings: a few lines at a time.
    std::size_t to = from;
    for (int n = 0; n < 60 && to < text.size(); ++n) to = text.find('\n', to) + 1;
    const Parsed parsed = parse(cat(header, entry_header, text.substr(from, to - from), "}\n"), "words.ptx");
    from = to;
    for (const Diagnostic& d : parsed.findings) {
      const std::size_t word = d.message.find("` cannot be followed by `"), fits = d.message.find("`; what fits is ");
      beside += d.message.find("` beside the other modifiers of `") != std::string::npos;
      if (word == std::string::npos || fits == std::string::npos) continue;
      ++said;
      const std::string given = d.message.substr(word + 24, fits + 1 - word - 24);
      EXPECT_EQ(d.message.find(given, fits + 1), std::string::npos) << d.message;
    }
  }
  EXPECT_GT(said, 400u);
  EXPECT_GT(beside, 0u);
}

}  // namespace
}  // namespace ptx::text
