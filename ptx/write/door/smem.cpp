#include "ptx/write/door/smem.hpp"

#include <algorithm>

#include "ptx/base/base.hpp"
#include "ptx/write/emit.hpp"

namespace ptx {

using write::refuse;

SharedSlice SharedAllocation::operator[](write::Index stage) const {
  const std::size_t index = write::checked_index(builder(), stage, static_cast<std::size_t>(shape_.front()), "stages");
  return SharedSlice(moved(static_cast<std::int64_t>(index) * write::idiom::stage_bytes(type_, shape_)));
}

namespace {

Expected<write::idiom::Element> element_of(const SharedAllocation& of, std::initializer_list<write::Source> indices) {
  std::vector<write::Value> values;
  for (const write::Source& index : indices) values.push_back(index.value);
  return write::idiom::element_at(of.builder(), of.region(), of.type(), of.shape(), values,
                                  indices.size() == 0 ? SourceLocation() : indices.begin()->at);
}

}  // namespace

Expected<write::Reg> SharedAllocation::load_element(std::initializer_list<write::Source> indices) const {
  return write::then(element_of(*this, indices), [&](const write::idiom::Element& element) {
    return write::idiom::load_element(builder(), element, indices.begin()->at);
  });
}

void SharedAllocation::store_element(std::initializer_list<write::Source> indices, write::Reg value) const {
  Expected<void> stored = write::then(element_of(*this, indices), [&](const write::idiom::Element& element) {
    return write::idiom::store_element(builder(), element, value, indices.begin()->at);
  });
  if (!stored) builder().fail(std::move(stored).error());
}

MbarrierRef MbarrierArray::operator[](write::Index index) const {
  const std::size_t i = write::checked_index(builder(), index, static_cast<std::size_t>(count_), "barriers");
  return MbarrierRef(moved(static_cast<std::int64_t>(i) * write::idiom::mbarrier_bytes));
}

namespace write {

SharedAllocation Smem::lying_in(Expected<SharedRegion> region, Type type, const SharedShape& shape,
                                const SharedOptions& options) {
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

SharedAllocation Smem::allocate(Type type, const SharedShape& shape, const SharedOptions& options, SourceLocation at) {
  if (shape.sizes.empty())
    return lying_in(refuse(Kind::bad_declaration, "an allocation of shared memory has no dimension", at), type, shape, options);
  if (options.swizzle.data() != nullptr)
    if (const auto known = idiom::swizzle_named(options.swizzle, at); !known)
      return lying_in(Unexpected{known.error()}, type, shape, options);
  SharedRequest request;
  if (options.align) request.align = *options.align;
  request.name = options.name;
  return lying_in(idiom::allocate_elements(builder(), type, shape.sizes, request, at), type, shape, options);
}

SharedAllocation Smem::allocate_tile(Type type, const SharedShape& shape, layout::Major major, const TileOptions& options,
                                     SourceLocation at) {
  SharedOptions all;
  all.align = options.align;
  all.name = options.name;
  all.gmma_major = major;
  const auto picked = idiom::tile_layout(type, shape.sizes, major, at);
  if (!picked) return lying_in(Unexpected{picked.error()}, type, shape, all);
  all.gmma_layout = *picked;
  if (const std::string_view swizzle = idiom::swizzle_name(*picked); !swizzle.empty()) all.swizzle = swizzle;
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

Expected<Reg> shared_load(Builder& builder, Type type, const PlaceArg& address) {
  return then(address.in(builder),
              [&](const Place& place) { return idiom::shared_load(builder, type, place.address(), address.at); });
}

Expected<void> shared_store(Builder& builder, Type type, const PlaceArg& address, const Reg& value) {
  return then(address.in(builder),
              [&](const Place& place) { return idiom::shared_store(builder, type, place.address(), value, address.at); });
}

ptx::Reg<Type::u32> Smem::apply_swizzle(const ptx::Reg<Type::u32>& offset, std::string_view swizzle, SourceLocation at) {
  const auto chosen = idiom::swizzle_named(swizzle, at);
  if (!chosen) return typed<Type::u32>(Unexpected{chosen.error()});
  return typed<Type::u32>(idiom::apply_swizzle(builder(), offset.untyped(), *chosen, at));
}

}  // namespace write
}  // namespace ptx
