// Tensor memory: taken, given back, loaded and stored (rows: ptx/isa/table/tcgen05.hpp). Loads and stores are done when they are
// issued, as asynchronous ones may be, so there is nothing to wait for. No GPU has been asked about any of it.
#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/async/mbarrier.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/ops/reductions.hpp"
#include "ptx/vgpu/races/detector.hpp"
#include "ptx/vgpu/tensor/reach.hpp"
#include "ptx/vgpu/tensor/warp.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::uint32_t least_columns = 32;

// The value that all lanes of the warp have; nothing: a fault was recorded.
template <class T>
std::optional<T> same_in_all_lanes(Warp& warp, const Step& step, const T* values, std::string_view what) {
  for (int l = 1; l < lane_count; ++l)
    if (values[l] != values[0]) {
      warp.fail(step, l, Rule::V_04,
                cat("is given ", what, " 0x", hex(values[l]), " here and 0x", hex(values[0]), " in another lane of its warp"));
      return std::nullopt;
    }
  return values[0];
}

// ---- columns

std::optional<std::string> wrong_columns(std::uint32_t columns) {
  if (std::has_single_bit(columns) && columns >= least_columns && columns <= layout::tensor_columns) return std::nullopt;
  return cat(columns, " columns of tensor memory; what fits is a power of two from 32 to 512");
}

// The two CTAs of a pair get the same columns when both have asked.
std::optional<std::uint32_t> take_together(Warp& warp, const Step& step, std::uint32_t columns) {
  TensorMemory& own = warp.cta->tensor_memory;
  if (own.granted) return std::exchange(own.granted, std::nullopt);
  Cta* const peer = peer_of(*warp.cta);
  if (peer == nullptr) {
    fail_alone(warp, step, 0);
    return std::nullopt;
  }
  own.asked_for = columns;
  TensorMemory& other = peer->tensor_memory;
  if (other.asked_for == 0) return std::nullopt;
  if (other.asked_for != columns) {
    warp.fail(step, 0, Rule::K_04,
              cat("asks for ", columns, " columns of tensor memory, and the other CTA of the pair for ", other.asked_for));
    return std::nullopt;
  }
  const auto room = own.room_for(columns);
  if (!room || room != other.room_for(columns)) return std::nullopt;
  own.asked_for = other.asked_for = 0;
  other.granted = other.take(columns, step.item);
  ++peer->changes;
  return own.take(columns, step.item);
}

// x[0] = where the address goes, x[1] = how many columns, x[2] = together with the other CTA of the pair
Outcome alloc(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const auto columns = same_in_all_lanes(warp, step, warp.slot<std::uint32_t>(step.x[1]), "a number of columns");
  const auto address = same_in_all_lanes(warp, step, warp.slot<std::uint64_t>(step.x[0]), "a shared address");
  if (!columns || !address) return Outcome::fault;
  TensorMemory& memory = warp.cta->tensor_memory;
  if (auto wrong = wrong_columns(*columns)) return warp.fail(step, 0, Rule::K_04, cat("asks for ", *wrong));
  if (memory.relinquished)
    return warp.fail(step, 0, Rule::K_04, "allocates tensor memory after its CTA has relinquished its permit to");
  if (memory.last_taken() != 0 && *columns > memory.last_taken())
    return warp.fail(step, 0, Rule::K_04,
                     cat("asks for ", *columns, " columns of tensor memory after an allocation of ", memory.last_taken(),
                         ": no allocation of a CTA is larger than the one before it"));
  const auto place = find_range(warp, step, 0, step.space, true, *address, 4, 4);
  if (!place) return Outcome::fault;
  if (step.x[2] != 0 && warp.races != nullptr) warp.races->allocate_with_pair(warp, step);
  const auto first = step.x[2] == 0 ? memory.take(*columns, step.item) : take_together(warp, step, *columns);
  if (warp.fault) return Outcome::fault;
  if (!first) return ask_again(warp, step);
  if (warp.races != nullptr) warp.races->access_together(warp, step, true, place->data, 4);
  std::memcpy(place->data, &*first, 4);
  if (place->written != nullptr) std::memset(place->written, written_mark, 4);
  ++warp.cta->changes;
  return Outcome::next;
}

