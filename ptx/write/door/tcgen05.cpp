#include "ptx/write/door/tcgen05.hpp"

#include "ptx/base/base.hpp"
#include "ptx/write/idiom/descriptor.hpp"
#include "ptx/write/idiom/tcgen05.hpp"
#include "ptx/write/put.hpp"

namespace ptx::write {
namespace {

constexpr std::string_view mma_helper = "ptx.tcgen05.mma";

// A register that is given where a place could be.
Expected<Value> plain(Builder& builder, const PlaceArg& given, std::string_view name) {
  const Expected<Place> place = given.in(builder);
  if (!place) return Unexpected{place.error()};
  if (place->base().kind == Value::Kind::reg && place->offset() == 0) return place->base();
  return refuse(Kind::operand_mismatch,
                cat("`", name, "` of `ptx.tcgen05.mma` is an address; what fits is a descriptor in a 64-bit register"), given.at);
}

// Sets a place that may be left out.
Expected<void> set(Builder& builder, std::optional<Place>& to, const std::optional<TmemArg>& given) {
  if (!given) return {};
  const Expected<Place> place = given->in(builder, mma_helper);
  if (!place) return Unexpected{place.error()};
  to = *place;
  return {};
}

}  // namespace

void Tcgen05::alloc(const PlaceArg& slot, const Source& ncols, const Tcgen05Options& options) {
  const Expected<Place> place = slot.in(builder());
  if (!place) return keep(Unexpected{place.error()});
  keep(idiom::tcgen05_alloc(builder(), *place, ncols.value, options.cta_group, options.pred.guard, slot.at));
}

void Tcgen05::dealloc(const TmemColumns& taddr, const Source& ncols, const Tcgen05Options& options) {
  keep(idiom::tcgen05_dealloc(builder(), Value::of(taddr.reg), ncols.value, options.cta_group, options.pred.guard, ncols.at));
}

void Tcgen05::relinquish_alloc_permit(const Tcgen05Options& options, Where at) {
  keep(idiom::tcgen05_relinquish_alloc_permit(builder(), options.cta_group, options.pred.guard, at));
}

void Tcgen05::mma(const TmemArg& d, const PlaceArg& a_desc, const PlaceArg& b_desc, const Source& idesc,
                  const Tcgen05MmaOptions& options) {
  idiom::Tcgen05Mma mma;
  const Expected<Place> to = d.in(builder(), mma_helper);
  if (!to) return keep(Unexpected{to.error()});
  mma.d = *to;
  if (options.a_is_tmem) {
    const Expected<Place> a = TmemArg(a_desc).in(builder(), mma_helper);
    if (!a) return keep(Unexpected{a.error()});
    mma.a_tmem = *a;
  } else {
    const Expected<Value> a = plain(builder(), a_desc, "a_desc");
    if (!a) return keep(Unexpected{a.error()});
    mma.a_descriptor = *a;
  }
  const Expected<Value> b = plain(builder(), b_desc, "b_desc");
  if (!b) return keep(Unexpected{b.error()});
  mma.b_descriptor = *b;
  mma.idesc = idesc.value;
  mma.enable = options.enable_input_d.value;
  if (options.pred_operand) {
    mma.enable = options.pred_operand->value;
    mma.enable_name = "pred_operand";
  } else if (options.scale_d) {
    mma.enable = options.scale_d->value;
    mma.enable_name = "scale_d";
  }
  mma.cta_group = options.cta_group;
  mma.kind = options.kind;
  mma.ashift = options.ashift;
  mma.collector_a = options.collector_a;
  mma.sparse = options.sparse;
  mma.scale_c = options.scale_c;
  mma.disable_output_lane = options.disable_output_lane.regs;
  mma.scale_size = options.scale_size;
  if (auto e = set(builder(), mma.sparse_metadata, options.sparse_metadata); !e) return keep(std::move(e));
  if (auto e = set(builder(), mma.scale_a, options.scale_a); !e) return keep(std::move(e));
  if (auto e = set(builder(), mma.scale_b, options.scale_b); !e) return keep(std::move(e));
  keep(idiom::tcgen05_mma(builder(), mma, options.pred.guard, d.at));
}

void Tcgen05::commit(const PlaceArg& mbar, const Tcgen05CommitOptions& options) {
  const Expected<Place> place = mbar.in(builder());
  if (!place) return keep(Unexpected{place.error()});
  idiom::Tcgen05Commit commit{*place, options.cta_group, options.multicast, {}, options.space};
  if (options.multicast_mask) commit.multicast_mask = options.multicast_mask->value;
  keep(idiom::tcgen05_commit(builder(), commit, options.pred.guard, mbar.at));
}

void Tcgen05::fence_before_thread_sync(const Pred& pred, Where at) {
  keep(idiom::tcgen05_fence(builder(), false, pred.guard, at));
}
void Tcgen05::fence_after_thread_sync(const Pred& pred, Where at) { keep(idiom::tcgen05_fence(builder(), true, pred.guard, at)); }
void Tcgen05::wait_ld(const Pred& pred, Where at) { keep(idiom::tcgen05_wait(builder(), false, pred.guard, at)); }
void Tcgen05::wait_st(const Pred& pred, Where at) { keep(idiom::tcgen05_wait(builder(), true, pred.guard, at)); }

void Tcgen05::ld(const Registers& dst, const TmemArg& taddr, const Tcgen05LoadOptions& options) {
  const Expected<Place> place = taddr.in(builder(), "ptx.tcgen05.ld");
  if (!place) return keep(Unexpected{place.error()});
  keep(idiom::tcgen05_ld(builder(),
                         {*place, dst.regs, options.shape, options.count, options.dtype, options.pack, options.half_split_offset},
                         options.pred.guard, taddr.at));
}

void Tcgen05::st(const TmemArg& taddr, const Registers& src, const Tcgen05StoreOptions& options) {
  const Expected<Place> place = taddr.in(builder(), "ptx.tcgen05.st");
  if (!place) return keep(Unexpected{place.error()});
  keep(idiom::tcgen05_st(
      builder(), {*place, src.regs, options.shape, options.count, options.dtype, options.unpack, options.half_split_offset},
      options.pred.guard, taddr.at));
}

void Tcgen05::cp(const TmemArg& taddr, const MatrixDescriptor& src, const Tcgen05CopyOptions& options) {
  constexpr std::string_view helper = "ptx.tcgen05.cp";
  if (options.src_is_addr.value_or(false))
    return keep(refuse(Kind::operand_mismatch,
                       cat('`', helper, "` is told that its source is an address; PTX takes a matrix descriptor"), taddr.at,
                       "build it by `ptx.tcgen05.descriptor` from the address in shared memory"));
  const Expected<Place> place = taddr.in(builder(), helper);
  if (!place) return keep(Unexpected{place.error()});
  keep(idiom::tcgen05_cp(builder(), *place, src.reg, options.size, options.cta_group, options.pred.guard, taddr.at));
}

void Tcgen05::shift(const TmemArg& taddr, const Tcgen05Options& options) {
  const Expected<Place> place = taddr.in(builder(), "ptx.tcgen05.shift");
  if (!place) return keep(Unexpected{place.error()});
  keep(idiom::tcgen05_shift(builder(), *place, options.cta_group, options.pred.guard, taddr.at));
}

ptx::Reg<Type::b64> Tcgen05::descriptor(const PlaceArg& addr, const Tcgen05DescriptorFields& fields) {
  auto bits = layout::descriptor_bits(layout::Tcgen05Descriptor{fields.stride_bytes, fields.leading_bytes,
                                                                fields.swizzle.value_or("NONE"), fields.version,
                                                                fields.base_offset, fields.lbo_mode});
  if (bits) return masked_descriptor(addr, {.byte_offset = fields.byte_offset, .const_bits = *bits});
  Diagnostic d = std::move(bits).error();
  d.where = addr.at;
  return typed<Type::b64>(Unexpected{std::move(d)});
}

ptx::Reg<Type::b64> Tcgen05::masked_descriptor(const PlaceArg& addr, const Tcgen05MaskedDescriptor& descriptor) {
  const Expected<Place> place = addr.in(builder());
  if (!place) return typed<Type::b64>(Unexpected{place.error()});
  return typed<Type::b64>(idiom::moved_masked_descriptor(builder(), *place, descriptor.byte_offset.value, descriptor.mask,
                                                         descriptor.const_bits, addr.at));
}

std::uint32_t Tcgen05::number(Expected<std::uint32_t> made, Where at) {
  if (made) return *made;
  Diagnostic d = std::move(made).error();
  d.where = at;
  keep(Unexpected{std::move(d)});
  return 0;
}

Expected<std::uint32_t> instruction_descriptor(const InstrDescF16Bf16F32& d) {
  const auto kind = d.ab_dtype == "tf32" ? layout::MmaKind::tf32 : layout::MmaKind::f16;
  return layout::descriptor_bits(kind, {d.m, d.n, "f32", d.ab_dtype, d.ab_dtype, d.a_major, d.b_major, d.scale_a, d.scale_b,
                                        d.saturate, d.sparse, d.sparsity_selector, d.max_shift});
}
std::uint32_t Tcgen05::make_instr_desc_f16bf16_f32(const InstrDescF16Bf16F32& d, Where at) {
  return number(instruction_descriptor(d), at);
}
std::uint32_t Tcgen05::make_instr_desc_f16(const layout::InstructionDescriptor& d, Where at) {
  return number(layout::descriptor_bits(layout::MmaKind::f16, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_tf32(const layout::InstructionDescriptor& d, Where at) {
  return number(layout::descriptor_bits(layout::MmaKind::tf32, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_f8f6f4(const layout::InstructionDescriptor& d, Where at) {
  return number(layout::descriptor_bits(layout::MmaKind::f8f6f4, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_i8(const layout::InstructionDescriptor& d, Where at) {
  return number(layout::descriptor_bits(layout::MmaKind::i8, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_mxf8f6f4(const layout::ScaledInstructionDescriptor& d, Where at) {
  return number(layout::descriptor_bits(layout::ScaledMmaKind::mxf8f6f4, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_mxf4(const layout::ScaledInstructionDescriptor& d, Where at) {
  return number(layout::descriptor_bits(layout::ScaledMmaKind::mxf4, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_mxf4nvf4(const layout::ScaledInstructionDescriptor& d, Where at) {
  return number(layout::descriptor_bits(layout::ScaledMmaKind::mxf4nvf4, d), at);
}

}  // namespace ptx::write
