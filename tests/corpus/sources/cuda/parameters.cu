// Kernel parameters: scalars, structs by value, alignment, grid constants, arrays, restrict, packs.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_80 -G
// corpus: sm_120 -Xcicc -O0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
struct S1 {
  char c;
};
struct S3 {
  char c[3];
};
struct S12 {
  int x[3];
};
struct alignas(16) S16 {
  float f[4];
};
struct Large {
  double m[20];
  int n;
};
struct Nested {
  S3 a;
  S16 b[2];
  const float* p;
  S1 c;
};
struct alignas(64) Line {
  int x;
};
__global__ void scalars(bool a, char b, signed char c, unsigned char d, short e, unsigned short f, int g, unsigned h, long i,
                        unsigned long long j, float k, double l, __half m, __nv_bfloat16 n, void* o, int (*p)(int)) {
  int* q = (int*)o;
  q[0] = a + b + c + d + e + f + g + h + i + j;
  ((float*)o)[1] = k + l + (float)m + (float)n;
  q[2] = p(g);
}
__global__ void vectors(char2 a, uchar3 b, short4 c, int3 d, float2 e, float4 f, double2 g, longlong2 h, ulonglong4 i, __half2 j,
                        dim3 k, float* o) {
  o[0] = a.x + b.z + c.w + d.y + e.x + f.z + g.y + h.x + i.w + __low2float(j) + k.z;
}
__global__ void structs(S1 a, S3 b, S12 c, S16 d, Large e, Nested f, Line g, float* o, int i) {
  o[0] = a.c + b.c[i] + c.x[i] + d.f[i] + e.m[i] + f.b[1].f[i] + f.p[i] + f.c.c + g.x;
  e.m[i] = 3;
  o[1] = e.m[i + 1];
}
__global__ void constants(const __grid_constant__ Large a, const __grid_constant__ S16 b, const Large* __restrict__ c,
                          float* __restrict__ o, int i) {
  const double* p = &a.m[i];
  o[0] = *p + b.f[i] + c->m[i] + a.n;
}
__global__ void arrays(const float* __restrict__ x, const volatile int* v, int n, float* __restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * v[i] + x[i + 1];
}
struct Table {
  int v[900];
};
__global__ void nearly_4k(Table t, int* o, int i) { o[0] = t.v[i]; }
struct Huge {
  int v[7000];
};
#if __CUDA_ARCH__ >= 700
__global__ void beyond_4k(const __grid_constant__ Huge h, int* o, int i) { o[0] = h.v[i]; }
#endif
template <class... A>
__global__ void pack(float* o, A... a) {
  o[0] = (0.f + ... + float(a));
}
template __global__ void pack(float*, int, float, char, double, short, long long, unsigned, bool);
template <int N, class T, bool B>
struct Tagged {
  T v[N];
};
template <int N, class T, bool B>
__global__ void tagged(Tagged<N, T, B> t, T* o) {
  o[0] = t.v[N - 1] + B;
}
template __global__ void tagged(Tagged<3, short, true>, short*);
template __global__ void tagged(Tagged<7, double, false>, double*);
struct Pmf {
  int x;
  __device__ int get(int y) const { return x + y; }
  __device__ __noinline__ int by_ref(const Large& l, int& r) {
    r = l.n;
    return x;
  }
};
__global__ void members(Pmf p, Large l, int* o) {
  int r;
  o[0] = p.get(3) + p.by_ref(l, r);
  o[1] = r;
}
