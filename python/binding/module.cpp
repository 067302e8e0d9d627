// pyptx._ptx: the Python package's door onto the core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "ptx/version.hpp"
#include "python/binding/base/author.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/base/frames.hpp"
#include "python/binding/base/own_words.hpp"
#include "python/binding/bindings.hpp"
#include "python/binding/launch/guards.hpp"

NB_MODULE(_ptx, m) {
  using namespace ptx;
  using namespace ptx::python;
  namespace nb = nanobind;
  // A kernel's call takes the GIL by the thread, as PyGILState_Ensure does: in a sub-interpreter it would wait for itself.
  if (PyInterpreterState_Get() != PyInterpreterState_Main())
    throw nanobind::import_error("pyptx does not run in a sub-interpreter; use a thread, or another process");
  nanobind::set_leak_warnings(false);  // the types' objects live as long as the interpreter
  m.doc() = "The core of pyptx. Its names are documented where pyptx gives them to authors.";
  m.attr("version") = version;
  function(m, "set_package_folder(folder: str) -> None", "Says where pyptx's own Python lies, which is never the author's line.",
           set_package_folder);
  function(
      m, "pass_over(library: str) -> None",
      "Says where a library lies, a folder or a file, whose frames are not the author's line either, while there are others.",
      pass_over);
  function(m, "kinds() -> list[tuple[str, str]]", "Every kind of error, with the Python exception that it also is.", [] {
    std::vector<std::pair<std::string_view, std::string_view>> all;
    for (const Kind kind : all_kinds()) all.emplace_back(name(kind), python::exception_of(kind));
    return all;
  });
  function(m, "raise_error(kind: str, message: str, hint: str = '') -> typing.NoReturn",
           "Raises the error of that kind, with the author's line.",
           [](std::string_view kind, std::string message, std::string_view hint) {
             Diagnostic d;
             d.kind = Kind::internal;
             for (const Kind k : all_kinds())
               if (name(k) == kind) d.kind = k;
             d.message = std::move(message);
             d.where = python::authors_line();
             if (!hint.empty()) d.hint(cat(hint));
             python::raise(d);
           });
  function(m, "warn_author(message: str) -> None", "Warns, with the author's line.", [](std::string message) {
    const SourceLocation where = python::authors_line();
    const nb::object category = nb::module_::import_("pyptx.errors").attr("PtxWarning");
    nb::module_::import_("warnings")
        .attr("warn_explicit")(message, category, where.known() ? std::string(where.file) : "<kernel>", where.line);
  });
  function(m, "add_to_type(type: type, name: str, value: typing.Any) -> None",
           "Adds an attribute to a type that Python takes for immutable: those of the functions here.",
           [](nb::handle type, const nb::str& name, nb::handle value) {
             auto* const to = reinterpret_cast<PyTypeObject*>(type.ptr());
             if (PyType_Check(type.ptr()) == 0 || PyDict_SetItem(to->tp_dict, name.ptr(), value.ptr()) != 0)
               throw nb::python_error();
             PyType_Modified(to);
           });
  python::bind_types(m);
  python::bind_registers(m);
  python::bind_isa(m);
  python::bind_tile(m);
  python::bind_trace(m);
  python::bind_modules(m);
  python::bind_write(m);
  python::bind_special(m);
  python::bind_control(m);
  python::bind_smem(m);
  python::bind_sync(m);
  python::bind_copies(m);
  python::bind_matrix(m);
  python::bind_wgmma(m);
  python::bind_tcgen05(m);
  python::bind_scalar(m);
  python::bind_helper_list(m);
  python::bind_spec(m);
  python::bind_frames(m);
  python::bind_guards(m);
  python::bind_launch(m);
  python::bind_executor(m);
  python::bind_session(m);
  python::bind_text(m);
  python::bind_node_launches(m);
  python::bind_kernels(m);
  bind_keyword_synonyms(m);
  python::speak_in_our_words(m);
}
