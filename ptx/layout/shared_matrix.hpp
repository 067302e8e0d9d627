// Where the elements of a matrix operand lie in shared memory, as its descriptor says it to the tensor cores of wgmma and tcgen05
// (manual: "Matrix Descriptor Format" and "Canonical Layouts" of wgmma, "Shared memory descriptor" of tcgen05).
#pragma once

#include <array>
#include <cstdint>

#include "ptx/base/brief.hpp"

namespace ptx::layout {

/// A matrix in pieces of 16 bytes.
struct SharedMatrix {
  std::uint64_t start = 0, leading = 0, stride = 0, base_offset = 0;
  std::uint64_t width = 1;         ///< of a row of the swizzle's pattern, in pieces; 1 without a swizzle
  std::uint64_t rows = 8;          ///< of the pattern: 8, or 4 of the swizzle whose atoms have 32 bytes, m or n being contiguous
  bool double_atoms = false;       ///< the swizzle exchanges 32 bytes at a time
  bool goes_on_elsewhere = false;  ///< `leading` is the address where rows go on whose pieces the pattern's width does not hold

  /// Of the piece number `piece` of row `mn`, k being contiguous.
  [[nodiscard]] constexpr std::uint64_t along_k(std::uint64_t mn, std::uint64_t piece) const {
    if (width == 1) return start + mn % 8 * 16 + mn / 8 * stride + piece * leading;
    const std::uint64_t row = mn % 8 * 16 * width + mn / 8 * stride;
    const std::uint64_t inside = start / 16 % width + piece;  // of the pattern's row
    if (goes_on_elsewhere && inside >= width) return swizzled(leading + row + (inside - width) * 16);
    return swizzled(start + row + piece * 16);
  }
  /// Of the piece number `piece` of column k, m or n being contiguous.
  [[nodiscard]] constexpr std::uint64_t along_mn(std::uint64_t k, std::uint64_t piece) const {
    if (width == 1) return start + piece * stride + k % 8 * 16 + k / 8 * leading;
    return swizzled(start + piece % width * 16 + piece / width * leading + k % rows * 16 * width + k / rows * stride);
  }
  /// The pieces of a row change places by the row's number in the pattern, which begins base_offset rows behind its multiple.
  [[nodiscard]] constexpr std::uint64_t swizzled(std::uint64_t address) const {
    const std::uint64_t row = (address >> 7) - base_offset;
    return double_atoms ? address ^ (row & 3) << 5 : address ^ (row & (width - 1)) << 4;
  }
};

namespace detail {
constexpr SharedMatrix matrix_fields(std::uint64_t bits) {
  return {.start = (bits & 0x3FFF) << 4,
          .leading = (bits >> 16 & 0x3FFF) << 4,
          .stride = (bits >> 32 & 0x3FFF) << 4,
          .base_offset = bits >> 49 & 7};
}
}  // namespace detail

/// What a descriptor of wgmma says; any bits mean something.
constexpr SharedMatrix read_wgmma_descriptor(std::uint64_t bits) {
  SharedMatrix matrix = detail::matrix_fields(bits);
  matrix.width = std::array<std::uint64_t, 4>{1, 8, 4, 2}[bits >> 62];
  return matrix;
}
/// What a descriptor of tcgen05 says. Kind bad_descriptor: bits 46 to 48 are not 1, or a swizzle that there is none of.
Expected<SharedMatrix> read_tcgen05_descriptor(std::uint64_t bits);

}  // namespace ptx::layout
