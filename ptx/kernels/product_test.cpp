#include "ptx/kernels/product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/author/author.hpp"
#include "ptx/kernels/run.hpp"
#include "tests/support/golden.hpp"

namespace ptx::kernels::product {
namespace {

TEST(Product, recipes_can_be_written_and_serve_their_problem) {
  for (const std::uint64_t m : {1, 16, 100, 4096}) {
    for (const std::uint64_t n : {64, 1031, 1032, 4096}) {
      for (const int layout : {0, 1, 2, 3}) {
        Problem p{.m = m, .n = n, .k = 520, .a_transposed = (layout & 1) != 0, .b_transposed = (layout & 2) != 0};
        p.bias = m == 16;
        p.residual = n == 1032;
        p.activation = m == 100 ? Activation::gelu_tanh : Activation::none;
        const auto all = recipes(p);
        ASSERT_TRUE(all) << render(all.error());
        ASSERT_FALSE(all->empty());
        for (const Recipe& recipe : *all) {
          EXPECT_TRUE(serves(recipe, p)) << name(recipe);
          const auto again = recipe_from_name(name(recipe));
          ASSERT_TRUE(again) << render(again.error());
          EXPECT_EQ(*again, recipe) << name(recipe);
        }
        const auto chosen = choose(p);
        ASSERT_TRUE(chosen) << render(chosen.error());
        EXPECT_TRUE(serves(*chosen, p)) << name(*chosen);
        auto written = kernel(*chosen);
        ASSERT_TRUE(written) << render(written.error());
        EXPECT_TRUE(compile(std::move(*written), std::vector<launch::Scalar>(3, 1))) << name(*chosen);
      }
    }
  }
}

/// What is chosen serves the problem, or it is said that nothing does; of sizes at which something changes.
TEST(Product, every_size_has_a_kernel_in_every_kind_of_product) {
  struct Kind {
    bool gated = false, grouped = false, batched = false, ragged = false;
    Scaling scaling = Scaling::none;
  };
  constexpr Kind kinds[] = {{},
                            {.gated = true},
                            {.grouped = true},
                            {.batched = true},
                            {.ragged = true},
                            {.scaling = Scaling::tensorwise},
                            {.scaling = Scaling::rowwise},
                            {.scaling = Scaling::blockwise}};
  constexpr std::uint64_t sizes[] = {
      1, 2, 7, 8, 9, 16, 24, 31, 32, 33, 64, 65, 128, 129, 255, 256, 257, 1 << 20, std::uint64_t{1} << 33};
  for (const Kind& kind : kinds) {
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        const bool scaled = kind.scaling != Scaling::none;
        if ((scaled && (a_transposed || !b_transposed)) || (kind.grouped && a_transposed)) continue;
        if (kind.ragged && (!a_transposed || b_transposed)) continue;
        for (const std::uint64_t m : sizes) {
          for (const std::uint64_t n : sizes) {
            for (const std::uint64_t k : {1, 65}) {
              Problem p{.m = m, .n = n, .k = k, .a_transposed = a_transposed, .b_transposed = b_transposed};
              p.dtype = scaled ? Type::e4m3 : Type::bf16;
              p.batch = kind.grouped || kind.batched || kind.ragged ? 3 : 1;
              p.batched = kind.batched, p.grouped = kind.grouped, p.gated = kind.gated, p.ragged = kind.ragged;
              p.scaling = kind.scaling, p.promoted = kind.scaling == Scaling::blockwise;
              const auto chosen = choose(p);
              ASSERT_TRUE(chosen) << render(chosen.error());
              EXPECT_TRUE(serves(*chosen, p)) << name(*chosen);
            }
          }
        }
      }
    }
  }
}

