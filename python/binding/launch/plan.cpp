#include "python/binding/launch/plan.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>

#include "python/binding/authoring/handles.hpp"
#include "python/binding/base/author.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/launch/image_handle.hpp"

namespace ptx::python {
namespace {

using launch::DeviceId;
using launch::Specialisation;
using launch::TensorView;

// Inputs that the fast path views; clearing room for more would cost more than it saves.
constexpr std::size_t max_fast_tensors = 8;

/// Other sizes and strides of a tensor.
struct Way {
  static constexpr std::size_t max_rank = 8;
  std::array<std::int64_t, max_rank> sizes,
      strides;  // NOLINT(cppcoreguidelines-pro-type-member-init): given before they are read

  /// Elements from a tensor's first to behind its last.
  static std::int64_t extent(std::int32_t rank, const std::int64_t* sizes, const std::int64_t* strides) {
    std::int64_t last = 0;
    for (std::int32_t i = 0; i < rank; ++i) last += (sizes[i] - 1) * strides[i];
    return last + 1;
  }

  /// `way` is a pair of tuples. Throws what is no such thing. False where it reaches beyond the tensor.
  [[nodiscard]] bool give(nb::handle way, TensorView& view) {
    const auto pair = nb::cast<nb::tuple>(way);
    const auto all_sizes = nb::cast<nb::tuple>(pair[0]), all_strides = nb::cast<nb::tuple>(pair[1]);
    if (all_sizes.size() > max_rank || all_sizes.size() != all_strides.size()) throw nb::cast_error();
    for (std::size_t i = 0; i < all_sizes.size(); ++i) {
      sizes[i] = nb::cast<std::int64_t>(all_sizes[i]);
      strides[i] = nb::cast<std::int64_t>(all_strides[i]);
    }
    const auto rank = static_cast<std::int32_t>(all_sizes.size());
    if (extent(rank, sizes.data(), strides.data()) > extent(view.rank, view.shape, view.strides)) return false;
    view.rank = rank;
    view.shape = sizes.data();
    view.strides = strides.data();
    return true;
  }
};

bool module_is_imported(const char* name) { return nb::borrow<nb::dict>(PyImport_GetModuleDict()).contains(name); }

bool is_cupy_array(nb::handle object) {
  return module_is_imported("cupy") && nb::isinstance(object, nb::module_::import_("cupy").attr("ndarray"));
}

/// Sets the Python error; its place is the caller's line.
PyObject* fail(Diagnostic error) {
  if (PyErr_Occurred() != nullptr) return nullptr;  // what Python itself raised while an image was made
  if (!error.where.known()) error.where = authors_line();
  set_error(error);
  return nullptr;
}

// The call as that module makes it, which knows what its library must be told.
PyObject* hand_over(const char* module, PyObject* plan, const CallTensors& call) {
  nb::list arguments, bits, results;
  for (PyObject* argument : call.arguments) arguments.append(nb::handle(argument));
  for (const std::optional<std::uint64_t>& scalar : call.scalars) bits.append(scalar);
  for (PyObject* tensor : call.out) results.append(nb::handle(tensor));
  const nb::object call_plan = nb::module_::import_(module).attr("call_plan");
  if (call.out.empty()) return call_plan(nb::handle(plan), nb::tuple(arguments), nb::tuple(bits)).release().ptr();
  return call_plan(nb::handle(plan), nb::tuple(arguments), nb::tuple(bits), nb::arg("out") = nb::tuple(results)).release().ptr();
}

// What a call gives back. A Python error that is set otherwise.
template <class Library>
PyObject* finish(const launch::Call& call, Library& library) {
  if (auto ran = launch::run(call, library); !ran) return fail(std::move(ran).error());
  if (call.specialisation.image != nullptr && !library.tell_changed()) return nullptr;
  return library.results();
}

}  // namespace

Expected<std::shared_ptr<const launch::KernelImage>> PlanState::make_image(const tile::Env& env) {
  // Python's own error stays set for fail(); a thread that torch runs without Python has nobody to find it but in the text.
  const auto python_error = [](std::string text) { return Unexpected{{.kind = Kind::internal, .message = std::move(text)}}; };
  const nb::gil_scoped_acquire locked;
  try {
    nb::dict sizes;
    for (const auto& [dim, size] : env) sizes[nb::cast(dim)] = size;
    const nb::object image = specialise_(sizes);
    if (const ImageHandle* handle = nb::isinstance<ImageHandle>(image) ? nb::inst_ptr<ImageHandle>(image) : nullptr)
      return handle->image;
    PyErr_Format(PyExc_TypeError, "the plan of kernel `%s` got %R instead of an Image", signature().kernel().c_str(),
                 image.ptr());
    throw nb::python_error();
  } catch (nb::python_error& error) {
    std::string text = nb::cast<std::string>(nb::str(error.value()));
    error.restore();
    return python_error(std::move(text));
  }
}

bool PlanState::view_plain(const TorchBridge* torch, std::span<PyObject* const> args, std::span<TensorView> views) const {
  const bool fits = !args.empty() && args.size() == signature().inputs().size() && args.size() <= views.size();
  if (torch == nullptr || !torch->has_exchange() || !fits) return false;
  const bool gradients = torch->grad_enabled();
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!torch->is_plain_tensor(args[i]) || (gradients && torch->requires_grad(args[i])) || !torch->read(args[i], views[i]))
      return false;
  }
  return !torch->interposed() && !torch->has_forward_level();
}

