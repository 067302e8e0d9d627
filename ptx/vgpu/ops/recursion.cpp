// Functions that call themselves: one body, which a call enters again. What a thread's registers hold is kept meanwhile, its
// variables in local memory lie further up.
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/memory/undefined_bits.hpp"
#include "ptx/vgpu/ops/host_functions.hpp"

namespace ptx::vgpu {
namespace {

// One value on its way between a caller and what it calls.
struct Carried {
  std::array<std::byte, 16> small{};
  std::vector<std::byte> large;
  std::vector<std::uint8_t> marks;
  RegisterBits undefined;
  std::uint32_t source = 0;
};

// What a lane has of registers and local memory.
class LaneState {
 public:
  LaneState(Warp& warp, int lane) : warp_(warp), code_(warp.cta->launch->code), lane_(static_cast<std::size_t>(lane)) {}

  [[nodiscard]] CallFrame save(std::uint32_t resume, std::uint32_t call) const {
    CallFrame frame{resume, call, {}, {}};
    frame.registers.reserve(code_.saved_slots.size());
    for (const SavedSlot& slot : code_.saved_slots) {
      if (slot.bytes == 0)
        frame.registers.push_back(warp_.pred(slot.offset) >> lane_ & 1u);
      else
        frame.registers.push_back(slot.bytes == 8 ? warp_.slot<std::uint64_t>(slot.offset)[lane_]
                                                  : std::uint64_t{warp_.slot<std::uint32_t>(slot.offset)[lane_]});
    }
    if (warp_.traced)
      for (std::uint32_t i = 0; i < warp_.undefined.size(); ++i)
        frame.undefined.push_back(undefined_bits(warp_, i, static_cast<int>(lane_)));
    return frame;
  }
  void restore(const CallFrame& frame) {
    const Mask bit = Mask{1} << lane_;
    for (std::size_t i = 0; i < frame.registers.size(); ++i) {
      const SavedSlot& slot = code_.saved_slots[i];
      if (slot.bytes == 0)
        warp_.pred(slot.offset) = (warp_.pred(slot.offset) & ~bit) | (frame.registers[i] != 0 ? bit : 0);
      else if (slot.bytes == 8)
        warp_.slot<std::uint64_t>(slot.offset)[lane_] = frame.registers[i];
      else
        warp_.slot<std::uint32_t>(slot.offset)[lane_] = static_cast<std::uint32_t>(frame.registers[i]);
    }
    if (!warp_.traced) return;
    for (std::uint32_t i = 0; i < warp_.undefined.size(); ++i)
      set_undefined_bits(warp_, i, static_cast<int>(lane_), i < frame.undefined.size() ? frame.undefined[i] : RegisterBits{});
    if (frame.undefined.empty())  // nobody had looked when it was kept
      for (const MaybeUnwritten& reg : code_.maybe_unwritten) warp_.undefined[reg.scalar] |= bit & ~warp_.pred(reg.written);
  }
  [[nodiscard]] std::uint64_t& frame_pointer() { return warp_.slot<std::uint64_t>(code_.frame_pointer)[lane_]; }
  // Nobody has written a new frame.
  void clear_frame() {
    if (!warp_.local_written.empty())
      std::fill_n(warp_.local_written.data() + offset(local_base), code_.frame_bytes, std::uint8_t{0});
  }

  [[nodiscard]] Carried take(const PassedPlace& place) {
    Carried value;
    if (place.in_memory) {
      const std::size_t at = offset(place.at);
      value.large.assign(warp_.local.data() + at, warp_.local.data() + at + place.bytes);
      if (!warp_.local_written.empty())
        value.marks.assign(warp_.local_written.data() + at, warp_.local_written.data() + at + place.bytes);
      return value;
    }
    if (place.bytes == 8)
      std::memcpy(value.small.data(), &warp_.slot<std::uint64_t>(place.at)[lane_], 8);
    else
      std::memcpy(value.small.data(), &warp_.slot<std::uint32_t>(place.at)[lane_], 4);
    if (warp_.traced && place.scalar != no_scalar) {
      value.undefined = undefined_bits(warp_, place.scalar, static_cast<int>(lane_));
      value.source = warp_.undefined_source[place.scalar];
    }
    return value;
  }
  void put(const PassedPlace& place, const Carried& value) {
    if (place.in_memory) {
      const std::size_t at = offset(place.at), bytes = std::max<std::size_t>(place.bytes, 1);
      const std::byte* from = value.large.empty() ? value.small.data() : value.large.data();
      std::copy_n(from, std::min(bytes, value.large.empty() ? value.small.size() : value.large.size()), warp_.local.data() + at);
      if (warp_.local_written.empty()) return;
      if (value.marks.empty())
        for (std::size_t i = 0; i < bytes; ++i)
          warp_.local_written[at + i] = i < 16 ? mark_of(byte_of(value.undefined, i), is_gap(code_, value.source)) : written_mark;
      else
        std::copy_n(value.marks.data(), std::min(bytes, value.marks.size()), warp_.local_written.data() + at);
      return;
    }
    const std::byte* from = value.large.empty() ? value.small.data() : value.large.data();
    if (place.bytes == 8)
      std::memcpy(&warp_.slot<std::uint64_t>(place.at)[lane_], from, 8);
    else
      std::memcpy(&warp_.slot<std::uint32_t>(place.at)[lane_], from,
                  std::min<std::size_t>(4, value.large.empty() ? 4 : value.large.size()));
    if (!warp_.traced || place.scalar == no_scalar) return;
    const RegisterBits undefined = value.undefined | undefined_bits_of(value.marks);
    set_undefined_bits(warp_, place.scalar, static_cast<int>(lane_), undefined);
    if (undefined.any()) warp_.undefined_source[place.scalar] = value.source;
  }

