// What orders accesses: barriers, mbarriers, fences, strong accesses, groups of asynchronous operations.
#include <algorithm>
#include <utility>

#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/machine/exploration.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu::races {

const isa::Effects& Detector::effects(std::uint32_t item) const {
  return isa::form(code_.function->body[item].form).row->effects;
}

// How far a warp's own accesses are known to who hears of them from these lanes now.
Extent Detector::own_extent(const WarpState& warp, Mask live, Mask lanes) {
  if ((live & ~lanes) == 0) return {warp.now, 0, 0};
  const Mask with = warp.have_met(lanes) ? warp.met[static_cast<std::size_t>(lowest_lane(lanes))] : lanes;
  return {warp.together - 1, warp.now, with};
}

void Detector::publish(const Warp& warp, WarpState& mine, Mask lanes, Knowledge& to) {
  to.join(mine.known);
  add_told_and_heard(mine, lanes, to);
  to.happened.raise(mine.agent, own_extent(mine, warp.live, lanes));
  mine.released = true;
}

// What some of the lanes know besides, or nearly know.
void Detector::add_told_and_heard(const WarpState& mine, Mask lanes, Knowledge& to) {
  if (mine.told != nullptr && (lanes & mine.informed) != 0) to.join(*mine.told);
  for (const Told& heard : mine.heard) to.add_nearly({Gap::acquire, heard.item, heard.item}, heard.known.happened);
}

// What some lanes were told all of them know now.
void Detector::share_told(WarpState& mine) {
  if (mine.told == nullptr) return;
  mine.learning().join(*mine.told);
  mine.told.reset();
  mine.informed = 0;
}

void Detector::learn(const Warp& warp, WarpState& mine, Mask lanes, const Knowledge& what) {
  if ((warp.live & ~lanes) == 0) {
    mine.learning().join(what);
    return;
  }
  if (mine.told == nullptr) mine.told = std::make_unique<Knowledge>();
  mine.told->join(what);
  mine.informed |= lanes;
  if ((warp.live & ~mine.informed) == 0) share_told(mine);
}

// All threads of the warp know what each of them did, and was told.
void Detector::come_together(WarpState& mine) {
  mine.together = ++mine.now;
  mine.released = false;
  mine.met.fill(0);
  share_told(mine);
}

void Detector::meet(Warp& warp, Mask lanes) {
  WarpState& mine = state(warp);
  if ((warp.live & ~lanes) == 0) return come_together(mine);
  ++mine.now;
  mine.released = false;
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(lowest_lane(left));
    mine.met[lane] = lanes, mine.met_at[lane] = mine.now;
  }
  if ((mine.informed & lanes) != 0) mine.informed |= lanes;
}

// ---- barriers

void Detector::come_to_barrier(Warp& warp, std::uint32_t barrier) {
  publish(warp, state(warp), warp.live, state(*warp.cta->cluster).barriers[warp.cta->rank][barrier].gathered);
}

void Detector::complete_barrier(Cta& cta, std::uint32_t barrier) {
  Meeting& meeting = state(*cta.cluster).barriers[cta.rank][barrier];
  meeting.complete = std::exchange(meeting.gathered, {});
}

void Detector::leave_barrier(Warp& warp, std::uint32_t barrier) {
  WarpState& mine = state(warp);
  mine.learning().join(state(*warp.cta->cluster).barriers[warp.cta->rank][barrier].complete);
  come_together(mine);
}

void Detector::come_to_cluster(Warp& warp, const Step& step) {
  Knowledge& gathered = state(*warp.cta->cluster).barrier.gathered;
  const WarpState& mine = state(warp);
  if (ordering(step.item).releases) return publish(warp, state(warp), warp.live, gathered);
  gathered.mbarriers.join(mine.known.mbarriers);
  if (mine.fenced && mine.fenced->told.scope != isa::Scope::cta)
    if (const auto told = told_behind_fence(mine, warp.live)) gathered.join(*told);
  Knowledge untold;
  publish(warp, state(warp), warp.live, untold);
  gathered.add_nearly({Gap::release, step.item, step.item}, untold.happened);
}

