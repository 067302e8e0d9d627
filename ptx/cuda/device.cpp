#include "ptx/cuda/device.hpp"

#include <algorithm>

#include "ptx/cuda/tensor_map.hpp"

namespace ptx::cuda {

Device::Device(const Driver& driver, int ordinal)
    : driver_(driver), ordinal_(ordinal), tensor_maps_(std::make_unique<TensorMaps>(*this)) {}
Device::~Device() = default;

Expected<std::unique_ptr<const Device>> Device::open(const Driver& driver, int ordinal) {
  std::unique_ptr<Device> device(new Device(driver, ordinal));
  if (auto ok = checked(driver, driver.call.device_get(&device->handle_, ordinal), "cuDeviceGet"); !ok) {
    return Unexpected{std::move(ok).error()};
  }
  std::array<char, 256> name{};
  if (auto ok = checked(driver, driver.call.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device->handle_),
                        "cuDeviceGetName");
      !ok) {
    return Unexpected{std::move(ok).error()};
  }
  device->name_ = name.data();

  api::Result failed = api::Result::success;
  const auto attribute = [&](api::DeviceAttribute which) {
    int value = 0;
    const api::Result result = driver.call.device_get_attribute(&value, which, device->handle_);
    if (result != api::Result::success && failed == api::Result::success) failed = result;
    return value;
  };
  const auto size = [&](api::DeviceAttribute which) { return static_cast<std::uint32_t>(std::max(attribute(which), 0)); };
  using enum api::DeviceAttribute;
  device->limits_ = {
      .capability = {attribute(compute_capability_major), attribute(compute_capability_minor)},
      .max_threads_per_block = size(max_threads_per_block),
      .max_block = {size(max_block_dim_x), size(max_block_dim_y), size(max_block_dim_z)},
      .max_grid = {size(max_grid_dim_x), size(max_grid_dim_y), size(max_grid_dim_z)},
      .max_smem_bytes = size(max_shared_memory_per_block_optin),
      .sm_count = size(multiprocessor_count),
      .clusters = attribute(cluster_launch) != 0,
      .cooperative = attribute(cooperative_launch) != 0,
  };
  if (failed != api::Result::success) return Unexpected{driver_error(driver, failed, "cuDeviceGetAttribute")};
  return std::unique_ptr<const Device>(std::move(device));
}

Expected<api::Context> Device::context() const {
  if (const api::Context ready = context_.load(std::memory_order_acquire); ready != nullptr) return ready;
  const std::lock_guard lock(context_mutex_);
  if (const api::Context ready = context_.load(std::memory_order_acquire); ready != nullptr) return ready;
  if (auto usable = driver_.check_process(); !usable) return Unexpected{std::move(usable).error()};
  api::Context context = nullptr;
  if (auto ok = checked(driver_, driver_.call.device_primary_ctx_retain(&context, handle_), "cuDevicePrimaryCtxRetain"); !ok) {
    return Unexpected{std::move(ok).error()};
  }
  context_.store(context, std::memory_order_release);
  return context;
}

Expected<int> device_count() {
  auto loaded = driver();
  if (!loaded) return Unexpected{std::move(loaded).error()};
  return (*loaded)->device_count();
}

Expected<const Device*> device(int ordinal) {
  auto loaded = driver();
  if (!loaded) return Unexpected{std::move(loaded).error()};
  return (*loaded)->device(ordinal);
}

Expected<void> check_target(Target target, const Device& device, ImageKind image, std::string_view kernel) {
  const ComputeCapability have = device.capability();
  if (runs_on(target, have, image)) return {};
  const std::string wanted = to_string(target.capability);
  std::string reach;
  switch (target.reach) {
    case Target::Reach::architecture:
      reach = cat("architecture-specific, runs only on compute capability ", wanted);
      break;
    case Target::Reach::family:
      reach = cat("family-specific, runs on the family of compute capability ", wanted);
      break;
    case Target::Reach::forward:
      reach = image == ImageKind::text
                  ? cat("runs on compute capability ", wanted, " and later")
                  : cat("a cubin, runs on compute capability ", wanted, " to ", target.capability.major, ".9");
      break;
  }
  return Unexpected{Diagnostic{
      .kind = Kind::wrong_device,
      .message = cat(kernel.empty() ? std::string("the kernel") : cat("kernel `", kernel, '`'), " targets `", to_string(target),
                     "` (", reach, "); GPU ", device.ordinal(), " (", device.name(), ") is compute capability ", to_string(have))}
                        .hint(cat("write the kernel for `", target_name(device), "`"))};
}

Expected<void> synchronize(const Device& device) {
  return in_context(device, [&]() -> Expected<void> {
    return checked(device.driver(), device.driver().call.ctx_synchronize(), "cuCtxSynchronize");
  });
}

}  // namespace ptx::cuda
