// `pyptx._ptx.Plan`: what a kernel's call comes down to. A C type with vectorcall, since every nanosecond here is paid at every launch; it takes
// torch tensors on the fast path, and everything else on a careful one.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "author.hpp"
#include "errors.hpp"
#include "image_handle.hpp"
#include "tensors.hpp"
#include "torch_bridge.hpp"

namespace ptx::python {
namespace {

using launch::DeviceId;
using launch::Specialisation;
using launch::TensorView;

constexpr std::size_t max_tensors = 64;       // inputs and outputs: their addresses are gathered on the stack
constexpr std::size_t max_fast_tensors = 8;  // inputs that the fast path views; clearing more than these would cost more than they save

/// Arguments of `numpy.empty`.
struct NumpyOutput {
  nb::object shape, dtype;
};

/// The Python side of one specialisation.
struct Prepared {
  std::vector<TorchOutput> torch;  // empty until torch tensors come
  std::vector<NumpyOutput> numpy;  // empty until arrays come
};

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
    for (std::size_t i = 0; tuple != nullptr && i < count_; ++i) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), std::exchange(results_[i], nullptr));
    return tuple;
  }

 private:
  std::array<PyObject*, max_tensors> results_;  // the first count_ of them
  std::size_t count_ = 0;
};

/// Sets the Python error; its place is the caller's line.
PyObject* fail(Diagnostic error) {
  if (PyErr_Occurred() != nullptr) return nullptr;  // what Python itself raised while an image was made
  if (!error.where.known()) error.where = authors_line();
  set_error(error);
  return nullptr;
}

class State {
 public:
  State(launch::Signature signature, nb::object specialise)
      : specialise_(std::move(specialise)), plan_(std::move(signature), [this](const tile::Env& env) { return make_image(env); }) {}

  [[nodiscard]] launch::Plan& plan() { return plan_; }
  [[nodiscard]] const launch::Signature& signature() const { return plan_.signature(); }
  [[nodiscard]] nb::object& specialise() { return specialise_; }

  /// Torch tensors like those of the last call. Null without a Python error: the careful path must look.
  PyObject* call_fast(PyObject* const* args, std::size_t count);
  PyObject* call_carefully(PyObject* self, PyObject* const* args, std::size_t count, PyObject* keywords);
  nb::object bind(nb::handle specs);

 private:
  Expected<std::shared_ptr<const launch::KernelImage>> make_image(const tile::Env& env);
  Prepared& prepared(const Specialisation& specialisation) {
    if (prepared_.size() <= specialisation.index) prepared_.resize(specialisation.index + 1);
    return prepared_[specialisation.index];
  }
  PyObject* run_torch(const TorchBridge& torch, const Specialisation& specialisation, std::span<const TensorView> inputs);
  PyObject* run_numpy(const Specialisation& specialisation, std::span<const TensorView> inputs);
  [[nodiscard]] std::optional<Diagnostic> check_gradients(const TorchBridge& torch, std::span<PyObject* const> args, std::span<const Origin> origins) const;
  [[nodiscard]] Diagnostic about(std::size_t index, Diagnostic error) const;

  nb::object specialise_;
  launch::Plan plan_;
  std::deque<Prepared> prepared_;  // by Specialisation::index; a deque, since other threads may add to it while one is used
};

Expected<std::shared_ptr<const launch::KernelImage>> State::make_image(const tile::Env& env) {
  const auto python_error = [] { return Unexpected{{.kind = Kind::internal, .message = "Python raised an error"}}; };  // see fail()
  try {
    nb::dict sizes;
    for (const auto& [dim, size] : env) sizes[nb::cast(dim)] = size;
    const nb::object image = specialise_(sizes);
    if (const ImageHandle* handle = nb::isinstance<ImageHandle>(image) ? nb::inst_ptr<ImageHandle>(image) : nullptr) return handle->image;
    PyErr_Format(PyExc_TypeError, "the plan of kernel `%s` got %R instead of an Image", signature().kernel().c_str(), image.ptr());
  } catch (nb::python_error& error) {
    error.restore();
  }
  return python_error();
}

PyObject* State::call_fast(PyObject* const* args, std::size_t count) {
  const TorchBridge* torch = TorchBridge::ready();
  if (torch == nullptr || !torch->has_exchange() || count != signature().inputs().size() || count == 0 || count > max_fast_tensors) {
    return nullptr;
  }
  std::array<TensorView, max_fast_tensors> views;
  const bool gradients = torch->grad_enabled();
  for (std::size_t i = 0; i < count; ++i) {
    if (!torch->is_plain_tensor(args[i]) || (gradients && torch->requires_grad(args[i])) || !torch->view(args[i], views[i])) return nullptr;
  }
  if (torch->interposed()) return nullptr;
  const std::span<const TensorView> inputs(views.data(), count);
  const Specialisation* specialisation = plan_.last(inputs);
  return specialisation != nullptr ? run_torch(*torch, *specialisation, inputs) : nullptr;
}

