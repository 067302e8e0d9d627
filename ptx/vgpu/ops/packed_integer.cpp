// Integers packed in a word: sums, minima and maxima of halves and bytes, dot products (rows: ptx/isa/table/integer.hpp).
#include <limits>

#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

// d = f(a, b) in each half or byte; T is its type.
template <class T, class F>
constexpr std::uint32_t in_each(std::uint32_t a, std::uint32_t b, F f) {
  std::uint32_t d = 0;
  for (std::size_t at = 0; at < 32; at += 8 * sizeof(T)) {
    const std::int32_t part =
        f(static_cast<std::int32_t>(static_cast<T>(a >> at)), static_cast<std::int32_t>(static_cast<T>(b >> at)));
    d |= std::uint32_t{static_cast<std::make_unsigned_t<T>>(part)} << at;
  }
  return d;
}
template <class T>
constexpr std::int32_t clamped(std::int32_t v) {
  constexpr std::int32_t least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return v < least ? least : v > most ? most : v;
}
constexpr std::int32_t smaller(std::int32_t a, std::int32_t b) { return b < a ? b : a; }
constexpr std::int32_t larger(std::int32_t a, std::int32_t b) { return a < b ? b : a; }
constexpr std::int32_t not_negative(std::int32_t a) { return a < 0 ? 0 : a; }

template <class T, class F>
Handler packed(Decoding& in, F) {
  return map<std::uint32_t(std::uint32_t, std::uint32_t)>(in, {"d", "a", "b"},
                                                          [](std::uint32_t a, std::uint32_t b) { return in_each<T>(a, b, F{}); });
}
// Calls use(T{}) with the type of a half or byte.
template <class Use>
Handler by_part(Type type, Use use) {
  switch (type) {
    case Type::u16x2:
      return use(std::uint16_t{});
    case Type::s16x2:
      return use(std::int16_t{});
    case Type::u8x4:
      return use(std::uint8_t{});
    case Type::s8x4:
      return use(std::int8_t{});
    default:
      return nullptr;
  }
}
Type packed_type(const Decoding& in) { return in.form().slot("type") >= 0 ? in.type("type") : Type::s8x4; }

// min and max, with `.relu` of signed types also of a whole word.
template <class F>
Handler chosen_of_two(Decoding& in, F) {
  const bool relu = in.wrote("relu");
  const Type type = packed_type(in);
  if (type == Type::s32)
    return map<std::int32_t(std::int32_t, std::int32_t)>(in, {"d", "a", "b"},
                                                         [](std::int32_t a, std::int32_t b) { return not_negative(F{}(a, b)); });
  return by_part(type, [&]<class T>(T) {
    if (relu) return packed<T>(in, [](std::int32_t a, std::int32_t b) { return not_negative(F{}(a, b)); });
    return packed<T>(in, F{});
  });
}

template <class A, class B>
constexpr std::uint32_t products(std::uint32_t a, std::uint32_t b, std::uint32_t count) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    sum += static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<A>(a >> (8 * sizeof(A) * i))) *
                                      static_cast<std::int32_t>(static_cast<B>(b >> (8 * sizeof(B) * i))));
  return sum;
}
// Sum<A, B>: the products of the parts of a, signed or not, and the bytes of b.
template <class UnsignedA, class SignedA, class Use>
Handler by_signs(Decoding& in, Use use) {
  const bool a = in.type("atype") == Type::s32, b = in.type("btype") == Type::s32;
  if (a) return b ? use(SignedA{}, std::int8_t{}) : use(SignedA{}, std::uint8_t{});
  return b ? use(UnsignedA{}, std::int8_t{}) : use(UnsignedA{}, std::uint8_t{});
}

}  // namespace

namespace op {

Handler add_packed(Decoding& in) {
  const bool sat = in.wrote("sat");
  const Type type = packed_type(in);
  if (type == Type::u32)
    return map<std::uint32_t(std::uint32_t, std::uint32_t)>(
        in, {"d", "a", "b"}, [](std::uint32_t a, std::uint32_t b) { return a > ~b ? ~std::uint32_t{0} : a + b; });
  return by_part(type, [&]<class T>(T) {
    if (sat) return packed<T>(in, [](std::int32_t a, std::int32_t b) { return clamped<T>(a + b); });
    return packed<T>(in, [](std::int32_t a, std::int32_t b) { return a + b; });
  });
}
Handler sub_packed(Decoding& in) {
  const bool sat = in.wrote("sat");
  return by_part(packed_type(in), [&]<class T>(T) {
    if (sat) return packed<T>(in, [](std::int32_t a, std::int32_t b) { return clamped<T>(a - b); });
    return packed<T>(in, [](std::int32_t a, std::int32_t b) { return a - b; });
  });
}
Handler min_packed(Decoding& in) {
  return chosen_of_two(in, [](std::int32_t a, std::int32_t b) { return smaller(a, b); });
}
Handler max_packed(Decoding& in) {
  return chosen_of_two(in, [](std::int32_t a, std::int32_t b) { return larger(a, b); });
}
Handler neg_packed(Decoding& in) {
  return map<std::uint32_t(std::uint32_t)>(in, {"d", "a"}, [](std::uint32_t a) {
    return in_each<std::int8_t>(0, a, [](std::int32_t zero, std::int32_t part) { return zero - part; });
  });
}

Handler dp4a(Decoding& in) {
  return by_signs<std::uint8_t, std::int8_t>(in, [&]<class A, class B>(A, B) {
    return map<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t)>(
        in, {"d", "a", "b", "c"}, [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return c + products<A, B>(a, b, 4); });
  });
}
Handler dp2a(Decoding& in) {
  const bool hi = in.chosen("mode") == "hi";
  return by_signs<std::uint16_t, std::int16_t>(in, [&]<class A, class B>(A, B) {
    using Signature = std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t);
    if (hi)
      return map<Signature>(in, {"d", "a", "b", "c"},
                            [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return c + products<A, B>(a, b >> 16, 2); });
    return map<Signature>(in, {"d", "a", "b", "c"},
                          [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return c + products<A, B>(a, b, 2); });
  });
}

}  // namespace op
}  // namespace ptx::vgpu
