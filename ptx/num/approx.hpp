// The approximations of PTX as Hopper's special function unit makes them, bit for bit: quadratics with integer coefficients, one
// for each segment of the argument's fraction (approx_tables.hpp), evaluated in fixed point and cut. What a function does besides
// is what ptxas writes around the unit's instruction: ordinary arithmetic, rounded to nearest (facts.md: H200).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "ptx/num/approx_tables.hpp"
#include "ptx/num/half.hpp"
#include "ptx/num/rounding.hpp"

namespace ptx::num {

/// x^2 / 2^19 of 17 bits as the unit has it: of each partial product x << bit the places below 2^18 are cut off. With x = upper
/// << 9 | lower the square of the upper eight bits is whole, that of the lower nine is lost, and the product of both, which
/// counts twice, is the sum of the upper parts that the bits of the lower one choose, each cut: the upper 16 bits of a product of
/// 32, which vector instructions have for many arguments at once.
[[gnu::always_inline]] constexpr std::uint16_t unit_square(std::uint16_t lower, std::uint16_t upper) {
  const auto upper_half = [](std::uint16_t a, std::uint16_t b) { return static_cast<std::uint16_t>(std::uint32_t{a} * b >> 16); };
  const auto shifted = static_cast<std::uint16_t>(upper << 7);
  auto sum = static_cast<std::uint16_t>(static_cast<std::uint16_t>(upper * upper) >> 1);
#pragma GCC unroll 7
  for (int bit = 2; bit < 9; ++bit)
    sum = static_cast<std::uint16_t>(sum + upper_half(shifted, static_cast<std::uint16_t>(lower & (1 << bit))));
  return sum;
}
[[gnu::always_inline]] constexpr std::uint16_t unit_square(std::uint32_t x) {
  return unit_square(static_cast<std::uint16_t>(x & 511), static_cast<std::uint16_t>(x >> 9));
}

/// What the unit computes, in steps, so that each of them can be taken for many arguments at once (approximate). An argument
/// becomes a place `y` in a table of segments: the segment's row, and the offset in it, of 17 bits at most; and what its result's
/// exponent or sign comes of.
namespace unit {

struct Place {
  std::uint32_t y = 0;
  std::int32_t aside = 0;
};

/// The f32 with this exponent field, before a carry of the significand, and sign; below the normal numbers a zero. Of a field
/// beyond infinity's the result means nothing, and wraps.
[[gnu::always_inline]] constexpr float assembled(std::uint32_t significand, int field, std::uint32_t sign) {
  const std::uint32_t bits = static_cast<std::uint32_t>(field) * 0x800000u + significand - 0x800000u;
  return std::bit_cast<float>(sign | (static_cast<std::int32_t>(bits) < 0x800000 ? 0 : bits));
}
/// fixed * 2^-places, cut to 24 bits; 0 gives a zero of the sign. `fixed` has 52 bits at most.
[[gnu::always_inline]] constexpr float cut(std::int64_t fixed, int places, std::uint32_t sign) {
  // as a significand, less what its highest bit is worth: exact, and there are vector instructions for it
  const double exact = std::bit_cast<double>(static_cast<std::uint64_t>(fixed) | bits_of(0x1p52)) - 0x1p52;
  const std::uint64_t rebased = (bits_of(exact) >> 29) - (static_cast<std::uint64_t>(1023 - 127 + places) << 23);
  return std::bit_cast<float>(sign | (fixed == 0 ? 0 : static_cast<std::uint32_t>(rebased)));
}
constexpr float infinity = __builtin_inff();
constexpr float canonical_nan = std::bit_cast<float>(nan32);

[[gnu::always_inline]] constexpr std::uint32_t magnitude_of(float x) { return bits_of(x) & 0x7FFFFFFF; }
[[gnu::always_inline]] constexpr std::uint32_t sign_of(float x) { return bits_of(x) & 0x80000000; }
[[gnu::always_inline]] constexpr int exponent_of(float x) { return static_cast<int>(magnitude_of(x) >> 23) - 127; }

/// Of segments of 2^17 places.
struct Segments {
  [[gnu::always_inline]] static constexpr std::uint32_t row(Place p) { return p.y >> 17; }
  [[gnu::always_inline]] static constexpr std::int32_t offset(Place p) { return static_cast<std::int32_t>(p.y & 0x1FFFF); }
  [[gnu::always_inline]] static constexpr std::uint32_t squared(Place p) { return p.y & 0x1FFFF; }
};

struct Reciprocal {
  static constexpr const auto& table = reciprocal_table;
  [[gnu::always_inline]] static constexpr Place place(float x) { return {bits_of(x) & 0x7FFFFF, 0}; }
  [[gnu::always_inline]] static constexpr std::uint32_t row(Place p) { return p.y >> 16; }
  [[gnu::always_inline]] static constexpr std::int32_t offset(Place p) { return static_cast<std::int32_t>(p.y & 0xFFFF); }
  [[gnu::always_inline]] static constexpr std::uint32_t squared(Place p) { return (p.y & 0xFFFF) * 2; }
  [[gnu::always_inline]] static constexpr std::uint32_t value(Place, Quadratic q, std::int32_t offset, std::int32_t square) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>((std::int64_t{q.c0} << 13) + std::int64_t{q.c1} * offset +
                                                                 std::int64_t{q.c2} * square + 0x47E7) >>
                                      15);
  }
  [[gnu::always_inline]] static constexpr float result(float x, Place, std::uint32_t value) {
    const std::uint32_t sign = sign_of(x), magnitude = magnitude_of(x);
    const float r = assembled(value, 253 - static_cast<int>(magnitude >> 23), sign);
    const float large = magnitude < 0x7F800000 ? r : magnitude == 0x7F800000 ? std::bit_cast<float>(sign) : canonical_nan;
    return magnitude < 0x00800000 ? std::bit_cast<float>(sign | 0x7F800000) : large;
  }
};

