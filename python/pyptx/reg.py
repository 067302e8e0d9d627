"""Registers: ``reg.scalar(f32, init=0.0)``, ``reg.array(f32, 16)``, ``reg.from_(ptx.special.tid.x(), u32)``."""

from __future__ import annotations

from ._ptx import NegPred, PipeRef, Reg, RegArray
from ._ptx import reg as _reg

scalar = _reg.scalar
array = _reg.array
from_ = _reg.from_
wgmma_frag = _reg.wgmma_frag
alloc = _reg.alloc
alloc_array = _reg.alloc_array

__all__ = ["NegPred", "PipeRef", "Reg", "RegArray", "alloc", "alloc_array", "array", "from_", "scalar", "wgmma_frag"]


def __dir__() -> list[str]:
    return sorted(__all__)
