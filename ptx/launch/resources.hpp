// What a kernel takes of the hardware.
#pragma once

#include <cstdint>

namespace ptx::launch {

/// What a kernel takes of the hardware, as ptxas says.
struct Resources {
  std::uint32_t registers = 0;                                       ///< of a thread
  std::uint32_t barriers = 0;                                        ///< of a block
  std::uint32_t stack_frame = 0, spill_stores = 0, spill_loads = 0;  ///< bytes of a thread
  std::uint32_t smem = 0;                                            ///< bytes of static shared memory of a block
};

}  // namespace ptx::launch
