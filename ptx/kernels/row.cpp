#include "ptx/kernels/row.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace ptx::kernels {
namespace {

constexpr int warp_size = 32;

// 0 or -infinity, twice, as a word of two 16-bit elements.
std::uint32_t word_of(double outside, Type type) {
  if (outside == 0.0) return 0;
  return type == Type::bf16 ? 0xFF80FF80U : 0xFC00FC00U;
}

template <Type T, class Value>
std::vector<Reg<T>> fresh(Kernel& k, int count, const std::optional<Value>& value) {
  std::vector<Reg<T>> registers;
  for (int i = 0; i < count; ++i) registers.push_back(value ? k.scalar<T>(*value) : k.scalar<T>());
  return registers;
}

}  // namespace

KernelSpec spec_of(const Recipe& recipe) {
  const BoundaryOf tensors = boundary(recipe);
  const auto spec_of_tensor = [](const TensorOf& tensor) {
    return TensorSpec{.name = tensor.name, .shape = tensor.shape, .dtype = tensor.dtype};
  };
  KernelSpec spec{.name = name(recipe)};
  for (const TensorOf& tensor : tensors.inputs) spec.in_specs.push_back(spec_of_tensor(tensor));
  for (const TensorOf& tensor : tensors.outputs) spec.out_specs.push_back(spec_of_tensor(tensor));
  spec.raw_params = tensors.scalars;
  spec.input_output_aliases = tensors.aliases;
  spec.block = block(recipe);
  const int tile = recipe.threads * recipe.passes * recipe.vector;
  const bool stays = std::any_of(tensors.outputs.begin(), tensors.outputs.end(),
                                 [](const TensorOf& output) { return output.shape[0] == tile::Dim("P"); });
  if (recipe.operation == Operation::column_sums)
    spec.grid = Extent(ceil_div(dim("N"), column_lanes * recipe.vector), recipe.weight && recipe.bias ? 2 : 1);
  else if (stays)
    spec.grid = dim("P") / recipe.rows * recipe.cluster;
  else if (!is_elementwise(recipe))
    spec.grid = ceil_div(dim("M"), recipe.rows) * recipe.cluster;
  else if (is_flat(recipe))
    spec.grid = ceil_div(dim("M") * dim("N"), tile);
  else
    spec.grid = Extent(ceil_div(dim("N"), tile), min(dim("M"), most_rows_y), ceil_div(dim("M"), most_rows_y));
  spec.arch = needs_hopper(recipe) ? Target::sm_90 : recipe.e4m3 ? Target::sm_89 : Target::sm_80;
  spec.smem = shared_bytes(recipe);
  if (recipe.cluster > 1) spec.cluster = recipe.cluster;
  spec.raw_directives = {{"reqntid", {block(recipe), 1, 1}}};
  if (recipe.resident != 0) spec.raw_directives.push_back({"minnctapersm", {static_cast<std::uint32_t>(recipe.resident)}});
  return spec;
}

Rows::Rows(const Recipe& recipe, Kernel& kernel)
    : k(kernel),
      rows(k.param<Type::u32>("M")),
      columns(k.param<Type::u32>("N")),
      row(k.scalar<Type::u32>()),
      thread(k.from_<Type::u32>(special.tid.x())),
      first_row(row),
      inverse(k.scalar<Type::f32>()),
      recipe_(recipe) {}

Rows::Rows(Kernel& kernel, const Recipe& recipe) : Rows(recipe, kernel) {
  if (recipe.cluster > 1) {
    k.cluster.arrive();
    k << inst.mov.u32(row, special.clusterid.x());
    const auto rank = k.from_<Type::u32>(cluster_ctarank);
    k << inst.mad.lo.u32(thread, rank, recipe.threads, thread);
  } else {
    k << inst.mov.u32(row, special.ctaid.x());
  }
  if (recipe.rows > 1) {
    in_block_ = thread >> std::countr_zero(static_cast<unsigned>(recipe.threads));
    k << inst.and_.b32(thread, thread, recipe.threads - 1);
    first_row = row * recipe.rows;
    row = k.scalar<Type::u32>();
    begin_at(first_row);
  }
  // The last pass begins at element `first`; what is left of the row there decides.
  const int blocks_threads = recipe.threads * recipe.cluster;
  const auto element = k.scalar<Type::u32>();
  k << inst.mad.lo.u32(element, thread, recipe.vector, (recipe.passes - 1) * blocks_threads * recipe.vector);
  last_ = element < columns;
  k << inst.cvt.rn.f32.u32(inverse, columns);
  k << inst.rcp.approx.ftz.f32(inverse, inverse);
}

