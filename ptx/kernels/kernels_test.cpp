#include "ptx/kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "ptx/author/author.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/kernels/tuned.hpp"
#include "ptx/version.hpp"
#include "tests/support/golden.hpp"

namespace ptx::kernels {
namespace {

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

Place checked_cpu() {
  vgpu::Options options;
  options.checks = vgpu::Checks::full;
  return cpu(options);
}

TEST(Recipes, of_every_problem_can_be_written_and_serve_it) {
  for (int o = 0; o < operations; ++o) {
    for (const Type dtype : {Type::f32, Type::f16, Type::bf16}) {
      for (const std::uint64_t columns : {1, 3, 31, 127, 1000, 4096, 8193, 65536}) {
        Problem p{.operation = static_cast<Operation>(o), .dtype = dtype, .rows = 64, .columns = columns};
        const bool is_f32 = dtype == Type::f32 || p.operation == Operation::column_sums;
        p.alignment = 1 << std::countr_zero(static_cast<unsigned>(columns * (is_f32 ? 4 : 2)) | 16U);
        p.in_place = p.operation == Operation::rescale;
        p.weight = std::string(name(p.operation)).find("norm") != std::string::npos || p.operation == Operation::column_sums;
        const auto all = recipes(p);
        ASSERT_TRUE(all) << render(all.error());
        ASSERT_FALSE(all->empty()) << name(p.operation) << " of " << columns;
        for (const Recipe& recipe : *all) {
          EXPECT_TRUE(serves(recipe, p)) << name(recipe);
          const auto again = recipe_from_name(name(recipe));
          ASSERT_TRUE(again) << render(again.error());
          EXPECT_EQ(*again, recipe);
        }
        const auto chosen = choose(p);
        ASSERT_TRUE(chosen) << render(chosen.error());
        EXPECT_TRUE(serves(*chosen, p)) << name(*chosen);
        auto written = kernel(*chosen);
        ASSERT_TRUE(written) << render(written.error());
        EXPECT_TRUE(compile(std::move(*written), std::vector<launch::Scalar>(boundary(*chosen).scalars.size(), 1)))
            << name(*chosen);
      }
    }
  }
}

// In the words of python/pyptx/kernels/_tuned.py, whose test has the same.
TEST(Recipes, that_were_tuned_are_found) {
  const Problem softmax{.operation = Operation::softmax, .rows = 6, .columns = 1000};
  EXPECT_EQ(tuning_key(softmax), R"(["rows", "softmax", "float32", 4, 1000, 16, []])");
  const product::Problem p{.m = 1500, .n = 64, .k = 72, .bias = true, .activation = product::Activation::gelu_tanh};
  const std::string key = R"(["product", "bfloat16", "bfloat16", [1536, 64, 72, 1], ["b_transposed", "bias", "gelu_tanh"]])";
  EXPECT_EQ(tuning_key(p), key);
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "ptx_tuned";
  std::filesystem::create_directories(folder / "tuned");
  ::setenv("PYPTX_CACHE_DIR", folder.c_str(), 1);
  const std::string file = cuda::to_hex(sha256(cat("[\"A\", \"", version, "\", ", key, ']'))).substr(0, 32) + ".json";
  std::ofstream(folder / "tuned" / file) << "{\n \"problem\": [],\n \"recipe\": \"matmul__x\",\n \"us\": 1\n}\n";
  EXPECT_EQ(tuned_recipe("A", key), "matmul__x");
  EXPECT_EQ(tuned_recipe("B", key), std::nullopt);
  EXPECT_EQ(name(*chosen(cpu(), softmax)), name(*choose(softmax)));  // a GPU's recipes are not the executor's
  ::unsetenv("PYPTX_CACHE_DIR");
  std::filesystem::remove_all(folder);
}

TEST(Recipes, that_were_measured_are_chosen) {
  const auto chosen = choose({.operation = Operation::softmax, .dtype = Type::bf16, .rows = 512, .columns = 262144});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(name(*chosen), "softmax__bf16_v8_t1024_x1_p4_c8");
  EXPECT_EQ(
      choose({.operation = Operation::softmax, .dtype = Type::bf16, .rows = 512, .columns = 262144, .strided = true})->vector, 8);
}

// Clusters and copies ahead began with sm_90.
TEST(Recipes, of_older_gpus_take_what_they_have) {
  for (const Operation operation : {Operation::rms_norm_backward, Operation::softmax, Operation::cross_entropy}) {
    for (const std::uint64_t columns : {1000, 4096, 65536}) {
      Problem p{.operation = operation, .dtype = Type::bf16, .rows = 16384, .columns = columns, .architecture = 80};
      p.weight = operation == Operation::rms_norm_backward;
      const auto all = recipes(p);
      ASSERT_TRUE(all);
      for (const Recipe& recipe : *all) EXPECT_FALSE(needs_hopper(recipe)) << name(recipe);
      const auto chosen = choose(p);
      EXPECT_FALSE(chosen && needs_hopper(*chosen)) << columns;
    }
  }
}

TEST(Recipes, refuse_what_no_kernel_takes) {
  EXPECT_EQ(choose({.dtype = Type::f64, .columns = 8}).error().kind, Kind::argument_dtype);
  EXPECT_EQ(choose({.columns = longest_row + 1}).error().kind, Kind::bad_tile);
  EXPECT_EQ(choose({.columns = 0}).error().kind, Kind::bad_tile);
  EXPECT_EQ(recipe_from_name("rms_norm").error().kind, Kind::argument_kind);
  EXPECT_EQ(recipe_from_name("rms_norm__f32_v4_t96_x1_p1_c1").error().kind, Kind::argument_kind);
  EXPECT_EQ(recipe_from_name("rms_norm__f32_v8_t128_x1_p1_c1").error().kind, Kind::argument_kind);
  EXPECT_EQ(recipe_from_name("rms_norm__f32_q1").error().kind, Kind::argument_kind);
  EXPECT_EQ(recipe_from_name("sort__f32").error().kind, Kind::argument_kind);
}

TEST(Cost, counts_each_matrix_once) {
  EXPECT_EQ(cost({.operation = Operation::swiglu, .dtype = Type::bf16, .rows = 10, .columns = 8}).bytes, 3U * 80 * 2);
  EXPECT_EQ(cost({.operation = Operation::rms_norm, .rows = 10, .columns = 8, .weight = true}).bytes, (2U * 80 + 8) * 4);
}

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, text) {
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

// One of each class: a group of threads, a block, a cluster; each type and width; each operation.
INSTANTIATE_TEST_SUITE_P(classes, Golden,
                         ::testing::Values("rms_norm__f32_v4_t128_x1_p2_c1_w", "rms_norm__bf16_v8_t16_x8_p1_c1_e_w",
                                           "rms_norm__f16_v1_t64_x1_p2_c1_w_r", "rms_norm__bf16_v8_t128_x1_p1_c1_w_e4m3",
                                           "rms_norm__bf16_v8_t128_x1_p1_c1_w_e4m3_given", "swiglu__bf16_v8_t128_x1_p2_c1_e4m3",
                                           "geglu__f32_v4_t64_x1_p1_c1_packed_e4m3_given", "layer_norm__f32_v4_t128_x1_p2_c8_w_b",
                                           "softmax__bf16_v8_t64_x1_p2_c1_a", "softmax__f32_v4_t128_x1_p2_c1_strided",
                                           "log_softmax__f16_v2_t32_x4_p2_c1", "softmax_backward__bf16_v8_t128_x1_p1_c1",
                                           "swiglu__bf16_v8_t128_x1_p1_c1", "geglu__f32_v4_t64_x1_p1_c1_packed",
                                           "swiglu_backward__f32_v4_t128_x1_p1_c1", "rms_norm_backward__bf16_v8_t64_x1_p1_c1_e_w",
                                           "layer_norm_backward__f32_v4_t16_x8_p1_c1_w_b",
                                           "rms_norm_backward__bf16_v8_t64_x1_p1_c1_m4_s2_w_r",
                                           "layer_norm_backward__f32_v4_t128_x1_p2_c1_m4_s3_w_b",
                                           "column_sums__bf16_v4_t256_x1_p1_c1_w_b", "cross_entropy__bf16_v8_t64_x1_p1_c1_g",
                                           "rescale__bf16_v8_t256_x1_p4_c1_inplace",
                                           "cross_entropy__bf16_v8_t32_x4_p2_c1_a_g_inplace_int32",
                                           "cross_entropy__bf16_v8_t512_x1_p7_c8_m2_a_g_inplace"));

TEST(Run, rms_norm_of_rows_that_lie_apart) {
  constexpr std::size_t rows = 5, columns = 100, stride = 108;
  const auto x = random_floats(rows * stride, 1), w = random_floats(columns, 2);
  std::vector<float> y(rows * columns, std::nanf(""));
  const auto done = rms_norm(checked_cpu(), Type::f32, {x.data(), rows, columns, stride}, w.data(), {y.data(), rows, columns});
  ASSERT_TRUE(done) << render(done.error());
  for (std::size_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (std::size_t c = 0; c < columns; ++c) squares += double{x[r * stride + c]} * x[r * stride + c];
    const double rstd = 1 / std::sqrt(squares / columns + 1e-6);
    for (std::size_t c = 0; c < columns; ++c)
      EXPECT_NEAR(y[r * columns + c], x[r * stride + c] * rstd * w[c], 1e-5) << r << ' ' << c;
  }
}

TEST(Run, the_others_of_one_row_and_of_many) {
  for (const std::size_t rows : {1, 37}) {
    constexpr std::size_t columns = 33;
    const auto x = random_floats(rows * columns, 1), z = random_floats(rows * columns, 2), w = random_floats(columns, 3);
    std::vector<float> y(x.size()), sum(x.size()), p(x.size()), q(x.size()), s(x.size()), g(x.size());
    const MatrixIn in{x.data(), rows, columns}, other{z.data(), rows, columns};
    const Place place = checked_cpu();
    ASSERT_TRUE(layer_norm(place, Type::f32, in, w.data(), w.data(), {y.data(), rows, columns},
                           {.eps = 1e-5F, .residual = other, .sum = {sum.data(), rows, columns}}));
    ASSERT_TRUE(softmax(place, Type::f32, in, {p.data(), rows, columns}));
    ASSERT_TRUE(log_softmax(place, Type::f32, in, {q.data(), rows, columns}));
    ASSERT_TRUE(swiglu(place, Type::f32, in, other, {s.data(), rows, columns}));
    ASSERT_TRUE(geglu(place, Type::f32, in, other, {g.data(), rows, columns}));
    for (std::size_t r = 0; r < rows; ++r) {
      double mean = 0, variance = 0, exponentials = 0;
      const auto at = [&](std::size_t c) { return double{x[r * columns + c]}; };
      const auto both = [&](std::size_t c) { return double{x[r * columns + c] + z[r * columns + c]}; };
      for (std::size_t c = 0; c < columns; ++c) mean += both(c) / columns, exponentials += std::exp(at(c));
      for (std::size_t c = 0; c < columns; ++c) variance += (both(c) - mean) * (both(c) - mean) / columns;
      for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t i = r * columns + c;
        EXPECT_EQ(sum[i], x[i] + z[i]);
        EXPECT_NEAR(y[i], (both(c) - mean) / std::sqrt(variance + 1e-5) * w[c] + w[c], 2e-5);
        EXPECT_NEAR(p[i], std::exp(at(c)) / exponentials, 1e-6);
        EXPECT_NEAR(q[i], at(c) - std::log(exponentials), 2e-6);
        EXPECT_NEAR(s[i], at(c) / (1 + std::exp(-at(c))) * z[i], 2e-6);
        EXPECT_NEAR(g[i], 0.5 * at(c) * (1 + std::tanh(0.7978845608 * (at(c) + 0.044715 * at(c) * at(c) * at(c)))) * z[i], 4e-6);
      }
    }
  }
}

TEST(Run, linear_cross_entropy_by_chunks) {
  constexpr std::size_t rows = 20, k = 24, classes = 40, chunk = 8;
  const auto to_bf16 = [](float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16); };
  const auto to_float = [](std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); };
  std::vector<std::uint16_t> x, w, dx(rows * k), logits(chunk * classes);
  for (const float value : random_floats(rows * k, 1)) x.push_back(to_bf16(value));
  for (const float value : random_floats(classes * k, 2)) w.push_back(to_bf16(value / 4));
  std::vector<std::int64_t> targets;
  for (std::size_t r = 0; r < rows; ++r) targets.push_back(r == 3 ? -100 : static_cast<std::int64_t>(r * 7 % classes));
  std::vector<float> losses(rows), scale(rows, 0.5F), dw(classes * k, 0.0F);
  const auto done =
      linear_cross_entropy(checked_cpu(), Type::bf16, {x.data(), rows, k}, {w.data(), classes, k}, targets.data(), losses.data(),
                           logits.data(), chunk, {scale.data(), {dx.data(), rows, k}, {dw.data(), classes, k}});
  ASSERT_TRUE(done) << render(done.error());
  std::vector<double> of_weight(classes * k);
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<double> z(classes);
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      for (std::size_t i = 0; i < k; ++i) z[c] += double{to_float(x[r * k + i])} * to_float(w[c * k + i]);
      sum += std::exp(z[c]);
    }
    const bool counts = targets[r] >= 0;
    const auto target = static_cast<std::size_t>(counts ? targets[r] : 0);
    EXPECT_NEAR(losses[r], counts ? std::log(sum) - z[target] : 0, 2e-2);
    std::vector<double> of_x(k);
    for (std::size_t c = 0; c < classes && counts; ++c) {
      const double d = 0.5 * (std::exp(z[c]) / sum - (c == target ? 1 : 0));
      for (std::size_t i = 0; i < k; ++i) {
        of_x[i] += d * to_float(w[c * k + i]);
        of_weight[c * k + i] += d * to_float(x[r * k + i]);
      }
    }
    for (std::size_t i = 0; i < k; ++i) EXPECT_NEAR(to_float(dx[r * k + i]), of_x[i], 5e-3);
  }
  for (std::size_t i = 0; i < dw.size(); ++i) EXPECT_NEAR(dw[i], of_weight[i], 1.5e-2);
}

TEST(Run, says_what_does_not_fit) {
  std::vector<float> x(64), y(64);
  EXPECT_EQ(softmax(cpu(), Type::f32, {x.data(), 4, 16}, {y.data(), 4, 8}).error().kind, Kind::argument_dim);
  EXPECT_EQ(softmax(cpu(), Type::f32, {x.data(), 4, 8}, {y.data(), 4, 8, 16}).error().kind, Kind::argument_dim);
  EXPECT_EQ(swiglu(cpu(), Type::f32, {x.data(), 4, 8}, {x.data(), 8, 4}, {y.data(), 4, 8}).error().kind, Kind::argument_dim);
  EXPECT_EQ(softmax(cpu(), Type::s32, {x.data(), 4, 8}, {y.data(), 4, 8}).error().kind, Kind::argument_dtype);
  EXPECT_EQ(softmax(cpu(), Type::f32, {nullptr, 4, 8}, {y.data(), 4, 8}).error().kind, Kind::argument_memory);
  EXPECT_TRUE(softmax(cpu(), Type::f32, {x.data(), 0, 8}, {y.data(), 0, 8}));
}

}  // namespace
}  // namespace ptx::kernels
