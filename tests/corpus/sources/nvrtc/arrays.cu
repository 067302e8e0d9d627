// What array libraries compile while they run: element-wise kernels, reductions, indexing, without any header.
// corpus: sm_75
// corpus: sm_80 --use_fast_math
// corpus: sm_90 --device-debug
// corpus: sm_120 --generate-line-info
// corpus: sm_100a -default-device --extra-device-vectorization
// corpus: compute_86 --fmad=false --device-as-default-execution-space
// name: strided<float, 3>
// name: strided<double, 2>
// name: &scale
// name: transform<int, Square>
typedef unsigned long long size;
template <class T, int N>
struct View {
  T* data;
  long long shape[N], strides[N];
  __device__ T& at(long long i) {
    long long o = 0;
    for (int d = N; d--;) {
      o += i % shape[d] * strides[d];
      i /= shape[d];
    }
    return data[o];
  }
};
template <class T, int N>
__global__ void strided(View<T, N> a, View<T, N> b, size n) {
  for (size i = blockIdx.x * (size)blockDim.x + threadIdx.x; i < n; i += (size)gridDim.x * blockDim.x) a.at(i) += b.at(i);
}
struct Square {
  template <class T>
  __device__ T operator()(T x) const {
    return x * x;
  }
};
template <class T, class F>
__global__ void transform(T* x, F f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i]);
}
__constant__ double scale = 0.5;
extern "C" __global__ __launch_bounds__(512) void sum(const double* __restrict__ x, double* o, int n) {
  __shared__ double s[512];
  double v = 0;
  for (int i = threadIdx.x; i < n; i += 512) v += x[i] * scale;
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 256; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (!threadIdx.x) atomicAdd(o, s[0]);
}
extern "C" __global__ void take(const int* x, const long long* index, int* o, int n, int axis) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  long long j = index[i];
  if (j < 0) j += axis;
  o[i] = x[j];
}
extern "C" __global__ void clip(float* x, float lo, float hi) {
  int i = threadIdx.x;
  x[i] = fminf(fmaxf(x[i], lo), hi) + sinf(x[i]) / expf(x[i]);
}
