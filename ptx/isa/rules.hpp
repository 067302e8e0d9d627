// Which arguments an operand of a form accepts under the choices made. Templates over Form, which the program uses, and what the
// C++ dots have of it while compiling (write/instruction.hpp), so that both give one answer. What ptxas adds to the manual is in
// ptxas/operand_rules.hpp.
#pragma once

#include <string_view>

#include "ptx/isa/choices.hpp"
#include "ptx/isa/operand.hpp"
#include "ptx/isa/ptxas/operand_rules.hpp"
#include "ptx/isa/ptxas/quirk.hpp"
#include "ptx/isa/trait.hpp"
#include "ptx/isa/type.hpp"

namespace ptx::isa::rules {

// A register without a type is one of which nothing but its name is known: any type will do.
constexpr bool register_fits(const Arg& arg, Type type, bool wider) {
  return arg.kind == ArgKind::reg && (arg.type == Type::none || (wider ? fits_wider(arg.type, type) : fits(arg.type, type)));
}
constexpr bool is_wide(Type type, int width) { return type == Type::none || bits(type) == width; }

/// True for the parts that `word` allows: of a register of a scalar video instruction (lane: a byte b0 to b3, a half h0 or h1),
/// the halves or bytes that a SIMD one reads from a pair of registers (select2, select4) or writes (mask2, mask4: highest first).
constexpr bool part_fits(std::string_view word, std::string_view part) {
  if (part.starts_with('.')) part.remove_prefix(1);
  if (part.empty()) return false;
  const bool halves = part[0] == 'h';
  const std::string_view digits = part.substr(1);
  if ((!halves && part[0] != 'b') || digits.empty()) return false;
  const bool lane = word == "lane", mask = word.starts_with("mask");
  if (!lane && halves != word.ends_with('2')) return false;
  const std::size_t max_digits = lane ? 1 : halves ? 2 : 4;
  if (mask || lane ? digits.size() > max_digits : digits.size() != max_digits) return false;
  const int lanes = (halves ? 2 : 4) * (mask || lane ? 1 : 2);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] < '0' || digits[i] >= '0' + lanes) return false;
    if (mask && i != 0 && digits[i] >= digits[i - 1]) return false;
  }
  return true;
}

/// True for an element, `.x` to `.w` or `.r` to `.a`, of a vector register that fits. Other registers have none.
constexpr bool element_fits(const Arg& arg, Type type, bool wider) {
  if (arg.kind != ArgKind::part || arg.elements.empty() || arg.elements[0].kind != ArgKind::vector) return false;
  std::string_view name = arg.shown;
  if (name.starts_with('.')) name.remove_prefix(1);
  return name.size() == 1 && std::string_view("xyzwrgba").find(name[0]) != std::string_view::npos &&
         register_fits(arg.elements[0].elements[0], type, wider);
}

template <class F>
constexpr bool scalar_fits(const F& form, const Arg& arg, Type type, const OperandSpec& o) {
  if (arg.negated && !(type == Type::pred ? o.negatable : o.minus)) return false;
  // in the author's hands a whole number may stand for a float: it is encoded as one
  const bool encodes = o.role == Role::value && bits(type) >= 32 && is_float(type);
  switch (arg.kind) {
    case ArgKind::reg:
      if (o.name == "rbits" && arg.type != Type::b32) return false;  // ptxas: random bits have no other type
      return o.role != Role::imm && register_fits(arg, type, o.wider);
    case ArgKind::part:
      if (arg.elements.empty() || o.role == Role::imm) return false;
      if (o.part.empty()) return element_fits(arg, type, o.wider);  // ptxas: a video instruction reads none
      return part_fits(o.part, arg.shown) && register_fits(arg.elements[0], type, o.wider);
    case ArgKind::sink:
      return o.sink;
    case ArgKind::integer:
      if (arg.authored && encodes) return true;
      if (type == Type::pred)
        return o.role == Role::value &&
               ((!arg.authored && !form.quirks.has(Quirk::predicate_is_0_or_1)) || arg.integer == 0 || arg.integer == 1);
      return o.role != Role::reg && type != Type::pred && !is_float(type) && kind(type) != TypeKind::packed;
    case ArgKind::text:
      return text_fits(form, type, o);
    case ArgKind::floating:
      if (encodes) return true;
      if (o.name == "rbits") return false;
      // ptxas takes .f32 among the registers alone, too, where it counts them as pairs of halves
      if (o.role == Role::reg) return o.access == Access::read && arg.type == Type::f32 && type == Type::b32;
      return o.role == Role::value && kind(type) == TypeKind::bits &&
             (arg.type == Type::none ? bits(type) == 32 || bits(type) == 64 : bits(type) == bits(arg.type));
    default:
      return false;
  }
}

