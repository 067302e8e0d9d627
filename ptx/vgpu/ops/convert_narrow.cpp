// Conversions from and to the formats of tensor cores: tf32, fp8, fp6, fp4, scale factors, s2f6; by random bits; and cvt.pack
// (rows: ptx/isa/table/convert.hpp).
#include <algorithm>

#include "ptx/isa/isa.hpp"
#include "ptx/num/num.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

using num::Rounding;

// ---- the formats with fewer than 16 bits

enum class Small : std::uint8_t { e4m3, e5m2, e2m3, e3m2, e2m1 };
constexpr num::Format formats[] = {num::e4m3_format, num::e5m2_format, num::e2m3_format, num::e3m2_format, num::e2m1_format};
Small small_of(Type type) {
  switch (type) {
    case Type::e4m3x2:
    case Type::e4m3x4:
      return Small::e4m3;
    case Type::e5m2x2:
    case Type::e5m2x4:
      return Small::e5m2;
    case Type::e2m3x2:
    case Type::e2m3x4:
      return Small::e2m3;
    case Type::e3m2x2:
    case Type::e3m2x4:
      return Small::e3m2;
    default:
      return Small::e2m1;
  }
}
constexpr int stride_of(Small small) { return small == Small::e2m1 ? 4 : 8; }

// imm: 0 to 2 the format, 3 .relu, 4 to 5 the source: f32 in two registers, a pair of f16, a pair of bf16.
struct IntoSmall {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto small = static_cast<Small>(step.imm & 7);
    const num::Format format = formats[step.imm & 7];
    const num::Narrowing how{.mode = Rounding::rn, .relu = (step.imm & 8) != 0, .satfinite = true};
    const auto source = static_cast<int>(step.imm >> 4 & 3);
    const int stride = stride_of(small);
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) {
      const std::uint32_t high = source == 0 ? a[l] : a[l] >> 16, low = source == 0 ? b[l] : a[l] & 0xFFFF;
      const auto value = [=](std::uint32_t bits) {
        return source == 0   ? std::bit_cast<float>(bits)
               : source == 1 ? num::from_f16(static_cast<std::uint16_t>(bits))
                             : num::from_bf16(static_cast<std::uint16_t>(bits));
      };
      return num::narrowed(value(high), format, how) << stride | num::narrowed(value(low), format, how);
    });
    return Outcome::next;
  }
};
Handler into_small(Decoding& in, int source) {
  const Type to = in.type(in.has("dtype") ? "dtype" : "e2m1x2");
  in.step.x[0] = in.write("d", isa::register_type(to));
  in.step.x[1] = in.read("a", source == 0 ? Type::f32 : Type::b32);
  in.step.x[2] = source == 0 ? in.read("b", Type::f32) : in.step.x[1];
  in.step.imm = static_cast<std::int64_t>(small_of(to)) | (in.wrote("relu") ? 8 : 0) | source << 4;
  return Compiled<IntoSmall>::handler();
}

// Every pattern of a small format as f16, which holds them all.
struct Widened {
  std::array<std::array<std::uint16_t, 256>, std::size(formats)> f16{};
  Widened() {
    for (std::size_t i = 0; i < std::size(formats); ++i)
      for (std::uint32_t pattern = 0; pattern < 256; ++pattern) {
        const std::uint64_t used = pattern & (2 * formats[i].sign() - 1);
        f16[i][pattern] = static_cast<std::uint16_t>(num::rounded(num::exact(used, formats[i]), num::f16_format));
      }
  }
};
const Widened& widened() {
  static const Widened table;
  return table;
}
// The patterns of a slot: the upper one at 1.
std::uint32_t small_at(std::uint32_t slot, Small small, int place) {
  const int stride = stride_of(small);
  return slot >> (stride * place) & ((1u << stride) - 1);
}
struct SmallToF16 {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto small = static_cast<Small>(step.imm & 7);
    const bool relu = (step.imm & 8) != 0;
    const auto& table = widened().f16[step.imm & 7];
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) {
      std::uint32_t result = 0;
      for (int place = 0; place < 2; ++place) {
        std::uint32_t half = table[small_at(a[l], small, place)];
        if (relu && (half & 0x8000) != 0) half = 0;
        result |= half << (16 * place);
      }
      return result;
    });
    return Outcome::next;
  }
};

