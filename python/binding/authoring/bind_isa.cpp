// `ptx.inst`: the dots. `ptx.inst.fma.rn.f32` follows the modifier tree of the table, each step remembered, and the call writes
// the instruction.
#include <Python.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include <algorithm>
#include <exception>
#include <set>
#include <span>
#include <string>

#include "ptx/isa/isa.hpp"
#include "ptx/write/let.hpp"
#include "python/binding/authoring/checks.hpp"
#include "python/binding/authoring/operands.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

struct DotsObject {
  PyObject_HEAD const isa::ModifierTree* dots;  // nullptr: the table does not know these words, and nobody minded
  PyObject* children;                           // dict: what was asked for before
  PyObject *last_name, *last_child;             // the last of them: most are asked for again and again. The child is borrowed
  vectorcallfunc call;
  PyObject* words;  // str, or nullptr: those that the table does not know, "foo.bar"
  bool lets;        // of `ptx.let`: its calls give their destination
};

PyTypeObject* dots_type = nullptr;

const DotsObject& of(PyObject* self) { return *reinterpret_cast<DotsObject*>(self); }

// Ends in a zero.
std::string_view path_of(PyObject* self) {
  return of(self).dots != nullptr ? std::string_view(of(self).dots->path()) : PyUnicode_AsUTF8(of(self).words);
}

// Why the table does not know these words.
Diagnostic explain_unknown(std::string_view words) {
  const isa::ModifierTree* node = &isa::ModifierTree::root();
  for (;;) {
    const std::size_t dot = words.find('.');
    const std::string_view word = words.substr(0, dot);
    const isa::ModifierTree* next = node->follow(word);
    if (next == nullptr) return node->explain(word);
    if (dot == std::string_view::npos) return next->explain_incomplete();
    node = next;
    words.remove_prefix(dot + 1);
  }
}

// Every modifier of the table.
const std::set<std::string_view>& modifiers() {
  static const std::set<std::string_view> all = [] {
    std::set<std::string_view> words;
    for (const isa::Form& form : isa::forms())
      for (const isa::FormSlot& slot : form.slots)
        for (const auto& choice : slot.choices) words.insert(choice.word);
    return words;
  }();
  return all;
}

// A word of a PTX newer than the table, as far as one can tell: it is spelled like one, and no row has it at any place. An opcode
// is unknown as a whole (docs/decisions: words that the table has never heard of).
bool spelled_like_a_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
  });
}
bool is_unheard_of(std::string_view path, std::string_view word) {
  return spelled_like_a_word(word) && (path.empty() || !modifiers().contains(word));
}

// The same of all words of an instruction: the first that cannot stand where it does.
bool has_unheard_of(std::string_view words) {
  const isa::ModifierTree* node = &isa::ModifierTree::root();
  for (;;) {
    const std::size_t dot = words.find('.');
    const std::string_view word = words.substr(0, dot);
    const isa::ModifierTree* next = node->follow(word);
    if (next == nullptr) return is_unheard_of(node->path(), word);
    if (dot == std::string_view::npos) return false;
    node = next;
    words.remove_prefix(dot + 1);
  }
}

// No exception crosses into the interpreter: whatever was thrown becomes the Python error of the call.
void set_current_exception() {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

// ---- writing an instruction -----------------------------------------------------------------------------------------

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flagged_count, PyObject* keywords) {
  try {
    const isa::ModifierTree* dots = of(self).dots;
    const std::string_view path = path_of(self);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flagged_count));
    const auto result = [&] { return Py_NewRef(count != 0 && as<Reg>(arguments[0]) != nullptr ? arguments[0] : Py_None); };
    Trace& trace = Trace::require(path.empty() ? "ptx.inst" : path.data());
    const SourceLocation where = trace.where();
    if (path.empty())
      raise(Kind::argument_kind,
            "`ptx.inst` is called without an instruction; `ptx.inst.<opcode>.<modifier>…(operands)` writes one", where);
    nb::handle guard = Py_None;
    for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
      const nb::handle keyword = PyTuple_GET_ITEM(keywords, i);
      if (PyUnicode_CompareWithASCIIString(keyword.ptr(), "pred") != 0)
        raise(Kind::argument_kind,
              cat('`', path, "` takes no keyword `", nb::cast<std::string>(keyword), "`; the only one is `pred`, the guard"),
              where);
      guard = arguments[count + static_cast<std::size_t>(i)];
    }
    const bool strict = is_strict();
    Operands operands(trace, strict && dots != nullptr);
    const std::span<const write::Value> values = operands.convert({arguments, count});
    const write::Guard on = guard_argument(trace, guard);
    Expected<void> written;
    if (dots != nullptr) {
      written = trace.builder().emit(*dots, values, on, where);
      if (written) return result();
    }
    Diagnostic why = dots != nullptr ? std::move(written).error() : explain_unknown(path);
    if (dots == nullptr) why.where = where;
    if (strict && (dots != nullptr || !has_unheard_of(path))) raise(why);
    if (strict) warn_unheard_of(why);
    write_unchecked(trace, path, values, on, std::move(why));
    return result();
  } catch (...) {
    set_current_exception();
    return nullptr;
  }
}

