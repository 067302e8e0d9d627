"""Grouped matrix product, the smallest kernel with TMA and tcgen05: C[g] = A[g] B[g] for G groups. bfloat16 in, f32 out.

No Blackwell GPU has run this kernel yet: it has been checked and assembled by ptxas (sm_100a), its arithmetic on addresses has
been followed in numpy, and the executor runs it, against float64, in the tests.

    A (G*M, K)                    B (G*K, N)                  one block of 128 threads a tile of C
      ┌──┬──┬──┐                    ┌─────┬─────┐
      │▒▒│  │  │ 128 rows           │▒▒▒▒▒│     │ 64 rows       TMA ──► shared memory ──► tcgen05.mma ──► tensor memory
      ├──┼──┼──┤                    ├─────┼─────┤                └─── full ───┘    └── commit: read ──┘        │ tcgen05.ld
      │  │  │  │                    │     │     │              ctaid.x: which columns, .y: which rows,         ▼
      └──┴──┴──┘                    └─────┴─────┘              .z: which group                            registers ──► C
       64 columns a step            128 columns

A lies K-major in shared memory, B as it lies in memory, N-major: the instruction descriptor says so (``b_major="MN"``). There is
one stage, and one thread does it all but store the sums: it waits for its copies, then for its products, and the other blocks on
its SM have the tensor core meanwhile. ``gemm_highperf_blackwell.py`` overlaps the two within a block.

``python examples/blackwell/grouped_gemm.py`` runs it on a B200, if there is one.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from pyptx import Kernel, Layout, Tile, kernel, ptx, reg, smem
from pyptx.types import b32, bf16, f32, pred, u32, u64

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.hopper import grouped_gemm as hopper
from examples.running import Result, on_gpu, print_table

BM, BK = 128, 64  # rows of C a block has, and columns of A a step takes: 64 bfloat16 are 128 bytes, the widest swizzle
SLAB = 64  # columns of B that a swizzled copy moves, at most
MMA_K = 16  # of one instruction, for 16-bit types
THREADS = 128


@functools.cache
def build_grouped_gemm(G: int, M: int, N: int, K: int, arch: str = "sm_100a") -> Kernel:
    """C = A B group by group, for A[G*M, K], B[G*K, N], C[G*M, N]: the groups lie one below the other."""
    if G < 1 or M < BM or M % BM or N < SLAB or N % SLAB or K < BK or K % BK:
        raise ValueError(
            f"G, M, N, K are {G}, {M}, {N}, {K}; there is at least one group, M is a multiple of {BM}, N and K are of {BK}: "
            "a tile that reached over the end of a group would take rows of the next"
        )
    BN = 128 if N % 128 == 0 else 64
    step_bytes = (BM * BK + BK * BN) * 2

    @kernel(
        in_specs=(
            Tile(G * M, K, bf16, Layout.TMA_128B, tma_box=(BM, BK)),
            Tile(G * K, N, bf16, Layout.TMA_128B, tma_box=(BK, SLAB)),
        ),
        out_specs=(Tile(G * M, N, f32),),
        grid=(N // BN, M // BM, G),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
        arch=arch,
    )
    def grouped_gemm(A, B, C):
        (c,) = ptx.global_ptrs(C)
        tid = reg.from_(ptx.special.tid.x(), u32)
        group = reg.from_(ptx.special.ctaid.z(), u32)
        column = reg.from_(ptx.special.ctaid.x(), u32) * BN
        row = reg.from_(ptx.special.ctaid.y(), u32) * BM + group * M  # of A and C

        # The pattern of a swizzle repeats every 1024 bytes, so tiles begin at multiples of that.
        a_tile = smem.alloc(bf16, (BM, BK), swizzle="128B", align=1024)
        b_tile = smem.alloc(bf16, (BN // SLAB * BK, SLAB), swizzle="128B", align=1024)  # slabs of 64 columns, one below the other
        slot = smem.alloc(b32, 1)  # where tcgen05.alloc writes the address of what it allocated
        full, read = smem.mbarrier(1), smem.mbarrier(1)

        is_first = tid == 0
        warp = reg.scalar(u32)
        ptx.inst.shfl.sync.idx.b32(warp, tid >> 5, 0, 31, -1)  # by way of a shuffle: ptxas then knows that a warp has one value
        with ptx.if_(is_first):
            ptx.mbarrier.init(full[0], 1)
            ptx.mbarrier.init(read[0], 1)
            ptx.fence.mbarrier_init()  # the copies and the products are to see the barriers
        with ptx.if_(warp == 0):  # a whole warp allocates, and gives back
            ptx.tcgen05.alloc(slot, BN)
            ptx.tcgen05.relinquish_alloc_permit()
        ptx.tcgen05.fence_before_thread_sync()
        ptx.bar.sync(0)
        ptx.tcgen05.fence_after_thread_sync()
        taddr = smem.load(b32, slot)

        k = reg.scalar(u32, init=0)
        phase = reg.scalar(u32, init=0)
        with ptx.if_(is_first):
            # A: groups of 8 rows of 128 bytes follow each other. B: so do groups of 8 rows of K in a slab (stride), and then the
            # slabs, each 64 columns of N (leading).
            a = ptx.tcgen05.descriptor(a_tile, stride_bytes=8 * 128)
            b = ptx.tcgen05.descriptor(b_tile, stride_bytes=8 * 128, leading_bytes=BK * 128)
            idesc = ptx.tcgen05.make_instr_desc_f16bf16_f32(m=BM, n=BN, b_major="MN")
            b_row = group * K
            accumulate, more = k != 0, reg.scalar(pred)  # the first product overwrites what is in tensor memory
            with ptx.loop("k_loop", pred=more):
                ptx.mbarrier.arrive_expect_tx(full[0], step_bytes)
                ptx.cp.async_.bulk.tensor_2d(dst=a_tile, src=A.tma_desc(), coord=(k, row), mbar=full[0])
                for slab in range(BN // SLAB):
                    dst = ptx.addr(b_tile, slab * BK * 128)
                    ptx.cp.async_.bulk.tensor_2d(dst=dst, src=B.tma_desc(), coord=(column + slab * SLAB, b_row), mbar=full[0])
                ptx.mbarrier.wait(full[0], phase)
                ptx.tcgen05.fence_after_thread_sync()
                for step in range(BK // MMA_K):
                    ptx.tcgen05.mma(
                        taddr,
                        a + step * (MMA_K * 2 >> 4) if step else a,    # along a row of A; in the unit of descriptors, 16 bytes
                        b + step * (MMA_K * 128 >> 4) if step else b,  # 16 rows of a slab of B
                        idesc, pred_operand=accumulate if step == 0 else True,
                    )  # fmt: skip
                ptx.tcgen05.commit(read[0])
                ptx.mbarrier.wait(read[0], phase)  # the next copies may overwrite the tiles; at last, all is summed up
                phase ^= 1
                k += BK
                b_row += BK
                ptx.inst.setp.ne.u32(accumulate, k, 0)
                ptx.inst.setp.lt.u32(more, k, K)
            ptx.tcgen05.fence_before_thread_sync()
        ptx.bar.sync(0)
        ptx.tcgen05.fence_after_thread_sync()

        # A thread has a row: warp w can read lanes 32 w to 32 w + 31 of tensor memory, which are those rows of the tile.
        row_offset = reg.scalar(u64)
        ptx.inst.mul.wide.u32(row_offset, row + tid, N * 4)  # 64 bits: C may be larger than 4 GiB
        c += row_offset
        c += column * 4
        lanes = taddr + (warp << 21)  # an address in tensor memory: the lane in the upper half, the column in the lower
        sums = reg.array(f32, 64)
        for chunk in range(BN // 64):
            ptx.tcgen05.ld(sums, ptx.addr(lanes, chunk * 64), shape="32x32b", count=64)
            ptx.tcgen05.wait_ld()
            for i in range(0, 64, 4):
                ptx.inst.st.global_.v4.f32(ptx.addr(c, (chunk * 64 + i) * 4), [sums[i + j] for j in range(4)])

        ptx.tcgen05.fence_before_thread_sync()
        ptx.bar.sync(0)  # all has been read from tensor memory
        with ptx.if_(warp == 0):
            ptx.tcgen05.fence_after_thread_sync()
            ptx.tcgen05.dealloc(taddr, BN)
        ptx.ret()

    return grouped_gemm


def check(G: int, M: int, N: int, K: int) -> Result:
    """As the Hopper check."""
    return hopper.check(G, M, N, K, build_grouped_gemm)


def main() -> None:
    shapes = [(8, 1024, 2048, 2048), (32, 256, 2048, 2048)] if on_gpu("sm_100a") else [(2, 128, 128, 128)]
    print_table("grouped_gemm, sm_100a", (check(*shape) for shape in shapes))


if __name__ == "__main__":
    main()
