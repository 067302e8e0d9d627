// Conversions between number formats, exact in every rounding mode (manual: "cvt").
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ptx/num/format.hpp"
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

/// To a whole number; to nearest, ties to even. Never under a rounding mode of the host: without SSE4.1 compilers round the
/// absolute value and put the sign back.
[[gnu::always_inline]] inline float to_whole(float x, Rounding mode) {
  return mode == Rounding::rn   ? __builtin_rintf(x)
         : mode == Rounding::rz ? __builtin_truncf(x)
         : mode == Rounding::rm ? __builtin_floorf(x)
                                : __builtin_ceilf(x);
}
[[gnu::always_inline]] inline double to_whole(double x, Rounding mode) {
  return mode == Rounding::rn   ? __builtin_rint(x)
         : mode == Rounding::rz ? __builtin_trunc(x)
         : mode == Rounding::rm ? __builtin_floor(x)
                                : __builtin_ceil(x);
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

struct Narrowing {
  Rounding mode = Rounding::rn;
  bool relu = false;       ///< negative values become +0
  bool satfinite = false;  ///< infinities become the largest finite value
  bool ties_away = false;  ///< with rn: ties away from zero
};

/// An f32 or f64 in a format of fewer bits.
template <class Float>
[[gnu::always_inline]] constexpr std::uint32_t narrowed(Float x, const Format& format, Narrowing how) {
  using Bits = std::conditional_t<sizeof(Float) == 8, std::uint64_t, std::uint32_t>;
  constexpr int mantissa = std::numeric_limits<Float>::digits - 1, own_bias = std::numeric_limits<Float>::max_exponent - 1;
  constexpr Bits own_infinity = static_cast<Bits>(2 * own_bias + 1) << mantissa, own_sign = Bits{1} << (8 * sizeof(Float) - 1);
  const Bits bits = bits_of(x), magnitude = bits & (own_sign - 1);
  const bool negative = (bits & own_sign) != 0;
  if (magnitude > own_infinity) return static_cast<std::uint32_t>(format.nan);
  if (how.relu && negative) return 0;
  const int exponent = static_cast<int>(magnitude >> mantissa);
  const int least = own_bias - format.bias() + 1;  // the exponent field here of the format's smallest normal number
  const auto infinity = static_cast<Bits>(format.infinity());
  Bits kept = 0, rest = 0;
  int shift = mantissa - format.mantissa_bits;
  if (exponent >= least) {
    const Bits rebased = magnitude - (static_cast<Bits>(least - 1) << mantissa);
    kept = rebased >> shift;
    rest = rebased & ((Bits{1} << shift) - 1);
  } else {
    constexpr Bits hidden = Bits{1} << mantissa;
    const Bits significand = exponent == 0 ? magnitude : (magnitude & (hidden - 1)) | hidden;
    shift += least - (exponent == 0 ? 1 : exponent);
    if (shift > mantissa + 3) shift = mantissa + 3;  // less than a quarter of the last place: all of it is rest
    kept = significand >> shift;
    rest = significand & ((Bits{1} << shift) - 1);
  }
  const Bits half = Bits{1} << (shift - 1);
  const bool up = how.ties_away ? rest >= half : rounds_up(how.mode, negative, (kept & 1) != 0, rest, half);
  kept += up ? 1 : 0;
  if (kept >= infinity) {
    const bool is_infinite = magnitude == own_infinity;
    const bool to_infinity =
        how.mode == Rounding::rn || (how.mode == Rounding::rm && negative) || (how.mode == Rounding::rp && !negative);
    kept = (is_infinite || to_infinity) && !how.satfinite ? infinity : infinity - 1;
  }
  return static_cast<std::uint32_t>(kept) | (negative ? static_cast<std::uint32_t>(format.sign()) : 0u);
}

/// What `narrowed` gives to nearest even of f32, in steps that vector instructions have.
[[gnu::always_inline]] constexpr std::uint32_t nearest_bf16(float x) {
  const std::uint32_t bits = bits_of(x), rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return x != x ? static_cast<std::uint32_t>(bf16_format.nan) : rounded;
}
[[gnu::always_inline]] constexpr std::uint32_t nearest_f16(float x) {
  constexpr std::uint32_t beyond = 143u << 23, least_normal = 113u << 23, half = 126u << 23;  // 2^16, 2^-14, 2^-1
  const std::uint32_t bits = bits_of(x), magnitude = bits & 0x7FFFFFFF, sign = bits >> 16 & 0x8000;
  const std::uint32_t at_most = magnitude < beyond ? magnitude : beyond;
  const std::uint32_t normal = (at_most + 0xFFF + (at_most >> 13 & 1) - (112u << 23)) >> 13;
  // the last place of a half is 2^-24, as a subnormal's is
  const std::uint32_t subnormal = bits_of(std::bit_cast<float>(at_most) + std::bit_cast<float>(half)) - half;
  const std::uint32_t result = sign | (magnitude < least_normal ? subnormal : normal);
  return x != x ? static_cast<std::uint32_t>(f16_format.nan) : result;
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

/// An f16 or bf16 as f64, exact, the payload of a NaN handed on, made quiet.
[[gnu::always_inline]] constexpr double widened(std::uint16_t half, bool bf16) {
  const Format& format = bf16 ? bf16_format : f16_format;
  const double value = static_cast<double>(bf16 ? from_bf16(half) : from_f16(half));
  const std::uint64_t payload = static_cast<std::uint64_t>(half & ((1u << format.mantissa_bits) - 1))
                                << (52 - format.mantissa_bits);
  const std::uint64_t nan = static_cast<std::uint64_t>(half & 0x8000) << 48 | 0x7FF8'0000'0000'0000 | payload;
  return format.is_nan(half) ? std::bit_cast<double>(nan) : value;
}

/// The NaN of f16 or bf16 that has the sign of an f64's and the upper bits of its payload, and is quiet.
[[gnu::always_inline]] constexpr std::uint32_t narrowed_nan(double x, const Format& format) {
  const std::uint64_t bits = bits_of(x) | std::uint64_t{1} << 51;
  const auto magnitude = static_cast<std::uint32_t>(bits >> (52 - format.mantissa_bits) & (format.sign() - 1));
  return static_cast<std::uint32_t>(bits >> 63 << 15) | magnitude | static_cast<std::uint32_t>(format.infinity());
}

/// An integer as f64; where that has not enough bits, cut, and its last bit made odd: rounding it to 51 bits or fewer in any mode
/// is rounding the integer.
template <class Integer>
[[gnu::always_inline]] constexpr double odd_from_integer(Integer value) {
  const bool negative = std::is_signed_v<Integer> && value < 0;
  const auto wide = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = negative ? 0 - wide : wide;
  const std::uint64_t cut = magnitude >> 11 | ((magnitude & 0x7FF) != 0 ? 1 : 0);
  const double result = magnitude >> 53 == 0 ? static_cast<double>(static_cast<std::int64_t>(magnitude))
                                             : static_cast<double>(static_cast<std::int64_t>(cut)) * 2048.0;
  return negative ? -result : result;
}

}  // namespace ptx::num
