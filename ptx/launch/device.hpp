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

/// A text's code on GPUs: of all images that launch the same text, whatever their grids. Loaded until the last of them is gone.
class SharedCode {
 public:
  explicit SharedCode(std::vector<cuda::Cubin> ready) : code_(std::move(ready)) {}
  ~SharedCode();
  SharedCode(const SharedCode&) = delete;
  SharedCode& operator=(const SharedCode&) = delete;

  /// As DeviceCode::on; what the compiler warns of goes to `warnings`, also when the load fails after it.
  Expected<cuda::LoadedKernel*> on(const cuda::Device& gpu, const DeviceCode::Image& image,
                                   const std::function<CompilerText()>& text, Diagnostics& warnings);
  /// A graph may replay what it captured whenever it likes, so captured kernels stay loaded.
  void note_captured() noexcept { captured_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_captured() const noexcept { return captured_.load(std::memory_order_relaxed); }
  /// The cubins that it was made with.
  [[nodiscard]] const std::vector<cuda::Cubin>& cubins() const { return code_.ready(); }

 private:
  std::atomic<bool> captured_{false};
  std::mutex mutex_;  // guards what follows
  DeviceCode code_;
};

/// One launch of a text. Any thread may call anything.
class DeviceSide {
 public:
  explicit DeviceSide(std::shared_ptr<SharedCode> code) : code_(std::move(code)) {}
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

  /// Notes a launch on this stream.
  void note_capture(const ReadyKernel& kernel, cuda::api::Stream stream) const noexcept {
    // The legacy default stream is never captured; asking of another one costs some 20 ns, once it is known nothing.
    if (stream == nullptr || code_->is_captured()) return;
    auto status = cuda::api::CaptureStatus::none;
    if (kernel.driver.call.stream_is_capturing(stream, &status) == cuda::api::Result::success &&
        status != cuda::api::CaptureStatus::none) [[unlikely]]
      code_->note_captured();
  }

  /// Of compilers, that nobody has taken yet.
  [[nodiscard]] Diagnostics take_warnings();

 private:
  Expected<cuda::LoadedKernel*> code_on(const cuda::Device& gpu, const LaunchSpec& spec,
                                        const std::function<CompilerText()>& text);

  const std::shared_ptr<SharedCode> code_;
  std::array<std::atomic<const ReadyKernel*>, cuda::max_devices> ready_{};
  std::atomic<bool> warned_{false};  // there are warnings
  std::mutex mutex_;                 // guards what follows
  Diagnostics warnings_;
  std::vector<std::unique_ptr<const ReadyKernel>> kernels_;
};

}  // namespace ptx::launch