/// The fraction, and the lowest bit of the exponent above it.
[[gnu::always_inline]] constexpr Place place_of_root(float x) {
  return {(magnitude_of(x) & 0x7FFFFF) | static_cast<std::uint32_t>(exponent_of(x) & 1) << 23, 0};
}
struct ReciprocalRoot : Segments {
  static constexpr const auto& table = reciprocal_root_table;
  [[gnu::always_inline]] static constexpr Place place(float x) { return place_of_root(x); }
  [[gnu::always_inline]] static constexpr std::uint32_t value(Place p, Quadratic q, std::int32_t offset, std::int32_t square) {
    const std::int64_t sum = (std::int64_t{q.c0} << 14) + std::int64_t{q.c1} * offset + std::int64_t{4 * q.c2} * square + 0x7FFF;
    return p.y == 0 ? 0x1000000 : static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum) >> 16);
  }
  [[gnu::always_inline]] static constexpr float result(float x, Place, std::uint32_t value) {
    const std::uint32_t magnitude = magnitude_of(x);
    const float r = assembled(value, 126 - (exponent_of(x) >> 1), 0);
    const float large = bits_of(x) > 0x7F800000 ? canonical_nan : magnitude == 0x7F800000 ? 0.0f : r;
    return magnitude < 0x00800000 ? std::bit_cast<float>(sign_of(x) | 0x7F800000) : large;
  }
};
struct Root : Segments {
  static constexpr const auto& table = root_table;
  [[gnu::always_inline]] static constexpr Place place(float x) { return place_of_root(x); }
  [[gnu::always_inline]] static constexpr std::uint32_t value(Place p, Quadratic q, std::int32_t offset, std::int32_t square) {
    const std::int64_t linear = std::int64_t{q.c1} * offset * (1 + static_cast<std::int64_t>(p.y >> 23));
    const std::int64_t sum = (std::int64_t{q.c0} << 15) + linear + std::int64_t{2 * q.c2} * square + 0x7FFF;
    return p.y == 0 ? 0x800000 : static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum) >> 17);
  }
  [[gnu::always_inline]] static constexpr float result(float x, Place, std::uint32_t value) {
    const std::uint32_t magnitude = magnitude_of(x);
    const float r = assembled(value, 127 + (exponent_of(x) >> 1), 0);
    const float large = bits_of(x) > 0x7F800000 ? canonical_nan : magnitude == 0x7F800000 ? x : r;
    return magnitude < 0x00800000 ? std::bit_cast<float>(sign_of(x)) : large;
  }
};
struct Logarithm : Segments {
  static constexpr const auto& table = logarithm_table;
  [[gnu::always_inline]] static constexpr Place place(float x) { return {bits_of(x) & 0x7FFFFF, 0}; }
  /// In units of 2^-36.
  [[gnu::always_inline]] static constexpr std::int64_t value(Place, Quadratic q, std::int32_t offset, std::int32_t square) {
    const std::int64_t sum = (std::int64_t{q.c0} << 12) + std::int64_t{q.c1} * offset + std::int64_t{2 * q.c2} * square + 0x3345;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) >> 2);
  }
  [[gnu::always_inline]] static constexpr float result(float x, Place, std::int64_t value) {
    const std::uint32_t magnitude = magnitude_of(x);
    const std::int64_t r = value + exponent_of(x) * (std::int64_t{1} << 36);
    const float cut_off = magnitude == 0x3F800000 ? 0.0f : cut(r < 0 ? ~r : r, 36, r < 0 ? 0x80000000 : 0);
    const float large = bits_of(x) > 0x7F800000 ? canonical_nan : magnitude == 0x7F800000 ? infinity : cut_off;
    return magnitude < 0x00800000 ? -infinity : large;
  }
};
struct Power : Segments {
  static constexpr const auto& table = power_table;
  [[gnu::always_inline]] static constexpr Place place(float x) {
    const std::uint32_t magnitude = magnitude_of(x), negative = 0u - (bits_of(x) >> 31);
    const int exponent = exponent_of(x);
    const std::uint32_t significand = (magnitude & 0x7FFFFF) | 0x800000;
    // seven places before the point and 23 behind it
    const std::uint32_t large = significand << (exponent & 7), small = exponent < -24 ? 0 : significand >> (-exponent & 31);
    const std::uint32_t fixed = exponent >= 0 ? large : small, fraction = fixed & 0x7FFFFF;
    // the complement of a negative number; where that is whole, its negative
    const bool whole = fraction == 0;
    const int integer = static_cast<int>((fixed >> 23) ^ negative) + (whole ? static_cast<int>(negative & 1) : 0);
    return {whole ? 0 : fraction ^ (negative & 0x7FFFFF), integer};
  }
  [[gnu::always_inline]] static constexpr std::uint32_t value(Place, Quadratic q, std::int32_t offset, std::int32_t square) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>((std::int64_t{q.c0} << 13) + std::int64_t{q.c1} * offset +
                                                                 std::int64_t{q.c2} * square + 0x77E2) >>
                                      15);
  }
  [[gnu::always_inline]] static constexpr float result(float x, Place p, std::uint32_t value) {
    const std::uint32_t magnitude = magnitude_of(x);
    const float r = assembled(value, p.aside + 127, 0);
    const float beyond = magnitude > 0x7F800000 ? canonical_nan : sign_of(x) != 0 ? 0.0f : infinity;
    return exponent_of(x) >= 7 ? beyond : magnitude < 0x00800000 ? 1.0f : r;
  }
};
/// With `quarter` 0 the sine, with 1 the cosine; `aside` holds the quarters from which the fraction counts.
template <std::uint32_t quarter>
struct Sine : Segments {
  static constexpr const auto& table = sine_table;
  [[gnu::always_inline]] static constexpr Place place(float x) {
    const std::uint32_t magnitude = magnitude_of(x);
    // turns, rounded to zero: x times 1 / (2 pi), 0x3E22F983
    const std::uint64_t whole = std::uint64_t{(magnitude & 0x7FFFFF) | 0x800000} * 0xA2F983;
    const int more = static_cast<int>(whole >> 47);
    const std::uint64_t turns = whole >> (23 + more);
    // a quarter of a turn has 23 bits
    const int up = exponent_of(x) - 3 - 23 + 25 + more;
    const std::uint64_t left = up < 40 ? turns << (up & 63) : 0, right = up > -64 ? turns >> (-up & 63) : 0;
    const auto at = static_cast<std::uint32_t>((up >= 0 ? left : right) & 0x1FFFFFF) + (quarter << 23);
    const std::uint32_t fraction = (at & 0x7FFFFF) ^ ((at >> 23 & 1) != 0 ? 0x7FFFFF : 0);
    return {magnitude < 0x00800000 ? 0x7FFFFF : fraction, static_cast<std::int32_t>(at >> 23)};
  }
  /// Of a quarter of a turn, in units of 2^-37.
  [[gnu::always_inline]] static constexpr std::int64_t value(Place, Quadratic q, std::int32_t offset, std::int32_t square) {
    return (std::int64_t{q.c0} << 11) + std::int64_t{q.c1} * offset + std::int64_t{q.c2} * square;
  }
  [[gnu::always_inline]] static constexpr float result(float x, Place p, std::int64_t value) {
    const std::uint32_t magnitude = magnitude_of(x), own = quarter == 0 ? sign_of(x) : 0;
    const bool zero = magnitude < 0x00800000;
    const float r = cut(value, 37, zero ? 0 : own ^ (static_cast<std::uint32_t>(p.aside) >> 1 & 1) << 31);
    const float finite = zero && quarter == 0 ? std::bit_cast<float>(own) : r;
    return magnitude >= 0x7F800000 ? canonical_nan : finite;
  }
};
/// tanh.approx.f32, which takes subnormals: x itself below 2^-8, 1 from 8 on, and between them of each octave as many bits as its
/// segments, of 17 bits each, have. `aside` is the octave.
struct Tangent {
  static constexpr const auto& table = tangent_table;
  static constexpr std::uint32_t dropped[] = {6, 6, 6, 5, 5, 4, 4, 4, 3, 2, 3, 0, 0, 0, 0, 0};  // bits of the fraction
  static constexpr std::uint32_t first[] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43, 0, 0, 0, 0, 0};
  [[gnu::always_inline]] static constexpr Place place(float x) {
    const int octave = exponent_of(x) + 8;
    return {(magnitude_of(x) & 0x7FFFFF) >> dropped[octave & 15], octave};
  }
  [[gnu::always_inline]] static constexpr std::uint32_t row(Place p) { return (first[p.aside & 15] + (p.y >> 17)) & 63; }
  [[gnu::always_inline]] static constexpr std::int32_t offset(Place p) { return static_cast<std::int32_t>(p.y & 0x1FFFF); }
  [[gnu::always_inline]] static constexpr std::uint32_t squared(Place p) { return p.y & 0x1FFFF; }
  [[gnu::always_inline]] static constexpr std::int64_t value(Place, Quadratic q, std::int32_t offset, std::int32_t square) {
    return (std::int64_t{q.c0} << 15) + std::int64_t{q.c1} * offset + std::int64_t{q.c2} * square;
  }
  [[gnu::always_inline]] static constexpr float result(float x, Place p, std::int64_t value) {
    const std::uint32_t magnitude = magnitude_of(x);
    // a last place is that of the argument, of results from a half on theirs
    const float r = cut(value, 15 + 23 - (p.aside < 7 ? p.aside - 8 : -1), sign_of(x));
    const float one = std::bit_cast<float>(sign_of(x) | 0x3F800000);
    const float large = magnitude > 0x7F800000 ? canonical_nan : magnitude >= 0x41000000 ? one : r;
    return magnitude < 0x3B800000 ? x : large;
  }
};

