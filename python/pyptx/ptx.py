"""The authoring surface: ``ptx.inst.<instruction>`` writes one PTX instruction, the helpers here write the few that they say."""

from __future__ import annotations

from typing import Any

from ._ptx import (
    Address,
    BarrierArray,
    BarrierSlot,
    Expression,
    NamedBarrier,
    NegPred,
    PipelineState,
    PipeRef,
    Range,
    add,
    addr,
    and_,
    bar,
    block,
    bra,
    cluster,
    cp,
    cvt,
    cvta,
    elect_sync,
    elif_,
    else_,
    fence,
    file_,
    global_index,
    global_ptrs,
    if_,
    kloop,
    label,
    ld,
    ldmatrix,
    loc,
    loop,
    mad,
    mbarrier,
    mma,
    mov,
    mul,
    named_barrier,
    not_,
    or_,
    param,
    pipeline,
    pragma,
    raw,
    ret,
    scope,
    selp,
    setmaxnreg,
    setmaxnreg_dec,
    setmaxnreg_inc,
    setp,
    shl,
    shr,
    special,
    sreg,
    st,
    stmatrix,
    stmatrix_x4_trans_f32_bf16,
    sub,
    tcgen05,
    tma,
    var,
    warp,
    wgmma,
    while_,
    xor_,
)
from .inst import inst, let

range_ = Range
expr = Expression
ctaid_x = special.ctaid.x
ctaid_y = special.ctaid.y


class Pipe:
    """``pipe(a).add.s32(d, 5).shl.b32(e, 2)``: each instruction's first operand is the source of the next one."""

    __slots__ = ("_dots", "_source")

    def __init__(self, src: Any, dots: Any = inst) -> None:
        self._source = src
        self._dots = dots

    def __getattr__(self, word: str) -> Pipe:
        return Pipe(self._source, getattr(self._dots, word))

    def __call__(self, d: Any, *operands: Any, pred: Any = None) -> Pipe:
        """Writes ``<instruction> d, source, operands…``; `d` is the source of what follows."""
        self._dots(d, self._source, *operands, pred=pred)
        return Pipe(d)


pipe = Pipe

__all__ = [
    "Address", "BarrierArray", "BarrierSlot", "NamedBarrier", "NegPred", "PipeRef", "PipelineState", "add", "addr", "and_",
    "bar", "block", "bra", "cluster", "cp", "ctaid_x", "ctaid_y", "cvt", "cvta", "elect_sync", "elif_", "else_", "expr",
    "fence", "file_", "global_index", "global_ptrs", "if_", "inst", "kloop", "label", "ld", "ldmatrix", "let", "loc",
    "loop", "mad", "mbarrier", "mma", "mov", "mul", "named_barrier", "not_", "or_", "param", "pipe", "pipeline", "pragma",
    "range_", "raw", "ret", "scope", "selp", "setmaxnreg", "setmaxnreg_dec", "setmaxnreg_inc", "setp", "shl", "shr",
    "special", "sreg", "st", "stmatrix", "stmatrix_x4_trans_f32_bf16", "sub", "tcgen05", "tma", "var", "warp", "wgmma",
    "while_", "xor_",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
