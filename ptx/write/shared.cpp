#include "ptx/write/shared.hpp"

#include <algorithm>
#include <bit>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/place.hpp"
#include "ptx/write/state.hpp"

namespace ptx::write {

Expected<SharedRegion> Builder::allocate_shared(const SharedRequest& request, SourceLocation where) {
  State& s = *state_;
  const std::uint64_t element = static_cast<std::uint64_t>(isa::bits(request.type)) / 8;
  const std::uint64_t most = isa::max_shared_bytes(target());
  const std::string what = request.name.empty() ? std::string("an allocation") : cat("`", request.name, "`");
  if (request.elements == 0 || element == 0)
    return refuse(Kind::bad_declaration, cat(what, " of shared memory is empty"), where, "give it at least one element");
  if (!std::has_single_bit(request.align) || request.align > 1024)
    return refuse(Kind::bad_declaration,
                  cat(what, " of shared memory is aligned to ", request.align, " bytes; what fits is a power of two up to 1024"),
                  where);
  if (request.elements > most / element) {
    const std::string size = element == 1 ? cat(request.elements) : cat(request.elements, " elements of ", element);
    return refuse(Kind::shared_memory_size,
                  cat(what, " of ", size, " bytes is more than the ", most, " bytes of shared memory that a block has on ",
                      isa::name(target())),
                  where, "make the tile smaller, or use fewer stages");
  }
  const std::uint64_t bytes = request.elements * element;
  const std::uint64_t begin = (s.shared.bytes + request.align - 1) / request.align * request.align;
  if (begin + bytes > most)
    return refuse(Kind::shared_memory_size,
                  cat(what, " of ", bytes, " bytes of shared memory comes to ", begin + bytes,
                      " bytes with what is allocated already; a block has ", most, " on ", isa::name(target())),
                  where, "make the tiles smaller, or use fewer stages");

  SharedRegion region;
  region.bytes = bytes;
  region.dynamic = s.dynamic_shared;
  if (s.dynamic_shared) {
    if (auto declared = s.declare_dynamic_shared(); !declared) return Unexpected{std::move(declared).error()};
    s.shared.align = std::max(s.shared.align, request.align);  // an offset is aligned as far as the array's start is
    s.module.variables[s.shared.variable].align = s.shared.align;
    region.symbol = dynamic_symbol;
    region.byte_offset = static_cast<std::int64_t>(begin);
  } else {
    std::string name(request.name);
    auto& count = request.type == Type::b64 ? s.shared.mbarriers : s.shared.allocations;
    if (name.empty()) do
        name = cat(request.type == Type::b64 ? "mbar_" : "smem_", count++);
      while (s.names.taken(name));
    ir::Variable variable;
    variable.space = ir::StateSpace::shared;
    variable.type = request.type;
    variable.align = request.align;
    variable.elements = request.elements;
    const Expected<std::string_view> declared = this->variable(variable, name, where);
    if (!declared) return Unexpected{declared.error()};
    region.symbol = *declared;
  }
  s.shared.bytes = begin + bytes;
  return region;
}

std::uint64_t Builder::shared_bytes() const { return state_->shared.bytes; }
bool Builder::has_dynamic_shared() const { return state_->dynamic_shared; }

std::optional<Diagnostic> Builder::State::too_much_static_shared() const {
  if (dynamic_shared || shared.bytes <= max_static_shared) return std::nullopt;
  Diagnostic d;
  d.kind = Kind::shared_memory_size;
  d.message = cat("kernel `", module.str(module.functions.front().name), "` allocates ", shared.bytes,
                  " bytes of shared memory; more than ", max_static_shared, " have to be dynamic");
  return std::move(d).hint(cat("say so in the kernel's specification: `.smem = ", shared.bytes, '`'));
}

Expected<void> Builder::State::declare_dynamic_shared() {
  if (shared.declared) return {};
  if (names.taken(dynamic_symbol))
    return refuse(Kind::duplicate_symbol,
                  cat('`', dynamic_symbol, "` is declared already, and is the name of the dynamic shared memory"), {},
                  "give the other one another name");
  ir::Variable array;
  array.space = ir::StateSpace::shared;
  array.linkage = ir::Linkage::extern_;
  array.type = Type::b8;
  array.align = shared.align;
  array.unsized = true;
  array.name = module.intern(dynamic_symbol);
  names.add_global(dynamic_symbol);
  shared.declared = true;
  shared.variable = module.variables.size();
  module.variables.push_back(std::move(array));
  return {};
}

Expected<Place> shared_place(Builder& builder, const SharedRegion& region, std::int64_t offset, SourceLocation where) {
  const std::int64_t from_symbol = region.byte_offset + offset;
  const std::optional<std::int64_t> room = room_of(region, offset);
  if (!region.dynamic) return Place(Value::of_symbol(region.symbol), from_symbol, room);
  const Expected<Reg> reg = builder.reg(Type::u32, {}, where);
  if (!reg) return Unexpected{reg.error()};
  const Value address = Value::of(*reg);
  if (auto e = emit(builder, "mov.b32", {}, where, address, Value::of_symbol(region.symbol)); !e)
    return Unexpected{std::move(e).error()};
  if (from_symbol != 0)
    if (auto e = emit(builder, "add.s32", {}, where, address, address, Value::of_integer(from_symbol)); !e)
      return Unexpected{std::move(e).error()};
  return Place(address, 0, room);
}

std::optional<std::int64_t> room_of(const SharedRegion& region, std::int64_t offset) {
  if (region.bytes == 0) return std::nullopt;
  return static_cast<std::int64_t>(region.bytes) - offset;
}

Expected<void> fits_in(const Builder& builder, const Place& place, std::uint64_t bytes, std::string_view what,
                       SourceLocation where) {
  std::optional<std::int64_t> room = place.room();
  const bool is_symbol = place.base().kind == Value::Kind::symbol;
  const auto look_in = [&](const auto& variables) {
    for (const ir::Variable& variable : variables)
      if (!room && variable.space == ir::StateSpace::shared && !variable.unsized &&
          builder.module().str(variable.name) == place.base().text)
        room = static_cast<std::int64_t>(variable.bytes()) - place.offset();
  };
  if (!room && is_symbol) {
    look_in(builder.function().variables);
    look_in(builder.module().variables);
  }
  if (!room || (*room >= 0 && bytes <= static_cast<std::uint64_t>(*room))) return {};
  const std::string name = is_symbol ? cat('`', place.base().text, "`") : "an allocation of shared memory";
  const std::string there =
      *room > 0 ? cat("of which ", *room, *room == 1 ? " byte is" : " bytes are", " left there") : "at a place behind its end";
  return refuse(Kind::shared_memory_size, cat(what, ' ', name, ", ", there), where,
                "what lies behind it is another variable's: copy less, or make the allocation larger");
}

Expected<Reg> address_register(Builder& builder, const Place& place, SourceLocation where) {
  Value base = place.base();
  if (base.kind != Value::Kind::reg) {
    const Expected<Reg> moved = emit_fresh(builder, Type::u32, "mov.u32", {}, where, base);
    if (!moved) return moved;
    base = Value::of(*moved);
  }
  if (place.offset() == 0) return base.reg;
  return emit_fresh(builder, Type::u32, "add.u32", {}, where, base, Value::of_integer(place.offset()));
}

}  // namespace ptx::write
