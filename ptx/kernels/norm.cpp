// RMS norm and layer norm of the rows of a matrix.
//
//     x[row] (+ residual[row]) → registers → sum of squares: thread → warp → block → cluster
//                                  │                                        │
//                                  └──────────── · rsqrt(mean + eps) · w ────┘→ y[row]
//
// Bound by memory: x is read once and y written once. Layer norm subtracts a mean in registers before it squares, that of the
// warp, and so keeps its digits where the mean is large, with one barrier (row_moments.cpp).
//
// Tried on an H200 (2026-11-26, the shapes of bench/kernels.py), beside a block a row: loads with the L2 policy evict_last gain 1
// to 3 % where matrices are much larger than that cache (Recipe::hold), with evict_first they lose 4 %. No gain: blocks that stay
// and keep the weight in registers, with the next row loaded ahead or not (0.70 to 1.00 of the speed); loads past the L1 cache
// (0.95 to 1.02); fewer registers for more blocks, .minnctapersm (0.90 to 1.01); stores with .cs (0.98 to 1.00); the weight with
// L1::evict_last (within 0.5 %).
//
// Layer norm with one barrier (2026-11-27): 16384 x 8192 f32 1.011 of torch.compile's speed, 0.99 with two; bf16 1.12 (1.09),
// 2048 x 8192 f32 1.23 (1.08). Blocks of 1,024 threads need more than 32 registers for it, so one stays alone: 0.68.
#include <functional>

#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

/// What is normalised: x, or the rounded sum of x and the residual, which is stored.
std::vector<Piece> load_row(Rows& rows, const Recipe& recipe) {
  const auto x = rows.row_of("X");
  if (!recipe.residual) return rows.load_all(x);
  const auto residual = rows.row_of("R"), sum = rows.row_of("S");
  std::vector<Piece> pieces = rows.load_all(x);
  const std::vector<Piece> others = rows.load_all(residual);
  for (int i = 0; i < rows.passes(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Values a = rows.floats(pieces[at]), b = rows.floats(others[at]);
    Values added;
    for (std::size_t j = 0; j < a.size(); ++j) added.push_back(rows.k.let(inst.add.f32, a[j], b[j]));
    pieces[at] = rows.rounded(added);
    rows.store(sum, i, pieces[at]);
  }
  return pieces;
}

/// The sum of the squares of this thread's elements less `mean`.
Reg<Type::f32> sum_of_squares(Rows& rows, const std::vector<Piece>& pieces, const std::optional<Reg<Type::f32>>& mean) {
  Kernel& k = rows.k;
  const auto total = k.scalar<Type::f32>(0.0);
  for (int i = 0; i < rows.passes(); ++i) {
    const auto of_pass = mean && rows.inside(i) ? std::optional(k.scalar<Type::f32>(0.0)) : std::nullopt;
    for (const auto& x : rows.floats(pieces[static_cast<std::size_t>(i)])) {
      const auto centred = mean ? k.let(inst.sub.f32, x, *mean) : x;
      const auto& sum = of_pass ? *of_pass : total;
      k << inst.fma.rn.f32(sum, centred, centred, sum);
    }
    if (of_pass) k << guarded(inst.add.f32(total, total, *of_pass), rows.inside(i));  // what lies behind the row is not its own
  }
  return total;
}

/// What a kernel has for all of its rows.
struct Vectors {
  std::optional<Reg<Type::b64>> weight, bias;
  std::vector<Piece> weights, biases;  // where they are kept
  std::optional<Reg<Type::f32>> offset;
  Reg<Type::f32> eps;

  Vectors(Rows& rows, const Recipe& recipe) : eps(rows.k.param<Type::f32>("eps")) {
    if (recipe.weight) weight = rows.vector_of("W");
    if (recipe.bias) bias = rows.vector_of("B");
    if (recipe.weight && recipe.operation == Operation::rms_norm) offset = rows.k.param<Type::f32>("offset");
  }
  void keep(Rows& rows) {
    if (weight) weights = rows.load_all_shared(*weight);
    if (bias) biases = rows.load_all_shared(*bias);
  }
  Values weight_of(Rows& rows, int i) const {
    if (!weight) return {};
    return rows.floats(weights.empty() ? rows.load_shared(*weight, i) : weights[static_cast<std::size_t>(i)]);
  }
  Values bias_of(Rows& rows, int i) const {
    if (!bias) return {};
    return rows.floats(biases.empty() ? rows.load_shared(*bias, i) : biases[static_cast<std::size_t>(i)]);
  }
};

/// Reduces the row that the pieces are of, and stores its norm.
void finish_row(Rows& rows, const Recipe& recipe, const std::vector<Piece>& pieces, const Vectors& vectors) {
  Kernel& k = rows.k;
  std::optional<Reg<Type::f32>> mean, squares;
  if (recipe.operation == Operation::layer_norm) {
    const auto total = k.scalar<Type::f32>(0.0);
    for (const Piece& piece : pieces)
      for (const auto& x : rows.floats(piece)) k << inst.add.f32(total, total, x);
    const auto about = [&](const Reg<Type::f32>& middle) { return Values{sum_of_squares(rows, pieces, middle)}; };
    const Values found = rows.moments(total, about);
    mean = found[0], squares = found[1];
  } else {
    squares = rows.sum(sum_of_squares(rows, pieces, {}));
  }
  const auto rstd = k.let(inst.mul.f32, *squares, rows.inverse);
  k << inst.add.f32(rstd, rstd, vectors.eps);
  k << inst.rsqrt.approx.f32(rstd, rstd);
  const auto normalised = [&](int i) {
    const Values w = vectors.weight_of(rows, i), b = vectors.bias_of(rows, i),
                 xs = rows.floats(pieces[static_cast<std::size_t>(i)]);
    Values out;
    for (std::size_t j = 0; j < xs.size(); ++j) {
      auto value = k.let(inst.mul.f32, mean ? k.let(inst.sub.f32, xs[j], *mean) : xs[j], rstd);
      if (!w.empty()) {
        const auto factor = vectors.offset ? k.let(inst.add.f32, w[j], *vectors.offset) : w[j];
        value = b.empty() ? k.let(inst.mul.f32, value, factor) : k.let(inst.fma.rn.f32, value, factor, b[j]);
      } else if (!b.empty()) {
        value = k.let(inst.add.f32, value, b[j]);
      }
      out.push_back(value);
    }
    return out;
  };
  if (recipe.e4m3) return store_scaled(rows, recipe, normalised);
  const auto y = rows.row_of("Y");
  for (int i = 0; i < rows.passes(); ++i) rows.store(y, i, normalised(i));
}

}  // namespace

Expected<Kernel> write_norm(const Recipe& recipe) {
  Kernel k(spec_of(recipe));
  Rows rows(k, recipe);
  Vectors vectors(rows, recipe);
  const std::vector<Piece> pieces = load_row(rows, recipe);
  if (recipe.early) vectors.keep(rows);
  finish_row(rows, recipe, pieces, vectors);
  k << inst.ret();
  return k;
}

}  // namespace ptx::kernels
