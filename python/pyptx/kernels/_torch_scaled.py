"""`scaled_matmul` of torch tensors: eager, under `torch.compile`, and with gradients beside the 8-bit factors."""

from __future__ import annotations

from typing import Any

import torch

from .. import _ptx
from ..torch_support.dynamo import call_number_under_dynamo
from . import _tuned
from ._products import chosen_product, require_epilogue, shape_of, sizes_apart, sizes_of_product
from ._scaled import FLOAT8, padding_of_float8, require_float8, scaling_of, words_of
from ._torch_factors import Factor, Ready, again, aligned, factor_of, keep
from ._torch_launch import _is_compiling, _needs_gradient
from ._torch_matmul import _OUTPUTS, _activations, _number_under_dynamo, rows_like

_ready: Ready = {}  # plans of calls like earlier ones
_tuned.plans.append(_ready)


def scaled_matmul(
    a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any, activation: str | None, residual: Any, out_dtype: Any, fast: bool
) -> Any:
    key: Any = None
    if not _is_compiling():
        tensors = [x for x in (a, b, scale_a, scale_b, bias, residual) if x is not None]
        key = (*[(x.shape, x.stride(), x.dtype) for x in tensors], bias is None, activation, out_dtype, fast)
        if (result := again(_ready, key, tensors)) is not None:
            return result
    out_dtype = torch.bfloat16 if out_dtype is None else out_dtype
    if _needs_gradient(a, b):
        _ptx.raise_error(
            "argument_gradient",
            "`scaled_matmul` is differentiated in its 8-bit factors; it has no backward for them",
            "`.detach()` them, and keep what they were made of for a backward in more bits",
        )
    if _needs_gradient(scale_a, scale_b, bias, residual):
        return _differentiable(a, b, scale_a, scale_b, bias, activation, residual, out_dtype, fast)
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


def _rows_along_k(factor: Factor) -> Factor:
    """wgmma takes 8-bit elements along K alone."""
    if not factor.transposed:
        return factor
    return Factor(factor.contiguous().tensor.mT.contiguous(), False)


def _padded(factor: Factor, missing: int) -> Any:
    """With zeros behind its rows; copies of such that lie apart fill them in."""
    x = factor.tensor
    return torch.nn.functional.pad(x.view(torch.uint8), (0, missing)).view(x.dtype) if missing and not factor.apart else x


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
    left, right = _rows_along_k(factor_of(a)), _rows_along_k(factor_of(b.mT))
    missing = 0 if left.apart and right.apart else missing
    by_columns = False
    if scaling == "tensorwise":
        scales = [scale_a.reshape(1), scale_b.reshape(1)]
    elif scaling == "rowwise":
        scales = [scale_a.reshape(-1).expand(shape.m).contiguous(), scale_b.reshape(-1).expand(shape.n).contiguous()]
    else:
        by_columns = not _is_compiling() and shape.m % 4 == 0 and not scale_a.is_contiguous() and scale_a.mT.is_contiguous()
        scales = [scale_a.mT if by_columns else scale_a.contiguous(), scale_b.mT.contiguous()]
    tensors = [_padded(left, missing), _padded(right, missing), *scales]
    if bias is not None:
        tensors.append(bias.contiguous())
    if residual is not None:
        tensors.append(residual.contiguous().view(shape.m, shape.n))
    k, has = shape.k + missing, words_of(scaling, fast, bias is not None, activation, residual is not None, by_columns)
    if _is_compiling():
        number, _ = _number_under_dynamo(FLOAT8, str(out_dtype), rows_like(shape.m), slice(shape.n), slice(k), has)
        return call_number_under_dynamo(number, tensors, ()).view(shape.result)
    tensors = [aligned(x) for x in tensors]
    kernel = chosen_product(
        FLOAT8, _OUTPUTS[out_dtype], shape.m, shape.n, k, 1, has, (bool(left.apart), bool(right.apart))
    )  # fmt: skip
    plan, packed = kernel._bind({**sizes_of_product(kernel, shape), **sizes_apart(left.apart, right.apart, k)})
    result = plan(*tensors, scalars=packed)
    is_view = result.dim() != len(shape.result)
    if key is not None and shape.k:
        given = [x for x in (a, b, scale_a, scale_b, bias, residual) if x is not None]
        keep(_ready, key, (plan, packed), given, tensors, shape.result if is_view else None)
    return result.view(shape.result) if is_view else result
