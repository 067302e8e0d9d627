#include "plan.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>

#include "author.hpp"
#include "errors.hpp"
#include "image_handle.hpp"

namespace ptx::python {
namespace {

using launch::DeviceId;
using launch::Specialisation;
using launch::TensorView;

// Inputs that the fast path views; clearing room for more would cost more than it saves.
constexpr std::size_t max_fast_tensors = 8;

/// Results on their way out.
class Results {
 public:
  Results() = default;
  ~Results() {
    for (std::size_t i = 0; i < count_; ++i) Py_XDECREF(results_[i]);
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  void add(nb::object result) { results_[count_++] = result.release().ptr(); }
  PyObject* release() {
    if (count_ == 1) return std::exchange(results_[0], nullptr);
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(count_));
    for (std::size_t i = 0; tuple != nullptr && i < count_; ++i)
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), std::exchange(results_[i], nullptr));
    return tuple;
  }

 private:
  std::array<PyObject*, max_plan_tensors> results_;  // the first count_ of them
  std::size_t count_ = 0;
};

/// Sets the Python error; its place is the caller's line.
PyObject* fail(Diagnostic error) {
  if (PyErr_Occurred() != nullptr) return nullptr;  // what Python itself raised while an image was made
  if (!error.where.known()) error.where = authors_line();
  set_error(error);
  return nullptr;
}

}  // namespace

Expected<std::shared_ptr<const launch::KernelImage>> PlanState::make_image(const tile::Env& env) {
  const auto python_error = [] {
    return Unexpected{{.kind = Kind::internal, .message = "Python raised an error"}};
  };  // see fail()
  try {
    nb::dict sizes;
    for (const auto& [dim, size] : env) sizes[nb::cast(dim)] = size;
    const nb::object image = specialise_(sizes);
    if (const ImageHandle* handle = nb::isinstance<ImageHandle>(image) ? nb::inst_ptr<ImageHandle>(image) : nullptr)
      return handle->image;
    PyErr_Format(PyExc_TypeError, "the plan of kernel `%s` got %R instead of an Image", signature().kernel().c_str(),
                 image.ptr());
  } catch (nb::python_error& error) {
    error.restore();
  }
  return python_error();
}

PyObject* PlanState::call_fast(PyObject* const* args, std::size_t count, Scalars scalars) {
  const TorchBridge* torch = TorchBridge::ready();
  if (torch == nullptr || !torch->has_exchange() || count != signature().inputs().size() || count == 0 ||
      count > max_fast_tensors) {
    return nullptr;
  }
  std::array<TensorView, max_fast_tensors> views;
  const bool gradients = torch->grad_enabled();
  for (std::size_t i = 0; i < count; ++i) {
    if (!torch->is_plain_tensor(args[i]) || (gradients && torch->requires_grad(args[i])) || !torch->view(args[i], views[i]))
      return nullptr;
  }
  if (torch->interposed()) return nullptr;
  const std::span<const TensorView> inputs(views.data(), count);
  const Specialisation* specialisation = plan_.last(inputs);
  return specialisation != nullptr ? run_torch(*torch, *specialisation, inputs, scalars) : nullptr;
}

