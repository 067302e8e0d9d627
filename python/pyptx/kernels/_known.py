"""Gradients of torch calls like earlier ones: autograd nodes whose forward and backward are launches that are known.

A call of the library that torch differentiates costs the host more than the GPU at small shapes. What decides its kernels is
looked up once, by `_torch`; what stands here is run by each call, and no more than it needs: by nodes in C++ where these were
made (`pyptx.torch_support.nodes`), else by an autograd function. Whatever a backward meets that is not as it was bound for (a
gradient whose elements lie apart, a second derivative that is asked for) goes the ordinary way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from ..torch_support import nodes

PLAIN = (torch.Tensor, torch.nn.Parameter)
EVERY = (1 << 63) - 1  # of a program's results

Bound = tuple[Any, Any]  # a plan, and its scalars as it takes them
Way = tuple[tuple[int, ...], tuple[int, ...]] | None  # shape and strides by which a kernel takes a tensor; None: as it is


class Step(NamedTuple):
    """A launch of values by their numbers; its outputs are the next values. Without a plan, sums of a tensor's rows."""

    plan: Any
    scalars: Any
    values: tuple[int, ...]
    ways: tuple[Way, ...] | None = None
    outputs: int = 1
    shape: tuple[int, ...] | None = None
    """Of the first output, where it is not the kernel's own."""
    serves: int = EVERY
    """Results that need it, by their bits."""


class Program(NamedTuple):
    """What a forward or a backward comes down to. The first values are those that it is given: a forward the tensors, a backward
    what is saved and the gradients."""

    inputs: int
    steps: tuple[Step, ...]
    results: tuple[int | None, ...]
    """Values; of a backward the gradients of all tensors, None where there is none."""
    saved: tuple[int, ...] = ()
    lies: tuple[Way, ...] = ()
    """Of the first inputs that steps take by another shape and other strides, their own: hooks may have saved them otherwise."""

    def lie_as_bound(self, values: Sequence[Any]) -> bool:
        for x, own in zip(values, self.lies):  # noqa: B905, SIM110 - by each backward
            if own is not None and (x.shape != own[0] or x.stride() != own[1]):
                return False
        return True

    def run(self, values: list[Any], wanted: int = EVERY) -> None:
        """Adds to the values."""
        for plan, scalars, places, ways, outputs, shape, serves in self.steps:
            if not serves & wanted:
                values.extend([None] * outputs)
                continue
            if plan is None:
                rows = values[places[0]]
                values.append((rows.flatten(0, -2) if rows.dim() > 2 else rows).sum(0))
                continue
            if ways is None:
                found = plan(*[values[i] for i in places], scalars=scalars)
            else:
                taken = [values[i] if way is None else values[i].as_strided(*way) for i, way in zip(places, ways)]  # noqa: B905
                found = plan(*taken, scalars=scalars)
            if outputs == 1:
                values.append(found if shape is None else found.view(shape))
            else:
                values.extend(found if shape is None else (found[0].view(shape), *found[1:]))


class Saved(NamedTuple):
    """A context, as an ordinary backward looks at it."""

    saved_tensors: tuple[Any, ...]
    needs_input_grad: tuple[bool, ...]


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


def is_as_bound(gradients: Sequence[Any]) -> bool:
    """Whether the launches that are known take them. No gradient of them is asked for."""
    return not torch.is_grad_enabled() and plainly(gradients, True) is not None


class Call:
    """One kind of call. `bind` gives the backward's program, asked for until it gives one; `otherwise` is the ordinary backward:
    of a context and gradients, the gradients of the tensors."""

    __slots__ = ("_program", "again", "bind", "forward", "otherwise")

    def __init__(self, forward: Program, bind: Callable[[], Program | None], otherwise: Callable[..., tuple[Any, ...]]) -> None:
        self.forward, self.bind, self.otherwise = forward, bind, otherwise
        self._program: Program | None = None
        made = nodes.module()
        # What it is made of knows nothing of this object, which Python would not see that it holds.
        ordinary = functools.partial(_ordinarily, otherwise)
        self.again = _not_known if made is None else functools.partial(made.apply, made.make(forward, bind, ordinary))
        """With tensors, what the call gives; None where it is not like earlier ones, or there are no nodes in C++."""

    def backward(self) -> Program | None:
        if self._program is None:
            self._program = self.bind()
        return self._program

    def __call__(self, *tensors: Any) -> Any:
        """Of tensors that are as they were, one of which needs a gradient."""
        return _apply(self, *tensors)


def _not_known(*tensors: Any) -> None:
    """Where there are no nodes in C++."""


def _ordinarily(
    otherwise: Callable[..., tuple[Any, ...]], saved: tuple[Any, ...], gradients: tuple[Any, ...], needed: tuple[bool, ...]
) -> tuple[Any, ...]:
    return otherwise(Saved(saved, needed), *gradients)


class Known(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, call: Call, *tensors: Any) -> Any:
        ctx.call = call
        program = call.forward
        values = list(tensors)
        program.run(values)
        ctx.save_for_backward(*[values[i] for i in program.saved])
        results = [values[i] for i in program.results]  # type: ignore[index]
        return results[0] if len(results) == 1 else tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        call, (_, *needed) = ctx.call, ctx.needs_input_grad
        saved = ctx.saved_tensors
        program = call.backward() if is_as_bound(gradients) else None
        if program is None or not program.lie_as_bound(saved):
            return (None, *call.otherwise(Saved(saved, tuple(needed)), *gradients))
        wanted = 0
        for bit, is_needed in enumerate(needed):
            wanted |= is_needed << bit
        values = [*saved, *gradients]
        program.run(values, wanted)
        return (None, *[None if i is None else values[i] for i in program.results])


# What torch's own `apply` does before it, for torch.func and for `setup_context`, is not needed here.
_apply = super(torch.autograd.Function, Known).apply

__all__ = ["EVERY", "PLAIN", "Bound", "Call", "Program", "Step", "Way", "is_as_bound", "plainly"]
