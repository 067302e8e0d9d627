#include "ptx/check/register_budget.hpp"

#include <algorithm>
#include <unordered_set>

#include "ptx/check/declarations.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::check {
namespace {

using ir::OperandKind;

// What ptxas wants beside the registers that an instruction names.
constexpr std::uint32_t beside_wgmma = 26, beside_tcgen05 = 18;

bool is_number(const ir::Operand& o) { return o.kind == OperandKind::integer || o.kind == OperandKind::expression; }

// `setmaxnreg.inc.sync.aligned.u32 232`
struct NewCount {
  std::int64_t count = 0;
  bool takes = false;  // .inc
};
std::optional<NewCount> new_count(const ir::Function& function, const ir::Inst& inst) {
  const std::span<const ir::Operand> operands = function.operands_of(inst);
  if (operands.empty() || !is_number(operands[0])) return std::nullopt;
  return NewCount{function.integer(operands[0]), effects(inst).waits == isa::Event::registers};
}

}  // namespace

RegisterNeed register_need(const ir::Function& function, const ir::Inst& inst) {
  const isa::Effects& does = effects(inst);
  if (!is_wgmma(does) && !moves_tensor_memory(does)) return {};
  RegisterNeed need;
  for (const ir::Operand& o : function.operands_of(inst))
    if (o.kind == OperandKind::vector) need.named += o.count;
  if (need.named != 0) need.needed = need.named + (is_wgmma(does) ? beside_wgmma : beside_tcgen05);
  return need;
}

std::optional<ir::StringId> called_function(const ir::Function& function, const ir::Inst& call) {
  for (const ir::Operand& o : function.operands_of(call)) {
    if (o.kind == OperandKind::list) continue;
    if (o.kind != OperandKind::symbol) return std::nullopt;
    return ir::StringId(o.payload);
  }
  return std::nullopt;
}

RegisterBudgets::RegisterBudgets(const ir::Module& module, const std::vector<flow::Graph>& graphs)
    : module_(module), graphs_(graphs) {
  if (!isa::allows(module.target, isa::node(sm_90))) return;
  budgets_.resize(module.functions.size());
  for (std::uint32_t f = 0; f < budgets_.size(); ++f)
    if (module.functions[f].has_body) defined_.emplace(module.functions[f].name.index, f);
  for (std::uint32_t f = 0; f < budgets_.size(); ++f) summarise(f);
  const auto matters = [](const Budget& b) { return !b.setmaxnreg.empty() || !b.needy.empty(); };
  if (std::none_of(budgets_.begin(), budgets_.end(), matters)) {
    budgets_.clear();
    return;
  }
  for (std::uint32_t f = 0; f < budgets_.size(); ++f)
    if (module.functions[f].is_entry && module.functions[f].has_body) bind(f);
}

void RegisterBudgets::summarise(std::uint32_t index) {
  const ir::Function& function = module_.functions[index];
  Budget& budget = budgets_[index];
  std::unordered_set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const ir::Inst& inst = function.body[i];
    if (inst.kind != ir::ItemKind::inst) continue;
    const isa::Form& form = isa::form(inst.form);
    if (form.traits.has(isa::Trait::set_registers)) budget.setmaxnreg.push_back(i);
    if (form.row->effects.is_async()) {
      if (const RegisterNeed need = register_need(function, inst); need.needed != 0) {
        budget.needy.push_back(i);
        budget.need = std::max(budget.need, need.needed);
      }
    }
    if (!form.traits.has(isa::Trait::call)) continue;
    const std::optional<ir::StringId> name = called_function(function, inst);
    if (!name) budget.calls_register = true;
    const auto callee = name ? defined_.find(name->index) : defined_.end();
    if (callee != defined_.end() && seen.insert(callee->second).second) budget.callees.push_back(callee->second);
  }
}

// The functions that an entry calls, itself first, each once.
RegisterBudgets::Reach RegisterBudgets::reach(std::uint32_t entry) const {
  Reach out;
  enum : std::uint8_t { fresh, open, closed };
  std::vector<std::uint8_t> state(budgets_.size(), fresh);
  struct Step {
    std::uint32_t function;
    std::size_t next = 0;
  };
  std::vector<Step> path{{entry}};
  state[entry] = open;
  out.functions.push_back(entry);
  while (!path.empty()) {
    Step& step = path.back();
    const std::vector<std::uint32_t>& callees = budgets_[step.function].callees;
    if (step.next == callees.size()) {
      state[step.function] = closed;
      path.pop_back();
      continue;
    }
    const std::uint32_t callee = callees[step.next++];
    out.round = out.round || state[callee] == open;
    if (state[callee] != fresh) continue;
    state[callee] = open;
    out.functions.push_back(callee);
    path.push_back({callee});
  }
  return out;
}

