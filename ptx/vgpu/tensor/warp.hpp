// What instructions on a warp's matrices have in common: all 32 threads execute them together, and rows of 16 bytes in shared
// memory are found by the lanes' addresses.
#pragma once

#include <array>
#include <optional>

#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {

inline constexpr int warps_of_group = 4;  ///< of a warpgroup

/// Nothing when the whole warp is here: the instruction can run. Else what happens: its lanes wait for the others, or a fault.
inline std::optional<Outcome> whole_warp(Warp& warp, const Step& step, Mask mask) {
  if (mask == all_lanes) return std::nullopt;
  // lanes that a guard leaves out have come, and go by
  if (const Mask left_out = warp.active & ~mask; left_out != 0)
    return warp.fail(step, lowest_lane(mask), Kind::divergent,
                     cat("needs all threads of warp ", warp.index, " together; its guard leaves out ", say_lanes(left_out)));
  if (mask != warp.live) return park(warp, step, mask, Wait::converge);
  return warp.fail(step, lowest_lane(mask), Kind::divergent,
                   cat("needs all 32 threads of warp ", warp.index, "; ", say_lanes(~mask), " are not there, or have exited"));
}

inline constexpr std::uint32_t row_bytes = 16;

/// The rows that the lanes of a mask name, in shared memory. False: a fault was recorded.
inline bool find_rows(Warp& warp, const Step& step, Mask lanes, bool write, std::array<std::uint64_t, lane_count>& address,
                      std::array<Place, lane_count>& places) {
  read_addresses(warp, step, address);
  const bool generic = step.space == Space::generic;
  const MemoryRegion& region = generic ? warp.cta->shared_window_region : warp.cta->shared_region;
  bool inside = region.size >= row_bytes;
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    const std::uint64_t offset = address[l] - region.begin;
    inside = inside && offset <= region.size - row_bytes && address[l] % row_bytes == 0;
    if (!inside) break;
    places[l] = {region.data + offset, region.written == nullptr ? nullptr : region.written + offset};
  }
  const auto note = [&] {
    if (warp.races != nullptr) warp.races->access_rows(warp, step, write, lanes, places);
    return true;
  };
  if (inside) return note();
  for (Mask left = lanes; generic && left != 0; left &= left - 1)
    if (const int l = lowest_lane(left);
        (address[static_cast<std::size_t>(l)] ^ warp.cta->shared_window_region.begin) / cluster_part != 0) {
      warp.fail(step, l, Rule::A_03,
                cat(write ? "stores" : "loads", " a row at generic address 0x", hex(address[static_cast<std::size_t>(l)]),
                    ", which is not in the block's shared memory"));
      return false;
    }
  return find_places(warp, step, lanes, step.space, write, row_bytes, address.data(), places) && note();
}

}  // namespace ptx::vgpu
