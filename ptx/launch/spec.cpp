#include "ptx/launch/spec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "ptx/cuda/cuda.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/attribute_record.hpp"

namespace ptx::launch {
namespace {

using cuda::ByteReader;
using cuda::put32;
using cuda::put64;

constexpr std::span<const LaunchAttribute> all_attributes = launch_attributes;
constexpr auto front_attributes = all_attributes.first(attributes_in_geometry);
constexpr auto later_attributes = all_attributes.subspan(attributes_in_geometry);

constexpr std::string_view magic = "ptxL";
constexpr std::uint32_t max_entry_bytes = 4096;
constexpr std::uint32_t no_output = ~std::uint32_t{0};  // of an input that no output may be

/// A non-negative finite value's IEEE pattern, rounded to nearest even; the sign is the caller's.
std::uint64_t float_bits(double value, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint64_t sign = std::uint64_t{std::signbit(value)} << (exponent_bits + mantissa_bits);
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  if (std::isnan(value)) return sign | infinity | std::uint64_t{1} << (mantissa_bits - 1);
  value = std::fabs(value);
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), 1 - bias);
  // The significand as an integer. Added, not or-ed: rounding up to the next power of two carries into the exponent, and a
  // subnormal has no leading bit to take off.
  const auto significand = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(value, mantissa_bits - exponent)));
  const std::uint64_t bits = (static_cast<std::uint64_t>(exponent + bias - 1) << mantissa_bits) + significand;
  return sign | std::min(bits, infinity);
}

void put(std::string& out, const Dims& dims) {
  for (const std::uint32_t n : dims) put32(out, n);
}

Dims get_dims(ByteReader& in) {
  Dims dims{};
  for (std::uint32_t& n : dims) n = in.get32();
  return dims;
}

void put(std::string& out, const layout::TensorMap& map) {
  put32(out, static_cast<std::uint32_t>(map.type));
  put32(out, map.rank);
  put32(out, static_cast<std::uint32_t>(map.swizzle));
  put32(out, static_cast<std::uint32_t>(map.l2_promotion));
  for (const std::uint64_t size : map.sizes) put64(out, size);
  for (const std::uint64_t stride : map.strides) put64(out, stride);
  for (const std::uint32_t size : map.box) put32(out, size);
  put32(out, static_cast<std::uint32_t>(map.interleave));
  put32(out, static_cast<std::uint32_t>(map.fill));
  for (const std::uint32_t stride : map.element_strides) put32(out, stride);
  put32(out, map.im2col ? 1 : 0);
  if (!map.im2col) return;
  for (const std::int32_t corner : map.im2col->lower_corner) put32(out, static_cast<std::uint32_t>(corner));
  for (const std::int32_t corner : map.im2col->upper_corner) put32(out, static_cast<std::uint32_t>(corner));
  put32(out, map.im2col->channels_per_pixel);
  put32(out, map.im2col->pixels_per_column);
}

layout::TensorMap get_tensor_map(ByteReader& in) {
  const auto number = [&](std::uint32_t most) {
    const std::uint32_t value = in.get32();
    if (value > most) in.ok = false;
    return value <= most ? value : 0;
  };
  layout::TensorMap map;
  map.type = static_cast<layout::TensorMapType>(number(static_cast<std::uint32_t>(layout::TensorMapType::b6x16_p32)));
  map.rank = static_cast<std::uint8_t>(number(layout::TensorMap::max_rank));
  map.swizzle = static_cast<layout::Swizzle>(number(static_cast<std::uint32_t>(layout::Swizzle::b128_atom64)));
  map.l2_promotion = static_cast<layout::L2Promotion>(number(static_cast<std::uint32_t>(layout::L2Promotion::b256)));
  for (std::uint64_t& size : map.sizes) size = in.get64();
  for (std::uint64_t& stride : map.strides) stride = in.get64();
  for (std::uint32_t& size : map.box) size = in.get32();
  map.interleave = static_cast<layout::Interleave>(number(static_cast<std::uint32_t>(layout::Interleave::b32)));
  map.fill = static_cast<layout::TensorMapFill>(number(static_cast<std::uint32_t>(layout::TensorMapFill::nan)));
  for (std::uint32_t& stride : map.element_strides) stride = in.get32();
  if (number(1) == 0) return map;
  layout::Im2col& im2col = map.im2col.emplace();
  for (std::int32_t& corner : im2col.lower_corner) corner = static_cast<std::int32_t>(in.get32());
  for (std::int32_t& corner : im2col.upper_corner) corner = static_cast<std::int32_t>(in.get32());
  im2col.channels_per_pixel = in.get32();
  im2col.pixels_per_column = in.get32();
  return map;
}

