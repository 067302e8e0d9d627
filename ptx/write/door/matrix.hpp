// C++ helpers for warp matrix operations, the twins of Python's `ptx.ldmatrix`, `ptx.stmatrix` and `ptx.mma`:
// `k.ldmatrix({.dst = a, .src = row, .layout = "m8n8.x4"})`. What each writes is said at the idioms: idiom/matrix.hpp.
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
/// `k.ldmatrix`
class Ldmatrix : public Door {
 public:
  using Door::Door;
  void operator()(const LdmatrixOperands& operands, Where at = Where::current()) const;
};

struct StmatrixOperands {
  PlaceArg smem;
  Registers regs;
  std::string_view layout = "x4";
  bool trans = false;
  std::string_view shape = "m8n8";
  Pred pred = {};
};
/// `k.stmatrix`
class Stmatrix : public Door {
 public:
  using Door::Door;
  void operator()(const StmatrixOperands& operands, Where at = Where::current()) const;
};

struct AccumulatorStoreOperands {
  Registers frag;  ///< f32, a multiple of 8
  PlaceArg smem_base;
  Source lane;
  std::int64_t row_stride;  ///< elements
  Registers tmp_bf16 = {}, tmp_pack = {};
  Pred pred = {};
};
/// `k.stmatrix_x4_trans_f32_bf16`
class StmatrixX4TransF32Bf16 : public Door {
 public:
  using Door::Door;
  void operator()(const AccumulatorStoreOperands& operands, Where at = Where::current()) const;
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
/// `k.mma`
class Mma : public Door {
 public:
  using Door::Door;
  void sync(const MmaOperands& operands, Where at = Where::current()) const;
};

}  // namespace ptx::write
