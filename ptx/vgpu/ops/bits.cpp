// Bits: counting and fields, bytes picked from two words, logic of three operands, shifts over two words, products without
// carries (rows: ptx/isa/table/integer.hpp, prmt in data_movement.hpp).
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
using UnsignedOf = std::make_unsigned_t<T>;
template <class T>
constexpr U32 width_of = 8 * sizeof(T);

// The low n bits, n up to the width.
template <class T>
constexpr T low_ones(U32 n) {
  return n >= width_of<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << n) - 1);
}

// In each round neighbours change places: bits, pairs, quartets, bytes, halves.
template <class T>
constexpr T reversed(T a) {
  for (U32 by = 1; by < width_of<T>; by *= 2) {
    const T kept = static_cast<T>(~T{0}) / static_cast<T>((T{1} << by) + 1);  // 0x5555…, 0x3333…, 0x0F0F…
    a = static_cast<T>((a >> by & kept) | (a & kept) << by);
  }
  return a;
}

// The place of the highest bit that is no sign bit, counted from the lowest (or, for .shiftamt, from the highest).
template <class T>
constexpr U32 highest_bit(T a, bool from_above) {
  const auto bits = static_cast<UnsignedOf<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
  const auto above = static_cast<U32>(std::countl_zero(bits));
  if (bits == 0) return ~U32{0};
  return from_above ? above : width_of<T> - 1 - above;
}

// The manual's loop. A base beyond 31, which it leaves open, finds nothing.
constexpr U32 find_nth_set(U32 mask, U32 base, std::int32_t offset) {
  if (base >= 32) return ~U32{0};
  if (offset == 0) return (mask >> base & 1) != 0 ? base : ~U32{0};
  std::int64_t left = offset < 0 ? -std::int64_t{offset} : std::int64_t{offset};
  const int step = offset < 0 ? -1 : 1;
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) != 0 && --left == 0) return static_cast<U32>(at);
  return ~U32{0};
}

// `length` bits of a from bit `from` on; above a's highest bit lie copies of its sign.
template <class T>
constexpr T field(T a, U32 from, U32 length) {
  from &= 0xFF;
  length &= 0xFF;
  constexpr U32 width = width_of<T>;
  const T beyond = static_cast<T>(a < 0 ? -1 : 0);
  const T shifted = from < width ? static_cast<T>(a >> (from & (width - 1))) : beyond;
  const U32 unused = length < width ? width - length : 0;
  const T kept =
      static_cast<T>(static_cast<T>(static_cast<UnsignedOf<T>>(shifted) << (unused & (width - 1))) >> (unused & (width - 1)));
  return length == 0 ? T{0} : kept;
}

template <class T>
constexpr T with_field(T a, T b, U32 from, U32 length) {
  from &= 0xFF;
  length &= 0xFF;
  if (from >= width_of<T>) return b;
  const T replaced = static_cast<T>(low_ones<T>(length) << from);
  return static_cast<T>((b & ~replaced) | (static_cast<T>(a << from) & replaced));
}

constexpr U32 mask_from(U32 from, U32 length, bool wrap) {
  if (wrap) from &= 31, length &= 31;
  return from >= 32 ? 0 : low_ones<U32>(length < 32 ? length : 32) << from;
}

template <class T>
constexpr T extended(T a, U32 length, bool wrap) {
  if (wrap) length &= 31;
  if (length >= 32) return a;
  if (length == 0) return 0;
  return static_cast<T>(static_cast<T>(static_cast<U32>(a) << (32 - length)) >> (32 - length));
}