Param descriptor_param(std::uint32_t arg, std::size_t number) {
  return {.kind = Param::Kind::tensor_map, .arg = arg, .size_bytes = 8, .align_bytes = 8, .bits = number};
}

/// Which of the entry's first `tensors` parameters the parameter is the descriptor of.
std::optional<std::uint32_t> described_tensor(const ir::Function& entry, std::size_t tensors, const ir::Param& param) {
  for (std::size_t i = 0; param.describes.valid() && i < tensors; ++i)
    if (entry.params[i].name == param.describes) return static_cast<std::uint32_t>(i);
  return std::nullopt;
}

/// Why a descriptor reaches beyond its tensor; nothing when it does not, or when the tensor's size is not known.
std::optional<std::string> beyond(const layout::TensorMap& map, const Tile& tile, const tile::Env& sizes) {
  const auto shape = tile.resolve(sizes);
  if (!shape || map.rank == 0) return std::nullopt;
  auto has = static_cast<std::uint64_t>(tile::element_bytes(tile.dtype()));
  for (const std::int64_t size : *shape) has *= static_cast<std::uint64_t>(size);
  std::uint64_t covers = map.interleave == layout::Interleave::none ? layout::bytes_of(map.type, map.sizes[0])
                                                                    : map.sizes[0] * layout::slice_bytes(map.interleave);
  for (std::size_t dim = 1; dim < map.rank; ++dim) {
    if (map.sizes[dim] == 0) return std::nullopt;
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(map.sizes[dim] - 1, map.strides[dim - 1], &reach) ||
        __builtin_add_overflow(covers, reach, &covers))
      covers = ~std::uint64_t{0};
  }
  if (covers <= has) return std::nullopt;
  return cat("it covers ", covers, " bytes, and the tensor has ", has);
}

std::vector<Param> pointers(std::uint32_t count) {
  std::vector<Param> params(count);
  for (std::uint32_t i = 0; i < count; ++i) params[i].arg = i;
  return params;
}

}  // namespace

namespace {
std::string shortest(double number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}
}  // namespace

