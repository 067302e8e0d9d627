#include "python/binding/authoring/helper_arguments.hpp"

#include <algorithm>

#include "ptx/write/idiom/smem.hpp"
#include "python/binding/authoring/checks.hpp"

namespace ptx::python {

using write::Place;
using write::Value;

void refuse_argument(std::string_view helper, std::string_view name, nb::handle seen, std::string_view fits,
                     SourceLocation where) {
  raise(Kind::argument_kind, cat('`', name, "` of `", helper, "` is ", describe(seen), "; what fits is ", fits), where);
}

void HelperCall::refuse(const Parameter& parameter, nb::handle seen, std::string_view fits) {
  refuse_argument(name(), parameter.name, seen, fits, where());
}

void HelperCall::begin() {
  trace_ = &Trace::require(name());
  had_failed_ = builder().failure() != nullptr;
  operands_.emplace(*trace_);
}

SourceLocation HelperCall::where() {
  if (!where_) where_ = trace_ != nullptr ? trace_->where() : authors_line();
  return *where_;
}

void HelperCall::raise_taken(const std::string& instruction) {
  Diagnostic failed = *builder().take_failure();
  if (!failed.where.known()) failed.where = where();
  if (!instruction.empty()) unwrap_validated(instruction, Unexpected{std::move(failed)});
  raise(failed);
}

nb::object HelperCall::given_back(const write::declare::Signature& signature, std::span<const nb::handle> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (signature.parameters[i].name == signature.gives_back) return nb::borrow(arguments[i]);
  return nb::none();
}

// ---- places -------------------------------------------------------------------------------------------------------------------

// Shared memory that the core knows as such: its layout, and where it lies.
std::optional<write::SharedHandle> HelperCall::shared_handle(nb::handle object) {
  const auto made = [&](const auto& owner, std::int64_t offset) {
    if (owner.trace != trace_->id())
      raise(Kind::undefined_symbol, cat("the shared memory `", owner.name, "` belongs to another kernel"), where());
    return write::SharedHandle(builder(), {owner.name, owner.byte_offset, owner.bytes(), owner.dynamic}, offset);
  };
  if (const SharedAlloc* alloc = allocation_of(object)) {
    const SharedSlice* slice = as<SharedSlice>(object);
    write::SharedHandle handle = made(*alloc, slice != nullptr ? slice->stage * alloc->stage_bytes() : 0);
    handle.set_layout(alloc->gmma_layout, alloc->gmma_major);
    return handle;
  }
  if (const MbarrierArray* array = as<MbarrierArray>(object)) return made(*array, 0);
  if (const MbarrierRef* ref = as<MbarrierRef>(object))
    return made(*as<MbarrierArray>(ref->array), ref->index * write::idiom::mbarrier_bytes);
  return std::nullopt;
}

write::PlaceArg HelperCall::from(nb::handle object, const Parameter& /*parameter*/, write::PlaceArg* /*type*/) {
  if (const auto handle = shared_handle(object)) return {*handle, where()};
  return {&builder(), place_argument(*trace_, *operands_, object, name()), where()};
}

write::TmemArg HelperCall::from(nb::handle object, const Parameter& /*parameter*/, write::TmemArg* /*type*/) {
  const Place place = place_argument(*trace_, *operands_, object, name());
  const Value& base = place.base();
  if (base.kind != Value::Kind::reg || isa::bits(base.reg.type) != 32)
    raise(Kind::operand_mismatch,
          cat('`', name(), "` is given ", describe(object), "; an address in tensor memory is a 32-bit register"), where());
  return {&builder(), place, where()};
}

write::MapArg HelperCall::from(nb::handle object, const Parameter& parameter, write::MapArg* type) {
  if (const Address* address = as<Address>(object); address != nullptr && address->offset.is_none())
    return from(address->base, parameter, type);
  write::MapArg map("");
  if (const TensorSpec* tensor = as<TensorSpec>(object)) {
    const auto& params = builder().function().params;
    if (std::any_of(params.begin(), params.end(),
                    [&](const ir::Param& p) { return builder().module().str(p.name) == tensor->name; }))
      return from(object.attr("tma_desc")(), parameter, type);
  }
  map.value = operands_->value(object);
  if (map.value.kind != Value::Kind::reg && map.value.kind != Value::Kind::symbol)
    raise(Kind::operand_mismatch,
          cat("the tensor map of `", name(), "`: ", describe(object),
              " is given; what fits is the register of `tma_desc()`, a tensor, or a name"),
          where());
  return map;
}

// ---- operands -----------------------------------------------------------------------------------------------------------------

write::Source HelperCall::from(nb::handle object, const Parameter& /*parameter*/, write::Source* /*type*/) {
  write::Source source(0, where());
  source.value = operands_->value(object);
  return source;
}

write::Bytes HelperCall::from(nb::handle object, const Parameter& parameter, write::Bytes* /*type*/) {
  write::Bytes bytes(0, where());
  bytes.value = operands_->value(object);
  if (bytes.value.kind != Value::Kind::integer && bytes.value.kind != Value::Kind::reg)
    refuse(parameter, object, "a number of bytes or a register");
  return bytes;
}

write::Enable HelperCall::from(nb::handle object, const Parameter& parameter, write::Enable* /*type*/) {
  if (as<Reg>(object) == nullptr && as<NegPred>(object) == nullptr && !PyBool_Check(object.ptr()) && !PyIndex_Check(object.ptr()))
    refuse(parameter, object, "a predicate, a 32-bit register, or True or False");
  write::Enable enable;
  enable.value = operands_->value(object);
  return enable;
}

write::Pred HelperCall::from(nb::handle object, const Parameter& /*parameter*/, write::Pred* /*type*/) {
  write::Pred pred;
  pred.guard = guard_argument(*trace_, object);
  return pred;
}

write::IssuerArg HelperCall::from(nb::handle object, const Parameter& parameter, write::IssuerArg* /*type*/) {
  if (as<Reg>(object) == nullptr && as<NegPred>(object) == nullptr && PyIndex_Check(object.ptr()))
    return nb::cast<std::int64_t>(nb::int_(nb::borrow(object)));
  write::IssuerArg issuer;
  issuer.pred = from(object, parameter, static_cast<write::Pred*>(nullptr));
  return issuer;
}

write::Reg HelperCall::from(nb::handle object, const Parameter& /*parameter*/, write::Reg* /*type*/) {
  return register_argument(*trace_, object, name());
}
write::TmemColumns HelperCall::from(nb::handle object, const Parameter& /*parameter*/, write::TmemColumns* /*type*/) {
  return write::TmemColumns(register_argument(*trace_, object, name()));
}

write::MatrixDescriptor HelperCall::from(nb::handle object, const Parameter& /*parameter*/, write::MatrixDescriptor* /*type*/) {
  const Reg* reg = as<Reg>(object);
  if (reg != nullptr && isa::bits(reg->type) == 64) return write::MatrixDescriptor(register_of(*trace_, *reg));
  raise(Kind::operand_mismatch,
        cat('`', name(), "` is given ", describe(object), "; what fits is a matrix descriptor in a 64-bit register"), where(),
        "build it by `ptx.tcgen05.descriptor` from the address in shared memory");
}

write::Registers HelperCall::from(nb::handle object, const Parameter& parameter, write::Registers* /*type*/) {
  write::Registers registers;
  if (object.is_none() && parameter.standard) return registers;
  if (as<Reg>(object) != nullptr) {
    registers.regs.push_back(register_argument(*trace_, object, name()));
  } else if (RegArray* array = as<RegArray>(object)) {
    for (std::uint32_t i = 0; i < array->array.count; ++i)
      registers.regs.push_back(register_argument(*trace_, element(*array, i), name()));
  } else if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    for (const nb::handle item : object) {
      const Value value = operands_->value(item);
      if (value.kind != Value::Kind::reg) refuse(parameter, object, "an array or a list of registers");
      registers.regs.push_back(value.reg);
    }
  } else {
    refuse(parameter, object, "an array or a list of registers");
  }
  return registers;
}

