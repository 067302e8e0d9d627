"""Matrix products of the library by recipe, and which of them a call takes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _ptx
from .._launching import Launches
from .._ptx import TensorMap, Tile
from ..kernel import Kernel
from . import _checks, _tuned
from ._library import _function_named, _Written, of_dimensions

ACTIVATIONS = ("relu", "silu", "gelu", "gelu_tanh")


APART = ("rows", "columns", "stride", "matrices", "matrix_stride")  # of a factor whose rows lie apart, behind its name and `_`


def _map_of(name: str, tile: Tile) -> Callable[..., TensorMap]:
    """The descriptor of a factor whose rows lie apart."""

    def of_sizes(**sizes: int) -> TensorMap:
        rows, columns, stride, *more = (sizes[f"{name}_{word}"] for word in APART[: len(tile.shape) * 2 - 1])
        shape, strides = ([more[0], rows, columns], [more[1], stride]) if more else ([rows, columns], [stride])
        size = tile.dtype.bits // 8
        box = [int(each) for each in tile.tma_box or ()]
        return TensorMap.tiled(shape, tile.dtype, box, strides=[each * size for each in strides], swizzle="128B")

    return of_sizes


def _map_of_rows(tile: Tile) -> Callable[..., TensorMap]:
    """The descriptor of a matrix that comes as an array of more dimensions."""

    def of_sizes(**sizes: int) -> TensorMap:
        return TensorMap.of(tile, {name: sizes[name] for name in tile.symbolic_dims})

    return of_sizes


@functools.cache
def product_of(recipe: str, apart: tuple[bool, ...] = (), outer: int = 1) -> Kernel:
    """The kernel of a recipe. ValueError for a name that is none. Where rows of `a` or of `b` lie `apart`, the same text takes
    the memory between the first element and the last, and the sizes by name, as `sizes_apart` has them. Rows of `a`, of a
    residual and of the result are those of a matrix, or of arrays of `outer` dimensions in front; then `M` is given by name,
    too."""
    inputs, outputs, scalars, threads, cluster, smem, aliases, inputs_apart = _ptx.product_boundary(recipe)

    def grid(M: int, N: int) -> tuple[int, int, int]:
        return _ptx.product_grid(recipe, M, N)

    def grid_of_batch(G: int, M: int, N: int) -> tuple[int, int, int]:
        return _ptx.product_grid(recipe, M, N, G)

    directives: list[tuple[str, tuple[int, ...]]] = [("maxntid", (threads, 1, 1)), ("minnctapersm", (1,))]
    if cluster > 1:
        directives += [("explicitcluster", ()), ("reqnctapercluster", (cluster, 1, 1))]
    flat = [each for each, is_flat in zip(inputs, apart) if is_flat]  # noqa: B905 - of the first inputs
    taken = {name: Tile(f"{name}_length", tile.dtype) for name, tile in flat}
    maps = {name: _map_of(name, tile) for name, tile in flat}
    only = [f"{name}_{word}" for name, tile in flat for word in APART[: len(tile.shape) * 2 - 1]]
    if outer != 1:
        of_rows = [(name, tile) for name, tile in (*inputs, *outputs) if tile.shape[0] == "M" and name not in taken]
        taken |= {name: of_dimensions(tile, outer) for name, tile in of_rows}
        maps |= {name: _map_of_rows(tile) for name, tile in of_rows if tile.tma_box is not None}
        only.append("M")
    kernel = Kernel(
        _function_named(recipe, [name for name, _ in (*inputs, *outputs)], only),
        in_specs=[taken.get(name, tile) for name, tile in inputs],
        out_specs=[taken.get(name, tile) for name, tile in outputs],
        grid=grid_of_batch if "batched" in recipe or "ragged" in recipe else grid,
        block=threads,
        cluster=cluster,
        smem=smem,
        extern_smem="smem",
        raw_params=scalars,
        raw_directives=directives,
        input_output_aliases=aliases,
        inputs_apart=inputs_apart,
        tensor_maps=maps,
        tma="value",
    )
    kernel._launches = Launches(_Written(kernel._declared, recipe))
    kernel.__doc__ = f"Recipe `{recipe}` of `pyptx.kernels.matmul`."
    return kernel


def chosen_product(
    dtype: str, out: str, m: int, n: int, k: int, batch: int, has: tuple[str, ...], apart: tuple[bool, ...] = ()
) -> Kernel:
    """The kernel that is taken for such a product. ValueError for types that no kernel takes."""
    return product_of(_tuned.recipe_for(("product", dtype, out, (m, n, k, batch), has)), apart)


def sizes_apart(a: Sequence[int], b: Sequence[int], k: int) -> dict[str, int]:
    """What a kernel of factors whose rows lie apart is told by name: of each that does, its sizes in the order of `APART`."""
    named = {f"{name}_{word}": size for name, sizes in (("A", a), ("B", b)) for word, size in zip(APART, sizes)}  # noqa: B905
    return {**named, "K": k} if named else {}


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
    for name, sizes in (("a", a), ("b", b)):
        _checks.require_sizes(operation, name, sizes)
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
    "ACTIVATIONS", "Shape", "chosen_product", "padding_of", "product_of", "require_epilogue", "shape_of", "sizes_apart",
    "sizes_of_product",
]  # fmt: skip
