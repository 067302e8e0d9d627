// ptx_oracle [--short] [--whole] <disagreements file>: does ptxas accept and refuse what our table accepts and refuses?
//
// Every row becomes instructions: its choices (all combinations, or all pairs where those are too many), its operands as
// immediates, sinks and registers of every type; each for a list of targets at the newest .version, and at its own first .version
// and the one before. Exit status: 0 agreement, 1 a disagreement that the file does not know or no longer sees, 2 a fault, 77 no
// ptxas.
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "tests/oracle/assembler.hpp"
#include "tests/oracle/cases.hpp"
#include "tests/oracle/disagreements.hpp"

namespace ptx::oracle {
namespace {

constexpr Version newest{9, 0};
constexpr Version versions[] = {{6, 0}, {6, 1}, {6, 2}, {6, 3}, {6, 4}, {6, 5}, {7, 0}, {7, 1}, {7, 2},
                                {7, 3}, {7, 4}, {7, 5}, {7, 6}, {7, 7}, {7, 8}, {8, 0}, {8, 1}, {8, 2},
                                {8, 3}, {8, 4}, {8, 5}, {8, 6}, {8, 7}, {8, 8}, {9, 0}};
constexpr Target targets[] = {Target::sm_75,  Target::sm_80,   Target::sm_86,   Target::sm_89,   Target::sm_90,   Target::sm_90a,
                              Target::sm_100, Target::sm_100f, Target::sm_100a, Target::sm_103a, Target::sm_110f, Target::sm_110a,
                              Target::sm_120, Target::sm_120f, Target::sm_120a, Target::sm_121a};
constexpr Target short_targets[] = {Target::sm_75, Target::sm_90a, Target::sm_100a};
// Where nearly every row can be asked about its operands.
constexpr Target operand_targets[] = {Target::sm_90a, Target::sm_100a};

constexpr std::size_t cases_in_a_file = 4000;

struct Options {
  bool brief = false, whole = false;
  std::string disagreements;
};

struct Tally {
  std::size_t asked = 0, accepted = 0, known = 0, unknown = 0;
};

// Where each case stands in a text.
struct Lines {
  std::map<std::uint32_t, std::size_t> case_at;
  std::vector<std::size_t> start, length;

  Lines(const ir::Listing& listing, std::size_t cases) : start(cases), length(cases) {
    for (std::size_t i = 0; i < cases; ++i) case_at[listing.line_of[0][i + 1]] = i;  // the body starts with a variable
    std::size_t at = 0;
    for (std::uint32_t line = 1; at < listing.text.size(); ++line) {
      const std::size_t end = listing.text.find('\n', at);
      if (const auto it = case_at.find(line); it != case_at.end()) {
        start[it->second] = at + 1;  // behind the tab
        length[it->second] = end - at - 1;
      }
      at = end + 1;
    }
  }
};

class Oracle {
 public:
  Oracle(const Assembler& assembler, const Disagreements& known, bool whole)
      : assembler_(assembler), known_(known), whole_(whole) {}

  Tally tally;
  std::optional<Diagnostic> fault;

  /// Asks about all cases for one target and version.
  void ask(const std::vector<Case>& cases, Target target, Version version) {
    for (std::size_t begin = 0; begin < cases.size() && !fault; begin += cases_in_a_file)
      ask_file(std::span(cases).subspan(begin, std::min(cases_in_a_file, cases.size() - begin)), target, version);
  }

