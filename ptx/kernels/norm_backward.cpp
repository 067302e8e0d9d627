// Gradients of RMS norm and layer norm.
//
//     blocks stay: block b has rows b, b + blocks, b + 2 blocks, …
//       x[row], dy[row] → registers → statistics and sum(dy w x) in one reduction → dx[row]
//                            └→ dweight, dbias of these rows, in f32 registers → partial[b] at the end
//
// With `ahead` x[row] and dy[row] come through a ring in shared memory (row_ring.hpp), so that the next rows are under way while
// this one is reduced.
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
#include "ptx/kernels/row_ring.hpp"

namespace ptx::kernels {
namespace {

using F32 = Reg<Type::f32>;
using Pointer = Reg<Type::b64>;

/// Writes one kernel, from its loads to its end.
class BackwardWriter {
 public:
  explicit BackwardWriter(const Recipe& recipe)
      : r(recipe), k(spec_of(recipe)), rows(k, recipe), is_layer_(r.operation == Operation::layer_norm_backward) {}
  Kernel write() &&;

 private:
  /// What a row has for all of its columns.
  struct Statistics {
    std::optional<F32> mean;
    F32 rstd, slope;  ///< dx = rstd (g - centred * slope - level)
    std::optional<F32> level;
  };
  void begin();
  void begin_row();
  std::vector<Values> zeros();
  /// x and dy of a pass, kept or loaded; `again`: not for the first time.
  Values x_of(int i, bool again);
  Values dy_of(int i, bool again);
  /// w * dy, or dy where there is no weight.
  Values weighted(const Values& dy, int i);
  /// Squares; w dy xhat without rstd; of layer norm, w dy.
  Values sums_about(const std::optional<F32>& middle);
  Statistics reduce();
  void store_row(const Statistics& of_row);
  void end();

