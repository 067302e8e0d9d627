"""Functions of the library that torch differentiates, also inside torch.func."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .. import _ptx
from ..torch_support.refusals import refuse_argument

_is_compiling = torch.compiler.is_dynamo_compiling


def in_both_forms(operation: str, cls: Any) -> Callable[..., Any]:
    """Of a class with `forward` of the inputs, `setup_context` and `backward`, as torch.func takes it, the function to call.
    Outside of torch.func it takes the form whose forward has the context, as that one's call costs less."""

    class Eager(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            output = cls.forward(*inputs)
            cls.setup_context(ctx, inputs, output)
            return output

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return cls.backward(ctx, *gradients)

    class Transformed(torch.autograd.Function):  # type: ignore[misc]
        generate_vmap_rule = True  # launches have rules of their own
        forward, setup_context, backward = (staticmethod(getattr(cls, name)) for name in _PARTS)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            refuse_argument(operation, next((i for i, x in enumerate(tangents) if x is not None), 0), "tangent")

    Eager.__name__ = Eager.__qualname__ = Transformed.__name__ = Transformed.__qualname__ = cls.__name__

    def function(*inputs: Any) -> Any:
        if _is_compiling():
            return Eager.apply(*_apart(inputs))
        if torch._C._are_functorch_transforms_active():
            return Transformed.apply(*inputs)
        return Eager.apply(*inputs)

    return function


def _apart(inputs: Sequence[Any]) -> list[Any]:
    """Dynamo takes no tensor twice, as of `geglu(x, x)`."""
    found: list[Any] = []
    tensors: list[Any] = []
    for x in inputs:
        if isinstance(x, torch.Tensor):
            for other in tensors:
                if x is other:
                    x = x.view_as(x)
                    break
            tensors.append(x)
        found.append(x)
    return found


_PARTS = ("forward", "setup_context", "backward")


class _Once(torch.autograd.Function):  # type: ignore[misc]
    """Gives the first `count` tensors back as results of all of them, which have no gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(operation: str, count: int, *tensors: Any) -> Any:
        return tuple(x.view_as(x) for x in tensors[:count])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operation = inputs[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        _ptx.raise_error(
            "argument_gradient",
            f"a gradient of a gradient of `{ctx.operation}` is asked for; its backward has none",
            "write it with torch's own functions where second derivatives are needed",
        )


def once(operation: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A backward of plain kernels. A second derivative is an error where it is asked for, not where the first is."""

    def function_of(gradients_of: Callable[..., Any]) -> Callable[..., Any]:
        def backward(ctx: Any, *gradients: Any) -> Any:
            if _is_compiling() or not torch.is_grad_enabled():
                return gradients_of(ctx, *gradients)
            with torch.no_grad():
                found = gradients_of(ctx, *gradients)
            tensors = [x for x in found if x is not None]
            behind = [x for x in (*ctx.saved_tensors, *gradients) if x is not None]
            results = iter(_Once.apply(operation, len(tensors), *tensors, *behind))
            return tuple([None if x is None else next(results) for x in found])

        return backward

    return function_of


__all__ = ["in_both_forms", "once"]
