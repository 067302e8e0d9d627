// ptx_oracle [--short] [--whole] [--only <opcode>] [--random <count> [--seed <n>]] [--seed <n> --show <file>]
// [--statements <file>] <disagreements file>: does ptxas accept and refuse what our table accepts and refuses?
//
// Every row becomes instructions: its choices (all combinations, or all pairs where those are too many), its operands as
// immediates, sinks and registers of every type; each for a list of targets at the newest .version, and at its own first .version
// and the one before. With --random, random walks through the table and mutations of them are asked about instead, as text. Exit
// status: 0 agreement, 1 a disagreement that the file does not know or no longer sees, 2 a fault, 77 no ptxas.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "ptx/check/check.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"
#include "tests/oracle/assembler.hpp"
#include "tests/oracle/cases.hpp"
#include "tests/oracle/disagreements.hpp"
#include "tests/oracle/verdicts.hpp"
#include "tests/oracle/walks.hpp"

namespace ptx::oracle {
namespace {

// The newest version that the assembler takes: 9.0 for release 13.0, 9.1 for 13.1 and so on.
Version newest{9, 0};
constexpr Version versions[] = {{6, 0}, {6, 1}, {6, 2}, {6, 3}, {6, 4}, {6, 5}, {7, 0}, {7, 1}, {7, 2}, {7, 3},
                                {7, 4}, {7, 5}, {7, 6}, {7, 7}, {7, 8}, {8, 0}, {8, 1}, {8, 2}, {8, 3}, {8, 4},
                                {8, 5}, {8, 6}, {8, 7}, {8, 8}, {9, 0}, {9, 1}, {9, 2}, {9, 3}, {9, 4}, {9, 5}};
constexpr Target targets[] = {Target::sm_75,   Target::sm_80,   Target::sm_86,  Target::sm_87,   Target::sm_88,   Target::sm_89,
                              Target::sm_90,   Target::sm_90a,  Target::sm_100, Target::sm_100f, Target::sm_100a, Target::sm_103,
                              Target::sm_103f, Target::sm_103a, Target::sm_110, Target::sm_110f, Target::sm_110a, Target::sm_120,
                              Target::sm_120f, Target::sm_120a, Target::sm_121, Target::sm_121f, Target::sm_121a};
constexpr Target short_targets[] = {Target::sm_75, Target::sm_90a, Target::sm_100a};
// Where nearly every row can be asked about its operands.
constexpr Target operand_targets[] = {Target::sm_90a, Target::sm_100a};

constexpr std::size_t cases_in_a_file = 4000;
constexpr std::size_t random_statements_in_a_file = 1000;

struct Options {
  bool brief = false, whole = false, orders = false;
  std::size_t random = 0;  ///< statements; 0: the sweep
  std::uint64_t seed = 1;
  std::optional<std::size_t> show;  ///< print this file of the random ones and ask nobody
  std::string statements;           ///< a file of lines `target<tab>statement` to ask about
  std::string only;                 ///< only rows whose opcode and first modifiers are these, "cp.async"; "" all
  std::string disagreements;
};

struct Tally {
  std::size_t asked = 0, accepted = 0, known = 0, unknown = 0;
};

// The n-th file of random statements.
Target random_target(std::size_t n) { return targets[n % std::size(targets)]; }
Asked random_file(std::uint64_t seed, std::size_t n, std::size_t statements) {
  return random_text(seed * 1000003 + n, statements, random_target(n), newest);
}

class Oracle {
 public:
  Oracle(const Assembler& assembler, const Disagreements& known, bool whole)
      : assembler_(assembler), known_(known), whole_(whole) {}

  Tally tally;
  std::optional<Diagnostic> fault;

  /// Asks about all cases for one target and version.
  void ask(std::vector<Case> cases, Target target, Version version) {
    // The declaration of a .b128 register spoils the file of an older version for all that are in it.
    if (version < Version{8, 3})
      if (const auto wide = std::stable_partition(cases.begin(), cases.end(), [](const Case& c) { return !uses_b128(c); });
          wide != cases.begin() && wide != cases.end()) {
        ask({wide, cases.end()}, target, version);
        cases.erase(wide, cases.end());
      }
    for (std::size_t begin = 0; begin < cases.size() && !fault; begin += cases_in_a_file)
      ask_file(std::span(cases).subspan(begin, std::min(cases_in_a_file, cases.size() - begin)), target, version);
  }

  /// Asks, as text, about the cases' instructions with their modifiers in other orders.
  void ask_orders(const std::vector<Case>& cases, Target target, Version version) {
    for (std::size_t begin = 0; begin < cases.size() && !fault; begin += cases_in_a_file / 8) {
      const std::size_t count = std::min(cases_in_a_file / 8, cases.size() - begin);
      const Asked asked = moved_text(std::span(cases).subspan(begin, count), target, version);
      compare(asked, our_verdicts(asked), target, version, verdicts(assembler_, asked, target, whole_));
    }
  }

