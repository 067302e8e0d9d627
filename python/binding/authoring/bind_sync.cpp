// `ptx.mbarrier`, `fence`, `cluster`, `pipeline`, `bar`, `setmaxnreg`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>

#include "ptx/write/door/sync_helpers.hpp"
#include "ptx/write/idiom/smem.hpp"
#include "python/binding/authoring/helpers.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

namespace idiom = write::idiom;
using write::Place;
using write::Value;

/// `ptx.named_barrier(id, count=…)`
struct NamedBarrier {
  nb::object id, count;
};
/// `ptx.pipeline(n)`
struct PipelineState {
  std::int64_t stages = 0;
  nb::object cursor, phase;
};

// One call: its trace, and what its arguments view.
struct SyncCall {
  explicit SyncCall(const char* name) : what(name), trace(Trace::require(name)), operands(trace) {}
  [[nodiscard]] write::Builder& builder() { return trace.builder(); }
  [[nodiscard]] SourceLocation where() { return trace.where(); }
  Place place(nb::handle object) { return place_argument(trace, operands, object, what); }
  nb::object made(Expected<write::Reg> reg) { return make_reg(trace, unwrap(std::move(reg))); }

  const char* what;
  Trace& trace;
  Operands operands;
};

// ---- mbarrier ---------------------------------------------------------------------------------------------------------

BarrierArray barrier_array(nb::object base, std::int64_t byte_offset, std::int64_t count) {
  SyncCall call("ptx.mbarrier.array");
  unwrap(idiom::check_barrier_array(byte_offset, count, call.where()));
  if (!is_shared_handle(base))
    (void)call.place(base);  // judged now; a handle's place may be instructions, written when it is used
  return {std::move(base), byte_offset, count};
}

BarrierSlot slot_of(Self<BarrierArray> self, std::int64_t index) {
  if (index < 0 || index >= self->count)
    throw nb::index_error(cat("the array has ", self->count, " barriers; index ", index, " is out of range").c_str());
  return {nb::borrow(self.object), index, {}};
}

// The address is computed here, and not at the first use, which may lie in a block that the other uses do not.
BarrierSlot slot_at(Self<BarrierArray> self, nb::handle stage) {
  if (PyIndex_Check(stage.ptr())) return slot_of(self, nb::cast<std::int64_t>(stage));
  SyncCall call("BarrierArray.at");
  const Value number = as<Reg>(stage) != nullptr ? call.operands.value(stage) : Value{};
  if (as<Reg>(stage) == nullptr)
    raise(Kind::argument_kind, cat("`BarrierArray.at` is given ", describe(stage), "; what fits is a 32-bit register or an int"),
          call.where());
  const Place first = call.place(self->base).at(self->byte_offset);
  return {nb::borrow(self.object), 0, call.made(idiom::mbarrier_address(call.builder(), first, number, call.where()))};
}

// Every barrier of an array, as slots.
template <class Do>
void each(Self<BarrierArray> self, Do what) {
  for (std::int64_t i = 0; i < self->count; ++i) what(nb::cast(slot_of(self, i)));
}

nb::object addr_reg(Self<BarrierSlot> self) {
  SyncCall call("BarrierSlot.addr_reg");
  if (const nb::object& address = self->address; address.is_valid()) return address;
  return call.made(write::address_register(call.builder(), call.place(self.object), call.where()));
}

void bind_mbarrier(nb::module_& m) {
  const nb::object mbarrier = space(m, "mbarrier",
                                    "Barriers in shared memory. The first argument is one of `smem.mbarrier`, a slot, a 32-bit "
                                    "register with its address, or an address.");
  helpers::bind_all<As::function>(mbarrier, write::declare::mbarrier_helpers);
  function(mbarrier, "array(base|smem_base: typing.Any, byte_offset: int, count: int) -> BarrierArray",
           "`count` barriers at `base` + `byte_offset` + 8·i, in memory laid out by hand.", barrier_array);

  Class<BarrierArray> array(m, "BarrierArray", "Barriers in memory laid out by hand: `b[i]`, or `b.at(stage)`.");
  array.field<&BarrierArray::count>("count -> int")
      .field<&BarrierArray::byte_offset>("byte_offset -> int")
      .field<&BarrierArray::base>("base -> object")
      .dunder("__len__(self) -> int", [](const BarrierArray& a) { return a.count; })
      .dunder("__getitem__(self, index: int) -> BarrierSlot", slot_of)
      .function("at(self, stage: Reg | int) -> BarrierSlot",
                "The barrier whose number is in a register; its address is computed here.", slot_at)
      .function("init_all(self, count: Reg | int, *, pred: Reg | NegPred | None = None) -> None", "`init` of each.",
                [](Self<BarrierArray> self, nb::handle count, nb::handle pred) {
                  each(self, [&](nb::handle slot) { slot.attr("init")(count, nb::arg("pred") = pred); });
                })
      .function(
          "arrive_remote_all(self, cta|cta_id: Reg | int, count: Reg | int = 1, *, pred: Reg | NegPred | None = None) -> None",
          "`arrive_remote` at each.",
          [](Self<BarrierArray> self, nb::handle cta, nb::handle count, nb::handle pred) {
            each(self, [&](nb::handle slot) { slot.attr("arrive_remote")(cta, count, nb::arg("pred") = pred); });
          })
      .dunder("__repr__(self) -> str",
              [](const BarrierArray& a) { return nb::str("BarrierArray({}, {}, {})").format(a.base, a.byte_offset, a.count); });

  Class<BarrierSlot> slot(m, "BarrierSlot", "One barrier of a BarrierArray.");
  slot.value("byte_offset -> int", "Bytes from the array's base; for a slot made by `at`, of the first barrier.",
             [](const BarrierSlot& s) { return as<BarrierArray>(s.array)->byte_offset + idiom::mbarrier_bytes * s.index; });
  helpers::bind_all<As::method_of_first>(slot, write::declare::barrier_slot_helpers);
  slot.function("addr_reg(self) -> Reg", "Its address, in a 32-bit register.", addr_reg)
      .function("address_operand(self) -> Address", "Its address as an operand: `ptx.addr(slot)`.",
                [](Self<BarrierSlot> self) { return Address{nb::borrow(self.object), nb::none()}; })
      .dunder("__repr__(self) -> str", [](const BarrierSlot& s) {
        return s.address.is_valid() ? nb::str("BarrierSlot({}, at {})").format(s.array, s.address)
                                    : nb::str("BarrierSlot({}, {})").format(s.array, s.index);
      });
}

