// Where the elements of matrices lie in the tensor memory of a CTA: 128 lanes of 512 columns of 32 bits (manual: "Tensor Memory",
// "Data Path Layout Organization", "Data Movement Shape"). No GPU was asked: the manual shows its layouts in pictures, and what
// stands here is what the traits of CuTe say of the same.
#pragma once

#include <cstdint>
#include <optional>

namespace ptx::layout {

inline constexpr int tensor_lanes = 128, tensor_columns = 512;

/// An address: the lane in the upper half, the column in the lower.
struct TensorAddress {
  int lane = 0, column = 0;
  friend bool operator==(const TensorAddress&, const TensorAddress&) = default;
};
constexpr TensorAddress tensor_address(std::uint32_t bits) {
  return {static_cast<int>(bits >> 16), static_cast<int>(bits & 0xFFFF)};
}

// ---- registers of a warp: tcgen05.ld, tcgen05.st ---------------------------------------------------------------------------

enum class TensorShape : std::uint8_t { lanes32_b32, lanes16_b64, lanes16_b128, lanes16_b256, lanes16_b32x2 };

/// The lanes that a shape reaches from its address on.
constexpr int lanes_of(TensorShape shape) { return shape == TensorShape::lanes32_b32 ? 32 : 16; }
/// Registers of the shape repeated `num` times.
constexpr int registers_of(TensorShape shape, int num) {
  return shape == TensorShape::lanes16_b128 ? 2 * num : shape == TensorShape::lanes16_b256 ? 4 * num : num;
}
/// Where register `reg` of a thread lies behind the address. The second half of the last shape lies further on by a number of
/// columns that the instruction says: `split`.
constexpr TensorAddress place_of_register(TensorShape shape, int thread, int reg, int split) {
  const int row = thread >> 2;
  switch (shape) {
    case TensorShape::lanes32_b32:
      return {thread, reg};
    case TensorShape::lanes16_b64:
      return {row + 8 * (thread & 1), 2 * reg + (thread >> 1 & 1)};
    case TensorShape::lanes16_b128:
      return {row + 8 * (reg & 1), 4 * (reg >> 1) + (thread & 3)};
    case TensorShape::lanes16_b256:
      return {row + 8 * (reg >> 1 & 1), 8 * (reg >> 2) + 2 * (thread & 3) + (reg & 1)};
    case TensorShape::lanes16_b32x2:
      return {thread & 15, (thread >= 16 ? split : 0) + reg};
  }
  return {};
}

// ---- matrices d and a of tcgen05.mma ---------------------------------------------------------------------------------------

/// The manual's names: "Layout A" to "Layout G".
enum class DataPath : std::uint8_t { a, b, c, d, e, f, g };

/// The layout of a product of M rows; nothing for one that there is none of.
constexpr std::optional<DataPath> data_path(int m, int cta_group, bool weights_stationary, bool sparse) {
  if (cta_group == 2) {
    if (weights_stationary) return std::nullopt;
    if (m == 256) return DataPath::a;
    if (m == 128) return sparse ? DataPath::c : DataPath::b;
    return std::nullopt;
  }
  if (m == 128) return DataPath::d;
  if (m == 64) return weights_stationary ? DataPath::e : DataPath::f;
  if (m == 32 && weights_stationary) return DataPath::g;
  return std::nullopt;
}

/// Whether the layout takes half of the lanes, so that its address may begin at lane 16.
constexpr bool takes_half(DataPath path) { return path == DataPath::c || path == DataPath::f; }

/// CTAs of the pair, lanes and columns: where element (row, column) of an M x `width` matrix lies behind the address. Columns are
/// counted in the elements of d; of a, in words of 32 bits.
struct DataPlace {
  int cta = 0, lane = 0, column = 0;
  friend bool operator==(const DataPlace&, const DataPlace&) = default;
};
constexpr DataPlace place_of_d(DataPath path, int row, int column, int width) {
  const auto half_lanes = [](int r) { return r % 16 + 32 * (r / 16); };
  switch (path) {
    case DataPath::a:
      return {row / 128, row % 128, column};
    case DataPath::b:
      return {row / 64, row % 64 + 64 * (column / (width / 2)), column % (width / 2)};
    case DataPath::c:
      return {row / 64, half_lanes(row % 64), column};
    case DataPath::d:
      return {0, row, column};
    case DataPath::e:
      return {0, row + 64 * (column / (width / 2)), column % (width / 2)};
    case DataPath::f:
      return {0, half_lanes(row), column};
    case DataPath::g:
      return {0, row + 32 * (column / (width / 4)), column % (width / 4)};
  }
  return {};
}
/// The same of a: its rows lie in the lanes of d's; where d has several columns of a row beside each other, in different lanes, a
/// has a copy for each. `copy` says which: 0 alone, or one of copies_of_a.
constexpr int copies_of_a(DataPath path) { return path == DataPath::g ? 4 : path == DataPath::b || path == DataPath::e ? 2 : 1; }
constexpr DataPlace place_of_a(DataPath path, int row, int word, int copy) {
  DataPlace place = place_of_d(path, row, 0, 4);
  place.column = word;
  place.lane += copy * (tensor_lanes / copies_of_a(path));
  return place;
}

// ---- what goes with them ---------------------------------------------------------------------------------------------------

/// The scale of row m of a, or of column n of b: its byte is one of four of this word, and the same words stand in every quarter
/// of the lanes (manual: "Scale Factor A Layouts").
constexpr TensorAddress place_of_scales(int row) { return {row % 32, row / 32}; }
/// Those of b of layout B, where columns of d lie beside each other: so do the scales of a column, in both quarters of a half.
constexpr TensorAddress place_of_scales_in_halves(int column, int width) {
  return {column % 32 + 64 * (column / (width / 2)), column % (width / 2) / 32};
}
/// With K = 96 the scales of a row go on behind the fourth byte: in the word this many columns further, for those of `rows` rows
/// of a or columns of b.
constexpr int columns_to_further_scales(int rows) { return rows <= 128 ? 4 : 8; }

/// Four bits of metadata of a sparse a: those of its group number `group` of a row of a CTA; `element_bits`: 32, 16, 8 or 4. They
/// lie where the layout has the row, or beside it; each CTA's lanes hold 128 / M copies of .ws.
struct MetadataPlace {
  int lane = 0, column = 0, bit = 0;
  friend bool operator==(const MetadataPlace&, const MetadataPlace&) = default;
};
constexpr MetadataPlace place_of_metadata(DataPath path, int element_bits, int row, int group) {
  const int first = row / 16 * (takes_half(path) ? 32 : 16);  // of the 16 lanes
  if (element_bits >= 16) return {first + row % 8 + 8 * (group / 4), 0, 16 * (row / 8 % 2) + 4 * (group % 4)};
  return {first + row % 16, group / 8, 4 * (group % 8)};
}

// ---- copies from shared memory: tcgen05.cp ---------------------------------------------------------------------------------

enum class CopyShape : std::uint8_t { rows128_b256, rows4_b256, rows128_b128, rows64_02_13, rows64_01_23, rows32 };
constexpr int rows_of(CopyShape shape) {
  switch (shape) {
    case CopyShape::rows4_b256:
      return 4;
    case CopyShape::rows64_02_13:
    case CopyShape::rows64_01_23:
      return 64;
    case CopyShape::rows32:
      return 32;
    default:
      return 128;
  }
}
/// Columns of 32 bits.
constexpr int columns_of(CopyShape shape) { return shape == CopyShape::rows128_b256 || shape == CopyShape::rows4_b256 ? 8 : 4; }
/// Lanes that a row goes to, and which: behind the address, in multiples of 32 from one quarter of the lanes to the next.
constexpr int copies_of(CopyShape shape) {
  return shape == CopyShape::rows32 ? 4 : shape == CopyShape::rows64_02_13 || shape == CopyShape::rows64_01_23 ? 2 : 1;
}
constexpr int lane_of_row(CopyShape shape, int row, int copy) {
  switch (shape) {
    case CopyShape::rows4_b256:
      return 32 * row;
    case CopyShape::rows64_02_13:
      return row + 64 * copy;
    case CopyShape::rows64_01_23:
      return row % 32 + 64 * (row / 32) + 32 * copy;
    case CopyShape::rows32:
      return row + 32 * copy;
    default:
      return row;
  }
}

// ---- columns that are taken as zeros ---------------------------------------------------------------------------------------

/// Whether tcgen05.mma.ws takes column n of b as zeros (manual: "Zero-Column Mask Descriptor").
bool is_zero_column(std::uint64_t descriptor, int m, int n, int width);

}  // namespace ptx::layout
