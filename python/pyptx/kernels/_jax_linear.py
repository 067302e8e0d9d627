"""`linear_cross_entropy` of JAX arrays: its gradients, as rules of JAX's."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ._linear_runs import gradients_of, losses_of
from ._loss import Loss


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def losses(loss: Loss, chunk: int, x: Any, weight: Any, bias: Any, target: Any) -> Any:
    """The loss of each row; the backward makes the logits once more."""
    return losses_of(loss, chunk, x, weight, bias, target)


def _losses_backward(loss: Loss, chunk: int, saved: Any, dy: Any) -> Any:
    x, weight, bias, target = saved
    _, of_x, of_weight, of_bias = gradients_of(loss, chunk, x, weight, bias, target, dy)
    return of_x.astype(x.dtype), of_weight.astype(x.dtype), None if of_bias is None else of_bias.astype(x.dtype), None


losses.defvjp(lambda loss, chunk, *arrays: (losses_of(loss, chunk, *arrays), arrays), _losses_backward)


def _counts(loss: Loss, target: Any) -> Any:
    return (target != loss.ignore_index).sum().astype(jnp.float32)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def total(loss: Loss, mean: bool, chunk: int, x: Any, weight: Any, bias: Any, target: Any) -> Any:
    """The sum of the losses, or their mean; differentiated, the gradients come with them."""
    found = losses_of(loss, chunk, x, weight, bias, target).sum()
    return found / _counts(loss, target) if mean else found


def _total_forward(loss: Loss, mean: bool, chunk: int, x: Any, weight: Any, bias: Any, target: Any) -> Any:
    scale = jnp.ones(target.shape, jnp.float32)
    count = _counts(loss, target) if mean else jnp.float32(1)
    # Gradients of f16 would fall below its least number if they were divided before they are summed.
    found, *gradients = gradients_of(loss, chunk, x, weight, bias, target, scale)
    return found.sum() / count, (count, tuple(gradients), jnp.zeros(0, x.dtype))


def _total_backward(loss: Loss, mean: bool, chunk: int, saved: Any, dy: Any) -> Any:
    count, gradients, like = saved
    # Without a row that counts there is no gradient.
    factor = jnp.where(count > 0, dy / count, 0)
    return *(None if each is None else (each * factor).astype(like.dtype) for each in gradients), None


total.defvjp(_total_forward, _total_backward)
