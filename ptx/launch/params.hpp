// The parameters of one launch, for the executor and the driver alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ptx/launch/spec.hpp"

namespace ptx::launch {

/// For each parameter of the spec, the address of the value that this launch passes, into `values`, which has room for all: the
/// tensor's address among `pointers`, the scalar that is given or else the spec's, or what `descriptor` gives for a TMA
/// descriptor of a tensor. Values are read where they lie, so they must outlive their use. False as soon as `descriptor` gives
/// null. No heap.
template <class DescriptorOf>
[[nodiscard]] inline bool gather_params(const LaunchSpec& spec, std::span<void* const> pointers, ScalarValues scalars,
                                        std::span<void*> values, DescriptorOf descriptor) {
  auto given = scalars.begin();
  for (std::size_t i = 0; i < spec.params.size(); ++i) {
    const Param& param = spec.params[i];
    switch (param.kind) {
      case Param::Kind::pointer:
        values[i] = const_cast<void**>(&pointers[param.arg]);
        break;
      case Param::Kind::scalar:
        values[i] = const_cast<std::uint64_t*>(&param.bits);
        if (given == scalars.end()) break;
        if (given->has_value()) values[i] = const_cast<std::uint64_t*>(&**given);
        ++given;
        break;
      case Param::Kind::tensor_map:
      case Param::Kind::tensor_map_value:
        values[i] = descriptor(param, pointers[param.arg]);
        if (values[i] == nullptr) [[unlikely]]
          return false;
        break;
    }
  }
  return true;
}

}  // namespace ptx::launch
