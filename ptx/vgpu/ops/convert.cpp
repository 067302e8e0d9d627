// Conversions (rows: ptx/isa/table/convert.hpp).
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "ptx/isa/isa.hpp"
#include "ptx/num/num.hpp"
#include "ptx/vgpu/machine/specials.hpp"
#include "ptx/vgpu/ops/map.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace ptx::vgpu {
namespace {

using num::Rounding;

// ---- integers

// imm: 2 * the logarithm of the destination's bytes, and 1 for a signed one. The slot holds what the destination's type would: a
// clamped value is in its range.
template <class A, class Slot>
struct Clamp {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const unsigned bits = 8u << (step.imm >> 1);
    const std::int64_t min = (step.imm & 1) != 0 ? std::numeric_limits<std::int64_t>::min() >> (64 - bits) : 0;
    const std::uint64_t max = std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (step.imm & 1));
    using Range = std::numeric_limits<A>;
    const A least = std::cmp_less(min, Range::min()) ? Range::min() : static_cast<A>(min);
    const A most = std::cmp_greater(max, Range::max()) ? Range::max() : static_cast<A>(max);
    const auto* a = warp.slot<SlotOf<A>>(step.x[1]);
    write_lanes(warp.slot<Slot>(step.x[0]), mask,
                [=](int l) { return static_cast<Slot>(std::clamp(from_slot<A>(a[l]), least, most)); });
    return Outcome::next;
  }
};

template <class D, class A>
Handler clamp(Decoding& in) {
  in.step.imm = 2 * std::countr_zero(sizeof(D)) + (std::is_signed_v<D> ? 1 : 0);
  return Compiled<Clamp<A, SlotOf<D>>>::seldom();
}

// Calls use(D{}, A{}) with the types of .dtype and .atype.
template <class Use>
Handler by_integers(Decoding& in, Use use) {
  return by_integer(in.type("dtype"), [&](auto d) { return by_integer(in.type("atype"), [&](auto a) { return use(d, a); }); });
}

// d = a, converted by truncation or extension. Of types that are truncated or extended alike one is compiled: the sign of A
// counts where D is wider, and that of D where its slot is.
template <class D>
struct As {
  template <class A>
  [[gnu::always_inline]] D operator()(A a) const {
    return static_cast<D>(a);
  }
};
template <class D, class A>
Handler convert() {
  using To = std::conditional_t<sizeof(D) == sizeof(SlotOf<D>), std::make_unsigned_t<D>, D>;
  using From = std::conditional_t<sizeof(D) <= sizeof(A), std::make_unsigned_t<A>, A>;
  return Compiled<Map<To(From), As<To>>>::handler();
}

// ---- the host's own conversions, of eight at a time

