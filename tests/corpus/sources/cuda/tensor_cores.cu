// Whole matrix kernels of each generation in inline PTX: mma.sync with ldmatrix, wgmma with tensor copies, tcgen05.
// corpus: sm_80
// corpus: sm_89 -DFP8
// corpus: sm_90a -lineinfo
// corpus: sm_100a
// corpus: sm_103a -lineinfo
// corpus: sm_110a -G
// corpus: sm_120a -DFP8
// corpus: sm_100f -DFAMILY
#include <cstdint>
#include <cuda/ptx>
struct Map {
  alignas(64) unsigned char bytes[128];
};
__device__ __forceinline__ uint32_t shared_addr(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(uint64_t* bar, uint32_t phase) {
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra DONE;\nbra "
      "WAIT;\nDONE:\n}" ::"r"(shared_addr(bar)),
      "r"(phase)
      : "memory");
}
__global__ void __launch_bounds__(128) synchronous(const uint4* a, const uint4* b, float* c, int steps) {
  __shared__ alignas(128) uint4 sa[3][128], sb[3][128];
  float d[4][4] = {};
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  auto load = [&](int s, int k) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_addr(&sa[s][threadIdx.x])),
                 "l"(a + k * 128 + threadIdx.x));
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(shared_addr(&sb[s][threadIdx.x])),
                 "l"(b + k * 128 + threadIdx.x));
    asm volatile("cp.async.commit_group;");
  };
  load(0, 0);
  load(1, 1);
  for (int k = 0; k < steps; ++k) {
    asm volatile("cp.async.wait_group %0;" ::"n"(1));
    __syncthreads();
    if (k + 2 < steps) load((k + 2) % 3, k + 2);
    uint32_t x[4], y[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_addr(&sa[k % 3][warp * 32 + lane])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
                 : "r"(shared_addr(&sb[k % 3][lane])));
#pragma unroll
    for (int j = 0; j < 4; ++j)
#ifdef FP8
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[j & 2]), "r"(y[j | 1]));
#else
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[j & 2]), "r"(y[j | 1]));
#endif
  }
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i) c[(threadIdx.x * 4 + j) * 4 + i] = d[j][i];
}
#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) copies(const __grid_constant__ Map map, const __grid_constant__ Map out, int n) {
  extern __shared__ __align__(1024) unsigned char room[];
  __shared__ uint64_t full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_addr(full + i)), "r"(1));
      cuda::ptx::mbarrier_init(empty + i, 128);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  for (int k = 0; k < n; ++k) {
    int s = k & 1, phase = k >> 1 & 1;
    if (threadIdx.x == 0) {
      if (k >= 2) wait(empty + s, phase ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_addr(full + s)), "r"(8192));
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, "
          "%4}], [%2], %5;" ::"r"(shared_addr(room + s * 8192)),
          "l"(&map), "r"(shared_addr(full + s)), "r"(k * 64), "r"((int)blockIdx.x), "h"((uint16_t)3)
          : "memory");
    }
    wait(full + s, phase);
    room[threadIdx.x] += room[s * 8192 + threadIdx.x];
    uint32_t remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared_addr(empty + s)), "r"(0));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote));
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&out),
                 "r"(shared_addr(room)), "r"(0), "r"((int)blockIdx.x)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;");
  }
}
#endif
#if __CUDA_ARCH_FEAT_SM90_ALL
template <int N>
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__global__ void __launch_bounds__(256) warpgroups(const __grid_constant__ Map a, const __grid_constant__ Map b, float* c, int k) {
  extern __shared__ __align__(1024) unsigned char room[];
  float d[16] = {};
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  for (int i = 0; i < k; ++i) {
    uint64_t x = (shared_addr(room) & 0x3FFFF) >> 4 | 1ull << 62, y = x + 512;
    wgmma_fence<0>();
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, "
        "%6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, p, %19, %20, %21, %22;\n}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
          "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
        : "l"(x), "l"(y), "r"(i), "n"(1), "n"(1), "n"(0), "n"(1));
    asm volatile("wgmma.commit_group.sync.aligned;");
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(0));
  }
  for (int i = 0; i < 16; ++i) c[threadIdx.x * 16 + i] = d[i];
}
#endif
#if __CUDA_ARCH_FEAT_SM100_ALL || __CUDA_ARCH_FEAT_SM103_ALL || __CUDA_ARCH_FEAT_SM110_ALL || defined(FAMILY)
__global__ void __launch_bounds__(128) tensor_memory(float* c, uint64_t a, uint64_t b, uint32_t idesc, int k) {
  __shared__ uint32_t where;
  __shared__ uint64_t done;
  if (threadIdx.x < 32) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_addr(&where)), "n"(64));
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_addr(&done)));
  __syncthreads();
  uint32_t d = where;
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  uint32_t elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xFFFFFFFF;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(elected));
  if (threadIdx.x < 32 && elected) {
    for (int i = 0; i < k; ++i)
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, {%5, %6, %7, %8}, "
          "p;\n}" ::"r"(d),
          "l"(a + i * 2), "l"(b + i * 2), "r"(idesc), "r"(i), "r"(0), "r"(0), "r"(0), "r"(0));
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_addr(&done)));
  }
  wait(&done, 0);
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  uint32_t r[8];
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
               : "r"(d));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  for (int i = 0; i < 8; ++i) c[threadIdx.x * 8 + i] = __uint_as_float(r[i]);
  __syncthreads();
  if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(d), "n"(64));
}
#endif
