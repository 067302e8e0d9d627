// The tensor memory of a CTA: 128 lanes of 512 columns of 32 bits, taken and given back by columns (manual: "Tensor Memory",
// "Tensor Memory Allocation and Management Instructions").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptx/layout/layout.hpp"

namespace ptx::vgpu {

class TensorMemory {
 public:
  struct Allocation {
    std::uint32_t first = 0, columns = 0;
    std::uint32_t made_by = 0;  ///< item of the tcgen05.alloc
  };

  /// As it is when a CTA begins.
  void reset();

  /// Where the lowest free columns lie that are beside each other; nothing when there are not as many.
  [[nodiscard]] std::optional<std::uint32_t> room_for(std::uint32_t columns) const;
  /// Takes them.
  std::optional<std::uint32_t> take(std::uint32_t columns, std::uint32_t item);
  /// False: no allocation begins there with as many columns.
  bool give_back(std::uint32_t first, std::uint32_t columns);
  [[nodiscard]] const std::vector<Allocation>& allocations() const { return allocations_; }
  /// The rules that go by the order of allocations.
  [[nodiscard]] std::uint32_t last_taken() const { return last_taken_; }
  bool relinquished = false;
  /// Of an allocation by the two CTAs of a pair: what one asks for while the other has not come, and what both then got.
  std::uint32_t asked_for = 0;
  std::optional<std::uint32_t> granted;
  /// Why undefined values lie here: the first reason is kept, for the report of who loads one.
  void note_undefined(std::string why) {
    if (undefined_because_.empty()) undefined_because_ = std::move(why);
  }
  [[nodiscard]] const std::string& undefined_because() const { return undefined_because_; }

  /// Why these columns of these lanes cannot be reached; nothing when they can.
  [[nodiscard]] std::optional<std::string> unreachable(int lane, int lanes, int column, int columns) const;

  /// A cell that can be reached, and what is known of it: a mark as memory.hpp has them.
  [[nodiscard]] std::uint32_t& cell(int lane, int column) { return cells_[place(lane, column)]; }
  [[nodiscard]] std::uint8_t& mark(int lane, int column) { return marks_[place(lane, column)]; }

 private:
  static std::size_t place(int lane, int column) {
    return static_cast<std::size_t>(lane) * layout::tensor_columns + static_cast<std::size_t>(column);
  }

  std::vector<std::uint32_t> cells_;  // from the first allocation on
  std::vector<std::uint8_t> marks_;
  std::vector<Allocation> allocations_;  // by their first column
  std::uint32_t last_taken_ = 0;
  std::string undefined_because_;
};

}  // namespace ptx::vgpu
