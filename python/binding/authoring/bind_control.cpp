// Flow of control: `ptx.if_`, `else_`, `loop`, `range_`, `scope`, `bra`, `label`, `ret`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <utility>

#include "python/binding/authoring/operands.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

using write::Value;

// The line of the `with` is remembered from its begin: its end is executed on that line, too.
struct Block {
  std::size_t depth = 0;
  SourceLocation where;
  std::uint64_t opened_in = 0;             // the trace in which it is open, by number; 0 none
  std::uint64_t made_in = 0, made_as = 0;  // where it was made: nothing is written until it is entered
  nb::object returns;                      // lines of what may leave it early, if taken

  explicit Block(const char* name) {
    Trace* now = Trace::active();
    if (now == nullptr) return;
    made_in = now->id();
    made_as = now->made(name, now->where());
  }
  void enter(Trace& now) const {
    if (now.id() == made_in) now.entered(made_as);
  }

  [[nodiscard]] bool open_in(const Trace& other) const { return opened_in != 0 && opened_in == other.id(); }
};

Diagnostic early_exit(const char* name, const std::string& word, const char* file, std::uint32_t line) {
  Diagnostic error;
  error.kind = Kind::bad_control_flow;
  error.message = cat(
      "`", word, "` in the block of `", name,
      "` is executed while the body is traced, whatever the registers hold: what stands behind the block would never be written");
  error.where = {file, line};
  if (word == "return")
    error.hint("`ptx.ret()` ends the thread where the condition is true; a function gives its result at its end");
  else
    error.hint(cat("put what follows into a block of its own; the loop of `ptx.while_` has `loop.", word, "_(pred=p)`"));
  return error;
}

// Functions of pyptx/_early_exits.py; never destroyed, since the interpreter may have ended by then.
const nb::object& of_early_exits(const char* function) {
  return *new nb::object(nb::module_::import_("pyptx._early_exits").attr(function));
}

// A `return`, `break` or `continue` in the block that is entered now would leave out what stands behind it, in silence. What it
// is called in the author's source is of no matter. Gives the lines of the returns that would, if they were taken; () where there
// is no source.
nb::object refuse_early_exit(const char* name, const SourceLocation& where) {
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr || !where.known()) return {};
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  static const nb::object& find = of_early_exits("early_exit");
  nb::object found = find(code, PyFrame_GetLineNumber(frame));
  if (found.is_none()) return {};
  if (PyTuple_Check(found.ptr()) && PyTuple_GET_SIZE(found.ptr()) != 0)
    raise(early_exit(name, nb::cast<std::string>(found[0]), where.file, nb::cast<std::uint32_t>(found[1])));
  return found;
}

// The same of a `return` that the block is left by now.
void refuse_taken(const char* name, const Block& block) {
  PyFrameObject* frame = PyEval_GetFrame();
  if (!block.returns.is_valid() || frame == nullptr) return;
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  if (PyTuple_Check(block.returns.ptr())) {
    static const nb::object& look = of_early_exits("left_early");
    if (nb::cast<bool>(look(code, PyFrame_GetLasti(frame))))
      raise(early_exit(name, "return", block.where.file, block.where.line));
    return;
  }
  static const nb::object& find = of_early_exits("taken");
  const nb::object line = find(code, PyFrame_GetLasti(frame), block.returns);
  if (!line.is_none()) raise(early_exit(name, "return", block.where.file, nb::cast<std::uint32_t>(line)));
}

// Whether the author's code takes the iterator, or its next element, in a `for` statement.
bool in_for_statement() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr) return true;
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  static const nb::object& is = of_early_exits("is_for_statement");
  return nb::cast<bool>(is(code, PyFrame_GetLasti(frame)));
}

// What `with` does around a body: `begin` writes what comes before it and `end` what comes behind; an exception writes nothing.
template <class B>
nb::object enter(nb::handle self) {
  B& block = nb::cast<B&>(self);
  Trace& trace = Trace::require(B::name);
  static_cast<const Block&>(block).enter(trace);
  block.where = trace.where();
  block.returns = refuse_early_exit(B::name, block.where);
  block.begin(trace);
  block.depth = trace.open(B::name, block.where);
  block.opened_in = trace.id();
  return nb::borrow(self);
}