// Bits 0 to 2 of each quartet of `control` pick a byte of b:a, bit 3 its sign in all eight bits.
constexpr U32 permuted(U32 a, U32 b, U32 control) {
  const U64 both = U64{b} << 32 | a;
  U32 d = 0;
  for (int i = 0; i < 4; ++i) {
    const U32 pick = control >> (4 * i) & 0xF;
    const U32 byte = static_cast<U32>(both >> (8 * (pick & 7))) & 0xFF;
    d |= ((pick & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xFFu : 0u) << (8 * i);
  }
  return d;
}
// What a mode picks for the byte i of d where the two lowest bits of c are n.
U32 picked_by(std::string_view mode, U32 n, U32 i) {
  if (mode == "f4e") return n + i;
  if (mode == "b4e") return (n - i) & 7;
  if (mode == "rc8") return n;
  if (mode == "ecl") return n > i ? n : i;
  if (mode == "ecr") return n < i ? n : i;
  return (n & 1) * 2 + (i & 1);  // rc16
}

// Each bit of a, b and c is a digit of the place in the table: a's the highest.
constexpr U32 looked_up(U32 a, U32 b, U32 c, U32 table) {
  const auto either = [=](U32 place) {
    const U32 no = U32{0} - (table >> place & 1), yes = U32{0} - (table >> (place + 1) & 1);
    return (no & ~c) | (yes & c);
  };
  const U32 low = (either(0) & ~b) | (either(2) & b), high = (either(4) & ~b) | (either(6) & b);
  return (low & ~a) | (high & a);
}

// x[0] = d, x[1] = a, x[2] = b, x[3] = c; imm = the table. With a boolean operator also x[4] = p, x[5] = q, x[6] = what q is
// flipped with, x[7] = 1 for `.and`.
struct Logic3 {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<U32>(step.x[1]);
    const auto* b = warp.slot<U32>(step.x[2]);
    const auto* c = warp.slot<U32>(step.x[3]);
    const auto table = static_cast<U32>(step.imm);
    write_lanes(warp.slot<U32>(step.x[0]), mask, [=](int l) { return looked_up(a[l], b[l], c[l], table); });
    return Outcome::next;
  }
};
struct Logic3WithPredicate {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<U32>(step.x[1]);
    const auto* b = warp.slot<U32>(step.x[2]);
    const auto* c = warp.slot<U32>(step.x[3]);
    const auto table = static_cast<U32>(step.imm);
    const Mask some = lanes_where([=](int l) { return looked_up(a[l], b[l], c[l], table) != 0; });
    const Mask q = warp.pred(step.x[5]) ^ step.x[6];
    Mask& p = warp.pred(step.x[4]);
    p = (p & ~mask) | ((step.x[7] != 0 ? some & q : some | q) & mask);
    return Logic3::run(warp, step, mask);
  }
};
void bind_logic3(Decoding& in) {
  in.step.x = {in.write("d", Type::b32), in.read("a", Type::b32), in.read("b", Type::b32), in.read("c", Type::b32)};
  in.step.imm = in.immediate("lut").value_or(0) & 0xFF;
}

// Half of the product of two polynomials over GF(2).
constexpr U64 carryless(U64 a, U64 b, bool hi) {
  U64 low = 0, high = 0;
  for (int i = 0; i < 64; ++i) {
    const U64 chosen = U64{0} - (b >> i & 1);
    low ^= a << i & chosen;
    high ^= (i == 0 ? 0 : a >> (64 - i)) & chosen;
  }
  return hi ? high : low;
}

// Calls use(T{}) for the type of 32 or 64 bits.
template <class Use>
Handler by_word(Type type, Use use) {
  return by_wide_integer(type, [&]<class T>(T zero) -> Handler {
    if constexpr (sizeof(T) == 2)
      return nullptr;
    else
      return use(zero);
  });
}

}  // namespace

