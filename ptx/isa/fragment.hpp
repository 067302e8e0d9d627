// Fragment words: how many registers a matrix operand takes, where a slot's choice alone does not say (manual: the fragment
// tables of mma.sync, wgmma.mma_async, tcgen05.ld).
#pragma once

#include <string_view>

namespace ptx::isa {

namespace detail {
// "m64n128k16" -> 64, 128, 16
struct Shape {
  int m = 0, n = 0, k = 0;
};
constexpr Shape shape_of(std::string_view word) {
  Shape shape;
  int* field = nullptr;
  for (const char c : word) {
    if (c == 'm')
      field = &shape.m;
    else if (c == 'n')
      field = &shape.n;
    else if (c == 'k')
      field = &shape.k;
    else if (c >= '0' && c <= '9' && field != nullptr)
      *field = 10 * *field + (c - '0');
    else
      return {};
  }
  return shape;
}

// The number in a word with one letter before or behind it: "x8" and "3d" are 8 and 3.
constexpr int number_in(std::string_view word) {
  int n = 0;
  for (const char c : word)
    if (c >= '0' && c <= '9') n = 10 * n + (c - '0');
  return n;
}
}  // namespace detail

/// Registers of the operand that `word` names; 0 when the word is no fragment word. `chosen(slot name)` is the word chosen at
/// that slot, "" for none.
///   wgmma_d     the accumulator of wgmma.mma_async: M*N/128 for 32-bit types, half of that for f16
///   tcgen05_n   32-bit registers per thread of tcgen05.ld/st for a .shape repeated .num times
///   im2col      the offsets of an im2col copy: the rank less two
///   disable     the disable-output-lane vector of tcgen05.mma: 4 for cta_group::1, 8 for cta_group::2
template <class Chosen>
constexpr int fragment_count(std::string_view word, Chosen chosen) {
  if (word == "wgmma_d") {
    const detail::Shape shape = detail::shape_of(chosen("shape"));
    const bool half = chosen("dtype") == "f16";
    return shape.m * shape.n / 128 / (half ? 2 : 1);
  }
  if (word == "tcgen05_n") {
    const std::string_view shape = chosen("shape");
    const int times = detail::number_in(chosen("num"));
    if (shape == "16x128b") return 2 * times;
    if (shape == "16x256b") return 4 * times;
    return times;
  }
  if (word == "im2col") return detail::number_in(chosen("dim")) - 2;
  if (word == "disable") return chosen("cta_group") == "cta_group::2" ? 8 : 4;
  return 0;
}

}  // namespace ptx::isa
