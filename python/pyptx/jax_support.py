"""JAX: kernels inside `jax.jit`, on the CPU through the executor and on GPUs, by XLA's typed foreign function interface.

A call becomes a custom call `pyptx_launch` that carries the whole kernel (PTX, launch record, content hash), so that a compiled
program means the same in another process: from JAX's persistent cache, from `jax.export`. The integer handles of this module are
63 bits of that hash.

JAX is imported when it is first needed, not by importing this module.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from . import _ptx

if TYPE_CHECKING:
    from ._ptx import EncodedTensorMap, Image, Layout, Plan, PtxType, TensorMap, Tile

Dims3 = tuple[int, int, int]
_ONE: Dims3 = (1, 1, 1)

__all__ = [
    "CubinRecord",
    "CubinRegistry",
    "add_scalar_param_to_shim",
    "add_tma_spec_to_shim",
    "call_kernel_via_ffi",
    "compile_ptx_to_cubin",
    "ensure_ffi_registered",
    "export_safety_checks",
    "get_cubin_registry",
    "register_launch_config",
    "set_mock_ffi_callback",
    "shim_is_available",
    "shim_load_error",
    "synthesize_tma_descriptor",
    "synthesize_tma_descriptor_3d",
]


# -- calls


def ensure_ffi_registered() -> bool:
    """Makes the custom-call target `pyptx_launch` known to JAX, for CPU and CUDA. False when JAX cannot be imported. Import
    `pyptx.jax_support` and call this before a program that was compiled elsewhere is loaded."""
    global _registered
    if _registered:
        return True
    try:
        jax: Any = import_module("jax")
    except ImportError:
        return False
    with _lock:
        if not _registered:
            cpu, cuda = _ptx.xla_handler("cpu"), _ptx.xla_handler("CUDA")
            on_cpu = {"instantiate": cpu, "execute": cpu}
            on_cuda = {"instantiate": cuda, "prepare": cuda, "initialize": cuda, "execute": cuda}
            jax.ffi.register_ffi_target(_ptx.xla_target, on_cpu, platform="cpu", api_version=1)
            jax.ffi.register_ffi_target(_ptx.xla_target, on_cuda, platform="CUDA", api_version=1)
            _registered = True
    return True


_registered = False
_lock = threading.RLock()
_attributes: dict[int, dict[str, Any]] = {}


def _attributes_of(image: Image) -> dict[str, Any]:
    """The custom call's attributes. The same objects each time: JAX compares them by identity before it compares bytes."""
    known = _attributes.get(image.handle)
    if known is None:
        numpy: Any = import_module("numpy")
        known = {
            "abi": numpy.int32(_ptx.launch_abi),
            "cubin_handle": numpy.int64(image.handle),
            "key": image.key,
            "meta": image.meta,
            "ptx": image.ptx_bytes,
        }
        known = _attributes.setdefault(image.handle, known)
    return known


def _ffi_call(attributes: dict[str, Any], outputs: Sequence[tuple[tuple[int, ...], Any]], inputs: Sequence[Any]) -> Any:
    """One custom call. `outputs` are shapes and dtypes; one output comes back as an array, several as a tuple."""
    if not ensure_ffi_registered():
        raise RuntimeError("JAX cannot be imported")
    jax: Any = import_module("jax")
    # Under shard_map every value knows the mesh axes it varies over; results vary over all that the inputs do.
    axes: frozenset[Any] = frozenset().union(*(getattr(jax.typeof(x), "vma", ()) or () for x in inputs))
    more: dict[str, Any] = {"vma": axes} if axes else {}
    results = [jax.ShapeDtypeStruct(shape, dtype, **more) for shape, dtype in outputs]
    call = jax.ffi.ffi_call(_ptx.xla_target, results, vmap_method="sequential")
    arrays = call(*inputs, **attributes)
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def call_plan(plan: Plan, inputs: tuple[Any, ...], scalars: tuple[int | None, ...] = ()) -> Any:
    """A kernel's call with JAX arrays or tracers among its tensors. Raises what the plan's check of shapes and dtypes raises."""
    jax: Any = import_module("jax")
    abstract = [jax.typeof(x) for x in inputs]
    image, outputs = plan.bind([(x.shape, x.dtype.name) for x in abstract], scalars)
    return _ffi_call(_attributes_of(image), [(shape, jax.numpy.dtype(dtype)) for shape, dtype in outputs], inputs)


