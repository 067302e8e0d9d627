// The atomic functions: every operation, type, scope and space.
// corpus: sm_75
// corpus: sm_80 -Xcicc -O1
// corpus: sm_90 -lineinfo
// corpus: sm_120 -G
#include <cuda_fp16.h>
template <class T>
__device__ void integers(T* p, T v, T* o) {
  o[0] = atomicAdd(p, v);
  o[1] = atomicMin(p, v);
  o[2] = atomicMax(p, v);
  o[3] = atomicAnd(p, v);
  o[4] = atomicOr(p, v);
  o[5] = atomicXor(p, v);
  o[6] = atomicExch(p, v);
  o[7] = atomicCAS(p, v, o[8]);
}
__global__ void global_words(int* p, unsigned* q, unsigned long long* r, int* o, unsigned* s, unsigned long long* t) {
  integers(p, 3, o);
  integers(q, 4u, s);
  integers(r, 5ull, t);
  s[9] = atomicInc(q, 7);
  s[10] = atomicDec(q, 8);
  s[11] = atomicSub(q, 9u);
  o[9] = atomicSub(p, 2);
}
__global__ void shared_words(int* o, unsigned long long* t) {
  __shared__ int p;
  __shared__ unsigned long long r;
  integers(&p, (int)threadIdx.x, o);
  integers(&r, (unsigned long long)threadIdx.x, t);
}
__global__ void without_result(int* p, unsigned* q, float* f, double* d) {
  atomicAdd(p, 1);
  atomicMax(q, 5u);
  atomicOr(p, 0x80);
  atomicAdd(f, 1.5f);
  atomicAdd(d, 2.5);
  atomicInc(q, 100);
  atomicXor(p, threadIdx.x);
  atomicMin(p, -7);
}
__global__ void scoped(int* p, unsigned long long* q, float* f, double* d, int* o) {
  o[0] = atomicAdd_block(p, 1);
  o[1] = atomicAdd_system(p, 2);
  o[2] = atomicCAS_block(p, 1, 2);
  o[3] = atomicCAS_system(p, 3, 4);
  atomicMax_block(q, 5ull);
  atomicMin_system(q, 6ull);
  f[0] = atomicAdd_block(f + 1, 1.f);
  d[0] = atomicAdd_system(d + 1, 1.);
  o[4] = atomicExch_block(p, 9);
  atomicAnd_system(p, 12);
}
__global__ void floats(float* f, double* d, unsigned short* h) {
  f[1] = atomicAdd(f, 2.f);
  f[2] = atomicExch(f, 3.f);
  d[1] = atomicAdd(d, 2.);
  h[1] = atomicCAS(h, (unsigned short)1, (unsigned short)2);
}
#if __CUDA_ARCH__ >= 900
__global__ void vectors(float2* f, float4* g) {
  f[1] = atomicAdd(f, make_float2(1, 2));
  g[1] = atomicAdd(g, make_float4(1, 2, 3, 4));
}
struct alignas(16) Pair {
  long long a, b;
};
__global__ void wide(Pair* p) {
  Pair x{1, 2}, y{3, 4};
  p[1] = atomicCAS(p, x, y);
  p[2] = atomicExch(p, y);
}
#endif
__device__ double atomic_maximum(double* addr, double v) {
  auto* p = reinterpret_cast<unsigned long long*>(addr);
  unsigned long long old = *p, seen;
  do {
    seen = old;
    if (__longlong_as_double(seen) >= v) break;
    old = atomicCAS(p, seen, __double_as_longlong(v));
  } while (old != seen);
  return __longlong_as_double(old);
}
__global__ void maximum(double* m, const double* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomic_maximum(m, x[i]);
}
