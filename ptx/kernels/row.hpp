// What the kernels that go row by row share: which thread has which elements, wide loads and stores, sums over a row.
//
//   threads > 32: a block has a row, or (cluster > 1) several blocks have one     threads <= 32: a block has `rows` rows
//     row | b0.t0 | b0.t1 | … | b1.t0 | … | b0.t0 | …                               warp 0 | row 0 | row 1 | …
//           pass 0                          pass 1
//
// All elements of a row that a thread has stay in its registers, 16-bit ones as they came, two a word. Arithmetic is f32.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/kernels/recipe.hpp"

namespace ptx::kernels {

using Predicate = std::optional<Reg<Type::pred>>;  // nothing: every thread
using Values = std::vector<Reg<Type::f32>>;

/// One load of a thread: f32 elements, or 16-bit ones as words of two, or a single 16-bit one.
struct Piece {
  Values floats;
  std::vector<Reg<Type::b32>> words;
  std::optional<Reg<Type::b16>> half;
};

inline Inst guarded(Inst instruction, const Predicate& guard) {
  return guard ? std::move(instruction).on(*guard) : std::move(instruction);
}

/// A kernel's spec for a recipe: tensors, scalars, launch.
KernelSpec spec_of(const Recipe& recipe);

/// Writes a kernel's rows.
class Rows {
 public:
  /// Loads M and N; finds this thread's row and place. With clusters it arrives at the cluster's barrier.
  Rows(Kernel& k, const Recipe& recipe);
  /// For what goes element by element: a block has `threads * passes` vectors of a row, or of all of a matrix without gaps.
  struct Flat {};
  Rows(Kernel& k, const Recipe& recipe, Flat flat);

  /// The address of this thread's first element in its row of a tensor; `stride` in elements between rows.
  Reg<Type::b64> row_of(std::string_view tensor, const Reg<Type::u32>& stride, int bytes);
  Reg<Type::b64> row_of(std::string_view tensor);
  /// Two halves of a packed tensor [M, 2, N], or two tensors.
  std::pair<Reg<Type::b64>, Reg<Type::b64>> pair_of(std::string_view packed, std::string_view first, std::string_view second);
  /// The same of a tensor of one row, such as the weight.
  Reg<Type::b64> vector_of(std::string_view tensor);
  /// The row's element of a tensor of one number a row.
  Reg<Type::b64> number_of(std::string_view tensor, int bytes);

  /// The element at an address, as f32; for threads without it NaN.
  Reg<Type::f32> number_at(const Reg<Type::b64>& address, const Reg<Type::pred>& guard);
  /// The row of sums that this thread's group leaves behind, [P, N] f32; and pass i of it.
  Reg<Type::b64> partial_of(std::string_view tensor);
  void store_floats(const Reg<Type::b64>& pointer, int i, const Values& values);
  /// Adds to what lies there.
  void add_floats(const Reg<Type::b64>& pointer, int i, const Values& values);

  [[nodiscard]] int passes() const { return recipe_.passes; }
  /// Pass i of the row at `pointer`; threads behind the row's end have `outside` (0 or -infinity).
  Piece load(const Reg<Type::b64>& pointer, int i, double outside = 0.0);
  /// The same of what other rows read too.
  Piece load_shared(const Reg<Type::b64>& pointer, int i) { return load_with(pointer, i, 0.0, {}); }
  std::vector<Piece> load_all_shared(const Reg<Type::b64>& pointer);
  /// The same once more, of a matrix that was loaded before, and is likely to be in the L2 cache: by another instruction, so that
  /// ptxas does not keep what it has.
  Piece load_again(const Reg<Type::b64>& pointer, int i);
  /// Pass i of the row that lies in shared memory `offset` bytes behind `place`, the address of this thread's first element.
  Piece load_staged(const Reg<Type::u32>& place, std::int64_t offset, int i);
  /// All passes.
  std::vector<Piece> load_all(const Reg<Type::b64>& pointer, double outside = 0.0);
  /// In front of stores in branches: what guards them is computed once, here.
  void before_branches() { both(recipe_.passes - 1); }
  void store(const Reg<Type::b64>& pointer, int i, const Values& values);
  void store(const Reg<Type::b64>& pointer, int i, const Piece& piece);
  /// As e4m3; numbers beyond 448 become that.
  void store_e4m3(const Reg<Type::b64>& pointer, int i, const Values& values);
  /// As f32, in registers that may not be written.
  Values floats(const Piece& piece);
  /// Rounded to the element type.
  Piece rounded(const Values& values);

