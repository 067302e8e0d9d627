// From a row (ptx/write/door/declare.hpp) to a function of Python: its arguments converted by their types, its signature and its
// documentation. What the conversions accept stands in helper_arguments.hpp.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "errors.hpp"
#include "helper_arguments.hpp"
#include "ptx/write/door/declare.hpp"

namespace ptx::python {

/// A helper as Python has it, for as long as the interpreter lives.
struct BoundHelper {
  write::declare::Signature signature;
  std::size_t bound = 0;  ///< of a method on a handle: 1, its first parameter is the handle
  /// The call: its object (none of a function) and an argument for each parameter of the signature.
  std::function<nb::object(const BoundHelper&, nb::handle self, std::span<const nb::handle> arguments)> call;
};

/// What it becomes: a function, a method, or a method whose object is its first argument.
enum class As : std::uint8_t { function, method, method_of_first };

/// Where it is defined, and as what.
struct Defined {
  nb::handle scope;
  std::string as;         ///< "alloc"
  std::size_t bound = 0;  ///< 1: the first parameter is the object
};

/// Makes the function; `count` parameters behind `self`, `positions` of them by position.
template <std::size_t count, std::size_t positions, bool is_method>
void define(const Defined& where, BoundHelper* helper);

/// Notes the helper for `_ptx.helpers()`, and the further names of its keywords.
void note_helper(const write::declare::Signature& signature, const Defined& where);

/// What a group of helpers is made of in a call: by default of the builder alone.
struct OfBuilder {
  template <class Group>
  Group make(write::Builder& builder, nb::handle /*self*/) const {
    return Group(builder);
  }
  /// What errors call the helper.
  [[nodiscard]] std::string name(const std::string& given, nb::handle /*self*/) const { return given; }
};

namespace helpers {

using namespace write::declare;

/// One argument of a call as its conversion leaves it.
template <class T>
struct Slot {
  std::optional<T> value;
  std::size_t first = 0;
  [[nodiscard]] const T& get() const { return *value; }
};
template <class T>
  requires(is_context<T>)
struct Slot<T> {
  std::size_t first = 0;
};
template <Options T>
struct Slot<T> {
  T value = blank<T>();
  std::size_t first = 0;
  [[nodiscard]] const T& get() const { return value; }
};

/// The given arguments, by their slots.
class Given {
 public:
  static constexpr std::size_t most = 32;
  Given(const BoundHelper& helper, std::span<const nb::handle> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Parameter& parameter = helper.signature.parameters[i];
      slots_[parameter.slot] = {arguments[i], &parameter};
    }
  }
  /// Converts one, when this is its turn.
  template <class T, class To>
  void into(To& to, std::size_t slot, Turn turn, HelperCall& call, bool is_word = false) const {
    const auto& [object, parameter] = slots_[slot];
    if (parameter == nullptr || (is_word ? Turn::operands : turn_of<T>) != turn) return;
    to = is_word ? call.template word<T>(object, *parameter) : call.template convert<T>(object, *parameter);
  }

