// The fast matrix product of Hopper: C = A B^T for A[M, K] and B[N, K], bfloat16 in and out, f32 sums. The twin of
// examples/hopper/gemm_highperf_hopper.py, line for line: both print the same PTX. There is the picture of who does what.
//
// Where an expression writes several instructions, it is taken apart: C++ does not say which side of a `+` comes first.
#pragma once

#include <ptx/ptx.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace examples {

using namespace ptx;

namespace gemm {
constexpr int bm = 128, bn = 256, bk = 64;  // a block's tile, and how far a stage reaches along K: the 128 bytes of a swizzle
constexpr int blocks = 2;                   // of a cluster, one below the other
constexpr int stages = 4;
constexpr int consumers = 2;  // warpgroups; 64 rows each
constexpr int warpgroup_threads = 128, threads = warpgroup_threads * (1 + consumers);
constexpr int wgmma_k = 16;
constexpr int clusters_at_once = 66;  // of two blocks, on the 132 SMs of an H100 or H200
constexpr int band_tiles = 8;         // tiles of 256 rows that are worked on together, so that their A and B stay in the L2 cache

// Shared memory. Swizzled tiles begin at multiples of 1024 bytes.
constexpr int a_bytes = bm * bk * 2, b_bytes = bn * bk * 2;  // of a stage
constexpr int box_rows = 16, box_columns = 64;               // of C: what a warp stores at once
constexpr int box_bytes = box_rows * box_columns * 2;
constexpr int a_at = 0;
constexpr int b_at = a_at + stages * a_bytes;
constexpr int c_at = b_at + stages * b_bytes;
constexpr int full_at = c_at + 2 * box_bytes * 4 * consumers;  // two boxes a warp
constexpr int empty_at = full_at + 8 * stages;
constexpr int smem_bytes = empty_at + 8 * stages;

// As many blocks as the GPU runs at once, but no cluster without a tile.
constexpr int grid(int M, int N) {
  const int tiles = ((M + blocks * bm - 1) / (blocks * bm)) * ((N + bn - 1) / bn);
  return blocks * std::min(clusters_at_once, tiles);
}
}  // namespace gemm