  /// From here on rows are reduced in a loop, `turn` being 0 and 1 in turns: what a reduction leaves in shared memory stays until
  /// the one after the next, so a barrier each will do.
  void take_turns(const Reg<Type::u32>& turn) { turn_ = turn; }
  /// The group's row of a block whose first row this is.
  void begin_at(const Reg<Type::u32>& first);
  /// Of threads whose row there is; nothing where each has one.
  [[nodiscard]] const Predicate& exists() const { return exists_; }

  /// Reduces numbers over the row, one operation each; every thread gets the same bits.
  using Combine = std::function<Values(const Values& values, int lanes)>;
  Values reduce(Values values, const Combine& combine);
  Reg<Type::f32> sum(const Reg<Type::f32>& value);
  /// Several sums at once.
  Values sums(const Values& values);
  /// The mean of the row, of which each thread has a part of the sum, and sums about it. `about(mean)` is what this thread has of
  /// the squares of all x - mean, and where there are three, of g (x - mean), and of g. With one barrier, not two: a warp's sums
  /// are about its own mean, and are moved to the mean of all when they are put together (Chan, Golub and LeVeque, 1979).
  Values moments(const Reg<Type::f32>& total, const std::function<Values(const Reg<Type::f32>& mean)>& about);

  /// 1 for elements of pass i that the row has, where that is not each of them: of the last pass.
  [[nodiscard]] const Predicate& inside(int i) const {
    if (!each_.empty()) return each_[static_cast<std::size_t>(i)];
    return i + 1 == recipe_.passes ? last_ : every_;
  }
  /// Waits until all blocks of the cluster have begun, once: in front of a loop that reduces.
  void await_cluster();
  /// Of the thread that speaks for the row.
  Reg<Type::pred> is_first();

  Kernel& k;
  Reg<Type::u32> rows, columns, row, thread;  ///< M, N; this row (M - 1 at most), this thread's number in the row
  Reg<Type::u32> first_row;                   ///< of this block
  Reg<Type::f32> inverse;                     ///< 1 / N

 private:
  Rows(const Recipe& recipe, Kernel& kernel);    ///< what both have: M, N, the registers of a thread's place
  using Policy = std::optional<Reg<Type::b64>>;  // of the L2 cache
  Piece load_with(const Reg<Type::b64>& pointer, int i, double outside, const Policy& policy);
  template <class Load>
  Piece load_by(const Load& ld, const Reg<Type::b64>& pointer, int i, double outside, const Policy& policy);
  /// Registers for pass i, which hold `outside` where a thread may have nothing to load.
  Piece piece_of(int i, double outside);
  /// Loads them; `more`: the L2 policy, if any.
  template <class Load, Type Base, class... More>
  void fill(const Load& ld, Piece& piece, const Addr<Base>& address, const Predicate& guard, const More&... more);
  Values across_warps(const Values& values, const Combine& combine);
  Values across_blocks(const Values& values, const Combine& combine);
  /// How many elements of the row `threads` threads have, from thread `first` of the row on.
  Reg<Type::f32> elements_of(const Reg<Type::u32>& first, int threads);
  [[nodiscard]] std::int64_t step() const;  ///< bytes between passes
  Predicate both(int i);                    ///< the row is there, and has the elements

  const Recipe& recipe_;
  Predicate last_, every_, exists_, both_;
  std::vector<Predicate> each_;                    // of flat ones
  std::optional<Reg<Type::u32>> turn_, in_block_;  // in_block_: the number of the group in its block
  Policy hold_;
  bool cluster_waited_ = false;
};

/// Stores pass after pass of `numbers` as e4m3: a row's largest number as 448, and what that was divided by, or all numbers by
/// the scale that is given.
void store_scaled(Rows& rows, const Recipe& recipe, const std::function<Values(int)>& numbers);

/// exp2(x * log2(e)) with one rounding less than exp: `.ftz`, results below 2^-126 are 0.
Reg<Type::f32> exponential(Kernel& k, const Reg<Type::f32>& x);
/// (x, y) of each pair are a maximum and a sum of exponentials relative to it.
Values combine_softmax(Kernel& k, const Values& values, int lanes);

Expected<Kernel> write_norm(const Recipe& recipe);
Expected<Kernel> write_softmax(const Recipe& recipe);
Expected<Kernel> write_gated(const Recipe& recipe);
Expected<Kernel> write_rescale(const Recipe& recipe);
Expected<Kernel> write_softmax_backward(const Recipe& recipe);
Expected<Kernel> write_norm_backward(const Recipe& recipe);
Expected<Kernel> write_cross_entropy(const Recipe& recipe);
Expected<Kernel> write_column_sums(const Recipe& recipe);

inline int bytes_of(Type type) { return isa::bits(type) / 8; }

}  // namespace ptx::kernels
