"""TMA descriptors that a caller makes, and adds to a kernel that it calls by its handle."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from .. import _ptx
from .._handles import add_descriptor

if TYPE_CHECKING:
    from .._ptx import EncodedTensorMap, Layout, PtxType, Tile
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
    add_descriptor(handle, xla_arg_index, encoded.map)
