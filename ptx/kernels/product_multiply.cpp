// What the warpgroups that multiply do with a stage: wgmma, promotion, and giving it back.
#include "ptx/kernels/product_writer.hpp"

namespace ptx::kernels::product {

void Writer::release(const BarrierSlot& empty, const Predicate& guard) {
  const auto tells = guard ? *is_peer_ & *guard : *is_peer_;
  if (cluster(r) / r.splits == 1)
    empty.arrive(tells);
  else
    empty.arrive_remote(*peer_, 1, tells);
}

Reg<Type::u64> Writer::descriptor(const Factor& factor, const U32& address) {
  // 128-byte swizzle; groups of 8 rows 1024 bytes apart; slabs, of an MN-major factor, 8192.
  constexpr std::uint64_t swizzled = std::uint64_t{1} << 62 | std::uint64_t{1024 >> 4} << 32;
  const std::uint64_t bits = swizzled | std::uint64_t{factor.k_major ? 1U : (slab * slab * 2) >> 4} << 16;
  return k.wgmma.masked_descriptor(address, {.const_bits = bits});
}

// A slab is 64 rows of 128 bytes; 8 threads clear a row.
void Writer::clear_behind(const U32& stage, const U32& step) {
  const auto rest = *group_end_ - *group_begin_ - step * slab;
  k.if_(rest < slab, [&] {
    const int threads = g.consumers * warpgroup_threads, rows = threads / 8;
    const auto thread = *tid_ - warpgroup_threads;
    const auto base = k.address_of<Type::u32>("smem") + (thread << 4);
    const auto zero = k.scalar<Type::b32>(0);
    for (int first = 0; first < slab; first += rows) {
      const auto row = (thread >> 3) + first;
      const auto is_behind = (row >= rest) & (row < slab);
      for (const auto& [factor, at] : {std::pair(&g.left, g.left_at), std::pair(&g.right, g.right_at)}) {
        const auto place = base + stage * factor->bytes;
        for (int i = 0; i < factor->copies; ++i)
          k << inst.st.shared.v4.b32(addr(place, at + (i * slab + first) * slab * 2), vec(zero, zero, zero, zero)).on(is_behind);
      }
    }
    k.fence.proxy_async_shared_cta();  // wgmma is to see them
    k.bar.sync(1, threads);
  });
}

void Writer::products_of(const U32& stage, const std::vector<RegArray<Type::f32>>& sums, const write::Enable& first, int column) {
  constexpr int rows_bytes = 64 * slab * 2;  // of a slab, or of 64 rows along K
  const auto base_at = k.address_of<Type::u32>("smem");
  auto left = stage * g.left.bytes;
  if (!r.pingpong) left = left + *consumer_ * rows_bytes;
  const auto a = descriptor(g.left, base_at + (left + g.left_at));
  const auto b = descriptor(g.right, base_at + (stage * g.right.bytes + (g.right_at + column * slab * 2)));
  const int wgmma_k = step_k(r.dtype) / 4;
  const bool is_half = r.scaling == Scaling::none;
  k.wgmma.fence();
  for (int i = 0; i < 4; ++i) {
    // 32 bytes along K, or 16 rows of 128, in the descriptors' unit of 16
    const int on_a = i * (g.left.k_major ? 2 : 128), on_b = i * (g.right.k_major ? 2 : 128);
    const auto b_here = i == 0 ? b : b + on_b;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const int a_at = on_a + static_cast<int>(j) * (rows_bytes >> 4);
      k.wgmma.mma_async({.shape = {64, static_cast<int>(sums[j].size()) * 2, wgmma_k},
                         .dtype_d = Type::f32,
                         .dtype_a = r.dtype,
                         .dtype_b = r.dtype,
                         .d = sums[j],
                         .a = a_at == 0 ? a : a + a_at,
                         .b = b_here,
                         .scale_d = i == 0 ? first : write::Enable(true),
                         .trans_a = is_half && !g.left.k_major ? 1 : 0,
                         .trans_b = is_half && !g.right.k_major ? 1 : 0});
    }
  }
  k.wgmma.commit_group();
}

