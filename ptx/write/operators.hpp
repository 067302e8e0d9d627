// Operators on registers and the small helpers around them (api.md 3.3, 3.1, 4.3): which instructions each writes is law, see the tables there.
// All return the resulting register, or the error with the author's line.
#pragma once

#include "ptx/write/builder.hpp"

namespace ptx::write {

enum class Operator : std::uint8_t { add, sub, mul, shl, shr, and_, or_, xor_, max };
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };

/// `a op b` into a fresh register of a's type (or .u64 when a 32-bit left side meets a 64-bit register).
Expected<Reg> binary(Builder& builder, Operator op, Value a, Value b, Where where);
/// `a op= b` into a itself.
Expected<Reg> in_place(Builder& builder, Operator op, Reg a, Value b, Where where);
/// `a cmp b` into a fresh predicate.
Expected<Reg> compare(Builder& builder, Comparison cmp, Value a, Value b, Where where);

/// `mov.<type> r, source` into a fresh register of `type` (reg.from_); the source may be a register, special register, number or symbol.
Expected<Reg> move_to_fresh(Builder& builder, Type type, Value source, Where where);
/// A fresh register, initialised by one `mov` when `init` is given (reg.scalar).
Expected<Reg> scalar(Builder& builder, Type type, std::optional<Value> init, std::string_view name, Where where);
/// `ld.param.u64 r, [name]; cvta.to.global.u64 r, r;` (ptx.global_ptrs, per tensor).
Expected<Reg> global_ptr(Builder& builder, std::string_view param, Where where);

}  // namespace ptx::write
