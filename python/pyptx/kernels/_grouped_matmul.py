"""`grouped_matmul` of numpy and JAX arrays."""

from __future__ import annotations

from typing import Any

from ._grouped import product_of_groups, shape_of_groups
from ._product_runs import name_of


def grouped_matmul(a: Any, b: Any, offsets: Any, activation: str | None, out_dtype: Any) -> Any:
    shape_of_groups(a, b, offsets, activation)
    out = name_of(a.dtype if out_dtype is None else out_dtype)
    if hasattr(a, "aval"):
        from . import _jax_grouped

        return _jax_grouped.grouped_matmul(activation, out, a, b, offsets)
    return product_of_groups(a, b, offsets, activation, out)
