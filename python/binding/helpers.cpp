#include "helpers.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <set>

#include "bindings.hpp"
#include "keywords.hpp"

namespace ptx::python {
namespace {

// Each helper's name and its place in this module.
std::vector<std::pair<std::string, std::string>>& all_helpers() {
  static auto& all = *new std::vector<std::pair<std::string, std::string>>;
  return all;
}

}  // namespace

void note_helper(const write::declare::Signature& signature, const Defined& where) {
  const bool in_class = PyType_Check(where.scope.ptr());
  const std::string place = in_class ? cat(nb::cast<std::string>(where.scope.attr("__qualname__")), '.', where.as) : where.as;
  all_helpers().emplace_back(signature.name, place);
  for (std::size_t i = where.bound; i < signature.parameters.size(); ++i) {
    const write::declare::Parameter& parameter = signature.parameters[i];
    for (std::string_view seconds = parameter.seconds; !seconds.empty();)
      add_synonym(place, parameter.name, write::declare::taken_before(seconds, "|"));
  }
}

helpers::AnyArgument helpers::any_argument(const BoundHelper& helper, std::size_t i) {
  const write::declare::Parameter& parameter = helper.signature.parameters[i];
  static auto& names = *new std::set<std::string, std::less<>>;  // nanobind keeps a pointer to each
  const std::string& name = *names.emplace(parameter.name).first;
  nb::object standard;
  if (parameter.standard) standard = nb::module_::import_("ast").attr("literal_eval")(*parameter.standard);
  return {nb::arg(name.c_str()).none(), std::move(standard)};
}

void bind_helper_list(nb::module_& m) {
  m.def(
      "helpers", [] { return all_helpers(); },
      "The helpers that are declared (ptx/write/door/declare.hpp): name and place in this module.");
}

}  // namespace ptx::python
