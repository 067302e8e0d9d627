// Scalars as tensors: a kernel that takes the addresses of its scalar parameters' values in their place, for callers whose values
// are in a GPU's memory by the time of the launch.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/image.hpp"

namespace ptx::launch {

/// The image whose scalar parameters `which` (counted among the scalars, ascending) are addresses of further inputs, behind those
/// that there are. Its text is the kernel's with each `ld.param` of these parameters as a load from that address. Nothing when
/// the kernel does something else with such a parameter, as taking its address. Errors: those of check::accept and
/// KernelImage::make.
Expected<std::optional<std::shared_ptr<const KernelImage>>> with_scalars_in_memory(const KernelImage& image,
                                                                                   const std::vector<std::size_t>& which);

}  // namespace ptx::launch
