#include "ptx/check/operands.hpp"

#include <algorithm>

#include "ptx/check/handles.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::check {
namespace {

using ir::OperandKind;
using ir::StateSpace;

class Operands {
 public:
  Operands(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst)
      : report_(report), names_(names), function_(function), inst_(inst), form_(isa::form(inst.form)) {}

  void run() {
    const std::span<const ir::Operand> operands = function_.operands_of(inst_);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      negation(operands[i]);
      sinks(operands, i);
      functions(operands[i]);
      if (operands[i].unified) unified(operands[i]);
    }
    const isa::Traits traits = form_.traits;
    const isa::Quirks quirks = form_.quirks;
    if (traits.has(isa::Trait::move) && operands.size() == 2) address_of_global(operands[1]);
    if (traits.has(isa::Trait::shared_address)) shared_name(operands[1]);
    if (traits.has(isa::Trait::generic_address) && operands.size() == 2) generic_of_name(operands[1]);
    if (quirks.has(isa::Quirk::address_by_register) && !operands.empty()) bulk_address(operands[0]);
    if (quirks.has(isa::Quirk::no_doubles_for_halves) && operands.size() > 1) stored_halves(operands[1]);
    if (quirks.has(isa::Quirk::no_name_for_mask)) multicast(operands);
    if (traits.has(isa::Trait::tcgen05_mma))
      for (const ir::Operand& o : operands) tensor_memory(o);
  }

 private:
  Diagnostic& bad(std::string message) { return report_.error(function_, inst_, Kind::operand_mismatch, std::move(message)); }
  std::string shown(const ir::Operand& operand) const {
    std::string text;
    ir::spell(report_.module(), function_, operand, text);
    return text;
  }
  std::string spelled() const { return isa::spell(form_, inst_.choices); }

  // bra !L; mov.u64 %rd0, !x
  void negation(const ir::Operand& o) {
    if (!o.negated || o.kind == OperandKind::reg || o.kind == OperandKind::part) return;
    if (o.kind == OperandKind::special && isa::specials()[o.payload].type == Type::pred) return;
    bad(cat('`', shown(o), "` negates something that is not a predicate"));
  }

  // {%r1, f}: the address of a function is a value by itself, and none in a vector
  void functions(const ir::Operand& o) {
    if (o.kind != OperandKind::vector) return;
    for (const ir::Operand& e : function_.parts(o))
      if (const Entity* entity = e.kind == OperandKind::symbol ? names_.find(ir::StringId(e.payload)) : nullptr;
          entity != nullptr && entity->meaning == Meaning::function)
        bad(cat(describe(report_.module(), *entity), " is no element of a vector")).hint("`mov` its address into a register");
  }

  // ptxas takes the type of a vector, and of a pair of predicates, from its elements.
  void sinks(std::span<const ir::Operand> operands, std::size_t i) {
    const ir::Operand& o = operands[i];
    const auto is_sink = [](const ir::Operand& e) { return e.kind == OperandKind::sink; };
    if (o.kind == OperandKind::vector) {
      const std::span<const ir::Operand> parts = function_.parts(o);
      if (!parts.empty() && std::all_of(parts.begin(), parts.end(), is_sink))
        bad(cat("no element of `", shown(o), "` has a type: one of them at least is a register"))
            .hint("read into a register that is not used");
    } else if (o.piped && i > 0 && is_sink(o) && is_sink(operands[i - 1]) && form_.quirks.has(isa::Quirk::needs_a_result)) {
      bad(cat('`', spelled(), "` discards both of its results; one of them at least is a register"));
    }
  }

  // manual: ld, atom: ".unified" says of an address that it is of unified memory
  void unified(const ir::Operand& o) {
    const std::span<const ir::Operand> parts = function_.parts(o);
    const bool takes = form_.traits.has_any(isa::Trait::load | isa::Trait::load_uniform | isa::Trait::atomic);
    std::string_view space;
    for (const isa::OperandSpec& spec : form_.operands)
      if (spec.role == isa::Role::address) space = form_.space(spec, inst_.choices);
    if (!takes || (!space.empty() && space != "global"))
      bad(cat("`.unified` is for global and generic addresses of `ld`, `ldu` and `atom`; this is `", spelled(), '`'));
    else if (!parts.empty() && parts[0].kind == OperandKind::symbol)
      bad(cat("`.unified` is for addresses in registers; `", shown(parts[0]), "` is a name"))
          .hint("a variable says it itself, `.attribute(.unified(…))`");
  }

  // Global memory has addresses of 64 bits, and ptxas does not cut them to 32.
  void address_of_global(const ir::Operand& source) {
    const ir::Operand& name = source.kind == OperandKind::element ? function_.parts(source)[0] : source;
    if (name.kind != OperandKind::symbol) return;
    const Entity* entity = names_.find(ir::StringId(name.payload));
    if (entity == nullptr || entity->meaning != Meaning::variable || entity->space != StateSpace::global) return;
    const Type read = form_.type(form_.operands[1].type, inst_.choices);
    const Type type = read != Type::none ? read : form_.type(form_.operands[0].type, inst_.choices);
    if (isa::bits(type) != 32) return;
    bad(cat("the address of ", describe(report_.module(), *entity), " has 64 bits; `", spelled(), "` has 32"))
        .hint("`mov.u64` into a 64-bit register");
  }

