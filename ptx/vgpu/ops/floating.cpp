// Floating-point arithmetic (rows: ptx/isa/table/floating.hpp). Exact operations round once in the mode asked for.
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

using num::canonical;
using num::flush;
using num::Rounding;
using num::saturate;

// f with the modifiers around it: subnormal operands and results flushed, NaN made canonical, the result clamped.
template <bool ftz, bool sat, class F>
struct Modified {
  template <class... A>
  [[gnu::always_inline]] float operator()(A... a) const {
    float r;
    if constexpr (ftz)
      r = flush(canonical(F{}(flush(a)...)));
    else
      r = canonical(F{}(a...));
    return sat ? saturate(r) : r;
  }
};

// Whether a result that is the smallest normal number is to be flushed: Exact computes it in double precision, which for the
// product, the sum and the quotient of f32 operands, cut towards zero or rounded away from it, has enough bits to tell.
template <class Exact, class... A>
[[gnu::noinline]] bool flushes_at_edge(Rounding mode, A... a) {
  const num::RoundingScope scope(mode == Rounding::rn ? Rounding::rz : mode);
  const volatile double operands[] = {static_cast<double>(a)...};
  const volatile double r = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Exact{}(operands[I]...);
  }(std::index_sequence_for<A...>{});
  return num::flushes_at_edge(r, mode);
}

template <class Signature, class F, class Exact, bool sat>
struct Flushing;
template <class... A, class F, class Exact, bool sat>
struct Flushing<float(A...), F, Exact, sat> {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    return apply(warp, step, mask, std::index_sequence_for<A...>{});
  }
  template <std::size_t... I>
  [[gnu::always_inline]] static Outcome apply(Warp& warp, const Step& step, Mask mask, std::index_sequence<I...>) {
    const std::tuple<const SlotOf<A>*...> from{warp.slot<SlotOf<A>>(step.x[I + 1])...};
    const auto operand = [=](auto* slot, std::size_t l) { return flush(from_slot<float>(slot[l])); };
    const auto mode = static_cast<Rounding>(step.imm);
    alignas(64) std::array<float, lane_count> result;
    std::uint32_t at_edge = 0;
    for (std::size_t l = 0; l < lane_count; ++l) {
      result[l] = canonical(F{}(operand(std::get<I>(from), l)...));
      at_edge |= (num::bits_of(result[l]) & 0x7FFFFFFFu) == 0x00800000u ? 1 : 0;
    }
    if (at_edge != 0)
      for (std::size_t l = 0; l < lane_count; ++l)
        if (__builtin_fabsf(result[l]) == 0x1p-126f && flushes_at_edge<Exact>(mode, operand(std::get<I>(from), l)...))
          result[l] = __builtin_copysignf(0.0f, result[l]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) {
      const float r = flush(result[static_cast<std::size_t>(l)]);
      return to_slot<float>(sat ? saturate(r) : r);
    });
    return Outcome::next;
  }
};
template <class Body>
struct Directed {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const num::RoundingScope scope(static_cast<Rounding>(step.imm));
    return Body::run(warp, step, mask);
  }
};

#if defined(__x86_64__)
// The same by the host's own flushing, which treats results at the edge as PTX does. On hosts without fused multiply-adds, which
// then are calls of the C library, it is not to be relied on.
template <class Signature, class F, bool sat>
struct FlushingHost {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const num::RoundingScope scope(static_cast<Rounding>(step.imm), true);
    return Map<Signature, Modified<false, sat, F>>::run(warp, step, mask);
  }
};
#endif

// For results that cannot round up to the smallest normal number: sums and differences are exact down there.
struct NeverAtEdge {};

template <class Signature, class F, class Exact = NeverAtEdge>
Handler f32(Decoding& in, std::initializer_list<std::string_view> names, F, Exact = {}) {
  const Rounding rounding = in.rounding("rnd");
  const bool ftz = in.wrote("ftz"), sat = in.wrote("sat");
  if constexpr (!std::is_same_v<Exact, NeverAtEdge>) {
    if (ftz) {
      bind(in, names, static_cast<Signature*>(nullptr));
      in.step.imm = static_cast<std::int64_t>(rounding);
#if defined(__x86_64__)
      if (host_has_avx2())
        return sat ? &Compiled<FlushingHost<Signature, F, true>>::widest : &Compiled<FlushingHost<Signature, F, false>>::widest;
#endif
      const auto make = [&]<class Body>(Body) {
        return rounding == Rounding::rn ? Compiled<Body>::seldom() : Compiled<Directed<Body>>::seldom();
      };
      return sat ? make(Flushing<Signature, F, Exact, true>{}) : make(Flushing<Signature, F, Exact, false>{});
    }
  }
  const auto make = [&]<class M>(M modified) {
    return rounding == Rounding::rn ? map<Signature>(in, names, modified)
                                    : map_directed<Signature>(in, names, rounding, modified);
  };
  if (ftz) return sat ? make(Modified<true, true, F>{}) : make(Modified<true, false, F>{});
  return sat ? make(Modified<false, true, F>{}) : make(Modified<false, false, F>{});
}
template <class F, class Exact = NeverAtEdge>
Handler f32_unary(Decoding& in, F f, Exact exact = {}) {
  return f32<float(float)>(in, {"d", "a"}, f, exact);
}
template <class F, class Exact = NeverAtEdge>
Handler f32_binary(Decoding& in, F f, Exact exact = {}) {
  return f32<float(float, float)>(in, {"d", "a", "b"}, f, exact);
}
constexpr auto exact_product = [](double a, double b) { return a * b; };
constexpr auto exact_quotient = [](double a, double b) { return a / b; };
constexpr auto exact_reciprocal = [](double a) { return 1.0 / a; };

