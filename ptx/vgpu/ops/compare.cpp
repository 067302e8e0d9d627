// Comparison and selection (rows: ptx/isa/table/compare.hpp).
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

// x[0] = p, x[1] = q, its opposite; x[2] = a, x[3] = b.
template <class T, class F>
struct Compare {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<SlotOf<T>>(step.x[2]);
    const auto* b = warp.slot<SlotOf<T>>(step.x[3]);
    const Mask holds = lanes_where([=](int l) { return F{}(from_slot<T>(a[l]), from_slot<T>(b[l])); });
    Mask& q = warp.pred(step.x[1]);
    q = (q & ~mask) | (~holds & mask);
    Mask& p = warp.pred(step.x[0]);
    p = (p & ~mask) | (holds & mask);
    return Outcome::next;
  }
};

// What is done with a comparison's result, in a step of its own: combined with c, and written to predicates (setp) or as a number
// (set).
enum class Combined : std::uint32_t { alone, by_and, by_or, by_xor };
Mask combine(const Step& step, Mask holds, Mask c) {
  switch (static_cast<Combined>(step.x[5])) {
    case Combined::by_and:
      return holds & c;
    case Combined::by_or:
      return holds | c;
    case Combined::by_xor:
      return holds ^ c;
    default:
      return holds;
  }
}
// x[0] = p, x[1] = q; x[2] = the comparison's result, x[3] = c, x[4] = what c is flipped with, x[5] = Combined.
Outcome write_predicates(Warp& warp, const Step& step, Mask mask) {
  const Mask holds = warp.pred(step.x[2]), c = warp.pred(step.x[3]) ^ step.x[4];
  Mask& q = warp.pred(step.x[1]);
  q = (q & ~mask) | (combine(step, ~holds, c) & mask);
  Mask& p = warp.pred(step.x[0]);
  p = (p & ~mask) | (combine(step, holds, c) & mask);
  return Outcome::next;
}
// x[0] = d; imm = what is written where the result is true.
Outcome write_number(Warp& warp, const Step& step, Mask mask) {
  const Mask result = combine(step, warp.pred(step.x[2]), warp.pred(step.x[3]) ^ step.x[4]);
  const auto yes = static_cast<std::uint32_t>(step.imm);
  write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) { return has_lane(result, l) ? yes : 0u; });
  return Outcome::next;
}

std::uint32_t number_of_true(Type type) {
  if (type == Type::f32) return std::bit_cast<std::uint32_t>(1.0f);
  constexpr std::uint32_t one_of_f16 = 0x3C00;
  return type == Type::f16 ? one_of_f16 : ~0u;
}

// Where the comparison's result goes: to p and q, or to a step behind it.
void bind_result(Decoding& in) {
  const std::string_view by = in.chosen("bool_op");
  const bool to_predicates = in.given("p");
  if (to_predicates && by.empty()) {
    in.step.x[0] = in.write_pred("p");
    in.step.x[1] = in.write_pred("q");
    return;
  }
  in.step.x[0] = in.scratch_pred();
  in.step.x[1] = discard_offset;
  Step behind;
  behind.x[2] = in.step.x[0];
  behind.x[3] = always_offset;
  if (!by.empty()) {
    const Decoding::Pred c = in.read_pred("c");
    behind.x[3] = c.offset;
    behind.x[4] = c.flip;
  }
  behind.x[5] = static_cast<std::uint32_t>(by == "and"   ? Combined::by_and
                                           : by == "or"  ? Combined::by_or
                                           : by == "xor" ? Combined::by_xor
                                                         : Combined::alone);
  if (to_predicates) {
    behind.run = write_predicates;
    behind.x[0] = in.write_pred("p");
    behind.x[1] = in.write_pred("q");
  } else {
    const Type type = in.type("dtype");
    behind.run = write_number;
    behind.x[0] = in.write("d", type);
    behind.imm = number_of_true(type);
  }
  in.then(behind);
}

template <class T, class F>
Handler compare(Decoding& in, F) {
  bind_result(in);
  in.step.x[2] = in.read("a", type_of<T>());
  in.step.x[3] = in.read("b", type_of<T>());
  return Compiled<Compare<T, F>>::handler();
}