void Detector::complete_cluster(Cluster& cluster) {
  Meeting& meeting = state(cluster).barrier;
  meeting.complete = std::exchange(meeting.gathered, {});
}

void Detector::leave_cluster(Warp& warp) {
  WarpState& mine = state(warp);
  mine.learning().join(state(*warp.cta->cluster).barrier.complete);
  come_together(mine);
}

// ---- mbarriers

MbarrierState& Detector::mbarrier(const Cluster& cluster, const std::byte* at) {
  ClusterKnowledge& all = state(cluster);
  if (all.last_mbarrier.first == at && at != nullptr) return *all.last_mbarrier.second;
  const auto [found, is_new] = all.mbarriers.try_emplace(at);
  if (is_new) found->second.agent = {all.number, all.agents++};
  all.last_mbarrier = {at, &found->second};
  return found->second;
}

// An operation on an mbarrier comes after its initialisation; among each other they need no order.
void Detector::update(const mbarrier::Operator& by, const std::byte* at, MbarrierUse use) {
  constexpr std::uint64_t object_bytes = 8;
  const Mask lane = by.lanes();
  const bool stores = use == MbarrierUse::initialise || use == MbarrierUse::invalidate;
  Access access = access_by(by.warp, by.step, lane, stores);
  access.strong = false;
  access.of_mbarrier = true;
  access.invalidates = use == MbarrierUse::invalidate;
  access.of_operation = use == MbarrierUse::operation;
  access.bytes = (1u << granule_bytes) - 1;
  const Judge judge = judge_of(state(by.warp), lane);
  if (const Cta* const block = block_at(by.warp, at); block != nullptr && block != by.warp.cta && use != MbarrierUse::operation) {
    Access reach = access;
    // tcgen05.commit arrives when the thread's operations are done.
    if (const WarpState& mine = state(by.warp); effects(by.step.item).commits == isa::Event::tensor_operation)
      reach.agent = mine.tensor, reach.clock = mine.tensor_closed;
    note_reach(*block, reach);
  }
  if (!stores) return use_mbarrier(by, judge, access, at);
  MbarrierState& of = mbarrier(*by.warp.cta->cluster, at);
  if (use == MbarrierUse::initialise)
    of.made = access;
  else
    for (const Access& other : of.uses) hold_against(by.warp, by.step, judge, other, access, at);
  touch(by.warp, by.step, judge, access, at, object_bytes);
}

// Uses are kept beside the shadow of memory: they are many, and of interest to whoever ends the mbarrier alone.
void Detector::use_mbarrier(const mbarrier::Operator& by, const Judge& judge, const Access& now, const std::byte* at) {
  MbarrierState& of = mbarrier(*by.warp.cta->cluster, at);
  if (of.uses.size() <= now.warp) of.uses.resize(now.warp + std::size_t{1});
  Access& last = of.uses[now.warp];
  const bool is_known = last.agent == now.agent && (now.lanes & ~last.lanes) == 0;
  if (!is_known && of.made.agent.cluster != 0 && wrong(by.warp, judge, of.made, now))
    for (Mask left = now.lanes; left != 0; left &= left - 1) {
      Access one = now;
      one.lanes = left & (0 - left);
      hold_against(by.warp, by.step, judge_of(state(by.warp), one.lanes), of.made, one, at);
    }
  const Mask lanes = last.agent == now.agent ? last.lanes | now.lanes : now.lanes;
  const bool of_operation = now.of_operation && (last.agent.cluster == 0 || last.of_operation);
  last = now;
  last.lanes = lanes;
  last.of_operation = of_operation;
}

void Detector::initialise(const mbarrier::Operator& by, const std::byte* at) {
  ClusterKnowledge& all = state(*by.warp.cta->cluster);
  all.mbarriers.erase(at);
  all.last_mbarrier = {};
  update(by, at, MbarrierUse::initialise);
}

void Detector::invalidate(const mbarrier::Operator& by, const std::byte* at) { update(by, at, MbarrierUse::invalidate); }

