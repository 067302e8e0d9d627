// Sums of products the plain way, for who asks for speed and not for a tensor core's bits.
#pragma once

#include <cstddef>
#include <span>

namespace ptx::num {

/// Rows of a product: a's lie `a_stride` numbers apart, and those of d lie n apart; n is a multiple of 8.
struct ChainRows {
  const float* a = nullptr;
  std::size_t a_stride = 0, rows = 0;
  std::span<const float* const> b;  ///< by factor: n values
  float* d = nullptr;
  std::size_t n = 0;
};

/// d[i][j] = fma(a[i][k], b[k][j], d[i][j]), k ascending, each rounded to nearest. A NaN is 0x7FFFFFFF.
void add_chains(const ChainRows& rows);

/// The same with scalar arithmetic alone, for tests and for processors without vectors of eight.
void add_chains_one_by_one(const ChainRows& rows);

}  // namespace ptx::num
