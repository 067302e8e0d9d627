#include "ptx/vgpu/machine/exploration.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {

bool Exploration::begin_run() {
  if (exhausted_ || diverged_ || (most_ != 0 && runs_ >= most_)) return false;
  clusters_now_ = 0;
  depth_ = 0;
  in_turn_ = is_redundant_ = false;
  sleeping_.clear();
  now_.clear();
  before_.clear();
  return true;
}

const Exploration::Agent* Exploration::first_left(const Choice& choice) {
  const auto is_out = [](const std::vector<Turn>& turns, Agent agent) {
    return std::any_of(turns.begin(), turns.end(), [&](const Turn& turn) { return turn.agent == agent; });
  };
  const auto found = std::find_if(choice.can_run.begin(), choice.can_run.end(),
                                  [&](Agent agent) { return !is_out(choice.sleeping, agent) && !is_out(choice.done, agent); });
  return found == choice.can_run.end() ? nullptr : &*found;
}

void Exploration::end_run() {
  end_turn();
  ++runs_;
  redundant_ += is_redundant_ ? 1 : 0;
  clusters_ = std::max(clusters_, clusters_now_);
  for (; !choices_.empty(); choices_.pop_back()) {
    Choice& last = choices_.back();
    last.done.push_back({last.chosen, std::move(last.touches)});
    if (const Agent* const next = first_left(last)) {
      last.chosen = *next;
      return;
    }
  }
  if (++explored_ >= clusters_) exhausted_ = true;
}

bool Exploration::are_independent(const Touches& a, const Touches& b) const {
  if (all_touches_) return false;
  return std::none_of(a.begin(), a.end(), [&](const auto& one) {
    const auto other = b.find(one.first);
    return other != b.end() && (one.second || other->second);
  });
}

// Whose turn would give the same behind the one that has ended stays asleep.
void Exploration::end_turn() {
  if (!in_turn_) return;
  in_turn_ = false;
  Choice& choice = choices_[depth_ - 1];
  choice.touches = now_;
  sleeping_.clear();
  for (const std::vector<Turn>* const turns : {&choice.sleeping, &choice.done})
    for (const Turn& turn : *turns)
      if (turn.agent != choice.chosen && are_independent(turn.touches, now_)) sleeping_.push_back(turn);
}

std::size_t Exploration::choose(std::uint32_t cluster, std::span<const Agent> can_run) {
  end_turn();
  now_.clear();
  if (cluster != explored_ || is_redundant_) return 0;
  if (depth_ == choices_.size()) {
    Choice choice{{can_run.begin(), can_run.end()}, 0, sleeping_, {}, {}};
    const Agent* const first = first_left(choice);
    if (first == nullptr) {
      is_redundant_ = true;
      return 0;
    }
    choice.chosen = *first;
    choices_.push_back(std::move(choice));
  }
  const Choice& choice = choices_[depth_];
  const auto chosen = std::find(can_run.begin(), can_run.end(), choice.chosen);
  if (chosen == can_run.end()) {
    diverged_ = true;
    return 0;
  }
  ++depth_;
  in_turn_ = true;
  return static_cast<std::size_t>(chosen - can_run.begin());
}

bool Exploration::touched_the_same(std::uint32_t cluster, Agent agent) {
  Touches& before = before_[{cluster, agent}];
  if (before == now_) return true;
  before = now_;
  return false;
}

namespace {

// Where memory is, though its address is another one in each run.
std::uint64_t place_of(const Warp& warp, const std::byte* at) {
  for (const Cta& block : warp.cta->cluster->blocks)
    if (at >= block.shared.data() && at < block.shared.data() + block.shared.size())
      return std::uint64_t{block.rank + 1} << 32 | static_cast<std::uint64_t>(at - block.shared.data());
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const MemoryRegion* const region = warp.cta->launch->global.find(address, 1, false);
  if (region == nullptr) return address;
  return std::hash<std::string_view>()(region->name) + (address - region->begin);
}

}  // namespace

void Exploration::touch(const Warp& warp, const std::byte* at, bool changes) {
  bool& changed = now_[place_of(warp, at)];
  changed = changed || changes;
}

void Exploration::touched_changes() {
  for (auto& [place, changed] : now_) changed = true;
}

}  // namespace ptx::vgpu
