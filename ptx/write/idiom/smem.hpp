// Shared memory: allocating it, reading and writing it (api.md 5.2, 5.3).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ptx/layout/layout.hpp"
#include "ptx/write/place.hpp"

namespace ptx::write::idiom {

/// Shared memory for elements of that shape; `request` says the alignment and name. Kinds: bad_declaration, and those of
/// Builder::allocate_shared.
Expected<SharedRegion> allocate_elements(Builder& builder, Type type, std::span<const std::int64_t> shape, SharedRequest request,
                                         SourceLocation where);
/// `count` mbarriers. The same kinds.
Expected<SharedRegion> allocate_mbarriers(Builder& builder, std::int64_t count, std::string_view name, SourceLocation where);
inline constexpr std::int64_t mbarrier_bytes = 8;

/// The layout of a tile that wgmma reads: (M or N, K) when K is contiguous, else (K, N). Kind bad_tile.
Expected<layout::GmmaLayout> tile_layout(Type type, std::span<const std::int64_t> shape, layout::Major major,
                                         SourceLocation where);
/// What an allocation calls the swizzle of a layout: "32B", "64B", "128B", or nothing.
std::string_view swizzle_name(const layout::GmmaLayout& layout);
/// Bytes of one element of the first dimension: a stage.
std::int64_t stage_bytes(Type type, std::span<const std::int64_t> shape);

/// What `ld` and `st` call a type: 16-bit floats and packed formats move as bits, "b16"; else its own name.
std::string memory_word(Type type);

/// `mov.u32 r, name;` into a fresh .u32 register: the address of a shared variable; without a name, of the kernel's own `.extern
/// .shared` array, or of `smem` when it has none.
Expected<Reg> shared_base(Builder& builder, std::string_view name, SourceLocation where);
/// `ld.shared.<type> r, [address];` into a fresh register.
Expected<Reg> shared_load(Builder& builder, Type type, const Value& address, SourceLocation where);
/// `st.shared.<type> [address], value;`
Expected<void> shared_store(Builder& builder, Type type, const Value& address, Reg value, SourceLocation where);

/// An element of a two-dimensional allocation, row-major: each index a number or a 32-bit register (special registers are copied
/// first, by `mov`).
struct Element {
  SharedRegion region;
  Type type = Type::none;
  std::int64_t rows = 0, columns = 0;
  Value row, column;
};
/// The element that the indices name in an allocation of any number of dimensions, all but the last being rows of one matrix: a
/// row that is no number takes `mul.lo.u32` and `add.u32` for each dimension that takes part. Kind bad_operator.
Expected<Element> element_at(Builder& builder, const SharedRegion& region, Type type, std::span<const std::int64_t> shape,
                             std::span<const Value> indices, SourceLocation where);
/// `mov.u32 i, number;`, or `add.u32 i, column, row*columns;` (`mov.u32` for row 0), or for a row in a register `mul.lo.u32 t,
/// row, columns; add.u32 i, t, column;`, then `shl.b32 b, i, log2(size);` (not for bytes) `mov.b32 s, symbol; add.u32 s, s, b;`,
/// in a dynamic array with `add.s32 s, s, offset;` before the last, and `ld.shared.<type> r, [s];`. Kinds: bad_operator.
Expected<Reg> load_element(Builder& builder, const Element& element, SourceLocation where);
/// The same address and `st.shared.<type> [s], value;`
Expected<void> store_element(Builder& builder, const Element& element, Reg value, SourceLocation where);

/// The swizzle of that name: "32B", "64B", "128B", "NONE". Kind bad_tile.
Expected<layout::Swizzle> swizzle_named(std::string_view name, SourceLocation where);
/// The byte offset where `offset` lies in a swizzled tile: `and.b32 t, offset, mask; shr.u32 t, t, 3; xor.b32 d, offset, t;` into
/// a fresh .u32 register, with 128, 384 or 896 for 32, 64 or 128 bytes; `offset` itself without a swizzle.
Expected<Reg> apply_swizzle(Builder& builder, Reg offset, layout::Swizzle swizzle, SourceLocation where);

}  // namespace ptx::write::idiom
