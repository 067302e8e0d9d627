// A launchable kernel as Python holds it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "ptx/launch/launch.hpp"

namespace ptx::python {

namespace nb = nanobind;

/// Bound as `pyptx._ptx.Image`. The bytes objects are made once: JAX compares attributes by identity before it hashes them.
struct ImageHandle {
  std::shared_ptr<const launch::KernelImage> image;
  nb::object key, meta, ptx;  // bytes

  /// Puts the image into the process's registry; one already there under its key is taken instead.
  static ImageHandle registered(std::shared_ptr<const launch::KernelImage> image);
};

/// Adds `pyptx._ptx.Plan` to the module.
void add_plan_type(nb::module_& m);
/// Adds `pyptx._ptx.KernelCall` to the module.
void add_kernel_type(nb::module_& m);

}  // namespace ptx::python