 private:
  struct One {
    nb::handle object;
    const Parameter* parameter = nullptr;
  };
  std::array<One, most> slots_{};
};

template <auto... field, class T>
void fill(Fields<field...> /*of*/, T& options, std::size_t slot, Turn turn, const Given& given, HelperCall& call) {
  const auto one = [&](const auto& how) {
    auto& member = options.*how.field;
    given.into<std::remove_reference_t<decltype(member)>>(member, slot++, turn, call, how.is_word);
  };
  (one(described<field>()), ...);
}

template <class T>
void fill(Slot<T>& slot, Turn turn, const Given& given, HelperCall& call) {
  if constexpr (Options<T>) {
    fill(fields<T>, slot.value, slot.first, turn, given, call);
  } else if constexpr (std::is_same_v<T, SourceLocation>) {
    if (turn == Turn::places) slot.value = call.where();
  } else if constexpr (!is_context<T>) {
    given.into<T>(slot.value, slot.first, turn, call);
  }
}

/// How many slots a parameter of the function has.
template <class T>
constexpr std::size_t width() {
  if constexpr (Options<T>)
    return field_names<T>().size();
  else
    return is_named<T> || std::is_same_v<T, write::Pred> ? 1 : 0;
}

template <class T>
const T& argument(const Slot<T>& slot, HelperCall& /*call*/) {
  return slot.get();
}
inline write::Builder& argument(const Slot<write::Builder>& /*slot*/, HelperCall& call) { return call.builder(); }
inline Trace& argument(const Slot<Trace>& /*slot*/, HelperCall& call) { return call.trace(); }

// The instruction that errors of the table are said to be of, where the options know it.
template <class T>
void look_for_instruction(const Slot<T>& slot, std::string& instruction) {
  if constexpr (requires { slot.value.instruction(); }) instruction = slot.value.instruction();
}

template <class Row, class Group, class... T, std::size_t... i>
nb::object run(const BoundHelper& helper, nb::handle self, std::span<const nb::handle> arguments, const Group& make,
               std::tuple<T...>* /*takes*/, std::index_sequence<i...> /*each*/) {
  using Class = typename Row::Function::Group;
  using Gives = typename Row::Function::Gives;
  static_assert((width<T>() + ... + 0) <= Given::most, "more parameters than a call has room for");
  std::tuple<Slot<T>...> slots;
  std::size_t next = 0;
  ((std::get<i>(slots).first = std::exchange(next, next + width<T>())), ...);
  const Given given(helper, arguments);
  HelperCall call(make.name(helper.signature.name, self));
  (fill(std::get<i>(slots), Turn::plain, given, call), ...);
  if constexpr (!std::is_void_v<Class> || (is_context<T> || ...)) call.begin();
  (fill(std::get<i>(slots), Turn::operands, given, call), ...);
  (fill(std::get<i>(slots), Turn::places, given, call), ...);
  const auto invoke = [&]() -> Gives {
    if constexpr (std::is_void_v<Class>)
      return Row::function(argument(std::get<i>(slots), call)...);
    else
      return (make.template make<Class>(call.builder(), self).*Row::function)(argument(std::get<i>(slots), call)...);
  };
  std::string instruction;
  if constexpr (std::is_void_v<Gives>) {
    invoke();
    (look_for_instruction(std::get<i>(slots), instruction), ...);
    call.raise_failure(instruction);
    return call.given_back(helper.signature, arguments);
  } else {
    auto made = invoke();
    call.raise_failure(instruction, made);
    return call.object(std::move(made), helper.signature, arguments);
  }
}

/// Defines one helper.
template <As as, auto function, Text text, class Group = OfBuilder>
void bind(nb::handle scope, std::string name, const Helper<function, text>& row, const Group& make = {}) {
  using Row = Helper<function, text>;
  constexpr std::size_t bound = as == As::method_of_first ? 1 : 0;
  static_assert(Row::positions >= bound, "the object is a positional parameter");
  auto* helper = new BoundHelper{signature_of(row), bound, {}};  // lives as long as the interpreter
  if constexpr (requires { make.rank; }) helper->signature.name = make.name(helper->signature.name, {});
  helper->call = [make](const BoundHelper& of, nb::handle self, std::span<const nb::handle> arguments) {
    using Takes = typename Row::Takes;
    return run<Row>(of, self, arguments, make, static_cast<Takes*>(nullptr),
                    std::make_index_sequence<std::tuple_size_v<Takes>>());
  };
  define<Row::count - bound, Row::positions - bound, as != As::function>({scope, std::move(name), bound}, helper);
}

/// Defines all rows of a table in one scope, by the last words of their names.
template <As as, class... Row, class Group = OfBuilder>
void bind_all(nb::handle scope, const std::tuple<Row...>& table, const Group& make = {}) {
  const auto own_name = [](std::string_view name) { return std::string(name.substr(name.rfind('.') + 1)); };
  (bind<as>(scope, own_name(std::get<Row>(table).name), std::get<Row>(table), make), ...);
}

}  // namespace helpers

// ---- nanobind's part: by the numbers of parameters alone ----------------------------------------------------------------------

namespace helpers {

using AnyArgument = decltype(nb::arg("").none() = nb::object());
/// The argument `i` as nanobind is told of it.
AnyArgument any_argument(const BoundHelper& helper, std::size_t i);
template <std::size_t>
using Handle = nb::handle;

template <bool is_method, std::size_t... i>
auto callable(const BoundHelper* helper, std::index_sequence<i...> /*parameters*/) {
  if constexpr (is_method)
    return [helper](nb::handle self, Handle<i>... given) {
      const std::array<nb::handle, sizeof...(i) + 1> all = {self, given...};
      return helper->call(*helper, self, std::span<const nb::handle>(all).subspan(helper->bound != 0 ? 0 : 1));
    };
  else
    return [helper](Handle<i>... given) {
      const std::array<nb::handle, sizeof...(i)> all = {given...};
      return helper->call(*helper, {}, all);
    };
}

}  // namespace helpers

template <std::size_t count, std::size_t positions, bool is_method>
void define(const Defined& where, BoundHelper* helper) {
  const std::string signature = helper->signature.python(where.as, is_method, where.bound);
  const auto argument = [&](std::size_t i) { return helpers::any_argument(*helper, i + where.bound); };
  const auto with = [&](const auto&... extra) {
    if constexpr (is_method)
      nb::cpp_function_def(helpers::callable<true>(helper, std::make_index_sequence<count>()), nb::scope(where.scope),
                           nb::name(where.as.c_str()), nb::is_method(), extra..., nb::sig(signature.c_str()),
                           helper->signature.doc.c_str());
    else
      nb::cpp_function_def(helpers::callable<false>(helper, std::make_index_sequence<count>()), nb::scope(where.scope),
                           nb::name(where.as.c_str()), extra..., nb::sig(signature.c_str()), helper->signature.doc.c_str());
  };
  [&]<std::size_t... before, std::size_t... behind>(std::index_sequence<before...>, std::index_sequence<behind...>) {
    if constexpr (sizeof...(behind) == 0)
      with(argument(before)...);
    else
      with(argument(before)..., nb::kw_only(), argument(positions + behind)...);
  }(std::make_index_sequence<positions>(), std::make_index_sequence<count - positions>());
  note_helper(helper->signature, where);
}

}  // namespace ptx::python
