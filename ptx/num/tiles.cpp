#include "ptx/num/tiles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "ptx/num/rounding.hpp"

#if defined(__x86_64__)
// GCC 12 takes what its own header leaves undefined on purpose for an oversight.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

namespace ptx::num {

bool fits_tiles(const DotUnit& unit, std::size_t depth) {
  return unit.result != DotResult::f16 && unit.fraction <= 25 && depth == unit.block && depth <= max_tile_depth;
}

void narrow_exponents(const std::vector<std::int32_t>& from, std::size_t count, std::vector<std::int16_t>& to) {
  if (to.size() < count) to.resize(count);
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::int16_t>(from[i]);
}

#if defined(__x86_64__)
namespace {

#define PTX_FOR_TILES gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#define PTX_IN_TILES PTX_FOR_TILES, gnu::always_inline

constexpr std::size_t lanes = 16, groups = slab_rows / tile_columns, halves = slab_rows / tile_rows;

// The factors of a, each as often as a tile has columns: of four rows a vector of f32, of eight rows one of exponents.
struct SpreadFactors {
  alignas(64) std::array<std::array<std::array<float, lanes>, groups>, max_tile_depth> values;
  alignas(64) std::array<std::array<std::array<std::int16_t, 2 * lanes>, halves>, max_tile_depth> exponents;
};

[[PTX_FOR_TILES]] void spread_values(const TiledProduct& p, SpreadFactors& to) {
  const __m512i four_times = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  for (std::size_t k = 0; k < p.depth; ++k) {
    const __m512 all = _mm512_loadu_ps(p.a + k * slab_rows);
    for (std::size_t g = 0; g < groups; ++g) {
      const __m512i from = _mm512_add_epi32(four_times, _mm512_set1_epi32(static_cast<int>(4 * g)));
      _mm512_store_ps(to.values[k][g].data(), _mm512_permutexvar_ps(from, all));
    }
  }
}
[[PTX_FOR_TILES]] void spread_exponents(const TiledProduct& p, SpreadFactors& to) {
  alignas(64) std::array<std::int16_t, 2 * lanes> four_times;
  for (std::size_t l = 0; l < four_times.size(); ++l) four_times[l] = static_cast<std::int16_t>(l / tile_columns);
  const __m512i lower = _mm512_load_si512(four_times.data()), upper = _mm512_add_epi16(lower, _mm512_set1_epi16(8));
  for (std::size_t k = 0; k < p.depth; ++k) {
    const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p.a_exponents + k * slab_rows));
    const __m512i all = _mm512_castsi256_si512(some);
    _mm512_store_si512(to.exponents[k][0].data(), _mm512_permutexvar_epi16(lower, all));
    _mm512_store_si512(to.exponents[k][1].data(), _mm512_permutexvar_epi16(upper, all));
  }
}

// Four columns of b, for four rows each.
[[PTX_IN_TILES]] inline __m512 columns_of(const float* b) { return _mm512_broadcast_f32x4(_mm_loadu_ps(b)); }
[[PTX_IN_TILES]] inline __m512i exponents_of(const std::int16_t* b) {
  long long four;
  std::memcpy(&four, b, sizeof four);
  return _mm512_set1_epi64(four);
}
// Where the numbers of four rows are.
inline std::uint32_t* place(const TiledProduct& p, std::size_t quad, std::size_t group) {
  return p.d[2 * quad + group / 2] + group % 2 * lanes;
}

// ---- sums that are rounded each time

// So many times four columns, whose sums stay in registers.
template <std::size_t quads>
[[PTX_FOR_TILES]] void add_chains(const TiledProduct& p, const SpreadFactors& a, std::size_t quad) {
  __m512 sum[quads][groups];
#pragma GCC unroll 4
  for (std::size_t j = 0; j < quads; ++j)
#pragma GCC unroll 4
    for (std::size_t g = 0; g < groups; ++g) sum[j][g] = p.adds ? _mm512_loadu_ps(place(p, quad + j, g)) : _mm512_setzero_ps();
  const float* b = p.b + tile_columns * quad;
  for (std::size_t k = 0; k < p.depth; ++k, b += p.n) {
    __m512 of_b[quads];
#pragma GCC unroll 4
    for (std::size_t j = 0; j < quads; ++j) of_b[j] = columns_of(b + tile_columns * j);
#pragma GCC unroll 4
    for (std::size_t g = 0; g < groups; ++g) {
      const __m512 of_a = _mm512_load_ps(a.values[k][g].data());
#pragma GCC unroll 4
      for (std::size_t j = 0; j < quads; ++j) sum[j][g] = _mm512_fmadd_ps(of_a, of_b[j], sum[j][g]);
    }
  }
  const __m512 nan = _mm512_set1_ps(std::bit_cast<float>(nan32));
#pragma GCC unroll 4
  for (std::size_t j = 0; j < quads; ++j)
#pragma GCC unroll 4
    for (std::size_t g = 0; g < groups; ++g) {
      const __mmask16 is_nan = _mm512_cmp_ps_mask(sum[j][g], sum[j][g], _CMP_UNORD_Q);
      _mm512_storeu_ps(place(p, quad + j, g), _mm512_mask_mov_ps(sum[j][g], is_nan, nan));
    }
}

