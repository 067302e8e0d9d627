// multimem.ld_reduce, .st and .red (rows: ptx/isa/table/multimem.hpp): each lane after the other, each element of itself, in
// every replica of a multicast region. The host's own atomic instructions do it, because CTAs on other workers may be at the same
// place. They order as .acquire, .release and .acq_rel do, which is right for every .sem. multimem.cp and the asynchronous ones:
// async_copy.cpp.
#include <atomic>

#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/ops/map.hpp"
#include "ptx/vgpu/ops/updates.hpp"

namespace ptx::vgpu {
namespace {

// ---- what several values make, or one

// A format in which numbers are added up. Those of fp8 end at their largest finite number, as conversions to them do.
enum class MultimemNumber : std::uint8_t { none, f16, bf16, e4m3, e5m2, f32 };

MultimemNumber multimem_number_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return MultimemNumber::f16;
    case Type::bf16:
    case Type::bf16x2:
      return MultimemNumber::bf16;
    case Type::e4m3:
    case Type::e4m3x2:
    case Type::e4m3x4:
      return MultimemNumber::e4m3;
    case Type::e5m2:
    case Type::e5m2x2:
    case Type::e5m2x4:
      return MultimemNumber::e5m2;
    default:
      return MultimemNumber::none;
  }
}

const num::Format& format_of(MultimemNumber number) {
  switch (number) {
    case MultimemNumber::f16:
      return num::f16_format;
    case MultimemNumber::bf16:
      return num::bf16_format;
    case MultimemNumber::e4m3:
      return num::e4m3_format;
    default:
      return num::e5m2_format;
  }
}

float value_of(std::uint64_t pattern, MultimemNumber number) {
  const auto bits = static_cast<std::uint16_t>(pattern);
  if (number == MultimemNumber::bf16) return num::from_bf16(bits);
  if (number == MultimemNumber::f16) return num::from_f16(bits);
  return num::from_f16(static_cast<std::uint16_t>(num::rounded(num::exact(pattern, format_of(number)), num::f16_format)));
}

std::uint64_t pattern_of(float value, MultimemNumber number) {
  const bool is_fp8 = number == MultimemNumber::e4m3 || number == MultimemNumber::e5m2;
  return num::narrowed(value, format_of(number), {.satfinite = is_fp8});
}

// How the elements of a load are reduced. Of numbers in formats of 8 or 16 bits: what is added up in.
struct Reducer {
  Update what{};
  MultimemNumber number{}, sum{};
};
std::int64_t packed(const Reducer& r) {
  return static_cast<std::int64_t>(r.what) | static_cast<std::int64_t>(r.number) << 8 | static_cast<std::int64_t>(r.sum) << 16;
}
Reducer reducer_in(std::int64_t packed) {
  return {static_cast<Update>(packed & 0xFF), static_cast<MultimemNumber>(packed >> 8 & 0xFF),
          static_cast<MultimemNumber>(packed >> 16 & 0xFF)};
}

// One number of each replica, in their order.
std::uint64_t reduce_numbers(const Reducer& r, std::span<const std::uint64_t> patterns) {
  if (r.sum == MultimemNumber::none) {
    const bool greater = r.what == Update::greatest;
    std::uint64_t best = patterns[0];
    for (const std::uint64_t next : patterns.subspan(1))
      best = num::ordered(static_cast<std::uint32_t>(best), static_cast<std::uint32_t>(next), format_of(r.number), greater);
    return best;
  }
  float sum = value_of(patterns[0], r.number);
  for (const std::uint64_t next : patterns.subspan(1)) {
    sum = num::canonical(sum + value_of(next, r.number));
    if (r.sum != MultimemNumber::f32) sum = value_of(pattern_of(sum, r.sum), r.sum);
  }
  return pattern_of(sum, r.number);
}

// One element of each replica.
template <class T>
T reduce_elements(const Reducer& r, std::span<const std::uint64_t> elements) {
  if (elements.size() == 1) return static_cast<T>(elements[0]);
  if (r.number == MultimemNumber::none) {
    T all = static_cast<T>(elements[0]);
    // subnormal numbers count: the manual says nothing of flushing
    for (const std::uint64_t next : elements.subspan(1)) all = updated<T>(r.what, all, static_cast<T>(next), T{0}, true);
    return all;
  }
  const int bits = format_of(r.number).bits();
  std::vector<std::uint64_t> parts(elements.size());
  std::uint64_t result = 0;
  for (std::size_t shift = 0; shift < 8 * sizeof(T); shift += static_cast<std::size_t>(bits)) {
    for (std::size_t i = 0; i < elements.size(); ++i) parts[i] = elements[i] >> shift & ((std::uint64_t{1} << bits) - 1);
    result |= reduce_numbers(r, parts) << shift;
  }
  return static_cast<T>(result);
}

// ---- in memory. x[0] = address, operands = the elements' slots, imm = Reducer, target = Update

template <class T>
std::atomic_ref<T> element(const Place& place, std::size_t k) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(place.data + k * sizeof(T)));
}

// False: a fault was recorded. A number made of an undefined one would be handed on as if it were none.
bool check_marks(Warp& warp, const Step& step, int lane, std::uint64_t address, const Replicas& replicas, std::size_t bytes) {
  for (const Place& place : replicas.places()) {
    if (place.written == nullptr || all_marked(place.written, bytes)) continue;
    warp.fail(step, lane, Kind::uninitialised, say_unwritten(warp, Space::multimem, address, {place.written, bytes}));
    return false;
  }
  return true;
}

