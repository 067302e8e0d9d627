#include "ptx/vgpu/tensor/product.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {
namespace {

// ---- which tensor core (docs/facts.md, "Tensor cores")

enum class Cores : std::uint8_t { volta, turing, ampere, ada, hopper, blackwell, blackwell_consumer };
std::optional<Cores> cores_of(Target target) {
  const unsigned base = isa::info(target).base;
  if (base < 70) return std::nullopt;
  if (base < 75) return Cores::volta;
  if (base < 80) return Cores::turing;
  if (base < 89) return Cores::ampere;
  if (base < 90) return Cores::ada;
  if (base < 100) return Cores::hopper;
  return base < 120 ? Cores::blackwell : Cores::blackwell_consumer;
}
struct CoreFacts {
  std::uint8_t block_16, block_32;  // products added at once of 16-bit formats, and of tf32
  std::uint8_t fraction;
};
constexpr CoreFacts core_facts[] = {{4, 0, 23}, {8, 0, 24}, {8, 4, 24}, {8, 4, 24}, {16, 8, 25}, {16, 8, 25}, {16, 8, 25}};

constexpr std::size_t max_depth = 128;

float float_of(std::uint32_t raw, bool half) {
  return half ? num::from_f16(static_cast<std::uint16_t>(raw)) : std::bit_cast<float>(raw);
}
std::uint32_t raw_of(float value, bool half) { return half ? num::narrowed(value, num::f16_format, {}) : num::bits_of(value); }

// The rows of b that a row of a meets: the same for every row unless a is sparse.
struct Columns {
  std::array<int, max_depth> of;
  explicit Columns(const Product& p) {
    for (int s = 0; s < p.stored(); ++s) of[static_cast<std::size_t>(s)] = s;
  }
  void find(const Product& p, const RawMatrices& matrices, std::size_t row) {
    if (p.sparsity == Sparsity::dense) return;
    for (int s = 0; s < p.stored(); ++s)
      of[static_cast<std::size_t>(s)] = matrices.columns.empty()
                                            ? column_of(p, matrices.metadata, static_cast<int>(row), s)
                                            : matrices.columns[row * static_cast<std::size_t>(p.stored()) + index_of(s)];
  }
};

// Numbers as they lie in the accumulators, and back.
void read_sums(std::span<const std::uint32_t> raw, bool half, float* sums) {
  if (!half) return void(std::memcpy(sums, raw.data(), raw.size_bytes()));
  for (std::size_t i = 0; i < raw.size(); ++i) sums[i] = float_of(raw[i], true);
}
void write_sums(const float* sums, bool half, std::span<std::uint32_t> raw) {
  if (!half) return void(std::memcpy(raw.data(), sums, raw.size_bytes()));
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = raw_of(sums[i], true);
}

struct BothFactors {
  const Factors &a, &b;
};
// In room of the thread, which the next product uses again.
BothFactors factors_of(const Product& p, const RawMatrices& matrices, Numerics numerics) {
  static thread_local Factors a, b;
  a.decode(p.a_format, matrices.a, numerics);
  if (matrices.b_factors != nullptr) return {a, *matrices.b_factors};
  b.decode(p.b_format, matrices.b, numerics);
  return {a, b};
}

void multiply_floats(const Product& p, const RawMatrices& matrices) {
  static thread_local std::vector<float> sums;
  const auto [a, b] = factors_of(p, matrices, Numerics::exact);
  const std::size_t n = p.n, stored = static_cast<std::size_t>(p.stored());
  sums.resize(n);
  const std::span<float> d(sums.data(), n);
  std::array<const float*, max_depth> values;
  std::array<const std::int32_t*, max_depth> exponents;
  std::array<float, max_depth> some_values;
  std::array<std::int32_t, max_depth> some_exponents;
  Columns columns(p);
  for (std::size_t i = 0; i < p.m; ++i) {
    std::uint32_t* raw = &matrices.d[i * n];
    const auto meet = [&](std::size_t to, std::size_t s) {
      const std::size_t at = static_cast<std::size_t>(columns.of[s]) * n;
      values[to] = &b.values[at], exponents[to] = &b.exponents[at];
    };
    columns.find(p, matrices, i);
    if (p.arithmetic == Arithmetic::blocks) {
      if (i == 0 || p.sparsity != Sparsity::dense)
        for (std::size_t s = 0; s < stored; ++s) meet(s, s);
      read_sums({raw, n}, p.c_half, d.data());
      num::add_products(
          p.unit, {{&a.values[i * stored], stored}, {&a.exponents[i * stored], stored}, values, exponents, a.finite && b.finite},
          d);
      if (p.d_half && p.unit.result != num::DotResult::f16)  // converted by another instruction: to nearest
        for (float& x : d) x = num::from_f16(static_cast<std::uint16_t>(raw_of(x, true)));
    } else {
      std::fill(d.begin(), d.end(), 0.0f);
      for (const std::size_t part : {std::size_t{0}, std::size_t{2}}) {
        std::size_t count = 0;
        for (std::size_t s = 0; s < stored; ++s) {
          if ((s & 2) != part) continue;
          meet(count, s);
          some_values[count] = a.values[i * stored + s], some_exponents[count] = a.exponents[i * stored + s];
          ++count;
        }
        num::add_products(p.unit,
                          {std::span(some_values).first(count), std::span(some_exponents).first(count), values, exponents,
                           a.finite && b.finite},
                          d);
      }
      for (std::size_t j = 0; j < n; ++j) d[j] = num::canonical(float_of(raw[j], p.c_half) + d[j]);
    }
    write_sums(d.data(), p.d_half, {raw, n});
  }
}

void multiply_by_chains(const Product& p, const RawMatrices& matrices) {
  static thread_local std::vector<float> d;
  const auto [a, b] = factors_of(p, matrices, Numerics::fast);
  const std::size_t n = p.n, stored = static_cast<std::size_t>(p.stored());
  d.resize(matrices.d.size());
  read_sums(matrices.d, p.c_half, d.data());
  std::array<const float*, max_depth> rows_of_b;
  const bool dense = p.sparsity == Sparsity::dense;
  const std::size_t together = dense ? p.m : 1;  // rows of a sparse a meet each its own rows of b
  Columns columns(p);
  for (std::size_t i = 0; i < p.m; i += together) {
    columns.find(p, matrices, i);
    for (std::size_t s = 0; s < stored; ++s) rows_of_b[s] = &b.values[static_cast<std::size_t>(columns.of[s]) * n];
    num::add_chains({&a.values[i * stored], stored, together, std::span(rows_of_b).first(stored), &d[i * n], n});
  }
  write_sums(d.data(), p.d_half, matrices.d);
}

std::int32_t integer_of(std::uint32_t raw, int bits, bool with_sign) {
  return with_sign ? static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits) : static_cast<std::int32_t>(raw);
}

