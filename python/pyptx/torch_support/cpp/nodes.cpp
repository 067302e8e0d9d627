// Autograd nodes of launches that are known: what `pyptx.kernels._known` does in Python, without Python. This file is compiled by
// `pyptx.torch_support.nodes` against the torch of the process, and is a Python module of its own.
//
// A program is what a forward or a backward comes down to: launches in turn, of values that are numbered. A program's inputs are
// the first values; each step adds its outputs. A step without a launch adds the sums of a tensor's rows.
#include <Python.h>

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/python_variable.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "table.hpp"

namespace {

using at::Tensor;
using ptx::nodes::Table;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Sizes = std::vector<std::int64_t>;

constexpr std::size_t most_values = 64;

const Table* table = nullptr;  // found when the module is imported

class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// A Python error is set, which whoever called Python finds.
struct PythonError : std::exception {};

/// A new reference's owner. With the GIL alone.
struct Decref {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Owned = std::unique_ptr<PyObject, Decref>;

Owned must(PyObject* made) {
  if (made == nullptr) throw PythonError();
  return Owned(made);
}

PyObject* item(PyObject* tuple, Py_ssize_t index) {
  if (!PyTuple_Check(tuple) || index >= PyTuple_GET_SIZE(tuple)) {
    PyErr_SetString(PyExc_TypeError, "a program of an autograd node is tuples of tuples");
    throw PythonError();
  }
  return PyTuple_GET_ITEM(tuple, index);
}

std::int64_t number(PyObject* object) {
  const long long value = PyLong_AsLongLong(object);
  if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
  return value;
}

template <class T>
std::vector<T> numbers(PyObject* tuple) {
  std::vector<T> all;
  const Py_ssize_t size = PyTuple_Check(tuple) ? PyTuple_GET_SIZE(tuple) : 0;
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* const each = item(tuple, i);
    all.push_back(each == Py_None ? T(-1) : static_cast<T>(number(each)));
  }
  return all;
}

// -- programs

struct ReleaseLaunch {
  void operator()(void* launch) const { table->release_launch(launch); }
};

/// A value as a step takes it: in its own sizes and strides, or in these.
struct Argument {
  std::size_t value = 0;
  bool as_it_is = true;
  Sizes sizes, strides;
};

struct Step {
  std::unique_ptr<void, ReleaseLaunch> launch;  // null: sums of rows
  std::vector<Argument> arguments;
  std::size_t outputs = 1;
  std::optional<Sizes> shape;  // of the first output, where that is not the kernel's own
  std::uint64_t serves = 0;    // results that need it, by their numbers
};

struct Program {
  std::size_t inputs = 0;
  std::vector<Step> steps;
  std::vector<std::int64_t> results;                         // values, -1: none
  std::vector<std::int64_t> saved;                           // values that the backward begins with
  std::vector<std::optional<std::pair<Sizes, Sizes>>> lies;  // of inputs that are taken by other sizes and strides: their own

  /// Of `(inputs, steps, results, saved, lies)`, a step being `(plan, scalars, values, ways, outputs, shape, serves)`.
  explicit Program(PyObject* spec)
      : inputs(static_cast<std::size_t>(number(item(spec, 0)))),
        results(numbers<std::int64_t>(item(spec, 2))),
        saved(numbers<std::int64_t>(item(spec, 3))) {
    std::size_t known = inputs;
    PyObject* const all = item(spec, 1);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all); ++i) {
      steps.push_back(step_of(item(all, i), known));
      known += steps.back().outputs;
    }
    PyObject* const own = item(spec, 4);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(own); ++i) {
      PyObject* const each = item(own, i);
      lies.emplace_back();
      if (each != Py_None) lies.back() = {numbers<std::int64_t>(item(each, 0)), numbers<std::int64_t>(item(each, 1))};
    }
    bool fits = known <= most_values && results.size() <= most_values && lies.size() <= inputs;
    for (const auto* values : {&results, &saved})
      for (const std::int64_t value : *values) fits = fits && value >= -1 && value < static_cast<std::int64_t>(known);
    if (fits) return;
    PyErr_SetString(PyExc_ValueError, "a program of an autograd node names values that it has not");
    throw PythonError();
  }

 private:
  static Step step_of(PyObject* spec, std::size_t known) {
    Step step;
    PyObject *const plan = item(spec, 0), *const ways = item(spec, 3), *const shape = item(spec, 5);
    if (plan != Py_None) {
      step.launch.reset(table->make_launch(plan, item(spec, 1)));
      if (step.launch == nullptr) throw PythonError();
    }
    for (const auto value : numbers<std::int64_t>(item(spec, 2))) {
      if (value < 0 || value >= static_cast<std::int64_t>(known)) throw std::out_of_range("a value of a program");
      Argument argument;
      argument.value = static_cast<std::size_t>(value);
      PyObject* const way = ways == Py_None ? Py_None : item(ways, static_cast<Py_ssize_t>(step.arguments.size()));
      if (way != Py_None) {
        argument.as_it_is = false;
        argument.sizes = numbers<std::int64_t>(item(way, 0));
        argument.strides = numbers<std::int64_t>(item(way, 1));
      }
      step.arguments.push_back(std::move(argument));
    }
    step.outputs = static_cast<std::size_t>(number(item(spec, 4)));
    if (shape != Py_None) step.shape = numbers<std::int64_t>(shape);
    step.serves = static_cast<std::uint64_t>(number(item(spec, 6)));
    return step;
  }
};

