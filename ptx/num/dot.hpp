// Sums of products as tensor cores compute them, bit for bit (docs/facts.md, "Tensor cores"): the products of a block are exact,
// they and the accumulator are shifted to the largest exponent among them, what lies more than so many bits below it is cut off,
// and the exact sum of what is left is cut or rounded once.
#pragma once

#include <cstdint>
#include <span>

namespace ptx::num {

/// The formats of a product's factors. Each has its values among those of f32.
enum class DotFormat : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, e3m2, e2m3, e2m1 };

/// What the exact sum of a block becomes.
enum class DotResult : std::uint8_t {
  f32,        ///< cut to 23 bits of fraction
  f32_short,  ///< cut to 13 bits of fraction, in f32
  f16,        ///< rounded to nearest even
};

/// One kind of tensor core.
struct DotUnit {
  std::uint8_t block = 16;     ///< products that are added at once
  std::uint8_t fraction = 25;  ///< bits kept below the largest exponent
  DotResult result = DotResult::f32;
  std::int16_t least_exponent = -133;  ///< the largest exponent counts as at least this
};

/// The exponent of a zero: below all others, and so are its sums with them.
inline constexpr std::int32_t zero_exponent = -4096;

/// Factors as numbers: what `raw` holds in its low bits (tf32: an f32, whose low 13 bits do not count), and the exponents that
/// the alignment goes by, those of the format's least normal number for subnormals (nullptr: not asked). Returns whether all are
/// finite.
bool decode_factors(DotFormat format, std::span<const std::uint32_t> raw, float* values, std::int32_t* exponents);

/// One row of a product: depth factors, and as many rows of n numbers that they meet.
struct DotRow {
  std::span<const float> a;
  std::span<const std::int32_t> a_exponents;
  std::span<const float* const> b;  ///< by factor: n values
  std::span<const std::int32_t* const> b_exponents;
  bool finite = true;  ///< all factors are
};

/// The sum of one block's products and c, the products being a[k] * b[k]. Factors may be infinite or NaN; a NaN is 0x7FFFFFFF.
/// A result in f16 is an f32 of the same value.
float dot_block(const DotUnit& unit, std::span<const float> a, std::span<const std::int32_t> a_exponents,
                std::span<const float> b, std::span<const std::int32_t> b_exponents, float c);

/// A term of a sum: exact, and the exponent that the alignment goes by.
struct DotTerm {
  double value = 0;
  std::int32_t exponent = zero_exponent;
};
/// The same sum of any terms and c: of products that were scaled, or of groups of them that were added exactly.
float dot_terms(const DotUnit& unit, std::span<const DotTerm> terms, float c);

/// d[j] += Σ a[k] * b[k][j] for all j, block after block: what dot_block gives. n is a multiple of 8.
void add_products(const DotUnit& unit, const DotRow& row, std::span<float> d);

/// The same with scalar arithmetic alone, for tests.
void add_products_one_by_one(const DotUnit& unit, const DotRow& row, std::span<float> d);

/// An exact f64 (a sum that fits 53 bits) cut or rounded as a result; beyond the largest, infinity.
float dot_result(DotResult result, double exact);

}  // namespace ptx::num
