// The matrix product of Hopper: TMA fills a ring of stages, warpgroups multiply them (wgmma), sums stay in registers.
//
//     a block = warpgroup 0, of which one thread starts the copies, and 1 to 3 warpgroups that multiply, 64 rows each
//
//     global ──TMA──► stage 0 ┐                          ┌► epilogue ─► shared ─TMA─► C   (boxes)
//                     stage 1 │ full[s]: copied, go on   │            └───────────────► C   (pairs, singles)
//                     stage 2 ├───────────────► wgmma ───┤
//                     stage 3 ┘ ◄─────────────── empty[s]: read, may be overwritten
//
// A cluster takes tile after tile ("persistent"): the copies of the next tile go on while this one is stored. What blocks of a
// cluster share is copied once, a part by each block, to all of them: a stage is empty when all blocks that it is copied to have
// read it. With `splits` a cluster has one tile, and each block a part of K:
//
//     block 0   sums of k in part 0 ─┐ in its shared memory,     ┌► adds up columns of part 0 ─► epilogue
//     block 1   sums of k in part 1 ─┴ a barrier of the cluster ─┴► adds up columns of part 1 ─► epilogue
//
// always in the same order: results do not depend on who comes first.
//
// Sums of 8-bit elements, which wgmma keeps with about 14 bits, are promoted: those of 128 along K are added up in f32, times
// their scales where blocks have them, by one warpgroup while the other multiplies. Of 256 columns 128 after another: a stage of
// 128 x 256 takes a third less from the L2 cache for each product than one of 128 x 128, and there are registers for one set and
// a half. Measured on an H200, 4096 x 7168 x 16384, torch's time 851 us: tiles of 128 x 128 900 to 905 us (bound by the copies),
// 192 x 128 829 to 846, 128 x 256 814, with a neighbour that shares a factor 800. What changed nothing there, nor for 16-bit
// elements (within 1 %): to let one of the warpgroups begin two steps later, so that it stores while the other multiplies; bands
// of 4 to 32 tiles.
//
// With `pingpong` each of two warpgroups has every second tile of the block, and all of the ring while it multiplies:
//
//     warpgroup 1   multiply tile 0 ─┐ store 0 ............ multiply tile 2 ─┐ store 2
//     warpgroup 2                turn └► multiply tile 1 ─┐ store 1 ....  turn └► multiply tile 3
//                                                    turn └►
//
// So the tensor cores go on while a tile is stored. Who comes too early would take a stage's barrier, two phases behind, for one
// phase ahead (the executor told of that race), so the turn is handed on by a barrier of its own when the last products have
// begun. Measured on an H200, of torch's time, the best recipe without it and with it. In bursts, rested: 6144^3 0.991 and 0.996,
// 8192^3 1.020 and 1.029, 4096 x 14336 x 4096 0.995 and 1.015, 4608 x 12288 x 3072 with bias and GELU 1.097 and 1.167, e4m3
// 4096^3 1.018 and 1.040, 8192^3 1.017 and 1.044. In seconds without a rest, where power bounds it: 4096^3 0.999 and 1.034,
// 6144^3 0.999 and 1.048, 8192^3 1.042 and 1.058, 4096 x 14336 x 4096 0.990 and 1.043, bias and GELU 1.10 and 1.23, e4m3
// 4096^3 1.02 and 1.07. Where K is so long that storing is nothing (4096 x 4096 x 128256), wider tiles of both warpgroups are 2 %
// faster.
//
// Narrow tiles of blocks that share B need least power: 128 x 112, two below one another. In the same two ways, 4096^3 1.032
// and 1.036 of torch's time where 128 x 256 has 1.000 and 0.965, 6144^3 1.041 and 1.033 (128 x 192: 1.020 and 1.003).
//
// Scales of blocks of A are copied into the stage with the factors where they lie so that a copy can take them. Loaded by the
// threads that promote, a step ahead, they were waited for: e4m3 64 x 7168 x 2048 9.85 us and 8.01 with copies, 512 x 7168 x
// 2048 18.6 and 16.4. What bounds large ones is power: 4096 x 7168 x 16384 takes 696 us rested and 839 in a race, torch 741 and
// 850.
//
// A short K with rows that begin inside of lines of the L2 cache, 4096 x 1032 x 520, stays behind (0.91 to 0.92): 13.8 us for
// tiles of 192 x 192, 14.4 to 25 for sixty others, cuBLAS 12.7. By K, 192 x 192 takes 7.0 us for one step, and 0.71 for each
// more, which is what its wgmmas take (1,152 clocks at 1.62 GHz): 64 7.0, 256 9.6, 512 12.25, 576 12.95, 1,024 17.7;
// cuBLAS 8.25, 9.3, 11.7, 12.4, 16.7, 0.63 a step: its tiles are 192 x 176 on as many blocks, which have 8 % fewer products.
// Those are slower here (15.2), because 176 columns leave in boxes of 16, and rows of C that begin 16 bytes into a sector have
// each of these in two. Then rows of A and B: of K 512 two tiles of 128 x 144 that take turns are the fastest of all (11.6), of
// 520 they take 18: a row of a copy that touches two lines takes 4.1 clocks and not 2, whether a neighbour fetches it or the
// block itself. Tried without gain (1 % or less either way, on this and ten other shapes): descriptors prefetched
// (`prefetch.tensormap`), a box for each 64 columns of a tile so that no copy is waited for, of the last step only the wgmmas
// along K that have something to multiply, tiles of 256 rows, other L2 promotions. Measured, and not taken up
// yet (us, torch 12.2 to 12.5 in these runs, 192 x 192 13.4 to 13.6): 192 x 176 that leave in two boxes of 88 columns, which a
// tile waits for, so that four stages fit, 13.0 to 13.3; of the last step along K only the wgmmas that have something to
// multiply, too, 12.8; blocks that begin to copy before the others of their cluster are there, too, 12.6. With A in rows of 1,152
// bytes, which begin with a line, the second is 11.8 (1.03 of torch): rows that begin inside of lines are all that is left. Next:
// these three, if no other shape loses; A by `cp.async`, which does not mind lines, while B comes by TMA. 64 x 4096 x 4096
// (1.00): 64 blocks have as many bytes of activations from the L2 cache as of weights from memory; 128 with half of K each take
// the same time.
//
// Sums of groups along K (the gradient of a grouped product's factor), blocks that share a factor, on an H200: 8 groups of 2,048
// rows on average, 4096 x 14336 4,334 us alone, 4,175 with a neighbour below, torch 4,415; 128 of 512, 2048 x 1536 776, 776, 894;
// 8 of 1,024, 2048 x 2048 99.4, 99.7, 111.6; 64 of 256, 4096 x 2048 660, 662, 756.
//
// A group of wgmmas is under way while the next is begun; the stage before is given back then. M, N and K are parameters: copies
// fill what lies outside with zeros, stores leave it alone.
#include <algorithm>