void Rows::begin_at(const Reg<Type::u32>& first) {
  if (!in_block_) {
    row = first;
    return;
  }
  k << inst.add.u32(row, first, *in_block_);
  exists_ = row < rows;
  both_.reset();
  k << inst.min.u32(row, row, rows - 1);  // lanes behind the last row reduce it once more, and store nothing
}

Rows::Rows(Kernel& kernel, const Recipe& recipe, Flat /*flat*/) : Rows(recipe, kernel) {
  const int shift = std::countr_zero(static_cast<unsigned>(recipe.vector));
  const auto vectors = k.scalar<Type::u32>();
  if (is_flat(recipe)) {
    k << inst.mov.u32(row, 0);
    const auto elements = k.let(inst.mul.wide.u32, rows, columns) >> shift;
    k << inst.cvt.u32.u64(vectors, elements);
  } else {
    const auto y = k.from_<Type::u32>(special.ctaid.y()), z = k.from_<Type::u32>(special.ctaid.z());
    k << inst.mad.lo.u32(row, z, most_rows_y, y);
    k << inst.ret().on(row >= rows);
    k << inst.shr.b32(vectors, columns, shift);
  }
  const auto tile = k.from_<Type::u32>(special.ctaid.x());
  k << inst.mad.lo.u32(thread, tile, recipe.threads * recipe.passes, thread);
  for (int i = 0; i < recipe.passes; ++i) each_.push_back((i == 0 ? thread : thread + i * recipe.threads) < vectors);
}

std::int64_t Rows::step() const {
  return std::int64_t{recipe_.threads} * recipe_.cluster * recipe_.vector * bytes_of(recipe_.dtype);
}

Reg<Type::b64> Rows::row_of(std::string_view tensor, const Reg<Type::u32>& stride, int bytes) {
  const auto [pointer] = k.global_ptrs(tensor);
  if (!is_flat(recipe_)) {
    const auto offset = k.let(inst.mul.wide.u32, row, stride);
    k << inst.mad.lo.u64(pointer, offset, bytes, pointer);
  }
  const auto here = k.let(inst.mul.wide.u32, thread, recipe_.vector * bytes);
  k << inst.add.s64(pointer, pointer, here);
  return pointer;
}
Reg<Type::b64> Rows::row_of(std::string_view tensor) {
  const int bytes = bytes_of(recipe_.dtype);
  const BoundaryOf tensors = boundary(recipe_);
  const bool is_output =
      std::any_of(tensors.outputs.begin(), tensors.outputs.end(), [&](const TensorOf& output) { return output.name == tensor; });
  if (!recipe_.strided || is_output) return row_of(tensor, columns, bytes);
  const std::string stride = cat(tensor, "_stride"), group_stride = cat(tensor, "_group_stride");
  const auto of_group = k.param<Type::u32>("group_rows");
  const auto group = row / of_group;
  const auto offset = k.let(inst.mul.wide.u32, group, k.param<Type::u32>(group_stride));
  k << inst.mad.wide.u32(offset, row - group * of_group, k.param<Type::u32>(stride), offset);
  const auto [pointer] = k.global_ptrs(tensor);
  k << inst.mad.lo.u64(pointer, offset, bytes, pointer);
  k << inst.add.s64(pointer, pointer, k.let(inst.mul.wide.u32, thread, recipe_.vector * bytes));
  return pointer;
}
std::pair<Reg<Type::b64>, Reg<Type::b64>> Rows::pair_of(std::string_view packed, std::string_view first,
                                                        std::string_view second) {
  if (!recipe_.packed) return {row_of(first), row_of(second)};
  const int bytes = bytes_of(recipe_.dtype);
  const auto one = row_of(packed, columns * 2, bytes);
  const auto other = k.from_<Type::b64>(one);
  k << inst.add.s64(other, other, k.let(inst.mul.wide.u32, columns, bytes));
  return {one, other};
}
Reg<Type::b64> Rows::vector_of(std::string_view tensor) {
  const auto [pointer] = k.global_ptrs(tensor);
  const auto here = k.let(inst.mul.wide.u32, thread, recipe_.vector * bytes_of(recipe_.dtype));
  k << inst.add.s64(pointer, pointer, here);
  return pointer;
}
Reg<Type::b64> Rows::number_of(std::string_view tensor, int bytes) {
  const auto [pointer] = k.global_ptrs(tensor);
  const auto here = k.let(inst.mul.wide.u32, row, bytes);
  k << inst.add.s64(pointer, pointer, here);
  return pointer;
}

