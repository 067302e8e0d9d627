"""Kernels by their handles: called at once, or through an operator of their own, which survives Dynamo."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import _ptx
from .._handles import ONE, Dims3, check_tensors, get_cubin_registry, image_of_handle, plan_of_call
from ..errors import PtxError
from . import state
from .calls import call_operator, is_exporting, outputs_of_call
from .export import exported_kernel
from .operators import NO_SCALARS, register_operators
from .plans import key_of
from .refusals import raise_to_dynamo, refuse_argument, refuse_gradients
from .tensors import Outputs, aliases_of, constant_specs, dtype_name, empty, hint_of, one_or_all, outputs_of, specs_of_constants

if TYPE_CHECKING:
    from .._ptx import Image, Tile

_ops: set[str] = set()
_tiles: dict[int, Any] = {}  # by id, for good: the number never means another object


def run_image(image: Image, outputs: Outputs, inputs: Sequence[Any]) -> list[Any]:
    """Runs the image on real tensors, on their device's current stream. ValueError when they are not contiguous or on several
    devices."""
    if not inputs:
        raise ValueError("a call needs at least one tensor, which says where the kernel runs")
    torch: Any = import_module("torch")
    plan = plan_of_call(image, [(tuple(x.shape), dtype_name(x)) for x in inputs], outputs)
    if image.aliases:
        register_operators()
        refuse_gradients(plan.name, inputs)
    with torch.no_grad():
        results = plan(*inputs)
    return list(results) if isinstance(results, tuple) else [results]


def call_kernel_via_torch(
    *inputs: Any,
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3 = ONE,
    smem_bytes: int = 0,
) -> Any:
    """Calls a kernel by its handle with torch tensors, on their device and its current stream. One output comes back as a
    tensor, several as a tuple; of a kernel that changes an input, the output is that input. ValueError without inputs or for
    another grid or block than the handle's; KeyError for an unknown handle."""
    image = image_of_handle(cubin_handle, len(inputs), len(out_specs), grid, block, cluster, smem_bytes)
    return one_or_all(run_image(image, outputs_of(out_specs, out_shape_env), inputs))


def _check_call(image: Image, inputs: Sequence[Any], outputs: Outputs) -> None:
    """Checks tensors, which may be fake, against the kernel that the handle stands for."""
    specs = [(tuple(hint_of(size) for size in x.shape), dtype_name(x)) for x in inputs]
    if not any(None in shape for shape, _ in specs):
        check_tensors(image, [(tuple(size or 0 for size in shape), dtype) for shape, dtype in specs], outputs)


# -- through operators


def operator_of(image: Image, outputs: Outputs) -> str:
    """The name of the operator `pyptx::kernel_<handle>_<outputs>(Tensor[] inputs) -> Tensor[]` of an image. torch's caches know
    an operator by its name alone: hashes of the kernel and of what it returns make the name mean the same in every process.
    Not for a kernel that changes an input, which this schema denies."""
    name = f"kernel_{image.handle}_{hashlib.sha256(repr(tuple(outputs)).encode()).hexdigest()[:8]}"
    if name in _ops:
        return name
    register_operators()
    with state.lock:
        if name in _ops:
            return name
        state.library.define(f"{name}(Tensor[] inputs) -> Tensor[]")

        def run(inputs: list[Any]) -> list[Any]:
            # The compiler chooses the strides of what it computes; the kernel takes row-major.
            return run_image(image, outputs, [x.contiguous() for x in inputs])

        def fake(inputs: list[Any]) -> list[Any]:
            _check_call(image, inputs, outputs)
            return empty(outputs, inputs[0].device)

        for backend in ("CPU", "CUDA"):
            state.library.impl(name, run, backend)
        state.torch.library.register_fake(f"pyptx::{name}", fake, lib=state.library)
        _ops.add(name)
        return name