#include "ptx/kernels/product_writer.hpp"

namespace ptx::kernels::product {
namespace {

/// Tiles that lie below one another and are worked on together, so that A and B stay in the L2 cache.
constexpr int band_tiles = 8;

/// Whether the warp that loads keeps the fewest registers: one that looks for a tile's group would spill.
bool gives_most(const Recipe& r) { return r.pingpong && !r.grouped && !r.ragged; }

KernelSpec spec_of(const Recipe& recipe) {
  BoundaryOf tensors = boundary(recipe);
  const auto threads = block(recipe);
  const int blocks = cluster(recipe);
  KernelSpec spec{.name = name(recipe),
                  .in_specs = std::move(tensors.inputs),
                  .out_specs = std::move(tensors.outputs),
                  .raw_params = std::move(tensors.scalars),
                  .input_output_aliases = std::move(tensors.aliases),
                  .inputs_apart = std::move(tensors.inputs_apart)};
  const int tile_rows = recipe.rows * recipe.down, tile_columns = results(recipe) * recipe.across;
  auto tiles = ceil_div(dim(recipe.swapped ? "N" : "M"), tile_rows) * ceil_div(dim(recipe.swapped ? "M" : "N"), tile_columns);
  if (recipe.batched || recipe.ragged) tiles = tiles * dim("G");
  if (recipe.grouped) {  // each group has a last tile that may be short
    const auto others = ceil_div(dim("N"), recipe.swapped ? tile_rows : tile_columns);
    tiles = (ceil_div(dim("M"), recipe.swapped ? tile_columns : tile_rows) + dim("G")) * others;
  }
  spec.grid = (recipe.splits > 1 ? tiles : min(tiles, clusters_at_once(blocks))) * blocks;
  spec.block = threads;
  if (blocks > 1) spec.cluster = blocks;
  spec.smem = static_cast<std::uint32_t>(shared_bytes(recipe));
  spec.extern_smem = "smem";
  spec.arch = Target::sm_90a;
  spec.tma_by_value = true;
  // One block a multiprocessor, said aloud: else ptxas drops `setmaxnreg`.
  spec.raw_directives = {{"maxntid", {threads, 1, 1}}, {"minnctapersm", {1}}};
  if (blocks > 1) {
    spec.raw_directives.push_back({"explicitcluster", {}});
    spec.raw_directives.push_back({"reqnctapercluster", {static_cast<std::uint32_t>(blocks), 1, 1}});
  }
  return spec;
}

/// Of a matrix whose rows lie apart: its memory is that between its first element and its last, and where copies are made of it
/// their descriptor says how its rows lie.
Expected<void> lay_apart(KernelSpec& spec, TensorSpec& tensor, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride) {
  const auto number = [](std::uint64_t size) { return tile::Dim(static_cast<std::int64_t>(size)); };
  if (!tensor.tma_box.empty()) {
    const std::uint64_t whole = (columns + 7) / 8 * 8;  // rows without gaps would have to be a multiple of 16 bytes
    const auto tile = Tile::make({number(rows), number(whole)}, tensor.dtype, tensor.layout, tensor.tma_box, tensor.tma_rank);
    if (!tile) return Unexpected{tile.error()};
    auto map = tile::tensor_map(*tile, {});
    if (!map) return Unexpected{std::move(map).error()};
    map->sizes[0] = columns;
    map->strides[0] = stride * static_cast<std::uint64_t>(bytes_of(tensor.dtype));
    if (auto done = map->check(); !done) return done;
    spec.tensor_maps.push_back({.tensor = tensor.name, .map = *map});
  }
  tensor = {.name = tensor.name, .shape = {number((rows - 1) * stride + columns)}, .dtype = tensor.dtype};
  return {};
}

Expected<KernelSpec> spec_of(const Recipe& recipe, const Fixed& of) {
  KernelSpec spec = spec_of(recipe);
  const auto blocks = grid(recipe, of.m, of.n, 1, of.processors);
  if (!blocks) return Unexpected{blocks.error()};
  spec.grid = (*blocks)[0];
  const auto lay = [&](TensorSpec& tensor) -> Expected<void> {
    if (tensor.name == "A")
      return recipe.a_transposed ? lay_apart(spec, tensor, of.k, of.m, of.a_stride)
                                 : lay_apart(spec, tensor, of.m, of.k, of.a_stride);
    if (tensor.name == "B")
      return recipe.b_transposed ? lay_apart(spec, tensor, of.n, of.k, of.b_stride)
                                 : lay_apart(spec, tensor, of.k, of.n, of.b_stride);
    if (tensor.name == "C") return lay_apart(spec, tensor, of.m, of.n, of.c_stride);
    if (tensor.name == "R") return lay_apart(spec, tensor, of.m, of.n, of.residual_stride);
    return {};
  };
  for (auto* tensors : {&spec.in_specs, &spec.out_specs})
    for (TensorSpec& tensor : *tensors)
      if (auto done = lay(tensor); !done) return Unexpected{done.error()};
  return spec;
}

}  // namespace

Writer::Writer(const Recipe& recipe, KernelSpec spec) : r(recipe), g(recipe), k(std::move(spec)) {}

void Writer::begin() {
  m_ = k.param<Type::u32>("M"), n_ = k.param<Type::u32>("N"), k_ = k.param<Type::u32>("K");
  left_ = r.swapped ? *n_ : *m_, right_ = r.swapped ? *m_ : *n_;
  tid_ = k.from_<Type::u32>(special.tid.x());
  lane_ = *tid_ & 31;
  // By way of a shuffle: ptxas then knows that the whole warp has one value, and keeps what follows from it in uniform registers.
  warpgroup_ = k.scalar<Type::u32>();
  k << inst.shfl.sync.idx.b32(*warpgroup_, *tid_ >> 7, 0, 31, -1);
  const bool alone = cluster(r) == 1;
  tile_ = k.from_<Type::u32>(alone ? special.ctaid.x() : special.clusterid.x());
  clusters_ = k.from_<Type::u32>(alone ? special.nctaid.x() : special.nclusterid.x());
  rank_ = alone ? k.scalar<Type::u32>(0) : k.from_<Type::u32>(cluster_ctarank);
  if (r.down * r.across > 1) {
    rank_down_ = r.across == 1 ? *rank_ : *rank_ & (r.down - 1);
    rank_across_ = r.down == 1 ? *rank_ : *rank_ / r.down;
    // Lane i tells block i of those whose stages this block's copies fill: the column's, then the rest of the row's.
    peer_ = k.from_<Type::u32>(*lane_);
    if (r.down > 1 && r.across > 1) {
      k << inst.mad.lo.u32(*peer_, *rank_across_, r.down, *lane_);
      auto beside = *lane_ - r.down;
      k << inst.add.u32(beside, beside, 1).on(beside >= *rank_across_);
      k << inst.mad.lo.u32(*peer_, beside, r.down, *rank_down_).on(*lane_ >= r.down);
    }
  }
  is_peer_ = *lane_ < (r.down + r.across - 1);

  const auto up = [&](const U32& size, int tile) { return (size + (tile - 1)) / tile; };
  tiles_left_ = up(*left_, r.rows * r.down);
  const auto tiles_right = up(*right_, results(r) * r.across);
  per_matrix_ = *tiles_left_ * tiles_right;
  tiles_ = *per_matrix_;
  if (r.batched || r.ragged) {
    tiles_ = k.scalar<Type::u32>();
    k << inst.mul.lo.u32(*tiles_, *per_matrix_, k.param<Type::u32>("G"));
  }
  band_area_ = tiles_right * band_tiles;
  const int step = step_k(r.dtype);
  const auto steps = (*k_ + (step - 1)) / step;
  first_step_ = k.scalar<Type::u32>(0);
  end_step_ = steps;
  if (r.ragged) end_step_ = k.scalar<Type::u32>(), group_begin_ = k.scalar<Type::u32>(), group_end_ = k.scalar<Type::u32>();
  if (r.splits > 1) {
    const auto part = steps * *rank_;
    first_step_ = part / r.splits;
    end_step_ = (part + steps) / r.splits;
  }
}

void Writer::begin_group(const U32& group) {
  const auto [ends] = k.global_ptrs("offsets");
  k << inst.mad.wide.u32(ends, group, 4, ends);
  k << inst.mov.u32(*group_begin_, 0);
  k << inst.ld.global_.nc.u32(*group_end_, addr(ends));
  k << inst.ld.global_.nc.u32(*group_begin_, addr(ends, -4)).on(group > 0);
  // Ends that descend, or lie behind the last row, make a group empty or short, and nothing worse.
  k << inst.min.u32(*group_end_, *group_end_, *k_) << inst.min.u32(*group_begin_, *group_begin_, *group_end_);
  const int step = step_k(r.dtype);
  k << inst.max.u32(*end_step_, (*group_end_ - *group_begin_ + (step - 1)) / step, 1);
}

// The tiles of a band go down, then right.
Writer::Corner Writer::corner(const U32& tile) {
  if (r.grouped) {
    const int height = r.swapped ? r.columns : r.rows * r.down;
    const auto tiles = (groups_->end - groups_->begin + (height - 1)) / height;
    const auto other = groups_->inside / tiles;
    auto first = (groups_->inside - other * tiles) * height + groups_->begin;
    auto second = other * (r.swapped ? r.rows : results(r) * r.across);
    if (r.down > 1) first = first + *rank_down_ * r.rows;  // which may lie behind the group: nothing is stored then
    if (r.across > 1) second = second + *rank_across_ * results(r);
    return {r.swapped ? second : first, r.swapped ? first : second, groups_->group};
  }
  auto here = k.from_<Type::u32>(tile);
  std::optional<U32> matrix;
  if (r.batched || r.ragged) {
    matrix = here / *per_matrix_;
    here = here - *matrix * *per_matrix_;
  }
  if (r.ragged) begin_group(*matrix);
  const auto band = here / *band_area_;
  const auto above = band * band_tiles;
  const auto height = k.let(inst.min.u32, *tiles_left_ - above, band_tiles);
  const auto inside = here - band * *band_area_;
  const auto right = inside / height;
  const auto down = inside - right * height + above;
  auto row = down * (r.rows * r.down), column = right * (results(r) * r.across);
  if (r.down > 1) row = row + *rank_down_ * r.rows;
  if (r.across > 1) column = column + *rank_across_ * results(r);
  return {row, column, matrix};
}

void Writer::each_tile(const char* label, const std::function<void()>& body, bool in_turns) {
  if (r.splits > 1) return body();
  std::optional<U32> stride;
  if (in_turns) stride = *clusters_ << 1;
  const auto next = [&] { k << inst.add.u32(*tile_, *tile_, stride ? *stride : *clusters_); };
  const auto all = [&] {
    k.loop(label, [&] {
      body();
      next();
      return *tile_ < *tiles_;
    });
  };
  if (!r.grouped) {
    if (in_turns)
      k.if_(*tile_ < *tiles_, all);  // the second warpgroup may have none
    else
      all();
    return;
  }
  groups_.emplace(k, r, Groups::Of{*lane_, *m_, *n_});
  k.if_(groups_->find(cat(label, "_first"), *tile_), [&] {
    k.loop(label, [&] {
      body();
      next();
      return groups_->find(cat(label, "_group"), *tile_);
    });
  });
}

void Writer::load(const Factor& factor, const char* tensor, int at, const U32& stage, const U32& first, const U32& along_k,
                  const Corner& corner, const BarrierSlot& copied) {
  const bool is_left = &factor == &g.left;
  auto place = stage * factor.bytes;
  auto from_row = factor.k_major ? first : along_k;
  if (factor.parts > 1) {
    const U32& part = is_left ? *rank_across_ : *rank_down_;
    place = place + part * factor.part_bytes();
    from_row = from_row + part * factor.box_rows;
  }
  std::optional<write::Source> mask;
  if (factor.parts > 1) {
    // Left: the blocks of this row, every `down`-th one; right: those of this column.
    std::uint32_t bits = 0;
    for (int i = 0; i < factor.parts; ++i) bits |= 1U << (is_left ? i * r.down : i);
    if (r.down > 1 && r.across > 1) {
      const auto shifted = k.scalar<Type::u32>(bits);
      k << inst.shl.b32(shifted, shifted, is_left ? *rank_down_ : *rank_across_ * r.down);
      const auto narrow = k.scalar<Type::u16>();
      k << inst.cvt.u16.u32(narrow, shifted);
      mask = narrow;
    } else {
      mask = bits;
    }
  }
  const auto base = k.smem.base();
  const int each = factor.copies / factor.halves;  // copies
  const int pitch = factor.k_major ? factor.extent / factor.halves * slab * 2 : slab * slab * 2;
  for (int i = 0; i < factor.copies; ++i) {
    auto outer = factor.k_major ? from_row : first;  // of the tile's rows, or its columns
    if (i >= each) outer = outer + *n_;
    if (!factor.k_major && i % each != 0) outer = outer + i % each * slab;
    write::Coords coord = {factor.k_major ? along_k : outer, factor.k_major ? outer : from_row};
    const bool of_groups = corner.matrix && (r.batched || (r.grouped && *tensor == 'B'));
    if (of_groups) coord.emplace_back(*corner.matrix);
    write::TensorLoadOperands copy{.dst = base + (place + (at + i * pitch)), .src = k.tma_desc(tensor), .coord = coord};
    copy.mbar = copied;
    copy.multicast_mask = mask;
    if (of_groups)
      k.cp.async_.bulk.tensor_3d(copy);
    else
      k.cp.async_.bulk.tensor_2d(copy);
  }
}

// A stage is 128 elements along K, those with one scale.
void Writer::load_scales(const U32& stage, const U32& step, const Corner& at, const BarrierSlot& copied) {
  write::TensorLoadOperands copy{.dst = k.smem.base() + (stage * g.scales_pitch + g.scales_at),
                                 .src = k.tma_desc("scale_a"),
                                 .coord = {r.swapped ? at.column : at.row, step}};
  copy.mbar = copied;
  k.cp.async_.bulk.tensor_2d(copy);
}

void Writer::produce(const Ring& ring) {
  const auto registers = gives_most(r) ? 24 : g.consumers == 2 ? 40 : 32;
  if (g.consumers > 1) k.setmaxnreg(registers, false);  // what it gives back, the others take
  const auto all = [&](const Reg<Type::pred>* is_first) {
    auto stages = k.pipeline(r.stages);
    auto step = k.scalar<Type::u32>();
    each_tile("produce_tile", [&] {
      const Corner at = corner(*tile_);
      const auto copies = [&] {
        k << inst.mov.u32(step, *first_step_);
        k.loop("produce_step", [&] {
          auto [stage, phase] = stages.advance();
          auto along_k = step * step_k(r.dtype);
          if (r.ragged) along_k = along_k + *group_begin_;
          ring.empty.at(stage).wait(phase ^ 1);  // the first time round nobody has read: a fresh barrier's last phase is over
          if (r.scales_transposed) k.fence.proxy_async_shared_cta();  // scales are read by loads, and overwritten by copies
          const auto copied = ring.full.at(stage);
          copied.arrive_expect_tx(g.left.bytes + g.right.bytes + g.scale_bytes);
          load(g.left, r.swapped ? "B" : "A", g.left_at, stage, at.row, along_k, at, copied);
          load(g.right, r.swapped ? "A" : "B", g.right_at, stage, at.column, along_k, at, copied);
          if (r.scales_transposed) load_scales(stage, step, at, copied);
          k << inst.add.u32(step, step, 1);
          return step < *end_step_;
        });
      };
      if (is_first != nullptr)
        k.if_(*is_first, copies);
      else
        copies();
    });
  };
  if (!r.grouped) {
    k.if_(*tid_ == 0, [&] { all(nullptr); });
    return;
  }
  const auto is_first = *lane_ == 0;
  k.if_(*tid_ < 32, [&] { all(&is_first); });  // a warp looks for groups, and a lane of it copies
}

// Sums lie as [n-block][thread] groups of four; block `rank` adds up n-blocks of its part, of all blocks.
void Writer::add_up(const RegArray<Type::f32>& sums, Epilogue& epilogue, const U32& row, const U32& column) {
  const int threads = g.consumers * warpgroup_threads, blocks_n = r.columns / 8, parts = std::min(r.splits, blocks_n);
  const int each = blocks_n / parts, pitch = threads * 16;
  const auto here = k.address_of<Type::u32>("smem") + ((*tid_ - warpgroup_threads) << 4);
  k.bar.sync(1, threads);  // all have read the ring
  for (int j = 0; j < blocks_n; ++j)
    k << inst.st.shared.v4.f32(addr(here, j * pitch), vec(sums[4 * j], sums[4 * j + 1], sums[4 * j + 2], sums[4 * j + 3]));
  k.cluster.sync();
  k.if_(*rank_ < parts, [&] {
    const auto mine = here + *rank_ * (each * pitch);
    std::vector<U32> theirs;
    for (int s = 0; s < r.splits; ++s) theirs.push_back(k.let(inst.mapa.shared__cluster.u32, mine, s));
    Values total;
    for (int j = 0; j < each; ++j) {
      std::vector<RegVec<Type::f32, 4>> parts_of;
      for (const U32& there : theirs) parts_of.push_back(k.let(inst.ld.shared__cluster.v4.f32, addr(there, j * pitch)));
      for (int i = 0; i < 4; ++i) {
        auto sum = k.from_<Type::f32>(parts_of[0][i]);
        for (int s = 1; s < r.splits; ++s) k << inst.add.f32(sum, sum, parts_of[static_cast<std::size_t>(s)][i]);
        total.push_back(sum);
      }
    }
    epilogue.store(total, row, column + *rank_ * (each * 8));
  });
}

void Writer::consume(const Ring& ring) {
  if (g.consumers > 1) k.setmaxnreg(gives_most(r) ? 240 : g.consumers == 2 ? 232 : 160, true);
  consumer_ = *warpgroup_ - 1;
  std::vector<RegArray<Type::f32>> sums;
  // The first product overwrites them, but ptxas 12.8 serialises wgmma on registers that nobody wrote.
  const auto zeros = [&](std::int64_t count) {
    auto all = k.array<Type::f32>(count);
    for (std::size_t i = 0; i < all.size(); ++i) k << inst.mov.f32(all[i], 0.0);
    return all;
  };
  const int each = 64 * r.columns / warpgroup_threads;
  for (int i = 0; i < g.own; ++i) sums.push_back(zeros(each));
  if (r.promoted) partial_ = zeros(each / promoted_parts(r));
  auto stages = k.pipeline(r.stages);
  Epilogue epilogue(k, r, {*m_, *n_, *tid_, *lane_});
  std::optional<U32> turn_phase;
  if (r.pingpong) {
    turn_phase = *consumer_ ^ 1;  // the first does not wait: a fresh barrier's last phase is over
    k.if_(*consumer_ > 0, [&] {
      k << inst.add.u32(*tile_, *tile_, *clusters_);
      skip_tile(stages);
    });
  }
  const auto one_tile = [&] {
    const Corner at = corner(*tile_);
    if (r.promoted)
      multiply_promoted(ring, stages, sums[0], at);
    else if (r.pingpong)
      multiply_in_turn(ring, stages, sums, *turn_phase);
    else
      multiply(ring, stages, sums);
    auto warp_row = at.row + (((*tid_ >> 5) & 3) << 4);
    if (!r.pingpong) warp_row = warp_row + (*consumer_ << 6);
    if (r.grouped)
      epilogue.until(groups_->end);
    else if (at.matrix)
      epilogue.at_matrix(*at.matrix);
    if (r.splits > 1) return add_up(sums[0], epilogue, warp_row, at.column);
    for (int i = 0; i < g.own; ++i) {
      Values all;
      for (const auto& sum : sums[static_cast<std::size_t>(i)]) all.push_back(sum);
      if (r.gated) all = epilogue.gated(all);
      epilogue.store(all, i == 0 ? warp_row : warp_row + 64 * i, at.column);
    }
  };
  each_tile("consume_tile", one_tile, r.pingpong);
  epilogue.finish();
}

Kernel Writer::write() && {
  begin();
  const auto base = k.smem.base();
  Ring ring{k.mbarrier.array(base, g.full_at, r.stages), k.mbarrier.array(base, g.empty_at, r.stages), {}};
  if (r.pingpong) ring.turn = k.mbarrier.array(base, g.turn_at, 2);
  const bool alone = cluster(r) == 1;
  k.if_(*tid_ == 0, [&] {
    ring.full.init_all(1);  // the producer, and the bytes that it expects
    const int readers = r.pingpong ? 1 : g.consumers;
    ring.empty.init_all((r.down + r.across - 1) * readers * 4);  // each warp that reads, of all blocks that a copy goes to
    if (ring.turn) ring.turn->init_all(4);                       // each warp of the other
    k.fence.mbarrier_init();
  });
  if (alone)
    k.bar.sync();
  else
    k.cluster.sync();  // all blocks' barriers are ready
  k.if_(
      *warpgroup_ == 0,
      [&] {
        produce(ring);
        if (r.splits > 1) k.cluster.sync();
      },
      [&] { consume(ring); });
  if (!alone) k.cluster.sync();  // a block stays while another may still copy into it, arrive at its barriers, or read its sums
  k << inst.ret();
  return std::move(k);
}

Expected<Kernel> kernel(const Recipe& recipe) {
  if (!is_possible(recipe) || recipe.strided)
    return Unexpected{Diagnostic{.kind = Kind::argument_kind, .message = cat("no kernel is made as `", name(recipe), "` says")}};
  return Writer(recipe, spec_of(recipe)).write();
}

Expected<Kernel> kernel(const Recipe& recipe, const Fixed& sizes) {
  if (!is_possible(recipe) || !recipe.strided)
    return Unexpected{
        Diagnostic{.kind = Kind::argument_kind, .message = cat("no kernel of given sizes is made as `", name(recipe), "` says")}};
  auto spec = spec_of(recipe, sizes);
  if (!spec) return Unexpected{std::move(spec).error()};
  return Writer(recipe, std::move(*spec)).write();
}

}  // namespace ptx::kernels::product
