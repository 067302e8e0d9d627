#include "python/binding/base/frames.hpp"
#include "python/binding/base/define.hpp"

#include <frameobject.h>

namespace ptx::python {
namespace {

namespace nb = nanobind;

PyTracebackObject* as_traceback(PyObject* object) {
  return object != nullptr && PyTraceBack_Check(object) != 0 ? reinterpret_cast<PyTracebackObject*>(object) : nullptr;
}

bool is_ours(PyTracebackObject* entry) {
  PyCodeObject* const code = PyFrame_GetCode(entry->tb_frame);
  Py_ssize_t size = 0;
  const char* file = PyUnicode_AsUTF8AndSize(code->co_filename, &size);
  const bool ours = file != nullptr && is_our_file({file, static_cast<std::size_t>(size)});
  if (file == nullptr) PyErr_Clear();
  Py_DECREF(code);
  return ours;
}

/// Whether the error is one that we say, and no fault of our own.
bool is_said(PyObject* error, PyTracebackObject* last) {
  if (!is_ours(last)) return true;
  const nb::object said = nb::steal(PyObject_GetAttrString(error, "kind"));  // of a PtxError
  if (!said.is_valid()) PyErr_Clear();
  return said.is_valid() || PyErr_GivenExceptionMatches(error, PyExc_NotImplementedError) != 0;
}

/// The traceback without our frames: a new reference, or null when none is left.
PyObject* without_ours(PyObject* traceback) {
  PyObject* first = traceback;
  while (PyTracebackObject* entry = as_traceback(first)) {
    if (!is_ours(entry)) break;
    first = reinterpret_cast<PyObject*>(entry->tb_next);
  }
  for (PyTracebackObject* entry = as_traceback(first); entry != nullptr; entry = entry->tb_next) {
    while (entry->tb_next != nullptr && is_ours(entry->tb_next)) {
      PyTracebackObject* const ours = entry->tb_next;
      Py_XINCREF(reinterpret_cast<PyObject*>(ours->tb_next));
      entry->tb_next = ours->tb_next;
      Py_DECREF(reinterpret_cast<PyObject*>(ours));
    }
  }
  return Py_XNewRef(first);
}

}  // namespace

void drop_our_frames() noexcept {
  PyObject *type = nullptr, *error = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  if (PyTracebackObject* last = as_traceback(traceback); last != nullptr && error != nullptr) {
    while (last->tb_next != nullptr) last = last->tb_next;
    if (is_said(error, last)) {
      PyObject* const rest = without_ours(traceback);
      Py_DECREF(traceback);
      traceback = rest;
      if (PyException_SetTraceback(error, rest != nullptr ? rest : Py_None) != 0) PyErr_Clear();
    }
  }
  PyErr_Restore(type, error, traceback);
}

void bind_frames(nb::module_& m) {
  function(m, "drop_our_frames(error: BaseException) -> None",
           "Takes the frames of this package out of an exception's traceback, unless the exception is a fault of its own.",
           [](nb::handle error) {
             PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
             PyObject *type = nullptr, *value = nullptr, *none = nullptr;
             PyErr_Fetch(&type, &value, &none);
             PyErr_Restore(type, value, PyException_GetTraceback(error.ptr()));
             drop_our_frames();
             PyErr_Clear();
           });
}

}  // namespace ptx::python
