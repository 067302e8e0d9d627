// print: the module in canonical text.
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
  if (parsed.broken()) {
    Outcome outcome{.status = 1, .out = {}, .err = {}};
    std::size_t errors = 0;
    for (const Diagnostic& finding : parsed.findings)
      if (finding.kind == Kind::syntax && ++errors <= arguments.most_or(50))
        outcome.err += cat(render(finding, read.text, caller.colour_of_errors), '\n');
    outcome.err += cat(plural(errors, "error"), "; nothing is printed\n");
    return outcome;
  }
  return deliver(text::print(parsed.module), arguments, caller);
}

}  // namespace ptx::tool
