// For tests of instructions on matrices: whole numbers as patterns of PTX's types, found without the executor's arithmetic.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

namespace ptx::vgpu::testing {

/// Bits of an element in memory or a register; the small floats take a byte.
inline int width_of(const std::string& type) {
  if (type == "f64") return 64;
  if (type == "f32" || type == "tf32" || type == "s32") return 32;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "s4" || type == "u4") return 4;
  return type == "b1" ? 1 : 8;
}

/// A whole number as a pattern of the type; all ones where it has none.
inline std::uint64_t pattern_of(const std::string& type, int value) {
  if (type == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (type == "f32" || type == "tf32") return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == "bf16") return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16;
  if (type[0] == 's' || type[0] == 'u' || type[0] == 'b')
    return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << std::stoi(type.substr(1))) - 1);
  // every pattern of the small floats whose value is whole
  static const auto patterns = [] {
    struct Float {
      const char* name;
      int exponent_bits, mantissa, shift;
    };
    std::map<std::string, std::map<int, std::uint64_t>> all;
    for (const Float& f : {Float{"f16", 5, 10, 0}, Float{"e4m3", 4, 3, 0}, Float{"e5m2", 5, 2, 0}, Float{"e3m2", 3, 2, 0},
                           Float{"e2m3", 2, 3, 0}, Float{"e2m1", 2, 1, 2}}) {
      const int bias = (1 << (f.exponent_bits - 1)) - 1;
      for (std::uint64_t bits = 0; bits >> (f.exponent_bits + f.mantissa) == 0; ++bits) {
        const int field = static_cast<int>(bits >> f.mantissa), fraction = static_cast<int>(bits & ((1u << f.mantissa) - 1));
        const double x = std::ldexp(fraction + (field != 0 ? 1 << f.mantissa : 0), std::max(field, 1) - bias - f.mantissa);
        if (x != std::floor(x) || x > 60000) continue;
        all[f.name][static_cast<int>(x)] = bits << f.shift;
        if (x != 0) all[f.name][-static_cast<int>(x)] = (bits | std::uint64_t{1} << (f.exponent_bits + f.mantissa)) << f.shift;
      }
    }
    return all;
  }();
  const auto& of_type = patterns.at(type);
  const auto found = of_type.find(value);
  return found == of_type.end() ? ~std::uint64_t{0} : found->second;
}

/// A range of whole numbers that the type has all of.
inline std::pair<int, int> range_of(const std::string& type) {
  if (type == "s8") return {-128, 127};
  if (type == "u8") return {0, 255};
  if (type == "s4") return {-8, 7};
  if (type == "u4") return {0, 15};
  if (type == "b1") return {0, 1};
  if (type == "e2m1") return {-4, 4};
  if (type == "e2m3" || type == "e3m2" || type == "e5m2") return {-4, 4};
  return {-8, 8};
}

}  // namespace ptx::vgpu::testing
