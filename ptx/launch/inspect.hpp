// What NVIDIA's command-line tools make of a kernel's text: machine code, its resources, its disassembly. No GPU is needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/launch/loading.hpp"
#include "ptx/launch/resources.hpp"

namespace ptx::launch {

/// The text assembled for its own target by the newest ptxas. Errors: those of cuda::assemble.
Expected<cuda::Cubin> assemble(const CompilerText& text);
/// The same, disassembled by nvdisasm or cuobjdump. Errors also: those of cuda::disassemble.
Expected<std::string> sass(const CompilerText& text);
/// Of its kernel `entry`. Errors also: unknown_kernel.
Expected<Resources> resources(const CompilerText& text, std::string_view entry);

}  // namespace ptx::launch