/// A mode of torch's wants to see each operation, or transforms what is called.
bool is_watched() {
  return c10::impl::TorchDispatchModeTLS::stack_len() != 0 ||
         c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerFrontMode);
}

/// Elements in memory of the host or of a GPU, and nothing that happens when they are asked for: the dispatch keys are those of a
/// fresh tensor, and there is no tangent of forward-mode differentiation.
bool is_plain(const Tensor& tensor) {
  if (tensor._fw_grad(0).defined()) return false;
  const auto keys_of = [](c10::DeviceType device) {
    const c10::InferenceMode off(false);  // where keys are others
    return at::empty({0}, at::TensorOptions(device)).key_set();
  };
  const c10::Device device = tensor.device();
  if (device.is_cuda()) {
    static const c10::DispatchKeySet of_gpu = keys_of(c10::DeviceType::CUDA);
    return tensor.key_set() == of_gpu;
  }
  static const c10::DispatchKeySet of_host = keys_of(c10::DeviceType::CPU);
  return device.is_cpu() && tensor.key_set() == of_host;
}

using Values = std::array<Tensor, most_values>;

/// A step's outputs, as torch's tensors.
class Outputs final : public ptx::nodes::Caller {
 public:
  Outputs(const Step& step, c10::Device device, Tensor* into) : step_(step), device_(device), into_(into) {}

  void* allocate(std::uint32_t output, const std::int64_t* sizes, std::int32_t rank,
                 ptx::nodes::ElementType type) noexcept override {
    try {
      const at::ScalarType dtype = at::toScalarType({type.code, type.bits, type.lanes});
      const bool has_own = output == 0 && step_.shape.has_value();
      const c10::IntArrayRef shape =
          has_own ? c10::IntArrayRef(*step_.shape) : c10::IntArrayRef(sizes, static_cast<std::size_t>(rank));
      into_[output] = at::empty(shape, at::TensorOptions(device_).dtype(dtype));
      return into_[output].mutable_data_ptr();
    } catch (...) {  // no memory, or a type that this torch has not: the same call through Python says so
      return nullptr;
    }
  }

 private:
  const Step& step_;
  c10::Device device_;
  Tensor* into_;
};

/// Elements from a tensor's first to behind its last.
std::int64_t extent(c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  return last + 1;
}

bool launch(const Step& step, Values& values, std::size_t known) {
  std::array<ptx::nodes::Tensor, most_values> inputs;
  const c10::Device device = values[step.arguments[0].value].device();
  std::size_t count = 0;
  for (const Argument& argument : step.arguments) {
    const Tensor& tensor = values[argument.value];
    if (reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % 16 != 0) return false;  // what was known was aligned
    const DLDataType type = at::getDLDataType(tensor);
    const c10::IntArrayRef sizes = argument.as_it_is ? tensor.sizes() : c10::IntArrayRef(argument.sizes);
    const c10::IntArrayRef strides = argument.as_it_is ? tensor.strides() : c10::IntArrayRef(argument.strides);
    if (!argument.as_it_is && extent(sizes, strides) > extent(tensor.sizes(), tensor.strides())) return false;
    inputs[count++] = {const_cast<void*>(tensor.const_data_ptr()),  // NOLINT: no plan of a node's changes what it is given
                       sizes.data(),
                       strides.data(),
                       static_cast<std::int32_t>(sizes.size()),
                       tensor.is_cuda() ? tensor.get_device() : -1,
                       {type.code, type.bits, type.lanes}};
  }
  Outputs outputs(step, device, &values[known]);
  return table->launch(step.launch.get(), inputs.data(), static_cast<std::uint32_t>(count), &outputs);
}