  /// Asks about statements that someone wrote.
  void ask_given(std::span<const std::string> statements, Target target) {
    const Asked asked = given_text(statements, target, newest);
    compare(asked, our_verdicts(asked), target, newest, verdicts(assembler_, asked, target, whole_));
  }

  /// Asks about `count` random statements, as text: the parser has its part in the verdict. Files are judged side by side.
  void ask_random(std::uint64_t seed, std::size_t count) {
    struct File {
      Target target{};
      std::future<std::tuple<Asked, std::vector<std::string>, Expected<std::vector<std::string>>>> answer;
    };
    std::deque<File> under_way;
    const std::size_t most = 2 * std::max(1u, std::thread::hardware_concurrency());
    const auto finish_one = [&] {
      File file = std::move(under_way.front());
      under_way.pop_front();
      const auto [asked, ours, theirs] = file.answer.get();
      if (!fault) compare(asked, ours, file.target, newest, theirs);
    };
    for (std::size_t n = 0; count != 0 && !fault; ++n) {
      const std::size_t now = std::min(count, random_statements_in_a_file);
      count -= now;
      if (under_way.size() == most) finish_one();
      const Target target = random_target(n);
      under_way.push_back({target, std::async(std::launch::async, [this, seed, n, now, target] {
                             Asked asked = random_file(seed, n, now);
                             std::vector<std::string> ours = our_verdicts(asked);
                             auto theirs = verdicts(assembler_, asked, target, whole_);
                             return std::tuple(std::move(asked), std::move(ours), std::move(theirs));
                           })});
    }
    while (!under_way.empty()) finish_one();
  }

 private:
  void ask_file(std::span<const Case> cases, Target target, Version version) {
    Kernel kernel(target, version);
    std::vector<std::string> ours(cases.size());  // why refused; empty when accepted
    for (std::size_t i = 0; i < cases.size(); ++i) kernel.add(cases[i], static_cast<std::uint32_t>(i + 1), &ours[i]);
    const ir::Module module = std::move(kernel).finish();
    for (const Diagnostic& d : check::check(module))
      if (d.severity == Severity::error && d.where.known())
        if (std::string& why = ours[d.where.line - 1]; why.empty()) why = d.message;

    ir::Listing listing = text::list(module);
    const std::vector<std::uint32_t>& line_of = listing.line_of[0];
    const Asked asked(std::move(listing.text),
                      {line_of.begin() + 1, line_of.begin() + 1 + static_cast<std::ptrdiff_t>(cases.size())});
    compare(asked, ours, target, version, verdicts(assembler_, asked, target, whole_));
  }

  // What our rooms say of each statement of a text: the parser's findings and the checker's.
  static std::vector<std::string> our_verdicts(const Asked& asked) {
    std::vector<std::string> ours(asked.start.size());
    const text::Parsed parsed = text::parse(asked.text, "oracle.ptx", asked.start.size() * 2 + 100);
    for (const Diagnostics& findings : {parsed.findings, check::check(parsed.module)})
      for (const Diagnostic& d : findings)
        if (const auto it = asked.at_line.find(d.where.line); d.severity == Severity::error && it != asked.at_line.end())
          if (std::string& why = ours[it->second]; why.empty()) why = d.message;
    return ours;
  }

