// `ptx.mbarrier`, `fence`, `cluster`, `pipeline`, `bar`, `setmaxnreg`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>

#include "bindings.hpp"
#include "errors.hpp"
#include "places.hpp"
#include "ptx/write/idiom/mbarrier.hpp"
#include "ptx/write/idiom/smem.hpp"
#include "ptx/write/idiom/sync.hpp"

namespace ptx::python {
namespace {

namespace idiom = write::idiom;
using write::Place;
using write::Value;

struct MbarrierSpace {};
struct FenceSpace {};
struct ClusterSpace {};
struct BarSpace {};

/// `ptx.named_barrier(id, count=…)`
struct NamedBarrier {
  nb::object id, count;
};
/// `ptx.pipeline(n)`
struct PipelineState {
  std::int64_t stages = 0;
  nb::object cursor, phase;
};

// One call of a helper: its trace, and what its arguments view.
class SyncCall {
 public:
  explicit SyncCall(const char* what) : what_(what), trace_(Trace::require(what)), operands_(trace_) {}
  [[nodiscard]] Trace& trace() { return trace_; }
  [[nodiscard]] write::Builder& builder() { return trace_.builder(); }
  [[nodiscard]] Where where() { return trace_.where(); }
  Place place(nb::handle object) { return place_argument(trace_, operands_, object, what_); }
  Value value(nb::handle object) { return operands_.value(object); }
  std::optional<Value> optional_value(nb::handle object) {
    return object.is_none() ? std::nullopt : std::optional(operands_.value(object));
  }
  write::Guard guard(nb::handle pred) { return guard_argument(trace_, pred); }
  nb::object made(Expected<write::Reg> reg) { return make_reg(trace_, unwrap(std::move(reg))); }

