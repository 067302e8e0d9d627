// Gradients of RMS norm and layer norm.
//
//     blocks stay: block b has rows b, b + blocks, b + 2 blocks, …
//       x[row], dy[row] → registers → statistics and sum(dy w x) in one reduction → dx[row]
//                            └→ dweight, dbias of these rows, in f32 registers → partial[b] at the end
//
// Bound by memory: three matrices. The weight's gradient costs nothing on the way, as it stays in registers; what the caller adds
// up is `partial` alone, [blocks, N] f32. mean and rstd are taken anew, which needs no memory.
//     dx = rstd (w dy - xhat mean(w dy xhat))                    RMS norm, xhat = x rstd
//     dx = rstd (w dy - mean(w dy) - xhat mean(w dy xhat))       layer norm, xhat = (x - mean) rstd
// With a residual the gradient of the sum, which is x here, is added to dx.
//
// Rows that are too long for registers (beyond some 100,000 elements of f32) are loaded twice, the second time from the L2 cache,
// and the sums over rows are added up where they are left: a thread has the same columns of every row, and nobody else has those.
#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

struct Sums {
  std::vector<Values> weight, bias;
};

std::vector<Values> zeros(Kernel& k, const Recipe& recipe) {
  std::vector<Values> all;
  for (int i = 0; i < recipe.passes; ++i) {
    Values& of_pass = all.emplace_back();
    for (int j = 0; j < recipe.vector; ++j) of_pass.push_back(k.scalar<Type::f32>(0.0));
  }
  return all;
}

/// w * dy, or dy where there is no weight.
Values weighted(Rows& rows, const Values& dy, const std::optional<Values>& w, const std::optional<Reg<Type::f32>>& offset) {
  if (!w) return dy;
  Values all;
  for (std::size_t j = 0; j < dy.size(); ++j)
    all.push_back(rows.k.let(inst.mul.f32, dy[j], offset ? rows.k.let(inst.add.f32, (*w)[j], *offset) : (*w)[j]));
  return all;
}

}  // namespace

