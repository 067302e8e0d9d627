// Boxes of tensors, row by row: a row is what lies together along the innermost dimension.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "ptx/vgpu/async/engine.hpp"
#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu::async {
namespace {

using layout::Swizzle;
using layout::TensorMap;
using layout::TensorMapType;

constexpr std::uint64_t piece = 16;              // bytes that every swizzle keeps together
constexpr std::uint32_t shared_alignment = 128;  // of a box in shared memory

/// Coordinates of a row's first element.
using Row = std::array<std::int64_t, TensorMap::max_rank>;

std::vector<Row> rows_of_tile(const TensorCopy& copy) {
  const TensorMap& map = copy.tensor.map;
  Row start{};
  std::copy_n(copy.coordinates.begin(), map.rank, start.begin());
  std::vector<Row> rows{start};
  for (std::size_t i = 1; i < map.rank; ++i) {  // the innermost of them varies fastest
    const std::int64_t step = map.element_strides[i], count = (map.box[i] + step - 1) / step;
    std::vector<Row> next;
    next.reserve(rows.size() * static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k)
      for (Row row : rows) {
        row[i] += k * step;
        next.push_back(row);
      }
    rows = std::move(next);
  }
  return rows;
}

std::vector<Row> four_rows(const TensorCopy& copy) {
  std::vector<Row> rows;
  for (std::size_t i = 1; i <= 4; ++i) rows.push_back({copy.coordinates[0], copy.coordinates[i], 0, 0, 0});
  return rows;
}

// The pixels under a filter: from the instruction's position on through a box in space, then through the next image's. Along w
// the box has one pixel in the other directions.
std::vector<Row> pixels(const TensorCopy& copy) {
  constexpr std::uint32_t many = 128;
  const TensorMap& map = copy.tensor.map;
  const layout::Im2col& columns = *map.im2col;
  const bool along_w = copy.mode != BoxMode::im2col;
  const std::size_t space = along_w ? 1u : map.rank - 2u, images = map.rank - 1u;
  const std::uint32_t count = copy.mode == BoxMode::im2col_w_128 ? many : columns.pixels_per_column;
  Row at{};
  std::copy_n(copy.coordinates.begin(), map.rank, at.begin());
  std::vector<Row> rows;
  rows.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Row pixel = at;
    for (std::size_t d = 0; d < space; ++d) pixel[d + 1] += copy.offsets[along_w ? 1 : d];
    rows.push_back(pixel);
    std::size_t d = 0;
    for (; d < space; ++d) {
      at[d + 1] += map.element_strides[d + 1];
      if (at[d + 1] <= static_cast<std::int64_t>(map.sizes[d + 1]) - 1 + columns.upper_corner[d]) break;
      at[d + 1] = columns.lower_corner[d];
    }
    if (d == space) ++at[images];
  }
  return rows;
}

// Bytes from one row of a box to the next in shared memory: a swizzle's pattern is as wide as it is, whatever the box.
std::uint64_t row_pitch(const TensorMap& map, std::uint64_t row_bytes) {
  if (map.interleave != layout::Interleave::none) return row_bytes;
  const std::uint64_t width = map.swizzle == Swizzle::none  ? 0
                              : map.swizzle == Swizzle::b32 ? 32
                              : map.swizzle == Swizzle::b64 ? 64
                                                            : 128;
  return std::max(row_bytes, width);
}

// What lies outside the tensor: zeros, or the NaN that wgmma takes for 0.
void fill_outside(const TensorMap& map, std::vector<std::byte>& row) {
  constexpr std::array nan{std::byte{0xF7}, std::byte{0x7F}};
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = map.fill == layout::TensorMapFill::nan ? nan[i % 2] : std::byte{0};
}

// f32 with 10 bits of mantissa, to nearest even.
std::uint32_t round_to_tf32(std::uint32_t bits, bool flushes) {
  constexpr std::uint32_t infinity = 0x7F800000, nan = 0x7FFFE000, cut = 13;
  const std::uint32_t magnitude = bits & 0x7FFFFFFF, sign = bits & 0x80000000;
  if (magnitude > infinity) return nan;
  if (flushes && magnitude < 0x00800000) return sign;
  const std::uint32_t half_less = (1u << (cut - 1)) - 1 + (magnitude >> cut & 1);
  return sign | ((magnitude + half_less) >> cut << cut);
}
void convert_loaded(TensorMapType type, std::span<std::byte> elements) {
  if (type != TensorMapType::tf32 && type != TensorMapType::tf32_ftz) return;
  for (std::size_t i = 0; i + 4 <= elements.size(); i += 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &elements[i], sizeof bits);
    bits = round_to_tf32(bits, type == TensorMapType::tf32_ftz);
    std::memcpy(&elements[i], &bits, sizeof bits);
  }
}

