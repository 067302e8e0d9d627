// Numbers and constant expressions (manual: "Constants", "Integer Constant Expression Evaluation").
#pragma once

#include <cstdint>
#include <string>

#include "ptx/text/cursor.hpp"

namespace ptx::text {

/// A constant: what an expression comes to, and whether it is more than one literal.
struct Constant {
  enum class Kind : std::uint8_t { sint, uint, floating, floating32 };
  Kind kind = Kind::sint;
  bool hexadecimal = false;  ///< written as one literal 0x…
  bool suffixed = false;     ///< written with U
  bool plain = true;         ///< one literal, perhaps a decimal one with a minus: its value says it all
  bool wrapped = false;      ///< a literal of it has more than 64 bits, and stands for its low ones
  std::uint64_t bits = 0;    ///< two's complement, a double, or the 32 bits of 0f…
  [[nodiscard]] bool is_integer() const { return kind == Kind::sint || kind == Kind::uint; }
};

/// Why there is no constant, and where.
struct ConstantError {
  const char* at = nullptr;
  std::string message;
};

/// Reads a constant expression, and computes it as ptxas does. False: `error` says why, and the cursor may stand anywhere in it.
bool read_constant(Cursor& cursor, Constant& constant, ConstantError& error);

/// Reads one number, without operators.
bool read_number(Cursor& cursor, Constant& constant, ConstantError& error);

/// True for the first character of a constant: a digit, `.5`, a sign, `(`, `~`, `!`, or WARP_SZ.
inline bool begins_constant(const Cursor& c) {
  const char first = c.peek();
  return is(first, digit_class) || first == '-' || first == '(' || (first == '.' && is(c.at[1], digit_class)) || first == '+' ||
         first == '~' || first == '!' || (first == 'W' && c.starts_with("WARP_SZ") && !is(c.at[7], follow_class));
}

}  // namespace ptx::text
