// What a call asks of torch that torch's Python answers too slowly: fresh outputs by the function behind
// `torch._C._dynamo.guards._empty_strided_cuda`, and two questions to a tensor's C++ object.
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

/// The C++ object that a Python tensor holds, and what torch's libraries say of it. Where the pointer lies in a Python tensor is
/// found by looking for what `Tensor._cdata` says it is; where it is not found, or the libraries lack the functions, nothing is
/// available.
class TorchTensors {
 public:
  /// `torch` is the module.
  static TorchTensors find(nanobind::handle torch);

  [[nodiscard]] bool available() const noexcept { return requires_grad_ != nullptr && bump_version_ != nullptr; }
  /// Where the C++ object's address lies in a Python tensor.
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  /// Tensor.requires_grad of a plain torch.Tensor or Parameter.
  [[nodiscard]] bool requires_grad(PyObject* tensor) const noexcept { return requires_grad_(*held(tensor)); }
  /// Counts a write to it, for autograd. False when torch refuses: an inference tensor has no count.
  [[nodiscard]] bool bump_version(PyObject* tensor) const noexcept;

 private:
  /// at::Tensor: where the pointer to c10::TensorImpl lies.
  [[nodiscard]] const void* const* held(PyObject* tensor) const noexcept {
    return reinterpret_cast<const void* const*>(reinterpret_cast<const char*>(tensor) + offset_);
  }

  std::size_t offset_ = 0;
  bool (*requires_grad_)(const void* impl) = nullptr;
  void (*bump_version_)(const void* const* tensor) = nullptr;
};

/// The function of a library that the process has loaded; null when either is not there.
void* loaded_symbol(const char* library, const char* symbol);

}  // namespace ptx::python
