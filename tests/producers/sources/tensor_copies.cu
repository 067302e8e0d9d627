// cuda::barrier with bulk and tensor copies (TMA): by the address and by tensor maps of 1 to 3 dimensions, swizzled, with what lies
// outside; sums in memory by bulk; a block that writes to another's memory in its cluster.
// targets: sm_90a; sm_100a; sm_120a
#include <cooperative_groups.h>
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <cuda/ptx>

#include "program.cuh"

namespace cg = cooperative_groups;
namespace cde = cuda::device::experimental;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Rows come in as bulk, are doubled, and go out as bulk.
__global__ void bulk(const int* in, int* out) {
  constexpr int count = 96;
  __shared__ alignas(16) int shared[count];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(shared, in + blockIdx.x * count, cuda::aligned_size_t<16>(sizeof shared), barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, 0);
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  for (int i = threadIdx.x; i < count; i += blockDim.x) shared[i] *= 2;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_shared_to_global(out + blockIdx.x * count, shared, sizeof shared);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// A box of a matrix, part of it outside, is turned about its diagonal through a swizzle of 128 bytes.
constexpr int side = 32;
__global__ void turned(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(1024) int shared[side][side];
  __shared__ alignas(1024) int other[side][side];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(shared, &from, blockIdx.x * side, blockIdx.y * side, barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof shared);
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  const int column = threadIdx.x;  // pieces of 16 bytes are exchanged by the row's number modulo 8
  for (int row = 0; row < side; ++row) {
    const int value = shared[row][column ^ row % 8 * 4];
    other[column][row ^ column % 8 * 4] = value;
  }
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&to, blockIdx.y * side, blockIdx.x * side, other);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// Blocks add what they have to the same places, by bulk.
__global__ void added(const float* in, float* sums) {
  __shared__ alignas(16) float shared[64];
  shared[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, cuda::ptx::op_add, sums, shared, sizeof shared);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// Each block of a cluster counts a part of the values, in the memory of the block that the values belong to.
__global__ void counted(const unsigned* in, unsigned* bins, int count) {
  __shared__ unsigned mine[64];
  const auto cluster = cg::this_cluster();
  mine[threadIdx.x] = 0;
  cluster.sync();
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  for (int i = rank * blockDim.x + threadIdx.x; i < count; i += blocks * blockDim.x) {
    const unsigned bin = in[i] % (64 * blocks);
    atomicAdd(cluster.map_shared_rank(&mine[bin % 64], bin / 64), 1u);
  }
  cluster.sync();
  bins[rank * 64 + threadIdx.x] = mine[threadIdx.x];
}

CUtensorMap map_of(int* memory, int rows, int columns) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {cuuint64_t(columns), cuuint64_t(rows)}, strides[] = {columns * sizeof(int)};
  const cuuint32_t box[] = {side, side}, steps[] = {1, 1};
  if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, memory, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    exit(1);
  return map;
}

int main() {
  int* const ints = given<int>("ints", 3 * 96, [](auto i) { return static_cast<int>(drawn(30, i)); });
  bulk<<<3, 32>>>(ints, made<int>("doubled", 3 * 96));
  const int rows = 45, columns = 76;  // rows of multiples of 16 bytes
  int* const matrix = given<int>("matrix", rows * columns, [](auto i) { return static_cast<int>(drawn(31, i)); });
  int* const back = zeros<int>("turned", columns * 48);
  turned<<<dim3(3, 2), 32>>>(map_of(matrix, rows, columns), map_of(back, columns, 48));
  const float* const floats = given<float>("floats", 5 * 64, [](auto i) { return eighths(32, i); });
  added<<<5, 64>>>(floats, zeros<float>("sums", 64));
  const unsigned* const values = given<unsigned>("values", 1000, [](auto i) { return drawn(33, i); });
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = 4;
  configuration.blockDim = 64;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  if (cudaLaunchKernelEx(&configuration, counted, values, made<unsigned>("bins", 256), 1000) != cudaSuccess) exit(1);
  return cudaDeviceSynchronize();
}