template <class Function>
[[gnu::always_inline]] constexpr auto value_at(Place p) {
  return Function::value(p, Function::table[Function::row(p)], Function::offset(p), unit_square(Function::squared(p)));
}

}  // namespace unit

// ---- the instructions: a function of the unit, of an argument made `before` it, and what is done to its result `after` it

/// As the unit does it: subnormals are zeros (.approx.ftz.f32), but for tanh.
template <class Function>
struct OfUnit {
  using Unit = Function;
  [[gnu::always_inline]] static constexpr float before(float x) { return x; }
  [[gnu::always_inline]] static constexpr float after(float r, float) { return r; }
};
using RcpFtz = OfUnit<unit::Reciprocal>;
using RsqrtFtz = OfUnit<unit::ReciprocalRoot>;
using SqrtFtz = OfUnit<unit::Root>;
using Lg2Ftz = OfUnit<unit::Logarithm>;
using Ex2Ftz = OfUnit<unit::Power>;
using Sin = OfUnit<unit::Sine<0>>;
using Cos = OfUnit<unit::Sine<1>>;
using Tanh = OfUnit<unit::Tangent>;

struct Rcp {
  using Unit = unit::Reciprocal;
  [[gnu::always_inline]] static constexpr float scale(float x) {
    const float size = __builtin_fabsf(x);
    return size < 0x1p-126f ? 0x1p24f : size > 0x1p126f ? 0.25f : 1.0f;
  }
  [[gnu::always_inline]] static constexpr float before(float x) { return scale(x) * x; }
  [[gnu::always_inline]] static constexpr float after(float r, float x) { return canonical(scale(x) * r); }
};
[[gnu::always_inline]] constexpr float scaled_up(float x) { return __builtin_fabsf(x) < 0x1p-126f ? x * 0x1p24f : x; }
struct Rsqrt {
  using Unit = unit::ReciprocalRoot;
  [[gnu::always_inline]] static constexpr float before(float x) { return scaled_up(x); }
  [[gnu::always_inline]] static constexpr float after(float r, float x) {
    return __builtin_fabsf(x) < 0x1p-126f ? r * 4096.0f : r;
  }
};
struct Sqrt {
  using Unit = unit::Root;
  [[gnu::always_inline]] static constexpr float before(float x) { return scaled_up(x); }
  [[gnu::always_inline]] static constexpr float after(float r, float x) {
    return __builtin_fabsf(x) < 0x1p-126f ? r * 0x1p-12f : r;
  }
};
struct Lg2 {
  using Unit = unit::Logarithm;
  [[gnu::always_inline]] static constexpr float before(float x) { return scaled_up(x); }
  [[gnu::always_inline]] static constexpr float after(float r, float x) {
    return __builtin_fabsf(x) < 0x1p-126f ? canonical(r - 24.0f) : r;
  }
};
struct Ex2 {
  using Unit = unit::Power;
  [[gnu::always_inline]] static constexpr float before(float x) { return x < -126.0f ? x * 0.5f : x; }
  [[gnu::always_inline]] static constexpr float after(float r, float x) { return x < -126.0f ? r * r : r; }
};
/// `full`: div.full, which also takes divisors above 2^126.
template <bool full>
struct Div {
  using Unit = unit::Reciprocal;
  static constexpr bool flushes = false;
  [[gnu::always_inline]] static constexpr float scale(float b) {
    const float size = __builtin_fabsf(b);
    return size < 0x1p-126f ? 0x1p24f : full && size > 0x1p126f ? 0.25f : 1.0f;
  }
  [[gnu::always_inline]] static constexpr float before(float, float b) { return scale(b) * b; }
  [[gnu::always_inline]] static constexpr float after(float r, float a, float b) { return canonical(r * (scale(b) * a)); }
};
template <bool full>
struct DivFtz {
  using Unit = unit::Reciprocal;
  static constexpr bool flushes = true;
  [[gnu::always_inline]] static constexpr bool large(float b) { return full && __builtin_fabsf(b) > 0x1p126f; }
  [[gnu::always_inline]] static constexpr float before(float, float b) { return large(b) ? b * 0.25f : b; }
  [[gnu::always_inline]] static constexpr float after(float reciprocal, float a, float b) {
    const float x = flush(large(b) ? flush(a) * 0.25f : flush(a));
    const double exact = static_cast<double>(reciprocal) * static_cast<double>(x);
    const auto r = static_cast<float>(exact);
    const bool vanishes = __builtin_fabsf(r) == 0x1p-126f && flushes_at_edge(exact, Rounding::rn);
    return canonical(vanishes ? __builtin_copysignf(0.0f, r) : flush(r));
  }
};

