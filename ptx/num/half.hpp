// Arithmetic of f16 and bf16, one rounding, by way of f64.
#pragma once

#include <cstdint>

#include "ptx/num/convert.hpp"
#include "ptx/num/format.hpp"

namespace ptx::num {

/// a + b in f64; where that is not exact, the neighbour of the sum whose last bit is odd. Rounding it to 51 bits or fewer is then
/// rounding the exact sum: it lies on the same side of every number with fewer bits, and on none of them. For operands whose
/// sum neither overflows nor is subnormal.
[[gnu::always_inline]] inline double odd_sum(double a, double b) {
  const double s = a + b;
  const double from_b = s - a;
  const double error = (a - (s - from_b)) + (b - from_b);  // exact; NaN with infinities
  const std::uint64_t bits = bits_of(s);
  const bool moves = (error < 0 || error > 0) && (bits & 1) == 0;
  const std::uint64_t step = (error > 0) == (s > 0) ? 1 : ~std::uint64_t{0};
  return std::bit_cast<double>(bits + (moves ? step : 0));
}

/// What a half instruction does around its one rounding.
struct HalfWays {
  bool bf16 = false, ftz = false, sat = false, relu = false, oob = false;
};

/// The NaN that loads of tensors fill in beyond their bounds; with either sign it is one for fma.oob, in a and b (facts.md:
/// H200).
inline constexpr std::uint32_t oob_nan = 0x7FF7;

[[gnu::always_inline]] constexpr std::uint32_t flushed_half(std::uint32_t half, bool bf16) {
  return (half & (bf16 ? 0x7F80u : 0x7C00u)) == 0 ? half & 0x8000u : half;
}

/// a * b + c of halves. The product of two is exact in f64, and the sum odd.
[[gnu::always_inline]] inline std::uint32_t half_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c, HalfWays ways) {
  a &= 0xFFFF, b &= 0xFFFF, c &= 0xFFFF;
  const bool outside = ways.oob && ((a & 0x7FFF) == oob_nan || (b & 0x7FFF) == oob_nan);
  if (ways.ftz) a = flushed_half(a, ways.bf16), b = flushed_half(b, ways.bf16), c = flushed_half(c, ways.bf16);
  const auto wide = [&](std::uint32_t half) {
    const auto bits = static_cast<std::uint16_t>(half);
    return static_cast<double>(ways.bf16 ? from_bf16(bits) : from_f16(bits));
  };
  double r = odd_sum(wide(a) * wide(b), wide(c));
  // tiny after rounding to 11 bits as if there were smaller exponents, as f32 has it
  if (ways.ftz && __builtin_fabs(r) < 0x1p-14 - 0x1p-26) r = __builtin_copysign(0.0, r);
  if (ways.sat) r = saturate(r);
  const std::uint32_t result = narrowed(r, ways.bf16 ? bf16_format : f16_format, {.mode = Rounding::rn, .relu = ways.relu});
  return outside ? 0 : result;
}

/// How min and max choose: NaN wins or loses; magnitudes are compared, and get the product of the signs.
struct ExtremeWays {
  bool larger = false, nan_wins = false, xorsign = false, abs = false, ftz = false;
};

/// The smaller or larger of two patterns of a format with `infinity` and `sign` as they say; -0 is below +0.
template <class Bits>
[[gnu::always_inline]] constexpr Bits extreme(Bits a, Bits b, Bits sign, Bits infinity, Bits nan, ExtremeWays ways) {
  using Signed = std::make_signed_t<Bits>;
  const Bits product = (a ^ b) & sign;
  if (ways.abs || ways.xorsign) a &= sign - 1, b &= sign - 1;
  const bool a_nan = (a & (sign - 1)) > infinity, b_nan = (b & (sign - 1)) > infinity;
  // patterns as signed numbers in the order of their values; the sign bit of a half is moved to the top
  constexpr auto place = [](Bits pattern, Bits sign_bit) {
    const Bits magnitude = pattern & (sign_bit - 1);
    return (pattern & sign_bit) != 0 ? static_cast<Signed>(~magnitude) : static_cast<Signed>(magnitude);
  };
  const Signed at_a = place(a, sign), at_b = place(b, sign);
  Bits r = (ways.larger ? at_a > at_b : at_a < at_b) ? a : b;
  r = a_nan ? b : b_nan ? a : r;
  if (ways.xorsign) r |= product;
  const bool is_nan = (a_nan && b_nan) || (ways.nan_wins && (a_nan || b_nan));
  return is_nan ? nan : r;
}
[[gnu::always_inline]] constexpr std::uint32_t half_extreme(std::uint32_t a, std::uint32_t b, bool bf16, ExtremeWays ways) {
  a &= 0xFFFF, b &= 0xFFFF;
  if (ways.ftz) a = flushed_half(a, bf16), b = flushed_half(b, bf16);
  return extreme<std::uint32_t>(a, b, 0x8000, bf16 ? 0x7F80 : 0x7C00, nan16, ways);
}

}  // namespace ptx::num
