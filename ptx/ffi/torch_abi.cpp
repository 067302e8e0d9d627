#include "ptx/ffi/torch_abi.hpp"

#include <dlfcn.h>

#include <string_view>

namespace ptx::ffi::torch {
namespace {

constexpr const char* libraries[] = {"libtorch_cpu.so", "libtorch_cuda.so", "libtorch.so"};

/// torch's libraries are loaded with local names, so each is asked; a process that links torch has them among its own.
void* symbol(const char* name) {
  for (const char* library : libraries) {
    void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* found = dlsym(handle, name);
    dlclose(handle);  // a count, not the library: it stays with whoever loaded it
    if (found != nullptr) return found;
  }
  return dlsym(RTLD_DEFAULT, name);
}

template <class Function>
bool find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(symbol(name));
  return function != nullptr;
}

/// Types by numpy's name, which is the one in `aoti_torch_dtype_…` too; a torch need not have them all.
constexpr std::string_view dtypes[] = {"int8",          "int16",           "int32",       "int64",           "uint8",
                                       "uint16",        "uint32",          "uint64",      "float16",         "float32",
                                       "float64",       "bfloat16",        "bool",        "complex64",       "complex128",
                                       "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"};

}  // namespace

Expected<Api> Api::find() {
  Api api;
  std::string missing;
  const auto need = [&](auto& function, const char* name) {
    if (!torch::find(function, name)) missing += cat(missing.empty() ? "" : ", ", '`', name, '`');
  };
  need(api.library_init_fragment, "aoti_torch_library_init_fragment");
  need(api.library_init_impl, "aoti_torch_library_init_impl");
  need(api.library_def, "aoti_torch_library_def");
  need(api.library_impl, "torch_library_impl");
  need(api.list_new, "torch_new_list_reserve_size");
  need(api.list_size, "torch_list_size");
  need(api.list_get, "torch_list_get_item");
  need(api.list_push, "torch_list_push_back");
  need(api.list_delete, "torch_delete_list");
  need(api.string_length, "torch_string_length");
  need(api.string_data, "torch_string_c_str");
  need(api.string_delete, "torch_delete_string");
  need(api.tensor_delete, "aoti_torch_delete_tensor_object");
  need(api.tensor_data, "aoti_torch_get_data_ptr");
  need(api.tensor_rank, "aoti_torch_get_dim");
  need(api.tensor_sizes, "aoti_torch_get_sizes");
  need(api.tensor_strides, "aoti_torch_get_strides");
  need(api.tensor_dtype, "aoti_torch_get_dtype");
  need(api.tensor_device_type, "aoti_torch_get_device_type");
  need(api.tensor_device_index, "aoti_torch_get_device_index");
  need(api.tensor_empty, "aoti_torch_empty_strided");
  need(api.tensor_copy, "aoti_torch_copy_");
  std::int32_t (*number)() = nullptr;
  need(number, "aoti_torch_device_type_cpu");
  if (number != nullptr) api.cpu = number();
  need(number, "aoti_torch_device_type_cuda");
  if (number != nullptr) api.cuda = number();
  if (!missing.empty()) {
    return Unexpected{Diagnostic{.kind = Kind::torch_abi,
                                 .message = cat("the torch of this process lacks ", missing, " of its stable interface")}
                          .hint("torch 2.10 and later have them; import torch first")};
  }
  torch::find(api.cuda_stream, "aoti_torch_get_current_cuda_stream");
  for (const std::string_view name : dtypes) {
    if (!torch::find(number, cat("aoti_torch_dtype_", name).c_str()) && !torch::find(number, cat("torch_dtype_", name).c_str())) {
      continue;
    }
    const std::int32_t at = number();
    if (at >= 0 && static_cast<std::size_t>(at) < api.types.size())
      api.types[static_cast<std::size_t>(at)] = launch::element_type_from_name(name).value_or(launch::ElementType{});
  }
  return api;
}

std::optional<std::int32_t> Api::number_of(launch::ElementType type) const {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] == type) return static_cast<std::int32_t>(i);
  return std::nullopt;
}

}  // namespace ptx::ffi::torch
