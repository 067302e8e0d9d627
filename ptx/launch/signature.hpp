// What tensors a kernel takes and gives, and the check of a call against it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/spec.hpp"
#include "ptx/launch/tensor.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx::launch {

/// One tensor that a call returns.
struct Output {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in elements: row-major
  ElementType dtype;
  std::size_t bytes = 0;
};

/// A call's tensors, fitted to the signature.
struct Bound {
  tile::Env env;  ///< every symbolic dimension's size
  std::vector<Output> outputs;
};

/// How far a call is checked: a tracer has a shape and a type, but neither memory nor a device.
enum class Scope : std::uint8_t { shapes, tensors };

/// A kernel's tensors, inputs first.
class Signature {
 public:
  /// `names` are the arguments', inputs then outputs. Kind bad_tile: an output's type is one that no tensor has; argument_count:
  /// names are missing.
  static Expected<Signature> make(std::string kernel, std::vector<Tile> inputs, std::vector<Tile> outputs,
                                  std::vector<std::string> names, tile::Env fixed = {});

  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  [[nodiscard]] const std::vector<Tile>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<Tile>& outputs() const { return outputs_; }
  /// The tensors' names, inputs first.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Sizes given by name, not by a tensor.
  [[nodiscard]] const tile::Env& fixed() const { return fixed_; }

  /// Checks type, rank, sizes, layout, memory and device of each tensor and binds the dimensions. The message names the argument,
  /// the value seen and what would fit. Kinds: argument_count, argument_dtype, argument_rank, argument_dim, dim_conflict,
  /// dim_unbound, argument_layout, argument_memory, argument_alignment, argument_device.
  [[nodiscard]] Expected<Bound> bind(std::span<const TensorView> tensors, Scope scope = Scope::tensors) const;
  [[nodiscard]] Expected<void> check_count(std::size_t tensors) const;
  /// Checks the element type of tensor `index`, which counts the inputs, then the outputs. Kind argument_dtype.
  [[nodiscard]] Expected<void> check_dtype(std::size_t index, const TensorView& tensor) const;
  /// Checks a tensor that the caller gives for output `index` to be written to, beside the tensors of the call. Kinds: those of
  /// bind(), naming the output, and argument_memory for one that is read-only or overlaps an input without being that input.
  [[nodiscard]] Expected<void> check_output(std::size_t index, const Output& output, const TensorView& given,
                                            std::span<const TensorView> inputs, DeviceId device) const;
  /// Checks that no two tensors that a call writes share memory. `written` are those of the outputs, in order. Kind
  /// argument_memory.
  [[nodiscard]] Expected<void> check_apart(std::span<const Output> outputs, std::span<void* const> written) const;
  /// Checks that an output that is written where an input lies is a tensor like that input. Kind argument_dim.
  [[nodiscard]] Expected<void> check_alias(const Alias& alias, const TensorView& input, const Output& output) const;
  /// The error (argument_memory) for a call whose argument `index` is to be changed, and may only be read.
  [[nodiscard]] Diagnostic changed_read_only(std::size_t index) const;
  /// The error (argument_kind) for a call whose argument `index` is no tensor but, say, "an `int`".
  [[nodiscard]] Diagnostic not_a_tensor(std::size_t index, std::string_view what) const;
  /// "argument 1 (`W`) of kernel `rms_norm`".
  [[nodiscard]] std::string argument(std::size_t index) const;
  /// "output 0 (`Y`) of kernel `rms_norm`".
  [[nodiscard]] std::string output(std::size_t index) const;

 private:
  Signature() = default;
  [[nodiscard]] Expected<void> check_tensor(std::size_t index, const TensorView& tensor) const;
  [[nodiscard]] Diagnostic misfit(Kind kind, std::size_t index, std::string_view reason, const TensorView& tensor) const;

  std::string kernel_;
  std::vector<Tile> inputs_, outputs_;
  std::vector<std::string> names_;
  tile::Env fixed_;  ///< sizes given by name, not by a tensor
};

/// Whether two pieces of memory have no byte in common.
bool lie_apart(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes);

/// Checks that what a call writes, the memory behind `inputs`, lies apart from the rest: an output may be an input, whole, but
/// none of `inputs_apart`. For launches by address alone. Kind argument_memory.
Expected<void> check_apart(std::string_view kernel, std::size_t inputs, std::span<void* const> pointers,
                           std::span<const std::size_t> bytes, std::span<const std::uint32_t> inputs_apart = {});

/// "float32[M, 512]".
std::string describe(const Tile& tile);

}  // namespace ptx::launch
