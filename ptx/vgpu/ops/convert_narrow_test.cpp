// Conversions from and to the formats of tensor cores, and cvt.pack, against exact numbers and plain integers.
#include <cmath>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using num::Rounding;
using testing::Operands;

const std::vector<std::string> hopper = {".target sm_90a"}, blackwell = {".version 9.1", ".target sm_100a"};
struct SmallFormat {
  const char* name;
  const num::Format& format;
  int stride;
  const char* reg;
  const std::vector<std::string>& header;
};
const SmallFormat small_formats[] = {{"e4m3x2", num::e4m3_format, 8, "b16", hopper},
                                     {"e5m2x2", num::e5m2_format, 8, "b16", hopper},
                                     {"e2m3x2", num::e2m3_format, 8, "b16", blackwell},
                                     {"e3m2x2", num::e3m2_format, 8, "b16", blackwell},
                                     {"e2m1x2", num::e2m1_format, 4, "b8", blackwell}};

std::vector<Operands> float_rows() {
  auto rows = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 1000, true);
  std::mt19937_64 random(9);
  for (int i = 0; i < 4000; ++i) {  // in the range of the small formats, on their ties and next to them
    const auto draw = [&] {
      const std::uint64_t field = 127 - 18 + random() % 36;
      return ((random() & (i % 2 == 0 ? 0x80780000 : 0x807FFFFF)) | field << 23) + random() % 3 - 1;
    };
    rows.push_back({0, draw(), draw(), random() & 0xFFFFFFFF});
  }
  for (Operands& row : rows) row.c = random() & 0xFFFFFFFF;
  return rows;
}
std::vector<Operands> half_rows(const std::vector<Operands>& floats, const num::Format& format) {
  auto rows = floats;
  for (Operands& row : rows) {
    const auto half = [&](std::uint64_t bits) { return num::rounded(num::exact(testing::f32(bits)), format); };
    row.a = half(row.a) << 16 | half(row.b);
  }
  return rows;
}

TEST(CvtSmall, RoundsIntoEveryFormat) {
  const auto floats = float_rows();
  const auto f16 = half_rows(floats, num::f16_format), bf16 = half_rows(floats, num::bf16_format);
  for (const SmallFormat& to : small_formats)
    for (const bool relu : {false, true}) {
      const auto into = [&](std::uint64_t bits, const num::Format& from) {
        return num::rounded(num::exact(bits, from), to.format, {.satfinite = true, .relu = relu});
      };
      const std::string opcode = cat("cvt.rn.satfinite", relu ? ".relu." : ".", to.name);
      const auto of_floats =
          testing::run_rows(cat(opcode, ".f32 %vd, %va, %vb"), {to.reg, "f32", "f32", ""}, floats, ~0u, to.header);
      const auto of_f16 = testing::run_rows(cat(opcode, ".f16x2 %vd, %va"), {to.reg, "b32", "", ""}, f16, ~0u, to.header);
      const auto of_bf16 = testing::run_rows(cat(opcode, ".bf16x2 %vd, %va"), {to.reg, "b32", "", ""}, bf16, ~0u, blackwell);
      for (std::size_t i = 0; i < floats.size(); ++i) {
        ASSERT_EQ(hex(of_floats[i], 4),
                  hex(into(floats[i].a, num::f32_format) << to.stride | into(floats[i].b, num::f32_format), 4))
            << opcode << " a=0x" << hex(floats[i].a, 8) << " b=0x" << hex(floats[i].b, 8);
        ASSERT_EQ(hex(of_f16[i], 4),
                  hex(into(f16[i].a >> 16, num::f16_format) << to.stride | into(f16[i].a & 0xFFFF, num::f16_format), 4))
            << opcode << " a=0x" << hex(f16[i].a, 8);
        ASSERT_EQ(hex(of_bf16[i], 4),
                  hex(into(bf16[i].a >> 16, num::bf16_format) << to.stride | into(bf16[i].a & 0xFFFF, num::bf16_format), 4))
            << opcode << " a=0x" << hex(bf16[i].a, 8);
      }
    }
}

