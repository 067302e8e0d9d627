// What functions over pointers share; of those that go row by row: a call, the kernel that it takes, the launch.
#pragma once

#include <string>
#include <vector>

#include "ptx/author/author.hpp"
#include "ptx/kernels/run.hpp"

namespace ptx::kernels {

struct RowsCall {
  Operation operation = Operation::rms_norm;
  Type dtype = Type::f32;
  bool residual = false, has_bias = false;  ///< `has_bias`: of a backward, whose gradient is asked for
  std::vector<MatrixIn> inputs;             ///< of one size, in the kernel's order
  const void* weight = nullptr;             ///< of a row's length, as the bias
  const void* bias = nullptr;
  std::vector<MatrixOut> outputs;
  E4m3 e4m3 = {};
  std::vector<launch::Scalar> scalars;  ///< behind M and N
};

/// A kernel, and what the call is, as far as that decides it.
struct RowsKernel {
  Recipe recipe;
  Problem problem;
};
/// Kinds: argument_dim for matrices of different sizes, and those of `choose`.
Expected<RowsKernel> kernel_for(const Place& place, const RowsCall& call);
/// Launches it; `partial`: what a backward of a norm leaves besides, [P, N] of f32 each.
Expected<void> run(const Place& place, const RowsKernel& kernel, RowsCall call, const std::vector<Out>& partial = {});
/// Both; nothing for no rows.
Expected<void> run(const Place& place, const RowsCall& call);

/// Memory of a place, of `bytes` bytes.
Memory memory_at(const Place& place, const void* data, std::uint64_t bytes, const Shape& shape);
inline std::uint64_t bytes_of_element(Type type) { return static_cast<std::uint64_t>(isa::bits(type) / 8); }
/// `operation`: message
Diagnostic wrong(Operation operation, std::string message);

}  // namespace ptx::kernels
