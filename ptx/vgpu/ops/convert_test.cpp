// Conversions against exact values: integers in 128 bits, floats in long double, 16-bit formats by search among all of their
// values.
#include <cfenv>
#include <cmath>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::f32;
using testing::flushed;
using testing::Operands;
__extension__ using Wide = __int128;

struct ConvertedInteger {
  const char* name;
  int width;
  bool is_signed;
  [[nodiscard]] Wide least() const { return is_signed ? -(static_cast<Wide>(1) << (width - 1)) : 0; }
  [[nodiscard]] Wide most() const { return (static_cast<Wide>(1) << (is_signed ? width - 1 : width)) - 1; }
  [[nodiscard]] Wide value(std::uint64_t bits) const {
    const auto low = static_cast<Wide>(bits) & ((static_cast<Wide>(1) << width) - 1);
    return is_signed && low > most() ? low - (static_cast<Wide>(1) << width) : low;
  }
  [[nodiscard]] Wide clamp(Wide v) const { return std::clamp(v, least(), most()); }
};
constexpr ConvertedInteger integer_types[] = {{"u8", 8, false}, {"u16", 16, false}, {"u32", 32, false}, {"u64", 64, false},
                                              {"s8", 8, true},  {"s16", 16, true},  {"s32", 32, true},  {"s64", 64, true}};
// 8-bit values live in wider registers.
std::string reg_of(int width) { return cat('b', std::max(width, 16)); }
std::uint64_t cut(Wide v, int width) { return static_cast<std::uint64_t>(v & ((static_cast<Wide>(1) << width) - 1)); }

const std::pair<char, int> letters_of_modes[] = {{'n', FE_TONEAREST}, {'z', FE_TOWARDZERO}, {'m', FE_DOWNWARD}, {'p', FE_UPWARD}};

std::vector<Operands> about_halves() {
  std::vector<Operands> rows = testing::make_rows(testing::integer_edges(), {0}, 64, 2000, false);
  for (std::uint64_t bit = 20; bit < 64; ++bit)  // around every halfway point of f32 and f64
    for (const std::uint64_t delta : {0u, 1u, 2u, 3u}) {
      const std::uint64_t top = std::uint64_t{1} << bit;
      for (const int tail : {24, 25, 53, 54})
        if (static_cast<int>(bit) >= tail)
          rows.push_back({0, top + (std::uint64_t{1} << (static_cast<int>(bit) - tail)) + delta - 1, 0, 0});
      rows.push_back({0, top - delta, 0, 0});
      rows.push_back({0, 0 - (top - delta), 0, 0});
    }
  return rows;
}

TEST(Cvt, ConvertsIntegers) {
  const auto rows = about_halves();
  for (const ConvertedInteger& from : integer_types)
    for (const ConvertedInteger& to : integer_types)
      for (const bool sat : {false, true})
        for (const int reg : {16, 32, 64}) {
          if (reg < to.width) continue;
          if (sat && from.least() >= to.least() && from.most() <= to.most()) continue;  // nothing to clamp: no such instruction
          const std::string spelled = cat("cvt", sat ? ".sat" : "", '.', to.name, '.', from.name, " %vd, %va");
          const auto results = testing::run_rows(spelled, {cat('b', reg), reg_of(from.width), "", ""}, rows);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            Wide v = from.value(rows[i].a);
            v = sat ? to.clamp(v) : to.value(static_cast<std::uint64_t>(v));
            ASSERT_EQ(hex(results[i]), hex(cut(v, reg))) << spelled << " a=0x" << hex(rows[i].a) << " into " << reg << " bits";
          }
        }
}

TEST(Cvt, ReadsWiderRegisters) {
  const auto rows = about_halves();
  for (const ConvertedInteger& from : integer_types)
    for (const int reg : {16, 32, 64}) {
      if (reg < from.width) continue;
      const auto results = testing::run_rows(cat("cvt.s64.", from.name, " %vd, %va"), {"b64", cat('b', reg), "", ""}, rows);
      for (std::size_t i = 0; i < rows.size(); ++i)
        ASSERT_EQ(results[i], cut(from.value(rows[i].a), 64)) << from.name << " in " << reg << " bits";
    }
}

TEST(Cvt, ReadsSpecialRegisters) {
  const std::vector<Operands> rows(64);
  const auto wide = testing::run_rows("cvt.u64.u32 %vd, %tid.x", {"b64", "", "", ""}, rows),
             narrow = testing::run_rows("cvt.u32.u64 %vd, %gridid", {"b32", "", "", ""}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(wide[i], i);
    EXPECT_EQ(narrow[i], 1u);
  }
}

