#include "torch_bridge.hpp"

#include <dlfcn.h>

#include <string>

namespace ptx::python {
namespace {

nb::object attribute_or_none(nb::handle object, const char* name) { return nb::getattr(object, name, nb::none()); }

/// The function of a loaded library, null when either is not there.
template <class Function>
Function find_symbol(const char* library, const char* symbol) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle, symbol));
}

const dlpack::ExchangeApi* exchange_of(nb::handle tensor_type) {
  const nb::object capsule = attribute_or_none(tensor_type, "__dlpack_c_exchange_api__");
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return nullptr;
  const auto* api = static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (api != nullptr && api->version.major != dlpack::known_major) api = api->previous;
  return api != nullptr && api->dltensor_from_py_object_no_sync != nullptr && api->current_work_stream != nullptr ? api : nullptr;
}

}  // namespace

const TorchBridge* TorchBridge::find() {
  if (instance_ != nullptr) return instance_;
  const nb::dict modules = nb::borrow<nb::dict>(PyImport_GetModuleDict());
  // A module that is still being imported has not all its names yet.
  if (!modules.contains("torch")) return nullptr;
  nb::object torch = modules["torch"];
  if (!nb::hasattr(torch, "Tensor") || !nb::hasattr(torch, "nn") || !nb::hasattr(torch, "is_grad_enabled")) return nullptr;
  instance_ = new TorchBridge(std::move(torch));  // NOLINT: as immortal as torch itself
  return instance_;
}

TorchBridge::TorchBridge(nb::object module)
    : torch_(std::move(module)), tensor_type_(torch_.attr("Tensor")), parameter_type_(torch_.attr("nn").attr("Parameter")) {
  requires_grad_ = tensor_type_.attr("requires_grad");
  is_grad_enabled_ = torch_.attr("is_grad_enabled");
  dispatch_stack_length_ = torch_.attr("_C").attr("_len_torch_dispatch_stack");
  empty_strided_cuda_ = empty_strided_cpu_ = nb::none();
  try {
    const nb::object guards = torch_.attr("_C").attr("_dynamo").attr("guards");
    empty_strided_cuda_ = attribute_or_none(guards, "_empty_strided_cuda");
    empty_strided_cpu_ = attribute_or_none(guards, "_empty_strided_cpu");
  } catch (nb::python_error&) {  // another torch: `torch.empty_strided` does it too
  }
  api_ = exchange_of(tensor_type_);
  // Both questions are asked at every call; as Python functions they cost more than the rest of the checks together.
  stack_length_ = find_symbol<std::int64_t (*)()>("libc10.so", "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv");
  grad_mode_ = find_symbol<bool (*)()>("libc10.so", "_ZN3c108GradMode10is_enabledEv");
}

bool TorchBridge::is_tensor(PyObject* object) const {
  const int is = PyObject_IsInstance(object, tensor_type_.ptr());
  if (is < 0) throw nb::python_error();
  return is == 1;
}

bool TorchBridge::is_wrapped(PyObject* tensor) const {
  return nb::cast<bool>(torch_.attr("_C").attr("_functorch").attr("is_functorch_wrapped_tensor")(nb::handle(tensor)));
}

bool TorchBridge::interposed() const {
  if (stack_length_ != nullptr) [[likely]]
    return stack_length_() != 0;
  return nb::cast<int>(dispatch_stack_length_()) != 0;
}

bool TorchBridge::grad_enabled() const {
  if (grad_mode_ != nullptr) [[likely]]
    return grad_mode_();
  return nb::cast<bool>(is_grad_enabled_());
}

bool TorchBridge::requires_grad(PyObject* tensor) const {
  // The descriptor itself: what an attribute look-up would find, without looking.
  PyObject* answer =
      Py_TYPE(requires_grad_.ptr())->tp_descr_get(requires_grad_.ptr(), tensor, reinterpret_cast<PyObject*>(Py_TYPE(tensor)));
  if (answer == nullptr) throw nb::python_error();
  Py_DECREF(answer);  // True and False live on
  return answer == Py_True;
}

cuda::api::Stream TorchBridge::stream(int ordinal) const {
  void* stream = nullptr;
  if (api_ != nullptr) [[likely]] {
    if (api_->current_work_stream(dlpack::DeviceType::cuda, ordinal, &stream) != 0) throw nb::python_error();
    return static_cast<cuda::api::Stream>(stream);
  }
  return reinterpret_cast<cuda::api::Stream>(
      nb::cast<std::uintptr_t>(torch_.attr("cuda").attr("current_stream")(ordinal).attr("cuda_stream")));
}

TorchOutput TorchBridge::prepare(const launch::Output& output) const {
  const auto tuple_of = [](const std::vector<std::int64_t>& numbers) {
    nb::list all;
    for (const std::int64_t number : numbers) all.append(number);
    return nb::object(nb::tuple(all));
  };
  const std::string name(launch::numpy_name(output.dtype));
  return {.size = tuple_of(output.shape), .stride = tuple_of(output.strides), .dtype = torch_.attr(name.c_str())};
}

PyObject* TorchBridge::allocate(const TorchOutput& output, launch::DeviceId device, launch::TensorView& out) const {
  const bool on_gpu = device.kind == launch::DeviceId::Kind::cuda;
  if (const nb::object& direct = on_gpu ? empty_strided_cuda_ : empty_strided_cpu_; api_ != nullptr && !direct.is_none())
      [[likely]] {
    PyObject* const arguments[] = {output.size.ptr(), output.stride.ptr(), output.dtype.ptr()};
    PyObject* tensor = PyObject_Vectorcall(direct.ptr(), arguments, 3, nullptr);
    if (tensor == nullptr) return nullptr;
    // It allocates on torch's current device, which need not be the inputs'.
    if (view(tensor, out) && out.device == device) [[likely]]
      return tensor;
    Py_DECREF(tensor);
  }
  const nb::object where = torch_.attr("device")(on_gpu ? "cuda" : "cpu", device.ordinal);
  nb::object tensor =
      torch_.attr("empty_strided")(output.size, output.stride, nb::arg("dtype") = output.dtype, nb::arg("device") = where);
  out = {};
  out.device = device;
  out.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(tensor.attr("data_ptr")()));
  return tensor.release().ptr();
}

std::string_view TorchBridge::dtype_name(nb::handle dtype, std::string& storage) {
  storage = nb::cast<const char*>(nb::str(dtype));  // "torch.float32"
  const std::string_view name = storage;
  return name.substr(name.rfind('.') + 1);
}

}  // namespace ptx::python
