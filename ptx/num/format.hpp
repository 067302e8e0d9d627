// The floating-point formats of PTX as data (manual: "Fundamental Types", "Alternate Floating-Point Data Formats").
#pragma once

#include <cstdint>

#include "ptx/num/rounding.hpp"

namespace ptx::num {

/// What the patterns above the largest finite number mean.
enum class Top : std::uint8_t {
  ieee,      ///< the largest exponent is infinity, and NaN with a mantissa
  nan_only,  ///< the one pattern of all ones is NaN: no infinity (e4m3)
  finite,    ///< all are numbers (e2m3, e3m2, e2m1)
};

/// Sign, exponent, mantissa from the top down, exponents biased as IEEE does, with subnormals.
struct Format {
  int exponent_bits = 0, mantissa_bits = 0;
  Top top = Top::ieee;
  std::uint64_t nan = 0;  ///< what a NaN becomes in it; of a format without NaN, what stands for one

  [[nodiscard]] constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  [[nodiscard]] constexpr std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// The pattern of infinity, or of what would be one above the largest finite number.
  [[nodiscard]] constexpr std::uint64_t infinity() const {
    switch (top) {
      case Top::ieee:
        return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
      case Top::nan_only:
        return sign() - 1;
      case Top::finite:
        return sign();
    }
    return 0;
  }
  [[nodiscard]] constexpr std::uint64_t largest() const { return infinity() - 1; }
  [[nodiscard]] constexpr bool is_nan(std::uint64_t pattern) const {
    const std::uint64_t magnitude = pattern & (sign() - 1);
    return top == Top::ieee ? magnitude > infinity() : top == Top::nan_only && magnitude == infinity();
  }
};

inline constexpr Format f16_format{5, 10, Top::ieee, nan16};
inline constexpr Format bf16_format{8, 7, Top::ieee, nan16};
inline constexpr Format f32_format{8, 23, Top::ieee, nan32};
inline constexpr Format f64_format{11, 52, Top::ieee, nan64};
inline constexpr Format tf32_format{8, 10, Top::ieee, nan32 >> 13};  ///< the upper 19 bits of an f32
inline constexpr Format e4m3_format{4, 3, Top::nan_only, 0x7F};
inline constexpr Format e5m2_format{5, 2, Top::ieee, 0x7F};
inline constexpr Format e2m3_format{2, 3, Top::finite, 0x1F};  ///< "NaN results are converted to positive MAX_NORM"
inline constexpr Format e3m2_format{3, 2, Top::finite, 0x1F};
inline constexpr Format e2m1_format{2, 1, Top::finite, 0x7};

}  // namespace ptx::num
