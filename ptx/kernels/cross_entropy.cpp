// Cross-entropy of rows of logits with the number of the right class, and its gradient in the same launch.
//
//     x[row] → registers → (maximum, sum of exponentials, sum of x) in one reduction → loss[row]
//                  └───────────────────────────────────────────────────────────────→ dx[row]
//
//     loss = lse - (1 - s) x[target] - s mean(x), dx = scale (softmax(x) - (1 - s) [target] - s / N), s the label smoothing
//
// Bound by memory: the row is read once, and its gradient written from registers. A row whose target is `ignore_index` has no
// loss and no gradient; one whose target is no class at all has a NaN for its loss, and no gradient. `scale` is a number in
// memory, as it is 1 over the number of rows that count for a mean.
#include <limits>

#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

/// (maximum, sum of exponentials, sum of x)
Values combine_row(Kernel& k, const Values& values, int lanes) {
  Values both = combine_softmax(k, {values[0], values[1]}, lanes);
  const auto sum = k.from_<Type::f32>(values[2]);
  if (lanes > 1) warp::reduce_sum(sum, lanes);
  both.push_back(sum);
  return both;
}

}  // namespace

Expected<Kernel> write_cross_entropy(const Recipe& recipe) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Kernel k(spec_of(recipe));
  Rows rows(k, recipe);
  const auto x = rows.row_of("X");
  const std::vector<Piece> pieces = rows.load_all(x, -infinity);
  const auto target = k.let<Type::s64>(inst.ld.global_.nc.s64, addr(rows.number_of("TARGET", 8)));
  const auto ignored = k.param<Type::s64>("ignore_index");
  const auto smoothing = k.param<Type::f32>("smoothing");

  const auto own = k.scalar<Type::f32>(-3.4028234663852886e38), total = k.scalar<Type::f32>(0.0), sum = k.scalar<Type::f32>(0.0);
  std::vector<Values> exponentials;
  for (const Piece& piece : pieces)
    for (const auto& value : rows.floats(piece)) k << inst.max.f32(own, own, value);
  for (int i = 0; i < rows.passes(); ++i) {
    Values& kept = exponentials.emplace_back();
    for (const auto& value : rows.floats(pieces[static_cast<std::size_t>(i)])) {
      const auto e = exponential(k, k.let(inst.sub.f32, value, own));
      k << inst.add.f32(total, total, e);
      if (!recipe.anew) kept.push_back(e);
      k << guarded(inst.add.f32(sum, sum, value), rows.inside(i));
    }
  }
  const Values reduced = rows.reduce({own, total, sum}, [&](const Values& all, int lanes) { return combine_row(k, all, lanes); });

  const auto lse = k.let(inst.lg2.approx.f32, reduced[1]);
  k << inst.fma.rn.f32(lse, lse, 0.6931471805599453, reduced[0]);
  const auto keeps = k.let(inst.sub.f32, k.scalar<Type::f32>(1.0), smoothing);  // 1 - s
  const auto level = k.scalar<Type::f32>(0.0);                                  // s / N
  const auto smooths = smoothing > 0;
  k << inst.mul.f32(level, smoothing, rows.inverse);
  const auto is_class = (target >= 0) & (target < k.let(inst.cvt.s64.u32, rows.columns));
  const auto is_ignored = target == ignored;
  const auto counts = is_class & !is_ignored;

  const auto first = rows.is_first();
  const auto loss_of = rows.number_of("LOSS", 4);
  k.if_(first, [&] {
    const auto logit = k.scalar<Type::f32>(std::numeric_limits<double>::quiet_NaN());
    k.if_(is_class, [&] {
      const auto there = k.from_<Type::b64>(x);  // of the row's first thread: its begin
      k << inst.mad.lo.s64(there, target, bytes_of(recipe.dtype), there);
      k << inst.mov.f32(logit, rows.number_at(there));
    });
    const auto loss = k.let(inst.neg.f32, keeps);
    k << inst.fma.rn.f32(loss, loss, logit, lse);
    const auto mean = k.let(inst.mul.f32, reduced[2], level);
    k << inst.sub.f32(loss, loss, mean).on(smooths);
    k << inst.mov.f32(loss, 0.0).on(is_ignored);
    k << inst.st.global_.f32(addr(loss_of), loss);
  });
  if (!recipe.gradient) {
    k << inst.ret();
    return k;
  }

  const auto dx = rows.row_of("DX");
  const auto scale = k.let(inst.ld.global_.nc.f32, addr(rows.number_of("SCALE", 4)));
  const auto factor = k.let(inst.rcp.approx.ftz.f32, reduced[1]);  // of this thread's exponentials
  if (!recipe.anew) k << inst.mul.f32(factor, factor, exponential(k, k.let(inst.sub.f32, own, reduced[0])));
  k << inst.mul.f32(factor, factor, scale) << inst.mul.f32(level, level, scale) << inst.mul.f32(keeps, keeps, scale);
  const auto in_pass = k.let(inst.cvt.u32.s64, target);  // the class less the first element of the pass
  const int step = recipe.threads * recipe.cluster * recipe.vector;
  k << inst.sub.u32(in_pass, in_pass, rows.thread * recipe.vector);
  for (int i = 0; i < rows.passes(); ++i) {
    Values out;
    if (recipe.anew)
      for (const auto& value : rows.floats(pieces[static_cast<std::size_t>(i)]))
        exponentials[static_cast<std::size_t>(i)].push_back(exponential(k, k.let(inst.sub.f32, value, reduced[0])));
    for (const auto& e : exponentials[static_cast<std::size_t>(i)]) {
      out.push_back(k.let(inst.mul.f32, e, factor));
      k << inst.sub.f32(out.back(), out.back(), level);
    }
    if (i > 0) k << inst.sub.u32(in_pass, in_pass, step);
    k.if_(in_pass < recipe.vector, [&] {
      for (int j = 0; j < recipe.vector; ++j) {
        const auto& value = out[static_cast<std::size_t>(j)];
        k << inst.sub.f32(value, value, keeps).on(in_pass == j);
      }
    });
    for (const auto& value : out) k << inst.selp.f32(value, value, 0.0, counts);
    rows.store(dx, i, out);
  }
  k << inst.ret();
  return k;
}

}  // namespace ptx::kernels
