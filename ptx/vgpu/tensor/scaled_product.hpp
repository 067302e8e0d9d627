// Products whose factors have scales: mma with .block_scale, tcgen05.mma with .kind::mxf8f6f4, mxf4 and mxf4nvf4. How the tensor
// cores add them is what a published model says (docs/facts.md); no GPU was asked.
#pragma once

#include <cstdint>
#include <span>

#include "ptx/vgpu/tensor/product.hpp"

namespace ptx::vgpu {

/// d += (a * its scales) * (b * its scales), in f32. `scales` of a row of a, and of a column of b, each for as many of its
/// elements, lie one behind the other; they are ue8m0 or, with `ue4m3`, that. Elements that are `packed`, of 4 bits, are added
/// 16 at a time without rounding before they are scaled.
void multiply_scaled(const Product& product, bool packed, bool ue4m3, int scales, const RawMatrices& matrices,
                     std::span<const std::uint8_t> a_scales, std::span<const std::uint8_t> b_scales);

}  // namespace ptx::vgpu
