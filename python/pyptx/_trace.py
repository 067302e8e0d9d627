"""The trace under way, for those who look inside."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from . import _ptx

if TYPE_CHECKING:
    from ._ptx import Module, Trace
    from .ir import RegDecl, Statement, VarDecl
    from .spec import ValidationIssue

P = ParamSpec("P")
R = TypeVar("R")

_BODY, _BEGIN, _END = "\x01body", "\x01begin ", "\x01end"  # the core's marks in a draft, as comments

_entered = threading.local()


class TraceContext:
    """A trace, as nodes of `pyptx.ir`. What it has written so far is read anew at each look."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __enter__(self) -> TraceContext:
        self._trace.__enter__()
        _stack().append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _stack().remove(self)
        self._trace.__exit__(*exception)

    @property
    def statements(self) -> list[Statement]:
        """The statements of the body. Blocks, calls of intrinsics and expressions are one each, with what is in them."""
        return self._parts()[1]

    @property
    def reg_decls(self) -> list[RegDecl]:
        """The registers that are declared at the top of the body."""
        from .ir import RegDecl

        return [node for node in self._parts()[0] if isinstance(node, RegDecl)]

    @property
    def var_decls(self) -> list[VarDecl]:
        """The variables that are declared at the top of the body."""
        from .ir import VarDecl

        return [node for node in self._parts()[0] if isinstance(node, VarDecl)]

    @property
    def validation_issues(self) -> list[ValidationIssue]:
        """What was written although the table refused it: empty, unless PYPTX_CHECK is off or a text has unknown words."""
        from . import spec

        return [spec.issue_of(*issue) for issue in self._trace.issues]

    def finish(self) -> Module:
        """Checks what was written; the module, or the first error."""
        return self._trace.finish()

    def _parts(self) -> tuple[list[Statement], list[Statement]]:
        """What is declared at the top, and the statements behind it."""
        from .ir import Comment, Function, RawLine, nodes

        draft = self._trace.draft()
        parsed = _ptx.parse_nodes(draft, nodes)
        if len(parsed) == 3:  # a line that was written as it is, and is not PTX
            lines = [line for line in draft.splitlines() if line.startswith("//" + _BODY) or line[:3] != "//\x01"]
            body = lines.index("//" + _BODY)
            return [], [RawLine(line) for line in lines[body + 1 : -1]]
        (function,) = (node for node in parsed[3] if isinstance(node, Function))
        items = list(function.body or ())
        body = next(i for i, item in enumerate(items) if isinstance(item, Comment) and item.text == _BODY)
        return items[:body], _grouped(iter(items[body + 1 :]), self._trace.groups)


def _grouped(items: Any, groups: list[tuple[str, str]]) -> list[Statement]:
    """The items up to the end of the group that they begin in; groups inside are one node each."""
    from dataclasses import replace

    from .ir import Block, Comment, CompoundExpr, IntrinsicScope

    found: list[Statement] = []
    for item in items:
        if isinstance(item, Block):
            found.append(replace(item, body=tuple(_grouped(iter(item.body), groups))))
        elif not isinstance(item, Comment) or not item.text.startswith("\x01"):
            found.append(item)
        elif item.text == _END:
            break
        else:
            name, arguments = groups[int(item.text.removeprefix(_BEGIN))]
            inner = _grouped(items, groups)
            if name:
                said = {f"BEGIN {name}({arguments})", f"END {name}"}  # by the comments around them, which the node stands for
                edges = [node for node in (inner[0], inner[-1]) if isinstance(node, Comment) and node.text in said]
                inner = inner[1 : len(inner) - (len(edges) - 1)]
                found.append(IntrinsicScope(name, arguments, tuple(inner)))
            else:
                found.append(CompoundExpr(tuple(inner)))
    return found


def _stack() -> list[TraceContext]:
    if not hasattr(_entered, "stack"):
        _entered.stack = []
    stack: list[TraceContext] = _entered.stack
    return stack


def trace_scope(*, ptx_version: tuple[int, int] | None = None, arch: str = "sm_90a", name: str = "kernel") -> TraceContext:
    """A trace without a `Kernel` around it: ``with trace_scope() as ctx: …; print(ctx.statements)``."""
    return TraceContext(_ptx.Trace(name, arch, ptx_version))


def get_ctx() -> TraceContext:
    """The trace of this thread. RuntimeError outside one."""
    trace = _ptx.active_trace()
    for context in reversed(_stack()):
        if context._trace is trace:
            return context
    return TraceContext(trace)


def _shown(value: object) -> str:
    name = getattr(value, "name", None)
    text = name if isinstance(name, str) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def intrinsic(fn: Callable[P, R]) -> Callable[P, R]:
    """Marks a helper: in a trace, comments say where what it wrote begins and ends, and it is one node of the trace."""

    def traced(*args: P.args, **kwargs: P.kwargs) -> R:
        if not _ptx.is_tracing():
            return fn(*args, **kwargs)
        _ptx.begin_intrinsic(name, ", ".join([*map(_shown, args), *(f"{k}={_shown(v)}" for k, v in kwargs.items())]))
        try:
            return fn(*args, **kwargs)
        finally:
            _ptx.end_intrinsic(name)

    name = fn.__name__
    marked: Any = traced
    marked.__name__, marked.__qualname__, marked.__doc__ = name, fn.__qualname__, fn.__doc__
    marked.__module__, marked.__wrapped__, marked.__is_ptx_intrinsic__ = fn.__module__, fn, True
    return traced
