// print: the module in canonical text.
#include <algorithm>

#include "ptx/text/text.hpp"
#include "ptx/tool/commands.hpp"
#include "ptx/tool/files.hpp"
#include "ptx/tool/style.hpp"

namespace ptx::tool {

Outcome print(const Arguments& arguments, const Caller& caller) {
  if (arguments.files.size() != 1)
    return refuse(caller, cat("`print` takes one file, ", arguments.files.size(), " were given"), "`-` reads the standard input");
  const std::string& path = arguments.files.front();
  Read read = read_file(path, caller);
  if (!read.failure.empty()) return refuse(caller, read.failure, read.hint);
  const text::Parsed parsed = text::parse(read.text, display_name(path));
  // A module has only targets that there are: another one would be printed as one of them.
  const auto is_lost = [](const Diagnostic& finding) {
    return finding.kind == Kind::syntax || finding.kind == Kind::unknown_target;
  };
  if (parsed.broken() || std::any_of(parsed.findings.begin(), parsed.findings.end(), is_lost)) {
    Outcome outcome{.status = 1, .out = {}, .err = {}};
    std::size_t errors = 0;
    for (const Diagnostic& finding : parsed.findings)
      if (is_lost(finding) && ++errors <= arguments.most_or(50))
        outcome.err += cat(render(finding, read.text, caller.colour_of_errors), '\n');
    outcome.err += cat(plural(errors, "error"), "; nothing is printed\n");
    return outcome;
  }
  return deliver(text::print(parsed.module), arguments, caller);
}

}  // namespace ptx::tool
