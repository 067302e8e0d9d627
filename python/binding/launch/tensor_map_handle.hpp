// Tensor maps as Python holds them.
#pragma once

#include <nanobind/nanobind.h>

#include "ptx/launch/launch.hpp"

namespace ptx::python {

/// Bound as `pyptx._ptx.TensorMap`: what a tensor copy knows of a tensor, but for its address.
struct TensorMapHandle {
  layout::TensorMap map;
};

/// Adds `pyptx._ptx.TensorMap` and `EncodedTensorMap` to the module.
void add_tensor_map_types(nanobind::module_& m);

}  // namespace ptx::python
