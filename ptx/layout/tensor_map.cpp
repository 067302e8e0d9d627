#include "ptx/layout/tensor_map.hpp"

#include <algorithm>

#include "ptx/base/base.hpp"
#include "ptx/layout/layout.hpp"

namespace ptx::layout {
namespace {

constexpr std::uint64_t max_size = std::uint64_t{1} << 32;    // elements of a dimension
constexpr std::uint64_t stride_end = std::uint64_t{1} << 40;  // bytes
constexpr std::uint32_t max_box = 256;
constexpr std::uint32_t max_element_stride = 8;
constexpr std::uint64_t end_of_box = 256 * 1024;  // bytes: more than any shared memory; the driver refuses it
constexpr std::uint64_t granule = 16;             // bytes: strides and rows of boxes are multiples of it

struct ElementType {
  std::string_view name;
  int bytes;
};
constexpr ElementType element_types[] = {{"u8", 1},      {"u16", 2},  {"u32", 4},     {"s32", 4}, {"u64", 8},
                                         {"s64", 8},     {"f16", 2},  {"f32", 4},     {"f64", 8}, {"bf16", 2},
                                         {"f32.ftz", 4}, {"tf32", 4}, {"tf32.ftz", 4}};

Unexpected bad_tensor_map(std::string message, const std::string& hint = {}) {
  Diagnostic error{.kind = Kind::bad_tile, .message = std::move(message)};
  if (!hint.empty()) error.hint(cat(hint));
  return {std::move(error)};
}

/// Bytes that the pattern of a swizzle is wide; nothing for no swizzle.
std::optional<std::uint64_t> width(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::b32:
      return 32;
    case Swizzle::b64:
      return 64;
    case Swizzle::b128:
    case Swizzle::b128_atom32:
    case Swizzle::b128_atom64:
      return 128;
    default:
      return std::nullopt;
  }
}

/// The first `rank` of them, outermost first.
template <class Numbers>
std::string reversed(const Numbers& numbers, std::size_t rank) {
  std::string text = "(";
  for (std::size_t i = rank; i-- > 0;) text += cat(numbers[i], i != 0 ? ", " : "");
  return text + (rank == 1 ? ",)" : ")");
}

std::string listed(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += cat(i == 0 ? "" : ", ", shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Expected<void> check_rank(std::size_t rank) {
  if (rank >= 1 && rank <= TensorMap::max_rank) return {};
  return bad_tensor_map(cat("a tensor map has 1 to 5 dimensions, not ", rank));
}

Expected<void> check_size(std::int64_t size, std::span<const std::int64_t> shape) {
  if (size >= 1 && static_cast<std::uint64_t>(size) <= max_size) return {};
  return bad_tensor_map(cat("a dimension of ", listed(shape), " is ", size, "; those of a tensor map are 1 to 2^32"));
}

Expected<void> check_box_size(std::int64_t size, std::span<const std::int64_t> box) {
  if (size >= 1 && size <= max_box) return {};
  return bad_tensor_map(
      cat("a dimension of the box ", listed(box), " is ", size, "; one tensor copy moves 1 to ", max_box, " of each"),
      "give the Tile a smaller `tma_box`, and copy more than once");
}

bool is_float(TensorMapType type) {
  using enum TensorMapType;
  return type == f16 || type == bf16 || type == f32 || type == f64 || type == f32_ftz || type == tf32 || type == tf32_ftz;
}

/// Of what one copy moves: the tile's box, or the pixels of an im2col map.
Expected<void> check_box(const TensorMap& map) {
  for (std::size_t i = 0; i < map.rank; ++i) {
    if (map.box[i] < 1 || map.box[i] > max_box) {
      return bad_tensor_map(cat("a dimension of the box ", reversed(map.box, map.rank), " is ", map.box[i],
                                "; one tensor copy moves 1 to ", max_box, " of each"),
                            "give the Tile a smaller `tma_box`, and copy more than once");
    }
  }
  return {};
}

Expected<void> check_im2col(const TensorMap& map, const Im2col& im2col) {
  constexpr std::int64_t reach[] = {32768, 128, 16};  // of a corner, with one, two and three dimensions of space
  constexpr std::uint32_t max_pixels = 1024;
  if (map.rank < 3) return bad_tensor_map(cat("an im2col tensor map has 3 to 5 dimensions, not ", map.rank));
  const std::size_t space = map.rank - 2u;
  const std::int64_t most = reach[space - 1];
  for (std::size_t i = 0; i < space; ++i) {
    for (const std::int64_t corner : {im2col.lower_corner[i], im2col.upper_corner[i]}) {
      if (corner < -most || corner >= most)
        return bad_tensor_map(
            cat("a corner of the pixels' box is ", corner, "; with ", map.rank, " dimensions it is ", -most, " to ", most - 1));
    }
    if (static_cast<std::int64_t>(map.sizes[i + 1]) + im2col.upper_corner[i] - im2col.lower_corner[i] < 1) {
      return bad_tensor_map(cat("the pixels' box from ", im2col.lower_corner[i], " to ", im2col.upper_corner[i],
                                " is empty in a dimension of ", map.sizes[i + 1]));
    }
  }
  if (im2col.channels_per_pixel < 1 || im2col.channels_per_pixel > max_box)
    return bad_tensor_map(cat("a copy takes ", im2col.channels_per_pixel, " channels of a pixel; 1 to ", max_box, " can be"));
  if (im2col.pixels_per_column < 1 || im2col.pixels_per_column > max_pixels)
    return bad_tensor_map(cat("a copy takes ", im2col.pixels_per_column, " pixels; 1 to ", max_pixels, " can be"));
  return {};
}

std::uint64_t rounded_up(std::uint64_t bytes) { return (bytes + granule - 1) / granule * granule; }

}  // namespace

std::string_view name(TensorMapType type) { return element_types[static_cast<std::size_t>(type)].name; }
int element_bytes(TensorMapType type) { return element_types[static_cast<std::size_t>(type)].bytes; }

std::string_view tensor_map_swizzle_name(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      return "NONE";
    case Swizzle::b32:
      return "32B";
    case Swizzle::b64:
      return "64B";
    case Swizzle::b128:
      return "128B";
    case Swizzle::b128_atom32:
      return "128B_ATOM_32B";
    case Swizzle::b128_atom64:
      return "128B_ATOM_64B";
    default:
      return {};
  }
}

std::uint64_t address_alignment(const TensorMap& map) { return map.interleave == Interleave::b32 ? 2 * granule : granule; }

std::string to_string(const TensorMap& map) {
  std::string text = cat(name(map.type), ' ', reversed(map.sizes, map.rank));
  text += map.im2col
              ? cat(" in columns of ", map.im2col->pixels_per_column, " pixels by ", map.im2col->channels_per_pixel, " channels")
              : cat(" in boxes of ", reversed(map.box, map.rank));
  text += cat(", swizzle ", tensor_map_swizzle_name(map.swizzle));
  if (map.interleave != Interleave::none) text += map.interleave == Interleave::b16 ? ", slices of 16B" : ", slices of 32B";
  if (map.fill == TensorMapFill::nan) text += ", NaN outside";
  return text;
}

std::uint64_t TensorMap::box_bytes() const {
  auto bytes = static_cast<std::uint64_t>(element_bytes(type));
  if (im2col) return bytes * im2col->channels_per_pixel * im2col->pixels_per_column;
  for (std::size_t i = 0; i < rank; ++i) bytes *= (box[i] + element_strides[i] - 1) / element_strides[i];
  return bytes;
}

Expected<void> TensorMap::check() const {
  if (auto ok = check_rank(rank); !ok) return ok;
  if (tensor_map_swizzle_name(swizzle).empty()) return bad_tensor_map("no tensor map has this swizzle");
  const auto bytes = static_cast<std::uint64_t>(element_bytes(type));
  for (std::size_t i = 0; i < rank; ++i) {
    if (sizes[i] < 1 || sizes[i] > max_size)
      return bad_tensor_map(
          cat("a dimension of ", reversed(sizes, rank), " is ", sizes[i], "; those of a tensor map are 1 to 2^32"));
    if (element_strides[i] < 1 || element_strides[i] > max_element_stride)
      return bad_tensor_map(
          cat("an element stride is ", element_strides[i], "; those of a tensor map are 1 to ", max_element_stride));
  }
  const std::uint64_t multiple = address_alignment(*this);
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    if (strides[i] % multiple != 0) {
      return bad_tensor_map(cat("from one index to the next of dimension ", rank - 2 - i, " of ", reversed(sizes, rank),
                                " it is ", strides[i], " bytes; a tensor map needs a multiple of ", multiple),
                            cat("pad the rows to a multiple of ", multiple / bytes, " elements, or copy without a tensor map"));
    }
    if (strides[i] >= stride_end) {
      return bad_tensor_map(cat("from one index to the next of dimension ", rank - 2 - i, " of ", reversed(sizes, rank),
                                " it is 2^40 bytes or more; a tensor map needs less"));
    }
  }
  if (interleave != Interleave::none && rank < 3)
    return bad_tensor_map(cat("a tensor map with interleaved channels has 3 to 5 dimensions, not ", rank));
  if (interleave == Interleave::b32 && swizzle != Swizzle::b32)
    return bad_tensor_map(cat("slices of 32 bytes go with swizzle 32B, not ", tensor_map_swizzle_name(swizzle)));
  if (fill == TensorMapFill::nan && !is_float(type))
    return bad_tensor_map(cat("elements of type ", name(type), " have no NaN to fill with outside the tensor"));
  if (auto ok = im2col ? check_im2col(*this, *im2col) : check_box(*this); !ok) return ok;
  if (box_bytes() >= end_of_box) {
    return bad_tensor_map(cat("one copy moves ", box_bytes(), " bytes; a tensor map takes less than ", end_of_box),
                          "give the Tile a smaller `tma_box`, and copy more than once");
  }
  const std::uint32_t columns = im2col ? im2col->channels_per_pixel : box[0];
  const std::uint64_t row = columns * bytes;
  const std::string what = im2col ? std::string("a pixel") : cat("a row of the box ", reversed(box, rank));
  if (row % granule != 0) {
    return bad_tensor_map(
        cat(what, " is ", row, " bytes (", columns, " elements of ", bytes, "); a tensor copy needs a multiple of ", granule));
  }
  // A slice of interleaved channels is as wide as it is, whatever the swizzle.
  if (const auto most = width(swizzle); most && row > *most && interleave == Interleave::none) {
    return bad_tensor_map(cat(what, " is ", row, " bytes (", columns, " elements of ", bytes, "); swizzle ",
                              tensor_map_swizzle_name(swizzle), " takes at most ", *most),
                          cat("a `tma_box` of ", *most / bytes, " columns, or `tma_rank=3`, which copies ", slab_columns,
                              " columns at a time in one instruction"));
  }
  return {};
}

