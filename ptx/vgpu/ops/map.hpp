// Handlers made from a function of one lane: map<R(A...)>(decoding, {"d", "a", "b"}, f) runs d = f(a, b) in every active lane.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/decode/decoding.hpp"

namespace ptx::vgpu {

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, float>)
    return Type::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Type::f64;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return Type::u16;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return Type::s16;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return Type::u8;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return Type::s8;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return Type::u32;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Type::s32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return Type::u64;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return Type::s64;
}

template <class Signature, class F>
struct Map;
template <class R, class... A, class F>
struct Map<R(A...), F> {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    return apply(warp, step, mask, std::index_sequence_for<A...>{});
  }
  template <std::size_t... I>
  [[gnu::always_inline]] static Outcome apply(Warp& warp, const Step& step, Mask mask, std::index_sequence<I...>) {
    const std::tuple<const SlotOf<A>*...> from{warp.slot<SlotOf<A>>(step.x[I + 1])...};
    write_lanes(warp.slot<SlotOf<R>>(step.x[0]), mask,
                [=](int l) { return to_slot<R>(F{}(from_slot<A>(std::get<I>(from)[l])...)); });
    return Outcome::next;
  }
};

/// The same under a rounding mode of the host.
template <class Signature, class F>
struct DirectedMap;
template <class R, class... A, class F>
struct DirectedMap<R(A...), F> {
  using Signature = R(A...);
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const num::RoundingScope scope(static_cast<num::Rounding>(step.imm));
    return Map<Signature, F>::run(warp, step, mask);
  }
  // Seldom, but for fused multiply-adds, which without their instruction are calls of the C library.
  static Handler handler() { return sizeof...(A) == 3 ? Compiled<DirectedMap>::handler() : Compiled<DirectedMap>::seldom(); }
};

/// Binds operand names to the step's slots, destination first.
template <class R, class... A>
void bind(Decoding& in, std::initializer_list<std::string_view> names, R (*)(A...)) {
  const auto* name = names.begin();
  in.step.x[0] = in.write(*name++, type_of<R>());
  std::size_t i = 1;
  ((in.step.x[i++] = in.read(*name++, type_of<A>())), ...);
}

/// d = f(a, …) for a function without state.
template <class Signature, class F>
Handler map(Decoding& in, std::initializer_list<std::string_view> names, F) {
  bind(in, names, static_cast<Signature*>(nullptr));
  return Compiled<Map<Signature, F>>::handler();
}
template <class Signature, class F>
Handler map_directed(Decoding& in, std::initializer_list<std::string_view> names, num::Rounding rounding, F) {
  bind(in, names, static_cast<Signature*>(nullptr));
  in.step.imm = static_cast<std::int64_t>(rounding);
  return DirectedMap<Signature, F>::handler();
}

/// Calls use(T{}) with the C++ type of an integer or bits type; bits count as unsigned.
template <class Use>
Handler by_integer(Type type, Use use) {
  switch (type) {
    case Type::u8:
    case Type::b8:
      return use(std::uint8_t{});
    case Type::u16:
    case Type::b16:
      return use(std::uint16_t{});
    case Type::u32:
    case Type::b32:
      return use(std::uint32_t{});
    case Type::u64:
    case Type::b64:
      return use(std::uint64_t{});
    case Type::s8:
      return use(std::int8_t{});
    case Type::s16:
      return use(std::int16_t{});
    case Type::s32:
      return use(std::int32_t{});
    case Type::s64:
      return use(std::int64_t{});
    default:
      return nullptr;
  }
}

/// The same without the 8-bit types, for arithmetic.
template <class Use>
Handler by_wide_integer(Type type, Use use) {
  return by_integer(type, [&]<class T>(T zero) -> Handler {
    if constexpr (sizeof(T) > 1)
      return use(zero);
    else
      return nullptr;
  });
}

}  // namespace ptx::vgpu
