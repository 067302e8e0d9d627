// Moves, loads and stores (rows: ptx/isa/table/data_movement.hpp).
#include <atomic>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/ops/map.hpp"
#include "ptx/vgpu/schedule.hpp"
#include "ptx/vgpu/specials.hpp"
#include "ptx/vgpu/undefined.hpp"

namespace ptx::vgpu {
namespace {

using Addresses = std::array<std::uint64_t, lane_count>;
using Places = std::array<Place, lane_count>;

// ---- loads: x[0] to x[n-1] = the elements' slots, x[8] = address

// The bytes that a warp loads, when they are not all in the likely region or some may be unwritten: lane by lane.
template <class T, std::size_t n>
Outcome load_places(Warp& warp, const Step& step, Mask mask, const Addresses& address) {
  Places places;
  if (!find_places(warp, step, mask, step.space, false, n * sizeof(T), address.data(), places)) return Outcome::fault;
  const bool was_traced = warp.traced;
  note_unwritten(warp, step, mask, n, sizeof(T), address.data(), places);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    for (std::size_t k = 0; k < n; ++k)
      warp.slot<SlotOf<T>>(step.x[k])[l] = to_slot<T>(load_as<T>(places[l].data + k * sizeof(T)));
  }
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

template <class T, std::size_t n>
struct Load {
  static constexpr std::uint32_t bytes = n * sizeof(T);
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    std::array<SlotOf<T>*, n> d;
    for (std::size_t k = 0; k < n; ++k) d[k] = warp.slot<SlotOf<T>>(step.x[k]);
    const MemoryRegion* region = nullptr;
    std::uint64_t offset = 0;
    if (in_order<bytes>(warp, step, mask, false, region, offset) &&
        (region->written == nullptr || all_written<bytes * lane_count>(region->written + offset))) {
      const std::byte* from = region->data + offset;
      PTX_INDEPENDENT_LANES
      for (std::size_t l = 0; l < lane_count; ++l)
        for (std::size_t k = 0; k < n; ++k) d[k][l] = to_slot<T>(load_as<T>(from + l * bytes + k * sizeof(T)));
      return Outcome::next;
    }
    Addresses address;
    read_addresses(warp, step, address);
    Offsets offsets;
    if (!find_offsets<bytes>(warp, step, mask, address, false, offsets)) return load_places<T, n>(warp, step, mask, address);
    region = offsets.region;
    if (region->written != nullptr) {
      bool written = true;
      for (std::size_t l = 0; l < lane_count; ++l) written &= all_written<bytes>(region->written + offsets.of[l]);
      if (!written) return load_places<T, n>(warp, step, mask, address);
    }
    for (std::size_t k = 0; k < n; ++k) {
      const std::byte* from = region->data + k * sizeof(T);
      write_lanes(d[k], mask, [&](int l) { return to_slot<T>(load_as<T>(from + offsets.of[static_cast<std::size_t>(l)])); });
    }
    return Outcome::next;
  }
};

// ---- stores: the same

template <class T, std::size_t n>
Outcome store_places(Warp& warp, const Step& step, Mask mask, const Addresses& address) {
  constexpr std::uint32_t bytes = n * sizeof(T);
  Places places;
  if (!find_places(warp, step, mask, step.space, true, bytes, address.data(), places)) return Outcome::fault;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    for (std::size_t k = 0; k < n; ++k) {
      const auto value = from_slot<T>(warp.slot<SlotOf<T>>(step.x[k])[l]);
      std::memcpy(places[l].data + k * sizeof(T), &value, sizeof value);
    }
    if (places[l].written != nullptr) std::memset(places[l].written, written_mark, bytes);
  }
  return Outcome::next;
}

