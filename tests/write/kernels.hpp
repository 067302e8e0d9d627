// Kernels of the typed layer, for its tests.
#pragma once

#include <gtest/gtest.h>

#include "ptx/write/kernel.hpp"
#include "tests/write/written.hpp"

namespace ptx::write_test {

inline Kernel make(Target arch = sm_90a) { return Kernel({.name = "k", .arch = arch}); }

inline Lines lines_of(Kernel& k) { return written(k.builder().module()); }

/// The error that a kernel ends with.
inline Diagnostic error_of(Kernel& k) {
  auto module = k.module();
  EXPECT_FALSE(module);
  return module ? Diagnostic{} : module.error();
}

}  // namespace ptx::write_test
