// What atomics, reductions and reducing copies leave in memory, one element at a time, bit for bit as an H200 has it (facts.md).
#pragma once

#include <bit>
#include <cstdint>

#include "ptx/num/convert.hpp"
#include "ptx/num/format.hpp"
#include "ptx/num/rounding.hpp"

namespace ptx::num {

/// f32 in memory plus another; `flushes`: subnormal operands and sums become zeros.
constexpr std::uint32_t sum_f32(std::uint32_t memory, std::uint32_t value, bool flushes) {
  auto a = std::bit_cast<float>(memory), b = std::bit_cast<float>(value);
  if (flushes) a = flush(a), b = flush(b);
  const float sum = canonical(a + b);
  return bits_of(flushes ? flush(sum) : sum);  // a subnormal sum is exact
}

/// f64 in memory plus another. A NaN is handed on as it is, the other's before the one in memory.
constexpr std::uint64_t sum_f64(std::uint64_t memory, std::uint64_t value) {
  const auto a = std::bit_cast<double>(memory), b = std::bit_cast<double>(value);
  if (b != b) return value;
  if (a != a) return memory;
  const double sum = a + b;
  return sum != sum ? nan64 : bits_of(sum);
}

/// f16 or bf16. The sum in f32, rounded once more, is the sum rounded once: f32 has more than twice the digits and two.
constexpr std::uint16_t sum_half(std::uint16_t memory, std::uint16_t value, bool bf16) {
  const float a = bf16 ? from_bf16(memory) : from_f16(memory), b = bf16 ? from_bf16(value) : from_f16(value);
  return static_cast<std::uint16_t>(narrowed(a + b, bf16 ? bf16_format : f16_format, {}));
}

/// The lesser or the greater of two numbers of a format with a NaN: -0 is less than +0; a NaN gives way to a number.
constexpr std::uint32_t ordered(std::uint32_t memory, std::uint32_t value, const Format& format, bool greater) {
  if (format.is_nan(memory)) return format.is_nan(value) ? static_cast<std::uint32_t>(format.nan) : value;
  if (format.is_nan(value)) return memory;
  const auto rank = [&](std::uint32_t x) {
    const auto magnitude = static_cast<int>(x & (format.sign() - 1));
    return (x & format.sign()) != 0 ? -1 - magnitude : magnitude;
  };
  return (rank(value) > rank(memory)) == greater ? value : memory;
}
constexpr std::uint16_t order_half(std::uint16_t memory, std::uint16_t value, bool bf16, bool greater) {
  return static_cast<std::uint16_t>(ordered(memory, value, bf16 ? bf16_format : f16_format, greater));
}

}  // namespace ptx::num
