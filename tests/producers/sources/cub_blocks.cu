// CUB's algorithms of a block and of a warp.
// targets: sm_75; sm_90a; sm_120a
#include <cub/cub.cuh>

#include "program.cuh"

constexpr int threads = 128, items = 4, count = threads * items;

template <cub::BlockScanAlgorithm algorithm>
__global__ void scan(const int* in, int* out, int* total) {
  using Scan = cub::BlockScan<int, threads, algorithm>;
  __shared__ typename Scan::TempStorage storage;
  int mine[items], sum;
  for (int i = 0; i < items; ++i) mine[i] = in[threadIdx.x * items + i];
  Scan(storage).InclusiveSum(mine, mine, sum);
  for (int i = 0; i < items; ++i) out[threadIdx.x * items + i] = mine[i];
  if (threadIdx.x == 0) *total = sum;
}

template <cub::BlockReduceAlgorithm algorithm>
__global__ void reduce(const float* in, float* out) {
  using Reduce = cub::BlockReduce<float, threads, algorithm>;
  __shared__ typename Reduce::TempStorage storage;
  float mine[items];
  cub::LoadDirectStriped<threads>(threadIdx.x, in, mine);
  const float sum = Reduce(storage).Sum(mine);
  __syncthreads();
  const float most = Reduce(storage).Reduce(mine[0], cuda::maximum<>{}, 100);  // of 100 threads
  if (threadIdx.x == 0) out[0] = sum, out[1] = most;
}

__global__ void sort(const unsigned* keys, const int* values, unsigned* sorted, int* carried) {
  using Sort = cub::BlockRadixSort<unsigned, threads, items, int>;
  __shared__ typename Sort::TempStorage storage;
  unsigned key[items];
  int value[items];
  cub::LoadDirectBlocked(threadIdx.x, keys, key);
  cub::LoadDirectBlocked(threadIdx.x, values, value);
  Sort(storage).SortDescendingBlockedToStriped(key, value);
  cub::StoreDirectStriped<threads>(threadIdx.x, sorted, key);
  cub::StoreDirectStriped<threads>(threadIdx.x, carried, value);
}

struct Less {
  __device__ bool operator()(double a, double b) const { return a < b; }
};
__global__ void merge_sort(const double* in, double* out) {
  using Sort = cub::BlockMergeSort<double, threads, items>;
  using Load = cub::BlockLoad<double, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<double, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  double mine[items];
  Load(storage.load).Load(in, mine, count - 3, 1e30);  // the last three are not there
  __syncthreads();
  Sort(storage.sort).Sort(mine, Less{});
  __syncthreads();
  Store(storage.store).Store(out, mine, count - 3);
}

template <cub::BlockHistogramAlgorithm algorithm>
__global__ void histogram(const unsigned char* in, unsigned* out) {
  using Histogram = cub::BlockHistogram<unsigned char, threads, items, 256, algorithm>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned bins[256];
  unsigned char mine[items];
  cub::LoadDirectBlockedVectorized(threadIdx.x, const_cast<unsigned char*>(in), mine);
  Histogram(storage).Histogram(mine, bins);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += threads) out[i] = bins[i];
}

__global__ void neighbours(const int* in, int* heads, int* differences) {
  using Heads = cub::BlockDiscontinuity<int, threads>;
  using Difference = cub::BlockAdjacentDifference<int, threads>;
  using Exchange = cub::BlockExchange<int, threads, items>;
  __shared__ typename Heads::TempStorage for_heads;
  __shared__ typename Difference::TempStorage for_difference;
  __shared__ typename Exchange::TempStorage for_exchange;
  int mine[items], flags[items], less[items];
  cub::LoadDirectStriped<threads>(threadIdx.x, in, mine);
  Exchange(for_exchange).StripedToBlocked(mine, mine);
  Heads(for_heads).FlagHeads(flags, mine, cuda::std::not_equal_to<>{});
  Difference(for_difference).SubtractLeft(mine, less, cuda::std::minus<>{});
  cub::StoreDirectBlocked(threadIdx.x, heads, flags);
  cub::StoreDirectBlocked(threadIdx.x, differences, less);
}

__global__ void warps(const long long* in, long long* sums, long long* scanned, long long* sorted) {
  using Reduce = cub::WarpReduce<long long, 16>;
  using Scan = cub::WarpScan<long long>;
  using Sort = cub::WarpMergeSort<long long, 2, 32>;
  __shared__ typename Reduce::TempStorage for_reduce[threads / 16];
  __shared__ typename Scan::TempStorage for_scan[threads / 32];
  __shared__ typename Sort::TempStorage for_sort[threads / 32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long mine = in[threadIdx.x];
  const long long sum = Reduce(for_reduce[threadIdx.x / 16]).Sum(mine);
  if (threadIdx.x % 16 == 0) sums[threadIdx.x / 16] = sum;
  long long most;
  Scan(for_scan[warp]).ExclusiveScan(mine, most, -1000000, cuda::maximum<>{});
  scanned[threadIdx.x] = most;
  long long two[2] = {in[warp * 64 + lane * 2], in[warp * 64 + lane * 2 + 1]};
  Sort(for_sort[warp]).Sort(two, cuda::std::greater<>{});
  sorted[warp * 64 + lane * 2] = two[0];
  sorted[warp * 64 + lane * 2 + 1] = two[1];
}

int main() {
  const int* ints = given<int>("ints", count, [](auto i) { return static_cast<int>(drawn(1, i) % 2001) - 1000; });
  scan<cub::BLOCK_SCAN_WARP_SCANS><<<1, threads>>>(ints, made<int>("scan_warps", count), made<int>("total_warps", 1));
  scan<cub::BLOCK_SCAN_RAKING><<<1, threads>>>(ints, made<int>("scan_raking", count), made<int>("total_raking", 1));
  const float* floats = given<float>("floats", count, [](auto i) { return eighths(2, i); });
  reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS><<<1, threads>>>(floats, made<float>("reduce_warps", 2));
  reduce<cub::BLOCK_REDUCE_RAKING><<<1, threads>>>(floats, made<float>("reduce_raking", 2));
  const unsigned* keys = given<unsigned>("keys", count, [](auto i) { return drawn(3, i) >> (i % 3 * 10); });
  sort<<<1, threads>>>(keys, ints, made<unsigned>("sorted_keys", count), made<int>("sorted_values", count));
  const double* doubles = given<double>("doubles", count, [](auto i) { return eighths(4, i) * 1.25; });
  merge_sort<<<1, threads>>>(doubles, made<double>("merged", count));
  const unsigned char* bytes = given<unsigned char>("bytes", count, [](auto i) { return drawn(5, i) % 40; });
  histogram<cub::BLOCK_HISTO_ATOMIC><<<1, threads>>>(bytes, made<unsigned>("histogram_atomic", 256));
  histogram<cub::BLOCK_HISTO_SORT><<<1, threads>>>(bytes, made<unsigned>("histogram_sort", 256));
  const int* runs = given<int>("runs", count, [](auto i) { return i / 7 * 3 - static_cast<int>(i / 50); });
  neighbours<<<1, threads>>>(runs, made<int>("heads", count), made<int>("differences", count));
  const long long* longs = given<long long>("longs", 256, [](auto i) { return static_cast<long long>(drawn(6, i)) * 3 - 5000000000; });
  warps<<<1, threads>>>(longs, made<long long>("warp_sums", 8), made<long long>("warp_scan", threads), made<long long>("warp_sorted", 256));
  return cudaDeviceSynchronize();
}
