"""`grouped_matmul` of JAX arrays: its gradient, as a rule of JAX's."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._grouped import gradient_of_b, product_of_groups
from ._jax_matmul import _ACTIVATIONS


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def grouped_matmul(activation: str | None, out: str, a: Any, b: Any, offsets: Any) -> Any:
    return product_of_groups(a, b, offsets, activation, out)


def _forward(activation: str | None, out: str, a: Any, b: Any, offsets: Any) -> Any:
    if activation is None:
        return product_of_groups(a, b, offsets, None, out), (a, b, offsets, None)
    sums = product_of_groups(a, b, offsets, None, "float32")  # what the activation is of has to be kept
    return _ACTIVATIONS[activation](sums).astype(out), (a, b, offsets, sums)


def _backward(activation: str | None, out: str, kept: Any, dy: Any) -> Any:
    a, b, offsets, sums = kept
    if sums is not None:
        (dy,) = jax.vjp(_ACTIVATIONS[activation], sums)[1](dy.astype(jnp.float32))
    half = dy.astype(a.dtype)
    da = product_of_groups(half, b.swapaxes(1, 2), offsets, None, a.dtype.name)
    is_of_a_group = jnp.arange(a.shape[0])[:, None] < (offsets[-1] if offsets.shape[0] else 0)
    da = jnp.where(is_of_a_group, da, 0)  # rows behind the last end are not written
    return da, gradient_of_b(a, half, offsets), np.zeros(offsets.shape, jax.dtypes.float0)


grouped_matmul.defvjp(_forward, _backward)