def call_kernel_via_ffi(
    *inputs: Any,
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3 = _ONE,
    smem_bytes: int = 0,
) -> Any:
    """Calls a kernel by its handle: a traced kernel's, or one of `CubinRegistry.register`. The outputs have the shapes of
    `out_specs` under `out_shape_env`; one comes back as an array, several as a tuple. A handle that this process does not
    know lowers, and fails when compiled. ValueError when grid or block are not those that the handle stands for."""
    image = _image_for(cubin_handle, len(inputs), len(out_specs), grid, block, cluster, smem_bytes)
    attributes = _attributes_of(image) if image is not None else {"cubin_handle": import_module("numpy").int64(cubin_handle)}
    outputs = [(tile.resolve_shape(out_shape_env), numpy_dtype(tile.dtype)) for tile in out_specs]
    return _ffi_call(attributes, outputs, inputs)


def numpy_dtype(dtype: PtxType) -> Any:
    """The numpy dtype of a tensor of this PTX type, with ml_dtypes for bfloat16 and float8. TypeError for a type that no
    tensor has."""
    name = _ptx.numpy_name(dtype)
    if not name:
        raise TypeError(f"no tensor has elements of type {dtype}")
    numpy: Any = import_module("numpy")
    return numpy.dtype(getattr(numpy if hasattr(numpy, name) else import_module("ml_dtypes"), name))


def export_safety_checks() -> list[Any]:
    """What `jax.export.export(…, disabled_checks=…)` needs to let the custom call through."""
    return [import_module("jax.export").DisabledSafetyCheck.custom_call(_ptx.xla_target)]


# -- kernels that the caller compiled or wrote as text


@dataclass
class CubinRecord:
    """A kernel by its handle. `module` is kept alive for whoever uses `cu_function`."""

    handle: int
    ptx_source: str
    kernel_name: str
    smem_bytes: int = 0
    grid: Dims3 = _ONE
    block: Dims3 = _ONE
    cu_function: int | None = None
    module: Any = None
    cubin_bytes: bytes | None = None


class CubinRegistry:
    """Records by handle. A handle is 63 bits of a hash of the kernel's content: registering the same kernel again, here or in
    another process, gives the same one."""

    def __init__(self) -> None:
        self._records: dict[int, CubinRecord] = {}
        self._lock = threading.Lock()

    def register(
        self,
        ptx_source: str,
        kernel_name: str,
        cubin_bytes: bytes | None = None,
        smem_bytes: int = 0,
        grid: Dims3 = _ONE,
        block: Dims3 = _ONE,
        cu_function: int | None = None,
        module: Any = None,
    ) -> int:
        """Keeps a record and returns its handle."""
        handle = _ptx.content_handle(ptx_source, kernel_name, grid, block, smem_bytes)
        with self._lock:
            self._records[handle] = CubinRecord(
                handle, ptx_source, kernel_name, smem_bytes, grid, block, cu_function, module, cubin_bytes
            )
        return handle

    def get(self, handle: int) -> CubinRecord | None:
        """The record, or None."""
        with self._lock:
            return self._records.get(handle)

    def clear(self) -> None:
        """Forgets every record. Kernels that programs already use stay launchable."""
        with self._lock:
            self._records.clear()

    def __len__(self) -> int:
        with self._lock:
            return len(self._records)


_registry = CubinRegistry()


def get_cubin_registry() -> CubinRegistry:
    """The records of this process."""
    return _registry


@dataclass(frozen=True)
class _LaunchConfig:
    """What `register_launch_config`, `add_scalar_param_to_shim` and `add_tma_spec_to_shim` said of a handle."""

    grid: Dims3
    block: Dims3
    cluster: Dims3
    smem_bytes: int
    scalars: tuple[tuple[int, int], ...] = ()  # bits, bytes
    descriptors: tuple[tuple[int, TensorMap], ...] = ()  # number of the tensor, its map


