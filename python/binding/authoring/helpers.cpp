#include "python/binding/authoring/helpers.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

// Each helper's name and its place in this module.
std::vector<std::pair<std::string, std::string>>& all_helpers() {
  static auto& all = *new std::vector<std::pair<std::string, std::string>>;
  return all;
}

// "ptx.cp.async_.bulk.tensor_2d" of "ptx.cp.async_.bulk.tensor_Nd"
std::string with_rank(std::string name, int rank) {
  if (const std::size_t at = name.find("_Nd"); rank != 0 && at != std::string::npos) name.replace(at + 1, 1, cat(rank));
  return name;
}
// As the author calls it: without the `.__call__` of an object that is called itself.
std::string as_called(std::string name, int rank) {
  if (const std::size_t call = name.find(".__call__"); call != std::string::npos) name.erase(call);
  return with_rank(std::move(name), rank);
}

nb::object call_helper(const Defined& defined, std::span<const nb::handle> arguments) {
  const auto& helper = static_cast<const helpers::Bound&>(defined);
  Ranked ranked = helper.ranked;
  if (ranked.of != nullptr) ranked.rank = ranked.of(arguments[0]);
  std::string name = helper.signature.name;
  name = as_called(std::move(name), ranked.rank);
  helpers::Running running{helper.signature, arguments.subspan(helper.has_self ? 1 : 0), ranked, HelperCall(std::move(name))};
  return helper.run(running);
}

}  // namespace

void helpers::Running::convert(std::span<const Conversion> conversions, void* const* to, bool needs_trace) {
  std::array<std::uint8_t, Defined::most> by_slot;  // in the function's order
  by_slot.fill(Defined::most);
  for (std::size_t i = 0; i < arguments.size(); ++i) by_slot[signature.parameters[i].slot] = static_cast<std::uint8_t>(i);
  for (const Turn turn : {Turn::plain, Turn::operands, Turn::places}) {
    if (turn == Turn::operands && needs_trace) call.begin();
    for (std::size_t slot = 0; slot < conversions.size(); ++slot)
      if (const std::size_t i = by_slot[slot]; i != Defined::most && conversions[slot].turn == turn)
        conversions[slot].into(to[slot], arguments[i], signature.parameters[i], call);
  }
}

void helpers::define(As as, nb::handle scope, Signature signature, nb::object (*run)(Running& running), const Ranked& ranked) {
  const bool is_method = as != As::function;
  const std::size_t bound = as == As::method_of_first ? 1 : 0;
  signature.name = with_rank(std::move(signature.name), ranked.rank);
  const std::string own_name = signature.name.substr(signature.name.rfind('.') + 1);
  auto* helper = new Bound;  // lives as long as the interpreter
  helper->call = call_helper;
  helper->run = run;
  helper->ranked = ranked;
  helper->has_self = as == As::method;
  for (std::size_t i = bound; i < signature.parameters.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    helper->parameters.push_back(defined_parameter(parameter.name, parameter.standard.value_or(""), parameter.seconds));
    helper->positions += !parameter.by_name;
  }
  helper->signature = std::move(signature);
  python::define(scope, helper->signature.python(own_name, is_method, bound).substr(4), helper->signature.doc.c_str(), is_method,
                 helper);
  all_helpers().emplace_back(helper->signature.name, helper->place);
}

void bind_helper_list(nb::module_& m) {
  function(m, "helpers() -> list[tuple[str, str]]",
           "The helpers that are declared (ptx/write/door/declare.hpp): name and place in this module.",
           [] { return all_helpers(); });
}

}  // namespace ptx::python
