// Copies of boxes of tensors by the tensor memory accelerator: `cp.async.bulk.tensor`, its reductions and prefetches
// (api.md 7.3), and the view of a row-major matrix as slabs of 64 columns (7.4). Each function writes one instruction, but for
// those of the view.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "ptx/write/builder.hpp"
#include "ptx/write/idiom/async_copy.hpp"
#include "ptx/write/place.hpp"

namespace ptx::write::idiom {

/// A box: a tensor map and the coordinates of the box's first element, the fastest dimension first.
struct TensorBox {
  int rank = 2;  ///< 1 to 5
  Value map;     ///< a register, or a symbol
  std::span<const Value> coords;
};

/// How the map is read. Boxes have a name that may be left out: `implicit_tile` is `tile` unspelt.
enum class TensorMode : std::uint8_t { implicit_tile, tile, im2col, gather4, scatter4 };

struct TensorLoad {
  TensorMode mode = TensorMode::implicit_tile;
  bool shared_cta = false;  ///< `.shared::cta` in place of `.shared::cluster`
  int cta_group = 1;        ///< 2: `.cta_group::2`, the mbarrier may be the other CTA's of a pair
  /// im2col: what is added to the spatial coordinates, rank - 2 numbers of 16 bits; none given: zeros.
  std::span<const Value> im2col_offsets = {};
};

/// `cp.async.bulk.tensor.Nd.<dst>.global[.<mode>].mbarrier::complete_tx::bytes[.multicast::cluster][.cta_group::2][.L2::cache_hint]
/// [dst], [map, {coords}], [mbar][, {offsets}][, mask][, hint]`. Gathering four rows: rank 2, five coordinates, the column and
/// then the rows. Kinds: operand_mismatch (coordinates), operand_count (no mbarrier), immediate_range (cta_group).
Expected<void> tensor_load(Builder& builder, const TensorLoad& load, const Place& dst, const TensorBox& src,
                           const std::optional<Place>& mbar, const CopyOptions& options, const Guard& guard,
                           SourceLocation where);
/// `cp.async.bulk.tensor.Nd.global.shared::cta[.<mode>].bulk_group[.L2::cache_hint] [map, {coords}], [src][, hint]`
Expected<void> tensor_store(Builder& builder, TensorMode mode, const TensorBox& dst, const Place& src, const CopyOptions& options,
                            const Guard& guard, SourceLocation where);
/// `cp.reduce.async.bulk.tensor.Nd.global.shared::cta.<op>.bulk_group[.L2::cache_hint] [map, {coords}], [src][, hint]`
Expected<void> tensor_reduce(Builder& builder, std::string_view op, const TensorBox& dst, const Place& src,
                             const CopyOptions& options, const Guard& guard, SourceLocation where);
/// `cp.async.bulk.prefetch.tensor.Nd.L2.global[.<mode>][.L2::cache_hint] [map, {coords}][, {offsets}][, hint]`
Expected<void> tensor_prefetch(Builder& builder, TensorMode mode, const TensorBox& src, std::span<const Value> im2col_offsets,
                               const CopyOptions& options, const Guard& guard, SourceLocation where);

/// Where a box lies in a matrix of 64-column slabs: a row and a column of the matrix, or the three coordinates themselves.
struct SlabPosition {
  std::optional<Value> row = {}, col = {};
  std::span<const Value> coords = {};
};

/// Who issues a multicast: the CTA of this rank, or whoever has the predicate.
struct Issuer {
  std::optional<std::int64_t> rank = {};
  Guard guard = {};
};

/// `cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dst], [map, {0, row, col / 64}], [mbar]`; a
/// column in a register is divided first, `shr.u32 t, col, 6`. Kind argument_count when neither row and col nor coords are given.
Expected<void> slab_load(Builder& builder, const Place& dst, const Value& map, const SlabPosition& position,
                         const std::optional<Place>& mbar, const Guard& guard, SourceLocation where);
/// The same with `.multicast::cluster` and the mask. An issuer's rank is compared first: `mov.u32 r, %cluster_ctarank;
/// setp.eq.u32 p, r, rank`.
Expected<void> slab_load_multicast(Builder& builder, const Place& dst, const Value& map, const SlabPosition& position,
                                   const std::optional<Place>& mbar, const Value& mask, const Issuer& issuer,
                                   SourceLocation where);
/// `cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [map, {0, row, col / 64}], [src]`
Expected<void> slab_store(Builder& builder, const Value& map, const Place& src, const SlabPosition& position, const Guard& guard,
                          SourceLocation where);

}  // namespace ptx::write::idiom
