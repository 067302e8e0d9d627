// Minima and maxima of more than two f32 and of f64, signs and classes, and f64 division and roots.
#include <cfenv>
#include <cmath>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::Operands;

double f64_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }

TEST(Extremes, OfMagnitudesAndOfThree) {
  const auto rows = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 2000, true);
  for (int flags = 0; flags < 16; ++flags) {
    const bool larger = (flags & 1) != 0, ftz = (flags & 2) != 0, nan = (flags & 4) != 0, abs = (flags & 8) != 0;
    const auto choose = [&](float x, float y) {
      if (std::isnan(x) || std::isnan(y)) return nan ? NAN : std::isnan(x) ? y : x;
      const bool x_below = x < y || (x == y && std::signbit(x));
      return x_below == larger ? y : x;
    };
    const auto in = [&](std::uint64_t bits) {
      const float x = ftz ? testing::flushed(testing::f32(bits)) : testing::f32(bits);
      return abs ? std::fabs(x) : x;
    };
    const auto bits_of = [](float x) { return std::isnan(x) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(x); };
    const std::string opcode = cat(larger ? "max" : "min", ftz ? ".ftz" : "", nan ? ".NaN" : "");
    const auto three = testing::run_rows(cat(opcode, abs ? ".abs" : "", ".f32 %vd, %va, %vb, %vc"), {"f32", "f32", "f32", "f32"},
                                         rows, 0xFFFFFFFF, {".version 8.8", ".target sm_100a"});
    for (std::size_t i = 0; i < rows.size(); ++i)
      ASSERT_EQ(hex(three[i], 8), hex(bits_of(choose(choose(in(rows[i].a), in(rows[i].b)), in(rows[i].c))), 8))
          << opcode << " a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8) << " c=0x" << hex(rows[i].c, 8);
    if (!abs) continue;
    const auto signs = testing::run_rows(cat(opcode, ".xorsign.abs.f32 %vd, %va, %vb"), {"f32", "f32", "f32", ""}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const float r = choose(in(rows[i].a), in(rows[i].b));
      ASSERT_EQ(hex(signs[i], 8), hex(bits_of(((rows[i].a ^ rows[i].b) >> 31 & 1) != 0 ? -r : r), 8))
          << opcode << ".xorsign.abs a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8);
    }
  }
}

TEST(Extremes, OfDoubles) {
  const auto rows = testing::make_rows(testing::f64_edges(), testing::f64_edges(), 64, 2000, true);
  for (const bool larger : {false, true}) {
    const auto results =
        testing::run_rows(larger ? "max.f64 %vd, %va, %vb" : "min.f64 %vd, %va, %vb", {"f64", "f64", "f64", ""}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double x = f64_of(rows[i].a), y = f64_of(rows[i].b);
      const bool x_below = x < y || (x == y && std::signbit(x));
      std::uint64_t want = std::isnan(x) ? rows[i].b : std::isnan(y) || x_below != larger ? rows[i].a : rows[i].b;
      if (std::isnan(x) && std::isnan(y)) want = rows[i].b | 0x0008000000000000;
      ASSERT_EQ(hex(results[i], 16), hex(want, 16)) << "a=0x" << hex(rows[i].a, 16) << " b=0x" << hex(rows[i].b, 16);
    }
  }
}

TEST(Signs, AreCopiedAndChanged) {
  const auto rows32 = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 500, true);
  const auto rows64 = testing::make_rows(testing::f64_edges(), testing::f64_edges(), 64, 500, true);
  const auto copied32 = testing::run_rows("copysign.f32 %vd, %va, %vb", {"f32", "f32", "f32", ""}, rows32);
  for (std::size_t i = 0; i < rows32.size(); ++i) ASSERT_EQ(copied32[i], (rows32[i].a & 0x80000000) + (rows32[i].b & 0x7FFFFFFF));
  const auto copied = testing::run_rows("copysign.f64 %vd, %va, %vb", {"f64", "f64", "f64", ""}, rows64);
  const auto abs = testing::run_rows("abs.f64 %vd, %va", {"f64", "f64", "", ""}, rows64);
  const auto neg = testing::run_rows("neg.f64 %vd, %va", {"f64", "f64", "", ""}, rows64);
  for (std::size_t i = 0; i < rows64.size(); ++i) {
    const std::uint64_t a = rows64[i].a;
    ASSERT_EQ(copied[i], (a & 0x8000000000000000) + (rows64[i].b & 0x7FFFFFFFFFFFFFFF));
    const bool nan = std::isnan(f64_of(a));
    ASSERT_EQ(abs[i], nan ? a | 0x0008000000000000 : std::bit_cast<std::uint64_t>(std::fabs(f64_of(a))));
    ASSERT_EQ(neg[i], nan ? a | 0x0008000000000000 : std::bit_cast<std::uint64_t>(-f64_of(a)));
  }
}

