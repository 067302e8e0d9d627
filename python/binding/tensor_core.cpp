#include "tensor_core.hpp"

namespace ptx::python {

using write::Place;
using write::Value;

std::vector<write::Reg> registers_argument(Trace& trace, nb::handle object, const char* what) {
  std::vector<write::Reg> registers;
  if (RegArray* array = as<RegArray>(object)) {
    for (std::uint32_t i = 0; i < array->array.count; ++i)
      registers.push_back(register_argument(trace, element(*array, i), what));
    return registers;
  }
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr()))
    raise(Kind::argument_kind, cat(what, " is ", describe(object), "; what fits is an array or a list of registers"),
          trace.where());
  for (const nb::handle item : object) registers.push_back(register_argument(trace, item, what));
  return registers;
}

Value enable_argument(Trace& trace, Operands& operands, nb::handle object, const char* what) {
  if (as<Reg>(object) == nullptr && as<NegPred>(object) == nullptr && !PyBool_Check(object.ptr()) && !PyIndex_Check(object.ptr()))
    raise(Kind::argument_kind,
          cat(what, " is ", describe(object), "; what fits is a predicate, a 32-bit register, or True or False"), trace.where());
  return operands.value(object);
}

Value bytes_argument(Trace& trace, Operands& operands, nb::handle object, const char* what) {
  const Value value = operands.value(object);
  if (value.kind != Value::Kind::integer && value.kind != Value::Kind::reg)
    raise(Kind::argument_kind, cat(what, " is ", describe(object), "; what fits is a number of bytes or a register"),
          trace.where());
  return value;
}

Place matrix_place(Trace& trace, Operands& operands, nb::handle object, const char* what) {
  const SharedAlloc* alloc = allocation_of(object);
  if (alloc == nullptr) return place_argument(trace, operands, object, what);
  if (alloc->trace != trace.id())
    raise(Kind::undefined_symbol, cat("the shared memory `", alloc->name, "` belongs to another kernel"), trace.where());
  const SharedSlice* slice = as<SharedSlice>(object);
  const std::int64_t inside = slice != nullptr ? slice->stage * alloc->stage_bytes() : 0;
  return Place(Value::of_symbol(alloc->name), alloc->byte_offset + inside);
}

std::uint64_t bits_argument(Trace& trace, nb::handle object, const char* what) {
  const auto value = PyIndex_Check(object.ptr()) ? number_value(trace, object) : std::nullopt;
  if (!value || value->kind != Value::Kind::integer)
    raise(Kind::argument_kind, cat(what, " is ", describe(object), "; what fits is an int"), trace.where());
  return static_cast<std::uint64_t>(value->integer);
}

std::string word_argument(Trace& trace, nb::handle object, const char* what) {
  if (const PtxType* type = as<PtxType>(object)) return std::string(isa::name(type->type));
  if (PyUnicode_Check(object.ptr())) return nb::cast<std::string>(object);
  raise(Kind::argument_kind, cat(what, " is ", describe(object), "; what fits is a name or a type"), trace.where());
}

}  // namespace ptx::python
