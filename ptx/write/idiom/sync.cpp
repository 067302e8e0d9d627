#include "ptx/write/idiom/sync.hpp"

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write::idiom {

Expected<void> bar_sync(Builder& builder, const Value& n, const std::optional<Value>& count, const Guard& guard,
                        SourceLocation where) {
  const Expected<Value> number = readable(builder, n, where);
  if (!number) return Unexpected{number.error()};
  if (!count) return emit(builder, "bar.sync", guard, where, *number);
  const Expected<Value> threads = readable(builder, *count, where);
  if (!threads) return Unexpected{threads.error()};
  return emit(builder, "bar.sync", guard, where, *number, *threads);
}

Expected<Reg> cluster_rank(Builder& builder, const Value& n, SourceLocation where) {
  const Expected<Value> number = readable(builder, n, where);
  if (!number) return Unexpected{number.error()};
  const Value special = Value::of_special(*isa::special_from_name("%cluster_ctarank"));
  const Expected<Reg> rank = emit_fresh(builder, Type::u32, "mov.u32", {}, where, special);
  if (!rank) return rank;
  return emit_fresh(builder, Type::pred, "setp.eq.u32", {}, where, Value::of(*rank), *number);
}

Expected<Reg> map_shared(Builder& builder, const Place& place, const Value& cta, const Guard& guard, SourceLocation where) {
  const Expected<Reg> address = address_register(builder, place, where);
  if (!address) return address;
  Value block = cta;
  if (cta.kind == Value::Kind::integer || cta.kind == Value::Kind::special) {
    const Expected<Reg> moved = emit_fresh(builder, Type::u32, "mov.u32", {}, where, cta);
    if (!moved) return moved;
    block = Value::of(*moved);
  }
  return emit_fresh(builder, Type::b32, "mapa.shared::cluster.u32", guard, where, Value::of(*address), block);
}

Expected<Pipeline> make_pipeline(Builder& builder, std::int64_t stages, const std::optional<Reg>& cursor,
                                 const std::optional<Reg>& phase, SourceLocation where) {
  if (stages < 1 || stages > std::int64_t{1} << 16)
    return refuse(Kind::immediate_range, cat("a pipeline of ", stages, " stages; what fits is 1 to 65536"), where);
  Pipeline made{stages, {}, {}};
  for (const auto& [given, reg] : {std::pair(&cursor, &made.cursor), std::pair(&phase, &made.phase)}) {
    const Expected<Reg> zero = *given ? **given : move_to_fresh(builder, Type::u32, Value::of_integer(0), where);
    if (!zero) return Unexpected{zero.error()};
    *reg = *zero;
  }
  return made;
}

Expected<Reg> advance(Builder& builder, const Pipeline& pipeline, SourceLocation where) {
  const Value cursor = Value::of(pipeline.cursor), phase = Value::of(pipeline.phase);
  const Value zero = Value::of_integer(0), one = Value::of_integer(1);
  const Expected<Reg> last =
      emit_fresh(builder, Type::pred, "setp.eq.u32", {}, where, cursor, Value::of_integer(pipeline.stages));
  if (!last) return last;
  const Expected<Reg> flip = emit_fresh(builder, Type::u32, "selp.u32", {}, where, one, zero, Value::of(*last));
  if (!flip) return flip;
  if (auto e = emit(builder, "xor.b32", {}, where, phase, phase, Value::of(*flip)); !e) return Unexpected{std::move(e).error()};
  const Expected<Reg> stage = emit_fresh(builder, Type::u32, "selp.u32", {}, where, zero, cursor, Value::of(*last));
  if (!stage) return stage;
  if (auto e = emit(builder, "add.s32", {}, where, cursor, Value::of(*stage), one); !e) return Unexpected{std::move(e).error()};
  return stage;
}

}  // namespace ptx::write::idiom
