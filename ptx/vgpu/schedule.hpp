// Who runs next: the fragments of a warp, the warps of a CTA, and what waits for what.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/vgpu/code.hpp"

namespace ptx::vgpu {

/// The index of a step in its kernel.
std::uint32_t index_of(const Warp& warp, const Step& step);

// -- what handlers do to the fragment that runs
/// The lanes of `mask` go to `target`, the others go on: a divergent branch.
Outcome split(Warp& warp, const Step& step, Mask mask, std::uint32_t target);
/// The lanes of `mask` exit.
Outcome retire(Warp& warp, const Step& step, Mask mask);
/// The lanes of `mask` wait at this step; the others go on.
Outcome park(Warp& warp, const Step& step, Mask mask, Wait wait, std::uint32_t key = 0);
/// The warp comes to a barrier of the CTA with `threads` (0: all of the CTA); its live lanes wait at this step unless that
/// completes it or it only arrives. Called with the live lanes in `mask`.
Outcome come_to_barrier(Warp& warp, const Step& step, Mask mask, std::uint32_t barrier, std::uint32_t threads, bool waits);

/// Backward jumps that a fragment may take while another one of its warp could run. Fairness costs 1.4 % of the steps at 16,
/// nothing at 64.
inline constexpr std::uint32_t full_patience = 64;

/// How a CTA stands after some of its instructions.
enum class CtaState : std::uint8_t { done, running, fault };
/// Runs a CTA for about `budget` warp instructions. After `fault`, the warp that has it is `faulty(cta)`.
CtaState run_cta(Cta& cta, std::uint64_t budget);
Warp& faulty(Cta& cta);

}  // namespace ptx::vgpu
