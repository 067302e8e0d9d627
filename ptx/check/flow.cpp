#include "ptx/check/flow.hpp"

#include "ptx/check/dataflow.hpp"
#include "ptx/check/facts.hpp"

namespace ptx::check {
namespace {

constexpr std::uint32_t no_block = 0xFFFFFFFFu;
constexpr std::size_t most_edges = std::size_t{1} << 22;

std::uint16_t facts_of(const ir::Inst& item) { return item.kind == ir::ItemKind::inst ? facts(item.form) : std::uint16_t{0}; }

}  // namespace

std::optional<Flow> flow_of(const ir::Function& function, const std::function<bool(const ir::Inst&)>& is_event) {
  Flow flow;
  const auto& body = function.body;
  if (body.empty()) return std::nullopt;
  std::vector<std::uint32_t> block_at(body.size() + 1, no_block);
  bool cut = true;
  for (std::uint32_t i = 0; i < body.size(); ++i) {
    if (cut || body[i].kind == ir::ItemKind::label) {
      if (!flow.blocks.empty()) flow.blocks.back().end = i;
      block_at[i] = static_cast<std::uint32_t>(flow.blocks.size());
      const auto event = static_cast<std::uint32_t>(flow.events.size());
      flow.blocks.push_back({i, i, event, event, {}});
    }
    if (body[i].kind == ir::ItemKind::inst && is_event(body[i])) flow.events.push_back(i);
    flow.blocks.back().last_event = static_cast<std::uint32_t>(flow.events.size());
    cut = (facts_of(body[i]) & (leaves | branches | branch_list)) != 0;
  }
  flow.blocks.back().end = static_cast<std::uint32_t>(body.size());
  std::vector<std::uint32_t> targets;
  std::size_t edges = 0;
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    Block& block = flow.blocks[b];
    const ir::Inst& last = body[block.end - 1];
    const std::uint16_t fact = facts_of(last);
    if (b + 1 < flow.blocks.size() && ((fact & leaves) == 0 || last.guard != ir::RegId::absent)) block.next.push_back(b + 1);
    if ((fact & (branches | branch_list)) != 0) {
      branch_targets(function, last, targets);
      for (const std::uint32_t item : targets)
        if (block_at[item] != no_block) block.next.push_back(block_at[item]);
    }
    edges += block.next.size();
    if (edges > most_edges) return std::nullopt;
  }
  return flow;
}

}  // namespace ptx::check