def get_or_register_torch_op(
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3,
    smem_bytes: int,
    *,
    num_inputs: int | None = None,
) -> Callable[..., Any]:
    """A function of the input tensors that calls the operator of a handle: it survives Dynamo. A kernel that changes an input
    has `pyptx::launch_` for an operator, and gives that input back. A handle of `CubinRegistry.register` learns from its first
    call, or from `num_inputs`, how many inputs there are. KeyError for an unknown handle."""
    register_operators()
    outputs = tuple((tuple(shape), dtype) for shape, dtype in outputs_of(out_specs, out_shape_env))
    launch = (tuple(grid), tuple(block), tuple(cluster), smem_bytes)
    image = _ptx.find_image(cubin_handle)
    if image is not None or num_inputs is not None:
        _name_of_op(cubin_handle, outputs, launch, num_inputs if image is None else image.inputs)
    elif get_cubin_registry().get(cubin_handle) is None:
        raise KeyError(f"no kernel with handle {cubin_handle} is registered in this process")

    def call(*inputs: Any) -> Any:
        return _call_op(cubin_handle, outputs, launch, inputs)

    return call


@state.constant
def _name_of_op(handle: int, outputs: Any, launch: tuple[Any, ...], num_inputs: Any) -> str:
    """The operator of a handle, made where there is none; empty for a kernel that changes an input. Dynamo runs this, and takes
    the result for constant."""
    try:
        image = image_of_handle(handle, num_inputs, len(outputs), *launch)
        return "" if image.aliases else operator_of(image, outputs)
    except (PtxError, KeyError, ValueError) as error:
        if state.torch.compiler.is_dynamo_compiling():
            raise_to_dynamo(error)
        raise


def _call_op(handle: int, outputs: Any, launch: tuple[Any, ...], inputs: Sequence[Any]) -> Any:
    """Dynamo traces this."""
    name = _name_of_op(handle, outputs, launch, len(inputs))
    if name:
        return one_or_all(getattr(state.torch.ops.pyptx, name).default(list(inputs)))
    if not state.torch.compiler.is_dynamo_compiling():
        return one_or_all(run_image(image_of_handle(handle, len(inputs), len(outputs), *launch), outputs, inputs))
    for argument, x in enumerate(inputs):
        if state.torch.is_grad_enabled() and x.requires_grad:
            _refuse(handle, argument, "gradient")
        if state.torch.autograd.forward_ad._current_level >= 0:
            _refuse(handle, argument, "tangent")
    key, payload, aliases = _constants_in_place(handle, outputs, launch, constant_specs(inputs), is_exporting())
    return call_operator(key, payload, inputs, outputs_of_call(outputs, aliases, inputs, None), aliases, NO_SCALARS)


@state.constant
def _constants_in_place(handle: int, outputs: Any, launch: tuple[Any, ...], specs: Sequence[Any], exporting: bool) -> Any:
    """Key, payload and changed inputs of a call by handle with tensors like these, for `pyptx::launch_`."""
    try:
        inputs = specs_of_constants(specs)
        plan = plan_of_call(image_of_handle(handle, len(inputs), len(outputs), *launch), inputs, outputs)
        key, payload = exported_kernel(plan, inputs, ()) if exporting else (key_of(plan), "")
        return key, payload, aliases_of(plan)
    except PtxError as error:
        raise_to_dynamo(error)


@state.constant
def _refuse(handle: int, argument: int, why: str) -> None:
    """An argument that no call takes which changes its inputs."""
    image = _ptx.find_image(handle)
    try:
        refuse_argument(image.entry if image is not None else str(handle), argument, why)
    except PtxError as error:
        raise_to_dynamo(error)


@state.constant
def _outputs_of_ids(ids: tuple[int, ...], env: tuple[tuple[str, int], ...]) -> Any:
    """Shapes and dtypes of tiles that Dynamo knows by their ids, which it guards; it runs this, and takes the result for
    constant."""
    import ctypes

    for number in ids:
        if number not in _tiles:
            _tiles[number] = ctypes.cast(number, ctypes.py_object).value  # alive: the function that is compiled holds it
    return tuple((tuple(shape), dtype) for shape, dtype in outputs_of([_tiles[number] for number in ids], dict(env)))


def call_kernel_via_torch_compile(
    *inputs: Any,
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3 = ONE,
    smem_bytes: int = 0,
) -> Any:
    """As `call_kernel_via_torch`, through the kernel's operator."""
    register_operators()
    outputs = _outputs_of_ids(tuple([id(tile) for tile in out_specs]), tuple(out_shape_env.items()))
    return _call_op(cubin_handle, outputs, (tuple(grid), tuple(block), tuple(cluster), smem_bytes), inputs)