PyObject* PlanState::call_fast(PyObject* const* args, std::size_t count, Scalars scalars, PyObject* out) {
  const TorchBridge* torch = TorchBridge::ready();
  std::array<TensorView, max_fast_tensors> views;
  if (!view_plain(torch, {args, count}, views)) return nullptr;
  const std::span<const TensorView> inputs(views.data(), count);
  const Specialisation* specialisation = plan_.last(inputs);
  if (specialisation == nullptr) return nullptr;
  for (const std::optional<std::size_t>& changed : specialisation->changed)
    if (changed && !torch->view(args[*changed], views[*changed])) return nullptr;
  CallTensors call{.arguments = {args, count}, .inputs = inputs, .out = {}, .scalars = scalars};
  if (out != nullptr && out != Py_None) {
    // One output that is a tensor, which is what nearly every call with `out=` has.
    if (specialisation->outputs.size() != 1 || !torch->is_plain_tensor(out) ||
        (torch->grad_enabled() && torch->requires_grad(out)))
      return nullptr;
    call.out = {&out, 1};
  }
  return run_torch(*torch, *specialisation, call);
}

PyObject* PlanState::call_again(PyObject* const* args, std::size_t count, Scalars scalars, PyObject* ways) {
  const TorchBridge* torch = TorchBridge::ready();
  std::array<TensorView, max_fast_tensors> views;
  if (!view_plain(torch, {args, count}, views)) return nullptr;
  if (ways != Py_None && (!PyTuple_Check(ways) || PyTuple_GET_SIZE(ways) != static_cast<Py_ssize_t>(count)))
    throw nb::cast_error();
  std::array<Way, max_fast_tensors> taken;
  std::uintptr_t places = 0;
  for (std::size_t i = 0; i < count; ++i) {
    places |= reinterpret_cast<std::uintptr_t>(views[i].data);
    PyObject* const way = ways == Py_None ? Py_None : PyTuple_GET_ITEM(ways, static_cast<Py_ssize_t>(i));
    if (way != Py_None && !taken[i].give(way, views[i])) return nullptr;
  }
  const std::span<const TensorView> inputs(views.data(), count);
  const Specialisation* specialisation = plan_.last(inputs);
  if (specialisation == nullptr || places % 16 != 0 || !specialisation->changed.empty()) return nullptr;
  return run_torch(*torch, *specialisation, {.arguments = {args, count}, .inputs = inputs, .out = {}, .scalars = scalars});
}