// x[0] = address, x[1] = how many columns, x[2] = of a pair
Outcome dealloc(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const auto columns = same_in_all_lanes(warp, step, warp.slot<std::uint32_t>(step.x[1]), "a number of columns");
  const auto address = same_in_all_lanes(warp, step, warp.slot<std::uint32_t>(step.x[0]), "an address in tensor memory");
  if (!columns || !address) return Outcome::fault;
  if (auto wrong = wrong_columns(*columns)) return warp.fail(step, 0, Rule::K_04, cat("gives back ", *wrong));
  TensorMemory& memory = warp.cta->tensor_memory;
  if (!memory.give_back(*address, *columns)) {
    std::string taken;
    for (const auto& a : memory.allocations()) taken += cat(taken.empty() ? "" : ", ", a.columns, " at 0x", hex(a.first));
    return warp.fail(step, 0, Rule::K_04,
                     cat("gives back ", *columns, " columns of tensor memory at 0x", hex(*address),
                         ", which were not allocated so; what is allocated: ", taken.empty() ? "nothing" : taken));
  }
  if (warp.races != nullptr) {
    const layout::TensorAddress from = layout::tensor_address(*address);
    warp.races->access_tensor_memory(warp, step, warp.live, *warp.cta, races::TensorUse::give_back, true,
                                     {0, layout::tensor_lanes, from.column, static_cast<int>(*columns)});
    if (const Cta* peer = step.x[2] == 0 ? nullptr : peer_of(*warp.cta)) warp.races->give_back_with_pair(warp, step, *peer);
  }
  ++warp.cta->changes;
  return Outcome::next;
}

// ---- registers

// x[0] = shape, x[1] = how far the second half lies behind the first, x[2] = 16 bits of two columns in a register, x[3] = the
// reduction; operands = registers, and behind them the reduction's result
enum Reduces : std::uint32_t { no_extreme, f32_extreme, u32_extreme, s32_extreme };
constexpr std::uint32_t larger = 1, keeps_nan = 2, of_magnitudes = 4;  // x[4]

// The first cell of the warp; nothing: a fault was recorded.
std::optional<layout::TensorAddress> first_cell(Warp& warp, const Step& step, std::size_t registers, bool stores) {
  std::array<std::uint64_t, lane_count> address;
  read_addresses(warp, step, address);
  if (!same_in_all_lanes(warp, step, address.data(), "an address in tensor memory")) return std::nullopt;
  const auto at = layout::tensor_address(static_cast<std::uint32_t>(address[0]));
  const auto shape = static_cast<layout::TensorShape>(step.x[0]);
  const int window = 32 * static_cast<int>(warp.index % 4), lanes = layout::lanes_of(shape);
  if (at.lane != window && (lanes == 32 || at.lane != window + 16)) {
    warp.fail(step, 0, Kind::tensor_memory_misuse,
              cat(stores ? "stores to" : "loads", " lanes ", at.lane, " to ", at.lane + lanes - 1, " of tensor memory; warp ",
                  warp.index, " can reach lanes ", window, " to ", window + 31));
    return std::nullopt;
  }
  int last = 0;  // column, behind the first
  for (const int thread : {0, 31})
    last = std::max(last, layout::place_of_register(shape, thread, static_cast<int>(registers) - 1, 0).column);
  const int columns = (last + 1) << step.x[2];
  const std::string_view does = stores ? "stores to" : "loads";
  if (!can_reach(warp, step, 0, warp.cta->tensor_memory, does, at, lanes, columns)) return std::nullopt;
  if (shape == layout::TensorShape::lanes16_b32x2 &&
      !can_reach(warp, step, 0, warp.cta->tensor_memory, does, {at.lane, at.column + static_cast<int>(step.x[1])}, lanes,
                 columns))
    return std::nullopt;
  if (warp.races != nullptr) {
    const auto use = stores ? races::TensorUse::store : races::TensorUse::load;
    warp.races->access_tensor_memory(warp, step, warp.live, *warp.cta, use, stores, {at.lane, lanes, at.column, columns});
    if (shape == layout::TensorShape::lanes16_b32x2)
      warp.races->access_tensor_memory(warp, step, warp.live, *warp.cta, use, stores,
                                       {at.lane, lanes, at.column + static_cast<int>(step.x[1]), columns});
  }
  return at;
}

// The cell of a register; the first of two where it holds two.
layout::TensorAddress cell_of(const Step& step, layout::TensorAddress first, int reg, int thread) {
  const auto shape = static_cast<layout::TensorShape>(step.x[0]);
  const auto place = layout::place_of_register(shape, thread, reg, 0);
  const bool second = shape == layout::TensorShape::lanes16_b32x2 && thread >= 16;
  return {first.lane + place.lane, first.column + (place.column << step.x[2]) + (second ? static_cast<int>(step.x[1]) : 0)};
}

