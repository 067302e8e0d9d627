// What an operand of a form accepts under the choices made: its type, vector length and state space, whether it is there, and
// whether an argument fits it. Templates over Form, which the program uses, and ParsedForm, which the C++ dots use while
// compiling, so that both give one answer.
#pragma once

#include <string_view>

#include "ptx/isa/fit.hpp"
#include "ptx/isa/form.hpp"
#include "ptx/isa/fragment.hpp"

namespace ptx::isa::rules {

/// Index of the slot of that name, or -1.
template <class F>
constexpr int slot(const F& form, std::string_view name) {
  for (std::size_t i = 0; i < form.slots.size(); ++i)
    if (form.slots[i].name == name) return static_cast<int>(i);
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
    return bits(dtype) == 32 ? dtype : Type::b32;
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

// ---- does an argument fit? ------------------------------------------------------------------------------------------

constexpr bool register_fits(const Arg& arg, Type type, bool wider) {
  return arg.kind == ArgKind::reg && (wider ? fits_wider(arg.type, type) : fits(arg.type, type));
}

constexpr bool scalar_fits(const Arg& arg, Type type, const OperandSpec& o) {
  if (arg.negated && !o.negatable) return false;
  // in the author's hands a whole number may stand for a float: it is encoded as one
  const bool encodes = o.role == Role::value && bits(type) >= 32 && is_float(type);
  switch (arg.kind) {
    case ArgKind::reg:
      return o.role != Role::imm && register_fits(arg, type, o.wider);
    case ArgKind::sink:
      return o.sink;
    case ArgKind::integer:
      if (arg.encodable && encodes) return true;
      if (type == Type::pred) return o.role == Role::value && (arg.integer == 0 || arg.integer == 1);
      [[fallthrough]];
    case ArgKind::text:
      return o.role != Role::reg && type != Type::pred && !is_float(type) && kind(type) != TypeKind::packed;
    case ArgKind::floating:
      return encodes || (o.role == Role::value && (bits(type) == 32 || bits(type) == 64) && kind(type) == TypeKind::bits);
    default:
      return false;
  }
}

template <class F>
constexpr bool operand_fits(const F& f, const Choices& c, const OperandSpec& o, const Arg& arg) {
  switch (o.role) {
    case Role::address: {
      if (arg.kind != ArgKind::address || arg.elements.empty()) return false;
      // PTX adds only constants inside the brackets
      if (arg.elements.size() > 1 && arg.elements[1].kind != ArgKind::integer && arg.elements[1].kind != ArgKind::text)
        return false;
      const Arg& base = arg.elements[0];
      if (base.kind == ArgKind::symbol) return true;
      const std::string_view where = space(f, o, c);
      if (base.kind == ArgKind::integer || base.kind == ArgKind::text) return where == "local";  // ptxas: nowhere else
      if (base.kind != ArgKind::reg || is_float(base.type) || base.type == Type::pred) return false;
      // ptxas takes 32-bit registers only where the window fits in 32 bits
      const bool narrow = where.starts_with("shared") || where.starts_with("local") || where.starts_with("param") ||
                          where.starts_with("const") || where == "tmem";
      return bits(base.type) == 64 || (narrow && bits(base.type) == 32);
    }
    case Role::tensor: {
      if (arg.kind != ArgKind::tensor || arg.elements.size() != 2) return false;
      const Arg& coords = arg.elements[1];
      const int n = count(f, o.coords_count, c);
      const Type coords_type = type(f, o.coords_type, c);
      if (coords.kind != ArgKind::vector || static_cast<int>(coords.elements.size()) != n) return false;
      for (const Arg& e : coords.elements)
        if (!(register_fits(e, coords_type, false) || e.kind == ArgKind::integer || e.kind == ArgKind::text)) return false;
      const Arg& base = arg.elements[0];
      return base.kind == ArgKind::symbol || (base.kind == ArgKind::reg && bits(base.type) == 64 && !is_float(base.type));
    }
    case Role::label:
    case Role::symbol:
      return arg.kind == ArgKind::symbol;
    case Role::sink:
      return arg.kind == ArgKind::sink;
    case Role::special:
      return arg.kind == ArgKind::special &&
             (o.wider ? fits_wider(arg.type, type(f, o.type, c)) : fits(arg.type, type(f, o.type, c)));
    default:
      break;
  }
  const Type wanted = type(f, o.type, c);
  const int n = count(f, o.count, c);
  if (o.count.empty() || (n == 1 && arg.kind != ArgKind::vector)) return scalar_fits(arg, wanted, o);
  if (arg.kind != ArgKind::vector || static_cast<int>(arg.elements.size()) != n) return false;
  int width = 0;  // of the registers so far: wider ones may be used, but not side by side with others
  for (const Arg& e : arg.elements) {
    if (!scalar_fits(e, wanted, o) && !(e.kind == ArgKind::sink && o.access == Access::write)) return false;
    if (e.kind != ArgKind::reg) continue;
    if (width != 0 && width != bits(e.type)) return false;
    width = bits(e.type);
  }
  return true;
}

/// True when an integer immediate fits the width of `type`. A negative number may stand for its bit pattern in an unsigned type:
/// the mask of shfl.sync is written -1.
constexpr bool in_range(std::int64_t value, Type type) {
  const int n = bits(type);
  if (n >= 64 || n == 0) return true;
  return value >= -(std::int64_t{1} << (n - 1)) && value <= (std::int64_t{1} << n) - 1;
}

}  // namespace ptx::isa::rules