void multiply_integers(const Product& p, const RawMatrices& matrices) {
  static thread_local std::vector<std::int32_t> a, b, sum;
  const std::size_t n = p.n, stored = static_cast<std::size_t>(p.stored());
  a.resize(matrices.a.size()), b.resize(matrices.b.size()), sum.resize(n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = integer_of(matrices.a[i], p.bits, p.a_signed);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = integer_of(matrices.b[i], p.bits, p.b_signed);
  Columns columns(p);
  for (std::size_t i = 0; i < p.m; ++i) {
    columns.find(p, matrices, i);
    std::fill(sum.begin(), sum.end(), 0);
    for (std::size_t s = 0; s < stored; ++s) {
      const std::int32_t factor = a[i * stored + s];
      const std::int32_t* row = &b[static_cast<std::size_t>(columns.of[s]) * n];
      for (std::size_t j = 0; j < n; ++j) sum[j] += factor * row[j];  // at most 128 * 255 * 255: fits
    }
    std::uint32_t* raw = &matrices.d[i * n];
    for (std::size_t j = 0; j < n; ++j) {
      std::int64_t total = std::int64_t{static_cast<std::int32_t>(raw[j])} + sum[j];
      if (p.satfinite)
        total =
            std::clamp<std::int64_t>(total, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
      raw[j] = static_cast<std::uint32_t>(total);
    }
  }
}

void multiply_bits(const Product& p, const RawMatrices& matrices) {
  const std::size_t n = p.n, words = static_cast<std::size_t>(p.k) / 32;
  for (std::size_t i = 0; i < p.m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      std::uint32_t ones = 0;
      for (std::size_t w = 0; w < words; ++w) {
        const std::uint32_t x = matrices.a[i * words + w], y = matrices.b[w * n + j];
        ones += static_cast<std::uint32_t>(std::popcount(p.arithmetic == Arithmetic::bits_xor ? x ^ y : x & y));
      }
      matrices.d[i * n + j] += ones;
    }
}

// An operand that is NaN is handed on, made quiet: b before c before a. An invalid operation makes the canonical NaN.
double fused(double a, double b, double c, double result) {
  constexpr std::uint64_t quiet = 0x0008'0000'0000'0000;
  if (result == result) return result;
  const double nan = b != b ? b : c != c ? c : a;
  return std::bit_cast<double>(nan != nan ? num::bits_of(nan) | quiet : num::nan64);
}

}  // namespace

std::optional<TargetUnit> unit_of(Target target, num::DotFormat format, bool half_result) {
  const auto cores = cores_of(target);
  if (!cores) return std::nullopt;
  const CoreFacts& facts = core_facts[static_cast<std::size_t>(*cores)];
  const auto result = half_result ? num::DotResult::f16 : num::DotResult::f32;
  switch (format) {
    case num::DotFormat::f16:
    case num::DotFormat::bf16:
      return TargetUnit{{facts.block_16, facts.fraction, result, static_cast<std::int16_t>(half_result ? -21 : -133)}};
    case num::DotFormat::tf32:
      if (facts.block_32 == 0) return std::nullopt;
      return TargetUnit{{facts.block_32, facts.fraction, result}};
    default:
      break;
  }
  switch (*cores) {
    case Cores::ada:
      return TargetUnit{{16, 13, half_result ? num::DotResult::f16 : num::DotResult::f32_short}};
    case Cores::hopper:
    case Cores::blackwell:
      return TargetUnit{{16, 25, result, static_cast<std::int16_t>(half_result ? -21 : -133)}, true};
    case Cores::blackwell_consumer:
      return TargetUnit{{32, 25, result}};
    default:
      return std::nullopt;
  }
}

std::uint32_t indices_of(const Product& p, const std::uint32_t* metadata, int row, int stored) {
  const int g = row & 7, high = row >> 3;
  const bool long_rows = p.sparsity == Sparsity::pairs        ? p.k == 32
                         : p.sparsity == Sparsity::singles    ? p.k == 16
                         : p.sparsity == Sparsity::byte_pairs ? p.k == 64
                                                              : p.k == 128;
  const int group = p.sparsity == Sparsity::singles ? stored : p.sparsity == Sparsity::nibble_pairs ? stored / 4 : stored / 2;
  int lane = 0, bit = 0;
  if (p.sparsity == Sparsity::pairs || p.sparsity == Sparsity::singles) {
    lane = 4 * g + (long_rows ? 2 * p.selector + group / 4 : p.selector);
    bit = 4 * (group % 4) + 16 * high;
  } else {
    lane = 4 * g + high + (long_rows ? 2 * (group / 8) : 2 * p.selector);
    bit = 4 * (group % 8);
  }
  return metadata[lane & 31] >> bit & 15;
}

int column_of(const Product& p, const std::uint32_t* metadata, int row, int stored) {
  return column_of_indices(p, indices_of(p, metadata, row, stored), stored);
}

int column_of_indices(const Product& p, std::uint32_t indices, int stored) {
  switch (p.sparsity) {
    case Sparsity::singles:
      return 2 * stored + static_cast<int>(indices >> 1 & 1);
    case Sparsity::nibble_pairs: {
      const int pair = stored % 4 / 2;
      return 8 * (stored / 4) + 2 * static_cast<int>(indices >> (2 * pair) & 3) + stored % 2;
    }
    default:
      return 4 * (stored / 2) + static_cast<int>(indices >> (2 * (stored % 2)) & 3);
  }
}

void Factors::decode(num::DotFormat format, std::span<const std::uint32_t> raw, Numerics numerics) {
  if (values.size() < raw.size()) values.resize(raw.size());
  const bool exact = numerics == Numerics::exact;
  if (exact && exponents.size() < raw.size()) exponents.resize(raw.size());
  finite = num::decode_factors(format, raw, values.data(), exact ? exponents.data() : nullptr);
}

void multiply(const Product& product, const RawMatrices& matrices, Numerics numerics) {
  switch (product.arithmetic) {
    case Arithmetic::blocks:
    case Arithmetic::two_steps:
      return numerics == Numerics::fast ? multiply_by_chains(product, matrices) : multiply_floats(product, matrices);
    case Arithmetic::integers:
      return multiply_integers(product, matrices);
    default:
      return multiply_bits(product, matrices);
  }
}

void multiply_doubles(const Product& p, const double* a, const double* b, double* d) {
  const num::RoundingScope scope(p.rounding);
  for (std::size_t i = 0; i < p.m; ++i)
    for (std::size_t j = 0; j < p.n; ++j) {
      volatile double sum = d[i * p.n + j];  // stored and loaded inside the scope
      for (std::size_t k = 0; k < p.k; ++k) {
        const double x = a[i * p.k + k], y = b[k * p.n + j], c = sum;
        sum = fused(x, y, c, std::fma(x, y, c));
      }
      d[i * p.n + j] = sum;
    }
}

}  // namespace ptx::vgpu