Expected<std::uint64_t> pack_scalar(Type type, const Scalar& value) {
  const int bits = isa::bits(type);
  if (isa::is_float(type) && type != Type::tf32) {
    const double number =
        std::holds_alternative<double>(value) ? std::get<double>(value) : static_cast<double>(std::get<std::int64_t>(value));
    if (type == Type::f64) return std::bit_cast<std::uint64_t>(number);
    const int exponent = type == Type::f32 || type == Type::bf16 ? 8 : 5;
    const int mantissa = type == Type::f32 ? 23 : type == Type::bf16 ? 7 : 10;
    const std::uint64_t made = float_bits(number, exponent, mantissa), infinity = ((std::uint64_t{1} << exponent) - 1)
                                                                                  << mantissa;
    if (std::isfinite(number) && (made & ~(std::uint64_t{1} << (exponent + mantissa))) == infinity)
      return refuse(Kind::immediate_range, cat(shortest(number), " is too large for a `.", isa::name(type),
                                               "`; what fits is a number that rounds to a finite one, or infinity itself"));
    return made;
  }
  const bool takes_integer = isa::is_integer(type) || isa::kind(type) == isa::TypeKind::bits || type == Type::pred;
  if (!takes_integer || bits > 64)
    return refuse(Kind::launch_config, cat("a `.", isa::name(type), "` parameter cannot take a scalar"));
  if (const double* number = std::get_if<double>(&value)) {
    return refuse(Kind::launch_config,
                  cat("a `.", isa::name(type), "` parameter takes an integer; the value is a float, ", std::to_string(*number)));
  }
  const std::int64_t integer = std::get<std::int64_t>(value);
  const auto pattern = static_cast<std::uint64_t>(integer);
  if (type == Type::pred) return std::uint64_t{pattern != 0};
  // negative numbers stand for their bits in unsigned types, large ones not for those of negative ones in signed types
  if (const bool is_signed = isa::kind(type) == isa::TypeKind::sint; bits < 64) {
    const std::int64_t least = -(std::int64_t{1} << (bits - 1)), most = (std::int64_t{1} << (bits - is_signed)) - 1;
    if (integer < least || integer > most)
      return refuse(Kind::immediate_range, cat(integer, " does not fit in a `.", isa::name(type), "`; what fits is ",
                                               is_signed ? least : std::int64_t{0}, " to ", most));
  }
  return bits == 64 ? pattern : pattern & ((std::uint64_t{1} << bits) - 1);
}

std::size_t descriptor_count(const ir::Function& entry) {
  std::size_t count = 0;
  for (std::size_t i = entry.params.size(); i-- > 0 && described_tensor(entry, i, entry.params[i]);) ++count;
  return count;
}

Expected<LaunchSpec> LaunchSpec::make(const ir::Module& module, const ir::Function& entry, const Geometry& geometry,
                                      std::uint32_t inputs, std::uint32_t outputs, std::span<const Scalar> scalars,
                                      std::span<const Tile> tiles, const tile::Env& sizes, std::span<const Descriptor> maps) {
  const std::size_t tensors = std::size_t{inputs} + outputs;
  const std::size_t first_descriptor = tensors + scalars.size();
  const std::string_view name = module.str(entry.name);
  bool whole = entry.params.size() >= first_descriptor;
  for (std::size_t i = first_descriptor; whole && i < entry.params.size(); ++i)
    whole = described_tensor(entry, tensors, entry.params[i]).has_value();
  if (!whole) {
    return refuse(Kind::param_layout, cat("kernel `", name, "` takes ", entry.params.size(), " parameters; the launch has ",
                                          inputs, " inputs, ", outputs, " outputs and ", scalars.size(), " scalars"));
  }
  LaunchSpec spec{.entry = std::string(name),
                  .geometry = geometry,
                  .inputs = inputs,
                  .outputs = outputs,
                  .params = pointers(inputs + outputs)};
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    const ir::Param& param = entry.params[i];
    const std::string_view param_name = module.str(param.name);
    if (i < tensors) {
      if (param.bytes() != 8) {
        return refuse(Kind::param_layout, cat("parameter `", param_name, "` of kernel `", name, "` is ", param.bytes(),
                                              " bytes; a tensor's address is 8"));
      }
      continue;
    }
    if (i >= first_descriptor) {
      const std::uint32_t arg = *described_tensor(entry, tensors, param);
      const auto given = std::find_if(maps.begin(), maps.end(), [&](const Descriptor& each) { return each.arg == arg; });
      if (given == maps.end() && arg >= tiles.size()) {
        return refuse(Kind::param_layout, cat("parameter `", param_name, "` of kernel `", name,
                                              "` is a TMA descriptor; the launch has no Tile to make it from"));
      }
      auto map = given != maps.end() ? Expected(given->map) : tile::tensor_map(tiles[arg], sizes);
      if (given != maps.end() && arg < tiles.size()) {
        if (auto why = beyond(given->map, tiles[arg], sizes))
          map = Unexpected{{.kind = Kind::bad_tile, .message = std::move(*why)}};
      }
      if (!map) {
        Diagnostic error = std::move(map).error();
        error.message = cat("the TMA descriptor of tensor `", module.str(entry.params[arg].name), "` of kernel `", name,
                            "`: ", error.message);
        return Unexpected{std::move(error)};
      }
      Param& passed = spec.params.emplace_back(descriptor_param(arg, spec.tensor_maps.size()));
      if (param.elements) {
        passed.kind = Param::Kind::tensor_map_value;
        passed.size_bytes = ir::descriptor_bytes;
        passed.align_bytes = param.alignment();
      }
      spec.tensor_maps.push_back(*map);
      continue;
    }
    if (param.elements) {
      return refuse(Kind::param_layout, cat("parameter `", param_name, "` of kernel `", name, "` is an array, not a scalar"));
    }
    auto packed = pack_scalar(param.type, scalars[i - tensors]);
    if (!packed) {
      Diagnostic error = std::move(packed).error();
      error.message = cat("parameter `", param_name, "` of kernel `", name, "`: ", error.message);
      return Unexpected{std::move(error)};
    }
    spec.params.push_back({.kind = Param::Kind::scalar,
                           .size_bytes = static_cast<std::uint32_t>(param.bytes()),
                           .align_bytes = param.alignment(),
                           .bits = *packed});
  }
  if (auto valid = spec.validate(); !valid) return Unexpected{std::move(valid).error()};
  return spec;
}

