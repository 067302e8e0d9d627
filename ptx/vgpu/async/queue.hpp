// Asynchronous operations that have begun and are not performed: where a run asks for Completion::lazy or ::random, so that who
// forgets to wait reads what was there before. One queue for each cluster, on its worker's thread.
//
// An operation is performed at the latest when a thread has to see it complete: when its thread waits for its group
// (cp.async.wait_group, cp.async.bulk.wait_group), when a wait at the mbarrier that it tells finds its phase incomplete, when its
// block ends, and when the cluster has run a turn, since others may poll the memory that it writes. Nothing orders operations
// among each other, but an arrival behind the copies of its thread (cp.async.mbarrier.arrive).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "ptx/vgpu/async/engine.hpp"

namespace ptx::vgpu {
class Exploration;
}

namespace ptx::vgpu::async {

class Queue {
 public:
  Queue(Completion completion, std::uint64_t seed) : completion_(completion), random_(seed) {}
  /// What tells an mbarrier is performed when its turn comes, and the rest as late as can be.
  explicit Queue(Exploration& exploration) : completion_(Completion::lazy), exploration_(&exploration) {}

  /// Takes an operation that a lane has begun. False: it was performed at once, which recorded a fault.
  bool push(Warp& warp, const Step& step, int lane, const Operation& operation, std::shared_ptr<const races::Issue> issue);
  /// The lane closes its group of operations: those that it begins from now on are of the next one.
  void close_group(const Warp& warp, int lane, Group group);

  // -- each performs operations; false: one of them recorded a fault
  /// Those of the lane's closed groups but the last `left`.
  bool wait_for_groups(const Warp& warp, int lane, Group group, std::uint32_t left);
  /// Those that tell this mbarrier, or, where their order is random, some of them.
  bool wait_at(const Location& mbarrier);
  /// Where their order is random, some of them.
  bool perform_some();
  /// Where an exploration says who goes on: those that can have a turn, each by its number; and one of them.
  void add_agents(std::vector<std::uint64_t>& agents) const;
  bool perform_turn(std::uint64_t agent);
  /// Those that warps of the block began, which has ended. What would store to its shared memory is forgotten where checks have
  /// told of it.
  bool perform_of(const Cta& block);
  bool perform_all();

 private:
  struct Pending {
    Warp* warp = nullptr;
    const Step* step = nullptr;
    int lane = 0;
    std::uint32_t closed = 0;  ///< groups of its kind that its thread had closed before
    Operation operation;
    std::shared_ptr<const races::Issue> issue;
    std::uint64_t agent = 0;  ///< of an exploration
  };
  using Thread = std::pair<const Warp*, int>;

  template <class Wanted>
  bool perform_those(Wanted wanted);
  std::uint32_t& closed_groups(const Warp& warp, int lane, Group group);
  bool happens(std::uint32_t one_in) { return completion_ == Completion::random && random_() % one_in == 0; }

  Completion completion_;
  std::minstd_rand random_;
  Exploration* exploration_ = nullptr;
  std::map<Thread, std::uint64_t> begun_;  // operations of each thread, where they have numbers
  std::vector<Pending> pending_;           // as they began
  std::map<std::pair<Thread, Group>, std::uint32_t> closed_;
};

}  // namespace ptx::vgpu::async
