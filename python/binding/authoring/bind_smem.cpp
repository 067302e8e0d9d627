// `smem`: allocations of shared memory and what is read and written through them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <utility>

#include "ptx/write/door/smem_helpers.hpp"
#include "python/binding/authoring/helpers.hpp"
#include "python/binding/authoring/places.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

using write::Value;

[[noreturn]] void wrong_kind(Trace& trace, std::string message, const std::string& hint = {}) {
  raise(Kind::argument_kind, std::move(message), trace.where(), hint);
}

[[noreturn]] void no_such(std::string_view what, std::int64_t index, std::int64_t count) {
  throw nb::index_error(cat(what, " has ", count, " of them; index ", index, " is out of range").c_str());
}

// ---- elements -----------------------------------------------------------------------------------------------------------

write::idiom::Element element_of(Trace& trace, Operands& operands, const SharedAlloc& alloc, nb::handle given) {
  nb::object key = nb::borrow(given);
  if (!PyTuple_Check(key.ptr())) key = nb::make_tuple(key);
  const std::size_t rank = alloc.shape.size();
  if (static_cast<std::size_t>(PyTuple_GET_SIZE(key.ptr())) != rank)
    wrong_kind(trace,
               cat("`", alloc.name, "` of ", rank, rank == 1 ? " dimension" : " dimensions", " is indexed by ", describe(given),
                   "; what fits is `[stage]` with an int, or an index for each dimension: an int or a 32-bit register"),
               "other addresses are made by `ptx.addr(allocation, bytes)`");
  if (alloc.trace != trace.id())
    raise(Kind::undefined_symbol, cat("the shared memory `", alloc.name, "` belongs to another kernel"), trace.where());
  std::vector<Value> indices;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::string what = rank == 2 ? (i == 0 ? "row" : "column") : cat("index ", i);
    const nb::handle one = PyTuple_GET_ITEM(key.ptr(), static_cast<Py_ssize_t>(i));
    if (as<Reg>(one) == nullptr && (PyBool_Check(one.ptr()) || !PyIndex_Check(one.ptr())))
      wrong_kind(trace, cat("the ", what, " of an element of `", alloc.name, "` is ", describe(one),
                            "; what fits is an int or a 32-bit register"));
    const Value value = operands.value(one);
    if (value.kind == Value::Kind::integer && (value.integer < 0 || value.integer >= alloc.shape[i]))
      no_such(cat(alloc.name, "'s ", what), value.integer, alloc.shape[i]);
    indices.push_back(value);
  }
  const write::SharedRegion region{alloc.name, alloc.byte_offset, 0, alloc.dynamic};
  return unwrap(write::idiom::element_at(trace.builder(), region, alloc.type, alloc.shape, indices, trace.where()));
}

nb::object get(Self<SharedAlloc> self, nb::handle key) {
  const SharedAlloc& alloc = *self;
  if (PyIndex_Check(key.ptr()) && !PyBool_Check(key.ptr())) {
    const auto stage = nb::cast<std::int64_t>(key);
    if (stage < 0 || stage >= alloc.shape.front()) no_such(cat(alloc.name, "'s first dimension"), stage, alloc.shape.front());
    return nb::cast(SharedSlice{nb::borrow(self.object), stage});
  }
  Trace& trace = Trace::require("SharedAlloc.__getitem__");
  Operands operands(trace);
  return make_reg(trace,
                  unwrap(write::idiom::load_element(trace.builder(), element_of(trace, operands, alloc, key), trace.where())));
}

void set(Self<SharedAlloc> self, nb::handle key, nb::handle value) {
  Trace& trace = Trace::require("SharedAlloc.__setitem__");
  Operands operands(trace);
  const write::Reg from = register_argument(trace, value, "SharedAlloc.__setitem__");
  unwrap(write::idiom::store_element(trace.builder(), element_of(trace, operands, *self, key), from, trace.where()));
}

// ---- by address -----------------------------------------------------------------------------------------------------

nb::object base(nb::handle name) {
  Trace& trace = Trace::require("smem.base");
  if (is_shared_handle(name)) {
    Operands operands(trace);
    return make_reg(trace, address_argument(trace, operands, name, "smem.base"));
  }
  std::string_view symbol;
  if (PyUnicode_Check(name.ptr()))
    symbol = nb::cast<std::string_view>(name);
  else if (!name.is_none())
    wrong_kind(trace, cat("`smem.base` is given ", describe(name), "; what fits is the name of a symbol"));
  return make_reg(trace, unwrap(write::idiom::shared_base(trace.builder(), symbol, trace.where())));
}

nb::object apply_swizzle(const nb::object& offset, nb::handle swizzle) {
  Trace& trace = Trace::require("smem.apply_swizzle");
  layout::Swizzle chosen = layout::Swizzle::none;
  if (!swizzle.is_none()) {
    if (!PyUnicode_Check(swizzle.ptr()))
      raise(
          Kind::bad_tile,
          cat("the swizzle of `smem.apply_swizzle` is ", describe(swizzle), "; what fits is None, \"32B\", \"64B\" or \"128B\""),
          trace.where());
    chosen = unwrap(write::idiom::swizzle_named(nb::cast<std::string_view>(swizzle), trace.where()));
  }
  const write::Reg from = register_argument(trace, offset, "smem.apply_swizzle");
  const write::Reg to = unwrap(write::idiom::apply_swizzle(trace.builder(), from, chosen, trace.where()));
  return to == from ? offset : make_reg(trace, to);
}

// Bytes from the symbol.
std::int64_t place_of(const SharedSlice& slice) {
  const SharedAlloc& alloc = *as<SharedAlloc>(slice.alloc);
  return alloc.byte_offset + slice.stage * alloc.stage_bytes();
}
std::int64_t place_of(const MbarrierRef& ref) {
  return as<MbarrierArray>(ref.array)->byte_offset + write::idiom::mbarrier_bytes * ref.index;
}

