// Atomics and reductions (rows: ptx/isa/table/atomics.hpp). Each lane after the other, each element of itself; the host's own
// atomic instructions do it, because CTAs on other workers may be at the same place. They order as .acq_rel does, which is right
// for every .sem.
#include <atomic>
#include <mutex>

#include "ptx/vgpu/machine/exploration.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/ops/map.hpp"
#include "ptx/vgpu/ops/strong.hpp"
#include "ptx/vgpu/ops/updates.hpp"

namespace ptx::vgpu {
namespace {

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
      warp.fail(step, l, Rule::A_03,
                cat("is at address 0x", hex(address[l]), ", in ", name(space), " memory, where there are no atomics",
                    space == Space::shared ? " of vectors" : ""));
      return false;
    }
  if (!find_places(warp, step, mask, step.space, true, bytes, address, places)) return false;
  if (warp.races == nullptr) return true;
  const bool loads = !isa::form(warp.cta->launch->code.function->body[step.item].form).traits.has(isa::Trait::reduction);
  note_strong(warp, step, mask, bytes, loads, true, places);
  return true;
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
    if (warp.exploration != nullptr) warp.exploration->touched_changes();
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
    const bool in_shared = space_at(step, address[l]) != Space::global;
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

}  // namespace

Update update_of(const Decoding& in, Type type) {
  const std::string_view what = in.has("op") ? in.chosen("op") : "add";
  if (what == "and") return Update::and_;
  if (what == "or") return Update::or_;
  if (what == "xor") return Update::xor_;
  if (what == "inc") return Update::increment;
  if (what == "dec") return Update::decrement;
  const bool adds = what == "add", least = what == "min";
  if (type == Type::f16 || type == Type::f16x2) return adds ? Update::add_f16 : least ? Update::least_f16 : Update::greatest_f16;
  if (type == Type::bf16 || type == Type::bf16x2)
    return adds ? Update::add_bf16 : least ? Update::least_bf16 : Update::greatest_bf16;
  if (adds) return isa::is_float(type) ? Update::add_float : Update::add;
  if (isa::kind(type) == isa::TypeKind::sint) return least ? Update::least_signed : Update::greatest_signed;
  return least ? Update::least : Update::greatest;
}

namespace op {

Handler atomic_op(Decoding& in) {
  const Type type = in.has("type") ? in.type("type") : Type::u32;
  return atomic(in, update_of(in, type), type);
}

Handler atomic_add(Decoding& in) {
  const Type type = in.has("type") ? in.type("type") : Type::f32;
  return atomic(in, update_of(in, type), type);
}

Handler atomic_exch(Decoding& in) { return atomic(in, Update::exchange, in.type("type")); }
Handler atomic_exch_b128(Decoding& in) { return atomic(in, Update::exchange, Type::b128); }
Handler atomic_cas(Decoding& in) { return atomic(in, Update::compare, in.type("type")); }
Handler atomic_cas_b128(Decoding& in) { return atomic(in, Update::compare, Type::b128); }

}  // namespace op
}  // namespace ptx::vgpu
