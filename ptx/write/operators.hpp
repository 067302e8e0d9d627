// Operators on registers and the small helpers around them. Python's and C++'s operators both call these, so that they write the
// same instructions. All return the resulting register, or the error with the author's line.
//
//   operator       left is 32 bits wide (b32, u32, s32)               left is 64 bits wide (b64, u64, s64)
//   a + b          add.u32; add.s32 for s32                           add.s64
//   a - b          sub.s32                                            sub.s64
//   a * number     mul.lo.s32                                         mul.lo.u64
//   a * register   mul.lo.u32                                         mul.lo.u64
//   a << b         shl.b32                                            shl.b64
//   a >> b         shr.u32; shr.s32 for s32                           shr.u64; shr.s64 for s64
//   a & b, |, ^    and.b32, or.b32, xor.b32                           and.b64, or.b64, xor.b64
//   max(a, b)      max.u32; max.s32 for s32; min likewise             -
//   a // b, a % b  div.u32, rem.u32; div.s32, rem.s32 for s32          div.u64, rem.u64; div.s64, rem.s64 for s64
//   -a, abs(a)     neg.s32, abs.s32                                   neg.s64, abs.s64
//   a cmp b        setp.cmp.<type of a>, b32 compared as u32, b64 as u64; f32, f64 and 16-bit integers too
//
//   operator       left is a float (f32, f64; f16, bf16, f16x2 and bf16x2 without numbers)          left is a predicate
//   a + b, -, *    add.rn.f32, sub.rn.f32, mul.rn.f32: rounded, never joined into an fma            -
//   a / b          div.rn.f32; f32 and f64 alone                                                    -
//   max, min       max.f32, min.f32                                                                 -
//   -a, abs(a)     neg.f32, abs.f32                                                                 -
//   a & b, ^       -                                                                                and.pred, xor.pred
//   a |= b         -                                                                                or.pred (`a | b` is a pair)
//
// In +, - and * a 32-bit register right of a 64-bit one is widened first: cvt.u64.u32, or cvt.s64.s32 for s32; so is the left
// side of a + whose right side is a 64-bit register (into a u64 result). A special register is copied first, on either side:
// `mov.<its type>`. A negated predicate on either side is
// made first: `not.pred`.
#pragma once

#include "ptx/write/builder.hpp"

namespace ptx::write {

enum class Operator : std::uint8_t {
  add,
  sub,
  mul,
  shl,
  shr,
  and_,
  or_,
  xor_,
  max,
  min,
  div,        ///< rounds to nothing: integers are cut towards zero, as in C++
  rem,        ///< of that division
  floor_div,  ///< as Python's `//`: PTX has it for unsigned integers alone
  floor_rem,
  true_div,  ///< of floats
};
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };

/// `a op b` into a fresh register of a's type (or .u64 when a 32-bit left side of + meets a 64-bit register; the type of b when a
/// is a number). Kinds: bad_operator, and what Builder::emit says.
Expected<Reg> binary(Builder& builder, Operator op, Value a, Value b, SourceLocation where);
/// `a op= b` into a itself.
Expected<Reg> in_place(Builder& builder, Operator op, Reg a, Value b, SourceLocation where);
/// `-a` into a fresh register of a's type.
Expected<Reg> negated(Builder& builder, Value a, SourceLocation where);
/// |a| into a fresh register of a's type: signed integers and floats.
Expected<Reg> absolute(Builder& builder, Value a, SourceLocation where);
/// `a cmp b` into a fresh predicate.
Expected<Reg> compare(Builder& builder, Comparison cmp, Value a, Value b, SourceLocation where);

/// `mov.<type> r, source` into a fresh register of `type` (reg.from_); the source may be a register, special register, number or
/// symbol.
Expected<Reg> move_to_fresh(Builder& builder, Type type, Value source, SourceLocation where);
/// `mov.<its type> r, source` into a register that is there. Kind argument_kind for a number that it cannot hold.
Expected<Reg> move_into(Builder& builder, Reg destination, const Value& source, SourceLocation where);
/// A special register as other instructions than `mov` can read it: `mov.<its type> r, special;`. Any other value as it is.
Expected<Value> readable(Builder& builder, const Value& value, SourceLocation where);
/// The same register, read and written as another type of its width. Kind bad_operator when the type that it is declared with
/// does not allow that: a .f32 register holds no .u32 for the instructions that compute with integers.
Expected<Reg> view(const Builder& builder, Reg reg, Type type, SourceLocation where);
/// A fresh register, initialised by one `mov` when `init` is given (reg.scalar).
Expected<Reg> scalar(Builder& builder, Type type, std::optional<Value> init, std::string_view name, SourceLocation where);
/// `ld.param.<type> r, [name]` into a fresh register: a scalar parameter (ptx.param). Kind undefined_symbol.
Expected<Reg> load_param(Builder& builder, Type type, std::string_view name, SourceLocation where);
/// `ld.param.u64 r, [name]; cvta.to.global.u64 r, r;` (ptx.global_ptrs, per tensor). Kind undefined_symbol.
Expected<Reg> global_ptr(Builder& builder, std::string_view param, SourceLocation where);

}  // namespace ptx::write
