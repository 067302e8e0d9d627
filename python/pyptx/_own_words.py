"""Errors of arguments that do not fit, said in our words by functions written in Python. (The core does it for its own.)"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import _ptx
from ._arguments import short
from ._identity import is_authors_file
from .errors import PtxError

_RAW = (TypeError, AttributeError, OverflowError, RecursionError)


def _shown(value: object) -> str:
    return short(value, 60)


def _is_ours(error: BaseException) -> bool:
    """Whether no function of the author's had a part in an exception, which then came of the values that were given."""
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<") and is_authors_file(file):
            return False
        traceback = traceback.tb_next
    return True


def _in_own_words(function: Callable[..., Any], shown_name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except _RAW as error:
            if isinstance(error, PtxError) or type(error) not in _RAW or not _is_ours(error):
                raise
            import inspect

            given = ", ".join([*map(_shown, args), *(f"{name}={_shown(value)}" for name, value in kwargs.items())])
            message = f"`{shown_name}({given})` does not fit: {error}; what fits is `{shown_name}{inspect.signature(function)}`"
            cause = error
        try:
            _ptx.raise_error("argument_kind", message)
        except PtxError as said:
            raise said from cause

    return checked


def speak_in_own_words(namespace: dict[str, Any], *names: str) -> None:
    """Makes these functions of a module raise our errors where an argument's operation would raise Python's."""
    for name in names:
        namespace[name] = _in_own_words(namespace[name], name)


def show_as_of(module: str, *things: Any) -> None:
    """Makes functions and classes say that they are of the module that users import them from, and pickles name it."""
    for thing in things:
        thing.__module__ = module
