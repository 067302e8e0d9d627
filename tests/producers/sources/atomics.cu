// cuda::atomic_ref of all orders and scopes, the older atomics, and blocks that hand messages on.
// targets: sm_75; sm_90a; sm_100a
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/atomic>

#include "program.cuh"

__global__ void orders(const int* in, int* out) {
  const int mine = in[blockIdx.x * blockDim.x + threadIdx.x];
  cuda::atomic_ref<int, cuda::thread_scope_device>(out[0]).fetch_add(mine, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_system>(out[1]).fetch_sub(mine, cuda::memory_order_release);
  cuda::atomic_ref<int, cuda::thread_scope_device>(out[2]).fetch_max(mine, cuda::memory_order_acquire);
  cuda::atomic_ref<int, cuda::thread_scope_device>(out[3]).fetch_min(mine, cuda::memory_order_acq_rel);
  cuda::atomic_ref<int, cuda::thread_scope_device>(out[4]).fetch_xor(mine, cuda::memory_order_seq_cst);
  cuda::atomic_ref<int, cuda::thread_scope_device>(out[5]).fetch_or(mine);
  cuda::atomic_ref<int, cuda::thread_scope_device>(out[6]).fetch_and(mine | 7);
}

__global__ void older(const int* in, unsigned* out, unsigned long long* wide, float* floats, double* doubles, __half2* halves,
                      __nv_bfloat16* brains) {
  const int mine = in[blockIdx.x * blockDim.x + threadIdx.x];
  atomicInc(out, 16);
  atomicDec(out + 1, 99);
  atomicAdd_block(out + 2 + blockIdx.x, 1u);
  atomicAdd(wide, static_cast<unsigned long long>(mine) << 20);
  atomicMax(wide + 1, static_cast<unsigned long long>(mine + 5000) * 1000003);
  atomicAdd(floats, mine / 8.0F);
  atomicAdd(doubles, mine / 1024.0);
  atomicAdd(halves, __floats2half2_rn(mine % 3, 1));
  atomicAdd(brains, __float2bfloat16(mine & 1));
}

// A product, by compare and swap.
__global__ void swapped(const int* in, float* product) {
  cuda::atomic_ref<float, cuda::thread_scope_device> all(*product);
  const float factor = in[threadIdx.x] & 1 ? 2.0F : 0.5F;
  float seen = all.load(cuda::memory_order_relaxed);
  while (!all.compare_exchange_weak(seen, seen * factor, cuda::memory_order_acq_rel, cuda::memory_order_relaxed)) {
  }
}

// Each block waits for the one before, reads what it left, and adds its own.
__global__ void in_line(const int* in, int* sums, int* flags) {
  __shared__ int before;
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[blockIdx.x]);
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    before = sums[blockIdx.x];
  }
  __syncthreads();
  int mine = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d != 0; d /= 2) mine += __shfl_xor_sync(~0u, mine, d);
  if (threadIdx.x == 0) {
    sums[blockIdx.x + 1] = before + mine;
    cuda::atomic_ref<int, cuda::thread_scope_device>(flags[blockIdx.x + 1]).store(1, cuda::memory_order_release);
  }
}

// A stack whose places are taken by tickets; the last block to end sums up.
__device__ unsigned ended;
__global__ void last_block(const int* in, int* partial, int* total) {
  __shared__ bool is_last;
  int mine = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d != 0; d /= 2) mine += __shfl_down_sync(~0u, mine, d);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();
    is_last = atomicInc(&ended, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += reinterpret_cast<volatile int*>(partial)[i];
    *total = sum;
  }
}

int main() {
  const int* in = given<int>("in", 128, [](auto i) { return static_cast<int>(drawn(30, i) % 4001) - 2000; });
  orders<<<2, 64>>>(in, given<int>("orders", 7, [](auto i) { return i == 6 ? -1 : 0; }));
  older<<<2, 64>>>(in, zeros<unsigned>("older", 4), zeros<unsigned long long>("wide", 2), zeros<float>("floats", 1), zeros<double>("doubles", 1),
                   zeros<__half2>("halves", 1), zeros<__nv_bfloat16>("brains", 1));
  swapped<<<1, 64>>>(in, given<float>("product", 1, [](auto) { return 1; }));
  in_line<<<4, 32>>>(in, zeros<int>("sums", 5), given<int>("flags", 5, [](auto i) { return i == 0; }));
  last_block<<<4, 32>>>(in, made<int>("partial", 4), made<int>("total", 1));
  return cudaDeviceSynchronize();
}