/// One result.
template <class Instruction, class... Operand>
[[gnu::always_inline]] constexpr float approximate(Operand... operand) {
  using Unit = typename Instruction::Unit;
  const float x = Instruction::before(operand...);
  const unit::Place place = Unit::place(x);
  return Instruction::after(Unit::result(x, place, unit::value_at<Unit>(place)), operand...);
}
/// Many: result[i] of operand[i]…; each step for all, in loops over values of one width, which compilers make vector instructions
/// of.
template <class Instruction, std::size_t count, class... Operands>
[[gnu::always_inline]] inline void approximate_all(float (&result)[count], const Operands&... operands) {
  using Unit = typename Instruction::Unit;
  using Value = decltype(unit::value_at<Unit>({}));
  float x[count];
  std::uint32_t y[count], squared[count];
  std::int32_t aside[count], offset[count], c0[count], c1[count], c2[count];
  std::uint16_t lower[count], upper[count], square[count];
  Value value[count];
  const auto each = [](auto step) {
    for (std::size_t i = 0; i < count; ++i) step(i);
  };
  each([&](std::size_t i) {
    x[i] = Instruction::before(operands[i]...);
    const unit::Place place = Unit::place(x[i]);
    y[i] = place.y, aside[i] = place.aside;
    offset[i] = Unit::offset(place), squared[i] = Unit::squared(place);
  });
  each([&](std::size_t i) { lower[i] = static_cast<std::uint16_t>(squared[i] & 511); });
  each([&](std::size_t i) { upper[i] = static_cast<std::uint16_t>(squared[i] >> 9); });
  each([&](std::size_t i) { square[i] = unit_square(lower[i], upper[i]); });
  each([&](std::size_t i) {
    const Quadratic& q = Unit::table[Unit::row({y[i], aside[i]})];
    c0[i] = q.c0, c1[i] = q.c1, c2[i] = q.c2;
  });
  each([&](std::size_t i) { value[i] = Unit::value({y[i], aside[i]}, {c0[i], c1[i], c2[i]}, offset[i], square[i]); });
  each([&](std::size_t i) { result[i] = Instruction::after(Unit::result(x[i], {y[i], aside[i]}, value[i]), operands[i]...); });
}

