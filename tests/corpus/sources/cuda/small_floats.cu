// The 8, 6 and 4 bit formats and their scales.
// corpus: sm_75
// corpus: sm_89
// corpus: sm_90a -lineinfo
// corpus: sm_100a
// corpus: sm_120a -use_fast_math
// corpus: sm_103a -G
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
__global__ void narrow(unsigned char* o, unsigned short* p, float f, double d, float2 g, __half h, __half2 h2, __nv_bfloat16 b,
                       __nv_bfloat162 b2) {
  o[0] = __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3);
  o[1] = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2);
  o[2] = __nv_cvt_double_to_fp8(d, __NV_SATFINITE, __NV_E5M2);
  o[3] = __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3);
  o[4] = __nv_cvt_bfloat16raw_to_fp8(b, __NV_SATFINITE, __NV_E4M3);
  p[0] = __nv_cvt_float2_to_fp8x2(g, __NV_SATFINITE, __NV_E4M3);
  p[1] = __nv_cvt_halfraw2_to_fp8x2(h2, __NV_SATFINITE, __NV_E5M2);
  p[2] = __nv_cvt_bfloat16raw2_to_fp8x2(b2, __NV_SATFINITE, __NV_E4M3);
  o[5] = __nv_cvt_float_to_fp6(f, __NV_E2M3, cudaRoundNearest);
  o[6] = __nv_cvt_float_to_fp6(f, __NV_E3M2, cudaRoundNearest);
  p[3] = __nv_cvt_float2_to_fp6x2(g, __NV_E2M3, cudaRoundNearest);
  o[7] = __nv_cvt_float_to_fp4(f, __NV_E2M1, cudaRoundNearest);
  o[8] = __nv_cvt_float2_to_fp4x2(g, __NV_E2M1, cudaRoundNearest);
  o[9] = __nv_cvt_halfraw_to_fp4(h, __NV_E2M1, cudaRoundNearest);
  o[10] = __nv_cvt_float_to_e8m0(f, __NV_SATFINITE, cudaRoundZero);
  o[11] = __nv_cvt_float_to_e8m0(f, __NV_SATFINITE, cudaRoundPosInf);
  p[4] = __nv_cvt_bfloat162raw_to_e8m0x2(b2, __NV_SATFINITE, cudaRoundZero);
}
__global__ void widen(__half_raw* h, __half2_raw* h2, __nv_bfloat16_raw* b, float* f, const unsigned char* i,
                      const unsigned short* p) {
  h[0] = __nv_cvt_fp8_to_halfraw(i[0], __NV_E4M3);
  h[1] = __nv_cvt_fp8_to_halfraw(i[1], __NV_E5M2);
  h2[0] = __nv_cvt_fp8x2_to_halfraw2(p[0], __NV_E4M3);
  h2[1] = __nv_cvt_fp8x2_to_halfraw2(p[1], __NV_E5M2);
  h[2] = __nv_cvt_fp6_to_halfraw(i[2], __NV_E2M3);
  h2[2] = __nv_cvt_fp6x2_to_halfraw2(p[2], __NV_E3M2);
  h[3] = __nv_cvt_fp4_to_halfraw(i[3], __NV_E2M1);
  h2[3] = __nv_cvt_fp4x2_to_halfraw2(i[4], __NV_E2M1);
  b[0] = __nv_cvt_e8m0_to_bf16raw(i[5]);
  __nv_fp8_e4m3 x;
  x.__x = i[6];
  __nv_fp8_e5m2 y;
  y.__x = i[7];
  f[0] = float(x) * float(y);
}
__global__ void quantise(__nv_fp8x4_e4m3* o, __nv_fp4x4_e2m1* q, __nv_fp6x4_e3m2* r, const float4* x, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = x[i];
  v.x *= scale;
  v.y *= scale;
  v.z *= scale;
  v.w *= scale;
  o[i] = __nv_fp8x4_e4m3(v);
  q[i] = __nv_fp4x4_e2m1(v);
  r[i] = __nv_fp6x4_e3m2(v);
}
