// Instructions of halves, of pairs and of mixed precision against exact numbers rounded once (num::Exact, which has tests of its
// own against the host).
#include <cmath>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using num::Exact;
using testing::Operands;

const std::vector<std::string> blackwell = {".version 8.8", ".target sm_100a"};
struct HalfFormat {
  const char* name;
  const num::Format& format;
  bool bf16;
};
const HalfFormat half_formats[] = {{"f16", num::f16_format, false}, {"bf16", num::bf16_format, true}};

// Two halves in each operand, special ones and random ones.
std::vector<Operands> pairs_of_halves() {
  std::mt19937_64 random(11);
  std::vector<std::uint32_t> special;
  for (const std::uint32_t infinity : {0x7C00u, 0x7F80u})
    for (const std::uint32_t x : {0u, 1u, 2u, 0x3FFu, 0x400u, 0x401u, 0x7Fu, 0x80u, 0x3C00u, 0x3C01u, 0x3F80u, 0x3F81u,
                                  infinity - 1, infinity, infinity + 1, 0x7FF7u, 0x7FFFu})
      special.push_back(x), special.push_back(x | 0x8000);
  std::vector<Operands> rows;
  const auto draw = [&]() -> std::uint64_t {
    const std::uint64_t bits = random();
    if (bits >> 61 == 0) return special[random() % special.size()];
    return bits >> 61 < 4 ? bits & 0xFFFF : (bits & 0x87FF) | (0x3000 + (bits >> 20 & 0x1800));
  };
  const auto both = [&] { return draw() | draw() << 16; };
  for (const std::uint32_t a : special)
    for (const std::uint32_t b : special) rows.push_back({0x5A5A5A5A5A5A5A5A, a | draw() << 16, b | draw() << 16, both()});
  for (int i = 0; i < 4000; ++i) rows.push_back({0x5A5A5A5A5A5A5A5A, both(), both(), both()});
  return rows;
}

// Runs the scalar instruction and the one of pairs; `expected` is a function of one half of each operand.
template <class Expected>
void expect_halves(const std::string& opcode, const HalfFormat& f, int sources, Expected expected) {
  const auto rows = pairs_of_halves();
  const std::string operands = sources == 1 ? " %vd, %va" : sources == 2 ? " %vd, %va, %vb" : " %vd, %va, %vb, %vc";
  for (const bool pair : {false, true})
    for (const std::uint32_t mask : {0xFFFFFFFFu, 0x00FF7001u}) {
      const std::string reg = pair ? "b32" : "b16", spelled = cat(opcode, '.', f.name, pair ? "x2" : "", operands);
      const auto results = testing::run_rows(spelled, {reg, reg, sources > 1 ? reg : "", sources > 2 ? reg : ""}, rows, mask);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        std::uint32_t want = 0;
        for (int half = 0; half <= (pair ? 1 : 0); ++half) {
          const auto at = [&](std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> (16 * half) & 0xFFFF); };
          want |= expected(at(rows[i].a), at(rows[i].b), at(rows[i].c)) << (16 * half);
        }
        if ((mask >> (i % 32) & 1) == 0) want = pair ? 0x5A5A5A5A : 0x5A5A;
        ASSERT_EQ(hex(results[i], 8), hex(want, 8))
            << spelled << " a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8) << " c=0x" << hex(rows[i].c, 8);
      }
    }
}

struct Ways {
  bool ftz = false, sat = false, relu = false;
};
Exact operand(std::uint32_t half, const HalfFormat& f, bool ftz) {
  Exact x = num::exact(half, f.format);
  if (ftz && (half & f.format.infinity()) == 0) x.kind = Exact::Kind::zero;
  return x;
}
std::uint32_t finished(const Exact& r, const HalfFormat& f, Ways ways) {
  auto bits = static_cast<std::uint32_t>(num::rounded(r, f.format));
  if (ways.ftz && r.kind == Exact::Kind::finite && (num::rounded(num::scaled(r, 15), f.format) & 0x7FFF) < 0x4000) bits &= 0x8000;
  if (ways.relu && (bits & 0x8000) != 0) bits = 0;
  if (ways.sat) bits = r.is_nan() || (bits & 0x8000) != 0 ? 0 : std::min<std::uint32_t>(bits, 0x3C00);
  return bits;
}

