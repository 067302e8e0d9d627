#include "ptx/kernels/product_epilogue.hpp"

#include <string_view>

namespace ptx::kernels::product {
namespace {

using U32 = Reg<Type::u32>;
constexpr double log2_e = 1.4426950408889634;

/// x / (1 + 2^exponent)
Reg<Type::f32> times_sigmoid(Kernel& k, const Reg<Type::f32>& x, const Reg<Type::f32>& exponent) {
  const auto s = k.let(inst.ex2.approx.ftz.f32, exponent);
  k << inst.add.f32(s, s, 1.0);
  k << inst.rcp.approx.ftz.f32(s, s);
  return k.let(inst.mul.f32, x, s);
}

Reg<Type::f32> gelu_tanh(Kernel& k, const Reg<Type::f32>& x) {
  constexpr double c1 = 0.7978845608028654, c3 = 0.044715;
  const auto square = k.let(inst.min.f32, k.let(inst.mul.f32, x, x), 1e30);  // of infinity there would be a NaN
  const auto factor = k.scalar<Type::f32>(-2 * c1 * log2_e);
  k << inst.fma.rn.f32(factor, square, -2 * c1 * c3 * log2_e, factor);
  return times_sigmoid(k, x, k.let(inst.mul.f32, x, factor));
}

/// erf by Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
Reg<Type::f32> gelu(Kernel& k, const Reg<Type::f32>& x) {
  const auto z = k.let(inst.mul.f32, k.let(inst.abs.f32, x), 0.7071067811865476);
  const auto t = k.scalar<Type::f32>(1.0);
  k << inst.fma.rn.f32(t, z, 0.3275911, t);
  k << inst.rcp.approx.ftz.f32(t, t);
  auto sum = k.scalar<Type::f32>(0.5 * 1.061405429);
  for (const double c : {-1.453152027, 1.421413741, -0.284496736, 0.254829592}) {
    const auto next = k.scalar<Type::f32>(0.5 * c);
    k << inst.fma.rn.f32(next, sum, t, next);
    sum = next;
  }
  const auto power = k.let(inst.ex2.approx.ftz.f32, k.let(inst.mul.f32, k.let(inst.mul.f32, z, z), -log2_e));
  const auto below = k.let(inst.mul.f32, k.let(inst.mul.f32, sum, t), power);  // Phi(-|x|)
  const auto one = k.scalar<Type::f32>(1.0), above = k.let(inst.sub.f32, one, below);
  const auto is_negative = k.scalar<Type::pred>();
  k << inst.setp.lt.f32(is_negative, x, 0.0);
  const auto phi = k.scalar<Type::f32>();
  k << inst.selp.f32(phi, below, above, is_negative);
  return k.let(inst.mul.f32, x, phi);
}

}  // namespace

Epilogue::Epilogue(Kernel& kernel, const Recipe& recipe, const Of& of)
    : k(kernel),
      r(recipe),
      g(recipe),
      of_(of),
      c_pitch_(recipe.strided ? kernel.param<Type::u32>("C_stride") : of.n),
      r_pitch_(recipe.strided && recipe.residual ? kernel.param<Type::u32>("R_stride") : of.n) {
  if (r.alpha) alpha_ = k.param<Type::f32>("alpha");
  if (r.store != Store::boxes) return;
  // Where this lane's rows of a box lie: lanes 0 to 15 have its rows, 16 to 31 the same rows 8 columns on.
  const auto warp = (of.tid >> 5) - 4;  // of those that multiply
  box_ = k.address_of<Type::u32>("smem") + (warp * (2 * g.box_bytes) + g.box_at);
  const auto offset = (of.lane & 15) * (g.box_columns * 2) + ((of.lane >> 4) << 4);
  const std::string_view swizzle = g.box_columns == 64 ? "128B" : g.box_columns == 32 ? "64B" : "32B";
  for (int i = 0; i < g.box_columns / 16; ++i)
    lane_rows_.push_back(*box_ + k.smem.apply_swizzle(i == 0 ? offset : offset + 32 * i, swizzle));
}

Reg<Type::f32> Epilogue::active(const Reg<Type::f32>& x) {
  switch (r.activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return k.let(inst.max.NaN.f32, x, 0.0);
    case Activation::silu:
      return times_sigmoid(k, x, k.let(inst.mul.f32, x, -log2_e));
    case Activation::gelu:
      return gelu(k, x);
    case Activation::gelu_tanh:
      return gelu_tanh(k, x);
  }
  return x;
}

Reg<Type::f32> Epilogue::finished(const Reg<Type::f32>& sum, const std::optional<Reg<Type::f32>>& bias,
                                  const std::optional<Reg<Type::f32>>& residual) {
  if (r.gated) return sum;  // which is a product by now
  auto value = active(bias ? k.let(inst.add.f32, sum, *bias) : sum);
  return residual ? k.let(inst.add.f32, value, *residual) : value;
}

Values Epilogue::gated(const Values& sums) {
  const std::size_t half = sums.size() / 2;
  Values products;
  for (std::size_t i = 0; i < half; ++i) products.push_back(k.let(inst.mul.f32, active(sums[i]), sums[half + i]));
  return products;
}

Epilogue::Pointer Epilogue::element_of(const char* tensor, const U32& row, const U32& column, Type type) {
  const auto [pointer] = k.global_ptrs(tensor);
  auto index = k.let(inst.mul.wide.u32, row, pitch_of(tensor));
  if (matrix_) {
    const auto rows = k.let(inst.mul.wide.u32, *matrix_, of_.m), width = k.let<Type::u64>(inst.cvt.u64.u32, of_.n);
    k << inst.mad.lo.u64(index, rows, width, index);
  }
  const auto across = k.let<Type::u64>(inst.cvt.u64.u32, column);
  k << inst.add.u64(index, index, across);
  k << inst.mad.lo.u64(pointer, index, bytes_of(type), pointer);
  return pointer;
}

Reg<Type::f32> Epilogue::half_at(const Pointer& pointer, std::int64_t bytes, const Predicate& guard) {
  const auto half = k.scalar<Type::b16>(0);
  k << guarded(inst.ld.global_.nc.b16(half, addr(pointer, bytes)), guard);
  const auto value = k.scalar<Type::f32>();
  if (side_type(r) == Type::f16) {
    k << inst.cvt.f32.f16(value, half);
  } else {
    k << inst.mov.b32(value, vec(k.scalar<Type::b16>(0), half));
  }
  return value;
}

Epilogue::Pair Epilogue::pair_at(const Pointer& pointer, std::int64_t bytes, const Predicate& first, const Predicate& second) {
  if (r.store == Store::singles) return {half_at(pointer, bytes, first), half_at(pointer, bytes + 2, second)};
  const auto word = k.scalar<Type::b32>(0);
  k << guarded(inst.ld.global_.nc.b32(word, addr(pointer, bytes)), first);
  auto low = k.scalar<Type::f32>(), high = k.scalar<Type::f32>();
  if (side_type(r) == Type::bf16) {
    k << inst.shl.b32(low, word, 16);
    k << inst.and_.b32(high, word, 0xFFFF0000);
  } else {
    const auto l = k.scalar<Type::b16>(), h = k.scalar<Type::b16>();
    k << inst.mov.b32(vec(l, h), word);
    k << inst.cvt.f32.f16(low, l) << inst.cvt.f32.f16(high, h);
  }
  return {low, high};
}

// Not by `.nc`, as C may lie there.
Reg<Type::f32> Epilogue::residual_at(const Pointer& pointer, int element, const Predicate& guard) {
  if (!r.wide) return half_at(pointer, std::int64_t{element} * 2, guard);
  const auto value = k.scalar<Type::f32>(0.0);
  k << guarded(inst.ld.global_.f32(value, addr(pointer, std::int64_t{element} * 4)), guard);
  return value;
}

Epilogue::Pair Epilogue::residual_at(const Pointer& pointer, int block, const Predicate& first, const Predicate& second) {
  if (!r.wide) return pair_at(pointer, std::int64_t{block} * 16, first, second);
  if (r.store == Store::singles) return {residual_at(pointer, block * 8, first), residual_at(pointer, block * 8 + 1, second)};
  const Pair pair{k.scalar<Type::f32>(0.0), k.scalar<Type::f32>(0.0)};
  k << guarded(inst.ld.global_.v2.f32(vec(pair.first, pair.second), addr(pointer, std::int64_t{block} * 32)), first);
  return pair;
}

Reg<Type::b32> Epilogue::packed(const Reg<Type::f32>& low, const Reg<Type::f32>& high) {
  const auto word = k.scalar<Type::b32>();
  if (r.out == Type::bf16)
    k << inst.cvt.rn.bf16x2.f32(word, high, low);  // the first goes to the upper half
  else
    k << inst.cvt.rn.f16x2.f32(word, high, low);
  return word;
}

void Epilogue::store_one(const Pointer& pointer, std::int64_t bytes, const Reg<Type::f32>& value, const Predicate& guard) {
  const auto at = addr(pointer, bytes);
  if (r.out == Type::f32) {
    k << guarded(inst.st.global_.f32(at, value), guard);
    return;
  }
  const auto half = k.scalar<Type::b16>();
  if (r.out == Type::bf16)
    k << inst.cvt.rn.bf16.f32(half, value);
  else
    k << inst.cvt.rn.f16.f32(half, value);
  k << guarded(inst.st.global_.b16(at, half), guard);
}

void Epilogue::begin_scales(const U32& row, const U32& column) {
  if (r.scaling == Scaling::tensorwise) {
    const auto [a, b] = k.global_ptrs("scale_a", "scale_b");
    scales_.emplace(
        Scales{.above = k.let(inst.mul.f32, number_at(a, 0, {}), number_at(b, 0, {})), .below = {}, .columns = {}, .left = {}});
    return;
  }
  const auto my_row = row + (of_.lane >> 2), my_column = column + ((of_.lane & 3) << 1);
  const auto [rows] = k.global_ptrs(r.swapped ? "scale_b" : "scale_a");
  const auto [columns] = k.global_ptrs(r.swapped ? "scale_a" : "scale_b");
  k << inst.mad.wide.u32(rows, my_row, 4, rows) << inst.mad.wide.u32(columns, my_column, 4, columns);
  const U32 &height = r.swapped ? of_.n : of_.m, &width = r.swapped ? of_.m : of_.n;
  const auto left = k.let<Type::s32>(inst.sub.s32, width, my_column);
  scales_.emplace(Scales{.above = number_at(rows, 0, my_row < height),
                         .below = number_at(rows, 32, my_row + 8 < height),
                         .columns = columns,
                         .left = left});
}

Reg<Type::f32> Epilogue::number_at(const Pointer& pointer, std::int64_t bytes, const Predicate& guard) {
  const auto value = k.scalar<Type::f32>(0.0);
  k << guarded(inst.ld.global_.nc.f32(value, addr(pointer, bytes)), guard);
  return value;
}

Values Epilogue::block_of(const Values& sums, int block) {
  const auto begin = sums.begin() + std::ptrdiff_t{4} * block;
  Values four(begin, begin + 4);
  if (alpha_)
    for (auto& sum : four) sum = k.let(inst.mul.f32, sum, *alpha_);
  if (!scales_) return four;
  if (!scales_->columns) {
    for (auto& sum : four) sum = k.let(inst.mul.f32, sum, scales_->above);
    return four;
  }
  const auto first = k.scalar<Type::f32>(0.0), second = k.scalar<Type::f32>(0.0);
  const auto at = addr(*scales_->columns, std::int64_t{block} * 32);
  if (r.swapped || r.store == Store::singles) {
    k << inst.ld.global_.nc.f32(first, at).on(*scales_->left > 8 * block);
    k << inst.ld.global_.nc.f32(second, addr(*scales_->columns, std::int64_t{block} * 32 + 4)).on(*scales_->left > 8 * block + 1);
  } else {  // an even number of columns: there are both, or none
    k << inst.ld.global_.nc.v2.f32(vec(first, second), at).on(*scales_->left > 8 * block);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const auto factor = k.let(inst.mul.f32, i < 2 ? scales_->above : *scales_->below, i % 2 == 0 ? first : second);
    four[i] = k.let(inst.mul.f32, four[i], factor);
  }
  return four;
}

void Epilogue::store(const Values& values, const U32& row, const U32& column) {
  if (r.scaling == Scaling::tensorwise || r.scaling == Scaling::rowwise) begin_scales(row, column);
  if (r.grouped && r.store == Store::boxes) {  // a box goes nowhere near the next group's rows
    const auto behind = row + box_rows;
    k.if_(behind <= of_.m, [&] { store_boxes(values, row, column); }, [&] { store_directly(values, row, column); });
    return;
  }
  if (r.store == Store::boxes) return store_boxes(values, row, column);
  if (r.swapped) return store_swapped(values, row, column);
  store_directly(values, row, column);
}

// Each warp stores its 16 rows by itself, a box at a time, from two places in turn.
void Epilogue::store_boxes(const Values& values, const U32& row, const U32& column) {
  std::optional<Pointer> bias, residual, residual_below;
  std::optional<Reg<Type::s32>> left;
  Predicate above_exists, below_exists;
  if (r.bias || r.residual) {
    const auto my_row = row + (of_.lane >> 2), my_column = column + ((of_.lane & 3) << 1);
    left = k.let<Type::s32>(inst.sub.s32, of_.n, my_column);
    above_exists = my_row < of_.m, below_exists = my_row + 8 < of_.m;
    if (r.bias) {
      const auto [pointer] = k.global_ptrs("bias");
      k << inst.mad.wide.u32(pointer, my_column, 2, pointer);
      bias = pointer;
    }
    if (r.residual) {
      residual = element_of("R", my_row, my_column, residual_type(r));
      residual_below = k.from_<Type::b64>(*residual);
      k << inst.mad.wide.u32(*residual_below, r_pitch_, 8 * bytes_of(residual_type(r)), *residual_below);  // 8 rows on
    }
  }
  auto words = k.array<Type::b32>(4);
  const int chunks = static_cast<int>(values.size()) * 2 / g.box_columns;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int half = chunk % 2 * g.box_bytes;
    // The last copy but one, from this box, has read it; where their number is odd, the last tile's last one was from the first.
    k.cp.async_.bulk.wait_group(chunk == 0 && chunks % 2 == 1 ? 0 : 1, {.read = true});
    k << inst.bar.warp.sync(0xFFFFFFFF);
    for (int i = 0; i < g.box_columns / 16; ++i) {
      for (int j = 0; j < 2; ++j) {
        const int block = (chunk * g.box_columns / 16 + i) * 2 + j;
        const Values four = block_of(values, block);
        Predicate inside;
        std::optional<Pair> b, above, below;
        if (left) inside = *left > 8 * block;
        if (bias) b = pair_at(*bias, block * 16, inside, inside);
        if (residual) {
          const auto up = *inside & *above_exists, down = *inside & *below_exists;
          above = residual_at(*residual, block, up, up);
          below = residual_at(*residual_below, block, down, down);
        }
        for (int half_rows = 0; half_rows < 2; ++half_rows) {
          const auto& added = half_rows == 0 ? above : below;
          const auto value = [&](int which) {
            const auto of = [&](const std::optional<Pair>& pair) {
              return pair ? std::optional(which == 0 ? pair->first : pair->second) : std::nullopt;
            };
            return finished(four[static_cast<std::size_t>(half_rows * 2 + which)], of(b), of(added));
          };
          const auto low = value(0), high = value(1);
          if (r.out == Type::bf16)
            k << inst.cvt.rn.bf16x2.f32(words[2 * j + half_rows], high, low);
          else
            k << inst.cvt.rn.f16x2.f32(words[2 * j + half_rows], high, low);
        }
      }
      k.stmatrix({.smem = addr(lane_rows_[static_cast<std::size_t>(i)], half), .regs = words, .layout = "x4"});
    }
    k.fence.proxy_async_shared_cta();  // TMA is to see what the lanes stored
    k << inst.bar.warp.sync(0xFFFFFFFF);
    k.if_(of_.lane == 0, [&] {
      write::Coords coord = {chunk == 0 ? column : column + chunk * g.box_columns, row};
      if (matrix_) coord.emplace_back(*matrix_);
      const write::TensorStoreOperands copy{.dst = k.tma_desc("C"), .src = half == 0 ? *box_ : *box_ + half, .coord = coord};
      if (matrix_)
        k.cp.async_.bulk.tensor_3d.store(copy);
      else
        k.cp.async_.bulk.tensor_2d.store(copy);
      k.cp.async_.bulk.commit_group();
    });
  }
}

