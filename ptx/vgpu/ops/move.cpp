// Moves between registers (rows: ptx/isa/table/data_movement.hpp, "mov").
#include <algorithm>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/machine/specials.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

// x[0] = d, x[1] and so on = the parts.
template <class Whole, class Part>
struct Pack {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    std::array<const std::uint32_t*, sizeof(Whole) / sizeof(Part)> from;
    for (std::size_t k = 0; k < from.size(); ++k) from[k] = warp.slot<std::uint32_t>(step.x[k + 1]);
    write_lanes(warp.slot<SlotOf<Whole>>(step.x[0]), mask, [=](int l) {
      Whole whole = 0;
      for (std::size_t k = 0; k < from.size(); ++k)
        whole |= static_cast<Whole>(static_cast<Part>(from[k][l])) << (8 * sizeof(Part) * k);
      return whole;
    });
    return Outcome::next;
  }
};
template <class Whole, class Part>
struct Unpack {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* from = warp.slot<SlotOf<Whole>>(step.x[0]);
    for (std::size_t k = 0; k < sizeof(Whole) / sizeof(Part); ++k)
      write_lanes(warp.slot<std::uint32_t>(step.x[k + 1]), mask,
                  [=](int l) { return static_cast<Part>(from[l] >> (8 * sizeof(Part) * k)); });
    return Outcome::next;
  }
};
template <template <class, class> class Body>
Handler by_shape(Decoding& in, int whole, int part) {
  if (whole == 16) return Compiled<Body<std::uint16_t, std::uint8_t>>::handler();
  if (whole == 32 && part == 8) return Compiled<Body<std::uint32_t, std::uint8_t>>::handler();
  if (whole == 32) return Compiled<Body<std::uint32_t, std::uint16_t>>::handler();
  if (part == 32) return Compiled<Body<std::uint64_t, std::uint32_t>>::handler();
  if (part == 16) return Compiled<Body<std::uint64_t, std::uint16_t>>::handler();
  return in.refuse("the executor packs 2 or 4 parts");
}

// Half of a register of 128 bits; of a sink, the same place for both.
std::uint64_t* half_of_wide(const Warp& warp, std::uint32_t slot, bool high) {
  return warp.slot<std::uint64_t>(slot) + (high && slot != discard_offset ? lane_count : 0);
}
// The same of two parts of 64 bits, or four of 32.
template <std::size_t parts>
Outcome pack_wide(Warp& warp, const Step& step, Mask mask) {
  for (const bool high : {false, true}) {
    std::uint64_t* const d = half_of_wide(warp, step.x[0], high);
    if constexpr (parts == 2) {
      const auto* from = warp.slot<std::uint64_t>(step.x[high ? 2 : 1]);
      write_lanes(d, mask, [=](int l) { return from[l]; });
    } else {
      const auto* low = warp.slot<std::uint32_t>(step.x[high ? 3 : 1]);
      const auto* up = warp.slot<std::uint32_t>(step.x[high ? 4 : 2]);
      write_lanes(d, mask, [=](int l) { return low[l] | std::uint64_t{up[l]} << 32; });
    }
  }
  return Outcome::next;
}
template <std::size_t parts>
Outcome unpack_wide(Warp& warp, const Step& step, Mask mask) {
  for (const bool high : {false, true}) {
    const std::uint64_t* const a = half_of_wide(warp, step.x[0], high);
    if constexpr (parts == 2) {
      write_lanes(warp.slot<std::uint64_t>(step.x[high ? 2 : 1]), mask, [=](int l) { return a[l]; });
    } else {
      write_lanes(warp.slot<std::uint32_t>(step.x[high ? 3 : 1]), mask, [=](int l) { return static_cast<std::uint32_t>(a[l]); });
      write_lanes(warp.slot<std::uint32_t>(step.x[high ? 4 : 2]), mask,
                  [=](int l) { return static_cast<std::uint32_t>(a[l] >> 32); });
    }
  }
  return Outcome::next;
}
constexpr Handler pack_wide_of[] = {&pack_wide<2>, &pack_wide<4>};
constexpr Handler unpack_wide_of[] = {&unpack_wide<2>, &unpack_wide<4>};

Handler wide(Decoding& in, const Handler (&by_parts)[2], std::size_t parts) {
  return parts == 2 ? by_parts[0] : parts == 4 ? by_parts[1] : in.refuse("the executor packs 2 or 4 parts");
}