Type element_type(TensorMapType type) {
  switch (type) {
    case TensorMapType::u32:
      return Type::u32;
    case TensorMapType::s32:
      return Type::s32;
    case TensorMapType::u64:
      return Type::u64;
    case TensorMapType::s64:
      return Type::s64;
    case TensorMapType::f16:
      return Type::f16;
    case TensorMapType::bf16:
      return Type::bf16;
    case TensorMapType::f32:
    case TensorMapType::f32_ftz:
      return Type::f32;
    case TensorMapType::f64:
      return Type::f64;
    default:
      return Type::none;
  }
}

/// One tensor copy of a lane, under way.
class Walk {
 public:
  Walk(Warp& warp, const Step& step, int lane, const TensorCopy& copy)
      : warp_(warp), step_(step), lane_(lane), copy_(copy), map_(copy.tensor.map) {
    element_bytes_ = static_cast<std::uint64_t>(layout::element_bytes(map_.type));
    columns_ = map_.im2col ? map_.im2col->channels_per_pixel : map_.box[0];
    row_.resize(columns_ * element_bytes_);
    marks_.resize(row_.size());
    if (copy.reduction) reduction_ = Reduction{*copy.reduction, element_type(map_.type), map_.type == TensorMapType::f32_ftz};
  }

  std::optional<std::uint64_t> run() {
    if (!allowed()) return std::nullopt;
    const std::vector<Row> rows = copy_.mode == BoxMode::tile   ? rows_of_tile(copy_)
                                  : copy_.mode == BoxMode::rows ? four_rows(copy_)
                                                                : pixels(copy_);
    const std::uint64_t pitch = row_pitch(map_, row_.size());
    std::uint64_t at = copy_.shared.address;
    if (pitch == row_.size() && !find_box(rows.size() * pitch)) return std::nullopt;
    for (const Row& row : rows) {
      if (!(copy_.loads ? load(row, at) : store(row, at))) return std::nullopt;
      at += pitch;
    }
    return rows.size() * row_.size();
  }

 private:
  template <class What>  // a Kind or a Rule
  bool fail(What what, std::string message) {
    warp_.fail(step_, lane_, what, std::move(message), {cat("tensor map: ", layout::to_string(map_))});
    return false;
  }

  // What a GPU answers with an illegal instruction.
  bool allowed() {
    if (map_.interleave != layout::Interleave::none)
      return fail(Kind::not_executed, "copies a tensor with interleaved channels, which the executor does not run");
    const bool of_pixels = copy_.mode != BoxMode::tile && copy_.mode != BoxMode::rows;
    if (map_.im2col.has_value() != of_pixels)
      return fail(Rule::T_01, map_.im2col ? "copies a box, and its tensor map is for .im2col"
                                          : "copies pixels, and its tensor map is for tiles");
    if (of_pixels && copy_.mode != BoxMode::im2col && copy_.offsets[0] != 0)
      return fail(Kind::not_executed, cat("copies a halo of ", copy_.offsets[0],
                                          " pixels, which the manual shows in pictures alone; what is executed is a halo of 0"));
    if (copy_.mode == BoxMode::rows && (map_.rank != 2 || map_.box[1] != 1))
      return fail(Rule::T_01, "copies four rows, which takes a tensor map of a matrix in boxes of one row");
    if (!of_pixels && copy_.coordinates[0] * static_cast<std::int64_t>(element_bytes_) % 16 != 0)
      return fail(Rule::T_03, cat("begins at column ", copy_.coordinates[0], ", byte ",
                                  copy_.coordinates[0] * static_cast<std::int64_t>(element_bytes_),
                                  " of a row, which is not a multiple of 16"));
    if (!copy_.loads) {
      const auto negative =
          std::find_if(copy_.coordinates.begin(), copy_.coordinates.end(), [](std::int32_t c) { return c < 0; });
      if (negative != copy_.coordinates.end())
        return fail(Rule::T_02, cat("stores at coordinate ", *negative, "; only loads begin before a tensor"));
    }
    if (reduction_ && !exists(*reduction_))
      return fail(Kind::not_executed,
                  cat("reduces elements of type ", layout::name(map_.type), ", for which there is no such operation"));
    if (copy_.shared.address % shared_alignment != 0)
      return fail(Rule::T_03, cat(copy_.loads ? "copies to" : "copies from", " shared address 0x", hex(copy_.shared.address),
                                  ", which is not a multiple of ", shared_alignment));
    return true;
  }

  /// The part of a row that lies in the tensor.
  struct Inside {
    std::uint64_t skipped = 0, bytes = 0;  ///< of the row
    std::uint64_t address = 0;
  };
  [[nodiscard]] Inside inside(const Row& row) const {
    const auto end = [&](std::size_t i) { return static_cast<std::int64_t>(map_.sizes[i]); };
    std::uint64_t address = copy_.tensor.tensor;
    for (std::size_t i = 1; i < map_.rank; ++i) {
      if (row[i] < 0 || row[i] >= end(i)) return {};
      address += static_cast<std::uint64_t>(row[i]) * map_.strides[i - 1];
    }
    const std::int64_t first = std::max<std::int64_t>(row[0], 0), last = std::min(row[0] + std::int64_t{columns_}, end(0));
    if (first >= last) return {};
    return {static_cast<std::uint64_t>(first - row[0]) * element_bytes_,
            static_cast<std::uint64_t>(last - first) * element_bytes_,
            address + static_cast<std::uint64_t>(first) * element_bytes_};
  }

