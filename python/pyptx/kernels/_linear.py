"""`linear_cross_entropy`: its chunks, what its arguments must be, and the function of numpy and JAX arrays."""

from __future__ import annotations

from typing import Any

from .. import _ptx
from . import _checks
from ._linear_runs import losses_of
from ._loss import Loss
from ._product_runs import name_of

LOGITS = 1 << 30  # bytes of logits at once, about
STEP = 256  # a chunk's rows are a multiple of this, where it is not said


def rows_of_chunk(classes: int, chunk: int | None) -> int:
    """Rows whose logits are in memory at once. ValueError for a number below 1."""
    if chunk is None:
        return max(STEP, LOGITS // (2 * classes) // STEP * STEP)
    if not isinstance(chunk, int) or chunk < 1:
        _ptx.raise_error("argument_kind", f"`linear_cross_entropy`: `chunk` is {chunk!r}", "what fits is 1 row or more, or None")
    return chunk


def require_linear(x: Any, weight: Any, bias: Any, target: Any, reduction: str, is_half: bool, is_class: bool) -> None:
    """Shapes and types fit together."""
    operation = "linear_cross_entropy"
    _checks.require_classes(x, target, reduction, is_class, operation, "x")
    if len(weight.shape) != 2 or weight.shape[1] != x.shape[-1] or weight.shape[0] < 1:
        _ptx.raise_error(
            "argument_dim",
            f"`{operation}`: `weight` has shape {tuple(weight.shape)} and `x` {tuple(x.shape)}",
            f"what fits is a weight of shape [classes, {x.shape[-1]}]",
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        _ptx.raise_error(
            "argument_dim",
            f"`{operation}`: `bias` has shape {tuple(bias.shape)} and `weight` {tuple(weight.shape)}",
            f"what fits is a bias of shape {(weight.shape[0],)}",
        )
    if not is_half:
        _ptx.raise_error("argument_dtype", f"`{operation}` of {x.dtype} elements", "what fits is float16 or bfloat16")
    for name, other in (("weight", weight), ("bias", bias)):
        if other is not None and other.dtype != x.dtype:
            _checks.refuse_dtype(operation, name, other, x)


def linear_cross_entropy(x: Any, weight: Any, bias: Any, target: Any, loss: Loss, reduction: str, chunk: int | None) -> Any:
    is_half = name_of(x.dtype) in ("float16", "bfloat16")
    require_linear(x, weight, bias, target, reduction, is_half, name_of(target.dtype) in _checks.CLASSES)
    matrix, classes = x.reshape(-1, x.shape[-1]), target.reshape(-1)
    rows = rows_of_chunk(weight.shape[0], chunk)
    if hasattr(x, "aval"):
        from . import _jax_linear

        if reduction != "none":
            return _jax_linear.total(loss, reduction == "mean", rows, matrix, weight, bias, classes)
        losses = _jax_linear.losses(loss, rows, matrix, weight, bias, classes)
    else:
        losses = losses_of(loss, rows, matrix, weight, bias, classes)
    if reduction == "none":
        return losses.reshape(target.shape)
    return losses.sum() / (classes != loss.ignore_index).sum().astype("float32") if reduction == "mean" else losses.sum()
