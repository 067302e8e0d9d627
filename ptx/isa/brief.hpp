// The brief door of isa: types, targets, and the rules by which an operand fits, without the table. For headers that authors
// compile often.
#pragma once

#include "ptx/isa/operand.hpp"
#include "ptx/isa/rules.hpp"
#include "ptx/isa/special.hpp"
#include "ptx/isa/target.hpp"
#include "ptx/isa/type.hpp"

namespace ptx::isa {
class ModifierTree;
struct Form;
}  // namespace ptx::isa
