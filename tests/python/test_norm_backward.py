"""Gradients of the norms on the executor with all checks on, against float64: every way to make the kernel, and what adds up the
partial sums of its blocks."""

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyptx import _ptx, executor
from pyptx.kernels._library import kernel_of

Array = np.ndarray[Any, Any]
TYPES = {"float32": (np.dtype("float32"), 2e-5), "float16": (np.dtype("float16"), 4e-3),
         "bfloat16": (np.dtype(ml_dtypes.bfloat16), 1.6e-2)}  # fmt: skip
EPS = 1e-5


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    with executor.checking() as findings:
        yield
    assert not findings


def drawn(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(TYPES[dtype][0])


def close(result: Array, expected: Array, tolerance: float) -> None:
    assert result.shape == expected.shape
    assert float(np.abs(result.astype(np.float64) - expected).max()) <= tolerance * float(np.abs(expected).max())


def gradients(is_layer: bool, x: Array, dy: Array, w: Array) -> tuple[Array, Array, Array]:
    x, dy, w = x.astype(np.float64), dy.astype(np.float64), w.astype(np.float64)
    centred = x - x.mean(-1, keepdims=True) if is_layer else x
    rstd = 1 / np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)
    xhat, g = centred * rstd, dy * w
    dx = rstd * (g - (g.mean(-1, keepdims=True) if is_layer else 0) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum(0), dy.sum(0)


def word(recipe: str, letter: str) -> int:
    found = [w for w in recipe.split("__")[1].split("_")[1:] if w[0] == letter and w[1:].isdigit()]
    return int(found[0][1:]) if found else 0


def hold(recipe: str, rows: int, columns: int, has: tuple[str, ...], blocks: int) -> None:
    """One launch of that recipe, of so many blocks."""
    dtype = recipe.split("__")[1].split("_")[0]
    dtype = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}[dtype]
    kernel, tolerance = kernel_of(recipe), TYPES[dtype][1]
    dy, x, of_sum = (drawn((rows, columns), dtype, seed) for seed in range(3))
    w = drawn((columns,), dtype, 3)
    scalars = {name: value for name, value in {"eps": EPS, "offset": 0.0}.items()
               if name in [known for _, known in kernel._declared.raw_params]}  # fmt: skip
    partial = {"P": blocks * word(recipe, "x")} if "P" in kernel._declared.dims else {}
    inputs = [dy, x, *([of_sum] if "residual" in has else []), *([w] if "weight" in has else [])]
    found = kernel(*inputs, **scalars, **partial)
    result = list(found) if isinstance(found, (tuple, list)) else [found]
    dx, dw, db = gradients("layer" in recipe, x, dy, w if "weight" in has else np.ones_like(w))
    close(result[0], dx + (of_sum.astype(np.float64) if "residual" in has else 0), tolerance)
    for sums, expected in zip(result[1:], [dw, db] if "weight" in has else [db], strict=False):
        close(sums.astype(np.float64).sum(0), expected, 2e-5)


@pytest.mark.parametrize("operation", ["rms_norm_backward", "layer_norm_backward"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("columns", [512, 776, 1032, 4096])
def test_rows_copied_ahead(operation: str, dtype: str, columns: int) -> None:
    vectors = ("weight", "bias") if operation.startswith("layer") else ("weight",)
    for has in (vectors, ("residual", *vectors)):
        ahead = [name for name in _ptx.kernel_recipes(operation, dtype, 64, columns, 16, has) if word(name, "s")]
        assert ahead
        # the first has fewest threads, the last has most; of each number of rows ahead one
        for recipe in {ahead[0], *{word(name, "s"): name for name in ahead}.values()}:
            for rows, blocks in ((1, 1), (3, 4), (14, 2)):  # less than the ring holds, fewer rows than blocks, many turns
                hold(recipe, rows, columns, has, blocks)


@pytest.mark.parametrize("operation", ["rms_norm_backward", "layer_norm_backward"])
@pytest.mark.parametrize("columns", [7, 33, 100, 1000, 1001])  # of one column dx is what rounding leaves
def test_rows_as_they_come(operation: str, columns: int) -> None:
    vectors = ("weight", "bias") if operation.startswith("layer") else ("weight",)
    for dtype, bytes_ in (("float32", 4), ("bfloat16", 2)):
        alignment = (columns * bytes_ | 16) & -(columns * bytes_ | 16)
        for recipe in _ptx.kernel_recipes(operation, dtype, 9, columns, alignment, vectors)[::4]:
            hold(recipe, 9, columns, vectors, 2)


def test_what_is_chosen_copies_ahead_where_rows_can_be() -> None:
    def chosen(columns: int, alignment: int = 16, has: tuple[str, ...] = ("weight",)) -> str:
        return _ptx.choose_kernel("rms_norm_backward", "bfloat16", 4096, columns, alignment, has)

    assert word(chosen(4096), "s") and word(chosen(8192), "s") and word(chosen(2048, has=("weight", "residual")), "s")
    assert not word(chosen(4097, 2), "s")  # rows that begin anywhere
    assert not word(chosen(4096, has=("weight", "strided")), "s")
    assert not word(chosen(64), "s")  # several rows a warp


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (3, 7), (132, 4096), (33, 1030), (529, 768), (1000, 36), (5, 2), (2, 1)])
def test_column_sums(rows: int, columns: int, dtype: str) -> None:
    alignment = (columns * 4 | 16) & -(columns * 4 | 16)
    for has in (("weight",), ("bias",), ("weight", "bias")):
        parts = [drawn((rows, columns), "float32", seed) for seed in range(len(has))]
        recipes = _ptx.kernel_recipes("column_sums", dtype, rows, columns, alignment, has)
        for recipe in dict.fromkeys(
            [recipes[0], recipes[-1], _ptx.choose_kernel("column_sums", dtype, rows, columns, alignment, has)]
        ):
            found = kernel_of(recipe)(*parts)
            for result, part in zip(found if isinstance(found, (tuple, list)) else [found], parts, strict=True):
                assert result.dtype == TYPES[dtype][0]
                close(result, part.astype(np.float64).sum(0), TYPES[dtype][1])
