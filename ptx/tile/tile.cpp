#include "ptx/tile/tile.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/layout/layout.hpp"

namespace ptx {
namespace tile {
namespace {

constexpr std::array<std::string_view, 6> layout_names = {"row", "col", "tma_128b", "tma_64b", "tma_32b", "interleaved"};

struct Dtype {
  Type type;
  std::string_view numpy;
};
// The first entry of a numpy name is the type that the name means.
constexpr Dtype dtypes[] = {
    {Type::pred, "bool"},          {Type::u8, "uint8"},         {Type::u16, "uint16"},
    {Type::u32, "uint32"},         {Type::u64, "uint64"},       {Type::s8, "int8"},
    {Type::s16, "int16"},          {Type::s32, "int32"},        {Type::s64, "int64"},
    {Type::f16, "float16"},        {Type::bf16, "bfloat16"},    {Type::f32, "float32"},
    {Type::f64, "float64"},        {Type::b8, "uint8"},         {Type::b16, "uint16"},
    {Type::b32, "uint32"},         {Type::b64, "uint64"},       {Type::tf32, "float32"},
    {Type::e4m3, "float8_e4m3fn"}, {Type::e5m2, "float8_e5m2"}, {Type::ue8m0, "float8_e8m0fnu"},
};

std::string spelled(const Dim& dim) {
  const auto* size = std::get_if<std::int64_t>(&dim);
  return size != nullptr ? cat(*size) : std::get<std::string>(dim);
}

std::string listed(std::span<const Dim> dims) {
  std::string out;
  for (const Dim& dim : dims) out += cat(out.empty() ? "" : ", ", spelled(dim));
  return out;
}

std::string listed(std::span<const std::int64_t> shape) {
  std::string out;
  for (const std::int64_t size : shape) out += cat(out.empty() ? "" : ", ", size);
  return cat('(', out, ')');
}

// A name that Python's keywords and functions of sizes can have; of other alphabets nothing is said.
bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0; };
  const auto fits = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return is_letter(text.front()) && std::all_of(text.begin(), text.end(), fits);
}

// A dimension of a tile or a box that cannot be; nothing when all are well.
std::optional<Unexpected> bad_dim(std::span<const Dim> dims, std::string_view what) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (const auto* size = std::get_if<std::int64_t>(&dims[i]); size != nullptr && *size <= 0)
      return refuse(Kind::bad_tile, cat(what, ' ', i, " is ", *size, "; a dimension is a positive size or a name"));
    const auto* name = std::get_if<std::string>(&dims[i]);
    if (name != nullptr && name->empty())
      return refuse(Kind::bad_tile, cat(what, ' ', i, " has an empty name; a dimension is a positive size or a name"));
    if (name != nullptr && !is_name(*name))
      return refuse(Kind::bad_tile, cat(what, ' ', i, " is `", *name,
                                        "`; a name has letters, digits and `_`, and begins with no digit; each dimension is an "
                                        "argument of its own, as in `Tile(1, \"N\", f32)`"));
  }
  return std::nullopt;
}

// The layout of one load that is `inner` elements wide. A width that only the call knows is left to the runtime.
Expected<Layout> layout_for(const Dim& inner, Type dtype) {
  const auto* size = std::get_if<std::int64_t>(&inner);
  if (size == nullptr) return Layout::row;
  const auto swizzle = layout::swizzle_for_width(*size * element_bytes(dtype));
  if (!swizzle) return Unexpected{swizzle.error()};
  switch (*swizzle) {
    case layout::Swizzle::b32:
      return Layout::tma_32b;
    case layout::Swizzle::b64:
      return Layout::tma_64b;
    case layout::Swizzle::b128:
      return Layout::tma_128b;
    default:
      return Layout::row;
  }
}

Expected<Tile> matrix_operand(Dim rows, Dim columns, Type dtype, const std::optional<Dim>& box_rows,
                              const std::optional<Dim>& box_columns) {
  const Dim inner = box_columns.value_or(columns);
  if (auto bad = bad_dim(std::array{inner}, "the width")) return *std::move(bad);
  const auto layout = layout_for(inner, dtype);
  if (!layout) return Unexpected{layout.error()};
  std::optional<std::vector<Dim>> box;
  if (box_rows || box_columns) box = std::vector<Dim>{box_rows.value_or(rows), inner};
  return Tile::make({std::move(rows), std::move(columns)}, dtype, *layout, std::move(box));
}

}  // namespace

std::string_view name(Layout layout) { return layout_names[static_cast<std::size_t>(layout)]; }

std::optional<Layout> layout_from_name(std::string_view name) {
  const auto it = std::find(layout_names.begin(), layout_names.end(), name);
  return it == layout_names.end() ? std::nullopt : std::optional(static_cast<Layout>(it - layout_names.begin()));
}

std::string_view numpy_name(Type type) {
  const auto* it = std::find_if(std::begin(dtypes), std::end(dtypes), [&](const Dtype& d) { return d.type == type; });
  return it == std::end(dtypes) ? std::string_view() : it->numpy;
}

std::optional<Type> type_from_dtype_name(std::string_view name) {
  const auto* it = std::find_if(std::begin(dtypes), std::end(dtypes), [&](const Dtype& d) { return d.numpy == name; });
  if (it != std::end(dtypes)) return it->type;
  return isa::type_from_name(name);
}

bool dtype_matches(Type type, std::string_view dtype_name) {
  if (dtype_name == isa::name(type) || (!dtype_name.empty() && dtype_name == numpy_name(type))) return true;
  const std::optional<Type> given = type_from_dtype_name(dtype_name);
  if (!given || isa::bits(type) < 8 || element_bytes(*given) != element_bytes(type)) return false;
  if (isa::kind(type) == isa::TypeKind::bits) return true;
  return isa::is_integer(type) && (isa::is_integer(*given) || isa::kind(*given) == isa::TypeKind::bits || *given == Type::pred);
}