TEST(Product, few_rows_take_narrow_tiles_and_large_ones_wide) {
  EXPECT_TRUE(choose({.m = 8, .n = 4096, .k = 4096})->swapped);
  EXPECT_EQ(name(*choose({.m = 10, .n = 4096, .k = 4096})),
            "matmul__bf16_bf16_m64_n16_s12_d1_x1_k2_pairs_nt_swapped");  // measured
  const auto large = choose({.m = 8192, .n = 8192, .k = 8192});
  EXPECT_GE(large->rows * large->columns, 128 * 176);
  EXPECT_GT(choose({.m = 8, .n = 256, .k = 7168})->splits, 1);
  for (const std::uint64_t rows : {1500, 2048, 4096})  // of a group on average: measured with 2,048
    EXPECT_EQ(cluster(*choose(
                  {.m = 4096, .n = 14336, .k = rows, .batch = 8, .a_transposed = true, .b_transposed = false, .ragged = true})),
              2)
        << rows;
}

TEST(Product, refuses_what_no_kernel_takes) {
  EXPECT_EQ(choose({.dtype = Type::f32, .out = Type::f32, .m = 8, .n = 8, .k = 8}).error().kind, Kind::argument_dtype);
  EXPECT_EQ(choose({.dtype = Type::bf16, .out = Type::f16, .m = 8, .n = 8, .k = 8}).error().kind, Kind::argument_dtype);
  EXPECT_EQ(choose({.m = 8, .n = 8, .k = 0}).error().kind, Kind::bad_tile);
  for (const char* text : {"rms_norm__f32_v4", "matmul__bf16", "matmul__bf16_bf16_q1", "matmul__bf16_f16_m128_n128_s4",
                           "matmul__bf16_bf16_m128_n250_s4", "matmul__bf16_bf16_m128_n256_s5", "matmul__bf16_bf16_m192_n256_s2",
                           "matmul__bf16_bf16_m128_n128_s4_d2_k2", "matmul__bf16_bf16_m128_n256_s2_pingpong",
                           "matmul__bf16_bf16_m64_n16_s4_pairs_swapped_pingpong", "matmul__bf16_f32_m128_n128_s4_boxes"})
    EXPECT_EQ(recipe_from_name(text).error().kind, Kind::argument_kind) << text;
  EXPECT_EQ(activation_from_name("tanh").error().kind, Kind::argument_kind);
  EXPECT_EQ(grid({}, std::uint64_t{1} << 32, 8).error().kind, Kind::launch_config);
}

TEST(Product, costs_each_matrix_once) {
  const Cost c = cost({.m = 10, .n = 20, .k = 30, .batch = 2, .bias = true});
  EXPECT_EQ(c.bytes, 2U * (10 * 30 + 20 * 30 + 10 * 20) * 2 + 20 * 2);
  EXPECT_EQ(c.operations, 2U * 2 * 10 * 20 * 30);
}

TEST(Product, grid_is_no_larger_than_the_machine_nor_the_tiles) {
  const Recipe r{.down = 2};
  EXPECT_EQ((*grid(r, 8192, 8192))[0], 132U);
  EXPECT_EQ((*grid(r, 300, 256))[0], 4U);
  EXPECT_EQ((*grid({.columns = 16, .splits = 4, .store = Store::pairs, .swapped = true}, 16, 4096))[0], 128U);
}

class GoldenProduct : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenProduct, text) {
  const auto recipe = recipe_from_name(GetParam());
  ASSERT_TRUE(recipe) << render(recipe.error());
  auto written = kernel(*recipe);
  ASSERT_TRUE(written) << render(written.error());
  const auto compiled = compile(std::move(*written), std::vector<launch::Scalar>(boundary(*recipe).scalars.size(), 1));
  ASSERT_TRUE(compiled) << render(compiled.error());
  const std::string path = std::string("tests/golden/kernels/") + GetParam() + ".ptx";
  if (testing::blessing()) std::ofstream(path, std::ios::binary) << compiled->ptx();
  EXPECT_EQ(compiled->ptx(), testing::read_file(path)) << path << ": " << testing::how_to_bless;
}

