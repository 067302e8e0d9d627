// nanobind knows one name for an argument. A helper of the table below gets a call in front of its own that renames keywords:
// its signature, its documentation and its stub stay as they are, and a call by its own names costs one look at the keywords.
#include "keywords.hpp"
#include "define.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::python {
namespace {

namespace nb = nanobind;

struct Synonym {
  std::string function;  ///< by its place in this module
  std::string ours, theirs;
};

// Those of declared helpers stand in their rows, and are added to these.
std::vector<Synonym>& synonyms() {
  static auto& all = *new std::vector<Synonym>{
      // barriers
      {"mbarrier.array", "base", "smem_base"},
      {"BarrierArray.arrive_remote_all", "cta", "cta_id"},
      {"named_barrier", "id", "barrier_id"},
      // shared memory
      {"smem.load", "address", "addr"},
      {"smem.store", "address", "addr"},
      {"smem.store", "value", "val"},
      {"smem.apply_swizzle", "off", "logical_offset"},
      // control
      {"If.__init__", "pred", "pred_reg"},
      {"Loop.__init__", "label", "label_name"},
      {"bra", "label", "label_name"},
      {"label", "name", "label_name"},
      // typed instructions
      {"mad", "t", "dtype"},
      {"mad", "d", "dst"},
      {"var", "space", "state_space"},
  };
  return all;
}

struct Renamed {
  vectorcallfunc call = nullptr;                         // the helper's own
  std::string function;                                  // what an error calls it
  std::vector<std::pair<nb::object, nb::object>> names;  // theirs, ours; interned
};

// By the function's object, which lives as long as the module.
std::unordered_map<PyObject*, Renamed>& renamed() {
  static auto& all = *new std::unordered_map<PyObject*, Renamed>;
  return all;
}

// Where an object of nanobind's function type keeps what is called.
vectorcallfunc& called(PyObject* function) {
  return *reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function) + Py_TYPE(function)->tp_vectorcall_offset);
}

PyObject* ours_of(const Renamed& helper, PyObject* name) {
  for (const auto& [theirs, ours] : helper.names)
    if (name == theirs.ptr() || PyUnicode_Compare(name, theirs.ptr()) == 0) return ours.ptr();
  return name;
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* keywords) {
  const Renamed& helper = renamed().find(self)->second;
  nb::object names;
  for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
    PyObject* const given = PyTuple_GET_ITEM(keywords, i);
    PyObject* const ours = ours_of(helper, given);
    if (ours == given) continue;
    if (!names.is_valid()) {
      names = nb::steal(PyTuple_GetSlice(keywords, 0, PyTuple_GET_SIZE(keywords)));
      if (!names.is_valid()) return nullptr;
      if (names.is(keywords)) {  // a slice of the whole is the tuple itself
        nb::object copy = nb::steal(PyTuple_New(PyTuple_GET_SIZE(keywords)));
        if (!copy.is_valid()) return nullptr;
        for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(keywords); ++j)
          PyTuple_SET_ITEM(copy.ptr(), j, Py_NewRef(PyTuple_GET_ITEM(keywords, j)));
        names = std::move(copy);
      }
    }
    for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(keywords); ++j)
      if (j != i && PyUnicode_Compare(PyTuple_GET_ITEM(names.ptr(), j), ours) == 0)
        return PyErr_Format(PyExc_TypeError, "`%s` is given `%U` and `%U`, two names of one argument", helper.function.c_str(),
                            PyTuple_GET_ITEM(keywords, j), given);
    PyObject* const before = PyTuple_GET_ITEM(names.ptr(), i);
    PyTuple_SET_ITEM(names.ptr(), i, Py_NewRef(ours));
    Py_DECREF(before);
  }
  return helper.call(self, arguments, count, names.is_valid() ? names.ptr() : keywords);
}

nb::object find(nb::handle module, std::string_view function) {
  nb::object at = nb::borrow(module);
  for (std::string_view rest = function; !rest.empty();) {
    const std::size_t dot = rest.find('.');
    at = at.attr(std::string(rest.substr(0, dot)).c_str());
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  return at;
}

nb::object interned(std::string_view name) {
  PyObject* text = PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  if (text == nullptr) throw nb::python_error();
  PyUnicode_InternInPlace(&text);
  return nb::steal(text);
}

}  // namespace

void add_synonym(std::string function, std::string_view ours, std::string_view theirs) {
  synonyms().push_back({std::move(function), std::string(ours), std::string(theirs)});
}

void bind_keyword_synonyms(nb::module_& m) {
  for (const Synonym& synonym : synonyms()) {
    const nb::object function = find(m, synonym.function);
    Renamed& helper = renamed()[function.ptr()];
    if (helper.call == nullptr) {
      helper.call = std::exchange(called(function.ptr()), call);
      helper.function = synonym.function.substr(0, synonym.function.find(".__"));
    }
    helper.names.emplace_back(interned(synonym.theirs), interned(synonym.ours));
  }
  function(m, "keyword_synonyms() -> dict[str, dict[str, str]]",
           "Second names of keyword arguments: of each helper, its place in this module, their name and ours.", [] {
             std::map<std::string, std::map<std::string, std::string>> all;
             for (const Synonym& synonym : synonyms()) all[synonym.function].emplace(synonym.theirs, synonym.ours);
             return all;
           });
}

}  // namespace ptx::python
