// The approximations of PTX as Hopper's special function unit makes them, bit for bit: quadratics with integer coefficients, one
// for each segment of the argument's fraction (approx_tables.hpp), evaluated in fixed point and cut. What a function does besides
// is what ptxas writes around the unit's instruction: ordinary arithmetic, rounded to nearest (facts.md: H200).
#pragma once

#include <bit>
#include <cstdint>

#include "ptx/num/approx_tables.hpp"
#include "ptx/num/half.hpp"
#include "ptx/num/rounding.hpp"

namespace ptx::num {

/// x^2 / 2^19 of 17 bits as the unit has it: each partial product cut.
[[gnu::always_inline]] constexpr std::uint32_t unit_square(std::uint32_t x) {
  std::uint32_t sum = 0;
  for (unsigned bit = 1; bit < 17; ++bit) sum += (x >> (18 - bit)) & (0 - (x >> bit & 1));
  return sum >> 1;
}

/// What the unit computes of fractions: significands of 24 bits, 2^24 included, or numbers in fixed point.
namespace unit {

[[gnu::always_inline]] constexpr std::uint32_t reciprocal(std::uint32_t fraction) {
  const Quadratic& q = reciprocal_table[fraction >> 16];
  const std::uint32_t l = fraction & 0xFFFF;
  const std::int64_t sum = (std::int64_t{q.c0} << 13) + std::int64_t{q.c1} * l + std::int64_t{q.c2} * unit_square(2 * l) + 0x47E7;
  return static_cast<std::uint32_t>(sum >> 15);
}
/// `y`: the fraction, and the lowest bit of the exponent above it.
[[gnu::always_inline]] constexpr std::uint32_t reciprocal_root(std::uint32_t y) {
  const Quadratic& q = reciprocal_root_table[y >> 17];
  const std::uint32_t l = y & 0x1FFFF;
  const std::int64_t sum = (std::int64_t{q.c0} << 14) + std::int64_t{q.c1} * l + std::int64_t{4 * q.c2} * unit_square(l) + 0x7FFF;
  return y == 0 ? 0x1000000 : static_cast<std::uint32_t>(sum >> 16);
}
[[gnu::always_inline]] constexpr std::uint32_t root(std::uint32_t y) {
  const Quadratic& q = root_table[y >> 17];
  const std::uint32_t l = y & 0x1FFFF;
  const std::int64_t linear = (std::int64_t{q.c1} * l) << (y >> 23);
  const std::int64_t sum = (std::int64_t{q.c0} << 15) + linear + std::int64_t{2 * q.c2} * unit_square(l) + 0x7FFF;
  return y == 0 ? 0x800000 : static_cast<std::uint32_t>(sum >> 17);
}
[[gnu::always_inline]] constexpr std::uint32_t power(std::uint32_t fraction) {
  const Quadratic& q = power_table[fraction >> 17];
  const std::uint32_t l = fraction & 0x1FFFF;
  const std::int64_t sum = (std::int64_t{q.c0} << 13) + std::int64_t{q.c1} * l + std::int64_t{q.c2} * unit_square(l) + 0x77E2;
  return static_cast<std::uint32_t>(sum >> 15);
}
/// In units of 2^-36.
[[gnu::always_inline]] constexpr std::int64_t logarithm(std::uint32_t fraction) {
  const Quadratic& q = logarithm_table[fraction >> 17];
  const std::uint32_t l = fraction & 0x1FFFF;
  const std::int64_t sum = (std::int64_t{q.c0} << 12) + std::int64_t{q.c1} * l + std::int64_t{2 * q.c2} * unit_square(l) + 0x3345;
  return sum >> 2;
}
/// Of a quarter of a turn, in units of 2^-37.
[[gnu::always_inline]] constexpr std::int64_t sine(std::uint32_t fraction) {
  const Quadratic& q = sine_table[fraction >> 17];
  const std::uint32_t l = fraction & 0x1FFFF;
  return (std::int64_t{q.c0} << 11) + std::int64_t{q.c1} * l + std::int64_t{q.c2} * unit_square(l);
}

/// The f32 with this exponent field, before a carry of the significand, and sign; below the normal numbers a zero. Of a field
/// beyond infinity's the result means nothing, and wraps.
[[gnu::always_inline]] constexpr float assembled(std::uint32_t significand, int field, std::uint32_t sign) {
  const std::uint32_t bits = static_cast<std::uint32_t>(field) * 0x800000u + significand - 0x800000u;
  return std::bit_cast<float>(sign | (static_cast<std::int32_t>(bits) < 0x800000 ? 0 : bits));
}
/// fixed * 2^-places, cut to 24 bits; 0 gives a zero of the sign. `fixed` has 52 bits at most.
[[gnu::always_inline]] constexpr float cut(std::int64_t fixed, int places, std::uint32_t sign) {
  const std::uint64_t wide = bits_of(static_cast<double>(fixed));  // exact
  const std::uint64_t rebased = (wide >> 29) - (static_cast<std::uint64_t>(1023 - 127 + places) << 23);
  return std::bit_cast<float>(sign | (fixed == 0 ? 0 : static_cast<std::uint32_t>(rebased)));
}
constexpr float infinity = __builtin_inff();
constexpr float canonical_nan = std::bit_cast<float>(nan32);

}  // namespace unit

// ---- as the unit does it: subnormals are zeros (.approx.ftz.f32)

[[gnu::always_inline]] constexpr float rcp_ftz(float x) {
  const std::uint32_t bits = bits_of(x), sign = bits & 0x80000000, magnitude = bits ^ sign;
  const float r = unit::assembled(unit::reciprocal(magnitude & 0x7FFFFF), 253 - static_cast<int>(magnitude >> 23), sign);
  if (magnitude > 0x7F800000) return unit::canonical_nan;
  if (magnitude < 0x00800000) return std::bit_cast<float>(sign | 0x7F800000);
  return magnitude == 0x7F800000 ? std::bit_cast<float>(sign) : r;
}
[[gnu::always_inline]] constexpr float rsqrt_ftz(float x) {
  const std::uint32_t bits = bits_of(x), sign = bits & 0x80000000, magnitude = bits ^ sign;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const std::uint32_t y = (magnitude & 0x7FFFFF) | static_cast<std::uint32_t>(exponent & 1) << 23;
  const float r = unit::assembled(unit::reciprocal_root(y), 126 - (exponent >> 1), 0);
  if (magnitude < 0x00800000) return std::bit_cast<float>(sign | 0x7F800000);
  if (magnitude > 0x7F800000 || sign != 0) return unit::canonical_nan;
  return magnitude == 0x7F800000 ? 0.0f : r;
}
[[gnu::always_inline]] constexpr float sqrt_ftz(float x) {
  const std::uint32_t bits = bits_of(x), sign = bits & 0x80000000, magnitude = bits ^ sign;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const std::uint32_t y = (magnitude & 0x7FFFFF) | static_cast<std::uint32_t>(exponent & 1) << 23;
  const float r = unit::assembled(unit::root(y), 127 + (exponent >> 1), 0);
  if (magnitude < 0x00800000) return std::bit_cast<float>(sign);
  if (magnitude > 0x7F800000 || sign != 0) return unit::canonical_nan;
  return magnitude == 0x7F800000 ? x : r;
}
[[gnu::always_inline]] constexpr float lg2_ftz(float x) {
  const std::uint32_t bits = bits_of(x), sign = bits & 0x80000000, magnitude = bits ^ sign;
  const std::int64_t whole = static_cast<std::int64_t>(magnitude >> 23) - 127;
  const std::int64_t r = unit::logarithm(magnitude & 0x7FFFFF) + whole * (std::int64_t{1} << 36);
  const float result = magnitude == 0x3F800000 ? 0.0f : unit::cut(r < 0 ? ~r : r, 36, r < 0 ? 0x80000000 : 0);
  if (magnitude < 0x00800000) return -unit::infinity;
  if (magnitude > 0x7F800000 || sign != 0) return unit::canonical_nan;
  return magnitude == 0x7F800000 ? unit::infinity : result;
}
[[gnu::always_inline]] constexpr float ex2_ftz(float x) {
  const std::uint32_t bits = bits_of(x), magnitude = bits & 0x7FFFFFFF;
  const bool negative = bits >> 31 != 0;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const std::uint32_t significand = (magnitude & 0x7FFFFF) | 0x800000;
  // seven places before the point and 23 behind it
  const std::uint32_t fixed = exponent >= 0    ? significand << (exponent & 7)
                              : exponent < -24 ? 0
                                               : significand >> (-exponent & 31);
  std::uint32_t fraction = fixed & 0x7FFFFF;
  int whole = static_cast<int>(fixed >> 23);
  if (negative) {
    whole = fraction == 0 ? -whole : -whole - 1;
    fraction = fraction == 0 ? 0 : fraction ^ 0x7FFFFF;
  }
  const float r = unit::assembled(unit::power(fraction), whole + 127, 0);
  if (magnitude > 0x7F800000) return unit::canonical_nan;
  if (exponent >= 7) return negative ? 0.0f : unit::infinity;
  return magnitude < 0x00800000 ? 1.0f : r;
}
/// With `quarter` 0 the sine, with 1 the cosine.
[[gnu::always_inline]] constexpr float sine_of(float x, std::uint32_t quarter) {
  const std::uint32_t bits = bits_of(x), magnitude = bits & 0x7FFFFFFF;
  // turns, rounded to zero: x times 1 / (2 pi), 0x3E22F983
  const std::uint64_t whole = std::uint64_t{(magnitude & 0x7FFFFF) | 0x800000} * 0xA2F983;
  const int more = static_cast<int>(whole >> 47);
  const std::uint64_t turns = whole >> (23 + more);
  // a quarter of a turn has 23 bits
  const int up = static_cast<int>(magnitude >> 23) - 127 - 3 - 23 + 25 + more;
  const std::uint64_t at = up >= 0 ? (up < 40 ? turns << (up & 63) : 0) : up > -64 ? turns >> (-up & 63) : 0;
  const auto place = static_cast<std::uint32_t>(at & 0x1FFFFFF) + (quarter << 23);
  std::uint32_t fraction = place & 0x7FFFFF;
  if ((place >> 23 & 1) != 0) fraction ^= 0x7FFFFF;
  const std::uint32_t sign = (quarter == 0 ? bits & 0x80000000 : 0) ^ ((place >> 24 & 1) << 31);
  if (magnitude >= 0x7F800000) return unit::canonical_nan;
  if (magnitude < 0x00800000)
    return quarter == 0 ? std::bit_cast<float>(bits & 0x80000000) : unit::cut(unit::sine(0x7FFFFF), 37, 0);
  return unit::cut(unit::sine(fraction), 37, sign);
}

/// tanh.approx.f32, which takes subnormals: x itself below 2^-8, 1 from 8 on, and between them of each octave as many bits as its
/// segments, of 17 bits each, have.
[[gnu::always_inline]] constexpr float tanh_approx(float x) {
  constexpr std::uint8_t dropped[] = {6, 6, 6, 5, 5, 4, 4, 4, 3, 2, 3, 0, 0, 0, 0, 0};  // bits of the fraction
  constexpr std::uint8_t first[] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43, 0, 0, 0, 0, 0};
  const std::uint32_t bits = bits_of(x), sign = bits & 0x80000000, magnitude = bits ^ sign;
  const int octave = static_cast<int>(magnitude >> 23) - (127 - 8);
  const auto place = static_cast<std::size_t>(octave & 15);
  const std::uint32_t y = (magnitude & 0x7FFFFF) >> dropped[place], l = y & 0x1FFFF;
  const Quadratic& q = tangent_table[(first[place] + (y >> 17)) & 63];
  const std::int64_t fixed = (std::int64_t{q.c0} << 15) + std::int64_t{q.c1} * l + std::int64_t{q.c2} * unit_square(l);
  // a last place is that of the argument, of results from a half on theirs
  const float r = unit::cut(fixed, 15 + 23 - (octave < 7 ? octave - 8 : -1), sign);
  if (magnitude > 0x7F800000) return unit::canonical_nan;
  if (magnitude < 0x3B800000) return x;
  return magnitude >= 0x41000000 ? std::bit_cast<float>(sign | 0x3F800000) : r;
}

