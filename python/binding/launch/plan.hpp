// The state of a `pyptx._ptx.Plan`: a launch::Plan, and how Python's tensors go in and come out.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ptx/launch/launch.hpp"
#include "python/binding/launch/call_libraries.hpp"
#include "python/binding/launch/tensors.hpp"
#include "python/binding/torch/torch_bridge.hpp"

namespace ptx::python {

/// What makes the outputs of one specialisation.
struct PreparedOutputs {
  std::vector<TorchOutput> torch;  // empty until torch tensors come
  std::vector<NumpyOutput> numpy;  // empty until arrays come, numpy's or CuPy's
};

/// What a plan object holds, and what a call does.
class PlanState {
 public:
  using Scalars = launch::KernelImage::Scalars;

  PlanState(launch::Signature signature, nb::object specialise)
      : specialise_(std::move(specialise)),
        plan_(std::move(signature), [this](const tile::Env& env) { return make_image(env); }) {}

  [[nodiscard]] launch::Plan& plan() { return plan_; }
  [[nodiscard]] const launch::Signature& signature() const { return plan_.signature(); }
  [[nodiscard]] nb::object& specialise() { return specialise_; }

  /// Torch tensors like those of the last call. `out` is what the caller wants written: null or None, a tensor, or a sequence of
  /// one for each output. Null without a Python error: the careful path must look.
  PyObject* call_fast(PyObject* const* args, std::size_t count, Scalars scalars, PyObject* out);
  /// The same of tensors that are 16 bytes aligned, each taken by the shape and strides that `ways` has at its place: None, for
  /// the tensor's own or, in place of the tuple, for those of all.
  PyObject* call_again(PyObject* const* args, std::size_t count, Scalars scalars, PyObject* ways);
  PyObject* call_carefully(PyObject* self, PyObject* const* args, std::size_t count, Scalars scalars, PyObject* out);
  /// For shapes and element types alone, which is what a tracer has: the image with these scalars, and its outputs. Throws the
  /// Python error.
  nb::object bind(nb::handle specs, Scalars scalars);

 private:
  Expected<std::shared_ptr<const launch::KernelImage>> make_image(const tile::Env& env);
  /// Views as many plain torch tensors as the kernel has inputs, which no one but us has to see. False: the careful path must
  /// look.
  bool view_plain(const TorchBridge* torch, std::span<PyObject* const> args, std::span<launch::TensorView> views) const;
  PreparedOutputs& prepared(const launch::Specialisation& specialisation) {
    if (prepared_.size() <= specialisation.index) prepared_.resize(specialisation.index + 1);
    return prepared_[specialisation.index];
  }
  /// The tensors of `out=`; those of a list are held, which may change meanwhile.
  struct WantedOutputs {
    nb::tuple kept;
    std::vector<PyObject*> tensors;
  };
  [[nodiscard]] launch::Call core_of(const launch::Specialisation& specialisation, const CallTensors& call) const;
  /// Runs it, with outputs of torch's, numpy's or CuPy's. Null with a Python error.
  PyObject* run_torch(const TorchBridge& torch, const launch::Specialisation& specialisation, const CallTensors& call);
  PyObject* run_arrays(const launch::Specialisation& specialisation, const CallTensors& call, ArrayLibrary::Which which);
  /// The tensors of `out`, one for each output; none for null and None. False with a Python error.
  bool wanted_outputs(PyObject* out, WantedOutputs& storage, std::span<PyObject* const>& wanted) const;
  [[nodiscard]] std::optional<Diagnostic> check_gradients(const TorchBridge& torch, std::span<PyObject* const> args,
                                                          std::span<const Origin> origins) const;
  [[nodiscard]] std::optional<Diagnostic> check_output(const TorchBridge& torch, PyObject* tensor, bool is_seen_through) const;
  [[nodiscard]] Diagnostic about(std::size_t index, Diagnostic error) const;

  nb::object specialise_;
  launch::Plan plan_;
  std::deque<PreparedOutputs>
      prepared_;  // by Specialisation::index; a deque, since other threads may add to it while one is used
};

/// What a `pyptx._ptx.Plan` holds; null for another object.
PlanState* plan_state(nb::handle object);

}  // namespace ptx::python
