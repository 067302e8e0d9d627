// Loads and stores (rows: ptx/isa/table/data_movement.hpp).
#include <algorithm>
#include <atomic>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/ops/map.hpp"
#include "ptx/vgpu/ops/strong.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {
namespace {

using Addresses = std::array<std::uint64_t, lane_count>;
using Places = std::array<Place, lane_count>;

// Four words of each of the 32 lanes, from memory, where each lane's lie together, to registers, where those of all lanes do.
// Left to itself, the compiler takes them word by word.
using FourWords = std::uint32_t __attribute__((vector_size(16)));
[[gnu::always_inline]] inline void exchange(FourWords (&m)[4]) {
  const FourWords low[] = {__builtin_shufflevector(m[0], m[1], 0, 4, 1, 5), __builtin_shufflevector(m[2], m[3], 0, 4, 1, 5)};
  const FourWords high[] = {__builtin_shufflevector(m[0], m[1], 2, 6, 3, 7), __builtin_shufflevector(m[2], m[3], 2, 6, 3, 7)};
  m[0] = __builtin_shufflevector(low[0], low[1], 0, 1, 4, 5), m[1] = __builtin_shufflevector(low[0], low[1], 2, 3, 6, 7);
  m[2] = __builtin_shufflevector(high[0], high[1], 0, 1, 4, 5), m[3] = __builtin_shufflevector(high[0], high[1], 2, 3, 6, 7);
}
[[gnu::always_inline]] inline void load_fours(const std::byte* from, const std::array<std::uint32_t*, 4>& d) {
  for (std::size_t l = 0; l < lane_count; l += 4) {
    FourWords m[4];
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) std::memcpy(&m[k], from + (l + k) * sizeof m[k], sizeof m[k]);
    exchange(m);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) std::memcpy(d[k] + l, &m[k], sizeof m[k]);
  }
}

// ---- loads: x[0] to x[n-1] = the elements' slots, x[8] = address

// The bytes that a warp loads, when they are not all in the likely region or some may be unwritten: lane by lane.
template <class T>
Outcome load_places(Warp& warp, const Step& step, Mask mask, const Addresses& address, std::uint32_t n) {
  Places places;
  if (!find_places(warp, step, mask, step.space, false, n * sizeof(T), address.data(), places)) return Outcome::fault;
  if (warp.races != nullptr) warp.races->access(warp, step, mask, false, n * sizeof(T), places);
  const bool was_traced = warp.traced;
  note_unwritten(warp, step, mask, n, sizeof(T), address.data(), places);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    for (std::size_t k = 0; k < n; ++k)
      warp.slot<SlotOf<T>>(step.x[k])[l] = to_slot<T>(load_as<T>(places[l].data + k * sizeof(T)));
  }
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

// Whether the second lane's bytes lie behind the first one's: a look before all lanes are looked at.
template <std::uint32_t bytes>
[[gnu::always_inline]] inline bool begins_in_order(const Warp& warp, const Step& step) {
  const auto follows = [](const auto* base) { return base[1] - base[0] == bytes; };
  return step.narrow_address ? follows(warp.slot<std::uint32_t>(step.x[8])) : follows(warp.slot<std::uint64_t>(step.x[8]));
}

template <class T, std::size_t n>
struct Load {
  static constexpr std::uint32_t bytes = n * sizeof(T);
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    std::array<SlotOf<T>*, n> d;
    for (std::size_t k = 0; k < n; ++k) d[k] = warp.slot<SlotOf<T>>(step.x[k]);
    const MemoryRegion* region = nullptr;
    std::uint64_t offset = 0;
    if (begins_in_order<bytes>(warp, step) && in_order<bytes>(warp, step, mask, false, region, offset) &&
        (region->written == nullptr || all_written<bytes * lane_count>(region->written + offset))) {
      const std::byte* from = region->data + offset;
      if (warp.races != nullptr) warp.races->access_in_order(warp, step, false, bytes, from);
      if constexpr (n == 4 && sizeof(T) == 4) return load_fours(from, d), Outcome::next;
      PTX_INDEPENDENT_LANES
      for (std::size_t l = 0; l < lane_count; ++l)
        for (std::size_t k = 0; k < n; ++k) d[k][l] = to_slot<T>(load_as<T>(from + l * bytes + k * sizeof(T)));
      return Outcome::next;
    }
    const bool is_told = warp.races != nullptr && step.space != Space::param;
    if ((!is_told || mask == all_lanes) && in_one_place<bytes>(warp, step, mask, region, offset) &&
        (region->written == nullptr || all_written<bytes>(region->written + offset))) {
      if (is_told) warp.races->load_together(warp, step, region->data + offset, bytes);
      for (std::size_t k = 0; k < n; ++k) {
        const SlotOf<T> value = to_slot<T>(load_as<T>(region->data + offset + k * sizeof(T)));
        write_lanes(d[k], mask, [=](int) { return value; });
      }
      return Outcome::next;
    }
    Addresses address;
    read_addresses(warp, step, address);
    Offsets offsets;
    if (warp.races != nullptr || !find_offsets<bytes>(warp, step, mask, address, false, offsets))
      return load_places<T>(warp, step, mask, address, n);
    region = offsets.region;
    if (region->written != nullptr) {
      bool written = true;
      for (std::size_t l = 0; l < lane_count; ++l) written &= all_written<bytes>(region->written + offsets.of[l]);
      if (!written) return load_places<T>(warp, step, mask, address, n);
    }
    for (std::size_t k = 0; k < n; ++k) {
      const std::byte* from = region->data + k * sizeof(T);
      write_lanes(d[k], mask, [&](int l) { return to_slot<T>(load_as<T>(from + offsets.of[static_cast<std::size_t>(l)])); });
    }
    return Outcome::next;
  }
};

