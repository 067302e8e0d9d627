#include "ptx/vgpu/decode/calls.hpp"

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/callees.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace ptx::vgpu {
namespace {

using ir::ItemKind;
using ir::OperandKind;

constexpr std::size_t max_items = std::size_t{1} << 20;  // of an expanded body
// Up to here each call has a body of its own, which costs nothing when it runs; beyond, and where an address may be of a function
// that runs already, each function has one.
constexpr std::size_t max_items_in_place = std::size_t{1} << 17;
constexpr std::size_t max_depth = 4000;  // of calls inside of each other: of the host's stack, too
constexpr std::uint32_t nowhere = 0xFFFFFFFFu;

// A form with its modifiers chosen, by its spelling: "mov.b32".
using Found = isa::ModifierTree::State;
std::optional<Found> find_form(std::string_view spelling) {
  const isa::ModifierTree* node = &isa::ModifierTree::root();
  while (node != nullptr) {
    const std::size_t dot = spelling.find('.');
    node = node->follow(spelling.substr(0, dot));
    if (dot == std::string_view::npos) break;
    spelling.remove_prefix(dot + 1);
  }
  if (node == nullptr || node->complete().empty()) return std::nullopt;
  return node->complete().front();
}

// The opcode of the instructions that have a trait.
std::string opcode_with(isa::Trait trait) {
  const auto has = [&](const isa::Form& form) { return form.traits.has(trait); };
  return std::string(std::find_if(isa::forms().begin(), isa::forms().end(), has)->opcode);
}

// `ld.param.b32` as `ld.local.b32`.
std::optional<Found> as_local(const ir::Inst& inst) {
  std::string spelling = isa::spell(isa::form(inst.form), inst.choices);
  const std::size_t at = spelling.find(".param");  // or .param::func, .param::entry
  if (at == std::string::npos) return std::nullopt;
  spelling.replace(at, spelling.find('.', at + 1) - at, ".local");
  return find_form(spelling);
}

// `ld`, `st` and `mov` of values as calls pass them.
std::string untyped(Type type) { return cat("b", isa::bits(isa::register_type(type))); }

class Expander {
 public:
  Expander(const ir::Module& module, std::size_t function)
      : module_(module), callees_(module), entry_(function), one_body_(callees_.need_one_body(function, max_items_in_place)) {}

  std::shared_ptr<Expanded> run() {
    const ir::Function& entry = module_.functions[entry_];
    ir::Function& f = out_->function;
    f = entry;
    f.body.clear();
    for (ir::Label& label : f.labels) label.item = nowhere;
    out_->variables.clear();
    for (std::uint32_t i = 0; i < entry.variables.size(); ++i) out_->variables.push_back({static_cast<std::uint32_t>(entry_), i});
    for (std::uint32_t i = 0; i < entry.variables.size(); ++i)
      if (f.variables[i].space == ir::StateSpace::param) make_local(i);
    for (const ir::Variable& v : entry.variables)
      if (v.space == ir::StateSpace::param) passed_.push_back(v.name);
    stack_.push_back(entry_);
    body(entry, entry_, Bases{});
    return std::move(out_);
  }

 private:
  // What is added to the indices of a copied function.
  struct Bases {
    std::uint32_t regs = 0, operands = 0, constants = 0, labels = 0, variables = 0, lists = 0, locs = 0, prototypes = 0;
    std::uint32_t done = nowhere;  // the label that `ret` goes to; nowhere: it ends the thread
  };

  void make_local(std::uint32_t variable) { out_->function.variables[variable].space = ir::StateSpace::local; }

  std::uint32_t add(ir::Inst item, std::size_t function, std::size_t index) {
    out_->function.body.push_back(item);
    out_->items.push_back({static_cast<std::uint32_t>(function), static_cast<std::uint32_t>(index)});
    return static_cast<std::uint32_t>(out_->function.body.size() - 1);
  }
  std::uint32_t new_label() {
    out_->function.labels.push_back({});
    return static_cast<std::uint32_t>(out_->function.labels.size() - 1);
  }
  ir::RegId new_predicate() {
    ir::Function& f = out_->function;
    ir::RegDecl decl;
    decl.type = Type::pred;
    ir::Register reg;
    reg.type = Type::pred;
    reg.decl.index = static_cast<std::uint32_t>(f.reg_decls.size());
    f.reg_decls.push_back(decl);
    f.regs.push_back(reg);
    return ir::RegId(static_cast<std::uint32_t>(f.regs.size() - 1));
  }
  void place_label(std::uint32_t label, std::size_t function, std::size_t index) {
    ir::Inst item;
    item.kind = ItemKind::label;
    item.payload = label;
    out_->function.labels[label].item = add(item, function, index);
  }

  // An instruction of ours, at a place of the author's.
  void put(const Found& found, std::initializer_list<ir::Operand> operands, const ir::Inst& at, std::size_t function,
           std::size_t index, std::uint32_t guard = ir::RegId::absent, bool negated = false) {
    ir::Inst inst;
    inst.form = found.form;
    inst.choices = found.choices;
    inst.payload = static_cast<std::uint32_t>(out_->function.operands.size());
    inst.operand_count = static_cast<std::uint8_t>(operands.size());
    inst.guard = guard;
    inst.guard_negated = negated;
    inst.where = at.where;
    out_->function.operands.insert(out_->function.operands.end(), operands.begin(), operands.end());
    add(inst, function, index);
  }
  static ir::Operand label_operand(std::uint32_t label) { return {.kind = OperandKind::label, .payload = label}; }
  ir::Operand address_of(ir::StringId name) {
    const auto first = static_cast<std::uint32_t>(out_->function.operands.size());
    out_->function.operands.push_back({.kind = OperandKind::symbol, .payload = name.index});
    return {.kind = OperandKind::address, .count = 1, .payload = first};
  }

  // Copies a function's stores; its registers are new ones.
  Bases copy_stores(const ir::Function& f, std::size_t number) {
    ir::Function& to = out_->function;
    Bases bases;
    bases.regs = static_cast<std::uint32_t>(to.regs.size());
    bases.operands = static_cast<std::uint32_t>(to.operands.size());
    bases.constants = static_cast<std::uint32_t>(to.constants.size());
    bases.labels = static_cast<std::uint32_t>(to.labels.size());
    bases.lists = static_cast<std::uint32_t>(to.target_lists.size());
    bases.locs = static_cast<std::uint32_t>(to.locs.size());
    bases.prototypes = static_cast<std::uint32_t>(to.prototypes.size());
    const auto decls = static_cast<std::uint32_t>(to.reg_decls.size());
    to.reg_decls.insert(to.reg_decls.end(), f.reg_decls.begin(), f.reg_decls.end());
    for (ir::Register reg : f.regs) {
      reg.decl.index += decls;
      to.regs.push_back(reg);
    }
    to.constants.insert(to.constants.end(), f.constants.begin(), f.constants.end());
    for (const ir::Operand& operand : f.operands) to.operands.push_back(moved(operand, bases));
    for (const ir::Label& label : f.labels) to.labels.push_back({label.name, nowhere});
    for (std::vector<ir::Operand> list : f.target_lists) {
      for (ir::Operand& operand : list) operand = moved(operand, bases);
      to.target_lists.push_back(std::move(list));
    }
    to.locs.insert(to.locs.end(), f.locs.begin(), f.locs.end());
    to.prototypes.insert(to.prototypes.end(), f.prototypes.begin(), f.prototypes.end());
    // Variables are there once, however often the function is called.
    const auto [known, is_new] = variables_of_.try_emplace(number, static_cast<std::uint32_t>(to.variables.size()));
    bases.variables = known->second;
    if (is_new)
      for (std::uint32_t i = 0; i < f.variables.size(); ++i) {
        to.variables.push_back(f.variables[i]);
        out_->variables.push_back({static_cast<std::uint32_t>(number), i});
        if (f.variables[i].space == ir::StateSpace::param) make_local(static_cast<std::uint32_t>(to.variables.size() - 1));
      }
    return bases;
  }
  static ir::Operand moved(ir::Operand operand, const Bases& bases) {
    switch (operand.kind) {
      case OperandKind::reg:
        operand.payload += bases.regs;
        break;
      case OperandKind::integer:
      case OperandKind::floating:
        operand.payload += bases.constants;
        break;
      case OperandKind::label:
        operand.payload += bases.labels;
        break;
      default:
        if (ir::has_parts(operand.kind)) operand.payload += bases.operands;
    }
    return operand;
  }

  // The items of a function, its stores copied already.
  void body(const ir::Function& f, std::size_t number, const Bases& bases) {
    const std::size_t outer = visible_.size(), outer_begin = std::exchange(visible_begin_, outer);
    std::vector<std::size_t> open;
    for (const std::uint32_t i : ir::leading_declarations(module_, f).variables)
      visible_.emplace_back(f.variables[i].name, bases.variables + i);
    for (std::size_t i = 0; i < f.body.size(); ++i) {
      ir::Inst item = f.body[i];
      switch (item.kind) {
        case ItemKind::inst:
          item.payload += bases.operands;
          if (item.guard_id().valid()) item.guard += bases.regs;
          if (is_call(item)) {
            call(item, number, i);
            continue;
          }
          if (bases.done != nowhere && isa::form(item.form).traits.has(isa::Trait::return_)) {
            put(bra_, {label_operand(bases.done)}, item, number, i, item.guard, item.guard_negated);
            continue;
          }
          if (accesses_passed(item, number == entry_))
            if (const auto local = as_local(item)) {
              item.form = local->form;
              item.choices = local->choices;
            }
          break;
        case ItemKind::label:
          item.payload += bases.labels;
          out_->function.labels[item.payload].item = static_cast<std::uint32_t>(out_->function.body.size());
          break;
        case ItemKind::open:
          open.push_back(visible_.size());
          break;
        case ItemKind::close:
          if (open.empty()) break;
          visible_.resize(open.back());
          open.pop_back();
          break;
        case ItemKind::variable:
          visible_.emplace_back(f.variables[item.payload].name, item.payload + bases.variables);
          item.payload += bases.variables;
          break;
        case ItemKind::branch_targets:
        case ItemKind::call_targets:
          item.payload += bases.lists;
          break;
        case ItemKind::loc:
          item.payload += bases.locs;
          break;
        case ItemKind::prototype:
          item.payload += bases.prototypes;
          break;
        default:
          break;
      }
      add(item, number, i);
    }
    visible_.resize(outer);
    visible_begin_ = outer_begin;
  }

  // True for an access to what is passed in .param space: a variable of the body, or a parameter of the function around it. By a
  // register it is what the words say, and without one what stands around it: a kernel's parameters, or a function's (manual:
  // "ld": ::entry is assumed in a kernel, ::func in a device function).
  [[nodiscard]] bool accesses_passed(const ir::Inst& item, bool in_kernel) const {
    const ir::Function& f = out_->function;
    for (const ir::Operand& operand : f.operands_of(item)) {
      if (operand.kind != OperandKind::address) continue;
      const ir::Operand& base = f.parts(operand)[0];
      if (base.kind == OperandKind::reg) {
        const isa::Form& form = isa::form(item.form);
        for (const isa::OperandSpec& spec : form.operands)
          if (const std::string_view space = form.space(spec, item.choices); space.starts_with("param"))
            return space.ends_with("func") || (!in_kernel && !space.ends_with("entry"));
        return false;
      }
      if (base.kind != OperandKind::symbol) continue;
      return std::find(passed_.begin(), passed_.end(), ir::StringId(base.payload)) != passed_.end();
    }
    return false;
  }

  struct Passed {
    std::vector<ir::Operand> given, taken;
  };
  void call(const ir::Inst& inst, std::size_t number, std::size_t index) {
    const std::uint32_t at = add(inst, number, index);  // it stays, and does nothing itself
    const auto refuse = [&](std::string why) { out_->refused.emplace(at, std::move(why)); };
    const ir::Operand *results = nullptr, *target = nullptr, *arguments = nullptr;
    // by value: what is put in moves the store
    const auto operands = out_->function.operands_of(inst);
    const std::vector<ir::Operand> kept(operands.begin(), operands.end());
    for (const ir::Operand& o : kept) {
      if (o.kind == OperandKind::list)
        (target == nullptr ? results : arguments) = &o;
      else if (target == nullptr)
        target = &o;
    }
    const auto list = [&](const ir::Operand* operand) {
      const auto parts = operand != nullptr ? out_->function.parts(*operand) : std::span<const ir::Operand>();
      return std::vector<ir::Operand>(parts.begin(), parts.end());
    };
    const Passed passed{list(arguments), list(results)};
    if (target == nullptr || target->kind != OperandKind::symbol) return call_by_address(inst, number, index, passed);
    const ir::StringId name(target->payload);
    const std::optional<std::size_t> found = callees_.named(name);
    if (const auto known = callees_.of_driver(name); !found && known) {
      out_->host_calls.emplace(at, HostCall{*known, 0, {}});
      return;
    }
    if (!found) return refuse(cat("the module has no body of `", module_.str(name), '`'));
    const std::uint32_t behind = new_label();
    if (inst.guard_id().valid()) put(bra_, {label_operand(behind)}, inst, number, index, inst.guard, !inst.guard_negated);
    if (auto why = call(*found, inst, number, index, passed); !why.empty()) return refuse(std::move(why));
    place_label(behind, number, index);
  }

  // Any function that the address may be of is called where it is; the call itself stands before each of them.
  void call_by_address(ir::Inst inst, std::size_t number, std::size_t index, const Passed& passed) {
    const std::uint32_t behind = new_label();
    out_->function.body.pop_back();
    out_->items.pop_back();
    if (inst.guard_id().valid()) put(bra_, {label_operand(behind)}, inst, number, index, inst.guard, !inst.guard_negated);
    inst.guard = ir::RegId::absent;
    inst.guard_negated = false;
    std::string refused;
    for (const std::size_t callee : callees_.of_call(module_.functions[number], module_.functions[number].body[index])) {
      const std::uint32_t next = new_label();
      const ir::RegId is_it = new_predicate();
      out_->host_calls.emplace(
          add(inst, number, index),
          HostCall{HostFunction::is_callee, function_address(module_, module_.functions[callee].name), is_it});
      put(bra_, {label_operand(next)}, inst, number, index, is_it.index, true);
      if (refused = call(callee, inst, number, index, passed); !refused.empty()) break;
      put(bra_, {label_operand(behind)}, inst, number, index);
      place_label(next, number, index);
    }
    const std::uint32_t at = add(inst, number, index);
    if (refused.empty())
      out_->host_calls.emplace(at, HostCall{HostFunction::no_callee, 0, {}});
    else
      out_->refused.emplace(at, std::move(refused));
    place_label(behind, number, index);
  }

  static bool is_noreturn(const ir::Function& f) {
    return std::any_of(f.directives.begin(), f.directives.end(), [](const ir::Directive& d) { return d.name == "noreturn"; });
  }

  // Puts the body of a function here; or why not.
  std::string call(std::size_t callee, const ir::Inst& inst, std::size_t number, std::size_t index, const Passed& passed) {
    const std::vector<ir::Operand>&given = passed.given, &taken = passed.taken;
    const ir::Function& f = module_.functions[callee];
    if (const auto body = bodies_.find(callee); body != bodies_.end()) {
      ir::Inst again = inst;
      again.guard = ir::RegId::absent;
      again.guard_negated = false;
      out_->host_calls.emplace(add(again, number, index), HostCall{HostFunction::enter, 0, {}, body->second});
      return {};
    }
    if (stack_.size() > max_depth) return cat("its calls are more than ", max_depth, " inside of each other");
    if (out_->function.body.size() + f.body.size() > max_items)
      return cat("with its calls in place the kernel has more than ", max_items, " instructions");
    if (given.size() != f.params.size() || taken.size() != f.returns.size()) return "the executor knows no variadic functions";
    for (const auto* params : {&f.returns, &f.params})
      for (const ir::Param& param : *params)
        if (param.vector != 1 && param.in_register) return "the executor passes no vectors in registers";

    const Bases bases = with_done(copy_stores(f, callee));
    ir::Inst open;
    open.kind = ItemKind::open;
    open.where = inst.where;
    const std::size_t frame = out_->frames.size();
    open.payload = 1 + static_cast<std::uint32_t>(frame);
    out_->frames.emplace_back();
    for (const std::uint32_t variable : ir::leading_declarations(module_, f).variables)
      out_->frames[frame].variables.push_back(bases.variables + variable);
    add(open, number, index);
    const std::size_t outer_names = passed_.size();
    const Caller caller{inst, number, index, frame, bases};
    for (std::size_t i = 0; i < given.size(); ++i) pass(caller, f.params[i], given[i]);
    for (std::size_t i = 0; i < taken.size(); ++i) declare(caller, f.returns[i], taken[i]);
    for (const ir::Variable& v : f.variables)
      if (v.space == ir::StateSpace::param) passed_.push_back(v.name);
    stack_.push_back(callee);
    const bool entered = one_body_ || callees_.is_recursive(callee);
    if (entered) begin_recursive(caller, f, callee);
    body(f, callee, bases);
    stack_.pop_back();
    place_label(bases.done, number, index);
    if (is_noreturn(f)) {
      ir::Inst returned = inst;
      returned.guard = ir::RegId::absent;
      returned.guard_negated = false;
      out_->host_calls.emplace(add(returned, number, index),
                               HostCall{HostFunction::no_return, 0, {}, static_cast<std::uint32_t>(callee)});
    }
    if (entered) {
      ir::Inst end = inst;
      end.guard = ir::RegId::absent;
      end.guard_negated = false;
      out_->host_calls.emplace(add(end, number, index), HostCall{HostFunction::leave, 0, {}, bodies_.at(callee)});
      if (!one_body_) bodies_.erase(callee);
    }
    for (std::size_t i = 0; i < taken.size(); ++i) take(caller, f.returns[i], taken[i]);
    passed_.resize(outer_names);
    ir::Inst close;
    close.kind = ItemKind::close;
    add(close, number, index);
    return {};
  }

  struct Caller {
    const ir::Inst& inst;
    std::size_t number, index, frame;
    Bases bases;
  };
  // Its body begins at a label, and others of its calls know what its parameters are.
  void begin_recursive(const Caller& caller, const ir::Function& f, std::size_t callee) {
    Expanded::Recursive recursive;
    recursive.begin = new_label();
    const auto place = [&](const ir::Param& param) {
      Expanded::Recursive::Place found{!param.in_register, 0, param};
      if (param.in_register) {
        found.index = reg_of(caller, param).payload;
      } else {
        for (const Expanded::Binding& binding : out_->frames[caller.frame].bindings)
          if (binding.name == param.name) found.index = binding.variable;
      }
      return found;
    };
    for (const ir::Param& param : f.params) recursive.params.push_back(place(param));
    for (const ir::Param& param : f.returns) recursive.returns.push_back(place(param));
    put(bra_, {label_operand(recursive.begin)}, caller.inst, caller.number, caller.index);
    place_label(recursive.begin, caller.number, caller.index);
    bodies_.emplace(callee, static_cast<std::uint32_t>(out_->recursive.size()));
    out_->recursive.push_back(std::move(recursive));
  }
  Bases with_done(Bases bases) {
    bases.done = new_label();
    return bases;
  }
  static ir::Operand reg_of(const Caller& caller, const ir::Param& param) {
    return {.kind = OperandKind::reg, .payload = caller.bases.regs + param.reg.index};
  }
  void put_at(const Caller& caller, const std::string& spelling, std::initializer_list<ir::Operand> operands) {
    if (const auto found = find_form(spelling)) put(*found, operands, caller.inst, caller.number, caller.index);
  }
  // The variable that a name of .param space is in the callee: the caller's, or a fresh one.
  std::uint32_t bind(const Caller& caller, const ir::Param& param, const ir::Operand& given) {
    std::uint32_t variable = nowhere;
    if (given.kind == OperandKind::symbol)
      for (std::size_t i = visible_begin_; i < visible_.size(); ++i)  // the innermost is the last
        if (visible_[i].first.index == given.payload) variable = visible_[i].second;
    if (variable == nowhere) {
      ir::Variable v;
      v.name = param.name;
      v.space = ir::StateSpace::local;
      v.type = param.type;
      v.align = param.align;
      v.elements = param.elements;
      v.vector = param.vector;
      out_->function.variables.push_back(v);
      out_->variables.push_back({static_cast<std::uint32_t>(caller.number), nowhere});
      variable = static_cast<std::uint32_t>(out_->function.variables.size() - 1);
    }
    out_->frames[caller.frame].bindings.push_back({param.name, variable});
    passed_.push_back(param.name);
    return variable;
  }
  // What the callee finds when it begins.
  void pass(const Caller& caller, const ir::Param& param, const ir::Operand& given) {
    if (param.in_register) {
      if (given.kind == OperandKind::symbol) {
        put_at(caller, move_ + untyped(param.type), {reg_of(caller, param), given});
        return;
      }
      // a number is written as its type says, anything else by its bits
      const bool is_float = param.type == Type::f32 || param.type == Type::f64;
      put_at(caller, move_ + (is_float ? std::string(isa::name(param.type)) : untyped(param.type)),
             {reg_of(caller, param), given});
      return;
    }
    bind(caller, param, given);
    if (given.kind != OperandKind::symbol) put_at(caller, store_ + untyped(param.type), {address_of(param.name), given});
  }
  // Where its results go.
  void declare(const Caller& caller, const ir::Param& param, const ir::Operand& taken) {
    if (!param.in_register) bind(caller, param, taken);
  }
  void take(const Caller& caller, const ir::Param& param, const ir::Operand& taken) {
    if (taken.kind == OperandKind::sink || taken.kind == OperandKind::symbol) return;
    if (param.in_register)
      put_at(caller, move_ + untyped(param.type), {taken, reg_of(caller, param)});
    else
      put_at(caller, load_ + untyped(param.type), {taken, address_of(param.name)});
  }

  const ir::Module& module_;
  Callees callees_;
  std::size_t entry_;
  std::shared_ptr<Expanded> out_ = std::make_shared<Expanded>();
  bool one_body_;                                                // of each function, for all calls of it
  std::unordered_map<std::size_t, std::uint32_t> bodies_;        // that other calls enter, by function: of Expanded::recursive
  std::vector<std::size_t> stack_;                               // functions that are being expanded
  std::vector<std::pair<ir::StringId, std::uint32_t>> visible_;  // variables in scope, of all functions being expanded
  std::size_t visible_begin_ = 0;                                // of the innermost one
  std::vector<ir::StringId> passed_;                             // names of .param space, of bodies and callees
  std::unordered_map<std::size_t, std::uint32_t> variables_of_;  // by function: its first variable
  // How they begin that pass a value along.
  const std::string move_ = opcode_with(isa::Trait::move) + '.', load_ = opcode_with(isa::Trait::load) + ".local.",
                    store_ = opcode_with(isa::Trait::store) + ".local.";
  Found bra_ = find_form(opcode_with(isa::Trait::branch)).value_or(Found{});
};

}  // namespace

std::shared_ptr<const Expanded> expand_calls(const ir::Module& module, std::size_t function, const ir::Listing* listing) {
  const Store<ir::Inst>& body = module.functions[function].body;
  if (std::none_of(body.begin(), body.end(), is_call)) return nullptr;
  std::shared_ptr<Expanded> expanded = Expander(module, function).run();
  if (listing == nullptr || function >= listing->line_of.size()) return expanded;
  expanded->listing = *listing;
  std::vector<std::uint32_t>& lines = expanded->listing.line_of[function];
  lines.clear();
  for (const Expanded::Origin& origin : expanded->items) {
    const bool known = origin.function < listing->line_of.size() && origin.index < listing->line_of[origin.function].size();
    lines.push_back(known ? listing->line_of[origin.function][origin.index] : 0);
  }
  return expanded;
}

}  // namespace ptx::vgpu
