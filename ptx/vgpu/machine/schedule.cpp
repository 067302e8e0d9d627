#include "ptx/vgpu/machine/schedule.hpp"

#include <algorithm>

#include "ptx/vgpu/async/queue.hpp"
#include "ptx/vgpu/machine/exploration.hpp"
#include "ptx/vgpu/machine/register_pool.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::uint32_t least_patience =
    4;  // a lane group that keeps spinning gives way sooner: it may wait for a lane of its own warp

enum class WarpState : std::uint8_t { running, waiting, exited, fault };

const Step& step_at(const Warp& warp, std::uint32_t pc) { return warp.cta->launch->code.steps[pc]; }

// All lane groups that take part in a .sync instruction have come: exchange, and let them go on.
bool exchange(Warp& warp, const LaneGroup& one, Mask members) {
  const std::uint32_t key = one.key, signature = step_at(warp, one.pc).signature;
  const auto takes_part = [&](const LaneGroup& f) {
    return f.wait == Wait::members && f.key == key && step_at(warp, f.pc).signature == signature;
  };
  Exchange values;
  values.members = members;
  for (const LaneGroup& f : warp.others)
    if (takes_part(f)) give(warp, step_at(warp, f.pc), f.mask, *step_at(warp, f.pc).collective, values);
  for (const LaneGroup& f : warp.others)
    if (takes_part(f) && !take(warp, step_at(warp, f.pc), f.mask, *step_at(warp, f.pc).collective, values)) return false;
  for (LaneGroup& f : warp.others)
    if (takes_part(f)) f.wait = Wait::none, ++f.pc;
  return true;
}

// The lanes of the lane groups that wait for the same thing as `one`.
Mask gathered(const Warp& warp, const LaneGroup& one) {
  Mask lanes = 0;
  for (const LaneGroup& f : warp.others)
    if (f.wait == one.wait && f.key == one.key &&
        (one.wait != Wait::members || step_at(warp, f.pc).signature == step_at(warp, one.pc).signature))
      lanes |= f.mask;
  return lanes;
}

bool is_settled(const Collective& what, std::uint32_t known_false, std::uint32_t known_true) {
  return (what.settled_by == SettledBy::one_false && known_false != 0) ||
         (what.settled_by == SettledBy::one_true && known_true != 0);
}

// The predicates that a reduction over a barrier brings along, and its result.
void vote(Warp& warp, const Step& step, Mask mask, std::uint32_t barrier) {
  if (step.collective == nullptr || barrier >= barrier_count) return;
  Exchange exchange;
  exchange.members = mask;
  give(warp, step, mask, *step.collective, exchange);
  const auto count = [](Mask lanes) { return static_cast<std::uint32_t>(std::popcount(lanes)); };
  Barrier& at = warp.cta->barriers[barrier];
  if (at.known_false + at.known_true == at.voters && exchange.undefined != 0)
    at.unknown_warp = warp.index, at.unknown_lane = static_cast<std::uint32_t>(lowest_lane(exchange.undefined));
  at.votes += count(exchange.pred), at.voters += count(mask);
  at.known_true += count(exchange.pred & ~exchange.undefined);
  at.known_false += count(mask & ~exchange.pred & ~exchange.undefined);
}
void count_votes(Warp& warp, const Step& step, Mask mask, const Barrier& complete) {
  if (step.collective == nullptr) return;
  Exchange exchange;
  exchange.value[0] = complete.votes;
  exchange.value[1] = complete.voters;
  step.collective->take(warp, step, mask, exchange);
  const std::uint32_t unknown = complete.voters - complete.known_false - complete.known_true;
  if (unknown != 0 && !is_settled(*step.collective, complete.known_false, complete.known_true))
    pass_undefined_votes(warp, step, mask, unknown, complete);
  else if (warp.traced)
    pass_exchanged(warp, step, mask, 0);
}

void release(Cta& cta, std::uint32_t barrier) {
  const Barrier complete = std::exchange(cta.barriers[barrier], {});
  ++cta.changes;
  if (cta.launch->races != nullptr) cta.launch->races->complete_barrier(cta, barrier);
  if (cta.launch->observer != nullptr) cta.launch->observer->complete_barrier(cta, barrier);
  for (Warp& warp : cta.warps)
    for (LaneGroup& f : warp.others)
      if (f.wait == Wait::arrived && f.key == barrier) {
        if (warp.races != nullptr) warp.races->leave_barrier(warp, barrier);
        if (warp.observer != nullptr) warp.observer->leave_barrier(warp, barrier);
        count_votes(warp, step_at(warp, f.pc), f.mask, complete);
        f.wait = Wait::none;
        ++f.pc;
        warp.waiting = false;
      }
}

