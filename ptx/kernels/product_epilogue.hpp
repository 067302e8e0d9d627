// What becomes of a product's sums: bias, activation, residual, rounding, and the way out.
#pragma once

#include <optional>

#include "ptx/kernels/product_layout.hpp"
#include "ptx/kernels/row.hpp"

namespace ptx::kernels::product {

/// Writes the end of a tile. A thread of a warp has of each 8 columns of 16 rows, in wgmma's order, four sums:
///
///     row lane / 4       columns 2 (lane % 4), and the next     values 4 j, 4 j + 1
///     row lane / 4 + 8   the same                               values 4 j + 2, 4 j + 3
class Epilogue {
 public:
  struct Of {
    Reg<Type::u32> m, n, tid, lane;
  };
  Epilogue(Kernel& kernel, const Recipe& recipe, const Of& of);
  /// What follows is of this matrix of a batch.
  void at_matrix(const Reg<Type::u32>& matrix) { matrix_ = matrix; }
  /// What follows is of rows before this one.
  void until(const Reg<Type::u32>& row) { of_.m = row; }
  /// activation(sum) * sum of the first and the second half.
  Values gated(const Values& sums);

  /// Stores sums of a warp's 16 rows from `row`, and columns from `column`, of the tile's space.
  void store(const Values& values, const Reg<Type::u32>& row, const Reg<Type::u32>& column);
  /// Waits until all copies have read shared memory, which the block leaves; a kernel's end waits for what they write.
  void finish();

 private:
  using Pointer = Reg<Type::b64>;
  struct Pair {
    Reg<Type::f32> first, second;
  };
  /// What the scales of a warp's rows and columns are; the four sums of an n-block, times theirs.
  void begin_scales(const Reg<Type::u32>& row, const Reg<Type::u32>& column);
  Values block_of(const Values& sums, int block);
  Reg<Type::f32> number_at(const Pointer& pointer, std::int64_t bytes, const Predicate& guard);
  void store_boxes(const Values& values, const Reg<Type::u32>& row, const Reg<Type::u32>& column);
  void store_directly(const Values& values, const Reg<Type::u32>& row, const Reg<Type::u32>& column);
  void store_swapped(const Values& values, const Reg<Type::u32>& row, const Reg<Type::u32>& column);
  /// Elements from a row of C, or of R, to the next.
  const Reg<Type::u32>& pitch_of(const char* tensor) const { return *tensor == 'C' ? c_pitch_ : r_pitch_; }
  /// The address of C[row, column], or R's.
  Pointer element_of(const char* tensor, const Reg<Type::u32>& row, const Reg<Type::u32>& column, Type type);
  Reg<Type::f32> half_at(const Pointer& pointer, std::int64_t bytes, const Predicate& guard);
  /// Two elements side by side, one load where they lie together; guards of each.
  Pair pair_at(const Pointer& pointer, std::int64_t bytes, const Predicate& first, const Predicate& second);
  /// The same of the residual, of an n-block's eight columns.
  Pair residual_at(const Pointer& pointer, int block, const Predicate& first, const Predicate& second);
  Reg<Type::f32> residual_at(const Pointer& pointer, int element, const Predicate& guard);
  Reg<Type::f32> active(const Reg<Type::f32>& x);
  Reg<Type::f32> finished(const Reg<Type::f32>& sum, const std::optional<Reg<Type::f32>>& bias,
                          const std::optional<Reg<Type::f32>>& residual);
  Reg<Type::b32> packed(const Reg<Type::f32>& low, const Reg<Type::f32>& high);
  void store_one(const Pointer& pointer, std::int64_t bytes, const Reg<Type::f32>& value, const Predicate& guard);

  struct Scales {
    Reg<Type::f32> above;  ///< of the upper row, or of everything
    std::optional<Reg<Type::f32>> below;
    std::optional<Pointer> columns;
    std::optional<Reg<Type::s32>> left;
  };

  Kernel& k;
  const Recipe& r;
  Geometry g;
  Of of_;
  Reg<Type::u32> c_pitch_, r_pitch_;
  std::optional<Reg<Type::u32>> matrix_, box_;
  std::optional<Scales> scales_;
  std::optional<Reg<Type::f32>> alpha_;
  std::vector<Reg<Type::u32>> lane_rows_;  ///< of a box: where this lane's rows of each 16 columns lie
};

}  // namespace ptx::kernels::product
