// Warp-wide matrix instructions (api.md 8): fragments from and to shared memory, `mma.sync`, and the store of an f32 accumulator
// as bf16. All but the last write one instruction.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "ptx/write/builder.hpp"
#include "ptx/write/place.hpp"

namespace ptx::write::idiom {

/// Which matrices `ldmatrix` and `stmatrix` move: `m8n8.x4.trans`, in parts.
struct MatrixShape {
  /// "x4", "m8n8.x4", "x4.trans": number, and if they are there shape and `trans`.
  std::string_view layout = "x4";
  bool trans = false;
  std::string_view shape = {};  ///< where the layout names none: m8n8
};

/// `ldmatrix.sync.aligned.<shape>.<xN>[.trans].shared.b16 {dst}, [src]`; `.b8` for m16n16, and `.b8x16.<format>` for m8n16 or
/// when a source format is given. Kinds: operand_mismatch (shape, registers), and what Builder::emit says.
Expected<void> ldmatrix(Builder& builder, std::span<const Value> dst, const Place& src, const MatrixShape& shape,
                        std::string_view source_format, const Guard& guard, Where where);
/// `stmatrix.sync.aligned.<shape>.<xN>[.trans].shared::cta.b16 [dst], {regs}`; `.b8` for m16n8.
Expected<void> stmatrix(Builder& builder, const Place& dst, std::span<const Value> regs, const MatrixShape& shape,
                        const Guard& guard, Where where);

/// A column-major tile of f32 accumulators, stored as bf16 by one warp of a row of warps.
struct AccumulatorStore {
  std::span<const Reg> frag;  ///< f32, a multiple of 8: the columns of 16 x 16 matrices, in their order
  Place smem_base;
  Value lane;                          ///< the thread in the row of warps: of 32 lanes a warp
  std::int64_t row_stride = 0;         ///< elements from one column of the tile to the next
  std::span<const Reg> tmp_bf16 = {};  ///< 8 registers of 16 bits; none: fresh ones
  std::span<const Reg> tmp_pack = {};  ///< 4 registers of 32 bits; none: fresh ones
};

/// The element offset of the lane's row, `lane32 = lane & 31; warp = lane >> 5; o = warp * 16; o += (lane32 & 7) * row_stride; o
/// += (lane32 >> 4) * 8 * row_stride; o += lane32 & 8`, and the address smem_base + o * 2; then per eight accumulators eight
/// `cvt.rn.bf16.f32`, four `mov.b32 pack, {low, high}` and `stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [addr + group *
/// row_stride * 32], {pack}`.
Expected<void> stmatrix_x4_trans_f32_bf16(Builder& builder, const AccumulatorStore& store, const Guard& guard, Where where);

/// `d = a * b + c` of one warp.
struct WarpMma {
  std::array<std::int64_t, 3> shape{};  ///< m, n, k
  Type dtype_d = Type::none, dtype_a = Type::none, dtype_b = Type::none, dtype_c = Type::none;
  std::string_view a_layout = "row", b_layout = "col";
  std::span<const Value> d, a, b, c;  ///< the fragments' registers
};

/// `mma.sync.aligned.mMnNkK.<a layout>.<b layout>.<D>.<A>.<B>.<C> {d}, {a}, {b}, {c}`. Kind operand_mismatch: a shape that these
/// types do not have, a layout, the number of registers of a fragment.
Expected<void> mma_sync(Builder& builder, const WarpMma& mma, const Guard& guard, Where where);

}  // namespace ptx::write::idiom