// ---- what is rare: number by number, exactly. `f` makes the upper and the lower part of the result.

std::uint32_t bf16_of(const num::Exact& x, bool satfinite, bool relu) {
  return static_cast<std::uint32_t>(num::rounded(x, num::bf16_format, {.satfinite = satfinite, .relu = relu}));
}
num::Exact exact_bf16(std::uint32_t half) { return num::exact(half & 0xFFFF, num::bf16_format); }
num::Exact exact_f32(std::uint32_t bits) { return num::exact(bits, num::f32_format); }
// x times or over the power of two that a scale factor is.
num::Exact with_scale(num::Exact x, std::uint32_t scale, bool divides) {
  const num::Exact factor = num::from_ue8m0(scale & 0xFF);
  if (factor.is_nan()) return factor;
  return num::scaled(x, divides ? -factor.exponent : factor.exponent);
}

// x: d, a, b, the scale. imm: 3 .relu, 4 .satfinite, 5 whether a is a pair of bf16, 6 rounding up.
struct FromS2f6 {
  static std::uint32_t one(const Step& step, std::uint32_t a, std::uint32_t scale) {
    return bf16_of(with_scale(num::from_s2f6(a & 0xFF), scale, false), (step.imm & 16) != 0, (step.imm & 8) != 0);
  }
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* scale = warp.slot<std::uint32_t>(step.x[3]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask,
                [&](int l) { return one(step, a[l] >> 8, scale[l] >> 8) << 16 | one(step, a[l], scale[l]); });
    return Outcome::next;
  }
};
// The same; imm: 0 to 2 Small.
struct SmallToBf16 {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto small = static_cast<Small>(step.imm & 7);
    const num::Format& format = formats[step.imm & 7];
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* scale = warp.slot<std::uint32_t>(step.x[3]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) {
      std::uint32_t result = 0;
      for (int place = 0; place < 2; ++place) {
        const num::Exact x = num::exact(small_at(a[l], small, place) & (2 * format.sign() - 1), format);
        result |= bf16_of(with_scale(x, scale[l] >> (8 * place), false), (step.imm & 16) != 0, (step.imm & 8) != 0)
                  << (16 * place);
      }
      return result;
    });
    return Outcome::next;
  }
};
struct IntoS2f6 {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const bool pair = (step.imm & 32) != 0, relu = (step.imm & 8) != 0;
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    const auto* scale = warp.slot<std::uint32_t>(step.x[3]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) {
      const num::Exact high = pair ? exact_bf16(a[l] >> 16) : exact_f32(a[l]), low = pair ? exact_bf16(a[l]) : exact_f32(b[l]);
      return num::to_s2f6(with_scale(high, scale[l] >> 8, true), relu) << 8 | num::to_s2f6(with_scale(low, scale[l], true), relu);
    });
    return Outcome::next;
  }
};
struct IntoScales {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const bool pair = (step.imm & 32) != 0, satfinite = (step.imm & 16) != 0;
    const Rounding rounding = (step.imm & 64) != 0 ? Rounding::rp : Rounding::rz;
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) {
      const num::Exact high = pair ? exact_bf16(a[l] >> 16) : exact_f32(a[l]), low = pair ? exact_bf16(a[l]) : exact_f32(b[l]);
      return num::to_ue8m0(high, rounding, satfinite) << 8 | num::to_ue8m0(low, rounding, satfinite);
    });
    return Outcome::next;
  }
};
struct FromScales {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) {
      return bf16_of(num::from_ue8m0(a[l] >> 8 & 0xFF), false, false) << 16 | bf16_of(num::from_ue8m0(a[l] & 0xFF), false, false);
    });
    return Outcome::next;
  }
};
// imm: 3 .relu, 4 .satfinite, 5 bf16. Of 13 or 16 random bits for each half the upper one's stand in the upper half.
struct Stochastic {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const bool bf16 = (step.imm & 32) != 0;
    const num::Format& format = bf16 ? num::bf16_format : num::f16_format;
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    const auto* random = warp.slot<std::uint32_t>(step.x[3]);
    const auto one = [&](std::uint32_t bits, std::uint32_t chance) {
      num::Entry how{.satfinite = (step.imm & 16) != 0, .relu = (step.imm & 8) != 0, .random_bits = bf16 ? 16 : 13};
      how.random = chance & ((1u << how.random_bits) - 1);
      return static_cast<std::uint32_t>(num::rounded(exact_f32(bits), format, how));
    };
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask,
                [&](int l) { return one(a[l], random[l] >> 16) << 16 | one(b[l], random[l]); });
    return Outcome::next;
  }
};

