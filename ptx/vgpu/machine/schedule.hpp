// Who runs next: the lane groups of a warp, the warps of a CTA, and what waits for what.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu {

/// What a .sync instruction's lanes give and take, with what is undefined of it.
void give(Warp& warp, const Step& step, Mask mask, const Collective& what, Exchange& exchange);
bool take(Warp& warp, const Step& step, Mask mask, const Collective& what, const Exchange& exchange);

/// The index of a step in its kernel.
std::uint32_t index_of(const Warp& warp, const Step& step);

// -- what handlers do to the lane group that runs
/// The lane group goes on behind this step, chosen anew: what the interpreter looks at has changed.
Outcome go_on_behind(Warp& warp, const Step& step);
/// The lanes of `mask` go to `target`, the others go on: a divergent branch.
Outcome split(Warp& warp, const Step& step, Mask mask, std::uint32_t target);
/// The lanes of `mask` exit.
Outcome retire(Warp& warp, const Step& step, Mask mask);
/// The lanes of `mask` wait at this step; the others go on.
Outcome park(Warp& warp, const Step& step, Mask mask, Wait wait, std::uint32_t key = 0);
/// The step once more, after other warps have had their turn.
Outcome ask_again(Warp& warp, const Step& step);
/// The warp comes to a barrier of the CTA with `threads` (0: all of the CTA); its live lanes wait at this step unless that
/// completes it or it only arrives. Called with the live lanes in `mask`.
Outcome come_to_barrier(Warp& warp, const Step& step, Mask mask, std::uint32_t barrier, std::uint32_t threads, bool waits);
/// The same of the cluster's barrier.
Outcome come_to_cluster_barrier(Warp& warp, const Step& step, Mask mask);
Outcome wait_at_cluster_barrier(Warp& warp, const Step& step, Mask mask);
/// x[waits_slot] of a barrier without .aligned: 0 for one that only arrives.
inline constexpr std::size_t waits_slot = 5;

/// Instructions that a warp runs before the next one of its CTA gets its turn.
inline constexpr std::uint64_t warp_turn = 2048;
/// Instructions that a cluster runs before its worker looks around: one that polls memory this long may be waiting for a later
/// one (a flag in global memory), which its worker then starts too.
inline constexpr std::uint64_t cta_turn = 1u << 13;
/// Shorter ones leave asynchronous operations under way.
inline constexpr std::uint64_t least_cta_turn = 128;

/// Backward jumps that a lane group may take while another one of its warp could run. Fairness costs 1.4 % of the steps at 16,
/// nothing at 64.
inline constexpr std::uint32_t full_patience = 64;

/// How a cluster stands after some of its instructions.
enum class ClusterState : std::uint8_t { done, running, limit, fault };
/// Runs a cluster's warps in turns, block after block, for about `budget` warp instructions, and not on when it has run `most` in
/// all. After `fault`, the warp that has it is `faulty(cluster)`.
ClusterState run_cluster(Cluster& cluster, std::uint64_t budget, std::uint64_t most);
Warp& faulty(Cluster& cluster);

}  // namespace ptx::vgpu
