// What a trace leaves behind, shared by the authoring and the launching half of the binding.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::launch {
class KernelImage;
}

namespace ptx::python {

/// A traced kernel that the checker accepted, with its text. Bound as `pyptx._ptx.Module`.
struct TracedModule {
  check::Accepted accepted;
  std::shared_ptr<const ir::Listing> listing;
  std::string entry;
  std::uint64_t dynamic_smem = 0;        ///< bytes that its allocations take of the dynamic shared memory
  std::vector<std::string> tma_tensors;  ///< those whose descriptors are its last parameters
  /// The last image that was made of it: those for other sizes share its code. With the GIL.
  mutable std::weak_ptr<const launch::KernelImage> image{};
};

/// Checks a module and makes its text.
Expected<TracedModule> checked_module(ir::Module module, std::string entry, std::uint64_t dynamic_smem = 0,
                                      std::vector<std::string> tma_tensors = {});

}  // namespace ptx::python
