// ptx_second_hand [--count <n>] [--seed <n>] [--only <opcode>,<opcode>…] [--target <sm>] [--list <file>] [--show <file>]
// [--jobs <n>] [--every <n>] [--statements <file> [--independent] [--function]] [--corpus <folder>]… <disagreements file>: a
// second opinion about ours and ptxas's verdicts.
//
// It shares nothing with the table's own sweep: statements come from real PTX, and from a plain spelling of each form; what a
// person would get wrong is done to them. Whoever disagrees is judged alone in the whole module, with machine code made at
// -arch=sm_XX. It says how many agree on each target, and groups what does not by cause. With `--files <n>` it asks about that
// many whole files, each with one token wrong. With `--as-they-stand` nothing is done to any statement, ptxas is asked about what
// we refuse, and what it takes of that is documented PTX refused. Exit status: 0 no disagreement that the file does not know (as
// they stand: none refused), 1 some, 2 a fault, 77 no ptxas.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "ptx/check/check.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"
#include "tests/oracle/assembler.hpp"
#include "tests/oracle/disagreements.hpp"
#include "tests/oracle/file_mutants.hpp"
#include "tests/oracle/mutations.hpp"
#include "tests/oracle/real_statements.hpp"
#include "tests/oracle/second_report.hpp"
#include "tests/oracle/spellings.hpp"
#include "tests/oracle/surroundings.hpp"

namespace ptx::oracle {
namespace {

constexpr Target targets[] = {Target::sm_75, Target::sm_80, Target::sm_90a, Target::sm_100a, Target::sm_120a};
constexpr Version version{9, 0};
constexpr std::size_t statements_in_a_file = 300, declarations_in_a_file = 24;

struct Options {
  std::size_t count = 200000;
  std::uint64_t seed = 1;
  std::vector<std::string> only, folders;
  std::string target, list, statements, disagreements;
  std::optional<std::size_t> show;
  std::size_t files = 0;  ///< so many mutants of whole files instead of statements
  std::size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  std::size_t every = 5000;                       ///< a table of what was found so far after so many instructions
  bool as_they_stand = false;                     ///< statements without mutations, each once on each target
  bool independent = false, in_function = false;  ///< the surroundings of --statements
};

/// What the second hand begins with: statements by opcode.
struct Bases {
  std::vector<std::string> real;
  std::map<std::string, std::vector<std::string>> by_opcode;
  std::vector<const isa::Form*> forms;
};

Bases bases(const Options& options) {
  const auto wanted = [&](std::string_view opcode) {
    return options.only.empty() || std::find(options.only.begin(), options.only.end(), opcode) != options.only.end();
  };
  Bases all;
  for (std::string& s : statements_below(options.folders)) {
    if (!wanted(opcode_of(s))) continue;
    all.by_opcode[opcode_of(s)].push_back(s);
    all.real.push_back(std::move(s));
  }
  for (const isa::Form& form : isa::forms())
    if (wanted(form.opcode)) all.forms.push_back(&form);
  return all;
}

struct File {
  Target target{};
  Asked asked;
  std::vector<std::string> how;  ///< by statement
};

class Writer {
 public:
  Writer(const Options& options, const Bases& bases) : options_(options), bases_(bases), mutator_(bases.real) {}

  [[nodiscard]] File file(std::size_t n, std::size_t count) const {
    std::mt19937_64 random(options_.seed * 1000003 + n);
    Target target = targets[n % std::size(targets)];
    if (!options_.target.empty()) target = isa::target_from_name(options_.target).value_or(target);
    std::vector<std::string> declarations, instructions, how;
    if (options_.only.empty() || options_.only[0] == "declarations")
      for (std::size_t i = 0; i < (options_.only.empty() ? std::min(count / 8, declarations_in_a_file) : count); ++i)
        add(mutator_.declaration(i, random), declarations, how);
    while (declarations.size() + instructions.size() < count) {
      const std::string base = statement(target, random);
      const std::size_t kind = random() % 8;
      add(kind < 2 ? Mutant{base, {}} : mutator_.mutate(base, kind < 7 ? 1 : 2, random), instructions, how);
    }
    const Surroundings where{
        .target = isa::name(target), .version = "9.0", .independent = n % 7 == 3, .in_function = n % 5 == n / 5 % 5};
    return {target, surrounded(where, declarations, instructions), std::move(how)};
  }

