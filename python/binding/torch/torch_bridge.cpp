#include "python/binding/torch/torch_bridge.hpp"

#include <dlfcn.h>

#include <string>

namespace ptx::python {
namespace {

nb::object attribute_or_none(nb::handle object, const char* name) { return nb::getattr(object, name, nb::none()); }

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
  increment_version_ = torch_.attr("_C").attr("_increment_version");
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
  stack_length_ =
      reinterpret_cast<std::int64_t (*)()>(loaded_symbol("libc10.so", "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv"));
  grad_mode_ = reinterpret_cast<bool (*)()>(loaded_symbol("libc10.so", "_ZN3c108GradMode10is_enabledEv"));
  if (Py_IS_TYPE(requires_grad_.ptr(), &PyGetSetDescr_Type)) {
    const PyGetSetDef* of = reinterpret_cast<PyGetSetDescrObject*>(requires_grad_.ptr())->d_getset;
    get_requires_grad_ = of->get;
    requires_grad_closure_ = of->closure;
  }
  native_ = TorchNative::find();
  tensors_ = TorchTensors::find(torch_);
  if (tensors_.available()) layout_ = TorchLayout::find(torch_, tensors_.offset());
  const nb::object is_neg = attribute_or_none(tensor_type_, "is_neg");
  if (Py_IS_TYPE(is_neg.ptr(), &PyMethodDescr_Type)) {
    const PyMethodDef* of = reinterpret_cast<PyMethodDescrObject*>(is_neg.ptr())->d_method;
    if (of->ml_flags == METH_NOARGS) get_is_neg_ = of->ml_meth;
  }
  const nb::object forward = attribute_or_none(attribute_or_none(torch_, "autograd"), "forward_ad");
  unpack_dual_ = attribute_or_none(forward, "unpack_dual");
  if (nb::hasattr(forward, "_current_level")) {
    forward_module_ = forward.attr("__dict__");
    level_name_ = nb::steal(PyUnicode_InternFromString("_current_level"));
    no_level_ = nb::int_(-1);
  }
}

bool TorchBridge::is_tensor(PyObject* object) const {
  const int is = PyObject_IsInstance(object, tensor_type_.ptr());
  if (is < 0) throw nb::python_error();
  return is == 1;
}

bool TorchBridge::is_wrapped(PyObject* tensor) const {
  const nb::object functorch = torch_.attr("_C").attr("_functorch");
  const auto is = [&](const char* what) { return nb::cast<bool>(functorch.attr(what)(nb::handle(tensor))); };
  // The second: of gradients that come in batches, `torch.autograd.grad(…, is_grads_batched=True)`.
  return is("is_functorch_wrapped_tensor") || is("is_legacy_batchedtensor");
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

bool TorchBridge::is_negated(PyObject* tensor) const noexcept {
  PyObject* answer = get_is_neg_ != nullptr ? get_is_neg_(tensor, nullptr) : PyObject_CallMethod(tensor, "is_neg", nullptr);
  if (answer == nullptr) PyErr_Clear();
  Py_XDECREF(answer);  // True and False live on
  return answer != Py_False;
}

bool TorchBridge::requires_grad(PyObject* tensor) const {
  if (tensors_.available() && is_plain_tensor(tensor)) [[likely]]
    return tensors_.requires_grad(tensor);
  // What an attribute look-up would find and call, without looking.
  PyObject* answer = get_requires_grad_ != nullptr ? get_requires_grad_(tensor, requires_grad_closure_)
                                                   : PyObject_GetAttrString(tensor, "requires_grad");
  if (answer == nullptr) throw nb::python_error();
  Py_DECREF(answer);  // True and False live on
  return answer == Py_True;
}

bool TorchBridge::has_tangent(PyObject* tensor) const {
  return !unpack_dual_.is_none() && !unpack_dual_(nb::handle(tensor)).attr("tangent").is_none();
}

bool TorchBridge::written(std::span<PyObject* const> tensors) const noexcept {
  const auto bump = [this](PyObject* tensor) { return is_plain_tensor(tensor) && tensors_.bump_version(tensor); };
  if (tensors_.available() && tensors.size() == 1 && bump(tensors[0])) [[likely]]
    return true;
  PyObject* all = PyTuple_New(static_cast<Py_ssize_t>(tensors.size()));
  if (all == nullptr) return false;
  for (std::size_t i = 0; i < tensors.size(); ++i) PyTuple_SET_ITEM(all, static_cast<Py_ssize_t>(i), Py_NewRef(tensors[i]));
  PyObject* const arguments[] = {all};
  PyObject* done = PyObject_Vectorcall(increment_version_.ptr(), arguments, 1, nullptr);
  Py_DECREF(all);
  Py_XDECREF(done);
  return done != nullptr;
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
  TorchOutput made;
  made.size = tuple_of(output.shape);
  made.stride = tuple_of(output.strides);
  made.dtype = torch_.attr(name.c_str());
  made.sizes = output.shape;
  made.strides = output.strides;
  if (native_.available() && api_ != nullptr) made.scalar_type = TorchNative::scalar_type(name);
  return made;
}

PyObject* TorchBridge::allocate_natively(const TorchOutput& output, launch::DeviceId device, launch::TensorView& out) const {
  nb::object tensor = nb::steal(native_.empty(output.sizes, output.strides, output.scalar_type, device.ordinal));
  if (!tensor.is_valid() || !read(tensor.ptr(), out) || out.device != device) return nullptr;
  if (output.native.load(std::memory_order_relaxed) == 0) [[unlikely]] {
    const bool right = is_plain_tensor(tensor.ptr()) && tensor.attr("dtype").is(output.dtype) &&
                       nb::tuple(tensor.attr("shape")).equal(output.size) && tensor.attr("stride")().equal(output.stride) &&
                       !requires_grad(tensor.ptr());
    output.native.store(right ? 1 : -1, std::memory_order_relaxed);
    if (!right) return nullptr;
  }
  return tensor.release().ptr();
}

PyObject* TorchBridge::allocate(const TorchOutput& output, launch::DeviceId device, launch::TensorView& out) const {
  const bool on_gpu = device.kind == launch::DeviceId::Kind::cuda;
  if (on_gpu && output.scalar_type >= 0 && output.native.load(std::memory_order_relaxed) >= 0) [[likely]] {
    if (PyObject* tensor = allocate_natively(output, device, out)) [[likely]]
      return tensor;
  }
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
