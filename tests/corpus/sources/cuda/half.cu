// Half precision, scalar and packed: arithmetic, comparison, conversion, the functions of cuda_fp16.h.
// corpus: sm_75
// corpus: sm_90 -use_fast_math
// corpus: sm_80 -G
// corpus: sm_100a -DBFLOAT
// corpus: sm_80 -DBFLOAT -lineinfo
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#ifdef BFLOAT
using one = __nv_bfloat16;
using two = __nv_bfloat162;
#define FROM(x) __float2bfloat16(x)
#define TO(x) __bfloat162float(x)
#else
using one = __half;
using two = __half2;
#define FROM(x) __float2half(x)
#define TO(x) __half2float(x)
#endif
__global__ void scalar(one* o, const one* p, bool* q) {
  one a = p[0], b = p[1], c = p[2];
  int n = 0;
  for (one v : {__hadd(a, b), __hsub(a, b), __hmul(a, b), __hdiv(a, b), __hfma(a, b, c), __hneg(a), __habs(b), __hadd_sat(a, b),
                __hmul_sat(a, b), __hfma_sat(a, b, c), __hfma_relu(a, b, c), __hmax(a, b), __hmin(a, b), __hmax_nan(a, b),
                __hmin_nan(a, b), __hadd_rn(a, b), __hmul_rn(a, b)})
    o[n++] = v;
  for (one v : {hsqrt(a), hrsqrt(a), hrcp(a), hexp(a), hexp2(a), hexp10(a), hlog(a), hlog2(a), hlog10(a), hsin(a), hcos(a),
                hfloor(a), hceil(a), htrunc(a), hrint(a)})
    o[n++] = v;
  n = 0;
  for (bool v : {__heq(a, b), __hne(a, b), __hlt(a, b), __hle(a, b), __hgt(a, b), __hge(a, b), __hequ(a, b), __hneu(a, b),
                 __hltu(a, b), __hisnan(a), (bool)__hisinf(b)})
    q[n++] = v;
}
__global__ void packed(two* o, const two* p, one* s, unsigned* m, float2 f) {
  two a = p[0], b = p[1], c = p[2];
  int n = 0;
  for (two v :
       {__hadd2(a, b), __hsub2(a, b), __hmul2(a, b), __h2div(a, b), __hfma2(a, b, c), __hneg2(a), __habs2(b), __hadd2_sat(a, b),
        __hfma2_relu(a, b, c), __hmax2(a, b), __hmin2(a, b), __hmax2_nan(a, b), __heq2(a, b), __hlt2(a, b), __hgeu2(a, b)})
    o[n++] = v;
  for (two v : {h2sqrt(a), h2rsqrt(a), h2rcp(a), h2exp(a), h2exp2(a), h2log(a), h2log2(a), h2sin(a), h2cos(a), h2floor(a),
                h2ceil(a), h2trunc(a), h2rint(a), __hcmadd(a, b, c)})
    o[n++] = v;
  m[0] = __heq2_mask(a, b);
  m[1] = __hlt2_mask(a, b);
  m[2] = __hbeq2(a, b);
  m[3] = __hbltu2(a, b);
  s[0] = a.x;
  s[1] = a.y;
  o[n] = two(FROM(f.x), FROM(f.y));
}
