"""`scaled_matmul` of torch tensors: eager, under `torch.compile`, and with gradients beside the 8-bit factors."""

from __future__ import annotations

from typing import Any

import torch

from .. import _ptx
from ..torch_support.dynamo import call_number_under_dynamo
from . import _tuned
from ._products import chosen_product, require_epilogue, shape_of, sizes_of_product
from ._scaled import FLOAT8, padding_of_float8, require_float8, scaling_of, words_of
from ._torch import _PLAIN, _is_compiling, _needs_gradient, _place
from ._torch_matmul import _OUTPUTS, _activations, _aligned, _number_under_dynamo, rows_like

_ready: dict[Any, tuple[Any, Any]] = {}  # plans of calls like earlier ones
_tuned.plans.append(_ready)


def scaled_matmul(
    a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any, activation: str | None, residual: Any, out_dtype: Any, fast: bool
) -> Any:
    out_dtype = torch.bfloat16 if out_dtype is None else out_dtype
    if _needs_gradient(a, b):
        _ptx.raise_error(
            "argument_gradient",
            "`scaled_matmul` is differentiated in its 8-bit factors; it has no backward for them",
            "`.detach()` them, and keep what they were made of for a backward in more bits",
        )
    if _needs_gradient(scale_a, scale_b, bias, residual):
        return _differentiable(a, b, scale_a, scale_b, bias, activation, residual, out_dtype, fast)
    if _is_compiling():
        return _checked(a, b, scale_a, scale_b, bias, activation, residual, out_dtype, fast, None)
    key = (
        a.shape, b.shape, a.stride(), b.stride(), a.dtype, b.dtype, scale_a.shape, scale_b.shape, bias is None, activation,
        residual is None, out_dtype, fast,
    )  # fmt: skip
    known = _ready.get(key)
    if known is not None and type(a) in _PLAIN and type(b) in _PLAIN:
        tensors = [x for x in (a, b.mT, scale_a.reshape(-1), scale_b.reshape(-1), bias, residual) if x is not None]
        places = 0
        try:
            for x in tensors:
                places |= x.data_ptr()
        except RuntimeError:  # inside torch.func
            places = 1
        if not places & 15 and all([x.is_contiguous() for x in tensors]):
            return known[0](*tensors, scalars=known[1])
    return _checked(a, b, scale_a, scale_b, bias, activation, residual, out_dtype, fast, key)


def _differentiable(
    a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any, activation: str | None, residual: Any, out_dtype: Any, fast: bool
) -> Any:
    """Sums in f32, and what follows as torch's own operations. One number a row, a column or a matrix comes after the sums, too;
    those of blocks have no gradients."""
    shape = shape_of(a.shape, b.shape)
    own_a, own_b = scale_a.detach(), scale_b.detach()
    if _needs_gradient(scale_a, scale_b):
        if scaling_of(shape, tuple(scale_a.shape), tuple(scale_b.shape)) == "blockwise":
            _ptx.raise_error(
                "argument_gradient",
                "`scaled_matmul` is differentiated in the scales of blocks; it has no backward for them",
                "`.detach()` them, or take one number a row and a column",
            )
        own_a = own_b = torch.ones((), device=scale_a.device)
    for beside in (bias, residual):
        if beside is not None:
            require_epilogue(shape, beside, bias, activation, residual)
    sums = _checked(a, b, own_a, own_b, None, None, None, torch.float32, fast, None)
    if _needs_gradient(scale_a, scale_b):
        of_rows = scale_a.reshape(*a.shape[:-1], 1) if scale_a.numel() == shape.m else scale_a.reshape(())
        sums = sums * of_rows * scale_b.reshape(-1)
    y = _activations[activation](sums if bias is None else sums + bias)
    return (y if residual is None else y + residual).to(out_dtype)


def _padded(x: Any, missing: int) -> Any:
    return torch.nn.functional.pad(x.view(torch.uint8), (0, missing)).view(x.dtype) if missing else x


def _checked(
    a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any, activation: str | None, residual: Any, out_dtype: Any, fast: bool,
    key: Any,
) -> Any:  # fmt: skip
    shape = shape_of(a.shape, b.shape)
    names = [str(x.dtype).removeprefix("torch.") for x in (a, b, scale_a, scale_b)]
    require_float8(shape, (names[0], names[1]), (names[2], names[3]))
    if out_dtype not in _OUTPUTS:
        _ptx.raise_error(
            "argument_dtype", f"`scaled_matmul` to {out_dtype}", "what fits is torch.bfloat16, torch.float16 or torch.float32"
        )
    scaling = scaling_of(shape, tuple(scale_a.shape), tuple(scale_b.shape))
    if not shape.k:  # nothing is scaled
        scaling, scale_a, scale_b = "tensorwise", scale_a.new_ones(()), scale_b.new_ones(())
    for beside in (bias, residual):
        if beside is not None:
            require_epilogue(shape, beside, bias, activation, residual)
    missing = padding_of_float8(shape.k)
    left = _padded(a.contiguous().flatten(0, -2), missing)
    right = _padded(b.mT.contiguous(), missing)
    by_columns = False
    if scaling == "tensorwise":
        scales = [scale_a.reshape(1), scale_b.reshape(1)]
    elif scaling == "rowwise":
        scales = [scale_a.reshape(-1).expand(shape.m).contiguous(), scale_b.reshape(-1).expand(shape.n).contiguous()]
    else:
        by_columns = not _is_compiling() and shape.m % 4 == 0 and not scale_a.is_contiguous() and scale_a.mT.is_contiguous()
        scales = [scale_a.mT if by_columns else scale_a.contiguous(), scale_b.mT.contiguous()]
    tensors = [left, right, *scales]
    if bias is not None:
        tensors.append(bias.contiguous())
    if residual is not None:
        tensors.append(residual.contiguous().view(shape.m, shape.n))
    k, has = shape.k + missing, words_of(scaling, fast, bias is not None, activation, residual is not None, by_columns)
    if _is_compiling():
        number, _ = _number_under_dynamo(FLOAT8, str(out_dtype), rows_like(shape.m), slice(shape.n), slice(k), has)
        return call_number_under_dynamo(number, tensors, ()).view(shape.result)
    tensors = [_aligned(x) for x in tensors]
    kernel = chosen_product(FLOAT8, _OUTPUTS[out_dtype], shape.m, shape.n, k, 1, has)
    plan, packed = kernel._bind(sizes_of_product(kernel, shape))
    given = [x for x in (a, b, scale_a, scale_b, bias, residual) if x is not None]
    as_given = [_place(x) for x in tensors] == [_place(x) for x in given]
    if as_given and a.dim() == 2 and scaling != "blockwise":
        if len(_ready) > 4096:  # of a program whose sizes never end
            _ready.clear()
        _ready[key] = plan, packed
    result = plan(*tensors, scalars=packed)
    return result if result.dim() == len(shape.result) else result.view(shape.result)
