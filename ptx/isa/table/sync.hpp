// Barriers and fences (manual: "Parallel Synchronization and Communication Instructions").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row sync[] = {
  row("bar{.cta}.sync  a:.u32 {, b:.u32} ; .cta = { .cta @7.8 }",
      since(1,0), on(sm_10), Effect::sync | Effect::may_wait | Effect::converged_warp, exec("bar_sync"), rule("barrier_operands"),
      doc("parallel-synchronization-and-communication-instructions-bar", "wait until all, or b, threads of the CTA have come to barrier a.")),
  row("bar{.cta}.arrive  a:.u32, b:.u32 ; .cta = { .cta @7.8 }",
      since(2,0), on(sm_20), Effect::sync | Effect::converged_warp, exec("bar_arrive"), rule("barrier_operands"),
      doc("parallel-synchronization-and-communication-instructions-bar", "come to barrier a without waiting.")),
  row("barrier{.cta}.sync{.aligned}  a:.u32 {, b:.u32} ; .cta = { .cta @7.8 }",
      since(6,0), on(sm_30), Effect::sync | Effect::may_wait, exec("bar_sync"), rule("barrier_operands"),
      doc("parallel-synchronization-and-communication-instructions-bar", "wait until all, or b, threads of the CTA have come to barrier a.")),
  row("bar.warp.sync  membermask:.u32 ;",
      since(6,0), on(sm_30), Effect::sync | Effect::may_wait, exec("bar_warp_sync"),
      doc("parallel-synchronization-and-communication-instructions-bar-warp-sync", "wait for the member lanes of the warp.")),
  row("membar.level ; .level = { .cta, .gl, .sys @2.0 @sm_20 }",
      since(1,4), on(sm_10), Effect::sync, exec("membar"), doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations.")),
  row("fence{.sem}.scope ; .sem = { .sc, .acq_rel, .acquire @8.6 @sm_90, .release @8.6 @sm_90 } .scope = { .cta, .cluster @7.8 @sm_90, .gpu, .sys }",
      since(6,0), on(sm_70), Effect::sync, exec("membar"), doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations.")),
  row("fence.proxy.alias ;",
      since(7,5), on(sm_70), Effect::sync, not_executed("the executor has no proxies yet"),
      doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations through aliased addresses.")),
  row("fence.proxy.async{.space} ; .space = { .global, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), Effect::sync, not_executed("the executor has no asynchronous proxy yet"),
      doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations of the generic and the asynchronous proxy.")),
  row("mbarrier.init{.space}.b64  [addr:.space], count:.u32 ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-init", "make an mbarrier that expects count arrivals.")),
  row("mbarrier.arrive.expect_tx{.space}.b64  state:=?.u64, [addr:.space], tx:.u32 ; .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "expect tx more bytes and arrive.")),
  row("mbarrier.arrive.expect_tx.sem.scope{.space}.b64  state:=?.u64, [addr:.space], tx:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "expect tx more bytes and arrive, ordered as told.")),
  row("mbarrier.arrive.expect_tx.space.b64  state:=_, [addr:.space], tx:.u32 ; .space = { .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "expect tx more bytes and arrive, in any CTA of the cluster.")),
  row("mbarrier.arrive.expect_tx.sem.scope.space.b64  state:=_, [addr:.space], tx:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "expect tx more bytes and arrive, in any CTA of the cluster, ordered as told.")),
  row("mbarrier.try_wait{.space}.b64  p:=.pred, [addr:.space], state:.u64 {, time:.u32} ;"
      " .space = { .shared, .shared::cta }",
      since(7,8), on(sm_90), Effect::reads_memory | Effect::sync | Effect::may_wait, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase that state names completed; may wait a while.")),
  row("mbarrier.try_wait.sem.scope{.space}.b64  p:=.pred, [addr:.space], state:.u64 {, time:.u32} ;"
      " .sem = { .acquire, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::sync | Effect::may_wait, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase that state names completed; may wait a while.")),
  row("mbarrier.try_wait.parity{.space}.b64  p:=.pred, [addr:.space], parity:.u32 {, time:.u32} ;"
      " .space = { .shared, .shared::cta }",
      since(7,8), on(sm_90), Effect::reads_memory | Effect::sync | Effect::may_wait, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase of this parity completed; may wait a while.")),
  row("mbarrier.try_wait.parity.sem.scope{.space}.b64  p:=.pred, [addr:.space], parity:.u32 {, time:.u32} ;"
      " .sem = { .acquire, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::sync | Effect::may_wait, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase of this parity completed; may wait a while.")),
};
// clang-format on

}  // namespace ptx::isa::table