// ---- stores: the same

bool is_written(std::uint8_t mark) { return mark == written_mark; }

// The lanes that store what is there already: with whoever else stores that, they agree.
template <class T>
Mask storing_the_same(const Warp& warp, const Step& step, Mask mask, const Places& places, std::uint32_t n) {
  return mask & lanes_where([&](int l) {
           const auto lane = static_cast<std::size_t>(l);
           if (!has_lane(mask, l)) return false;
           if (const auto* marks = places[lane].written;
               marks != nullptr && !std::all_of(marks, marks + n * sizeof(T), is_written))
             return false;
           for (std::size_t k = 0; k < n; ++k) {
             const auto value = from_slot<T>(warp.slot<SlotOf<T>>(step.x[k])[lane]);
             if (std::memcmp(places[lane].data + k * sizeof(T), &value, sizeof value) != 0) return false;
           }
           return true;
         });
}

// Lanes that store to a place of which another one stores something else.
template <class T>
Mask storing_unlike(const Warp& warp, const Step& step, Mask mask, const Places& places, std::uint32_t n) {
  const auto place = [&](int l) { return reinterpret_cast<std::uintptr_t>(places[static_cast<std::size_t>(l)].data); };
  if (mask == 0) return 0;
  Mask left = mask;
  std::uintptr_t last = place(lowest_lane(mask));
  for (left &= left - 1; left != 0 && place(lowest_lane(left)) > last; left &= left - 1) last = place(lowest_lane(left));
  if (left == 0) return 0;  // each behind the one before it, as most are
  Mask unlike = 0;
  for (left = mask; left != 0;) {
    const int first = lowest_lane(left);
    const Mask together = left & lanes_where([&](int l) { return has_lane(left, l) && place(l) == place(first); });
    left &= ~together;
    if ((together & (together - 1)) == 0) continue;
    for (std::size_t k = 0; k < n; ++k) {
      const auto* const values = warp.slot<SlotOf<T>>(step.x[k]);
      const auto value = from_slot<T>(values[first]);
      if ((together & lanes_where([&](int l) { return from_slot<T>(values[l]) != value; })) != 0) unlike |= together;
    }
  }
  return unlike;
}

// Which lane is the last to store, whose value stays where others store to the same place: none is as good as any (manual: "st"),
// and a random order of threads takes one and another.
int last_to_store(const Warp& warp, Mask unlike) {
  std::optional<std::minstd_rand>& random = warp.cta->cluster->random;
  return unlike != 0 && random ? static_cast<int>((*random)() % lane_count) : lane_count - 1;
}

template <class T>
Outcome store_places(Warp& warp, const Step& step, Mask mask, const Addresses& address, std::uint32_t n) {
  const auto bytes = static_cast<std::uint32_t>(n * sizeof(T));
  Places places;
  if (!find_places(warp, step, mask, step.space, true, bytes, address.data(), places)) return Outcome::fault;
  const Mask unlike = storing_unlike<T>(warp, step, mask, places, n);
  if (warp.races != nullptr) {
    warp.races->access(warp, step, mask, true, bytes, places, storing_the_same<T>(warp, step, mask, places, n));
    if (unlike != 0) warp.races->store_unlike(warp, step, unlike, bytes, places[static_cast<std::size_t>(lowest_lane(unlike))]);
  }
  const int last = last_to_store(warp, unlike);
  const Mask first = mask & ~(all_lanes >> (lane_count - 1 - last));
  for (Mask left : {first, mask & ~first})
    for (; left != 0; left &= left - 1) {
      const auto l = static_cast<std::size_t>(lowest_lane(left));
      for (std::size_t k = 0; k < n; ++k) {
        const auto value = from_slot<T>(warp.slot<SlotOf<T>>(step.x[k])[l]);
        std::memcpy(places[l].data + k * sizeof(T), &value, sizeof value);
      }
      if (places[l].written != nullptr) std::memset(places[l].written, written_mark, bytes);
    }
  return Outcome::next;
}

