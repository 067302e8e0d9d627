"""SwiGLU, one block a row: y = silu(gate) * up, where silu(g) = g / (1 + exp(-g)). f32 or bfloat16 in and out, f32 between.

    gate[row] → 1 / (1 + 2**(-g · log2 e)) · g ─┐
    up[row] ────────────────────────────────────┴→ · → y[row]

``python examples/hopper/swiglu.py`` runs it where this machine can.
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

TOLERANCE = {"f32": 1e-5, "bf16": 2**-8}  # relative
FLOOR = 2.0**-100  # numbers below are compared absolutely: of gates below -87 the sigmoid is subnormal, and has fewer digits


@functools.cache
def build_swiglu(B: int, N: int, arch: str = "sm_90a", dtype: PtxType = f32) -> Kernel:
    """Y = silu(Gate) * Up for Gate[B, N] and Up[B, N]; N is a multiple of 4, of 8 for bf16. All lie 16-byte aligned."""
    row = Row(N, dtype, most_threads=256)  # which have nothing to say to each other: small blocks, with more registers a thread

    @kernel(
        in_specs=(Tile(B, N, dtype), Tile(B, N, dtype)),
        out_specs=(Tile(B, N, dtype),),
        grid=(B, 1, 1),
        block=(row.threads, 1, 1),
        reqntid=(row.threads, 1, 1),
        arch=arch,
    )
    def swiglu(Gate, Up, Y):
        pg, pu, py = ptx.global_ptrs(Gate, Up, Y)
        tid = reg.from_(ptx.special.tid.x(), u32)
        this_row = reg.from_(ptx.special.ctaid.x(), u32)
        for pointer in (pg, pu, py):
            row.start(pointer, this_row)
            pointer += tid * 16
        guards = row.guards(tid)

        sigmoid = reg.scalar(f32)
        for i in range(row.passes):
            gates, ups = row.load(pg, i, guards[i]), row.load(pu, i, guards[i])
            for g, u in zip(gates, ups, strict=True):
                # exp(-g) of a very negative g is infinity; its reciprocal is 0, as it should be
                ptx.inst.mul.f32(sigmoid, g, -math.log2(math.e))
                ptx.inst.ex2.approx.f32(sigmoid, sigmoid)
                ptx.inst.add.f32(sigmoid, sigmoid, 1.0)
                ptx.inst.rcp.approx.f32(sigmoid, sigmoid)
                ptx.inst.mul.f32(g, g, sigmoid)
                ptx.inst.mul.f32(g, g, u)
            row.store(py, i, guards[i], gates)
        ptx.ret()

    return swiglu


def reference_swiglu(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The same in float64."""
    g, u = gate.astype(np.float64), up.astype(np.float64)
    return g / (1.0 + np.exp(-g)) * u


def check(B: int, N: int, arch: str = "sm_90a", dtype: PtxType = f32, scale: float = 1.0) -> Result:
    """Runs the kernel on random numbers, `scale` large, and holds it to the reference."""
    gate, up = random_array((B, N), dtype, seed=0, scale=scale), random_array((B, N), dtype, seed=1)
    return run_and_compare(
        build_swiglu(B, N, arch, dtype),
        f"{B} x {N} {dtype}",
        (gate, up),
        reference_swiglu(gate, up),
        tolerance=TOLERANCE[dtype.name],
        floor=FLOOR,
    )


def main(arch: str = "sm_90a") -> None:
    shapes = [(8192, 4096), (4096, 8192), (512, 131072)] if on_gpu(arch) else [(4, 512), (3, 1000), (2, 4096)]
    print_table(f"swiglu, {arch}", (check(B, N, arch=arch, dtype=dtype) for dtype in (f32, bf16) for B, N in shapes))


if __name__ == "__main__":
    main()
