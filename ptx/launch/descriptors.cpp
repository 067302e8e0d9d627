#include "ptx/launch/descriptors.hpp"

namespace ptx::launch {

Expected<const cuda::api::DeviceAddr*> DeviceDescriptors::place(std::size_t number, const layout::TensorMap& map,
                                                                cuda::api::DeviceAddr tensor) const {
  auto placed = device_.tensor_maps().place(map, tensor);
  if (!placed) return Unexpected{std::move(placed).error()};
  described_[number].recent.remember(**placed);
  return &(*placed)->addr;
}

Expected<void> DeviceDescriptors::write(std::size_t number, const layout::TensorMap& map, cuda::api::DeviceAddr tensor,
                                        cuda::api::TensorMapBytes& out) const {
  Described& described = described_[number];
  if (const cuda::api::TensorMapBytes* any = described.encoded.load(std::memory_order_acquire);
      any != nullptr && tensor % layout::address_alignment(map) == 0) [[likely]] {
    out = *any;
    if (device_.driver().call.tensor_map_replace_address(&out, reinterpret_cast<void*>(tensor)) == cuda::api::Result::success)
        [[likely]]
      return {};
  }
  auto encoded = cuda::encode(map, tensor, device_);
  if (!encoded) return Unexpected{std::move(encoded).error()};
  out = *encoded;
  const std::lock_guard lock(mutex_);
  if (described.kept == nullptr) {
    described.kept = std::make_unique<const cuda::api::TensorMapBytes>(*encoded);
    described.encoded.store(described.kept.get(), std::memory_order_release);
  }
  return {};
}

}  // namespace ptx::launch
