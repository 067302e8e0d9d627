// `mad` into a fresh register: which instruction that is, by the type of its operands.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ptx/write/builder.hpp"

namespace ptx::write::idiom {

/// a * b + c with its result: of floats `fma.rn.<type>`, of integers `mad.<mode>.<type>` (lo, hi, or wide, whose result is twice
/// as wide), where an untyped register counts as unsigned if the sign matters, and as signed if it does not.
struct Mad {
  std::string dots;
  Reg result;
};
/// Makes the result, of the type of the first register among the three operands; special registers are copied first, as only
/// `mov` reads them. Kinds: argument_kind where none is a register, operand_mismatch for a mode that the type has not.
Expected<Mad> begin_mad(Builder& builder, std::span<Value, 3> operands, std::string_view mode, SourceLocation where);
/// The same and the instruction.
Expected<Reg> mad(Builder& builder, std::span<const Value, 3> operands, std::string_view mode, const Guard& guard,
                  SourceLocation where);

}  // namespace ptx::write::idiom