template <class B>
void leave(B& block, nb::handle exception, nb::handle, nb::handle) {
  Trace& trace = Trace::require(B::name);
  const bool open = block.open_in(trace);
  block.opened_in = 0;
  if (!exception.is_none()) {
    if (!open) return;
    trace.abandon(block.depth);
    Diagnostic error;  // of a body that catches the exception and goes on
    error.kind = Kind::bad_control_flow;
    error.message = cat("an exception left the block of `", B::name, "`, which has no end now");
    error.where = block.where;
    trace.builder().fail(std::move(error));
    return;
  }
  if (!open) raise(Kind::bad_control_flow, cat("a `", B::name, "` ends that was not begun here"), trace.where());
  refuse_taken(B::name, block);
  trace.close(block.depth);
  block.end(trace);
}

struct IfBlock : Block {
  static constexpr const char* name = "ptx.if_";
  nb::object predicate;
  write::If open;
  void begin(Trace& trace) {
    const write::Guard guard = guard_argument(trace, predicate);
    if (!guard.predicate)
      raise(Kind::bad_guard, "`ptx.if_` is given `None`; what fits is a predicate register or `~predicate`", where);
    Value value = Value::of(*guard.predicate);
    value.negated = guard.negated;
    open = unwrap(write::begin_if(trace.builder(), value, where));
  }
  void end(Trace& trace) { unwrap(write::end_if(trace.builder(), open, where)); }
};

struct ElseBlock : Block {
  static constexpr const char* name = "ptx.else_";
  ElseBlock() : Block(name) {}
  write::If open;
  void begin(Trace& trace) { open = unwrap(write::begin_else(trace.builder(), where)); }
  void end(Trace& trace) { unwrap(write::end_else(trace.builder(), open, where)); }
};

// What `condition` says: a predicate, or a function that is called here and gives one.
Value tested(Trace& trace, nb::handle condition, const char* what, SourceLocation where) {
  const bool is_function = PyCallable_Check(condition.ptr()) != 0 && as<Reg>(condition) == nullptr;
  const nb::object predicate = is_function ? nb::object(condition()) : nb::borrow(condition);
  const write::Guard guard = guard_argument(trace, predicate);
  if (!guard.predicate)
    raise(Kind::bad_guard, cat('`', what, "` is given `None`; what fits is a predicate, or a function that gives one"), where);
  Value value = Value::of(*guard.predicate);
  value.negated = guard.negated;
  return value;
}

struct ElifBlock : Block {
  static constexpr const char* name = "ptx.elif_";
  nb::object condition;
  write::If open;
  void begin(Trace& trace) {
    open = unwrap(write::begin_elif(trace.builder(), where));
    unwrap(write::test_elif(trace.builder(), open, tested(trace, condition, name, where), where));
  }
  void end(Trace& trace) { unwrap(write::end_if(trace.builder(), open, where)); }
};

struct WhileBlock : Block {
  static constexpr const char* name = "ptx.while_";
  nb::object condition;
  write::While open;
  void begin(Trace& trace) {
    if (PyCallable_Check(condition.ptr()) == 0 || as<Reg>(condition) != nullptr)
      raise(Kind::argument_kind,
            cat("the condition of `ptx.while_` is ", describe(condition),
                "; what fits is a function, which writes the test at the loop's head: `ptx.while_(lambda: i < n)`"),
            where);
    open = unwrap(write::begin_while(trace.builder(), where));
    unwrap(write::test_while(trace.builder(), open, tested(trace, condition, name, where), where));
  }
  void end(Trace& trace) { unwrap(write::end_while(trace.builder(), open, where)); }

