// Products of matrices: what D = f(alpha A B + beta C) is, in loops of doubles.
#pragma once

#include "tests/producers/numbers.hpp"

namespace ptx::producers {

struct Product {
  std::string name;  ///< allocations are NAME_a, NAME_b, NAME_c, NAME_d
  std::size_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  std::string a = "f16", b = "f16", d = "f16";  ///< types; C has D's
  bool a_by_columns = false, b_by_columns = true, d_by_columns = false;
  bool relu = false;
  std::size_t count = 1;  ///< products of a size, one behind the other
  std::string bias;       ///< "NAME_bias" of f32, one for each row of D
};

/// Numbers are small and whole, so that every order of additions gives the same sum; what is left is one rounding to D's type.
inline void expect_product(const Played& run, const Product& p) {
  const auto a = as_doubles(run, p.name + "_a", p.a, true), b = as_doubles(run, p.name + "_b", p.b, true);
  const auto c = as_doubles(run, p.name + "_c", p.d, true), d = as_doubles(run, p.name + "_d", p.d, false);
  const std::size_t size_a = p.m * p.k, size_b = p.k * p.n, size_d = p.m * p.n;
  ASSERT_EQ(a.size(), p.count * size_a);
  ASSERT_EQ(b.size(), p.count * size_b);
  ASSERT_EQ(d.size(), p.count * size_d);
  const auto bias = p.bias.empty() ? std::vector<double>(p.m) : as_doubles(run, p.bias, "f32", true);
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < p.count * p.m; ++row)
    for (std::size_t j = 0; j < p.n; ++j) {
      const std::size_t one = row / p.m, i = row % p.m;
      double sum = 0;
      for (std::size_t l = 0; l < p.k; ++l)
        sum += a[one * size_a + (p.a_by_columns ? l * p.m + i : i * p.k + l)] *
               b[one * size_b + (p.b_by_columns ? j * p.k + l : l * p.n + j)];
      const std::size_t at = one * size_d + (p.d_by_columns ? j * p.m + i : i * p.n + j);
      double expected = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * c[at]) + bias[i];
      if (p.relu) expected = std::max(expected, 0.0);
      if (std::abs(d[at] - expected) <= half_place(p.d) * std::abs(expected)) continue;
      if (++wrong <= 3)
        ADD_FAILURE() << run.name << ": " << p.name << " at (" << row << ", " << j << ") is " << d[at] << ", not " << expected;
    }
  EXPECT_EQ(wrong, 0U) << run.name << ": " << p.name << ", of " << p.m * p.n;
}

}  // namespace ptx::producers
