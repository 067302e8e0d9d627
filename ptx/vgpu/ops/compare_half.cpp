// Comparison of halves, and what set writes (rows: ptx/isa/table/compare.hpp).
#include "ptx/isa/isa.hpp"
#include "ptx/num/num.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

// How two numbers stand to each other, one bit each; a comparison is the set of those for which it holds.
enum Relation : unsigned { below = 1, equal = 2, above = 4, unordered = 8 };
unsigned relations_of(std::string_view cmp) {
  if (cmp == "num") return below | equal | above;
  if (cmp == "nan") return unordered;
  const unsigned with_nan = cmp.size() == 3 ? static_cast<unsigned>(unordered) : 0u;
  cmp = cmp.substr(0, 2);
  if (cmp == "eq") return equal | with_nan;
  if (cmp == "ne") return below | above | with_nan;
  if (cmp == "lt" || cmp == "lo") return below | with_nan;
  if (cmp == "le" || cmp == "ls") return below | equal | with_nan;
  if (cmp == "gt" || cmp == "hi") return above | with_nan;
  return above | equal | with_nan;
}

template <class T>
[[gnu::always_inline]] inline Mask holding(unsigned relations, T a, T b, int lane) {
  unsigned is = (a < b ? below : 0u) | (a == b ? equal : 0u) | (a > b ? above : 0u);
  is = is != 0 ? is : static_cast<unsigned>(unordered);
  return static_cast<Mask>((relations & is) != 0 ? 1 : 0) << lane;
}

// The lanes in which the operands at `a` and `b` stand in one of the relations; of pairs the ones whose halves do, the lower ones
// or the upper ones. Rare: a function for each type, called.
struct Compared {
  std::uint32_t a = 0, b = 0;
  unsigned relations = 0;
  bool ftz = false;
  int half = 0;
};
using CompareLanes = Mask (*)(const Warp& warp, const Compared& what);
template <class T>
Mask compare_lanes(const Warp& warp, const Compared& what) {
  const auto* a = warp.slot<SlotOf<T>>(what.a);
  const auto* b = warp.slot<SlotOf<T>>(what.b);
  Mask mask = 0;
  for (int l = 0; l < lane_count; ++l) {
    T x = from_slot<T>(a[l]), y = from_slot<T>(b[l]);
    if constexpr (std::is_same_v<T, float>) {
      if (what.ftz) x = num::flush(x), y = num::flush(y);
    }
    mask |= holding(what.relations, x, y, l);
  }
  return mask;
}
template <bool bf16>
Mask compare_halves(const Warp& warp, const Compared& what) {
  const auto* a = warp.slot<std::uint32_t>(what.a);
  const auto* b = warp.slot<std::uint32_t>(what.b);
  Mask mask = 0;
  const auto value = [&](std::uint32_t slot) {
    std::uint32_t half = slot >> (16 * what.half) & 0xFFFF;
    if (what.ftz) half = num::flushed_half(half, bf16);
    return bf16 ? num::from_bf16(static_cast<std::uint16_t>(half)) : num::from_f16(static_cast<std::uint16_t>(half));
  };
  for (int l = 0; l < lane_count; ++l) mask |= holding(what.relations, value(a[l]), value(b[l]), l);
  return mask;
}
constexpr CompareLanes comparisons[] = {
    &compare_lanes<std::uint16_t>, &compare_lanes<std::uint32_t>, &compare_lanes<std::uint64_t>, &compare_lanes<std::int16_t>,
    &compare_lanes<std::int32_t>,  &compare_lanes<std::int64_t>,  &compare_lanes<float>,         &compare_lanes<double>,
    &compare_halves<false>,        &compare_halves<true>};
std::int64_t comparison_of(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return 0;
    case Type::b32:
    case Type::u32:
      return 1;
    case Type::b64:
    case Type::u64:
      return 2;
    case Type::s16:
      return 3;
    case Type::s32:
      return 4;
    case Type::s64:
      return 5;
    case Type::f32:
      return 6;
    case Type::f64:
      return 7;
    case Type::bf16:
    case Type::bf16x2:
      return 9;
    default:
      return 8;
  }
}

