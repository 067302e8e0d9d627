// sources/words.cu against loops over bytes, halves and bits.
#include <bit>

#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

// f of each lane of two words, lanes being as wide as Lane.
template <class Lane, class F>
std::uint32_t each(std::uint32_t x, std::uint32_t y, F f) {
  std::uint32_t result = 0;
  constexpr unsigned width = 8 * sizeof(Lane), mask = (1U << width) - 1;
  for (unsigned at = 0; at < 32; at += width)
    result |= (static_cast<std::uint32_t>(f(int{static_cast<Lane>(x >> at)}, int{static_cast<Lane>(y >> at)})) & mask) << at;
  return result;
}
using Byte = std::uint8_t;
using Half = std::uint16_t;
using SignedHalf = std::int16_t;
using SignedByte = std::int8_t;

TEST(Words, OfSeveralNumbers) {
  for (const Played& run : played("words")) {
    const auto a = run.given<std::uint32_t>("a"), b = run.given<std::uint32_t>("b");
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t x = a[i], y = b[i];
      std::uint32_t differences = 0;
      for (unsigned at = 0; at < 32; at += 16)
        differences += static_cast<std::uint32_t>(std::abs(SignedHalf(x >> at) - SignedHalf(y >> at)));
      for (const std::uint32_t value : {
               each<Byte>(x, y, [](int p, int q) { return p + q; }),
               each<SignedHalf>(x, y, [](int p, int q) { return std::clamp(p - q, -32768, 32767); }),
               each<Byte>(x, y, [](int p, int q) { return std::abs(p - q); }),
               each<SignedHalf>(x, y, [](int p, int q) { return std::max(p, q); }),
               each<Byte>(x, y, [](int p, int q) { return std::min(p, q); }),
               each<Byte>(x, y, [](int p, int q) { return (p + q + 1) / 2; }),
               each<Half>(x, y, [](int p, int q) { return p > q ? 0xFFFF : 0; }),
               each<Byte>(x, y, [](int p, int q) { return std::min(p + q, 255); }),
               differences,
               each<SignedByte>(x, y, [](int p, int) { return std::min(-p, 127); }),
               each<Byte>(x, y, [](int p, int q) { return (p & 15) == (q & 15) ? 1 : 0; }),
               each<SignedHalf>(x, y, [](int p, int) { return std::abs(p); }),
           })
        expected.push_back(value);
    }
    expect_made(run, "simd", expected);
  }
}

TEST(Words, Bits) {
  for (const Played& run : played("words")) {
    const auto a = run.given<std::uint32_t>("a"), b = run.given<std::uint32_t>("b");
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t x = a[i], y = b[i];
      const std::uint64_t pair = std::uint64_t{y} << 32 | x;
      std::uint32_t signed_dot = 1000, dot = 1, reversed = 0, permuted = 0;
      for (unsigned at = 0; at < 32; at += 8) {
        signed_dot += static_cast<std::uint32_t>(SignedByte(x >> at) * SignedByte(y >> at));
        dot += Byte(x >> at) * Byte(y >> at);
      }
      const int half_dot = -5 + SignedHalf(x) * SignedByte(y) + SignedHalf(x >> 16) * SignedByte(y >> 8);
      for (unsigned at = 0; at < 32; ++at) reversed |= (x >> at & 1) << (31 - at);
      constexpr unsigned picked[] = {5, 0, 2, 7};
      for (unsigned at = 0; at < 4; ++at) permuted |= static_cast<std::uint32_t>(Byte(pair >> 8 * picked[at])) << 8 * at;
      const unsigned left = y & 31, right = std::min(y & 63, 32U);
      const std::uint32_t shifted = x << (y & 31);
      for (const std::uint32_t value :
           {signed_dot, dot, static_cast<std::uint32_t>(half_dot), static_cast<std::uint32_t>(pair << left >> 32),
            static_cast<std::uint32_t>(pair >> right), permuted, reversed,
            static_cast<std::uint32_t>(std::countl_zero(x >> (y & 31)) * 100 +
                                       (shifted == 0 ? 0 : std::countr_zero(shifted) + 1)),
            static_cast<std::uint32_t>(std::uint64_t{x} * y >> 32),
            static_cast<std::uint32_t>(std::int64_t{static_cast<std::int32_t>(x)} * static_cast<std::int32_t>(y) >> 32),
            77 + (x > y ? x - y : y - x),
            static_cast<std::uint32_t>(std::popcount(x) + std::popcount((std::uint64_t{x} << 32 | y) * 3))})
        expected.push_back(value);
    }
    expect_made(run, "bits", expected);
  }
}

// A quotient of 128 by 64 bits, bit by bit; its low 64 bits.
std::uint64_t long_division(std::uint64_t high, std::uint64_t low, std::uint64_t by) {
  std::uint64_t rest = 0, quotient = 0;
  for (int bit = 127; bit >= 0; --bit) {
    const bool carry = rest >> 63 != 0;
    rest = rest << 1 | ((bit >= 64 ? high >> (bit - 64) : low >> bit) & 1);
    quotient <<= 1;
    if (carry || rest >= by) rest -= by, quotient |= 1;
  }
  return quotient;
}

TEST(Words, Divisions) {
  for (const Played& run : played("words")) {
    const auto a = run.given<std::uint64_t>("wide"), b = run.given<std::uint64_t>("narrow");
    std::vector<std::uint64_t> expected;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint64_t x = a[i], y = b[i];
      const auto sx = static_cast<std::int64_t>(x), sy = static_cast<std::int64_t>(y);
      const std::uint64_t x0 = x & 0xFFFFFFFF, x1 = x >> 32, y0 = y & 0xFFFFFFFF, y1 = y >> 32;
      const std::uint64_t middle = (x0 * y0 >> 32) + (x1 * y0 & 0xFFFFFFFF) + (x0 * y1 & 0xFFFFFFFF);
      for (const std::uint64_t value :
           {x / y, x % y, static_cast<std::uint64_t>(sx / sy), static_cast<std::uint64_t>(sx % sy),
            std::uint64_t{static_cast<std::uint32_t>(x) / (static_cast<std::uint32_t>(y) | 1)},
            static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(x) % 1000}),
            x1 * y1 + (x1 * y0 >> 32) + (x0 * y1 >> 32) + (middle >> 32), long_division(x >> 14, x << 50 | y, y >> 7 | 1)})
        expected.push_back(value);
    }
    expect_made(run, "divisions", expected);
  }
}

TEST(Words, DynamicProgramming) {
  for (const Played& run : played("words")) {
    const auto a = run.given<int>("a"), b = run.given<int>("b");
    std::vector<int> expected;
    for (std::size_t i = 0; i < 64; ++i) {
      const int x = a[i], y = b[i];
      const auto sum = static_cast<int>(static_cast<std::uint32_t>(x) + static_cast<std::uint32_t>(y));
      const auto pairs = each<SignedHalf>(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                                          [](int p, int q) { return std::min<int>(SignedHalf(p + q), 256); });
      for (const int value : {std::max(sum, 12345), std::max({x, y, x ^ y}), std::max(std::min({x, y, 4000}), 0), std::max(x, y),
                              x >= y ? 1 : 0, static_cast<int>(pairs)})
        expected.push_back(value);
    }
    expect_made(run, "dpx", expected);
  }
}

}  // namespace
}  // namespace ptx::producers
