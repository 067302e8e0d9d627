#include "python/binding/authoring/operands.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "python/binding/authoring/places.hpp"
#include "python/binding/base/errors.hpp"

namespace ptx::python {
namespace {

using write::Value;

std::string_view view_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

Value integer_value(Trace& trace, nb::handle object) {
  if (const auto value = integer_of(object)) return *value;
  raise(Kind::immediate_range, cat(describe(object), " does not fit in 64 bits"), trace.where());
}

// An integer that prints as it was written.
Value spelled_integer(std::uint64_t bits, std::string_view text) {
  Value value = Value::of_integer(static_cast<std::int64_t>(bits));  // PTX, not a number of Python: it means its bits
  if (text != cat(value.integer)) value.text = text;
  return value;
}

// "42", "-1", "0x1F", "0b101", "42U", "1.5", "0f3F800000", "0d3FF0000000000000"; nothing for any other text.
std::optional<Value> immediate(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  auto whole = [&](std::string_view number, int base) -> std::optional<std::uint64_t> {
    if (number.ends_with('U')) number.remove_suffix(1);
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bits, base);
    return error == std::errc() && end == number.data() + number.size() ? std::optional(bits) : std::nullopt;
  };
  if (digits.size() == 10 && (digits.starts_with("0f") || digits.starts_with("0F")))
    if (const auto bits = whole(digits.substr(2), 16); bits && !negative) {
      float f;
      const auto word = static_cast<std::uint32_t>(*bits);
      std::memcpy(&f, &word, sizeof f);
      Value value = Value::of_floating(static_cast<double>(f));
      value.text = text;
      return value;
    }
  if (digits.size() == 18 && (digits.starts_with("0d") || digits.starts_with("0D")))
    if (const auto bits = whole(digits.substr(2), 16); bits && !negative) {
      double d;
      std::memcpy(&d, &*bits, sizeof d);
      Value value = Value::of_floating(d);
      value.text = text;
      return value;
    }
  std::optional<std::uint64_t> bits;
  if (digits.starts_with("0x") || digits.starts_with("0X"))
    bits = whole(digits.substr(2), 16);
  else if (digits.starts_with("0b") || digits.starts_with("0B"))
    bits = whole(digits.substr(2), 2);
  else if (digits.size() > 1 && digits.starts_with('0') && digits.find_first_of(".eE") == std::string_view::npos)
    bits = whole(digits.substr(1), 8);
  else
    bits = whole(digits, 10);
  if (bits) return spelled_integer(negative ? 0 - *bits : *bits, text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(number)) return Value::of_floating(number);
  return std::nullopt;
}

// What has the methods of a number may still say that it is none: numpy's arrays do.
void forget_that_it_is_no_number() {
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
  PyErr_Clear();
}

}  // namespace

std::string_view node_class(nb::handle object) {
  const std::string_view name = Py_TYPE(object.ptr())->tp_name;
  if (!name.ends_with("Operand")) return {};
  const nb::object module = nb::getattr(object.type(), "__module__", nb::none());
  return PyUnicode_Check(module.ptr()) && view_of(module) == "pyptx.ir.nodes" ? name : std::string_view();
}

std::optional<Value> number_value(Trace& trace, nb::handle object) {
  if (PyLong_Check(object.ptr())) return integer_value(trace, object);
  if (PyFloat_Check(object.ptr())) return Value::of_floating(PyFloat_AS_DOUBLE(object.ptr()));
  if (PyIndex_Check(object.ptr())) {
    const nb::object integer = nb::steal(PyNumber_Index(object.ptr()));
    if (integer.is_valid()) return integer_value(trace, integer);
    forget_that_it_is_no_number();  // an array of integers, say
  }
  const PyNumberMethods* number = Py_TYPE(object.ptr())->tp_as_number;
  if (number != nullptr && number->nb_float != nullptr) {
    const double value = PyFloat_AsDouble(object.ptr());
    if (value != -1 || PyErr_Occurred() == nullptr) return Value::of_floating(value);
    forget_that_it_is_no_number();
  }
  return std::nullopt;
}

std::optional<Value> integer_of(nb::handle number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) {
    if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return Value::of_integer(value);
  }
  if (overflow < 0) return std::nullopt;
  const unsigned long long above = PyLong_AsUnsignedLongLong(number.ptr());
  if (above == ~0ull && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return Value::of_unsigned(above);
}