  void compare(const Asked& asked, const std::vector<std::string>& ours, Target target, Version version,
               const Expected<std::vector<std::string>>& asked_verdicts) {
    if (!asked_verdicts) {
      fault = asked_verdicts.error();
      return;
    }
    const std::vector<std::string>& theirs = *asked_verdicts;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ++tally.asked;
      std::string our = ours[i], why = theirs[i];
      if (our.empty() != why.empty()) {
        // What stands around a statement may hide its fault, or be counted to it: who disagrees is heard alone, and down to the
        // machine code, which some of what the parser of ptxas lets pass never becomes.
        const Asked alone = asked.alone(i);
        our = our_verdicts(alone)[i];
        auto verdict = verdicts(assembler_, alone, target, true);
        if (!verdict) {
          fault = verdict.error();
          return;
        }
        why = (*verdict)[i];
      }
      tally.accepted += why.empty();
      if (our.empty() == why.empty()) continue;
      const std::string shown = asked.statement(i);
      if (known_.known(our.empty(), shown, isa::name(target))) {
        ++tally.known;
        continue;
      }
      ++tally.unknown;
      std::printf("we %s | %s | %s %s | %s\n", our.empty() ? "accept" : "refuse", shown.c_str(),
                  std::string(isa::name(target)).c_str(), to_string(version).c_str(), (our.empty() ? why : our).c_str());
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

bool asked_about(const isa::Form& form, const Options& options) {
  const std::string_view name = form.row->form.substr(0, form.row->form.find_first_of(" {;"));
  return name.starts_with(options.only);
}

// Each choice at the version that has it first, and at the one before.
void ask_versions(Oracle& oracle, const Options& options) {
  std::map<std::pair<Target, std::size_t>, std::vector<Case>> at;
  for (const isa::Form& form : isa::forms()) {
    if (!asked_about(form, options)) continue;
    for (const Case& c : choice_cases(form, Depth::each)) {
      const Version since = isa::version_needed(form, c.choices);
      const auto* first = std::lower_bound(std::begin(versions), std::end(versions), since);
      for (const auto* version : {first, first - 1})
        if (version >= std::begin(versions) && version < std::end(versions) && *version <= newest)
          if (const auto target = target_for(c, *version))
            at[{*target, static_cast<std::size_t>(version - versions)}].push_back(c);
    }
  }
  for (const auto& [where, cases] : at) oracle.ask(cases, where.first, versions[where.second]);
}

// Every form in every order of two modifiers, on the newest target that has it.
void ask_orders(Oracle& oracle) {
  std::map<Target, std::vector<Case>> at;
  for (const isa::Form& form : isa::forms())
    for (const Case& c : choice_cases(form, Depth::each))
      if (const auto target = target_for(c, newest); target && form.row->since <= newest) at[*target].push_back(c);
  for (const auto& [target, cases] : at) oracle.ask_orders(cases, target, newest);
}

// The closing lines and the exit status. `whole_list`: an entry of the file that nothing met is a failure.
int finish(const Oracle& oracle, const Disagreements& known, const Options& options, bool whole_list) {
  if (oracle.fault) return std::printf("%s\n", render(*oracle.fault).c_str()), 2;

  bool stale = false;
  if (whole_list)
    for (const Entry& entry : known.entries())
      if (entry.seen == 0 && !entry.random) {
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

int run(const Options& options) {
  const auto assembler = Assembler::find();
  if (!assembler) {
    std::printf("skipped: %s\n", assembler.error().message.c_str());
    return 77;
  }
  const auto known = Disagreements::read(options.disagreements);
  if (!known) return std::printf("%s\n", render(known.error()).c_str()), 2;
  if (options.show)
    return std::printf("%s", random_file(options.seed, *options.show, random_statements_in_a_file).text.c_str()), 0;
  Oracle oracle(*assembler, *known, options.whole);

  auto report = [&, before = Tally{}](const char* what) mutable {
    const Tally& t = oracle.tally;
    std::printf("  %-42s %8zu asked, %8zu accepted, %4zu known disagreements, %4zu new\n", what, t.asked - before.asked,
                t.accepted - before.accepted, t.known - before.known, t.unknown - before.unknown);
    before = t;
  };
  const std::string& release = assembler->release();
  if (release.starts_with("13.")) newest.minor = static_cast<std::uint8_t>(std::strtoul(release.c_str() + 3, nullptr, 10));
  std::printf("ptxas %s, %zu rows\n", assembler->release().c_str(), isa::forms().size());
  if (options.orders) {
    ask_orders(oracle);
    report("modifiers in other orders");
    return finish(oracle, *known, options, false);
  }
  if (!options.statements.empty()) {
    std::map<Target, std::vector<std::string>> given;
    std::ifstream file(options.statements);
    for (std::string line; std::getline(file, line);)
      if (const std::size_t tab = line.find('\t'); tab != std::string::npos)
        if (const auto target = isa::target_from_name(std::string_view(line).substr(0, tab)))
          given[*target].push_back(line.substr(tab + 1));
    for (const auto& [target, statements] : given) oracle.ask_given(statements, target);
    report("statements");
    return finish(oracle, *known, options, false);
  }
  if (options.random != 0) {
    oracle.ask_random(options.seed, options.random);
    report(cat("random instructions, seed ", options.seed).c_str());
    return finish(oracle, *known, options, false);
  }
  std::vector<Case> choices, operands;
  for (const isa::Form& form : isa::forms()) {
    if (!asked_about(form, options)) continue;
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
    ask_versions(oracle, options);
    report("first versions");
  }
  return finish(oracle, *known, options, !options.brief && options.only.empty());
}

}  // namespace
}  // namespace ptx::oracle

static int usage() {
  std::fprintf(stderr,
               "usage: ptx_oracle [--short] [--whole] [--only <opcode>] [--random <count> [--seed <n>]] [--seed <n> --show "
               "<file>] [--statements <file>] <disagreements file>\n");
  return 2;
}

int main(int argc, char** argv) {
  ptx::oracle::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--short")
      options.brief = true;
    else if (argument == "--whole")
      options.whole = true;
    else if (argument == "--only" && i + 1 < argc)
      options.only = argv[++i];
    else if (argument == "--statements" && i + 1 < argc)
      options.statements = argv[++i];
    else if (argument == "--orders")
      options.orders = true;
    else if (argument == "--random" && i + 1 < argc)
      options.random = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--seed" && i + 1 < argc)
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--show" && i + 1 < argc)
      options.show = std::strtoull(argv[++i], nullptr, 10);
    else if (options.disagreements.empty() && !argument.starts_with('-'))
      options.disagreements = argument;
    else
      return usage();
  }
  if (options.disagreements.empty()) return usage();
  return ptx::oracle::run(options);
}