// ---- pipelines ------------------------------------------------------------------------------------------------------------

PipelineState pipeline(std::int64_t stages, nb::object cursor, nb::object phase) {
  SyncCall call("ptx.pipeline");
  const auto given = [&](const nb::object& reg) {
    return reg.is_none() ? std::nullopt : std::optional(register_argument(call.trace, reg, "ptx.pipeline"));
  };
  const idiom::Pipeline made = unwrap(idiom::make_pipeline(call.builder(), stages, given(cursor), given(phase), call.where()));
  if (cursor.is_none()) cursor = make_reg(call.trace, made.cursor);
  if (phase.is_none()) phase = make_reg(call.trace, made.phase);
  return {stages, std::move(cursor), std::move(phase)};
}

nb::tuple advance(const PipelineState& state) {
  SyncCall call("PipelineState.advance");
  const idiom::Pipeline pipeline{state.stages, register_argument(call.trace, state.cursor, "PipelineState.advance"),
                                 register_argument(call.trace, state.phase, "PipelineState.advance")};
  return nb::make_tuple(call.made(idiom::advance(call.builder(), pipeline, call.where())), state.phase);
}

void bind_pipeline(nb::module_& m) {
  Class<PipelineState>(m, "PipelineState", "A ring of stages, from `ptx.pipeline`.")
      .field<&PipelineState::stages>("n_stages -> int")
      .def_rw("cursor", &PipelineState::cursor, nb::for_getter(nb::sig("def cursor(self) -> Reg")),
              nb::for_setter(nb::sig("def cursor(self, value: Reg, /) -> None")))
      .def_rw("phase", &PipelineState::phase, nb::for_getter(nb::sig("def phase(self) -> Reg")),
              nb::for_setter(nb::sig("def phase(self, value: Reg, /) -> None")))
      .function("advance(self) -> tuple[Reg, Reg]",
                "Goes on to the next stage: its number in a fresh register, and the phase of its barriers.", advance);
  function(m, "pipeline(n_stages: int, *, cursor: Reg | None = None, phase: Reg | None = None) -> PipelineState",
           "The state of a ring of `n_stages` buffers: the next stage and the parity that flips each time round, both from 0 "
           "unless given.",
           pipeline);
}

// ---- the block ------------------------------------------------------------------------------------------------------------

// A barrier that is named once and waited for often.
void sync_named(const NamedBarrier& barrier, nb::handle pred) {
  SyncCall call("NamedBarrier.sync");
  const write::Guard guard = guard_argument(call.trace, pred);
  const Value number = call.operands.value(barrier.id);
  const auto count = barrier.count.is_none() ? std::nullopt : std::optional(call.operands.value(barrier.count));
  unwrap(idiom::bar_sync(call.builder(), number, count, guard, call.where()));
}

void bind_named_barrier(nb::module_& m) {
  Class<NamedBarrier>(m, "NamedBarrier", "A barrier of the block by its number, from `ptx.named_barrier`.")
      .field<&NamedBarrier::id>("id -> Reg | int")
      .field<&NamedBarrier::id>("barrier_id -> Reg | int", "The same as `id`.")
      .field<&NamedBarrier::count>("count -> Reg | int | None")
      .function("sync(self, *, pred: Reg | NegPred | None = None) -> None", "`bar.sync id`, with the count if there is one.",
                sync_named);
  function(m, "named_barrier(id|barrier_id: Reg | int, *, count: Reg | int | None = None) -> NamedBarrier",
           "Barrier `id` of the block, for all its threads or `count` of them.",
           [](nb::object id, nb::object count) { return NamedBarrier{std::move(id), std::move(count)}; });
}

}  // namespace

void bind_sync(nb::module_& m) {
  using namespace write::declare;
  bind_mbarrier(m);
  helpers::bind_all<As::function>(space(m, "fence", "Fences between the ways to memory."), fence_helpers);
  helpers::bind_all<As::function>(space(m, "cluster", "Blocks of a cluster."), cluster_helpers);
  bind_pipeline(m);
  helpers::bind_all<As::function>(space(m, "bar", "Barriers of the block."), bar_helpers);
  bind_named_barrier(m);
  helpers::bind_all<As::function>(m, block_helpers);
}

}  // namespace ptx::python
