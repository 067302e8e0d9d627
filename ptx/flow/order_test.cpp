#include "ptx/flow/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ptx/flow/testing/code.hpp"

namespace ptx::flow {
namespace {

using testing::any_graph;
using testing::graph_of_edges;

// Blocks by hand: {next, taken}.
Graph by_hand(const std::vector<std::pair<std::int64_t, std::int64_t>>& blocks) {
  std::vector<Graph::Edge> edges;
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    for (const std::int64_t to : {blocks[b].first, blocks[b].second})
      if (to >= 0) edges.emplace_back(b, static_cast<std::uint32_t>(to));
  return graph_of_edges(static_cast<std::uint32_t>(blocks.size()), edges);
}
std::vector<std::uint32_t> order_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& blocks) {
  return weak_topological_order(by_hand(blocks));
}

TEST(Order, KeepsStraightCodeAndDropsWhatCannotBeReached) {
  EXPECT_EQ(order_of({{1, -1}, {3, -1}, {3, -1}, {-1, -1}}), (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(Order, PutsBothSidesBeforeTheJoin) {
  const auto order = order_of({{1, 2}, {3, -1}, {-1, 3}, {-1, -1}});
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Order, KeepsLoopsTogetherAndTheirExitsBehind) {
  // 0 -> 1 (head) -> 2 -> 1; 1 -> 3 (exit), though the exit stands first in the text; 2 -> 4: a break out of the middle
  const auto order = order_of({{-1, 2}, {-1, -1}, {3, 1}, {4, 1}, {-1, 2}});
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 2, 3, 4, 1}));
  // two nested loops: inner head 2, outer head 1
  const auto nested = order_of({{1, -1}, {2, 5}, {3, 4}, {-1, 2}, {-1, 1}, {-1, -1}});
  EXPECT_EQ(nested, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Order, StandsManyThousandsOfBlocks) {
  constexpr std::int64_t n = 300'000;
  std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
  for (std::int64_t i = 0; i < n; ++i) blocks.emplace_back(i + 1 < n ? i + 1 : -1, i + 2 < n ? i + 2 : -1);
  const auto order = order_of(blocks);
  ASSERT_EQ(order.size(), static_cast<std::size_t>(n));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Order, StandsThousandsOfNestedLoops) {
  // heads 0 to n - 1, one inside the other, then their ends from the innermost out
  constexpr std::int64_t n = 8000;
  std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
  for (std::int64_t i = 0; i < 2 * n; ++i) blocks.emplace_back(i + 1 < 2 * n ? i + 1 : -1, i < n ? -1 : 2 * n - 1 - i);
  const auto order = order_of(blocks);
  ASSERT_EQ(order.size(), static_cast<std::size_t>(2 * n));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  const Loops loops(by_hand(blocks));
  EXPECT_EQ(loops.depth(n), static_cast<std::uint32_t>(n));
}

// Bourdoncle's own recursion: components of what is left, each after its head the same without the head.
class Bourdoncle {
 public:
  explicit Bourdoncle(const Graph& graph) : graph_(graph), number_(graph.size()) {}
  std::vector<std::uint32_t> order() {
    visit(0, order_);
    std::reverse(order_.begin(), order_.end());
    return order_;
  }

 private:
  static constexpr std::uint32_t done = ~0u;
  template <class Use>
  void each_successor(std::uint32_t b, Use use) {
    const auto next = graph_.successors(b);
    for (auto to = next.rbegin(); to != next.rend(); ++to) use(*to);
  }
  // Appends the components that `v` reaches, the last first, each reversed.
  std::uint32_t visit(std::uint32_t v, std::vector<std::uint32_t>& into) {
    stack_.push_back(v);
    std::uint32_t head = number_[v] = ++count_;
    bool loop = false;
    each_successor(v, [&](std::uint32_t w) {
      const std::uint32_t least = number_[w] == 0 ? visit(w, into) : number_[w];
      if (least <= head) head = least, loop = true;
    });
    if (head != number_[v]) return head;
    number_[v] = done;
    std::uint32_t element = stack_.back();
    stack_.pop_back();
    if (loop) {
      for (; element != v; element = stack_.back(), stack_.pop_back()) number_[element] = 0;
      std::vector<std::uint32_t> inner;
      each_successor(v, [&](std::uint32_t w) {
        if (number_[w] == 0) visit(w, inner);
      });
      into.insert(into.end(), inner.begin(), inner.end());
    }
    into.push_back(v);
    return head;
  }
  const Graph& graph_;
  std::vector<std::uint32_t> number_, stack_, order_;
  std::uint32_t count_ = 0;
};

TEST(Order, IsBourdonclesOnStructuredCode) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const Graph graph = testing::graph_of(testing::Structure(random, 4).code());
    EXPECT_EQ(weak_topological_order(graph), Bourdoncle(graph).order()) << "round " << round;
  }
}

