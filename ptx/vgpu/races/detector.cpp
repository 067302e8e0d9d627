#include "ptx/vgpu/races/detector.hpp"

#include <algorithm>
#include <atomic>

#include "ptx/vgpu/code.hpp"

namespace ptx::vgpu::races {
namespace {

constexpr std::size_t granule_bytes = 4;
// Clusters are numbered through all runs of the process, so that what one run leaves in memory is not taken for another's.
std::atomic<std::uint32_t> next_cluster{1};
constexpr std::size_t most_loads = 64;  // of a granule that are remembered: one for each warp that loads it

bool same_instruction(const Access& a, const Access& b) {
  return a.agent == b.agent && a.clock == b.clock && a.item == b.item && a.is_store == b.is_store;
}

// The bytes of the granule at `at` that belong to an access of `bytes` bytes there, and how many those are.
std::uint8_t bytes_in_granule(const std::byte* at, std::uint64_t bytes, std::uint64_t& taken) {
  const std::size_t first = reinterpret_cast<std::uintptr_t>(at) % granule_bytes;
  taken = std::min<std::uint64_t>(granule_bytes - first, bytes);
  return static_cast<std::uint8_t>(((1u << taken) - 1) << first);
}

}  // namespace

Detector::Detector(const Code& code, const Options& options)
    : code_(code),
      first_cluster_(next_cluster),
      fences_tensor_memory_(std::any_of(code.function->body.begin(), code.function->body.end(),
                                        [](const ir::Inst& inst) {
                                          return inst.kind == ir::ItemKind::inst &&
                                                 isa::form(inst.form).row->effects.sync == isa::Sync::tensor_fence;
                                        })),
      findings_(options) {}

void Detector::begin_cluster(Cluster& cluster) {
  std::unique_ptr<ClusterKnowledge>& knowledge = states_[&cluster];
  knowledge = std::make_unique<ClusterKnowledge>();
  knowledge->number = next_cluster.fetch_add(1);
  const std::size_t warps = cluster.blocks.front().warps.size();
  knowledge->warps.resize(cluster.blocks.size() * warps);
  knowledge->barriers.resize(cluster.blocks.size());
  knowledge->tensor.resize(cluster.blocks.size());
  for (WarpState& warp : knowledge->warps) warp.agent = {knowledge->number, knowledge->agents++};
  for (Cta& block : cluster.blocks)
    for (Warp& warp : block.warps) {
      WarpState& mine = knowledge->warps[block.rank * warps + warp.index];
      const bool first_of_group = warp.index % 4 == 0;
      mine.wgmma = first_of_group ? Agent{knowledge->number, knowledge->agents++} : (&mine - 1)->wgmma;
      mine.tensor = {knowledge->number, knowledge->agents++};
      warp.races = this;
      warp.knowledge = &mine;
    }
}

const isa::Ordering& Detector::ordering(std::uint32_t item) {
  if (orderings_.size() <= item) orderings_.resize(code_.function->body.size());
  std::optional<isa::Ordering>& known = orderings_[item];
  if (!known) {
    const ir::Inst& inst = code_.function->body[item];
    known = isa::ordering(isa::form(inst.form), inst.choices);
  }
  return *known;
}

bool Detector::is_shared(const Warp& warp, const std::byte* at) const {
  return std::any_of(warp.cta->cluster->blocks.begin(), warp.cta->cluster->blocks.end(), [&](const Cta& block) {
    return at >= block.shared.data() && at < block.shared.data() + block.shared.size();
  });
}

// A thread's own memory is nobody else's, and what nobody may store to cannot be raced for.
bool Detector::is_looked_at(const Warp& warp, const std::byte* at, std::uint64_t bytes) {
  if (at >= warp.cta->shared.data() && at < warp.cta->shared.data() + warp.cta->shared.size()) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (last_region_ == nullptr || !last_region_->contains(address, bytes))
    if (const MemoryRegion* found = warp.cta->launch->global.find(address, bytes, true)) last_region_ = found;
  if (last_region_ != nullptr && last_region_->contains(address, bytes)) return last_region_->writable;
  return is_shared(warp, at);
}

// ---- one access after the other

bool Detector::reaches(const Judge& judge, const Access& before, Clock Knowledge::* of) {
  const auto reached = [&](const Knowledge& knowledge) {
    return (knowledge.*of).reaches(before.agent, before.clock, before.lanes);
  };
  return reached(*judge.known) || (judge.told != nullptr && reached(*judge.told));
}

bool Detector::in_order_of_warp(const Judge& judge, const Access& before, const Access& now) {
  const WarpState& warp = *judge.warp;
  if (before.clock < warp.together) return true;
  const bool shared = (before.lanes & now.lanes) != 0;
  if (before.of_parts || now.of_parts ? shared : before.lanes == now.lanes && (now.lanes & (now.lanes - 1)) == 0) return true;
  if (((before.lanes | now.lanes) & ~warp.met) == 0 && before.clock < warp.met_at) return true;
  // What lanes do at once to the same bytes is one instruction's doing (manual: "st": one of the values stays).
  return same_instruction(before, now);
}

bool Detector::among_strong(const Cluster& cluster, const Access& before, const Access& now) const {
  if (before.of_mbarrier && now.of_mbarrier && !before.is_store) return true;
  if (!before.strong || !now.strong) return false;
  const std::size_t warps = cluster.blocks.front().warps.size();
  const auto includes = [&](isa::Scope scope) {
    switch (scope) {
      case isa::Scope::cta:
        return before.agent.cluster == now.agent.cluster && before.warp / warps == now.warp / warps;
      case isa::Scope::cluster:
        return before.agent.cluster == now.agent.cluster;
      default:
        return true;
    }
  };
  return includes(before.scope) && includes(now.scope);
}

void Detector::hold_against(Warp& warp, const Step& step, const Judge& judge, const Access& before, const Access& now,
                            const std::byte* at) {
  if ((before.bytes & now.bytes) == 0 || (!before.is_store && !now.is_store)) return;
  if (among_strong(*warp.cta->cluster, before, now)) return;
  const bool unready = before.of_mbarrier && before.is_store && now.of_mbarrier;
  if (judge.warp != nullptr && before.agent == now.agent) {
    if (!in_order_of_warp(judge, before, now))
      found(warp, step, unready ? Kind::unordered_mbarrier : Kind::race_of_lanes, Severity::error, before, now, at);
    return;
  }
  // All lanes of a warp may begin one and the same copy, as CUTLASS has them do.
  if (judge.warp == nullptr && same_instruction(before, now) && before.warp == now.warp) return;
  if (!reaches(judge, before, &Knowledge::happened) && !(unready && reaches(judge, before, &Knowledge::mbarriers))) {
    found(warp, step, unready ? Kind::unordered_mbarrier : Kind::race, Severity::error, before, now, at);
  } else if (!before.through_async_proxy && now.through_async_proxy && !reaches(judge, before, &Knowledge::through_proxy)) {
    found(warp, step, Kind::missing_proxy_fence, before.is_store ? Severity::error : Severity::warning, before, now, at);
  } else if (now.of_tensor_map && !state(warp).behind_map_fence.reaches(before.agent, before.clock, before.lanes)) {
    found(warp, step, Kind::missing_tensor_map_fence, Severity::error, before, now, at);
  }
}

void Detector::touch(Warp& warp, const Step& step, const Judge& judge, const Access& now, Granule& granule, const std::byte* at) {
  Access& store = granule.store;
  Access& load = granule.load;
  if (store.bytes != 0) hold_against(warp, step, judge, store, now, at);
  if (load.bytes != 0 && now.is_store) hold_against(warp, step, judge, load, now, at);
  if (granule.more != 0)
    for (const Access& other : shadow_.lists[granule.more]) hold_against(warp, step, judge, other, now, at);

  const auto add = [&] {
    if (granule.more == 0) granule.more = shadow_.lists.take();
    std::vector<Access>& list = shadow_.lists[granule.more];
    if (list.size() < most_loads) list.push_back(now);
  };
  if (now.is_store) {
    const auto rest = static_cast<std::uint8_t>(~now.bytes);
    const auto merges = [&](const Access& other) { return same_instruction(other, now) && (other.bytes & now.bytes) == 0; };
    const bool joins = store.bytes != 0 && merges(store);
    if (!joins) store.bytes &= rest;
    load.bytes &= rest;
    if (granule.more != 0) {
      std::vector<Access>& list = shadow_.lists[granule.more];
      for (Access& other : list) other.bytes &= rest;
      std::erase_if(list, [](const Access& other) { return other.bytes == 0; });
      if (list.empty()) shadow_.lists.give_back(std::exchange(granule.more, 0));
    }
    if (joins) {
      store.lanes |= now.lanes;
      store.bytes |= now.bytes;
      store.of_parts = true;
    } else if (store.bytes == 0) {
      store = now;
    } else {
      add();
    }
    return;
  }
  // A later load stands for an earlier one that it is known to follow.
  const auto stands_for = [&](Access& other) {
    if (other.is_store || (other.bytes & ~now.bytes) != 0) return false;
    if (other.agent == now.agent && other.lanes == now.lanes) return true;
    if (judge.warp != nullptr && other.agent == now.agent) return other.clock < judge.warp->together;
    return !other.through_async_proxy && !now.through_async_proxy && reaches(judge, other, &Knowledge::happened);
  };
  const auto joins = [&](Access& other) {
    if (!same_instruction(other, now)) return false;
    other.of_parts = other.of_parts || other.bytes != now.bytes;
    other.lanes |= now.lanes;
    other.bytes |= now.bytes;
    return true;
  };
  if (load.bytes == 0 || stands_for(load)) {
    load = now;
  } else if (!joins(load)) {
    if (granule.more != 0)
      for (Access& other : shadow_.lists[granule.more]) {
        if (joins(other)) return;
        if (!stands_for(other)) continue;
        other = now;
        return;
      }
    add();
  }
}

// Of shared memory what a cluster before did, of global memory what a run before did.
void Detector::forget_old(Granule& granule, std::uint32_t first_cluster) {
  const std::uint32_t newest = std::max(granule.store.agent.cluster, granule.load.agent.cluster);
  if (newest >= first_cluster || newest == 0) return;
  if (granule.more != 0 && newest >= first_cluster_) shadow_.lists.give_back(granule.more);  // the lists are the run's own
  granule = {};
}

void Detector::touch(Warp& warp, const Step& step, const Judge& judge, Access access, const std::byte* at, std::uint64_t bytes) {
  const bool shared = is_shared(warp, at);
  for (std::uint64_t taken = 0; bytes != 0; at += taken, bytes -= taken) {
    access.bytes = bytes_in_granule(at, bytes, taken);
    Granule& granule = shadow_.at(at);
    forget_old(granule, shared ? access.agent.cluster : first_cluster_);
    touch(warp, step, judge, access, granule, at);
  }
}

// ---- what accesses there are

Access Detector::access_by(Warp& warp, const Step& step, Mask lanes, bool is_store) {
  WarpState& mine = state(warp);
  if (std::exchange(mine.released, false)) ++mine.now;
  const isa::Ordering& order = ordering(step.item);
  Access access;
  access.agent = mine.agent;
  access.warp = mine.agent.number;
  access.clock = mine.now;
  access.item = step.item;
  access.lanes = lanes;
  access.is_store = is_store;
  access.strong = order.strong;
  access.scope = order.scope;
  return access;
}

Detector::Judge Detector::judge_of(const WarpState& warp, Mask lanes) {
  const bool told = warp.told != nullptr && (lanes & ~warp.informed) == 0;
  return {&warp, &warp.known, told ? warp.told.get() : nullptr};
}

void Detector::access(Warp& warp, const Step& step, Mask lanes, bool is_store, std::uint32_t bytes,
                      const std::array<Place, lane_count>& places, Mask same) {
  Access access = access_by(warp, step, lanes, is_store);
  for (Mask left = lanes & ~same; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const std::byte* const at = places[static_cast<std::size_t>(lane)].data;
    if (!is_looked_at(warp, at, bytes)) continue;
    access.lanes = Mask{1} << lane;
    touch(warp, step, judge_of(state(warp), access.lanes), access, at, bytes);
  }
}

void Detector::access_in_order(Warp& warp, const Step& step, bool is_store, std::uint32_t bytes, const std::byte* first) {
  if (!is_looked_at(warp, first, std::uint64_t{bytes} * lane_count)) return;
  Access access = access_by(warp, step, all_lanes, is_store);
  for (int lane = 0; lane < lane_count; ++lane) {
    access.lanes = Mask{1} << lane;
    touch(warp, step, judge_of(state(warp), access.lanes), access, first + static_cast<std::size_t>(lane) * bytes, bytes);
  }
}

void Detector::access_together(Warp& warp, const Step& step, bool is_store, const std::byte* at, std::uint32_t bytes) {
  if (!is_looked_at(warp, at, bytes)) return;
  Access access = access_by(warp, step, warp.live, is_store);
  access.of_parts = true;
  touch(warp, step, judge_of(state(warp), warp.live), access, at, bytes);
}

void Detector::access_of_tensor_map(Warp& warp, const Step& step, int lane, const std::byte* at) {
  constexpr std::uint64_t map_bytes = 128;
  if (!is_looked_at(warp, at, map_bytes)) return;
  const Mask lanes = Mask{1} << lane;
  Access access = access_by(warp, step, lanes, false);
  access.strong = false;
  access.of_tensor_map = true;
  Knowledge known;
  publish(warp, state(warp), lanes, known);
  touch(warp, step, {nullptr, &known, nullptr}, access, at, map_bytes);
}

void Detector::access_of_operation(Warp& warp, const Step& step, bool is_store, const std::byte* at, std::uint64_t bytes) {
  const Issue* const issue = state(warp).operation;
  if (issue == nullptr || !is_looked_at(warp, at, bytes)) return;
  Access access;
  access.agent = issue->agent;
  access.warp = issue->warp;
  access.clock = issue->clock;
  access.item = issue->item;
  access.lanes = issue->lanes;
  access.is_store = is_store;
  access.through_async_proxy = issue->through_async_proxy;
  access.strong = issue->reduces;
  access.scope = isa::Scope::gpu;  // manual: "cp.reduce.async.bulk": each reduction is relaxed at this scope
  touch(warp, step, {nullptr, &issue->known, nullptr}, access, at, bytes);
}

}  // namespace ptx::vgpu::races