Type whole_type(const Decoding& in) {
  return in.wrote("b16") ? Type::b16 : in.wrote("b32") ? Type::b32 : in.wrote("b64") ? Type::b64 : Type::b128;
}
// x[0] to x[3] = where to, x[4] to x[7] = where from, imm = how many: all are read before one is written.
template <class Slot>
Outcome move_elements(Warp& warp, const Step& step, Mask mask) {
  std::array<std::array<Slot, lane_count>, 4> from;
  const auto count = static_cast<std::size_t>(step.imm);
  for (std::size_t k = 0; k < count; ++k) std::copy_n(warp.slot<Slot>(step.x[4 + k]), lane_count, from[k].begin());
  for (std::size_t k = 0; k < count; ++k)
    write_lanes(warp.slot<Slot>(step.x[k]), mask, [&](int l) { return from[k][static_cast<std::size_t>(l)]; });
  return Outcome::next;
}
Handler copy_elements(Decoding& in, const std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from, bool wide) {
  std::copy(to.begin(), to.end(), in.step.x.begin());
  std::copy(from.begin(), from.end(), in.step.x.begin() + 4);
  in.step.imm = static_cast<std::int64_t>(to.size());
  return wide ? &move_elements<std::uint64_t> : &move_elements<std::uint32_t>;
}

}  // namespace

namespace op {

Handler mov(Decoding& in) {
  const Type type = in.type("type");
  if (type == Type::pred) {
    const Decoding::Pred a = in.read_pred("a");
    in.step.x = {in.write_pred("d"), a.offset, a.flip};
    return [](Warp& warp, const Step& step, Mask mask) {
      Mask& d = warp.pred(step.x[0]);
      d = (d & ~mask) | ((warp.pred(step.x[1]) ^ step.x[2]) & mask);
      return Outcome::next;
    };
  }
  if (isa::bits(type) == 64) return map<std::uint64_t(std::uint64_t)>(in, {"d", "a"}, [](std::uint64_t a) { return a; });
  return map<std::uint32_t(std::uint32_t)>(in, {"d", "a"}, [](std::uint32_t a) { return a; });
}

Handler mov_special(Decoding& in) {
  const isa::SpecialId id = in.special("a");
  const SpecialValue* value = special_value(id);
  if (value == nullptr) return in.refuse(cat("the executor has no `", isa::specials()[id].name, '`'));
  const bool wide = isa::bits(in.type("type")) == 64;
  in.step.x[0] = in.write("d", in.type("type"));
  if (value->clock) {
    in.step.imm = value->name.ends_with("_hi") ? 32 : 0;
    if (wide)
      return [](Warp& warp, const Step& step, Mask mask) {
        ++warp.cta->changes;
        write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask, [now = time_at(warp, step)](int) { return now; });
        return Outcome::next;
      };
    return [](Warp& warp, const Step& step, Mask mask) {
      ++warp.cta->changes;
      write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask,
                  [now = time_at(warp, step) >> step.imm](int) { return static_cast<std::uint32_t>(now); });
      return Outcome::next;
    };
  }
  in.step.x[1] = in.read_special(id, in.type("type"));
  const auto copy = []<class T>(T a) { return a; };
  return wide ? Compiled<Map<std::uint64_t(std::uint64_t), decltype(copy)>>::handler()
              : Compiled<Map<std::uint32_t(std::uint32_t), decltype(copy)>>::handler();
}

Handler mov_symbol(Decoding& in) {
  const Type type = in.type("type");
  in.step.x[0] = in.write("d", type);
  const Decoding::Symbol symbol = in.read_symbol("a");
  in.step.x[1] = symbol.base;
  in.step.imm = symbol.address;
  if (isa::bits(type) == 64)
    return [](Warp& warp, const Step& step, Mask mask) {
      const auto* base = warp.slot<std::uint64_t>(step.x[1]);
      write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask,
                  [&](int l) { return base[l] + static_cast<std::uint64_t>(step.imm); });
      return Outcome::next;
    };
  return [](Warp& warp, const Step& step, Mask mask) {
    const auto* base = warp.slot<std::uint64_t>(step.x[1]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask,
                [&](int l) { return static_cast<std::uint32_t>(base[l] + static_cast<std::uint64_t>(step.imm)); });
    return Outcome::next;
  };
}

