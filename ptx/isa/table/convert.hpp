// Conversion (manual: "Data Movement and Conversion Instructions: cvt").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row convert[] = {
  row("cvt.dtype.atype  d:=.dtype+, a:.atype+ ;"
      " .dtype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 } .atype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_int"), doc("data-movement-and-conversion-instructions-cvt", "an integer in another width or sign.")),
  // .sat exists where the destination cannot hold every value of the source.
  row("cvt.sat.dtype.atype  d:=.dtype+, a:.atype+ ; .dtype = { .s8 } .atype = { .u8 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_int"), doc("data-movement-and-conversion-instructions-cvt", "an integer clamped to another width or sign.")),
  row("cvt.sat.dtype.atype  d:=.dtype+, a:.atype+ ; .dtype = { .u8, .s8, .s16 } .atype = { .u16 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_int"), doc("data-movement-and-conversion-instructions-cvt", "an integer clamped to another width or sign.")),
  row("cvt.sat.dtype.atype  d:=.dtype+, a:.atype+ ; .dtype = { .u8, .u16, .s8, .s16, .s32 } .atype = { .u32 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_int"), doc("data-movement-and-conversion-instructions-cvt", "an integer clamped to another width or sign.")),
  row("cvt.sat.dtype.atype  d:=.dtype+, a:.atype+ ; .dtype = { .u8, .u16, .u32, .s8, .s16, .s32, .s64 } .atype = { .u64 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_int"), doc("data-movement-and-conversion-instructions-cvt", "an integer clamped to another width or sign.")),
  row("cvt.sat.dtype.atype  d:=.dtype+, a:.atype+ ; .dtype = { .u8, .u16, .u32, .u64 } .atype = { .s8 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_int"), doc("data-movement-and-conversion-instructions-cvt", "an integer clamped to another width or sign.")),
  row("cvt.sat.dtype.atype  d:=.dtype+, a:.atype+ ; .dtype = { .u8, .u16, .u32, .u64, .s8 } .atype = { .s16 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_int"), doc("data-movement-and-conversion-instructions-cvt", "an integer clamped to another width or sign.")),
  row("cvt.sat.dtype.atype  d:=.dtype+, a:.atype+ ; .dtype = { .u8, .u16, .u32, .u64, .s8, .s16 } .atype = { .s32 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_int"), doc("data-movement-and-conversion-instructions-cvt", "an integer clamped to another width or sign.")),
  row("cvt.sat.dtype.atype  d:=.dtype+, a:.atype+ ; .dtype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32 } .atype = { .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_int"), doc("data-movement-and-conversion-instructions-cvt", "an integer clamped to another width or sign.")),
  row("cvt.dtype.atype  d:=.dtype+, a:special.atype+ ; .dtype = { .u32, .u64, .s32, .s64 } .atype = { .u32, .u64, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_special"),
      doc("data-movement-and-conversion-instructions-cvt", "a special register in another width or sign.")),
  row("cvt.irnd{.ftz}{.sat}.dtype.f32  d:=.dtype+, a:.f32+ ;"
      " .irnd = { .rni, .rzi, .rmi, .rpi } .dtype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_f32_int"), doc("data-movement-and-conversion-instructions-cvt", "an f32 rounded to an integer.")),
  row("cvt.irnd{.sat}.dtype.f64  d:=.dtype+, a:.f64+ ;"
      " .irnd = { .rni, .rzi, .rmi, .rpi } .dtype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }",
      since(1,0), on(sm_13), Effect::pure, exec("cvt_f64_int"), doc("data-movement-and-conversion-instructions-cvt", "an f64 rounded to an integer.")),
  row("cvt.frnd{.sat}.f32.atype  d:=.f32+, a:.atype+ ;"
      " .frnd = { .rn, .rz, .rm, .rp } .atype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_f32"), doc("data-movement-and-conversion-instructions-cvt", "an integer rounded to f32.")),
  row("cvt.frnd{.sat}.f64.atype  d:=.f64+, a:.atype+ ;"
      " .frnd = { .rn, .rz, .rm, .rp } .atype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }",
      since(1,0), on(sm_13), Effect::pure, exec("cvt_int_f64"), doc("data-movement-and-conversion-instructions-cvt", "an integer rounded to f64.")),
  row("cvt{.irnd}{.ftz}{.sat}.f32.f32  d:=.f32+, a:.f32+ ; .irnd = { .rni, .rzi, .rmi, .rpi }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_f32_f32"), doc("data-movement-and-conversion-instructions-cvt", "an f32, perhaps rounded to a whole number or clamped.")),
  row("cvt{.ftz}{.sat}.f64.f32  d:=.f64, a:.f32+ ;",
      since(1,0), on(sm_13), Effect::pure, exec("cvt_f32_f64"), doc("data-movement-and-conversion-instructions-cvt", "an f32 as f64, exact.")),
  row("cvt.frnd{.ftz}{.sat}.f32.f64  d:=.f32+, a:.f64+ ; .frnd = { .rn, .rz, .rm, .rp }",
      since(1,0), on(sm_13), Effect::pure, exec("cvt_f64_f32"), doc("data-movement-and-conversion-instructions-cvt", "an f64 rounded to f32.")),
  row("cvt{.ftz}{.sat}.f32.f16  d:=.f32+, a:.f16+ ;",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_f16_f32"), doc("data-movement-and-conversion-instructions-cvt", "an f16 as f32, exact.")),
  row("cvt{.ftz}.f32.bf16  d:=.f32, a:.bf16 ; .ftz = { .ftz @7.8 @sm_90 }",
      since(7,1), on(sm_80), Effect::pure, exec("cvt_bf16_f32"), doc("data-movement-and-conversion-instructions-cvt", "a bf16 as f32, exact.")),
  row("cvt.frnd{.ftz}{.sat}.f16.f32  d:=.f16+, a:.f32+ ; .frnd = { .rn, .rz, .rm, .rp }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_f32_f16"), doc("data-movement-and-conversion-instructions-cvt", "an f32 rounded to f16.")),
  row("cvt.frnd{.relu}{.satfinite}.bf16.f32  d:=.bf16, a:.f32 ; .frnd = { .rn, .rz } .relu = { .relu } .satfinite = { .satfinite @8.1 }",
      since(7,0), on(sm_80), Effect::pure, exec("cvt_f32_bf16"), doc("data-movement-and-conversion-instructions-cvt", "an f32 rounded to bf16.")),
  row("cvt.frnd{.relu}{.satfinite}.dtype.f32  d:=.dtype+, a:.f32+, b:.f32+ ; .frnd = { .rn, .rz } .dtype = { .f16x2 } .satfinite = { .satfinite @8.1 }",
      since(7,0), on(sm_80), Effect::pure, exec("cvt_f32_half2"), doc("data-movement-and-conversion-instructions-cvt", "two f32 rounded and packed, a in the upper half.")),
  row("cvt.frnd{.relu}{.satfinite}.dtype.f32  d:=.dtype, a:.f32, b:.f32 ; .frnd = { .rn, .rz } .dtype = { .bf16x2 } .satfinite = { .satfinite @8.1 }",
      since(7,0), on(sm_80), Effect::pure, exec("cvt_f32_half2"), doc("data-movement-and-conversion-instructions-cvt", "two f32 rounded and packed, a in the upper half.")),
  row("cvt.rna{.satfinite}.tf32.f32  d:=.tf32, a:.f32 ; .satfinite = { .satfinite @8.1 }",
      since(7,0), on(sm_80), Effect::pure, not_executed("the executor has no tensor-core formats yet"),
      doc("data-movement-and-conversion-instructions-cvt", "an f32 rounded to tf32.")),
  row("cvt.rn.satfinite{.relu}.dtype.f32  d:=.dtype, a:.f32, b:.f32 ; .dtype = { .e4m3x2, .e5m2x2 }",
      since(8,1), on(sm_89), Effect::pure, not_executed("the executor has no fp8 formats yet"),
      doc("data-movement-and-conversion-instructions-cvt", "two f32 rounded to fp8 and packed, a in the upper byte.")),
};
// clang-format on

}  // namespace ptx::isa::table
