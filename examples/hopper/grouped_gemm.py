"""Grouped matrix product, the smallest kernel with TMA and wgmma: C[g] = A[g] B[g] for G groups. bfloat16 in, f32 out.

    A (G*M, K)                    B (G*K, N)                  one block of 128 threads (a warpgroup) a tile of C
      ┌──┬──┬──┐                    ┌─────┬─────┐
      │▒▒│  │  │ 64 rows            │▒▒▒▒▒│     │ 64 rows       TMA ──► shared memory ──► wgmma ──► registers ──► C
      ├──┼──┼──┤                    ├─────┼─────┤                └── mbarrier ──┘
      │  │  │  │                    │     │     │              ctaid.x: which columns, .y: which rows, .z: which group
      └──┴──┴──┘                    └─────┴─────┘
       64 columns a step            128 columns

A lies K-major in shared memory, B as it lies in memory, N-major: wgmma reads both (``trans_b=1``). There is one stage: a block
waits for its own copies, and the other blocks on its SM have the tensor cores meanwhile; ``gemm_highperf_hopper.py`` overlaps the
two within a block.

``python examples/hopper/grouped_gemm.py`` runs it on a Hopper GPU, if there is one.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pyptx import Kernel, Tile, kernel, ptx, reg, smem
from pyptx.types import bf16, f32, pred, u32, u64

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.running import Result, on_gpu, print_table, random_array, run_and_compare

BM, BK = 64, 64  # rows of C a block has, and columns of A a step takes: 64 bfloat16 are 128 bytes, the widest swizzle
WARPGROUP = 128
WGMMA_K = 16  # of one instruction, for 16-bit types


@functools.cache
def build_grouped_gemm(G: int, M: int, N: int, K: int) -> Kernel:
    """C = A B group by group, for A[G*M, K], B[G*K, N], C[G*M, N]: the groups lie one below the other."""
    if G < 1 or M < BM or M % BM or N < 64 or N % 64 or K < BK or K % BK:
        raise ValueError(
            f"G, M, N, K are {G}, {M}, {N}, {K}; there is at least one group, and M, N and K are multiples of 64: "
            "a tile that reached over the end of a group would take rows of the next"
        )
    BN = 128 if N % 128 == 0 else 64
    step_bytes = (BM * BK + BK * BN) * 2

    @kernel(
        in_specs=(Tile.wgmma_a(G * M, K, bf16, tile_m=BM, tile_k=BK), Tile.wgmma_b(G * K, N, bf16, tile_k=BK, tile_n=64)),
        out_specs=(Tile(G * M, N, f32),),
        grid=(N // BN, M // BM, G),
        block=(WARPGROUP, 1, 1),
        reqntid=(WARPGROUP, 1, 1),
        arch="sm_90a",
    )
    def grouped_gemm(A, B, C):
        tid = reg.from_(ptx.special.tid.x(), u32)
        group = reg.from_(ptx.special.ctaid.z(), u32)
        column = reg.from_(ptx.special.ctaid.x(), u32) * BN
        row = reg.from_(ptx.special.ctaid.y(), u32) * BM + group * M  # of A and C

        # The pattern of a swizzle repeats every 1024 bytes, so tiles begin at multiples of that.
        a_tile = smem.wgmma_tile(bf16, (BM, BK), "K", align=1024)
        b_tile = smem.wgmma_tile(bf16, (BK, BN), "MN", align=1024)
        full = smem.mbarrier(1)

        is_first = tid == 0
        with ptx.if_(is_first):
            ptx.mbarrier.init(full[0], 1)
            ptx.fence.proxy_async_shared_cta()  # the copies are to see the barrier
        ptx.bar.sync(0)

        acc = reg.array(f32, BM * BN // WARPGROUP)
        for total in acc:  # the first product overwrites them, but ptxas 12.8 serialises wgmma on registers that nobody wrote
            ptx.inst.mov.f32(total, 0.0)
        k = reg.scalar(u32, init=0)
        b_row = group * K
        phase = reg.scalar(u32, init=0)
        accumulate = k != 0  # the first product overwrites what is in the registers
        more = reg.scalar(pred)
        with ptx.loop("k_loop", pred=more):
            with ptx.if_(is_first):
                ptx.mbarrier.arrive_expect_tx(full[0], step_bytes)
                ptx.cp.async_.bulk.tensor_2d(dst=a_tile, src=A.tma_desc(), coord=(k, row), mbar=full[0])
                for slab in range(BN // 64):  # a swizzled copy is at most 128 bytes wide
                    dst = ptx.addr(b_tile, slab * BK * 128)
                    ptx.cp.async_.bulk.tensor_2d(dst=dst, src=B.tma_desc(), coord=(column + slab * 64, b_row), mbar=full[0])
            ptx.mbarrier.wait(full[0], phase)
            phase ^= 1

            ptx.wgmma.fence()
            for step in range(BK // WGMMA_K):
                ptx.wgmma.mma_async(
                    shape=(BM, BN, WGMMA_K), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=acc, a=a_tile, b=b_tile,
                    scale_d=accumulate if step == 0 else True, trans_b=1,
                    a_k_offset=step * WGMMA_K * 2,    # along a row of A
                    b_k_offset=step * WGMMA_K * 128,  # 16 rows of a slab of B
                )  # fmt: skip
            ptx.wgmma.commit_group()
            ptx.wgmma.wait_group(0)
            ptx.bar.sync(0)  # all have read the tiles: the next copies may overwrite them

            k += BK
            b_row += BK
            ptx.inst.setp.ne.u32(accumulate, k, 0)
            ptx.inst.setp.lt.u32(more, k, K)

        # Lane l of warp w has numbers of rows r = 16 w + l / 4 and r + 8, of both those in columns 8 j + 2 (l % 4) and one on.
        (c,) = ptx.global_ptrs(C)
        row += ((tid >> 5) << 4) + ((tid & 31) >> 2)
        column += (tid & 3) << 1
        row_offset = reg.scalar(u64)
        ptx.inst.mul.wide.u32(row_offset, row, N * 4)  # 64 bits: C may be larger than 4 GiB
        c += row_offset
        c += column * 4
        for j in range(BN // 8):
            ptx.inst.st.global_.v2.f32(ptx.addr(c, j * 32), [acc[4 * j], acc[4 * j + 1]])
            ptx.inst.st.global_.v2.f32(ptx.addr(c, j * 32 + 8 * N * 4), [acc[4 * j + 2], acc[4 * j + 3]])
        ptx.ret()

    return grouped_gemm


def reference_grouped_gemm(a: np.ndarray, b: np.ndarray, groups: int) -> np.ndarray:
    """The same in float64."""
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    product = a64.reshape(groups, -1, a.shape[1]) @ b64.reshape(groups, -1, b.shape[1])
    return product.reshape(a.shape[0], b.shape[1])


def check(G: int, M: int, N: int, K: int, build: Callable[[int, int, int, int], Kernel] = build_grouped_gemm) -> Result:
    """Runs the kernel on random numbers and holds it to the reference: errors are relative to a typical sum of K products."""
    a, b = random_array((G * M, K), bf16, seed=0), random_array((G * K, N), bf16, seed=1)
    return run_and_compare(
        build(G, M, N, K),
        f"{G} x ({M} x {N} x {K})",
        (a, b),
        reference_grouped_gemm(a, b, G),
        tolerance=1e-4,  # f32 sums of exact products
        floor=K**0.5,
        operations=2 * G * M * N * K,
    )


def main() -> None:
    shapes = [(8, 1024, 2048, 2048), (32, 256, 2048, 2048)] if on_gpu("sm_90a") else [(2, 64, 128, 128)]
    print_table("grouped_gemm, sm_90a", (check(*shape) for shape in shapes))


if __name__ == "__main__":
    main()
