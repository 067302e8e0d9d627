// PTX's scalar types (manual: "Types"), with width and kind, and the rule by which a register fits an instruction type.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ptx {

/// A PTX type as it is spelled behind a dot. `none` is the absent type. Reserved words get a trailing underscore.
enum class Type : std::uint8_t {
  none,
#define PTX_TYPE(name, bits, kind) name,
#include "ptx/isa/types.def"
#undef PTX_TYPE
};

namespace isa {

/// What a type's bits mean: p(redicate), b(its), u(nsigned), s(igned), f(loat), x: packed or instruction-only formats, o(paque):
/// handles of textures, samplers and surfaces, which no register has.
enum class TypeKind : char {
  pred = 'p',
  bits = 'b',
  uint = 'u',
  sint = 's',
  floating = 'f',
  packed = 'x',
  opaque = 'o',
  none = '-'
};

struct TypeInfo {
  std::string_view name;  ///< without the dot: "u32"
  std::uint16_t bits;     ///< width; for `pred` 1
  TypeKind kind;
};

namespace detail {
inline constexpr TypeInfo type_infos[] = {
    {"none", 0, TypeKind::none},
#define PTX_TYPE(name, bits, kind) {#name, bits, TypeKind(kind)},
#include "ptx/isa/types.def"
#undef PTX_TYPE
};
}  // namespace detail

constexpr const TypeInfo& info(Type type) { return detail::type_infos[static_cast<std::size_t>(type)]; }
constexpr std::string_view name(Type type) { return info(type).name; }
constexpr int bits(Type type) { return info(type).bits; }
constexpr TypeKind kind(Type type) { return info(type).kind; }
constexpr bool is_integer(Type type) { return kind(type) == TypeKind::uint || kind(type) == TypeKind::sint; }
constexpr bool is_float(Type type) { return kind(type) == TypeKind::floating; }

namespace detail {
constexpr std::uint32_t hash_of_name(std::string_view word) {
  std::uint32_t h = static_cast<std::uint32_t>(word.size());
  for (const char c : word) h = (h ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return h ^ h >> 15;
}
// Types by the hash of their name, in the next free place behind it; 0 is free. Forms are matched by their types' names.
inline constexpr std::size_t type_places = 256;
inline constexpr auto types_by_name = [] {
  std::array<std::uint8_t, type_places> places{};
  for (std::size_t i = 1; i < std::size(type_infos); ++i) {
    std::size_t at = hash_of_name(type_infos[i].name) % type_places;
    while (places[at] != 0) at = (at + 1) % type_places;
    places[at] = static_cast<std::uint8_t>(i);
  }
  return places;
}();
static_assert(std::size(type_infos) < type_places / 2);
}  // namespace detail

/// "u32" or ".u32" to the type; nothing for a word that is no type.
constexpr std::optional<Type> type_from_name(std::string_view word) {
  if (word.starts_with('.')) word.remove_prefix(1);
  for (std::size_t at = detail::hash_of_name(word) % detail::type_places;; at = (at + 1) % detail::type_places) {
    const std::uint8_t type = detail::types_by_name[at];
    if (type == 0) return std::nullopt;
    if (detail::type_infos[type].name == word) return static_cast<Type>(type);
  }
}

/// The fundamental type that a register of this type is declared with: registers exist only in fundamental types
/// (manual: "Restricted Use of Sub-Word Sizes", "Alternate Floating-Point Data Formats"), so bf16 is declared .b16, tf32
/// .b32 and fp8 values live in .b16 pairs.
constexpr Type register_type(Type type) {
  switch (kind(type)) {
    case TypeKind::packed:
      if (bits(type) == 8) return Type::b8;
      return bits(type) <= 16 ? Type::b16 : bits(type) == 32 ? Type::b32 : bits(type) == 64 ? Type::b64 : Type::b128;
    case TypeKind::bits:
    case TypeKind::uint:
    case TypeKind::sint:
      return type;
    default:
      break;
  }
  if (type == Type::bf16) return Type::b16;
  if (type == Type::tf32) return Type::b32;
  return type;
}

/// The type with twice the width, as `mul.wide` and `mad.wide` write it.
constexpr Type widened(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    case Type::b32:
      return Type::b64;
    default:
      return Type::none;
  }
}

/// PTX's rule for reading or writing a register of type `reg` through an instruction type (manual: "Operand Type
/// Checking"): equal width, and equal type, or one of them untyped bits, or both integers. Packed and alternate float formats
/// are held in untyped registers, so they fit by width alone and against bits only.
constexpr bool fits(Type reg, Type instruction) {
  if (reg == instruction) return true;
  const int width = kind(instruction) == TypeKind::packed ? bits(register_type(instruction)) : bits(instruction);
  const int have = kind(reg) == TypeKind::packed ? bits(register_type(reg)) : bits(reg);
  if (have != width || reg == Type::pred || instruction == Type::pred) return false;
  if (kind(reg) == TypeKind::bits || kind(instruction) == TypeKind::bits) return true;
  if (reg == Type::tf32 && instruction == Type::f32) return true;  // its register is declared .b32, and every tf32 is an f32
  return is_integer(reg) && is_integer(instruction);
}

/// As `fits`, but the register may be wider than the instruction type, which `ld`, `st` and `cvt` allow (manual: "Operand Size
/// Exceeding Instruction-Type Size"): when either is untyped bits or both are integers.
constexpr bool fits_wider(Type reg, Type instruction) {
  if (fits(reg, instruction)) return true;
  if (reg == Type::pred || instruction == Type::pred) return false;
  if (bits(reg) < bits(kind(instruction) == TypeKind::packed ? register_type(instruction) : instruction)) return false;
  if (kind(reg) == TypeKind::bits || kind(instruction) == TypeKind::bits) return true;
  return is_integer(reg) && is_integer(instruction);
}

}  // namespace isa

// The types by their PTX names, as authors write them: `k.reg<u32>()`, `Tile("M", "K", bf16)`.
#define PTX_TYPE(name, bits, kind) inline constexpr Type name = Type::name;
#include "ptx/isa/types.def"
#undef PTX_TYPE

}  // namespace ptx
