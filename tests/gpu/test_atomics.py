"""Atomics, the executor against the GPU, bit for bit: what memory holds afterwards, NaN patterns and subnormal numbers included,
in global and in shared memory; reductions over barriers, matches of lanes, and what 32 lanes at one place add up to."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, smem, types

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU here")

THREADS = 128
# fmt: off
EDGES = {
    16: [0, 1, 2, 0x3F, 0x40, 0x7F, 0x80, 0x3FF, 0x400, 0x401, 0x3BFF, 0x3C00, 0x3C01, 0x3F80, 0x3F81, 0x7BFF, 0x7C00, 0x7C01,
        0x7E00, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF, 0x1234, 0x0FFF],
    32: [0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0xFFFFFF, 0x3F800000, 0x3F800001, 0x33800000, 0x4B7FFFFF, 0x7F7FFFFF,
        0x7F800000, 0x7F800001, 0x7FC00000, 0x7FC12345, 0x7FFFFFFF, 0x400000, 0x00C00000, 0x00A00001],
    64: [0, 1, 2, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x0010000000000001, 0x3FF0000000000000, 0x3FF0000000000001,
        0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001, 0x7FF8000000000000, 0x7FF8000000012345, 0x7FFFFFFFFFFFFFFF,
        0x3CA0000000000000, 0x36A0000000000000],
}
# fmt: on


def pairs(bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Each edge beside each one, of both signs, and random numbers, as words of that many bits; 16 bits in pairs are 32."""
    one = EDGES[bits] + [e | 1 << (bits - 1) for e in EDGES[bits]]
    rows = list(itertools.product(one, one))
    random = np.random.default_rng(5)
    while len(rows) % THREADS != 0 or len(rows) < 8 * THREADS:
        rows.append(tuple(int(v) for v in random.integers(0, 1 << 63, 2, np.uint64) >> np.uint64(64 - bits)))
    holder = np.dtype(f"u{bits // 8}")
    return np.array([r[0] for r in rows], holder), np.array([r[1] for r in rows], holder)


def words(instruction: str):
    found = ptx.inst
    for word in instruction.split("."):
        found = getattr(found, word + "_" if word in ("and", "or", "xor", "not", "global") else word)
    return found


def run(instruction: str, bits: int, shared: bool, memory: np.ndarray, operand: np.ndarray) -> list[np.ndarray]:
    """The executor's d and memory, then the GPU's. `instruction` has the space in it."""
    kind = getattr(types, f"s{bits}")
    tile = Tile(len(memory), kind)

    @kernel(in_specs=[tile, tile], out_specs=[tile, tile], grid=len(memory) // THREADS, block=THREADS, arch="sm_90a")
    def atomics(M, B, D, AFTER):
        m, b, d, after = ptx.global_ptrs(M, B, D, AFTER)
        thread = reg.from_(ptx.special.tid.x(), types.u32)
        index = (reg.from_(ptx.special.ctaid.x(), types.u32) * THREADS + thread) * (bits // 8)
        before, value, old, now = (reg.scalar(getattr(types, f"b{bits}")) for _ in range(4))
        load, store = getattr(ptx.inst.ld.global_, f"b{bits}"), getattr(ptx.inst.st.global_, f"b{bits}")
        load(before, ptx.addr(m + index))
        load(value, ptx.addr(b + index))
        if shared:
            room = smem.alloc(getattr(types, f"b{bits}"), THREADS)
            base = smem.base(room.name)
            place = ptx.addr(base + thread * (bits // 8))
            getattr(ptx.inst.st.shared, f"b{bits}")(place, before)
        else:
            place = ptx.addr(after + index)
            store(place, before)
        words(instruction)(old, place, value)
        if shared:
            getattr(ptx.inst.ld.shared, f"b{bits}")(now, place)
            store(ptx.addr(after + index), now)
        store(ptx.addr(d + index), old)
        ptx.ret()

    signed = f"i{bits // 8}"
    arrays = [memory.view(signed), operand.view(signed)]
    cpu = atomics(*arrays)
    gpu = [t.cpu().numpy() for t in atomics(*(torch.from_numpy(a).cuda() for a in arrays))]
    return [*cpu, *gpu]


CASES = [
    ("add.f32", 32, 32), ("add.f64", 64, 64), ("add.noftz.f16", 16, 16), ("add.noftz.bf16", 16, 16),
    ("add.noftz.f16x2", 32, 16), ("add.noftz.bf16x2", 32, 16), ("add.u32", 32, 32), ("add.u64", 64, 64), ("inc.u32", 32, 32),
    ("dec.u32", 32, 32), ("min.s32", 32, 32), ("max.u32", 32, 32), ("min.s64", 64, 64), ("max.u64", 64, 64), ("and.b32", 32, 32),
    ("or.b64", 64, 64), ("xor.b32", 32, 32), ("exch.b64", 64, 64),
]  # fmt: skip


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("op", "bits", "edge"), CASES, ids=[c[0] for c in CASES])
def test_bits(op: str, bits: int, edge: int, space: str) -> None:
    memory, operand = pairs(edge)
    if edge != bits:
        low, high = pairs(edge)
        memory = low.astype(np.uint32) | np.roll(low, 3).astype(np.uint32) << 16
        operand = high.astype(np.uint32) | np.roll(high, 7).astype(np.uint32) << 16
    cpu_d, cpu_after, gpu_d, gpu_after = run(f"atom.{space}.{op}", bits, space == "shared", memory, operand)
    np.testing.assert_array_equal(cpu_d, gpu_d)
    different = np.flatnonzero(cpu_after != gpu_after)
    said = [tuple(hex(int(a[i]) & (1 << bits) - 1) for a in (memory, operand, cpu_after, gpu_after)) for i in different[:10]]
    assert not said, f"memory, operand, executor, GPU; {len(different)} of {len(memory)} differ: {said}"
