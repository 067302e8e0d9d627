#include "ptx/num/dot.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "ptx/num/rounding.hpp"

namespace ptx::num {
namespace {

// ---- factors

struct FactorFormat {
  int mantissa, exponent_bits, bias;
  bool infinities, nans;  // e4m3 has NaN alone, and that in the largest pattern; e3m2, e2m3 and e2m1 have neither
};

template <FactorFormat format>
[[gnu::always_inline]] inline std::uint32_t decode_one(std::uint32_t raw, float& value, std::int32_t& exponent) {
  constexpr std::uint32_t mantissas = (1u << format.mantissa) - 1, exponents = (1u << format.exponent_bits) - 1;
  const std::uint32_t mantissa = raw & mantissas, field = raw >> format.mantissa & exponents;
  const std::uint32_t sign = (raw >> (format.mantissa + format.exponent_bits) & 1) << 31;
  const std::uint32_t special = format.infinities ? (field == exponents ? 1u : 0u)
                                : format.nans     ? (field == exponents && mantissa == mantissas ? 1u : 0u)
                                                  : 0u;
  constexpr int least = 1 - format.bias;
  const std::uint32_t shifted = mantissa << (23 - format.mantissa);
  std::uint32_t bits;
  if constexpr (format.exponent_bits == 8) {
    bits = field << 23 | shifted;  // f32's own exponents, subnormals too
  } else {
    const auto subnormal =
        std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(mantissa)) *
                                     std::bit_cast<float>(static_cast<std::uint32_t>(127 + least - format.mantissa) << 23));
    bits = field != 0 ? (field + static_cast<std::uint32_t>(127 - format.bias)) << 23 | shifted : subnormal;
  }
  const std::uint32_t special_bits = format.infinities ? 0x7F800000u | shifted : 0x7FC00000u;
  value = std::bit_cast<float>((special != 0 ? special_bits : bits) | sign);
  exponent = field != 0 ? static_cast<std::int32_t>(field) - format.bias : mantissa != 0 ? least : zero_exponent;
  return special;
}

template <FactorFormat format, int dropped>
bool decode_all(std::span<const std::uint32_t> raw, float* values, std::int32_t* exponents) {
  std::uint32_t special = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) special |= decode_one<format>(raw[i] >> dropped, values[i], exponents[i]);
  return special == 0;
}

// ---- results

constexpr std::uint64_t sign64 = std::uint64_t{1} << 63;

// The bits of x above 2^(its exponent - fraction), and none below 2^least.
double cut(double x, int fraction, int least) {
  const double magnitude = std::fabs(x);
  if (magnitude >= std::ldexp(1.0, least + fraction))
    return std::bit_cast<double>(bits_of(x) & ~((std::uint64_t{1} << (52 - fraction)) - 1));
  return std::copysign(std::ldexp(std::trunc(std::ldexp(magnitude, -least)), least), x);
}
double rounded_to_f16(double x) {
  const std::uint64_t sign = bits_of(x) & sign64;
  const double magnitude = std::fabs(x);
  double result;
  if (magnitude >= 0x1p-14) {
    const std::uint64_t bits = bits_of(magnitude), last = std::uint64_t{1} << 42;
    result = std::bit_cast<double>((bits + (last / 2 - 1) + (bits >> 42 & 1)) & ~(last - 1));
  } else {
    result = (magnitude + 0x1.8p28) - 0x1.8p28;  // a subnormal's last place is 2^-24: the addition rounds to it
  }
  if (result > 65504) result = std::numeric_limits<double>::infinity();
  if (result == 0) return 0;  // what is rounded to zero has no sign (facts.md: H200)
  return std::bit_cast<double>(bits_of(result) | sign);
}

float canonical_nan() { return std::bit_cast<float>(nan32); }

// ---- eight columns at once

// A compiler takes vector arithmetic apart by what the function is compiled for, not the one that it becomes a part of.
// Processors of before 2013 have no such vectors: they add column by column.
#if defined(__x86_64__)
#define PTX_EIGHT_AT_ONCE [[gnu::target("avx2")]]
#else
#define PTX_EIGHT_AT_ONCE
#endif

using Floats = float __attribute__((vector_size(32)));
using Ints = std::int32_t __attribute__((vector_size(32)));
using FourDoubles = double __attribute__((vector_size(32)));
using FourLongs = std::int64_t __attribute__((vector_size(32)));
using FourInts = std::int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
constexpr std::size_t columns = 8;

