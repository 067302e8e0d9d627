// Operands that fit one by one and that ptxas refuses all the same: for what their names mean, or for what stands beside them.
#pragma once

#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// What the kinds of the operands and the meanings of their names decide.
void check_operands(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst);
/// A name and an offset, `g+8`, whose value is known when the module is linked.
void check_offset_of_name(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst,
                          ir::StringId text);
/// A guard on an access to a .param variable of the body, which takes part in a call.
void check_guarded_param(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst);

}  // namespace ptx::check
