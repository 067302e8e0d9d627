// One kernel, loaded through the driver: from PTX text or a cubin to a handle that can be launched on each GPU.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/cuda/device.hpp"

namespace ptx::cuda {

/// What is to be loaded. The image is PTX text, which the driver compiles, or the bytes of a cubin (found by their ELF magic).
struct KernelSource {
  std::string image;
  std::string entry;                     ///< the kernel's name
  std::string target;                    ///< of a cubin: what it was assembled for; a text carries its own
  std::uint32_t dynamic_smem_bytes = 0;  ///< the most that a launch will ask for
  bool non_portable_cluster = false;     ///< clusters of more than 8 blocks
  /// Bytes of each parameter that a launch passes; compared with the compiled kernel's own answer before the first launch, when
  /// given. Where the parameters lie is the driver's: ptxas aligns them in the constant bank, which they do not begin.
  std::optional<std::vector<std::size_t>> param_bytes;
  /// Of a text: why it is not a cubin (CompiledCode::no_cubin), for the message when the driver is too old for it.
  std::optional<Diagnostic> no_cubin;
};

/// What the compiled kernel needs on one GPU.
struct FunctionFacts {
  std::uint32_t max_threads_per_block = 0;  ///< what its registers and `.maxntid` allow
  std::uint32_t static_smem_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< of each thread: stack and spills
  std::uint32_t registers = 0;    ///< of each thread
};

/// A kernel and its handles on up to 64 GPUs. Any thread may call any function; only the first call on a GPU takes a lock.
/// The code stays loaded for the life of the process, even after this object, unless it is unloaded: retire() says when.
class LoadedKernel {
 public:
  /// Reads the image's target; calls no driver function. Errors: unknown_target.
  static Expected<std::unique_ptr<LoadedKernel>> make(const Driver& driver, KernelSource source);
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  /// The handle on the GPU of this ordinal (below max_devices), or null when prepare() has not succeeded there yet.
  [[nodiscard]] api::Function loaded(int ordinal) const noexcept {
    return functions_[static_cast<std::size_t>(ordinal)].load(std::memory_order_acquire);
  }

  /// Loads the kernel on the device: compiles the text if it is text, checks target, shared memory and parameters. Does
  /// nothing the second time. Works while a stream is being captured into a CUDA graph. Errors: wrong_device, compile_error,
  /// launch_config, param_layout, driver_error, no_driver; capture_unprepared where the driver refuses after all.
  Expected<api::Function> prepare(const Device& device);

  /// The compiled kernel's needs on the device; prepares it.
  Expected<FunctionFacts> facts(const Device& device);

  /// Takes the code off every GPU, after waiting for what still runs it. Nothing may launch it at the time, and no CUDA graph may
  /// hold a launch of it.
  Expected<void> unload();

  [[nodiscard]] const std::string& entry() const { return source_.entry; }
  [[nodiscard]] Target target() const { return target_; }
  [[nodiscard]] ImageKind image_kind() const { return kind_; }

 private:
  struct JitLog;
  LoadedKernel(const Driver& driver, KernelSource source, Target target, ImageKind kind);
  Expected<void> load_library();
  Expected<api::Function> load_on(const Device& device);
  Expected<void> check_params() const;
  [[nodiscard]] Diagnostic load_failed(api::Result result, std::string_view symbol, int ordinal) const;
  [[nodiscard]] Diagnostic version_unknown(api::Result result) const;

  const Driver& driver_;
  const KernelSource source_;
  const Target target_;
  const ImageKind kind_;
  std::array<std::atomic<api::Function>, max_devices> functions_{};

  std::mutex mutex_;  // guards what follows
  api::Library library_ = nullptr;
  api::Kernel kernel_ = nullptr;
  std::unique_ptr<JitLog> jit_log_;
};

/// Takes a kernel that nobody will launch again. Its code is unloaded by a later collect_retired(): here a destructor may be
/// running, in any thread, in the middle of anything.
void retire(std::unique_ptr<LoadedKernel> kernel) noexcept;
/// Unloads what was retired; how many kernels that were. Waits for those that still run. Called before a kernel is loaded.
std::size_t collect_retired();

}  // namespace ptx::cuda
