// Plain torch tensors, read where they lie in memory: a call asks for every tensor's sizes, strides, type and address, and
// torch's own way to ask costs as much as all other checks of a tensor together.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "ptx/launch/launch.hpp"

namespace ptx::python {

/// Where the fields of torch's tensor lie in this process, found by looking at tensors whose sizes, strides, types and addresses
/// are known. What is not found, or found in two places, makes all of it unavailable. Only tensors whose dispatch keys are those
/// of a fresh tensor are read: no wrapper, no lazily negated or conjugated one, no inference tensor.
class TorchLayout {
 public:
  /// `torch` is the module; `impl_offset` where the C++ object's address lies in a Python tensor.
  static TorchLayout find(nanobind::handle torch, std::size_t impl_offset);

  [[nodiscard]] bool available() const noexcept { return available_; }

  /// Whether the dispatch keys of a torch.Tensor or Parameter are a fresh tensor's. False also where that is not known.
  [[nodiscard]] bool is_plain(PyObject* tensor) const noexcept {
    if (!available_) return false;
    const auto keys = at<std::uint64_t>(at<const char*>(reinterpret_cast<const char*>(tensor), in_python_), keys_);
    return keys == cpu_keys_ || (keys == gpu_keys_.load(std::memory_order_relaxed));
  }
  /// Views a plain torch.Tensor or Parameter; false for one that has to be asked. What is written to has to be asked too: memory
  /// that is shared until then is torch's to copy.
  [[nodiscard]] bool view(PyObject* tensor, launch::TensorView& out) const noexcept {
    if (!available_) [[unlikely]]
      return false;
    const char* const impl = at<const char*>(reinterpret_cast<const char*>(tensor), in_python_);
    const auto keys = at<std::uint64_t>(impl, keys_);
    const bool on_gpu = keys == gpu_keys_.load(std::memory_order_relaxed);
    if (!on_gpu && keys != cpu_keys_) [[unlikely]]
      return false;
    const auto rank = at<std::uint64_t>(impl, sizes_);
    const auto type = at<std::uint16_t>(impl, type_);
    const char* const storage = at<const char*>(impl, storage_);
    if (rank > max_rank || type >= types_.size() || types_[type].bits == 0 || storage == nullptr) [[unlikely]]
      return false;
    out.dtype = types_[type];
    out.rank = static_cast<std::int32_t>(rank);
    out.shape = reinterpret_cast<const std::int64_t*>(impl + sizes_ + sizeof rank);
    out.strides = out.shape + max_rank;
    out.device = on_gpu ? launch::DeviceId{launch::DeviceId::Kind::cuda, at<std::int8_t>(impl, device_ + 1)} : launch::DeviceId{};
    char* const begin = at<char*>(storage, data_);
    if (begin == nullptr) [[unlikely]]
      return false;
    out.data = begin + at<std::int64_t>(impl, first_) * (types_[type].bits / 8);
    out.read_only = false;
    return true;
  }
  /// Learns what the dispatch keys of a fresh tensor on a GPU are, when it has not: `tensor` is on one.
  void meet_gpu(nanobind::handle torch, PyObject* tensor) const noexcept;

 private:
  static constexpr std::size_t max_rank = 5;  // torch keeps the sizes of more dimensions elsewhere

  template <class T>
  static T at(const char* object, std::size_t offset) noexcept {
    T value;
    __builtin_memcpy(&value, object + offset, sizeof value);
    return value;
  }

  bool available_ = false;
  std::size_t in_python_ = 0;                                                           // in the Python object: the C++ object
  std::size_t keys_ = 0, sizes_ = 0, type_ = 0, device_ = 0, first_ = 0, storage_ = 0;  // in the C++ object
  std::size_t data_ = 0;                                                                // in the storage
  std::uint64_t cpu_keys_ = 0;
  struct Keys : std::atomic<std::uint64_t> {  // copied before anybody else sees it
    Keys() : std::atomic<std::uint64_t>(0) {}
    Keys(const Keys& other) : std::atomic<std::uint64_t>(other.load()) {}
    Keys& operator=(const Keys& other) {
      store(other.load());
      return *this;
    }
  };
  mutable Keys gpu_keys_;
  std::array<launch::ElementType, 32> types_{};  // by torch's number of the type; of no bits: not read
};

}  // namespace ptx::python