Expected<TensorMap> tiled_tensor_map(TensorMapType type, std::span<const std::int64_t> shape, std::span<const std::int64_t> box,
                                     Swizzle swizzle) {
  if (auto ok = check_rank(shape.size()); !ok) return Unexpected{std::move(ok).error()};
  if (box.size() != shape.size())
    return bad_tensor_map(
        cat("the box ", listed(box), " has ", box.size(), " dimensions, the tensor ", listed(shape), " has ", shape.size()));
  for (const std::int64_t size : shape)
    if (auto ok = check_size(size, shape); !ok) return Unexpected{std::move(ok).error()};
  for (const std::int64_t size : box)
    if (auto ok = check_box_size(size, box); !ok) return Unexpected{std::move(ok).error()};

  TensorMap map{.type = type, .rank = static_cast<std::uint8_t>(shape.size()), .swizzle = swizzle};
  auto stride = static_cast<std::uint64_t>(element_bytes(type));
  for (std::size_t i = 0; i < map.rank; ++i) {
    const std::size_t of_tensor = map.rank - 1 - i;
    map.sizes[i] = static_cast<std::uint64_t>(shape[of_tensor]);
    map.box[i] = static_cast<std::uint32_t>(box[of_tensor]);
    // The stride of a dimension of size 1 is never used, but the driver looks at it.
    if (i != 0) map.strides[i - 1] = map.sizes[i] == 1 ? rounded_up(stride) : stride;
    if (__builtin_mul_overflow(stride, map.sizes[i], &stride)) stride = stride_end;  // which check() refuses, as the true one
  }
  if (auto ok = map.check(); !ok) return Unexpected{std::move(ok).error()};
  return map;
}

