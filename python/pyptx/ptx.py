"""The authoring surface: ``ptx.inst.<instruction>`` writes one PTX instruction, the helpers here write the few that they say."""

from __future__ import annotations

from ._ptx import (
    Address,
    Else,
    If,
    Loop,
    NegPred,
    PipeRef,
    Range,
    Scope,
    addr,
    bar,
    bra,
    cvta,
    global_ptrs,
    label,
    param,
    raw,
    ret,
    special,
    sreg,
    warp,
)
from .inst import inst

if_ = If
else_ = Else
loop = Loop
range_ = Range
scope = Scope

__all__ = [
    "Address", "NegPred", "PipeRef", "addr", "bar", "bra", "cvta", "else_", "global_ptrs", "if_", "inst", "label", "loop",
    "param", "range_", "raw", "ret", "scope", "special", "sreg", "warp",
]  # fmt: skip
