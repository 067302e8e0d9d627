// What is known to have happened: vector clocks of a run's agents (manual: "Memory Consistency Model", "Causality order").
//
// An agent is what advances in an order of its own: a warp, the operations that a thread or a warpgroup has put into groups
// (cp.async, bulk copies, wgmma), those that an mbarrier is told of. Each access is noted with the agent's clock at that time;
// who knows of that clock comes after the access. A warp's threads share a clock, and what was done by one of them alone is told
// by lanes: known are all accesses of the warp up to `all`, and those of the lanes in `mask` up to `some`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ptx/vgpu/machine/lanes.hpp"

namespace ptx::vgpu::races {

/// An agent of a cluster. Clusters are numbered from 1: nothing has happened in cluster 0.
struct Agent {
  std::uint32_t cluster = 0;
  std::uint16_t number = 0;
  friend bool operator==(const Agent&, const Agent&) = default;
};

/// How far an agent's accesses are known.
struct Extent {
  std::uint32_t all = 0, some = 0;
  Mask mask = 0;

  [[nodiscard]] bool reaches(std::uint32_t clock, Mask lanes) const {
    return clock <= all || (clock <= some && (lanes & ~mask) == 0);
  }
  /// Whether another one says nothing more.
  [[nodiscard]] bool covers(const Extent& other) const {
    if (other.all > all) return false;
    return other.some <= all || (other.some <= some && (other.mask & ~mask) == 0);
  }
  /// Of two groups of lanes that are known to different times the later one stands for both, which may overlook a race and
  /// never makes one up.
  void join(const Extent& other) {
    if (covers(other)) return;
    all = std::max(all, other.all);
    if (other.some <= all && other.mask != 0) return;
    if (some <= all) mask = 0;
    some = std::max(some, other.some);
    mask |= other.mask;
    if (mask == all_lanes) all = std::exchange(some, 0), mask = 0;
  }
};

/// What is known of each agent. Copies share what they say until one of them hears more.
class Clock {
 public:
  [[nodiscard]] bool reaches(Agent agent, std::uint32_t clock, Mask lanes) const {
    const std::vector<Extent>* of_cluster = find(agent.cluster);
    return of_cluster != nullptr && agent.number < of_cluster->size() && (*of_cluster)[agent.number].reaches(clock, lanes);
  }
  /// Of an agent; null: nothing.
  [[nodiscard]] const Extent* extent_of(Agent agent) const {
    const std::vector<Extent>* of_cluster = find(agent.cluster);
    return of_cluster != nullptr && agent.number < of_cluster->size() ? &(*of_cluster)[agent.number] : nullptr;
  }
  void join(const Clock& other);
  void raise(Agent agent, const Extent& extent);
  [[nodiscard]] bool empty() const { return own_ == nullptr && others_.empty(); }

 private:
  using Extents = std::vector<Extent>;  // by agent
  [[nodiscard]] const Extents* find(std::uint32_t cluster) const {
    if (cluster == own_cluster_) return own_.get();
    if (others_.empty()) return nullptr;
    const auto found = others_.find(cluster);
    return found == others_.end() ? nullptr : found->second.get();
  }
  static void join(Extents& to, const Extents& from);
  void join(std::uint32_t cluster, const std::shared_ptr<const Extents>& from);
  void join_own(const std::shared_ptr<Extents>& from);
  Extents& own();

  std::uint32_t own_cluster_ = 0;  // the first that it heard of
  std::shared_ptr<Extents> own_;   // nobody changes it who is not the only one to have it
  std::map<std::uint32_t, std::shared_ptr<const Extents>> others_;
};

/// Where a way from one thread to another breaks off.
struct Gap {
  enum Lack : std::uint8_t { release = 1, acquire = 2, scope = 4 };
  std::uint8_t lacks = 0;          ///< of `Lack`: all that is missing
  std::uint32_t from = 0, to = 0;  ///< the instructions of both ends; `to` is `from` where the other end is not known
  friend bool operator==(const Gap&, const Gap&) = default;
};
/// What would be known were it not for a gap.
struct NearlyKnown {
  Gap gap;
  Clock clock;
};

/// What a thread knows.
struct Knowledge {
  Clock happened;
  Clock through_proxy;  ///< what of that it also knows by way of the asynchronous proxy: fence.proxy.async (manual: "Proxies"),
                        ///< of shared memory
  Clock through_proxy_of_global;    ///< and of global memory
  Clock mbarriers;                  ///< until when it knows of mbarriers' initialisations alone: fence.mbarrier_init
  Clock of_tensor_memory;           ///< what of that was told behind tcgen05.fence::before_thread_sync, or by tcgen05.commit
  Clock of_tensor_maps;             ///< what of that was told behind fence.proxy.tensormap::generic.release
  Clock of_near_tensor_maps;        ///< and behind one whose scope does not reach beyond the cluster
  std::vector<NearlyKnown> nearly;  ///< for reports alone: the first few gaps
  void join(const Knowledge& other) {
    happened.join(other.happened), through_proxy.join(other.through_proxy), mbarriers.join(other.mbarriers);
    through_proxy_of_global.join(other.through_proxy_of_global), of_near_tensor_maps.join(other.of_near_tensor_maps);
    of_tensor_memory.join(other.of_tensor_memory), of_tensor_maps.join(other.of_tensor_maps);
    for (const NearlyKnown& one : other.nearly) add_nearly(one.gap, one.clock);
  }
  void add_nearly(const Gap& gap, const Clock& clock);
  /// The gap without which the access were known; null: there is none.
  [[nodiscard]] const Gap* gap_before(Agent agent, std::uint32_t clock, Mask lanes) const;
};

}  // namespace ptx::vgpu::races
