"""`Module`: several kernels, the device functions that they call, and what else a PTX text declares."""

from __future__ import annotations

import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _ptx
from ._arguments import as_target, as_version, fail, name_in_module, refuse_not_run, refuse_suspended, short
from ._variable import Var, declared, name_of, text_of, types_of
from .errors import PtxError

if TYPE_CHECKING:
    from ._ptx import ModuleBuilder, NegPred, PtxType, Reg
    from .kernel import Kernel

__all__ = ["Func", "Module", "Var", "func"]

_OWN = __file__[: -len("_module.py")]


def _authors_place() -> tuple[str, int]:
    """The line outside of this package that asks for something."""
    frame = _authors_frame()
    return frame.f_code.co_filename, frame.f_lineno


def _authors_frame() -> Any:
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return frame


class Func:
    """A device function of a module. In the body of a kernel or function of the same module, calling it writes ``call``."""

    def __init__(
        self, module: Module, name: str, fn: Callable[..., Any] | None, returns: Sequence[PtxType], params: Sequence[PtxType]
    ) -> None:
        self.module, self.symbol, self.returns, self.params = module, name, tuple(returns), tuple(params)
        self._fn = fn
        self._successor: Func | None = None  # the function of its name that was defined in its place
        self.__name__ = self.__qualname__ = name
        self.__doc__ = fn.__doc__ if fn is not None else None
        self.__module__ = fn.__module__ if fn is not None else str(_authors_frame().f_globals.get("__name__"))
        if fn is not None:
            self.__qualname__, self.__wrapped__ = fn.__qualname__, fn

    def __call__(self, *arguments: Any, pred: Reg | NegPred | None = None) -> Any:
        """``call (r), f, (arguments);``: its result in a fresh register, a tuple of several, None of none."""
        if not _ptx.is_tracing():
            fail(
                "no_active_trace",
                f"No active kernel trace: the function `{self.symbol}` was called outside the body of a kernel",
                "it writes a `call` into the kernel being traced, so it belongs in a function under `@kernel`",
            )
        if self._successor is not None:
            fail(
                "call_mismatch",
                f"this is the function `{self.symbol}` of {_origin(self)}, which was defined anew at {_origin(self._successor)}",
                f"call what that definition gave; two functions of one module have two names: `m.func(name='{self.symbol}_2')`",
            )
        if not self.module._body():
            fail(
                "call_mismatch",
                f"`{self.symbol}` is a function of another module than the kernel's that calls it",
                "a kernel calls functions of its own module: `@kernel(module=m, …)`",
            )
        return _ptx.call_function(self.symbol, self.returns, self.params, list(arguments), pred)

    def __repr__(self) -> str:
        returns = ", ".join(map(str, self.returns)) or "nothing"
        return f"<function {self.symbol}({', '.join(map(str, self.params))}) -> {returns} of a PTX module>"

    # Copies are itself, and its pickle is its name, as of kernels.

    def __copy__(self) -> Func:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Func:
        return self

    def __reduce__(self) -> str:
        return name_in_module(self, f"function `{self.__qualname__}`")

    def _write(self, parts: ModuleBuilder, number: int, block_threads: int) -> None:
        fn: Any = self._fn
        code = fn.__code__
        names = code.co_varnames[: code.co_argcount]
        trace = _ptx.Trace(
            self.symbol, self.module.arch, self.module.version,
            where=(code.co_filename, code.co_firstlineno), module=parts, function=True,
            block_threads=block_threads,
        )  # fmt: skip
        with trace:
            registers = _ptx.function_parameters(self.returns, self.params, names)
            result = fn(*registers)
            refuse_not_run("function", self.symbol, result)
            _ptx.give_back(result)
        parts.define(number, trace)