template <class T>
Outcome load_reduced(Warp& warp, const Step& step, Mask mask) {
  const auto slots = operands_of(warp.cta->launch->code, step);
  const std::size_t bytes = slots.size() * sizeof(T);
  const Reducer reducer = reducer_in(step.imm);
  ++warp.cta->polls;
  warp.polled = step.item;
  std::vector<std::uint64_t> values;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const std::uint64_t address = warp.slot<std::uint64_t>(step.x[0])[lane];
    const Replicas found =
        find_replicas(warp, step, lane, Space::multimem, false, address, bytes, static_cast<std::uint32_t>(bytes));
    if (found.empty()) return Outcome::fault;
    for (std::size_t k = 0; k < slots.size(); ++k) {
      values.clear();
      for (const Place& place : found.places()) values.push_back(element<T>(place, k).load(std::memory_order_acquire));
      warp.slot<SlotOf<T>>(slots[k])[lane] = to_slot(reduce_elements<T>(reducer, values));
    }
    // Behind the loads: who has seen what another worker stored sees its marks, too.
    if (!check_marks(warp, step, lane, address, found, bytes)) return Outcome::fault;
  }
  return Outcome::next;
}

template <class T>
Outcome store_to_all(Warp& warp, const Step& step, Mask mask) {
  const auto slots = operands_of(warp.cta->launch->code, step);
  const std::size_t bytes = slots.size() * sizeof(T);
  ++warp.cta->changes;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const std::uint64_t address = warp.slot<std::uint64_t>(step.x[0])[lane];
    const Replicas found =
        find_replicas(warp, step, lane, Space::multimem, true, address, bytes, static_cast<std::uint32_t>(bytes));
    if (found.empty()) return Outcome::fault;
    for (const Place& place : found.places()) {
      if (place.written != nullptr) mark_written(place.written, bytes);
      for (std::size_t k = 0; k < slots.size(); ++k)
        element<T>(place, k).store(from_slot<T>(warp.slot<SlotOf<T>>(slots[k])[lane]), std::memory_order_release);
    }
  }
  return Outcome::next;
}

template <class T>
Outcome update_all(Warp& warp, const Step& step, Mask mask) {
  const auto slots = operands_of(warp.cta->launch->code, step);
  const std::size_t bytes = slots.size() * sizeof(T);
  const auto what = static_cast<Update>(step.target);
  bool changed = false;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const std::uint64_t address = warp.slot<std::uint64_t>(step.x[0])[lane];
    const Replicas found =
        find_replicas(warp, step, lane, Space::multimem, true, address, bytes, static_cast<std::uint32_t>(bytes));
    if (found.empty() || !check_marks(warp, step, lane, address, found, bytes)) return Outcome::fault;
    for (const Place& place : found.places())
      for (std::size_t k = 0; k < slots.size(); ++k) {
        const auto b = from_slot<T>(warp.slot<SlotOf<T>>(slots[k])[lane]);
        const std::atomic_ref<T> memory = element<T>(place, k);
        T before = memory.load(std::memory_order_relaxed), after = before;
        do after = updated<T>(what, before, b, T{0}, false);
        while (!memory.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_acquire));
        changed |= after != before;
      }
  }
  if (changed) {
    ++warp.cta->changes;
  } else {  // perhaps what others wait for stays as it is
    ++warp.cta->polls;
    warp.polled = step.item;
  }
  return Outcome::next;
}

// ---- decoding

// Memory knows only widths.
Type unsigned_of(Type type) {
  const int width = isa::bits(type);
  return width == 8 ? Type::u8 : width == 16 ? Type::u16 : width == 32 ? Type::u32 : Type::u64;
}

// The handler made<T>() for the elements' width.
template <class Make>
Handler by_width(Decoding& in, std::string_view value, Make make) {
  const Type type = unsigned_of(in.operand_type(value));
  in.step.x[0] = in.read_full_address("a");
  in.add_operands(value == "d" ? in.write_all(value, type) : in.read_all(value, type));
  in.step.space = Space::multimem;
  return by_integer(type, [&]<class T>(T) -> Handler {
    if constexpr (std::is_signed_v<T>)
      return nullptr;
    else
      return make(T{});
  });
}

// Where a row has but one type it says so by itself.
Type type_of(const Decoding& in) { return in.has("type") ? in.type("type") : Type::f32; }

}  // namespace

namespace op {

Handler multimem_ld_reduce(Decoding& in) {
  const Type type = type_of(in);
  Reducer reducer{update_of(in, type), multimem_number_of(type), MultimemNumber::none};
  const std::string_view op = in.has("op") ? in.chosen("op") : std::string_view();
  if (reducer.number != MultimemNumber::none && op.empty()) {
    const bool in_wider = in.has("acc");
    const bool is_half = reducer.number == MultimemNumber::f16 || reducer.number == MultimemNumber::bf16;
    reducer.sum = !in_wider ? reducer.number : is_half ? MultimemNumber::f32 : MultimemNumber::f16;
  }
  if (reducer.number != MultimemNumber::none && !op.empty()) reducer.what = op == "min" ? Update::least : Update::greatest;
  in.reduces_devices = reducer.number != MultimemNumber::none || isa::is_float(type);
  in.step.imm = packed(reducer);
  return by_width(in, "d", []<class T>(T) -> Handler { return &load_reduced<T>; });
}

Handler multimem_st(Decoding& in) {
  return by_width(in, "b", []<class T>(T) -> Handler { return &store_to_all<T>; });
}

Handler multimem_red(Decoding& in) {
  in.step.target = static_cast<std::uint32_t>(update_of(in, type_of(in)));
  return by_width(in, "b", []<class T>(T) -> Handler { return &update_all<T>; });
}

}  // namespace op
}  // namespace ptx::vgpu