// f64: a NaN operand is handed on, made quiet: b before c before a, by a division a before b. An invalid operation makes the
// canonical NaN (facts.md: H200).
template <class F, bool a_first = false>
struct WithNan64 {
  [[gnu::always_inline]] double operator()(double a) const { return finish(F{}(a), a, a, a); }
  [[gnu::always_inline]] double operator()(double a, double b) const { return finish(F{}(a, b), a, b, b); }
  [[gnu::always_inline]] double operator()(double a, double b, double c) const { return finish(F{}(a, b, c), a, b, c); }
  [[gnu::always_inline]] static double finish(double r, double a, double b, double c) {
    constexpr std::uint64_t quiet = std::uint64_t{1} << 51;
    std::uint64_t nan = a != a ? num::bits_of(a) | quiet : num::nan64;
    nan = c != c ? num::bits_of(c) | quiet : nan;
    nan = b != b ? num::bits_of(b) | quiet : nan;
    if (a_first) nan = a != a ? num::bits_of(a) | quiet : nan;
    return r == r ? r : std::bit_cast<double>(nan);
  }
};
template <class Signature, bool a_first = false, class F>
Handler f64(Decoding& in, std::initializer_list<std::string_view> names, F) {
  const Rounding rounding = in.rounding("rnd");
  return rounding == Rounding::rn ? map<Signature>(in, names, WithNan64<F, a_first>{})
                                  : map_directed<Signature>(in, names, rounding, WithNan64<F, a_first>{});
}

// The smaller or larger of two: -0 is below +0, and a NaN loses, or with .NaN wins.
template <bool larger, bool nan_wins>
struct Extreme {
  [[gnu::always_inline]] float operator()(float a, float b) const {
    const std::uint32_t zero = larger ? num::bits_of(a) & num::bits_of(b) : num::bits_of(a) | num::bits_of(b);
    float r = (larger ? a > b : a < b) ? a : b;
    r = a == b ? std::bit_cast<float>(zero) : r;  // equal bits, or zeros of either sign
    if constexpr (nan_wins) return a != a ? a : b != b ? b : r;
    return a != a ? b : b != b ? a : r;
  }
};
template <bool larger>
Handler extreme(Decoding& in) {
  return in.wrote("NaN") ? f32_binary(in, Extreme<larger, true>{}) : f32_binary(in, Extreme<larger, false>{});
}

}  // namespace

namespace op {

Handler add_f32(Decoding& in) {
  return f32_binary(in, [](float a, float b) { return a + b; });
}
Handler sub_f32(Decoding& in) {
  return f32_binary(in, [](float a, float b) { return a - b; });
}
Handler mul_f32(Decoding& in) {
  return f32_binary(in, [](float a, float b) { return a * b; }, exact_product);
}
Handler fma_f32(Decoding& in) {
  return f32<float(float, float, float)>(
      in, {"d", "a", "b", "c"}, [](float a, float b, float c) { return __builtin_fmaf(a, b, c); },
      [](double a, double b, double c) { return __builtin_fma(a, b, c); });
}
Handler div_f32(Decoding& in) {
  return f32_binary(in, [](float a, float b) { return a / b; }, exact_quotient);
}
Handler rcp_f32(Decoding& in) {
  return f32_unary(in, [](float a) { return 1.0f / a; }, exact_reciprocal);
}
Handler sqrt_f32(Decoding& in) {
  return f32_unary(in, [](float a) { return __builtin_sqrtf(a); });
}

Handler add_f64(Decoding& in) {
  return f64<double(double, double)>(in, {"d", "a", "b"}, [](double a, double b) { return a + b; });
}
Handler sub_f64(Decoding& in) {
  return f64<double(double, double)>(in, {"d", "a", "b"}, [](double a, double b) { return a - b; });
}
Handler mul_f64(Decoding& in) {
  return f64<double(double, double)>(in, {"d", "a", "b"}, [](double a, double b) { return a * b; });
}
Handler fma_f64(Decoding& in) {
  return f64<double(double, double, double)>(in, {"d", "a", "b", "c"},
                                             [](double a, double b, double c) { return __builtin_fma(a, b, c); });
}

Handler div_f64(Decoding& in) {
  return f64<double(double, double), true>(in, {"d", "a", "b"}, [](double a, double b) { return a / b; });
}
Handler rcp_f64(Decoding& in) {
  return f64<double(double)>(in, {"d", "a"}, [](double a) { return 1.0 / a; });
}
Handler sqrt_f64(Decoding& in) {
  return f64<double(double)>(in, {"d", "a"}, [](double a) { return __builtin_sqrt(a); });
}
Handler rsqrt_approx_f64(Decoding& in) {
  return map<double(double)>(in, {"d", "a"}, [](double a) { return num::rsqrt_f64(a); });
}

Handler min_f32(Decoding& in) { return extreme<false>(in); }
Handler max_f32(Decoding& in) { return extreme<true>(in); }
// Without .ftz the sign bit alone changes, also of a NaN.
// Of a NaN both make the canonical one, as an H200 does: there they are additions of zero.
Handler abs_f32(Decoding& in) {
  if (in.wrote("ftz")) return f32_unary(in, [](float a) { return __builtin_fabsf(a); });
  return map<float(float)>(in, {"d", "a"}, [](float a) { return canonical(__builtin_fabsf(a)); });
}
Handler neg_f32(Decoding& in) {
  if (in.wrote("ftz")) return f32_unary(in, [](float a) { return -a; });
  return map<float(float)>(in, {"d", "a"}, [](float a) { return canonical(-a); });
}

}  // namespace op
}  // namespace ptx::vgpu
