"""`scaled_matmul`: what its scales mean, and the function of numpy and JAX arrays."""

from __future__ import annotations

from typing import Any

from .. import _ptx
from ._product_runs import is_transposed, module_of, name_of, rows_of
from ._products import Shape, chosen_product, require_epilogue, shape_of, sizes_of_product

BLOCK = 128  # elements along K, and columns of b, with one scale
FLOAT8 = "float8_e4m3fn"


def scaling_of(shape: Shape, scale_a: tuple[int, ...], scale_b: tuple[int, ...]) -> str:
    """The kind of scaling that the scales' shapes say. ValueError where they say none."""
    m, n, along_k = shape.m, shape.n, -(-shape.k // BLOCK)
    one = ((), (1,), (1, 1))
    if scale_a in one and scale_b in one:
        return "tensorwise"
    if scale_a in ((m,), (m, 1), *one) and scale_b in ((n,), (1, n), *one):
        return "rowwise"
    if scale_a != (m, along_k) or scale_b != (along_k, -(-n // BLOCK)):
        _ptx.raise_error(
            "argument_dim",
            f"`scaled_matmul` of {m} x {shape.k} by {shape.k} x {n}: `scale_a` has shape {scale_a} and `scale_b` {scale_b}",
            f"what fits is one number each, [{m}, 1] and [1, {n}], or [{m}, {along_k}] and [{along_k}, {-(-n // BLOCK)}]",
        )
    return "blockwise"


def padding_of_float8(k: int) -> int:
    """Elements along K that are missing for rows of memory to be 16 bytes aligned, as TMA asks; a sum of nothing is of zeros."""
    return -k % 16 if k else 16


def require_float8(shape: Shape, dtypes: tuple[str, str], scales: tuple[str, str]) -> None:
    """The factors are f8 e4m3, the scales f32, and there is one product."""
    for name, dtype in zip(("a", "b"), dtypes, strict=True):
        if dtype != FLOAT8:
            _ptx.raise_error("argument_dtype", f"`scaled_matmul`: `{name}` is {dtype}", f"what fits is {FLOAT8}")
    for name, dtype in zip(("scale_a", "scale_b"), scales, strict=True):
        if dtype != "float32":
            _ptx.raise_error("argument_dtype", f"`scaled_matmul`: `{name}` is {dtype}", "what fits is float32")
    if shape.batched:
        _ptx.raise_error("argument_rank", "`scaled_matmul` of a batch of matrices `b`", "what fits is a `b` of two dimensions")


def words_of(
    scaling: str, fast: bool, bias: bool, activation: str | None, residual: bool, by_columns: bool = False
) -> tuple[str, ...]:
    """What decides the kernel, for `choose_product`. `by_columns`: scales of blocks of `a` lie as torch has them, with those of
    one column side by side."""
    promoted = scaling == "blockwise" or not fast
    named = (
        ("bias", bias),
        ("residual", residual),
        ("promoted", promoted),
        ("columnscales", by_columns),
        (scaling, True),
        (activation, activation is not None),
    )
    return ("b_transposed", *(name for name, there in named if there and name is not None))


def scaled_matmul(
    a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any, activation: str | None, residual: Any, out_dtype: Any, fast: bool
) -> Any:
    shape = shape_of(a.shape, b.shape)
    require_float8(shape, (name_of(a.dtype), name_of(b.dtype)), (name_of(scale_a.dtype), name_of(scale_b.dtype)))
    scaling = scaling_of(shape, tuple(scale_a.shape), tuple(scale_b.shape))
    if not shape.k:  # nothing is scaled
        scaling, scale_a, scale_b = "tensorwise", *(module_of(x).ones((), x.dtype) for x in (scale_a, scale_b))
    numpy, out = module_of(a), "bfloat16" if out_dtype is None else name_of(out_dtype)
    for beside in (bias, residual):
        if beside is not None:
            require_epilogue(shape, beside, bias, activation, residual)
    missing = padding_of_float8(shape.k)
    rows = b.swapaxes(0, 1)
    left, right = a.reshape(shape.m, shape.k), rows if is_transposed(b) else rows_of(rows)
    if missing:
        left, right = (numpy.pad(x, [(0, 0), (0, missing)]) for x in (left, right))
    if scaling == "tensorwise":
        scales = [scale_a.reshape(1), scale_b.reshape(1)]
    elif scaling == "rowwise":
        scales = [numpy.broadcast_to(s.reshape(-1), (size,)) for s, size in ((scale_a, shape.m), (scale_b, shape.n))]
        scales = [numpy.ascontiguousarray(s) if hasattr(s, "flags") else s for s in scales]
    else:
        scales = [rows_of(scale_a), rows_of(scale_b.swapaxes(0, 1))]
    by_columns = scaling == "blockwise" and shape.m % 4 == 0 and is_transposed(scale_a)
    if by_columns:
        scales[0] = scale_a.swapaxes(0, 1)
    has = words_of(scaling, fast, bias is not None, activation, residual is not None, by_columns)
    kernel = chosen_product(FLOAT8, out, shape.m, shape.n, shape.k + missing, 1, has)
    more = [] if bias is None else [bias]
    if residual is not None:
        more.append(residual.reshape(shape.m, shape.n))
    return kernel(left, right, *scales, *more, **sizes_of_product(kernel, shape)).reshape(shape.result)