void Writer::skip_tile(PipelineState& stages) {
  const auto there = stages.cursor + *end_step_;
  const auto rounds = there / r.stages;
  k << inst.sub.u32(stages.cursor, there, rounds * r.stages);
  k << inst.xor_.b32(stages.phase, stages.phase, rounds & 1);
}

void Writer::multiply_in_turn(const Ring& ring, PipelineState& stages, const std::vector<RegArray<Type::f32>>& sums,
                              const U32& phase) {
  ring.turn->at(*consumer_).wait(phase);
  k << inst.xor_.b32(phase, phase, 1);
  multiply(ring, stages, sums);
  skip_tile(stages);
}

void Writer::multiply(const Ring& ring, PipelineState& stages, const std::vector<RegArray<Type::f32>>& sums) {
  auto step = k.scalar<Type::u32>();
  auto held = k.scalar<Type::u32>(0);  // the stage that the wgmmas under way read
  auto accumulate = k.scalar<Type::pred>();
  k << inst.mov.u32(step, *first_step_);
  k << inst.setp.ne.u32(accumulate, step, *first_step_);  // the first product overwrites the last tile's sums
  k.loop("consume_step", [&] {
    auto [stage, phase] = stages.advance();
    ring.full.at(stage).wait(phase);
    if (r.ragged) clear_behind(stage, step);
    products_of(stage, sums, accumulate);
    k.wgmma.wait_group(1);
    release(ring.empty.at(held), accumulate);
    k << inst.mov.u32(held, stage);
    k << inst.add.u32(step, step, 1);
    k << inst.setp.ne.u32(accumulate, step, *first_step_);
    return step < *end_step_;
  });
  if (ring.turn) ring.turn->at(*consumer_ ^ 1).arrive(*lane_ == 0);
  k.wgmma.wait_group(0);
  release(ring.empty.at(held), {});
}

// Of blocks with scales a thread needs, for each 128 along K, those of its rows and of its columns. The next step's are fetched
// while this one's products are under way.
Writer::ScaleLines Writer::scale_lines(const Corner& at) {
  ScaleLines lines;
  const auto blocks = (*k_ + (block_k - 1)) >> 7;
  const auto add = [&](const char* tensor, const U32& line, const Reg<Type::pred>& exists) {
    const auto [pointer] = k.global_ptrs(tensor);
    const auto first = k.let(inst.mad.lo.u32, line, blocks, *first_step_);
    k << inst.mad.wide.u32(pointer, first, 4, pointer);
    lines.pointers.push_back(pointer);
    lines.exist.push_back(exists);
    lines.next.push_back(k.scalar<Type::f32>(0.0));
    lines.now.push_back(k.scalar<Type::f32>());
  };
  const auto rows = at.row + (*consumer_ << 6);
  if (r.swapped && !r.scales_transposed) {
    const auto column = at.column + ((*lane_ & 3) << 1);
    for (int i = 0; i < r.columns / 4; ++i) {
      const auto mine = column + (i / 2 * 8 + i % 2);
      add("scale_a", mine, mine < *m_);
    }
  } else if (!r.scales_transposed) {
    const auto row = rows + (((*tid_ >> 5) & 3) << 4) + (*lane_ >> 2), below = row + 8;
    add("scale_a", row, row < *m_), add("scale_a", below, below < *m_);
  }
  lines.of_a = lines.pointers.size();
  if (r.swapped) add("scale_b", rows >> 7, rows < *n_);
  for (int first = 0; !r.swapped && first < r.columns; first += block_k) {
    const auto mine = at.column + first;
    add("scale_b", mine >> 7, mine < *n_);
  }
  const auto any = *first_step_ < *end_step_;
  fetch_scales(lines, any);
  return lines;
}

