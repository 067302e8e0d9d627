// Errors of the language binding, said in our words.
#pragma once

#include <nanobind/nanobind.h>

namespace ptx::python {

/// Makes every function and method of the module raise our errors where nanobind would raise its own: for arguments of the wrong
/// number or type ("incompatible function arguments") and values that no C++ type holds. To be called when all of them are there.
void speak_in_our_words(nanobind::module_& m);

}  // namespace ptx::python
