// What an access of memory by a warp costs beside the least that its bytes need: bank conflicts of shared memory, and sectors of
// global memory that are touched in part (CUDA C++ Programming Guide: "Shared Memory", "Global Memory").
#pragma once

#include <cstdint>
#include <span>

namespace ptx::vgpu::timeline {

struct AccessCount {
  std::uint32_t needed = 0;  ///< the least for these bytes
  std::uint32_t taken = 0;
  friend bool operator==(const AccessCount&, const AccessCount&) = default;
};

/// Wavefronts of an access of shared memory, `bytes` at each address: those of the active lanes, in their order, lane by lane in
/// the bits of `lanes`. 32 banks of 4 bytes each serve one word in a wavefront, to as many lanes as ask for it. 32 lanes are
/// served together that access up to 4 bytes each, 16 of 8 bytes, 8 of 16 bytes; `needed` are these parts.
AccessCount count_wavefronts(std::uint32_t lanes, std::span<const std::uint64_t, 32> addresses, std::uint32_t bytes);

/// Sectors of 32 bytes of an access of global memory. `needed`: as many as the different bytes would fill.
AccessCount count_sectors(std::uint32_t lanes, std::span<const std::uint64_t, 32> addresses, std::uint32_t bytes);

}  // namespace ptx::vgpu::timeline