void Writer::fetch_scales(ScaleLines& lines, const Predicate& more) {
  for (std::size_t i = 0; i < lines.pointers.size(); ++i) {
    k << inst.ld.global_.nc.f32(lines.next[i], addr(lines.pointers[i])).on(lines.exist[i] & *more);
    k << inst.add.s64(lines.pointers[i], lines.pointers[i], 4);
  }
}

Values Writer::scales_of_a(const U32& stage, const ScaleLines& lines) {
  if (!r.scales_transposed) return {lines.now.begin(), lines.now.begin() + static_cast<std::ptrdiff_t>(lines.of_a)};
  const auto place = k.address_of<Type::u32>("smem") + (stage * g.scales_pitch + g.scales_at);
  Values all;
  if (r.swapped) {
    const auto here = place + ((*lane_ & 3) << 3);
    for (int i = 0; i < r.columns / 8; ++i) {
      const auto pair = k.let(inst.ld.shared.v2.f32, addr(here, i * 32));
      all.push_back(pair[0]), all.push_back(pair[1]);
    }
    return all;
  }
  const auto here = place + ((*consumer_ << 8) + (((*tid_ >> 5) & 3) << 6) + ((*lane_ >> 2) << 2));
  return {k.let(inst.ld.shared.f32, addr(here)), k.let(inst.ld.shared.f32, addr(here, 8 * 4))};
}

Values Writer::factors_of(const Values& of_a, const ScaleLines& lines, int part) {
  const auto& of_b = lines.now[lines.of_a + static_cast<std::size_t>(r.swapped ? 0 : part)];
  Values factors;
  for (const auto& scale : of_a) factors.push_back(k.let(inst.mul.f32, scale, of_b));
  return factors;
}

// Each stage's sums are added to others in f32, times its scales where blocks have them; of at most 128 columns at once, for
// which there are registers. The other warpgroup multiplies meanwhile.
void Writer::multiply_promoted(const Ring& ring, PipelineState& stages, const RegArray<Type::f32>& sums, const Corner& at) {
  const bool scaled = r.scaling == Scaling::blockwise;
  auto step = k.scalar<Type::u32>();
  k << inst.mov.u32(step, *first_step_);
  for (std::size_t i = 0; i < sums.size(); ++i) k << inst.mov.f32(sums[i], 0.0);
  ScaleLines lines;
  if (scaled) lines = scale_lines(at);
  k.loop("consume_step", [&] {
    auto [stage, phase] = stages.advance();
    const auto next = step + 1;
    for (std::size_t i = 0; i < lines.now.size(); ++i) k << inst.mov.f32(lines.now[i], lines.next[i]);
    if (scaled) fetch_scales(lines, next < *end_step_);
    ring.full.at(stage).wait(phase);
    const Values of_a = scaled ? scales_of_a(stage, lines) : Values();
    const int width = r.columns / promoted_parts(r);
    for (int part = 0; part < promoted_parts(r); ++part) {
      products_of(stage, {*partial_}, false, part * width);
      k.wgmma.wait_group(0);
      if (part + 1 == promoted_parts(r)) {
        if (r.scales_transposed) k << inst.bar.warp.sync(0xFFFFFFFF);  // all lanes have read their scales
        release(ring.empty.at(stage), {});
      }
      const Values factors = scaled ? factors_of(of_a, lines, part) : Values();
      for (std::size_t i = 0; i < partial_->size(); ++i) {
        const auto sum = sums[static_cast<std::size_t>(part) * partial_->size() + i];
        if (scaled)
          k << inst.fma.rn.f32(sum, (*partial_)[i], factors[r.swapped ? i / 4 * 2 + i % 2 : i % 4 / 2], sum);
        else
          k << inst.add.f32(sum, sum, (*partial_)[i]);
      }
    }
    k << inst.mov.u32(step, next);
    return step < *end_step_;
  });
}

}  // namespace ptx::kernels::product
