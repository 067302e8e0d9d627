#include "ptx/check/check.hpp"

#include <algorithm>
#include <utility>

#include "ptx/check/body.hpp"
#include "ptx/check/declarations.hpp"

namespace ptx::check {
namespace {

// "[undefined_label] rms.py:31: the label `LOOP` is not defined"
std::string one_line(const Diagnostic& d) {
  return cat('[', name(d.kind), "] ", to_string(d.where), d.where.known() ? ": " : "", d.message);
}

}  // namespace

Diagnostics check(const ir::Module& module) {
  Diagnostics findings;
  Report report(module, findings);
  Names names(module);
  Instructions instructions(report, names);
  check_header(report);
  names.open();
  for (std::uint32_t i = 0; i < module.variables.size(); ++i)
    declare_variable(report, names, module.variables[i], i, Level::module);
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    if (const std::string_view spelled = module.str(function.name); !is_identifier(spelled))
      report.error(Kind::bad_declaration, cat('`', spelled, "` cannot name a function"));
    const Entity entity{Meaning::function, ir::StateSpace::reg, false, 0, function.name, i, 0};
    if (const auto taken = names.declare(entity))
      report.error(Kind::duplicate_symbol,
                   taken->meaning == Meaning::function
                       ? cat(describe(module, entity), " is declared twice")
                       : cat(describe(module, entity), " and ", describe(module, *taken), " share a name"));
    names.open();
    check_signature(report, names, function);
    check_shared_memory(report, function);
    check_body(report, names, instructions, function);
    names.close();
  }
  return findings;
}

Expected<Accepted> accept(ir::Module module) {
  Diagnostics findings = check(module);
  const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::error; };
  const auto first = std::find_if(findings.begin(), findings.end(), is_error);
  if (first == findings.end()) {
    Accepted accepted;
    accepted.module_ = std::make_shared<const ir::Module>(std::move(module));
    accepted.warnings_ = std::move(findings);
    return accepted;
  }
  constexpr std::size_t most = 8;  // a screen holds no more
  Diagnostic error = std::move(*first);
  std::size_t others = 0;
  for (auto it = first + 1; it != findings.end(); ++it)
    if (is_error(*it) && ++others <= most) error.note(cat("also: ", one_line(*it)));
  if (others > most) error.note(cat("and ", others - most, " more errors"));
  return Unexpected{std::move(error)};
}

}  // namespace ptx::check
