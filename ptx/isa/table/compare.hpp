// Comparison and selection, in full and half precision (manual: "Comparison and Selection Instructions", "Half Precision
// Comparison Instructions").
#pragma once

#include "ptx/isa/row.hpp"

#define PTX_EQUALITIES ".eq, .ne"
#define PTX_ORDERS PTX_EQUALITIES ", .lt, .le, .gt, .ge"
#define PTX_UNSIGNED_ORDERS PTX_ORDERS ", .lo, .ls, .hi, .hs"
#define PTX_FLOAT_ORDERS PTX_ORDERS ", .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan"
#define PTX_BOOL_OPS " .bool_op = { .and, .or, .xor }"
// what set may write: ones or a 1.0 where the comparison holds, 0 elsewhere
#define PTX_SET_TYPES " .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 }"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row compare[] = {
  row("setp.cmp.type  p:=?.pred{|q:=?.pred}, a:.type, b:.type ;"
      " .cmp = { .eq, .ne } .type = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("setp_int"), doc("comparison-and-selection-instructions-setp", "p = a compared with b, q = its opposite.")),
  row("setp.cmp.type  p:=?.pred{|q:=?.pred}, a:.type, b:.type ;"
      " .cmp = { .lt, .le, .gt, .ge } .type = { .u16, .u32, .u64, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("setp_int"), doc("comparison-and-selection-instructions-setp", "p = a compared with b, q = its opposite.")),
  row("setp.cmp.type  p:=?.pred{|q:=?.pred}, a:.type, b:.type ;"
      " .cmp = { .lo, .ls, .hi, .hs } .type = { .u16, .u32, .u64 }",
      since(1,0), on(sm_10), Effect::pure, exec("setp_int"), doc("comparison-and-selection-instructions-setp", "p = a compared with b unsigned, q = its opposite.")),
  row("setp.cmp{.ftz}.f32  p:=?.pred{|q:=?.pred}, a:.f32, b:.f32 ;"
      " .cmp = { .eq, .ne, .lt, .le, .gt, .ge, .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }",
      since(1,0), on(sm_10), Effect::pure, exec("setp_f32"), doc("comparison-and-selection-instructions-setp", "p = a compared with b; the forms in u are true for NaN.")),
  row("setp.cmp.f64  p:=?.pred{|q:=?.pred}, a:.f64, b:.f64 ;"
      " .cmp = { .eq, .ne, .lt, .le, .gt, .ge, .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan }",
      since(1,0), on(sm_13), Effect::pure, exec("setp_f64"), doc("comparison-and-selection-instructions-setp", "p = a compared with b; the forms in u are true for NaN.")),
  row("selp.type  d:=.type, a:.type, b:.type, c:!.pred ;"
      " .type = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 }",
      since(1,0), on(sm_10), Effect::pure, exec("selp"), doc("comparison-and-selection-instructions-selp", "d = c ? a : b.")),

  // setp with a boolean operator
  row("setp.cmp.bool_op.type  p:=?.pred{|q:=?.pred}, a:.type, b:.type, c:!.pred ;"
      " .cmp = { " PTX_EQUALITIES " }" PTX_BOOL_OPS " .type = { .b16, .b32, .b64 }",
      since(1,0), on(sm_10), Effect::pure, exec("setp_int"),
      doc("comparison-and-selection-instructions-setp", "p = (a compared with b) combined with c, q = (its opposite) combined with c.")),
  row("setp.cmp.bool_op.type  p:=?.pred{|q:=?.pred}, a:.type, b:.type, c:!.pred ;"
      " .cmp = { " PTX_ORDERS " }" PTX_BOOL_OPS " .type = { .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("setp_int"),
      doc("comparison-and-selection-instructions-setp", "p = (a compared with b) combined with c, q = (its opposite) combined with c.")),
  row("setp.cmp.bool_op.type  p:=?.pred{|q:=?.pred}, a:.type, b:.type, c:!.pred ;"
      " .cmp = { " PTX_UNSIGNED_ORDERS " }" PTX_BOOL_OPS " .type = { .u16, .u32, .u64 }",
      since(1,0), on(sm_10), Effect::pure, exec("setp_int"),
      doc("comparison-and-selection-instructions-setp", "p = (a compared with b) combined with c, q = (its opposite) combined with c.")),
  row("setp.cmp.bool_op{.ftz}.f32  p:=?.pred{|q:=?.pred}, a:.f32, b:.f32, c:!.pred ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS,
      since(1,0), on(sm_10), Effect::pure, exec("setp_f32"),
      doc("comparison-and-selection-instructions-setp", "p = (a compared with b) combined with c, q = (its opposite) combined with c.")),
  row("setp.cmp.bool_op.f64  p:=?.pred{|q:=?.pred}, a:.f64, b:.f64, c:!.pred ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS,
      since(1,0), on(sm_13), Effect::pure, exec("setp_f64"),
      doc("comparison-and-selection-instructions-setp", "p = (a compared with b) combined with c, q = (its opposite) combined with c.")),

  // setp of halves: of a pair, p is for the lower half and q for the upper one
  row("setp.cmp{.bool_op}{.ftz}.f16  p:=?.pred, a:.f16, b:.f16 {, c:!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS,
      since(4,2), on(sm_53), Effect::pure, exec("setp_f16"),
      doc("half-precision-comparison-instructions-setp", "p = a compared with b, perhaps combined with c.")),
  row("setp.cmp{.bool_op}.bf16  p:=?.pred, a:.bf16, b:.bf16 {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS,
      since(7,8), on(sm_90), Effect::pure, exec("setp_bf16"),
      doc("half-precision-comparison-instructions-setp", "p = a compared with b, perhaps combined with c.")),
  row("setp.cmp{.bool_op}{.ftz}.f16x2  p:=?.pred{|q:=?.pred}, a:.f16x2, b:.f16x2 {, c:!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS,
      since(4,2), on(sm_53), Effect::pure, exec("setp_f16x2"),
      doc("half-precision-comparison-instructions-setp", "p = the lower halves compared, q = the upper halves compared.")),
  row("setp.cmp{.bool_op}.bf16x2  p:=?.pred{|q:=?.pred}, a:.bf16x2, b:.bf16x2 {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS,
      since(7,8), on(sm_90), Effect::pure, exec("setp_bf16x2"),
      doc("half-precision-comparison-instructions-setp", "p = the lower halves compared, q = the upper halves compared.")),

  // set
  row("set.cmp{.bool_op}.dtype.type  d:=.dtype, a:.type, b:.type {, c:!.pred @.bool_op} ;"
      " .cmp = { " PTX_EQUALITIES " }" PTX_BOOL_OPS PTX_SET_TYPES " .type = { .b16, .b32, .b64 }",
      since(1,0), on(sm_10), Effect::pure, exec("set_int"),
      doc("comparison-and-selection-instructions-set", "d = 0xffffffff or 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.dtype.type  d:=.dtype, a:.type, b:.type {, c:!.pred @.bool_op} ;"
      " .cmp = { " PTX_ORDERS " }" PTX_BOOL_OPS PTX_SET_TYPES " .type = { .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("set_int"),
      doc("comparison-and-selection-instructions-set", "d = 0xffffffff or 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.dtype.type  d:=.dtype, a:.type, b:.type {, c:!.pred @.bool_op} ;"
      " .cmp = { " PTX_UNSIGNED_ORDERS " }" PTX_BOOL_OPS PTX_SET_TYPES " .type = { .u16, .u32, .u64 }",
      since(1,0), on(sm_10), Effect::pure, exec("set_int"),
      doc("comparison-and-selection-instructions-set", "d = 0xffffffff or 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.dtype.f64  d:=.dtype, a:.f64, b:.f64 {, c:!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS PTX_SET_TYPES,
      since(1,0), on(sm_13), Effect::pure, exec("set_f64"),
      doc("comparison-and-selection-instructions-set", "d = 0xffffffff or 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}{.ftz}.dtype.f32  d:=.dtype, a:.f32, b:.f32 {, c:!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS " .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 }",
      since(1,0), on(sm_10), Effect::pure, exec("set_f32"),
      doc("comparison-and-selection-instructions-set", "d = 0xffffffff or 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}{.ftz}.dtype.f16  d:=.dtype, a:.f16, b:.f16 {, c:!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS " .dtype = { .f16, .u16 @6.5, .s16 @6.5, .u32 @6.5, .s32 @6.5 }",
      since(4,2), on(sm_53), Effect::pure, exec("set_f16"),
      doc("half-precision-comparison-instructions-set", "d = all ones or 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.bf16.type  d:=.bf16, a:.type, b:.type {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS " .type = { .f16, .f32, .f64 }",
      since(7,8), on(sm_90), Effect::pure, exec("set_to_bf16"),
      doc("half-precision-comparison-instructions-set", "d = 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.bf16.type  d:=.bf16, a:.type, b:.type {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_EQUALITIES " }" PTX_BOOL_OPS " .type = { .b16, .b32, .b64 }",
      since(7,8), on(sm_90), Effect::pure, exec("set_to_bf16"),
      doc("comparison-and-selection-instructions-set", "d = 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.bf16.type  d:=.bf16, a:.type, b:.type {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_ORDERS " }" PTX_BOOL_OPS " .type = { .s16, .s32, .s64 }",
      since(7,8), on(sm_90), Effect::pure, exec("set_to_bf16"),
      doc("comparison-and-selection-instructions-set", "d = 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.bf16.type  d:=.bf16, a:.type, b:.type {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_UNSIGNED_ORDERS " }" PTX_BOOL_OPS " .type = { .u16, .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, exec("set_to_bf16"),
      doc("comparison-and-selection-instructions-set", "d = 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.dtype.bf16  d:=.dtype, a:.bf16, b:.bf16 {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS " .dtype = { .u16, .s16, .u32, .s32 }",
      since(7,8), on(sm_90), Effect::pure, exec("set_bf16"),
      doc("half-precision-comparison-instructions-set", "d = all ones or 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.bf16.bf16  d:=.bf16, a:.bf16, b:.bf16 {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS,
      since(7,8), on(sm_90), Effect::pure, exec("set_to_bf16"),
      doc("half-precision-comparison-instructions-set", "d = all ones or 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}{.ftz}.dtype.f16x2  d:=.dtype, a:.f16x2, b:.f16x2 {, c:!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS " .dtype = { .f16x2, .u32 @6.5, .s32 @6.5 }",
      since(4,2), on(sm_53), Effect::pure, exec("set_f16x2"),
      doc("half-precision-comparison-instructions-set", "in each half, all ones or 1.0 if a compared with b holds, else 0.")),
  row("set.cmp{.bool_op}.dtype.bf16x2  d:=.dtype, a:.bf16x2, b:.bf16x2 {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS " .dtype = { .u32, .s32 }",
      since(7,8), on(sm_90), Effect::pure, exec("set_bf16x2"),
      doc("half-precision-comparison-instructions-set", "in each half, all ones or 1.0 if a compared with b holds, else 0.")),

  // slct
  row("set.cmp{.bool_op}.bf16x2.bf16x2  d:=.bf16x2, a:.bf16x2, b:.bf16x2 {, c:%!.pred @.bool_op} ;"
      " .cmp = { " PTX_FLOAT_ORDERS " }" PTX_BOOL_OPS,
      since(7,8), on(sm_90), Effect::pure, exec("set_bf16x2"),
      doc("half-precision-comparison-instructions-set", "in each half, all ones or 1.0 if a compared with b holds, else 0.")),

  // slct
  row("slct.dtype.s32  d:=.dtype, a:.dtype, b:.dtype, c:.s32 ;"
      " .dtype = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 @sm_13 }",
      since(1,0), on(sm_10), Effect::pure, exec("slct"),
      doc("comparison-and-selection-instructions-slct", "d = c >= 0 ? a : b.")),
  row("slct{.ftz}.dtype.f32  d:=.dtype, a:.dtype, b:.dtype, c:.f32 ;"
      " .dtype = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 @sm_13 }",
      since(1,0), on(sm_10), Effect::pure, exec("slct"),
      doc("comparison-and-selection-instructions-slct", "d = c >= 0 ? a : b; b for NaN.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_EQUALITIES
#undef PTX_ORDERS
#undef PTX_UNSIGNED_ORDERS
#undef PTX_FLOAT_ORDERS
#undef PTX_BOOL_OPS
#undef PTX_SET_TYPES