std::optional<nb::list> coordinates(std::string_view text) {
  static constexpr std::string_view blank = " \t\n";
  const auto trimmed = [](std::string_view part) {
    const std::size_t first = std::min(part.find_first_not_of(blank), part.size());
    part.remove_prefix(first);
    return part.substr(0, part.find_last_not_of(blank) + 1);
  };
  text = trimmed(trimmed(text).substr(1));  // behind the comma
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  nb::list parts;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    if (part.empty() || part.find_first_of("{}") != std::string_view::npos) return std::nullopt;
    parts.append(nb::str(part.data(), part.size()));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::span<Value> Operands::take(std::size_t count) {
  if (used_ + count <= inline_values) {
    auto* const first = reinterpret_cast<Value*>(inline_.data()) + used_;
    std::uninitialized_value_construct_n(first, count);
    used_ += count;
    return {first, count};
  }
  heap_.push_back(std::make_unique<Value[]>(count));
  return {heap_.back().get(), count};
}

std::span<const Value> Operands::convert(std::span<PyObject* const> arguments) {
  const auto is_node = [](nb::handle argument) {
    return as<Reg>(argument) == nullptr && node_class(argument) == "PipeOperand";  // most operands are registers
  };
  std::size_t count = arguments.size();
  for (PyObject* argument : arguments) count += as<PipeRef>(argument) != nullptr || is_node(argument);
  const std::span<Value> values = take(count);
  const bool piped = count != arguments.size();
  std::size_t i = 0;
  for (PyObject* argument : arguments) {
    if (const Reg* reg = as<Reg>(argument); reg != nullptr && reg->kind != Reg::Kind::special) {  // as most are
      values[i].kind = Value::Kind::reg;
      values[i++].reg = register_of(trace_, *reg);
      continue;
    }
    const PipeRef* pipe = piped ? as<PipeRef>(argument) : nullptr;
    if (pipe == nullptr && !(piped && is_node(argument))) {
      values[i++] = value(argument);
      continue;
    }
    values[i++] = value(pipe != nullptr ? pipe->left : made_.emplace_back(nb::handle(argument).attr("left")));
    values[i] = value(pipe != nullptr ? pipe->right : made_.emplace_back(nb::handle(argument).attr("right")));
    values[i++].piped = true;
  }
  return values;
}

Value Operands::register_value(const Reg& reg) {
  return reg.kind == Reg::Kind::special ? Value::of_special(reg.special) : Value::of(register_of(trace_, reg));
}

Value Operands::vector_of(std::span<PyObject* const> items) {
  const std::span<Value> elements = take(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) elements[i] = value(items[i]);
  return Value::vector_of(elements);
}

Value Operands::array_of(RegArray& array) {
  const std::span<Value> elements = take(array.array.count);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = value(element(array, static_cast<std::int64_t>(i)));
  return Value::vector_of(elements);
}

Value Operands::address_of(const Address& address) {
  if (is_shared_handle(address.base)) return shared_address_of(address);
  const bool list = PyList_Check(address.offset.ptr()) || PyTuple_Check(address.offset.ptr());
  const std::span<Value> parts = take(address.offset.is_none() ? 1 : 2);
  parts[0] = value(address.base);
  if (list) {
    parts[1] = vector_of(
        {PySequence_Fast_ITEMS(address.offset.ptr()), static_cast<std::size_t>(PySequence_Fast_GET_SIZE(address.offset.ptr()))});
    return Value::tensor_of(parts);
  }
  if (parts.size() == 2) parts[1] = value(address.offset);
  return Value::address_of(parts);
}

// `[symbol+offset]` of shared memory; an offset in a register is added to the address, which is put in one for that.
Value Operands::shared_address_of(const Address& address) {
  write::Place place = *shared_handle_place(trace_, *this, address.base);
  const std::span<Value> parts = take(2);
  const Value offset = address.offset.is_none() ? Value::of_integer(0) : value(address.offset);
  if (offset.kind == Value::Kind::integer) {
    parts[0] = place.base();
    parts[1] = Value::of_integer(place.offset() + offset.integer);
    return Value::address_of(parts);
  }
  const write::Reg base = unwrap(write::address_register(trace_.builder(), place, trace_.where()));
  parts[0] = Value::of(unwrap(write::binary(trace_.builder(), write::Operator::add, Value::of(base), offset, trace_.where())));
  return Value::address_of(parts.first(1));
}

Value Operands::text_value(nb::handle object) {
  const std::string_view text = view_of(object);
  if (text == "_") return Value{};
  if (text.empty()) raise(Kind::operand_mismatch, "an operand is the empty text `''`", trace_.where());
  if (text.front() == '%') {
    if (const auto special = isa::special_from_name(text)) return Value::of_special(*special);
    Reg named;
    named.name = std::string(text);
    if (strict_ || register_named(trace_, text)) return Value::of(register_of(trace_, named));
    return Value::of_symbol(text);
  }
  if (text == "WARP_SZ") return spelled_integer(32, text);
  if (text.front() == '-' || (text.front() >= '0' && text.front() <= '9')) {
    if (const auto number = immediate(text)) return *number;
    if (!strict_) return Value::of_symbol(text);
    raise(Kind::operand_mismatch, cat("the text `", text, "` is not a number of PTX"), trace_.where());
  }
  return Value::of_symbol(text);
}

// The nodes of pyptx.ir stand for what they print as.
std::optional<Value> Operands::node_value(nb::handle object) {
  const std::string_view name = node_class(object);
  if (name.empty()) return std::nullopt;
  const auto attribute = [&](const char* field) { return made_.emplace_back(object.attr(field)); };
  if (name == "RegisterOperand" || name == "LabelOperand") return text_value(attribute("name"));
  if (name == "ImmediateOperand") return text_value(attribute("text"));
  if (name == "VectorOperand" || name == "ParenthesizedOperand") {
    const nb::object elements = attribute("elements");
    const Value vector =
        vector_of({PySequence_Fast_ITEMS(elements.ptr()), static_cast<std::size_t>(PySequence_Fast_GET_SIZE(elements.ptr()))});
    return name == "VectorOperand" ? vector : Value::list_of(vector.parts);
  }
  if (name == "NegatedOperand") {
    Value v = value(attribute("operand"));
    v.negated = true;
    return v;
  }
  if (name == "AddressOperand") {
    nb::object offset = attribute("offset");
    if (PyUnicode_Check(offset.ptr()) && view_of(offset).starts_with(',')) {
      const std::optional<nb::list> parts = coordinates(view_of(offset));
      if (!parts) return std::nullopt;
      offset = made_.emplace_back(*parts);
    }
    return address_of(Address{attribute("base"), offset});
  }
  return std::nullopt;
}

Value Operands::value(nb::handle object) {
  if (const Reg* reg = as<Reg>(object)) return register_value(*reg);
  if (PyLong_CheckExact(object.ptr()) || PyFloat_CheckExact(object.ptr())) return *number_value(trace_, object);
  if (const Address* address = as<Address>(object)) return address_of(*address);
  if (PyList_Check(object.ptr()))
    return vector_of({PySequence_Fast_ITEMS(object.ptr()), static_cast<std::size_t>(PyList_GET_SIZE(object.ptr()))});
  if (RegArray* array = as<RegArray>(object)) return array_of(*array);
  if (const NegPred* negated = as<NegPred>(object)) {
    Value v = value(negated->reg);
    v.negated = true;
    return v;
  }
  if (PyUnicode_CheckExact(object.ptr())) return text_value(object);
  if (const TensorSpec* tensor = as<TensorSpec>(object)) return Value::of_symbol(tensor->name);
  if (const TmaDescriptorHandle* map = as<TmaDescriptorHandle>(object)) return Value::of_symbol(map->name);
  if (const auto place = shared_handle_place(trace_, *this, object)) {  // the symbol, or the address in a register
    if (place->offset() == 0) return place->base();
    return Value::of(unwrap(write::address_register(trace_.builder(), *place, trace_.where())));
  }
  if (PyUnicode_Check(object.ptr())) {  // a `Var`
    trace_.names_variable(view_of(object));
    return text_value(object);
  }
  if (PyTuple_Check(object.ptr())) {
    const Value elements =
        vector_of({PySequence_Fast_ITEMS(object.ptr()), static_cast<std::size_t>(PyTuple_GET_SIZE(object.ptr()))});
    return Value::list_of(elements.parts);
  }
  if (const auto node = node_value(object)) return *node;
  if (const auto number = number_value(trace_, object)) return *number;
  Diagnostic d;
  d.kind = Kind::argument_kind;
  d.message = cat("an operand is ", describe(object),
                  "; what fits is a register, a number, the name of a symbol, a list (vector) or an address");
  d.where = trace_.where();
  if (object.is_none()) d.hint("`ptx.inst` calls give back their first operand when it is a register, else None");
  raise(d);
}

write::Guard guard_argument(Trace& trace, nb::handle object) {
  if (object.is_none()) return {};
  const NegPred* negated = as<NegPred>(object);
  const nb::handle inner = negated != nullptr ? nb::handle(negated->reg) : object;
  const Reg* reg = as<Reg>(inner);
  if (reg == nullptr || reg->type != Type::pred || reg->kind == Reg::Kind::special) {
    raise(Kind::bad_guard, cat("the guard is ", describe(object), "; what fits is a predicate register or `~predicate`"),
          trace.where(), "a comparison such as `r == 0` gives a predicate");
  }
  return {register_of(trace, *reg), negated != nullptr};
}

}  // namespace ptx::python
