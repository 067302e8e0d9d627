// What reductions of bulk copies compute, element by element, in memory that other workers may change at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/isa/isa.hpp"

namespace ptx::vgpu::async {

enum class ReductionOp : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

struct Reduction {
  ReductionOp op{};
  Type type = Type::none;
  bool flushes = false;  ///< f32: subnormal operands and results become zeros
};
/// Whether PTX has such a reduction.
bool exists(const Reduction& reduction);

/// memory[i] = memory[i] op values[i] for the elements of so many bytes, each at once. `memory` is aligned for them.
void reduce(const Reduction& reduction, std::byte* memory, const std::byte* values, std::uint64_t bytes);

}  // namespace ptx::vgpu::async