#if defined(__x86_64__)
bool host_converts_halves() {
  static const bool has = [] {  // clang's __builtin_cpu_supports does not know f16c
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  }();
  return has && host_has_avx2();
}
using Lanes = std::array<std::uint32_t, lane_count>;
[[gnu::target("avx2,f16c")]] void narrow_lanes(const std::uint32_t* from, Lanes& to) {
  const __m256i nan = _mm256_set1_epi32(static_cast<int>(num::f16_format.nan));
  for (std::size_t l = 0; l < lane_count; l += 8) {
    const __m256 x = _mm256_loadu_ps(reinterpret_cast<const float*>(from + l));  // an intrinsic may look at other types' memory
    const __m256i halves = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    const auto is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(&to[l]), _mm256_blendv_epi8(halves, nan, is_nan));
  }
}
[[gnu::target("avx2,f16c")]] void widen_lanes(const std::uint32_t* from, Lanes& to) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(num::nan32)));
  for (std::size_t l = 0; l < lane_count; l += 8) {
    const __m256i raw =
        _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + l)), _mm256_set1_epi32(0xFFFF));
    const __m256 x = _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(raw), _mm256_extracti128_si256(raw, 1)));
    _mm256_storeu_ps(reinterpret_cast<float*>(&to[l]), _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
  }
}
// Beyond the largest the host gives the least.
template <int rounding>
[[gnu::target("avx2")]] void whole_lanes_s32(const std::uint32_t* from, Lanes& to) {
  const __m256 beyond = _mm256_set1_ps(0x1p31f);
  for (std::size_t l = 0; l < lane_count; l += 8) {
    const __m256 x = _mm256_round_ps(_mm256_loadu_ps(reinterpret_cast<const float*>(from + l)), rounding | _MM_FROUND_NO_EXC);
    const __m256i large = _mm256_castps_si256(_mm256_cmp_ps(x, beyond, _CMP_GE_OQ));
    const __m256i number = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_ORD_Q));
    const __m256i whole = _mm256_and_si256(_mm256_xor_si256(_mm256_cvttps_epi32(x), large), number);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(&to[l]), whole);
  }
}
#else
bool host_converts_halves() { return false; }
using Lanes = std::array<std::uint32_t, lane_count>;
void narrow_lanes(const std::uint32_t*, Lanes&) {}
void widen_lanes(const std::uint32_t*, Lanes&) {}
template <int>
void whole_lanes_s32(const std::uint32_t*, Lanes&) {}
#endif
template <void (*convert_lanes)(const std::uint32_t*, Lanes&)>
Outcome convert_by_host(Warp& warp, const Step& step, Mask mask) {
  Lanes result;
  convert_lanes(warp.slot<std::uint32_t>(step.x[1]), result);
  write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) { return result[static_cast<std::size_t>(l)]; });
  return Outcome::next;
}
// From f32 to s32; nullptr where the host has none.
Handler to_s32_by_host(Rounding rounding) {
  if (!host_has_avx2()) return nullptr;
  switch (rounding) {  // by the numbers that vroundps has for them
    case Rounding::rn:
      return &convert_by_host<whole_lanes_s32<0>>;
    case Rounding::rm:
      return &convert_by_host<whole_lanes_s32<1>>;
    case Rounding::rp:
      return &convert_by_host<whole_lanes_s32<2>>;
    case Rounding::rz:
      return &convert_by_host<whole_lanes_s32<3>>;
  }
  return nullptr;
}

// ---- floating point to integer

template <Rounding rounding>
struct ToWhole {
  template <class Float>
  [[gnu::always_inline]] Float operator()(Float x) const {
    return num::to_whole(x, rounding);
  }
};
/// Calls use(ToWhole<…>{}) for .irnd.
template <class Use>
Handler by_whole_rounding(Decoding& in, Use use) {
  switch (in.rounding("irnd")) {
    case Rounding::rn:
      return use(ToWhole<Rounding::rn>{});
    case Rounding::rz:
      return use(ToWhole<Rounding::rz>{});
    case Rounding::rm:
      return use(ToWhole<Rounding::rm>{});
    case Rounding::rp:
      return use(ToWhole<Rounding::rp>{});
  }
  return nullptr;
}

/// A warp's numbers, rounded to whole ones. Every lane: there is nothing that an inactive one could do wrong.
template <class Float>
using WholeLanes = void (*)(const SlotOf<Float>* from, Float* whole, bool ftz);
template <class Float, Rounding rounding>
[[gnu::always_inline]] inline void find_whole_lanes(const SlotOf<Float>* from, Float* whole, bool ftz) {
  if constexpr (sizeof(Float) == 4) {
    if (ftz) {
      for (int l = 0; l < lane_count; ++l) whole[l] = ToWhole<rounding>{}(num::flush(from_slot<Float>(from[l])));
      return;
    }
  }
  for (int l = 0; l < lane_count; ++l) whole[l] = ToWhole<rounding>{}(from_slot<Float>(from[l]));
}
template <class Float, Rounding rounding>
void whole_lanes(const SlotOf<Float>* from, Float* whole, bool ftz) {
  find_whole_lanes<Float, rounding>(from, whole, ftz);
}
#if defined(__x86_64__)
template <class Float, Rounding rounding>
[[gnu::target("avx2,fma")]] void whole_lanes_by_avx2(const SlotOf<Float>* from, Float* whole, bool ftz) {
  find_whole_lanes<Float, rounding>(from, whole, ftz);
}
#else
template <class Float, Rounding rounding>
void whole_lanes_by_avx2(const SlotOf<Float>* from, Float* whole, bool ftz) {
  find_whole_lanes<Float, rounding>(from, whole, ftz);
}
#endif
constexpr std::int64_t flushes_flag = 4, avx2_flag = 8;
template <class Float>
constexpr WholeLanes<Float> by_rounding[] = {
    &whole_lanes<Float, Rounding::rn>,         &whole_lanes<Float, Rounding::rz>,
    &whole_lanes<Float, Rounding::rm>,         &whole_lanes<Float, Rounding::rp>,
    &whole_lanes_by_avx2<Float, Rounding::rn>, &whole_lanes_by_avx2<Float, Rounding::rz>,
    &whole_lanes_by_avx2<Float, Rounding::rm>, &whole_lanes_by_avx2<Float, Rounding::rp>};

