"""``ptx.inst`` and ``ptx.let``: every PTX instruction, in PTX's own spelling. The instruction table writes their stubs."""

from __future__ import annotations

from ._ptx import inst, let

__all__ = ["inst", "let"]
