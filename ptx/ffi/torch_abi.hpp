// The stable C functions of PyTorch's library, declared by ourselves and found in the running process: the core builds without
// torch, and one object file serves torch 2.10 to 2.13. They are those of torch/csrc/stable/c/shim.h and
// torch/csrc/inductor/aoti_torch/c/shim.h, which torch keeps for two years after a change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ptx/launch/launch.hpp"

namespace ptx::ffi::torch {

/// 0 is success; what went wrong, torch keeps to itself.
using Status = std::int32_t;
/// A value on a boxed kernel's stack: an int itself, else a handle that the kernel owns.
using Value = std::uint64_t;
struct TensorOpaque;
struct ListOpaque;
struct StringOpaque;
struct LibraryOpaque;
using Tensor = TensorOpaque*;
using List = ListOpaque*;
using String = StringOpaque*;
using Library = LibraryOpaque*;
/// Takes its `inputs` off the stack, and leaves its `outputs` there. It may throw what derives from std::exception.
using Boxed = void (*)(Value* stack, std::uint64_t inputs, std::uint64_t outputs);

/// The version whose conventions for the stack our kernels follow, as torch writes versions: 2.10.
inline constexpr std::uint64_t spoken_version = std::uint64_t{2} << 56 | std::uint64_t{10} << 48;

/// What a launch needs of torch.
struct Api {
  Status (*library_init_fragment)(const char* space, const char* file, std::uint32_t line, Library*) = nullptr;
  Status (*library_init_impl)(const char* space, const char* backend, const char* file, std::uint32_t line, Library*) = nullptr;
  Status (*library_def)(Library, const char* schema) = nullptr;
  Status (*library_impl)(Library, const char* name, Boxed, std::uint64_t version) = nullptr;

  Status (*list_new)(std::size_t reserved, List*) = nullptr;
  Status (*list_size)(List, std::size_t*) = nullptr;
  Status (*list_get)(List, std::size_t index, Value*) = nullptr;
  Status (*list_push)(List, Value) = nullptr;
  Status (*list_delete)(List) = nullptr;
  Status (*string_length)(String, std::size_t*) = nullptr;
  Status (*string_data)(String, const char**) = nullptr;
  Status (*string_delete)(String) = nullptr;

  Status (*tensor_delete)(Tensor) = nullptr;
  Status (*tensor_data)(Tensor, void**) = nullptr;
  Status (*tensor_rank)(Tensor, std::int64_t*) = nullptr;
  Status (*tensor_sizes)(Tensor, std::int64_t**) = nullptr;
  Status (*tensor_strides)(Tensor, std::int64_t**) = nullptr;
  Status (*tensor_dtype)(Tensor, std::int32_t*) = nullptr;
  Status (*tensor_device_type)(Tensor, std::int32_t*) = nullptr;
  Status (*tensor_device_index)(Tensor, std::int32_t*) = nullptr;
  Status (*tensor_empty)(std::int64_t rank, const std::int64_t* sizes, const std::int64_t* strides, std::int32_t dtype,
                         std::int32_t device_type, std::int32_t device_index, Tensor*) = nullptr;
  Status (*tensor_copy)(Tensor to, Tensor from, std::int32_t non_blocking) = nullptr;
  /// Null in a torch without CUDA.
  Status (*cuda_stream)(std::int32_t device_index, void**) = nullptr;

  std::int32_t cpu = 0, cuda = 1;             ///< device types
  std::array<launch::ElementType, 64> types;  ///< by torch's number; of 0 bits where we know none

  /// Those of the torch that this process has loaded. Kind torch_abi: there is none, or it lacks a function, which is named.
  static Expected<Api> find();

  /// torch's number of an element type.
  [[nodiscard]] std::optional<std::int32_t> number_of(launch::ElementType type) const;
};

}  // namespace ptx::ffi::torch
