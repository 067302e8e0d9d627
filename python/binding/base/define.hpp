// Functions of Python, each made of its text as stubs have it and of a function of C++:
//
//   function(m, "bra(label|label_name: str, pred: Reg | NegPred | None = None) -> None", "Go on at the label.", bra);
//
// The text says what its parameters are called, their defaults, what is given by name (behind `*`), and whether it is a method
// (`self`). `|` stands before second names of a keyword: those by which programs written for pyptx 0.1.1 call the helpers. What a
// parameter may be is said by the type of C++: what does not fit is nanobind's error. Arguments of type
// nb::handle and nb::object may be anything.
//
// These calls go through a tuple of their arguments; operators of registers, which authors write by the thousand, are nanobind's
// own.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/write/door/declare.hpp"

namespace ptx::python {

namespace nb = nanobind;

/// A function of Python, for as long as the interpreter lives.
struct Defined {
  struct Parameter {
    nb::object name;                       ///< interned
    nb::object standard;                   ///< none: every call gives it
    std::vector<nb::object> seconds = {};  ///< further names of the keyword
  };
  /// All arguments, with defaults; a method's object is the first, be it bound or not.
  using Call = nb::object (*)(const Defined& self, std::span<const nb::handle> arguments);
  Call call = nullptr;
  std::vector<Parameter> parameters = {};  ///< behind a method's object
  std::size_t positions = 0;               ///< how many of them may be given by position
  std::size_t count = 0;                   ///< of all arguments, a method's object among them
  std::string place = {};                  ///< in this module: "mbarrier.init"
  static constexpr std::size_t most = 32;
};

/// A parameter of that name; `standard` is a literal of Python, empty for none. `seconds` are parted by `|`.
Defined::Parameter defined_parameter(std::string_view name, std::string_view standard, std::string_view seconds = {});
/// Makes the function; `signature` is its text behind `def`.
void define(nb::handle scope, const std::string& signature, const char* doc, bool is_method, Defined* defined);
/// A second name of a keyword of a function that reads its keywords itself.
void add_synonym(const std::string& place, const std::string& theirs, const std::string& ours);
/// `keyword_synonyms()`, which lists the second names of all functions for whoever asks.
void bind_keyword_synonyms(nb::module_& m);

// ---- functions of C++
// -----------------------------------------------------------------------------------------------------------

/// One argument as the function's parameter has it.
template <class A>
struct Argument {
  using T = std::remove_cvref_t<A>;
  static constexpr bool is_pointer = nb::detail::is_base_caster_v<nb::detail::make_caster<T>>;
  std::conditional_t<is_pointer, T*, T> value{};

  bool take(nb::handle object) {
    if constexpr (std::is_same_v<T, nb::handle> || std::is_same_v<T, nb::object>) {
      value = nb::borrow(object);
      return true;
    } else if constexpr (is_pointer) {
      return nb::try_cast(object, value) && value != nullptr;
    } else {
      return nb::try_cast(object, value);
    }
  }
  decltype(auto) get() {
    if constexpr (is_pointer)
      return static_cast<T&>(*value);
    else if constexpr (std::is_lvalue_reference_v<A>)
      return static_cast<T&>(value);
    else
      return std::move(value);
  }
};
template <>
struct Argument<nb::handle> {
  nb::handle value;
  bool take(nb::handle object) {
    value = object;
    return true;
  }
  nb::handle get() { return value; }
};

template <class Result, class... A>
struct Plain : Defined {
  Result (*function)(A...) = nullptr;

