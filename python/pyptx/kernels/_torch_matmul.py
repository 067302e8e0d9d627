"""`matmul` of torch tensors: eager, under `torch.compile`, and with gradients.

A call like an earlier one finds its plan in a dict. Under Dynamo the kernel is chosen by ranges of
M, so that a graph serves all of a range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from .. import _ptx
from ..errors import PtxError
from ..torch_support import state
from ..torch_support.dynamo import call_number_under_dynamo
from ..torch_support.refusals import raise_to_dynamo
from . import _checks, _tuned
from ._differentiated import in_both_forms
from ._known import PLAIN, Call, Program, Step, Way
from ._products import (
    Shape,
    chosen_product,
    padding_of,
    product_of,
    require_alpha,
    require_epilogue,
    shape_of,
    sizes_apart,
    sizes_of_product,
)  # fmt: skip
from ._torch import gated as gated_halves
from ._torch_factors import Factor, Ready, again, aligned, factor_of, keep
from ._torch_launch import _is_compiling, _needs_gradient, _place

_HALVES = {torch.float16: "float16", torch.bfloat16: "bfloat16"}
_OUTPUTS = {**_HALVES, torch.float32: "float32"}
_functional = torch.nn.functional
_RANGES = (16, 64, 128, 512, 2048)  # of M, for what Dynamo traces
_MANY_ROWS = 1 << 13

_ready: Ready = {}  # plans of calls like earlier ones
_met: set[Any] = set()  # keys of one call
_calls: dict[Any, Call] = {}  # of those, what torch differentiates
_tuned.plans.extend([_ready, _calls])


class Epilogue(NamedTuple):
    """What becomes of the sums of a product, and where to."""

    bias: Any = None
    activation: str | None = None
    residual: Any = None
    out_dtype: Any = None
    gated: bool = False
    alpha: float = 1.0
    out: Any = None


def matmul(
    a: Any, b: Any, bias: Any, activation: str | None, residual: Any, out_dtype: Any, gated: bool = False, alpha: Any = 1.0,
    out: Any = None,
) -> Any:  # fmt: skip
    if _is_compiling():
        return _checked(a, b, Epilogue(bias, activation, residual, out_dtype, gated, alpha, out))
    if bias is None and residual is None and out is None:
        key: Any = (a.shape, b.shape, a.stride(), b.stride(), a.dtype, b.dtype, activation, out_dtype, gated, alpha)
        tensors = [a, b]
    else:
        tensors = [x for x in (a, b, bias, residual) if x is not None]
        beside = [(x.shape, x.stride(), x.dtype) for x in tensors[2:]]
        key = (
            a.shape, b.shape, a.stride(), b.stride(), a.dtype, b.dtype, activation, out_dtype, gated, alpha, bias is None,
            *beside, None if out is None else (out.shape, out.stride(), out.dtype),
        )  # fmt: skip
    differentiated = _differentiated_again if activation is None and not gated else None
    if (result := again(_ready, key, tensors, out, differentiated)) is not None:
        return result
    return _checked(a, b, Epilogue(bias, activation, residual, out_dtype, gated, alpha, out), key)


def _checked(a: Any, b: Any, to: Epilogue, key: Any = None) -> Any:
    if a.dtype != b.dtype:
        _checks.refuse_dtype("matmul", "b", b, a, "a")
    if a.dtype not in _HALVES:
        _ptx.raise_error("argument_dtype", f"`matmul` of {a.dtype} elements", "what fits is float16 or bfloat16")
    to = to._replace(alpha=require_alpha(to.alpha))
    if to.out_dtype is None:
        to = to._replace(out_dtype=a.dtype if to.out is None else to.out.dtype)
    if to.out_dtype != a.dtype and to.out_dtype != torch.float32:
        _ptx.raise_error(
            "argument_dtype", f"`matmul` of {a.dtype} elements to {to.out_dtype}", f"what fits is {a.dtype} or torch.float32"
        )
    shape = shape_of(a.shape, b.shape, to.gated)
    require_epilogue(shape, a, to.bias, to.activation, to.residual)
    needs_gradient = _needs_gradient(a, b, to.bias, to.residual)
    if to.out is not None:
        return _into(shape, a, b, to, needs_gradient, key)
    if needs_gradient:
        result = _differentiable(shape, a, b, to)
        own = None if key is None else _ready.get((*key[:7], to.out_dtype, *key[8:]))  # of the forward
        if own is not None:
            _ready[key] = own
        return result
    return _product(shape, a, b, to, key)


def _into(shape: Shape, a: Any, b: Any, to: Epilogue, needs_gradient: bool, key: Any) -> Any:
    """The product, in a tensor that there is."""
    out = to.out
    if needs_gradient or out.requires_grad:
        _ptx.raise_error(
            "argument_gradient", "`matmul`: a product with `out` is differentiated", "`torch.no_grad()` around it, or no `out`"
        )
    if tuple(out.shape) != shape.result or out.dtype != to.out_dtype:
        _ptx.raise_error(
            "argument_dim",
            f"`matmul`: `out` is {out.dtype} of shape {tuple(out.shape)}, and the result {to.out_dtype} of {shape.result}",
            "what fits is a tensor of the result's type and shape",
        )
    if _is_compiling() or not out.is_contiguous() or _place(out) & 15:
        return out.copy_(_product(shape, a, b, to._replace(out=None)))
    _product(shape, a, b, to, key)
    return out


def _differentiable(shape: Shape, a: Any, b: Any, to: Epilogue) -> Any:
    # what the activation is of has to be kept, so it comes after the product
    plain = to.activation is None and not to.gated
    whole = shape_of(a.shape, b.shape) if to.gated else shape
    sums = _differentiated_matmul(whole, a, b, to.bias, to.residual if plain else None, to.out_dtype, to.alpha)
    if plain or (to.gated and not shape.n):  # of no columns, as many are left
        return sums
    if to.gated and to.activation in _GATED:
        return gated_halves(_GATED[to.activation], sums, None)
    if to.gated:
        gate = sums[..., : shape.n]
        return _activations[to.activation](gate) * sums[..., shape.n :]
    y = _activations[to.activation](sums)
    return y if to.residual is None else y + to.residual


_GATED = {"silu": "swiglu", "gelu_tanh": "geglu"}
_activations: dict[str | None, Any] = {
    None: lambda x: x,
    "relu": torch.relu, "silu": _functional.silu, "gelu": _functional.gelu,
    "gelu_tanh": lambda x: _functional.gelu(x, approximate="tanh"),
}  # fmt: skip


def _product(shape: Shape, a: Any, b: Any, to: Epilogue, key: Any = None) -> Any:
    bias, activation, residual, out_dtype, gated, alpha, out = to
    left, right = factor_of(a, shape.batched), factor_of(b, shape.batched)
    if gated and not right.transposed and shape.n % 8:  # the second half of its rows would begin between 16 bytes
        right = factor_of(b.mT.contiguous(), shape.batched)._replace(transposed=True)
    columns = 2 * shape.n if gated else shape.n
    # Copies of rows that lie apart fill in zeros behind them: only what has no gaps may have to be padded.
    along_k, of_a, of_b = padding_of(
        shape.k, shape.m, columns, left.transposed or bool(left.apart), right.transposed and not right.apart
    )
    tensors = [
        _padded(left, (0, of_a, 0, along_k) if left.transposed else (0, along_k)),
        _padded(right, (0, along_k) if right.transposed else (0, of_b, 0, along_k)),
    ]
    named = (("batched", shape.batched), ("a_transposed", left.transposed), ("b_transposed", right.transposed),
             ("alpha", alpha != 1), ("bias", bias is not None), ("residual", residual is not None),
             ("wide", residual is not None and residual.dtype != a.dtype), ("gated", gated))  # fmt: skip
    has = (*[name for name, there in named if there], *(() if activation is None else (activation,)))
    if bias is not None:
        tensors.append(bias.contiguous())
    if residual is not None:
        tensors.append(residual.contiguous().view((shape.batch, shape.m, shape.n) if shape.batched else (shape.m, shape.n)))
    k = shape.k + along_k
    if _is_compiling():
        # a' b, the gradient of a weight: K is a number of rows, and those are not what a graph is made for.
        along = least_rows_like(k) if left.transposed and not right.transposed else k
        number, names = _number_under_dynamo(str(a.dtype), str(out_dtype), rows_like(shape.m), slice(shape.n), slice(along), has)
        sizes = {"M": shape.m, "N": shape.n, "G": shape.batch, "alpha": alpha}
        names = (*names, "alpha") if alpha != 1 else names
        result = call_number_under_dynamo(number, tensors, [(name, sizes[name]) for name in names])
        return result.view(shape.result)
    tensors = [aligned(x) for x in tensors]
    apart = (bool(left.apart), bool(right.apart))
    kernel = chosen_product(_HALVES[a.dtype], _OUTPUTS[out_dtype], shape.m, shape.n, k, shape.batch, has, apart)
    sizes = {**sizes_of_product(kernel, shape), **sizes_apart(left.apart, right.apart, k)}
    plan, packed = kernel._bind(sizes if alpha == 1 else {**sizes, "alpha": alpha})
    if out is None:
        result = plan(*tensors, scalars=packed)
    else:
        own = (shape.batch, shape.m, shape.n) if shape.batched else (shape.m, shape.n)
        result = plan(*tensors, scalars=packed, out=out.view(own))
    is_view = result.dim() != len(shape.result)
    if key is not None and not (is_view and out is not None):
        given = [x for x in (a, b, bias, residual) if x is not None]
        as_they_lie = tensors[0] is left.tensor and tensors[1] is right.tensor and not left.transposed and not shape.batched
        if is_view and as_they_lie and a.is_contiguous() and (residual is None or residual.is_contiguous()):
            sizes = {**sizes, "M": shape.m} if alpha == 1 else {**sizes, "M": shape.m, "alpha": alpha}
            tensors = [a, *tensors[1:]] if residual is None else [a, *tensors[1:-1], residual]
            _keep_rows(key, kernel.__name__, apart, sizes, given, tensors)
        else:
            keep(_ready, key, (plan, packed), given, tensors, shape.result if is_view else None)
    return result.view(shape.result) if is_view else result


def _keep_rows(
    key: Any, recipe: str, apart: tuple[bool, bool], sizes: dict[str, Any], given: Sequence[Any], taken: Sequence[Any]
) -> None:
    """Rows of `a` and of the result are those of arrays: a kernel takes these as they are, from the second call on, since each
    number of rows has a plan of its own then."""
    if key not in _met:
        if len(_met) > 4096:  # of a program whose sizes never end
            _met.clear()
        _met.add(key)
        return
    kernel = product_of(recipe, apart, given[0].dim() - 1)
    keep(_ready, key, kernel._bind(sizes), given, taken, None)


def _padded(factor: Factor, pad: tuple[int, ...]) -> Any:
    return factor.tensor if factor.apart or not any(pad) else _functional.pad(factor.tensor, pad)


def rows_like(m: Any) -> int:
    """A number of rows that stands for all of its range; comparisons are what Dynamo guards a graph with."""
    like = _MANY_ROWS
    for most in reversed(_RANGES):
        if m <= most:
            like = most
    return like


def least_rows_like(k: Any) -> int:
    """The least number of rows of its range: a kernel that takes so few takes all others."""
    least = _RANGES[-1] + 1
    for most, before in zip(reversed(_RANGES), (*reversed(_RANGES[:-1]), 0), strict=True):
        if k <= most:
            least = before + 1
    return least


@state.constant
def _number_under_dynamo(
    dtype: str, out: str, m: Any, n: Any, k: Any, has: tuple[str, ...], matrices: Any = None
) -> tuple[str, tuple[str, ...]]:
    """The number of the kernel, and the sizes that its inputs do not say. Dynamo runs this, and takes the result for constant."""
    try:
        shape = Shape(
            m.stop if isinstance(m, slice) else m, n.stop, k.stop, 1 if matrices is None else matrices.stop, "batched" in has, ()
        )
        kernel = chosen_product(dtype.removeprefix("torch."), out.removeprefix("torch."), *shape[:4], has)
        return kernel._number, tuple(sizes_of_product(kernel, shape))
    except PtxError as error:
        raise_to_dynamo(error)


class _Matmul:
    """Saves both factors: da = dy b', db = a' dy, in the products' own layouts, without copies."""

    @staticmethod
    def forward(shape: Shape, a: Any, b: Any, bias: Any, residual: Any, out_dtype: Any, alpha: float) -> Any:
        if type(a) in PLAIN and not _is_compiling() and not torch.is_grad_enabled():
            return matmul(a, b, bias, None, residual, out_dtype, False, alpha)  # perhaps a call like an earlier one
        return _product(shape, a, b, Epilogue(bias, None, residual, out_dtype, alpha=alpha))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.shape, a, b, bias, residual, _, ctx.alpha = inputs
        ctx.save_for_backward(a, b)
        ctx.has_bias, ctx.residual_dtype = bias is not None, None if residual is None else residual.dtype

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        needed = (*ctx.needs_input_grad[1:3], ctx.has_bias and ctx.needs_input_grad[3], ctx.needs_input_grad[4])
        a, b = ctx.saved_tensors
        return None, *_gradients(a, b, dy, needed, ctx.shape.batched, ctx.alpha, ctx.residual_dtype), None, None