// imm: the rounding, and flags. Rounding and conversion are loops of their own, so that there is code for their sum and not
// for their product. .sat changes nothing: a conversion to an integer clamps by itself.
template <class Float, class D>
struct ToInteger {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    Float whole[lane_count];
    const auto find = by_rounding<Float>[(step.imm & 3) + ((step.imm & avx2_flag) != 0 ? 4 : 0)];
    find(warp.slot<SlotOf<Float>>(step.x[1]), whole, (step.imm & flushes_flag) != 0);
    write_lanes(warp.slot<SlotOf<D>>(step.x[0]), mask, [&](int l) { return to_slot<D>(num::to_integer<D>(whole[l])); });
    return Outcome::next;
  }
};
template <class Float>
Handler to_integer(Decoding& in) {
  const auto rounding = static_cast<std::int64_t>(in.rounding("irnd"));
  const std::int64_t ftz = (sizeof(Float) == 4 && in.wrote("ftz") ? flushes_flag : 0) | (host_has_avx2() ? avx2_flag : 0);
  return by_integer(in.type("dtype"), [&]<class D>(D) {
    bind(in, {"d", "a"}, static_cast<D (*)(Float)>(nullptr));
    in.step.imm = rounding | ftz;
    if constexpr (std::is_same_v<Float, float> && std::is_same_v<D, std::int32_t>)
      if (const Handler handler = to_s32_by_host(in.rounding("irnd")); handler != nullptr && !in.wrote("ftz")) return handler;
    return Handler{Compiled<ToInteger<Float, D>>::handler()};
  });
}

// ---- integer to floating point

template <class Float, class A, bool sat>
struct FromInteger {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<SlotOf<A>>(step.x[1]);
    const auto mode = static_cast<Rounding>(step.imm);
    write_lanes(warp.slot<SlotOf<Float>>(step.x[0]), mask, [=](int l) {
      const auto value = num::from_integer<Float>(from_slot<A>(a[l]), mode);
      return to_slot<Float>(sat ? num::saturate(value) : value);
    });
    return Outcome::next;
  }
};
template <class Float>
Handler from_integer(Decoding& in) {
  const Rounding rounding = in.rounding("frnd");
  const bool sat = in.wrote("sat");
  return by_integer(in.type("atype"), [&]<class A>(A) -> Handler {
    if (rounding == Rounding::rn && !sat) return map<Float(A)>(in, {"d", "a"}, [](A a) { return static_cast<Float>(a); });
    bind(in, {"d", "a"}, static_cast<Float (*)(A)>(nullptr));
    in.step.imm = static_cast<std::int64_t>(rounding);
    return sat ? Compiled<FromInteger<Float, A, true>>::seldom() : Compiled<FromInteger<Float, A, false>>::seldom();
  });
}

// ---- floating point to floating point

template <bool ftz, bool sat, class F>
struct Modified {
  template <class A>
  [[gnu::always_inline]] auto operator()(A a) const {
    if constexpr (ftz && sizeof(A) == 4) a = num::flush(num::canonical(a));
    auto r = F{}(a);
    if constexpr (ftz && sizeof(r) == 4) r = num::flush(r);
    if constexpr (sat) r = num::saturate(r);
    return r;
  }
};
// Calls make(f) with f as its modifiers make it.
template <class F, class Make>
Handler with_modifiers(Decoding& in, Make make) {
  const bool ftz = in.wrote("ftz"), sat = in.wrote("sat");
  if (ftz) return sat ? make(Modified<true, true, F>{}) : make(Modified<true, false, F>{});
  return sat ? make(Modified<false, true, F>{}) : make(Modified<false, false, F>{});
}
// f does not round, or to nearest.
template <class Signature, class F>
Handler modified(Decoding& in, F) {
  return with_modifiers<F>(in, [&](auto f) { return map<Signature>(in, {"d", "a"}, f); });
}
template <class Signature, class F>
Handler modified(Decoding& in, Rounding rounding, F f) {
  if (rounding == Rounding::rn) return modified<Signature>(in, f);
  return with_modifiers<F>(in, [&](auto with) { return map_directed<Signature>(in, {"d", "a"}, rounding, with); });
}

