// Atomics and reductions (manual: "Parallel Synchronization and Communication Instructions: atom, red, redux.sync" and "Data
// Movement and Conversion Instructions: multimem").
#pragma once

#include "ptx/isa/row.hpp"

// Slots that many rows share. A cache policy exists in global memory and through generic addresses alone, so that each operation
// has two rows.
#define PTX_ATOM_SEM " .sem = { .relaxed @6.0 @sm_70, .acquire @6.0 @sm_70, .release @6.0 @sm_70, .acq_rel @6.0 @sm_70 }"
#define PTX_RED_SEM " .sem = { .relaxed @6.0 @sm_70, .release @6.0 @sm_70 }"
#define PTX_SCOPE " .scope = { .cta @5.0 @sm_60, .cluster @7.8 @sm_90, .gpu @5.0 @sm_60, .sys @5.0 @sm_60 }"
#define PTX_SCOPE_OF_128 " .scope = { .cta, .cluster, .gpu, .sys @8.4 }"
#define PTX_GLOBAL_HINT " .ss = { .global } .l2 = { .L2::cache_hint @7.4 @sm_80 }"
#define PTX_SHARED " .ss = { .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90 }"
#define PTX_GLOBAL_SHARED " .ss = { .global, .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90 }"
#define PTX_ATOM "parallel-synchronization-and-communication-instructions-atom"
#define PTX_RED "parallel-synchronization-and-communication-instructions-red"
#define PTX_MULTIMEM "data-movement-and-conversion-instructions-multimem"
#define PTX_MULTIMEM_ORDER(sems) " .sem = { " sems " } .scope = { .cta, .cluster, .gpu, .sys } .ss = { .global }"
#define PTX_MULTIMEM_FP8 on(sm_100f, sm_101f, sm_110f, sm_120a, sm_121a)

