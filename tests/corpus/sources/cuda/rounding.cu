// Arithmetic with a rounding mode written out, and every conversion intrinsic.
// corpus: sm_75
// corpus: sm_86 -ftz=true -lineinfo
// corpus: sm_100a -use_fast_math
// corpus: sm_90 -G
#define F(i, e) f[i] = e;
__global__ void single(float* f, float a, float b, float c){
    F(0, __fadd_rn(a, b)) F(1, __fadd_rz(a, b)) F(2, __fadd_ru(a, b)) F(3, __fadd_rd(a, b)) F(4, __fsub_rn(a, b))
        F(5, __fsub_rz(a, b)) F(6, __fmul_rn(a, b)) F(7, __fmul_ru(a, b)) F(8, __fmaf_rn(a, b, c)) F(9, __fmaf_rz(a, b, c))
            F(10, __fmaf_ru(a, b, c)) F(11, __fmaf_rd(a, b, c)) F(12, __fdiv_rn(a, b)) F(13, __fdiv_rz(a, b))
                F(14, __fdiv_ru(a, b)) F(15, __fdiv_rd(a, b)) F(16, __frcp_rn(a)) F(17, __frcp_ru(a)) F(18, __fsqrt_rn(a))
                    F(19, __fsqrt_rz(a)) F(20, __fsqrt_ru(a)) F(21, __fsqrt_rd(a)) F(22, __frsqrt_rn(a)) F(23, __fdividef(a, b))
                        F(24, __sinf(a)) F(25, __cosf(a)) F(26, __expf(a)) F(27, __logf(a)) F(28, __log2f(a)) F(29, __powf(a, b))
                            F(30, __saturatef(a)) F(31, __tanf(a)) F(32, __fmaf_ieee_rn(a, b, c)) F(33, __exp10f(a))
                                F(34, __log10f(a)) F(35, __fmul_rd(a, b)) F(36, __frcp_rz(c)) F(37, __fsub_ru(b, c))} __global__
    void dual(double* f, double a, double b, double c){
        F(0, __dadd_rn(a, b)) F(1, __dadd_rz(a, b)) F(2, __dadd_ru(a, b)) F(3, __dadd_rd(a, b)) F(4, __dsub_rd(a, b))
            F(5, __dmul_rz(a, b)) F(6, __fma_rn(a, b, c)) F(7, __fma_rz(a, b, c)) F(8, __fma_ru(a, b, c)) F(9, __fma_rd(a, b, c))
                F(10, __ddiv_rn(a, b)) F(11, __ddiv_rz(a, b)) F(12, __ddiv_ru(a, b)) F(13, __ddiv_rd(a, b)) F(14, __drcp_rn(a))
                    F(15, __drcp_rz(a)) F(16, __dsqrt_rn(a)) F(17, __dsqrt_rz(a)) F(18, __dsqrt_ru(a))} __global__
    void to_integers(int* i, long long* l, unsigned* u, unsigned long long* v, float f, double d) {
  i[0] = __float2int_rn(f);
  i[1] = __float2int_rz(f);
  i[2] = __float2int_ru(f);
  i[3] = __float2int_rd(f);
  u[0] = __float2uint_rn(f);
  u[1] = __float2uint_rd(f);
  l[0] = __float2ll_rn(f);
  l[1] = __float2ll_rz(f);
  v[0] = __float2ull_ru(f);
  v[1] = __float2ull_rd(f);
  i[4] = __double2int_rn(d);
  i[5] = __double2int_ru(d);
  u[2] = __double2uint_rz(d);
  l[2] = __double2ll_rd(d);
  v[2] = __double2ull_rn(d);
  i[6] = __double2hiint(d);
  i[7] = __double2loint(d);
  i[8] = __float_as_int(f);
  l[3] = __double_as_longlong(d);
  u[3] = __float_as_uint(f);
  i[9] = (signed char)f;
  i[10] = (unsigned char)f;
  i[11] = (short)d;
}
__global__ void from_integers(float* f, double* d, int i, unsigned u, long long l, unsigned long long v, signed char c, short s) {
  F(0, __int2float_rn(i))
  F(1, __int2float_rz(i)) F(2, __int2float_ru(i)) F(3, __int2float_rd(i)) F(4, __uint2float_rn(u)) F(5, __uint2float_rz(u))
      F(6, __ll2float_rn(l)) F(7, __ll2float_ru(l)) F(8, __ull2float_rd(v)) F(9, __double2float_rn(d[9]))
          F(10, __double2float_rz(d[9])) F(11, __double2float_ru(d[9])) F(12, __int_as_float(i)) F(13, __uint_as_float(u))
              F(14, (float)c) F(15, (float)s) d[0] = __int2double_rn(i);
  d[1] = __uint2double_rn(u);
  d[2] = __ll2double_rn(l);
  d[3] = __ll2double_rz(l);
  d[4] = __ull2double_ru(v);
  d[5] = __hiloint2double(i, u);
  d[6] = __longlong_as_double(l);
  d[7] = (double)f[20];
  d[8] = (double)c;
}