void Detector::arrive(const mbarrier::Operator& by, const std::byte* at, bool of_copies) {
  WarpState& mine = state(by.warp);
  const bool is_own = block_at(by.warp, at) == by.warp.cta;
  MbarrierState& of = mbarrier(*by.warp.cta->cluster, at);
  Knowledge& gathered = (is_own ? of.phase : of.from_others).gathered;
  if (of_copies) {
    Stream& copies = stream(by.warp, async::Group::copies);
    const auto one = std::find_if(copies.arrivals.begin(), copies.arrivals.end(),
                                  [&](const Stream::Arrival& a) { return a.at == at && a.lane == by.lane; });
    if (one == copies.arrivals.end()) return;
    gathered.happened.raise(copies.agent, {0, one->clock, Mask{1} << by.lane});
    copies.arrivals.erase(one);
    return;
  }
  update(by, at, MbarrierUse::use);
  if (effects(by.step.item).commits == isa::Event::tensor_operation) {
    // Of the thread's operations, and of what those came after: the loads of their operands. Not of its own ordinary accesses.
    // It is a tcgen05.fence::before_thread_sync of them as well.
    gathered.join(mine.known);
    if (mine.told != nullptr && has_lane(mine.informed, by.lane)) gathered.join(*mine.told);
    gathered.happened.raise(mine.tensor, {mine.tensor_closed, 0, 0});
    if (fences_tensor_memory_) gathered.of_tensor_memory.join(gathered.happened);
    return;
  }
  // Without a word arrivals at another block's mbarrier count as if they had the cluster's scope, as everybody takes them, but
  // where the kernel writes that word elsewhere.
  const isa::Ordering& order = ordering(by.step.item);
  const bool in_scope = is_own || order.scope != isa::Scope::cta || (!order.scope_is_written && !writes_cluster_scope_);
  if (order.releases && in_scope) {
    const Mask lane = by.lanes();
    const InstructionOnce now{by.warp.executed, by.step.item};
    const bool again = of.told_by == &mine && of.told_once == now && mine.told == nullptr && mine.heard.empty();
    of.told_by = mine.told == nullptr ? &mine : nullptr, of.told_once = now;
    if (!again) return publish(by.warp, mine, lane, gathered);
    gathered.happened.raise(mine.agent, own_extent(mine, by.warp.live, lane));
    mine.released = true;
    return;
  }
  if (in_scope && mine.fenced && (is_own || mine.fenced->told.scope != isa::Scope::cta))
    if (const auto told = told_behind_fence(mine, by.lanes())) gathered.join(*told);
  Knowledge untold;
  publish(by.warp, mine, by.lanes(), untold);
  const auto lacks = static_cast<std::uint8_t>((order.releases ? 0 : Gap::release) | (in_scope ? 0 : Gap::scope));
  gathered.add_nearly({lacks, by.step.item, by.step.item}, untold.happened);
}

void Detector::complete_phase(const mbarrier::Operator& by, const std::byte* at) {
  MbarrierState& of = mbarrier(*by.warp.cta->cluster, at);
  of.phase.complete = std::exchange(of.phase.gathered, {});
  of.from_others.complete = std::exchange(of.from_others.gathered, {});
  of.told_by = nullptr;
  const std::uint32_t phase = ++of.phases;
  of.phase.complete.happened.raise(of.agent, {phase, 0, 0});
}

