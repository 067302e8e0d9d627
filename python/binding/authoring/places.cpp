#include "python/binding/authoring/places.hpp"

#include <nanobind/stl/string.h>

#include "ptx/write/idiom/smem.hpp"
#include "python/binding/base/errors.hpp"

namespace ptx::python {

using write::Place;
using write::Value;

namespace {

using write::idiom::mbarrier_bytes;

// A str, of a type of its own.
constexpr const char* handle_attribute = "handle";
nb::object name_type() {
  static PyObject* type = [] {
    nb::dict members;
    members["__doc__"] = "The name of the symbol that shared memory is a part of; as an operand, the address of the part.";
    members["__module__"] = "pyptx.smem";
    const nb::object str = nb::borrow(reinterpret_cast<PyObject*>(&PyUnicode_Type));
    const nb::object type_type = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type));
    return type_type("SymbolName", nb::make_tuple(str), members).release().ptr();  // lives as long as the interpreter
  }();
  return nb::borrow(type);
}
bool is_symbol_name(nb::handle object) {
  return PyUnicode_Check(object.ptr()) && !PyUnicode_CheckExact(object.ptr()) && object.type().is(name_type());
}

template <class Handle>
Place place_of(Trace& trace, const Handle& handle, std::int64_t offset) {
  if (handle.trace != trace.id())
    raise(Kind::undefined_symbol, cat("the shared memory `", handle.name, "` belongs to another kernel"), trace.where());
  write::SharedRegion region;
  region.symbol = handle.name;
  region.byte_offset = handle.byte_offset;
  region.bytes = handle.bytes();
  region.dynamic = handle.dynamic;
  return unwrap(write::shared_place(trace.builder(), region, offset, trace.where()));
}

}  // namespace

std::int64_t SharedAlloc::stage_bytes() const { return write::idiom::stage_bytes(type, shape); }
std::uint64_t SharedAlloc::bytes() const {
  return shape.empty() ? 0 : static_cast<std::uint64_t>(stage_bytes()) * static_cast<std::uint64_t>(shape.front());
}
std::uint64_t MbarrierArray::bytes() const {
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(mbarrier_bytes);
}

nb::object symbol_name(nb::handle handle, const std::string& symbol, std::int64_t byte_offset) {
  if (byte_offset == 0) return nb::cast(symbol);
  nb::object name = name_type()(symbol);
  name.attr(handle_attribute) = handle;
  return name;
}

bool is_shared_handle(nb::handle object) {
  return is_symbol_name(object) || as<SharedAlloc>(object) != nullptr || as<SharedSlice>(object) != nullptr ||
         as<MbarrierRef>(object) != nullptr || as<MbarrierArray>(object) != nullptr || as<BarrierSlot>(object) != nullptr;
}

std::optional<Place> shared_handle_place(Trace& trace, Operands& operands, nb::handle object) {
  if (is_symbol_name(object)) return shared_handle_place(trace, operands, object.attr(handle_attribute));
  if (const SharedAlloc* alloc = as<SharedAlloc>(object)) return place_of(trace, *alloc, 0);
  if (const SharedSlice* slice = as<SharedSlice>(object)) {
    const SharedAlloc& alloc = *as<SharedAlloc>(slice->alloc);
    return place_of(trace, alloc, slice->stage * alloc.stage_bytes());
  }
  if (const MbarrierRef* ref = as<MbarrierRef>(object))
    return place_of(trace, *as<MbarrierArray>(ref->array), ref->index * mbarrier_bytes);
  if (const MbarrierArray* array = as<MbarrierArray>(object)) return place_of(trace, *array, 0);
  if (const BarrierSlot* slot = as<BarrierSlot>(object)) {
    if (slot->address.is_valid()) return Place(operands.value(slot->address));
    const BarrierArray& array = *as<BarrierArray>(slot->array);
    return place_argument(trace, operands, array.base, "ptx.mbarrier").at(array.byte_offset + slot->index * mbarrier_bytes);
  }
  return std::nullopt;
}

Place place_argument(Trace& trace, Operands& operands, nb::handle object, const char* what) {
  if (const Address* address = as<Address>(object)) {
    if (address->offset.is_none()) return place_argument(trace, operands, address->base, what);
    if (PyIndex_Check(address->offset.ptr()))
      return place_argument(trace, operands, address->base, what).at(nb::cast<std::int64_t>(address->offset));
    raise(Kind::argument_kind, cat("`", what, "` takes an address whose offset is a number of bytes"), trace.where());
  }
  if (const auto place = shared_handle_place(trace, operands, object)) return *place;
  const Value value = object.is_none() ? Value{} : operands.value(object);
  if (value.kind == Value::Kind::reg || value.kind == Value::Kind::symbol) return Place(value);
  raise(
      Kind::argument_kind,
      cat("`", what, "` is given ", describe(object), "; what fits is a register, an address, or an allocation of shared memory"),
      trace.where(),
      PyTuple_Check(object.ptr()) && PyTuple_GET_SIZE(object.ptr()) == 1 ? "a tuple of one register is unpacked by `(x,) = …`"
                                                                         : "");
}

write::Reg address_argument(Trace& trace, Operands& operands, nb::handle object, const char* what) {
  return unwrap(write::address_register(trace.builder(), place_argument(trace, operands, object, what), trace.where()));
}

const SharedAlloc* allocation_of(nb::handle object) {
  if (const SharedSlice* slice = as<SharedSlice>(object)) return as<SharedAlloc>(slice->alloc);
  return as<SharedAlloc>(object);
}

}  // namespace ptx::python