  const Recipe& r;
  Kernel k;
  Rows rows;
  const bool is_layer_;
  std::optional<F32> eps_, offset_;
  std::optional<Pointer> weight_;
  std::vector<Values> of_weight_, of_bias_;     ///< sums over rows
  std::optional<Pointer> weight_at_, bias_at_;  ///< or where they are added up in memory
  std::optional<Pointer> x_at_, dy_at_;         ///< of this row
  std::vector<Piece> xs_, dys_, of_sums_;
  std::optional<RowRing> ring_;
};

std::vector<Values> BackwardWriter::zeros() {
  std::vector<Values> all;
  for (int i = 0; i < r.passes; ++i) {
    Values& of_pass = all.emplace_back();
    for (int j = 0; j < r.vector; ++j) of_pass.push_back(k.scalar<Type::f32>(0.0));
  }
  return all;
}

void BackwardWriter::begin() {
  eps_ = k.param<Type::f32>("eps");
  if (r.weight) weight_ = rows.vector_of("W");
  if (r.weight && !is_layer_) offset_ = k.param<Type::f32>("offset");
  if (weight_ && r.early) rows.load_all_shared(*weight_);
  if (!r.anew) {
    if (r.weight) of_weight_ = zeros();
    if (r.bias) of_bias_ = zeros();
    return;
  }
  if (r.weight) weight_at_ = rows.partial_of("DW");
  if (r.bias) bias_at_ = rows.partial_of("DB");
  const Values nothing(static_cast<std::size_t>(r.vector), k.scalar<Type::f32>(0.0));
  for (const auto& partial : {weight_at_, bias_at_})
    for (int i = 0; partial && i < r.passes; ++i) rows.store_floats(*partial, i, nothing);
}

void BackwardWriter::begin_row() {
  if (ring_) {
    auto staged = ring_->next();
    xs_ = std::move(staged[0]), dys_ = std::move(staged[1]);
    if (r.residual) of_sums_ = std::move(staged[2]);
    return;
  }
  x_at_ = rows.row_of("X"), dy_at_ = rows.row_of("DY");
  if (!r.anew) xs_ = rows.load_all(*x_at_), dys_ = rows.load_all(*dy_at_);
}

Values BackwardWriter::x_of(int i, bool again) {
  if (!r.anew) return rows.floats(xs_[static_cast<std::size_t>(i)]);
  return rows.floats(again ? rows.load_again(*x_at_, i) : rows.load(*x_at_, i));
}

Values BackwardWriter::dy_of(int i, bool again) {
  if (!r.anew) return rows.floats(dys_[static_cast<std::size_t>(i)]);
  return rows.floats(again ? rows.load_again(*dy_at_, i) : rows.load(*dy_at_, i));
}

Values BackwardWriter::weighted(const Values& dy, int i) {
  if (!weight_) return dy;
  const Values w = rows.floats(rows.load_shared(*weight_, i));
  Values all;
  for (std::size_t j = 0; j < dy.size(); ++j)
    all.push_back(k.let(inst.mul.f32, dy[j], offset_ ? k.let(inst.add.f32, w[j], *offset_) : w[j]));
  return all;
}

// Behind the row's end dy is 0, and x is, so only (0 - mean)^2 is to be left out.
Values BackwardWriter::sums_about(const std::optional<F32>& middle) {
  Values all = {k.scalar<Type::f32>(0.0), k.scalar<Type::f32>(0.0)};
  if (is_layer_) all.push_back(k.scalar<Type::f32>(0.0));
  for (int i = 0; i < r.passes; ++i) {
    const Values x = x_of(i, is_layer_), g = weighted(dy_of(i, false), i);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const auto centred = middle ? k.let(inst.sub.f32, x[j], *middle) : x[j];
      k << guarded(inst.fma.rn.f32(all[0], centred, centred, all[0]), middle ? rows.inside(i) : Predicate());
      k << inst.fma.rn.f32(all[1], g[j], centred, all[1]);
      if (is_layer_) k << inst.add.f32(all[2], all[2], g[j]);
    }
  }
  return all;
}

BackwardWriter::Statistics BackwardWriter::reduce() {
  std::optional<F32> mean;
  Values totals;
  if (is_layer_) {
    const auto total = k.scalar<Type::f32>(0.0);
    for (int i = 0; i < r.passes; ++i)
      for (const auto& x : x_of(i, false)) k << inst.add.f32(total, total, x);
    totals = rows.moments(total, [&](const F32& middle) { return sums_about(middle); });
    mean = totals[0];
    totals.erase(totals.begin());
  } else {
    totals = rows.sums(sums_about({}));
  }
  const auto rstd = k.let(inst.mul.f32, totals[0], rows.inverse);
  k << inst.add.f32(rstd, rstd, *eps_);
  k << inst.rsqrt.approx.f32(rstd, rstd);
  const auto slope = k.let(inst.mul.f32, k.let(inst.mul.f32, totals[1], rows.inverse), k.let(inst.mul.f32, rstd, rstd));
  k << inst.neg.f32(slope, slope);
  std::optional<F32> level;
  if (is_layer_) level = k.let(inst.mul.f32, totals[2], rows.inverse);
  return {mean, rstd, slope, level};
}

void BackwardWriter::store_row(const Statistics& of_row) {
  const auto dx = rows.row_of("DX");
  std::optional<Pointer> of_sum;
  if (r.residual && !ring_) of_sum = rows.row_of("DS");
  for (int i = 0; i < r.passes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Values x = x_of(i, true), dy = dy_of(i, true), g = weighted(dy, i);
    Values added;
    if (r.residual) added = rows.floats(of_sum ? rows.load(*of_sum, i) : of_sums_[at]);
    Values out, products;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const auto centred = of_row.mean ? k.let(inst.sub.f32, x[j], *of_row.mean) : x[j];
      auto value = k.let(inst.fma.rn.f32, centred, of_row.slope, g[j]);
      if (of_row.level) value = k.let(inst.sub.f32, value, *of_row.level);
      value = r.residual ? k.let(inst.fma.rn.f32, value, of_row.rstd, added[j]) : k.let(inst.mul.f32, value, of_row.rstd);
      out.push_back(value);
      if (r.weight) products.push_back(k.let(inst.mul.f32, dy[j], k.let(inst.mul.f32, centred, of_row.rstd)));
      if (!of_weight_.empty()) k << guarded(inst.add.f32(of_weight_[at][j], of_weight_[at][j], products[j]), rows.exists());
      if (!of_bias_.empty()) k << guarded(inst.add.f32(of_bias_[at][j], of_bias_[at][j], dy[j]), rows.exists());
    }
    rows.store(dx, i, out);
    if (weight_at_) rows.add_floats(*weight_at_, i, products);
    if (bias_at_) rows.add_floats(*bias_at_, i, dy);
  }
}

void BackwardWriter::end() {
  for (const auto& [name, values] : {std::pair("DW", &of_weight_), std::pair("DB", &of_bias_)}) {
    if (values->empty()) continue;
    const auto partial = rows.partial_of(name);
    for (int i = 0; i < r.passes; ++i) rows.store_floats(partial, i, (*values)[static_cast<std::size_t>(i)]);
  }
  k << inst.ret();
}

Kernel BackwardWriter::write() && {
  begin();
  const auto turn = k.scalar<Type::u32>(0), blocks = k.from_<Type::u32>(special.nctaid.x());
  if (r.cluster > 1) k << inst.mov.u32(blocks, special.nclusterid.x());
  rows.take_turns(turn);
  rows.await_cluster();
  const auto first = k.from_<Type::u32>(rows.first_row);
  if (r.ahead != 0)
    ring_.emplace(rows, r, r.residual ? std::vector<std::string_view>{"X", "DY", "DS"} : std::vector<std::string_view>{"X", "DY"},
                  blocks);
  k.while_([&] { return first < rows.rows; },
           [&] {
             rows.begin_at(first);
             begin_row();
             const Statistics of_row = reduce();
             if (ring_) ring_->refill(first);
             store_row(of_row);
             k << inst.add.u32(first, first, blocks * r.rows) << inst.xor_.b32(turn, turn, 1);
           });
  end();
  return std::move(k);
}

}  // namespace

Expected<Kernel> write_norm_backward(const Recipe& recipe) { return BackwardWriter(recipe).write(); }

}  // namespace ptx::kernels
