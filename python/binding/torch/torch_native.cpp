#include "python/binding/torch/torch_native.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace ptx::python {

namespace nb = nanobind;

void* loaded_symbol(const char* library, const char* symbol) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : dlsym(handle, symbol);
}

TorchNative TorchNative::find() {
  TorchNative native;
  native.empty_ = reinterpret_cast<Empty>(loaded_symbol(
      "libtorch_cuda.so", "_ZN2at6detail18empty_strided_cudaEN3c108ArrayRefIlEES3_NS1_10ScalarTypeESt8optionalINS1_6DeviceEE"));
  native.wrap_ = reinterpret_cast<Wrap>(loaded_symbol("libtorch_python.so", "_Z16THPVariable_WrapON2at10TensorBaseE"));
  return native;
}

PyObject* TorchNative::empty(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides, std::int8_t scalar_type,
                             int ordinal) const noexcept {
  constexpr std::int8_t cuda = 1;  // c10::DeviceType
  try {
    Tensor tensor = empty_({sizes.data(), sizes.size()}, {strides.data(), strides.size()}, scalar_type,
                           {{cuda, static_cast<std::int8_t>(ordinal)}, true});
    PyObject* wrapped = wrap_(std::move(tensor));
    if (wrapped == nullptr) PyErr_Clear();
    return wrapped;
  } catch (...) {
    return nullptr;
  }
}

TorchTensors TorchTensors::find(nb::handle torch) {
  TorchTensors found;
  const auto* const type = reinterpret_cast<PyTypeObject*>(torch.attr("Tensor").ptr());
  // Two tensors: one address may stand somewhere else in an object by chance.
  const nb::object first = torch.attr("empty")(0), second = torch.attr("empty")(1);
  const auto address_of = [](const nb::object& tensor) { return nb::cast<std::uintptr_t>(tensor.attr("_cdata")); };
  const auto word_at = [](const nb::object& tensor, std::size_t offset) {
    std::uintptr_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(tensor.ptr()) + offset, sizeof word);
    return word;
  };
  const auto end = static_cast<std::size_t>(type->tp_basicsize);
  for (std::size_t at = sizeof(PyObject); at + sizeof(void*) <= end; at += sizeof(void*)) {
    if (word_at(first, at) != address_of(first) || word_at(second, at) != address_of(second)) continue;
    found.offset_ = at;
    found.requires_grad_ =
        reinterpret_cast<bool (*)(const void*)>(loaded_symbol("libc10.so", "_ZNK3c1010TensorImpl13requires_gradEv"));
    for (const char* name :
         {"_ZN5torch8autograd4impl12bump_versionERKN2at10TensorBaseE", "_ZN5torch8autograd4impl12bump_versionERKN2at6TensorE"}) {
      if (void* symbol = loaded_symbol("libtorch_cpu.so", name)) {
        found.bump_version_ = reinterpret_cast<void (*)(const void* const*)>(symbol);
        break;
      }
    }
    break;
  }
  return found;
}

bool TorchTensors::bump_version(PyObject* tensor) const noexcept {
  try {
    bump_version_(held(tensor));
    return true;
  } catch (...) {
    return false;
  }
}

std::int8_t TorchNative::scalar_type(std::string_view numpy_name) {
  static constexpr std::pair<std::string_view, std::int8_t> known[] = {
      {"uint8", 0},   {"int8", 1},    {"int16", 2},        {"int32", 3},          {"int64", 4},
      {"float16", 5}, {"float32", 6}, {"float64", 7},      {"bool", 11},          {"bfloat16", 15},
      {"uint16", 27}, {"uint32", 28}, {"float8_e5m2", 23}, {"float8_e4m3fn", 24}, {"uint64", 29}};
  for (const auto& [name, type] : known)
    if (name == numpy_name) return type;
  return -1;
}

}  // namespace ptx::python