 private:
  const char* what_;
  Trace& trace_;
  Operands operands_;
};

// ---- mbarrier ---------------------------------------------------------------------------------------------------------

// Arguments are judged before the place, which may write instructions.
void init(nb::handle m, nb::handle count, nb::handle pred) {
  SyncCall call("ptx.mbarrier.init");
  const write::Guard guard = call.guard(pred);
  const Value expected = call.value(count);
  unwrap(idiom::mbarrier_init(call.builder(), call.place(m), expected, guard, call.where()));
}

void inval(nb::handle m, nb::handle pred) {
  SyncCall call("ptx.mbarrier.inval");
  const write::Guard guard = call.guard(pred);
  unwrap(idiom::mbarrier_inval(call.builder(), call.place(m), guard, call.where()));
}

nb::object arrive(nb::handle m, nb::handle pred) {
  SyncCall call("ptx.mbarrier.arrive");
  const write::Guard guard = call.guard(pred);
  return call.made(idiom::mbarrier_arrive(call.builder(), call.place(m), guard, call.where()));
}

nb::object arrive_expect_tx(nb::handle m, nb::handle bytes, nb::handle pred) {
  SyncCall call("ptx.mbarrier.arrive_expect_tx");
  const write::Guard guard = call.guard(pred);
  const Value tx = call.value(bytes);
  return call.made(idiom::mbarrier_arrive_expect_tx(call.builder(), call.place(m), tx, guard, call.where()));
}

void expect_tx(nb::handle m, nb::handle bytes, nb::handle pred) {
  SyncCall call("ptx.mbarrier.expect_tx");
  const write::Guard guard = call.guard(pred);
  const Value tx = call.value(bytes);
  unwrap(idiom::mbarrier_expect_tx(call.builder(), call.place(m), tx, guard, call.where()));
}

nb::object try_wait(nb::handle m, nb::handle phase, bool parity, nb::handle pred) {
  SyncCall call("ptx.mbarrier.try_wait");
  const write::Guard guard = call.guard(pred);
  const Value of = call.value(phase);
  return call.made(idiom::mbarrier_try_wait(call.builder(), call.place(m), of, parity, guard, call.where()));
}

void wait(nb::handle m, nb::handle phase, nb::handle pred) {
  SyncCall call("ptx.mbarrier.wait");
  const write::Guard guard = call.guard(pred);
  const Value parity = call.value(phase);
  unwrap(idiom::mbarrier_wait(call.builder(), call.place(m), parity, guard, call.where()));
}

BarrierArray barrier_array(nb::object base, std::int64_t byte_offset, std::int64_t count) {
  SyncCall call("ptx.mbarrier.array");
  unwrap(idiom::check_barrier_array(byte_offset, count, call.where()));
  if (!is_shared_handle(base))
    (void)call.place(base);  // judged now; a handle's place may be instructions, written when it is used
  return {std::move(base), byte_offset, count};
}

BarrierSlot slot_of(nb::handle self, std::int64_t index) {
  const BarrierArray& array = *as<BarrierArray>(self);
  if (index < 0 || index >= array.count)
    throw nb::index_error(cat("the array has ", array.count, " barriers; index ", index, " is out of range").c_str());
  return {nb::borrow(self), index, {}};
}

// The address is computed here, and not at the first use, which may lie in a block that the other uses do not.
BarrierSlot slot_at(nb::handle self, nb::handle stage) {
  const BarrierArray& array = *as<BarrierArray>(self);
  if (PyIndex_Check(stage.ptr())) return slot_of(self, nb::cast<std::int64_t>(stage));
  SyncCall call("BarrierArray.at");
  const Value number = as<Reg>(stage) != nullptr ? call.value(stage) : Value{};
  if (as<Reg>(stage) == nullptr)
    raise(Kind::argument_kind, cat("`BarrierArray.at` is given ", describe(stage), "; what fits is a 32-bit register or an int"),
          call.where());
  const Place first = call.place(array.base).at(array.byte_offset);
  return {nb::borrow(self), 0, call.made(idiom::mbarrier_address(call.builder(), first, number, call.where()))};
}

void arrive_remote(nb::handle m, nb::handle cta, nb::handle count, nb::handle pred) {
  SyncCall call("ptx.cluster.arrive_remote");
  const write::Guard guard = call.guard(pred);
  const Value block = call.value(cta), arrivals = call.value(count);
  unwrap(idiom::mbarrier_arrive_remote(call.builder(), call.place(m), block, arrivals, guard, call.where()));
}

// Every barrier of an array, as slots.
template <class Do>
void each(nb::handle self, Do what) {
  for (std::int64_t i = 0; i < as<BarrierArray>(self)->count; ++i) what(nb::cast(slot_of(self, i)));
}

nb::object addr_reg(nb::handle self) {
  SyncCall call("BarrierSlot.addr_reg");
  if (const nb::object& address = as<BarrierSlot>(self)->address; address.is_valid()) return address;
  return call.made(write::address_register(call.builder(), call.place(self), call.where()));
}

void bind_mbarrier(nb::module_& m) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  nb::class_<MbarrierSpace>(
      m, "mbarrier",
      "Barriers in shared memory. The first argument is one of `smem.mbarrier`, a slot, a 32-bit register with its "
      "address, or an address.")
      .def_static("init", init, any("m"), any("count"), nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def init(m: typing.Any, count: Reg | int, *, pred: Reg | NegPred | None = None) -> None"),
                  "Makes a barrier that `count` arrivals complete: `mbarrier.init.shared::cta.b64 [m], count`.")
      .def_static("inval", inval, any("m"), nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def inval(m: typing.Any, *, pred: Reg | NegPred | None = None) -> None"),
                  "Frees its memory for other use: `mbarrier.inval.shared.b64 [m]`.")
      .def_static("arrive", arrive, any("m"), nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def arrive(m: typing.Any, *, pred: Reg | NegPred | None = None) -> Reg"),
                  "Arrives: `mbarrier.arrive.shared.b64 state, [m]`, the state in a fresh register.")
      .def_static("arrive_expect_tx", arrive_expect_tx, any("m"), any("bytes"), nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def arrive_expect_tx(m: typing.Any, bytes: Reg | int, *, pred: Reg | NegPred | None = None) -> Reg"),
                  "Expects `bytes` more and arrives: `mbarrier.arrive.expect_tx.shared::cta.b64 state, [m], bytes`.")
      .def_static("expect_tx", expect_tx, any("m"), any("bytes"), nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def expect_tx(m: typing.Any, bytes: Reg | int, *, pred: Reg | NegPred | None = None) -> None"),
                  "Expects `bytes` more: `mbarrier.expect_tx.shared.b64 [m], bytes`.")
      .def_static(
          "try_wait", try_wait, any("m"), any("phase"), nb::kw_only(), nb::arg("parity") = true, nb::arg("pred") = nb::none(),
          nb::sig("def try_wait(m: typing.Any, phase: Reg | int, *, parity: bool = True, pred: Reg | NegPred | None = None) -> "
                  "Reg"),
          "Whether the phase is complete, after a while at most: `mbarrier.try_wait.parity.shared.b64 p, [m], phase`. Without "
          "`parity`, `phase` is the state of an arrival.")
      .def_static(
          "wait", wait, any("m"), any("phase"), nb::kw_only(), nb::arg("pred") = nb::none(),
          nb::sig("def wait(m: typing.Any, phase: Reg | int, *, pred: Reg | NegPred | None = None) -> None"),
          "Waits until the phase of that parity is complete: a loop of `try_wait`. Threads whose `pred` is false do not wait.")
      .def_static("array", barrier_array, any("base"), nb::arg("byte_offset"), nb::arg("count"),
                  nb::sig("def array(base: typing.Any, byte_offset: int, count: int) -> BarrierArray"),
                  "`count` barriers at `base` + `byte_offset` + 8·i, in memory laid out by hand.");

