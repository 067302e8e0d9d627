// What autograd nodes ask of pyptx. The nodes are C++ that is compiled against the torch at hand, in a library of its own
// (nodes.cpp beside this); pyptx._ptx knows no version of torch. Between the two stands this table of C functions.
#pragma once

#include <cstdint>

namespace ptx::nodes {

/// Of this file: a library of nodes that was made for another one is not taken.
inline constexpr std::uint32_t table_version = 1;
/// What the table's capsule is called, and where it is: `pyptx._ptx.node_table`.
inline constexpr const char* table_name = "pyptx._ptx.node_table";

/// DLPack's DLDataType.
struct ElementType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

/// A tensor where it lies: sizes and strides in elements; the number of its GPU, -1 for the host.
struct Tensor {
  void* data;
  const std::int64_t* sizes;
  const std::int64_t* strides;
  std::int32_t rank;
  std::int32_t gpu;
  ElementType type;
};

/// Who launches: makes the outputs.
class Caller {
 public:
  /// Memory for output `output`, in one piece; null: there is none.
  virtual void* allocate(std::uint32_t output, const std::int64_t* sizes, std::int32_t rank, ElementType type) noexcept = 0;

 protected:
  ~Caller() = default;
};

struct Table {
  std::uint32_t version;
  /// A launch of a plan with the values of its scalars, as `Plan(…, scalars=…)` takes them. With the GIL; null with a Python
  /// error. A plan that changes an input is none that fits.
  void* (*make_launch)(void* plan, void* scalars);
  void (*release_launch)(void* launch);  ///< with the GIL
  /// Without the GIL. False: nothing is launched, and the same call through Python says why.
  bool (*launch)(const void* launch, const Tensor* inputs, std::uint32_t count, Caller* caller) noexcept;
};

}  // namespace ptx::nodes
