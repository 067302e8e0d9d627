// Do these operands fit this form? One answer for authoring (at the author's line), for the checker and for the parser.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ptx/isa/form.hpp"
#include "ptx/isa/modifier_tree.hpp"
#include "ptx/isa/operand.hpp"
#include "ptx/isa/special.hpp"

namespace ptx::isa {

/// The form and choices that fit, and which operand of the form each argument filled.
struct Match {
  const Form* form = nullptr;
  Choices choices{};
  std::array<std::uint8_t, 14> operand_of{};  ///< argument index -> index into form->operands
  /// An immediate that its type cannot hold, which ptxas cuts to width in silence: authoring makes it an error, check a warning.
  std::optional<Diagnostic> truncated;
};

/// Finds the first complete form of `dots` that takes these arguments. The diagnostic names the operand, what was given and what
/// would fit; kinds missing_modifier, operand_count, operand_mismatch.
Expected<Match> match(const ModifierTree& dots, std::span<const Arg> args);
/// The same for one form with its choices made.
Expected<Match> match(const Form& form, const Choices& choices, std::span<const Arg> args);

/// How often this thread has asked whether operands fit: who gets a match handed on asks no more, and tests hold that.
std::uint64_t fits_asked();

/// "a .u32 register `%r3`", "the integer 5", "a vector of 4 .f32 registers": how a message calls an argument.
std::string describe(const Arg& arg);

}  // namespace ptx::isa