  // `bra` to one of its labels
  void leave(nb::handle pred, const std::string& label, const char* what) {
    Trace& trace = Trace::require(what);
    if (!open_in(trace)) raise(Kind::bad_control_flow, cat('`', what, "` is used outside its loop"), trace.where());
    unwrap(write::branch(trace.builder(), label, guard_argument(trace, pred), trace.where()));
  }
};

struct LoopBlock : Block {
  static constexpr const char* name = "ptx.loop";
  std::string label;
  nb::object predicate;
  void begin(Trace& trace) {
    (void)guard_argument(trace, predicate);  // a wrong one is reported before the body is written
    unwrap(write::begin_loop(trace.builder(), label, where));
  }
  void end(Trace& trace) { unwrap(write::end_loop(trace.builder(), label, guard_argument(trace, predicate), where)); }
};

struct ScopeBlock : Block {
  static constexpr const char* name = "ptx.scope";
  ScopeBlock() : Block(name) {}
  void begin(Trace& trace) { trace.builder().open_block(where); }
  void end(Trace& trace) { unwrap(trace.builder().close_block(where)); }
};

// `for k in ptx.range_(…)`: the body is written when Python's loop runs, once.
struct RangeLoop : Block {
  static constexpr const char* name = "ptx.range_";
  nb::object start, stop, step;
  std::optional<write::Range> open;
  bool done = false;

  [[noreturn]] static void refuse_iteration() {
    raise(Kind::bad_control_flow, "`ptx.range_` is for a `for` statement, whose body is written once and is the loop's",
          authors_line(), "`for k in ptx.range_(…):`; Python's own `range` is unrolled");
  }

  nb::object next() {
    Trace& trace = Trace::require(name);
    if (open && !done) {
      done = true;
      trace.close(depth);
      unwrap(write::end_range(trace.builder(), *open, where));
    }
    if (done) throw nb::stop_iteration();
    if (!in_for_statement()) refuse_iteration();
    enter(trace);
    where = trace.where();
    Operands operands(trace);
    const Value from = operands.value(start), to = operands.value(stop), by = operands.value(step);
    open = unwrap(write::begin_range(trace.builder(), from, to, by, where));
    depth = trace.open(name, where);
    return make_reg(trace, open->counter);
  }
};

template <class B>
Class<B> bind_block(nb::module_& m, const char* name, const char* doc) {
  Class<B> block(m, name, doc);
  block.def("__enter__", enter<B>, nb::sig(cat("def __enter__(self) -> ", name).c_str()))
      .dunder("__exit__(self, type: object, value: object, traceback: object, /) -> None", leave<B>);
  return block;
}

std::string_view label_argument(Trace& trace, nb::handle label, const char* what) {
  if (!PyUnicode_Check(label.ptr()))
    raise(Kind::argument_kind, cat("the label of `", what, "` is ", describe(label), "; what fits is a name"), trace.where());
  return nb::cast<std::string_view>(label);
}

void bind_branches(nb::module_& m) {
  bind_block<IfBlock>(m, "If", "The block of `with ptx.if_(p):`.");
  function(m, "if_(pred|pred_reg: Reg | NegPred) -> If", "The block of `with ptx.if_(p):`.",
           [](nb::object pred) { return IfBlock{Block(IfBlock::name), std::move(pred), {}}; });
  bind_block<ElseBlock>(m, "Else", "The block of `with ptx.else_():`.");
  function(m, "else_() -> Else", "The block of `with ptx.else_():`.", [] { return ElseBlock(); });
  bind_block<ElifBlock>(m, "Elif", "The block of `with ptx.elif_(condition):`.");
  function(m, "elif_(condition: Reg | NegPred | typing.Callable[[], Reg | NegPred]) -> Elif",
           "The block of `with ptx.elif_(condition):`, behind one of `ptx.if_` or `ptx.elif_`. The condition is a "
           "predicate, written in place (`ptx.elif_(r == 1)`) or given by a function.",
           [](nb::object condition) { return ElifBlock{Block(ElifBlock::name), std::move(condition), {}}; });
}

