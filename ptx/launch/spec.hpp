// What a launch needs to know besides the kernel's text, as a value that can be stored in HLO, on disk, in another process.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/brief.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx::ir {
class Module;
struct Function;
}  // namespace ptx::ir

namespace ptx::launch {

/// x, y, z.
using Dims = LaunchDims;
using ptx::to_string;

/// How many threads, in what arrangement, with how much shared memory.
struct Geometry {
  Dims grid{1, 1, 1};                    ///< blocks
  Dims block{1, 1, 1};                   ///< threads
  Dims cluster{1, 1, 1};                 ///< blocks
  std::uint32_t dynamic_smem_bytes = 0;  ///< of each block
  LaunchAttributes attributes{};
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

/// A scalar argument as a caller has it.
struct Scalar : std::variant<std::int64_t, double> {
  Scalar() = default;
  template <std::integral T>
  Scalar(T number) : variant(static_cast<std::int64_t>(number)) {}  // NOLINT(google-explicit-constructor): numbers are scalars
  template <std::floating_point T>
  Scalar(T number) : variant(static_cast<double>(number)) {}  // NOLINT(google-explicit-constructor)
};
/// The scalar as the low bytes of a parameter of `type`: integers are masked to its width, floats rounded to nearest even. Kind
/// launch_config when the type has no scalar form or is a float's for an integer parameter.
Expected<std::uint64_t> pack_scalar(Type type, const Scalar& value);
/// Values of an entry's scalar parameters, the bits of each in its order; where there is none, the spec's stays. Empty: all of
/// the spec's.
using ScalarValues = std::span<const std::optional<std::uint64_t>>;

/// One parameter of the entry.
struct Param {
  enum class Kind : std::uint8_t {
    pointer = 0,           ///< the address of tensor `arg`
    scalar = 1,            ///< the low `size_bytes` bytes of `bits`
    tensor_map = 2,        ///< the address of a TMA descriptor of tensor `arg`; `bits` is its number among the descriptors
    tensor_map_value = 3,  ///< the descriptor itself, 128 bytes; else the same
  };
  [[nodiscard]] bool is_descriptor() const { return kind == Kind::tensor_map || kind == Kind::tensor_map_value; }
  Kind kind = Kind::pointer;
  std::uint32_t arg = 0;  ///< counts the inputs, then the outputs
  std::uint32_t size_bytes = 8;
  std::uint32_t align_bytes = 8;
  std::uint64_t bits = 0;
  friend bool operator==(const Param&, const Param&) = default;
};

/// A TMA descriptor that a launch passes: of tensor `arg`, which counts the inputs, then the outputs.
struct Descriptor {
  std::uint32_t arg = 0;
  layout::TensorMap map;
};
/// The most descriptors that a launch passes as values: what 4 KB of parameters hold.
inline constexpr std::size_t max_descriptor_values = 31;
/// How many of the entry's last parameters describe tensors before them (`ir::Param::describes`).
std::size_t descriptor_count(const ir::Function& entry);

/// The most parameters an entry may have here: 4 KB of pointers, the limit of the older PTX ISA.
inline constexpr std::size_t max_params = 512;

/// Version of `serialise`'s layout, and of the attributes that carry it.
inline constexpr std::int32_t abi_version = 2;

/// An output that is written where an input lies: the kernel changes that input.
struct Alias {
  std::uint32_t input = 0, output = 0;  ///< each counted from 0
  friend bool operator==(const Alias&, const Alias&) = default;
};

/// A launch, whole but for the tensors.
struct LaunchSpec {
  std::string entry;
  Geometry geometry;
  std::uint32_t inputs = 0;                    ///< tensors that the kernel reads only
  std::uint32_t outputs = 0;                   ///< tensors that it writes
  std::vector<Param> params;                   ///< in the entry's order
  std::vector<layout::TensorMap> tensor_maps;  ///< of the parameters that are descriptors, in their order
  std::vector<Alias> aliases;                  ///< by output; no input and no output twice
  std::vector<std::uint32_t> inputs_apart;     ///< inputs that no output may be; ascending

  /// The spec of an entry whose parameters are `inputs` + `outputs` pointers, then `scalars`, then descriptors (api: inputs,
  /// outputs, raw parameters, those that describe tensors). The descriptors are those of `maps`, by tensor, or else made from the
  /// tensors' `tiles`, inputs first, and the sizes of their dimensions. Kinds: param_layout (other parameters than these, no tile
  /// for a descriptor), launch_config, bad_tile and dim_unbound (of tile::tensor_map).
  static Expected<LaunchSpec> make(const ir::Module& module, const ir::Function& entry, const Geometry& geometry,
                                   std::uint32_t inputs, std::uint32_t outputs, std::span<const Scalar> scalars = {},
                                   std::span<const Tile> tiles = {}, const tile::Env& sizes = {},
                                   std::span<const Descriptor> maps = {});
  /// The same spec with outputs written where inputs lie. Kind launch_config for an alias of tensors that are not there, or twice
  /// of one.
  [[nodiscard]] Expected<LaunchSpec> with_aliases(std::vector<Alias> aliases) const;
  /// The same spec of a kernel that reads these inputs again when parts of its outputs are written, so that no output may be one
  /// of them. Kind launch_config for one that is not there, or that an output is written in.
  [[nodiscard]] Expected<LaunchSpec> with_inputs_apart(std::vector<std::uint32_t> inputs) const;
  /// The same for a text: every parameter is what the caller says.
  static Expected<LaunchSpec> make(std::string entry, const Geometry& geometry, std::uint32_t inputs, std::uint32_t outputs,
                                   std::vector<Param> scalars = {}, const std::vector<Descriptor>& descriptors = {});

  /// Where each parameter lies in the parameter block: PTX's natural alignment, in order.
  [[nodiscard]] std::vector<std::size_t> offsets() const;
  /// Kinds launch_config, param_layout, bad_tile: what no GPU could launch.
  [[nodiscard]] Expected<void> validate() const;

  /// Little-endian bytes, the same on every machine; equal specs give equal bytes.
  [[nodiscard]] std::string serialise() const;
  /// The reverse; kind bad_image for bytes that `serialise` of this version does not write.
  static Expected<LaunchSpec> parse(std::string_view bytes);

  friend bool operator==(const LaunchSpec&, const LaunchSpec&) = default;
};

}  // namespace ptx::launch
