// Conversions of halves and f64 against exact numbers, and integers against long double.
#include <cfenv>
#include <cmath>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using num::Rounding;
using testing::Operands;

struct HalfOf {
  const char* name;
  const num::Format& format;
  bool bf16;
};
const HalfOf both_halves[] = {{"f16", num::f16_format, false}, {"bf16", num::bf16_format, true}};
struct RoundingOf {
  const char* suffix;
  Rounding rounding;
  int host;
};
const RoundingOf roundings[] = {{"n", Rounding::rn, FE_TONEAREST},
                                {"z", Rounding::rz, FE_TOWARDZERO},
                                {"m", Rounding::rm, FE_DOWNWARD},
                                {"p", Rounding::rp, FE_UPWARD}};
struct IntegerOf {
  const char* name;
  int bits;
  bool is_signed;
};
const IntegerOf integers[] = {{"u8", 8, false}, {"u16", 16, false}, {"u32", 32, false}, {"u64", 64, false},
                              {"s8", 8, true},  {"s16", 16, true},  {"s32", 32, true},  {"s64", 64, true}};

std::vector<Operands> every_half(std::uint64_t step = 1) {
  std::vector<Operands> rows;
  for (std::uint64_t bits = 0; bits < 0x10000; bits += step) rows.push_back({0, bits, 0, 0});
  return rows;
}
long double whole(long double x, int host) {
  std::fesetround(host);
  const volatile long double y = x;
  const volatile long double r = std::nearbyint(y);
  std::fesetround(FE_TONEAREST);
  return r;
}
double saturated(double x) { return !(x > 0) ? 0 : std::min(x, 1.0); }
std::uint64_t in_format(double x, const num::Format& format, Rounding rounding) {
  return num::rounded(num::exact(x), format, {.rounding = rounding});
}

TEST(CvtHalf, RoundsHalvesToIntegers) {
  const auto rows = every_half(7);
  for (const HalfOf& from : both_halves)
    for (const IntegerOf& to : integers)
      for (const RoundingOf& how : roundings)
        for (const bool sat : {false, true}) {
          if (sat && from.bf16) continue;
          const std::string reg = cat('b', from.bf16 ? to.bits : std::max(to.bits, 16));
          const std::string spelled = cat("cvt.r", how.suffix, "i", sat ? ".sat." : ".", to.name, '.', from.name, " %vd, %va");
          const auto results = testing::run_rows(spelled, {reg, "b16", "", ""}, rows);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            const double x = num::widened(static_cast<std::uint16_t>(rows[i].a), from.bf16);
            __extension__ using Wide = __int128;
            const Wide least = to.is_signed ? -(Wide{1} << (to.bits - 1)) : 0;
            const Wide most = (Wide{1} << (to.bits - (to.is_signed ? 1 : 0))) - 1;
            Wide want = to.bits == 64 ? Wide{1} << 63 : 0;
            if (!std::isnan(x)) {
              const long double w = std::isinf(x) ? static_cast<long double>(x) : whole(static_cast<long double>(x), how.host);
              want = w > static_cast<long double>(most)    ? most
                     : w < static_cast<long double>(least) ? least
                                                           : static_cast<Wide>(w);
            }
            const int kept = std::max(to.bits, from.bf16 ? to.bits : 16);
            const std::uint64_t mask = kept == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << kept) - 1;
            ASSERT_EQ(hex(results[i]), hex(static_cast<std::uint64_t>(want) & mask)) << spelled << " a=0x" << hex(rows[i].a, 4);
          }
        }
}

