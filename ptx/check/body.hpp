// The lines of a function's body in their order: blocks, declarations, labels, instructions, and what no path reaches.
#pragma once

#include "ptx/check/debug_info.hpp"
#include "ptx/check/instructions.hpp"
#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// Checks a function. Its scope is open: its parameters are declared.
void check_body(Report& report, Names& names, Instructions& instructions, DebugInfo& debug, const ir::Function& function);

}  // namespace ptx::check
