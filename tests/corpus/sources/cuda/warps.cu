// Warp intrinsics: shuffles of all widths, votes, matches, reductions, masks.
// corpus: sm_75
// corpus: sm_80 -lineinfo
// corpus: sm_90 -Xcicc -O0
// corpus: sm_110a
template <class T>
__global__ void shuffles(T* x, int lane) {
  T v = x[threadIdx.x];
  v += __shfl_sync(0xffffffff, v, lane);
  v += __shfl_up_sync(0x0000ffff, v, 3, 16);
  v += __shfl_down_sync(__activemask(), v, lane, 8);
  v += __shfl_xor_sync(~0u, v, 5);
  x[threadIdx.x] = v;
}
template __global__ void shuffles(int*, int);
template __global__ void shuffles(float*, int);
template __global__ void shuffles(double*, int);
template __global__ void shuffles(unsigned long long*, int);
__global__ void votes(int* o, int p, unsigned m) {
  o[0] = __all_sync(m, p);
  o[1] = __any_sync(m, p > 3);
  o[2] = __ballot_sync(m, p & 1);
  o[3] = __uni_sync(m, p);
  o[4] = __activemask();
  int same;
  o[5] = __match_any_sync(m, p);
  o[6] = __match_all_sync(m, p, &same);
  o[7] = same;
  o[8] = __match_any_sync(m, (long long)p << 33);
  o[9] = __match_all_sync(m, (double)p, &same);
  __syncwarp(m);
  o[10] = same;
}
#if __CUDA_ARCH__ >= 800
__global__ void reductions(int* o, int v, unsigned u, unsigned m) {
  o[0] = __reduce_add_sync(m, v);
  o[1] = __reduce_min_sync(m, v);
  o[2] = __reduce_max_sync(m, v);
  o[3] = __reduce_add_sync(m, u);
  o[4] = __reduce_min_sync(m, u);
  o[5] = __reduce_max_sync(m, u);
  o[6] = __reduce_and_sync(m, u);
  o[7] = __reduce_or_sync(m, u);
  o[8] = __reduce_xor_sync(m, u);
}
#endif
__global__ void scan(int* x) {
  int v = x[threadIdx.x], lane = threadIdx.x % warpSize;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    int t = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += t;
  }
  x[threadIdx.x] = v;
}
__global__ void barriers(int* o, int p) {
  __syncthreads();
  o[0] = __syncthreads_count(p);
  o[1] = __syncthreads_and(p);
  o[2] = __syncthreads_or(p);
  __threadfence_block();
  o[3] = 1;
  __threadfence();
  o[4] = 2;
  __threadfence_system();
  o[5] = 3;
  __nanosleep(100);
}
__global__ void lanes(unsigned* o) {
  unsigned r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  o[0] = r;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
  o[1] = r;
  o[2] = (unsigned)clock();
  o[3] = (unsigned)clock64();
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  o[4] = (unsigned)t;
}
