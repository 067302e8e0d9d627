// Quantised kernels: packed formats in and out, scales a block, accumulation in wider types, look-up tables in registers.
// corpus: sm_80
// corpus: sm_90 -use_fast_math -lineinfo
// corpus: sm_100a
// corpus: sm_120 -maxrregcount=32
// corpus: sm_89 -G
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
__global__ void int4_product(const uint4* w, const __half2* scale, const __half2* x, __half* y, int k) {
  __half2 sum = __float2half2_rn(0.f);
  for (int i = threadIdx.x; i < k; i += 32) {
    uint4 q = w[blockIdx.x * k + i];
    __half2 s = scale[i / 4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      unsigned v = c == 0 ? q.x : c == 1 ? q.y : c == 2 ? q.z : q.w;
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        unsigned h = (v >> (4 * b)) & 0x000f000f | 0x64006400;
        __half2 d = __hsub2(*reinterpret_cast<__half2*>(&h), __float2half2_rn(1032.f));
        sum = __hfma2(__hmul2(d, s), x[i * 16 + c * 4 + b], sum);
      }
    }
  }
  float t = __low2float(sum) + __high2float(sum);
  for (int d = 16; d; d >>= 1) t += __shfl_xor_sync(~0u, t, d);
  if (!threadIdx.x) y[blockIdx.x] = __float2half_rn(t);
}
__global__ void int8_product(const int4* a, const int4* b, int* c, float* f, float sa, const float* sb, int k) {
  int s = 0;
  for (int i = 0; i < k; ++i) {
    int4 x = a[threadIdx.y * k + i], y = b[threadIdx.x * k + i];
    s = __dp4a(x.x, y.x, s);
    s = __dp4a(x.y, y.y, s);
    s = __dp4a(x.z, y.z, s);
    s = __dp4a(x.w, y.w, s);
  }
  c[threadIdx.y * blockDim.x + threadIdx.x] = s;
  f[threadIdx.y] = __fmaf_rn(s, sa * sb[threadIdx.x], f[threadIdx.y]);
}
__global__ void block_scale(const float4* x, __nv_fp8x4_e4m3* o, float* scales, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  float m = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
  for (int d = 4; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d, 8));
  int e;
  frexpf(m / 448.f, &e);
  float s = ldexpf(1.f, -e);
  if (threadIdx.x % 8 == 0) scales[i / 8] = ldexpf(1.f, e);
  o[i] = __nv_fp8x4_e4m3(make_float4(v.x * s, v.y * s, v.z * s, v.w * s));
}
__global__ void rope(__nv_bfloat162* q, const float* angles, int heads, int d) {
  int p = blockIdx.x, h = blockIdx.y, i = threadIdx.x;
  float s, c;
  __sincosf(p * angles[i], &s, &c);
  float2 v = __bfloat1622float2(q[(p * heads + h) * d + i]);
  q[(p * heads + h) * d + i] = __floats2bfloat162_rn(v.x * c - v.y * s, v.x * s + v.y * c);
}
__global__ void adam(float* w, __nv_bfloat16* half, const __nv_bfloat16* g, float2* mv, float rate, float b1, float b2, float eps,
                     int step, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float d = __bfloat162float(g[i]);
  float2 s = mv[i];
  s.x = b1 * s.x + (1 - b1) * d;
  s.y = b2 * s.y + (1 - b2) * d * d;
  mv[i] = s;
  float m = s.x / (1 - powf(b1, step)), v = s.y / (1 - powf(b2, step));
  w[i] -= rate * m / (sqrtf(v) + eps);
  half[i] = __float2bfloat16_rn(w[i]);
}
__global__ void top(const __half* logits, int n, int* best) {
  float m = -65504;
  int at = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    float v = __half2float(__ldg(logits + i));
    if (v > m) m = v, at = i;
  }
  for (int d = 16; d; d >>= 1) {
    float o = __shfl_down_sync(~0u, m, d);
    int k = __shfl_down_sync(~0u, at, d);
    if (o > m || o == m && k < at) m = o, at = k;
  }
  if (!threadIdx.x) *best = at;
}
