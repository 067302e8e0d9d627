// Kernels as operators of PyTorch's dispatcher: what compiled graphs, exported programs and dispatch modes call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/launch.hpp"

namespace ptx::ffi {

namespace torch {
struct Api;
}

/// Both are for tensors of the CPU and of CUDA, on torch's current stream of their device. `key` says which kernel; `payload` is
/// empty, or what makes the kernel where the key is not known; `scalars` is empty, or the number of scalar parameters and two
/// numbers for each: whether the call gives it, and its bits. (AOTInductor cannot pass an empty list: without scalars it is
/// `[0]`, and where every input is an output, one tensor that nobody looks at may stand in `inputs`.) `launch_` writes `outputs`,
/// and reads the inputs that are outputs too from there: `inputs` are the others.
/// `exported` and `exported_` are the same in exported programs, where nobody has looked at who asks for gradients: a language
/// with gradients registers for them what refuses those.
inline constexpr const char* torch_schemas[] = {
    "launch(str key, str payload, Tensor[] inputs, int[] scalars) -> Tensor[]",
    "launch_(str key, str payload, Tensor[] inputs, Tensor(a!)[] outputs, int[] scalars) -> ()",
    "exported(str key, str payload, Tensor[] inputs, int[] scalars) -> Tensor[]",
    "exported_(str key, str payload, Tensor[] inputs, Tensor(a!)[] outputs, int[] scalars) -> ()",
};

/// What a key stands for. The plan lives as long as the process.
struct TorchKernel {
  launch::Plan* plan = nullptr;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> aliases;  ///< inputs that are outputs too: numbers of both, ascending
};

/// What the language around the operators does for them.
struct TorchHooks {
  /// Makes the kernel of a key that is not known out of its payload, and adds it.
  Expected<void> (*adopt)(std::string_view key, std::string_view payload) = nullptr;
  /// The text of the exception for this error, which is about to be thrown through torch.
  std::string (*report)(const Diagnostic& error) = nullptr;
};

/// Adds a key, for as long as the process lives. False when the key is taken.
bool add_torch_kernel(std::string_view key, TorchKernel kernel);
/// The kernel of a key, or null. No lock.
const TorchKernel* find_torch_kernel(std::string_view key) noexcept;

/// Whether the operators' schemas are still to be defined, or somebody did that with the same schemas.
enum class TorchSchemas : std::uint8_t { define, defined };
/// Registers `pyptx::launch` and `pyptx::launch_` with the torch of this process, once. Their errors are std::runtime_errors.
/// Kind torch_abi: no torch is loaded, or one that lacks a function.
Expected<void> register_torch_operators(TorchSchemas schemas, TorchHooks hooks = {});
/// The same with these functions for torch's.
Expected<void> register_torch_operators(const torch::Api& api, TorchSchemas schemas, TorchHooks hooks = {});

}  // namespace ptx::ffi
