// Warp-wide idioms: helpers that write several instructions (api.md 4.8).
#pragma once

#include "ptx/write/builder.hpp"

namespace ptx::write::idiom {

enum class Reduction : std::uint8_t { sum, max, min };

/// Reduces `value` in place over groups of `width` lanes (2, 4, 8, 16 or 32) by a butterfly: per step `mov.b32`,
/// `shfl.sync.bfly.b32`, for f32 a second `mov.b32`, and the combining `add`, `max` or `min`; log2(width) steps.
Expected<void> warp_reduce(Builder& builder, Reduction op, Reg value, int width, SourceLocation where);

}  // namespace ptx::write::idiom