Expected<Kernel> write_norm_backward(const Recipe& recipe) {
  Kernel k(spec_of(recipe));
  const bool is_layer = recipe.operation == Operation::layer_norm_backward;
  Rows rows(k, recipe);
  const auto eps = k.param<Type::f32>("eps");
  std::optional<Reg<Type::f32>> offset;
  std::optional<Reg<Type::b64>> weight;
  if (recipe.weight) weight = rows.vector_of("W");
  if (recipe.weight && !is_layer) offset = k.param<Type::f32>("offset");
  std::vector<Piece> kept;
  if (weight && recipe.early) kept = rows.load_all_shared(*weight);
  Sums sums;
  if (recipe.weight && !recipe.anew) sums.weight = zeros(k, recipe);
  if (recipe.bias && !recipe.anew) sums.bias = zeros(k, recipe);
  std::optional<Reg<Type::b64>> of_weight, of_bias;  // where sums are added up in memory
  if (recipe.anew) {
    if (recipe.weight) of_weight = rows.partial_of("DW");
    if (recipe.bias) of_bias = rows.partial_of("DB");
    const Values nothing(static_cast<std::size_t>(recipe.vector), k.scalar<Type::f32>(0.0));
    for (const auto& partial : {of_weight, of_bias})
      for (int i = 0; partial && i < recipe.passes; ++i) rows.store_floats(*partial, i, nothing);
  }
  const auto turn = k.scalar<Type::u32>(0), blocks = k.from_<Type::u32>(special.nctaid.x());
  if (recipe.cluster > 1) k << inst.mov.u32(blocks, special.nclusterid.x());
  rows.take_turns(turn);
  rows.await_cluster();
  const auto first = k.from_<Type::u32>(rows.first_row);

  k.while_([&] { return first < rows.rows; },
           [&] {
             rows.begin_at(first);
             const auto x_at = rows.row_of("X"), dy_at = rows.row_of("DY");
             std::vector<Piece> xs, dys;
             if (!recipe.anew) xs = rows.load_all(x_at), dys = rows.load_all(dy_at);
             const auto x_of = [&](int i, bool again) {
               return rows.floats(!recipe.anew ? xs[static_cast<std::size_t>(i)]
                                  : again      ? rows.load_again(x_at, i)
                                               : rows.load(x_at, i));
             };
             const auto dy_of = [&](int i, bool again) {
               return rows.floats(!recipe.anew ? dys[static_cast<std::size_t>(i)]
                                  : again      ? rows.load_again(dy_at, i)
                                               : rows.load(dy_at, i));
             };
             const auto weight_of = [&](int i) {
               return weight ? std::optional(rows.floats(rows.load_shared(*weight, i))) : std::nullopt;
             };
             // squares; w dy xhat without rstd; w dy. Behind the row's end dy is 0, and x is, so only (0 - mean)^2 is to be left
             // out.
             const auto sums_about = [&](const std::optional<Reg<Type::f32>>& middle) {
               Values all = {k.scalar<Type::f32>(0.0), k.scalar<Type::f32>(0.0)};
               if (is_layer) all.push_back(k.scalar<Type::f32>(0.0));
               for (int i = 0; i < recipe.passes; ++i) {
                 const Values x = x_of(i, is_layer), g = weighted(rows, dy_of(i, false), weight_of(i), offset);
                 for (std::size_t j = 0; j < x.size(); ++j) {
                   const auto centred = middle ? k.let(inst.sub.f32, x[j], *middle) : x[j];
                   k << guarded(inst.fma.rn.f32(all[0], centred, centred, all[0]), middle ? rows.inside(i) : Predicate());
                   k << inst.fma.rn.f32(all[1], g[j], centred, all[1]);
                   if (is_layer) k << inst.add.f32(all[2], all[2], g[j]);
                 }
               }
               return all;
             };
             std::optional<Reg<Type::f32>> mean;
             Values totals;
             if (is_layer) {
               const auto total = k.scalar<Type::f32>(0.0);
               for (int i = 0; i < recipe.passes; ++i)
                 for (const auto& x : x_of(i, false)) k << inst.add.f32(total, total, x);
               totals = rows.moments(total, sums_about);
               mean = totals[0];
               totals.erase(totals.begin());
             } else {
               totals = rows.sums(sums_about({}));
             }
             const auto rstd = k.let(inst.mul.f32, totals[0], rows.inverse);
             k << inst.add.f32(rstd, rstd, eps);
             k << inst.rsqrt.approx.f32(rstd, rstd);
             // dx = rstd (g - centred * slope - level)
             const auto slope =
                 k.let(inst.mul.f32, k.let(inst.mul.f32, totals[1], rows.inverse), k.let(inst.mul.f32, rstd, rstd));
             k << inst.neg.f32(slope, slope);
             std::optional<Reg<Type::f32>> level;
             if (is_layer) level = k.let(inst.mul.f32, totals[2], rows.inverse);
             const auto dx = rows.row_of("DX");
             std::optional<Reg<Type::b64>> of_sum;
             if (recipe.residual) of_sum = rows.row_of("DS");
             for (int i = 0; i < recipe.passes; ++i) {
               const auto at = static_cast<std::size_t>(i);
               const Values x = x_of(i, true), dy = dy_of(i, true), g = weighted(rows, dy, weight_of(i), offset);
               const Values added = of_sum ? rows.floats(rows.load(*of_sum, i)) : Values();
               Values out, of_row;
               for (std::size_t j = 0; j < x.size(); ++j) {
                 const auto centred = mean ? k.let(inst.sub.f32, x[j], *mean) : x[j];
                 auto value = k.let(inst.fma.rn.f32, centred, slope, g[j]);
                 if (level) value = k.let(inst.sub.f32, value, *level);
                 value = of_sum ? k.let(inst.fma.rn.f32, value, rstd, added[j]) : k.let(inst.mul.f32, value, rstd);
                 out.push_back(value);
                 if (recipe.weight) of_row.push_back(k.let(inst.mul.f32, dy[j], k.let(inst.mul.f32, centred, rstd)));
                 if (recipe.weight && !recipe.anew)
                   k << guarded(inst.add.f32(sums.weight[at][j], sums.weight[at][j], of_row[j]), rows.exists());
                 if (recipe.bias && !recipe.anew)
                   k << guarded(inst.add.f32(sums.bias[at][j], sums.bias[at][j], dy[j]), rows.exists());
               }
               rows.store(dx, i, out);
               if (of_weight) rows.add_floats(*of_weight, i, of_row);
               if (of_bias) rows.add_floats(*of_bias, i, dy);
             }
             k << inst.add.u32(first, first, blocks * recipe.rows) << inst.xor_.b32(turn, turn, 1);
           });

  for (const auto& [name, values] : {std::pair("DW", &sums.weight), std::pair("DB", &sums.bias)}) {
    if (values->empty()) continue;
    const auto partial = rows.partial_of(name);
    for (int i = 0; i < recipe.passes; ++i) rows.store_floats(partial, i, (*values)[static_cast<std::size_t>(i)]);
  }
  k << inst.ret();
  return k;
}

}  // namespace ptx::kernels
