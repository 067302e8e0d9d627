// The lines of a function's body in their order: blocks, declarations, labels, instructions, and what no path reaches.
#pragma once

#include "ptx/check/cta_groups.hpp"
#include "ptx/check/debug_info.hpp"
#include "ptx/check/instructions.hpp"
#include "ptx/check/names.hpp"
#include "ptx/check/register_budget.hpp"
#include "ptx/check/report.hpp"
#include "ptx/flow/flow.hpp"

namespace ptx::check {

/// What functions share, and what goes on from one to the next.
struct AcrossBodies {
  Instructions& instructions;
  DebugInfo& debug;
  CtaGroups& groups;
  const RegisterBudgets& budgets;
  Matches& matches;  ///< of the function that is checked
};

/// Checks a function, whose graph that is. Its scope is open: its parameters are declared.
void check_body(Report& report, Names& names, AcrossBodies across, const ir::Function& function, const flow::Graph& graph);

}  // namespace ptx::check
