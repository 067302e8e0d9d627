// Dense kernels: tiled products in many types, transposes, convolution, a factorisation, norms, attention.
// corpus: sm_75
// corpus: sm_90 -DELEMENT=double -lineinfo
// corpus: sm_80 -DELEMENT=__half -use_fast_math
// corpus: sm_100 -DELEMENT=__nv_bfloat16
// corpus: sm_120 -DELEMENT=int -G
// corpus: sm_86 -DELEMENT=float -Xcicc -O0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;
template <int B>
__global__ void product(const T* a, const T* b, T* c, int n) {
  __shared__ T x[B][B + 1], y[B][B];
  int i = blockIdx.y * B + threadIdx.y, j = blockIdx.x * B + threadIdx.x;
  T r = T(0.f);
  for (int k = 0; k < n; k += B) {
    x[threadIdx.y][threadIdx.x] = a[i * n + k + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + j];
    __syncthreads();
    for (int m = 0; m < B; ++m) r += x[threadIdx.y][m] * y[m][threadIdx.x];
    __syncthreads();
  }
  c[i * n + j] = r;
}
template __global__ void product<8>(const T*, const T*, T*, int);
template __global__ void product<32>(const T*, const T*, T*, int);
template <int M, int N>
__global__ void register_tiles(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int k, int lda, int ldb,
                               int ldc) {
  T r[M][N];
  for (auto& row : r)
    for (auto& v : row) v = T(0.f);
  for (int p = 0; p < k; ++p) {
    T x[M], y[N];
    for (int i = 0; i < M; ++i) x[i] = a[(threadIdx.y * M + i) * lda + p];
    for (int j = 0; j < N; ++j) y[j] = b[p * ldb + threadIdx.x * N + j];
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) r[i][j] += x[i] * y[j];
  }
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) c[(threadIdx.y * M + i) * ldc + threadIdx.x * N + j] = r[i][j];
}
template __global__ void register_tiles<4, 8>(const T*, const T*, T*, int, int, int, int);
__global__ void transpose(const T* x, T* y, int n) {
  __shared__ T s[32][33];
  for (int k = 0; k < 32; k += 8)
    s[threadIdx.y + k][threadIdx.x] = x[(blockIdx.y * 32 + threadIdx.y + k) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 32; k += 8)
    y[(blockIdx.x * 32 + threadIdx.y + k) * n + blockIdx.y * 32 + threadIdx.x] = s[threadIdx.x][threadIdx.y + k];
}
__constant__ float filter[5][5];
__global__ void convolve(const T* x, T* y, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  float s = 0;
  for (int v = -2; v <= 2; ++v)
    for (int u = -2; u <= 2; ++u) {
      int p = min(max(i + u, 0), w - 1), q = min(max(j + v, 0), h - 1);
      s += filter[v + 2][u + 2] * (float)x[q * w + p];
    }
  y[j * w + i] = T(s);
}
__global__ void factor(T* a, int n) {
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x > k) a[threadIdx.x * n + k] = a[threadIdx.x * n + k] / a[k * n + k];
    __syncthreads();
    if (threadIdx.x > k)
      for (int j = k + 1; j < n; ++j) a[threadIdx.x * n + j] -= a[threadIdx.x * n + k] * a[k * n + j];
    __syncthreads();
  }
}
__global__ void softmax(const T* x, T* y, int n) {
  float m = -1e30f, s = 0;
  for (int i = threadIdx.x; i < n; i += 32) m = fmaxf(m, (float)x[i]);
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  for (int i = threadIdx.x; i < n; i += 32) s += __expf((float)x[i] - m);
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  for (int i = threadIdx.x; i < n; i += 32) y[i] = T(__expf((float)x[i] - m) / s);
}
__global__ void norm(const T* x, const T* g, T* y, int n, float eps) {
  __shared__ float part[32];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += (float)x[blockIdx.x * n + i] * (float)x[blockIdx.x * n + i];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x == 0) part[0] = rsqrtf(s / n + eps);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[blockIdx.x * n + i] = T((float)x[blockIdx.x * n + i] * part[0] * (float)g[i]);
}
