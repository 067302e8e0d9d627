// Tracebacks without our own frames: between a kernel's call and the author's line there is nothing that the author wrote.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace ptx::python {

/// Takes the frames of this package out of the traceback of the Python error that is set. A fault of our own, which is an error
/// of Python's raised in one of our frames, keeps them.
void drop_our_frames() noexcept;

/// Whether a file is one of this package. (author.cpp)
bool is_our_file(std::string_view file);

void bind_frames(nanobind::module_& m);

}  // namespace ptx::python
