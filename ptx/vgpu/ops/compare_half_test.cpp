// Comparisons of halves and of f64 with a boolean operator, and what set writes.
#include <cmath>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::Operands;

const char* const float_orders[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

// As the manual's tables have it.
bool holds(std::string_view cmp, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  if (cmp == "num") return !nan;
  if (cmp == "nan") return nan;
  if (nan) return cmp.size() == 3;
  cmp = cmp.substr(0, 2);
  if (cmp == "eq") return a == b;
  if (cmp == "ne") return a != b;
  if (cmp == "lt" || cmp == "lo") return a < b;
  if (cmp == "le" || cmp == "ls") return a <= b;
  if (cmp == "gt" || cmp == "hi") return a > b;
  return a >= b;
}
bool combined(std::string_view op, bool t, bool c) {
  return op == ".and" ? t && c : op == ".or" ? t || c : op == ".xor" ? t != c : t;
}

struct Source {
  const char* name;
  const char* reg;
  double (*value)(std::uint64_t bits, bool ftz);
  bool can_flush;
};
double half_value(std::uint64_t bits, bool bf16, bool ftz) {
  const double x = num::widened(static_cast<std::uint16_t>(bits), bf16);
  return ftz && std::fabs(x) < 0x1p-14 ? 0 : x;
}
const Source f16{"f16", "b16", [](std::uint64_t bits, bool ftz) { return half_value(bits, false, ftz); }, true};
const Source bf16{"bf16", "b16", [](std::uint64_t bits, bool) { return half_value(bits, true, false); }, false};
const Source f32{"f32", "f32", [](std::uint64_t bits, bool) { return static_cast<double>(testing::f32(bits)); }, false};
const Source f64{"f64", "f64", [](std::uint64_t bits, bool) { return std::bit_cast<double>(bits); }, false};

std::vector<Operands> half_rows(bool high) {
  std::mt19937_64 random(3);
  std::vector<Operands> rows;
  const std::uint64_t special[] = {0, 1, 0x3FF, 0x400, 0x3C00, 0x3C01, 0x7BFF, 0x7C00, 0x7C01, 0x7F80, 0x7F81, 0x7FFF};
  for (const std::uint64_t a : special)
    for (const std::uint64_t b : special)
      for (const std::uint64_t sign : {0u, 0x8000u, 0x80000000u, 0x80008000u})
        rows.push_back({0, (a | b << 16) ^ sign, (b | a << 16) ^ (random() & 0x80008000), random() & 1});
  for (int i = 0; i < 500; ++i) rows.push_back({0, random() & 0xFFFFFFFF, random() & 0xFFFFFFFF, random() & 1});
  for (int i = 0; i < 200; ++i) rows.push_back({0, rows[i].a, rows[i].a, random() & 1});
  if (!high)
    for (Operands& row : rows) row.a &= 0xFFFF, row.b &= 0xFFFF;
  return rows;
}
std::vector<Operands> wide_rows(int bits) {
  auto rows = bits == 64 ? testing::make_rows(testing::f64_edges(), testing::f64_edges(), 64, 200, true)
                         : testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 200, true);
  std::mt19937_64 random(4);
  for (Operands& row : rows) row.c = random() & 1;
  return rows;
}

struct Spelling {
  std::string cmp, op, ftz;
  bool negated = false;
};
// Every comparison alone and with one of the operators, which take turns.
template <class Use>
void for_each_spelling(bool can_flush, Use use) {
  constexpr const char* ops[] = {".and", ".or", ".xor"};
  std::size_t turn = 0;
  for (const char* ftz : {"", ".ftz"})
    for (const char* cmp : float_orders)
      for (const char* op : {"", ops[turn++ % 3]})
        if (can_flush || *ftz == 0) use(Spelling{cmp, op, ftz, turn % 2 == 0 && *op != 0});
}

TEST(CompareHalves, IntoPredicates) {
  for (const Source& source : {f16, bf16})
    for (const bool pair : {false, true}) {
      const auto rows = half_rows(pair);
      for_each_spelling(source.can_flush, [&](const Spelling& s) {
        const std::string reg = pair ? "b32" : "b16", last = s.op.empty() ? "" : s.negated ? ", !%vc" : ", %vc";
        for (int result = 0; result <= (pair ? 1 : 0); ++result) {
          const std::string spelled = cat("setp.", s.cmp, s.op, s.ftz, '.', source.name, pair ? "x2" : "", ' ',
                                          !pair         ? "%vd"
                                          : result == 0 ? "%vd|%p2"
                                                        : "%p2|%vd",
                                          ", %va, %vb", last);
          const auto results = testing::run_rows(spelled, {"pred", reg, reg, s.op.empty() ? "" : "pred"}, rows);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            const double a = source.value(rows[i].a >> (16 * result) & 0xFFFF, !s.ftz.empty());
            const double b = source.value(rows[i].b >> (16 * result) & 0xFFFF, !s.ftz.empty());
            ASSERT_EQ(results[i] != 0, combined(s.op, holds(s.cmp, a, b), (rows[i].c != 0) != s.negated))
                << spelled << " a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8);
          }
        }
      });
    }
}