// Counts the warp's arrival; nothing: a fault was recorded.
std::optional<bool> arrive(Warp& warp, const Step& step, std::uint32_t id, std::uint32_t threads) {
  Cta& cta = *warp.cta;
  const int lane = lowest_lane(warp.live);
  if (id >= barrier_count) {
    warp.fail(step, lane, Rule::B_02, cat("names barrier ", id, "; a CTA has barriers 0 to ", barrier_count - 1));
    return std::nullopt;
  }
  if (threads % lane_count != 0) {
    warp.fail(step, lane, Rule::B_02, cat("counts ", threads, " threads; what fits is a multiple of the warp's ", lane_count));
    return std::nullopt;
  }
  Barrier& barrier = cta.barriers[id];
  if (barrier.arrived_warps != 0 && barrier.expected_threads != threads) {
    const auto say = [](std::uint32_t n) { return n == 0 ? std::string("all threads of the CTA") : cat(n, " threads"); };
    warp.fail(
        step, lane, Rule::B_01,
        cat("expects ", say(threads), " at barrier ", id, ", where others have come that expect ", say(barrier.expected_threads)),
        {cat("the first came at ", cta.launch->code.line(barrier.opened_by))});
    return std::nullopt;
  }
  const bool reduces = step.collective != nullptr;
  if (barrier.arrived_warps != 0 && barrier.reduces != reduces) {
    warp.fail(step, lane, Rule::B_04,
              cat(reduces ? "reduces over" : "comes to", " barrier ", id, ", where others have come that do",
                  reduces ? " not: all threads of a barrier reduce, or none" : ": all threads of a barrier reduce, or none"),
              {cat("the first came at ", cta.launch->code.line(barrier.opened_by))});
    return std::nullopt;
  }
  if (barrier.arrived_warps == 0) barrier.expected_threads = threads, barrier.opened_by = step.item, barrier.reduces = reduces;
  ++barrier.arrived_warps;
  ++cta.changes;
  if (warp.races != nullptr) warp.races->come_to_barrier(warp, id);
  if (warp.observer != nullptr) warp.observer->come_to_barrier(warp, id);
  return threads != 0 ? barrier.arrived_warps * lane_count == threads : barrier.arrived_warps == cta.live_warps;
}

// The cluster's barrier completes when all of its threads that live have come, in all blocks.
void release_cluster(Cluster& cluster) {
  if (cluster.came_warps == 0 || cluster.came_warps != cluster.live_warps) return;
  cluster.came_warps = 0;
  races::Detector* const races = cluster.blocks.front().launch->races;
  if (races != nullptr) races->complete_cluster(cluster);
  Observer* const observer = cluster.blocks.front().launch->observer;
  if (observer != nullptr) observer->complete_cluster(cluster);
  for (Cta& cta : cluster.blocks)
    for (Warp& warp : cta.warps) {
      cta.changes += warp.cluster_open ? 1 : 0;
      warp.cluster_open = false;
      bool waited = false;
      for (LaneGroup& f : warp.others)
        if (f.wait == Wait::arrived && f.key == cluster_wait) f.wait = Wait::none, ++f.pc, warp.waiting = false, waited = true;
      if (waited && races != nullptr) races->leave_cluster(warp);
      if (waited && observer != nullptr) observer->leave_cluster(warp);
    }
}
// False: a fault was recorded.
bool come_to_cluster(Warp& warp, const Step& step) {
  if (warp.cluster_open) {
    warp.fail(step, lowest_lane(warp.live), Rule::B_06,
              "comes to the cluster's barrier a second time, before all others have come once");
    return false;
  }
  if (warp.races != nullptr) warp.races->come_to_cluster(warp, step);
  if (warp.observer != nullptr) warp.observer->come_to_cluster(warp);
  warp.cluster_came = warp.cluster_open = true;
  ++warp.cta->changes;
  ++warp.cta->cluster->came_warps;
  release_cluster(*warp.cta->cluster);
  return true;
}
// Called with the lanes set aside as Wait::arrived.
bool wait_at_cluster(Warp& warp, const Step& step) {
  if (!std::exchange(warp.cluster_came, false)) {
    warp.fail(step, lowest_lane(warp.live), Rule::B_06, "waits at the cluster's barrier, to which it has not come");
    return false;
  }
  if (!warp.cluster_open) {
    if (warp.races != nullptr) warp.races->leave_cluster(warp);
    if (warp.observer != nullptr) warp.observer->leave_cluster(warp);
    for (LaneGroup& f : warp.others)
      if (f.wait == Wait::arrived && f.key == cluster_wait) f.wait = Wait::none, ++f.pc;
  }
  return true;
}

