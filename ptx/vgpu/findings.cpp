#include "ptx/vgpu/findings.hpp"

#include <algorithm>
#include <utility>

namespace ptx::vgpu {

bool Findings::is_new(const Key& key) {
  if (const auto known = all_.find(key); known != all_.end()) {
    ++known->second.count;
    return false;
  }
  if (options_.max_findings != 0 && in_order_.size() >= options_.max_findings) {
    const auto& [rule, first, second] = key;
    ++left_out_[{rule, first, second & ~hushed}];
    return false;
  }
  all_[key].count = 1;
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

void Findings::take_place_of(const Key& less, const Key& key, Diagnostic finding) {
  const std::uint64_t count = all_.at(less).count;
  all_.erase(less);
  std::erase(in_order_, less);
  all_[key].count = count + 1;
  add(key, std::move(finding));
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
