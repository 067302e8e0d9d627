// From a row (ptx/write/door/declare.hpp) to a function of Python: its arguments converted by their types, its signature and its
// documentation. What the conversions accept stands in helper_arguments.hpp.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "python/binding/authoring/helper_arguments.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"

namespace ptx::python {

/// What a helper becomes: a function, a method, or a method whose object is its first argument.
enum class As : std::uint8_t { function, method, method_of_first };

/// What a group of helpers is made of in a call besides the builder: copies of tensors have a rank, in a form of its own or (by
/// `of`) of the object whose method is called.
struct Ranked {
  write::idiom::TensorMode mode = {};
  int rank = 0;
  int (*of)(nb::handle self) = nullptr;
};

namespace helpers {

using namespace write::declare;

/// One argument on its way into the call: `to` is where it goes.
struct Conversion {
  void (*into)(void* to, nb::handle object, const Parameter& parameter, HelperCall& call) = nullptr;
  Turn turn = Turn::plain;
};
template <class T>
void argument_into(void* to, nb::handle object, const Parameter& parameter, HelperCall& call) {
  static_cast<std::optional<T>*>(to)->emplace(call.template convert<T>(object, parameter));
}
template <class T, FieldKind kind>
void field_into(void* to, nb::handle object, const Parameter& parameter, HelperCall& call) {
  if constexpr (kind == FieldKind::word)
    *static_cast<T*>(to) = call.template word<T>(object, parameter);
  else
    *static_cast<T*>(to) = call.template convert<T>(object, parameter);
}

/// One parameter of the function in a call: `slots` arguments of Python go there.
template <class T>
struct Slot {
  static constexpr std::array<Conversion, 1> conversions = {Conversion{&argument_into<T>, turn_of<T>}};
  std::optional<T> value;
  void places(void** to) { *to = &value; }
  const T& get(HelperCall& /*call*/) const { return *value; }
};
template <Options T>
struct Slot<T> {
  template <auto... field>
  static constexpr auto all_conversions(Fields<field...> /*of*/) {
    return std::array{Conversion{
        &field_into<std::remove_cvref_t<decltype(std::declval<T>().*described<field>().field)>, described<field>().kind>,
        described<field>().kind == FieldKind::word
            ? Turn::operands
            : turn_of<std::remove_cvref_t<decltype(std::declval<T>().*described<field>().field)>>}...};
  }
  static constexpr auto conversions = all_conversions(fields<T>);
  T value = blank<T>();
  void places(void** to) { places(fields<T>, to); }
  template <auto... field>
  void places(Fields<field...> /*of*/, void** to) {
    ((*to++ = &(value.*described<field>().field)), ...);
  }
  const T& get(HelperCall& /*call*/) const { return value; }
};
template <class T>
concept Context = is_context<T> || std::is_same_v<T, SourceLocation>;
template <Context T>
struct Slot<T> {
  static constexpr std::array<Conversion, 0> conversions{};
  void places(void** /*to*/) {}
  decltype(auto) get(HelperCall& call) const {
    if constexpr (std::is_same_v<T, SourceLocation>)
      return call.where();
    else if constexpr (std::is_same_v<T, Trace>)
      return (call.trace());
    else
      return (call.builder());
  }
};

/// One call of a helper.
struct Running {
  const Signature& signature;
  std::span<const nb::handle> arguments;
  Ranked ranked;
  HelperCall call;
  /// Converts all arguments into their places, those that need a trace behind those that do not.
  void convert(std::span<const Conversion> conversions, void* const* to, bool needs_trace);
};

/// A helper as Python has it.
struct Bound : Defined {
  Signature signature;
  nb::object (*run)(Running& running) = nullptr;
  Ranked ranked;
  bool has_self = false;  ///< its object is no parameter of the signature
};

template <class Group>
Group group(write::Builder& builder, const Ranked& ranked) {
  if constexpr (std::is_constructible_v<Group, write::Builder&, write::idiom::TensorMode, int>)
    return Group(builder, ranked.mode, ranked.rank);
  else if constexpr (std::is_constructible_v<Group, write::Builder&, int>)
    return Group(builder, ranked.rank);
  else
    return Group(builder);
}

/// The arguments of one call of a function that takes these. Functions that take the same share this code.
template <class Takes>
class Given;
template <class... T>
class Given<std::tuple<T...>> {
 public:
  explicit Given(Running& running, bool in_group) {
    void** next = to_.data();
    const auto place = [&](auto& slot) {
      slot.places(next);
      next += slot.conversions.size();
    };
    std::apply([&](auto&... slot) { (place(slot), ...); }, slots_);
    running.convert(conversions, to_.data(), in_group || (is_context<T> || ...));
  }
  template <class Invoke>
  decltype(auto) invoke(HelperCall& call, Invoke function) const {
    return std::apply([&](const auto&... slot) -> decltype(auto) { return function(slot.get(call)...); }, slots_);
  }
  /// The instruction that errors of the table are said to be of, where the options know it.
  [[nodiscard]] std::string instruction() const {
    std::string said;
    const auto look = [&](const auto& slot) {
      if constexpr (requires { slot.value.instruction(); }) said = slot.value.instruction();
    };
    std::apply([&](const auto&... slot) { (look(slot), ...); }, slots_);
    return said;
  }

 private:
  static constexpr auto conversions = [] {
    std::array<Conversion, (Slot<T>::conversions.size() + ... + 0)> all{};
    std::size_t next = 0;
    const auto add = [&](const auto& some) {
      for (const Conversion& one : some) all[next++] = one;
    };
    (add(Slot<T>::conversions), ...);
    return all;
  }();
  static_assert(conversions.size() <= Defined::most, "more parameters than a call has room for");

  std::tuple<Slot<T>...> slots_;
  std::array<void*, conversions.size() + 1> to_;
};

template <auto function>
nb::object run(Running& running) {
  using Row = Helper<function>;
  using Class = typename Row::Function::Group;
  using Gives = typename Row::Function::Gives;
  const Given<typename Row::Takes> given(running, !std::is_void_v<Class>);
  HelperCall& call = running.call;
  const auto invoke = [&]() -> Gives {
    return given.invoke(call, [&](auto&&... argument) -> Gives {
      if constexpr (std::is_void_v<Class>)
        return function(argument...);
      else
        return (group<Class>(call.builder(), running.ranked).*function)(argument...);
    });
  };
  if constexpr (std::is_void_v<Gives>) {
    invoke();
    if (call.has_failed()) call.raise_taken(given.instruction());
    return call.given_back(running.signature, running.arguments);
  } else {
    Gives made = invoke();
    if (call.has_failed()) {
      if constexpr (requires { made.untyped(); }) call.builder().release(made.untyped());  // it stood in for the result
      call.raise_taken(given.instruction());
    }
    return call.object(std::move(made), running.signature, running.arguments);
  }
}

/// Defines a helper whose row says this.
void define(As as, nb::handle scope, Signature signature, nb::object (*run)(Running& running), const Ranked& ranked);

/// Defines one helper, by the last word of its name.
template <auto function>
void bind(As as, nb::handle scope, const Helper<function>& row, const Ranked& ranked = {}) {
  define(as, scope, signature_of(row), &run<function>, ranked);
}
/// Defines all rows of a table in one scope.
template <As as, class... Row>
void bind_all(nb::handle scope, const std::tuple<Row...>& table, const Ranked& ranked = {}) {
  std::apply([&](const Row&... row) { (bind(as, scope, row, ranked), ...); }, table);
}

}  // namespace helpers
}  // namespace ptx::python
