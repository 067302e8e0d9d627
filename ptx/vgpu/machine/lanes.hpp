// The 32 lanes of a warp as data: masks, the slots that registers are kept in, and lane loops that the compiler turns into vector
// instructions.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace ptx::vgpu {

inline constexpr int lane_count = 32;

/// One bit a lane.
using Mask = std::uint32_t;
inline constexpr Mask all_lanes = 0xFFFFFFFFu;
constexpr bool has_lane(Mask mask, int lane) { return (mask >> lane & 1u) != 0; }
/// Of an empty mask: 0, so that the result is always a lane.
constexpr int lowest_lane(Mask mask) { return std::countr_zero(mask) & (lane_count - 1); }

/// What a register of type T is kept as, 32 times in a row: registers up to 32 bits as u32 lanes, 64-bit ones as u64 lanes. The
/// bits of a lane above the register's width mean nothing: whoever reads a register takes as many bits as its instruction's type
/// has.
template <class T>
using SlotOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
[[gnu::always_inline]] constexpr T from_slot(SlotOf<T> raw) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(raw);
  } else {
    return static_cast<T>(raw);  // modulo 2^n: C++20
  }
}

/// Signed values are extended with their sign, unsigned ones with zeros.
template <class T>
[[gnu::always_inline]] constexpr SlotOf<T> to_slot(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<SlotOf<T>>(value);
  } else {
    return static_cast<SlotOf<T>>(value);
  }
}

// A lane reads and writes its own elements alone, also where a source is the destination: the loop may be vectorised without
// asking. Left to itself, clang unrolls 32 rounds before it looks for vectors.
#if defined(__clang__)
#define PTX_INDEPENDENT_LANES _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define PTX_INDEPENDENT_LANES _Pragma("GCC ivdep")
#endif

/// d[l] = value(l) in the lanes of the mask. `value` is called for the other lanes too, so that there is nothing to branch on,
/// and must stand any operand.
template <class Slot, class Value>
[[gnu::always_inline]] inline void write_lanes(Slot* d, Mask mask, Value value) {
  if (mask == all_lanes) {
    PTX_INDEPENDENT_LANES
    for (int l = 0; l < lane_count; ++l) d[l] = static_cast<Slot>(value(l));
  } else {
    PTX_INDEPENDENT_LANES
    for (int l = 0; l < lane_count; ++l) {
      const Slot chosen = Slot{0} - static_cast<Slot>(mask >> l & 1u);
      d[l] = (static_cast<Slot>(value(l)) & chosen) | (d[l] & ~chosen);
    }
  }
}

/// The mask of the lanes for which `holds(l)`.
template <class Holds>
[[gnu::always_inline]] inline Mask lanes_where(Holds holds) {
  Mask mask = 0;
  for (int l = 0; l < lane_count; ++l) mask |= static_cast<Mask>(holds(l) ? 1 : 0) << l;
  return mask;
}

}  // namespace ptx::vgpu
