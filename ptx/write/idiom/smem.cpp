#include "ptx/write/idiom/smem.hpp"

#include <bit>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write::idiom {
namespace {

bool is_index_register(const Value& value) {
  return value.kind == Value::Kind::reg && isa::bits(value.reg.type) == 32 &&
         (isa::is_integer(value.reg.type) || isa::kind(value.reg.type) == isa::TypeKind::bits);
}

// An index as it can stand in a sum: a number within the size, or a 32-bit register.
Expected<Value> index(Builder& builder, const Value& given, std::int64_t size, std::string_view what, SourceLocation where) {
  if (given.kind == Value::Kind::special && isa::bits(isa::specials()[given.special].type) == 32)
    return readable(builder, given, where);
  if (given.kind == Value::Kind::integer) {
    if (given.integer >= 0 && given.integer < size) return given;
    return refuse(Kind::bad_operator, cat("the ", what, " is ", given.integer, ", and the allocation has ", size, " of them"),
                  where);
  }
  if (is_index_register(given)) return given;
  return refuse(Kind::bad_operator,
                cat("the ", what, " of an element of shared memory is neither a number nor a 32-bit register"), where,
                "narrow a 64-bit register: `cvt.u32.u64`");
}

Expected<Place> element_place(Builder& builder, const Element& element, SourceLocation where) {
  const int bytes = isa::bits(element.type) / 8;
  if (bytes == 0)
    return refuse(Kind::bad_operator, cat("elements of type .", isa::name(element.type), " have no address of their own"), where,
                  "read the bytes that hold them: `smem.load(b8, …)`");
  const Expected<Value> row = index(builder, element.row, element.rows, "row", where);
  if (!row) return Unexpected{row.error()};
  const Expected<Value> column = index(builder, element.column, element.columns, "column", where);
  if (!column) return Unexpected{column.error()};

  Expected<Reg> at = Reg{};
  if (row->kind == Value::Kind::integer) {
    const Value start = Value::of_integer(row->integer * element.columns);
    if (column->kind == Value::Kind::integer)
      at = emit_fresh(builder, Type::u32, "mov.u32", {}, where, Value::of_integer(start.integer + column->integer));
    else if (start.integer == 0)
      at = emit_fresh(builder, Type::u32, "mov.u32", {}, where, *column);
    else
      at = emit_fresh(builder, Type::u32, "add.u32", {}, where, *column, start);
  } else {
    const Expected<Reg> start = emit_fresh(builder, Type::u32, "mul.lo.u32", {}, where, *row, Value::of_integer(element.columns));
    if (!start) return Unexpected{start.error()};
    at = emit_fresh(builder, Type::u32, "add.u32", {}, where, Value::of(*start), *column);
  }
  if (at && bytes > 1) {
    const int shift = std::countr_zero(static_cast<unsigned>(bytes));
    at = emit_fresh(builder, Type::u32, "shl.b32", {}, where, Value::of(*at), Value::of_integer(shift));
  }
  if (!at) return Unexpected{at.error()};
  Expected<Place> start = shared_place(builder, element.region, 0, where);
  if (!start) return start;
  if (start->base().kind != Value::Kind::reg) {
    const Expected<Reg> moved = emit_fresh(builder, Type::u32, "mov.b32", {}, where, start->base());
    if (!moved) return Unexpected{moved.error()};
    start = Place(Value::of(*moved), start->offset());
  }
  const Value address = start->base();
  if (auto e = emit(builder, "add.u32", {}, where, address, address, Value::of(*at)); !e) return Unexpected{std::move(e).error()};
  return start;
}

// The number of the row that all indices but the last name: a number, or a register.
Expected<Value> row_of(Builder& builder, std::span<const Value> indices, std::span<const std::int64_t> shape,
                       SourceLocation where) {
  Value row = Value::of_integer(0);
  for (std::size_t i = 0; i + 1 < indices.size(); ++i) {
    const Expected<Value> next = index(builder, indices[i], shape[i], "index", where);
    if (!next) return next;
    if (row.kind == Value::Kind::integer) {
      row.integer *= shape[i];
      if (next->kind == Value::Kind::integer) {
        row.integer += next->integer;
      } else if (row.integer == 0) {
        row = *next;
      } else {
        const Expected<Reg> sum = emit_fresh(builder, Type::u32, "add.u32", {}, where, *next, row);
        if (!sum) return Unexpected{sum.error()};
        row = Value::of(*sum);
      }
      continue;
    }
    const Expected<Reg> start = emit_fresh(builder, Type::u32, "mul.lo.u32", {}, where, row, Value::of_integer(shape[i]));
    if (!start) return Unexpected{start.error()};
    const Expected<Reg> sum = emit_fresh(builder, Type::u32, "add.u32", {}, where, Value::of(*start), *next);
    if (!sum) return Unexpected{sum.error()};
    row = Value::of(*sum);
  }
  return row;
}

}  // namespace

Expected<SharedRegion> allocate_elements(Builder& builder, Type type, std::span<const std::int64_t> shape, SharedRequest request,
                                         SourceLocation where) {
  constexpr std::int64_t max_bits = std::int64_t{1} << 40;  // more than any machine has
  std::int64_t bits = isa::bits(type);
  for (const std::int64_t size : shape) {
    if (size < 1)
      return refuse(Kind::bad_declaration,
                    cat("an allocation of shared memory has a dimension of ", size, "; what fits is 1 or more"), where);
    if (__builtin_mul_overflow(bits, size, &bits) || bits > max_bits) bits = max_bits;
  }
  request.type = Type::b8;
  request.elements = (static_cast<std::uint64_t>(bits) + 7) / 8;
  return builder.allocate_shared(request, where);
}