 private:
  // Of a local address of the first frame, in the warp's memory.
  [[nodiscard]] std::size_t offset(std::uint64_t address) {
    return lane_ * warp_.local_region.lane_stride + static_cast<std::size_t>(address + frame_pointer() - local_base);
  }

  Warp& warp_;
  const Code& code_;
  const std::size_t lane_;
};

// x[0] = number of the call; target = where the function begins
Outcome enter(Warp& warp, const Step& step, Mask mask) {
  const Code& code = warp.cta->launch->code;
  const RecursiveCall& call = code.recursive_calls[step.x[0]];
  const RecursiveFunction& function = code.recursive_functions[call.function];
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    std::vector<CallFrame>& frames = warp.frames[static_cast<std::size_t>(lane)];
    if (frames.size() >= code.most_frames)
      return warp.fail(
          step, lane, Kind::out_of_bounds,
          cat("is the call number ", frames.size() + 1, " inside of each other, and the stack has room for ", code.most_frames));
    LaneState state(warp, lane);
    std::vector<Carried> values;
    for (const PassedPlace& argument : call.arguments) values.push_back(state.take(argument));
    frames.push_back(state.save(index_of(warp, step) + 1, step.x[0]));
    state.frame_pointer() += code.frame_bytes;
    state.clear_frame();
    for (std::size_t i = 0; i < values.size(); ++i) state.put(function.params[i], values[i]);
  }
  if (mask == warp.active) {
    warp.pc = step.target;
    return Outcome::jumped;
  }
  return split(warp, step, mask, step.target);
}

// x[0] = number of the function. Lanes that have entered it again go back to where they came from; the others go on.
Outcome leave_function(Warp& warp, const Step& step, Mask mask) {
  const Code& code = warp.cta->launch->code;
  const RecursiveFunction& function = code.recursive_functions[step.x[0]];
  std::array<std::uint32_t, lane_count> resume{};
  Mask going = 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const auto l = static_cast<std::size_t>(lane);
    std::vector<CallFrame>& frames = warp.frames[l];
    if (frames.empty() || code.recursive_calls[frames.back().call].function != step.x[0]) continue;
    going |= Mask{1} << lane;
    const CallFrame frame = std::move(frames.back());
    frames.pop_back();
    LaneState state(warp, lane);
    std::vector<Carried> values;
    for (const PassedPlace& result : function.returns) values.push_back(state.take(result));
    state.restore(frame);
    const std::vector<PassedPlace>& results = code.recursive_calls[frame.call].results;
    for (std::size_t i = 0; i < values.size(); ++i) state.put(results[i], values[i]);
    resume[l] = frame.resume;
  }
  if (going == 0) return Outcome::next;
  for (Mask left = going; left != 0;) {
    const std::uint32_t target = resume[static_cast<std::size_t>(lowest_lane(left))];
    Mask group = 0;
    for (int l = 0; l < lane_count; ++l)
      group |= has_lane(left, l) && resume[static_cast<std::size_t>(l)] == target ? Mask{1} << l : 0;
    if (group == warp.active) {
      warp.pc = target;
      return Outcome::jumped;
    }
    split(warp, step, group, target);
    left &= ~group;
  }
  return warp.active == 0 ? Outcome::left : Outcome::regroup;
}

}  // namespace

Handler enter_function() { return &enter; }
Handler return_from_function() { return &leave_function; }

}  // namespace ptx::vgpu