// Ordered comparisons are false for NaN, those in u are true.
template <class T, bool ftz>
Handler compare_floating(Decoding& in) {
  const auto make = [&]<class F>(F) {
    return compare<T>(in, [](T a, T b) {
      if constexpr (ftz) a = num::flush(a), b = num::flush(b);
      return F{}(a, b);
    });
  };
  const std::string_view cmp = in.chosen("cmp");
  if (cmp == "eq") return make([](T a, T b) { return a == b; });
  if (cmp == "ne") return make([](T a, T b) { return a < b || a > b; });
  if (cmp == "lt") return make([](T a, T b) { return a < b; });
  if (cmp == "le") return make([](T a, T b) { return a <= b; });
  if (cmp == "gt") return make([](T a, T b) { return a > b; });
  if (cmp == "ge") return make([](T a, T b) { return a >= b; });
  if (cmp == "equ") return make([](T a, T b) { return !(a < b || a > b); });
  if (cmp == "neu") return make([](T a, T b) { return a != b; });
  if (cmp == "ltu") return make([](T a, T b) { return !(a >= b); });
  if (cmp == "leu") return make([](T a, T b) { return !(a > b); });
  if (cmp == "gtu") return make([](T a, T b) { return !(a <= b); });
  if (cmp == "geu") return make([](T a, T b) { return !(a < b); });
  if (cmp == "num") return make([](T a, T b) { return a == a && b == b; });
  if (cmp == "nan") return make([](T a, T b) { return a != a || b != b; });
  return in.refuse("an unknown comparison");
}

template <class Slot>
struct Select {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<Slot>(step.x[1]);
    const auto* b = warp.slot<Slot>(step.x[2]);
    const Mask c = warp.pred(step.x[3]) ^ step.x[4];
    write_lanes(warp.slot<Slot>(step.x[0]), mask, [=](int l) {  // both are read: there is nothing to branch on
      const Slot first = Slot{0} - static_cast<Slot>(c >> l & 1u);
      return (a[l] & first) | (b[l] & ~first);
    });
    return Outcome::next;
  }
};

// slct: d = c >= 0 ? a : b. x[0] = d, x[1] = a, x[2] = b, x[3] = c, x[4] = how c is read.
enum class Sign : std::uint32_t { of_s32, of_f32, of_flushed_f32 };
template <class Slot>
struct SelectBySign {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<Slot>(step.x[1]);
    const auto* b = warp.slot<Slot>(step.x[2]);
    const auto* c = warp.slot<std::uint32_t>(step.x[3]);
    Mask first = 0;
    if (static_cast<Sign>(step.x[4]) == Sign::of_s32)
      first = lanes_where([=](int l) { return static_cast<std::int32_t>(c[l]) >= 0; });
    else if (static_cast<Sign>(step.x[4]) == Sign::of_f32)
      first = lanes_where([=](int l) { return from_slot<float>(c[l]) >= 0; });
    else
      first = lanes_where([=](int l) { return num::flush(from_slot<float>(c[l])) >= 0; });
    write_lanes(warp.slot<Slot>(step.x[0]), mask, [=](int l) { return has_lane(first, l) ? a[l] : b[l]; });
    return Outcome::next;
  }
};

}  // namespace

namespace op {

Handler setp_int(Decoding& in) {
  const std::string_view cmp = in.chosen("cmp");
  return by_wide_integer(in.type("type"), [&]<class T>(T) -> Handler {
    if (cmp == "eq") return compare<T>(in, [](T a, T b) { return a == b; });
    if (cmp == "ne") return compare<T>(in, [](T a, T b) { return a != b; });
    if (cmp == "lt" || cmp == "lo") return compare<T>(in, [](T a, T b) { return a < b; });
    if (cmp == "le" || cmp == "ls") return compare<T>(in, [](T a, T b) { return a <= b; });
    if (cmp == "gt" || cmp == "hi") return compare<T>(in, [](T a, T b) { return a > b; });
    if (cmp == "ge" || cmp == "hs") return compare<T>(in, [](T a, T b) { return a >= b; });
    return in.refuse("an unknown comparison");
  });
}

Handler setp_f32(Decoding& in) {
  return in.wrote("ftz") ? compare_floating<float, true>(in) : compare_floating<float, false>(in);
}
Handler setp_f64(Decoding& in) { return compare_floating<double, false>(in); }

Handler set_int(Decoding& in) { return setp_int(in); }
Handler set_f32(Decoding& in) { return setp_f32(in); }
Handler set_f64(Decoding& in) { return setp_f64(in); }

Handler slct(Decoding& in) {
  const Type type = in.type("dtype");
  const bool floating = in.form().slot("s32") < 0;
  in.step.x = {in.write("d", type), in.read("a", type), in.read("b", type), in.read("c", Type::b32)};
  in.step.x[4] = static_cast<std::uint32_t>(!floating ? Sign::of_s32 : in.wrote("ftz") ? Sign::of_flushed_f32 : Sign::of_f32);
  return isa::bits(type) == 64 ? Compiled<SelectBySign<std::uint64_t>>::handler()
                               : Compiled<SelectBySign<std::uint32_t>>::handler();
}

Handler selp(Decoding& in) {
  const Type type = in.type("type");
  const Decoding::Pred c = in.read_pred("c");
  in.step.x = {in.write("d", type), in.read("a", type), in.read("b", type), c.offset, c.flip};
  return isa::bits(type) == 64 ? Compiled<Select<std::uint64_t>>::handler() : Compiled<Select<std::uint32_t>>::handler();
}

}  // namespace op
}  // namespace ptx::vgpu
