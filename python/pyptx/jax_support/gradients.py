"""Gradients under JAX: of a kernel and its backward, and the error where a kernel that has no backward is differentiated."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from .._arguments import gradients_of_inputs, keywords_taken
from ..errors import from_diagnostic
from .sharding import all_varying

_OUR_FOLDER = __file__.rsplit("/", 2)[0]
_lock = threading.RLock()
_signatures_are_known = False


def differentiated(what: str) -> Callable[[Any, Any], NoReturn]:
    """The rule of differentiation of what has none."""
    jax: Any = import_module("jax")
    frame, folders = sys._getframe(), (_OUR_FOLDER, *jax.__path__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(folders):
        frame = frame.f_back
    where = (frame.f_code.co_filename, frame.f_lineno)

    def differentiate(primals: Any, tangents: Any) -> NoReturn:
        message = f"{what}; it has no backward"
        hint = (
            "hint: wrap the kernel and its backward with `pyptx.differentiable_kernel(forward, backward)`, or take its inputs "
            "through `jax.lax.stop_gradient`"
        )
        text = f"error: {message}  [argument_gradient]\n  --> {where[0]}:{where[1]}\n  = {hint}"
        raise from_diagnostic("argument_gradient", "RuntimeError", message, *where, [hint], text)

    return differentiate


class _Signature(tuple[Any, ...]):
    """Shapes and dtypes of a call's inputs and outputs, which JAX is to carry from forward to backward as they are."""


def _teach_jax_signatures(jax: Any) -> None:
    global _signatures_are_known
    with _lock:
        if not _signatures_are_known:
            jax.tree_util.register_pytree_node(_Signature, lambda s: ((), tuple(s)), lambda values, _: _Signature(values))
            _signatures_are_known = True


def differentiable_kernel_jax(
    forward_kernel: Callable[..., Any],
    backward_kernel: Callable[..., Any],
    *,
    save_for_backward: Sequence[int] | None = None,
    num_grad_inputs: int | None = None,
) -> Callable[..., Any]:
    """A function of JAX arrays with a gradient (`jax.custom_vjp`): `forward_kernel(*inputs)` forward, `backward_kernel(*saved,
    *grad_outputs)` backward, which gives one gradient, or None, for each of the first `num_grad_inputs` inputs (default: all).
    `save_for_backward` are the indices of the inputs to save (default: all). Keywords go to the forward
    kernel, and to the backward kernel those that it takes. Inputs of integers have no gradient, whatever the
    backward kernel gives. Gradients of gradients exist when the backward kernel is differentiable itself. IndexError for an
    index that no input has; ValueError for a gradient of another shape than its input, and for too many or too few."""
    jax: Any = import_module("jax")
    numpy: Any = import_module("numpy")
    _teach_jax_signatures(jax)

    def signature(values: Any) -> _Signature:
        return _Signature((jax.numpy.shape(x), jax.numpy.result_type(x)) for x in values)

    of_backward, backward_name = keywords_taken(backward_kernel), getattr(backward_kernel, "__name__", "backward")

    def run(keywords: dict[str, Any], *inputs: Any) -> Any:
        return forward_kernel(*inputs, **keywords)

    def forward(keywords: dict[str, Any], *inputs: Any) -> Any:
        chosen = range(len(inputs)) if save_for_backward is None else save_for_backward
        saved = tuple(inputs[i] for i in chosen)
        outputs = call(keywords, *inputs)  # for gradients of gradients: JAX differentiates this function then
        listed = outputs if isinstance(outputs, tuple) else (outputs,)
        return outputs, (saved, signature(inputs), signature(listed))

    def as_output(gradient: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """Of an output of integers JAX has a gradient without values; the kernel takes one of the output's type."""
        return jax.numpy.zeros(shape, dtype) if gradient.dtype == jax.dtypes.float0 else gradient

    def as_input(i: int, gradient: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if gradient is None or not jax.numpy.issubdtype(dtype, numpy.inexact):
            return None
        if gradient.shape != shape:
            raise ValueError(f"the backward kernel gives a gradient of shape {gradient.shape} for input {i}, of shape {shape}")
        return gradient.astype(dtype)

    def backward(keywords: dict[str, Any], residuals: Any, cotangents: Any) -> tuple[Any, ...]:
        saved, of_inputs, of_outputs = residuals
        listed = cotangents if isinstance(cotangents, tuple) else (cotangents,)
        grad_outputs = [as_output(g, *of) for g, of in zip(listed, of_outputs, strict=True)]
        own = {key: value for key, value in keywords.items() if of_backward is None or key in of_backward}
        wanted = len(of_inputs) if num_grad_inputs is None else num_grad_inputs
        gradients = gradients_of_inputs(backward_kernel(*saved, *grad_outputs, **own), wanted, len(of_inputs), backward_name)
        given = [as_input(i, g, *of) for i, (g, of) in enumerate(zip(gradients, of_inputs[:wanted], strict=True))]
        return (*given, *(None,) * (len(of_inputs) - len(given)))

    call: Any = jax.custom_vjp(run, nondiff_argnums=(0,))  # keywords are constants
    call.defvjp(forward, backward)

    def differentiable(*inputs: Any, **keywords: Any) -> Any:
        return call(keywords, *all_varying(inputs))

    vars(differentiable).update(forward_kernel=forward_kernel, backward_kernel=backward_kernel)
    return differentiable
