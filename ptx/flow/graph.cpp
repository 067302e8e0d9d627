#include "ptx/flow/graph.hpp"

#include "ptx/isa/isa.hpp"

#include <algorithm>

namespace ptx::flow {
namespace {

using ir::ItemKind;
using ir::OperandKind;

constexpr std::size_t max_edges = std::size_t{1} << 22;

Control read_control(const isa::Form& form) {
  const isa::Effects& effects = form.row->effects;
  if (!effects.control || effects.volatile_) return Control::goes_on;
  if (form.traits.has(isa::Trait::branch)) return Control::branches;
  if (form.traits.has(isa::Trait::branch_list)) return Control::branch_list;
  if (form.traits.has(isa::Trait::call)) return Control::calls;
  return Control::ends;
}

std::span<const Control> all_controls() {
  static const std::vector<Control>& all = *new std::vector<Control>([] {  // never destroyed: other statics may ask
    std::vector<Control> controls;
    for (const isa::Form& form : isa::forms()) controls.push_back(read_control(form));
    return controls;
  }());
  return all;
}

// Finds the blocks of a body, and their edges.
class Reading {
 public:
  explicit Reading(const ir::Function& function) : function_(function), body_(function.body) {}

  void run() {
    find_ends();
    cut();
    for (std::uint32_t b = 0; b < blocks.size() && complete; ++b) connect(b);
  }

  std::vector<Block> blocks;
  std::vector<Graph::Edge> edges;
  bool complete = true;

 private:
  // The instructions that end blocks, and the labels that begin some.
  void find_ends() {
    const std::span<const Control> controls = all_controls();
    for (std::uint32_t i = 0; i < body_.size(); ++i) {
      if (body_[i].kind != ItemKind::inst) continue;
      const Control control = controls[body_[i].form];
      if (control == Control::goes_on || control == Control::calls) continue;
      ends_.push_back(i);
      if (control == Control::branches)
        if (const std::span<const ir::Operand> operands = function_.operands_of(body_[i]); !operands.empty())
          target(operands.back());
    }
    for (const std::vector<ir::Operand>& list : function_.target_lists)
      for (const ir::Operand& operand : list) target(operand);
    std::sort(targets_.begin(), targets_.end());
  }
  void target(const ir::Operand& operand) {
    if (const std::uint32_t item = item_of(operand); item < body_.size()) targets_.push_back(item);
  }
  // The item that a label operand names.
  [[nodiscard]] std::uint32_t item_of(const ir::Operand& o) const {
    return o.kind == OperandKind::label && o.payload < function_.labels.size() ? function_.labels[o.payload].item : none;
  }

  void cut() {
    blocks.reserve(ends_.size() + targets_.size() + 1);
    auto end = ends_.begin();
    for (const std::uint32_t at : targets_) {
      for (; end != ends_.end() && *end < at; ++end) close(*end + 1);
      if (does_something(at)) close(at);
    }
    for (; end != ends_.end(); ++end) close(*end + 1);
    const auto size = static_cast<std::uint32_t>(body_.size());
    if (does_something(size)) close(size);
    blocks.push_back({.begin = begin_, .end = size, .falls_through = false, .leaves = true});
  }
  void close(std::uint32_t end) {
    blocks.push_back({.begin = begin_, .end = end, .falls_through = true, .leaves = false});
    begin_ = looked_at_ = end;
    found_ = false;
  }
  // True when the open block has an instruction before that item. Looks at every item once.
  bool does_something(std::uint32_t before) {
    for (; looked_at_ < before && !found_; ++looked_at_)
      found_ = body_[looked_at_].kind == ItemKind::inst || body_[looked_at_].kind == ItemKind::raw;
    return found_;
  }

