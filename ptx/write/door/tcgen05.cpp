#include "ptx/write/door/tcgen05.hpp"

#include <algorithm>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/idiom/descriptor.hpp"
#include "ptx/write/idiom/words.hpp"

namespace ptx::write {
namespace {

using idiom::Words;

Expected<void> follow_group(Words& words, std::string_view helper, std::int64_t cta_group, SourceLocation where) {
  if (cta_group == 1 || cta_group == 2) return words.follow(cat("cta_group::", cta_group), "`cta_group`");
  return refuse(Kind::operand_mismatch, cat("`cta_group` of `", helper, "` is ", cta_group, "; what fits is 1 or 2"), where);
}

// Words that nothing of the author's is in.
Expected<void> follow_all(Words& words, std::initializer_list<std::string_view> all) {
  for (const std::string_view word : all)
    if (auto e = words.follow(word, "a modifier"); !e) return e;
  return {};
}

template <class... V>
Expected<void> put_words(Builder& builder, const Words& words, const Guard& guard, SourceLocation where, const V&... operands) {
  const std::array<Value, sizeof...(V)> values = {operands...};
  return builder.emit(words.dots(), values, guard, where);
}

// "tcgen05.alloc" with its group and what follows.
Expected<Words> with_group(std::string_view opcode, std::string_view helper, std::int64_t cta_group,
                           std::initializer_list<std::string_view> behind, SourceLocation where) {
  Words words(opcode, helper, where);
  if (auto e = follow_group(words, helper, cta_group, where); !e) return Unexpected{std::move(e).error()};
  if (auto e = follow_all(words, behind); !e) return Unexpected{std::move(e).error()};
  return words;
}

// The same with operands.
template <class... V>
Expected<void> put_with_group(Builder& builder, std::string_view opcode, const Tcgen05Options& options,
                              std::initializer_list<std::string_view> behind, SourceLocation where, const V&... operands) {
  return then(with_group(opcode, cat("ptx.", opcode), options.cta_group, behind, where),
              [&](const Words& words) { return put_words(builder, words, options.pred.guard, where, operands...); });
}

// What loads and stores have in common; `pack` is a store's `unpack`.
struct Transfer {
  const TmemArg& taddr;
  const Registers& registers;
  std::string_view shape;
  std::int64_t count;
  std::string_view dtype;
  bool pack;
  std::optional<std::int64_t> half_split_offset;
};

Expected<void> transfer(Builder& builder, const Transfer& t, bool load, const Guard& guard) {
  const SourceLocation where = t.taddr.at;
  const std::string_view helper = load ? "ptx.tcgen05.ld" : "ptx.tcgen05.st";
  const Expected<Place> place = t.taddr.in(builder, helper);
  if (!place) return Unexpected{place.error()};
  Words words(load ? "tcgen05.ld.sync.aligned" : "tcgen05.st.sync.aligned", helper, where);
  if (auto e = words.follow(t.shape, "`shape`"); !e) return e;
  if (auto e = words.follow(cat('x', t.count), "`count`"); !e) return e;
  if (t.pack)
    if (auto e = words.follow(load ? "pack::16b" : "unpack::16b", load ? "`pack`" : "`unpack`"); !e) return e;
  if (auto e = words.follow(t.dtype, "`dtype`"); !e) return e;

  std::vector<Value> parts;
  for (const Reg reg : t.registers.regs) parts.push_back(Value::of(reg));
  const Value registers = Value::vector_of(parts), taddr = place->address();
  std::vector<Value> operands = load ? std::vector{registers, taddr} : std::vector{taddr};
  if (t.half_split_offset) operands.push_back(Value::of_integer(*t.half_split_offset));
  if (!load) operands.push_back(registers);
  for (const isa::ModifierTree::State& state : words.dots().complete()) {
    const isa::Form& form = isa::form(state.form);
    for (const isa::OperandSpec& spec : form.operands) {
      if (spec.name == "half_split_offset" && !t.half_split_offset)
        return refuse(
            Kind::operand_count,
            cat("`", helper, "` of shape ", t.shape, " needs `half_split_offset`, the columns from the first half to the second"),
            where);
      const int wanted = spec.name == "r" ? form.count(spec.count, state.choices) : 0;
      if (wanted != 0 && static_cast<std::size_t>(wanted) != parts.size())
        return refuse(Kind::operand_mismatch,
                      cat("`", helper, "` is given ", parts.size(), parts.size() == 1 ? " register" : " registers", "; `",
                          words.dots().path(), "` has ", wanted, " a thread"),
                      where);
    }
  }
  return builder.emit(words.dots(), operands, guard, where);
}

constexpr std::string_view mma_helper = "ptx.tcgen05.mma";

Expected<Words> mma_words(const Tcgen05MmaOptions& mma, SourceLocation where) {
  Words words(mma.sparse ? "tcgen05.mma.sp" : "tcgen05.mma", mma_helper, where);
  if (auto e = follow_group(words, mma_helper, mma.cta_group, where); !e) return Unexpected{std::move(e).error()};
  if (auto e = words.follow(cat("kind::", mma.kind), "`kind`"); !e) return Unexpected{std::move(e).error()};
  const bool scaled = words.can_follow("block_scale");
  if (scaled != (mma.scale_a && mma.scale_b) || mma.scale_a.has_value() != mma.scale_b.has_value())
    return refuse(
        Kind::operand_mismatch,
        scaled
            ? cat("`", mma_helper, "` of kind ", mma.kind, " needs `scale_a` and `scale_b`, the scales' places in tensor memory")
            : cat("`", mma_helper, "` of kind ", mma.kind, " is given scales in tensor memory, which only the kinds mx… have"),
        where);
  if (scaled)
    if (auto e = words.follow("block_scale", "a modifier"); !e) return Unexpected{std::move(e).error()};
  if (!mma.scale_size.empty())
    if (auto e = words.follow(mma.scale_size, "`scale_size`"); !e) return Unexpected{std::move(e).error()};
  if (mma.ashift) {
    if (!mma.a_is_tmem)
      return refuse(Kind::operand_mismatch,
                    cat("`ashift` of `", mma_helper, "` shifts the rows of an a in tensor memory, and a is a descriptor"), where,
                    "pass `a_is_tmem=True` and a's address in tensor memory");
    if (auto e = words.follow("ashift", "`ashift`"); !e) return Unexpected{std::move(e).error()};
  }
  if (!mma.collector_a.empty())
    if (auto e = words.follow(cat("collector::a::", mma.collector_a), "`collector_a`"); !e)
      return Unexpected{std::move(e).error()};
  return words;
}

// What the form would refuse too, but only after the predicate and the lanes have been written.
Expected<void> check_operands(const Value& a, const Value& b, const Value& idesc, const Tcgen05MmaOptions& mma,
                              SourceLocation where) {
  const auto wrong = [&](std::string_view name, const std::string& message, std::string_view hint = {}) {
    return refuse(Kind::operand_mismatch, cat('`', name, "` of `", mma_helper, "` ", message), where, hint);
  };
  const auto has_bits = [](const Value& value, int bits) {
    return value.kind == Value::Kind::reg && isa::bits(value.reg.type) == bits;
  };
  constexpr std::string_view no_descriptor = "is not a 64-bit register; what fits is a shared-memory descriptor";
  if (!mma.a_is_tmem && !has_bits(a, 64))
    return wrong("a_desc", std::string(no_descriptor), "an a in tensor memory is given with `a_is_tmem=True`");
  if (!has_bits(b, 64)) return wrong("b_desc", std::string(no_descriptor));
  if (idesc.kind != Value::Kind::integer && !has_bits(idesc, 32))
    return wrong("idesc", "is neither a number nor a 32-bit register",
                 "`make_instr_desc_f16bf16_f32` and its like give the number");
  if (mma.sparse && !mma.sparse_metadata)
    return wrong("sparse_metadata", "is missing: a sparse product needs its place in tensor memory");
  if (!mma.sparse && mma.sparse_metadata)
    return wrong("sparse_metadata", "is given for a dense product", "pass `sparse=True` too");
  if (mma.scale_c && mma.kind != "f16" && mma.kind != "tf32")
    return wrong("scale_c", cat("is given for kind ", mma.kind, "; only f16 and tf32 have it"));
  if (mma.scale_c && (*mma.scale_c < 0 || *mma.scale_c > 15))
    return wrong("scale_c", cat("is ", *mma.scale_c, "; what fits is 0 to 15"));
  const std::size_t lanes = mma.cta_group == 2 ? 8 : 4;
  if (!mma.disable_output_lane.regs.empty() && mma.scale_a)
    return wrong("disable_output_lane", "is given for a product with scales");
  if (!mma.disable_output_lane.regs.empty() && mma.disable_output_lane.regs.size() != lanes)
    return wrong("disable_output_lane", cat("has ", mma.disable_output_lane.regs.size(), " registers; what fits is ", lanes));
  return {};
}

// A register that is given where a place could be.
Expected<Value> plain(Builder& builder, const PlaceArg& given, std::string_view name) {
  const Expected<Place> place = given.in(builder);
  if (!place) return Unexpected{place.error()};
  if (place->base().kind == Value::Kind::reg && place->offset() == 0) return place->base();
  return refuse(Kind::operand_mismatch,
                cat("`", name, "` of `", mma_helper, "` is an address; what fits is a descriptor in a 64-bit register"),
                given.at);
}

// The places of a product in tensor memory, those that are given.
struct Placed {
  Place d, a, metadata, scale_a, scale_b;
  Value a_descriptor, b_descriptor;
};
Expected<Placed> places_of(Builder& builder, const TmemArg& d, const PlaceArg& a, const PlaceArg& b,
                           const Tcgen05MmaOptions& mma) {
  Placed places;
  Expected<void> done;
  const auto set = [&](Place& to, const std::optional<TmemArg>& given) {
    if (!done || !given) return;
    Expected<Place> place = given->in(builder, mma_helper);
    if (place)
      to = *place;
    else
      done = Unexpected{std::move(place).error()};
  };
  const auto set_value = [&](Value& to, const PlaceArg& given, std::string_view name) {
    if (!done) return;
    Expected<Value> value = plain(builder, given, name);
    if (value)
      to = *value;
    else
      done = Unexpected{std::move(value).error()};
  };
  set(places.d, d);
  if (mma.a_is_tmem)
    set(places.a, TmemArg(a));
  else
    set_value(places.a_descriptor, a, "a_desc");
  set_value(places.b_descriptor, b, "b_desc");
  set(places.metadata, mma.sparse_metadata);
  set(places.scale_a, mma.scale_a);
  set(places.scale_b, mma.scale_b);
  if (!done) return Unexpected{std::move(done).error()};
  return places;
}

// The first that says whether d is added.
Expected<Value> enable_of(Builder& builder, const Tcgen05MmaOptions& mma, SourceLocation where) {
  if (mma.pred_operand) return idiom::enable_predicate(builder, mma.pred_operand->value, "pred_operand", where);
  if (mma.scale_d) return idiom::enable_predicate(builder, mma.scale_d->value, "scale_d", where);
  return idiom::enable_predicate(builder, mma.enable_input_d.value, "enable_input_d", where);
}

Expected<void> product(Builder& builder, const Placed& places, const Value& idesc, const Tcgen05MmaOptions& mma,
                       SourceLocation where) {
  const Expected<Words> words = mma_words(mma, where);
  if (!words) return Unexpected{words.error()};
  if (auto e = check_operands(places.a_descriptor, places.b_descriptor, idesc, mma, where); !e) return e;
  const Expected<Value> enable = enable_of(builder, mma, where);
  if (!enable) return Unexpected{enable.error()};

  std::vector<Value> lanes;
  for (const Reg reg : mma.disable_output_lane.regs) lanes.push_back(Value::of(reg));
  constexpr Version with_lanes{8, 8};  // from here on the dense form names the lanes it leaves alone: none
  if (lanes.empty() && !mma.sparse && !mma.scale_a && builder.module().version >= with_lanes) {
    const Expected<Reg> zero = emit_fresh(builder, Type::u32, "mov.u32", {}, where, Value::of_integer(0));
    if (!zero) return Unexpected{zero.error()};
    lanes.assign(mma.cta_group == 2 ? 8 : 4, Value::of(*zero));
  }

  std::vector<Value> operands = {places.d.address(), mma.a_is_tmem ? places.a.address() : places.a_descriptor,
                                 places.b_descriptor};
  if (mma.sparse_metadata) operands.push_back(places.metadata.address());
  operands.push_back(idesc);
  if (!lanes.empty()) operands.push_back(Value::vector_of(lanes));
  if (mma.scale_a) {
    operands.push_back(places.scale_a.address());
    operands.push_back(places.scale_b.address());
  }
  operands.push_back(*enable);
  if (mma.scale_c) operands.push_back(Value::of_integer(*mma.scale_c));
  return builder.emit(words->dots(), operands, mma.pred.guard, where);
}

Expected<void> commit_to(Builder& builder, const Place& mbar, const Tcgen05CommitOptions& commit, SourceLocation where) {
  const Guard& guard = commit.pred.guard;
  constexpr std::string_view helper = "ptx.tcgen05.commit";
  if (commit.space != "cluster" && commit.space != "cta")
    return refuse(Kind::operand_mismatch,
                  cat("`space` of `", helper, "` is `", commit.space, "`; what fits is `cluster` or `cta`"), where);
  if (commit.multicast && !commit.multicast_mask)
    return refuse(Kind::operand_mismatch, cat("`", helper, "` with `multicast` needs a `multicast_mask`"), where,
                  "bit i of the mask stands for the CTA of rank i in the cluster");
  auto words = with_group("tcgen05.commit", helper, commit.cta_group, {"mbarrier::arrive::one", "shared::cluster"}, where);
  if (!words) return Unexpected{words.error()};
  if (!commit.multicast_mask) {
    if (auto e = follow_all(*words, {"b64"}); !e) return e;
    return put_words(builder, *words, guard, where, mbar.address());
  }
  if (auto e = follow_all(*words, {"multicast::cluster", "b64"}); !e) return e;
  Value mask = commit.multicast_mask->value;
  if (mask.kind == Value::Kind::integer) {
    if (mask.integer < 1 || mask.integer > 0xFFFF)
      return refuse(Kind::immediate_range,
                    cat("`multicast_mask` of `", helper, "` is ", mask.integer, "; what fits is 1 to 65535"), where,
                    "bit i of the mask stands for the CTA of rank i in the cluster");
    const Expected<Reg> moved = emit_fresh(builder, Type::b16, "mov.b16", {}, where, mask);
    if (!moved) return Unexpected{moved.error()};
    mask = Value::of(*moved);
  }
  return put_words(builder, *words, guard, where, mbar.address(), mask);
}

}  // namespace

void Tcgen05::alloc(const PlaceArg& slot, const Source& ncols, const Tcgen05Options& options) {
  keep(then(slot.in(builder()), [&](const Place& place) {
    return put_with_group(builder(), "tcgen05.alloc", options, {"sync", "aligned", "shared::cta", "b32"}, slot.at,
                          place.address(), ncols.value);
  }));
}

void Tcgen05::dealloc(const TmemColumns& taddr, const Source& ncols, const Tcgen05Options& options) {
  keep(put_with_group(builder(), "tcgen05.dealloc", options, {"sync", "aligned", "b32"}, ncols.at, Value::of(taddr.reg),
                      ncols.value));
}

void Tcgen05::relinquish_alloc_permit(const Tcgen05Options& options, SourceLocation at) {
  keep(put_with_group(builder(), "tcgen05.relinquish_alloc_permit", options, {"sync", "aligned"}, at));
}

void Tcgen05::mma(const TmemArg& d, const PlaceArg& a_desc, const PlaceArg& b_desc, const Source& idesc,
                  const Tcgen05MmaOptions& options) {
  keep(then(places_of(builder(), d, a_desc, b_desc, options),
            [&](const Placed& places) { return product(builder(), places, idesc.value, options, d.at); }));
}

void Tcgen05::commit(const PlaceArg& mbar, const Tcgen05CommitOptions& options) {
  keep(then(mbar.in(builder()), [&](const Place& place) { return commit_to(builder(), place, options, mbar.at); }));
}

void Tcgen05::fence_before_thread_sync(const Pred& pred, SourceLocation at) {
  keep(emit(builder(), "tcgen05.fence::before_thread_sync", pred.guard, at));
}
void Tcgen05::fence_after_thread_sync(const Pred& pred, SourceLocation at) {
  keep(emit(builder(), "tcgen05.fence::after_thread_sync", pred.guard, at));
}
void Tcgen05::wait_ld(const Pred& pred, SourceLocation at) {
  keep(emit(builder(), "tcgen05.wait::ld.sync.aligned", pred.guard, at));
}
void Tcgen05::wait_st(const Pred& pred, SourceLocation at) {
  keep(emit(builder(), "tcgen05.wait::st.sync.aligned", pred.guard, at));
}

void Tcgen05::ld(const Registers& dst, const TmemArg& taddr, const Tcgen05LoadOptions& options) {
  const auto& [shape, count, dtype, pack, half_split_offset, pred] = options;
  keep(transfer(builder(), {taddr, dst, shape, count, dtype, pack, half_split_offset}, true, pred.guard));
}

void Tcgen05::st(const TmemArg& taddr, const Registers& src, const Tcgen05StoreOptions& options) {
  const auto& [shape, count, dtype, unpack, half_split_offset, pred] = options;
  keep(transfer(builder(), {taddr, src, shape, count, dtype, unpack, half_split_offset}, false, pred.guard));
}

void Tcgen05::cp(const TmemArg& taddr, const MatrixDescriptor& src, const Tcgen05CopyOptions& options) {
  constexpr std::string_view helper = "ptx.tcgen05.cp";
  if (options.src_is_addr.value_or(false))
    return keep(refuse(Kind::operand_mismatch,
                       cat('`', helper, "` is told that its source is an address; PTX takes a matrix descriptor"), taddr.at,
                       "build it by `ptx.tcgen05.descriptor` from the address in shared memory"));
  const Expected<Place> place = taddr.in(builder(), helper);
  if (!place) return keep(Unexpected{place.error()});
  auto words = with_group("tcgen05.cp", helper, options.cta_group, {}, taddr.at);
  if (!words) return keep(Unexpected{words.error()});
  for (std::string_view rest = options.size; !rest.empty();) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    if (auto e = words->follow(rest.substr(0, dot), "`size`"); !e) return keep(std::move(e));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  keep(put_words(builder(), *words, options.pred.guard, taddr.at, place->address(), Value::of(src.reg)));
}

void Tcgen05::shift(const TmemArg& taddr, const Tcgen05Options& options) {
  keep(then(taddr.in(builder(), "ptx.tcgen05.shift"), [&](const Place& place) {
    return put_with_group(builder(), "tcgen05.shift", options, {"down"}, taddr.at, place.address());
  }));
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

std::uint32_t Tcgen05::number(Expected<std::uint32_t> made, SourceLocation at) {
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
std::uint32_t Tcgen05::make_instr_desc_f16bf16_f32(const InstrDescF16Bf16F32& d, SourceLocation at) {
  return number(instruction_descriptor(d), at);
}
std::uint32_t Tcgen05::make_instr_desc_f16(const layout::InstructionDescriptor& d, SourceLocation at) {
  return number(layout::descriptor_bits(layout::MmaKind::f16, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_tf32(const layout::InstructionDescriptor& d, SourceLocation at) {
  return number(layout::descriptor_bits(layout::MmaKind::tf32, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_f8f6f4(const layout::InstructionDescriptor& d, SourceLocation at) {
  return number(layout::descriptor_bits(layout::MmaKind::f8f6f4, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_i8(const layout::InstructionDescriptor& d, SourceLocation at) {
  return number(layout::descriptor_bits(layout::MmaKind::i8, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_mxf8f6f4(const layout::ScaledInstructionDescriptor& d, SourceLocation at) {
  return number(layout::descriptor_bits(layout::ScaledMmaKind::mxf8f6f4, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_mxf4(const layout::ScaledInstructionDescriptor& d, SourceLocation at) {
  return number(layout::descriptor_bits(layout::ScaledMmaKind::mxf4, d), at);
}
std::uint32_t Tcgen05::make_instr_desc_mxf4nvf4(const layout::ScaledInstructionDescriptor& d, SourceLocation at) {
  return number(layout::descriptor_bits(layout::ScaledMmaKind::mxf4nvf4, d), at);
}

}  // namespace ptx::write