  nb::class_<BarrierArray> array(m, "BarrierArray", "Barriers in memory laid out by hand: `b[i]`, or `b.at(stage)`.");
  detail::python_type<BarrierArray> = reinterpret_cast<PyTypeObject*>(array.ptr());
  array.def_ro("count", &BarrierArray::count)
      .def_ro("byte_offset", &BarrierArray::byte_offset)
      .def_ro("base", &BarrierArray::base)
      .def("__len__", [](const BarrierArray& a) { return a.count; })
      .def("__getitem__", slot_of, nb::arg("index"), nb::sig("def __getitem__(self, index: int) -> BarrierSlot"))
      .def("at", slot_at, nb::arg("stage").none(), nb::sig("def at(self, stage: Reg | int) -> BarrierSlot"),
           "The barrier whose number is in a register; its address is computed here.")
      .def(
          "init_all",
          [](nb::handle self, nb::handle count, nb::handle pred) {
            each(self, [&](nb::handle slot) { init(slot, count, pred); });
          },
          any("count"), nb::kw_only(), nb::arg("pred") = nb::none(),
          nb::sig("def init_all(self, count: Reg | int, *, pred: Reg | NegPred | None = None) -> None"), "`init` of each.")
      .def(
          "arrive_remote_all",
          [](nb::handle self, nb::handle cta, nb::handle count, nb::handle pred) {
            each(self, [&](nb::handle slot) { arrive_remote(slot, cta, count, pred); });
          },
          any("cta"), nb::arg("count") = 1, nb::kw_only(), nb::arg("pred") = nb::none(),
          nb::sig(
              "def arrive_remote_all(self, cta: Reg | int, count: Reg | int = 1, *, pred: Reg | NegPred | None = None) -> None"),
          "`arrive_remote` at each.")
      .def("__repr__",
           [](const BarrierArray& a) { return nb::str("BarrierArray({}, {}, {})").format(a.base, a.byte_offset, a.count); });

