// The grid, block and cluster of a launch, and what no launch can have: asked in one place for every machine that runs kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/base/expected.hpp"

namespace ptx {

/// x, y, z.
using LaunchDims = std::array<std::uint32_t, 3>;
std::string to_string(const LaunchDims& dims);  ///< "(16, 1, 1)"

/// x * y * z; the largest number where the product has more digits.
std::uint64_t volume(const LaunchDims& dims);

/// What every GPU has (CUDA C++ programming guide, "Technical Specifications per Compute Capability").
struct LaunchLimits {
  LaunchDims grid{0x7FFF'FFFF, 65'535, 65'535};  ///< blocks
  LaunchDims block{1024, 1024, 64};              ///< threads
  std::uint64_t block_threads = 1024;
  std::uint64_t cluster_blocks = 16;  ///< 8 are portable
};

/// Kind launch_config for a dimension of 0, for too many blocks or threads in one or in all of them, and for a grid that is not a
/// whole number of clusters: the same words from every room.
Expected<void> check_launch_geometry(const LaunchDims& grid, const LaunchDims& block, const LaunchDims& cluster = {1, 1, 1},
                                     const LaunchLimits& limits = {});

/// What a kernel's `.reqntid` or `.maxntid` says of its blocks. Kind launch_config.
Expected<void> check_launch_bound(std::string_view directive, const LaunchDims& bound, const LaunchDims& block);

}  // namespace ptx