// Lanes that store to the same place: the highest one's value stays, as good as any (manual: "st").
template <class T, std::size_t n>
struct Store {
  static constexpr std::uint32_t bytes = n * sizeof(T);
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    std::array<const SlotOf<T>*, n> b;
    for (std::size_t k = 0; k < n; ++k) b[k] = warp.slot<SlotOf<T>>(step.x[k]);
    ++warp.cta->changes;
    const MemoryRegion* region = nullptr;
    std::uint64_t offset = 0;
    if (in_order<bytes>(warp, step, mask, true, region, offset)) {
      std::byte* to = region->data + offset;
      PTX_INDEPENDENT_LANES
      for (std::size_t l = 0; l < lane_count; ++l)
        for (std::size_t k = 0; k < n; ++k) put(to + l * bytes + k * sizeof(T), from_slot<T>(b[k][l]));
      if (region->written != nullptr) std::memset(region->written + offset, written_mark, bytes * lane_count);
      return Outcome::next;
    }
    Addresses address;
    read_addresses(warp, step, address);
    Offsets offsets;
    if (!find_offsets<bytes>(warp, step, mask, address, true, offsets)) return store_places<T, n>(warp, step, mask, address);
    region = offsets.region;
    for (Mask left = mask; left != 0; left &= left - 1) {
      const auto l = static_cast<std::size_t>(lowest_lane(left));
      for (std::size_t k = 0; k < n; ++k) put(region->data + offsets.of[l] + k * sizeof(T), from_slot<T>(b[k][l]));
      if (region->written != nullptr) std::memset(region->written + offsets.of[l], written_mark, bytes);
    }
    return Outcome::next;
  }
  [[gnu::always_inline]] static void put(std::byte* to, T value) { std::memcpy(to, &value, sizeof value); }
};

// ---- strong accesses (.volatile, .relaxed, .acquire, .release): other workers may read and write the same memory now.
// step.target: 1 when it also orders what stands around it.

template <class T, std::size_t n>
Outcome load_strong(Warp& warp, const Step& step, Mask mask) {
  ++warp.cta->polls;
  warp.polled = step.item;
  Addresses address;
  read_addresses(warp, step, address);
  Places places;
  if (!find_places(warp, step, mask, step.space, false, n * sizeof(T), address.data(), places)) return Outcome::fault;
  const bool was_traced = warp.traced;
  note_unwritten(warp, step, mask, n, sizeof(T), address.data(), places);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    for (std::size_t k = 0; k < n; ++k) {
      const std::atomic_ref<T> memory(*reinterpret_cast<T*>(places[l].data + k * sizeof(T)));
      warp.slot<SlotOf<T>>(step.x[k])[l] =
          to_slot<T>(memory.load(step.target != 0 ? std::memory_order_acquire : std::memory_order_relaxed));
    }
  }
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

template <class T, std::size_t n>
Outcome store_strong(Warp& warp, const Step& step, Mask mask) {
  ++warp.cta->changes;
  Addresses address;
  read_addresses(warp, step, address);
  Places places;
  if (!find_places(warp, step, mask, step.space, true, n * sizeof(T), address.data(), places)) return Outcome::fault;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    if (places[l].written != nullptr) std::memset(places[l].written, written_mark, n * sizeof(T));
    for (std::size_t k = 0; k < n; ++k) {
      const std::atomic_ref<T> memory(*reinterpret_cast<T*>(places[l].data + k * sizeof(T)));
      memory.store(from_slot<T>(warp.slot<SlotOf<T>>(step.x[k])[l]),
                   step.target != 0 ? std::memory_order_release : std::memory_order_relaxed);
    }
  }
  return Outcome::next;
}

// Finds the handler for an element type and a count of elements: made<T, n>().
template <class Make>
Handler by_count(std::size_t n, Make make) {
  switch (n) {
    case 1:
      return make(std::integral_constant<std::size_t, 1>{});
    case 2:
      return make(std::integral_constant<std::size_t, 2>{});
    case 4:
      return make(std::integral_constant<std::size_t, 4>{});
    case 8:
      return make(std::integral_constant<std::size_t, 8>{});
    default:
      return nullptr;
  }
}

// Memory knows only widths; a load also extends with the sign. A .b128 element is two words of 64 bits, its register two such
// slots.
Type memory_type(Type type, bool load) {
  const int width = isa::bits(type);
  if (load && isa::kind(type) == isa::TypeKind::sint) return type;
  return width == 8 ? Type::u8 : width == 16 ? Type::u16 : width == 32 ? Type::u32 : Type::u64;
}

// The width that a register must have for it.
Type register_width(Type type, bool load) { return type == Type::b128 ? type : memory_type(type, load); }

