"""The library's functions for numpy and JAX arrays, those of JAX with gradients."""

from __future__ import annotations

from typing import Any

from . import _checks
from ._library import Has, alignment_of, chosen, like, sizes_of


def _launch(operation: str, has: Has, shape: tuple[int, int], arrays: list[Any], **scalars: float) -> Any:
    """Of arrays [M, N] (packed ones [M, 2, N]) and [N]; `shape` is M, N."""
    rows, columns = shape
    size = arrays[0].dtype.itemsize
    row = (rows if "glu" in operation and not has else 1) * columns * size
    places = [getattr(x, "ctypes").data for x in arrays if hasattr(x, "ctypes")]  # numpy's; JAX's are aligned
    kernel = chosen(operation, arrays[0].dtype.name, like(rows), columns, alignment_of(row, *places), has)
    return kernel(*arrays, **scalars, **sizes_of(kernel, rows))


def _is_jax(x: Any) -> bool:
    return hasattr(x, "aval")


def norm(operation: str, x: Any, weight: Any, bias: Any, residual: Any, eps: float, offset: float) -> Any:
    _checks.require_rows(operation, x)
    if residual is not None:
        _checks.require_like(operation, "residual", residual, x)
    vectors = [("weight", weight), ("bias", bias)]
    for name, vector in vectors:
        if vector is not None:
            _checks.require_vector(operation, name, vector, x)
    result = (_jax().norm if _is_jax(x) else run_norm)(operation, eps, offset, x, weight, bias, residual)
    return result if residual is None else tuple(result)


def _jax() -> Any:
    from . import _jax

    return _jax


def run_norm(operation: str, eps: float, offset: float, x: Any, weight: Any, bias: Any, residual: Any) -> Any:
    columns = x.shape[-1]
    named = (("residual", residual), ("weight", weight), ("bias", bias))
    matrices = [each.reshape(-1, columns) for each in (x, residual) if each is not None]
    has = tuple(name for name, value in named if value is not None)
    scalars = {"eps": eps} | ({"offset": offset} if weight is not None and operation == "rms_norm" else {})
    vectors = [vector for vector in (weight, bias) if vector is not None]
    result = _launch(operation, has, matrices[0].shape, matrices + vectors, **scalars)
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
    result = _launch(f"{operation}_backward", has, matrices[0].shape, matrices + vectors, **scalars)
    if weight is None and not bias:
        return result.reshape(x.shape), None, None
    sums = [partial.sum(0).astype(x.dtype) for partial in result[1:]]
    return result[0].reshape(x.shape), sums[0] if weight is not None else None, sums[-1] if bias else None


def softmax(operation: str, x: Any) -> Any:
    _checks.require_rows(operation, x)
    return (_jax().softmax if _is_jax(x) else run_rows)(operation, x)


def run_rows(operation: str, *arrays: Any) -> Any:
    """Of arrays of one shape."""
    shape = arrays[0].shape
    matrices = [x.reshape(-1, shape[-1]) for x in arrays]
    result = _launch(operation, (), matrices[0].shape, matrices)
    return tuple(x.reshape(shape) for x in result) if isinstance(result, (tuple, list)) else result.reshape(shape)


def gated(operation: str, gate: Any, up: Any) -> Any:
    _checks.require_rows(operation, gate)
    if up is None:
        _checks.require_even(operation, gate)
        return (_jax().packed if _is_jax(gate) else run_packed)(operation, gate)
    _checks.require_like(operation, "up", up, gate, "gate")
    return (_jax().gated if _is_jax(gate) else run_rows)(operation, gate, up)


def run_packed(operation: str, x: Any, dy: Any = None) -> Any:
    """Of gate and up side by side; with `dy`, the gradient of both."""
    columns = x.shape[-1] // 2
    packed = x.reshape(-1, 2, columns)
    if dy is not None:
        arrays = [dy.reshape(-1, columns), packed]
        return _launch(f"{operation}_backward", ("packed",), (packed.shape[0], columns), arrays).reshape(x.shape)
    return _launch(operation, ("packed",), (packed.shape[0], columns), [packed]).reshape((*x.shape[:-1], columns))


def cross_entropy(logits: Any, target: Any, ignore_index: int, label_smoothing: float, reduction: str) -> Any:
    _checks.require_classes(logits, target, reduction, target.dtype.name == "int64")
    classes, counts = target.reshape(-1), (target != ignore_index).sum()
    losses = _losses(logits, classes, ignore_index, label_smoothing)
    return losses.reshape(target.shape) if reduction == "none" else losses.sum() / (counts if reduction == "mean" else 1)


def cross_entropy_and_gradient(logits: Any, target: Any, ignore_index: int, label_smoothing: float, reduction: str) -> Any:
    _checks.require_classes(logits, target, reduction, target.dtype.name == "int64")
    classes = target.reshape(-1)
    counts = (classes != ignore_index).sum() if reduction == "mean" else 1
    scale = (classes * 0 + 1).astype("float32") / counts
    losses, gradient = _losses(logits, classes, ignore_index, label_smoothing, scale.astype("float32"))
    loss = losses.reshape(target.shape) if reduction == "none" else losses.sum() / counts
    return loss, gradient.reshape(logits.shape)


def _losses(logits: Any, target: Any, ignore_index: int, smoothing: float, scale: Any = None) -> Any:
    matrix = logits.reshape(-1, logits.shape[-1])
    more = [target] if scale is None else [target, scale]
    scalars = {"ignore_index": ignore_index, "smoothing": smoothing}
    return _launch("cross_entropy", () if scale is None else ("gradient",), matrix.shape, [matrix, *more], **scalars)
