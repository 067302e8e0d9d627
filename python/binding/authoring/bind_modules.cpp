// Modules of several kernels and functions: what `pyptx.Module` stands on, and calls of device functions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>

#include "ptx/author/raw.hpp"
#include "ptx/text/text.hpp"
#include "ptx/write/module_builder.hpp"
#include "python/binding/authoring/checks.hpp"
#include "python/binding/authoring/operands.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

using write::Initial;
using write::ModuleBuilder;
using GivenPlace = std::optional<std::pair<std::string_view, std::uint32_t>>;

SourceLocation place_of(const GivenPlace& where) {
  return where ? SourceLocation{intern_file(where->first), where->second} : authors_line();
}

// A number, the name of a variable or function (its address), bytes, or a sequence of them.
Initial initial(nb::handle value, Type type, std::string_view variable) {
  if (PyUnicode_Check(value.ptr())) {
    write::AddressOf address;
    address.symbol = nb::cast<std::string>(value);
    address.generic = isa::bits(type) == 64;
    return address;
  }
  if (PyBool_Check(value.ptr())) return Initial(value.ptr() == Py_True ? 1 : 0);
  if (PyFloat_Check(value.ptr())) return Initial(PyFloat_AS_DOUBLE(value.ptr()));
  if (PyIndex_Check(value.ptr()) && !nb::hasattr(value, "__len__")) {
    const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    if (isa::is_float(type)) {
      const double floating = PyFloat_AsDouble(number.ptr());
      if (PyErr_Occurred() == nullptr) return Initial(floating);
      PyErr_Clear();
    }
    const auto integer = integer_of(number);
    if (integer && (!integer->above || integer->fits(type))) return Initial(integer->integer);  // the rest is the core's to judge
    raise(Kind::immediate_range,
          cat("the initial value ", describe(value), " of `", variable, "` does not fit in .", isa::name(type)), authors_line());
  }
  if (nb::hasattr(value, "symbol")) {  // a function of the module: its address is generic by itself
    write::AddressOf address;
    address.symbol = nb::cast<std::string>(value.attr("symbol"));
    address.generic = false;
    return address;
  }
  nb::object items = nb::borrow(value);
  if (nb::hasattr(items, "tolist")) items = items.attr("tolist")();  // arrays of numpy
  if (const nb::object list = nb::steal(PySequence_List(items.ptr())); list.is_valid()) {
    std::vector<Initial> elements;
    for (const nb::handle element : nb::cast<nb::list>(list)) elements.push_back(initial(element, type, variable));
    return Initial::list(std::move(elements));
  }
  PyErr_Clear();
  const nb::object number = nb::steal(PyNumber_Float(items.ptr()));  // numpy's scalars
  if (number.is_valid()) return Initial(PyFloat_AS_DOUBLE(number.ptr()));
  PyErr_Clear();
  raise(Kind::bad_initialiser,
        cat("the initial value of `", variable, "` is ", describe(value),
            "; what fits is a number, the name of a variable or function, bytes, or a sequence of them"),
        authors_line());
}

template <class Word, std::size_t n>
Word one_of(std::string_view word, const std::array<Word, n>& words, std::string_view what) {
  std::vector<std::string> names;
  for (const Word one : words) {
    if (ir::name(one) == word) return one;
    names.emplace_back(ir::name(one));
  }
  raise(Kind::bad_declaration, cat('`', word, "` is not a ", what, "; there are ", list_choices(names)), authors_line());
}

void variable(ModuleBuilder& self, std::string name, nb::handle dtype, std::vector<std::uint64_t> shape, std::string_view space,
              nb::handle init, std::uint32_t align, std::uint8_t vector, std::string_view linkage,
              std::vector<std::string> attributes, const GivenPlace& where) {
  using ir::Linkage;
  using ir::StateSpace;
  write::VariableSpec spec;
  spec.type = type_argument(dtype, "Module.var");
  spec.shape = std::move(shape);
  spec.space = one_of(space, std::array{StateSpace::global, StateSpace::const_, StateSpace::shared}, "state space of a module");
  spec.align = align;
  spec.vector = vector;
  if (!linkage.empty())
    spec.linkage = one_of(linkage, std::array{Linkage::visible, Linkage::extern_, Linkage::weak, Linkage::common}, "linkage");
  spec.attributes = std::move(attributes);
  if (!init.is_none()) spec.init = initial(init, spec.type, name);
  spec.name = std::move(name);
  unwrap(self.variable(spec, place_of(where)));
}

// Text of the module: PTX without a header. Warns when it is the newest of what the module declares; the rest has been told.
void raw(ModuleBuilder& self, std::string_view text, const GivenPlace& where, bool is_newest) {
  const Diagnostics warnings = unwrap(author::declare_text(self, text, is_strict(), place_of(where)));
  for (const Diagnostic& warning : warnings)
    if (is_newest && warning.severity == Severity::warning) warn(warning);
}

std::vector<Type> types_of(const nb::sequence& given, const char* what) {
  std::vector<Type> types;
  for (const nb::handle type : given) types.push_back(type_argument(type, what));
  return types;
}

// A register, or a tuple of several; None of none.
nb::object results_of(Trace& trace, const std::vector<write::Reg>& regs) {
  if (regs.empty()) return nb::none();
  if (regs.size() == 1) return make_reg(trace, regs.front());
  nb::list all;
  for (const write::Reg reg : regs) all.append(make_reg(trace, reg));
  return nb::tuple(all);
}