_configs: dict[int, _LaunchConfig] = {}


def _image_for(
    handle: int, inputs: int, outputs: int, grid: Dims3, block: Dims3, cluster: Dims3 = _ONE, smem_bytes: int = 0
) -> Image | None:
    """The image that a handle stands for; None for an unknown one."""
    image = _ptx.find_image(handle)
    if image is None:
        record = _registry.get(handle)
        if record is None:
            return None
        config = _configs.get(handle) or _LaunchConfig(grid, block, cluster, smem_bytes or record.smem_bytes)
        image = _ptx.Image.from_text(
            record.ptx_source,
            record.kernel_name,
            grid=config.grid,
            block=config.block,
            cluster=config.cluster,
            smem=config.smem_bytes,
            inputs=inputs,
            outputs=outputs,
            scalars=config.scalars,
            descriptors=config.descriptors,
        )
    for what, given, has in (("grid", grid, image.grid), ("block", block, image.block)):
        if tuple(given) != tuple(has):
            raise ValueError(
                f"kernel `{image.entry}` (handle {handle}) has the {what} {tuple(has)}; the call gives {tuple(given)}"
            )
    return image


def image_of_handle(
    handle: int, inputs: int, outputs: int, grid: Dims3, block: Dims3, cluster: Dims3 = _ONE, smem_bytes: int = 0
) -> Image:
    """The image that a handle stands for. KeyError for an unknown handle, ValueError for another grid or block."""
    image = _image_for(handle, inputs, outputs, grid, block, cluster, smem_bytes)
    if image is None:
        raise KeyError(f"no kernel with handle {handle} is registered in this process")
    return image


def register_launch_config(
    handle: int, cu_function: int, grid: Dims3, block: Dims3, cluster: Dims3 = _ONE, smem_bytes: int = 0
) -> None:
    """Says how the kernel of a handle is launched, in place of what the call would give. RuntimeError for a handle that no
    record has: the launcher loads the PTX itself, on whichever GPU the call runs, so `cu_function`, which is of one GPU, is
    kept in the record only."""
    record = _registry.get(handle)
    if record is None:
        raise RuntimeError(f"no kernel with handle {handle} is registered: `get_cubin_registry().register(…)` gives handles")
    record.cu_function = cu_function or record.cu_function
    with _lock:
        _configs[handle] = _LaunchConfig(grid, block, cluster, smem_bytes)


def _config(handle: int) -> _LaunchConfig:
    config = _configs.get(handle)
    if config is None:
        raise RuntimeError(f"handle {handle} has no launch configuration yet: call `register_launch_config` first")
    return config


def add_scalar_param_to_shim(handle: int, *, value_bits: int, size_bytes: int) -> None:
    """Adds a scalar of 1, 2, 4 or 8 bytes behind the kernel's pointers, after those added before. RuntimeError before
    `register_launch_config`."""
    with _lock:
        config = _config(handle)
        _configs[handle] = replace(config, scalars=(*config.scalars, (value_bits, size_bytes)))


def compile_ptx_to_cubin(
    ptx_source: str, arch: str, kernel_name: str = "", dynamic_smem_bytes: int = 0
) -> tuple[int, Any] | None:
    """Loads a kernel on GPU 0: its CUfunction as an int, and what keeps it loaded. None where there is no driver or no GPU. An
    empty name means the text's first entry. RuntimeError when the text is not for `arch`, has no entry, or does not
    compile."""
    name = kernel_name or _first_entry(ptx_source)
    target = re.search(r"^\s*\.target\s+(\w+)", ptx_source, re.MULTILINE)
    if target is not None and target[1] != arch:
        raise RuntimeError(f"kernel `{name}` targets {target[1]}; it is to be compiled for {arch}")
    if _ptx.why_no_gpu() is not None:
        return None
    return _ptx.load_text(ptx_source, name, smem=dynamic_smem_bytes)


def _first_entry(ptx_source: str) -> str:
    entry = re.search(r"\.entry\s+([\w$%]+)", ptx_source)
    if entry is None:
        raise RuntimeError("the PTX has no `.entry`")
    return entry[1]