namespace op {

Handler popc(Decoding& in) {
  return by_word(in.type("type"), [&]<class T>(T) {
    return map<U32(T)>(in, {"d", "a"}, [](T a) { return static_cast<U32>(std::popcount(static_cast<UnsignedOf<T>>(a))); });
  });
}
Handler clz(Decoding& in) {
  return by_word(in.type("type"), [&]<class T>(T) {
    return map<U32(T)>(in, {"d", "a"}, [](T a) { return static_cast<U32>(std::countl_zero(static_cast<UnsignedOf<T>>(a))); });
  });
}
Handler bfind(Decoding& in) {
  const bool from_above = in.wrote("shiftamt");
  return by_word(in.type("type"), [&]<class T>(T) {
    if (from_above) return map<U32(T)>(in, {"d", "a"}, [](T a) { return highest_bit(a, true); });
    return map<U32(T)>(in, {"d", "a"}, [](T a) { return highest_bit(a, false); });
  });
}
Handler fns(Decoding& in) {
  return map<U32(U32, U32, std::int32_t)>(in, {"d", "mask", "base", "offset"}, [](U32 mask, U32 base, std::int32_t offset) {
    return find_nth_set(mask, base, offset);
  });
}
Handler brev(Decoding& in) {
  if (in.type("type") == Type::b64) return map<U64(U64)>(in, {"d", "a"}, [](U64 a) { return reversed(a); });
  return map<U32(U32)>(in, {"d", "a"}, [](U32 a) { return reversed(a); });
}
Handler bfe(Decoding& in) {
  return by_word(in.type("type"), [&]<class T>(T) {
    return map<T(T, U32, U32)>(in, {"d", "a", "b", "c"}, [](T a, U32 from, U32 length) { return field(a, from, length); });
  });
}
Handler bfi(Decoding& in) {
  const auto make = [&]<class T>(T) {
    return map<T(T, T, U32, U32)>(in, {"d", "a", "b", "c", "e"},
                                  [](T a, T b, U32 from, U32 length) { return with_field(a, b, from, length); });
  };
  return in.type("type") == Type::b64 ? make(U64{}) : make(U32{});
}
Handler szext(Decoding& in) {
  const bool wrap = in.chosen("mode") == "wrap";
  const auto make = [&]<class T>(T) {
    if (wrap) return map<T(T, U32)>(in, {"d", "a", "b"}, [](T a, U32 length) { return extended(a, length, true); });
    return map<T(T, U32)>(in, {"d", "a", "b"}, [](T a, U32 length) { return extended(a, length, false); });
  };
  return in.type("type") == Type::s32 ? make(std::int32_t{}) : make(U32{});
}
Handler bmsk(Decoding& in) {
  if (in.chosen("mode") == "wrap")
    return map<U32(U32, U32)>(in, {"d", "a", "b"}, [](U32 from, U32 length) { return mask_from(from, length, true); });
  return map<U32(U32, U32)>(in, {"d", "a", "b"}, [](U32 from, U32 length) { return mask_from(from, length, false); });
}

Handler prmt(Decoding& in) {
  const std::string_view mode = in.chosen("mode");
  U64 controls = 0;  // 16 bits for each value of the two bits that count
  for (U32 n = 0; n < 4 && !mode.empty(); ++n)
    for (U32 i = 0; i < 4; ++i) controls |= U64{picked_by(mode, n, i)} << (16 * n + 4 * i);
  in.step.x = {in.write("d", Type::b32), in.read("a", Type::b32), in.read("b", Type::b32), in.read("c", Type::b32)};
  in.step.imm = static_cast<std::int64_t>(controls);
  return [](Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<U32>(step.x[1]);
    const auto* b = warp.slot<U32>(step.x[2]);
    const auto* c = warp.slot<U32>(step.x[3]);
    const auto picked = static_cast<U64>(step.imm);
    std::array<U32, lane_count> control;
    for (std::size_t l = 0; l < lane_count; ++l)
      control[l] = picked == 0 ? c[l] : static_cast<U32>(picked >> (16 * (c[l] & 3)) & 0xFFFF);
    write_lanes(warp.slot<U32>(step.x[0]), mask,
                [&](int l) { return permuted(a[l], b[l], control[static_cast<std::size_t>(l)]); });
    return Outcome::next;
  };
}

Handler lop3(Decoding& in) {
  bind_logic3(in);
  return Compiled<Logic3>::handler();
}
Handler lop3_bool(Decoding& in) {
  bind_logic3(in);
  const Decoding::Pred q = in.read_pred("q");
  in.step.x[4] = in.write_pred("p");
  in.step.x[5] = q.offset;
  in.step.x[6] = q.flip;
  in.step.x[7] = in.chosen("bool_op") == "and" ? 1 : 0;
  return Compiled<Logic3WithPredicate>::handler();
}

Handler shf(Decoding& in) {
  const auto make = [&]<class F>(F) {
    const auto amount_of = [](U32 c, bool wrap) { return wrap ? c & 31 : c < 32 ? c : 32; };
    const bool wrap = in.chosen("mode") == "wrap";
    using Amount = decltype(amount_of);
    if (wrap)
      return map<U32(U32, U32, U32)>(in, {"d", "a", "b", "c"},
                                     [](U32 a, U32 b, U32 c) { return F{}(U64{b} << 32 | a, Amount{}(c, true)); });
    return map<U32(U32, U32, U32)>(in, {"d", "a", "b", "c"},
                                   [](U32 a, U32 b, U32 c) { return F{}(U64{b} << 32 | a, Amount{}(c, false)); });
  };
  if (in.chosen("dir") == "l") return make([](U64 both, U32 by) { return static_cast<U32>(both << by >> 32); });
  return make([](U64 both, U32 by) { return static_cast<U32>(both >> by); });
}

Handler clmad(Decoding& in) {
  if (in.chosen("mode") == "hi")
    return map<U64(U64, U64, U64)>(in, {"d", "a", "b", "c"}, [](U64 a, U64 b, U64 c) { return carryless(a, b, true) ^ c; });
  return map<U64(U64, U64, U64)>(in, {"d", "a", "b", "c"}, [](U64 a, U64 b, U64 c) { return carryless(a, b, false) ^ c; });
}

}  // namespace op
}  // namespace ptx::vgpu