  void connect(std::uint32_t b) {
    Block& block = blocks[b];
    if (b + 1 == blocks.size()) return;
    const ir::Inst& last = body_[block.end - 1];
    const Control control = last.kind == ItemKind::inst ? control_of(last.form) : Control::goes_on;
    const bool elsewhere = control != Control::goes_on && control != Control::calls;
    block.falls_through = !elsewhere || last.guard_id().valid();
    block.leaves = control == Control::ends;
    if (block.falls_through) edges.emplace_back(b, b + 1);
    if (control == Control::branches || control == Control::branch_list) connect_branch(b, last, control);
    complete = edges.size() <= max_edges;
  }
  void connect_branch(std::uint32_t b, const ir::Inst& branch, Control control) {
    const std::span<const ir::Operand> operands = function_.operands_of(branch);
    if (operands.empty() || operands.back().kind != OperandKind::label) return;
    if (control == Control::branches) return connect(b, operands.back());
    const ir::Inst* list = labelled_list(function_, ir::LabelId(operands.back().payload));
    if (list == nullptr || list->kind == ItemKind::prototype || list->payload >= function_.target_lists.size()) return;
    for (const ir::Operand& operand : function_.target_lists[list->payload]) connect(b, operand);
  }
  void connect(std::uint32_t from, const ir::Operand& to) {
    const std::uint32_t item = item_of(to);
    if (item >= body_.size()) return;
    const auto behind = std::upper_bound(blocks.begin(), blocks.end(), item,
                                         [](std::uint32_t place, const Block& block) { return place < block.begin; });
    edges.emplace_back(from, static_cast<std::uint32_t>(behind - blocks.begin() - 1));
  }

  const ir::Function& function_;
  const Store<ir::Inst>& body_;
  std::vector<std::uint32_t> ends_, targets_;
  std::uint32_t begin_ = 0, looked_at_ = 0;  // of the open block
  bool found_ = false;
};

}  // namespace

Control control_of(isa::FormId form) {
  static const std::span<const Control> all = all_controls();
  return all[form];
}

const ir::Inst* labelled_list(const ir::Function& function, ir::LabelId label) {
  if (label.index >= function.labels.size()) return nullptr;
  for (std::size_t i = std::size_t{function.labels[label.index].item} + 1; i < function.body.size(); ++i) {
    const ir::Inst& item = function.body[i];
    switch (item.kind) {
      case ItemKind::comment:
        continue;
      case ItemKind::prototype:
      case ItemKind::branch_targets:
      case ItemKind::call_targets:
        return &item;
      default:
        return nullptr;
    }
  }
  return nullptr;
}

Lists::Lists(std::size_t lists, std::span<const std::pair<std::uint32_t, std::uint32_t>> entries)
    : first_(lists + 1), values_(entries.size()) {
  for (const auto& [list, value] : entries) ++first_[list];
  std::uint32_t sum = 0;
  for (std::uint32_t& first : first_) first = sum += first;  // the end of each, and of the last one in the place behind it
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) values_[--first_[entry->first]] = entry->second;
}

Graph::Graph(std::vector<Block> blocks, std::span<const Edge> edges)
    : blocks_(std::move(blocks)), successors_(blocks_.size(), edges) {
  std::vector<Edge> back;
  back.reserve(edges.size());
  for (std::uint32_t b = 0; b < blocks_.size(); ++b)
    for (const std::uint32_t to : successors_[b]) back.emplace_back(to, b);
  predecessors_ = Lists(blocks_.size(), back);
}

Graph Graph::of(const ir::Function& function) {
  Reading reading(function);
  reading.run();
  if (!reading.complete) reading.edges.clear();
  Graph graph(std::move(reading.blocks), reading.edges);
  graph.complete_ = reading.complete;
  return graph;
}

std::uint32_t Graph::block_of(std::uint32_t item) const {
  const auto behind = std::upper_bound(blocks_.begin(), blocks_.end(), item,
                                       [](std::uint32_t place, const Block& block) { return place < block.begin; });
  return static_cast<std::uint32_t>(behind - blocks_.begin() - 1);
}

std::vector<Graph> graphs_of(const ir::Module& module) {
  std::vector<Graph> graphs;
  graphs.reserve(module.functions.size());
  for (const ir::Function& function : module.functions) graphs.push_back(function.has_body ? Graph::of(function) : Graph());
  return graphs;
}

Selection::Selection(const Graph& graph, const ir::Function& function, const std::function<bool(const ir::Inst&)>& wanted) {
  first_.reserve(graph.size() + std::size_t{1});
  for (const Block& block : graph.blocks()) {
    first_.push_back(static_cast<std::uint32_t>(items_.size()));
    for (std::uint32_t i = block.begin; i < block.end; ++i)
      if (function.body[i].kind == ir::ItemKind::inst && wanted(function.body[i])) items_.push_back(i);
  }
  first_.push_back(static_cast<std::uint32_t>(items_.size()));
}

}  // namespace ptx::flow
