// The single precision math library, a kernel a function.
// corpus: sm_75
// corpus: sm_80 -use_fast_math
// corpus: sm_89 --fmad=false -prec-div=false -prec-sqrt=false
// corpus: sm_90 -ftz=true -DSECOND
// corpus: sm_103a -DSECOND -use_fast_math
// corpus: sm_120a -DSECOND -lineinfo
#define UNARY(f) \
  __global__ void k_##f(float* o, const float* x) { o[threadIdx.x] = f(x[threadIdx.x]); }
#define BINARY(f) \
  __global__ void k_##f(float* o, const float* x, const float* y) { o[threadIdx.x] = f(x[threadIdx.x], y[threadIdx.x]); }
#ifndef SECOND
UNARY(sinf)
UNARY(cosf) UNARY(tanf) UNARY(expf) UNARY(exp2f) UNARY(exp10f) UNARY(expm1f) UNARY(logf) UNARY(log2f) UNARY(log10f) UNARY(log1pf)
    UNARY(sqrtf) UNARY(rsqrtf) UNARY(cbrtf) UNARY(rcbrtf) UNARY(floorf) UNARY(ceilf) UNARY(truncf) UNARY(rintf) UNARY(roundf)
        UNARY(nearbyintf) UNARY(fabsf) UNARY(sinpif) UNARY(cospif) UNARY(tanhf) BINARY(powf) BINARY(atan2f) BINARY(fmodf)
            BINARY(fminf) BINARY(fmaxf) BINARY(fdimf) BINARY(hypotf) __global__ void division(float* o, float a, float b) {
  o[0] = a / b;
  o[1] = 1.0f / a;
  o[2] = a / 3.0f;
  o[3] = fdividef(a, b);
}
__global__ void both(float* s, float* c, float x) {
  sincosf(x, s, c);
  sincospif(x, s + 1, c + 1);
}
#else
UNARY(asinf)
UNARY(acosf) UNARY(atanf) UNARY(sinhf) UNARY(coshf) UNARY(asinhf) UNARY(acoshf) UNARY(atanhf) UNARY(erff) UNARY(erfcf)
    UNARY(erfinvf) UNARY(erfcinvf) UNARY(erfcxf) UNARY(normcdff) UNARY(normcdfinvf) UNARY(lgammaf) UNARY(tgammaf) UNARY(j0f)
        UNARY(j1f) UNARY(y0f) UNARY(y1f) UNARY(cyl_bessel_i0f) UNARY(cyl_bessel_i1f) UNARY(logbf) BINARY(remainderf)
            BINARY(copysignf) BINARY(nextafterf) BINARY(rhypotf) __global__
    void other(float* o, float a, float b, float c, float d, int n, int* q) {
  o[0] = norm3df(a, b, c);
  o[1] = rnorm3df(a, b, c);
  o[2] = norm4df(a, b, c, d);
  o[3] = rnorm4df(a, b, c, d);
  o[4] = ldexpf(a, n);
  o[5] = scalbnf(b, n);
  o[6] = frexpf(a, q);
  o[7] = modff(a, o + 8);
  o[9] = remquof(a, b, q + 1);
  o[10] = jnf(n, a);
  o[11] = ynf(n, b);
  o[12] = fmaf(a, b, c);
  o[13] = isnan(a) ? 1.f : isinf(b) ? 2.f : isfinite(c) ? 3.f : signbit(d) ? 4.f : 5.f;
  q[2] = ilogbf(a);
  q[3] = lrintf(b);
  q[4] = (int)llroundf(c);
  q[5] = lroundf(d);
}
#endif
