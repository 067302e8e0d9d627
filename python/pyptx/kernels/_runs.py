"""The library's kernels on arrays of numpy's or JAX's: arrays in, arrays out, as rows."""

from __future__ import annotations

from typing import Any

from ._library import Has, alignment_of, chosen, is_flat, sizes_of
from ._loss import Loss


def run(operation: str, has: Has, shape: tuple[int, int], arrays: list[Any], **scalars: float) -> Any:
    """Of arrays [M, N] (packed ones [M, 2, N]) and [N]; `shape` is M, N."""
    return _run_to(arrays[0].dtype.name, operation, has, shape, arrays, **scalars)


def _run_to(dtype: str, operation: str, has: Has, shape: tuple[int, int], arrays: list[Any], **scalars: float) -> Any:
    """The same with the type of the results. Of numpy's arrays those whose elements lie apart are copied."""
    arrays = [x.copy() if hasattr(x, "ctypes") and not x.flags.c_contiguous else x for x in arrays]
    rows, columns = shape
    size = arrays[0].dtype.itemsize
    row = (rows if is_flat(operation, has) else 1) * columns * size
    places = [x.ctypes.data for x in arrays if hasattr(x, "ctypes")]  # numpy's; JAX's are aligned
    kernel = chosen(operation, dtype, rows, columns, alignment_of(row, *places), has)
    return kernel(*arrays, **scalars, **sizes_of(kernel, rows))


def run_norm(
    operation: str, eps: float, offset: float, x: Any, weight: Any, bias: Any, residual: Any, more: Has = (), scale: Any = None
) -> Any:
    """The norm, with a residual the sum, and of e4m3 (`more`) the scales of its rows, where none is given."""
    columns = x.shape[-1]
    named = (("residual", residual), ("weight", weight), ("bias", bias))
    matrices = [each.reshape(-1, columns) for each in (x, residual) if each is not None]
    has = tuple(name for name, value in named if value is not None)
    scalars = {"eps": eps} | ({"offset": offset} if weight is not None and operation == "rms_norm" else {})
    vectors = [vector for vector in (weight, bias) if vector is not None]
    if more:
        given = [] if scale is None else [scale.reshape(1)]
        found = run(operation, (*has, *more), matrices[0].shape, matrices + vectors + given, **scalars)
        y, *rest = found if isinstance(found, (tuple, list)) else (found,)
        scales = [] if given else [rest.pop()]
        return (y.reshape(x.shape), *(each.reshape(x.shape) for each in rest), *scales)
    result = run(operation, has, matrices[0].shape, matrices + vectors, **scalars)
    if residual is None:
        return result.reshape(x.shape)
    return tuple(each.reshape(x.shape) for each in result)


def run_norm_backward(operation: str, eps: float, offset: float, dy: Any, of_sum: Any, x: Any, weight: Any, bias: bool) -> Any:
    """Gradients of x, weight and bias; `of_sum` is that of the sum with a residual."""
    columns = x.shape[-1]
    matrices = [each.reshape(-1, columns) for each in (dy, x, of_sum) if each is not None]
    named = (("residual", of_sum is not None), ("weight", weight is not None), ("bias", bias))
    has = tuple(name for name, there in named if there)
    scalars = {"eps": eps} | ({"offset": offset} if weight is not None and operation == "rms_norm" else {})
    vectors = [] if weight is None else [weight]
    result = run(f"{operation}_backward", has, matrices[0].shape, matrices + vectors, **scalars)
    if weight is None and not bias:
        return result.reshape(x.shape), None, None
    partial, vectors_of = list(result[1:]), tuple(word for word in has if word in ("weight", "bias"))
    sums = _run_to(x.dtype.name, "column_sums", vectors_of, partial[0].shape, partial)
    sums = sums if isinstance(sums, (tuple, list)) else [sums]
    return result[0].reshape(x.shape), sums[0] if weight is not None else None, sums[-1] if bias else None


def run_rows(operation: str, *arrays: Any) -> Any:
    """Of arrays of one shape."""
    shape = arrays[0].shape
    matrices = [x.reshape(-1, shape[-1]) for x in arrays]
    result = run(operation, (), matrices[0].shape, matrices)
    return tuple(x.reshape(shape) for x in result) if isinstance(result, (tuple, list)) else result.reshape(shape)


def run_packed(operation: str, x: Any, dy: Any = None) -> Any:
    """Of gate and up side by side; with `dy`, the gradient of both."""
    columns = x.shape[-1] // 2
    packed = x.reshape(-1, 2, columns)
    if dy is not None:
        arrays = [dy.reshape(-1, columns), packed]
        return run(f"{operation}_backward", ("packed",), (packed.shape[0], columns), arrays).reshape(x.shape)
    return run(operation, ("packed",), (packed.shape[0], columns), [packed]).reshape((*x.shape[:-1], columns))


def run_losses(loss: Loss, logits: Any, target: Any, scale: Any = None, in_place: bool = False) -> Any:
    """The cross-entropy of each row; with the gradients of the losses, `scale`, also that of the logits."""
    more = [target] if scale is None else [target, scale]
    has = loss.words(scale is not None, in_place, target.dtype.name == "int32")
    return run("cross_entropy", has, logits.shape, [logits, *more], **loss._asdict())