TEST(CvtSmall, WidensEveryPattern) {
  for (const SmallFormat& from : small_formats) {
    std::vector<Operands> rows;
    for (std::uint64_t bits = 0; bits < (from.stride == 4 ? 0x100u : 0x10000u); ++bits) rows.push_back({0, bits, 0, 0});
    const auto part = [&](std::uint64_t bits, int place) {
      const std::uint64_t one = bits >> (from.stride * place) & ((1u << from.stride) - 1);
      return num::exact(one & (2 * from.format.sign() - 1), from.format);
    };
    for (const bool relu : {false, true}) {
      const std::string spelled = cat("cvt.rn", relu ? ".relu" : "", ".f16x2.", from.name, " %vd, %va");
      const auto results = testing::run_rows(spelled, {"b32", from.reg, "", ""}, rows, ~0u, from.header);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint64_t want = num::rounded(part(i, 1), num::f16_format, {.relu = relu}) << 16 |
                                   num::rounded(part(i, 0), num::f16_format, {.relu = relu});
        ASSERT_EQ(hex(results[i], 8), hex(want, 8)) << spelled << " of 0x" << hex(i, 4);
      }
    }
  }
}

TEST(CvtScales, RoundsToPowersOfTwo) {
  const auto floats = float_rows();
  const auto halves = half_rows(floats, num::bf16_format);
  for (const bool up : {false, true})
    for (const bool finite : {false, true}) {
      // the exponent of the size, one more when a mantissa is rounded up
      const auto power = [&](float x) -> std::uint32_t {
        if (std::isnan(x)) return 0xFF;
        const double size = std::fabs(static_cast<double>(x));
        if (std::isinf(x)) return finite ? 0xFE : 0xFF;
        if (size <= 0x1p-127) return 0;
        const int e = std::ilogb(size) + (up && std::ldexp(1.0, std::ilogb(size)) != size ? 1 : 0) + 127;
        return static_cast<std::uint32_t>(std::clamp(e, 0, finite ? 0xFE : 0xFF));
      };
      const std::string opcode = cat("cvt.r", up ? "p" : "z", finite ? ".satfinite" : "", ".ue8m0x2");
      const auto of_floats =
          testing::run_rows(cat(opcode, ".f32 %vd, %va, %vb"), {"b16", "f32", "f32", ""}, floats, ~0u, blackwell);
      const auto of_halves = testing::run_rows(cat(opcode, ".bf16x2 %vd, %va"), {"b16", "b32", "", ""}, halves, ~0u, blackwell);
      for (std::size_t i = 0; i < floats.size(); ++i) {
        ASSERT_EQ(hex(of_floats[i], 4), hex(power(testing::f32(floats[i].a)) << 8 | power(testing::f32(floats[i].b)), 4))
            << opcode << " 0x" << hex(floats[i].a, 8) << " 0x" << hex(floats[i].b, 8);
        ASSERT_EQ(hex(of_halves[i], 4),
                  hex(power(testing::f32(halves[i].a & 0xFFFF0000)) << 8 | power(testing::f32(halves[i].a << 16)), 4))
            << opcode << " 0x" << hex(halves[i].a, 8);
      }
    }
  std::vector<Operands> rows;
  for (std::uint64_t bits = 0; bits < 0x10000; bits += 257) rows.push_back({0, bits ^ 0x0100, 0, 0});
  const auto back = testing::run_rows("cvt.rn.bf16x2.ue8m0x2 %vd, %va", {"b32", "b16", "", ""}, rows, ~0u, blackwell);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto half = [](std::uint64_t e) { return e == 0xFF ? 0x7FFF : e == 0 ? 0x0040 : e << 7; };
    ASSERT_EQ(hex(back[i], 8), hex(half(rows[i].a >> 8) << 16 | half(rows[i].a & 0xFF), 8));
  }
}

