// How a kernel's tensors must be aligned: what its loads and stores take for granted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::launch {

/// What a kernel needs of the address that a parameter passes.
struct Alignment {
  std::uint32_t bytes = 1;  ///< the address is a multiple of this, or an access is not
  std::string access;       ///< the instruction: "ld.global.v4.f32"
  SourceLocation where;     ///< and its place
};

/// For each parameter of the entry, the most that follows for its address from the accesses at it: those at distances of which it
/// is known that they are multiples of what the access needs. A kernel that looks at the bits of an address decides by itself,
/// and needs nothing. Linear in the body, but for loops that move addresses.
std::vector<Alignment> alignments(const ir::Module& module, const ir::Function& entry);

}  // namespace ptx::launch
