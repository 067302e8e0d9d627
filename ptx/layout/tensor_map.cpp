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
  unsigned bits, shared_bits;
};
constexpr ElementType element_types[] = {{"u8", 8, 8},         {"u16", 16, 16},  {"u32", 32, 32},     {"s32", 32, 32},
                                         {"u64", 64, 64},      {"s64", 64, 64},  {"f16", 16, 16},     {"f32", 32, 32},
                                         {"f64", 64, 64},      {"bf16", 16, 16}, {"f32.ftz", 32, 32}, {"tf32", 32, 32},
                                         {"tf32.ftz", 32, 32}, {"b4x16", 4, 4},  {"b4x16_p64", 4, 8}, {"b6x16_p32", 6, 8}};
const ElementType& of(TensorMapType type) { return element_types[static_cast<std::size_t>(type)]; }
constexpr std::uint32_t padded_row = 128;  // elements of what is padded: boxes have as many, tensors a multiple
bool is_padded(TensorMapType type) { return of(type).shared_bits != of(type).bits; }

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
    const std::uint64_t size = map.sizes[map.interleave == Interleave::none ? i + 1 : i];  // channels stand before it, or behind
    if (static_cast<std::int64_t>(size) + im2col.upper_corner[i] - im2col.lower_corner[i] < 1) {
      return bad_tensor_map(cat("the pixels' box from ", im2col.lower_corner[i], " to ", im2col.upper_corner[i],
                                " is empty in a dimension of ", size));
    }
  }
  if (im2col.channels_per_pixel < 1 || im2col.channels_per_pixel > max_box)
    return bad_tensor_map(cat("a copy takes ", im2col.channels_per_pixel, " channels of a pixel; 1 to ", max_box, " can be"));
  if (im2col.pixels_per_column < 1 || im2col.pixels_per_column > max_pixels)
    return bad_tensor_map(cat("a copy takes ", im2col.pixels_per_column, " pixels; 1 to ", max_pixels, " can be"));
  return {};
}

// What packed types ask for (cuTensorMapEncodeTiled, and the manual's "Restriction on Tensor Copy instructions").
Expected<void> check_packed(const TensorMap& map) {
  const std::string type = cat("elements of type ", name(map.type));
  const std::uint64_t multiple = is_padded(map.type) ? padded_row : 2;
  if (map.sizes[0] % multiple != 0)
    return bad_tensor_map(cat(type, " lie in rows of a multiple of ", multiple, ", not of ", map.sizes[0]));
  if (!is_padded(map.type)) return {};
  const std::uint32_t columns = map.im2col ? map.im2col->channels_per_pixel : map.box[0];
  if (columns != padded_row) return bad_tensor_map(cat("one copy moves ", padded_row, ' ', type, " of a row, not ", columns));
  using enum Swizzle;
  const bool stored_only = map.swizzle == b128_atom64 && map.type == TensorMapType::b6x16_p32;
  if (map.swizzle != none && map.swizzle != b128 && map.swizzle != b128_atom32 && !stored_only)
    return bad_tensor_map(cat(type, " go with swizzle NONE, 128B or 128B_ATOM_32B, not ", tensor_map_swizzle_name(map.swizzle)));
  if (map.interleave != Interleave::none) return bad_tensor_map(cat(type, " do not go with interleaved channels"));
  return {};
}

std::uint64_t rounded_up(std::uint64_t bytes) { return (bytes + granule - 1) / granule * granule; }

}  // namespace

std::string_view name(TensorMapType type) { return of(type).name; }
bool is_packed(TensorMapType type) { return of(type).bits < 8; }
int element_bits(TensorMapType type) { return static_cast<int>(of(type).bits); }
int element_bytes(TensorMapType type) { return static_cast<int>(of(type).bits / 8); }
std::uint64_t bytes_of(TensorMapType type, std::uint64_t elements) {
  return elements / 8 * of(type).bits + (elements % 8 * of(type).bits + 7) / 8;
}
std::uint64_t shared_bytes_of(TensorMapType type, std::uint64_t elements) { return elements * of(type).shared_bits / 8; }

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

std::uint64_t address_alignment(const TensorMap& map) {
  return map.interleave == Interleave::b32 || is_padded(map.type) ? 2 * granule : granule;
}
std::uint64_t slice_bytes(Interleave interleave) { return interleave == Interleave::b32 ? 2 * granule : granule; }

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

std::uint64_t TensorMap::nominal_bytes() const {
  if (im2col) return bytes_of(type, std::uint64_t{im2col->channels_per_pixel} * im2col->pixels_per_column);
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < rank; ++i) elements *= (box[i] + element_strides[i] - 1) / element_strides[i];
  return bytes_of(type, elements);
}

std::uint64_t TensorMap::box_bytes() const {
  if (interleave == Interleave::none) {
    if (im2col || element_strides[0] == 1) return nominal_bytes();
    TensorMap whole = *this;
    whole.element_strides[0] = 1;  // which a copy does not look at
    return whole.nominal_bytes();
  }
  std::uint64_t slices = im2col ? im2col->pixels_per_column : 1;
  for (std::size_t i = 0; !im2col && i < rank; ++i)
    if (i + 2 != rank) slices *= (box[i] + element_strides[i] - 1) / element_strides[i];
  return slices * slice_bytes(interleave);
}

