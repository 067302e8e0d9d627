// What is said of one operand: by a form, which has it, and of the argument that may fill it. What rules.hpp works on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ptx/isa/type.hpp"

namespace ptx::isa {

/// No instruction has more modifiers than this; every instruction stores this many choices.
inline constexpr std::size_t max_slots = 15;

/// A form's place in the table.
using FormId = std::uint16_t;
inline constexpr FormId no_form = 0xFFFF;

/// What was chosen at each slot of a form: 0 nothing, else 1 + the index of the choice. A literal that must be there is 1.
using Choices = std::array<std::uint8_t, max_slots>;

enum class Role : std::uint8_t { value, reg, imm, address, tensor, label, symbol, special, sink, list };
enum class Access : std::uint8_t { read, write, read_write };

/// One operand of a row. Words refer to slots by name or are literal; see the notation.
struct OperandSpec {
  std::string_view name, type, count, space;
  std::string_view when_slot, when_choices;  ///< `@.slot=x|y`
  Role role = Role::value;
  Access access = Access::read;
  bool optional = false;     ///< inside a `{, …}` without `@`
  bool conditional = false;  ///< inside a `{, … @.slot}`
  bool wider = false;
  bool negatable = false;  ///< a predicate, by `!`
  bool minus = false;      ///< a number, by `-`
  bool sink = false;
  bool piped = false;                          ///< joined to the operand before it by `|`
  std::string_view coords_count, coords_type;  ///< Role::tensor; `space` is then "texture", "surface" or "" for a tensor map
  std::string_view range;                      ///< the integers that fit, see IntegerRange; "" all that the type holds
  std::string_view part;                       ///< which parts of the register may be named; "" none
};

/// Whether the operand is a result that a fresh register can take: one that is always there and only written.
constexpr bool is_result(const OperandSpec& operand) {
  return operand.access == Access::write && operand.role == Role::reg && !operand.optional && !operand.conditional;
}

/// What an operand is, seen from outside.
enum class ArgKind : std::uint8_t {
  reg,       ///< a register of `type`; of any type, where that is none
  special,   ///< a special register of `type`
  integer,   ///< an integer immediate, `integer`
  floating,  ///< a floating-point immediate; `type` is .f32 or .f64 where its spelling says so
  symbol,    ///< a variable, parameter or function; a label when the row wants one
  vector,    ///< {…}: `elements`
  address,   ///< […]: elements[0] is the base (reg, symbol or integer), elements[1] an offset if there is one
  tensor,    ///< [map, {…}]: elements[0] the base, elements.back() the coordinates (a vector; textures of one dimension also
             ///< one register); between them a texture's sampler, if there is one
  sink,      ///< _
  text,      ///< a constant expression kept as text: taken as an integer
  list,      ///< (a, b): `elements`, the arguments or results of a call
  part,      ///< part of a register: elements[0] the register, `shown` the part (".h10", ".b3210" of a video instruction), or the
             ///< element (".x") of one that is a vector
  element,   ///< g[i]: elements[0] the name of an array, elements[1] the index, elements[2] what is added to it, if anything is
};

struct Arg {
  ArgKind kind = ArgKind::reg;
  Type type = Type::none;
  bool negated = false;   ///< !p
  bool piped = false;     ///< joined to the argument before it by `|`
  bool authored = false;  ///< in an author's hands: where a float is due an integer becomes one, and the register of an address
                          ///< is as wide as its space needs; text is held to what ptxas holds it to
  std::int64_t integer = 0;  ///< and the bits of a floating-point number
  std::string_view space{};  ///< symbols: the state space of the variable if known
  std::span<const Arg> elements{};
  std::string_view shown{};  ///< as a message shows it: "%r3", "1.5"
};

}  // namespace ptx::isa
