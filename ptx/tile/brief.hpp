// The part of tile that a header needs which declares tensors: dimensions, layouts, open sizes. tile.hpp, which works with them,
// costs each file of a C++ author more than a declaration is worth (decision 0026).
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "ptx/tile/size.hpp"

namespace ptx {

/// How a tile lies in memory. The values' names are the specification's.
enum class Layout : std::uint8_t { row, col, tma_128b, tma_64b, tma_32b, interleaved };

namespace tile {

/// A dimension: a size, or a name that is bound to a size at the call.
using Dim = std::variant<std::int64_t, std::string>;

}  // namespace tile
}  // namespace ptx