Piece Rows::load(const Reg<Type::b64>& pointer, int i, double outside) {
  if (recipe_.hold && !hold_) hold_ = k.let<Type::b64>(inst.createpolicy.fractional.L2__evict_last.b64, 1.0);
  return load_with(pointer, i, outside, hold_);
}

// `.nc`: nobody writes the inputs while the kernel runs; but where a result lies in an input's place.
Piece Rows::load_with(const Reg<Type::b64>& pointer, int i, double outside, const Policy& policy) {
  if (recipe_.in_place) return load_by(inst.ld.global_, pointer, i, outside, policy);
  return load_by(inst.ld.global_.nc, pointer, i, outside, policy);
}

Piece Rows::piece_of(int i, double outside) {
  Piece piece;
  const bool is_whole = !inside(i);
  const std::uint32_t word = word_of(outside, recipe_.dtype);
  if (recipe_.dtype == Type::f32)
    piece.floats = fresh<Type::f32>(k, recipe_.vector, is_whole ? std::nullopt : std::optional(outside));
  else if (recipe_.vector == 1)
    piece.half = is_whole ? k.scalar<Type::b16>() : k.scalar<Type::b16>(word & 0xFFFFU);
  else
    piece.words = fresh<Type::b32>(k, recipe_.vector / 2, is_whole ? std::nullopt : std::optional(word));
  return piece;
}

template <class Load, Type Base, class... More>
void Rows::fill(const Load& ld, Piece& piece, const Addr<Base>& address, const Predicate& guard, const More&... more) {
  const auto write = [&](Inst instruction) { k << guarded(std::move(instruction), guard); };
  const auto& v = piece.floats;
  const auto& w = piece.words;
  if (v.size() == 4)
    write(ld.v4.f32(vec(v[0], v[1], v[2], v[3]), address, more...));
  else if (v.size() == 2)
    write(ld.v2.f32(vec(v[0], v[1]), address, more...));
  else if (v.size() == 1)
    write(ld.f32(v[0], address, more...));
  else if (piece.half)
    write(ld.b16(*piece.half, address, more...));
  else if (w.size() == 4)
    write(ld.v4.b32(vec(w[0], w[1], w[2], w[3]), address, more...));
  else if (w.size() == 2)
    write(ld.v2.b32(vec(w[0], w[1]), address, more...));
  else
    write(ld.b32(w[0], address, more...));
}

template <class Load>
Piece Rows::load_by(const Load& ld, const Reg<Type::b64>& pointer, int i, double outside, const Policy& policy) {
  const auto address = addr(pointer, i * step());
  Piece piece = piece_of(i, outside);
  if (policy)
    fill(ld.L2__cache_hint, piece, address, inside(i), *policy);
  else
    fill(ld, piece, address, inside(i));
  return piece;
}

Piece Rows::load_staged(const Reg<Type::u32>& place, std::int64_t offset, int i) {
  Piece piece = piece_of(i, 0.0);
  fill(inst.ld.shared, piece, addr(place, offset + i * step()), inside(i));
  return piece;
}

Piece Rows::load_again(const Reg<Type::b64>& pointer, int i) { return load_by(inst.ld.global_, pointer, i, 0.0, {}); }

std::vector<Piece> Rows::load_all_shared(const Reg<Type::b64>& pointer) {
  std::vector<Piece> all;
  for (int i = 0; i < recipe_.passes; ++i) all.push_back(load_shared(pointer, i));
  return all;
}

std::vector<Piece> Rows::load_all(const Reg<Type::b64>& pointer, double outside) {
  std::vector<Piece> all;
  for (int i = 0; i < recipe_.passes; ++i) all.push_back(load(pointer, i, outside));
  return all;
}

Reg<Type::f32> Rows::number_at(const Reg<Type::b64>& address, const Reg<Type::pred>& guard) {
  if (recipe_.dtype == Type::f32) {
    const auto value = k.scalar<Type::f32>(std::numeric_limits<double>::quiet_NaN());
    k << inst.ld.global_.f32(value, addr(address)).on(guard);
    return value;
  }
  Piece piece;
  piece.half = k.scalar<Type::b16>(0x7FFF);  // a NaN of either type
  k << inst.ld.global_.b16(*piece.half, addr(address)).on(guard);
  return floats(piece)[0];
}

