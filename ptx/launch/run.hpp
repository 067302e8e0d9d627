// The whole way of a C++ program: a kernel, compiled, run on host memory or on a GPU's.
//     auto kernel = ptx::compile(rms_norm(16, 512)).value();        // rms_norm gives a ptx::Kernel (ptx/author/author.hpp)
//     kernel.run(ptx::cpu(), {x, w}, {y});                        // x, w, y: anything contiguous, such as std::vector<float>
//     kernel.run(ptx::gpu(0), {x_buffer, w_buffer}, {y_buffer});  // ptx::cuda::DeviceBuffer
//     kernel.run(ptx::gpu(0, stream), {gpu_memory(x, n), gpu_memory(w, k)}, {gpu_memory(y, n)});  // pointers, a CUstream
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/brief.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/launch/memory.hpp"
#include "ptx/launch/options.hpp"
#include "ptx/launch/place.hpp"
#include "ptx/launch/resources.hpp"
#include "ptx/launch/warnings.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx {

namespace launch {
class SizedKernel;
}

/// A checked kernel with its launch. A value: copies share everything. Dimensions that its tensors have names for are open: each
/// call says their sizes, and at() fixes them. Thread-safe.
class Compiled {
 public:
  /// The text; of every size of the dimensions.
  [[nodiscard]] const std::string& ptx() const;
  /// The same with where each instruction was written (`.loc`), which profilers and debuggers show.
  [[nodiscard]] std::string ptx_with_lines() const;
  /// What the checker found short of an error, and of a text what the parser did. set_warning_handler's has heard of them.
  [[nodiscard]] const Diagnostics& warnings() const { return *warnings_; }
  /// Names of the open dimensions, in the order of the tensors; none when all sizes are known.
  [[nodiscard]] const std::vector<std::string>& dims() const;
  /// What is launched. When the launch depends on open dimensions, as a grid of them, there is one for each size: at() first, or
  /// the program ends.
  [[nodiscard]] const launch::KernelImage& image() const;

  /// What ptxas makes of it for its target: machine code, disassembled; registers, spills, shared memory. Need NVIDIA's
  /// command-line tools, and no GPU. Kinds: no_tool, tool_failed, compile_error (cuda::assemble).
  [[nodiscard]] Expected<std::string> sass() const;
  [[nodiscard]] Expected<launch::Resources> resources() const;

  /// The kernel for these sizes: `kernel.at({{"N", 1024}})`. It shares everything, and run() takes no other sizes. Kinds:
  /// dim_unbound for a dimension without a size, argument_kind for a name that is no open dimension, and those of `compile`.
  [[nodiscard]] Expected<Compiled> at(const Sizes& sizes) const;

  /// The same kernel with other values of its scalars: all of them, or all that are not named as a dimension, whose size those
  /// are. It shares what was compiled and loaded. Kinds: argument_count, and launch_config for a value that the parameter's type
  /// does not take.
  [[nodiscard]] Expected<Compiled> with_scalars(const std::vector<launch::Scalar>& values) const;

  /// Compiles and loads it on a GPU, so that the first run costs what every run does, and may be captured into a CUDA graph.
  /// Kinds: dim_unbound when the launch depends on open dimensions (at() says them), and those of KernelImage::prepare.
  [[nodiscard]] Expected<void> prepare(int ordinal = 0) const;

  /// Runs on `place`. Each memory fits its tile, where there are tiles: by element type (memory of classes, of `std::byte` and of
  /// GPUs' addresses has none; f16, bf16 and the 8-bit floats are unsigned integers of their width), and by size, which says the
  /// open dimensions (with ptx::shaped where more than one of a tensor is open). Outputs lie apart from each other and from the
  /// inputs; one may be an input, whole, and is the input where the kernel declares an alias.
  /// Kinds: argument_count; argument_device (host memory on a GPU or the reverse, another GPU's); argument_dtype, argument_rank,
  /// argument_dim, dim_conflict, dim_unbound; argument_alignment; argument_memory (an overlap, no address); and those of
  /// KernelImage::launch. On a GPU it takes no memory from the heap after the first call there with sizes like these. What has no
  /// place of its own is at the line of the call.
  [[nodiscard]] Expected<void> run(const Place& place, Arguments<In> inputs, Arguments<Out> outputs,
                                   SourceLocation at = SourceLocation::current()) const;

  /// The bytes of a .global or .const variable of the module, as runs on the CPU read and leave them (KernelImage::variable).
  /// Kinds: those, and dim_unbound as in prepare().
  [[nodiscard]] Expected<std::span<std::byte>> variable(std::string_view name) const;

  /// Writes it to a file that ptx::load reads, with machine code for the targets ("sm_90a"); nothing: for its own target. Gives
  /// what the compiler warned of. Errors: those of launch::save; dim_unbound as in prepare().
  [[nodiscard]] Expected<Diagnostics> save(const std::string& path,
                                           std::optional<std::vector<std::string>> targets = std::nullopt) const;

 private:
  friend Expected<Compiled> compile(ir::Module module, const CompileOptions& options);
  friend Expected<Compiled> from_ptx(std::string_view text, std::string_view entry, const CompileOptions& options);
  friend Expected<Compiled> load(const std::string& path);
  static Expected<Compiled> make(ir::Module module, std::string_view entry, const CompileOptions& options, Diagnostics warnings);
  explicit Compiled(std::shared_ptr<launch::SizedKernel> kernel, std::shared_ptr<const launch::KernelImage> image,
                    std::shared_ptr<const Diagnostics> warnings)
      : kernel_(std::move(kernel)), image_(std::move(image)), warnings_(std::move(warnings)) {}
  [[nodiscard]] launch::CompilerText compiler_text() const;
  [[nodiscard]] Expected<void> require_sizes() const;

  std::shared_ptr<launch::SizedKernel> kernel_;
  std::shared_ptr<const launch::KernelImage> image_;   // null: the launch depends on open dimensions
  std::optional<Sizes> sizes_;                         // those that at() fixed
  std::vector<std::optional<std::uint64_t>> scalars_;  // those of with_scalars(); empty: the kernel's own
  std::shared_ptr<const Diagnostics> warnings_;
};

/// Checks a module with one kernel and prints it. Kinds: those of check::accept and LaunchSpec::make; unknown_kernel (no kernel,
/// or several); dim_unbound for a launch of a dimension that no tile has.
[[nodiscard]] Expected<Compiled> compile(ir::Module module, const CompileOptions& options);

/// Checks PTX text and makes a launch of its kernel `entry`; with an empty name, of the only one. Kinds: syntax and the like,
/// with the text's own lines, and those of `compile`.
[[nodiscard]] Expected<Compiled> from_ptx(std::string_view text, std::string_view entry, const CompileOptions& options);

/// A kernel that `Compiled::save` or Python's `Kernel.save` wrote. It runs on GPUs from the machine code in the file, on others
/// that its text allows from the text, and on the CPU. Errors: those of launch::load_saved.
[[nodiscard]] Expected<Compiled> load(const std::string& path);

}  // namespace ptx
