#include "ptx/vgpu/flow.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ptx::vgpu {
namespace {

using Ids = std::vector<std::uint32_t>;

void each_successor(const Block& block, auto use) {
  // The branch first: the order below is then the reverse, and the fall-through stands right behind its block where nothing
  // speaks against it.
  if (block.taken >= 0) use(static_cast<std::uint32_t>(block.taken));
  if (block.next >= 0) use(static_cast<std::uint32_t>(block.next));
}

constexpr std::uint32_t none = 0xFFFFFFFFu;

// A search of the blocks in depth: kernels have tens of thousands, so that nothing here recurses or looks at a block twice as a
// whole.
struct Search {
  explicit Search(std::span<const Block> blocks) : number(blocks.size(), none), last(blocks.size()) {
    Ids path{0};
    std::vector<std::uint8_t> edge(blocks.size());
    number[0] = 0;
    preorder.push_back(0);
    while (!path.empty()) {
      const std::uint32_t v = path.back();
      if (edge[v] < 2) {
        const std::int64_t w = edge[v]++ == 0 ? blocks[v].taken : blocks[v].next;
        if (w < 0 || number[static_cast<std::size_t>(w)] != none) continue;
        const auto to = static_cast<std::uint32_t>(w);
        number[to] = static_cast<std::uint32_t>(preorder.size());
        preorder.push_back(to);
        path.push_back(to);
        continue;
      }
      last[v] = static_cast<std::uint32_t>(preorder.size() - 1);
      postorder.push_back(v);
      path.pop_back();
    }
  }
  /// `above` was entered before `below`, and left behind it.
  [[nodiscard]] bool is_ancestor(std::uint32_t above, std::uint32_t below) const {
    return number[above] <= number[below] && number[below] <= last[above];
  }

  Ids number;  // by block: its place in the preorder
  Ids last;    // by block: the number of its last descendant
  Ids preorder, postorder;
};

// Lists of small numbers by key, all in one place.
class Lists {
 public:
  explicit Lists(std::size_t keys) : first_(keys, none) {}
  void add(std::uint32_t key, std::uint32_t value) {
    entries_.push_back({value, first_[key]});
    first_[key] = static_cast<std::uint32_t>(entries_.size() - 1);
  }
  template <class Use>
  void each(std::uint32_t key, Use use) const {
    for (std::uint32_t at = first_[key]; at != none; at = entries_[at].next) use(entries_[at].value);
  }

 private:
  struct Entry {
    std::uint32_t value, next;
  };
  Ids first_;
  std::vector<Entry> entries_;
};

Lists predecessors(std::span<const Block> blocks, const Search& search) {
  Lists found(blocks.size());
  for (const std::uint32_t b : search.preorder) each_successor(blocks[b], [&](std::uint32_t to) { found.add(to, b); });
  return found;
}

// The innermost loop around each block, by its head; a head's own is the one around its loop (Havlak 1997: loops found from the
// inside, each then stands for its blocks).
Ids loop_heads(std::span<const Block> blocks, const Search& search) {
  Lists before = predecessors(blocks, search);
  Ids head(blocks.size(), none), stands_for(blocks.size());
  Ids seen(blocks.size(), none), seen_outside(blocks.size(), none);  // for which head
  for (std::uint32_t b = 0; b < blocks.size(); ++b) stands_for[b] = b;
  const auto find = [&](std::uint32_t b) {
    while (stands_for[b] != b) b = stands_for[b] = stands_for[stands_for[b]];
    return b;
  };
  for (auto at = search.preorder.rbegin(); at != search.preorder.rend(); ++at) {
    const std::uint32_t w = *at;
    Ids body;
    const auto take = [&](std::uint32_t b) {
      if (b == w || seen[b] == w) return;
      seen[b] = w;
      body.push_back(b);
    };
    before.each(w, [&](std::uint32_t v) {
      if (search.is_ancestor(w, v)) take(find(v));
    });
    Ids others;  // ways into the loop beside its head
    for (std::size_t i = 0; i < body.size(); ++i)
      before.each(body[i], [&](std::uint32_t v) {
        if (search.is_ancestor(body[i], v)) return;  // a way back inside
        const std::uint32_t from = find(v);
        if (search.is_ancestor(w, from))
          take(from);
        else if (std::exchange(seen_outside[from], w) != w)
          others.push_back(from);
      });
    for (const std::uint32_t b : others) before.add(w, b);
    for (const std::uint32_t b : body) head[b] = stands_for[b] = w;
  }
  return head;
}

// 512 registers at a time, a bit each.
struct Bits {
  static constexpr std::size_t count = 512;
  std::array<std::uint64_t, count / 64> words{};
  [[nodiscard]] bool has(std::size_t bit) const { return (words[bit / 64] >> (bit % 64) & 1) != 0; }
  void add(std::size_t bit) { words[bit / 64] |= std::uint64_t{1} << (bit % 64); }
};

// What is written on every way to the start of each block, from what each block writes.
void settle(const Search& search, const Lists& before, const std::vector<Bits>& written, std::vector<Bits>& defined) {
  for (Bits& bits : defined) bits.words.fill(~std::uint64_t{0});
  defined[0] = {};
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = search.postorder.rbegin(); at != search.postorder.rend(); ++at) {
      Bits& here = defined[*at];
      Bits now = here;
      before.each(*at, [&](std::uint32_t from) {
        for (std::size_t i = 0; i < now.words.size(); ++i) now.words[i] &= defined[from].words[i] | written[from].words[i];
      });
      changed |= now.words != here.words;
      here = now;
    }
  }
}

