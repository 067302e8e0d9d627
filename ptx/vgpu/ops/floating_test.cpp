// Floating-point instructions against the host's scalar arithmetic in the rounding mode asked for, and approximations against
// their bounds.
#include <cfenv>
#include <cmath>
#include <functional>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::f32;
using testing::flushed;
using testing::Operands;

// The compiler must not move arithmetic across a change of mode: everything goes through volatile.
struct Mode {
  explicit Mode(int mode) { std::fesetround(mode); }
  ~Mode() { std::fesetround(FE_TONEAREST); }
};
const std::pair<const char*, int> modes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

double f64(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::uint64_t bits_of(float x) { return std::isnan(x) ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(x); }

using Reference32 = float (*)(float, float, float);
// The same with more bits than an f32 result can need; nullptr where a result below the smallest normal number is exact in f32.
using Exact = long double (*)(long double, long double, long double);

// Flushing is decided on the value rounded to 24 bits as if there were smaller exponents: computed here 2^60 times as large.
bool tiny(Exact exact, int mode, float a, float b, float c) {
  if (exact == nullptr) return false;
  long double cut = 0;
  bool inexact = false;
  {
    const Mode scope(FE_TOWARDZERO);
    const volatile long double x = a, y = b, z = c;
    std::feclearexcept(FE_INEXACT);
    const volatile long double r = exact(x, y, z);
    inexact = std::fetestexcept(FE_INEXACT) != 0;
    cut = r;
  }
  // 64 bits of significand, and what is behind them made sticky, decide every rounding to 24
  if (inexact) cut = std::nextafter(cut, std::copysign(HUGE_VALL, cut));
  const Mode scope(mode);
  const volatile long double large = cut * 0x1p60L;
  const volatile auto r = static_cast<float>(large);
  return std::fabs(r) < 0x1p-66f;
}

float rounded(Reference32 f, int mode, float a, float b, float c) {
  const Mode scope(mode);
  const volatile float x = a, y = b, z = c;
  volatile float r = f(x, y, z);
  return r;
}

// Runs the instruction with every modifier that it takes.
void expect_exact(const std::string& opcode, int sources, bool directed, bool sat, Reference32 reference, Exact exact = nullptr) {
  const std::string operands = sources == 1 ? " %vd, %va" : sources == 2 ? " %vd, %va, %vb" : " %vd, %va, %vb, %vc";
  const std::array<std::string, 4> regs = {"f32", "f32", sources > 1 ? "f32" : "", sources > 2 ? "f32" : ""};
  const auto rows = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 4000, true);
  for (const auto& [suffix, mode] : modes) {
    if (!directed && mode != FE_TONEAREST) continue;
    for (const bool ftz : {false, true})
      for (const bool clamp : {false, true}) {
        if (clamp && !sat) continue;
        const std::string spelled = cat(opcode, directed ? suffix : "", ftz ? ".ftz" : "", clamp ? ".sat" : "", ".f32", operands);
        for (const std::uint32_t mask : {0xFFFFFFFFu, 0x7FFF0001u}) {
          const auto results = testing::run_rows(spelled, regs, rows, mask);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            if ((mask >> (i % 32) & 1) == 0) {
              ASSERT_EQ(results[i], 0x5A5A5A5Au) << spelled << " in an inactive lane";
              continue;
            }
            const auto in = [&](std::uint64_t bits) { return ftz ? flushed(f32(bits)) : f32(bits); };
            float r = rounded(reference, mode, in(rows[i].a), in(rows[i].b), in(rows[i].c));
            if (ftz) r = tiny(exact, mode, in(rows[i].a), in(rows[i].b), in(rows[i].c)) ? std::copysign(0.0f, r) : flushed(r);
            if (clamp) r = std::isnan(r) || r <= 0 ? 0.0f : std::min(r, 1.0f);
            ASSERT_EQ(hex(results[i], 8), hex(bits_of(r), 8))
                << spelled << " a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8) << " c=0x" << hex(rows[i].c, 8);
          }
        }
      }
  }
}

