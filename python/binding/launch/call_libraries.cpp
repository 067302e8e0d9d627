#include "python/binding/launch/call_libraries.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <unistd.h>

#include <string>

#include "python/binding/base/errors.hpp"

namespace ptx::python {
namespace {

/// Ctrl-C was pressed while the executor runs: in Python's main thread its handlers are called and decide, which leaves their
/// exception set; the main thread alone may do that, and another one's run ends.
bool python_ends_runs() {
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) return true;
  const nb::object threading = nb::module_::import_("threading");
  return !threading.attr("current_thread")().is(threading.attr("main_thread")());
}

/// A new array of numpy's or CuPy's.
nb::object empty_array(const nb::module_& arrays, const NumpyOutput& output, launch::DeviceId device) {
  if (device.kind == launch::DeviceId::Kind::cpu) return arrays.attr("empty")(output.shape, output.dtype);
  // CuPy allocates on its current device.
  const nb::object current = arrays.attr("cuda").attr("Device")(device.ordinal);
  const auto leave = [&] { current.attr("__exit__")(nb::none(), nb::none(), nb::none()); };
  current.attr("__enter__")();
  nb::object array;
  try {
    array = arrays.attr("empty")(output.shape, output.dtype);
  } catch (nb::python_error&) {
    leave();
    throw;
  }
  leave();
  return array;
}

}  // namespace

WithoutGil::~WithoutGil() {
#if PY_VERSION_HEX >= 0x030D0000
  const bool over = Py_IsFinalizing() != 0;
#else
  const bool over = _Py_IsFinalizing() != 0;
#endif
  while (over) ::pause();  // NOLINT(bugprone-infinite-loop): meant so
  PyEval_RestoreThread(state_);
}

std::vector<std::string> tool_roots() {
  std::vector<std::string> roots;
  for (const nb::handle entry : nb::module_::import_("sys").attr("path")) {
    if (!PyUnicode_Check(entry.ptr()) || PyUnicode_GetLength(entry.ptr()) == 0) continue;
    const nb::object path = nb::steal(PyUnicode_EncodeFSDefault(entry.ptr()));  // also of a folder whose name is not UTF-8
    if (!path.is_valid()) throw nb::python_error();
    roots.emplace_back(PyBytes_AS_STRING(path.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(path.ptr())));
  }
  return roots;
}

Unexpected python_error_is_set() { return {{.kind = Kind::internal, .message = "Python raised an error"}}; }

Expected<void> show_warnings(const Diagnostics& found) {
  if (found.empty()) return {};
  try {
    for (const Diagnostic& warning : found) warn(warning);
    return {};
  } catch (nb::python_error& error) {
    error.restore();
    return python_error_is_set();
  }
}

launch::Cpu PythonLibrary::cpu() {
  launch::Cpu cpu = launch::default_cpu();
  cpu.interrupt_hook = python_ends_runs;
  return cpu;
}

PyObject* Results::release() {
  if (count_ == 1) return std::exchange(results_[0], nullptr);
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(count_));
  for (std::size_t i = 0; tuple != nullptr && i < count_; ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), std::exchange(results_[i], nullptr));
  return tuple;
}

Expected<launch::TensorView> view_given(const TorchBridge* torch, StreamOf stream, const launch::Signature& signature,
                                        std::size_t output, PyObject* given, std::vector<Import>& imports) {
  launch::TensorView view;
  if (torch != nullptr && torch->has_exchange() && torch->is_plain_tensor(given) && torch->view(given, view)) return view;
  auto import = Import::of(given, origin_of(given), stream);
  if (!import) {
    Diagnostic error = std::move(import).error();
    error.message = cat(signature.output(output), error.kind == Kind::argument_kind ? " " : ": ", error.message);
    return Unexpected{std::move(error)};
  }
  imports.push_back(std::move(*import));
  return imports.back().view();
}

std::vector<NumpyOutput> NumpyOutput::all(std::span<const launch::Output> outputs) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  std::vector<NumpyOutput> made;
  for (const launch::Output& output : outputs) {
    // numpy learns bfloat16 and float8 from ml_dtypes, and only by its types.
    const std::string name(launch::numpy_name(output.dtype));
    made.push_back({.shape = nb::tuple(nb::cast(output.shape)),
                    .dtype = nb::hasattr(numpy, name.c_str()) ? nb::object(numpy.attr(name.c_str()))
                                                              : nb::module_::import_("ml_dtypes").attr(name.c_str())});
  }
  return made;
}

Expected<launch::TensorView> ArrayLibrary::given(std::size_t output) {
  PyObject* const array = call_.out[output];
  auto view = view_given(TorchBridge::find(), stream_of(), signature_, output, array, imports_);
  if (view) results_.add(nb::borrow(array));
  return view;
}

Expected<void*> ArrayLibrary::allocate(std::size_t output) {
  const bool on_gpu = which_ == Which::cupy;
  nb::object array = empty_array(nb::module_::import_(on_gpu ? "cupy" : "numpy"), prepared_[output], device_);
  auto import = Import::of(array, on_gpu ? Origin::dlpack : Origin::numpy, stream_of());
  if (!import) return Unexpected{std::move(import).error()};
  void* const address = import->view().data;
  results_.add(std::move(array));
  return address;
}

bool ArrayLibrary::tell_changed() const {
  std::vector<PyObject*> changed;
  const TorchBridge* torch = TorchBridge::find();
  for (PyObject* tensor : call_.out)
    if (torch != nullptr && torch->is_plain_tensor(tensor)) changed.push_back(tensor);
  return changed.empty() || torch->written(changed);
}

}  // namespace ptx::python