// Vectors go by reference: how they are passed by value depends on what a function is compiled for.
template <class Vector, class T>
[[gnu::always_inline]] inline void load(Vector& v, const T* from) {
  __builtin_memcpy(&v, from, sizeof v);
}
template <class T, class Vector>
[[gnu::always_inline]] inline void store(T* to, const Vector& v) {
  __builtin_memcpy(to, &v, sizeof v);
}

// Sums of which every exponent is in this range go through f32: scaled so that the last bit kept is worth 1, a product is exact
// or, when it is too small for f32, less than 1. A sum of zeros alone does, too.
constexpr std::int32_t least_fast = -100, largest_fast = 120, least_nonzero = -2000;

// The block's sum for eight columns; false: some column is out of range, d unchanged.
template <bool exact_half>
PTX_EIGHT_AT_ONCE bool add_block(const DotUnit& unit, const DotRow& row, std::size_t from, std::size_t to, std::size_t column,
                                 float* d) {
  Floats c, b;
  Ints bits, exponent;
  load(c, d + column);
  load(bits, d + column);
  const Ints magnitude = bits & 0x7FFFFFFF, field = magnitude >> 23;
  Ints largest = (field > 1 ? field : Ints{} + 1) - 127;
  largest = magnitude == 0 ? Ints{} + 2 * zero_exponent : largest;
  const Ints special = field == 255;
  for (std::size_t k = from; k < to; ++k) {
    load(exponent, row.b_exponents[k] + column);
    exponent += row.a_exponents[k];
    largest = exponent > largest ? exponent : largest;
  }
  const Ints out = special | (largest > largest_fast) | ((largest < least_fast) & (largest > least_nonzero));
  std::array<std::uint64_t, 4> any;
  store(any.data(), out);
  if ((any[0] | any[1] | any[2] | any[3]) != 0) return false;
  largest = largest > least_fast ? largest : Ints{} + least_fast;  // of zeros
  const int fraction = unit.fraction;
  const Ints power_of_two = (127 + fraction - largest) << 23;
  const auto scale = reinterpret_cast<Floats>(power_of_two);
  Ints sum = {};
  for (std::size_t k = from; k < to; ++k) {
    load(b, row.b[k] + column);
    sum += __builtin_convertvector(b * row.a[k] * scale, Ints);
  }
  const Ints accumulator = __builtin_convertvector(c * scale, Ints);
  const FourLongs kept = FourLongs{} - (std::int64_t{1} << (unit.result == DotResult::f32_short ? 52 - 13 : 52 - 23));
  for (std::size_t half = 0; half < 2; ++half) {
    FourInts s, a, e;
    __builtin_memcpy(&s, reinterpret_cast<const char*>(&sum) + half * 16, 16);
    __builtin_memcpy(&a, reinterpret_cast<const char*>(&accumulator) + half * 16, 16);
    __builtin_memcpy(&e, reinterpret_cast<const char*>(&largest) + half * 16, 16);
    const FourDoubles whole = __builtin_convertvector(s, FourDoubles) + __builtin_convertvector(a, FourDoubles);
    const FourLongs power = (__builtin_convertvector(e, FourLongs) + (1023 - fraction)) << 52;
    const FourDoubles exact = whole * reinterpret_cast<FourDoubles>(power);
    if constexpr (exact_half) {
      for (std::size_t j = 0; j < 4; ++j) d[column + half * 4 + j] = dot_result(DotResult::f16, exact[j]);
    } else {
      const FourLongs cut_bits = reinterpret_cast<FourLongs>(exact) & kept;
      const auto cut_off = reinterpret_cast<FourDoubles>(cut_bits);
      store(d + column + half * 4, __builtin_convertvector(cut_off, FourFloats));
    }
  }
  return true;
}

// One column, by dot_block.
void add_column(const DotUnit& unit, const DotRow& row, std::size_t from, std::size_t to, std::size_t column, float& d) {
  std::array<float, 256> b;
  std::array<std::int32_t, 256> e;
  for (std::size_t k = from; k < to; ++k) b[k - from] = row.b[k][column], e[k - from] = row.b_exponents[k][column];
  const std::size_t depth = to - from;
  d = dot_block(unit, row.a.subspan(from, depth), row.a_exponents.subspan(from, depth), std::span(b).first(depth),
                std::span(e).first(depth), d);
}

void add_by_columns(const DotUnit& unit, const DotRow& row, std::size_t from, std::size_t to, std::size_t begin, std::size_t end,
                    std::span<float> d) {
  for (std::size_t j = begin; j < end; ++j) add_column(unit, row, from, to, j, d[j]);
}