// imm: 0 to 3 which comparison, 4 to 7 the relations, 8 .ftz, 9 to 10 the boolean operator, 11 a pair.
// x: a at 2, b at 3, the predicate at 4, its flip at 5.
enum class Bool : std::uint8_t { none, and_, or_, xor_ };
Mask compared(const Warp& warp, const Step& step, int half) {
  return comparisons[step.imm & 15](
      warp, {step.x[2], step.x[3], static_cast<unsigned>(step.imm >> 4 & 15), (step.imm >> 8 & 1) != 0, half});
}
Mask combined(const Warp& warp, const Step& step, Mask holds) {
  const Mask c = warp.pred(step.x[4]) ^ step.x[5];
  switch (static_cast<Bool>(step.imm >> 9 & 3)) {
    case Bool::and_:
      return holds & c;
    case Bool::or_:
      return holds | c;
    case Bool::xor_:
      return holds ^ c;
    case Bool::none:
      break;
  }
  return holds;
}
void read_comparison(Decoding& in, Type type) {
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  const Type reg = isa::register_type(type);
  in.step.x[2] = in.read("a", reg);
  in.step.x[3] = in.read("b", reg);
  Bool op = Bool::none;
  if (in.has("bool_op")) {
    const std::string_view word = in.chosen("bool_op");
    op = word == "and" ? Bool::and_ : word == "or" ? Bool::or_ : Bool::xor_;
    const Decoding::Pred c = in.read_pred("c");
    in.step.x[4] = c.offset;
    in.step.x[5] = c.flip;
  }
  in.step.imm = comparison_of(type) | static_cast<std::int64_t>(relations_of(in.chosen("cmp"))) << 4 |
                (in.wrote("ftz") ? 1 : 0) << 8 | static_cast<std::int64_t>(op) << 9 | (pair ? 1 : 0) << 11;
}

struct SetPredicates {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const bool pair = (step.imm >> 11 & 1) != 0;
    const Mask first = compared(warp, step, 0);
    const Mask second = combined(warp, step, pair ? compared(warp, step, 1) : ~first);
    const Mask holds = combined(warp, step, first);
    Mask& q = warp.pred(step.x[1]);
    q = (q & ~mask) | (second & mask);
    Mask& p = warp.pred(step.x[0]);
    p = (p & ~mask) | (holds & mask);
    return Outcome::next;
  }
};
Handler set_predicates(Decoding& in, Type type) {
  read_comparison(in, type);
  in.step.x[0] = in.write_pred("p");
  in.step.x[1] = in.write_pred("q");
  return Compiled<SetPredicates>::handler();
}

// x[6] is what stands for true, of pairs in the lower half.
struct SetValue {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const std::uint32_t yes = step.x[6];
    const Mask lower = combined(warp, step, compared(warp, step, 0));
    auto* d = warp.slot<std::uint32_t>(step.x[0]);
    if ((step.imm >> 11 & 1) == 0) {
      write_lanes(d, mask, [=](int l) { return has_lane(lower, l) ? yes : 0; });
    } else {
      const Mask upper = combined(warp, step, compared(warp, step, 1));
      write_lanes(d, mask, [=](int l) { return (has_lane(lower, l) ? yes : 0) | (has_lane(upper, l) ? yes << 16 : 0); });
    }
    return Outcome::next;
  }
};
Handler set_value(Decoding& in, Type to, Type type) {
  read_comparison(in, type);
  const bool pair = (in.step.imm >> 11 & 1) != 0;
  switch (to) {
    case Type::f32:
      in.step.x[6] = 0x3F800000;
      break;
    case Type::f16:
    case Type::f16x2:
      in.step.x[6] = 0x3C00;
      break;
    case Type::bf16:
    case Type::bf16x2:
      in.step.x[6] = 0x3F80;
      break;
    case Type::u16:
    case Type::s16:
      in.step.x[6] = 0xFFFF;
      break;
    default:
      in.step.x[6] = pair ? 0xFFFF : 0xFFFFFFFF;
  }
  in.step.x[0] = in.write("d", isa::register_type(to));
  return Compiled<SetValue>::handler();
}
}  // namespace

namespace op {

Handler setp_f16(Decoding& in) { return set_predicates(in, Type::f16); }
Handler setp_bf16(Decoding& in) { return set_predicates(in, Type::bf16); }
Handler setp_f16x2(Decoding& in) { return set_predicates(in, Type::f16x2); }
Handler setp_bf16x2(Decoding& in) { return set_predicates(in, Type::bf16x2); }

Handler set_f16(Decoding& in) { return set_value(in, in.type("dtype"), Type::f16); }
Handler set_to_bf16(Decoding& in) { return set_value(in, Type::bf16, in.has("type") ? in.type("type") : Type::bf16); }
Handler set_bf16(Decoding& in) { return set_value(in, in.type("dtype"), Type::bf16); }
Handler set_f16x2(Decoding& in) { return set_value(in, in.type("dtype"), Type::f16x2); }
Handler set_bf16x2(Decoding& in) { return set_value(in, in.has("dtype") ? in.type("dtype") : Type::bf16x2, Type::bf16x2); }

}  // namespace op
}  // namespace ptx::vgpu
