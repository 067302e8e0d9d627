"""Shared memory: ``tile = smem.alloc(f32, (4, 32))``, its elements ``tile[row, column]``, and loads and stores by address."""

from __future__ import annotations

from ._ptx import MbarrierArray, MbarrierRef, SharedAlloc, SharedSlice
from ._ptx import smem as _smem

alloc = _smem.alloc
alloc_with_layout = _smem.alloc_with_layout
wgmma_tile = _smem.wgmma_tile
mbarrier = _smem.mbarrier
base = _smem.base
load = _smem.load
store = _smem.store
apply_swizzle = _smem.apply_swizzle

__all__ = [
    "MbarrierArray", "MbarrierRef", "SharedAlloc", "SharedSlice", "alloc", "alloc_with_layout", "apply_swizzle", "base", "load",
    "mbarrier", "store", "wgmma_tile",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
