#include "ptx/num/chain.hpp"

#include <bit>
#include <cmath>

#include "ptx/num/rounding.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ptx::num {

void add_chains_one_by_one(const ChainRows& rows) {
  for (std::size_t i = 0; i < rows.rows; ++i)
    for (std::size_t j = 0; j < rows.n; ++j) {
      float& d = rows.d[i * rows.n + j];
      for (std::size_t k = 0; k < rows.b.size(); ++k) d = std::fma(rows.a[i * rows.a_stride + k], rows.b[k][j], d);
      d = canonical(d);
    }
}

#if defined(__x86_64__)
namespace {

constexpr std::size_t columns = 8;

// So many rows and eights of columns, whose sums stay in registers.
template <std::size_t rows, std::size_t eights>
[[gnu::target("avx2,fma")]] void add_block(const ChainRows& product, std::size_t row, std::size_t column) {
  const float* const a = product.a + row * product.a_stride;
  float* const d = product.d + row * product.n + column;
  __m256 sum[rows][eights];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < rows; ++i)
#pragma GCC unroll 8
    for (std::size_t j = 0; j < eights; ++j) sum[i][j] = _mm256_loadu_ps(d + i * product.n + j * columns);
  const std::size_t depth = product.b.size(), stride = product.a_stride;
  const float* const* const of_factor = product.b.data();
  for (std::size_t k = 0; k < depth; ++k) {
    __m256 b[eights];
#pragma GCC unroll 8
    for (std::size_t j = 0; j < eights; ++j) b[j] = _mm256_loadu_ps(of_factor[k] + column + j * columns);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < rows; ++i) {
      const __m256 factor = _mm256_broadcast_ss(a + i * stride + k);
#pragma GCC unroll 8
      for (std::size_t j = 0; j < eights; ++j) sum[i][j] = _mm256_fmadd_ps(factor, b[j], sum[i][j]);
    }
  }
  const __m256 nan = _mm256_set1_ps(std::bit_cast<float>(nan32));
#pragma GCC unroll 8
  for (std::size_t i = 0; i < rows; ++i)
#pragma GCC unroll 8
    for (std::size_t j = 0; j < eights; ++j) {
      const __m256 is_nan = _mm256_cmp_ps(sum[i][j], sum[i][j], _CMP_UNORD_Q);
      _mm256_storeu_ps(d + i * product.n + j * columns, _mm256_blendv_ps(sum[i][j], nan, is_nan));
    }
}

template <std::size_t rows>
void add_rows(const ChainRows& product, std::size_t row) {
  std::size_t column = 0;
  for (; column + 2 * columns <= product.n; column += 2 * columns) add_block<rows, 2>(product, row, column);
  if (column < product.n) add_block<rows, 1>(product, row, column);
}

}  // namespace

void add_chains(const ChainRows& rows) {
  static const bool has_eights = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (!has_eights) return add_chains_one_by_one(rows);
  std::size_t row = 0;
  for (; row + 4 <= rows.rows; row += 4) add_rows<4>(rows, row);
  for (; row < rows.rows; ++row) add_rows<1>(rows, row);
}
#else
void add_chains(const ChainRows& rows) { add_chains_one_by_one(rows); }
#endif

}  // namespace ptx::num
