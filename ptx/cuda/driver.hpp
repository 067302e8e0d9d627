// The CUDA driver, found at run time. A process without a GPU never needs it: every way in says why it is not there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"
#include "ptx/cuda/driver_api.hpp"

namespace ptx::cuda {

class Device;

/// The loaded driver: its function table, its version and its devices. Safe to use from any thread.
class Driver {
 public:
  /// Loads the shared library at `path`, looks up every function of driver_functions.def and calls cuInit.
  /// Errors: no_driver (library absent, too old, or cuInit's own refusal by name and meaning), no_device (cuInit finds no GPU).
  static Expected<std::unique_ptr<const Driver>> load(const std::string& path = "libcuda.so.1");
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// The driver's functions: `driver.call.mem_alloc(&addr, bytes)`.
  api::Functions call;

  /// The CUDA version that the driver supports, 13000 for 13.0.
  [[nodiscard]] int version() const { return version_; }

  /// Fails (no_driver) in a child of fork(): CUDA's state does not survive it. Costs one load.
  [[nodiscard]] Expected<void> check_process() const;
  [[nodiscard]] bool forked() const noexcept;

  /// How many GPUs the driver shows to this process (CUDA_VISIBLE_DEVICES counts).
  [[nodiscard]] Expected<int> device_count() const;
  /// The GPU of this ordinal; lives as long as the driver. Errors: no_device.
  [[nodiscard]] Expected<const Device*> device(int ordinal) const;

 private:
  struct Devices;
  Driver();
  int version_ = 0;
  std::uint64_t fork_generation_ = 0;
  std::unique_ptr<Devices> devices_;
};

/// The process's driver: loaded at the first call, never destroyed. A failure stays: its reason is given again each time.
Expected<const Driver*> driver();

/// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", in the driver's own words.
std::string describe(const Driver& driver, api::Result result);

/// The diagnostic for `result` of the driver's function `symbol`, with what the reader can do about it. An error that has
/// already ended the context (illegal address and its kin) says so: it belongs to an earlier kernel.
Diagnostic driver_error(const Driver& driver, api::Result result, std::string_view symbol, Kind kind = Kind::driver_error);

/// `result` as an Expected: success, or driver_error().
inline Expected<void> checked(const Driver& driver, api::Result result, std::string_view symbol) {
  if (result == api::Result::success) [[likely]]
    return {};
  return Unexpected{driver_error(driver, result, symbol)};
}

/// True for the errors after which the context, and so the process's work on that GPU, cannot go on.
bool is_sticky(api::Result result);

}  // namespace ptx::cuda
