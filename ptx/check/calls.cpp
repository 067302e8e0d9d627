#include "ptx/check/calls.hpp"

#include <algorithm>

#include "ptx/flow/flow.hpp"

namespace ptx::check {
namespace {

using ir::OperandKind;

// A call's operands by what they are: `(results), target, (arguments), list`.
struct Parts {
  const ir::Operand *results = nullptr, *target = nullptr, *arguments = nullptr, *list = nullptr;
};

Parts parts_of(std::span<const ir::Operand> operands) {
  Parts parts;
  for (const ir::Operand& o : operands) {
    if (o.kind == OperandKind::list)
      (parts.target == nullptr ? parts.results : parts.arguments) = &o;
    else
      (parts.target == nullptr ? parts.target : parts.list) = &o;
  }
  return parts;
}

class Call {
 public:
  Call(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst)
      : report_(report), names_(names), function_(function), inst_(inst), parts_(parts_of(function.operands_of(inst))) {}

  void run() {
    if (parts_.target == nullptr) return;
    if (parts_.target->kind == OperandKind::reg) return indirect();
    if (parts_.target->kind != OperandKind::symbol)
      return mismatch("a call goes to a function or, through a register, to an address");
    const Entity* entity = names_.find(ir::StringId(parts_.target->payload));
    if (entity == nullptr) return;  // reported as an undefined symbol
    if (entity->meaning != Meaning::function)
      return mismatch(cat("a call goes to a function; ", describe(module(), *entity), " is not one"));
    const ir::Function& callee = module().functions[entity->index];
    if (callee.is_entry) return mismatch(cat("`", module().str(callee.name), "` is an entry, which only a launch can start"));
    if (parts_.list != nullptr) return mismatch("a call of a function by its name takes no prototype: the function has its own");
    against(callee.returns, callee.params, cat('`', module().str(callee.name), '`'), true);
  }

 private:
  [[nodiscard]] const ir::Module& module() const { return report_.module(); }
  void mismatch(std::string message, std::string_view hint = {}) {
    Diagnostic& d = report_.error(function_, inst_, Kind::call_mismatch, std::move(message));
    if (!hint.empty()) d.hint(cat(hint));
  }

  void indirect() {
    constexpr std::string_view how =
        "label a `.callprototype` or `.calltargets` before the call, and name the label as the last operand";
    if (const Type type = function_.reg(ir::RegId(parts_.target->payload)).type; isa::is_float(type))
      return mismatch(cat("a call goes to an address, which a .", isa::name(type), " register cannot hold"));
    if (parts_.list == nullptr) return mismatch("a call through a register needs a prototype", how);
    if (parts_.list->kind != OperandKind::label) return mismatch("the last operand of an indirect call is a label", how);
    const ir::Inst* list = flow::labelled_list(function_, ir::LabelId(parts_.list->payload));
    if (list == nullptr || list->kind == ir::ItemKind::branch_targets)
      return mismatch(
          cat("the label `", module().str(function_.labels[parts_.list->payload].name), "` does not name a prototype"), how);
    if (list > &inst_) return mismatch("the prototype comes after the call", "move it before the call");
    if (list->kind == ir::ItemKind::prototype) {
      if (list->payload >= function_.prototypes.size()) return;
      const ir::Prototype& prototype = function_.prototypes[list->payload];
      return against(prototype.returns, prototype.params, "the prototype", false);
    }
    if (list->payload >= function_.target_lists.size()) return;
    for (const ir::Operand& target : function_.target_lists[list->payload]) {
      const Entity* entity = target.kind == OperandKind::symbol ? names_.find(ir::StringId(target.payload)) : nullptr;
      if (entity == nullptr || entity->meaning != Meaning::function) continue;  // reported at the list
      const ir::Function& callee = module().functions[entity->index];
      against(callee.returns, callee.params, cat('`', module().str(callee.name), '`'), true);
    }
  }