void Detector::wait(const mbarrier::Operator& by, const std::byte* at) {
  update(by, at, MbarrierUse::use);
  WarpState& mine = state(by.warp);
  const MbarrierState& of = mbarrier(*by.warp.cta->cluster, at);
  const isa::Ordering& order = ordering(by.step.item);
  const Mask lane = by.lanes();
  const Knowledge& complete = of.phase.complete;
  // A scope that is not written counts as the one that is needed.
  const bool hears_others = order.scope != isa::Scope::cta || !order.scope_is_written;
  if (!order.acquires) {
    const auto block = static_cast<std::uint32_t>(by.warp.cta->index);
    mine.heard.push_back({complete, order.scope, mine.agent.cluster, block, by.step.item});
    if (hears_others) mine.heard.push_back({of.from_others.complete, order.scope, mine.agent.cluster, ~block, by.step.item});
    mine.learning().add_nearly({Gap::acquire, by.step.item, by.step.item}, complete.happened);
    mine.learning().add_nearly({Gap::acquire, by.step.item, by.step.item}, of.from_others.complete.happened);
    return;
  }
  const InstructionOnce now{by.warp.executed, by.step.item};
  if (mine.learns_from == &of && mine.learns_by == now && mine.told != nullptr) {  // beside other lanes
    mine.informed |= lane;
    if ((by.warp.live & ~mine.informed) == 0) share_told(mine);
  } else {
    learn(by.warp, mine, lane, complete);
    if (hears_others) learn(by.warp, mine, lane, of.from_others.complete);
  }
  mine.learns_from = &of, mine.learns_by = now;
  if (!hears_others) mine.learning().add_nearly({Gap::scope, by.step.item, by.step.item}, of.from_others.complete.happened);
  if (const Extent* const told = complete.happened.extent_of(mine.agent)) {
    if (told->all > mine.returned.all || told->some > mine.returned.some || (told->mask & ~mine.returned.mask) != 0) {
      mine.returned = *told;
      mine.returned_to = 0;
    }
    mine.returned_to |= lane;
  }
}

// ---- strong accesses and fences

namespace {

isa::Scope narrower(isa::Scope a, isa::Scope b) { return std::min(a, b); }

// Whether a scope of somebody's includes a thread of this block; none is that of the whole system.
template <class Whose>
bool includes(isa::Scope scope, const Whose& whose, std::uint32_t cluster, std::uint32_t block) {
  if (scope == isa::Scope::cta) return whose.block == block;
  return scope != isa::Scope::cluster || whose.cluster == cluster;
}

}  // namespace

void Detector::add_told(std::vector<Told>& all, Told one) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const Told& other) { return other.joins(one); });
  if (same != all.end())
    same->known.join(one.known);
  else
    all.push_back(std::move(one));
}

// A lane has read what the message is of.
void Detector::hear(Warp& warp, const Step& step, int lane, const Message& message) {
  const isa::Ordering& order = ordering(step.item);
  WarpState& mine = state(warp);
  const std::uint32_t cluster = mine.agent.cluster, block = static_cast<std::uint32_t>(warp.cta->index);
  const bool is_pair = includes(message.scope, message, cluster, block) && includes(order.scope, message, cluster, block);
  for (const Told& told : message.told) {
    const bool in_scope = is_pair && includes(told.scope, told, cluster, block) && includes(order.scope, told, cluster, block);
    if (in_scope && told.released) {
      if (order.acquires)
        learn(warp, mine, Mask{1} << lane, told.known);
      else
        add_told(mine.heard, told);
      continue;
    }
    const Gap gap{static_cast<std::uint8_t>((told.released ? 0 : Gap::release) | (order.acquires ? 0 : Gap::acquire) |
                                            (in_scope ? 0 : Gap::scope)),
                  told.item, step.item};
    mine.learning().add_nearly(gap, told.known.happened);
  }
}

