"""The trace under way, for those who look inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from . import _ptx

if TYPE_CHECKING:
    from ._ptx import Trace

P = ParamSpec("P")
R = TypeVar("R")


def trace_scope(*, ptx_version: tuple[int, int] | None = None, arch: str = "sm_90a", name: str = "kernel") -> Trace:
    """A trace without a `Kernel` around it: ``with trace_scope() as ctx: …; print(ctx.statements)``."""
    return _ptx.Trace(name, arch, ptx_version)


def get_ctx() -> Trace:
    """The trace of this thread. RuntimeError outside one."""
    return _ptx.active_trace()


def _shown(value: object) -> str:
    name = getattr(value, "name", None)
    text = name if isinstance(name, str) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def intrinsic(fn: Callable[P, R]) -> Callable[P, R]:
    """Marks a helper: in a trace, comments say where what it wrote begins and ends."""

    def traced(*args: P.args, **kwargs: P.kwargs) -> R:
        if not _ptx.is_tracing():
            return fn(*args, **kwargs)
        _ptx.comment(f"BEGIN {name}({', '.join([*map(_shown, args), *(f'{k}={_shown(v)}' for k, v in kwargs.items())])})")
        result = fn(*args, **kwargs)
        _ptx.comment(f"END {name}")
        return result

    name = fn.__name__
    marked: Any = traced
    marked.__name__, marked.__qualname__, marked.__doc__ = name, fn.__qualname__, fn.__doc__
    marked.__module__, marked.__wrapped__, marked.__is_ptx_intrinsic__ = fn.__module__, fn, True
    return traced