TEST(CvtHalf, RoundsIntegersOnce) {
  std::vector<Operands> rows;
  for (const std::uint64_t x : testing::integer_edges()) rows.push_back({0, x, 0, 0});
  for (int bit = 7; bit < 64; ++bit)  // ties of both formats and what is next to them
    for (const std::uint64_t tail : {std::uint64_t{1} << std::max(bit - 8, 0), std::uint64_t{1} << std::max(bit - 11, 0)})
      for (const std::int64_t delta : {-1, 0, 1})
        for (const std::uint64_t odd : {0u, 1u}) {
          const std::uint64_t x = (std::uint64_t{1} << bit) + odd * 2 * tail + tail + static_cast<std::uint64_t>(delta);
          rows.push_back({0, x, 0, 0});
          rows.push_back({0, 0 - x, 0, 0});
        }
  for (const HalfOf& to : both_halves)
    for (const IntegerOf& from : integers)
      for (const RoundingOf& how : roundings)
        for (const bool sat : {false, true}) {
          if (sat && to.bf16) continue;
          const std::string spelled = cat("cvt.r", how.suffix, sat ? ".sat." : ".", to.name, '.', from.name, " %vd, %va");
          const std::string reg = cat('b', to.bf16 ? from.bits : std::max(from.bits, 16));
          const auto results = testing::run_rows(spelled, {"b16", reg, "", ""}, rows);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::uint64_t up = rows[i].a << (64 - from.bits);
            num::Exact x;
            x.negative = from.is_signed && up >> 63 != 0;
            x.significand = (x.negative ? 0 - up : up) >> (64 - from.bits);
            x.kind = x.significand == 0 ? num::Exact::Kind::zero : num::Exact::Kind::finite;
            std::uint64_t want = num::rounded(x, to.format, {.rounding = how.rounding});
            if (sat) want = x.kind == num::Exact::Kind::zero || x.negative ? 0 : 0x3C00;
            ASSERT_EQ(hex(results[i], 4), hex(want, 4)) << spelled << " a=0x" << hex(rows[i].a);
          }
        }
}

TEST(CvtHalf, WidensAndRoundsEveryHalf) {
  const auto rows = every_half();
  const auto widened_bits = [](std::uint64_t bits, bool bf16) {  // NaN keeps sign and payload, and is made quiet
    const std::uint64_t payload = bf16 ? (bits & 0x7F) << 45 : (bits & 0x3FF) << 42;
    const double x = bf16 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16))
                          : num::widened(static_cast<std::uint16_t>(bits), false);
    return std::isnan(x) ? (bits >> 15) << 63 | 0x7FF8000000000000 | payload : std::bit_cast<std::uint64_t>(x);
  };
  for (const HalfOf& from : both_halves) {
    for (const bool sat : {false, true}) {
      if (sat && from.bf16) continue;
      const auto wide =
          testing::run_rows(cat("cvt", sat ? ".sat" : "", ".f64.", from.name, " %vd, %va"), {"f64", "b16", "", ""}, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint64_t bits = widened_bits(i, from.bf16);
        ASSERT_EQ(hex(wide[i], 16), hex(sat ? std::bit_cast<std::uint64_t>(saturated(std::bit_cast<double>(bits))) : bits, 16))
            << hex(i, 4);
      }
      for (int place = -1; place < 4; ++place) {
        const bool rounds = place >= 0;
        const RoundingOf* how = &roundings[std::max(place, 0)];
        const auto same = testing::run_rows(
            cat("cvt", rounds ? cat(".r", how->suffix, "i") : "", sat ? ".sat." : ".", from.name, '.', from.name, " %vd, %va"),
            {"b16", "b16", "", ""}, rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          auto x = static_cast<long double>(num::widened(static_cast<std::uint16_t>(i), from.bf16));
          if (rounds) x = whole(x, how->host);
          auto y = static_cast<double>(x);
          if (sat) y = saturated(y);
          ASSERT_EQ(hex(same[i], 4), hex(in_format(y, from.format, Rounding::rn), 4)) << from.name << " 0x" << hex(i, 4);
        }
      }
    }
    if (from.bf16)
      for (const RoundingOf& how : roundings)
        for (const bool ftz : {false, true}) {
          const auto wide =
              testing::run_rows(cat("cvt.r", how.suffix, ftz ? ".ftz" : "", ".f32.bf16 %vd, %va"), {"f32", "b16", "", ""}, rows);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            std::uint32_t want = static_cast<std::uint32_t>(i) << 16;
            if (ftz && (i & 0x7FFF) > 0x7F80) want = 0x7FFFFFFF;
            if (ftz && (i & 0x7F80) == 0) want &= 0x80000000;
            ASSERT_EQ(hex(wide[i], 8), hex(want, 8));
          }
        }
    const HalfOf& to = both_halves[from.bf16 ? 0 : 1];
    for (const RoundingOf& how : roundings) {
      const auto other =
          testing::run_rows(cat("cvt.r", how.suffix, '.', to.name, '.', from.name, " %vd, %va"), {"b16", "b16", "", ""}, rows);
      const auto wide = from.bf16
                            ? testing::run_rows(cat("cvt.r", how.suffix, ".f64.bf16 %vd, %va"), {"f64", "b16", "", ""}, rows)
                            : std::vector<std::uint64_t>{};
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(hex(other[i], 4), hex(num::rounded(num::exact(i, from.format), to.format, {.rounding = how.rounding}), 4))
            << to.name << " of " << from.name << " 0x" << hex(i, 4);
        if (!wide.empty()) {
          ASSERT_EQ(hex(wide[i], 16), hex(widened_bits(i, true), 16));
        }
      }
    }
  }
}

