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

template <class T, class F>
Handler compare(Decoding& in, F) {
  in.step.x[0] = in.write_pred("p");
  in.step.x[1] = in.write_pred("q");
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
    write_lanes(warp.slot<Slot>(step.x[0]), mask, [=](int l) { return has_lane(c, l) ? a[l] : b[l]; });
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

Handler selp(Decoding& in) {
  const Type type = in.type("type");
  const Decoding::Pred c = in.read_pred("c");
  in.step.x = {in.write("d", type), in.read("a", type), in.read("b", type), c.offset, c.flip};
  return isa::bits(type) == 64 ? Compiled<Select<std::uint64_t>>::handler() : Compiled<Select<std::uint32_t>>::handler();
}

}  // namespace op
}  // namespace ptx::vgpu
