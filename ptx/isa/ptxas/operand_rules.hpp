// What ptxas takes for an operand, and what it refuses, where the manual's syntax line says neither: rules.hpp asks. Seen with
// ptxas 13.0 (`ptx_oracle`).
#pragma once

#include <span>
#include <string_view>

#include "ptx/isa/choices.hpp"
#include "ptx/isa/operand.hpp"
#include "ptx/isa/ptxas/quirk.hpp"
#include "ptx/isa/type.hpp"

namespace ptx::isa::rules {

// ptxas looks less closely at operands of the instruction's own type than at those whose type is fixed, as a mask's: there it
// takes the name of a function, whose value is its address, and a pair of f16 for any 32-bit integer.
constexpr bool loosely_fits(const Arg& arg, Type type, const OperandSpec& o) {
  if (arg.kind == ArgKind::reg && arg.type == Type::f16x2 && o.role != Role::imm)
    return type == Type::u16x2 || type == Type::s16x2 || (is_integer(type) && (o.wider ? bits(type) <= 32 : bits(type) == 32));
  if (o.role != Role::value) return false;
  if (arg.kind == ArgKind::symbol)
    return arg.space == "function" && type != Type::pred && type != Type::bf16 && type != Type::bf16x2;
  return false;
}
constexpr bool is_one_of(std::string_view word, std::string_view list) {  // list: between spaces
  for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1))
    if (list[at - 1] == ' ' && list[at + word.size()] == ' ') return true;
  return false;
}
template <class F>
constexpr bool is_loose(const F& form, const OperandSpec& o) {
  if (form.quirks.has(Quirk::judges_closely)) return false;
  return (o.type == "wide" || slot(form, o.type) >= 0) &&
         !(o.access == Access::read && form.quirks.has(Quirk::judges_closely_if_read));
}

// ptxas lowers these to functions, or to other instructions, on some target at least: neither takes names.
template <class F>
constexpr bool is_lowered(const F& form, Type type) {
  if (form.quirks.has(Quirk::is_lowered_if_wide)) return bits(type) == 64 || is_float(type);
  return form.quirks.has(Quirk::is_lowered);
}

// A name and an offset, wherever ptxas wants a number and does not need to know it.
template <class F>
constexpr bool text_fits(const F& form, Type type, const OperandSpec& o) {
  if (is_lowered(form, type) || form.quirks.has(Quirk::no_names_with_offset)) return false;
  return o.role == Role::value && o.name != "policy" && o.name != "state" && o.part.empty() && type != Type::pred &&
         !is_float(type) && kind(type) != TypeKind::packed;
}

// What a factor really is that ptxas calls pairs of f16: the type of an author's registers. No text declares one of it.
template <class F>
constexpr Type factor_type(const F& form, Type type) {
  if (type != Type::f16x2 || !form.quirks.has(Quirk::factor_called_halves)) return type;
  return slot(form, "bf16") >= 0 ? Type::bf16x2 : Type::tf32;
}

// ptxas gives a vector the type of its registers when they have one, and that of untyped bits when they differ or numbers stand
// among them; but integers, floats and pairs do not go together.
constexpr bool mixed(std::span<const Arg> elements) {
  Type first = Type::none;
  bool different = false, numbers = false, integers = false, floats = false, pairs = false;
  for (const Arg& e : elements) {
    numbers |= e.kind == ArgKind::integer || e.kind == ArgKind::text || e.kind == ArgKind::floating;
    floats |= e.kind == ArgKind::floating;
    if (e.kind != ArgKind::reg) continue;
    if (e.type == Type::pred) return false;
    integers |= is_integer(e.type);
    floats |= is_float(e.type);
    pairs |= kind(e.type) == TypeKind::packed;
    if (first == Type::none) first = e.type;
    different |= e.type != first;
  }
  return first != Type::none && (different || numbers) && integers + floats + pairs <= 1;
}

// Numbers among the registers of a matrix or of a vector that is stored: those of its type, and bits beside registers.
constexpr bool constant_fits(Quirks quirks, const Arg& arg, Type type, bool untyped, bool alone) {
  if (arg.authored || (alone && bits(type) == 32 && arg.kind == ArgKind::floating)) return false;
  if (type == Type::f16x2 && quirks.has(Quirk::no_numbers_for_halves)) return false;
  if (quirks.has(Quirk::no_float_for_byte) && type == Type::b8 && arg.kind == ArgKind::floating) return false;
  if (quirks.has(Quirk::numbers_of_32_bits) && arg.kind == ArgKind::floating && arg.type != Type::f32) return false;
  if (arg.kind != ArgKind::integer && (arg.kind != ArgKind::floating || arg.type == Type::none)) return false;
  if (untyped && !(is_float(type) && type != Type::bf16)) return true;
  if (arg.kind == ArgKind::integer) return is_integer(type) && !alone;
  return bits(arg.type) == bits(type) && (is_float(type) || kind(type) == TypeKind::bits);
}

