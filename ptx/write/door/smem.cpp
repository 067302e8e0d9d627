#include "ptx/write/door/smem.hpp"

#include <algorithm>

#include "ptx/base/base.hpp"
#include "ptx/write/emit.hpp"

namespace ptx {

using write::refuse;

SharedSlice SharedAllocation::operator[](write::Index stage) const {
  const std::size_t index = write::checked_index(builder(), stage, static_cast<std::size_t>(shape_.front()));
  return SharedSlice(moved(static_cast<std::int64_t>(index) * write::idiom::stage_bytes(type_, shape_)));
}

write::idiom::Element SharedAllocation::element(const write::Source& row, const write::Source& column) const {
  return {region_, type_, shape_.front(), shape_.back(), row.value, column.value};
}

write::Reg SharedAllocation::load_element(const write::Source& row, const write::Source& column) const {
  Expected<write::Reg> loaded =
      shape_.size() == 2
          ? write::idiom::load_element(builder(), element(row, column), row.at)
          : refuse(Kind::bad_operator,
                   cat("an element of `", name(), "` is read by row and column, and it has ", shape_.size(), " dimensions"),
                   row.at);
  return write::keep_error(builder(), std::move(loaded), type_);
}

void SharedAllocation::store_element(const write::Source& row, const write::Source& column, write::Reg value) const {
  Expected<void> stored =
      shape_.size() == 2
          ? write::idiom::store_element(builder(), element(row, column), value, row.at)
          : refuse(Kind::bad_operator,
                   cat("an element of `", name(), "` is written by row and column, and it has ", shape_.size(), " dimensions"),
                   row.at);
  if (!stored) builder().fail(std::move(stored).error());
}

MbarrierRef MbarrierArray::operator[](write::Index index) const {
  const std::size_t i = write::checked_index(builder(), index, static_cast<std::size_t>(count_));
  return MbarrierRef(moved(static_cast<std::int64_t>(i) * write::idiom::mbarrier_bytes));
}

namespace write {

SharedAllocation Smem::allocate(Type type, const SharedShape& shape, const SharedOptions& options, SourceLocation at) {
  SharedRequest request;
  request.align = options.align;
  request.name = options.name;
  if (!options.swizzle.empty())
    if (auto known = idiom::swizzle_named(options.swizzle, at); !known) builder().fail(std::move(known).error());
  Expected<SharedRegion> region =
      shape.sizes.empty()
          ? Expected<SharedRegion>(refuse(Kind::bad_declaration, "an allocation of shared memory has no dimension", at))
          : idiom::allocate_elements(builder(), type, shape.sizes, request, at);
  if (!region) {
    builder().fail(std::move(region).error());
    region = SharedRegion{"_failed", 0, 0, false};  // something to go on with
  }
  // after an error too, with the author's sizes, so that indices are judged by them
  SharedAllocation made(builder(), *region, type, shape.sizes.empty() ? std::vector<std::int64_t>{1} : shape.sizes,
                        options.swizzle);
  made.set_layout(options.gmma_layout, options.gmma_major);
  return made;
}

SharedAllocation Smem::tile(Type type, const SharedShape& shape, layout::Major major, const TileOptions& options,
                            SourceLocation at) {
  SharedOptions all;
  all.align = options.align;
  all.name = options.name;
  all.gmma_major = major;
  if (auto picked = idiom::tile_layout(type, shape.sizes, major, at)) {
    all.gmma_layout = *picked;
    all.swizzle = idiom::swizzle_name(*picked);
  } else {
    builder().fail(std::move(picked).error());
  }
  return allocate(type, shape, all, at);
}

MbarrierArray Smem::mbarrier(std::int64_t count, std::string_view name, SourceLocation at) {
  Expected<SharedRegion> region = idiom::allocate_mbarriers(builder(), count, name, at);
  if (region) return {builder(), *region, count};
  builder().fail(std::move(region).error());
  return {builder(), SharedRegion{"_failed", 0, 0, false}, std::max<std::int64_t>(count, 1)};
}

ptx::Reg<Type::u32> Smem::base(std::string_view name, SourceLocation at) {
  return typed<Type::u32>(idiom::shared_base(builder(), name, at));
}

Expected<Reg> Smem::load_from(Type type, const PlaceArg& address) {
  const Expected<Place> place = address.in(builder());
  if (!place) return Unexpected{place.error()};
  return idiom::shared_load(builder(), type, place->address(), address.at);
}

void Smem::store_to(Type type, const PlaceArg& address, Reg value) {
  const Expected<Place> place = address.in(builder());
  if (!place) return builder().fail(place.error());
  keep(idiom::shared_store(builder(), type, place->address(), value, address.at));
}

ptx::Reg<Type::u32> Smem::apply_swizzle(const ptx::Reg<Type::u32>& offset, std::string_view swizzle, SourceLocation at) {
  const auto chosen = idiom::swizzle_named(swizzle, at);
  if (!chosen) return typed<Type::u32>(Unexpected{chosen.error()});
  return typed<Type::u32>(idiom::apply_swizzle(builder(), offset.untyped(), *chosen, at));
}

}  // namespace write
}  // namespace ptx