TEST(CvtHalf, RoundsFloatsAndDoublesOnce) {
  auto doubles = testing::make_rows(testing::f64_edges(), {0}, 64, 2000, true);
  auto floats = testing::make_rows(testing::f32_edges(), {0}, 32, 2000, true);
  std::mt19937_64 random(8);
  for (int i = 0; i < 4000; ++i) {  // in the range of f16 and bf16, on ties and next to them
    const std::uint64_t field = i % 2 == 0 ? 1023 - 27 + random() % 45 : 1023 - 136 + random() % 268;
    const std::uint64_t kept = random() & (i % 4 < 2 ? 0x800FFE0000000000 : 0x800FFFFFFFFFFFFF);
    doubles.push_back({0, (kept | field << 52) + random() % 3 - 1, 0, 0});
    floats.push_back(
        {0, std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(kept | field << 52))) + random() % 3 - 1, 0,
         0});
  }
  for (const HalfOf& to : both_halves)
    for (const RoundingOf& how : roundings) {
      for (const bool sat : {false, true}) {
        if (sat && to.bf16) continue;
        const auto results = testing::run_rows(cat("cvt.r", how.suffix, sat ? ".sat." : ".", to.name, ".f64 %vd, %va"),
                                               {"b16", "f64", "", ""}, doubles);
        for (std::size_t i = 0; i < doubles.size(); ++i) {
          double x = std::bit_cast<double>(doubles[i].a);
          if (sat) x = saturated(x);
          std::uint64_t want = in_format(x, to.format, how.rounding);
          if (std::isnan(x))  // sign and the upper part of the payload, made quiet
            want = doubles[i].a >> 63 << 15 |
                   (to.bf16 ? 0x7FC0 | (doubles[i].a >> 45 & 0x3F) : 0x7E00 | (doubles[i].a >> 42 & 0x1FF));
          ASSERT_EQ(hex(results[i], 4), hex(want, 4)) << to.name << " of 0x" << hex(doubles[i].a, 16);
        }
      }
      if (!to.bf16) continue;
      for (const bool ftz : {false, true}) {
        const auto results =
            testing::run_rows(cat("cvt.r", how.suffix, ftz ? ".ftz" : "", ".bf16.f32 %vd, %va"), {"b16", "f32", "", ""}, floats);
        for (std::size_t i = 0; i < floats.size(); ++i) {
          const float x = ftz ? testing::flushed(testing::f32(floats[i].a)) : testing::f32(floats[i].a);
          ASSERT_EQ(hex(results[i], 4), hex(num::rounded(num::exact(x), to.format, {.rounding = how.rounding}), 4))
              << "0x" << hex(floats[i].a, 8);
        }
      }
    }
  for (const char* rounding : {"n", "z"})
    for (const bool relu : {false, true})
      for (const bool finite : {false, true}) {
        if (!relu && !finite) continue;
        const auto results =
            testing::run_rows(cat("cvt.r", rounding, relu ? ".relu" : "", finite ? ".satfinite" : "", ".f16.f32 %vd, %va"),
                              {"b16", "f32", "", ""}, floats);
        const num::Entry how{.rounding = *rounding == 'n' ? Rounding::rn : Rounding::rz, .satfinite = finite, .relu = relu};
        for (std::size_t i = 0; i < floats.size(); ++i)
          ASSERT_EQ(hex(results[i], 4), hex(num::rounded(num::exact(testing::f32(floats[i].a)), num::f16_format, how), 4))
              << "0x" << hex(floats[i].a, 8);
      }
}