def _gradients(
    a: Any, b: Any, dy: Any, needed: Sequence[bool], batched: bool, alpha: float, of_residual: Any
) -> tuple[Any, Any, Any, Any]:
    """Those of a, b, bias and residual that are needed."""
    half = dy.to(a.dtype)
    da = db = dbias = dresidual = None
    if needed[0]:
        da = matmul(half, b.mT, None, None, None, None, False, alpha)
    if needed[1]:
        left, right = (a, half) if batched else (a.flatten(0, -2), half.flatten(0, -2))
        db = matmul(left.mT, right, None, None, None, None, False, alpha)
    if needed[2]:
        dbias = dy.flatten(0, -2).sum(0).to(a.dtype)
    if of_residual is not None and needed[3]:
        dresidual = dy.to(of_residual)
    return da, db, dbias, dresidual


_differentiated_matmul = in_both_forms("matmul", _Matmul)


def _differentiated_again(key: Any, tensors: Sequence[Any]) -> Any:
    needed = (key, tensors[0].requires_grad, tensors[1].requires_grad)
    call = _calls.get(needed)
    if call is None:
        has_bias = len(key) > 10 and not key[10]
        bias = tensors[2] if has_bias else None
        call = _calls[needed] = _call_of(key, needed[1:], bias, tensors[-1] if len(tensors) > 2 + has_bias else None)
    return call(*tensors) if (results := call.again(*tensors)) is None else results


