#include "python/binding/base/errors.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "ptx/text/text.hpp"
#include "python/binding/base/author.hpp"

namespace nb = nanobind;

namespace ptx::python {

std::string_view exception_of(Kind kind) {
  switch (kind) {
    case Kind::unknown_opcode:
    case Kind::unknown_modifier:
      return "AttributeError";
    case Kind::bad_guard:
    case Kind::bad_operator:
    case Kind::operand_count:
    case Kind::argument_count:
    case Kind::argument_kind:
    case Kind::argument_dtype:
      return "TypeError";
    case Kind::syntax:
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
    case Kind::bad_initialiser:
    case Kind::shared_memory_size:
    case Kind::unknown_target:
    case Kind::bad_tile:
    case Kind::bad_descriptor:
    case Kind::argument_rank:
    case Kind::argument_dim:
    case Kind::dim_conflict:
    case Kind::argument_layout:
    case Kind::argument_alignment:
    case Kind::argument_device:
    case Kind::argument_memory:
    case Kind::launch_config:
    case Kind::bad_image:
    case Kind::bad_setting:
      return "ValueError";
    case Kind::dim_unbound:
      return "KeyError";
    case Kind::file_error:
      return "OSError";
    default:
      return "RuntimeError";  // of tracing, of the machine, of the executor
  }
}

namespace {
// A message may quote a tool's output, which need not be UTF-8.
nb::object decoded(std::string_view bytes) {
  const nb::object text = nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
  if (!text.is_valid()) throw nb::python_error();
  return text;
}

// One of a finding's accesses, as the mapping that pyptx.errors.Access is made of.
nb::dict access_of(const ExecutionPoint& point) {
  const auto triple = [](const std::array<std::uint32_t, 3>& v) { return nb::make_tuple(v[0], v[1], v[2]); };
  const SourceLocation where = text::in_source(point.where);
  nb::dict known;
  known["stores"] = point.access->is_store;
  known["instruction"] = decoded(point.instruction);
  known["ptx_line"] = point.ptx_line;
  known["where"] = where.known() ? nb::object(nb::make_tuple(decoded(where.file), where.line)) : nb::object(nb::none());
  known["block"] = triple(point.block);
  known["thread"] = triple(point.thread);
  known["warp"] = point.warp;
  known["lane"] = point.lane;
  known["rank"] = point.rank ? nb::object(nb::int_(*point.rank)) : nb::object(nb::none());
  known["proxy"] = point.access->proxy;
  known["space"] = point.access->space;
  known["region"] = decoded(point.access->region);
  known["element"] = decoded(point.access->element);
  known["address"] = point.access->address;
  known["bytes"] = point.access->bytes;
  return known;
}

// Which thread did what, as attributes of the error: what is not known is left out.
nb::dict execution_of(const Diagnostic& diagnostic) {
  nb::dict known;
  if (diagnostic.execution.empty()) return known;
  const ExecutionPoint& at = diagnostic.execution.front();
  const auto triple = [](const std::array<std::uint32_t, 3>& v) { return nb::make_tuple(v[0], v[1], v[2]); };
  known["kernel"] = decoded(at.kernel);
  known["instruction"] = decoded(at.instruction);
  if (at.ptx_line != 0) known["ptx_line"] = at.ptx_line;
  if (!at.rule.empty()) known["rule"] = decoded(at.rule);
  known["times"] = at.times;
  known["pairs"] = at.pairs;
  nb::list accesses;
  for (const ExecutionPoint& point : diagnostic.execution)
    if (point.access) accesses.append(access_of(point));
  known["accesses"] = nb::tuple(accesses);
  if (diagnostic.kind != Kind::not_executed) {
    known["block"] = triple(at.block);
    known["thread"] = triple(at.thread);
  }
  if (at.access) {
    known["address"] = at.access->address;
    known["access_bytes"] = at.access->bytes;
    if (!at.access->region.empty()) known["region"] = decoded(at.access->region);
  }
  return known;
}
}  // namespace

// The classes are Python's: pyptx/errors.py.
nb::object error_of(const Diagnostic& diagnostic) {
  const nb::object make = nb::module_::import_("pyptx.errors").attr("from_diagnostic");
  nb::list notes;
  for (const std::string& note : notes_of(diagnostic)) notes.append(decoded(note));
  nb::list places;
  for (const Note& note : diagnostic.notes) {
    if (note.kind != NoteKind::place) continue;
    const SourceLocation place = text::in_source(note.where);
    places.append(nb::make_tuple(decoded(note.text), decoded(place.file), place.line));
  }
  const SourceLocation where = text::in_source(diagnostic.where);
  return make(name(diagnostic.kind), exception_of(diagnostic.kind), decoded(diagnostic.message), decoded(where.file), where.line,
              notes, decoded(render(diagnostic)), places, execution_of(diagnostic), name(diagnostic.severity));
}

void set_error(const Diagnostic& diagnostic) {
  if (diagnostic.kind == Kind::interrupted && (PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0))
    return;  // KeyboardInterrupt
  try {
    const nb::object error = error_of(diagnostic);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  } catch (nb::python_error& e) {
    e.restore();
  }
}

void warn(const Diagnostic& warning) {
  const SourceLocation where = text::in_source(warning.where.known() ? warning.where : authors_line());
  const nb::object category = nb::module_::import_("pyptx.errors").attr("PtxWarning");
  nb::module_::import_("warnings")
      .attr("warn_explicit")(decoded(render(warning)), category, where.known() ? decoded(where.file) : nb::str("<kernel>"),
                             where.line);
}

void raise(const Diagnostic& diagnostic) {
  set_error(diagnostic);
  throw nb::python_error();
}

void raise(Kind kind, std::string message, SourceLocation where, std::string hint) {
  Diagnostic diagnostic{.kind = kind, .message = std::move(message), .where = where};
  if (!hint.empty()) diagnostic.hint(std::move(hint));
  raise(diagnostic);
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& names) {
  const std::string near = nearest(given, names);
  return near.empty() ? near : cat("did you mean `", near, "`?");
}

std::string describe(nb::handle value) {
  if (value.is_none()) return "`None`";
  constexpr Py_ssize_t most = 40;  // characters
  std::string type = nb::cast<std::string>(nb::type_name(value.type()));
  if (const std::size_t dot = type.rfind('.'); dot != std::string::npos) type.erase(0, dot + 1);
  const nb::object shown = nb::steal(PyObject_Repr(value.ptr()));
  if (!shown.is_valid()) {  // of the author's class, or of an int with more digits than Python shows
    PyErr_Clear();
    return cat("an object of type `", type, '`');
  }
  if (PyUnicode_GetLength(shown.ptr()) <= most) return cat("the ", type, " `", nb::cast<std::string>(shown), '`');
  const nb::object cut = nb::steal(PyUnicode_Substring(shown.ptr(), 0, most));
  return cat("the ", type, " `", nb::cast<std::string>(cut), "…`");
}

}  // namespace ptx::python
