// Functions over pointers on the executor, with all checks on, against double.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "ptx/author/author.hpp"
#include "ptx/kernels/kernels.hpp"

namespace ptx::kernels {
namespace {

using Words = std::vector<std::uint16_t>;
using Doubles = std::vector<double>;

Place checked_place() {
  vgpu::Options options;
  options.checks = vgpu::Checks::full;
  return cpu(options);
}

std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}
std::uint16_t bf16_of(float value) { return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) + 0x8000U) >> 16); }
double value_of(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
Words halves(std::size_t count, unsigned seed) {
  Words words;
  for (const float value : drawn(count, seed)) words.push_back(bf16_of(value));
  return words;
}

struct Gradients {
  Doubles dx, dweight, dbias;
};
Gradients norm_gradients(bool is_layer, const std::vector<float>& dy, const std::vector<float>& x, const std::vector<float>& w,
                         std::size_t rows, std::size_t columns, double eps) {
  Gradients all{Doubles(x.size()), Doubles(columns), Doubles(columns)};
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t at = r * columns;
    double mean = 0, variance = 0, of_g = 0, of_products = 0;
    for (std::size_t c = 0; c < columns; ++c) mean += is_layer ? x[at + c] / static_cast<double>(columns) : 0;
    for (std::size_t c = 0; c < columns; ++c) variance += (x[at + c] - mean) * (x[at + c] - mean) / static_cast<double>(columns);
    const double rstd = 1 / std::sqrt(variance + eps);
    for (std::size_t c = 0; c < columns; ++c) {
      const double xhat = (x[at + c] - mean) * rstd, g = double{dy[at + c]} * w[c];
      of_g += g / static_cast<double>(columns), of_products += g * xhat / static_cast<double>(columns);
      all.dweight[c] += dy[at + c] * xhat, all.dbias[c] += dy[at + c];
    }
    for (std::size_t c = 0; c < columns; ++c) {
      const double xhat = (x[at + c] - mean) * rstd, g = double{dy[at + c]} * w[c];
      all.dx[at + c] = rstd * (g - (is_layer ? of_g : 0) - xhat * of_products);
    }
  }
  return all;
}

TEST(RunBackward, norms) {
  for (const bool is_layer : {false, true}) {
    for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{1, 40}, {9, 100}, {33, 1024}, {0, 12}, {5, 1001}}) {
      SCOPED_TRACE(cat(is_layer ? "layer " : "rms ", rows, " x ", columns));
      const auto dy = drawn(rows * columns, 1), x = drawn(rows * columns, 2), w = drawn(columns, 3);
      std::vector<float> dx(x.size()), dw(columns, 7.0F), db(columns, 7.0F);
      NormGradients g{.dy = {dy.data(), rows, columns},
                      .x = {x.data(), rows, columns},
                      .weight = w.data(),
                      .dx = {dx.data(), rows, columns},
                      .dweight = dw.data(),
                      .dbias = is_layer ? db.data() : nullptr,
                      .eps = 1e-5F};
      const auto bytes =
          is_layer ? layer_norm_workspace(checked_place(), Type::f32, g) : rms_norm_workspace(checked_place(), Type::f32, g);
      ASSERT_TRUE(bytes) << render(bytes.error());
      EXPECT_EQ(*bytes == 0, rows == 0);
      std::vector<double> workspace(*bytes / 8 + 2);
      g.workspace = workspace.data();
      const auto done =
          is_layer ? layer_norm_backward(checked_place(), Type::f32, g) : rms_norm_backward(checked_place(), Type::f32, g);
      ASSERT_TRUE(done) << render(done.error());
      const Gradients expected = norm_gradients(is_layer, dy, x, w, rows, columns, 1e-5);
      for (std::size_t i = 0; i < dx.size(); ++i) ASSERT_NEAR(dx[i], expected.dx[i], 2e-5) << i;
      for (std::size_t c = 0; c < columns; ++c) {
        ASSERT_NEAR(dw[c], expected.dweight[c], 5e-5) << c;
        ASSERT_NEAR(db[c], is_layer ? expected.dbias[c] : 7.0, 5e-5) << c;
      }
    }
  }
}

