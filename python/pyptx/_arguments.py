"""What kernels and modules check alike of what they are given."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from . import _ptx

_SUSPENDS = 0x20 | 0x80 | 0x100 | 0x200  # generators, coroutines, those of `types.coroutine`, asynchronous generators


def fail(kind: str, message: str, hint: str = "") -> NoReturn:
    """Raises the error of that kind, at the author's line."""
    _ptx.raise_error(kind, message, hint)


def short(value: object, most: int = 80) -> str:
    """What a message shows of a value, in at most so many characters."""
    try:
        text = repr(value)
    except Exception:
        text = object.__repr__(value)
    return text if len(text) <= most else text[: most - 3] + "…"


def keywords_taken(function: Any) -> frozenset[str] | None:
    """The names of the keywords that a kernel or another function takes; None where it takes any."""
    import inspect  # which takes its time

    function = getattr(function, "forward_kernel", function)  # of a differentiable one: what it is called with
    declared = getattr(function, "_declared", None)
    if declared is not None:
        return frozenset([*declared.template, *declared.dims, *(name for _, name in declared.raw_params)])
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a builtin, which says nothing of itself
        return frozenset()
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return None
    own = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)  # the latter are inputs, without a default
    return frozenset(
        each.name for each in parameters if each.kind in own and (each.kind is own[0] or each.default is not each.empty)
    )


def gradients_of_inputs(given: Any, wanted: int, inputs: int, backward: str) -> tuple[Any, ...]:
    """What a backward kernel gave, as one gradient for each of the first `wanted` inputs. It may give those of other inputs, too,
    which nobody asked for, but none of what is no input."""
    gradients = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if wanted > inputs:
        raise ValueError(f"num_grad_inputs is {wanted}; the call has {inputs} inputs")
    if not wanted <= len(gradients) <= inputs:
        raise ValueError(
            f"the backward kernel gives {len(gradients)} gradients; {wanted} inputs need one: `{backward}` returns one for each "
            "of the first `num_grad_inputs` inputs of the forward kernel, of all where no number is given"
        )
    return gradients[:wanted]


def is_int(value: Any) -> bool:
    """Whether a value is an int, or one of another library; truth values are none."""
    if type(value) is int:
        return True
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        return False
    try:
        value.__index__()  # numpy's arrays have it, and most of them refuse
    except Exception:
        return False
    return True


def as_target(arch: Any) -> str:
    """A target's name; that of this machine's GPU for `auto`."""
    if not isinstance(arch, str):
        fail("unknown_target", f"`arch` is `{short(arch)}`; what fits is a target's name, such as 'sm_90a', or 'auto'")
    return _ptx.detect_arch() if arch == "auto" else arch


def as_version(value: Any) -> tuple[int, int] | None:
    """A PTX version as two ints, or None."""
    if value is None:
        return None
    is_pair = isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and len(value) == 2
    if not is_pair or not all(is_int(part) and 0 <= part < 256 for part in value):
        fail("argument_kind", f"`version` is `{short(value)}`; what fits is a PTX version as two ints, such as `(8, 8)`")
    return int(value[0]), int(value[1])


def version_text(version: tuple[int, int] | None) -> str:
    """A version as messages have it."""
    return "the default PTX version" if version is None else f"PTX {version[0]}.{version[1]}"


def refuse_suspended(what: str, name: str, flags: int) -> None:
    """Refuses a body whose call would not run it, by its code's flags."""
    if flags & _SUSPENDS:
        is_a = "a generator: it has a `yield`" if flags & 0x20 else "asynchronous: it is an `async def`"
        if flags & 0x200:
            is_a = "an asynchronous generator: it is an `async def` with a `yield`"
        elif flags & 0x100:
            is_a = "a coroutine of `types.coroutine`"
        fail(
            "bad_control_flow",
            f"the body of {what} `{name}` is {is_a}; to call it would write nothing",
            f"a {what}'s body is a plain `def` that runs from its first line to its last",
        )


def refuse_not_run(what: str, name: str, result: Any) -> None:
    """Refuses what a body returned that has not run: its flags did not tell, as of one that calls a coroutine."""
    if hasattr(result, "__await__") or hasattr(result, "gi_code") or hasattr(result, "ag_code"):
        if hasattr(result, "close"):
            result.close()
        fail(
            "bad_control_flow",
            f"the body of {what} `{name}` returned {short(result)}, which has not run, so none of it is written",
            f"a {what}'s body is a plain `def` that runs from its first line to its last",
        )


def name_in_module(thing: Any, what: str) -> str:
    """The name by which pickle finds it again: as functions, kernels go to another process by Python module and name."""
    module = sys.modules.get(thing.__module__)
    if module is not None and "<" not in thing.__qualname__:
        found: Any = module
        for name in thing.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is thing:
            qualified: str = thing.__qualname__
            return qualified
    for name, value in vars(module).items() if module is not None else ():
        if value is thing:
            return name
    kind = what.partition(" ")[0]
    fail(
        "argument_kind",
        f"{what} cannot be pickled: module `{thing.__module__}` has no such name for it",
        f"a {kind} goes to another process by its module and name, as Python's functions do: define it at the top of a module, "
        "or make it there with the function that made it here",
    )
