#include "ptx/check/handles.hpp"

#include <algorithm>

#include "ptx/check/declarations.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::check {
namespace {

using ir::OperandKind;

class Handles {
 public:
  Handles(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst)
      : report_(report), names_(names), function_(function), inst_(inst), form_(isa::form(inst.form)) {}

  void run() {
    using isa::Trait;
    const isa::Traits traits = form_.traits;
    const bool handle = traits.has_any(Trait::texture_handle | Trait::surface_handle);
    const bool accesses = traits.has_any(Trait::load | Trait::load_uniform | Trait::store | Trait::atomic | Trait::reduction |
                                         Trait::cache_line | Trait::store_to_all);
    const std::span<const ir::Operand> operands = function_.operands_of(inst_);
    for (const ir::Operand& o : operands) {
      if (o.kind == OperandKind::tensor && has_operand_in("texture"))
        texture(function_.parts(o));
      else if (o.kind == OperandKind::tensor && has_operand_in("surface"))
        named(function_.parts(o)[0], "surfref");
      else if (o.kind == OperandKind::address && handle)
        named(function_.parts(o)[0], traits.has(Trait::surface_handle) ? "surfref" : asks_sampler() ? "samplerref" : "texref");
      else if (o.kind == OperandKind::address && accesses)
        memory(function_.parts(o)[0]);
    }
    if (traits.has(Trait::move) && operands.size() == 2) moved(operands[1]);
  }

 private:
  bool has_operand_in(std::string_view space) const {
    return std::any_of(form_.operands.begin(), form_.operands.end(), [&](const isa::OperandSpec& o) { return o.space == space; });
  }
  const Entity* entity(const ir::Operand& o) const {
    const ir::Operand& name = o.kind == OperandKind::element ? function_.parts(o)[0] : o;
    return name.kind == OperandKind::symbol ? names_.find(ir::StringId(name.payload)) : nullptr;
  }
  std::string spelled() const { return isa::spell(form_, inst_.choices); }
  std::string what(const Entity& e) const {
    const std::string name = describe(report_.module(), e);
    return e.type == Type::none ? name : cat(name, ", a .", isa::name(e.type), ',');
  }
  Diagnostic& bad(std::string message) { return report_.error(function_, inst_, Kind::operand_mismatch, std::move(message)); }

  bool independent() const { return has_option(report_.module(), "texmode_independent"); }
  // Samplers answer for themselves where textures have none.
  bool asks_sampler() const {
    const isa::Word query = isa::meaning_of(form_.chosen(inst_.choices, "query"));
    return query == isa::Word::of_sampler || (query == isa::Word::of_texture_sampler && independent());
  }

  void named(const ir::Operand& handle, std::string_view type) {
    const Entity* e = entity(handle);
    if (e == nullptr || isa::name(e->type) == type) return;
    bad(cat('`', spelled(), "` takes a .", type, " by name; ", what(*e), " is not one"))
        .hint("a 64-bit register holds a handle that the launch hands over");
  }

  void texture(std::span<const ir::Operand> parts) {
    named(parts[0], "texref");
    if (parts.size() == 3)
      sampler(parts[1]);
    else if (independent())
      bad(cat('`', spelled(), "` names no sampler, and `.target …, texmode_independent` gives textures none of their own"))
          .hint("`[texture, sampler, {…}]`");
  }

  void sampler(const ir::Operand& handle) {
    if (independent()) return named(handle, "samplerref");
    const Entity* e = entity(handle);
    if (e == nullptr) return;
    // ptxas looks at no more than the width
    const bool wide = isa::bits(e->type) == 64 && !e->array;
    if (!wide && !is_opaque(e->type) && e->meaning != Meaning::function) return named(handle, "samplerref");
    report_
        .warning(function_, inst_, Kind::operand_mismatch,
                 cat(what(*e), " is not a sampler: there are none without `.target …, texmode_independent`"))
        .hint("the texture has its sampler; ptxas says nothing");
  }

  void memory(const ir::Operand& base) {
    const Entity* e = entity(base);
    if (e == nullptr || !is_opaque(e->type)) return;
    bad(cat('`', spelled(), "` accesses ", describe(report_.module(), *e), ", a .", isa::name(e->type), ", which is not memory"))
        .hint("`mov.u64` takes its handle; `txq` and `suq` ask about it");
  }

  void moved(const ir::Operand& source) {
    const Entity* e = entity(source);
    if (e == nullptr || !is_opaque(e->type)) return;
    const Type type = form_.type(form_.operands[0].type, inst_.choices);
    if (type == Type::u64 && form_.operands.size() == 2 && form_.chosen(inst_.choices, "vec").empty()) return;
    bad(cat("the handle of ", describe(report_.module(), *e), ", a .", isa::name(e->type),
            ", is moved only by `mov.u64`; this is `", spelled(), '`'));
  }

  Report& report_;
  const Names& names_;
  const ir::Function& function_;
  const ir::Inst& inst_;
  const isa::Form& form_;
};

}  // namespace

void check_handles(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst) {
  Handles(report, names, function, inst).run();
}

}  // namespace ptx::check