TEST(Classes, AreTheHosts) {
  struct Property {
    const char* name;
    bool (*holds)(double x, int kind);
  };
  const Property tests[] = {{"finite", [](double x, int) { return std::isfinite(x); }},
                            {"infinite", [](double x, int) { return std::isinf(x); }},
                            {"number", [](double x, int) { return !std::isnan(x); }},
                            {"notanumber", [](double x, int) { return std::isnan(x); }},
                            {"normal", [](double, int kind) { return kind == FP_NORMAL || kind == FP_ZERO; }},
                            {"subnormal", [](double, int kind) { return kind == FP_SUBNORMAL; }}};
  const auto rows32 = testing::make_rows(testing::f32_edges(), {0}, 32, 500, true);
  const auto rows64 = testing::make_rows(testing::f64_edges(), {0}, 64, 500, true);
  for (const Property& test : tests) {
    const auto narrow = testing::run_rows(cat("testp.", test.name, ".f32 %vd, %va"), {"pred", "f32", "", ""}, rows32);
    for (std::size_t i = 0; i < rows32.size(); ++i) {
      const float x = testing::f32(rows32[i].a);
      ASSERT_EQ(narrow[i], test.holds(static_cast<double>(x), std::fpclassify(x)) ? 1u : 0u)
          << test.name << " 0x" << hex(rows32[i].a, 8);
    }
    const auto wide = testing::run_rows(cat("testp.", test.name, ".f64 %vd, %va"), {"pred", "f64", "", ""}, rows64);
    for (std::size_t i = 0; i < rows64.size(); ++i) {
      const double x = f64_of(rows64[i].a);
      ASSERT_EQ(wide[i], test.holds(x, std::fpclassify(x)) ? 1u : 0u) << test.name << " 0x" << hex(rows64[i].a, 16);
    }
  }
}

const std::pair<const char*, int> host_modes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

void expect_doubles(const std::string& opcode, int sources, double (*reference)(double, double, double)) {
  const auto rows = testing::make_rows(testing::f64_edges(), testing::f64_edges(), 64, 4000, true);
  for (const auto& [suffix, mode] : host_modes) {
    const std::string operands = sources == 1 ? " %vd, %va" : sources == 2 ? " %vd, %va, %vb" : " %vd, %va, %vb, %vc";
    const auto results = testing::run_rows(cat(opcode, suffix, ".f64", operands),
                                           {"f64", "f64", sources > 1 ? "f64" : "", sources > 2 ? "f64" : ""}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const volatile double a = f64_of(rows[i].a), b = f64_of(rows[i].b), c = f64_of(rows[i].c);
      std::fesetround(mode);
      const volatile double r = reference(a, b, c);
      std::fesetround(FE_TONEAREST);
      std::uint64_t want = std::bit_cast<std::uint64_t>(double{r});
      if (std::isnan(r)) {
        want = 0xFFF8000000000000;
        if (std::isnan(a)) want = rows[i].a | 0x0008000000000000;
        if (sources > 2 && std::isnan(c)) want = rows[i].c | 0x0008000000000000;
        if (sources > 1 && std::isnan(b) && !(opcode == "div" && std::isnan(a))) want = rows[i].b | 0x0008000000000000;
      }
      ASSERT_EQ(hex(results[i], 16), hex(want, 16))
          << opcode << suffix << " a=0x" << hex(rows[i].a, 16) << " b=0x" << hex(rows[i].b, 16);
    }
  }
}

TEST(Doubles, AreDividedAndRootedOnce) {
  expect_doubles("div", 2, [](double a, double b, double) { return a / b; });
  expect_doubles("rcp", 1, [](double a, double, double) { return 1 / a; });
  expect_doubles("sqrt", 1, [](double a, double, double) { return std::sqrt(a); });
  expect_doubles("mad", 3, [](double a, double b, double c) { return std::fma(a, b, c); });
}

TEST(Doubles, AreApproximated) {
  const auto rows = testing::make_rows(testing::f64_edges(), {0}, 64, 4000, true);
  const auto rcp = testing::run_rows("rcp.approx.ftz.f64 %vd, %va", {"f64", "f64", "", ""}, rows);
  const auto rsqrt = testing::run_rows("rsqrt.approx.ftz.f64 %vd, %va", {"f64", "f64", "", ""}, rows);
  const auto root = testing::run_rows("rsqrt.approx.f64 %vd, %va", {"f64", "f64", "", ""}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double whole = f64_of(rows[i].a);
    double x = f64_of(rows[i].a & 0xFFFFFFFF00000000);  // its upper word alone is read
    if (std::fpclassify(x) == FP_SUBNORMAL) x = std::copysign(0.0, x);
    const auto near = [&](std::uint64_t bits, double exact) {
      ASSERT_EQ(bits & 0xFFFFFFFF, 0u);
      if (std::isnan(exact)) {
        ASSERT_EQ(bits, 0x7FFFFFFF00000000);
        return;
      }
      if (std::fpclassify(exact) == FP_SUBNORMAL) exact = std::copysign(0.0, exact);
      if (exact == 0 || std::isinf(exact))
        ASSERT_EQ(bits, std::bit_cast<std::uint64_t>(exact)) << "a=0x" << hex(rows[i].a, 16);
      else
        ASSERT_LE(std::fabs(f64_of(bits) / exact - 1), 0x1p-19) << "a=0x" << hex(rows[i].a, 16);
    };
    near(rcp[i], 1 / x);
    near(rsqrt[i], 1 / std::sqrt(x));
    const long double exact = 1 / std::sqrt(static_cast<long double>(whole));
    if (std::isnan(exact))
      ASSERT_TRUE(std::isnan(f64_of(root[i])));
    else if (std::isinf(exact) || exact == 0)
      ASSERT_EQ(f64_of(root[i]), static_cast<double>(exact));
    else
      ASSERT_LE(std::fabs(static_cast<long double>(f64_of(root[i])) / exact - 1), 0x1p-52L);
  }
}

}  // namespace
}  // namespace ptx::vgpu
