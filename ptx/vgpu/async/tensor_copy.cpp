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

bool interleaved(const TensorMap& map) { return map.interleave != layout::Interleave::none; }
/// The first dimension of space: where channels are interleaved, a pixel's slice of them is a row.
std::size_t space_begin(const TensorMap& map) { return interleaved(map) ? 0 : 1; }

std::vector<Row> rows_of_tile(const TensorCopy& copy) {
  const TensorMap& map = copy.tensor.map;
  Row start{};
  std::copy_n(copy.coordinates.begin(), map.rank, start.begin());
  std::vector<Row> rows{start};
  for (std::size_t i = space_begin(map); i < map.rank; ++i) {  // the innermost of them varies fastest
    if (interleaved(map) && i + 2 == map.rank) continue;       // one slice of channels, whatever the box says
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

std::size_t dimensions_of_space(const TensorCopy& copy) {
  return copy.mode == BoxMode::im2col ? copy.tensor.map.rank - 2u : 1u;  // along w the box has one pixel in the others
}
/// From the first to the last pixel of an im2col map's box, in the d-th dimension of space.
std::pair<std::int64_t, std::int64_t> box_in_space(const TensorMap& map, std::size_t d) {
  return {map.im2col->lower_corner[d],
          static_cast<std::int64_t>(map.sizes[space_begin(map) + d]) - 1 + map.im2col->upper_corner[d]};
}

// The pixels under a filter: from the instruction's position on through a box in space, then through the next image's.
std::vector<Row> pixels(const TensorCopy& copy) {
  constexpr std::uint32_t many = 128;
  const TensorMap& map = copy.tensor.map;
  const bool along_w = copy.mode != BoxMode::im2col;
  const std::size_t begin = space_begin(map), space = dimensions_of_space(copy), images = map.rank - 1u;
  const std::uint32_t count = copy.mode == BoxMode::im2col_w_128 ? many : map.im2col->pixels_per_column;
  Row at{};
  std::copy_n(copy.coordinates.begin(), map.rank, at.begin());
  std::vector<Row> rows;
  rows.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Row pixel = at;
    for (std::size_t d = 0; d < space; ++d) pixel[begin + d] += copy.offsets[along_w ? 1 : d];
    rows.push_back(pixel);
    std::size_t d = 0;
    for (; d < space; ++d) {
      const auto [first, last] = box_in_space(map, d);
      at[begin + d] += map.element_strides[begin + d];
      if (at[begin + d] <= last) break;
      at[begin + d] = first;
    }
    if (d == space) at[images] += map.element_strides[images];
  }
  return rows;
}

// Bytes from one row of a box to the next in shared memory: a swizzle's pattern is as wide as it is, whatever the box.
std::uint64_t row_pitch(const TensorMap& map, std::uint64_t row_bytes) {
  if (interleaved(map)) return row_bytes;
  const std::uint64_t width = map.swizzle == Swizzle::none  ? 0
                              : map.swizzle == Swizzle::b32 ? 32
                              : map.swizzle == Swizzle::b64 ? 64
                                                            : 128;
  return std::max(row_bytes, width);
}

/// Where packed elements lie: 16 of them are so many bytes of the tensor, then padding.
struct Packing {
  std::uint64_t packed, padded;
};
Packing packing_of(TensorMapType type) { return {layout::bytes_of(type, 16), layout::shared_bytes_of(type, 16)}; }

/// Of 16 elements, a byte each, the lower 6 bits (b6p2x16).
std::array<std::byte, 12> pack_six_bits(std::span<const std::byte> elements) {
  std::array<std::byte, 12> packed{};
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t bit = 0; bit < 6; ++bit)
      if ((elements[i] >> bit & std::byte{1}) != std::byte{0}) packed[(6 * i + bit) / 8] |= std::byte{1} << ((6 * i + bit) % 8);
  return packed;
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
    columns_ = interleaved(map_) ? 1 : map_.im2col ? map_.im2col->channels_per_pixel : map_.box[0];
    row_.resize(interleaved(map_) ? layout::slice_bytes(map_.interleave) : layout::shared_bytes_of(map_.type, columns_));
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
    return rows.size() * (interleaved(map_) ? row_.size() : layout::bytes_of(map_.type, columns_));  // padding does not count
  }

 private:
  template <class What>  // a Kind or a Rule
  bool fail(What what, std::string message) {
    warp_.fail(step_, lane_, what, std::move(message), {cat("tensor map: ", layout::to_string(map_))});
    return false;
  }

  // What a GPU answers with an illegal instruction.
  bool allowed() {
    const bool of_pixels = copy_.mode != BoxMode::tile && copy_.mode != BoxMode::rows;
    if (map_.im2col.has_value() != of_pixels)
      return fail(Rule::T_01, map_.im2col ? "copies a box, and its tensor map is for .im2col"
                                          : "copies pixels, and its tensor map is for tiles");
    if (of_pixels && copy_.mode != BoxMode::im2col && copy_.offsets[0] != 0)
      return fail(Kind::not_executed, cat("copies a halo of ", copy_.offsets[0],
                                          " pixels, which the manual shows in pictures alone; what is executed is a halo of 0"));
    if (copy_.mode == BoxMode::rows && (map_.rank != 2 || map_.box[1] != 1))
      return fail(Rule::T_01, "copies four rows, which takes a tensor map of a matrix in boxes of one row");
    if (interleaved(map_) && copy_.mode != BoxMode::tile && copy_.mode != BoxMode::im2col)
      return fail(Rule::T_01, "copies of four rows or along w do not go with interleaved channels");
    if (layout::is_packed(map_.type) && !packed_allowed()) return false;
    const std::int64_t first_bits = std::int64_t{copy_.coordinates[0]} * layout::element_bits(map_.type);
    if (!interleaved(map_) && first_bits % (16 * 8) != 0)
      return fail(Rule::T_03, cat("begins at column ", copy_.coordinates[0], ", byte ", first_bits / 8,
                                  " of a row, which is not a multiple of 16"));
    if (!copy_.loads) {
      const auto negative =
          std::find_if(copy_.coordinates.begin(), copy_.coordinates.end(), [](std::int32_t c) { return c < 0; });
      if (negative != copy_.coordinates.end())
        return fail(Rule::T_02, cat("stores at coordinate ", *negative, "; only loads begin before a tensor"));
    }
    if (copy_.mode == BoxMode::im2col && !begins_in_box()) return false;
    if (reduction_ && !exists(*reduction_))
      return fail(Kind::not_executed,
                  cat("reduces elements of type ", layout::name(map_.type), ", for which there is no such operation"));
    if (copy_.shared.address % shared_alignment != 0)
      return fail(Rule::T_03, cat(copy_.loads ? "copies to" : "copies from", " shared address 0x", hex(copy_.shared.address),
                                  ", which is not a multiple of ", shared_alignment));
    return true;
  }

  // Packed types (manual: "Restriction on Tensor Copy instructions").
  bool packed_allowed() {
    const std::string type = cat("elements of type ", layout::name(map_.type));
    if (!copy_.takes_packed)
      return fail(Rule::T_01, cat(copy_.loads ? "loads " : "stores ", type, ", which the module's target does not"));
    if (copy_.reduction) return fail(Rule::T_01, cat("reduces ", type, ", which no GPU does"));
    const bool b4_padded = map_.type == TensorMapType::b4x16_p64, b6 = map_.type == TensorMapType::b6x16_p32;
    if (!copy_.loads && b4_padded) return fail(Rule::T_01, cat("stores ", type, ", which are only loaded"));
    if (copy_.loads && map_.swizzle == Swizzle::b128_atom64 && b6)
      return fail(Rule::T_01, cat("loads ", type, " with swizzle 128B_ATOM_64B, which is for stores"));
    constexpr std::int32_t unit = 128;
    if ((b4_padded || b6) && copy_.coordinates[0] % unit != 0)
      return fail(Rule::T_03, cat("begins at column ", copy_.coordinates[0], "; with ", type, " it is a multiple of ", unit));
    return true;
  }

  bool begins_in_box() {
    for (std::size_t d = 0; d < dimensions_of_space(copy_); ++d) {
      const auto [first, last] = box_in_space(map_, d);
      const std::int32_t at = copy_.coordinates[space_begin(map_) + d];
      if (at < first || at > last)
        return fail(Rule::T_02, cat("begins at coordinate ", at, " of dimension ", space_begin(map_) + d,
                                    ", outside of the pixels' box, which is from ", first, " to ", last));
      if (!copy_.loads && (first < 0 || map_.im2col->upper_corner[d] > 0))
        return fail(Rule::T_02, cat("stores pixels of a box from ", first, " to ", last, " of dimension ", space_begin(map_) + d,
                                    ", which reaches outside of the tensor; only loads do"));
    }
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
    const auto bytes = [&](std::int64_t elements) {
      const auto count = static_cast<std::uint64_t>(elements);
      return interleaved(map_) ? count * row_.size() : layout::bytes_of(map_.type, count);
    };
    return {bytes(first - row[0]), bytes(last - first), address + bytes(first)};
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
    pad();
    return each_piece(at, true, [&](const Place& place, std::size_t offset) {
      std::memcpy(place.data, &row_[offset], piece);
      if (place.written != nullptr) std::memcpy(place.written, &marks_[offset], piece);
    });
  }

  // Packed elements as they lie in shared memory; nobody has written the padding.
  void pad() {
    const Packing packing = packing_of(map_.type);
    if (interleaved(map_) || packing.packed == packing.padded) return;
    for (std::size_t i = columns_ / 16; i-- > 0;) {
      std::memmove(&row_[i * packing.padded], &row_[i * packing.packed], packing.packed);
      std::memmove(&marks_[i * packing.padded], &marks_[i * packing.packed], packing.packed);
      std::fill_n(marks_.begin() + static_cast<std::ptrdiff_t>(i * packing.padded + packing.packed),
                  packing.padded - packing.packed, std::uint8_t{0});
    }
  }

  // Elements of 6 bits, a byte each in shared memory, as they lie in the tensor.
  void pack() {
    if (map_.type != TensorMapType::b6x16_p32) return;
    for (std::size_t i = 0; i < columns_ / 16; ++i) {
      const auto packed = pack_six_bits(std::span(row_).subspan(16 * i, 16));
      std::copy(packed.begin(), packed.end(), row_.begin() + static_cast<std::ptrdiff_t>(12 * i));
      const auto* const marks = &marks_[16 * i];
      const bool written = std::all_of(marks, marks + 16, [](std::uint8_t mark) { return mark == written_mark; });
      std::fill_n(marks_.begin() + static_cast<std::ptrdiff_t>(12 * i), 12, written ? written_mark : std::uint8_t{0});
    }
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
    pack();
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
  std::uint32_t columns_ = 0;  // elements of a row, or the slice of channels that is one
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
