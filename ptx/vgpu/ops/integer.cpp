// Integer arithmetic, logic and shifts (rows: ptx/isa/table/integer.hpp).
#include <limits>

#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
// Arithmetic that wraps is done in an unsigned type that C++ does not promote to int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, Unsigned<T>>;

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <class T>
using Doubled =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                                          std::conditional_t<std::is_signed_v<T>, Int128, UInt128>>>;

template <class T>
constexpr T high(T a, T b) {
  return static_cast<T>((static_cast<Doubled<T>>(a) * static_cast<Doubled<T>>(b)) >> (8 * sizeof(T)));
}
template <class T>
constexpr T low(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
template <class T>
constexpr T plus(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
constexpr std::int32_t clamp_to_s32(std::int64_t v) {
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(v < least ? least : v > most ? most : v);
}

// The manual leaves division by zero open; what an H200 gives is in docs/facts.md: every bit set, for the quotient and the
// remainder alike.
template <class T>
constexpr T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));  // the least value has no opposite: it wraps
  return static_cast<T>(a / b);
}
template <class T>
constexpr T remainder(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

// The low 24 bits of an operand of mul24, extended.
template <class T>
constexpr T of_24_bits(T a) {
  return static_cast<T>(static_cast<T>(static_cast<Unsigned<T>>(a) << 8) >> 8);
}
// What mul24 takes of the product of 48 bits.
template <class T>
constexpr T part_of_48_bits(T a, T b, bool hi) {
  const Doubled<T> product = static_cast<Doubled<T>>(of_24_bits(a)) * static_cast<Doubled<T>>(of_24_bits(b));
  return static_cast<T>(hi ? product >> 16 : product);
}

// d = f(a, b) for every integer type.
template <class F>
Handler binary(Decoding& in, F) {
  return by_wide_integer(in.type("type"),
                         [&]<class T>(T) { return map<T(T, T)>(in, {"d", "a", "b"}, [](T a, T b) { return F{}(a, b); }); });
}
// The same where the sign makes no difference: one for signed and unsigned, but for 16 bits, which a slot extends.
template <class T>
using Modular = std::conditional_t<sizeof(T) == sizeof(SlotOf<T>), std::make_unsigned_t<T>, T>;
template <class F>
Handler modular(Decoding& in, F f) {
  return by_wide_integer(in.type("type"),
                         [&]<class T>(T) { return map<Modular<T>(Modular<T>, Modular<T>)>(in, {"d", "a", "b"}, f); });
}
template <class F>
Handler modular_unary(Decoding& in, F f) {
  return by_wide_integer(in.type("type"), [&]<class T>(T) { return map<Modular<T>(Modular<T>)>(in, {"d", "a"}, f); });
}
template <class F>
Handler unary(Decoding& in, F) {
  return by_wide_integer(in.type("type"), [&]<class T>(T) { return map<T(T)>(in, {"d", "a"}, [](T a) { return F{}(a); }); });
}

// and, or, xor and not of predicates work on the masks of the whole warp. x[3] and x[4] are what a and b are flipped with.
template <class F>
Handler predicates(Decoding& in, F, bool two) {
  const Decoding::Pred a = in.read_pred("a"), b = two ? in.read_pred("b") : Decoding::Pred{};
  in.step.x = {in.write_pred("d"), a.offset, b.offset, a.flip, b.flip};
  return [](Warp& warp, const Step& step, Mask mask) {
    const Mask value = F{}(warp.pred(step.x[1]) ^ step.x[3], warp.pred(step.x[2]) ^ step.x[4]);
    Mask& d = warp.pred(step.x[0]);
    d = (d & ~mask) | (value & mask);
    return Outcome::next;
  };
}
template <class F>
Handler logic(Decoding& in, F f) {
  return in.type("type") == Type::pred ? predicates(in, f, true) : modular(in, f);
}

}  // namespace

namespace op {

Handler add_int(Decoding& in) {
  if (in.wrote("sat"))
    return map<std::int32_t(std::int32_t, std::int32_t)>(
        in, {"d", "a", "b"}, [](std::int32_t a, std::int32_t b) { return clamp_to_s32(std::int64_t{a} + b); });
  return modular(in, []<class T>(T a, T b) { return plus(a, b); });
}

Handler sub_int(Decoding& in) {
  if (in.wrote("sat"))
    return map<std::int32_t(std::int32_t, std::int32_t)>(
        in, {"d", "a", "b"}, [](std::int32_t a, std::int32_t b) { return clamp_to_s32(std::int64_t{a} - b); });
  return modular(in, []<class T>(T a, T b) { return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b)); });
}

Handler mul_int(Decoding& in) {
  if (in.chosen("mode") == "hi") return binary(in, []<class T>(T a, T b) { return high(a, b); });
  return modular(in, []<class T>(T a, T b) { return low(a, b); });
}

Handler mul_wide(Decoding& in) {
  return by_wide_integer(in.type("type"), [&]<class T>(T) -> Handler {
    if constexpr (sizeof(T) == 8)
      return nullptr;
    else
      return map<Doubled<T>(T, T)>(in, {"d", "a", "b"}, [](T a, T b) {
        return static_cast<Doubled<T>>(static_cast<Doubled<T>>(a) * static_cast<Doubled<T>>(b));
      });
  });
}

