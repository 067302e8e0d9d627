// Numbers of narrow formats as doubles, decoded by the definition of the format.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/producers/played.hpp"

namespace ptx::producers {

struct FloatFormat {
  int exponent_bits = 0, fraction_bits = 0;
  bool has_infinity = true;  ///< else the largest exponent is one of numbers, and only all ones are NaN
};
inline constexpr FloatFormat f16{5, 10}, bf16{8, 7}, e4m3{4, 3, false}, e5m2{5, 2}, f32{8, 23};

inline double decoded(std::uint32_t bits, const FloatFormat& format) {
  const int fraction_bits = format.fraction_bits, exponents = 1 << format.exponent_bits;
  const auto fraction = static_cast<int>(bits & ((1u << fraction_bits) - 1));
  const auto exponent = static_cast<int>(bits >> fraction_bits) & (exponents - 1);
  const int bias = exponents / 2 - 1, scale = std::max(exponent, 1) - bias - fraction_bits;
  const double sign = (bits >> (fraction_bits + format.exponent_bits) & 1) != 0 ? -1.0 : 1.0;
  if (exponent == exponents - 1 && format.has_infinity) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  if (!format.has_infinity && exponent == exponents - 1 && fraction == (1 << fraction_bits) - 1) return std::nan("");
  return sign * std::ldexp((exponent == 0 ? 0 : 1 << fraction_bits) + fraction, scale);
}

/// An allocation's elements as doubles, by the name of their type.
inline std::vector<double> as_doubles(const Played& run, std::string_view what, std::string_view type, bool before) {
  std::vector<double> all;
  const auto take = [&]<class T>(T, auto convert) {
    for (const T bits : before ? run.given<T>(what) : run.made<T>(what)) all.push_back(convert(bits));
  };
  const auto of = [](const FloatFormat& format) { return [&format](std::uint32_t bits) { return decoded(bits, format); }; };
  const auto plain = [](auto value) { return static_cast<double>(value); };
  if (type == "f16") take(std::uint16_t{}, of(f16));
  if (type == "bf16") take(std::uint16_t{}, of(bf16));
  if (type == "e4m3") take(std::uint8_t{}, of(e4m3));
  if (type == "e5m2") take(std::uint8_t{}, of(e5m2));
  if (type == "f32") take(float{}, plain);
  if (type == "tf32") take(std::uint32_t{}, [](std::uint32_t bits) { return decoded(bits & 0xFFFFE000, f32); });  // as read
  if (type == "f64") take(double{}, plain);
  if (type == "u8") take(std::uint8_t{}, plain);
  if (type == "s8") take(std::int8_t{}, plain);
  if (type == "s32") take(std::int32_t{}, plain);
  EXPECT_FALSE(all.empty()) << run.name << ": " << what << " of type " << type;
  return all;
}

/// Half a place of a type's numbers, relative: what rounding to nearest may change.
inline double half_place(std::string_view type) {
  return type == "f16" ? 0x1p-11 : type == "bf16" ? 0x1p-8 : type == "f32" ? 0x1p-24 : type == "f64" ? 0x1p-53 : 0.0;
}

}  // namespace ptx::producers
