// DLPack's C structures and its exchange interface (dlpack.h 1.3), as far as we use them, declared by ourselves.
#pragma once

#include <cstdint>

#include "ptx/launch/tensor.hpp"

namespace ptx::python::dlpack {

enum class DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
struct Device {
  DeviceType type;
  std::int32_t id;
};
/// DLTensor.
struct Tensor {
  void* data;
  Device device;
  std::int32_t rank;
  launch::ElementType dtype;  // DLDataType has this layout
  std::int64_t* shape;
  std::int64_t* strides;  // elements; may be null before 1.2
  std::uint64_t byte_offset;
};
static_assert(sizeof(launch::ElementType) == 4 && sizeof(Tensor) == 48);

/// DLManagedTensor, in a capsule "dltensor".
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};
struct Version {
  std::uint32_t major, minor;
};
/// DLManagedTensorVersioned, in a capsule "dltensor_versioned".
struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};
inline constexpr std::uint64_t flag_read_only = 1;
inline constexpr std::uint32_t known_major = 1;

/// DLPackExchangeAPI, in a type's capsule `__dlpack_c_exchange_api__`.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous;
  void* managed_tensor_allocator;
  void* managed_tensor_from_py_object_no_sync;
  void* managed_tensor_to_py_object_no_sync;
  int (*dltensor_from_py_object_no_sync)(void* object, Tensor* out);  // may be null; borrows
  int (*current_work_stream)(DeviceType type, std::int32_t id, void** stream);
};

/// The tensor as a launch sees it; false when it is on a device that we do not know.
inline bool view(const Tensor& tensor, launch::TensorView& out) {
  using Kind = launch::DeviceId::Kind;
  switch (tensor.device.type) {
    case DeviceType::cpu:
    case DeviceType::cuda_host:
      out.device = {Kind::cpu, 0};
      break;
    case DeviceType::cuda:
    case DeviceType::cuda_managed:
      out.device = {Kind::cuda, tensor.device.id};
      break;
    default:
      return false;
  }
  out.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  out.dtype = tensor.dtype;
  out.rank = tensor.rank;
  out.read_only = false;
  out.shape = tensor.shape;
  out.strides = tensor.strides;
  return true;
}

}  // namespace ptx::python::dlpack
