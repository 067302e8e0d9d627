// What the choices made at a form's slots come to: an operand's type, vector length and state space, and whether it is there.
// Templates over Form, which the program uses, and what the C++ dots have of it while compiling (write/instruction.hpp).
#pragma once

#include <string_view>

#include "ptx/isa/operand.hpp"
#include "ptx/isa/table/fragment.hpp"
#include "ptx/isa/type.hpp"

namespace ptx::isa::rules {

/// Index of the slot of that name, or -1.
template <class F>
constexpr int slot(const F& form, std::string_view name) {
  for (std::size_t i = 0; i < form.slots.size(); ++i) {
    const std::string_view of = form.slots[i].name;
    if (of.size() == name.size() && !name.empty() && of[0] == name[0] && of == name) return static_cast<int>(i);
  }
  return -1;
}

/// The word chosen at a slot, "" when none is.
template <class F>
constexpr std::string_view chosen(const F& form, const Choices& choices, int slot) {
  if (slot < 0) return {};
  const auto index = static_cast<std::size_t>(slot);
  return choices[index] == 0 ? std::string_view() : form.slots[index].choices[choices[index] - 1u].word;
}
template <class F>
constexpr std::string_view chosen(const F& form, const Choices& choices, std::string_view slot_name) {
  return chosen(form, choices, slot(form, slot_name));
}

/// True when the operand is there under these choices (an optional one counts as there).
template <class F>
constexpr bool present(const F& form, const OperandSpec& operand, const Choices& choices) {
  if (!operand.conditional) return true;
  const std::string_view word = chosen(form, choices, operand.when_slot);
  if (word.empty()) return false;
  if (operand.when_choices.empty()) return true;
  for (std::string_view rest = operand.when_choices; !rest.empty();) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar) == word) return true;
    rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
  }
  return false;
}

/// The instruction type that a type word means: a literal type, a slot's choice, `wide` or `dreg`.
template <class F>
constexpr Type type(const F& form, std::string_view word, const Choices& choices) {
  if (word.empty()) return Type::none;
  if (word == "wide") return widened(type(form, "type", choices));
  if (word == "dreg") {
    const Type dtype = type(form, "dtype", choices);
    return bits(dtype) == 32 ? dtype : Type::f16x2;
  }
  if (const int s = slot(form, word); s >= 0) {
    // A literal slot may share its spelling with a type: `.f32` in `fma.rn.f32` is both.
    return type_from_name(chosen(form, choices, s)).value_or(type_from_name(word).value_or(Type::none));
  }
  return type_from_name(word).value_or(Type::none);
}

/// The vector length that a count word means: 1 for "", a slot's choice (v4, x2, 3d), a fixed one, or a fragment's size; 0
/// unknown.
template <class F>
constexpr int count(const F& form, std::string_view word, const Choices& choices) {
  if (word.empty()) return 1;
  if (const int s = slot(form, word); s >= 0) {
    word = chosen(form, choices, s);
    if (word.empty()) return 1;  // an optional .vec that is not written
  }
  std::string_view digits = word;
  if (digits.starts_with('v') || digits.starts_with('x')) digits.remove_prefix(1);
  if (digits.ends_with('d')) digits.remove_suffix(1);
  int n = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9')
      return fragment_count(word, [&](std::string_view slot_name) { return chosen(form, choices, slot_name); });
    n = 10 * n + (c - '0');
  }
  return n;
}

/// The state space that an address operand lies in ("global", "shared::cta", …); "" for generic.
template <class F>
constexpr std::string_view space(const F& form, const OperandSpec& operand, const Choices& choices) {
  if (const int s = slot(form, operand.space); s >= 0) return chosen(form, choices, s);
  return operand.space;
}

}  // namespace ptx::isa::rules
