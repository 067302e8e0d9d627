// Fragment words: how many registers a matrix operand takes, where a slot's choice alone does not say (manual: the fragment
// tables of mma.sync, wgmma.mma_async, tcgen05.ld).
#pragma once

#include <string_view>

namespace ptx::isa {

/// m, n and k of a product, of the word that says them: "m64n128k16" is 64, 128, 16. Zeros of another word.
struct MatrixShape {
  int m = 0, n = 0, k = 0;
};
constexpr MatrixShape matrix_shape(std::string_view word) {
  MatrixShape shape;
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

namespace detail {
// Bits of a matrix element in a 32-bit register: the 4 and 6-bit formats of kind::f8f6f4 take a byte each.
constexpr int element_bits(std::string_view type) {
  if (type == "b1") return 1;
  if (type == "s4" || type == "u4") return 4;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "f32" || type == "tf32" || type == "s32") return 32;
  return 8;
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
///   one         one register, with or without braces
///   num2        two registers for each matrix of .num
///   mma_a …     32-bit registers of the matrix a (mma_sp_a: a sparse one), b, c or d of a .shape and its types
///   tex_coords  the coordinates of a texture's .geom, an array's index first; tex_offset, tex_gradient: without it
///   im2col      the offsets of an im2col copy: the rank less two
///   disable     the disable-output-lane vector of tcgen05.mma: 4 for cta_group::1, 8 for cta_group::2
template <class Chosen>
constexpr int fragment_count(std::string_view word, Chosen chosen) {
  if (word == "wgmma_d") {
    const MatrixShape shape = matrix_shape(chosen("shape"));
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
  if (word == "one") return 1;
  if (word == "num2") return 2 * detail::number_in(chosen("num"));
  if (word == "mma_a" || word == "mma_sp_a" || word == "mma_b" || word == "mma_c" || word == "mma_d") {
    const MatrixShape s = matrix_shape(chosen("shape"));
    const char matrix = word.back();
    const std::string_view type = chosen(matrix == 'a' ? "atype" : matrix == 'b' ? "btype" : matrix == 'c' ? "ctype" : "dtype");
    const int elements = matrix == 'a' ? s.m * s.k / (word == "mma_sp_a" ? 2 : 1) : matrix == 'b' ? s.k * s.n : s.m * s.n;
    if (type == "f64") return elements / 32;
    return elements * detail::element_bits(type) / 1024;
  }
  if (word == "tex_coords" || word == "tex_offset" || word == "tex_gradient") {
    const std::string_view geom = chosen("geom");
    const bool array = geom.starts_with('a') && word == "tex_coords";  // the index comes first
    if (geom == "1d" || geom == "a1d") return array ? 2 : 1;
    if (geom == "2d" || geom == "a2d") return array ? 4 : 2;
    return 4;
  }
  if (word == "im2col") return detail::number_in(chosen("dim")) - 2;
  if (word == "disable") return chosen("cta_group") == "cta_group::2" ? 8 : 4;
  return 0;
}

}  // namespace ptx::isa
