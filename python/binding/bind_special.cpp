// The special registers: `ptx.special.tid.x()`, `ptx.sreg("%laneid")`, from the table's one list.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "define.hpp"
#include "errors.hpp"
#include "handles.hpp"

#include "ptx/isa/isa.hpp"

namespace ptx::python {
namespace {

struct SpecialSpace {};  // a namespace of Python: a class with static methods alone

nb::object special_register(std::string_view name) {
  if (const auto special = isa::special_from_name(name)) return make_special(*special);
  std::vector<std::string> names;
  for (const isa::Special& s : isa::specials()) names.emplace_back(s.name);
  raise(Kind::undefined_symbol, cat("`", name, "` is not a special register"), authors_line(), did_you_mean(name, names));
}

// `special.tid.x`: nanobind makes one Python class for one C++ type, so that each group needs its own.
template <std::size_t>
struct SpecialGroup {};
constexpr std::size_t max_groups = 16;

template <std::size_t... I>
nb::object make_group(std::size_t index, nb::handle scope, const char* name, std::index_sequence<I...>) {
  nb::object made;
  ((I == index ? void(made = Class<SpecialGroup<I>>(scope, name)) : void()), ...);
  return made;
}

}  // namespace

void bind_special(nb::module_& m) {
  function(m, "sreg(name: str) -> Reg", "The special register of that name, `%laneid`.", special_register);
  Class<SpecialSpace> space(
      m, "special", "The special registers: `special.tid.x()`, `special.laneid()`. They write nothing; only `mov` reads them.");
  std::vector<std::pair<std::string, nb::object>> groups;
  for (std::size_t i = 0; i < isa::specials().size(); ++i) {
    const isa::Special& special = isa::specials()[i];
    std::string name(special.name.substr(1));
    nb::object scope = space;
    if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
      const std::string group = name.substr(0, dot);
      auto it = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == group; });
      if (it == groups.end()) {
        if (groups.size() == max_groups)
          throw std::length_error("more groups of special registers than the binding has classes for");
        nb::object made = make_group(groups.size(), space, group.c_str(), std::make_index_sequence<max_groups>());
        it = groups.insert(groups.end(), {group, std::move(made)});
      }
      scope = it->second;
      name.erase(0, dot + 1);
    }
    const auto id = static_cast<isa::SpecialId>(i);
    const std::string signature = cat("def ", name, "() -> Reg"), doc = cat('`', special.name, "`: ", special.doc);
    const nb::object function = nb::cpp_function([id] { return make_special(id); }, nb::name(name.c_str()), nb::scope(scope),
                                                 nb::sig(signature.c_str()), doc.c_str());
    scope.attr(name.c_str()) = nb::handle(reinterpret_cast<PyObject*>(&PyStaticMethod_Type))(function);
  }
}

}  // namespace ptx::python
