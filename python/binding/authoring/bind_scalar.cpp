// The scalar half of `ptx`: typed wrappers (`ptx.mov`, `ptx.add` …), `ptx.raw`, `ptx.var`, `ptx.kloop`, directives, and what says
// how the trace is grouped.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/write/idiom/kloop.hpp"
#include "ptx/write/idiom/mad.hpp"
#include "python/binding/authoring/checks.hpp"
#include "python/binding/authoring/helpers.hpp"
#include "python/binding/authoring/places.hpp"
#include "python/binding/authoring/raw_text.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

using write::Value;

// ---- one instruction, held to the table at once -----------------------------------------------------------------------

void write_typed(Trace& trace, const std::string& path, std::span<const Value> values, const write::Guard& guard) {
  Expected<void> written = trace.builder().emit(path, values, guard, trace.where());
  if (written) return;
  if (is_strict()) raise_validation(path, written.error());
  write_unchecked(trace, path, values, guard, std::move(written).error());
}

template <class... V>
void typed(Trace& trace, const std::string& path, const write::Pred& pred, const V&... operands) {
  const std::array<Value, sizeof...(V)> values = {operands...};
  write_typed(trace, path, values, pred.guard);
}

[[noreturn]] void no_such(const char* what, std::string_view keyword, std::string_view given,
                          const std::vector<std::string>& fits) {
  raise(Kind::operand_mismatch, cat("the ", keyword, " of `", what, "` is `", given, "`; what fits is ", list_choices(fits)),
        authors_line());
}

// A keyword that is one of a few words, with or without its dot.
std::string word(const char* what, std::string_view keyword, std::string_view given, const std::vector<std::string>& fits) {
  const std::string_view bare = given.starts_with('.') ? given.substr(1) : given;
  if (std::find(fits.begin(), fits.end(), bare) == fits.end()) no_such(what, keyword, given, fits);
  return std::string(bare);
}

const std::vector<std::string>& modes() {
  static const std::vector<std::string> all = {"lo", "hi", "wide"};
  return all;
}

std::string suffix(Type type) { return cat('.', isa::name(type)); }
// ".rn" of "rn" and ".rn", nothing of nothing
std::string dotted(const std::optional<std::string_view>& text) {
  return text ? cat(text->starts_with('.') ? "" : ".", *text) : std::string();
}

// "add", as a template argument
struct Opcode {
  char text[8]{};
  template <std::size_t size>
  constexpr Opcode(const char (&given)[size]) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i + 1 < size; ++i) text[i] = given[i];
  }
};

// `opcode.t d, operands…`
template <Opcode opcode, class... Source>
void same_type(Trace& trace, Type t, const AnyOperand& d, const Source&... sources, const write::Pred& pred) {
  typed(trace, cat(opcode.text, suffix(t)), pred, d.value, sources.value...);
}
template <Opcode opcode>
constexpr auto of_one = &same_type<opcode, AnyOperand>;
template <Opcode opcode>
constexpr auto of_two = &same_type<opcode, AnyOperand, AnyOperand>;

void mul(Trace& trace, Type t, const AnyOperand& d, const AnyOperand& a, const AnyOperand& b,
         const std::optional<std::string_view>& mode, const write::Pred& pred) {
  const std::string spelled_mode = mode ? cat('.', word("ptx.mul", "mode", *mode, modes())) : std::string();
  typed(trace, cat("mul", spelled_mode, suffix(t)), pred, d.value, a.value, b.value);
}

// `mad(a, b, c)`: into a fresh register.
nb::object mad_fresh(Trace& trace, nb::handle x, nb::handle y, nb::handle z, const std::string& mode, nb::handle pred) {
  Operands operands(trace, is_strict());
  std::array values = {operands.value(x), operands.value(y), operands.value(z)};
  const write::idiom::Mad begun = unwrap(write::idiom::begin_mad(trace.builder(), values, mode, trace.where()));
  const std::array all = {Value::of(begun.result), values[0], values[1], values[2]};
  write_typed(trace, begun.dots, all, guard_argument(trace, pred));
  return make_reg(trace, begun.result);
}

// Their names, and second ones.
constexpr std::array<std::pair<const char*, const char*>, 5> mad_operands = {
    {{"t", "dtype"}, {"d", "dst"}, {"a", "a"}, {"b", "b"}, {"c", "c"}}};

