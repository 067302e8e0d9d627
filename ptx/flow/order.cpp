#include "ptx/flow/order.hpp"

#include <utility>

#include "ptx/flow/search.hpp"

namespace ptx::flow {
namespace {

// Lists of numbers that grow, by number.
class Chains {
 public:
  explicit Chains(std::size_t lists) : first_(lists, none) {}
  void add(std::uint32_t list, std::uint32_t value) {
    entries_.push_back({value, first_[list]});
    first_[list] = static_cast<std::uint32_t>(entries_.size() - 1);
  }
  /// The last that was added comes first.
  template <class Use>
  void each(std::uint32_t list, Use use) const {
    for (std::uint32_t at = first_[list]; at != none; at = entries_[at].next) use(entries_[at].value);
  }

 private:
  struct Entry {
    std::uint32_t value, next;
  };
  Ids first_;
  std::vector<Entry> entries_;
};

// The head of the innermost loop around each block; a head's own is that of the loop around its loop. Loops are found from the
// inside, and each then stands for its blocks.
Ids loop_heads(const Graph& graph, const Search& search, std::vector<bool>* heads) {
  const std::uint32_t size = graph.size();
  Chains before(size);  // ways to a block, those into its loop beside the head included
  for (const std::uint32_t b : search.preorder)
    for (const std::uint32_t to : graph.successors(b)) before.add(to, b);
  Ids head(size, none), stands_for(size);
  Ids seen(size, none), seen_outside(size, none);  // for which head
  for (std::uint32_t b = 0; b < size; ++b) stands_for[b] = b;
  const auto find = [&](std::uint32_t b) {
    while (stands_for[b] != b) b = stands_for[b] = stands_for[stands_for[b]];
    return b;
  };
  Ids body, others;
  for (auto at = search.preorder.rbegin(); at != search.preorder.rend(); ++at) {
    const std::uint32_t w = *at;
    body.clear();
    const auto take = [&](std::uint32_t b) {
      if (b == w || seen[b] == w) return;
      seen[b] = w;
      body.push_back(b);
    };
    before.each(w, [&](std::uint32_t v) {
      if (!search.is_ancestor(w, v)) return;
      if (heads != nullptr) (*heads)[w] = true;
      take(find(v));
    });
    others.clear();  // ways into the loop beside its head
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

}  // namespace

Search::Search(const Graph& graph) : number(graph.size(), none), last(graph.size()) {
  if (graph.size() == 0) return;
  Ids path{0}, edges(graph.size());  // how many of a block's edges have been followed
  number[0] = 0;
  preorder.push_back(0);
  while (!path.empty()) {
    const std::uint32_t v = path.back();
    const std::span<const std::uint32_t> next = graph.successors(v);
    if (edges[v] < next.size()) {
      const std::uint32_t to = next[next.size() - ++edges[v]];
      if (number[to] != none) continue;
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

std::vector<std::uint32_t> reverse_postorder(const Graph& graph) {
  const Search search(graph);
  return {search.postorder.rbegin(), search.postorder.rend()};
}

Loops::Loops(const Graph& graph) : depth_(graph.size()), is_head_(graph.size()) {
  const Search search(graph);
  head_ = loop_heads(graph, search, &is_head_);
  for (const std::uint32_t b : search.preorder)  // a head is entered before its loop
    depth_[b] = (head_[b] == none ? 0 : depth_[head_[b]]) + (is_head_[b] ? 1 : 0);
}

std::vector<std::uint32_t> weak_topological_order(const Graph& graph) {
  const Search search(graph);
  const Ids head = loop_heads(graph, search, nullptr);
  // What lies directly in a loop stands behind its head in the reverse postorder, each loop where its head is.
  Chains inside(graph.size() + std::size_t{1});
  const std::uint32_t outermost = graph.size();
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

}  // namespace ptx::flow
