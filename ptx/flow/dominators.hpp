// Which blocks every way to a block, or from it, goes through.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/flow/graph.hpp"

namespace ptx::flow {

/// Blocks by the nearest other block that is on every way. Made in nearly linear time (Lengauer and Tarjan 1979).
class DominatorTree {
 public:
  /// The nearest dominator of a block beside itself. none: the block is a root, or not in the tree.
  [[nodiscard]] std::uint32_t parent(std::uint32_t block) const { return parent_[block]; }
  /// Dominators: the block can be reached. Post-dominators: some way leads from it out of the function.
  [[nodiscard]] bool contains(std::uint32_t block) const { return enter_[block] != none; }
  /// True when every way goes through `above`, each block through itself. False for blocks that the tree does not contain.
  [[nodiscard]] bool dominates(std::uint32_t above, std::uint32_t block) const {
    return contains(above) && contains(block) && enter_[above] <= enter_[block] && enter_[block] <= leave_[above];
  }

  /// Every way from the function's first block to a block goes through its dominators.
  static DominatorTree dominators(const Graph& graph);
  /// Every way from a block out of the function goes through its post-dominators. Where threads leave in several places, there
  /// may be none.
  static DominatorTree post_dominators(const Graph& graph);

 private:
  DominatorTree(std::size_t blocks, std::vector<std::uint32_t> parents, const std::vector<std::uint32_t>& preorder);
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> enter_, leave_;  // by block: the numbers of itself and of the last block below it
};

}  // namespace ptx::flow