  bool load(const Row& row, std::uint64_t at) {
    const Inside part = inside(row);
    if (part.bytes != row_.size()) fill_outside(map_, row_);
    std::fill(marks_.begin(), marks_.end(), written_mark);
    if (part.bytes != 0) {
      const auto from = find_range(warp_, step_, lane_, Space::global, false, part.address, part.bytes, 1);
      if (!from) return false;
      std::memcpy(&row_[part.skipped], from->data, part.bytes);
      convert_loaded(map_.type, std::span(row_).subspan(part.skipped, part.bytes));
      copy_marks(&marks_[part.skipped], from->written, part.bytes);
    }
    return each_piece(at, true, [&](const Place& place, std::size_t offset) {
      std::memcpy(place.data, &row_[offset], piece);
      if (place.written != nullptr) std::memcpy(place.written, &marks_[offset], piece);
    });
  }

  bool store(const Row& row, std::uint64_t at) {
    const bool read = each_piece(at, false, [&](const Place& place, std::size_t offset) {
      std::memcpy(&row_[offset], place.data, piece);
      if (place.written != nullptr)
        std::memcpy(&marks_[offset], place.written, piece);
      else
        std::fill_n(marks_.begin() + static_cast<std::ptrdiff_t>(offset), piece, written_mark);
    });
    if (!read) return false;
    const Inside part = inside(row);
    if (part.bytes == 0) return true;
    const auto to = find_range(warp_, step_, lane_, Space::global, true, part.address, part.bytes, 1);
    if (!to) return false;
    const auto* const marks = &marks_[part.skipped];
    if (const auto* bad = std::find_if(marks, marks + part.bytes, [](std::uint8_t mark) { return mark != written_mark; });
        bad != marks + part.bytes)
      return fail(Kind::uninitialised,
                  cat("copies what nothing has written in shared memory: byte ", static_cast<std::uint64_t>(bad - marks_.data()),
                      " of the row of the box at 0x", hex(at)));
    if (reduction_) {
      if (!check_written(warp_, step_, lane_, {Space::global, part.address}, *to, part.bytes)) return false;
      reduce(*reduction_, to->data, &row_[part.skipped], part.bytes);
    } else {
      std::memcpy(to->data, &row_[part.skipped], part.bytes);
    }
    copy_marks(to->written, nullptr, part.bytes);
    return true;
  }

  // Of a box whose rows lie one behind the other: where it begins, if all of it is there. (Of any other box, or where something
  // is wrong, pieces are asked for one by one.) False: a fault was recorded.
  bool find_box(std::uint64_t bytes) {
    const Location& to = copy_.shared;
    if (find_region(warp_, to.space, to.address, bytes, copy_.loads) == nullptr) return true;
    const auto found = find_range(warp_, step_, lane_, to.space, copy_.loads, to.address, bytes, piece);
    if (found) box_ = *found;
    return found.has_value();
  }

  // Calls `move` for each piece of a row with its place in shared memory, which the swizzle says: it moves pieces within 128
  // bytes.
  template <class Move>
  bool each_piece(std::uint64_t at, bool write, Move move) {
    for (std::size_t offset = 0; box_.data != nullptr && offset < row_.size(); offset += piece) {
      const std::uint64_t from_begin = layout::swizzled(map_.swizzle, at + offset) - copy_.shared.address;
      move(Place{box_.data + from_begin, box_.written == nullptr ? nullptr : box_.written + from_begin}, offset);
    }
    if (box_.data != nullptr) return true;
    for (std::size_t offset = 0; offset < row_.size(); offset += piece) {
      const std::uint64_t address = layout::swizzled(map_.swizzle, at + offset);
      const auto place = find_range(warp_, step_, lane_, copy_.shared.space, write, address, piece, piece);
      if (!place) return false;
      move(*place, offset);
    }
    return true;
  }

  Warp& warp_;
  const Step& step_;
  const int lane_;
  const TensorCopy& copy_;
  const TensorMap& map_;
  std::uint64_t element_bytes_ = 1;
  std::uint32_t columns_ = 0;
  std::optional<Reduction> reduction_;
  std::vector<std::byte> row_;
  std::vector<std::uint8_t> marks_;
  Place box_;
};

}  // namespace

std::optional<std::uint64_t> perform(Warp& warp, const Step& step, int lane, const TensorCopy& copy) {
  return Walk(warp, step, lane, copy).run();
}

}  // namespace ptx::vgpu::async
