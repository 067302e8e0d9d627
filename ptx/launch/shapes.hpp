// From the memory of a C++ call to tensors: what type and shape each stands for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/memory.hpp"
#include "ptx/launch/signature.hpp"
#include "ptx/launch/some.hpp"
#include "ptx/launch/tensor.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx::launch {

/// One call: its memory, inputs first, and where it runs.
struct CallMemory {
  Arguments<In> inputs;
  Arguments<Out> outputs;
  DeviceId device;
  [[nodiscard]] std::size_t size() const { return inputs.size() + outputs.size(); }
  [[nodiscard]] const Memory& operator[](std::size_t i) const {
    return i < inputs.size() ? static_cast<const Memory&>(inputs[i]) : outputs[i - inputs.size()];
  }
};

/// The tensors of a kernel, as shapes of them are found: dimensions by number.
class TensorShapes {
 public:
  TensorShapes() = default;
  TensorShapes(const std::vector<Tile>& tiles, std::size_t inputs);

  /// Names of dimensions, in the order of the tensors.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Those of them that no input has.
  [[nodiscard]] const std::vector<std::size_t>& of_outputs() const { return of_outputs_; }
  /// Dimensions of all tensors together.
  [[nodiscard]] std::size_t count() const { return dims_.size(); }

  /// Fits the call's memory: `views` are its tensors then, whose shapes lie in `shapes` (count() of them), and `sizes` the
  /// names': the others are -1 before. Memory without a type is of the tile's, and so are unsigned integers for floats that C++
  /// has no type for; memory without a shape is of the tile's, as far as the sizes follow. No heap. Kinds: argument_dtype,
  /// argument_rank, argument_dim, dim_conflict, dim_unbound.
  [[nodiscard]] Expected<void> fit(const Signature& signature, const CallMemory& call, std::span<TensorView> views,
                                   std::span<std::int64_t> shapes, std::span<std::int64_t> sizes) const;

 private:
  struct Dim {
    std::int64_t size = 0;
    std::int32_t name = -1;  ///< among names_; -1: `size` is it
  };
  struct Tensor {
    ElementType element;      ///< of the tile's own type
    bool takes_bits = false;  ///< C++ has no such type: unsigned integers carry its bits
    std::size_t first = 0, rank = 0;
    std::string text;  ///< "float32[M, 512]"
  };
  [[nodiscard]] std::span<const Dim> dims_of(const Tensor& tensor) const { return {dims_.data() + tensor.first, tensor.rank}; }
  /// What a call's tensor is called.
  struct Names {
    const Signature& signature;
    std::size_t inputs;
    [[nodiscard]] std::string operator[](std::size_t i) const {
      return i < inputs ? signature.argument(i) : signature.output(i - inputs);
    }
  };
  [[nodiscard]] Expected<void> take_shape(const Names& names, std::size_t i, const CallMemory& call, std::int64_t elements,
                                          std::span<std::int64_t> shape, std::span<std::int64_t> sizes) const;
  /// Whether it could be found by now.
  [[nodiscard]] Expected<bool> find_shape(const Names& names, std::size_t i, std::int64_t elements, std::span<std::int64_t> shape,
                                          std::span<std::int64_t> sizes) const;
  [[nodiscard]] Diagnostic no_shape(const Names& names, std::size_t i, std::int64_t elements,
                                    std::span<const std::int64_t> sizes) const;

  std::vector<std::string> names_;
  std::vector<std::size_t> of_outputs_;
  std::vector<Tensor> tensors_;
  std::vector<Dim> dims_;  // of all tensors, one after the other
};

}  // namespace ptx::launch
