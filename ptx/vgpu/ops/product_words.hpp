// What the words of mma, wmma.mma and wgmma say of a product: its shape, its formats and how it is computed.
#pragma once

#include <optional>
#include <string>

#include "ptx/vgpu/decoding.hpp"
#include "ptx/vgpu/tensor/product.hpp"

namespace ptx::vgpu {

/// m, n and k, of the word that says them.
struct ProductShape {
  int m = 0, n = 0, k = 0;
};
ProductShape shape_of(const Decoding& in);

/// Fills what the words say, the registers' numbers excepted. Returns why the executor does not compute it.
std::optional<std::string> read_product(const Decoding& in, Product& product);

}  // namespace ptx::vgpu