constexpr std::uint32_t reversed16(std::uint32_t x) {
  std::uint32_t result = 0;
  for (int i = 0; i < 16; ++i) result |= (x >> i & 1) << (15 - i);
  return result;
}
// x: d, the four values, the first uppermost, the random bits. imm: 0 to 2 Small, 3 .relu. Two values share 16 random bits: of
// fp4 the bytes 1 and 3, and 0 and 2, of the others the halves; the first of the two has them in reverse (facts.md: sm_100a).
struct StochasticFour {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto small = static_cast<Small>(step.imm & 7);
    const num::Format& format = formats[step.imm & 7];
    const int stride = stride_of(small);
    const bool relu = (step.imm & 8) != 0;
    const std::uint32_t* const value[] = {warp.slot<std::uint32_t>(step.x[1]), warp.slot<std::uint32_t>(step.x[2]),
                                          warp.slot<std::uint32_t>(step.x[3]), warp.slot<std::uint32_t>(step.x[4])};
    const auto* random = warp.slot<std::uint32_t>(step.x[5]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) {
      const std::uint32_t r = random[l];
      const std::uint32_t high = small == Small::e2m1 ? (r >> 16 & 0xFF00) | (r >> 8 & 0xFF) : r >> 16;
      const std::uint32_t low = small == Small::e2m1 ? (r >> 8 & 0xFF00) | (r & 0xFF) : r & 0xFFFF;
      const std::uint32_t chance[] = {reversed16(high), high, reversed16(low), low};
      std::uint32_t result = 0;
      for (int i = 0; i < 4; ++i) {
        const num::Entry how{.satfinite = true, .relu = relu, .random_bits = 16, .random = chance[i]};
        result = result << stride | static_cast<std::uint32_t>(num::rounded(exact_f32(value[i][l]), format, how));
      }
      return result;
    });
    return Outcome::next;
  }
};

std::int64_t rare_ways(Decoding& in, bool pair) {
  return (in.wrote("relu") ? 8 : 0) | (in.wrote("satfinite") ? 16 : 0) | (pair ? 32 : 0) |
         (in.rounding("frnd") == Rounding::rp ? 64 : 0);
}
std::uint32_t scale_of(Decoding& in) { return in.given("scale") ? in.read("scale", Type::b16) : in.constant(0x7F7F); }
void read_sources(Decoding& in, bool pair) {
  in.step.x[1] = in.read("a", pair ? Type::b32 : Type::f32);
  in.step.x[2] = pair ? in.step.x[1] : in.read("b", Type::f32);
}

// ---- tf32: an f32 whose lower 13 bits are 0. imm: 0 to 1 rounding, 2 ties away, 3 .relu, 4 .satfinite. With .rna a NaN is cut
// like a number, also to infinity, and .satfinite then takes the pattern before (facts.md: H200).
struct IntoTf32 {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const bool away = (step.imm & 4) != 0, satfinite = (step.imm & 16) != 0;
    const num::Narrowing how{static_cast<Rounding>(step.imm & 3), (step.imm & 8) != 0, satfinite, away};
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) {
      const std::uint32_t cut = (a[l] & 0xFFFFE000) - (satfinite ? 0x2000 : 0);
      const std::uint32_t number = num::narrowed(std::bit_cast<float>(a[l]), num::tf32_format, how) << 13;
      return away && (a[l] & 0x7FFFFFFF) > 0x7F800000 ? cut : number;
    });
    return Outcome::next;
  }
};

// ---- cvt.pack: x: d, a, b, c. imm: 0 to 7 the bits of a part, 8 signed
struct NarrowPack {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto width = static_cast<unsigned>(step.imm & 0xFF);
    const bool is_signed = (step.imm & 0x100) != 0;
    const std::int32_t most = (1 << (width - (is_signed ? 1 : 0))) - 1, least = is_signed ? -most - 1 : 0;
    const std::uint32_t part = (1u << width) - 1;
    const auto* a = warp.slot<std::uint32_t>(step.x[1]);
    const auto* b = warp.slot<std::uint32_t>(step.x[2]);
    const auto* c = warp.slot<std::uint32_t>(step.x[3]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) {
      const auto clamped = [=](std::uint32_t x) {
        return static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(x), least, most)) & part;
      };
      const std::uint32_t above = width == 16 ? 0 : c[l] << (2 * width % 32);
      return above | clamped(a[l]) << width | clamped(b[l]);
    });
    return Outcome::next;
  }
};

}  // namespace

