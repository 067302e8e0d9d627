"""The executor's tensor cores against the GPU's: each form of mma, mma.sp, wmma and wgmma that Hopper has, and the moves of
matrices, on random fragments and on those where sums go wrong, bit for bit.

Each warp of a launch computes one product of its own; its number says what its fragments are made of (STYLES).
"""

from __future__ import annotations

import warnings
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
    write: Callable[..., None],
    counts: Sequence[int],
    results: int,
    data: np.ndarray,
    wide: bool = False,
    shared: int = 0,
    warps: int = 1,
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


def are_neighbours(cpu: np.ndarray, gpu: np.ndarray) -> bool:
    """True when all that differ do by one in the last place, of an f32 or of one f16 of a pair."""
    apart = np.abs(cpu.astype(np.int64) - gpu.astype(np.int64))
    return bool(np.isin(apart, (0, 1, 0x10000)).all())


def compare(what: str, cpu: np.ndarray, gpu: np.ndarray, unexplained: int = 0) -> None:
    """`unexplained`: so many neighbours are let by, with a warning (docs/facts.md, "Tensor cores")."""
    if np.array_equal(cpu, gpu):
        return
    if (cpu != gpu).sum() <= unexplained and are_neighbours(cpu, gpu):
        warnings.warn(f"{what}: {(cpu != gpu).sum()} of {cpu.size} are neighbours of the GPU's", stacklevel=2)
        return
    counts = {STYLES[s]: int((cpu[s :: len(STYLES)] != gpu[s :: len(STYLES)]).sum()) for s in range(len(STYLES))}
    lines = []
    for s in range(len(STYLES)):
        wrong = np.argwhere(cpu[s :: len(STYLES)] != gpu[s :: len(STYLES)])
        for warp, register, lane in wrong[:3]:
            at = (warp * len(STYLES) + s, register, lane)
            lines.append(f"{STYLES[s]}: block {at[0]} register {register} thread {lane}: executor {cpu[at]:#x}, GPU {gpu[at]:#x}")
    pytest.fail(f"{what}: {(cpu != gpu).sum()} of {cpu.size} differ {counts}\n" + "\n".join(lines))


def fragments(
    kinds: Sequence[tuple[str, int]], wide: bool = False, seed: int = 0, blocks: int = WARPS, warps: int = 1
) -> np.ndarray:
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

    data = run(write, counts, results, fragments(kinds, wide), wide)
    compare(f"{spelling} {'' if sparse is None else sparse}", *data, unexplained=2 if (d, a, b) == ("f32", "e5m2", "e4m3") else 0)


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


# ---- wmma: what a product makes of matrices in memory; which lane has what is not compared -----------------------------


def stored(name: str, count: int, style: str, rng: np.random.Generator) -> np.ndarray:
    """Elements one behind the other, as 32-bit words."""
    per = 32 // width(name) if width(name) < 64 else 1
    patterns = elements(name, count, style, rng).reshape(-1, per)
    if width(name) == 64:
        words = np.stack([patterns[:, 0] & np.uint64(0xFFFFFFFF), patterns[:, 0] >> np.uint64(32)], axis=1).ravel()
        return words.astype(np.uint32)
    return (patterns << (np.arange(per, dtype=np.uint64) * np.uint64(width(name)))).sum(axis=1, dtype=np.uint64).astype(np.uint32)


WMMA = [
    *((s, "f16", c, d) for s in ("m16n16k16", "m8n32k16", "m32n8k16") for c in ("f16", "f32") for d in ("f16", "f32")),
    *((s, a, "s32", "s32") for s in ("m16n16k16", "m8n32k16", "m32n8k16") for a in ("s8", "u8")),
    *((s, "bf16", "f32", "f32") for s in ("m16n16k16", "m8n32k16", "m32n8k16")),
    ("m16n16k8", "tf32", "f32", "f32"),
    ("m8n8k4", "f64", "f64", "f64"),
    ("m8n8k32", "s4", "s32", "s32"),
    ("m8n8k32", "u4", "s32", "s32"),
    ("m8n8k128", "b1", "s32", "s32"),
]


LAYOUTS = (("row", "col", "row"), ("col", "row", "col"))