// One of each class: alone, clusters that share, parts of K; each way out; each layout.
INSTANTIATE_TEST_SUITE_P(classes, GoldenProduct,
                         ::testing::Values("matmul__bf16_bf16_m128_n128_s4_d2_x1_k1_boxes_nt",
                                           "matmul__bf16_bf16_m128_n64_s4_d2_x2_k1_boxes_tn_bias_residual_relu",
                                           "matmul__f16_f16_m64_n48_s4_d1_x1_k1_pairs_nn_batched_gelu",
                                           "matmul__f16_f32_m64_n32_s4_d1_x1_k1_singles_tt_silu",
                                           "matmul__bf16_f32_m128_n128_s4_d2_x1_k1_pairs_tn_residual_wide",
                                           "matmul__bf16_bf16_m128_n128_s4_d2_x1_k1_boxes_tn_residual_wide",
                                           "matmul__bf16_bf16_m128_n128_s4_d2_x1_k1_boxes_nt_gated_silu",
                                           "matmul__bf16_bf16_m64_n64_s4_d1_x1_k1_boxes_nt_grouped",
                                           "matmul__bf16_bf16_m128_n64_s4_d1_x1_k1_boxes_tn_ragged",
                                           "matmul__bf16_bf16_m128_n64_s4_d2_x1_k1_boxes_tn_ragged",
                                           "matmul__e4m3_bf16_m64_n64_s4_d1_x1_k1_boxes_nt_rowwise",
                                           "matmul__bf16_bf16_m128_n64_s4_d2_x1_k1_boxes_nt_pingpong",
                                           "matmul__bf16_f32_m64_n32_s4_d1_x1_k1_pairs_tn_pingpong_batched_bias",
                                           "matmul__e4m3_bf16_m128_n64_s4_d2_x1_k1_boxes_nt_promoted_blockwise",
                                           "matmul__e4m3_bf16_m64_n256_s3_d1_x1_k1_boxes_nt_promoted_blockwise",
                                           "matmul__e4m3_bf16_m64_n16_s4_d1_x1_k2_pairs_nt_swapped_promoted_blockwise",
                                           "matmul__e4m3_bf16_m128_n128_s4_d2_x1_k1_boxes_nt_promoted_columnscales_blockwise",
                                           "matmul__bf16_bf16_m128_n64_s4_d2_x1_k1_boxes_nt_grouped",
                                           "matmul__bf16_bf16_m128_n16_s8_d1_x1_k4_pairs_nt_swapped_bias_residual_gelutanh"));

// Small integers have exact products and sums.
std::vector<std::uint16_t> small_integers(std::size_t count, unsigned seed) {
  std::vector<std::uint16_t> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>((i * 7 + seed) % 5) - 2) >> 16);
  return all;
}
float widened(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

TEST(RunProduct, on_the_executor) {
  constexpr std::size_t m = 9, n = 40, k = 72;
  const auto a = small_integers(m * k, 1), b = small_integers(n * k, 2), bias = small_integers(n, 3);
  std::vector<float> c(m * n, -1);
  vgpu::Options checks;
  checks.checks = vgpu::Checks::full;
  const auto done = matmul(cpu(checks), Type::bf16, {a.data(), m, k}, {b.data(), n, k}, Type::f32, {c.data(), m, n},
                           {.b_transposed = true, .alpha = 2, .bias = bias.data(), .activation = Activation::relu});
  ASSERT_TRUE(done) << render(done.error());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      float sum = widened(bias[j]);
      for (std::size_t l = 0; l < k; ++l) sum += 2 * widened(a[i * k + l]) * widened(b[j * k + l]);
      EXPECT_EQ(c[i * n + j], std::max(sum, 0.0F)) << i << ' ' << j;
    }
  }
}

// A matrix of rows so far apart, with NaN between them.
struct Apart {
  std::size_t rows, columns, stride;
  std::vector<std::uint16_t> memory;
  Apart(std::size_t m, std::size_t n, std::size_t distance, unsigned seed)
      : rows(m), columns(n), stride(distance), memory((m - 1) * distance + n, 0x7FC0) {
    const auto all = small_integers(m * n, seed);
    for (std::size_t i = 0; i < m * n; ++i) memory[i / n * distance + i % n] = all[i];
  }
  float at(std::size_t i, std::size_t j) const { return widened(memory[i * stride + j]); }
  MatrixIn in() const { return {memory.data(), rows, columns, stride}; }
};