  void against(const std::vector<ir::Param>& returns, const std::vector<ir::Param>& params, const std::string& callee,
               bool function) {
    const std::span<const ir::Operand> none;
    const auto results = parts_.results != nullptr ? function_.parts(*parts_.results) : none;
    const auto arguments = parts_.arguments != nullptr ? function_.parts(*parts_.arguments) : none;
    if (results.size() != returns.size())
      return mismatch(cat(callee, " returns ", count(returns.size(), "value"), "; this call takes ", results.size()));
    const bool variadic = !params.empty() && is_variadic(params.back());
    if (arguments.size() != params.size() && !(variadic && arguments.size() + 1 == params.size()))
      return mismatch(cat(callee, " takes ", count(params.size(), "argument"), "; this call gives ", arguments.size()));
    for (std::size_t i = 0; i < results.size(); ++i) match(results[i], returns[i], "result", i, true);
    for (std::size_t i = 0; i < arguments.size(); ++i) match(arguments[i], params[i], "argument", i, false);
    if (!function) return;
    for (std::size_t i = 0; i < results.size(); ++i) passable(results[i], returns[i], callee);
    for (std::size_t i = 0; i < arguments.size(); ++i) passable(arguments[i], params[i], callee);
  }
  // Seen in ptxas 13.0: it passes small untyped registers, and refuses predicates and small integers unless they are constants.
  void passable(const ir::Operand& given, const ir::Param& p, const std::string& callee) {
    const bool small = p.type == Type::pred || (isa::is_integer(p.type) && isa::bits(p.type) < 32);
    if (!p.in_register || !small || given.kind != OperandKind::reg || without_abi()) return;
    mismatch(cat(callee, " has `", module().str(p.name), "` in a .", isa::name(p.type), " register, which a call cannot pass"),
             "declare it .param, or wider");
  }
  // A function with several results turns the calling convention off for its module, says ptxas.
  [[nodiscard]] bool without_abi() const {
    return std::any_of(module().functions.begin(), module().functions.end(),
                       [](const ir::Function& f) { return f.returns.size() > 1; });
  }
  static bool is_variadic(const ir::Param& p) { return !p.in_register && (p.unsized || p.elements == 0u); }
  static std::string count(std::size_t n, std::string_view what) { return cat(n, ' ', what, n == 1 ? "" : "s"); }

  void match(const ir::Operand& given, const ir::Param& param, std::string_view role, std::size_t i, bool written) {
    const auto bad = [&](const std::string& seen) {
      std::string shown;
      ir::spell(module(), function_, given, shown);
      mismatch(cat(role, ' ', i + 1, " `", shown, "` is ", seen, "; ", expected(param)));
    };
    switch (given.kind) {
      case OperandKind::reg: {
        const Type type = function_.reg(ir::RegId(given.payload)).type;
        if (!param.in_register && (param.elements || param.unsized)) return bad("a register");
        if (!isa::fits(type, param.type) && type != param.type) return bad(cat("a .", isa::name(type), " register"));
        return;
      }
      case OperandKind::integer:
      case OperandKind::expression:
      case OperandKind::text:
        if (written || isa::is_float(param.type) || param.type == Type::pred) return bad("an integer");
        return;
      case OperandKind::floating:
        if (written || isa::is_integer(param.type) || param.type == Type::pred) return bad("a floating-point number");
        return;
      case OperandKind::sink:
        if (!written) return bad("a sink, where a value is read");
        return;
      case OperandKind::symbol:
        return variable(given, param, bad);
      case OperandKind::vector:
        return;  // its elements are registers of a .reg vector parameter
      default:
        return bad("not something that a call can pass");
    }
  }

  template <class Bad>
  void variable(const ir::Operand& given, const ir::Param& param, const Bad& bad) {
    const Entity* entity = names_.find(ir::StringId(given.payload));
    if (entity == nullptr || entity->meaning == Meaning::reg) return;  // reported as an undefined symbol
    if (entity->meaning == Meaning::parameter)
      return mismatch(cat(describe(module(), *entity), " of this function cannot be handed on as it is"),
                      "`ld.param` it, and `st.param` it into a .param variable of the body");
    if (entity->meaning == Meaning::function || entity->space != ir::StateSpace::param ||
        entity->index >= function_.variables.size())
      return bad(describe(module(), *entity));
    const ir::Variable& v = function_.variables[entity->index];
    const bool array = v.elements.has_value() || v.unsized, wanted = param.elements.has_value() || param.unsized;
    const auto sized = [](Type type, bool many, std::uint64_t bytes) {
      return many ? cat("an array of ", bytes, " bytes") : cat('.', isa::name(type));
    };
    if (array != wanted) return bad(sized(v.type, array, v.bytes()));
    if (array ? v.bytes() != param.bytes() && !is_variadic(param) : !isa::fits(v.type, param.type))
      return bad(sized(v.type, array, v.bytes()));
    const std::uint64_t align = v.align != 0 ? v.align : static_cast<std::uint64_t>((isa::bits(v.type) + 7) / 8);
    if (align != param.alignment()) return bad(cat("aligned to ", align, " bytes"));
  }