nb::object mad(const nb::args& positional, std::string_view given, nb::handle pred, const nb::kwargs& named) {
  const char* what = "ptx.mad";
  Trace& trace = Trace::require(what);
  const std::string mode = word(what, "mode", given, modes());
  // Those by name fill up the places of one of the two lists.
  const bool fresh =
      positional.size() == 0 ? !named.contains("t") && !named.contains("dtype") : as<PtxType>(positional[0]) == nullptr;
  nb::list arguments;
  for (const nb::handle argument : positional) arguments.append(argument);
  for (std::size_t i = positional.size() + (fresh ? 2 : 0); i < mad_operands.size(); ++i) {
    const auto& [ours, theirs] = mad_operands[i];
    const char* const name = named.contains(ours) ? ours : theirs;
    if (!named.contains(name)) break;
    arguments.append(named[name]);
  }
  const bool all_known = arguments.size() == positional.size() + named.size();
  if (fresh && all_known && arguments.size() == 3) return mad_fresh(trace, arguments[0], arguments[1], arguments[2], mode, pred);
  if (fresh || !all_known || arguments.size() != 5)
    raise(Kind::operand_count,
          cat("`ptx.mad` takes `(t, d, a, b, c)` or `(a, b, c)`, ", positional.size(), " arguments were given",
              named.size() == 0 ? std::string() : cat(" and ", named.size(), " by name")),
          trace.where());
  Operands operands(trace, is_strict());
  const std::string path = cat("mad.", mode, suffix(type_argument(arguments[0], what)));
  const std::array values = {operands.value(arguments[1]), operands.value(arguments[2]), operands.value(arguments[3]),
                             operands.value(arguments[4])};
  write_typed(trace, path, values, guard_argument(trace, pred));
  return nb::none();
}

void setp(Trace& trace, std::string_view cmp, Type t, const AnyOperand& p, const AnyOperand& a, const AnyOperand& b,
          const GuardArg& pred_negate, const write::Pred& pred) {
  static const std::vector<std::string> comparisons = {"lt", "le", "gt", "ge", "eq", "ne"};
  write::Pred guard = pred;
  if (pred_negate.guard.predicate && pred.guard.predicate)
    raise(Kind::argument_kind, "`pred_negate` and `pred` of `ptx.setp` are both the guard; give one", authors_line());
  if (pred_negate.guard.predicate) guard.guard = pred_negate.guard;
  typed(trace, cat("setp.", word("ptx.setp", "comparison", cmp, comparisons), suffix(t)), guard, p.value, a.value, b.value);
}

void cvt(Trace& trace, Type dt, Type st, const AnyOperand& d, const AnyOperand& a,
         const std::optional<std::string_view>& rounding, bool ftz, bool sat, const write::Pred& pred) {
  typed(trace, cat("cvt", dotted(rounding), ftz ? ".ftz" : "", sat ? ".sat" : "", suffix(dt), suffix(st)), pred, d.value,
        a.value);
}

// "ld.global.cs": nothing for the generic space.
std::string memory_path(const char* what, const char* opcode, std::string_view space,
                        const std::optional<std::string_view>& cache, Type t) {
  static const std::vector<std::string> spaces = {"global",      "shared",          "local",        "const",       "param",
                                                  "shared::cta", "shared::cluster", "param::entry", "param::func", "generic"};
  std::string name(space);
  if (const std::size_t at = name.find("__"); at != std::string::npos) name.replace(at, 2, "::");
  name = word(what, "space", name, spaces);
  return cat(opcode, name == "generic" ? std::string() : cat('.', name), dotted(cache), suffix(t));
}

void ld(Trace& trace, Type t, const AnyOperand& d, const MemoryOperand& addr, std::string_view space,
        const std::optional<std::string_view>& cache, const write::Pred& pred) {
  typed(trace, memory_path("ptx.ld", "ld", space, cache, t), pred, d.value, addr.address());
}
void st(Trace& trace, Type t, const MemoryOperand& addr, const AnyOperand& a, std::string_view space,
        const std::optional<std::string_view>& cache, const write::Pred& pred) {
  typed(trace, memory_path("ptx.st", "st", space, cache, t), pred, addr.address(), a.value);
}

