// Flow of control, and what is left (manual: "Control Flow Instructions", "Miscellaneous Instructions").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row control[] = {
  row("bra{.uni}  t:label ;",
      since(1,0), on(sm_10), Effect::control, exec("bra"), doc("control-flow-instructions-bra", "go on at the label.")),
  row("brx.idx{.uni}  index:.u32, targets:label ;",
      since(6,0), on(sm_30), Effect::control, exec("brx_idx"),
      doc("control-flow-instructions-brx-idx", "go on at the label number index of a .branchtargets list.")),
  // A callee in a register is told by its prototype (.callprototype) or by the functions it may be (.calltargets).
  row("call{.uni}  (results:=list), callee:symbol {, (args:list)} ;",
      since(1,0), on(sm_10), Effect::control, exec("call"),
      doc("control-flow-instructions-call", "call a function that returns something.")),
  row("call{.uni}  callee:symbol {, (args:list)} ;",
      since(1,0), on(sm_10), Effect::control, exec("call"),
      doc("control-flow-instructions-call", "call a function.")),
  row("call{.uni}  (results:=list), callee:%.b64 {, (args:list)}, prototype:label ;",
      since(2,1), on(sm_20), Effect::control, exec("call"),
      doc("control-flow-instructions-call", "call the function whose address is in a register, and which returns something.")),
  row("call{.uni}  callee:%.b64 {, (args:list)}, prototype:label ;",
      since(2,1), on(sm_20), Effect::control, exec("call"),
      doc("control-flow-instructions-call", "call the function whose address is in a register.")),
  row("ret{.uni} ;",
      since(1,0), on(sm_10), Effect::control, exec("ret"), doc("control-flow-instructions-ret", "return; in an entry, end the thread.")),
  row("exit ;",
      since(1,0), on(sm_10), Effect::control, exec("exit"), doc("control-flow-instructions-exit", "end the thread.")),
  row("trap ;",
      since(1,0), on(sm_10), Effect::control, Effect::volatile_, exec("trap"), doc("miscellaneous-instructions-trap", "abort the kernel.")),
  row("nanosleep.u32  t:.u32 ;",
      since(6,3), on(sm_70), Effect::volatile_, exec("nanosleep"), doc("miscellaneous-instructions-nanosleep", "suspend the thread for about t nanoseconds.")),
  row("setmaxnreg.action.sync.aligned.u32  n:#.u32=24..256/8 ; .action = { .inc }",
      since(8,0), on(sm_90a, sm_100f, sm_101f, sm_110f, sm_120f), syncs(Sync::pool, Scope::cta), waits(Event::registers), converged(Converged::warpgroup),
      exec("setmaxnreg"),
      doc("miscellaneous-instructions-setmaxnreg", "take registers of the CTA's pool, once there are so many.")),
  row("setmaxnreg.action.sync.aligned.u32  n:#.u32=24..256/8 ; .action = { .dec }",
      since(8,0), on(sm_90a, sm_100f, sm_101f, sm_110f, sm_120f), syncs(Sync::pool, Scope::cta), converged(Converged::warpgroup),
      exec("setmaxnreg"),
      doc("miscellaneous-instructions-setmaxnreg", "give registers back to the CTA's pool.")),
  row("pmevent  a:#.u32=0..15 ;",
      since(1,4), on(sm_10), Effect::volatile_, exec("pmevent"),
      doc("miscellaneous-instructions-pmevent", "trigger performance monitor event a.")),
  row("pmevent.mask  a:#.u32=0..65535 ;",
      since(3,0), on(sm_20), Effect::volatile_, exec("pmevent"),
      doc("miscellaneous-instructions-pmevent", "trigger the performance monitor events of the mask a.")),
  row("brkpt ;",
      since(1,0), on(sm_11), Effect::volatile_, exec("brkpt"),
      doc("miscellaneous-instructions-brkpt", "stop for the debugger.")),
};
// clang-format on

}  // namespace ptx::isa::table