void Detector::strong_access(Warp& warp, const Step& step, int lane, bool alone, bool loads, bool stores, const std::byte* at) {
  const isa::Ordering& order = ordering(step.item);
  if (!order.strong) return;
  // An update may leave what is there.
  const bool updates = stores && (loads || isa::form(code_.function->body[step.item].form).traits.has(isa::Trait::reduction));
  if (warp.exploration != nullptr) warp.exploration->touch(warp, at, stores && !updates);
  WarpState& mine = state(warp);
  const Mask lanes = Mask{1} << lane;
  const std::uint32_t cluster = mine.agent.cluster, block = static_cast<std::uint32_t>(warp.cta->index);
  const auto found = messages_.find(at);
  if (loads && found != messages_.end()) hear(warp, step, lane, found->second);
  if (!stores) return;
  // An update hands on what was told before it: it is part of the same release sequence (manual: "Observation Order").
  Message message = updates && found != messages_.end() ? std::move(found->second) : Message{};
  message.scope = order.scope, message.cluster = cluster, message.block = block;
  Told mine_to_tell{{}, order.scope, cluster, block, step.item};
  if (order.releases) {
    publish(warp, mine, lanes, mine_to_tell.known);
    add_told(message.told, std::move(mine_to_tell));
  } else {
    if (auto known = told_behind_fence(mine, lanes)) {
      Told behind_fence = mine.fenced->told;
      behind_fence.known = std::move(*known);
      behind_fence.scope = narrower(behind_fence.scope, order.scope);
      if (behind_fence.scope != mine.fenced->told.scope) behind_fence.item = step.item;
      add_told(message.told, std::move(behind_fence));
    }
    const bool all_is_fenced = mine.fenced && mine.released && (mine.fenced->lanes == lanes || (warp.live & ~lanes) == 0);
    if (alone && !all_is_fenced) {  // what it would have told, were it a release: for the report
      mine_to_tell.released = false;
      publish(warp, mine, lanes, mine_to_tell.known);
      add_told(message.told, std::move(mine_to_tell));
    }
  }
  messages_[at] = std::move(message);
}

// What a strong store of these lanes tells that stands behind a fence: of theirs, or of lanes that they have met since.
std::optional<Knowledge> Detector::told_behind_fence(const WarpState& mine, Mask lanes) {
  if (!mine.fenced) return std::nullopt;
  const Fenced& fence = *mine.fenced;
  const Mask met = mine.met[static_cast<std::size_t>(lowest_lane(lanes))];
  const bool have_met = mine.have_met(lanes);
  Mask with = fence.lanes;
  if (fence.now >= mine.together) {  // not all of them have met since
    const bool met_since = have_met && fence.now < mine.met_at[static_cast<std::size_t>(lowest_lane(lanes))];
    if (met_since)
      with &= met;
    else if ((lanes & ~fence.lanes) == 0)
      with = have_met ? met : lanes;
    else
      return std::nullopt;
  }
  Knowledge known = fence.told.known;
  known.happened.raise(mine.agent, {fence.together - 1, fence.now, with});
  return known;
}

// What is known by now, and done by these lanes, is told through a proxy, too; a fence that acquires takes in what was told so.
void Detector::fence_of_proxy(Warp& warp, const Step& step, Mask lanes) {
  WarpState& mine = state(warp);
  const bool told = mine.told != nullptr && (lanes & ~mine.informed) == 0;
  const auto release_through = [&](Clock Knowledge::* proxy) {
    Clock& to = mine.learning().*proxy;
    to.join(mine.known.happened);
    if (told) to.join(mine.told->happened);
    to.raise(mine.agent, own_extent(mine, warp.live, lanes));
    mine.released = true;
  };
  const auto acquire_through = [&](Clock Knowledge::* proxy, Clock& to) {
    to.join(mine.known.*proxy);
    if (told) to.join((*mine.told).*proxy);
  };
  const isa::Effects& what = effects(step.item);
  const isa::Ordering& order = ordering(step.item);
  if (what.sync == isa::Sync::tensor_fence) {
    if (order.releases) release_through(&Knowledge::of_tensor_memory);
    if (!order.acquires) return;
    acquire_through(&Knowledge::of_tensor_memory, mine.behind_tensor_fence);
    acquire_through(&Knowledge::happened, mine.before_tensor_fence);
    return;
  }
  if (what.sync == isa::Sync::proxy_fence) {
    if (what.proxy == isa::Proxy::tensormap) {
      const bool near = order.scope == isa::Scope::cta || order.scope == isa::Scope::cluster;
      if (order.releases) {
        release_through(&Knowledge::of_near_tensor_maps);
        if (!near) release_through(&Knowledge::of_tensor_maps);
      }
      if (order.acquires) {
        acquire_through(&Knowledge::of_near_tensor_maps, mine.behind_near_map_fence);
        if (!near) acquire_through(&Knowledge::of_tensor_maps, mine.behind_map_fence);
      }
    }
    if (what.proxy == isa::Proxy::async) {
      const ir::Inst& inst = code_.function->body[step.item];
      const std::string_view space = isa::form(inst.form).chosen(inst.choices, "space");
      if (space != "global") release_through(&Knowledge::through_proxy);
      if (space.empty() || space == "global") release_through(&Knowledge::through_proxy_of_global);
    }
    return;
  }
}