std::uint32_t extreme_of(const Step& step, std::uint32_t a, std::uint32_t b) {
  const bool is_larger = (step.x[4] & larger) != 0;
  switch (step.x[3]) {
    case f32_extreme:
      return num::extreme<std::uint32_t>(
          a, b, 0x80000000, 0x7F800000, num::nan32,
          {is_larger, (step.x[4] & keeps_nan) != 0, false, (step.x[4] & of_magnitudes) != 0, false});
    case u32_extreme:
      return is_larger ? std::max(a, b) : std::min(a, b);
    default: {
      const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(b);
      return static_cast<std::uint32_t>(is_larger ? std::max(x, y) : std::min(x, y));
    }
  }
}

Outcome load(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  if (warp.traced && fail_undefined_address(warp, step, mask)) return Outcome::fault;
  const auto slots = operands_of(warp.cta->launch->code, step);
  const std::size_t registers = slots.size() - (step.x[3] == no_extreme ? 0 : 1);
  const auto first = first_cell(warp, step, registers, false);
  if (!first) return Outcome::fault;
  const bool was_traced = warp.traced, packs = step.x[2] != 0;
  TensorMemory& memory = warp.cta->tensor_memory;
  Mask any = 0;
  for (std::size_t r = 0; r < registers; ++r) {
    auto* reg = warp.slot<std::uint32_t>(slots[r]);
    Mask unwritten = 0;
    for (int l = 0; l < lane_count; ++l) {
      const auto at = cell_of(step, *first, static_cast<int>(r), l);
      reg[l] = packs ? (memory.cell(at.lane, at.column) & 0xFFFF) | memory.cell(at.lane, at.column + 1) << 16
                     : memory.cell(at.lane, at.column);
      for (int c = at.column; c <= at.column + (packs ? 1 : 0); ++c)
        if (const std::uint8_t mark = memory.mark(at.lane, c); mark != written_mark) {
          unwritten |= Mask{1} << l;
          note_found(warp, step,
                     cat(say_unwritten_cell("loads", at.lane, c, mark),
                         mark == undefined_mark && !memory.undefined_because().empty() ? cat(": ", memory.undefined_because())
                                                                                       : std::string()));
        }
    }
    any |= unwritten;
    if (warp.traced) set_result(warp, step, r, all_lanes, unwritten);
  }
  if (step.x[3] != no_extreme) {
    auto* result = warp.slot<std::uint32_t>(slots[registers]);
    for (int l = 0; l < lane_count; ++l) {
      std::uint32_t value = warp.slot<std::uint32_t>(slots[0])[l];
      value = extreme_of(step, value, value);  // of its magnitude, too
      for (std::size_t r = 1; r < registers; ++r) value = extreme_of(step, value, warp.slot<std::uint32_t>(slots[r])[l]);
      result[l] = value;
    }
    if (warp.traced) set_result(warp, step, registers, all_lanes, any);
  }
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

Outcome store(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  if (warp.traced && fail_undefined_address(warp, step, mask)) return Outcome::fault;
  const auto slots = operands_of(warp.cta->launch->code, step);
  const auto first = first_cell(warp, step, slots.size(), true);
  if (!first) return Outcome::fault;
  TensorMemory& memory = warp.cta->tensor_memory;
  for (std::size_t r = 0; r < slots.size(); ++r) {
    const auto* reg = warp.slot<std::uint32_t>(slots[r]);
    const Mask undefined = warp.traced ? undefined_value(warp, step, r) : 0;
    for (int l = 0; l < lane_count; ++l) {
      const auto at = cell_of(step, *first, static_cast<int>(r), l);
      const std::uint8_t mark = has_lane(undefined, l) ? undefined_mark : written_mark;
      memory.cell(at.lane, at.column) = step.x[2] != 0 ? reg[l] & 0xFFFF : reg[l];
      memory.mark(at.lane, at.column) = mark;
      if (step.x[2] == 0) continue;
      memory.cell(at.lane, at.column + 1) = reg[l] >> 16;
      memory.mark(at.lane, at.column + 1) = mark;
    }
  }
  ++warp.cta->changes;
  return Outcome::next;
}

// Shape and address; the registers are added behind.
void read_shape(Decoding& in) {
  using layout::TensorShape;
  const std::string_view shape = in.chosen("shape");
  in.step.x[0] = static_cast<std::uint32_t>(shape == "32x32b"    ? TensorShape::lanes32_b32
                                            : shape == "16x64b"  ? TensorShape::lanes16_b64
                                            : shape == "16x128b" ? TensorShape::lanes16_b128
                                            : shape == "16x256b" ? TensorShape::lanes16_b256
                                                                 : TensorShape::lanes16_b32x2);
  if (const auto split = in.immediate("half_split_offset"))
    in.step.x[1] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(*split, 0, 0xFFFF));
  in.step.x[2] = in.has("pack") || in.has("unpack") ? 1 : 0;
  read_tensor_address(in, "taddr");
  in.tracks_undefined = true;
}

