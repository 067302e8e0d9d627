#include "ptx/check/check.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "ptx/check/body.hpp"
#include "ptx/check/debug_info.hpp"
#include "ptx/check/declarations.hpp"
#include "ptx/check/directives.hpp"
#include "ptx/check/register_budget.hpp"
#include "ptx/check/signatures.hpp"
#include "ptx/flow/flow.hpp"

namespace ptx::check {
namespace {

// "[undefined_label] rms.py:31: the label `LOOP` is not defined"
std::string one_line(const Diagnostic& d) {
  return cat('[', name(d.kind), "] ", to_string(d.where), d.where.known() ? ": " : "", d.message);
}

// In a module that was parsed all findings have a place, and come in the order of the text.
bool earlier(const Diagnostic& a, const Diagnostic& b) {
  if (a.where.file != b.where.file || !a.where.known() || !b.where.known() || a.where.column == 0 || b.where.column == 0)
    return false;
  return a.where.line != b.where.line ? a.where.line < b.where.line : a.where.column < b.where.column;
}

using StartRegisters = std::map<std::size_t, std::uint32_t>;  // by function

// The things of a module in the order of its text: what is named must be declared before.
class Check {
 public:
  Check(const ir::Module& module, const std::vector<flow::Graph>& graphs, Matches& matches, Diagnostics& findings)
      : module_(module),
        graphs_(graphs),
        matches_(matches),
        report_(module, findings),
        names_(module),
        instructions_(report_, names_, matches),
        debug_(report_),
        groups_(report_),
        budgets_(module, graphs),
        aliased_(module.functions.size()) {}

  void run() {
    check_header(report_);
    names_.open();
    for (const ir::ModuleItem& item : items_in_order(module_)) check(item);
    check_resolved(report_, aliased_);
    check_shared_memory(report_);
    check_declared_memory(report_);
  }
  [[nodiscard]] StartRegisters start_registers() const {
    StartRegisters all;
    for (std::uint32_t i = 0; i < module_.functions.size(); ++i)
      if (const auto start = budgets_.start(module_.functions[i])) all.emplace(i, *start);
    return all;
  }

 private:
  void check(const ir::ModuleItem& item) {
    ir::StringId id;
    id.index = item.payload;
    switch (item.kind) {
      case ir::ModuleItemKind::variable:
        if (item.payload < module_.variables.size()) variable(item.payload);
        break;
      case ir::ModuleItemKind::function:
        if (item.payload < module_.functions.size()) function(item.payload);
        break;
      case ir::ModuleItemKind::file:
        debug_.file(module_.str(id), item.where);
        break;
      case ir::ModuleItemKind::pragma:
        check_pragma(report_, module_.str(id), PragmaLevel::module, item.where);
        break;
      case ir::ModuleItemKind::alias:
        check_alias(report_, names_, module_.str(id), item.where, aliased_);
        break;
      case ir::ModuleItemKind::section:
      case ir::ModuleItemKind::raw:
        break;
    }
  }

  void variable(std::uint32_t i) {
    declare_variable(report_, names_, module_.variables[i], i, Level::module, module_.variables[i].where);
  }

  void function(std::uint32_t i) {
    const ir::Function& function = module_.functions[i];
    declare_function(report_, names_, i);
    names_.open();
    check_signature(report_, names_, function);
    if (!function.has_body) return names_.close();
    matches_.enter(i, function.body.size());
    check_body(report_, names_, {instructions_, debug_, groups_, budgets_, matches_}, function, graphs_[i]);
    names_.close();
  }

  const ir::Module& module_;
  const std::vector<flow::Graph>& graphs_;  // by function
  Matches& matches_;
  Report report_;
  Names names_;
  Instructions instructions_;
  DebugInfo debug_;
  CtaGroups groups_;
  RegisterBudgets budgets_;
  std::vector<bool> aliased_;  // functions that an alias defines
};

Diagnostics findings_of(const ir::Module& module, const std::vector<flow::Graph>& graphs, Matches& matches,
                        StartRegisters* start_registers = nullptr) {
  Diagnostics findings;
  Check check(module, graphs, matches, findings);
  check.run();
  if (start_registers != nullptr) *start_registers = check.start_registers();
  std::stable_sort(findings.begin(), findings.end(), earlier);
  return findings;
}

}  // namespace

struct Accepted::Contents {
  ir::Module module;
  std::vector<flow::Graph> graphs;  // by function
  Matches matches;
  Diagnostics warnings;
  StartRegisters start_registers;
};

const ir::Module& Accepted::module() const { return contents_->module; }
std::shared_ptr<const ir::Module> Accepted::share() const { return {contents_, &contents_->module}; }
const Diagnostics& Accepted::warnings() const { return contents_->warnings; }
const flow::Graph& Accepted::graph(std::size_t function) const { return contents_->graphs[function]; }

std::span<const std::uint8_t> Accepted::row_operands(std::size_t function, std::uint32_t item) const {
  return contents_->matches.of(function, item);
}

std::optional<std::uint32_t> Accepted::start_registers(std::size_t function) const {
  const auto found = contents_->start_registers.find(function);
  return found == contents_->start_registers.end() ? std::nullopt : std::optional(found->second);
}

Diagnostics check(const ir::Module& module) {
  Matches matches(module.functions.size());
  return findings_of(module, flow::graphs_of(module), matches);
}

Expected<Accepted> accept(ir::Module module) {
  std::vector<flow::Graph> graphs = flow::graphs_of(module);
  Matches matches(module.functions.size());
  StartRegisters start_registers;
  Diagnostics findings = findings_of(module, graphs, matches, &start_registers);
  const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::error; };
  const auto first = std::find_if(findings.begin(), findings.end(), is_error);
  if (first == findings.end()) {
    Accepted accepted;
    accepted.contents_ =
        std::make_shared<const Accepted::Contents>(Accepted::Contents{.module = std::move(module),
                                                                      .graphs = std::move(graphs),
                                                                      .matches = std::move(matches),
                                                                      .warnings = std::move(findings),
                                                                      .start_registers = std::move(start_registers)});
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
