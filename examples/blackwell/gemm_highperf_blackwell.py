"""The matrix product on Blackwell's tensor cores: C = A Bᵀ for A[M, K] and B[N, K], bfloat16 in and out, f32 sums.

No Blackwell GPU has run these kernels yet: they have been checked and assembled by ptxas (sm_100a), their arithmetic on addresses
has been followed in numpy, and the executor runs both products, against float64, in the tests.

    a block of 6 warps has a tile of 128 x 256; the sums lie in tensor memory, 128 lanes of 256 columns, not in registers

    warp 4, one thread: TMA             warp 5, one thread: mma               warps 0 to 3, all threads: epilogue

    A, B ──► stage 0 ┐                                                        tcgen05.ld: a thread has a row
             stage 1 │ full[s] ───────► tcgen05.mma ──► tensor memory ──────► registers ──► shared memory ──TMA──► C
             stage 2 ├                       │              │
             stage 3 ┘ ◄── empty[s] ◄── tcgen05.commit ──► done

One thread starts the products, as one thread starts the copies, and nobody waits for them in between: `tcgen05.commit` makes a
barrier complete when the products before it are. So `empty[s]` says that a stage has been read, and `done` that all is summed up.

`build_gemm_2sm` is the same for two blocks on neighbouring SMs (`cta_group::2`), which work on a tile of 256 x 256 together:

                 B: 256 rows, 128 in the memory of each block
                 ┌──────────────────┐     Each block copies its halves of A and B, all of it counted by block 0's barriers;
    A: 128 rows  │ block 0: leader  │     the leader starts the products, which read the memory of both and write the sums
       a block   ├──────────────────┤     to the tensor memory of both. Of B a block holds half as much as it would alone:
                 │ block 1          │     that leaves room for more stages.
                 └──────────────────┘

M, N and K are any multiples of 8: copies fill what lies outside with zeros, stores leave it alone.

``python examples/blackwell/gemm_highperf_blackwell.py`` runs them on a B200, if there is one. `build_gemm` in C++, to the letter:
examples/cpp/gemm_blackwell.hpp.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pyptx import Kernel, Layout, Tile, kernel, ptx, reg, smem
from pyptx.types import b32, bf16, f32, pred, u32

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.running import Result, on_gpu, print_table, random_array, run_and_compare

BM, BN, BK = 128, 256, 64  # a block's tile, and how far a stage reaches along K: 64 bfloat16 are the 128 bytes of a swizzle
MMA_K = 16  # of one instruction, for 16-bit types
EPILOGUE_WARPS = 4  # warp w can read lanes 32 (w mod 4) to + 31 of tensor memory
COPY_WARP, MMA_WARP = 4, 5
THREADS = 32 * 6
BOX_ROWS, BOX_COLUMNS = 32, 64  # of C: what a warp stores at once
BOX_BYTES = BOX_ROWS * BOX_COLUMNS * 2
C_BYTES = 2 * BOX_BYTES * EPILOGUE_WARPS  # two boxes a warp
A_BYTES = BM * BK * 2  # of a stage


class SharedMemory:
    """What lies where. Swizzled tiles begin at multiples of 1024 bytes."""

    def __init__(self, stages: int, b_rows: int) -> None:
        self.stages = stages
        self.b_bytes = b_rows * BK * 2
        self.b_at = stages * A_BYTES
        self.c_at = self.b_at + stages * self.b_bytes
        self.full_at = self.c_at + C_BYTES
        self.empty_at = self.full_at + 8 * stages
        self.done_at = self.empty_at + 8 * stages
        self.slot_at = self.done_at + 8  # where tcgen05.alloc writes the address of what it allocated
        self.bytes = self.slot_at + 4


ALONE = SharedMemory(stages=4, b_rows=BN)  # 224 KiB of the 227 that a block can have
PAIR = SharedMemory(stages=6, b_rows=BN // 2)


def check_sizes(M: int, N: int, K: int) -> None:
    if min(M, N, K) < 8 or N % 8 or K % 8:
        raise ValueError(
            f"M, N, K are {M}, {N}, {K}; they are at least 8, and N and K multiples of 8: "
            "rows that a tensor copy moves are whole pieces of 16 bytes"
        )


def store_tile(C: Any, taddr: Any, box: Any, lane: Any, warp: Any, row: Any, column: Any) -> None:
    """The epilogue: a warp takes its 32 lanes of tensor memory, which are 32 rows of C, to C, 64 columns at a time."""
    lanes = taddr + (warp << 21)  # an address in tensor memory: the lane in the upper half, 32 a warp; the column in the lower
    # Piece i of 16 bytes of a row lies at place i ^ (row mod 8): eight neighbouring lanes' stores touch all banks.
    my_row = box + (lane << 7)
    flip = (lane & 7) << 4
    sums, packed = reg.array(f32, BOX_COLUMNS), reg.array(b32, 4)
    for chunk in range(BN // BOX_COLUMNS):
        half = chunk % 2 * BOX_BYTES
        ptx.cp.async_.bulk.wait_group(1, read=True)  # the last copy but one, from this box, has read it
        ptx.inst.bar.warp.sync(0xFFFFFFFF)
        ptx.tcgen05.ld(sums, ptx.addr(lanes, chunk * BOX_COLUMNS), shape="32x32b", count=BOX_COLUMNS)
        ptx.tcgen05.wait_ld()
        for piece in range(BOX_COLUMNS // 8):
            for j in range(4):  # two numbers side by side, the first in the lower half
                first = 8 * piece + 2 * j
                ptx.inst.cvt.rn.bf16x2.f32(packed[j], sums[first + 1], sums[first])
            ptx.inst.st.shared.v4.b32(ptx.addr(my_row + (flip ^ piece * 16), half), packed)
        ptx.fence.proxy_async_shared_cta()  # TMA is to see what the lanes stored
        ptx.inst.bar.warp.sync(0xFFFFFFFF)
        with ptx.if_(lane == 0):
            ptx.cp.async_.bulk.tensor_2d.store(dst=C.tma_desc(), src=box + half, coord=(column + chunk * BOX_COLUMNS, row))
            ptx.cp.async_.bulk.commit_group()
    ptx.cp.async_.bulk.wait_group(0)


@functools.cache
def build_gemm(M: int, N: int, K: int, arch: str = "sm_100a") -> Kernel:
    """C = A Bᵀ, a tile of 128 x 256 a block."""
    check_sizes(M, N, K)
    layout = ALONE
    steps = -(-K // BK)

    @kernel(
        in_specs=(
            Tile(M, K, bf16, Layout.TMA_128B, tma_box=(BM, BK)),
            Tile(N, K, bf16, Layout.TMA_128B, tma_box=(BN, BK)),
        ),
        out_specs=(Tile(M, N, bf16, Layout.TMA_128B, tma_box=(BOX_ROWS, BOX_COLUMNS)),),
        grid=(-(-M // BM), -(-N // BN), 1),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
        smem=layout.bytes,
        extern_smem="smem",
        arch=arch,
    )
    def gemm(A, B, C):
        tid = reg.from_(ptx.special.tid.x(), u32)
        row = reg.from_(ptx.special.ctaid.x(), u32) * BM
        column = reg.from_(ptx.special.ctaid.y(), u32) * BN
        lane = tid & 31
        # By way of a shuffle: ptxas then knows that the whole warp has one value.
        warp = reg.scalar(u32)
        ptx.inst.shfl.sync.idx.b32(warp, tid >> 5, 0, 31, -1)
        elected, is_elected = reg.scalar(b32), reg.scalar(pred)
        ptx.elect_sync(elected, is_elected, 0xFFFFFFFF)  # one thread of each warp

        base = smem.base()
        full = ptx.mbarrier.array(base, layout.full_at, layout.stages)
        empty = ptx.mbarrier.array(base, layout.empty_at, layout.stages)
        done = ptx.mbarrier.array(base, layout.done_at, 1)
        with ptx.if_(tid == 0):
            full.init_all(1)  # the thread that starts the copies, and the bytes that it expects
            empty.init_all(1)  # tcgen05.commit
            done.init_all(1)
            ptx.fence.mbarrier_init()
        with ptx.if_(warp == MMA_WARP):  # a whole warp allocates, and gives back
            ptx.tcgen05.alloc(ptx.addr(base, layout.slot_at), BN)
            ptx.tcgen05.relinquish_alloc_permit()
        ptx.tcgen05.fence_before_thread_sync()
        ptx.bar.sync(0)
        ptx.tcgen05.fence_after_thread_sync()
        taddr = smem.load(b32, ptx.addr(base, layout.slot_at))

        ring = ptx.pipeline(layout.stages)  # of each of the two threads: they go round in the same way
        step = reg.scalar(u32, init=0)
        more = reg.scalar(pred)

        def next_step() -> None:
            ptx.inst.add.u32(step, step, 1)
            ptx.inst.setp.lt.u32(more, step, steps)

        with ptx.if_(warp == COPY_WARP), ptx.if_(is_elected):
            with ptx.loop("copy_step", pred=more):
                stage, phase = ring.advance()
                k = step * BK
                empty.at(stage).wait(phase ^ 1)  # the first time round nobody has read: a fresh barrier's last phase is over
                copied = full.at(stage)
                copied.arrive_expect_tx(A_BYTES + layout.b_bytes)
                a_dst = base + stage * A_BYTES
                ptx.cp.async_.bulk.tensor_2d.shared_cta_global_tile(dst=a_dst, src=A.tma_desc(), coord=(k, row), mbar=copied)
                b_dst = base + (stage * layout.b_bytes + layout.b_at)
                ptx.cp.async_.bulk.tensor_2d.shared_cta_global_tile(dst=b_dst, src=B.tma_desc(), coord=(k, column), mbar=copied)
                next_step()
            for _ in range(layout.stages):  # nothing may arrive at a barrier of a block that is gone
                stage, phase = ring.advance()
                empty.at(stage).wait(phase ^ 1)

        with ptx.if_(warp == MMA_WARP), ptx.if_(is_elected):
            idesc = ptx.tcgen05.make_instr_desc_f16bf16_f32(m=BM, n=BN)
            accumulate = reg.scalar(pred)
            ptx.inst.setp.ne.u32(accumulate, step, 0)  # the first product overwrites what is in tensor memory
            with ptx.loop("mma_step", pred=more):
                stage, phase = ring.advance()
                full.at(stage).wait(phase)
                ptx.tcgen05.fence_after_thread_sync()
                a = ptx.tcgen05.masked_descriptor(base + stage * A_BYTES)
                b = ptx.tcgen05.masked_descriptor(base + (stage * layout.b_bytes + layout.b_at))
                for i in range(BK // MMA_K):  # 16 columns are 32 bytes: 2 in the unit of descriptors
                    ptx.tcgen05.mma(
                        taddr, a + 2 * i if i else a, b + 2 * i if i else b, idesc, pred_operand=accumulate if i == 0 else True
                    )
                ptx.tcgen05.commit(empty.at(stage))  # when these have been read
                next_step()
                ptx.inst.setp.ne.u32(accumulate, step, 0)
            ptx.tcgen05.commit(done[0])

        with ptx.if_(warp < EPILOGUE_WARPS):
            done[0].wait(0)
            ptx.tcgen05.fence_after_thread_sync()
            box = base + (warp * (2 * BOX_BYTES) + layout.c_at)
            store_tile(C, taddr, box, lane, warp, row + (warp << 5), column)
            ptx.tcgen05.fence_before_thread_sync()

        ptx.bar.sync(0)  # all has been read from tensor memory
        with ptx.if_(warp == MMA_WARP):
            ptx.tcgen05.fence_after_thread_sync()
            ptx.tcgen05.dealloc(taddr, BN)
        ptx.ret()

    return gemm


@functools.cache
def build_gemm_2sm(M: int, N: int, K: int, arch: str = "sm_100a") -> Kernel:
    """C = A Bᵀ, a tile of 256 x 256 a pair of blocks."""
    check_sizes(M, N, K)
    layout = PAIR
    steps = -(-K // BK)
    both = 0b11  # the blocks of a pair, as bits

    @kernel(
        in_specs=(
            Tile(M, K, bf16, Layout.TMA_128B, tma_box=(BM, BK)),
            Tile(N, K, bf16, Layout.TMA_128B, tma_box=(BN // 2, BK)),
        ),
        out_specs=(Tile(M, N, bf16, Layout.TMA_128B, tma_box=(BOX_ROWS, BOX_COLUMNS)),),
        grid=(2 * -(-M // (2 * BM)), -(-N // BN), 1),
        block=(THREADS, 1, 1),
        cluster=(2, 1, 1),
        smem=layout.bytes,
        extern_smem="smem",
        raw_directives=[("reqntid", (THREADS, 1, 1)), ("explicitcluster", ()), ("reqnctapercluster", (2, 1, 1))],
        arch=arch,
    )
    def gemm_2sm(A, B, C):
        tid = reg.from_(ptx.special.tid.x(), u32)
        rank = reg.from_(ptx.sreg("%cluster_ctarank"), u32)
        row = reg.from_(ptx.special.ctaid.x(), u32) * BM
        column = reg.from_(ptx.special.ctaid.y(), u32) * BN
        lane = tid & 31
        warp = reg.scalar(u32)
        ptx.inst.shfl.sync.idx.b32(warp, tid >> 5, 0, 31, -1)
        elected, is_elected = reg.scalar(b32), reg.scalar(pred)
        ptx.elect_sync(elected, is_elected, 0xFFFFFFFF)
        is_leader = rank == 0

        base = smem.base()
        full = ptx.mbarrier.array(base, layout.full_at, layout.stages)  # the leader's are in use
        empty = ptx.mbarrier.array(base, layout.empty_at, layout.stages)
        done = ptx.mbarrier.array(base, layout.done_at, 1)
        with ptx.if_(tid == 0):
            full.init_all(1)  # the leader's thread, and the bytes of both blocks
            empty.init_all(1)
            done.init_all(1)
            ptx.fence.mbarrier_init()
        with ptx.if_(warp == MMA_WARP):  # a warp of each block: they allocate together
            ptx.tcgen05.alloc(ptx.addr(base, layout.slot_at), BN, cta_group=2)
            ptx.tcgen05.relinquish_alloc_permit(cta_group=2)
        ptx.tcgen05.fence_before_thread_sync()
        ptx.cluster.sync()  # both blocks' barriers are ready
        ptx.tcgen05.fence_after_thread_sync()
        taddr = smem.load(b32, ptx.addr(base, layout.slot_at))

        ring = ptx.pipeline(layout.stages)
        step = reg.scalar(u32, init=0)
        more = reg.scalar(pred)

        def next_step() -> None:
            ptx.inst.add.u32(step, step, 1)
            ptx.inst.setp.lt.u32(more, step, steps)

        with ptx.if_(warp == COPY_WARP), ptx.if_(is_elected):  # of each block
            b_row = column + rank * (BN // 2)
            with ptx.loop("copy_step", pred=more):
                stage, phase = ring.advance()
                k = step * BK
                empty.at(stage).wait(phase ^ 1)
                mine = full.at(stage)
                mine.arrive_expect_tx(2 * (A_BYTES + layout.b_bytes), pred=is_leader)
                # `cta_group::2` lets a copy into this block's memory count at a barrier of the other one.
                copied = ptx.cluster.map_shared_u32(mine.addr_reg(), 0)
                a_dst = base + stage * A_BYTES
                ptx.cp.async_.bulk.tensor_2d(dst=a_dst, src=A.tma_desc(), coord=(k, row), mbar=copied, cta_group=2)
                b_dst = base + (stage * layout.b_bytes + layout.b_at)
                ptx.cp.async_.bulk.tensor_2d(dst=b_dst, src=B.tma_desc(), coord=(k, b_row), mbar=copied, cta_group=2)
                next_step()
            for _ in range(layout.stages):  # nothing may arrive at a barrier of a block that is gone
                stage, phase = ring.advance()
                empty.at(stage).wait(phase ^ 1)

        with ptx.if_(is_leader), ptx.if_(warp == MMA_WARP), ptx.if_(is_elected):
            idesc = ptx.tcgen05.make_instr_desc_f16bf16_f32(m=2 * BM, n=BN)
            accumulate = reg.scalar(pred)
            ptx.inst.setp.ne.u32(accumulate, step, 0)
            with ptx.loop("mma_step", pred=more):
                stage, phase = ring.advance()
                full.at(stage).wait(phase)
                ptx.tcgen05.fence_after_thread_sync()
                # Where the halves lie in both blocks: at the same places of each.
                a = ptx.tcgen05.masked_descriptor(base + stage * A_BYTES)
                b = ptx.tcgen05.masked_descriptor(base + (stage * layout.b_bytes + layout.b_at))
                for i in range(BK // MMA_K):
                    ptx.tcgen05.mma(
                        taddr, a + 2 * i if i else a, b + 2 * i if i else b, idesc, cta_group=2,
                        pred_operand=accumulate if i == 0 else True,
                    )  # fmt: skip
                ptx.tcgen05.commit(empty.at(stage), cta_group=2, multicast_mask=both)
                next_step()
                ptx.inst.setp.ne.u32(accumulate, step, 0)
            ptx.tcgen05.commit(done[0], cta_group=2, multicast_mask=both)

        with ptx.if_(warp < EPILOGUE_WARPS):  # of each block: its tensor memory has the sums of its rows
            done[0].wait(0)
            ptx.tcgen05.fence_after_thread_sync()
            box = base + (warp * (2 * BOX_BYTES) + layout.c_at)
            store_tile(C, taddr, box, lane, warp, row + (warp << 5), column)
            ptx.tcgen05.fence_before_thread_sync()

        ptx.cluster.sync()
        with ptx.if_(warp == MMA_WARP):
            ptx.tcgen05.fence_after_thread_sync()
            ptx.tcgen05.dealloc(taddr, BN, cta_group=2)
        ptx.ret()

    return gemm_2sm


def reference_gemm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same in float64."""
    return a.astype(np.float64) @ b.astype(np.float64).T


def check(M: int, N: int, K: int, build: Callable[[int, int, int], Kernel] = build_gemm) -> Result:
    """Runs the kernel on random numbers and holds it to the reference; errors of small sums are relative to a typical one."""
    a, b = random_array((M, K), bf16, seed=0), random_array((N, K), bf16, seed=1)
    return run_and_compare(
        build(M, N, K),
        f"{M} x {N} x {K}",
        (a, b),
        reference_gemm(a, b),
        tolerance=2**-8,  # of the rounding to bfloat16, half of that
        floor=K**0.5,
        operations=2 * M * N * K,
    )


def main() -> None:
    shapes = [(2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 4096)] if on_gpu("sm_100a") else [(256, 256, 128)]
    print_table("gemm_highperf_blackwell, one SM, sm_100a", (check(*shape) for shape in shapes))
    print_table("gemm_highperf_blackwell, two SMs, sm_100a", (check(*shape, build=build_gemm_2sm) for shape in shapes))


if __name__ == "__main__":
    main()