 private:
  void ask_file(std::span<const Case> cases, Target target, Version version) {
    Kernel kernel(target, version);
    std::vector<std::string> ours(cases.size()), theirs(cases.size());  // why refused; empty when accepted
    for (std::size_t i = 0; i < cases.size(); ++i) kernel.add(cases[i], static_cast<std::uint32_t>(i + 1), &ours[i]);
    const ir::Module module = std::move(kernel).finish();
    for (const Diagnostic& d : check::check(module))
      if (d.severity == Severity::error && d.where.known())
        if (std::string& why = ours[d.where.line - 1]; why.empty()) why = d.message;

    const ir::Listing listing = text::list(module);
    const Lines lines(listing, cases.size());
    std::vector<std::size_t> all(cases.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (!verdicts(listing.text, lines, all, target, theirs)) return;

    for (std::size_t i = 0; i < cases.size(); ++i) {
      ++tally.asked;
      tally.accepted += theirs[i].empty();
      if (ours[i].empty() == theirs[i].empty()) continue;
      const std::string shown = listing.text.substr(lines.start[i], lines.length[i]);
      if (known_.known(ours[i].empty(), shown, isa::name(target))) {
        ++tally.known;
        continue;
      }
      ++tally.unknown;
      std::printf("we %s | %s | %s %s | %s\n", ours[i].empty() ? "accept" : "refuse", shown.c_str(),
                  std::string(isa::name(target)).c_str(), to_string(version).c_str(),
                  (ours[i].empty() ? theirs[i] : ours[i]).c_str());
    }
  }

  // What ptxas says of each case. Blanks what it complains of until it accepts the rest: some complaints come only when others
  // are gone. A complaint that names no case's line is brought home by halving.
  bool verdicts(std::string text, const Lines& lines, std::span<const std::size_t> wanted, Target target,
                std::vector<std::string>& theirs) {
    const auto blank = [&](std::size_t i) {
      const auto at = text.begin() + static_cast<std::ptrdiff_t>(lines.start[i]);
      std::fill(at, at + static_cast<std::ptrdiff_t>(lines.length[i]), ' ');
    };
    for (bool whole = false;;) {
      const auto complaints = assembler_.complaints(text, isa::name(target), whole);
      if (!complaints) return fault = complaints.error(), false;
      if (complaints->empty()) {
        if (whole || !whole_) return true;
        whole = true;
        continue;
      }
      bool told = false;
      for (const auto& [line, why] : *complaints)
        if (const auto it = lines.case_at.find(line); it != lines.case_at.end() && theirs[it->second].empty()) {
          theirs[it->second] = why;
          blank(it->second);
          told = true;
        }
      if (told) continue;
      const std::string& why = complaints->begin()->second;
      if (wanted.empty()) {
        fault = Diagnostic{.kind = Kind::tool_failed, .message = cat("ptxas complains of a text without cases: ", why)};
        return false;
      }
      if (wanted.size() == 1) return theirs[wanted.front()] = why, true;
      std::string first = text;
      const std::span before = wanted.first(wanted.size() / 2), after = wanted.subspan(wanted.size() / 2);
      for (const std::size_t i : before) blank(i);
      first.swap(text);
      for (const std::size_t i : after) blank(i);
      return verdicts(text, lines, before, target, theirs) && verdicts(std::move(first), lines, after, target, theirs);
    }
  }

  const Assembler& assembler_;
  const Disagreements& known_;
  bool whole_;
};

// The first target of the list that exists at this version and has this case; nothing when none does.
std::optional<Target> target_for(const Case& c, Version version) {
  const auto needed = isa::targets_needed(isa::form(c.form), c.choices);
  for (const Target target : targets)
    if (isa::info(target).since <= version &&
        std::all_of(needed.begin(), needed.end(), [&](const isa::Availability& a) { return isa::allows(target, a.on); }))
      return target;
  return std::nullopt;
}

// Each choice at the version that has it first, and at the one before.
void ask_versions(Oracle& oracle) {
  std::map<std::pair<Target, std::size_t>, std::vector<Case>> at;
  for (const isa::Form& form : isa::forms())
    for (const Case& c : choice_cases(form, Depth::each)) {
      const Version since = isa::version_needed(form, c.choices);
      const auto* first = std::lower_bound(std::begin(versions), std::end(versions), since);
      for (const auto* version : {first, first - 1})
        if (version >= std::begin(versions) && version < std::end(versions))
          if (const auto target = target_for(c, *version))
            at[{*target, static_cast<std::size_t>(version - versions)}].push_back(c);
    }
  for (const auto& [where, cases] : at) oracle.ask(cases, where.first, versions[where.second]);
}

int run(const Options& options) {
  const auto assembler = Assembler::find();
  if (!assembler) {
    std::printf("skipped: %s\n", assembler.error().message.c_str());
    return 77;
  }
  const auto known = Disagreements::read(options.disagreements);
  if (!known) return std::printf("%s\n", render(known.error()).c_str()), 2;
  Oracle oracle(*assembler, *known, options.whole);

  auto report = [&, before = Tally{}](const char* what) mutable {
    const Tally& t = oracle.tally;
    std::printf("  %-42s %8zu asked, %8zu accepted, %4zu known disagreements, %4zu new\n", what, t.asked - before.asked,
                t.accepted - before.accepted, t.known - before.known, t.unknown - before.unknown);
    before = t;
  };
  std::printf("ptxas %s, %zu rows\n", assembler->release().c_str(), isa::forms().size());
  std::vector<Case> choices, operands;
  for (const isa::Form& form : isa::forms()) {
    for (Case& c : choice_cases(form, options.brief ? Depth::each : Depth::pairs)) choices.push_back(c);
    for (Case& c : operand_cases(form)) operands.push_back(c);
  }
  for (const Target target : options.brief ? std::span<const Target>(short_targets) : std::span<const Target>(targets)) {
    oracle.ask(choices, target, newest);
    report(cat("modifiers, ", isa::name(target)).c_str());
  }
  if (!options.brief) {
    for (const Target target : operand_targets) {
      oracle.ask(operands, target, newest);
      report(cat("operands, ", isa::name(target)).c_str());
    }
    ask_versions(oracle);
    report("first versions");
  }
  if (oracle.fault) return std::printf("%s\n", render(*oracle.fault).c_str()), 2;

  bool stale = false;
  if (!options.brief)
    for (const Entry& entry : known->entries())
      if (entry.seen == 0) {
        std::printf("%s:%zu: no longer a disagreement, delete it: %s\n", options.disagreements.c_str(), entry.line,
                    entry.instruction.c_str());
        stale = true;
      }
  const Tally& t = oracle.tally;
  std::printf("%zu instructions asked, %zu agreed (%.3f%%), %zu known disagreements, %zu new\n", t.asked,
              t.asked - t.known - t.unknown,
              100.0 * static_cast<double>(t.asked - t.known - t.unknown) / static_cast<double>(std::max<std::size_t>(t.asked, 1)),
              t.known, t.unknown);
  return t.unknown != 0 || stale ? 1 : 0;
}

}  // namespace
}  // namespace ptx::oracle

int main(int argc, char** argv) {
  ptx::oracle::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--short")
      options.brief = true;
    else if (argument == "--whole")
      options.whole = true;
    else if (options.disagreements.empty() && !argument.starts_with('-'))
      options.disagreements = argument;
    else
      return std::fprintf(stderr, "usage: ptx_oracle [--short] [--whole] <disagreements file>\n"), 2;
  }
  if (options.disagreements.empty())
    return std::fprintf(stderr, "usage: ptx_oracle [--short] [--whole] <disagreements file>\n"), 2;
  return ptx::oracle::run(options);
}
