// The unit's functions for 32 arguments at once with AVX-512: tables are looked up by permutations of registers, products of 16
// bits and less are what the sums are made of. Arguments that an instruction treats apart are left to the caller.
#include <array>
#include <iterator>
#include <type_traits>

#include "ptx/num/approx.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ptx::num {

#if defined(__x86_64__)
namespace {

#define PTX_FOR_SIXTEENS gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni,avx512bitalg,avx2,fma")
#define PTX_SIXTEEN_AT_ONCE PTX_FOR_SIXTEENS, gnu::always_inline

using Words = std::uint32_t __attribute__((vector_size(64)));
using Ints = std::int32_t __attribute__((vector_size(64)));
constexpr __mmask16 sixteen = 0xFFFF;

// A constant in all places, loaded: left to itself, GCC makes it in a general register, and the move from there to a vector costs
// as much as what is done with it.
template <class T, T value>
inline constexpr T stored = value;
template <std::uint32_t value>
[[PTX_SIXTEEN_AT_ONCE]] inline Words all() {
  Words words;
  asm("vpbroadcastd %1, %0" : "=v"(words) : "m"(stored<std::uint32_t, value>));
  return words;
}
template <std::uint32_t value>
[[PTX_SIXTEEN_AT_ONCE]] inline __m512i all_bits() {
  return reinterpret_cast<__m512i>(all<value>());
}

// ---- the value of a quadratic: ((c0 << fixed) + c1 * offset + c2 * factor * square + rounding) >> dropped. Taken from c1,
// `base` << fixed leaves 16 bits of it. What a row knows is in its c0: `of_row` times the row, which takes from the value what
// the offset of 23 bits adds to it at the end, and `field`, of the result's exponent, whose upper two bits of eight are lost.

template <class Unit>
struct Sum;
template <>
struct Sum<unit::Reciprocal> {
  static constexpr int fixed = 13, base = -4, factor = 1, rounding = 0x47E7, of_row = 4 << 16, field = 0;
};
template <>
struct Sum<unit::ReciprocalRoot> {
  static constexpr int fixed = 14, base = -2, factor = 4, rounding = 0x7FFF, of_row = 0, field = 62;
};
template <>
struct Sum<unit::Root> {
  static constexpr int fixed = 15, base = 1, factor = 2, rounding = 0x7FFF, of_row = 0, field = 62;
};
template <>
struct Sum<unit::Power> {
  static constexpr int fixed = 13, base = 4, factor = 1, rounding = 0x77E2, of_row = -(4 << 17), field = 126;
};

// The same table in columns: c0, and what is left of c1 below c2. `below` in value_at takes 2^15 c1 too much, which c0 gives
// back.
template <class Unit>
struct Columns {
  static constexpr std::size_t rows = std::size(Unit::table);
  alignas(64) std::array<std::uint32_t, rows> c0{};
  alignas(64) std::array<std::uint32_t, rows> others{};
  consteval Columns() {
    for (std::size_t i = 0; i < rows; ++i) {
      const Quadratic& q = Unit::table[i];
      const std::int32_t c1 = q.c1 - Sum<Unit>::base * (1 << Sum<Unit>::fixed), c2 = q.c2 * Sum<Unit>::factor;
      c0[i] = static_cast<std::uint32_t>(q.c0) + static_cast<std::uint32_t>(c1 * (4096 >> (Sum<Unit>::fixed - 3))) +
              static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(Sum<Unit>::of_row) +
              (static_cast<std::uint32_t>(Sum<Unit>::field) << 25);
      others[i] = static_cast<std::uint16_t>(c1) | static_cast<std::uint32_t>(c2) << 16;
      if (static_cast<std::int16_t>(c1) != c1 || static_cast<std::int16_t>(c2) != c2) throw "16 bits are too few";
    }
  }
};
template <class Unit>
inline constexpr Columns<Unit> columns{};

// table[row] of 64 rows or 128; bits of `row` above do not count.
template <std::size_t rows>
[[PTX_SIXTEEN_AT_ONCE]] inline __m512i look_up(const void* table, __m512i row) {
  const auto* t = static_cast<const __m512i*>(table);
  const __mmask16 second = _mm512_test_epi32_mask(row, all_bits<32>());
  const __m512i first =
      _mm512_mask_mov_epi32(_mm512_permutex2var_epi32(t[0], row, t[1]), second, _mm512_permutex2var_epi32(t[2], row, t[3]));
  if constexpr (rows == 64) return first;
  const __m512i last =
      _mm512_mask_mov_epi32(_mm512_permutex2var_epi32(t[4], row, t[5]), second, _mm512_permutex2var_epi32(t[6], row, t[7]));
  return _mm512_mask_mov_epi32(first, _mm512_test_epi32_mask(row, all_bits<64>()), last);
}

// For each byte of eight where the byte of 64 bits begins that it becomes: those of two words alike.
constexpr std::uint64_t bytes_from(int a, int b, int c, int d) {
  const std::uint64_t low = static_cast<std::uint64_t>(a | b << 8 | c << 16) | static_cast<std::uint64_t>(d) << 24;
  return low | (low + 0x20202020) << 32;
}
template <std::uint64_t value>
[[PTX_SIXTEEN_AT_ONCE]] inline __m512i all_pairs() {
  __m512i pairs;
  asm("vpbroadcastq %1, %0" : "=v"(pairs) : "m"(stored<std::uint64_t, value>));
  return pairs;
}
// Twice unit_square of what stands at bit `at` and above, plus 1: the square of the upper part, and twice the sum of the upper
// parts, shifted by 1 to 7 places, that the lower bits 8 to 2 choose. Four such terms are the sum of four bytes; the eighth makes
// the lowest bit 1, which the square leaves as the lowest of the upper part.
template <int at>
[[PTX_SIXTEEN_AT_ONCE]] inline Words twice_square_of(__m512i x) {
  const auto upper = reinterpret_cast<__m512i>(reinterpret_cast<Words>(x) >> (9 + at));
  const __mmask64 of_many = _mm512_bitshuffle_epi64_mask(x, all_pairs<bytes_from(at + 8, at + 7, at + 6, at + 5)>());
  const __mmask64 of_few = _mm512_bitshuffle_epi64_mask(x, all_pairs<bytes_from(at + 4, at + 3, at + 2, at + 9)>());
  const __m512i many =
      _mm512_maskz_multishift_epi64_epi8(of_many, all_pairs<bytes_from(at + 10, at + 11, at + 12, at + 13)>(), x);
  const __m512i few = _mm512_mask_multishift_epi64_epi8(all_bits<0x01000000>(), of_few,
                                                        all_pairs<bytes_from(at + 14, at + 15, at + 16, at + 17)>(), x);
  const __m512i sum = _mm512_dpbusd_epi32(_mm512_madd_epi16(upper, upper), many, all_bits<0x02020202>());
  return reinterpret_cast<Words>(_mm512_dpbusd_epi32(sum, few, all_bits<0x01020202>()));
}

// What is left of the sum's whole part when `base` times the offset is taken away, above two places behind the point. `offset`
// has 18 bits, which are multiplied as the upper 15 and the lower 3: these less 2^15, of the lowest bit of twice the square.
template <class Unit>
[[PTX_SIXTEEN_AT_ONCE]] inline Words rest_at(__m512i row, Words offset, Words twice_square) {
  using S = Sum<Unit>;
  constexpr int second_where_third = 0xD8;  // the second's bits where the third has ones, else the first's
  const auto c0 = reinterpret_cast<Ints>(look_up<Columns<Unit>::rows>(columns<Unit>.c0.data(), row));
  const __m512i others = look_up<Columns<Unit>::rows>(columns<Unit>.others.data(), row);
  const __m512i lower = _mm512_ternarylogic_epi32(reinterpret_cast<__m512i>(twice_square << 15),
                                                  reinterpret_cast<__m512i>(offset), all_bits<7>(), second_where_third);
  const auto below = reinterpret_cast<Ints>(_mm512_dpwssd_epi32(all_bits<S::rounding>(), others, lower)) >> 3;
  const auto sum = reinterpret_cast<Ints>(
      _mm512_dpwssd_epi32(reinterpret_cast<__m512i>(below), others, reinterpret_cast<__m512i>(offset >> 3)));
  return reinterpret_cast<Words>(c0 + (sum >> (S::fixed - 3)));
}

// ---- the functions: of 16 arguments, `odd` are those that are not ordinary

template <class Unit>
struct Sixteen;
template <>
struct Sixteen<unit::Reciprocal> {
  [[PTX_SIXTEEN_AT_ONCE]] static inline __mmask16 odd(__m512 x) {
    const Words above_least = (reinterpret_cast<Words>(x) & all<0x7FFFFFFF>()) - all<0x00800000>();
    return _mm512_cmpge_epu32_mask(reinterpret_cast<__m512i>(above_least), all_bits<252u << 23>());
  }
  [[PTX_SIXTEEN_AT_ONCE]] static inline __m512 of(__m512 x) {
    const auto bits = reinterpret_cast<Words>(x);
    const Words offset = bits & all<0xFFFF>();
    const Words rest = rest_at<unit::Reciprocal>(reinterpret_cast<__m512i>(bits >> 16), offset,
                                                 twice_square_of<-1>(reinterpret_cast<__m512i>(offset)));
    return reinterpret_cast<__m512>((rest >> 2) + all<252u << 23>() - bits);  // which exchanges the sign bit
  }
};

// The fraction and the lowest bit of the exponent, whose field is odd where it is even.
[[PTX_SIXTEEN_AT_ONCE]] inline Words place_of_roots(Words bits) { return bits ^ all<0x00800000>(); }
// Half the exponent field, rounded up, 127 at most; and 127 less that.
[[PTX_SIXTEEN_AT_ONCE]] inline Words half_exponents(Words bits) { return (bits + all<0x00800000>()) >> 1 & all<0x7F800000>(); }
[[PTX_SIXTEEN_AT_ONCE]] inline Words less_half_exponents(Words bits) {
  return ~((bits + all<0x00800000>()) >> 1) & all<0x3F800000>();
}
template <std::uint32_t exact>
[[PTX_SIXTEEN_AT_ONCE]] inline Words unless_exact(Words value, Words place) {
  const __mmask16 is_exact = _mm512_testn_epi32_mask(reinterpret_cast<__m512i>(place), all_bits<0xFFFFFF>());
  return reinterpret_cast<Words>(_mm512_mask_mov_epi32(reinterpret_cast<__m512i>(value), is_exact, all_bits<exact>()));
}
template <>
struct Sixteen<unit::ReciprocalRoot> {
  [[PTX_SIXTEEN_AT_ONCE]] static inline __mmask16 odd(__m512 x) {
    const Words above_least = reinterpret_cast<Words>(x) - all<0x00800000>();
    return _mm512_cmpge_epu32_mask(reinterpret_cast<__m512i>(above_least), all_bits<0x7F000000>());
  }
  [[PTX_SIXTEEN_AT_ONCE]] static inline __m512 of(__m512 x) {
    const auto bits = reinterpret_cast<Words>(x);
    const Words y = place_of_roots(bits), offset = bits & all<0x1FFFF>();
    const Words rest = rest_at<unit::ReciprocalRoot>(reinterpret_cast<__m512i>(y >> 17), offset,
                                                     twice_square_of<0>(reinterpret_cast<__m512i>(offset)));
    const Words value = (rest - (offset << 1)) >> 2;
    return reinterpret_cast<__m512>(unless_exact<0x1000000 + (62u << 23)>(value, y) + less_half_exponents(bits));
  }
};
template <>
struct Sixteen<unit::Root> {
  [[PTX_SIXTEEN_AT_ONCE]] static inline __mmask16 odd(__m512 x) { return Sixteen<unit::ReciprocalRoot>::odd(x); }
  [[PTX_SIXTEEN_AT_ONCE]] static inline __m512 of(__m512 x) {
    const auto bits = reinterpret_cast<Words>(x);
    const Words y = place_of_roots(bits), offset = bits & all<0x1FFFF>();
    const auto once = reinterpret_cast<__m512i>(offset);
    const __mmask16 odd_exponent = _mm512_test_epi32_mask(reinterpret_cast<__m512i>(y), all_bits<0x00800000>());
    const auto twice = reinterpret_cast<Words>(_mm512_mask_add_epi32(once, odd_exponent, once, once));
    const Words value = (rest_at<unit::Root>(reinterpret_cast<__m512i>(y >> 17), twice, twice_square_of<0>(once)) + twice) >> 2;
    return reinterpret_cast<__m512>(unless_exact<0x800000 + (62u << 23)>(value, y) + half_exponents(bits));
  }
};
template <>
struct Sixteen<unit::Power> {
  // From -160 down the results are zeros, and from 128 on infinities: arguments that attention kernels have.
  [[PTX_SIXTEEN_AT_ONCE]] static inline __mmask16 above_zero(__m512 x) {
    return _mm512_cmp_ps_mask(x, _mm512_set1_ps(-160.0f), _CMP_NLE_UQ);
  }
  [[PTX_SIXTEEN_AT_ONCE]] static inline __mmask16 odd(__m512 x) {
    return _mm512_mask_cmp_ps_mask(above_zero(x), x, _mm512_set1_ps(-126.0f), _CMP_NGE_UQ);
  }
  [[PTX_SIXTEEN_AT_ONCE]] static inline __m512 of(__m512 x) {
    const __m512 at_most = _mm512_maskz_min_ps(sixteen, x, _mm512_set1_ps(128.0f));
    // 23 places behind the point, cut; of a negative number that is not whole, the complement
    const __m512i cut = _mm512_maskz_cvttps_epi32(sixteen, at_most * _mm512_set1_ps(0x1p23f));
    const __mmask16 broken = _mm512_test_epi32_mask(cut, all_bits<0x7FFFFF>());
    const auto less = reinterpret_cast<__m512i>(reinterpret_cast<Ints>(x) >> 31);
    const auto fixed = reinterpret_cast<Words>(_mm512_mask_add_epi32(cut, broken, cut, less));
    const Words offset = fixed & all<0x1FFFF>();
    const Words rest = rest_at<unit::Power>(reinterpret_cast<__m512i>(fixed >> 17), offset,
                                            twice_square_of<0>(reinterpret_cast<__m512i>(offset)));
    return _mm512_maskz_mov_ps(above_zero(x), reinterpret_cast<__m512>((rest >> 2) + fixed));
  }
};

// The lanes of a mask, and 1 in the others.
[[PTX_SIXTEEN_AT_ONCE]] inline __m512 load(const std::uint32_t* from, std::uint32_t mask, int first) {
  return _mm512_mask_loadu_ps(_mm512_set1_ps(1.0f), static_cast<__mmask16>(mask >> first), from + first);
}
[[PTX_SIXTEEN_AT_ONCE]] inline void store(std::uint32_t* to, std::uint32_t mask, int first, __m512 value) {
  _mm512_mask_storeu_ps(to + first, static_cast<__mmask16>(mask >> first), value);
}
[[PTX_SIXTEEN_AT_ONCE]] inline __m512 flushed(__m512 x) {
  const auto bits = reinterpret_cast<__m512i>(x);
  const __mmask16 small = _mm512_testn_epi32_mask(bits, all_bits<0x7F800000>());
  return reinterpret_cast<__m512>(_mm512_mask_and_epi32(bits, small, bits, all_bits<0x80000000>()));
}
[[PTX_SIXTEEN_AT_ONCE]] inline __m512 canonical(__m512 x) {
  return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), reinterpret_cast<__m512>(all<nan32>()));
}