// ---- aligned sums

// Sums of which every exponent is in this range go through f32: scaled so that the last bit kept is worth 1, a product is exact
// or, when it is too small for f32, less than 1. A sum of zeros alone does, too.
constexpr int least_fast = -100, largest_fast = 120, least_nonzero = -2000, no_exponent = 2 * zero_exponent;

// Sixteen sums.
struct Sixteen {
  __m512 scale, inverse;
  __m512i accumulator, sum;
};

// From the largest exponent of the products and the accumulators. Returns which are out of range.
[[PTX_IN_TILES]] inline __mmask16 begin(Sixteen& to, const DotUnit& unit, __m256i largest_of_products, __m512i accumulators) {
  const __m512i magnitude = _mm512_and_si512(accumulators, _mm512_set1_epi32(0x7FFFFFFF));
  const __m512i field = _mm512_srli_epi32(magnitude, 23);
  __m512i exponent = _mm512_sub_epi32(_mm512_max_epi32(field, _mm512_set1_epi32(1)), _mm512_set1_epi32(127));
  const __mmask16 is_zero = _mm512_testn_epi32_mask(magnitude, magnitude);
  exponent = _mm512_mask_mov_epi32(exponent, is_zero, _mm512_set1_epi32(no_exponent));
  __m512i largest = _mm512_max_epi32(exponent, _mm512_cvtepi16_epi32(largest_of_products));
  const __mmask16 special = _mm512_cmpeq_epi32_mask(field, _mm512_set1_epi32(255));
  const __mmask16 large = _mm512_cmpgt_epi32_mask(largest, _mm512_set1_epi32(largest_fast));
  const __mmask16 small = _mm512_mask_cmplt_epi32_mask(_mm512_cmpgt_epi32_mask(largest, _mm512_set1_epi32(least_nonzero)),
                                                       largest, _mm512_set1_epi32(least_fast));
  largest = _mm512_max_epi32(largest, _mm512_set1_epi32(least_fast));  // of zeros
  const int fraction = unit.fraction;
  to.scale = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_sub_epi32(_mm512_set1_epi32(127 + fraction), largest), 23));
  to.inverse = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_set1_epi32(127 - fraction), largest), 23));
  to.accumulator = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_castsi512_ps(accumulators), to.scale));
  to.sum = _mm512_setzero_si512();
  return static_cast<__mmask16>(special | large | small);
}

