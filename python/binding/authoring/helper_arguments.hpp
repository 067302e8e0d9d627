// What a helper's arguments may be in Python, by the types of its parameters: one conversion for each type.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ptx/write/door/declare.hpp"
#include "python/binding/authoring/places.hpp"
#include "python/binding/base/author.hpp"
#include "python/binding/base/errors.hpp"

namespace ptx::python {

// Arguments of single instructions (bind_scalar.cpp), which are held to the table only where instructions are (checks.hpp).
struct AnyOperand {
  write::Value value;
};
/// `[address]`: of an address of `addr`, a register, a symbol, or shared memory.
struct MemoryOperand {
  std::optional<write::Place> place;
  write::Value value;
  [[nodiscard]] write::Value address() const { return place ? place->address() : value; }
};
/// A guard beside `pred`.
struct GuardArg {
  write::Guard guard;
};
inline write::declare::Spelled spelled(const AnyOperand* /*value*/) { return {"typing.Any"}; }
inline write::declare::Spelled spelled(const MemoryOperand* /*value*/) { return {"typing.Any"}; }
inline write::declare::Spelled spelled(const GuardArg* /*value*/) { return {"Reg | NegPred | None", "None"}; }

/// When an argument is converted: numbers and texts, which need no trace, then operands, then places, which may write
/// instructions.
enum class Turn : std::uint8_t { plain, operands, places };

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_plain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string_view>;
template <class T>
inline constexpr Turn turn_of =
    is_plain<T> ? Turn::plain
    : std::is_base_of_v<write::PlaceArg, T> || std::is_same_v<T, write::Factor> || std::is_same_v<T, MemoryOperand>
        ? Turn::places
        : Turn::operands;
template <class T>
inline constexpr Turn turn_of<std::optional<T>> = turn_of<T>;

/// Reports a wrong argument: "`d` of `ptx.tcgen05.ld` is the int `5`; what fits is …".
[[noreturn]] void refuse_argument(std::string_view helper, std::string_view name, nb::handle seen, std::string_view fits,
                                  SourceLocation where);

/// "K" or "MN", or the number that wgmma_layout.Major has for it.
layout::Major major_argument(nb::handle object, std::string_view what, SourceLocation where);

/// One call of a helper: its trace, and what its arguments view.
class HelperCall {
 public:
  using Parameter = write::declare::Parameter;

  explicit HelperCall(std::string helper) : helper_(std::move(helper)) {}
  /// Now a trace is needed.
  void begin();
  [[nodiscard]] Trace& trace() { return *trace_; }
  [[nodiscard]] write::Builder& builder() { return trace_->builder(); }
  [[nodiscard]] SourceLocation where();

  template <class T>
  T convert(nb::handle object, const Parameter& parameter) {
    if constexpr (is_optional<T>) {
      return object.is_none() ? T() : T(convert<typename T::value_type>(object, parameter));
    } else if constexpr (is_plain<T>) {
      T value{};
      if (std::is_same_v<T, std::string_view> && object.is_none() && parameter.standard == "None") return value;
      if (!nb::try_cast(object, value)) throw nb::next_overload();
      return value;
    } else {
      return from(object, parameter, static_cast<T*>(nullptr));
    }
  }
  /// The name of a type, or the type itself.
  template <class T>
  T word(nb::handle object, const Parameter& parameter) {
    if constexpr (std::is_same_v<T, std::string_view>)
      return type_word(object, parameter);
    else
      throw nb::next_overload();
  }

  /// Whether the call failed, and what it could not return, raised: errors of the table are said to be the instruction's, where
  /// one is given.
  [[nodiscard]] bool has_failed() { return trace_ != nullptr && !had_failed_ && builder().failure() != nullptr; }
  [[noreturn]] void raise_taken(const std::string& instruction);
  /// The argument that the call gives back, or None.
  static nb::object given_back(const write::declare::Signature& signature, std::span<const nb::handle> arguments);

