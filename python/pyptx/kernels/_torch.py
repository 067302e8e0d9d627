"""The library's functions for torch tensors: eager, under `torch.compile`, and with gradients.

A call finds its plan in a dict, by what decides the kernel; the plan does the rest in C++. Under Dynamo the kernel is chosen once
for each row length, as for many rows, so that a graph serves any number of them. Imported when the first tensor comes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch

from .. import _ptx
from ..errors import PtxError
from ..torch_support import state
from ..torch_support.dynamo import call_number_under_dynamo
from ..torch_support.operators import register_operators
from ..torch_support.refusals import raise_to_dynamo
from . import _checks, _tuned
from ._differentiated import in_both_forms, once
from ._known import Call, Gated, Norm, ReducedLoss, Softmax, Step
from ._library import Has, alignment_of, chosen, is_flat, kernel_of, sizes_of
from ._loss import Loss, loss_of
from ._mean import MOST_ROWS, counted, reduced_losses

register_operators()

_is_compiling = torch.compiler.is_dynamo_compiling
_DTYPES = {torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16"}
_MANY_ROWS = 1 << 14  # of what Dynamo traces
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_plans: dict[Any, Any] = {}

Scalars = tuple[tuple[str, Any], ...]


def launch(operation: str, has: Has, matrices: Sequence[Any], vectors: Sequence[Any], scalars: Scalars = ()) -> Any:
    """Of matrices [M, N], packed ones [M, 2, N], and vectors [N]; the kernel's outputs. Dynamo traces this."""
    x = matrices[0]
    if _is_compiling():
        number, sizes = _number_under_dynamo(operation, has, str(x.dtype), slice(x.shape[-1]))
        return call_number_under_dynamo(number, [*[m.contiguous() for m in matrices], *vectors], (*scalars, *sizes))
    rows, columns = x.shape[0], x.shape[-1]
    # How far all rows are aligned. Of a gated product the matrix is one row.
    places = x.element_size() * columns * (rows if is_flat(operation, has) else 1)
    for tensor in matrices:
        if not tensor.is_contiguous():
            return _launch_strided(operation, has, matrices, vectors, scalars)
        places |= _place(tensor)
    for vector in vectors:
        if not vector.is_contiguous():
            return launch(operation, has, matrices, [v.contiguous() for v in vectors], scalars)
        places |= _place(vector)
    key = (operation, has, x.dtype, columns, rows.bit_length(), places & 15, scalars)
    known = _plans.get(key)
    if known is None:
        kernel = chosen(operation, _dtype(operation, x), rows, columns, alignment_of(places), has)
        known = _plans[key] = (*_bound(kernel, scalars, rows), kernel)
    return known[0](*matrices, *vectors, scalars=known[1])


# Plans of calls like earlier ones, by operation, shape, type and scalars: of plain tensors in one piece each, 16 bytes aligned.
_ready: dict[Any, Any] = {}
_calls: dict[Any, Call] = {}  # of those, what torch differentiates
_met: set[Any] = set()  # keys of one call, of arrays that are no matrices
_MOST_READY = 4096  # of a program whose sizes never end
_tuned.plans.extend([_plans, _ready, _calls])


def _again(key: Any, tensors: Sequence[Any], call_of: Callable[[Any, Any], Call] | None = None) -> Any:
    """A call like an earlier one; None where it is not. `call_of` makes what a call is that torch differentiates, of the key and
    what is known of the call without."""
    try:
        known = _ready.get(key)
    except TypeError:  # sizes that torch.export leaves open: the checks behind this say so
        return None
    if known is None:
        return None
    places, differentiated = 0, False
    try:
        for x in tensors:
            if type(x) not in _PLAIN or not x.is_contiguous():
                return None
            if x.requires_grad:
                differentiated = True
            places |= x.data_ptr()
    except RuntimeError:  # inside torch.func
        return None
    if places & 15:
        return None
    if not differentiated or not torch.is_grad_enabled():
        return known[0](*tensors, scalars=known[1])
    if call_of is None or torch._C._are_functorch_transforms_active():
        return None
    call = _calls.get(key)
    if call is None:
        call = _calls[key] = call_of(key, known)
    return call(*tensors)


