// Matrix products of a warpgroup on Hopper (api.md 9).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ptx/layout/layout.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/place.hpp"

namespace ptx::write::idiom {

/// How many registers of each thread of a warpgroup hold a rows x columns accumulator. Kind bad_declaration when they do not
/// divide among its 128 threads.
Expected<std::int64_t> wgmma_fragment_registers(std::int64_t rows, std::int64_t columns, SourceLocation where);

/// `wgmma.fence.sync.aligned`
Expected<void> wgmma_fence(Builder& builder, const Guard& guard, SourceLocation where);
/// `wgmma.commit_group.sync.aligned`
Expected<void> wgmma_commit_group(Builder& builder, const Guard& guard, SourceLocation where);
/// `wgmma.wait_group.sync.aligned pending`
Expected<void> wgmma_wait_group(Builder& builder, const Value& pending, const Guard& guard, SourceLocation where);

/// A factor of wgmma.mma_async: a descriptor in a 64-bit register, a tile in shared memory with its layout, or (a alone)
/// registers.
struct WgmmaFactor {
  enum class Kind : std::uint8_t { descriptor, tile, registers };
  Kind kind = Kind::descriptor;
  Reg descriptor = {};
  Place tile = {};
  layout::GmmaLayout layout = {};
  Value k_offset = Value::of_integer(0);  ///< of a tile: bytes behind its place, a number or an integer register
  std::span<const Reg> registers = {};

  static WgmmaFactor of(Reg descriptor) {
    WgmmaFactor factor;
    factor.descriptor = descriptor;
    return factor;
  }
  static WgmmaFactor of(const Place& tile, const layout::GmmaLayout& layout) {
    WgmmaFactor factor;
    factor.kind = Kind::tile;
    factor.tile = tile;
    factor.layout = layout;
    return factor;
  }
  static WgmmaFactor of(std::span<const Reg> registers) {
    WgmmaFactor factor;
    factor.kind = Kind::registers;
    factor.registers = registers;
    return factor;
  }
};

struct MmaAsync {
  std::array<std::int64_t, 3> shape{};  ///< M, N, K
  Type d_type = Type::none, a_type = Type::none, b_type = Type::none;
  std::span<const Reg> d;
  WgmmaFactor a, b;
  Value scale_d = Value::of_integer(0);       ///< whether d is added: see enable_predicate
  std::int64_t scale_a = 1, scale_b = 1;      ///< 1 or -1; floating-point types alone
  std::int64_t trans_a = 0, trans_b = 0;      ///< 1: MN-major; f16 and bf16 alone, of factors in shared memory
  bool satfinite = false;                     ///< integers of 8 bits alone
  std::optional<Value> sparse_metadata = {};  ///< with it `.sp`: a is sparse, and this 32-bit register says where
  std::int64_t sparsity_selector = 0;
};

/// `wgmma.mma_async[.sp].sync.aligned.mMnNkK.<d>.<a>.<b>[.satfinite|.and.popc] {d}, a, b[, metadata, selector], p[, scale_a,
/// scale_b[, trans_a, trans_b]]`, with the operands that the form for these types has. Before it what makes the descriptors of
/// tiles (make_descriptor), a's first, and the predicate of `scale_d` (enable_predicate). Everything that can be wrong with a
/// type, a shape, a number or a count of registers is found before anything is written; kinds operand_mismatch, immediate_range.
Expected<void> wgmma_mma_async(Builder& builder, const MmaAsync& mma, const Guard& guard, SourceLocation where);

}  // namespace ptx::write::idiom