// Fragments that wait for lanes of their own warp and have got them may go on. False: a fault.
bool resolve_waits(Warp& warp) {
  for (std::size_t i = 0; i < warp.others.size(); ++i) {
    LaneGroup& f = warp.others[i];
    switch (f.wait) {
      case Wait::none:
      case Wait::arrived:
        break;
      case Wait::converge:
        if (f.mask == warp.live) f.wait = Wait::none;
        break;
      case Wait::members: {
        const Mask members = f.key & warp.live;
        if (gathered(warp, f) == members && !exchange(warp, f, members)) return false;
        break;
      }
      case Wait::barrier: {
        if (gathered(warp, f) != warp.live) break;
        const Step& step = step_at(warp, f.pc);
        const std::uint32_t id = f.key;
        const std::uint32_t threads = id < barrier_count ? barrier_threads(warp, step, f.mask) : 0;
        for (LaneGroup& other : warp.others) {
          const Step& its = step_at(warp, other.pc);
          vote(warp, its, other.mask, id);
          if (its.x[waits_slot] != 0)
            other.wait = Wait::arrived;
          else
            other.wait = Wait::none, ++other.pc;
        }
        if (id == cluster_arrival || id == cluster_wait) {
          if (!(id == cluster_arrival ? come_to_cluster(warp, step) : wait_at_cluster(warp, step))) return false;
          break;
        }
        const auto complete = arrive(warp, step, id, threads);
        if (!complete) return false;
        if (*complete) release(*warp.cta, id);
        break;
      }
    }
  }
  return true;
}

// Makes a lane group the one that runs: the one with the least pc, or, when the warp starves its others, the one that has waited
// longest. Fragments that have met become one.
bool choose(Warp& warp) {
  auto& others = warp.others;
  const auto better = [&](const LaneGroup& a, const LaneGroup& b) {
    return warp.fairness ? a.last_run < b.last_run : a.pc < b.pc;
  };
  const LaneGroup* best = nullptr;
  for (const LaneGroup& f : others)
    if (f.wait == Wait::none && (best == nullptr || better(f, *best))) best = &f;
  if (best == nullptr) return false;
  if (auto& random = warp.cta->cluster->random; random && others.size() > 1) {
    const auto skipped = (*random)() % others.size();  // the first that can run behind these
    for (std::size_t i = 0; i < others.size(); ++i)
      if (const LaneGroup& f = others[(skipped + i) % others.size()]; f.wait == Wait::none) {
        best = &f;
        break;
      }
  }
  warp.fairness = false;
  warp.pc = best->pc;
  warp.active = 0;
  warp.limit = static_cast<std::uint32_t>(warp.cta->launch->code.steps.size());
  std::size_t kept = 0, met = 0;
  for (const LaneGroup& f : others) {
    if (f.wait == Wait::none && f.pc == warp.pc) {
      warp.active |= f.mask;
      ++met;
      continue;
    }
    if (f.wait == Wait::none && f.pc > warp.pc) warp.limit = std::min(warp.limit, f.pc);
    others[kept++] = f;
  }
  others.resize(kept);
  if (met > 1) warp.patience = warp.patience_now = full_patience;
  ++warp.turn;
  return true;
}

// Puts the lane group that ran back among the others.
void set_aside(Warp& warp) {
  warp.others.push_back({warp.pc, warp.active, Wait::none, 0, warp.turn});
  warp.active = 0;
}

// A backward jump while other lane groups could run uses up patience.
void count_back_edge(Warp& warp) {
  const bool rival = std::any_of(warp.others.begin(), warp.others.end(), [](const LaneGroup& f) { return f.wait == Wait::none; });
  if (!rival || --warp.patience != 0) return;
  warp.fairness = true;
  warp.patience_now = std::max(least_patience, warp.patience_now / 2);
  warp.patience = warp.patience_now;
}

