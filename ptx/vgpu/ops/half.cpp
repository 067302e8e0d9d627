// Arithmetic of halves and their pairs, of pairs of f32, and in mixed precision (rows: ptx/isa/table/half.hpp).
#include "ptx/isa/isa.hpp"
#include "ptx/num/num.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

using num::Rounding;

bool is_pair(Type type) { return isa::bits(type) == 32; }
bool is_bf16(Type type) { return type == Type::bf16 || type == Type::bf16x2; }
Type register_of(Type type) { return is_pair(type) ? Type::b32 : Type::b16; }

// f of each half of the operands.
template <bool pair, class F>
[[gnu::always_inline]] inline std::uint32_t each_half(F f, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  if constexpr (pair) return f(a >> 16, b >> 16, c >> 16) << 16 | f(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF);
  return f(a, b, c);
}

// imm: the ways. x: d, a, b, c.
template <bool pair, bool bf16>
struct FmaOfHalves {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const num::HalfWays ways{bf16, (step.imm & 1) != 0, (step.imm & 2) != 0, (step.imm & 4) != 0, (step.imm & 8) != 0};
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    const auto* c = warp.slot<std::uint32_t>(step.x[3]);
    const auto one = [=](std::uint32_t x, std::uint32_t y, std::uint32_t z) { return num::half_fma(x, y, z, ways); };
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) { return each_half<pair>(one, a[l], b[l], c[l]); });
    return Outcome::next;
  }
};
Handler fma_of_halves(Decoding& in, Type type) {
  in.step.x[0] = in.write("d", register_of(type));
  in.step.imm = (in.wrote("ftz") ? 1 : 0) | (in.wrote("sat") ? 2 : 0) | (in.wrote("relu") ? 4 : 0) | (in.wrote("oob") ? 8 : 0);
  if (is_pair(type))
    return is_bf16(type) ? Compiled<FmaOfHalves<true, true>>::handler() : Compiled<FmaOfHalves<true, false>>::handler();
  return is_bf16(type) ? Compiled<FmaOfHalves<false, true>>::handler() : Compiled<FmaOfHalves<false, false>>::handler();
}
std::uint32_t ones(Type type) { return is_bf16(type) ? 0x3F803F80u : 0x3C003C00u; }
constexpr std::uint32_t signs = 0x80008000u;

// What depends on one or two halves and some flags in imm.
template <class F>
struct OnHalves {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const bool pair = (step.imm & 1) != 0;
    const std::int64_t flags = step.imm;
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    const auto one = [=](std::uint32_t x, std::uint32_t y, std::uint32_t) { return F{}(x, y, flags); };
    auto* d = warp.slot<std::uint32_t>(step.x[0]);
    if (pair)
      write_lanes(d, mask, [=](int l) { return each_half<true>(one, a[l], b[l], 0); });
    else
      write_lanes(d, mask, [=](int l) { return each_half<false>(one, a[l] & 0xFFFF, b[l] & 0xFFFF, 0); });
    return Outcome::next;
  }
};
template <class F>
Handler on_halves(Decoding& in, std::int64_t flags, F) {
  const Type type = in.type("type");
  in.step.x[0] = in.write("d", register_of(type));
  in.step.x[1] = in.read("a", register_of(type));
  in.step.x[2] = in.given("b") ? in.read("b", register_of(type)) : in.step.x[1];
  in.step.imm = (is_pair(type) ? 1 : 0) | (is_bf16(type) ? 2 : 0) | (in.wrote("ftz") ? 4 : 0) | flags;
  return Compiled<OnHalves<F>>::handler();
}
// The NaN that both make is the canonical one; abs and neg are arithmetic (facts.md: H200).
template <bool negates>
constexpr auto change_of_sign = [](std::uint32_t a, std::uint32_t, std::int64_t flags) {
  const bool bf16 = (flags & 2) != 0;
  if ((flags & 4) != 0) a = num::flushed_half(a, bf16);
  const bool nan = (a & 0x7FFF) > (bf16 ? 0x7F80u : 0x7C00u);
  return nan ? num::nan16 : negates ? a ^ 0x8000 : a & 0x7FFF;
};
Handler extreme_of_halves(Decoding& in, bool larger) {
  const auto choose = [](std::uint32_t a, std::uint32_t b, std::int64_t flags) {
    const num::ExtremeWays ways{(flags & 8) != 0, (flags & 16) != 0, (flags & 32) != 0, false, (flags & 4) != 0};
    return num::half_extreme(a, b, (flags & 2) != 0, ways);
  };
  return on_halves(in, (larger ? 8 : 0) | (in.wrote("NaN") ? 16 : 0) | (in.wrote("xorsign") ? 32 : 0), choose);
}

