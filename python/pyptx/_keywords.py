"""Functions whose keywords are those of something else, and stand in their signature all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
Keywords = Mapping[str, tuple[Any, str]]  # default and annotation


def keywords_of(function: Any, *, after: str) -> Keywords:
    """The parameters of a function behind one, which may all be given by name."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = function.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(positional) : code.co_argcount], positional, strict=True))
    defaults.update(function.__kwdefaults__ or {})
    return {name: (defaults[name], function.__annotations__[name]) for name in names[names.index(after) + 1 :]}


def with_keywords(keywords: Keywords) -> Callable[[F], F]:
    """Gives a function with `**` these keywords in its place: whoever looks at it sees them with their defaults, and any other
    is Python's error. A type checker is told by the annotation of the `**`, or by overloads."""

    def spell_out(function: Any) -> Any:
        code = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        positional, named = code.co_varnames[: code.co_argcount], (*code.co_varnames[code.co_argcount : count], *keywords)
        head = ", ".join((*positional, "*", *named))
        given = ", ".join((*positional, *(f"{name}={name}" for name in named)))
        scope = {"function": function}
        text = f"def {function.__name__}({head}):\n    return function({given})"
        exec(compile(text, __file__, "exec"), scope)  # a frame of this package: no author's line
        made: Any = scope[function.__name__]
        made.__module__, made.__qualname__, made.__doc__ = function.__module__, function.__qualname__, function.__doc__
        made.__defaults__ = function.__defaults__
        made.__kwdefaults__ = {**(function.__kwdefaults__ or {}), **{name: default for name, (default, _) in keywords.items()}}
        annotations = {name: function.__annotations__[name] for name in code.co_varnames[:count] if name != "self"}
        annotations |= {name: annotation for name, (_, annotation) in keywords.items()}
        made.__annotations__ = {**annotations, "return": function.__annotations__["return"]}
        return made

    return spell_out
