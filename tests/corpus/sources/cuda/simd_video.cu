// SIMD within a word: the video intrinsics and the dynamic programming (DPX) ones.
// corpus: sm_75
// corpus: sm_90
// corpus: sm_120 -G
// corpus: sm_80 -DDPX
// corpus: sm_90a -DDPX -lineinfo
// corpus: sm_100 -DDPX
#ifndef DPX
#define A(f) o[n++] = f(a, b);
__global__ void bytes(unsigned* o, unsigned a, unsigned b) {
  int n = 0;
  A(__vadd4)
  A(__vaddss4) A(__vaddus4) A(__vsub4) A(__vsubss4) A(__vsubus4) A(__vavgs4) A(__vavgu4) A(__vhaddu4) A(__vabsdiffs4)
      A(__vabsdiffu4) A(__vmaxs4) A(__vmaxu4) A(__vmins4) A(__vminu4) A(__vcmpeq4) A(__vcmpges4) A(__vcmpgeu4) A(__vcmpgts4)
          A(__vcmpltu4) A(__vcmpne4) A(__vseteq4) A(__vsetges4) A(__vsetgtu4) A(__vsetlts4) A(__vsetne4) A(__vsads4) A(__vsadu4)
              o[n++] = __vabs4(a);
  o[n++] = __vabsss4(a);
  o[n++] = __vneg4(a);
  o[n++] = __vnegss4(a);
}
__global__ void halves(unsigned* o, unsigned a, unsigned b) {
  int n = 0;
  A(__vadd2)
  A(__vaddss2) A(__vaddus2) A(__vsub2) A(__vsubss2) A(__vsubus2) A(__vavgs2) A(__vavgu2) A(__vhaddu2) A(__vabsdiffs2)
      A(__vabsdiffu2) A(__vmaxs2) A(__vmaxu2) A(__vmins2) A(__vminu2) A(__vcmpeq2) A(__vcmpges2) A(__vcmpgtu2) A(__vcmplts2)
          A(__vcmpne2) A(__vseteq2) A(__vsetges2) A(__vsetltu2) A(__vsads2) A(__vsadu2) o[n++] = __vabs2(a);
  o[n++] = __vabsss2(a);
  o[n++] = __vneg2(a);
  o[n++] = __vnegss2(a);
}
#else
__global__ void dynamic_programming(int* o, int a, int b, int c, unsigned x, unsigned y, unsigned z, bool* p) {
  int n = 0;
#define S(f) o[n++] = f(a, b, c);
#define U(f) o[n++] = f(x, y, z);
  S(__vimax3_s32)
  S(__vimin3_s32) S(__vimax3_s32_relu) S(__vimin3_s32_relu) S(__viaddmax_s32) S(__viaddmin_s32) S(__viaddmax_s32_relu)
      S(__viaddmin_s32_relu) U(__vimax3_u32) U(__vimin3_u32) U(__viaddmax_u32) U(__viaddmin_u32) U(__vimax3_s16x2)
          U(__vimin3_s16x2) U(__vimax3_u16x2) U(__vimin3_u16x2) U(__vimax3_s16x2_relu) U(__vimin3_s16x2_relu) U(__viaddmax_s16x2)
              U(__viaddmin_s16x2) U(__viaddmax_u16x2) U(__viaddmin_u16x2) U(__viaddmax_s16x2_relu) U(__viaddmin_s16x2_relu)
                  o[n++] = __vimax_s32_relu(a, b);
  o[n++] = __vimin_s32_relu(a, b);
  o[n++] = __vimax_s16x2_relu(x, y);
  o[n++] = __vimin_s16x2_relu(x, y);
  o[n++] = __vibmax_s32(a, b, p);
  o[n++] = __vibmin_u32(x, y, p + 1);
  o[n++] = __vibmax_s16x2(x, y, p + 2, p + 3);
  o[n++] = __vibmin_u16x2(x, y, p + 4, p + 5);
}
__global__ void smith_waterman(int* h, const char* q, const char* t, int n, int gap) {
  extern __shared__ int diagonal[];
  int i = threadIdx.x;
  int left = 0, up = 0, corner = 0, best = 0;
  for (int j = 0; j < n; ++j) {
    int m = q[i] == t[j] ? 2 : -1;
    up = i ? diagonal[i - 1] : 0;
    left = __viaddmax_s32(left, gap, __viaddmax_s32_relu(corner, m, up + gap));
    corner = up;
    best = max(best, left);
    __syncthreads();
    diagonal[i] = left;
    __syncthreads();
  }
  h[i] = best;
}
#endif
