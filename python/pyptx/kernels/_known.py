"""Gradients of torch calls like earlier ones: autograd functions whose forward and backward are launches that are known.

A call of the library that torch differentiates costs the host more than the GPU at small shapes. What decides its kernels is
looked up once, by `_torch`; what stands here is run by each call, and no more than it needs. Whatever a backward meets that is
not as it was bound for (a gradient whose elements lie apart, a second derivative that is asked for) goes the ordinary way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

Step = tuple[Any, Any]  # a plan, and its scalars as it takes them
PLAIN = (torch.Tensor, torch.nn.Parameter)


def plainly(tensors: Sequence[Any], in_one_piece: bool) -> bool | None:
    """Of plain tensors, 16 bytes aligned, whether one of them needs a gradient; None where they are others, or inside torch.func,
    or lie in pieces."""
    needs_gradient, places = False, 0
    try:
        for x in tensors:
            if type(x) not in PLAIN or (in_one_piece and not x.is_contiguous()):
                return None
            if x.requires_grad:
                needs_gradient = True
            places |= x.data_ptr()
    except RuntimeError:  # inside torch.func
        return None
    return None if places & 15 else needs_gradient


def is_as_bound(*gradients: Any) -> bool:
    """Whether the launches that are known take them. No gradient of them is asked for."""
    return not torch.is_grad_enabled() and plainly(gradients, True) is not None


class Call:
    """What one kind of call launches. `backward_steps` binds what the backward does, when it is first asked for; `otherwise` is
    the ordinary backward, of the context."""

    __slots__ = ("_bind", "_steps", "forward", "function", "otherwise", "words")

    def __init__(
        self, function: Any, forward: Any, bind: Callable[[], tuple[Step, ...]], otherwise: Callable[..., Any], words: Any = ()
    ) -> None:
        self.function, self.forward, self.otherwise, self.words = function, forward, otherwise, words
        self._bind = bind
        self._steps: tuple[Step, ...] = ()

    def backward_steps(self) -> tuple[Step, ...]:
        if not self._steps:
            self._steps = self._bind()
        return self._steps

    def __call__(self, *tensors: Any) -> Any:
        # What torch's own `apply` does before it, for torch.func and for `setup_context`, is not needed here.
        return super(torch.autograd.Function, self.function).apply(self, *tensors)  # type: ignore[misc]


class Norm(torch.autograd.Function):  # type: ignore[misc]
    """`words`: whether there are a residual, a weight, a bias."""

    @staticmethod
    def forward(ctx: Any, call: Call, *tensors: Any) -> Any:
        ctx.call = call
        plan, packed = call.forward
        result = plan(*tensors, scalars=packed)
        has_residual, has_weight, _ = call.words
        x = result[1] if has_residual else tensors[0]
        if has_weight:
            ctx.save_for_backward(x, tensors[1 + has_residual])
        else:
            ctx.save_for_backward(x)
        return tuple(result) if has_residual else result

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        call = ctx.call
        if not is_as_bound(*gradients):
            return call.otherwise(ctx, *gradients)
        has_residual, has_weight, has_bias = call.words
        saved = ctx.saved_tensors
        (plan, packed), *sums = call.backward_steps()
        result = plan(gradients[0], saved[0], *gradients[1:], *saved[1:], scalars=packed)
        if not sums:
            return (None, result, result) if has_residual else (None, result)
        dx, *partial = result
        plan, packed = sums[0]
        found = plan(*partial, scalars=packed)
        vectors = found if has_weight and has_bias else (found,)
        return (None, dx, dx, *vectors) if has_residual else (None, dx, *vectors)


class Rows(torch.autograd.Function):  # type: ignore[misc]
    """One launch forward, one backward. `words`: whether that is of the result, not of what it was made of."""

    @staticmethod
    def forward(ctx: Any, call: Call, *tensors: Any) -> Any:
        ctx.call = call
        plan, packed = call.forward
        result = plan(*tensors, scalars=packed)
        ctx.save_for_backward(*((result,) if call.words else tensors))
        return result

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        call = ctx.call
        if not is_as_bound(dy):
            return call.otherwise(ctx, dy)
        ((plan, packed),) = call.backward_steps()
        found = plan(dy, *ctx.saved_tensors, scalars=packed)
        return (None, found) if call.words else (None, *found)


class ReducedLoss(torch.autograd.Function):  # type: ignore[misc]
    """The sum or the mean of cross-entropies, `words` the launch that makes it of the losses, and of the number that each loss
    counts with. The backward reads the logits once more."""

    @staticmethod
    def forward(ctx: Any, call: Call, logits: Any, target: Any) -> Any:
        ctx.call = call
        plan, packed = call.forward
        losses = plan(logits, target, scalars=packed)
        plan, packed = call.words
        total, factor = plan(losses, target, scalars=packed)
        ctx.save_for_backward(logits, target, factor)
        return total.squeeze_(0)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        call = ctx.call
        if not is_as_bound(gradient):
            return call.otherwise(ctx, gradient)
        ((plan, packed),) = call.backward_steps()
        logits, target, factor = ctx.saved_tensors
        return None, plan(logits, target, gradient.view(1), factor, scalars=packed)[1], None


__all__ = ["PLAIN", "Call", "Norm", "ReducedLoss", "Rows", "Step", "is_as_bound", "plainly"]
