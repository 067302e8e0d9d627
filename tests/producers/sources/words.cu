// Integer arithmetic: SIMD in a word, dot products, funnel shifts, wide products, divisions, DPX.
// targets: sm_75; sm_90a; sm_120a; sm_80 -G
#include "program.cuh"

__global__ void simd(const unsigned* a, const unsigned* b, unsigned* out) {
  const unsigned i = threadIdx.x, x = a[i], y = b[i];
  unsigned* at = out + i * 12;
  at[0] = __vadd4(x, y);
  at[1] = __vsubss2(x, y);
  at[2] = __vabsdiffu4(x, y);
  at[3] = __vmaxs2(x, y);
  at[4] = __vminu4(x, y);
  at[5] = __vavgu4(x, y);
  at[6] = __vcmpgtu2(x, y);
  at[7] = __vaddus4(x, y);
  at[8] = __vsads2(x, y);
  at[9] = __vnegss4(x);
  at[10] = __vseteq4(x & 0x0F0F0F0F, y & 0x0F0F0F0F);
  at[11] = __vabs2(x);
}

__global__ void bits(const unsigned* a, const unsigned* b, unsigned* out) {
  const unsigned i = threadIdx.x, x = a[i], y = b[i];
  unsigned* at = out + i * 12;
  at[0] = __dp4a(static_cast<int>(x), static_cast<int>(y), 1000);
  at[1] = __dp4a(x, y, 1u);
  at[2] = __dp2a_lo(static_cast<int>(x), static_cast<int>(y), -5);
  at[3] = __funnelshift_l(x, y, y & 63);
  at[4] = __funnelshift_rc(x, y, y & 63);
  at[5] = __byte_perm(x, y, 0x7205);
  at[6] = __brev(x);
  at[7] = __clz(x >> (y & 31)) * 100 + __ffs(x << (y & 31));
  at[8] = __umulhi(x, y);
  at[9] = __mulhi(static_cast<int>(x), static_cast<int>(y));
  at[10] = __usad(x, y, 77);
  at[11] = __popc(x) + __popcll((static_cast<unsigned long long>(x) << 32 | y) * 3);
}

using Wide = unsigned long long;
__global__ void divisions(const Wide* a, const Wide* b, Wide* out) {
  const int i = threadIdx.x;
  const Wide x = a[i], y = b[i];
  Wide* at = out + i * 8;
  at[0] = x / y;
  at[1] = x % y;
  at[2] = static_cast<long long>(x) / static_cast<long long>(y);
  at[3] = static_cast<long long>(x) % static_cast<long long>(y);
  at[4] = static_cast<unsigned>(x) / (static_cast<unsigned>(y) | 1);
  at[5] = static_cast<int>(x) % 1000;
  at[6] = __umul64hi(x, y);
  const unsigned __int128 big = static_cast<unsigned __int128>(x) << 50 | y;
  at[7] = static_cast<Wide>(big / (y >> 7 | 1));
}

__global__ void dpx(const int* a, const int* b, int* out) {
  const int i = threadIdx.x, x = a[i], y = b[i];
  int* at = out + i * 6;
  at[0] = __viaddmax_s32(x, y, 12345);
  at[1] = __vimax3_s32(x, y, x ^ y);
  at[2] = __vimin3_s32_relu(x, y, 4000);
  bool first;
  at[3] = __vibmax_s32(x, y, &first);
  at[4] = first;
  at[5] = __viaddmin_s16x2(x, y, 0x01000100);
}

int main() {
  const auto word = [](std::uint32_t seed) { return [seed](auto i) { return i % 9 == 0 ? drawn(seed, i) & 0xFF80FF80u : drawn(seed, i); }; };
  const unsigned *a = given<unsigned>("a", 64, word(50)), *b = given<unsigned>("b", 64, word(51));
  simd<<<1, 64>>>(a, b, made<unsigned>("simd", 64 * 12));
  bits<<<1, 64>>>(a, b, made<unsigned>("bits", 64 * 12));
  const Wide* wide = given<Wide>("wide", 64, [](auto i) { return static_cast<Wide>(drawn(52, i)) << 32 | drawn(53, i); });
  const Wide* narrow = given<Wide>("narrow", 64, [](auto i) { return (static_cast<Wide>(drawn(54, i)) << 32 | drawn(55, i)) >> (i % 60) | 1; });
  divisions<<<1, 64>>>(wide, narrow, made<Wide>("divisions", 64 * 8));
  dpx<<<1, 64>>>(reinterpret_cast<const int*>(a), reinterpret_cast<const int*>(b), made<int>("dpx", 64 * 6));
  return cudaDeviceSynchronize();
}
