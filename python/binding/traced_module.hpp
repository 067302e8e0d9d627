// What a trace leaves behind, shared by the authoring and the launching half of the binding.
#pragma once

#include <memory>
#include <string>

#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::python {

/// A traced kernel that the checker accepted, with its text. Bound as `pyptx._ptx.Module`.
struct TracedModule {
  check::Accepted accepted;
  std::shared_ptr<const ir::Listing> listing;
  std::string entry;
};

}  // namespace ptx::python
