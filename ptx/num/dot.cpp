#include "ptx/num/dot.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "ptx/num/rounding.hpp"

namespace ptx::num {
namespace {

// A compiler takes vector arithmetic apart by what the function is compiled for, not the one that it becomes a part of.
// Processors of before 2013 have no such vectors: they add column by column.
#if defined(__x86_64__)
#define PTX_EIGHT_AT_ONCE [[gnu::target("avx2")]]
#else
#define PTX_EIGHT_AT_ONCE
#endif

bool host_has_eights() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
#else
  return true;
#endif
}

// ---- factors

struct FactorFormat {
  int mantissa, exponent_bits, bias;
  bool infinities, nans;  // e4m3 has NaN alone, and that in the largest pattern; e3m2, e2m3 and e2m1 have neither
};

// Returns the exponent.
template <FactorFormat format>
[[gnu::always_inline]] inline std::int32_t decode_one(std::uint32_t raw, float& value) {
  constexpr std::uint32_t mantissas = (1u << format.mantissa) - 1, exponents = (1u << format.exponent_bits) - 1;
  const std::uint32_t mantissa = raw & mantissas, field = raw >> format.mantissa & exponents;
  const std::uint32_t sign = (raw >> (format.mantissa + format.exponent_bits) & 1) << 31;
  bool special = false;
  if constexpr (format.infinities) special = field == exponents;
  if constexpr (format.nans && !format.infinities)
    special = (raw & (exponents << format.mantissa | mantissas)) == (exponents << format.mantissa | mantissas);
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
  value = std::bit_cast<float>((special ? special_bits : bits) | sign);
  const std::int32_t of_small = mantissa != 0 ? least : zero_exponent;
  return field != 0 ? static_cast<std::int32_t>(field) - format.bias : of_small;
}

template <FactorFormat format, int dropped>
[[gnu::always_inline]] inline bool decode_each(std::span<const std::uint32_t> raw, float* values, std::int32_t* exponents) {
  if (exponents != nullptr)
    for (std::size_t i = 0; i < raw.size(); ++i) exponents[i] = decode_one<format>(raw[i] >> dropped, values[i]);
  else
    for (std::size_t i = 0; i < raw.size(); ++i) decode_one<format>(raw[i] >> dropped, values[i]);
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) largest = std::max(largest, bits_of(values[i]) & 0x7FFFFFFF);
  return largest < 0x7F800000;
}
template <FactorFormat format, int dropped>
PTX_EIGHT_AT_ONCE bool decode_by_eights(std::span<const std::uint32_t> raw, float* values, std::int32_t* exponents) {
  return decode_each<format, dropped>(raw, values, exponents);
}
template <FactorFormat format, int dropped>
bool decode_all(std::span<const std::uint32_t> raw, float* values, std::int32_t* exponents) {
  return host_has_eights() ? decode_by_eights<format, dropped>(raw, values, exponents)
                           : decode_each<format, dropped>(raw, values, exponents);
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

// The aligned and cut sum of terms and c.
template <class Term>
float add_terms(const DotUnit& unit, std::size_t count, float c, Term term) {
  std::int32_t largest = unit.least_exponent;
  double infinite = 0;  // the sum of the infinite terms: infinity, NaN, or 0 when there are none
  for (std::size_t k = 0; k < count; ++k) {
    const DotTerm t = term(k);
    if (!std::isfinite(t.value)) infinite += t.value;
    largest = std::max(largest, t.exponent);
  }
  if (!std::isfinite(c)) infinite += c;
  if (infinite != 0) return std::isnan(infinite) ? canonical_nan() : static_cast<float>(infinite);
  if (c != 0) largest = std::max(largest, std::fpclassify(c) == FP_SUBNORMAL ? -126 : std::ilogb(c));
  std::int64_t sum = 0;  // in units of the last bit kept
  for (std::size_t k = 0; k < count; ++k) sum += static_cast<std::int64_t>(std::ldexp(term(k).value, unit.fraction - largest));
  sum += static_cast<std::int64_t>(std::ldexp(static_cast<double>(c), unit.fraction - largest));
  return dot_result(unit.result, std::ldexp(static_cast<double>(sum), largest - unit.fraction));
}

// ---- eight columns at once, or twice as many

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

// Eight columns of a block's sum.
struct Eight {
  Floats accumulator, scale;
  Ints largest;  // exponent
  Ints sum = {};
};

PTX_EIGHT_AT_ONCE [[gnu::always_inline]] inline void begin(Eight& eight, const float* d, Ints& out) {
  Ints bits;
  load(eight.accumulator, d);
  load(bits, d);
  const Ints magnitude = bits & 0x7FFFFFFF, field = magnitude >> 23;
  eight.largest = (field > 1 ? field : Ints{} + 1) - 127;
  eight.largest = magnitude == 0 ? Ints{} + 2 * zero_exponent : eight.largest;
  out |= field == 255;
}
PTX_EIGHT_AT_ONCE [[gnu::always_inline]] inline void align(Eight& eight, const std::int32_t* exponents, std::int32_t a_exponent) {
  Ints exponent;
  load(exponent, exponents);
  exponent += a_exponent;
  eight.largest = exponent > eight.largest ? exponent : eight.largest;
}
PTX_EIGHT_AT_ONCE [[gnu::always_inline]] inline void find_scale(Eight& eight, const DotUnit& unit, Ints& out) {
  const Ints& largest = eight.largest;
  if (unit.least_exponent > least_fast) {  // of f16, whose zeros count as so large
    const Ints least = Ints{} + std::int32_t{unit.least_exponent};
    eight.largest = largest > least ? largest : least;
  }
  out |= (largest > largest_fast) | ((largest < least_fast) & (largest > least_nonzero));
  eight.largest = largest > least_fast ? largest : Ints{} + least_fast;  // of zeros
  const Ints power_of_two = (127 + unit.fraction - eight.largest) << 23;
  eight.scale = reinterpret_cast<Floats>(power_of_two);
}
PTX_EIGHT_AT_ONCE [[gnu::always_inline]] inline void add(Eight& eight, const float* values, float a) {
  Floats b;
  load(b, values);
  eight.sum += __builtin_convertvector(b * a * eight.scale, Ints);
}
// Four of the eight results.
template <bool exact_half, int... four>
PTX_EIGHT_AT_ONCE [[gnu::always_inline]] inline void finish_four(const Eight& eight, int fraction, std::int64_t kept,
                                                                 const Ints& accumulator, float* d) {
  const FourInts s = __builtin_shufflevector(eight.sum, eight.sum, four...);
  const FourInts a = __builtin_shufflevector(accumulator, accumulator, four...);
  const FourInts e = __builtin_shufflevector(eight.largest, eight.largest, four...);
  const FourDoubles whole = __builtin_convertvector(s, FourDoubles) + __builtin_convertvector(a, FourDoubles);
  const FourLongs power = (__builtin_convertvector(e, FourLongs) + (1023 - fraction)) << 52;
  const FourDoubles exact = whole * reinterpret_cast<FourDoubles>(power);
  if constexpr (exact_half) {
    for (std::size_t j = 0; j < 4; ++j) d[j] = dot_result(DotResult::f16, exact[j]);
  } else {
    const FourLongs cut_bits = reinterpret_cast<FourLongs>(exact) & kept;
    const auto cut_off = reinterpret_cast<FourDoubles>(cut_bits);
    store(d, __builtin_convertvector(cut_off, FourFloats));
  }
}
template <bool exact_half>
PTX_EIGHT_AT_ONCE [[gnu::always_inline]] inline void finish(const Eight& eight, const DotUnit& unit, float* d) {
  const std::int64_t kept = -(std::int64_t{1} << (unit.result == DotResult::f32_short ? 52 - 13 : 52 - 23));
  const Ints accumulator = __builtin_convertvector(eight.accumulator * eight.scale, Ints);
  finish_four<exact_half, 0, 1, 2, 3>(eight, unit.fraction, kept, accumulator, d);
  finish_four<exact_half, 4, 5, 6, 7>(eight, unit.fraction, kept, accumulator, d + 4);
}

// The block's sum for eight columns, or sixteen: what the steps of two have in common is read once. False: some column is out of
// range, d unchanged.
template <bool exact_half, bool two>
PTX_EIGHT_AT_ONCE bool add_block(const DotUnit& unit, const DotRow& row, std::size_t from, std::size_t to, std::size_t column,
                                 float* d) {
  Eight first;
  [[maybe_unused]] Eight second;
  Ints out = {};
  begin(first, d + column, out);
  if constexpr (two) begin(second, d + column + columns, out);
  for (std::size_t k = from; k < to; ++k) {
    const std::int32_t* exponents = row.b_exponents[k] + column;
    align(first, exponents, row.a_exponents[k]);
    if constexpr (two) align(second, exponents + columns, row.a_exponents[k]);
  }
  find_scale(first, unit, out);
  if constexpr (two) find_scale(second, unit, out);
  std::array<std::uint64_t, 4> any;
  store(any.data(), out);
  if ((any[0] | any[1] | any[2] | any[3]) != 0) return false;
  for (std::size_t k = from; k < to; ++k) {
    const float* values = row.b[k] + column;
    add(first, values, row.a[k]);
    if constexpr (two) add(second, values + columns, row.a[k]);
  }
  finish<exact_half>(first, unit, d + column);
  if constexpr (two) finish<exact_half>(second, unit, d + column + columns);
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

template <bool exact_half>
PTX_EIGHT_AT_ONCE void add_by_eights(const DotUnit& unit, const DotRow& row, std::span<float> d) {
  const std::size_t depth = row.a.size();
  for (std::size_t from = 0; from < depth; from += unit.block) {
    const std::size_t to = std::min(depth, from + unit.block);
    for (std::size_t column = 0; column < d.size();) {
      const bool two = column + 2 * columns <= d.size();
      const std::size_t end = column + (two ? 2 * columns : columns);
      const bool done = two ? add_block<exact_half, true>(unit, row, from, to, column, d.data())
                            : add_block<exact_half, false>(unit, row, from, to, column, d.data());
      if (!done) add_by_columns(unit, row, from, to, column, end, d);
      column = end;
    }
  }
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
  return add_terms(unit, a.size(), c, [&](std::size_t k) {
    return DotTerm{static_cast<double>(a[k]) * b[k], a_exponents[k] + b_exponents[k]};  // the product is exact
  });
}

float dot_terms(const DotUnit& unit, std::span<const DotTerm> terms, float c) {
  return add_terms(unit, terms.size(), c, [&](std::size_t k) { return terms[k]; });
}

void add_products(const DotUnit& unit, const DotRow& row, std::span<float> d) {
  if (row.finite && unit.fraction <= 25 && host_has_eights())
    unit.result == DotResult::f16 ? add_by_eights<true>(unit, row, d) : add_by_eights<false>(unit, row, d);
  else
    add_products_one_by_one(unit, row, d);
}

void add_products_one_by_one(const DotUnit& unit, const DotRow& row, std::span<float> d) {
  for (std::size_t from = 0; from < row.a.size(); from += unit.block)
    for (std::size_t j = 0; j < d.size(); ++j) add_column(unit, row, from, std::min(row.a.size(), from + unit.block), j, d[j]);
}

#undef PTX_EIGHT_AT_ONCE

}  // namespace ptx::num