/// Whether what is taken by other sizes and strides has those that were there when the program was made.
bool lie_as_bound(const Program& program, const Values& values) {
  for (std::size_t i = 0; i < program.lies.size(); ++i) {
    const auto& own = program.lies[i];
    if (own && (values[i].sizes() != c10::IntArrayRef(own->first) || values[i].strides() != c10::IntArrayRef(own->second)))
      return false;
  }
  return true;
}

/// False: a step was not run, and what the values behind its inputs are means nothing. `wanted`: results, by their numbers.
bool run(const Program& program, Values& values, std::uint64_t wanted) {
  if (!lie_as_bound(program, values)) return false;
  std::size_t known = program.inputs;
  for (const Step& step : program.steps) {
    if ((step.serves & wanted) != 0) {
      if (step.launch == nullptr) {
        const Tensor& rows = values[step.arguments[0].value];
        values[known] = (rows.dim() > 2 ? rows.flatten(0, -2) : rows).sum(0);
      } else if (!launch(step, values, known)) {
        return false;
      }
    }
    known += step.outputs;
  }
  return true;
}

// -- calls

/// With the GIL. A Python error becomes what torch makes of one.
template <class Body>
auto in_python(Body body) {
  const Gil locked;
  try {
    return body();
  } catch (const PythonError&) {
    python_error error;
    error.persist();
    throw error;
  }
}

/// One kind of call. What its backward launches, `bind` says when it is first asked; `otherwise` is the backward in Python, of
/// saved tensors, gradients, and which gradients are needed.
class Known {
 public:
  Known(PyObject* forward, PyObject* bind, PyObject* otherwise)
      : forward_(forward), bind_(Py_NewRef(bind)), otherwise_(Py_NewRef(otherwise)) {
    for (const auto* values : {&forward_.results, &forward_.saved})
      for (const std::int64_t value : *values)
        if (value < 0) throw std::invalid_argument("a forward gives and saves values alone");
  }
  ~Known() {
    // The last one may be a thread of torch's, or may come when Python ends.
    if (Py_IsInitialized() == 0 || is_ending()) {
      for (auto* held : {&bind_, &otherwise_}) static_cast<void>(held->release());
      leave(forward_);
      if (backward_) leave(*backward_);
      return;
    }
    const Gil locked;
    bind_.reset();
    otherwise_.reset();
    forward_.steps.clear();
    backward_.reset();
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

  [[nodiscard]] const Program& forward() const { return forward_; }

  /// Null: it is not known yet.
  const Program* backward() {
    if (const Program* known = ready_.load(std::memory_order_acquire)) return known;
    return in_python([&]() -> const Program* {
      const Owned spec = must(PyObject_CallNoArgs(bind_.get()));
      if (spec.get() == Py_None) return nullptr;
      auto made = std::make_unique<Program>(spec.get());
      if (backward_ == nullptr) backward_ = std::move(made);  // another thread may have been faster
      ready_.store(backward_.get(), std::memory_order_release);
      return backward_.get();
    });
  }

  variable_list otherwise(const variable_list& saved, const variable_list& gradients, const std::vector<bool>& needed) {
    return in_python([&] {
      const Owned result = call(saved, gradients, needed);
      variable_list found;
      const Py_ssize_t size = PyTuple_Check(result.get()) ? PyTuple_GET_SIZE(result.get()) : 0;
      for (Py_ssize_t i = 0; i < size; ++i) {
        PyObject* const each = PyTuple_GET_ITEM(result.get(), i);
        if (each != Py_None && !THPVariable_Check(each)) {
          PyErr_SetString(PyExc_TypeError, "a backward gives tensors and None");
          throw PythonError();
        }
        found.push_back(each == Py_None ? Tensor() : THPVariable_Unpack(each));
      }
      return found;
    });
  }

 private:
  static bool is_ending() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
  }
  static void leave(Program& program) {
    for (Step& step : program.steps) static_cast<void>(step.launch.release());
  }
  static Owned tuple_of(const variable_list& tensors) {
    Owned all = must(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
    for (std::size_t i = 0; i < tensors.size(); ++i)
      PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), must(THPVariable_Wrap(tensors[i])).release());
    return all;
  }
  Owned call(const variable_list& saved, const variable_list& gradients, const std::vector<bool>& needed) {
    const Owned first = tuple_of(saved), second = tuple_of(gradients);
    const Owned third = must(PyTuple_New(static_cast<Py_ssize_t>(needed.size())));
    for (std::size_t i = 0; i < needed.size(); ++i)
      PyTuple_SET_ITEM(third.get(), static_cast<Py_ssize_t>(i), Py_NewRef(needed[i] ? Py_True : Py_False));
    return must(PyObject_CallFunctionObjArgs(otherwise_.get(), first.get(), second.get(), third.get(), nullptr));
  }

  Program forward_;
  Owned bind_, otherwise_;
  std::unique_ptr<Program> backward_;
  std::atomic<const Program*> ready_{nullptr};
};