  // Results.
  template <class Made>
  nb::object object(Made made, const write::declare::Signature& signature, std::span<const nb::handle> arguments) {
    if constexpr (std::is_same_v<Made, Expected<void>>) {
      unwrap(made);
      return given_back(signature, arguments);
    } else if constexpr (requires { made.error(); }) {
      return object(unwrap_at(where(), std::move(made)), signature, arguments);
    } else if constexpr (requires { made.untyped(); }) {
      return make_reg(*trace_, made.untyped());
    } else if constexpr (std::is_base_of_v<write::SharedHandle, Made>) {
      return nb::cast(held(made));
    } else if constexpr (std::is_same_v<Made, write::Reg>) {
      return make_reg(*trace_, made);
    } else {
      return nb::cast(made);
    }
  }

 private:
  write::PlaceArg from(nb::handle object, const Parameter& parameter, write::PlaceArg* type);
  write::TmemArg from(nb::handle object, const Parameter& parameter, write::TmemArg* type);
  write::Source from(nb::handle object, const Parameter& parameter, write::Source* type);
  write::Bytes from(nb::handle object, const Parameter& parameter, write::Bytes* type);
  write::Enable from(nb::handle object, const Parameter& parameter, write::Enable* type);
  write::Pred from(nb::handle object, const Parameter& parameter, write::Pred* type);
  write::IssuerArg from(nb::handle object, const Parameter& parameter, write::IssuerArg* type);
  write::Registers from(nb::handle object, const Parameter& parameter, write::Registers* type);
  write::Factor from(nb::handle object, const Parameter& parameter, write::Factor* type);
  write::MapArg from(nb::handle object, const Parameter& parameter, write::MapArg* type);
  write::BlockMask from(nb::handle object, const Parameter& parameter, write::BlockMask* type);
  write::Coords from(nb::handle object, const Parameter& parameter, write::Coords* type);
  write::TmemColumns from(nb::handle object, const Parameter& parameter, write::TmemColumns* type);
  write::MatrixDescriptor from(nb::handle object, const Parameter& parameter, write::MatrixDescriptor* type);
  AnyOperand from(nb::handle object, const Parameter& parameter, AnyOperand* type);
  MemoryOperand from(nb::handle object, const Parameter& parameter, MemoryOperand* type);
  GuardArg from(nb::handle object, const Parameter& parameter, GuardArg* type);
  Operands& loose();
  Type from(nb::handle object, const Parameter& parameter, Type* type);
  layout::Major from(nb::handle object, const Parameter& parameter, layout::Major* type);
  layout::GmmaLayout from(nb::handle object, const Parameter& parameter, layout::GmmaLayout* type);
  write::SharedShape from(nb::handle object, const Parameter& parameter, write::SharedShape* type);
  SharedAlloc held(const SharedAllocation& made);
  MbarrierArray held(const ptx::MbarrierArray& made);
  write::Reg from(nb::handle object, const Parameter& parameter, write::Reg* type);
  template <Type T>
  ptx::Reg<T> from(nb::handle object, const Parameter& parameter, ptx::Reg<T>* /*type*/) {
    return {builder(), from(object, parameter, static_cast<write::Reg*>(nullptr))};
  }
  template <std::size_t count>
  std::array<std::int64_t, count> from(nb::handle object, const Parameter& parameter, std::array<std::int64_t, count>* /*type*/) {
    std::array<std::int64_t, count> numbers{};
    integers(object, parameter, numbers);
    return numbers;
  }
  void integers(nb::handle object, const Parameter& parameter, std::span<std::int64_t> to);
  std::string_view type_word(nb::handle object, const Parameter& parameter);
  [[nodiscard]] const char* name() const { return helper_.c_str(); }
  [[noreturn]] void refuse(const Parameter& parameter, nb::handle seen, std::string_view fits);
  std::optional<write::SharedHandle> shared_handle(nb::handle object);

  std::string helper_;
  Trace* trace_ = nullptr;
  bool had_failed_ = false;
  std::optional<Operands> operands_, loose_;
  std::optional<SourceLocation> where_;
};

}  // namespace ptx::python

template <>
inline constexpr bool ptx::write::declare::is_context<ptx::python::Trace> = true;
