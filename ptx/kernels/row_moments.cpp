// Mean and variance of a row in one reduction.
//
//     a warp    sum → its mean m → squares of x - m ─┐ barrier   mean of all, d = m - mean
//     a warp    sum → its mean m → squares of x - m ─┴────────►  squares + n d², n the warp's elements
//
// Nothing is taken from a sum of squares, so that numbers far from 0 keep their digits as in two passes.
#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

using F32 = Reg<Type::f32>;

F32 quotient(Kernel& k, const F32& sum, const F32& count) {
  return k.let(inst.mul.f32, sum, k.let(inst.rcp.approx.ftz.f32, k.let(inst.max.f32, count, 1.0)));  // of none: 0
}

Values summed(const Values& values, int lanes) {
  for (const auto& value : values)
    if (lanes > 1) warp::reduce_sum(value, lanes);
  return values;
}

/// Sum, squares, products and factors of units, each about its own mean, about `mean`, the mean of all.
Values moved(Kernel& k, const Values& unit, const F32& count, const F32& mean) {
  const auto d = k.let(inst.sub.f32, quotient(k, unit[0], count), mean);
  const auto squares = k.from_<Type::f32>(unit[1]);
  k << inst.fma.rn.f32(squares, k.let(inst.mul.f32, d, count), d, squares);
  Values all = {squares};
  if (unit.size() < 4) return all;
  const auto products = k.from_<Type::f32>(unit[2]);
  k << inst.fma.rn.f32(products, d, unit[3], products);
  all.push_back(products), all.push_back(k.from_<Type::f32>(unit[3]));
  return all;
}

}  // namespace

F32 Rows::elements_of(const Reg<Type::u32>& first, int threads) {
  // All passes but the last are full.
  const int of_pass = threads * recipe_.vector, passes = recipe_.passes - 1;
  const auto begin = k.scalar<Type::u32>();
  k << inst.mad.lo.u32(begin, first, recipe_.vector, passes * recipe_.threads * recipe_.cluster * recipe_.vector);
  const auto left = k.let(inst.max.u32, columns, begin) - begin;
  return k.let<Type::f32>(inst.cvt.rn.f32.u32, k.let(inst.min.u32, left, of_pass) + passes * of_pass);
}

Values Rows::moments(const F32& total, const std::function<Values(const F32& mean)>& about) {
  if (recipe_.threads <= 32) {
    const auto mean = k.let(inst.mul.f32, sum(total), inverse);
    Values all = {mean};
    for (const auto& value : sums(about(mean))) all.push_back(value);
    return all;
  }
  int level = 0;  // of a warp, of a block, of a cluster
  const int warps = recipe_.threads / 32, levels = recipe_.cluster > 1 ? 3 : 2;
  const auto of_block = [&] { return thread & -recipe_.threads; };
  Values found = reduce({total}, [&](const Values& values, int lanes) {
    if (level++ == 0) {
      const auto all = summed({k.from_<Type::f32>(values[0])}, lanes)[0];
      Values warp = {all};
      const auto mean = quotient(k, all, elements_of(thread & -32, 32));
      for (const auto& value : summed(about(mean), lanes)) warp.push_back(value);
      return warp;
    }
    // Lane i has what unit i found, a warp of the block or a block of the cluster.
    const bool of_warps = level == 2;
    const auto lane = thread & ((of_warps ? warps : recipe_.cluster) - 1);
    const auto count =
        of_warps ? elements_of((lane << 5) + of_block(), 32) : elements_of(lane * recipe_.threads, recipe_.threads);
    const auto all = summed({k.from_<Type::f32>(values[0])}, lanes)[0];
    const auto mean =
        level == levels ? k.let(inst.mul.f32, all, inverse) : quotient(k, all, elements_of(of_block(), recipe_.threads));
    Values result = {level == levels ? mean : all};
    for (const auto& value : summed(moved(k, values, count, mean), lanes)) result.push_back(value);
    return result;
  });
  return found;
}

}  // namespace ptx::kernels