/// True for the spaces whose windows 32 bits do not span: the global one and the generic one, which is "".
constexpr bool needs_wide_address(std::string_view space) {
  return !space.starts_with("shared") && !space.starts_with("local") && !space.starts_with("param") &&
         !space.starts_with("const") && space != "tmem";
}

/// True for g[1], g[%r1] and g[%r1+1] where ptxas takes elements of arrays: as the address of a plain load or store, and as an
/// address that is moved or made generic (manual: "Arrays as Operands").
template <class F>
constexpr bool element_fits(const F& f, const OperandSpec& o, const Arg& arg) {
  if (arg.kind != ArgKind::element || arg.elements.size() < 2) return false;
  const Arg& index = arg.elements[1];
  if (!f.quirks.has(Quirk::takes_elements) || (o.role != Role::symbol && o.role != Role::address)) return false;
  if (index.kind != ArgKind::reg) return index.kind == ArgKind::integer;
  return index.type != Type::pred && bits(index.type) <= 64 && !is_float(index.type) && kind(index.type) != TypeKind::packed;
}

template <class F>
constexpr bool operand_fits(const F& f, const Choices& c, const OperandSpec& o, const Arg& arg) {
  switch (o.role) {
    case Role::address: {
      if (arg.kind == ArgKind::element) return element_fits(f, o, arg);
      if (arg.kind != ArgKind::address || arg.elements.empty()) return false;
      // PTX adds only constants inside the brackets
      if (arg.elements.size() > 1 && arg.elements[1].kind != ArgKind::integer && arg.elements[1].kind != ArgKind::text)
        return false;
      const Arg& base = arg.elements[0];
      if (f.traits.has_any(Trait::texture_handle | Trait::surface_handle))  // not an address
        return arg.elements.size() == 1 &&
               (base.kind == ArgKind::symbol || (base.kind == ArgKind::reg && is_wide(base.type, 64) && !is_float(base.type)));
      if (base.kind == ArgKind::symbol)
        return !f.quirks.has(Quirk::no_names_in_shared) || base.space != "shared";  // ptxas: shared memory has another
      const std::string_view where = space(f, o, c);
      if (base.kind == ArgKind::integer || base.kind == ArgKind::text) return where == "local";  // ptxas: nowhere else
      if (base.kind != ArgKind::reg || is_float(base.type) || base.type == Type::pred) return false;
      if (where == "tmem") return is_wide(base.type, 32) && kind(base.type) != TypeKind::packed;
      if (f.quirks.has(Quirk::no_narrow_address) && base.type != Type::none && bits(base.type) < 32) return false;
      if (f.quirks.has(Quirk::is_made_of_red) && bits(base.type) != 64) return false;
      // ptxas takes any integer, and extends it with zeros; an author's may be narrow where the window fits in 32 bits
      if (!arg.authored) return bits(base.type) <= 64 && kind(base.type) != TypeKind::packed;
      return bits(base.type) == 64 || (bits(base.type) == 32 && !needs_wide_address(where));
    }
    case Role::tensor: {
      const bool texture = o.space == "texture";
      if (arg.kind != ArgKind::tensor || (arg.elements.size() != 2 && !(texture && arg.elements.size() == 3))) return false;
      const Arg& coords = arg.elements[arg.elements.size() - 1];
      const int n = count(f, o.coords_count, c);
      const Type coords_type = type(f, o.coords_type, c);
      // the index into an array of textures is an integer, and ptxas does not make a float of one
      const bool array = !o.space.empty() && chosen(f, c, "geom").starts_with("a");
      const bool decimal =
          is_float(coords_type) || (texture && (chosen(f, c, "ctype") == "f32" || f.quirks.has(Quirk::float_coordinates)));
      const auto coordinate_fits = [&](const Arg& e, bool index) {
        if (e.kind == ArgKind::integer) return e.authored || index || !decimal;
        return (!e.negated && register_fits(e, coords_type, false)) || element_fits(e, coords_type, false) ||
               (e.kind == ArgKind::floating && decimal && !index);
      };
      if (coords.kind != ArgKind::vector) {  // ptxas: one register alone, when there is no sampler
        if (o.space.empty() || n != 1 || arg.elements.size() != 2 || coords.negated || !register_fits(coords, coords_type, false))
          return false;
      } else {
        // ptxas overlooks coordinates beyond those of a texture's or surface's geometry; its vectors have 1, 2 or 4 elements
        const auto given = static_cast<int>(coords.elements.size());
        if (given != n && (o.space.empty() || given < n || (given != 2 && given != 4))) return false;
        for (std::size_t i = 0; i < coords.elements.size(); ++i)
          if (!coordinate_fits(coords.elements[i], array && i == 0)) return false;
        if (texture && array && coords.elements[0].kind == ArgKind::reg && is_float(coords.elements[0].type)) return false;
      }
      for (const Arg& handle : arg.elements.first(arg.elements.size() - 1))
        if (handle.kind != ArgKind::symbol &&
            !(handle.kind == ArgKind::reg && is_wide(handle.type, 64) && !is_float(handle.type)))
          return false;
      return true;
    }
    case Role::label:
      return arg.kind == ArgKind::symbol;
    case Role::symbol: {
      if (arg.kind == ArgKind::text) return true;  // a name and an offset
      if (arg.kind == ArgKind::element ? !element_fits(f, o, arg) : arg.kind != ArgKind::symbol) return false;
      const std::string_view of = arg.kind == ArgKind::element ? arg.elements[0].space : arg.space;
      return o.space.empty() || of.empty() || space(f, o, c).starts_with(of);
    }
    case Role::list:
      return arg.kind == ArgKind::list;
    case Role::sink:
      return arg.kind == ArgKind::sink;
    case Role::special:
      // %gridid was a 16-bit and a 32-bit register once, and mov still reads it as one (manual: "Special Registers: %gridid")
      if (f.quirks.has(Quirk::gridid_in_short) && arg.kind == ArgKind::special && arg.shown == "%gridid" &&
          bits(type(f, o.type, c)) <= 32)
        return type(f, o.type, c) != Type::pred;
      return arg.kind == ArgKind::special &&
             (o.wider && bits(arg.type) <= 64 ? fits_wider(arg.type, type(f, o.type, c)) : fits(arg.type, type(f, o.type, c)));
    default:
      break;
  }
  const Type wanted = type(f, o.type, c);
  // most operands: an answer before anything else is worked out, since C++ authors have it worked out while compiling
  const bool sees_more = f.quirks.has_any(Quirk::wide_floats_for_floats | Quirk::is_a_call_for_floats);
  if (o.count.empty() && arg.kind == ArgKind::reg && !sees_more && scalar_fits(f, arg, wanted, o)) return true;
  const int n = count(f, o.count, c);
  const int length_slot = slot(f, o.count);
  // one register, with or without braces: `ld.global.b32 {%r0}, [%rd0]` is what Triton writes
  const bool one = o.count == "one" || (length_slot >= 0 && chosen(f, c, length_slot).empty());
  // ptxas makes the unsigned sum of vadd4 and vsub4 of dp4a, which looks closely
  const auto dp4a = [&] {
    return o.name == "c" && f.quirks.has(Quirk::is_made_of_dp4a) && chosen(f, c, "dtype") == "u32" &&
           chosen(f, c, "atype") == "u32" && chosen(f, c, "btype") == "u32";
  };
  const auto loosely = [&](const Arg& a) { return is_loose(f, o) && !dp4a() && loosely_fits(a, wanted, o); };
  if (!arg.authored && texture_extra_fits(f, c, arg, wanted, o)) return true;
  if (arg.kind == ArgKind::sink && o.sink && f.quirks.has(Quirk::sink_for_vector)) return true;
  if (refuses_wide_float(f, c, o, arg, wanted) || refuses_float(f, c, arg)) return false;
  if (o.count.empty() || (one && arg.kind != ArgKind::vector)) {
    if (arg.kind == ArgKind::symbol && (is_lowered(f, wanted) || f.quirks.has(Quirk::no_function_names))) return false;
    return scalar_fits(f, arg, wanted, o) || loosely(arg);
  }
  const bool offset = o.count == "tex_offset";  // ptxas: more are overlooked, and one alone will do
  if (offset && arg.kind != ArgKind::vector) return scalar_fits(f, arg, wanted, o);
  const auto given = static_cast<int>(arg.elements.size());
  if (arg.kind != ArgKind::vector || (given != n && !(offset && given > n && (given == 2 || given == 4)))) return false;
  if (one && o.count != "one" && f.quirks.has(Quirk::is_made_of_red)) return false;
  if (!one_sort(arg.elements)) return false;
  if (!elements_agree(f, c, o.name, wanted, arg.elements)) return false;
  const bool untyped = mixed(arg.elements);
  int width = 0;  // of the registers so far: wider ones may be used, but not side by side with others
  for (const Arg& e : arg.elements) {
    const bool sink = e.kind == ArgKind::sink && o.access == Access::write && !f.quirks.has(Quirk::no_sinks) &&
                      !(f.quirks.has(Quirk::no_sinks_for_halves) && wanted == Type::f16x2) &&
                      !(f.quirks.has(Quirk::no_lone_sink) && given == 1);
    const bool same_width = untyped && e.kind == ArgKind::reg && bits(e.type) == bits(register_type(wanted));
    if (e.kind == ArgKind::text) return false;  // ptxas reads no name with an offset here
    if (!sink && !same_width && !scalar_fits(f, e, wanted, o) && !scalar_fits(f, e, factor_type(f, wanted), o) &&
        !(alike(arg.elements) && loosely(e)) &&
        !(o.access == Access::read && constant_fits(f.quirks, e, wanted, untyped, given == 1)))
      return false;
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
