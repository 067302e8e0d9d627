#include "errors.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace ptx::python {

std::string_view exception_of(Kind kind) {
  switch (kind) {
    case Kind::unknown_opcode:
    case Kind::unknown_modifier: return "AttributeError";
    case Kind::bad_guard:
    case Kind::bad_operator:
    case Kind::operand_count:
    case Kind::argument_count:
    case Kind::argument_kind:
    case Kind::argument_dtype: return "TypeError";
    case Kind::missing_modifier:
    case Kind::operand_mismatch:
    case Kind::immediate_range:
    case Kind::target_lacks:
    case Kind::version_lacks:
    case Kind::unreachable:
    case Kind::undefined_label:
    case Kind::duplicate_label:
    case Kind::undefined_symbol:
    case Kind::duplicate_symbol:
    case Kind::bad_declaration:
    case Kind::shared_memory_size:
    case Kind::unknown_target:
    case Kind::bad_tile:
    case Kind::argument_rank:
    case Kind::argument_dim:
    case Kind::dim_conflict:
    case Kind::argument_layout:
    case Kind::argument_alignment:
    case Kind::argument_device:
    case Kind::argument_memory:
    case Kind::launch_config:
    case Kind::bad_image: return "ValueError";
    case Kind::dim_unbound: return "KeyError";
    case Kind::no_active_trace:
    case Kind::bad_control_flow:
    case Kind::unknown_kernel:
    case Kind::argument_gradient:
    case Kind::no_driver:
    case Kind::no_device:
    case Kind::wrong_device:
    case Kind::driver_error:
    case Kind::compile_error:
    case Kind::no_tool:
    case Kind::tool_failed:
    case Kind::capture_unprepared:
    case Kind::param_layout:
    case Kind::not_executed:
    case Kind::out_of_bounds:
    case Kind::misaligned:
    case Kind::uninitialised:
    case Kind::read_only:
    case Kind::divergent:
    case Kind::deadlock:
    case Kind::step_limit:
    case Kind::internal: return "RuntimeError";
  }
  return "RuntimeError";
}

// The classes are Python's: pyptx/errors.py.
void set_error(const Diagnostic& diagnostic) {
  try {
    const nb::object make = nb::module_::import_("pyptx.errors").attr("from_diagnostic");
    const nb::object error =
        make(name(diagnostic.kind), exception_of(diagnostic.kind), diagnostic.message, nb::str(diagnostic.where.file), diagnostic.where.line, diagnostic.notes, render(diagnostic));
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