// x[0] = stores, not loads
Outcome wait_for_all(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  if (warp.races != nullptr) warp.races->wait_for_tensor_memory(warp, step.x[0] != 0);
  return Outcome::next;
}

}  // namespace

namespace op {

Handler tcgen05_alloc(Decoding& in) {
  in.step.x[0] = in.read_full_address("dst");
  in.step.x[1] = in.read("columns", Type::u32);
  in.step.x[2] = in.wrote("cta_group::2") ? 1 : 0;
  in.step.space = in.space("dst");
  return &alloc;
}

Handler tcgen05_dealloc(Decoding& in) {
  in.step.x[0] = in.read("taddr", Type::u32);
  in.step.x[1] = in.read("columns", Type::u32);
  in.step.x[2] = in.wrote("cta_group::2") ? 1 : 0;
  return &dealloc;
}

Handler tcgen05_relinquish(Decoding&) {
  return [](Warp& warp, const Step& step, Mask mask) {
    if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
    warp.cta->tensor_memory.relinquished = true;
    return Outcome::next;
  };
}

Handler tcgen05_ld(Decoding& in) {
  read_shape(in);
  in.add_operands(in.write_all("r", Type::b32));
  if (in.given("value")) {
    const Type type = in.has("type") ? in.type("type") : Type::f32;
    in.step.x[3] = type == Type::f32 ? f32_extreme : type == Type::u32 ? u32_extreme : s32_extreme;
    in.step.x[4] =
        (in.chosen("op") == "max" ? larger : 0) | (in.wrote("NaN") ? keeps_nan : 0) | (in.wrote("abs") ? of_magnitudes : 0);
    const std::uint32_t value[] = {in.write("value", Type::b32)};
    in.add_operands(value);
  }
  return &load;
}

Handler tcgen05_st(Decoding& in) {
  read_shape(in);
  in.add_operands(in.read_all("r", Type::b32));
  return &store;
}

Handler tcgen05_wait(Decoding& in) {
  in.step.x[0] = in.wrote("wait::st") ? 1 : 0;
  return &wait_for_all;
}

// Operations are done in the order in which they are issued: threads that synchronise see them.
Handler tcgen05_fence(Decoding&) {
  return [](Warp& warp, const Step& step, Mask mask) {
    if (warp.races != nullptr) warp.races->fence(warp, step, mask);
    return Outcome::next;
  };
}

// x[0] = address, x[1] = mask of CTAs, where x[2] says so
Handler tcgen05_commit(Decoding& in) {
  in.step.x[0] = in.read_full_address("mbar");
  in.step.space = in.space("mbar");
  in.step.x[2] = in.has("multicast") ? 1 : 0;
  if (in.step.x[2] != 0) in.step.x[1] = in.read("cta_mask", Type::u16);
  return [](Warp& warp, const Step& step, Mask mask) {
    if (warp.races != nullptr) warp.races->close_tensor_operations(warp);
    for (Mask left = mask; left != 0; left &= left - 1) {
      const int lane = lowest_lane(left);
      const std::uint64_t address = warp.slot<std::uint64_t>(step.x[0])[lane];
      if (step.x[2] == 0) {
        // Triton writes a shared address, of 32 bits, where a generic one belongs, and its kernels run on Blackwell (facts.md).
        const bool is_shared = step.space == Space::generic && address >> 32 == 0;
        if (!mbarrier::arrive({warp, step, lane, is_shared ? Space::cluster : step.space, address}, {})) return Outcome::fault;
        continue;
      }
      const std::uint32_t blocks = warp.slot<std::uint32_t>(step.x[1])[lane] & 0xFFFF;
      if (!check_multicast(warp, step, lane, blocks)) return Outcome::fault;
      for (std::uint32_t rest = blocks; rest != 0; rest &= rest - 1)
        if (!mbarrier::arrive(
                {warp, step, lane, Space::cluster, in_block(static_cast<std::uint64_t>(std::countr_zero(rest)), address)}, {}))
          return Outcome::fault;
    }
    return Outcome::next;
  };
}

}  // namespace op
}  // namespace ptx::vgpu
