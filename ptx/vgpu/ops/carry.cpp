// Sums over several words: add.cc, addc, sub.cc, subc, mad.cc, madc (rows: ptx/isa/table/integer.hpp). The flag CC.CF is one more
// predicate of the register file. As on a GPU it is the carry of an adder: a difference is a + ~b + 1, so that after `sub.cc` and
// `subc.cc` the flag is set where nothing was borrowed (docs/facts.md).
#include <array>

#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <class T>
using Unsigned = std::make_unsigned_t<T>;

// What is added to the last operand.
struct Sum {
  template <class T>
  static constexpr T first(T a, T) {
    return a;
  }
  template <class T>
  static constexpr T last(T b) {
    return b;
  }
};
struct Difference : Sum {
  template <class T>
  static constexpr T last(T b) {
    return static_cast<T>(~b);
  }
};
struct LowProduct : Sum {
  template <class T>
  static constexpr T first(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
  }
};
struct HighProduct : Sum {
  template <class T>
  static constexpr T first(T a, T b) {
    if constexpr (sizeof(T) == 4) {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 32);
    } else {
      using Wide = std::conditional_t<std::is_signed_v<T>, Int128, UInt128>;
      return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
    }
  }
};

// x[0] = d, x[1] = a, x[2] = b, x[3] = the summand; x[4] = the flag that is read, x[5] = the one that is written.
template <class T, class Kind>
struct WithCarry {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    using U = Unsigned<T>;
    const auto* a = warp.slot<U>(step.x[1]);
    const auto* b = warp.slot<U>(step.x[2]);
    const auto* c = warp.slot<U>(step.x[3]);
    const Mask in = warp.pred(step.x[4]);
    std::array<U, lane_count> sum;
    std::array<std::uint32_t, lane_count> out;
    PTX_INDEPENDENT_LANES
    for (std::size_t l = 0; l < lane_count; ++l) {
      const U first = static_cast<U>(Kind::template first<T>(static_cast<T>(a[l]), static_cast<T>(b[l])));
      const U last = Kind::template last<U>(c[l]);
      const U both = first + last, all = both + static_cast<U>(in >> l & 1);
      sum[l] = all;
      out[l] = (both < first ? 1u : 0u) | (all < both ? 1u : 0u);
    }
    write_lanes(warp.slot<U>(step.x[0]), mask, [&](int l) { return sum[static_cast<std::size_t>(l)]; });
    const Mask carries = lanes_where([&](int l) { return out[static_cast<std::size_t>(l)] != 0; });
    Mask& flag = warp.pred(step.x[5]);
    flag = (flag & ~mask) | (carries & mask);
    return Outcome::next;
  }
};

// `without`: the flag of an instruction that reads none.
template <class T, class Kind>
Handler with_carry(Decoding& in, std::string_view summand, std::uint32_t without) {
  const Type type = type_of<T>();
  in.step.x[0] = in.write("d", type);
  in.step.x[1] = in.read("a", type);
  in.step.x[2] = in.read("b", type);
  in.step.x[3] = in.read(summand, type);
  in.step.x[4] = in.form().traits.has(isa::Trait::carry_in) ? in.carry() : without;
  in.step.x[5] = isa::writes_carry(in.form(), in.choices()) ? in.carry() : discard_offset;
  return Compiled<WithCarry<T, Kind>>::handler();
}

bool is_wide(const Decoding& in) { return isa::bits(in.type("type")) == 64; }

}  // namespace

namespace op {

Handler add_carry(Decoding& in) {
  return is_wide(in) ? with_carry<std::uint64_t, Sum>(in, "b", zero_offset)
                     : with_carry<std::uint32_t, Sum>(in, "b", zero_offset);
}
Handler sub_carry(Decoding& in) {
  return is_wide(in) ? with_carry<std::uint64_t, Difference>(in, "b", always_offset)
                     : with_carry<std::uint32_t, Difference>(in, "b", always_offset);
}
Handler mad_carry(Decoding& in) {
  if (in.chosen("mode") == "lo")
    return is_wide(in) ? with_carry<std::uint64_t, LowProduct>(in, "c", zero_offset)
                       : with_carry<std::uint32_t, LowProduct>(in, "c", zero_offset);
  return by_wide_integer(in.type("type"), [&]<class T>(T) -> Handler {
    if constexpr (sizeof(T) == 2)
      return nullptr;
    else
      return with_carry<T, HighProduct>(in, "c", zero_offset);
  });
}

}  // namespace op
}  // namespace ptx::vgpu
