// tile (floor 2): the tensor boundary contract: what shape, type and layout a kernel's tensors have, and how symbolic dimensions
// are bound. Specification: pyptx.specs; api.md 12.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/brief.hpp"
#include "ptx/isa/brief.hpp"
#include "ptx/tile/brief.hpp"
#include "ptx/tile/env.hpp"
#include "ptx/tile/launch_attributes.hpp"

namespace ptx {

namespace layout {
struct TensorMap;
enum class Swizzle : std::uint8_t;
enum class TensorMapType : std::uint8_t;
}  // namespace layout

namespace tile {

std::string_view name(Layout layout);  ///< "tma_128b"
std::optional<Layout> layout_from_name(std::string_view name);

/// What a dtype is called by numpy, JAX and torch ("bfloat16"), or "" for a type that no tensor has. b16 counts as uint16, pred
/// as bool.
std::string_view numpy_name(Type type);
/// The type of a numpy, JAX or PTX name: "float32", "bfloat16", "f32".
std::optional<Type> type_from_dtype_name(std::string_view name);
/// True when a tensor of numpy dtype `dtype_name` may stand for a tile of `type`. Integers fit by their width, signed or not,
/// since PTX says the sign with each instruction; so do bools and the 8-bit integers; bN takes every type of N bits.
bool dtype_matches(Type type, std::string_view dtype_name);
/// Bytes of one element of a tensor of this type.
int element_bytes(Type type);

}  // namespace tile

/// A tensor's shape, element type and layout. Immutable once made; compares by value.
class Tile {
 public:
  /// Kind bad_tile: no dims, a dim of 0 or less, a bad box rank, tma_rank other than 1 to 5.
  static Expected<Tile> make(std::vector<tile::Dim> dims, Type dtype, Layout layout = Layout::row,
                             std::optional<std::vector<tile::Dim>> tma_box = std::nullopt, int tma_rank = 2,
                             bool tma_padding = false);

  /// A wgmma A operand, M x K row-major (K-major): layout by the width of one load (api.md 12).
  static Expected<Tile> wgmma_a(tile::Dim m, tile::Dim k, Type dtype, const std::optional<tile::Dim>& tile_m = {},
                                const std::optional<tile::Dim>& tile_k = {});
  /// A wgmma B operand, K x N row-major (MN-major).
  static Expected<Tile> wgmma_b(tile::Dim k, tile::Dim n, Type dtype, const std::optional<tile::Dim>& tile_k = {},
                                const std::optional<tile::Dim>& tile_n = {});

  [[nodiscard]] const std::vector<tile::Dim>& shape() const { return shape_; }
  [[nodiscard]] Type dtype() const { return dtype_; }
  [[nodiscard]] Layout layout() const { return layout_; }
  [[nodiscard]] const std::optional<std::vector<tile::Dim>>& tma_box() const { return tma_box_; }
  [[nodiscard]] int tma_rank() const { return tma_rank_; }
  [[nodiscard]] bool tma_padding() const { return tma_padding_; }
  [[nodiscard]] std::size_t rank() const { return shape_.size(); }
  /// The names among the dimensions, in order.
  [[nodiscard]] std::vector<std::string> symbolic_dims() const;

  /// The shape with its names replaced; kind dim_unbound names the first that `env` lacks.
  [[nodiscard]] Expected<std::vector<std::int64_t>> resolve(const tile::Env& env) const;
  /// The sizes that this tile's names have in a tensor of `shape`; kinds argument_rank, argument_dim, dim_conflict (one name
  /// twice).
  [[nodiscard]] Expected<tile::Env> extract(std::span<const std::int64_t> shape) const;
  /// Rank, fixed dimensions and dtype fit.
  [[nodiscard]] bool matches(std::span<const std::int64_t> shape, std::string_view dtype_name) const;
  /// "Tile(M, 512, f32)".
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Tile&, const Tile&) = default;

 private:
  Tile() = default;
  std::vector<tile::Dim> shape_;
  Type dtype_ = Type::none;
  Layout layout_ = Layout::row;
  std::optional<std::vector<tile::Dim>> tma_box_;
  int tma_rank_ = 2;
  bool tma_padding_ = false;
};

namespace tile {
/// Merges bindings; kind dim_conflict when one name has two sizes (the message holds the word "conflicting").
Expected<Env> unify(std::span<const Env> envs);

/// The tensor map (ptx/layout/layout.hpp) through which tensor copies see a row-major tensor of this tile, its names replaced. A
/// tensor of any rank by itself, or a matrix of tma_rank 3 as slabs of 64 columns. The box is tma_box; without one, all of the
/// tensor where one copy can move it, else 128 rows of a matrix by the swizzle's width. Kinds bad_tile (a rule of tensor maps
/// that the tensor breaks), dim_unbound.
Expected<layout::TensorMap> tensor_map(const Tile& tile, const Env& env);
/// What one copy by that map takes of shared memory; nothing where it depends on sizes that are not known, and of a tile that has
/// no tensor map.
std::optional<std::uint64_t> shared_box_bytes(const Tile& tile, const Env& env);
/// A type's counterpart in tensor maps: 8-bit floats are bytes. Kind bad_tile for one that has none.
Expected<layout::TensorMapType> tensor_map_type(Type type);
/// The swizzle of a copy of this layout: that of its name, none where it names none.
layout::Swizzle swizzle_of(Layout layout);
}  // namespace tile

}  // namespace ptx