// A read that no write in its block comes before.
struct Exposed {
  std::uint32_t reg, inst, block;
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
  const Search search(blocks);
  const Ids head = loop_heads(blocks, search);
  // What lies directly in a loop stands behind its head in the reverse postorder, each loop where its head is.
  Lists inside(blocks.size() + 1);
  const auto outermost = static_cast<std::uint32_t>(blocks.size());
  for (auto b = search.postorder.rbegin(); b != search.postorder.rend(); ++b)
    inside.add(head[*b] == none ? outermost : head[*b], *b);
  Ids order, open;
  order.reserve(search.preorder.size());
  inside.each(outermost, [&](std::uint32_t b) { open.push_back(b); });  // the last first, so that the first is on top
  while (!open.empty()) {
    const std::uint32_t b = open.back();
    open.pop_back();
    order.push_back(b);
    inside.each(b, [&](std::uint32_t inner) { open.push_back(inner); });
  }
  return order;
}

std::vector<MaybeUndefined> find_maybe_undefined(std::span<const FlowInst> instructions, std::span<const Block> blocks,
                                                 std::size_t registers) {
  // Forward, over all paths: a register is defined where every way there writes it. A guarded write defines nothing for sure.
  const Search search(blocks);
  std::vector<Exposed> exposed;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;  // register, block
  Ids written_in(registers, none), last_read(registers, none);
  std::vector<bool> always(registers);  // written in the first block, so that all others find it
  for (const std::uint32_t b : search.preorder) {
    for (std::uint32_t i = blocks[b].first; i < blocks[b].last; ++i) {
      for (const std::uint32_t reg : instructions[i].reads())
        if (written_in[reg] != b && last_read[reg] != i && !always[reg]) {
          last_read[reg] = i;
          exposed.push_back({reg, i, b});
        }
      if (instructions[i].guarded) continue;
      for (const std::uint32_t reg : instructions[i].writes()) {
        if (written_in[reg] == b) continue;
        written_in[reg] = b;
        writes.emplace_back(reg, b);
        if (b == 0) always[reg] = true;
      }
    }
  }
  std::sort(exposed.begin(), exposed.end(),
            [](const Exposed& a, const Exposed& b) { return a.reg != b.reg ? a.reg < b.reg : a.inst < b.inst; });
  std::sort(writes.begin(), writes.end());
  const Lists before = predecessors(blocks, search);
  std::vector<MaybeUndefined> found;
  std::vector<Bits> defined(blocks.size()), written(blocks.size());
  auto write = writes.begin();
  for (std::size_t at = 0; at < exposed.size();) {
    // The next registers with such reads, as many as there are bits.
    std::size_t end = at, bit = 0;
    const std::size_t begin = at;
    std::fill(written.begin(), written.end(), Bits{});
    for (; end < exposed.size(); ++end) {
      const bool is_new = end == begin || exposed[end].reg != exposed[end - 1].reg;
      if (!is_new) continue;
      if (bit == Bits::count) break;
      while (write != writes.end() && write->first < exposed[end].reg) ++write;
      for (; write != writes.end() && write->first == exposed[end].reg; ++write) written[write->second].add(bit);
      ++bit;
    }
    settle(search, before, written, defined);
    bit = 0;
    for (; at < end; ++at) {
      if (at != begin && exposed[at].reg != exposed[at - 1].reg) ++bit;
      if (!defined[exposed[at].block].has(bit)) found.push_back({exposed[at].inst, exposed[at].reg});
    }
  }
  std::sort(found.begin(), found.end(), [](const MaybeUndefined& a, const MaybeUndefined& b) { return a.inst < b.inst; });
  return found;
}

}  // namespace ptx::vgpu
