// torch as the launcher uses it: found in the running process, never linked, never imported by us.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/launch/launch.hpp"
#include "python/binding/torch/dlpack.hpp"
#include "python/binding/torch/torch_layout.hpp"
#include "python/binding/torch/torch_native.hpp"

namespace ptx::python {

namespace nb = nanobind;

/// How the outputs of one specialisation are made: arguments of `empty_strided`, prepared once.
struct TorchOutput {
  nb::object size, stride, dtype;
  std::vector<std::int64_t> sizes, strides;  // the same numbers
  std::int8_t scalar_type = -1;              // torch's number of the dtype; -1: allocate through Python
  /// Whether TorchNative made one such tensor as it should be. Threads may find out at once; they find the same.
  mutable std::atomic<std::int8_t> native{0};  // 0: not tried, 1: right, -1: not

  TorchOutput() = default;
  TorchOutput(TorchOutput&& other) noexcept
      : size(std::move(other.size)),
        stride(std::move(other.stride)),
        dtype(std::move(other.dtype)),
        sizes(std::move(other.sizes)),
        strides(std::move(other.strides)),
        scalar_type(other.scalar_type),
        native(other.native.load(std::memory_order_relaxed)) {}
};

/// Made at the first call with torch imported; lives as long as the process.
class TorchBridge {
 public:
  /// The bridge, if torch has been imported and met before. No look-up.
  static const TorchBridge* ready() noexcept { return instance_; }
  /// The bridge, if torch has been imported.
  static const TorchBridge* find();

  /// Exactly a torch.Tensor or a Parameter: no subclass that would have to be asked first.
  [[nodiscard]] bool is_plain_tensor(PyObject* object) const noexcept {
    return reinterpret_cast<PyObject*>(Py_TYPE(object)) == tensor_type_.ptr() ||
           reinterpret_cast<PyObject*>(Py_TYPE(object)) == parameter_type_.ptr();
  }
  [[nodiscard]] bool is_tensor(PyObject* object) const;
  /// Inside torch.func's vmap, grad and the like, and of gradients in batches, a plain tensor is a wrapper that only torch sees
  /// through.
  [[nodiscard]] bool is_wrapped(PyObject* tensor) const;

  /// Whether a dispatch mode (fake tensors, tracing, flop counting) wants to see every operation.
  [[nodiscard]] bool interposed() const;
  [[nodiscard]] bool grad_enabled() const;
  [[nodiscard]] bool requires_grad(PyObject* tensor) const;
  /// Whether this thread is inside of forward-mode differentiation.
  [[nodiscard]] bool has_forward_level() const noexcept {
    // Torch's Python counts its levels in a variable, -1 outside: one of the integers that Python has once.
    PyObject* const level = forward_module_.is_valid() ? PyDict_GetItem(forward_module_.ptr(), level_name_.ptr()) : nullptr;
    return level != nullptr && level != no_level_.ptr();
  }
  /// Whether the tensor has a tangent there.
  [[nodiscard]] bool has_tangent(PyObject* tensor) const;

  /// Whether `view` works: torch 2.10 and later offer the exchange interface.
  [[nodiscard]] bool has_exchange() const noexcept { return api_ != nullptr; }
  /// Borrows the tensor; false (no Python error) when torch will not show it, or it is on a device that we do not know.
  [[nodiscard]] bool view(PyObject* tensor, launch::TensorView& out) const noexcept {
    dlpack::Tensor borrowed;
    if (api_->dltensor_from_py_object_no_sync(tensor, &borrowed) != 0) [[unlikely]] {
      PyErr_Clear();
      return false;
    }
    // Lazily negated memory, as the imaginary part of a conjugate has, is shown as it lies. (Of complex tensors, which may be
    // lazily conjugated, no kernel has any.)
    return dlpack::view(borrowed, out) && (layout_.is_plain(tensor) || !is_negated(tensor));
  }
  /// The same of a tensor that is not written to, or fresh: without asking torch, where that goes.
  [[nodiscard]] bool read(PyObject* tensor, launch::TensorView& out) const noexcept {
    if (layout_.view(tensor, out)) [[likely]]
      return true;
    if (!view(tensor, out)) return false;
    if (out.device.kind == launch::DeviceId::Kind::cuda) layout_.meet_gpu(torch_, tensor);
    return true;
  }
  /// Which of torch's own functions and layouts were found: for tests, which fail where a new torch has others.
  [[nodiscard]] bool reads_tensors() const noexcept { return layout_.available(); }
  [[nodiscard]] bool is_negated(PyObject* tensor) const noexcept;
  /// Tells autograd that these tensors were written to, so that it notices when it had saved one. False with a Python error.
  [[nodiscard]] bool written(std::span<PyObject* const> tensors) const noexcept;
  /// torch's current stream on a GPU.
  [[nodiscard]] cuda::api::Stream stream(int ordinal) const;

  [[nodiscard]] TorchOutput prepare(const launch::Output& output) const;
  /// A new tensor; null with a Python error. `out` views it.
  [[nodiscard]] PyObject* allocate(const TorchOutput& output, launch::DeviceId device, launch::TensorView& out) const;
  /// The tensor of a Python dtype such as torch.float32: its numpy name.
  [[nodiscard]] static std::string_view dtype_name(nb::handle dtype, std::string& storage);

 private:
  explicit TorchBridge(nb::object module);
  [[nodiscard]] PyObject* allocate_natively(const TorchOutput& output, launch::DeviceId device, launch::TensorView& out) const;
  static inline const TorchBridge* instance_ = nullptr;

  nb::object torch_, tensor_type_, parameter_type_;
  nb::object forward_module_, level_name_, no_level_;  // the names of torch.autograd.forward_ad, if it is there
  nb::object unpack_dual_;
  PyCFunction get_is_neg_ = nullptr;    // what the method `is_neg` calls
  nb::object requires_grad_;            // the attribute's descriptor
  getter get_requires_grad_ = nullptr;  // what the descriptor calls
  void* requires_grad_closure_ = nullptr;
  TorchNative native_;
  TorchTensors tensors_;
  TorchLayout layout_;
  nb::object empty_strided_cuda_, empty_strided_cpu_;  // as compiled torch code calls them; none where this torch has them not
  nb::object dispatch_stack_length_, is_grad_enabled_, increment_version_;
  const dlpack::ExchangeApi* api_ = nullptr;
  std::int64_t (*stack_length_)() = nullptr;  // the two above, as C++ functions of torch's library
  bool (*grad_mode_)() = nullptr;
};

}  // namespace ptx::python
