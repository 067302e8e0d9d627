#include "python/binding/launch/torch_ops.hpp"
#include "python/binding/base/define.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ptx/ffi/ffi.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/launch/plan.hpp"

namespace ptx::python {
namespace {

/// Whether this thread runs Python further up, so that an error that is set here has somebody to find it.
bool in_python() { return Py_IsInitialized() != 0 && PyGILState_GetThisThreadState() != nullptr; }

/// What an exception of Python's says.
std::string text_of(nb::handle error) {
  const nb::object text = nb::steal(PyObject_Str(error.ptr()));
  if (!text.is_valid()) {
    PyErr_Clear();
    return "an error that Python cannot show";
  }
  return nb::cast<std::string>(text);
}

Expected<void> adopt(std::string_view key, std::string_view payload) {
  if (Py_IsInitialized() == 0) return Unexpected{{.kind = Kind::unknown_kernel, .message = "Python has ended"}};
  const bool heard = in_python();
  const nb::gil_scoped_acquire locked;
  try {
    nb::module_::import_("pyptx.torch_support")
        .attr("_adopt")(nb::str(key.data(), key.size()), nb::str(payload.data(), payload.size()));
    return {};
  } catch (nb::python_error& error) {
    Unexpected failed{{.kind = Kind::bad_image, .message = text_of(error.value())}};
    if (heard) error.restore();
    return failed;
  }
}

/// The exception itself is left set where there is Python to see it: torch raises a RuntimeError with this text from it.
std::string report(const Diagnostic& diagnostic) {
  if (!in_python()) return render(diagnostic);
  const nb::gil_scoped_acquire locked;
  if (PyErr_Occurred() == nullptr) set_error(diagnostic);
  nb::python_error error;  // takes what is set
  std::string text = text_of(error.value());
  error.restore();
  return text;
}

/// None, or why this torch's own Python has to carry the operators.
std::optional<std::string> register_operators() {
  const auto done = ffi::register_torch_operators(ffi::TorchSchemas::defined, {.adopt = adopt, .report = report});
  return done ? std::nullopt : std::optional(done.error().message);
}

bool add_kernel(std::string_view key, nb::handle plan, std::vector<std::pair<std::uint32_t, std::uint32_t>> aliases) {
  PlanState* state = plan_state(plan);
  if (state == nullptr) throw nb::type_error("a kernel of torch's operators is a Plan");
  for (const auto& [input, output] : aliases) {
    if (input >= state->signature().inputs().size() || output >= state->signature().outputs().size())
      raise(Kind::launch_config, cat("kernel `", state->signature().kernel(), "` has no input ", input, " and output ", output,
                                     " that could be one tensor"));
  }
  const bool added = ffi::add_torch_kernel(key, {.plan = &state->plan(), .aliases = std::move(aliases)});
  if (added) plan.inc_ref();  // a graph may name it as long as the process lives
  return added;
}

}  // namespace

void bind_torch_ops(nb::module_& m) {
  function(m, "register_torch_operators() -> str | None",
           "Gives torch the operators whose schemas are `torch_schemas`, in C++. None, or why this torch cannot have them.",
           register_operators);
  m.def("add_torch_kernel", add_kernel, nb::arg("key"), nb::arg("plan"),
        nb::arg("aliases") = std::vector<std::pair<std::uint32_t, std::uint32_t>>{},
        nb::sig("def add_torch_kernel(key: str, plan: Plan, aliases: Sequence[tuple[int, int]] = ()) -> bool"),
        "What a key of the operators stands for, from now on: a plan, and which of its inputs are outputs too, as pairs of "
        "numbers. False when the key is taken.");
  function(m, "knows_torch_kernel(key: str) -> bool", "Whether a key stands for something.",
           [](std::string_view key) { return ffi::find_torch_kernel(key) != nullptr; });
  nb::list schemas;
  for (const char* schema : ffi::torch_schemas) schemas.append(schema);
  m.attr("torch_schemas") = nb::tuple(schemas);
}

}  // namespace ptx::python
