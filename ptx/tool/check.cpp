// check: reads each file, and says everything that is wrong with it.
#include "ptx/check/check.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ptx/text/text.hpp"
#include "ptx/tool/commands.hpp"
#include "ptx/tool/files.hpp"
#include "ptx/tool/formats.hpp"
#include "ptx/tool/style.hpp"

namespace ptx::tool {
namespace {

constexpr std::size_t max_findings = 100'000;  // of the parser, in one file

// What makes two findings the same.
std::string key_of(const Diagnostic& d) { return cat(name(d.kind), ' ', d.where.line, ' ', d.where.column, ' ', d.message); }

// What the parser finds, and what check finds in what it could read. A text that is broken somewhere is not checked: most of what
// could be said of it would follow from the break.
Checked check_file(const std::string& path, std::optional<Target> target, const Caller& caller) {
  Checked checked{.file = display_name(path), .read = read_file(path, caller), .findings = {}};
  if (!checked.read.failure.empty()) return checked;
  text::Parsed parsed = text::parse(checked.read.text, checked.file, max_findings);
  checked.findings = std::move(parsed.findings);
  if (!parsed.broken()) {
    if (target) parsed.module.target = *target;
    std::unordered_set<std::string> said;
    for (const Diagnostic& finding : checked.findings) said.insert(key_of(finding));
    for (Diagnostic& finding : check::check(parsed.module))
      if (said.insert(key_of(finding)).second) checked.findings.push_back(std::move(finding));
  }
  std::stable_sort(checked.findings.begin(), checked.findings.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
  return checked;
}

std::string summary(std::size_t files, std::size_t errors, std::size_t warnings, bool colour) {
  const Style style(colour);
  const std::string where = cat(" in ", plural(files, "file"), '\n');
  if (errors == 0 && warnings == 0) return cat(style(Colour::green, "no findings"), where);
  std::string out = errors == 0 ? std::string() : style(Colour::red, plural(errors, "error"));
  if (warnings != 0) out += cat(out.empty() ? "" : ", ", style(Colour::yellow, plural(warnings, "warning")));
  return out + where;
}

}  // namespace

Outcome check(const Arguments& arguments, const Caller& caller) {
  if (arguments.files.empty()) return refuse(caller, "`check` needs a file or a folder; `-` reads the standard input");
  std::optional<Target> target;
  if (!arguments.target.empty()) {
    target = isa::target_from_name(arguments.target);
    if (!target) {
      std::vector<std::string> names;
      for (const isa::TargetInfo& info : isa::detail::target_infos) names.emplace_back(info.name);
      const std::string near = nearest(arguments.target, names);
      return refuse(caller, cat("`", arguments.target, "` is not a target of PTX"),
                    near.empty() ? "targets are written `sm_90a`" : cat("did you mean `", near, "`?"));
    }
  }
  const bool for_people = arguments.format.empty() || arguments.format == "text";
  std::vector<Checked> all;
  std::size_t errors = 0, warnings = 0;
  Outcome outcome;
  const Files files_given = find_files(arguments.files);
  for (const auto& [message, hint] : files_given.failures) {
    outcome.err += refuse(caller, message, hint).err;
    outcome.status = 2;
  }
  for (const std::string& path : files_given.paths) {
    const Checked& checked = all.emplace_back(check_file(path, target, caller));
    errors += checked.count(Severity::error);
    warnings += checked.count(Severity::warning);
    if (!checked.read.failure.empty()) {
      outcome.err += refuse(caller, checked.read.failure, checked.read.hint).err;
      outcome.status = 2;
    }
    if (for_people) outcome.out += to_text(checked, arguments.most_or(50), caller.colour);
  }
  if (outcome.status == 0 && errors != 0) outcome.status = 1;
  const auto readable = [](const Checked& c) { return c.read.failure.empty(); };
  const auto files = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), readable));
  if (arguments.format == "json")
    outcome.out = to_json(all);
  else if (arguments.format == "sarif")
    outcome.out = to_sarif(all);
  else if (arguments.format == "github")
    outcome.out = to_github(all);
  else if (files != 0)
    outcome.out += summary(files, errors, warnings, caller.colour);
  return outcome;
}

}  // namespace ptx::tool
