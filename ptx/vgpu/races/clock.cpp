#include "ptx/vgpu/races/clock.hpp"

#include <algorithm>

namespace ptx::vgpu::races {

void Clock::join(Extents& to, const Extents& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i].join(from[i]);
}

Clock::Extents& Clock::own() {
  if (own_ == nullptr)
    own_ = std::make_shared<Extents>();
  else if (own_.use_count() != 1)
    own_ = std::make_shared<Extents>(*own_);
  return *own_;
}

void Clock::join_own(const std::shared_ptr<Extents>& from) {
  if (from == own_ || from == nullptr) return;
  if (own_ == nullptr) {
    own_ = from;
    return;
  }
  const Extents& mine = *own_;
  const std::size_t both = std::min(mine.size(), from->size());
  std::size_t same = 0;
  while (same < both && mine[same].covers((*from)[same])) ++same;
  if (same != from->size()) join(own(), *from);
}

void Clock::join(std::uint32_t cluster, const std::shared_ptr<const Extents>& from) {
  if (cluster == own_cluster_) return join(own(), *from);
  std::shared_ptr<const Extents>& mine = others_[cluster];
  if (mine == from) return;
  if (mine == nullptr) {
    mine = from;
    return;
  }
  auto both = std::make_shared<Extents>(*mine);
  join(*both, *from);
  mine = std::move(both);
}

void Clock::join(const Clock& other) {
  if (other.empty()) return;
  if (empty()) {
    *this = other;
    return;
  }
  if (other.own_cluster_ == own_cluster_ || own_cluster_ == 0) {
    own_cluster_ = std::max(own_cluster_, other.own_cluster_);
    join_own(other.own_);
  } else if (other.own_ != nullptr) {
    join(other.own_cluster_, other.own_);
  }
  for (const auto& [cluster, extents] : other.others_) join(cluster, extents);
}

void Clock::raise(Agent agent, const Extent& extent) {
  if (own_cluster_ == 0) own_cluster_ = agent.cluster;
  if (agent.cluster != own_cluster_) {
    auto one = std::make_shared<Extents>(agent.number + std::size_t{1});
    (*one)[agent.number] = extent;
    return join(agent.cluster, one);
  }
  if (own_ != nullptr && agent.number < own_->size() && (*own_)[agent.number].covers(extent)) return;
  Extents& mine = own();
  if (mine.size() <= agent.number) mine.resize(agent.number + std::size_t{1});
  mine[agent.number].join(extent);
}

void Knowledge::add_nearly(const Gap& gap, const Clock& clock) {
  constexpr std::size_t most = 8;
  const auto known = std::find_if(nearly.begin(), nearly.end(), [&](const NearlyKnown& one) { return one.gap == gap; });
  if (known != nearly.end())
    known->clock.join(clock);
  else if (nearly.size() < most)
    nearly.push_back({gap, clock});
}

const Gap* Knowledge::gap_before(Agent agent, std::uint32_t clock, Mask lanes) const {
  const auto found =
      std::find_if(nearly.begin(), nearly.end(), [&](const NearlyKnown& one) { return one.clock.reaches(agent, clock, lanes); });
  return found == nearly.end() ? nullptr : &found->gap;
}

}  // namespace ptx::vgpu::races
