// Cross-entropy of rows of logits with the number of the right class, and its gradient in the same launch.
//
//     x[row] → registers → (maximum, sum of exponentials, sum of x) in one reduction → loss[row]
//                  └───────────────────────────────────────────────────────────────→ dx[row]
//
//     loss = log(sum) + (1 - s) (max - x[target]) + s (max - mean(x)) + z lse^2        s the label smoothing, z the z-loss
//     dx = scale ((1 + 2 z lse) softmax(x) - (1 - s) [target] - s / N)
//
// Bound by memory: the row is read once, and its gradient written from registers. A row whose target is `ignore_index` has no
// loss and no gradient; one whose target is no class at all has a NaN for its loss, and no gradient. `scale` is a number in
// memory, as it is 1 over the number of rows that count for a mean. In place, dx lies where x does: the logit of the target is
// read before the row is reduced, and so before any thread of the row stores.
#include <limits>
#include <optional>

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

/// The number of the row's class.
Reg<Type::s64> target_of(Rows& rows, const Recipe& recipe) {
  Kernel& k = rows.k;
  if (!recipe.int32) return k.let<Type::s64>(inst.ld.global_.nc.s64, addr(rows.number_of("TARGET", 8)));
  return k.let<Type::s64>(inst.cvt.s64.s32, k.let<Type::s32>(inst.ld.global_.nc.s32, addr(rows.number_of("TARGET", 4))));
}

/// The largest element that a thread has, and no less than the least finite number: no difference to it is a NaN then, but
/// infinity's to itself. Pairs of 16-bit elements are compared as they are.
Reg<Type::f32> largest_of(Rows& rows, const Recipe& recipe, const std::vector<Piece>& pieces) {
  Kernel& k = rows.k;
  const auto largest = k.scalar<Type::f32>(-3.4028234663852886e38);
  std::optional<Reg<Type::b32>> both;
  for (const Piece& piece : pieces) {
    if (piece.words.empty()) {
      for (const auto& value : rows.floats(piece)) k << inst.max.f32(largest, largest, value);
      continue;
    }
    for (const auto& word : piece.words) {
      if (!both)
        both = k.from_<Type::b32>(word);
      else if (recipe.dtype == Type::bf16)
        k << inst.max.bf16x2(*both, *both, word);
      else
        k << inst.max.f16x2(*both, *both, word);
    }
  }
  if (both) {
    Piece last;
    last.words.push_back(*both);
    for (const auto& value : rows.floats(last)) k << inst.max.f32(largest, largest, value);
  }
  return largest;
}

/// Writes one kernel, from its loads to its end.
class Writer {
 public:
  explicit Writer(const Recipe& recipe) : r(recipe), k(spec_of(recipe)), rows(k, recipe) {}
  Kernel write() &&;

 private:
  void begin();
  void forget_floats();
  void store_loss();
  void store_gradient();

  const Recipe& r;
  Kernel k;
  Rows rows;
  std::vector<Piece> pieces_;
  std::vector<Values> exponentials_;  ///< relative to `own_`, where they are kept
  Values reduced_;                    ///< maximum, sum of exponentials, sum of x
  std::optional<Reg<Type::s64>> target_;
  std::optional<Reg<Type::pred>> is_ignored_, counts_, first_;
  std::optional<Reg<Type::f32>> smoothing_, z_loss_, logit_, own_, log_sum_, lse_, keeps_, level_, scale_;
};

void Writer::begin() {
  const auto x = rows.row_of("X");
  pieces_ = rows.load_all(x, -std::numeric_limits<double>::infinity());
  target_ = target_of(rows, r);
  if (r.given) {
    const auto [scale, factor] = k.global_ptrs("SCALE", "FACTOR");
    scale_ = k.let(inst.ld.global_.nc.f32, addr(scale));
    k << inst.mul.f32(*scale_, *scale_, k.let(inst.ld.global_.nc.f32, addr(factor)));
  } else if (r.gradient) {
    scale_ = k.let(inst.ld.global_.nc.f32, addr(rows.number_of("SCALE", 4)));
  }
  smoothing_ = k.param<Type::f32>("smoothing"), z_loss_ = k.param<Type::f32>("z_loss");
  const auto is_class = (*target_ >= 0) & (*target_ < k.let(inst.cvt.s64.u32, rows.columns));
  is_ignored_ = *target_ == k.param<Type::s64>("ignore_index");
  counts_ = is_class & !*is_ignored_;
  first_ = rows.is_first();
  const auto there = k.from_<Type::b64>(x);  // of the row's first thread: its begin
  k << inst.mad.lo.s64(there, *target_, bytes_of(r.dtype), there);
  logit_ = rows.number_at(there, *first_ & is_class);
  // Groups without a row read the last one. Where a block has one row, it reduces by way of a barrier.
  if (r.in_place && r.threads <= 32) k.bar.sync(0);
}

// What 16-bit elements are as f32 is computed again where it is needed again. ptxas would see that both are the same, keep the
// numbers in twice as many registers all along, and spill; so the words become others that it cannot know to be equal.
void Writer::forget_floats() {
  const auto zero = rows.rows >> 31;  // of M
  for (const Piece& piece : pieces_)
    for (const auto& word : piece.words) k << inst.xor_.b32(word, word, zero);
}

