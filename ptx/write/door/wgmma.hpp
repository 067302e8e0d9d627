// C++ helpers for warpgroup matrix operations: `k.wgmma`, the twin of Python's `ptx.wgmma` (idiom/wgmma.hpp says which
// instructions).
#pragma once

#include <array>
#include <string>

#include "ptx/write/door/door.hpp"

namespace ptx::write {

/// What decides whether an accumulator is added: true, false, a predicate, `!p`, or a 32-bit register that is 0 for false.
struct Enable {
  Value value;
  // NOLINTBEGIN(google-explicit-constructor)
  Enable(bool is = false) : value(Value::of_integer(is ? 1 : 0)) {}
  template <Type T>
    requires(T == Type::pred || isa::bits(T) == 32)
  Enable(const ptx::Reg<T>& reg) : value(Value::of(reg.untyped())) {}
  Enable(const NegatedPred& p) : value(Value::of(p.reg.untyped())) { value.negated = true; }
  // NOLINTEND(google-explicit-constructor)
};

/// A number of bytes: an integer, or an integer register.
using Bytes = RightSide<0, 64>;

/// A factor of a product: a descriptor in a 64-bit register, a tile of `k.smem.wgmma_tile`, or for a four registers.
struct Factor {
  std::optional<Reg> descriptor;
  std::optional<SharedHandle> tile;
  Registers registers;
  Factor() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  template <Type T>
    requires(is_word(T) && isa::bits(T) == 64)
  Factor(const ptx::Reg<T>& reg) : descriptor(reg.untyped()) {}
  Factor(const SharedHandle& handle) : tile(handle) {}
  template <Type T, std::size_t N>
  Factor(const RegVec<T, N>& vec) : registers(vec) {}
  template <Type T>
  Factor(const ptx::RegArray<T>& array) : registers(array) {}
  // NOLINTEND(google-explicit-constructor)
};

struct MmaAsync {
  std::array<std::int64_t, 3> shape{};  ///< M, N, K
  Type dtype_d = Type::none, dtype_a = Type::none, dtype_b = Type::none;
  Registers d = {};
  Factor a = {}, b = {};
  Enable scale_d = false;
  std::int64_t scale_a = 1, scale_b = 1, trans_a = 0, trans_b = 0;
  Bytes a_k_offset = 0, b_k_offset = 0;
  bool satfinite = false;
  std::optional<ptx::Reg<Type::b32>> sparse_metadata = {};
  std::int64_t sparsity_selector = 0;
  Pred pred = {};

  /// "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"
  [[nodiscard]] std::string instruction() const;
};

struct DescriptorFields {
  std::int64_t leading_byte_offset = 0, stride_byte_offset = 0, swizzle = 0, base_offset = 0;
  Bytes addr_byte_offset = 0;
};
struct TileFields {
  Type dtype = Type::none;
  std::array<std::int64_t, 2> shape{};  ///< M or N, K; K, N for an MN-major tile
  layout::Major major = layout::Major::k;
};

class Wgmma : public Door {
 public:
  using Door::Door;

  static constexpr int SWIZZLE_NONE = 0, SWIZZLE_128B = 1, SWIZZLE_64B = 2, SWIZZLE_32B = 3;
  static constexpr std::uint64_t MASKED_DESC_B128 = 0x4000004000010000;
  struct MaskedDescriptor {
    Bytes byte_offset = 0;
    std::int64_t mask = 0x3FF80;
    std::uint64_t const_bits = MASKED_DESC_B128;
  };

  void fence(const Pred& pred = {}, SourceLocation at = SourceLocation::current());
  void commit_group(const Pred& pred = {}, SourceLocation at = SourceLocation::current());
  void wait_group(const Source& n, const Pred& pred = {});
  void mma_async(const MmaAsync& mma, SourceLocation at = SourceLocation::current());
  ptx::Reg<Type::u64> make_descriptor(const PlaceArg& base, const DescriptorFields& fields);
  ptx::Reg<Type::u64> auto_descriptor(const PlaceArg& base, const TileFields& tile);
  ptx::Reg<Type::u64> masked_descriptor(const PlaceArg& addr) { return masked_descriptor(addr, {}); }
  ptx::Reg<Type::u64> masked_descriptor(const PlaceArg& addr, const MaskedDescriptor& descriptor);
};

}  // namespace ptx::write
