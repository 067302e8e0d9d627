// The ways through a body: its blocks, where each goes on, and the items in it that a pass asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ptx/ir/ir.hpp"

namespace ptx::check {

/// A stretch of items without a way in or out but at its ends.
struct Block {
  std::uint32_t begin = 0, end = 0;               ///< items
  std::uint32_t first_event = 0, last_event = 0;  ///< [first, last) of the events
  std::vector<std::uint32_t> next;
};

struct Flow {
  std::vector<Block> blocks;          ///< the first is where the function begins
  std::vector<std::uint32_t> events;  ///< the instructions that the pass asked for, ascending
};

/// Nothing when the body is empty, or has more ways than anybody would follow.
std::optional<Flow> flow_of(const ir::Function& function, const std::function<bool(const ir::Inst&)>& is_event);

}  // namespace ptx::check