TEST(FloatingOps, RoundOnceInEveryMode) {
  expect_exact("add", 2, true, true, [](float a, float b, float) { return a + b; });
  expect_exact("sub", 2, true, true, [](float a, float b, float) { return a - b; });
  expect_exact(
      "mul", 2, true, true, [](float a, float b, float) { return a * b; },
      [](long double a, long double b, long double) { return a * b; });
  expect_exact(
      "fma", 3, true, true, [](float a, float b, float c) { return std::fma(a, b, c); },
      [](long double a, long double b, long double c) { return a * b + c; });
  expect_exact(
      "mad", 3, true, true, [](float a, float b, float c) { return std::fma(a, b, c); },
      [](long double a, long double b, long double c) { return a * b + c; });
  expect_exact(
      "div", 2, true, false, [](float a, float b, float) { return a / b; },
      [](long double a, long double b, long double) { return a / b; });
  expect_exact(
      "rcp", 1, true, false, [](float a, float, float) { return 1.0f / a; },
      [](long double a, long double, long double) { return 1 / a; });
  expect_exact("sqrt", 1, true, false, [](float a, float, float) { return std::sqrt(a); });
}

TEST(FloatingOps, RoundToNearestByDefault) {
  expect_exact("add", 2, false, true, [](float a, float b, float) { return a + b; });
  expect_exact("sub", 2, false, true, [](float a, float b, float) { return a - b; });
  expect_exact(
      "mul", 2, false, true, [](float a, float b, float) { return a * b; },
      [](long double a, long double b, long double) { return a * b; });
}

TEST(FloatingOps, ChangeTheSign) {
  const auto rows = testing::make_rows(testing::f32_edges(), {0}, 32, 500, true);
  const auto run = [&](const char* spelled) {
    return testing::run_rows(cat(spelled, ".f32 %vd, %va"), {"f32", "f32", "", ""}, rows);
  };
  const auto abs = run("abs"), neg = run("neg"), abs_ftz = run("abs.ftz"), neg_ftz = run("neg.ftz");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto a = static_cast<std::uint32_t>(rows[i].a);
    const bool nan = (a & 0x7FFFFFFF) > 0x7F800000;
    ASSERT_EQ(abs[i], nan ? 0x7FFFFFFF : a & 0x7FFFFFFF);
    ASSERT_EQ(neg[i], nan ? 0x7FFFFFFF : a ^ 0x80000000);
    ASSERT_EQ(abs_ftz[i], bits_of(std::fabs(flushed(f32(a)))));
    ASSERT_EQ(neg_ftz[i], bits_of(-flushed(f32(a))));
  }
}

TEST(FloatingOps, TakeMinimaAndMaxima) {
  const auto least = [](float a, float b, float) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  const auto most = [](float a, float b, float) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  };
  expect_exact("min", 2, false, false, least);
  expect_exact("max", 2, false, false, most);
  // .NaN: the slot comes behind .ftz, so the helper's modifiers do not fit; the two spellings are run by hand
  const auto rows = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 100, true);
  for (const bool ftz : {false, true})
    for (const bool larger : {false, true}) {
      const auto results = testing::run_rows(cat(larger ? "max" : "min", ftz ? ".ftz" : "", ".NaN.f32 %vd, %va, %vb"),
                                             {"f32", "f32", "f32", ""}, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const float a = ftz ? flushed(f32(rows[i].a)) : f32(rows[i].a), b = ftz ? flushed(f32(rows[i].b)) : f32(rows[i].b);
        const float r = std::isnan(a) || std::isnan(b) ? NAN : larger ? most(a, b, 0) : least(a, b, 0);
        ASSERT_EQ(hex(results[i], 8), hex(bits_of(r), 8)) << "a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8);
      }
    }
}

using Reference64 = double (*)(double, double, double);
double rounded(Reference64 f, int mode, double a, double b, double c) {
  const Mode scope(mode);
  const volatile double x = a, y = b, z = c;
  volatile double r = f(x, y, z);
  return r;
}

