// Warnings of C++ programs: what the checker and the compilers find short of an error.
#pragma once

#include "ptx/base/base.hpp"

namespace ptx {

/// Hears of a warning. Called by the thread that compiles, loads or runs; no two calls at a time.
using WarningHandler = void (*)(const Diagnostic& warning);

/// Who hears of warnings from now on; null: nobody. At first each is printed to the standard error stream, as `render` gives it.
/// Returns who heard of them before. Compiled::warnings has those of the checker, too.
WarningHandler set_warning_handler(WarningHandler handler);

namespace launch {
/// Tells the handler of those among them that are warnings.
void warn(const Diagnostics& findings);
}  // namespace launch

}  // namespace ptx
