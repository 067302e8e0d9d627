#include "ptx/vgpu/waiting.hpp"

#include <algorithm>

namespace ptx::vgpu {

std::string say_place(const Code& code, std::uint32_t item) {
  const SourceLocation where = code.where(item);
  return where.known() ? cat(to_string(where), ", ", code.line(item)) : code.line(item);
}

namespace {

std::string say_fragment(const Warp& warp, const LaneGroup& f) {
  const Code& code = warp.cta->launch->code;
  const std::string_view verb = f.mask == (f.mask & -f.mask) ? " waits at " : " wait at ";
  return cat(say_lanes(f.mask), verb, say_place(code, code.steps[f.pc].item));
}

}  // namespace

std::uint32_t barrier_threads(const Warp& warp, const Step& step, Mask mask) {
  return warp.slot<std::uint32_t>(step.x[1])[lowest_lane(mask)];
}

std::string say_lanes(Mask lanes) {
  std::string out = (lanes & (lanes - 1)) == 0 ? "lane " : "lanes ";
  bool first = true;
  while (lanes != 0) {
    const int from = lowest_lane(lanes);
    const int length = std::countr_one(lanes >> from);
    if (!first) out += ", ";
    first = false;
    out += length == 1 ? cat(from) : cat(from, '-', from + length - 1);
    lanes = from + length >= lane_count ? 0 : lanes & ~((Mask{1} << (from + length)) - 1);
  }
  return out;
}

void fail_stuck(Warp& warp) {
  const LaneGroup stuck = warp.others.front();
  const Step& step = warp.cta->launch->code.steps[stuck.pc];
  std::string message;
  if (stuck.wait == Wait::members) {
    Mask missing = stuck.key & warp.live;
    for (const LaneGroup& f : warp.others)
      if (f.wait == Wait::members && f.key == stuck.key) missing &= ~f.mask;
    message = cat("waits for ", say_lanes(missing), " of its membermask 0x", hex(stuck.key, 8), ", which cannot come");
  } else {
    message =
        cat("needs all live threads of warp ", warp.index, " together; ", say_lanes(warp.live & ~stuck.mask), " cannot come");
  }
  std::vector<std::string> notes;
  for (const LaneGroup& f : warp.others) notes.push_back(say_fragment(warp, f));
  warp.fail(step, lowest_lane(stuck.mask), Kind::divergent, std::move(message), std::move(notes));
}

bool fail_bypass(Warp& warp, const Step& step, Mask mask) {
  const Code& code = warp.cta->launch->code;
  for (const LaneGroup& f : warp.others) {
    if (f.wait != Wait::converge) continue;
    const Step& barrier = code.steps[f.pc];
    if (!code.bypasses->went_round(*code.function, barrier.item, step.item)) continue;
    warp.fail(barrier, lowest_lane(f.mask), Kind::divergent,
              cat("needs all live threads of warp ", warp.index, " together; ", say_lanes(mask),
                  " went round it, on to what stands behind"),
              {say_fragment(warp, f),
               cat(say_lanes(mask), mask == (mask & -mask) ? " exits at " : " exit at ", say_place(code, step.item))});
    return true;
  }
  return false;
}

void fail_deadlock(Cta& cta) {
  constexpr std::size_t max_notes = 8;
  const Code& code = cta.launch->code;
  std::vector<std::string> notes;
  Warp* first = nullptr;
  std::size_t waiting = 0;
  for (Warp& warp : cta.warps) {
    if (warp.live == 0) continue;
    if (first == nullptr) first = &warp;
    ++waiting;
    const LaneGroup& f = warp.others.front();
    if (f.key == cluster_wait) {
      if (notes.size() < max_notes)
        notes.push_back(cat("warp ", warp.index, " waits at the cluster's barrier: ", say_place(code, code.steps[f.pc].item)));
      continue;
    }
    const Barrier& b = cta.barriers[f.key];
    const std::uint32_t want = b.expected_threads != 0 ? b.expected_threads : cta.live_warps * lane_count;
    if (notes.size() < max_notes)
      notes.push_back(cat("warp ", warp.index, " waits at barrier ", f.key, ", where ", b.arrived_warps * lane_count, " of ",
                          want, " threads have come: ", say_place(code, code.steps[f.pc].item)));
  }
  if (waiting > max_notes) notes.push_back(cat("and ", waiting - max_notes, " more warps"));
  const std::uint64_t gone = cta.warps.size() - cta.live_warps;
  if (gone != 0) notes.push_back(cat(gone, gone == 1 ? " warp has exited" : " warps have exited"));
  const LaneGroup& f = first->others.front();
  first->fail(code.steps[f.pc], lowest_lane(f.mask), Kind::deadlock,
              cat("waits at ", f.key == cluster_wait ? std::string("the cluster's barrier") : cat("barrier ", f.key),
                  ", which cannot complete: no warp of the block can continue"),
              std::move(notes));
}

}  // namespace ptx::vgpu
