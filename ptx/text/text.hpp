// text (floor 3): PTX as text. The printer; the lexer and parser join it later. Everything below this floor speaks text.
#pragma once

#include <string>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::text {

/// The module as canonical PTX, with the line of every item. Deterministic: equal modules give equal bytes in any process.
ir::Listing list(const ir::Module& module);
/// The text alone.
std::string print(const ir::Module& module);
/// One item of a function's body as it prints, without indentation and newline: `fma.rn.f32 %f2, %f1, %f1, %f2;`.
std::string print(const ir::Module& module, const ir::Function& function, const ir::Inst& item);

}  // namespace ptx::text
