// explain: what a rule of the executor is about.
#include <vector>

#include "ptx/tool/commands.hpp"
#include "ptx/tool/style.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::tool {

Outcome explain(const Arguments& arguments, const Caller& caller) {
  if (arguments.files.size() > 1) return refuse(caller, cat("`explain` takes one rule, ", arguments.files.size(), " were given"));
  if (arguments.files.empty()) {
    std::string out;
    for (const vgpu::RuleRow& row : vgpu::all_rules())
      out += cat(row.id, "  ", wrap(row.summary, columns - 6, "      "), row.severity == Severity::warning ? " (warning)" : "",
                 '\n');
    return {.status = 0, .out = out, .err = {}};
  }
  const auto rule = vgpu::rule_from_id(arguments.files.front());
  if (!rule) {
    std::vector<std::string> ids;
    for (const vgpu::RuleRow& row : vgpu::all_rules()) ids.emplace_back(row.id);
    const std::string near = nearest(arguments.files.front(), ids);
    return refuse(caller, cat("there is no rule `", arguments.files.front(), '`'),
                  near.empty() ? cat("`", caller.program, " explain` lists them") : cat("did you mean `", near, "`?"));
  }
  if (!arguments.last("--kernel").empty() && !arguments.last("--mended").empty())
    return refuse(caller, "`--kernel` prints the wrong kernel and `--mended` the right one; what fits is one of the two");
  if (!arguments.last("--kernel").empty()) return {.status = 0, .out = vgpu::example(*rule), .err = {}};
  if (!arguments.last("--mended").empty()) return {.status = 0, .out = vgpu::mended_example(*rule), .err = {}};
  std::string text = vgpu::explain(*rule);
  constexpr std::string_view program = "ptxkit";
  for (std::size_t at = 0; (at = text.find(program, at)) != std::string::npos; at += caller.program.size())
    text.replace(at, program.size(), caller.program);
  return {.status = 0, .out = text, .err = {}};
}

}  // namespace ptx::tool