launch::Call PlanState::core_of(const Specialisation& specialisation, const CallTensors& call) const {
  return {.plan = plan_,
          .specialisation = specialisation,
          .inputs = call.inputs,
          .scalars = call.scalars,
          .gives_outputs = !call.out.empty()};
}

PyObject* PlanState::run_torch(const TorchBridge& torch, const Specialisation& specialisation, const CallTensors& call) {
  PreparedOutputs& ready = prepared(specialisation);
  if (ready.torch.size() != specialisation.outputs.size()) [[unlikely]] {
    std::vector<TorchOutput> made;
    for (const launch::Output& output : specialisation.outputs) made.push_back(torch.prepare(output));
    if (ready.torch.empty()) ready.torch = std::move(made);  // unless another thread was faster
  }
  const launch::Call core = core_of(specialisation, call);
  TorchLibrary library(torch, signature(), call, core.device, ready.torch);
  return finish(core, library);
}

PyObject* PlanState::run_arrays(const Specialisation& specialisation, const CallTensors& call, ArrayLibrary::Which which) {
  PreparedOutputs& ready = prepared(specialisation);
  if (ready.numpy.size() != specialisation.outputs.size()) {
    std::vector<NumpyOutput> made = NumpyOutput::all(specialisation.outputs);
    if (ready.numpy.empty()) ready.numpy = std::move(made);
  }
  const launch::Call core = core_of(specialisation, call);
  ArrayLibrary library(which, signature(), call, core.device, ready.numpy);
  return finish(core, library);
}

bool PlanState::wanted_outputs(PyObject* out, WantedOutputs& storage, std::span<PyObject* const>& wanted) const {
  if (out == nullptr || out == Py_None) return true;
  const std::size_t count = signature().outputs().size();
  if (PyTuple_Check(out) != 0 || PyList_Check(out) != 0) {
    storage.kept = nb::steal<nb::tuple>(PySequence_Tuple(out));
    if (!storage.kept.is_valid()) return false;
    for (const nb::handle tensor : storage.kept) storage.tensors.push_back(tensor.ptr());
  } else {
    storage.tensors.push_back(out);  // the caller's argument
  }
  if (storage.tensors.size() != count) {
    fail({.kind = Kind::argument_count,
          .message = cat("kernel `", signature().kernel(), "` has ", count, count == 1 ? " output" : " outputs", "; `out` has ",
                         storage.tensors.size(), storage.tensors.size() == 1 ? " tensor" : " tensors")});
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (origin_of(storage.tensors[i]) != Origin::none) continue;
    fail({.kind = Kind::argument_kind,
          .message = cat(signature().output(i), " is ", a_type(storage.tensors[i]), "; `out` takes a tensor")});
    return false;
  }
  wanted = storage.tensors;
  return true;
}

/// An error about one argument, which the message then names.
Diagnostic PlanState::about(std::size_t index, Diagnostic error) const {
  error.message = cat(signature().argument(index), error.kind == Kind::argument_kind ? " " : ": ", error.message);
  error.note(cat("takes: ", launch::describe(signature().inputs()[index])));
  return error;
}