std::uint64_t TensorMap::shared_box_bytes() const {
  if (!is_packed(type)) return box_bytes();
  return shared_bytes_of(type, box_bytes() * 8 / static_cast<std::uint64_t>(element_bits(type)));
}

Expected<void> TensorMap::check() const {
  if (auto ok = check_rank(rank); !ok) return ok;
  if (tensor_map_swizzle_name(swizzle).empty()) return bad_tensor_map("no tensor map has this swizzle");
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
      return bad_tensor_map(
          cat("from one index to the next of dimension ", rank - 2 - i, " of ", reversed(sizes, rank), " it is ", strides[i],
              " bytes; a tensor map needs a multiple of ", multiple),
          cat("pad the rows to a multiple of ", multiple * 8 / of(type).bits, " elements, or copy without a tensor map"));
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
  if (is_packed(type))
    if (auto ok = check_packed(*this); !ok) return ok;
  if (nominal_bytes() >= end_of_box) {
    return bad_tensor_map(cat("one copy moves ", nominal_bytes(), " bytes; a tensor map takes less than ", end_of_box),
                          "give the Tile a smaller `tma_box`, and copy more than once");
  }
  const std::uint32_t columns = im2col ? im2col->channels_per_pixel : box[0];
  const std::uint64_t row = shared_bytes_of(type, columns);
  const std::string what = im2col ? std::string("a pixel") : cat("a row of the box ", reversed(box, rank));
  const std::string elements =
      cat(columns, " elements of ", is_packed(type) ? cat(of(type).shared_bits, " bits") : cat(of(type).bits / 8));
  if (row % granule != 0 || (is_packed(type) && columns % (granule * 8 / of(type).shared_bits) != 0))
    return bad_tensor_map(cat(what, " is ", row, " bytes (", elements, "); a tensor copy needs a multiple of ", granule));
  // A slice of interleaved channels is as wide as it is, whatever the swizzle.
  if (const auto most = width(swizzle); most && row > *most && interleave == Interleave::none) {
    return bad_tensor_map(
        cat(what, " is ", row, " bytes (", elements, "); swizzle ", tensor_map_swizzle_name(swizzle), " takes at most ", *most),
        cat("a `tma_box` of ", *most * 8 / of(type).shared_bits, " columns, or `tma_rank=3`, which copies ", slab_columns,
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
  std::uint64_t stride = 0;
  for (std::size_t i = 0; i < map.rank; ++i) {
    const std::size_t of_tensor = map.rank - 1 - i;
    map.sizes[i] = static_cast<std::uint64_t>(shape[of_tensor]);
    map.box[i] = static_cast<std::uint32_t>(box[of_tensor]);
    // The stride of a dimension of size 1 is never used, but the driver looks at it.
    if (i != 0) map.strides[i - 1] = map.sizes[i] == 1 ? rounded_up(stride) : stride;
    if (i == 0)
      stride = bytes_of(type, map.sizes[0]);
    else if (__builtin_mul_overflow(stride, map.sizes[i], &stride))
      stride = stride_end;  // which check() refuses, as the true one
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

  TensorMap map{.type = type, .rank = 3, .swizzle = swizzle};
  map.sizes = {slab_columns, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns / slab_columns)};
  map.strides = {bytes_of(type, static_cast<std::uint64_t>(columns)), bytes_of(type, slab_columns)};
  map.box = {static_cast<std::uint32_t>(slab_columns + (padding ? 8 : 0)), static_cast<std::uint32_t>(box_rows),
             static_cast<std::uint32_t>(slabs[1])};
  if (auto ok = map.check(); !ok) return Unexpected{std::move(ok).error()};
  return map;
}

bool fits_one_box(TensorMapType type, std::span<const std::int64_t> shape, Swizzle swizzle) {
  if (shape.empty() || std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 1 || size > max_box; }))
    return false;
  std::uint64_t elements = 1;
  for (const std::int64_t size : shape) elements *= static_cast<std::uint64_t>(size);
  const auto most = width(swizzle);
  return shared_bytes_of(type, elements) < end_of_box &&
         (!most || shared_bytes_of(type, static_cast<std::uint64_t>(shape.back())) <= *most);
}

std::array<std::int64_t, 2> default_matrix_box(TensorMapType type, std::int64_t columns, Swizzle swizzle) {
  std::int64_t rows = 128;
  if (const auto most = width(swizzle)) return {rows, static_cast<std::int64_t>(*most) * 8 / of(type).shared_bits};
  columns = std::min<std::int64_t>(columns, max_box);
  if (shared_bytes_of(type, static_cast<std::uint64_t>(rows * columns)) >= end_of_box) rows /= 2;  // of 8 bytes
  return {rows, columns};
}

}  // namespace ptx::layout
