"""Calls with JAX arrays or tracers: of a kernel's plan, with scalars as numbers or as JAX's values, and by a kernel's handle."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import _ptx
from .._handles import ONE, Dims3, check_tensors, known_image, numpy_dtype
from ..errors import PtxError, PtxTypeError, PtxWarning, from_diagnostic
from .lowering import X64_HINT, Call, Outputs, call_of, run_call
from .scalars import as_bytes, image_in_memory, scalar_operand, size_of
from .sharding import all_varying

if TYPE_CHECKING:
    from .._ptx import Image, Plan, Tile


def call_plan(plan: Plan, inputs: tuple[Any, ...], scalars: tuple[int | None, ...] = ()) -> Any:
    """A kernel's call with JAX arrays or tracers among its tensors. Raises what the plan's check of shapes and dtypes raises.

    Outside of a trace the values of scalars are operands, so that all of them share one program; in a trace they are constants of
    the kernel, as any number of Python's is one of the program.
    """
    jax: Any = import_module("jax")
    given = [i for i, bits in enumerate(scalars) if bits is not None]
    if given and not any(isinstance(x, jax.core.Tracer) for x in inputs):
        image, shapes = _bind(plan, inputs, ())
        in_memory = image and image_in_memory(image, tuple(given))
        if in_memory:
            specialise: Any = plan.specialise  # an object of ours that knows its kernel
            sizes = [size_of(dtype) for dtype, _ in specialise.declared.raw_params]
            operands = [as_bytes(bits, size) for bits, size in zip(scalars, sizes, strict=True) if bits is not None]
            return run_call(call_of(in_memory, shapes), (*inputs, *operands))
    image, shapes = _bind(plan, inputs, scalars)
    return _without_elements(shapes, inputs) if image is None else run_call(call_of(image, shapes), inputs)


def call_with_traced_scalars(plan: Plan, name: str, inputs: tuple[Any, ...], scalars: Sequence[tuple[str, str, Any]]) -> Any:
    """A kernel's call whose scalars are JAX's values: for each scalar parameter its type, its name, and a number, a value of
    JAX's, or None where the call gives none. They are operands of the custom call."""
    image, shapes = _bind(plan, inputs, ())
    if image is None:
        return _without_elements(shapes, inputs)
    given = tuple(i for i, (_, _, value) in enumerate(scalars) if value is not None)
    in_memory = image_in_memory(image, given)
    if in_memory is None:
        traced = next(parameter for _, parameter, value in scalars if value is not None)
        _ptx.raise_error(
            "argument_kind",
            f"parameter `{traced}` of kernel `{name}` is a traced value, and the kernel does more with it than to load it",
            "give a number of Python's, or do nothing with the parameter but load it with `ptx.param`",
        )
    operands = [scalar_operand(name, *scalar) for scalar in scalars if scalar[2] is not None]
    return run_call(call_of(in_memory, shapes), (*inputs, *operands))


def _bind(plan: Plan, inputs: tuple[Any, ...], scalars: tuple[int | None, ...]) -> tuple[Image | None, Outputs]:
    """The image for these inputs, and its outputs."""
    jax: Any = import_module("jax")
    _ptx.pass_over(jax.__path__[0])  # of `jax.jit(kernel)(x)` the author's line is that of the call
    numpy: Any = import_module("numpy")
    abstract = [jax.typeof(x) for x in inputs]
    for number, x in enumerate(abstract):
        for axis, size in enumerate(x.shape):
            if not isinstance(size, int):
                _ptx.raise_error(
                    "argument_dim",
                    f"dimension {axis} of argument {number} of kernel `{plan.name}` is symbolic (`{size}`); a kernel is made for "
                    "sizes that are numbers",
                    "export with constant sizes, once for each that is needed",
                )
    # An array of numpy's is what it is, and not what JAX would make of it.
    dtypes = [x.dtype if isinstance(x, numpy.ndarray) else its.dtype for x, its in zip(inputs, abstract, strict=True)]
    try:
        image, outputs = plan.bind([(x.shape, dtype.name) for x, dtype in zip(abstract, dtypes, strict=True)], scalars)
    except PtxTypeError as error:
        wants_64_bits = error.kind == "argument_dtype" and re.search(r"takes (float64|u?int64)", error.message)
        if not wants_64_bits or jax.config.jax_enable_x64:
            raise
        hint = f"hint: JAX has no 64-bit types as it is set up here: {X64_HINT}"
        file, line = error.where or ("", 0)
        text = f"{error}\n  = {hint}"
        raise from_diagnostic(error.kind, "TypeError", error.message, file, line, [*error.notes, hint], text) from None
    for i, (its, dtype) in enumerate(zip(abstract, dtypes, strict=True)):
        if its.dtype != dtype:
            _ptx.raise_error(
                "argument_dtype",
                f"argument {i} of kernel `{plan.name}` is {dtype.name}, which JAX would make {its.dtype.name} of",
                X64_HINT,
            )
    return image, tuple((shape, jax.numpy.dtype(dtype)) for shape, dtype in outputs)


def _without_elements(outputs: Outputs, inputs: Sequence[Any]) -> Any:
    """The outputs of a kernel that has nothing to write, and is not launched."""
    jax: Any = import_module("jax")
    empty = [jax.numpy.zeros(shape, dtype) for shape, dtype in outputs]
    arrays = all_varying([*empty, *inputs])[: len(empty)]
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def call_kernel_via_ffi(
    *inputs: Any,
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3 = ONE,
    smem_bytes: int = 0,
) -> Any:
    """Calls a kernel by its handle: a traced kernel's, or one of `CubinRegistry.register`. The outputs have the shapes of
    `out_specs` under `out_shape_env`; one comes back as an array, several as a tuple. A handle that this process does not
    know, or whose registered text is no PTX at all (a warning says so), lowers, and fails when compiled. ValueError when grid or
    block are not those that the handle stands for."""
    try:
        image = known_image(cubin_handle, len(inputs), len(out_specs), grid, block, cluster, smem_bytes)
    except PtxError as error:
        if error.kind != "bad_image":
            raise
        image = None  # a stand-in: what only traces needs no kernel
        warnings.warn(f"handle {cubin_handle} cannot be launched: {error.message}", PtxWarning, stacklevel=3)
    outputs = tuple((tile.resolve_shape(out_shape_env), numpy_dtype(tile.dtype)) for tile in out_specs)
    if image is not None:
        abstract = [import_module("jax").typeof(x) for x in inputs]
        check_tensors(image, [(x.shape, x.dtype.name) for x in abstract], outputs)
    else:
        attributes = {"cubin_handle": import_module("numpy").int64(cubin_handle)}
        return run_call(Call(f"handle_{cubin_handle}", attributes, outputs, {}), inputs)
    return run_call(call_of(image, outputs), inputs)
