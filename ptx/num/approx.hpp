// The approximations of PTX: .approx instructions.
#pragma once

#include <cstdint>

namespace ptx::num {

/// ex2.approx of an f16, or of a bf16 with .ftz: the result in f32, cut.
std::uint32_t ex2_half(std::uint32_t a, bool bf16);
/// tanh.approx of an f16 or bf16: a itself up to 2^-8, 1 from 8 on, between them the hyperbolic tangent, cut.
std::uint32_t tanh_half(std::uint32_t a, bool bf16);

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: of the upper word of `a`, in the upper word of the result.
std::uint64_t coarse_reciprocal(std::uint64_t a);
std::uint64_t coarse_reciprocal_root(std::uint64_t a);

}  // namespace ptx::num
