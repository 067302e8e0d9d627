// Sizes that somebody else chose: sums and products that stop at the largest number instead of wrapping, so that what is too much
// stays too much.
#pragma once

#include <cstdint>
#include <limits>

namespace ptx {

inline constexpr std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t add_sizes(std::uint64_t a, std::uint64_t b) { return a > max_bytes - b ? max_bytes : a + b; }
constexpr std::uint64_t multiply_sizes(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > max_bytes / b ? max_bytes : a * b;
}
/// The next multiple of `to`; 0 stands for 1.
constexpr std::uint64_t align_size(std::uint64_t n, std::uint64_t to) {
  const std::uint64_t over = to == 0 ? 0 : n % to;
  return over == 0 ? n : add_sizes(n, to - over);
}

/// The same of dimensions and strides of tensors, which have a sign.
constexpr std::int64_t multiply_dims(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

}  // namespace ptx
