"""The library's functions for numpy and JAX arrays, those of JAX with gradients."""

from __future__ import annotations

from typing import Any

from . import _checks
from ._loss import Loss
from ._runs import run, run_losses, run_norm, run_packed, run_rows


def _is_jax(x: Any) -> bool:
    return hasattr(x, "aval")


def norm(operation: str, x: Any, weight: Any, bias: Any, residual: Any, eps: float, offset: float) -> Any:
    _checks.require_norm(operation, x, weight, bias, residual)
    result = (_jax().norm if _is_jax(x) else run_norm)(operation, eps, offset, x, weight, bias, residual)
    return result if residual is None else tuple(result)


def norm_e4m3(
    operation: str, x: Any, weight: Any, bias: Any, residual: Any, eps: float, offset: float, scale: Any
) -> Any:  # fmt: skip
    _checks.require_norm(operation, x, weight, bias, residual)
    has = _checks.words_of_scale(operation, scale, "float32")
    y, *rest = run_norm(operation, eps, offset, x, weight, bias, residual, has, scale)
    if scale is None:
        return (y, rest[-1].reshape((*x.shape[:-1], 1)), *rest[:-1])
    return (y, *rest) if rest else y


def _jax() -> Any:
    from . import _jax

    return _jax


def softmax(operation: str, x: Any) -> Any:
    _checks.require_rows(operation, x)
    return (_jax().softmax if _is_jax(x) else run_rows)(operation, x)


def gated(operation: str, gate: Any, up: Any) -> Any:
    _checks.require_rows(operation, gate)
    if up is None:
        _checks.require_even(operation, gate)
        return (_jax().packed if _is_jax(gate) else run_packed)(operation, gate)
    _checks.require_like(operation, "up", up, gate, "gate")
    return (_jax().gated if _is_jax(gate) else run_rows)(operation, gate, up)


def gated_e4m3(operation: str, gate: Any, up: Any, scale: Any) -> Any:
    _checks.require_rows(operation, gate)
    shape, has = gate.shape, _checks.words_of_scale(operation, scale, "float32")
    if up is None:
        _checks.require_even(operation, gate)
        shape, has = (*shape[:-1], shape[-1] // 2), ("packed", *has)
        matrices = [gate.reshape(-1, 2, shape[-1])]
    else:
        _checks.require_like(operation, "up", up, gate, "gate")
        matrices = [x.reshape(-1, shape[-1]) for x in (gate, up)]
    result = run(operation, has, (matrices[0].shape[0], shape[-1]), [*matrices, *([] if scale is None else [scale.reshape(1)])])
    return result.reshape(shape) if scale is not None else (result[0].reshape(shape), result[1].reshape((*shape[:-1], 1)))


def cross_entropy(logits: Any, target: Any, loss: Loss, reduction: str) -> Any:
    _checks.require_classes(logits, target, reduction, target.dtype.name in _checks.CLASSES)
    classes, counts = target.reshape(-1), (target != loss.ignore_index).sum().astype("float32")
    matrix = logits.reshape(-1, logits.shape[-1])
    losses = (_jax().losses if _is_jax(logits) else run_losses)(loss, matrix, classes)
    return losses.reshape(target.shape) if reduction == "none" else _quotient(losses.sum(), counts if reduction == "mean" else 1)


def _quotient(total: Any, counts: Any) -> Any:
    """NaN of nothing by nothing, as everywhere, and without numpy's warning."""
    if _is_jax(total):
        return total / counts
    import numpy

    with numpy.errstate(invalid="ignore", divide="ignore"):
        return total / counts


def cross_entropy_and_gradient(logits: Any, target: Any, loss: Loss, reduction: str) -> Any:
    _checks.require_classes(logits, target, reduction, target.dtype.name in _checks.CLASSES)
    classes = target.reshape(-1)
    counts = (classes != loss.ignore_index).sum().astype("float32") if reduction == "mean" else 1
    scale = _quotient((classes * 0 + 1).astype("float32"), counts)
    matrix = logits.reshape(-1, logits.shape[-1])
    losses, gradient = run_losses(loss, matrix, classes, scale.astype("float32"))
    result = losses.reshape(target.shape) if reduction == "none" else _quotient(losses.sum(), counts)
    return result, gradient.reshape(logits.shape)