Values Rows::floats(const Piece& piece) {
  if (!piece.floats.empty()) return piece.floats;
  Values values;
  if (piece.half) {
    if (recipe_.dtype == Type::f16) return {k.let(inst.cvt.f32.f16, *piece.half)};
    const auto wide = k.let(inst.cvt.u32.u16, *piece.half);
    auto value = k.scalar<Type::f32>();
    k << inst.shl.b32(wide, wide, 16);
    k << inst.mov.b32(value, wide);
    return {value};
  }
  for (const auto& word : piece.words) {
    if (recipe_.dtype == Type::bf16) {  // each is the upper half of the f32 with the same value
      auto low = k.scalar<Type::f32>(), high = k.scalar<Type::f32>();
      k << inst.shl.b32(low, word, 16);
      k << inst.and_.b32(high, word, 0xFFFF0000);
      values.insert(values.end(), {low, high});
    } else {
      auto low = k.scalar<Type::b16>(), high = k.scalar<Type::b16>();
      k << inst.mov.b32(vec(low, high), word);
      values.push_back(k.let(inst.cvt.f32.f16, low));
      values.push_back(k.let(inst.cvt.f32.f16, high));
    }
  }
  return values;
}

Piece Rows::rounded(const Values& v) {
  Piece piece;
  if (recipe_.dtype == Type::f32) {
    piece.floats = v;
  } else if (recipe_.vector == 1) {
    auto half = k.scalar<Type::b16>();
    if (recipe_.dtype == Type::bf16)
      k << inst.cvt.rn.bf16.f32(half, v[0]);
    else
      k << inst.cvt.rn.f16.f32(half, v[0]);
    piece.half = half;
  } else {
    for (std::size_t i = 0; i < v.size(); i += 2) {
      auto word = k.scalar<Type::b32>();
      if (recipe_.dtype == Type::bf16)
        k << inst.cvt.rn.bf16x2.f32(word, v[i + 1], v[i]);  // the first goes to the upper half
      else
        k << inst.cvt.rn.f16x2.f32(word, v[i + 1], v[i]);
      piece.words.push_back(word);
    }
  }
  return piece;
}

Reg<Type::b64> Rows::partial_of(std::string_view tensor) {
  const auto [pointer] = k.global_ptrs(tensor);
  const auto group = recipe_.cluster > 1 ? k.from_<Type::u32>(special.clusterid.x()) : k.from_<Type::u32>(special.ctaid.x());
  if (in_block_) k << inst.mad.lo.u32(group, group, recipe_.rows, *in_block_);
  const auto offset = k.let(inst.mul.wide.u32, group, columns), here = k.let(inst.mul.wide.u32, thread, recipe_.vector);
  k << inst.add.s64(offset, offset, here);
  k << inst.mad.lo.u64(pointer, offset, 4, pointer);
  return pointer;
}

void Rows::store_floats(const Reg<Type::b64>& pointer, int i, const Values& v) {
  const std::int64_t begin = step() / bytes_of(recipe_.dtype) * 4 * i;
  const Predicate& guard = inside(i);
  for (std::size_t j = 0; j < v.size(); j += 4) {
    const auto address = addr(pointer, begin + static_cast<std::int64_t>(j) * 4);
    if (v.size() >= 4)
      k << guarded(inst.st.global_.v4.f32(address, vec(v[j], v[j + 1], v[j + 2], v[j + 3])), guard);
    else if (v.size() == 2)
      k << guarded(inst.st.global_.v2.f32(address, vec(v[0], v[1])), guard);
    else
      k << guarded(inst.st.global_.f32(address, v[0]), guard);
  }
}

void Rows::add_floats(const Reg<Type::b64>& pointer, int i, const Values& values) {
  const std::int64_t begin = step() / bytes_of(recipe_.dtype) * 4 * i;
  const Predicate& guard = inside(i);
  Values sums;
  for (std::size_t j = 0; j < values.size(); ++j) {
    const auto sum = k.scalar<Type::f32>(0.0);
    k << guarded(inst.ld.global_.f32(sum, addr(pointer, begin + static_cast<std::int64_t>(j) * 4)), guard);
    k << inst.add.f32(sum, sum, values[j]);
    sums.push_back(sum);
  }
  store_floats(pointer, i, sums);
}

Predicate Rows::both(int i) {
  const Predicate& there = inside(i);
  if (!exists_ || !there) return exists_ ? exists_ : there;
  if (!both_) both_ = *exists_ & *there;
  return both_;
}

