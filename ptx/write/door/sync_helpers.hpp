// What the helpers of barriers, fences and clusters are called and do: see declare.hpp.
#pragma once

#include "ptx/write/door/declare.hpp"
#include "ptx/write/door/sync.hpp"

namespace ptx::write::declare {

template <>
inline constexpr auto fields<Mbarrier::TryWait> = Fields<&Mbarrier::TryWait::parity, &Mbarrier::TryWait::pred>{};
template <>
inline constexpr auto fields<Cluster::Options> = Fields<&Cluster::Options::aligned, &Cluster::Options::pred>{};

inline constexpr std::tuple mbarrier_helpers{
    helper<&Mbarrier::init, "m|mbar, count">(
        "ptx.mbarrier.init", "Makes a barrier that `count` arrivals complete: `mbarrier.init.shared::cta.b64 [m], count`."),
    helper<&Mbarrier::inval, "m|mbar">("ptx.mbarrier.inval", "Frees its memory for other use: `mbarrier.inval.shared.b64 [m]`."),
    helper<&Mbarrier::arrive, "m|mbar">("ptx.mbarrier.arrive",
                                        "Arrives: `mbarrier.arrive.shared.b64 state, [m]`, the state in a fresh register."),
    helper<&Mbarrier::arrive_expect_tx, "m|mbar, bytes|tx_count">(
        "ptx.mbarrier.arrive_expect_tx",
        "Expects `bytes` more and arrives: `mbarrier.arrive.expect_tx.shared::cta.b64 state, [m], bytes`."),
    helper<&Mbarrier::expect_tx, "m|mbar, bytes|tx_count">("ptx.mbarrier.expect_tx",
                                                           "Expects `bytes` more: `mbarrier.expect_tx.shared.b64 [m], bytes`."),
    helper<static_cast<ptx::Reg<Type::pred> (Mbarrier::*)(const PlaceArg&, const Source&, const Mbarrier::TryWait&)>(
               &Mbarrier::try_wait),
           "m|mbar, phase">(
        "ptx.mbarrier.try_wait",
        "Whether the phase is complete, after a while at most: `mbarrier.try_wait.parity.shared.b64 p, [m], phase`. Without "
        "`parity`, `phase` is the state of an arrival."),
    helper<&Mbarrier::wait, "m|mbar, phase">(
        "ptx.mbarrier.wait",
        "Waits until the phase of that parity is complete: a loop of `try_wait`. Threads whose `pred` is false do not wait.")};

/// The methods of one barrier, which is their first argument.
inline constexpr std::tuple barrier_slot_helpers{
    helper<&Mbarrier::init, "m, count">("ptx.mbarrier.init", "See `ptx.mbarrier.init`."),
    helper<&Mbarrier::wait, "m, phase">("ptx.mbarrier.wait", "See `ptx.mbarrier.wait`."),
    helper<&Mbarrier::arrive, "m">("ptx.mbarrier.arrive", "See `ptx.mbarrier.arrive`."),
    helper<&Mbarrier::arrive_expect_tx, "m, bytes|tx_count">("ptx.mbarrier.arrive_expect_tx",
                                                             "See `ptx.mbarrier.arrive_expect_tx`."),
    helper<&Cluster::arrive_remote, "m, cta|cta_id, count = 1">(
        "ptx.cluster.arrive_remote", "Arrives at the barrier at the same place of another block of the cluster.")};

inline constexpr std::tuple fence_helpers{
    helper<&Fence::proxy_async>("ptx.fence.proxy_async", "`fence.proxy.async`"),
    helper<&Fence::proxy_async_shared_cta>("ptx.fence.proxy_async_shared_cta", "`fence.proxy.async.shared::cta`"),
    helper<&Fence::mbarrier_init>("ptx.fence.mbarrier_init", "`fence.mbarrier_init.release.cluster`"),
    helper<&Fence::proxy_async_generic_acquire_shared_cluster>(
        "ptx.fence.proxy_async_generic_acquire_shared_cluster",
        "`fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster`")};

inline constexpr std::tuple cluster_helpers{
    helper<static_cast<void (Cluster::*)(Cluster::Options, SourceLocation)>(&Cluster::arrive)>(
        "ptx.cluster.arrive", "`barrier.cluster.arrive[.aligned]`"),
    helper<static_cast<void (Cluster::*)(Cluster::Options, SourceLocation)>(&Cluster::wait)>("ptx.cluster.wait",
                                                                                             "`barrier.cluster.wait[.aligned]`"),
    helper<static_cast<void (Cluster::*)(Cluster::Options, SourceLocation)>(&Cluster::sync)>(
        "ptx.cluster.sync", "Arrives and waits for all threads of the cluster."),
    helper<&Cluster::rank, "n|cta_id">("ptx.cluster.rank", "A predicate: whether this is block `n` of its cluster."),
    helper<&Cluster::map_shared_u32, "addr|smem_addr, cta|cta_id">(
        "ptx.cluster.map_shared_u32", "The address of the same place in block `cta` of the cluster: `mapa.shared::cluster.u32`."),
    helper<&Cluster::arrive_remote, "addr|bar_addr, cta|cta_id, count = 1">(
        "ptx.cluster.arrive_remote", "Arrives at the barrier at the same place of block `cta` of the cluster."),
    helper<&Cluster::arrive_multicast, "addr|bar_addr, mask, count = 1">(
        "ptx.cluster.arrive_multicast", "`arrive_remote` at each block whose bit of `mask` is set.")};

inline constexpr std::tuple bar_helpers{
    helper<static_cast<void (Bar::*)(const Source&, const std::optional<Source>&, const Pred&)>(&Bar::sync),
           "n|barrier_id = 0, count">("ptx.bar.sync",
                                      "Wait until all (or `count`) threads of the block have come to barrier `n`.")};

inline constexpr std::tuple block_helpers{
    helper<&set_registers, "n, *, inc = True">(
        "ptx.setmaxnreg", "`setmaxnreg.inc.sync.aligned.u32 n`, or `.dec`: how many registers the warpgroup's threads have."),
    helper<&set_registers_inc, "n">("ptx.setmaxnreg_inc", "`setmaxnreg.inc.sync.aligned.u32 n`"),
    helper<&set_registers_dec, "n">("ptx.setmaxnreg_dec", "`setmaxnreg.dec.sync.aligned.u32 n`"),
    helper<&elect, "dst: Reg, pred_out: Reg, mask">(
        "ptx.elect_sync", "`elect.sync dst|pred_out, mask`: one lane of those of the mask, whose predicate is true.")};

}  // namespace ptx::write::declare
