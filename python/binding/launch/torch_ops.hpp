// torch's operators `pyptx::launch` and `pyptx::launch_`, as Python sets them up.
#pragma once

#include <nanobind/nanobind.h>

namespace ptx::python {

void bind_torch_ops(nanobind::module_& m);

}  // namespace ptx::python