// ---- 32 arguments at once, on hosts with AVX-512 (and its VBMI and VNNI): those of a mask's lanes, as the bits of f32

bool host_has_sixteens();
/// False, and no result, when an argument is not ordinary: one for which an instruction does something besides the unit's
/// function (zeros, subnormals, infinities, NaN, negative arguments of roots, results that are not normal; ex2 takes all but NaN
/// and what subnormals are made of).
template <class Unit>
bool approximate_ordinary(std::uint32_t mask, const std::uint32_t* x, std::uint32_t* result);
/// Div and DivFtz, of both kinds: the same when a divisor is not ordinary.
template <bool ftz>
bool divide_ordinary(std::uint32_t mask, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* result);

template <class Unit>
inline constexpr bool has_ordinary = false;
template <>
inline constexpr bool has_ordinary<unit::Reciprocal> = true;
template <>
inline constexpr bool has_ordinary<unit::ReciprocalRoot> = true;
template <>
inline constexpr bool has_ordinary<unit::Root> = true;
template <>
inline constexpr bool has_ordinary<unit::Power> = true;

// ---- halves and f64

/// ex2.approx of an f16, or of a bf16 with .ftz: the result in f32, cut.
[[gnu::always_inline]] constexpr std::uint32_t ex2_half(std::uint32_t a, bool bf16) {
  const auto half = static_cast<std::uint16_t>(a);
  const float r = approximate<Ex2Ftz>(bf16 ? from_bf16(half) : from_f16(half));
  const bool beyond = !bf16 && r >= 65536.0f;
  return narrowed(beyond ? unit::infinity : r, bf16 ? bf16_format : f16_format, {.mode = Rounding::rz});
}
/// tanh.approx of an f16 or bf16: the result in f32, cut.
[[gnu::always_inline]] constexpr std::uint32_t tanh_half(std::uint32_t a, bool bf16) {
  const auto half = static_cast<std::uint16_t>(a);
  return narrowed(approximate<Tanh>(bf16 ? from_bf16(half) : from_f16(half)), bf16 ? bf16_format : f16_format,
                  {.mode = Rounding::rz});
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: of the upper word of `a`, in the upper word of the result.
std::uint64_t coarse_reciprocal(std::uint64_t a);
std::uint64_t coarse_reciprocal_root(std::uint64_t a);

/// rsqrt.approx.f64: two steps of Newton's method at once, from the coarse value.
double rsqrt_f64(double x);

}  // namespace ptx::num
