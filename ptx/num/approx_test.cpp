// Approximations against checksums of what an H200 answered (its results for every fraction, of which these tests take each 31st,
// and for every half), and against the manual's bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ptx/num/num.hpp"

namespace ptx::num {
namespace {

// Every result counts, at its place.
struct Checksum {
  std::uint64_t sum = 0, place = 0;
  void add(std::uint64_t result) { sum += (result + 1) * ((2 * place++ + 1) * 0x9E3779B97F4A7C15); }
};
template <class F>
std::uint64_t of_octaves(std::uint32_t first, std::uint32_t count, F f) {
  Checksum checksum;
  for (std::uint32_t x = first; x < first + count * 0x800000; x += 31) checksum.add(bits_of(f(std::bit_cast<float>(x))));
  return checksum.sum;
}

TEST(Approx, HasTheBitsOfAnH200) {
  EXPECT_EQ(of_octaves(0x3F800000, 1, [](float x) { return approximate<RcpFtz>(x); }), 0xADBA4C614A893FD6);
  EXPECT_EQ(of_octaves(0x3F800000, 2, [](float x) { return approximate<RsqrtFtz>(x); }), 0xE8C68773FC74B82C);
  EXPECT_EQ(of_octaves(0x3F800000, 2, [](float x) { return approximate<SqrtFtz>(x); }), 0x979566904077E07A);
  EXPECT_EQ(of_octaves(0x3F800000, 1, [](float x) { return approximate<Ex2Ftz>(x); }), 0xF6E84A3D2E6A64CE);
  EXPECT_EQ(of_octaves(0x3F000000, 2, [](float x) { return approximate<Lg2Ftz>(x); }), 0x92FB4383461DC65);
  EXPECT_EQ(of_octaves(0x3B800000, 11, [](float x) { return approximate<Tanh>(x); }), 0xD8C0E6AD6306D1D1);
  Checksum sine;  // one argument for each place in a quarter of a turn
  for (int i = 0; i < 0x800000; i += 31) {
    const double x = (i + 0.5) * (2 * 3.141592653589793 / 33554432);
    sine.add(bits_of(approximate<Sin>(static_cast<float>(x))));
  }
  EXPECT_EQ(sine.sum, 0x2DFC03A540C6538F);
  const auto halves = [](auto f) {
    Checksum checksum;
    for (std::uint32_t a = 0; a < 0x10000; ++a) checksum.add(f(a));
    return checksum.sum;
  };
  EXPECT_EQ(halves([](std::uint32_t a) { return ex2_half(a, false); }), 0x16732F5966807841);
  EXPECT_EQ(halves([](std::uint32_t a) { return ex2_half(a, true); }), 0x1BC13C72FBE96F5F);
  EXPECT_EQ(halves([](std::uint32_t a) { return tanh_half(a, false); }), 0x15EB1ECBBEC8BAD8);
  EXPECT_EQ(halves([](std::uint32_t a) { return tanh_half(a, true); }), 0xBAC0EDBFC1AA961A);
}

// Edges of every kind, and all octaves.
template <class Instruction, class... Other>
void expect_all_alike(Other... other) {
  constexpr std::size_t count = 32;
  std::uint32_t bits = 0;
  for (int round = 0; round < 4000; ++round) {
    float x[count], result[count];
    for (float& each : x) each = std::bit_cast<float>(bits += 0x86A1'4C2F);
    x[round % count] = std::bit_cast<float>(static_cast<std::uint32_t>(round % 512) << 23);
    if constexpr (sizeof...(Other) == 0) {
      approximate_all<Instruction>(result, x);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(bits_of(result[i]), bits_of(approximate<Instruction>(x[i]))) << x[i];
    } else {
      const std::array fixed{other...};
      float a[count];
      std::fill(std::begin(a), std::end(a), fixed[static_cast<std::size_t>(round) % fixed.size()]);
      approximate_all<Instruction>(result, a, x);
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(bits_of(result[i]), bits_of(approximate<Instruction>(a[i], x[i]))) << a[i] << " / " << x[i];
    }
  }
}
TEST(Approx, GivesManyArgumentsWhatItGivesEach) {
  expect_all_alike<Rcp>(), expect_all_alike<RcpFtz>();
  expect_all_alike<Rsqrt>(), expect_all_alike<RsqrtFtz>();
  expect_all_alike<Sqrt>(), expect_all_alike<SqrtFtz>();
  expect_all_alike<Lg2>(), expect_all_alike<Lg2Ftz>();
  expect_all_alike<Ex2>(), expect_all_alike<Ex2Ftz>();
  expect_all_alike<Sin>(), expect_all_alike<Cos>(), expect_all_alike<Tanh>();
  const float inf = unit::infinity;
  expect_all_alike<Div<false>>(1.0f, -0.0f, 0x1p-140f, 3.4e38f, inf),
      expect_all_alike<Div<true>>(1.0f, -0.0f, 0x1p-140f, 3.4e38f, inf);
  expect_all_alike<DivFtz<false>>(1.0f, -0.0f, 0x1p-126f, 3.4e38f, inf),
      expect_all_alike<DivFtz<true>>(1.0f, -0.0f, 0x1p-126f, 3.4e38f, inf);
}

// Those of half the rounds near 1, so that whole rounds are ordinary; every second lane only in half of them.
template <class Instruction>
void expect_ordinary_alike() {
  constexpr std::size_t count = 32;
  std::uint32_t bits = 0;
  int done = 0;
  for (int round = 0; round < 40000; ++round) {
    std::uint32_t x[count], before[count], result[count];
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = bits += 0x86A1'4C2F;
      if (round % 4 != 0) x[i] = (x[i] & 0x81FF'FFFF) + (round % 2 != 0 ? 0x3F00'0000 : 0x4100'0000);
      if (round % 3 != 0) x[i] &= 0x7FFF'FFFF;
      if (round % 5 == 0) x[i] &= 0xFF80'0000;
      if (round % 11 == 0) x[i] = (x[i] & 0x83FF'FFFF) + 0x4120'0000;  // powers far beyond the exponents
      before[i] = result[i] = x[i] * 5;
    }
    const std::uint32_t mask = round % 7 != 0 ? 0xFFFF'FFFF : 0x5555'AAAA ^ static_cast<std::uint32_t>(round);
    if (!approximate_ordinary<typename Instruction::Unit>(mask, x, result)) continue;
    ++done;
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(result[i], (mask >> i & 1) != 0 ? bits_of(approximate<Instruction>(std::bit_cast<float>(x[i]))) : before[i])
          << std::bit_cast<float>(x[i]);
  }
  EXPECT_GT(done, 10000);
}
template <class Instruction>
void expect_quotients_alike() {
  std::uint32_t bits = 0;
  int done = 0;
  for (int round = 0; round < 20000; ++round) {
    std::uint32_t a[32], b[32], result[32];
    for (std::size_t i = 0; i < 32; ++i) {
      a[i] = bits += 0x86A1'4C2F, b[i] = bits += 0x86A1'4C2F;
      if (round % 2 == 0) b[i] = (b[i] & 0x81FF'FFFF) + 0x3F00'0000;
      if (round % 3 == 0) a[i] = round % 32 << 23 | (a[i] & 0x8000'0000);
    }
    if (!divide_ordinary<Instruction::flushes>(0xFFFF'FFFF, a, b, result)) continue;
    ++done;
    for (std::size_t i = 0; i < 32; ++i)
      ASSERT_EQ(result[i], bits_of(approximate<Instruction>(std::bit_cast<float>(a[i]), std::bit_cast<float>(b[i]))));
  }
  EXPECT_GT(done, 1000);
}
TEST(Approx, GivesSixteenArgumentsWhatItGivesEach) {
  if (!host_has_sixteens()) GTEST_SKIP() << "the host has no AVX-512";
  expect_ordinary_alike<Rcp>(), expect_ordinary_alike<RcpFtz>();
  expect_ordinary_alike<Rsqrt>(), expect_ordinary_alike<RsqrtFtz>();
  expect_ordinary_alike<Sqrt>(), expect_ordinary_alike<SqrtFtz>();
  expect_ordinary_alike<Ex2>(), expect_ordinary_alike<Ex2Ftz>();
  expect_quotients_alike<Div<false>>(), expect_quotients_alike<Div<true>>();
  expect_quotients_alike<DivFtz<false>>(), expect_quotients_alike<DivFtz<true>>();
}

// The checksums above, by sixteens.
TEST(Approx, HasTheBitsOfAnH200BySixteens) {
  if (!host_has_sixteens()) GTEST_SKIP() << "the host has no AVX-512";
  const auto sum = [](std::uint32_t octaves, auto unit) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t x = 0x3F800000; x < 0x3F800000 + octaves * 0x800000; x += 31) all.push_back(x);
    const std::size_t count = all.size();
    all.resize((count + 31) / 32 * 32, 0x3F800000);
    for (std::size_t i = 0; i < all.size(); i += 32)
      EXPECT_TRUE(approximate_ordinary<decltype(unit)>(0xFFFF'FFFF, &all[i], &all[i]));
    Checksum checksum;
    for (std::size_t i = 0; i < count; ++i) checksum.add(all[i]);
    return checksum.sum;
  };
  EXPECT_EQ(sum(1, unit::Reciprocal{}), 0xADBA4C614A893FD6);
  EXPECT_EQ(sum(2, unit::ReciprocalRoot{}), 0xE8C68773FC74B82C);
  EXPECT_EQ(sum(2, unit::Root{}), 0x979566904077E07A);
  EXPECT_EQ(sum(1, unit::Power{}), 0xF6E84A3D2E6A64CE);
}

TEST(Approx, SquaresLikeTheUnit) {
  for (std::uint32_t x = 0; x < 0x20000; x += 7) {
    std::uint64_t sum = 0;
    for (int bit = 0; bit < 17; ++bit)
      if ((x >> bit & 1) != 0) sum += x >> (18 - bit);
    ASSERT_EQ(unit_square(x), sum >> 1);
    ASSERT_LE(std::fabs(static_cast<double>(unit_square(x)) - static_cast<double>(x) * x / 0x1p19), 9.0) << x;
  }
}

TEST(Approx, StaysWithinItsBoundsInEveryOctave) {
  for (std::uint32_t bits = 1; bits < 0x7F800000; bits += 2347) {
    const auto x = std::bit_cast<float>(bits);
    const auto wide = static_cast<double>(x);
    const auto near = [&](float got, double exact_value, double bound) {
      ASSERT_LE(std::fabs(static_cast<double>(got) - exact_value), bound * std::fabs(exact_value) + 0x1p-149) << x;
    };
    if (wide > 0x1p-128) near(approximate<Rcp>(x), 1 / wide, 0x1p-23);
    near(approximate<Tanh>(-x), -std::tanh(wide), 0x1p-11);
    near(approximate<Rsqrt>(x), 1 / std::sqrt(wide), 0x1p-22);
    near(approximate<Sqrt>(x), std::sqrt(wide), 0x1p-22);
    ASSERT_LE(std::fabs(static_cast<double>(approximate<Lg2>(x)) - std::log2(wide)),
              std::max(0x1p-22, std::fabs(std::log2(wide)) * 0x1p-22))
        << x;
    if (wide < 127) {
      near(approximate<Ex2>(x), std::exp2(wide), 0x1p-22);
      near(approximate<Ex2>(-x), std::exp2(-wide), 0x1p-21);
    }
    if (wide < 6.2) {
      ASSERT_LE(std::fabs(static_cast<double>(approximate<Sin>(x)) - std::sin(wide)), 0x1p-20) << x;
      ASSERT_LE(std::fabs(static_cast<double>(approximate<Cos>(-x)) - std::cos(wide)), 0x1p-20) << x;
    }
  }
}

TEST(Approx, KnowsItsSpecialValues) {
  const float inf = INFINITY;
  const auto bits = [](float x) { return bits_of(x); };
  for (const float sign : {1.0f, -1.0f}) {
    EXPECT_EQ(bits(approximate<Rcp>(sign * 0.0f)), bits(sign * inf));
    EXPECT_EQ(bits(approximate<RcpFtz>(sign * 0x1p-149f)), bits(sign * inf));
    EXPECT_EQ(bits(approximate<Rcp>(sign * inf)), bits(sign * 0.0f));
    EXPECT_EQ(bits(approximate<Rsqrt>(sign * 0.0f)), bits(sign * inf));
    EXPECT_EQ(bits(approximate<Sqrt>(sign * 0.0f)), bits(sign * 0.0f));
    EXPECT_EQ(bits(approximate<Lg2>(sign * 0.0f)), bits(-inf));
    EXPECT_EQ(bits(approximate<Sin>(sign * 0.0f)), bits(sign * 0.0f));
    EXPECT_EQ(bits(approximate<Tanh>(sign * inf)), bits(sign * 1.0f));
    EXPECT_EQ(bits(approximate<Tanh>(sign * 0x1p-149f)), bits(sign * 0x1p-149f));
    EXPECT_EQ(bits(approximate<Sin>(sign * inf)), nan32);
    EXPECT_EQ(bits(approximate<Cos>(sign * inf)), nan32);
  }
  EXPECT_EQ(bits(approximate<Ex2>(-inf)), 0u);
  EXPECT_EQ(bits(approximate<Ex2>(inf)), bits(inf));
  EXPECT_EQ(bits(approximate<Lg2>(inf)), bits(inf));
  EXPECT_EQ(bits(approximate<Lg2>(1.0f)), 0u);
  EXPECT_EQ(bits(approximate<Rsqrt>(inf)), 0u);
  EXPECT_EQ(bits(approximate<Sqrt>(inf)), bits(inf));
  for (const float x : {-1.0f, -inf, static_cast<float>(NAN), -0x1p-149f}) {
    EXPECT_EQ(bits(approximate<Lg2>(x)), nan32);
    EXPECT_EQ(bits(approximate<Rsqrt>(x)), nan32);
    EXPECT_EQ(bits(approximate<Sqrt>(x)), nan32);
  }
  EXPECT_EQ(bits(approximate<Lg2>(0x1p-126f)), 0xC2FBFFFFu) << "one place above -126, as an H200 has it";
  EXPECT_EQ(bits(approximate<Rcp>(NAN)), nan32);
  EXPECT_EQ(bits(approximate<Ex2>(NAN)), nan32);
}

TEST(Approx, HalvesLieWhereTheManualSays) {
  for (const bool bf16 : {false, true})
    for (std::uint32_t a = 0; a < 0x10000; ++a) {
      const double x = widened(static_cast<std::uint16_t>(a), bf16);
      if (std::isnan(x)) {
        ASSERT_EQ(tanh_half(a, bf16) & 0x7FFF, 0x7FFFu);
        ASSERT_EQ(ex2_half(a, bf16), 0x7FFFu);
        continue;
      }
      const double t = widened(static_cast<std::uint16_t>(tanh_half(a, bf16)), bf16);
      ASSERT_LE(std::fabs(t - std::tanh(x)), bf16 ? 0x1.001p-8 : std::exp2(-10.987)) << x;
      ASSERT_EQ(std::signbit(t), std::signbit(x));
      const double e = widened(static_cast<std::uint16_t>(ex2_half(a, bf16)), bf16), exact_value = std::exp2(x);
      if (exact_value >= (bf16 ? 0x1p128 : 65536.0))
        ASSERT_TRUE(std::isinf(e)) << x;
      else if (exact_value >= (bf16 ? 0x1p-126 : 0x1p-14))
        ASSERT_LE(std::fabs(e / exact_value - 1), bf16 ? 0x1p-7 : std::exp2(-9.9)) << x;
      else
        ASSERT_LE(std::fabs(e - exact_value), bf16 ? 0x1p-126 : 0x1p-24) << x;
    }
}

}  // namespace
}  // namespace ptx::num
