// The graph of a function: its blocks, and where each goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "ptx/ir/ir.hpp"

namespace ptx::flow {

/// No block.
inline constexpr std::uint32_t none = 0xFFFFFFFFu;

/// What an instruction does to the flow of control.
enum class Control : std::uint8_t {
  goes_on,      ///< nothing. `trap`, too: no thread gets behind it, but ptxas goes on reading there
  branches,     ///< bra: goes to its label
  branch_list,  ///< brx.idx: goes to one label of a list
  calls,        ///< call: comes back
  ends,         ///< ret, exit: leaves the function
};
Control control_of(isa::FormId form);

/// The item that a label names, when it is a list of targets or a prototype: the one behind it. Otherwise nullptr.
const ir::Inst* labelled_list(const ir::Function& function, ir::LabelId label);

/// Lists of numbers, by number, in one piece.
class Lists {
 public:
  Lists() = default;
  /// Of (list, number); each list keeps the order of its numbers here.
  Lists(std::size_t lists, std::span<const std::pair<std::uint32_t, std::uint32_t>> entries);
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t list) const {
    return std::span(values_).subspan(first_[list], first_[list + 1] - first_[list]);
  }
  [[nodiscard]] std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }

 private:
  std::vector<std::uint32_t> first_, values_;
};

/// Items of a body, entered at the first alone and left at the last alone. A block that a branch goes to may start at the label,
/// or at items before it that are no instructions.
struct Block {
  std::uint32_t begin = 0, end = 0;
  bool falls_through = false;  ///< control may go on in the next block, which is its first successor
  bool leaves = false;         ///< control may leave the function at its end
};

/// Blocks in the order of the text, the first is where the function begins, and the last is the end of the body: it has no
/// instructions, and control leaves there. Holds nothing of the function, which may move.
class Graph {
 public:
  using Edge = std::pair<std::uint32_t, std::uint32_t>;  ///< from, to

  /// That of a declaration: no blocks.
  Graph() = default;
  /// Blocks and edges by hand. Each block's successors keep the order of the edges.
  Graph(std::vector<Block> blocks, std::span<const Edge> edges);
  /// The graph of a body. A label that is not defined leads nowhere.
  static Graph of(const ir::Function& function);

  /// How many blocks.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(blocks_.size()); }
  [[nodiscard]] const Block& block(std::uint32_t block) const { return blocks_[block]; }
  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
  /// Where a block goes on: the next block when it falls through, then those that its last instruction names, in their order,
  /// which may be the same.
  [[nodiscard]] std::span<const std::uint32_t> successors(std::uint32_t block) const { return successors_[block]; }
  [[nodiscard]] std::span<const std::uint32_t> predecessors(std::uint32_t block) const { return predecessors_[block]; }
  /// The block that an item is in. The end of the body for what lies behind it.
  [[nodiscard]] std::uint32_t block_of(std::uint32_t item) const;
  /// False for a body with more ways through lists of targets than anybody would follow: its graph has no edges at all.
  [[nodiscard]] bool is_complete() const { return complete_; }

 private:
  std::vector<Block> blocks_;
  Lists successors_, predecessors_;
  bool complete_ = true;
};

/// A graph for each function of a module; those of declarations have no blocks.
std::vector<Graph> graphs_of(const ir::Module& module);

/// The instructions of a function that somebody asks for, by block.
class Selection {
 public:
  Selection(const Graph& graph, const ir::Function& function, const std::function<bool(const ir::Inst&)>& wanted);
  /// Items, ascending.
  [[nodiscard]] std::span<const std::uint32_t> in(std::uint32_t block) const {
    return std::span(items_).subspan(first_[block], first_[block + 1] - first_[block]);
  }
  [[nodiscard]] std::size_t size() const { return items_.size(); }

 private:
  std::vector<std::uint32_t> items_, first_;
};

}  // namespace ptx::flow
