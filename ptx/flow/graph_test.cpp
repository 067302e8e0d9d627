#include "ptx/flow/graph.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ptx/flow/flow.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"

namespace ptx::flow {
namespace {

struct Entry {
  ir::Module module;
  [[nodiscard]] const ir::Function& function() const { return module.functions.front(); }
};
Entry entry(const std::string& body) {
  text::Parsed parsed = text::parse(cat(".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n", body, "}\n"));
  EXPECT_TRUE(parsed.findings.empty()) << parsed.findings.front().message;
  return {std::move(parsed.module)};
}

// "0: 1 2; 1: 2 ends; …": where each block goes on, and those that control leaves at.
std::string shown(const Graph& graph) {
  std::string text;
  for (std::uint32_t b = 0; b < graph.size(); ++b) {
    text += cat(b == 0 ? "" : "; ", b, ':');
    for (const std::uint32_t to : graph.successors(b)) text += cat(' ', to);
    if (graph.block(b).leaves) text += " ends";
  }
  return text;
}
std::string shown(const std::string& body) { return shown(Graph::of(entry(body).function())); }

const std::string registers = ".reg .pred %p; .reg .b32 %r;\n";

TEST(Graph, CutsAtBranchesAndTheirLabels) {
  EXPECT_EQ(shown(""), "0: ends");
  EXPECT_EQ(shown(registers), "0: ends") << "no instructions";
  EXPECT_EQ(shown("ret;\n"), "0: ends; 1: ends");
  EXPECT_EQ(shown(registers + "mov.b32 %r, 0;\n"), "0: 1; 1: ends");
  EXPECT_EQ(shown(registers + "@%p bra L;\nmov.b32 %r, 1;\nL: mov.b32 %r, 2;\nexit;\n"), "0: 1 2; 1: 2; 2: ends; 3: ends");
  EXPECT_EQ(shown(registers + "L: @%p bra L;\nbra L;\n"), "0: 1 0; 1: 0; 2: ends");
}

TEST(Graph, KnowsThatAGuardLetsOthersBy) {
  EXPECT_EQ(shown(registers + "@%p ret;\nmov.b32 %r, 1;\nret;\n"), "0: 1 ends; 1: ends; 2: ends");
  EXPECT_EQ(shown(registers + "@%p trap;\nmov.b32 %r, 1;\ntrap;\n"), "0: 1; 1: ends") << "code follows a trap";
}

TEST(Graph, CutsNeitherAtOtherLabelsNorAtCalls) {
  EXPECT_EQ(shown(registers + "mov.b32 %r, 1;\nA: mov.b32 %r, 2;\nB: mov.b32 %r, 3;\n"), "0: 1; 1: ends");
  EXPECT_EQ(shown(registers + "mov.b32 %r, 1;\nbra B;\nA: B:\n{\nC: mov.b32 %r, 3;\n@%p bra A;\nbra C;\n}\n"),
            "0: 1; 1: 2 1; 2: 1; 3: ends")
      << "labels with nothing between them are one place";
  EXPECT_EQ(shown(registers + "bra DONE;\nDONE:\n"), "0: 1; 1: ends") << "a label at the end is the end";
}

TEST(Graph, FollowsListsOfTargets) {
  EXPECT_EQ(shown(registers + "T: .branchtargets A, B, A;\nbrx.idx %r, T;\nA: ret;\nB: ret;\n"),
            "0: 1 2 1; 1: ends; 2: ends; 3: ends");
}

TEST(Graph, HasPredecessorsAndPlaces) {
  const Entry one = entry(registers + "@%p bra L;\nmov.b32 %r, 1;\nL: mov.b32 %r, 2;\nexit;\n");
  const Graph graph = Graph::of(one.function());
  ASSERT_EQ(graph.size(), 4u);
  EXPECT_TRUE(graph.predecessors(0).empty());
  EXPECT_EQ(std::vector(graph.predecessors(2).begin(), graph.predecessors(2).end()), (std::vector<std::uint32_t>{0, 1}));
  for (std::uint32_t b = 0; b < graph.size(); ++b) {
    for (std::uint32_t item = graph.block(b).begin; item < graph.block(b).end; ++item) EXPECT_EQ(graph.block_of(item), b);
    if (b > 0) {
      EXPECT_EQ(graph.block(b).begin, graph.block(b - 1).end);
    }
  }
  EXPECT_EQ(graph.block_of(none), 3u);
  EXPECT_EQ(graph.block(3).end, one.function().body.size());
  const Selection moves(graph, one.function(), [](const ir::Inst& inst) { return isa::form(inst.form).opcode == "mov"; });
  EXPECT_EQ(moves.size(), 2u);
  EXPECT_TRUE(moves.in(0).empty());
  ASSERT_EQ(moves.in(2).size(), 1u);
  EXPECT_EQ(one.function().body[moves.in(2)[0]].kind, ir::ItemKind::inst);
}

TEST(Graph, GivesUpOnTooManyWays) {
  std::string list = "T: .branchtargets A", branches;
  for (int i = 0; i < 2200; ++i) list += ", A", branches += "@%p brx.idx %r, T;\n";
  const Graph graph = Graph::of(entry(registers + list + ";\n" + branches + "A: ret;\n").function());
  EXPECT_FALSE(graph.is_complete());
  for (std::uint32_t b = 0; b < graph.size(); ++b) EXPECT_TRUE(graph.successors(b).empty());
}

// Ways back over up to a hundred blocks, and one loop around all. A square would take minutes.
TEST(Graph, StandsHundredsOfThousandsOfBlocks) {
  constexpr int n = 300'000;
  std::string body = registers;
  for (int i = 0; i < n; ++i) body += cat("L", i, ":\n@%p bra L", i + 1 < n ? i / 100 * 100 : 0, ";\n");
  const Graph graph = Graph::of(entry(body).function());
  EXPECT_EQ(graph.size(), n + 1u);
  EXPECT_EQ(reverse_postorder(graph).size(), graph.size());
  EXPECT_EQ(weak_topological_order(graph).size(), graph.size());
  EXPECT_TRUE(DominatorTree::dominators(graph).dominates(0, n));
  EXPECT_TRUE(DominatorTree::post_dominators(graph).dominates(n, 0));
}

}  // namespace
}  // namespace ptx::flow
