// The orders of a graph's blocks, and its loops. All are linear, or as good as.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/flow/graph.hpp"

namespace ptx::flow {

/// The blocks that can be reached, each before those that it leads to, but for the ways back of loops.
std::vector<std::uint32_t> reverse_postorder(const Graph& graph);

/// The loops of a graph, one inside the other. A loop is what a head and the ways back to it enclose (Havlak 1997); one that is
/// entered at several places has the head that is reached first.
class Loops {
 public:
  explicit Loops(const Graph& graph);
  /// The head of the innermost loop that a block is in, for a head that of the loop around its own; none: it is in no loop.
  [[nodiscard]] std::uint32_t around(std::uint32_t block) const { return head_[block]; }
  /// True for a block that a way leads back to from inside its loop, which may be itself alone.
  [[nodiscard]] bool is_head(std::uint32_t block) const { return is_head_[block]; }
  /// How many loops a block is in, its own included.
  [[nodiscard]] std::uint32_t depth(std::uint32_t block) const { return depth_[block]; }

 private:
  std::vector<std::uint32_t> head_, depth_;
  std::vector<bool> is_head_;
};

/// The blocks that can be reached, in weak topological order (Bourdoncle 1993): loops stand together, and what follows a loop
/// stands behind it. Running the lanes with the least place then brings parted lanes together as early as a stack of
/// post-dominators would.
std::vector<std::uint32_t> weak_topological_order(const Graph& graph);

}  // namespace ptx::flow