// Runs an instruction of a run that is explored: the second that others see waits for the warp's next turn.
Outcome run_explored(Warp& warp, const Step& step, Mask mask) {
  if (mask != 0 && warp.cta->launch->seen_by_others[step.item]) {
    if (!std::exchange(warp.may_be_seen, false)) {
      warp.pc = index_of(warp, step);
      warp.polls_again = warp.polled == step.item;
      warp.yields = true;
      --warp.executed;
      return Outcome::regroup;
    }
    warp.polled = never_polled;
  }
  const Outcome outcome = warp.traced ? run_traced(warp, step, mask) : mask == 0 ? Outcome::next : step.run(warp, step, mask);
  if (outcome == Outcome::next || outcome == Outcome::jumped) warp.yields = false;  // the turn goes on to what others see
  // Who comes to a barrier last does no more than those who wait there: then it makes no difference who that is.
  const ir::Inst& inst = warp.cta->launch->code.function->body[step.item];
  if (outcome == Outcome::next && mask != 0 && isa::form(inst.form).row->effects.sync == isa::Sync::barrier) {
    warp.yields = true;
    return go_on_behind(warp, step);
  }
  if (outcome == Outcome::regroup && warp.yields) warp.polls_again = true;
  return outcome;
}

// Runs an instruction that somebody observes.
Outcome run_observed(Warp& warp, const Step& step, Mask mask) {
  if (warp.observer == nullptr) return run_explored(warp, step, mask);
  Observer& observer = *warp.observer;
  warp.pc = index_of(warp, step);
  if (!observer.before(warp, step, mask))
    return warp.fail(step, lowest_lane(warp.active), Kind::interrupted, "was to run when who observes the run ended it");
  const Outcome outcome = warp.traced ? run_traced(warp, step, mask) : mask == 0 ? Outcome::next : step.run(warp, step, mask);
  const bool again = (outcome == Outcome::left || outcome == Outcome::regroup) && !warp.others.empty() &&
                     std::any_of(warp.others.begin(), warp.others.end(), [&](const LaneGroup& f) {
                       return f.wait == Wait::converge && f.pc == index_of(warp, step) && (f.mask & mask) != 0;
                     });
  observer.after(warp, step, mask, again);
  return outcome;
}

// What is done beside running instructions.
enum class Beside : std::uint8_t { nothing, tracing, observing };

// Runs the chosen lane group until it jumps while others wait, waits, exits, or has run to `enough`.
template <Beside beside>
Outcome run_fragment(Warp& warp, std::uint64_t enough) {
  const Step* const steps = warp.cta->launch->code.steps.data();
  const Step* start = steps + warp.pc;
  const Step* at = start;
  warp.segment_start = start->ordinal;
  const Step* const limit = steps + warp.limit;
  for (;;) {
    const Mask mask = warp.active & (warp.pred(at->guard) ^ at->guard_flip);
    Outcome outcome;
    if (beside == Beside::observing && at->is_instruction)
      outcome = run_observed(warp, *at, mask);
    else if (beside == Beside::tracing && at->is_instruction)
      outcome = run_traced(warp, *at, mask);
    else
      outcome = mask == 0 ? Outcome::next : at->run(warp, *at, mask);
    if (outcome == Outcome::next) {
      if (++at < limit) continue;
      warp.executed += at->ordinal - start->ordinal;
      warp.pc = static_cast<std::uint32_t>(at - steps);
      return Outcome::regroup;
    }
    warp.executed += at[1].ordinal - start->ordinal;
    if (outcome != Outcome::jumped) return outcome;
    if (warp.others.empty() && warp.executed < enough && !warp.yields) {
      start = at = steps + warp.pc;
      warp.segment_start = start->ordinal;
      continue;
    }
    if (steps + warp.pc <= at) count_back_edge(warp);
    return outcome;
  }
}