# -- TMA descriptors


_tensor_maps: WeakValueDictionary[int, EncodedTensorMap] = WeakValueDictionary()  # by where their bytes lie on the host


def _encoded(tile: Tile, address: int) -> tuple[EncodedTensorMap, int, int]:
    encoded = _ptx.TensorMap.of(tile).encode(address)
    _tensor_maps[encoded.host_ptr] = encoded
    return encoded, encoded.host_ptr, encoded.device_ptr


def synthesize_tma_descriptor(
    shape: tuple[int, ...], dtype: PtxType, layout: Layout, box_shape: tuple[int, ...] | None = None, placeholder_ptr: int = 0
) -> tuple[EncodedTensorMap, int, int]:
    """A CUtensorMap of a row-major tensor at `placeholder_ptr`: the object, and where its 128 bytes lie on the host, while the
    object lives, and on GPU 0, for good. Both copies are constant: a launch with another tensor uses another descriptor. The
    swizzle is the layout's; `box_shape` is what one copy moves, by default 128 rows of a matrix by the swizzle's width.
    ValueError names the rule of tensor maps that is broken, RuntimeError says why there is no GPU."""
    if box_shape is None and len(shape) == 2:
        box_shape = _ptx.default_tma_box(_ptx.Tile(*shape, dtype, layout))
    return _encoded(_ptx.Tile(*shape, dtype, layout, tma_box=box_shape), placeholder_ptr)


def synthesize_tma_descriptor_3d(
    height: int,
    width: int,
    dtype: PtxType,
    box_major: int,
    box_minor: int,
    *,
    swizzle_128b: bool = True,
    padding: bool = False,
    placeholder_ptr: int = 0,
) -> tuple[EncodedTensorMap, int, int]:
    """As `synthesize_tma_descriptor`, of a (height, width) matrix in slabs of 64 columns: one copy moves `box_major` rows of
    `box_minor` columns, also more than a swizzle is wide. With `padding` rows in shared memory are 72 elements apart."""
    layout = _ptx.Layout.TMA_128B if swizzle_128b else _ptx.Layout.ROW
    box = (box_major, box_minor)
    return _encoded(_ptx.Tile(height, width, dtype, layout, tma_box=box, tma_rank=3, tma_padding=padding), placeholder_ptr)


def add_tma_spec_to_shim(handle: int, xla_arg_index: int, host_blob_ptr: int, device_blob_ptr: int) -> None:
    """Adds a TMA descriptor behind the kernel's scalars, after those added before: of tensor `xla_arg_index`, which counts the
    inputs and then the outputs, described as the one of `synthesize_tma_descriptor` whose bytes are at `host_blob_ptr`. Each
    launch passes a descriptor of its own tensor's address; `device_blob_ptr` is not written to. RuntimeError before
    `register_launch_config`, ValueError for a host address where no descriptor is."""
    encoded = _tensor_maps.get(host_blob_ptr)
    if encoded is None:
        raise ValueError(
            f"no descriptor lies at {host_blob_ptr:#x}: `synthesize_tma_descriptor` gives one, valid while its object lives"
        )
    with _lock:
        config = _config(handle)
        _configs[handle] = replace(config, descriptors=(*config.descriptors, (xla_arg_index, encoded.map)))


# -- names that earlier programs ask for


def shim_is_available() -> bool:
    """Whether the native launcher is loaded. It is part of the package, so it always is."""
    return "pyptx._ptx" in sys.modules


def shim_load_error() -> str | None:
    """Why it is not; None when it is."""
    return None if shim_is_available() else "pyptx._ptx is not loaded"


def _load_shim() -> Any:
    return _ptx


_mock_callback: Callable[..., Any] | None = None


def set_mock_ffi_callback(callback: Callable[..., Any] | None) -> None:
    """A test hook: what `_pyptx_launch` calls; None takes it away."""
    global _mock_callback
    _mock_callback = callback


def _pyptx_launch(*args: Any, **kwargs: Any) -> Any:
    if _mock_callback is None:
        raise RuntimeError("no mock callback is set: `set_mock_ffi_callback` sets one")
    return _mock_callback(*args, **kwargs)
