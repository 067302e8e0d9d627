#include "python/binding/base/define.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "python/binding/base/errors.hpp"

namespace ptx::python {
namespace {

// Of each function that has any, by its place: second names and ours.
std::map<std::string, std::map<std::string, std::string>>& synonyms() {
  static auto& all = *new std::map<std::string, std::map<std::string, std::string>>;
  return all;
}

bool is_name(nb::handle name, nb::handle given) { return name.is(given) || PyUnicode_Compare(name.ptr(), given.ptr()) == 0; }
bool is_called(const Defined::Parameter& parameter, nb::handle name) {
  return is_name(parameter.name, name) || std::any_of(parameter.seconds.begin(), parameter.seconds.end(),
                                                      [&](const nb::object& second) { return is_name(second, name); });
}

// An argument comes again, by name: with another name of it, or behind a position.
[[noreturn]] void refuse_again(const Defined& defined, const Defined::Parameter& parameter, nb::handle name,
                               const nb::kwargs& named) {
  for (const auto [other, value] : named)
    if (!is_name(other, name) && is_called(parameter, other))
      raise(Kind::argument_kind,
            cat('`', defined.place, "` is given `", nb::cast<std::string_view>(other), "` and `",
                nb::cast<std::string_view>(name), "`, two names of one argument"),
            authors_line());
  throw nb::next_overload();
}

// The object of a method, if it is one, and the arguments of a call by their parameters.
nb::object invoke(const Defined& defined, nb::handle self, const nb::args& positional, const nb::kwargs& named) {
  std::array<nb::handle, Defined::most + 1> all{};
  const std::size_t first = self.is_valid() ? 1 : 0, count = defined.parameters.size();
  all[0] = self;
  const std::size_t given = positional.size();
  if (given > defined.positions) throw nb::next_overload();
  for (std::size_t i = 0; i < given; ++i) all[first + i] = PyTuple_GET_ITEM(positional.ptr(), static_cast<Py_ssize_t>(i));
  if (named.is_valid() && PyDict_GET_SIZE(named.ptr()) != 0) {
    for (const auto [key, value] : named) {
      const auto it = std::find_if(defined.parameters.begin(), defined.parameters.end(),
                                   [name = key](const Defined::Parameter& p) { return is_called(p, name); });
      if (it == defined.parameters.end()) throw nb::next_overload();
      nb::handle& argument = all[first + static_cast<std::size_t>(it - defined.parameters.begin())];
      if (argument.is_valid()) refuse_again(defined, *it, key, named);
      argument = value;
    }
  }
  for (std::size_t i = given; i < count; ++i) {
    if (all[first + i].is_valid()) continue;
    if (!defined.parameters[i].standard.is_valid()) throw nb::next_overload();
    all[first + i] = defined.parameters[i].standard;
  }
  return defined.call(defined, std::span<const nb::handle>(all).first(first + count));
}

std::string_view parameters_in(std::string_view text) {
  const std::size_t begin = text.find('(') + 1, end = text.rfind(") -> ");
  return text.substr(begin, (end == std::string_view::npos ? text.rfind(')') : end) - begin);
}

nb::object interned(std::string_view name) {
  PyObject* text = PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  if (text == nullptr) throw nb::python_error();
  PyUnicode_InternInPlace(&text);
  return nb::steal(text);
}

}  // namespace

Defined::Parameter defined_parameter(std::string_view name, std::string_view standard, std::string_view seconds) {
  Defined::Parameter made{interned(name), {}};
  while (!seconds.empty()) made.seconds.push_back(interned(write::declare::taken_before(seconds, "|")));
  if (standard == "None")
    made.standard = nb::none();
  else if (!standard.empty())
    made.standard = nb::module_::import_("ast").attr("literal_eval")(std::string(standard));
  return made;
}

void define(nb::handle scope, const std::string& signature, const char* doc, bool is_method, Defined* defined) {
  const std::string text = cat("def ", signature), name = signature.substr(0, signature.find('('));
  defined->place = name;
  if (PyType_Check(scope.ptr())) defined->place.insert(0, cat(nb::cast<std::string>(scope.attr("__qualname__")), '.'));
  for (const Defined::Parameter& parameter : defined->parameters)
    for (const nb::object& second : parameter.seconds)
      add_synonym(defined->place, nb::cast<std::string>(second), nb::cast<std::string>(parameter.name));
  if (is_method)
    nb::cpp_function_def([defined](nb::handle self, const nb::args& positional,
                                   const nb::kwargs& named) { return invoke(*defined, self, positional, named); },
                         nb::scope(scope), nb::name(name.c_str()), nb::is_method(), nb::sig(text.c_str()), doc);
  else
    nb::cpp_function_def(
        [defined](const nb::args& positional, const nb::kwargs& named) { return invoke(*defined, {}, positional, named); },
        nb::scope(scope), nb::name(name.c_str()), nb::sig(text.c_str()), doc);
}

nb::object space(nb::handle scope, const char* name, const char* doc) {
  const bool is_inner = PyType_Check(scope.ptr()) != 0;
  nb::dict names;
  names["__doc__"] = doc != nullptr ? nb::object(nb::str(doc)) : nb::none();
  names["__module__"] = scope.attr(is_inner ? "__module__" : "__name__");
  names["__qualname__"] = is_inner ? cat(nb::cast<std::string>(scope.attr("__qualname__")), '.', name) : std::string(name);
  names["__slots__"] = nb::tuple();  // objects of it take no attributes
  const nb::object made = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type))(name, nb::tuple(), names);
  nb::delattr(made, "__slots__");  // nothing that stubs should show
  scope.attr(name) = made;
  return made;
}

