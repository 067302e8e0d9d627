#include "define.hpp"

#include <algorithm>
#include <stdexcept>

namespace ptx::python {
namespace {

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
      const auto is_it = [&, name = key](const Defined::Parameter& p) {
        return p.name.is(name) || PyUnicode_Compare(p.name.ptr(), name.ptr()) == 0;
      };
      const auto it = std::find_if(defined.parameters.begin(), defined.parameters.end(), is_it);
      const auto at = first + static_cast<std::size_t>(it - defined.parameters.begin());
      if (it == defined.parameters.end() || all[at].is_valid()) throw nb::next_overload();
      all[at] = value;
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

}  // namespace

Defined::Parameter defined_parameter(std::string_view name, std::string_view standard) {
  PyObject* interned = PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  if (interned == nullptr) throw nb::python_error();
  PyUnicode_InternInPlace(&interned);
  Defined::Parameter made{nb::steal(interned), {}};
  if (standard == "None")
    made.standard = nb::none();
  else if (!standard.empty())
    made.standard = nb::module_::import_("ast").attr("literal_eval")(std::string(standard));
  return made;
}

void define(nb::handle scope, const std::string& signature, const char* doc, bool is_method, const Defined* defined) {
  const std::string text = cat("def ", signature);
  if (is_method)
    nb::cpp_function_def([defined](nb::handle self, const nb::args& positional,
                                   const nb::kwargs& named) { return invoke(*defined, self, positional, named); },
                         nb::scope(scope), nb::is_method(), nb::sig(text.c_str()), doc);
  else
    nb::cpp_function_def(
        [defined](const nb::args& positional, const nb::kwargs& named) { return invoke(*defined, {}, positional, named); },
        nb::scope(scope), nb::sig(text.c_str()), doc);
}

void define_by_text(nb::handle scope, std::string_view text, const char* doc, std::size_t count, Defined* defined) {
  const write::declare::Listed listed = write::declare::listed(parameters_in(text));
  bool is_method = false;
  for (const write::declare::Named& one : std::span(listed.parameters).first(listed.count)) {
    if (one.name == "self") {
      is_method = true;
    } else if (one.name != "/") {
      defined->parameters.push_back(defined_parameter(one.name, one.standard));
      defined->positions += !one.by_name;
    }
  }
  if (defined->parameters.size() + is_method != count)
    throw std::logic_error(cat("the text `", text, "` has other parameters than its function"));
  define(scope, std::string(text), doc, is_method, defined);
}

NativeText::NativeText(std::string_view text) : name(text.substr(0, text.find('('))), signature(cat("def ", text)) {
  const write::declare::Listed listed = write::declare::listed(parameters_in(text));
  for (const write::declare::Named& one : std::span(listed.parameters).first(listed.count)) {
    if (one.name == "self" || one.name == "/") continue;
    Defined::Parameter made = defined_parameter(one.name, one.standard);
    const char* spelled = PyUnicode_AsUTF8(made.name.release().ptr());  // nanobind keeps a pointer to it
    arguments.push_back({nb::arg(spelled).none(), std::move(made.standard)});
  }
}

PropertyText::PropertyText(std::string_view text) {
  name = text.substr(0, text.find(' '));
  signature = cat("def ", name, "(self)", text.substr(name.size()));
}

std::string constructor_text(std::string_view text) { return cat("__init__(self, ", text.substr(1), " -> None"); }

}  // namespace ptx::python
