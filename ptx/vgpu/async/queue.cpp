#include "ptx/vgpu/async/queue.hpp"

#include <algorithm>
#include <iterator>

#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu::async {
namespace {

// Of a random order: how seldom an operation is performed as soon as it begins, before a warp gets its turn, at a failed wait.
constexpr std::uint32_t one_in_at_once = 4, one_in_turns = 4, one_in_waits = 2;

// The address of an mbarrier in the cluster, whichever window names it.
std::uint64_t place_in_cluster(const Location& mbarrier) {
  return mbarrier.space == Space::generic ? mbarrier.address - shared_window : mbarrier.address;
}

// Behind the numbers of warps: the thread in its cluster, and which of its operations it is.
std::uint64_t number_of(const Warp& warp, int lane, std::uint64_t which) {
  const std::uint64_t warps = warp.cta->warps.size();
  const std::uint64_t thread = (warp.cta->rank * warps + warp.index) * lane_count + static_cast<std::uint64_t>(lane);
  return (thread + 1) << 32 | which;
}

}  // namespace

void QueueDeleter::operator()(Queue* queue) const { delete queue; }

std::uint32_t& Queue::closed_groups(const Warp& warp, int lane, Group group) { return closed_[{{&warp, lane}, group}]; }

bool Queue::push(Warp& warp, const Step& step, int lane, const Operation& operation, std::shared_ptr<const races::Issue> issue) {
  const bool can_wait = operation.mbarrier.has_value() || operation.group != Group::none;
  const bool follows = std::holds_alternative<Arrive>(operation.what);  // what its thread copies
  if (!can_wait || (!follows && happens(one_in_at_once))) return perform(warp, step, lane, operation, issue.get());
  const std::uint32_t closed = operation.group == Group::none ? 0 : closed_groups(warp, lane, operation.group);
  pending_.push_back({&warp, &step, lane, closed, operation, std::move(issue)});
  if (exploration_ != nullptr) pending_.back().agent = number_of(warp, lane, ++begun_[{&warp, lane}]);
  return true;
}

void Queue::close_group(const Warp& warp, int lane, Group group) { ++closed_groups(warp, lane, group); }

// Takes what is wanted out of the queue and performs it, in the order in which it began.
template <class Wanted>
bool Queue::perform_those(Wanted wanted) {
  std::vector<bool> taken(pending_.size());
  for (std::size_t i = 0; i < pending_.size(); ++i) taken[i] = wanted(pending_[i]);
  for (std::size_t i = pending_.size(); i-- > 0;) {
    const Pending& arrival = pending_[i];
    if (!taken[i] || !std::holds_alternative<Arrive>(arrival.operation.what)) continue;
    for (std::size_t k = 0; k < i; ++k)
      if (const Pending& copy = pending_[k]; copy.warp == arrival.warp && copy.lane == arrival.lane)
        taken[k] = taken[k] || copy.operation.group == Group::copies;
  }
  std::vector<Pending> now, later;
  for (std::size_t i = 0; i < pending_.size(); ++i) (taken[i] ? now : later).push_back(std::move(pending_[i]));
  pending_ = std::move(later);
  return std::all_of(now.begin(), now.end(), [](const Pending& next) {
    ++next.warp->cta->changes;
    return perform(*next.warp, *next.step, next.lane, next.operation, next.issue.get());
  });
}

bool Queue::wait_for_groups(const Warp& warp, int lane, Group group, std::uint32_t left) {
  const std::uint32_t closed = closed_groups(warp, lane, group);
  return perform_those([&](const Pending& one) {
    return one.warp == &warp && one.lane == lane && one.operation.group == group && one.closed < closed &&
           closed - one.closed > left;
  });
}

bool Queue::wait_at(const Location& mbarrier) {
  if (exploration_ != nullptr) return true;  // they have turns of their own
  const std::uint64_t place = place_in_cluster(mbarrier);
  return perform_those([&](const Pending& one) {
    return one.operation.mbarrier && place_in_cluster(*one.operation.mbarrier) == place &&
           (completion_ == Completion::lazy || happens(one_in_waits));
  });
}

bool Queue::perform_some() {
  if (completion_ != Completion::random || pending_.empty()) return true;
  return perform_those([&](const Pending&) { return happens(one_in_turns); });
}

void Queue::add_agents(std::vector<std::uint64_t>& agents) const {
  for (const Pending& one : pending_)
    if (one.operation.mbarrier) agents.push_back(one.agent);
}

bool Queue::perform_turn(std::uint64_t agent) {
  return perform_those([&](const Pending& one) { return one.operation.mbarrier && one.agent == agent; });
}

bool Queue::perform_of(const Cta& block) {
  std::erase_if(pending_, [&](const Pending& one) {
    return one.warp->cta == &block && one.warp->races != nullptr && rank_stored_to(one.operation) == block.rank;
  });
  return perform_those([&](const Pending& one) { return one.warp->cta == &block; });
}

bool Queue::perform_all() {
  return pending_.empty() || perform_those([](const Pending&) { return true; });
}

}  // namespace ptx::vgpu::async
