// Atomics and reductions (rows: ptx/isa/table/atomics.hpp). Each lane after the other, each element of itself; the host's own
// atomic instructions do it, because CTAs on other workers may be at the same place. They order as .acq_rel does, which is right
// for every .sem.
#include <atomic>
#include <mutex>

#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/ops/map.hpp"
#include "ptx/vgpu/schedule.hpp"
#include "ptx/vgpu/undefined.hpp"

namespace ptx::vgpu {
namespace {

enum class Update : std::uint8_t {
  and_,
  or_,
  xor_,
  exchange,
  compare,
  add,
  increment,
  decrement,
  least,
  greatest,
  least_signed,
  greatest_signed,
  add_float,
  // of halves, each of its own
  add_f16,
  least_f16,
  greatest_f16,
  add_bf16,
  least_bf16,
  greatest_bf16,
};

// ---- what memory holds afterwards

// In global memory subnormal operands and results are flushed; shared memory is a loop with add.f32 (facts.md: H200).
std::uint32_t add_floats(std::uint32_t memory, std::uint32_t b, bool in_shared) {
  const auto x = std::bit_cast<float>(memory), y = std::bit_cast<float>(b);
  const float sum = in_shared ? num::canonical(x + y) : num::flush(num::canonical(num::flush(x) + num::flush(y)));
  return num::bits_of(sum);
}

// A NaN is handed on: in global memory as it is, the register's before the one in memory; in shared memory made quiet, and the
// one in memory first (facts.md: H200).
std::uint64_t add_floats(std::uint64_t memory, std::uint64_t b, bool in_shared) {
  constexpr std::uint64_t quiet = std::uint64_t{1} << 51;
  const auto x = std::bit_cast<double>(memory), y = std::bit_cast<double>(b);
  if (in_shared && x != x) return memory | quiet;
  if (y != y) return in_shared ? b | quiet : b;
  if (x != x) return memory;
  const double sum = x + y;
  return sum != sum ? num::nan64 : num::bits_of(sum);
}

// Numbers of a 16-bit format in their order, -0 below +0.
int rank(std::uint16_t half) { return (half & 0x8000) != 0 ? -1 - (half & 0x7FFF) : half; }

std::uint16_t update_half(Update what, std::uint16_t memory, std::uint16_t b) {
  const bool brain = what >= Update::add_bf16;
  const num::Format format = brain ? num::bf16_format : num::f16_format;
  if (what == Update::add_f16 || what == Update::add_bf16) {
    const auto number = [&](std::uint16_t half) { return brain ? num::from_bf16(half) : num::from_f16(half); };
    // f32 has more than twice the bits of either, so that rounding twice is rounding once
    return static_cast<std::uint16_t>(num::narrowed(number(memory) + number(b), format, {}));
  }
  const auto is_nan = [&](std::uint16_t half) { return (half & 0x7FFFu) > format.infinity(); };
  if (is_nan(memory)) return is_nan(b) ? static_cast<std::uint16_t>(num::nan16) : b;
  if (is_nan(b)) return memory;
  const bool greatest = what == Update::greatest_f16 || what == Update::greatest_bf16;
  return (rank(b) > rank(memory)) == greatest ? b : memory;
}

template <class T>
T updated(Update what, T memory, T b, T c, bool in_shared) {
  using Signed = std::make_signed_t<T>;
  switch (what) {
    case Update::and_:
      return static_cast<T>(memory & b);
    case Update::or_:
      return static_cast<T>(memory | b);
    case Update::xor_:
      return static_cast<T>(memory ^ b);
    case Update::exchange:
      return b;
    case Update::compare:
      return memory == b ? c : memory;
    case Update::add:
      return static_cast<T>(memory + b);
    case Update::increment:
      return memory >= b ? T{0} : static_cast<T>(memory + 1);
    case Update::decrement:
      return memory == 0 || memory > b ? b : static_cast<T>(memory - 1);
    case Update::least:
      return b < memory ? b : memory;
    case Update::greatest:
      return b > memory ? b : memory;
    case Update::least_signed:
      return static_cast<Signed>(b) < static_cast<Signed>(memory) ? b : memory;
    case Update::greatest_signed:
      return static_cast<Signed>(b) > static_cast<Signed>(memory) ? b : memory;
    case Update::add_float:
      if constexpr (sizeof(T) >= 4) return add_floats(memory, b, in_shared);
      return memory;
    default: {
      T result = 0;
      for (std::size_t shift = 0; shift < 8 * sizeof(T); shift += 16)
        result = static_cast<T>(
            result |
            static_cast<T>(update_half(what, static_cast<std::uint16_t>(memory >> shift), static_cast<std::uint16_t>(b >> shift)))
                << shift);
      return result;
    }
  }
}

// ---- in memory. x[0] = a constant with the slots: of d from 0 on, of b from 8 on, of c from 16 on; x[1] = how many elements,
// x[8] = address, target = Update

constexpr std::size_t slots_of_b = 8, slots_of_c = 16;

Space space_at(const Step& step, std::uint64_t address) { return step.space == Space::generic ? space_of(address) : step.space; }

// False: a fault was recorded.
bool find_updated(Warp& warp, const Step& step, Mask mask, std::uint32_t bytes, const std::uint64_t* address,
                  std::array<Place, lane_count>& places) {
  if (step.space == Space::generic)
    for (Mask left = mask; left != 0; left &= left - 1) {
      const int l = lowest_lane(left);
      const Space space = space_at(step, address[l]);
      if (space == Space::global || (space == Space::shared && step.x[1] == 1)) continue;
      warp.fail(step, l, Kind::out_of_bounds,
                cat("is at address 0x", hex(address[l]), ", in ", name(space), " memory, where there are no atomics",
                    space == Space::shared ? " of vectors" : ""));
      return false;
    }
  return find_places(warp, step, mask, step.space, true, bytes, address, places);
}

// What it finds must have been written: a number that is made of an undefined one would lie in memory. An exchange alone hands on
// what it finds.
bool check_found(Warp& warp, const Step& step, int lane, bool hands_on, std::uint32_t elements, std::uint32_t element_bytes,
                 const std::uint64_t* address, const std::array<Place, lane_count>& places) {
  std::uint8_t* const marks = places[static_cast<std::size_t>(lane)].written;
  const std::uint32_t bytes = elements * element_bytes;
  if (marks == nullptr || all_marked(marks, bytes)) return true;
  if (hands_on) {
    note_unwritten(warp, step, Mask{1} << lane, elements, element_bytes, address, places);
    mark_written(marks, bytes);
    return true;
  }
  warp.fail(step, lane, Kind::uninitialised, say_unwritten(warp, step.space, address[lane], {marks, bytes}));
  return false;
}

// Memory that stays as it is may be what others wait for: such an instruction polls.
Outcome note_changes(Warp& warp, const Step& step, bool changed, bool was_traced) {
  if (changed) {
    ++warp.cta->changes;
  } else {
    ++warp.cta->polls;
    warp.polled = step.item;
  }
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

template <class T>
Outcome update(Warp& warp, const Step& step, Mask mask) {
  const auto what = static_cast<Update>(step.target);
  const std::uint32_t elements = step.x[1];
  const auto* slots = warp.slot<std::uint32_t>(step.x[0]);
  std::array<std::uint64_t, lane_count> address;
  read_addresses(warp, step, address);
  std::array<Place, lane_count> places;
  if (!find_updated(warp, step, mask, elements * sizeof(T), address.data(), places)) return Outcome::fault;
  const bool was_traced = warp.traced;
  bool changed = false;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const auto l = static_cast<std::size_t>(lane);
    if (!check_found(warp, step, lane, what == Update::exchange, elements, sizeof(T), address.data(), places))
      return Outcome::fault;
    const bool in_shared = space_at(step, address[l]) == Space::shared;
    for (std::size_t k = 0; k < elements; ++k) {
      const auto b = from_slot<T>(warp.slot<SlotOf<T>>(slots[slots_of_b + k])[l]);
      const auto c = what == Update::compare ? from_slot<T>(warp.slot<SlotOf<T>>(slots[slots_of_c])[l]) : T{0};
      const std::atomic_ref<T> memory(*reinterpret_cast<T*>(places[l].data + k * sizeof(T)));
      T before = memory.load(std::memory_order_relaxed), after = before;
      do after = updated(what, before, b, c, in_shared);
      while (!memory.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_acquire));
      changed |= after != before;
      warp.slot<SlotOf<T>>(slots[k])[l] = to_slot(before);
    }
  }
  return note_changes(warp, step, changed, was_traced);
}

// 16 bytes, which hosts cannot exchange everywhere: under a lock that every strong access of such a width takes.
Outcome update_wide(Warp& warp, const Step& step, Mask mask) {
  const auto what = static_cast<Update>(step.target);
  const auto* slots = warp.slot<std::uint32_t>(step.x[0]);
  std::array<std::uint64_t, lane_count> address;
  read_addresses(warp, step, address);
  std::array<Place, lane_count> places;
  if (!find_updated(warp, step, mask, 16, address.data(), places)) return Outcome::fault;
  const bool was_traced = warp.traced;
  bool changed = false;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const auto l = static_cast<std::size_t>(lane);
    if (!check_found(warp, step, lane, what == Update::exchange, 2, 8, address.data(), places)) return Outcome::fault;
    const auto halves = [&](std::size_t first) {
      return std::array{warp.slot<std::uint64_t>(slots[first])[l], warp.slot<std::uint64_t>(slots[first + 1])[l]};
    };
    const auto b = halves(slots_of_b);
    std::array<std::uint64_t, 2> before;
    {
      const std::scoped_lock lock(lock_of_16_bytes(places[l].data));
      const auto memory = [&](std::size_t k) {
        return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(places[l].data + 8 * k));
      };
      for (std::size_t k = 0; k < 2; ++k) before[k] = memory(k).load(std::memory_order_acquire);
      const bool writes = what == Update::exchange || before == b;
      const auto after = !writes ? before : what == Update::exchange ? b : halves(slots_of_c);
      for (std::size_t k = 0; k < 2 && writes; ++k) memory(k).store(after[k], std::memory_order_release);
      changed |= after != before;
    }
    for (std::size_t k = 0; k < 2; ++k) warp.slot<std::uint64_t>(slots[k])[l] = before[k];
  }
  return note_changes(warp, step, changed, was_traced);
}