def _call_of(key: Any, needed: Sequence[bool], bias: Any, residual: Any) -> Call:
    """A product like an earlier one: the same of its gradients, once these have been made."""
    plan, packed, ways, result = _ready[key]
    shape, of_a, of_b, dtype, alpha = shape_of(*key[:2]), key[:3:2], key[1:4:2], key[4], key[9]
    there = [True, True, bias is not None, residual is not None]
    of_residual = None if residual is None else residual.dtype
    taken = sum(there)
    step = Step(plan, packed, tuple(range(taken)), ways if any(ways) else None, 1, result)
    forward = Program(taken, (step,), (taken,), (0, 1))

    def bind() -> Program | None:
        # a 0, b 1, dy 2
        own = (shape.result, _row_major(shape.result))
        rows, of_rows = (of_a, own) if shape.batched else (_as_matrix(of_a), _as_matrix(own))
        if key[7] not in (None, dtype) or of_residual not in (None, dtype) or rows is None or of_rows is None:
            return None
        steps: list[Step] = []
        results: list[int | None] = []
        for number, (left, right, values) in enumerate([(own, _across(of_b), (2, 1)), (_across(rows), of_rows, (0, 2))]):
            results.append(3 + len(steps) if needed[number] else None)
            if not needed[number]:
                continue
            known = _ready.get((left[0], right[0], left[1], right[1], dtype, dtype, None, None, False, alpha))
            if known is None:
                return None
            ways = [
                _way((of_a, of_b, own)[value], way or given)
                for value, way, given in zip(values, known[2], (left, right), strict=True)
            ]
            steps.append(Step(*known[:2], values, tuple(ways), 1, known[3], 1 << number))
        if bias is not None:
            results.append(3 + len(steps))
            steps.append(Step(None, (), (2,), serves=4))
        if residual is not None:
            results.append(2)
        return Program(3, tuple(steps), tuple(results), lies=(of_a, of_b))

    def otherwise(ctx: Any, dy: Any) -> Any:
        (a, b), needs = ctx.saved_tensors, iter(ctx.needs_input_grad)
        found = _gradients(a, b, dy, [is_there and next(needs) for is_there in there], shape.batched, alpha, of_residual)
        return tuple([each for each, is_there in zip(found, there, strict=True) if is_there])

    return Call(forward, bind, otherwise)


Lies = tuple[Sequence[int], Sequence[int]]  # shape and strides


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple([math.prod(shape[i + 1 :]) for i in range(len(shape))])


def _across(lies: Lies) -> Lies:
    """`.mT`"""
    shape, strides = [(*each[:-2], each[-1], each[-2]) for each in lies]
    return torch.Size(shape), strides


def _as_matrix(lies: Lies) -> Lies | None:
    """`.flatten(0, -2)`, where that is a view."""
    shape, strides = lies
    if len(shape) == 2:
        return lies
    whole = (math.prod(shape[:-1]), shape[-1])
    return (torch.Size(whole), _row_major(whole)) if tuple(strides) == _row_major(shape) else None


def _way(own: Lies, wanted: Lies) -> Way:
    as_it_is = all(tuple(x) == tuple(y) for x, y in zip(own, wanted, strict=True))
    return None if as_it_is else (tuple(wanted[0]), tuple(wanted[1]))


__all__ = ["matmul"]
