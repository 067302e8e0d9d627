"""`linear_cross_entropy` of torch tensors: eager, under `torch.compile`, and with gradients.

a chunk of rows    logits = x weight'  →  their gradient, in their place  →  dx = logits weight
                                                                          →  dweight += logits' x
"""

from __future__ import annotations

from typing import Any

import torch

from ..errors import PtxError
from ..torch_support import state
from ..torch_support.refusals import raise_to_dynamo
from ._differentiated import in_both_forms, once
from ._known import PLAIN
from ._linear import require_linear, rows_of_chunk
from ._loss import Loss, loss_of
from ._products import shape_of
from ._torch_launch import _is_compiling, _needs_gradient, is_wrapped, launch
from ._torch_loss import _CLASSES, cross_entropy, is_reduced_at_once, losses_of, reduced, scale_of
from ._torch_matmul import _HALVES, Epilogue, _product, matmul

Wanted = tuple[bool, bool, bool]  # the gradients of x, weight, bias


_met: set[Any] = set()  # keys of calls whose logits are one chunk, and with gradients few
_FEW = 1 << 24  # bytes of logits that are kept for the backward: to make their gradient beforehand takes the host longer


def linear_cross_entropy(
    x: Any, weight: Any, bias: Any, target: Any, numbers: tuple[Any, Any, Any], reduction: str, chunk: int | None
) -> Any:
    key: Any = None
    differentiated = _needs_gradient(x, weight, bias)
    if not _is_compiling() and not (differentiated and torch._C._are_functorch_transforms_active()):
        key = (x.shape, weight.shape, None if bias is None else bias.shape, target.shape, x.dtype, weight.dtype, target.dtype,
               str(numbers), reduction, chunk, differentiated)  # fmt: skip
        if key in _met:  # two calls that may be like earlier ones
            return cross_entropy(_logits(x, weight, bias), target, *numbers, reduction)
    loss = loss_of("linear_cross_entropy", *numbers)
    require_linear(x, weight, bias, target, reduction, x.dtype in _HALVES, target.dtype in _CLASSES)
    matrix, classes = x.reshape(-1, x.shape[-1]), target.reshape(-1)
    rows = _constant_chunk(slice(weight.shape[0]), chunk) if _is_compiling() else rows_of_chunk(weight.shape[0], chunk)
    # Of f16, gradients that were divided before they are summed would fall below its least number.
    few = not differentiated or (0 < 2 * matrix.shape[0] * weight.shape[0] <= _FEW and x.dtype != torch.float16)
    if key is not None and few and matrix.shape[0] <= rows and (bias is None or bias.dtype == x.dtype):
        if len(_met) > 4096:  # of a program whose sizes never end
            _met.clear()
        _met.add(key)
    if not differentiated:
        losses = _losses(loss, rows, matrix, weight, bias, classes)
        return losses.view(target.shape) if reduction == "none" else reduced(losses, classes, loss, reduction)
    wanted = (_needs_gradient(x), _needs_gradient(weight), _needs_gradient(bias))
    if reduction == "none":
        return _differentiated_losses(loss, rows, wanted, matrix, weight, bias, classes).view(target.shape)
    return _differentiated_total(loss, rows, wanted, reduction == "mean", matrix, weight, bias, classes)[0]


@state.constant
def _constant_chunk(classes: Any, chunk: int | None) -> int:
    """Dynamo runs this, and takes the result for constant."""
    try:
        return rows_of_chunk(classes.stop, chunk)
    except PtxError as error:
        raise_to_dynamo(error)


def _logits(x: Any, weight: Any, bias: Any) -> Any:
    return matmul(x, weight.mT, bias, None, None, None)


def _chunks(rows: int, chunk: int) -> list[tuple[int, int]]:
    # The comparison is what Dynamo guards: a graph of one chunk serves every number of rows up to that.
    return [(0, rows)] if rows <= chunk else [(at, min(at + chunk, rows)) for at in range(0, rows, chunk)]


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _losses(loss: Loss, chunk: int, x: Any, weight: Any, bias: Any, target: Any) -> Any:
    """The loss of each row. A chunk's logits lie where those before it did."""
    parts = []
    chunks = _chunks(x.shape[0], chunk)
    for begin, end in chunks:
        rows, classes = (x, target) if len(chunks) == 1 else (x[begin:end], target[begin:end])
        logits = _logits(rows, weight, bias)
        if _is_compiling() or _needs_gradient(logits):
            parts.append(losses_of(loss, logits, classes))
        else:  # perhaps a call like an earlier one
            parts.append(cross_entropy(logits, classes, *loss, "none"))
    return _joined(parts)


