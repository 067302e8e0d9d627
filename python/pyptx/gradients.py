"""Kernels with gradients, of torch tensors and of JAX arrays alike."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import NoneType
from typing import Any

from . import _ptx, jax_support, torch_support

__all__ = ["differentiable_kernel"]


def differentiable_kernel(
    forward_kernel: Callable[..., Any],
    backward_kernel: Callable[..., Any],
    *,
    save_for_backward: Sequence[int] | None = None,
    num_grad_inputs: int | None = None,
) -> Callable[..., Any]:
    """A function with a gradient: `forward_kernel(*inputs)` forward, `backward_kernel(*saved, *grad_outputs)` backward, which
    gives one gradient for each of the first `num_grad_inputs` inputs (default: all). `save_for_backward` are the indices of the
    inputs to save (default: all). Keywords of a call (template values, sizes, scalars) go to the forward kernel, and to the
    backward kernel those that it takes. Called with torch tensors it is a `torch.autograd.Function`, with JAX arrays a
    `jax.custom_vjp`; numpy arrays, which have no gradients, go to `forward_kernel`. Gradients of gradients exist when the
    backward kernel is differentiable itself. IndexError for an index that no input has; ValueError for too many or too few
    gradients; TypeError for torch tensors beside JAX arrays."""
    for kernel, what in ((forward_kernel, "forward_kernel"), (backward_kernel, "backward_kernel")):
        if not callable(kernel):
            _ptx.raise_error(
                "argument_kind", f"`{what}` of `differentiable_kernel` is `{kernel!r}`; what fits is a kernel or another function"
            )
    if not isinstance(save_for_backward, (NoneType, list, tuple)) or not all(map(_is_index, save_for_backward or ())):
        _ptx.raise_error(
            "argument_kind", f"`save_for_backward` is `{save_for_backward!r}`; what fits is a list of the indices of inputs"
        )
    if num_grad_inputs is not None and not (_is_index(num_grad_inputs) and 0 <= num_grad_inputs < 1 << 31):
        _ptx.raise_error("argument_kind", f"`num_grad_inputs` is `{num_grad_inputs!r}`; what fits is a number of inputs")
    return _Differentiable(forward_kernel, backward_kernel, save_for_backward, num_grad_inputs)


class _Differentiable:
    """What `differentiable_kernel` gives."""

    def __init__(
        self,
        forward_kernel: Callable[..., Any],
        backward_kernel: Callable[..., Any],
        save_for_backward: Sequence[int] | None,
        num_grad_inputs: int | None,
    ) -> None:
        self.forward_kernel, self.backward_kernel = forward_kernel, backward_kernel
        self.options: dict[str, Any] = {"save_for_backward": save_for_backward, "num_grad_inputs": num_grad_inputs}
        self.__name__ = getattr(forward_kernel, "__name__", "kernel")
        self._ways: dict[str, Callable[..., Any]] = {}
        if "torch" in sys.modules:
            self._way("torch")  # now: Dynamo, which may trace the first call, makes no classes

    def _way(self, library: str) -> Callable[..., Any]:
        """The function of one library, made when it is first needed: the other may not be installed."""
        if library not in self._ways:
            make = {"torch": torch_support.differentiable_kernel, "jax": jax_support.differentiable_kernel_jax}[library]
            self._ways[library] = make(self.forward_kernel, self.backward_kernel, **self.options)
        return self._ways[library]

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        has_torch = any(map(_is_torch_tensor, inputs))
        if has_torch and not any(map(_is_jax_array, inputs)):
            return self._way("torch")(*inputs, **keywords)
        if has_torch:
            _ptx.raise_error(
                "argument_kind",
                "a differentiable kernel is called with torch tensors and JAX arrays; a call takes one kind",
            )
        if any(map(_is_jax_array, inputs)):
            return self._way("jax")(*inputs, **keywords)
        return self.forward_kernel(*inputs, **keywords)

    def __repr__(self) -> str:
        backward = getattr(self.backward_kernel, "__name__", repr(self.backward_kernel))
        return f"<differentiable kernel {self.__name__}, backward {backward}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(differentiable_kernel, **self.options), (self.forward_kernel, self.backward_kernel)


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# By what they have, not by their class: Dynamo, which traces this, follows neither `sys.modules` nor JAX's classes.


def _is_torch_tensor(x: Any) -> bool:
    return hasattr(x, "requires_grad")


def _is_jax_array(x: Any) -> bool:
    return hasattr(x, "aval")
