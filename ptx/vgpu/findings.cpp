#include "ptx/vgpu/findings.hpp"

#include <algorithm>
#include <utility>

namespace ptx::vgpu {

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

void Findings::add(const Key& key, Diagnostic finding) {
  Finding& kept = all_.at(key);
  kept.suppressed = suppress(finding);
  if (kept.suppressed) return;
  const bool is_error = finding.severity == Severity::error;
  kept.diagnostic = std::move(finding);
  in_order_.push_back(key);
  if (options_.stop_at_first && is_error && !first_error_) first_error_ = key;
}

void Findings::give_to(Report& report) const {
  for (const Key& key : in_order_) {
    const Finding& one = all_.at(key);
    Diagnostic& told = report.findings.emplace_back(one.diagnostic);
    if (one.count == 1) continue;
    told.note(cat("seen ", one.count, " times"));
    if (!told.execution.empty()) told.execution.front().times = one.count;
  }
  report.suppressed =
      static_cast<std::uint64_t>(std::count_if(all_.begin(), all_.end(), [](const auto& one) { return one.second.suppressed; }));
  report.left_out = left_out_.size();
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (!used_[i] && !options_.suppress[i].text.empty()) report.unused_suppressions.push_back(options_.suppress[i].text);
}

}  // namespace ptx::vgpu
