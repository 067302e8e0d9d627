#include "ptx/write/door/sync.hpp"

#include <algorithm>

#include "ptx/write/emit.hpp"
#include "ptx/write/idiom/smem.hpp"

namespace ptx {
namespace {

using write::Builder;
using write::Place;
using write::PlaceArg;

void keep(Builder& builder, Expected<void> done) {
  if (!done) builder.fail(std::move(done).error());
}

write::Mbarrier door(Builder& builder) { return write::Mbarrier(builder); }

}  // namespace

void BarrierSlot::init(const write::Source& count, const write::Pred& guard) const {
  door(builder()).init(PlaceArg(*this, count.at), count, guard);
}
void BarrierSlot::wait(const write::Source& phase, const write::Pred& guard) const {
  door(builder()).wait(PlaceArg(*this, phase.at), phase, guard);
}
Reg<Type::b64> BarrierSlot::arrive(const write::Pred& guard, SourceLocation at) const {
  return door(builder()).arrive(PlaceArg(*this, at), guard);
}
Reg<Type::b64> BarrierSlot::arrive_expect_tx(const write::Source& bytes, const write::Pred& guard) const {
  return door(builder()).arrive_expect_tx(PlaceArg(*this, bytes.at), bytes, guard);
}
void BarrierSlot::arrive_remote(const write::Source& cta, const write::Source& count, const write::Pred& guard) const {
  write::Cluster(builder()).arrive_remote(PlaceArg(*this, cta.at), cta, count, guard);
}
Reg<Type::u32> BarrierSlot::addr_reg(SourceLocation at) const {
  return {builder(), write::keep_error(builder(), PlaceArg(*this, at).address_in(builder()), Type::u32)};
}

BarrierSlot BarrierArray::operator[](write::Index index) const {
  const std::size_t i = write::checked_index(builder(), index, static_cast<std::size_t>(count_), "barriers");
  return BarrierSlot(moved(static_cast<std::int64_t>(i) * write::idiom::mbarrier_bytes));
}

BarrierSlot BarrierArray::at(const write::Source& stage) const {
  Expected<write::Reg> address = write::then(PlaceArg(*this, stage.at).in(builder()), [&](const Place& first) {
    return write::idiom::mbarrier_address(builder(), first, stage.value, stage.at);
  });
  const write::Reg reg = write::keep_error(builder(), std::move(address), Type::u32);
  return BarrierSlot(SharedHandle(builder(), Place(write::Value::of(reg))));
}

void BarrierArray::init_all(const write::Source& count, const write::Pred& guard) const {
  for (std::int64_t i = 0; i < count_; ++i) (*this)[write::Index(i, count.at)].init(count, guard);
}

void BarrierArray::arrive_remote_all(const write::Source& cta, const write::Source& count, const write::Pred& guard) const {
  for (std::int64_t i = 0; i < count_; ++i) (*this)[write::Index(i, cta.at)].arrive_remote(cta, count, guard);
}

std::pair<Reg<Type::u32>, Reg<Type::u32>> PipelineState::advance(SourceLocation at) {
  Builder& builder = cursor.builder();
  auto stage = write::idiom::advance(builder, {n_stages, cursor.untyped(), phase.untyped()}, at);
  return {Reg<Type::u32>(builder, write::keep_error(builder, std::move(stage), Type::u32)), phase};
}

namespace write {

void Mbarrier::init(const PlaceArg& m, const Source& count, const Pred& guard) {
  keep(then(m.in(builder()), [&](const Place& place) {
    return emit(builder(), "mbarrier.init.shared::cta.b64", guard.guard, m.at, place.address(), count.value);
  }));
}

void Mbarrier::inval(const PlaceArg& m, const Pred& guard) {
  keep(then(m.in(builder()), [&](const Place& place) {
    return emit(builder(), "mbarrier.inval.shared.b64", guard.guard, m.at, place.address());
  }));
}

ptx::Reg<Type::b64> Mbarrier::arrive(const PlaceArg& m, const Pred& guard) {
  return typed<Type::b64>(then(m.in(builder()), [&](const Place& place) {
    return emit_fresh(builder(), Type::b64, "mbarrier.arrive.shared.b64", guard.guard, m.at, place.address());
  }));
}

ptx::Reg<Type::b64> Mbarrier::arrive_expect_tx(const PlaceArg& m, const Source& bytes, const Pred& guard) {
  return typed<Type::b64>(then(m.in(builder()), [&](const Place& place) {
    return emit_fresh(builder(), Type::b64, "mbarrier.arrive.expect_tx.shared::cta.b64", guard.guard, m.at, place.address(),
                      bytes.value);
  }));
}

void Mbarrier::expect_tx(const PlaceArg& m, const Source& bytes, const Pred& guard) {
  keep(then(m.in(builder()), [&](const Place& place) {
    return emit(builder(), "mbarrier.expect_tx.shared.b64", guard.guard, m.at, place.address(), bytes.value);
  }));
}

ptx::Reg<Type::pred> Mbarrier::try_wait(const PlaceArg& m, const Source& phase, const TryWait& options) {
  return typed<Type::pred>(then(m.in(builder()), [&](const Place& place) {
    return idiom::mbarrier_try_wait(builder(), place, phase.value, options.parity, options.pred.guard, m.at);
  }));
}

void Mbarrier::wait(const PlaceArg& m, const Source& phase, const Pred& guard) {
  keep(then(m.in(builder()),
            [&](const Place& place) { return idiom::mbarrier_wait(builder(), place, phase.value, guard.guard, m.at); }));
}

BarrierArray Mbarrier::array(const PlaceArg& base, std::int64_t byte_offset, std::int64_t count) {
  keep(idiom::check_barrier_array(byte_offset, count, base.at));
  count = std::max<std::int64_t>(count, 1);  // something to go on with
  if (const SharedHandle* handle = base.handle()) return {handle->moved(byte_offset), count};
  const Expected<Place> place = base.in(builder());
  if (!place) builder().fail(place.error());
  return {SharedHandle(builder(), (place ? *place : Place(Value::of_symbol("_failed"))).at(byte_offset)), count};
}

void Fence::proxy_async(const Pred& guard, SourceLocation at) { keep(emit(builder(), "fence.proxy.async", guard.guard, at)); }
void Fence::proxy_async_shared_cta(const Pred& guard, SourceLocation at) {
  keep(emit(builder(), "fence.proxy.async.shared::cta", guard.guard, at));
}
void Fence::mbarrier_init(const Pred& guard, SourceLocation at) {
  keep(emit(builder(), "fence.mbarrier_init.release.cluster", guard.guard, at));
}
void Fence::proxy_async_generic_acquire_shared_cluster(const Pred& guard, SourceLocation at) {
  keep(emit(builder(), "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", guard.guard, at));
}

void Cluster::arrive(Options options, SourceLocation at) {
  keep(emit(builder(), options.aligned ? "barrier.cluster.arrive.aligned" : "barrier.cluster.arrive", options.pred.guard, at));
}
void Cluster::wait(Options options, SourceLocation at) {
  keep(emit(builder(), options.aligned ? "barrier.cluster.wait.aligned" : "barrier.cluster.wait", options.pred.guard, at));
}
void Cluster::sync(Options options, SourceLocation at) {
  arrive(options, at);
  wait(options, at);
}

ptx::Reg<Type::pred> Cluster::rank(const Source& n) { return typed<Type::pred>(idiom::cluster_rank(builder(), n.value, n.at)); }

ptx::Reg<Type::b32> Cluster::map_shared_u32(const PlaceArg& address, const Source& cta, const Pred& guard) {
  return typed<Type::b32>(then(address.in(builder()), [&](const Place& place) {
    return idiom::map_shared(builder(), place, cta.value, guard.guard, address.at);
  }));
}

void Cluster::arrive_remote(const PlaceArg& address, const Source& cta, const Source& count, const Pred& guard) {
  keep(then(address.in(builder()), [&](const Place& place) {
    return idiom::mbarrier_arrive_remote(builder(), place, cta.value, count.value, guard.guard, address.at);
  }));
}

void Cluster::arrive_multicast(const PlaceArg& address, const BlockMask& mask, const Source& count, const Pred& guard) {
  keep(then(address.in(builder()), [&](const Place& place) {
    return idiom::mbarrier_arrive_multicast(builder(), place, mask.bits, count.value, guard.guard, address.at);
  }));
}

void Bar::sync(const Source& n, const std::optional<Source>& count, const Pred& guard) {
  keep(idiom::bar_sync(builder(), n.value, count ? std::optional(count->value) : std::nullopt, guard.guard, n.at));
}

void NamedBarrier::sync(const Pred& guard, SourceLocation at) {
  keep(idiom::bar_sync(builder(), id_.value, count_ ? std::optional(count_->value) : std::nullopt, guard.guard, at));
}

idiom::Pipeline make_pipeline(Builder& builder, std::int64_t stages, const std::optional<Reg>& cursor,
                              const std::optional<Reg>& phase, SourceLocation at) {
  Expected<idiom::Pipeline> made = idiom::make_pipeline(builder, stages, cursor, phase, at);
  if (made) return *made;
  builder.fail(std::move(made).error());
  const Reg stand_in = keep_error(builder, builder.reg(Type::u32), Type::u32);
  return {1, stand_in, stand_in};
}

void set_registers(Builder& builder, std::int64_t n, bool inc, const Pred& guard, SourceLocation at) {
  ptx::keep(builder, emit(builder, inc ? "setmaxnreg.inc.sync.aligned.u32" : "setmaxnreg.dec.sync.aligned.u32", guard.guard, at,
                          Value::of_integer(n)));
}

void set_registers_inc(Builder& builder, std::int64_t n, const Pred& guard, SourceLocation at) {
  set_registers(builder, n, true, guard, at);
}
void set_registers_dec(Builder& builder, std::int64_t n, const Pred& guard, SourceLocation at) {
  set_registers(builder, n, false, guard, at);
}

void elect(Builder& builder, const Source& dst, const Source& chosen, const Source& mask, const Pred& guard) {
  Value piped = chosen.value;
  piped.piped = true;
  ptx::keep(builder, emit(builder, "elect.sync", guard.guard, mask.at, dst.value, piped, mask.value));
}

}  // namespace write
}  // namespace ptx