TEST(CompareDoubles, WithABooleanOperator) {
  const auto rows = wide_rows(64);
  for_each_spelling(false, [&](const Spelling& s) {
    if (s.op.empty()) return;
    for (const bool opposite : {false, true}) {
      const std::string spelled =
          cat("setp.", s.cmp, s.op, ".f64 ", opposite ? "%p2|%vd" : "%vd", ", %va, %vb, ", s.negated ? "!" : "", "%vc");
      const auto results = testing::run_rows(spelled, {"pred", "f64", "f64", "pred"}, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool t = holds(s.cmp, f64.value(rows[i].a, false), f64.value(rows[i].b, false));
        ASSERT_EQ(results[i] != 0, combined(s.op, t != opposite, (rows[i].c != 0) != s.negated)) << spelled;
      }
    }
  });
}

std::uint32_t yes(std::string_view result) {
  if (result == "f32") return 0x3F800000;
  if (result == "f16" || result == "f16x2") return 0x3C00;
  if (result == "bf16" || result == "bf16x2") return 0x3F80;
  return result == "u16" || result == "s16" ? 0xFFFF : 0xFFFFFFFF;
}
void expect_set(const Source& source, const std::vector<Operands>& rows, const std::vector<std::string>& dtypes) {
  for (const std::string& dtype : dtypes) {
    const std::string to = dtype == "f32" ? "f32" : dtype.ends_with("16") ? "b16" : "b32";
    for_each_spelling(source.can_flush && dtype != "bf16", [&](const Spelling& s) {
      const std::string spelled = cat("set.", s.cmp, s.op, s.ftz, '.', dtype, '.', source.name, " %vd, %va, %vb",
                                      s.op.empty() ? ""
                                      : s.negated  ? ", !%vc"
                                                   : ", %vc");
      const auto results = testing::run_rows(spelled, {to, source.reg, source.reg, s.op.empty() ? "" : "pred"}, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool t = holds(s.cmp, source.value(rows[i].a, !s.ftz.empty()), source.value(rows[i].b, !s.ftz.empty()));
        ASSERT_EQ(results[i], combined(s.op, t, (rows[i].c != 0) != s.negated) ? yes(dtype) : 0)
            << spelled << " a=0x" << hex(rows[i].a) << " b=0x" << hex(rows[i].b);
      }
    });
  }
}

TEST(Set, WritesOnesOfTheResultsType) {
  const auto halves = half_rows(false);
  expect_set(f16, halves, {"f16", "u16", "s16", "u32", "s32", "bf16"});
  expect_set(bf16, halves, {"bf16", "u16", "s16", "u32", "s32"});
  expect_set(f64, wide_rows(64), {"u32", "s32", "f32", "f16", "bf16"});
  expect_set(f32, wide_rows(32), {"bf16"});
}

TEST(Set, WritesEachHalfOfAPair) {
  const auto rows = half_rows(true);
  for (const Source& source : {f16, bf16})
    for (const std::string& dtype : {cat(source.name, "x2"), std::string("u32"), std::string("s32")})
      for_each_spelling(source.can_flush, [&](const Spelling& s) {
        const std::string spelled = cat("set.", s.cmp, s.op, s.ftz, '.', dtype, '.', source.name, "x2 %vd, %va, %vb",
                                        s.op.empty() ? ""
                                        : s.negated  ? ", !%vc"
                                                     : ", %vc");
        const auto results = testing::run_rows(spelled, {"b32", "b32", "b32", s.op.empty() ? "" : "pred"}, rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          std::uint32_t want = 0;
          for (const int shift : {0, 16}) {
            const double a = source.value(rows[i].a >> shift & 0xFFFF, !s.ftz.empty()),
                         b = source.value(rows[i].b >> shift & 0xFFFF, !s.ftz.empty());
            const std::uint32_t one = dtype.ends_with("x2") ? yes(dtype) : 0xFFFF;
            if (combined(s.op, holds(s.cmp, a, b), (rows[i].c != 0) != s.negated)) want |= one << shift;
          }
          ASSERT_EQ(hex(results[i], 8), hex(want, 8)) << spelled << " a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8);
        }
      });
}

TEST(Set, ComparesIntegersIntoBf16) {
  std::mt19937_64 random(6);
  std::vector<Operands> rows;
  for (const std::uint64_t a : testing::integer_edges())
    for (const std::uint64_t b : testing::integer_edges()) rows.push_back({0, a, b, random() & 1});
  for (const char kind : {'b', 'u', 's'})
    for (const int bits : {16, 32, 64})
      for (const std::string cmp : {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"}) {
        if (kind == 'b' && cmp != "eq" && cmp != "ne") continue;
        if (kind == 's' && (cmp == "lo" || cmp == "ls" || cmp == "hi" || cmp == "hs")) continue;
        for (const std::string op : {"", ".or"}) {
          const std::string reg = cat('b', bits),
                            spelled = cat("set.", cmp, op, ".bf16.", kind, bits, " %vd, %va, %vb", op.empty() ? "" : ", %vc");
          const auto results = testing::run_rows(spelled, {"b16", reg, reg, op.empty() ? "" : "pred"}, rows);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            __extension__ using Wide = __int128;
            const auto value = [&](std::uint64_t x) -> Wide {
              x <<= 64 - bits;
              return kind == 's' ? Wide{static_cast<std::int64_t>(x) >> (64 - bits)} : Wide{x >> (64 - bits)};
            };
            const Wide a = value(rows[i].a), b = value(rows[i].b);
            const bool t = holds(cmp, a < b ? -1 : a > b ? 1 : 0, 0);
            ASSERT_EQ(results[i], combined(op, t, rows[i].c != 0) ? 0x3F80u : 0u) << spelled;
          }
        }
      }
}

}  // namespace
}  // namespace ptx::vgpu
