// CUB's device-wide algorithms: the kernels that their dispatch instantiates.
// corpus: sm_80 -DREDUCE
// corpus: sm_100 -DREDUCE -lineinfo
// corpus: sm_90 -DSCAN
// corpus: sm_75 -DSCAN
// corpus: sm_80 -DSORT
// corpus: sm_120 -DSORT
// corpus: sm_90 -DHISTOGRAM
// corpus: sm_86 -DSELECT
// corpus: sm_100a -DSELECT -lineinfo
// corpus: sm_90 -DSEGMENTED
// corpus: sm_75 -DMERGE
// corpus: sm_90 -DTRANSFORM
// corpus: sm_100a -DTRANSFORM
// corpus: sm_80 -DBATCH
#include <cub/cub.cuh>
void* t;
size_t n;
#ifdef REDUCE
void go(float* x, float* o, double* d, int* i, cub::KeyValuePair<int, float>* kv) {
  cub::DeviceReduce::Sum(t, n, x, o, 1000);
  cub::DeviceReduce::Max(t, n, i, i + 1, 1000);
  cub::DeviceReduce::Reduce(t, n, d, d + 1, 1000, cuda::std::multiplies<>{}, 1.0);
  cub::DeviceReduce::ReduceByKey(t, n, i, i, x, o, i, cuda::std::plus<>{}, 99);
}
#endif
#ifdef SCAN
void go(float* x, float* o, long long* l, int* i) {
  cub::DeviceScan::ExclusiveSum(t, n, x, o, 1000);
  cub::DeviceScan::InclusiveScan(t, n, l, l, cuda::maximum<>{}, 1000);
  cub::DeviceScan::InclusiveSumByKey(t, n, i, x, o, 1000);
}
#endif
#ifdef SORT
void go(unsigned* k, float* f, unsigned long long* l) {
  cub::DeviceRadixSort::SortKeys(t, n, k, k + 1, 1000);
  cub::DeviceRadixSort::SortPairsDescending(t, n, f, f + 1, l, l + 1, 1000);
}
#endif
#ifdef HISTOGRAM
void go(const float* x, const unsigned char* p, int* h) {
  cub::DeviceHistogram::HistogramEven(t, n, x, h, 33, 0.f, 1.f, 1000);
  int* hs[3] = {h, h, h};
  int levels[3] = {257, 257, 257};
  int lo[3] = {0, 0, 0}, hi[3] = {256, 256, 256};
  cub::DeviceHistogram::MultiHistogramEven<4, 3>(t, n, p, hs, levels, lo, hi, 1000);
}
#endif
#ifdef SELECT
struct Odd {
  __device__ bool operator()(int x) const { return x & 1; }
};
void go(int* x, int* o, int* c, char* f) {
  cub::DeviceSelect::If(t, n, x, o, c, 1000, Odd{});
  cub::DeviceSelect::Flagged(t, n, x, f, o, c, 1000);
  cub::DeviceSelect::Unique(t, n, x, o, c, 1000);
  cub::DevicePartition::If(t, n, x, o, c, 1000, Odd{});
  cub::DeviceRunLengthEncode::Encode(t, n, x, o, c, c, 1000);
}
#endif
#ifdef SEGMENTED
void go(float* x, float* o, int* b, unsigned* k) {
  cub::DeviceSegmentedReduce::Sum(t, n, x, o, 10, b, b + 1);
  cub::DeviceSegmentedSort::SortKeys(t, n, k, k + 1, 1000, 10, b, b + 1);
}
#endif
#ifdef MERGE
struct Less {
  __device__ bool operator()(double a, double b) const { return a < b; }
};
void go(double* x, double* o, int* v) {
  cub::DeviceMergeSort::SortPairs(t, n, x, v, 1000, Less{});
  cub::DeviceMerge::MergeKeys(t, n, x, 10, o, 20, x, Less{});
  cub::DeviceAdjacentDifference::SubtractLeftCopy(t, n, x, o, 1000);
}
#endif
#ifdef TRANSFORM
struct Double {
  __device__ void operator()(float& v) const { v *= 2; }
};
struct Axpy {
  float a;
  __device__ float operator()(float x, float y) const { return a * x + y; }
};
void go(float* x, float* y, float* o) {
  cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), o, 1000, Axpy{2.f});
  cub::DeviceFor::ForEachN(x, 1000, Double{});
}
#endif
#ifdef BATCH
void go(void** src, void** dst, int* sizes, float* x, int* rows, int* cols, float* v, float* y) {
  cub::DeviceMemcpy::Batched(t, n, src, dst, sizes, 10);
  cub::DeviceCopy::Batched(t, n, (float**)src, (float**)dst, sizes, 10);
}
#endif
