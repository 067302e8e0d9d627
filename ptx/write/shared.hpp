// Shared memory of a kernel (api.md 5.1). Static: each allocation is a variable of the entry's body. Dynamic: all are parts of
// one
// `.extern .shared .align 128 .b8 dyn_smem[];`, at offsets given in the order of the calls; it is aligned to more than 128 bytes
// when one of them is.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/isa/brief.hpp"

namespace ptx::write {

/// Bytes of static shared memory that every target has; a kernel that allocates more keeps all of it in the dynamic array.
inline constexpr std::uint64_t max_static_shared = 48 * 1024;
inline constexpr std::string_view dynamic_symbol = "dyn_smem";

/// One allocation: a variable of its own, or a part of the dynamic array.
struct SharedRegion {
  std::string_view symbol;       ///< the variable's name, or `dyn_smem`; lives as long as the builder
  std::int64_t byte_offset = 0;  ///< from the symbol; 0 for a variable of its own
  std::uint64_t bytes = 0;
  bool dynamic = false;
};

struct SharedRequest {
  Type type = Type::b8;  ///< of the variable's elements: b8, or b64 for mbarriers
  std::uint64_t elements = 0;
  std::uint32_t align = 128;   ///< bytes, a power of two
  std::string_view name = {};  ///< empty: `smem_<n>`, or `mbar_<n>` for b64, counted per kernel
};

}  // namespace ptx::write