// ---- with subnormals, around it

[[gnu::always_inline]] constexpr float rcp_approx(float x) {
  const float size = __builtin_fabsf(x);
  const float k = size < 0x1p-126f ? 0x1p24f : size > 0x1p126f ? 0.25f : 1.0f;
  return canonical(k * rcp_ftz(k * x));
}
[[gnu::always_inline]] constexpr float rsqrt_approx(float x) {
  const bool small = __builtin_fabsf(x) < 0x1p-126f;
  const float r = rsqrt_ftz(small ? x * 0x1p24f : x);
  return small ? r * 4096.0f : r;
}
[[gnu::always_inline]] constexpr float sqrt_approx(float x) {
  const bool small = __builtin_fabsf(x) < 0x1p-126f;
  const float r = sqrt_ftz(small ? x * 0x1p24f : x);
  return small ? r * 0x1p-12f : r;
}
[[gnu::always_inline]] constexpr float lg2_approx(float x) {
  const bool small = __builtin_fabsf(x) < 0x1p-126f;
  const float r = lg2_ftz(small ? x * 0x1p24f : x);
  return small ? canonical(r - 24.0f) : r;
}
[[gnu::always_inline]] constexpr float ex2_approx(float x) {
  const bool small = x < -126.0f;
  const float r = ex2_ftz(small ? x * 0.5f : x);
  return small ? r * r : r;
}
/// `full`: div.full, which also takes divisors above 2^126.
[[gnu::always_inline]] constexpr float div_approx(float a, float b, bool full) {
  const float size = __builtin_fabsf(b);
  const float k = size < 0x1p-126f ? 0x1p24f : full && size > 0x1p126f ? 0.25f : 1.0f;
  return canonical(rcp_ftz(k * b) * (k * a));
}
[[gnu::always_inline]] constexpr float div_approx_ftz(float a, float b, bool full) {
  const bool large = full && __builtin_fabsf(b) > 0x1p126f;
  const float x = flush(large ? flush(a) * 0.25f : flush(a));
  const double exact = static_cast<double>(rcp_ftz(large ? b * 0.25f : b)) * static_cast<double>(x);
  const auto r = static_cast<float>(exact);
  const bool vanishes = __builtin_fabsf(r) == 0x1p-126f && flushes_at_edge(exact, Rounding::rn);
  return canonical(vanishes ? __builtin_copysignf(0.0f, r) : flush(r));
}

