// Numbers of any format without rounding, and one rounding of them to any format in any mode. What rarely runs is computed here,
// and the fast paths are tested against it.
#pragma once

#include <bit>
#include <cstdint>

#include "ptx/num/convert.hpp"
#include "ptx/num/format.hpp"

namespace ptx::num {

__extension__ using Bits128 = unsigned __int128;

/// (-1)^negative * significand * 2^exponent; a product's significand has 106 bits at most.
struct Exact {
  enum class Kind : std::uint8_t { zero, finite, infinite, nan };
  Kind kind = Kind::zero;
  bool negative = false;
  int exponent = 0;
  Bits128 significand = 0;
  [[nodiscard]] constexpr bool is_nan() const { return kind == Kind::nan; }
};

/// The number that a pattern means.
Exact exact(std::uint64_t pattern, const Format& format);
inline Exact exact(float x) { return exact(bits_of(x), f32_format); }
inline Exact exact(double x) { return exact(bits_of(x), f64_format); }
/// Of two factors of 53 bits at most.
Exact product(const Exact& a, const Exact& b);
/// Of two numbers of 106 bits at most. `rounding` says the sign of a zero that two opposites make; of a sum that has more bits
/// than fit, the last one stands for all behind it, which no rounding to 64 bits or fewer can tell.
Exact sum(const Exact& a, const Exact& b, Rounding rounding = Rounding::rn);
/// Times 2^power.
inline Exact scaled(Exact x, int power) {
  x.exponent += power;
  return x;
}

/// How a number enters a format.
struct Entry {
  Rounding rounding = Rounding::rn;
  bool ties_away = false;  ///< with rn: .rna
  bool satfinite = false;  ///< what is beyond the largest finite number, infinity too, becomes it
  bool relu = false;       ///< what is negative becomes +0
  int random_bits = 0;     ///< not 0: .rs: as many of the bits cut off are added to `random`, and the carry decides
  std::uint32_t random = 0;
};
std::uint64_t rounded(const Exact& x, const Format& format, const Entry& how = {});

/// The pattern of a power of two without sign, mantissa, zero and infinity, 2^(pattern-127); 0xFF is NaN (ue8m0). The sign is
/// dropped, what is below the smallest power becomes it, and what is beyond the largest one NaN, or with `satfinite` the largest.
std::uint32_t to_ue8m0(const Exact& x, Rounding rounding, bool satfinite);
Exact from_ue8m0(std::uint32_t pattern);
/// Sixty-fourths in 8 bits, two's complement (s2f6), to nearest even and clamped.
std::uint32_t to_s2f6(const Exact& x, bool relu);
Exact from_s2f6(std::uint32_t pattern);

}  // namespace ptx::num
