#include "ptx/base/launch_geometry.hpp"

#include "ptx/base/sizes.hpp"
#include "ptx/base/strings.hpp"

namespace ptx {
namespace {

Expected<void> check_axes(std::string_view what, std::string_view unit, const LaunchDims& dims, const LaunchDims& most) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (dims[i] == 0) return refuse(Kind::launch_config, cat(what, ' ', to_string(dims), " is empty: ", "xyz"[i], " is 0"));
    if (dims[i] > most[i])
      return refuse(Kind::launch_config, cat(what, ' ', to_string(dims), " has ", dims[i], ' ', unit, " in ", "xyz"[i],
                                             "; at most ", most[i], " fit"));
  }
  return {};
}

}  // namespace

std::string to_string(const LaunchDims& dims) { return cat('(', dims[0], ", ", dims[1], ", ", dims[2], ')'); }

std::uint64_t volume(const LaunchDims& dims) { return multiply_sizes(std::uint64_t{dims[0]} * dims[1], dims[2]); }

Expected<void> check_launch_geometry(const LaunchDims& grid, const LaunchDims& block, const LaunchDims& cluster,
                                     const LaunchLimits& limits) {
  if (auto ok = check_axes("grid", "blocks", grid, limits.grid); !ok) return ok;
  if (auto ok = check_axes("block", "threads", block, limits.block); !ok) return ok;
  if (const std::uint64_t threads = volume(block); threads > limits.block_threads)
    return refuse(Kind::launch_config,
                  cat("block ", to_string(block), " has ", threads, " threads; at most ", limits.block_threads, " fit"));
  const auto most = static_cast<std::uint32_t>(limits.cluster_blocks);
  if (auto ok = check_axes("cluster", "blocks", cluster, {most, most, most}); !ok) return ok;
  if (const std::uint64_t blocks = volume(cluster); blocks > limits.cluster_blocks)
    return refuse(Kind::launch_config,
                  cat("cluster ", to_string(cluster), " has ", blocks, " blocks; at most ", limits.cluster_blocks, " fit"));
  for (std::size_t i = 0; i < 3; ++i)
    if (grid[i] % cluster[i] != 0)
      return refuse(Kind::launch_config,
                    cat("grid ", to_string(grid), " is not a whole number of clusters ", to_string(cluster), " in ", "xyz"[i]));
  return {};
}

Expected<void> check_launch_bound(std::string_view directive, const LaunchDims& bound, const LaunchDims& block) {
  const bool fits = directive == "reqntid" ? block == bound : volume(block) <= volume(bound);
  if (fits) return {};
  return refuse(Kind::launch_config,
                cat("block ", to_string(block), " does not fit the kernel's `.", directive, "` ", to_string(bound)));
}

}  // namespace ptx
