// Comparison and selection (manual: "Comparison and Selection Instructions").
#pragma once

#include "ptx/isa/row.hpp"

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
};
// clang-format on

}  // namespace ptx::isa::table
