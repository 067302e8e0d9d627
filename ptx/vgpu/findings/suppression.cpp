// Which findings are not to be told: `RULE`, `RULE@PLACE`, `RULE@PLACE+PLACE`.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::string_view blank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Where a finding is: a file and a line, once for each place that is known of one of its accesses.
struct Spot {
  std::string_view file;
  std::uint32_t line = 0;
};

// The file, whatever folders stand before it.
bool is_file(std::string_view file, std::string_view wanted) {
  if (!file.ends_with(wanted)) return false;
  return file.size() == wanted.size() || file[file.size() - wanted.size() - 1] == '/';
}

bool is_at(const Spot& spot, std::string_view place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return is_file(spot.file, place);
  std::uint32_t line = 0;
  const char* const end = place.data() + place.size();
  if (const auto read = std::from_chars(place.data() + colon + 1, end, line); read.ec != std::errc() || read.ptr != end)
    return is_file(spot.file, place);
  return line == spot.line && is_file(spot.file, place.substr(0, colon));
}

std::vector<Spot> spots_of(const Diagnostic& finding) {
  std::vector<Spot> spots{{finding.where.file, finding.where.line}};
  for (const Note& note : finding.notes)
    if (note.kind == NoteKind::place) spots.push_back({note.where.file, note.where.line});
  for (const ExecutionPoint& point : finding.execution) {
    spots.push_back({point.where.file, point.where.line});
    if (point.ptx_line != 0) spots.push_back({"ptx", point.ptx_line});
  }
  return spots;
}

bool fits_rule(std::string_view wanted, std::string_view rule) {
  if (wanted.ends_with('*')) return rule.starts_with(wanted.substr(0, wanted.size() - 1));
  return wanted == rule;
}

}  // namespace

Expected<Suppression> Suppression::read(std::string_view text) {
  Suppression made;
  made.text = trimmed(text);
  std::string_view rest = made.text;
  const std::size_t at = rest.find('@');
  made.rule = trimmed(rest.substr(0, at));
  const auto wrong = [&](std::string_view why) {
    return refuse(Kind::bad_setting, cat("suppression `", made.text, "` ", why,
                                         "; what fits is RULE or RULE@PLACE, such as P-02, P-01@gemm.py:133 or *@gemm"));
  };
  if (made.rule.ends_with('*')) {
    const auto fits = [&](const RuleRow& row) { return fits_rule(made.rule, row.id); };
    if (!std::any_of(all_rules().begin(), all_rules().end(), fits)) return wrong("names no rule");
  } else if (const auto rule = rule_from_id(made.rule)) {
    made.rule = id(*rule);
  } else {
    return wrong(made.rule.empty() ? "names no rule" : "names a rule that there is not");
  }
  if (at == std::string_view::npos) return made;
  rest.remove_prefix(at + 1);
  while (true) {
    const std::size_t plus = rest.find('+');
    const std::string_view place = trimmed(rest.substr(0, plus));
    if (place.empty()) return wrong("names no place behind `@`");
    made.places.emplace_back(place);
    if (plus == std::string_view::npos) return made;
    rest.remove_prefix(plus + 1);
  }
}

Expected<std::vector<Suppression>> Suppression::read_all(std::string_view lines, std::string_view name) {
  std::vector<Suppression> all;
  for (std::size_t number = 1; !lines.empty(); ++number) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = trimmed(lines.substr(0, std::min(lines.find('#'), end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.empty()) continue;
    auto one = read(line);
    if (!one) return refuse(Kind::bad_setting, cat(name, ", line ", number, ": ", one.error().message));
    all.push_back(*std::move(one));
  }
  return all;
}

bool Suppression::fits(const Diagnostic& finding) const {
  if (finding.execution.empty() || !fits_rule(rule, finding.execution.front().rule)) return false;
  const std::vector<Spot> spots = spots_of(finding);
  return std::all_of(places.begin(), places.end(), [&](const std::string& place) {
    return place == finding.execution.front().kernel ||
           std::any_of(spots.begin(), spots.end(), [&](const Spot& spot) { return is_at(spot, place); });
  });
}

}  // namespace ptx::vgpu
