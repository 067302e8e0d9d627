#include "ptx/layout/tensor_map.hpp"

#include <algorithm>

#include "ptx/layout/layout.hpp"

namespace ptx::layout {
namespace {

constexpr std::uint64_t max_size = std::uint64_t{1} << 32;    // elements of a dimension
constexpr std::uint64_t stride_end = std::uint64_t{1} << 40;  // bytes
constexpr std::uint32_t max_box = 256;
constexpr std::uint64_t granule = 16;  // bytes: strides and rows of boxes are multiples of it

struct ElementType {
  std::string_view name;
  int bytes;
};
constexpr ElementType element_types[] = {{"u8", 1},      {"u16", 2},  {"u32", 4},     {"s32", 4}, {"u64", 8},
                                         {"s64", 8},     {"f16", 2},  {"f32", 4},     {"f64", 8}, {"bf16", 2},
                                         {"f32.ftz", 4}, {"tf32", 4}, {"tf32.ftz", 4}};

Unexpected bad(std::string message, const std::string& hint = {}) {
  Diagnostic error{.kind = Kind::bad_tile, .message = std::move(message)};
  if (!hint.empty()) error.note(cat("hint: ", hint));
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
  return bad(cat("a tensor map has 1 to 5 dimensions, not ", rank));
}

Expected<void> check_size(std::int64_t size, std::span<const std::int64_t> shape) {
  if (size >= 1 && static_cast<std::uint64_t>(size) <= max_size) return {};
  return bad(cat("a dimension of ", listed(shape), " is ", size, "; those of a tensor map are 1 to 2^32"));
}

Expected<void> check_box_size(std::int64_t size, std::span<const std::int64_t> box) {
  if (size >= 1 && size <= max_box) return {};
  return bad(cat("a dimension of the box ", listed(box), " is ", size, "; one tensor copy moves 1 to ", max_box, " of each"),
             "give the Tile a smaller `tma_box`, and copy more than once");
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

std::string to_string(const TensorMap& map) {
  return cat(name(map.type), ' ', reversed(map.sizes, map.rank), " in boxes of ", reversed(map.box, map.rank), ", swizzle ",
             tensor_map_swizzle_name(map.swizzle));
}

std::uint64_t TensorMap::box_bytes() const {
  auto bytes = static_cast<std::uint64_t>(element_bytes(type));
  for (std::size_t i = 0; i < rank; ++i) bytes *= box[i];
  return bytes;
}

Expected<void> TensorMap::check() const {
  if (auto ok = check_rank(rank); !ok) return ok;
  if (tensor_map_swizzle_name(swizzle).empty()) return bad("no tensor map has this swizzle");
  const auto bytes = static_cast<std::uint64_t>(element_bytes(type));
  for (std::size_t i = 0; i < rank; ++i) {
    if (sizes[i] < 1 || sizes[i] > max_size)
      return bad(cat("a dimension of ", reversed(sizes, rank), " is ", sizes[i], "; those of a tensor map are 1 to 2^32"));
  }
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    if (strides[i] % granule != 0) {
      return bad(cat("from one index to the next of dimension ", rank - 2 - i, " of ", reversed(sizes, rank), " it is ",
                     strides[i], " bytes; a tensor map needs a multiple of ", granule),
                 cat("pad the rows to a multiple of ", granule / bytes, " elements, or copy without a tensor map"));
    }
    if (strides[i] >= stride_end) {
      return bad(cat("from one index to the next of dimension ", rank - 2 - i, " of ", reversed(sizes, rank),
                     " it is 2^40 bytes or more; a tensor map needs less"));
    }
  }
  for (std::size_t i = 0; i < rank; ++i) {
    if (box[i] < 1 || box[i] > max_box) {
      return bad(cat("a dimension of the box ", reversed(box, rank), " is ", box[i], "; one tensor copy moves 1 to ", max_box,
                     " of each"),
                 "give the Tile a smaller `tma_box`, and copy more than once");
    }
  }
  const std::uint64_t row = box[0] * bytes;
  if (row % granule != 0) {
    return bad(cat("a row of the box ", reversed(box, rank), " is ", row, " bytes (", box[0], " elements of ", bytes,
                   "); a tensor copy needs a multiple of ", granule));
  }
  if (const auto most = width(swizzle); most && row > *most) {
    return bad(cat("a row of the box ", reversed(box, rank), " is ", row, " bytes (", box[0], " elements of ", bytes,
                   "); swizzle ", tensor_map_swizzle_name(swizzle), " takes at most ", *most),
               cat("a `tma_box` of ", *most / bytes, " columns, or `tma_rank=3`, which copies ", slab_columns,
                   " columns at a time in one instruction"));
  }
  return {};
}

Expected<TensorMap> tiled_tensor_map(TensorMapType type, std::span<const std::int64_t> shape, std::span<const std::int64_t> box,
                                     Swizzle swizzle) {
  if (auto ok = check_rank(shape.size()); !ok) return Unexpected{std::move(ok).error()};
  if (box.size() != shape.size())
    return bad(
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
    return bad(cat("a matrix ", listed(shape), " is no whole number of slabs of ", slab_columns, " columns"));
  if (box_columns < 1 || box_columns % slab_columns != 0)
    return bad(cat("a box ", listed(box), " is no whole number of slabs of ", slab_columns, " columns"));
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
