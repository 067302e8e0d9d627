#include "ptx/write/idiom/tcgen05.hpp"

#include <algorithm>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/idiom/descriptor.hpp"
#include "ptx/write/idiom/words.hpp"
#include "ptx/write/put.hpp"

namespace ptx::write::idiom {
namespace {

Expected<void> follow_group(Words& words, std::string_view helper, std::int64_t cta_group, Where where) {
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
Expected<void> put_words(Builder& builder, const Words& words, const Guard& guard, Where where, const V&... operands) {
  const std::array<Value, sizeof...(V)> values = {operands...};
  return builder.emit(words.dots(), values, guard, where);
}

// "tcgen05.alloc" with its group and what follows.
Expected<Words> with_group(std::string_view opcode, std::string_view helper, std::int64_t cta_group,
                           std::initializer_list<std::string_view> behind, Where where) {
  Words words(opcode, helper, where);
  if (auto e = follow_group(words, helper, cta_group, where); !e) return Unexpected{std::move(e).error()};
  if (auto e = follow_all(words, behind); !e) return Unexpected{std::move(e).error()};
  return words;
}

Expected<void> transfer(Builder& builder, const Tcgen05Transfer& t, bool load, const Guard& guard, Where where) {
  const std::string_view helper = load ? "ptx.tcgen05.ld" : "ptx.tcgen05.st";
  Words words(load ? "tcgen05.ld.sync.aligned" : "tcgen05.st.sync.aligned", helper, where);
  if (auto e = words.follow(t.shape, "`shape`"); !e) return e;
  if (auto e = words.follow(cat('x', t.count), "`count`"); !e) return e;
  if (t.pack)
    if (auto e = words.follow(load ? "pack::16b" : "unpack::16b", load ? "`pack`" : "`unpack`"); !e) return e;
  if (auto e = words.follow(t.dtype, "`dtype`"); !e) return e;

  std::vector<Value> parts;
  for (const Reg reg : t.registers) parts.push_back(Value::of(reg));
  const Value registers = Value::vector_of(parts), taddr = t.taddr.address();
  std::vector<Value> operands = load ? std::vector{registers, taddr} : std::vector{taddr};
  if (t.half_split_offset) operands.push_back(Value::of_integer(*t.half_split_offset));
  if (!load) operands.push_back(registers);
  for (const isa::Dots::State& state : words.dots().complete()) {
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

Expected<Words> mma_words(const Tcgen05Mma& mma, Where where) {
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
    if (!mma.a_tmem)
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
Expected<void> check_operands(const Tcgen05Mma& mma, Where where) {
  const auto wrong = [&](std::string_view name, const std::string& message, std::string_view hint = {}) {
    return refuse(Kind::operand_mismatch, cat('`', name, "` of `", mma_helper, "` ", message), where, hint);
  };
  const auto has_bits = [](const Value& value, int bits) {
    return value.kind == Value::Kind::reg && isa::bits(value.reg.type) == bits;
  };
  constexpr std::string_view no_descriptor = "is not a 64-bit register; what fits is a shared-memory descriptor";
  if (!mma.a_tmem && !has_bits(mma.a_descriptor, 64))
    return wrong("a_desc", std::string(no_descriptor), "an a in tensor memory is given with `a_is_tmem=True`");
  if (!has_bits(mma.b_descriptor, 64)) return wrong("b_desc", std::string(no_descriptor));
  if (mma.idesc.kind != Value::Kind::integer && !has_bits(mma.idesc, 32))
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
  if (!mma.disable_output_lane.empty() && mma.scale_a) return wrong("disable_output_lane", "is given for a product with scales");
  if (!mma.disable_output_lane.empty() && mma.disable_output_lane.size() != lanes)
    return wrong("disable_output_lane", cat("has ", mma.disable_output_lane.size(), " registers; what fits is ", lanes));
  return {};
}

}  // namespace

Expected<void> tcgen05_alloc(Builder& builder, const Place& slot, const Value& columns, std::int64_t cta_group,
                             const Guard& guard, Where where) {
  const auto words =
      with_group("tcgen05.alloc", "ptx.tcgen05.alloc", cta_group, {"sync", "aligned", "shared::cta", "b32"}, where);
  if (!words) return Unexpected{words.error()};
  return put_words(builder, *words, guard, where, slot.address(), columns);
}

Expected<void> tcgen05_dealloc(Builder& builder, const Value& taddr, const Value& columns, std::int64_t cta_group,
                               const Guard& guard, Where where) {
  const auto words = with_group("tcgen05.dealloc", "ptx.tcgen05.dealloc", cta_group, {"sync", "aligned", "b32"}, where);
  if (!words) return Unexpected{words.error()};
  return put_words(builder, *words, guard, where, taddr, columns);
}

Expected<void> tcgen05_relinquish_alloc_permit(Builder& builder, std::int64_t cta_group, const Guard& guard, Where where) {
  const auto words =
      with_group("tcgen05.relinquish_alloc_permit", "ptx.tcgen05.relinquish_alloc_permit", cta_group, {"sync", "aligned"}, where);
  if (!words) return Unexpected{words.error()};
  return put_words(builder, *words, guard, where);
}

Expected<void> tcgen05_commit(Builder& builder, const Tcgen05Commit& commit, const Guard& guard, Where where) {
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
    return put_words(builder, *words, guard, where, commit.mbar.address());
  }
  if (auto e = follow_all(*words, {"multicast::cluster", "b64"}); !e) return e;
  Value mask = *commit.multicast_mask;
  if (mask.kind == Value::Kind::integer) {
    if (mask.integer < 1 || mask.integer > 0xFFFF)
      return refuse(Kind::immediate_range,
                    cat("`multicast_mask` of `", helper, "` is ", mask.integer, "; what fits is 1 to 65535"), where,
                    "bit i of the mask stands for the CTA of rank i in the cluster");
    const Expected<Reg> moved = put_fresh(builder, Type::b16, "mov.b16", {}, where, mask);
    if (!moved) return Unexpected{moved.error()};
    mask = Value::of(*moved);
  }
  return put_words(builder, *words, guard, where, commit.mbar.address(), mask);
}

Expected<void> tcgen05_fence(Builder& builder, bool after, const Guard& guard, Where where) {
  return put(builder, after ? "tcgen05.fence::after_thread_sync" : "tcgen05.fence::before_thread_sync", guard, where);
}

Expected<void> tcgen05_wait(Builder& builder, bool stores, const Guard& guard, Where where) {
  return put(builder, stores ? "tcgen05.wait::st.sync.aligned" : "tcgen05.wait::ld.sync.aligned", guard, where);
}

Expected<void> tcgen05_ld(Builder& builder, const Tcgen05Transfer& load, const Guard& guard, Where where) {
  return transfer(builder, load, true, guard, where);
}
Expected<void> tcgen05_st(Builder& builder, const Tcgen05Transfer& store, const Guard& guard, Where where) {
  return transfer(builder, store, false, guard, where);
}

Expected<void> tcgen05_cp(Builder& builder, const Place& taddr, Reg descriptor, std::string_view size, std::int64_t cta_group,
                          const Guard& guard, Where where) {
  auto words = with_group("tcgen05.cp", "ptx.tcgen05.cp", cta_group, {}, where);
  if (!words) return Unexpected{words.error()};
  for (std::string_view rest = size; !rest.empty();) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    if (auto e = words->follow(rest.substr(0, dot), "`size`"); !e) return e;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  return put_words(builder, *words, guard, where, taddr.address(), Value::of(descriptor));
}

Expected<void> tcgen05_shift(Builder& builder, const Place& taddr, std::int64_t cta_group, const Guard& guard, Where where) {
  const auto words = with_group("tcgen05.shift", "ptx.tcgen05.shift", cta_group, {"down"}, where);
  if (!words) return Unexpected{words.error()};
  return put_words(builder, *words, guard, where, taddr.address());
}

Expected<void> tcgen05_mma(Builder& builder, const Tcgen05Mma& mma, const Guard& guard, Where where) {
  const Expected<Words> words = mma_words(mma, where);
  if (!words) return Unexpected{words.error()};
  if (auto e = check_operands(mma, where); !e) return e;
  const Expected<Value> enable = enable_predicate(builder, mma.enable, mma.enable_name, where);
  if (!enable) return Unexpected{enable.error()};

  std::vector<Value> lanes;
  for (const Reg reg : mma.disable_output_lane) lanes.push_back(Value::of(reg));
  constexpr Version with_lanes{8, 8};  // from here on the dense form names the lanes it leaves alone: none
  if (lanes.empty() && !mma.sparse && !mma.scale_a && builder.module().version >= with_lanes) {
    const Expected<Reg> zero = put_fresh(builder, Type::u32, "mov.u32", {}, where, Value::of_integer(0));
    if (!zero) return Unexpected{zero.error()};
    lanes.assign(mma.cta_group == 2 ? 8 : 4, Value::of(*zero));
  }

  std::vector<Value> operands = {mma.d.address(), mma.a_tmem ? mma.a_tmem->address() : mma.a_descriptor, mma.b_descriptor};
  if (mma.sparse_metadata) operands.push_back(mma.sparse_metadata->address());
  operands.push_back(mma.idesc);
  if (!lanes.empty()) operands.push_back(Value::vector_of(lanes));
  if (mma.scale_a) {
    operands.push_back(mma.scale_a->address());
    operands.push_back(mma.scale_b->address());
  }
  operands.push_back(*enable);
  if (mma.scale_c) operands.push_back(Value::of_integer(*mma.scale_c));
  return builder.emit(words->dots(), operands, guard, where);
}

}  // namespace ptx::write::idiom
