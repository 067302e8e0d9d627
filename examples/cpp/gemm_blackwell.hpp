// The matrix product on Blackwell's tensor cores: C = A B^T for A[M, K] and B[N, K], bfloat16 in and out, f32 sums. The twin of
// `build_gemm` in examples/blackwell/gemm_highperf_blackwell.py, line for line: both print the same PTX. There is the picture of
// who does what. Like it, this has been checked and assembled, and not run on a Blackwell GPU yet.
//
// Where an expression writes several instructions, it is taken apart: C++ does not say which side of a `+` comes first.
#pragma once

#include <ptx/ptx.hpp>

namespace examples {

using namespace ptx;

namespace blackwell_gemm {
constexpr int bm = 128, bn = 256, bk = 64;  // a block's tile, and how far a stage reaches along K: the 128 bytes of a swizzle
constexpr int stages = 4;
constexpr int mma_k = 16;          // of one instruction, for 16-bit types
constexpr int epilogue_warps = 4;  // warp w can read lanes 32 (w mod 4) to + 31 of tensor memory
constexpr int copy_warp = 4, mma_warp = 5;
constexpr int threads = 32 * 6;
constexpr int box_rows = 32, box_columns = 64;  // of C: what a warp stores at once
constexpr int box_bytes = box_rows * box_columns * 2;

// Shared memory. Swizzled tiles begin at multiples of 1024 bytes.
constexpr int a_bytes = bm * bk * 2, b_bytes = bn * bk * 2;  // of a stage
constexpr int b_at = stages * a_bytes;
constexpr int c_at = b_at + stages * b_bytes;
constexpr int full_at = c_at + 2 * box_bytes * epilogue_warps;  // two boxes a warp
constexpr int empty_at = full_at + 8 * stages;
constexpr int done_at = empty_at + 8 * stages;
constexpr int slot_at = done_at + 8;  // where tcgen05.alloc writes the address of what it allocated
constexpr int smem_bytes = slot_at + 4;

constexpr int parts(int size, int part) { return (size + part - 1) / part; }

// The epilogue: a warp takes its 32 lanes of tensor memory, which are 32 rows of C, to C, 64 columns at a time.
inline void store_tile(Kernel& k, const Reg<b32>& taddr, const Reg<u32>& box, const Reg<u32>& lane, const Reg<u32>& warp,
                       const Reg<u32>& row, const Reg<u32>& column) {
  auto lanes =
      taddr + (warp << 21);  // an address in tensor memory: the lane in the upper half, 32 a warp; the column in the lower
  // Piece i of 16 bytes of a row lies at place i ^ (row mod 8): eight neighbouring lanes' stores touch all banks.
  auto my_row = box + (lane << 7);
  auto flip = (lane & 7) << 4;
  auto sums = k.array<f32>(box_columns);
  auto packed = k.array<b32>(4);
  for (int chunk = 0; chunk < bn / box_columns; ++chunk) {
    const int half = chunk % 2 * box_bytes;
    k.cp.async_.bulk.wait_group(1, {.read = true});  // the last copy but one, from this box, has read it
    k << inst.bar.warp.sync(0xFFFFFFFF);
    k.tcgen05.ld(sums, addr(lanes, chunk * box_columns), {.shape = "32x32b", .count = box_columns});
    k.tcgen05.wait_ld();
    for (int piece = 0; piece < box_columns / 8; ++piece) {
      for (int j = 0; j < 4; ++j) {  // two numbers side by side, the first in the lower half
        const int first = 8 * piece + 2 * j;
        k << inst.cvt.rn.bf16x2.f32(packed[j], sums[first + 1], sums[first]);
      }
      k << inst.st.shared.v4.b32(addr(my_row + (flip ^ piece * 16), half), vec(packed[0], packed[1], packed[2], packed[3]));
    }
    k.fence.proxy_async_shared_cta();  // TMA is to see what the lanes stored
    k << inst.bar.warp.sync(0xFFFFFFFF);
    k.if_(lane == 0, [&] {
      auto src = box + half;
      k.cp.async_.bulk.tensor_2d.store({.dst = k.tma_desc("C"), .src = src, .coord = {column + chunk * box_columns, row}});
      k.cp.async_.bulk.commit_group();
    });
  }
  k.cp.async_.bulk.wait_group(0);
}
}  // namespace blackwell_gemm

// A tile of 128 x 256 a block. The sizes are multiples of 8.
inline Kernel gemm_blackwell(int M, int N, int K) {
  using namespace blackwell_gemm;
  const int steps = parts(K, bk);
  Kernel k({.name = "gemm",
            .in_specs = {{"A", {M, K}, bf16, Layout::tma_128b, {bm, bk}}, {"B", {N, K}, bf16, Layout::tma_128b, {bn, bk}}},
            .out_specs = {{"C", {M, N}, bf16, Layout::tma_128b, {box_rows, box_columns}}},
            .grid = {parts(M, bm), parts(N, bn), 1},
            .block = {threads, 1, 1},
            .smem = smem_bytes,
            .extern_smem = "smem",
            .arch = sm_100a,
            .raw_directives = {{"reqntid", {threads, 1, 1}}}});

  auto tid = k.from_<u32>(special.tid.x());
  auto row = k.from_<u32>(special.ctaid.x()) * bm;
  auto column = k.from_<u32>(special.ctaid.y()) * bn;
  auto lane = tid & 31;
  // By way of a shuffle: ptxas then knows that the whole warp has one value.
  auto warp = k.scalar<u32>();
  k << inst.shfl.sync.idx.b32(warp, tid >> 5, 0, 31, -1);
  auto elected = k.scalar<b32>();
  auto is_elected = k.scalar<pred>();
  k.elect_sync(elected, is_elected, 0xFFFFFFFF);  // one thread of each warp

  auto base = k.smem.base();
  auto full = k.mbarrier.array(base, full_at, stages);
  auto empty = k.mbarrier.array(base, empty_at, stages);
  auto done = k.mbarrier.array(base, done_at, 1);
  k.if_(tid == 0, [&] {
    full.init_all(1);   // the thread that starts the copies, and the bytes that it expects
    empty.init_all(1);  // tcgen05.commit
    done.init_all(1);
    k.fence.mbarrier_init();
  });
  k.if_(warp == mma_warp, [&] {  // a whole warp allocates, and gives back
    k.tcgen05.alloc(addr(base, slot_at), bn);
    k.tcgen05.relinquish_alloc_permit();
  });
  k.tcgen05.fence_before_thread_sync();
  k.bar.sync(0);
  k.tcgen05.fence_after_thread_sync();
  auto taddr = k.smem.load<b32>(addr(base, slot_at));

  auto ring = k.pipeline(stages);  // of each of the two threads: they go round in the same way
  auto step = k.scalar<u32>(0);
  auto more = k.scalar<pred>();
  const auto next_step = [&] {
    k << inst.add.u32(step, step, 1);
    k << inst.setp.lt.u32(more, step, steps);
    return more;
  };

  const auto copy = [&] {
    k.loop("copy_step", [&] {
      auto [stage, phase] = ring.advance();
      auto along_k = step * bk;
      empty.at(stage).wait(phase ^ 1);  // the first time round nobody has read: a fresh barrier's last phase is over
      auto copied = full.at(stage);
      copied.arrive_expect_tx(a_bytes + b_bytes);
      auto a_dst = base + stage * a_bytes;
      k.cp.async_.bulk.tensor_2d.shared_cta_global_tile(
          {.dst = a_dst, .src = k.tma_desc("A"), .coord = {along_k, row}, .mbar = copied});
      auto b_dst = base + (stage * b_bytes + b_at);
      k.cp.async_.bulk.tensor_2d.shared_cta_global_tile(
          {.dst = b_dst, .src = k.tma_desc("B"), .coord = {along_k, column}, .mbar = copied});
      return next_step();
    });
    for (int i = 0; i < stages; ++i) {  // nothing may arrive at a barrier of a block that is gone
      auto [stage, phase] = ring.advance();
      empty.at(stage).wait(phase ^ 1);
    }
  };
  k.if_(warp == copy_warp, [&] { k.if_(is_elected, copy); });

  const auto multiply = [&] {
    const auto idesc = k.tcgen05.make_instr_desc_f16bf16_f32({.m = bm, .n = bn});
    auto accumulate = k.scalar<pred>();
    k << inst.setp.ne.u32(accumulate, step, 0);  // the first product overwrites what is in tensor memory
    k.loop("mma_step", [&] {
      auto [stage, phase] = ring.advance();
      full.at(stage).wait(phase);
      k.tcgen05.fence_after_thread_sync();
      auto a = k.tcgen05.masked_descriptor(base + stage * a_bytes);
      auto b = k.tcgen05.masked_descriptor(base + (stage * b_bytes + b_at));
      for (int i = 0; i < bk / mma_k; ++i) {  // 16 columns are 32 bytes: 2 in the unit of descriptors
        auto a_part = i == 0 ? a : a + 2 * i;
        auto b_part = i == 0 ? b : b + 2 * i;
        k.tcgen05.mma(taddr, a_part, b_part, idesc, {.pred_operand = i == 0 ? write::Enable(accumulate) : write::Enable(true)});
      }
      k.tcgen05.commit(empty.at(stage));  // when these have been read
      auto more_steps = next_step();
      k << inst.setp.ne.u32(accumulate, step, 0);
      return more_steps;
    });
    k.tcgen05.commit(done[0]);
  };
  k.if_(warp == mma_warp, [&] { k.if_(is_elected, multiply); });

  k.if_(warp < epilogue_warps, [&] {
    done[0].wait(0);
    k.tcgen05.fence_after_thread_sync();
    auto box = base + (warp * (2 * box_bytes) + c_at);
    store_tile(k, taddr, box, lane, warp, row + (warp << 5), column);
    k.tcgen05.fence_before_thread_sync();
  });

  k.bar.sync(0);  // all has been read from tensor memory
  k.if_(warp == mma_warp, [&] {
    k.tcgen05.fence_after_thread_sync();
    k.tcgen05.dealloc(taddr, bn);
  });
  k << inst.ret();
  return k;
}

}  // namespace examples
