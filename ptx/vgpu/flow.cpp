#include "ptx/vgpu/flow.hpp"

#include <algorithm>

namespace ptx::vgpu {
namespace {

using Ids = std::vector<std::uint32_t>;

void each_successor(const Block& block, auto use) {
  // The branch first: Tarjan's order is then the reverse, and the fall-through stands right behind its block where nothing speaks
  // against it.
  if (block.taken >= 0) use(static_cast<std::uint32_t>(block.taken));
  if (block.next >= 0) use(static_cast<std::uint32_t>(block.next));
}

// Strongly connected components of a part of the graph, in topological order, without recursion over blocks: unrolled kernels
// have thousands.
class Components {
 public:
  Components(std::span<const Block> blocks, std::vector<std::uint32_t>& part_of, std::uint32_t part)
      : blocks_(blocks), part_of_(part_of), part_(part), number_(blocks.size()), low_(blocks.size()), open_(blocks.size()) {}

  void from(std::uint32_t root) {
    if (part_of_[root] != part_ || number_[root] != 0) return;
    enter(root);
    while (!path_.empty()) {
      Frame& frame = path_.back();
      const std::uint32_t v = frame.block;
      if (frame.edge < 2) {
        const std::int64_t w = frame.edge++ == 0 ? blocks_[v].taken : blocks_[v].next;
        if (w < 0 || part_of_[static_cast<std::size_t>(w)] != part_) continue;
        const auto to = static_cast<std::uint32_t>(w);
        if (number_[to] == 0) {
          enter(to);
        } else if (open_[to]) {
          low_[v] = std::min(low_[v], number_[to]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[path_.back().block] = std::min(low_[path_.back().block], low_[v]);
      if (low_[v] == number_[v]) close(v);
    }
  }
  // Each component begins with the block that was found first: the head of a loop.
  std::vector<Ids> in_order() {
    std::reverse(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  struct Frame {
    std::uint32_t block;
    int edge;
  };
  void enter(std::uint32_t v) {
    number_[v] = low_[v] = ++count_;
    open_[v] = true;
    stack_.push_back(v);
    path_.push_back({v, 0});
  }
  void close(std::uint32_t head) {
    const auto begin = std::find(stack_.rbegin(), stack_.rend(), head).base() - 1;
    for (auto it = begin; it != stack_.end(); ++it) open_[*it] = false;
    found_.emplace_back(begin, stack_.end());
    stack_.erase(begin, stack_.end());
  }

  std::span<const Block> blocks_;
  std::vector<std::uint32_t>& part_of_;
  std::uint32_t part_, count_ = 0;
  std::vector<std::uint32_t> number_, low_;
  std::vector<bool> open_;
  Ids stack_;
  std::vector<Frame> path_;
  std::vector<Ids> found_;
};

// Appends the order of the blocks of `part` that `roots` reach. Recursion is as deep as loops are nested.
void order_part(std::span<const Block> blocks, std::vector<std::uint32_t>& part_of, std::uint32_t& parts, std::uint32_t part,
                const Ids& roots, Ids& order) {
  Components components(blocks, part_of, part);
  for (const std::uint32_t root : roots) components.from(root);
  for (const Ids& component : components.in_order()) {
    const std::uint32_t head = component.front();
    order.push_back(head);
    if (component.size() == 1) continue;
    const std::uint32_t inner = ++parts;
    for (const std::uint32_t b : component) part_of[b] = inner;
    part_of[head] = 0;  // the head is placed: no part holds it any more
    Ids inner_roots;
    each_successor(blocks[head], [&](std::uint32_t b) { inner_roots.push_back(b); });
    order_part(blocks, part_of, parts, inner, inner_roots, order);
  }
}

class BitSet {
 public:
  explicit BitSet(std::size_t bits, bool full = false) : words_((bits + 63) / 64, full ? ~std::uint64_t{0} : 0) {}
  [[nodiscard]] bool has(std::size_t bit) const { return (words_[bit / 64] >> (bit % 64) & 1) != 0; }
  void add(std::size_t bit) { words_[bit / 64] |= std::uint64_t{1} << (bit % 64); }
  /// Keeps what both have; true when that changed this.
  bool meet(const BitSet& other) {
    bool changed = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t both = words_[i] & other.words_[i];
      changed |= both != words_[i];
      words_[i] = both;
    }
    return changed;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace

std::vector<Block> find_blocks(std::span<const FlowInst> instructions) {
  const std::size_t n = instructions.size();
  std::vector<bool> leads(n + 1);
  leads[0] = leads[n] = true;
  for (std::size_t i = 0; i < n; ++i) {
    const FlowInst& inst = instructions[i];
    if (inst.target >= 0) leads[static_cast<std::size_t>(inst.target)] = true;
    if (inst.target >= 0 || !inst.falls_through) leads[i + 1] = true;
  }
  std::vector<std::uint32_t> block_at(n + 1);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i <= n; ++i) {
    if (leads[i]) blocks.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i), -1, -1});
    if (i < n) blocks.back().last = static_cast<std::uint32_t>(i + 1);
    block_at[i] = static_cast<std::uint32_t>(blocks.size() - 1);
  }
  for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
    const FlowInst& end = instructions[blocks[b].last - 1];
    if (end.falls_through) blocks[b].next = static_cast<std::int64_t>(b + 1);
    if (end.target >= 0) blocks[b].taken = block_at[static_cast<std::size_t>(end.target)];
  }
  return blocks;
}

std::vector<std::uint32_t> weak_topological_order(std::span<const Block> blocks) {
  std::vector<std::uint32_t> part_of(blocks.size(), 1);
  std::uint32_t parts = 1;
  Ids order;
  order.reserve(blocks.size());
  order_part(blocks, part_of, parts, 1, {0}, order);
  return order;
}

std::vector<MaybeUndefined> find_maybe_undefined(std::span<const FlowInst> instructions, std::span<const Block> blocks,
                                                 std::size_t registers) {
  // Forward, over all paths: a register is defined where every way there writes it. A guarded write defines nothing for sure.
  std::vector<BitSet> defined(blocks.size(), BitSet(registers, true));
  std::vector<bool> reached(blocks.size());
  defined[0] = BitSet(registers);
  reached[0] = true;
  Ids work{0};
  const auto run = [&](const Block& block, BitSet& now, auto&& read) {
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      for (const std::uint32_t reg : instructions[i].reads)
        if (!now.has(reg)) read(i, reg);
      if (!instructions[i].guarded)
        for (const std::uint32_t reg : instructions[i].writes) now.add(reg);
    }
  };
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    BitSet now = defined[b];
    run(blocks[b], now, [](std::uint32_t, std::uint32_t) {});
    each_successor(blocks[b], [&](std::uint32_t next) {
      const bool first = !reached[next];
      reached[next] = true;
      if (defined[next].meet(now) || first) work.push_back(next);
    });
  }
  std::vector<MaybeUndefined> found;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!reached[b]) continue;
    BitSet now = defined[b];
    run(blocks[b], now, [&](std::uint32_t inst, std::uint32_t reg) { found.push_back({inst, reg}); });
  }
  return found;
}

}  // namespace ptx::vgpu