void bind_typed(nb::module_& m) {
  using write::declare::helper;
  static constexpr std::tuple rows{
      helper<of_one<"mov">>("ptx.mov", "t|dtype, d|dst: Reg, a|src", "`mov.t d, a`"),
      helper<of_two<"add">>("ptx.add", "t|dtype, d|dst: Reg, a, b", "`add.t d, a, b`"),
      helper<of_two<"sub">>("ptx.sub", "t|dtype, d|dst: Reg, a, b", "`sub.t d, a, b`"),
      helper<of_two<"shl">>("ptx.shl", "t|dtype, d|dst: Reg, a, b", "`shl.t d, a, b`"),
      helper<of_two<"shr">>("ptx.shr", "t|dtype, d|dst: Reg, a, b", "`shr.t d, a, b`"),
      helper<of_two<"and">>("ptx.and_", "t|dtype, d|dst: Reg, a, b", "`and.t d, a, b`"),
      helper<of_two<"or">>("ptx.or_", "t|dtype, d|dst: Reg, a, b", "`or.t d, a, b`"),
      helper<of_two<"xor">>("ptx.xor_", "t|dtype, d|dst: Reg, a, b", "`xor.t d, a, b`"),
      helper<&mul>("ptx.mul", "t|dtype, d|dst: Reg, a, b, *, mode", "`mul{.lo|.hi|.wide}.t d, a, b`"),
      helper<of_one<"not">>("ptx.not_", "t|dtype, d|dst: Reg, a|src", "`not.t d, a`"),
      helper<&setp>("ptx.setp", "cmp, t|dtype, p|pred_reg|dst: Reg, a, b, *, pred_negate",
                    "`setp.cmp.t p, a, b`; `pred_negate` is its guard, as `pred` is."),
      helper<&same_type<"selp", AnyOperand, AnyOperand, AnyOperand>>("ptx.selp", "t|dtype, d|dst: Reg, tv, fv, p|pred_reg: Reg",
                                                                     "`selp.t d, tv, fv, p`"),
      helper<&cvt>("ptx.cvt", "dt|dst_dtype, st|src_dtype, d|dst: Reg, a|src, *, rounding, ftz = False, sat = False",
                   "`cvt{.rounding}{.ftz}{.sat}.dt.st d, a`"),
      helper<&ld>("ptx.ld", "t|dtype, d|dst: Reg, addr, *, space|state_space = 'global', cache",
                  "`ld{.space}{.cache}.t d, [addr]`; the space `generic` is not written."),
      helper<&st>("ptx.st", "t|dtype, addr, a|src|val, *, space|state_space = 'global', cache",
                  "`st{.space}{.cache}.t [addr], a`; the space `generic` is not written.")};
  helpers::bind_all<As::function>(m, rows);
  m.def("mad", mad, nb::arg("args"), nb::arg("mode") = "lo", nb::arg("pred") = nb::none(), nb::arg("named"),
        nb::sig(
            "def mad(*args: typing.Any, mode: str = 'lo', pred: Reg | NegPred | None = None, **named: typing.Any) -> typing.Any"),
        "`mad(t, d, a, b, c)`: `mad.mode.t d, a, b, c`. `mad(a, b, c)`: the same into a fresh register of the type of the first "
        "register among the operands, twice as wide for `wide`; of floating-point registers `fma.rn`.");
  for (const auto& [ours, theirs] : std::span(mad_operands).first(2)) add_synonym("mad", theirs, ours);
}

// ---- declarations, directives, text -------------------------------------------------------------------------------------

std::string var(std::string_view space, nb::handle dtype, std::string name, std::optional<std::uint64_t> size,
                std::optional<std::uint32_t> align, std::optional<std::string_view> linking) {
  const char* what = "ptx.var";
  Trace& trace = Trace::require(what);
  // the window of the CTA is `.shared` itself
  static const std::vector<std::string> spaces = {"shared", "shared::cta", "local", "global", "const", "param"};
  std::string spelled(space);
  if (const std::size_t at = spelled.find("__"); at != std::string::npos) spelled.replace(at, 2, "::");
  if (spelled.ends_with('_')) spelled.pop_back();  // const_
  spelled = word(what, "state space", spelled, spaces);
  if (spelled == "shared::cta") spelled = "shared";
  ir::Variable variable;
  for (const ir::StateSpace s :
       {ir::StateSpace::shared, ir::StateSpace::local, ir::StateSpace::global, ir::StateSpace::const_, ir::StateSpace::param})
    if (ir::name(s) == spelled) variable.space = s;
  variable.type = type_argument(dtype, what);
  variable.elements = size;
  variable.align = align.value_or(0);
  if (size == 0u)
    raise(Kind::bad_declaration, cat('`', name, "` has no elements; what fits is 1 or more, or `None`"), trace.where());
  if (linking) {
    const std::string linkage =
        word(what, "linking", linking->ends_with('_') ? linking->substr(0, linking->size() - 1) : *linking,
             {"extern", "visible", "weak", "common"});
    for (const ir::Linkage l : {ir::Linkage::extern_, ir::Linkage::visible, ir::Linkage::weak, ir::Linkage::common})
      if (ir::name(l) == linkage) variable.linkage = l;
    variable.unsized = variable.linkage == ir::Linkage::extern_ && !size;
  }
  unwrap(trace.builder().variable(variable, name, trace.where()));
  return name;
}