class Module:
    """A PTX module that kernels and functions are written into, with variables, directives and text of its own.

    ::

        m = Module(arch="sm_90a")
        table = m.var("table", f32, 4, init=[1, 2, 3, 4])

        @m.func(returns=f32, params=(f32, u32))
        def scaled(x, i):
            factor = ptx.let.ld.global_.f32(ptx.addr(reg.from_(table, u64) + i * 4))
            return x * factor

        @kernel(module=m, in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32)
        def k(X, Y):
            px, py = ptx.global_ptrs(X, Y)
            i = reg.from_(ptx.special.tid.x(), u32)
            x = ptx.let.ld.global_.f32(ptx.addr(px + i * 4))
            ptx.inst.st.global_.f32(ptx.addr(py + i * 4), scaled(x, i & 3))
            ptx.ret()

    A kernel's own text has everything that the module declares and that kernel alone, so that it is checked, run, launched and
    saved as any other; ``m.ptx()`` has all kernels. Functions are traced anew with each kernel, before its body.

    A variable is one of each text: two kernels have two, kernels of the same text, which are loaded once, have one, also where
    they belong to two modules. It keeps its value from launch to launch.

    A kernel or function that is defined again, by a ``def`` of the same qualified name in the same file or Python module, takes
    the place of the one before, as when a notebook's cell is run again. Another one of that name is an error.
    """

    def __init__(self, arch: str = "sm_90a", version: tuple[int, int] | None = None) -> None:
        self.arch, self.version = as_target(arch), as_version(version)
        self.__module__, self.__qualname__ = str(_authors_frame().f_globals.get("__name__")), "<module>"
        try:
            _ptx.ModuleBuilder(self.arch, self.version).finish([])  # what no text can be made for is an error at once
        except PtxError as error:
            fail(error.kind, error.message, *(note.removeprefix("hint: ") for note in error.notes[:1]))
        self._lock = threading.RLock()  # of what it declares
        self._local = threading.local()  # of each thread, what it traces
        self._declared: list[tuple[str, Any]] = []  # what is written into each text, in order
        self._functions: list[Func] = []
        self._kernels: weakref.WeakSet[Kernel] = weakref.WeakSet()
        self._names: list[Kernel] = []  # in the order of their definition

    # -- what it declares

    def var(
        self,
        name: str,
        dtype: PtxType,
        shape: int | Sequence[int] = (),
        *,
        space: str = "global",
        init: Any = None,
        align: int = 0,
        vector: int = 1,
        linkage: str | None = "",
        attributes: str | Sequence[str] = (),
    ) -> Var:
        """A variable: ``m.var("table", f32, 4, init=[1, 2, 3, 4])`` is ``.global .f32 table[4] = {…};``.

        ``init`` is a number, bytes (one number per element), a variable or function (its address), or a nested sequence of them;
        elements without one are zero. ``space`` is ``global``, ``const`` or ``shared``; a first dimension of 0 is left open,
        ``name[]``. ``attributes`` are ``"managed"`` and ``"unified(…)"``.
        """
        variable = declared(name, dtype, shape, space, init, align, vector, linkage, attributes)
        self._declare("variable", variable)
        name, _, sizes, space, *_ = variable
        return Var(name, dtype, sizes, space)

    def pragma(self, text: str) -> None:
        """``.pragma "text";`` for the module: ``m.pragma("nounroll")``."""
        self._declare("pragma", (text_of(text, "a pragma", "'nounroll'"),))

    def alias(self, name: str, function: Func) -> Func:
        """Another name for a function: ``.alias name, function;``. It is called as the function is."""
        if not isinstance(function, Func):
            fail("argument_kind", f"`{short(name)}` is an alias of {short(function)}; what fits is a function of the module")
        name = name_of(name, "function", "twice")
        self._declare("alias", (name, function.symbol))
        return Func(self, name, None, function.returns, function.params)

    def section(self, name: str, lines: str) -> None:
        """``.section .name { lines }``, debug data: ``m.section(".debug_str", '.b8 104, 105, 0')``."""
        name = name_of(name, "section", ".debug_str")
        self._declare("section", (name, text_of(lines, f"the content of the section `{name}`", "'.b8 104, 105, 0'")))

    def raw(self, text: str) -> None:
        """PTX as it stands in a module: functions, variables, directives. The parser reads it. `declare` makes its functions
        callable."""
        self._declare("raw", (text_of(text, "the text of `raw`", "'.global .u32 seven = 7;'"),))

    def declare(self, name: str, *, returns: Any = (), params: Any = ()) -> Func:
        """A function that `raw` defines, to be called: what it takes and gives in registers."""
        name = name_of(name, "function", "twice")
        what = f"of the function `{name}`"
        return Func(self, name, None, types_of(returns, f"`returns` {what}"), types_of(params, f"`params` {what}"))

    def func(
        self,
        fn: Callable[..., Any] | None = None,
        /,
        *,
        returns: Any = (),
        params: Any = (),
        name: str | None = None,
    ) -> Any:
        """A device function, see `func`."""
        return func(fn, returns=returns, params=params, module=self, name=name)

    # -- what it is

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Its kernels, in the order of their definition."""
        return tuple(self._names)

    @property
    def functions(self) -> tuple[Func, ...]:
        """Its functions, in the order of their definition."""
        return tuple(self._functions)

    def ptx(self) -> str:
        """The text of the whole module: what it declares, its functions and all its kernels, traced with their defaults."""
        if body := self._body():
            fail(
                "bad_control_flow",
                f"`Module.ptx` is called in the body of {body}, while that is traced: the module's text is not written yet",
                "a body writes instructions; ask for the text behind the definitions",
            )

        try:
            parts = self._parts()
            return parts.finish([kernel._trace_into(parts) for kernel in self.kernels]).text
        except BaseException as error:
            _ptx.drop_our_frames(error)
            raise

    # As kernels: copies are itself, and its pickle is its name.

    def __copy__(self) -> Module:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Module:
        return self

    def __reduce__(self) -> str:
        return name_in_module(self, f"module `{self!r}`")

    def __repr__(self) -> str:
        return f"<module for {self.arch}: {len(self._names)} kernels, {len(self._functions)} functions>"

    # -- what kernels ask for

    def _declare(self, what: str, arguments: tuple[Any, ...], at: int | None = None) -> None:
        """Declares something behind what is there, or in the place of what has this number."""
        if body := self._body():
            fail(
                "bad_declaration",
                f"the module is given a {what} in the body of {body}, while that is traced: its text could not have it",
                "declare what a module has before what uses it is traced; `ptx.var` declares a variable of one kernel",
            )
        with self._lock:
            before, entry = self._declared, (what, (*arguments, _authors_place()))
            self._declared = [*before, entry] if at is None else [*before[:at], entry, *before[at + 1 :]]
            try:
                self._refuse_kernels_name(what, arguments)
                self._builder(entry)
            except BaseException:  # what cannot be declared was not
                self._declared = before
                raise
            for kernel in list(self._kernels):
                kernel.clear()

    def _refuse_kernels_name(self, what: str, arguments: tuple[Any, ...]) -> None:
        for kernel in self._names:
            if kernel.__name__ == _name_declared(what, arguments):
                fail("duplicate_symbol", f"the module has the kernel `{kernel.__name__}` already, at {_origin(kernel)}")

    def _builder(self, newest: tuple[str, Any] | None = None) -> tuple[ModuleBuilder, list[tuple[Func, int]]]:
        """What is declared, and the places of the functions among it, which are not traced yet. Warns of what is newest."""
        parts = _ptx.ModuleBuilder(self.arch, self.version)
        places = list[tuple[Func, int]]()
        for entry in self._declared:
            what, arguments = entry
            if what == "function":
                places.append((arguments[0], parts.declare(arguments[0].symbol, arguments[1])))
            elif what == "raw":
                parts.raw(arguments[0], arguments[1], entry is newest)
            else:
                getattr(parts, what)(*arguments)
        return parts, places

    def _parts(self, block_threads: int = 0) -> ModuleBuilder:
        """What is declared, and the functions, traced."""
        if (body := self._body()).startswith("function"):
            fail(
                "bad_control_flow",
                f"a text of the module is asked for in the body of {body}, while that is traced: the function is part of it",
                "a body writes instructions; ask for the text, or call the kernel, behind the definitions",
            )
        parts, places = self._builder()
        for function, number in places:
            with self._in_body(f"function `{function.symbol}`"):
                function._write(parts, number, block_threads)
        return parts

    def _body(self) -> str:
        """What of the module this thread traces; empty for nothing."""
        bodies: list[str] = self._local.__dict__.setdefault("bodies", [])
        return bodies[-1] if bodies else ""

    @contextmanager
    def _in_body(self, of: str) -> Iterator[None]:
        bodies: list[str] = self._local.__dict__.setdefault("bodies", [])
        bodies.append(of)
        try:
            yield
        finally:
            bodies.pop()

    def _content(self) -> str:
        """What is declared, as a text for keys; functions count as the kernels' environment."""
        return repr([(what, arguments[:-1]) for what, arguments in self._declared if what != "function"])

    def _add_function(self, function: Func) -> None:
        with self._lock:
            before, at = self._functions, None
            known = next((each for each in before if each.symbol == function.symbol), None)
            if known is None:
                self._functions = [*before, function]
            else:
                _refuse_another("function", known, function)
                at = next(i for i, (what, held) in enumerate(self._declared) if what == "function" and held[0] is known)
                self._functions = [function if each is known else each for each in before]
            try:
                self._declare("function", (function,), at)
            except BaseException:
                self._functions = before
                raise
            if known is not None:
                known._successor = function

    def _add_kernel(self, kernel: Kernel) -> None:
        with self._lock:
            for what, arguments in self._declared:
                if _name_declared(what, arguments) == kernel.__name__:
                    file, line = arguments[-1]
                    fail("duplicate_symbol", f"the module has the {what} `{kernel.__name__}` already, at {file}:{line}")
            known = next((each for each in self._names if each.__name__ == kernel.__name__), None)
            if known is None:
                self._names = [*self._names, kernel]
            else:
                _refuse_another("kernel", known, kernel)
                self._names = [kernel if each is known else each for each in self._names]
            self._kernels.add(kernel)


