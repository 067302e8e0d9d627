#include <algorithm>
#include <array>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx::tile {
namespace {

using layout::TensorMapType;

Unexpected bad(std::string message) { return {{.kind = Kind::bad_tile, .message = std::move(message)}}; }

using Sizes = std::vector<std::int64_t>;

Expected<Sizes> resolved(const Tile& tile, const std::vector<Dim>& dims, std::string_view what, const Env& env) {
  Sizes sizes;
  for (const Dim& dim : dims) {
    if (const auto* size = std::get_if<std::int64_t>(&dim)) {
      sizes.push_back(*size);
      continue;
    }
    const auto known = env.find(std::get<std::string>(dim));
    if (known == env.end()) {
      return Unexpected{
          {.kind = Kind::dim_unbound,
           .message = cat("the dimension `", std::get<std::string>(dim), "` of ", what, tile.to_string(), " has no size")}};
    }
    sizes.push_back(known->second);
  }
  return sizes;
}

/// The box of a tile that names none.
Sizes default_box(TensorMapType type, const Sizes& shape, layout::Swizzle swizzle, bool slabs) {
  if (shape.size() != 2 || layout::fits_one_box(type, shape, slabs ? layout::Swizzle::none : swizzle)) return shape;
  if (slabs) return {128, layout::slab_columns};
  const auto box = layout::default_matrix_box(type, shape[1], swizzle);
  return {box[0], box[1]};
}

}  // namespace

layout::Swizzle swizzle_of(Layout layout) {
  switch (layout) {
    case Layout::tma_128b:
      return layout::Swizzle::b128;
    case Layout::tma_64b:
      return layout::Swizzle::b64;
    case Layout::tma_32b:
      return layout::Swizzle::b32;
    default:
      return layout::Swizzle::none;
  }
}

Expected<TensorMapType> tensor_map_type(Type type) {
  switch (type) {
    case Type::f16:
      return TensorMapType::f16;
    case Type::bf16:
      return TensorMapType::bf16;
    case Type::f32:
      return TensorMapType::f32;
    case Type::tf32:
      return TensorMapType::tf32;
    case Type::f64:
      return TensorMapType::f64;
    case Type::s32:
      return TensorMapType::s32;
    case Type::s64:
      return TensorMapType::s64;
    case Type::pred:
      return TensorMapType::u8;  // a tensor's bool is a byte
    default:
      break;
  }
  switch (isa::kind(type) == isa::TypeKind::opaque ? 0 : isa::bits(type)) {  // what is copied is bits
    case 8:
      return TensorMapType::u8;
    case 16:
      return TensorMapType::u16;
    case 32:
      return TensorMapType::u32;
    case 64:
      return TensorMapType::u64;
    default:
      return bad(cat("no tensor map has elements of type `", isa::name(type), '`'));
  }
}

Expected<layout::TensorMap> tensor_map(const Tile& tile, const Env& env) {
  const auto type = tensor_map_type(tile.dtype());
  if (!type) return Unexpected{type.error()};
  auto shape = resolved(tile, tile.shape(), "", env);
  if (!shape) return Unexpected{std::move(shape).error()};
  const layout::Swizzle swizzle = swizzle_of(tile.layout());
  const bool slabs = tile.tma_rank() == 3 && tile.rank() == 2;
  if (!slabs && tile.tma_rank() != 2 && tile.tma_rank() != static_cast<int>(tile.rank()))
    return bad(cat(tile.to_string(), " has ", tile.rank(), " dimensions and tma_rank ", tile.tma_rank(),
                   "; what fits is 2 (as it is), or 3 for a matrix (as slabs of 64 columns)"));
  if (tile.tma_padding() && !slabs) return bad(cat(tile.to_string(), " has tma_padding, which needs tma_rank 3 of a matrix"));
  auto box = tile.tma_box() ? resolved(tile, *tile.tma_box(), "the tma_box of ", env)
                            : Expected<Sizes>(default_box(*type, *shape, swizzle, slabs));
  if (!box) return Unexpected{std::move(box).error()};
  if (slabs) return layout::slab_tensor_map(*type, (*shape)[0], (*shape)[1], (*box)[0], (*box)[1], swizzle, tile.tma_padding());
  return layout::tiled_tensor_map(*type, *shape, *box, swizzle);
}

std::optional<std::uint64_t> shared_box_bytes(const Tile& tile, const Env& env) {
  Env sizes = env;
  constexpr std::int64_t any_size = 1 << 16;  // of the tensor: a box that is given does not depend on it
  if (tile.tma_box())
    for (const Dim& dim : tile.shape())
      if (const auto* name = std::get_if<std::string>(&dim)) {
        const bool in_box = std::find(tile.tma_box()->begin(), tile.tma_box()->end(), dim) != tile.tma_box()->end();
        if (!in_box) sizes.try_emplace(*name, any_size);
      }
  const Expected<layout::TensorMap> map = tensor_map(tile, sizes);
  if (!map) return std::nullopt;
  return map->shared_box_bytes();
}

}  // namespace ptx::tile
