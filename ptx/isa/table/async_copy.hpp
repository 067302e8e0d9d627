// Asynchronous copies, stores and reductions, and tensor maps (manual: "Data Movement and Conversion Instructions: Asynchronous
// copy").
#pragma once

#include "ptx/isa/row.hpp"

// Slots that many rows share.
#define PTX_POLICY " .l2 = { .L2::cache_hint }"
#define PTX_TX_BYTES " .completion = { .mbarrier::complete_tx::bytes }"
#define PTX_CTA_GROUP " .cta_group = { .cta_group::1 @8.6 @sm_100f|sm_101f|sm_110f, .cta_group::2 @8.6 @sm_100f|sm_101f|sm_110f }"
#define PTX_CP_ASYNC "data-movement-and-conversion-instructions-cp-async"
#define PTX_BULK "data-movement-and-conversion-instructions-cp-async-bulk"
#define PTX_REDUCE "data-movement-and-conversion-instructions-cp-reduce-async-bulk"
#define PTX_TENSOR "data-movement-and-conversion-instructions-cp-async-bulk-tensor"
#define PTX_TENSOR_REDUCE "data-movement-and-conversion-instructions-cp-reduce-async-bulk-tensor"
#define PTX_TENSOR_PREFETCH "data-movement-and-conversion-instructions-cp-async-bulk-prefetch-tensor"
#define PTX_TENSORMAP "data-movement-and-conversion-instructions-tensormap-replace"
#define PTX_ST_ASYNC "data-movement-and-conversion-instructions-st-async"
#define PTX_RED_ASYNC "parallel-synchronization-and-communication-instructions-red-async"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row async_copy[] = {
  // ---- cp.async: 4, 8 or 16 bytes a thread
  row("cp.async.cop.ss.global{.l2}{.prefetch}  [dst:.ss], [src:.global], size:#.u32=4..16*2 {, src_size:.u32} {, policy:.u64 @.l2} ;"
      " .cop = { .ca } .ss = { .shared, .shared::cta @7.8 } .l2 = { .L2::cache_hint @7.4 }"
      " .prefetch = { .L2::64B @7.4, .L2::128B @7.4, .L2::256B @7.4 }",
      since(7,0), on(sm_80), reads("src"), writes("dst"), async(Proxy::generic, Event::copy_group), exec("cp_async"),
      rule("cp_async_source_size"), doc(PTX_CP_ASYNC, "begin to copy size bytes into shared memory; after the first src_size they are zero.")),
  row("cp.async.cop.ss.global{.l2}{.prefetch}  [dst:.ss], [src:.global], size:#.u32=16 {, src_size:.u32} {, policy:.u64 @.l2} ;"
      " .cop = { .cg } .ss = { .shared, .shared::cta @7.8 } .l2 = { .L2::cache_hint @7.4 }"
      " .prefetch = { .L2::64B @7.4, .L2::128B @7.4, .L2::256B @7.4 }",
      since(7,0), on(sm_80), reads("src"), writes("dst"), async(Proxy::generic, Event::copy_group), exec("cp_async"),
      rule("cp_async_source_size"), doc(PTX_CP_ASYNC, "begin to copy size bytes into shared memory; after the first src_size they are zero.")),
  row("cp.async.cop.ss.global{.l2}{.prefetch}  [dst:.ss], [src:.global], size:#.u32=4..16*2, ignore_src:!.pred {, policy:.u64 @.l2} ;"
      " .cop = { .ca } .ss = { .shared, .shared::cta @7.8 } .l2 = { .L2::cache_hint } .prefetch = { .L2::64B, .L2::128B, .L2::256B }",
      since(7,5), on(sm_80), reads("src"), writes("dst"), async(Proxy::generic, Event::copy_group), exec("cp_async"), doc(PTX_CP_ASYNC, "begin to copy size bytes into shared memory, or zeros.")),
  row("cp.async.cop.ss.global{.l2}{.prefetch}  [dst:.ss], [src:.global], size:#.u32=16, ignore_src:!.pred {, policy:.u64 @.l2} ;"
      " .cop = { .cg } .ss = { .shared, .shared::cta @7.8 } .l2 = { .L2::cache_hint } .prefetch = { .L2::64B, .L2::128B, .L2::256B }",
      since(7,5), on(sm_80), reads("src"), writes("dst"), async(Proxy::generic, Event::copy_group), exec("cp_async"), doc(PTX_CP_ASYNC, "begin to copy size bytes into shared memory, or zeros.")),
  row("cp.async.commit_group ;",
      since(7,0), on(sm_80), commits(Event::copy_group), exec("async_group"),
      doc("data-movement-and-conversion-instructions-cp-async-commit-group", "close the group of copies begun so far.")),
  row("cp.async.wait_group  n:#.u32 ;",
      since(7,0), on(sm_80), syncs(Sync::group, Scope::thread), waits(Event::copy_group), exec("async_group"),
      doc("data-movement-and-conversion-instructions-cp-async-wait-group", "wait until at most n groups of copies are pending.")),
  row("cp.async.wait_all ;",
      since(7,0), on(sm_80), syncs(Sync::group, Scope::thread), waits(Event::copy_group), exec("async_group"),
      doc("data-movement-and-conversion-instructions-cp-async-wait-group", "wait until no copy is pending.")),
  row("cp.async.mbarrier.arrive{.noinc}{.space}.b64  [addr:.space] ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), async(Proxy::generic, Event::mbarrier), signals("addr"), commits(Event::copy_group), exec("cp_async_mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive", "arrive at an mbarrier once all copies begun so far are done.")),

  // ---- cp.async.bulk: any multiple of 16 bytes
  row("cp.async.bulk{.weak}.dst.src.completion{.l2}{.ignore_oob}  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, ignoreLeft:.u32=0..15, ignoreRight:.u32=0..15 @.ignore_oob}, [mbar:.shared] {, policy:.u64 @.l2} ;"
      " .weak = { .weak @9.3 } .dst = { .shared::cta } .src = { .global }" PTX_TX_BYTES PTX_POLICY " .ignore_oob = { .ignore_oob @9.2 }",
      since(8,6), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_async_bulk"), doc(PTX_BULK, "begin to copy size bytes of global memory into this CTA's shared memory.")),
  row("cp.async.bulk.sem.scope.dst.src.completion{.l2}{.ignore_oob}.b128  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, ignoreLeft:.u32=0..15, ignoreRight:.u32=0..15 @.ignore_oob}, [mbar:.shared] {, policy:.u64 @.l2} ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .shared::cta } .src = { .global }" PTX_TX_BYTES PTX_POLICY,
      since(9,3), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("cp_async_bulk"), doc(PTX_BULK, "begin to copy size bytes of global memory into this CTA's shared memory, 16 at once.")),
  row("cp.async.bulk{.weak}.dst.src.completion{.multicast}{.l2}"
      "  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] {, ctaMask:.u16 @.multicast} {, policy:.u64 @.l2} ;"
      " .weak = { .weak @9.3 } .dst = { .shared::cluster } .src = { .global }" PTX_TX_BYTES " .multicast = { .multicast::cluster }" PTX_POLICY,
      since(8,0), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_async_bulk"), doc(PTX_BULK, "begin to copy size bytes of global memory into the shared memory of one or more CTAs of the cluster.")),
  row("cp.async.bulk.sem.scope.dst.src.completion{.multicast}{.l2}.b128"
      "  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] {, ctaMask:.u16 @.multicast} {, policy:.u64 @.l2} ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .shared::cluster } .src = { .global }" PTX_TX_BYTES " .multicast = { .multicast::cluster @sm_90a|sm_100f|sm_101f|sm_110f }" PTX_POLICY,
      since(9,3), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("cp_async_bulk"), doc(PTX_BULK, "begin to copy size bytes of global memory into the shared memory of one or more CTAs of the cluster, 16 at once.")),
  row("cp.async.bulk{.weak}.dst.src.completion  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .weak = { .weak @9.3 } .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES,
      since(8,0), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_async_bulk"), doc(PTX_BULK, "begin to copy size bytes of this CTA's shared memory into another's.")),
  row("cp.async.bulk.sem.scope.dst.src.completion.b128  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster } .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES,
      since(9,3), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("cp_async_bulk"), doc(PTX_BULK, "begin to copy size bytes of this CTA's shared memory into another's, 16 at once.")),
  row("cp.async.bulk{.weak}.dst.src.completion{.l2}{.cp_mask}  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} {, byteMask:.u16 @.cp_mask} ;"
      " .weak = { .weak @9.3 } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .cp_mask = { .cp_mask @8.6 @sm_100 }",
      since(8,0), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("cp_async_bulk"), doc(PTX_BULK, "begin to copy size bytes of shared memory into global memory, of each 16 those that byteMask tells.")),
  row("cp.async.bulk.sem.scope.dst.src.completion{.l2}{.cp_mask}.b128  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} {, byteMask:.u16 @.cp_mask} ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .cp_mask = { .cp_mask @sm_100 }",
      since(9,3), on(sm_90), reads("srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("cp_async_bulk"), doc(PTX_BULK, "begin to copy size bytes of shared memory into global memory, of each 16 those that byteMask tells, 16 at once.")),
  row("cp.async.bulk.prefetch.L2.src{.l2}  [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ; .src = { .global }" PTX_POLICY,
      since(8,0), on(sm_90), async(Proxy::async, Event::untold), Effect::volatile_, exec("cp_async_bulk_prefetch"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-prefetch", "begin to bring size bytes of global memory into the L2 cache.")),
  row("cp.async.bulk.commit_group ;",
      since(8,0), on(sm_90), commits(Event::bulk_group), exec("async_group"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-commit-group", "close the group of bulk copies begun so far.")),
  row("cp.async.bulk.wait_group{.read}  n:#.u32 ;",
      since(8,0), on(sm_90), syncs(Sync::group, Scope::thread), waits(Event::bulk_group), exec("async_group"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-wait-group",
          "wait until at most n groups of bulk copies are pending, or (read) still read their source.")),

  // ---- cp.reduce.async.bulk
  row("cp.reduce.async.bulk.dst.src.completion.op.b32  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES " .op = { .and, .or, .xor }",
      since(8,0), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to reduce another CTA's shared memory with size bytes of this one's, bit by bit.")),
  row("cp.reduce.async.bulk.sem.scope.dst.src.completion.op.b32  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster } .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES " .op = { .and, .or, .xor }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to reduce another CTA's shared memory with size bytes of this one's, bit by bit, each element at once.")),
  row("cp.reduce.async.bulk.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES " .op = { .min, .max } .type = { .u32, .s32 }",
      since(8,0), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to reduce another CTA's shared memory with size bytes of this one's.")),
  row("cp.reduce.async.bulk.sem.scope.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster } .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES " .op = { .min, .max } .type = { .u32, .s32 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to reduce another CTA's shared memory with size bytes of this one's, each element at once.")),
  row("cp.reduce.async.bulk.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES " .op = { .add } .type = { .u32, .s32, .u64 }",
      since(8,0), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to add size bytes of this CTA's shared memory to another's.")),
  row("cp.reduce.async.bulk.sem.scope.dst.src.completion.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster } .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES " .op = { .add } .type = { .u32, .s32, .u64 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to add size bytes of this CTA's shared memory to another's, each element at once.")),
  row("cp.reduce.async.bulk.dst.src.completion.op.u32  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES " .op = { .inc, .dec }",
      since(8,0), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to count another CTA's shared memory up to or down from size bytes of this one's.")),
  row("cp.reduce.async.bulk.sem.scope.dst.src.completion.op.u32  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16, [mbar:.shared] ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster } .dst = { .shared::cluster } .src = { .shared::cta }" PTX_TX_BYTES " .op = { .inc, .dec }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to count another CTA's shared memory up to or down from size bytes of this one's, each element at once.")),
  row("cp.reduce.async.bulk.dst.src.completion{.l2}.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(8,0), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to reduce global memory with size bytes of shared memory, bit by bit.")),
  row("cp.reduce.async.bulk.sem.scope.dst.src.completion{.l2}.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .op = { .and, .or, .xor } .type = { .b32, .b64 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to reduce global memory with size bytes of shared memory, bit by bit, each element at once.")),
  row("cp.reduce.async.bulk.dst.src.completion{.l2}.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY
      " .op = { .min, .max } .type = { .u32, .s32, .u64, .s64, .f16, .bf16 }",
      since(8,0), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to reduce global memory with size bytes of shared memory.")),
  row("cp.reduce.async.bulk.sem.scope.dst.src.completion{.l2}.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY
      " .op = { .min, .max } .type = { .u32, .s32, .u64, .s64, .f16, .bf16 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to reduce global memory with size bytes of shared memory, each element at once.")),
  row("cp.reduce.async.bulk.dst.src.completion{.l2}.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .op = { .add } .type = { .u32, .s32, .u64, .f32, .f64 }",
      since(8,0), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to add size bytes of shared memory to global memory.")),
  row("cp.reduce.async.bulk.sem.scope.dst.src.completion{.l2}.op.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .op = { .add } .type = { .u32, .s32, .u64, .f32, .f64 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to add size bytes of shared memory to global memory, each element at once.")),
  row("cp.reduce.async.bulk.dst.src.completion{.l2}.op.noftz.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .op = { .add } .type = { .f16, .bf16 }",
      since(8,0), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to add size bytes of shared memory to global memory, subnormal numbers kept.")),
  row("cp.reduce.async.bulk.sem.scope.dst.src.completion{.l2}.op.noftz.type  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .op = { .add } .type = { .f16, .bf16 }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to add size bytes of shared memory to global memory, subnormal numbers kept, each element at once.")),
  row("cp.reduce.async.bulk.dst.src.completion{.l2}.op.u32  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .op = { .inc, .dec }",
      since(8,0), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to count global memory up to or down from size bytes of shared memory.")),
  row("cp.reduce.async.bulk.sem.scope.dst.src.completion{.l2}.op.u32  [dstMem:.dst], [srcMem:.src], size:.u32=0..1048560/16 {, policy:.u64 @.l2} ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster, .gpu, .sys } .dst = { .global } .src = { .shared::cta } .completion = { .bulk_group }" PTX_POLICY " .op = { .inc, .dec }",
      since(9,3), on(sm_90), reads("dstMem srcMem"), writes("dstMem"), async(Proxy::async, Event::bulk_group), syncs(Sync::access), exec("cp_reduce_async_bulk"), doc(PTX_REDUCE, "begin to count global memory up to or down from size bytes of shared memory, each element at once.")),

  // ---- cp.async.bulk.tensor: boxes of tensors. global -> shared::cluster
  row("cp.async.bulk.tensor.dim.dst.src{.tile}.completion{.multicast}{.cta_group}{.level}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.dim.s32], [mbar:.shared] {, ctaMask:.u16 @.multicast} {, policy:.u64 @.level} ;"
      " .dim = { .1d, .2d, .3d, .4d, .5d } .dst = { .shared::cluster } .src = { .global } .tile = { .tile }"
      " .completion = { .mbarrier::complete_tx::bytes } .multicast = { .multicast::cluster }"
      " .cta_group = { .cta_group::1 @8.6 @sm_100f|sm_101f|sm_110f, .cta_group::2 @8.6 @sm_100f|sm_101f|sm_110f } .level = { .L2::cache_hint }",
      since(8,0), on(sm_90), reads("tensorMap"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_async_bulk_tensor"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-tensor", "copy a box of a tensor into shared memory.")),
  row("cp.async.bulk.tensor.dim.dst.src.load_mode.completion{.multicast}{.cta_group}{.level}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.dim.s32], [mbar:.shared], offsets:.im2col.u16 {, ctaMask:.u16 @.multicast} {, policy:.u64 @.level} ;"
      " .dim = { .3d, .4d, .5d } .dst = { .shared::cluster } .src = { .global } .load_mode = { .im2col }"
      " .completion = { .mbarrier::complete_tx::bytes } .multicast = { .multicast::cluster }"
      " .cta_group = { .cta_group::1 @8.6 @sm_100f|sm_101f|sm_110f, .cta_group::2 @8.6 @sm_100f|sm_101f|sm_110f } .level = { .L2::cache_hint }",
      since(8,0), on(sm_90), reads("tensorMap"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_async_bulk_tensor"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-tensor", "copy the pixels under a convolution's filter into shared memory.")),
  // shared::cta -> global
  row("cp.async.bulk.tensor.dim.dst.src{.load_mode}.completion{.level}"
      "  [tensorMap:.tensor, coords:.dim.s32], [srcMem:.src] {, policy:.u64 @.level} ;"
      " .dim = { .1d, .2d, .3d, .4d, .5d } .dst = { .global } .src = { .shared::cta } .load_mode = { .tile }"
      " .completion = { .bulk_group } .level = { .L2::cache_hint }",
      since(8,0), on(sm_90), reads("srcMem"), writes("tensorMap"), async(Proxy::async, Event::bulk_group), exec("cp_async_bulk_tensor"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-tensor", "copy a box of shared memory into a tensor.")),
  row("cp.async.bulk.tensor.dim.dst.src.load_mode.completion{.level}"
      "  [tensorMap:.tensor, coords:.dim.s32], [srcMem:.src] {, policy:.u64 @.level} ;"
      " .dim = { .3d, .4d, .5d } .dst = { .global } .src = { .shared::cta } .load_mode = { .im2col_no_offs }"
      " .completion = { .bulk_group } .level = { .L2::cache_hint }",
      since(8,0), on(sm_90), reads("srcMem"), writes("tensorMap"), async(Proxy::async, Event::bulk_group), exec("cp_async_bulk_tensor"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-tensor", "copy the pixels of a convolution's output into a tensor.")),

  // ---- cp.async.bulk.tensor: into a cluster's shared memory, what async.hpp does not have
  row("cp.async.bulk.tensor.2d.dst.src.load_mode.completion{.multicast}{.cta_group}{.l2}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.x5.s32], [mbar:.shared] {, ctaMask:.u16 @.multicast} {, policy:.u64 @.l2} ;"
      " .dst = { .shared::cluster } .src = { .global } .load_mode = { .tile::gather4 }" PTX_TX_BYTES
      " .multicast = { .multicast::cluster } .cta_group = { .cta_group::1, .cta_group::2 }" PTX_POLICY,
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("tensorMap"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"),
      exec("cp_async_bulk_tensor"), doc(PTX_TENSOR, "copy four rows of a matrix into shared memory: the column, then the rows.")),
  row("cp.async.bulk.tensor.dim.dst.src.load_mode.completion{.multicast}{.cta_group}{.l2}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.dim.s32], [mbar:.shared], offsets:.x2.u16 {, ctaMask:.u16 @.multicast} {, policy:.u64 @.l2} ;"
      " .dim = { .3d, .4d, .5d } .dst = { .shared::cluster } .src = { .global } .load_mode = { .im2col::w, .im2col::w::128 }" PTX_TX_BYTES
      " .multicast = { .multicast::cluster } .cta_group = { .cta_group::1, .cta_group::2 }" PTX_POLICY,
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("tensorMap"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"),
      exec("cp_async_bulk_tensor"), doc(PTX_TENSOR, "copy the pixels under a convolution's filter along w into shared memory.")),
  // into this CTA's shared memory
  row("cp.async.bulk.tensor.dim.dst.src{.tile}.completion{.cta_group}{.l2}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.dim.s32], [mbar:.shared] {, policy:.u64 @.l2} ;"
      " .dim = { .1d, .2d, .3d, .4d, .5d } .dst = { .shared::cta } .src = { .global } .tile = { .tile }" PTX_TX_BYTES PTX_CTA_GROUP PTX_POLICY,
      since(8,6), on(sm_90), reads("tensorMap"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_async_bulk_tensor"),
      doc(PTX_TENSOR, "copy a box of a tensor into this CTA's shared memory.")),
  row("cp.async.bulk.tensor.2d.dst.src.load_mode.completion{.cta_group}{.l2}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.x5.s32], [mbar:.shared] {, policy:.u64 @.l2} ;"
      " .dst = { .shared::cta } .src = { .global } .load_mode = { .tile::gather4 }" PTX_TX_BYTES PTX_CTA_GROUP PTX_POLICY,
      since(8,6), on(sm_100), reads("tensorMap"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_async_bulk_tensor"),
      doc(PTX_TENSOR, "copy four rows of a matrix into this CTA's shared memory: the column, then the rows.")),
  row("cp.async.bulk.tensor.dim.dst.src.load_mode.completion{.cta_group}{.l2}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.dim.s32], [mbar:.shared], offsets:.im2col.u16 {, policy:.u64 @.l2} ;"
      " .dim = { .3d, .4d, .5d } .dst = { .shared::cta } .src = { .global } .load_mode = { .im2col }" PTX_TX_BYTES PTX_CTA_GROUP PTX_POLICY,
      since(8,6), on(sm_90), reads("tensorMap"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_async_bulk_tensor"),
      doc(PTX_TENSOR, "copy the pixels under a convolution's filter into this CTA's shared memory.")),
  row("cp.async.bulk.tensor.dim.dst.src.load_mode.completion{.cta_group}{.l2}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.dim.s32], [mbar:.shared], offsets:.x2.u16 {, policy:.u64 @.l2} ;"
      " .dim = { .3d, .4d, .5d } .dst = { .shared::cta } .src = { .global }"
      " .load_mode = { .im2col::w, .im2col::w::128 @sm_100f|sm_101f|sm_110f }" PTX_TX_BYTES PTX_CTA_GROUP PTX_POLICY,
      since(8,6), on(sm_100), reads("tensorMap"), writes("dstMem"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("cp_async_bulk_tensor"),
      doc(PTX_TENSOR, "copy the pixels under a convolution's filter along w into this CTA's shared memory.")),
  // into global memory
  row("cp.async.bulk.tensor.2d.dst.src.load_mode.completion{.l2}  [tensorMap:.tensor, coords:.x5.s32], [srcMem:.src] {, policy:.u64 @.l2} ;"
      " .dst = { .global } .src = { .shared::cta } .load_mode = { .tile::scatter4 } .completion = { .bulk_group }" PTX_POLICY,
      since(8,6), on(sm_100f, sm_101f, sm_110f), reads("srcMem"), writes("tensorMap"), async(Proxy::async, Event::bulk_group),
      exec("cp_async_bulk_tensor"), doc(PTX_TENSOR, "copy shared memory into four rows of a matrix: the column, then the rows.")),
  row("cp.reduce.async.bulk.tensor.dim.dst.src.op{.tile}.completion{.l2}  [tensorMap:.tensor, coords:.dim.s32], [srcMem:.src] {, policy:.u64 @.l2} ;"
      " .dim = { .1d, .2d, .3d, .4d, .5d } .dst = { .global } .src = { .shared::cta } .op = { .add, .min, .max, .inc, .dec, .and, .or, .xor }"
      " .tile = { .tile } .completion = { .bulk_group }" PTX_POLICY,
      since(8,0), on(sm_90), reads("tensorMap srcMem"), writes("tensorMap"), async(Proxy::async, Event::bulk_group), exec("cp_async_bulk_tensor"),
      doc(PTX_TENSOR_REDUCE, "reduce a box of a tensor with shared memory.")),
  row("cp.reduce.async.bulk.tensor.dim.dst.src.op.load_mode.completion{.l2}"
      "  [tensorMap:.tensor, coords:.dim.s32], [srcMem:.src] {, policy:.u64 @.l2} ;"
      " .dim = { .3d, .4d, .5d } .dst = { .global } .src = { .shared::cta } .op = { .add, .min, .max, .inc, .dec, .and, .or, .xor }"
      " .load_mode = { .im2col_no_offs } .completion = { .bulk_group }" PTX_POLICY,
      since(8,0), on(sm_90), reads("tensorMap srcMem"), writes("tensorMap"), async(Proxy::async, Event::bulk_group), exec("cp_async_bulk_tensor"),
      doc(PTX_TENSOR_REDUCE, "reduce the pixels of a convolution's output with shared memory.")),
  // into the L2 cache
  row("cp.async.bulk.prefetch.tensor.dim.L2.src{.tile}{.l2}  [tensorMap:.tensor, coords:.dim.s32] {, policy:.u64 @.l2} ;"
      " .dim = { .1d, .2d, .3d, .4d, .5d } .src = { .global } .tile = { .tile }" PTX_POLICY,
      since(8,0), on(sm_90), async(Proxy::async, Event::untold), Effect::volatile_, exec("cp_async_bulk_prefetch"),
      doc(PTX_TENSOR_PREFETCH, "bring a box of a tensor into the L2 cache.")),
  row("cp.async.bulk.prefetch.tensor.2d.L2.src.load_mode{.l2}  [tensorMap:.tensor, coords:.x5.s32] {, policy:.u64 @.l2} ;"
      " .src = { .global } .load_mode = { .tile::gather4 }" PTX_POLICY,
      since(8,6), on(sm_100f, sm_101f, sm_110f), async(Proxy::async, Event::untold), Effect::volatile_, exec("cp_async_bulk_prefetch"),
      doc(PTX_TENSOR_PREFETCH, "bring four rows of a matrix into the L2 cache: the column, then the rows.")),
  row("cp.async.bulk.prefetch.tensor.dim.L2.src.load_mode{.l2}  [tensorMap:.tensor, coords:.dim.s32], offsets:.im2col.u16 {, policy:.u64 @.l2} ;"
      " .dim = { .3d, .4d, .5d } .src = { .global } .load_mode = { .im2col }" PTX_POLICY,
      since(8,0), on(sm_90), async(Proxy::async, Event::untold), Effect::volatile_, exec("cp_async_bulk_prefetch"),
      doc(PTX_TENSOR_PREFETCH, "bring the pixels under a convolution's filter into the L2 cache.")),
  row("cp.async.bulk.prefetch.tensor.dim.L2.src.load_mode{.l2}  [tensorMap:.tensor, coords:.dim.s32], offsets:.x2.u16 {, policy:.u64 @.l2} ;"
      " .dim = { .3d, .4d, .5d } .src = { .global } .load_mode = { .im2col::w, .im2col::w::128 }" PTX_POLICY,
      since(8,6), on(sm_100f, sm_101f, sm_110f), async(Proxy::async, Event::untold), Effect::volatile_, exec("cp_async_bulk_prefetch"),
      doc(PTX_TENSOR_PREFETCH, "bring the pixels under a convolution's filter along w into the L2 cache.")),

  // ---- tensor maps
  row("tensormap.replace.tile.field{.ss}.b1024.b64  [addr:.ss], new_val:.b64 ; .field = { .global_address } .ss = { .global, .shared::cta }",
      since(8,3), on(sm_90a, sm_100f, sm_101f, sm_110f, sm_120f), reads("addr"), writes("addr"),
      exec("tensormap_replace"), doc(PTX_TENSORMAP, "the address of a tensor map's tensor = new_val.")),
  row("tensormap.replace.tile.field{.ss}.b1024.b32  [addr:.ss], new_val:.b32 ; .field = { .rank } .ss = { .global, .shared::cta }",
      since(8,3), on(sm_90a, sm_100f, sm_101f, sm_110f, sm_120f), reads("addr"), writes("addr"),
      exec("tensormap_replace"), doc(PTX_TENSORMAP, "the rank of a tensor map, less one = new_val.")),
  row("tensormap.replace.tile.field{.ss}.b1024.b32  [addr:.ss], ord:#.u32=0..4, new_val:.u32 ;"
      " .field = { .box_dim, .global_dim, .element_stride } .ss = { .global, .shared::cta }",
      since(8,3), on(sm_90a, sm_100f, sm_101f, sm_110f, sm_120f), reads("addr"), writes("addr"),
      exec("tensormap_replace"), doc(PTX_TENSORMAP, "dimension ord of a tensor map = new_val.")),
  row("tensormap.replace.tile.field{.ss}.b1024.b64  [addr:.ss], ord:#.u32=0..4, new_val:.b64 ; .field = { .global_stride } .ss = { .global, .shared::cta }",
      since(8,3), on(sm_90a, sm_100f, sm_101f, sm_110f, sm_120f), reads("addr"), writes("addr"),
      exec("tensormap_replace"), doc(PTX_TENSORMAP, "stride ord of a tensor map, in bytes = new_val.")),
  row("tensormap.replace.tile.field{.ss}.b1024.b32  [addr:.ss], new_val:#.u32 ;"
      " .field = { .elemtype, .interleave_layout, .swizzle_mode, .swizzle_atomicity @8.6 @sm_100f|sm_101f|sm_110f|sm_120f, .fill_mode }"
      " .ss = { .global, .shared::cta }",
      since(8,3), on(sm_90a, sm_100f, sm_101f, sm_110f, sm_120f), reads("addr"), writes("addr"),
      exec("tensormap_replace"), rule("tensormap_field"), doc(PTX_TENSORMAP, "a property of a tensor map = the one with the number new_val.")),
  row("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned  [dst:.global], [src:.shared::cta], size:#.u32=128 ;"
      " .scope = { .cta, .cluster, .gpu, .sys }",
      since(8,3), on(sm_90), reads("src"), writes("dst"), through(Proxy::tensormap), syncs(Sync::proxy_fence), converged(Converged::warp),
      exec("tensormap_cp_fenceproxy"),
      doc("parallel-synchronization-and-communication-instructions-tensormap-cp-fenceproxy",
          "copy a tensor map into global memory and release it to tensor copies.")),

  // ---- st.async, st.bulk, red.async
  row("st.async{.weak}{.ss}.completion{.vec}.type  [a:.ss], b:.vec.type, [mbar:.ss] ;"
      " .ss = { .shared::cluster }" PTX_TX_BYTES " .vec = { .v2, .v4 } .type = { .b32, .u32, .s32, .f32 }",
      since(8,1), on(sm_90), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), exec("st_async"),
      doc(PTX_ST_ASYNC, "begin to store b in the shared memory of a CTA of the cluster.")),
  row("st.async{.weak}{.ss}.completion{.vec}.type  [a:.ss], b:.vec.type, [mbar:.ss] ;"
      " .ss = { .shared::cluster }" PTX_TX_BYTES " .vec = { .v2 } .type = { .b64, .u64, .s64, .f64 }",
      since(8,1), on(sm_90), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), exec("st_async"),
      doc(PTX_ST_ASYNC, "begin to store b in the shared memory of a CTA of the cluster.")),
  row("st.async.cluster{.ss}.completion{.vec}.type  [a:.ss], b:.vec.type, [mbar:.ss] ;"
      " .ss = { .shared::cluster }" PTX_TX_BYTES " .vec = { .v2, .v4 } .type = { .b32, .u32, .s32, .f32 }",
      since(8,1), on(sm_90), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), exec("st_async"),
      doc(PTX_ST_ASYNC, "begin to store b in the shared memory of a CTA of the cluster.")),
  row("st.async.cluster{.ss}.completion{.vec}.type  [a:.ss], b:.vec.type, [mbar:.ss] ;"
      " .ss = { .shared::cluster }" PTX_TX_BYTES " .vec = { .v2 } .type = { .b64, .u64, .s64, .f64 }",
      since(8,1), on(sm_90), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), exec("st_async"),
      doc(PTX_ST_ASYNC, "begin to store b in the shared memory of a CTA of the cluster.")),
  row("st.async{.mmio}.sem.scope{.ss}.type  [a:.ss], b:.type ;"
      " .sem = { .release } .scope = { .gpu, .sys } .ss = { .global }"
      " .type = { .b8, .b16, .b32, .b64, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64 }",
      since(8,7), on(sm_100), writes("a"), async(Proxy::generic, Event::untold), syncs(Sync::access), exec("st_async"),
      doc(PTX_ST_ASYNC, "begin to store b in global memory, after all writes so far.")),
  row("st.bulk{.weak}{.space}  [a:.space], size:.u64=0..16777216/8, initval:#.u64=0 ; .space = { .shared::cta }",
      since(8,6), on(sm_100), writes("a"), exec("st_bulk"),
      doc("data-movement-and-conversion-instructions-st-bulk", "size bytes of shared memory at a = zero.")),
  row("red.async.sem.scope{.ss}.completion.op.type  [a:.ss], b:.type, [mbar:.ss] ;"
      " .sem = { .relaxed } .scope = { .cluster } .ss = { .shared::cluster }" PTX_TX_BYTES " .op = { .inc, .dec } .type = { .u32 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("red_async"),
      doc(PTX_RED_ASYNC, "begin to count memory in a CTA of the cluster up to b and then from 0 again (inc), or down from b (dec).")),
  row("red.async.sem.scope{.ss}.completion.op.type  [a:.ss], b:.type, [mbar:.ss] ;"
      " .sem = { .relaxed } .scope = { .cluster } .ss = { .shared::cluster }" PTX_TX_BYTES " .op = { .min, .max } .type = { .u32, .s32 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("red_async"),
      doc(PTX_RED_ASYNC, "begin to make memory in a CTA of the cluster the lesser or greater of it and b.")),
  row("red.async.sem.scope{.ss}.completion.op.type  [a:.ss], b:.type, [mbar:.ss] ;"
      " .sem = { .relaxed } .scope = { .cluster } .ss = { .shared::cluster }" PTX_TX_BYTES " .op = { .and, .or, .xor } .type = { .b32 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("red_async"),
      doc(PTX_RED_ASYNC, "begin to reduce memory in a CTA of the cluster with b, bit by bit.")),
  row("red.async.sem.scope{.ss}.completion.op.type  [a:.ss], b:.type, [mbar:.ss] ;"
      " .sem = { .relaxed } .scope = { .cluster } .ss = { .shared::cluster }" PTX_TX_BYTES " .op = { .add } .type = { .u32, .s32, .u64 }",
      since(8,1), on(sm_90), reads("a"), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), syncs(Sync::access), exec("red_async"),
      doc(PTX_RED_ASYNC, "begin to add b to memory in a CTA of the cluster.")),
  row("red.async{.mmio}.sem.scope{.ss}.op.type  [a:.ss], b:.type ;"
      " .sem = { .release } .scope = { .gpu, .sys } .ss = { .global } .op = { .add } .type = { .u32, .s32, .u64, .s64 }",
      since(8,7), on(sm_100), reads("a"), writes("a"), async(Proxy::generic, Event::untold), syncs(Sync::access),
      exec("red_async"), doc(PTX_RED_ASYNC, "begin to add b to global memory, after all writes so far.")),
  row("st.async{.weak}{.ss}.completion.b128  [a:.ss], b:.b128, [mbar:.ss] ; .weak = { .weak @9.3 } .ss = { .shared::cluster }" PTX_TX_BYTES,
      since(9,2), on(sm_90), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), exec("st_async"),
      doc(PTX_ST_ASYNC, "begin to store 16 bytes in the shared memory of a CTA of the cluster.")),
  row("st.async.cluster{.ss}.completion.b128  [a:.ss], b:.b128, [mbar:.ss] ; .ss = { .shared::cluster }" PTX_TX_BYTES,
      since(9,2), on(sm_90), writes("a"), async(Proxy::generic, Event::mbarrier), signals("mbar"), exec("st_async"),
      doc(PTX_ST_ASYNC, "begin to store 16 bytes in the shared memory of a CTA of the cluster.")),
  row("red.async{.mmio}.sem.scope{.ss}.op.type  [a:.ss], b:.type ;"
      " .sem = { .release } .scope = { .gpu, .sys } .ss = { .global } .op = { .min, .max } .type = { .u32, .s32 }",
      since(8,7), on(sm_100), reads("a"), writes("a"), async(Proxy::generic, Event::untold), syncs(Sync::access),
      exec("red_async"),
      doc(PTX_RED_ASYNC, "begin to make global memory the lesser or greater of it and b, after all writes so far.")),
  row("red.async{.mmio}.sem.scope{.ss}.op.u32  [a:.ss], b:.u32 ;"
      " .sem = { .release } .scope = { .gpu, .sys } .ss = { .global } .op = { .inc, .dec }",
      since(8,7), on(sm_100), reads("a"), writes("a"), async(Proxy::generic, Event::untold), syncs(Sync::access),
      exec("red_async"),
      doc(PTX_RED_ASYNC, "begin to count global memory up to b and then from 0 again (inc), or down from b (dec), after all writes so far.")),
  row("red.async{.mmio}.sem.scope{.ss}.op.b32  [a:.ss], b:.b32 ;"
      " .sem = { .release } .scope = { .gpu, .sys } .ss = { .global } .op = { .and, .or, .xor }",
      since(8,7), on(sm_100), reads("a"), writes("a"), async(Proxy::generic, Event::untold), syncs(Sync::access),
      exec("red_async"),
      doc(PTX_RED_ASYNC, "begin to reduce global memory with b, bit by bit, after all writes so far.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_POLICY
#undef PTX_TX_BYTES
#undef PTX_CTA_GROUP
#undef PTX_CP_ASYNC
#undef PTX_BULK
#undef PTX_REDUCE
#undef PTX_TENSOR
#undef PTX_TENSOR_REDUCE
#undef PTX_TENSOR_PREFETCH
#undef PTX_TENSORMAP
#undef PTX_ST_ASYNC
#undef PTX_RED_ASYNC
