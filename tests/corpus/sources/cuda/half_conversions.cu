// Conversions between half, bfloat16 and everything else, with rounding; loads, stores and shuffles of halves; atomics on them.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_120
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void from_half(int* i, long long* l, float* f, double* d, __half h, __nv_bfloat16 b) {
  i[0] = __half2int_rn(h);
  i[1] = __half2int_rz(h);
  i[2] = __half2uint_ru(h);
  i[3] = __half2short_rd(h);
  i[4] = __half2ushort_rn(h);
  i[5] = __half2char_rz(h);
  i[6] = __half2uchar_rz(h);
  l[0] = __half2ll_rn(h);
  l[1] = __half2ull_rz(h);
  f[0] = __half2float(h);
  f[1] = __bfloat162float(b);
  d[0] = (double)(float)h;
  i[7] = __bfloat162int_rn(b);
  i[8] = __bfloat162uint_rd(b);
  i[9] = __bfloat162short_rz(b);
  l[2] = __bfloat162ll_ru(b);
  i[10] = __half_as_short(h);
  i[11] = __bfloat16_as_ushort(b);
}
__global__ void to_half(__half* h, __nv_bfloat16* b, __half2* h2, __nv_bfloat162* b2, int i, unsigned u, long long l,
                        unsigned long long v, float f, double d) {
  h[0] = __int2half_rn(i);
  h[1] = __int2half_rz(i);
  h[2] = __uint2half_ru(u);
  h[3] = __ll2half_rd(l);
  h[4] = __ull2half_rn(v);
  h[5] = __float2half_rn(f);
  h[6] = __float2half_rz(f);
  h[7] = __float2half_ru(f);
  h[8] = __float2half_rd(f);
  h[9] = __double2half(d);
  h[10] = __short2half_rn((short)i);
  h[11] = __ushort2half_rz((unsigned short)u);
  b[0] = __int2bfloat16_rn(i);
  b[1] = __uint2bfloat16_rz(u);
  b[2] = __ll2bfloat16_ru(l);
  b[3] = __float2bfloat16_rn(f);
  b[4] = __float2bfloat16_rz(f);
  b[5] = __float2bfloat16_ru(f);
  b[6] = __float2bfloat16_rd(f);
  b[7] = __double2bfloat16(d);
  h2[0] = __floats2half2_rn(f, f + 1);
  h2[1] = __float2half2_rn(f);
  b2[0] = __floats2bfloat162_rn(f, f + 1);
  b2[1] = __float2bfloat162_rn(f);
}
__global__ void memory(__half* h, __half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2, int lane) {
  h[0] = __ldg(h + 1);
  h[1] = __ldcg(h + 2);
  h2[0] = __ldcs(h2 + 1);
  h2[1] = __ldcv(h2 + 2);
  __stcg(h + 3, h[4]);
  __stcs(h2 + 3, h2[4]);
  __stwt(b + 3, b[4]);
  __stwb(b2 + 5, b2[6]);
  h2[2] = __shfl_sync(~0u, h2[3], lane);
  h[5] = __shfl_up_sync(~0u, h[6], 1);
  b2[2] = __shfl_xor_sync(~0u, b2[3], 16);
  b[5] = __shfl_down_sync(~0u, b[6], 2, 8);
  atomicAdd(h + 7, h[8]);
  h2[5] = atomicAdd(h2 + 6, h2[7]);
  atomicAdd(b + 7, b[8]);
  b2[5] = atomicAdd(b2 + 6, b2[7]);
}
