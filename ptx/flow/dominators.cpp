#include "ptx/flow/dominators.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace ptx::flow {
namespace {

using Ids = std::vector<std::uint32_t>;

// Lengauer and Tarjan's algorithm, on the numbers of a search in depth from `root`.
class Dominating {
 public:
  Dominating(const Lists& next, const Lists& before, std::uint32_t root)
      : next_(next), before_(before), number_(next.size(), none) {
    search(root);
    const std::size_t count = preorder.size();
    semi_.resize(count), best_.resize(count), above_.assign(count, none), nearest_.assign(count, 0);
    for (std::uint32_t v = 0; v < count; ++v) semi_[v] = best_[v] = v;
    find_all();
  }

  /// By node: the nearest dominator, or none.
  [[nodiscard]] Ids parents() const {
    Ids parents(next_.size(), none);
    for (std::uint32_t v = 1; v < preorder.size(); ++v) parents[preorder[v]] = preorder[nearest_[v]];
    return parents;
  }

  Ids preorder;

 private:
  void search(std::uint32_t root) {
    Ids path{root}, edges(next_.size());
    number_[root] = 0;
    preorder.push_back(root);
    from_.push_back(0);
    while (!path.empty()) {
      const std::uint32_t v = path.back();
      if (edges[v] == next_[v].size()) {
        path.pop_back();
        continue;
      }
      const std::uint32_t to = next_[v][edges[v]++];
      if (number_[to] != none) continue;
      number_[to] = static_cast<std::uint32_t>(preorder.size());
      preorder.push_back(to);
      from_.push_back(number_[v]);
      path.push_back(to);
    }
  }

  void find_all() {
    Ids first_waiting(preorder.size(), none), next_waiting(preorder.size(), none);  // lists, by semidominator
    for (auto v = static_cast<std::uint32_t>(preorder.size() - 1); v > 0; --v) {
      for (const std::uint32_t block : before_[preorder[v]])
        if (number_[block] != none) semi_[v] = std::min(semi_[v], semi_[best_above(number_[block])]);
      next_waiting[v] = std::exchange(first_waiting[semi_[v]], v);
      above_[v] = from_[v];
      for (std::uint32_t w = std::exchange(first_waiting[from_[v]], none); w != none; w = next_waiting[w]) {
        const std::uint32_t best = best_above(w);
        nearest_[w] = semi_[best] < semi_[w] ? best : from_[v];
      }
    }
    for (std::uint32_t v = 1; v < preorder.size(); ++v)
      if (nearest_[v] != semi_[v]) nearest_[v] = nearest_[nearest_[v]];
  }

  // The node with the least semidominator on the way up from `v`, as far as nodes hang together; ways become short.
  std::uint32_t best_above(std::uint32_t v) {
    if (above_[v] == none) return v;
    way_.clear();
    for (std::uint32_t w = v; above_[above_[w]] != none; w = above_[w]) way_.push_back(w);
    for (auto w = way_.rbegin(); w != way_.rend(); ++w) {
      const std::uint32_t above = above_[*w];
      if (semi_[best_[above]] < semi_[best_[*w]]) best_[*w] = best_[above];
      above_[*w] = above_[above];
    }
    return best_[v];
  }

  const Lists &next_, &before_;
  Ids number_;  // by node
  Ids from_;    // by number, as all below: the node that the search came from
  Ids semi_, best_, above_, nearest_;
  Ids way_;
};

}  // namespace

DominatorTree::DominatorTree(std::size_t blocks, std::vector<std::uint32_t> parents, const std::vector<std::uint32_t>& preorder)
    : parent_(std::move(parents)), enter_(blocks, none), leave_(blocks, none) {
  // A parent stands before its children: how many there are below it, then where each begins.
  Ids below(parent_.size(), 0), at(parent_.size(), 0);
  for (auto node = preorder.rbegin(); node != preorder.rend(); ++node)
    if (parent_[*node] != none) below[parent_[*node]] += below[*node] + 1;
  for (const std::uint32_t node : preorder) {
    std::uint32_t begin = 0;
    if (const std::uint32_t parent = parent_[node]; parent != none) {
      begin = at[parent];
      at[parent] += below[node] + 1;
    }
    at[node] = begin + 1;
    if (node >= blocks) continue;
    enter_[node] = begin;
    leave_[node] = begin + below[node];
  }
  for (std::uint32_t& parent : parent_)
    if (parent >= blocks) parent = none;
  parent_.resize(blocks);
}

DominatorTree DominatorTree::dominators(const Graph& graph) {
  std::vector<Graph::Edge> forward, back;
  for (std::uint32_t b = 0; b < graph.size(); ++b)
    for (const std::uint32_t to : graph.successors(b)) forward.emplace_back(b, to), back.emplace_back(to, b);
  if (graph.size() == 0) return {0, {}, {}};
  const Lists next(graph.size(), forward), before(graph.size(), back);
  const Dominating found(next, before, 0);
  return {graph.size(), found.parents(), found.preorder};
}

DominatorTree DominatorTree::post_dominators(const Graph& graph) {
  // Against the edges, from a node behind all blocks at which control leaves.
  const std::uint32_t out = graph.size();
  std::vector<Graph::Edge> forward, back;
  for (std::uint32_t b = 0; b < graph.size(); ++b) {
    if (graph.block(b).leaves) forward.emplace_back(out, b), back.emplace_back(b, out);
    for (const std::uint32_t to : graph.successors(b)) forward.emplace_back(to, b), back.emplace_back(b, to);
  }
  const Lists next(out + std::size_t{1}, forward), before(out + std::size_t{1}, back);
  const Dominating found(next, before, out);
  return {out, found.parents(), found.preorder};
}

}  // namespace ptx::flow
