#include "python/binding/launch/guards.hpp"
#include "python/binding/base/define.hpp"

#include <nanobind/stl/optional.h>

#include <array>
#include <cstdint>
#include <optional>

namespace ptx::python {
namespace {

namespace nb = nanobind;

enum class GuardKind : std::uint8_t { item, missing, cell, code, defaults, kwdefaults, list, dict, attribute, class_item, value };
constexpr std::array<const char*, 11> guard_kinds{"item", "missing", "cell",      "code",  "defaults", "kwdefaults",
                                                  "list", "dict",    "attribute", "class", "value"};

struct Guard {
  PyObject *owner, *key, *found;
};

/// 1: holds, 0: does not, -1: a Python error.
using Verdict = int;

Verdict dict_has(PyObject* dict, PyObject* key, PyObject* found) {
  PyObject* const held = PyDict_GetItemWithError(dict, key);  // borrowed
  if (held == nullptr && PyErr_Occurred() != nullptr) return -1;
  return held == found ? 1 : 0;
}

Verdict same_items(PyObject* list, PyObject* found) {
  const Py_ssize_t count = PyList_GET_SIZE(list);
  if (count != PyTuple_GET_SIZE(found)) return 0;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (PyList_GET_ITEM(list, i) != PyTuple_GET_ITEM(found, i)) return 0;
  return 1;
}

Verdict same_pairs(PyObject* dict, PyObject* found) {
  if (2 * PyDict_Size(dict) != PyTuple_GET_SIZE(found)) return 0;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  for (Py_ssize_t i = 0; PyDict_Next(dict, &position, &key, &value) != 0; i += 2)
    if (key != PyTuple_GET_ITEM(found, i) || value != PyTuple_GET_ITEM(found, i + 1)) return 0;
  return 1;
}

Verdict same_attribute(const Guard& guard) {
  PyObject* const held = PyObject_GetAttr(guard.owner, guard.key);
  if (held == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return -1;
    PyErr_Clear();
    return 0;
  }
  Py_DECREF(held);  // its owner has it
  return held == guard.found ? 1 : 0;
}

Verdict same_value(const Guard& guard, PyObject* function) {
  PyObject* const arguments[] = {guard.owner, guard.key};
  PyObject* const now = PyObject_Vectorcall(function, arguments, 2, nullptr);
  if (now == nullptr) return -1;
  const Verdict equal = PyObject_RichCompareBool(now, guard.found, Py_EQ);
  Py_DECREF(now);
  return equal;
}

PyObject* or_none(PyObject* object) { return object != nullptr ? object : Py_None; }

Verdict holds(GuardKind kind, const Guard& guard, PyObject* function) {
  const auto is = [&](PyObject* now) { return or_none(now) == guard.found ? 1 : 0; };
  switch (kind) {
    case GuardKind::item:
      return dict_has(guard.owner, guard.key, guard.found);
    case GuardKind::missing:
      return dict_has(guard.owner, guard.key, nullptr);
    case GuardKind::cell:
      return PyCell_GET(guard.owner) == guard.found ? 1 : 0;
    case GuardKind::code:
      return is(PyFunction_GET_CODE(guard.owner));
    case GuardKind::defaults:
      return is(PyFunction_GET_DEFAULTS(guard.owner));
    case GuardKind::kwdefaults:
      return is(PyFunction_GET_KW_DEFAULTS(guard.owner));
    case GuardKind::list:
      return same_items(guard.owner, guard.found);
    case GuardKind::dict:
      return same_pairs(guard.owner, guard.found);
    case GuardKind::attribute:
      return same_attribute(guard);
    case GuardKind::class_item:
      // Its own namespace: an attribute's look-up would bind what it finds.
      return dict_has(reinterpret_cast<PyTypeObject*>(guard.owner)->tp_dict, guard.key, guard.found);
    case GuardKind::value:
      return same_value(guard, function);
  }
  return 0;
}

/// A guard whose objects are not of the types that its kind names would be read as what it is not.
bool is_sound(GuardKind kind, PyObject* owner, PyObject* found) {
  switch (kind) {
    case GuardKind::item:
    case GuardKind::missing:
      return PyDict_Check(owner) != 0;
    case GuardKind::cell:
      return PyCell_Check(owner) != 0;
    case GuardKind::code:
    case GuardKind::defaults:
    case GuardKind::kwdefaults:
      return PyFunction_Check(owner) != 0;
    case GuardKind::list:
      return PyList_Check(owner) != 0 && PyTuple_Check(found) != 0;
    case GuardKind::dict:
      return PyDict_Check(owner) != 0 && PyTuple_Check(found) != 0;
    case GuardKind::class_item:
      return PyType_Check(owner) != 0 && reinterpret_cast<PyTypeObject*>(owner)->tp_dict != nullptr;
    case GuardKind::attribute:
    case GuardKind::value:
      return true;
  }
  return false;
}

constexpr Py_ssize_t guard_size = 4;

GuardKind kind_at(PyObject* guards, Py_ssize_t at) { return static_cast<GuardKind>(PyLong_AsLong(PyTuple_GET_ITEM(guards, at))); }

}  // namespace

Py_ssize_t changed_guard(PyObject* guards) {
  PyObject* const function = PyTuple_GET_ITEM(guards, 0);
  const Py_ssize_t end = PyTuple_GET_SIZE(guards);
  for (Py_ssize_t at = 1; at < end; at += guard_size) {
    const Guard guard{PyTuple_GET_ITEM(guards, at + 1), PyTuple_GET_ITEM(guards, at + 2), PyTuple_GET_ITEM(guards, at + 3)};
    const Verdict verdict = holds(kind_at(guards, at), guard, function);
    if (verdict < 0) return -2;
    if (verdict == 0) return (at - 1) / guard_size;
  }
  return -1;
}

bool is_guards(PyObject* object) {
  if (PyTuple_Check(object) == 0 || PyTuple_GET_SIZE(object) % guard_size != 1) return false;
  for (Py_ssize_t at = 1; at < PyTuple_GET_SIZE(object); at += guard_size) {
    PyObject* const kind = PyTuple_GET_ITEM(object, at);
    if (PyLong_Check(kind) == 0) return false;
    const long number = PyLong_AsLong(kind);
    if (number < 0 || number >= static_cast<long>(guard_kinds.size())) return PyErr_Clear(), false;
    if (!is_sound(static_cast<GuardKind>(number), PyTuple_GET_ITEM(object, at + 1), PyTuple_GET_ITEM(object, at + 3)))
      return false;
  }
  return true;
}

void bind_guards(nb::module_& m) {
  nb::list kinds;
  for (const char* kind : guard_kinds) kinds.append(kind);
  m.attr("guard_kinds") = nb::tuple(kinds);
  function(m, "changed_guard(guards: tuple[typing.Any, ...]) -> int | None",
           "The number of the first guard that does not hold any more. See binding/guards.hpp.",
           [](const nb::tuple& guards) -> std::optional<Py_ssize_t> {
             if (!is_guards(guards.ptr()))
               throw nb::type_error("`changed_guard` takes a function and guards of four objects each");
             const Py_ssize_t changed = changed_guard(guards.ptr());
             if (changed == -2) throw nb::python_error();
             return changed < 0 ? std::nullopt : std::optional(changed);
           });
}

}  // namespace ptx::python
