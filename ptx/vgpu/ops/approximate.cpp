// Approximations of functions of f32, with a GPU's bits (num/approx.hpp; rows: ptx/isa/table/floating.hpp).
#include <cmath>

#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

// The function itself, and how far from it the manual lets a result be.
struct Ideal {
  double (*of)(double a, double b);
  double relative = 0, absolute = 0;
};
constexpr double ulp = 0x1p-23;
enum Function : std::uint8_t { rcp, rsqrt, sqrt, ex2, lg2, sine, cosine, tanh, quotient };
constexpr Ideal ideals[] = {
    {[](double a, double) { return 1 / a; }, ulp},
    {[](double a, double) { return 1 / std::sqrt(a); }, 0x1.12p-23},  // 2^-22.9
    {[](double a, double) { return std::sqrt(a); }, ulp},
    {[](double a, double) { return std::exp2(a); }, 2 * ulp},
    {[](double a, double) { return std::log2(a); }, 0, 0x1p-22},
    {[](double a, double) { return std::sin(a); }, 0, 0x1.6ap-21},  // 2^-20.5
    {[](double a, double) { return std::cos(a); }, 0, 0x1.6ap-21},
    {[](double a, double) { return std::tanh(a); }, 0x1p-11},
    {[](double a, double b) { return a / b; }, 2 * ulp},
};

// A number in [-1, 1) that seems random: the same for the same seed, function and operands.
double some_error(std::uint64_t seed, std::int64_t function, std::uint32_t a, std::uint32_t b) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(function);
  for (const std::uint32_t word : {a, b}) {
    x = (x ^ word) * 0xBF58476D1CE4E5B9;
    x ^= x >> 29;
  }
  return static_cast<double>(x >> 11) * 0x1p-52 - 1;
}

// imm: the function, and 256 for .ftz
constexpr std::int64_t is_ftz = 256;
[[gnu::noinline]] Outcome idealised(Warp& warp, const Step& step, Mask mask) {
  const Options& options = warp.cta->launch->options;
  const Ideal& ideal = ideals[step.imm & 255];
  const bool ftz = (step.imm & is_ftz) != 0;
  auto* d = warp.slot<std::uint32_t>(step.x[0]);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int l = lowest_lane(left);
    const auto operand = [&](std::size_t i) {
      const auto x = from_slot<float>(warp.slot<std::uint32_t>(step.x[i])[l]);
      return ftz ? num::flush(x) : x;
    };
    const float a = operand(1), b = operand(2);
    double value = ideal.of(static_cast<double>(a), static_cast<double>(b));
    if (options.approximations == Approximations::perturbed && std::isfinite(value) && value != 0)
      value += some_error(options.seed, step.imm & 255, num::bits_of(a), num::bits_of(b)) *
               (ideal.relative * std::fabs(value) + ideal.absolute);
    const float r = num::canonical(static_cast<float>(value));
    d[l] = to_slot<float>(ftz ? num::flush(r) : r);
  }
  return Outcome::next;
}

// The instruction, of all lanes: what stands in the registers of those that do not run is harmless, and their results are
// dropped.
template <class Instruction, class... A>
struct Approximation {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    if (warp.cta->launch->options.approximations != Approximations::hardware) return idealised(warp, step, mask);
    return apply(warp, step, mask, std::index_sequence_for<A...>{});
  }
  template <std::size_t... I>
  [[gnu::always_inline]] static Outcome apply(Warp& warp, const Step& step, Mask mask, std::index_sequence<I...>) {
    float operands[sizeof...(A)][lane_count];
    for (std::size_t i = 0; i < sizeof...(A); ++i) {
      const auto* slot = warp.slot<std::uint32_t>(step.x[i + 1]);
      for (int l = 0; l < lane_count; ++l) operands[i][l] = from_slot<float>(slot[l]);
    }
    float result[lane_count];
    num::approximate_all<Instruction>(result, operands[I]...);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) { return to_slot<float>(result[l]); });
    return Outcome::next;
  }
};

// The same with vectors of sixteen where all arguments are ordinary.
template <class Instruction, class... A>
Outcome by_sixteens(Warp& warp, const Step& step, Mask mask) {
  const auto slot = [&](std::size_t i) { return warp.slot<std::uint32_t>(step.x[i]); };
  if (warp.cta->launch->options.approximations == Approximations::hardware) {
    if constexpr (sizeof...(A) == 1) {
      if (num::approximate_ordinary<typename Instruction::Unit>(mask, slot(1), slot(0))) return Outcome::next;
    } else {
      if (num::divide_ordinary<Instruction::flushes>(mask, slot(1), slot(2), slot(0))) return Outcome::next;
    }
  }
  return Compiled<Approximation<Instruction, A...>>::widest(warp, step, mask);
}
template <class Instruction, class... A>
Handler approximation() {
  if constexpr (num::has_ordinary<typename Instruction::Unit>)
    if (host_has_avx2() && num::host_has_sixteens()) return &by_sixteens<Instruction, A...>;
  return Compiled<Approximation<Instruction, A...>>::handler();
}

template <class Instruction>
Handler unary(Decoding& in, Function function) {
  bind(in, {"d", "a"}, static_cast<float (*)(float)>(nullptr));
  in.step.x[2] = zero_offset;
  in.is_approximation = true;
  in.step.imm = function | (in.wrote("ftz") ? is_ftz : 0);
  return approximation<Instruction, float>();
}
template <class Instruction, class Ftz>
Handler unary(Decoding& in, Function function) {
  return in.wrote("ftz") ? unary<Ftz>(in, function) : unary<Instruction>(in, function);
}
template <bool full>
Handler divide(Decoding& in) {
  bind(in, {"d", "a", "b"}, static_cast<float (*)(float, float)>(nullptr));
  in.is_approximation = true;
  in.step.imm = quotient | (in.wrote("ftz") ? is_ftz : 0);
  return in.wrote("ftz") ? approximation<num::DivFtz<full>, float, float>() : approximation<num::Div<full>, float, float>();
}

}  // namespace

namespace op {

Handler div_approx_f32(Decoding& in) { return divide<false>(in); }
Handler div_full_f32(Decoding& in) { return divide<true>(in); }
Handler rcp_approx_f32(Decoding& in) { return unary<num::Rcp, num::RcpFtz>(in, rcp); }
Handler sqrt_approx_f32(Decoding& in) { return unary<num::Sqrt, num::SqrtFtz>(in, sqrt); }
Handler rsqrt_approx_f32(Decoding& in) { return unary<num::Rsqrt, num::RsqrtFtz>(in, rsqrt); }
Handler lg2_approx_f32(Decoding& in) { return unary<num::Lg2, num::Lg2Ftz>(in, lg2); }
Handler ex2_approx_f32(Decoding& in) { return unary<num::Ex2, num::Ex2Ftz>(in, ex2); }
// Without .ftz the same: what a subnormal would make is cut to zero.
Handler sin_approx_f32(Decoding& in) { return unary<num::Sin>(in, sine); }
Handler cos_approx_f32(Decoding& in) { return unary<num::Cos>(in, cosine); }
Handler tanh_approx_f32(Decoding& in) { return unary<num::Tanh>(in, tanh); }

}  // namespace op
}  // namespace ptx::vgpu