// ---- a * b + c in f32 for pairs of f32 and for operands in halves. Rare: one handler, which asks what the operands are.

// Of an operand's lanes: where they are, and as what.
enum class Source : std::uint8_t { f32, f16, bf16, pair };
void fetch(Warp& warp, std::uint32_t offset, Source source, int half, bool ftz, float (&to)[lane_count]) {
  for (int l = 0; l < lane_count; ++l) {
    float x = 0;
    switch (source) {
      case Source::f32:
        x = std::bit_cast<float>(warp.slot<std::uint32_t>(offset)[l]);
        break;
      case Source::f16:
        x = num::from_f16(static_cast<std::uint16_t>(warp.slot<std::uint32_t>(offset)[l]));
        break;
      case Source::bf16:
        x = num::from_bf16(static_cast<std::uint16_t>(warp.slot<std::uint32_t>(offset)[l]));
        break;
      case Source::pair:
        x = std::bit_cast<float>(static_cast<std::uint32_t>(warp.slot<std::uint64_t>(offset)[l] >> (32 * half)));
        break;
    }
    to[l] = ftz ? num::flush(x) : x;
  }
}

// imm: rounding, 4 .ftz, 8 .sat, 16 for a pair, then the sources of a, b and c.
struct WideFma {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto mode = static_cast<Rounding>(step.imm & 3);
    const bool ftz = (step.imm & 4) != 0, sat = (step.imm & 8) != 0, pair = (step.imm & 16) != 0;
    alignas(64) float result[2][lane_count];
    for (int half = 0; half <= (pair ? 1 : 0); ++half) {
      alignas(64) float operand[3][lane_count];
      for (int i = 0; i < 3; ++i) {
        const auto source = static_cast<Source>(step.imm >> (8 + 8 * i) & 0xFF);
        fetch(warp, step.x[static_cast<std::size_t>(i) + 1], source, half, ftz, operand[i]);
      }
      {
        const num::RoundingScope scope(mode);
        for (int l = 0; l < lane_count; ++l) result[half][l] = __builtin_fmaf(operand[0][l], operand[1][l], operand[2][l]);
      }
      for (int l = 0; l < lane_count; ++l) {
        float& r = result[half][l];
        r = num::canonical(r);
        if (ftz && __builtin_fabsf(r) == 0x1p-126f) {
          // decided on the sum rounded to 24 bits as if there were smaller exponents: rounded here 2^100 times as large
          const num::Exact sum =
              num::sum(num::product(num::exact(operand[0][l]), num::exact(operand[1][l])), num::exact(operand[2][l]));
          const auto large = static_cast<std::uint32_t>(num::rounded(num::scaled(sum, 100), num::f32_format, {.rounding = mode}));
          if ((large & 0x7FFFFFFF) < num::bits_of(0x1p-26f)) r = __builtin_copysignf(0.0f, r);
        }
        if (ftz) r = num::flush(r);
        if (sat) r = num::saturate(r);
      }
    }
    if (pair)
      write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask,
                  [&](int l) { return std::uint64_t{num::bits_of(result[1][l])} << 32 | num::bits_of(result[0][l]); });
    else
      write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) { return num::bits_of(result[0][l]); });
    return Outcome::next;
  }
};
struct WideOperand {
  std::uint32_t offset = 0;
  Source source = Source::f32;
};
Handler wide_fma(Decoding& in, bool pair, const std::array<WideOperand, 3>& operands) {
  in.step.x[0] = in.write("d", pair ? Type::b64 : Type::f32);
  in.step.imm =
      static_cast<std::int64_t>(in.rounding("rnd")) | (in.wrote("ftz") ? 4 : 0) | (in.wrote("sat") ? 8 : 0) | (pair ? 16 : 0);
  for (std::size_t i = 0; i < 3; ++i) {
    in.step.x[i + 1] = operands[i].offset;
    in.step.imm |= static_cast<std::int64_t>(operands[i].source) << (8 + 8 * i);
  }
  return Compiled<WideFma>::handler();
}
WideOperand pair_operand(Decoding& in, std::string_view name) { return {in.read(name, Type::b64), Source::pair}; }
WideOperand mixed_operand(Decoding& in, std::string_view name, std::string_view slot) {
  const bool bf16 = in.type(slot) == Type::bf16;
  return {in.read(name, bf16 ? Type::b16 : Type::f16), bf16 ? Source::bf16 : Source::f16};
}
constexpr std::uint32_t one32 = 0x3F800000;
WideOperand constant(Decoding& in, std::uint32_t value) { return {in.constant(value), Source::f32}; }

}  // namespace

