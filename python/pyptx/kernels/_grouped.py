"""`grouped_matmul`: rows in groups, each multiplied by a matrix of its own: what fits, and the launch on numpy and JAX arrays."""

from __future__ import annotations

from typing import Any

from .. import _ptx
from . import _checks
from ._product_runs import is_transposed, module_of, name_of, rows_of
from ._products import ACTIVATIONS, Shape, chosen_product, sizes_of_product


def shape_of_groups(a: Any, b: Any, offsets: Any, activation: str | None) -> Shape:
    """Fits shapes and types together: a [M, K], b [G, K, N], offsets [G]. `m` is that of all groups. ValueError, TypeError."""
    for name, x in (("a", a), ("b", b)):
        _checks.require_sizes("grouped_matmul", name, x.shape)
    if len(a.shape) != 2 or len(b.shape) != 3 or tuple(offsets.shape) != (b.shape[0],) or a.shape[1] != b.shape[1]:
        _ptx.raise_error(
            "argument_dim",
            f"`grouped_matmul`: `a` has shape {tuple(a.shape)}, `b` {tuple(b.shape)}, `offsets` {tuple(offsets.shape)}",
            "what fits is [M, K], [G, K, N] and [G]; of weights [G, N, K] take `b.mT`",
        )
    names = [name_of(x.dtype).removeprefix("torch.") for x in (a, b, offsets)]
    if names[0] != names[1]:
        _ptx.raise_error(
            "argument_dtype", f"`grouped_matmul`: `b` is {names[1]} and `a` {names[0]}", "what fits is one element type for both"
        )
    if names[2] != "int32":
        _ptx.raise_error("argument_dtype", f"`grouped_matmul`: `offsets` is {names[2]}", "what fits is int32")
    if activation is not None and activation not in ACTIVATIONS:
        _ptx.raise_error(
            "argument_kind",
            f"`grouped_matmul`: `activation` is {activation!r}",
            "what fits is relu, silu, gelu, gelu_tanh or None",
        )
    return Shape(a.shape[0], b.shape[2], a.shape[1], b.shape[0], False, (a.shape[0], b.shape[2]))


def padding_of_groups(shape: Shape, b_transposed: bool) -> tuple[int, int]:
    """Elements that are missing for rows of memory to be 16 bytes aligned: along K, and of the rows of b."""
    return -shape.k % 8 if shape.k else 8, 0 if b_transposed else -shape.n % 8


def words_of_groups(b_transposed: bool, activation: str | None) -> tuple[str, ...]:
    return ("grouped", *(("b_transposed",) if b_transposed else ()), *(() if activation is None else (activation,)))


def mean_rows(shape: Shape) -> int:
    """Rows of a group, for the choice of a kernel; of as many binary digits there is one."""
    rows = -(-shape.m // max(shape.batch, 1))
    return max(1, 1 << rows.bit_length() >> 1)


def shape_of_gradient(a: Any, dy: Any, offsets: Any) -> Shape:
    """Of b's gradient [G, K, N]: `m` and `n` are its rows and columns, `k` the rows of all groups."""
    (m, k), n, groups = a.shape, dy.shape[1], offsets.shape[0]
    return Shape(k, n, m, groups, True, (groups, k, n))


RAGGED = ("ragged", "a_transposed")  # the words of b's gradient


def product_of_groups(a: Any, b: Any, offsets: Any, activation: str | None, out: str) -> Any:
    shape = shape_of_groups(a, b, offsets, activation)
    if not shape.batch:  # no group, no rows that are written
        return module_of(a).zeros(shape.result, out if out == "float32" else a.dtype)
    b_transposed = is_transposed(b)
    right = b.swapaxes(1, 2) if b_transposed else rows_of(b)
    along_k, of_b = padding_of_groups(shape, b_transposed)
    left = rows_of(a)
    if along_k or of_b:
        numpy = module_of(a)
        left = numpy.pad(left, [(0, 0), (0, along_k)])
        right = numpy.pad(right, [(0, 0), (0, 0), (0, along_k)] if b_transposed else [(0, 0), (0, along_k), (0, of_b)])
    has, k = words_of_groups(b_transposed, activation), shape.k + along_k
    kernel = chosen_product(name_of(a.dtype), out, mean_rows(shape), shape.n, k, shape.batch, has)
    return kernel(left, right, offsets, **sizes_of_product(kernel, shape))


def gradient_of_b(a: Any, dy: Any, offsets: Any) -> Any:
    """For each group its rows of a, transposed, times its rows of dy: [G, K, N] of a [M, K] and dy [M, N], of a's type."""
    shape = shape_of_gradient(a, dy, offsets)
    numpy = module_of(a)
    if not shape.batch or not shape.k:
        return numpy.zeros(shape.result, a.dtype)
    left, right = (numpy.pad(x, [(0, 0), (0, -x.shape[1] % 8)]) if x.shape[1] % 8 else rows_of(x) for x in (a, dy))
    rows = max(1, -(-shape.k // max(shape.batch, 1)))
    kernel = chosen_product(name_of(a.dtype), name_of(a.dtype), shape.m, shape.n, rows, shape.batch, RAGGED)
    return kernel(left, right, offsets, **sizes_of_product(kernel, shape))