def _keep(key: Any, x: Any, operation: str, has: Has, scalars: Scalars = ()) -> None:
    """Has `_again` know calls with this key, where the last one, of `x`, took such a plan. Of an array that is no matrix there is
    a kernel that takes it as it is, from the second call on: each number of rows has a plan of its own then."""
    columns = x.shape[-1]
    rows = x.numel() // columns
    known = _plans.get((operation, has, x.dtype, columns, rows.bit_length(), 0, scalars))
    if known is None:
        return
    if len(_ready) > _MOST_READY or len(_met) > _MOST_READY:
        _ready.clear()
        _calls.clear()
        _met.clear()
    if x.dim() == 2:
        _ready[key] = known
    elif key not in _met:
        _met.add(key)
    elif x.dim() > 2 and rows:
        kernel = kernel_of(known[2].__name__, x.dim() - 1)
        _ready[key] = kernel._bind({**dict(scalars), "M": rows})


def _step(operation: str, has: Has, shape: Any, dtype: Any, scalars: Scalars = ()) -> tuple[Step, int]:
    """A launch of arrays of this shape as they are, in one piece each and 16 bytes aligned; and the rows of the partial sums that
    it leaves."""
    columns = shape[-1]
    rows = math.prod(shape[:-1])
    row = columns * dtype.itemsize * (rows if is_flat(operation, has) else 1)
    kernel = chosen(operation, _DTYPES[dtype], rows, columns, alignment_of(row), has)
    partial = sizes_of(kernel, rows)
    sizes = {**dict(scalars), **partial}
    if len(shape) > 2:
        kernel, sizes = kernel_of(kernel.__name__, len(shape) - 1), {**sizes, "M": rows}
    plan, packed = kernel._bind(sizes)
    return (plan, packed), partial.get("P", 0)


def _column_sums(partial: Sequence[Any], has: Has, dtype: Any) -> Sequence[Any]:
    """The gradients of weight and bias, of what the blocks of a backward left."""
    rows, columns = partial[0].shape
    if _is_compiling():
        number, _ = _number_under_dynamo("column_sums", has, str(dtype), slice(columns))
        found = call_number_under_dynamo(number, [*partial], ())
    else:
        plan, packed = _step_of_sums(has, dtype, rows, columns)
        found = plan(*partial, scalars=packed)
    return found if isinstance(found, (tuple, list)) else (found,)


def _step_of_sums(has: Has, dtype: Any, rows: int, columns: int) -> Step:
    key = ("column_sums", has, dtype, rows, columns)
    known = _plans.get(key)
    if known is None:
        kernel = chosen("column_sums", _DTYPES[dtype], rows, columns, alignment_of(4 * columns), has)
        known = _plans[key] = _bound(kernel, (), rows)
    return known[0], known[1]


def _bound(kernel: Any, scalars: Scalars, rows: int) -> tuple[Any, Any]:
    """The plan of a kernel, and the values of its scalars as a launch takes them."""
    plan, packed = kernel._bind({**dict(scalars), **sizes_of(kernel, rows)})
    return plan, packed


def _place(tensor: Any) -> int:
    """Its address, as far as there is one: what torch makes up while it traces has none."""
    if type(tensor) not in _PLAIN:
        return 0
    try:
        return int(tensor.data_ptr())
    except RuntimeError:  # inside torch.func
        return 0


def _dtype(operation: str, x: Any) -> str:
    known = _DTYPES.get(x.dtype)
    if known is None:
        _refuse_dtype(operation, x.dtype)
    return known


def _refuse_dtype(operation: str, dtype: Any) -> NoReturn:
    _ptx.raise_error("argument_dtype", f"`{operation}` of {dtype} elements", "what fits is float32, float16 or bfloat16")


def _launch_strided(operation: str, has: Has, matrices: Sequence[Any], vectors: Sequence[Any], scalars: Scalars) -> Any:
    """Of matrices whose rows lie apart: the kernel takes what lies between the first element and the last, and the distances."""
    vectors = [v.contiguous() for v in vectors]
    if "packed" in has:
        matrices = [part for m in matrices for part in ((m,) if m.dim() == 2 else (m[:, 0], m[:, 1]))]
        has = tuple(word for word in has if word != "packed")
    x, places, flat = matrices[0], 0, []
    columns = x.shape[-1]
    groups, of_group = next((tuple(m.shape[:2]) for m in matrices if m.dim() == 3), (1, x.shape[0]))
    rows = groups * of_group
    kernel_scalars: list[tuple[str, Any]] = [*scalars, ("M", rows), ("N", columns), ("group_rows", max(of_group, 1))]
    if rows == 0:
        return launch(operation, has, [m.reshape(0, columns) for m in matrices], vectors, scalars)
    strides = []
    for m in matrices:
        if m.dim() == 3 and tuple(m.shape[:2]) != (groups, of_group):
            _refuse_distances(operation, "an input", m)
        between_groups, stride, inner = (m if m.dim() == 3 else m.view(groups, of_group, columns)).stride()
        if inner != 1 and columns > 1:
            _ptx.raise_error(
                "argument_dim",
                f"`{operation}` of a tensor whose last dimension has stride {inner}",
                "what fits has the elements of a row side by side: `.contiguous()` makes such a tensor",
            )
        for distance in (stride, between_groups):
            if not 0 <= distance < 1 << 32:
                _ptx.raise_error(
                    "argument_dim", f"`{operation}` of rows {distance} elements apart", "what fits is less than 2^32"
                )
            places |= distance * m.element_size()
        strides += [stride, between_groups]
        places |= _place(m)
        flat.append(m.as_strided(((groups - 1) * between_groups + (of_group - 1) * stride + columns,), (1,)))
    alignment = alignment_of(columns * x.element_size(), places, *(_place(v) for v in vectors))
    kernel = chosen(operation, _dtype(operation, x), rows, columns, alignment, (*has, "strided"))
    names = [name for _, name in kernel._declared.raw_params if name.endswith("_stride")]  # a tensor's rows', then its groups'
    kernel_scalars += zip(names, strides, strict=True)
    plan, packed = _bound(kernel, tuple(kernel_scalars), rows)
    return plan(*flat, *vectors, scalars=packed)


