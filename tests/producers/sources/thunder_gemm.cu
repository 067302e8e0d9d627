// ThunderKittens: products of bf16 for Hopper, by its template of warps that load, compute and finish.
// targets: sm_90a -std=c++20 -DKITTENS_HOPPER --expt-extended-lambda
// include: thunderkittens=include
// include: thunderkittens=prototype
// include: thunderkittens=kernels
#define main main_of_their_benchmark
#include <gemm/bf16_h100/bf16_h100_gemm.cu>
#undef main

#include "program.cuh"

int main() {
  const auto small = [](std::uint32_t seed) { return [seed](auto i) { return static_cast<float>(static_cast<int>(drawn(seed, i) % 9) - 4); }; };
  const int m = 256, n = 256, k = 320;
  bf16* const a = given<bf16>("lcf_a", m * k, small(1));
  bf16* const b = given<bf16>("lcf_b", k * n, small(2));
  given<bf16>("lcf_c", m * n, small(3));
  bf16* const d = made<bf16>("lcf_d", m * n);
  using Template = matmul_template<2, 4, 8>;
  inner_run<Template>(a, b, d, m, n, k, dim3(2), dim3(kittens::prototype::detail::NUM_THREADS_v<Template>));
  return cudaDeviceSynchronize();
}
