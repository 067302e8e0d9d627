// For tests of tensor cores: matrix operands put into shared memory piece by piece, as the manual's canonical layouts say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ptx::vgpu::testing {

/// A matrix operand in shared memory: where element (mn, k) is, in bits from its start, and the two strides of its descriptor.
struct Placed {
  int swizzle, bits;
  bool transposed;
  std::uint64_t leading, stride;
  int per = 0;  ///< elements of 16 bytes
  bool wide_atoms = false;
  Placed(int swizzle_bytes, int element_bits, bool by_mn, int mn_count, int per_piece = 0)
      : swizzle(swizzle_bytes), bits(element_bits), transposed(by_mn), per(per_piece == 0 ? 128 / element_bits : per_piece) {
    if (!transposed) {
      // without a swizzle core matrices of 8 rows of 16 bytes, those of one column of them behind each other; with one, 8 rows of
      // the pattern's width
      stride = swizzle == 0 ? 128 : static_cast<std::uint64_t>(8 * swizzle);
      leading = swizzle == 0 ? static_cast<std::uint64_t>(mn_count) * 16 : 16;
    } else if (swizzle == 0) {
      leading = 128;     // 8 of k
      stride = 2 * 128;  // 8 of m or n
    } else {
      stride = static_cast<std::uint64_t>(8 * swizzle);       // 8 of k
      leading = 4 * static_cast<std::uint64_t>(8 * swizzle);  // the next ones of m or n that the pattern is wide
    }
  }
  /// The swizzle of 128 bytes that exchanges 32 at a time, m or n being contiguous: four rows of 32 tf32 are a pattern, two of
  /// which have all of K = 8.
  void take_wide_atoms() {
    wide_atoms = true;
    stride = 512;
    leading = 1024;
  }
  [[nodiscard]] std::uint64_t bit(std::uint64_t base, int mn, int k) const {
    if (wide_atoms) {
      const auto m = static_cast<std::uint64_t>(mn), row = static_cast<std::uint64_t>(k);
      const std::uint64_t line = base + m / 32 * leading + row / 4 * stride + row % 4 * 128 + m % 32 * 4;
      return (line ^ line / 128 % 4 * 32) * 8;
    }
    std::uint64_t row = 0, block = 0, piece = 0, inside = 0;
    if (!transposed) {
      row = static_cast<std::uint64_t>(mn % 8), piece = static_cast<std::uint64_t>(k / per),
      inside = static_cast<std::uint64_t>(k % per * bits);
      block = static_cast<std::uint64_t>(mn / 8) * stride + (swizzle == 0 ? piece * leading : 0);
    } else {
      row = static_cast<std::uint64_t>(k % 8), inside = static_cast<std::uint64_t>(mn % per * bits);
      const int wide = swizzle == 0 ? 1 : swizzle / 16;  // pieces in a row of the pattern
      piece = static_cast<std::uint64_t>(mn / per % wide);
      const auto further = static_cast<std::uint64_t>(mn / per / wide), k_block = static_cast<std::uint64_t>(k / 8);
      block = swizzle == 0 ? further * stride + k_block * leading : further * leading + k_block * stride;
    }
    if (swizzle == 0) return (base + block + row * 16) * 8 + inside;
    // the pieces of a row change places with each other, by the number of the 128 bytes that they are in
    const std::uint64_t line = base + block + row * static_cast<std::uint64_t>(swizzle) + piece * 16;
    const std::uint64_t number = line / 128 % static_cast<std::uint64_t>(swizzle / 16);
    return (line ^ number * 16) * 8 + inside;
  }
  [[nodiscard]] std::uint64_t strides() const { return leading / 16 << 16 | stride / 16 << 32; }
  [[nodiscard]] std::uint64_t descriptor() const {  // of wgmma
    const std::uint64_t code = swizzle == 0 ? 0 : swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
    return strides() | code << 62;
  }
  [[nodiscard]] std::uint64_t tcgen05_descriptor() const {
    const std::uint64_t code = wide_atoms ? 1 : swizzle == 0 ? 0 : swizzle == 128 ? 2 : swizzle == 64 ? 4 : 6;
    return strides() | std::uint64_t{1} << 46 | code << 61;
  }
};

/// Writes the low `bits` of a pattern from a bit of an image on.
inline void put_bits(std::vector<std::uint8_t>& image, std::uint64_t first, int bits, std::uint64_t pattern) {
  for (int i = 0; i < bits; ++i) {
    auto& byte = image.at((first + static_cast<std::uint64_t>(i)) / 8);
    const auto mask = static_cast<std::uint8_t>(1u << (first + static_cast<std::uint64_t>(i)) % 8);
    byte = static_cast<std::uint8_t>((pattern >> i & 1) != 0 ? byte | mask : byte & ~mask);
  }
}

}  // namespace ptx::vgpu::testing
