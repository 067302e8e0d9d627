// Sums of the columns of one or two matrices [M, N] of f32: what is left to do of the partial sums that backwards of norms leave,
// for the gradients of weight and bias in one launch, rounded once.
//
//     warp 0   row 0 | l0 … l7 |  row 1 | l8 … l15 |  row 2 | …  row 3 | …      8 lanes have 8 * `vector` columns of a row
//     warp 1   row 4 | …
//
// A block goes over all rows, and adds up what its warps have at the end.
// A sum has the same order of additions in every launch.
#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

constexpr int rows_at_once = 4;

using F32 = Reg<Type::f32>;
using Pointer = Reg<Type::b64>;
using U32 = Reg<Type::u32>;

class ColumnSums {
 public:
  explicit ColumnSums(const Recipe& recipe) : r(recipe), k(spec_of(recipe)), rows(k.param<Type::u32>("M")) {}
  Kernel write() &&;

 private:
  /// The matrix and the result of this block: the second ones in blocks whose y is 1.
  std::pair<Pointer, Pointer> pointers();
  /// Of rows `from`, `from + step`, …
  Values sums_of(const Pointer& matrix, const U32& from, const U32& columns);
  Values across_warps(const Values& values, const U32& tid);
  void store(const Pointer& at, const Values& values, const Reg<Type::pred>& guard);
  Values load(const Pointer& at, const Predicate& guard);

  const Recipe& r;
  Kernel k;
  U32 rows;
};

std::pair<Pointer, Pointer> ColumnSums::pointers() {
  const bool both = r.weight && r.bias;
  const auto [matrix, result] = k.global_ptrs(r.weight ? "DW" : "DB", r.weight ? "YW" : "YB");
  if (!both) return {matrix, result};
  const auto is_second = k.from_<Type::u32>(special.ctaid.y()) == 1;
  const auto [other, other_result] = k.global_ptrs("DB", "YB");
  k << inst.selp.b64(matrix, other, matrix, is_second) << inst.selp.b64(result, other_result, result, is_second);
  return {matrix, result};
}

Values ColumnSums::load(const Pointer& at, const Predicate& guard) {
  Values v;
  for (int i = 0; i < r.vector; ++i) v.push_back(guard ? k.scalar<Type::f32>(0.0) : k.scalar<Type::f32>());
  const auto& ld = inst.ld.global_.nc;
  if (r.vector == 4)
    k << guarded(ld.v4.f32(vec(v[0], v[1], v[2], v[3]), addr(at)), guard);
  else if (r.vector == 2)
    k << guarded(ld.v2.f32(vec(v[0], v[1]), addr(at)), guard);
  else
    k << guarded(ld.f32(v[0], addr(at)), guard);
  return v;
}

Values ColumnSums::sums_of(const Pointer& matrix, const U32& from, const U32& columns) {
  const int step = r.threads / column_lanes;
  Values sums;
  for (int i = 0; i < r.vector; ++i) sums.push_back(k.scalar<Type::f32>(0.0));
  const auto pitch = k.let(inst.mul.wide.u32, columns, step * 4);
  const auto at = k.from_<Type::b64>(matrix);
  k << inst.mad.lo.u64(at, k.let(inst.mul.wide.u32, from, columns), 4, at);
  const auto row = k.from_<Type::u32>(from);
  k.while_([&] { return row < rows; },
           [&] {
             std::vector<Values> loaded;  // all on their way before the first is added
             for (int i = 0; i < rows_at_once; ++i) {
               loaded.push_back(load(at, i == 0 ? Predicate() : Predicate(row + i * step < rows)));
               k << inst.add.s64(at, at, pitch);
             }
             for (const Values& values : loaded)
               for (std::size_t j = 0; j < sums.size(); ++j) k << inst.add.f32(sums[j], sums[j], values[j]);
             k << inst.add.u32(row, row, rows_at_once * step);
           });
  for (const F32& sum : sums)  // the rows of a warp: lanes 8 and 16 apart
    for (int lanes = column_lanes; lanes < 32; lanes *= 2) {
      const auto word = k.scalar<Type::b32>(), other = k.scalar<Type::b32>();
      k << inst.mov.b32(word, sum) << inst.shfl.sync.bfly.b32(other, word, lanes, 31, -1);
      const auto value = k.scalar<Type::f32>();
      k << inst.mov.b32(value, other) << inst.add.f32(sum, sum, value);
    }
  return sums;
}

Values ColumnSums::across_warps(const Values& values, const U32& tid) {
  const int warps = r.threads / 32, columns = column_lanes * r.vector;
  const auto partial = k.smem.alloc<Type::f32>({warps, columns});
  const auto base = k.smem.base(partial);
  const auto lane = tid & 31;
  const auto of_warp = base + (tid >> 5) * (columns * 4);
  const auto mine = of_warp + lane * (r.vector * 4);
  k.if_(lane < column_lanes, [&] {
    for (int i = 0; i < r.vector; ++i) k << inst.st.shared.f32(addr(mine, i * 4), values[static_cast<std::size_t>(i)]);
  });
  k.bar.sync(0);
  Values all;
  const auto all_of = base + (tid & (column_lanes - 1)) * (r.vector * 4);
  for (int i = 0; i < r.vector; ++i) {
    const auto sum = k.scalar<Type::f32>(0.0);
    for (int warp = 0; warp < warps; ++warp)
      k << inst.add.f32(sum, sum, k.let(inst.ld.shared.f32, addr(all_of, (warp * columns + i) * 4)));
    all.push_back(sum);
  }
  return all;
}

void ColumnSums::store(const Pointer& at, const Values& values, const Reg<Type::pred>& guard) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto place = addr(at, static_cast<std::int64_t>(i) * bytes_of(r.dtype));
    if (r.dtype == Type::f32) {
      k << inst.st.global_.f32(place, values[i]).on(guard);
      continue;
    }
    const auto half = k.scalar<Type::b16>();
    if (r.dtype == Type::bf16)
      k << inst.cvt.rn.bf16.f32(half, values[i]);
    else
      k << inst.cvt.rn.f16.f32(half, values[i]);
    k << inst.st.global_.b16(place, half).on(guard);
  }
}

Kernel ColumnSums::write() && {
  const auto columns = k.param<Type::u32>("N");
  const auto tid = k.from_<Type::u32>(special.tid.x());
  const auto [matrix, result] = pointers();
  // Lanes behind the last column add up the last ones once more, and store nothing.
  const auto column = k.scalar<Type::u32>();
  const auto block = k.from_<Type::u32>(special.ctaid.x());
  k << inst.mad.lo.u32(column, block, column_lanes, tid & (column_lanes - 1));
  k << inst.mul.lo.u32(column, column, r.vector);
  const auto exists = column < columns;
  k << inst.min.u32(column, column, columns - r.vector);
  k << inst.mad.wide.u32(matrix, column, 4, matrix) << inst.mad.wide.u32(result, column, bytes_of(r.dtype), result);
  const auto first_row = tid >> 3;
  const Values sums = across_warps(sums_of(matrix, first_row, columns), tid);
  store(result, sums, exists & (tid < column_lanes));
  k << inst.ret();
  return std::move(k);
}

}  // namespace

Expected<Kernel> write_column_sums(const Recipe& recipe) { return ColumnSums(recipe).write(); }

}  // namespace ptx::kernels
