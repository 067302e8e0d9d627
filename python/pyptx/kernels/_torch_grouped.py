"""`grouped_matmul` of torch tensors: eager, under `torch.compile`, and with gradients."""

from __future__ import annotations

from typing import Any

import torch

from .. import _ptx
from ..torch_support.dynamo import call_number_under_dynamo
from . import _tuned
from ._differentiated import in_both_forms, once
from ._grouped import RAGGED, mean_rows, padding_of_groups, shape_of_gradient, shape_of_groups, words_of_groups
from ._products import Shape, chosen_product, sizes_apart, sizes_of_product
from ._torch_factors import Ready, again, aligned, factor_of, keep
from ._torch_launch import _is_compiling, _needs_gradient
from ._torch_matmul import _HALVES, _OUTPUTS, _activations, _number_under_dynamo, _padded, rows_like

_ready: Ready = {}  # plans of calls like earlier ones
_tuned.plans.append(_ready)


def grouped_matmul(a: Any, b: Any, offsets: Any, activation: str | None, out_dtype: Any) -> Any:
    if _is_compiling():
        return _checked(a, b, offsets, activation, out_dtype, None)
    key = (
        a.shape, b.shape, a.stride(), b.stride(), a.dtype, b.dtype, offsets.dtype, offsets.shape, offsets.stride(), activation,
        out_dtype,
    )  # fmt: skip
    if (result := again(_ready, key, (a, b, offsets))) is not None:
        return result
    return _checked(a, b, offsets, activation, out_dtype, key)


def _checked(a: Any, b: Any, offsets: Any, activation: str | None, out_dtype: Any, key: Any) -> Any:
    shape = shape_of_groups(a, b, offsets, activation)
    out_dtype = a.dtype if out_dtype is None else out_dtype
    if a.dtype not in _HALVES or (out_dtype != a.dtype and out_dtype != torch.float32):
        _ptx.raise_error(
            "argument_dtype", f"`grouped_matmul` of {a.dtype} elements to {out_dtype}",
            "what fits is float16 or bfloat16, to the same type or float32",
        )  # fmt: skip
    if not shape.batch:  # no group, no rows that are written
        return (a[:, :0] @ a.new_zeros(0, shape.n) + b.sum()).to(out_dtype)
    if _needs_gradient(a, b):
        sums = _differentiated_grouped(shape, a, b, offsets, out_dtype)
        return sums if activation is None else _activations[activation](sums)
    return _product(shape, a, b, offsets, activation, out_dtype, key)


def _product(shape: Shape, a: Any, b: Any, offsets: Any, activation: str | None, out_dtype: Any, key: Any = None) -> Any:
    left, right = factor_of(a), factor_of(b, True)
    if left.transposed:  # a group's rows are those of memory
        left = factor_of(a.contiguous())
    along_k, of_b = padding_of_groups(shape, right.transposed)
    if left.apart and (right.apart or not right.transposed):
        along_k = 0
    has, k = words_of_groups(right.transposed, activation), shape.k + along_k
    tensors = [
        _padded(left, (0, along_k)),
        _padded(right, (0, along_k) if right.transposed else (0, of_b, 0, along_k)),
        offsets.contiguous(),
    ]
    if _is_compiling():
        rows = rows_like(shape.m // shape.batch)
        number, names = _number_under_dynamo(
            str(a.dtype), str(out_dtype), rows, slice(shape.n), slice(k), has, slice(shape.batch)
        )
        return call_number_under_dynamo(number, tensors, [("N", shape.n)] if "N" in names else ())
    tensors = [aligned(x) for x in tensors]
    apart = (bool(left.apart), bool(right.apart))
    kernel = chosen_product(_HALVES[a.dtype], _OUTPUTS[out_dtype], mean_rows(shape), shape.n, k, shape.batch, has, apart)
    plan, packed = kernel._bind({**sizes_of_product(kernel, shape), **sizes_apart(left.apart, right.apart, k)})
    if key is not None:
        keep(_ready, key, (plan, packed), (a, b, offsets), tensors, None)
    return plan(*tensors, scalars=packed)


def _gradient_of_b(a: Any, dy: Any, offsets: Any) -> Any:
    """For each group its rows of a, transposed, times its rows of dy: [G, K, N] of a [M, K] and dy [M, N]."""
    shape = shape_of_gradient(a, dy, offsets)
    if not shape.k:  # no rows: sums of nothing
        return a.new_zeros(shape.result)
    pad = torch.nn.functional.pad
    tensors = [*(pad(x, (0, -x.shape[1] % 8)) if x.shape[1] % 8 else x.contiguous() for x in (a, dy)), offsets.contiguous()]
    if _is_compiling():
        rows = rows_like(shape.k // max(shape.batch, 1))
        number, names = _number_under_dynamo(
            str(a.dtype), str(a.dtype), slice(shape.m), slice(shape.n), slice(rows), RAGGED, slice(shape.batch)
        )
        sizes = {"M": shape.m, "N": shape.n}
        return call_number_under_dynamo(number, tensors, [(name, sizes[name]) for name in names if name in sizes])
    rows = max(1, -(-shape.k // max(shape.batch, 1)))
    kernel = chosen_product(_HALVES[a.dtype], _HALVES[a.dtype], shape.m, shape.n, rows, shape.batch, RAGGED)
    plan, packed = kernel._bind(sizes_of_product(kernel, shape))
    return plan(*[aligned(x) for x in tensors], scalars=packed)


class _Grouped:
    """Saves both factors: da is a grouped product too, and db one whose sums are over each group's rows."""

    @staticmethod
    def forward(shape: Shape, a: Any, b: Any, offsets: Any, out_dtype: Any) -> Any:
        return _product(shape, a, b, offsets, None, out_dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, a, b, offsets, _ = inputs
        ctx.save_for_backward(a, b, offsets)

    @staticmethod
    @once("grouped_matmul")
    def backward(ctx: Any, dy: Any) -> Any:
        a, b, offsets = ctx.saved_tensors
        half, da, db = dy.to(a.dtype), None, None
        if ctx.needs_input_grad[1]:
            da = grouped_matmul(half, b.mT, offsets, None, None)
            rows = torch.arange(a.shape[0], device=a.device)
            is_outside = rows[:, None] >= offsets[-1:]  # rows behind the last end are not written
            da = da.masked_fill(is_outside, 0)
        if ctx.needs_input_grad[2]:
            db = _gradient_of_b(a, half, offsets)
        return None, da, db, None, None


_differentiated_grouped = in_both_forms("grouped_matmul", _Grouped)