@state.constant
def _number_under_dynamo(operation: str, has: Has, dtype: str, columns: Any) -> tuple[str, Scalars]:
    """The number of the kernel for rows of this length, and sizes that its inputs do not say. Dynamo runs this, and takes the
    result for constant. What is known of addresses is that they are torch's own; of M, nothing."""
    try:
        name = dtype.removeprefix("torch.")
        if name not in _DTYPES.values():
            _refuse_dtype(operation, dtype)
        row = columns.stop * (4 if name == "float32" else 2)
        kernel = chosen(operation, name, _MANY_ROWS, columns.stop, alignment_of(row), has)
        return kernel._number, tuple(sizes_of(kernel, _MANY_ROWS).items())
    except PtxError as error:
        raise_to_dynamo(error)


# -- shapes


def _rows(operation: str, name: str, x: Any, columns: int) -> Any:
    """`x` as a matrix of its last dimension, where it lies; rows in groups, as of `x[:, 1:]`, as [groups, rows, columns]."""
    if x.dim() == 2:
        return x
    if _is_compiling():
        return x.reshape(-1, columns)
    try:
        return x.view(-1, columns)
    except RuntimeError:
        pass
    shape = x.shape
    for split in range(1, len(shape) - 1):
        try:
            return x.view(math.prod(shape[:split]), math.prod(shape[split:-1]), columns)
        except RuntimeError:
            continue
    return _refuse_distances(operation, name, x)


def _refuse_distances(operation: str, name: str, x: Any) -> NoReturn:
    _ptx.raise_error(
        "argument_dim",
        f"`{operation}`: `{name}` has shape {tuple(x.shape)} and strides {tuple(x.stride())}, "
        "which are no rows at equal distances, and no groups of such",
        "`.contiguous()` makes a tensor that is",
    )


def _needs_gradient(*tensors: Any) -> bool:
    if not torch.is_grad_enabled():
        return False
    for x in tensors:  # noqa: SIM110 - Dynamo traces this
        if x is not None and x.requires_grad:
            return True
    return False


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

    def bind() -> tuple[Step, ...]:
        step, partial = _step(f"{operation}_backward", has, shape, dtype, scalars)
        return (step, _step_of_sums(vectors, dtype, partial, shape[-1])) if vectors else (step,)

    @once("norm")
    def otherwise(ctx: Any, *gradients: Any) -> Any:
        x, *weight = ctx.saved_tensors
        matrix, *of_results = [each.reshape(-1, shape[-1]) for each in (x, *gradients)]
        dx, *found = norm_backward(operation, of_results, matrix, weight[0] if weight else None, there["bias"], eps, offset)
        dx = dx.view(shape)
        of_vectors = [each for each, word in zip(found, ("weight", "bias"), strict=True) if there[word]]
        return (None, dx, *([dx] if there["residual"] else []), *of_vectors)

    return Call(Norm, known[:2], bind, otherwise, (there["residual"], there["weight"], there["bias"]))


# -- softmax


