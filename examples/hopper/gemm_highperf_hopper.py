"""The fast matrix product of Hopper: C = A Bᵀ for A[M, K] and B[N, K], bfloat16 in and out, f32 sums.

    a cluster of two blocks has a tile of 256 x 256; each block 128 rows of it, each consumer 64

                 B: 256 rows, half of them copied by each block, to both (multicast)
                 ┌─────────────────────┐        block = 384 threads
    A: 128 rows  │ block 0, consumer 0 │          warpgroup 0   producer: one thread starts the copies (TMA)
       a block   │          consumer 1 │          warpgroup 1   consumer 0: wgmma m64n256k16, sums in 128 registers a thread
                 ├─────────────────────┤          warpgroup 2   consumer 1
                 │ block 1, consumer 0 │
                 │          consumer 1 │
                 └─────────────────────┘

    global ──TMA──► stage 0 ┐                          ┌► registers ─stmatrix─► shared ─TMA─► C
                    stage 1 │ full[s]: copied, go on   │
                    stage 2 ├───────────────► wgmma ───┤
                    stage 3 ┘ ◄─────────────── empty[s]: read by both blocks' consumers, may be overwritten

The grid is as large as the GPU, and a cluster takes tile after tile ("persistent"): the producer already copies the next tile
while the consumers store this one. M is any size, N and K are multiples of 8: copies fill what lies outside with zeros, stores
leave it alone.

``python examples/hopper/gemm_highperf_hopper.py`` runs it on a Hopper GPU, if there is one. The same kernel in C++, with the same
text: examples/cpp/gemm_hopper.hpp.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from pyptx import Layout, Tile, kernel, ptx, reg, smem
from pyptx.types import b32, bf16, f32, pred, u32

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.running import Result, on_gpu, print_table, random_array, run_and_compare

BM, BN, BK = 128, 256, 64  # a block's tile, and how far a stage reaches along K: 64 bfloat16 are the 128 bytes of a swizzle
BLOCKS = 2  # of a cluster, one below the other
STAGES = 4
CONSUMERS = 2  # warpgroups; 64 rows each
WARPGROUP = 128
THREADS = WARPGROUP * (1 + CONSUMERS)
WGMMA_K = 16
CLUSTERS = 66  # of two blocks, on the 132 SMs of an H100 or H200
BAND = 8  # tiles of 256 rows that are worked on together, so that their A and B stay in the L2 cache

# Shared memory. Swizzled tiles begin at multiples of 1024 bytes.
A_BYTES, B_BYTES = BM * BK * 2, BN * BK * 2  # of a stage
BOX_ROWS, BOX_COLUMNS = 16, 64  # of C: what a warp stores at once
BOX_BYTES = BOX_ROWS * BOX_COLUMNS * 2
A_AT = 0
B_AT = A_AT + STAGES * A_BYTES
C_AT = B_AT + STAGES * B_BYTES
FULL_AT = C_AT + 2 * BOX_BYTES * 4 * CONSUMERS  # two boxes a warp
EMPTY_AT = FULL_AT + 8 * STAGES
SMEM_BYTES = EMPTY_AT + 8 * STAGES


def grid(M: int, N: int) -> tuple[int, int, int]:
    """As many clusters as the GPU runs at once, but none without a tile."""
    tiles = -(-M // (BLOCKS * BM)) * -(-N // BN)
    return BLOCKS * min(CLUSTERS, tiles), 1, 1


@kernel(
    in_specs=(
        Tile("M", "K", bf16, Layout.TMA_128B, tma_box=(BM, BK)),
        Tile("N", "K", bf16, Layout.TMA_128B, tma_box=(BN // BLOCKS, BK)),
    ),
    out_specs=(Tile("M", "N", bf16, Layout.TMA_128B, tma_box=(BOX_ROWS, BOX_COLUMNS)),),
    raw_params=[("u32", "M"), ("u32", "N"), ("u32", "K")],  # read at run time: one text for all sizes
    grid=grid,
    block=(THREADS, 1, 1),
    cluster=(BLOCKS, 1, 1),
    smem=SMEM_BYTES,
    extern_smem="smem",
    # One block an SM, said aloud: else ptxas drops `setmaxnreg`.
    raw_directives=[
        ("maxntid", (THREADS, 1, 1)),
        ("minnctapersm", (1,)),
        ("explicitcluster", ()),
        ("reqnctapercluster", (BLOCKS, 1, 1)),
    ],
    arch="sm_90a",
)
def gemm_warp_specialized(A, B, C):
    M, N, K = ptx.param(u32, "M"), ptx.param(u32, "N"), ptx.param(u32, "K")
    tid = reg.from_(ptx.special.tid.x(), u32)
    rank = reg.from_(ptx.sreg("%cluster_ctarank"), u32)
    cluster = reg.from_(ptx.sreg("%clusterid.x"), u32)
    clusters = reg.from_(ptx.sreg("%nclusterid.x"), u32)
    lane = tid & 31
    # By way of a shuffle: ptxas then knows that the whole warp has one value, and keeps what follows in uniform registers.
    warpgroup = reg.scalar(u32)
    ptx.inst.shfl.sync.idx.b32(warpgroup, tid >> 7, 0, 31, -1)

    base = smem.base()
    full = ptx.mbarrier.array(base, FULL_AT, STAGES)
    empty = ptx.mbarrier.array(base, EMPTY_AT, STAGES)
    with ptx.if_(tid == 0):
        full.init_all(1)  # the producer, and the bytes that it expects
        empty.init_all(BLOCKS * CONSUMERS * 4)  # each warp that reads, of both blocks: B goes to both
        ptx.fence.mbarrier_init()
    ptx.cluster.sync()  # both blocks' barriers are ready

    tiles_m, tiles_n = (M + (BLOCKS * BM - 1)) >> 8, (N + (BN - 1)) >> 8
    tiles = reg.scalar(u32)
    ptx.inst.mul.lo.u32(tiles, tiles_m, tiles_n)
    steps = (K + (BK - 1)) >> 6
    tiles_of_band = tiles_n * BAND

    def corner(tile: Any) -> tuple[Any, Any]:
        """The first row and column of this block's part of a tile. The tiles of a band go down, then right."""
        band, height, m, n = (reg.scalar(u32) for _ in range(4))
        ptx.inst.div.u32(band, tile, tiles_of_band)
        ptx.inst.min.u32(height, tiles_m - band * BAND, BAND)
        inside = reg.scalar(u32)
        ptx.inst.mul.lo.u32(inside, band, tiles_of_band)
        ptx.inst.sub.u32(inside, tile, inside)
        ptx.inst.div.u32(n, inside, height)
        ptx.inst.rem.u32(m, inside, height)
        return ((m + band * BAND) << 8) + rank * BM, n << 8

    ring = ptx.pipeline(STAGES)  # of the producer and of each consumer: they all go round in the same way
    tile = cluster + 0
    step = reg.scalar(u32)
    more_tiles, more_steps = reg.scalar(pred), reg.scalar(pred)

    def next_tile() -> None:
        ptx.inst.add.u32(tile, tile, clusters)
        ptx.inst.setp.lt.u32(more_tiles, tile, tiles)

    def next_step() -> None:
        ptx.inst.add.u32(step, step, 1)
        ptx.inst.setp.lt.u32(more_steps, step, steps)

    with ptx.if_(warpgroup == 0):  # ---- the producer
        ptx.setmaxnreg(40, inc=False)  # what it gives back, the consumers take
        with ptx.if_(tid == 0), ptx.loop("produce_tile", pred=more_tiles):
            row, column = corner(tile)
            b_row = column + rank * (BN // BLOCKS)
            ptx.inst.mov.u32(step, 0)
            with ptx.loop("produce_step", pred=more_steps):
                stage, phase = ring.advance()
                k = step * BK
                empty.at(stage).wait(phase ^ 1)  # the first time round nobody has read: a fresh barrier's last phase is over
                copied = full.at(stage)
                copied.arrive_expect_tx(A_BYTES + B_BYTES)  # A, and both halves of B
                ptx.cp.async_.bulk.tensor_2d(dst=base + (stage * A_BYTES + A_AT), src=A.tma_desc(), coord=(k, row), mbar=copied)
                ptx.cp.async_.bulk.tensor_2d(
                    dst=base + (stage * B_BYTES + rank * (B_BYTES // BLOCKS) + B_AT), src=B.tma_desc(), coord=(k, b_row),
                    mbar=copied, multicast_mask=(1 << BLOCKS) - 1,
                )  # fmt: skip
                next_step()
            next_tile()
    with ptx.else_():  # ---- the consumers
        ptx.setmaxnreg(232, inc=True)
        consumer = warpgroup - 1
        warp = (tid >> 5) - 4  # of the consumers: 0 to 7
        acc = reg.array(f32, 64 * BN // WARPGROUP)
        for total in acc:  # the first product overwrites them, but ptxas 12.8 serialises wgmma on registers that nobody wrote
            ptx.inst.mov.f32(total, 0.0)
        accumulate = reg.scalar(pred)

        # Where this lane's rows of a box lie: lanes 0 to 15 have its rows, 16 to 31 the same rows 8 columns on.
        box = base + (warp * (2 * BOX_BYTES) + C_AT)
        lane_offset = ((lane & 15) << 7) + ((lane >> 4) << 4)
        lane_rows = [box + smem.apply_swizzle(lane_offset + 32 * i, "128B") for i in range(BOX_COLUMNS // 16)]
        packed = reg.array(b32, 4)

        with ptx.loop("consume_tile", pred=more_tiles):
            row, column = corner(tile)
            ptx.inst.mov.u32(step, 0)
            ptx.inst.setp.ne.u32(accumulate, step, 0)  # the first product overwrites the last tile's sums
            with ptx.loop("consume_step", pred=more_steps):
                stage, phase = ring.advance()
                full.at(stage).wait(phase)
                a = ptx.wgmma.masked_descriptor(base + (stage * A_BYTES + consumer * (64 * BK * 2) + A_AT))
                b = ptx.wgmma.masked_descriptor(base + (stage * B_BYTES + B_AT))
                ptx.wgmma.fence()
                for i in range(BK // WGMMA_K):  # 16 columns are 32 bytes: 2 in the unit of descriptors
                    ptx.wgmma.mma_async(
                        shape=(64, BN, WGMMA_K), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=acc,
                        a=a + 2 * i if i else a, b=b + 2 * i if i else b, scale_d=accumulate if i == 0 else True,
                    )  # fmt: skip
                ptx.wgmma.commit_group()
                ptx.wgmma.wait_group(0)  # the other consumer has the tensor cores meanwhile
                empty.at(stage).arrive_remote(lane, pred=lane < BLOCKS)  # lane 0 tells block 0, lane 1 block 1
                next_step()
                ptx.inst.setp.ne.u32(accumulate, step, 0)

            # Each warp stores its 16 rows by itself, 64 columns at a time, by two boxes in turn.
            row += (consumer << 6) + ((warp & 3) << 4)
            for chunk in range(BN // BOX_COLUMNS):
                half = chunk % 2 * BOX_BYTES
                ptx.cp.async_.bulk.wait_group(1, read=True)  # the last copy but one, from this box, has read it
                ptx.inst.bar.warp.sync(0xFFFFFFFF)
                for i, address in enumerate(lane_rows):
                    sums = [acc[(chunk * 4 + i) * 8 + j] for j in range(8)]
                    for j in range(4):  # two numbers side by side, the first in the lower half
                        ptx.inst.cvt.rn.bf16x2.f32(packed[j], sums[2 * j + 1], sums[2 * j])
                    ptx.stmatrix(smem=ptx.addr(address, half), regs=packed, layout="x4")
                ptx.fence.proxy_async_shared_cta()  # TMA is to see what the lanes stored
                ptx.inst.bar.warp.sync(0xFFFFFFFF)
                with ptx.if_(lane == 0):
                    ptx.cp.async_.bulk.tensor_2d.store(
                        dst=C.tma_desc(), src=box + half, coord=(column + chunk * BOX_COLUMNS, row)
                    )
                    ptx.cp.async_.bulk.commit_group()
            next_tile()
        ptx.cp.async_.bulk.wait_group(0)
    ptx.cluster.sync()  # a block stays while the other may still copy into it, or arrive at its barriers
    ptx.ret()


def reference_gemm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same in float64."""
    return a.astype(np.float64) @ b.astype(np.float64).T


def check(M: int, N: int, K: int) -> Result:
    """Runs the kernel on random numbers and holds it to the reference; errors of small sums are relative to a typical one."""
    a, b = random_array((M, K), bf16, seed=0), random_array((N, K), bf16, seed=1)
    return run_and_compare(
        gemm_warp_specialized,
        f"{M} x {N} x {K}",
        (a, b),
        reference_gemm(a, b),
        tolerance=2**-8,  # of the rounding to bfloat16, half of that
        floor=K**0.5,
        operations=2 * M * N * K,
    )


def main() -> None:
    shapes = [(2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 4096)] if on_gpu("sm_90a") else [(256, 256, 128)]
    print_table("gemm_highperf_hopper, sm_90a", (check(*shape) for shape in shapes))


if __name__ == "__main__":
    main()
