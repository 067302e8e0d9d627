// Statements of real PTX, with their names replaced by those of the surroundings that the second hand asks in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptx::oracle {

/// Instructions of a PTX text, each once: `ld.global.v2.b32 {%b32_0, %b32_1}, [%b64_0+8];`. Registers are named by their declared
/// types, variables by their state spaces, labels are `$end`; guards and calls are left out, which need what stands around them.
/// This reads tokens and knows nothing of the instruction table.
std::vector<std::string> statements_of(std::string_view ptx);

/// The same of all `.ptx` files below the folders, sorted, each once.
std::vector<std::string> statements_below(std::span<const std::string> folders);

}  // namespace ptx::oracle