template <class Unit>
[[PTX_SIXTEEN_AT_ONCE]] inline bool odd(__m512 a, __m512 b) {
  return (Sixteen<Unit>::odd(a) | Sixteen<Unit>::odd(b)) != 0;
}

// Of all 32 lanes.
template <class Unit>
[[PTX_FOR_SIXTEENS]] bool approximate_both(std::uint32_t mask, const std::uint32_t* x, std::uint32_t* result) {
  const __m512 low = load(x, mask, 0), high = load(x, mask, 16);
  if (odd<Unit>(low, high)) return false;
  store(result, mask, 0, Sixteen<Unit>::of(low));
  store(result, mask, 16, Sixteen<Unit>::of(high));
  return true;
}

template <bool ftz>
[[PTX_FOR_SIXTEENS]] bool divide_both(std::uint32_t mask, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* result) {
  const __m512 low = load(b, mask, 0), high = load(b, mask, 16);
  if (odd<unit::Reciprocal>(low, high)) return false;
  __m512 r[] = {Sixteen<unit::Reciprocal>::of(low), Sixteen<unit::Reciprocal>::of(high)};
  __mmask16 at_edge = 0;
  for (int half = 0; half < 2; ++half) {
    __m512 x = load(a, mask, 16 * half);
    if constexpr (ftz) x = flushed(x);
    r[half] = r[half] * x;
    if constexpr (ftz) {  // whether these are flushed depends on bits that are gone
      const auto size = reinterpret_cast<__m512i>(reinterpret_cast<Words>(r[half]) & all<0x7FFFFFFF>());
      at_edge = static_cast<__mmask16>(at_edge | _mm512_cmpeq_epi32_mask(size, all_bits<0x00800000>()));
      r[half] = flushed(r[half]);
    }
    r[half] = canonical(r[half]);
  }
  if (at_edge != 0) return false;
  store(result, mask, 0, r[0]);
  store(result, mask, 16, r[1]);
  return true;
}

}  // namespace

