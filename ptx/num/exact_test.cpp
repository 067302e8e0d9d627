// Exact numbers against the host's arithmetic in its four modes and against arithmetic of integers; the fast conversions against
// exact numbers.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>

#include "ptx/num/num.hpp"

namespace ptx::num {
namespace {

constexpr Rounding all_modes[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp};
struct HostMode {
  explicit HostMode(Rounding mode) {
    constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[static_cast<std::size_t>(mode)]);
  }
  ~HostMode() { std::fesetround(FE_TONEAREST); }
};
constexpr Format all_formats[] = {f16_format,  bf16_format, tf32_format, e4m3_format,
                                  e5m2_format, e2m3_format, e3m2_format, e2m1_format};

// A pattern of any format as the host computes it.
long double host_value(std::uint64_t pattern, const Format& format) {
  const std::uint64_t magnitude = pattern & (format.sign() - 1);
  const auto field = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const long double size =
      field == 0 ? std::ldexp(static_cast<long double>(mantissa), 1 - format.bias() - format.mantissa_bits)
                 : std::ldexp(1 + std::ldexp(static_cast<long double>(mantissa), -format.mantissa_bits), field - format.bias());
  return (pattern & format.sign()) != 0 ? -size : size;
}

float random_float(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  switch (bits >> 61) {
    case 0:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case 1:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0x807FFFFF);
    default:  // in the range of small formats, often on their ties
      return std::bit_cast<float>((static_cast<std::uint32_t>(bits) & (bits >> 60 & 1 ? 0x807FFFFF : 0x80780000)) |
                                  static_cast<std::uint32_t>(127 - 26 + bits % 44) << 23);
  }
}
double random_double(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  switch (bits >> 61) {
    case 0:
      return std::bit_cast<double>(random());
    case 1:
      return std::bit_cast<double>(random() & 0x800FFFFFFFFFFFFF);
    case 2:
      return random_float(random);
    default:
      return std::bit_cast<double>((random() & 0x800FFFFFFFFFFFFF) | (1023 - 60 + bits % 120) << 52);
  }
}
bool same(float a, std::uint64_t bits) { return std::isnan(a) ? bits == nan32 : bits == bits_of(a); }
bool same(double a, std::uint64_t bits) { return std::isnan(a) ? bits == nan64 : bits == bits_of(a); }

TEST(Exact, KeepsEveryPattern) {
  for (const Format& format : all_formats)
    for (std::uint64_t pattern = 0; pattern < 2 * format.sign(); ++pattern) {
      const Exact x = exact(pattern, format);
      if (x.kind == Exact::Kind::finite) {
        const auto size = std::ldexp(static_cast<long double>(x.significand), x.exponent);
        ASSERT_EQ(x.negative ? -size : size, host_value(pattern, format)) << format.bits() << " bits, pattern " << pattern;
      }
      for (const Rounding mode : all_modes)
        ASSERT_EQ(rounded(x, format, {.rounding = mode}), x.is_nan() ? format.nan : pattern) << format.bits() << " bits";
    }
  EXPECT_EQ(host_value(e4m3_format.largest(), e4m3_format), 448);
  EXPECT_EQ(host_value(e5m2_format.largest(), e5m2_format), 57344);
  EXPECT_EQ(host_value(e2m3_format.largest(), e2m3_format), 7.5);
  EXPECT_EQ(host_value(e3m2_format.largest(), e3m2_format), 28);
  EXPECT_EQ(host_value(e2m1_format.largest(), e2m1_format), 6);
}

