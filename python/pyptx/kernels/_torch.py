"""The library's functions for torch tensors: eager, under `torch.compile`, and with gradients. Norms, softmax and gated products
are here, the others beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .. import _ptx
from . import _checks
from ._differentiated import in_both_forms, once
from ._known import Call, Program, Step
from ._library import Has
from ._torch_launch import (
    Scalars,
    _again,
    _bound_like,
    _bound_sums,
    _column_sums,
    _is_compiling,
    _keep,
    _needs_gradient,
    _row_by_row,
    _rows,
    launch,
)
from ._torch_loss import cross_entropy, cross_entropy_and_gradient

# -- norms


def norm(operation: str, x: Any, weight: Any, bias: Any, residual: Any, eps: float, offset: float) -> Any:
    if not _is_compiling():
        key = (operation, x.shape, x.dtype, eps, offset, weight is None, bias is None, residual is None)
        tensors = [each for each in (x, residual, weight, bias) if each is not None]
        if (result := _again(key, tensors, _call_of_norm)) is not None:
            return result
    _checks.require_norm(operation, x, weight, bias, residual)
    shape = x.shape
    matrix = _rows(operation, "x", x, shape[-1])
    other = None if residual is None else _rows(operation, "residual", residual, shape[-1])
    if _needs_gradient(x, weight, bias, residual):
        result = _differentiated_norm(operation, eps, offset, matrix, weight, bias, other)
    else:
        result = _norm(operation, matrix, weight, bias, other, eps, offset)
    if not _is_compiling():
        _keep(key, x, operation, *_kind_of_norm(operation, weight, bias, residual, eps, offset))
    if len(shape) == 2:
        return result if residual is None else tuple(result)
    return result.view(shape) if residual is None else (result[0].view(shape), result[1].view(shape))


def _refuse_gradient(operation: str, *tensors: Any) -> None:
    if _needs_gradient(*tensors):
        _ptx.raise_error(
            "argument_gradient",
            f"`{operation}` to float8_e4m3fn is differentiated; it has no backward",
            "`torch.no_grad()` around it, or `.detach()`",
        )


def norm_e4m3(
    operation: str, x: Any, weight: Any, bias: Any, residual: Any, eps: float, offset: float, given: Any
) -> Any:  # fmt: skip
    """The norm as e4m3, the scales of its rows where none is given, and with a residual the sum."""
    _refuse_gradient(operation, x, weight, bias, residual)
    _checks.require_norm(operation, x, weight, bias, residual)
    shape = x.shape
    matrices = [_rows(operation, "x", x, shape[-1])]
    if residual is not None:
        matrices.append(_rows(operation, "residual", residual, shape[-1]))
    has, scalars = _kind_of_norm(operation, weight, bias, residual, eps, offset)
    has = (*has, *_checks.words_of_scale(operation, given, torch.float32))
    vectors = [each for each in (weight, bias, None if given is None else given.view(1)) if each is not None]
    found = launch(operation, has, matrices, vectors, scalars)
    if given is not None:
        return found.view(shape) if residual is None else (found[0].view(shape), found[1].view(shape))
    y, *rest = found
    scale = rest[-1].view((*shape[:-1], 1))
    return (y.view(shape), scale) if residual is None else (y.view(shape), scale, rest[0].view(shape))


def _kind_of_norm(operation: str, weight: Any, bias: Any, residual: Any, eps: float, offset: float) -> tuple[Has, Scalars]:
    has = tuple([name for name, x in (("residual", residual), ("weight", weight), ("bias", bias)) if x is not None])
    if weight is not None and operation.startswith("rms_norm"):
        return has, (("eps", eps), ("offset", offset))
    return has, (("eps", eps),)


def _norm(operation: str, x: Any, weight: Any, bias: Any, residual: Any, eps: float, offset: float) -> Any:
    has, scalars = _kind_of_norm(operation, weight, bias, residual, eps, offset)
    matrices = [x] if residual is None else [x, residual]
    return launch(operation, has, matrices, [each for each in (weight, bias) if each is not None], scalars)


class _Norm:
    """Saves what was normalised (x, or the sum with the residual) and the weight; the backward takes the statistics anew."""

    @staticmethod
    def forward(operation: str, eps: float, offset: float, x: Any, weight: Any, bias: Any, residual: Any) -> Any:
        result = _norm(operation, x, weight, bias, residual, eps, offset)
        return result if residual is None else tuple(result)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operation, ctx.eps, ctx.offset, x, weight, bias, residual = inputs
        ctx.save_for_backward(x if residual is None else output[1], weight)
        ctx.shapes, ctx.has_bias = (x.shape, None if residual is None else residual.shape), bias is not None

    @staticmethod
    @once("norm")
    def backward(ctx: Any, *gradients: Any) -> Any:
        x, weight = ctx.saved_tensors
        dx, dweight, dbias = norm_backward(ctx.operation, gradients, x, weight, ctx.has_bias, ctx.eps, ctx.offset)
        of_x, of_residual = ctx.shapes
        return None, None, None, dx.view(of_x), dweight, dbias, None if of_residual is None else dx.view(of_residual)


_differentiated_norm = in_both_forms("norm", _Norm)


def norm_backward(operation: str, gradients: Sequence[Any], x: Any, weight: Any, bias: bool, eps: float, offset: float) -> Any:
    """Gradients of x (and of the residual, which has the same), weight and bias. `gradients` are those of the norm and, with a
    residual, of the sum."""
    of_sum = gradients[1] if len(gradients) > 1 else None
    has, scalars = _kind_of_norm(f"{operation}_backward", weight, bias or None, of_sum, eps, offset)
    matrices = [_row_by_row(gradients[0]), x] if of_sum is None else [_row_by_row(gradients[0]), x, _row_by_row(of_sum)]
    results = launch(f"{operation}_backward", has, matrices, () if weight is None else (weight,), scalars)
    if weight is None and not bias:
        return results, None, None
    sums = _column_sums(results[1:], tuple(word for word in has if word != "residual"), x.dtype)
    return results[0], sums[0] if weight is not None else None, sums[-1] if bias else None


def _call_of_norm(key: Any, known: Any) -> Call:
    operation, shape, dtype, eps, offset, *absent = key
    there = dict(zip(("weight", "bias", "residual"), [not each for each in absent], strict=True))
    has = tuple(word for word in ("residual", "weight", "bias") if there[word])
    vectors = has[there["residual"] :]
    scalars: Scalars = (("eps", eps), ("offset", offset)) if operation == "rms_norm" and there["weight"] else (("eps", eps),)

    inputs, outputs = 1 + len(has), 1 + there["residual"]
    forward = Program(
        inputs,
        (Step(known[0], known[1], tuple(range(inputs)), None, outputs),),
        tuple(range(inputs, inputs + outputs)),
        # What was normalised, and the weight.
        (inputs + 1 if there["residual"] else 0, *([1 + there["residual"]] if there["weight"] else [])),
    )

    def bind() -> Program:
        saved = len(forward.saved)
        first = saved + outputs  # of the values that the steps make: dx, partial sums, the vectors' gradients
        bound, partial = _bound_like(f"{operation}_backward", has, shape, dtype, scalars)
        taken = (saved, 0, *([saved + 1] if there["residual"] else []), *([1] if there["weight"] else []))
        steps = [Step(*bound, taken, None, 1 + len(vectors))]
        if vectors:
            of_vectors = sum(2 << (i + there["residual"]) for i in range(len(vectors)))
            sums = _bound_sums(vectors, dtype, partial, shape[-1])
            steps.append(Step(*sums, tuple(range(first + 1, first + 1 + len(vectors))), None, len(vectors), serves=of_vectors))
        behind = range(first + 1 + len(vectors), first + 1 + 2 * len(vectors))
        return Program(first, tuple(steps), (first, *([first] if there["residual"] else []), *behind))

    @once("norm")
    def otherwise(ctx: Any, *gradients: Any) -> Any:
        x, *weight = ctx.saved_tensors
        matrix, *of_results = [each.reshape(-1, shape[-1]) for each in (x, *gradients)]
        dx, *found = norm_backward(operation, of_results, matrix, weight[0] if weight else None, there["bias"], eps, offset)
        dx = dx.view(shape)
        of_vectors = [each for each, word in zip(found, ("weight", "bias"), strict=True) if there[word]]
        return (dx, *([dx] if there["residual"] else []), *of_vectors)

    return Call(forward, bind, otherwise)


# -- softmax


def softmax(operation: str, x: Any) -> Any:
    if not _is_compiling():
        key = (operation, x.shape, x.dtype)
        if (result := _again(key, (x,), _call_of_softmax)) is not None:
            return result
    _checks.require_rows(operation, x)
    shape = x.shape
    matrix = _rows(operation, "x", x, shape[-1])
    differentiated = _needs_gradient(x)
    result = _differentiated_softmax(operation, matrix) if differentiated else launch(operation, (), [matrix], ())
    if not _is_compiling():
        _keep(key, x, operation, ())
    return result if len(shape) == 2 else result.view(shape)


class _Softmax:
    @staticmethod
    def forward(operation: str, x: Any) -> Any:
        return launch(operation, (), [x], ())

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operation, x = inputs
        ctx.shape = x.shape
        ctx.save_for_backward(output)

    @staticmethod
    @once("softmax")
    def backward(ctx: Any, dy: Any) -> Any:
        (y,) = ctx.saved_tensors
        return None, launch(f"{ctx.operation}_backward", (), [_row_by_row(dy), y], ()).view(ctx.shape)


_differentiated_softmax = in_both_forms("softmax", _Softmax)


def _call_of_softmax(key: Any, known: Any) -> Call:
    operation, shape, dtype = key

    @once("softmax")
    def otherwise(ctx: Any, dy: Any) -> Any:
        matrices = [each.reshape(-1, shape[-1]) for each in (_row_by_row(dy), *ctx.saved_tensors)]
        return (launch(f"{operation}_backward", (), matrices, ()).view(shape),)

    forward = Program(1, (Step(known[0], known[1], (0,)),), (1,), (1,))
    return Call(forward, lambda: _of_rows(operation, shape, dtype, 1), otherwise)


def _of_rows(operation: str, shape: Any, dtype: Any, saved: int) -> Program:
    """One launch, of the result's gradient and what is saved, which has as many gradients."""
    bound, _ = _bound_like(f"{operation}_backward", (), shape, dtype)
    step = Step(*bound, (saved, *range(saved)), None, saved)
    return Program(saved + 1, (step,), tuple(range(saved + 1, 2 * saved + 1)))


