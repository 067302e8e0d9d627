// What the helpers of `ptx.cp` and `ptx.tma` are called and do: see declare.hpp.
#pragma once

#include "ptx/write/door/copies.hpp"
#include "ptx/write/door/declare.hpp"

namespace ptx::write::declare {

template <>
inline constexpr auto fields<AsyncCopyOptions> =
    Fields<&AsyncCopyOptions::src_size, &AsyncCopyOptions::cache_hint, &AsyncCopyOptions::pred>{};
template <>
inline constexpr auto fields<BulkLoadOperands> =
    Fields<needed(&BulkLoadOperands::dst), needed(&BulkLoadOperands::src), needed(&BulkLoadOperands::size),
           asked(&BulkLoadOperands::mbar), &BulkLoadOperands::multicast_mask, &BulkLoadOperands::cache_hint,
           &BulkLoadOperands::pred>{};
template <>
inline constexpr auto fields<BulkStoreOperands> =
    Fields<needed(&BulkStoreOperands::dst), needed(&BulkStoreOperands::src), needed(&BulkStoreOperands::size),
           &BulkStoreOperands::cache_hint, &BulkStoreOperands::byte_mask, &BulkStoreOperands::pred>{};
template <>
inline constexpr auto fields<BulkPrefetchOperands> =
    Fields<needed(&BulkPrefetchOperands::src), needed(&BulkPrefetchOperands::size), &BulkPrefetchOperands::cache_hint,
           &BulkPrefetchOperands::pred>{};
template <>
inline constexpr auto fields<BulkReduceOperands> =
    Fields<needed(&BulkReduceOperands::dst), needed(&BulkReduceOperands::src), needed(&BulkReduceOperands::size),
           &BulkReduceOperands::mbar, &BulkReduceOperands::cache_hint, &BulkReduceOperands::pred>{};
template <>
inline constexpr auto fields<BulkWaitOptions> = Fields<&BulkWaitOptions::read, &BulkWaitOptions::pred>{};
template <>
inline constexpr auto fields<TensorLoadOperands> =
    Fields<needed(&TensorLoadOperands::dst), needed(&TensorLoadOperands::src), needed(&TensorLoadOperands::coord),
           &TensorLoadOperands::mbar, &TensorLoadOperands::cta_group, &TensorLoadOperands::multicast_mask,
           &TensorLoadOperands::cache_hint, &TensorLoadOperands::pred>{};
template <>
inline constexpr auto fields<TensorStoreOperands> =
    Fields<needed(&TensorStoreOperands::dst), needed(&TensorStoreOperands::src), needed(&TensorStoreOperands::coord),
           &TensorStoreOperands::cache_hint, &TensorStoreOperands::pred>{};
template <>
inline constexpr auto fields<TensorPrefetchOperands> =
    Fields<needed(&TensorPrefetchOperands::src), needed(&TensorPrefetchOperands::coord), &TensorPrefetchOperands::cache_hint,
           &TensorPrefetchOperands::pred>{};
template <>
inline constexpr auto fields<TensorLoadOptions> =
    Fields<&TensorLoadOptions::mbar, &TensorLoadOptions::cache_hint, &TensorLoadOptions::multicast_mask,
           &TensorLoadOptions::cta_group, &TensorLoadOptions::offsets, &TensorLoadOptions::pred>{};
template <>
inline constexpr auto fields<TensorOptions> =
    Fields<&TensorOptions::mbar, &TensorOptions::cache_hint, &TensorOptions::offsets, &TensorOptions::pred>{};
template <>
inline constexpr auto fields<Tma::Load> = Fields<needed(&Tma::Load::dst), needed(&Tma::Load::src), &Tma::Load::row,
                                                 &Tma::Load::col, &Tma::Load::mbar, &Tma::Load::coords, &Tma::Load::pred>{};
template <>
inline constexpr auto fields<Tma::Multicast> =
    Fields<needed(&Tma::Multicast::dst), needed(&Tma::Multicast::src), &Tma::Multicast::row, &Tma::Multicast::col,
           &Tma::Multicast::mbar, &Tma::Multicast::mask, &Tma::Multicast::coords, &Tma::Multicast::issuer,
           &Tma::Multicast::pred>{};
template <>
inline constexpr auto fields<Tma::Store> = Fields<needed(&Tma::Store::dst), needed(&Tma::Store::src), &Tma::Store::row,
                                                  &Tma::Store::col, &Tma::Store::coords, &Tma::Store::pred>{};

inline constexpr std::tuple async_helpers{
    helper<&CpAsync::cg>("ptx.cp.async_.cg", "dst|smem_dst, src|global_src, bytes|byte_count: int, src_size, *",
                         "`cp.async.cg.shared.global [dst], [src], bytes`: 16 bytes, only through L2. Of these `src_size` are "
                         "read, the rest are zeros."),
    helper<&CpAsync::ca>(
        "ptx.cp.async_.ca", "dst|smem_dst, src|global_src, bytes|byte_count: int, src_size, *",
        "`cp.async.ca.shared.global [dst], [src], bytes`: 4, 8 or 16 bytes. Of these `src_size` are read, the rest are zeros."),
    helper<&CpAsync::commit_group>("ptx.cp.async_.commit_group", "",
                                   "`cp.async.commit_group`: the copies begun so far are a group."),
    helper<&CpAsync::wait_group>("ptx.cp.async_.wait_group", "n: int",
                                 "`cp.async.wait_group n`: wait until at most `n` groups are pending."),
    helper<&CpAsync::wait_all>("ptx.cp.async_.wait_all", "", "`cp.async.wait_all`: wait until no copy is pending.")};

inline constexpr std::tuple bulk_helpers{
    helper<&BulkCopies::operator()>(
        "ptx.cp.async_.bulk.__call__", "",
        "`cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes[.multicast::cluster] [dst], [src], size, [mbar][, "
        "mask]`: `size` bytes of global memory, a multiple of 16, into shared memory."),
    helper<&BulkCopies::shared_cta_global>(
        "ptx.cp.async_.bulk.shared_cta_global", "-multicast_mask",
        "`cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [dst], [src], size, [mbar]` (PTX 8.6)."),
    helper<&BulkCopies::shared_cluster_shared_cta>(
        "ptx.cp.async_.bulk.shared_cluster_shared_cta", "-multicast_mask, -cache_hint",
        "`cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dst], [src], size, [mbar]`: into another CTA "
        "of the cluster, whose addresses `dst` and `mbar` are."),
    helper<&BulkCopies::store>("ptx.cp.async_.bulk.store", "",
                               "`cp.async.bulk.global.shared::cta.bulk_group [dst], [src], size`: shared memory into global "
                               "memory, part of a bulk group; of each 16 bytes those that `byte_mask` tells."),
    helper<&BulkCopies::prefetch>("ptx.cp.async_.bulk.prefetch", "",
                                  "`cp.async.bulk.prefetch.L2.global [src], size`: global memory into the L2 cache."),
    helper<&BulkCopies::commit_group>("ptx.cp.async_.bulk.commit_group", "",
                                      "`cp.async.bulk.commit_group`: the bulk copies begun so far are a group."),
    helper<&BulkCopies::wait_group>(
        "ptx.cp.async_.bulk.wait_group", "n: int",
        "`cp.async.bulk.wait_group[.read] n`: wait until at most `n` groups are pending, or (`read`) still read their source.")};

inline constexpr std::tuple bulk_reduction_helpers{helper<&BulkReductions::operator()>(
    "ptx.cp.reduce.async_.bulk.__call__", "op, dtype",
    "`cp.reduce.async.bulk.global.shared::cta.bulk_group.op.dtype [dst], [src], size`: global memory is reduced with `size` "
    "bytes of shared memory; with an mbarrier it is another CTA's shared memory, `.shared::cluster`.")};

/// Of a rank.
inline constexpr std::tuple tensor_helpers{
    helper<&TensorCopies::operator()>(
        "ptx.cp.async_.bulk.tensor_Nd.__call__", "",
        "`cp.async.bulk.tensor.Nd.shared::cluster.global.mbarrier::complete_tx::bytes [dst], [src, {coord}], [mbar]`: a box of "
        "the tensor whose map `src` is into shared memory; `coord` is its first element, the fastest dimension first. "
        "`multicast_mask` has a bit for each CTA of the cluster."),
    helper<&TensorCopies::shared_cta_global_tile>("ptx.cp.async_.bulk.tensor_Nd.shared_cta_global_tile", "-multicast_mask",
                                                  "`cp.async.bulk.tensor.Nd.shared::cta.global.tile.mbarrier::complete_tx::bytes "
                                                  "[dst], [src, {coord}], [mbar]` (PTX 8.6)."),
    helper<&TensorCopies::store>("ptx.cp.async_.bulk.tensor_Nd.store", "",
                                 "`cp.async.bulk.tensor.Nd.global.shared::cta.bulk_group [dst, {coord}], [src]`: shared memory "
                                 "into a box of the tensor whose map `dst` is, part of a bulk group."),
    helper<&TensorCopies::prefetch>(
        "ptx.cp.async_.bulk.tensor_Nd.prefetch", "",
        "`cp.async.bulk.prefetch.tensor.Nd.L2.global [src, {coord}]`: a box of a tensor into the L2 cache.")};

inline constexpr std::tuple tensor_reduction_helpers{helper<&TensorReductions::operator()>(
    "ptx.cp.reduce.async_.bulk.tensor_Nd.__call__", "op",
    "`cp.reduce.async.bulk.tensor.Nd.global.shared::cta.op.bulk_group [dst, {coord}], [src]`: a box of the tensor whose map "
    "`dst` is becomes the sum, minimum, … of itself and shared memory; `op` is add, min, max, inc, dec, and, or, or xor.")};

/// Of a rank, with their operands in order.
inline constexpr auto tile_form = helper<&TensorLoadForm::operator()>(
    "ptx.cp.async_.bulk.tensor.tile_Nd", "dst, src, coord, -offsets",
    "`cp.async.bulk.tensor.Nd.shared::cluster.global.mbarrier::complete_tx::bytes [dst], [src, {coord}], [mbar]`");
inline constexpr auto store_form =
    helper<&TensorStoreForm::operator()>("ptx.cp.async_.bulk.tensor.store_Nd", "dst, src, coord, -offsets, -mbar",
                                         "`cp.async.bulk.tensor.Nd.global.shared::cta.bulk_group [dst, {coord}], [src]`");
inline constexpr auto prefetch_form =
    helper<&TensorPrefetchForm::operator()>("ptx.cp.async_.bulk.tensor.prefetch_Nd", "src, coord, offsets, -mbar",
                                            "`cp.async.bulk.prefetch.tensor.Nd.L2.global [src, {coord}]`");
inline constexpr auto im2col_form =
    helper<&TensorLoadForm::operator()>("ptx.cp.async_.bulk.tensor.im2col_Nd", "dst, src, coord, offsets",
                                        "`cp.async.bulk.tensor.Nd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                                        "[dst], [src, {coord}], [mbar], {offsets}`: the pixels under a convolution's filter; "
                                        "`offsets`, one a spatial dimension, are the filter's place, zeros unless given.");
inline constexpr auto prefetch_im2col_form =
    helper<&TensorPrefetchForm::operator()>("ptx.cp.async_.bulk.tensor.prefetch_im2col_Nd", "src, coord, offsets, -mbar",
                                            "`cp.async.bulk.prefetch.tensor.Nd.L2.global.im2col [src, {coord}], {offsets}`");
inline constexpr auto gather4_form =
    helper<&TensorLoadForm::operator()>("ptx.cp.async_.bulk.tensor.gather4_Nd", "dst, src, coord, -offsets",
                                        "`cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::"
                                        "bytes [dst], [src, {col, r0, r1, r2, r3}], [mbar]`: four rows of a matrix.");
inline constexpr auto prefetch_gather4_form = helper<&TensorPrefetchForm::operator()>(
    "ptx.cp.async_.bulk.tensor.prefetch_gather4_Nd", "src, coord, offsets, -mbar",
    "`cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [src, {col, r0, r1, r2, r3}]`");
inline constexpr auto scatter4_form = helper<&TensorStoreForm::operator()>(
    "ptx.cp.async_.bulk.tensor.scatter4_Nd", "dst, src, coord, *, mbar: None, -offsets",
    "`cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [dst, {col, r0, r1, r2, r3}], [src]`: shared memory "
    "into four rows of a matrix, part of a bulk group; it has no mbarrier.");

inline constexpr std::tuple tma_helpers{
    helper<&Tma::load_3d>(
        "ptx.tma.load_3d", "dst, src, row, col, mbar, coords, *",
        "`cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dst], [src, {0, row, col / 64}], "
        "[mbar]`; a column in a register is divided by a `shr.u32` before. `coords` are the three coordinates themselves."),
    helper<&Tma::load_3d_multicast>("ptx.tma.load_3d_multicast", "dst, src, row, col, mbar, mask, coords, *",
                                    "`load_3d` into all CTAs of the cluster that `mask` has a bit for. `issuer` is the CTA that "
                                    "does it, by its rank (a `mov` and a `setp` before), or a predicate."),
    helper<&Tma::store_3d>("ptx.tma.store_3d", "dst, src, row, col, coords, *",
                           "`cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [dst, {0, row, col / 64}], [src]`")};

}  // namespace ptx::write::declare
