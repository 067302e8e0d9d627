#include "ptx/write/kernel.hpp"

#include <algorithm>
#include <limits>

namespace ptx {
namespace {

Diagnostic diagnose(Kind kind, std::string message, Where at) {
  Diagnostic d;
  d.kind = kind;
  d.message = std::move(message);
  d.where = at;
  return d;
}

}  // namespace

Kernel::Kernel(KernelSpec spec, Where at)
    : builder_(
          std::make_unique<write::Builder>(write::KernelHeader{spec.name, spec.arch, spec.version, std::move(spec.raw_directives),
                                                               spec.smem > write::most_static_shared, spec.tma_by_value})) {
  boundary_.name = std::move(spec.name);
  boundary_.smem = spec.smem;
  boundary_.cooperative = spec.cooperative;
  boundary_.programmatic = spec.programmatic;
  for (const TensorSpec& tensor : spec.in_specs) declare(tensor, boundary_.in_tiles, at);
  for (const TensorSpec& tensor : spec.out_specs) declare(tensor, boundary_.out_tiles, at);
  for (const ScalarSpec& scalar : spec.raw_params) {
    ir::Param param;
    param.type = scalar.type;
    keep(builder_->param(param, scalar.name, at));
  }
  if (!spec.extern_smem.empty()) {
    ir::Variable array;
    array.space = ir::StateSpace::shared;
    array.linkage = ir::Linkage::extern_;
    array.align = 128;
    array.unsized = true;
    if (auto declared = builder_->module_variable(array, spec.extern_smem, at); !declared)
      builder_->fail(std::move(declared).error());
  }
  const auto extent = [&](const Extent& given, std::string_view what, std::array<std::uint32_t, 3>& sizes) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int64_t size = given.sizes()[i];
      if (size < 1 || size > std::numeric_limits<std::int32_t>::max())
        return builder_->fail(
            diagnose(Kind::launch_config, cat("the ", what, " of `", boundary_.name, "` has ", size, " in ", "xyz"[i]), at)
                .note("hint: a size is at least 1"));
      sizes[i] = static_cast<std::uint32_t>(size);
    }
  };
  extent(spec.grid, "grid", boundary_.grid);
  extent(spec.block, "block", boundary_.block);
  extent(spec.cluster, "cluster", boundary_.cluster);
}

void Kernel::declare(const TensorSpec& spec, std::vector<Tile>& tiles, Where at) {
  const auto box = spec.tma_box.empty() ? std::nullopt : std::optional(spec.tma_box);
  Expected<Tile> made = Tile::make(spec.shape, spec.dtype, spec.layout, box, spec.tma_rank, spec.tma_padding);
  if (!made) {
    Diagnostic d = std::move(made).error();
    d.where = at;
    return builder_->fail(std::move(d).note(cat("tensor: `", spec.name, '`')));
  }
  tiles.push_back(std::move(*made));
  boundary_.tensor_names.push_back(spec.name);
  ir::Param pointer;
  pointer.type = Type::u64;
  keep(builder_->param(pointer, spec.name, at));
}

write::RegArray Kernel::registers(Type type, std::int64_t count, std::string_view name, Where at) {
  constexpr std::int64_t most = 1 << 16;
  if (count >= 1 && count <= most) {
    Expected<write::RegArray> made = builder_->array(type, static_cast<std::uint32_t>(count), name, at);
    if (made) return *made;
    builder_->fail(std::move(made).error());
  } else {
    builder_->fail(diagnose(Kind::bad_declaration, cat("an array of ", count, " registers; what fits is 1 to ", most), at));
  }
  // something to go on with: as many registers as were asked for, so that indices are judged by the author's count
  const auto stand_in = static_cast<std::uint32_t>(count >= 1 && count <= most ? count : 1);
  const Expected<write::RegArray> other = builder_->array(Type::b32, stand_in);
  return {other->decl, other->first, other->count, type};
}

Addr<Type::none> Kernel::shared(const write::Name& name, Type type, std::uint64_t elements, std::uint32_t align) {
  ir::Variable variable;
  variable.space = ir::StateSpace::shared;
  variable.type = type;
  variable.elements = elements;
  variable.align = align;
  Expected<std::string_view> made = builder_->variable(variable, name.text, name.at);
  if (made) return addr(*made);
  builder_->fail(std::move(made).error());
  return addr(std::string_view("_failed"));
}

Expected<ir::Module> Kernel::module() {
  if (builder_->has_dynamic_shared())
    boundary_.smem = std::max(boundary_.smem, static_cast<std::uint32_t>(builder_->shared_bytes()));
  boundary_.tma_tensors.assign(builder_->tma_tensors().begin(), builder_->tma_tensors().end());
  return builder_->finish();
}

}  // namespace ptx
