#include "ptx/vgpu/findings/findings.hpp"

#include <algorithm>
#include <utility>

namespace ptx::vgpu {
namespace {

// "and 7 more pairs of instructions of these lines, at PTX lines 31, 33, …"
std::string say_more(std::uint64_t more, const std::vector<std::uint32_t>& lines) {
  std::string at;
  for (const std::uint32_t line : lines) at += cat(at.empty() ? "" : ", ", line);
  if (!at.empty())
    at = cat(lines.size() == 1 ? ", at line " : ", at lines ", at, more > lines.size() ? ", …" : "", " of the PTX text");
  return cat("and ", more, " more ", more == 1 ? "pair" : "pairs", " of instructions of these lines", at);
}

}  // namespace

bool Findings::is_new(const Key& key, bool hushed) {
  if (const auto known = all_.find(key); known != all_.end()) {
    ++known->second.count;
    if (hushed || !known->second.hushed) return false;
    known->second.hushed = false;
    std::erase(in_order_, key);
    return true;
  }
  if (options_.max_findings != 0 && in_order_.size() >= options_.max_findings) {
    ++left_out_[key];
    return false;
  }
  Finding& added = all_[key];
  added.count = 1, added.hushed = hushed;
  return true;
}

bool Findings::suppress(const Diagnostic& finding) {
  bool fits = false;
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (options_.suppress[i].fits(finding)) used_[i] = fits = true;
  return fits;
}

std::optional<Findings::Lines> Findings::lines_of(const Diagnostic& finding) {
  if (finding.execution.empty() || finding.execution.front().where.line == 0) return std::nullopt;
  const auto place = [](const SourceLocation& at) { return Place{at.file, at.line, at.column, at.from}; };
  const ExecutionPoint &now = finding.execution.front(), &before = finding.execution.back();
  return Lines{now.rule, finding.severity, place(now.where), place(before.where)};
}

void Findings::add(const Key& key, Diagnostic finding) {
  constexpr std::size_t most_lines = 4;
  Finding& kept = all_.at(key);
  kept.suppressed = suppress(finding);
  if (kept.suppressed) return;
  if (const auto lines = lines_of(finding)) {
    const auto [known, is_new] = by_lines_.try_emplace(*lines, key);
    if (!is_new && known->second != key) {
      Finding& first = all_.at(known->second);
      ++first.more;
      // Where the second access is the same as the first pair's, what tells the two apart is the one before it.
      const ExecutionPoint &now = finding.execution.front(), &before = finding.execution.back();
      const bool is_same = now.ptx_line == first.diagnostic.execution.front().ptx_line;
      const std::uint32_t line = is_same ? before.ptx_line : now.ptx_line;
      std::vector<std::uint32_t>& at = first.more_lines;
      if (at.size() < most_lines && line != 0 && std::find(at.begin(), at.end(), line) == at.end()) at.push_back(line);
      return;
    }
  }
  const bool is_error = finding.severity == Severity::error;
  kept.diagnostic = std::move(finding);
  in_order_.push_back(key);
  if (options_.stop_at_first && is_error && !first_error_) first_error_ = key;
}

void Findings::give_to(Report& report) const {
  for (const Key& key : in_order_) {
    const Finding& one = all_.at(key);
    Diagnostic& told = report.findings.emplace_back(one.diagnostic);
    if (one.count != 1) told.note(cat("seen ", one.count, " times"));
    if (one.more != 0) told.note(say_more(one.more, one.more_lines));
    if (told.execution.empty()) continue;
    told.execution.front().times = one.count;
    told.execution.front().pairs = one.more + 1;
  }
  report.suppressed =
      static_cast<std::uint64_t>(std::count_if(all_.begin(), all_.end(), [](const auto& one) { return one.second.suppressed; }));
  report.left_out = left_out_.size();
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (!used_[i] && !options_.suppress[i].text.empty()) report.unused_suppressions.push_back(options_.suppress[i].text);
}

}  // namespace ptx::vgpu
