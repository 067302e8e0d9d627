// Inline PTX as kernel generators write it: matrix products from ldmatrix and mma.sync, copies in flight.
// corpus: sm_75
// corpus: sm_80
// corpus: sm_90 --generate-line-info
// corpus: sm_120a --maxrregcount=128
__device__ __forceinline__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void __launch_bounds__(128) gemm(const uint4* a, const uint4* b, float* c, int k) {
  __shared__ __align__(128) uint4 s[2][256];
  float d[8] = {};
  int lane = threadIdx.x & 31;
  for (int i = 0; i < k; ++i) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(address(&s[i & 1][threadIdx.x])),
                 "l"(a + i * 128 + threadIdx.x));
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8, %2;\n" ::"r"(address(&s[i & 1][128 + threadIdx.x])),
                 "l"(b + i * 128 + threadIdx.x), "r"(i < k - 1 ? 8 : 0));
    asm volatile("cp.async.commit_group;\ncp.async.wait_group %0;\n" ::"n"(1));
#else
    s[i & 1][threadIdx.x] = a[i];
    s[i & 1][128 + threadIdx.x] = b[i];
#endif
    __syncthreads();
    unsigned x[4], y[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address(&s[i & 1][lane])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(y[0]), "=r"(y[1])
                 : "r"(address(&s[i & 1][128 + lane])));
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(x[0]), "r"(x[1]), "r"(y[0]));
#endif
  }
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = d[i];
}
