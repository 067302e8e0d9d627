// libcu++ barriers, pipelines, asynchronous copies, semaphores, latches, annotated pointers, memory discards.
// corpus: sm_75
// corpus: sm_80
// corpus: sm_90 -lineinfo
// corpus: sm_100a
// corpus: sm_120 -G
#include <cooperative_groups.h>
#include <cuda/annotated_ptr>
#include <cuda/barrier>
#include <cuda/discard_memory>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
__global__ void arrive_and_wait(float* x, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    x[threadIdx.x] += x[i];
    auto token = b.arrive();
    x[threadIdx.x + 1024] = i;
    b.wait(std::move(token));
    b.arrive_and_wait();
  }
  b.arrive_and_drop();
}
__global__ void copies(float* o, const float4* x, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ alignas(128) float4 s[256];
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&s[threadIdx.x], &x[threadIdx.x], cuda::aligned_size_t<16>(16), b);
  b.arrive_and_wait();
  auto g = cooperative_groups::this_thread_block();
  cuda::memcpy_async(g, s, x + n, cuda::aligned_size_t<16>(sizeof(s)), b);
  b.arrive_and_wait();
  o[threadIdx.x] = s[255 - threadIdx.x].x;
}
template <int Stages>
__global__ void pipeline(float* o, const float* x, int n) {
  __shared__ float s[Stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
  auto g = cooperative_groups::this_thread_block();
  auto p = cuda::make_pipeline(g, &state);
  float a = 0;
  for (int c = 0, f = 0; c < n; ++c) {
    for (; f < n && f < c + Stages; ++f) {
      p.producer_acquire();
      cuda::memcpy_async(g, s[f % Stages], x + f * 128, sizeof(float) * 128, p);
      p.producer_commit();
    }
    p.consumer_wait();
    a += s[c % Stages][threadIdx.x];
    p.consumer_release();
  }
  o[threadIdx.x] = a;
}
template __global__ void pipeline<2>(float*, const float*, int);
template __global__ void pipeline<4>(float*, const float*, int);
__global__ void thread_pipeline(int* o, const int* x, int n) {
  __shared__ int s[2][64];
  auto p = cuda::make_pipeline();
  for (int i = 0; i < n; ++i) {
    p.producer_acquire();
    cuda::memcpy_async(&s[i & 1][threadIdx.x], x + i * 64 + threadIdx.x, sizeof(int), p);
    p.producer_commit();
    cuda::pipeline_consumer_wait_prior<1>(p);
    o[i] = s[(i + 1) & 1][threadIdx.x];
    p.consumer_release();
  }
}
#include <cuda_pipeline.h>
__global__ void primitives(int4* o, const int4* x, const int* y) {
  __shared__ int4 s[64];
  __shared__ int t[64];
  __shared__ __mbarrier_t b;
  __mbarrier_init(&b, 64);
  __pipeline_memcpy_async(&s[threadIdx.x], x + threadIdx.x, 16);
  __pipeline_memcpy_async(&t[threadIdx.x], y + threadIdx.x, 4);
  __pipeline_memcpy_async(&s[1], x, 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __pipeline_arrive_on(&b);
  __mbarrier_token_t k = __mbarrier_arrive(&b);
  while (!__mbarrier_test_wait(&b, k));
  o[threadIdx.x] = s[threadIdx.x];
  o[0].x = t[1];
  __mbarrier_inval(&b);
}
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 4> semaphore{4};
__device__ cuda::latch<cuda::thread_scope_device> latch{32};
__global__ void wait(int* o) {
  semaphore.acquire();
  ++*o;
  semaphore.release();
  latch.count_down();
  latch.wait();
}
__global__ void annotated(int* x, int* o, float* f) {
  cuda::annotated_ptr<int, cuda::access_property::persisting> p{x};
  cuda::annotated_ptr<const int, cuda::access_property::streaming> q{x + 5};
  cuda::access_property mixed(cuda::access_property::persisting{}, 0.25f, cuda::access_property::streaming{});
  cuda::annotated_ptr<float, cuda::access_property> r{f, mixed};
  p[0] = q[1] + (int)r[2];
  cuda::discard_memory(o, 256);
  cuda::apply_access_property(x, 256, cuda::access_property::persisting{});
  int* z = cuda::associate_access_property(x, cuda::access_property::normal{});
  z[3] = 4;
}
#if __CUDA_ARCH__ >= 900
__global__ void bulk(float* o, const float* x) {
  __shared__ alignas(128) float s[1024];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (threadIdx.x == 0) {
    init(&b, blockDim.x);
  }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token t;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(s, x, cuda::aligned_size_t<16>(sizeof(s)), b);
    t = cuda::device::barrier_arrive_tx(b, 1, sizeof(s));
  } else
    t = b.arrive();
  b.wait(std::move(t));
  o[threadIdx.x] = s[threadIdx.x];
}
#endif
