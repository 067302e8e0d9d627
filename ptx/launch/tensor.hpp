// A tensor as a launch sees it: borrowed, whoever made it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"

namespace ptx::launch {

/// An element type by DLPack's code, width in bits and lanes: the one vocabulary that numpy, torch and JAX share.
struct ElementType {
  std::uint8_t code = 0;
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
  friend bool operator==(ElementType, ElementType) = default;
  [[nodiscard]] std::size_t bytes() const { return (std::size_t{bits} * lanes + 7) / 8; }
};
/// The code of bits whose meaning only the kernel knows; no code of DLPack's. They fit every type of their width.
inline constexpr std::uint8_t raw_bits = 255;
/// "float32", "bfloat16", as numpy spells it; "" for a type that numpy has no name for.
std::string_view numpy_name(ElementType type);
/// The reverse.
std::optional<ElementType> element_type_from_name(std::string_view numpy_name);

struct DeviceId {
  enum class Kind : std::uint8_t { cpu, cuda };
  Kind kind = Kind::cpu;
  int ordinal = 0;
  friend bool operator==(DeviceId, DeviceId) = default;
};
std::string to_string(DeviceId device);  ///< "cpu", "cuda:1"

/// Points into the tensor it views.
struct TensorView {
  void* data = nullptr;
  ElementType dtype;
  DeviceId device;
  std::int32_t rank = 0;
  bool read_only = false;
  const std::int64_t* shape = nullptr;
  const std::int64_t* strides = nullptr;  ///< in elements; null: row-major without gaps

  [[nodiscard]] std::size_t elements() const {
    std::size_t count = 1;
    for (std::int32_t i = 0; i < rank; ++i) count = multiply_sizes(count, static_cast<std::uint64_t>(shape[i]));
    return count;
  }
  [[nodiscard]] std::size_t bytes() const { return multiply_sizes(elements(), dtype.bytes()); }
};

/// Whether the elements lie in row-major order without gaps. A dimension of size 1 may have any stride.
bool is_contiguous(const TensorView& tensor);
/// "float32[16, 512]".
std::string describe(const TensorView& tensor);

/// A shape, or strides, as Python spells it: "(4, 8)", "(4,)".
std::string spell_shape(std::span<const std::int64_t> numbers);

}  // namespace ptx::launch