  /// Every real statement, and each form plainly spelled, on each target that has features of its own.
  [[nodiscard]] std::vector<File> as_they_stand() const {
    std::mt19937_64 random(options_.seed);
    std::vector<File> files;
    for (const Target target : {Target::sm_90a, Target::sm_100a, Target::sm_120a}) {
      if (!options_.target.empty() && isa::name(target) != options_.target) continue;
      std::vector<std::string> all = bases_.real;
      for (const isa::Form* form : bases_.forms)
        for (int i = 0; i < 2; ++i)
          if (auto s = spelling(*form, target, version, random)) all.push_back(*std::move(s));
      for (std::size_t at = 0; at < all.size(); at += statements_in_a_file) {
        const std::size_t n = std::min(statements_in_a_file, all.size() - at);
        const std::span<const std::string> some = std::span(all).subspan(at, n);
        files.push_back(
            {target, surrounded({.target = isa::name(target), .version = "9.0"}, {}, some), std::vector<std::string>(n)});
      }
    }
    return files;
  }

 private:
  static void add(Mutant mutant, std::vector<std::string>& statements, std::vector<std::string>& how) {
    std::replace(mutant.statement.begin(), mutant.statement.end(), '\n', ' ');
    statements.push_back(std::move(mutant.statement));
    how.push_back(std::move(mutant.how));
  }

  std::string statement(Target target, std::mt19937_64& random) const {
    const std::size_t kind = random() % 4;
    if (kind == 0 && !bases_.real.empty()) return bases_.real[random() % bases_.real.size()];
    if (kind == 1 && !bases_.real.empty()) {
      auto it = bases_.by_opcode.begin();
      std::advance(it, random() % bases_.by_opcode.size());
      return it->second[random() % it->second.size()];
    }
    for (;;)
      if (auto s = spelling(*bases_.forms[random() % bases_.forms.size()], random() % 8 == 0 ? Target::sm_100a : target, version,
                            random))
        return *s;
  }