PyObject* PlanState::run_torch(const TorchBridge& torch, const Specialisation& specialisation, std::span<const TensorView> inputs,
                               Scalars scalars) {
  PreparedOutputs& ready = prepared(specialisation);
  if (ready.torch.size() != specialisation.outputs.size()) [[unlikely]] {
    std::vector<TorchOutput> made;
    for (const launch::Output& output : specialisation.outputs) made.push_back(torch.prepare(output));
    if (ready.torch.empty()) ready.torch = std::move(made);  // unless another thread was faster
  }
  const DeviceId device = inputs.empty() ? DeviceId{} : inputs[0].device;
  std::array<void*, max_plan_tensors> pointers;
  std::array<std::size_t, max_plan_tensors> bytes;
  std::size_t count = 0;
  const bool on_cpu = device.kind == DeviceId::Kind::cpu;
  for (const TensorView& input : inputs) {
    if (on_cpu) bytes[count] = input.bytes();
    pointers[count++] = input.data;
  }
  Results results;
  for (std::size_t i = 0; i < specialisation.outputs.size(); ++i) {
    TensorView view;
    nb::object tensor = nb::steal(torch.allocate(ready.torch[i], device, view));
    if (!tensor.is_valid()) return nullptr;
    results.add(std::move(tensor));
    bytes[count] = specialisation.outputs[i].bytes;
    pointers[count++] = view.data;
  }
  const cuda::api::Stream stream = on_cpu ? nullptr : torch.stream(device.ordinal);
  const auto ran = run_image(*specialisation.image, device, stream, {pointers.data(), count}, {bytes.data(), count}, scalars);
  return ran ? results.release() : fail(ran.error());
}

PyObject* PlanState::run_numpy(const Specialisation& specialisation, std::span<const TensorView> inputs, Scalars scalars) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  PreparedOutputs& ready = prepared(specialisation);
  if (ready.numpy.size() != specialisation.outputs.size()) {
    std::vector<NumpyOutput> made;
    for (const launch::Output& output : specialisation.outputs) {
      // numpy learns bfloat16 and float8 from ml_dtypes, and only by its types.
      const std::string name(launch::numpy_name(output.dtype));
      made.push_back({.shape = nb::tuple(nb::cast(output.shape)),
                      .dtype = nb::hasattr(numpy, name.c_str()) ? nb::object(numpy.attr(name.c_str()))
                                                                : nb::module_::import_("ml_dtypes").attr(name.c_str())});
    }
    if (ready.numpy.empty()) ready.numpy = std::move(made);
  }
  std::array<void*, max_plan_tensors> pointers;
  std::array<std::size_t, max_plan_tensors> bytes;
  std::size_t count = 0;
  for (const TensorView& input : inputs) {
    bytes[count] = input.bytes();
    pointers[count++] = input.data;
  }
  Results results;
  for (std::size_t i = 0; i < specialisation.outputs.size(); ++i) {
    nb::object array = numpy.attr("empty")(ready.numpy[i].shape, ready.numpy[i].dtype);
    auto import = Import::of(array, Origin::numpy);
    if (!import) return fail(import.error());
    results.add(std::move(array));
    bytes[count] = specialisation.outputs[i].bytes;
    pointers[count++] = import->view().data;
  }
  const auto ran =
      run_image(*specialisation.image, DeviceId{}, nullptr, {pointers.data(), count}, {bytes.data(), count}, scalars);
  return ran ? results.release() : fail(ran.error());
}

/// An error about one argument, which the message then names.
Diagnostic PlanState::about(std::size_t index, Diagnostic error) const {
  error.message = cat(signature().argument(index), error.kind == Kind::argument_kind ? " " : ": ", error.message);
  error.note(cat("takes: ", launch::describe(signature().inputs()[index])));
  return error;
}

std::optional<Diagnostic> PlanState::check_gradients(const TorchBridge& torch, std::span<PyObject* const> args,
                                                     std::span<const Origin> origins) const {
  if (!torch.grad_enabled()) return std::nullopt;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool tensor = origins[i] == Origin::torch || origins[i] == Origin::torch_wrapped;
    if (!tensor || !torch.requires_grad(args[i])) continue;
    return Diagnostic{.kind = Kind::argument_gradient,
                      .message = cat(signature().argument(i), " requires a gradient; the kernel has no backward")}
        .note(
            "hint: wrap the kernel and its backward with `pyptx.differentiable_kernel(forward, backward)`, or call it under "
            "`torch.no_grad()`");
  }
  return std::nullopt;
}

