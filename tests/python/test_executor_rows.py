"""Rows of the table that no other test of the executor runs: saturating conversions, cached loads, fences, sleeping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, types

COUNT = 256
BITS = {"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64}


def run(write: Callable[[Any, Any], None], values: np.ndarray, in_type: str = "s64", out_type: str = "s64") -> np.ndarray:
    """`write(address of the input, output register)` for each value, one thread each."""

    @kernel(
        in_specs=(Tile(COUNT, getattr(types, in_type)),),
        out_specs=(Tile(COUNT, getattr(types, out_type)),),
        grid=1,
        block=COUNT,
        arch="sm_100",
    )
    def each(A, B):
        a, b = ptx.global_ptrs(A, B)
        tid = reg.from_(ptx.special.tid.x(), types.u32)
        out = reg.scalar(getattr(types, out_type))
        write(ptx.addr(a + tid * (BITS[in_type] // 8)), out)
        getattr(ptx.inst.st.global_, f"b{BITS[out_type]}")(ptx.addr(b + tid * (BITS[out_type] // 8)), out)
        ptx.ret()

    return each(values)


def limits(name: str) -> tuple[int, int]:
    bits = BITS[name]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if name[0] == "s" else (0, (1 << bits) - 1)


# cvt.sat.dtype.atype: only where the destination cannot hold every source value (manual: cvt, "saturation modifier")
@pytest.mark.parametrize("source", [t for t in BITS if BITS[t] == 64 or t in ("u32", "s32", "u16", "s16", "u8", "s8")])
@pytest.mark.parametrize("to", BITS)
def test_saturating_conversion(to: str, source: str) -> None:
    low, high = limits(source)
    to_low, to_high = limits(to)
    spelled = f"cvt.sat.{to}.{source}"
    edges = [low, high, 0, 1, to_low, to_high, to_low - 1, to_high + 1, high // 2, low // 2]
    values = [max(low, min(high, v)) for v in edges]
    wanted = [max(to_low, min(to_high, v)) for v in values]
    words = np.resize(np.array([v & 0xFFFFFFFFFFFFFFFF for v in values], np.uint64).view(np.int64), COUNT)
    registers = {8: "u32", 16: "u16", 32: "u32", 64: "u64"}

    def write(address: Any, out: Any) -> None:
        whole = reg.scalar(types.u64)
        ptx.inst.ld.global_.u64(whole, address)
        narrow = whole
        if BITS[source] < 64:
            narrow = reg.scalar(getattr(types, registers[BITS[source]]))
            getattr(ptx.inst.cvt, registers[BITS[source]]).u64(narrow, whole)
        result = reg.scalar(getattr(types, registers[BITS[to]]))
        getattr(getattr(ptx.inst.cvt.sat, to), source)(result, narrow)
        # the result's own sign decides how it fills 64 bits
        wide = "s64" if to[0] == "s" else "u64"
        getattr(getattr(ptx.inst.cvt, wide), to)(out, result) if BITS[to] < 64 else ptx.inst.mov.b64(out, result)

    if to_low <= low and high <= to_high:  # nothing to saturate: the manual has no such instruction
        with pytest.raises(Exception, match="sat"):
            run(write, words)
        return
    got = run(write, words)[: len(wanted)]
    assert [int(g) & 0xFFFFFFFFFFFFFFFF for g in got] == [w & 0xFFFFFFFFFFFFFFFF for w in wanted], spelled


def test_cached_loads() -> None:
    values = np.arange(COUNT, dtype=np.int64) * 77

    def plain(address: Any, out: Any) -> None:
        ptx.inst.ld.global_.nc.b64(out, address)

    def hinted(address: Any, out: Any) -> None:  # the row ld.global.nc.l1{…}
        ptx.inst.ld.global_.nc.L1__no_allocate.b64(out, address)

    for write in (plain, hinted):
        np.testing.assert_array_equal(run(write, values), values)


def test_fences_and_sleep_change_nothing() -> None:
    values = np.arange(COUNT, dtype=np.int64)

    def write(address: Any, out: Any) -> None:
        ptx.inst.ld.global_.b64(out, address)
        ptx.inst.membar.gl()
        ptx.inst.membar.cta()
        ptx.inst.griddepcontrol.wait()
        ptx.inst.griddepcontrol.launch_dependents()
        ptx.inst.fence.acq_rel.gpu()
        ptx.inst.nanosleep.u32(20)

    np.testing.assert_array_equal(run(write, values), values)