def _gradients(
    loss: Loss, chunk: int, wanted: Wanted, x: Any, weight: Any, bias: Any, target: Any, scale: Any, out_dtype: Any
) -> tuple[Any, Any, Any, Any]:
    """The loss of each row, and the gradients that are wanted, those of the losses being `scale`."""
    losses, of_x, of_weight, of_bias = [], [], None, None
    chunks = _chunks(x.shape[0], chunk)
    for begin, end in chunks:
        rows, classes, of_losses, is_last = x, target, scale, end == chunks[-1][1]
        if len(chunks) > 1:
            rows, classes = x[begin:end], target[begin:end]
            of_losses = scale if isinstance(scale, tuple) else scale[begin:end]
        in_place = _is_compiling() or not torch._C._are_functorch_transforms_active()  # a batch is of new tensors
        each, logits = losses_of(loss, _logits(rows, weight, bias), classes, of_losses, in_place)
        losses.append(each)
        if wanted[0]:  # `matmul`: perhaps a call like an earlier one
            of_x.append(matmul(logits, weight, None, None, None, out_dtype))
        if wanted[1] and len(chunks) == 1:
            of_weight = matmul(logits.mT, rows, None, None, None, out_dtype)
        elif wanted[1]:
            # Sums of chunks are f32; the last one rounds them.
            across, out = logits.mT, out_dtype if is_last else torch.float32
            of_weight = _product(shape_of(across.shape, rows.shape), across, rows, Epilogue(residual=of_weight, out_dtype=out))
        if wanted[2]:
            summed = logits.sum(0, dtype=torch.float32)
            of_bias = summed if of_bias is None else of_bias + summed
        del logits
    return (
        _joined(losses),
        _joined(of_x) if wanted[0] else None,
        of_weight,
        None if of_bias is None else of_bias.to(out_dtype),
    )


class _Losses:
    """Saves its arguments; the backward makes the logits once more."""

    @staticmethod
    def forward(loss: Loss, chunk: int, wanted: Wanted, x: Any, weight: Any, bias: Any, target: Any) -> Any:
        return _losses(loss, chunk, x, weight, bias, target)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.loss, ctx.chunk, ctx.wanted, x, weight, bias, target = inputs
        ctx.save_for_backward(x, weight, bias, target)

    @staticmethod
    @once("linear_cross_entropy")
    def backward(ctx: Any, gradient: Any) -> Any:
        x, weight, bias, target = ctx.saved_tensors
        found = _gradients(ctx.loss, ctx.chunk, ctx.wanted, x, weight, bias, target, gradient.contiguous(), x.dtype)
        return None, None, None, *found[1:], None


_differentiated_losses = in_both_forms("linear_cross_entropy", _Losses)


class _Total:
    """The sum of the losses, or their mean; then for the backward alone the rows that count, where the gradients are to be
    divided by them, and the gradients, which come with the losses. The backward multiplies them where they lie, by a kernel that
    does nothing if it is given 1, and gives them away."""

    @staticmethod
    def forward(loss: Loss, chunk: int, wanted: Wanted, mean: bool, x: Any, weight: Any, bias: Any, target: Any) -> Any:
        # Of f16, gradients that were divided before they are summed would fall below its least number.
        late = x.dtype == torch.float16
        if not late and type(x) in PLAIN and is_reduced_at_once(target):
            reduction = "mean" if mean else "sum"
            scale = scale_of(loss, target, reduction)
            losses, *found = _gradients(loss, chunk, wanted, x, weight, bias, target, scale, x.dtype)
            return reduced(losses, target, loss, reduction), None, *found
        scale = torch.ones(target.shape, dtype=torch.float32, device=x.device)
        counts = (target != loss.ignore_index).sum() if mean else 1
        if mean and not late:
            scale = scale / counts
        losses, *found = _gradients(loss, chunk, wanted, x, weight, bias, target, scale, torch.float32 if late else x.dtype)
        total = losses.sum()
        return total / counts if mean else total, counts if mean and late else None, *found

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.loss, ctx.chunk, ctx.wanted, ctx.mean, x, weight, bias, target = inputs
        _, counts, *ctx.found = output
        ctx.mark_non_differentiable(*[each for each in output[1:] if each is not None])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, weight, bias, target, counts)
        ctx.dtype = x.dtype

    @staticmethod
    @once("linear_cross_entropy")
    def backward(ctx: Any, gradient: Any, *_: Any) -> Any:
        if gradient is None:
            return (None,) * 8
        x, weight, bias, target, counts = ctx.saved_tensors
        found, factor = ctx.found, gradient if counts is None else gradient / counts.clamp(min=1)  # of no row: zeros
        if _is_compiling() or counts is not None or is_wrapped(gradient):
            found = [None if each is None else (each * factor).to(ctx.dtype) for each in found]
        elif found is None:  # a second backward: the gradients were given away, so they are made again
            scale = gradient.expand(target.shape)
            scale = scale / (target != ctx.loss.ignore_index).sum() if ctx.mean else scale.contiguous()
            found = _gradients(ctx.loss, ctx.chunk, ctx.wanted, x, weight, bias, target, scale, ctx.dtype)[1:]
        else:
            ctx.found = None
            for each in found:
                if each is not None:
                    launch("rescale", ("in_place",), [each if each.dim() == 2 else each.view(1, -1)], [gradient.view(1)])
        return None, None, None, None, *found, None


_differentiated_total = in_both_forms("linear_cross_entropy", _Total)


__all__ = ["linear_cross_entropy"]
