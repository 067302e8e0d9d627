#include "ptx/write/idiom/descriptor.hpp"

#include <limits>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write::idiom {
namespace {

bool is_zero(const Value& value) { return value.kind == Value::Kind::integer && value.integer == 0; }

// The place's address in 64 bits.
Expected<Reg> wide_address(Builder& builder, const Place& place, SourceLocation where) {
  const Value& base = place.base();
  const Value offset = Value::of_integer(place.offset());
  const bool in_register = base.kind == Value::Kind::reg, wide = in_register && isa::bits(base.reg.type) == 64;
  if (wide && place.offset() == 0) return base.reg;
  if (wide) return emit_fresh(builder, Type::u64, "add.s64", {}, where, base, offset);
  const Expected<Reg> address = emit_fresh(builder, Type::u64, in_register ? "cvt.u64.u32" : "mov.u64", {}, where, base);
  if (!address || place.offset() == 0) return address;
  if (auto e = emit(builder, "add.s64", {}, where, Value::of(*address), Value::of(*address), offset); !e)
    return Unexpected{std::move(e).error()};
  return address;
}

// address + more: a number in one `add.s64`, a register by the operator, which widens.
Expected<Reg> moved_on(Builder& builder, Reg address, const Value& more, SourceLocation where) {
  if (is_zero(more)) return address;
  if (more.kind == Value::Kind::integer) return emit_fresh(builder, Type::u64, "add.s64", {}, where, Value::of(address), more);
  return binary(builder, Operator::add, Value::of(address), more, where);
}

}  // namespace

Expected<Reg> make_descriptor(Builder& builder, const Place& base, const Value& more, std::uint64_t bits, SourceLocation where) {
  Expected<Reg> address = wide_address(builder, base, where);
  if (address) address = moved_on(builder, *address, more, where);
  if (!address) return address;
  const Expected<Reg> made = emit_fresh(builder, Type::u64, "shr.u64", {}, where, Value::of(*address), Value::of_integer(4));
  if (!made) return made;
  const Value d = Value::of(*made);
  if (auto e = emit(builder, "and.b64", {}, where, d, d, Value::of_integer(layout::address_field)); !e)
    return Unexpected{std::move(e).error()};
  const Expected<Reg> rest =
      emit_fresh(builder, Type::b64, "mov.b64", {}, where, Value::of_integer(static_cast<std::int64_t>(bits)));
  if (!rest) return rest;
  if (auto e = emit(builder, "or.b64", {}, where, d, d, Value::of(*rest)); !e) return Unexpected{std::move(e).error()};
  return made;
}

Expected<Reg> masked_descriptor(Builder& builder, const Place& address, const Value& byte_offset, std::int64_t mask,
                                std::uint64_t const_bits, SourceLocation where) {
  if (mask < 0 || mask > std::numeric_limits<std::uint32_t>::max())
    return refuse(Kind::immediate_range, cat("the mask of a matrix descriptor is ", mask, "; what fits is 0 to 0xFFFFFFFF"),
                  where, "it selects address bits: 0x3FF80 keeps those of an address that is aligned to 128 bytes");
  Place base = address;
  Value more = byte_offset;
  if (more.kind == Value::Kind::integer) {  // one addition for both
    more.integer += base.offset();
    base = Place(base.base());
  }
  const Expected<Reg> from = address_register(builder, base, where);
  if (!from) return from;
  const Expected<Reg> narrow = builder.reg(Type::u32, {}, where);
  if (!narrow) return narrow;
  const Value t = Value::of(*narrow);
  Value masked = Value::of(*from);
  if (!is_zero(more)) {
    if (auto e = emit(builder, "add.u32", {}, where, t, masked, more); !e) return Unexpected{std::move(e).error()};
    masked = t;
  }
  if (auto e = emit(builder, "and.b32", {}, where, t, masked, Value::of_integer(mask)); !e)
    return Unexpected{std::move(e).error()};
  if (auto e = emit(builder, "shr.u32", {}, where, t, t, Value::of_integer(4)); !e) return Unexpected{std::move(e).error()};
  const Expected<Reg> made = emit_fresh(builder, Type::u64, "cvt.u64.u32", {}, where, t);
  if (!made) return made;
  const Value d = Value::of(*made);
  if (auto e = emit(builder, "or.b64", {}, where, d, d, Value::of_integer(static_cast<std::int64_t>(const_bits))); !e)
    return Unexpected{std::move(e).error()};
  return made;
}

Expected<Reg> moved_masked_descriptor(Builder& builder, const Place& address, const Value& byte_offset, std::int64_t mask,
                                      std::uint64_t const_bits, SourceLocation where) {
  const Expected<Reg> made = masked_descriptor(builder, address, byte_offset, mask, const_bits, where);
  if (!made) return made;
  return emit_fresh(builder, Type::b64, "mov.b64", {}, where, Value::of(*made));
}

bool can_enable(const Value& value) {
  if (value.kind == Value::Kind::integer) return true;
  if (value.kind != Value::Kind::reg) return false;
  return value.reg.type == Type::pred || (!value.negated && isa::bits(value.reg.type) == 32);
}

Expected<Value> enable_predicate(Builder& builder, const Value& value, std::string_view what, SourceLocation where) {
  if (!can_enable(value)) {
    const bool is_register = value.kind == Value::Kind::reg;
    return refuse(Kind::bad_guard,
                  cat("`", what, "` is ",
                      is_register ? cat("the .", isa::name(value.reg.type), " register `", builder.name(value.reg), "`")
                                  : std::string("no predicate"),
                      "; what fits is a predicate, a 32-bit register, or true or false"),
                  where, "a comparison such as `r == 0` gives a predicate");
  }
  if (value.kind == Value::Kind::reg && value.reg.type == Type::pred) return value;
  Value tested = value;
  if (value.kind == Value::Kind::integer) {
    const Expected<Reg> number =
        emit_fresh(builder, Type::u32, "mov.u32", {}, where, Value::of_integer(value.integer != 0 ? 1 : 0));
    if (!number) return Unexpected{number.error()};
    tested = Value::of(*number);
  }
  const Expected<Reg> predicate = emit_fresh(builder, Type::pred, "setp.ne.b32", {}, where, tested, Value::of_integer(0));
  if (!predicate) return Unexpected{predicate.error()};
  return Value::of(*predicate);
}

}  // namespace ptx::write::idiom