  // mapa.u64 %rd, g+4: the table knows of names alone what they name
  void shared_name(const ir::Operand& source) {
    if (source.kind != OperandKind::text) return;
    const std::string_view whole = report_.module().str(ir::StringId(source.payload));
    const ir::StringId name = report_.module().interned(whole.substr(0, whole.find('+')));
    const Entity* entity = name.valid() ? names_.find(name) : nullptr;
    if (entity == nullptr || (entity->meaning == Meaning::variable && entity->space == StateSpace::shared)) return;
    bad(cat('`', spelled(), "` takes a shared variable; ", describe(report_.module(), *entity), " is in another space"));
  }

  // Generic addresses have 64 bits: ptxas takes a module with shorter ones for a program of 32 bits, and compiles none.
  void generic_of_name(const ir::Operand& source) {
    const bool name =
        source.kind == OperandKind::symbol || source.kind == OperandKind::element || source.kind == OperandKind::text;
    if (!name || isa::bits(form_.type(form_.operands[0].type, inst_.choices)) != 32) return;
    bad(cat("the generic address of `", shown(source), "` has 64 bits; `", spelled(), "` has 32"))
        .hint("`cvta….u64` into a 64-bit register");
  }

  // Where a matrix is in tensor memory ptxas looks at the register's type.
  void tensor_memory(const ir::Operand& address) {
    if (address.kind != OperandKind::address) return;
    const ir::Operand& base = function_.parts(address)[0];
    if (base.kind != OperandKind::reg) return;
    if (const Type type = function_.reg(ir::RegId(base.payload)).type; type != Type::b32)
      bad(cat("an address in tensor memory of `", short_name(form_), "` is in a .b32 register; `", shown(base), "` is a .",
              isa::name(type), " register"))
          .hint("declare it .b32; `mov.b32` copies it");
  }

  // wmma.store.d….f16 [a], {%r0, 1.0, …}: a double is no pair of halves
  void stored_halves(const ir::Operand& matrix) {
    if (matrix.kind != OperandKind::vector) return;
    if (form_.type(form_.operands[1].type, inst_.choices) != Type::f16x2) return;
    for (const ir::Operand& e : function_.parts(matrix))
      if (e.kind == OperandKind::floating && e.count == 64)
        bad(cat('`', shown(e), "` among the registers of `", spelled(), "` has 64 bits; a pair of halves has 32"));
  }

  // The mask of CTAs is a number or a register: 16 bits hold no address.
  void multicast(std::span<const ir::Operand> operands) {
    if (form_.chosen(inst_.choices, "multicast").empty()) return;
    for (const ir::Operand& o : operands)
      if (o.kind == OperandKind::text)
        bad(cat("`", shown(o), "` is the address of a variable; the mask of `", spelled(), "` has 16 bits"));
  }

  void bulk_address(const ir::Operand& address) {
    const std::span<const ir::Operand> parts = function_.parts(address);
    if (address.kind == OperandKind::address && parts[0].kind == OperandKind::symbol)
      bad(cat('`', spelled(), "` takes its address in a register; `", shown(parts[0]), "` is a name"))
          .hint("`mov` the address into a register first");
  }

  Report& report_;
  const Names& names_;
  const ir::Function& function_;
  const ir::Inst& inst_;
  const isa::Form& form_;
};

}  // namespace

void check_operands(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst) {
  Operands(report, names, function, inst).run();
  check_handles(report, names, function, inst);
}

void check_offset_of_name(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst,
                          ir::StringId text) {
  const ir::Module& module = report.module();
  const std::string_view whole = module.str(text);
  const std::string_view name = whole.substr(0, whole.find('+'));
  if (!is_identifier(name)) return;  // which part of a register, or numbers alone
  const ir::StringId id = module.interned(name);
  const Entity* entity = id.valid() ? names.find(id) : nullptr;
  if (entity == nullptr || entity->meaning == Meaning::reg)
    report.error(function, inst, Kind::undefined_symbol,
                 cat('`', name, "` is not declared here: no variable, parameter or function has this name"));
  else if (entity->meaning == Meaning::function)
    report.error(function, inst, Kind::operand_mismatch,
                 cat('`', whole, "` adds to the address of a function, and ptxas does no arithmetic with it"));
}

void check_guarded_param(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst) {
  for (const ir::Operand& o : function.operands_of(inst)) {
    if (o.kind != OperandKind::address && o.kind != OperandKind::element) continue;
    const ir::Operand& base = function.parts(o)[0];
    if (base.kind != OperandKind::symbol) continue;
    const Entity* entity = names.find(ir::StringId(base.payload));
    if (entity == nullptr || entity->meaning != Meaning::variable || entity->space != StateSpace::param) continue;
    report
        .error(function, inst, Kind::bad_guard,
               cat("an access to ", describe(report.module(), *entity), " of the body cannot have a guard: it is part of a call"))
        .hint("branch around the call, or move what is passed into a register first");
  }
}

}  // namespace ptx::check
