#include "ptx/write/door/door.hpp"

#include "ptx/write/put.hpp"

namespace ptx::write {

Expected<Place> SharedHandle::place(std::int64_t offset, Where at) const {
  if (!dynamic_) return place_.at(offset);
  SharedRegion region;
  region.symbol = place_.base().text;
  region.byte_offset = place_.offset();
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

Expected<Reg> PlaceArg::address_in(Builder& builder) const {
  const Expected<Place> place = in(builder);
  if (!place) return Unexpected{place.error()};
  return address_register(builder, *place, at);
}

}  // namespace ptx::write

namespace ptx {

Addr<Type::none> addr(const write::SharedHandle& shared, std::int64_t offset, Where at) {
  Expected<write::Place> place = shared.place(0, at);
  if (!place) {
    shared.builder().fail(std::move(place).error());
    return addr(std::string_view("_failed"));
  }
  return {place->base(), place->offset() + offset, &shared.builder()};
}

}  // namespace ptx
