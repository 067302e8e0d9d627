// What an image is on GPUs: its code there, and all that a launch needs, ready.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/launch/descriptors.hpp"
#include "ptx/launch/loading.hpp"
#include "ptx/launch/spec.hpp"

namespace ptx::launch {

/// The kernel, ready on one GPU.
struct ReadyKernel {
  const cuda::Driver& driver;
  cuda::api::Context context;
  cuda::api::Function function;
  cuda::LaunchTemplate launch;
  DeviceDescriptors descriptors;
};

/// Any thread may call anything.
class DeviceSide {
 public:
  DeviceSide() = default;
  explicit DeviceSide(std::vector<cuda::Cubin> ready) : code_(std::move(ready)) {}
  ~DeviceSide();
  DeviceSide(const DeviceSide&) = delete;
  DeviceSide& operator=(const DeviceSide&) = delete;

  /// Null before load(). Costs one load.
  [[nodiscard]] const ReadyKernel* ready(int ordinal) const noexcept {
    if (ordinal < 0 || ordinal >= cuda::max_devices) [[unlikely]]
      return nullptr;
    return ready_[static_cast<std::size_t>(ordinal)].load(std::memory_order_acquire);
  }
  /// Makes it ready, once. `text` gives what compilers get, when it is needed.
  Expected<const ReadyKernel*> load(int ordinal, const LaunchSpec& spec, const std::function<CompilerText()>& text);

  /// Notes a launch on this stream: a graph may replay what it captured whenever it likes, so captured kernels stay loaded.
  void note_capture(const ReadyKernel& kernel, cuda::api::Stream stream) const noexcept {
    // The legacy default stream is never captured; asking of another one costs some 20 ns, once it is known nothing.
    if (stream == nullptr || captured_.load(std::memory_order_relaxed)) return;
    auto status = cuda::api::CaptureStatus::none;
    if (kernel.driver.call.stream_is_capturing(stream, &status) == cuda::api::Result::success &&
        status != cuda::api::CaptureStatus::none) [[unlikely]]
      captured_.store(true, std::memory_order_relaxed);
  }

  /// Of compilers, that nobody has taken yet.
  [[nodiscard]] Diagnostics take_warnings();
  /// The cubins that it was made with.
  [[nodiscard]] const std::vector<cuda::Cubin>& cubins() const { return code_.ready(); }

 private:
  Expected<cuda::LoadedKernel*> code_on(const cuda::Device& gpu, const LaunchSpec& spec,
                                        const std::function<CompilerText()>& text);

  mutable std::atomic<bool> captured_{false};
  std::array<std::atomic<const ReadyKernel*>, cuda::max_devices> ready_{};
  std::atomic<bool> warned_{false};  // there are warnings
  std::mutex mutex_;                 // guards what follows
  Diagnostics warnings_;
  DeviceCode code_;
  std::vector<std::unique_ptr<const ReadyKernel>> kernels_;
};

}  // namespace ptx::launch