Expected<LaunchSpec> LaunchSpec::make(std::string entry, const Geometry& geometry, std::uint32_t inputs, std::uint32_t outputs,
                                      std::vector<Param> scalars, const std::vector<Descriptor>& descriptors) {
  if (std::size_t{inputs} + outputs > max_params) {
    return refuse(Kind::launch_config, cat(std::size_t{inputs} + outputs, " tensors; at most ", max_params, " fit"));
  }
  LaunchSpec spec{.entry = std::move(entry),
                  .geometry = geometry,
                  .inputs = inputs,
                  .outputs = outputs,
                  .params = pointers(inputs + outputs)};
  spec.params.insert(spec.params.end(), scalars.begin(), scalars.end());
  for (const Descriptor& descriptor : descriptors) {
    spec.params.push_back(descriptor_param(descriptor.arg, spec.tensor_maps.size()));
    spec.tensor_maps.push_back(descriptor.map);
  }
  if (auto valid = spec.validate(); !valid) return Unexpected{std::move(valid).error()};
  return spec;
}

Expected<LaunchSpec> LaunchSpec::with_aliases(std::vector<Alias> wanted) const {
  LaunchSpec spec = *this;
  std::sort(wanted.begin(), wanted.end(), [](const Alias& a, const Alias& b) { return a.output < b.output; });
  spec.aliases = std::move(wanted);
  if (auto valid = spec.validate(); !valid) return Unexpected{std::move(valid).error()};
  return spec;
}

Expected<LaunchSpec> LaunchSpec::with_inputs_apart(std::vector<std::uint32_t> wanted) const {
  LaunchSpec spec = *this;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  spec.inputs_apart = std::move(wanted);
  if (auto valid = spec.validate(); !valid) return Unexpected{std::move(valid).error()};
  return spec;
}

std::vector<std::size_t> LaunchSpec::offsets() const {
  std::vector<std::size_t> found;
  found.reserve(params.size());
  std::size_t end = 0;
  for (const Param& param : params) {
    end = (end + param.align_bytes - 1) / param.align_bytes * param.align_bytes;
    found.push_back(end);
    end += param.size_bytes;
  }
  return found;
}

