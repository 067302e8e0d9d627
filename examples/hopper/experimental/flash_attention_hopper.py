"""Attention, forward: O = softmax(scale Q Kᵀ) V for each head, bfloat16 in and out, f32 between. The scores never leave the chip.

    one block has 128 rows of Q, and goes over K and V 128 rows at a time, from the last to the first

    warpgroup 0: a thread copies          warpgroups 1 and 2: 64 rows of Q each

      Q ────────────────► Q tile ─┐
      K ─► 2 stages ──────────────┴─► scores = Q Kᵀ     64 x 128, in registers ─┐
                                        │ largest, exp2, sum: online softmax     │ wgmma
      V ─► 2 stages ─────────────────►  P V, added to O  64 x D, in registers  ◄─┘

The tensor cores multiply the last block's P with its V while the threads take the exponentials of this block's scores:

      wgmma     │ Q K₃ │      │ Q K₂ │ P₃ V₃ │      │ Q K₁ │ P₂ V₂ │      …  │ P₀ V₀ │
      softmax           │ S₃ │        │  S₂    │            │  S₁    │

Only the first block that is taken needs a mask: the diagonal of causal attention, or the rows of K behind the last.

``python examples/hopper/experimental/flash_attention_hopper.py`` runs it on a Hopper GPU, if there is one.
"""

from __future__ import annotations

import functools
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from pyptx import Kernel, Layout, Tile, kernel, ptx, reg, smem
from pyptx.types import b32, bf16, f32, pred, s32, u32

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from examples.running import Result, on_gpu, print_table, random_array, run

ROWS = 128  # of Q a block has, and of K and V it takes at a time
STAGES = 2
CONSUMERS = 2  # warpgroups
WARPGROUP = 128
THREADS = WARPGROUP * (1 + CONSUMERS)
WGMMA_K = 16
SLAB = 64  # columns: 128 bytes, the widest swizzle. A tile of D = 128 lies as two slabs, one behind the other
SLAB_BYTES = ROWS * SLAB * 2
BOX_ROWS = 16  # of O: what a warp stores at once
TOLERANCE = 2**-7  # P is rounded to bfloat16 before it is summed up, and O after: half of that


