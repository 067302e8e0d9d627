// RMS norm and layer norm of the rows of a matrix.
//
//     x[row] (+ residual[row]) → registers → sum of squares: thread → warp → block → cluster
//                                  │                                        │
//                                  └──────────── · rsqrt(mean + eps) · w ────┘→ y[row]
//
// Bound by memory: x is read once and y written once. Layer norm subtracts the mean in registers before it squares, which takes a
// second reduction and keeps its digits where the mean is large.
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

/// The sum of the squares of all elements less `mean`.
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
  return rows.sum(total);
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
  std::optional<Reg<Type::f32>> mean;
  if (recipe.operation == Operation::layer_norm) {
    const auto total = k.scalar<Type::f32>(0.0);
    for (const Piece& piece : pieces)
      for (const auto& x : rows.floats(piece)) k << inst.add.f32(total, total, x);
    mean = k.let(inst.mul.f32, rows.sum(total), rows.inverse);
  }
  const auto variance = sum_of_squares(rows, pieces, mean);
  const auto rstd = k.let(inst.mul.f32, variance, rows.inverse);
  k << inst.add.f32(rstd, rstd, vectors.eps);
  k << inst.rsqrt.approx.f32(rstd, rstd);
  const auto y = rows.row_of("Y");
  for (int i = 0; i < rows.passes(); ++i) {
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
    rows.store(y, i, out);
  }
}

void copy(Kernel& k, std::vector<Piece>& to, const std::vector<Piece>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    for (std::size_t j = 0; j < to[i].floats.size(); ++j) k << inst.mov.f32(to[i].floats[j], from[i].floats[j]);
    for (std::size_t j = 0; j < to[i].words.size(); ++j) k << inst.mov.b32(to[i].words[j], from[i].words[j]);
    if (to[i].half) k << inst.mov.b16(*to[i].half, *from[i].half);
  }
}

/// Blocks that stay: block b has rows b, b + blocks, …, and the weight in its registers.
void write_loop(Rows& rows, const Recipe& recipe, Vectors& vectors) {
  Kernel& k = rows.k;
  vectors.keep(rows);
  const auto turn = k.scalar<Type::u32>(0), blocks = k.from_<Type::u32>(special.nctaid.x());
  if (recipe.cluster > 1) k << inst.mov.u32(blocks, special.nclusterid.x());
  const auto stride = blocks * recipe.rows, first = k.from_<Type::u32>(rows.first_row);
  rows.take_turns(turn);
  rows.await_cluster();
  std::vector<Piece> ahead;
  if (recipe.ahead) {
    rows.begin_at(first);
    ahead = load_row(rows, recipe);
  }
  k.while_([&] { return first < rows.rows; },
           [&] {
             if (!recipe.ahead) {
               rows.begin_at(first);
               finish_row(rows, recipe, load_row(rows, recipe), vectors);
               k << inst.add.u32(first, first, stride);
             } else {
               const auto next = first + stride;
               const auto there = next < rows.rows;
               rows.begin_at(next);
               rows.load_only(there);
               const std::vector<Piece> loaded = load_row(rows, recipe);
               rows.load_only({});
               rows.begin_at(first);
               finish_row(rows, recipe, ahead, vectors);
               copy(k, ahead, loaded);
               k << inst.mov.u32(first, next);
             }
             k << inst.xor_.b32(turn, turn, 1);
           });
}

}  // namespace

Expected<Kernel> write_norm(const Recipe& recipe) {
  Kernel k(spec_of(recipe));
  Rows rows(k, recipe);
  Vectors vectors(rows, recipe);
  if (recipe.stay > 0) {
    write_loop(rows, recipe, vectors);
  } else {
    const std::vector<Piece> pieces = load_row(rows, recipe);
    if (recipe.early) vectors.keep(rows);
    finish_row(rows, recipe, pieces, vectors);
  }
  k << inst.ret();
  return k;
}

}  // namespace ptx::kernels
