#include "ptx/vgpu/machine/bypass.hpp"

#include <algorithm>
#include <vector>

namespace ptx::vgpu {
namespace {

// Something besides going elsewhere and leaving.
bool does_work(const ir::Function& function, const flow::Block& block) {
  const auto items = std::span(function.body).subspan(block.begin, block.end - block.begin);
  return std::any_of(items.begin(), items.end(), [](const ir::Inst& item) {
    if (item.kind != ir::ItemKind::inst) return false;
    const flow::Control control = flow::control_of(item.form);
    return control == flow::Control::goes_on || control == flow::Control::calls;
  });
}

bool leads_to(const flow::Graph& graph, std::uint32_t from, std::uint32_t to) {
  std::vector<bool> seen(graph.size());
  std::vector<std::uint32_t> left{from};
  while (!left.empty()) {
    const std::uint32_t block = left.back();
    left.pop_back();
    for (const std::uint32_t next : graph.successors(block)) {
      if (next == to) return true;
      if (!seen[next]) seen[next] = true, left.push_back(next);
    }
  }
  return false;
}

}  // namespace

Bypasses::Ways::Ways(const ir::Function& function)
    : graph(flow::Graph::of(function)),
      dominators(flow::DominatorTree::dominators(graph)),
      post_dominators(flow::DominatorTree::post_dominators(graph)) {}

bool Bypasses::went_round(const ir::Function& function, std::uint32_t barrier, std::uint32_t exit) const {
  const std::scoped_lock lock(mutex_);
  if (!ways_) ways_.emplace(function);
  const auto& [graph, dominators, post_dominators] = *ways_;
  const std::uint32_t from = graph.block_of(barrier), to = graph.block_of(exit);
  const auto [known, is_new] = known_.try_emplace({from, to}, false);
  if (!is_new || !post_dominators.contains(from) || !dominators.contains(to)) return known->second;
  for (std::uint32_t block = post_dominators.parent(from); block != flow::none; block = post_dominators.parent(block))
    if (dominators.dominates(block, to) && does_work(function, graph.block(block)) && !leads_to(graph, block, from)) {
      known->second = true;
      break;
    }
  return known->second;
}

}  // namespace ptx::vgpu
