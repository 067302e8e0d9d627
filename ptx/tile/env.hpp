// Sizes of dimensions by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ptx {
namespace tile {
/// Sizes of symbolic dimensions by name.
using Env = std::map<std::string, std::int64_t, std::less<>>;
}  // namespace tile

/// The same, as a C++ author meets it: `{{"N", 1024}}`.
using Sizes = tile::Env;

}  // namespace ptx
