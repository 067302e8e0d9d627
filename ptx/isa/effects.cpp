#include "ptx/isa/effects.hpp"

#include <utility>

#include "ptx/isa/word.hpp"

namespace ptx::isa {

bool is_descriptor(const Form& form, const OperandSpec& operand) {
  return operand.role != Role::address && operand.role != Role::tensor && form.row->effects.reads_at(operand.name);
}

MemoryAccesses memory_accesses(const Form& form, const Choices& choices) {
  const Effects& effects = form.row->effects;
  MemoryAccesses all;
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    const OperandSpec& o = form.operands[i];
    MemoryAccess access{.operand = static_cast<std::uint8_t>(i),
                        .reads = effects.reads_at(o.name),
                        .writes = effects.writes_at(o.name),
                        .signals = effects.signals == o.name,
                        .space = form.space(o, choices),
                        .proxy = effects.proxy};
    if ((!access.reads && !access.writes && !access.signals) || !form.present(o, choices)) continue;
    if (o.role == Role::tensor && o.space.empty()) access.space = "global";  // a tensor map is of a tensor in global memory
    if (is_descriptor(form, o)) access.space = "shared";
    all.add(access);
  }
  return all;
}

namespace {

Scope written_scope(const Form& form, const Choices& choices) {
  for (std::size_t i = 0; i < form.slots.size(); ++i)
    if (choices[i] != 0)
      if (const Scope written = scope_of(form.slots[i].choices[choices[i] - 1u].word); written != Scope::none) return written;
  return Scope::none;
}

}  // namespace

Scope scope(const Form& form, const Choices& choices) {
  const Scope written = written_scope(form, choices);
  return written != Scope::none ? written : form.row->effects.scope;
}

Ordering ordering(const Form& form, const Choices& choices) {
  const Effects& effects = form.row->effects;
  Ordering result;
  result.scope = scope(form, choices);
  result.scope_is_written = written_scope(form, choices) != Scope::none;
  if (effects.sync == Sync::access || (effects.volatile_ && form.traits.has_any(Flags(Trait::load) | Trait::store))) {
    result.strong = true;
    if (result.scope == Scope::none) result.scope = Scope::system;
  }
  for (std::size_t i = 0; i < form.slots.size(); ++i) switch (meaning_of(form.chosen(choices, static_cast<int>(i)))) {
      case Word::relaxed:
        return result;
      case Word::acquire:
        result.acquires = true;
        return result;
      case Word::release:
        result.releases = true;
        return result;
      case Word::acquire_release:
        result.acquires = result.releases = true;
        return result;
      default:
        break;
    }
  // A word that was left out: fences and barriers order both ways, and of an mbarrier arrivals release and waits acquire.
  if (effects.sync == Sync::fence || effects.sync == Sync::barrier || effects.sync == Sync::mbarrier)
    result.acquires = result.releases = true;
  return result;
}

bool writes_carry(const Form& form, const Choices& choices) {
  if (!form.traits.has(Trait::carry_out)) return false;
  for (std::size_t i = 0; i < form.slots.size(); ++i)
    if (meaning_of(form.chosen(choices, static_cast<int>(i))) == Word::carry_out) return true;
  return false;
}

int aligned_slot(const Form& form) {
  for (std::size_t i = 0; i < form.slots.size(); ++i)
    if (meaning_of(form.slots[i].choices[0].word) == Word::aligned) return static_cast<int>(i);
  return -1;
}

Converged converged_by(const Form& form, const Choices& choices) {
  const int aligned = aligned_slot(form);
  const bool left_out = aligned >= 0 && choices[static_cast<std::size_t>(aligned)] == 0;
  return left_out ? Converged::none : form.row->effects.converged;
}

}  // namespace ptx::isa
