// Flow of control (rows: ptx/isa/table/control.hpp).
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/decode/helper_steps.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/ops/host_functions.hpp"

namespace ptx::vgpu {
namespace {

// x[0] = index, x[1] = number of the list. Lanes that pick the same label stay together.
Outcome go_to_listed(Warp& warp, const Step& step, Mask mask) {
  const std::vector<std::uint32_t>& targets = warp.cta->launch->code.branch_lists[step.x[1]];
  const auto* index = warp.slot<std::uint32_t>(step.x[0]);
  for (Mask left = mask; left != 0; left &= left - 1)
    if (const int lane = lowest_lane(left); index[lane] >= targets.size())
      return warp.fail(step, lane, Kind::out_of_bounds, cat("goes to label ", index[lane], " of a list of ", targets.size()));
  for (Mask left = mask; left != 0;) {
    const std::uint32_t chosen = index[lowest_lane(left)];
    Mask group = 0;
    for (int l = 0; l < lane_count; ++l) group |= has_lane(left, l) && index[l] == chosen ? Mask{1} << l : 0;
    if (group == warp.active) {
      warp.pc = targets[chosen];
      return Outcome::jumped;
    }
    split(warp, step, group, targets[chosen]);
    left &= ~group;
  }
  return warp.active == 0 ? Outcome::left : Outcome::regroup;
}

}  // namespace

namespace op {

Handler bra(Decoding&) { return helper::jump(); }  // the decoder fills in the target
Handler ret(Decoding&) { return helper::exit_lanes(); }
Handler exit(Decoding&) { return helper::exit_lanes(); }

// What it calls stands behind it (calls.hpp), unless the executor does that itself.
Handler call(Decoding& in) {
  if (const HostCall* host = in.host_call()) return call_host(in, *host);
  return [](Warp&, const Step&, Mask) { return Outcome::next; };
}

Handler trap(Decoding&) {
  return [](Warp& warp, const Step& step, Mask mask) {
    return warp.fail(step, lowest_lane(mask), Kind::trapped, "ends the kernel");
  };
}

// Time is counted in instructions: sleeping takes none.
Handler nanosleep(Decoding&) {
  return [](Warp&, const Step&, Mask) { return Outcome::next; };
}

Handler brx_idx(Decoding& in) {
  in.step.x[0] = in.read("index", Type::u32);
  return &go_to_listed;  // the decoder fills in the list
}

// Nobody counts the events.
Handler pmevent(Decoding&) {
  return [](Warp&, const Step&, Mask) { return Outcome::next; };
}

Handler brkpt(Decoding&) {
  return [](Warp& warp, const Step& step, Mask mask) {
    return warp.fail(step, lowest_lane(mask), Kind::trapped, "stops for a debugger, which the executor does not have");
  };
}

}  // namespace op
}  // namespace ptx::vgpu
