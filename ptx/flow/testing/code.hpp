// Code for the tests of the room: instructions without an instruction table, and graphs of any edges.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "ptx/flow/flow.hpp"

namespace ptx::flow::testing {

struct Instruction {
  std::int64_t target = -1;  ///< the instruction that it branches to, which may be one past the last
  bool falls_through = true;
  bool guarded = false;
  std::vector<std::uint32_t> reads, writes;
};
using Code = std::vector<Instruction>;

inline Instruction plain(std::vector<std::uint32_t> reads = {}, std::vector<std::uint32_t> writes = {}) {
  return {.reads = std::move(reads), .writes = std::move(writes)};
}
inline Instruction jump(std::int64_t target) { return {.target = target, .falls_through = false}; }
inline Instruction branch(std::int64_t target) { return {.target = target, .guarded = true}; }
inline Instruction end() { return {.falls_through = false}; }

/// The graph of such code, an item for each instruction.
inline Graph graph_of(const Code& code) {
  std::vector<bool> leads(code.size() + 1);
  leads[0] = leads[code.size()] = true;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].target >= 0) leads[static_cast<std::size_t>(code[i].target)] = true;
    if (code[i].target >= 0 || !code[i].falls_through) leads[i + 1] = true;
  }
  std::vector<Block> blocks;
  std::vector<std::uint32_t> block_at(code.size() + 1);
  for (std::uint32_t i = 0; i <= code.size(); ++i) {
    if (leads[i]) blocks.push_back({.begin = i, .end = i});
    if (i < code.size()) blocks.back().end = i + 1;
    block_at[i] = static_cast<std::uint32_t>(blocks.size() - 1);
  }
  std::vector<Graph::Edge> edges;
  for (std::uint32_t b = 0; b + 1 < blocks.size(); ++b) {
    const Instruction& last = code[blocks[b].end - 1];
    blocks[b].falls_through = last.falls_through;
    blocks[b].leaves = !last.falls_through && last.target < 0;
    if (last.falls_through) edges.emplace_back(b, b + 1);
    if (last.target >= 0) edges.emplace_back(b, block_at[static_cast<std::size_t>(last.target)]);
  }
  blocks.back().leaves = true;
  return {std::move(blocks), edges};
}

inline Uses uses_of(const Code& code) {
  Uses uses;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    uses.add(i, code[i].guarded);
    for (const std::uint32_t reg : code[i].reads) uses.read(reg);
    for (const std::uint32_t reg : code[i].writes) uses.write(reg);
  }
  return uses;
}

/// A graph by its edges alone; `leaving`: the blocks at which control leaves.
inline Graph graph_of_edges(std::uint32_t blocks, const std::vector<Graph::Edge>& edges,
                            const std::vector<std::uint32_t>& leaving = {}) {
  std::vector<Block> made(blocks);
  for (const std::uint32_t b : leaving) made[b].leaves = true;
  return {std::move(made), edges};
}

/// Up to `max_edges` edges between up to `max_blocks` blocks, and some that control leaves at.
inline Graph any_graph(std::mt19937& random, std::uint32_t max_blocks, std::uint32_t max_edges) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random()) % n; };
  const std::uint32_t blocks = 1 + below(max_blocks);
  std::vector<Graph::Edge> edges;
  for (std::uint32_t n = below(max_edges); n > 0; --n) edges.emplace_back(below(blocks), below(blocks));
  std::vector<std::uint32_t> leaving;
  for (std::uint32_t b = 0; b < blocks; ++b)
    if (below(4) == 0) leaving.push_back(b);
  return graph_of_edges(blocks, edges, leaving);
}

/// Code with structure at random: straight pieces, branches and loops in each other, breaks out of some.
class Structure {
 public:
  explicit Structure(std::mt19937& random, std::uint32_t registers) : random_(random), registers_(registers) {}
  Code code() {
    body(0);
    code_.push_back(end());
    return std::move(code_);
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }
  void straight() {
    Instruction inst = plain({below(registers_)}, {below(registers_)});
    inst.guarded = below(4) == 0;
    code_.push_back(inst);
  }
  void body(int depth) {
    for (std::uint32_t n = 1 + below(4); n > 0; --n) {
      const std::uint32_t kind = depth < 5 ? below(4) : 0;
      if (kind <= 1) {
        straight();
      } else if (kind == 2) {
        const std::size_t at = code_.size();
        code_.push_back(branch(0));
        body(depth + 1);
        code_[at].target = static_cast<std::int64_t>(code_.size());
      } else {
        const auto head = static_cast<std::int64_t>(code_.size());
        body(depth + 1);
        const std::size_t out = code_.size();
        code_.push_back(branch(0));
        body(depth + 1);
        code_.push_back(branch(head));
        code_[out].target = static_cast<std::int64_t>(code_.size());
      }
    }
    straight();
  }
  std::mt19937& random_;
  std::uint32_t registers_;
  Code code_;
};

}  // namespace ptx::flow::testing
