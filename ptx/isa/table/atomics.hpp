// Atomics and reductions (manual: "Parallel Synchronization and Communication Instructions: atom, red").
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

namespace ptx::isa::table {

// clang-format off
inline constexpr Row atomics[] = {
  // ---- atom: d is what memory held before. In global memory and through generic addresses:
  row("atom{.sem}{.scope}{.ss}.op{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .and, .or, .xor } .type = { .b32, .b64 @3.1 @sm_32 }",
      since(1,1), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it op b.")),
  row("atom{.sem}{.scope}{.ss}.exch{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .b32, .b64 @1.2 @sm_12 }",
      since(1,1), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_exch"),
      doc(PTX_ATOM, "d = memory at a; memory at a = b.")),
  row("atom{.sem}{.scope}{.ss}.exch{.l2}.b128  d:=?.b128, [a:.ss], b:.b128 {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE_OF_128 PTX_GLOBAL_HINT,
      since(8,3), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_exch_b128"),
      doc(PTX_ATOM, "d = 16 bytes of memory at a; memory at a = b.")),
  row("atom{.sem}{.scope}{.ss}.add{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .u32, .s32, .u64 @1.2 @sm_12, .f32 @2.0 @sm_20, .f64 @5.0 @sm_60 }",
      since(1,1), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b.")),
  row("atom{.sem}{.scope}{.ss}.add.noftz{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .f16 @6.3 @sm_70, .f16x2, .bf16 @7.8 @sm_90, .bf16x2 @7.8 @sm_90 }",
      since(6,2), on(sm_60), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b, subnormal numbers kept; each half of a pair is atomic of itself.")),
  row("atom{.sem}{.scope}{.ss}.op{.l2}.u32  d:=?.u32, [a:.ss], b:.u32 {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .inc, .dec }",
      since(1,1), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_ATOM, "d = memory at a, which counts up to b and then from 0 again (inc), or down from b (dec).")),
  row("atom{.sem}{.scope}{.ss}.op{.l2}.type  d:=?.type, [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .min, .max } .type = { .u32, .s32, .u64 @3.1 @sm_32, .s64 @3.1 @sm_32 }",
      since(1,1), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_ATOM, "d = memory at a; memory at a = the lesser or greater of it and b.")),
  // In shared memory:
  row("atom{.sem}{.scope}.ss.op.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .op = { .and, .or, .xor } .type = { .b32, .b64 @3.1 @sm_32 }",
      since(1,2), on(sm_12), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it op b.")),
  row("atom{.sem}{.scope}.ss.exch.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .type = { .b32, .b64 @2.0 @sm_20 }",
      since(1,2), on(sm_12), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_exch"),
      doc(PTX_ATOM, "d = memory at a; memory at a = b.")),
  row("atom{.sem}{.scope}.ss.exch.b128  d:=?.b128, [a:.ss], b:.b128 ;" PTX_ATOM_SEM PTX_SCOPE_OF_128 PTX_SHARED,
      since(8,3), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_exch_b128"),
      doc(PTX_ATOM, "d = 16 bytes of memory at a; memory at a = b.")),
  row("atom{.sem}{.scope}.ss.add.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .type = { .u32, .s32, .u64 @2.0 @sm_20, .f32 @2.0 @sm_20, .f64 @5.0 @sm_60 }",
      since(1,2), on(sm_12), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b.")),
  row("atom{.sem}{.scope}.ss.add.noftz.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .type = { .f16 @6.3 @sm_70, .f16x2, .bf16 @7.8 @sm_90, .bf16x2 @7.8 @sm_90 }",
      since(6,2), on(sm_60), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b, subnormal numbers kept; each half of a pair is atomic of itself.")),
  row("atom{.sem}{.scope}.ss.op.u32  d:=?.u32, [a:.ss], b:.u32 ;" PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .op = { .inc, .dec }",
      since(1,2), on(sm_12), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_ATOM, "d = memory at a, which counts up to b and then from 0 again (inc), or down from b (dec).")),
  row("atom{.sem}{.scope}.ss.op.type  d:=?.type, [a:.ss], b:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_SHARED " .op = { .min, .max } .type = { .u32, .s32, .u64 @3.1 @sm_32, .s64 @3.1 @sm_32 }",
      since(1,2), on(sm_12), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_ATOM, "d = memory at a; memory at a = the lesser or greater of it and b.")),
  // Compare and swap, which takes no cache policy anywhere:
  row("atom{.sem}{.scope}{.ss}.cas.type  d:=?.type, [a:.ss], b:.type, c:.type ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_SHARED " .type = { .b16 @6.3 @sm_70, .b32, .b64 @1.2 @sm_12 }",
      since(1,1), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_cas"),
      doc(PTX_ATOM, "d = memory at a; memory at a = c if it was b.")),
  row("atom{.sem}{.scope}{.ss}.cas.b128  d:=?.b128, [a:.ss], b:.b128, c:.b128 ;" PTX_ATOM_SEM PTX_SCOPE_OF_128 PTX_GLOBAL_SHARED,
      since(8,3), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_cas_b128"),
      doc(PTX_ATOM, "d = 16 bytes of memory at a; memory at a = c if it was b.")),
  // Vectors, in global memory; each element is atomic of itself:
  row("atom{.sem}{.scope}{.ss}.add{.l2}.vec.f32  d:=?.vec.f32, [a:.ss], b:.vec.f32 {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .vec = { .v2, .v4 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it + b, element by element.")),
  row("atom{.sem}{.scope}{.ss}.op.noftz{.l2}.vec.type  d:=?.vec.type, [a:.ss], b:.vec.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .add, .min, .max } .vec = { .v2, .v4, .v8 } .type = { .f16, .bf16 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it op b, element by element, subnormal numbers kept.")),
  row("atom{.sem}{.scope}{.ss}.op.noftz{.l2}.vec.type  d:=?.vec.type, [a:.ss], b:.vec.type {, policy:.u64 @.l2} ;"
      PTX_ATOM_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .add, .min, .max } .vec = { .v2, .v4 } .type = { .f16x2, .bf16x2 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_ATOM, "d = memory at a; memory at a = it op b, half by half, subnormal numbers kept.")),