// ---- halves and f64

/// ex2.approx of an f16, or of a bf16 with .ftz: the result in f32, cut.
[[gnu::always_inline]] constexpr std::uint32_t ex2_half(std::uint32_t a, bool bf16) {
  const auto half = static_cast<std::uint16_t>(a);
  const float r = ex2_ftz(bf16 ? from_bf16(half) : from_f16(half));
  const bool beyond = !bf16 && r >= 65536.0f;
  return narrowed(beyond ? unit::infinity : r, bf16 ? bf16_format : f16_format, {.mode = Rounding::rz});
}
/// tanh.approx of an f16 or bf16: the result in f32, cut.
[[gnu::always_inline]] constexpr std::uint32_t tanh_half(std::uint32_t a, bool bf16) {
  const auto half = static_cast<std::uint16_t>(a);
  return narrowed(tanh_approx(bf16 ? from_bf16(half) : from_f16(half)), bf16 ? bf16_format : f16_format, {.mode = Rounding::rz});
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: of the upper word of `a`, in the upper word of the result.
std::uint64_t coarse_reciprocal(std::uint64_t a);
std::uint64_t coarse_reciprocal_root(std::uint64_t a);

/// rsqrt.approx.f64: two steps of Newton's method at once, from the coarse value.
double rsqrt_f64(double x);

}  // namespace ptx::num
