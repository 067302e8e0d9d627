// Rows that are in shared memory before they are asked for: `Recipe::ahead`.
//
//     stage 0 | x[row] | dy[row] |    stage 1 | x[row + blocks] | dy[row + blocks] |    …    with an mbarrier each
//
// One thread begins the bulk copies of a row that comes `ahead` turns later, and every thread reads its part of this row into
// registers. What is on its way to a multiprocessor no longer depends on how many of its threads wait at that moment.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ptx/kernels/row.hpp"

namespace ptx::kernels {

class RowRing {
 public:
  /// For these tensors of a kernel whose block b has rows b, b + stride, …; prepares the barriers and begins the first copies.
  RowRing(Rows& rows, const Recipe& recipe, const std::vector<std::string_view>& tensors, const Reg<Type::u32>& stride);

  /// Waits for this turn's row: all passes of each tensor. Threads behind the row's end have 0.
  std::vector<std::vector<Piece>> next();
  /// Behind a barrier of the block that follows `next`, for what it gave is in registers by then: the place of row `first` of the
  /// block is taken by the row `ahead` turns later.
  void refill(const Reg<Type::u32>& first);

 private:
  void copy(const Reg<Type::u32>& row, const Reg<Type::u32>& stage);

  Kernel& k;
  Rows& rows_;
  const Recipe& recipe_;
  std::vector<Reg<Type::b64>> tensors_;  ///< their first rows
  Reg<Type::u32> stride_, row_bytes_, place_, barriers_;
  PipelineState stages_;
  std::optional<Reg<Type::u32>> stage_;
};

/// Bytes of a row's place in the ring, of one tensor.
std::int64_t ring_row_bytes(const Recipe& recipe);

}  // namespace ptx::kernels
