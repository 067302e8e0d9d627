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
    helper<&Mbarrier::init>("ptx.mbarrier.init", "m|mbar, count",
                            "Makes a barrier that `count` arrivals complete: `mbarrier.init.shared::cta.b64 [m], count`."),
    helper<&Mbarrier::inval>("ptx.mbarrier.inval", "m|mbar", "Frees its memory for other use: `mbarrier.inval.shared.b64 [m]`."),
    helper<&Mbarrier::arrive>("ptx.mbarrier.arrive", "m|mbar",
                              "Arrives: `mbarrier.arrive.shared.b64 state, [m]`, the state in a fresh register."),
    helper<&Mbarrier::arrive_expect_tx>(
        "ptx.mbarrier.arrive_expect_tx", "m|mbar, bytes|tx_count",
        "Expects `bytes` more and arrives: `mbarrier.arrive.expect_tx.shared::cta.b64 state, [m], bytes`."),
    helper<&Mbarrier::expect_tx>("ptx.mbarrier.expect_tx", "m|mbar, bytes|tx_count",
                                 "Expects `bytes` more: `mbarrier.expect_tx.shared.b64 [m], bytes`."),
    helper<static_cast<ptx::Reg<Type::pred> (Mbarrier::*)(const PlaceArg&, const Source&, const Mbarrier::TryWait&)>(
        &Mbarrier::try_wait)>("ptx.mbarrier.try_wait", "m|mbar, phase",
                              "Whether the phase is complete, after a while at most: `mbarrier.try_wait.parity.shared.b64 p, "
                              "[m], phase`. Without `parity`, `phase` is the state of an arrival."),
    helper<&Mbarrier::wait>(
        "ptx.mbarrier.wait", "m|mbar, phase",
        "Waits until the phase of that parity is complete: a loop of `try_wait`. Threads whose `pred` is false do not wait.")};

/// The methods of one barrier, which is their first argument.
inline constexpr std::tuple barrier_slot_helpers{
    helper<&Mbarrier::init>("ptx.mbarrier.init", "m, count", "See `ptx.mbarrier.init`."),
    helper<&Mbarrier::wait>("ptx.mbarrier.wait", "m, phase", "See `ptx.mbarrier.wait`."),
    helper<&Mbarrier::arrive>("ptx.mbarrier.arrive", "m", "See `ptx.mbarrier.arrive`."),
    helper<&Mbarrier::arrive_expect_tx>("ptx.mbarrier.arrive_expect_tx", "m, bytes|tx_count",
                                        "See `ptx.mbarrier.arrive_expect_tx`."),
    helper<&Cluster::arrive_remote>("ptx.cluster.arrive_remote", "m, cta|cta_id, count = 1",
                                    "Arrives at the barrier at the same place of another block of the cluster.")};

inline constexpr std::tuple fence_helpers{
    helper<&Fence::proxy_async>("ptx.fence.proxy_async", "", "`fence.proxy.async`"),
    helper<&Fence::proxy_async_shared_cta>("ptx.fence.proxy_async_shared_cta", "", "`fence.proxy.async.shared::cta`"),
    helper<&Fence::mbarrier_init>("ptx.fence.mbarrier_init", "", "`fence.mbarrier_init.release.cluster`"),
    helper<&Fence::proxy_async_generic_acquire_shared_cluster>(
        "ptx.fence.proxy_async_generic_acquire_shared_cluster", "",
        "`fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster`")};

inline constexpr std::tuple cluster_helpers{
    helper<static_cast<void (Cluster::*)(Cluster::Options, SourceLocation)>(&Cluster::arrive)>(
        "ptx.cluster.arrive", "", "`barrier.cluster.arrive[.aligned]`"),
    helper<static_cast<void (Cluster::*)(Cluster::Options, SourceLocation)>(&Cluster::wait)>("ptx.cluster.wait", "",
                                                                                             "`barrier.cluster.wait[.aligned]`"),
    helper<static_cast<void (Cluster::*)(Cluster::Options, SourceLocation)>(&Cluster::sync)>(
        "ptx.cluster.sync", "", "Arrives and waits for all threads of the cluster."),
    helper<&Cluster::rank>("ptx.cluster.rank", "n|cta_id", "A predicate: whether this is block `n` of its cluster."),
    helper<&Cluster::map_shared_u32>("ptx.cluster.map_shared_u32", "addr|smem_addr, cta|cta_id",
                                     "The address of the same place in block `cta` of the cluster: `mapa.shared::cluster.u32`."),
    helper<&Cluster::arrive_remote>("ptx.cluster.arrive_remote", "addr|bar_addr, cta|cta_id, count = 1",
                                    "Arrives at the barrier at the same place of block `cta` of the cluster."),
    helper<&Cluster::arrive_multicast>("ptx.cluster.arrive_multicast", "addr|bar_addr, mask, count = 1",
                                       "`arrive_remote` at each block whose bit of `mask` is set.")};

inline constexpr std::tuple bar_helpers{
    helper<static_cast<void (Bar::*)(const Source&, const std::optional<Source>&, const Pred&)>(&Bar::sync)>(
        "ptx.bar.sync", "n|barrier_id = 0, count", "Wait until all (or `count`) threads of the block have come to barrier `n`.")};

inline constexpr std::tuple block_helpers{
    helper<&set_registers>("ptx.setmaxnreg", "n, *, inc = True",
                           "`setmaxnreg.inc.sync.aligned.u32 n`, or `.dec`: how many registers the warpgroup's threads have."),
    helper<&set_registers_inc>("ptx.setmaxnreg_inc", "n", "`setmaxnreg.inc.sync.aligned.u32 n`"),
    helper<&set_registers_dec>("ptx.setmaxnreg_dec", "n", "`setmaxnreg.dec.sync.aligned.u32 n`"),
    helper<&elect>("ptx.elect_sync", "dst: Reg, pred_out: Reg, mask",
                   "`elect.sync dst|pred_out, mask`: one lane of those of the mask, whose predicate is true.")};

}  // namespace ptx::write::declare