void Rows::store(const Reg<Type::b64>& pointer, int i, const Values& values) { store(pointer, i, rounded(values)); }

void Rows::store(const Reg<Type::b64>& pointer, int i, const Piece& piece) {
  const auto address = addr(pointer, i * step());
  const Predicate guard = both(i);
  const auto write = [&](Inst instruction) { k << guarded(std::move(instruction), guard); };
  const auto& st = inst.st.global_;
  const Values& v = piece.floats;
  const auto& w = piece.words;
  if (v.size() == 4)
    write(st.v4.f32(address, vec(v[0], v[1], v[2], v[3])));
  else if (v.size() == 2)
    write(st.v2.f32(address, vec(v[0], v[1])));
  else if (v.size() == 1)
    write(st.f32(address, v[0]));
  else if (piece.half)
    write(st.b16(address, *piece.half));
  else if (w.size() == 4)
    write(st.v4.b32(address, vec(w[0], w[1], w[2], w[3])));
  else if (w.size() == 2)
    write(st.v2.b32(address, vec(w[0], w[1])));
  else
    write(st.b32(address, w[0]));
}

void Rows::store_e4m3(const Reg<Type::b64>& pointer, int i, const Values& v) {
  const auto address = addr(pointer, i * step() / bytes_of(recipe_.dtype));
  const Predicate guard = both(i);
  std::vector<Reg<Type::b16>> pairs;
  for (std::size_t j = 0; j < v.size(); j += 2) {
    const auto pair = k.scalar<Type::b16>();
    const auto upper = j + 1 < v.size() ? v[j + 1] : k.scalar<Type::f32>(0.0);
    k << inst.cvt.rn.satfinite.e4m3x2.f32(pair, upper, v[j]);  // the first goes to the upper half
    pairs.push_back(pair);
  }
  std::vector<Reg<Type::b32>> words;
  for (std::size_t j = 0; j + 1 < pairs.size(); j += 2) {
    const auto word = k.scalar<Type::b32>();
    k << inst.mov.b32(word, vec(pairs[j], pairs[j + 1]));
    words.push_back(word);
  }
  const auto& st = inst.st.global_;
  if (words.size() == 2)
    k << guarded(st.v2.b32(address, vec(words[0], words[1])), guard);
  else if (words.size() == 1)
    k << guarded(st.b32(address, words[0]), guard);
  else if (v.size() == 2)
    k << guarded(st.b16(address, pairs[0]), guard);
  else
    k << guarded(st.b8(address, pairs[0]), guard);
}

Reg<Type::pred> Rows::is_first() {
  auto first = thread == 0;
  return exists_ ? first & *exists_ : first;
}

Values Rows::reduce(Values values, const Combine& combine) {
  values = combine(values, std::min(recipe_.threads, warp_size));
  if (recipe_.threads > warp_size) values = across_warps(values, combine);
  if (recipe_.cluster > 1) values = across_blocks(values, combine);
  return values;
}

//   warp 0   lanes → one value ─┐                         ┌→ every warp reduces them once more
//   warp 1   lanes → one value ─┼→ partial[warp] │ barrier ┤
// Shared memory that is used once needs no second barrier.
Values Rows::across_warps(const Values& values, const Combine& combine) {
  const int warps = recipe_.threads / warp_size;
  const auto count = static_cast<std::int64_t>(values.size());
  const auto partial = k.smem.alloc<Type::f32>({turn_ ? 2 * count : count, std::int64_t{warps}});
  const auto tid = k.from_<Type::u32>(special.tid.x());
  const auto first = k.smem.base(partial);
  const auto here = first + ((tid >> 5) << 2);
  const auto once_more = k.smem.base(partial);
  const auto all_of = once_more + ((tid & (warps - 1)) << 2);
  if (turn_) {
    const auto offset = *turn_ * (count * warps * 4);
    k << inst.add.u32(here, here, offset) << inst.add.u32(all_of, all_of, offset);
  }
  k.if_((tid & (warp_size - 1)) == 0, [&] {
    for (std::int64_t i = 0; i < count; ++i)
      k << inst.st.shared.f32(addr(here, i * warps * 4), values[static_cast<std::size_t>(i)]);
  });
  k.bar.sync(0);
  Values all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(k.let(inst.ld.shared.f32, addr(all_of, i * warps * 4)));
  return combine(all, warps);
}

