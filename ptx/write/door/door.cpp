#include "ptx/write/door/door.hpp"

#include <algorithm>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"

namespace ptx::write {

Expected<Place> SharedHandle::place(std::int64_t offset, SourceLocation at) const {
  if (!dynamic_) return place_.at(offset);
  SharedRegion region;
  region.symbol = place_.base().text;
  region.byte_offset = place_.offset();
  region.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(place_.room().value_or(0), 0));
  region.dynamic = true;
  return shared_place(*builder_, region, offset, at);
}

Expected<Place> PlaceArg::in(Builder& builder) const {
  const Builder* owner = handle_ ? &handle_->builder() : builder_;
  if (owner != nullptr && owner != &builder)
    return refuse(Kind::undefined_symbol, "an address belongs to another kernel", at,
                  "registers and shared memory belong to the kernel that made them");
  return handle_ ? handle_->place(0, at) : Expected<Place>(place_);
}

Expected<Place> TmemArg::in(Builder& builder, std::string_view helper) const {
  Expected<Place> place = PlaceArg::in(builder);
  if (!place) return place;
  const Value& base = place->base();
  if (base.kind == Value::Kind::reg && isa::bits(base.reg.type) == 32) return place;
  const std::string given = base.kind == Value::Kind::reg
                                ? cat("the .", isa::name(base.reg.type), " register `", builder.name(base.reg), '`')
                                : cat('`', base.text, '`');
  return refuse(Kind::operand_mismatch,
                cat('`', helper, "` is given ", given, "; an address in tensor memory is a 32-bit register"), at);
}

Expected<Reg> PlaceArg::address_in(Builder& builder) const {
  const Expected<Place> place = in(builder);
  if (!place) return Unexpected{place.error()};
  return address_register(builder, *place, at);
}

}  // namespace ptx::write

namespace ptx {

Addr<Type::none> addr(const write::SharedHandle& shared, std::int64_t offset, SourceLocation at) {
  Expected<write::Place> place = shared.place(0, at);
  if (!place) {
    shared.builder().fail(std::move(place).error());
    return addr(std::string_view("_failed"));
  }
  return {place->base(), place->offset() + offset, &shared.builder()};
}

}  // namespace ptx