// The operands behind a texture's coordinates are overlooked when they are not used: ptxas takes a vector for a level of detail,
// and an integer, as if it were an offset, where the depth of a cube map is compared.
template <class F>
constexpr bool texture_extra_fits(const F& form, const Choices& choices, const Arg& arg, Type type, const OperandSpec& o) {
  if (o.name == "compare")
    return (arg.kind == ArgKind::integer || arg.kind == ArgKind::text) && chosen(form, choices, "geom").ends_with("cube");
  if (o.name != "lod" || arg.kind != ArgKind::vector) return false;
  if (arg.elements.size() != 1 && arg.elements.size() != 2 && arg.elements.size() != 4) return false;
  for (const Arg& e : arg.elements)
    if (e.kind != ArgKind::reg || bits(e.type) != bits(type) || (is_float(e.type) && !is_float(type))) return false;
  return true;
}

// Vectors that ptxas does not take although each element would do: registers of both kinds in a matrix of f64, registers of
// several types in the second one of tf32.
template <class F>
constexpr bool elements_agree(const F& form, const Choices& choices, std::string_view operand, Type type,
                              std::span<const Arg> elements) {
  for (const Arg& e : elements)
    if (e.negated) return false;
  if (!form.quirks.has(Quirk::registers_agree)) return true;
  if (form.quirks.has(Quirk::one_register_is_bits) && elements.size() == 1 && chosen(form, choices, "shape") == "m8n8k16")
    if (const Arg& e = elements[0]; e.kind == ArgKind::floating || is_float(e.type) || kind(e.type) == TypeKind::packed)
      return false;
  bool floats = false, integers = false, different = false;
  for (const Arg& e : elements) {
    floats |= e.kind == ArgKind::reg && is_float(e.type);
    integers |= e.kind == ArgKind::integer || (e.kind == ArgKind::reg && is_integer(e.type));
    different |= e.kind != ArgKind::reg || e.type != elements[0].type;
  }
  if (bits(type) == 64 && floats && integers) return false;
  return !(form.quirks.has(Quirk::factor_of_one_type) && operand == "b" && type == Type::tf32 && different);
}

// The registers and numbers of a vector are integers, floats, pairs of halves, or untyped bits beside one of these: ptxas finds
// no type for others together. A number in an author's hands is encoded as its place needs.
constexpr bool one_sort(std::span<const Arg> elements) {
  bool integers = false, floats = false, pairs = false;
  for (const Arg& e : elements) {
    const bool number = !e.authored;
    integers |= e.kind == ArgKind::reg ? is_integer(e.type) : number && (e.kind == ArgKind::integer || e.kind == ArgKind::text);
    floats |= e.kind == ArgKind::reg ? is_float(e.type) : number && e.kind == ArgKind::floating;
    pairs |= e.kind == ArgKind::reg && kind(e.type) == TypeKind::packed;
  }
  return integers + floats + pairs <= 1;
}

// True when all registers have one type.
constexpr bool alike(std::span<const Arg> elements) {
  for (const Arg& e : elements)
    if (e.kind == ArgKind::reg && e.type != elements[0].type) return false;
  return true;
}

// ptxas takes wider registers for floats of two widths, but not while it flushes or clamps.
template <class F>
constexpr bool refuses_wide_float(const F& form, const Choices& choices, const OperandSpec& o, const Arg& arg, Type type) {
  if (!form.quirks.has(Quirk::wide_floats_for_floats) || arg.kind != ArgKind::reg || !is_float(type)) return false;
  const bool flushes = !chosen(form, choices, "ftz").empty();
  if (o.access != Access::read) return bits(arg.type) > bits(type) && flushes;
  return bits(arg.type) == 128 && (flushes || !chosen(form, choices, "sat").empty());
}

// ptxas makes it a call with integers.
template <class F>
constexpr bool refuses_float(const F& form, const Choices& choices, const Arg& arg) {
  return form.quirks.has(Quirk::is_a_call_for_floats) &&
         (chosen(form, choices, "scope") == "sys" || chosen(form, choices, "op") == "and") &&
         (arg.kind == ArgKind::floating || (arg.kind == ArgKind::reg && is_float(arg.type)));
}

}  // namespace ptx::isa::rules