PTX_EIGHT_AT_ONCE void add_by_eights(const DotUnit& unit, const DotRow& row, std::span<float> d) {
  const std::size_t depth = row.a.size();
  for (std::size_t from = 0; from < depth; from += unit.block) {
    const std::size_t to = std::min(depth, from + unit.block);
    for (std::size_t column = 0; column < d.size(); column += columns) {
      const bool done = unit.result == DotResult::f16 ? add_block<true>(unit, row, from, to, column, d.data())
                                                      : add_block<false>(unit, row, from, to, column, d.data());
      if (!done) add_by_columns(unit, row, from, to, column, column + columns, d);
    }
  }
}

bool host_adds_by_eights() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
#else
  return true;
#endif
}

}  // namespace

bool decode_factors(DotFormat format, std::span<const std::uint32_t> raw, float* values, std::int32_t* exponents) {
  switch (format) {
    case DotFormat::f16:
      return decode_all<FactorFormat{10, 5, 15, true, true}, 0>(raw, values, exponents);
    case DotFormat::bf16:
      return decode_all<FactorFormat{7, 8, 127, true, true}, 0>(raw, values, exponents);
    case DotFormat::tf32:
      return decode_all<FactorFormat{10, 8, 127, true, true}, 13>(raw, values, exponents);
    case DotFormat::e4m3:
      return decode_all<FactorFormat{3, 4, 7, false, true}, 0>(raw, values, exponents);
    case DotFormat::e5m2:
      return decode_all<FactorFormat{2, 5, 15, true, true}, 0>(raw, values, exponents);
    case DotFormat::e3m2:
      return decode_all<FactorFormat{2, 3, 3, false, false}, 0>(raw, values, exponents);
    case DotFormat::e2m3:
      return decode_all<FactorFormat{3, 2, 1, false, false}, 0>(raw, values, exponents);
    case DotFormat::e2m1:
      return decode_all<FactorFormat{1, 2, 1, false, false}, 0>(raw, values, exponents);
  }
  return true;
}

float dot_result(DotResult result, double exact) {
  if (exact != exact) return canonical_nan();
  switch (result) {
    case DotResult::f32:
      return static_cast<float>(cut(exact, 23, -149));
    case DotResult::f32_short:
      return static_cast<float>(cut(exact, 13, -126 - 13));
    case DotResult::f16:
      return static_cast<float>(rounded_to_f16(exact));
  }
  return 0;
}

float dot_block(const DotUnit& unit, std::span<const float> a, std::span<const std::int32_t> a_exponents,
                std::span<const float> b, std::span<const std::int32_t> b_exponents, float c) {
  std::int32_t largest = unit.least_exponent;
  double infinite = 0;  // the sum of the infinite terms: infinity, NaN, or 0 when there are none
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double product = static_cast<double>(a[k]) * b[k];  // exact
    if (!std::isfinite(product)) infinite += product;
    largest = std::max(largest, a_exponents[k] + b_exponents[k]);
  }
  if (!std::isfinite(c)) infinite += c;
  if (infinite != 0) return std::isnan(infinite) ? canonical_nan() : static_cast<float>(infinite);
  if (c != 0) largest = std::max(largest, std::fpclassify(c) == FP_SUBNORMAL ? -126 : std::ilogb(c));
  std::int64_t sum = 0;  // in units of the last bit kept
  for (std::size_t k = 0; k < a.size(); ++k)
    sum += static_cast<std::int64_t>(std::ldexp(static_cast<double>(a[k]) * b[k], unit.fraction - largest));
  sum += static_cast<std::int64_t>(std::ldexp(static_cast<double>(c), unit.fraction - largest));
  return dot_result(unit.result, std::ldexp(static_cast<double>(sum), largest - unit.fraction));
}

void add_products(const DotUnit& unit, const DotRow& row, std::span<float> d) {
  if (row.finite && unit.fraction <= 25 && host_adds_by_eights())
    add_by_eights(unit, row, d);
  else
    add_products_one_by_one(unit, row, d);
}

void add_products_one_by_one(const DotUnit& unit, const DotRow& row, std::span<float> d) {
  for (std::size_t from = 0; from < row.a.size(); from += unit.block)
    for (std::size_t j = 0; j < d.size(); ++j) add_column(unit, row, from, std::min(row.a.size(), from + unit.block), j, d[j]);
}

#undef PTX_EIGHT_AT_ONCE

}  // namespace ptx::num
