// mbarrier: barriers in shared memory that also count bytes (manual: "Parallel Synchronization and Communication Instructions:
// mbarrier").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row mbarrier[] = {
  row("mbarrier.init{.space}.b64  [addr:.space], count:.u32 ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_init"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-init", "make an mbarrier that expects count arrivals.")),
  row("mbarrier.arrive.expect_tx{.space}.b64  state:=?.u64, [addr:.space], tx:.u32 ; .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "expect tx more bytes and arrive.")),
  row("mbarrier.arrive.expect_tx.sem.scope{.space}.b64  state:=?.u64, [addr:.space], tx:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "expect tx more bytes and arrive, ordered as told.")),
  row("mbarrier.arrive.expect_tx.space.b64  state:=_, [addr:.space], tx:.u32 ; .space = { .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "expect tx more bytes and arrive, in any CTA of the cluster.")),
  row("mbarrier.arrive.expect_tx.sem.scope.space.b64  state:=_, [addr:.space], tx:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "expect tx more bytes and arrive, in any CTA of the cluster, ordered as told.")),
  row("mbarrier.try_wait{.space}.b64  p:=.pred, [addr:.space], state:.u64 {, time:.u32} ;"
      " .space = { .shared, .shared::cta }",
      since(7,8), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase that state names completed; may wait a while.")),
  row("mbarrier.try_wait.sem.scope{.space}.b64  p:=.pred, [addr:.space], state:.u64 {, time:.u32} ;"
      " .sem = { .acquire, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase that state names completed; may wait a while.")),
  row("mbarrier.try_wait.parity{.space}.b64  p:=.pred, [addr:.space], parity:.u32=0..1 {, time:.u32} ;"
      " .space = { .shared, .shared::cta }",
      since(7,8), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase of this parity completed; may wait a while.")),
  row("mbarrier.try_wait.parity.sem.scope{.space}.b64  p:=.pred, [addr:.space], parity:.u32=0..1 {, time:.u32} ;"
      " .sem = { .acquire, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase of this parity completed; may wait a while.")),


  // ---- mbarrier, what sync.hpp does not have. Order and scope are written both or neither; in another CTA's shared memory there is no state to read.
  row("mbarrier.inval{.space}.b64  [addr:.space] ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_inval"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-inval", "free the memory of an mbarrier for other use.")),
  row("mbarrier.expect_tx{.space}.b64  [addr:.space], tx:.u32 ; .space = { .shared, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_expect_tx"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-expect-tx", "expect tx more bytes.")),
  row("mbarrier.expect_tx.sem.scope{.space}.b64  [addr:.space], tx:.u32 ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_expect_tx"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-expect-tx", "expect tx more bytes.")),
  row("mbarrier.complete_tx{.space}.b64  [addr:.space], tx:.u32 ; .space = { .shared, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_complete_tx"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-complete-tx", "count tx bytes as come, without a copy.")),
  row("mbarrier.complete_tx.sem.scope{.space}.b64  [addr:.space], tx:.u32 ;"
      " .sem = { .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_complete_tx"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-complete-tx", "count tx bytes as come, without a copy.")),
  row("mbarrier.arrive{.space}.b64  state:=?.u64, [addr:.space] ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive.")),
  row("mbarrier.arrive{.space}.b64  state:=?.u64, [addr:.space], count:.u32=1.. ; .space = { .shared, .shared::cta }",
      since(7,8), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times.")),
  row("mbarrier.arrive.sem.scope{.space}.b64  state:=?.u64, [addr:.space] ;"
      " .sem = { .release, .relaxed @8.6 @sm_90 } .scope = { .cta, .cluster @sm_90 } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive, ordered as told.")),
  row("mbarrier.arrive.sem.scope{.space}.b64  state:=?.u64, [addr:.space], count:.u32=1.. ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times, ordered as told.")),
  row("mbarrier.arrive.space.b64  state:=_, [addr:.space] {, count:.u32=1..} ; .space = { .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times, in any CTA of the cluster.")),
  row("mbarrier.arrive.sem.scope.space.b64  state:=_, [addr:.space] {, count:.u32=1..} ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times, in any CTA of the cluster, ordered as told.")),
  row("mbarrier.arrive.noComplete{.space}.b64  state:=?.u64, [addr:.space], count:.u32=1.. ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times; the phase must not complete by it.")),
  row("mbarrier.arrive.noComplete.sem.scope{.space}.b64  state:=?.u64, [addr:.space], count:.u32=1.. ;"
      " .sem = { .release } .scope = { .cta } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive", "arrive count times; the phase must not complete by it.")),
  row("mbarrier.arrive_drop{.space}.b64  state:=?.u64, [addr:.space] ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", "arrive, and expect one arrival less from the next phase on.")),
  row("mbarrier.arrive_drop{.space}.b64  state:=?.u64, [addr:.space], count:.u32=1.. ; .space = { .shared, .shared::cta }",
      since(7,8), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "arrive count times, and expect count arrivals less from the next phase on.")),
  row("mbarrier.arrive_drop.sem.scope{.space}.b64  state:=?.u64, [addr:.space] ;"
      " .sem = { .release, .relaxed @8.6 @sm_90 } .scope = { .cta, .cluster @sm_90 } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "arrive, and expect one arrival less from the next phase on, ordered as told.")),
  row("mbarrier.arrive_drop.sem.scope{.space}.b64  state:=?.u64, [addr:.space], count:.u32=1.. ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "arrive count times, and expect count arrivals less from the next phase on, ordered as told.")),
  row("mbarrier.arrive_drop.space.b64  state:=_, [addr:.space] {, count:.u32=1..} ; .space = { .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "arrive count times, and expect count arrivals less from the next phase on, in any CTA of the cluster.")),
  row("mbarrier.arrive_drop.sem.scope.space.b64  state:=_, [addr:.space] {, count:.u32=1..} ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "arrive count times, and expect count arrivals less from the next phase on, in any CTA of the cluster, ordered as told.")),
  row("mbarrier.arrive_drop.noComplete{.space}.b64  state:=?.u64, [addr:.space], count:.u32=1.. ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "arrive count times, and expect count arrivals less from the next phase on; the phase must not complete by it.")),
  row("mbarrier.arrive_drop.noComplete.sem.scope{.space}.b64  state:=?.u64, [addr:.space], count:.u32=1.. ;"
      " .sem = { .release } .scope = { .cta } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta),
      exec("mbarrier_arrive"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "arrive count times, and expect count arrivals less from the next phase on; the phase must not complete by it.")),
  row("mbarrier.arrive_drop.expect_tx{.space}.b64  state:=?.u64, [addr:.space], tx:.u32 ; .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "expect tx more bytes, arrive, and expect one arrival less from the next phase on.")),
  row("mbarrier.arrive_drop.expect_tx.sem.scope{.space}.b64  state:=?.u64, [addr:.space], tx:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "expect tx more bytes, arrive, and expect one arrival less from the next phase on, ordered as told.")),
  row("mbarrier.arrive_drop.expect_tx.space.b64  state:=_, [addr:.space], tx:.u32 ; .space = { .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "expect tx more bytes, arrive, in any CTA of the cluster, and expect one arrival less from the next phase on.")),
  row("mbarrier.arrive_drop.expect_tx.sem.scope.space.b64  state:=_, [addr:.space], tx:.u32 ;"
      " .sem = { .release, .relaxed @8.6 } .scope = { .cta, .cluster } .space = { .shared::cluster }",
      since(8,0), on(sm_90), reads("addr"), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_arrive"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
          "expect tx more bytes, arrive, in any CTA of the cluster, and expect one arrival less from the next phase on, ordered as told.")),
  row("mbarrier.test_wait{.space}.b64  p:=.pred, [addr:.space], state:.u64 ; .space = { .shared, .shared::cta @7.8 }",
      since(7,0), on(sm_80), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase that state names completed.")),
  row("mbarrier.test_wait.sem.scope{.space}.b64  p:=.pred, [addr:.space], state:.u64 ;"
      " .sem = { .acquire, .relaxed @8.6 @sm_90 } .scope = { .cta, .cluster @sm_90 } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait",
          "p = has the phase that state names completed, ordered as told.")),
  row("mbarrier.test_wait.parity{.space}.b64  p:=.pred, [addr:.space], parity:.u32=0..1 ; .space = { .shared, .shared::cta @7.8 }",
      since(7,1), on(sm_80), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the phase of this parity completed.")),
  row("mbarrier.test_wait.parity.sem.scope{.space}.b64  p:=.pred, [addr:.space], parity:.u32=0..1 ;"
      " .sem = { .acquire, .relaxed @8.6 @sm_90 } .scope = { .cta, .cluster @sm_90 } .space = { .shared, .shared::cta }",
      since(8,0), on(sm_80), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait",
          "p = has the phase of this parity completed, ordered as told.")),
  row("mbarrier.pending_count.b64  d:=.u32, state:.u64 ;",
      since(7,0), on(sm_80), Effect::pure, exec("mbarrier_pending_count"), rule("mbarrier_count"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-pending-count", "d = how many arrivals the phase that state names still lacked.")),
  // ---- layouts, and what an operation reports (PTX 9.3)
  row("mbarrier.init.layout{.space}.b64  [addr:.space], count:.u32 ; .layout = { .layout::v0, .layout::v1 } .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), writes("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_init"), doc("parallel-synchronization-and-communication-instructions-mbarrier-init", "make an mbarrier of a layout that expects count arrivals.")),
  row("mbarrier.check_layout.layout{.space}.b64  p:=.pred, [addr:.space] ; .layout = { .layout::v0, .layout::v1 } .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_check_layout"), doc("parallel-synchronization-and-communication-instructions-mbarrier-check-layout", "p = does the mbarrier have this layout.")),
  row("mbarrier.pending_count.layout::v0.b64  d:=.u32, state:.u64 ;",
      since(9,3), on(sm_90), Effect::pure, exec("mbarrier_pending_count"), doc("parallel-synchronization-and-communication-instructions-mbarrier-pending-count", "d = how many arrivals the phase that state names still lacked.")),
  row("mbarrier.test_wait.phase_type::primary{.space}.b64  p:=.pred{|report:=.pred}, [addr:.space], state:.u64 ;"
      " .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the primary phase that state names completed, report = did an operation fail.")),
  row("mbarrier.test_wait.parity.phase_type::primary{.space}.b64  p:=.pred{|report:=.pred}, [addr:.space], parity:.u32=0..1 ;"
      " .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the primary phase of this parity completed, report = did an operation fail.")),
  row("mbarrier.test_wait.parity.phase_type::conditional{.space}.b64  p:=.pred, [addr:.space], parity:.u32=0..1 ;"
      " .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the conditional phase of this parity completed.")),
  row("mbarrier.test_wait.phase_type::primary.sem.scope{.space}.b64  p:=.pred{|report:=.pred}, [addr:.space], state:.u64 ;"
      " .sem = { .acquire, .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the primary phase that state names completed, report = did an operation fail, ordered as told.")),
  row("mbarrier.test_wait.parity.phase_type::primary.sem.scope{.space}.b64  p:=.pred{|report:=.pred}, [addr:.space], parity:.u32=0..1 ;"
      " .sem = { .acquire, .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the primary phase of this parity completed, report = did an operation fail, ordered as told.")),
  row("mbarrier.test_wait.parity.phase_type::conditional.sem.scope{.space}.b64  p:=.pred, [addr:.space], parity:.u32=0..1 ;"
      " .sem = { .acquire, .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the conditional phase of this parity completed, ordered as told.")),
  row("mbarrier.try_wait.phase_type::primary{.space}.b64  p:=.pred{|report:=.pred}, [addr:.space], state:.u64 {, time:.u32} ;"
      " .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the primary phase that state names completed, report = did an operation fail.")),
  row("mbarrier.try_wait.parity.phase_type::primary{.space}.b64  p:=.pred{|report:=.pred}, [addr:.space], parity:.u32=0..1 {, time:.u32} ;"
      " .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the primary phase of this parity completed, report = did an operation fail.")),
  row("mbarrier.try_wait.parity.phase_type::conditional{.space}.b64  p:=.pred, [addr:.space], parity:.u32=0..1 {, time:.u32} ;"
      " .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the conditional phase of this parity completed.")),
  row("mbarrier.try_wait.phase_type::primary.sem.scope{.space}.b64  p:=.pred{|report:=.pred}, [addr:.space], state:.u64 {, time:.u32} ;"
      " .sem = { .acquire, .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the primary phase that state names completed, report = did an operation fail, ordered as told.")),
  row("mbarrier.try_wait.parity.phase_type::primary.sem.scope{.space}.b64  p:=.pred{|report:=.pred}, [addr:.space], parity:.u32=0..1 {, time:.u32} ;"
      " .sem = { .acquire, .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the primary phase of this parity completed, report = did an operation fail, ordered as told.")),
  row("mbarrier.try_wait.parity.phase_type::conditional.sem.scope{.space}.b64  p:=.pred, [addr:.space], parity:.u32=0..1 {, time:.u32} ;"
      " .sem = { .acquire, .relaxed } .scope = { .cta, .cluster } .space = { .shared, .shared::cta }",
      since(9,3), on(sm_90), reads("addr"), syncs(Sync::mbarrier, Scope::cta), waits(Event::mbarrier), exec("mbarrier_wait"),
      doc("parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", "p = has the conditional phase of this parity completed, ordered as told.")),
};
// clang-format on

}  // namespace ptx::isa::table
