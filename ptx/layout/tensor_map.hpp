// A tensor map: what a tensor copy (TMA) knows of a tensor in global memory. Here it is a plain description with its rules; the
// driver encodes it, with the tensor's address, into the 128 opaque bytes that a kernel's copies name (ptx/cuda/tensor_map.hpp).
// The rules are cuda.h's of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. The driver breaks off with "invalid argument"; we
// say which rule it was.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/brief.hpp"

namespace ptx::layout {

enum class Swizzle : std::uint8_t;

/// The element types of tensor maps; values are the driver's (CUtensorMapDataType). 8-bit floats are copied as u8. The last three
/// are Blackwell's ("Sub-byte Types"): elements of 4 or 6 bits, packed in global memory. In shared memory 16 of them are 8 bytes
/// (b4x16), or 16 bytes of which the last 8 or 4 are padding. A store takes b6x16_p32 for b6p2x16: an element a byte.
enum class TensorMapType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  b4x16,      ///< 16U4_ALIGN8B
  b4x16_p64,  ///< 16U4_ALIGN16B
  b6x16_p32,  ///< 16U6_ALIGN16B
};
std::string_view name(TensorMapType type);  ///< "bf16"
bool is_packed(TensorMapType type);         ///< 4 or 6 bits
int element_bits(TensorMapType type);       ///< in global memory
/// What so many elements are in global memory, whole bytes.
std::uint64_t bytes_of(TensorMapType type, std::uint64_t elements);
/// What they are in shared memory, where each 16 of a packed type may be padded.
std::uint64_t shared_bytes_of(TensorMapType type, std::uint64_t elements);
int element_bytes(TensorMapType type);  ///< of types that are not packed

/// How much a copy brings into the L2 cache at once; values are the driver's.
enum class L2Promotion : std::uint8_t { none, b64, b128, b256 };

/// How channels lie in global memory: in slices of so many bytes (NC/8HWC8, NC/16HWC16), whatever the element type; values are
/// the driver's. A slice is what coordinate 0 counts: the dimensions are one to three of space from the fastest, whose pixels are
/// a slice each, then slices of channels, then images. A copy moves one of the slices of channels, whatever the box says of them
/// (docs/facts.md, "Asynchronous copies").
enum class Interleave : std::uint8_t { none, b16, b32 };

/// What a copy reads outside the tensor; values are the driver's. `nan` is NaN of a kind that wgmma's multiply-adds take for 0.
enum class TensorMapFill : std::uint8_t { zero, nan };

/// The second way of copying, for convolutions (`.im2col`): the dimensions are channels, then one to three of space, then images.
/// A copy walks through the pixels of a box in space, from image to image, and takes some channels of each.
struct Im2col {
  /// Of the box, for each dimension of space from the fastest: how far its first pixel lies from the tensor's first one, and its
  /// last from the tensor's last.
  std::array<std::int32_t, 3> lower_corner{}, upper_corner{};
  std::uint32_t channels_per_pixel = 0;  ///< 1 to 256
  std::uint32_t pixels_per_column = 0;   ///< of one copy, 1 to 1024
  friend bool operator==(const Im2col&, const Im2col&) = default;
};

/// Dimensions count from the fastest, as in the instructions' coordinates: 0 is the innermost.
struct TensorMap {
  static constexpr std::size_t max_rank = 5;

  TensorMapType type = TensorMapType::u8;
  std::uint8_t rank = 0;
  Swizzle swizzle{};
  L2Promotion l2_promotion = L2Promotion::b128;
  std::array<std::uint64_t, max_rank> sizes{};        ///< elements; those from `rank` on are 0
  std::array<std::uint64_t, max_rank - 1> strides{};  ///< bytes; strides[i] is of dimension i + 1
  std::array<std::uint32_t, max_rank> box{};          ///< elements that one copy moves; all 0 of an im2col map
  Interleave interleave = Interleave::none;
  TensorMapFill fill = TensorMapFill::zero;
  std::array<std::uint32_t, max_rank> element_strides{1, 1, 1, 1, 1};  ///< every n-th element of a dimension is copied, n 1 to 8
  std::optional<Im2col> im2col;                                        ///< nothing: tiled

  /// What one copy moves, and so what its mbarrier must expect: the part of a box outside the tensor counts, too, the padding of
  /// packed types does not.
  [[nodiscard]] std::uint64_t box_bytes() const;
  /// What it takes of shared memory, where packed types may be padded.
  [[nodiscard]] std::uint64_t shared_box_bytes() const;
  /// The same as the driver counts it, who takes a slice of interleaved channels for an element, and all of them as copied.
  [[nodiscard]] std::uint64_t nominal_bytes() const;
  /// Every rule that does not need the address. Kind bad_tile.
  [[nodiscard]] Expected<void> check() const;

  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

/// The tensor's address is a multiple of this many bytes: 16, or 32 with slices of 32 and of types that are padded.
std::uint64_t address_alignment(const TensorMap& map);
/// Bytes of a slice of interleaved channels.
std::uint64_t slice_bytes(Interleave interleave);

/// "f32 (256, 64) in boxes of (128, 32), swizzle 128B": sizes as the author writes them, outermost first.
std::string to_string(const TensorMap& map);
/// What a tensor map calls a swizzle: "NONE", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_64B"; "" for one that no map has.
std::string_view tensor_map_swizzle_name(Swizzle swizzle);

// Shapes and boxes below are row-major, outermost dimension first. The maps made are checked: kind bad_tile.

/// The map of a row-major tensor of 1 to 5 dimensions: dimension i of the map is dimension rank - 1 - i of the tensor.
Expected<TensorMap> tiled_tensor_map(TensorMapType type, std::span<const std::int64_t> shape, std::span<const std::int64_t> box,
                                     Swizzle swizzle);

/// The columns of one slab of `slab_tensor_map`.
inline constexpr std::int64_t slab_columns = 64;
/// A row-major matrix seen as slabs of 64 columns, so that one copy moves a box wider than a swizzle: dimensions
/// (64, rows, columns / 64), box (64, box_rows, box_columns / 64). With `padding`, the box's innermost size is 72: shared memory
/// then has rows of 72 elements, which a store reads without bank conflicts.
Expected<TensorMap> slab_tensor_map(TensorMapType type, std::int64_t rows, std::int64_t columns, std::int64_t box_rows,
                                    std::int64_t box_columns, Swizzle swizzle, bool padding = false);

/// True when one box can hold all of a tensor.
bool fits_one_box(TensorMapType type, std::span<const std::int64_t> shape, Swizzle swizzle);
/// The box of a matrix whose author gives none: 128 rows of as many columns as the swizzle is wide; without a swizzle all
/// columns, at most 256, and 64 rows of so many elements of 8 bytes.
std::array<std::int64_t, 2> default_matrix_box(TensorMapType type, std::int64_t columns, Swizzle swizzle);

}  // namespace ptx::layout
