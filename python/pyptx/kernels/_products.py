"""Matrix products of the library by recipe, and which of them a call takes."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _ptx
from .._launching import Launches
from ..kernel import Kernel
from . import _checks, _tuned
from ._library import _function_named, _Written

ACTIVATIONS = ("relu", "silu", "gelu", "gelu_tanh")


@functools.cache
def product_of(recipe: str) -> Kernel:
    """The kernel of a recipe. ValueError for a name that is none."""
    inputs, outputs, scalars, threads, cluster, smem, aliases, inputs_apart = _ptx.product_boundary(recipe)

    def grid(M: int, N: int) -> tuple[int, int, int]:
        return _ptx.product_grid(recipe, M, N)

    def grid_of_batch(G: int, M: int, N: int) -> tuple[int, int, int]:
        return _ptx.product_grid(recipe, M, N, G)

    directives: list[tuple[str, tuple[int, ...]]] = [("maxntid", (threads, 1, 1)), ("minnctapersm", (1,))]
    if cluster > 1:
        directives += [("explicitcluster", ()), ("reqnctapercluster", (cluster, 1, 1))]
    kernel = Kernel(
        _function_named(recipe, [name for name, _ in (*inputs, *outputs)]),
        in_specs=[tile for _, tile in inputs],
        out_specs=[tile for _, tile in outputs],
        grid=grid_of_batch if "batched" in recipe or "ragged" in recipe else grid,
        block=threads,
        cluster=cluster,
        smem=smem,
        extern_smem="smem",
        raw_params=scalars,
        raw_directives=directives,
        input_output_aliases=aliases,
        inputs_apart=inputs_apart,
        tma="value",
    )
    kernel._launches = Launches(_Written(kernel._declared, recipe))
    kernel.__doc__ = f"Recipe `{recipe}` of `pyptx.kernels.matmul`."
    return kernel


def chosen_product(dtype: str, out: str, m: int, n: int, k: int, batch: int, has: tuple[str, ...]) -> Kernel:
    """The kernel that is taken for such a product. ValueError for types that no kernel takes."""
    return product_of(_tuned.recipe_for(("product", dtype, out, (m, n, k, batch), has)))


class Shape(NamedTuple):
    """What the shapes of `a` and `b` come to: matrices [M, K] and [K, N], `batch` of them, and the result's shape."""

    m: int
    n: int
    k: int
    batch: int
    batched: bool
    result: tuple[int, ...]


def shape_of(a: Sequence[int], b: Sequence[int], gated: bool = False) -> Shape:
    """Fits shapes together; gated, `b` has two matrices side by side. ValueError where they do not."""
    operation = "gated_matmul" if gated else "matmul"
    if len(a) < 2 or len(b) < 2:
        _ptx.raise_error(
            "argument_rank",
            f"`{operation}` of arrays of shapes {tuple(a)} and {tuple(b)}",
            "what fits has two dimensions or more, [.., M, K] and [.., K, N]; of a vector `x[None, :]` makes a row",
        )
    if a[-1] != b[-2]:
        _ptx.raise_error(
            "argument_dim",
            f"`{operation}`: `a` has shape {tuple(a)} and `b` {tuple(b)}: rows of {a[-1]}, columns of {b[-2]} elements",
            "what fits is [.., M, K] and [.., K, N]; of weights [N, K] take `b.mT`",
        )
    if gated and b[-1] % 2:
        _ptx.raise_error(
            "argument_dim",
            f"`gated_matmul`: the second matrix has shape {tuple(b)}",
            "its columns are those of the gate, then as many of what it gates: an even number",
        )
    n = b[-1] // 2 if gated else b[-1]
    if len(b) == 2:  # all of a's rows are those of one matrix
        return Shape(math.prod(a[:-1]), n, b[0], 1, False, (*a[:-1], n))
    outer = tuple(a[:-2])
    if outer != tuple(b[:-2]):
        _ptx.raise_error(
            "argument_dim",
            f"`{operation}`: `a` has shape {tuple(a)} and `b` {tuple(b)}: batches of {outer} and of {tuple(b[:-2])}",
            "what fits is one batch for both, or a `b` of two dimensions; `expand` makes one matrix as many",
        )
    return Shape(a[-2], n, a[-1], math.prod(outer), True, (*outer, a[-2], n))


def require_epilogue(shape: Shape, a: Any, bias: Any, activation: str | None, residual: Any) -> None:
    """Bias, activation and residual fit the result."""
    if activation is not None and activation not in ACTIVATIONS:
        _ptx.raise_error(
            "argument_kind", f"`matmul`: `activation` is {activation!r}", "what fits is relu, silu, gelu, gelu_tanh or None"
        )
    for name, array, wanted in (("bias", bias, (shape.n,)), ("residual", residual, shape.result)):
        if array is None:
            continue
        if tuple(array.shape) != wanted:
            _ptx.raise_error(
                "argument_dim",
                f"`matmul`: `{name}` has shape {tuple(array.shape)}, and the result {shape.result}",
                f"what fits is a `{name}` of shape {wanted}",
            )
        if array.dtype != a.dtype:
            _checks.refuse_dtype("matmul", name, array, a, "a")


def require_alpha(alpha: Any) -> float:
    """A number of the host. TypeError for a tensor, whose value a launch cannot know."""
    if not isinstance(alpha, (int, float)):
        _ptx.raise_error(
            "argument_kind",
            f"`matmul`: `alpha` is {type(alpha).__name__}",
            "what fits is a number; of a tensor multiply the result",
        )
    return float(alpha)


def sizes_of_product(kernel: Kernel, shape: Shape) -> dict[str, int]:
    """Sizes of dimensions that the kernel's inputs do not say."""
    bound = {name for tile in kernel.in_specs[: 3 if "_ragged" in kernel.__name__ else 2] for name in tile.symbolic_dims}
    sizes = {"M": shape.m, "N": shape.n, "G": shape.batch}
    return {name: size for name, size in sizes.items() if name in kernel._declared.dims and name not in bound}


def padding_of(k: int, a_inner: int, b_inner: int, a_transposed: bool, b_transposed: bool) -> tuple[int, int, int]:
    """Elements that are missing for rows of memory to be 16 bytes aligned, as TMA asks: along K of both, and of the other
    dimension of `a` and of `b` where that is the inner one."""
    missing = (-k % 8 if not a_transposed or b_transposed else 0) if k else 8  # a sum of nothing is one of zeros
    return missing, -a_inner % 8 if a_transposed else 0, -b_inner % 8 if not b_transposed else 0


__all__ = [
    "ACTIVATIONS", "Shape", "chosen_product", "padding_of", "product_of", "require_epilogue", "shape_of", "sizes_of_product",
]  # fmt: skip
