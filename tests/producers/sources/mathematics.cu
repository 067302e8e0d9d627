// The math library, in single and double precision, and the fast functions.
// targets: sm_75; sm_90a; sm_80 -use_fast_math; sm_100a --fmad=false
#include "program.cuh"

#define EACH(F) F(sin) F(cos) F(tan) F(exp) F(log) F(exp2) F(log2) F(expm1) F(log1p) F(sinh) F(tanh) F(atan) F(asinh) F(erf) F(cbrt) F(tgamma) F(lgamma) F(sqrt)

__global__ void singles(const float* in, float* out) {
  float* at = out + threadIdx.x * 20;
  const float x = in[threadIdx.x];
#define CALL(name) *at++ = name##f(x);
  EACH(CALL)
#undef CALL
  *at++ = powf(x, 1.75F);
  *at++ = fmodf(x * 100, 0.7F);
}
__global__ void doubles(const double* in, double* out) {
  double* at = out + threadIdx.x * 20;
  const double x = in[threadIdx.x];
#define CALL(name) *at++ = name(x);
  EACH(CALL)
#undef CALL
  *at++ = pow(x, 1.75);
  *at++ = fmod(x * 100, 0.7);
}
__global__ void rounding(const float* in, float* out) {
  const float x = in[threadIdx.x], y = in[threadIdx.x ^ 1];
  float* at = out + threadIdx.x * 10;
  at[0] = __fadd_rz(x, y);
  at[1] = __fmul_ru(x, y);
  at[2] = __fdiv_rd(x, y);
  at[3] = __fsqrt_ru(x);
  at[4] = __fmaf_rd(x, y, 1);
  at[5] = rintf(x * 7);
  at[6] = roundf(x * 7);
  at[7] = truncf(-x * 7);
  at[8] = ldexpf(x, -130);
  at[9] = nextafterf(x, 100);
}

int main() {
  const float* floats = given<float>("floats", 64, [](auto i) { return (i + 1) * 0.0734F; });
  singles<<<1, 64>>>(floats, made<float>("singles", 64 * 20));
  rounding<<<1, 64>>>(floats, made<float>("rounding", 64 * 10));
  const double* wide = given<double>("wide", 64, [](auto i) { return (i + 1) * 0.0734; });
  doubles<<<1, 64>>>(wide, made<double>("doubles", 64 * 20));
  return cudaDeviceSynchronize();
}
