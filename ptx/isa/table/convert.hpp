// Conversion: between integers, f32 and f64; from and to halves, bf16, tf32, fp8, fp6, fp4 and scale factors (manual: "Data
// Movement and Conversion Instructions: cvt, cvt.pack").
#pragma once

#include "ptx/isa/row.hpp"

#define PTX_INTEGERS " .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 "
#define PTX_CVT "data-movement-and-conversion-instructions-cvt"

#define PTX_CVT_SPECIAL_SAT(dtypes, atype)                                                                               \
  row("cvt.sat.dtype.atype  d:=.dtype+, a:special.atype+ ; .dtype = { " dtypes " } .atype = { " atype " }", since(1, 0), \
      on(sm_10), Effect::pure, exec("cvt_special"),                                                                      \
      doc("data-movement-and-conversion-instructions-cvt", "a special register clamped to another width or sign."))

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
  row("cvt.dtype.atype  d:=.dtype+, a:special.atype+ ; .dtype = { .u32, .u64, .s32, .s64 } .atype = { .u8, .u16, .s8, .s16 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_special"),
      doc("data-movement-and-conversion-instructions-cvt", "the low 8 or 16 bits of a special register as a wider integer.")),
  row("cvt.dtype.atype  d:=.dtype+, a:special.atype+ ;"
      " .dtype = { .u8, .u16, .s8, .s16 } .atype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_special"),
      doc("data-movement-and-conversion-instructions-cvt", "the low bits of a special register.")),
  // Clamped, as above: what the destination cannot hold.
  PTX_CVT_SPECIAL_SAT(".s8", ".u8"),
  PTX_CVT_SPECIAL_SAT(".u8, .s8, .s16", ".u16"),
  PTX_CVT_SPECIAL_SAT(".u8, .u16, .s8, .s16, .s32", ".u32"),
  PTX_CVT_SPECIAL_SAT(".u8, .u16, .u32, .s8, .s16, .s32, .s64", ".u64"),
  PTX_CVT_SPECIAL_SAT(".u8, .u16, .u32, .u64", ".s8"),
  PTX_CVT_SPECIAL_SAT(".u8, .u16, .u32, .u64, .s8", ".s16"),
  PTX_CVT_SPECIAL_SAT(".u8, .u16, .u32, .u64, .s8, .s16", ".s32"),
  PTX_CVT_SPECIAL_SAT(".u8, .u16, .u32, .u64, .s8, .s16, .s32", ".s64"),
  row("cvt.irnd{.ftz}{.sat}.dtype.f32  d:=.dtype+, a:.f32+ ;"
      " .irnd = { .rni, .rzi, .rmi, .rpi } .dtype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_f32_int"), doc("data-movement-and-conversion-instructions-cvt", "an f32 rounded to an integer.")),
  row("cvt.irnd{.sat}.dtype.f64  d:=.dtype+, a:.f64+ ;"
      " .irnd = { .rni, .rzi, .rmi, .rpi } .dtype = { .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }",
      since(1,0), on(sm_13), Effect::pure, exec("cvt_f64_int"), doc("data-movement-and-conversion-instructions-cvt", "an f64 rounded to an integer.")),
  row("cvt.frnd{.ftz}{.sat}.f32.atype  d:=.f32+, a:.atype+ ;"
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
      since(7,0), on(sm_80), Effect::pure, exec("cvt_tf32"),
      doc("data-movement-and-conversion-instructions-cvt", "an f32 rounded to tf32.")),
  row("cvt.rn.satfinite{.relu}.dtype.f32  d:=.dtype, a:.f32, b:.f32 ; .dtype = { .e4m3x2, .e5m2x2 }",
      since(7,8), on(sm_90), also(8,1, sm_89), Effect::pure, exec("cvt_f32_small"),
      doc("data-movement-and-conversion-instructions-cvt", "two f32 rounded to fp8 and packed, a in the upper byte.")),

  // f16
  row("cvt.irnd{.sat}.dtype.f16  d:=.dtype+, a:.f16+ ; .irnd = { .rni, .rzi, .rmi, .rpi } .dtype = {" PTX_INTEGERS "}",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_f16_int"),
      doc(PTX_CVT, "an f16 rounded to an integer.")),
  row("cvt.frnd{.sat}.f16.atype  d:=.f16+, a:.atype+ ; .frnd = { .rn, .rz, .rm, .rp } .atype = {" PTX_INTEGERS "}",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_int_f16"),
      doc(PTX_CVT, "an integer rounded to f16.")),
  row("cvt{.irnd}{.sat}.f16.f16  d:=.f16+, a:.f16+ ; .irnd = { .rni, .rzi, .rmi, .rpi }",
      since(1,0), on(sm_10), Effect::pure, exec("cvt_f16_f16"),
      doc(PTX_CVT, "an f16, perhaps rounded to a whole number or clamped.")),
  row("cvt{.sat}.f64.f16  d:=.f64+, a:.f16+ ;",
      since(1,0), on(sm_13), Effect::pure, exec("cvt_f16_f64"),
      doc(PTX_CVT, "an f16 as f64, exact.")),
  row("cvt.frnd{.sat}.f16.f64  d:=.f16+, a:.f64+ ; .frnd = { .rn, .rz, .rm, .rp }",
      since(1,0), on(sm_13), Effect::pure, exec("cvt_f64_f16"),
      doc(PTX_CVT, "an f64 rounded to f16.")),
  row("cvt.frnd.relu{.satfinite}.f16.f32  d:=.f16+, a:.f32+ ; .frnd = { .rn, .rz } .satfinite = { .satfinite @8.1 }",
      since(7,0), on(sm_80), Effect::pure, exec("cvt_f32_f16"),
      doc(PTX_CVT, "an f32 rounded to f16, at least 0.")),
  row("cvt.frnd.satfinite.f16.f32  d:=.f16+, a:.f32+ ; .frnd = { .rn, .rz }",
      since(8,1), on(sm_70), Effect::pure, exec("cvt_f32_f16"),
      doc(PTX_CVT, "an f32 rounded to f16, clamped to its finite range.")),
  row("cvt{.irnd}{.sat}.f64.f64  d:=.f64+, a:.f64+ ; .irnd = { .rni, .rzi, .rmi, .rpi }",
      since(1,0), on(sm_13), Effect::pure, exec("cvt_f64_f64"),
      doc(PTX_CVT, "an f64, perhaps rounded to a whole number or clamped.")),

  // bf16: the registers of integers are no wider than their types
  row("cvt.irnd.dtype.bf16  d:=.dtype, a:.bf16 ; .irnd = { .rni, .rzi, .rmi, .rpi } .dtype = {" PTX_INTEGERS "}",
      since(7,8), on(sm_90), Effect::pure, exec("cvt_bf16_int"),
      doc(PTX_CVT, "a bf16 rounded to an integer.")),
  row("cvt.frnd.bf16.atype  d:=.bf16, a:.atype ; .frnd = { .rn, .rz, .rm, .rp } .atype = {" PTX_INTEGERS "}",
      since(7,8), on(sm_90), Effect::pure, exec("cvt_int_bf16"),
      doc(PTX_CVT, "an integer rounded to bf16.")),
  row("cvt{.irnd}.bf16.bf16  d:=.bf16, a:.bf16 ; .irnd = { .rni, .rzi, .rmi, .rpi }",
      since(7,8), on(sm_90), Effect::pure, exec("cvt_bf16_bf16"),
      doc(PTX_CVT, "a bf16, perhaps rounded to a whole number.")),
  row("cvt.frnd.bf16.f32  d:=.bf16, a:.f32 ; .frnd = { .rm, .rp }",
      since(7,0), on(sm_80), Effect::pure, exec("cvt_f32_bf16"),
      doc(PTX_CVT, "an f32 rounded down or up to bf16.")),
  row("cvt.frnd.ftz.bf16.f32  d:=.bf16, a:.f32 ; .frnd = { .rn, .rz, .rm, .rp }",
      since(7,0), on(sm_80), Effect::pure, exec("cvt_f32_bf16_ftz"),
      doc(PTX_CVT, "an f32, subnormals taken as 0, rounded to bf16.")),
  row("cvt.frnd{.ftz}.f32.bf16  d:=.f32, a:.bf16 ; .frnd = { .rn, .rz, .rm, .rp } .ftz = { .ftz @7.8 @sm_90 }",
      since(7,1), on(sm_80), Effect::pure, exec("cvt_bf16_f32"),
      doc(PTX_CVT, "a bf16 as f32, exact: the rounding mode has no effect.")),
  row("cvt.frnd.dtype.atype  d:=.dtype, a:.atype ; .frnd = { .rn, .rz, .rm, .rp } .dtype = { .bf16 } .atype = { .f64 }",
      since(7,8), on(sm_90), Effect::pure, exec("cvt_f64_bf16"),
      doc(PTX_CVT, "an f64 rounded to bf16.")),
  row("cvt{.frnd}.bf16.f16  d:=.bf16, a:.f16 ; .frnd = { .rn, .rz, .rm, .rp }",
      since(7,8), on(sm_90), Effect::pure, exec("cvt_f16_bf16"),
      doc(PTX_CVT, "an f16 rounded to bf16, to nearest when no rounding is written (ptxas 13.0; the manual wants one).")),
  row("cvt{.frnd}.f16.bf16  d:=.f16, a:.bf16 ; .frnd = { .rn, .rz, .rm, .rp }",
      since(7,8), on(sm_90), Effect::pure, exec("cvt_bf16_f16"),
      doc(PTX_CVT, "a bf16 rounded to f16.")),
  row("cvt{.frnd}.f64.bf16  d:=.f64, a:.bf16 ; .frnd = { .rn, .rz, .rm, .rp }",
      since(7,8), on(sm_90), Effect::pure, exec("cvt_bf16_f64"),
      doc(PTX_CVT, "a bf16 as f64, exact.")),

  // tf32
  row("cvt.frnd{.relu}.tf32.f32  d:=.tf32, a:.f32 ; .frnd = { .rn, .rz }",
      since(7,8), on(sm_90), Effect::pure, exec("cvt_tf32"),
      doc(PTX_CVT, "an f32 rounded to tf32.")),
  row("cvt.frnd.satfinite{.relu}.tf32.f32  d:=.tf32, a:.f32 ; .frnd = { .rn, .rz }",
      since(8,6), on(sm_100), Effect::pure, exec("cvt_tf32"),
      doc(PTX_CVT, "an f32 rounded to tf32, clamped to its finite range.")),

  // stochastic rounding: random bits decide
  row("cvt.rs{.relu}{.satfinite}.f16x2.f32  d:=.f16x2+, a:.f32+, b:.f32+, rbits:%.b32 ;",
      since(8,7), on(sm_100a, sm_103a), Effect::pure, exec("cvt_rs_f16x2"),
      doc(PTX_CVT, "two f32 rounded to f16 by random bits and packed, a in the upper half.")),
  row("cvt.rs{.relu}{.satfinite}.bf16x2.f32  d:=.bf16x2, a:.f32, b:.f32, rbits:%.b32 ;",
      since(8,7), on(sm_100a, sm_103a), Effect::pure, exec("cvt_rs_bf16x2"),
      doc(PTX_CVT, "two f32 rounded to bf16 by random bits and packed, a in the upper half.")),
  row("cvt.rs{.relu}.satfinite.dtype.f32  d:=.dtype, a:.x4.f32, rbits:%.b32 ; .dtype = { .e4m3x4, .e5m2x4, .e2m3x4, .e3m2x4, .e2m1x4 }",
      since(8,7), on(sm_100a, sm_103a), Effect::pure, exec("cvt_rs_x4"),
      doc(PTX_CVT, "four f32 rounded by random bits and packed, the first uppermost.")),

  // fp8
  row("cvt.rn.satfinite{.relu}.dtype.f16x2  d:=.dtype, a:.f16x2 ; .dtype = { .e4m3x2, .e5m2x2 }",
      since(7,8), on(sm_90), also(8,1, sm_89), Effect::pure, exec("cvt_half2_small"),
      doc(PTX_CVT, "a pair of f16 rounded to fp8.")),
  row("cvt.rn{.relu}.f16x2.atype  d:=.f16x2, a:.atype ; .atype = { .e4m3x2, .e5m2x2 }",
      since(7,8), on(sm_90), also(8,1, sm_89), Effect::pure, exec("cvt_small_f16x2"),
      doc(PTX_CVT, "a pair of fp8 as f16.")),

  // fp6, fp4
  row("cvt.rn.satfinite{.relu}.dtype.f32  d:=.dtype, a:.f32, b:.f32 ; .dtype = { .e2m3x2, .e3m2x2, .e2m1x2 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), Effect::pure, exec("cvt_f32_small"),
      doc(PTX_CVT, "two f32 rounded to fp6 or fp4 and packed, a in the upper part.")),
  row("cvt.rn{.relu}.f16x2.atype  d:=.f16x2, a:.atype ; .atype = { .e2m3x2, .e3m2x2, .e2m1x2 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), Effect::pure, exec("cvt_small_f16x2"),
      doc(PTX_CVT, "a pair of fp6 or fp4 as f16.")),

  // from and to bf16 pairs and s2f6 (PTX 9.1 and 9.2)
  row("cvt.rn.satfinite{.relu}.dtype.bf16x2  d:=.dtype, a:.bf16x2 ; .dtype = { .e4m3x2, .e5m2x2 }",
      since(9,1), on(sm_100f, sm_110f, sm_120f), Effect::pure, exec("cvt_half2_small"),
      doc(PTX_CVT, "a pair of bf16 rounded to fp8.")),
  row("cvt.rn.satfinite{.relu}.dtype.atype  d:=.dtype, a:.atype ; .dtype = { .e2m3x2, .e3m2x2 } .atype = { .f16x2, .bf16x2 }",
      since(9,1), on(sm_100f, sm_110f, sm_120f), Effect::pure, exec("cvt_half2_small"),
      doc(PTX_CVT, "a pair of halves rounded to fp6 or fp4.")),
  row("cvt.rn.satfinite{.relu}.e2m1x2.atype  d:=.e2m1x2, a:.atype ; .atype = { .f16x2, .bf16x2 @9.1 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), Effect::pure, exec("cvt_half2_small"),
      doc(PTX_CVT, "a pair of halves rounded to fp6 or fp4.")),
  row("cvt.rn{.satfinite}{.relu}{.scaled}.bf16x2.atype  d:=.bf16x2, a:.atype {, scale:.b16 @.scaled} ;"
      " .scaled = { .scaled::n2::ue8m0 } .atype = { .e4m3x2, .e5m2x2, .e2m3x2, .e3m2x2, .e2m1x2 }",
      since(9,2), on(sm_100f, sm_110f, sm_120f), Effect::pure, exec("cvt_small_bf16x2"),
      doc(PTX_CVT, "a pair of fp8, fp6 or fp4 as bf16, perhaps times a pair of powers of two.")),
  row("cvt.rn.satfinite{.relu}{.scaled}.s2f6x2.f32  d:=.b16, a:.f32, b:.f32 {, scale:.b16 @.scaled} ; .scaled = { .scaled::n2::ue8m0 }",
      since(9,1), on(sm_100a, sm_103a, sm_110a, sm_120a, sm_121a), Effect::pure, exec("cvt_f32_s2f6x2"),
      doc(PTX_CVT, "two f32, perhaps over a pair of powers of two, rounded to s2f6 and packed, a in the upper byte.")),
  row("cvt.rn.satfinite{.relu}{.scaled}.s2f6x2.bf16x2  d:=.b16, a:.bf16x2 {, scale:.b16 @.scaled} ; .scaled = { .scaled::n2::ue8m0 }",
      since(9,1), on(sm_100a, sm_103a, sm_110a, sm_120a, sm_121a), Effect::pure, exec("cvt_bf16x2_s2f6x2"),
      doc(PTX_CVT, "a pair of bf16, perhaps over a pair of powers of two, rounded to s2f6.")),
  row("cvt.rn{.satfinite}{.relu}{.scaled}.bf16x2.s2f6x2  d:=.bf16x2, a:.b16 {, scale:.b16 @.scaled} ; .scaled = { .scaled::n2::ue8m0 }",
      since(9,1), on(sm_100a, sm_103a, sm_110a, sm_120a, sm_121a), Effect::pure, exec("cvt_s2f6x2_bf16x2"),
      doc(PTX_CVT, "a pair of s2f6 as bf16, perhaps times a pair of powers of two.")),

  // scale factors
  row("cvt.frnd{.satfinite}.ue8m0x2.f32  d:=.ue8m0x2, a:.f32, b:.f32 ; .frnd = { .rz, .rp }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), Effect::pure, exec("cvt_f32_ue8m0x2"),
      doc(PTX_CVT, "two f32 rounded to powers of two and packed, a in the upper byte.")),
  row("cvt.frnd{.satfinite}.ue8m0x2.bf16x2  d:=.ue8m0x2, a:%.b32 ; .frnd = { .rz, .rp }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), Effect::pure, exec("cvt_bf16x2_ue8m0x2"),
      doc(PTX_CVT, "a pair of bf16 rounded to powers of two.")),
  row("cvt.rn.bf16x2.ue8m0x2  d:=.b32, a:.ue8m0x2 ;",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), Effect::pure, exec("cvt_ue8m0x2_bf16x2"),
      doc(PTX_CVT, "a pair of powers of two as bf16.")),

  // cvt.pack
  row("cvt.pack.sat.dtype.s32  d:=.s32+, a:.s32+, b:.s32+ ; .dtype = { .u16, .s16 }",
      since(6,5), on(sm_72), Effect::pure, exec("cvt_pack"),
      doc("data-movement-and-conversion-instructions-cvt-pack", "two s32 clamped to 16 bits and packed, a in the upper half.")),
  row("cvt.pack.sat.dtype.s32.b32  d:=.s32+, a:.s32+, b:.s32+, c:.b32+ ; .dtype = { .u8, .s8, .u4 @sm_75, .s4 @sm_75, .u2 @sm_75, .s2 @sm_75 }",
      since(6,5), on(sm_72), Effect::pure, exec("cvt_pack"),
      doc("data-movement-and-conversion-instructions-cvt-pack", "two s32 clamped to 8, 4 or 2 bits and packed below the low part of c.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_CVT_SPECIAL_SAT
#undef PTX_INTEGERS
#undef PTX_CVT
