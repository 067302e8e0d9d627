#include "ptx/num/exact.hpp"

#include <algorithm>

namespace ptx::num {
namespace {

int width_of(Bits128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64), low = static_cast<std::uint64_t>(x);
  return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low);
}

// x / 2^count, where the last bit also stands for what was cut off.
Bits128 shifted(Bits128 x, int count) {
  if (count == 0) return x;
  if (count >= 128) return x != 0 ? 1 : 0;
  return x >> count | ((x & ((Bits128{1} << count) - 1)) != 0 ? 1 : 0);
}

// The significand's highest bit at place 125, which leaves room for the carry of a sum, and at least 19 places below 106 bits.
Exact normalised(Exact x) {
  const int up = 126 - width_of(x.significand);
  x.significand = up >= 0 ? x.significand << up : shifted(x.significand, -up);
  x.exponent -= up;
  return x;
}

}  // namespace

Exact exact(std::uint64_t pattern, const Format& format) {
  Exact x;
  x.negative = (pattern & format.sign()) != 0;
  const std::uint64_t magnitude = pattern & (format.sign() - 1);
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const auto field = static_cast<int>(magnitude >> format.mantissa_bits);
  if (format.is_nan(pattern)) {
    x.kind = Exact::Kind::nan;
  } else if (format.top == Top::ieee && magnitude == format.infinity()) {
    x.kind = Exact::Kind::infinite;
  } else if (magnitude != 0) {
    x.kind = Exact::Kind::finite;
    x.significand = field == 0 ? mantissa : mantissa | std::uint64_t{1} << format.mantissa_bits;
    x.exponent = (field == 0 ? 1 : field) - format.bias() - format.mantissa_bits;
  }
  return x;
}

Exact product(const Exact& a, const Exact& b) {
  using enum Exact::Kind;
  Exact r;
  r.negative = a.negative != b.negative;
  if (a.kind == nan || b.kind == nan || (a.kind == infinite && b.kind == zero) || (a.kind == zero && b.kind == infinite)) {
    r.kind = nan;
  } else if (a.kind == infinite || b.kind == infinite) {
    r.kind = infinite;
  } else if (a.kind == finite && b.kind == finite) {
    r.kind = finite;
    r.significand = a.significand * b.significand;
    r.exponent = a.exponent + b.exponent;
  }
  return r;
}

Exact sum(const Exact& a, const Exact& b, Rounding rounding) {
  using enum Exact::Kind;
  if (a.kind == nan || b.kind == nan || (a.kind == infinite && b.kind == infinite && a.negative != b.negative)) {
    Exact r;
    r.kind = nan;
    return r;
  }
  if (a.kind == infinite) return a;
  if (b.kind == infinite) return b;
  if (a.kind == zero && b.kind == zero) {
    Exact r = a;
    if (a.negative != b.negative) r.negative = rounding == Rounding::rm;
    return r;
  }
  if (a.kind == zero) return b;
  if (b.kind == zero) return a;
  Exact large = normalised(a), small = normalised(b);
  if (large.exponent < small.exponent || (large.exponent == small.exponent && large.significand < small.significand))
    std::swap(large, small);
  small.significand = shifted(small.significand, large.exponent - small.exponent);
  if (large.negative == small.negative) {
    large.significand += small.significand;
  } else {
    // what was cut off the small one is taken from the large one: its last bit then stands for what is left
    large.significand -= small.significand;
    if (large.significand == 0) {
      Exact r;
      r.negative = rounding == Rounding::rm;
      return r;
    }
  }
  return large;
}

