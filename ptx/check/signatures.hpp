// Functions as others see them: parameters and results, declarations and definitions of one name, aliases.
#pragma once

#include <vector>

#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// Declares a function in the module's scope. What was declared before under the name must agree with it.
void declare_function(Report& report, Names& names, std::uint32_t index);
/// Declares the parameters and results in the function's own scope, which is open; checks them and the directives.
void check_signature(Report& report, Names& names, const ir::Function& function);
/// The parameters of a .callprototype.
void check_prototype(Report& report, const ir::Prototype& prototype, ir::WhereId where);

/// `.alias name, function`: the strings of the two.
void check_alias(Report& report, Names& names, std::string_view text, ir::WhereId where, std::vector<bool>& aliased);
/// Functions that nothing defines: `aliased` says which have an alias's definition.
void check_resolved(Report& report, const std::vector<bool>& aliased);

/// What differs between two parameter lists: "types", "alignments", …; "" when nothing does.
std::string_view difference(const std::vector<ir::Param>& a, const std::vector<ir::Param>& b);

}  // namespace ptx::check
