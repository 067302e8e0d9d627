#include "tests/oracle/second_report.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace ptx::oracle {
namespace {

// A message without its names and numbers, which is what many have in common.
std::string cause_of(std::string_view message) {
  std::string out;
  bool quoted = false;
  char quote = 0;
  for (const char c : message) {
    if ((c == '`' || c == '\'') && (!quoted || c == quote)) {
      quoted = !quoted, quote = c;
      if (quoted) out += "…";
      continue;
    }
    if (quoted) continue;
    if (c >= '0' && c <= '9') {
      if (out.empty() || out.back() != '#') out += '#';
    } else {
      out += c;
    }
  }
  return out.substr(0, 150);
}

}  // namespace

std::string opcode_of(std::string_view statement) {
  if (statement.starts_with('@')) statement.remove_prefix(std::min(statement.find(' ') + 1, statement.size()));
  return std::string(statement.substr(0, statement.find_first_of(". ;")));
}

bool is_crash(std::string_view why) {
  return why.find("killed by signal") != std::string_view::npos || why.find("Internal") != std::string_view::npos;
}

void Report::add(Target target, Result result) {
  Tally& t = tallies_[target];
  t.asked += result.asked, t.accepted += result.accepted, t.crashes += result.crashes;
  for (Disagreement& d : result.found) {
    (d.we_accept ? t.false_passes : t.false_errors) += 1;
    const bool known = known_.known(d.we_accept, d.statement, isa::name(target));
    t.known += known;
    if (!known) unknown_.push_back(d);
    all_.push_back(std::move(d));
  }
}

std::size_t Report::asked() const {
  std::size_t sum = 0;
  for (const auto& [target, t] : tallies_) sum += t.asked;
  return sum;
}

std::size_t Report::refused_as_they_stood() const {
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [](const Disagreement& d) { return !d.we_accept && d.how.empty(); }));
}

void Report::list(const std::string& path) const {
  std::ofstream file(path);
  for (const Disagreement& d : unknown_)
    file << "we " << (d.we_accept ? "accept" : "refuse") << " | " << d.statement << " | " << isa::name(d.target) << " | "
         << d.reason << " [" << d.how << "]\n";
}

void Report::print_causes(bool accept) const {
  std::map<std::string, std::vector<const Disagreement*>> causes;
  for (const Disagreement& d : all_)
    if (d.we_accept == accept) causes[cause_of(d.reason)].push_back(&d);
  std::vector<std::pair<std::string, std::vector<const Disagreement*>>> sorted(causes.begin(), causes.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  for (const auto& [cause, list] : sorted) {
    std::map<std::string, std::size_t> opcodes;
    for (const Disagreement* d : list) ++opcodes[opcode_of(d->statement)];
    std::string names;
    for (const auto& [opcode, n] : opcodes) names += cat(' ', opcode, '=', n);
    std::printf("%5zu  %s\n       %s\n", list.size(), cause.c_str(), names.substr(0, 140).c_str());
    for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 2); ++i) {
      const Disagreement& d = *list[i * (list.size() - 1)];
      std::printf("         %s  %s  [%s]\n", std::string(isa::name(d.target)).c_str(), d.statement.c_str(), d.how.c_str());
    }
  }
}

void Report::print() const {
  std::printf("\nFALSE ERRORS (we refuse, ptxas accepts): what we say, by cause\n");
  print_causes(false);
  std::printf("\nFALSE PASSES (ptxas refuses, we accept): what ptxas says, by cause\n");
  print_causes(true);
  print_figures();
  std::printf("refused as they stood, which ptxas takes: %zu\n", refused_as_they_stood());
}

void Report::print_figures() const {
  std::printf("\n%-8s %8s %9s %9s %13s %13s %6s %10s\n", "target", "asked", "accepted", "agreed", "false errors", "false passes",
              "known", "no verdict");
  Tally sum;
  for (const auto& [target, t] : tallies_) {
    line(std::string(isa::name(target)), t);
    sum.asked += t.asked, sum.accepted += t.accepted, sum.false_errors += t.false_errors, sum.false_passes += t.false_passes,
        sum.known += t.known, sum.crashes += t.crashes;
  }
  line("all", sum);
}

void Report::line(const std::string& name, const Tally& t) {
  const double n = static_cast<double>(std::max<std::size_t>(t.asked, 1)) / 100;
  const auto wrong = t.false_errors + t.false_passes;
  std::printf("%-8s %8zu %9zu %8.3f%% %5zu %6.3f%% %5zu %6.3f%% %6zu %10zu\n", name.c_str(), t.asked, t.accepted,
              static_cast<double>(t.asked - wrong) / n, t.false_errors, static_cast<double>(t.false_errors) / n, t.false_passes,
              static_cast<double>(t.false_passes) / n, t.known, t.crashes);
}

}  // namespace ptx::oracle