  template <std::size_t... i>
  nb::object run([[maybe_unused]] std::span<const nb::handle> given, std::index_sequence<i...> /*each*/) const {
    [[maybe_unused]] std::tuple<Argument<A>...> in;
    if (!(std::get<i>(in).take(given[i]) && ...)) throw nb::next_overload();
    if constexpr (std::is_void_v<Result>) {
      function(std::get<i>(in).get()...);
      return nb::none();
    } else {
      return nb::cast(function(std::get<i>(in).get()...));
    }
  }
  static nb::object run(const Defined& self, std::span<const nb::handle> given) {
    return static_cast<const Plain&>(self).run(given, std::index_sequence_for<A...>());
  }
};

/// The function as one that takes Python's objects; lives as long as the interpreter.
template <class Result, class... A>
Defined* defined(Result (*function)(A...)) {
  auto* made = new Plain<Result, A...>;
  made->call = &Plain<Result, A...>::run;
  made->function = function;
  made->count = sizeof...(A);
  return made;
}
/// Fills in what the text says, checks that it has as many parameters, and defines the function.
void define_by_text(nb::handle scope, std::string_view text, const char* doc, Defined* defined);
/// A method that Python calls itself, such as `__getitem__`: without a tuple of its arguments, which have no names.
void define_dunder(nb::handle scope, std::string_view text, const char* doc, Defined* defined);

/// A function of the module, or of a class without an object.
template <class Function>
void function(nb::handle scope, std::string_view text, const char* doc, Function function) {
  define_by_text(scope, text, doc, defined(+function));
}

/// A class that is a namespace: its functions have no object. It may have objects all the same, whose methods are `define`d.
nb::object space(nb::handle scope, const char* name, const char* doc = nullptr);

// ---- classes
// --------------------------------------------------------------------------------------------------------------------

/// An argument as nanobind is told of it, by name.
using AnyArgument = decltype(nb::arg("").none() = nb::object());
/// What nanobind is told of a constructor, by its text "(name: str)".
struct ConstructorText {
  std::string signature;
  std::vector<AnyArgument> arguments = {};  ///< behind `self`
  explicit ConstructorText(std::string_view text);
};

/// What nanobind calls for functions of so many arguments.
template <std::size_t>
using AnyObject = nb::handle;
template <class Each>
struct Called;
template <std::size_t... i>
struct Called<std::index_sequence<i...>> {
  const Defined* defined;
  nb::object operator()(AnyObject<i>... arguments) const {
    const std::array<nb::handle, sizeof...(i)> all{arguments...};
    return defined->call(*defined, all);
  }
};

/// A class whose objects hold a T: `as<T>` knows them.
template <class T>
class Class : public nb::class_<T> {
 public:
  template <class... Extra>
  Class(nb::handle scope, const char* name, const Extra&... extra) : nb::class_<T>(scope, name, extra...) {
    detail::python_type<T> = reinterpret_cast<PyTypeObject*>(this->ptr());
  }
  /// A method, or (without `self`) a function of the class.
  template <class Function>
  Class& function(std::string_view text, const char* doc, Function call) {
    define_by_text(*this, text, doc, defined(+call));
    return *this;
  }
  template <class Function>
  Class& function(std::string_view text, Function call) {
    return function(text, "", call);
  }
  /// A method that Python calls itself, such as `__getitem__`. `def` is a few nanoseconds faster, and compiles for each anew.
  template <class Function>
  Class& dunder(std::string_view text, const char* doc, Function call) {
    define_dunder(*this, text, doc, defined(+call));
    return *this;
  }
  template <class Function>
  Class& dunder(std::string_view text, Function call) {
    return dunder(text, "", call);
  }
  /// What an object has: "name -> str".
  template <class Function>
  Class& value(std::string_view text, const char* doc, Function get) {
    const std::string name(text.substr(0, text.find(' '))), signature = cat("def ", name, "(self)", text.substr(name.size()));
    return def_prop_ro(name.c_str(), Called<std::index_sequence<0>>{defined(+get)}, nb::sig(signature.c_str()), doc);
  }
  template <class Function>
  Class& value(std::string_view text, Function get) {
    return value(text, "", get);
  }
  /// The same of a field of T, or of a function of it without arguments.
  template <auto field_>
  Class& field(std::string_view text, const char* doc = "") {
    return value(text, doc, [](const T& held) { return std::invoke(field_, held); });
  }
  /// `__init__`, whose text begins behind `self`: "(name: str, dtype: PtxType)".
  template <class Function>
  Class& constructor(std::string_view text, const char* doc, Function call) {
    native(ConstructorText(text), doc, +call);
    return *this;
  }
  template <class Function>
  Class& constructor(std::string_view text, Function call) {
    return constructor(text, "", call);
  }

  // nanobind's, for what is left.
  template <class... Rest>
  Class& def(Rest&&... rest) {
    nb::class_<T>::def(std::forward<Rest>(rest)...);
    return *this;
  }
  template <class... Rest>
  Class& def_rw(Rest&&... rest) {
    nb::class_<T>::def_rw(std::forward<Rest>(rest)...);
    return *this;
  }
  template <class... Rest>
  Class& def_prop_ro(Rest&&... rest) {
    nb::class_<T>::def_prop_ro(std::forward<Rest>(rest)...);
    return *this;
  }

 private:
  template <class... A>
  void native(const ConstructorText& text, const char* doc, void (*call)(T*, A...)) {
    native(text, doc, call, std::index_sequence_for<A...>());
  }
  template <class Function, std::size_t... i>
  void native(const ConstructorText& text, const char* doc, Function call, std::index_sequence<i...> /*each*/) {
    nb::class_<T>::def("__init__", call, text.arguments.at(i)..., nb::sig(text.signature.c_str()), doc);
  }
};

}  // namespace ptx::python
