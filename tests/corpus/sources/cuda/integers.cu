// Integer arithmetic of every width: division, remainder, products, bit games, byte permutation, dot products.
// corpus: sm_75
// corpus: sm_90 -G
// corpus: sm_120 -Xcicc -O0
// corpus: sm_80 -lineinfo -DWIDE
#include <cstdint>

template <class T>
__global__ void divide(T* out, const T* a, const T* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] / b[i] ^ a[i] % b[i];
}
template <class T>
__global__ void divide_by_constants(T* out, const T* a) {
  T x = a[threadIdx.x];
  out[threadIdx.x] = x / 7 + x % 10 + x / 16 + x / 641 + (x * 13 >> 3);
}
template <class T>
__global__ void shifts(T* out, T a, int s) {
  out[0] = a << s;
  out[1] = a >> s;
  out[2] = ~a;
  out[3] = -a;
  out[4] = a & out[1];
  out[5] = a | out[2];
  out[6] = !a;
}
#define EACH(name) template __global__ void name
EACH(divide)(int8_t*, const int8_t*, const int8_t*, int);
EACH(divide)(uint16_t*, const uint16_t*, const uint16_t*, int);
EACH(divide)(int32_t*, const int32_t*, const int32_t*, int);
EACH(divide)(uint32_t*, const uint32_t*, const uint32_t*, int);
EACH(divide_by_constants)(int32_t*, const int32_t*);
EACH(divide_by_constants)(uint32_t*, const uint32_t*);
EACH(shifts)(int16_t*, int16_t, int);
EACH(shifts)(uint32_t*, uint32_t, int);
#ifdef WIDE
EACH(divide)(int64_t*, const int64_t*, const int64_t*, int);
EACH(divide)(uint64_t*, const uint64_t*, const uint64_t*, int);
EACH(divide_by_constants)(int64_t*, const int64_t*);
EACH(divide_by_constants)(uint64_t*, const uint64_t*);
EACH(shifts)(int64_t*, int64_t, int);
EACH(shifts)(uint8_t*, uint8_t, int);
#endif

__global__ void bits(int* out, int a, int b, int c, long long x, long long y) {
  out[0] = __popc(a);
  out[1] = __popcll(x);
  out[2] = __clz(a);
  out[3] = __clzll(x);
  out[4] = __ffs(a);
  out[5] = __ffsll(x);
  out[6] = __brev(a);
  out[7] = (int)__brevll(x);
  out[8] = __byte_perm(a, b, c);
  out[9] = __byte_perm(a, b, 0x3120);
  out[10] = __funnelshift_l(a, b, c);
  out[11] = __funnelshift_r(a, b, c);
  out[12] = __funnelshift_lc(a, b, c);
  out[13] = __funnelshift_rc(a, b, c);
  out[14] = __mulhi(a, b);
  out[15] = __umulhi(a, b);
  out[16] = (int)__mul64hi(x, y);
  out[17] = (int)__umul64hi(x, y);
  out[18] = __mul24(a, b);
  out[19] = __umul24(a, b);
  out[20] = __sad(a, b, c);
  out[21] = __usad(a, b, c);
  out[22] = __hadd(a, b);
  out[23] = __rhadd(a, b);
  out[24] = __uhadd(a, b);
  out[25] = __urhadd(a, b);
  out[26] = __dp4a(a, b, c);
  out[27] = __dp4a((unsigned)a, (unsigned)b, (unsigned)c);
  out[28] = __dp2a_lo(a, b, c);
  out[29] = __dp2a_hi(a, b, c);
  out[30] = __dp2a_lo((unsigned)a, (unsigned)b, (unsigned)c);
  out[31] = abs(a);
  out[32] = (int)llabs(x);
  out[33] = min(a, b);
  out[34] = max((unsigned)a, (unsigned)b);
  out[35] = (int)min(x, y);
  out[36] = (int)max(x, y);
  out[37] = (a & b) | (~a & c);
  out[38] = a ^ b ^ c;
  out[39] = (a & 0xff00) >> 8;
  out[40] = __fns(a, b, c);
  out[41] = a * b + c;
  out[42] = (int)((long long)a * b + x);
  out[43] = (int)(((unsigned long long)(unsigned)a * (unsigned)b) >> 32);
}
