// What `run` passes to a kernel: `--arg` words made into the parameter block and the buffers it points to.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/tool/elements.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::tool {

/// A buffer that a parameter points to.
struct Buffer {
  std::string name;  ///< of the parameter
  Array array;
  bool initialised = true;  ///< false: an output, which counts as unwritten until the kernel stores to it
  std::string before = {};  ///< its bytes before the run, to see what changed
};

struct KernelArguments {
  std::vector<std::byte> block;  ///< laid out as the driver's
  std::vector<Buffer> buffers;
  [[nodiscard]] std::vector<vgpu::Region> regions();
};

/// Reads the words of `--arg`, in the order of the parameters or as `NAME:…`:
///   1024, -3, 0x10, 1.5, nan    a number, of the parameter's type
///   f32[4096]                   the address of 4096 floats that nobody has written: an output
///   f32[4096]=0                 … all of them 0; =iota 0, 1, 2 …; =random or =random:SEED; =1,2,3 one by one
///   f32[]=@FILE                 … those of a file: .npy, or their bytes
/// Kinds: argument_count, argument_kind, file_error, out_of_memory.
Expected<KernelArguments> read_kernel_arguments(const ir::Module& module, const ir::Function& entry,
                                                std::span<const std::string> words);

}  // namespace ptx::tool
