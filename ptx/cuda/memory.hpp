// Memory and streams of a GPU for C++ users; torch and JAX bring their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/cuda/device.hpp"

namespace ptx::cuda {

/// A block of memory on one GPU, freed with the object. Copies and fills are complete when they return; they run after what
/// was launched on the default stream before them.
class DeviceBuffer {
 public:
  /// Allocates, without initialising; 0 bytes give a null address. Errors: driver_error (out of memory).
  static Expected<DeviceBuffer> make(const Device& device, std::size_t bytes);
  /// Allocates room for the elements and copies them there.
  template <class T, std::size_t N>
  static Expected<DeviceBuffer> copy_of(const Device& device, std::span<T, N> elements) {
    auto buffer = make(device, elements.size_bytes());
    if (!buffer) return buffer;
    if (auto copied = buffer->copy_from(std::as_bytes(elements)); !copied) return Unexpected{std::move(copied).error()};
    return buffer;
  }
  ~DeviceBuffer() { release(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] api::DeviceAddr addr() const { return addr_; }
  [[nodiscard]] std::size_t size_bytes() const { return bytes_; }
  /// Of its GPU; -1 of a buffer that was moved away.
  [[nodiscard]] int ordinal() const { return device_ == nullptr ? -1 : device_->ordinal(); }

  /// Copies into the buffer from its byte `offset` on. Errors: out_of_bounds, driver_error.
  Expected<void> copy_from(std::span<const std::byte> src, std::size_t offset = 0);
  /// Copies out of the buffer from its byte `offset` on. Errors: out_of_bounds, driver_error.
  Expected<void> copy_to(std::span<std::byte> dst, std::size_t offset = 0) const;
  /// Sets every byte.
  Expected<void> fill(std::uint8_t value);

 private:
  DeviceBuffer(const Device& device, api::DeviceAddr addr, std::size_t bytes) : device_(&device), addr_(addr), bytes_(bytes) {}
  void swap(DeviceBuffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(addr_, other.addr_);
    std::swap(bytes_, other.bytes_);
  }
  void release() noexcept;
  [[nodiscard]] Expected<void> check_range(std::size_t offset, std::size_t bytes) const;

  const Device* device_ = nullptr;
  api::DeviceAddr addr_ = 0;
  std::size_t bytes_ = 0;
};

/// A stream of one GPU, ordered with the default stream; destroyed with the object (work on it still runs to its end).
class Stream {
 public:
  static Expected<Stream> make(const Device& device);
  ~Stream();
  Stream(Stream&& other) noexcept { swap(other); }
  Stream& operator=(Stream&& other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] api::Stream handle() const { return handle_; }
  /// Waits for everything launched on the stream and reports what failed (driver_error).
  Expected<void> synchronize() const;

 private:
  Stream(const Device& device, api::Stream handle) : device_(&device), handle_(handle) {}
  void swap(Stream& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
  }

  const Device* device_ = nullptr;
  api::Stream handle_ = nullptr;
};

}  // namespace ptx::cuda