std::vector<bool> reached_in(const Graph& graph) {
  std::vector<bool> reached(graph.size());
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const std::uint32_t b = open.back();
    open.pop_back();
    if (reached[b]) continue;
    reached[b] = true;
    for (const std::uint32_t to : graph.successors(b)) open.push_back(to);
  }
  return reached;
}

TEST(Order, HoldsEveryReachableBlockOnceWhateverTheEdges) {
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    const Graph graph = any_graph(random, 40, 100);
    for (const auto& order : {weak_topological_order(graph), reverse_postorder(graph)}) {
      std::vector<bool> seen(graph.size());
      for (const std::uint32_t b : order) {
        EXPECT_FALSE(seen[b]);
        seen[b] = true;
      }
      EXPECT_EQ(seen, reached_in(graph));
    }
  }
}

TEST(ReversePostorder, GoesBackInLoopsAlone) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    const Graph graph = testing::graph_of(testing::Structure(random, 4).code());
    const std::vector<std::uint32_t> order = reverse_postorder(graph);
    std::vector<std::uint32_t> place(graph.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    const DominatorTree dominators = DominatorTree::dominators(graph);
    for (const std::uint32_t b : order)
      for (const std::uint32_t to : graph.successors(b))
        EXPECT_TRUE(place[b] < place[to] || dominators.dominates(to, b)) << "round " << round;
  }
}

// Natural loops by the definition: what leads to a way back to a head, without the head. Where loops have one entry, as in
// structured code, the room's are these.
TEST(Loops, AreTheNaturalOnesOfStructuredCode) {
  std::mt19937 random(9);
  int heads = 0;
  for (int round = 0; round < 200; ++round) {
    const Graph graph = testing::graph_of(testing::Structure(random, 4).code());
    const Loops loops(graph);
    const std::vector<bool> reached = reached_in(graph);
    const DominatorTree dominators = DominatorTree::dominators(graph);
    std::vector<std::uint32_t> depth(graph.size());
    for (std::uint32_t head = 0; head < graph.size(); ++head) {
      std::vector<bool> inside(graph.size());
      std::vector<std::uint32_t> open;
      for (const std::uint32_t b : graph.predecessors(head))
        if (reached[b] && dominators.dominates(head, b)) open.push_back(b);
      EXPECT_EQ(loops.is_head(head), !open.empty()) << "round " << round << ", block " << head;
      if (open.empty()) continue;
      ++heads;
      inside[head] = true;
      while (!open.empty()) {
        const std::uint32_t b = open.back();
        open.pop_back();
        if (inside[b] || !reached[b]) continue;
        inside[b] = true;
        for (const std::uint32_t before : graph.predecessors(b)) open.push_back(before);
      }
      for (std::uint32_t b = 0; b < graph.size(); ++b) {
        depth[b] += inside[b] ? 1 : 0;
        bool among = b == head;
        for (std::uint32_t around = loops.around(b); around != none; around = loops.around(around))
          among = among || around == head;
        EXPECT_EQ(among, inside[b]) << "round " << round << ", head " << head << ", block " << b;
      }
    }
    for (std::uint32_t b = 0; b < graph.size(); ++b) EXPECT_EQ(loops.depth(b), depth[b]) << "round " << round << ", block " << b;
  }
  EXPECT_GT(heads, 100);
}

}  // namespace
}  // namespace ptx::flow