TEST(CvtFixed, RoundsToSixtyFourths) {
  auto floats = float_rows();
  for (Operands& row : floats) row.c = (row.c & 0x0F0F) + 0x7878;  // scales about 1
  for (std::size_t i = 0; i < 64; ++i) floats[i].c = 0xFF7F;
  const auto halves = half_rows(floats, num::bf16_format);
  const auto sixty_fourths = [](float x, std::uint64_t scale, bool relu) -> std::uint32_t {
    if (std::isnan(x) || (scale & 0xFF) == 0xFF) return 0x7F;
    const double value = std::nearbyint(std::ldexp(static_cast<double>(x), 6 + 127 - static_cast<int>(scale & 0xFF)));
    return static_cast<std::uint32_t>(static_cast<int>(std::clamp(value, relu ? 0.0 : -128.0, 127.0))) & 0xFF;
  };
  for (const bool relu : {false, true})
    for (const bool scaled : {false, true}) {
      const std::string opcode = cat("cvt.rn.satfinite", relu ? ".relu" : "", scaled ? ".scaled::n2::ue8m0" : "", ".s2f6x2");
      const auto of_floats = testing::run_rows(cat(opcode, ".f32 %vd, %va, %vb", scaled ? ", %vc" : ""),
                                               {"b16", "f32", "f32", scaled ? "b16" : ""}, floats, ~0u, blackwell);
      const auto of_halves = testing::run_rows(cat(opcode, ".bf16x2 %vd, %va", scaled ? ", %vc" : ""),
                                               {"b16", "b32", "", scaled ? "b16" : ""}, halves, ~0u, blackwell);
      const auto back = testing::run_rows(cat("cvt.rn", relu ? ".relu" : "", scaled ? ".scaled::n2::ue8m0" : "",
                                              ".bf16x2.s2f6x2 %vd, %va", scaled ? ", %vc" : ""),
                                          {"b32", "b16", "", scaled ? "b16" : ""}, floats, ~0u, blackwell);
      for (std::size_t i = 0; i < floats.size(); ++i) {
        const std::uint64_t scale = scaled ? floats[i].c : 0x7F7F;
        ASSERT_EQ(hex(of_floats[i], 4), hex(sixty_fourths(testing::f32(floats[i].a), scale >> 8, relu) << 8 |
                                                sixty_fourths(testing::f32(floats[i].b), scale, relu),
                                            4))
            << opcode << " 0x" << hex(floats[i].a, 8) << " 0x" << hex(floats[i].b, 8) << " scale 0x" << hex(scale, 4);
        ASSERT_EQ(hex(of_halves[i], 4), hex(sixty_fourths(testing::f32(halves[i].a & 0xFFFF0000), scale >> 8, relu) << 8 |
                                                sixty_fourths(testing::f32(halves[i].a << 16), scale, relu),
                                            4));
        std::uint32_t want = 0;
        for (const int place : {0, 1}) {
          const auto fixed = static_cast<std::int8_t>(floats[i].a >> (8 * place));
          const auto e = static_cast<std::uint32_t>(scale >> (8 * place) & 0xFF);
          const float x = std::ldexp(static_cast<float>(fixed), static_cast<int>(e) - 127 - 6);
          const std::uint32_t bits = e == 0xFF       ? 0x7FFF
                                     : relu && x < 0 ? 0
                                                     : std::bit_cast<std::uint32_t>(x) >> 16;  // 8 bits: exact
          want |= bits << (16 * place);
        }
        ASSERT_EQ(hex(back[i], 8), hex(want, 8)) << "0x" << hex(floats[i].a & 0xFFFF, 4) << " scale 0x" << hex(scale, 4);
      }
    }
}

TEST(CvtSmall, WidensToBf16TimesPowersOfTwo) {
  const std::vector<std::string> newest = {".version 9.2", ".target sm_100f"};
  for (const SmallFormat& from : small_formats) {
    std::vector<Operands> rows;
    std::mt19937_64 random(12);
    for (std::uint64_t bits = 0; bits < (from.stride == 4 ? 0x100u : 0x10000u); bits += from.stride == 4 ? 1 : 7)
      rows.push_back({0, bits, random() & 0xFFFF, 0});
    for (std::size_t i = 0; i < 40; ++i) rows[i].b = i % 2 == 0 ? 0xFFFE : 0x00FF;  // the greatest and the least, and NaN
    for (const bool relu : {false, true})
      for (const bool finite : {false, true})
        for (const bool scaled : {false, true}) {
          const std::string spelled =
              cat("cvt.rn", finite ? ".satfinite" : "", relu ? ".relu" : "", scaled ? ".scaled::n2::ue8m0" : "", ".bf16x2.",
                  from.name, " %vd, %va", scaled ? ", %vb" : "");
          const auto results = testing::run_rows(spelled, {"b32", from.reg, scaled ? "b16" : "", ""}, rows, ~0u, newest);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            std::uint64_t want = 0;
            for (const int place : {0, 1}) {
              const std::uint64_t one = rows[i].a >> (from.stride * place) & ((1u << from.stride) - 1);
              const std::uint64_t half =
                  num::rounded(num::exact(one & (2 * from.format.sign() - 1), from.format), num::f16_format);
              const double value = static_cast<double>(num::from_f16(static_cast<std::uint16_t>(half)));
              const auto power = static_cast<int>(scaled ? rows[i].b >> (8 * place) & 0xFF : 127);
              const double x = power == 0xFF ? std::nan("") : std::ldexp(value, power - 127);
              want |= std::uint64_t{num::narrowed(x, num::bf16_format, {.relu = relu, .satfinite = finite})} << (16 * place);
            }
            ASSERT_EQ(hex(results[i], 8), hex(want, 8))
                << spelled << " of 0x" << hex(rows[i].a, 4) << " by 0x" << hex(rows[i].b, 4);
          }
        }
  }
}

