// What check found of each instruction's operands: which operand of its row each of them is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::check {

/// Instructions say the same few things over and over, so that each has the number of a list, in two bytes, and the lists are
/// kept once.
class Matches {
 public:
  using ListId = std::uint16_t;
  /// What has no list: an item that is no instruction, and operands that fit no row, though ptxas takes them.
  static constexpr ListId no_list = 0;

  explicit Matches(std::size_t functions) : lists_(1), of_items_(functions) {}

  /// The number of a list. Equal lists have one number.
  ListId intern(std::span<const std::uint8_t> operands);
  /// What follows is of that function.
  void enter(std::size_t function, std::size_t items) {
    current_ = &of_items_[function];
    current_->assign(items, no_list);
  }
  void set(std::uint32_t item, ListId list) { (*current_)[item] = list; }

  /// For each operand of an instruction, the index in isa::Form::operands of what it is. Empty when it has none, or no list.
  [[nodiscard]] std::span<const std::uint8_t> of(std::size_t function, std::uint32_t item) const {
    const List list = lists_[of_items_[function][item]];
    return std::span(operands_).subspan(list.first, list.size);
  }

 private:
  struct List {
    std::uint32_t first = 0, size = 0;
  };
  std::vector<std::uint8_t> operands_;
  std::vector<List> lists_;
  std::vector<Store<ListId>> of_items_;  // by function
  Store<ListId>* current_ = nullptr;
  Key key_;
  KeyMap<ListId> known_;
};

}  // namespace ptx::check