void Detector::fence(Warp& warp, const Step& step, Mask lanes) {
  WarpState& mine = state(warp);
  const isa::Ordering& order = ordering(step.item);
  const isa::Sync sync = effects(step.item).sync;
  if (sync == isa::Sync::tensor_fence || sync == isa::Sync::proxy_fence) return fence_of_proxy(warp, step, lanes);
  if (isa::form(code_.function->body[step.item].form).traits.has(isa::Trait::fence_of_mbarriers)) {
    mine.learning().mbarriers.raise(mine.agent, own_extent(mine, warp.live, lanes));
    mine.released = true;
    return;
  }
  const std::uint32_t cluster = mine.agent.cluster, block = static_cast<std::uint32_t>(warp.cta->index);
  const isa::Scope scope = order.scope == isa::Scope::none ? isa::Scope::system : order.scope;
  for (const Told& one : std::exchange(mine.heard, {}))
    if (includes(scope, one, cluster, block))
      learn(warp, mine, lanes, one.known);
    else
      mine.learning().add_nearly({Gap::scope, one.item, step.item}, one.known.happened);
  mine.released = true;
  mine.fenced = Fenced{{mine.known, scope, cluster, block, step.item}, mine.now, mine.together, lanes};
  if (mine.told != nullptr && (lanes & mine.informed) != 0) mine.fenced->told.known.join(*mine.told);
}

// ---- asynchronous operations

Stream& Detector::stream(Warp& warp, async::Group group) {
  const auto [found, is_new] = state(warp).streams.try_emplace(group);
  if (is_new) {
    ClusterKnowledge& all = state(*warp.cta->cluster);
    found->second.agent = {all.number, all.agents++};
    if (group == async::Group::bulk) found->second.reading = {all.number, all.agents++};
  }
  return found->second;
}

Issue Detector::begin_product(Warp& warp, const Step& step, Mask lanes) {
  WarpState& mine = state(warp);
  Issue issue;
  issue.item = step.item;
  issue.warp = mine.agent.number;
  issue.lanes = lanes;
  if (mine.issued == nullptr || mine.told != nullptr || !mine.heard.empty()) {
    auto known = std::make_shared<Knowledge>(mine.known);
    add_told_and_heard(mine, lanes, *known);
    const bool is_of_all = mine.told == nullptr && mine.heard.empty();
    issue.known = known;
    mine.issued = is_of_all ? std::move(known) : nullptr;
  } else {
    issue.known = mine.issued;
  }
  issue.owner = mine.agent, issue.own = own_extent(mine, warp.live, lanes);
  mine.released = true;
  const bool of_group = effects(step.item).completes == isa::Event::wgmma_group;
  issue.agent = of_group ? mine.wgmma : mine.tensor;
  issue.of_tensor_cores = effects(step.item).completes == isa::Event::tensor_operation;
  issue.clock = (of_group ? mine.wgmma_closed : mine.tensor_closed) + 1;
  return issue;
}

