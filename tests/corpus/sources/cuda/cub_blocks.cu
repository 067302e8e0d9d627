// CUB's block and warp collectives, one algorithm a macro, over several types and sizes.
// corpus: sm_75 -DREDUCE
// corpus: sm_90 -DREDUCE -DELEMENT=double
// corpus: sm_80 -DSCAN
// corpus: sm_120 -DSCAN -DELEMENT=long\ long -lineinfo
// corpus: sm_86 -DSORT
// corpus: sm_100a -DSORT -DELEMENT=float
// corpus: sm_80 -DHISTOGRAM
// corpus: sm_90a -DMOVE
// corpus: sm_75 -DMOVE -DELEMENT=short
// corpus: sm_89 -DLANES
// corpus: sm_120 -DLANES -DELEMENT=double -G
// corpus: sm_90 -DDISCONTINUITY
#include <cub/cub.cuh>
#ifndef ELEMENT
#define ELEMENT int
#endif
using T = ELEMENT;
using namespace cub;
#ifdef REDUCE
template <int N, BlockReduceAlgorithm A>
__global__ void reduce(T* o, const T* x) {
  using R = BlockReduce<T, N, A>;
  __shared__ typename R::TempStorage s;
  T v = R(s).Sum(x[threadIdx.x]);
  __syncthreads();
  T w = R(s).Reduce(x[threadIdx.x + N], cuda::maximum<>{});
  if (threadIdx.x == 0) o[blockIdx.x] = v + w;
}
template __global__ void reduce<64, BLOCK_REDUCE_WARP_REDUCTIONS>(T*, const T*);
template __global__ void reduce<256, BLOCK_REDUCE_RAKING>(T*, const T*);
template __global__ void reduce<100, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(T*, const T*);
#endif
#ifdef SCAN
template <int N, BlockScanAlgorithm A>
__global__ void scan(T* o, const T* x) {
  using S = BlockScan<T, N, A>;
  __shared__ typename S::TempStorage s;
  T v[4];
  LoadDirectBlocked(threadIdx.x, x, v);
  T total;
  S(s).ExclusiveSum(v, v, total);
  __syncthreads();
  S(s).InclusiveScan(v, v, cuda::minimum<>{});
  StoreDirectStriped<N>(threadIdx.x, o, v);
  if (threadIdx.x == 0) o[4 * N] = total;
}
template __global__ void scan<128, BLOCK_SCAN_WARP_SCANS>(T*, const T*);
template __global__ void scan<64, BLOCK_SCAN_RAKING>(T*, const T*);
template __global__ void scan<64, BLOCK_SCAN_RAKING_MEMOIZE>(T*, const T*);
#endif
#ifdef SORT
template <int N, int I>
__global__ void radix(T* k, int* v) {
  using S = BlockRadixSort<T, N, I, int>;
  __shared__ typename S::TempStorage s;
  T a[I];
  int b[I];
  for (int i = 0; i < I; ++i) a[i] = k[threadIdx.x * I + i], b[i] = v[threadIdx.x * I + i];
  S(s).Sort(a, b, 0, 16);
  __syncthreads();
  S(s).SortDescending(a, b);
  for (int i = 0; i < I; ++i) k[threadIdx.x * I + i] = a[i], v[threadIdx.x * I + i] = b[i];
}
template __global__ void radix<64, 3>(T*, int*);
struct Less {
  __device__ bool operator()(T a, T b) const { return a < b; }
};
__global__ void merge(T* k) {
  using S = BlockMergeSort<T, 128, 4>;
  __shared__ typename S::TempStorage s;
  T a[4];
  LoadDirectBlocked(threadIdx.x, k, a);
  S(s).Sort(a, Less{});
  StoreDirectBlocked(threadIdx.x, k, a);
}
#endif
#ifdef HISTOGRAM
template <BlockHistogramAlgorithm A>
__global__ void histogram(unsigned* o, const unsigned char* x) {
  using H = BlockHistogram<unsigned char, 128, 4, 64, A>;
  __shared__ typename H::TempStorage s;
  __shared__ unsigned bins[64];
  unsigned char v[4];
  for (int i = 0; i < 4; ++i) v[i] = x[threadIdx.x * 4 + i] & 63;
  H(s).Histogram(v, bins);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(o + threadIdx.x, bins[threadIdx.x]);
}
template __global__ void histogram<BLOCK_HISTO_ATOMIC>(unsigned*, const unsigned char*);
template __global__ void histogram<BLOCK_HISTO_SORT>(unsigned*, const unsigned char*);
#endif
#ifdef MOVE
template <BlockLoadAlgorithm L, BlockStoreAlgorithm S>
__global__ void move(T* o, const T* x, int n) {
  using A = BlockLoad<T, 128, 4, L>;
  using B = BlockStore<T, 128, 4, S>;
  using E = BlockExchange<T, 128, 4>;
  __shared__ union {
    typename A::TempStorage a;
    typename B::TempStorage b;
    typename E::TempStorage e;
  } s;
  T v[4];
  A(s.a).Load(x, v, n, T(0));
  __syncthreads();
  E(s.e).BlockedToStriped(v, v);
  __syncthreads();
  B(s.b).Store(o, v, n);
}
template __global__ void move<BLOCK_LOAD_DIRECT, BLOCK_STORE_VECTORIZE>(T*, const T*, int);
template __global__ void move<BLOCK_LOAD_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE>(T*, const T*, int);
template __global__ void move<BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(T*, const T*, int);
template __global__ void move<BLOCK_LOAD_STRIPED, BLOCK_STORE_STRIPED>(T*, const T*, int);
#endif
#ifdef LANES
template <int N>
__global__ void warp(T* o, const T* x) {
  using R = WarpReduce<T, N>;
  using S = WarpScan<T, N>;
  __shared__ typename R::TempStorage r[4];
  __shared__ typename S::TempStorage s[4];
  int w = threadIdx.x / N % 4;
  T v = x[threadIdx.x], sum = R(r[w]).Sum(v), pre, all;
  S(s[w]).InclusiveSum(v, pre, all);
  T head = R(r[w]).HeadSegmentedSum(v, threadIdx.x % 5 == 0);
  o[threadIdx.x] = sum + pre + all + head;
}
template __global__ void warp<32>(T*, const T*);
template __global__ void warp<7>(T*, const T*);
template __global__ void warp<16>(T*, const T*);
struct Less {
  __device__ bool operator()(T a, T b) const { return a < b; }
};
__global__ void warp_sort(T* k) {
  using S = WarpMergeSort<T, 3, 16>;
  __shared__ typename S::TempStorage s[8];
  T a[3];
  for (int i = 0; i < 3; ++i) a[i] = k[threadIdx.x * 3 + i];
  S(s[threadIdx.x / 16]).Sort(a, Less{});
  for (int i = 0; i < 3; ++i) k[threadIdx.x * 3 + i] = a[i];
}
#endif
#ifdef DISCONTINUITY
struct Differ {
  __device__ bool operator()(T a, T b) const { return a != b; }
};
__global__ void edges(int* o, const T* x) {
  using D = BlockDiscontinuity<T, 128>;
  using A = BlockAdjacentDifference<T, 128>;
  using H = BlockRunLengthDecode<T, 128, 1, 4>;
  __shared__ union {
    typename D::TempStorage d;
    typename A::TempStorage a;
    typename H::TempStorage h;
  } t;
  T v[3];
  int heads[3], tails[3];
  LoadDirectBlocked(threadIdx.x, x, v);
  D(t.d).FlagHeadsAndTails(heads, tails, v, Differ{});
  __syncthreads();
  A(t.a).SubtractLeft(v, v, [](T a, T b) { return a - b; });
  __syncthreads();
  T r[1] = {v[0]};
  unsigned len[1] = {3};
  unsigned total;
  H h(t.h, r, len, total);
  T out[4];
  h.RunLengthDecode(out, 0);
  for (int i = 0; i < 3; ++i) o[threadIdx.x * 3 + i] = heads[i] + tails[i] + v[i] + out[i];
}
#endif