// Lanes that store to the same place: the highest one's value stays, or in a random order of threads any one's.
template <class T, std::size_t n>
struct Store {
  static constexpr std::uint32_t bytes = n * sizeof(T);
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    std::array<const SlotOf<T>*, n> b;
    for (std::size_t k = 0; k < n; ++k) b[k] = warp.slot<SlotOf<T>>(step.x[k]);
    ++warp.cta->changes;
    const MemoryRegion* region = nullptr;
    std::uint64_t offset = 0;
    if (in_order<bytes>(warp, step, mask, true, region, offset) &&
        (warp.races == nullptr || all_differ(step, warp, *region, offset))) {
      std::byte* to = region->data + offset;
      if (warp.races != nullptr) warp.races->access_in_order(warp, step, true, bytes, to);
      PTX_INDEPENDENT_LANES
      for (std::size_t l = 0; l < lane_count; ++l)
        for (std::size_t k = 0; k < n; ++k) put(to + l * bytes + k * sizeof(T), from_slot<T>(b[k][l]));
      if (region->written != nullptr) std::memset(region->written + offset, written_mark, bytes * lane_count);
      return Outcome::next;
    }
    Addresses address;
    read_addresses(warp, step, address);
    Offsets offsets;
    if (warp.races != nullptr || warp.cta->cluster->random || !find_offsets<bytes>(warp, step, mask, address, true, offsets))
      return store_places<T>(warp, step, mask, address, n);
    region = offsets.region;
    for (Mask left = mask; left != 0; left &= left - 1) {
      const auto l = static_cast<std::size_t>(lowest_lane(left));
      for (std::size_t k = 0; k < n; ++k) put(region->data + offsets.of[l] + k * sizeof(T), from_slot<T>(b[k][l]));
      if (region->written != nullptr) std::memset(region->written + offsets.of[l], written_mark, bytes);
    }
    return Outcome::next;
  }
  [[gnu::always_inline]] static void put(std::byte* to, T value) { std::memcpy(to, &value, sizeof value); }
  // Whether each lane stores something else than what is there, which the checks need not be told of by lanes.
  static bool all_differ(const Step& step, const Warp& warp, const MemoryRegion& region, std::uint64_t offset) {
    const std::byte* const from = region.data + offset;
    std::uint32_t same = 0;
    PTX_INDEPENDENT_LANES
    for (std::size_t l = 0; l < lane_count; ++l) {
      T differences{};
      for (std::size_t k = 0; k < n; ++k)
        differences = static_cast<T>(
            differences | (load_as<T>(from + l * bytes + k * sizeof(T)) ^ from_slot<T>(warp.slot<SlotOf<T>>(step.x[k])[l])));
      same |= differences == 0 ? 1u : 0u;
    }
    return same == 0 || (region.written != nullptr && none_written(region.written + offset));
  }
  static bool none_written(const std::uint8_t* marks) { return std::none_of(marks, marks + bytes * lane_count, is_written); }
};

// ---- strong accesses (.volatile, .relaxed, .acquire, .release): other workers may read and write the same memory now.
// step.target: ordered_flag when it also orders what stands around it, locked_flag for elements of 16 bytes, two words each; and
// how many elements there are.

constexpr std::uint32_t ordered_flag = 1, locked_flag = 2, count_shift = 2;
std::uint32_t strong_count(const Step& step) { return step.target >> count_shift; }

std::unique_lock<std::mutex> lock_element(const Step& step, const std::byte* memory) {
  return (step.target & locked_flag) != 0 ? std::unique_lock(lock_of_16_bytes(memory)) : std::unique_lock<std::mutex>();
}

template <class T>
Outcome load_strong(Warp& warp, const Step& step, Mask mask) {
  const std::uint32_t n = strong_count(step);
  ++warp.cta->polls;
  warp.polled = step.item;
  Addresses address;
  read_addresses(warp, step, address);
  Places places;
  if (!find_places(warp, step, mask, step.space, false, n * sizeof(T), address.data(), places)) return Outcome::fault;
  if (warp.races != nullptr) note_strong(warp, step, mask, n * sizeof(T), true, false, places);
  const bool was_traced = warp.traced;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    std::unique_lock<std::mutex> lock;
    for (std::size_t k = 0; k < n; ++k) {
      std::byte* const at = places[l].data + k * sizeof(T);
      if (k % 2 == 0) lock = {}, lock = lock_element(step, at);
      const std::atomic_ref<T> memory(*reinterpret_cast<T*>(at));
      warp.slot<SlotOf<T>>(step.x[k])[l] =
          to_slot<T>(memory.load((step.target & ordered_flag) != 0 ? std::memory_order_acquire : std::memory_order_relaxed));
    }
  }
  // Behind the loads: who has seen what another worker stored sees its marks, too.
  Mask unwritten = 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    if (places[l].written != nullptr && !all_marked(places[l].written, n * sizeof(T))) unwritten |= Mask{1} << l;
  }
  if (unwritten != 0) note_unwritten(warp, step, unwritten, n, sizeof(T), address.data(), places);
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