PyObject* PlanState::call_carefully(PyObject* self, PyObject* const* args, std::size_t count, Scalars scalars) {
  if (auto ok = signature().check_count(count); !ok) return fail(ok.error());
  const std::span<PyObject* const> arguments(args, count);
  std::array<Origin, max_plan_tensors> origins;
  const auto first = [&](auto... wanted) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < count; ++i) {
      if (((origins[i] == wanted) || ...)) return i;
    }
    return std::nullopt;
  };
  for (std::size_t i = 0; i < count; ++i) origins[i] = origin_of(args[i]);
  if (const auto odd = first(Origin::none)) return fail(signature().not_a_tensor(*odd, a_type(args[*odd])));
  const auto from_torch = first(Origin::torch, Origin::torch_wrapped);
  const auto hand_over = [&](const char* module) {
    nb::list all;
    for (PyObject* argument : arguments) all.append(nb::handle(argument));
    nb::list bits;
    for (const std::optional<std::uint64_t>& scalar : scalars) bits.append(scalar);
    return nb::module_::import_(module).attr("call_plan")(nb::handle(self), nb::tuple(all), nb::tuple(bits)).release().ptr();
  };
  if (const auto from_jax = first(Origin::jax)) {
    if (from_torch) {
      return fail(about(*from_torch,
                        {.kind = Kind::argument_kind,
                         .message = cat("is a torch tensor, and argument ", *from_jax, " a JAX array; a call takes one kind")}));
    }
    return hand_over("pyptx.jax_support");
  }
  const TorchBridge* torch = TorchBridge::find();
  if (from_torch) {
    if (auto error = check_gradients(*torch, arguments, {origins.data(), count})) return fail(std::move(*error));
    if (first(Origin::torch_wrapped) || torch->interposed()) return hand_over("pyptx.torch_support");
  }

  std::vector<Import> imports;
  std::vector<TensorView> views;
  imports.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (origins[i] == Origin::torch && torch->is_wrapped(args[i])) return hand_over("pyptx.torch_support");
    auto import = Import::of(args[i], origins[i]);
    if (!import) return fail(about(i, std::move(import).error()));
    imports.push_back(std::move(*import));
    views.push_back(imports.back().view());
  }
  const auto found = plan_.find(views);
  if (!found) return fail(found.error());
  const bool on_gpu = !views.empty() && views[0].device.kind == DeviceId::Kind::cuda;
  if (!from_torch && !on_gpu) return run_numpy(**found, views, scalars);
  if (torch == nullptr) {  // a GPU tensor of a library whose allocator we do not know
    return fail(about(0, Diagnostic{.kind = Kind::argument_kind,
                                    .message = cat("is ", a_type(args[0]),
                                                   " on a GPU, and torch, which would hold the outputs, is not imported")}));
  }
  return run_torch(*torch, **found, views, scalars);
}

nb::object PlanState::bind(nb::handle specs, Scalars scalars) {
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<TensorView> views;
  for (const nb::handle spec : specs) {
    const auto pair = nb::cast<nb::tuple>(spec);
    shapes.push_back(nb::cast<std::vector<std::int64_t>>(pair[0]));
    TensorView view;
    if (const auto element = launch::element_type_from_name(nb::cast<std::string>(pair[1]))) view.dtype = *element;
    view.rank = static_cast<std::int32_t>(shapes.back().size());
    views.push_back(view);
  }
  for (std::size_t i = 0; i < views.size(); ++i) views[i].shape = shapes[i].data();
  const auto found = plan_.find(views, launch::Scope::shapes);
  if (!found) {
    fail(found.error());
    throw nb::python_error();
  }
  auto image = scalars.empty() ? Expected((*found)->image) : (*found)->image->with_scalars(scalars);
  if (!image) {
    fail(image.error());
    throw nb::python_error();
  }
  nb::list outputs;
  for (const launch::Output& output : (*found)->outputs) {
    outputs.append(
        nb::make_tuple(nb::tuple(nb::cast(output.shape)), nb::str(std::string(launch::numpy_name(output.dtype)).c_str())));
  }
  return nb::make_tuple(ImageHandle::registered(std::move(*image)), nb::tuple(outputs));
}

}  // namespace ptx::python
