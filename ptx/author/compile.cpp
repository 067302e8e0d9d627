#include "ptx/author/compile.hpp"

#include <algorithm>
#include <utility>

#include "ptx/author/raw.hpp"
#include "ptx/ir/ir.hpp"

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
  options.inputs_apart = boundary.inputs_apart;
  for (const TensorMapSpec& map : boundary.tensor_maps)
    options.tensor_maps.push_back({.tensor = map.tensor, .map = map.map, .of_sizes = map.of_sizes});
  return options;
}

Diagnostic wrong(Kind kind, std::string_view message, const Boundary& boundary) {
  return {.kind = kind, .message = cat("kernel `", boundary.name, "` ", message), .where = boundary.where};
}

/// Says what the launch that a kernel declares lacks: a grid, or values of its raw parameters.
Expected<void> check_launch(const ir::Module& module, const Boundary& boundary, std::size_t values) {
  if (!boundary.grid.is_given()) {
    return Unexpected{wrong(Kind::launch_config, "has no grid", boundary)
                          .hint("`.grid = 1`, or of the sizes of its tensors' dimensions: `.grid = dim(\"N\") / 128`")};
  }
  const ir::Function* entry = module.find(boundary.name);
  if (entry == nullptr) return {};
  const std::size_t tensors = boundary.in_tiles.size() + boundary.out_tiles.size(),
                    others = tensors + boundary.tma_tensors.size();
  const std::vector<ir::Param>& params = entry->params;
  const std::size_t scalars = params.size() - std::min(params.size(), others);
  std::vector<std::string> dims;
  for (const std::vector<Tile>* tiles : {&boundary.in_tiles, &boundary.out_tiles})
    for (const Tile& tile : *tiles)
      for (std::string& name : tile.symbolic_dims()) dims.push_back(std::move(name));
  std::string names, sizes;
  std::size_t unnamed = 0;
  for (std::size_t i = 0; i < scalars; ++i) {
    const std::string_view name = module.str(params[tensors + i].name);
    const bool is_size = std::find(dims.begin(), dims.end(), name) != dims.end();
    names += cat(names.empty() ? "" : ", ", '`', name, '`');
    if (is_size) sizes += cat(sizes.empty() ? "" : ", ", '`', name, '`');
    unnamed += is_size ? 0 : 1;
  }
  if (values == scalars || values == unnamed) return {};
  Diagnostic d = wrong(Kind::argument_count,
                       cat("has ", scalars, " raw parameter", scalars == 1 ? "" : "s", scalars == 0 ? "" : ", ", names, "; ",
                           values, values == 1 ? " value is given" : " values are given"),
                       boundary);
  if (scalars != 0) {
    d.hint(cat("`compile` takes them behind the kernel, in this order",
               sizes.empty() ? std::string() : cat("; or without ", sizes, ", which the tensors say")));
  }
  return Unexpected{std::move(d)};
}

}  // namespace

Expected<Compiled> compile(Kernel kernel, std::vector<launch::Scalar> scalars) {  // NOLINT(performance-unnecessary-value-param)
  const SourceLocation declared = kernel.boundary().where;
  auto module = placed(kernel.module(), declared);
  if (!module) return Unexpected{std::move(module).error()};
  if (auto wrong = author::wrong_section(*module)) return Unexpected{std::move(*wrong)};
  if (auto whole = check_launch(*module, kernel.boundary(), scalars.size()); !whole) return Unexpected{std::move(whole).error()};
  return placed(compile(std::move(*module), options_of(kernel.boundary(), std::move(scalars))), declared);
}

Expected<Compiled> compile(const KernelSpec& spec, const KernelBody& body, std::vector<launch::Scalar> scalars,
                           SourceLocation at) {
  Kernel kernel(spec, at);
  body(kernel);
  const write::Builder& builder = kernel.builder();
  if (builder.has_dynamic_shared() || builder.shared_bytes() <= write::max_static_shared)
    return compile(std::move(kernel), std::move(scalars));
  KernelSpec dynamic = spec;
  dynamic.smem = std::max(spec.smem, static_cast<std::uint32_t>(builder.shared_bytes()));
  Kernel again(std::move(dynamic), at);
  body(again);
  return compile(std::move(again), std::move(scalars));
}

}  // namespace ptx