  [[nodiscard]] std::string expected(const ir::Param& p) const {
    std::string out = cat("what fits is ", p.in_register ? ".reg ." : ".param .", isa::name(p.type));
    if (p.unsized || p.elements)
      out += cat(" of ", p.unsized ? std::string("any size") : cat(p.bytes(), " bytes"), ", aligned to ", p.alignment());
    return out;
  }

  Report& report_;
  const Names& names_;
  const ir::Function& function_;
  const ir::Inst& inst_;
  Parts parts_;
};

}  // namespace

void check_call(Report& report, const Names& names, const ir::Function& function, const ir::Inst& call) {
  Call(report, names, function, call).run();
}

void check_branch(Report& report, const ir::Function& function, const ir::Inst& branch) {
  const std::span<const ir::Operand> operands = function.operands_of(branch);
  if (operands.empty() || operands.back().kind != OperandKind::label) return;
  const ir::LabelId label(operands.back().payload);
  const ir::Inst* list = flow::labelled_list(function, label);
  if (list == nullptr) return;
  report.error(function, branch, Kind::operand_mismatch,
               cat("the label `", report.module().str(function.labels[label.index].name), "` names a ",
                   list->kind == ir::ItemKind::prototype ? "prototype" : "list", ", not a place"));
}

void check_branch_list(Report& report, const ir::Function& function, const ir::Inst& branch) {
  const std::span<const ir::Operand> operands = function.operands_of(branch);
  if (operands.empty() || operands.back().kind != OperandKind::label) return;
  const ir::LabelId label(operands.back().payload);
  const ir::Inst* list = flow::labelled_list(function, label);
  const std::string_view name = report.module().str(function.labels[label.index].name);
  if (list == nullptr || list->kind != ir::ItemKind::branch_targets)
    report.error(function, branch, Kind::operand_mismatch, cat("the label `", name, "` does not name a list of branch targets"))
        .hint(cat("`", name, ": .branchtargets …;` before the branch"));
  else if (list > &branch)
    report.error(function, branch, Kind::operand_mismatch, cat("the list `", name, "` of branch targets comes after the branch"))
        .hint("move it before the branch");
}

void check_branch_targets(Report& report, const ir::Function& function, const ir::Inst& item) {
  if (item.payload >= function.target_lists.size()) return;
  for (const ir::Operand& target : function.target_lists[item.payload]) {
    if (target.kind == OperandKind::label) continue;
    std::string shown;
    ir::spell(report.module(), function, target, shown);
    report.error(function, item, Kind::operand_mismatch, cat("the branch target `", shown, "` is not a label"));
  }
}

void check_call_targets(Report& report, const Names& names, const ir::Function& function, const ir::Inst& item) {
  if (item.payload >= function.target_lists.size()) return;
  for (const ir::Operand& target : function.target_lists[item.payload]) {
    const std::string_view spelled = target.kind == OperandKind::symbol ? report.module().str(ir::StringId(target.payload))
                                     : target.kind == OperandKind::label && target.payload < function.labels.size()
                                         ? report.module().str(function.labels[target.payload].name)
                                         : std::string_view();
    const Entity* entity = target.kind == OperandKind::symbol ? names.find(ir::StringId(target.payload)) : nullptr;
    if (entity == nullptr)
      report.error(function, item, Kind::undefined_symbol,
                   cat("the call target `", spelled, "` is not declared before this list"));
    else if (entity->meaning == Meaning::function && report.module().functions[entity->index].is_entry)
      report
          .warning(function, item, Kind::call_mismatch,
                   cat("a call goes to a device function; ", describe(report.module(), *entity), " is an entry"))
          .hint("ptxas takes it in this list; no call can go there");
    else if (entity->meaning != Meaning::function)
      report.error(function, item, Kind::call_mismatch,
                   cat("a call goes to a device function; ", describe(report.module(), *entity), " is not one"));
  }
}

}  // namespace ptx::check
