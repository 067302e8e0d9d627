// A search of a graph's blocks in depth, which the orders and the loops are read from.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/flow/graph.hpp"

namespace ptx::flow {

using Ids = std::vector<std::uint32_t>;

/// From the first block on. A block's last successor is looked at first, so that what it falls into is left last, and stands
/// right behind it in the reverse of `postorder` where nothing speaks against it. Kernels have hundreds of thousands of blocks:
/// nothing recurses.
struct Search {
  explicit Search(const Graph& graph);

  /// `above` was entered before `below`, and left behind it.
  [[nodiscard]] bool is_ancestor(std::uint32_t above, std::uint32_t below) const {
    return number[above] <= number[below] && number[below] <= last[above];
  }

  Ids number;  ///< by block: its place in the preorder; none: nothing leads there
  Ids last;    ///< by block: the number of its last descendant
  Ids preorder, postorder;
};

}  // namespace ptx::flow
