// sources/attention_*.cu and thunder_kittens.cu against loops of doubles.
#include "tests/producers/attention.hpp"

namespace ptx::producers {
namespace {

TEST(AttentionAmpere, WholeAndCausal) {
  for (const Played& run : played("attention_ampere")) {
    expect_attention(run, {.name = "whole",
                           .images = 2,
                           .heads = 2,
                           .queries = 70,
                           .keys = 90,
                           .wide = 64,
                           .value_wide = 64,
                           .scale = 0.5,
                           .heads_inside = true,
                           .lines = 96});
    expect_attention(run, {.name = "causal",
                           .heads = 3,
                           .queries = 100,
                           .keys = 100,
                           .wide = 96,
                           .value_wide = 72,
                           .scale = 0.5,
                           .causal = true,
                           .heads_inside = true,
                           .lines = 128});
  }
}

TEST(AttentionHopper, ByWarpsWithTasks) {
  for (const Played& run : played("attention_hopper")) {
    expect_attention(run, {.name = "cooperative",
                           .heads = 2,
                           .queries = 136,
                           .keys = 104,
                           .wide = 64,
                           .value_wide = 64,
                           .scale = 0.125,
                           .lines = 136});
    expect_attention(run, {.name = "pingpong",
                           .images = 2,
                           .queries = 192,
                           .keys = 192,
                           .wide = 64,
                           .value_wide = 64,
                           .scale = 0.125,
                           .causal = true,
                           .lines = 192});
  }
}

TEST(ThunderAttention, Forward) {
  for (const Played& run : played("thunder_attention")) {
    // NAME_l is the logarithm times minus the square root of the width.
    Attention whole{.name = "whole",
                    .heads = 2,
                    .queries = 384,
                    .keys = 384,
                    .wide = 128,
                    .value_wide = 128,
                    .scale = std::sqrt(1.0 / 128),
                    .keyed_heads = 1,
                    .type = "bf16",
                    .lines = 384,
                    .line_factor = -std::sqrt(128.0)};
    expect_attention(run, whole);
    Attention causal = whole;
    causal.name = "causal";
    causal.wide = causal.value_wide = 64;
    causal.scale = 0.125;
    causal.causal = true;
    causal.line_factor = -8;
    expect_attention(run, causal);
  }
}

// What comes back to queries, keys and values, row by row of both heads of queries, which share keys and values.
struct Gradients {
  std::vector<double> q, k, v, of_q, of_k, of_v;  ///< and how much came together there, without signs
};
Gradients gradients(const Played& run, const Attention& p) {
  const auto q = as_doubles(run, p.name + "_q", "bf16", true), k = as_doubles(run, p.name + "_k", "bf16", true);
  const auto v = as_doubles(run, p.name + "_v", "bf16", true), og = as_doubles(run, p.name + "_og", "bf16", true);
  const auto zero = [](const auto& like) { return std::vector<double>(like.size()); };
  Gradients sum{zero(q), zero(k), zero(v), zero(q), zero(k), zero(v)};
  const auto add = [](std::vector<double>& sums, std::vector<double>& magnitudes, std::size_t at, double factor,
                      const double* with, std::size_t count) {
    for (std::size_t d = 0; d < count; ++d) sums[at + d] += factor * with[d], magnitudes[at + d] += std::abs(factor * with[d]);
  };
  for (std::size_t row = 0; row < p.heads * p.queries; ++row) {
    const Weights weights = weights_of(&q[row * p.wide], 0, p, [&](std::size_t j) { return &k[j * p.wide]; });
    std::vector<double> slopes(p.keys);
    double all = 0;
    for (std::size_t j = 0; j < p.keys; ++j) {
      for (std::size_t d = 0; d < p.wide; ++d) slopes[j] += og[row * p.wide + d] * v[j * p.wide + d];
      all += weights.each[j] / weights.sum * slopes[j];
    }
    for (std::size_t j = 0; j < p.keys; ++j) {
      const double weight = weights.each[j] / weights.sum, slope = weight * (slopes[j] - all) * p.scale;
      add(sum.v, sum.of_v, j * p.wide, weight, &og[row * p.wide], p.wide);
      add(sum.q, sum.of_q, row * p.wide, slope, &k[j * p.wide], p.wide);
      add(sum.k, sum.of_k, j * p.wide, slope, &q[row * p.wide], p.wide);
    }
  }
  return sum;
}

TEST(ThunderAttention, Back) {
  const Attention whole{.name = "whole", .heads = 2, .queries = 384, .keys = 384, .wide = 128, .scale = std::sqrt(1.0 / 128)};
  for (const Played& run : played("thunder_attention")) {
    const Gradients expected = gradients(run, whole);
    const auto near = [&](const char* what, const std::vector<double>& sums, const std::vector<double>& magnitudes) {
      const auto made = run.made<float>(what);
      ASSERT_EQ(made.size(), sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i)
        ASSERT_NEAR(made[i], sums[i], 8 * half_place("bf16") * magnitudes[i]) << run.name << ": " << what << '[' << i << ']';
    };
    near("whole_vg", expected.v, expected.of_v);
    near("whole_kg", expected.k, expected.of_k);
    near("whole_qg", expected.q, expected.of_q);
  }
}

}  // namespace
}  // namespace ptx::producers
