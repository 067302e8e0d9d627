// What a variable starts with (manual: "Initializers").
#pragma once

#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// Checks the initialiser of a variable, which has one, against its type, its dimensions and the names declared so far.
void check_initialiser(Report& report, const Names& names, const ir::Variable& variable, ir::WhereId where);

}  // namespace ptx::check