void Epilogue::store_directly(const Values& values, const U32& row, const U32& column) {
  const auto my_row = row + (of_.lane >> 2), my_column = column + ((of_.lane & 3) << 1);
  const auto left = k.let<Type::s32>(inst.sub.s32, of_.n, my_column);
  const auto above_exists = my_row < of_.m, below_exists = my_row + 8 < of_.m;
  const int size = bytes_of(r.out);
  const auto eight_rows_on = [&](const Pointer& from, const U32& pitch, int bytes) {
    const auto pointer = k.from_<Type::b64>(from);
    k << inst.mad.wide.u32(pointer, pitch, 8 * bytes, pointer);
    return pointer;
  };
  const auto c = element_of("C", my_row, my_column, r.out), c_below = eight_rows_on(c, c_pitch_, size);
  std::optional<Pointer> bias, residual, residual_below;
  if (r.bias) {
    const auto [pointer] = k.global_ptrs("bias");
    k << inst.mad.wide.u32(pointer, my_column, 2, pointer);
    bias = pointer;
  }
  if (r.residual) {
    residual = element_of("R", my_row, my_column, residual_type(r));
    residual_below = eight_rows_on(*residual, r_pitch_, bytes_of(residual_type(r)));
  }
  for (int block = 0; block < static_cast<int>(values.size()) / 4; ++block) {
    const Values four = block_of(values, block);
    const auto first = left > 8 * block;
    const auto second = r.store == Store::singles ? left > 8 * block + 1 : first;
    std::optional<Pair> b;
    if (bias) b = pair_at(*bias, block * 16, first, second);
    for (int half_rows = 0; half_rows < 2; ++half_rows) {
      const auto& exists = half_rows == 0 ? above_exists : below_exists;
      const auto one = first & exists;
      const auto two = r.store == Store::singles ? second & exists : one;
      std::optional<Pair> added;
      if (residual) added = residual_at(half_rows == 0 ? *residual : *residual_below, block, one, two);
      const auto at = static_cast<std::size_t>(2 * half_rows);
      const auto low =
          finished(four[at], b ? std::optional(b->first) : std::nullopt, added ? std::optional(added->first) : std::nullopt);
      const auto high = finished(four[at + 1], b ? std::optional(b->second) : std::nullopt,
                                 added ? std::optional(added->second) : std::nullopt);
      const Pointer& to = half_rows == 0 ? c : c_below;
      if (r.store == Store::singles) {
        store_one(to, std::int64_t{block} * 8 * size, low, one);
        store_one(to, std::int64_t{block} * 8 * size + size, high, two);
      } else if (r.out == Type::f32) {
        k << inst.st.global_.v2.f32(addr(to, block * 32), vec(low, high)).on(one);
      } else {
        k << inst.st.global_.b32(addr(to, block * 16), packed(low, high)).on(one);
      }
    }
  }
}