std::optional<Diagnostic> PlanState::check_gradients(const TorchBridge& torch, std::span<PyObject* const> args,
                                                     std::span<const Origin> origins) const {
  if (torch.has_forward_level()) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      const bool tensor = origins[i] == Origin::torch || origins[i] == Origin::torch_wrapped;
      if (!tensor || !torch.has_tangent(args[i])) continue;
      return Diagnostic{.kind = Kind::argument_gradient,
                        .message = cat(signature().argument(i),
                                       " has a tangent of forward-mode differentiation; kernels have no derivative of that mode")}
          .hint(
              "take a gradient of `pyptx.differentiable_kernel(forward, backward)` by `.backward()` or `torch.func.grad`, or "
              "`.detach()` the tensor");
    }
  }
  if (!torch.grad_enabled()) return std::nullopt;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool tensor = origins[i] == Origin::torch || origins[i] == Origin::torch_wrapped;
    if (!tensor || !torch.requires_grad(args[i])) continue;
    return Diagnostic{.kind = Kind::argument_gradient,
                      .message = cat(signature().argument(i), " requires a gradient; the kernel has no backward")}
        .hint(
            "wrap the kernel and its backward with `pyptx.differentiable_kernel(forward, backward)`, or call it under "
            "`torch.no_grad()`");
  }
  return std::nullopt;
}

// A tensor of torch's that is wanted as an output, and that torch may have to see written.
std::optional<Diagnostic> PlanState::check_output(const TorchBridge& torch, PyObject* tensor, bool is_seen_through) const {
  const auto about_out = [&](Kind kind, const auto&... says) {
    return Diagnostic{.kind = kind, .message = cat("`out` of kernel `", signature().kernel(), "` ", says...)};
  };
  if (!is_seen_through)
    return about_out(
        Kind::argument_kind, "is ", a_type(tensor),
        " that torch has to see written, and the inputs are not torch tensors; what fits is a plain tensor or an array");
  if (torch.grad_enabled() && torch.requires_grad(tensor))
    return about_out(Kind::argument_gradient, "requires a gradient, which a kernel does not compute");
  if (torch.has_forward_level() && torch.has_tangent(tensor))
    return about_out(Kind::argument_gradient, "has a tangent of forward-mode differentiation, which a kernel does not compute");
  return std::nullopt;
}

PyObject* PlanState::call_carefully(PyObject* self, PyObject* const* args, std::size_t count, Scalars scalars, PyObject* out) {
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
  if (const auto odd = first(Origin::none)) {
    if (const TensorSpec* tensor = as<TensorSpec>(args[*odd]))
      return fail(about(*odd, {.kind = Kind::argument_kind,
                               .message = cat("is `", tensor->name, "`, a tensor of the kernel whose body this is")})
                      .hint("a body calls device functions, which `@func` makes; kernels are called with arrays"));
    return fail(signature().not_a_tensor(*odd, a_type(args[*odd])));
  }
  WantedOutputs out_storage;
  CallTensors call{.arguments = arguments, .inputs = {}, .out = {}, .scalars = scalars};
  if (!wanted_outputs(out, out_storage, call.out)) return nullptr;
  const auto from_torch = first(Origin::torch, Origin::torch_wrapped);
  if (const auto from_jax = first(Origin::jax)) {
    if (from_torch) {
      return fail(about(*from_torch,
                        {.kind = Kind::argument_kind,
                         .message = cat("is a torch tensor, and argument ", *from_jax, " a JAX array; a call takes one kind")}));
    }
    if (!call.out.empty()) {
      return fail(Diagnostic{.kind = Kind::argument_kind,
                             .message = cat("kernel `", signature().kernel(),
                                            "` is called with JAX arrays and `out`; a JAX array is never written to")}
                      .hint("declare `input_output_aliases` and donate the input (`jax.jit(…, donate_argnums=…)`)"));
    }
    return hand_over("pyptx.jax_support", self, call);
  }
  const TorchBridge* torch = TorchBridge::find();
  if (from_torch) {
    if (auto error = check_gradients(*torch, arguments, {origins.data(), count})) return fail(std::move(*error));
    if (first(Origin::torch_wrapped) || torch->interposed()) return hand_over("pyptx.torch_support", self, call);
  }
  for (PyObject* tensor : call.out) {
    if (torch == nullptr || !torch->is_tensor(tensor)) continue;
    const bool is_seen_through = torch->is_plain_tensor(tensor) && !torch->is_wrapped(tensor) && !torch->interposed();
    if (!is_seen_through && from_torch) return hand_over("pyptx.torch_support", self, call);
    if (auto error = check_output(*torch, tensor, is_seen_through)) return fail(std::move(*error));
  }

  std::vector<Import> imports;
  std::vector<TensorView> views;
  imports.reserve(count);
  // Who holds the outputs says on which stream the kernel runs; those of the host have none.
  const bool by_cupy = !from_torch && count != 0 && module_is_imported("cupy") && (torch == nullptr || is_cupy_array(args[0]));
  const StreamOf stream = by_cupy ? StreamOf::cupy : torch != nullptr ? StreamOf::torch : StreamOf::nobody;
  for (std::size_t i = 0; i < count; ++i) {
    if (origins[i] == Origin::torch && torch->is_wrapped(args[i])) return hand_over("pyptx.torch_support", self, call);
    auto import = Import::of(args[i], origins[i], stream);
    if (!import) return fail(about(i, std::move(import).error()));
    imports.push_back(std::move(*import));
    views.push_back(imports.back().view());
  }
  const auto found = plan_.find(views);
  if (!found) return fail(found.error());
  const bool on_gpu = !views.empty() && views[0].device.kind == DeviceId::Kind::cuda;
  call.inputs = views;
  if (!from_torch && !on_gpu) return run_arrays(**found, call, ArrayLibrary::Which::numpy);
  // GPU arrays of a library whose allocator we do not know: CuPy or torch holds the outputs.
  if (!from_torch && (torch == nullptr || is_cupy_array(args[0]))) {
    if (!module_is_imported("cupy")) {
      return fail(about(
          0, Diagnostic{.kind = Kind::argument_kind,
                        .message = cat("is ", a_type(args[0]),
                                       " on a GPU, and neither torch nor CuPy, which would hold the outputs, is imported")}));
    }
    return run_arrays(**found, call, ArrayLibrary::Which::cupy);
  }
  return run_torch(*torch, **found, call);
}

