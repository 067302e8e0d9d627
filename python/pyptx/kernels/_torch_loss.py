"""Cross-entropy of torch tensors: losses, their sum and their mean, and gradients."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch

from ..torch_support import nodes
from . import _checks
from ._differentiated import in_both_forms, once
from ._known import PLAIN, Bound, Call, Program, Step, plainly
from ._loss import Loss, loss_of
from ._mean import MOST_ROWS, counted, reduced_losses
from ._torch_launch import Scalars, _again, _bound_like, _calls, _is_compiling, _keep, _needs_gradient, _ready, _rows, launch

_CLASSES = (torch.int64, torch.int32)


def cross_entropy(logits: Any, target: Any, ignore_index: Any, smoothing: Any, z_loss: Any, reduction: str) -> Any:
    key: Any = None
    if not _is_compiling():
        key = (logits.shape, logits.dtype, target.shape, target.dtype, ignore_index, smoothing, z_loss, reduction)
        try:
            known = _ready.get(key)
        except TypeError:  # what is no number is told below
            known = None
        if known is not None and known[2] is not None:
            if (total := _total_again(key, known, logits, target)) is not None:
                return total
        elif known is not None and (losses := _again(key, (logits, target))) is not None:
            return losses
    loss = loss_of("cross_entropy", ignore_index, smoothing, z_loss)
    _checks.require_classes(logits, target, reduction, target.dtype in _CLASSES)
    matrix, classes = _rows("cross_entropy", "logits", logits, logits.shape[-1]), target.reshape(-1)
    if _needs_gradient(logits):
        result = _differentiable_loss(loss, matrix, classes, target.shape, reduction)
        if key is not None:
            _keep_loss(key, logits, loss, target, reduction)
        return result
    losses = losses_of(loss, matrix, classes)
    if key is not None:
        _keep_loss(key, logits, loss, target, reduction)
    return losses.view(target.shape) if reduction == "none" else reduced(losses, classes, loss, reduction)


def _total_again(key: Any, known: Any, logits: Any, target: Any) -> Any:
    """The sum or the mean of a call like an earlier one; None where it is not."""
    if nodes.module() is not None and key not in _calls:
        _calls[key] = _call_of_loss(key, known)  # nodes in C++ launch both without a gradient, too
    if logits.requires_grad and torch.is_grad_enabled():
        return _again(key, (logits, target), _call_of_loss)
    if (call := _calls.get(key)) is not None and (total := call.again(logits, target)) is not None:
        return total
    if (losses := known[0].again(known[1], None, logits, target)) is None:
        if plainly((logits, target), True) is None:
            return None
        losses = known[0](logits, target, scalars=known[1])
    return known[2](losses, target, scalars=known[3]).squeeze_(0)


def _keep_loss(key: Any, logits: Any, loss: Loss, target: Any, reduction: str) -> None:
    """Has `_again` know such calls, and what comes after their losses."""
    _keep(key, logits, "cross_entropy", loss.words(False, False, target.dtype == torch.int32), _scalars_of(loss))
    known = _ready.get(key)
    if known is None:
        return
    if reduction == "none":
        _ready[key] = (*known[:2], None, None)
    elif 0 < target.numel() <= MOST_ROWS:
        _ready[key] = (*known[:2], *_reduction_of(target.shape, target.dtype, loss, reduction))
    else:
        del _ready[key]


def _reduction_of(shape: Any, dtype: Any, loss: Loss, reduction: str, has_factor: bool = False) -> Bound:
    kernel = reduced_losses(len(shape), dtype == torch.int32, reduction == "mean", has_factor)
    plan, packed = kernel._bind({"M": math.prod(shape), "ignore_index": loss.ignore_index})
    return plan, packed


def is_reduced_at_once(target: Any) -> bool:
    """Whether a sum or a mean of so many losses is one launch."""
    return not _is_compiling() and type(target) in PLAIN and 0 < target.numel() <= MOST_ROWS


def scale_of(loss: Loss, target: Any, reduction: str) -> tuple[Any, Any]:
    """The gradient of each loss where that of their sum or mean is 1, as two numbers, [1]: 1, and what a loss counts with."""
    plan, packed = _counting_of(target.shape, target.dtype, loss.ignore_index, reduction == "mean")
    return tuple(plan(target.contiguous(), scalars=packed))


@functools.cache
def _counting_of(shape: Any, dtype: Any, ignore_index: int, is_mean: bool) -> Bound:
    kernel = counted(len(shape), dtype == torch.int32, is_mean)
    plan, packed = kernel._bind({"M": math.prod(shape), "ignore_index": ignore_index})
    return plan, packed


def reduced(losses: Any, target: Any, loss: Loss, reduction: str) -> Any:
    """The sum of losses that need no gradient, or their mean over the rows that count; of few rows in one launch."""
    if is_reduced_at_once(target) and type(losses) in PLAIN and losses.shape == target.shape:
        plan, packed = _reduction_of(target.shape, target.dtype, loss, reduction)
        return plan(losses, target.contiguous(), scalars=packed).view(())
    return losses.sum() if reduction == "sum" else losses.sum() / (target != loss.ignore_index).sum()


def _differentiable_loss(loss: Loss, logits: Any, target: Any, shape: Any, reduction: str) -> Any:
    plain = not _is_compiling() and type(logits) in PLAIN and not torch._C._are_functorch_transforms_active()
    if reduction != "none" and plain and 0 < target.numel() <= MOST_ROWS:
        return _differentiated_reduction(loss, reduction, logits, target.contiguous())[0].view(())
    losses = _differentiated_cross_entropy(loss, logits, target)
    if reduction == "none":
        return losses.view(shape)
    return losses.sum() if reduction == "sum" else losses.sum() / (target != loss.ignore_index).sum()


class _ReducedCrossEntropy:
    """Of few rows: the sum or the mean of `_CrossEntropy`'s losses, in one more launch."""

    @staticmethod
    def forward(loss: Loss, reduction: str, logits: Any, target: Any) -> Any:
        plan, packed = _reduction_of(target.shape, target.dtype, loss, reduction, has_factor=True)
        return tuple(plan(losses_of(loss, logits, target), target, scalars=packed))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.loss, _, logits, target = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(logits, target, output[1])

    @staticmethod
    @once("cross_entropy")
    def backward(ctx: Any, gradient: Any, _: Any) -> Any:
        logits, target, factor = ctx.saved_tensors
        _, of_logits = losses_of(ctx.loss, logits, target, (gradient * factor).expand(target.shape).contiguous())
        return None, None, of_logits.view(logits.shape), None


