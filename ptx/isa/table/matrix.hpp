// Matrix multiply-accumulate of a warp (manual: "Warp Level Matrix Instructions") and a warpgroup (wgmma).
#pragma once

#include "ptx/isa/row.hpp"

// The accumulator's shapes of wgmma: n in steps of 8 up to 256.
#define PTX_WGMMA_SHAPES(k)                                                                                                \
  " .shape = { .m64n8" k ", .m64n16" k ", .m64n24" k ", .m64n32" k ", .m64n40" k ", .m64n48" k ", .m64n56" k ", .m64n64" k \
  ", .m64n72" k ", .m64n80" k ", .m64n88" k ", .m64n96" k ", .m64n104" k ", .m64n112" k ", .m64n120" k ", .m64n128" k      \
  ", .m64n136" k ", .m64n144" k ", .m64n152" k ", .m64n160" k ", .m64n168" k ", .m64n176" k ", .m64n184" k ", .m64n192" k  \
  ", .m64n200" k ", .m64n208" k ", .m64n216" k ", .m64n224" k ", .m64n232" k ", .m64n240" k ", .m64n248" k ", .m64n256" k " }"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row matrix[] = {
  row("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32  d:=.x4.f32, a:.x4.b32, b:.x2.b32, c:.x4.f32 ;",
      since(7,0), on(sm_80), Effect::converged_warp, not_executed("the executor has no tensor cores yet"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c, a 16x16, b 16x8.")),
  row("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32  d:=.x4.f32, a:.x4.b32, b:.x2.b32, c:.x4.f32 ;",
      since(7,0), on(sm_80), Effect::converged_warp, not_executed("the executor has no tensor cores yet"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c, a 16x16, b 16x8.")),
  row("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16  d:=.x2.b32, a:.x4.b32, b:.x2.b32, c:.x2.b32 ;",
      since(7,0), on(sm_80), Effect::converged_warp, not_executed("the executor has no tensor cores yet"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c, a 16x16, b 16x8.")),
  row("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32  d:=.x4.f32, a:.x4.b32, b:.x2.b32, c:.x4.f32 ;",
      since(7,0), on(sm_80), Effect::converged_warp, not_executed("the executor has no tensor cores yet"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c, a 16x8, b 8x8.")),
  row("mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32  d:=.x4.s32, a:.x4.b32, b:.x2.b32, c:.x4.s32 ;"
      " .atype = { .s8, .u8 } .btype = { .s8, .u8 }",
      since(7,0), on(sm_80), Effect::converged_warp, not_executed("the executor has no tensor cores yet"),
      doc("warp-level-matrix-instructions-mma", "d = a * b + c, a 16x32, b 32x8.")),
  row("wgmma.fence.sync.aligned ;",
      since(8,0), on(sm_90a), Effect::sync | Effect::converged_warpgroup, not_executed("the executor has no tensor cores yet"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-fence", "order register accesses before wgmma.mma_async.")),
  row("wgmma.commit_group.sync.aligned ;",
      since(8,0), on(sm_90a), Effect::async | Effect::converged_warpgroup, not_executed("the executor has no tensor cores yet"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-commit-group", "close the group of wgmma operations begun so far.")),
  row("wgmma.wait_group.sync.aligned  n:#.u32 ;",
      since(8,0), on(sm_90a), Effect::sync | Effect::may_wait | Effect::converged_warpgroup, not_executed("the executor has no tensor cores yet"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-wait-group", "wait until at most n groups are pending.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.f16.f16"
      "  d:+.wgmma_d.dreg, a:.u64, b:.u64, scaleD:!.pred, scaleA:#.s32, scaleB:#.s32, transA:#.s32, transB:#.s32 ;"
      PTX_WGMMA_SHAPES("k16") " .dtype = { .f32, .f16 }",
      since(8,0), on(sm_90a), Effect::async | Effect::converged_warpgroup, not_executed("the executor has no tensor cores yet"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d, both from shared memory.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.f16.f16"
      "  d:+.wgmma_d.dreg, a:.x4.b32, b:.u64, scaleD:!.pred, scaleA:#.s32, scaleB:#.s32, transB:#.s32 ;"
      PTX_WGMMA_SHAPES("k16") " .dtype = { .f32, .f16 }",
      since(8,0), on(sm_90a), Effect::async | Effect::converged_warpgroup, not_executed("the executor has no tensor cores yet"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d, a from registers.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.bf16.bf16"
      "  d:+.wgmma_d.dreg, a:.u64, b:.u64, scaleD:!.pred, scaleA:#.s32, scaleB:#.s32, transA:#.s32, transB:#.s32 ;"
      PTX_WGMMA_SHAPES("k16") " .dtype = { .f32 }",
      since(8,0), on(sm_90a), Effect::async | Effect::converged_warpgroup, not_executed("the executor has no tensor cores yet"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d, both from shared memory.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.bf16.bf16"
      "  d:+.wgmma_d.dreg, a:.x4.b32, b:.u64, scaleD:!.pred, scaleA:#.s32, scaleB:#.s32, transB:#.s32 ;"
      PTX_WGMMA_SHAPES("k16") " .dtype = { .f32 }",
      since(8,0), on(sm_90a), Effect::async | Effect::converged_warpgroup, not_executed("the executor has no tensor cores yet"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d, a from registers.")),
  // Where the row with the scale and the one without spell the same, the operands decide.
  row("tcgen05.mma.cta_group.kind{.collector}  [d:.tmem], a:.u64, b:.u64, idesc:.u32 {, disable:.disable.u32}, enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a } .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_100a, sm_101a), Effect::async, not_executed("the executor has no tensor memory yet"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d, d in tensor memory, a and b in shared memory.")),
  row("tcgen05.mma.cta_group.kind{.collector}  [d:.tmem], a:.u64, b:.u64, idesc:.u32 {, disable:.disable.u32}, enable:!.pred, scale:#.u32 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32 } .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_100a), Effect::async, not_executed("the executor has no tensor memory yet"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d, d in tensor memory, a and b in shared memory and scaled by 2^-scale.")),
  row("tcgen05.mma.cta_group.kind{.collector}  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32 {, disable:.disable.u32}, enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a } .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_100a, sm_101a), Effect::async, not_executed("the executor has no tensor memory yet"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d, d and a in tensor memory, b in shared memory.")),
  row("tcgen05.mma.cta_group.kind{.collector}  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32 {, disable:.disable.u32}, enable:!.pred, scale:#.u32 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32 } .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_100a), Effect::async, not_executed("the executor has no tensor memory yet"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d, d and a in tensor memory, b in shared memory and scaled by 2^-scale.")),
  row("tcgen05.mma.cta_group.kind.ashift{.collector}  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32 {, disable:.disable.u32}, enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a } .collector = { .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f, sm_100a, sm_101a), Effect::async, not_executed("the executor has no tensor memory yet"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d, the rows of a one lower, d and a in tensor memory.")),
  row("tcgen05.mma.cta_group.kind.ashift{.collector}  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32 {, disable:.disable.u32}, enable:!.pred, scale:#.u32 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32 } .collector = { .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_100a), Effect::async, not_executed("the executor has no tensor memory yet"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d, the rows of a one lower, d and a in tensor memory and scaled by 2^-scale.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_WGMMA_SHAPES
