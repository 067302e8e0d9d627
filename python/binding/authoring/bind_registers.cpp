// Types, registers and what is made of them: `Reg`, `RegArray`, `NegPred`, `PipeRef`.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <functional>

#include "python/binding/authoring/handles.hpp"
#include "python/binding/authoring/operands.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

#include "ptx/isa/isa.hpp"

namespace ptx::python {
namespace {

using write::Comparison;
using write::Operator;
using write::Value;

std::array<nb::handle, 256> type_objects;  // the module keeps them alive

nb::str text(std::string_view s) { return nb::str(s.data(), s.size()); }

// ---- operators ----------------------------------------------------------------------------------------------------

// The value of an operator's other side; nothing when no register operator takes such an object, so that Python says so.
std::optional<Value> other_side(Trace& trace, nb::handle object) {
  if (const Reg* reg = as<Reg>(object))
    return reg->kind == Reg::Kind::special ? Value::of_special(reg->special) : Value::of(register_of(trace, *reg));
  if (const NegPred* negated = as<NegPred>(object)) {
    Value value = Value::of(register_argument(trace, negated->reg, "~"));
    value.negated = true;
    return value;
  }
  if (PyUnicode_Check(object.ptr())) return std::nullopt;
  return number_value(trace, object);
}

Value left_side(Trace& trace, const Reg& reg) {
  return reg.kind == Reg::Kind::special ? Value::of_special(reg.special) : Value::of(register_of(trace, reg));
}

// `self op other`, or with the sides changed: Python asks the register on the right when the left side is none.
nb::object operate(Operator op, const Reg& self, nb::handle other, bool reflected = false) {
  Trace& trace = Trace::require("a register operator");
  const auto b = other_side(trace, other);
  if (!b) return nb::borrow(Py_NotImplemented);
  const Value a = left_side(trace, self);
  return make_reg(trace, unwrap(write::binary(trace.builder(), op, reflected ? *b : a, reflected ? a : *b, trace.where())));
}

// `~p & q`
nb::object with_negated(Operator op, Self<NegPred> self, nb::handle other) {
  Trace& trace = Trace::require("a register operator");
  const auto a = other_side(trace, self.object), b = other_side(trace, other);
  if (!b) return nb::borrow(Py_NotImplemented);
  return make_reg(trace, unwrap(write::binary(trace.builder(), op, *a, *b, trace.where())));
}

nb::object minus(const Reg& self) {
  Trace& trace = Trace::require("a register operator");
  return make_reg(trace, unwrap(write::negated(trace.builder(), left_side(trace, self), trace.where())));
}
nb::object absolute(const Reg& self) {
  Trace& trace = Trace::require("abs");
  return make_reg(trace, unwrap(write::absolute(trace.builder(), left_side(trace, self), trace.where())));
}
nb::object viewed(const Reg& self, nb::handle dtype) {
  Trace& trace = Trace::require("Reg.as_");
  return make_reg(trace,
                  unwrap(write::view(trace.builder(), register_of(trace, self), type_argument(dtype, "Reg.as_"), trace.where())));
}

nb::object in_place(Operator op, nb::handle self, nb::handle other) {
  const Reg* left = as<Reg>(self);
  if (left == nullptr) throw nb::next_overload();
  Trace& trace = Trace::require("a register operator");
  const auto b = other_side(trace, other);
  if (!b) return nb::borrow(Py_NotImplemented);
  if (left->kind == Reg::Kind::special)
    raise(Kind::bad_operator,
          cat("`", left->name, "` cannot be written to; copy it first: `reg.from_(…, ", isa::name(left->type), ")`"),
          trace.where());
  unwrap(write::in_place(trace.builder(), op, register_of(trace, *left), *b, trace.where()));
  return nb::borrow(self);
}

nb::object compare(Comparison cmp, const Reg& self, nb::handle other) {
  if (as<Reg>(other) == nullptr && (other.is_none() || PyUnicode_Check(other.ptr()))) return nb::borrow(Py_NotImplemented);
  Trace& trace = Trace::require("a comparison of registers");
  const auto b = other_side(trace, other);
  if (!b) return nb::borrow(Py_NotImplemented);
  return make_reg(trace, unwrap(write::compare(trace.builder(), cmp, left_side(trace, self), *b, trace.where())));
}

// What may stand beside a register, for type checkers: predicates with the bitwise ones alone, no float where PTX has none.
constexpr std::string_view beside(Operator op) {
  switch (op) {
    case Operator::and_:
    case Operator::or_:
    case Operator::xor_:
      return "Reg | NegPred | typing.SupportsIndex";
    case Operator::shl:
    case Operator::shr:
    case Operator::floor_div:
    case Operator::floor_rem:
      return "Reg | typing.SupportsIndex";
    default:
      return "Reg | typing.SupportsIndex | float";
  }
}

bool is_predicate(nb::handle object) {
  const Reg* reg = as<Reg>(object);
  return reg != nullptr && reg->type == Type::pred;
}

// `d | p` names a pair of destinations when either side is a predicate, else it is the bitwise operator.
nb::object either(Self<Reg> self, nb::handle other) {
  if (is_predicate(self.object) || is_predicate(other)) return nb::cast(PipeRef{nb::borrow(self.object), nb::borrow(other)});
  return operate(Operator::or_, *self, other);
}

// `"_" | p`: the first destination is not wanted.
nb::object reflected_either(Self<Reg> self, nb::handle other) {
  if (self->type == Type::pred && PyUnicode_Check(other.ptr()))
    return nb::cast(PipeRef{nb::borrow(other), nb::borrow(self.object)});
  return operate(Operator::or_, *self, other, true);
}

nb::object negate(Self<Reg> self) {
  if (self->type == Type::pred) return nb::cast(NegPred{nb::borrow(self.object)});
  raise(Kind::bad_operator, cat("`~` negates a predicate, `", self->name, "` is a .", isa::name(self->type), " register"),
        authors_line(), cat("`ptx.inst.not_.b", isa::bits(isa::register_type(self->type)), "(d, a)` complements bits"));
}

bool no_truth(std::string_view what) {
  raise(Kind::bad_operator,
        cat("`", what,
            "` has no truth value while the kernel is traced: Python's `if`, `and`, `or`, `not` and `while` cannot decide on it"),
        authors_line(), "`with ptx.if_(p):` writes a branch that the kernel takes, and `ptx.while_` a loop");
}

// ---- RegArray -------------------------------------------------------------------------------------------------------

nb::object hardware_order(RegArray& self, bool reverse) {
  nb::list all;
  for (std::uint32_t i = 0; i < self.array.count; ++i) all.append(element(self, reverse ? self.array.count - 1 - i : i));
  return all;
}

// True for an argument that is about to be dropped: `x + y` in `a[i] = x + y`, which no variable holds.
bool is_temporary(nb::handle object) {
#if PY_VERSION_HEX >= 0x030E0000
  return PyUnstable_Object_IsUniqueReferencedTemporary(object.ptr()) != 0;
#else
  return Py_REFCNT(object.ptr()) == 1;
#endif
}

// `a[i] = r` copies r. In `a[i] = x + y` nobody can ever read the temporary, so that its instruction writes to the slot instead.
void set_element(RegArray& self, std::int64_t index, nb::handle value) {
  Trace& trace = Trace::require("RegArray.__setitem__");
  const SourceLocation where = trace.where();
  const Reg* reg = as<Reg>(value);
  if (reg == nullptr)
    raise(Kind::argument_kind,
          cat("`", self.base, "[", index, "]` is set to ", describe(value),
              "; what fits is a register: `ptx.inst.mov…(a[i], value)` sets a number"),
          where);
  const nb::object slot = element(self, index);
  if (slot.is(value)) return;
  const write::Reg to = register_of(trace, *as<Reg>(slot));
  const Value from = left_side(trace, *reg);
  if (from.kind == Value::Kind::reg && from.reg.id == to.id) return;
  if (from.kind == Value::Kind::reg && is_temporary(value) && trace.builder().redirect(from.reg, to)) return;
  const std::string dots =
      self.array.type == Type::pred ? "mov.pred" : cat("mov.b", isa::bits(isa::register_type(self.array.type)));
  unwrap(trace.builder().emit(dots, std::array{Value::of(to), from}, {}, where));
}

// What a register is besides what its operators write.
void def_register(Class<Reg>& reg) {
  reg.constructor("(name: str, dtype: PtxType)",
                  [](Reg* self, std::string name, nb::handle dtype) {
                    Reg made;
                    made.type = type_argument(dtype, "Reg");
                    if (const auto special = isa::special_from_name(name))
                      made.kind = Reg::Kind::special, made.special = *special;
                    made.name = std::move(name);
                    new (self) Reg(std::move(made));
                  })
      .value("name -> str", "`%r3`", [](const Reg& r) { return r.name; })
      .value("dtype -> PtxType", "The type it was asked for; it may be declared as another of the same width.",
             [](const Reg& r) { return type_object(r.type); })
      .dunder("__repr__(self) -> str", [](const Reg& r) { return cat("Reg(", r.name, ", ", isa::name(r.type), ')'); })
      .dunder("__hash__(self) -> int", [](const Reg& r) { return std::hash<std::string>()(r.name); })
      .dunder("__bool__(self) -> bool", [](const Reg& r) { return no_truth(r.name); })
      .dunder("__invert__(self) -> NegPred", negate)
      .dunder("__or__(self, other: Reg | typing.SupportsIndex, /) -> typing.Any", either)
      .dunder("__ror__(self, other: typing.SupportsIndex | str, /) -> typing.Any", reflected_either)
      .function("max(self, other: Reg | typing.SupportsIndex | float) -> Reg", "The larger of the two, in a fresh register.",
                [](const Reg& self, nb::handle other) { return operate(Operator::max, self, other); })
      .function("min(self, other: Reg | typing.SupportsIndex | float) -> Reg", "The smaller of the two, in a fresh register.",
                [](const Reg& self, nb::handle other) { return operate(Operator::min, self, other); })
      .function(
          "as_(self, dtype: PtxType) -> Reg",
          "The same register as another type of its width: `r.as_(s32) >> 1` shifts with the sign. Writes nothing. What the "
          "register is declared with has to allow it: one of f32 is no u32 for instructions that compute with integers.",
          viewed)
      .dunder("__neg__(self) -> Reg", minus)
      .dunder("__abs__(self) -> Reg", absolute);
}

// Python's methods of operators. One function for each group, which knows its operator: nanobind's code for each is not small.
template <class What>
struct Method {
  const char* name;
  What what;
};
constexpr Method<Operator> direct[] = {{"__add__", Operator::add},
                                       {"__radd__", Operator::add},
                                       {"__sub__", Operator::sub},
                                       {"__mul__", Operator::mul},
                                       {"__rmul__", Operator::mul},
                                       {"__lshift__", Operator::shl},
                                       {"__rshift__", Operator::shr},
                                       {"__and__", Operator::and_},
                                       {"__rand__", Operator::and_},
                                       {"__xor__", Operator::xor_},
                                       {"__rxor__", Operator::xor_},
                                       {"__truediv__", Operator::true_div},
                                       {"__floordiv__", Operator::floor_div},
                                       {"__mod__", Operator::floor_rem}};
constexpr Method<Operator> reflected[] = {
    {"__rsub__", Operator::sub},          {"__rlshift__", Operator::shl},         {"__rrshift__", Operator::shr},
    {"__rtruediv__", Operator::true_div}, {"__rfloordiv__", Operator::floor_div}, {"__rmod__", Operator::floor_rem}};
constexpr Method<Operator> written_in_place[] = {{"__itruediv__", Operator::true_div}, {"__ifloordiv__", Operator::floor_div},
                                                 {"__imod__", Operator::floor_rem},    {"__iadd__", Operator::add},
                                                 {"__isub__", Operator::sub},          {"__imul__", Operator::mul},
                                                 {"__ilshift__", Operator::shl},       {"__irshift__", Operator::shr},
                                                 {"__iand__", Operator::and_},         {"__ior__", Operator::or_},
                                                 {"__ixor__", Operator::xor_}};
constexpr Method<Comparison> compared[] = {{"__eq__", Comparison::eq}, {"__ne__", Comparison::ne}, {"__lt__", Comparison::lt},
                                           {"__le__", Comparison::le}, {"__gt__", Comparison::gt}, {"__ge__", Comparison::ge}};

template <class Call, class... Doc>
void def_operator(Class<Reg>& reg, const char* name, std::string_view other, Call call, const Doc&... doc) {
  reg.def(name, call, nb::arg("other").none(), nb::sig(cat("def ", name, "(self, other: ", other, ", /) -> Reg").c_str()),
          doc...);
}
void def_operators(Class<Reg>& reg) {
  for (const auto& [name, op] : direct)
    def_operator(reg, name, beside(op), [op = op](const Reg& self, nb::handle other) { return operate(op, self, other); });
  for (const auto& [name, op] : reflected)
    def_operator(reg, name, "typing.SupportsIndex | float",
                 [op = op](const Reg& self, nb::handle other) { return operate(op, self, other, true); });
  for (const auto& [name, op] : written_in_place)
    def_operator(
        reg, name, beside(op), [op = op](nb::handle self, nb::handle other) { return in_place(op, self, other); },
        "In place: the register itself is written, whatever variables mean it. `a = a + b` has a fresh one.");
  for (const auto& [name, cmp] : compared)
    def_operator(reg, name, "typing.Any", [cmp = cmp](const Reg& self, nb::handle other) { return compare(cmp, self, other); });
}

void def_predicates(Class<NegPred>& negated, Class<PipeRef>& pipe) {
  negated.def(nb::init<nb::object>(), nb::arg("reg"), nb::sig("def __init__(self, reg: Reg) -> None"))
      .field<&NegPred::reg>("reg -> Reg")
      .dunder("__invert__(self) -> Reg", [](const NegPred& n) { return n.reg; })
      .dunder("__and__(self, other: Reg | NegPred, /) -> Reg",
              [](Self<NegPred> self, nb::handle other) { return with_negated(Operator::and_, self, other); })
      .dunder("__xor__(self, other: Reg | NegPred, /) -> Reg",
              [](Self<NegPred> self, nb::handle other) { return with_negated(Operator::xor_, self, other); })
      .dunder("__bool__(self) -> bool", [](const NegPred& n) { return no_truth(nb::repr(nb::cast(n)).c_str()); })
      .dunder("__repr__(self) -> str", [](const NegPred& n) { return nb::str("~{}").format(n.reg); });
  pipe.def(nb::init<nb::object, nb::object>(), nb::arg("left"), nb::arg("right"),
           nb::sig("def __init__(self, left: Reg | str, right: Reg | str) -> None"))
      .field<&PipeRef::left>("left -> Reg | str")
      .field<&PipeRef::right>("right -> Reg | str")
      .dunder("__bool__(self) -> bool", [](const PipeRef& p) { return no_truth(nb::repr(nb::cast(p)).c_str()); })
      .dunder("__repr__(self) -> str", [](const PipeRef& p) { return nb::str("{} | {}").format(p.left, p.right); });
}

void bind_register_array(nb::module_& m) {
  Class<RegArray> array(m, "RegArray", "Registers in a row; `a[i]` is one of them.");
  array
      .constructor("(base: str, count: int, dtype: PtxType)",
                   "The registers base0, base1, … by their names, of whichever kernel uses them.",
                   [](RegArray* self, std::string base, std::uint32_t count, nb::handle dtype) {
                     constexpr std::uint32_t most = 1 << 16;
                     if (count < 1 || count > most)
                       raise(Kind::bad_declaration, cat("an array of ", count, " registers; what fits is 1 to ", most),
                             authors_line());
                     RegArray made;
                     made.array.count = count;
                     made.array.type = type_argument(dtype, "RegArray");
                     made.base = std::move(base);
                     made.elements.resize(count);
                     new (self) RegArray(std::move(made));
                   })
      .value("base -> str", "The registers' names are this and a number.", [](const RegArray& a) { return a.base; })
      .value("count -> int", [](const RegArray& a) { return a.array.count; })
      .value("dtype -> PtxType", [](const RegArray& a) { return type_object(a.array.type); })
      .dunder("__len__(self) -> int", [](const RegArray& a) { return a.array.count; })
      .def("__getitem__", element, nb::sig("def __getitem__(self, index: typing.SupportsIndex, /) -> Reg"))
      .def("__setitem__", set_element, nb::arg("index"), nb::arg("value").none(),
           nb::sig("def __setitem__(self, index: typing.SupportsIndex, value: Reg, /) -> None"))
      .dunder("__iter__(self) -> typing.Iterator[Reg]", [](RegArray& a) { return nb::iter(hardware_order(a, false)); })
      .function("regs(self) -> list[Reg]", [](RegArray& a) { return hardware_order(a, false); })
      .function("hw_order(self, reverse: bool = False) -> list[Reg]", "The registers in the hardware's order, or in its reverse.",
                hardware_order)
      .dunder("__repr__(self) -> str", [](const RegArray& a) {
        return cat("RegArray(", a.base, ", ", a.array.count, ", ", isa::name(a.array.type), ')');
      });
}

}  // namespace

nb::object type_object(Type type) { return nb::borrow(type_objects[static_cast<std::size_t>(type)]); }

Type type_argument(nb::handle value, const char* what) {
  if (const PtxType* type = as<PtxType>(value)) return type->type;
  raise(Kind::argument_kind,
        cat("the dtype of `", what, "` is ", describe(value), "; what fits is a type of `pyptx.types`, such as `f32`"),
        authors_line());
}

nb::object make_reg(Trace& trace, write::Reg reg) {
  return nb::cast(Reg{Reg::Kind::traced, reg.type, 0, reg, trace.id(), trace.builder().name(reg)});
}

nb::object make_special(isa::SpecialId special) {
  const isa::Special& s = isa::specials()[special];
  return nb::cast(Reg{Reg::Kind::special, s.type, special, {}, 0, std::string(s.name)});
}

std::optional<write::Reg> register_named(Trace& trace, std::string_view name) {
  const ir::Function& function = trace.builder().function();
  for (std::size_t i = 0; i < function.regs.size(); ++i)
    if (const ir::RegId id{i}; trace.builder().module().reg_name(function, id) == name)
      return write::Reg{id, function.reg(id).type};
  return std::nullopt;
}

write::Reg register_of(Trace& trace, const Reg& reg) {
  if (reg.kind == Reg::Kind::traced && reg.trace == trace.id()) return reg.reg;
  if (reg.kind == Reg::Kind::named) {
    if (const auto found = register_named(trace, reg.name)) return {found->id, reg.type == Type::none ? found->type : reg.type};
    raise(Kind::undefined_symbol, cat("the kernel has no register `", reg.name, "`"), trace.where());
  }
  if (reg.kind == Reg::Kind::special)
    raise(Kind::operand_mismatch,
          cat("the special register `", reg.name,
              "` is given where only an ordinary register fits; copy it first: `reg.from_(…, ", isa::name(reg.type), ")`"),
          trace.where());
  raise(Kind::undefined_symbol, cat("`", reg.name, "` belongs to another kernel, whose trace has ended"), trace.where());
}

write::Reg register_argument(Trace& trace, nb::handle value, const char* what) {
  if (const Reg* reg = as<Reg>(value)) return register_of(trace, *reg);
  raise(Kind::argument_kind, cat("`", what, "` takes a register, ", describe(value), " was given"), trace.where());
}

nb::object element(RegArray& array, std::int64_t index) {
  if (index < 0 || index >= array.array.count) {
    const std::string message =
        cat("`", array.base, "` has ", array.array.count, " registers; index ", index, " is out of range");
    throw nb::index_error(message.c_str());
  }
  nb::object& slot = array.elements[static_cast<std::size_t>(index)];
  if (!slot.is_valid() && array.trace == 0) {
    Reg named;
    named.type = array.array.type;
    named.name = cat(array.base, index);
    slot = nb::cast(std::move(named));
  }
  if (!slot.is_valid()) {
    Trace* trace = Trace::active();
    if (trace == nullptr || trace->id() != array.trace)
      raise(Kind::undefined_symbol, cat("the registers `", array.base, "` belong to a kernel whose trace has ended"),
            authors_line());
    slot = make_reg(*trace, trace->builder().at(array.array, static_cast<std::uint32_t>(index)));
  }
  return slot;
}

void bind_types(nb::module_& m) {
  Class<PtxType> type(m, "PtxType", "A PTX type: `pyptx.types.f32` and its like, one object each.");
  type.constructor("(name: str, bits: int | None = None)",
                   [](PtxType* self, std::string_view name, std::optional<int> bits) {
                     const auto found = isa::type_from_name(name);
                     if (!found) raise(Kind::bad_declaration, cat("`", name, "` is not a PTX type"), authors_line());
                     if (bits && *bits != isa::bits(*found))
                       raise(Kind::bad_declaration, cat("`", name, "` has ", isa::bits(*found), " bits, not ", *bits),
                             authors_line());
                     new (self) PtxType{*found};
                   })
      .value("name -> str", "`f32`", [](const PtxType& t) { return text(isa::name(t.type)); })
      .value("bits -> int", "Width in bits; 1 for `pred`.", [](const PtxType& t) { return isa::bits(t.type); })
      .value("ptx -> str", "As PTX spells it: `.f32`.",
             [](const PtxType& t) { return nb::str(cat('.', isa::name(t.type)).c_str()); })
      .dunder("__repr__(self) -> str", [](const PtxType& t) { return text(isa::name(t.type)); })
      .def(
          "__eq__", [](const PtxType& a, const PtxType& b) { return a.type == b.type; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .dunder("__hash__(self) -> int", [](const PtxType& t) { return std::hash<std::string_view>()(isa::name(t.type)); })
      .dunder("__reduce__(self) -> tuple[typing.Any, ...]",
              [](nb::handle self) { return nb::make_tuple(self.type(), nb::make_tuple(self.attr("name"))); });

  nb::tuple all = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(std::size(isa::detail::type_infos)) - 1));
  for (std::size_t i = 1; i < std::size(isa::detail::type_infos); ++i) {
    nb::object object = nb::cast(PtxType{static_cast<Type>(i)});
    type_objects[i] = object;
    PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(i) - 1, object.release().ptr());
  }
  m.attr("TYPES") = all;
  function(m, "type_from_name(name: str) -> PtxType",
           "The type of that name, with or without the leading dot; ValueError for any other.", [](std::string_view name) {
             const auto found = isa::type_from_name(name);
             if (!found) {
               std::vector<std::string> names;
               for (std::size_t i = 1; i < std::size(isa::detail::type_infos); ++i)
                 names.emplace_back(isa::detail::type_infos[i].name);
               raise(Kind::bad_declaration, cat("`", name, "` is not a PTX type"), authors_line(), did_you_mean(name, names));
             }
             return type_object(*found);
           });
}