def softmax(operation: str, x: Any) -> Any:
    if not _is_compiling():
        key = (operation, x.shape, x.dtype)
        try:
            known = _ready.get(key)  # what `_again` does, of one tensor: torch's own call takes 7 us
        except TypeError:  # sizes that torch.export leaves open
            known = None
        if known is not None:
            if x.requires_grad:
                if (result := _again(key, (x,), _call_of_softmax)) is not None:
                    return result
            elif type(x) in _PLAIN and x.is_contiguous():
                try:
                    if not x.data_ptr() & 15:
                        return known[0](x, scalars=known[1])
                except RuntimeError:  # inside torch.func
                    pass
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
        return None, launch(f"{operation}_backward", (), matrices, ()).view(shape)

    return Call(Softmax, known[:2], lambda: (_step(f"{operation}_backward", (), shape, dtype)[0],), otherwise)


def _row_by_row(gradient: Any) -> Any:
    """A gradient may come expanded, as from `.sum()`: its rows' elements are to lie side by side."""
    return gradient if gradient.stride(-1) == 1 else gradient.contiguous()


# -- cross-entropy


_CLASSES = (torch.int64, torch.int32)


def cross_entropy(logits: Any, target: Any, ignore_index: Any, smoothing: Any, z_loss: Any, reduction: str) -> Any:
    key: Any = None
    if not _is_compiling():
        key = (logits.shape, logits.dtype, target.shape, target.dtype, ignore_index, smoothing, z_loss, reduction)
        try:
            known = _ready.get(key)
        except TypeError:  # what is no number is told below
            known = None
        if known is not None and logits.requires_grad and torch.is_grad_enabled():
            if known[2] is not None and (total := _again(key, (logits, target), _call_of_loss)) is not None:
                return total
        elif known is not None and (losses := _again(key, (logits, target))) is not None:
            return losses if known[2] is None else known[2](losses, target, scalars=known[3]).squeeze_(0)
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


def _reduction_of(shape: Any, dtype: Any, loss: Loss, reduction: str, has_factor: bool = False) -> Step:
    kernel = reduced_losses(len(shape), dtype == torch.int32, reduction == "mean", has_factor)
    plan, packed = kernel._bind({"M": math.prod(shape), "ignore_index": loss.ignore_index})
    return plan, packed


def is_reduced_at_once(target: Any) -> bool:
    """Whether a sum or a mean of so many losses is one launch."""
    return not _is_compiling() and type(target) in _PLAIN and 0 < target.numel() <= MOST_ROWS


def scale_of(loss: Loss, target: Any, reduction: str) -> tuple[Any, Any]:
    """The gradient of each loss where that of their sum or mean is 1, as two numbers, [1]: 1, and what a loss counts with."""
    plan, packed = _counting_of(target.shape, target.dtype, loss.ignore_index, reduction == "mean")
    return tuple(plan(target.contiguous(), scalars=packed))


@functools.cache
def _counting_of(shape: Any, dtype: Any, ignore_index: int, is_mean: bool) -> Step:
    kernel = counted(len(shape), dtype == torch.int32, is_mean)
    plan, packed = kernel._bind({"M": math.prod(shape), "ignore_index": ignore_index})
    return plan, packed


def reduced(losses: Any, target: Any, loss: Loss, reduction: str) -> Any:
    """The sum of losses that need no gradient, or their mean over the rows that count; of few rows in one launch."""
    if is_reduced_at_once(target) and type(losses) in _PLAIN and losses.shape == target.shape:
        plan, packed = _reduction_of(target.shape, target.dtype, loss, reduction)
        return plan(losses, target.contiguous(), scalars=packed).view(())
    return losses.sum() if reduction == "sum" else losses.sum() / (target != loss.ignore_index).sum()


def _differentiable_loss(loss: Loss, logits: Any, target: Any, shape: Any, reduction: str) -> Any:
    plain = not _is_compiling() and type(logits) in _PLAIN and not torch._C._are_functorch_transforms_active()
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

    def bind() -> tuple[Step, ...]:
        words = loss.words(True, False, classes == torch.int32, given=True)
        return (_step("cross_entropy", words, shape, dtype, _scalars_of(loss))[0],)

    @once("cross_entropy")
    def otherwise(ctx: Any, gradient: Any) -> Any:
        logits, target, factor = ctx.saved_tensors
        scale = (gradient * factor).expand(target.numel()).contiguous()
        _, of_logits = losses_of(loss, logits.view(-1, shape[-1]), target.view(-1), scale)
        return None, of_logits.view(shape), None

    return Call(ReducedLoss, known[:2], bind, otherwise, _reduction_of(of_target, classes, loss, reduction, has_factor=True))


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
        return None, dgate.view(shape), dup.view(shape)

    return Call(Gated, known[:2], lambda: (_step(f"{operation}_backward", (), shape, dtype)[0],), otherwise)


__all__ = ["cross_entropy", "cross_entropy_and_gradient", "gated", "kernel_of", "launch", "norm", "softmax"]