// A descriptor, a tile that knows its layout, or registers.
write::Factor HelperCall::from(nb::handle object, const Parameter& parameter, write::Factor* /*type*/) {
  write::Factor factor;
  if (const auto tile = shared_handle(object)) {
    factor.tile = *tile;
  } else if (const Reg* reg = as<Reg>(object)) {
    if (isa::bits(reg->type) != 64)
      raise(Kind::operand_mismatch,
            cat('`', parameter.name, "` of `", name(), "` is the .", isa::name(reg->type), " register `", reg->name,
                "`; a descriptor has 64 bits"),
            where());
    factor.descriptor = register_of(*trace_, *reg);
  } else if (as<RegArray>(object) != nullptr || PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    factor.registers = from(object, parameter, static_cast<write::Registers*>(nullptr));
  } else {
    refuse(parameter, object, "a descriptor in a 64-bit register or a tile of `smem.wgmma_tile`");
  }
  return factor;
}

write::BlockMask HelperCall::from(nb::handle object, const Parameter& parameter, write::BlockMask* /*type*/) {
  if (!PyIndex_Check(object.ptr())) {
    PyErr_SetString(PyExc_NotImplementedError,
                    cat('`', name(), "` takes its ", parameter.name,
                        " as an int: PTX has no arrival at several blocks, and the calls for each are chosen when the kernel is "
                        "written; `ptx.cluster.arrive_remote(…, pred=…)` arrives at one")
                        .c_str());
    throw nb::python_error();
  }
  return nb::cast<std::int64_t>(object);
}

