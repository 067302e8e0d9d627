// Copies between global and shared memory that run beside the thread: `cp.async` of 4 to 16 bytes a thread, and `cp.async.bulk`
// and `cp.reduce.async.bulk` of whole rows (api.md 7.1, 7.2). Each function writes one instruction.
#pragma once

#include <optional>
#include <string_view>

#include "ptx/write/builder.hpp"
#include "ptx/write/place.hpp"

namespace ptx::write::idiom {

/// Which caches a `cp.async` goes through: all (4, 8 or 16 bytes), or L2 alone (16 bytes).
enum class CopyCaches : std::uint8_t { ca, cg };

/// What a copy may say besides: further operands, each with its modifier.
struct CopyOptions {
  std::optional<Value> src_size = {};        ///< cp.async: bytes to read; the rest of the destination becomes zero
  std::optional<Value> multicast_mask = {};  ///< `.multicast::cluster`: bit i stands for the CTA of rank i
  std::optional<Value> cache_hint = {};      ///< `.L2::cache_hint`: a 64-bit cache policy
  std::optional<Value> byte_mask = {};       ///< `.cp_mask`: which of 16 bytes are written
};

/// `cp.async.<caches>.shared.global[.L2::cache_hint] [dst], [src], bytes[, src_size][, cache_hint]`
Expected<void> cp_async(Builder& builder, CopyCaches caches, const Place& dst, const Place& src, const Value& bytes,
                        const CopyOptions& options, const Guard& guard, SourceLocation where);
/// `cp.async.commit_group`, or `cp.async.bulk.commit_group`
Expected<void> commit_group(Builder& builder, bool bulk, const Guard& guard, SourceLocation where);
/// `cp.async.wait_group n`, or `cp.async.bulk.wait_group[.read] n`
Expected<void> wait_group(Builder& builder, bool bulk, bool read, const Value& pending, const Guard& guard, SourceLocation where);
/// `cp.async.wait_all`
Expected<void> wait_all(Builder& builder, const Guard& guard, SourceLocation where);

/// From where to where a bulk copy goes.
enum class BulkRoute : std::uint8_t {
  global_to_cluster,  ///< `.shared::cluster.global`: this CTA's shared memory, or with a mask that of several
  global_to_cta,      ///< `.shared::cta.global`
  cta_to_cluster,     ///< `.shared::cluster.shared::cta`: another CTA's shared memory
  cta_to_global,      ///< `.global.shared::cta`
};

/// The operands that every bulk copy has.
struct BulkCopy {
  BulkRoute route = BulkRoute::global_to_cluster;
  Place dst, src;
  Value size;                      ///< bytes, a multiple of 16
  std::optional<Place> mbar = {};  ///< the mbarrier that counts the bytes; none on the way to global memory
};

/// `cp.async.bulk.<dst>.<src>.mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint] [dst], [src], size, [mbar][,
/// mask][, hint]`, or to global memory `cp.async.bulk.global.shared::cta.bulk_group[.L2::cache_hint][.cp_mask] [dst], [src],
/// size[, hint][, byte_mask]`.
Expected<void> bulk_copy(Builder& builder, const BulkCopy& copy, const CopyOptions& options, const Guard& guard,
                         SourceLocation where);
/// `cp.reduce.async.bulk.<dst>.shared::cta.<completion>[.L2::cache_hint].<op>[.noftz].<type> [dst], [src], size[, [mbar]][,
/// hint]`
Expected<void> bulk_reduce(Builder& builder, std::string_view op, Type type, const BulkCopy& copy, const CopyOptions& options,
                           const Guard& guard, SourceLocation where);
/// `cp.async.bulk.prefetch.L2.global[.L2::cache_hint] [src], size[, hint]`
Expected<void> bulk_prefetch(Builder& builder, const Place& src, const Value& size, const CopyOptions& options,
                             const Guard& guard, SourceLocation where);

/// The error of a copy into shared memory without an mbarrier.
Unexpected refuse_without_mbarrier(std::string_view instruction, SourceLocation where);

}  // namespace ptx::write::idiom