// ---- ptx.let: the destination is fresh ------------------------------------------------------------------------------

// What the registers of one instruction are to an author: a register, a list of a vector's, or a tuple of both destinations.
nb::object given_back(Trace& trace, const std::vector<write::LetResult>& fresh) {
  nb::list all;
  for (const write::LetResult& one : fresh) {
    if (!one.shape.is_vector) {
      all.append(make_reg(trace, one.regs.front()));
      continue;
    }
    nb::list vector;
    for (const write::Reg reg : one.regs) vector.append(make_reg(trace, reg));
    all.append(vector);
  }
  return nb::len(all) == 1 ? nb::object(all[0]) : nb::object(nb::tuple(all));
}

PyObject* call_let(PyObject* self, PyObject* const* arguments, std::size_t flagged_count, PyObject* keywords) {
  try {
    const isa::ModifierTree* dots = of(self).dots;
    const std::string_view path = path_of(self);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flagged_count));
    Trace& trace = Trace::require(path.empty() ? "ptx.let" : path.data());
    const SourceLocation where = trace.where();
    if (path.empty())
      raise(Kind::argument_kind, "`ptx.let` is called without an instruction; `ptx.let.<opcode>.<modifier>…(sources)` writes one",
            where);
    Operands operands(trace, is_strict());
    write::LetOptions options;
    for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
      const nb::handle keyword = PyTuple_GET_ITEM(keywords, i), value = arguments[count + static_cast<std::size_t>(i)];
      const auto word = nb::cast<std::string_view>(keyword);
      if (word == "pred") {
        options.guard = guard_argument(trace, value);
      } else if (word == "dtype") {
        if (!value.is_none()) options.dtype = type_argument(value, cat("ptx.let.", path).c_str());
      } else if (word == "other") {
        if (!value.is_none()) options.other = operands.value(value);
      } else {
        raise(Kind::argument_kind,
              cat("`ptx.let.", path, "` takes no keyword `", word,
                  "`; there are `dtype`, the type of the result, `pred`, the guard, ",
                  "and `other`, what threads have that the guard keeps out"),
              where);
      }
    }
    const std::span<const write::Value> sources = operands.convert({arguments, count});
    if (dots != nullptr)
      return given_back(trace, unwrap(write::let(trace.builder(), *dots, sources, options, where))).release().ptr();
    Diagnostic why = explain_unknown(path);
    why.where = where;
    if (!options.dtype || (is_strict() && !has_unheard_of(path))) {
      if (!options.dtype) why.hint("what the table does not know has no type of result; `dtype=` says it");
      raise(why);
    }
    if (is_strict()) warn_unheard_of(why);
    const write::Reg fresh = unwrap(trace.builder().reg(*options.dtype, {}, where));
    std::vector<write::Value> values{write::Value::of(fresh)};
    values.insert(values.end(), sources.begin(), sources.end());
    write_unchecked(trace, path, values, options.guard, std::move(why));
    return make_reg(trace, fresh).release().ptr();
  } catch (...) {
    set_current_exception();
    return nullptr;
  }
}

