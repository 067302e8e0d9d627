"""The library's functions for JAX arrays: their gradients, as rules of JAX's."""

from __future__ import annotations

import functools
from typing import Any

import jax

from ._loss import Loss
from ._runs import run_losses, run_norm, run_norm_backward, run_packed, run_rows


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def norm(operation: str, eps: float, offset: float, x: Any, weight: Any, bias: Any, residual: Any) -> Any:
    return run_norm(operation, eps, offset, x, weight, bias, residual)


def _norm_forward(operation: str, eps: float, offset: float, x: Any, weight: Any, bias: Any, residual: Any) -> Any:
    result = run_norm(operation, eps, offset, x, weight, bias, residual)
    return result, (x if residual is None else result[1], weight, bias, residual is not None)


def _norm_backward(operation: str, eps: float, offset: float, saved: Any, gradient: Any) -> Any:
    x, weight, bias, _ = saved
    dy, of_sum = (gradient[0], gradient[1]) if isinstance(gradient, (tuple, list)) else (gradient, None)
    dx, dweight, dbias = run_norm_backward(operation, eps, offset, dy, of_sum, x, weight, bias is not None)
    return dx, dweight, dbias, dx if of_sum is not None else None


norm.defvjp(_norm_forward, _norm_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def softmax(operation: str, x: Any) -> Any:
    return run_rows(operation, x)


def _softmax_forward(operation: str, x: Any) -> Any:
    y = run_rows(operation, x)
    return y, y


softmax.defvjp(_softmax_forward, lambda operation, y, dy: (run_rows(f"{operation}_backward", dy, y),))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def gated(operation: str, gate: Any, up: Any) -> Any:
    return run_rows(operation, gate, up)


gated.defvjp(
    lambda operation, gate, up: (run_rows(operation, gate, up), (gate, up)),
    lambda operation, saved, dy: tuple(run_rows(f"{operation}_backward", dy, *saved)),
)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def packed(operation: str, x: Any) -> Any:
    return run_packed(operation, x)


packed.defvjp(lambda operation, x: (run_packed(operation, x), x), lambda operation, x, dy: (run_packed(operation, x, dy),))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def losses(loss: Loss, logits: Any, target: Any) -> Any:
    return run_losses(loss, logits, target)


losses.defvjp(
    lambda loss, logits, target: (run_losses(loss, logits, target), (logits, target)),
    # The logits are read once more: nothing of their size is kept but them.
    lambda loss, saved, dy: (run_losses(loss, saved[0], saved[1], dy)[1], None),
)
