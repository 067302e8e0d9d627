// Do these operands fit this form? One answer for authoring (at the author's line), for the checker and for the parser.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ptx/isa/dots.hpp"
#include "ptx/isa/form.hpp"
#include "ptx/isa/special.hpp"

namespace ptx::isa {

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

/// The form and choices that fit, and which operand of the form each argument filled.
struct Fit {
  const Form* form = nullptr;
  Choices choices{};
  std::array<std::uint8_t, 14> operand_of{};  ///< argument index -> index into form->operands
  /// An immediate that its type cannot hold, which ptxas cuts to width in silence: authoring makes it an error, check a warning.
  std::optional<Diagnostic> truncated;
};

/// Finds the first complete form of `dots` that takes these arguments. The diagnostic names the operand, what was given and what
/// would fit; kinds missing_modifier, operand_count, operand_mismatch.
Expected<Fit> fit(const Dots& dots, std::span<const Arg> args);
/// The same for one form with its choices made.
Expected<Fit> fit(const Form& form, const Choices& choices, std::span<const Arg> args);

/// "a .u32 register `%r3`", "the integer 5", "a vector of 4 .f32 registers": how a message calls an argument.
std::string describe(const Arg& arg);

}  // namespace ptx::isa
