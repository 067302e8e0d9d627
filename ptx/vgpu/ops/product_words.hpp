// What the words of mma, wmma.mma and wgmma say of a product: its shape, its formats and how it is computed.
#pragma once

#include <optional>
#include <string>

#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/tensor/product.hpp"

namespace ptx::vgpu {

/// A floating-point type as a factor: how wide an element is in a register, and how many bits lie below it there.
struct Factor {
  num::DotFormat format;
  std::uint8_t bits, shift;
};
std::optional<Factor> factor_of(Type type);

/// Of the word that says it; zeros without one.
isa::MatrixShape shape_of(const Decoding& in);

/// Fills what the words say, the registers' numbers excepted, and marks a product of floats. Returns why the executor does not
/// compute it.
std::optional<std::string> read_product(Decoding& in, Product& product);

}  // namespace ptx::vgpu
