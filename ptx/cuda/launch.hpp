// Launching: a configuration is validated and packed once into a LaunchTemplate; each launch then costs the driver's call.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "ptx/base/base.hpp"
#include "ptx/cuda/device.hpp"
#include "ptx/cuda/library.hpp"

namespace ptx::cuda {

/// Three sizes or counts: blocks of a grid, threads of a block, blocks of a cluster.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  friend bool operator==(Dim3, Dim3) = default;
};
std::string to_string(Dim3 dim);  ///< "(16, 1, 1)"

struct LaunchConfig {
  Dim3 grid;                             ///< blocks
  Dim3 block;                            ///< threads
  Dim3 cluster;                          ///< blocks; (1, 1, 1) launches without the cluster attribute
  std::uint32_t dynamic_smem_bytes = 0;  ///< of each block
  std::uint32_t flags = 0;               ///< attributes that are on, a bit for each: flag(…)
  bool non_portable_cluster = false;     ///< allows clusters of 9 to 16 blocks

  static constexpr std::size_t max_flags = 7;
};
/// The bit of an attribute that is on or off.
constexpr std::uint32_t flag(api::LaunchAttributeId id) { return 1U << static_cast<std::uint32_t>(id); }

/// Checks the configuration against the GPU's limits and, when given, the compiled kernel's needs.
/// Errors: launch_config, naming the number that is too large and its limit.
Expected<void> validate(const LaunchConfig& config, const DeviceLimits& limits, const FunctionFacts* facts = nullptr);

/// A launch configuration as the driver takes it, short of the stream. A value: copy it, keep it with a specialisation.
class LaunchTemplate {
 public:
  /// Packs a configuration without checking it.
  explicit LaunchTemplate(const LaunchConfig& config);
  /// Checks, then packs.
  static Expected<LaunchTemplate> make(const LaunchConfig& config, const Device& device, const FunctionFacts* facts = nullptr);

  /// The driver's configuration for one launch. It points into this template.
  [[nodiscard]] api::LaunchConfig on(api::Stream stream) const noexcept {
    api::LaunchConfig config = config_;
    config.stream = stream;
    config.attributes = attributes_.data();
    return config;
  }

 private:
  api::LaunchConfig config_;
  std::array<api::LaunchAttribute, 1 + LaunchConfig::max_flags> attributes_{};  // the cluster, and flags
};

/// The driver's refusal of a launch, with the configuration.
Diagnostic launch_error(const Driver& driver, api::Result result, const api::LaunchConfig& config);

/// Launches. `params` has one pointer for each kernel parameter, to its value; the driver copies the values before it returns.
/// No lock, no heap. The function's context must be current (ContextGuard): the null stream belongs to the current context.
/// Errors: driver_error; one that an earlier kernel caused says so.
inline Expected<void> launch(const Driver& driver, api::Function function, const LaunchTemplate& launch_template,
                             api::Stream stream, void** params) {
  const api::LaunchConfig config = launch_template.on(stream);
  const api::Result result = driver.call.launch_kernel_ex(&config, function, params, nullptr);
  if (result == api::Result::success) [[likely]]
    return {};
  return Unexpected{launch_error(driver, result, config)};
}

/// Fails (launch_config) when not even one cluster of the configuration finds room on the GPU. Worth asking once, after
/// prepare(); the function's context must be current.
Expected<void> check_cluster_fits(const Driver& driver, api::Function function, const LaunchTemplate& launch_template);

}  // namespace ptx::cuda
