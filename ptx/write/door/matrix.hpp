// C++ helpers for warp matrix operations, the twins of Python's `ptx.ldmatrix`, `ptx.stmatrix` and `ptx.mma`:
// `k.ldmatrix({.dst = a, .src = row, .layout = "m8n8.x4"})`. All but stmatrix_x4_trans_f32_bf16 write one instruction.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "ptx/write/door/door.hpp"

namespace ptx::write {

struct LdmatrixOperands {
  Registers dst;
  PlaceArg src;
  std::string_view layout = "x4";  ///< "x2", "m8n8.x4", "x4.trans"
  bool trans = false;
  std::string_view source_format = "";  ///< b6x16_p32, b4x16_p64: elements of 6 or 4 bits, a byte each in the registers
  Pred pred = {};
};
/// `k.ldmatrix`: `ldmatrix.sync.aligned.<shape>.<xN>[.trans].shared.b16 {dst}, [src]`; `.b8` for m16n16, and `.b8x16.<format>`
/// for m8n16 or when a source format is given. Kinds: operand_mismatch (shape, registers), and what Builder::emit says.
class Ldmatrix : public Door {
 public:
  using Door::Door;
  void operator()(const LdmatrixOperands& operands, SourceLocation at = SourceLocation::current()) const;
};

struct StmatrixOperands {
  PlaceArg smem;
  Registers regs;
  std::string_view layout = "x4";
  bool trans = false;
  std::string_view shape = "m8n8";
  Pred pred = {};
};
/// `k.stmatrix`: `stmatrix.sync.aligned.<shape>.<xN>[.trans].shared::cta.b16 [smem], {regs}`; `.b8` for m16n8.
class Stmatrix : public Door {
 public:
  using Door::Door;
  void operator()(const StmatrixOperands& operands, SourceLocation at = SourceLocation::current()) const;
};

/// A column-major tile of f32 accumulators, stored as bf16 by one warp of a row of warps.
struct AccumulatorStoreOperands {
  Registers frag;  ///< f32, a multiple of 8: the columns of 16 x 16 matrices, in their order
  PlaceArg smem_base;
  Source lane;              ///< the thread in the row of warps: of 32 lanes a warp
  std::int64_t row_stride;  ///< elements from one column of the tile to the next
  Registers tmp_bf16 = {};  ///< 8 registers of 16 bits; none: fresh ones
  Registers tmp_pack = {};  ///< 4 registers of 32 bits; none: fresh ones
  Pred pred = {};
};
/// `k.stmatrix_x4_trans_f32_bf16`: the element offset of the lane's row, `lane32 = lane & 31; warp = lane >> 5; o = warp * 16; o
/// += (lane32 & 7) * row_stride; o
/// += (lane32 >> 4) * 8 * row_stride; o += lane32 & 8`, and the address smem_base + o * 2; then per eight accumulators eight
/// `cvt.rn.bf16.f32`, four `mov.b32 pack, {low, high}` and `stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [addr + group *
/// row_stride * 32], {pack}`.
class StmatrixX4TransF32Bf16 : public Door {
 public:
  using Door::Door;
  void operator()(const AccumulatorStoreOperands& operands, SourceLocation at = SourceLocation::current()) const;
};

struct MmaOperands {
  std::array<std::int64_t, 3> shape;  ///< m, n, k
  Type dtype_d, dtype_a, dtype_b, dtype_c;
  Registers d, a, b, c;
  std::string_view a_layout = "row", b_layout = "col";
  Pred pred = {};

  /// "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
  [[nodiscard]] std::string instruction() const;
};
/// `k.mma`: `mma.sync.aligned.mMnNkK.<a layout>.<b layout>.<D>.<A>.<B>.<C> {d}, {a}, {b}, {c}`. Kind operand_mismatch: a shape
/// that these types do not have, a layout, the number of registers of a fragment.
class Mma : public Door {
 public:
  using Door::Door;
  void sync(const MmaOperands& operands, SourceLocation at = SourceLocation::current()) const;
};

}  // namespace ptx::write
