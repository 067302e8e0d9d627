"""The executor's tensor cores against the GPU's: each form of mma, mma.sp, wmma, wgmma and of the moves of matrices that Hopper has, on
random fragments and on those where sums go wrong, bit for bit.

Each warp of a launch computes one product of its own; its number says what its fragments are made of (STYLES).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, smem, types

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0), reason="no GPU here that has sm_90"
)

WARPS = 128
STYLES = ("any bits", "ordinary", "zeros and ones", "subnormal", "far apart", "edges", "c is zero", "cancelling")
# exponent bits, bits of the fraction
FLOATS = {
    "f64": (11, 52), "f32": (8, 23), "tf32": (8, 23), "f16": (5, 10), "bf16": (8, 7), "e4m3": (4, 3), "e5m2": (5, 2),
}  # fmt: skip
WIDTHS = {"b1": 1, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "s32": 32, "b32": 32, "b16": 16}


def width(name: str) -> int:
    return WIDTHS[name] if name in WIDTHS else 1 + sum(FLOATS[name])


def elements(name: str, count: int, style: str, rng: np.random.Generator) -> np.ndarray:
    """Patterns of `count` elements, as unsigned 64-bit numbers."""
    bits = width(name)
    every = rng.integers(0, 1 << 63, size=count, dtype=np.uint64) * np.uint64(2) + rng.integers(0, 2, size=count, dtype=np.uint64)
    every = every & np.uint64((1 << bits) - 1)
    if name not in FLOATS:
        if style == "zeros and ones":
            return every & np.uint64(1)
        if style == "edges":
            top = 1 << (bits - 1)
            return rng.choice(np.array([0, top, top - 1, (1 << bits) - 1], dtype=np.uint64), count)
        return every
    exponent_bits, mantissa = FLOATS[name]
    bias, top = (1 << (exponent_bits - 1)) - 1, (1 << exponent_bits) - 1
    sign = every & np.uint64(1 << (bits - 1))
    fraction = every & np.uint64((1 << mantissa) - 1)

    def with_exponents(least: int, most: int) -> np.ndarray:
        field = rng.integers(max(least, 0), min(most, top - 1) + 1, size=count).astype(np.uint64)
        return sign | field << np.uint64(mantissa) | fraction

    if style in ("ordinary", "c is zero", "cancelling"):
        return with_exponents(bias - 3, bias + 3)
    if style == "zeros and ones":
        one = bias << mantissa
        return rng.choice(np.array([0, 0, one, 1], dtype=np.uint64), count) | sign
    if style == "subnormal":
        return np.where(rng.integers(0, 4, size=count) == 0, with_exponents(0, 2 if bits > 8 else 1), sign | fraction)
    if style == "far apart":
        return with_exponents(bias - (60 if exponent_bits >= 8 else bias), bias + (60 if exponent_bits >= 8 else bias))
    if style == "edges":
        infinity = top << mantissa
        patterns = [0, 1, (1 << mantissa) - 1, 1 << mantissa, bias << mantissa, infinity - 1, infinity - (1 << mantissa)]
        rare = [infinity, infinity | (1 << (mantissa - 1)), infinity | 1] if rng.integers(0, 2) else []
        return rng.choice(np.array(patterns * 4 + rare, dtype=np.uint64), count) | sign
    return every


def registers(name: str, count: int, style: str, rng: np.random.Generator, wide: bool = False) -> np.ndarray:
    """`count` registers of each of 32 lanes, [register, lane]."""
    size = 64 if wide else 32
    per = size // width(name)
    patterns = elements(name, count * 32 * per, style, rng).reshape(count, 32, per)
    return (patterns << (np.arange(per, dtype=np.uint64) * np.uint64(width(name)))).sum(axis=2, dtype=np.uint64)


def metadata(name: str, rng: np.random.Generator) -> np.ndarray:
    """Indices of a sparse a: two of four, in order, or one of two."""
    valid = np.array([0b0100, 0b1110] if name == "tf32" else [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110], dtype=np.uint64)
    nibbles = rng.choice(valid, (32, 8))
    return (nibbles << (np.arange(8, dtype=np.uint64) * np.uint64(4))).sum(axis=1, dtype=np.uint64)[None, :]


def spelled(spelling: str) -> Any:
    instruction = ptx.inst
    for word in spelling.split("."):
        word = word.replace("::", "__")
        instruction = getattr(instruction, word + "_" if word in ("and", "or", "xor", "not", "global") else word)
    return instruction


def run(
    write: Callable[..., None], counts: Sequence[int], results: int, data: np.ndarray, wide: bool = False, shared: int = 0, warps: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """`write(operands…, d)` with registers filled from `data` [block, register, thread]; what d holds, executor and GPU."""
    bits, threads = (64 if wide else 32), 32 * warps
    dtype, holder = (types.b64, types.s64) if wide else (types.b32, types.s32)
    blocks, total = data.shape[0], sum(counts)

    @kernel(
        in_specs=(Tile(blocks, total, threads, holder),),
        out_specs=(Tile(blocks, results, threads, holder),),
        grid=blocks,
        block=threads,
        arch="sm_90a",
        version=(8, 7),
        smem=shared,
        extern_smem=shared > 0,
    )
    def product(IN, OUT):
        source, to = ptx.global_ptrs(IN, OUT)
        block, thread = reg.from_(ptx.special.ctaid.x(), types.u32), reg.from_(ptx.special.tid.x(), types.u32)
        source = source + (block * (total * threads) + thread) * (bits // 8)
        to = to + (block * (results * threads) + thread) * (bits // 8)
        operands, at = [], 0
        for count in counts:
            array = [reg.scalar(dtype) for _ in range(count)]
            for r in array:
                getattr(ptx.inst.ld.global_, f"b{bits}")(r, ptx.addr(source, at * threads * bits // 8))
                at += 1
            operands.append(array)
        d = [reg.scalar(dtype) for _ in range(results)]
        write(*operands, d)
        for i, r in enumerate(d):
            getattr(ptx.inst.st.global_, f"b{bits}")(ptx.addr(to, i * threads * bits // 8), r)
        ptx.ret()

    signed = np.int64 if wide else np.int32
    array = np.ascontiguousarray(data.astype(np.uint64 if wide else np.uint32)).view(signed)
    cpu = np.asarray(product(array)).view(np.uint64 if wide else np.uint32)
    gpu = product(torch.from_numpy(array).cuda()).cpu().numpy().view(np.uint64 if wide else np.uint32)
    return cpu, gpu


def compare(what: str, cpu: np.ndarray, gpu: np.ndarray) -> None:
    if np.array_equal(cpu, gpu):
        return
    counts = {STYLES[s]: int((cpu[s :: len(STYLES)] != gpu[s :: len(STYLES)]).sum()) for s in range(len(STYLES))}
    lines = []
    for s in range(len(STYLES)):
        wrong = np.argwhere(cpu[s :: len(STYLES)] != gpu[s :: len(STYLES)])
        for warp, register, lane in wrong[:3]:
            at = (warp * len(STYLES) + s, register, lane)
            lines.append(f"{STYLES[s]}: block {at[0]} register {register} thread {lane}: executor {cpu[at]:#x}, GPU {gpu[at]:#x}")
    pytest.fail(f"{what}: {(cpu != gpu).sum()} of {cpu.size} differ {counts}\n" + "\n".join(lines))


def fragments(kinds: Sequence[tuple[str, int]], wide: bool = False, seed: int = 0, blocks: int = WARPS, warps: int = 1) -> np.ndarray:
    """[block, register, thread] for operands of these types; "e:tf32" is the metadata of a sparse a, "c:f32" an accumulator."""
    rng = np.random.default_rng(seed)
    out = []
    for block in range(blocks):
        style = STYLES[block % len(STYLES)]
        per_warp = []
        for _ in range(warps):
            parts = []
            for name, count in kinds:
                what, _, name = name.rpartition(":")
                if what == "e":
                    parts.append(metadata(name, rng))
                elif what == "c" and style == "c is zero":
                    parts.append(np.zeros((count, 32), dtype=np.uint64))
                else:
                    parts.append(registers(name, count, style, rng, wide))
            per_warp.append(np.concatenate(parts))
        out.append(np.concatenate(per_warp, axis=1))
    return np.stack(out)


def shape_of(word: str) -> tuple[int, int, int]:
    m, rest = word[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def agree_mma(spelling: str, shape: str, d: str, a: str, b: str, c: str | None = None, sparse: int | None = None) -> None:
    m, n, k = shape_of(shape)
    c = c or d
    wide = a == "f64"
    size = 64 if wide else 32
    stored = k // 2 if sparse is not None else k
    counts = [m * stored * width(a) // 32 // size, k * n * width(b) // 32 // size, m * n * width(c) // 32 // size]
    results = m * n * width(d) // 32 // size
    kinds = [(a, counts[0]), (b, counts[1]), (f"c:{c}", counts[2])]
    if sparse is not None:
        counts.append(1)
        kinds.append((f"e:{a}", 1))

    def write(ra, rb, rc, *more):
        extra = [more[0][0], sparse] if sparse is not None else []
        spelled(spelling)(more[-1], ra, rb, rc, *extra)

    compare(f"{spelling} {'' if sparse is None else sparse}", *run(write, counts, results, fragments(kinds, wide), wide))


DENSE = [
    *((shape, d, "f16", "f16") for shape in ("m16n8k8", "m16n8k16") for d in ("f32", "f16")),
    *((shape, "f32", "bf16", "bf16") for shape in ("m16n8k8", "m16n8k16")),
    *((shape, "f32", "tf32", "tf32") for shape in ("m16n8k4", "m16n8k8")),
    *((shape, "f64", "f64", "f64") for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")),
    *(
        (shape, d, a, b)
        for shape in ("m16n8k16", "m16n8k32")
        for d in ("f32", "f16")
        for a in ("e4m3", "e5m2")
        for b in ("e4m3", "e5m2")
    ),
]


@pytest.mark.parametrize(("shape", "d", "a", "b"), DENSE)
def test_floats(shape: str, d: str, a: str, b: str) -> None:
    agree_mma(f"mma.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{d}", shape, d, a, b)


@pytest.mark.parametrize("rounding", ["rz", "rm", "rp"])
def test_directed_doubles(rounding: str) -> None:
    agree_mma(f"mma.sync.aligned.m16n8k8.row.col.{rounding}.f64.f64.f64.f64", "m16n8k8", "f64", "f64", "f64")


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize(
    ("shape", "a", "b"),
    [
        *((s, a, b) for s in ("m8n8k16", "m16n8k16", "m16n8k32") for a in ("s8", "u8") for b in ("s8", "u8")),
        *((s, a, b) for s in ("m8n8k32", "m16n8k32", "m16n8k64") for a in ("s4", "u4") for b in ("s4", "u4")),
    ],
)
def test_integers(shape: str, a: str, b: str, saturate: bool) -> None:
    clamp = ".satfinite" if saturate else ""
    agree_mma(f"mma.sync.aligned.{shape}.row.col{clamp}.s32.{a}.{b}.s32", shape, "s32", a, b)


@pytest.mark.parametrize("operation", ["xor", "and"])
@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
def test_bits(shape: str, operation: str) -> None:
    agree_mma(f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{operation}.popc", shape, "s32", "b1", "b1")


SPARSE = [
    ("m16n8k16", "f32", "f16", "f16", 4),
    ("m16n8k16", "f16", "f16", "f16", 4),
    ("m16n8k32", "f32", "f16", "f16", 2),
    ("m16n8k32", "f16", "f16", "f16", 2),
    ("m16n8k16", "f32", "bf16", "bf16", 4),
    ("m16n8k32", "f32", "bf16", "bf16", 2),
    ("m16n8k8", "f32", "tf32", "tf32", 4),
    ("m16n8k16", "f32", "tf32", "tf32", 2),
    *(("m16n8k32", "s32", a, b, 2) for a in ("s8", "u8") for b in ("s8", "u8")),
    *(("m16n8k64", "s32", a, b, 1) for a in ("s8", "u8") for b in ("s8", "u8")),
    *(("m16n8k64", "s32", a, b, 2) for a in ("s4", "u4") for b in ("s4", "u4")),
    *(("m16n8k128", "s32", a, b, 1) for a in ("s4", "u4") for b in ("s4", "u4")),
]


@pytest.mark.parametrize("variant", ["sp", "sp::ordered_metadata"])
@pytest.mark.parametrize(("shape", "d", "a", "b", "selectors"), SPARSE)
def test_sparse(shape: str, d: str, a: str, b: str, selectors: int, variant: str) -> None:
    for selector in range(selectors):
        agree_mma(f"mma.{variant}.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{d}", shape, d, a, b, sparse=selector)
    if d == "s32":
        agree_mma(f"mma.{variant}.sync.aligned.{shape}.row.col.satfinite.{d}.{a}.{b}.{d}", shape, d, a, b, sparse=0)


# ---- matrices in shared memory ---------------------------------------------------------------------------------------


def rows_in_shared_memory(lines: list[Any]) -> tuple[Any, Any]:
    """Each lane's row of 16 bytes in shared memory, its words from `lines`, and the address of a row that another lane filled."""
    base = smem.base()
    lane = reg.from_(ptx.special.tid.x(), types.u32)
    for i, word in enumerate(lines):
        ptx.inst.st.shared.b32(ptx.addr(base + lane * 16, 4 * i), word)
    ptx.bar.sync(0)
    return base, lane


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("number", [1, 2, 4])
def test_ldmatrix(number: int, trans: str) -> None:
    def write(words, order, d):
        base, _ = rows_in_shared_memory(words)
        address = base + (order[0] & 31) * 16
        spelled(f"ldmatrix.sync.aligned.m8n8.x{number}{trans}.shared.b16")(d, ptx.addr(address))

    data = fragments([("b32", 4), ("b32", 1)])
    compare(f"ldmatrix.x{number}{trans}", *run(write, [4, 1], number, data, shared=512))


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("number", [1, 2, 4])
def test_stmatrix(number: int, trans: str) -> None:
    def write(words, values, d):
        base, lane = rows_in_shared_memory(words)
        address = base + ((lane * 5) & 31) * 16  # every row once
        spelled(f"stmatrix.sync.aligned.m8n8.x{number}{trans}.shared.b16")(ptx.addr(address), values)
        ptx.bar.sync(0)
        for i, r in enumerate(d):
            ptx.inst.ld.shared.b32(r, ptx.addr(base + lane * 16, 4 * i))

    compare(f"stmatrix.x{number}{trans}", *run(write, [4, number], 4, fragments([("b32", 4), ("b32", number)]), shared=512))


def test_movmatrix() -> None:
    def write(a, d):
        ptx.inst.movmatrix.sync.aligned.m8n8.trans.b16(d[0], a[0])

    compare("movmatrix", *run(write, [1], 1, fragments([("b32", 1)])))