@pytest.mark.parametrize(
    ("shape", "a", "c", "d", "layouts"),
    [(*what, layouts) for what in WMMA for layouts in LAYOUTS[: 1 if width(what[1]) < 8 else 2]],  # narrow ones by rows alone
)
def test_wmma(shape: str, a: str, c: str, d: str, layouts: tuple[str, str, str]) -> None:
    m, n, k = shape_of(shape)
    sizes = [m * k * width(a) // 32, k * n * width(a) // 32, m * n * width(c) // 32, m * n * width(d) // 32]
    fragment = 8 if a == "f16" else max(1, m * k * width(a) // 1024), 8 if a == "f16" else max(1, k * n * width(a) // 1024)
    if a == "f64":
        fragment = 1, 1

    def count(name: str) -> int:
        return m * n // 32 // (2 if name == "f16" else 1)

    @kernel(
        in_specs=(Tile(WARPS, sum(sizes[:3]), types.s32),),
        out_specs=(Tile(WARPS, sizes[3], types.s32),),
        grid=WARPS,
        block=32,
        arch="sm_90a",
        version=(8, 7),
    )
    def product(IN, OUT):
        source, to = ptx.global_ptrs(IN, OUT)
        block = reg.from_(ptx.special.ctaid.x(), types.u32)
        source = source + block * (sum(sizes[:3]) * 4)
        to = to + block * (sizes[3] * 4)
        dtype = types.b64 if a == "f64" else types.b32
        registers = [[reg.scalar(dtype) for _ in range(x)] for x in (*fragment, count(c), count(d))]
        at = 0
        for which, name, values, layout, size in zip("abc", (a, a, c), registers, layouts, sizes, strict=False):
            spelled(f"wmma.load.{which}.sync.aligned.{layout}.{shape}.global.{name}")(values, ptx.addr(source, at))
            at += size * 4
        if a == "b1":
            words = f"wmma.mma.xor.popc.sync.aligned.row.col.{shape}.s32.b1.b1.s32"
        elif a == "f16":
            words = f"wmma.mma.sync.aligned.{layouts[0]}.{layouts[1]}.{shape}.{d}.{c}"
        else:
            words = f"wmma.mma.sync.aligned.{layouts[0]}.{layouts[1]}.{shape}.{d}.{a}.{a}.{c}"
        spelled(words)(registers[3], *registers[:3])
        spelled(f"wmma.store.d.sync.aligned.{layouts[2]}.{shape}.global.{d}")(ptx.addr(to), registers[3])
        ptx.ret()

    rng = np.random.default_rng(5)
    rows = []
    for warp in range(WARPS):
        style = STYLES[warp % len(STYLES)]
        parts = [stored(a, m * k, style, rng), stored(a, k * n, style, rng), stored(c, m * n, style, rng)]
        if style == "c is zero":
            parts[2][:] = 0
        rows.append(np.concatenate(parts))
    data = np.stack(rows).view(np.int32)
    cpu = np.asarray(product(data)).view(np.uint32)[:, None, :]
    gpu = product(torch.from_numpy(data).cuda()).cpu().numpy().view(np.uint32)[:, None, :]
    compare(f"wmma {shape} {d} {a} {c} {layouts}", cpu, gpu)


# ---- wgmma -----------------------------------------------------------------------------------------------------------

WGMMA = [
    *((d, "f16", "f16") for d in ("f32", "f16")),
    ("f32", "bf16", "bf16"),
    ("f32", "tf32", "tf32"),
    *((d, a, b) for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    *(("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")),
    ("s32", "b1", "b1"),
]
# the code of a descriptor, and the bytes of a row
SWIZZLES = {"none": (0, 16), "128B": (1, 128), "64B": (2, 64), "32B": (3, 32)}


def agree_wgmma(
    d: str, a: str, b: str, n: int, swizzle: str, from_memory: bool, trans: tuple[int, int] = (0, 0), sparse: int | None = None,
    adds: bool = True, negated: bool = False, clamp: bool = False,
) -> None:  # fmt: skip
    """Shared memory holds random bytes: where an element lies in them, both have to know."""
    k = 256 // width(a) * (1 if sparse is None else 2)
    code, row = SWIZZLES[swizzle]
    results = n // 2 * width(d) // 32
    words = 96  # 48 KiB of shared memory: 96 words of each of 128 threads
    # strides: 8 rows behind each other; columns of 16 bytes, or the next row of the pattern, further on
    strides = [(8 * row, 64 * 16) if not t else (8 * row, 16 * row if code else 512) for t in trans]
    if code == 0:
        strides = [(128, 2048) if not t else (256, 128) for t in trans]

    def write(image, ra, rc, *more):
        extra, out = more[:-1], more[-1]
        base = smem.base()
        thread = reg.from_(ptx.special.tid.x(), types.u32)
        for i, word in enumerate(image):
            ptx.inst.st.shared.b32(ptx.addr(base + thread * 4, 512 * i), word)
        ptx.inst.fence.proxy.async_()
        ptx.bar.sync(0)
        low = reg.scalar(types.u64)
        ptx.inst.cvt.u64.u32(low, base >> 4)
        descriptors = []
        for offset, (stride, leading) in zip((0, 16384), strides, strict=True):
            bits = code << 62 | (stride >> 4) << 32 | (leading >> 4) << 16 | offset >> 4
            bits -= 1 << 64 if bits >> 63 else 0
            constant, address = reg.scalar(types.u64), reg.scalar(types.u64)
            ptx.inst.mov.b64(constant, bits)
            ptx.inst.add.u64(address, constant, low)
            descriptors.append(address)
        ptx.inst.wgmma.fence.sync.aligned()
        operands = [rc, descriptors[0] if from_memory else ra, descriptors[1]]
        if sparse is not None:
            operands += [extra[0][0], sparse]
        operands.append(1 if adds else 0)
        if d != "s32":
            operands += [-1 if negated else 1, 1]
        if a in ("f16", "bf16"):
            operands += [*([trans[0]] if from_memory else []), trans[1]]
        saturate = ".satfinite" if clamp else ""
        kind = ".sp" if sparse is not None else ""
        popc = ".and.popc" if a == "b1" else ""
        spelled(f"wgmma.mma_async{kind}.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{popc}{saturate}")(*operands)
        ptx.inst.wgmma.commit_group.sync.aligned()
        ptx.inst.wgmma.wait_group.sync.aligned(0)
        for to, r in zip(out, rc, strict=True):
            ptx.inst.mov.b32(to, r)

    kinds = [(b, words), (a, 4), (f"c:{d}", results)]
    counts = [words, 4, results]
    if sparse is not None:
        kinds.append((f"e:{a}", 1))
        counts.append(1)
    data = fragments(kinds, blocks=16, warps=4)
    what = f"wgmma m64n{n}k{k} {d} {a} {b} {swizzle} {'shared' if from_memory else 'registers'} {trans} sparse {sparse}"
    compare(what, *run(write, counts, results, data, shared=49152, warps=4), unexplained=4 if d == "f16" else 0)


@pytest.mark.parametrize("from_memory", [True, False])
@pytest.mark.parametrize(("d", "a", "b"), WGMMA)
def test_wgmma(d: str, a: str, b: str, from_memory: bool) -> None:
    for n, swizzle in ((8, "none"), (64, "128B"), (32, "64B"), (96, "32B")):
        agree_wgmma(d, a, b, n, swizzle, from_memory)
    agree_wgmma(d, a, b, 16, "128B", from_memory, adds=False, negated=d != "s32", clamp=a in ("s8", "u8"))


@pytest.mark.parametrize("swizzle", list(SWIZZLES))
def test_wgmma_transposed(swizzle: str) -> None:
    for trans in ((0, 1), (1, 0), (1, 1)):
        agree_wgmma("f32", "f16", "f16", 64, swizzle, True, trans)


@pytest.mark.parametrize("from_memory", [True, False])
@pytest.mark.parametrize(("d", "a", "b"), [w for w in WGMMA if w[1] != "b1"])
def test_wgmma_sparse(d: str, a: str, b: str, from_memory: bool) -> None:
    for selector in range(2 if width(a) >= 16 else 1):
        agree_wgmma(d, a, b, 32, "128B", from_memory, sparse=selector)
    agree_wgmma(d, a, b, 8, "64B", from_memory, sparse=0)
