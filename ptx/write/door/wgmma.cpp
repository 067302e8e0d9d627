#include "ptx/write/door/wgmma.hpp"

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/idiom/descriptor.hpp"
#include "ptx/write/idiom/wgmma.hpp"

namespace ptx::write {
namespace {

using idiom::WgmmaFactor;

Unexpected at_line(Diagnostic d, SourceLocation at) {
  if (!d.where.known()) d.where = at;
  return Unexpected{std::move(d)};
}

// The place of a matrix, for a descriptor: a part of the dynamic array by its symbol, so that no instruction is written.
Expected<Place> matrix_place(Builder& builder, const PlaceArg& base) {
  const SharedHandle* handle = base.handle();
  if (handle != nullptr && &handle->builder() == &builder && !handle->name().empty())
    return Place(Value::of_symbol(handle->name()), handle->byte_offset());
  return base.in(builder);
}

Expected<WgmmaFactor> factor_of(Builder& builder, const Factor& given, const Bytes& k_offset, std::string_view name,
                                SourceLocation at) {
  WgmmaFactor factor;
  if (given.tile) {
    if (!given.tile->gmma_layout())
      return refuse(
          Kind::operand_mismatch,
          cat("`", name, "` of `ptx.wgmma.mma_async` is `", given.tile->name(), "`, shared memory without a layout of wgmma"), at,
          "allocate it by `smem.wgmma_tile`, or build its descriptor by `ptx.wgmma.make_descriptor`");
    const Expected<Place> place = matrix_place(builder, PlaceArg(*given.tile, at));
    if (!place) return Unexpected{place.error()};
    factor = WgmmaFactor::of(*place, *given.tile->gmma_layout());
  } else if (given.descriptor) {
    factor = WgmmaFactor::of(*given.descriptor);
  } else {
    factor = WgmmaFactor::of(given.registers.regs);
  }
  factor.k_offset = k_offset.value;
  return factor;
}

Expected<Reg> descriptor(Builder& builder, const PlaceArg& base, const Value& more, const layout::WgmmaDescriptor& fields) {
  auto bits = layout::descriptor_bits(fields);
  if (!bits) return at_line(std::move(bits).error(), base.at);
  const Expected<Place> place = matrix_place(builder, base);
  if (!place) return Unexpected{place.error()};
  return idiom::make_descriptor(builder, *place, more, *bits, base.at);
}

}  // namespace

void Wgmma::fence(const Pred& pred, SourceLocation at) { keep(idiom::wgmma_fence(builder(), pred.guard, at)); }
void Wgmma::commit_group(const Pred& pred, SourceLocation at) { keep(idiom::wgmma_commit_group(builder(), pred.guard, at)); }
void Wgmma::wait_group(const Source& n, const Pred& pred) { keep(idiom::wgmma_wait_group(builder(), n.value, pred.guard, n.at)); }

std::string MmaAsync::instruction() const {
  const auto [m, n, k] = shape;
  return cat("wgmma.mma_async", sparse_metadata ? ".sp" : "", ".sync.aligned.m", m, 'n', n, 'k', k, '.', isa::name(dtype_d), '.',
             isa::name(dtype_a), '.', isa::name(dtype_b));
}

void Wgmma::mma_async(const MmaAsync& mma, SourceLocation at) {
  const Expected<WgmmaFactor> a = factor_of(builder(), mma.a, mma.a_k_offset, "a", at);
  if (!a) return keep(Unexpected{a.error()});
  const Expected<WgmmaFactor> b = factor_of(builder(), mma.b, mma.b_k_offset, "b", at);
  if (!b) return keep(Unexpected{b.error()});
  idiom::MmaAsync untyped;
  untyped.shape = mma.shape;
  untyped.d_type = mma.dtype_d;
  untyped.a_type = mma.dtype_a;
  untyped.b_type = mma.dtype_b;
  untyped.d = mma.d.regs;
  untyped.a = *a;
  untyped.b = *b;
  untyped.scale_d = mma.scale_d.value;
  untyped.scale_a = mma.scale_a;
  untyped.scale_b = mma.scale_b;
  untyped.trans_a = mma.trans_a;
  untyped.trans_b = mma.trans_b;
  untyped.satfinite = mma.satfinite;
  if (mma.sparse_metadata) untyped.sparse_metadata = Value::of(mma.sparse_metadata->untyped());
  untyped.sparsity_selector = mma.sparsity_selector;
  keep(idiom::wgmma_mma_async(builder(), untyped, mma.pred.guard, at));
}

ptx::Reg<Type::u64> Wgmma::make_descriptor(const PlaceArg& base, const DescriptorFields& fields) {
  return typed<Type::u64>(
      descriptor(builder(), base, fields.addr_byte_offset.value,
                 {fields.leading_byte_offset, fields.stride_byte_offset, fields.swizzle, fields.base_offset}));
}

ptx::Reg<Type::u64> Wgmma::auto_descriptor(const PlaceArg& base, const TileFields& tile) {
  const bool k_major = tile.major == layout::Major::k;
  auto layout =
      layout::pick_gmma_layout(isa::bits(tile.dtype) / 8, tile.shape[k_major ? 0 : 1], tile.shape[k_major ? 1 : 0], tile.major);
  if (!layout) return typed<Type::u64>(at_line(std::move(layout).error(), base.at));
  return typed<Type::u64>(descriptor(builder(), base, Value::of_integer(0), layout::descriptor_of(*layout)));
}

ptx::Reg<Type::u64> Wgmma::masked_descriptor(const PlaceArg& addr, const MaskedDescriptor& descriptor) {
  const Expected<Place> place = addr.in(builder());
  if (!place) return typed<Type::u64>(Unexpected{place.error()});
  return typed<Type::u64>(
      idiom::masked_descriptor(builder(), *place, descriptor.byte_offset.value, descriptor.mask, descriptor.const_bits, addr.at));
}

}  // namespace ptx::write
