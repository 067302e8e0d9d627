"""Shared memory: ``tile = smem.alloc(f32, 256)``, and loads and stores by address."""

from __future__ import annotations

from ._ptx import SharedAlloc
from ._ptx import smem as _smem

alloc = _smem.alloc
base = _smem.base
load = _smem.load
store = _smem.store

__all__ = ["SharedAlloc", "alloc", "base", "load", "store"]