Handler mov_pack(Decoding& in) {
  const Type type = whole_type(in), part = in.operand_type("a");
  in.step.x[0] = in.write("d", type);
  const auto parts = in.read_all("a", part);
  std::copy_n(parts.begin(), std::min<std::size_t>(parts.size(), 4), in.step.x.begin() + 1);
  return type == Type::b128 ? wide(in, pack_wide_of, parts.size()) : by_shape<Pack>(in, isa::bits(type), isa::bits(part));
}

Handler mov_unpack(Decoding& in) {
  const Type type = whole_type(in), part = in.operand_type("d");
  in.step.x[0] = in.read("a", type);
  const auto parts = in.write_all("d", part);
  std::copy_n(parts.begin(), std::min<std::size_t>(parts.size(), 4), in.step.x.begin() + 1);
  return type == Type::b128 ? wide(in, unpack_wide_of, parts.size()) : by_shape<Unpack>(in, isa::bits(type), isa::bits(part));
}

Handler mov_b128(Decoding& in) {
  in.step.x = {in.write("d", Type::b128), in.read("a", Type::b128)};
  return [](Warp& warp, const Step& step, Mask mask) {
    for (const bool high : {false, true}) {
      const auto* a = half_of_wide(warp, step.x[1], high);
      write_lanes(half_of_wide(warp, step.x[0], high), mask, [=](int l) { return a[l]; });
    }
    return Outcome::next;
  };
}

// The low half of an address in 16 bits; zeros above it in 128.
Handler mov_symbol_narrow_or_wide(Decoding& in) {
  const Type type = in.type("type");
  if (type != Type::b128) return mov_symbol(in);
  in.step.x[0] = in.write("d", type);
  const Decoding::Symbol symbol = in.read_symbol("a");
  in.step.x[1] = symbol.base;
  in.step.imm = symbol.address;
  return [](Warp& warp, const Step& step, Mask mask) {
    const auto* base = warp.slot<std::uint64_t>(step.x[1]);
    write_lanes(half_of_wide(warp, step.x[0], false), mask,
                [&](int l) { return base[l] + static_cast<std::uint64_t>(step.imm); });
    write_lanes(half_of_wide(warp, step.x[0], true), mask, [](int) { return std::uint64_t{0}; });
    return Outcome::next;
  };
}

Handler mov_vector(Decoding& in) {
  const Type type = in.type("type");
  const auto a = in.read_all("a", type), d = in.write_all("d", type);
  if (a.size() != d.size() || a.size() > 4) return in.refuse("its vectors have different lengths");
  return copy_elements(in, d, a, isa::bits(type) == 64);
}

Handler mov_special_low(Decoding& in) {
  const isa::SpecialId id = in.special("a");
  if (special_value(id) == nullptr || special_value(id)->clock) return in.refuse("it takes an index or a size alone");
  return copy_elements(in, {in.write("d", Type::u16)}, {in.read_special(id, Type::u32)}, false);
}

Handler mov_special_vector(Decoding& in) {
  std::vector<std::uint32_t> a;
  for (const std::string_view element : {".x", ".y", ".z", ".w"}) {
    const auto id = isa::special_from_name(cat(isa::specials()[in.special("a")].name, element));
    if (!id || special_value(*id) == nullptr) return in.refuse("the special register has no elements");
    a.push_back(in.read_special(*id, Type::u32));
  }
  if (in.has("vec")) {
    const auto d = in.write_all("d", Type::u32);
    if (d.size() != a.size()) return in.refuse("its vectors have different lengths");
    return copy_elements(in, d, a, false);
  }
  in.step.x[0] = in.write("d", Type::b128);
  std::copy(a.begin(), a.end(), in.step.x.begin() + 1);
  return pack_wide_of[1];
}

// The one special register that is a predicate.
Handler mov_special_pred(Decoding& in) {
  in.step.x[0] = in.write_pred("d");
  return [](Warp& warp, const Step& step, Mask mask) {
    Mask& d = warp.pred(step.x[0]);
    d = (d & ~mask) | (warp.cta->launch->explicit_cluster ? mask : 0);
    return Outcome::next;
  };
}

}  // namespace op
}  // namespace ptx::vgpu
