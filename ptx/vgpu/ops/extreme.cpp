// Minima and maxima besides the plain ones of f32, signs and classes (rows: ptx/isa/table/floating.hpp).
#include "ptx/isa/isa.hpp"
#include "ptx/num/num.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::uint64_t sign64 = std::uint64_t{1} << 63, quiet64 = std::uint64_t{1} << 51, infinity64 = 0x7FF0'0000'0000'0000;

constexpr bool is_nan64(std::uint64_t bits) { return (bits & ~sign64) > infinity64; }

// imm: 1 the larger, 2 .NaN, 4 .xorsign, 8 .abs, 16 .ftz. Without c the third operand is the second once more.
struct ExtremeOfF32 {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const num::ExtremeWays ways{(step.imm & 1) != 0, (step.imm & 2) != 0, (step.imm & 4) != 0, (step.imm & 8) != 0, false};
    const bool ftz = (step.imm & 16) != 0, three = (step.imm & 32) != 0;
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    const auto* c = warp.slot<std::uint32_t>(step.x[3]);
    const auto operand = [=](std::uint32_t bits) { return ftz ? num::bits_of(num::flush(std::bit_cast<float>(bits))) : bits; };
    const auto of = [=](std::uint32_t x, std::uint32_t y) {
      return num::extreme<std::uint32_t>(x, y, 0x80000000, 0x7F800000, num::nan32, ways);
    };
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) {
      const std::uint32_t two = of(operand(a[l]), operand(b[l]));
      return three ? of(two, operand(c[l])) : two;
    });
    return Outcome::next;
  }
};
Handler extreme_f32(Decoding& in, bool larger) {
  const bool three = in.given("c");
  in.step.x[0] = in.write("d", Type::f32);
  in.step.x[1] = in.read("a", Type::f32);
  in.step.x[2] = in.read("b", Type::f32);
  in.step.x[3] = three ? in.read("c", Type::f32) : in.step.x[2];
  in.step.imm = (larger ? 1 : 0) | (in.wrote("NaN") ? 2 : 0) | (in.wrote("xorsign") ? 4 : 0) | (in.wrote("abs") ? 8 : 0) |
                (in.wrote("ftz") ? 16 : 0) | (three ? 32 : 0);
  return Compiled<ExtremeOfF32>::handler();
}

template <bool larger>
constexpr auto extreme64 = [](std::uint64_t a, std::uint64_t b) {
  return num::extreme<std::uint64_t>(a, b, sign64, infinity64, b | quiet64, {.larger = larger});
};

// Classes of numbers, one bit each.
enum Class : unsigned { normal = 1, subnormal = 2, infinite = 4, not_a_number = 8 };
template <class Bits>
struct TestClass {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
    constexpr Bits infinity = sizeof(Bits) == 8 ? static_cast<Bits>(infinity64) : Bits{0x7F800000};
    constexpr Bits least = sizeof(Bits) == 8 ? static_cast<Bits>(std::uint64_t{1} << 52) : Bits{0x00800000};
    const auto* a = warp.slot<Bits>(step.x[1]);
    const auto asked = static_cast<unsigned>(step.imm);
    const Mask holds = lanes_where([=](int l) {
      const Bits magnitude = a[l] & (sign - 1);
      const unsigned is = magnitude > infinity                   ? not_a_number
                          : magnitude == infinity                ? infinite
                          : magnitude == 0 || magnitude >= least ? normal
                                                                 : subnormal;
      return (asked & is) != 0;
    });
    Mask& p = warp.pred(step.x[0]);
    p = (p & ~mask) | (holds & mask);
    return Outcome::next;
  }
};

}  // namespace

namespace op {

Handler min_more_f32(Decoding& in) { return extreme_f32(in, false); }
Handler max_more_f32(Decoding& in) { return extreme_f32(in, true); }
Handler min_f64(Decoding& in) { return map<std::uint64_t(std::uint64_t, std::uint64_t)>(in, {"d", "a", "b"}, extreme64<false>); }
Handler max_f64(Decoding& in) { return map<std::uint64_t(std::uint64_t, std::uint64_t)>(in, {"d", "a", "b"}, extreme64<true>); }

// A NaN is handed on, made quiet, with the sign that it had (facts.md: H200).
Handler abs_f64(Decoding& in) {
  return map<std::uint64_t(std::uint64_t)>(in, {"d", "a"},
                                           [](std::uint64_t a) { return is_nan64(a) ? a | quiet64 : a & ~sign64; });
}
Handler neg_f64(Decoding& in) {
  return map<std::uint64_t(std::uint64_t)>(in, {"d", "a"},
                                           [](std::uint64_t a) { return is_nan64(a) ? a | quiet64 : a ^ sign64; });
}

Handler copysign(Decoding& in) {
  if (in.type("type") == Type::f64)
    return map<std::uint64_t(std::uint64_t, std::uint64_t)>(
        in, {"d", "a", "b"}, [](std::uint64_t a, std::uint64_t b) { return (a & sign64) | (b & ~sign64); });
  return map<std::uint32_t(std::uint32_t, std::uint32_t)>(
      in, {"d", "a", "b"}, [](std::uint32_t a, std::uint32_t b) { return (a & 0x80000000) | (b & 0x7FFFFFFF); });
}

Handler testp(Decoding& in) {
  const std::string_view test = in.chosen("op");
  unsigned asked = normal | subnormal;  // finite
  if (test == "infinite") asked = infinite;
  if (test == "number") asked = normal | subnormal | infinite;
  if (test == "notanumber") asked = not_a_number;
  if (test == "normal") asked = normal;
  if (test == "subnormal") asked = subnormal;
  in.step.imm = asked;
  in.step.x[0] = in.write_pred("p");
  in.step.x[1] = in.read("a", in.type("type"));
  return in.type("type") == Type::f64 ? Compiled<TestClass<std::uint64_t>>::handler()
                                      : Compiled<TestClass<std::uint32_t>>::handler();
}

Handler rcp_approx_f64(Decoding& in) {
  return map<std::uint64_t(std::uint64_t)>(in, {"d", "a"}, [](std::uint64_t a) { return num::coarse_reciprocal(a); });
}
Handler rsqrt_approx_ftz_f64(Decoding& in) {
  return map<std::uint64_t(std::uint64_t)>(in, {"d", "a"}, [](std::uint64_t a) { return num::coarse_reciprocal_root(a); });
}

}  // namespace op
}  // namespace ptx::vgpu
