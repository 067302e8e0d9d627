// Memory of several devices behind one address (manual: "Data Movement and Conversion Instructions: multimem").
#pragma once

#include "ptx/isa/row.hpp"

#define PTX_MULTIMEM "data-movement-and-conversion-instructions-multimem"
#define PTX_MULTIMEM_ORDER(sems) " .sem = { " sems " } .scope = { .cta, .cluster, .gpu, .sys } .ss = { .global }"
#define PTX_MULTIMEM_FP8 on(sm_100f, sm_101f, sm_110f, sm_120a, sm_121a)

namespace ptx::isa::table {

// clang-format off
inline constexpr Row multimem[] = {
  // ---- multimem.ld_reduce: one value out of the memory of all GPUs behind a multicast address
  row("multimem.ld_reduce{.weak}{.ss}.op.type  d:=.type, [a:.ss] ; .ss = { .global } .op = { .min, .max } .type = { .u32, .s32, .u64, .s64 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest value at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.type  d:=.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .type = { .u32, .s32, .u64, .s64 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest value at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add.type  d:=.type, [a:.ss] ; .ss = { .global } .type = { .u32, .s32, .u64, .f64 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sum of the values at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add.type  d:=.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .type = { .u32, .s32, .u64, .f64 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sum of the values at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.type  d:=.type, [a:.ss] ; .ss = { .global } .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the values at the multimem address a, reduced bit by bit.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.type  d:=.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the values at the multimem address a, reduced bit by bit, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.vec}.f32  d:=.vec.f32, [a:.ss] ; .ss = { .global } .vec = { .v2, .v4 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sum of the values at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.vec}.f32  d:=.vec.f32, [a:.ss] ;" PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .vec = { .v2, .v4 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sum of the values at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.vec.type  d:=.vec.type, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest values at the multimem address a.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.vec.type  d:=.vec.b16, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest values at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.vec.type  d:=.vec.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest values at the multimem address a, ordered.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.vec.type  d:=.vec.b16, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest values at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}.vec.type  d:=.vec.type, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the values at the multimem address a, perhaps added up in f32.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}.vec.type  d:=.vec.b16, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the values at the multimem address a, perhaps added up in f32.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}.vec.type  d:=.vec.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the values at the multimem address a, ordered, perhaps added up in f32.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}.vec.type  d:=.vec.b16, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the values at the multimem address a, ordered, perhaps added up in f32.")),
  row("multimem.ld_reduce{.weak}{.ss}.op{.vec}.type  d:=.vec.type, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest pairs at the multimem address a, half by half.")),
  row("multimem.ld_reduce{.weak}{.ss}.op{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest pairs at the multimem address a, half by half.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op{.vec}.type  d:=.vec.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest pairs at the multimem address a, half by half, ordered.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest pairs at the multimem address a, half by half, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}{.vec}.type  d:=.vec.type, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the pairs at the multimem address a, perhaps added up in f32.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the pairs at the multimem address a, perhaps added up in f32.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}{.vec}.type  d:=.vec.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the pairs at the multimem address a, ordered, perhaps added up in f32.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the pairs at the multimem address a, ordered, perhaps added up in f32.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.vec.type  d:=.vec.b8, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.vec.type  d:=.vec.b8, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}.vec.type  d:=.vec.b8, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f16 } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, perhaps added up in f16.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}.vec.type  d:=.vec.b8, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f16 } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, ordered, perhaps added up in f16.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.vec.type  d:=.vec.b16, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.vec.type  d:=.vec.b16, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}.vec.type  d:=.vec.b16, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f16 } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, perhaps added up in f16.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}.vec.type  d:=.vec.b16, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f16 } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, ordered, perhaps added up in f16.")),
  row("multimem.ld_reduce{.weak}{.ss}.op{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f16 } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, perhaps added up in f16.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f16 } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, reads("a"), syncs(Sync::access), exec("multimem_ld_reduce"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, ordered, perhaps added up in f16.")),
  row("multimem.st{.weak}{.ss}.type  [a:.ss], b:.type ;"
      " .ss = { .global } .type = { .b32, .b64, .u32, .u64, .s32, .s64, .f64 }",
      since(8,1), on(sm_90), writes("a"), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}.type  [a:.ss], b:.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .type = { .b32, .b64, .u32, .u64, .s32, .s64, .f64 }",
      since(8,1), on(sm_90), writes("a"), syncs(Sync::access), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}{.vec}.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .f32 }",
      since(8,1), on(sm_90), writes("a"), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}{.vec}.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .f32 }",
      since(8,1), on(sm_90), writes("a"), syncs(Sync::access), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}.vec.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), writes("a"), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st{.weak}{.ss}.vec.type  [a:.ss], b:.vec.b16 ;"
      " .ss = { .global } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), writes("a"), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}.vec.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), writes("a"), syncs(Sync::access), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st.sem.scope{.ss}.vec.type  [a:.ss], b:.vec.b16 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), writes("a"), syncs(Sync::access), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}{.vec}.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), writes("a"), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st{.weak}{.ss}{.vec}.type  [a:.ss], b:.vec.b32 ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), writes("a"), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}{.vec}.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), writes("a"), syncs(Sync::access), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st.sem.scope{.ss}{.vec}.type  [a:.ss], b:.vec.b32 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), writes("a"), syncs(Sync::access), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}.vec.type  [a:.ss], b:.vec.b8 ;"
      " .ss = { .global } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, writes("a"), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}.vec.type  [a:.ss], b:.vec.b8 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, writes("a"), syncs(Sync::access), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}.vec.type  [a:.ss], b:.vec.b16 ;"
      " .ss = { .global } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, writes("a"), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}.vec.type  [a:.ss], b:.vec.b16 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, writes("a"), syncs(Sync::access), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}{.vec}.type  [a:.ss], b:.vec.b32 ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, writes("a"), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}{.vec}.type  [a:.ss], b:.vec.b32 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, writes("a"), syncs(Sync::access), exec("multimem_st"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.red{.ss}.op.type  [a:.ss], b:.type ;"
      " .ss = { .global } .op = { .min, .max } .type = { .u32, .s32, .u64, .s64 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = the lesser or greater of it and b.")),
  row("multimem.red.sem.scope{.ss}.op.type  [a:.ss], b:.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .op = { .min, .max } .type = { .u32, .s32, .u64, .s64 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = the lesser or greater of it and b, ordered.")),
  row("multimem.red{.ss}.add.type  [a:.ss], b:.type ;"
      " .ss = { .global } .type = { .u32, .s32, .u64, .f64 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b.")),
  row("multimem.red.sem.scope{.ss}.add.type  [a:.ss], b:.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .type = { .u32, .s32, .u64, .f64 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, ordered.")),
  row("multimem.red{.ss}.op.type  [a:.ss], b:.type ;"
      " .ss = { .global } .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it op b.")),
  row("multimem.red.sem.scope{.ss}.op.type  [a:.ss], b:.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it op b, ordered.")),
  row("multimem.red{.ss}.add{.vec}.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .f32 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b.")),
  row("multimem.red.sem.scope{.ss}.add{.vec}.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .f32 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, ordered.")),
  row("multimem.red{.ss}.add.vec.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4, .v8 } .type = { .f16, .bf16 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, element by element.")),
  row("multimem.red.sem.scope{.ss}.add.vec.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4, .v8 } .type = { .f16, .bf16 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, element by element, ordered.")),
  row("multimem.red{.ss}.add{.vec}.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .f16x2, .bf16x2 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, half by half.")),
  row("multimem.red.sem.scope{.ss}.add{.vec}.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .f16x2, .bf16x2 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access), exec("multimem_red"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, half by half, ordered.")),
  // ---- bulk copies and reductions of shared memory into it (PTX 9.1)
  row("multimem.cp.async.bulk{.weak}.dst.src.completion{.cp_mask}  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 {, byteMask:.u16 @.cp_mask} ;"
      " .weak = { .weak @9.3 } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .cp_mask = { .cp_mask @sm_100 }",
      since(9,1), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("multimem_cp_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-async-bulk", "begin to copy size bytes of shared memory to a multimem address, of each 16 those that byteMask tells.")),
  row("multimem.cp.async.bulk.sem.scope.dst.src.completion{.cp_mask}.b128  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 {, byteMask:.u16 @.cp_mask} ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }"
      " .cp_mask = { .cp_mask @sm_100 }",
      since(9,3), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("multimem_cp_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-async-bulk", "begin to copy size bytes of shared memory to a multimem address, 16 at once.")),
  row("multimem.cp.reduce.async.bulk.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(9,1), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory.")),
  row("multimem.cp.reduce.async.bulk.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .add } .type = { .u32, .s32, .u64, .f32, .f64 }",
      since(9,1), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory.")),
  row("multimem.cp.reduce.async.bulk.dst.src.completion.op.noftz.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .add } .type = { .f16, .bf16 }",
      since(9,1), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory.")),
  row("multimem.cp.reduce.async.bulk.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .inc, .dec } .type = { .u32 }",
      since(9,1), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory.")),
  row("multimem.cp.reduce.async.bulk.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .min, .max } .type = { .u32, .s32, .u64, .s64, .f16, .bf16 }",
      since(9,1), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory.")),
  row("multimem.cp.reduce.async.bulk.sem.scope.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory, each element at once.")),
  row("multimem.cp.reduce.async.bulk.sem.scope.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .add } .type = { .u32, .s32, .u64, .f32, .f64 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory, each element at once.")),
  row("multimem.cp.reduce.async.bulk.sem.scope.dst.src.completion.op.noftz.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .add } .type = { .f16, .bf16 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory, each element at once.")),
  row("multimem.cp.reduce.async.bulk.sem.scope.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .inc, .dec } .type = { .u32 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory, each element at once.")),
  row("multimem.cp.reduce.async.bulk.sem.scope.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0../16 ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group } .op = { .min, .max } .type = { .u32, .s32, .u64, .s64, .f16, .bf16 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("multimem_cp_reduce_async_bulk"),
      doc("data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk", "begin to reduce memory at a multimem address with size bytes of shared memory, each element at once.")),

  // ---- asynchronous stores and reductions (PTX 9.3)
  row("multimem.st.async.sem.scope{.ss}.type  [a:.ss], b:.type ;"
      " .sem = { .release } .scope = { .gpu, .sys } .ss = { .global }"
      " .type = { .b8, .b16, .b32, .b64, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64 }",
      since(9,3), on(sm_100), writes("a"), async(Proxy::generic, Event::untold), syncs(Sync::access), exec("multimem_st_async"),
      doc("data-movement-and-conversion-instructions-multimem-st-async", "begin to store b at a multimem address, after all writes so far.")),
  row("multimem.red.async.sem.scope{.ss}.op.type  [a:.ss], b:.type ;"
      " .sem = { .release } .scope = { .gpu, .sys } .ss = { .global } .op = { .add } .type = { .u32, .s32, .u64 }",
      since(9,3), on(sm_100), reads("a"), writes("a"), async(Proxy::generic, Event::untold), syncs(Sync::access), exec("multimem_red_async"),
      doc("parallel-synchronization-and-communication-instructions-multimem-red-async", "begin to add b at a multimem address, after all writes so far.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_MULTIMEM
#undef PTX_MULTIMEM_ORDER
#undef PTX_MULTIMEM_FP8
