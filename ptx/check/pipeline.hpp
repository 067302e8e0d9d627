// Hopper's asynchronous matrix pipeline: what ptxas only remarks on (C7508 to C7520, C7406, C7602) and what costs most of a
// kernel's speed, or the kernel itself. Runs for functions that have such instructions alone.
#pragma once

#include <vector>

#include "ptx/check/facts.hpp"
#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// Registers of wgmma.mma_async between the mma and the wait that covers it; fences; calls; the registers there are. `access` has
/// an entry for each item of the body.
void check_wgmma(Report& report, const Names& names, const ir::Function& function, const std::vector<Access>& access);

/// `setmaxnreg` needs a count to start from, and registers that somebody gave back.
void check_setmaxnreg(Report& report, const ir::Function& function);

}  // namespace ptx::check