TEST(Exact, ComputesLikeTheHost) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const volatile float a = random_float(random), b = random_float(random);
    // cancelling sums, and sums of very different sizes
    const volatile float c = i % 4 == 0 ? -(a * b) : i % 4 == 1 ? std::nextafter(-(a * b), 0.0f) : random_float(random);
    const volatile double x = random_double(random), y = random_double(random);
    const volatile double z = i % 4 == 0 ? -(x * y) : i % 4 == 1 ? -x : random_double(random);
    const Rounding mode = all_modes[i % 16 / 4];
    const HostMode scope(mode);
    const volatile float fused = std::fma(a, b, c), added = a + b;
    const volatile double fused64 = std::fma(x, y, z), added64 = x + z, multiplied64 = x * y;
    const volatile auto cut = static_cast<float>(x);
    const Entry how{.rounding = mode};
    const Exact ea = exact(float{a}), eb = exact(float{b}), ec = exact(float{c});
    const Exact ex = exact(double{x}), ey = exact(double{y}), ez = exact(double{z});
    ASSERT_TRUE(same(fused, rounded(sum(product(ea, eb), ec, mode), f32_format, how))) << a << ' ' << b << ' ' << c;
    ASSERT_TRUE(same(added, rounded(sum(ea, eb, mode), f32_format, how))) << a << ' ' << b;
    ASSERT_TRUE(same(fused64, rounded(sum(product(ex, ey), ez, mode), f64_format, how))) << x << ' ' << y << ' ' << z;
    ASSERT_TRUE(same(added64, rounded(sum(ex, ez, mode), f64_format, how))) << x << ' ' << z;
    ASSERT_TRUE(same(multiplied64, rounded(product(ex, ey), f64_format, how))) << x << ' ' << y;
    ASSERT_TRUE(same(cut, rounded(ex, f32_format, how))) << x;
  }
}

TEST(Narrowed, RoundsOnceIntoEveryFormat) {
  std::mt19937_64 random(2);
  for (const Format& format : all_formats) {
    // every pattern, the middles between neighbours, and what is next to both
    std::vector<double> values;
    const std::uint64_t step = format.mantissa_bits > 6 ? 151 : 1;
    for (std::uint64_t pattern = 0; pattern < format.largest(); pattern += step) {
      const auto low = static_cast<double>(host_value(pattern, format)),
                 high = static_cast<double>(host_value(pattern + 1, format));
      for (const double x : {low, (low + high) / 2, high})
        for (const double y : {std::nextafter(x, -1.0), x, std::nextafter(x, 1e300)}) values.push_back(y), values.push_back(-y);
    }
    const auto largest = static_cast<double>(host_value(format.largest(), format));
    for (const double x : {1.0, 1.0625, 1.125, 1.25, 2.0}) values.push_back(largest * x), values.push_back(-largest * x);
    values.insert(values.end(), {INFINITY, -INFINITY, NAN, -NAN, 0.0, -0.0});
    for (int i = 0; i < 1500; ++i) values.push_back(random_double(random)), values.push_back(random_float(random));
    for (const Rounding mode : all_modes)
      for (int ways = 0; ways < 8; ++ways) {
        const bool relu = (ways & 1) != 0, satfinite = (ways & 2) != 0 || format.top != Top::ieee;
        const bool away = (ways & 4) != 0;
        if (away && mode != Rounding::rn) continue;
        const Entry how{.rounding = mode, .ties_away = away, .satfinite = satfinite, .relu = relu};
        const Narrowing fast{mode, relu, satfinite, away};
        for (const double x : values) {
          ASSERT_EQ(narrowed(x, format, fast), rounded(exact(x), format, how)) << format.bits() << " bits of " << x;
          const auto y = static_cast<float>(x);
          ASSERT_EQ(narrowed(y, format, fast), rounded(exact(y), format, how)) << format.bits() << " bits of the f32 " << y;
        }
      }
  }
}

