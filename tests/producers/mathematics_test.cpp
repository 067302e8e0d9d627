// sources/mathematics.cu against the host's library in a wider format, within places of the result (CUDA's programming guide,
// "Mathematical Functions", has 6 at most for these); the directed roundings exactly.
#include <cfenv>
#include <cmath>

#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

template <class Wide>
std::vector<Wide> functions_of(Wide x, Wide power, Wide divisor) {
  return {std::sin(x),    std::cos(x),    std::tan(x),   std::exp(x),        std::log(x),
          std::exp2(x),   std::log2(x),   std::expm1(x), std::log1p(x),      std::sinh(x),
          std::tanh(x),   std::atan(x),   std::asinh(x), std::erf(x),        std::cbrt(x),
          std::tgamma(x), std::lgamma(x), std::sqrt(x),  std::pow(x, power), std::fmod(x * 100, divisor)};
}

template <class Number, class Wide>
void expect_near(const Played& run, std::string_view in, std::string_view out, Number power, Number divisor, double places) {
  const auto x = run.given<Number>(in), made = run.made<Number>(out);
  ASSERT_EQ(made.size(), x.size() * 20);
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto expected = functions_of<Wide>(x[i], power, divisor);
    expected.back() = std::fmod(Wide{x[i] * 100}, Wide{divisor});  // the product is rounded
    for (std::size_t j = 0; j < expected.size(); ++j) {
      const Wide least = j == 16 ? Wide{1} : Wide{0.05};  // lgamma passes through 0 at 1 and 2
      const Wide bound =
          static_cast<Wide>(places) * std::numeric_limits<Number>::epsilon() * std::max(std::abs(expected[j]), least);
      EXPECT_LE(std::abs(made[i * 20 + j] - expected[j]), bound) << run.name << ": " << out << ", function " << j << " of "
                                                                 << x[i] << " is " << made[i * 20 + j] << ", not " << expected[j];
    }
  }
}

bool is_fast(const Played& run) { return run.name.find("fast") != std::string::npos; }

TEST(Mathematics, Singles) {
  for (const Played& run : played("mathematics"))
    if (!is_fast(run)) expect_near<float, double>(run, "floats", "singles", 1.75F, 0.7F, 6);
}
TEST(Mathematics, Doubles) {
  for (const Played& run : played("mathematics")) expect_near<double, long double>(run, "wide", "doubles", 1.75, 0.7, 6);
}
TEST(Mathematics, FastSingles) {
  for (const Played& run : played("mathematics")) {
    if (!is_fast(run)) continue;
    const auto x = run.given<float>("floats"), made = run.made<float>("singles");
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto expected = functions_of<double>(x[i], 1.75, 0.7);
      for (const std::size_t j : {0, 1, 3, 4, 5, 6, 18})  // those with fast forms
        EXPECT_NEAR(made[i * 20 + j], expected[j], 4e-6 * std::max(1.0, std::abs(expected[j])))
            << run.name << ": " << j << " of " << x[i];
    }
  }
}

TEST(Mathematics, DirectedRounding) {
  for (const Played& run : played("mathematics")) {
    if (is_fast(run)) continue;  // which flushes subnormal results
    const auto in = run.given<float>("floats"), made = run.made<float>("rounding");
    for (std::size_t i = 0; i < in.size(); ++i) {
      const volatile float x = in[i], y = in[i ^ 1];
      std::vector<float> expected(10);
      const auto in_mode = [&](int mode, std::size_t at, auto compute) {
        std::fesetround(mode);
        const volatile float result = compute();
        std::fesetround(FE_TONEAREST);
        expected[at] = result;
      };
      in_mode(FE_TOWARDZERO, 0, [&] { return x + y; });
      in_mode(FE_UPWARD, 1, [&] { return x * y; });
      in_mode(FE_DOWNWARD, 2, [&] { return x / y; });
      in_mode(FE_UPWARD, 3, [&] { return std::sqrt(x); });
      in_mode(FE_DOWNWARD, 4, [&] { return std::fma(x, y, 1.0F); });
      in_mode(FE_TONEAREST, 5, [&] { return std::nearbyint(x * 7); });
      in_mode(FE_TONEAREST, 6, [&] { return std::round(x * 7); });
      in_mode(FE_TONEAREST, 7, [&] { return std::trunc(-x * 7); });
      in_mode(FE_TONEAREST, 8, [&] { return std::ldexp(x, -130); });
      in_mode(FE_TONEAREST, 9, [&] { return std::nextafter(x, 100.0F); });
      for (std::size_t j = 0; j < 10; ++j)
        EXPECT_EQ(made[i * 10 + j], expected[j]) << run.name << ": " << j << " of " << x << ", " << y;
    }
  }
}

}  // namespace
}  // namespace ptx::producers