TEST(RunBackward, norms_say_what_is_missing) {
  std::vector<float> x(40), w(10), dw(10);
  NormGradients g{.dy = {x.data(), 4, 10}, .x = {x.data(), 4, 10}, .weight = w.data(), .dx = {x.data(), 4, 10}};
  EXPECT_EQ(rms_norm_backward(cpu(), Type::f32, g).error().kind, Kind::argument_memory);
  g.dweight = dw.data();
  EXPECT_EQ(rms_norm_backward(cpu(), Type::f32, g).error().kind, Kind::argument_memory);
  std::vector<double> workspace(1000);
  g.workspace = reinterpret_cast<std::byte*>(workspace.data()) + 4;
  EXPECT_EQ(rms_norm_backward(cpu(), Type::f32, g).error().kind, Kind::argument_memory);
  g.dx = {x.data(), 4, 5};
  EXPECT_EQ(rms_norm_backward(cpu(), Type::f32, g).error().kind, Kind::argument_dim);
}

TEST(RunBackward, the_others) {
  constexpr std::size_t rows = 7, columns = 52;
  const auto dy = drawn(rows * columns, 1), z = drawn(rows * columns, 2), u = drawn(rows * columns, 3);
  std::vector<float> p(z.size()), q(z.size()), dp(z.size()), dq(z.size()), dg(z.size()), du(z.size());
  const MatrixIn in{z.data(), rows, columns}, of{dy.data(), rows, columns}, up{u.data(), rows, columns};
  const Place place = checked_place();
  ASSERT_TRUE(softmax(place, Type::f32, in, {p.data(), rows, columns}));
  ASSERT_TRUE(log_softmax(place, Type::f32, in, {q.data(), rows, columns}));
  ASSERT_TRUE(softmax_backward(place, Type::f32, of, {p.data(), rows, columns}, {dp.data(), rows, columns}));
  ASSERT_TRUE(log_softmax_backward(place, Type::f32, of, {q.data(), rows, columns}, {dq.data(), rows, columns}));
  ASSERT_TRUE(swiglu_backward(place, Type::f32, of, in, up, {dg.data(), rows, columns}, {du.data(), rows, columns}));
  for (std::size_t r = 0; r < rows; ++r) {
    double dot = 0, sum = 0;
    for (std::size_t i = r * columns; i < (r + 1) * columns; ++i) dot += double{dy[i]} * p[i], sum += dy[i];
    for (std::size_t i = r * columns; i < (r + 1) * columns; ++i) {
      EXPECT_NEAR(dp[i], p[i] * (dy[i] - dot), 1e-5);
      EXPECT_NEAR(dq[i], dy[i] - std::exp(double{q[i]}) * sum, 1e-5);
      const double s = 1 / (1 + std::exp(-double{z[i]}));
      EXPECT_NEAR(dg[i], double{dy[i]} * u[i] * (s + z[i] * s * (1 - s)), 1e-5);
      EXPECT_NEAR(du[i], double{dy[i]} * z[i] * s, 1e-5);
    }
  }
  ASSERT_TRUE(geglu_backward(place, Type::f32, of, in, up, {dg.data(), rows, columns}, {du.data(), rows, columns}));
  const auto gelu = [](double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); };
  for (std::size_t i = 0; i < z.size(); ++i) {
    EXPECT_NEAR(du[i], dy[i] * gelu(z[i]), 1e-4);
    EXPECT_NEAR(dg[i], double{dy[i]} * u[i] * (gelu(z[i] + 1e-5) - gelu(z[i] - 1e-5)) / 2e-5, 1e-3);
  }
}