  nb::class_<BarrierSlot> slot(m, "BarrierSlot", "One barrier of a BarrierArray.");
  detail::python_type<BarrierSlot> = reinterpret_cast<PyTypeObject*>(slot.ptr());
  slot.def_prop_ro(
          "byte_offset",
          [](const BarrierSlot& s) { return as<BarrierArray>(s.array)->byte_offset + idiom::mbarrier_bytes * s.index; },
          "Bytes from the array's base; for a slot made by `at`, of the first barrier.")
      .def("init", init, any("count"), nb::kw_only(), nb::arg("pred") = nb::none(),
           nb::sig("def init(self, count: Reg | int, *, pred: Reg | NegPred | None = None) -> None"), "See `ptx.mbarrier.init`.")
      .def("wait", wait, any("phase"), nb::kw_only(), nb::arg("pred") = nb::none(),
           nb::sig("def wait(self, phase: Reg | int, *, pred: Reg | NegPred | None = None) -> None"), "See `ptx.mbarrier.wait`.")
      .def("arrive", arrive, nb::kw_only(), nb::arg("pred") = nb::none(),
           nb::sig("def arrive(self, *, pred: Reg | NegPred | None = None) -> Reg"), "See `ptx.mbarrier.arrive`.")
      .def("arrive_expect_tx", arrive_expect_tx, any("bytes"), nb::kw_only(), nb::arg("pred") = nb::none(),
           nb::sig("def arrive_expect_tx(self, bytes: Reg | int, *, pred: Reg | NegPred | None = None) -> Reg"),
           "See `ptx.mbarrier.arrive_expect_tx`.")
      .def("arrive_remote", arrive_remote, any("cta"), nb::arg("count") = 1, nb::kw_only(), nb::arg("pred") = nb::none(),
           nb::sig("def arrive_remote(self, cta: Reg | int, count: Reg | int = 1, *, pred: Reg | NegPred | None = None) -> None"),
           "Arrives at the barrier at the same place of another block of the cluster.")
      .def("addr_reg", addr_reg, nb::sig("def addr_reg(self) -> Reg"), "Its address, in a 32-bit register.")
      .def(
          "address_operand", [](nb::handle self) { return Address{nb::borrow(self), nb::none()}; },
          nb::sig("def address_operand(self) -> Address"), "Its address as an operand: `ptx.addr(slot)`.")
      .def("__repr__", [](const BarrierSlot& s) {
        return s.address.is_valid() ? nb::str("BarrierSlot({}, at {})").format(s.array, s.address)
                                    : nb::str("BarrierSlot({}, {})").format(s.array, s.index);
      });
}

// ---- fences, clusters ---------------------------------------------------------------------------------------------------

template <idiom::FenceKind kind>
void fence(nb::handle pred) {
  SyncCall call("ptx.fence");
  unwrap(idiom::fence(call.builder(), kind, call.guard(pred), call.where()));
}

void bind_fence(nb::module_& m) {
  using idiom::FenceKind;
  nb::class_<FenceSpace>(m, "fence", "Fences between the ways to memory.")
      .def_static("proxy_async", fence<FenceKind::proxy_async>, nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def proxy_async(*, pred: Reg | NegPred | None = None) -> None"), "`fence.proxy.async`")
      .def_static("proxy_async_shared_cta", fence<FenceKind::proxy_async_shared_cta>, nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def proxy_async_shared_cta(*, pred: Reg | NegPred | None = None) -> None"),
                  "`fence.proxy.async.shared::cta`")
      .def_static("mbarrier_init", fence<FenceKind::mbarrier_init>, nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def mbarrier_init(*, pred: Reg | NegPred | None = None) -> None"),
                  "`fence.mbarrier_init.release.cluster`")
      .def_static("proxy_async_generic_acquire_shared_cluster", fence<FenceKind::proxy_async_generic_acquire_shared_cluster>,
                  nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def proxy_async_generic_acquire_shared_cluster(*, pred: Reg | NegPred | None = None) -> None"),
                  "`fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster`");
}

void cluster_arrive(bool aligned, nb::handle pred) {
  SyncCall call("ptx.cluster.arrive");
  unwrap(idiom::cluster_arrive(call.builder(), aligned, call.guard(pred), call.where()));
}
void cluster_wait(bool aligned, nb::handle pred) {
  SyncCall call("ptx.cluster.wait");
  unwrap(idiom::cluster_wait(call.builder(), aligned, call.guard(pred), call.where()));
}
void cluster_sync(bool aligned, nb::handle pred) {
  cluster_arrive(aligned, pred);
  cluster_wait(aligned, pred);
}

nb::object cluster_rank(nb::handle n) {
  SyncCall call("ptx.cluster.rank");
  return call.made(idiom::cluster_rank(call.builder(), call.value(n), call.where()));
}

nb::object map_shared(nb::handle address, nb::handle cta, nb::handle pred) {
  SyncCall call("ptx.cluster.map_shared_u32");
  const write::Guard guard = call.guard(pred);
  const Value block = call.value(cta);
  return call.made(idiom::map_shared(call.builder(), call.place(address), block, guard, call.where()));
}

void arrive_multicast(nb::handle m, nb::handle mask, nb::handle count, nb::handle pred) {
  if (!PyIndex_Check(mask.ptr())) {
    PyErr_SetString(
        PyExc_NotImplementedError,
        "`ptx.cluster.arrive_multicast` takes its mask as an int: PTX has no arrival at several blocks, and the calls for each "
        "are chosen when the kernel is written; `ptx.cluster.arrive_remote(…, pred=…)` arrives at one");
    throw nb::python_error();
  }
  SyncCall call("ptx.cluster.arrive_multicast");
  const write::Guard guard = call.guard(pred);
  const Value arrivals = call.value(count);
  unwrap(idiom::mbarrier_arrive_multicast(call.builder(), call.place(m), nb::cast<std::int64_t>(mask), arrivals, guard,
                                          call.where()));
}

void bind_cluster(nb::module_& m) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  nb::class_<ClusterSpace>(m, "cluster", "Blocks of a cluster.")
      .def_static("arrive", cluster_arrive, nb::kw_only(), nb::arg("aligned") = false, nb::arg("pred") = nb::none(),
                  nb::sig("def arrive(*, aligned: bool = False, pred: Reg | NegPred | None = None) -> None"),
                  "`barrier.cluster.arrive[.aligned]`")
      .def_static("wait", cluster_wait, nb::kw_only(), nb::arg("aligned") = false, nb::arg("pred") = nb::none(),
                  nb::sig("def wait(*, aligned: bool = False, pred: Reg | NegPred | None = None) -> None"),
                  "`barrier.cluster.wait[.aligned]`")
      .def_static("sync", cluster_sync, nb::kw_only(), nb::arg("aligned") = false, nb::arg("pred") = nb::none(),
                  nb::sig("def sync(*, aligned: bool = False, pred: Reg | NegPred | None = None) -> None"),
                  "Arrives and waits for all threads of the cluster.")
      .def_static("rank", cluster_rank, any("n"), nb::sig("def rank(n: Reg | int) -> Reg"),
                  "A predicate: whether this is block `n` of its cluster.")
      .def_static("map_shared_u32", map_shared, any("addr"), any("cta"), nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def map_shared_u32(addr: typing.Any, cta: Reg | int, *, pred: Reg | NegPred | None = None) -> Reg"),
                  "The address of the same place in block `cta` of the cluster: `mapa.shared::cluster.u32`.")
      .def_static(
          "arrive_remote", arrive_remote, any("addr"), any("cta"), nb::arg("count") = 1, nb::kw_only(),
          nb::arg("pred") = nb::none(),
          nb::sig("def arrive_remote(addr: typing.Any, cta: Reg | int, count: Reg | int = 1, *, pred: Reg | NegPred | None = "
                  "None) -> None"),
          "Arrives at the barrier at the same place of block `cta` of the cluster.")
      .def_static(
          "arrive_multicast", arrive_multicast, any("addr"), any("mask"), nb::arg("count") = 1, nb::kw_only(),
          nb::arg("pred") = nb::none(),
          nb::sig("def arrive_multicast(addr: typing.Any, mask: int, count: Reg | int = 1, *, pred: Reg | NegPred | None = None) "
                  "-> None"),
          "`arrive_remote` at each block whose bit of `mask` is set.");
}

// ---- pipelines ------------------------------------------------------------------------------------------------------------

PipelineState pipeline(std::int64_t stages, nb::object cursor, nb::object phase) {
  SyncCall call("ptx.pipeline");
  const auto given = [&](const nb::object& reg) {
    return reg.is_none() ? std::nullopt : std::optional(register_argument(call.trace(), reg, "ptx.pipeline"));
  };
  const idiom::Pipeline made = unwrap(idiom::make_pipeline(call.builder(), stages, given(cursor), given(phase), call.where()));
  if (cursor.is_none()) cursor = make_reg(call.trace(), made.cursor);
  if (phase.is_none()) phase = make_reg(call.trace(), made.phase);
  return {stages, std::move(cursor), std::move(phase)};
}

nb::tuple advance(const PipelineState& state) {
  SyncCall call("PipelineState.advance");
  const idiom::Pipeline pipeline{state.stages, register_argument(call.trace(), state.cursor, "PipelineState.advance"),
                                 register_argument(call.trace(), state.phase, "PipelineState.advance")};
  return nb::make_tuple(call.made(idiom::advance(call.builder(), pipeline, call.where())), state.phase);
}

void bind_pipeline(nb::module_& m) {
  nb::class_<PipelineState>(m, "PipelineState", "A ring of stages, from `ptx.pipeline`.")
      .def_ro("n_stages", &PipelineState::stages)
      .def_rw("cursor", &PipelineState::cursor, nb::for_getter(nb::sig("def cursor(self) -> Reg")),
              nb::for_setter(nb::sig("def cursor(self, value: Reg, /) -> None")))
      .def_rw("phase", &PipelineState::phase, nb::for_getter(nb::sig("def phase(self) -> Reg")),
              nb::for_setter(nb::sig("def phase(self, value: Reg, /) -> None")))
      .def("advance", advance, nb::sig("def advance(self) -> tuple[Reg, Reg]"),
           "Goes on to the next stage: its number in a fresh register, and the phase of its barriers.");
  m.def("pipeline", pipeline, nb::arg("n_stages"), nb::kw_only(), nb::arg("cursor") = nb::none(), nb::arg("phase") = nb::none(),
        nb::sig("def pipeline(n_stages: int, *, cursor: Reg | None = None, phase: Reg | None = None) -> PipelineState"),
        "The state of a ring of `n_stages` buffers: the next stage and the parity that flips each time round, both from 0 unless "
        "given.");
}

// ---- the block ------------------------------------------------------------------------------------------------------------

void bar_sync(nb::handle barrier, nb::handle count, nb::handle pred) {
  SyncCall call("ptx.bar.sync");
  const write::Guard guard = call.guard(pred);
  const Value number = call.value(barrier);
  unwrap(idiom::bar_sync(call.builder(), number, call.optional_value(count), guard, call.where()));
}

void setmaxnreg(std::int64_t n, bool inc, nb::handle pred) {
  SyncCall call("ptx.setmaxnreg");
  unwrap(idiom::setmaxnreg(call.builder(), n, inc, call.guard(pred), call.where()));
}

void elect_sync(nb::handle dst, nb::handle pred_out, nb::handle mask, nb::handle pred) {
  SyncCall call("ptx.elect_sync");
  const write::Guard guard = call.guard(pred);
  const Value to = call.value(dst), chosen = call.value(pred_out);
  unwrap(idiom::elect_sync(call.builder(), to, chosen, call.value(mask), guard, call.where()));
}

}  // namespace