PyObject* State::run_torch(const TorchBridge& torch, const Specialisation& specialisation, std::span<const TensorView> inputs) {
  Prepared& ready = prepared(specialisation);
  if (ready.torch.size() != specialisation.outputs.size()) [[unlikely]] {
    std::vector<TorchOutput> made;
    for (const launch::Output& output : specialisation.outputs) made.push_back(torch.prepare(output));
    if (ready.torch.empty()) ready.torch = std::move(made);  // unless another thread was faster
  }
  const DeviceId device = inputs.empty() ? DeviceId{} : inputs[0].device;
  std::array<void*, max_tensors> pointers;
  std::array<std::size_t, max_tensors> bytes;
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
  const auto ran = run_image(*specialisation.image, device, stream, {pointers.data(), count}, {bytes.data(), count});
  return ran ? results.release() : fail(ran.error());
}

PyObject* State::run_numpy(const Specialisation& specialisation, std::span<const TensorView> inputs) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  Prepared& ready = prepared(specialisation);
  if (ready.numpy.size() != specialisation.outputs.size()) {
    std::vector<NumpyOutput> made;
    for (const launch::Output& output : specialisation.outputs) {
      // numpy learns bfloat16 and float8 from ml_dtypes, and only by its types.
      const std::string name(launch::numpy_name(output.dtype));
      made.push_back({.shape = nb::tuple(nb::cast(output.shape)),
                      .dtype = nb::hasattr(numpy, name.c_str()) ? nb::object(numpy.attr(name.c_str())) : nb::module_::import_("ml_dtypes").attr(name.c_str())});
    }
    if (ready.numpy.empty()) ready.numpy = std::move(made);
  }
  std::array<void*, max_tensors> pointers;
  std::array<std::size_t, max_tensors> bytes;
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
  const auto ran = run_image(*specialisation.image, DeviceId{}, nullptr, {pointers.data(), count}, {bytes.data(), count});
  return ran ? results.release() : fail(ran.error());
}

/// An error about one argument, which the message then names.
Diagnostic State::about(std::size_t index, Diagnostic error) const {
  error.message = cat(signature().argument(index), error.kind == Kind::argument_kind ? " " : ": ", error.message);
  error.note(cat("takes: ", launch::describe(signature().inputs()[index])));
  return error;
}

std::optional<Diagnostic> State::check_gradients(const TorchBridge& torch, std::span<PyObject* const> args, std::span<const Origin> origins) const {
  if (!torch.grad_enabled()) return std::nullopt;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool tensor = origins[i] == Origin::torch || origins[i] == Origin::torch_wrapped;
    if (!tensor || !torch.requires_grad(args[i])) continue;
    return Diagnostic{.kind = Kind::argument_gradient, .message = cat(signature().argument(i), " requires a gradient; the kernel has no backward")}.note(
        "hint: wrap the kernel and its backward with `pyptx.differentiable_kernel(forward, backward)`, or call it under `torch.no_grad()`");
  }
  return std::nullopt;
}

PyObject* State::call_carefully(PyObject* self, PyObject* const* args, std::size_t count, PyObject* keywords) {
  if (keywords != nullptr && PyTuple_GET_SIZE(keywords) != 0) {
    PyErr_Format(PyExc_TypeError, "the plan of kernel `%s` takes tensors, not the keyword %R", signature().kernel().c_str(), PyTuple_GET_ITEM(keywords, 0));
    return nullptr;
  }
  if (auto ok = signature().check_count(count); !ok) return fail(ok.error());
  const std::span<PyObject* const> arguments(args, count);
  std::array<Origin, max_tensors> origins;
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
    return nb::module_::import_(module).attr("call_plan")(nb::handle(self), nb::tuple(all)).release().ptr();
  };
  if (const auto from_jax = first(Origin::jax)) {
    if (from_torch) {
      return fail(about(*from_torch, {.kind = Kind::argument_kind, .message = cat("is a torch tensor, and argument ", *from_jax, " a JAX array; a call takes one kind")}));
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
  if (!from_torch && !on_gpu) return run_numpy(**found, views);
  if (torch == nullptr) {  // a GPU tensor of a library whose allocator we do not know
    return fail(about(0, Diagnostic{.kind = Kind::argument_kind, .message = cat("is ", a_type(args[0]), " on a GPU, and torch, which would hold the outputs, is not imported")}));
  }
  return run_torch(*torch, **found, views);
}

/// Shapes and element types alone: what a tracer has.
nb::object State::bind(nb::handle specs) {
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
  nb::list outputs;
  for (const launch::Output& output : (*found)->outputs) {
    outputs.append(nb::make_tuple(nb::tuple(nb::cast(output.shape)), nb::str(std::string(launch::numpy_name(output.dtype)).c_str())));
  }
  return nb::make_tuple(ImageHandle::registered((*found)->image), nb::tuple(outputs));
}

// -- the type -------------------------------------------------------------------------------------------------------------------------

struct PlanObject {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  alignas(State) std::byte state[sizeof(State)];  // a State from plan_new to plan_dealloc
};

State& state_of(PyObject* self) { return *std::launder(reinterpret_cast<State*>(reinterpret_cast<PlanObject*>(self)->state)); }

/// Runs `body`; what it throws becomes the Python error.
template <class Body>
PyObject* guarded(Body body) noexcept {
  try {
    return body();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "a plan is given values of the wrong type");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* plan_call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    State& state = state_of(self);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    if (keywords == nullptr) [[likely]] {
      if (PyObject* result = state.call_fast(args, count)) return result;
      if (PyErr_Occurred() != nullptr) return nullptr;
    }
    return state.call_carefully(self, args, count, keywords);
  });
}

