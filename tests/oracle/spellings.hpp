// A legal spelling of each form, in the names of the surroundings: so that the second hand asks about instructions that no real
// program at hand has. The operands are the plainest that the form's notation asks for.
#pragma once

#include <optional>
#include <random>
#include <string>

#include "ptx/isa/isa.hpp"

namespace ptx::oracle {

/// The form under random choices; nothing for forms that need surroundings of their own (calls, tables of branches), and when the
/// target or the version lacks what was chosen.
std::optional<std::string> spelling(const isa::Form& form, Target target, Version version, std::mt19937_64& random);

}  // namespace ptx::oracle