// ---- decoding

Handler atomic(Decoding& in, Update what, Type type) {
  const bool wide = type == Type::b128;
  std::array<std::uint32_t, lane_count> slots;
  slots.fill(discard_offset);
  const auto keep = [&](std::size_t first, const std::vector<std::uint32_t>& of) {
    for (std::size_t k = 0; k < of.size(); ++k) slots[first + k] = of[k];
    if (wide) slots[first + 1] = of[0] == discard_offset ? of[0] : of[0] + lane_count * sizeof(std::uint64_t);
  };
  const auto b = in.read_all("b", type);
  const std::size_t most = wide ? 1 : slots_of_b;
  if (b.size() > most) return in.refuse("it has more than 8 elements");
  keep(slots_of_b, b);
  if (what == Update::compare) keep(slots_of_c, in.read_all("c", type));
  if (in.given("d")) {
    const auto d = in.write_all("d", type);
    if (d.size() > most) return in.refuse("it has more than 8 elements");
    keep(0, d);
  }
  in.step.x[0] = in.lane_constant(slots);
  in.step.x[1] = static_cast<std::uint32_t>(b.size());
  in.step.target = static_cast<std::uint32_t>(what);
  const auto address = in.read_address("a");
  in.step.x[8] = address.base;
  in.step.imm = address.offset;
  in.step.narrow_address = address.narrow;
  in.step.space = in.space("a");
  in.step.site = in.new_site();
  if (wide) return &update_wide;
  switch (isa::bits(type)) {
    case 16:
      return &update<std::uint16_t>;
    case 32:
      return &update<std::uint32_t>;
    default:
      return &update<std::uint64_t>;
  }
}