_differentiated_reduction = in_both_forms("cross_entropy", _ReducedCrossEntropy)


def _call_of_loss(key: Any, known: Any) -> Call:
    shape, dtype, of_target, classes, *numbers, reduction = key
    loss = loss_of("cross_entropy", *numbers)

    # logits 0, target 1 → losses 2 → total 3, what each loss counts with 4
    reduction_of = _reduction_of(of_target, classes, loss, reduction, has_factor=True)
    steps = (Step(known[0], known[1], (0, 1)), Step(*reduction_of, (2, 1), None, 2, ()))
    forward = Program(2, steps, (3,), (0, 1, 4))

    def bind() -> Program:
        words = loss.words(True, False, classes == torch.int32, given=True)
        bound, _ = _bound_like("cross_entropy", words, shape, dtype, _scalars_of(loss))
        # logits 0, target 1, factor 2, the total's gradient 3 → losses 4, the logits' gradient 5
        return Program(4, (Step(*bound, (0, 1, 3, 2), (None, None, ((1,), (1,)), None), 2),), (5, None))

    @once("cross_entropy")
    def otherwise(ctx: Any, gradient: Any) -> Any:
        logits, target, factor = ctx.saved_tensors
        scale = (gradient * factor).expand(target.numel()).contiguous()
        _, of_logits = losses_of(loss, logits.view(-1, shape[-1]), target.view(-1), scale)
        return of_logits.view(shape), None

    return Call(forward, bind, otherwise)


def losses_of(loss: Loss, logits: Any, target: Any, scale: Any = None, in_place: bool = False) -> Any:
    """The loss of each row; with the gradients of the losses, `scale`, also that of the logits, where they lie if `in_place`. Two
    numbers, [1] each, are those of all losses, multiplied."""
    given = isinstance(scale, tuple)
    vectors = [target] if scale is None else [target, *scale] if given else [target, scale]
    has = loss.words(scale is not None, in_place, target.dtype == torch.int32, given)
    return launch("cross_entropy", has, [logits], vectors, _scalars_of(loss))


def _scalars_of(loss: Loss) -> Scalars:
    return (("ignore_index", loss.ignore_index), ("smoothing", loss.smoothing), ("z_loss", loss.z_loss))


def cross_entropy_and_gradient(logits: Any, target: Any, loss: Loss, reduction: str) -> Any:
    _checks.require_classes(logits, target, reduction, target.dtype in _CLASSES)
    matrix, classes = _rows("cross_entropy", "logits", logits.detach(), logits.shape[-1]), target.reshape(-1)
    scale = torch.ones(classes.shape, dtype=torch.float32, device=logits.device)
    if reduction == "mean":
        counts = (classes != loss.ignore_index).sum()
        losses, gradient = losses_of(loss, matrix, classes, scale / counts)
        return losses.sum() / counts, gradient.view(logits.shape)
    losses, gradient = losses_of(loss, matrix, classes, scale)
    return losses.view(target.shape) if reduction == "none" else losses.sum(), gradient.view(logits.shape)


class _CrossEntropy:
    """Saves the logits; the backward reads them once more, and writes their gradient, times that of the losses."""

    @staticmethod
    def forward(loss: Loss, logits: Any, target: Any) -> Any:
        return losses_of(loss, logits, target)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.loss, logits, target = inputs
        ctx.save_for_backward(logits, target)

    @staticmethod
    @once("cross_entropy")
    def backward(ctx: Any, gradient: Any) -> Any:
        logits, target = ctx.saved_tensors
        _, of_logits = losses_of(ctx.loss, logits, target, gradient.contiguous())
        return None, of_logits.view(logits.shape), None


_differentiated_cross_entropy = in_both_forms("cross_entropy", _CrossEntropy)


__all__ = ["cross_entropy", "cross_entropy_and_gradient", "is_reduced_at_once", "losses_of", "reduced", "scale_of"]
