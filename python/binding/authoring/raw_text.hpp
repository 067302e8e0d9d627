// Statements that an author gives as PTX text.
#pragma once

#include <string_view>

#include "python/binding/authoring/trace.hpp"

namespace ptx::python {

/// Reads statements and writes them. They become instructions, labels, blocks and declarations like any others: registers of the
/// trace are known by their names, operands, target and version are checked at once. What the table has no opcode or modifier for
/// is kept as text, whole. Anything else that is wrong raises, with its line and column in the text; nothing is written then.
void write_text(Trace& trace, std::string_view text);

}  // namespace ptx::python
