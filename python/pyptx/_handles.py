"""Kernels by their handles, for JAX and torch alike: images that were traced here, and those that the caller compiled or wrote as
text. An integer handle is 63 bits of a hash of the kernel's content.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _ptx
from ._ptx import Tile
from ._registry import plan_of_image

if TYPE_CHECKING:
    from ._ptx import Image, Plan, PtxType, TensorMap

Dims3 = tuple[int, int, int]
ONE: Dims3 = (1, 1, 1)


def numpy_dtype(dtype: PtxType) -> Any:
    """The numpy dtype of a tensor of this PTX type, with ml_dtypes for bfloat16 and float8. TypeError for a type that no
    tensor has."""
    name = _ptx.numpy_name(dtype)
    if not name:
        raise TypeError(f"no tensor has elements of type {dtype}")
    numpy: Any = import_module("numpy")
    return numpy.dtype(getattr(numpy if hasattr(numpy, name) else import_module("ml_dtypes"), name))


# -- kernels that the caller compiled or wrote as text


@dataclass
class CubinRecord:
    """A kernel by its handle. `module` is kept alive for whoever uses `cu_function`."""

    handle: int
    ptx_source: str
    kernel_name: str
    smem_bytes: int = 0
    grid: Dims3 = ONE
    block: Dims3 = ONE
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
        grid: Dims3 = ONE,
        block: Dims3 = ONE,
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
_lock = threading.RLock()


def known_image(
    handle: int, inputs: int, outputs: int, grid: Dims3, block: Dims3, cluster: Dims3 = ONE, smem_bytes: int = 0
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
    given: tuple[tuple[str, object, object], ...] = (
        ("grid", tuple(grid), tuple(image.grid)),
        ("block", tuple(block), tuple(image.block)),
        ("cluster", tuple(cluster), tuple(image.cluster)),
        ("dynamic shared memory", smem_bytes, image.smem),
    )
    left_out: dict[str, object] = {"cluster": ONE, "dynamic shared memory": 0}  # whoever says nothing means the kernel's own
    for what, value, has in given:
        if value != has and value != left_out.get(what):
            raise ValueError(f"kernel `{image.entry}` (handle {handle}) has the {what} {has}; the call gives {value}")
    return image


def check_tensors(image: Image, inputs: Sequence[tuple[tuple[int, ...], str]], outputs: Sequence[tuple[Any, Any]]) -> None:
    """Checks shapes and dtype names of a call by handle against the tiles of the kernel, as far as it was traced here: TypeError
    or ValueError."""
    plan = plan_of_image(image)
    if plan is None:
        return
    _, made = plan.bind(list(inputs))
    seen = [(tuple(shape), getattr(dtype, "name", dtype)) for shape, dtype in outputs]
    for number, (tile, has) in enumerate(zip(plan.outputs, made, strict=True)):
        if len(seen) != len(made) or seen[number][0] != has[0] or not tile.matches(*seen[number]):
            said = [f"{dtype}{list(shape)}" for shape, dtype in seen]
            _ptx.raise_error(
                "argument_dim",
                f"kernel `{image.entry}` (handle {image.handle}) gives {', '.join(f'{d}{list(s)}' for s, d in made)}; "
                f"`out_specs` of the call are {', '.join(said)}",
            )


# By handle, outputs, and the inputs of what was not traced here.
_plans: dict[tuple[object, ...], Plan] = {}


def plan_of_call(image: Image, inputs: Sequence[tuple[tuple[int, ...], str]], outputs: Sequence[tuple[Any, Any]]) -> Plan:
    """The plan that calls by handle come down to, with such tensors by shape and dtype name. A kernel that was traced here says
    what its inputs are, a text takes them as they come; outputs are what the call says. Errors as those of `check_tensors`."""
    declared = plan_of_image(image)
    seen = tuple((tuple(shape), dtype) for shape, dtype in outputs)
    key = (image.handle, seen, tuple(inputs) if declared is None else ())
    if known := _plans.get(key):
        return known
    check_tensors(image, inputs, outputs)
    taken = [_tile(*spec) for spec in inputs] if declared is None else list(declared.inputs)
    names = [f"tensor {number}" for number in range(len(taken) + len(seen))] if declared is None else list(declared.arguments)
    return _plans.setdefault(key, _ptx.Plan(image.entry, taken, [_tile(*spec) for spec in seen], names, _OneImage(image, key)))


class _OneImage:
    """Makes the one image of a handle's plan."""

    def __init__(self, image: Image, key: tuple[object, ...]) -> None:
        self._image, self._key = image, key

    def __call__(self, env: dict[str, int]) -> Image:
        return self._image

    @property
    def aliases(self) -> dict[int, int]:
        """Inputs that are changed: the number of each, and of the output that is written there."""
        return self._image.aliases

    def content(self) -> str:
        """All that makes the plan what it is, the same in every process."""
        return repr((self._image.entry, *self._key))


def _tile(shape: tuple[int, ...], dtype: str) -> Tile:
    """The tile of tensors of a numpy dtype."""
    fits = [named for named in _ptx.TYPES if _ptx.numpy_name(named) == dtype]
    if not fits:
        _ptx.raise_error("argument_dtype", f"a tensor has elements of type {dtype}; no kernel takes them")
    return Tile(*shape, fits[0])


def image_of_handle(
    handle: int, inputs: int, outputs: int, grid: Dims3, block: Dims3, cluster: Dims3 = ONE, smem_bytes: int = 0
) -> Image:
    """The image that a handle stands for. KeyError for an unknown handle, ValueError for another grid or block."""
    image = known_image(handle, inputs, outputs, grid, block, cluster, smem_bytes)
    if image is None:
        raise KeyError(f"no kernel with handle {handle} is registered in this process")
    return image


def register_launch_config(
    handle: int, cu_function: int, grid: Dims3, block: Dims3, cluster: Dims3 = ONE, smem_bytes: int = 0
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


def add_descriptor(handle: int, tensor: int, described: TensorMap) -> None:
    """Adds a TMA descriptor of a tensor, by its number, behind the kernel's scalars, after those added before. RuntimeError
    before `register_launch_config`."""
    with _lock:
        config = _config(handle)
        _configs[handle] = replace(config, descriptors=(*config.descriptors, (tensor, described)))


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