// ---- the classes ------------------------------------------------------------------------------------------------------

void bind_handles(nb::module_& m) {
  Class<SharedAlloc> alloc(m, "SharedAlloc",
                           "An allocation in shared memory. `a[stage]` with an int is a piece of it. An index for each "
                           "dimension, `a[row, column]`, means an element: reading it gives a fresh register, assigning one "
                           "writes it. With one dimension that is `a[register]`, and `a[3,]` or `a[3] = r` with an int.");
  alloc
      .value("name -> str", "The symbol: its own, or `dyn_smem`; as an operand, the allocation's address.",
             [](Self<SharedAlloc> self) { return symbol_name(self.object, self->name, self->byte_offset); })
      .value("dtype -> PtxType", [](const SharedAlloc& a) { return type_object(a.type); })
      .value("shape -> tuple[int, ...]", [](const SharedAlloc& a) { return nb::tuple(nb::cast(a.shape)); })
      .field<&SharedAlloc::swizzle>("swizzle -> str | None")
      .value("gmma_layout -> GmmaLayout | None", "How wgmma reads it, if it was made as a tile of wgmma.",
             [](const SharedAlloc& a) { return a.gmma_layout ? nb::cast(*a.gmma_layout) : nb::none(); })
      .value("gmma_major -> Major | None",
             [](const SharedAlloc& a) { return a.gmma_major ? nb::cast(*a.gmma_major) : nb::none(); })
      .field<&SharedAlloc::byte_offset>("byte_offset -> int", "Bytes from the symbol.")
      .dunder("__getitem__(self, key: Reg | int | tuple[Reg | int, ...]) -> typing.Any", get)
      .dunder("__setitem__(self, key: Reg | int | tuple[Reg | int, ...], value: Reg) -> None", set)
      .dunder("__repr__(self) -> str", [](const SharedAlloc& a) {
        return nb::str("SharedAlloc({}, {}, {})").format(a.name, type_object(a.type), nb::tuple(nb::cast(a.shape)));
      });

  Class<SharedSlice> slice(m, "SharedSlice", "A stage of a shared allocation: an address `stage` first-dimension elements in.");
  slice.field<&SharedSlice::alloc>("alloc -> SharedAlloc")
      .field<&SharedSlice::stage>("stage -> int")
      .value("name -> str",
             [](Self<SharedSlice> self) { return symbol_name(self.object, as<SharedAlloc>(self->alloc)->name, place_of(*self)); })
      .value("byte_offset -> int", "Bytes from the symbol.", [](const SharedSlice& s) { return place_of(s); })
      .dunder("__repr__(self) -> str",
              [](const SharedSlice& s) { return cat("SharedSlice(", as<SharedAlloc>(s.alloc)->name, ", ", s.stage, ")"); });

  Class<MbarrierArray> barriers(m, "MbarrierArray", "Barriers in shared memory; `m[i]` is one of them.");
  barriers
      .value("name -> str", "The symbol: its own, or `dyn_smem`; as an operand, the address of the first.",
             [](Self<MbarrierArray> self) { return symbol_name(self.object, self->name, self->byte_offset); })
      .field<&MbarrierArray::count>("count -> int")
      .field<&MbarrierArray::byte_offset>("byte_offset -> int", "Bytes from the symbol.")
      .dunder("__len__(self) -> int", [](const MbarrierArray& a) { return a.count; })
      .dunder("__getitem__(self, index: typing.SupportsIndex) -> MbarrierRef",
              [](Self<MbarrierArray> self, std::int64_t index) {
                if (index < 0 || index >= self->count) no_such(cat("`", self->name, "`"), index, self->count);
                return MbarrierRef{nb::borrow(self.object), index};
              })
      .dunder("__iter__(self) -> typing.Iterator[MbarrierRef]",
              [](nb::handle self) { return nb::steal(PySeqIter_New(self.ptr())); })
      .dunder("__repr__(self) -> str", [](const MbarrierArray& a) { return cat("MbarrierArray(", a.name, ", ", a.count, ")"); });

  Class<MbarrierRef> ref(m, "MbarrierRef", "One barrier of an MbarrierArray.");
  ref.field<&MbarrierRef::array>("array -> MbarrierArray")
      .field<&MbarrierRef::index>("idx -> int")
      .value(
          "name -> str",
          [](Self<MbarrierRef> self) { return symbol_name(self.object, as<MbarrierArray>(self->array)->name, place_of(*self)); })
      .value("byte_offset -> int", "Bytes from the symbol.", [](const MbarrierRef& r) { return place_of(r); })
      .dunder("__repr__(self) -> str",
              [](const MbarrierRef& r) { return cat("MbarrierRef(", as<MbarrierArray>(r.array)->name, ", ", r.index, ")"); });
}

}  // namespace

void bind_smem(nb::module_& m) {
  m.attr("max_static_shared") = write::max_static_shared;
  bind_handles(m);
  const nb::object smem = space(m, "smem", "The functions of `pyptx.smem`.");
  helpers::bind_all<As::function>(smem, write::declare::smem_helpers);
  function(smem, "base(name: str | None = None) -> Reg",
           "The shared-space address of a symbol, in a fresh register; without a name, of the kernel's `extern_smem`.", base);
  function(smem, "apply_swizzle(off|logical_offset: Reg, swizzle: str | None) -> Reg",
           "Where the byte at offset `off` of a tile lies when the tile is swizzled (\"32B\", \"64B\", \"128B\"); the tile "
           "has to start where the pattern does.",
           apply_swizzle);
}

}  // namespace ptx::python