PyObject* raw_emit(PyObject*, PyObject* text) {
  try {
    Trace& trace = Trace::require("ptx.inst._raw_emit");
    if (!PyUnicode_Check(text))
      raise(Kind::argument_kind, cat("`_raw_emit` takes a text, ", describe(text), " was given"), trace.where());
    trace.builder().raw(nb::cast<std::string>(nb::handle(text)), trace.where());
    Py_RETURN_NONE;
  } catch (...) {
    set_current_exception();
    return nullptr;
  }
}

// ---- what may follow, and what it all means -------------------------------------------------------------------------

// The words of a path as Python spells them: `ld.global_`.
std::string spelled(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    out += cat(out.empty() ? "" : ".", isa::identifier(path.substr(0, dot)));
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
  }
  return out;
}

std::string documentation(const isa::ModifierTree& dots, bool lets) {
  if (dots.path().empty() && lets)
    return "ptx.let.<opcode>.<modifier>…(sources, dtype=None, pred=None, other=None): one PTX instruction whose destination is a "
           "fresh register of the type that its row says, which the call gives.\n"
           "    x = ptx.let.fma.rn.f32(a, b, c)\n"
           "    a, b, c, d = ptx.let.ld.global_.v4.f32(ptx.addr(p))       # a vector: a list of registers\n"
           "    y = ptx.let.ld.global_.f32(ptx.addr(p), pred=inside, other=0.0)   # masked: 0.0 where `inside` is false\n"
           "`dtype` names another type for the destination that fits: `ptx.let.ld.global_.u8(a, dtype=u32)`. Two destinations "
           "(`elect.sync d|p`) come as a tuple. `other` is one `mov` in front of the instruction.";
  if (dots.path().empty())
    return "ptx.inst.<opcode>.<modifier>…(operands, pred=None): one PTX instruction.\nDots are spelled as in PTX, with `::` as "
           "`__`, `_` before a leading digit (`_2d`) and `_` after a reserved word (`global_`).";
  std::string out = cat(lets ? "ptx.let." : "ptx.inst.", spelled(dots.path()));
  std::vector<const isa::ModifierTree::State*> forms;  // each once: one may be reached in two ways
  for (const isa::ModifierTree::State& state : dots.states())
    if (forms.empty() || forms.back()->form != state.form) forms.push_back(&state);
  constexpr std::size_t most = 8, max_with_operands = 3;
  for (const isa::ModifierTree::State* state : std::span(forms).first(std::min(most, forms.size()))) {
    const isa::Form& form = isa::form(state->form);
    out += cat("\n  ", form.syntax(), "\n      ", form.row->doc, ' ',
               isa::available(isa::version_needed(form, state->choices), form.row->on), ". Manual: ", isa::manual(form));
    if (forms.size() > max_with_operands) continue;
    for (const isa::OperandSpec& operand : form.operands)
      out += cat("\n        ", operand.name, ": ", isa::describe(form, operand));
  }
  if (forms.size() > most) out += cat("\n  … and ", forms.size() - most, " more forms");
  std::vector<std::string> next = dots.next_words();
  if (next.empty()) return out;
  for (std::string& word : next) word = cat('.', isa::identifier(word));
  return cat(out, "\n  ", dots.complete().empty() ? "to be followed by " : "may be followed by ", list_choices(next, 24));
}

PyObject* new_dots(const isa::ModifierTree* dots, bool lets, std::string_view words = {}) {
  auto* object = PyObject_New(DotsObject, dots_type);
  if (object == nullptr) return nullptr;
  object->dots = dots;
  object->words = dots == nullptr ? PyUnicode_FromStringAndSize(words.data(), static_cast<Py_ssize_t>(words.size())) : nullptr;
  object->children = PyDict_New();
  object->last_name = object->last_child = nullptr;
  object->call = lets ? call_let : call;
  object->lets = lets;
  if (object->children == nullptr || (dots == nullptr && object->words == nullptr)) Py_CLEAR(object);
  return reinterpret_cast<PyObject*>(object);
}

