"""`matmul` of numpy and JAX arrays."""

from __future__ import annotations

from typing import Any

from . import _checks
from ._product_runs import name_of, product
from ._products import require_epilogue, shape_of


def matmul(
    a: Any, b: Any, bias: Any, activation: str | None, residual: Any, out_dtype: Any, gated: bool = False, alpha: float = 1.0
) -> Any:
    if a.dtype != b.dtype:
        _checks.refuse_dtype("matmul", "b", b, a, "a")
    shape = shape_of(a.shape, b.shape, gated)
    require_epilogue(shape, a, bias, activation, residual)
    out = name_of(a.dtype if out_dtype is None else out_dtype)
    if hasattr(a, "aval"):
        from . import _jax_matmul

        return _jax_matmul.matmul(shape, activation, out, gated, alpha, a, b, bias, residual)
    return product(shape, a, b, bias, activation, residual, out, gated, alpha)
