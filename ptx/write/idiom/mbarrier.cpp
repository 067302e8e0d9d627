#include "ptx/write/idiom/mbarrier.hpp"

#include "ptx/base/base.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write::idiom {

Expected<Reg> mbarrier_try_wait(Builder& builder, const Place& m, const Value& phase, bool parity, const Guard& guard,
                                SourceLocation where) {
  return emit_fresh(builder, Type::pred, parity ? "mbarrier.try_wait.parity.shared.b64" : "mbarrier.try_wait.shared.b64", guard,
                    where, m.address(), phase);
}

Expected<void> mbarrier_wait(Builder& builder, const Place& m, const Value& phase, const Guard& guard, SourceLocation where) {
  std::string behind;
  if (guard.predicate) {
    behind = builder.fresh_label("mbar_go");
    if (auto e = branch(builder, behind, {guard.predicate, !guard.negated}, where); !e) return e;
  }
  const std::string again = builder.fresh_label("mbar_wait");
  if (auto e = builder.label(again, where); !e) return e;
  const Expected<Reg> complete = mbarrier_try_wait(builder, m, phase, true, {}, where);
  if (!complete) return Unexpected{complete.error()};
  if (auto e = branch(builder, again, {*complete, true}, where); !e) return e;
  return behind.empty() ? Expected<void>() : builder.label(behind, where);
}

Expected<Reg> mbarrier_address(Builder& builder, const Place& first, const Value& stage, SourceLocation where) {
  const Expected<Value> index = readable(builder, stage, where);
  if (!index) return Unexpected{index.error()};
  const Expected<Reg> bytes = emit_fresh(builder, Type::u32, "shl.b32", {}, where, *index, Value::of_integer(3));
  if (!bytes) return bytes;
  const Value at = Value::of(*bytes);
  if (first.offset() != 0)
    if (auto e = emit(builder, "add.u32", {}, where, at, at, Value::of_integer(first.offset())); !e)
      return Unexpected{std::move(e).error()};
  const Expected<Reg> base = address_register(builder, Place(first.base()), where);
  if (!base) return base;
  return emit_fresh(builder, Type::u32, "add.u32", {}, where, Value::of(*base), at);
}

Expected<void> check_barrier_array(std::int64_t byte_offset, std::int64_t count, SourceLocation where) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  if (count < 1 || count > most)
    return refuse(Kind::bad_declaration, cat("an array of ", count, " mbarriers; what fits is 1 or more"), where);
  if (byte_offset < 0 || byte_offset > most || byte_offset % 8 != 0)
    return refuse(Kind::bad_declaration,
                  cat("an array of mbarriers starts ", byte_offset, " bytes after its base; what fits is a multiple of 8"), where,
                  "an mbarrier is 8 bytes, aligned to 8");
  return {};
}

Expected<void> mbarrier_arrive_remote(Builder& builder, const Place& m, const Value& cta, const Value& count, const Guard& guard,
                                      SourceLocation where) {
  const Expected<Reg> address = address_register(builder, m, where);
  if (!address) return Unexpected{address.error()};
  const Expected<Value> block = readable(builder, cta, where);
  if (!block) return Unexpected{block.error()};
  builder.open_block(where);
  const auto inside = [&]() -> Expected<void> {
    const Expected<Reg> remote = builder.reg(Type::b32, "remAddr32", where);
    if (!remote) return Unexpected{remote.error()};
    const Value to = Value::of(*remote);
    if (auto e = emit(builder, "mapa.shared::cluster.u32", guard, where, to, Value::of(*address), *block); !e) return e;
    return emit(builder, "mbarrier.arrive.shared::cluster.b64", guard, where, Value{}, Value::address_of({&to, 1}), count);
  };
  auto written = inside();
  auto closed = builder.close_block(where);
  return written ? closed : written;
}

Expected<void> mbarrier_arrive_multicast(Builder& builder, const Place& m, std::int64_t mask, const Value& count,
                                         const Guard& guard, SourceLocation where) {
  constexpr std::int64_t blocks = 16;  // the most that a cluster has
  if (mask <= 0 || mask >= std::int64_t{1} << blocks)
    return refuse(Kind::immediate_range, cat("the mask of an arrival at several blocks is ", mask, "; what fits is 1 to 65535"),
                  where, "bit i stands for block i of the cluster");
  const Expected<Reg> address = address_register(builder, m, where);
  if (!address) return Unexpected{address.error()};
  for (std::int64_t cta = 0; cta < blocks; ++cta)
    if ((mask >> cta & 1) != 0)
      if (auto e = mbarrier_arrive_remote(builder, Place(Value::of(*address)), Value::of_integer(cta), count, guard, where); !e)
        return e;
  return {};
}

}  // namespace ptx::write::idiom