// A float to an integer: nothing at all is rounded before the mode says so.
template <class Float>
void expect_to_integers(const std::vector<Operands>& rows, const std::string& reg, bool ftz) {
  for (const ConvertedInteger& to : integer_types)
    for (const auto& [letter, mode] : letters_of_modes) {
      const std::string spelled =
          cat("cvt.r", letter, "i", ftz ? ".ftz" : "", '.', to.name, sizeof(Float) == 4 ? ".f32" : ".f64", " %vd, %va");
      const auto results = testing::run_rows(spelled, {reg_of(to.width), reg, "", ""}, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        Float x;
        std::memcpy(&x, &rows[i].a, sizeof x);
        if (ftz && std::fpclassify(x) == FP_SUBNORMAL) x = 0;
        Wide expected = 0;
        if (std::isnan(x)) {
          expected = sizeof(Float) == 8 || to.width == 64 ? to.value(std::uint64_t{1} << (to.width - 1)) : 0;
        } else if (std::fabs(x) >= 0x1p70) {
          expected = x < 0 ? to.least() : to.most();
        } else {
          std::fesetround(mode);
          const volatile long double whole = std::nearbyint(static_cast<long double>(x));
          std::fesetround(FE_TONEAREST);
          expected = to.clamp(static_cast<Wide>(whole));
        }
        ASSERT_EQ(hex(results[i]), hex(cut(expected, std::max(to.width, 16)))) << spelled << " a=0x" << hex(rows[i].a);
      }
    }
}

TEST(Cvt, RoundsFloatsToIntegers) {
  auto rows = testing::make_rows(testing::f32_edges(), {0}, 32, 2000, true);
  for (int i = -2600; i < 2600; ++i) rows.push_back({0, std::bit_cast<std::uint32_t>(static_cast<float>(i) / 8.0f), 0, 0});
  expect_to_integers<float>(rows, "f32", false);
  expect_to_integers<float>(rows, "f32", true);
  rows = testing::make_rows(testing::f64_edges(), {0}, 64, 2000, true);
  for (int i = -2600; i < 2600; ++i) rows.push_back({0, std::bit_cast<std::uint64_t>(static_cast<double>(i) / 8.0), 0, 0});
  for (int bit = 30; bit < 65; ++bit)
    for (const double delta : {-1.0, -0.5, 0.0, 0.5, 1.0})
      for (const double sign : {-1.0, 1.0})
        rows.push_back({0, std::bit_cast<std::uint64_t>(sign * (std::ldexp(1.0, bit) + delta)), 0, 0});
  expect_to_integers<double>(rows, "f64", false);
}

template <class Float>
void expect_from_integers(const std::string& reg) {
  const auto rows = about_halves();
  for (const ConvertedInteger& from : integer_types)
    for (const auto& [letter, mode] : letters_of_modes)
      for (const bool sat : {false, true}) {
        const std::string spelled =
            cat("cvt.r", letter, sat ? ".sat" : "", sizeof(Float) == 4 ? ".f32." : ".f64.", from.name, " %vd, %va");
        const auto results = testing::run_rows(spelled, {reg, reg_of(from.width), "", ""}, rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          std::fesetround(mode);
          const volatile auto exact = static_cast<long double>(from.value(rows[i].a));  // 64 bits of significand hold every value
          const volatile auto rounded = static_cast<Float>(exact);
          std::fesetround(FE_TONEAREST);
          Float expected = rounded == 0 ? Float{0} : rounded;
          if (sat) expected = std::clamp(expected, Float{0}, Float{1});
          std::uint64_t bits = 0;
          std::memcpy(&bits, &expected, sizeof expected);
          ASSERT_EQ(hex(results[i]), hex(bits)) << spelled << " a=0x" << hex(rows[i].a);
        }
      }
}

TEST(Cvt, RoundsIntegersToFloats) {
  expect_from_integers<float>("f32");
  expect_from_integers<double>("f64");
}

// ---- 16-bit formats