TEST(RunRows, to_e4m3) {
  constexpr std::size_t rows = 3, columns = 72;
  const auto x = drawn(rows * columns, 1), w = drawn(columns, 2);
  std::vector<std::uint8_t> y(x.size()), z(x.size());
  std::vector<float> scales(rows), plain(x.size());
  const float scale = 0.02F;
  const MatrixIn in{x.data(), rows, columns};
  const Place place = checked_place();
  ASSERT_TRUE(rms_norm(place, Type::f32, in, w.data(), {plain.data(), rows, columns}));
  const auto by_rows = rms_norm(place, Type::f32, in, w.data(), {y.data(), rows, columns}, {.e4m3 = {.scales = scales.data()}});
  ASSERT_TRUE(by_rows) << render(by_rows.error());
  const auto by_one = rms_norm(place, Type::f32, in, w.data(), {z.data(), rows, columns}, {.e4m3 = {.scale = &scale}});
  ASSERT_TRUE(by_one) << render(by_one.error());
  const auto decoded = [](std::uint8_t bits) {
    const int exponent = bits >> 3 & 15, fraction = bits & 7;
    const double magnitude = exponent == 0 ? fraction * 0x1p-9 : (8 + fraction) * std::ldexp(1.0, exponent - 10);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double by_row = scales[i / columns];
    EXPECT_NEAR(decoded(y[i]) * by_row, plain[i], std::abs(plain[i]) / 15 + by_row * 0x1p-9);
    const double limited = std::clamp<double>(plain[i], -448 * double{scale}, 448 * double{scale});
    EXPECT_NEAR(decoded(z[i]) * scale, limited, std::abs(limited) / 15 + scale * 0x1p-9);
  }
  ASSERT_TRUE(swiglu(place, Type::f32, in, in, {y.data(), rows, columns}, {.scales = scales.data()}));
}

// What row i, column j of a product of stacks is.
double product_at(const Words& a, const Words& b, std::size_t i, std::size_t j, std::size_t k) {
  double sum = 0;
  for (std::size_t step = 0; step < k; ++step) sum += value_of(a[i * k + step]) * value_of(b[j * k + step]);
  return sum;
}

TEST(RunProduct, several_at_once) {
  constexpr std::size_t batch = 3, m = 20, n = 24, k = 40;
  const Words a = halves(batch * m * k, 1), b = halves(batch * n * k, 2), bias = halves(n, 3);
  std::vector<float> c(batch * m * n);
  const auto done = matmul(checked_place(), Type::bf16, {a.data(), m, k}, {b.data(), n, k}, Type::f32, {c.data(), m, n},
                           {.b_transposed = true, .bias = bias.data(), .batch = batch});
  ASSERT_TRUE(done) << render(done.error());
  for (std::size_t i = 0; i < batch * m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      ASSERT_NEAR(c[i * n + j], product_at(a, b, i, i / m * n + j, k) + value_of(bias[j]), 1e-4) << i << ' ' << j;
  EXPECT_TRUE(matmul(cpu(), Type::bf16, {a.data(), m, k}, {b.data(), n, k}, Type::f32, {c.data(), m, n},
                     {.b_transposed = true, .batch = 0}));
}

TEST(RunProduct, gated) {
  constexpr std::size_t m = 70, n = 40, k = 24;
  const Words a = halves(m * k, 1), b = halves(2 * n * k, 2);
  Words c(m * n);
  const auto done = gated_matmul(checked_place(), Type::bf16, {a.data(), m, k}, {b.data(), 2 * n, k}, {c.data(), m, n});
  ASSERT_TRUE(done) << render(done.error());
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double gate = product_at(a, b, i, j, k), up = product_at(a, b, i, n + j, k);
      const double expected = gate / (1 + std::exp(-gate)) * up;
      ASSERT_NEAR(value_of(c[i * n + j]), expected, std::abs(expected) / 100 + 1e-3) << i << ' ' << j;
    }
  EXPECT_EQ(gated_matmul(cpu(), Type::bf16, {a.data(), m, k}, {b.data(), 2 * n - 1, k}, {c.data(), m, n}).error().kind,
            Kind::argument_dim);
  ASSERT_TRUE(gated_matmul(checked_place(), Type::bf16, {a.data(), m, 0}, {b.data(), 2 * n, 0}, {c.data(), m, n}));
  for (const std::uint16_t word : c) ASSERT_EQ(word & 0x7FFF, 0);
}