nb::object call_function(std::string name, const nb::sequence& returns, const nb::sequence& params, const nb::list& arguments,
                         nb::handle pred) {
  const std::string what = cat("the function `", name, '`');
  Trace& trace = Trace::require(what.c_str());
  const write::Callee callee{std::move(name), types_of(returns, "returns"), types_of(params, "params")};
  Operands operands(trace);
  std::vector<write::Value> values;
  for (const nb::handle argument : arguments) values.push_back(operands.value(argument));
  return results_of(trace, unwrap(write::call(trace.builder(), callee, values, guard_argument(trace, pred), trace.where())));
}

void give_back(nb::handle results) {
  Trace& trace = Trace::require("the end of a function");
  Operands operands(trace);
  std::vector<write::Value> values;
  if (PyTuple_Check(results.ptr()) || PyList_Check(results.ptr())) {
    for (const nb::handle result : results) values.push_back(operands.value(result));
  } else if (!results.is_none()) {
    values.push_back(operands.value(results));
  }
  unwrap(write::give_back(trace.builder(), values, trace.defined));
}

void bind_module_builder(nb::module_& m) {
  Class<ModuleBuilder>(m, "ModuleBuilder", "What a `Module` declares, for one text.")
      .constructor("(arch: str, version: tuple[int, int] | None = None)",
                   [](ModuleBuilder* self, std::string_view arch, std::optional<std::pair<int, int>> version) {
                     const auto target = isa::target_from_name(arch);
                     if (!target) raise(Kind::unknown_target, cat('`', arch, "` is not a target of PTX"), authors_line());
                     std::optional<Version> wanted;
                     if (version)
                       wanted = Version{static_cast<std::uint8_t>(version->first), static_cast<std::uint8_t>(version->second)};
                     new (self) ModuleBuilder(*target, wanted);
                   })
      .function(
          "variable(self, name: str, dtype: PtxType, shape: Sequence[int], space: str, init: typing.Any, align: int, vector: "
          "int, linkage: str, attributes: Sequence[str], where: tuple[str, int] | None = None) -> None",
          variable)
      .function(
          "pragma(self, text: str, where: tuple[str, int] | None = None) -> None",
          [](ModuleBuilder& self, std::string_view text, const GivenPlace& where) { unwrap(self.pragma(text, place_of(where))); })
      .function("alias(self, name: str, function: str, where: tuple[str, int] | None = None) -> None",
                [](ModuleBuilder& self, std::string_view name, std::string_view function, const GivenPlace& where) {
                  unwrap(self.alias(name, function, place_of(where)));
                })
      .function("section(self, name: str, lines: str, where: tuple[str, int] | None = None) -> None",
                [](ModuleBuilder& self, std::string_view name, std::string_view lines, const GivenPlace& where) {
                  const SourceLocation at = place_of(where);
                  unwrap(self.section(name, lines, at));
                  const ir::Section section{cat(name.starts_with('.') ? "" : ".", name), cat(lines, '\n')};
                  if (const auto wrong = text::section_error(section, at)) raise(*wrong);
                })
      .function("raw(self, text: str, where: tuple[str, int] | None = None, is_newest: bool = False) -> None", raw)
      .function("declare(self, name: str, where: tuple[str, int] | None = None) -> int", "A place for a function, by number.",
                [](ModuleBuilder& self, std::string_view name, const GivenPlace& where) {
                  return unwrap(self.declare(name, place_of(where)));
                })
      .function("define(self, number: int, function: Trace) -> None", "The function that was traced, in its place.",
                [](ModuleBuilder& self, std::size_t number, Trace& function) {
                  self.define(number, unwrap(function.finish_function()));
                })
      .function("finish(self, kernels: list[Trace]) -> Module", "The whole with these kernels, checked.",
                [](ModuleBuilder& self, const nb::list& kernels) {
                  std::vector<ir::Module> finished;
                  for (const nb::handle kernel : kernels) finished.push_back(unwrap(nb::cast<Trace&>(kernel).finish_function()));
                  std::vector<const ir::Module*> all;
                  for (const ir::Module& kernel : finished) all.push_back(&kernel);
                  return unwrap(checked_module(unwrap(self.link(all)), ""));
                });
}

}  // namespace

void bind_modules(nb::module_& m) {
  bind_module_builder(m);
  function(m, "function_parameters(returns: Sequence[PtxType], params: Sequence[PtxType], names: Sequence[str]) -> list[Reg]",
           "Declares what the function being traced takes and gives: its parameters' registers.",
           [](const nb::sequence& returns, const nb::sequence& params, const std::vector<std::string>& names) {
             Trace& trace = Trace::require("function_parameters");
             const std::vector<Type> results = types_of(returns, "returns"), types = types_of(params, "params");
             for (std::size_t i = 0; i < results.size(); ++i)
               unwrap(trace.builder().function_result(results[i], results.size() == 1 ? "result" : cat("result", i, '_'),
                                                      trace.defined));
             nb::list all;
             for (std::size_t i = 0; i < types.size(); ++i)
               all.append(make_reg(trace, unwrap(trace.builder().function_param(types[i], names[i], trace.defined))));
             return all;
           });
  function(m,
           "call_function(name: str, returns: Sequence[PtxType], params: Sequence[PtxType], arguments: list[typing.Any], pred: "
           "Reg | NegPred | None) -> typing.Any",
           "One `call`; its results are fresh registers.", call_function);
  function(m, "give_back(results: typing.Any) -> None",
           "The end of a function: its results to where the caller finds them, and `ret`.", give_back);
}

}  // namespace ptx::python
