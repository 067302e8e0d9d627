// Tensor maps on a GPU: descriptions with an address, encoded by the driver, lying in the GPU's memory where kernels read them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "ptx/base/base.hpp"
#include "ptx/cuda/device.hpp"
#include "ptx/layout/layout.hpp"

namespace ptx::cuda {

/// The 128 bytes of a tensor at `tensor` on the device. Kinds: bad_tile (a rule of tensor maps), argument_alignment (the address
/// is no multiple of 16), wrong_device (the GPU has no tensor copies), driver_error, no_driver.
Expected<api::TensorMapBytes> encode(const layout::TensorMap& map, api::DeviceAddr tensor, const Device& device);

/// A tensor map in a GPU's memory. Its 128 bytes never change and are never freed: any launch, stream, graph and thread may use
/// it.
struct PlacedTensorMap {
  api::DeviceAddr tensor = 0;  ///< the tensor that it describes
  api::DeviceAddr addr = 0;    ///< of the 128 bytes, a multiple of 128
};

/// The tensor maps that one GPU holds, one for each content. Kept by its Device; any thread may ask.
///
/// A kernel that takes a descriptor by address reads it when it runs, and a CUDA graph that captured the launch reads it again at
/// each replay, whenever that is. Nobody tells us when the last of them has run. So a descriptor's memory is written once, before
/// the first launch that names it, and neither rewritten nor freed; throwing out the least recently used would be a silent wrong
/// result under a graph. What grows is bounded by what is distinct: 128 bytes for each pair of an address and a description that
/// a process has ever launched with. Frameworks' allocators hand out the same addresses again and again; a million of them are
/// 128 MB. Memory is taken in blocks of 64 KiB; `size` says how many descriptors there are.
class TensorMaps {
 public:
  explicit TensorMaps(const Device& device) : device_(device) {}
  TensorMaps(const TensorMaps&) = delete;
  TensorMaps& operator=(const TensorMaps&) = delete;

  /// Takes the first block of memory, so that the next descriptors cost a copy only.
  Expected<void> reserve();
  /// The descriptor, encoded, copied to the GPU and complete there when this returns; made once. Works while a stream is captured
  /// into a CUDA graph, by this thread or another: the copy goes over a stream of our own, outside of every capture. Kinds: those
  /// of encode(), capture_unprepared.
  Expected<const PlacedTensorMap*> place(const layout::TensorMap& map, api::DeviceAddr tensor);
  /// How many descriptors the GPU holds.
  [[nodiscard]] std::size_t size() const;

 private:
  struct Hash {
    std::size_t operator()(const api::TensorMapBytes& bytes) const noexcept;
  };
  Expected<void> take_memory();
  [[nodiscard]] Unexpected failed(api::Result result, std::string_view symbol) const;

  const Device& device_;
  mutable std::mutex mutex_;  // guards what follows
  std::unordered_map<api::TensorMapBytes, PlacedTensorMap, Hash> placed_;
  api::Stream stream_ = nullptr;
  api::DeviceAddr next_ = 0, end_ = 0;  // what is left of the last block
};

/// The descriptors that launches of one parameter used last, found by the tensor's address without a lock. A kernel whose tensors
/// take turns finds each of them.
class RecentTensorMaps {
 public:
  [[nodiscard]] const PlacedTensorMap* find(api::DeviceAddr tensor) const noexcept {
    const PlacedTensorMap* placed = slots_[slot(tensor)].load(std::memory_order_acquire);
    return placed != nullptr && placed->tensor == tensor ? placed : nullptr;
  }
  void remember(const PlacedTensorMap& placed) noexcept { slots_[slot(placed.tensor)].store(&placed, std::memory_order_release); }

 private:
  static std::size_t slot(api::DeviceAddr tensor) noexcept {
    return static_cast<std::size_t>((tensor >> 4) * 0x9E37'79B9'7F4A'7C15 >> 60);  // addresses are multiples of 16
  }
  std::array<std::atomic<const PlacedTensorMap*>, 16> slots_{};
};

}  // namespace ptx::cuda
