// What writes a product's kernel, a part of it in a file: how tiles come and go (product_kernel.cpp), how they are multiplied
// (product_multiply.cpp).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ptx/kernels/product_epilogue.hpp"
#include "ptx/kernels/product_groups.hpp"

namespace ptx::kernels::product {

inline constexpr int warpgroup_threads = 128;

class Writer {
 public:
  Writer(const Recipe& recipe, KernelSpec spec);
  Kernel write() &&;

 private:
  using U32 = Reg<Type::u32>;
  struct Corner {
    U32 row, column;  ///< of this block's part of a tile
    std::optional<U32> matrix;
  };
  struct Ring {
    BarrierArray full, empty;
    std::optional<BarrierArray> turn;  ///< of each of two warpgroups that take turns
  };
  void begin();
  /// The rows along K of a group, and its steps: at least one.
  void begin_group(const U32& group);
  /// What a stage has of other groups' rows becomes zeros. For all threads that multiply.
  void clear_behind(const U32& stage, const U32& step);
  Corner corner(const U32& tile);
  void load(const Factor& factor, const char* tensor, int at, const U32& stage, const U32& first, const U32& along_k,
            const Corner& corner, const BarrierSlot& copied);
  void load_scales(const U32& stage, const U32& step, const Corner& at, const BarrierSlot& copied);
  void produce(const Ring& ring);
  void consume(const Ring& ring);
  /// A stage's wgmmas, a group of their own, of as many columns as the sums have, from this one on.
  void products_of(const U32& stage, const std::vector<RegArray<Type::f32>>& sums, const write::Enable& first, int column = 0);
  /// Where a step's scales lie, of what this thread sums up.
  struct ScaleLines {
    std::vector<Reg<Type::b64>> pointers;
    std::vector<Reg<Type::pred>> exist;
    Values now, next;
    std::size_t of_a = 0;  ///< how many are of A; they come first
  };
  ScaleLines scale_lines(const Corner& at);
  void fetch_scales(ScaleLines& lines, const Predicate& more);
  /// The scales of A of this thread's rows (or columns, swapped): from the stage, or from the first of the lines.
  Values scales_of_a(const U32& stage, const ScaleLines& lines);
  /// What the sums of a part are multiplied by: of each 8 columns and rows 8 apart, swapped of each column.
  Values factors_of(const Values& of_a, const ScaleLines& lines, int part);
  void multiply_promoted(const Ring& ring, PipelineState& stages, const RegArray<Type::f32>& sums, const Corner& at);
  void multiply(const Ring& ring, PipelineState& stages, const std::vector<RegArray<Type::f32>>& sums);
  /// The same when the other warpgroup has begun the last products of its tile, to which this one tells as much then. Without,
  /// a stage's barrier might be two phases behind what is waited for.
  void multiply_in_turn(const Ring& ring, PipelineState& stages, const std::vector<RegArray<Type::f32>>& sums, const U32& phase);
  /// Passes over the stages of the other warpgroup's tile.
  void skip_tile(PipelineState& stages);
  void release(const BarrierSlot& empty, const Predicate& guard);
  Reg<Type::u64> descriptor(const Factor& factor, const U32& address);
  void add_up(const RegArray<Type::f32>& sums, Epilogue& epilogue, const U32& row, const U32& column);
  /// body(), for every tile of this cluster; or of this warpgroup, for every second one from its first
  void each_tile(const char* label, const std::function<void()>& body, bool in_turns = false);

  const Recipe& r;
  Geometry g;
  Kernel k;
  // Registers that all parts read; begin() fills them.
  std::optional<U32> m_, n_, k_, left_, right_, tid_, lane_, warpgroup_, rank_, rank_down_, rank_across_, tile_, clusters_,
      tiles_left_, per_matrix_, tiles_, band_area_, first_step_, end_step_, peer_, consumer_, group_begin_, group_end_;
  std::optional<Reg<Type::pred>> is_peer_;
  std::optional<Groups> groups_;
  std::optional<RegArray<Type::f32>> partial_;  ///< sums of a stage, where they are promoted
};

}  // namespace ptx::kernels::product
