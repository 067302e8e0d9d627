// Barriers, fences and mbarriers (manual: "Parallel Synchronization and Communication Instructions"), what sync.hpp, warp.hpp and control.hpp do not
// have.
#pragma once

#include "ptx/isa/row.hpp"

#define PTX_BAR "parallel-synchronization-and-communication-instructions-bar"
#define PTX_FENCE "parallel-synchronization-and-communication-instructions-membar"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row barriers[] = {
  // ---- barriers of a CTA: arrivals, and reductions over all threads that come
  row("barrier{.cta}.arrive{.aligned}  a:.u32, b:.u32 ; .cta = { .cta @7.8 }",
      since(6,0), on(sm_30), Effect::sync, not_executed("the executor does not run unaligned arrivals yet"), rule("barrier_operands"),
      doc(PTX_BAR, "come to barrier a without waiting.")),
  row("bar{.cta}.red.popc.u32  d:=.u32, a:.u32 {, b:.u32}, c:!.pred ; .cta = { .cta @7.8 }",
      since(2,0), on(sm_20), Effect::sync | Effect::may_wait | Effect::converged_warp, not_executed("the executor does not reduce over a barrier yet"), rule("barrier_red_operands"),
      doc(PTX_BAR, "wait at barrier a; d = how many threads came with c.")),
  row("bar{.cta}.red.op.pred  d:=.pred, a:.u32 {, b:.u32}, c:!.pred ; .cta = { .cta @7.8 } .op = { .and, .or }",
      since(2,0), on(sm_20), Effect::sync | Effect::may_wait | Effect::converged_warp, not_executed("the executor does not reduce over a barrier yet"), rule("barrier_red_operands"),
      doc(PTX_BAR, "wait at barrier a; d = did all, or any, threads come with c.")),
  row("barrier{.cta}.red.popc{.aligned}.u32  d:=.u32, a:.u32 {, b:.u32}, c:!.pred ; .cta = { .cta @7.8 }",
      since(6,0), on(sm_30), Effect::sync | Effect::may_wait, not_executed("the executor does not reduce over a barrier yet"), rule("barrier_red_operands"),
      doc(PTX_BAR, "wait at barrier a; d = how many threads came with c.")),
  row("barrier{.cta}.red.op{.aligned}.pred  d:=.pred, a:.u32 {, b:.u32}, c:!.pred ; .cta = { .cta @7.8 } .op = { .and, .or }",
      since(6,0), on(sm_30), Effect::sync | Effect::may_wait, not_executed("the executor does not reduce over a barrier yet"), rule("barrier_red_operands"),
      doc(PTX_BAR, "wait at barrier a; d = did all, or any, threads come with c.")),
  row("barrier.cluster.arrive{.sem}{.aligned} ; .sem = { .release @8.0, .relaxed @8.0 }",
      since(7,8), on(sm_90), Effect::sync, not_executed("the executor has no clusters yet"),
      doc("parallel-synchronization-and-communication-instructions-barrier-cluster", "come to the cluster's barrier without waiting.")),
  row("barrier.cluster.wait{.sem}{.aligned} ; .sem = { .acquire @8.0 }",
      since(7,8), on(sm_90), Effect::sync | Effect::may_wait, not_executed("the executor has no clusters yet"),
      doc("parallel-synchronization-and-communication-instructions-barrier-cluster", "wait until all threads of the cluster have come.")),

  // ---- fences that sync.hpp does not have
  row("membar.proxy.alias ;",
      since(7,5), on(sm_70), Effect::sync, not_executed("the executor has no proxies yet"),
      doc(PTX_FENCE, "order memory operations through aliased addresses.")),
  row("fence.mbarrier_init.release.cluster ;",
      since(8,0), on(sm_90), Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc(PTX_FENCE, "release the mbarriers that this thread made to the cluster.")),
  row("fence.acquire.sync_restrict::shared::cluster.cluster ;",
      since(8,6), on(sm_90), Effect::sync, not_executed("the executor has no clusters yet"),
      doc(PTX_FENCE, "acquire what other CTAs wrote into the cluster's shared memory.")),
  row("fence.release.sync_restrict::shared::cta.cluster ;",
      since(8,6), on(sm_90), Effect::sync, not_executed("the executor has no clusters yet"),
      doc(PTX_FENCE, "release what this CTA wrote into its shared memory to the cluster.")),
  row("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster ;",
      since(8,6), on(sm_90), Effect::sync, not_executed("the executor has no proxies yet"),
      doc(PTX_FENCE, "acquire, for the asynchronous proxy, what other CTAs wrote into the cluster's shared memory.")),
  row("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster ;",
      since(8,6), on(sm_90), Effect::sync, not_executed("the executor has no proxies yet"),
      doc(PTX_FENCE, "release, from the asynchronous proxy, what this CTA wrote into its shared memory.")),
  row("fence.proxy.tensormap::generic.release.scope ; .scope = { .cta, .cluster, .gpu, .sys }",
      since(8,3), on(sm_90), Effect::sync, not_executed("the executor has no proxies yet"),
      doc(PTX_FENCE, "release writes to a tensor map to tensor copies.")),
  row("fence.proxy.tensormap::generic.acquire.scope  [addr], size:#.u32 ; .scope = { .cta, .cluster, .gpu, .sys }",
      since(8,3), on(sm_90), Effect::sync, not_executed("the executor has no proxies yet"), rule("size_128"),
      doc(PTX_FENCE, "let tensor copies see the tensor map at addr as it was released.")),

  // ---- mbarrier, what sync.hpp does not have. Order and scope are written both or neither; in another CTA's shared memory there is no state to read.
  row("mbarrier.inval{.space}.b64  [addr:.space] ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-inval", "free the memory of an mbarrier for other use.")),
  row("mbarrier.expect_tx{.space}.b64  [addr:.space], tx:.u32 ; .space = { .shared, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-expect-tx", "expect tx more bytes.")),
  row("mbarrier.expect_tx.sem.scope{.space}.b64  [addr:.space], tx:.u32 ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-expect-tx", "expect tx more bytes.")),
  row("mbarrier.complete_tx{.space}.b64  [addr:.space], tx:.u32 ; .space = { .shared, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-complete-tx", "count tx bytes as come, without a copy.")),
  row("mbarrier.complete_tx.sem.scope{.space}.b64  [addr:.space], tx:.u32 ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-complete-tx", "count tx bytes as come, without a copy.")),
  row("mbarrier.arrive{.space}.b64  state:=?.u64, [addr:.space] ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive.")),
  row("mbarrier.arrive{.space}.b64  state:=?.u64, [addr:.space], count:.u32 ; .space = { .shared, .shared::cta }",
      since(7,8), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times.")),
  row("mbarrier.arrive.sem.scope{.space}.b64  state:=?.u64, [addr:.space] ;"
      " .sem = { .release, .relaxed @8.6 @sm_90 } .scope = { .cta, .cluster @sm_90 } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive, ordered as told.")),
  row("mbarrier.arrive.sem.scope{.space}.b64  state:=?.u64, [addr:.space], count:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times, ordered as told.")),
  row("mbarrier.arrive.space.b64  state:=_, [addr:.space] {, count:.u32} ; .space = { .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times, in any CTA of the cluster.")),
  row("mbarrier.arrive.sem.scope.space.b64  state:=_, [addr:.space] {, count:.u32} ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times, in any CTA of the cluster, ordered as told.")),
  row("mbarrier.arrive.noComplete{.space}.b64  state:=?.u64, [addr:.space], count:.u32 ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times; the phase must not complete by it.")),
  row("mbarrier.arrive.noComplete.sem.scope{.space}.b64  state:=?.u64, [addr:.space], count:.u32 ;"
      " .sem = { .release } .scope = { .cta } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times; the phase must not complete by it.")),
  row("mbarrier.arrive_drop{.space}.b64  state:=?.u64, [addr:.space] ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "arrive, and expect one arrival less from the next phase on.")),
  row("mbarrier.arrive_drop{.space}.b64  state:=?.u64, [addr:.space], count:.u32 ; .space = { .shared, .shared::cta }",
      since(7,8), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "arrive count times, and expect count arrivals less from the next phase on.")),
  row("mbarrier.arrive_drop.sem.scope{.space}.b64  state:=?.u64, [addr:.space] ;"
      " .sem = { .release, .relaxed @8.6 @sm_90 } .scope = { .cta, .cluster @sm_90 } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "arrive, and expect one arrival less from the next phase on, ordered as told.")),
  row("mbarrier.arrive_drop.sem.scope{.space}.b64  state:=?.u64, [addr:.space], count:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "arrive count times, and expect count arrivals less from the next phase on, ordered as told.")),
  row("mbarrier.arrive_drop.space.b64  state:=_, [addr:.space] {, count:.u32} ; .space = { .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "arrive count times, and expect count arrivals less from the next phase on, in any CTA of the cluster.")),
  row("mbarrier.arrive_drop.sem.scope.space.b64  state:=_, [addr:.space] {, count:.u32} ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "arrive count times, and expect count arrivals less from the next phase on, in any CTA of the cluster, ordered as told.")),
  row("mbarrier.arrive_drop.noComplete{.space}.b64  state:=?.u64, [addr:.space], count:.u32 ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "arrive count times, and expect count arrivals less from the next phase on; the phase must not complete by it.")),
  row("mbarrier.arrive_drop.noComplete.sem.scope{.space}.b64  state:=?.u64, [addr:.space], count:.u32 ;"
      " .sem = { .release } .scope = { .cta } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "arrive count times, and expect count arrivals less from the next phase on; the phase must not complete by it.")),
  row("mbarrier.arrive_drop.expect_tx{.space}.b64  state:=?.u64, [addr:.space], tx:.u32 ; .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "expect tx more bytes, arrive, and expect one arrival less from the next phase on.")),
  row("mbarrier.arrive_drop.expect_tx.sem.scope{.space}.b64  state:=?.u64, [addr:.space], tx:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "expect tx more bytes, arrive, and expect one arrival less from the next phase on, ordered as told.")),
  row("mbarrier.arrive_drop.expect_tx.space.b64  state:=_, [addr:.space], tx:.u32 ; .space = { .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "expect tx more bytes, arrive, in any CTA of the cluster, and expect one arrival less from the next phase on.")),
  row("mbarrier.arrive_drop.expect_tx.sem.scope.space.b64  state:=_, [addr:.space], tx:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "expect tx more bytes, arrive, in any CTA of the cluster, and expect one arrival less from the next phase on, ordered as told.")),
  row("mbarrier.test_wait{.space}.b64  p:=.pred, [addr:.space], state:.u64 ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), Effect::reads_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase that state names completed.")),
  row("mbarrier.test_wait.sem.scope{.space}.b64  p:=.pred, [addr:.space], state:.u64 ;"
      " .sem = { .acquire, .relaxed @8.6 @sm_90 } .scope = { .cta, .cluster @sm_90 } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), Effect::reads_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase that state names completed, ordered as told.")),
  row("mbarrier.test_wait.parity{.space}.b64  p:=.pred, [addr:.space], parity:.u32 ; .space = { .shared, .shared::cta @7.8 }",
      since(7,1), on(sm_80), Effect::reads_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_parity"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase of this parity completed.")),
  row("mbarrier.test_wait.parity.sem.scope{.space}.b64  p:=.pred, [addr:.space], parity:.u32 ;"
      " .sem = { .acquire, .relaxed @8.6 @sm_90 } .scope = { .cta, .cluster @sm_90 } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), Effect::reads_memory | Effect::sync, not_executed("the executor has no mbarriers yet"), rule("mbarrier_parity"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase of this parity completed, ordered as told.")),
  row("mbarrier.pending_count.b64  d:=.u32, state:.u64 ;",
      since(7,0), on(sm_80), Effect::pure, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-pending-count", "d = how many arrivals the phase that state names still lacked.")),

  // ---- grids and clusters
  row("griddepcontrol.action ; .action = { .launch_dependents, .wait }",
      since(7,8), on(sm_90), Effect::sync | Effect::may_wait | Effect::volatile_, not_executed("the executor runs one grid at a time"),
      doc("parallel-synchronization-and-communication-instructions-griddepcontrol", "let the grids that depend on this one begin, or wait for those that this one depends on.")),
  row("clusterlaunchcontrol.try_cancel.async{.space}.completion{.multicast}.b128  [addr:.space], [mbar:.space] ;"
      " .space = { .shared::cta } .completion = { .mbarrier::complete_tx::bytes }"
      " .multicast = { .multicast::cluster::all @sm_100f|sm_101f|sm_110f|sm_120f }",
      since(8,6), on(sm_100), Effect::writes_memory | Effect::async, not_executed("the executor has no clusters yet"),
      doc("parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel", "begin to take over the work of a cluster that has not been launched; the answer comes to addr.")),
  row("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128  p:=.pred, response:.b128 ;",
      since(8,6), on(sm_100), Effect::pure, not_executed("the executor has no clusters yet"),
      doc("parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel", "p = has the launch been taken over.")),
  row("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128  d:=.x4.b32, response:.b128 ;",
      since(8,6), on(sm_100), Effect::pure, not_executed("the executor has no clusters yet"),
      doc("parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel", "the number of the first CTA of the cluster taken over, in x, y, z.")),
  row("clusterlaunchcontrol.query_cancel.dimension.b32.b128  d:=.b32, response:.b128 ;"
      " .dimension = { .get_first_ctaid::x, .get_first_ctaid::y, .get_first_ctaid::z }",
      since(8,6), on(sm_100), Effect::pure, not_executed("the executor has no clusters yet"),
      doc("parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel", "the number of the first CTA of the cluster taken over, in one dimension.")),

  // ---- lanes of a warp, and what is left
  row("match.any.sync.type  d:=.u32, a:.type, membermask:.u32 ; .type = { .b32, .b64 }",
      since(6,0), on(sm_70), Effect::sync, not_executed("the executor does not match lanes yet"),
      doc("parallel-synchronization-and-communication-instructions-match-sync", "the member lanes whose a is the same as this one's.")),
  row("match.all.sync.type  d:=?.u32{|p:=?.pred}, a:.type, membermask:.u32 ; .type = { .b32, .b64 }",
      since(6,0), on(sm_70), Effect::sync, not_executed("the executor does not match lanes yet"),
      doc("parallel-synchronization-and-communication-instructions-match-sync", "the member lanes if their a are all the same, else 0; p tells which.")),
  row("pmevent  a:#.u32 ;",
      since(1,4), on(sm_10), Effect::volatile_, not_executed("the executor has no performance monitor"), rule("pmevent_number"),
      doc("miscellaneous-instructions-pmevent", "trigger performance monitor event a.")),
  row("pmevent.mask  a:#.u32 ;",
      since(3,0), on(sm_20), Effect::volatile_, not_executed("the executor has no performance monitor"), rule("pmevent_number"),
      doc("miscellaneous-instructions-pmevent", "trigger the performance monitor events of the mask a.")),
  row("brkpt ;",
      since(1,0), on(sm_11), Effect::volatile_, not_executed("the executor has no debugger"),
      doc("miscellaneous-instructions-brkpt", "stop for the debugger.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_BAR
#undef PTX_FENCE
