#include "ptx/cuda/memory.hpp"

namespace ptx::cuda {
namespace {

/// Runs a destructor's driver call where it still makes sense: not in a forked child. Its result is of no use to anybody.
template <class Call>
void quietly(const Device& device, Call call) noexcept {
  if (device.driver().forked()) return;
  const auto context = device.context();
  if (!context) return;
  const ContextGuard guard(device.driver(), *context);
  if (guard.ok()) (void)call();
}

/// A fill, and a copy from pageable host memory, may return before the bytes have arrived.
Expected<void> finish(const Driver& driver) {
  return checked(driver, driver.call.stream_synchronize(nullptr), "cuStreamSynchronize");
}

}  // namespace

Expected<DeviceBuffer> DeviceBuffer::make(const Device& device, std::size_t bytes) {
  if (bytes == 0) return DeviceBuffer(device, 0, 0);
  return in_context(device, [&]() -> Expected<DeviceBuffer> {
    api::DeviceAddr addr = 0;
    const api::Result result = device.driver().call.mem_alloc(&addr, bytes);
    if (result != api::Result::success) {
      Diagnostic error = driver_error(device.driver(), result, "cuMemAlloc");
      return Unexpected{std::move(error).note(cat(bytes, " bytes were asked for on GPU ", device.ordinal()))};
    }
    return DeviceBuffer(device, addr, bytes);
  });
}

void DeviceBuffer::release() noexcept {
  if (addr_ != 0) quietly(*device_, [&] { return device_->driver().call.mem_free(addr_); });
  addr_ = 0;
}

Expected<void> DeviceBuffer::check_range(std::size_t offset, std::size_t bytes) const {
  if (offset <= bytes_ && bytes <= bytes_ - offset) return {};
  return Unexpected{
      {.kind = Kind::out_of_bounds,
       .message = cat("a copy of ", bytes, " bytes at offset ", offset, " does not fit a buffer of ", bytes_, " bytes")}};
}

Expected<void> DeviceBuffer::copy_from(std::span<const std::byte> src, std::size_t offset) {
  if (auto fits = check_range(offset, src.size()); !fits) return fits;
  if (src.empty()) return {};
  return in_context(*device_, [&]() -> Expected<void> {
    const Driver& driver = device_->driver();
    if (auto ok = checked(driver, driver.call.memcpy_htod(addr_ + offset, src.data(), src.size()), "cuMemcpyHtoD"); !ok)
      return ok;
    return finish(driver);
  });
}

Expected<void> DeviceBuffer::copy_to(std::span<std::byte> dst, std::size_t offset) const {
  if (auto fits = check_range(offset, dst.size()); !fits) return fits;
  if (dst.empty()) return {};
  return in_context(*device_, [&]() -> Expected<void> {
    return checked(device_->driver(), device_->driver().call.memcpy_dtoh(dst.data(), addr_ + offset, dst.size()), "cuMemcpyDtoH");
  });
}

Expected<void> DeviceBuffer::fill(std::uint8_t value) {
  if (bytes_ == 0) return {};
  return in_context(*device_, [&]() -> Expected<void> {
    const Driver& driver = device_->driver();
    if (auto ok = checked(driver, driver.call.memset_d8(addr_, value, bytes_), "cuMemsetD8"); !ok) return ok;
    return finish(driver);
  });
}

Expected<Stream> Stream::make(const Device& device) {
  return in_context(device, [&]() -> Expected<Stream> {
    constexpr unsigned ordered_with_default_stream = 0;
    api::Stream handle = nullptr;
    auto ok =
        checked(device.driver(), device.driver().call.stream_create(&handle, ordered_with_default_stream), "cuStreamCreate");
    if (!ok) return Unexpected{std::move(ok).error()};
    return Stream(device, handle);
  });
}

Stream::~Stream() {
  if (handle_ != nullptr) quietly(*device_, [&] { return device_->driver().call.stream_destroy(handle_); });
}

Expected<void> Stream::synchronize() const {
  return in_context(*device_, [&]() -> Expected<void> {
    return checked(device_->driver(), device_->driver().call.stream_synchronize(handle_), "cuStreamSynchronize");
  });
}

}  // namespace ptx::cuda
