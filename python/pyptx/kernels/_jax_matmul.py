"""`matmul` of JAX arrays: its gradient, as a rule of JAX's."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ._product_runs import product
from ._products import Shape, shape_of

_ACTIVATIONS: dict[str | None, Callable[[Any], Any]] = {
    None: lambda x: x, "relu": jax.nn.relu, "silu": jax.nn.silu, "gelu": functools.partial(jax.nn.gelu, approximate=False),
    "gelu_tanh": functools.partial(jax.nn.gelu, approximate=True),
}  # fmt: skip


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2, 3, 4))
def matmul(
    shape: Shape, activation: str | None, out: str, gated: bool, alpha: float, a: Any, b: Any, bias: Any, residual: Any
) -> Any:
    return product(shape, a, b, bias, activation, residual, out, gated, alpha)


def _after(shape: Shape, activation: str | None, gated: bool, sums: Any) -> Any:
    """What becomes of f32 sums."""
    if not gated:
        return _ACTIVATIONS[activation](sums)
    return _ACTIVATIONS[activation](sums[..., : shape.n]) * sums[..., shape.n :]


def _forward(
    shape: Shape, activation: str | None, out: str, gated: bool, alpha: float, a: Any, b: Any, bias: Any, residual: Any
) -> Any:
    if activation is None and not gated:
        return product(shape, a, b, bias, None, residual, out, alpha=alpha), (a, b, bias is not None, residual is not None, None)
    # what the activation is of has to be kept
    sums = product(shape_of(a.shape, b.shape), a, b, bias, None, None, "float32", alpha=alpha)
    y = _after(shape, activation, gated, sums)
    kept = (a, b, bias is not None, residual is not None, sums)
    return (y if residual is None else y + residual.astype(y.dtype)).astype(out), kept


def _rows(x: Any) -> Any:
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _backward(shape: Shape, activation: str | None, out: str, gated: bool, alpha: float, kept: Any, dy: Any) -> Any:
    a, b, has_bias, has_residual, sums = kept
    of_sums = dy
    if sums is not None:
        (of_sums,) = jax.vjp(functools.partial(_after, shape, activation, gated), sums)[1](dy.astype(jnp.float32))
    half = of_sums.astype(a.dtype)
    right = b.swapaxes(-1, -2)
    da = product(shape_of(half.shape, right.shape), half, right, None, None, None, a.dtype.name, alpha=alpha)
    left, gradient = (a, half) if shape.batched else (_rows(a), _rows(half))
    left = left.swapaxes(-1, -2)
    db = product(shape_of(left.shape, gradient.shape), left, gradient, None, None, None, b.dtype.name, alpha=alpha)
    dbias = _rows(of_sums).sum(0).astype(a.dtype) if has_bias else None
    return da, db, dbias, dy.astype(a.dtype) if has_residual else None


matmul.defvjp(_forward, _backward)
