// The same kernel on a GPU, where the machine has one of compute capability 9.0: what the executor gave must be what it gives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/cuda/cuda.hpp"
#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu::testing {

/// A GPU of compute capability 9.0, or nullptr.
inline const cuda::Device* hopper() {
  static const cuda::Device* const found = [] {
    const auto device = cuda::device(0);
    return device && (*device)->capability() == cuda::ComputeCapability{9, 0} ? *device : nullptr;
  }();
  return found;
}

/// Runs kernel `k` of the text, whose one parameter is the address of its output, zeros before, and compares.
inline void expect_same_on_gpu(std::string_view text, const LaunchConfig& config, std::span<const std::uint32_t> ours) {
  const cuda::Device* const device = hopper();
  if (device == nullptr) return;
  std::vector<std::uint32_t> theirs(ours.size());
  const auto done = cuda::in_context(*device, [&]() -> Expected<void> {
    auto kernel =
        cuda::LoadedKernel::make(device->driver(), {.image = std::string(text),
                                                    .entry = "k",
                                                    .dynamic_smem_bytes = static_cast<std::uint32_t>(config.dynamic_smem_bytes),
                                                    .non_portable_cluster = true});
    if (!kernel) return Unexpected{kernel.error()};
    auto function = (*kernel)->prepare(*device);
    if (!function) return Unexpected{function.error()};
    auto memory = cuda::DeviceBuffer::copy_of(*device, std::span<const std::uint32_t>(theirs));
    if (!memory) return Unexpected{memory.error()};
    std::uint64_t address = memory->addr();
    std::array<void*, 1> params{&address};
    const cuda::LaunchTemplate launch({.grid = {config.grid[0], config.grid[1], config.grid[2]},
                                       .block = {config.block[0], config.block[1], config.block[2]},
                                       .cluster = {config.cluster[0], config.cluster[1], config.cluster[2]},
                                       .dynamic_smem_bytes = static_cast<std::uint32_t>(config.dynamic_smem_bytes),
                                       .non_portable_cluster = true});
    if (auto ok = cuda::launch(device->driver(), *function, launch, nullptr, params.data()); !ok) return ok;
    if (auto ok = cuda::synchronize(*device); !ok) return ok;
    if (auto ok = memory->copy_to(std::as_writable_bytes(std::span(theirs))); !ok) return ok;
    return (*kernel)->unload();
  });
  EXPECT_TRUE(done) << text << '\n' << render(done.error());
  std::size_t different = 0, first = 0;
  for (std::size_t i = ours.size(); i-- > 0;)
    if (ours[i] != theirs[i]) ++different, first = i;
  EXPECT_EQ(different, 0u) << "words that differ from the GPU's; word " << first << ": " << ours[first] << " here, "
                           << theirs[first] << " there\n"
                           << text;
}

}  // namespace ptx::vgpu::testing