TEST(HalfOps, RoundOnce) {
  for (const HalfFormat& f : half_formats)
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true}) {
        if (f.bf16 && (ftz || sat)) continue;
        const Ways ways{ftz, sat, false};
        const std::string modifiers = cat(ftz ? ".ftz" : "", sat ? ".sat" : "");
        const auto of = [&](std::uint32_t half) { return operand(half, f, ftz); };
        for (const char* rounding : {"", ".rn"}) {
          expect_halves(cat("add", rounding, modifiers), f, 2, [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
            return finished(num::sum(of(a), of(b)), f, ways);
          });
          expect_halves(cat("sub", rounding, modifiers), f, 2, [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
            return finished(num::sum(of(a), of(b ^ 0x8000)), f, ways);
          });
          expect_halves(cat("mul", rounding, modifiers), f, 2, [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
            return finished(num::product(of(a), of(b)), f, ways);
          });
        }
        expect_halves(cat("fma.rn", modifiers), f, 3, [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
          return finished(num::sum(num::product(of(a), of(b)), of(c)), f, ways);
        });
      }
  for (const HalfFormat& f : half_formats)
    for (const bool ftz : {false, true})
      for (const bool oob : {false, true})
        for (const bool relu : {false, true}) {
          if ((oob || f.bf16) && ftz) continue;
          if (!oob && !relu) continue;
          const auto of = [&](std::uint32_t half) { return operand(half, f, ftz); };
          expect_halves(cat("fma.rn", ftz ? ".ftz" : "", oob ? ".oob" : "", relu ? ".relu" : ""), f, 3,
                        [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
                          if (oob && ((a | 0x8000) == 0xFFF7 || (b | 0x8000) == 0xFFF7)) return 0u;
                          return finished(num::sum(num::product(of(a), of(b)), of(c)), f, {ftz, false, relu});
                        });
        }
}

TEST(HalfOps, ChangeSignsAndChoose) {
  for (const HalfFormat& f : half_formats)
    for (const bool ftz : {false, true}) {
      if (f.bf16 && ftz) continue;
      const auto in = [&](std::uint32_t half) { return ftz && (half & 0x7C00) == 0 ? half & 0x8000 : half; };
      expect_halves(cat("abs", ftz ? ".ftz" : ""), f, 1,
                    [&](std::uint32_t a, std::uint32_t, std::uint32_t) { return f.format.is_nan(a) ? 0x7FFFu : in(a) & 0x7FFF; });
      expect_halves(cat("neg", ftz ? ".ftz" : ""), f, 1,
                    [&](std::uint32_t a, std::uint32_t, std::uint32_t) { return f.format.is_nan(a) ? 0x7FFFu : in(a) ^ 0x8000; });
      for (const bool larger : {false, true})
        for (const bool nan : {false, true})
          for (const bool xorsign : {false, true})
            expect_halves(cat(larger ? "max" : "min", ftz ? ".ftz" : "", nan ? ".NaN" : "", xorsign ? ".xorsign.abs" : ""), f, 2,
                          [&](std::uint32_t a, std::uint32_t b, std::uint32_t) -> std::uint32_t {
                            const std::uint32_t sign = (a ^ b) & 0x8000;
                            a = in(a), b = in(b);
                            if (xorsign) a &= 0x7FFF, b &= 0x7FFF;
                            const bool a_nan = f.format.is_nan(a), b_nan = f.format.is_nan(b);
                            if ((a_nan && b_nan) || (nan && (a_nan || b_nan))) return 0x7FFF;
                            const double x = num::widened(static_cast<std::uint16_t>(a), f.bf16);
                            const double y = num::widened(static_cast<std::uint16_t>(b), f.bf16);
                            const bool a_below = x < y || (x == y && std::signbit(x));
                            const std::uint32_t r = a_nan ? b : b_nan ? a : a_below == larger ? b : a;
                            return xorsign ? r | sign : r;
                          });
    }
}

TEST(HalfOps, Approximate) {
  for (const HalfFormat& f : half_formats) {
    expect_halves("tanh.approx", f, 1, [&](std::uint32_t a, std::uint32_t, std::uint32_t) { return num::tanh_half(a, f.bf16); });
    expect_halves(f.bf16 ? "ex2.approx.ftz" : "ex2.approx", f, 1,
                  [&](std::uint32_t a, std::uint32_t, std::uint32_t) { return num::ex2_half(a, f.bf16); });
  }
}

const std::pair<const char*, num::Rounding> modes[] = {
    {".rn", num::Rounding::rn}, {".rz", num::Rounding::rz}, {".rm", num::Rounding::rm}, {".rp", num::Rounding::rp}};

