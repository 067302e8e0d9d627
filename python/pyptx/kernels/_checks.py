"""What arguments of the library's functions must be, and how it is said when they are not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from .. import _ptx


def require_rows(operation: str, x: Any) -> None:
    """`x` is an array that has a last dimension with elements in it."""
    require_arrays(operation, x=x)
    if len(x.shape) < 1 or x.shape[-1] < 1:
        _ptx.raise_error(
            "argument_rank",
            f"`{operation}` of an array of shape {tuple(x.shape)}",
            "what fits has one dimension or more, the last of 1 element or more",
        )
    require_sizes(operation, "x", x.shape)


def require_sizes(operation: str, name: str, shape: Sequence[Any]) -> None:
    """The dimensions of `name` are numbers, and no unknowns of an export: a kernel is chosen and made for them."""
    for axis, size in enumerate(shape):
        if not isinstance(size, int):
            if type(size).__module__.startswith("jax"):
                jax: Any = import_module("jax")
                _ptx.pass_over(jax.__path__[0])  # the author's line is that of the export
            _ptx.raise_error(
                "argument_dim",
                f"dimension {axis} of `{name}` of `{operation}` is open (`{size}`); a kernel is made for sizes that are numbers",
                "export with constant sizes, once for each that is needed",
            )


def require_like(operation: str, name: str, other: Any, x: Any, what: str = "x") -> None:
    """`other` has the shape of `x`."""
    require_arrays(operation, **{name: other})
    if tuple(other.shape) != tuple(x.shape):
        _ptx.raise_error(
            "argument_dim",
            f"`{operation}`: `{name}` has shape {tuple(other.shape)} and `{what}` {tuple(x.shape)}",
            "what fits is one shape for both",
        )
    if other.dtype != x.dtype:
        refuse_dtype(operation, name, other, x, what)


def require_vector(operation: str, name: str, vector: Any, x: Any) -> None:
    """`vector` is one row of `x`."""
    require_arrays(operation, **{name: vector})
    if tuple(vector.shape) != (x.shape[-1],):
        _ptx.raise_error(
            "argument_dim",
            f"`{operation}`: `{name}` has shape {tuple(vector.shape)} and `x` {tuple(x.shape)}",
            f"what fits is a `{name}` of shape {(x.shape[-1],)}",
        )
    if vector.dtype != x.dtype:
        refuse_dtype(operation, name, vector, x)


def require_norm(operation: str, x: Any, weight: Any, bias: Any, residual: Any) -> None:
    """What a norm takes fits together."""
    require_rows(operation, x)
    if residual is not None:
        require_like(operation, "residual", residual, x)
    if weight is not None:
        require_vector(operation, "weight", weight, x)
    if bias is not None:
        require_vector(operation, "bias", bias, x)


def refuse_dtype(operation: str, name: str, other: Any, x: Any, what: str = "x") -> None:
    if str(other.dtype).removeprefix("torch.") == str(x.dtype).removeprefix("torch."):
        _ptx.raise_error(
            "argument_kind",
            f"`{operation}`: `{name}` is a {_class_of(other)} and `{what}` a {_class_of(x)}",
            f"what fits is one library for both: convert `{name}`",
        )
    _ptx.raise_error(
        "argument_dtype",
        f"`{operation}`: `{name}` is {other.dtype} and `{what}` {x.dtype}",
        f"what fits is one element type for both: convert `{name}`",
    )


def _class_of(x: Any) -> str:
    return f"{type(x).__module__.partition('.')[0]}.{type(x).__qualname__}"


def require_arrays(operation: str, **named: Any) -> None:
    """Each is an array, or None. TypeError for a list or a number."""
    for name, x in named.items():
        if x is not None and not (hasattr(x, "dtype") and hasattr(x, "shape")):
            _ptx.raise_error(
                "argument_kind",
                f"`{operation}`: `{name}` is a {type(x).__name__}",
                "what fits is a numpy array, a torch tensor or a JAX array",
            )


def number(operation: str, name: str, value: Any) -> float:
    """A number of the host. TypeError for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError):
        _ptx.raise_error("argument_kind", f"`{operation}`: `{name}` is {value!r}", "what fits is a number")


def require_even(operation: str, x: Any) -> None:
    """The last dimension of `x` is a gate and as much again."""
    if x.shape[-1] % 2:
        _ptx.raise_error(
            "argument_dim",
            f"`{operation}` without `up` of an array of shape {tuple(x.shape)}",
            "its last dimension has the gate, then as many elements of `up`: an even number",
        )


CLASSES = ("int64", "int32")  # what the numbers of classes may be


def require_classes(
    logits: Any, target: Any, reduction: str, is_class: bool, operation: str = "cross_entropy", name: str = "logits"
) -> None:
    """`target` has the number of a class for each row of `logits`; `is_class`: it is of a type for that."""
    require_rows(operation, logits)
    if tuple(target.shape) != tuple(logits.shape[:-1]):
        _ptx.raise_error(
            "argument_dim",
            f"`{operation}`: `target` has shape {tuple(target.shape)} and `{name}` {tuple(logits.shape)}",
            f"what fits is a target of shape {tuple(logits.shape[:-1])}: "
            + ("classes are the last dimension" if name == "logits" else "a class for each row"),
        )
    if not is_class:
        _ptx.raise_error("argument_dtype", f"`{operation}`: `target` is {target.dtype}", "what fits is int64 or int32")
    if reduction not in ("mean", "sum", "none"):
        _ptx.raise_error("argument_kind", f"`{operation}`: `reduction` is {reduction!r}", "what fits is 'mean', 'sum' or 'none'")


def words_of_scale(operation: str, scale: Any, f32: Any) -> tuple[str, ...]:
    """What a kernel has that leaves e4m3 numbers: multiples of `scale`, or of scales that it leaves too. TypeError for another
    type than `f32`, ValueError for more than one number."""
    if scale is None:
        return ("e4m3",)
    if getattr(scale, "dtype", None) != f32:
        kind = getattr(scale, "dtype", type(scale).__name__)
        _ptx.raise_error("argument_dtype", f"`{operation}`: `scale` is {kind}", "what fits is an array of one float32")
    if math.prod(scale.shape) != 1:
        _ptx.raise_error(
            "argument_dim", f"`{operation}`: `scale` has shape {tuple(scale.shape)}", "what fits is one number, or no `scale`"
        )
    return ("e4m3", "given")
