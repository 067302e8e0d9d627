#include "ptx/num/approx.hpp"

#include <cmath>

namespace ptx::num {

namespace {

constexpr std::uint64_t coarse_nan = 0x7FFF'FFFF'0000'0000;
constexpr std::uint32_t infinity_word = 0x7FF00000;
// The upper word of an f64 with 21 of the significand's 24 bits.
std::uint64_t coarse(std::uint32_t sign, int field, std::uint32_t significand) {
  const int word = field * 0x100000 + static_cast<int>(significand >> 3) - 0x100000;
  return static_cast<std::uint64_t>(sign | (word < 0x100000 ? 0 : static_cast<std::uint32_t>(word))) << 32;
}

}  // namespace

std::uint64_t coarse_reciprocal(std::uint64_t a) {
  const auto word = static_cast<std::uint32_t>(a >> 32), sign = word & 0x80000000, magnitude = word ^ sign;
  if (magnitude > infinity_word) return coarse_nan;
  if (magnitude >> 20 == 0) return static_cast<std::uint64_t>(sign | infinity_word) << 32;
  if (magnitude == infinity_word) return static_cast<std::uint64_t>(sign) << 32;
  return coarse(sign, 2045 - static_cast<int>(magnitude >> 20), unit::value_at<unit::Reciprocal>({(magnitude & 0xFFFFF) << 3}));
}
std::uint64_t coarse_reciprocal_root(std::uint64_t a) {
  const auto word = static_cast<std::uint32_t>(a >> 32), sign = word & 0x80000000, magnitude = word ^ sign;
  if (magnitude > infinity_word) return coarse_nan;
  if (magnitude >> 20 == 0) return static_cast<std::uint64_t>(sign | infinity_word) << 32;
  if (sign != 0) return coarse_nan;
  if (magnitude == infinity_word) return 0;
  const int exponent = static_cast<int>(magnitude >> 20) - 1023;
  const std::uint32_t y = (magnitude & 0xFFFFF) << 3 | static_cast<std::uint32_t>(exponent & 1) << 23;
  return coarse(0, 1022 - (exponent >> 1), unit::value_at<unit::ReciprocalRoot>({y}));
}

double rsqrt_f64(double x) {
  const std::uint64_t bits = bits_of(x);
  if (x != x) return std::bit_cast<double>(bits | std::uint64_t{1} << 51);
  if (x == 0) return std::copysign(__builtin_inf(), x);
  if (x < 0) return std::bit_cast<double>(nan64);
  if (x == __builtin_inf()) return 0;
  const bool small = bits >> 52 == 0;
  if (small) x *= 0x1p54;
  const auto coarse_value = std::bit_cast<double>(coarse_reciprocal_root(bits_of(x)));
  const double error = std::fma(x, -(coarse_value * coarse_value), 1.0);
  const double r = std::fma(std::fma(error, 0.375, 0.5), coarse_value * error, coarse_value);
  return small ? r * 0x1p27 : r;
}

}  // namespace ptx::num
