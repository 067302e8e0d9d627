// From Python objects to the operands of an instruction (what may stand for what: docs of `ptx.inst`).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "python/binding/authoring/handles.hpp"

namespace ptx::python {

static_assert(std::is_trivially_destructible_v<write::Value>, "Operands never ends the life of a value");

/// The operands of one instruction. Their values, and the vectors and addresses inside them, live here; the usual instruction
/// needs no heap.
class Operands {
 public:
  /// Not `strict`: a text that names nothing and is no number of PTX is a symbol.
  explicit Operands(Trace& trace, bool strict = true) : trace_(trace), strict_(strict) {}
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  /// Converts the arguments of a call; raises at the author's line for an object that no operand can be made of.
  std::span<const write::Value> convert(std::span<PyObject* const> arguments);
  /// Converts one object to one value.
  write::Value value(nb::handle object);

 private:
  std::span<write::Value> take(std::size_t count);
  write::Value vector_of(std::span<PyObject* const> items);
  write::Value array_of(RegArray& array);
  write::Value address_of(const Address& address);
  write::Value shared_address_of(const Address& address);
  write::Value text_value(nb::handle object);
  write::Value register_value(const Reg& reg);
  std::optional<write::Value> node_value(nb::handle object);

  Trace& trace_;
  bool strict_;
  static constexpr std::size_t inline_values = 24;
  alignas(write::Value)
      std::array<std::byte, inline_values * sizeof(write::Value)> inline_;  // not initialised: a value costs when it is used
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<write::Value[]>> heap_;
  std::vector<nb::object> made_;  // objects made on the way, whose texts the values view
};

/// A Python integer, or what has `__index__`; nothing when 64 bits do not hold it. `Value::fits` says what narrower types hold.
std::optional<write::Value> integer_of(nb::handle number);

/// The coordinates in the text behind the base of an address, `, {%r0, 8}`, as texts; nothing when it is no such text.
std::optional<nb::list> coordinates(std::string_view text);

/// The name of a class of pyptx.ir.nodes, "RegisterOperand"; "" for any other object.
std::string_view node_class(nb::handle object);

/// `pred=`: None, a predicate or `~predicate`; anything else raises bad_guard.
write::Guard guard_argument(Trace& trace, nb::handle object);

/// A number as an immediate: int, float, and objects that convert to one (numpy's scalars). Nothing when it is no number.
std::optional<write::Value> number_value(Trace& trace, nb::handle object);

}  // namespace ptx::python