@functools.cache
def build_flash_attention(B: int, H: int, S: int, D: int, causal: bool = False, scale: float | None = None) -> Kernel:
    """O = softmax(scale Q Kᵀ) V for Q, K, V, O[B, H, S, D]; D is 64 or 128, scale 1 / sqrt(D) unless it is given."""
    if min(B, H, S) < 1 or D not in (64, 128):
        raise ValueError(f"B, H, S, D are {B}, {H}, {S}, {D}; sizes are positive, and D is 64 or 128")
    slope = (D**-0.5 if scale is None else scale) * math.log2(math.e)  # exp(scale x) = exp2(slope x)
    if slope <= 0:
        raise ValueError(f"the scale is {scale}; the largest score is looked for before scaling, so it must be positive")
    blocks = -(-S // ROWS)  # of Q, and of K
    slabs = D // SLAB
    tile_bytes = slabs * SLAB_BYTES

    # Shared memory. Swizzled tiles begin at multiples of 1024 bytes. O takes Q's place at the end.
    q_at, k_at, v_at = 0, tile_bytes, (1 + STAGES) * tile_bytes
    full_q_at = (1 + 2 * STAGES) * tile_bytes
    full_k_at, empty_k_at, full_v_at, empty_v_at = (full_q_at + 8 * (1 + STAGES * i) for i in range(4))
    smem_bytes = full_q_at + 8 * (1 + 4 * STAGES)

    tile_of_input = Tile(B, H, S, D, bf16, Layout.TMA_128B, tma_box=(1, 1, ROWS, SLAB))

    @kernel(
        in_specs=(tile_of_input,) * 3,
        out_specs=(Tile(B, H, S, D, bf16, Layout.TMA_128B, tma_box=(1, 1, BOX_ROWS, SLAB)),),
        grid=(blocks, H, B),
        block=(THREADS, 1, 1),
        smem=smem_bytes,
        extern_smem="smem",
        raw_directives=[("maxntid", (THREADS, 1, 1)), ("minnctapersm", (1,))],  # else ptxas drops `setmaxnreg`
        arch="sm_90a",
    )
    def flash_attention(Q, K, V, O):  # noqa: E741
        tid = reg.from_(ptx.special.tid.x(), u32)
        head, batch = reg.from_(ptx.special.ctaid.y(), u32), reg.from_(ptx.special.ctaid.z(), u32)
        lane = tid & 31
        warpgroup = reg.scalar(u32)  # by way of a shuffle: ptxas then knows that the whole warp has one value
        ptx.inst.shfl.sync.idx.b32(warpgroup, tid >> 7, 0, 31, -1)

        # Which rows, and how many blocks of K before the last. Causal attention begins with the rows that have most to do.
        q_block = reg.from_(ptx.special.ctaid.x(), u32)
        if causal:
            ptx.inst.sub.u32(q_block, blocks - 1, q_block)
        before = q_block + 0 if causal else reg.scalar(u32, init=blocks - 1)
        row = q_block * ROWS

        base = smem.base()
        full_q = ptx.mbarrier.array(base, full_q_at, 1)[0]
        full_k, empty_k = (ptx.mbarrier.array(base, at, STAGES) for at in (full_k_at, empty_k_at))
        full_v, empty_v = (ptx.mbarrier.array(base, at, STAGES) for at in (full_v_at, empty_v_at))
        with ptx.if_(tid == 0):
            full_q.init(1)
            for full, empty in ((full_k, empty_k), (full_v, empty_v)):
                full.init_all(1)
                empty.init_all(CONSUMERS * 4)  # each warp that reads
            ptx.fence.proxy_async_shared_cta()  # the copies are to see the barriers
        ptx.bar.sync(0)

        with ptx.if_(warpgroup == 0):  # ---- the producer
            ptx.setmaxnreg(24, inc=False)
            with ptx.if_(tid == 0):

                def copy(tensor: Any, at: Any, first_row: Any, full: Any) -> None:
                    full.arrive_expect_tx(tile_bytes)
                    for slab in range(slabs):
                        ptx.cp.async_.bulk.tensor_4d(
                            dst=base + (at + slab * SLAB_BYTES), src=tensor.tma_desc(),
                            coord=(slab * SLAB, first_row, head, batch), mbar=full,
                        )  # fmt: skip

                copy(Q, reg.scalar(u32, init=q_at), row, full_q)
                ring = ptx.pipeline(STAGES)
                kv_row = before * ROWS
                more = reg.scalar(pred)
                with ptx.loop("produce", pred=more):
                    stage, phase = ring.advance()
                    free = phase ^ 1  # the first time round nobody has read: a fresh barrier's last phase is over
                    for tensor, at, full, empty in ((K, k_at, full_k, empty_k), (V, v_at, full_v, empty_v)):
                        empty.at(stage).wait(free)
                        copy(tensor, stage * tile_bytes + at, kv_row, full.at(stage))
                    ptx.inst.setp.ne.u32(more, kv_row, 0)
                    kv_row -= ROWS
        with ptx.else_():  # ---- the consumers
            ptx.setmaxnreg(240, inc=True)
            consumer = warpgroup - 1
            q_rows = base + (consumer * (64 * SLAB * 2) + q_at)  # of this warpgroup, in the first slab

            scores = reg.array(f32, 64 * ROWS // WARPGROUP)
            output = [reg.scalar(f32, init=0.0) for _ in range(64 * D // WARPGROUP)]
            p = reg.array(b32, ROWS // 4)  # the numerators, two bfloat16 a register

            # A thread has numbers of two rows, 8 apart: i of an accumulator lies in row (i / 2) % 2 of them. Four neighbouring
            # lanes have a row together.
            largest = [reg.scalar(f32, init=-math.inf) for _ in range(2)]
            total = [reg.scalar(f32, init=0.0) for _ in range(2)]  # this thread's part
            shrink = [reg.scalar(f32) for _ in range(2)]

            def columns(accumulator: Any, which: int) -> list[Any]:
                return [accumulator[i] for i in range(len(accumulator)) if i // 2 % 2 == which]

            def begin_scores(stage: Any) -> None:
                """Starts scores = Q Kᵀ. Along a row, 16 columns are 32 bytes: 2 in the unit of descriptors."""
                q = ptx.wgmma.auto_descriptor(q_rows, dtype=bf16, shape=(64, SLAB), major="K")
                k = ptx.wgmma.auto_descriptor(base + (stage * tile_bytes + k_at), dtype=bf16, shape=(ROWS, SLAB), major="K")
                for i in range(D // WGMMA_K):
                    slab, inside = divmod(i, SLAB // WGMMA_K)
                    ahead = slab * (SLAB_BYTES >> 4) + inside * 2
                    ptx.wgmma.mma_async(
                        shape=(64, ROWS, WGMMA_K), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=scores,
                        a=q + ahead if i else q, b=k + ahead if i else k, scale_d=i > 0,
                    )  # fmt: skip
                ptx.wgmma.commit_group()

            def begin_output(stage: Any) -> None:
                """Starts output += P V, P from registers: an accumulator's registers, packed, are just what wgmma takes as a."""
                v = ptx.wgmma.auto_descriptor(base + (stage * tile_bytes + v_at), dtype=bf16, shape=(ROWS, D), major="MN")
                for i in range(ROWS // WGMMA_K):
                    ahead = i * (WGMMA_K * SLAB * 2 >> 4)  # 16 rows of a slab
                    ptx.wgmma.mma_async(
                        shape=(64, D, WGMMA_K), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=output,
                        a=[p[4 * i + j] for j in range(4)], b=v + ahead if i else v, scale_d=True, trans_b=1,
                    )  # fmt: skip
                ptx.wgmma.commit_group()

            def softmax() -> None:
                """scores becomes exp(scale (score - largest)); `largest` and `total` of each row follow, and `shrink` says by how
                much what was summed up before has to shrink."""
                for r in range(2):
                    new = reg.scalar(f32)
                    ptx.inst.mov.f32(new, largest[r])
                    for x in columns(scores, r):
                        ptx.inst.max.f32(new, new, x)
                    ptx.warp.reduce_max(new, width=4)
                    ptx.inst.sub.f32(shrink[r], largest[r], new)
                    ptx.inst.mul.f32(shrink[r], shrink[r], slope)
                    ptx.inst.ex2.approx.ftz.f32(shrink[r], shrink[r])
                    ptx.inst.mov.f32(largest[r], new)
                    shift = reg.scalar(f32)
                    ptx.inst.mul.f32(shift, new, -slope)
                    ptx.inst.mul.f32(total[r], total[r], shrink[r])
                    for x in columns(scores, r):
                        ptx.inst.fma.rn.f32(x, x, slope, shift)
                        ptx.inst.ex2.approx.ftz.f32(x, x)
                        ptx.inst.add.f32(total[r], total[r], x)

            def pack() -> None:
                for i in range(ROWS // 4):
                    ptx.inst.cvt.rn.bf16x2.f32(p[i], scores[2 * i + 1], scores[2 * i])

            def mask() -> None:
                """-inf to the scores of columns that a row may not see: the lane's columns are 8 j + 2 (lane % 4) and one on."""
                limit = [reg.scalar(s32), reg.scalar(s32)]  # the last column that is seen, from the lane's first
                if causal:
                    warp_row = ((tid & (WARPGROUP - 1)) >> 5 << 4) + (consumer << 6)
                    ptx.inst.sub.s32(limit[0], warp_row + (lane >> 2), (lane & 3) << 1)
                    ptx.inst.add.s32(limit[1], limit[0], 8)
                else:
                    for last in limit:
                        ptx.inst.sub.s32(last, (S - 1) % ROWS, (lane & 3) << 1)
                for r in range(2):
                    for i, x in enumerate(columns(scores, r)):
                        ptx.inst.mov.f32(x, -math.inf, pred=limit[r] < i // 2 * 8 + i % 2)

            k_ring, v_ring = ptx.pipeline(STAGES), ptx.pipeline(STAGES)
            v_stage = reg.scalar(u32)

            def wait_for_v() -> None:
                stage, phase = v_ring.advance()
                ptx.inst.mov.u32(v_stage, stage)
                full_v.at(v_stage).wait(phase)

            # The last block of K.
            full_q.wait(0)
            k_stage, k_phase = k_ring.advance()
            full_k.at(k_stage).wait(k_phase)
            ptx.wgmma.fence()
            begin_scores(k_stage)
            ptx.wgmma.wait_group(0)
            empty_k.at(k_stage).arrive(pred=lane == 0)
            if causal or S % ROWS:
                mask()
            softmax()
            pack()
            wait_for_v()

            def next_block() -> None:
                stage, phase = k_ring.advance()
                full_k.at(stage).wait(phase)
                ptx.wgmma.fence()
                begin_scores(stage)
                begin_output(v_stage)  # of the block before
                ptx.wgmma.wait_group(1)  # the scores are there
                empty_k.at(stage).arrive(pred=lane == 0)
                softmax()
                read = v_stage + 0
                wait_for_v()  # here, because ptxas moves no `wait_group` up over it: the softmax stays beside the products
                ptx.wgmma.wait_group(0)
                empty_v.at(read).arrive(pred=lane == 0)
                for r in range(2):
                    for x in columns(output, r):
                        ptx.inst.mul.f32(x, x, shrink[r])
                pack()

            if blocks > 1:
                more_blocks = before > 0
                with ptx.if_(more_blocks), ptx.loop("consume", pred=more_blocks):
                    next_block()
                    before -= 1
                    ptx.inst.setp.gt.u32(more_blocks, before, 0)
            ptx.wgmma.fence()
            begin_output(v_stage)
            ptx.wgmma.wait_group(0)

            # O = output / total, rounded, by way of this warp's rows of the Q tile to global memory.
            for r in range(2):
                ptx.warp.reduce_sum(total[r], width=4)
                ptx.inst.rcp.approx.ftz.f32(total[r], total[r])
                for x in columns(output, r):
                    ptx.inst.mul.f32(x, x, total[r])
            ptx.named_barrier(warpgroup, count=WARPGROUP).sync()  # all four warps are done with Q
            warp = (tid & (WARPGROUP - 1)) >> 5
            box = q_rows + warp * (BOX_ROWS * SLAB * 2)
            lane_offset = ((lane & 15) << 7) + ((lane >> 4) << 4)  # lanes 0 to 15: the rows, 16 to 31: the same, 8 columns on
            for i in range(D // 16):
                slab, inside = divmod(i, SLAB // 16)
                for j in range(4):
                    ptx.inst.cvt.rn.bf16x2.f32(p[4 * i + j], output[8 * i + 2 * j + 1], output[8 * i + 2 * j])
                address = box + smem.apply_swizzle(lane_offset + 32 * inside, "128B")
                ptx.stmatrix(smem=ptx.addr(address, slab * SLAB_BYTES), regs=[p[4 * i + j] for j in range(4)], layout="x4")
            ptx.fence.proxy_async_shared_cta()  # TMA is to see what the lanes stored
            ptx.inst.bar.warp.sync(0xFFFFFFFF)
            with ptx.if_(lane == 0):
                o_row = row + (consumer << 6) + (warp << 4)
                for slab in range(slabs):
                    ptx.cp.async_.bulk.tensor_4d.store(
                        dst=O.tma_desc(), src=box + slab * SLAB_BYTES, coord=(slab * SLAB, o_row, head, batch)
                    )
                ptx.cp.async_.bulk.commit_group()
                ptx.cp.async_.bulk.wait_group(0)
        ptx.ret()

    return flash_attention


def reference_flash_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False, scale: float | None = None
) -> np.ndarray:
    """The same in float64, head by head: the scores of one take 8 bytes times S squared."""
    result = np.empty(q.shape)
    for head in np.ndindex(q.shape[:2]):
        q64, k64, v64 = (x[head].astype(np.float64) for x in (q, k, v))
        scores = q64 @ k64.T * (q.shape[-1] ** -0.5 if scale is None else scale)
        if causal:
            scores[~np.tri(*scores.shape, dtype=bool)] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        result[head] = weights @ v64 / weights.sum(axis=-1, keepdims=True)
    return result


def check(B: int, H: int, S: int, D: int, causal: bool = False) -> Result:
    """Runs the kernel on random numbers and holds it to the reference. The error is relative to what is summed up, P |V|."""
    q, k, v = (random_array((B, H, S, D), bf16, seed=i) for i in range(3))
    kernel, shape = build_flash_attention(B, H, S, D, causal), f"{B} x {H} x {S} x {D}{', causal' if causal else ''}"
    outputs, where, took = run(kernel, q, k, v)
    if outputs is None:
        return Result(shape, where)
    difference = np.abs(outputs[0].astype(np.float64) - reference_flash_attention(q, k, v, causal))
    error = float(np.max(difference / reference_flash_attention(q, k, np.abs(v), causal)))
    assert error <= TOLERANCE, f"{kernel!r} on {where}: error {error:.2e}, more than {TOLERANCE:.2e}"
    operations = 4 * B * H * S * S * D // (2 if causal else 1)
    return Result(shape, where, error, took, 4 * q.nbytes, operations)


def main() -> None:
    gpu = on_gpu("sm_90a")
    shapes = [(1, 16, 4096, 64), (1, 16, 4096, 128)] if gpu else [(1, 2, 256, 64), (1, 2, 256, 128)]
    print_table("flash_attention_hopper, sm_90a", (check(*shape, causal=causal) for shape in shapes for causal in (False, True)))


if __name__ == "__main__":
    main()