// So many times four columns. False: some sum is out of range, d unchanged. A sum of products whose size is 2^30 or more is: with
// the accumulator it could leave the integers of 32 bits.
template <std::size_t quads>
[[PTX_FOR_TILES]] bool add_products(const DotUnit& unit, const TiledProduct& p, const SpreadFactors& a, std::size_t quad) {
  __m512i largest[quads][halves];
#pragma GCC unroll 4
  for (std::size_t j = 0; j < quads; ++j)
#pragma GCC unroll 4
    for (std::size_t h = 0; h < halves; ++h) largest[j][h] = _mm512_set1_epi16(no_exponent);
  const std::int16_t* exponents = p.b_exponents + tile_columns * quad;
  for (std::size_t k = 0; k < p.depth; ++k, exponents += p.n)
#pragma GCC unroll 4
    for (std::size_t j = 0; j < quads; ++j) {
      const __m512i of_b = exponents_of(exponents + tile_columns * j);
#pragma GCC unroll 4
      for (std::size_t h = 0; h < halves; ++h)
        largest[j][h] = _mm512_max_epi16(largest[j][h], _mm512_add_epi16(of_b, _mm512_load_si512(a.exponents[k][h].data())));
    }
  Sixteen all[quads][groups];
  __mmask16 out = 0;
#pragma GCC unroll 4
  for (std::size_t j = 0; j < quads; ++j)
#pragma GCC unroll 4
    for (std::size_t g = 0; g < groups; ++g) {
      const __m512i of_half = largest[j][g / 2];
      const __m256i of_group = g % 2 == 0 ? _mm512_castsi512_si256(of_half) : _mm512_extracti64x4_epi64(of_half, 1);
      const __m512i before = p.adds ? _mm512_loadu_si512(place(p, quad + j, g)) : _mm512_setzero_si512();
      out = static_cast<__mmask16>(out | begin(all[j][g], unit, of_group, before));
    }
  if (out != 0) return false;
  const float* b = p.b + tile_columns * quad;
  for (std::size_t k = 0; k < p.depth; ++k, b += p.n) {
    __m512 of_b[quads];
#pragma GCC unroll 4
    for (std::size_t j = 0; j < quads; ++j) of_b[j] = columns_of(b + tile_columns * j);
#pragma GCC unroll 4
    for (std::size_t g = 0; g < groups; ++g) {
      const __m512 of_a = _mm512_load_ps(a.values[k][g].data());
#pragma GCC unroll 4
      for (std::size_t j = 0; j < quads; ++j) {
        const __m512 scaled = _mm512_mul_ps(_mm512_mul_ps(of_a, of_b[j]), all[j][g].scale);
        all[j][g].sum = _mm512_add_epi32(all[j][g].sum, _mm512_cvttps_epi32(scaled));
      }
    }
  }
  const __m512i margin = _mm512_set1_epi32(1 << 30);
#pragma GCC unroll 4
  for (std::size_t j = 0; j < quads; ++j)
#pragma GCC unroll 4
    for (std::size_t g = 0; g < groups; ++g)
      out = static_cast<__mmask16>(out | _mm512_movepi32_mask(_mm512_add_epi32(all[j][g].sum, margin)));
  if (out != 0) return false;
  const __m512i kept = _mm512_set1_epi32(unit.result == DotResult::f32_short ? -(1 << (23 - 13)) : -1);
#pragma GCC unroll 4
  for (std::size_t j = 0; j < quads; ++j)
#pragma GCC unroll 4
    for (std::size_t g = 0; g < groups; ++g) {
      const __m512i whole = _mm512_add_epi32(all[j][g].sum, all[j][g].accumulator);
      const __m512 cut = _mm512_cvt_roundepi32_ps(whole, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
      const __m512i bits = _mm512_castps_si512(_mm512_mul_ps(cut, all[j][g].inverse));
      _mm512_storeu_si512(place(p, quad + j, g), _mm512_and_si512(bits, kept));
    }
  return true;
}

// Sum by sum.
void add_one_by_one(const DotUnit& unit, const TiledProduct& p, std::size_t quad) {
  std::array<float, max_tile_depth> a, b;
  std::array<std::int32_t, max_tile_depth> of_a, of_b;
  for (std::size_t row = 0; row < slab_rows; ++row)
    for (std::size_t column = 0; column < tile_columns; ++column) {
      for (std::size_t k = 0; k < p.depth; ++k) {
        const std::size_t at_a = k * slab_rows + row, at_b = k * p.n + tile_columns * quad + column;
        a[k] = p.a[at_a], of_a[k] = p.a_exponents[at_a], b[k] = p.b[at_b], of_b[k] = p.b_exponents[at_b];
      }
      std::uint32_t& d = p.d[2 * quad + row / tile_rows][row % tile_rows * tile_columns + column];
      d = bits_of(dot_block(unit, std::span(a).first(p.depth), std::span(of_a).first(p.depth), std::span(b).first(p.depth),
                            std::span(of_b).first(p.depth), p.adds ? std::bit_cast<float>(d) : 0.0f));
    }
}

}  // namespace

bool host_has_tiles() {
  static const bool has = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                          __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                          __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return has;
}

void add_chains(const TiledProduct& product) {
  SpreadFactors a;
  spread_values(product, a);
  std::size_t quad = 0;
  const std::size_t quads = product.n / tile_columns;
  for (; quad + 4 <= quads; quad += 4) add_chains<4>(product, a, quad);
  for (; quad < quads; quad += 2) add_chains<2>(product, a, quad);
}

void add_products(const DotUnit& unit, const TiledProduct& product) {
  SpreadFactors a;
  if (product.finite) spread_values(product, a), spread_exponents(product, a);
  for (std::size_t quad = 0; quad < product.n / tile_columns; quad += 2)
    if (!product.finite || !add_products<2>(unit, product, a, quad))
      for (std::size_t j = 0; j < 2; ++j) add_one_by_one(unit, product, quad + j);
}

#undef PTX_IN_TILES
#undef PTX_FOR_TILES
#else
bool host_has_tiles() { return false; }
void add_chains(const TiledProduct&) {}
void add_products(const DotUnit&, const TiledProduct&) {}
#endif

}  // namespace ptx::num
