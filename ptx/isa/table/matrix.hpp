// Matrix multiply-accumulate of a warp: wmma, mma, their sparse and scaled forms, and matrices in shared memory (manual: "Warp
// Level Matrix Instructions").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row matrix[] = {
  // wmma: the fragments of a warp, in an order of the hardware's own
  row("wmma.load.a.sync.aligned.layout.shape{.ss}.f16  r:=.x8.f16x2, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_70), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix a.")),
  row("wmma.load.b.sync.aligned.layout.shape{.ss}.f16  r:=.x8.f16x2, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_70), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix b.")),
  row("wmma.load.a.sync.aligned.layout.shape{.ss}.atype  r:=.mma_a.u32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }"
      " .atype = { .s8, .u8 }",
      since(6,3), on(sm_72), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix a.")),
  row("wmma.load.a.sync.aligned.layout.shape{.ss}.atype  r:=.mma_a.bf16x2, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }"
      " .atype = { .bf16 }",
      since(7,0), on(sm_80), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix a.")),
  row("wmma.load.a.sync.aligned.layout.shape{.ss}.tf32  r:=.x4.tf32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k8 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix a.")),
  row("wmma.load.a.sync.aligned.layout.shape{.ss}.f64  r:=.x1.f64, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m8n8k4 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix a.")),
  row("wmma.load.a.sync.aligned.row.shape{.ss}.type  r:=.x1.b32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m8n8k32 } .ss = { .global, .shared, .shared::cta @7.8 } .type = { .s4, .u4 }",
      since(6,3), on(sm_75), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix a.")),
  row("wmma.load.a.sync.aligned.row.shape{.ss}.b1  r:=.x1.b32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m8n8k128 } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_75), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix a.")),
  row("wmma.load.b.sync.aligned.layout.shape{.ss}.btype  r:=.mma_b.u32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }"
      " .btype = { .s8, .u8 }",
      since(6,3), on(sm_72), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix b.")),
  row("wmma.load.b.sync.aligned.layout.shape{.ss}.btype  r:=.mma_b.bf16x2, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }"
      " .btype = { .bf16 }",
      since(7,0), on(sm_80), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix b.")),
  row("wmma.load.b.sync.aligned.layout.shape{.ss}.tf32  r:=.x4.tf32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k8 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix b.")),
  row("wmma.load.b.sync.aligned.layout.shape{.ss}.f64  r:=.x1.f64, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m8n8k4 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix b.")),
  row("wmma.load.b.sync.aligned.col.shape{.ss}.type  r:=.x1.b32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m8n8k32 } .ss = { .global, .shared, .shared::cta @7.8 } .type = { .s4, .u4 }",
      since(6,3), on(sm_75), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix b.")),
  row("wmma.load.b.sync.aligned.col.shape{.ss}.b1  r:=.x1.b32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m8n8k128 } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_75), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix b.")),
  row("wmma.load.c.sync.aligned.layout.shape{.ss}.f16  r:=.x4.f16x2, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_70), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix c.")),
  row("wmma.load.c.sync.aligned.layout.shape{.ss}.f32  r:=.x8.f32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16, .m16n16k8 @7.0 @sm_80 } .layout = { .row, .col }"
      " .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_70), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix c.")),
  row("wmma.load.c.sync.aligned.layout.shape{.ss}.s32  r:=.x8.s32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_72), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix c.")),
  row("wmma.load.c.sync.aligned.layout.shape{.ss}.s32  r:=.x2.s32, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m8n8k32, .m8n8k128 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_75), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix c.")),
  row("wmma.load.c.sync.aligned.layout.shape{.ss}.f64  r:=.x2.f64, [p:.ss] {, stride:.u32} ;"
      " .shape = { .m8n8k4 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("p"), converged(Converged::warp), exec("wmma_load"),
      doc("warp-level-matrix-instructions-wmma-ld", "load the matrix c.")),
  row("wmma.store.d.sync.aligned.layout.shape{.ss}.f16  [p:.ss], d:%.x4.f16x2 {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_70), writes("p"), converged(Converged::warp), exec("wmma_store"),
      doc("warp-level-matrix-instructions-wmma-st", "store the matrix d.")),
  row("wmma.store.d.sync.aligned.layout.shape{.ss}.f32  [p:.ss], d:%.x8.f32 {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16, .m16n16k8 @7.0 @sm_80 } .layout = { .row, .col }"
      " .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_70), writes("p"), converged(Converged::warp), exec("wmma_store"),
      doc("warp-level-matrix-instructions-wmma-st", "store the matrix d.")),
  row("wmma.store.d.sync.aligned.layout.shape{.ss}.s32  [p:.ss], d:.x8.s32 {, stride:.u32} ;"
      " .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_72), writes("p"), converged(Converged::warp), exec("wmma_store"),
      doc("warp-level-matrix-instructions-wmma-st", "store the matrix d.")),
  row("wmma.store.d.sync.aligned.layout.shape{.ss}.s32  [p:.ss], d:.x2.s32 {, stride:.u32} ;"
      " .shape = { .m8n8k32, .m8n8k128 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(6,3), on(sm_75), writes("p"), converged(Converged::warp), exec("wmma_store"),
      doc("warp-level-matrix-instructions-wmma-st", "store the matrix d.")),
  row("wmma.store.d.sync.aligned.layout.shape{.ss}.f64  [p:.ss], d:%.x2.f64 {, stride:.u32} ;"
      " .shape = { .m8n8k4 } .layout = { .row, .col } .ss = { .global, .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), writes("p"), converged(Converged::warp), exec("wmma_store"),
      doc("warp-level-matrix-instructions-wmma-st", "store the matrix d.")),
  row("wmma.mma.sync.aligned.alayout.blayout.shape.f16.f16  d:=.x4.f16x2, a:%.x8.f16x2, b:%.x8.f16x2, c:.x4.f16x2 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col } .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }",
      since(6,3), on(sm_70), converged(Converged::warp), exec("wmma"), rule("wmma_discards"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.alayout.blayout.shape.f16.f32  d:=.x4.f16x2, a:%.x8.f16x2, b:%.x8.f16x2, c:.x8.f32 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col } .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }",
      since(6,3), on(sm_70), converged(Converged::warp), exec("wmma"), rule("wmma_discards"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.alayout.blayout.shape.f32.f16  d:=.x8.f32, a:%.x8.f16x2, b:%.x8.f16x2, c:.x4.f16x2 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col } .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }",
      since(6,3), on(sm_70), converged(Converged::warp), exec("wmma"), rule("wmma_discards"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.alayout.blayout.shape.f32.f32  d:=.x8.f32, a:%.x8.f16x2, b:%.x8.f16x2, c:.x8.f32 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col } .shape = { .m16n16k16, .m8n32k16, .m32n8k16 }",
      since(6,3), on(sm_70), converged(Converged::warp), exec("wmma"), rule("wmma_discards"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.alayout.blayout.shape.s32.atype.btype.s32{.satfinite}"
      "  d:=.x8.s32, a:%.mma_a.u32, b:%.mma_b.u32, c:.x8.s32 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col } .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .atype = { .s8 }"
      " .btype = { .s8 }",
      since(6,3), on(sm_72), converged(Converged::warp), exec("wmma"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.alayout.blayout.shape.s32.atype.btype.s32{.satfinite}"
      "  d:=.x8.s32, a:%.mma_a.u32, b:%.mma_b.u32, c:.x8.s32 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col } .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .atype = { .u8 }"
      " .btype = { .u8 }",
      since(6,3), on(sm_72), converged(Converged::warp), exec("wmma"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.alayout.blayout.shape.f32.atype.btype.f32"
      "  d:=.x8.f32, a:%.mma_a.bf16x2, b:%.mma_b.bf16x2, c:.x8.f32 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col } .shape = { .m16n16k16, .m8n32k16, .m32n8k16 } .atype = { .bf16 }"
      " .btype = { .bf16 }",
      since(7,0), on(sm_80), converged(Converged::warp), exec("wmma"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32.f32  d:=.x8.f32, a:%.x4.tf32, b:%.x4.tf32, c:.x8.f32 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col }",
      since(7,0), on(sm_80), converged(Converged::warp), exec("wmma"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64  d:=.x2.b64, a:.x1.f64, b:.x1.f64, c:.x2.b64 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col } .rnd = { .rn, .rz, .rm, .rp }",
      since(7,0), on(sm_80), converged(Converged::warp), exec("wmma"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32{.satfinite}  d:=.x2.s32, a:.x1.u32, b:.x1.u32, c:.x2.s32 ;",
      since(6,3), on(sm_75), converged(Converged::warp), exec("wmma"), rule("wmma_of_4_bits"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32{.satfinite}  d:=.x2.s32, a:.x1.u32, b:.x1.u32, c:.x2.s32 ;",
      since(6,3), on(sm_75), converged(Converged::warp), exec("wmma"), rule("wmma_of_4_bits"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),
  row("wmma.mma.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32  d:=.x2.s32, a:%.x1.u32, b:%.x1.u32, c:.x2.s32 ;"
      " .op = { .xor, .and @7.1 @sm_80 }",
      since(6,3), on(sm_75), converged(Converged::warp), exec("wmma"),
      doc("warp-level-matrix-instructions-wmma-mma", "d = a * b + c.")),

  // mma: fragments in the order that the manual shows
  row("mma.sync.aligned.m8n8k4.alayout.blayout.f16.f16.f16.f16  d:=.x4.f16x2, a:%.x2.f16x2, b:%.x2.f16x2, c:.x4.f16x2 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col }",
      since(6,4), on(sm_70), converged(Converged::warp), exec("mma_quads"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c, four products of 8x4 by 4x8.")),
  row("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16.f16  d:=.x8.f32, a:%.x2.f16x2, b:%.x2.f16x2, c:.x4.f16x2 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col }",
      since(6,4), on(sm_70), converged(Converged::warp), exec("mma_quads"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c, four products of 8x4 by 4x8.")),
  row("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16.f32  d:=.x8.f32, a:%.x2.f16x2, b:%.x2.f16x2, c:.x8.f32 ;"
      " .alayout = { .row, .col } .blayout = { .row, .col }",
      since(6,4), on(sm_70), converged(Converged::warp), exec("mma_quads"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c, four products of 8x4 by 4x8.")),
  row("mma.sync.aligned.shape.row.col.f16.atype.btype.f16  d:=.x2.f16x2, a:%.mma_a.f16x2, b:%.mma_b.f16x2, c:.x2.f16x2 ;"
      " .shape = { .m16n8k8, .m16n8k16 @7.0 @sm_80 } .atype = { .f16 } .btype = { .f16 }",
      since(6,5), on(sm_75), converged(Converged::warp), exec("mma"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.shape.row.col.f32.atype.btype.f32  d:=.x4.f32, a:%.mma_a.f16x2, b:%.mma_b.f16x2, c:.x4.f32 ;"
      " .shape = { .m16n8k8, .m16n8k16 @7.0 @sm_80 } .atype = { .f16 } .btype = { .f16 }",
      since(6,5), on(sm_75), converged(Converged::warp), exec("mma"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.shape.row.col.f32.atype.btype.f32  d:=.x4.f32, a:%.mma_a.bf16x2, b:%.mma_b.bf16x2, c:.x4.f32 ;"
      " .shape = { .m16n8k8, .m16n8k16 } .atype = { .bf16 } .btype = { .bf16 }",
      since(7,0), on(sm_80), converged(Converged::warp), exec("mma"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.shape.row.col.f32.atype.btype.f32  d:=.x4.f32, a:%.mma_a.tf32, b:%.mma_b.tf32, c:.x4.f32 ;"
      " .shape = { .m16n8k4, .m16n8k8 } .atype = { .tf32 } .btype = { .tf32 }",
      since(7,0), on(sm_80), converged(Converged::warp), exec("mma"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.shape.row.col.f32.atype.btype.f32  d:=.x4.f32, a:%.mma_a.b32, b:%.mma_b.b32, c:.x4.f32 ;"
      " .shape = { .m16n8k16 @8.7, .m16n8k32 } .atype = { .e4m3, .e5m2 } .btype = { .e4m3, .e5m2 }",
      since(8,4), on(sm_89), converged(Converged::warp), exec("mma"), rule("mma_of_8_bit_floats"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.shape.row.col.f16.atype.btype.f16  d:=.x2.f16x2, a:%.mma_a.b32, b:%.mma_b.b32, c:.x2.f16x2 ;"
      " .shape = { .m16n8k16, .m16n8k32 } .atype = { .e4m3, .e5m2 } .btype = { .e4m3, .e5m2 }",
      since(8,7), on(sm_89), converged(Converged::warp), exec("mma"), rule("mma_of_8_bit_floats"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.atype.btype.f32  d:=.x4.f32, a:%.x4.b32, b:%.x2.b32, c:.x4.f32 ;"
      " .atype = { .e4m3, .e5m2, .e3m2 @8.7 @sm_120f, .e2m3 @8.7 @sm_120f, .e2m1 @8.7 @sm_120f }"
      " .btype = { .e4m3, .e5m2, .e3m2 @8.7 @sm_120f, .e2m3 @8.7 @sm_120f, .e2m1 @8.7 @sm_120f }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), converged(Converged::warp), exec("mma"), rule("mma_of_8_bit_floats"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.atype.btype.f16"
      "  d:=.x2.f16x2, a:%.x4.b32, b:%.x2.b32, c:.x2.f16x2 ;"
      " .atype = { .e4m3, .e5m2, .e3m2 @sm_120f, .e2m3 @sm_120f, .e2m1 @sm_120f }"
      " .btype = { .e4m3, .e5m2, .e3m2 @sm_120f, .e2m3 @sm_120f, .e2m1 @sm_120f }",
      since(8,7), on(sm_100f, sm_101f, sm_110f, sm_120f), converged(Converged::warp), exec("mma"), rule("mma_of_8_bit_floats"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{.scale_vec}.f32.atype.btype.f32.ue8m0"
      "  d:=.x4.f32, a:%.x4.e4m3x4, b:%.x2.e4m3x4, c:.x4.f32, sa:%.one.b32, ida:.x2.u16=0..3:0..1, sb:%.one.b32, idb:.x2.u16=0..3:0..3 ;"
      " .scale_vec = { .scale_vec::1X } .atype = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }"
      " .btype = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }",
      since(8,7), on(sm_120f), converged(Converged::warp), exec("mma_scaled"),
      doc("warp-level-matrix-instructions-mma", "d = (a * its scales) * (b * its scales) + c.")),
  row("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{.scale_vec}.f32.e2m1.e2m1.f32.ue8m0"
      "  d:=.x4.f32, a:%.x4.b32, b:%.x2.b32, c:.x4.f32, sa:%.one.b32, ida:.x2.u16=0|2:0..1, sb:%.one.b32, idb:.x2.u16=0|2:0..3 ;"
      " .scale_vec = { .scale_vec::2X }",
      since(8,7), on(sm_120f), converged(Converged::warp), exec("mma_scaled"),
      doc("warp-level-matrix-instructions-mma", "d = (a * its scales) * (b * its scales) + c.")),
  row("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
      "  d:=.x4.f32, a:%.x4.b32, b:%.x2.b32, c:.x4.f32, sa:%.one.b32, ida:.x2.u16=0|2:0..1, sb:%.one.b32, idb:.x2.u16=0|2:0..3 ;",
      since(8,7), on(sm_120f), converged(Converged::warp), exec("mma_scaled"),
      doc("warp-level-matrix-instructions-mma", "d = (a * its scales) * (b * its scales) + c.")),
  row("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.stype"
      "  d:=.x4.f32, a:%.x4.b32, b:%.x2.b32, c:.x4.f32, sa:%.one.b32, ida:.x2.u16=0:0..1, sb:%.one.b32, idb:.x2.u16=0:0..3 ;"
      " .stype = { .ue4m3, .ue8m0 @9.1 }",
      since(8,7), on(sm_120f), converged(Converged::warp), exec("mma_scaled"),
      doc("warp-level-matrix-instructions-mma", "d = (a * its scales) * (b * its scales) + c.")),
  row("mma.sync.aligned.shape.row.col{.rnd}.dtype.atype.btype.ctype"
      "  d:=.mma_d.b64, a:.mma_a.b64, b:.mma_b.b64, c:.mma_c.b64 ;"
      " .shape = { .m8n8k4, .m16n8k4 @7.8 @sm_90, .m16n8k8 @7.8 @sm_90, .m16n8k16 @7.8 @sm_90 } .rnd = { .rn, .rz, .rm, .rp }"
      " .dtype = { .f64 } .atype = { .f64 } .btype = { .f64 } .ctype = { .f64 }",
      since(7,0), on(sm_80), converged(Converged::warp), exec("mma"), rule("mma_of_f64"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype"
      "  d:=.mma_d.s32, a:%.mma_a.b32, b:%.mma_b.b32, c:.mma_c.s32 ;"
      " .shape = { .m8n8k16, .m16n8k16 @7.0 @sm_80, .m16n8k32 @7.0 @sm_80 } .dtype = { .s32 } .atype = { .s8, .u8 }"
      " .btype = { .s8, .u8 } .ctype = { .s32 }",
      since(6,5), on(sm_75), converged(Converged::warp), exec("mma"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype"
      "  d:=.mma_d.s32, a:%.mma_a.b32, b:%.mma_b.b32, c:.mma_c.s32 ;"
      " .shape = { .m8n8k32, .m16n8k32 @7.0 @sm_80, .m16n8k64 @7.0 @sm_80 } .dtype = { .s32 } .atype = { .s4, .u4 }"
      " .btype = { .s4, .u4 } .ctype = { .s32 }",
      since(6,5), on(sm_75), converged(Converged::warp), exec("mma"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c.")),
  row("mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype.op.popc"
      "  d:=.mma_d.s32, a:%.mma_a.b32, b:%.mma_b.b32, c:.mma_c.s32 ;"
      " .shape = { .m8n8k128, .m16n8k128 @sm_80, .m16n8k256 @sm_80 } .dtype = { .s32 } .atype = { .b1 } .btype = { .b1 }"
      " .ctype = { .s32 } .op = { .xor, .and @7.1 @sm_80 }",
      since(7,0), on(sm_75), converged(Converged::warp), exec("mma"),
      doc("warp-level-matrix-instructions-mma", "d = c plus the number of one bits of a xor b, or a and b.")),

  // mma.sp: half of a is zeros that are not stored; e says where they are, f which lanes hold e
  row("mma.spvariant.sync.aligned.shape.row.col.f16.atype.btype.f16"
      "  d:=.x2.f16x2, a:%.mma_sp_a.f16x2, b:%.mma_b.f16x2, c:.x2.f16x2, e:%.b32, f:#.u32=0..3 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k16, .m16n8k32 } .atype = { .f16 } .btype = { .f16 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.spvariant.sync.aligned.shape.row.col.f32.atype.btype.f32"
      "  d:=.x4.f32, a:%.mma_sp_a.f16x2, b:%.mma_b.f16x2, c:.x4.f32, e:%.b32, f:#.u32=0..3 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k16, .m16n8k32 } .atype = { .f16 } .btype = { .f16 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.spvariant.sync.aligned.shape.row.col.f32.atype.btype.f32"
      "  d:=.x4.f32, a:%.mma_sp_a.bf16x2, b:%.mma_b.bf16x2, c:.x4.f32, e:%.b32, f:#.u32=0..3 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k16 } .atype = { .bf16 }"
      " .btype = { .bf16 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.spvariant.sync.aligned.shape.row.col.f32.atype.btype.f32"
      "  d:=.x4.f32, a:%.mma_sp_a.bf16x2, b:%.mma_b.bf16x2, c:.x4.f32, e:%.b32, f:#.u32=0..1 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k32 } .atype = { .bf16 }"
      " .btype = { .bf16 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.spvariant.sync.aligned.shape.row.col.f32.atype.btype.f32"
      "  d:=.x4.f32, a:%.mma_sp_a.tf32, b:%.mma_b.tf32, c:.x4.f32, e:%.b32, f:#.u32=0..3 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k8 } .atype = { .tf32 }"
      " .btype = { .tf32 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.spvariant.sync.aligned.shape.row.col.f32.atype.btype.f32"
      "  d:=.x4.f32, a:%.mma_sp_a.tf32, b:%.mma_b.tf32, c:.x4.f32, e:%.b32, f:#.u32=0..1 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k16 } .atype = { .tf32 }"
      " .btype = { .tf32 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.spvariant.sync.aligned.m16n8k64.row.col.f32.atype.btype.f32"
      "  d:=.x4.f32, a:%.x4.b32, b:%.x4.b32, c:.x4.f32, e:%.b32, f:#.u32=0 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .atype = { .e4m3, .e5m2 } .btype = { .e4m3, .e5m2 }",
      since(8,4), on(sm_89), converged(Converged::warp), exec("mma_sparse"), rule("mma_of_8_bit_floats"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.atype.btype.f16"
      "  d:=.x2.f16x2, a:%.x4.b32, b:%.x4.b32, c:.x2.f16x2, e:%.b32, f:#.u32=0 ;"
      " .atype = { .e4m3, .e5m2 } .btype = { .e4m3, .e5m2 }",
      since(8,7), on(sm_120f), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.atype.btype.f32"
      "  d:=.x4.f32, a:%.x4.b32, b:%.x4.b32, c:.x4.f32, e:%.b32, f:#.u32=0 ;"
      " .atype = { .e4m3, .e5m2, .e3m2 @8.7 @sm_120f, .e2m3 @8.7 @sm_120f, .e2m1 @8.7 @sm_120f }"
      " .btype = { .e4m3, .e5m2, .e3m2 @8.7 @sm_120f, .e2m3 @8.7 @sm_120f, .e2m1 @8.7 @sm_120f }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), converged(Converged::warp), exec("mma_sparse"), rule("mma_of_8_bit_floats"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.atype.btype.f16"
      "  d:=.x2.f16x2, a:%.x4.b32, b:%.x4.b32, c:.x2.f16x2, e:%.b32, f:#.u32=0 ;"
      " .atype = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 } .btype = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }",
      since(8,7), on(sm_120f), converged(Converged::warp), exec("mma_sparse"), rule("mma_of_8_bit_floats"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale{.scale_vec}.f32.atype.btype.f32.ue8m0"
      "  d:=.x4.f32, a:%.x4.e4m3x4, b:%.x4.e4m3x4, c:.x4.f32, e:%.b32, f:#.u32=0, sa:%.one.b32, ida:.x2.u16=0..3:0..1, sb:%.one.b32, idb:.x2.u16=0..3:0..3 ;"
      " .scale_vec = { .scale_vec::1X } .atype = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }"
      " .btype = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }",
      since(8,7), on(sm_120f), converged(Converged::warp), exec("mma_scaled"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = (a * its scales) * (b * its scales) + c.")),
  row("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale{.scale_vec}.f32.e2m1.e2m1.f32.ue8m0"
      "  d:=.x4.f32, a:%.x4.b32, b:%.x4.b32, c:.x4.f32, e:%.b32, f:#.u32=0, sa:%.one.b32, ida:.x2.u16=0|2:0..1, sb:%.one.b32, idb:.x2.u16=0|2:0..3 ;"
      " .scale_vec = { .scale_vec::2X }",
      since(8,7), on(sm_120a, sm_121a), converged(Converged::warp), exec("mma_scaled"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = (a * its scales) * (b * its scales) + c.")),
  row("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
      "  d:=.x4.f32, a:%.x4.b32, b:%.x4.b32, c:.x4.f32, e:%.b32, f:#.u32=0, sa:%.one.b32, ida:.x2.u16=0|2:0..1, sb:%.one.b32, idb:.x2.u16=0|2:0..3 ;",
      since(8,7), on(sm_120a, sm_121a), converged(Converged::warp), exec("mma_scaled"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = (a * its scales) * (b * its scales) + c.")),
  row("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.stype"
      "  d:=.x4.f32, a:%.x4.b32, b:%.x4.b32, c:.x4.f32, e:%.b32, f:#.u32=0, sa:%.one.b32, ida:.x2.u16=0:0..1, sb:%.one.b32, idb:.x2.u16=0:0..3 ;"
      " .stype = { .ue4m3, .ue8m0 @9.1 }",
      since(8,7), on(sm_120a, sm_121a), converged(Converged::warp), exec("mma_scaled"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = (a * its scales) * (b * its scales) + c.")),
  row("mma.spvariant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32"
      "  d:=.x4.s32, a:%.mma_sp_a.b32, b:%.mma_b.b32, c:.x4.s32, e:%.b32, f:#.u32=0..1 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k32 } .atype = { .s8, .u8 }"
      " .btype = { .s8, .u8 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.spvariant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32"
      "  d:=.x4.s32, a:%.mma_sp_a.b32, b:%.mma_b.b32, c:.x4.s32, e:%.b32, f:#.u32=0 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k64 } .atype = { .s8, .u8 }"
      " .btype = { .s8, .u8 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.spvariant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32"
      "  d:=.x4.s32, a:%.mma_sp_a.b32, b:%.mma_b.b32, c:.x4.s32, e:%.b32, f:#.u32=0..1 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k64 } .atype = { .s4, .u4 }"
      " .btype = { .s4, .u4 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),
  row("mma.spvariant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32"
      "  d:=.x4.s32, a:%.mma_sp_a.b32, b:%.mma_b.b32, c:.x4.s32, e:%.b32, f:#.u32=0 ;"
      " .spvariant = { .sp, .sp::ordered_metadata @8.5 } .shape = { .m16n8k128 } .atype = { .s4, .u4 }"
      " .btype = { .s4, .u4 }",
      since(7,1), on(sm_80), converged(Converged::warp), exec("mma_sparse"),
      doc("warp-level-matrix-instructions-sparse-mma", "d = a * b + c, a sparse.")),

  // matrices between shared memory and fragments
  row("ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  r:=.num.b32, [p:.ss] ;"
      " .num = { .x1, .x2, .x4 } .ss = { .shared, .shared::cta @7.8 }",
      since(6,5), on(sm_75), reads("p"), converged(Converged::warp), exec("ldmatrix"),
      doc("warp-level-matrix-instructions-ldmatrix", "load 8x8 matrices of 16-bit elements.")),
  row("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.type  r:=.num2.b32, [p:.ss] ;"
      " .num = { .x1, .x2 } .ss = { .shared, .shared::cta @7.8 } .type = { .b8 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), reads("p"), converged(Converged::warp), exec("ldmatrix_square"),
      doc("warp-level-matrix-instructions-ldmatrix", "load 16x16 matrices of bytes, transposed.")),
  row("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8x16.src_fmt  r:=.num2.b32, [p:.ss] ;"
      " .num = { .x1, .x2 } .ss = { .shared, .shared::cta @7.8 } .src_fmt = { .b6x16_p32, .b4x16_p64 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), reads("p"), converged(Converged::warp), exec("ldmatrix_square"),
      doc("warp-level-matrix-instructions-ldmatrix", "load 16x16 matrices of 6 or 4-bit elements, transposed, a byte each.")),
  row("ldmatrix.sync.aligned.m8n16.num{.ss}.b8x16.src_fmt  r:=.num.b32, [p:.ss] ;"
      " .num = { .x1, .x2, .x4 } .ss = { .shared, .shared::cta @7.8 } .src_fmt = { .b6x16_p32, .b4x16_p64 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), reads("p"), converged(Converged::warp), exec("ldmatrix"),
      doc("warp-level-matrix-instructions-ldmatrix", "load 8x16 matrices of 6 or 4-bit elements, a byte each.")),
  row("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  [p:.ss], r:%.num.b32 ;"
      " .num = { .x1, .x2, .x4 } .ss = { .shared, .shared::cta @7.8 }",
      since(7,8), on(sm_90), writes("p"), converged(Converged::warp), exec("stmatrix"),
      doc("warp-level-matrix-instructions-stmatrix", "store 8x8 matrices of 16-bit elements.")),
  row("stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8  [p:.ss], r:%.num.b32 ;"
      " .num = { .x1, .x2, .x4 } .ss = { .shared, .shared::cta @7.8 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_120f), writes("p"), converged(Converged::warp), exec("stmatrix"),
      doc("warp-level-matrix-instructions-stmatrix", "store 16x8 matrices of bytes, transposed.")),
  row("movmatrix.sync.aligned.m8n8.trans.b16  d:=.b32, a:%.b32 ;",
      since(7,8), on(sm_75), converged(Converged::warp), exec("movmatrix"),
      doc("warp-level-matrix-instructions-movmatrix", "transpose an 8x8 matrix of 16-bit elements across the warp.")),
};
// clang-format on

}  // namespace ptx::isa::table
