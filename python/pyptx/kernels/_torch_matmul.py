"""`matmul` of torch tensors: eager, under `torch.compile`, and with gradients.

A call like an earlier one, of matrices where they lie, finds its plan in a dict. Under Dynamo the kernel is chosen by ranges of
M, so that a graph serves all of a range.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from .. import _ptx
from ..errors import PtxError
from ..torch_support import state
from ..torch_support.dynamo import call_number_under_dynamo
from ..torch_support.refusals import raise_to_dynamo
from . import _checks, _tuned
from ._differentiated import in_both_forms
from ._products import Shape, chosen_product, padding_of, require_alpha, require_epilogue, shape_of, sizes_of_product
from ._torch import _PLAIN, _is_compiling, _needs_gradient, _place
from ._torch import gated as gated_halves

_HALVES = {torch.float16: "float16", torch.bfloat16: "bfloat16"}
_OUTPUTS = {**_HALVES, torch.float32: "float32"}
_functional = torch.nn.functional
_RANGES = (16, 64, 128, 512, 2048)  # of M, for what Dynamo traces
_MANY_ROWS = 1 << 13

# Plans of calls like earlier ones: of tensors without gaps or transposed, 16 bytes aligned, that need no gradient.
_ready: dict[Any, tuple[Any, Any, bool, bool]] = {}
_tuned.plans.append(_ready)


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
    key = (
        a.shape, b.shape, a.stride(), b.stride(), a.dtype, b.dtype, bias is None, activation, residual is None, out_dtype,
        gated, alpha,
    )  # fmt: skip
    known = _ready.get(key) if out is None else None
    if known is not None:
        plan, packed, a_transposed, b_transposed = known
        tensors = [a, b] if bias is None and residual is None else [x for x in (a, b, bias, residual) if x is not None]
        grad, places, plain = torch.is_grad_enabled(), 0, True
        try:
            for x in tensors:
                if type(x) not in _PLAIN or (grad and x.requires_grad):
                    plain = False
                    break
                places |= x.data_ptr()
        except RuntimeError:  # inside torch.func
            plain = False
        if plain and not places & 15 and all([x.is_contiguous() for x in tensors[2:]]):
            if a_transposed:
                tensors[0] = a.mT
            if b_transposed:
                tensors[1] = b.mT
            return plan(*tensors, scalars=packed)
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
        return _into(shape, a, b, to, needs_gradient)
    if needs_gradient:
        return _differentiable(shape, a, b, to)
    return _product(shape, a, b, to, key)


def _into(shape: Shape, a: Any, b: Any, to: Epilogue, needs_gradient: bool) -> Any:
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
    _product(shape, a, b, to)
    return out


def _differentiable(shape: Shape, a: Any, b: Any, to: Epilogue) -> Any:
    # what the activation is of has to be kept, so it comes after the product
    plain = to.activation is None and not to.gated
    whole = shape_of(a.shape, b.shape) if to.gated else shape
    sums = _differentiated_matmul(whole, a, b, to.bias, to.residual if plain else None, to.out_dtype, to.alpha)
    if plain:
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


def _lying(x: Any) -> tuple[Any, bool]:
    """A matrix, or several, as rows of memory without gaps, and whether those are its columns; a copy of what lies otherwise."""
    if x.is_contiguous():
        return x, False
    transposed = x.mT
    return (transposed, True) if transposed.is_contiguous() else (x.contiguous(), False)


def _aligned(x: Any) -> Any:
    return x.clone() if _place(x) & 15 else x


def _product(shape: Shape, a: Any, b: Any, to: Epilogue, key: Any = None) -> Any:
    bias, activation, residual, out_dtype, gated, alpha, out = to
    (left, a_transposed), (right, b_transposed) = _lying(a), _lying(b)
    if gated and not b_transposed and shape.n % 8:  # the second half of its rows would begin between 16 bytes
        right, b_transposed = right.mT.contiguous(), True
    if shape.batched:
        left, right = left.flatten(0, -3), right.flatten(0, -3)
    elif left.dim() > 2:
        if a_transposed:
            left, a_transposed = a.contiguous(), False
        left = left.flatten(0, -2)
    along_k, of_a, of_b = padding_of(shape.k, shape.m, 2 * shape.n if gated else shape.n, a_transposed, b_transposed)
    is_copied = along_k or of_a or of_b
    if is_copied:
        left = _functional.pad(left, (0, of_a, 0, along_k) if a_transposed else (0, along_k))
        right = _functional.pad(right, (0, along_k) if b_transposed else (0, of_b, 0, along_k))
    named = (("batched", shape.batched), ("a_transposed", a_transposed), ("b_transposed", b_transposed),
             ("alpha", alpha != 1), ("bias", bias is not None), ("residual", residual is not None),
             ("wide", residual is not None and residual.dtype != a.dtype), ("gated", gated))  # fmt: skip
    has = (*[name for name, there in named if there], *(() if activation is None else (activation,)))
    tensors = [left, right]
    if bias is not None:
        tensors.append(bias.contiguous())
    if residual is not None:
        tensors.append(residual.contiguous().view((shape.batch, shape.m, shape.n) if shape.batched else (shape.m, shape.n)))
    k = shape.k + along_k
    if _is_compiling():
        # a' b, the gradient of a weight: K is a number of rows, and those are not what a graph is made for.
        along = least_rows_like(k) if a_transposed and not b_transposed else k
        number, names = _number_under_dynamo(str(a.dtype), str(out_dtype), rows_like(shape.m), slice(shape.n), slice(along), has)
        sizes = {"M": shape.m, "N": shape.n, "G": shape.batch, "alpha": alpha}
        names = (*names, "alpha") if alpha != 1 else names
        result = call_number_under_dynamo(number, tensors, [(name, sizes[name]) for name in names])
        return result.view(shape.result)
    tensors = [_aligned(x) for x in tensors]
    kernel = chosen_product(_HALVES[a.dtype], _OUTPUTS[out_dtype], shape.m, shape.n, k, shape.batch, has)
    plan, packed = kernel._bind({**sizes_of_product(kernel, shape), **({} if alpha == 1 else {"alpha": alpha})})
    if out is not None:
        return plan(
            *tensors, scalars=packed, out=out.view((shape.batch, shape.m, shape.n) if shape.batched else (shape.m, shape.n))
        )
    result = plan(*tensors, scalars=packed)
    if key is not None and not is_copied and a.dim() == 2 and _place(tensors[0]) == _place(a):
        if len(_ready) > 4096:  # of a program whose sizes never end
            _ready.clear()
        if _place(tensors[1]) == _place(b):
            _ready[key] = plan, packed, a_transposed, b_transposed
    return result if result.dim() == len(shape.result) else result.view(shape.result)


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
        return _product(shape, a, b, Epilogue(bias, None, residual, out_dtype, alpha=alpha))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.shape, a, b, bias, residual, _, ctx.alpha = inputs
        ctx.save_for_backward(a, b)
        ctx.has_bias, ctx.residual_dtype = bias is not None, None if residual is None else residual.dtype

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        a, b = ctx.saved_tensors
        shape, half = ctx.shape, dy.to(a.dtype)
        da = db = dbias = None
        if ctx.needs_input_grad[1]:
            da = _checked(half, b.mT, Epilogue(alpha=ctx.alpha))
        if ctx.needs_input_grad[2]:
            left, right = (a, half) if shape.batched else (a.flatten(0, -2), half.flatten(0, -2))
            db = _checked(left.mT, right, Epilogue(alpha=ctx.alpha))
        if ctx.has_bias and ctx.needs_input_grad[3]:
            dbias = dy.flatten(0, -2).sum(0).to(a.dtype)
        of_residual = dy.to(ctx.residual_dtype) if ctx.residual_dtype is not None and ctx.needs_input_grad[4] else None
        return None, da, db, dbias, of_residual, None, None


_differentiated_matmul = in_both_forms("matmul", _Matmul)


__all__ = ["matmul"]