# -- gated products


def gated(operation: str, gate: Any, up: Any) -> Any:
    if not _is_compiling() and up is not None:
        key = (operation, gate.shape, gate.dtype)
        if (result := _again(key, (gate, up), _call_of_gated)) is not None:
            return result
    matrices, shape, has = _factors(operation, gate, up)
    if _needs_gradient(gate, up):
        result = _differentiated_gated(operation, has, *matrices)
    else:
        result = launch(operation, has, matrices, ())
    if up is not None and not _is_compiling():
        _keep(key, gate, operation, has)
    return result if len(shape) == 2 else result.view(shape)


def _factors(operation: str, gate: Any, up: Any) -> tuple[list[Any], tuple[int, ...], Has]:
    """Of a gated product: its matrices, the result's shape, and what decides the kernel."""
    _checks.require_rows(operation, gate)
    shape = gate.shape
    if up is None:
        _checks.require_even(operation, gate)
        columns = shape[-1] // 2
        matrix, halves = _rows(operation, "gate", gate, shape[-1]), (*shape[:-1], columns)
        if matrix.dim() == 3:  # rows in groups
            return [matrix[..., :columns], matrix[..., columns:]], halves, ()
        return [matrix.view(-1, 2, columns)], halves, ("packed",)
    _checks.require_like(operation, "up", up, gate, "gate")
    return [_rows(operation, "gate", gate, shape[-1]), _rows(operation, "up", up, shape[-1])], shape, ()


