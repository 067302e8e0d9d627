// DeepGEMM: Hopper's products of bf16, and of e4m3 with scales of 128 numbers and of blocks of 128 by 128; blocks in pairs that
// share loads, groups of rows with a matrix each.
// targets: sm_90a -std=c++20
// include: deepgemm=deep_gemm/include
// include: cutlass=include
#include <cuda.h>
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

#include "operands.cuh"

using namespace deep_gemm;
using cute::UMMA::Major;
using cutlass::bfloat16_t, cutlass::float_e4m3_t;

// A matrix of rows of `wide` numbers, in boxes.
CUtensorMap map_of(CUtensorMapDataType type, void* memory, std::size_t size, int wide, int rows, int box_wide, int box_rows, CUtensorMapSwizzle swizzle) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {cuuint64_t(wide), cuuint64_t(rows)}, strides[] = {wide * size};
  const cuuint32_t box[] = {cuuint32_t(box_wide), cuuint32_t(box_rows)}, steps[] = {1, 1};
  if (cuTensorMapEncodeTiled(&map, type, 2, memory, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    exit(1);
  return map;
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int blocks, int threads, int cluster, int shared_bytes, Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(cluster), 1, 1};
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = blocks;
  configuration.blockDim = threads;
  configuration.dynamicSmemBytes = shared_bytes;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  if (cudaLaunchKernelEx(&configuration, kernel, Parameters(arguments)...) != cudaSuccess) exit(1);
}

// D = A B, or D += A B; of bf16.
template <int cluster, GemmType type, bool adds, class D>
void halves(const char* name, int m, int n, int k, int groups, int* layout) {
  constexpr int block_m = 64, block_n = 64, block_k = 64, stages = 4, blocks = 4, swizzle_d = sizeof(D) == 2 ? 128 : 0;
  const Operands<bfloat16_t, bfloat16_t, D> o(name, m * k, groups * k * n, m * n);
  if (adds) cudaMemcpy(o.d, o.c, m * n * sizeof(D), cudaMemcpyDeviceToDevice);
  const auto kernel = &sm90_bf16_gemm_impl<Major::K, Major::K, 0, 0, 0, 1 + (type != GemmType::Normal), block_m, block_n, block_k, 128, 128, swizzle_d, stages, 128, 128,
                                           cluster, false, blocks, type, adds, D>;
  const auto swizzled = CU_TENSOR_MAP_SWIZZLE_128B;
  const auto half = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  launch(kernel, blocks, 256, cluster, block_m * block_n * sizeof(D) + stages * (block_m + block_n) * block_k * 2 + stages * 16 + 64, layout, m, n, k,
         map_of(half, o.a, 2, k, m, block_k, block_m, swizzled), map_of(half, o.b, 2, k, n * groups, block_k, block_n, swizzled),
         map_of(sizeof(D) == 2 ? half : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, o.d, sizeof(D), n, m, swizzle_d == 0 ? block_n : 64, block_m,
                swizzle_d == 0 ? CU_TENSOR_MAP_SWIZZLE_NONE : swizzled));
}

// NAME_scales_a has a scale for 128 numbers of a row of A, column by column; NAME_scales_b one for each 128 by 128 of B.
void bytes() {
  constexpr int block_m = 64, block_n = 128, block_k = 128, stages = 3, blocks = 2;
  const int m = 136, n = 192, k = 384, aligned_m = 136;
  const Operands<float_e4m3_t, float_e4m3_t, bfloat16_t> o("bytes", m * k, k * n, m * n);
  const auto power = [](std::uint32_t seed) { return [seed](auto i) { return static_cast<float>(1 << drawn(seed, i) % 3) / 2; }; };
  float* const scales_a = given<float>("bytes_scales_a", aligned_m * (k / 128), power(5));
  float* const scales_b = given<float>("bytes_scales_b", (n + 127) / 128 * (k / 128), power(6));
  const auto kernel = &sm90_fp8_gemm_1d2d_impl<Major::K, 0, 0, 0, 1, block_m, block_n, block_k, 128, 128, 128, stages, 128, 128, 1, false, blocks,
                                               GemmType::Normal, bfloat16_t, epilogue::transform::EpilogueIdentity>;
  const auto byte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  const auto swizzled = CU_TENSOR_MAP_SWIZZLE_128B;
  launch(kernel, blocks, 256, 1, 100 * 1024, scales_b, static_cast<int*>(nullptr), m, n, k, map_of(byte, o.a, 1, k, m, block_k, block_m, swizzled),
         map_of(byte, o.b, 1, k, n, block_k, block_n, swizzled),
         map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, o.d, 2, n, m, 64, block_m, swizzled),
         map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, scales_a, 4, aligned_m, k / 128, block_m, 1, CU_TENSOR_MAP_SWIZZLE_NONE));
}

int main() {
  halves<1, GemmType::Normal, false, bfloat16_t>("single", 72, 136, 200, 1, nullptr);
  halves<2, GemmType::Normal, true, float>("paired", 128, 128, 256, 1, nullptr);
  // Rows 0 to 63 and 128 to 191 are multiplied by the second matrix, the rest by the first.
  halves<1, GemmType::MGroupedContiguous, false, bfloat16_t>("grouped", 192, 64, 128, 2,
                                                             given<int>("groups", 192, [](auto i) { return i / 64 % 2 == 0; }));
  bytes();
  return cudaDeviceSynchronize();
}