Expected<void> LaunchSpec::validate() const {
  if (entry.empty()) return refuse(Kind::launch_config, "the launch names no kernel");
  if (entry.size() > max_entry_bytes)
    return refuse(Kind::launch_config, cat("the name of kernel `", entry.substr(0, 32), "…` has ", entry.size(),
                                           " letters; what can be launched has at most ", max_entry_bytes));
  if (auto ok = check_launch_geometry(geometry.grid, geometry.block, geometry.cluster); !ok)  // what no GPU has
    return refuse(Kind::launch_config, cat("kernel `", entry, "`: ", ok.error().message));
  if (std::uint64_t{inputs} + outputs > max_params) {
    return refuse(Kind::launch_config,
                  cat("kernel `", entry, "` has ", std::uint64_t{inputs} + outputs, " tensors; at most ", max_params, " fit"));
  }
  if (params.size() > max_params) {
    return refuse(Kind::launch_config,
                  cat("kernel `", entry, "` has ", params.size(), " parameters; at most ", max_params, " fit"));
  }
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    const Alias& alias = aliases[i];
    const auto same = [&](const Alias& other) { return other.input == alias.input || other.output == alias.output; };
    if (alias.input >= inputs || alias.output >= outputs || std::count_if(aliases.begin(), aliases.end(), same) != 1) {
      return refuse(Kind::launch_config,
                    cat("kernel `", entry, "` cannot write output ", alias.output, " where input ", alias.input, " lies: it has ",
                        inputs, " inputs and ", outputs, " outputs, and each goes with one other"));
    }
  }
  for (const std::uint32_t input : inputs_apart) {
    const auto changes = [&](const Alias& alias) { return alias.input == input; };
    if (input >= inputs || std::any_of(aliases.begin(), aliases.end(), changes)) {
      return refuse(Kind::launch_config, cat("kernel `", entry, "` cannot have all outputs apart from input ", input, ": it has ",
                                             inputs, " inputs, and those that it changes are no such"));
    }
  }
  std::size_t descriptors = 0, values = 0;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Param& param = params[i];
    const bool address = param.kind != Param::Kind::scalar;
    const bool value = param.kind == Param::Kind::tensor_map_value;
    values += value ? 1 : 0;
    const bool sized =
        value ? param.size_bytes == ir::descriptor_bytes && param.align_bytes >= ir::least_descriptor_alignment
              : std::has_single_bit(param.size_bytes) && param.size_bytes <= 8 && (!address || param.size_bytes == 8);
    const bool aligned = std::has_single_bit(param.align_bytes) && param.align_bytes <= 128;
    const bool named = !address || param.arg < std::uint64_t{inputs} + outputs;
    const bool numbered = !param.is_descriptor() || param.bits == descriptors++;
    if (!sized || !aligned || !named || !numbered) {
      return refuse(Kind::param_layout, cat("parameter ", i, " of kernel `", entry, "` is not one that a launch can pass"));
    }
  }
  if (values > max_descriptor_values) {
    return refuse(Kind::param_layout, cat("kernel `", entry, "` takes ", values, " TMA descriptors by value; at most ",
                                          max_descriptor_values, " fit into the parameters"));
  }
  if (descriptors != tensor_maps.size()) {
    return refuse(Kind::param_layout, cat("kernel `", entry, "` has ", descriptors, " parameters that are TMA descriptors and ",
                                          tensor_maps.size(), " descriptors"));
  }
  for (const layout::TensorMap& map : tensor_maps)
    if (auto ok = map.check(); !ok) return ok;
  return {};
}

