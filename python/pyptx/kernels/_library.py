"""Kernels of the library by recipe: the core writes and checks the text, and the rest is a `Kernel` like any other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .. import _ptx
from .._launching import Launches
from .._ptx import Tile
from .._tracing import Traces
from ..kernel import Kernel
from . import _tuned

if TYPE_CHECKING:
    from .._declaration import Declaration
    from .._identity import Environment
    from .._ptx import Module

Has = tuple[str, ...]  # of "weight", "bias", "residual", "packed", "strided", "gradient", "in_place", "int32", "e4m3", "given"


class _Nothing:
    """What the body of such a kernel reads: nothing of Python's, so that it never changes."""

    def holds(self) -> bool:
        return True


class _Written(Traces):
    """The one module of a recipe, of every size."""

    def __init__(self, declared: Declaration, recipe: str) -> None:
        super().__init__(declared)
        self._recipe = recipe
        self._module: Module | None = None

    def environment_now(self) -> Environment:
        return _Nothing()  # type: ignore[return-value]

    def keep_environment(self, before: Environment) -> None:
        pass

    def module(self, dims: Mapping[str, int], template: Mapping[str, Any]) -> Module:
        if self._module is None:
            self._module = _ptx.kernel_module(self._recipe)
        return self._module


def _function_named(name: str, parameters: Sequence[str], only: Sequence[str] = ()) -> Callable[..., Any]:
    """A function of that name with these parameters, and those of a template, which a declaration is read off; the core has its
    body."""

    def body() -> None:
        raise AssertionError("the core writes this kernel")

    code = body.__code__.replace(co_name=name, co_qualname=name, co_argcount=len(parameters), co_kwonlyargcount=len(only),
                                 co_nlocals=len(parameters) + len(only), co_varnames=(*parameters, *only))  # fmt: skip
    function = FunctionType(code, {}, name)
    function.__module__ = __name__
    return function


def has_partial(outputs: Sequence[tuple[str, Tile]]) -> bool:
    """Whether the kernel leaves partial sums, P rows of them."""
    return any("P" in tile.symbolic_dims for _, tile in outputs)


def sizes_of(kernel: Kernel, rows: int) -> dict[str, int]:
    """Sizes of dimensions that its inputs do not say."""
    if "P" not in kernel._declared.dims:
        return {}
    return {"P": _ptx.kernel_partial_rows(kernel.__name__, _tuned.like(rows))}


@functools.cache
def kernel_of(recipe: str, outer: int = 1) -> Kernel:
    """The kernel of a recipe. ValueError for a name that is none. Its rows are those of a matrix, or of arrays of `outer`
    dimensions in front of a row's: then the call says by name how many they are, `M`."""
    inputs, outputs, scalars, threads, cluster, smem, needs_hopper, aliases = _ptx.kernel_boundary(recipe)
    if outer != 1:
        inputs, outputs = ([(name, of_dimensions(tile, outer)) for name, tile in tiles] for tiles in (inputs, outputs))

    def grid(M: int, N: int) -> tuple[int, int, int]:
        return _ptx.kernel_grid(recipe, M, N)

    def grid_of_losses(M: int) -> tuple[int, int, int]:  # of rows that lie apart: no tensor says how long they are
        return _ptx.kernel_grid(recipe, M, 1)

    def grid_of_stays(M: int, N: int, P: int) -> tuple[int, int, int]:
        return _ptx.kernel_grid(recipe, M, N, P)

    dims = {dim for _, tile in (*inputs, *outputs) for dim in tile.symbolic_dims}
    kernel = Kernel(
        _function_named(recipe, [name for name, _ in (*inputs, *outputs)], () if outer == 1 else ("M",)),
        arch="sm_90" if needs_hopper else "sm_80",
        in_specs=[tile for _, tile in inputs],
        out_specs=[tile for _, tile in outputs],
        grid=grid_of_stays if has_partial(outputs) else grid if "N" in dims else grid_of_losses,
        block=threads,
        cluster=cluster,
        smem=smem,
        raw_params=scalars,
        input_output_aliases=aliases,
        reqntid=(threads, 1, 1),
    )
    kernel._launches = Launches(_Written(kernel._declared, recipe))
    kernel.__doc__ = f"Recipe `{recipe}` of `pyptx.kernels`."
    return kernel


def of_dimensions(tile: Tile, outer: int) -> Tile:
    """With so many dimensions instead of `M`."""
    shape: list[int | str] = []
    for dim in tile.shape:
        shape += [f"D{i}" for i in range(outer)] if dim == "M" else [dim]
    return Tile(*shape, dtype=tile.dtype)


def chosen(operation: str, dtype: str, rows: int, columns: int, alignment: int, has: Has) -> Kernel:
    """The kernel that is taken for rows like these. ValueError for a type or a length that no kernel takes."""
    return kernel_of(_tuned.recipe_for(("rows", operation, dtype, rows, columns, alignment, has)))


def is_flat(operation: str, has: Has) -> bool:
    """Whether a matrix is gone through as one row."""
    by_rows = "packed" in has or ("e4m3" in has and "given" not in has)
    return ("glu" in operation and not by_rows) or operation == "rescale"


def alignment_of(*bytes_: int) -> int:
    """The largest power of two up to 16 that divides all of them."""
    combined = 16
    for number in bytes_:
        combined |= number
    return combined & -combined
