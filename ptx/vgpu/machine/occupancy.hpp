// How many CTAs a GPU of a target holds at a time (CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability").
#pragma once

#include <algorithm>
#include <cstdint>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

/// Whether the blocks of a grid may form clusters.
constexpr bool has_clusters(Target target) { return isa::info(target).base >= 90; }

struct BlockNeeds {
  std::uint32_t threads = 1;
  std::uint64_t shared_bytes = 0;
  std::uint32_t registers = 0;  ///< of a thread; 0: not known, and no limit
};

/// Blocks that one multiprocessor holds; at least 1, since what does not fit at all does not run. Shared memory is given out in
/// pieces of 128 bytes, registers in pieces of 256 to each warp, to four warps at a time.
constexpr std::uint32_t blocks_of_multiprocessor(Target target, const BlockNeeds& needs) {
  const isa::SmLimits limits = isa::sm_limits(target);
  const std::uint64_t warps = (std::uint64_t{needs.threads} + 31) / 32;
  const std::uint64_t shared = (needs.shared_bytes + 127) / 128 * 128 + limits.reserved_bytes;
  std::uint64_t blocks = std::min<std::uint64_t>(limits.ctas, limits.warps / std::max<std::uint64_t>(1, warps));
  if (shared != 0) blocks = std::min<std::uint64_t>(blocks, limits.shared_kib * std::uint64_t{1024} / shared);
  if (needs.registers != 0) {
    const std::uint64_t of_warp = (std::uint64_t{needs.registers} * 32 + 255) / 256 * 256;
    const std::uint64_t held = 65536 / of_warp / 4 * 4;
    blocks = std::min(blocks, held / std::max<std::uint64_t>(1, warps));
  }
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, blocks));
}

static_assert(blocks_of_multiprocessor(Target::sm_90a, {32}) == 32 && blocks_of_multiprocessor(Target::sm_90a, {1024}) == 2);
static_assert(blocks_of_multiprocessor(Target::sm_90a, {128, 100 * 1024}) == 2 &&
              blocks_of_multiprocessor(Target::sm_86, {32}) == 16);
static_assert(blocks_of_multiprocessor(Target::sm_90a, {256, 0, 128}) == 2 &&
              blocks_of_multiprocessor(Target::sm_89, {64}) == 24);

}  // namespace ptx::vgpu
