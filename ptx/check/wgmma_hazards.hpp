// Hopper's asynchronous matrix pipeline: what ptxas only remarks on (C7510 to C7520) and what costs most of a kernel's speed, or
// the kernel itself. Runs for functions that have such instructions alone.
#pragma once

#include <vector>

#include "ptx/check/access.hpp"
#include "ptx/check/names.hpp"
#include "ptx/check/register_budget.hpp"
#include "ptx/check/report.hpp"
#include "ptx/flow/flow.hpp"

namespace ptx::check {

/// Registers of wgmma.mma_async between the mma and the wait that covers it; fences; calls; the registers there are. `access` has
/// an entry for each item of the body.
void check_wgmma(Report& report, const Names& names, const RegisterBudgets& budgets, const ir::Function& function,
                 const flow::Graph& graph, const Store<Access>& access);

}  // namespace ptx::check
