// wmma through mma.h: every element type and shape.
// corpus: sm_75
// corpus: sm_80
// corpus: sm_90 -lineinfo
// corpus: sm_120 -G
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda::wmma;
template <int M, int N, int K, class A, class B, class C, class LA, class LB>
__device__ void multiply(const A* a, const B* b, C* c, C* d) {
  fragment<matrix_a, M, N, K, A, LA> fa;
  fragment<matrix_b, M, N, K, B, LB> fb;
  fragment<accumulator, M, N, K, C> fc, fd;
  load_matrix_sync(fa, a, K);
  load_matrix_sync(fb, b, K);
  load_matrix_sync(fc, c, N, mem_row_major);
  mma_sync(fd, fa, fb, fc);
  for (int i = 0; i < fd.num_elements; ++i) fd.x[i] += fc.x[i];
  store_matrix_sync(d, fd, N, mem_col_major);
  fill_fragment(fc, C(0));
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(d, fc, N, mem_row_major);
}
#define KERNEL(name, M, N, K, A, C, LA, LB) \
  __global__ void name(const A* a, const A* b, C* c, C* d) { multiply<M, N, K, A, A, C, LA, LB>(a, b, c, d); }
KERNEL(half_float, 16, 16, 16, __half, float, row_major, col_major)
KERNEL(half_half, 16, 16, 16, __half, __half, col_major, row_major)
    KERNEL(half_tall, 32, 8, 16, __half, float, row_major, row_major)
        KERNEL(half_flat, 8, 32, 16, __half, __half, col_major, col_major)
            KERNEL(signed_bytes, 16, 16, 16, signed char, int, row_major, col_major)
                KERNEL(bytes, 32, 8, 16, unsigned char, int, row_major, col_major)
                    KERNEL(bytes_flat, 8, 32, 16, signed char, int, col_major, row_major)
#if __CUDA_ARCH__ >= 800
                        KERNEL(bfloat, 16, 16, 16, __nv_bfloat16, float, row_major, col_major)
                            KERNEL(bfloat_tall, 32, 8, 16, __nv_bfloat16, float, col_major, col_major)
                                KERNEL(doubles, 8, 8, 4, double, double, row_major, col_major) __global__
    void tf32(const float* a, const float* b, float* c) {
  fragment<matrix_a, 16, 16, 8, nvcuda::wmma::precision::tf32, row_major> fa;
  fragment<matrix_b, 16, 16, 8, nvcuda::wmma::precision::tf32, col_major> fb;
  fragment<accumulator, 16, 16, 8, float> fc;
  load_matrix_sync(fa, a, 8);
  load_matrix_sync(fb, b, 8);
  for (auto& x : fa.x) x = __float_to_tf32(x);
  fill_fragment(fc, 1.f);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, 16, mem_row_major);
}
#endif
__global__ void sub_byte(const void* a, const void* b, int* c) {
  fragment<matrix_a, 8, 8, 32, experimental::precision::s4, row_major> fa;
  fragment<matrix_b, 8, 8, 32, experimental::precision::s4, col_major> fb;
  fragment<accumulator, 8, 8, 32, int> fc;
  load_matrix_sync(fa, a, 32);
  load_matrix_sync(fb, b, 32);
  fill_fragment(fc, 0);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, 8, mem_row_major);
}
__global__ void single_bit(const void* a, const void* b, int* c) {
  fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> fa;
  fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> fb;
  fragment<accumulator, 8, 8, 128, int> fc;
  load_matrix_sync(fa, a, 128);
  load_matrix_sync(fb, b, 128);
  fill_fragment(fc, 0);
  bmma_sync(fc, fa, fb, fc);
#if __CUDA_ARCH__ >= 800
  bmma_sync(fc, fa, fb, fc, experimental::bmmaBitOpAND);
#endif
  store_matrix_sync(c, fc, 8, mem_row_major);
}
