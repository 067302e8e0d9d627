// The 128 bytes of a tensor map as Hopper's tensor copies read them: 32 words whose layout the driver writes and nobody documents
// (docs/facts.md, "Asynchronous copies"). Encoded and decoded here, so that the executor runs what a GPU would.
#pragma once

#include <array>
#include <cstdint>

#include "ptx/layout/tensor_map.hpp"

namespace ptx::layout {

/// A tensor map as it lies in memory.
struct alignas(128) TensorMapWords {
  std::array<std::uint32_t, 32> word{};
  friend bool operator==(const TensorMapWords&, const TensorMapWords&) = default;
};

/// What an address and a map are in memory; of a map that check() accepts.
TensorMapWords encode(const TensorMap& map, std::uint64_t tensor);

struct DecodedTensorMap {
  TensorMap map;
  std::uint64_t tensor = 0;  ///< the tensor's address
};
/// The reverse. Kind bad_tile: bytes that no tensor map has, or one that breaks a rule.
Expected<DecodedTensorMap> decode(const TensorMapWords& words);

/// What tensormap.replace changes.
enum class TensorMapField : std::uint8_t {
  global_address,
  rank,  ///< less one
  box_dim,
  global_dim,
  global_stride,  ///< in bytes
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode,
};
/// Writes the field, `ordinal` of those that are one for each dimension, as the instruction does: as many bits as there are, with
/// no question whether they go together.
void replace(TensorMapWords& words, TensorMapField field, unsigned ordinal, std::uint64_t value);

}  // namespace ptx::layout