void expect_exact64(const std::string& opcode, int sources, bool by_default, Reference64 reference) {
  const std::string operands = sources == 2 ? ".f64 %vd, %va, %vb" : ".f64 %vd, %va, %vb, %vc";
  const auto rows = testing::make_rows(testing::f64_edges(), testing::f64_edges(), 64, 4000, true);
  for (const auto& [suffix, mode] : modes)
    for (const bool named : {true, false}) {
      if (!named && (!by_default || mode != FE_TONEAREST)) continue;
      const auto results =
          testing::run_rows(cat(opcode, named ? suffix : "", operands), {"f64", "f64", "f64", sources > 2 ? "f64" : ""}, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double a = f64(rows[i].a), b = f64(rows[i].b), c = sources > 2 ? f64(rows[i].c) : 0;
        const double r = rounded(reference, mode, a, b, c);
        std::uint64_t expected = std::bit_cast<std::uint64_t>(r);
        if (std::isnan(r)) {
          expected = 0xFFF8000000000000;
          for (const double x : {a, c, b})  // the last one stays
            if (std::isnan(x)) expected = std::bit_cast<std::uint64_t>(x) | 0x0008000000000000;
        }
        ASSERT_EQ(hex(results[i], 16), hex(expected, 16))
            << opcode << suffix << " a=0x" << hex(rows[i].a) << " b=0x" << hex(rows[i].b) << " c=0x" << hex(rows[i].c);
      }
    }
}

TEST(FloatingOps, RoundDoublesOnceInEveryMode) {
  expect_exact64("add", 2, true, [](double a, double b, double) { return a + b; });
  expect_exact64("sub", 2, true, [](double a, double b, double) { return a - b; });
  expect_exact64("mul", 2, true, [](double a, double b, double) { return a * b; });
  expect_exact64("fma", 3, false, [](double a, double b, double c) { return std::fma(a, b, c); });
}

// ---- approximations: the exact value in long double, and the bound that the manual gives

struct Bound {
  double ulps = 0;      // of the result
  double relative = 0;  // or this
  double absolute = 0;  // or this
};

void expect_near(const std::string& spelled, int sources, bool ftz, Bound bound, long double (*exact)(long double, long double),
                 const std::function<bool(float, float)>& in_range) {
  const auto rows = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 4000, true);
  const auto results = testing::run_rows(cat(spelled, sources == 1 ? " %vd, %va" : " %vd, %va, %vb"),
                                         {"f32", "f32", sources > 1 ? "f32" : "", ""}, rows);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float a = ftz ? flushed(f32(rows[i].a)) : f32(rows[i].a), b = ftz ? flushed(f32(rows[i].b)) : f32(rows[i].b);
    const float got = f32(results[i]);
    if (std::isnan(a) || (sources > 1 && std::isnan(b))) {
      ASSERT_EQ(results[i], 0x7FFFFFFFu) << spelled << " of a NaN";
      continue;
    }
    if (!in_range(a, b)) continue;
    ++compared;
    const long double want = exact(a, b);
    const auto rounded_want = static_cast<float>(want);
    if (std::isnan(rounded_want) || std::isinf(rounded_want) || rounded_want == 0) {
      ASSERT_EQ(hex(results[i], 8), hex(bits_of(ftz ? flushed(rounded_want) : rounded_want), 8))
          << spelled << " a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8);
      continue;
    }
    if (ftz && std::fabs(static_cast<float>(want * 0x1p60L)) < 0x1p-66f) {
      ASSERT_EQ(results[i], bits_of(std::copysign(0.0f, rounded_want))) << spelled;
      continue;
    }
    const float ulp = std::nextafter(std::fabs(rounded_want), INFINITY) - std::fabs(rounded_want);
    const long double error = std::fabs(want - static_cast<long double>(got));
    const long double allowed = std::max(
        {static_cast<long double>(bound.ulps) * ulp, bound.relative * std::fabs(want), static_cast<long double>(bound.absolute)});
    ASSERT_LE(error, allowed) << spelled << " a=0x" << hex(rows[i].a, 8) << " b=0x" << hex(rows[i].b, 8) << " gives 0x"
                              << hex(results[i], 8);
  }
  EXPECT_GT(compared, rows.size() / 20) << spelled << ": too few rows were in range";
}