  const Options& options_;
  const Bases& bases_;
  Mutator mutator_;
};

std::vector<std::string> our_verdicts(const Asked& asked, bool alone, std::size_t statement = 0) {
  std::vector<std::string> ours(asked.start.size());
  const text::Parsed parsed = text::parse(asked.text, "asked.ptx", asked.start.size() * 4 + 100);
  for (const Diagnostics& findings : {parsed.findings, check::check(parsed.module)})
    for (const Diagnostic& d : findings) {
      if (d.severity != Severity::error) continue;
      const auto it = asked.at_line.find(d.where.line);
      if (!alone && it == asked.at_line.end()) continue;
      std::string& why = ours[alone ? statement : it->second];
      if (why.empty()) why = d.message;
    }
  return ours;
}

// How ptxas ends when somebody uses the registers of a statement that it takes, "" when it makes code: what it takes only while
// nobody does is no program.
Expected<std::string> crash_in_use(const Assembler& assembler, const Asked& asked, std::size_t statement, Target target) {
  Asked in_use = asked.alone(statement);
  in_use.replace(statement, used(asked.statement(statement)));
  const auto complaints = assembler.complaints(in_use.text, isa::name(target), true, true);
  if (!complaints) return Unexpected{complaints.error()};
  const std::string why = complaints->empty() ? "" : complaints->begin()->second;
  return is_crash(why) ? why : "";
}

/// Asks about every statement, or about those alone that we refuse.
enum class About { all, refused };

Result judge(const Assembler& assembler, const File& file, About about) {
  Result result;
  const auto theirs = about == About::all ? verdicts(assembler, file.asked, file.target, true)
                                          : Expected(std::vector<std::string>(file.how.size()));
  if (!theirs) {
    result.fault = theirs.error();
    return result;
  }
  const std::vector<std::string> ours = our_verdicts(file.asked, false);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ++result.asked;
    std::string our = ours[i], why = (*theirs)[i];
    if (our.empty() != why.empty()) {
      const Asked alone = file.asked.alone(i);
      our = our_verdicts(alone, true, i)[i];
      const auto verdict = verdicts(assembler, alone, file.target, true);
      if (!verdict) {
        result.fault = verdict.error();
        return result;
      }
      why = (*verdict)[i];
    }
    result.accepted += why.empty();
    if (our.empty() == why.empty()) continue;
    if (why.empty() && !file.how[i].empty()) {
      const auto crash = crash_in_use(assembler, file.asked, i, file.target);
      if (!crash) {
        result.fault = crash.error();
        return result;
      }
      why = *crash;
    }
    if (is_crash(why)) {
      ++result.crashes;
      continue;
    }
    result.found.push_back({our.empty(), file.asked.statement(i), file.how[i], our.empty() ? why : our, file.target});
  }
  return result;
}

/// One piece of the work, which says what it found on which target.
using Job = std::function<std::pair<Target, Result>()>;

// Does the jobs that `next` hands out, and says now and then how far it is: what ran counts, whatever ends the run. Returns what
// stopped it.
std::optional<Diagnostic> do_all(const Options& options, Report& report, const std::function<Job()>& next) {
  std::deque<std::future<std::pair<Target, Result>>> under_way;
  std::optional<Diagnostic> fault;
  std::size_t told = 0;
  const auto finish_one = [&] {
    auto [target, result] = under_way.front().get();
    under_way.pop_front();
    if (result.fault) fault = result.fault;
    report.add(target, std::move(result));
    if (options.every == 0 || report.asked() / options.every == told) return;
    told = report.asked() / options.every;
    report.print_figures();
    std::fflush(stdout);
    if (!options.list.empty()) report.list(options.list);
  };
  for (Job job = next(); job && !fault; job = next()) {
    if (under_way.size() == options.jobs) finish_one();
    under_way.push_back(std::async(std::launch::async, std::move(job)));
  }
  while (!under_way.empty()) finish_one();
  return fault;
}

int run(const Options& options) {
  const auto assembler = Assembler::find();
  if (!assembler) return std::printf("skipped: %s\n", assembler.error().message.c_str()), 77;
  const auto known = Disagreements::read(options.disagreements);
  if (!known) return std::printf("%s\n", render(known.error()).c_str()), 2;
  const Bases all = bases(options);
  const Writer writer(options, all);
  if (options.show) return std::printf("%s", writer.file(*options.show, statements_in_a_file).asked.text.c_str()), 0;
  std::printf("ptxas %s, %zu real statements, %zu forms, seed %llu\n", assembler->release().c_str(), all.real.size(),
              all.forms.size(), static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);

  const About about = options.as_they_stand ? About::refused : About::all;
  const auto job_of = [&](File file) -> Job {
    return [&assembler, about, file = std::move(file)] { return std::pair(file.target, judge(*assembler, file, about)); };
  };
  Report report(*known);
  std::function<Job()> next;
  std::size_t n = 0, left = options.files ? options.files : options.count;
  std::vector<File> documented;
  std::optional<FileMutator> files;
  if (options.as_they_stand) {
    documented = writer.as_they_stand();
    next = [&]() -> Job { return n == documented.size() ? Job() : job_of(std::move(documented[n++])); };
  } else if (options.files != 0) {
    files.emplace(options.folders);
    next = [&]() -> Job {
      if (left-- == 0) return {};
      return [&assembler, &files, seed = options.seed * 1000003 + n++] { return files->judge(*assembler, seed); };
    };
  } else {
    next = [&]() -> Job {
      const std::size_t now = std::min(left, statements_in_a_file);
      left -= now;
      return now == 0 ? Job() : job_of(writer.file(n++, now));
    };
  }
  if (const auto fault = do_all(options, report, next)) return std::printf("%s\n", render(*fault).c_str()), 2;
  report.print();
  if (!options.list.empty()) report.list(options.list);
  if (options.as_they_stand) return report.refused_as_they_stood() == 0 ? 0 : 1;
  return report.clean() ? 0 : 1;
}

// Prints both verdicts about each line of a file, alone in the surroundings.
int ask_given(const Options& options) {
  const auto assembler = Assembler::find();
  if (!assembler) return std::printf("skipped: %s\n", assembler.error().message.c_str()), 77;
  std::ifstream file(options.statements);
  std::vector<std::string> statements;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) statements.push_back(line);
  for (const Target target : targets) {
    if (!options.target.empty() && isa::name(target) != options.target) continue;
    const Surroundings where{
        .target = isa::name(target), .version = "9.0", .independent = options.independent, .in_function = options.in_function};
    const Asked asked = surrounded(where, {}, statements);
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const Asked alone = asked.alone(i);
      const std::string our = our_verdicts(alone, true, i)[i];
      const auto verdict = verdicts(*assembler, alone, target, true);
      if (!verdict) return std::printf("%s\n", render(verdict.error()).c_str()), 2;
      std::string their = (*verdict)[i];
      if (their.empty() && !our.empty()) {
        const auto crash = crash_in_use(*assembler, asked, i, target);
        if (!crash) return std::printf("%s\n", render(crash.error()).c_str()), 2;
        their = *crash;
      }
      const char* sign = our.empty() == their.empty() ? "  " : our.empty() ? "FP" : "FE";
      std::printf("%s %s %s\n      ours:  %s\n      ptxas: %s\n", sign, std::string(isa::name(target)).c_str(),
                  statements[i].c_str(), our.empty() ? "-" : our.c_str(), their.empty() ? "-" : their.c_str());
    }
  }
  return 0;
}

