"""How the library's functions launch kernels on torch tensors.

A call finds its plan in a dict, by what decides the kernel; the plan does the rest in C++. Under Dynamo the kernel is chosen once
for each row length, as for many rows, so that a graph serves any number of them. Imported when the first tensor comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch

from .. import _ptx
from ..errors import PtxError
from ..torch_support import state
from ..torch_support.dynamo import call_number_under_dynamo
from ..torch_support.operators import register_operators
from ..torch_support.refusals import needs_gradient, raise_to_dynamo
from . import _tuned
from ._known import PLAIN, Bound, Call, plainly
from ._library import Has, alignment_of, chosen, is_flat, kernel_of, sizes_of

register_operators()

_is_compiling = torch.compiler.is_dynamo_compiling
_DTYPES = {torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16"}
_MANY_ROWS = 1 << 14  # of what Dynamo traces
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
            whole = [_in_one_piece(m, has) for m in matrices] if torch._C._are_functorch_transforms_active() else ()
            if whole and all(m.is_contiguous() for m in whole):  # how a batch lies nobody sees who is called in it
                return launch(operation, has, whole, vectors, scalars)
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


def _in_one_piece(matrix: Any, has: Has) -> Any:
    """[M, N] of rows in groups, too; a packed one, [M, 2, N], as it is."""
    return matrix.contiguous() if matrix.dim() == 2 or "packed" in has else matrix.reshape(-1, matrix.shape[-1]).contiguous()


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
        call = _calls.get(key)
    except TypeError:  # sizes that torch.export leaves open: the checks behind this say so
        return None
    if call is not None and (results := call.again(*tensors)) is not None:
        return results
    known = _ready.get(key)
    if known is None:
        return None
    if (results := known[0].again(known[1], None, *tensors)) is not None:
        return results
    if (needs_gradient := plainly(tensors, True)) is None:
        return None
    if not needs_gradient or not torch.is_grad_enabled():
        return known[0](*tensors, scalars=known[1])
    if call_of is None or torch._C._are_functorch_transforms_active():
        return None
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


def _bound_like(operation: str, has: Has, shape: Any, dtype: Any, scalars: Scalars = ()) -> tuple[Bound, int]:
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
        plan, packed = _bound_sums(has, dtype, rows, columns)
        found = plan(*partial, scalars=packed)
    return found if isinstance(found, (tuple, list)) else (found,)


def _bound_sums(has: Has, dtype: Any, rows: int, columns: int) -> Bound:
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
    """Its address, as far as there is one: what torch makes up while it traces has none. Inside torch.func, that of what stands
    behind it."""
    if type(tensor) not in PLAIN:
        return 0
    try:
        return int(tensor.data_ptr())
    except RuntimeError:
        functorch = torch._C._functorch
        if not functorch.is_functorch_wrapped_tensor(tensor):
            return 0
        return _place(functorch.get_unwrapped(tensor))


def is_wrapped(tensor: Any) -> bool:
    """Whether it is a tensor inside torch.func, or a gradient of a batch of them."""
    functorch = torch._C._functorch
    return bool(functorch.is_functorch_wrapped_tensor(tensor) or functorch.is_legacy_batchedtensor(tensor))


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
    for x in tensors:
        if x is not None and x.requires_grad:
            return True
    if _is_compiling() or not torch._C._are_functorch_transforms_active():
        return False
    return any(x is not None and needs_gradient(x) for x in tensors)


def _row_by_row(gradient: Any) -> Any:
    """A gradient may come expanded, as from `.sum()`: its rows' elements are to lie side by side."""
    return gradient if gradient.stride(-1) == 1 else gradient.contiguous()