Issue Detector::begin(Warp& warp, const Step& step, int lane, const async::Operation& operation) {
  const WarpState& mine = state(warp);
  Issue issue = begin_product(warp, step, Mask{1} << lane);
  issue.through_async_proxy = effects(step.item).proxy == isa::Proxy::async;
  issue.reduces = std::visit(
      [](const auto& what) {
        if constexpr (requires { what.reduction; })
          return what.reduction.has_value();
        else
          return false;
      },
      operation.what);
  if (operation.mbarrier) {
    constexpr std::uint64_t object_bytes = 8;
    const auto [space, address] = *operation.mbarrier;
    const MemoryRegion* const region = find_region(warp, space, address, object_bytes, true);
    if (region == nullptr) return issue;  // a fault, once it is told
    const std::byte* const at = region->data + (address - region->begin);
    update({warp, step, lane, space, address}, at, MbarrierUse::operation);
    if (std::holds_alternative<async::Arrive>(operation.what)) {
      Stream& copies = stream(warp, async::Group::copies);
      std::uint32_t& closed = copies.closed[static_cast<std::size_t>(lane)];
      copies.arrivals.push_back({at, lane, ++closed});  // copies behind it are later ones
    }
    const MbarrierState& told = mbarrier(*warp.cta->cluster, at);
    issue.agent = told.agent;
    issue.clock = told.phases + 1;
    const auto rank = async::rank_stored_to(operation);
    if (rank && *rank < warp.cta->cluster->blocks.size()) note_reach(warp.cta->cluster->blocks[*rank], access_by(issue, true));
  } else if (operation.group == async::Group::none) {  // done when its thread goes on
    issue.agent = mine.agent;
    issue.clock = mine.now;
  } else {
    Stream& of = stream(warp, operation.group);
    issue.agent = of.agent, issue.reading = of.reading;
    issue.clock = of.closed[static_cast<std::size_t>(lane)] + 1;
    of.last[static_cast<std::size_t>(lane)] = issue.clock;
    of.item = step.item;
  }
  return issue;
}

std::optional<Issue> Detector::begin_copies(Warp& warp, const Step& step, Mask lanes) {
  Stream& of = stream(warp, async::Group::copies);
  const std::uint32_t closed = of.closed[static_cast<std::size_t>(lowest_lane(lanes))];
  for (Mask left = lanes; left != 0; left &= left - 1)
    if (of.closed[static_cast<std::size_t>(lowest_lane(left))] != closed) return std::nullopt;
  Issue issue = begin_product(warp, step, lanes);
  issue.through_async_proxy = effects(step.item).proxy == isa::Proxy::async;
  issue.own = {state(warp).together - 1, 0, 0};
  issue.agent = of.agent, issue.reading = of.reading;
  issue.clock = closed + 1;
  for (Mask left = lanes; left != 0; left &= left - 1) of.last[static_cast<std::size_t>(lowest_lane(left))] = issue.clock;
  of.item = step.item;
  return issue;
}

void Detector::close_groups(Warp& warp, Mask lanes, async::Group group) {
  Stream& of = stream(warp, group);
  for (Mask left = lanes; left != 0; left &= left - 1) ++of.closed[static_cast<std::size_t>(lowest_lane(left))];
}

void Detector::wait_for_groups(Warp& warp, Mask lanes, async::Group group, std::uint32_t left_open, bool read_alone) {
  Stream& of = stream(warp, group);
  for (Mask left = lanes; left != 0;) {
    const std::uint32_t closed = of.closed[static_cast<std::size_t>(lowest_lane(left))];
    const Mask alike = left & lanes_where([&](int l) { return of.closed[static_cast<std::size_t>(l)] == closed; });
    left &= ~alike;
    if (closed <= left_open) continue;
    for (Mask each = alike; each != 0; each &= each - 1)
      of.waited_for[static_cast<std::size_t>(lowest_lane(each))] = closed - left_open;
    Knowledge complete;
    const bool all = (warp.live & ~alike) == 0;
    const Extent extent = all ? Extent{closed - left_open, 0, 0} : Extent{0, closed - left_open, alike};
    if (!read_alone) complete.happened.raise(of.agent, extent);
    if (of.reading.cluster != 0) complete.happened.raise(of.reading, extent);
    learn(warp, state(warp), alike, complete);
  }
}

void Detector::wait_for_tensor_memory(Warp& warp, bool stores) {
  WarpState& mine = state(warp);
  const Agent agent = stores ? mine.tensor_stores : mine.tensor_loads;
  if (agent.cluster == 0) return;  // there was none
  mine.learning().happened.raise(agent, {++(stores ? mine.tensor_stores_done : mine.tensor_loads_done), 0, 0});
}

void Detector::wait_for_wgmma_groups(Warp& warp, std::uint32_t left) {
  WarpState& mine = state(warp);
  if (mine.wgmma_closed > left) mine.learning().happened.raise(mine.wgmma, {mine.wgmma_closed - left, 0, 0});
}

}  // namespace ptx::vgpu::races