std::vector<std::string> at_commas(std::string_view text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    all.emplace_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return all;
}

}  // namespace
}  // namespace ptx::oracle

int main(int argc, char** argv) {
  ptx::oracle::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--count" && more)
      options.count = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--seed" && more)
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--only" && more)
      options.only = ptx::oracle::at_commas(argv[++i]);
    else if (argument == "--target" && more)
      options.target = argv[++i];
    else if (argument == "--list" && more)
      options.list = argv[++i];
    else if (argument == "--show" && more)
      options.show = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--statements" && more)
      options.statements = argv[++i];
    else if (argument == "--files" && more)
      options.files = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--jobs" && more)
      options.jobs = std::max<std::size_t>(1, std::strtoull(argv[++i], nullptr, 10));
    else if (argument == "--every" && more)
      options.every = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--as-they-stand")
      options.as_they_stand = true;
    else if (argument == "--independent")
      options.independent = true;
    else if (argument == "--function")
      options.in_function = true;
    else if (argument == "--corpus" && more)
      options.folders.emplace_back(argv[++i]);
    else if (options.disagreements.empty() && !argument.starts_with('-'))
      options.disagreements = argument;
    else
      options = {}, i = argc;
  }
  if (!options.statements.empty()) return ptx::oracle::ask_given(options);
  if (options.disagreements.empty()) {
    std::fprintf(
        stderr,
        "usage: ptx_second_hand [--count <n>] [--seed <n>] [--only <opcode>,…] [--target <sm>] [--list <file>] [--show <file>] "
        "[--jobs <n>] [--every <n>] [--as-they-stand] [--files <n>] [--corpus <folder>]… <disagreements file>\n");
    return 2;
  }
  return ptx::oracle::run(options);
}
