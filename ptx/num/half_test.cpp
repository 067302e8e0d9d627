// Arithmetic of halves against exact numbers rounded once.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ptx/num/num.hpp"

namespace ptx::num {
namespace {

const Format& format_of(bool bf16) { return bf16 ? bf16_format : f16_format; }

std::vector<std::uint32_t> edges(bool bf16) {
  const Format& f = format_of(bf16);
  const auto least = 1u << f.mantissa_bits, one = static_cast<std::uint32_t>(f.bias()) << f.mantissa_bits;
  const auto infinity = static_cast<std::uint32_t>(f.infinity());
  std::vector<std::uint32_t> all = {0,
                                    1,
                                    2,
                                    3,
                                    least - 1,
                                    least,
                                    least + 1,
                                    one - 1,
                                    one,
                                    one + 1,
                                    one + least / 2,
                                    one + least,
                                    infinity - 1,
                                    infinity,
                                    infinity + 1,
                                    infinity + least / 2,
                                    0x7FF7,
                                    0x7FFF};
  const std::size_t n = all.size();
  for (std::size_t i = 0; i < n; ++i) all.push_back(all[i] | 0x8000);
  return all;
}
// The short way to the nearest half, for every upper part of an f32 and what can stand below it.
TEST(Halves, TheNearestAreThoseOfTheGeneralWay) {
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
    for (const std::uint32_t lower : {0u, 1u, 0xFFFu, 0x1000u, 0x1001u, 0x2FFFu, 0x3000u, 0x3001u, 0x5000u, 0x7FFFu, 0x8000u,
                                      0x8001u, 0xEFFFu, 0xF000u, 0xF001u, 0xFFFFu}) {
      const auto x = std::bit_cast<float>(upper << 16 | lower);
      ASSERT_EQ(nearest_f16(x), narrowed(x, f16_format, {})) << std::hex << bits_of(x);
      ASSERT_EQ(nearest_bf16(x), narrowed(x, bf16_format, {})) << std::hex << bits_of(x);
    }
  std::mt19937 random(5);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    ASSERT_EQ(nearest_f16(x), narrowed(x, f16_format, {})) << std::hex << bits_of(x);
    ASSERT_EQ(nearest_bf16(x), narrowed(x, bf16_format, {})) << std::hex << bits_of(x);
  }
}

// Any pattern, or one whose exponent is near `centre`'s, so that sums meet.
std::uint32_t draw(std::mt19937_64& random, const Format& f, std::uint32_t centre) {
  const std::uint64_t bits = random();
  if (bits >> 62 == 0) return bits & 0xFFFF;
  const int field = std::clamp(static_cast<int>((centre & 0x7FFF) >> f.mantissa_bits) + static_cast<int>(bits >> 40 & 31) - 16, 0,
                               (1 << f.exponent_bits) - 2);
  // often few bits in the mantissa: ties
  const std::uint32_t mantissa = (1u << f.mantissa_bits) - 1, few = bits >> 61 & 1 ? mantissa : 3u << (f.mantissa_bits - 2);
  return static_cast<std::uint32_t>(field) << f.mantissa_bits | (bits & 0x8000) | (bits & mantissa & few);
}

std::uint32_t reference(std::uint32_t a, std::uint32_t b, std::uint32_t c, HalfWays ways) {
  const Format& f = format_of(ways.bf16);
  if (ways.oob && ((a | 0x8000) == 0xFFF7 || (b | 0x8000) == 0xFFF7)) return 0;
  const auto number = [&](std::uint32_t half) {
    Exact x = exact(half, f);
    if (ways.ftz && x.kind == Exact::Kind::finite && (half & 0x7FFF) < 0x400) x.kind = Exact::Kind::zero;
    return x;
  };
  const Exact r = sum(product(number(a), number(b)), number(c));
  auto bits = static_cast<std::uint32_t>(rounded(r, f, {.relu = ways.relu}));
  // as if there were smaller exponents
  const auto large = r.kind == Exact::Kind::finite ? rounded(scaled(r, 15), f) & 0x7FFF : 0x7C00;
  if (ways.ftz && large < (16u << 10)) bits = ways.relu ? 0 : bits & 0x8000;
  if (!ways.sat) return bits;
  if (r.is_nan() || (bits & 0x8000) != 0) return 0;
  return std::min<std::uint32_t>(bits, 0x3C00);
}

TEST(HalfFma, RoundsOnce) {
  std::mt19937_64 random(1);
  for (const bool bf16 : {false, true})
    for (int flags = 0; flags < (bf16 ? 4 : 16); ++flags) {
      const HalfWays ways{bf16, (flags & 4) != 0, (flags & 8) != 0 && (flags & 2) == 0, (flags & 2) != 0, (flags & 1) != 0};
      const auto check = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        ASSERT_EQ(half_fma(a, b, c, ways), reference(a, b, c, ways))
            << std::hex << a << " * " << b << " + " << c << " bf16 " << bf16 << " flags " << flags;
      };
      const auto special = edges(bf16);
      for (const std::uint32_t a : special)
        for (const std::uint32_t b : special)
          for (const std::uint32_t c : special) check(a, b, c);
      const Format& f = format_of(bf16);
      for (int i = 0; i < 40000; ++i) {
        const auto a = static_cast<std::uint32_t>(random() & 0xFFFF);
        const std::uint32_t b =
            draw(random, f, static_cast<std::uint32_t>(2 * f.bias()) * (1u << f.mantissa_bits) - (a & 0x7FFF));
        const auto p = static_cast<std::uint32_t>(rounded(product(exact(a, f), exact(b, f)), f, {.satfinite = true}));
        check(a, b, draw(random, f, p));
        check(a, b, p ^ 0x8000);
      }
    }
}

