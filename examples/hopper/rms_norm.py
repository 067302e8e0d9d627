"""RMS norm, one block a row: y = x * w / sqrt(mean(x**2) + eps). f32 or bfloat16 in and out, f32 between.

    x[row] → registers → sum of squares: thread → warp → shared memory → block
                 │                                                         │
                 └────────────────── · rsqrt(mean + eps) · w ──────────────┘→ y[row]

``python examples/hopper/rms_norm.py`` runs it where this machine can. The same kernel in C++: examples/cpp/rms_norm.hpp.
"""

from __future__ import annotations

import functools
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
FLOOR = 2.0**-126  # numbers below are compared absolutely


@functools.cache
def build_rms_norm(B: int, N: int, eps: float = 1e-6, arch: str = "sm_90a", dtype: PtxType = f32) -> Kernel:
    """Y = rms_norm(X, W) for X[B, N] and W[N]; N is a multiple of 4, of 8 for bf16. All lie 16-byte aligned."""
    row = Row(N, dtype)

    @kernel(
        in_specs=(Tile(B, N, dtype), Tile(N, dtype)),
        out_specs=(Tile(B, N, dtype),),
        grid=(B, 1, 1),
        block=(row.threads, 1, 1),
        reqntid=(row.threads, 1, 1),
        arch=arch,
    )
    def rms_norm(X, W, Y):
        px, pw, py = ptx.global_ptrs(X, W, Y)
        tid = reg.from_(ptx.special.tid.x(), u32)
        this_row = reg.from_(ptx.special.ctaid.x(), u32)
        for pointer in (px, py):
            row.start(pointer, this_row)
        for pointer in (px, pw, py):
            pointer += tid * 16
        guards = row.guards(tid)

        # the sum of the squares of the row
        x_of = row.reader(px, guards)
        sum_sq = reg.scalar(f32, init=0.0)
        for i in range(row.passes):  # a Python loop is an unrolled PTX loop
            for x in x_of(i):
                ptx.inst.fma.rn.f32(sum_sq, x, x, sum_sq)
        sum_sq = row.all_sum(sum_sq, tid)

        # 1 / sqrt(mean + eps)
        rstd = reg.scalar(f32)
        ptx.inst.mul.f32(rstd, sum_sq, 1.0 / N)
        ptx.inst.add.f32(rstd, rstd, eps)
        ptx.inst.rsqrt.approx.f32(rstd, rstd)

        # the row once more, scaled
        for i in range(row.passes):
            xs = x_of(i)
            for x, w in zip(xs, row.load(pw, i, guards[i]), strict=True):
                ptx.inst.mul.f32(x, x, rstd)
                ptx.inst.mul.f32(x, x, w)
            row.store(py, i, guards[i], xs)
        ptx.ret()

    return rms_norm


def reference_rms_norm(x: np.ndarray, w: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """The same in float64."""
    x64, w64 = x.astype(np.float64), w.astype(np.float64)
    return x64 * w64 / np.sqrt((x64 * x64).mean(axis=-1, keepdims=True) + eps)


def check(B: int, N: int, eps: float = 1e-6, arch: str = "sm_90a", dtype: PtxType = f32) -> Result:
    """Runs the kernel on random numbers and holds it to the reference."""
    x, w = random_array((B, N), dtype, seed=0), random_array((N,), dtype, seed=1)
    return run_and_compare(
        build_rms_norm(B, N, eps, arch, dtype),
        f"{B} x {N} {dtype}",
        (x, w),
        reference_rms_norm(x, w, eps),
        tolerance=TOLERANCE[dtype.name],
        floor=FLOOR,
    )


def main(arch: str = "sm_90a") -> None:
    shapes = [(8192, 4096), (4096, 8192), (512, 131072)] if on_gpu(arch) else [(4, 512), (3, 1000), (2, 4096)]
    print_table(f"rms_norm, {arch}", (check(B, N, arch=arch, dtype=dtype) for dtype in (f32, bf16) for B, N in shapes))


if __name__ == "__main__":
    main()
