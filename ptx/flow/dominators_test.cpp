#include "ptx/flow/dominators.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "ptx/flow/testing/code.hpp"

namespace ptx::flow {
namespace {

using testing::any_graph;
using testing::graph_of_edges;

// The blocks that a search finds which starts at some blocks, follows `next`, and never enters `closed`.
template <class Next>
std::vector<bool> found_without(const Graph& graph, const std::vector<std::uint32_t>& starts, std::uint32_t closed, Next next) {
  std::vector<bool> found(graph.size());
  std::vector<std::uint32_t> open;
  const auto enter = [&](std::uint32_t b) {
    if (b == closed || found[b]) return;
    found[b] = true;
    open.push_back(b);
  };
  for (const std::uint32_t b : starts) enter(b);
  while (!open.empty()) {
    const std::uint32_t b = open.back();
    open.pop_back();
    for (const std::uint32_t to : next(b)) enter(to);
  }
  return found;
}

// By the definition: a dominates b when no way leads to b that goes around a.
template <class Next>
void expect_by_definition(const Graph& graph, const DominatorTree& tree, const std::vector<std::uint32_t>& starts, Next next,
                          int round) {
  const std::uint32_t size = graph.size();
  const std::vector<bool> reached = found_without(graph, starts, none, next);
  std::vector<std::vector<bool>> dominates(size);  // [a][b]
  for (std::uint32_t a = 0; a < size; ++a) {
    const std::vector<bool> around = found_without(graph, starts, a, next);
    dominates[a].resize(size);
    for (std::uint32_t b = 0; b < size; ++b) dominates[a][b] = reached[a] && reached[b] && !around[b];
  }
  for (std::uint32_t b = 0; b < size; ++b) {
    ASSERT_EQ(tree.contains(b), reached[b]) << "round " << round << ", block " << b;
    for (std::uint32_t a = 0; a < size; ++a)
      ASSERT_EQ(tree.dominates(a, b), dominates[a][b]) << "round " << round << ", blocks " << a << " and " << b;
    // The nearest one is dominated by all the others.
    std::uint32_t nearest = none;
    for (std::uint32_t a = 0; a < size; ++a)
      if (a != b && dominates[a][b] && (nearest == none || dominates[nearest][a])) nearest = a;
    ASSERT_EQ(tree.parent(b), nearest) << "round " << round << ", block " << b;
  }
}

TEST(Dominators, AreThoseOfTheDefinition) {
  std::mt19937 random(11);
  for (int round = 0; round < 600; ++round) {
    const Graph graph = any_graph(random, 24, 60);
    expect_by_definition(
        graph, DominatorTree::dominators(graph), {0}, [&](std::uint32_t b) { return graph.successors(b); }, round);
  }
}

TEST(PostDominators, AreThoseOfTheDefinition) {
  std::mt19937 random(12);
  for (int round = 0; round < 600; ++round) {
    const Graph graph = any_graph(random, 24, 60);
    std::vector<std::uint32_t> leaving;
    for (std::uint32_t b = 0; b < graph.size(); ++b)
      if (graph.block(b).leaves) leaving.push_back(b);
    expect_by_definition(
        graph, DominatorTree::post_dominators(graph), leaving, [&](std::uint32_t b) { return graph.predecessors(b); }, round);
  }
}

TEST(Dominators, OfStructuredCode) {
  std::mt19937 random(13);
  for (int round = 0; round < 40; ++round) {
    const Graph graph = testing::graph_of(testing::Structure(random, 4).code());
    if (graph.size() > 200) continue;
    expect_by_definition(
        graph, DominatorTree::dominators(graph), {0}, [&](std::uint32_t b) { return graph.successors(b); }, round);
  }
}

TEST(PostDominators, OfABranchIsItsJoin) {
  // 0 -> 1, 2 -> 3; a loop without an end at 4, which 2 may go to
  const Graph graph = graph_of_edges(5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {2, 4}, {4, 4}}, {3});
  const DominatorTree tree = DominatorTree::post_dominators(graph);
  EXPECT_EQ(tree.parent(0), 3u);
  EXPECT_EQ(tree.parent(3), none);
  EXPECT_FALSE(tree.contains(4)) << "nothing leaves there";
  EXPECT_TRUE(tree.dominates(3, 2)) << "whatever comes out goes through 3";
}

TEST(Dominators, OfNoBlocks) {
  const Graph graph;
  DominatorTree::dominators(graph);
  DominatorTree::post_dominators(graph);
}

// A ladder: each block is reached from the one before and from far back, so that ways up are long.
TEST(Dominators, StandHundredsOfThousandsOfBlocks) {
  constexpr std::uint32_t n = 300'000;
  std::vector<Graph::Edge> edges;
  for (std::uint32_t b = 0; b + 1 < n; ++b) {
    edges.emplace_back(b, b + 1);
    if (b + 2 < n) edges.emplace_back(b, b + 2);
    edges.emplace_back(b, b / 2);
  }
  const Graph graph = graph_of_edges(n, edges, {n - 1});
  const DominatorTree tree = DominatorTree::dominators(graph);
  EXPECT_EQ(tree.parent(n - 1), 0u) << "every other block can be gone around";
  EXPECT_EQ(DominatorTree::post_dominators(graph).parent(0), n - 1);
}

}  // namespace
}  // namespace ptx::flow