void RegisterBudgets::bind(std::uint32_t entry) {
  const Reach reached = reach(entry);
  Budget& budget = budgets_[entry];
  bool sets = false, opaque = reached.round;
  std::uint32_t need = 0;
  for (const std::uint32_t f : reached.functions) {
    sets = sets || !budgets_[f].setmaxnreg.empty();
    opaque = opaque || budgets_[f].calls_register;
    need = std::max(need, budgets_[f].need);
  }
  const LaunchBounds bounds = bounds_of(entry);
  if (sets) {
    budget.ignored = has_option(module_, "debug")    ? Ignored::for_debugging
                     : opaque                        ? Ignored::for_calls
                     : !bounds.fixes_registers(need) ? Ignored::without_a_start
                                                     : Ignored::no;
    if (budget.ignored == Ignored::no && !budget.setmaxnreg.empty()) follow_setmaxnreg(entry, bounds.registers());
  }
  for (const std::uint32_t f : reached.functions) {
    std::uint32_t& chosen = budgets_[f].entry;
    const bool better = chosen == none || (budget.ignored != Ignored::no && budgets_[chosen].ignored == Ignored::no) ||
                        bounds.registers() < bounds_of(chosen).registers();
    if (better) chosen = entry;
  }
}

// The count in force at each instruction that needs many: the largest of all paths to it.
void RegisterBudgets::follow_setmaxnreg(std::uint32_t entry, std::uint32_t start) {
  const ir::Function& function = module_.functions[entry];
  Budget& budget = budgets_[entry];
  const flow::Graph& graph = graphs_[entry];
  if (!graph.is_complete()) return;
  const flow::Selection events(graph, function, [](const ir::Inst& inst) {
    return is(inst, isa::Trait::set_registers) || is_wgmma(effects(inst)) || moves_tensor_memory(effects(inst));
  });
  const auto changes = [&](const ir::Inst& inst, std::int64_t& count) {
    if (!is(inst, isa::Trait::set_registers)) return false;
    if (const auto to = new_count(function, inst))
      count = inst.guard == ir::RegId::absent ? to->count : std::max(count, to->count);
    return true;
  };
  std::vector<std::int64_t> in(graph.size(), -1);
  in[0] = start;
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    std::int64_t count = in[block];
    open.pop_back();
    for (const std::uint32_t item : events.in(block)) changes(function.body[item], count);
    for (const std::uint32_t n : graph.successors(block))
      if (count > in[n]) in[n] = count, open.push_back(n);
  }
  for (std::uint32_t b = 0; b < graph.size(); ++b) {
    std::int64_t count = in[b];
    if (count < 0) continue;  // nothing leads here
    for (const std::uint32_t item : events.in(b)) {
      const ir::Inst& inst = function.body[item];
      if (changes(inst, count)) continue;
      budget.most[item] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, unbounded_registers));
      if (is_wgmma(effects(inst)) && register_need(function, inst).needed > budget.most[item])
        budget.ignored = Ignored::for_an_instruction;
    }
  }
}

const RegisterBudgets::Budget* RegisterBudgets::find(const ir::Function& function) const {
  const auto index = static_cast<std::size_t>(&function - module_.functions.data());
  return index < budgets_.size() ? &budgets_[index] : nullptr;
}

std::uint32_t RegisterBudgets::at(const ir::Function& function, std::uint32_t item) const {
  const Budget* budget = find(function);
  if (budget == nullptr || budget->entry == none) return unbounded_registers;
  if (budget->ignored == Ignored::no)
    if (const auto found = budget->most.find(item); found != budget->most.end()) return found->second;
  // A device function runs under whatever its callers have set.
  if (!function.is_entry && budgets_[budget->entry].ignored == Ignored::no) return unbounded_registers;
  return bounds_of(budget->entry).registers();
}

std::optional<std::uint32_t> RegisterBudgets::start(const ir::Function& entry) const {
  const Budget* budget = find(entry);
  if (budget == nullptr || !entry.is_entry || budget->setmaxnreg.empty() || budget->ignored != Ignored::no) return std::nullopt;
  return bounds_of(budget->entry).registers();
}

void RegisterBudgets::check(Report& report, const ir::Function& function) const {
  const Budget* budget = find(function);
  if (budget == nullptr || budget->entry == none) return;  // nothing launches it
  if (!budget->setmaxnreg.empty()) {
    say_ignored(report, function, *budget);
    check_counts(report, function, *budget);
  }
  if (!budget->needy.empty()) check_needs(report, function, *budget);
}

void RegisterBudgets::say_ignored(Report& report, const ir::Function& function, const Budget& budget) const {
  const ir::Inst& first = function.body[budget.setmaxnreg.front()];
  const auto warn = [&](std::string message, std::string_view hint) {
    report.warning(function, first, Kind::setmaxnreg_ignored, std::move(message)).hint(std::string(hint));
  };
  switch (budgets_[budget.entry].ignored) {
    case Ignored::no:
      return;
    case Ignored::for_debugging:
      return warn("ptxas ignores `setmaxnreg` in a module for debugging", "without `debug` in `.target` it counts (C7505)");
    case Ignored::for_calls:
      return warn("ptxas ignores `setmaxnreg` in a kernel that calls through a register, or a function that calls itself",
                  "it does not know the registers of what is called (C7506)");
    case Ignored::for_an_instruction:
      return;  // said at the instruction
    case Ignored::without_a_start:
      return warn(
          cat("ptxas ignores `setmaxnreg`: it does not know how many registers a thread ",
              function.is_entry ? "" : cat("of `", module_.str(module_.functions[budget.entry].name), "` "), "starts with"),
          "`.maxnreg`, or `.minnctapersm 1` beside `.maxntid` or `.reqntid` (C7508)");
  }
}

