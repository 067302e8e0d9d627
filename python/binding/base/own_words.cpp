#include "python/binding/base/own_words.hpp"

#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/binding/base/author.hpp"
#include "python/binding/base/errors.hpp"

namespace ptx::python {
namespace {

namespace nb = nanobind;

std::string plain_text(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  if (text.is_valid()) return nb::cast<std::string>(text);
  PyErr_Clear();
  return {};
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
}

/// The signatures that nanobind lists, one a line: "    1. addr(base: object) -> pyptx._ptx.Address".
std::string signatures_in(std::string_view message) {
  std::string all;
  for (std::size_t begin = message.find('\n'); begin != std::string_view::npos;) {
    const std::size_t end = message.find('\n', begin + 1);
    const std::string_view line = message.substr(begin + 1, end == std::string_view::npos ? end : end - begin - 1);
    const std::size_t dot = line.find(". ");
    if (!line.starts_with("    ") || dot == std::string_view::npos) break;
    all += cat(all.empty() ? "`" : ", or `", line.substr(dot + 2), '`');
    begin = end;
  }
  replace_all(all, "pyptx._ptx.", "");
  replace_all(all, "__init__(self, ", "(");
  replace_all(all, "__init__(self)", "()");
  replace_all(all, ") -> None`", ")`");
  return all;
}

std::string name_of(nb::handle function) {
  std::string name = plain_text(nb::getattr(function, "__qualname__", nb::str("?")));
  if (const std::size_t init = name.rfind(".__init__"); init != std::string::npos) name.erase(init);
  return name;
}

struct PythonCall {
  PyObject* function;
  PyObject* const* args;
  std::size_t count;
  PyObject* keywords;
};

/// "the int `5`, `None` and `scope` the str `'x'`"
std::string given(const PythonCall& call) {
  std::vector<std::string> all;
  // A method's first argument is its object, which a constructor has not made yet.
  const bool is_method = std::string_view(Py_TYPE(call.function)->tp_name).find("method") != std::string_view::npos;
  for (std::size_t i = is_method ? 1 : 0; i < call.count; ++i) all.push_back(describe(call.args[i]));
  const Py_ssize_t keywords = call.keywords != nullptr ? PyTuple_GET_SIZE(call.keywords) : 0;
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    const std::string name = plain_text(PyTuple_GET_ITEM(call.keywords, i));
    all.push_back(cat('`', name, "=` ", describe(call.args[call.count + static_cast<std::size_t>(i)])));
  }
  if (all.empty()) return "nothing";
  std::string text = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) text += cat(i + 1 == all.size() ? " and " : ", ", all[i]);
  return text;
}

/// Whether an exception is Python's own and was raised by the binding itself: what a function of the author's raises below has a
/// traceback.
bool is_raw(nb::handle error) {
  for (PyObject* const type : {PyExc_TypeError, PyExc_ValueError, PyExc_OverflowError, PyExc_RuntimeError, PyExc_SystemError}) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())) != type) continue;
    const nb::object traceback = nb::steal(PyException_GetTraceback(error.ptr()));
    return !traceback.is_valid();
  }
  return false;
}

/// The Python error that is set, or ours in its place.
void translate(const PythonCall& call) {
  nb::python_error raised;  // takes what is set
  if (!is_raw(raised.value())) {
    raised.restore();
    return;
  }
  const std::string raw = plain_text(raised.value());
  const bool is_value = raised.matches(PyExc_ValueError);
  Diagnostic error{.kind = is_value ? Kind::bad_declaration : Kind::argument_kind};
  const std::string name = name_of(call.function);
  if (raw.find("incompatible function arguments") != std::string::npos) {
    error.message = cat('`', name, "` is given ", given(call), "; what fits is ", signatures_in(raw));
  } else if (raw == "std::bad_cast" || raised.matches(PyExc_OverflowError)) {
    error.message =
        cat('`', name, "` is given ", given(call), "; one of them has a type that it does not take, or is out of range");
  } else if (raw.find("no constructor defined") != std::string::npos) {
    error.message = cat('`', name, "` cannot be constructed: functions of pyptx return its objects");
  } else {
    error.message = cat('`', name, "`: ", raw);
  }
  error.where = authors_line();
  set_error(error);
}

using Vectorcall = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);

// nanobind has a handful of dispatchers; each function has one of them.
constexpr std::size_t max_dispatchers = 16;
std::array<Vectorcall, max_dispatchers> dispatchers{};

template <std::size_t number>
PyObject* dispatch(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* keywords) {
  PyObject* const result = dispatchers[number](self, args, flags, keywords);
  if (result == nullptr && PyErr_Occurred() != nullptr) [[unlikely]] {
    constexpr std::size_t count_bits = 0xFFFFFFFF;  // above them are flags, nanobind's own among them
    try {
      translate({self, args, flags & count_bits, keywords});
    } catch (nb::python_error& error) {
      error.restore();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  }
  return result;
}

template <std::size_t... numbers>
constexpr std::array<Vectorcall, max_dispatchers> all_of(std::index_sequence<numbers...>) {
  return {dispatch<numbers>...};
}
constexpr auto ours = all_of(std::make_index_sequence<max_dispatchers>{});

/// Puts ours in front of what calls a function, a method, or a class.
void adopt(PyObject* function) {
  const Py_ssize_t offset = Py_TYPE(function)->tp_vectorcall_offset;
  if (offset <= 0) return;
  auto& call = *reinterpret_cast<Vectorcall*>(reinterpret_cast<char*>(function) + offset);
  if (call == nullptr) return;
  for (std::size_t i = 0; i < max_dispatchers; ++i) {
    if (call == ours[i]) return;
    if (dispatchers[i] == nullptr) dispatchers[i] = call;
    if (dispatchers[i] != call) continue;
    call = ours[i];
    return;
  }
}

void adopt_all(nb::handle object) {
  const std::string_view type = Py_TYPE(object.ptr())->tp_name;
  if (type.ends_with("nb_func") || type.ends_with("nb_method")) {
    adopt(object.ptr());
  } else if (PyType_Check(object.ptr()) != 0) {
    const nb::object dict = object.attr("__dict__");
    if (nb::cast<std::string>(nb::str(object.attr("__module__"))).starts_with("pyptx"))
      for (const nb::handle value : nb::list(dict.attr("values")())) adopt_all(value);
    if (nb::type_check(object)) adopt(object.ptr());
  } else if (nb::isinstance(object, nb::borrow(reinterpret_cast<PyObject*>(&PyProperty_Type)))) {
    for (const char* part : {"fget", "fset", "fdel"}) adopt_all(object.attr(part));
  } else if (Py_IS_TYPE(object.ptr(), &PyStaticMethod_Type)) {
    adopt_all(object.attr("__func__"));
  }
}

}  // namespace

void speak_in_our_words(nb::module_& m) {
  for (const nb::handle value : nb::list(m.attr("__dict__").attr("values")())) adopt_all(value);
}

}  // namespace ptx::python