void define_by_text(nb::handle scope, std::string_view text, const char* doc, Defined* defined) {
  const write::declare::Listed listed = write::declare::listed(parameters_in(text));
  bool is_method = false;
  std::string signature(text);
  for (const write::declare::Named& one : std::span(listed.parameters).first(listed.count)) {
    if (one.name == "self") {
      is_method = true;
    } else if (one.name != "/") {
      defined->parameters.push_back(defined_parameter(one.name, one.standard, one.seconds));
      defined->positions += !one.by_name;
      const std::string names = cat(one.name, '|', one.seconds);
      if (!one.seconds.empty()) signature.replace(signature.find(names), names.size(), one.name);
    }
  }
  if (defined->parameters.size() + is_method != defined->count)
    throw std::logic_error(cat("the text `", text, "` has other parameters than its function"));
  define(scope, signature, doc, is_method, defined);
}

void add_synonym(const std::string& place, const std::string& theirs, const std::string& ours) {
  synonyms()[place].emplace(theirs, ours);
}

void bind_keyword_synonyms(nb::module_& m) {
  function(m, "keyword_synonyms() -> dict[str, dict[str, str]]",
           "Second names of keyword arguments: of each helper, its place in this module, their name and ours.",
           [] { return synonyms(); });
}

namespace {

// `others` are the arguments behind the object.
template <std::size_t... others>
bool define_of(nb::handle scope, std::string_view text, const char* doc, Defined* defined, std::index_sequence<others...>) {
  constexpr std::size_t count = sizeof...(others) + 1;
  if (defined->count != count) return false;
  const std::string name(text.substr(0, text.find('('))), signature = cat("def ", text);
  nb::cpp_function_def(Called<std::make_index_sequence<count>>{defined}, nb::scope(scope), nb::name(name.c_str()),
                       nb::is_method(), ((void)others, nb::arg().none())..., nb::sig(signature.c_str()), doc);
  return true;
}

}  // namespace

void define_dunder(nb::handle scope, std::string_view text, const char* doc, Defined* defined) {
  const auto define = [&](auto others) { return define_of(scope, text, doc, defined, others); };
  if (!define(std::make_index_sequence<0>()) && !define(std::make_index_sequence<1>()) &&
      !define(std::make_index_sequence<2>()) && !define(std::make_index_sequence<3>()))
    throw std::logic_error(cat("`", text, "` has more parameters than Python gives such a method"));
}

ConstructorText::ConstructorText(std::string_view text) : signature(cat("def __init__(self, ", text.substr(1), " -> None")) {
  const write::declare::Listed listed = write::declare::listed(parameters_in(text));
  for (const write::declare::Named& one : std::span(listed.parameters).first(listed.count)) {
    if (one.name == "/") continue;
    Defined::Parameter made = defined_parameter(one.name, one.standard);
    const char* spelled = PyUnicode_AsUTF8(made.name.release().ptr());  // nanobind keeps a pointer to it
    arguments.push_back({nb::arg(spelled).none(), std::move(made.standard)});
  }
}

}  // namespace ptx::python