struct Format {
  const char* name;
  int exponent_bits, mantissa_bits;
  [[nodiscard]] std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  [[nodiscard]] long double value(std::uint32_t bits) const {
    const std::uint32_t exponent = bits >> mantissa_bits, mantissa = bits & ((1u << mantissa_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == 0) return std::ldexp(static_cast<long double>(mantissa), 1 - bias - mantissa_bits);
    return std::ldexp(static_cast<long double>(mantissa + (1u << mantissa_bits)),
                      static_cast<int>(exponent) - bias - mantissa_bits);
  }
};
constexpr Format f16{"f16", 5, 10}, bf16{"bf16", 8, 7};

std::uint32_t to_format(const Format& f, float x, char mode, bool relu, bool satfinite) {
  if (std::isnan(x)) return 0x7FFF;
  if (relu && std::signbit(x)) return 0;
  const std::uint32_t sign = std::signbit(x) ? 0x8000u : 0;
  const long double size = std::fabs(static_cast<long double>(x));
  const std::uint32_t most = f.infinity() - 1;
  const bool up = mode == 'p' ? sign == 0 : mode == 'm' ? sign != 0 : false;
  std::uint32_t result;
  if (std::isinf(x)) {
    result = f.infinity();
  } else if (size > f.value(most)) {
    // to nearest, the tie between the largest value and the next one, were there one, goes to that even one: infinity
    const long double next = std::ldexp(1.0L, (1 << (f.exponent_bits - 1)));
    result = mode == 'n' ? (size >= (f.value(most) + next) / 2 ? f.infinity() : most) : up ? f.infinity() : most;
  } else {
    std::uint32_t low = 0, high = most;  // the largest value not above
    while (low < high) {
      const std::uint32_t middle = (low + high + 1) / 2;
      if (f.value(middle) <= size)
        low = middle;
      else
        high = middle - 1;
    }
    result = low;
    const long double rest = size - f.value(low);
    if (rest != 0) {
      const long double gap = f.value(low + 1) - f.value(low);
      if (mode == 'n' ? (rest > gap / 2 || (rest == gap / 2 && (low & 1) != 0)) : up) ++result;
    }
  }
  if (satfinite && result == f.infinity()) result = most;
  return result | sign;
}

std::vector<Operands> floats() {
  auto rows = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 4000, true);
  std::mt19937_64 random(7);
  for (int i = 0; i < 4000; ++i) {  // everywhere in the range of f16, and at its halfway points
    const std::uint64_t exponent = 127 - 26 + random() % 44;
    rows.push_back({0, (random() & 0x807FFFFF) | exponent << 23, (random() & 0x807FE000) | exponent << 23, 0});
    rows.push_back({0, (random() & 0x807FF000) | 0x1000 | exponent << 23, (random() & 0x807F8000) | 0x8000 | exponent << 23, 0});
  }
  return rows;
}

TEST(Cvt, RoundsToF16) {
  const auto rows = floats();
  for (const auto& [letter, mode] : letters_of_modes)
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true}) {
        const std::string spelled = cat("cvt.r", letter, ftz ? ".ftz" : "", sat ? ".sat" : "", ".f16.f32 %vd, %va");
        const auto results = testing::run_rows(spelled, {"b16", "f32", "", ""}, rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          float x = f32(rows[i].a);  // not flushed: what an H200 does
          if (sat) x = std::isnan(x) || x <= 0 ? 0.0f : std::min(x, 1.0f);
          ASSERT_EQ(hex(results[i], 4), hex(to_format(f16, x, letter, false, false), 4))
              << spelled << " a=0x" << hex(rows[i].a, 8);
        }
      }
}

TEST(Cvt, RoundsToBf16AndToPairs) {
  const auto rows = floats();
  for (const char letter : {'n', 'z'})
    for (const bool relu : {false, true})
      for (const bool satfinite : {false, true}) {
        const std::string modifiers = cat(relu ? ".relu" : "", satfinite ? ".satfinite" : "");
        const auto one = testing::run_rows(cat("cvt.r", letter, modifiers, ".bf16.f32 %vd, %va"), {"b16", "f32", "", ""}, rows);
        for (std::size_t i = 0; i < rows.size(); ++i)
          ASSERT_EQ(hex(one[i], 4), hex(to_format(bf16, f32(rows[i].a), letter, relu, satfinite), 4))
              << "bf16 of 0x" << hex(rows[i].a, 8);
        for (const Format& f : {f16, bf16}) {
          const auto two = testing::run_rows(cat("cvt.r", letter, modifiers, '.', f.name, "x2.f32 %vd, %va, %vb"),
                                             {"b32", "f32", "f32", ""}, rows);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::uint32_t expected = to_format(f, f32(rows[i].a), letter, relu, satfinite) << 16 |
                                           to_format(f, f32(rows[i].b), letter, relu, satfinite);
            ASSERT_EQ(hex(two[i], 8), hex(expected, 8))
                << f.name << "x2 of 0x" << hex(rows[i].a, 8) << " and 0x" << hex(rows[i].b, 8);
          }
        }
      }
}

TEST(Cvt, WidensEverySixteenBitValue) {
  std::vector<Operands> rows;
  for (std::uint64_t bits = 0; bits < 65536; ++bits) rows.push_back({0, bits, 0, 0});
  for (const Format& f : {f16, bf16}) {
    const auto results = testing::run_rows(cat("cvt.f32.", f.name, " %vd, %va"), {"f32", "b16", "", ""}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t magnitude = i & 0x7FFF;
      std::uint32_t expected =
          f.exponent_bits == 5 ? 0x7FFFFFFF : static_cast<std::uint32_t>(i) << 16;  // a bf16 NaN keeps its bits
      if (magnitude <= f.infinity()) {
        const auto value = magnitude == f.infinity() ? INFINITY : static_cast<float>(f.value(magnitude));
        expected = std::bit_cast<std::uint32_t>((i & 0x8000) != 0 ? -value : value);
      }
      ASSERT_EQ(hex(results[i], 8), hex(expected, 8)) << f.name << " 0x" << hex(i, 4);
    }
  }
}

