// 128-bit integers: products, shifts, division (a library call), comparisons, as parameters and in memory.
// corpus: sm_80
// corpus: sm_100a -lineinfo
// corpus: sm_75 -G
using u128 = unsigned __int128;
using s128 = __int128;
__global__ void multiply(u128* out, const u128* a, const u128* b, s128 c) {
  int i = threadIdx.x;
  out[i] = a[i] * b[i] + (u128)c;
}
__global__ void compare(int* out, s128 a, s128 b, u128 c, u128 d) {
  out[0] = a < b;
  out[1] = c < d;
  out[2] = a == b;
  out[3] = c >= d;
  out[4] = (int)(a >> 77);
  out[5] = (int)(c >> (int)b);
  out[6] = (int)(a << 5);
}
__global__ void quotient(s128* out, s128 a, s128 b, u128 c, u128 d) {
  out[0] = a / b;
  out[1] = a % b;
  out[2] = c / d;
  out[3] = c % 1000003;
}
__device__ __noinline__ u128 square(u128 x) { return x * x; }
__global__ void power(u128* out, unsigned long long base, int n) {
  u128 r = 1, b = base;
  for (; n; n >>= 1, b = square(b))
    if (n & 1) r *= b;
  *out = r;
}
__global__ void convert(double* d, float* f, s128 a, u128 b) {
  d[0] = (double)a;
  f[0] = (float)b;
  d[1] = (double)(long long)(a >> 64);
}
__device__ u128 table[3] = {1, ((u128)1 << 100) + 5, ~(u128)0};
__global__ void lookup(u128* out, int i) { *out = table[i]; }
