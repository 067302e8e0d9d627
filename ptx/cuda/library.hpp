// One kernel, loaded through the driver: from PTX text or a cubin to a handle that can be launched on each GPU.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/cuda/device.hpp"

namespace ptx::cuda {

/// Where one kernel parameter lies in the block of parameters that a launch passes, in bytes.
struct ParamSlot {
  std::size_t offset = 0, size = 0;
  friend bool operator==(ParamSlot, ParamSlot) = default;
};

/// What is to be loaded. The image is PTX text, which the driver compiles, or the bytes of a cubin (found by their ELF magic).
struct KernelSource {
  std::string image;
  std::string entry;                     ///< the kernel's name
  std::string target;                    ///< of a cubin: what it was assembled for; a text carries its own
  std::uint32_t dynamic_smem_bytes = 0;  ///< the most that a launch will ask for
  bool non_portable_cluster = false;     ///< clusters of more than 8 blocks
  /// What the launch packs; compared with the compiled kernel's own answer before the first launch, when given.
  std::optional<std::vector<ParamSlot>> params;
};

/// What the compiled kernel needs on one GPU.
struct FunctionFacts {
  std::uint32_t max_threads_per_block = 0;  ///< what its registers and `.maxntid` allow
  std::uint32_t static_smem_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< of each thread: stack and spills
  std::uint32_t registers = 0;    ///< of each thread
};

/// A kernel and its handles on up to 64 GPUs. Any thread may call any function; only the first call on a GPU takes a lock.
/// The code stays loaded for the life of the process, even after this object, unless unload() is called: unloading from a
/// destructor could hit a stream capture or a driver that has already gone.
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

  /// The handle on the device, loading the kernel when this is the first time. Refuses (capture_unprepared) to load while
  /// `stream` is being captured into a CUDA graph.
  Expected<api::Function> function(const Device& device, api::Stream stream);

  /// Loads the kernel on the device: compiles the text if it is text, checks target, shared memory and parameters. Does
  /// nothing the second time. Errors: wrong_device, compile_error, launch_config, param_layout, capture_unprepared,
  /// driver_error, no_driver.
  Expected<api::Function> prepare(const Device& device);

  /// The compiled kernel's needs on the device; prepares it.
  Expected<FunctionFacts> facts(const Device& device);

  /// Takes the code off every GPU. Nothing may be running it, launching it or capturing a stream at the time.
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
  [[nodiscard]] Diagnostic unprepared(int ordinal) const;

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

}  // namespace ptx::cuda
