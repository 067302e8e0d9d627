"""Matrix products of numpy and JAX arrays: how those lie, and the launch."""

from __future__ import annotations

from typing import Any

from ._products import Shape, chosen_product, padding_of, sizes_of_product


def name_of(dtype: Any) -> str:
    """ "bfloat16" of a type object, a dtype or a name."""
    return str(getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype))


def as_it_lies(x: Any, pad: tuple[int, int]) -> Any:
    """Rows of memory, padded with zeros."""
    if not any(pad):
        return x
    numpy = module_of(x)
    return numpy.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, pad[0]), (0, pad[1])])


def rows_of(x: Any) -> Any:
    return module_of(x).ascontiguousarray(x) if hasattr(x, "flags") else x


def module_of(x: Any) -> Any:
    if hasattr(x, "aval"):
        import jax.numpy

        return jax.numpy
    import numpy

    return numpy


def is_transposed(x: Any) -> bool:
    """Whether a matrix, or each of several, lies with its columns one after the other; JAX's never do."""
    if not hasattr(x, "flags") or x.flags.c_contiguous:
        return False
    return bool(x.swapaxes(-1, -2).flags.c_contiguous)


def product(
    shape: Shape,
    a: Any,
    b: Any,
    bias: Any,
    activation: str | None,
    residual: Any,
    out: str,
    gated: bool = False,
    alpha: float = 1.0,
) -> Any:
    """An f32 residual of 16-bit factors is what an f32 result is added to, in its place."""
    outer = (shape.batch,) if shape.batched else ()
    a_transposed, b_transposed = is_transposed(a) and len(a.shape) == len(b.shape), is_transposed(b)
    a = (a.swapaxes(-1, -2) if a_transposed else a).reshape(*outer, *((shape.k, shape.m) if a_transposed else (shape.m, shape.k)))
    columns = 2 * shape.n if gated else shape.n
    if gated and not b_transposed and shape.n % 8:  # the second half of its rows would begin between 16 bytes
        b, b_transposed = rows_of(b.swapaxes(-1, -2)).swapaxes(-1, -2), True
    b = (b.swapaxes(-1, -2) if b_transposed else b).reshape(*outer, *((columns, shape.k) if b_transposed else (shape.k, columns)))
    along_k, of_a, of_b = padding_of(shape.k, shape.m, columns, a_transposed, b_transposed)
    a = as_it_lies(a, (along_k, of_a) if a_transposed else (0, along_k))
    b = as_it_lies(b, (0, along_k) if b_transposed else (along_k, of_b))
    named = (("batched", shape.batched), ("a_transposed", a_transposed), ("b_transposed", b_transposed),
             ("alpha", alpha != 1), ("bias", bias is not None), ("residual", residual is not None),
             ("wide", residual is not None and residual.dtype != a.dtype), ("gated", gated))  # fmt: skip
    has = (*(name for name, there in named if there), *(() if activation is None else (activation,)))
    k = shape.k + along_k
    kernel = chosen_product(name_of(a.dtype), out, shape.m, shape.n, k, shape.batch, has)
    more = [] if bias is None else [bias]
    if residual is not None:
        more.append(residual.reshape(*outer, shape.m, shape.n))
    scalars = {} if alpha == 1 else {"alpha": alpha}
    return kernel(a, b, *more, **sizes_of_product(kernel, shape), **scalars).reshape(shape.result)
