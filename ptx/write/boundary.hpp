// What a written kernel says of its boundary: Kernel::boundary(). Who compiles a kernel reads it; who writes one does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/tile/tile.hpp"
#include "ptx/write/kernel.hpp"

namespace ptx {

/// The tensors and launch of a kernel as declared, valid once module() has succeeded.
struct Boundary {
  std::string name;
  SourceLocation where;                   ///< of the declaration
  std::vector<std::string> tensor_names;  ///< inputs, then outputs
  std::vector<Tile> in_tiles, out_tiles;
  Extent grid, block, cluster;
  LaunchAttributes attributes;
  std::uint32_t smem = 0;                ///< of the launch: as declared, and all that is allocated
  std::vector<std::string> tma_tensors;  ///< those whose descriptors are the entry's last parameters
  std::vector<TensorMapSpec> tensor_maps;
  std::vector<AliasSpec> aliases;
  std::vector<std::uint32_t> inputs_apart;
};

}  // namespace ptx
