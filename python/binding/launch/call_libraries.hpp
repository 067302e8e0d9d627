// What a call of a kernel asks of the libraries that Python's tensors are of: torch, numpy, CuPy. The call itself is
// ptx/launch/call.hpp.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ptx/launch/launch.hpp"
#include "python/binding/launch/tensors.hpp"
#include "python/binding/torch/torch_bridge.hpp"

namespace ptx::python {

/// Inputs and outputs that a call may have.
inline constexpr std::size_t max_plan_tensors = 64;

/// Releases the GIL for a run that may outlive the interpreter: a daemon thread that asks for it after the interpreter's end
/// would be unwound through C++, which ends the process. It stays where it is instead, as Python itself has it from 3.14 on.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Folders below which NVIDIA's wheels may lie: where Python imports from.
std::vector<std::string> tool_roots();
/// As Python's warnings. Fails when a filter makes one an error, which is then set.
Expected<void> show_warnings(const Diagnostics& found);
/// What stands for a Python error that is set.
Unexpected python_error_is_set();

/// What all of them have in common: the GIL is held, and released while the executor runs, a kernel loads or a launch is waited
/// for.
struct PythonLibrary : launch::CallLibrary {
  static launch::Cpu cpu();
  static WithoutGil step_aside() { return {}; }
  static void loading() { cuda::set_tool_roots(tool_roots()); }  // sys.path may have changed since the import
  static Expected<void> loaded(const launch::KernelImage& image, Expected<void> ready) {
    return ready ? show_warnings(image.take_load_warnings()) : std::move(ready);
  }
};

/// Tensors that are all there before the call, on one library's stream.
struct GivenTensors : PythonLibrary {
  StreamOf library = StreamOf::nobody;
  [[nodiscard]] Expected<cuda::api::Stream> stream(int ordinal) const { return launch_stream(library, ordinal); }
};

/// One call's tensors: what was given, seen, and where results are wanted (empty: the outputs are allocated).
struct CallTensors {
  std::span<PyObject* const> arguments;
  std::span<const launch::TensorView> inputs;
  std::span<PyObject* const> out;
  launch::ScalarValues scalars;
};

/// Results on their way out.
class Results {
 public:
  Results() = default;  // NOLINT(cppcoreguidelines-pro-type-member-init): the first count_ alone count
  ~Results() {
    for (std::size_t i = 0; i < count_; ++i) Py_XDECREF(results_[i]);
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  void add(nb::object result) { results_[count_++] = result.release().ptr(); }
  PyObject* release();

 private:
  std::array<PyObject*, max_plan_tensors> results_;
  std::size_t count_ = 0;
};

/// The view of a tensor of `out`; what it needs to stay valid goes to `imports`. Errors name the output.
Expected<launch::TensorView> view_given(const TorchBridge* torch, StreamOf stream, const launch::Signature& signature,
                                        std::size_t output, PyObject* given, std::vector<Import>& imports);

/// torch makes the outputs.
class TorchLibrary : public PythonLibrary {
 public:
  TorchLibrary(const TorchBridge& torch, const launch::Signature& signature, const CallTensors& call, launch::DeviceId device,
               std::span<const TorchOutput> prepared)
      : torch_(torch), signature_(signature), call_(call), device_(device), prepared_(prepared) {}

  Expected<launch::TensorView> given(std::size_t output) {
    PyObject* const tensor = call_.out[output];
    auto view = view_given(&torch_, StreamOf::torch, signature_, output, tensor, imports_);
    if (view) keep_changed(tensor);
    return view;
  }
  void changes(std::size_t /*output*/, std::size_t input) { keep_changed(call_.arguments[input]); }
  Expected<void*> allocate(std::size_t output) {
    launch::TensorView view;
    nb::object tensor = nb::steal(torch_.allocate(prepared_[output], device_, view));
    if (!tensor.is_valid()) [[unlikely]]
      return python_error_is_set();
    results_.add(std::move(tensor));
    return view.data;
  }
  [[nodiscard]] Expected<cuda::api::Stream> stream(int ordinal) const { return torch_.stream(ordinal); }

  /// Tells autograd what was written. False with a Python error.
  [[nodiscard]] bool tell_changed() const {
    return changed_count_ == 0 || torch_.written(std::span(changed_.data(), changed_count_));
  }
  PyObject* results() { return results_.release(); }

 private:
  /// A result that was there before.
  void keep_changed(PyObject* tensor) {
    results_.add(nb::borrow(tensor));
    if (torch_.is_plain_tensor(tensor)) changed_[changed_count_++] = tensor;
  }

  const TorchBridge& torch_;
  const launch::Signature& signature_;
  const CallTensors& call_;
  launch::DeviceId device_;
  std::span<const TorchOutput> prepared_;
  Results results_;
  std::vector<Import> imports_;
  std::array<PyObject*, max_plan_tensors> changed_;  // the first changed_count_ of them
  std::size_t changed_count_ = 0;
};

/// Arguments of `numpy.empty` and `cupy.empty`.
struct NumpyOutput {
  nb::object shape, dtype;

  static std::vector<NumpyOutput> all(std::span<const launch::Output> outputs);
};

/// numpy or CuPy makes the outputs.
class ArrayLibrary : public PythonLibrary {
 public:
  enum class Which : std::uint8_t { numpy, cupy };
  ArrayLibrary(Which which, const launch::Signature& signature, const CallTensors& call, launch::DeviceId device,
               std::span<const NumpyOutput> prepared)
      : which_(which), signature_(signature), call_(call), device_(device), prepared_(prepared) {}

  Expected<launch::TensorView> given(std::size_t output);
  void changes(std::size_t /*output*/, std::size_t input) { results_.add(nb::borrow(call_.arguments[input])); }
  Expected<void*> allocate(std::size_t output);
  [[nodiscard]] Expected<cuda::api::Stream> stream(int ordinal) const { return launch_stream(stream_of(), ordinal); }

  /// Tells autograd which tensors of torch's among `out` were written. False with a Python error.
  [[nodiscard]] bool tell_changed() const;
  PyObject* results() { return results_.release(); }

 private:
  [[nodiscard]] StreamOf stream_of() const { return which_ == Which::cupy ? StreamOf::cupy : StreamOf::nobody; }

  Which which_;
  const launch::Signature& signature_;
  const CallTensors& call_;
  launch::DeviceId device_;
  std::span<const NumpyOutput> prepared_;
  Results results_;
  std::vector<Import> imports_;
};

}  // namespace ptx::python
