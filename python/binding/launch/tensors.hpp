// Any Python object that is a tensor, seen without copying. The careful way: the fast one for torch is TorchBridge::view.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "ptx/launch/launch.hpp"

namespace ptx::python {

namespace nb = nanobind;

/// Which library an argument comes from, as far as it decides how the call is made.
enum class Origin : std::uint8_t {
  none,           ///< no tensor
  torch,          ///< exactly a torch.Tensor
  torch_wrapped,  ///< a subclass: fake tensors, functional wrappers
  jax,            ///< an array or a tracer
  numpy,          ///< anything with `__array_interface__`
  dlpack,         ///< anything with `__dlpack__`
};
Origin origin_of(nb::handle object);

/// Whose current stream a launch on a GPU goes to: of the library that holds the outputs.
enum class StreamOf : std::uint8_t { nobody, torch, cupy };  ///< nobody: the legacy default stream
cuda::api::Stream launch_stream(StreamOf library, int ordinal);

/// A view, and what keeps it valid.
class Import {
 public:
  /// Looks at an object of origin torch, numpy or dlpack. Errors: argument_kind, argument_dtype, argument_device, saying only
  /// what is wrong: the caller knows which argument it is. What another library has still to do on a GPU is ordered before the
  /// launch's stream.
  static Expected<Import> of(nb::handle object, Origin origin, StreamOf stream = StreamOf::nobody);

  /// Valid while this Import lives and does not move, and the object is not resized.
  [[nodiscard]] launch::TensorView view() const {
    launch::TensorView view = view_;
    view.shape = shape_.data();
    view.strides = strides_.empty() ? nullptr : strides_.data();
    return view;
  }

 private:
  Import() = default;
  static Expected<Import> of_torch(nb::handle object);
  static Expected<Import> of_array_interface(nb::handle object);
  static Expected<Import> of_dlpack(nb::handle object, StreamOf stream);

  launch::TensorView view_;
  std::vector<std::int64_t> shape_, strides_;
  nb::object keep_;
};

/// "an `int`", "a `list`": how a message calls an object by its type.
std::string a_type(nb::handle object);

}  // namespace ptx::python
