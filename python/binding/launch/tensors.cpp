#include "python/binding/launch/tensors.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>

#include "python/binding/torch/dlpack.hpp"
#include "python/binding/torch/torch_bridge.hpp"

namespace ptx::python {
namespace {

std::string shown(const nb::object& object) { return nb::cast<std::string>(nb::str(object)); }

/// The module, if the process has imported it.
nb::object loaded_module(const char* name) {
  const nb::dict modules = nb::borrow<nb::dict>(PyImport_GetModuleDict());
  return modules.contains(name) ? nb::object(modules[name]) : nb::none();
}

bool is_jax_array(nb::handle object) {
  const nb::object jax = loaded_module("jax");
  return !jax.is_none() && nb::hasattr(jax, "Array") && nb::isinstance(object, jax.attr("Array"));
}

bool is_masked(nb::handle object) {
  const nb::object masked = loaded_module("numpy.ma");
  return !masked.is_none() && nb::isinstance(object, masked.attr("MaskedArray"));
}

/// numpy's name of an `__array_interface__` type string, "<f4".
std::string name_of_typestr(const std::string& typestr) {
  if (typestr.size() < 3) return {};
  const int bits = 8 * std::atoi(typestr.c_str() + 2);
  switch (typestr[1]) {
    case 'b':
      return "bool";
    case 'i':
      return cat("int", bits);
    case 'u':
      return cat("uint", bits);
    case 'f':
      return cat("float", bits);
    case 'c':
      return cat("complex", bits);
    default:
      return {};
  }
}

}  // namespace

std::string a_type(nb::handle object) {
  const std::string name = nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__"));
  const bool vowel = !name.empty() && std::string_view("aeiouAEIOU").find(name[0]) != std::string_view::npos;
  return cat(vowel ? "an `" : "a `", name, '`');
}

Origin origin_of(nb::handle object) {
  if (PyType_Check(object.ptr())) return Origin::none;
  if (const TorchBridge* torch = TorchBridge::find()) {
    if (torch->is_plain_tensor(object.ptr())) return Origin::torch;
    if (torch->is_tensor(object.ptr())) return Origin::torch_wrapped;
  }
  if (is_jax_array(object)) return Origin::jax;
  if (nb::hasattr(object, "__array_interface__")) return Origin::numpy;
  if (nb::hasattr(object, "__dlpack__")) return Origin::dlpack;
  return Origin::none;
}

cuda::api::Stream launch_stream(StreamOf library, int ordinal) {
  if (library == StreamOf::torch) return TorchBridge::find()->stream(ordinal);
  if (library == StreamOf::nobody) return nullptr;
  const nb::object current = nb::module_::import_("cupy").attr("cuda").attr("get_current_stream")(ordinal);
  return reinterpret_cast<cuda::api::Stream>(nb::cast<std::uintptr_t>(current.attr("ptr")));
}

Expected<Import> Import::of(nb::handle object, Origin origin, StreamOf stream) {
  const auto import = [&]() -> Expected<Import> {
    switch (origin) {
      case Origin::torch:
        return of_torch(object);
      case Origin::numpy:
        return of_array_interface(object);
      case Origin::dlpack:
        return of_dlpack(object, stream);
      default:
        return refuse(Kind::argument_kind, cat("is ", a_type(object), "; it takes a tensor"));
    }
  };
  // An interface is somebody else's code, and may answer anything.
  const auto broken = [&](std::string_view why) {
    const std::string_view interface = origin == Origin::numpy ? "`__array_interface__`" : "`__dlpack__`";
    return refuse(Kind::argument_kind, cat("is ", a_type(object), ", whose ", interface, why));
  };
  try {
    auto made = import();
    if (made && std::any_of(made->shape_.begin(), made->shape_.end(), [](std::int64_t size) { return size < 0; }))
      return broken(" gives a negative size");
    return made;
  } catch (const nb::cast_error&) {
    return broken(" gives something that is not one");
  } catch (nb::python_error& error) {
    if (origin == Origin::torch || !error.matches(PyExc_Exception)) throw;
    return broken(cat(" fails: ", nb::cast<std::string>(nb::str(error.type().attr("__name__"))), ": ",
                      nb::cast<std::string>(nb::str(error.value()))));
  }
}

// Through attributes, which every torch has; also for a tensor that the exchange interface will not show, to say why.
Expected<Import> Import::of_torch(nb::handle object) {
  Import import;
  std::string storage;
  const std::string_view dtype = TorchBridge::dtype_name(object.attr("dtype"), storage);
  const auto element = launch::element_type_from_name(dtype);
  if (!element) return refuse(Kind::argument_dtype, cat("the element type is ", dtype, ", which PTX does not have"));
  const nb::object device = object.attr("device");
  const std::string type = nb::cast<std::string>(device.attr("type"));
  if (type == "cuda") {
    import.view_.device = {launch::DeviceId::Kind::cuda, nb::cast<int>(device.attr("index"))};
  } else if (type != "cpu") {
    return refuse(Kind::argument_device,
                  cat("the tensor is on `", shown(device), "`; the CPU and CUDA GPUs are what kernels run on"));
  }
  if (nb::cast<bool>(object.attr("is_nested")))
    return refuse(Kind::argument_layout, "the tensor is a nested one; the kernel takes a dense one");
  if (const std::string layout = shown(object.attr("layout")); layout != "torch.strided") {
    return refuse(Kind::argument_layout, cat("the tensor is ", layout, "; the kernel takes a dense one"));
  }
  if (nb::cast<bool>(object.attr("is_conj")()) || nb::cast<bool>(object.attr("is_neg")())) {
    return refuse(Kind::argument_layout, "the tensor is a lazy conjugate or negative; call `.resolve_conj().resolve_neg()`");
  }
  import.view_.dtype = *element;
  import.shape_ = nb::cast<std::vector<std::int64_t>>(object.attr("shape"));
  import.strides_ = nb::cast<std::vector<std::int64_t>>(object.attr("stride")());
  import.view_.rank = static_cast<std::int32_t>(import.shape_.size());
  import.view_.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(object.attr("data_ptr")()));
  import.keep_ = nb::borrow(object);
  return import;
}