template <class T>
std::vector<T> items_of(nb::handle sequence) {
  std::vector<T> items;
  for (const nb::handle item : sequence) items.push_back(nb::cast<T>(item));
  return items;
}

PyObject* plan_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"name", "inputs", "outputs", "arguments", "specialise", "dims", nullptr};
  PyObject *name = nullptr, *inputs = nullptr, *outputs = nullptr, *arguments = nullptr, *specialise = nullptr, *dims = nullptr;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "UOOOO|O!:Plan", const_cast<char**>(names), &name, &inputs, &outputs, &arguments, &specialise, &PyDict_Type,
                                  &dims) == 0) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    tile::Env fixed;
    if (dims != nullptr) fixed = nb::cast<tile::Env>(nb::handle(dims));
    auto signature = unwrap(launch::Signature::make(nb::cast<std::string>(nb::handle(name)), items_of<Tile>(inputs), items_of<Tile>(outputs),
                                                    items_of<std::string>(arguments), std::move(fixed)));
    if (signature.inputs().size() + signature.outputs().size() > max_tensors) {
      raise(Kind::argument_count, cat("kernel `", signature.kernel(), "` has more than ", max_tensors, " tensors"), authors_line());
    }
    PyObject* self = type->tp_alloc(type, 0);
    if (self == nullptr) return nullptr;
    auto* plan = reinterpret_cast<PlanObject*>(self);
    new (plan->state) State(std::move(signature), nb::borrow(specialise));
    plan->vectorcall = plan_call;
    return self;
  });
}

int plan_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(state_of(self).specialise().ptr());
  return 0;
}

int plan_clear(PyObject* self) {
  state_of(self).specialise() = nb::none();
  return 0;
}

void plan_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  std::destroy_at(&state_of(self));
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* plan_bind(PyObject* self, PyObject* specs) {
  return guarded([&] { return state_of(self).bind(specs).release().ptr(); });
}

PyObject* plan_name(PyObject* self, void*) {
  const std::string& name = state_of(self).signature().kernel();
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

PyObject* plan_size(PyObject* self, void*) { return PyLong_FromSize_t(state_of(self).plan().size()); }

PyObject* plan_repr(PyObject* self) { return PyUnicode_FromFormat("<plan of kernel %s>", state_of(self).signature().kernel().c_str()); }

PyMemberDef plan_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PlanObject, vectorcall), READONLY, nullptr}, {}};
PyMethodDef plan_methods[] = {{"bind", plan_bind, METH_O,
                               "bind($self, specs, /)\n--\n\n"
                               "The Image for tensors of these (shape, dtype name) pairs, and its outputs as such pairs. Raises as a call does."},
                              {}};
PyGetSetDef plan_getters[] = {{"name", plan_name, nullptr, "The kernel's name.", nullptr},
                              {"specialisations", plan_size, nullptr, "How many sets of shapes it has been called with.", nullptr},
                              {}};

PyType_Slot plan_slots[] = {
    {Py_tp_doc, const_cast<char*>("Plan(name, inputs, outputs, arguments, specialise, dims={})\n--\n\n"
                                  "A kernel, ready for tensors: the tiles of its inputs and outputs, all their names, and a function that makes the\n"
                                  "Image for a dict of dimensions. Called with tensors, it runs the kernel and gives back its outputs.")},
    {Py_tp_new, reinterpret_cast<void*>(plan_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(plan_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(plan_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(plan_clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void*>(plan_repr)},
    {Py_tp_members, plan_members},
    {Py_tp_methods, plan_methods},
    {Py_tp_getset, plan_getters},
    {0, nullptr},
};
PyType_Spec plan_spec = {"pyptx._ptx.Plan", sizeof(PlanObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
                         plan_slots};

}  // namespace

void add_plan_type(nb::module_& m) {
  const nb::object type = nb::steal(PyType_FromModuleAndSpec(m.ptr(), &plan_spec, nullptr));
  if (!type.is_valid()) throw nb::python_error();
  m.attr("Plan") = type;
}

}  // namespace ptx::python
