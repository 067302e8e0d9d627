// Cooperative groups: tiles, coalesced threads, labelled and binary partitions, reduce, scan, grid sync, copies.
// corpus: sm_75
// corpus: sm_80
// corpus: sm_90 -lineinfo
// corpus: sm_120 -G
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
template <int N>
__global__ void tile(int* o, const int* x) {
  auto t = cg::tiled_partition<N>(cg::this_thread_block());
  int v = x[threadIdx.x];
  for (int d = t.size() / 2; d; d /= 2) v += t.shfl_down(v, d);
  v += t.any(v > 3) + t.all(v < 5) + t.ballot(v & 1);
  if constexpr (N > 1) v += t.match_any(v);
  t.sync();
  o[t.meta_group_rank()] = v + t.thread_rank();
}
template __global__ void tile<2>(int*, const int*);
template __global__ void tile<8>(int*, const int*);
template __global__ void tile<32>(int*, const int*);
__global__ void reduce_all(int* o, float* f, long long* l) {
  auto t = cg::tiled_partition<16>(cg::this_thread_block());
  o[0] = cg::reduce(t, o[1], cg::plus<int>());
  o[2] = cg::reduce(t, o[3], cg::bit_xor<int>());
  f[0] = cg::reduce(t, f[1], cg::greater<float>());
  l[0] = cg::reduce(t, l[1], cg::less<long long>());
  o[4] = cg::inclusive_scan(t, o[5], cg::plus<int>());
  o[6] = cg::exclusive_scan(t, o[7]);
}
__global__ void active(int* counter, int* o) {
  if (threadIdx.x % 3) {
    auto g = cg::coalesced_threads();
    int base = 0;
    if (g.thread_rank() == 0) base = atomicAdd(counter, g.size());
    o[g.thread_rank()] = g.shfl(base, 0) + g.thread_rank();
    auto h = cg::labeled_partition(g, o[0]);
    o[1] = h.size();
    auto b = cg::binary_partition(g, o[2] > 0);
    b.sync();
    o[3] = cg::reduce(b, o[4], cg::plus<int>());
  }
}
__global__ void whole_grid(int* x) {
  auto g = cg::this_grid();
  x[g.thread_rank()] *= 2;
  g.sync();
  x[g.thread_rank()] += x[g.size() - 1 - g.thread_rank()];
  auto token = g.barrier_arrive();
  g.barrier_wait(std::move(token));
}
__global__ void staged(float* o, const float* x, int n) {
  extern __shared__ float s[];
  auto b = cg::this_thread_block();
  float a = 0;
  for (int i = 0; i < n; i += 256) {
    cg::memcpy_async(b, s, x + i, sizeof(float) * 256);
    cg::wait(b);
    a += s[b.thread_rank()];
    b.sync();
  }
  cg::memcpy_async(b, reinterpret_cast<float4*>(s), reinterpret_cast<const float4*>(x), cuda::aligned_size_t<16>(1024));
  cg::wait_prior<0>(b);
  o[b.thread_rank()] = a + s[0];
}
__global__ void once(int* o) {
  auto b = cg::this_thread_block();
  cg::invoke_one(b, [&] { o[0] = 7; });
  o[1] = cg::invoke_one_broadcast(cg::coalesced_threads(), [&] { return o[2]; });
}
#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 2, 1) cluster(int* o) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  s[threadIdx.x % 32] = threadIdx.x;
  c.sync();
  int* r = c.map_shared_rank(s, c.block_rank() ^ 1);
  o[c.thread_rank()] = r[threadIdx.x % 32] + c.query_shared_rank(r) + c.dim_blocks().x;
  auto t = c.barrier_arrive();
  c.barrier_wait(std::move(t));
}
#endif
