"""``ptx.inst``: every PTX instruction, in PTX's own spelling. Its stubs are written from the instruction table."""

from __future__ import annotations

from ._ptx import inst

__all__ = ["inst"]