WarpState run_warp(Warp& warp, std::uint64_t budget) {
  const std::uint64_t enough = warp.executed + budget;
  if (warp.traced) end_tracing_if_clean(warp);
  for (;;) {
    if (!resolve_waits(warp)) return WarpState::fault;
    if (warp.live == 0) return WarpState::exited;  // asked before the end of the turn: the last lane may exit with it
    if (std::exchange(warp.yields, false) || warp.executed >= enough) return WarpState::running;
    if (!choose(warp)) break;
    const bool looked_at = warp.observer != nullptr || warp.exploration != nullptr;
    const Outcome outcome = looked_at     ? run_fragment<Beside::observing>(warp, enough)
                            : warp.traced ? run_fragment<Beside::tracing>(warp, enough)
                                          : run_fragment<Beside::nothing>(warp, enough);
    if (outcome == Outcome::fault) return WarpState::fault;
    if (outcome != Outcome::left) set_aside(warp);
  }
  warp.waiting = std::any_of(warp.others.begin(), warp.others.end(), [](const LaneGroup& f) { return f.wait == Wait::arrived; });
  if (warp.waiting) return WarpState::waiting;
  fail_stuck(warp);
  return WarpState::fault;
}

// A warp is gone: those that wait for all warps wait for one less.
void leave(Warp& warp) {
  Cta& cta = *warp.cta;
  Cluster& cluster = *cta.cluster;
  --cta.live_warps;
  --cluster.live_warps;
  if (std::exchange(warp.cluster_open, false)) --cluster.came_warps;
  ++cta.changes;
  cta.register_pool.spare += warp.thread_registers;
  for (std::uint32_t id = 0; id < barrier_count; ++id) {
    const Barrier& b = cta.barriers[id];
    if (b.arrived_warps != 0 && b.expected_threads == 0 && b.arrived_warps == cta.live_warps) release(cta, id);
  }
  release_cluster(cluster);
}

// The last warp of a CTA is gone: what it began is performed, and its tensor memory must be free. False: a fault was recorded.
bool end_block(Warp& warp) {
  if (warp.races != nullptr) warp.races->end_block(*warp.cta);
  if (async::Queue* const queue = warp.cta->cluster->queue.get(); queue != nullptr && !queue->perform_of(*warp.cta)) return false;
  if (warp.observer != nullptr) warp.observer->end_block(*warp.cta);
  if (!all_have_set_registers(warp)) return false;
  const auto& left = warp.cta->tensor_memory.allocations();
  if (left.empty()) return true;
  Step step;
  step.item = left.front().made_by;
  warp.fail(step, 0, Rule::K_03,
            cat("allocates columns ", left.front().first, " to ", left.front().first + left.front().columns - 1,
                " of tensor memory, and the CTA ends without giving them back (tcgen05.dealloc)"));
  return false;
}

}  // namespace

void give(Warp& warp, const Step& step, Mask mask, const Collective& what, Exchange& exchange) {
  what.give(warp, step, mask, exchange);
  if (warp.traced) give_undefined(warp, step, mask, exchange);
}

bool take(Warp& warp, const Step& step, Mask mask, const Collective& what, const Exchange& exchange) {
  if (!what.take(warp, step, mask, exchange)) return false;
  if (!warp.traced || what.lane_by_lane) return true;
  const Mask known = exchange.members & ~exchange.undefined;
  const bool settled = is_settled(what, known & ~exchange.pred, known & exchange.pred);
  pass_exchanged(warp, step, mask, exchange.undefined != 0 && !settled ? mask : 0);
  return true;
}

Outcome go_on_behind(Warp& warp, const Step& step) {
  warp.pc = index_of(warp, step) + 1;
  return Outcome::regroup;
}

std::uint32_t index_of(const Warp& warp, const Step& step) {
  return static_cast<std::uint32_t>(&step - warp.cta->launch->code.steps.data());
}

Outcome split(Warp& warp, const Step& step, Mask mask, std::uint32_t target) {
  warp.others.push_back({target, mask, Wait::none, 0, warp.turn});
  warp.active &= ~mask;
  warp.pc = index_of(warp, step) + 1;
  return Outcome::regroup;
}

Outcome retire(Warp& warp, const Step& step, Mask mask) {
  if (!warp.others.empty() && fail_bypass(warp, step, mask)) return Outcome::fault;
  warp.live &= ~mask;
  warp.active &= ~mask;
  warp.patience = warp.patience_now = full_patience;
  if (warp.active == 0) return Outcome::left;
  if (warp.others.empty()) return Outcome::next;
  warp.pc = index_of(warp, step) + 1;
  return Outcome::regroup;
}