// ---- f32 to 16-bit formats: imm = how. An H200 does not flush the f32 that it narrows, .ftz or not (facts.md): only directed
// rounding shows it.

struct Narrowing16 {
  num::Narrowing how;
  bool bf16 = false, sat = false, ftz = false;
};
std::int64_t pack(const Narrowing16& n) {
  return static_cast<std::int64_t>(n.how.mode) | n.how.relu << 2 | n.how.satfinite << 3 | n.bf16 << 4 | n.sat << 5;
}
constexpr Narrowing16 unpack(std::int64_t bits) {
  return {
      {static_cast<Rounding>(bits & 3), (bits & 4) != 0, (bits & 8) != 0}, (bits & 16) != 0, (bits & 32) != 0, (bits & 64) != 0};
}
[[gnu::always_inline]] inline std::uint32_t narrowed16(std::uint32_t raw, const Narrowing16& n) {
  auto x = std::bit_cast<float>(raw);
  if (n.ftz) x = num::flush(x);
  if (n.sat) x = num::saturate(x);
  return num::narrowed(x, n.bf16 ? num::bf16_format : num::f16_format, n.how);
}
struct NarrowOne {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const Narrowing16 n = unpack(step.imm);
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) { return narrowed16(a[l], n); });
    return Outcome::next;
  }
};
struct NarrowTwo {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const Narrowing16 n = unpack(step.imm);
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask,
                [&](int l) { return narrowed16(a[l], n) << 16 | narrowed16(b[l], n); });
    return Outcome::next;
  }
};
// To nearest, without anything else: what programs write.
template <bool bf16>
[[gnu::always_inline]] inline std::uint32_t nearest16(std::uint32_t raw) {
  const auto x = std::bit_cast<float>(raw);
  return bf16 ? num::nearest_bf16(x) : num::nearest_f16(x);
}
template <bool bf16>
struct NearestOne {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) { return nearest16<bf16>(a[l]); });
    return Outcome::next;
  }
};
template <bool bf16>
struct NearestTwo {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask,
                [=](int l) { return nearest16<bf16>(a[l]) << 16 | nearest16<bf16>(b[l]); });
    return Outcome::next;
  }
};
Outcome narrow_two_by_host(Warp& warp, const Step& step, Mask mask) {
  Lanes high, low;
  narrow_lanes(warp.slot<std::uint32_t>(step.x[1]), high);
  narrow_lanes(warp.slot<std::uint32_t>(step.x[2]), low);
  write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask,
              [&](int l) { return high[static_cast<std::size_t>(l)] << 16 | low[static_cast<std::size_t>(l)]; });
  return Outcome::next;
}
bool is_plain(const Decoding& in) {
  return in.rounding("frnd") == Rounding::rn && !in.wrote("relu") && !in.wrote("satfinite") && !in.wrote("sat");
}
Handler narrow_one(Decoding& in, bool bf16) {
  in.step.x[0] = in.write("d", Type::b16);
  in.step.x[1] = in.read("a", Type::f32);
  if (is_plain(in) && !in.wrote("ftz"))
    return bf16                     ? Compiled<NearestOne<true>>::handler()
           : host_converts_halves() ? &convert_by_host<narrow_lanes>
                                    : Compiled<NearestOne<false>>::handler();
  in.step.imm = pack({{in.rounding("frnd"), in.wrote("relu"), in.wrote("satfinite")}, bf16, in.wrote("sat")});
  return Compiled<NarrowOne>::handler();
}

}  // namespace