namespace op {

Handler cvt_f32_small(Decoding& in) { return into_small(in, 0); }
Handler cvt_half2_small(Decoding& in) { return into_small(in, in.wrote("f16x2") ? 1 : 2); }
Handler cvt_small_f16x2(Decoding& in) {
  const Type from = in.type("atype");
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.read("a", isa::register_type(from));
  in.step.imm = static_cast<std::int64_t>(small_of(from)) | (in.wrote("relu") ? 8 : 0);
  return Compiled<SmallToF16>::handler();
}
Handler cvt_small_bf16x2(Decoding& in) {
  const Type from = in.type("atype");
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.read("a", isa::register_type(from));
  in.step.x[3] = scale_of(in);
  in.step.imm = static_cast<std::int64_t>(small_of(from)) | rare_ways(in, false);
  return Compiled<SmallToBf16>::handler();
}
Handler cvt_s2f6x2_bf16x2(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.read("a", Type::b16);
  in.step.x[3] = scale_of(in);
  in.step.imm = rare_ways(in, false);
  return Compiled<FromS2f6>::handler();
}
Handler cvt_f32_s2f6x2(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b16);
  read_sources(in, false);
  in.step.x[3] = scale_of(in);
  in.step.imm = rare_ways(in, false);
  return Compiled<IntoS2f6>::handler();
}
Handler cvt_bf16x2_s2f6x2(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b16);
  read_sources(in, true);
  in.step.x[3] = scale_of(in);
  in.step.imm = rare_ways(in, true);
  return Compiled<IntoS2f6>::handler();
}
Handler cvt_f32_ue8m0x2(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b16);
  read_sources(in, false);
  in.step.imm = rare_ways(in, false);
  return Compiled<IntoScales>::handler();
}
Handler cvt_bf16x2_ue8m0x2(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b16);
  read_sources(in, true);
  in.step.imm = rare_ways(in, true);
  return Compiled<IntoScales>::handler();
}
Handler cvt_ue8m0x2_bf16x2(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.read("a", Type::b16);
  return Compiled<FromScales>::handler();
}
Handler cvt_rs_f16x2(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b32);
  read_sources(in, false);
  in.step.x[3] = in.read("rbits", Type::b32);
  in.step.imm = rare_ways(in, false);
  return Compiled<Stochastic>::handler();
}
Handler cvt_rs_bf16x2(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b32);
  read_sources(in, false);
  in.step.x[3] = in.read("rbits", Type::b32);
  in.step.imm = rare_ways(in, true);
  return Compiled<Stochastic>::handler();
}
Handler cvt_rs_x4(Decoding& in) {
  const Type to = in.type("dtype");
  in.step.x[0] = in.write("d", isa::register_type(to));
  const std::vector<std::uint32_t> values = in.read_all("a", Type::f32);
  for (std::size_t i = 0; i < 4; ++i) in.step.x[1 + i] = values[i];
  in.step.x[5] = in.read("rbits", Type::b32);
  in.step.imm = static_cast<std::int64_t>(small_of(to)) | (in.wrote("relu") ? 8 : 0);
  return Compiled<StochasticFour>::handler();
}
Handler cvt_tf32(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.read("a", Type::f32);
  in.step.imm = static_cast<std::int64_t>(in.rounding("frnd")) | (in.has("frnd") ? 0 : 4) | rare_ways(in, false);
  return Compiled<IntoTf32>::handler();
}
Handler cvt_pack(Decoding& in) {
  const std::string_view to = in.chosen("dtype");  // "u16", "s4"
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.read("a", Type::s32);
  in.step.x[2] = in.read("b", Type::s32);
  in.step.x[3] = in.given("c") ? in.read("c", Type::b32) : in.constant(0);
  in.step.imm = (to.size() == 3 ? 16 : to[1] - '0') | (to[0] == 's' ? 0x100 : 0);
  return Compiled<NarrowPack>::handler();
}

}  // namespace op
}  // namespace ptx::vgpu