namespace ptx::isa::table {

// clang-format off
inline constexpr Row atomics[] = {
  // ---- atom: d is what memory held before. In global memory and through generic addresses:
  row("atom{.sem}{.scope}{.ss}.op{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .and, .or, .xor } .type = { .b32, .b64 @3.1 @sm_32 }",
      since(1,1), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it op b.")),
  row("atom{.sem}{.scope}{.ss}.exch{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .b32, .b64 @1.2 @sm_12 }",
      since(1,1), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = b.")),
  row("atom{.sem}{.scope}{.ss}.exch{.l2}.b128  d:=?.b128, [a:.ss], b:.b128 {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE_OF_128 PTX_GLOBAL_HINT,
      since(8,3), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = 16 bytes of memory at a; memory at a = b.")),
  row("atom{.sem}{.scope}{.ss}.add{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .u32, .s32, .u64 @1.2 @sm_12, .f32 @2.0 @sm_20, .f64 @5.0 @sm_60 }",
      since(1,1), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b.")),
  row("atom{.sem}{.scope}{.ss}.add.noftz{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .f16 @6.3 @sm_70, .f16x2, .bf16 @7.8 @sm_90, .bf16x2 @7.8 @sm_90 }",
      since(6,2), on(sm_60), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b, subnormal numbers kept; each half of a pair is atomic of itself.")),
  row("atom{.sem}{.scope}{.ss}.op{.l2}.u32  d:=?.u32, [a:.ss], b:.u32 {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .inc, .dec }",
      since(1,1), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a, which counts up to b and then from 0 again (inc), or down from b (dec).")),
  row("atom{.sem}{.scope}{.ss}.op{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .min, .max } .type = { .u32, .s32, .u64 @3.1 @sm_32, .s64 @3.1 @sm_32 }",
      since(1,1), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = the lesser or greater of it and b.")),
  // In shared memory:
  row("atom{.sem}{.scope}.ss.op.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .op = { .and, .or, .xor } .type = { .b32, .b64 @3.1 @sm_32 }",
      since(1,2), on(sm_12), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it op b.")),
  row("atom{.sem}{.scope}.ss.exch.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .type = { .b32, .b64 @2.0 @sm_20 }",
      since(1,2), on(sm_12), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = b.")),
  row("atom{.sem}{.scope}.ss.exch.b128  d:=?.b128, [a:.ss], b:.b128 ;" PTX_ATOM_SEM PTX_SCOPE_OF_128 PTX_SHARED,
      since(8,3), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = 16 bytes of memory at a; memory at a = b.")),
  row("atom{.sem}{.scope}.ss.add.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .type = { .u32, .s32, .u64 @2.0 @sm_20, .f32 @2.0 @sm_20, .f64 @5.0 @sm_60 }",
      since(1,2), on(sm_12), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b.")),
  row("atom{.sem}{.scope}.ss.add.noftz.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .type = { .f16 @6.3 @sm_70, .f16x2, .bf16 @7.8 @sm_90, .bf16x2 @7.8 @sm_90 }",
      since(6,2), on(sm_60), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b, subnormal numbers kept; each half of a pair is atomic of itself.")),
  row("atom{.sem}{.scope}.ss.op.u32  d:=?.u32, [a:.ss], b:.u32 ;" PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .op = { .inc, .dec }",
      since(1,2), on(sm_12), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a, which counts up to b and then from 0 again (inc), or down from b (dec).")),
  row("atom{.sem}{.scope}.ss.op.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .op = { .min, .max } .type = { .u32, .s32, .u64 @3.1 @sm_32, .s64 @3.1 @sm_32 }",
      since(1,2), on(sm_12), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = the lesser or greater of it and b.")),
  // Compare and swap, which takes no cache policy anywhere:
  row("atom{.sem}{.scope}{.ss}.cas.type  d:=?.type, [a:.ss], b:.type, c:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_SHARED " .type = { .b16 @6.3 @sm_70, .b32, .b64 @1.2 @sm_12 }",
      since(1,1), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = c if it was b.")),
  row("atom{.sem}{.scope}{.ss}.cas.b128  d:=?.b128, [a:.ss], b:.b128, c:.b128 ;" PTX_ATOM_SEM PTX_SCOPE_OF_128 PTX_GLOBAL_SHARED,
      since(8,3), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = 16 bytes of memory at a; memory at a = c if it was b.")),
  // Vectors, in global memory; each element is atomic of itself:
  row("atom{.sem}{.scope}{.ss}.add{.l2}.vec.f32  d:=?.vec.f32, [a:.ss], b:.vec.f32 {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .vec = { .v2, .v4 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b, element by element.")),
  row("atom{.sem}{.scope}{.ss}.op.noftz{.l2}.vec.type  d:=?.vec.type, [a:.ss], b:.vec.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .add, .min, .max } .vec = { .v2, .v4, .v8 } .type = { .f16, .bf16 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it op b, element by element, subnormal numbers kept.")),
  row("atom{.sem}{.scope}{.ss}.op.noftz{.l2}.vec.type  d:=?.vec.type, [a:.ss], b:.vec.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .add, .min, .max } .vec = { .v2, .v4 } .type = { .f16x2, .bf16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it op b, half by half, subnormal numbers kept.")),

  // ---- red: as atom, without telling what memory held. In global memory and through generic addresses:
  row("red{.sem}{.scope}{.ss}.op{.l2}.type  [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .and, .or, .xor } .type = { .b32, .b64 @3.1 @sm_32 }",
      since(1,2), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = it op b.")),
  row("red{.sem}{.scope}{.ss}.add{.l2}.type  [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .u32, .s32, .u64 @1.2 @sm_12, .f32 @2.0 @sm_20, .f64 @5.0 @sm_60 }",
      since(1,2), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = it + b.")),
  row("red{.sem}{.scope}{.ss}.add.noftz{.l2}.type  [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .f16 @6.3 @sm_70, .f16x2, .bf16 @7.8 @sm_90, .bf16x2 @7.8 @sm_90 }",
      since(6,2), on(sm_60), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = it + b, subnormal numbers kept; each half of a pair is atomic of itself.")),
  row("red{.sem}{.scope}{.ss}.op{.l2}.u32  [a:.ss], b:.u32 {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .inc, .dec }",
      since(1,2), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a counts up to b and then from 0 again (inc), or down from b (dec).")),
  row("red{.sem}{.scope}{.ss}.op{.l2}.type  [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .min, .max } .type = { .u32, .s32, .u64 @3.1 @sm_32, .s64 @3.1 @sm_32 }",
      since(1,2), on(sm_11), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = the lesser or greater of it and b.")),
  // In shared memory:
  row("red{.sem}{.scope}.ss.op.type  [a:.ss], b:.type ;"
      PTX_RED_SEM PTX_SCOPE PTX_SHARED " .op = { .and, .or, .xor } .type = { .b32, .b64 @3.1 @sm_32 }",
      since(1,2), on(sm_12), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = it op b.")),
  row("red{.sem}{.scope}.ss.add.type  [a:.ss], b:.type ;"
      PTX_RED_SEM PTX_SCOPE PTX_SHARED " .type = { .u32, .s32, .u64 @2.0 @sm_20, .f32 @2.0 @sm_20, .f64 @5.0 @sm_60 }",
      since(1,2), on(sm_12), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = it + b.")),
  row("red{.sem}{.scope}.ss.add.noftz.type  [a:.ss], b:.type ;"
      PTX_RED_SEM PTX_SCOPE PTX_SHARED " .type = { .f16 @6.3 @sm_70, .f16x2, .bf16 @7.8 @sm_90, .bf16x2 @7.8 @sm_90 }",
      since(6,2), on(sm_60), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = it + b, subnormal numbers kept; each half of a pair is atomic of itself.")),
  row("red{.sem}{.scope}.ss.op.u32  [a:.ss], b:.u32 ;" PTX_RED_SEM PTX_SCOPE PTX_SHARED " .op = { .inc, .dec }",
      since(1,2), on(sm_12), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a counts up to b and then from 0 again (inc), or down from b (dec).")),
  row("red{.sem}{.scope}.ss.op.type  [a:.ss], b:.type ;"
      PTX_RED_SEM PTX_SCOPE PTX_SHARED " .op = { .min, .max } .type = { .u32, .s32, .u64 @3.1 @sm_32, .s64 @3.1 @sm_32 }",
      since(1,2), on(sm_12), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = the lesser or greater of it and b.")),
  // Vectors, in global memory:
  row("red{.sem}{.scope}{.ss}.add{.l2}.vec.f32  [a:.ss], b:.vec.f32 {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .vec = { .v2, .v4 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = it + b, element by element.")),
  row("red{.sem}{.scope}{.ss}.op.noftz{.l2}.vec.type  [a:.ss], b:.vec.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .add, .min, .max } .vec = { .v2, .v4, .v8 } .type = { .f16, .bf16 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = it op b, element by element, subnormal numbers kept.")),
  row("red{.sem}{.scope}{.ss}.op.noftz{.l2}.vec.type  [a:.ss], b:.vec.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .add, .min, .max } .vec = { .v2, .v4 } .type = { .f16x2, .bf16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor does not run atomics yet"),
      doc(PTX_RED, "memory at a = it op b, half by half, subnormal numbers kept.")),

  // ---- redux.sync of floating-point numbers
  row("redux.sync.op{.abs}{.NaN}.f32  d:=.f32, a:.f32, membermask:.u32 ; .op = { .min, .max }",
      since(8,6), on(sm_100f), Effect::sync, not_executed("the executor does not reduce floating-point numbers over a warp yet"),
      doc("parallel-synchronization-and-communication-instructions-redux-sync", "the least or greatest a, or |a|, of all member lanes.")),

  // ---- multimem.ld_reduce: one value out of the memory of all GPUs behind a multicast address
  row("multimem.ld_reduce{.weak}{.ss}.op.type  d:=.type, [a:.ss] ; .ss = { .global } .op = { .min, .max } .type = { .u32, .s32, .u64, .s64 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest value at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.type  d:=.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .type = { .u32, .s32, .u64, .s64 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest value at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add.type  d:=.type, [a:.ss] ; .ss = { .global } .type = { .u32, .s32, .u64, .f64 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sum of the values at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add.type  d:=.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .type = { .u32, .s32, .u64, .f64 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sum of the values at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.type  d:=.type, [a:.ss] ; .ss = { .global } .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the values at the multimem address a, reduced bit by bit.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.type  d:=.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the values at the multimem address a, reduced bit by bit, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.vec}.f32  d:=.vec.f32, [a:.ss] ; .ss = { .global } .vec = { .v2, .v4 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sum of the values at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.vec}.f32  d:=.vec.f32, [a:.ss] ;" PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .vec = { .v2, .v4 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sum of the values at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.vec.type  d:=.vec.type, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest values at the multimem address a.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.vec.type  d:=.vec.b16, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest values at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.vec.type  d:=.vec.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest values at the multimem address a, ordered.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.vec.type  d:=.vec.b16, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest values at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}.vec.type  d:=.vec.type, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the values at the multimem address a, perhaps added up in f32.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}.vec.type  d:=.vec.b16, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the values at the multimem address a, perhaps added up in f32.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}.vec.type  d:=.vec.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the values at the multimem address a, ordered, perhaps added up in f32.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}.vec.type  d:=.vec.b16, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the values at the multimem address a, ordered, perhaps added up in f32.")),
  row("multimem.ld_reduce{.weak}{.ss}.op{.vec}.type  d:=.vec.type, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest pairs at the multimem address a, half by half.")),
  row("multimem.ld_reduce{.weak}{.ss}.op{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest pairs at the multimem address a, half by half.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op{.vec}.type  d:=.vec.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest pairs at the multimem address a, half by half, ordered.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest pairs at the multimem address a, half by half, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}{.vec}.type  d:=.vec.type, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the pairs at the multimem address a, perhaps added up in f32.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the pairs at the multimem address a, perhaps added up in f32.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}{.vec}.type  d:=.vec.type, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the pairs at the multimem address a, ordered, perhaps added up in f32.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f32 @8.2 } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the pairs at the multimem address a, ordered, perhaps added up in f32.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.vec.type  d:=.vec.b8, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.vec.type  d:=.vec.b8, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}.vec.type  d:=.vec.b8, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f16 } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, perhaps added up in f16.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}.vec.type  d:=.vec.b8, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f16 } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, ordered, perhaps added up in f16.")),
  row("multimem.ld_reduce{.weak}{.ss}.op.vec.type  d:=.vec.b16, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op.vec.type  d:=.vec.b16, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}.vec.type  d:=.vec.b16, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f16 } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, perhaps added up in f16.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}.vec.type  d:=.vec.b16, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f16 } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, ordered, perhaps added up in f16.")),
  row("multimem.ld_reduce{.weak}{.ss}.op{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      " .ss = { .global } .op = { .min, .max } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a.")),
  row("multimem.ld_reduce.sem.scope{.ss}.op{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .op = { .min, .max } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the least or greatest fp8 numbers at the multimem address a, ordered.")),
  row("multimem.ld_reduce{.weak}{.ss}.add{.acc}{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      " .ss = { .global } .acc = { .acc::f16 } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, perhaps added up in f16.")),
  row("multimem.ld_reduce.sem.scope{.ss}.add{.acc}{.vec}.type  d:=.vec.b32, [a:.ss] ;"
      PTX_MULTIMEM_ORDER(".relaxed, .acquire") " .acc = { .acc::f16 } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::reads_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "d = the sums of the fp8 numbers at the multimem address a, ordered, perhaps added up in f16.")),
  row("multimem.st{.weak}{.ss}.type  [a:.ss], b:.type ;"
      " .ss = { .global } .type = { .b32, .b64, .u32, .u64, .s32, .s64, .f64 }",
      since(8,1), on(sm_90), Effect::writes_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}.type  [a:.ss], b:.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .type = { .b32, .b64, .u32, .u64, .s32, .s64, .f64 }",
      since(8,1), on(sm_90), Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}{.vec}.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .f32 }",
      since(8,1), on(sm_90), Effect::writes_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}{.vec}.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .f32 }",
      since(8,1), on(sm_90), Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}.vec.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), Effect::writes_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st{.weak}{.ss}.vec.type  [a:.ss], b:.vec.b16 ;"
      " .ss = { .global } .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), Effect::writes_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}.vec.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4, .v8 } .type = { .f16 }",
      since(8,1), on(sm_90), Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st.sem.scope{.ss}.vec.type  [a:.ss], b:.vec.b16 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4, .v8 } .type = { .bf16 }",
      since(8,1), on(sm_90), Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}{.vec}.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), Effect::writes_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st{.weak}{.ss}{.vec}.type  [a:.ss], b:.vec.b32 ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), Effect::writes_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}{.vec}.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .f16x2 }",
      since(8,1), on(sm_90), Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st.sem.scope{.ss}{.vec}.type  [a:.ss], b:.vec.b32 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .bf16x2 }",
      since(8,1), on(sm_90), Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}.vec.type  [a:.ss], b:.vec.b8 ;"
      " .ss = { .global } .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::writes_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}.vec.type  [a:.ss], b:.vec.b8 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v4, .v8 } .type = { .e5m2, .e4m3 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}.vec.type  [a:.ss], b:.vec.b16 ;"
      " .ss = { .global } .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::writes_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}.vec.type  [a:.ss], b:.vec.b16 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4, .v8 } .type = { .e5m2x2, .e4m3x2 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.st{.weak}{.ss}{.vec}.type  [a:.ss], b:.vec.b32 ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::writes_memory, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a.")),
  row("multimem.st.sem.scope{.ss}{.vec}.type  [a:.ss], b:.vec.b32 ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .e5m2x4, .e4m3x4 }",
      since(8,6), PTX_MULTIMEM_FP8, Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "b into every memory behind the multimem address a, ordered.")),
  row("multimem.red{.ss}.op.type  [a:.ss], b:.type ;"
      " .ss = { .global } .op = { .min, .max } .type = { .u32, .s32, .u64, .s64 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = the lesser or greater of it and b.")),
  row("multimem.red.sem.scope{.ss}.op.type  [a:.ss], b:.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .op = { .min, .max } .type = { .u32, .s32, .u64, .s64 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = the lesser or greater of it and b, ordered.")),
  row("multimem.red{.ss}.add.type  [a:.ss], b:.type ;"
      " .ss = { .global } .type = { .u32, .s32, .u64, .f64 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b.")),
  row("multimem.red.sem.scope{.ss}.add.type  [a:.ss], b:.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .type = { .u32, .s32, .u64, .f64 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, ordered.")),
  row("multimem.red{.ss}.op.type  [a:.ss], b:.type ;"
      " .ss = { .global } .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it op b.")),
  row("multimem.red.sem.scope{.ss}.op.type  [a:.ss], b:.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it op b, ordered.")),
  row("multimem.red{.ss}.add{.vec}.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .f32 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b.")),
  row("multimem.red.sem.scope{.ss}.add{.vec}.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .f32 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, ordered.")),
  row("multimem.red{.ss}.add.vec.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4, .v8 } .type = { .f16, .bf16 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, element by element.")),
  row("multimem.red.sem.scope{.ss}.add.vec.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4, .v8 } .type = { .f16, .bf16 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, element by element, ordered.")),
  row("multimem.red{.ss}.add{.vec}.type  [a:.ss], b:.vec.type ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .f16x2, .bf16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, half by half.")),
  row("multimem.red.sem.scope{.ss}.add{.vec}.type  [a:.ss], b:.vec.type ;"
      PTX_MULTIMEM_ORDER(".relaxed, .release") " .vec = { .v2, .v4 } .type = { .f16x2, .bf16x2 }",
      since(8,1), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no multicast memory"),
      doc(PTX_MULTIMEM, "every memory behind the multimem address a = it + b, half by half, ordered.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_ATOM_SEM
#undef PTX_RED_SEM
#undef PTX_SCOPE
#undef PTX_SCOPE_OF_128
#undef PTX_GLOBAL_HINT
#undef PTX_SHARED
#undef PTX_GLOBAL_SHARED
#undef PTX_ATOM
#undef PTX_RED
#undef PTX_MULTIMEM
#undef PTX_MULTIMEM_ORDER
#undef PTX_MULTIMEM_FP8
