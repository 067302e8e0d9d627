// Operands for property tests: the values where arithmetic goes wrong, and random ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu::testing {

inline float f32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
/// What `.ftz` makes of it.
inline float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

inline std::vector<std::uint64_t> integer_edges() {
  std::vector<std::uint64_t> values = {0, 1, 2, 3, 5, 7, 10, 31, 32, 33, 63, 64, 100};
  for (const int bit : {7, 8, 15, 16, 31, 32, 63})
    for (const int delta : {-1, 0, 1}) values.push_back((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(delta));
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) values.push_back(0 - values[i]);
  return values;
}

inline std::vector<std::uint64_t> f32_edges() {
  std::vector<std::uint64_t> values = {
      0x00000000, 0x00000001, 0x00000002, 0x007FFFFF, 0x00800000, 0x00800001, 0x00FFFFFF, 0x33800000, 0x3F7FFFFE, 0x3F7FFFFF,
      0x3F800000, 0x3F800001, 0x2E800000, 0x3F000000, 0x3FC00000, 0x40000000, 0x40490FDB, 0x4B000000, 0x4B7FFFFF, 0x4B800000,
      0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000, 0x5EFFFFFF, 0x5F000000, 0x5F7FFFFF, 0x5F800000, 0x7E800000, 0x7E800001,
      0x7F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x7FC12345,
      // around the limits of f16 and bf16, and their halfway points
      0x33000000, 0x33000001, 0x337FFFFF, 0x387FC000, 0x387FE000, 0x38800000, 0x477FE000, 0x477FEFFF, 0x477FF000, 0x477FF001,
      0x3F808000, 0x3F818000, 0x7F7F7FFF, 0x7F7F8000, 0x3F801000, 0x3F803000, 0x00400000, 0x00008000};
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) values.push_back(values[i] | 0x80000000u);
  return values;
}

inline std::vector<std::uint64_t> f64_edges() {
  std::vector<std::uint64_t> values = {0,
                                       1,
                                       0x000FFFFFFFFFFFFF,
                                       0x0010000000000000,
                                       0x36A0000000000000,
                                       0x380FFFFFC0000000,  // about the smallest normal f32
                                       0x380FFFFFE0000000,
                                       0x380FFFFFF0000000,
                                       0x380FFFFFFFFFFFFF,
                                       0x3FEFFFFFFFFFFFFF,
                                       0x3FF0000000000000,
                                       0x3FF0000000000001,
                                       0x3FF0000010000000,
                                       0x3FF0000030000000,
                                       0x3FE0000000000000,
                                       0x4008000000000000,
                                       0x41DFFFFFFFC00000,
                                       0x41E0000000000000,
                                       0x41EFFFFFFFE00000,
                                       0x43DFFFFFFFFFFFFF,
                                       0x43E0000000000000,
                                       0x43F0000000000000,
                                       0x47EFFFFFE0000000,
                                       0x47EFFFFFF0000000,
                                       0x7FEFFFFFFFFFFFFF,
                                       0x7FF0000000000000,
                                       0x7FF0000000000001,
                                       0x7FF8000000000000,
                                       0x7FF8000000012345};
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) values.push_back(values[i] | 0x8000000000000000u);
  return values;
}

/// A random pattern: any bits, or a float of ordinary size, or near another operand.
inline std::uint64_t random_bits(std::mt19937_64& random, int width) {
  const std::uint64_t bits = random();
  if (width == 32) {
    switch (bits >> 61) {
      case 0:
        return bits & 0xFFFFFFFF;
      case 1:
        return bits & 0x807FFFFF;  // subnormal
      default:
        return (bits & 0x807FFFFF) | ((120 + (bits >> 40) % 16) << 23);  // around 1
    }
  }
  return bits >> 62 == 0 ? bits : (bits & 0x800FFFFFFFFFFFFF) | ((1016 + (bits >> 52) % 16) << 52);
}

/// Every pair of edges as a and b, c drawn at random from them, then random rows; d is a pattern that no result has by chance.
inline std::vector<Operands> make_rows(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b, int width,
                                       std::size_t random_rows, bool floating) {
  std::mt19937_64 random(20240611);
  std::vector<Operands> rows;
  constexpr std::uint64_t before = 0x5A5A5A5A5A5A5A5A;
  for (const std::uint64_t x : a)
    for (const std::uint64_t y : b) rows.push_back({before, x, y, a[random() % a.size()]});
  for (std::size_t i = 0; i < random_rows; ++i) {
    const auto draw = [&] { return floating ? random_bits(random, width) : random() >> (random() % 64); };
    Operands row{before, draw(), draw(), draw()};
    if (floating && i % 8 == 0) row.c = row.a ^ (std::uint64_t{1} << (width - 1));  // sums that cancel
    rows.push_back(row);
  }
  return rows;
}

}  // namespace ptx::vgpu::testing