std::uint64_t rounded(const Exact& x, const Format& format, const Entry& how) {
  using enum Exact::Kind;
  if (x.kind == nan) return format.nan;
  if (how.relu && x.negative) return 0;
  const std::uint64_t sign = x.negative ? format.sign() : 0;
  if (x.kind == zero) return sign;
  const std::uint64_t infinity = format.infinity();
  const bool has_infinity = format.top == Top::ieee && !how.satfinite;
  if (x.kind == infinite)
    return sign | (has_infinity ? infinity : format.top == Top::nan_only && !how.satfinite ? format.nan : infinity - 1);
  // the place of the result's last bit: that of the least normal number, or higher for larger numbers
  const int width = width_of(x.significand), top = x.exponent + width - 1;
  const int last = std::max(top, 1 - format.bias()) - format.mantissa_bits;
  const int cut = last - x.exponent;  // bits of the significand below it
  std::uint64_t kept = 0;
  bool up = false;
  if (cut <= 0) {
    kept = static_cast<std::uint64_t>(x.significand << -cut);
  } else {
    const Bits128 rest = cut >= 128 ? x.significand : x.significand & ((Bits128{1} << cut) - 1);
    kept = cut >= 128 ? 0 : static_cast<std::uint64_t>(x.significand >> cut);
    // the rest against a half: -1 below, 0 equal, 1 above
    const Bits128 half = cut > 128 ? 0 : Bits128{1} << (cut - 1);
    const int order = cut > 128 || rest < half ? -1 : rest == half ? 0 : 1;
    if (how.random_bits != 0) {
      // as many bits of the rest, from its highest one down
      const int below = cut - how.random_bits;
      const Bits128 high = below <= 0 ? rest << -below : below < 128 ? rest >> below : 0;
      up = ((high + how.random) >> how.random_bits) != 0;
    } else if (how.rounding == Rounding::rn) {
      up = order > 0 || (order == 0 && (how.ties_away || (kept & 1) != 0));
    } else {
      up = rest != 0 && how.rounding != Rounding::rz && (how.rounding == Rounding::rp) != x.negative;
    }
  }
  kept += up ? 1 : 0;
  // the exponent field, one less for a normal number, whose hidden bit adds one; a carry goes up by itself
  const int field = std::max(top, 1 - format.bias()) + format.bias() - 1;
  const Bits128 pattern = (static_cast<Bits128>(static_cast<unsigned>(field)) << format.mantissa_bits) + kept;
  if (pattern < infinity) return sign | static_cast<std::uint64_t>(pattern);
  const bool nearest = how.rounding == Rounding::rn;
  const bool away = nearest || (how.rounding != Rounding::rz && (how.rounding == Rounding::rp) != x.negative);
  if (how.satfinite || format.top == Top::finite || !away) return sign | (infinity - 1);
  return sign | (format.top == Top::ieee ? infinity : format.nan);
}

std::uint32_t to_ue8m0(const Exact& x, Rounding rounding, bool satfinite) {
  using enum Exact::Kind;
  if (x.kind == nan) return 0xFF;
  if (x.kind == infinite) return satfinite ? 0xFE : 0xFF;
  if (x.kind == zero) return 0;
  const int top = x.exponent + width_of(x.significand) - 1;
  const bool is_power = (x.significand & (x.significand - 1)) == 0;
  const int power = top + (rounding == Rounding::rp && !is_power ? 1 : 0);
  if (power > 127) return satfinite ? 0xFE : 0xFF;
  return static_cast<std::uint32_t>(std::max(power + 127, 0));
}
Exact from_ue8m0(std::uint32_t pattern) {
  Exact x;
  x.kind = pattern == 0xFF ? Exact::Kind::nan : Exact::Kind::finite;
  x.significand = 1;
  x.exponent = static_cast<int>(pattern) - 127;
  return x;
}

std::uint32_t to_s2f6(const Exact& x, bool relu) {
  using enum Exact::Kind;
  if (x.kind == nan) return 0x7F;
  if (x.kind == zero || (relu && x.negative)) return 0;
  const int most = x.negative ? 128 : 127;
  int magnitude = most;
  if (x.kind == finite && x.exponent + width_of(x.significand) <= 2) {
    const int cut = -6 - x.exponent;
    if (cut <= 0) {
      magnitude = static_cast<int>(x.significand << -cut);
    } else if (cut >= 128) {
      magnitude = 0;
    } else {
      const auto kept = static_cast<int>(x.significand >> cut);
      const Bits128 rest = x.significand & ((Bits128{1} << cut) - 1), half = Bits128{1} << (cut - 1);
      magnitude = kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
    }
    magnitude = std::min(magnitude, most);
  }
  return static_cast<std::uint32_t>(x.negative ? -magnitude : magnitude) & 0xFF;
}
Exact from_s2f6(std::uint32_t pattern) {
  const auto value = static_cast<std::int8_t>(pattern);
  Exact x;
  if (value == 0) return x;
  x.kind = Exact::Kind::finite;
  x.negative = value < 0;
  x.significand = static_cast<Bits128>(value < 0 ? -static_cast<int>(value) : static_cast<int>(value));
  x.exponent = -6;
  return x;
}

}  // namespace ptx::num
