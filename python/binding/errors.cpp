#include "errors.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace ptx::python {

// The classes are Python's (pyptx/errors.py), which also knows what each kind derives from.
void set_error(const Diagnostic& diagnostic) {
  try {
    const nb::object make = nb::module_::import_("pyptx.errors").attr("from_diagnostic");
    const nb::object error =
        make(name(diagnostic.kind), diagnostic.message, nb::str(diagnostic.where.file), diagnostic.where.line, diagnostic.notes, render(diagnostic));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  } catch (nb::python_error& e) {
    e.restore();
  }
}

void raise(const Diagnostic& diagnostic) {
  set_error(diagnostic);
  throw nb::python_error();
}

void raise(Kind kind, std::string message, Where where) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = std::move(message);
  diagnostic.where = where;
  raise(diagnostic);
}

std::string describe(nb::handle value) {
  constexpr std::size_t most = 40;
  const std::string type = nb::cast<std::string>(nb::type_name(value.type()));
  std::string shown = nb::cast<std::string>(nb::repr(value));
  if (shown.size() > most) shown = cat(shown.substr(0, most), "…");
  if (value.is_none()) return "`None`";
  return cat("the ", type, " `", shown, '`');
}

}  // namespace ptx::python
