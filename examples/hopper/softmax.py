"""Softmax of each row, one block a row: y = exp(x - max) / sum(exp(x - max)). f32 or bfloat16 in and out, f32 between.

    x[row] → registers → max ─→ e = 2**((x - max) · log2 e) → sum ─┐
                 └───────────────────────────────────────────────┴→ e / sum → y[row]

The largest number goes first, so that no exponential overflows. ``python examples/hopper/softmax.py`` runs it where this machine
can.
"""

from __future__ import annotations

import functools
import math
import sys
from pathlib import Path

import numpy as np

from pyptx import Kernel, Tile, kernel, ptx, reg
from pyptx.types import PtxType, bf16, f32, u32

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.rows import Row
from examples.running import Result, on_gpu, print_table, random_array, run_and_compare

TOLERANCE = {"f32": 2e-5, "bf16": 2**-8}  # relative
FLOOR = 2.0**-126  # numbers below are compared absolutely: they are subnormal, and have fewer digits


@functools.cache
def build_softmax(B: int, N: int, arch: str = "sm_90a", dtype: PtxType = f32) -> Kernel:
    """Y = softmax(X) over the rows of X[B, N]; N is a multiple of 4, of 8 for bf16. Both lie 16-byte aligned."""
    row = Row(N, dtype)

    @kernel(
        in_specs=(Tile(B, N, dtype),),
        out_specs=(Tile(B, N, dtype),),
        grid=(B, 1, 1),
        block=(row.threads, 1, 1),
        reqntid=(row.threads, 1, 1),
        arch=arch,
    )
    def softmax(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        tid = reg.from_(ptx.special.tid.x(), u32)
        this_row = reg.from_(ptx.special.ctaid.x(), u32)
        for pointer in (px, py):
            row.start(pointer, this_row)
            pointer += tid * 16
        guards = row.guards(tid)

        # the largest number; beyond the row stands -inf, which is never the largest and whose exponential is 0
        x_of = row.reader(px, guards, outside=-math.inf)
        largest = reg.scalar(f32, init=-math.inf)
        for i in range(row.passes):
            for x in x_of(i):
                ptx.inst.max.f32(largest, largest, x)
        largest = row.all_max(largest, tid)

        def exponential(x):
            # The difference first: of a product with a number near the largest, infinity would be left.
            ptx.inst.sub.f32(x, x, largest)
            ptx.inst.mul.f32(x, x, math.log2(math.e))
            ptx.inst.ex2.approx.f32(x, x)

        total = reg.scalar(f32, init=0.0)
        for i in range(row.passes):
            for x in x_of(i):
                exponential(x)  # a row that is kept now is one of exponentials
                ptx.inst.add.f32(total, total, x)
        scale = reg.scalar(f32)
        ptx.inst.rcp.approx.f32(scale, row.all_sum(total, tid))

        for i in range(row.passes):
            xs = x_of(i)
            for x in xs:
                if not row.is_kept:
                    exponential(x)
                ptx.inst.mul.f32(x, x, scale)
            row.store(py, i, guards[i], xs)
        ptx.ret()

    return softmax


def reference_softmax(x: np.ndarray) -> np.ndarray:
    """The same in float64."""
    x64 = x.astype(np.float64)
    e = np.exp(x64 - x64.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def check(B: int, N: int, arch: str = "sm_90a", dtype: PtxType = f32, scale: float = 1.0) -> Result:
    """Runs the kernel on random numbers, `scale` large, and holds it to the reference."""
    x = random_array((B, N), dtype, scale=scale)
    return run_and_compare(
        build_softmax(B, N, arch, dtype),
        f"{B} x {N} {dtype}",
        (x,),
        reference_softmax(x),
        tolerance=TOLERANCE[dtype.name],
        floor=FLOOR,
    )


def main(arch: str = "sm_90a") -> None:
    shapes = [(8192, 4096), (4096, 8192), (512, 131072)] if on_gpu(arch) else [(4, 512), (3, 1000), (2, 4096)]
    print_table(f"softmax, {arch}", (check(B, N, arch=arch, dtype=dtype) for dtype in (f32, bf16) for B, N in shapes))


if __name__ == "__main__":
    main()