TEST(Exact, RoundsTiesAwayAndByRandomBits) {
  EXPECT_EQ(rounded(exact(1.0f + 0x1p-11f), tf32_format, {.ties_away = true}), 0x3F800000u >> 13 | 1);
  EXPECT_EQ(rounded(exact(1.0f + 0x1p-11f), tf32_format), 0x3F800000u >> 13);
  EXPECT_EQ(rounded(exact(-1.0f - 0x1p-11f), tf32_format, {.ties_away = true}), (0xBF800000u >> 13) + 1);
  // of all random numbers as many round up as the bits cut off count
  for (const std::uint32_t cut : {0u, 1u, 77u, 4096u, 8191u}) {
    const float x = std::bit_cast<float>(0x40490000u | cut);
    std::uint32_t up = 0;
    for (std::uint32_t chance = 0; chance < 8192; ++chance)
      up += static_cast<std::uint32_t>(rounded(exact(x), f16_format, {.random_bits = 13, .random = chance}) - 0x4248);
    EXPECT_EQ(up, cut);
  }
  std::uint32_t up = 0;
  for (std::uint32_t chance = 0; chance < 65536; ++chance)
    up +=
        static_cast<std::uint32_t>(rounded(exact(-0x1.010234p-3f), bf16_format, {.random_bits = 16, .random = chance}) - 0xBE00);
  EXPECT_EQ(up, (bits_of(0x1.010234p-3f) & 0xFFFF));
}

TEST(Exact, HoldsPowersOfTwo) {
  for (std::uint32_t pattern = 0; pattern < 0xFF; ++pattern) {
    const Exact x = from_ue8m0(pattern);
    ASSERT_EQ(rounded(x, f32_format), bits_of(std::ldexp(1.0f, static_cast<int>(pattern) - 127)));
    for (const Rounding mode : {Rounding::rz, Rounding::rp}) ASSERT_EQ(to_ue8m0(x, mode, false), pattern);
  }
  EXPECT_TRUE(from_ue8m0(0xFF).is_nan());
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const float x = random_float(random);
    if (std::isnan(x)) continue;
    int power = x == 0 ? -127 : std::isinf(x) ? 128 : std::ilogb(x);
    ASSERT_EQ(to_ue8m0(exact(x), Rounding::rz, false), std::max(power, -127) + 127u);
    if (x != 0 && std::isfinite(x) && std::fabs(x) > std::ldexp(1.0, power)) ++power;
    ASSERT_EQ(to_ue8m0(exact(x), Rounding::rp, false), std::max(power, -127) + 127u);
    ASSERT_EQ(to_ue8m0(exact(x), Rounding::rp, true), std::min(std::max(power, -127) + 127, 254) + 0u);
  }
}

TEST(Exact, HoldsSixtyFourths) {
  for (int n = -128; n < 128; ++n) {
    const auto pattern = static_cast<std::uint32_t>(n) & 0xFF;
    ASSERT_EQ(to_s2f6(exact(static_cast<float>(n) / 64), false), pattern);
    ASSERT_EQ(rounded(from_s2f6(pattern), f32_format), bits_of(static_cast<float>(n) / 64));
  }
  std::mt19937_64 random(4);
  for (int i = 0; i < 100000; ++i) {
    const float x = random_float(random);
    if (std::isnan(x)) continue;
    const double whole = std::nearbyint(static_cast<double>(x) * 64);
    const auto expected = static_cast<int>(std::clamp(whole, -128.0, 127.0));
    ASSERT_EQ(to_s2f6(exact(x), false), static_cast<std::uint32_t>(expected) & 0xFF) << x;
    ASSERT_EQ(to_s2f6(exact(x), true), static_cast<std::uint32_t>(std::max(expected, 0)) & 0xFF) << x;
  }
}

TEST(OddFromInteger, RoundsLikeTheInteger) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t wide = (random() >> random() % 64) | (i % 2 == 0 ? 0 : random() % 4096);
    const auto check = [&]<class T>(T value) {
      Exact x;
      x.kind = value == 0 ? Exact::Kind::zero : Exact::Kind::finite;
      x.negative = std::is_signed_v<T> && value < 0;
      x.significand = x.negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
      for (const Rounding mode : all_modes)
        for (const Format& format : {f16_format, bf16_format, f32_format})
          ASSERT_EQ(rounded(exact(odd_from_integer(value)), format, {.rounding = mode}), rounded(x, format, {.rounding = mode}))
              << +value;
    };
    check(wide);
    check(static_cast<std::int64_t>(wide));
    check(static_cast<std::int16_t>(wide));
    check(static_cast<std::uint8_t>(wide));
  }
}

}  // namespace
}  // namespace ptx::num
