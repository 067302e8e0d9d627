// clang's own CUDA mode without the toolkit's headers.
// corpus: sm_75 -O3
// corpus: sm_80 -O0
// corpus: sm_90 -O2 -g -gdwarf-2
// corpus: sm_86 -O1 -ffast-math
// corpus: sm_89 -Os -gline-tables-only
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
struct Params {
  int n;
  float* x;
  double d[3];
};
__constant__ int table[16] = {1, 2, 3};
__device__ float variable = 2.5f;
__device__ int* pointer = nullptr;
extern "C" __device__ int vprintf(const char*, void*);
extern "C" __global__ void __launch_bounds__(128, 2) saxpy(Params p, float a) {
  int i = __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * 128;
  if (i < p.n) p.x[i] = a * p.x[i] + (float)p.d[i % 3] + table[i & 15];
}
__device__ __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ int (*functions[2])(int) = {fib, nullptr};
__global__ void call(int* o, int n) {
  o[0] = fib(n);
  o[1] = functions[n & 1](n);
  int args[2] = {n, 3};
  vprintf("value %d\n", args);
}
__global__ void shared(float* o) {
  __shared__ float s[128];
  int i = __nvvm_read_ptx_sreg_tid_x();
  s[i] = o[i];
  __syncthreads();
  for (int d = 64; d; d /= 2) {
    if (i < d) s[i] += s[i + d];
    __syncthreads();
  }
  if (!i) o[0] = s[0];
}
struct Base {
  __device__ virtual int f(int) const = 0;
};
struct One : Base {
  int k;
  __device__ One(int k) : k(k) {}
  __device__ int f(int x) const override { return x + k; }
};
struct Two : Base {
  __device__ int f(int x) const override { return x * x; }
};
__global__ void virtuals(int* o, int n) {
  One a(n);
  Two b;
  const Base* p = n & 1 ? (const Base*)&a : &b;
  o[0] = p->f(n);
}
__global__ void select(int* o, int n) {
  switch (n) {
    case 0:
      o[0] = 5;
      break;
    case 1:
      o[1] = o[7];
      break;
    case 2:
      o[2] = n * o[3];
      break;
    case 3:
      o[3] = 9;
      break;
    case 4:
      o[4] = fib(3);
      break;
    default:
      o[5] = 1;
  }
}
__global__ void atomics(int* p, unsigned long long* q, float* f, double* d) {
  __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
  __atomic_fetch_max(p, 7, __ATOMIC_RELAXED);
  __nvvm_atom_add_gen_f(f, 1.f);
  __nvvm_atom_add_gen_d(d, 1.0);
  __nvvm_atom_cas_gen_i(p, 1, 2);
  __nvvm_atom_inc_gen_ui((unsigned*)p, 10);
  __nvvm_atom_xchg_gen_ll((long long*)q, 5);
  __nvvm_membar_gl();
  __nvvm_membar_cta();
  __nvvm_membar_sys();
}
__global__ void intrinsics(float* f, double* d, int* o, unsigned m) {
  f[0] = __nvvm_sqrt_rn_f(f[1]) + __nvvm_ex2_approx_f(f[2]) + __nvvm_rcp_rn_f(f[3]) + __nvvm_sin_approx_f(f[4]) +
         __nvvm_fma_rz_f(f[5], f[6], f[7]) + __nvvm_fmax_f(f[1], f[2]);
  d[0] = __nvvm_sqrt_rz_d(d[1]) + __nvvm_fma_rp_d(d[1], d[2], d[3]) + __nvvm_add_rm_d(d[4], d[5]);
  o[0] = __nvvm_mulhi_i(o[1], o[2]) + __nvvm_prmt(o[3], o[4], o[5]) + __nvvm_sad_i(o[6], o[7], o[8]) + __builtin_popcount(m) +
         __builtin_clz(m) + __builtin_bitreverse32(m) + __nvvm_shfl_sync_bfly_i32(m, o[9], 1, 31) +
         __nvvm_vote_ballot_sync(m, o[2]);
  f[1] = __nvvm_ldg_f(f + 9);
  __nvvm_bar_sync(1);
}
