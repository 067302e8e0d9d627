// Attention in doubles, and what a kernel's f16 may differ from it.
#pragma once

#include <functional>
#include <limits>

#include "tests/producers/numbers.hpp"

namespace ptx::producers {

/// Tensors are NAME_q, NAME_k, NAME_v and NAME_o; NAME_l, where there is one, has the logarithm of each row's sum.
struct Attention {
  std::string name;
  std::size_t images = 1, heads = 1, queries = 0, keys = 0, wide = 0, value_wide = 0;
  double scale = 1;
  bool causal = false;
  bool heads_inside = false;    ///< tensors are images, rows, heads, numbers; else images, heads, rows, numbers
  std::size_t keyed_heads = 0;  ///< heads of keys and values, each for some of the queries'; 0: as many
  std::string type = "f16";
  std::size_t lines = 0;   ///< places of NAME_l for a head; 0: there is none
  double line_factor = 1;  ///< what NAME_l is multiplied by

  [[nodiscard]] std::size_t place(std::size_t image, std::size_t head, std::size_t all_heads, std::size_t row, std::size_t rows,
                                  std::size_t numbers) const {
    return (heads_inside ? (image * rows + row) * all_heads + head : (image * all_heads + head) * rows + row) * numbers;
  }
};

/// The weights of one row, before they are divided by their sum, and the logarithm of that sum.
struct Weights {
  std::vector<double> each;
  double sum = 0, logarithm = 0;
};
inline Weights weights_of(const double* query, std::size_t row, const Attention& p,
                          const std::function<const double*(std::size_t)>& key) {
  Weights weights;
  const std::size_t seen = p.causal ? std::min(row + 1, p.keys) : p.keys;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < seen; ++j) {
    double product = 0;
    for (std::size_t d = 0; d < p.wide; ++d) product += query[d] * key(j)[d];
    weights.each.push_back(product * p.scale);
    most = std::max(most, weights.each.back());
  }
  for (double& weight : weights.each) weights.sum += weight = std::exp(weight - most);
  weights.logarithm = most + std::log(weights.sum);
  return weights;
}

/// Weights are rounded to the tensors' type before they are multiplied with the values, and so is the result: what is left is
/// some half places of what the values' magnitudes sum up to.
inline void expect_attention(const Played& run, const Attention& p) {
  const auto q = as_doubles(run, p.name + "_q", p.type, true), k = as_doubles(run, p.name + "_k", p.type, true);
  const auto v = as_doubles(run, p.name + "_v", p.type, true), o = as_doubles(run, p.name + "_o", p.type, false);
  const auto lines = p.lines == 0 ? std::vector<double>{} : as_doubles(run, p.name + "_l", "f32", false);
  const std::size_t keyed = p.keyed_heads == 0 ? p.heads : p.keyed_heads;
  ASSERT_EQ(o.size(), p.images * p.heads * p.queries * p.value_wide);
  for (std::size_t image = 0; image < p.images; ++image)
    for (std::size_t head = 0; head < p.heads; ++head) {
      const std::size_t shared = head / (p.heads / keyed);
      const auto value = [&](std::size_t j) { return &v[p.place(image, shared, keyed, j, p.keys, p.value_wide)]; };
      const auto key = [&](std::size_t j) { return &k[p.place(image, shared, keyed, j, p.keys, p.wide)]; };
      for (std::size_t i = 0; i < p.queries; ++i) {
        const Weights weights = weights_of(&q[p.place(image, head, p.heads, i, p.queries, p.wide)], i, p, key);
        const double* const out = &o[p.place(image, head, p.heads, i, p.queries, p.value_wide)];
        for (std::size_t d = 0; d < p.value_wide; ++d) {
          double expected = 0, magnitude = 0;
          for (std::size_t j = 0; j < weights.each.size(); ++j) {
            const double part = weights.each[j] / weights.sum * value(j)[d];
            expected += part;
            magnitude += std::abs(part);
          }
          ASSERT_NEAR(out[d], expected, 4 * half_place(p.type) * magnitude)
              << run.name << ": " << p.name << " image " << image << ", head " << head << ", row " << i << ", number " << d;
        }
        if (p.lines == 0) continue;
        const double line = weights.logarithm * p.line_factor;
        ASSERT_NEAR(lines.at((image * p.heads + head) * p.lines + i), line, 1e-5 * (1 + std::abs(line)) * std::abs(p.line_factor))
            << run.name << ": " << p.name << " head " << head << ", row " << i;
      }
    }
}

}  // namespace ptx::producers
