// How a module's kernel is launched: what ptx::compile and ptx::from_ptx are told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/spec.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx {

/// The TMA descriptor of a tensor, by its parameter's name: a map, or a function of the dimensions' sizes.
struct TensorMapOption {
  std::string tensor{};
  layout::TensorMap map{};
  Function<Expected<layout::TensorMap>(const Sizes&)> of_sizes{};  ///< in place of `map`, when there is one
};

/// How a module's kernel is launched. Its parameters are the inputs' addresses, then the outputs', then the scalars, then the TMA
/// descriptors of tensors (`A_tma_desc`), which are made from the tiles.
struct CompileOptions {
  Extent grid{};                         ///< blocks; as the other two, of numbers and of dimensions of the tiles
  Extent block{};                        ///< threads
  Extent cluster{};                      ///< blocks
  std::uint32_t dynamic_smem_bytes = 0;  ///< of each block
  // The launch attributes, a field for each line there: `bool cooperative = false;` and its like.
#define PTX_LAUNCH_ATTRIBUTE(name, number, says, guide) bool name = false;
#include "ptx/tile/launch_attributes.inc"
  std::uint32_t outputs = 1;              ///< how many of the pointers the kernel writes: the last ones
  std::vector<launch::Scalar> scalars{};  ///< values of the parameters behind the pointers; see `Compiled::with_scalars`
  std::vector<Tile> tiles{};  ///< of the tensors, inputs first: a run checks its memory against them; empty: it does not
  std::vector<launch::Alias> aliases{};        ///< outputs that are written where inputs lie
  std::vector<std::uint32_t> inputs_apart{};   ///< inputs that no output may be; counted from 0
  std::vector<TensorMapOption> tensor_maps{};  ///< where the descriptors made of the tiles do not do
};

}  // namespace ptx