def gated_e4m3(operation: str, gate: Any, up: Any, given: Any) -> Any:
    """The product as e4m3, and the scales of its rows where none is given."""
    _refuse_gradient(operation, gate, up)
    matrices, shape, has = _factors(operation, gate, up)
    has = (*has, *_checks.words_of_scale(operation, given, torch.float32))
    found = launch(operation, has, matrices, [] if given is None else [given.view(1)])
    return found.view(shape) if given is not None else (found[0].view(shape), found[1].view((*shape[:-1], 1)))


class _Gated:
    @staticmethod
    def forward(operation: str, has: Has, *matrices: Any) -> Any:
        return launch(operation, has, matrices, ())

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operation, ctx.has, *matrices = inputs
        ctx.save_for_backward(*matrices)

    @staticmethod
    @once("gated product")
    def backward(ctx: Any, dy: Any) -> Any:
        saved = ctx.saved_tensors
        gradients = launch(f"{ctx.operation}_backward", ctx.has, [_row_by_row(dy), *saved], ())
        all_of_them = gradients if isinstance(gradients, (tuple, list)) else (gradients,)
        if len(all_of_them) != len(saved):  # of a packed one whose rows lie apart: of its halves
            all_of_them = (torch.stack(list(all_of_them), 1),)
        return None, None, *[of_one.view(x.shape) for of_one, x in zip(all_of_them, saved, strict=True)]


_differentiated_gated = in_both_forms("gated product", _Gated)


def _call_of_gated(key: Any, known: Any) -> Call:
    operation, shape, dtype = key

    @once("gated product")
    def otherwise(ctx: Any, dy: Any) -> Any:
        matrices = [each.reshape(-1, shape[-1]) for each in (_row_by_row(dy), *ctx.saved_tensors)]
        dgate, dup = launch(f"{operation}_backward", (), matrices, ())
        return dgate.view(shape), dup.view(shape)

    forward = Program(2, (Step(known[0], known[1], (0, 1)),), (2,), (0, 1))
    return Call(forward, lambda: _of_rows(operation, shape, dtype, 2), otherwise)


__all__ = ["cross_entropy", "cross_entropy_and_gradient", "gated", "norm", "softmax"]
