// The rest of integer arithmetic, logic and shifts: bit counting and fields, byte dot products, carries, packed pairs (manual: "Integer Arithmetic
// Instructions", "Extended-Precision Integer Arithmetic Instructions", "Logic and Shift Instructions").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row integer_more[] = {
  // 24-bit multiplication, multiplication with saturation
  row("mul24.mode.type  d:=.type, a:.type, b:.type ; .mode = { .hi, .lo } .type = { .u32, .s32 }",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not run mul24 yet"),
      doc("integer-arithmetic-instructions-mul24", "bits 47 to 16 (hi) or 31 to 0 (lo) of the product of the low 24 bits of a and b.")),
  row("mad24.mode.type  d:=.type, a:.type, b:.type, c:.type ; .mode = { .hi, .lo } .type = { .u32, .s32 }",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not run mad24 yet"),
      doc("integer-arithmetic-instructions-mad24", "c plus a part of the product of the low 24 bits of a and b.")),
  row("mad24.hi.sat.s32  d:=.s32, a:.s32, b:.s32, c:.s32 ;",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not run mad24 yet"),
      doc("integer-arithmetic-instructions-mad24", "c plus the high part of the product of the low 24 bits of a and b, clamped to .s32.")),
  row("mad.hi.sat.s32  d:=.s32, a:.s32, b:.s32, c:.s32 ;",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not run mad.sat yet"),
      doc("integer-arithmetic-instructions-mad", "the high half of a * b, plus c, clamped to .s32.")),
  row("sad.type  d:=.type, a:.type, b:.type, c:.type ; .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not run sad yet"),
      doc("integer-arithmetic-instructions-sad", "d = c + |a - b|.")),

  // bit counting, bit fields
  row("popc.type  d:=.u32, a:.type ; .type = { .b32, .b64 }",
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not run popc yet"),
      doc("integer-arithmetic-instructions-popc", "the number of one bits of a.")),
  row("clz.type  d:=.u32, a:.type ; .type = { .b32, .b64 }",
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not run clz yet"),
      doc("integer-arithmetic-instructions-clz", "the number of zero bits of a above its highest one.")),
  row("bfind{.shiftamt}.type  d:=.u32, a:.type ; .type = { .u32, .u64, .s32, .s64 }",
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not run bfind yet"),
      doc("integer-arithmetic-instructions-bfind", "the position of the highest bit of a that is not a sign bit; 0xffffffff if there is none.")),
  row("fns.b32  d:=.b32, mask:.b32, base:.b32, offset:.b32 ;",
      since(6,0), on(sm_30), Effect::pure, not_executed("the executor does not run fns yet"),
      doc("integer-arithmetic-instructions-fns", "the position of the n-th one bit of mask, counted from base up or down.")),
  row("brev.type  d:=.type, a:.type ; .type = { .b32, .b64 }",
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not run brev yet"),
      doc("integer-arithmetic-instructions-brev", "the bits of a in reverse order.")),
  row("bfe.type  d:=.type, a:.type, b:.u32, c:.u32 ; .type = { .u32, .u64, .s32, .s64 }",
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not run bfe yet"),
      doc("integer-arithmetic-instructions-bfe", "the c bits of a from bit b on, extended.")),
  row("bfi.type  d:=.type, a:.type, b:.type, c:.u32, e:.u32 ; .type = { .b32, .b64 }",
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not run bfi yet"),
      doc("integer-arithmetic-instructions-bfi", "b with its e bits from bit c on replaced by the low bits of a.")),
  row("szext.mode.type  d:=.type, a:.type, b:.u32 ; .mode = { .clamp, .wrap } .type = { .u32, .s32 }",
      since(7,6), on(sm_70), Effect::pure, not_executed("the executor does not run szext yet"),
      doc("integer-arithmetic-instructions-szext", "the low b bits of a, extended to 32.")),
  row("bmsk.mode.b32  d:=.u32, a:.u32, b:.u32 ; .mode = { .clamp, .wrap }",
      since(7,6), on(sm_70), Effect::pure, not_executed("the executor does not run bmsk yet"),
      doc("integer-arithmetic-instructions-bmsk", "a mask of b one bits from bit a on.")),

  // dot products of bytes and halves
  row("dp4a.atype.btype  d:=.s32, a:.atype, b:.btype, c:.s32 ; .atype = { .u32, .s32 } .btype = { .u32, .s32 }",
      since(5,0), on(sm_61), Effect::pure, not_executed("the executor does not run dp4a yet"),
      doc("integer-arithmetic-instructions-dp4a", "c plus the products of the four bytes of a and b.")),
  row("dp2a.mode.atype.btype  d:=.s32, a:.atype, b:.btype, c:.s32 ; .mode = { .lo, .hi } .atype = { .u32, .s32 } .btype = { .u32, .s32 }",
      since(5,0), on(sm_61), Effect::pure, not_executed("the executor does not run dp2a yet"),
      doc("integer-arithmetic-instructions-dp2a", "c plus the products of the two halves of a and two bytes of b.")),

  // packed pairs of 16 bits, clamping at zero
  row("add.type  d:=.type, a:.type, b:.type ; .type = { .u16x2, .s16x2 }",
      since(8,0), on(sm_90), Effect::pure, not_executed("the executor does not run packed integer arithmetic yet"),
      doc("integer-arithmetic-instructions-add", "d = a + b in each half, wrapping.")),
  row("min.type  d:=.type, a:.type, b:.type ; .type = { .u16x2, .s16x2 }",
      since(8,0), on(sm_90), Effect::pure, not_executed("the executor does not run packed integer arithmetic yet"),
      doc("integer-arithmetic-instructions-min", "the smaller of a and b in each half.")),
  row("max.type  d:=.type, a:.type, b:.type ; .type = { .u16x2, .s16x2 }",
      since(8,0), on(sm_90), Effect::pure, not_executed("the executor does not run packed integer arithmetic yet"),
      doc("integer-arithmetic-instructions-max", "the larger of a and b in each half.")),
  row("min.relu.type  d:=.type, a:.type, b:.type ; .type = { .s16x2, .s32 }",
      since(8,0), on(sm_90), Effect::pure, not_executed("the executor does not run min.relu yet"),
      doc("integer-arithmetic-instructions-min", "the smaller of a and b, at least 0.")),
  row("max.relu.type  d:=.type, a:.type, b:.type ; .type = { .s16x2, .s32 }",
      since(8,0), on(sm_90), Effect::pure, not_executed("the executor does not run max.relu yet"),
      doc("integer-arithmetic-instructions-max", "the larger of a and b, at least 0.")),

  // carries: the condition code CC.CF is written by .cc and read by the forms in c
  row("add.cc.type  d:=.type, a:.type, b:.type ; .type = { .u32, .s32, .u64 @4.3, .s64 @4.3 }",
      since(1,2), on(sm_10), Effect::pure, not_executed("the executor has no carry flag yet"),
      doc("extended-precision-arithmetic-instructions-add-cc", "d = a + b, and the carry out.")),
  row("addc{.cc}.type  d:=.type, a:.type, b:.type ; .type = { .u32, .s32, .u64 @4.3, .s64 @4.3 }",
      since(1,2), on(sm_10), Effect::pure, not_executed("the executor has no carry flag yet"),
      doc("extended-precision-arithmetic-instructions-addc", "d = a + b + the carry in.")),
  row("sub.cc.type  d:=.type, a:.type, b:.type ; .type = { .u32, .s32, .u64 @4.3, .s64 @4.3 }",
      since(1,2), on(sm_10), Effect::pure, not_executed("the executor has no carry flag yet"),
      doc("extended-precision-arithmetic-instructions-sub-cc", "d = a - b, and the borrow out.")),
  row("subc{.cc}.type  d:=.type, a:.type, b:.type ; .type = { .u32, .s32, .u64 @4.3, .s64 @4.3 }",
      since(1,2), on(sm_10), Effect::pure, not_executed("the executor has no carry flag yet"),
      doc("extended-precision-arithmetic-instructions-subc", "d = a - (b + the borrow in).")),
  row("mad.mode.cc.type  d:=.type, a:.type, b:.type, c:.type ; .mode = { .hi, .lo } .type = { .u32, .s32, .u64 @4.3, .s64 @4.3 }",
      since(3,0), on(sm_20), Effect::pure, not_executed("the executor has no carry flag yet"),
      doc("extended-precision-arithmetic-instructions-mad-cc", "half of a * b, plus c, and the carry out.")),
  row("madc.mode{.cc}.type  d:=.type, a:.type, b:.type, c:.type ; .mode = { .hi, .lo } .type = { .u32, .s32, .u64 @4.3, .s64 @4.3 }",
      since(3,0), on(sm_20), Effect::pure, not_executed("the executor has no carry flag yet"),
      doc("extended-precision-arithmetic-instructions-madc", "half of a * b, plus c, plus the carry in.")),

  // logic of three operands, shifts over two registers
  row("lop3.b32  d:=?.b32, a:.b32, b:.b32, c:.b32, lut:#.u32 ;",
      since(4,3), on(sm_50), Effect::pure, not_executed("the executor does not run lop3 yet"),
      doc("logic-and-shift-instructions-lop3", "any function of three bits, given by its table lut, on each bit of a, b and c.")),
  row("lop3.bool_op.b32  d:=?.b32|p:=.pred, a:.b32, b:.b32, c:.b32, lut:#.u32, q:!.pred ; .bool_op = { .or, .and }",
      since(8,2), on(sm_70), Effect::pure, not_executed("the executor does not run lop3 yet"),
      doc("logic-and-shift-instructions-lop3", "lop3, and p = (the result is not 0) combined with q.")),
  row("shf.dir.mode.b32  d:=.b32, a:.b32, b:.b32, c:.u32 ; .dir = { .l, .r } .mode = { .clamp, .wrap }",
      since(3,1), on(sm_32), Effect::pure, not_executed("the executor does not run shf yet"),
      doc("logic-and-shift-instructions-shf", "a word of the 64-bit value b:a shifted by c.")),
  row("cnot.type  d:=.type, a:.type ; .type = { .b16, .b32, .b64 }",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not run cnot yet"),
      doc("logic-and-shift-instructions-cnot", "d = 1 if a is 0, else 0.")),
};
// clang-format on

}  // namespace ptx::isa::table