Expected<SharedRegion> allocate_mbarriers(Builder& builder, std::int64_t count, std::string_view name, SourceLocation where) {
  if (count < 1) return refuse(Kind::bad_declaration, cat(count, " mbarriers are asked for; what fits is 1 or more"), where);
  SharedRequest request;
  request.type = Type::b64;
  request.elements = static_cast<std::uint64_t>(count);
  request.align = static_cast<std::uint32_t>(mbarrier_bytes);
  request.name = name;
  return builder.allocate_shared(request, where);
}

Expected<layout::GmmaLayout> tile_layout(Type type, std::span<const std::int64_t> shape, layout::Major major,
                                         SourceLocation where) {
  if (shape.size() != 2)
    return refuse(Kind::bad_tile, cat("a tile of wgmma has two dimensions, a shape of ", shape.size(), " is given"), where,
                  "(M or N, K) when K is contiguous, (K, N) otherwise");
  const bool k_major = major == layout::Major::k;
  auto picked = layout::pick_gmma_layout(isa::bits(type) / 8, shape[k_major ? 0 : 1], shape[k_major ? 1 : 0], major);
  if (picked) return picked;
  Diagnostic d = std::move(picked).error();
  d.where = where;
  return Unexpected{std::move(d)};
}

std::string_view swizzle_name(const layout::GmmaLayout& layout) {
  return layout.layout_type == layout::LayoutType::interleave ? std::string_view() : layout::tma_swizzle_name(layout.layout_type);
}

std::int64_t stage_bytes(Type type, std::span<const std::int64_t> shape) {
  std::int64_t bits = isa::bits(type);
  for (std::size_t i = 1; i < shape.size(); ++i) bits *= shape[i];
  return bits / 8;
}

std::string memory_word(Type type) {
  const bool as_bits =
      isa::kind(type) == isa::TypeKind::packed || (isa::is_float(type) && type != Type::f32 && type != Type::f64);
  return as_bits ? cat('b', isa::bits(type)) : std::string(isa::name(type));
}

Expected<Reg> shared_base(Builder& builder, std::string_view name, SourceLocation where) {
  if (name.empty()) {
    name = "smem";
    for (const ir::Variable& variable : builder.module().variables)
      if (variable.linkage == ir::Linkage::extern_ && builder.module().str(variable.name) != dynamic_symbol)
        name = builder.module().str(variable.name);
  }
  return emit_fresh(builder, Type::u32, "mov.u32", {}, where, Value::of_symbol(name));
}

Expected<Reg> shared_load(Builder& builder, Type type, const Value& address, SourceLocation where) {
  return emit_fresh(builder, type, cat("ld.shared.", memory_word(type)), {}, where, address);
}

Expected<void> shared_store(Builder& builder, Type type, const Value& address, Reg value, SourceLocation where) {
  return emit(builder, cat("st.shared.", memory_word(type)), {}, where, address, Value::of(value));
}

Expected<Element> element_at(Builder& builder, const SharedRegion& region, Type type, std::span<const std::int64_t> shape,
                             std::span<const Value> indices, SourceLocation where) {
  if (indices.size() != shape.size())
    return refuse(Kind::bad_operator,
                  cat("an element of `", region.symbol, "` has an index for each of ", shape.size(), " dimensions; ",
                      indices.size(), " are given"),
                  where);
  Element element{region, type, 1, shape.back(), {}, indices.back()};
  for (const std::int64_t size : shape.first(shape.size() - 1)) element.rows *= size;
  const Expected<Value> row = row_of(builder, indices, shape, where);
  if (!row) return Unexpected{row.error()};
  element.row = *row;
  return element;
}

Expected<Reg> load_element(Builder& builder, const Element& element, SourceLocation where) {
  const Expected<Place> place = element_place(builder, element, where);
  if (!place) return Unexpected{place.error()};
  return shared_load(builder, element.type, place->address(), where);
}

Expected<void> store_element(Builder& builder, const Element& element, Reg value, SourceLocation where) {
  const Expected<Place> place = element_place(builder, element, where);
  if (!place) return Unexpected{place.error()};
  return shared_store(builder, element.type, place->address(), value, where);
}

Expected<layout::Swizzle> swizzle_named(std::string_view name, SourceLocation where) {
  using layout::Swizzle;
  if (name == "NONE") return Swizzle::none;
  if (name == "32B") return Swizzle::b32;
  if (name == "64B") return Swizzle::b64;
  if (name == "128B") return Swizzle::b128;
  return refuse(Kind::bad_tile, cat('`', name, "` is not a swizzle; what fits is `NONE`, `32B`, `64B` or `128B`"), where);
}

Expected<Reg> apply_swizzle(Builder& builder, Reg offset, layout::Swizzle swizzle, SourceLocation where) {
  const layout::SwizzleFunction function = layout::swizzle_function(swizzle);
  if (function.mask == 0) return offset;
  const Expected<Reg> bits =
      emit_fresh(builder, Type::u32, "and.b32", {}, where, Value::of(offset), Value::of_integer(function.mask));
  if (!bits) return bits;
  if (auto e = emit(builder, "shr.u32", {}, where, Value::of(*bits), Value::of(*bits), Value::of_integer(function.shift)); !e)
    return Unexpected{std::move(e).error()};
  return emit_fresh(builder, Type::u32, "xor.b32", {}, where, Value::of(offset), Value::of(*bits));
}

}  // namespace ptx::write::idiom