bool is_f16(Type type) { return type == Type::f16 || type == Type::f16x2; }

}  // namespace

namespace op {

Handler atomic_op(Decoding& in) {
  const std::string_view what = in.chosen("op");
  const Type type = in.has("type") ? in.type("type") : Type::u32;
  if (what == "and") return atomic(in, Update::and_, type);
  if (what == "or") return atomic(in, Update::or_, type);
  if (what == "xor") return atomic(in, Update::xor_, type);
  if (what == "inc") return atomic(in, Update::increment, type);
  if (what == "dec") return atomic(in, Update::decrement, type);
  const bool least = what == "min", is_half = in.wrote("noftz");
  if (what == "add") return atomic(in, is_f16(type) ? Update::add_f16 : Update::add_bf16, type);
  if (is_half && is_f16(type)) return atomic(in, least ? Update::least_f16 : Update::greatest_f16, type);
  if (is_half) return atomic(in, least ? Update::least_bf16 : Update::greatest_bf16, type);
  if (isa::kind(type) == isa::TypeKind::sint) return atomic(in, least ? Update::least_signed : Update::greatest_signed, type);
  return atomic(in, least ? Update::least : Update::greatest, type);
}

Handler atomic_add(Decoding& in) {
  const Type type = in.has("type") ? in.type("type") : Type::f32;
  if (in.wrote("noftz")) return atomic(in, is_f16(type) ? Update::add_f16 : Update::add_bf16, type);
  return atomic(in, type == Type::f32 || type == Type::f64 ? Update::add_float : Update::add, type);
}

Handler atomic_exch(Decoding& in) { return atomic(in, Update::exchange, in.type("type")); }
Handler atomic_exch_b128(Decoding& in) { return atomic(in, Update::exchange, Type::b128); }
Handler atomic_cas(Decoding& in) { return atomic(in, Update::compare, in.type("type")); }
Handler atomic_cas_b128(Decoding& in) { return atomic(in, Update::compare, Type::b128); }

}  // namespace op
}  // namespace ptx::vgpu