void bind_sync(nb::module_& m) {
  bind_mbarrier(m);
  bind_fence(m);
  bind_cluster(m);
  bind_pipeline(m);
  nb::class_<BarSpace>(m, "bar", "Barriers of the block.")
      .def_static("sync", bar_sync, nb::arg("n") = 0, nb::arg("count") = nb::none(), nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def sync(n: Reg | int = 0, count: Reg | int | None = None, *, pred: Reg | NegPred | None = None) -> "
                          "None"),
                  "Wait until all (or `count`) threads of the block have come to barrier `n`.");
  nb::class_<NamedBarrier>(m, "NamedBarrier", "A barrier of the block by its number, from `ptx.named_barrier`.")
      .def_ro("id", &NamedBarrier::id, nb::sig("def id(self) -> Reg | int"))
      .def_ro("barrier_id", &NamedBarrier::id, nb::sig("def barrier_id(self) -> Reg | int"), "The same as `id`.")
      .def_ro("count", &NamedBarrier::count, nb::sig("def count(self) -> Reg | int | None"))
      .def(
          "sync", [](const NamedBarrier& b, nb::handle pred) { bar_sync(b.id, b.count, pred); }, nb::kw_only(),
          nb::arg("pred") = nb::none(), nb::sig("def sync(self, *, pred: Reg | NegPred | None = None) -> None"),
          "`bar.sync id`, with the count if there is one.");
  m.def(
      "named_barrier", [](nb::object id, nb::object count) { return NamedBarrier{std::move(id), std::move(count)}; },
      nb::arg("id"), nb::kw_only(), nb::arg("count") = nb::none(),
      nb::sig("def named_barrier(id: Reg | int, *, count: Reg | int | None = None) -> NamedBarrier"),
      "Barrier `id` of the block, for all its threads or `count` of them.");
  m.def("setmaxnreg", setmaxnreg, nb::arg("n"), nb::kw_only(), nb::arg("inc") = true, nb::arg("pred") = nb::none(),
        nb::sig("def setmaxnreg(n: int, *, inc: bool = True, pred: Reg | NegPred | None = None) -> None"),
        "`setmaxnreg.inc.sync.aligned.u32 n`, or `.dec`: how many registers the warpgroup's threads have.");
  m.def(
      "setmaxnreg_inc", [](std::int64_t n, nb::handle pred) { setmaxnreg(n, true, pred); }, nb::arg("n"), nb::kw_only(),
      nb::arg("pred") = nb::none(), nb::sig("def setmaxnreg_inc(n: int, *, pred: Reg | NegPred | None = None) -> None"),
      "`setmaxnreg.inc.sync.aligned.u32 n`");
  m.def(
      "setmaxnreg_dec", [](std::int64_t n, nb::handle pred) { setmaxnreg(n, false, pred); }, nb::arg("n"), nb::kw_only(),
      nb::arg("pred") = nb::none(), nb::sig("def setmaxnreg_dec(n: int, *, pred: Reg | NegPred | None = None) -> None"),
      "`setmaxnreg.dec.sync.aligned.u32 n`");
  m.def("elect_sync", elect_sync, nb::arg("dst").none(), nb::arg("pred_out").none(), nb::arg("mask").none(), nb::kw_only(),
        nb::arg("pred") = nb::none(),
        nb::sig("def elect_sync(dst: Reg, pred_out: Reg, mask: Reg | int, *, pred: Reg | NegPred | None = None) -> None"),
        "`elect.sync dst|pred_out, mask`: one lane of those of the mask, whose predicate is true.");
}

}  // namespace ptx::python
