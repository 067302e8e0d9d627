#include "ptx/num/approx.hpp"

#include <cmath>

#include "ptx/num/half.hpp"

namespace ptx::num {

std::uint32_t ex2_half(std::uint32_t a, bool bf16) {
  if (bf16) a = flushed_half(a, true);
  const Format& format = bf16 ? bf16_format : f16_format;
  const double x = widened(static_cast<std::uint16_t>(a), bf16);
  auto r = static_cast<float>(std::exp2(x));
  if (bf16) r = flush(r);
  const bool beyond = r >= (bf16 ? __builtin_inff() : 65536.0f);
  return narrowed(beyond ? __builtin_inff() : r, format, {.mode = Rounding::rz});
}

std::uint32_t tanh_half(std::uint32_t a, bool bf16) {
  a &= 0xFFFF;
  const Format& format = bf16 ? bf16_format : f16_format;
  const double x = widened(static_cast<std::uint16_t>(a), bf16);
  if (std::fabs(x) <= 0x1p-8) return a;
  const double r = std::fabs(x) >= 8 ? std::copysign(1.0, x) : std::tanh(x);
  return narrowed(r, format, {.mode = Rounding::rz});
}

namespace {

// The result's fraction in 24 bits, cut to 20; what is not a number above 0 is decided before.
std::uint64_t coarse(double r) {
  const double rounded = static_cast<double>(static_cast<float>(std::frexp(r, nullptr)));
  int exponent = 0;
  std::frexp(r, &exponent);
  const double value = std::ldexp(rounded, exponent);
  return (value >= 0x1p-1022 ? bits_of(value) : 0) & 0xFFFF'FFFF'0000'0000;
}
constexpr std::uint64_t coarse_nan = 0x7FFF'FFFF'0000'0000, infinity64 = 0x7FF0'0000'0000'0000;

}  // namespace

std::uint64_t coarse_reciprocal(std::uint64_t a) {
  a &= 0xFFFF'FFFF'0000'0000;
  const std::uint64_t sign = a & std::uint64_t{1} << 63, magnitude = a ^ sign;
  if (magnitude > infinity64) return coarse_nan;
  if (magnitude >> 52 == 0) return sign | infinity64;
  if (magnitude == infinity64) return sign;
  return sign | coarse(1.0 / std::bit_cast<double>(magnitude));
}
std::uint64_t coarse_reciprocal_root(std::uint64_t a) {
  a &= 0xFFFF'FFFF'0000'0000;
  const std::uint64_t sign = a & std::uint64_t{1} << 63, magnitude = a ^ sign;
  if (magnitude > infinity64) return coarse_nan;
  if (magnitude >> 52 == 0) return sign | infinity64;
  if (sign != 0) return coarse_nan;
  if (magnitude == infinity64) return 0;
  return coarse(1.0 / std::sqrt(std::bit_cast<double>(magnitude)));
}

}  // namespace ptx::num