nb::object PlanState::bind(nb::handle specs, Scalars scalars) {
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<TensorView> views;
  for (const nb::handle spec : specs) {
    const auto pair = nb::cast<nb::tuple>(spec);
    shapes.push_back(nb::cast<std::vector<std::int64_t>>(pair[0]));
    TensorView view;
    const auto dtype = nb::cast<std::string>(pair[1]);
    if (const auto element = launch::element_type_from_name(dtype)) {
      view.dtype = *element;
    } else if (views.size() < signature().inputs().size()) {
      fail(about(views.size(),
                 {.kind = Kind::argument_dtype, .message = cat("the element type is ", dtype, ", which PTX does not have")}));
      throw nb::python_error();
    }
    view.rank = static_cast<std::int32_t>(shapes.back().size());
    views.push_back(view);
  }
  for (std::size_t i = 0; i < views.size(); ++i) views[i].shape = shapes[i].data();
  const auto found = plan_.find(views, launch::Scope::shapes);
  if (!found) {
    fail(found.error());
    throw nb::python_error();
  }
  const std::shared_ptr<const launch::KernelImage>& found_image = (*found)->image;
  auto image = scalars.empty() || found_image == nullptr ? Expected(found_image) : found_image->with_scalars(scalars);
  if (!image) {
    fail(image.error());
    throw nb::python_error();
  }
  nb::list outputs;
  for (const launch::Output& output : (*found)->outputs) {
    outputs.append(
        nb::make_tuple(nb::tuple(nb::cast(output.shape)), nb::str(std::string(launch::numpy_name(output.dtype)).c_str())));
  }
  if (*image == nullptr) return nb::make_tuple(nb::none(), nb::tuple(outputs));  // no elements, nothing to launch
  return nb::make_tuple(ImageHandle::registered(std::move(*image)), nb::tuple(outputs));
}

}  // namespace ptx::python
