"""Asks a Hopper GPU what the manual leaves open: `python tests/gpu/ask.py`. No test: docs/facts.md has the answers.

Each question is a kernel of PTX text, given to the driver as it stands, so that nothing of this project stands between the
question and the answer. It needs the driver and numpy alone.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n"
Words = np.ndarray[Any, Any]


class Gpu:
    """The driver's API, as far as the questions need it."""

    def __init__(self) -> None:
        self.cu = ctypes.CDLL("libcuda.so.1")
        self.do("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.do("cuDeviceGet", ctypes.byref(device), 0)
        self.do("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.do("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(100)
        self.do("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()

    def do(self, function: str, *arguments: Any) -> None:
        if status := getattr(self.cu, function)(*arguments):
            raise RuntimeError(f"{function} ended with {status}")

    def memory(self, content: Words) -> ctypes.c_uint64:
        pointer, content = ctypes.c_uint64(), np.ascontiguousarray(content)
        self.do("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(content.nbytes))
        self.do("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(content.ctypes.data), ctypes.c_size_t(content.nbytes))
        return pointer

    def read(self, pointer: ctypes.c_uint64, like: Words) -> Words:
        back = np.empty_like(like)
        self.do("cuMemcpyDtoH_v2", ctypes.c_void_p(back.ctypes.data), pointer, ctypes.c_size_t(back.nbytes))
        return back

    def kernel(self, body: str, level: int = 4) -> ctypes.c_void_p:
        """The entry `k` of a text, compiled by the driver at an optimisation level."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        log = ctypes.create_string_buffer(4096)
        keys = (ctypes.c_int * 3)(5, 6, 7)  # error log, its size, optimisation level
        values = (ctypes.c_void_p * 3)(ctypes.addressof(log), 4096, level)
        text = (HEAD + body).encode() + b"\0"
        if self.cu.cuModuleLoadDataEx(ctypes.byref(module), text, 3, keys, values):
            raise RuntimeError(log.value.decode(errors="replace"))
        self.do("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        return function

    def launch(self, function: ctypes.c_void_p, grid: tuple[int, int, int], block: int, *arguments: Any, shared: int = 0) -> None:
        if shared > 48 << 10:
            self.do("cuFuncSetAttribute", function, 8, shared)
        array = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(argument) for argument in arguments])
        self.do("cuLaunchKernel", function, *grid, block, 1, 1, shared, None, array, None)
        self.do("cuCtxSynchronize")


def bits(values: Words) -> Words:
    """bf16 patterns of floats that bf16 holds."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


# ---- wgmma: LBO of swizzled K-major operands, base_offset ----------------------------------------------------------------

ACCUMULATORS = ",".join(f"%f{i}" for i in range(32))
WGMMA = (
    """.extern .shared .align 1024 .b8 sm[];
.visible .entry k(.param .u64 img, .param .u32 n, .param .u64 da, .param .u64 db, .param .u64 out) .maxntid 128 {
.reg .b64 %x<9>; .reg .b32 %r<9>; .reg .f32 %f<32>; .reg .pred %p;
ld.param.u64 %x1,[img]; ld.param.u32 %r1,[n]; ld.param.u64 %x2,[da]; ld.param.u64 %x3,[db]; ld.param.u64 %x4,[out];
mov.u32 %r2,%tid.x; shl.b32 %r3,%r2,2; mov.u32 %r4,sm;
L: setp.ge.u32 %p,%r3,%r1; @%p bra E; cvt.u64.u32 %x5,%r3; add.u64 %x5,%x5,%x1; ld.global.b32 %r5,[%x5]; add.u32 %r6,%r4,%r3;
st.shared.b32 [%r6],%r5; add.u32 %r3,%r3,512; bra L;
E: fence.proxy.async.shared::cta; bar.sync 0; shr.u32 %r6,%r4,4; cvt.u64.u32 %x6,%r6; add.u64 %x2,%x2,%x6; add.u64 %x3,%x3,%x6;
wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"""
    + ACCUMULATORS
    + """},%x2,%x3,0,1,1,0,0;
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; shl.b32 %r7,%r2,7; cvt.u64.u32 %x7,%r7; add.u64 %x4,%x4,%x7;
"""
    + "\n".join(f"st.global.v4.f32 [%x4+{16 * i}],{{%f{4 * i},%f{4 * i + 1},%f{4 * i + 2},%f{4 * i + 3}}};" for i in range(8))
    + "\nret; }"
)
B_AT, IMAGE = 16384, 32768  # bytes: where B lies in the image, and its size


def swizzled_operand(image: Words, matrix: Words, begin: int, phase: Callable[[int], int]) -> None:
    """64 rows of 16 bf16, K-major, 128 bytes a row; the piece of 16 bytes at an address lies where the row's phase says."""
    for row, piece in itertools.product(range(64), range(2)):
        line = begin + 128 * row
        at = line + 16 * (piece ^ phase(line))
        image[at : at + 16] = bits(matrix[row, 8 * piece : 8 * piece + 8]).view(np.uint8)


def wgmma(gpu: Gpu, start: int, phase: Callable[[int], int], lbo: int, base_offset: int) -> bool:
    """Whether the product is right with A at `start`."""
    rng = np.random.default_rng(start + 7)
    a, b = (rng.integers(-8, 9, (64, 16)).astype(np.float64) for _ in range(2))
    image = np.zeros(IMAGE, np.uint8)
    swizzled_operand(image, a, start, phase)
    swizzled_operand(image, b, B_AT, lambda line: line >> 7 & 7)

    def descriptor(at: int, offset: int) -> ctypes.c_uint64:
        return ctypes.c_uint64(at >> 4 | lbo << 16 | 64 << 32 | offset << 49 | 1 << 62)

    d = np.zeros((128, 32), np.float32)
    memory, out = gpu.memory(image), gpu.memory(d)
    arguments = memory, ctypes.c_uint32(IMAGE), descriptor(start, base_offset), descriptor(B_AT, 0), out
    gpu.launch(gpu.kernel(WGMMA), (1, 1, 1), 128, *arguments, shared=IMAGE)
    d = gpu.read(out, d)
    t, i = np.meshgrid(np.arange(128), np.arange(32), indexing="ij")
    row, column = t // 32 * 16 + t % 32 // 4 + 8 * (i >> 1 & 1), i // 4 * 8 + t % 4 * 2 + (i & 1)
    return bool(np.array_equal(d, (a @ b.T)[row, column]))


def ask_wgmma_descriptors(gpu: Gpu) -> Iterator[str]:
    absolute: Callable[[int], int] = lambda line: line >> 7 & 7  # noqa: E731
    for lbo in (0, 1, 2, 64, 512, 0x3FFF):
        yield f"128B swizzle, K-major, LBO {lbo}: {'right' if wgmma(gpu, 1024, absolute, lbo, 0) else 'WRONG'}"
    for j in range(1, 8):
        relative: Callable[[int], int] = lambda line, j=j: (line >> 7) - j & 7  # type: ignore[misc] # noqa: E731
        right = [
            f"XOR by the {name} address with base_offset {offset}"
            for (name, phase), offset in itertools.product((("absolute", absolute), ("relative", relative)), (0, j))
            if wgmma(gpu, 1024 + 128 * j, phase, 1, offset)
        ]
        yield f"A begins {128 * j} bytes behind 1024: right with {'; '.join(right) or 'none'}"


# ---- mbarrier.try_wait: how long it waits --------------------------------------------------------------------------------

TRY_WAIT = """.visible .entry k(.param .u64 out, .param .u32 hint) {
.reg .b64 %x<9>; .reg .b32 %r<9>; .reg .pred %p; .shared .align 8 .b64 b;
ld.param.u64 %x1,[out]; ld.param.u32 %r1,[hint]; mov.u32 %r2,b; mbarrier.init.shared::cta.b64 [%r2],1; mov.u64 %x2,%globaltimer;
mov.u64 %x3,%clock64; setp.eq.u32 %p,%r1,0; @%p bra N; mbarrier.try_wait.parity.shared::cta.b64 %p,[%r2],0,%r1; bra D;
N: mbarrier.try_wait.parity.shared::cta.b64 %p,[%r2],0;
D: mov.u64 %x4,%clock64; mov.u64 %x5,%globaltimer; selp.u32 %r3,1,0,%p; sub.u64 %x4,%x4,%x3; sub.u64 %x5,%x5,%x2;
st.global.u64 [%x1],%x4; st.global.u64 [%x1+8],%x5; st.global.u32 [%x1+16],%r3; ret; }"""


def ask_try_wait(gpu: Gpu) -> Iterator[str]:
    function, out = gpu.kernel(TRY_WAIT), gpu.memory(np.zeros(3, np.uint64))
    for hint in (0, *(10**e for e in range(2, 9))):
        seen = []
        for _ in range(16):
            gpu.launch(function, (1, 1, 1), 1, out, ctypes.c_uint32(hint))
            seen.append(gpu.read(out, np.zeros(3, np.uint64)))
        cycles, ns, done = np.array(seen).T
        yield (
            f"hint {hint or 'none'} ns: {cycles.min()} to {cycles.max()} cycles, {ns.min()} to {ns.max()} ns, "
            f"predicate {sorted(set((done & 1).tolist()))}"
        )


# ---- setmaxnreg: whose pool ----------------------------------------------------------------------------------------------

SETMAXNREG = """.visible .entry k(.param .u64 out, .param .u32 decns) .maxntid 384 .minnctapersm 1 {
.reg .b64 %x<9>; .reg .b32 %r<9>; .reg .pred %p;
ld.param.u64 %x1,[out]; ld.param.u32 %r1,[decns]; mov.u32 %r2,%tid.x; shr.u32 %r3,%r2,7; setp.eq.u32 %p,%r3,0;
mov.u64 %x2,%globaltimer; @!%p bra I;
W: nanosleep.u32 1000; mov.u64 %x3,%globaltimer; sub.u64 %x4,%x3,%x2; cvt.u64.u32 %x5,%r1; setp.lt.u64 %p,%x4,%x5; @%p bra W;
bar.sync 1,128; setmaxnreg.dec.sync.aligned.u32 40; bra S;
I: setmaxnreg.inc.sync.aligned.u32 232;
S: mov.u64 %x3,%globaltimer; sub.u64 %x3,%x3,%x2; shl.b32 %r4,%r2,3; cvt.u64.u32 %x6,%r4; add.u64 %x1,%x1,%x6;
st.global.u64 [%x1],%x3; ret; }"""


def ask_setmaxnreg(gpu: Gpu) -> Iterator[str]:
    function, zeros = gpu.kernel(SETMAXNREG), np.zeros(384, np.uint64)
    for wait in (0, 10**5, 10**6):
        out = gpu.memory(zeros)
        gpu.launch(function, (132, 1, 1), 384, out, ctypes.c_uint32(wait))
        ns = gpu.read(out, zeros).reshape(3, 128)
        yield f".dec after {wait} ns: warpgroups had their registers after {ns.max(axis=1).tolist()} ns"


# ---- tensor cores: products of tiny numbers ------------------------------------------------------------------------------

TINY = """.visible .entry k(.param .u64 out) {
.reg .b64 %x<4>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .pred %p,%q;
ld.param.u64 %x1,[out]; mov.u32 %r1,%tid.x; and.b32 %r2,%r1,3; setp.ne.u32 %p,%r2,0; setp.ne.u32 %q,%r1,0; mov.u32 %r3,150;
mov.b32 %f4,CARRIED; mov.u32 %r9,0;
L: sub.u32 %r4,201,%r3; shl.b32 %r4,%r4,23; or.b32 %r5,%r4,0x80001A00; selp.b32 %r6,0,0x1A801A80,%p; selp.b32 %r7,0,%r5,%p;
mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3},{%r6,%r6,%r9,%r9},{%r7,%r9},{%f4,%f4,%f4,%f4};
@!%q st.global.f32 [%x1],%f0; add.u64 %x1,%x1,4; add.u32 %r3,%r3,1; setp.lt.u32 %p,%r3,190; @!%p ret;
setp.ne.u32 %p,%r2,0; bra L; }"""


def ask_tiny_products(gpu: Gpu) -> Iterator[str]:
    for name, carried in (("0", "0"), ("2^-149", "1")):
        out = gpu.memory(np.zeros(40, np.uint32))
        gpu.launch(gpu.kernel(TINY.replace("CARRIED", carried)), (1, 1, 1), 32, out)
        got = gpu.read(out, np.zeros(40, np.uint32))
        text = " ".join(f"{word:x}" for word in got)
        yield f"bf16 products 2^-149 and -2^-s, s = 150 to 189, C = {name}: {text}"


# ---- abs and neg of f32 NaNs ---------------------------------------------------------------------------------------------

SIGN = """.visible .entry k(.param .u64 io) { .reg .b64 %x<4>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .pred %p;
ld.param.u64 %x1,[io]; ld.global.b32 %r1,[%x1]; mov.b32 %f1,%r1; setp.ne.u32 %p,%r1,0;
GUARD abs.f32 %f2,%f1; GUARD neg.f32 %f3,%f1; MORE
mov.b32 %r2,%f2; mov.b32 %r3,%f3; st.global.b32 [%x1+4],%r2; st.global.b32 [%x1+8],%r3; ret; }"""


def ask_signs_of_nan(gpu: Gpu) -> Iterator[str]:
    ways = (
        ("alone", "", ""),
        ("an add.f32 of 0 behind", "", "add.f32 %f2,%f2,0f00000000; add.f32 %f3,%f3,0f00000000;"),
        ("guarded", "@%p", ""),
    )
    for (name, guard, more), level in itertools.product(ways, (4, 0)):
        text = SIGN.replace("GUARD", guard).replace("MORE", more).replace("{ .reg", "{\n.reg", 1)
        if guard:
            text = text.replace("mov.b32 %f1,%r1;", "mov.b32 %f1,%r1; mov.f32 %f2,%f1; mov.f32 %f3,%f1;")
        answers = []
        for pattern in (0xFFC12345, 0x7F800001, 0xFF800001, 0x7FC00001):
            io = gpu.memory(np.array([pattern, 0, 0], np.uint32))
            gpu.launch(gpu.kernel(text, level), (1, 1, 1), 1, io)
            _, absolute, negated = gpu.read(io, np.zeros(3, np.uint32))
            answers.append(f"{pattern:08x}: abs {absolute:08x} neg {negated:08x}")
        yield f"{name}, level {level}: {'; '.join(answers)}"


# ---- multicast: what a bit of the mask is --------------------------------------------------------------------------------

MULTICAST = """.visible .entry k(.param .u64 in, .param .u64 out) .reqnctapercluster 2,1,3 {
.reg .b64 %x<6>; .reg .b32 %r<12>; .reg .b16 %h1; .reg .pred %p,%q; .shared .align 128 .b8 s[96]; .shared .align 8 .b64 b;
ld.param.u64 %x1,[in]; ld.param.u64 %x2,[out]; mov.u32 %r1,%cluster_ctarank; mov.u32 %r2,s; mov.u32 %r3,b;
mbarrier.init.shared::cta.b64 [%r3],1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r3],16;
barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p,%r1,0; mov.u32 %r4,0; @!%p bra W;
L: shl.b32 %r5,1,%r4; cvt.u16.u32 %h1,%r5; shl.b32 %r6,%r4,4; cvt.u64.u32 %x3,%r6; add.u64 %x3,%x3,%x1;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2],[%x3],16,[%r3],%h1;
add.u32 %r4,%r4,1; setp.lt.u32 %q,%r4,6; @%q bra L;
W: mbarrier.try_wait.parity.shared::cta.b64 %p,[%r3],0; @!%p bra W; ld.shared.b32 %r7,[%r2];
mov.u32 %r8,%ctaid.x; mov.u32 %r9,%ctaid.y; mov.u32 %r10,%ctaid.z; shl.b32 %r11,%r10,1; add.u32 %r11,%r11,%r9;
shl.b32 %r11,%r11,2; add.u32 %r11,%r11,%r8; mul.wide.u32 %x4,%r11,8; add.u64 %x2,%x2,%x4; st.global.v2.u32 [%x2],{%r1,%r7};
barrier.cluster.arrive; barrier.cluster.wait; ret; }"""


def ask_multicast(gpu: Gpu) -> Iterator[str]:
    blocks = np.repeat(np.arange(6, dtype=np.uint32), 4)
    pairs = np.zeros((24, 2), np.uint32)
    out = gpu.memory(pairs)
    gpu.launch(gpu.kernel(MULTICAST), (4, 2, 3), 1, gpu.memory(blocks), out)
    pairs = gpu.read(out, pairs)
    equal = bool((pairs[:, 0] == pairs[:, 1]).all())
    yield f"cluster (2,1,3), grid (4,2,3): %cluster_ctarank and the bit that reached it, by %ctaid: {pairs.tolist()}; {equal}"


# ---- tensor maps ---------------------------------------------------------------------------------------------------------

LOAD = """.visible .entry k(.param .u64 out, .param .u32 bytes, .param .s32 c0, .param .align 64 .b8 map[128]) {
.reg .b64 %x<6>; .reg .b32 %r<12>; .reg .pred %p; .shared .align 1024 .b8 s[4096]; .shared .align 8 .b64 b;
ld.param.u64 %x1,[out]; ld.param.u32 %r1,[bytes]; ld.param.s32 %r2,[c0]; mov.b64 %x2,map; cvta.param.u64 %x2,%x2; mov.u32 %r3,s;
mov.u32 %r4,b; mov.u32 %r5,0;
F: add.u32 %r6,%r3,%r5; st.shared.b32 [%r6],0xCCCCCCCC; add.u32 %r5,%r5,4; setp.lt.u32 %p,%r5,4096; @%p bra F;
mbarrier.init.shared::cta.b64 [%r4],1; fence.proxy.async; mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r4],%r1;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3],[%x2,{%r2,0}],[%r4];
W: mbarrier.try_wait.parity.shared::cta.b64 %p,[%r4],0; @!%p bra W; mov.u32 %r5,0;
D: add.u32 %r6,%r3,%r5; ld.shared.b32 %r7,[%r6]; cvt.u64.u32 %x3,%r5; add.u64 %x3,%x3,%x1; st.global.b32 [%x3],%r7;
add.u32 %r5,%r5,4; setp.lt.u32 %p,%r5,4096; @%p bra D; ret; }"""
TYPES = {  # CUtensorMapDataType
    "UINT8": 0,
    "UINT32": 2,
    "INT64": 5,
    "FLOAT32": 7,
    "FLOAT64": 8,
    "FLOAT32_FTZ": 10,
    "TFLOAT32": 11,
    "TFLOAT32_FTZ": 12,
    "16U4_ALIGN8B": 13,
    "16U4_ALIGN16B": 14,
    "16U6_ALIGN16B": 15,
}


class TensorMap(ctypes.Structure):
    _fields_ = (("words", ctypes.c_uint32 * 32),)


def aligned_map() -> tuple[TensorMap, Any]:
    """A map at 64 bytes, and what keeps its memory."""
    memory = ctypes.create_string_buffer(192)
    return TensorMap.from_buffer(memory, -ctypes.addressof(memory) % 64), memory


def array(kind: Any, values: Any) -> Any:
    values = tuple(values)
    return (kind * len(values))(*values)


def encode(
    gpu: Gpu, kind: str, base: int, sizes: Any, strides: Any, box: Any, steps: Any, *, swizzle: int = 0, fill: int = 0
) -> TensorMap | int:
    """A tiled map, or the driver's error."""
    made, kept = aligned_map()
    arguments = (
        TYPES[kind],
        len(sizes),
        ctypes.c_void_p(base),
        array(ctypes.c_uint64, sizes),
        array(ctypes.c_uint64, strides),
        array(ctypes.c_uint32, box),
        array(ctypes.c_uint32, steps),
    )
    status = gpu.cu.cuTensorMapEncodeTiled(ctypes.byref(made), *arguments, 0, swizzle, 0, fill)
    copy = TensorMap.from_buffer_copy(made)
    del made, kept
    return int(status) or copy


def words(made: TensorMap | int) -> str:
    if isinstance(made, int):
        return f"error {made}"
    return " ".join(f"w{i}={word:x}" for i, word in enumerate(made.words) if word and i > 1)


def ask_boxes(gpu: Gpu) -> Iterator[str]:
    source = gpu.memory(np.arange(1, 4097, dtype=np.uint32))
    out = gpu.memory(np.zeros(1024, np.uint32))
    function = gpu.kernel(LOAD)

    def loaded(kind: str, size: int, c0: int, box: tuple[int, int], **more: int) -> Words | str:
        made = encode(gpu, kind, source.value or 0, (64, 16), (64 * size,), box, (1, 1), **more)
        if isinstance(made, int):
            return f"error {made}"
        room, kept = aligned_map()
        ctypes.memmove(ctypes.byref(room), ctypes.byref(made), 128)
        gpu.launch(function, (1, 1, 1), 1, out, ctypes.c_uint32(box[0] * box[1] * size), ctypes.c_int32(c0), room)
        del kept
        return gpu.read(out, np.zeros(1024, np.uint32))

    for kind, size in (("FLOAT32", 4), ("FLOAT32_FTZ", 4), ("TFLOAT32", 4), ("TFLOAT32_FTZ", 4), ("FLOAT64", 8)):
        got = loaded(kind, size, -16 // size, (32 // size, 1), fill=1)
        yield f"NaN fill, {kind}: {got if isinstance(got, str) else ' '.join(f'{word:08x}' for word in got[:8])}"
    for swizzle, name in ((1, "32B"), (2, "64B"), (3, "128B")):
        got = loaded("UINT32", 4, 0, (4, 8), swizzle=swizzle)
        if isinstance(got, str):
            yield f"{name} swizzle, rows of 16 bytes: {got}"
            continue
        places = {int(word): 4 * i for i, word in enumerate(got) if word != 0xCCCCCCCC}
        rows = [places.get(64 * row + 1) for row in range(8)]
        yield f"{name} swizzle, 8 rows of 16 bytes: each row's first word at byte {rows}"


def ask_encodings(gpu: Gpu) -> Iterator[str]:
    base = 1 << 32
    for kind, size in (("INT64", 8), ("TFLOAT32", 4), ("TFLOAT32_FTZ", 4), ("FLOAT32_FTZ", 4)):
        yield f"{kind}: {words(encode(gpu, kind, base, (64, 16), (64 * size,), (16, 8), (1, 1)))}"
    for kind, row in (("16U4_ALIGN8B", 64), ("16U4_ALIGN16B", 128), ("16U6_ALIGN16B", 96)):
        made = encode(gpu, kind, base, (128, 16), (row,), (128, 8), (1, 1))
        yield f"{kind}, 128 x 16, box 128 x 8: {words(made)}"
    for dimension, step in itertools.product(range(3), (1, 2, 3, 5, 8)):
        steps = [1, 1, 1]
        steps[dimension] = step
        made = encode(gpu, "UINT8", base, (64, 64, 64), (64, 4096), (16, 10, 6), steps)
        yield f"UINT8, box 16 x 10 x 6, element stride {step} in dimension {dimension}: {words(made)}"
    for rank, pixels in ((3, 257), (4, 64), (5, 1024), (5, 257)):
        made, kept = aligned_map()
        spatial = rank - 2
        arguments = (
            TYPES["UINT8"],
            rank,
            ctypes.c_void_p(base),
            array(ctypes.c_uint64, [64] * rank),
            array(ctypes.c_uint64, [64 ** (i + 1) for i in range(rank - 1)]),
            array(ctypes.c_int, [-1, -2, -3][:spatial]),
            array(ctypes.c_int, [-4, -5, -6][:spatial]),
            32,
            pixels,
            array(ctypes.c_uint32, [1, 2, 3, 1, 1][:rank]),
        )
        status = gpu.cu.cuTensorMapEncodeIm2col(ctypes.byref(made), *arguments, 0, 0, 0, 0)
        said = words(TensorMap.from_buffer_copy(made)) if not status else f"error {status}"
        del made, kept
        yield f"im2col rank {rank}, {pixels} pixels, 32 channels, lower -1 -2 -3, upper -4 -5 -6, strides 1 2 3: {said}"


QUESTIONS: dict[str, Callable[[Gpu], Iterator[str]]] = {
    "descriptors of wgmma": ask_wgmma_descriptors,
    "how long mbarrier.try_wait waits": ask_try_wait,
    "the pool of setmaxnreg": ask_setmaxnreg,
    "tiny products": ask_tiny_products,
    "signs of NaN": ask_signs_of_nan,
    "multicast": ask_multicast,
    "boxes": ask_boxes,
    "tensor maps": ask_encodings,
}


def main() -> None:
    gpu = Gpu()
    print(gpu.name)
    for title, ask in QUESTIONS.items():
        if sys.argv[1:] and not any(word in title for word in sys.argv[1:]):
            continue
        print(f"\n{title}")
        try:
            for line in ask(gpu):
                print(f"  {line}", flush=True)
        except RuntimeError as problem:
            print(f"  {problem}")


if __name__ == "__main__":
    main()