// ptxL | version | grid, block, cluster: 3 words each | dynamic smem | the first two attributes | inputs | outputs |
// entry length, entry | alias count, per alias: input, output | parameter count | per parameter: kind, arg, size, align: a word
// each; bits: two words; of a descriptor also
//   element type, rank, swizzle, L2 promotion: a word each; 5 sizes and 4 strides of two words, 5 box sizes of one; interleave,
//   fill, 5 element strides, whether im2col; of im2col also 3 lower and 3 upper corners, channels, pixels.
// | further attributes, where one is set: count, per attribute its length and name
std::string LaunchSpec::serialise() const {
  std::string out(magic);
  put32(out, static_cast<std::uint32_t>(abi_version));
  put(out, geometry.grid);
  put(out, geometry.block);
  put(out, geometry.cluster);
  put32(out, geometry.dynamic_smem_bytes);
  for (const LaunchAttribute& row : front_attributes) put32(out, geometry.attributes.*row.value ? 1 : 0);
  put32(out, inputs);
  put32(out, outputs);
  put32(out, static_cast<std::uint32_t>(entry.size()));
  out += entry;
  put32(out, static_cast<std::uint32_t>(aliases.size() + inputs_apart.size()));
  for (const Alias& alias : aliases) {
    put32(out, alias.input);
    put32(out, alias.output);
  }
  for (const std::uint32_t input : inputs_apart) {
    put32(out, input);
    put32(out, no_output);
  }
  put32(out, static_cast<std::uint32_t>(params.size()));
  for (const Param& param : params) {
    put32(out, static_cast<std::uint32_t>(param.kind));
    put32(out, param.arg);
    put32(out, param.size_bytes);
    put32(out, param.align_bytes);
    put64(out, param.bits);
    if (param.is_descriptor()) put(out, tensor_maps[param.bits]);
  }
  put_attributes(out, geometry.attributes, later_attributes);
  return out;
}

Expected<LaunchSpec> LaunchSpec::parse(std::string_view bytes) {
  ByteReader in{.bytes = bytes};
  if (in.take(magic.size()) != magic) return refuse(Kind::bad_image, "these bytes are not a launch record");
  if (const std::uint32_t version = in.get32(); version != static_cast<std::uint32_t>(abi_version)) {
    return refuse(Kind::bad_image, cat("a launch record of ABI ", version, "; this process reads ABI ", abi_version,
                                       ": make it again with this version of pyptx"));
  }
  LaunchSpec spec;
  const auto flag = [&in] {
    const std::uint32_t value = in.get32();
    if (value > 1) in.ok = false;
    return value == 1;
  };
  spec.geometry = {.grid = get_dims(in), .block = get_dims(in), .cluster = get_dims(in), .dynamic_smem_bytes = in.get32()};
  for (const LaunchAttribute& row : front_attributes) spec.geometry.attributes.*row.value = flag();
  spec.inputs = in.get32();
  spec.outputs = in.get32();
  spec.entry = std::string(in.take(in.get32()));
  const std::uint32_t alias_count = in.get32();
  for (std::uint32_t i = 0; in.ok && i < alias_count && i <= max_params; ++i) {
    const std::uint32_t input = in.get32();
    if (const std::uint32_t output = in.get32(); output == no_output)
      spec.inputs_apart.push_back(input);
    else
      spec.aliases.push_back({.input = input, .output = output});
  }
  const std::uint32_t count = in.get32();
  for (std::uint32_t i = 0; in.ok && i < count && i <= max_params; ++i) {
    Param param;
    const std::uint32_t kind = in.get32();
    if (kind > static_cast<std::uint32_t>(Param::Kind::tensor_map_value)) in.ok = false;
    param.kind = static_cast<Param::Kind>(kind);
    param.arg = in.get32();
    param.size_bytes = in.get32();
    param.align_bytes = in.get32();
    param.bits = in.get64();
    if (param.is_descriptor()) spec.tensor_maps.push_back(get_tensor_map(in));
    spec.params.push_back(param);
  }
  if (auto known = get_attributes(in, spec.geometry.attributes, later_attributes); !known)
    return Unexpected{std::move(known).error()};
  if (!in.ok || !in.bytes.empty()) return refuse(Kind::bad_image, cat("a damaged launch record of ", bytes.size(), " bytes"));
  if (auto valid = spec.validate(); !valid) {
    return Unexpected{Diagnostic{.kind = Kind::bad_image, .message = cat("a damaged launch record: ", valid.error().message)}};
  }
  return spec;
}

}  // namespace ptx::launch