void kloop(nb::handle total, std::int64_t unroll, nb::object body, std::optional<std::string_view> label) {
  const char* what = "ptx.kloop";
  Trace& trace = Trace::require(what);
  if (PyCallable_Check(body.ptr()) == 0)
    raise(Kind::argument_kind, cat("the body of `ptx.kloop` is ", describe(body), "; what fits is a function without arguments"),
          trace.where());
  if (as<Reg>(total) == nullptr && (!PyIndex_Check(total.ptr()) || PyBool_Check(total.ptr())))
    raise(Kind::argument_kind,
          cat("the total of `ptx.kloop` is ", describe(total), "; what fits is an int or an integer register"), trace.where());
  Operands operands(trace);
  auto pass = [&] { body(); };
  unwrap(write::idiom::kloop(trace.builder(), operands.value(total), unroll, write::idiom::Pass(pass),
                             label == "kloop" ? "" : label.value_or(""), trace.where()));
}

std::uint32_t directive_number(Trace& trace, const char* what, std::string_view name, std::int64_t value, std::int64_t least) {
  if (value < least || value > 0x7FFFFFFF)
    raise(Kind::immediate_range, cat("the ", name, " of `", what, "` is ", value, "; what fits is ", least, " or more"),
          trace.where());
  return static_cast<std::uint32_t>(value);
}

void bind_directives(nb::module_& m) {
  function(m,
           "var(space|state_space: str, dtype: PtxType, name: str, *, size: int | None = None, align: int | None = None, "
           "linking: str | None "
           "= None) -> str",
           "Declares a variable of the body, `.space .align a .dtype name[size];`; its name.", var);
  function(
      m,
      "kloop(total: Reg | int, *, unroll: int, body: typing.Callable[[], typing.Any], loop_label: str | None = 'kloop') -> None",
      "`body()` `total` times. An int: that often, without a branch. A register: a loop of `unroll` passes (a power of two), and "
      "what is left over after it, in nested ifs. The default label gives way when it is taken.",
      kloop);
  function(m, "pragma(text: str) -> None", "`.pragma \"text\";`", [](std::string_view text) {
    Trace& trace = Trace::require("ptx.pragma");
    unwrap(trace.builder().pragma(text, trace.where()));
  });
  function(m, "loc(file: int, line: int, column: int = 0) -> None", "`.loc file line column`: where what follows is from.",
           [](std::int64_t file, std::int64_t line, std::int64_t column) {
             Trace& trace = Trace::require("ptx.loc");
             trace.builder().loc(directive_number(trace, "ptx.loc", "file", file, 0),
                                 directive_number(trace, "ptx.loc", "line", line, 0),
                                 directive_number(trace, "ptx.loc", "column", column, 0), trace.where());
           });
  function(m, "file_(number: int, name: str) -> None", "`.file number \"name\"`, in the module: what `loc` calls a file.",
           [](std::int64_t number, std::string_view name) {
             Trace& trace = Trace::require("ptx.file_");
             unwrap(trace.builder().file(directive_number(trace, "ptx.file_", "number", number, 1), name, trace.where()));
           });
  function(m, "raw(text: str) -> None",
           "Statements as PTX text. They are read, checked and written like any others; what the table has no opcode or modifier "
           "for is kept as it is.",
           [](std::string_view text) { write_text(Trace::require("ptx.raw"), text); });
}

// ---- grouping -----------------------------------------------------------------------------------------------------------

// `with ptx.expr():` changes nothing in the text.
struct Expression {
  static constexpr const char* name = "ptx.expr";
  std::size_t depth = 0;
};

void bind_groups(nb::module_& m) {
  Class<Expression>(m, "Expression", "The block of `with ptx.expr():`.")
      .def(nb::init<>())
      .dunder("__enter__(self) -> Expression",
              [](nb::handle self) {
                Trace& trace = Trace::require(Expression::name);
                trace.begin_group({}, {});
                nb::cast<Expression&>(self).depth = trace.open(Expression::name, trace.where());
                return nb::borrow(self);
              })
      .dunder("__exit__(self, type: object, value: object, traceback: object, /) -> None",
              [](Expression& self, nb::handle exception, nb::handle, nb::handle) {
                Trace& trace = Trace::require(Expression::name);
                trace.end_group();
                if (!exception.is_none()) return trace.abandon(self.depth);
                trace.close(self.depth);
              });
  function(m, "begin_intrinsic(name: str, arguments: str) -> None", "What follows is written by a call of that helper.",
           [](const std::string& name, const std::string& arguments) {
             Trace& trace = Trace::require("intrinsic");
             trace.begin_group(name, arguments);
             trace.builder().comment(cat("BEGIN ", name, '(', arguments, ')'));
           });
  function(m, "end_intrinsic(name: str) -> None", "", [](std::string_view name) {
    Trace& trace = Trace::require("intrinsic");
    trace.builder().comment(cat("END ", name));
    trace.end_group();
  });
}

}  // namespace

void bind_scalar(nb::module_& m) {
  bind_checks(m);
  bind_typed(m);
  bind_directives(m);
  bind_groups(m);
}

}  // namespace ptx::python
