// Warp-wide exchange (manual: "Data Movement: shfl.sync", "Parallel Synchronization: vote, match, redux, activemask, elect").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row warp[] = {
  row("shfl.sync.mode.b32  d:=.b32{|p:=?.pred}, a:.b32, b:.b32, c:.b32, membermask:.u32 ; .mode = { .up, .down, .bfly, .idx }",
      since(6,0), on(sm_30), Effect::sync, exec("shfl_sync"), doc("data-movement-and-conversion-instructions-shfl-sync", "d = a of another lane; p tells whether it was in range.")),
  row("vote.sync.mode.pred  d:=.pred, a:!.pred, membermask:.u32 ; .mode = { .all, .any, .uni }",
      since(6,0), on(sm_30), Effect::sync, exec("vote_sync"), doc("parallel-synchronization-and-communication-instructions-vote-sync", "a of all member lanes reduced.")),
  row("vote.sync.ballot.b32  d:=.b32, a:!.pred, membermask:.u32 ;",
      since(6,0), on(sm_30), Effect::sync, exec("vote_ballot"), doc("parallel-synchronization-and-communication-instructions-vote-sync", "the bits of a of all member lanes.")),
  row("redux.sync.op.type  d:=.type, a:.type, membermask:.u32 ; .op = { .add, .min, .max } .type = { .u32, .s32 }",
      since(7,0), on(sm_80), Effect::sync, exec("redux_sync"), doc("parallel-synchronization-and-communication-instructions-redux-sync", "a of all member lanes reduced.")),
  row("redux.sync.op.b32  d:=.u32, a:.u32, membermask:.u32 ; .op = { .and, .or, .xor }",
      since(7,0), on(sm_80), Effect::sync, exec("redux_sync"), doc("parallel-synchronization-and-communication-instructions-redux-sync", "a of all member lanes reduced bit by bit.")),
  row("activemask.b32  d:=.b32 ;",
      since(6,2), on(sm_30), Effect::volatile_, exec("activemask"), doc("parallel-synchronization-and-communication-instructions-activemask", "the lanes that execute this together.")),
  row("elect.sync  d:=?.u32|p:=.pred, membermask:.u32 ;",
      since(8,0), on(sm_90), Effect::sync, exec("elect_sync"), doc("parallel-synchronization-and-communication-instructions-elect-sync", "p is true in one member lane, d is its number.")),
};
// clang-format on

}  // namespace ptx::isa::table