write::Coords HelperCall::from(nb::handle object, const Parameter& /*parameter*/, write::Coords* /*type*/) {
  write::Coords coords;
  if (object.is_none()) return coords;
  nb::object list = nb::borrow(object);
  if (PyTuple_Check(object.ptr())) list = nb::list(list);
  if (!PyList_Check(list.ptr()) && as<RegArray>(list) == nullptr)
    raise(
        Kind::operand_mismatch,
        cat("the coordinates of `", name(), "`: ", describe(object), " is given; what fits is a tuple of registers and numbers"),
        where());
  for (const Value& value : operands_->value(list).parts) {
    coords.emplace_back(0, where());
    coords.back().value = value;
  }
  return coords;
}

// ---- of single instructions
// ----------------------------------------------------------------------------------------------------

Operands& HelperCall::loose() {
  if (!loose_) loose_.emplace(*trace_, is_strict());
  return *loose_;
}
AnyOperand HelperCall::from(nb::handle object, const Parameter& /*parameter*/, AnyOperand* /*type*/) {
  return {loose().value(object)};
}
MemoryOperand HelperCall::from(nb::handle object, const Parameter& /*parameter*/, MemoryOperand* /*type*/) {
  if (as<Address>(object) != nullptr) return {{}, loose().value(object)};
  return {place_argument(*trace_, loose(), object, name()), {}};
}
GuardArg HelperCall::from(nb::handle object, const Parameter& /*parameter*/, GuardArg* /*type*/) {
  return {guard_argument(*trace_, object)};
}

// ---- types, words, sizes ------------------------------------------------------------------------------------------------------

Type HelperCall::from(nb::handle object, const Parameter& /*parameter*/, Type* /*type*/) { return type_argument(object, name()); }

std::string_view HelperCall::type_word(nb::handle object, const Parameter& parameter) {
  if (const PtxType* type = as<PtxType>(object)) return isa::name(type->type);
  if (!PyUnicode_Check(object.ptr())) refuse(parameter, object, "a name or a type");
  return nb::cast<std::string_view>(object);
}

layout::Major HelperCall::from(nb::handle object, const Parameter& /*parameter*/, layout::Major* /*type*/) {
  return major_argument(object, name(), where());
}

layout::GmmaLayout HelperCall::from(nb::handle object, const Parameter& parameter, layout::GmmaLayout* /*type*/) {
  layout::GmmaLayout layout;
  if (!nb::try_cast(object, layout)) refuse(parameter, object, "a `GmmaLayout`, as `wgmma_layout.pick_gmma_layout` makes one");
  return layout;
}

write::SharedShape HelperCall::from(nb::handle object, const Parameter& parameter, write::SharedShape* /*type*/) {
  const nb::object sizes =
      PyTuple_Check(object.ptr()) || PyList_Check(object.ptr()) ? nb::borrow(object) : nb::make_tuple(object);
  std::vector<std::int64_t> shape;
  for (const nb::handle size : sizes) {
    shape.push_back(0);
    if (PyBool_Check(size.ptr()) || !PyIndex_Check(size.ptr()) ||
        !nb::try_cast(nb::steal(PyNumber_Index(size.ptr())), shape.back()))
      refuse(parameter, object, "an int or a tuple of ints");
  }
  return write::SharedShape(std::move(shape));
}

SharedAlloc HelperCall::held(const SharedAllocation& made) {
  SharedAlloc alloc{.name = std::string(made.name()), .type = made.type(), .shape = made.shape()};
  alloc.swizzle = made.swizzle().empty() ? nb::none() : nb::cast(made.swizzle());
  alloc.gmma_layout = made.gmma_layout();
  alloc.gmma_major = made.given_major();
  alloc.byte_offset = made.byte_offset();
  alloc.dynamic = made.region().dynamic;
  alloc.trace = trace_->id();
  return alloc;
}

MbarrierArray HelperCall::held(const ptx::MbarrierArray& made) {
  return {std::string(made.name()), made.count(), made.byte_offset(), made.region().dynamic, trace_->id()};
}

void HelperCall::integers(nb::handle object, const Parameter& parameter, std::span<std::int64_t> to) {
  bool fits = (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr())) && nb::len(object) == to.size();
  for (std::size_t i = 0; fits && i < to.size(); ++i) fits = nb::try_cast(object[i], to[i]);
  if (!fits) refuse(parameter, object, to.size() == 3 ? "three ints, (M, N, K)" : "two ints, (M or N, K) or (K, N)");
}

layout::Major major_argument(nb::handle object, std::string_view what, SourceLocation where) {
  if (PyUnicode_Check(object.ptr())) {
    const auto text = nb::cast<std::string_view>(object);
    if (text == "K") return layout::Major::k;
    if (text == "MN") return layout::Major::mn;
  } else if (!PyBool_Check(object.ptr()) && PyIndex_Check(object.ptr())) {
    const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
    if (number.equal(nb::int_(0))) return layout::Major::k;
    if (number.equal(nb::int_(1))) return layout::Major::mn;
  }
  raise(Kind::bad_tile, cat("the major of `", what, "` is ", describe(object), "; what fits is \"K\" or \"MN\""), where);
}

}  // namespace ptx::python
