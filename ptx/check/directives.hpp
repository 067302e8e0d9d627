// The directives of a function (manual: "Performance-Tuning Directives", "Cluster Dimension Directives", "Miscellaneous
// Directives"), and pragmas.
#pragma once

#include <cstdint>

#include "ptx/check/report.hpp"

namespace ptx::check {

void check_directives(Report& report, const ir::Function& function);
/// The directives of a .callprototype.
void check_directives(Report& report, const ir::Prototype& prototype, ir::WhereId where);

/// Where a pragma stands: some belong in a body alone, one in that of an entry.
enum class PragmaLevel : std::uint8_t { module, directive, func_body, entry_body };
/// The strings of a `.pragma`: `"nounroll", "x"`.
void check_pragma(Report& report, std::string_view strings, PragmaLevel level, ir::WhereId where);

}  // namespace ptx::check
