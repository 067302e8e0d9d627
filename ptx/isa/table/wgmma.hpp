// Matrix multiply-accumulate of a warpgroup (manual: "Asynchronous Warpgroup Level Matrix Instructions").
#pragma once

#include "ptx/isa/row.hpp"

// Shapes of wgmma's accumulator.
#define PTX_WGMMA_FLOAT_SHAPES(k)                                                                                  \
  " .shape = { .m64n8" k ", .m64n16" k ", .m64n24" k ", .m64n32" k ", .m64n40" k ", .m64n48" k ", .m64n56" k       \
  ", "                                                                                                             \
  ".m64n64" k ", .m64n72" k ", .m64n80" k ", .m64n88" k ", .m64n96" k ", .m64n104" k ", .m64n112" k ", .m64n120" k \
  ", "                                                                                                             \
  ".m64n128" k ", .m64n136" k ", .m64n144" k ", .m64n152" k ", .m64n160" k ", .m64n168" k ", .m64n176" k           \
  ", "                                                                                                             \
  ".m64n184" k ", .m64n192" k ", .m64n200" k ", .m64n208" k ", .m64n216" k ", .m64n224" k ", .m64n232" k           \
  ", "                                                                                                             \
  ".m64n240" k ", .m64n248" k ", .m64n256" k " }"