bool host_has_sixteens() {
  static const bool has = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                          __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                          __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512vnni") != 0 &&
                          __builtin_cpu_supports("avx512bitalg") != 0 && __builtin_cpu_supports("avx2") != 0 &&
                          __builtin_cpu_supports("fma") != 0;
  return has;
}

template <class Unit>
bool approximate_ordinary(std::uint32_t mask, const std::uint32_t* x, std::uint32_t* result) {
  return approximate_both<Unit>(mask, x, result);
}
template <bool ftz>
bool divide_ordinary(std::uint32_t mask, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* result) {
  return divide_both<ftz>(mask, a, b, result);
}

#undef PTX_SIXTEEN_AT_ONCE
#undef PTX_FOR_SIXTEENS
#else
bool host_has_sixteens() { return false; }
template <class Unit>
bool approximate_ordinary(std::uint32_t, const std::uint32_t*, std::uint32_t*) {
  return false;
}
template <bool ftz>
bool divide_ordinary(std::uint32_t, const std::uint32_t*, const std::uint32_t*, std::uint32_t*) {
  return false;
}
#endif

template bool approximate_ordinary<unit::Reciprocal>(std::uint32_t, const std::uint32_t*, std::uint32_t*);
template bool approximate_ordinary<unit::ReciprocalRoot>(std::uint32_t, const std::uint32_t*, std::uint32_t*);
template bool approximate_ordinary<unit::Root>(std::uint32_t, const std::uint32_t*, std::uint32_t*);
template bool approximate_ordinary<unit::Power>(std::uint32_t, const std::uint32_t*, std::uint32_t*);
template bool divide_ordinary<false>(std::uint32_t, const std::uint32_t*, const std::uint32_t*, std::uint32_t*);
template bool divide_ordinary<true>(std::uint32_t, const std::uint32_t*, const std::uint32_t*, std::uint32_t*);

}  // namespace ptx::num
