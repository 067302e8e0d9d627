"""Sizes: grids and blocks of up to three, and functions of a kernel's dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._arguments import fail, is_int, short

Dims3 = tuple[int, int, int]

MAX_SIZE = (1 << 63) - 1  # of a dimension
VARARGS, VARKEYWORDS = 0x04, 0x08  # of a code object's flags


def dims3(value: Any, what: str) -> Dims3:
    """One to three ints, the missing ones 1."""
    items = (value,) if is_int(value) else value
    are_ints = isinstance(items, Sequence) and not isinstance(items, (str, bytes)) and all(map(is_int, items))
    if not are_ints or not 1 <= len(items) <= 3:
        fail("launch_config" if are_ints else "argument_kind", f"the {what} is `{short(value)}`; what fits is one to three ints")
    x, y, z = (*map(int, items), *(1,) * (3 - len(items)))
    if min(x, y, z) < 1 or max(x, y, z) >= 1 << 32:
        fail("launch_config", f"the {what} is `{value!r}`; each of its sizes is at least 1, and below 2^32")
    return x, y, z


def size_of(value: Any, dimension: str, kernel: str) -> int:
    """The size of a dimension of a kernel."""
    if not is_int(value) or not 0 <= int(value) <= MAX_SIZE:
        kind = "argument_dim" if is_int(value) else "argument_kind"
        fail(
            kind,
            f"dimension `{dimension}` of kernel `{kernel}` is `{short(value)}`; what fits is an int from 0 to 2^63 - 1",
        )
    return int(value)


def _signature(fn: Callable[..., Any]) -> tuple[list[str], list[str], set[str], int]:
    """Parameters by position, those by keyword alone, those of both that have a default, and flags as a code object has them."""
    code = getattr(fn, "__code__", None)
    if code is not None:
        count = code.co_argcount
        names = list(code.co_varnames[1 if hasattr(fn, "__self__") else 0 : count])
        only = list(code.co_varnames[count : count + code.co_kwonlyargcount])
        defaults = getattr(fn, "__defaults__", None) or ()
        return names, only, {*names[len(names) - len(defaults) :], *(getattr(fn, "__kwdefaults__", None) or ())}, code.co_flags
    import inspect

    names, only, optional, flags = [], [], set(), 0
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            flags |= VARARGS if parameter.kind == parameter.VAR_POSITIONAL else VARKEYWORDS
            continue
        (only if parameter.kind == parameter.KEYWORD_ONLY else names).append(parameter.name)
        if parameter.default is not parameter.empty:
            optional.add(parameter.name)
    return names, only, optional, flags


def call_with_sizes(fn: Callable[..., Any], values: Mapping[str, Any], dims: Sequence[str], what: str) -> Any:
    """What a function of the sizes gives. Its parameters are names of `values`; when one without a default is none of them, those
    that are no template parameters stand for the dimensions by position, in the order in which the specs name them."""
    names, only, optional, flags = _signature(fn)
    if flags & VARKEYWORDS and not names:
        return fn(**values)
    keywords = {name: values[name] for name in only if name in values}
    if not flags & VARARGS and all(name in values or name in optional for name in names):
        given = [name for name in names if name in values]
        # a parameter left to its default ends what can be given by position
        plain = names[: next((i for i, name in enumerate(names) if name not in values), len(names))]
        return fn(*(values[name] for name in plain), **{name: values[name] for name in given if name not in plain}, **keywords)

    said = f"the {what} is a function of {', '.join(f'`{name}`' for name in names) or 'its arguments'}"
    sizes = [name for name in dims if name in values]
    known = ", ".join(f"`{name}`" for name in sizes) or "none"
    by_position = [name for name in names if (name in dims or name not in values) and name not in optional]
    if len(by_position) > len(sizes):
        fail("launch_config", f"{said}; the dimensions are {known}", "name its parameters as the dimensions are named")
    for name, dim in zip(by_position, sizes, strict=False):
        if name in dims and name != dim:
            fail(
                "launch_config",
                f"{said}, not all of them dimensions, so they stand for {known} by position: `{name}` would be `{dim}`",
                "name its parameters as the dimensions are named",
            )
    places = iter(sizes)
    arguments = []
    for name in names:
        if name in by_position:
            arguments.append(values[next(places)])
        elif name in values and name not in optional:
            arguments.append(values[name])
        else:
            break
    if flags & VARARGS:
        arguments += [values[name] for name in places]
    return fn(*arguments, **keywords)