// Thread b of each block writes the block's values into block b's memory; the cluster's barrier makes them known there.
Values Rows::across_blocks(const Values& values, const Combine& combine) {
  const int blocks = recipe_.cluster;
  const auto count = static_cast<std::int64_t>(values.size());
  const auto partial = k.smem.alloc<Type::f32>({turn_ ? 2 * count : count, std::int64_t{blocks}});
  const auto tid = k.from_<Type::u32>(special.tid.x()), rank = k.from_<Type::u32>(cluster_ctarank);
  const auto here = k.address_of<Type::u32>(partial.name()) + (rank << 2);
  const auto all_of = k.address_of<Type::u32>(partial.name()) + ((tid & (blocks - 1)) << 2);
  if (turn_) {
    const auto offset = *turn_ * (count * blocks * 4);
    k << inst.add.u32(here, here, offset) << inst.add.u32(all_of, all_of, offset);
  }
  await_cluster();
  k.if_(tid < blocks, [&] {
    const auto there = k.let(inst.mapa.shared__cluster.u32, here, tid);
    for (std::int64_t i = 0; i < count; ++i)
      k << inst.st.shared__cluster.f32(addr(there, i * blocks * 4), values[static_cast<std::size_t>(i)]);
  });
  k.cluster.sync();
  Values all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(k.let(inst.ld.shared.f32, addr(all_of, i * blocks * 4)));
  return combine(all, blocks);
}

void Rows::await_cluster() {
  if (recipe_.cluster > 1 && !cluster_waited_) k.cluster.wait();  // all blocks have begun
  cluster_waited_ = true;
}

namespace {
Values summed(Kernel& k, const Values& values, int lanes) {
  Values sums;
  for (const auto& value : values) {
    auto sum = k.from_<Type::f32>(value);
    if (lanes > 1) warp::reduce_sum(sum, lanes);
    sums.push_back(sum);
  }
  return sums;
}
}  // namespace

Values Rows::sums(const Values& values) {
  return reduce(values, [this](const Values& all, int lanes) { return summed(k, all, lanes); });
}
Reg<Type::f32> Rows::sum(const Reg<Type::f32>& value) { return sums({value})[0]; }

Reg<Type::f32> exponential(Kernel& k, const Reg<Type::f32>& x) {
  const auto scaled = k.let(inst.mul.f32, x, 1.4426950408889634);
  return k.let(inst.ex2.approx.ftz.f32, scaled);
}

Values combine_softmax(Kernel& k, const Values& values, int lanes) {
  if (lanes < 2) return values;
  auto largest = k.from_<Type::f32>(values[0]);
  warp::reduce_max(largest, lanes);
  const auto scale = exponential(k, k.let(inst.sub.f32, values[0], largest));
  const auto total = k.let(inst.mul.f32, values[1], scale);
  warp::reduce_sum(total, lanes);
  return {largest, total};
}

// Numbers are computed twice, and not kept.
void store_scaled(Rows& rows, const Recipe& recipe, const std::function<Values(int)>& numbers) {
  Kernel& k = rows.k;
  const auto factor = k.scalar<Type::f32>();
  if (recipe.given) {
    const auto [scale] = k.global_ptrs("SCALE");
    k << inst.ld.global_.nc.f32(factor, addr(scale)) << inst.rcp.rn.f32(factor, factor);
  } else {
    constexpr double largest_e4m3 = 448, least = 1e-30;
    const auto largest = k.scalar<Type::f32>(least);
    for (int i = 0; i < rows.passes(); ++i)
      for (const auto& value : numbers(i))
        k << guarded(inst.max.f32(largest, largest, k.let(inst.abs.f32, value)), rows.inside(i));
    const Values reduced = rows.reduce({largest}, [&](const Values& all, int lanes) {
      auto most = k.from_<Type::f32>(all[0]);
      if (lanes > 1) warp::reduce_max(most, lanes);
      return Values{most};
    });
    const auto scale = k.let(inst.mul.f32, reduced[0], 1 / largest_e4m3);
    k << inst.rcp.approx.ftz.f32(factor, scale);
    const auto first = rows.is_first();
    k << inst.st.global_.f32(addr(rows.number_of("SCALE", 4)), scale).on(first);
  }
  const auto y = rows.row_of("Y", rows.columns, 1);
  for (int i = 0; i < rows.passes(); ++i) {
    Values out;
    for (const auto& value : numbers(i)) out.push_back(k.let(inst.mul.f32, value, factor));
    rows.store_e4m3(y, i, out);
  }
}

}  // namespace ptx::kernels