TEST(RunProduct, in_groups) {
  constexpr std::size_t m = 90, n = 24, k = 32, groups = 4;
  const std::vector<std::int32_t> ends = {7, 7, 50, 81};
  const Words a = halves(m * k, 1), b = halves(groups * n * k, 2);
  std::vector<float> c(m * n, -1.0F);
  const auto done = grouped_matmul(checked_place(), Type::bf16, {a.data(), m, k}, {b.data(), n, k}, ends.data(), groups,
                                   Type::f32, {c.data(), m, n});
  ASSERT_TRUE(done) << render(done.error());
  for (std::size_t i = 0, group = 0; i < m; ++i) {
    while (group < groups && i >= static_cast<std::size_t>(ends[group])) ++group;
    for (std::size_t j = 0; j < n; ++j) {
      if (group == groups)
        ASSERT_EQ(c[i * n + j], -1.0F) << i;
      else
        ASSERT_NEAR(c[i * n + j], product_at(a, b, i, group * n + j, k), 1e-4) << i << ' ' << j;
    }
  }
}

TEST(RunProduct, of_8_bits) {
  constexpr std::size_t m = 36, n = 200, k = 272, steps = 3, columns = 2;
  std::mt19937 random(1);
  std::vector<std::uint8_t> a(m * k), b(n * k);
  for (auto* matrix : {&a, &b})
    for (std::uint8_t& value : *matrix) value = static_cast<std::uint8_t>((random() & 0x87U) | 0x30U);  // 0.5 to 0.94, signed
  const auto decoded = [](std::uint8_t bits) { return ((bits & 0x80) != 0 ? -1 : 1) * (8 + (bits & 7)) / 16.0; };
  const auto of_a = drawn(m * steps, 2), of_b = drawn(n * steps, 3);
  std::vector<float> transposed(m * steps), c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t s = 0; s < steps; ++s) transposed[s * m + i] = of_a[i * steps + s];
  using product::Scaling;
  for (const auto& [scaling, is_transposed] : {std::pair(Scaling::tensorwise, false),
                                               {Scaling::rowwise, false},
                                               {Scaling::blockwise, false},
                                               {Scaling::blockwise, true}}) {
    SCOPED_TRACE(static_cast<int>(scaling));
    const auto done = scaled_matmul(checked_place(), {a.data(), m, k}, is_transposed ? transposed.data() : of_a.data(),
                                    {b.data(), n, k}, of_b.data(), Type::f32, {c.data(), m, n},
                                    {.scaling = scaling, .scales_transposed = is_transposed, .fast = false});
    ASSERT_TRUE(done) << render(done.error());
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0, all = 0;
        for (std::size_t step = 0; step < k; ++step) {
          const double scale = scaling == Scaling::tensorwise ? double{of_a[0]} * of_b[0]
                               : scaling == Scaling::rowwise
                                   ? double{of_a[i]} * of_b[j]
                                   : double{of_a[i * steps + step / 128]} * of_b[j / 128 * steps + step / 128];
          const double term = decoded(a[i * k + step]) * decoded(b[j * k + step]) * scale;
          sum += term, all += std::abs(term);
        }
        ASSERT_NEAR(c[i * n + j], sum, all * 1e-3 + 1e-6) << i << ' ' << j;
      }
  }
  static_assert(columns == (n + 127) / 128);
  EXPECT_EQ(
      scaled_matmul(cpu(), {a.data(), m, k - 8}, of_a.data(), {b.data(), n, k - 8}, of_b.data(), Type::f32, {c.data(), m, n})
          .error()
          .kind,
      Kind::argument_dim);
}

}  // namespace
}  // namespace ptx::kernels
