// d = a * b + c of matrices, as tensor cores compute it: what an instruction says of it, and the arithmetic on raw elements.
// Where the elements come from is the instructions' own affair (fragment.hpp).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/num/num.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

/// A place in a matrix, or a number of elements, that was worked out in int: none of a fragment is anywhere near its end.
constexpr std::size_t index_of(int place) { return static_cast<std::size_t>(place); }

enum class Arithmetic : std::uint8_t {
  blocks,     ///< floats, a block of products at a time (num::DotUnit)
  two_steps,  ///< 8-bit floats where they are widened to f16: elements 0 and 1 of each four, then 2 and 3, then c
  integers,
  bits_xor,  ///< one bits of a xor b; elements are words of 32 bits
  bits_and,
  doubles,  ///< f64: a chain of fused multiply-adds
};

/// How a sparse a says where its elements belong: two bits for each one that is stored (manual: "Sparse matrix storage").
enum class Sparsity : std::uint8_t {
  dense,
  pairs,        ///< 2 of 4, 16 bits wide
  singles,      ///< 1 of 2, tf32
  byte_pairs,   ///< 2 of 4, 8 bits wide
  nibble_pairs  ///< 2 pairs of 4, 4 bits wide
};

/// A product of one warp. Lies in Step::x.
struct Product {
  std::uint16_t m = 16, n = 8, k = 16;  ///< k: the rows of b; a sparse a stores half as many columns
  std::uint8_t a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0;
  std::uint8_t bits = 16;  ///< of an element in a register of a and b
  Arithmetic arithmetic = Arithmetic::blocks;
  num::DotFormat a_format = num::DotFormat::f16, b_format = num::DotFormat::f16;
  bool a_signed = false, b_signed = false;     ///< integers
  std::uint8_t a_shift = 0, b_shift = 0;       ///< bits below the element in its container
  bool c_half = false, d_half = false;         ///< f16, two in a register
  bool satfinite = false;                      ///< integers are clamped
  num::Rounding rounding = num::Rounding::rn;  ///< f64
  Sparsity sparsity = Sparsity::dense;
  std::uint8_t selector = 0;  ///< which lanes of four hold the metadata
  std::uint8_t scales = 0;    ///< of a row of a, and of a column of b; 0: there are none
  num::DotUnit unit{};
  bool ue4m3 = false;  ///< scales are, not ue8m0
  std::uint8_t spare[7] = {};

  [[nodiscard]] int per() const { return arithmetic == Arithmetic::doubles ? 1 : 32 / bits; }
  [[nodiscard]] int stored() const { return sparsity == Sparsity::dense ? k : k / 2; }
  [[nodiscard]] bool floating() const { return arithmetic == Arithmetic::blocks || arithmetic == Arithmetic::two_steps; }
};
using ProductWords = std::array<std::uint32_t, 10>;
static_assert(sizeof(Product) == sizeof(ProductWords));
inline ProductWords words_of(const Product& product) { return std::bit_cast<ProductWords>(product); }
inline Product product_of(const ProductWords& words) { return std::bit_cast<Product>(words); }

/// The tensor core of a target for factors of a format and results of f16 or f32: `two_steps` where 8-bit floats are widened to
/// f16. Nothing where there is none.
struct TargetUnit {
  num::DotUnit unit;
  bool two_steps = false;
};
std::optional<TargetUnit> unit_of(Target target, num::DotFormat format, bool half_result);

/// The four bits of metadata, of the operand e by lane, that say where the stored column of a row of a sparse a belongs.
std::uint32_t indices_of(const Product& product, const std::uint32_t* metadata, int row, int stored);
/// The column of a sparse a, a row of b, that the stored column of a row belongs to; `metadata` is the operand e by lane.
int column_of(const Product& product, const std::uint32_t* metadata, int row, int stored);
/// The same by the four bits of metadata of the element's group.
int column_of_indices(const Product& product, std::uint32_t indices, int stored);

/// The factors of a matrix as numbers.
struct Factors {
  std::vector<float> values;
  std::vector<std::int32_t> exponents;  ///< asked for by exact sums alone
  bool finite = false;
  void decode(num::DotFormat format, std::span<const std::uint32_t> raw, Numerics numerics);
};

/// Matrices of raw elements, row by row: a of m x stored(), b of k x n, and the accumulators, m x n, f16 in the low half of each.
struct RawMatrices {
  std::span<const std::uint32_t> a, b;
  const std::uint32_t* metadata = nullptr;
  std::span<std::uint32_t> d;               ///< c before, d behind
  std::span<const std::uint8_t> columns{};  ///< in place of metadata: column_of for every element of a
  const Factors* b_factors = nullptr;       ///< in place of b, of floats: what was decoded before
};
/// Of floats, integers and bits. How floats are added up is the run's affair.
void multiply(const Product& product, const RawMatrices& matrices, Numerics numerics);
/// Of f64.
void multiply_doubles(const Product& product, const double* a, const double* b, double* d);

}  // namespace ptx::vgpu