void bind_registers(nb::module_& m) {
  Class<NegPred> negated(m, "NegPred", "`~p`: the predicate, negated.");
  Class<PipeRef> pipe(m, "PipeRef", "`d | p`: two destinations of one instruction.");
  Class<Reg> reg(
      m, "Reg",
      "A register. Its operators write PTX: `a + b` into a fresh register, `a += b` and its like (`-= *= <<= >>= &= |= ^=`) into "
      "`a` itself, so that a variable that means the same register sees it. `==` and its like give a predicate; of floats they "
      "are PTX's ordered ones, false of a NaN: `ptx.let.setp.neu.f32(a, b)` is the `!=` that is true of it.\n\n"
      "The result has the type of the left side. Integers of 32 and 64 bits have `+ - * // % << >> & | ^` (`//` and `%` unsigned "
      "ones: PTX divides signed ones towards zero, Python down), floats `+ - * /`, rounded to nearest and never joined into an "
      "fma; both `-a` and `abs(a)`; those of 32 bits `a.max(b)` and `a.min(b)`; predicates `p & q`, `p ^ q`, `p |= q` and `~p`. "
      "A number may stand on either side: `63 - r`, `2.0 * x`.");
  def_register(reg);
  def_operators(reg);
  def_predicates(negated, pipe);
  bind_register_array(m);
}

}  // namespace ptx::python
