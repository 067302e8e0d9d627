#include "ptx/vgpu/findings/rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <vector>

namespace ptx::vgpu {
namespace {

constexpr RuleRow rows[] = {
#define PTX_RULE(name, id, kind, severity, summary, mend, section) \
  {Rule::name, id, Kind::kind, Severity::severity, summary, mend, section},
#include "ptx/vgpu/rules.def"
#undef PTX_RULE
};

// The examples, as the build puts them together from ptx/vgpu/rules/*.ptx.
struct Example {
  std::string_view id, text;
};
constexpr Example examples[] = {
#include "ptx/vgpu/rule_examples.inc"
    {"", ""}};

constexpr std::string_view mistake_mark = "// mistake", mend_mark = "// mend", run_mark = "// run: ";

std::string_view text_of(Rule rule) {
  const auto* const found =
      std::find_if(std::begin(examples), std::end(examples), [&](const Example& e) { return e.id == id(rule); });
  return found == std::end(examples) ? std::string_view() : found->text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// A line without the mark at its end.
std::string_view unmarked(std::string_view line, std::string_view mark) {
  line.remove_suffix(mark.size());
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

enum class Which : std::uint8_t { mistaken, mended, difference };
std::string version_of(Rule rule, Which which) {
  std::string out;
  const bool both = which == Which::difference;
  for (const std::string_view line : lines_of(text_of(rule))) {
    if (line.starts_with(run_mark)) continue;
    if (line.ends_with(mistake_mark)) {
      if (which != Which::mended) out += cat(both ? "-" : "", unmarked(line, mistake_mark), '\n');
    } else if (line.ends_with(mend_mark)) {
      if (which != Which::mistaken) out += cat(both ? "+" : "", unmarked(line, mend_mark), '\n');
    } else {
      out += cat(both ? " " : "", line, '\n');
    }
  }
  return out;
}

}  // namespace

std::span<const RuleRow> all_rules() { return rows; }
const RuleRow& row(Rule rule) { return rows[static_cast<std::size_t>(rule)]; }

std::string_view level_of(Rule rule) {
  if (rule == Rule::V_07) return "full";
  switch (row(rule).kind) {
    case Kind::race:
    case Kind::race_of_lanes:
    case Kind::missing_proxy_fence:
    case Kind::missing_tensor_map_fence:
    case Kind::stale_load:
    case Kind::missing_tensor_fence:
    case Kind::unordered_tensor_memory:
    case Kind::unordered_mbarrier:
    case Kind::unfinished_copy:
      return "full";
    case Kind::uninitialised:
      return "cheap";
    default:
      return "off";
  }
}

std::string page(Rule rule) { return cat("docs/rules/", id(rule), ".md"); }

std::string page_address(Rule rule) {
  const char* const set = std::getenv("PYPTX_DOCS");
  std::string_view base = set == nullptr ? "" : set;
  while (base.ends_with('/')) base.remove_suffix(1);
  return base.empty() ? std::string() : cat(base, "/rules/", id(rule), ".html");
}

std::optional<Rule> rule_from_id(std::string_view id) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  const auto* const found = std::find_if(std::begin(rows), std::end(rows), [&](const RuleRow& row) {
    return std::equal(row.id.begin(), row.id.end(), id.begin(), id.end(), same);
  });
  return found == std::end(rows) ? std::nullopt : std::optional(found->rule);
}

std::optional<Rule> usual_rule(Kind kind) {
  switch (kind) {
    case Kind::barrier_misuse:
      return Rule::B_02;
    case Kind::tensor_memory_misuse:
      return Rule::K_02;
    case Kind::bad_descriptor:
      return Rule::K_01;
    default:
      break;
  }
  const auto* const found = std::find_if(std::begin(rows), std::end(rows), [&](const RuleRow& row) { return row.kind == kind; });
  return found == std::end(rows) ? std::nullopt : std::optional(found->rule);
}

std::string example(Rule rule) { return version_of(rule, Which::mistaken); }
std::string mended_example(Rule rule) { return version_of(rule, Which::mended); }

std::string example_arguments(Rule rule) {
  for (const std::string_view line : lines_of(text_of(rule)))
    if (line.starts_with(run_mark)) return std::string(line.substr(run_mark.size()));
  return {};
}

std::string explain(Rule rule) {
  const RuleRow& known = row(rule);
  std::string out = cat(known.id, " (", name(known.severity), ", kind ", name(known.kind), "): ", known.summary, "\n\n");
  if (const std::string both = version_of(rule, Which::difference); !both.empty())
    out += cat(both, "\nrun it: ptxkit explain ", known.id, " --kernel | ptxkit run - ", example_arguments(rule),
               level_of(rule) == "full" ? " --checks full" : "", "\n");
  return cat(out, "mend: ", known.mend, "\nmanual: ", known.section, "\npage: ", page(rule), '\n');
}

}  // namespace ptx::vgpu
