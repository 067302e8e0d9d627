// Tensor memory and the fifth-generation tensor cores (manual: "TensorCore 5th Generation Family Instructions").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row tcgen05[] = {
  // tensor memory: take it and give it back
  row("tcgen05.alloc.cta_group.sync.aligned{.ss}.b32  [dst:.ss], columns:.u32=32..512*2 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .ss = { .shared::cta }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), writes("dst"), syncs(Sync::pool, Scope::cta), waits(Event::tensor_memory), converged(Converged::warp), exec("tcgen05_alloc"),
      doc("tcgen05-instructions-tcgen05-alloc-dealloc-relinquish-alloc-permit", "allocate columns of tensor memory and write their address to dst; may wait for another CTA.")),
  row("tcgen05.dealloc.cta_group.sync.aligned.b32  taddr:.u32, columns:.u32=0../32 ; .cta_group = { .cta_group::1, .cta_group::2 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), syncs(Sync::pool, Scope::cta), waits(Event::tensor_memory), converged(Converged::warp), exec("tcgen05_dealloc"),
      doc("tcgen05-instructions-tcgen05-alloc-dealloc-relinquish-alloc-permit", "give columns of tensor memory back.")),
  row("tcgen05.relinquish_alloc_permit.cta_group.sync.aligned ; .cta_group = { .cta_group::1, .cta_group::2 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), syncs(Sync::pool, Scope::cta), converged(Converged::warp), exec("tcgen05_relinquish"),
      doc("tcgen05-instructions-tcgen05-alloc-dealloc-relinquish-alloc-permit", "this CTA will allocate no more.")),

  // between registers and tensor memory
  row("tcgen05.ld.sync.aligned.shape.num{.pack}.b32  r:=.tcgen05_n.b32, [taddr:.tmem] ;"
      " .shape = { .16x64b, .32x32b } .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64, .x128 } .pack = { .pack::16b }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("taddr"), async(Proxy::generic, Event::tensor_load), converged(Converged::warp), exec("tcgen05_ld"),
      doc("tcgen05-instructions-tcgen05-ld", "load from tensor memory, each warp from its quarter of the lanes.")),
  row("tcgen05.ld.sync.aligned.shape.num{.pack}.b32  r:=.tcgen05_n.b32, [taddr:.tmem] ;"
      " .shape = { .16x128b } .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64 } .pack = { .pack::16b }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("taddr"), async(Proxy::generic, Event::tensor_load), converged(Converged::warp), exec("tcgen05_ld"),
      doc("tcgen05-instructions-tcgen05-ld", "load from tensor memory, each warp from its quarter of the lanes.")),
  row("tcgen05.ld.sync.aligned.shape.num{.pack}.b32  r:=.tcgen05_n.b32, [taddr:.tmem] ;"
      " .shape = { .16x256b } .num = { .x1, .x2, .x4, .x8, .x16, .x32 } .pack = { .pack::16b }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("taddr"), async(Proxy::generic, Event::tensor_load), converged(Converged::warp), exec("tcgen05_ld"),
      doc("tcgen05-instructions-tcgen05-ld", "load from tensor memory, each warp from its quarter of the lanes.")),
  row("tcgen05.ld.sync.aligned.shape.num{.pack}.b32  r:=.tcgen05_n.b32, [taddr:.tmem], half_split_offset:#.u64 ;"
      " .shape = { .16x32bx2 } .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64, .x128 } .pack = { .pack::16b }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("taddr"), async(Proxy::generic, Event::tensor_load), converged(Converged::warp), exec("tcgen05_ld"),
      doc("tcgen05-instructions-tcgen05-ld", "load from tensor memory, each warp from its quarter of the lanes.")),
  row("tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr:.tmem], r:%.tcgen05_n.b32 ;"
      " .shape = { .16x64b, .32x32b } .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64, .x128 } .unpack = { .unpack::16b }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), writes("taddr"), async(Proxy::generic, Event::tensor_store), converged(Converged::warp), exec("tcgen05_st"),
      doc("tcgen05-instructions-tcgen05-st", "store to tensor memory, each warp to its quarter of the lanes.")),
  row("tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr:.tmem], r:%.tcgen05_n.b32 ;"
      " .shape = { .16x128b } .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64 } .unpack = { .unpack::16b }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), writes("taddr"), async(Proxy::generic, Event::tensor_store), converged(Converged::warp), exec("tcgen05_st"),
      doc("tcgen05-instructions-tcgen05-st", "store to tensor memory, each warp to its quarter of the lanes.")),
  row("tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr:.tmem], r:%.tcgen05_n.b32 ;"
      " .shape = { .16x256b } .num = { .x1, .x2, .x4, .x8, .x16, .x32 } .unpack = { .unpack::16b }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), writes("taddr"), async(Proxy::generic, Event::tensor_store), converged(Converged::warp), exec("tcgen05_st"),
      doc("tcgen05-instructions-tcgen05-st", "store to tensor memory, each warp to its quarter of the lanes.")),
  row("tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr:.tmem], half_split_offset:#.u64, r:%.tcgen05_n.b32 ;"
      " .shape = { .16x32bx2 } .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64, .x128 } .unpack = { .unpack::16b }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), writes("taddr"), async(Proxy::generic, Event::tensor_store), converged(Converged::warp), exec("tcgen05_st"),
      doc("tcgen05-instructions-tcgen05-st", "store to tensor memory, each warp to its quarter of the lanes.")),
  row("tcgen05.ld.red.sync.aligned.shape.num.op{.abs}{.NaN}.f32  r:=.tcgen05_n.b32, value:=.b32, [taddr:.tmem] ;"
      " .shape = { .32x32b } .num = { .x2, .x4, .x8, .x16, .x32, .x64, .x128 } .op = { .min, .max }",
      since(8,8), on(sm_101f, sm_103f, sm_110f), reads("taddr"), async(Proxy::generic, Event::tensor_load), converged(Converged::warp), exec("tcgen05_ld"),
      doc("tcgen05-instructions-tcgen05-ld", "load from tensor memory, and the smallest or largest f32 of each lane.")),
  row("tcgen05.ld.red.sync.aligned.shape.num.op.type  r:=.tcgen05_n.b32, value:=.b32, [taddr:.tmem] ;"
      " .shape = { .32x32b } .num = { .x2, .x4, .x8, .x16, .x32, .x64, .x128 } .op = { .min, .max } .type = { .u32, .s32 }",
      since(8,8), on(sm_101f, sm_103f, sm_110f), reads("taddr"), async(Proxy::generic, Event::tensor_load), converged(Converged::warp), exec("tcgen05_ld"),
      doc("tcgen05-instructions-tcgen05-ld", "load from tensor memory, and the smallest or largest integer of each lane.")),
  row("tcgen05.ld.red.sync.aligned.shape.num.op{.abs}{.NaN}.f32"
      "  r:=.tcgen05_n.b32, value:=.b32, [taddr:.tmem], half_split_offset:#.u64 ;"
      " .shape = { .16x32bx2 } .num = { .x2, .x4, .x8, .x16, .x32, .x64, .x128 } .op = { .min, .max }",
      since(8,8), on(sm_101f, sm_103f, sm_110f), reads("taddr"), async(Proxy::generic, Event::tensor_load), converged(Converged::warp), exec("tcgen05_ld"),
      doc("tcgen05-instructions-tcgen05-ld", "load from tensor memory, and the smallest or largest f32 of each lane.")),
  row("tcgen05.ld.red.sync.aligned.shape.num.op.type"
      "  r:=.tcgen05_n.b32, value:=.b32, [taddr:.tmem], half_split_offset:#.u64 ;"
      " .shape = { .16x32bx2 } .num = { .x2, .x4, .x8, .x16, .x32, .x64, .x128 } .op = { .min, .max } .type = { .u32, .s32 }",
      since(8,8), on(sm_101f, sm_103f, sm_110f), reads("taddr"), async(Proxy::generic, Event::tensor_load), converged(Converged::warp), exec("tcgen05_ld"),
      doc("tcgen05-instructions-tcgen05-ld", "load from tensor memory, and the smallest or largest integer of each lane.")),
  row("tcgen05.wait.sync.aligned ; .wait = { .wait::ld }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), syncs(Sync::group, Scope::thread), waits(Event::tensor_load), converged(Converged::warp), exec("tcgen05_wait"),
      doc("tcgen05-instructions-tcgen05-wait", "wait for the thread's own loads from tensor memory.")),
  row("tcgen05.wait.sync.aligned ; .wait = { .wait::st }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), syncs(Sync::group, Scope::thread), waits(Event::tensor_store), converged(Converged::warp), exec("tcgen05_wait"),
      doc("tcgen05-instructions-tcgen05-wait", "wait for the thread's own stores to tensor memory.")),

  // from shared memory to tensor memory, and down by a lane
  row("tcgen05.cp.cta_group.shape  [taddr:.tmem], source:.u64 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .shape = { .128x256b, .4x256b, .128x128b }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("source"), writes("taddr"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_cp"),
      doc("tcgen05-instructions-tcgen05-cp", "copy from shared memory, as its matrix descriptor says, to tensor memory.")),
  row("tcgen05.cp.cta_group.shape.b8x16.src_fmt  [taddr:.tmem], source:.u64 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .shape = { .128x256b, .4x256b, .128x128b }"
      " .src_fmt = { .b6x16_p32, .b4x16_p64 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("source"), writes("taddr"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_cp"),
      doc("tcgen05-instructions-tcgen05-cp", "copy from shared memory to tensor memory, 6 or 4-bit elements widened to a byte.")),
  row("tcgen05.cp.cta_group.shape.multicast  [taddr:.tmem], source:.u64 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .shape = { .64x128b } .multicast = { .warpx2::02_13, .warpx2::01_23 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("source"), writes("taddr"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_cp"),
      doc("tcgen05-instructions-tcgen05-cp", "copy from shared memory, as its matrix descriptor says, to tensor memory.")),
  row("tcgen05.cp.cta_group.shape.multicast.b8x16.src_fmt  [taddr:.tmem], source:.u64 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .shape = { .64x128b } .multicast = { .warpx2::02_13, .warpx2::01_23 }"
      " .src_fmt = { .b6x16_p32, .b4x16_p64 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("source"), writes("taddr"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_cp"),
      doc("tcgen05-instructions-tcgen05-cp", "copy from shared memory to tensor memory, 6 or 4-bit elements widened to a byte.")),
  row("tcgen05.cp.cta_group.shape.multicast  [taddr:.tmem], source:.u64 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .shape = { .32x128b } .multicast = { .warpx4 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("source"), writes("taddr"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_cp"),
      doc("tcgen05-instructions-tcgen05-cp", "copy from shared memory, as its matrix descriptor says, to tensor memory.")),
  row("tcgen05.cp.cta_group.shape.multicast.b8x16.src_fmt  [taddr:.tmem], source:.u64 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .shape = { .32x128b } .multicast = { .warpx4 }"
      " .src_fmt = { .b6x16_p32, .b4x16_p64 }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("source"), writes("taddr"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_cp"),
      doc("tcgen05-instructions-tcgen05-cp", "copy from shared memory to tensor memory, 6 or 4-bit elements widened to a byte.")),
  row("tcgen05.shift.cta_group.down  [taddr:.tmem] ; .cta_group = { .cta_group::1, .cta_group::2 }",
      since(8,6), on(sm_100a, sm_101a, sm_103a, sm_110a), reads("taddr"), writes("taddr"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_shift"),
      doc("tcgen05-instructions-tcgen05-shift", "shift rows of tensor memory down by one.")),

  // completion and order
  row("tcgen05.commit.cta_group.mbarrier::arrive::one{.ss}{.multicast}.b64  [mbar:.ss] {, cta_mask:%.u16 @.multicast} ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .ss = { .shared::cluster } .multicast = { .multicast::cluster }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), commits(Event::tensor_operation), async(Proxy::generic, Event::mbarrier), signals("mbar"), exec("tcgen05_commit"),
      doc("tcgen-async-sync-operations-commit", "arrive on the mbarrier when all that the thread has begun is complete.")),
  row("tcgen05.fence ; .fence = { .fence::before_thread_sync, .fence::after_thread_sync }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), syncs(Sync::tensor_fence, Scope::thread), exec("tcgen05_fence"),
      doc("tcgen05-special-sync-operations-fence", "order tcgen05 operations against synchronisation between threads.")),

  // d = a * b + d, one thread for all; a in shared or tensor memory, b in shared memory, d in tensor memory
  row("tcgen05.mma.cta_group.kind{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, idesc:.u32 {, disable:%.disable.b32}, enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 }"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d, a in shared memory.")),
  row("tcgen05.mma.cta_group.kind{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, idesc:.u32 {, disable:%.disable.b32}, enable:!.pred, scale:#.u32=0..15 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f), reads("d a b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d / 2^scale, a in shared memory.")),
  row("tcgen05.mma.cta_group.kind{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32 {, disable:%.disable.b32}, enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 }"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d, a in tensor memory.")),
  row("tcgen05.mma.cta_group.kind{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32 {, disable:%.disable.b32}, enable:!.pred, scale:#.u32=0..15 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f), reads("d a b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d / 2^scale, a in tensor memory.")),
  row("tcgen05.mma.cta_group.kind.ashift{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32 {, disable:%.disable.b32}, enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 }"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d, the rows of a shifted down by one.")),
  row("tcgen05.mma.cta_group.kind.ashift{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32 {, disable:%.disable.b32}, enable:!.pred, scale:#.u32=0..15 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32 }"
      " .collector = { .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f), reads("d a b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = a * b + d / 2^scale, the rows of a shifted down by one.")),
  row("tcgen05.mma.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf8f6f4 }"
      " .scale_size = { .block32 @8.8, .scale_vec::1X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in shared memory.")),
  row("tcgen05.mma.cta_group.kind.block_scale{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf8f6f4 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,8), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in shared memory.")),
  row("tcgen05.mma.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4 }"
      " .scale_size = { .block32 @8.8, .scale_vec::2X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in shared memory.")),
  row("tcgen05.mma.cta_group.kind.block_scale{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,8), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in shared memory.")),
  row("tcgen05.mma.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4nvf4 }"
      " .scale_size = { .block16 @8.8, .block32 @8.8, .scale_vec::2X @sm_100a|sm_101a|sm_103a|sm_110a,"
      " .scale_vec::4X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,7), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in shared memory.")),
  row("tcgen05.mma.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf8f6f4 }"
      " .scale_size = { .block32 @8.8, .scale_vec::1X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in tensor memory.")),
  row("tcgen05.mma.cta_group.kind.block_scale{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf8f6f4 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,8), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in tensor memory.")),
  row("tcgen05.mma.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4 }"
      " .scale_size = { .block32 @8.8, .scale_vec::2X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in tensor memory.")),
  row("tcgen05.mma.cta_group.kind.block_scale{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,8), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in tensor memory.")),
  row("tcgen05.mma.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4nvf4 }"
      " .scale_size = { .block16 @8.8, .block32 @8.8, .scale_vec::2X @sm_100a|sm_101a|sm_103a|sm_110a,"
      " .scale_vec::4X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,7), on(sm_100f, sm_101f, sm_110f), reads("d a b scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma", "d = (a * its scales) * (b * its scales) + d, a in tensor memory.")),

  // d = a * b + d, one thread for all; a sparse, with its metadata at e, in shared or tensor memory, b in shared memory, d in tensor memory
  row("tcgen05.mma.sp.cta_group.kind{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, [e:.tmem], idesc:.u32 {, disable:%.disable.b32}, enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 }"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b e"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = a * b + d, a sparse, a in shared memory.")),
  row("tcgen05.mma.sp.cta_group.kind{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, [e:.tmem], idesc:.u32 {, disable:%.disable.b32}, enable:!.pred, scale:#.u32=0..15 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f), reads("d a b e"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = a * b + d / 2^scale, a sparse, a in shared memory.")),
  row("tcgen05.mma.sp.cta_group.kind{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32 {, disable:%.disable.b32}, enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 }"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b e"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = a * b + d, a sparse, a in tensor memory.")),
  row("tcgen05.mma.sp.cta_group.kind{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32 {, disable:%.disable.b32}, enable:!.pred, scale:#.u32=0..15 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f), reads("d a b e"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = a * b + d / 2^scale, a sparse, a in tensor memory.")),
  row("tcgen05.mma.sp.cta_group.kind.ashift{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32 {, disable:%.disable.b32}, enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 }"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b e"), writes("d"), async(Proxy::async, Event::tensor_operation), not_executed("whether the metadata of a goes with its rows nobody has told"),
      doc("tcgen05-mma-instructions-mma-sp", "d = a * b + d, a sparse, the rows of a shifted down by one.")),
  row("tcgen05.mma.sp.cta_group.kind.ashift{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32 {, disable:%.disable.b32}, enable:!.pred, scale:#.u32=0..15 ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::f16, .kind::tf32 }"
      " .collector = { .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f), reads("d a b e"), writes("d"), async(Proxy::async, Event::tensor_operation), not_executed("whether the metadata of a goes with its rows nobody has told"),
      doc("tcgen05-mma-instructions-mma-sp", "d = a * b + d / 2^scale, a sparse, the rows of a shifted down by one.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf8f6f4 }"
      " .scale_size = { .block32 @8.8, .scale_vec::1X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in shared memory.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf8f6f4 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,8), on(sm_100f, sm_101f, sm_110f), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in shared memory.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4 }"
      " .scale_size = { .block32 @8.8, .scale_vec::2X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100a, sm_101a, sm_103a, sm_110a), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in shared memory.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,8), on(sm_100a, sm_101a, sm_103a, sm_110a), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in shared memory.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4nvf4 }"
      " .scale_size = { .block16 @8.8, .block32 @8.8, .scale_vec::2X @sm_100a|sm_101a|sm_103a|sm_110a,"
      " .scale_vec::4X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,7), on(sm_100a, sm_101a, sm_103a, sm_110a), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in shared memory.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf8f6f4 }"
      " .scale_size = { .block32 @8.8, .scale_vec::1X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in tensor memory.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf8f6f4 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,8), on(sm_100f, sm_101f, sm_110f), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in tensor memory.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4 }"
      " .scale_size = { .block32 @8.8, .scale_vec::2X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,6), on(sm_100a, sm_101a, sm_103a, sm_110a), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in tensor memory.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4 }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,8), on(sm_100a, sm_101a, sm_103a, sm_110a), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in tensor memory.")),
  row("tcgen05.mma.sp.cta_group.kind.block_scale.scale_size{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32, [scale_a:.tmem], [scale_b:.tmem], enable:!.pred ;"
      " .cta_group = { .cta_group::1, .cta_group::2 } .kind = { .kind::mxf4nvf4 }"
      " .scale_size = { .block16 @8.8, .block32 @8.8, .scale_vec::2X @sm_100a|sm_101a|sm_103a|sm_110a,"
      " .scale_vec::4X @sm_100a|sm_101a|sm_103a|sm_110a }"
      " .collector = { .collector::a::fill, .collector::a::use, .collector::a::lastuse, .collector::a::discard }",
      since(8,7), on(sm_100a, sm_101a, sm_103a, sm_110a), reads("d a b e scale_a scale_b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-sp", "d = (a * its scales) * (b * its scales) + d, a sparse, a in tensor memory.")),

  // weights stationary: b is kept in the collector; columns of b may be zeroed by mask
  row("tcgen05.mma.ws.cta_group::1.kind{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, idesc:.u32, enable:!.pred {, zero_columns:.u64} ;"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::b0::fill, .collector::b0::use, .collector::b0::lastuse, .collector::b0::discard,"
      " .collector::b1::fill, .collector::b1::use, .collector::b1::lastuse, .collector::b1::discard, .collector::b2::fill,"
      " .collector::b2::use, .collector::b2::lastuse, .collector::b2::discard, .collector::b3::fill, .collector::b3::use,"
      " .collector::b3::lastuse, .collector::b3::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-ws", "d = a * b + d, a in shared memory.")),
  row("tcgen05.mma.ws.cta_group::1.kind{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, idesc:.u32, enable:!.pred {, zero_columns:.u64} ;"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::b0::fill, .collector::b0::use, .collector::b0::lastuse, .collector::b0::discard,"
      " .collector::b1::fill, .collector::b1::use, .collector::b1::lastuse, .collector::b1::discard, .collector::b2::fill,"
      " .collector::b2::use, .collector::b2::lastuse, .collector::b2::discard, .collector::b3::fill, .collector::b3::use,"
      " .collector::b3::lastuse, .collector::b3::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-ws", "d = a * b + d, a in tensor memory.")),
  row("tcgen05.mma.ws.sp.cta_group::1.kind{.collector}"
      "  [d:.tmem], a:.u64, b:.u64, [e:.tmem], idesc:.u32, enable:!.pred {, zero_columns:.u64} ;"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::b0::fill, .collector::b0::use, .collector::b0::lastuse, .collector::b0::discard,"
      " .collector::b1::fill, .collector::b1::use, .collector::b1::lastuse, .collector::b1::discard, .collector::b2::fill,"
      " .collector::b2::use, .collector::b2::lastuse, .collector::b2::discard, .collector::b3::fill, .collector::b3::use,"
      " .collector::b3::lastuse, .collector::b3::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b e"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-ws-sp", "d = a * b + d, a sparse, a in shared memory.")),
  row("tcgen05.mma.ws.sp.cta_group::1.kind{.collector}"
      "  [d:.tmem], [a:.tmem], b:.u64, [e:.tmem], idesc:.u32, enable:!.pred {, zero_columns:.u64} ;"
      " .kind = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 @sm_100a|sm_101a|sm_110a }"
      " .collector = { .collector::b0::fill, .collector::b0::use, .collector::b0::lastuse, .collector::b0::discard,"
      " .collector::b1::fill, .collector::b1::use, .collector::b1::lastuse, .collector::b1::discard, .collector::b2::fill,"
      " .collector::b2::use, .collector::b2::lastuse, .collector::b2::discard, .collector::b3::fill, .collector::b3::use,"
      " .collector::b3::lastuse, .collector::b3::discard }",
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("d a b e"), writes("d"), async(Proxy::async, Event::tensor_operation), exec("tcgen05_mma"),
      doc("tcgen05-mma-instructions-mma-ws-sp", "d = a * b + d, a sparse, a in tensor memory.")),
};
// clang-format on

}  // namespace ptx::isa::table