TEST(CvtDouble, RoundsToWholeNumbersAndSaturates) {
  auto rows = testing::make_rows(testing::f64_edges(), {0}, 64, 2000, true);
  for (int i = -100; i < 100; ++i) rows.push_back({0, std::bit_cast<std::uint64_t>(i / 8.0), 0, 0});
  for (const bool sat : {false, true})
    for (int place = -1; place < 4; ++place) {
      const bool rounds = place >= 0;
      const RoundingOf* how = &roundings[std::max(place, 0)];
      const auto results =
          testing::run_rows(cat("cvt", rounds ? cat(".r", how->suffix, "i") : "", sat ? ".sat" : "", ".f64.f64 %vd, %va"),
                            {"f64", "f64", "", ""}, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        double x = std::bit_cast<double>(rows[i].a);
        std::uint64_t want = rows[i].a;
        if (std::isnan(x)) {
          if (rounds) want |= 0x0008000000000000;
          if (sat) want = 0;
        } else {
          if (rounds) x = static_cast<double>(whole(static_cast<long double>(x), how->host));
          want = std::bit_cast<std::uint64_t>(sat ? saturated(x) : x);
        }
        ASSERT_EQ(hex(results[i], 16), hex(want, 16)) << "a=0x" << hex(rows[i].a, 16);
      }
    }
}

TEST(CvtSpecial, NarrowsAndClamps) {
  const std::vector<Operands> rows(600);
  const auto low = testing::run_rows("cvt.u8.u32 %vd, %tid.x", {"b16", "", "", ""}, rows);
  const auto wide = testing::run_rows("cvt.s32.s8 %vd, %tid.x", {"b32", "", "", ""}, rows);
  const auto clamped = testing::run_rows("cvt.sat.s8.u32 %vd, %tid.x", {"b16", "", "", ""}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t tid = i % testing::rows_of_block;
    ASSERT_EQ(low[i], tid & 0xFF);
    ASSERT_EQ(wide[i], static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<std::int8_t>(tid))));
    ASSERT_EQ(clamped[i], std::min(tid, 127u));
  }
  // one of each row of the table, by the type of the source; %gridid, the one of 64 bits, is 1
  for (const char* spelled : {"u8 s8", "u16 s8", "u32 u8", "u64 s64", "s8 u8", "s16 s8", "s32 u16", "s64 s8"}) {
    const std::string from(spelled, std::string_view(spelled).find(' ')), to(spelled + from.size() + 1);
    const bool wide_source = from.ends_with("64");
    const auto results = testing::run_rows(cat("cvt.sat.", to, '.', from, wide_source ? " %vd, %gridid" : " %vd, %laneid"),
                                           {cat('b', std::max(std::stoi(to.substr(1)), 16)), "", "", ""}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(results[i], wide_source ? 1 : i % 32) << spelled;
  }
}

}  // namespace
}  // namespace ptx::vgpu
