// What NVIDIA's command-line tools make of a kernel's text: machine code, its resources, its disassembly. No GPU is needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/launch/loading.hpp"

namespace ptx::launch {

/// What a kernel takes of the hardware, as ptxas says.
struct Resources {
  std::uint32_t registers = 0;                                       ///< of a thread
  std::uint32_t barriers = 0;                                        ///< of a block
  std::uint32_t stack_frame = 0, spill_stores = 0, spill_loads = 0;  ///< bytes of a thread
  std::uint32_t smem = 0;                                            ///< bytes of static shared memory of a block
};

/// The text assembled for its own target by the newest ptxas. Errors: those of cuda::assemble.
Expected<cuda::Cubin> assemble(const CompilerText& text);
/// The same, disassembled by nvdisasm or cuobjdump. Errors also: those of cuda::disassemble.
Expected<std::string> sass(const CompilerText& text);
/// Of its kernel `entry`. Errors also: unknown_kernel.
Expected<Resources> resources(const CompilerText& text, std::string_view entry);

}  // namespace ptx::launch
