// layout (floor 1): where bytes lie. Swizzles as address functions, canonical shared-memory layouts of matrix operands and the
// descriptors that say them to tensor cores, tensor maps, strides of tensors. Pure arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ptx/base/brief.hpp"
#include "ptx/layout/descriptor.hpp"
#include "ptx/layout/shared_matrix.hpp"
#include "ptx/layout/tensor_map.hpp"
#include "ptx/layout/tensor_map_bytes.hpp"
#include "ptx/layout/tensor_memory.hpp"

namespace ptx::layout {

// ---- swizzles (manual: "Swizzling Modes") ---------------------------------------------------------------------------

/// A swizzle mode of shared memory: the width of the pattern in bytes and, behind `atom`, the size of the pieces it exchanges
/// where that is not 16 bytes. Tensor copies and matrix descriptors use the same function of the absolute address in the shared
/// window.
enum class Swizzle : std::uint8_t { none, b32, b64, b96, b128, b128_atom32, b128_atom64 };

/// address ^ ((address & mask) >> shift), which is its own inverse.
struct SwizzleFunction {
  std::uint32_t mask = 0;
  unsigned shift = 0;
  std::uint32_t repeat = 16;  ///< bytes after which the pattern starts again; a power of two

  [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t address) const { return address ^ ((address & mask) >> shift); }
};

constexpr SwizzleFunction swizzle_function(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      break;
    case Swizzle::b32:
    case Swizzle::b96:
      return {1u << 7, 3, 256};
    case Swizzle::b64:
      return {3u << 7, 3, 512};
    case Swizzle::b128:
      return {7u << 7, 3, 1024};
    case Swizzle::b128_atom32:
      return {3u << 7, 2, 512};
    case Swizzle::b128_atom64:
      return {1u << 7, 1, 256};
  }
  return {};
}

/// Where the byte that lies at `address` without a swizzle lies with it. Addresses are in bytes from the start of the shared
/// window.
constexpr std::uint64_t swizzled(Swizzle swizzle, std::uint64_t address) { return swizzle_function(swizzle)(address); }

/// The alignment in bytes that the start of a swizzled tile needs, so that its pattern begins there.
constexpr std::uint32_t swizzle_alignment(Swizzle swizzle) {
  return swizzle == Swizzle::b128_atom32 || swizzle == Swizzle::b128_atom64 ? 1024 : swizzle_function(swizzle).repeat;
}

/// The swizzle of a tensor copy whose innermost box dimension is `bytes` wide: 16 none, 32, 64, and 128 or more their own.
/// Kind bad_tile for any other width.
Expected<Swizzle> swizzle_for_width(std::int64_t bytes);

// ---- matrix operands of wgmma in shared memory (manual: "Shared Memory Matrix Layout", "Strides") --------------------------

/// The swizzle field of wgmma's matrix descriptor; values are the field's.
enum class LayoutType : std::uint8_t { interleave = 0, b128 = 1, b64 = 2, b32 = 3 };
/// Which dimension of an operand is contiguous: K, or M of a and N of b.
enum class Major : std::uint8_t { k = 0, mn = 1 };

constexpr Swizzle swizzle_of(LayoutType type) {
  constexpr Swizzle by_type[] = {Swizzle::none, Swizzle::b128, Swizzle::b64, Swizzle::b32};
  return by_type[static_cast<std::size_t>(type)];
}
/// What a tensor map calls the swizzle: "NONE", "32B", "64B", "128B".
std::string_view tma_swizzle_name(LayoutType type);

/// How a matrix operand lies in shared memory, as wgmma's descriptor wants to know it.
struct GmmaLayout {
  LayoutType layout_type = LayoutType::interleave;
  std::int64_t leading_byte_offset = 0, stride_byte_offset = 0;

  [[nodiscard]] constexpr int swizzle_code() const { return static_cast<int>(layout_type); }
  friend bool operator==(const GmmaLayout&, const GmmaLayout&) = default;
};

/// What wgmma's descriptor says of such a matrix.
constexpr WgmmaDescriptor descriptor_of(const GmmaLayout& layout) {
  return {layout.leading_byte_offset, layout.stride_byte_offset, layout.swizzle_code(), 0};
}

/// The layout of a tile of `m_or_n` x `k` elements of `element_bytes` each, by the bytes of its contiguous dimension. Kind
/// bad_tile: a size of 0 or less, a width that is none of 16, 32, 64, 128 or more, the other dimension not a multiple of 8.
Expected<GmmaLayout> pick_gmma_layout(std::int64_t element_bytes, std::int64_t m_or_n, std::int64_t k, Major major);

// ---- tensors --------------------------------------------------------------------------------------------------------

/// The strides, in elements, of a contiguous row-major tensor.
std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape);
/// True when a tensor of these strides, in elements, is contiguous in row-major order. Strides of dimensions of size 1 and those
/// of an empty tensor mean nothing. Both spans have the same length.
bool is_row_major(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);
/// The number of elements; nothing when a dimension is negative or the product does not fit.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);

}  // namespace ptx::layout
