// The double precision math library, a kernel a function.
// corpus: sm_80
// corpus: sm_90 -DSECOND
// corpus: sm_100a -DSECOND --fmad=false -lineinfo
// corpus: sm_75 -use_fast_math -Xcicc -O1
#define UNARY(f) \
  __global__ void k_##f(double* o, const double* x) { o[threadIdx.x] = f(x[threadIdx.x]); }
#define BINARY(f) \
  __global__ void k_##f(double* o, const double* x, const double* y) { o[threadIdx.x] = f(x[threadIdx.x], y[threadIdx.x]); }
#ifndef SECOND
UNARY(sin)
UNARY(cos) UNARY(tan) UNARY(exp) UNARY(exp2) UNARY(exp10) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p)
    UNARY(sqrt) UNARY(rsqrt) UNARY(cbrt) UNARY(rcbrt) UNARY(floor) UNARY(ceil) UNARY(trunc) UNARY(rint) UNARY(round)
        UNARY(nearbyint) UNARY(fabs) UNARY(sinpi) UNARY(cospi) UNARY(tanh) BINARY(pow) BINARY(atan2) BINARY(fmod) BINARY(fmin)
            BINARY(fmax) BINARY(fdim) BINARY(hypot) __global__ void division(double* o, double a, double b) {
  o[0] = a / b;
  o[1] = 1.0 / a;
  o[2] = a / 3.0;
  o[3] = a / (b + 1);
}
__global__ void both(double* s, double* c, double x) {
  sincos(x, s, c);
  sincospi(x, s + 1, c + 1);
}
#else
UNARY(asin)
UNARY(acos) UNARY(atan) UNARY(sinh) UNARY(cosh) UNARY(asinh) UNARY(acosh) UNARY(atanh) UNARY(erf) UNARY(erfc) UNARY(erfinv)
    UNARY(erfcinv) UNARY(erfcx) UNARY(normcdf) UNARY(normcdfinv) UNARY(lgamma) UNARY(tgamma) UNARY(j0) UNARY(j1) UNARY(y0)
        UNARY(y1) UNARY(cyl_bessel_i0) UNARY(cyl_bessel_i1) UNARY(logb) BINARY(remainder) BINARY(copysign) BINARY(nextafter)
            BINARY(rhypot) __global__ void other(double* o, double a, double b, double c, double d, int n, int* q) {
  o[0] = norm3d(a, b, c);
  o[1] = rnorm3d(a, b, c);
  o[2] = norm4d(a, b, c, d);
  o[3] = rnorm4d(a, b, c, d);
  o[4] = ldexp(a, n);
  o[5] = scalbn(b, n);
  o[6] = frexp(a, q);
  o[7] = modf(a, o + 8);
  o[9] = remquo(a, b, q + 1);
  o[10] = jn(n, a);
  o[11] = yn(n, b);
  o[12] = fma(a, b, c);
  o[13] = isnan(a) ? 1. : isinf(b) ? 2. : isfinite(c) ? 3. : signbit(d) ? 4. : 5.;
  q[2] = ilogb(a);
  q[3] = lrint(b);
  q[4] = (int)llround(c);
  q[5] = lround(d);
}
#endif