void bind_loops(nb::module_& m) {
  bind_block<WhileBlock>(m, "While", "The loop of `with ptx.while_(lambda: i < n):`.")
      .function("break_(self, pred: Reg | NegPred | None = None) -> None", "Goes on behind the loop.",
                [](WhileBlock& self, nb::handle pred) { self.leave(pred, self.open.end_label, "While.break_"); })
      .function("continue_(self, pred: Reg | NegPred | None = None) -> None", "Goes on with the next test.",
                [](WhileBlock& self, nb::handle pred) { self.leave(pred, self.open.head_label, "While.continue_"); });
  function(m, "while_(condition: typing.Callable[[], Reg | NegPred]) -> While",
           "The loop of `with ptx.while_(lambda: i < n):`. The condition is written at its head and tested before each pass. "
           "`with … as loop:` gives it, for `loop.break_(pred=p)` and `loop.continue_(pred=p)`.",
           [](nb::object condition) { return WhileBlock{Block(WhileBlock::name), std::move(condition), {}}; });
  bind_block<LoopBlock>(m, "Loop", "The block of `with ptx.loop(label):`.");
  function(
      m, "loop(label|label_name: str, *, pred: Reg | NegPred | None = None) -> Loop",
      "The block of `with ptx.loop(label):`, which goes back to the label while the predicate is true.",
      [](std::string label, nb::object pred) { return LoopBlock{Block(LoopBlock::name), std::move(label), std::move(pred)}; });
  bind_block<ScopeBlock>(m, "Scope", "The block of `with ptx.scope():`.");
  function(m, "scope() -> Scope", "The block of `with ptx.scope():`, whose registers are its own.", [] { return ScopeBlock(); });
  Class<RangeLoop>(m, "Range", "The loop of `for k in ptx.range_(start, stop):`.")
      .def(
          "__init__",
          [](RangeLoop* self, nb::object start, nb::object stop, nb::object step) {
            if (stop.is_none()) {
              raise(Kind::argument_kind, cat("`ptx.range_` has a start and a stop; it is given ", describe(start), " alone"),
                    authors_line(), "`ptx.range_(0, …)`");
            }
            new (self) RangeLoop{Block(RangeLoop::name), std::move(start), std::move(stop), std::move(step), {}, false};
          },
          nb::arg("start"), nb::arg("stop") = nb::none(), nb::arg("step") = 1,
          nb::sig("def __init__(self, start: Reg | int, stop: Reg | int, step: Reg | int = 1) -> None"))
      .dunder("__iter__(self) -> Range",
              [](nb::handle self) {
                if (nb::cast<const RangeLoop&>(self).open) {
                  raise(Kind::bad_control_flow, "the loop of this `ptx.range_` is written already", authors_line(),
                        "each loop has a `ptx.range_` of its own");
                }
                if (!in_for_statement()) RangeLoop::refuse_iteration();
                return nb::borrow(self);
              })
      .def("__next__", &RangeLoop::next, nb::sig("def __next__(self) -> Reg"));
}

}  // namespace

void bind_control(nb::module_& m) {
  bind_branches(m);
  bind_loops(m);
  function(m, "bra(label|label_name: str, pred: Reg | NegPred | None = None) -> None", "Go on at the label.",
           [](nb::handle label, nb::handle pred) {
             Trace& trace = Trace::require("ptx.bra");
             unwrap(write::branch(trace.builder(), label_argument(trace, label, "ptx.bra"), guard_argument(trace, pred),
                                  trace.where()));
           });
  function(m, "label(name|label_name: str) -> None", "Defines a label here.", [](nb::handle label) {
    Trace& trace = Trace::require("ptx.label");
    unwrap(trace.builder().label(label_argument(trace, label, "ptx.label"), trace.where()));
  });
  function(m, "ret(pred: Reg | NegPred | None = None) -> None", "Ends the thread.", [](nb::handle pred) {
    Trace& trace = Trace::require("ptx.ret");
    unwrap(write::ret(trace.builder(), guard_argument(trace, pred), trace.where()));
  });
}

}  // namespace ptx::python
