// Calls (manual: "call"): the target, the arguments and results against its parameters, prototypes and lists of targets.
#pragma once

#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// Checks a `call`. What its operands look like is known to fit; names are declared or reported.
void check_call(Report& report, const Names& names, const ir::Function& function, const ir::Inst& call);
/// Checks a `bra`: its label is not that of a list or prototype.
void check_branch(Report& report, const ir::Function& function, const ir::Inst& branch);
/// Checks a `brx.idx`: its list is one of branch targets, and stands before it.
void check_branch_list(Report& report, const ir::Function& function, const ir::Inst& branch);
/// Checks a .branchtargets list: labels that the block sees are looked up by the caller, so only that they are labels.
void check_branch_targets(Report& report, const ir::Function& function, const ir::Inst& item);
/// Checks a .calltargets list: functions, declared before it.
void check_call_targets(Report& report, const Names& names, const ir::Function& function, const ir::Inst& item);

}  // namespace ptx::check
