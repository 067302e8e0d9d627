// Softmax and log-softmax of the rows of a matrix, and their gradients.
//
//     x[row] → registers → thread's maximum m and sum s of exp(x - m) → one reduction of (m, s) → y[row]
//
// Bound by memory. Each thread's exponentials are relative to its own maximum, so that one reduction gives maximum and sum; they
// are kept, and one factor a thread turns them into the result. A maximum of -infinity counts as the least finite number, so that
// no difference is a NaN but that of a row whose elements are all -infinity, or of one that has +infinity or a NaN: its results
// are NaN.
#include <limits>

#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double least = -3.4028234663852886e38;

}  // namespace

Expected<Kernel> write_softmax(const Recipe& recipe) {
  Kernel k(spec_of(recipe));
  const bool is_log = recipe.operation == Operation::log_softmax;
  Rows rows(k, recipe);
  const std::vector<Piece> pieces = rows.load_all(rows.row_of("X"), -infinity);
  const auto y = rows.row_of("Y");
  const auto own = k.scalar<Type::f32>(least), total = k.scalar<Type::f32>(0.0);
  for (const Piece& piece : pieces)
    for (const auto& x : rows.floats(piece)) k << inst.max.f32(own, own, x);
  std::vector<Values> exponentials;
  for (const Piece& piece : pieces) {
    Values& kept = exponentials.emplace_back();
    for (const auto& x : rows.floats(piece)) {
      const auto e = exponential(k, k.let(inst.sub.f32, x, own));
      k << inst.add.f32(total, total, e);
      if (!recipe.anew) kept.push_back(e);
    }
  }
  const Values reduced = rows.reduce({own, total}, [&](const Values& all, int lanes) { return combine_softmax(k, all, lanes); });

  const auto factor = k.scalar<Type::f32>();
  if (is_log) {  // log(sum) + maximum
    k << inst.lg2.approx.f32(factor, reduced[1]);
    k << inst.mul.f32(factor, factor, 0.6931471805599453);
  } else {
    k << inst.rcp.approx.ftz.f32(factor, reduced[1]);
  }
  if (!is_log && !recipe.anew) {  // of this thread's exponentials
    const auto scale = exponential(k, k.let(inst.sub.f32, own, reduced[0]));
    k << inst.mul.f32(factor, factor, scale);
  }
  for (int i = 0; i < rows.passes(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    Values out;
    if (is_log) {
      for (const auto& x : rows.floats(pieces[at]))
        out.push_back(k.let(inst.sub.f32, k.let(inst.sub.f32, x, reduced[0]), factor));
    } else if (recipe.anew) {
      for (const auto& x : rows.floats(pieces[at]))
        out.push_back(k.let(inst.mul.f32, exponential(k, k.let(inst.sub.f32, x, reduced[0])), factor));
    } else {
      for (const auto& e : exponentials[at]) out.push_back(k.let(inst.mul.f32, e, factor));
    }
    rows.store(y, i, out);
  }
  k << inst.ret();
  return k;
}

// dx = y * (dy - sum(dy * y)) of y = softmax(x); dx = dy - exp(y) * sum(dy) of y = log_softmax(x).
Expected<Kernel> write_softmax_backward(const Recipe& recipe) {
  Kernel k(spec_of(recipe));
  const bool is_log = recipe.operation == Operation::log_softmax_backward;
  Rows rows(k, recipe);
  const auto dy = rows.row_of("DY"), y = rows.row_of("Y");
  const std::vector<Piece> gradients = rows.load_all(dy), results = rows.load_all(y);
  const auto dx = rows.row_of("DX");
  const auto own = k.scalar<Type::f32>(0.0);
  for (int i = 0; i < rows.passes(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Values d = rows.floats(gradients[at]), r = rows.floats(results[at]);
    for (std::size_t j = 0; j < d.size(); ++j) {
      if (is_log)
        k << inst.add.f32(own, own, d[j]);
      else
        k << inst.fma.rn.f32(own, d[j], r[j], own);
    }
  }
  const auto total = rows.sum(own);
  for (int i = 0; i < rows.passes(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Values d = rows.floats(gradients[at]), r = rows.floats(results[at]);
    Values out;
    for (std::size_t j = 0; j < d.size(); ++j) {
      if (is_log)
        out.push_back(k.let(inst.sub.f32, d[j], k.let(inst.mul.f32, exponential(k, r[j]), total)));
      else
        out.push_back(k.let(inst.mul.f32, r[j], k.let(inst.sub.f32, d[j], total)));
    }
    rows.store(dx, i, out);
  }
  k << inst.ret();
  return k;
}

}  // namespace ptx::kernels
