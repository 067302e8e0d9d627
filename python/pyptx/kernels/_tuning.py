"""`PYPTX_TUNE=1`: a call of the library on a GPU that is like none before it is tuned first.

What is measured is what `tune` measures: of a call that autograd records, its forward. Nothing is measured while a CUDA graph is
captured or torch.compile traces, nor where every kernel has a tuned recipe already. A problem whose default stays the fastest is
measured once in each process.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

from . import _tune, _tuned

_is_on = False  # while a call is tuned, which calls the library
_seen: set[Any] = set()
_measured: set[_tuned.Problem] = set()


def tuning(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which tunes itself on calls that are new to it."""

    @functools.wraps(function)
    def tuned(*args: Any, **named: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is None or torch.compiler.is_dynamo_compiling() or _is_on or not _is_measurable(torch, args, named):
            return function(*args, **named)
        key = (function.__name__, *(_kind_of(torch, x) for x in (*args, *named.values())), *named)
        if key not in _seen:
            _seen.add(key)
            _tune_call(function, args, named)
        return function(*args, **named)

    return tuned


def _is_measurable(torch: Any, args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether a call is one of tensors on a GPU, and not captured."""
    tensors = [x for x in (*args, *named.values()) if isinstance(x, torch.Tensor)]
    return bool(tensors) and all(x.is_cuda for x in tensors) and not torch.cuda.is_current_stream_capturing()


def _kind_of(torch: Any, x: Any) -> Any:
    """What decides the kernel, of an argument."""
    if isinstance(x, torch.Tensor):
        return x.shape, x.stride(), x.dtype, x.data_ptr() & 15
    return x if x.__hash__ is not None else repr(x)


def _tune_call(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> None:
    global _is_on
    _is_on = True
    try:
        with _tuned.asking() as asked:
            function(*args, **named)
        known = _tuned.entries()
        kinds = {_tuned.bucket(problem) for problem in asked}
        if kinds - known.keys() - _measured:
            _measured.update(kinds)
            _tune.tune(function, *args, **named)
    except RuntimeError as error:  # such as memory for copies of the arguments: the call itself may do well
        warnings.warn(f"PYPTX_TUNE=1: `{function.__name__}` is not tuned: {error}", RuntimeWarning, stacklevel=4)
    finally:
        _is_on = False