def _name_declared(what: str, arguments: tuple[Any, ...]) -> str | None:
    if what == "function":
        symbol: str = arguments[0].symbol
        return symbol
    return str(arguments[0]) if what in ("variable", "alias") else None


def _origin(thing: Any) -> str:
    code = thing.__wrapped__.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def _refuse_another(what: str, known: Any, new: Any) -> None:
    """Refuses a second definition of a name, unless it is the first one, run again."""
    first, second = known.__wrapped__, new.__wrapped__
    is_same = first.__qualname__ == second.__qualname__ and (
        first.__code__.co_filename == second.__code__.co_filename or first.__module__ == second.__module__
    )
    if is_same and first.__name__ == "<lambda>":  # which is no name: the place tells one from another
        is_same = _origin(known) == _origin(new)
    if not is_same:
        fail(
            "duplicate_symbol",
            f"the module has the {what} `{known.__name__}` already, `{first.__qualname__}` at {_origin(known)}; this one is "
            f"`{second.__qualname__}` at {_origin(new)}",
            f"take another name; a {what} takes the place of the one before when the same `def` is run again",
        )


def func(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    returns: Any = (),
    params: Any = (),
    module: Module,
    name: str | None = None,
) -> Any:
    """Makes a device function of a module: ``@func(returns=f32, params=(f32, f32), module=m)``.

    The body gets its parameters as registers, and what it returns, a register, a number, or a tuple of them, is moved to where
    the caller finds it, behind which stands ``ret``. Parameters and results are passed in registers of 16 bits and more:
    ``.func (.reg .f32 %result) f (.reg .f32 %x)``. A predicate is passed as a number. ``f(a, b)`` in a kernel of the module is
    one ``call``; kernels and functions may call functions that are defined later.
    """

    def make(function: Callable[..., Any]) -> Func:
        if not isinstance(module, Module):
            fail("argument_kind", f"`module` is `{short(module)}`; what fits is a `Module`")
        code: types.CodeType | None = getattr(function, "__code__", None)
        if code is None or code.co_kwonlyargcount or code.co_flags & 0x0C:
            fail("argument_kind", f"`@func` takes a plain `def` whose parameters are positional, `{short(function)}` was given")
        symbol = function.__name__ if name is None else name_of(name, "function", "twice")
        refuse_suspended("function", symbol, code.co_flags)
        what = f"of the function `{symbol}`"
        results, taken = types_of(returns, f"`returns` {what}"), types_of(params, f"`params` {what}")
        if code.co_argcount != len(taken):
            named = ", ".join(code.co_varnames[: code.co_argcount])
            fail(
                "bad_declaration",
                f"function `{symbol}` has {code.co_argcount} parameters ({named}) and {len(taken)} types in `params`",
                "one type for each: `params=(f32, u32)`",
            )
        made = Func(module, symbol, function, results, taken)
        module._add_function(made)
        return made

    return make if fn is None else make(fn)