// What rounding twice, first to f32 or f64, gets wrong: a product halfway between two bf16, and something tiny beside it.
TEST(HalfFma, SeesTheSmallestOddBit) {
  const HalfWays bf16{.bf16 = true};
  const std::uint32_t a = 0x3F81, b = 0x3FC0;  // 129/128 * 3/2: a tie between 0x3FC1 and 0x3FC2
  EXPECT_EQ(half_fma(a, b, 0, bf16), 0x3FC2u);
  EXPECT_EQ(half_fma(a, b, 0x0001, bf16), 0x3FC2u);
  EXPECT_EQ(half_fma(a, b, 0x8001, bf16), 0x3FC1u);
}

TEST(HalfExtreme, OrdersEveryPairOfEdges) {
  for (const bool bf16 : {false, true})
    for (int flags = 0; flags < 16; ++flags) {
      const ExtremeWays ways{(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 4) != 0, (flags & 8) != 0 && !bf16};
      const Format& f = format_of(bf16);
      for (const std::uint32_t a : edges(bf16))
        for (const std::uint32_t b : edges(bf16)) {
          const auto value = [&](std::uint32_t half) {
            if (f.is_nan(half)) return static_cast<double>(NAN);
            double x = widened(static_cast<std::uint16_t>(half), bf16);
            if (ways.ftz && std::fabs(x) < 0x1p-14) x = std::copysign(0.0, x);
            return ways.xorsign ? std::fabs(x) : x;
          };
          const double x = value(a), y = value(b);
          double r = 0;
          if (std::isnan(x) || std::isnan(y))
            r = ways.nan_wins ? static_cast<double>(NAN) : std::isnan(x) ? y : x;
          else if (x == y)
            r = std::signbit(x) == ways.larger ? y : x;
          else
            r = (x < y) == ways.larger ? y : x;
          if (ways.xorsign) r = std::copysign(r, ((a ^ b) & 0x8000) != 0 ? -1.0 : 1.0);
          const std::uint32_t expected = std::isnan(r) ? 0x7FFF : narrowed(r, f, {});
          ASSERT_EQ(half_extreme(a, b, bf16, ways), expected) << std::hex << a << ' ' << b << " flags " << flags;
        }
    }
}

}  // namespace
}  // namespace ptx::num