// numpy's buffer protocol knows neither bfloat16 nor float8; this interface does.
Expected<Import> Import::of_array_interface(nb::handle object) {
  Import import;
  if (is_masked(object))
    return refuse(Kind::argument_layout, "the array is masked, and a kernel would read what the mask hides; call `.filled(…)`");
  const auto interface = nb::cast<nb::dict>(object.attr("__array_interface__"));
  const auto typestr = nb::cast<std::string>(interface["typestr"]);
  const std::string dtype =
      nb::hasattr(object, "dtype") ? nb::cast<std::string>(object.attr("dtype").attr("name")) : name_of_typestr(typestr);
  if (typestr.starts_with('>'))
    return refuse(Kind::argument_dtype, cat("the element type is big-endian ", dtype,
                                            "; the kernel takes little-endian: call `.astype(\"", dtype, "\")`"));
  const auto element = launch::element_type_from_name(dtype);
  if (!element) return refuse(Kind::argument_dtype, cat("the element type is ", dtype, ", which PTX does not have"));
  import.view_.dtype = *element;
  import.shape_ = nb::cast<std::vector<std::int64_t>>(interface["shape"]);
  import.view_.rank = static_cast<std::int32_t>(import.shape_.size());
  if (interface.contains("strides") && !interface["strides"].is_none()) {
    const auto item = static_cast<std::int64_t>(element->bytes());
    // A stride that is not a whole number of elements fits no row-major tensor, and neither does 0.
    for (const std::int64_t bytes : nb::cast<std::vector<std::int64_t>>(interface["strides"]))
      import.strides_.push_back(bytes % item == 0 ? bytes / item : 0);
    if (import.strides_.size() != import.shape_.size())
      return refuse(Kind::argument_kind, cat("is ", a_type(object), ", whose `__array_interface__` gives ",
                                             import.strides_.size(), " strides for ", import.shape_.size(), " dimensions"));
  }
  const auto data = nb::cast<nb::tuple>(interface["data"]);
  import.view_.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  import.view_.read_only = nb::cast<bool>(data[1]);
  import.keep_ = nb::borrow(object);
  return import;
}

// The capsule is kept, not consumed: while it lives, so does the tensor, and its own destructor gives it back.
Expected<Import> Import::of_dlpack(nb::handle object, StreamOf stream) {
  Import import;
  const auto device = nb::cast<nb::tuple>(object.attr("__dlpack_device__")());
  const bool on_gpu = nb::cast<int>(device[0]) == static_cast<int>(dlpack::DeviceType::cuda);
  // On a GPU the producer makes its work visible to the stream we name: the one that the kernel is launched on. DLPack calls the
  // legacy default stream 1.
  const auto number = [&] {
    try {
      const cuda::api::Stream launched_on = launch_stream(stream, nb::cast<int>(device[1]));
      if (launched_on != nullptr) return reinterpret_cast<std::uintptr_t>(launched_on);
    } catch (nb::python_error& error) {  // a GPU that the library does not see: no kernel will be launched there
      if (!error.matches(PyExc_Exception)) throw;
    }
    return std::uintptr_t{1};
  };
  import.keep_ = on_gpu ? object.attr("__dlpack__")(nb::arg("stream") = number()) : object.attr("__dlpack__")();
  const dlpack::Tensor* tensor = nullptr;
  if (PyCapsule_IsValid(import.keep_.ptr(), "dltensor")) {
    tensor = &static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(import.keep_.ptr(), "dltensor"))->tensor;
  } else if (PyCapsule_IsValid(import.keep_.ptr(), "dltensor_versioned")) {
    const auto* managed =
        static_cast<dlpack::ManagedTensorVersioned*>(PyCapsule_GetPointer(import.keep_.ptr(), "dltensor_versioned"));
    if (managed->version.major == dlpack::known_major) tensor = &managed->tensor;
    if (tensor != nullptr) import.view_.read_only = (managed->flags & dlpack::flag_read_only) != 0;
  }
  if (tensor == nullptr)
    return refuse(Kind::argument_kind,
                  cat("is ", a_type(object), ", whose `__dlpack__` gives something that this version does not read"));
  const bool read_only = import.view_.read_only;
  if (!dlpack::view(*tensor, import.view_)) {
    return refuse(Kind::argument_device, cat("the tensor is on DLPack device ", static_cast<int>(tensor->device.type),
                                             "; the CPU and CUDA GPUs are what kernels run on"));
  }
  import.view_.read_only = read_only;
  import.shape_.assign(tensor->shape, tensor->shape + tensor->rank);
  if (tensor->strides != nullptr) import.strides_.assign(tensor->strides, tensor->strides + tensor->rank);
  return import;
}

}  // namespace ptx::python
