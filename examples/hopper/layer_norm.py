"""Layer norm, one block a row: y = (x - mean) / sqrt(var + eps) * w + b. f32 or bfloat16 in and out, f32 between.

    x[row] → registers → sum → mean ─→ sum of (x - mean)**2 → rstd ─┐
                 └──────────────────────────────────────────────────┴→ (x - mean) · rstd · w + b → y[row]

Two sums one after the other, since the row is in registers anyway: mean(x**2) - mean**2 in one go loses all digits when the mean
is large. ``python examples/hopper/layer_norm.py`` runs it where this machine can.
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
FLOOR = 1.0  # numbers below are compared absolutely: they are differences of larger ones


@functools.cache
def build_layer_norm(B: int, N: int, eps: float = 1e-5, arch: str = "sm_90a", dtype: PtxType = f32) -> Kernel:
    """Y = layer_norm(X, W, Bias) for X[B, N], W[N], Bias[N]; N is a multiple of 4, of 8 for bf16. All lie 16-byte aligned."""
    row = Row(N, dtype)

    @kernel(
        in_specs=(Tile(B, N, dtype), Tile(N, dtype), Tile(N, dtype)),
        out_specs=(Tile(B, N, dtype),),
        grid=(B, 1, 1),
        block=(row.threads, 1, 1),
        reqntid=(row.threads, 1, 1),
        arch=arch,
    )
    def layer_norm(X, W, Bias, Y):
        px, pw, pb, py = ptx.global_ptrs(X, W, Bias, Y)
        tid = reg.from_(ptx.special.tid.x(), u32)
        this_row = reg.from_(ptx.special.ctaid.x(), u32)
        for pointer in (px, py):
            row.start(pointer, this_row)
        for pointer in (px, pw, pb, py):
            pointer += tid * 16
        guards = row.guards(tid)

        # the mean; threads beyond the row add 0
        x_of = row.reader(px, guards)
        total = reg.scalar(f32, init=0.0)
        for i in range(row.passes):
            for x in x_of(i):
                ptx.inst.add.f32(total, total, x)
        mean = reg.scalar(f32)
        ptx.inst.mul.f32(mean, row.all_sum(total, tid), 1.0 / N)

        # the variance; a thread beyond the row would add mean**2, so it is left out
        sum_sq, distance = reg.scalar(f32, init=0.0), reg.scalar(f32)
        for i in range(row.passes):
            for x in x_of(i):
                ptx.inst.sub.f32(distance, x, mean)
                ptx.inst.fma.rn.f32(sum_sq, distance, distance, sum_sq, pred=guards[i])
        rstd = reg.scalar(f32)
        ptx.inst.mul.f32(rstd, row.all_sum(sum_sq, tid), 1.0 / N)
        ptx.inst.add.f32(rstd, rstd, eps)
        ptx.inst.rsqrt.approx.f32(rstd, rstd)

        # the row once more
        for i in range(row.passes):
            xs, ws, bs = x_of(i), row.load(pw, i, guards[i]), row.load(pb, i, guards[i])
            for x, w, b in zip(xs, ws, bs, strict=True):
                ptx.inst.sub.f32(x, x, mean)
                ptx.inst.mul.f32(x, x, rstd)
                ptx.inst.fma.rn.f32(x, x, w, b)
            row.store(py, i, guards[i], xs)
        ptx.ret()

    return layer_norm


def reference_layer_norm(x: np.ndarray, w: np.ndarray, b: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """The same in float64."""
    x64, w64, b64 = (array.astype(np.float64) for array in (x, w, b))
    mean, var = x64.mean(axis=-1, keepdims=True), x64.var(axis=-1, keepdims=True)
    return (x64 - mean) / np.sqrt(var + eps) * w64 + b64


def check(B: int, N: int, eps: float = 1e-5, arch: str = "sm_90a", dtype: PtxType = f32) -> Result:
    """Runs the kernel on random numbers and holds it to the reference."""
    x, w, b = (random_array(shape, dtype, seed) for seed, shape in enumerate([(B, N), (N,), (N,)]))
    return run_and_compare(
        build_layer_norm(B, N, eps, arch, dtype),
        f"{B} x {N} {dtype}",
        (x, w, b),
        reference_layer_norm(x, w, b, eps),
        tolerance=TOLERANCE[dtype.name],
        floor=FLOOR,
    )


def main(arch: str = "sm_90a") -> None:
    shapes = [(8192, 4096), (4096, 8192), (512, 131072)] if on_gpu(arch) else [(4, 512), (3, 1000), (2, 4096)]
    print_table(f"layer_norm, {arch}", (check(B, N, arch=arch, dtype=dtype) for dtype in (f32, bf16) for B, N in shapes))


if __name__ == "__main__":
    main()