bool access(Decoding& in, Type type, std::vector<std::uint32_t> slots) {
  if (type == Type::b128) {
    std::vector<std::uint32_t> halves;
    for (const std::uint32_t slot : slots) {
      halves.push_back(slot);
      halves.push_back(slot == discard_offset ? slot : slot + lane_count * sizeof(std::uint64_t));
    }
    slots = std::move(halves);
  }
  if (slots.size() > 8) return false;
  std::copy(slots.begin(), slots.end(), in.step.x.begin());
  const auto address = in.read_address("a");
  in.step.x[8] = address.base;
  in.step.imm = address.offset;
  in.step.narrow_address = address.narrow;
  in.step.space = in.space("a");
  in.step.site = in.new_site();
  return true;
}

std::size_t elements_of(Type type, const std::vector<std::uint32_t>& slots) {
  return slots.size() * (type == Type::b128 ? 2 : 1);
}

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
Handler by_shape(std::size_t parts, int whole) {
  if (whole == 32) return Compiled<Body<std::uint32_t, std::uint16_t>>::handler();
  return parts == 2 ? Compiled<Body<std::uint64_t, std::uint32_t>>::handler()
                    : Compiled<Body<std::uint64_t, std::uint16_t>>::handler();
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
  const int whole = in.wrote("b32") ? 32 : 64;
  in.step.x[0] = in.write("d", whole == 32 ? Type::b32 : Type::b64);
  const auto parts = in.read_all("a", Type::b16);
  if (parts.size() != 2 && !(parts.size() == 4 && whole == 64))
    return in.refuse("the executor packs 2 or 4 parts of 16 or 32 bits");
  std::copy(parts.begin(), parts.end(), in.step.x.begin() + 1);
  return by_shape<Pack>(parts.size(), whole);
}

Handler mov_unpack(Decoding& in) {
  const int whole = in.wrote("b32") ? 32 : 64;
  in.step.x[0] = in.read("a", whole == 32 ? Type::b32 : Type::b64);
  const auto parts = in.write_all("d", Type::b16);
  if (parts.size() != 2 && !(parts.size() == 4 && whole == 64))
    return in.refuse("the executor unpacks into 2 or 4 parts of 16 or 32 bits");
  std::copy(parts.begin(), parts.end(), in.step.x.begin() + 1);
  return by_shape<Unpack>(parts.size(), whole);
}

Handler ld(Decoding& in) {
  const Type type = in.type("type");
  const auto slots = in.write_all("d", register_width(type, true));
  if (!access(in, type, slots)) return in.refuse("it loads more than 64 bytes a lane");
  const bool strong = in.has("sem") || in.wrote("volatile");
  in.step.target = in.chosen("sem") == "acquire" ? 1 : 0;
  return by_integer(memory_type(type, true), [&]<class T>(T) {
    return by_count(elements_of(type, slots), [&]<std::size_t n>(std::integral_constant<std::size_t, n>) -> Handler {
      return strong ? &load_strong<T, n> : Compiled<Load<T, n>>::handler();
    });
  });
}

Handler st(Decoding& in) {
  const Type type = in.type("type");
  const auto slots = in.read_all("b", register_width(type, false));
  if (!access(in, type, slots)) return in.refuse("it stores more than 64 bytes a lane");
  const bool strong = in.has("sem") || in.wrote("volatile");
  in.step.target = in.chosen("sem") == "release" ? 1 : 0;
  return by_integer(memory_type(type, false), [&]<class T>(T) -> Handler {
    if constexpr (std::is_signed_v<T>)
      return nullptr;
    else
      return by_count(elements_of(type, slots), [&]<std::size_t n>(std::integral_constant<std::size_t, n>) -> Handler {
        return strong ? &store_strong<T, n> : Compiled<Store<T, n>>::handler();
      });
  });
}

Handler cvta(Decoding& in) {
  if (in.wrote("u32")) return in.refuse("the executor's generic addresses have 64 bits");
  const std::string_view word = in.chosen("space");
  const Space space = word.starts_with("shared")  ? Space::shared
                      : word == "local"           ? Space::local
                      : word.starts_with("param") ? Space::param
                                                  : Space::global;
  in.step.x[0] = in.write("d", Type::u64);
  in.step.x[1] = in.read("a", Type::u64);
  in.step.imm = static_cast<std::int64_t>(window_of(space));
  if (in.wrote("to")) in.step.imm = -in.step.imm;
  return [](Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<std::uint64_t>(step.x[1]);
    write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask, [&](int l) { return a[l] + static_cast<std::uint64_t>(step.imm); });
    return Outcome::next;
  };
}
Handler cvta_to(Decoding& in) { return cvta(in); }

}  // namespace op
}  // namespace ptx::vgpu
