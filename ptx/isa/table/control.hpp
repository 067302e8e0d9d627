// Flow of control (manual: "Control Flow Instructions").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row control[] = {
  row("bra{.uni}  t:label ;",
      since(1,0), on(sm_10), Effect::control, exec("bra"), doc("control-flow-instructions-bra", "go on at the label.")),
  row("ret{.uni} ;",
      since(1,0), on(sm_10), Effect::control, exec("ret"), doc("control-flow-instructions-ret", "return; in an entry, end the thread.")),
  row("exit ;",
      since(1,0), on(sm_10), Effect::control, exec("exit"), doc("control-flow-instructions-exit", "end the thread.")),
  row("trap ;",
      since(1,0), on(sm_10), Effect::control | Effect::volatile_, exec("trap"), doc("miscellaneous-instructions-trap", "abort the kernel.")),
  row("nanosleep.u32  t:.u32 ;",
      since(6,3), on(sm_70), Effect::volatile_, exec("nanosleep"), doc("miscellaneous-instructions-nanosleep", "suspend the thread for about t nanoseconds.")),
  row("setmaxnreg.action.sync.aligned.u32  n:#.u32 ; .action = { .inc, .dec }",
      since(8,0), on(sm_90a, sm_100f, sm_101f, sm_110f, sm_120f), Effect::sync | Effect::converged_warpgroup | Effect::may_wait,
      not_executed("the executor has no register pools yet"), rule("setmaxnreg_count"),
      doc("miscellaneous-instructions-setmaxnreg", "take or give back registers of the CTA's pool.")),
};
// clang-format on

}  // namespace ptx::isa::table
