#include "ptx/author/compile.hpp"

#include <algorithm>
#include <utility>

#include "ptx/author/raw.hpp"

namespace ptx {
namespace {

CompileOptions options_of(const Boundary& boundary, std::vector<launch::Scalar> scalars) {
  CompileOptions options{.grid = boundary.grid,
                         .block = boundary.block,
                         .cluster = boundary.cluster,
                         .dynamic_smem_bytes = boundary.smem,
                         .outputs = static_cast<std::uint32_t>(boundary.out_tiles.size()),
                         .scalars = std::move(scalars),
                         .tiles = boundary.in_tiles};
  set_attributes(options, boundary.attributes);
  options.tiles.insert(options.tiles.end(), boundary.out_tiles.begin(), boundary.out_tiles.end());
  for (const AliasSpec& alias : boundary.aliases) options.aliases.push_back({.input = alias.input, .output = alias.output});
  for (const TensorMapSpec& map : boundary.tensor_maps)
    options.tensor_maps.push_back({.tensor = map.tensor, .map = map.map, .of_sizes = map.of_sizes});
  return options;
}

}  // namespace

Expected<Compiled> compile(Kernel kernel, std::vector<launch::Scalar> scalars) {  // NOLINT(performance-unnecessary-value-param)
  auto module = kernel.module();
  if (!module) return Unexpected{std::move(module).error()};
  if (auto wrong = author::wrong_section(*module)) return Unexpected{std::move(*wrong)};
  return compile(std::move(*module), options_of(kernel.boundary(), std::move(scalars)));
}

Expected<Compiled> compile(const KernelSpec& spec, const KernelBody& body, std::vector<launch::Scalar> scalars, Where at) {
  Kernel kernel(spec, at);
  body(kernel);
  const write::Builder& builder = kernel.builder();
  if (builder.has_dynamic_shared() || builder.shared_bytes() <= write::most_static_shared)
    return compile(std::move(kernel), std::move(scalars));
  KernelSpec dynamic = spec;
  dynamic.smem = std::max(spec.smem, static_cast<std::uint32_t>(builder.shared_bytes()));
  Kernel again(std::move(dynamic), at);
  body(again);
  return compile(std::move(again), std::move(scalars));
}

}  // namespace ptx
