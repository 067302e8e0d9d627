// Conversions from and to f16, bf16 and f64 besides those of f32 (rows: ptx/isa/table/convert.hpp): every value goes through an
// f64, which holds all of them exactly, or cut with its last bit made odd, and is rounded from there once.
#include <cmath>

#include "ptx/isa/isa.hpp"
#include "ptx/num/num.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

using num::Rounding;

double from_half(std::uint32_t slot, bool bf16) { return num::widened(static_cast<std::uint16_t>(slot), bf16); }

// What happens to a value on its way. imm: 0 to 1 the rounding into the format, 2 .sat, 3 to a whole number, 4 to 5 its rounding,
// 6 to 8 the kind of the source, 9 to 11 that of the result.
enum class Number : std::uint8_t { f16, bf16, f32, f64 };
Number number_of(Type type) {
  return type == Type::f16 ? Number::f16 : type == Type::bf16 ? Number::bf16 : type == Type::f32 ? Number::f32 : Number::f64;
}
Type register_of(Number number) { return number == Number::f64 ? Type::f64 : number == Number::f32 ? Type::f32 : Type::b16; }
struct Ways {
  Rounding rounding = Rounding::rn, whole_rounding = Rounding::rn;
  bool sat = false, whole = false;
};
Ways ways_of(std::int64_t imm) {
  return {static_cast<Rounding>(imm & 3), static_cast<Rounding>(imm >> 4 & 3), (imm & 4) != 0, (imm & 8) != 0};
}
double prepared(double x, const Ways& ways) {
  if (ways.whole) x = num::to_whole(x, ways.whole_rounding);
  return ways.sat ? num::saturate(x) : x;
}
// `payloads`: a NaN keeps its sign and what fits of its payload, as an f64's does.
void write_double(Warp& warp, const Step& step, Mask mask, const double (&value)[lane_count], Number to, const Ways& ways,
                  bool payloads = false) {
  if (to == Number::f64) {
    write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask, [&](int l) { return num::bits_of(value[l]); });
    return;
  }
  const num::Format& format = to == Number::bf16 ? num::bf16_format : num::f16_format;
  write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) {
    const bool keeps = payloads && value[l] != value[l];
    return keeps ? num::narrowed_nan(value[l], format) : num::narrowed(value[l], format, {.mode = ways.rounding});
  });
}
void read_doubles(Warp& warp, std::uint32_t offset, Number from, double (&value)[lane_count]) {
  for (int l = 0; l < lane_count; ++l) {
    if (from == Number::f64)
      value[l] = std::bit_cast<double>(warp.slot<std::uint64_t>(offset)[l]);
    else if (from == Number::f32)
      value[l] = static_cast<double>(std::bit_cast<float>(warp.slot<std::uint32_t>(offset)[l]));
    else
      value[l] = from_half(warp.slot<std::uint32_t>(offset)[l], from == Number::bf16);
  }
}
constexpr double made_quiet(double x) { return x != x ? std::bit_cast<double>(num::bits_of(x) | std::uint64_t{1} << 51) : x; }

struct FloatToFloat {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const Ways ways = ways_of(step.imm);
    double value[lane_count];
    read_doubles(warp, step.x[1], static_cast<Number>(step.imm >> 6 & 7), value);
    if (ways.whole || ways.sat)
      for (double& x : value) x = made_quiet(prepared(x, ways));
    write_double(warp, step, mask, value, static_cast<Number>(step.imm >> 9 & 7), ways,
                 static_cast<Number>(step.imm >> 6 & 7) == Number::f64);
    return Outcome::next;
  }
};
std::int64_t written_ways(Decoding& in) {
  return static_cast<std::int64_t>(in.rounding("frnd")) | (in.wrote("sat") ? 4 : 0) | (in.has("irnd") ? 8 : 0) |
         static_cast<std::int64_t>(in.rounding("irnd")) << 4;
}
Handler float_to_float(Decoding& in, Type to, Type from) {
  const Number d = number_of(to), a = number_of(from);
  in.step.x[0] = in.write("d", register_of(d));
  in.step.x[1] = in.read("a", register_of(a));
  in.step.imm = written_ways(in) | static_cast<std::int64_t>(a) << 6 | static_cast<std::int64_t>(d) << 9;
  return Compiled<FloatToFloat>::handler();
}

// To integers by way of f32, whose rules for NaN they share.
template <class D>
struct HalfToInteger {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const Ways ways = ways_of(step.imm);
    const bool bf16 = (step.imm >> 6 & 1) != 0;
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    float whole[lane_count];
    for (int l = 0; l < lane_count; ++l) whole[l] = static_cast<float>(num::to_whole(from_half(a[l], bf16), ways.whole_rounding));
    write_lanes(warp.slot<SlotOf<D>>(step.x[0]), mask, [&](int l) { return to_slot<D>(num::to_integer<D>(whole[l])); });
    return Outcome::next;
  }
};
Handler half_to_integer(Decoding& in, bool bf16) {
  return by_integer(in.type("dtype"), [&]<class D>(D) {
    in.step.x[0] = in.write("d", type_of<D>());
    in.step.x[1] = in.read("a", Type::b16);
    in.step.imm = written_ways(in) | (bf16 ? 64 : 0);
    return Compiled<HalfToInteger<D>>::handler();
  });
}
template <class A>
struct IntegerToHalf {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const Ways ways = ways_of(step.imm);
    const auto* a = warp.slot<SlotOf<A>>(step.x[1]);
    double value[lane_count];
    for (int l = 0; l < lane_count; ++l) value[l] = prepared(num::odd_from_integer(from_slot<A>(a[l])), ways);
    write_double(warp, step, mask, value, (step.imm >> 6 & 1) != 0 ? Number::bf16 : Number::f16, ways);
    return Outcome::next;
  }
};
Handler integer_to_half(Decoding& in, bool bf16) {
  return by_integer(in.type("atype"), [&]<class A>(A) {
    in.step.x[0] = in.write("d", Type::b16);
    in.step.x[1] = in.read("a", type_of<A>());
    in.step.imm = written_ways(in) | (bf16 ? 64 : 0);
    return Compiled<IntegerToHalf<A>>::handler();
  });
}

}  // namespace

namespace op {

Handler cvt_f16_int(Decoding& in) { return half_to_integer(in, false); }
Handler cvt_bf16_int(Decoding& in) { return half_to_integer(in, true); }
Handler cvt_int_f16(Decoding& in) { return integer_to_half(in, false); }
Handler cvt_int_bf16(Decoding& in) { return integer_to_half(in, true); }
Handler cvt_f16_f16(Decoding& in) { return float_to_float(in, Type::f16, Type::f16); }
Handler cvt_bf16_bf16(Decoding& in) { return float_to_float(in, Type::bf16, Type::bf16); }
Handler cvt_f64_f64(Decoding& in) { return float_to_float(in, Type::f64, Type::f64); }
Handler cvt_f16_f64(Decoding& in) { return float_to_float(in, Type::f64, Type::f16); }
Handler cvt_bf16_f64(Decoding& in) { return float_to_float(in, Type::f64, Type::bf16); }
Handler cvt_f64_f16(Decoding& in) { return float_to_float(in, Type::f16, Type::f64); }
Handler cvt_f64_bf16(Decoding& in) { return float_to_float(in, Type::bf16, Type::f64); }
Handler cvt_f16_bf16(Decoding& in) { return float_to_float(in, Type::bf16, Type::f16); }
Handler cvt_bf16_f16(Decoding& in) { return float_to_float(in, Type::f16, Type::bf16); }

}  // namespace op
}  // namespace ptx::vgpu