Handler mad_int(Decoding& in) {
  using S32 = std::int32_t;
  if (in.wrote("sat"))
    return map<S32(S32, S32, S32)>(in, {"d", "a", "b", "c"},
                                   [](S32 a, S32 b, S32 c) { return clamp_to_s32(std::int64_t{high(a, b)} + c); });
  const bool hi = in.chosen("mode") == "hi";
  return by_wide_integer(in.type("type"), [&]<class T>(T) {
    if (hi) return map<T(T, T, T)>(in, {"d", "a", "b", "c"}, [](T a, T b, T c) { return plus(high(a, b), c); });
    return map<T(T, T, T)>(in, {"d", "a", "b", "c"}, [](T a, T b, T c) { return plus(low(a, b), c); });
  });
}

Handler mad_wide(Decoding& in) {
  return by_wide_integer(in.type("type"), [&]<class T>(T) -> Handler {
    if constexpr (sizeof(T) == 8)
      return nullptr;
    else
      return map<Doubled<T>(T, T, Doubled<T>)>(in, {"d", "a", "b", "c"}, [](T a, T b, Doubled<T> c) {
        return plus(static_cast<Doubled<T>>(static_cast<Doubled<T>>(a) * static_cast<Doubled<T>>(b)), c);
      });
  });
}

Handler div_int(Decoding& in) {
  return binary(in, []<class T>(T a, T b) { return quotient(a, b); });
}
Handler rem_int(Decoding& in) {
  return binary(in, []<class T>(T a, T b) { return remainder(a, b); });
}

Handler abs_int(Decoding& in) {
  return unary(in, []<class T>(T a) { return a < 0 ? static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a)) : a; });
}
Handler neg_int(Decoding& in) {
  return modular_unary(in, []<class T>(T a) { return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a)); });
}
Handler min_int(Decoding& in) {
  return binary(in, []<class T>(T a, T b) { return b < a ? b : a; });
}
Handler max_int(Decoding& in) {
  return binary(in, []<class T>(T a, T b) { return a < b ? b : a; });
}

Handler and_(Decoding& in) {
  return logic(in, []<class T>(T a, T b) { return static_cast<T>(a & b); });
}
Handler or_(Decoding& in) {
  return logic(in, []<class T>(T a, T b) { return static_cast<T>(a | b); });
}
Handler xor_(Decoding& in) {
  return logic(in, []<class T>(T a, T b) { return static_cast<T>(a ^ b); });
}
Handler not_(Decoding& in) {
  if (in.type("type") == Type::pred) return predicates(in, [](Mask a, Mask) { return ~a; }, false);
  return modular_unary(in, []<class T>(T a) { return static_cast<T>(~a); });
}

Handler mul24(Decoding& in) {
  const bool hi = in.chosen("mode") == "hi";
  const auto make = [&]<class T>(T) {
    if (hi) return map<T(T, T)>(in, {"d", "a", "b"}, [](T a, T b) { return part_of_48_bits(a, b, true); });
    return map<T(T, T)>(in, {"d", "a", "b"}, [](T a, T b) { return part_of_48_bits(a, b, false); });
  };
  return in.type("type") == Type::s32 ? make(std::int32_t{}) : make(std::uint32_t{});
}

Handler mad24(Decoding& in) {
  using S32 = std::int32_t;
  if (in.wrote("sat"))
    return map<S32(S32, S32, S32)>(in, {"d", "a", "b", "c"}, [](S32 a, S32 b, S32 c) {
      return clamp_to_s32(std::int64_t{part_of_48_bits(a, b, true)} + c);
    });
  const bool hi = in.chosen("mode") == "hi";
  const auto make = [&]<class T>(T) {
    if (hi) return map<T(T, T, T)>(in, {"d", "a", "b", "c"}, [](T a, T b, T c) { return plus(part_of_48_bits(a, b, true), c); });
    return map<T(T, T, T)>(in, {"d", "a", "b", "c"}, [](T a, T b, T c) { return plus(part_of_48_bits(a, b, false), c); });
  };
  return in.type("type") == Type::s32 ? make(S32{}) : make(std::uint32_t{});
}

Handler sad(Decoding& in) {
  return by_wide_integer(in.type("type"), [&]<class T>(T) {
    return map<T(T, T, T)>(in, {"d", "a", "b", "c"}, [](T a, T b, T c) {
      const Wrapping<T> less = static_cast<Wrapping<T>>(a < b ? a : b), more = static_cast<Wrapping<T>>(a < b ? b : a);
      return static_cast<T>(static_cast<Wrapping<T>>(c) + (more - less));
    });
  });
}

Handler cnot(Decoding& in) {
  return modular_unary(in, []<class T>(T a) { return static_cast<T>(a == 0 ? 1 : 0); });
}

Handler shl(Decoding& in) {
  return by_wide_integer(in.type("type"), [&]<class T>(T) {
    constexpr std::uint32_t width = 8 * sizeof(T);
    return map<T(T, std::uint32_t)>(in, {"d", "a", "b"}, [](T a, std::uint32_t by) {
      return static_cast<T>(by < width ? static_cast<Wrapping<T>>(a) << (by & (width - 1)) : 0);
    });
  });
}

Handler shr(Decoding& in) {
  return by_wide_integer(in.type("type"), [&]<class T>(T) {
    constexpr std::uint32_t width = 8 * sizeof(T);
    return map<T(T, std::uint32_t)>(in, {"d", "a", "b"}, [](T a, std::uint32_t by) {
      // amounts beyond the width leave the sign, or nothing
      return static_cast<T>(by < width ? a >> (by & (width - 1)) : (a < 0 ? -1 : 0));
    });
  });
}

}  // namespace op
}  // namespace ptx::vgpu