// The tile's rows are columns of C: of each n-block a thread has 2 x 2 elements of C[column, row], [column, row + 8].
void Epilogue::store_swapped(const Values& values, const U32& row, const U32& column) {
  const auto my_row = row + (of_.lane >> 2), my_column = column + ((of_.lane & 3) << 1);
  const auto left = k.let<Type::s32>(inst.sub.s32, of_.m, my_column);
  const auto above_exists = my_row < of_.n, below_exists = my_row + 8 < of_.n;
  const int size = bytes_of(r.out);
  const auto on = [&](const Pointer& pointer, const U32& pitch, int rows, int bytes) {
    k << inst.mad.wide.u32(pointer, pitch, rows * bytes, pointer);
  };
  const auto c = element_of("C", my_column, my_row, r.out);
  std::optional<Pointer> residual;
  if (r.residual) residual = element_of("R", my_column, my_row, residual_type(r));
  std::optional<Reg<Type::f32>> bias_above, bias_below;
  if (r.bias) {
    const auto [pointer] = k.global_ptrs("bias");
    k << inst.mad.wide.u32(pointer, my_row, 2, pointer);
    bias_above = half_at(pointer, 0, above_exists);
    bias_below = half_at(pointer, 16, below_exists);
  }
  for (int block = 0; block < static_cast<int>(values.size()) / 4; ++block) {
    const Values four = block_of(values, block);
    for (int which = 0; which < 2; ++which) {
      const auto inside = left > 8 * block + which;
      for (int half_rows = 0; half_rows < 2; ++half_rows) {
        const auto guard = inside & (half_rows == 0 ? above_exists : below_exists);
        std::optional<Reg<Type::f32>> added;
        if (residual) added = residual_at(*residual, half_rows * 8, guard);
        const auto value =
            finished(four[static_cast<std::size_t>(2 * half_rows + which)], half_rows == 0 ? bias_above : bias_below, added);
        store_one(c, std::int64_t{half_rows} * 8 * size, value, guard);
      }
      on(c, c_pitch_, which == 0 ? 1 : 7, size);
      if (residual) on(*residual, r_pitch_, which == 0 ? 1 : 7, bytes_of(residual_type(r)));
    }
  }
}

void Epilogue::finish() {
  if (r.store == Store::boxes) k.cp.async_.bulk.wait_group(0, {.read = true});
}

}  // namespace ptx::kernels::product
