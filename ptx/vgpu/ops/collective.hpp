// .sync instructions: the lanes that a membermask names come together, give their values and take their results.
#pragma once

#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/machine/waiting.hpp"

namespace ptx::vgpu {

/// The slot of a .sync instruction's membermask.
inline constexpr std::size_t members_slot = 9;

/// A lane that its membermask does not name, or nothing.
inline std::optional<Outcome> check_members(Warp& warp, const Step& step, Mask mask, const std::uint32_t* members) {
  for (Mask left = mask; left != 0; left &= left - 1)
    if (const int lane = lowest_lane(left); !has_lane(members[lane], lane))
      return warp.fail(step, lane, Rule::V_02,
                       cat("is executed by lane ", lane, ", which its membermask 0x", hex(members[lane], 8), " does not name"));
  return std::nullopt;
}

template <const Collective& what>
Outcome meet(Warp& warp, const Step& step, Mask mask) {
  const auto* members = warp.slot<std::uint32_t>(step.x[members_slot]);
  if (mask == warp.live && members[lowest_lane(mask)] == all_lanes) {
    // the usual case: the whole warp is here; the mask of the other lanes is looked at in any case
    Mask same = all_lanes;
    for (int l = 0; l < lane_count; ++l) same &= has_lane(mask, l) ? members[l] : all_lanes;
    if (same == all_lanes) {
      Exchange exchange;
      exchange.members = mask;
      const bool was_traced = warp.traced;
      give(warp, step, mask, what, exchange);
      if (!take(warp, step, mask, what, exchange)) return Outcome::fault;
      return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
    }
  }
  if (auto fault = check_members(warp, step, mask, members)) return *fault;
  // Lanes with one membermask wait for each other; lanes with another one are another group.
  Outcome outcome = Outcome::next;
  for (Mask left = mask; left != 0;) {
    const std::uint32_t key = members[lowest_lane(left)];
    Mask group = 0;
    for (int l = 0; l < lane_count; ++l) group |= has_lane(left, l) && members[l] == key ? Mask{1} << l : 0;
    outcome = park(warp, step, group, Wait::members, key);
    left &= ~group;
  }
  return outcome;
}

template <const Collective& what>
Handler collective(Decoding& in) {
  in.step.x[members_slot] = in.read("membermask", Type::b32);
  in.step.collective = &what;
  return &meet<what>;
}

}  // namespace ptx::vgpu
