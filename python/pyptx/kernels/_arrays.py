"""The library's functions for numpy and JAX arrays."""

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


def norm(operation: str, x: Any, weight: Any, bias: Any, residual: Any, eps: float, offset: float) -> Any:
    _checks.require_rows(operation, x)
    if residual is not None:
        _checks.require_like(operation, "residual", residual, x)
    vectors = [("weight", weight), ("bias", bias)]
    for name, vector in vectors:
        if vector is not None:
            _checks.require_vector(operation, name, vector, x)
    columns = x.shape[-1]
    matrices = [each.reshape(-1, columns) for each in (x, residual) if each is not None]
    has = tuple(name for name, value in (*vectors, ("residual", residual)) if value is not None)
    scalars = {"eps": eps} | ({"offset": offset} if weight is not None and operation == "rms_norm" else {})
    given = [vector for _, vector in vectors if vector is not None]
    result = _launch(operation, has, matrices[0].shape, matrices + given, **scalars)
    if residual is None:
        return result.reshape(x.shape)
    return tuple(each.reshape(x.shape) for each in result)


def softmax(operation: str, x: Any) -> Any:
    _checks.require_rows(operation, x)
    matrix = x.reshape(-1, x.shape[-1])
    return _launch(operation, (), matrix.shape, [matrix]).reshape(x.shape)


def gated(operation: str, gate: Any, up: Any) -> Any:
    _checks.require_rows(operation, gate)
    if up is None:
        _checks.require_even(operation, gate)
        columns = gate.shape[-1] // 2
        packed = gate.reshape(-1, 2, columns)
        return _launch(operation, ("packed",), (packed.shape[0], columns), [packed]).reshape((*gate.shape[:-1], columns))
    _checks.require_like(operation, "up", up, gate, "gate")
    matrices = [each.reshape(-1, gate.shape[-1]) for each in (gate, up)]
    return _launch(operation, (), matrices[0].shape, matrices).reshape(gate.shape)
