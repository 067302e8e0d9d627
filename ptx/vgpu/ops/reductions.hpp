// What bulk copies and copies of tensors ask alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ptx/vgpu/async/reduction.hpp"
#include "ptx/vgpu/machine.hpp"

namespace ptx::vgpu {

/// A reduction, or none, as a number of a step.
inline constexpr std::int64_t no_reduction = 0;
std::int64_t packed(const async::Reduction& reduction);
std::optional<async::Reduction> reduction_in(std::int64_t packed);
/// Of the modifier that says which.
async::ReductionOp reduction_op(std::string_view word);

/// Whether a copy with this mask of the cluster's blocks comes to the one that begins it. A mask that names others records a
/// fault.
bool reaches_own_block(Warp& warp, const Step& step, int lane, std::uint32_t blocks);

}  // namespace ptx::vgpu