int element_bytes(Type type) { return std::max(1, isa::bits(type) / 8); }

Expected<Env> unify(std::span<const Env> envs) {
  Env merged;
  for (const Env& env : envs)
    for (const auto& [name, size] : env)
      if (const auto [it, added] = merged.emplace(name, size); !added && it->second != size)
        return refuse(Kind::dim_conflict, cat("conflicting sizes for the dimension `", name, "`: ", it->second, " and ", size));
  return merged;
}

}  // namespace tile

Expected<Tile> Tile::make(std::vector<tile::Dim> dims, Type dtype, Layout layout, std::optional<std::vector<tile::Dim>> tma_box,
                          int tma_rank, bool tma_padding) {
  if (dims.empty()) return refuse(Kind::bad_tile, "a Tile needs at least one dimension, as in `Tile(\"M\", 512, f32)`");
  if (dtype == Type::none) {
    const auto* last = std::get_if<std::string>(&dims.back());
    if (last != nullptr && isa::type_from_name(*last))  // "f32" is as good a name of a dimension as any
      return refuse(Kind::bad_tile, cat("a Tile needs a dtype, and the text \"", *last, "\" names a dimension; the dtype is `",
                                        *last, "` itself, without quotes"));
    return refuse(Kind::bad_tile, cat("a Tile needs a dtype, as in `Tile(", tile::listed(dims), ", f32)`"));
  }
  if (auto bad = tile::bad_dim(dims, "dimension")) return *std::move(bad);
  if (tma_box) {
    if (tma_box->size() != dims.size())
      return refuse(Kind::bad_tile, cat("the tma_box (", tile::listed(*tma_box), ") has rank ", tma_box->size(),
                                        ", the Tile has rank ", dims.size()));
    if (auto bad = tile::bad_dim(*tma_box, "tma_box dimension")) return *std::move(bad);
  }
  if (tma_rank < 1 || tma_rank > 5)
    return refuse(Kind::bad_tile, cat("tma_rank is ", tma_rank, "; a tensor map has rank 1 to 5"));
  Tile tile;
  tile.shape_ = std::move(dims);
  tile.dtype_ = dtype;
  tile.layout_ = layout;
  tile.tma_box_ = std::move(tma_box);
  tile.tma_rank_ = tma_rank;
  tile.tma_padding_ = tma_padding;
  return tile;
}

Expected<Tile> Tile::wgmma_a(tile::Dim m, tile::Dim k, Type dtype, const std::optional<tile::Dim>& tile_m,
                             const std::optional<tile::Dim>& tile_k) {
  return tile::matrix_operand(std::move(m), std::move(k), dtype, tile_m, tile_k);
}

Expected<Tile> Tile::wgmma_b(tile::Dim k, tile::Dim n, Type dtype, const std::optional<tile::Dim>& tile_k,
                             const std::optional<tile::Dim>& tile_n) {
  return tile::matrix_operand(std::move(k), std::move(n), dtype, tile_k, tile_n);
}

std::vector<std::string> Tile::symbolic_dims() const {
  std::vector<std::string> names;
  for (const tile::Dim& dim : shape_)
    if (const auto* name = std::get_if<std::string>(&dim)) names.push_back(*name);
  return names;
}

Expected<std::vector<std::int64_t>> Tile::resolve(const tile::Env& env) const {
  std::vector<std::int64_t> sizes;
  sizes.reserve(shape_.size());
  for (const tile::Dim& dim : shape_) {
    if (const auto* size = std::get_if<std::int64_t>(&dim)) {
      sizes.push_back(*size);
      continue;
    }
    const std::string& name = std::get<std::string>(dim);
    const auto it = env.find(name);
    if (it == env.end()) return refuse(Kind::dim_unbound, cat("the dimension `", name, "` of ", to_string(), " has no size"));
    sizes.push_back(it->second);
  }
  return sizes;
}

Expected<tile::Env> Tile::extract(std::span<const std::int64_t> shape) const {
  if (shape.size() != rank())
    return refuse(Kind::argument_rank, cat("a tensor of shape ", tile::listed(shape), " has rank ", shape.size(), ", ",
                                           to_string(), " has rank ", rank()));
  tile::Env env;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (const auto* size = std::get_if<std::int64_t>(&shape_[i])) {
      if (*size != shape[i])
        return refuse(Kind::argument_dim, cat("dimension ", i, " of a tensor of shape ", tile::listed(shape), " is ", shape[i],
                                              ", ", to_string(), " has ", *size, " there"));
      continue;
    }
    const std::string& name = std::get<std::string>(shape_[i]);
    if (const auto [it, added] = env.emplace(name, shape[i]); !added && it->second != shape[i])
      return refuse(Kind::dim_conflict, cat("conflicting sizes for the dimension `", name, "` of ", to_string(),
                                            " in a tensor of shape ", tile::listed(shape), ": ", it->second, " and ", shape[i]));
  }
  return env;
}

bool Tile::matches(std::span<const std::int64_t> shape, std::string_view dtype_name) const {
  if (shape.size() != rank() || !tile::dtype_matches(dtype_, dtype_name)) return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (const auto* size = std::get_if<std::int64_t>(&shape_[i]); size != nullptr && *size != shape[i]) return false;
  return true;
}

std::string Tile::to_string() const { return cat("Tile(", tile::listed(shape_), ", ", isa::name(dtype_), ')'); }

}  // namespace ptx
