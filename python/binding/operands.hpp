// From Python objects to the operands of an instruction (what may stand for what: docs of `ptx.inst`).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "handles.hpp"

namespace ptx::python {

static_assert(std::is_trivially_destructible_v<write::Value>, "Operands never ends the life of a value");

/// The operands of one instruction. Their values, and the vectors and addresses inside them, live here; the usual instruction
/// needs no heap.
class Operands {
 public:
  explicit Operands(Trace& trace) : trace_(trace) {}
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
  write::Value text_value(nb::handle object);
  write::Value register_value(const Reg& reg);

  Trace& trace_;
  static constexpr std::size_t inline_values = 24;
  alignas(write::Value)
      std::array<std::byte, inline_values * sizeof(write::Value)> inline_;  // not initialised: a value costs when it is used
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<write::Value[]>> heap_;
};

/// `pred=`: None, a predicate or `~predicate`; anything else raises bad_guard.
write::Guard guard_argument(Trace& trace, nb::handle object);

/// A number as an immediate: int, float, and objects that convert to one (numpy's scalars). Nothing when it is no number.
std::optional<write::Value> number_value(Trace& trace, nb::handle object);

}  // namespace ptx::python
