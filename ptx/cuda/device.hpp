// GPUs: what each can do, its context, and being in that context for a while.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "ptx/base/base.hpp"
#include "ptx/cuda/driver.hpp"
#include "ptx/cuda/target.hpp"

namespace ptx::cuda {

class TensorMaps;

/// Ordinals from here on are refused: per-device tables have this many slots.
inline constexpr int max_devices = 64;

/// What a launch must keep to on one GPU.
struct DeviceLimits {
  ComputeCapability capability;
  std::uint32_t max_threads_per_block = 0;
  std::array<std::uint32_t, 3> max_block{};  ///< threads in x, y, z
  std::array<std::uint32_t, 3> max_grid{};   ///< blocks in x, y, z
  std::uint32_t max_smem_bytes = 0;          ///< static plus dynamic shared memory of one block, when opted in
  std::uint32_t sm_count = 0;
  bool clusters = false;
  bool cooperative = false;
};

/// One GPU. Made and kept by its Driver.
class Device {
 public:
  static Expected<std::unique_ptr<const Device>> open(const Driver& driver, int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] int ordinal() const { return ordinal_; }
  [[nodiscard]] api::Device handle() const { return handle_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const DeviceLimits& limits() const { return limits_; }
  [[nodiscard]] ComputeCapability capability() const { return limits_.capability; }

  /// The primary context, the one that torch and XLA use too. Made at the first call (it costs memory on the GPU and tens of
  /// milliseconds) and held for the life of the process.
  [[nodiscard]] Expected<api::Context> context() const;
  /// The tensor maps that lie on it (ptx/cuda/tensor_map.hpp).
  [[nodiscard]] TensorMaps& tensor_maps() const { return *tensor_maps_; }

 private:
  Device(const Driver& driver, int ordinal);
  const Driver& driver_;
  int ordinal_ = 0;
  api::Device handle_ = 0;
  std::string name_;
  DeviceLimits limits_;
  mutable std::atomic<api::Context> context_{nullptr};
  mutable std::mutex context_mutex_;
  const std::unique_ptr<TensorMaps> tensor_maps_;
};

/// The process's GPUs: those of cuda::driver().
Expected<int> device_count();
Expected<const Device*> device(int ordinal);

/// "sm_90a": the target with every feature of this GPU.
inline std::string target_name(const Device& device) { return target_name(device.capability()); }

/// Fails (wrong_device) when code for `target` does not run on the device; says what it runs on and what the device is, and
/// which kernel it is about when its name is given.
Expected<void> check_target(Target target, const Device& device, ImageKind image = ImageKind::text, std::string_view kernel = {});

/// Waits for everything launched on the GPU and reports what failed (driver_error).
Expected<void> synchronize(const Device& device);

/// Makes a context current for a scope. Compares first, since the context is nearly always current already; pushes and pops
/// only when it is not.
class ContextGuard {
 public:
  ContextGuard(const Driver& driver, api::Context context) noexcept : driver_(driver) {
    api::Context current = nullptr;
    result_ = driver.call.ctx_get_current(&current);
    if (result_ == api::Result::success && current != context) {
      result_ = driver.call.ctx_push_current(context);
      pushed_ = result_ == api::Result::success;
    }
  }
  ~ContextGuard() {
    api::Context popped = nullptr;
    if (pushed_) (void)driver_.call.ctx_pop_current(&popped);
  }
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

  /// Whether the context is current now.
  [[nodiscard]] Expected<void> entered() const { return checked(driver_, result_, "cuCtxPushCurrent"); }
  [[nodiscard]] bool ok() const noexcept { return result_ == api::Result::success; }

 private:
  const Driver& driver_;
  api::Result result_ = api::Result::success;
  bool pushed_ = false;
};

/// While it lives, this thread may load code, allocate and copy although a stream is being captured into a CUDA graph, by this
/// thread or another: what it does is on no captured stream.
class OutsideOfCaptures {
 public:
  explicit OutsideOfCaptures(const Driver& driver) : driver_(driver) { exchange(); }
  ~OutsideOfCaptures() { exchange(); }
  OutsideOfCaptures(const OutsideOfCaptures&) = delete;
  OutsideOfCaptures& operator=(const OutsideOfCaptures&) = delete;

 private:
  void exchange() { (void)driver_.call.thread_exchange_stream_capture_mode(&mode_); }
  const Driver& driver_;
  api::CaptureMode mode_ = api::CaptureMode::relaxed;  // the thread's own while this lives
};

/// Runs `body` (no arguments, returns an Expected) with the device's primary context current.
template <class Body>
auto in_context(const Device& device, Body body) -> decltype(body()) {
  if (auto usable = device.driver().check_process(); !usable) return Unexpected{std::move(usable).error()};
  auto context = device.context();
  if (!context) return Unexpected{std::move(context).error()};
  const ContextGuard guard(device.driver(), *context);
  if (auto entered = guard.entered(); !entered) return Unexpected{std::move(entered).error()};
  return body();
}

}  // namespace ptx::cuda