namespace op {

Handler cvt_int_int(Decoding& in) {
  return by_integers(in, [&]<class D, class A>(D, A) {
    in.moves_bits = !in.wrote("sat");
    bind(in, {"d", "a"}, static_cast<D (*)(A)>(nullptr));
    return in.moves_bits ? convert<D, A>() : clamp<D, A>(in);
  });
}

Handler cvt_special(Decoding& in) {
  const isa::SpecialId id = in.special("a");
  const SpecialValue* value = special_value(id);
  if (value == nullptr || value->clock)
    return in.refuse(cat("the executor reads `", isa::specials()[id].name, "` only through `mov`"));
  return by_integers(in, [&]<class D, class A>(D, A) {
    in.step.x = {in.write("d", type_of<D>()), in.read_special(id, type_of<A>())};
    return in.wrote("sat") ? clamp<D, A>(in) : convert<D, A>();
  });
}

Handler cvt_f32_int(Decoding& in) { return to_integer<float>(in); }
Handler cvt_f64_int(Decoding& in) { return to_integer<double>(in); }
Handler cvt_int_f32(Decoding& in) { return from_integer<float>(in); }
Handler cvt_int_f64(Decoding& in) { return from_integer<double>(in); }

Handler cvt_f32_f32(Decoding& in) {
  if (!in.has("irnd")) return modified<float(float)>(in, [](float a) { return num::canonical(a); });
  return by_whole_rounding(
      in, [&]<class Whole>(Whole) { return modified<float(float)>(in, [](float a) { return num::canonical(Whole{}(a)); }); });
}
Handler cvt_f32_f64(Decoding& in) {
  return modified<double(float)>(in, [](float a) { return static_cast<double>(a); });
}
Handler cvt_f64_f32(Decoding& in) {
  const Rounding rounding = in.rounding("frnd");
  const auto with_nan = []<class F>(F) {
    return [](double a) {
      // a NaN keeps its sign and the upper bits of its payload
      const std::uint64_t bits = num::bits_of(a);
      const auto nan = static_cast<std::uint32_t>(bits >> 32 & 0x80000000u) | 0x7FC00000u |
                       static_cast<std::uint32_t>(bits >> 29 & 0x003FFFFFu);
      return a != a ? std::bit_cast<float>(nan) : F{}(a);
    };
  };
  const auto at_edge = []<bool nearest>(std::bool_constant<nearest>) {
    return [](double a) {
      const auto r = static_cast<float>(a);
      const bool flushes = __builtin_fabsf(r) == 0x1p-126f && num::flushes_at_edge(a, nearest ? Rounding::rn : Rounding::rz);
      return flushes ? __builtin_copysignf(0.0f, r) : r;
    };
  };
  if (!in.wrote("ftz")) return modified<float(double)>(in, rounding, with_nan([](double a) { return static_cast<float>(a); }));
  return rounding == Rounding::rn ? modified<float(double)>(in, with_nan(at_edge(std::true_type{})))
                                  : modified<float(double)>(in, rounding, with_nan(at_edge(std::false_type{})));
}
Handler cvt_f16_f32(Decoding& in) {
  if (!in.wrote("ftz") && !in.wrote("sat") && host_converts_halves()) {
    bind(in, {"d", "a"}, static_cast<float (*)(std::uint16_t)>(nullptr));
    return &convert_by_host<widen_lanes>;
  }
  return modified<float(std::uint16_t)>(in, [](std::uint16_t a) { return num::from_f16(a); });
}
Handler cvt_bf16_f32(Decoding& in) {
  if (in.wrote("ftz"))
    return modified<float(std::uint16_t)>(in, [](std::uint16_t a) { return num::canonical(num::from_bf16(a)); });
  return modified<float(std::uint16_t)>(in, [](std::uint16_t a) { return num::from_bf16(a); });
}
Handler cvt_f32_f16(Decoding& in) { return narrow_one(in, false); }
Handler cvt_f32_bf16(Decoding& in) { return narrow_one(in, true); }
// Here .ftz stands for the f32: a subnormal counts as zero.
Handler cvt_f32_bf16_ftz(Decoding& in) {
  const Handler handler = narrow_one(in, true);
  in.step.imm |= 64;
  return handler;
}
Handler cvt_f32_half2(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.read("a", Type::f32);
  in.step.x[2] = in.read("b", Type::f32);
  const bool bf16 = in.chosen("dtype") == "bf16x2";
  if (is_plain(in))
    return bf16                     ? Compiled<NearestTwo<true>>::handler()
           : host_converts_halves() ? &narrow_two_by_host
                                    : Compiled<NearestTwo<false>>::handler();
  in.step.imm = pack({{in.rounding("frnd"), in.wrote("relu"), in.wrote("satfinite")}, bf16, false});
  return Compiled<NarrowTwo>::handler();
}

}  // namespace op
}  // namespace ptx::vgpu