PyObject* follow(PyObject* self, PyObject* name, std::string_view identifier) {
  const std::string word = isa::word_of(identifier);
  const isa::ModifierTree* next = of(self).dots == nullptr ? nullptr : of(self).dots->follow(word);
  if (next == nullptr) {
    const std::string_view path = path_of(self);
    std::string words = path.empty() ? word : cat(path, '.', word);
    if (!is_strict() || (of(self).dots == nullptr && spelled_like_a_word(word)) || is_unheard_of(path, word))
      return new_dots(nullptr, of(self).lets, words);
    Diagnostic d = explain_unknown(words);
    d.where = authors_line();
    set_error(d);
    return nullptr;
  }
  PyObject* child = new_dots(next, of(self).lets);
  if (child != nullptr && PyDict_SetItem(of(self).children, name, child) != 0) Py_CLEAR(child);
  return child;
}

PyObject* representation(PyObject* self) {
  try {
    const std::string text = of(self).dots != nullptr
                                 ? documentation(*of(self).dots, of(self).lets)
                                 : cat(of(self).lets ? "ptx.let." : "ptx.inst.", path_of(self), ": no instruction of the table");
    return nb::str(text.c_str()).release().ptr();
  } catch (...) {
    set_current_exception();
    return nullptr;
  }
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  auto& object = *reinterpret_cast<DotsObject*>(self);
  if (name == object.last_name) return Py_NewRef(object.last_child);
  if (PyObject* known = PyDict_GetItemWithError(object.children, name)) {
    Py_XSETREF(object.last_name, Py_NewRef(name));
    object.last_child = known;
    return Py_NewRef(known);
  }
  if (PyErr_Occurred() != nullptr) return nullptr;
  try {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(name, &size);
    if (text == nullptr) return nullptr;
    const std::string_view identifier(text, static_cast<std::size_t>(size));
    if (identifier == "__doc__") return representation(self);
    const bool digit = identifier.size() > 1 && identifier[1] >= '0' && identifier[1] <= '9';  // `_2d`
    if (identifier.starts_with('_') && !digit) return PyObject_GenericGetAttr(self, name);
    return follow(self, name, identifier);
  } catch (...) {
    set_current_exception();
    return nullptr;
  }
}

PyObject* directory(PyObject* self, PyObject*) {
  try {
    nb::list words;
    if (of(self).dots == nullptr) return words.release().ptr();
    for (const std::string& word : of(self).dots->next_words()) words.append(isa::identifier(word));
    return words.release().ptr();
  } catch (...) {
    set_current_exception();
    return nullptr;
  }
}

void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(of(self).last_name);
  Py_XDECREF(of(self).children);
  Py_XDECREF(of(self).words);
  PyObject_Free(self);
  Py_DECREF(type);
}

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

PyTypeObject* make_dots_type() {
  static PyMethodDef methods[] = {
      {"__dir__", directory, METH_NOARGS, "What may follow."},
      {"_raw_emit", raw_emit, METH_O, "Writes a statement as text, as it is."},
      {nullptr, nullptr, 0, nullptr},
  };
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(DotsObject, call), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  // `help` asks the type for it, past get_attribute
  static PyGetSetDef getters[] = {
      {"__doc__", [](PyObject* self, void*) { return representation(self); }, nullptr, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  };
  PyType_Slot slots[] = {
      {Py_tp_getattro, slot(get_attribute)},
      {Py_tp_getset, getters},
      {Py_tp_call, slot(PyVectorcall_Call)},
      {Py_tp_repr, slot(representation)},
      {Py_tp_methods, methods},
      {Py_tp_members, members},
      {Py_tp_dealloc, slot(destroy)},
      {0, nullptr},
  };
  PyType_Spec spec{
      .name = "pyptx._ptx.Inst",
      .basicsize = static_cast<int>(sizeof(DotsObject)),
      .itemsize = 0,
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
      .slots = slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace

void bind_isa(nb::module_& m) {
  dots_type = make_dots_type();
  if (dots_type == nullptr) throw nb::python_error();
  m.attr("Inst") = nb::handle(reinterpret_cast<PyObject*>(dots_type));
  for (const bool lets : {false, true}) {
    const nb::object root = nb::steal(new_dots(&isa::ModifierTree::root(), lets));
    if (!root.is_valid()) throw nb::python_error();
    m.attr(lets ? "let" : "inst") = root;
  }
  function(m, "opcodes() -> list[str]", "The first words of all instructions of the table.",
           [] { return isa::ModifierTree::root().next_words(); });
}

}  // namespace ptx::python
