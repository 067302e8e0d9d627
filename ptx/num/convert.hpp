// Conversions between number formats, exact in every rounding mode (manual: "cvt").
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ptx/num/rounding.hpp"

namespace ptx::num {

/// True when cutting `rest` of 2 * `half` off an odd or even number of this sign moves it away from zero.
[[gnu::always_inline]] constexpr bool rounds_up(Rounding mode, bool negative, bool odd, std::uint64_t rest, std::uint64_t half) {
  switch (mode) {
    case Rounding::rn:
      return rest > half || (rest == half && odd);
    case Rounding::rz:
      return false;
    case Rounding::rm:
      return negative && rest != 0;
    case Rounding::rp:
      return !negative && rest != 0;
  }
  return false;
}

/// What a NaN becomes (manual: "cvt"): 0 where neither side is 64 bits wide, else the pattern with the top bit alone.
template <class Integer, class Float>
constexpr Integer nan_as() {
  if constexpr (sizeof(Float) == 8 || sizeof(Integer) == 8)
    return static_cast<Integer>(std::make_unsigned_t<Integer>{1} << (8 * sizeof(Integer) - 1));
  else
    return 0;
}

/// A whole number as an integer; out of range, the nearest the type has.
template <class Integer, class Float>
[[gnu::always_inline]] constexpr Integer to_integer(Float whole) {
  constexpr auto least = static_cast<Float>(std::numeric_limits<Integer>::min());
  // one above the largest: a power of two, which the float has
  constexpr Float beyond = 2 * static_cast<Float>(std::make_unsigned_t<Integer>{1} << (std::numeric_limits<Integer>::digits - 1));
  const bool fits = whole >= least && whole < beyond;
  const auto value = static_cast<Integer>(fits ? whole : Float{0});
  if (whole != whole) return nan_as<Integer, Float>();
  return fits ? value : whole < 0 ? std::numeric_limits<Integer>::min() : std::numeric_limits<Integer>::max();
}

/// An integer as a float, rounded in `mode`. The compiler's own vector conversions round to nearest alone.
template <class Float, class Integer>
constexpr Float from_integer(Integer value, Rounding mode) {
  constexpr int significand = std::numeric_limits<Float>::digits;
  const bool negative = std::is_signed_v<Integer> && value < 0;
  const auto wide = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = negative ? 0 - wide : wide;
  const int excess = 64 - std::countl_zero(magnitude) - significand;
  Float result;
  if (excess <= 0) {
    result = static_cast<Float>(magnitude);  // exact
  } else {
    const std::uint64_t kept = magnitude >> excess, rest = magnitude & ((std::uint64_t{1} << excess) - 1);
    const std::uint64_t rounded =
        kept + (rounds_up(mode, negative, (kept & 1) != 0, rest, std::uint64_t{1} << (excess - 1)) ? 1 : 0);
    result = static_cast<Float>(rounded) * static_cast<Float>(std::uint64_t{1} << excess);  // both exact
  }
  return negative ? -result : result;
}

/// A 16-bit floating-point format.
struct Half {
  int exponent_bits, mantissa_bits;
  [[nodiscard]] constexpr std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
};
inline constexpr Half f16_format{5, 10};
inline constexpr Half bf16_format{8, 7};

struct HalfRounding {
  Rounding mode = Rounding::rn;
  bool relu = false;       ///< negative values become +0
  bool satfinite = false;  ///< infinities become the largest finite value
};

/// An f32 in a 16-bit format.
[[gnu::always_inline]] constexpr std::uint32_t to_half(float x, Half format, HalfRounding how) {
  const std::uint32_t bits = bits_of(x), magnitude = bits & 0x7FFFFFFF;
  const bool negative = bits >> 31 != 0;
  if (magnitude > 0x7F800000) return nan16;
  if (how.relu && negative) return 0;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(magnitude >> 23);
  const int least = 127 - bias + 1;  // f32 exponent field of the format's smallest normal number
  const std::uint32_t infinity = format.infinity();
  std::uint32_t kept = 0, rest = 0, half = 1;
  int shift = 23 - format.mantissa_bits;
  if (exponent >= least) {
    const std::uint32_t rebased = magnitude - (static_cast<std::uint32_t>(least - 1) << 23);
    kept = rebased >> shift;
    rest = rebased & ((1u << shift) - 1);
  } else {
    const std::uint32_t significand = exponent == 0 ? magnitude : (magnitude & 0x7FFFFF) | 0x800000;
    shift += least - (exponent == 0 ? 1 : exponent);
    if (shift > 26) shift = 26;  // less than a quarter of the last place: all of it is rest
    kept = significand >> shift;
    rest = significand & ((1u << shift) - 1);
  }
  half <<= shift - 1;
  kept += rounds_up(how.mode, negative, (kept & 1) != 0, rest, half) ? 1 : 0;
  if (kept >= infinity) {
    const bool is_infinite = magnitude == 0x7F800000;
    const bool to_infinity =
        how.mode == Rounding::rn || (how.mode == Rounding::rm && negative) || (how.mode == Rounding::rp && !negative);
    kept = (is_infinite || to_infinity) && !how.satfinite ? infinity : infinity - 1;
  }
  return kept | (negative ? 0x8000u : 0u);
}

/// An f16 as f32, exact; NaN becomes the canonical one.
[[gnu::always_inline]] constexpr float from_f16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16, magnitude = half & 0x7FFF;
  if (magnitude > 0x7C00) return std::bit_cast<float>(nan32);
  if (magnitude == 0x7C00) return std::bit_cast<float>(sign | 0x7F800000);
  if (magnitude >= 0x0400) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;  // exact, and normal in f32
  return std::bit_cast<float>(sign | bits_of(subnormal));
}

/// A bf16 as f32, exact, NaN's bits included.
[[gnu::always_inline]] constexpr float from_bf16(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

}  // namespace ptx::num
