// Where the elements of a matrix lie in a warp's registers (manual: "Matrix Fragments" of mma, mma.sp, wgmma). With g = lane / 4,
// t = lane % 4 and `per` elements in a register, the tables of the manual are these formulas (not that of m8n8k4 with f16).
#pragma once

#include <cstdint>

#include "ptx/vgpu/machine/lanes.hpp"

namespace ptx::vgpu {

/// Where the first of a register's elements is; the others of a and b follow it along k.
struct MatrixPlace {
  int row = 0, column = 0;
};

/// a: m x k, of 16 rows, or of 8.
constexpr MatrixPlace place_of_a(int m, int reg, int lane, int per) {
  const int half = m == 16 ? reg & 1 : 0, part = m == 16 ? reg >> 1 : reg;
  return {(lane >> 2) + 8 * half, (lane & 3) * per + 4 * per * part};
}
/// b: k x n, of 8 columns.
constexpr MatrixPlace place_of_b(int reg, int lane, int per) { return {(lane & 3) * per + 4 * per * reg, lane >> 2}; }
/// c and d: element i of the lane's. A register holds one, or two of f16.
constexpr MatrixPlace place_of_c(int element, int lane) {
  return {(lane >> 2) + 8 * (element >> 1 & 1), 8 * (element >> 2) + 2 * (lane & 3) + (element & 1)};
}

/// The elements of a register, as the low bits of numbers: each `bits` wide.
template <class Use>
[[gnu::always_inline]] inline void each_element(std::uint32_t reg, int per, int bits, Use use) {
  const std::uint32_t all = bits == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << bits) - 1;
  for (int j = 0; j < per; ++j) use(j, bits == 32 ? reg : reg >> (j * bits) & all);
}

}  // namespace ptx::vgpu
