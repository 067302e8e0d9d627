// The functions of `reg`, `smem` and `ptx`: each converts its arguments, calls the core, and gives back a handle.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ptx/write/door/block_helpers.hpp"
#include "ptx/write/idiom/smem.hpp"
#include "ptx/write/idiom/wgmma.hpp"
#include "python/binding/authoring/helpers.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

using write::Value;

template <class... V>
void emit(Trace& trace, std::string_view dots, nb::handle pred, const V&... operands) {
  const std::array<Value, sizeof...(V)> values = {operands...};
  unwrap(trace.builder().emit(dots, values, guard_argument(trace, pred), trace.where()));
}

// ---- reg ------------------------------------------------------------------------------------------------------------

nb::object scalar(nb::handle dtype, nb::handle init, std::optional<std::string_view> name) {
  Trace& trace = Trace::require("reg.scalar");
  const Type type = type_argument(dtype, "reg.scalar");
  Operands operands(trace);
  const std::optional<Value> value = init.is_none() ? std::nullopt : std::optional(operands.value(init));
  return make_reg(trace, unwrap(write::scalar(trace.builder(), type, value, name.value_or(""), trace.where())));
}

nb::object from(nb::handle source, nb::handle dtype) {
  Trace& trace = Trace::require("reg.from_");
  const Type type = type_argument(dtype, "reg.from_");
  Operands operands(trace);
  return make_reg(trace, unwrap(write::move_to_fresh(trace.builder(), type, operands.value(source), trace.where())));
}

std::uint32_t array_size(Trace& trace, std::int64_t count) {
  constexpr std::int64_t most = 1 << 20;  // no kernel has a million registers: a mistake, not a wish
  if (count < 1 || count > most)
    raise(Kind::bad_declaration, cat("an array of ", count, " registers is asked for; what fits is 1 to ", most), trace.where());
  return static_cast<std::uint32_t>(count);
}

RegArray array_handle(Trace& trace, const write::RegArray& array) {
  std::string base = trace.builder().name(trace.builder().at(array, 0));
  base.pop_back();  // the 0
  return {array, trace.id(), std::move(base), std::vector<nb::object>(array.count)};
}

RegArray make_array(Trace& trace, Type type, std::int64_t count, std::string_view name) {
  return array_handle(trace, unwrap(trace.builder().array(type, array_size(trace, count), name, trace.where())));
}

nb::object alloc(nb::handle dtype) {
  Trace& trace = Trace::require("reg.alloc");
  return make_reg(trace, unwrap(trace.builder().alloc(type_argument(dtype, "reg.alloc"), trace.where())));
}

RegArray alloc_array(nb::handle dtype, std::int64_t count) {
  Trace& trace = Trace::require("reg.alloc_array");
  const Type type = type_argument(dtype, "reg.alloc_array");
  return array_handle(trace, unwrap(trace.builder().alloc_array(type, array_size(trace, count), trace.where())));
}

RegArray array(nb::handle dtype, std::int64_t count, std::optional<std::string_view> name) {
  Trace& trace = Trace::require("reg.array");
  return make_array(trace, type_argument(dtype, "reg.array"), count, name.value_or(""));
}

RegArray wgmma_fragment(std::int64_t rows, std::int64_t columns, nb::handle dtype, std::optional<std::string_view> name) {
  Trace& trace = Trace::require("reg.wgmma_frag");
  const std::int64_t count = unwrap(write::idiom::wgmma_fragment_registers(rows, columns, trace.where()));
  return make_array(trace, type_argument(dtype, "reg.wgmma_frag"), count, name.value_or(""));
}

void bind_reg(nb::module_& m) {
  const nb::object reg = space(m, "reg", "The functions of `pyptx.reg`.");
  function(reg, "scalar(dtype: PtxType, init: Reg | int | float | str | None = None, name: str | None = None) -> Reg",
           "A register, with one `mov` when it is given an initial value.", scalar);
  function(reg, "array(dtype: PtxType, count: int, name: str | None = None) -> RegArray", "Registers in a row.", array);
  function(reg, "alloc(dtype: PtxType) -> Reg",
           "A register of a family that only its type has: `%au0`, `%af0`, apart from those of `scalar`.", alloc);
  function(reg, "alloc_array(dtype: PtxType, count: int) -> RegArray", "Registers in a row, of such a family.", alloc_array);
  function(reg, "from_(src: Reg | int | float | str, dtype: PtxType) -> Reg",
           "A fresh register and one `mov` from a register, special register, number or symbol.", from);
  function(reg, "wgmma_frag(*, m: int, n: int, dtype: PtxType, name: str | None = None) -> RegArray",
           "The registers of one thread for an M x N accumulator of a warpgroup.", wgmma_fragment);
}

// ---- ptx: addresses, parameters -----------------------------------------------------------------------------------

Address make_address(nb::object base, nb::object offset) {
  auto bad = [](std::string_view what, nb::handle seen, std::string_view fits) {
    raise(Kind::argument_kind, cat("the ", what, " of `ptx.addr` is ", describe(seen), "; what fits is ", fits), authors_line());
  };
  if (PyUnicode_Check(offset.ptr()) && nb::cast<std::string_view>(offset).starts_with(',')) {
    const std::optional<nb::list> parts = coordinates(nb::cast<std::string_view>(offset));
    if (!parts) bad("offset", offset, "a list of coordinates, `[x, y]`, or the same as text, `\", {%r0, %r1}\"`");
    offset = *parts;
  }
  const bool list = PyList_Check(offset.ptr()) || PyTuple_Check(offset.ptr());
  if (!offset.is_none() && !list && as<Reg>(offset) == nullptr && !PyIndex_Check(offset.ptr()) && !PyUnicode_Check(offset.ptr()))
    bad("offset", offset, "a number of bytes, a register, or a list of coordinates");
  if (const Address* inner = as<Address>(base)) {
    if (offset.is_none()) return *inner;
    if (inner->offset.is_none()) return {inner->base, std::move(offset)};
    if (!PyIndex_Check(inner->offset.ptr()) || !PyIndex_Check(offset.ptr()))
      bad("base", base, "an address whose offset and the new one are numbers");
    return {inner->base, nb::steal(PyNumber_Add(inner->offset.ptr(), offset.ptr()))};
  }
  if (as<Reg>(base) == nullptr && !PyUnicode_Check(base.ptr()) && as<TensorSpec>(base) == nullptr && !is_shared_handle(base) &&
      as<TmaDescriptorHandle>(base) == nullptr && !PyIndex_Check(base.ptr()))
    bad("base", base, "a register, the name of a symbol, a tensor or a shared allocation");
  return {std::move(base), std::move(offset)};
}

