// ptx_producers_mutants [--every=N] [--table] PROGRAM…: one synchronisation less, or weaker, in the programs that others have
// made: does the checker or a checked run say so? Each line that orders something is left out or altered in turn, and the
// launches of its kernel are played. What nobody has noticed is listed: `same` where the outputs stay what they were, `DIFFERENT`
// where they do not. With --table every mutant is a line of the table of mutants_test.cpp.
#include <algorithm>
#include <iostream>
#include <optional>

#include "tests/producers/mutation.hpp"
#include "tests/support/golden.hpp"

namespace ptx::producers {
namespace {

struct Counts {
  std::size_t mutants = 0, refused = 0, stopped = 0, found = 0, same = 0, different = 0, never_run = 0;
};

// What of the second is not in the first, one of them.
template <class Set>
std::string new_in(const Set& before, const Set& after) {
  std::vector<std::string> left;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(left));
  return left.empty() ? std::string() : left.front();
}

void examine(const Program& program, const std::string& file, std::size_t every, bool table, Counts& counts) {
  const Lines lines(program.text_of(file));
  const std::multiset<std::string> warnings = said_by_checker(lines.text());
  static const std::regex entry_of(R"(\.entry\s+([\w$]+))");
  std::string entry, played;  // all launches where the entry's need what others leave behind
  std::optional<Run> right;
  std::size_t number = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::smatch match; std::regex_search(lines[i], match, entry_of)) entry = match[1], right.reset();
    if (!program.launches(entry)) continue;
    for (const Mutation& mutation : mutations()) {
      if (!std::regex_search(lines[i], mutation.of) || number++ % every != 0) continue;
      if (!right) {
        constexpr std::uint64_t enough = 100'000'000;
        right = program.play(file, lines.text(), played = entry, enough);
        if (!right->ended) right = program.play(file, lines.text(), played = {}, enough);
      }
      if (!right->ended) {
        std::cout << program.name() << ": " << right->said << std::endl;
        return;
      }
      const std::string text = lines.text_with(i, std::regex_replace(lines[i], mutation.of, mutation.instead));
      ++counts.mutants;
      const auto says = [&](const std::string& what, bool is_noticed) {
        if (table)
          std::cout << program.name() << '|' << file << '|' << i + 1 << '|' << mutation.name << '|' << what << std::endl;
        else if (!is_noticed)
          std::cout << program.name() << ':' << i + 1 << ": " << what << ": " << mutation.name << ": " << lines[i] << std::endl;
      };
      if (const std::string said = new_in(warnings, said_by_checker(text)); !said.empty()) {
        ++counts.refused;
        says("checker " + said, true);
        continue;
      }
      const Run run = program.play(file, text, played, 4 * right->instructions + 100'000);
      if (!run.ended) {
        ++counts.stopped;
        says("ends " + run.broken, true);
      } else if (const std::string found = new_in(right->findings, run.findings); !found.empty()) {
        ++counts.found;
        says("finds " + found, true);
      } else if (const Run trap = program.play(file, lines.text_with(i, "trap;"), played, 0); trap.ended) {
        ++counts.never_run;
        says("never run", true);
      } else if (run.contents == right->contents) {
        ++counts.same;
        says("same", false);
      } else {
        ++counts.different;
        says("DIFFERENT", false);
      }
    }
  }
}

}  // namespace
}  // namespace ptx::producers

int main(int argc, char** argv) {
  using namespace ptx::producers;
  std::size_t every = 1;
  bool table = false;
  for (int i = 1; i < argc; ++i) {
    const std::string program = argv[i];
    if (program.starts_with("--every=")) {
      every = static_cast<std::size_t>(std::stoul(program.substr(8)));
      continue;
    }
    if (program == "--table") {
      table = true;
      continue;
    }
    Counts counts;
    for (const std::string& file : ptx::testing::files_in(PTX_RECORDINGS, ".steps"))
      if (std::filesystem::path(file).filename().string().starts_with(program + "."))
        if (const auto read = Program::read(file))
          for (const std::string& text : read->files()) examine(*read, text, every, table, counts);
    if (table) continue;
    std::cout << program << ": " << counts.mutants << " mutants; " << counts.refused << " the checker names, " << counts.stopped
              << " stop with a fault, " << counts.found << " a checked run finds; " << counts.never_run
              << " never run; unnoticed " << counts.same << " with the same outputs, " << counts.different << " with others"
              << std::endl;
  }
}
