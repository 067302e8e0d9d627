// Inline PTX as kernels use it: wrappers of instructions that CUDA C++ has no name for, with every constraint letter.
// corpus: sm_75
// corpus: sm_80 -lineinfo
// corpus: sm_90a
// corpus: sm_90 -G
// corpus: sm_120a -Xcicc -O0
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t lop3(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
D uint32_t field(uint32_t a, int s, int n) {
  uint32_t d;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(s), "r"(n));
  asm("bfi.b32 %0, %1, %0, %2, %3;" : "+r"(d) : "r"(a), "r"(n), "r"(s));
  return d;
}
D uint64_t wide(uint32_t a, uint32_t b, uint64_t c) {
  uint64_t d;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(d) : "r"(a), "r"(b), "l"(c));
  return d;
}
D float approximations(float x) {
  float a, b, c, d;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(a) : "f"(x));
  asm("lg2.approx.f32 %0, %1;" : "=f"(b) : "f"(a));
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(c) : "f"(b));
  asm("tanh.approx.f32 %0, %1;" : "=f"(d) : "f"(c));
  return d;
}
D uint16_t small(uint16_t a, short b) {
  uint16_t c;
  asm("mul.lo.u16 %0, %1, %2;" : "=h"(c) : "h"(a), "h"((uint16_t)b));
  return c;
}
D double fused(double a, double b) {
  double c;
  asm("fma.rz.f64 %0, %1, %2, 0d3FF0000000000000;" : "=d"(c) : "d"(a), "d"(b));
  return c;
}
D int literal() {
  int a;
  asm("mov.s32 %0, %1;" : "=r"(a) : "n"(42));
  return a;
}
D bool predicate(int a, int b) {
  int r;
  asm("{\n\t.reg .pred p, q;\n\tsetp.lt.and.s32 p|q, %1, %2, %3;\n\tselp.s32 %0, 1, 0, p;\n\t@q mov.s32 %0, 2;\n\t}"
      : "=r"(r)
      : "r"(a), "r"(b), "n"(1));
  return r == 1;
}
D float hinted(const float* p) {
  float v;
  asm volatile(
      "{ .reg .b64 policy; createpolicy.fractional.L2::evict_first.b64 policy, 1.0; "
      "ld.global.nc.L1::no_allocate.L2::cache_hint.f32 %0, [%1], policy; }"
      : "=f"(v)
      : "l"(p));
  return v;
}
D void vector_store(float* p, float4 v) {
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}
D uint32_t loop(uint32_t n) {
  uint32_t r;
  asm volatile(
      "{\n .reg .u32 i;\n .reg .pred p;\n mov.u32 i, 0;\n mov.u32 %0, 0;\nLOOP:\n add.u32 %0, %0, i;\n add.u32 i, i, 1;\n "
      "setp.lt.u32 p, i, %1;\n @p bra LOOP;\n}"
      : "=&r"(r)
      : "r"(n));
  return r;
}
D uint4 packed(const void* p) {
  uint4 v;
  asm("ld.global.v4.u32 {%0, %1, %2, %3}, [%4 + 16];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
D uint32_t registers() {
  uint32_t a, b;
  asm volatile("mov.u32 %0, %%smid;\n\tmov.u32 %1, %%lanemask_ge;" : "=r"(a), "=r"(b));
  return a ^ b;
}
D void split(uint64_t v, uint32_t& lo, uint32_t& hi) { asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(v)); }
D uint32_t simd(uint32_t a, uint32_t b) {
  uint32_t c;
  asm("vadd4.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(c) : "r"(a), "r"(b), "r"(0));
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  asm("prmt.b32 %0, %0, %1, 0x3715;" : "+r"(c) : "r"(b));
  return c;
}
__global__ void all(uint32_t* o, float* f, double* d, const void* p) {
  uint32_t x = o[threadIdx.x];
  o[0] = lop3(x, o[1], o[2]) + field(x, 3, 5) + literal() + predicate(x, 3) + loop(x) + registers() + simd(x, 7) + small(x, 3) +
         packed(p).y;
  uint64_t w = wide(x, x, x);
  uint32_t a, b;
  split(w, a, b);
  o[1] = a ^ b;
  f[0] = approximations(f[1]);
  d[0] = fused(d[1], d[2]);
  vector_store(f + 4, make_float4(1, 2, 3, 4));
#if __CUDA_ARCH__ >= 800
  f[2] = hinted(f + 100);
#endif
  asm volatile("bar.sync %0, %1;" ::"r"(1), "n"(64));
  asm volatile("" ::: "memory");
  asm volatile("// a comment alone");
  asm volatile("membar.gl; /* two in one */ fence.sc.cta;");
  asm volatile("{ .reg .b32 unused; mov.b32 unused, 0; }" :);
}
#if __CUDA_ARCH_FEAT_SM90_ALL
D void warpgroup(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 1;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned %7;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b), "r"(1), "n"(0));
}
__global__ void hopper(float* o, uint64_t a, uint64_t b) {
  float d[4] = {};
  for (int i = 0; i < 4; ++i) warpgroup(d, a + i * 2, b + i * 4);
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(240));
  for (int i = 0; i < 4; ++i) o[threadIdx.x * 4 + i] = d[i];
}
#endif
