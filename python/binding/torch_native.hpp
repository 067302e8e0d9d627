// torch's C++ function behind `torch._C._dynamo.guards._empty_strided_cuda`, called without Python's parser of arguments in
// front: a fresh output is a third of what a call costs the host.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace ptx::python {

/// Where torch's libraries have the two functions that this needs, and else nowhere: they are found by their mangled names, which
/// say their types, and whoever allocates this way looks at the first tensor before using a second.
class TorchNative {
 public:
  /// Looks in the libraries that the process has loaded.
  static TorchNative find();

  [[nodiscard]] bool available() const noexcept { return empty_ != nullptr && wrap_ != nullptr; }
  /// A new CUDA tensor of sizes and strides (elements), on a GPU: a new reference. Null, without a Python error, when torch
  /// throws, as for want of memory: asking again through Python says why.
  [[nodiscard]] PyObject* empty(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides,
                                std::int8_t scalar_type, int ordinal) const noexcept;
  /// c10::ScalarType of an element type by its numpy name; -1 for one that torch has not.
  static std::int8_t scalar_type(std::string_view numpy_name);

 private:
  // The types that stand in the functions' names, as the calling convention sees them.
  struct Ints {  // c10::ArrayRef<long>
    const std::int64_t* data;
    std::size_t size;
  };
  struct Device {  // c10::Device
    std::int8_t type, index;
  };
  struct OptionalDevice {  // std::optional<c10::Device>
    Device device;
    bool engaged;
  };
  struct Tensor {  // at::TensorBase: one pointer, returned through memory since its destructor is not trivial
    void* impl = nullptr;
    Tensor() = default;
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;
    ~Tensor() {}  // NOLINT(modernize-use-equals-default): wrapping has taken what it held
  };
  using Empty = Tensor (*)(Ints sizes, Ints strides, std::int8_t scalar_type, OptionalDevice device);
  using Wrap = PyObject* (*)(Tensor&& tensor);

  Empty empty_ = nullptr;
  Wrap wrap_ = nullptr;
};

/// The function of a library that the process has loaded; null when either is not there.
void* loaded_symbol(const char* library, const char* symbol);

}  // namespace ptx::python