TEST(RunProduct, rows_that_lie_apart) {
  vgpu::Options checks;
  checks.checks = vgpu::Checks::full;
  for (const std::size_t m : {9UL, 150UL}) {  // of few rows factors are swapped
    const std::size_t n = 40, k = 75;
    const Apart a(m, k, 80, 1), b(n, k, 96, 2), added(m, n, 44, 3);
    for (const std::size_t stride : {48UL, 45UL, 42UL}) {  // boxes, single elements, pairs
      std::vector<std::uint16_t> c((m - 1) * stride + n, 0x7FC0);
      const auto done = matmul(cpu(checks), Type::bf16, a.in(), b.in(), Type::bf16, {c.data(), m, n, stride},
                               {.b_transposed = true, .residual = added.in()});
      ASSERT_TRUE(done) << render(done.error());
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < stride && i * stride + j < c.size(); ++j) {
          float sum = j < n ? added.at(i, j) : 0;
          for (std::size_t l = 0; l < k && j < n; ++l) sum += a.at(i, l) * b.at(j, l);
          const float own = widened(c[i * stride + j]);
          ASSERT_TRUE(j < n ? own == sum : own != own)
              << m << ' ' << stride << ": " << i << ' ' << j << ": " << own << ' ' << sum;
        }
      }
    }
    const Apart left(k, m, (m + 15) / 8 * 8, 1), right(k, n, 48, 2);
    std::vector<float> sums((m - 1) * 41 + n, 1);
    const auto done = matmul(cpu(checks), Type::bf16, left.in(), right.in(), Type::f32, {sums.data(), m, n, 41},
                             {.a_transposed = true, .adds = true});
    ASSERT_TRUE(done) << render(done.error());
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        float sum = 1;
        for (std::size_t l = 0; l < k; ++l) sum += left.at(l, i) * right.at(l, j);
        ASSERT_EQ(sums[i * 41 + j], sum) << m << ": " << i << ' ' << j;
      }
    }
  }
}

TEST(RunProduct, results_have_memory_of_their_own) {
  std::vector<std::uint16_t> x = small_integers(64 * 64, 1), y = small_integers(64 * 64, 2);
  for (auto* out : {&x, &y}) {
    const auto done = matmul(cpu(), Type::bf16, {x.data(), 64, 64}, {y.data(), 64, 64}, Type::bf16, {out->data(), 64, 64});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::argument_memory);
    EXPECT_NE(done.error().message.find("which the kernel reads again"), std::string::npos) << done.error().message;
  }
}

TEST(RunProduct, sums_of_nothing_are_zeros) {
  const auto bias = small_integers(40, 3);
  std::vector<float> c(std::size_t{9} * 40, -1);
  const auto done = matmul(cpu(), Type::bf16, {nullptr, 9, 0}, {nullptr, 0, 40}, Type::f32, {c.data(), 9, 40},
                           {.bias = bias.data(), .activation = Activation::relu});
  ASSERT_TRUE(done) << render(done.error());
  for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(c[i], std::max(widened(bias[i % 40]), 0.0F)) << i;
}

TEST(RunProduct, says_what_does_not_fit) {
  std::vector<std::uint16_t> x(64 * 64);
  const MatrixOut c{x.data(), 8, 8};
  const auto kind = [&](const MatrixIn& a, const MatrixIn& b, const MatrixOut& out = {}) {
    return matmul(cpu(), Type::bf16, a, b, Type::bf16, out.data == nullptr ? c : out).error().kind;
  };
  EXPECT_EQ(kind({x.data(), 8, 16}, {x.data(), 8, 8}), Kind::argument_dim);
  EXPECT_EQ(kind({x.data(), 8, 12}, {x.data(), 12, 8}), Kind::argument_dim);
  EXPECT_EQ(kind({x.data(), 8, 16, 20}, {x.data(), 16, 8}), Kind::argument_dim);
  EXPECT_EQ(kind({x.data(), 8, 16, 8}, {x.data(), 16, 8}), Kind::argument_dim);
  EXPECT_EQ(kind({x.data(), 8, 16}, {x.data(), 16, 8}, {x.data(), 4, 8}), Kind::argument_dim);
  EXPECT_EQ(kind({nullptr, 8, 16}, {x.data(), 16, 8}), Kind::argument_memory);
}

}  // namespace
}  // namespace ptx::kernels::product