Expected<TensorMap> slab_tensor_map(TensorMapType type, std::int64_t rows, std::int64_t columns, std::int64_t box_rows,
                                    std::int64_t box_columns, Swizzle swizzle, bool padding) {
  const std::array shape{rows, columns}, box{box_rows, box_columns};
  for (const std::int64_t size : shape)
    if (auto ok = check_size(size, shape); !ok) return Unexpected{std::move(ok).error()};
  if (columns % slab_columns != 0)
    return bad_tensor_map(cat("a matrix ", listed(shape), " is not a whole number of slabs of ", slab_columns, " columns"));
  if (box_columns < 1 || box_columns % slab_columns != 0)
    return bad_tensor_map(cat("a box ", listed(box), " is not a whole number of slabs of ", slab_columns, " columns"));
  const std::array slabs{box_rows, box_columns / slab_columns};
  for (const std::int64_t size : slabs)
    if (auto ok = check_box_size(size, slabs); !ok) return Unexpected{std::move(ok).error()};

  const auto bytes = static_cast<std::uint64_t>(element_bytes(type));
  TensorMap map{.type = type, .rank = 3, .swizzle = swizzle};
  map.sizes = {slab_columns, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns / slab_columns)};
  map.strides = {static_cast<std::uint64_t>(columns) * bytes, slab_columns * bytes};
  map.box = {static_cast<std::uint32_t>(slab_columns + (padding ? 8 : 0)), static_cast<std::uint32_t>(box_rows),
             static_cast<std::uint32_t>(slabs[1])};
  if (auto ok = map.check(); !ok) return Unexpected{std::move(ok).error()};
  return map;
}

bool fits_one_box(TensorMapType type, std::span<const std::int64_t> shape, Swizzle swizzle) {
  if (shape.empty() || std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 1 || size > max_box; }))
    return false;
  const auto most = width(swizzle);
  return !most || static_cast<std::uint64_t>(shape.back() * element_bytes(type)) <= *most;
}

std::array<std::int64_t, 2> default_matrix_box(TensorMapType type, std::int64_t columns, Swizzle swizzle) {
  constexpr std::int64_t rows = 128;
  if (const auto most = width(swizzle)) return {rows, static_cast<std::int64_t>(*most) / element_bytes(type)};
  return {rows, std::min<std::int64_t>(columns, max_box)};
}

}  // namespace ptx::layout