#define PTX_WGMMA_INT_SHAPES(k)                                                                              \
  " .shape = { .m64n8" k ", .m64n16" k ", .m64n24" k ", .m64n32" k ", .m64n48" k ", .m64n64" k ", .m64n80" k \
  ", "                                                                                                       \
  ".m64n96" k ", .m64n112" k ", .m64n128" k ", .m64n144" k ", .m64n160" k ", .m64n176" k ", .m64n192" k      \
  ", "                                                                                                       \
  ".m64n208" k ", .m64n224" k ", .m64n240" k ", .m64n256" k " }"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row wgmma[] = {
  row("wgmma.fence.sync.aligned ;",
      since(8,0), on(sm_90a), syncs(Sync::register_fence, Scope::warpgroup), converged(Converged::warpgroup), exec("wgmma_sync"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-fence", "order register accesses before wgmma.mma_async.")),
  row("wgmma.commit_group.sync.aligned ;",
      since(8,0), on(sm_90a), commits(Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma_sync"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-commit-group", "close the group of wgmma operations begun so far.")),
  row("wgmma.wait_group.sync.aligned  n:#.u32=0.. ;",
      since(8,0), on(sm_90a), syncs(Sync::group, Scope::warpgroup), waits(Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma_sync"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-wait-group", "wait until at most n groups are pending.")),


  // wgmma: a from shared memory or registers, b from shared memory, d in registers
  row("wgmma.mma_async.sync.aligned.shape.dtype.f16.f16  d:+.wgmma_d.dreg, a:.u64, b:.u64, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1, trans_a:#.s32=0..1, trans_b:#.s32=0..1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k16") " .dtype = { .f16, .f32 }",
      since(8,0), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.f16.f16  d:+.wgmma_d.dreg, a:%.x4.f16x2, b:.u64, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1, trans_b:#.s32=0..1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k16") " .dtype = { .f16, .f32 }",
      since(8,0), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.bf16.bf16  d:+.wgmma_d.dreg, a:.u64, b:.u64, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1, trans_a:#.s32=0..1, trans_b:#.s32=0..1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k16") " .dtype = { .f32 }",
      since(8,0), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.bf16.bf16  d:+.wgmma_d.dreg, a:%.x4.f16x2, b:.u64, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1, trans_b:#.s32=0..1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k16") " .dtype = { .f32 }",
      since(8,0), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.tf32.tf32  d:+.wgmma_d.dreg, a:.u64, b:.u64, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k8") " .dtype = { .f32 }",
      since(8,0), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.tf32.tf32  d:+.wgmma_d.dreg, a:%.x4.f16x2, b:.u64, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k8") " .dtype = { .f32 }",
      since(8,0), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d:+.wgmma_d.dreg, a:.u64, b:.u64, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k32") " .dtype = { .f16, .f32 } .atype = { .e4m3, .e5m2 } .btype = { .e4m3, .e5m2 }",
      since(8,0), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d:+.wgmma_d.dreg, a:%.x4.f16x2, b:.u64, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k32") " .dtype = { .f16, .f32 } .atype = { .e4m3, .e5m2 } .btype = { .e4m3, .e5m2 }",
      since(8,0), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.s8.btype{.satfinite}  d:+.wgmma_d.s32, a:.u64, b:.u64, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k32") " .dtype = { .s32 } .btype = { .s8, .u8 @8.4 }",
      since(8,0), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.u8.btype{.satfinite}  d:+.wgmma_d.s32, a:.u64, b:.u64, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k32") " .dtype = { .s32 } .btype = { .s8 @8.4, .u8 }",
      since(8,0), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.s8.btype{.satfinite}  d:+.wgmma_d.s32, a:%.x4.b32, b:.u64, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k32") " .dtype = { .s32 } .btype = { .s8, .u8 @8.4 }",
      since(8,0), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.u8.btype{.satfinite}  d:+.wgmma_d.s32, a:%.x4.b32, b:.u64, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k32") " .dtype = { .s32 } .btype = { .s8 @8.4, .u8 }",
      since(8,0), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.b1.b1.and.popc  d:+.wgmma_d.s32, a:.u64, b:.u64, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k256") " .dtype = { .s32 }",
      since(8,0), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sync.aligned.shape.dtype.b1.b1.and.popc  d:+.wgmma_d.s32, a:%.x4.b32, b:.u64, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k256") " .dtype = { .s32 }",
      since(8,0), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma", "d = a * b + d.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.f16.f16  d:+.wgmma_d.dreg, a:.u64, b:.u64, e:%.b32, f:#.u32=0..1, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1, trans_a:#.s32=0..1, trans_b:#.s32=0..1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k32") " .dtype = { .f16, .f32 }",
      since(8,2), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.f16.f16  d:+.wgmma_d.dreg, a:%.x4.f16x2, b:.u64, e:%.b32, f:#.u32=0..1, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1, trans_b:#.s32=0..1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k32") " .dtype = { .f16, .f32 }",
      since(8,2), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.bf16.bf16  d:+.wgmma_d.dreg, a:.u64, b:.u64, e:%.b32, f:#.u32=0..1, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1, trans_a:#.s32=0..1, trans_b:#.s32=0..1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k32") " .dtype = { .f32 }",
      since(8,2), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.bf16.bf16  d:+.wgmma_d.dreg, a:%.x4.f16x2, b:.u64, e:%.b32, f:#.u32=0..1, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1, trans_b:#.s32=0..1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k32") " .dtype = { .f32 }",
      since(8,2), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.tf32.tf32  d:+.wgmma_d.dreg, a:.u64, b:.u64, e:%.b32, f:#.u32=0..1, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k16") " .dtype = { .f32 }",
      since(8,2), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.tf32.tf32  d:+.wgmma_d.dreg, a:%.x4.f16x2, b:.u64, e:%.b32, f:#.u32=0..1, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k16") " .dtype = { .f32 }",
      since(8,2), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype  d:+.wgmma_d.dreg, a:.u64, b:.u64, e:%.b32, f:#.u32=0, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k64") " .dtype = { .f16, .f32 } .atype = { .e4m3, .e5m2 } .btype = { .e4m3, .e5m2 }",
      since(8,2), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype  d:+.wgmma_d.dreg, a:%.x4.f16x2, b:.u64, e:%.b32, f:#.u32=0, scale_d:!.pred, scale_a:#.s32=-1|1, scale_b:#.s32=-1|1 ;"
      PTX_WGMMA_FLOAT_SHAPES("k64") " .dtype = { .f16, .f32 } .atype = { .e4m3, .e5m2 } .btype = { .e4m3, .e5m2 }",
      since(8,2), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.s8.btype{.satfinite}  d:+.wgmma_d.s32, a:.u64, b:.u64, e:%.b32, f:#.u32=0, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k64") " .dtype = { .s32 } .btype = { .s8, .u8 @8.4 }",
      since(8,2), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.u8.btype{.satfinite}  d:+.wgmma_d.s32, a:.u64, b:.u64, e:%.b32, f:#.u32=0, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k64") " .dtype = { .s32 } .btype = { .s8 @8.4, .u8 }",
      since(8,2), on(sm_90a), reads("a b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.s8.btype{.satfinite}  d:+.wgmma_d.s32, a:%.x4.b32, b:.u64, e:%.b32, f:#.u32=0, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k64") " .dtype = { .s32 } .btype = { .s8, .u8 @8.4 }",
      since(8,2), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
  row("wgmma.mma_async.sp.sync.aligned.shape.dtype.u8.btype{.satfinite}  d:+.wgmma_d.s32, a:%.x4.b32, b:.u64, e:%.b32, f:#.u32=0, scale_d:!.pred ;"
      PTX_WGMMA_INT_SHAPES("k64") " .dtype = { .s32 } .btype = { .s8 @8.4, .u8 }",
      since(8,2), on(sm_90a), reads("b"), async(Proxy::async, Event::wgmma_group), converged(Converged::warpgroup), exec("wgmma"),
      doc("asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp", "d = a * b + d, a sparse.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_WGMMA_FLOAT_SHAPES
#undef PTX_WGMMA_INT_SHAPES
