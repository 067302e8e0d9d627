"""`Module`: several kernels, the device functions that they call, and what else a PTX text declares."""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from . import _ptx

if TYPE_CHECKING:
    from ._ptx import ModuleBuilder, NegPred, PtxType, Reg
    from .kernel import Kernel

__all__ = ["Func", "Module", "Var", "func"]

_Place = tuple[str, int]


def _fail(kind: str, message: str, hint: str = "") -> NoReturn:
    _ptx.raise_error(kind, message, hint)


def _authors_place() -> _Place:
    """The line outside of this file that asks for something."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class Var(str):
    """A variable of a module: its name, which stands wherever an operand may name a symbol: ``ptx.addr(table, 4)``."""

    dtype: PtxType
    shape: tuple[int, ...]
    space: str

    def __new__(cls, name: str, dtype: PtxType, shape: tuple[int, ...], space: str) -> Var:
        made = str.__new__(cls, name)
        made.dtype, made.shape, made.space = dtype, shape, space
        return made


class Func:
    """A device function of a module. In the body of a kernel or function of the same module, calling it writes ``call``."""

    def __init__(
        self, module: Module, name: str, fn: Callable[..., Any] | None, returns: Sequence[PtxType], params: Sequence[PtxType]
    ) -> None:
        self.module, self.symbol, self.returns, self.params = module, name, tuple(returns), tuple(params)
        self._fn = fn
        self.__name__ = name
        self.__doc__ = fn.__doc__ if fn is not None else None
        if fn is not None:
            self.__wrapped__ = fn

    def __call__(self, *arguments: Any, pred: Reg | NegPred | None = None) -> Any:
        """``call (r), f, (arguments);``: its result in a fresh register, a tuple of several, None of none."""
        return _ptx.call_function(self.symbol, self.returns, self.params, list(arguments), pred)

    def __repr__(self) -> str:
        returns = ", ".join(map(str, self.returns)) or "nothing"
        return f"<function {self.symbol}({', '.join(map(str, self.params))}) -> {returns} of a PTX module>"

    def _write(self, parts: ModuleBuilder, number: int) -> None:
        fn: Any = self._fn
        code = fn.__code__
        names = code.co_varnames[: code.co_argcount]
        trace = _ptx.Trace(
            self.symbol, self.module.arch, self.module.version,
            where=(code.co_filename, code.co_firstlineno), module=parts, function=True,
        )  # fmt: skip
        with trace:
            registers = _ptx.function_parameters(self.returns, self.params, names)
            _ptx.give_back(fn(*registers))
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
    saved as any other; its variables are its own. ``m.ptx()`` has all kernels. Functions are traced anew with each kernel.
    """

    def __init__(self, arch: str = "sm_90a", version: tuple[int, int] | None = None) -> None:
        self.arch = _ptx.detect_arch() if arch == "auto" else arch
        self.version = version
        _ptx.ModuleBuilder(self.arch, version)  # an unknown target is an error at once
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
        linkage: str = "",
        attributes: Sequence[str] = (),
    ) -> Var:
        """A variable: ``m.var("table", f32, 4, init=[1, 2, 3, 4])`` is ``.global .f32 table[4] = {…};``.

        ``init`` is a number, bytes, a variable or function (its address), or a nested sequence of them. ``space`` is ``global``,
        ``const`` or ``shared``; a first dimension of 0 is left open, ``name[]``.
        """
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        self._declare("variable", (name, dtype, sizes, space, init, align, vector, linkage, list(attributes)))
        return Var(name, dtype, sizes, space)

    def pragma(self, text: str) -> None:
        """``.pragma "text";`` for the module: ``m.pragma("nounroll")``."""
        self._declare("pragma", (text,))

    def alias(self, name: str, function: Func) -> Func:
        """Another name for a function: ``.alias name, function;``. It is called as the function is."""
        if not isinstance(function, Func):
            _fail("argument_kind", f"`{name}` is an alias of {function!r}; what fits is a function of the module")
        self._declare("alias", (name, function.symbol))
        return Func(self, name, None, function.returns, function.params)

    def section(self, name: str, lines: str) -> None:
        """``.section .name { lines }``, debug data: ``m.section(".debug_str", '.b8 104, 105, 0')``."""
        self._declare("section", (name, lines))

    def raw(self, text: str) -> None:
        """PTX as it stands in a module: functions, variables, directives. The parser reads it. `declare` makes its functions
        callable."""
        self._declare("raw", (text,))

    def declare(self, name: str, *, returns: Any = (), params: Sequence[PtxType] = ()) -> Func:
        """A function that `raw` defines, to be called: what it takes and gives in registers."""
        return Func(self, name, None, _types(returns), tuple(params))

    def func(
        self,
        fn: Callable[..., Any] | None = None,
        /,
        *,
        returns: Any = (),
        params: Sequence[PtxType] = (),
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
        parts = self._parts()
        return parts.finish([kernel._traced({}, kernel.template_params, False, parts) for kernel in self._names]).text

    def __repr__(self) -> str:
        return f"<module for {self.arch}: {len(self._names)} kernels, {len(self._functions)} functions>"

    # -- what kernels ask for

    def _declare(self, what: str, arguments: tuple[Any, ...]) -> None:
        self._declared.append((what, (*arguments, _authors_place())))
        try:
            self._without_functions()
        except BaseException:  # what cannot be declared was not
            self._declared.pop()
            raise
        self._forget()

    def _forget(self) -> None:
        for kernel in self._kernels:
            kernel.clear()

    def _without_functions(self) -> ModuleBuilder:
        parts = _ptx.ModuleBuilder(self.arch, self.version)
        for what, arguments in self._declared:
            if what == "function":
                parts.declare(arguments[0].symbol, arguments[1])
            else:
                getattr(parts, what)(*arguments)
        return parts

    def _parts(self) -> ModuleBuilder:
        """What is declared, and the functions, traced."""
        parts = _ptx.ModuleBuilder(self.arch, self.version)
        places = []
        for what, arguments in self._declared:
            if what == "function":
                places.append((arguments[0], parts.declare(arguments[0].symbol, arguments[1])))
            else:
                getattr(parts, what)(*arguments)
        for function, number in places:
            function._write(parts, number)
        return parts

    def _content(self) -> str:
        """What is declared, as a text for keys; functions count as the kernels' environment."""
        return repr([(what, arguments[:-1]) for what, arguments in self._declared if what != "function"])

    def _add_function(self, function: Func) -> None:
        self._functions.append(function)
        try:
            self._declare("function", (function,))
        except BaseException:
            self._functions.pop()
            raise

    def _add_kernel(self, kernel: Kernel) -> None:
        self._kernels.add(kernel)
        self._names = [known for known in self._names if known.__name__ != kernel.__name__]
        self._names.append(kernel)


def _types(returns: Any) -> tuple[PtxType, ...]:
    if returns is None:
        return ()
    return tuple(returns) if isinstance(returns, (tuple, list)) else (returns,)


def func(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    returns: Any = (),
    params: Sequence[PtxType] = (),
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
        code: types.CodeType | None = getattr(function, "__code__", None)
        if code is None or code.co_kwonlyargcount or code.co_flags & 0x0C:
            _fail("argument_kind", f"`@func` takes a plain `def` whose parameters are positional, `{function!r}` was given")
        if code.co_argcount != len(params):
            named = ", ".join(code.co_varnames[: code.co_argcount])
            _fail(
                "bad_declaration",
                f"function `{function.__name__}` has {code.co_argcount} parameters ({named}) and {len(params)} types in `params`",
                "one type for each: `params=(f32, u32)`",
            )
        made = Func(module, name or function.__name__, function, _types(returns), tuple(params))
        module._add_function(made)
        return made

    return make if fn is None else make(fn)
