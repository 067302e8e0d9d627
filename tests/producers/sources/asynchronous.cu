// cuda::pipeline, cuda::barrier and cuda::memcpy_async; latches and semaphores.
// targets: sm_75; sm_80; sm_90a; sm_100a
#include <cooperative_groups.h>

#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

#include "program.cuh"

namespace cg = cooperative_groups;

// Blocks of 64 floats come in through two stages, and are scaled and summed up by neighbours.
__global__ void staged(const float* in, float* out, int steps) {
  constexpr int stages = 2, width = 64;
  __shared__ float shared[stages][width];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int step = 0, fetched = 0; step < steps; ++step) {
    for (; fetched < steps && fetched < step + stages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, shared[fetched % stages], in + fetched * width, cuda::aligned_size_t<16>(width * 4), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    const float* const now = shared[step % stages];
    out[step * width + threadIdx.x] = 2 * now[threadIdx.x] + now[(threadIdx.x + 1) % width];
    pipe.consumer_release();
  }
}

// One warp fetches, the other computes.
__global__ void divided(const int* in, int* out, int steps) {
  constexpr int stages = 3, width = 32;
  __shared__ int shared[stages][width];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  const int lane = threadIdx.x % 32;
  if (role == cuda::pipeline_role::producer) {
    for (int step = 0; step < steps; ++step) {
      pipe.producer_acquire();
      cuda::memcpy_async(&shared[step % stages][lane], in + step * width + lane, sizeof(int), pipe);
      pipe.producer_commit();
    }
  } else {
    for (int step = 0; step < steps; ++step) {
      pipe.consumer_wait();
      out[step * width + lane] = shared[step % stages][31 - lane] * 3;
      pipe.consumer_release();
    }
  }
}

// Threads on their own: each has a pipeline.
__global__ void alone(const int4* in, int4* out) {
  __shared__ int4 shared[2][32];
  auto pipe = cuda::make_pipeline();
  for (int i = 0; i < 2; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(&shared[i][threadIdx.x], in + i * 32 + threadIdx.x, cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
  }
  for (int i = 0; i < 2; ++i) {
    cuda::pipeline_consumer_wait_prior<0>(pipe);
    int4 mine = shared[i][threadIdx.x];
    pipe.consumer_release();
    out[i * 32 + threadIdx.x] = int4{mine.w, mine.z, mine.y, mine.x};
  }
}

// A barrier of the block whose arrival and wait are apart, many phases of it.
__global__ void phases(const int* in, int* out, int rounds) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier barrier;
  __shared__ int shared[2][96];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int mine = in[threadIdx.x];
  for (int round = 0; round < rounds; ++round) {
    shared[round & 1][threadIdx.x] = mine;
    auto token = barrier.arrive();
    const int own = mine * 5;
    barrier.wait(cuda::std::move(token));
    mine = (own + shared[round & 1][(threadIdx.x + 33) % 96]) & 0xFFFFF;
  }
  out[threadIdx.x] = mine;
}

// A copy that the barrier waits for, with a completion of its own.
__global__ void copied(const double* in, double* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier barrier;
  __shared__ double shared[64];
  const auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, shared, in, sizeof(shared), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = shared[63 - threadIdx.x] + shared[threadIdx.x];
  if (threadIdx.x >= 32) barrier.arrive_and_drop();
  else barrier.arrive_and_wait();
}

// Blocks that add one at a time, by a semaphore, and wait for each other, by a latch.
struct Meeting {
  cuda::binary_semaphore<cuda::thread_scope_device> open{1};
  cuda::latch<cuda::thread_scope_device> latch{3};
};
__global__ void prepare(Meeting* meeting) { new (meeting) Meeting(); }
__global__ void together(Meeting* meeting, const int* in, int* sum, int* seen) {
  if (threadIdx.x == 0) {
    meeting->open.acquire();
    *sum += in[blockIdx.x];  // one block at a time
    meeting->open.release();
    meeting->latch.arrive_and_wait();
    seen[blockIdx.x] = *reinterpret_cast<volatile int*>(sum);
  }
}

int main() {
  const float* floats = given<float>("floats", 6 * 64, [](auto i) { return eighths(9, i); });
  staged<<<1, 64>>>(floats, made<float>("staged", 6 * 64), 6);
  const int* ints = given<int>("ints", 256, [](auto i) { return drawn(10, i) & 0xFFFF; });
  divided<<<1, 64>>>(ints, made<int>("divided", 7 * 32), 7);
  alone<<<1, 32>>>(reinterpret_cast<const int4*>(ints), made<int4>("alone", 64));
  phases<<<1, 96>>>(ints, made<int>("phases", 96), 5);
  const double* doubles = given<double>("doubles", 64, [](auto i) { return eighths(11, i); });
  copied<<<1, 64>>>(doubles, made<double>("copied", 64));
  Meeting* const meeting = made<Meeting>("meeting", 1);
  prepare<<<1, 1>>>(meeting);
  together<<<3, 32>>>(meeting, ints, zeros<int>("sum", 1), made<int>("seen", 3));
  return cudaDeviceSynchronize();
}