template <class T>
Outcome store_strong(Warp& warp, const Step& step, Mask mask) {
  const std::uint32_t n = strong_count(step);
  ++warp.cta->changes;
  Addresses address;
  read_addresses(warp, step, address);
  Places places;
  if (!find_places(warp, step, mask, step.space, true, n * sizeof(T), address.data(), places)) return Outcome::fault;
  if (warp.races != nullptr) note_strong(warp, step, mask, n * sizeof(T), false, true, places);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    if (places[l].written != nullptr) mark_written(places[l].written, n * sizeof(T));
    std::unique_lock<std::mutex> lock;
    for (std::size_t k = 0; k < n; ++k) {
      std::byte* const at = places[l].data + k * sizeof(T);
      if (k % 2 == 0) lock = {}, lock = lock_element(step, at);
      const std::atomic_ref<T> memory(*reinterpret_cast<T*>(at));
      memory.store(from_slot<T>(warp.slot<SlotOf<T>>(step.x[k])[l]),
                   (step.target & ordered_flag) != 0 ? std::memory_order_release : std::memory_order_relaxed);
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

// Memory knows only widths; a load also extends with the sign, to the 32 bits of a slot. A .b128 element is two words of 64 bits,
// its register two such slots.
Type memory_type(Type type, bool load) {
  const int width = isa::bits(type);
  if (load && width < 32 && isa::kind(type) == isa::TypeKind::sint) return type;
  return width == 8 ? Type::u8 : width == 16 ? Type::u16 : width == 32 ? Type::u32 : Type::u64;
}

// The width that a register must have for it; a wider one takes the sign, too.
Type register_width(Type type, bool load) {
  return type == Type::b128 || (load && isa::kind(type) == isa::TypeKind::sint) ? type : memory_type(type, load);
}

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
std::uint32_t strong_flags(Type type, std::size_t elements, bool ordered) {
  return static_cast<std::uint32_t>(elements) << count_shift | (ordered ? ordered_flag : 0) |
         (type == Type::b128 ? locked_flag : 0);
}

Handler load(Decoding& in, bool strong, bool acquires) {
  // with one type, a row may say it by itself
  const Type type = in.has("type") ? in.type("type") : Type::b128;
  const auto slots = in.write_all("d", register_width(type, true));
  if (!access(in, type, slots)) return in.refuse("it loads more than 64 bytes a lane");
  in.step.target = strong_flags(type, elements_of(type, slots), acquires);
  return by_integer(memory_type(type, true), [&]<class T>(T) -> Handler {
    if constexpr (std::is_signed_v<T> && sizeof(T) >= sizeof(std::uint32_t))
      return nullptr;
    else
      return by_count(elements_of(type, slots), [&]<std::size_t n>(std::integral_constant<std::size_t, n>) -> Handler {
        return strong ? &load_strong<T> : Compiled<Load<T, n>>::handler();
      });
  });
}

Handler store(Decoding& in, bool strong, bool releases) {
  const Type type = in.type("type");
  const auto slots = in.read_all("b", register_width(type, false));
  if (!access(in, type, slots)) return in.refuse("it stores more than 64 bytes a lane");
  in.step.target = strong_flags(type, elements_of(type, slots), releases);
  return by_integer(memory_type(type, false), [&]<class T>(T) -> Handler {
    if constexpr (std::is_signed_v<T>)
      return nullptr;
    else
      return by_count(elements_of(type, slots), [&]<std::size_t n>(std::integral_constant<std::size_t, n>) -> Handler {
        return strong ? &store_strong<T> : Compiled<Store<T, n>>::handler();
      });
  });
}

}  // namespace

namespace op {

Handler ld(Decoding& in) { return load(in, in.has("sem") || in.wrote("volatile"), in.chosen("sem") == "acquire"); }
Handler st(Decoding& in) { return store(in, in.has("sem") || in.wrote("volatile"), in.chosen("sem") == "release"); }
// The memory of a device is memory like any other here, which each access reads and writes as often as it runs.
Handler ld_mmio(Decoding& in) { return load(in, true, false); }
Handler st_mmio(Decoding& in) { return store(in, true, false); }
// That the address is the same for the whole warp is advice.
Handler ldu(Decoding& in) { return load(in, false, false); }

}  // namespace op
}  // namespace ptx::vgpu
