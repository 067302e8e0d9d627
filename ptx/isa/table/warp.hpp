// Warp-wide exchange (manual: "Data Movement: shfl.sync", "Parallel Synchronization: vote, match, redux, activemask, elect").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row warp[] = {
  row("shfl.sync.mode.b32  d:=.b32{|p:=?.pred}, a:.b32, b:.b32, c:.b32, membermask:.u32 ; .mode = { .up, .down, .bfly, .idx }",
      since(6,0), on(sm_30), syncs(Sync::exchange, Scope::warp), waits(Event::lanes), exec("shfl_sync"), doc("data-movement-and-conversion-instructions-shfl-sync", "d = a of another lane; p tells whether it was in range.")),
  row("vote.sync.mode.pred  d:=.pred, a:!.pred, membermask:.u32 ; .mode = { .all, .any, .uni }",
      since(6,0), on(sm_30), syncs(Sync::exchange, Scope::warp), waits(Event::lanes), exec("vote_sync"), doc("parallel-synchronization-and-communication-instructions-vote-sync", "a of all member lanes reduced.")),
  row("vote.sync.ballot.b32  d:=.b32, a:!.pred, membermask:.u32 ;",
      since(6,0), on(sm_30), syncs(Sync::exchange, Scope::warp), waits(Event::lanes), exec("vote_ballot"), doc("parallel-synchronization-and-communication-instructions-vote-sync", "the bits of a of all member lanes.")),
  row("redux.sync.op.type  d:=.type, a:.type, membermask:.u32 ; .op = { .add, .min, .max } .type = { .u32, .s32 }",
      since(7,0), on(sm_80), syncs(Sync::exchange, Scope::warp), waits(Event::lanes), exec("redux_sync"), doc("parallel-synchronization-and-communication-instructions-redux-sync", "a of all member lanes reduced.")),
  row("redux.sync.op.b32  d:=.u32, a:.u32, membermask:.u32 ; .op = { .and, .or, .xor }",
      since(7,0), on(sm_80), syncs(Sync::exchange, Scope::warp), waits(Event::lanes), exec("redux_sync"), doc("parallel-synchronization-and-communication-instructions-redux-sync", "a of all member lanes reduced bit by bit.")),
  row("activemask.b32  d:=.b32 ;",
      since(6,2), on(sm_30), Effect::volatile_, exec("activemask"), doc("parallel-synchronization-and-communication-instructions-activemask", "the lanes that execute this together.")),
  row("elect.sync  d:=?.u32|p:=.pred, membermask:.u32 ;",
      since(8,0), on(sm_90), syncs(Sync::exchange, Scope::warp), waits(Event::lanes), exec("elect_sync"), doc("parallel-synchronization-and-communication-instructions-elect-sync", "p is true in one member lane, d is its number.")),


  // ---- redux.sync of floating-point numbers
  row("redux.sync.op{.abs}{.NaN}.f32  d:=.f32, a:.f32, membermask:.u32 ; .op = { .min, .max }",
      since(8,6), on(sm_100f), syncs(Sync::exchange, Scope::warp), waits(Event::lanes), exec("redux_sync_f32"),
      doc("parallel-synchronization-and-communication-instructions-redux-sync", "the least or greatest a, or |a|, of all member lanes.")),

  // ---- lanes of a warp, and what is left
  row("match.any.sync.type  d:=.u32, a:.type, membermask:.u32 ; .type = { .b32, .b64 }",
      since(6,0), on(sm_70), syncs(Sync::exchange, Scope::warp), waits(Event::lanes), exec("match_any"),
      doc("parallel-synchronization-and-communication-instructions-match-sync", "the member lanes whose a is the same as this one's.")),
  row("match.all.sync.type  d:=?.u32{|p:=?.pred}, a:.type, membermask:.u32 ; .type = { .b32, .b64 }",
      since(6,0), on(sm_70), syncs(Sync::exchange, Scope::warp), waits(Event::lanes), exec("match_all"),
      doc("parallel-synchronization-and-communication-instructions-match-sync", "the member lanes if their a are all the same, else 0; p tells which.")),

  // Without .sync, for the lanes that happen to be together: gone from sm_70 on.
  row("shfl.mode.b32  d:=.b32{|p:=?.pred}, a:.b32, b:.b32, c:.b32 ; .mode = { .up, .down, .bfly, .idx }",
      since(3,0), on(sm_30), removed(6,4, sm_70), syncs(Sync::exchange, Scope::warp), exec("shfl"),
      doc("data-movement-and-conversion-instructions-shfl-deprecated", "d = a of another lane; p tells whether it was in range.")),
  row("vote.mode.pred  d:=.pred, a:!.pred ; .mode = { .all, .any, .uni }",
      since(1,2), on(sm_12), removed(6,4, sm_70), syncs(Sync::exchange, Scope::warp), exec("vote"),
      doc("parallel-synchronization-and-communication-instructions-vote-deprecated", "a of all lanes reduced.")),
  row("vote.ballot.b32  d:=.b32, a:!.pred ;",
      since(2,0), on(sm_20), removed(6,4, sm_70), syncs(Sync::exchange, Scope::warp), exec("vote_ballot_together"),
      doc("parallel-synchronization-and-communication-instructions-vote-deprecated", "the bits of a of all lanes.")),
};
// clang-format on

}  // namespace ptx::isa::table