// The sizes are multiples of 8. The text does not depend on them: they are parameters, in the order M, N, K.
inline Kernel gemm_warp_specialized(int M_size, int N_size, int K_size) {
  using namespace gemm;
  Kernel k(
      {.name = "gemm_warp_specialized",
       .in_specs = {{"A", {M_size, K_size}, bf16, Layout::tma_128b, {bm, bk}},
                    {"B", {N_size, K_size}, bf16, Layout::tma_128b, {bn / blocks, bk}}},
       .out_specs = {{"C", {M_size, N_size}, bf16, Layout::tma_128b, {box_rows, box_columns}}},
       .raw_params = {{"M", u32}, {"N", u32}, {"K", u32}},
       .grid = {gemm::grid(M_size, N_size), 1, 1},
       .block = {threads, 1, 1},
       .smem = smem_bytes,
       .extern_smem = "smem",
       .arch = sm_90a,
       // One block an SM, said aloud: else ptxas drops `setmaxnreg`.
       .raw_directives = {
           {"maxntid", {threads, 1, 1}}, {"minnctapersm", {1}}, {"explicitcluster", {}}, {"reqnctapercluster", {blocks, 1, 1}}}});

  auto M = k.param<u32>("M");
  auto N = k.param<u32>("N");
  auto K = k.param<u32>("K");
  auto tid = k.from_<u32>(special.tid.x());
  auto rank = k.from_<u32>(cluster_ctarank);
  auto cluster = k.from_<u32>(special.clusterid.x());
  auto clusters = k.from_<u32>(special.nclusterid.x());
  auto lane = tid & 31;
  // By way of a shuffle: ptxas then knows that the whole warp has one value, and keeps what follows from it in uniform registers.
  auto warpgroup = k.scalar<u32>();
  k << inst.shfl.sync.idx.b32(warpgroup, tid >> 7, 0, 31, -1);

  auto base = k.smem.base();
  auto full = k.mbarrier.array(base, full_at, stages);
  auto empty = k.mbarrier.array(base, empty_at, stages);
  k.if_(tid == 0, [&] {
    full.init_all(1);                        // the producer, and the bytes that it expects
    empty.init_all(blocks * consumers * 4);  // each warp that reads, of both blocks: B goes to both
    k.fence.mbarrier_init();
  });
  k.cluster.sync();  // both blocks' barriers are ready

  auto tiles_m = (M + (blocks * bm - 1)) >> 8;
  auto tiles_n = (N + (bn - 1)) >> 8;
  auto tiles = k.scalar<u32>();
  k << inst.mul.lo.u32(tiles, tiles_m, tiles_n);
  auto steps = (K + (bk - 1)) >> 6;
  auto tiles_of_band = tiles_n * band_tiles;

  // The first row and column of this block's part of a tile. The tiles of a band go down, then right.
  const auto corner = [&](const Reg<u32>& tile) {
    auto band = k.scalar<u32>();
    auto height = k.scalar<u32>();
    auto m = k.scalar<u32>();
    auto n = k.scalar<u32>();
    k << inst.div.u32(band, tile, tiles_of_band);
    k << inst.min.u32(height, tiles_m - band * band_tiles, band_tiles);
    auto inside = k.scalar<u32>();
    k << inst.mul.lo.u32(inside, band, tiles_of_band);
    k << inst.sub.u32(inside, tile, inside);
    k << inst.div.u32(n, inside, height);
    k << inst.rem.u32(m, inside, height);
    auto row = (m + band * band_tiles) << 8;
    row = row + rank * bm;
    auto column = n << 8;
    return std::pair(row, column);
  };

  auto ring = k.pipeline(stages);  // of the producer and of each consumer: they all go round in the same way
  auto tile = cluster + 0;
  auto step = k.scalar<u32>();
  auto more_tiles = k.scalar<pred>();
  auto more_steps = k.scalar<pred>();
  const auto next_tile = [&] {
    k << inst.add.u32(tile, tile, clusters);
    k << inst.setp.lt.u32(more_tiles, tile, tiles);
    return more_tiles;
  };
  const auto next_step = [&] {
    k << inst.add.u32(step, step, 1);
    k << inst.setp.lt.u32(more_steps, step, steps);
    return more_steps;
  };

  const auto produce = [&] {
    k.setmaxnreg(40, false);  // what it gives back, the consumers take
    k.if_(tid == 0, [&] {
      k.loop("produce_tile", [&] {
        auto [row, column] = corner(tile);
        auto b_row = column + rank * (bn / blocks);
        k << inst.mov.u32(step, 0);
        k.loop("produce_step", [&] {
          auto [stage, phase] = ring.advance();
          auto along_k = step * bk;
          empty.at(stage).wait(phase ^ 1);  // the first time round nobody has read: a fresh barrier's last phase is over
          auto copied = full.at(stage);
          copied.arrive_expect_tx(a_bytes + b_bytes);  // A, and both halves of B
          k.cp.async_.bulk.tensor_2d(
              {.dst = base + (stage * a_bytes + a_at), .src = k.tma_desc("A"), .coord = {along_k, row}, .mbar = copied});
          auto b_stage = stage * b_bytes;
          k.cp.async_.bulk.tensor_2d({.dst = base + (b_stage + rank * (b_bytes / blocks) + b_at),
                                      .src = k.tma_desc("B"),
                                      .coord = {along_k, b_row},
                                      .mbar = copied,
                                      .multicast_mask = (1 << blocks) - 1});
          return next_step();
        });
        return next_tile();
      });
    });
  };

  const auto consume = [&] {
    k.setmaxnreg(232, true);
    auto consumer = warpgroup - 1;
    auto warp = (tid >> 5) - 4;  // of the consumers: 0 to 7
    auto acc = k.array<f32>(64 * bn / warpgroup_threads);
    // The first product overwrites them, but ptxas 12.8 serialises wgmma on registers that nobody wrote.
    for (std::size_t i = 0; i < acc.size(); ++i) k << inst.mov.f32(acc[i], 0.0);
    auto accumulate = k.scalar<pred>();

    // Where this lane's rows of a box lie: lanes 0 to 15 have its rows, 16 to 31 the same rows 8 columns on.
    auto box = base + (warp * (2 * box_bytes) + c_at);
    auto lane_offset = (lane & 15) << 7;
    lane_offset = lane_offset + ((lane >> 4) << 4);
    std::vector<Reg<u32>> lane_rows;
    for (int i = 0; i < box_columns / 16; ++i) lane_rows.push_back(box + k.smem.apply_swizzle(lane_offset + 32 * i, "128B"));
    auto packed = k.array<b32>(4);

    k.loop("consume_tile", [&] {
      auto [row, column] = corner(tile);
      k << inst.mov.u32(step, 0);
      k << inst.setp.ne.u32(accumulate, step, 0);  // the first product overwrites the last tile's sums
      k.loop("consume_step", [&] {
        auto [stage, phase] = ring.advance();
        full.at(stage).wait(phase);
        auto a_stage = stage * a_bytes;
        auto a = k.wgmma.masked_descriptor(base + (a_stage + consumer * (64 * bk * 2) + a_at));
        auto b = k.wgmma.masked_descriptor(base + (stage * b_bytes + b_at));
        k.wgmma.fence();
        for (int i = 0; i < bk / wgmma_k; ++i)  // 16 columns are 32 bytes: 2 in the unit of descriptors
          k.wgmma.mma_async({.shape = {64, bn, wgmma_k},
                             .dtype_d = f32,
                             .dtype_a = bf16,
                             .dtype_b = bf16,
                             .d = acc,
                             .a = i == 0 ? a : a + 2 * i,
                             .b = i == 0 ? b : b + 2 * i,
                             .scale_d = i == 0 ? write::Enable(accumulate) : write::Enable(true)});
        k.wgmma.commit_group();
        k.wgmma.wait_group(0);                                  // the other consumer has the tensor cores meanwhile
        empty.at(stage).arrive_remote(lane, 1, lane < blocks);  // lane 0 tells block 0, lane 1 block 1
        auto more = next_step();
        k << inst.setp.ne.u32(accumulate, step, 0);
        return more;
      });

      // Each warp stores its 16 rows by itself, 64 columns at a time, by two boxes in turn.
      auto below = consumer << 6;
      row += below + ((warp & 3) << 4);
      for (int chunk = 0; chunk < bn / box_columns; ++chunk) {
        const int half = chunk % 2 * box_bytes;
        k.cp.async_.bulk.wait_group(1, {.read = true});  // the last copy but one, from this box, has read it
        k << inst.bar.warp.sync(0xFFFFFFFF);
        for (int i = 0; i < box_columns / 16; ++i) {
          const int first = (chunk * 4 + i) * 8;
          for (int j = 0; j < 4; ++j)  // two numbers side by side, the first in the lower half
            k << inst.cvt.rn.bf16x2.f32(packed[j], acc[first + 2 * j + 1], acc[first + 2 * j]);
          k.stmatrix({.smem = addr(lane_rows[i], half), .regs = packed, .layout = "x4"});
        }
        k.fence.proxy_async_shared_cta();  // TMA is to see what the lanes stored
        k << inst.bar.warp.sync(0xFFFFFFFF);
        k.if_(lane == 0, [&] {
          k.cp.async_.bulk.tensor_2d.store(
              {.dst = k.tma_desc("C"), .src = box + half, .coord = {column + chunk * box_columns, row}});
          k.cp.async_.bulk.commit_group();
        });
      }
      return next_tile();
    });
    k.cp.async_.bulk.wait_group(0);
  };

  k.if_(warpgroup == 0, produce, consume);
  k.cluster.sync();  // a block stays while the other may still copy into it, or arrive at its barriers
  k << inst.ret();
  return k;
}

}  // namespace examples