  // ---- red: as atom, without telling what memory held. In global memory and through generic addresses:
  row("red{.sem}{.scope}{.ss}.op{.l2}.type  [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .and, .or, .xor } .type = { .b32, .b64 @3.1 @sm_32 }",
      since(1,2), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_RED, "memory at a = it op b.")),
  row("red{.sem}{.scope}{.ss}.add{.l2}.type  [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .u32, .s32, .u64 @1.2 @sm_12, .f32 @2.0 @sm_20, .f64 @5.0 @sm_60 }",
      since(1,2), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_RED, "memory at a = it + b.")),
  row("red{.sem}{.scope}{.ss}.add.noftz{.l2}.type  [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .type = { .f16 @6.3 @sm_70, .f16x2, .bf16 @7.8 @sm_90, .bf16x2 @7.8 @sm_90 }",
      since(6,2), on(sm_60), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_RED, "memory at a = it + b, subnormal numbers kept; each half of a pair is atomic of itself.")),
  row("red{.sem}{.scope}{.ss}.op{.l2}.u32  [a:.ss], b:.u32 {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .inc, .dec }",
      since(1,2), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_RED, "memory at a counts up to b and then from 0 again (inc), or down from b (dec).")),
  row("red{.sem}{.scope}{.ss}.op{.l2}.type  [a:.ss], b:.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .min, .max } .type = { .u32, .s32, .u64 @3.1 @sm_32, .s64 @3.1 @sm_32 }",
      since(1,2), on(sm_11), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_RED, "memory at a = the lesser or greater of it and b.")),
  // In shared memory:
  row("red{.sem}{.scope}.ss.op.type  [a:.ss], b:.type ;"
      PTX_RED_SEM PTX_SCOPE PTX_SHARED " .op = { .and, .or, .xor } .type = { .b32, .b64 @3.1 @sm_32 }",
      since(1,2), on(sm_12), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_RED, "memory at a = it op b.")),
  row("red{.sem}{.scope}.ss.add.type  [a:.ss], b:.type ;"
      PTX_RED_SEM PTX_SCOPE PTX_SHARED " .type = { .u32, .s32, .u64 @2.0 @sm_20, .f32 @2.0 @sm_20, .f64 @5.0 @sm_60 }",
      since(1,2), on(sm_12), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_RED, "memory at a = it + b.")),
  row("red{.sem}{.scope}.ss.add.noftz.type  [a:.ss], b:.type ;"
      PTX_RED_SEM PTX_SCOPE PTX_SHARED " .type = { .f16 @6.3 @sm_70, .f16x2, .bf16 @7.8 @sm_90, .bf16x2 @7.8 @sm_90 }",
      since(6,2), on(sm_60), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_RED, "memory at a = it + b, subnormal numbers kept; each half of a pair is atomic of itself.")),
  row("red{.sem}{.scope}.ss.op.u32  [a:.ss], b:.u32 ;" PTX_RED_SEM PTX_SCOPE PTX_SHARED " .op = { .inc, .dec }",
      since(1,2), on(sm_12), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_RED, "memory at a counts up to b and then from 0 again (inc), or down from b (dec).")),
  row("red{.sem}{.scope}.ss.op.type  [a:.ss], b:.type ;"
      PTX_RED_SEM PTX_SCOPE PTX_SHARED " .op = { .min, .max } .type = { .u32, .s32, .u64 @3.1 @sm_32, .s64 @3.1 @sm_32 }",
      since(1,2), on(sm_12), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_RED, "memory at a = the lesser or greater of it and b.")),
  // Vectors, in global memory:
  row("red{.sem}{.scope}{.ss}.add{.l2}.vec.f32  [a:.ss], b:.vec.f32 {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .vec = { .v2, .v4 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_add"),
      doc(PTX_RED, "memory at a = it + b, element by element.")),
  row("red{.sem}{.scope}{.ss}.op.noftz{.l2}.vec.type  [a:.ss], b:.vec.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .add, .min, .max } .vec = { .v2, .v4, .v8 } .type = { .f16, .bf16 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_RED, "memory at a = it op b, element by element, subnormal numbers kept.")),
  row("red{.sem}{.scope}{.ss}.op.noftz{.l2}.vec.type  [a:.ss], b:.vec.type {, policy:.u64 @.l2} ;"
      PTX_RED_SEM PTX_SCOPE PTX_GLOBAL_HINT " .op = { .add, .min, .max } .vec = { .v2, .v4 } .type = { .f16x2, .bf16x2 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), syncs(Sync::access, Scope::gpu), exec("atomic_op"),
      doc(PTX_RED, "memory at a = it op b, half by half, subnormal numbers kept.")),
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