void Writer::store_loss() {
  const auto loss_of = rows.number_of("LOSS", 4);
  k.if_(*first_, [&] {
    // Relative to the maximum, which may be so large that nothing is left of a logarithm added to it.
    const auto loss = k.let(inst.fma.rn.f32, k.let(inst.sub.f32, reduced_[0], *logit_), *keeps_, *log_sum_);
    const auto mean = k.let(inst.mul.f32, reduced_[2], rows.inverse), beyond = k.let(inst.sub.f32, reduced_[0], mean);
    k << inst.fma.rn.f32(loss, beyond, *smoothing_, loss).on(*smoothing_ > 0);
    const auto squared = k.let(inst.mul.f32, k.let(inst.mul.f32, *lse_, *lse_), *z_loss_);
    k << inst.add.f32(loss, loss, squared).on(*z_loss_ != 0);
    k << inst.mov.f32(loss, 0.0).on(*is_ignored_);
    k << inst.st.global_.f32(addr(loss_of), loss);
  });
}

void Writer::store_gradient() {
  const auto dx = rows.row_of("DX");
  const auto factor = k.let(inst.rcp.approx.ftz.f32, reduced_[1]);  // of this thread's exponentials
  if (!r.anew) k << inst.mul.f32(factor, factor, exponential(k, k.let(inst.sub.f32, *own_, reduced_[0])));
  k << inst.mul.f32(factor, factor, *scale_);
  const auto slope = k.scalar<Type::f32>(1.0), twice = k.let(inst.add.f32, *z_loss_, *z_loss_);
  k << inst.fma.rn.f32(slope, twice, *lse_, slope);
  k << inst.mul.f32(factor, factor, slope).on(*z_loss_ != 0);
  const auto below = k.let(inst.neg.f32, k.let(inst.mul.f32, *level_, *scale_)), keeps = k.let(inst.mul.f32, *keeps_, *scale_);
  const auto in_pass = k.let(inst.cvt.u32.s64, *target_);  // the class less the first element of the pass
  k << inst.sub.u32(in_pass, in_pass, rows.thread * r.vector);
  for (int i = 0; i < rows.passes(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    Values es = r.anew ? Values() : exponentials_[at], out;
    if (r.anew)
      for (const auto& value : rows.floats(pieces_[at])) es.push_back(exponential(k, k.let(inst.sub.f32, value, reduced_[0])));
    for (const auto& e : es) out.push_back(k.let(inst.fma.rn.f32, e, factor, below));
    if (i > 0) k << inst.sub.u32(in_pass, in_pass, r.threads * r.cluster * r.vector);
    k.if_(in_pass < r.vector, [&] {
      for (int j = 0; j < r.vector; ++j) {
        const auto& value = out[static_cast<std::size_t>(j)];
        k << inst.sub.f32(value, value, keeps).on(in_pass == j);
      }
    });
    rows.store(dx, i, out);
  }
}

Kernel Writer::write() && {
  begin();
  own_ = largest_of(rows, r, pieces_);
  const auto total = k.scalar<Type::f32>(0.0), sum = k.scalar<Type::f32>(0.0);
  for (const Piece& piece : pieces_) {
    Values& kept = exponentials_.emplace_back();
    for (const auto& value : rows.floats(piece)) {
      const auto e = exponential(k, k.let(inst.sub.f32, value, *own_));
      k << inst.add.f32(total, total, e);
      if (!r.anew) kept.push_back(e);
    }
  }
  if (r.anew) forget_floats();
  k.if_(*smoothing_ > 0, [&] {
    for (int i = 0; i < rows.passes(); ++i)
      for (const auto& value : rows.floats(pieces_[static_cast<std::size_t>(i)]))
        k << guarded(inst.add.f32(sum, sum, value), rows.inside(i));
  });
  reduced_ = rows.reduce({*own_, total, sum}, [&](const Values& all, int lanes) { return combine_row(k, all, lanes); });

  log_sum_ = k.let(inst.mul.f32, k.let(inst.lg2.approx.f32, reduced_[1]), 0.6931471805599453);
  lse_ = k.let(inst.add.f32, *log_sum_, reduced_[0]);
  keeps_ = k.let(inst.sub.f32, k.scalar<Type::f32>(1.0), *smoothing_);  // 1 - s
  level_ = k.let(inst.mul.f32, *smoothing_, rows.inverse);              // s / N
  store_loss();
  if (r.gradient) {
    rows.before_branches();
    k.if_(
        *counts_, [&] { store_gradient(); },
        [&] {
          const auto dx = rows.row_of("DX");
          const Values zeros(static_cast<std::size_t>(r.vector), k.scalar<Type::f32>(0.0));
          for (int i = 0; i < rows.passes(); ++i) rows.store(dx, i, zeros);
        });
  }
  k << inst.ret();
  return std::move(k);
}

}  // namespace

Expected<Kernel> write_cross_entropy(const Recipe& recipe) { return Writer(recipe).write(); }

}  // namespace ptx::kernels
