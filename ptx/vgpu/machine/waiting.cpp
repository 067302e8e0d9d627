#include "ptx/vgpu/machine/waiting.hpp"

#include <algorithm>
#include <vector>

#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/machine/occupancy.hpp"
#include "ptx/vgpu/machine/register_pool.hpp"

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
  const Code& code = warp.cta->launch->code;
  const Step& step = code.steps[stuck.pc];
  std::string message;
  if (stuck.wait == Wait::members) {
    Mask missing = stuck.key & warp.live;
    for (const LaneGroup& f : warp.others)
      if (f.wait == Wait::members && f.key == stuck.key && code.steps[f.pc].signature == step.signature) missing &= ~f.mask;
    message = cat("waits for ", say_lanes(missing), " of its membermask 0x", hex(stuck.key, 8), ", which cannot come");
  } else {
    message =
        cat("needs all live threads of warp ", warp.index, " together; ", say_lanes(warp.live & ~stuck.mask), " cannot come");
  }
  std::vector<std::string> notes;
  for (const LaneGroup& f : warp.others) notes.push_back(say_fragment(warp, f));
  warp.fail(step, lowest_lane(stuck.mask), stuck.wait == Wait::members ? Rule::V_02 : Rule::V_01, std::move(message),
            std::move(notes));
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

namespace {

constexpr std::size_t max_notes = 8;

// "warp 3", "warp 3 of block (1, 0, 0)", where others have warps of that number.
std::string say_warp(const Warp& warp) {
  const bool alone = warp.cta->cluster->blocks.size() == 1;
  return cat("warp ", warp.index,
             alone ? std::string() : cat(" of block ", to_string(warp.cta->id), ", rank ", warp.cta->rank, ','));
}

// The warps of a cluster that have not ended.
template <class Of>
auto live_warps(Of& cluster) {
  std::vector<decltype(&cluster.blocks.front().warps.front())> live;
  for (auto& cta : cluster.blocks)
    for (auto& warp : cta.warps)
      if (warp.live != 0) live.push_back(&warp);
  return live;
}

// What a warp waits for that has come to a barrier.
std::string say_wait(const Warp& warp) {
  const Cta& cta = *warp.cta;
  const LaneGroup& f = warp.others.front();
  const std::string place = say_place(cta.launch->code, cta.launch->code.steps[f.pc].item);
  if (f.key == cluster_wait) {
    const Cluster& cluster = *cta.cluster;
    const bool alone = cluster.blocks.size() == 1;
    return cat(" waits at the cluster's barrier",
               alone ? std::string() : cat(", to which ", cluster.came_warps, " of ", cluster.live_warps, " warps have come"),
               ": ", place);
  }
  const Barrier& b = cta.barriers[f.key];
  const std::uint32_t want = b.expected_threads != 0 ? b.expected_threads : cta.live_warps * lane_count;
  return cat(" waits at barrier ", f.key, ", where ", b.arrived_warps * lane_count, " of ", want, " threads have come: ", place);
}

}  // namespace

void fail_deadlock(Cluster& cluster) {
  std::vector<std::string> notes;
  const std::vector<Warp*> live = live_warps(cluster);
  for (const Warp* warp : live)
    if (notes.size() < max_notes) notes.push_back(say_warp(*warp) + say_wait(*warp));
  if (live.size() > max_notes) notes.push_back(cat("and ", live.size() - max_notes, " more warps"));
  std::size_t gone = 0;
  for (const Cta& cta : cluster.blocks) gone += cta.warps.size() - cta.live_warps;
  if (gone != 0) notes.push_back(cat(gone, gone == 1 ? " warp has exited" : " warps have exited"));
  Warp& first = *live.front();
  const LaneGroup& f = first.others.front();
  first.fail(first.cta->launch->code.steps[f.pc], lowest_lane(f.mask), Kind::deadlock,
             cat("waits at ", f.key == cluster_wait ? std::string("the cluster's barrier") : cat("barrier ", f.key),
                 ", which cannot complete: no warp of the ", cluster.blocks.size() == 1 ? "block" : "cluster", " can continue"),
             std::move(notes));
}

namespace {

// A warp of a cluster that has not ended and does not wait for others, or one that waits.
const Warp& a_live_warp(const Cluster& cluster) {
  const std::vector<const Warp*> live = live_warps(cluster);
  const auto found = std::find_if(live.begin(), live.end(), [](const Warp* w) { return !w->waiting; });
  return found != live.end() ? **found : *live.front();
}

}  // namespace

Diagnostic report_stopped(const Cluster& cluster, std::uint64_t executed, std::string_view what, std::string done) {
  const Warp& warp = a_live_warp(cluster);
  const LaneGroup& f = warp.others.front();
  return report(warp, {Kind::step_limit,
                       cat("stands where the ", what, " was stopped, after ", executed, " warp instructions"),
                       warp.cta->launch->code.steps[f.pc].item,
                       lowest_lane(f.mask),
                       {std::move(done)}});
}

Diagnostic report_livelock(const Cluster& cluster, const Begun& of_grid) {
  const Warp& warp = a_live_warp(cluster);
  const Code& code = warp.cta->launch->code;
  const auto place = [&](const Warp& w) {
    const Step& at = code.steps[w.others.front().pc];
    return w.waiting || w.polled == never_polled ? at.item : w.polled;
  };
  const auto awaits = [&](const Warp& w) {  // an mbarrier, in a loop
    return !w.waiting && w.polled != never_polled &&
           isa::form(code.function->body[w.polled].form).row->effects.sync == isa::Sync::mbarrier;
  };
  // What a warp that asks again and again waits for; nothing where that is memory that others change.
  const auto awaited_by = [&](const Warp& w) {
    return w.awaited_registers != 0 ? say_awaited_registers(w) : awaits(w) ? mbarrier::say(*w.cta, w.awaited) : std::string();
  };
  const bool polls = warp.polled != never_polled;
  std::vector<std::string> notes;
  const std::vector<const Warp*> live = live_warps(cluster);
  for (const Warp* w : live)
    if (notes.size() < max_notes)
      notes.push_back(cat(say_warp(*w), awaited_by(*w).empty() ? " is at " : cat(" waits for ", awaited_by(*w), ", at "),
                          say_place(code, place(*w))));
  if (live.size() > max_notes) notes.push_back(cat("and ", live.size() - max_notes, " more warps"));
  const std::string_view what = cluster.blocks.size() == 1 ? "blocks" : "clusters";
  if (of_grid.begun < of_grid.clusters)
    notes.push_back(cat(of_grid.clusters - of_grid.begun, " of ", of_grid.clusters, ' ', what, " have not begun: ",
                        multiprocessors, " multiprocessors hold ", of_grid.most, " of these ", what, " at a time"));
  return report(warp, {Kind::deadlock,
                       !awaited_by(warp).empty()
                           ? cat("waits for ", awaited_by(warp), ": every thread that runs is back where it was, and nobody ",
                                 warp.awaited_registers != 0 ? "gives any back any more" : "can complete it any more")
                           : cat(polls ? "polls memory that nobody can change any more" : "is in a loop that nothing can end",
                                 ": every thread that runs is back where it was, and no memory has changed meanwhile"),
                       place(warp), lowest_lane(warp.others.front().mask), std::move(notes), std::nullopt, Rule::D_02});
}

}  // namespace ptx::vgpu
