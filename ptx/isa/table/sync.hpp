// Barriers, fences, grids and clusters (manual: "Parallel Synchronization and Communication Instructions").
#pragma once

#include "ptx/isa/row.hpp"

#define PTX_BAR "parallel-synchronization-and-communication-instructions-bar"
#define PTX_FENCE "parallel-synchronization-and-communication-instructions-membar"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row sync[] = {
  row("bar{.cta}.sync  a:.u32=0..15 {, b:.u32=0../32} ; .cta = { .cta @7.8 }",
      since(1,0), on(sm_10), syncs(Sync::barrier, Scope::cta), waits(Event::barrier), converged(Converged::warp), exec("bar_sync"),
      doc("parallel-synchronization-and-communication-instructions-bar", "wait until all, or b, threads of the CTA have come to barrier a.")),
  row("bar{.cta}.arrive  a:.u32=0..15, b:.u32=32../32 ; .cta = { .cta @7.8 }",
      since(2,0), on(sm_20), syncs(Sync::barrier, Scope::cta), converged(Converged::warp), exec("bar_arrive"),
      doc("parallel-synchronization-and-communication-instructions-bar", "come to barrier a without waiting.")),
  row("barrier{.cta}.sync{.aligned}  a:.u32=0..15 {, b:.u32=0../32} ; .cta = { .cta @7.8 }",
      since(6,0), on(sm_30), syncs(Sync::barrier, Scope::cta), waits(Event::barrier), converged(Converged::warp), exec("bar_sync"),
      doc("parallel-synchronization-and-communication-instructions-bar", "wait until all, or b, threads of the CTA have come to barrier a.")),
  row("bar.warp.sync  membermask:.u32 ;",
      since(6,0), on(sm_30), syncs(Sync::barrier, Scope::warp), waits(Event::lanes), exec("bar_warp_sync"),
      doc("parallel-synchronization-and-communication-instructions-bar-warp-sync", "wait for the member lanes of the warp.")),
  row("membar.level ; .level = { .cta, .gl, .sys @2.0 @sm_20 }",
      since(1,4), on(sm_10), syncs(Sync::fence), exec("membar"), doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations.")),
  // The manual gives .acquire and .release to sm_90 from PTX 8.6 on; ptxas has them wherever it has fences.
  row("fence{.sem}.scope ; .sem = { .sc, .acq_rel, .acquire, .release } .scope = { .cta, .cluster @7.8 @sm_90, .gpu, .sys }",
      since(6,0), on(sm_70), syncs(Sync::fence), exec("membar"), doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations.")),
  row("fence.proxy.alias ;",
      since(7,5), on(sm_70), syncs(Sync::proxy_fence), through(Proxy::alias), exec("membar"),
      doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations through aliased addresses.")),
  row("fence.proxy.async{.space} ; .space = { .global, .shared::cta, .shared::cluster }",
      since(8,0), on(sm_90), syncs(Sync::proxy_fence), through(Proxy::async), exec("membar"),
      doc("parallel-synchronization-and-communication-instructions-membar", "order memory operations of the generic and the asynchronous proxy.")),

  // ---- barriers of a CTA: arrivals, and reductions over all threads that come
  row("barrier{.cta}.arrive{.aligned}  a:.u32=0..15, b:.u32=32../32 ; .cta = { .cta @7.8 }",
      since(6,0), on(sm_30), syncs(Sync::barrier, Scope::cta), converged(Converged::warp), exec("bar_arrive"),
      doc(PTX_BAR, "come to barrier a without waiting.")),
  row("bar{.cta}.red.popc.u32  d:=.u32, a:.u32=0..15 {, b:.u32=0../32}, c:!.pred ; .cta = { .cta @7.8 }",
      since(2,0), on(sm_20), syncs(Sync::barrier, Scope::cta), waits(Event::barrier), converged(Converged::warp),
      exec("bar_red"),
      doc(PTX_BAR, "wait at barrier a; d = how many threads came with c.")),
  row("bar{.cta}.red.op.pred  d:=.pred, a:.u32=0..15 {, b:.u32=0../32}, c:!.pred ; .cta = { .cta @7.8 } .op = { .and, .or }",
      since(2,0), on(sm_20), syncs(Sync::barrier, Scope::cta), waits(Event::barrier), converged(Converged::warp),
      exec("bar_red"),
      doc(PTX_BAR, "wait at barrier a; d = did all, or any, threads come with c.")),
  row("barrier{.cta}.red.popc{.aligned}.u32  d:=.u32, a:.u32=0..15 {, b:.u32=0../32}, c:!.pred ; .cta = { .cta @7.8 }",
      since(6,0), on(sm_30), syncs(Sync::barrier, Scope::cta), waits(Event::barrier), converged(Converged::warp), exec("bar_red"),
      doc(PTX_BAR, "wait at barrier a; d = how many threads came with c.")),
  row("barrier{.cta}.red.op{.aligned}.pred  d:=.pred, a:.u32=0..15 {, b:.u32=0../32}, c:!.pred ; .cta = { .cta @7.8 } .op = { .and, .or }",
      since(6,0), on(sm_30), syncs(Sync::barrier, Scope::cta), waits(Event::barrier), converged(Converged::warp), exec("bar_red"),
      doc(PTX_BAR, "wait at barrier a; d = did all, or any, threads come with c.")),
  row("barrier.cluster.arrive{.sem}{.aligned} ; .sem = { .release @8.0, .relaxed @8.0 }",
      since(7,8), on(sm_90), syncs(Sync::barrier, Scope::cluster), converged(Converged::warp), exec("barrier_cluster_arrive"),
      doc("parallel-synchronization-and-communication-instructions-barrier-cluster", "come to the cluster's barrier without waiting.")),
  row("barrier.cluster.wait{.sem}{.aligned} ; .sem = { .acquire @8.0 }",
      since(7,8), on(sm_90), syncs(Sync::barrier, Scope::cluster), waits(Event::barrier), converged(Converged::warp), exec("barrier_cluster_wait"),
      doc("parallel-synchronization-and-communication-instructions-barrier-cluster", "wait until all threads of the cluster have come.")),

  // ---- fences that sync.hpp does not have
  row("membar.proxy.alias ;",
      since(7,5), on(sm_70), syncs(Sync::proxy_fence), through(Proxy::alias), exec("membar"),
      doc(PTX_FENCE, "order memory operations through aliased addresses.")),
  row("fence.mbarrier_init.release.cluster ;",
      since(8,0), on(sm_90), syncs(Sync::fence), exec("membar"),
      doc(PTX_FENCE, "release the mbarriers that this thread made to the cluster.")),
  row("fence.acquire.sync_restrict::shared::cluster.cluster ;",
      since(8,6), on(sm_90), syncs(Sync::fence), exec("membar"),
      doc(PTX_FENCE, "acquire what other CTAs wrote into the cluster's shared memory.")),
  row("fence.release.sync_restrict::shared::cta.cluster ;",
      since(8,6), on(sm_90), syncs(Sync::fence), exec("membar"),
      doc(PTX_FENCE, "release what this CTA wrote into its shared memory to the cluster.")),
  row("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster ;",
      since(8,6), on(sm_90), syncs(Sync::proxy_fence), through(Proxy::async), exec("membar"),
      doc(PTX_FENCE, "acquire, for the asynchronous proxy, what other CTAs wrote into the cluster's shared memory.")),
  row("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster ;",
      since(8,6), on(sm_90), syncs(Sync::proxy_fence), through(Proxy::async), exec("membar"),
      doc(PTX_FENCE, "release, from the asynchronous proxy, what this CTA wrote into its shared memory.")),
  row("fence.proxy.tensormap::generic.release.scope ; .scope = { .cta, .cluster, .gpu, .sys }",
      since(8,3), on(sm_90), syncs(Sync::proxy_fence), through(Proxy::tensormap), exec("membar"),
      doc(PTX_FENCE, "release writes to a tensor map to tensor copies.")),
  row("fence.proxy.tensormap::generic.acquire.scope  [addr], size:#.u32=128 ; .scope = { .cta, .cluster, .gpu, .sys }",
      since(8,3), on(sm_90), reads("addr"), syncs(Sync::proxy_fence), through(Proxy::tensormap), exec("membar"),
      doc(PTX_FENCE, "let tensor copies see the tensor map at addr as it was released.")),

  // ---- grids and clusters
  row("griddepcontrol.action ; .action = { .launch_dependents }",
      since(7,8), on(sm_90), syncs(Sync::grid, Scope::gpu), Effect::volatile_, exec("griddepcontrol"),
      doc("parallel-synchronization-and-communication-instructions-griddepcontrol", "let the grids that depend on this one begin.")),
  row("griddepcontrol.action ; .action = { .wait }",
      since(7,8), on(sm_90), syncs(Sync::grid, Scope::gpu), waits(Event::grid), Effect::volatile_, exec("griddepcontrol"),
      doc("parallel-synchronization-and-communication-instructions-griddepcontrol", "wait for the grids that this one depends on.")),
  row("clusterlaunchcontrol.try_cancel.async{.space}.completion{.multicast}.b128  [addr:.space], [mbar:.space] ;"
      " .space = { .shared::cta } .completion = { .mbarrier::complete_tx::bytes }"
      " .multicast = { .multicast::cluster::all @sm_100f|sm_101f|sm_110f|sm_120f }",
      since(8,6), on(sm_100), writes("addr"), async(Proxy::async, Event::mbarrier), signals("mbar"), exec("clusterlaunchcontrol_try_cancel"),
      doc("parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel",
          "begin to take over the work of a cluster that has not been launched; the answer comes to addr.")),
  row("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128  p:=.pred, response:.b128 ;",
      since(8,6), on(sm_100), Effect::pure, exec("clusterlaunchcontrol_is_canceled"),
      doc("parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel", "p = has the launch been taken over.")),
  row("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128  d:=.x4.b32, response:.b128 ;",
      since(8,6), on(sm_100), Effect::pure, exec("clusterlaunchcontrol_first_ctaid"),
      doc("parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel",
          "the number of the first CTA of the cluster taken over, in x, y, z.")),
  row("clusterlaunchcontrol.query_cancel.dimension.b32.b128  d:=.b32, response:.b128 ;"
      " .dimension = { .get_first_ctaid::x, .get_first_ctaid::y, .get_first_ctaid::z }",
      since(8,6), on(sm_100), Effect::pure, exec("clusterlaunchcontrol_first_ctaid"),
      doc("parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel",
          "the number of the first CTA of the cluster taken over, in one dimension.")),
  // ---- fabric: memory of other nodes (PTX 9.3)
  row("fabric.submit{.op_restrict} ; .op_restrict = { .op_restrict::fetching }",
      since(9,3), on(sm_100), commits(Event::fabric), syncs(Sync::group, Scope::thread), not_executed("what fabric operations act on is the memory of other nodes, and nothing in PTX says how it is laid out"),
      doc("fabric-instructions", "submit the fabric operations begun so far.")),
  row("fabric.wait.sync_restrict::reads ;",
      since(9,3), on(sm_100), syncs(Sync::group, Scope::thread), waits(Event::fabric), not_executed("what fabric operations act on is the memory of other nodes, and nothing in PTX says how it is laid out"),
      doc("fabric-instructions", "wait until the submitted fabric operations have read their sources.")),
  row("fence.proxy.fabric::generic.alias.sem.sys ; .sem = { .acquire, .release }",
      since(9,3), on(sm_100), syncs(Sync::proxy_fence), through(Proxy::fabric), not_executed("what fabric operations act on is the memory of other nodes, and nothing in PTX says how it is laid out"),
      doc(PTX_FENCE, "order memory operations of the fabric proxy and the generic one.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_BAR
#undef PTX_FENCE