void RegisterBudgets::check_counts(Report& report, const ir::Function& function, const Budget& budget) const {
  const LaunchBounds bounds = bounds_of(budget.entry);
  const std::uint32_t start = bounds.registers();
  const std::string_view entry = module_.str(module_.functions[budget.entry].name);
  std::int64_t least = start, most = 0;
  const ir::Inst* largest = nullptr;
  for (const std::uint32_t item : budget.setmaxnreg) {
    const auto to = new_count(function, function.body[item]);
    if (!to) continue;
    if (!to->takes)
      least = std::min(least, to->count);
    else if (to->count > most)
      most = to->count, largest = &function.body[item];
  }
  // ptxas compares with the largest count of the program, the program with what its threads have.
  const std::int64_t max_ever = largest == nullptr ? start : most;
  for (const std::uint32_t item : budget.setmaxnreg) {
    const auto to = new_count(function, function.body[item]);
    if (!to || to->takes || (to->count <= start && to->count <= max_ever)) continue;
    constexpr std::string_view hint =
        "`.dec` gives registers back, `.inc` takes them; the launch bounds say what a thread starts with";
    if (to->count > max_ever)
      report
          .error(function, function.body[item], Kind::register_budget,
                 cat("`setmaxnreg.dec` to ", to->count, " registers; a thread of `", entry, "` ",
                     largest == nullptr ? "starts with " : "never has more than ", max_ever,
                     largest == nullptr ? " at most" : ", its largest `setmaxnreg.inc`"))
          .hint(std::string(hint));
    else if (budgets_[budget.entry].ignored == Ignored::no)
      report
          .warning(
              function, function.body[item], Kind::register_budget,
              cat("`setmaxnreg.dec` to ", to->count, " registers; a thread of `", entry, "` starts with ", start, " at most"))
          .hint(std::string(hint));
  }
  if (!function.is_entry || budget.ignored != Ignored::no) return;
  // One warpgroup takes what the others gave back; more than that never comes.
  if (largest == nullptr || !bounds.threads || *bounds.threads % 128 != 0 || *bounds.threads < 128) return;
  const auto threads = static_cast<std::int64_t>(*bounds.threads);
  if (most * 128 + least * (threads - 128) <= std::int64_t{start} * threads) return;
  report
      .warning(function, *largest, Kind::register_budget,
               cat("`setmaxnreg.inc` to ", most, " registers waits forever: ", threads, " threads start with ", start,
                   " each, and the others keep ", least))
      .hint("`setmaxnreg.dec` in the other warpgroups gives their registers back");
}

void RegisterBudgets::check_needs(Report& report, const ir::Function& function, const Budget& budget) const {
  const std::uint32_t start = bounds_of(budget.entry).registers();
  const std::string_view entry = module_.str(module_.functions[budget.entry].name);
  bool said_ignored = false;
  for (const std::uint32_t item : budget.needy) {
    const ir::Inst& inst = function.body[item];
    const RegisterNeed need = register_need(function, inst);
    const std::string what = cat(is_wgmma(effects(inst)) ? "this mma" : "this instruction", " needs ", need.needed);
    if (need.needed > start) {
      report
          .error(function, inst, Kind::register_budget,
                 cat(what, " registers; the launch bounds of `", entry, "` leave a thread ", start))
          .hint(is_wgmma(effects(inst)) ? "a smaller N, fewer threads, or a larger `.maxnreg`"
                                        : "a smaller shape, fewer threads, or a larger `.maxnreg`");
      continue;
    }
    const auto found = budget.most.find(item);
    if (found == budget.most.end()) continue;
    const std::uint32_t here = found->second;
    if (is_wgmma(effects(inst)) && need.needed > here && !said_ignored) {
      said_ignored = true;
      report
          .warning(function, inst, Kind::setmaxnreg_ignored,
                   cat("ptxas ignores `setmaxnreg`: it leaves a thread ", here, " registers here, and ", what))
          .hint("a larger count, or the mma in the warps that `.inc` serves (C7507)");
    } else if (moves_tensor_memory(effects(inst)) && need.named >= here && budget.ignored == Ignored::no) {
      report
          .error(function, inst, Kind::register_budget,
                 cat("this instruction names ", need.named, " registers; `setmaxnreg` leaves a thread ", here, " here"))
          .hint("a smaller shape, or a larger count (C7600)");
    }
  }
}

}  // namespace ptx::check