/// A node holds what it is of as a tensor that owns it: that is what torch keeps, also for a backward that it compiles. It is not
/// among the saved tensors, which hooks may pack in other ways.
Tensor holder_of(std::shared_ptr<Known> known) {
  auto* const owner = new std::shared_ptr<Known>(std::move(known));
  return at::from_blob(
      owner, {static_cast<std::int64_t>(sizeof *owner)}, [](void* held) { delete static_cast<std::shared_ptr<Known>*>(held); },
      at::TensorOptions().dtype(at::kByte));
}

constexpr const char* holder_name = "pyptx.node";

Known& known_of(const Tensor& holder) {
  return **static_cast<std::shared_ptr<Known>*>(const_cast<void*>(holder.const_data_ptr()));
}

/// A step did not run: the call is made once more, in Python.
struct NotRun : std::exception {};

variable_list run_forward(const Program& program, at::TensorList tensors, Values& values) {
  for (std::size_t i = 0; i < tensors.size(); ++i) values[i] = tensors[i];
  if (!run(program, values, ~std::uint64_t{0})) throw NotRun();
  variable_list results;
  for (const std::int64_t value : program.results) results.push_back(values[static_cast<std::size_t>(value)]);
  return results;
}

variable_list without_node(const Known& known, at::TensorList tensors) {
  Values values;
  return run_forward(known.forward(), tensors, values);
}

}  // namespace

namespace pyptx {  // torch shows the name

struct Node : torch::autograd::Function<Node> {
  static variable_list forward(AutogradContext* context, at::TensorList tensors, const Tensor& holder) {
    Values values;
    variable_list results = run_forward(known_of(holder).forward(), tensors, values);
    variable_list saved;
    for (const std::int64_t value : known_of(holder).forward().saved) saved.push_back(values[static_cast<std::size_t>(value)]);
    context->save_for_backward(std::move(saved));
    context->saved_data.emplace(holder_name, holder);
    return results;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor holder = context->saved_data.at(holder_name).toTensor();
    Known& known = known_of(holder);
    const std::size_t tensors = known.forward().inputs;
    std::vector<bool> needed(tensors);
    std::uint64_t wanted = 0;
    for (std::size_t i = 0; i < tensors; ++i) {
      needed[i] = context->needs_input_grad(i);
      wanted |= std::uint64_t{needed[i]} << i;
    }
    variable_list found;
    const Program* program = are_as_bound(gradients, saved) ? known.backward() : nullptr;
    if (program != nullptr && program->inputs == saved.size() + gradients.size())
      found = run_backward(*program, saved, gradients, wanted);
    if (found.empty()) found = known.otherwise(saved, gradients, needed);
    found.resize(tensors);
    found.emplace_back();  // of the holder
    return found;
  }

