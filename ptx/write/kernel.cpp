#include "ptx/write/kernel.hpp"

#include <algorithm>
#include <array>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/boundary.hpp"
#include "ptx/write/idiom/wgmma.hpp"
#include "ptx/write/module.hpp"
#include "ptx/write/module_state.hpp"
#include "ptx/write/operators.hpp"

namespace ptx {

void write::preset(Builder& builder, std::span<const Reg> regs, const Source& value) {
  for (const Reg reg : regs)
    if (auto moved = move_into(builder, reg, value.value, value.at); !moved) return builder.fail(std::move(moved).error());
}

namespace {

Diagnostic diagnose(Kind kind, std::string message, SourceLocation at) {
  Diagnostic d;
  d.kind = kind;
  d.message = std::move(message);
  d.where = at;
  return d;
}

}  // namespace

namespace {

Owned<write::Held> held_by(KernelSpec& spec, const Module* of) {
  const std::shared_ptr<write::ModuleState> module = of == nullptr ? nullptr : of->state();
  write::KernelHeader header{
      spec.name,        spec.arch, spec.version, std::move(spec.raw_directives), spec.smem > write::max_static_shared,
      spec.tma_by_value};
  if (module != nullptr) {
    header.target = module->parts.target();
    header.version = module->parts.version();
    header.module_names = module->parts.names();
  }
  return Owned<write::Held>::make(write::Held{std::make_shared<write::Builder>(std::move(header)), module});
}

}  // namespace

Body::Body(Owned<write::Held> held) : held_(std::move(held)), builder_(held_->builder.get()) {}

Kernel::Kernel(KernelSpec spec, SourceLocation at) : Kernel(std::move(spec), nullptr, at) {}
Kernel::Kernel(Module& module, KernelSpec spec, SourceLocation at) : Kernel(std::move(spec), &module, at) {}

Kernel::Kernel(KernelSpec&& spec, Module* module, SourceLocation at)
    : Body(held_by(spec, module)), boundary_(Owned<Boundary>::make()) {
  builder_->set_owner(held_->module.get());
  boundary_->name = std::move(spec.name);
  boundary_->where = at;
  boundary_->smem = spec.smem;
  boundary_->attributes = attributes_of(spec);
  for (const TensorSpec& tensor : spec.in_specs) declare(tensor, spec.tensor_maps, boundary_->in_tiles, at);
  for (const TensorSpec& tensor : spec.out_specs) declare(tensor, spec.tensor_maps, boundary_->out_tiles, at);
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
  launch(spec, at);
}

void Kernel::launch(KernelSpec& spec, SourceLocation at) {
  std::vector<std::string> dims;
  for (const std::vector<Tile>* tiles : {&boundary_->in_tiles, &boundary_->out_tiles})
    for (const Tile& tile : *tiles)
      for (std::string& name : tile.symbolic_dims()) dims.push_back(std::move(name));
  const auto extent = [&](Extent& given, std::string_view what, Extent& kept) {
    const std::string called = cat(what, " of `", boundary_->name, '`');
    for (const Size& size : given.sizes()) {
      for (const std::string& name : size.dims()) {
        if (std::find(dims.begin(), dims.end(), name) != dims.end()) continue;
        Diagnostic d = diagnose(Kind::dim_unbound, cat("the ", called, " is of dimension `", name, "`, which no tensor has"), at);
        if (const std::string near = nearest(name, dims); !near.empty()) d.hint(cat("did you mean `", near, "`?"));
        return builder_->fail(std::move(d));
      }
    }
    if (!given.is_open()) {
      if (auto numbers = given.resolve({}, called); !numbers) {
        Diagnostic d = std::move(numbers).error();
        d.where = at;
        return builder_->fail(std::move(d));
      }
    }
    kept = std::move(given);
  };
  extent(spec.grid, "grid", boundary_->grid);
  // What has tensors is launched, with one thread where nothing is said; a text that others launch may have any block.
  const bool says_block = spec.block.is_given() || !boundary_->in_tiles.empty() || !boundary_->out_tiles.empty();
  extent(spec.block, "block", boundary_->block);
  if (const auto block = boundary_->block.resolve({}, "block"); says_block && block)
    builder_->set_block_threads(std::uint64_t{(*block)[0]} * (*block)[1] * (*block)[2]);
  extent(spec.cluster, "cluster", boundary_->cluster);
  for (const TensorMapSpec& map : spec.tensor_maps) {
    const std::vector<std::string>& tensors = boundary_->tensor_names;
    if (std::find(tensors.begin(), tensors.end(), map.tensor) == tensors.end())
      builder_->fail(
          diagnose(Kind::bad_declaration,
                   cat("`tensor_maps` names `", map.tensor, "`, which is not a tensor of kernel `", boundary_->name, '`'), at));
  }
  for (const AliasSpec& alias : spec.input_output_aliases) {
    if (alias.input >= boundary_->in_tiles.size() || alias.output >= boundary_->out_tiles.size())
      builder_->fail(diagnose(
          Kind::bad_declaration,
          cat("`input_output_aliases` has output ", alias.output, " at input ", alias.input, "; kernel `", boundary_->name,
              "` has ", boundary_->in_tiles.size(), " inputs and ", boundary_->out_tiles.size(), " outputs"),
          at));
  }
  for (const TensorMapSpec& map : spec.tensor_maps)
    if (!map.of_sizes) builder_->set_box_bytes(map.tensor, map.map.shared_box_bytes());
  boundary_->tensor_maps = std::move(spec.tensor_maps);
  for (const std::uint32_t input : spec.inputs_apart) {
    if (input >= boundary_->in_tiles.size())
      builder_->fail(diagnose(Kind::bad_declaration,
                              cat("`inputs_apart` has input ", input, "; kernel `", boundary_->name, "` has ",
                                  boundary_->in_tiles.size(), ", counted from 0"),
                              at));
  }
  boundary_->aliases = std::move(spec.input_output_aliases);
  boundary_->inputs_apart = std::move(spec.inputs_apart);
}

void Kernel::declare(const TensorSpec& spec, std::span<const TensorMapSpec> maps, std::vector<Tile>& tiles, SourceLocation at) {
  const auto box = spec.tma_box.empty() ? std::nullopt : std::optional(spec.tma_box);
  Expected<Tile> made = Tile::make(spec.shape, spec.dtype, spec.layout, box, spec.tma_rank, spec.tma_padding);
  if (!made) {
    Diagnostic d = std::move(made).error();
    d.where = at;
    return builder_->fail(std::move(d).note(cat("tensor: `", spec.name, '`')));
  }
  const bool has_own_map =
      std::any_of(maps.begin(), maps.end(), [&](const TensorMapSpec& map) { return map.tensor == spec.name; });
  if (const auto bytes = tile::shared_box_bytes(*made, {}); bytes && !has_own_map) builder_->set_box_bytes(spec.name, *bytes);
  tiles.push_back(std::move(*made));
  boundary_->tensor_names.push_back(spec.name);
  ir::Param pointer;
  pointer.type = Type::u64;
  keep(builder_->param(pointer, spec.name, at));
}

Expected<write::Reg> Kernel::descriptor_of(const write::Name& tensor) {
  const std::vector<std::string>& tensors = boundary_->tensor_names;
  // a text that others launch names its tensors by their descriptors alone
  if (tensors.empty() || std::find(tensors.begin(), tensors.end(), tensor.text) != tensors.end())
    return builder_->tma_desc(tensor.text, tensor.at);
  Diagnostic d = diagnose(
      Kind::undefined_symbol,
      cat("kernel `", boundary_->name, "` has no tensor `", tensor.text, "`, whose TMA descriptor is asked for"), tensor.at);
  d.hint(cat("its tensors are ", list_choices(tensors, 8)));
  return Unexpected{std::move(d)};
}

write::RegArray Body::registers(Type type, std::int64_t count, std::string_view name, SourceLocation at) {
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

write::RegArray Body::fragment(Type type, std::int64_t m, std::int64_t n, std::string_view name, SourceLocation at) {
  const Expected<std::int64_t> count = write::idiom::wgmma_fragment_registers(m, n, at);
  if (!count) builder_->fail(count.error());
  return registers(type, count ? *count : 1, name, at);
}

Addr<Type::none> Body::shared(const write::Name& name, Type type, std::uint64_t elements, std::uint32_t align) {
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

write::Reg Body::one_result(const write::CallOf& function, const std::vector<write::Reg>& results, Type type) {
  if (results.size() == 1 && isa::fits(results[0].type, type)) return {results[0].id, type};
  const std::vector<Type>& returns = function.function.callee().returns;
  builder_->fail(diagnose(
      Kind::call_mismatch,
      cat('`', function.function.callee().name, "` returns ",
          returns.empty() ? std::string("nothing") : cat('.', isa::name(returns[0]), returns.size() > 1 ? " and more" : ""),
          ", and this call takes .", isa::name(type)),
      function.at));
  return write::keep_error(*builder_, builder_->reg(type), type);
}

void Body::if_else(const std::vector<Case>& cases, const Function<void()>& otherwise, SourceLocation at) {
  bool first = true;
  for (const Case& one : cases) {
    Expected<write::If> open = write::If{};
    if (first) {
      open = write::begin_if(*builder_, write::Value::of(one.condition().untyped()), at);
    } else {
      open = write::begin_elif(*builder_, at);
      if (open) keep(write::test_elif(*builder_, *open, write::Value::of(one.condition().untyped()), at));
    }
    if (!open) return builder_->fail(std::move(open).error());
    run("if_else", one.then, at);
    keep(write::end_if(*builder_, *open, at));
    first = false;
  }
  if (!otherwise) return;
  if (first) return otherwise();
  branch_else(otherwise, at);
}

Expected<ir::Module> Kernel::module() {
  Expected<ir::Module> own = finish();
  if (!own || held_->module == nullptr) return own;
  const std::array<const ir::Module*, 1> kernels{&*own};
  return held_->module->link(kernels);
}

Expected<ir::Module> Kernel::finish() {
  if (builder_->has_dynamic_shared())
    boundary_->smem = std::max(boundary_->smem, static_cast<std::uint32_t>(builder_->shared_bytes()));
  boundary_->tma_tensors.assign(builder_->tma_tensors().begin(), builder_->tma_tensors().end());
  return builder_->finish();
}

}  // namespace ptx
