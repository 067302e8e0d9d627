// The special registers: `ptx.special.tid.x()`, `ptx.sreg("%laneid")`, from the table's one list.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <string>
#include <vector>

#include "python/binding/authoring/handles.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

#include "ptx/isa/isa.hpp"

namespace ptx::python {
namespace {

nb::object special_register(std::string_view name) {
  if (const auto special = isa::special_from_name(name)) return make_special(*special);
  std::vector<std::string> names;
  for (const isa::Special& s : isa::specials()) names.emplace_back(s.name);
  raise(Kind::undefined_symbol, cat("`", name, "` is not a special register"), authors_line(), did_you_mean(name, names));
}

}  // namespace

void bind_special(nb::module_& m) {
  function(m, "sreg(name: str) -> Reg", "The special register of that name, `%laneid`.", special_register);
  const nb::object all = space(
      m, "special", "The special registers: `special.tid.x()`, `special.laneid()`. They write nothing; only `mov` reads them.");
  for (std::size_t i = 0; i < isa::specials().size(); ++i) {
    const isa::Special& special = isa::specials()[i];
    std::string name(special.name.substr(1));
    nb::object scope = all;
    if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
      const std::string group = name.substr(0, dot);
      const nb::object held = nb::getattr(all, group.c_str(), nb::none());  // `%tid` itself stands there before
      scope = PyType_Check(held.ptr()) ? held : space(all, group.c_str());
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
