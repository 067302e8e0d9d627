// nvcuda::wmma: products of the matrices of a warp, in each type that a target has; by rows and by columns.
// targets: sm_75; sm_80 -DAMPERE; sm_90a -DAMPERE; sm_120a -DAMPERE
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdio>

#include "program.cuh"

using namespace nvcuda;

// D = A B + C of one warp, where the sums go through memory of each layout.
template <class T, class Load, class Sum, int m, int n, int k, class LayoutA, class LayoutB>
__global__ void product(const Load* a, const Load* b, const Sum* c, Sum* d, int steps) {
  constexpr bool a_by_rows = std::is_same<LayoutA, wmma::row_major>::value, b_by_rows = std::is_same<LayoutB, wmma::row_major>::value;
  wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> x;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> y;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> sum;
  wmma::load_matrix_sync(sum, c, n, wmma::mem_row_major);
  const int whole = k * steps;
  for (int step = 0; step < steps; ++step) {
    wmma::load_matrix_sync(x, a + (a_by_rows ? step * k : step * k * m), a_by_rows ? whole : m);
    wmma::load_matrix_sync(y, b + (b_by_rows ? step * k * n : step * k), b_by_rows ? n : whole);
    wmma::mma_sync(sum, x, y, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] + sum.x[i];
  wmma::store_matrix_sync(d, sum, m, wmma::mem_col_major);
}

template <class T, class Load, class Sum, int m, int n, int k, class LayoutA, class LayoutB>
void run(const char* name, int steps) {
  char names[4][64];
  for (int i = 0; i < 4; ++i) snprintf(names[i], 64, "%s_%c", name, "abcd"[i]);
  const auto small = [](std::uint32_t seed) { return [seed](auto i) { return static_cast<float>(static_cast<int>(drawn(seed, i) % 9) - 4); }; };
  const Load* const a = given<Load>(names[0], m * k * steps, small(1));
  const Load* const b = given<Load>(names[1], k * n * steps, small(2));
  const Sum* const c = given<Sum>(names[2], m * n, small(3));
  product<T, Load, Sum, m, n, k, LayoutA, LayoutB><<<1, 32>>>(a, b, c, made<Sum>(names[3], m * n), steps);
}

// One bit an element: 8 x 8 x 128.
__global__ void bits(const unsigned* a, const unsigned* b, int* exclusive, int* both) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
  wmma::load_matrix_sync(x, a, 128);
  wmma::load_matrix_sync(y, b, 128);
  wmma::fill_fragment(sum, 7);
  wmma::bmma_sync(sum, x, y, sum);
  wmma::store_matrix_sync(exclusive, sum, 8, wmma::mem_row_major);
#if __CUDA_ARCH__ >= 800
  wmma::fill_fragment(sum, -5);
  wmma::bmma_sync(sum, x, y, sum, wmma::experimental::bmmaBitOpAND);
#endif
  wmma::store_matrix_sync(both, sum, 8, wmma::mem_row_major);
}

int main() {
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  run<half, half, float, 16, 16, 16, Row, Row>("f16_f32", 3);
  run<half, half, half, 32, 8, 16, Column, Row>("f16_f16", 2);
  run<half, half, float, 8, 32, 16, Row, Column>("f16_wide", 2);
  run<signed char, signed char, int, 16, 16, 16, Row, Column>("s8", 4);
  run<unsigned char, unsigned char, int, 32, 8, 16, Column, Column>("u8", 2);
  const unsigned* const a = given<unsigned>("bits_a", 32, [](auto i) { return drawn(4, i); });
  const unsigned* const b = given<unsigned>("bits_b", 32, [](auto i) { return drawn(5, i); });
  bits<<<1, 32>>>(a, b, made<int>("bits_exclusive", 64), made<int>("bits_both", 64));
#ifdef AMPERE
  run<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16, Column, Column>("bf16", 2);
  run<wmma::precision::tf32, float, float, 16, 16, 8, Row, Column>("tf32", 3);
  run<double, double, double, 8, 8, 4, Column, Row>("f64", 5);
#endif
  return cudaDeviceSynchronize();
}