TEST(CvtTf32, RoundsToTenBits) {
  const auto rows = float_rows();
  struct Case {
    const char* modifiers;
    num::Entry how;
    const std::vector<std::string>& header;
  };
  const Case cases[] = {{"rna", {.ties_away = true}, hopper},
                        {"rna.satfinite", {.ties_away = true, .satfinite = true}, hopper},
                        {"rn", {}, hopper},
                        {"rz", {.rounding = Rounding::rz}, hopper},
                        {"rn.relu", {.relu = true}, hopper},
                        {"rz.relu", {.rounding = Rounding::rz, .relu = true}, hopper},
                        {"rn.satfinite", {.satfinite = true}, blackwell},
                        {"rz.satfinite.relu", {.rounding = Rounding::rz, .satfinite = true, .relu = true}, blackwell}};
  for (const Case& c : cases) {
    const auto results =
        testing::run_rows(cat("cvt.", c.modifiers, ".tf32.f32 %vd, %va"), {"b32", "f32", "", ""}, rows, ~0u, c.header);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const num::Exact x = num::exact(testing::f32(rows[i].a));
      std::uint64_t want = num::rounded(x, num::tf32_format, c.how) << 13;
      if (x.is_nan()) want = c.how.ties_away ? ((rows[i].a >> 13) - (c.how.satfinite ? 1 : 0)) << 13 : 0x7FFFE000;
      ASSERT_EQ(hex(results[i], 8), hex(want, 8)) << c.modifiers << " 0x" << hex(rows[i].a, 8);
    }
  }
}

TEST(CvtStochastic, AddsRandomBits) {
  const auto rows = float_rows();
  for (const bool bf16 : {false, true})
    for (const bool relu : {false, true})
      for (const bool finite : {false, true}) {
        const std::string spelled = cat("cvt.rs", relu ? ".relu" : "", finite ? ".satfinite" : "", bf16 ? ".bf16x2" : ".f16x2",
                                        ".f32 %vd, %va, %vb, %vc");
        const auto results = testing::run_rows(spelled, {"b32", "f32", "f32", "b32"}, rows, ~0u, blackwell);
        for (std::size_t i = 0; i < rows.size(); ++i)
          for (const int place : {0, 1}) {
            const auto bits = static_cast<std::uint32_t>(place == 1 ? rows[i].a : rows[i].b);
            const std::uint32_t sign = bits & 0x80000000, size = bits ^ sign, cut = bf16 ? 16 : 13;
            const std::uint32_t chance = static_cast<std::uint32_t>(rows[i].c >> (16 * place)) & ((1u << cut) - 1);
            // what is a normal number of the format: the bits that are cut off and the chance are added as integers
            if (!bf16 && (size < 0x38800000 || size >= 0x477FE000)) continue;
            std::uint32_t want = size > 0x7F800000 ? 0x7FFFu : (size == 0x7F800000 ? size : size + chance) >> cut;
            if (!bf16) want -= 112u << 10;
            const std::uint32_t infinity = bf16 ? 0x7F80 : 0x7C00;
            if (finite && want == infinity) want -= 1;
            if (want != 0x7FFF) want = relu && sign != 0 ? 0 : want | sign >> 16;
            ASSERT_EQ(hex(results[i] >> (16 * place) & 0xFFFF, 4), hex(want, 4))
                << spelled << " of 0x" << hex(bits, 8) << " by 0x" << hex(chance, 4);
          }
      }
}

// A format by its description, and how its values share the random bits: `weights` lists, for each of
// the four values, the 16 bits of the word from the heaviest on.
struct FourFormat {
  const char* name;
  int exponent_bits, mantissa_bits, bias;
  std::uint32_t most, nan;  // the largest finite number
  const char* reg;
  std::vector<int> weights[4];
};
std::vector<int> bits_from_to(std::initializer_list<std::pair<int, int>> runs) {
  std::vector<int> all;
  for (const auto& [first, last] : runs)
    for (int bit = first;; bit += first < last ? 1 : -1) {
      all.push_back(bit);
      if (bit == last) break;
    }
  return all;
}
double magnitude(const FourFormat& f, std::uint32_t pattern) {
  const int field = static_cast<int>(pattern >> f.mantissa_bits);
  const int mantissa = static_cast<int>(pattern) & ((1 << f.mantissa_bits) - 1);
  return std::ldexp(mantissa + (field == 0 ? 0 : 1 << f.mantissa_bits), std::max(field, 1) - f.bias - f.mantissa_bits);
}
// Away from zero when the part of the way to the next number, and the chance, make a whole.
std::uint32_t chosen_by_chance(const FourFormat& f, std::uint32_t bits, std::uint32_t word, int place, bool relu) {
  const double x = std::fabs(static_cast<double>(testing::f32(bits)));
  if (x != x) return f.nan;
  const bool negative = bits >> 31 != 0;
  if (negative && relu) return 0;
  const std::uint32_t sign = negative ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  std::uint32_t chance = 0;
  for (const int bit : f.weights[place]) chance = 2 * chance + (word >> bit & 1);
  for (std::uint32_t pattern = 0; pattern < f.most; ++pattern) {
    const double low = magnitude(f, pattern), high = magnitude(f, pattern + 1);
    if (x < high) return sign | (pattern + ((x - low) / (high - low) * 65536 + chance >= 65536 ? 1 : 0));
  }
  return sign | f.most;
}