 private:
  /// No second derivative is asked for, and each gradient lies as its launch takes it and is as plain as what was saved.
  static bool are_as_bound(const variable_list& gradients, const variable_list& saved) {
    if (at::GradMode::is_enabled() || is_watched()) return false;
    for (const variable_list* tensors : {&gradients, &saved})
      for (const Tensor& tensor : *tensors)
        if (!tensor.defined() || !is_plain(tensor)) return false;
    for (const Tensor& gradient : gradients)
      if (!gradient.is_contiguous()) return false;
    return true;
  }
  static variable_list run_backward(const Program& program, const variable_list& saved, const variable_list& gradients,
                                    std::uint64_t wanted) {
    Values values;
    std::size_t count = 0;
    for (const auto* tensors : {&saved, &gradients})
      for (const Tensor& tensor : *tensors) values[count++] = tensor;
    if (!run(program, values, wanted)) return {};
    variable_list found;
    for (std::size_t i = 0; i < program.results.size(); ++i) {
      const std::int64_t value = program.results[i];
      found.push_back(value < 0 || (wanted >> i & 1) == 0 ? Tensor() : values[static_cast<std::size_t>(value)]);
    }
    return found;
  }
};

}  // namespace pyptx

namespace {

// -- the module

/// Runs `body`; what it throws becomes the Python error.
template <class Body>
PyObject* guarded(Body body) noexcept {
  try {
    return body();
  } catch (const PythonError&) {
  } catch (python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* make(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 3) {
      PyErr_SetString(PyExc_TypeError, "a node is made of a program, what binds its backward, and its backward in Python");
      return nullptr;
    }
    auto holder = std::make_unique<Tensor>(holder_of(std::make_shared<Known>(arguments[0], arguments[1], arguments[2])));
    PyObject* const capsule = PyCapsule_New(
        holder.get(), holder_name, [](PyObject* self) { delete static_cast<Tensor*>(PyCapsule_GetPointer(self, holder_name)); });
    if (capsule != nullptr) static_cast<void>(holder.release());
    return capsule;
  });
}

/// The results of a call like an earlier one, with the node behind them where one of the tensors needs a gradient; None where the
/// launches that are known do not fit.
PyObject* apply(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    const auto* const holder = count == 0 ? nullptr : static_cast<const Tensor*>(PyCapsule_GetPointer(arguments[0], holder_name));
    if (holder == nullptr) throw PythonError();
    const auto tensors = static_cast<std::size_t>(count - 1);
    if (tensors != known_of(*holder).forward().inputs || tensors > most_values) {
      PyErr_SetString(PyExc_TypeError, "a call has as many tensors as its program");
      return nullptr;
    }
    if (is_watched()) Py_RETURN_NONE;
    c10::SmallVector<Tensor, 8> inputs;
    bool needs_gradient = false;
    for (std::size_t i = 0; i < tensors; ++i) {
      PyObject* const argument = arguments[i + 1];
      if (!THPVariable_CheckTypeExact(Py_TYPE(argument))) Py_RETURN_NONE;
      inputs.push_back(THPVariable_Unpack(argument));
      if (!is_plain(inputs.back())) Py_RETURN_NONE;
      needs_gradient = needs_gradient || inputs.back().requires_grad();
    }
    const at::TensorList all(inputs.data(), inputs.size());
    variable_list results;
    try {
      const WithoutGil released;
      results =
          needs_gradient && at::GradMode::is_enabled() ? pyptx::Node::apply(all, *holder) : without_node(known_of(*holder), all);
    } catch (const NotRun&) {
      Py_RETURN_NONE;
    }
    if (results.size() == 1) return THPVariable_Wrap(std::move(results[0]));
    Owned tuple = must(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
    for (std::size_t i = 0; i < results.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), must(THPVariable_Wrap(std::move(results[i]))).release());
    return tuple.release();
  });
}

PyCFunction as_function(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef functions[] = {
    {"make", as_function(make), METH_FASTCALL, "make(program, bind, otherwise)\n--\n\nWhat `apply` applies."},
    {"apply", as_function(apply), METH_FASTCALL,
     "apply(made, *tensors)\n--\n\nResults, with a node behind them where that is needed, or None."},
    {}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "pyptx_nodes", "Autograd nodes in C++.", -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_pyptx_nodes() {
  table = static_cast<const Table*>(PyCapsule_Import(ptx::nodes::table_name, 0));
  if (table == nullptr) return nullptr;
  if (table->version != ptx::nodes::table_version) {
    PyErr_SetString(PyExc_ImportError, "these autograd nodes were made for another pyptx");
    return nullptr;
  }
  return PyModule_Create(&definition);
}
