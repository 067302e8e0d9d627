// Cooperative groups: tiles, coalesced and labelled threads, reductions and scans, copies, a whole grid.
// targets: sm_75; sm_80; sm_90a; sm_120a
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "program.cuh"

namespace cg = cooperative_groups;

__global__ void tiles(const int* in, int* out) {
  const auto block = cg::this_thread_block();
  const auto eight = cg::tiled_partition<8>(block);
  const int mine = in[block.thread_rank()];
  int* at = out + block.thread_rank() * 6;
  at[0] = cg::reduce(eight, mine, cg::plus<int>());
  at[1] = cg::reduce(eight, mine, cg::greater<int>());
  at[2] = cg::inclusive_scan(eight, mine);
  at[3] = cg::exclusive_scan(eight, mine, cg::bit_xor<int>());
  at[4] = eight.shfl_down(mine, 3);
  at[5] = eight.any(mine > 900) * 1000 + eight.meta_group_rank() * 10 + eight.thread_rank();
}

__global__ void coalesced(const int* in, int* out, int* count) {
  const int mine = in[threadIdx.x];
  if (mine % 3 == 0) {
    const auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(count, active.size());
    out[active.shfl(first, 0) + active.thread_rank()] = mine;
  }
}

__global__ void labelled(const int* in, int* sizes, int* sums, int* halves) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int mine = in[threadIdx.x], label = (mine & 1023) % 5;
  const auto same = cg::labeled_partition(warp, label);
  sizes[threadIdx.x] = same.size();
  sums[threadIdx.x] = cg::reduce(same, mine, cg::plus<int>());
  const auto part = cg::binary_partition(warp, mine > 0);
  halves[threadIdx.x] = part.size() * 100 + part.thread_rank();
}

__global__ void big_tile(const int* in, int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<128>(block);
  const int sum = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 5) out[tile.meta_group_rank()] = sum;
}

__global__ void copied(const int* in, int* out, int count) {
  extern __shared__ int shared[];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, shared, in, sizeof(int) * count);
  cg::wait(block);
  for (int i = block.thread_rank(); i < count; i += block.size()) out[i] = shared[count - 1 - i];
}

__global__ void whole_grid(int* data, int* out, int rounds) {
  const auto grid = cg::this_grid();
  const int n = grid.size(), i = grid.thread_rank();
  for (int round = 0; round < rounds; ++round) {
    const int next = data[(i + 1) % n] + data[(i + n - 1) % n];
    grid.sync();
    data[i] = next & 0xFFFF;
    grid.sync();
  }
  out[i] = data[n - 1 - i];
}

int main() {
  const int* in = given<int>("in", 256, [](auto i) { return static_cast<int>(drawn(7, i) % 2001) - 1000; });
  tiles<<<1, 64>>>(in, made<int>("tiles", 64 * 6));
  coalesced<<<1, 256>>>(in, zeros<int>("packed", 256), zeros<int>("packed_count", 1));
  labelled<<<1, 64>>>(in, made<int>("label_sizes", 64), made<int>("label_sums", 64), made<int>("halves", 64));
  big_tile<<<1, 256>>>(in, made<int>("big_tiles", 2));
  copied<<<1, 64, 1024>>>(in, made<int>("reversed", 200), 200);
  int* data = given<int>("grid_data", 128, [](auto i) { return drawn(8, i) & 0xFFFF; });
  int* out = made<int>("grid_out", 128);
  int rounds = 3;
  void* arguments[] = {&data, &out, &rounds};
  cudaLaunchCooperativeKernel(whole_grid, dim3(4), dim3(32), arguments, 0, nullptr);
  return cudaDeviceSynchronize();
}
