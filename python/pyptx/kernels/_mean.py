"""The mean or the sum of losses, and what each counts with, in one launch: of few rows, where several launches cost more than
what they do."""

from __future__ import annotations

import functools
from typing import Any

from .. import ptx, reg, smem
from .._ptx import Tile
from ..kernel import Kernel, kernel
from ..types import PtxType, f32, pred, s32, s64, u32, u64

MOST_ROWS = 1 << 14  # of one block, which loads as fast as the launches that it replaces
_THREADS, _WARP = 256, 32
_WARPS = _THREADS // _WARP


def _totals_of(tid: Any, *numbers: Any) -> list[Any]:
    """The sums of the block's numbers, in its first warp."""
    partial = smem.alloc(f32, (len(numbers) * _WARPS, 1))
    for number in numbers:
        ptx.warp.reduce_sum(number)
    with ptx.if_((tid & (_WARP - 1)) == 0):
        for i, number in enumerate(numbers):
            partial[(tid >> 5) + i * _WARPS, 0] = number
    ptx.bar.sync(0)
    totals = [partial[(tid & (_WARPS - 1)) + i * _WARPS, 0] for i in range(len(numbers))]
    for total in totals:
        ptx.warp.reduce_sum(total, width=_WARPS)
    return totals


@functools.cache
def counted(rank: int, is_int32: bool, is_mean: bool) -> Kernel:
    """targets [..] -> 1 [1], and [1]: what each loss counts with in their sum, 1, or in the mean over the rows whose targets are
    not `ignore_index`, 1 by their number; of none infinity. `M` is the number of rows."""
    classes: PtxType = s32 if is_int32 else s64
    dims = [f"D{i}" for i in range(rank)]

    @kernel(
        arch="sm_80",
        in_specs=(Tile(*dims, classes),),
        out_specs=(Tile(1, f32), Tile(1, f32)),
        grid=1,
        block=_THREADS,
        reqntid=(_THREADS, 1, 1),
        raw_params=[("u32", "M"), (str(classes.name), "ignore_index")],
    )
    def counted_targets(TARGET: Any, ONE: Any, FACTOR: Any) -> None:
        targets, one_at, factor_at = ptx.global_ptrs(TARGET, ONE, FACTOR)
        rows, ignored = ptx.param(u32, "M"), ptx.param(classes, "ignore_index")
        tid = reg.from_(ptx.special.tid.x(), u32)
        count, one = reg.scalar(f32, init=0.0), reg.scalar(f32, init=1.0)
        target, counts = reg.scalar(classes), reg.scalar(pred)
        for row in ptx.range_(tid, rows, _THREADS):
            place = reg.scalar(u64)
            ptx.inst.mad.wide.u32(place, row, classes.bits // 8, targets)
            (ptx.inst.ld.global_.nc.s32 if is_int32 else ptx.inst.ld.global_.nc.s64)(target, ptx.addr(place))
            (ptx.inst.setp.ne.s32 if is_int32 else ptx.inst.setp.ne.s64)(counts, target, ignored)
            ptx.inst.add.f32(count, count, 1.0, pred=counts)
        (total,) = _totals_of(tid, count)
        with ptx.if_(tid == 0):
            ptx.inst.st.global_.f32(ptx.addr(one_at), one)
            if is_mean:
                ptx.inst.div.rn.f32(one, one, total)
            ptx.inst.st.global_.f32(ptx.addr(factor_at), one)
        ptx.ret()

    return counted_targets


@functools.cache
def reduced_losses(rank: int, is_int32: bool, is_mean: bool, has_factor: bool) -> Kernel:
    """(losses [..], targets [..]) -> value [1], and with `has_factor` factor [1]: the sum of the losses, of which those that do
    not count are 0, and 1; or the mean over the rows that do, whose targets are not `ignore_index`, NaN where there is none, and
    1 by their number. `M` is the number of rows."""
    classes: PtxType = s32 if is_int32 else s64
    dims = [f"D{i}" for i in range(rank)]

    declared = kernel(
        arch="sm_80",
        in_specs=(Tile(*dims, f32), Tile(*dims, classes)),
        out_specs=(Tile(1, f32),) * (2 if has_factor else 1),
        grid=1,
        block=_THREADS,
        reqntid=(_THREADS, 1, 1),
        raw_params=[("u32", "M"), (str(classes.name), "ignore_index")],
    )

    def body(LOSS: Any, TARGET: Any, VALUE: Any, *FACTOR: Any) -> None:
        losses, targets, value, *factor = ptx.global_ptrs(LOSS, TARGET, VALUE, *FACTOR)
        rows, ignored = ptx.param(u32, "M"), ptx.param(classes, "ignore_index")
        tid = reg.from_(ptx.special.tid.x(), u32)
        total, count = reg.scalar(f32, init=0.0), reg.scalar(f32, init=0.0)
        loss, target, counts = reg.scalar(f32), reg.scalar(classes), reg.scalar(pred)
        for row in ptx.range_(tid, rows, _THREADS):
            place, number = reg.scalar(u64), reg.scalar(u64)
            ptx.inst.mad.wide.u32(place, row, 4, losses)
            ptx.inst.mad.wide.u32(number, row, classes.bits // 8, targets)
            ptx.inst.ld.global_.nc.f32(loss, ptx.addr(place))
            if is_int32:
                ptx.inst.ld.global_.nc.s32(target, ptx.addr(number))
                ptx.inst.setp.ne.s32(counts, target, ignored)
            else:
                ptx.inst.ld.global_.nc.s64(target, ptx.addr(number))
                ptx.inst.setp.ne.s64(counts, target, ignored)
            ptx.inst.add.f32(total, total, loss)
            ptx.inst.add.f32(count, count, 1.0, pred=counts)
        all_of_them, number_of_them = _totals_of(tid, total, count)
        with ptx.if_(tid == 0):
            one, result = reg.scalar(f32, init=1.0), reg.scalar(f32)
            if is_mean:
                ptx.inst.div.rn.f32(result, all_of_them, number_of_them)
                ptx.inst.div.rn.f32(one, one, number_of_them)
            else:
                ptx.inst.mov.f32(result, all_of_them)
            ptx.inst.st.global_.f32(ptx.addr(value), result)
            for pointer in factor:
                ptx.inst.st.global_.f32(ptx.addr(pointer), one)
        ptx.ret()

    def reduced(LOSS: Any, TARGET: Any, VALUE: Any) -> None:
        body(LOSS, TARGET, VALUE)

    def reduced_with_factor(LOSS: Any, TARGET: Any, VALUE: Any, FACTOR: Any) -> None:
        body(LOSS, TARGET, VALUE, FACTOR)

    return declared(reduced_with_factor if has_factor else reduced)
