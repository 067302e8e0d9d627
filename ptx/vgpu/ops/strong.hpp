// Strong accesses, as the race detector has to know of them.
#pragma once

#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {

/// A strong load, store, or both at once, of `bytes` in each lane, which is about to be made.
inline void note_strong(Warp& warp, const Step& step, Mask mask, std::uint32_t bytes, bool loads, bool stores,
                        const std::array<Place, lane_count>& places) {
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    warp.races->strong_access(warp, step, lane, (mask & (mask - 1)) == 0, loads, stores,
                              places[static_cast<std::size_t>(lane)].data);
  }
  warp.races->access(warp, step, mask, stores, bytes, places);
}

}  // namespace ptx::vgpu