// Quotients next to the smallest normal number and to the largest one are zero and infinite on one side alone; of a subnormal
// quotient, one rounded twice, a place is more than the bound says.
bool ftz_edge(float a, float b) {
  const long double q = std::fabs(static_cast<long double>(a) / static_cast<long double>(b));
  return (q > 0 && q < 0x1p-125L) || (q > 0x1.ffp127L && q < HUGE_VALL) ||
         (a != 0 && std::fabs(a) > 0x1p103f && std::fabs(b) < 0x1p-126f);
}

TEST(Approximations, StayWithinTheManualsBounds) {
  const auto always = [](float, float) { return true; };
  const auto near_zero = [](float a, float) { return std::fabs(a) <= 6.2f; };
  for (const bool ftz : {false, true}) {
    const std::string f = ftz ? ".ftz.f32" : ".f32";
    expect_near(cat("rcp.approx", f), 1, ftz, {.ulps = 1}, [](long double a, long double) { return 1 / a; }, always);
    expect_near(cat("sqrt.approx", f), 1, ftz, {.ulps = 1}, [](long double a, long double) { return std::sqrt(a); }, always);
    expect_near(
        cat("rsqrt.approx", f), 1, ftz, {.relative = 0x1p-22}, [](long double a, long double) { return 1 / std::sqrt(a); },
        always);
    expect_near(
        cat("lg2.approx", f), 1, ftz, {.relative = 0x1p-22, .absolute = 0x1p-22},
        [](long double a, long double) { return std::log2(a); }, always);
    expect_near(cat("ex2.approx", f), 1, ftz, {.ulps = 2}, [](long double a, long double) { return std::exp2(a); }, always);
    expect_near(
        cat("div.full", f), 2, ftz, {.ulps = 2}, [](long double a, long double b) { return a / b; },
        [](float a, float b) { return !(ftz_edge(a, b)); });
    expect_near(
        cat("div.approx", f), 2, ftz, {.ulps = 2}, [](long double a, long double b) { return a / b; },
        [](float a, float b) { return (std::fabs(b) <= 0x1p126f || std::isinf(b)) && !ftz_edge(a, b); });
    expect_near(
        cat("sin.approx", f), 1, ftz, {.absolute = 0x1p-20},
        [](long double a, long double) { return static_cast<long double>(std::sin(static_cast<double>(a))); }, near_zero);
    expect_near(
        cat("cos.approx", f), 1, ftz, {.absolute = 0x1p-20},
        [](long double a, long double) { return static_cast<long double>(std::cos(static_cast<double>(a))); }, near_zero);
  }
  expect_near(
      "tanh.approx.f32", 1, false, {.relative = 0x1p-11}, [](long double a, long double) { return std::tanh(a); }, always);
}

TEST(Approximations, DivideByHugeNumbersAsTheManualSays) {
  const auto results = testing::run_rows("div.approx.f32 %vd, %va, %vb", {"f32", "f32", "f32", ""},
                                         {{0, 0x3F800000, 0x7F000000, 0},
                                          {0, 0x7F800000, 0x7F000000, 0},
                                          {0, 0xBF800000, 0x7F000000, 0},
                                          {0, 0x3F800000, 0x7E800000, 0}});
  EXPECT_EQ(results[0], 0u);
  EXPECT_EQ(results[1], 0x7FFFFFFFu) << "infinity by more than 2^126";
  EXPECT_EQ(results[2], 0x80000000u);
  EXPECT_EQ(results[3], 0x00800000u) << "2^126 itself is in range";
}

}  // namespace
}  // namespace ptx::vgpu
