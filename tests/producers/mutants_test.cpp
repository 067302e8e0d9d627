// A gate: mutants of programs that others have made, each with one synchronisation less or a weaker one, and what has to be said
// of it, by the rule and the lines. A check that finds less than before fails here. The table is mutants.txt, lines of
//     PROGRAM|FILE|LINE|MUTATION|WHAT
// where WHAT is `checker KIND`, said before the mutant runs; `ends RULE`, which ends its run; `finds RULE LINE LINE`, both
// accesses of a finding; or `harmless: why`: then nothing may be said. `ptx_producers_mutants --table PROGRAM` writes such lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/producers/mutation.hpp"
#include "tests/support/golden.hpp"

namespace ptx::producers {
namespace {

struct Row {
  std::string program, file, mutation, what;
  std::size_t line = 0;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  const Lines lines(testing::read_file("tests/producers/mutants.txt"));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty() || lines[i].front() == '#') continue;
    std::vector<std::string> cells(1);
    for (const char c : lines[i])
      if (c == '|' && cells.size() < 5)
        cells.emplace_back();
      else
        cells.back() += c;
    if (cells.size() != 5) {
      ADD_FAILURE() << "mutants.txt, line " << i + 1 << ": `" << lines[i] << "` has no five cells";
      continue;
    }
    all.push_back({cells[0], cells[1], cells[3], cells[4], std::stoul(cells[2])});
  }
  return all;
}

// The kernel that a line stands in.
std::string entry_at(const Lines& lines, std::size_t line) {
  constexpr std::string_view word = ".entry ", of_name = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
  for (std::size_t i = std::min(line, lines.size()); i-- > 0;)
    if (const std::size_t at = lines[i].find(word); at != std::string::npos) {
      const std::size_t begin = at + word.size();
      return lines[i].substr(begin, lines[i].find_first_not_of(of_name, begin) - begin);
    }
  return {};
}

// The program as it is, once for each entry.
struct Original {
  Program program;
  Lines lines;
  std::multiset<std::string> said;
  struct Entry {
    std::string played;
    Run run;
  };
  std::map<std::string, Entry> entries;

  Entry& entry(const std::string& file, const std::string& name) {
    const auto [found, is_new] = entries.try_emplace(name);
    Entry& one = found->second;
    if (!is_new) return one;
    constexpr std::uint64_t enough = 1'000'000;  // alone it may wait for what others leave behind
    one.run = program.play(file, lines.text(), one.played = name, enough);
    if (!one.run.ended) one.run = program.play(file, lines.text(), one.played = {}, 0);
    return one;
  }
};

void check(const Row& row, Original& original) {
  SCOPED_TRACE(cat(row.program, ':', row.line, ": ", row.mutation));
  ASSERT_GE(original.lines.size(), row.line);
  const std::string& line = original.lines[row.line - 1];
  const auto mutation =
      std::find_if(mutations().begin(), mutations().end(), [&](const Mutation& m) { return m.name == row.mutation; });
  ASSERT_NE(mutation, mutations().end()) << "there is no such mutation";
  ASSERT_TRUE(std::regex_search(line, mutation->of)) << line;
  const std::string text = original.lines.text_with(row.line - 1, std::regex_replace(line, mutation->of, mutation->instead));
  if (row.what.starts_with("checker ")) {
    const std::string kind = row.what.substr(8);
    EXPECT_GT(said_by_checker(text).count(kind), original.said.count(kind)) << line;
    return;
  }
  Original::Entry& as_it_is = original.entry(row.file, entry_at(original.lines, row.line));
  ASSERT_TRUE(as_it_is.run.ended) << as_it_is.run.said;
  const Run run = original.program.play(row.file, text, as_it_is.played, 4 * as_it_is.run.instructions + 100'000);
  if (row.what.starts_with("ends ")) {
    EXPECT_FALSE(run.ended) << line;
    EXPECT_EQ(run.broken, row.what.substr(5)) << line << '\n' << run.said;
  } else if (row.what.starts_with("finds ")) {
    EXPECT_TRUE(run.ended) << run.said;
    EXPECT_TRUE(run.findings.contains(row.what.substr(6))) << line << ::testing::PrintToString(run.findings);
    EXPECT_FALSE(as_it_is.run.findings.contains(row.what.substr(6))) << "it is found without the mutation, too";
  } else {
    ASSERT_TRUE(row.what.starts_with("harmless: ")) << row.what;
    EXPECT_TRUE(run.ended) << run.said;
    EXPECT_EQ(run.findings, as_it_is.run.findings) << line;
    EXPECT_TRUE(run.contents == as_it_is.run.contents) << "the outputs differ: " << line;
  }
}

TEST(Mutants, AreFound) {
  std::map<std::string, std::vector<Row>> by_program;
  std::set<std::string> producers;
  std::size_t noticed = 0;
  for (const Row& row : rows()) {
    by_program[row.program + '|' + row.file].push_back(row);
    producers.insert(row.program.substr(0, row.program.find('.')));
    noticed += row.what.starts_with("harmless: ") ? 0 : 1;
  }
  EXPECT_GE(noticed, 40u);
  EXPECT_GE(producers.size(), 8u);
  for (const auto& [name, of_program] : by_program) {
    auto program = Program::read(std::filesystem::path(PTX_RECORDINGS) / (of_program.front().program + ".steps"));
    ASSERT_TRUE(program) << name;
    Lines lines(program->text_of(of_program.front().file));
    auto said = said_by_checker(lines.text());
    Original original{std::move(*program), std::move(lines), std::move(said), {}};
    for (const Row& row : of_program) check(row, original);
  }
}

}  // namespace
}  // namespace ptx::producers