Outcome park(Warp& warp, const Step& step, Mask mask, Wait wait, std::uint32_t key) {
  const std::uint32_t pc = index_of(warp, step);
  const auto same = std::find_if(warp.others.begin(), warp.others.end(),
                                 [&](const LaneGroup& f) { return f.wait == wait && f.pc == pc && f.key == key; });
  if (same != warp.others.end())
    same->mask |= mask;
  else
    warp.others.push_back({pc, mask, wait, key, warp.turn});
  if (wait == Wait::converge) --warp.executed;  // it runs again when all have come
  warp.active &= ~mask;
  if (warp.active == 0) return Outcome::left;
  warp.pc = pc + 1;
  return Outcome::regroup;
}

Outcome come_to_barrier(Warp& warp, const Step& step, Mask mask, std::uint32_t barrier, std::uint32_t threads, bool waits) {
  const bool was_traced = warp.traced;
  vote(warp, step, mask, barrier);
  const auto complete = arrive(warp, step, barrier, threads);
  if (!complete) return Outcome::fault;
  if (*complete) {
    count_votes(warp, step, mask, warp.cta->barriers[barrier]);
    release(*warp.cta, barrier);
    if (waits && warp.races != nullptr) warp.races->leave_barrier(warp, barrier);
    if (waits && warp.observer != nullptr) warp.observer->leave_barrier(warp, barrier);
  }
  if (*complete || !waits) return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
  return park(warp, step, mask, Wait::arrived, barrier);
}

Outcome ask_again(Warp& warp, const Step& step) {
  ++warp.cta->polls;
  warp.polled = step.item;
  warp.yields = true;
  warp.pc = index_of(warp, step);
  return Outcome::regroup;
}

Outcome come_to_cluster_barrier(Warp& warp, const Step& step, Mask) {
  return come_to_cluster(warp, step) ? Outcome::next : Outcome::fault;
}

Outcome wait_at_cluster_barrier(Warp& warp, const Step& step, Mask mask) {
  if (warp.cluster_came && !warp.cluster_open) {
    warp.cluster_came = false;
    if (warp.races != nullptr) warp.races->leave_cluster(warp);
    if (warp.observer != nullptr) warp.observer->leave_cluster(warp);
    return Outcome::next;
  }
  const Outcome outcome = park(warp, step, mask, Wait::arrived, cluster_wait);
  return wait_at_cluster(warp, step) ? outcome : Outcome::fault;
}