std::uint32_t finished32(const Exact& r, num::Rounding mode, bool ftz, bool sat) {
  auto bits = static_cast<std::uint32_t>(num::rounded(r, num::f32_format, {.rounding = mode}));
  if (ftz && r.kind == Exact::Kind::finite &&
      (num::rounded(num::scaled(r, 60), num::f32_format, {.rounding = mode}) & 0x7FFFFFFF) < (61u << 23))
    bits &= 0x80000000;
  if (sat) bits = r.is_nan() || bits >> 31 != 0 ? 0 : std::min<std::uint32_t>(bits, 0x3F800000);
  return bits;
}
Exact operand32(std::uint64_t bits, bool ftz) {
  Exact x = num::exact(bits & 0xFFFFFFFF, num::f32_format);
  if (ftz && (bits & 0x7F800000) == 0) x.kind = Exact::Kind::zero;
  return x;
}

TEST(PairsOfF32, RoundOnce) {
  auto low = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 3000, true);
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {  // products about 2^-126
    const std::uint64_t a = (random() & 0x807FFFFF) | (64u + random() % 4) << 23;
    const float b = 0x1p-126f / testing::f32(a);
    low.push_back({0, a, std::bit_cast<std::uint32_t>(b) + random() % 3 - 1, i % 2 == 0 ? 0 : random() & 0x80000001});
  }
  std::vector<Operands> rows;
  for (std::size_t i = 0; i < low.size(); ++i) {
    const Operands &x = low[i], &y = low[(i * 7919 + 13) % low.size()];
    rows.push_back({0, (x.a & 0xFFFFFFFF) | y.a << 32, (x.b & 0xFFFFFFFF) | y.b << 32, (x.c & 0xFFFFFFFF) | y.c << 32});
  }
  for (const auto& [suffix, mode] : modes)
    for (const bool ftz : {false, true})
      for (const std::string opcode : {"add", "sub", "mul", "fma"}) {
        const std::string spelled =
            cat(opcode, suffix, ftz ? ".ftz" : "", ".f32x2 %vd, %va, %vb", opcode == "fma" ? ", %vc" : "");
        const auto results =
            testing::run_rows(spelled, {"b64", "b64", "b64", opcode == "fma" ? "b64" : ""}, rows, ~0u, blackwell);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          std::uint64_t want = 0;
          for (const int shift : {0, 32}) {
            const Exact a = operand32(rows[i].a >> shift, ftz), b = operand32(rows[i].b >> shift, ftz);
            const Exact c = operand32(rows[i].c >> shift, ftz);
            Exact opposite = b;
            opposite.negative = !b.negative;
            const Exact r = opcode == "add"   ? num::sum(a, b, mode)
                            : opcode == "sub" ? num::sum(a, opposite, mode)
                            : opcode == "mul" ? num::product(a, b)
                                              : num::sum(num::product(a, b), c, mode);
            want |= std::uint64_t{finished32(r, mode, ftz, false)} << shift;
          }
          ASSERT_EQ(hex(results[i], 16), hex(want, 16))
              << spelled << " a=0x" << hex(rows[i].a, 16) << " b=0x" << hex(rows[i].b, 16) << " c=0x" << hex(rows[i].c, 16);
        }
      }
}

TEST(MixedPrecision, RoundsOnce) {
  auto rows = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 3000, true);
  const auto halves = pairs_of_halves();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].a = halves[i % halves.size()].a & 0xFFFF;
    rows[i].c = halves[(i * 31 + 7) % halves.size()].b & 0xFFFF;  // b holds the f32
  }
  for (const HalfFormat& f : half_formats)
    for (const auto& [suffix, mode] : modes)
      for (const bool sat : {false, true})
        for (const std::string opcode : {"add", "sub", "fma"}) {
          const bool fused = opcode == "fma";
          const std::string spelled =
              cat(opcode, suffix, sat ? ".sat" : "", ".f32.", f.name, fused ? " %vd, %va, %vc, %vb" : " %vd, %va, %vb");
          const auto results = testing::run_rows(spelled, {"f32", "b16", "f32", fused ? "b16" : ""}, rows, ~0u, blackwell);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            Exact a = num::exact(rows[i].a, f.format), b = num::exact(rows[i].c, f.format), c = operand32(rows[i].b, false);
            if (opcode == "sub") c.negative = !c.negative;
            const Exact r = num::sum(fused ? num::product(a, b) : a, c, mode);
            ASSERT_EQ(hex(results[i], 8), hex(finished32(r, mode, false, sat), 8))
                << spelled << " a=0x" << hex(rows[i].a, 4) << " b=0x" << hex(rows[i].c, 4) << " c=0x" << hex(rows[i].b, 8);
          }
        }
}

}  // namespace
}  // namespace ptx::vgpu
