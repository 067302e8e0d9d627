// Barriers and fences (manual: "Parallel Synchronization and Communication Instructions").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row sync[] = {
  row("bar{.cta}.sync  a:.u32 {, b:.u32} ; .cta = { .cta @7.8 }",
      since(1,0), on(sm_10), Effect::sync | Effect::may_wait | Effect::converged_warp, exec("bar_sync"),
      doc("parallel-synchronization-and-communication-instructions-bar", "wait until all, or b, threads of the CTA have come to barrier a.")),
  row("bar{.cta}.arrive  a:.u32, b:.u32 ; .cta = { .cta @7.8 }",
      since(2,0), on(sm_20), Effect::sync | Effect::converged_warp, exec("bar_arrive"),
      doc("parallel-synchronization-and-communication-instructions-bar", "come to barrier a without waiting.")),
  row("barrier{.cta}.sync{.aligned}  a:.u32 {, b:.u32} ; .cta = { .cta @7.8 }",
      since(6,0), on(sm_30), Effect::sync | Effect::may_wait, exec("bar_sync"),
      doc("parallel-synchronization-and-communication-instructions-bar", "wait until all, or b, threads of the CTA have come to barrier a.")),
  row("bar.warp.sync  membermask:.b32 ;",
      since(6,0), on(sm_30), Effect::sync | Effect::may_wait, exec("bar_warp_sync"),
      doc("parallel-synchronization-and-communication-instructions-bar-warp-sync", "wait for the member lanes of the warp.")),
  row("membar.level ; .level = { .cta, .gl, .sys @2.0 @sm_20 }",
      since(1,4), on(sm_10), Effect::sync, exec("membar"), doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations.")),
  row("fence{.sem}.scope ; .sem = { .sc, .acq_rel, .acquire @8.6 @sm_90, .release @8.6 @sm_90 } .scope = { .cta, .cluster @7.8 @sm_90, .gpu, .sys }",
      since(6,0), on(sm_70), Effect::sync, exec("membar"), doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations.")),
  row("fence.proxy.kind ; .kind = { .alias, .async @8.0 @sm_90, .async::global @8.0 @sm_90, .async::shared::cta @8.0 @sm_90, .async::shared::cluster @8.0 @sm_90 }",
      since(7,5), on(sm_70), Effect::sync, not_executed("the executor has no asynchronous proxy yet"),
      doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations of different proxies.")),
  row("mbarrier.init{.space}.b64  [addr:.space], count:.u32 ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-init", "make an mbarrier that expects count arrivals.")),
  row("mbarrier.arrive.expect_tx{.sem}{.scope}{.space}.b64  state:=?.b64, [addr:.space], tx:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::sync, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "expect tx more bytes and arrive.")),
  row("mbarrier.try_wait{.parity}{.sem}{.scope}{.space}.b64  p:=.pred, [addr:.space], phase:.u32 {, time:.u32} ;"
      " .sem = { .acquire @8.0, .relaxed @8.6 @sm_90 } .scope = { .cta @8.0, .cluster @8.0 @sm_90 } .space = { .shared, .shared::cta }",
      since(7,8), on(sm_90), Effect::reads_memory | Effect::sync | Effect::may_wait, not_executed("the executor has no mbarriers yet"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait", "p = has the phase of this parity completed; may wait a while.")),
};
// clang-format on

}  // namespace ptx::isa::table
