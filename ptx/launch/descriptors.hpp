// The TMA descriptors that one kernel passes on one GPU: by address, where they lie on the GPU, or by value.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/layout/layout.hpp"

namespace ptx::launch {

/// Any thread may call anything. Descriptors go by their number among the launch's.
class DeviceDescriptors {
 public:
  DeviceDescriptors(const cuda::Device& device, std::size_t count)
      : device_(device), described_(std::make_unique<Described[]>(count)) {}

  /// The value of a parameter that is the address of a descriptor of this tensor: null for a tensor that place() has not seen, or
  /// not lately. No heap, no lock.
  [[nodiscard]] const cuda::api::DeviceAddr* recent(std::size_t number, cuda::api::DeviceAddr tensor) const {
    const cuda::PlacedTensorMap* placed = described_[number].recent.find(tensor);
    return placed != nullptr ? &placed->addr : nullptr;
  }
  /// The same for any tensor: `map` lies on the GPU then, for good, also for CUDA graphs that captured the launch.
  Expected<const cuda::api::DeviceAddr*> place(std::size_t number, const layout::TensorMap& map,
                                               cuda::api::DeviceAddr tensor) const;
  /// The descriptor of this tensor. After the first time no heap and no lock.
  Expected<void> write(std::size_t number, const layout::TensorMap& map, cuda::api::DeviceAddr tensor,
                       cuda::api::TensorMapBytes& out) const;

 private:
  struct Described {
    cuda::RecentTensorMaps recent;
    std::unique_ptr<const cuda::api::TensorMapBytes> kept;           // what `encoded` points to, under the mutex
    std::atomic<const cuda::api::TensorMapBytes*> encoded{nullptr};  // of any tensor
  };
  const cuda::Device& device_;
  const std::unique_ptr<Described[]> described_;
  mutable std::mutex mutex_;
};

}  // namespace ptx::launch