TEST(Cvt, RoundsFloatsToWholeNumbersAndBetweenWidths) {
  const auto rows = floats();
  for (const bool ftz : {false, true})
    for (const bool sat : {false, true}) {
      const std::string modifiers = cat(ftz ? ".ftz" : "", sat ? ".sat" : "");
      const auto finish = [&](float x) {
        if (ftz) x = flushed(x);
        if (sat) x = std::isnan(x) || x <= 0 ? 0.0f : std::min(x, 1.0f);
        return std::isnan(x) ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(x);
      };
      const auto in = [&](std::uint64_t bits) { return ftz ? flushed(f32(bits)) : f32(bits); };
      const auto same = testing::run_rows(cat("cvt", modifiers, ".f32.f32 %vd, %va"), {"f32", "f32", "", ""}, rows);
      for (std::size_t i = 0; i < rows.size(); ++i)
        ASSERT_EQ(hex(same[i], 8), hex(finish(in(rows[i].a)), 8)) << "a=0x" << hex(rows[i].a, 8);
      for (const auto& [letter, mode] : letters_of_modes) {
        const auto whole =
            testing::run_rows(cat("cvt.r", letter, "i", modifiers, ".f32.f32 %vd, %va"), {"f32", "f32", "", ""}, rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          std::fesetround(mode);
          const volatile float x = in(rows[i].a);
          const volatile float r = std::nearbyint(x);
          std::fesetround(FE_TONEAREST);
          ASSERT_EQ(hex(whole[i], 8), hex(finish(r), 8)) << "r" << letter << "i a=0x" << hex(rows[i].a, 8);
        }
      }
    }
}

TEST(Cvt, ConvertsBetweenF32AndF64) {
  const auto rows = floats();
  const auto widened = testing::run_rows("cvt.f64.f32 %vd, %va", {"f64", "f32", "", ""}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double expected = f32(rows[i].a);
    const auto bits = static_cast<std::uint32_t>(rows[i].a);
    if (std::isnan(expected))
      ASSERT_EQ(widened[i], std::uint64_t{bits >> 31} << 63 | 0x7FF8000000000000 | std::uint64_t{bits & 0x7FFFFF} << 29);
    else
      ASSERT_EQ(widened[i], std::bit_cast<std::uint64_t>(expected)) << "a=0x" << hex(rows[i].a, 8);
  }
  auto doubles = testing::make_rows(testing::f64_edges(), {0}, 64, 4000, true);
  std::mt19937_64 random(3);
  for (int i = 0; i < 4000; ++i)  // over the whole range of f32, halfway points among them
    doubles.push_back({0,
                       (random() & (i % 2 == 0 ? 0x800FFFFFFFFFFFFF : 0x800FFFFFE0000000)) | (i % 4 == 1 ? 0x10000000 : 0) |
                           (1023 - 152 + random() % 282) << 52,
                       0, 0});
  for (const bool ftz : {false, true})
    for (const auto& [letter, mode] : letters_of_modes) {
      const auto narrowed =
          testing::run_rows(cat("cvt.r", letter, ftz ? ".ftz" : "", ".f32.f64 %vd, %va"), {"f32", "f64", "", ""}, doubles);
      for (std::size_t i = 0; i < doubles.size(); ++i) {
        std::fesetround(mode);
        const volatile double x = std::bit_cast<double>(doubles[i].a);
        const volatile auto r = static_cast<float>(x);
        std::fesetround(FE_TONEAREST);
        std::fesetround(mode);
        const volatile auto large = static_cast<float>(x * 0x1p60);  // rounded as if there were smaller exponents
        std::fesetround(FE_TONEAREST);
        const float kept = ftz && std::fabs(large) < 0x1p-66f ? std::copysign(0.0f, r) : r;
        const std::uint64_t bits = doubles[i].a;
        const std::uint32_t expected = std::isnan(kept)
                                           ? static_cast<std::uint32_t>((bits >> 63) << 31 | 0x7FC00000 | (bits >> 29 & 0x3FFFFF))
                                           : std::bit_cast<std::uint32_t>(kept);
        ASSERT_EQ(hex(narrowed[i], 8), hex(expected, 8)) << "r" << letter << " a=0x" << hex(doubles[i].a, 16);
      }
    }
}

}  // namespace
}  // namespace ptx::vgpu
