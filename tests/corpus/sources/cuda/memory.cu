// Loads and stores: cache operators, vector types, volatile, const restrict, unaligned pieces, spaces, 256 bit accesses.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_100a
// corpus: sm_80 -Xcicc -O0
#include <cstdint>
template <class T>
__global__ void hints(T* o, const T* x, int i) {
  o[0] = __ldg(x + i);
  o[1] = __ldcg(x + i);
  o[2] = __ldca(x + i);
  o[3] = __ldcs(x + i);
  o[4] = __ldlu(x + i);
  o[5] = __ldcv(x + i);
  __stwb(o + 6, x[1]);
  __stcg(o + 7, x[2]);
  __stcs(o + 8, x[3]);
  __stwt(o + 9, x[4]);
}
#define H(T) template __global__ void hints(T*, const T*, int);
H(char)
H(unsigned char) H(short) H(int) H(unsigned long long) H(float) H(double) H(char4) H(uchar2) H(short2) H(ushort4) H(int2) H(uint4)
    H(float2) H(float4) H(double2) H(longlong2) template <class T>
    __global__ void plain(T* __restrict__ o, const T* __restrict__ x, volatile T* v, int i) {
  o[i] = x[i];
  __shared__ T s[8];
  s[i] = x[i + 1];
  __syncthreads();
  o[i + 1] = s[i ^ 1];
}
#define P(T) template __global__ void plain(T*, const T*, volatile T*, int);
P(char3)
P(short3) P(int3) P(float3) P(double3) P(longlong4) P(double4) P(uchar4) P(ushort3) P(long1)
#if __CUDACC_VER_MAJOR__ >= 13
    P(double4_32a) P(longlong4_32a) P(ulonglong4_16a)
#endif
        __global__ void spaces(int* g, int i) {
  __shared__ int s[4];
  int l[4] = {i, 2, 3, 4};
  int* p = i == 0 ? g : i == 1 ? s : l;
  *p = 5;
  g[1] = p[1] + *(volatile int*)(g + 2) + *(volatile int*)(s + 1);
  if (__isShared(p)) g[3] = 1;
}
__global__ void bytes(unsigned char* o, const void* p) {
  uint32_t w;
  memcpy(&w, (const char*)p + 1, 4);
  uint64_t d;
  memcpy(&d, (const char*)p + 3, 8);
  o[0] = w >> 24;
  o[1] = d >> 40;
  struct __attribute__((packed)) P {
    char c;
    int i;
    double d;
  } q;
  memcpy(&q, p, sizeof q);
  o[2] = q.i;
  o[3] = (int)q.d;
}
struct Packed {
  unsigned a : 3, b : 7;
  int c : 5;
  unsigned long long d : 40;
};
__global__ void bit_fields(Packed* p, int v) {
  p->a = v;
  p->b += p->c;
  p->d = p->d * 3;
  p->c = -v;
}