namespace op {

// a + b is a * 1 + b, a - b is b * -1 + a, a * b is a * b - 0: rounded once, zeros' signs and NaN included.
Handler add_half(Decoding& in) {
  const Type type = in.type("type");
  in.step.x[1] = in.read("a", register_of(type));
  in.step.x[2] = in.constant(ones(type));
  in.step.x[3] = in.read("b", register_of(type));
  return fma_of_halves(in, type);
}
Handler sub_half(Decoding& in) {
  const Type type = in.type("type");
  in.step.x[1] = in.read("b", register_of(type));
  in.step.x[2] = in.constant(ones(type) | signs);
  in.step.x[3] = in.read("a", register_of(type));
  return fma_of_halves(in, type);
}
Handler mul_half(Decoding& in) {
  const Type type = in.type("type");
  in.step.x[1] = in.read("a", register_of(type));
  in.step.x[2] = in.read("b", register_of(type));
  in.step.x[3] = in.constant(signs);
  return fma_of_halves(in, type);
}
Handler fma_half(Decoding& in) {
  const Type type = in.type("type");
  in.step.x[1] = in.read("a", register_of(type));
  in.step.x[2] = in.read("b", register_of(type));
  in.step.x[3] = in.read("c", register_of(type));
  return fma_of_halves(in, type);
}

Handler abs_half(Decoding& in) { return on_halves(in, 0, change_of_sign<false>); }
Handler neg_half(Decoding& in) { return on_halves(in, 0, change_of_sign<true>); }
Handler min_half(Decoding& in) { return extreme_of_halves(in, false); }
Handler max_half(Decoding& in) { return extreme_of_halves(in, true); }
Handler tanh_half(Decoding& in) {
  return on_halves(in, 0, [](std::uint32_t a, std::uint32_t, std::int64_t flags) { return num::tanh_half(a, (flags & 2) != 0); });
}
Handler ex2_half(Decoding& in) {
  return on_halves(in, 0, [](std::uint32_t a, std::uint32_t, std::int64_t flags) { return num::ex2_half(a, (flags & 2) != 0); });
}

Handler add_f32x2(Decoding& in) {
  return wide_fma(in, true, {pair_operand(in, "a"), constant(in, one32), pair_operand(in, "b")});
}
Handler sub_f32x2(Decoding& in) {
  return wide_fma(in, true, {pair_operand(in, "b"), constant(in, one32 | 0x80000000u), pair_operand(in, "a")});
}
// A product of zero keeps its sign when -0 is added, and rounding down when +0 is.
Handler mul_f32x2(Decoding& in) {
  const std::uint32_t zero = in.rounding("rnd") == Rounding::rm ? 0 : 0x80000000u;
  return wide_fma(in, true, {pair_operand(in, "a"), pair_operand(in, "b"), constant(in, zero)});
}
Handler fma_f32x2(Decoding& in) {
  return wide_fma(in, true, {pair_operand(in, "a"), pair_operand(in, "b"), pair_operand(in, "c")});
}
Handler add_mixed(Decoding& in) {
  return wide_fma(in, false, {mixed_operand(in, "a", "atype"), constant(in, one32), {in.read("c", Type::f32), Source::f32}});
}
Handler sub_mixed(Decoding& in) {
  return wide_fma(
      in, false,
      {WideOperand{in.read("c", Type::f32), Source::f32}, constant(in, one32 | 0x80000000u), mixed_operand(in, "a", "atype")});
}
Handler fma_mixed(Decoding& in) {
  return wide_fma(in, false,
                  {mixed_operand(in, "a", "abtype"), mixed_operand(in, "b", "abtype"), {in.read("c", Type::f32), Source::f32}});
}

}  // namespace op
}  // namespace ptx::vgpu