TEST(CvtStochastic, FourValuesShareTheRandomBits) {
  const std::vector<int> a = bits_from_to({{16, 31}}), b = bits_from_to({{31, 16}}), e = bits_from_to({{0, 15}}),
                         f = bits_from_to({{15, 0}});
  const FourFormat four_formats[] = {{"e4m3x4", 4, 3, 7, 0x7E, 0x7F, "b32", {a, b, e, f}},
                                     {"e5m2x4", 5, 2, 15, 0x7B, 0x7F, "b32", {a, b, e, f}},
                                     {"e2m3x4", 2, 3, 1, 0x1F, 0x1F, "b32", {a, b, e, f}},
                                     {"e3m2x4", 3, 2, 3, 0x1F, 0x1F, "b32", {a, b, e, f}},
                                     {"e2m1x4",
                                      2,
                                      1,
                                      1,
                                      0x7,
                                      0x7,
                                      "b16",
                                      {bits_from_to({{8, 15}, {24, 31}}), bits_from_to({{31, 24}, {15, 8}}),
                                       bits_from_to({{0, 7}, {16, 23}}), bits_from_to({{23, 16}, {7, 0}})}}};
  const auto rows = float_rows();
  for (const FourFormat& to : four_formats)
    for (const bool relu : {false, true})
      for (const bool swapped : {false, true}) {  // each place has each operand
        const std::string spelled = cat("cvt.rs", relu ? ".relu" : "", ".satfinite.", to.name, ".f32 %vd, ",
                                        swapped ? "{%vb, %va, %va, %vb}" : "{%va, %vb, %vb, %va}", ", %vc");
        const auto results = testing::run_rows(spelled, {to.reg, "f32", "f32", "b32"}, rows, ~0u, blackwell);
        const int stride = to.name[1] == '2' && to.name[3] == '1' ? 4 : 8;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          std::uint32_t want = 0;
          for (int place = 0; place < 4; ++place) {
            const bool first = (place == 0 || place == 3) != swapped;
            want = want << stride | chosen_by_chance(to, static_cast<std::uint32_t>(first ? rows[i].a : rows[i].b),
                                                     static_cast<std::uint32_t>(rows[i].c), place, relu);
          }
          ASSERT_EQ(hex(results[i], 8), hex(want, 8))
              << spelled << " of 0x" << hex(rows[i].a, 8) << " and 0x" << hex(rows[i].b, 8) << " by 0x" << hex(rows[i].c, 8);
        }
      }
}

TEST(CvtPack, ClampsAndPacks) {
  std::vector<Operands> rows;
  std::mt19937_64 random(5);
  for (const std::uint64_t a : testing::integer_edges())
    for (const std::uint64_t b : testing::integer_edges()) rows.push_back({0, a, b, random()});
  for (const int bits : {2, 4, 8, 16})
    for (const char kind : {'u', 's'}) {
      const std::string spelled =
          cat("cvt.pack.sat.", kind, bits, bits == 16 ? ".s32 %vd, %va, %vb" : ".s32.b32 %vd, %va, %vb, %vc");
      const auto results = testing::run_rows(spelled, {"b32", "b32", "b32", bits == 16 ? "" : "b32"}, rows);
      const std::int64_t most = (std::int64_t{1} << (kind == 's' ? bits - 1 : bits)) - 1, least = kind == 's' ? -most - 1 : 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto part = [&](std::uint64_t x) {
          const std::int64_t value = static_cast<std::int32_t>(x);
          return static_cast<std::uint64_t>(std::clamp(value, least, most)) & ((1u << bits) - 1);
        };
        std::uint64_t want = part(rows[i].a) << bits | part(rows[i].b);
        if (bits != 16) want |= rows[i].c << (2 * bits);
        ASSERT_EQ(hex(results[i], 8), hex(want & 0xFFFFFFFF, 8))
            << spelled << " a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8);
      }
    }
}

}  // namespace
}  // namespace ptx::vgpu
