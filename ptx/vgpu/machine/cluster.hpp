// How a cluster of CTAs begins: the state of its blocks and their warps, before the first instruction.
#pragma once

#include <array>
#include <cstdint>

#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu {

/// A number that has nothing to do with those of the seeds beside this one (splitmix64): generators that begin with 1, 2, 3 draw
/// nearly the same first.
constexpr std::uint64_t mixed(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15u;
  seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9u;
  seed = (seed ^ seed >> 27) * 0x94D049BB133111EBu;
  return seed ^ seed >> 31;
}

/// Bytes of a block's shared memory.
std::uint64_t shared_bytes(const Code& code, const LaunchConfig& config);
/// Bytes from one lane's local memory to the next one's.
std::uint64_t local_stride(const Code& code);
/// The number of a cluster in x, y, z.
std::array<std::uint32_t, 3> cluster_id(const LaunchConfig& config, std::uint64_t index);
/// Makes `cluster` the launch's cluster of that number, with all of its blocks, as it is before its first instruction. What it
/// was before is gone; its memory is used again.
void start_cluster(Cluster& cluster, Worker& worker, std::uint64_t index);
/// "block (1, 0, 0)", "block (1, 0, 0), rank 1 of cluster (0, 0, 0)"
std::string say_block(const Cta& cta);

}  // namespace ptx::vgpu