namespace {

// A warp's turn, where it can run: `ran` is then true. Something else than `running`: the cluster does not go on.
ClusterState give_turn(Cluster& cluster, Cta& cta, Warp& warp, std::uint64_t turn, std::uint64_t most, bool& ran) {
  if (warp.live == 0 || warp.waiting) return ClusterState::running;
  if (cluster.executed >= most) return ClusterState::limit;
  if (cluster.queue && !cluster.queue->perform_some()) return ClusterState::fault;
  ran = true;
  warp.turn_start = warp.executed;
  const WarpState state = run_warp(warp, std::min(turn, most - cluster.executed));
  const std::uint64_t executed = warp.executed - warp.turn_start;
  cta.executed += executed;
  cluster.executed += executed;
  if (state == WarpState::fault) return ClusterState::fault;
  if (state != WarpState::exited) return ClusterState::running;
  leave(warp);
  return cta.live_warps != 0 || end_block(warp) ? ClusterState::running : ClusterState::fault;
}

// A turn for each warp, in an order that nobody can count on, and most of them short.
ClusterState give_random_turns(Cluster& cluster, std::uint64_t turn, std::uint64_t most, bool& ran) {
  std::vector<std::pair<Cta*, Warp*>> order;
  for (Cta& cta : cluster.blocks)
    for (Warp& warp : cta.warps)
      if (warp.live != 0 && !warp.waiting) order.emplace_back(&cta, &warp);
  std::shuffle(order.begin(), order.end(), *cluster.random);
  constexpr std::uint32_t lengths = 12, few = 4;
  constexpr std::uint64_t begins = 1u << 14;  // after so many instructions what may happen between any two has had its chances
  const bool each_few = cluster.executed < begins && (*cluster.random)() % 2 == 0;
  for (const auto& [cta, warp] : order) {
    const std::uint64_t length =
        each_few ? 1 + (*cluster.random)() % few : std::max<std::uint64_t>(1, turn >> (*cluster.random)() % lengths);
    if (const ClusterState state = give_turn(cluster, *cta, *warp, length, most, ran); state != ClusterState::running)
      return state;
  }
  return ClusterState::running;
}

std::uint64_t changes_of(const Cluster& cluster) {
  std::uint64_t all = 0;
  for (const Cta& cta : cluster.blocks) all += cta.changes;
  return all;
}

bool polls_by_load(const Warp& warp) {
  const ir::Inst& inst = warp.cta->launch->code.function->body[warp.polled];
  return isa::form(inst.form).traits.has(isa::Trait::load);
}

// The turn of whom the exploration chooses, of the warps that can go on and the operations that can be performed. A warp that has
// polled in vain, twice where it may have looked at another place, waits until something has changed; unless all do.
ClusterState give_explored_turn(Cluster& cluster, std::uint64_t turn, std::uint64_t most, bool& ran) {
  Exploration& exploration = *cluster.blocks.front().launch->exploration;
  const std::size_t warps = cluster.blocks.front().warps.size();
  std::vector<Exploration::Agent> agents;
  const auto add_warps = [&](bool stalled) {
    for (const Cta& cta : cluster.blocks)
      for (const Warp& warp : cta.warps)
        if (warp.live != 0 && !warp.waiting && (warp.stalled_at == cluster.seen_changes) == stalled)
          agents.push_back(cta.rank * warps + warp.index);
  };
  add_warps(false);
  cluster.queue->add_agents(agents);
  const bool all_stalled = agents.empty();
  if (all_stalled) add_warps(true);
  if (agents.empty()) return ClusterState::running;
  if (all_stalled) {  // no choice: each in turn
    const auto next = std::upper_bound(agents.begin(), agents.end(), cluster.last_explored);
    agents = {next == agents.end() ? agents.front() : *next};
  }
  const Exploration::Agent agent = agents[exploration.choose(cluster.explored_as, agents)];
  cluster.last_explored = agent;
  const std::uint64_t before = changes_of(cluster);
  ClusterState state = ClusterState::running;
  if (agent >= cluster.blocks.size() * warps) {
    ran = true;
    if (!cluster.queue->perform_turn(agent)) state = ClusterState::fault;
  } else {
    Cta& cta = cluster.blocks[agent / warps];
    Warp& warp = cta.warps[agent % warps];
    warp.may_be_seen = true;
    warp.polls_again = false;
    state = give_turn(cluster, cta, warp, turn, most, ran);
    const std::uint64_t executed = warp.executed - warp.turn_start;
    // A load tells by what it finds whether it was in vain, which a loop alone knows: once more the same.
    const bool same = exploration.touched_the_same(cluster.explored_as, agent);
    const bool in_vain = (warp.polls_again && (same || !polls_by_load(warp))) || executed >= turn;
    warp.stalled_at = in_vain && changes_of(cluster) == before ? cluster.seen_changes : not_stalled;
  }
  if (changes_of(cluster) != before) ++cluster.seen_changes;
  return state;
}

ClusterState give_turns(Cluster& cluster, std::uint64_t turn, std::uint64_t most, bool& ran) {
  if (cluster.blocks.front().launch->exploration != nullptr) return give_explored_turn(cluster, turn, most, ran);
  if (cluster.random) return give_random_turns(cluster, turn, most, ran);
  for (Cta& cta : cluster.blocks)
    for (Warp& warp : cta.warps)
      if (const ClusterState state = give_turn(cluster, cta, warp, turn, most, ran); state != ClusterState::running) return state;
  return ClusterState::running;
}

}  // namespace

ClusterState run_cluster(Cluster& cluster, std::uint64_t budget, std::uint64_t most) {
  const std::uint64_t enough = cluster.executed + budget;
  while (cluster.live_warps > 0) {
    bool ran = false;
    if (const ClusterState state = give_turns(cluster, std::min(warp_turn, budget), most, ran); state != ClusterState::running)
      return state;
    if (!ran) {
      fail_deadlock(cluster);
      return ClusterState::fault;
    }
    if (cluster.executed >= enough && cluster.live_warps > 0) {
      const bool others_may_poll = budget >= least_cta_turn;
      if (others_may_poll && cluster.queue && !cluster.queue->perform_all()) return ClusterState::fault;
      return ClusterState::running;
    }
  }
  return ClusterState::done;
}

Warp& faulty(Cluster& cluster) {
  for (Cta& cta : cluster.blocks)
    for (Warp& warp : cta.warps)
      if (warp.fault) return warp;
  return cluster.blocks.front().warps.front();  // never: somebody has it
}

}  // namespace ptx::vgpu
