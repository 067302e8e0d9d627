// Integer arithmetic and logic (manual: "Integer Arithmetic Instructions", "Logic and Shift Instructions").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row integer[] = {
  row("add.type  d:=.type, a:.type, b:.type ; .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("add_int"), doc("integer-arithmetic-instructions-add", "d = a + b, wrapping.")),
  row("add.sat.s32  d:=.s32, a:.s32, b:.s32 ;",
      since(1,0), on(sm_10), Effect::pure, exec("add_int"), doc("integer-arithmetic-instructions-add", "d = a + b, clamped to .s32.")),
  row("sub.type  d:=.type, a:.type, b:.type ; .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("sub_int"), doc("integer-arithmetic-instructions-sub", "d = a - b, wrapping.")),
  row("sub.sat.s32  d:=.s32, a:.s32, b:.s32 ;",
      since(1,0), on(sm_10), Effect::pure, exec("sub_int"), doc("integer-arithmetic-instructions-sub", "d = a - b, clamped to .s32.")),
  row("mul.mode.type  d:=.type, a:.type, b:.type ; .mode = { .lo, .hi } .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("mul_int"), doc("integer-arithmetic-instructions-mul", "the low or high half of a * b.")),
  row("mul.wide.type  d:=.wide, a:.type, b:.type ; .type = { .u16, .u32, .s16, .s32 }",
      since(1,0), on(sm_10), Effect::pure, exec("mul_wide"), doc("integer-arithmetic-instructions-mul", "d = a * b in twice the width.")),
  row("mad.mode.type  d:=.type, a:.type, b:.type, c:.type ; .mode = { .lo, .hi } .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("mad_int"), doc("integer-arithmetic-instructions-mad", "half of a * b, plus c.")),
  row("mad.wide.type  d:=.wide, a:.type, b:.type, c:.wide ; .type = { .u16, .u32, .s16, .s32 }",
      since(1,0), on(sm_10), Effect::pure, exec("mad_wide"), doc("integer-arithmetic-instructions-mad", "d = a * b + c in twice the width.")),
  row("div.type  d:=.type, a:.type, b:.type ; .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("div_int"), doc("integer-arithmetic-instructions-div", "d = a / b, towards zero.")),
  row("rem.type  d:=.type, a:.type, b:.type ; .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("rem_int"), doc("integer-arithmetic-instructions-rem", "d = the rest of a / b, with the sign of a.")),
  row("abs.type  d:=.type, a:.type ; .type = { .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("abs_int"), doc("integer-arithmetic-instructions-abs", "d = |a|.")),
  row("neg.type  d:=.type, a:.type ; .type = { .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("neg_int"), doc("integer-arithmetic-instructions-neg", "d = -a.")),
  row("min.type  d:=.type, a:.type, b:.type ; .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("min_int"), doc("integer-arithmetic-instructions-min", "the smaller of a and b.")),
  row("max.type  d:=.type, a:.type, b:.type ; .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("max_int"), doc("integer-arithmetic-instructions-max", "the larger of a and b.")),
  row("and.type  d:=.type, a:!.type, b:!.type ; .type = { .pred, .b16, .b32, .b64 }",
      since(1,0), on(sm_10), Effect::pure, exec("and_"), doc("logic-and-shift-instructions-and", "d = a & b.")),
  row("or.type  d:=.type, a:!.type, b:!.type ; .type = { .pred, .b16, .b32, .b64 }",
      since(1,0), on(sm_10), Effect::pure, exec("or_"), doc("logic-and-shift-instructions-or", "d = a | b.")),
  row("xor.type  d:=.type, a:!.type, b:!.type ; .type = { .pred, .b16, .b32, .b64 }",
      since(1,0), on(sm_10), Effect::pure, exec("xor_"), doc("logic-and-shift-instructions-xor", "d = a ^ b.")),
  row("not.type  d:=.type, a:!.type ; .type = { .pred, .b16, .b32, .b64 }",
      since(1,0), on(sm_10), Effect::pure, exec("not_"), doc("logic-and-shift-instructions-not", "d = ~a.")),
  row("shl.type  d:=.type, a:.type, b:.u32 ; .type = { .b16, .b32, .b64 }",
      since(1,0), on(sm_10), Effect::pure, exec("shl"), doc("logic-and-shift-instructions-shl", "d = a << b; amounts beyond the width give 0.")),
  row("shr.type  d:=.type, a:.type, b:.u32 ; .type = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("shr"), doc("logic-and-shift-instructions-shr", "d = a >> b; signed types fill with the sign.")),
};
// clang-format on

}  // namespace ptx::isa::table
