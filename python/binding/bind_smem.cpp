// `smem`: allocations of shared memory and what is read and written through them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <utility>

#include "bindings.hpp"
#include "define.hpp"
#include "errors.hpp"
#include "places.hpp"
#include "ptx/write/idiom/smem.hpp"

namespace ptx::python {
namespace {

using write::Value;

struct SmemSpace {};

[[noreturn]] void wrong_kind(Trace& trace, std::string message, const std::string& hint = {}) {
  raise(Kind::argument_kind, std::move(message), trace.where(), hint);
}

[[noreturn]] void no_such(std::string_view what, std::int64_t index, std::int64_t count) {
  throw nb::index_error(cat(what, " has ", count, " of them; index ", index, " is out of range").c_str());
}

// ---- allocations ------------------------------------------------------------------------------------------------------

struct Request {
  nb::handle dtype, shape;
  nb::object swizzle;
  std::optional<std::uint32_t> align;
  std::optional<std::string_view> name;
};

std::vector<std::int64_t> shape_argument(Trace& trace, nb::handle shape, const char* what) {
  std::vector<std::int64_t> sizes;
  const auto add = [&](nb::handle size) {
    std::int64_t number = 0;
    if (PyBool_Check(size.ptr()) || !PyIndex_Check(size.ptr()) || !nb::try_cast(nb::steal(PyNumber_Index(size.ptr())), number))
      wrong_kind(trace, cat("the shape of `", what, "` is ", describe(shape), "; what fits is an int or a tuple of ints"));
    sizes.push_back(number);
  };
  if (PyIndex_Check(shape.ptr())) {
    add(shape);
  } else if (PyList_Check(shape.ptr()) || PyTuple_Check(shape.ptr())) {
    for (const nb::handle size : shape) add(size);
  } else {
    add(nb::none());
  }
  return sizes;
}

SharedAlloc allocate(Trace& trace, const Request& request, const char* what) {
  SharedAlloc alloc;
  alloc.type = type_argument(request.dtype, what);
  alloc.shape = shape_argument(trace, request.shape, what);
  if (!request.swizzle.is_none()) {
    if (!PyUnicode_Check(request.swizzle.ptr()))
      wrong_kind(trace, cat("the swizzle of `", what, "` is ", describe(request.swizzle),
                            "; what fits is \"32B\", \"64B\" or \"128B\""));
    unwrap(write::idiom::swizzle_named(nb::cast<std::string_view>(request.swizzle), trace.where()));
  }
  alloc.swizzle = request.swizzle;
  write::SharedRequest shared;
  if (request.align) shared.align = *request.align;
  shared.name = request.name.value_or("");
  const write::SharedRegion region =
      unwrap(write::idiom::allocate_elements(trace.builder(), alloc.type, alloc.shape, shared, trace.where()));
  alloc.name = region.symbol;
  alloc.byte_offset = region.byte_offset;
  alloc.dynamic = region.dynamic;
  alloc.trace = trace.id();
  return alloc;
}

SharedAlloc alloc(nb::handle dtype, nb::handle shape, nb::object swizzle, std::optional<std::uint32_t> align,
                  std::optional<std::string_view> name) {
  return allocate(Trace::require("smem.alloc"), {dtype, shape, std::move(swizzle), align, name}, "smem.alloc");
}

// None, "K", "MN", or a number like those of wgmma_layout.Major.
std::optional<layout::Major> major_argument(Trace& trace, nb::handle major, const char* what) {
  if (major.is_none()) return std::nullopt;
  if (PyUnicode_Check(major.ptr())) {
    const auto text = nb::cast<std::string_view>(major);
    if (text == "K") return layout::Major::k;
    if (text == "MN") return layout::Major::mn;
  } else if (PyIndex_Check(major.ptr())) {
    const nb::object number = nb::steal(PyNumber_Index(major.ptr()));
    if (number.equal(nb::int_(0))) return layout::Major::k;
    if (number.equal(nb::int_(1))) return layout::Major::mn;
  }
  raise(Kind::bad_tile, cat("`", what, "` is given the major ", describe(major), "; what fits is \"K\" or \"MN\""),
        trace.where());
}

SharedAlloc alloc_with_layout(nb::handle dtype, nb::handle shape, nb::object swizzle, std::optional<std::uint32_t> align,
                              std::optional<std::string_view> name, nb::handle gmma_layout, nb::handle gmma_major) {
  constexpr const char* what = "smem.alloc_with_layout";
  Trace& trace = Trace::require(what);
  std::optional<layout::GmmaLayout> chosen;
  if (!gmma_layout.is_none()) {
    chosen.emplace();
    if (!nb::try_cast(gmma_layout, *chosen))
      wrong_kind(trace, cat("the layout of `", what, "` is ", describe(gmma_layout), "; what fits is a `GmmaLayout`"),
                 "`wgmma_layout.pick_gmma_layout` makes one");
  }
  const auto major = major_argument(trace, gmma_major, what);
  SharedAlloc made = allocate(trace, {dtype, shape, std::move(swizzle), align, name}, what);
  made.gmma_layout = chosen;
  made.gmma_major = major;
  return made;
}

SharedAlloc wgmma_tile(nb::handle dtype, nb::handle shape, nb::handle major, std::optional<std::uint32_t> align,
                       std::optional<std::string_view> name) {
  constexpr const char* what = "smem.wgmma_tile";
  Trace& trace = Trace::require(what);
  const Type type = type_argument(dtype, what);
  const std::vector<std::int64_t> sizes = shape_argument(trace, shape, what);
  const auto order = major_argument(trace, major, what);
  if (!order) raise(Kind::bad_tile, cat("`", what, "` needs its major; what fits is \"K\" or \"MN\""), trace.where());
  const layout::GmmaLayout picked = unwrap(write::idiom::tile_layout(type, sizes, *order, trace.where()));
  const std::string_view named = write::idiom::swizzle_name(picked);
  nb::object swizzle = named.empty() ? nb::none() : nb::cast(named);
  SharedAlloc made = allocate(trace, {dtype, shape, std::move(swizzle), align, name}, what);
  made.gmma_layout = picked;
  made.gmma_major = order;
  return made;
}

MbarrierArray mbarrier(std::int64_t count, std::optional<std::string_view> name) {
  Trace& trace = Trace::require("smem.mbarrier");
  const write::SharedRegion region =
      unwrap(write::idiom::allocate_mbarriers(trace.builder(), count, name.value_or(""), trace.where()));
  return {std::string(region.symbol), count, region.byte_offset, region.dynamic, trace.id()};
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
  write::idiom::Element element;
  element.region.symbol = alloc.name;
  element.region.byte_offset = alloc.byte_offset;
  element.region.dynamic = alloc.dynamic;
  element.type = alloc.type;
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
  // All but the last dimension are rows of one matrix.
  element.rows = 1;
  for (std::size_t i = 0; i + 1 < rank; ++i) element.rows *= alloc.shape[i];
  element.columns = alloc.shape.back();
  element.row = unwrap(write::idiom::row_of(trace.builder(), indices, alloc.shape, trace.where()));
  element.column = indices.back();
  return element;
}

nb::object get(nb::handle self, nb::handle key) {
  const SharedAlloc& alloc = *as<SharedAlloc>(self);
  if (PyIndex_Check(key.ptr()) && !PyBool_Check(key.ptr())) {
    const auto stage = nb::cast<std::int64_t>(key);
    if (stage < 0 || stage >= alloc.shape.front()) no_such(cat(alloc.name, "'s first dimension"), stage, alloc.shape.front());
    return nb::cast(SharedSlice{nb::borrow(self), stage});
  }
  Trace& trace = Trace::require("SharedAlloc.__getitem__");
  Operands operands(trace);
  return make_reg(trace,
                  unwrap(write::idiom::load_element(trace.builder(), element_of(trace, operands, alloc, key), trace.where())));
}

void set(nb::handle self, nb::handle key, nb::handle value) {
  const SharedAlloc& alloc = *as<SharedAlloc>(self);
  Trace& trace = Trace::require("SharedAlloc.__setitem__");
  Operands operands(trace);
  const write::Reg from = register_argument(trace, value, "SharedAlloc.__setitem__");
  unwrap(write::idiom::store_element(trace.builder(), element_of(trace, operands, alloc, key), from, trace.where()));
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

// The address that a memory function is given: one made by `addr`, or what `addr` could be given.
Value address_value(Trace& trace, Operands& operands, nb::handle address, write::Place& place, const char* what) {
  if (as<Address>(address) != nullptr) return operands.value(address);
  place = place_argument(trace, operands, address, what);
  return place.address();
}

nb::object load(nb::handle dtype, nb::handle address) {
  Trace& trace = Trace::require("smem.load");
  const Type type = type_argument(dtype, "smem.load");
  Operands operands(trace);
  write::Place place;
  const Value from = address_value(trace, operands, address, place, "smem.load");
  return make_reg(trace, unwrap(write::idiom::shared_load(trace.builder(), type, from, trace.where())));
}

void store(nb::handle dtype, nb::handle address, nb::handle value) {
  Trace& trace = Trace::require("smem.store");
  const Type type = type_argument(dtype, "smem.store");
  const write::Reg from = register_argument(trace, value, "smem.store");
  Operands operands(trace);
  write::Place place;
  const Value to = address_value(trace, operands, address, place, "smem.store");
  unwrap(write::idiom::shared_store(trace.builder(), type, to, from, trace.where()));
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

// ---- the classes ------------------------------------------------------------------------------------------------------

void bind_handles(nb::module_& m) {
  Class<SharedAlloc> alloc(m, "SharedAlloc",
                           "An allocation in shared memory. `a[stage]` with an int is a piece of it. An index for each "
                           "dimension, `a[row, column]`, means an element: reading it gives a fresh register, assigning one "
                           "writes it. With one dimension that is `a[register]`, and `a[3,]` or `a[3] = r` with an int.");
  alloc
      .value("name -> str", "The symbol: its own, or `dyn_smem`; as an operand, the allocation's address.",
             [](nb::handle self) { return symbol_name(self, as<SharedAlloc>(self)->name, as<SharedAlloc>(self)->byte_offset); })
      .value("dtype -> PtxType", [](const SharedAlloc& a) { return type_object(a.type); })
      .value("shape -> tuple[int, ...]", [](const SharedAlloc& a) { return nb::tuple(nb::cast(a.shape)); })
      .def_ro("swizzle", &SharedAlloc::swizzle, nb::sig("def swizzle(self) -> str | None"))
      .value("gmma_layout -> GmmaLayout | None", "How wgmma reads it, if it was made as a tile of wgmma.",
             [](const SharedAlloc& a) { return a.gmma_layout ? nb::cast(*a.gmma_layout) : nb::none(); })
      .value("gmma_major -> Major | None",
             [](const SharedAlloc& a) { return a.gmma_major ? nb::cast(*a.gmma_major) : nb::none(); })
      .def_ro("byte_offset", &SharedAlloc::byte_offset, "Bytes from the symbol.")
      .dunder("__getitem__(self, key: Reg | int | tuple[Reg | int, ...]) -> typing.Any", get)
      .dunder("__setitem__(self, key: Reg | int | tuple[Reg | int, ...], value: Reg) -> None", set)
      .dunder("__repr__(self) -> str", [](const SharedAlloc& a) {
        return nb::str("SharedAlloc({}, {}, {})").format(a.name, type_object(a.type), nb::tuple(nb::cast(a.shape)));
      });

  Class<SharedSlice> slice(m, "SharedSlice", "A stage of a shared allocation: an address `stage` first-dimension elements in.");
  const auto offset = [](const SharedSlice& s) {
    const SharedAlloc& a = *as<SharedAlloc>(s.alloc);
    return a.byte_offset + s.stage * a.stage_bytes();
  };
  slice.def_ro("alloc", &SharedSlice::alloc, nb::sig("def alloc(self) -> SharedAlloc"))
      .def_ro("stage", &SharedSlice::stage)
      .def_prop_ro(
          "name",
          [offset](nb::handle self) {
            const SharedSlice& s = *as<SharedSlice>(self);
            return symbol_name(self, as<SharedAlloc>(s.alloc)->name, offset(s));
          },
          nb::sig("def name(self) -> str"))
      .value("byte_offset -> int", "Bytes from the symbol.", offset)
      .dunder("__repr__(self) -> str",
              [](const SharedSlice& s) { return cat("SharedSlice(", as<SharedAlloc>(s.alloc)->name, ", ", s.stage, ")"); });

  Class<MbarrierArray> barriers(m, "MbarrierArray", "Barriers in shared memory; `m[i]` is one of them.");
  barriers
      .value(
          "name -> str", "The symbol: its own, or `dyn_smem`; as an operand, the address of the first.",
          [](nb::handle self) { return symbol_name(self, as<MbarrierArray>(self)->name, as<MbarrierArray>(self)->byte_offset); })
      .def_ro("count", &MbarrierArray::count)
      .def_ro("byte_offset", &MbarrierArray::byte_offset, "Bytes from the symbol.")
      .dunder("__len__(self) -> int", [](const MbarrierArray& a) { return a.count; })
      .dunder("__getitem__(self, index: typing.SupportsIndex) -> MbarrierRef",
              [](nb::handle self, std::int64_t index) {
                const MbarrierArray& a = *as<MbarrierArray>(self);
                if (index < 0 || index >= a.count) no_such(cat("`", a.name, "`"), index, a.count);
                return MbarrierRef{nb::borrow(self), index};
              })
      .dunder("__iter__(self) -> typing.Iterator[MbarrierRef]",
              [](nb::handle self) { return nb::steal(PySeqIter_New(self.ptr())); })
      .dunder("__repr__(self) -> str", [](const MbarrierArray& a) { return cat("MbarrierArray(", a.name, ", ", a.count, ")"); });

  Class<MbarrierRef> ref(m, "MbarrierRef", "One barrier of an MbarrierArray.");
  const auto place = [](const MbarrierRef& r) {
    return as<MbarrierArray>(r.array)->byte_offset + write::idiom::mbarrier_bytes * r.index;
  };
  ref.def_ro("array", &MbarrierRef::array, nb::sig("def array(self) -> MbarrierArray"))
      .def_ro("idx", &MbarrierRef::index)
      .def_prop_ro(
          "name",
          [place](nb::handle self) {
            const MbarrierRef& r = *as<MbarrierRef>(self);
            return symbol_name(self, as<MbarrierArray>(r.array)->name, place(r));
          },
          nb::sig("def name(self) -> str"))
      .value("byte_offset -> int", "Bytes from the symbol.", place)
      .dunder("__repr__(self) -> str",
              [](const MbarrierRef& r) { return cat("MbarrierRef(", as<MbarrierArray>(r.array)->name, ", ", r.index, ")"); });
}

}  // namespace

void bind_smem(nb::module_& m) {
  m.attr("max_static_shared") = write::max_static_shared;
  bind_handles(m);
  Class<SmemSpace>(m, "smem", "The functions of `pyptx.smem`.")
      .function(
          "alloc(dtype: PtxType, shape: int | typing.Sequence[int], swizzle: str | None = None, align: int | None = None, name: "
          "str | None = None) -> SharedAlloc",
          "Shared memory for elements of that shape, aligned to 128 bytes unless said otherwise. A kernel's first 48 KiB are "
          "variables of their own; when it has more, all of it lies in `dyn_smem`.",
          alloc)
      .function(
          "alloc_with_layout(dtype: PtxType, shape: int | typing.Sequence[int], swizzle: str | None = None, align: int | None = "
          "None, name: str | None = None, *, gmma_layout: GmmaLayout | None = None, gmma_major: Major | str | None = None) -> "
          "SharedAlloc",
          "`alloc`, with what wgmma has to know of the layout.", alloc_with_layout)
      .function(
          "wgmma_tile(dtype: PtxType, shape: tuple[int, int], major: Major | str = 'K', *, align: int | None = None, name: str | "
          "None = None) -> SharedAlloc",
          "A tile that wgmma reads: (M or N, K) for major \"K\", (K, N) for \"MN\", laid out as `pick_gmma_layout` says.",
          wgmma_tile)
      .function("mbarrier(count: int, name: str | None = None) -> MbarrierArray",
                "Barriers in shared memory, 8 bytes each; `ptx.mbarrier.init` has to make them ready.", mbarrier)
      .function("base(name: str | None = None) -> Reg",
                "The shared-space address of a symbol, in a fresh register; without a name, of the kernel's `extern_smem`.", base)
      .function("load(dtype: PtxType, address: typing.Any) -> Reg", "A value from shared memory, in a fresh register.", load)
      .function("store(dtype: PtxType, address: typing.Any, value: Reg) -> None", "Writes a register to shared memory.", store)
      .function("apply_swizzle(off: Reg, swizzle: str | None) -> Reg",
                "Where the byte at offset `off` of a tile lies when the tile is swizzled (\"32B\", \"64B\", \"128B\"); the tile "
                "has to start where the pattern does.",
                apply_swizzle);
}

}  // namespace ptx::python