std::string name_of(nb::handle parameter, const char* what) {
  if (const TensorSpec* tensor = as<TensorSpec>(parameter)) return tensor->name;
  if (PyUnicode_Check(parameter.ptr())) return nb::cast<std::string>(parameter);
  raise(Kind::argument_kind,
        cat("`", what, "` is given ", describe(parameter), "; what fits is a tensor of the kernel's signature"), authors_line());
}

nb::tuple global_ptrs(const nb::args& parameters) {
  Trace& trace = Trace::require("ptx.global_ptrs");
  nb::list pointers;
  for (const nb::handle parameter : parameters) {
    const std::string name = name_of(parameter, "ptx.global_ptrs");
    pointers.append(make_reg(trace, unwrap(write::global_ptr(trace.builder(), name, trace.where()))));
  }
  return nb::tuple(pointers);
}

nb::object param(nb::handle dtype, std::string_view name, nb::object dst) {
  Trace& trace = Trace::require("ptx.param");
  const Type type = type_argument(dtype, "ptx.param");
  const auto& params = trace.builder().function().params;
  const auto it = std::find_if(params.begin(), params.end(),
                               [&](const ir::Param& p) { return trace.builder().module().str(p.name) == name; });
  if (it == params.end()) raise(Kind::undefined_symbol, cat("the kernel has no parameter `", name, '`'), trace.where());
  const bool aggregate = it->elements.has_value();  // one is read through its address
  if (dst.is_none()) dst = make_reg(trace, unwrap(trace.builder().reg(type, {}, trace.where())));
  const Value to = Value::of(register_argument(trace, dst, "ptx.param"));
  const std::array symbol = {Value::of_symbol(name)};
  if (aggregate)
    emit(trace, cat("mov.", isa::name(type)), nb::none(), to, symbol[0]);
  else
    emit(trace, cat("ld.param.", write::idiom::memory_word(type)), nb::none(), to, Value::address_of(symbol));
  return dst;
}

template <bool to_global>
nb::object cvta(nb::handle source, nb::object dst) {
  Trace& trace = Trace::require(to_global ? "ptx.cvta.to_global" : "ptx.cvta.param");
  Operands operands(trace);
  const Value from = operands.value(source);
  if (dst.is_none()) dst = make_reg(trace, unwrap(trace.builder().reg(Type::b64, {}, trace.where())));
  emit(trace, to_global ? "cvta.to.global.u64" : "cvta.param.u64", nb::none(),
       Value::of(register_argument(trace, dst, "ptx.cvta")), from);
  return dst;
}

void bind_addresses(nb::module_& m) {
  Class<Address> address(m, "Address", "`[base+offset]`, from `ptx.addr`.");
  address.field<&Address::base>("base -> object")
      .field<&Address::offset>("offset -> object")
      .dunder("__repr__(self) -> str", [](const Address& a) {
        return a.offset.is_none() ? nb::str("addr({})").format(a.base) : nb::str("addr({}, {})").format(a.base, a.offset);
      });
  function(m, "addr(base: typing.Any, offset: Reg | int | str | typing.Sequence[Reg | int] | None = None) -> Address",
           "`[base]`, `[base+offset]` with an offset in bytes, or `[map, {x, y}]` with a list of coordinates, or with the text "
           "`, {x, y}`.",
           make_address);
  m.def("global_ptrs", global_ptrs, nb::sig("def global_ptrs(*params: TensorSpec | str) -> tuple[Reg, ...]"),
        "The tensors' addresses in global memory, a fresh 64-bit register each.");
  function(m, "param(dtype: PtxType, name: str, dst: Reg | None = None) -> Reg",
           "A raw parameter's value; of an aggregate, its address.", param);
  function(m, "comment(text: str) -> None", "A comment in the PTX.",
           [](std::string_view text) { Trace::require("comment").builder().comment(text); });
  const nb::object spaces = space(m, "cvta", "Generic addresses and those of a state space.");
  function(spaces, "param(src: Reg, dst: Reg | None = None) -> Reg", "The generic address of one in parameter space.",
           cvta<false>);
  function(spaces, "to_global(src: Reg, dst: Reg | None = None) -> Reg", "The address in global space of a generic one.",
           cvta<true>);
}

}  // namespace

void bind_write(nb::module_& m) {
  using namespace write::declare;
  const nb::object block =
      space(m, "block",
            "Helpers of a whole block; each writes several instructions, and all threads of the block take part. "
            "`threads` is the block's size, a multiple of 32.");
  helpers::bind_all<As::function>(block, block_reductions);
  helpers::bind_all<As::function>(m, grid_helpers);
  bind_reg(m);
  bind_addresses(m);
  const nb::object warp = space(m, "warp", "Helpers of a whole warp; each writes several instructions.");
  helpers::bind_all<As::function>(warp, warp_helpers);
}

}  // namespace ptx::python
