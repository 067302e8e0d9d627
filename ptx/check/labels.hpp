// The labels of a body and the blocks that they are in: a branch sees the labels of its own block and of those around it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/check/report.hpp"

namespace ptx::check {

class Labels {
 public:
  /// Reads a body; reports duplicate labels and braces that do not pair.
  Labels(Report& report, const ir::Function& function);

  /// Reports a branch of block `block` to a label that it cannot see. Blocks count from 0, the body itself, in the order of their
  /// braces.
  void use(const ir::Inst& branch, ir::LabelId label, std::uint32_t block);

  /// True when the block itself defines the label before that item.
  [[nodiscard]] bool defined(ir::StringId name, std::uint32_t block, std::uint32_t before) const {
    const auto found = definitions_.find(key(block, name));
    return found != definitions_.end() && found->second.item < before;
  }

  /// True when text that the table does not know mentions the name: it may define it.
  [[nodiscard]] bool mentioned_in_raw(std::string_view name) const;

 private:
  struct Definition {
    ir::LabelId label;
    std::uint32_t item;
  };
  static std::uint64_t key(std::uint32_t block, ir::StringId name) { return std::uint64_t{block} << 32 | name.index; }
  void undefined(const ir::Inst& branch, ir::StringId name);

  Report& report_;
  const ir::Function& function_;
  std::unordered_map<std::uint64_t, Definition> definitions_;  // (block, name)
  std::vector<std::uint32_t> outer_{0};                        // by block: the block around it
  std::vector<ir::StringId> raws_;
  int undefined_ = 0;  // labels so far
};

}  // namespace ptx::check
