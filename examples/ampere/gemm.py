"""The matrix product on Ampere's tensor cores: C = A B for A[M, K] and B[K, N], bfloat16 in, f32 sums, f32 or bfloat16 out.

    a block of 4 warps has a tile of 128 x 128; each warp 64 x 64 of it: 4 x 8 products m16n8k16, the sums in 128 registers

    global ──cp.async──► stage 0 ┐
                         stage 1 │
                         stage 2 ├─ldmatrix──► registers ──mma.sync──► registers ──► C
                         stage 3 ┘

    A stage is 32 columns of A and 32 rows of B. While one is worked on, the copies of the next three are under way.

`ldmatrix` reads 8 rows of 16 bytes at once, which should lie in different banks: at different places modulo 128 bytes. So the
pieces of 16 bytes of a row change places, by an exclusive or with bits of the row's number (p: a piece's place):

    A: rows of 64 bytes, two in 128            B: rows of 256 bytes
       row 0, 1   0 1 2 3   0 1 2 3               row 0   0 1 2 3 4 5 6 7 …
           2, 3   1 0 3 2   1 0 3 2                   1   1 0 3 2 5 4 7 6 …
           4, 5   2 3 0 1   2 3 0 1                   2   2 3 0 1 6 7 4 5 …
           6, 7   3 2 1 0   3 2 1 0                   …
       p = piece ^ (row / 2 mod 4)                p = piece ^ (row mod 8)

It runs on every GPU from Ampere on: ``python examples/ampere/gemm.py`` does, where this machine can.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np

from pyptx import Kernel, Tile, kernel, ptx, reg, smem
from pyptx.types import PtxType, b32, bf16, f32, pred, u32, u64

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.running import Result, on_gpu, print_table, random_array, run_and_compare

BM, BN, BK = 128, 128, 32  # a block's tile, and how far a stage reaches along K
WARP_M, WARP_N = 64, 64  # a warp's
MMA_M, MMA_N, MMA_K = 16, 8, 16  # of one instruction
THREADS = 128
PIECE = 16  # bytes: what a cp.async copies, and a row of ldmatrix
STAGES = 4  # a power of two
A_ROW, B_ROW = BK * 2, BN * 2  # bytes
A_BYTES, B_BYTES = BM * A_ROW, BK * B_ROW
STAGE_BYTES = A_BYTES + B_BYTES  # a power of two as well


@functools.cache
def build_gemm(M: int, N: int, K: int, arch: str = "sm_80", dtype: PtxType = f32) -> Kernel:
    """C = A B, with C of type `dtype`; M and N are multiples of 128, K of 32. All lie 16-byte aligned."""
    if M < BM or M % BM or N < BN or N % BN or K < BK or K % BK:
        raise ValueError(f"M, N, K are {M}, {N}, {K}; M and N are multiples of {BM}, and K of {BK}: tiles are whole")
    if dtype not in (f32, bf16):
        raise ValueError(f"C is of {dtype}; what fits is f32 or bf16")
    steps = K // BK
    c_bytes = dtype.bits // 8  # of an element

    @kernel(
        in_specs=(Tile(M, K, bf16), Tile(K, N, bf16)),
        out_specs=(Tile(M, N, dtype),),
        grid=(M // BM, N // BN, 1),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
        smem=STAGES * STAGE_BYTES,
        extern_smem=True,
        arch=arch,
    )
    def gemm(A, B, C):
        a_from, b_from, c = ptx.global_ptrs(A, B, C)
        tid = reg.from_(ptx.special.tid.x(), u32)
        lane, warp = tid & 31, tid >> 5
        row = reg.from_(ptx.special.ctaid.x(), u32) * BM
        column = reg.from_(ptx.special.ctaid.y(), u32) * BN
        base = smem.base()

        # ---- the copies: of each stage a thread moves 4 pieces of A and 4 of B. Its pieces lie 32 rows of A, or 8 rows of B,
        # from each other: their rows' numbers have the same lowest bits, so they change places alike.
        a_row, a_piece = tid >> 2, tid & 3
        b_row, b_piece = tid >> 4, tid & 15
        a_to = base + a_row * A_ROW + (a_piece ^ ((a_row >> 1) & 3)) * PIECE
        b_to = base + b_row * B_ROW + (b_piece ^ (b_row & 7)) * PIECE
        move(a_from, row + a_row, K * 2)
        a_from += a_piece * PIECE
        move(b_from, b_row, N * 2)
        b_from += (column + b_piece * 8) * 2

        def copy_stage(at: Any, guard: Any = None) -> None:
            """Starts the copies of the next stage to `at` bytes from the first one, and moves the pointers on."""
            for to, from_, between, row_bytes, rows in ((a_to, a_from, 0, K * 2, 32), (b_to, b_from, A_BYTES, N * 2, 8)):
                to_stage = to + at
                smem_row_bytes = A_ROW if rows == 32 else B_ROW
                for i in range(4):
                    ptx.cp.async_.cg(
                        ptx.addr(to_stage, between + i * rows * smem_row_bytes), ptx.addr(from_, i * rows * row_bytes), PIECE,
                        pred=guard,
                    )  # fmt: skip
            ptx.inst.add.u64(a_from, a_from, BK * 2)
            ptx.inst.add.u64(b_from, b_from, BK * N * 2)

        for stage in range(STAGES - 1):
            if stage < steps:
                copy_stage(stage * STAGE_BYTES)
            ptx.cp.async_.commit_group()  # a group a stage, an empty one too: so that counting groups is counting stages

        # ---- what each lane reads: ldmatrix takes the address of a row from each lane, of four matrices of 8 x 8 (x4).
        #   A   lanes 0 to 15: rows 0 to 15, 16 to 31: the same, 8 columns on. The four registers are then as mma.sync has them.
        #   B   lanes 0 to 15: rows 0 to 15 of K, 16 to 31: the same, 8 columns on. Transposed (.trans), that is what mma.sync has
        #       for 8 columns, in two registers, and the next 8, in the other two.
        low, high = lane & 15, lane >> 4
        warp_row, warp_column = (warp & 1) * WARP_M, (warp >> 1) * WARP_N
        a_base = base + (warp_row + low) * A_ROW
        b_base = base + low * B_ROW + warp_column * 2 + A_BYTES
        a_swizzled, b_swizzled = high ^ ((low >> 1) & 3), high ^ (low & 7)
        a_at = [a_base + (a_swizzled ^ 2 * k) * PIECE for k in range(BK // MMA_K)]  # of 16 columns: two pieces
        b_at = [b_base + (b_swizzled ^ 2 * j) * PIECE for j in range(WARP_N // 16)]

        sums = [[[reg.scalar(f32, init=0.0) for _ in range(4)] for _ in range(WARP_N // MMA_N)] for _ in range(WARP_M // MMA_M)]
        a = [reg.array(b32, 4) for _ in range(WARP_M // MMA_M)]
        b = [reg.array(b32, 4) for _ in range(WARP_N // 16)]

        step = reg.scalar(u32, init=0)
        more = reg.scalar(pred)
        with ptx.loop("k_loop", pred=more):
            ptx.cp.async_.wait_group(STAGES - 2)  # my copies of this stage have come,
            ptx.bar.sync(0)  # and everybody's; and all have read the stage before, which is copied to now
            ahead = step + (STAGES - 1)
            copy_stage((ahead & (STAGES - 1)) * STAGE_BYTES, guard=ahead < steps)
            ptx.cp.async_.commit_group()

            at = (step & (STAGES - 1)) * STAGE_BYTES
            a_stage, b_stage = [address + at for address in a_at], [address + at for address in b_at]
            for k in range(BK // MMA_K):
                for m, fragment in enumerate(a):
                    ptx.ldmatrix(dst=fragment, src=ptx.addr(a_stage[k], m * MMA_M * A_ROW), layout="m8n8.x4")
                for j, fragment in enumerate(b):
                    ptx.ldmatrix(dst=fragment, src=ptx.addr(b_stage[j], k * MMA_K * B_ROW), layout="m8n8.x4", trans=True)
                for m, of_row in enumerate(sums):
                    for n, d in enumerate(of_row):
                        ptx.mma.sync(
                            shape=(MMA_M, MMA_N, MMA_K), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, dtype_c=f32,
                            d=d, a=a[m], b=[b[n // 2][n % 2 * 2], b[n // 2][n % 2 * 2 + 1]], c=d,
                        )  # fmt: skip
            ptx.inst.add.u32(step, step, 1)
            ptx.inst.setp.lt.u32(more, step, steps)

        # ---- lane l has of each product rows l / 4 and l / 4 + 8, of both the columns 2 (l % 4) and one on.
        move(c, row + warp_row + (lane >> 2), N * c_bytes)
        c += (column + warp_column + ((lane & 3) << 1)) * c_bytes
        packed = reg.scalar(b32)
        for m, of_row in enumerate(sums):
            for half in range(2):
                if m or half:
                    ptx.inst.add.u64(c, c, 8 * N * c_bytes)
                for n, d in enumerate(of_row):
                    to, left, right = ptx.addr(c, n * MMA_N * c_bytes), d[2 * half], d[2 * half + 1]
                    if dtype == f32:
                        ptx.inst.st.global_.v2.f32(to, [left, right])
                    else:
                        ptx.inst.cvt.rn.bf16x2.f32(packed, right, left)  # the first goes to the upper half
                        ptx.inst.st.global_.b32(to, packed)
        ptx.ret()

    return gemm


def move(pointer: Any, rows: Any, row_bytes: int) -> None:
    """Moves the pointer on by rows. 64 bits: a matrix may be larger than 4 GiB."""
    offset = reg.scalar(u64)
    ptx.inst.mul.wide.u32(offset, rows, row_bytes)
    pointer += offset


def reference_gemm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same in float64."""
    return a.astype(np.float64) @ b.astype(np.float64)


def check(M: int, N: int, K: int, arch: str = "sm_80", dtype: PtxType = f32) -> Result:
    """Runs the kernel on random numbers and holds it to the reference; errors of small sums are relative to a typical one."""
    a, b = random_array((M, K), bf16, seed=0), random_array((K, N), bf16, seed=1)
    return run_and_compare(
        build_gemm(M, N, K, arch, dtype),
        f"{M} x {N} x {K}, C {dtype}",
        (a, b),
        reference_gemm(a, b),
        tolerance=1e-4 if dtype == f32 else 2**-8,  # of f32 sums, or of the rounding to bfloat16, half of that
        floor=K**0.5,
        operations=2 * M * N * K,
    )


def main(arch: str = "sm_80") -> None:
    shapes = [(2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 4096)] if on_gpu(arch) else [(128, 128, 160)]
    print_table(f"gemm, {arch}", (check(*shape, arch=arch, dtype=dtype) for dtype in (f32, bf16) for shape in shapes))


if __name__ == "__main__":
    main()
