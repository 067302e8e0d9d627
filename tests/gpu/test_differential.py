"""The executor against the GPU: each scalar instruction that both run, on special and random values, bit for bit.

The executor's answer and the GPU's must be equal; NaNs count as equal whatever their payload. The `.approx` instructions are held
to the manual's error bounds around the exact value on both machines besides.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, types

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU here")

THREADS, COUNT = 128, 8192
INTEGERS = ("u16", "u32", "u64", "s16", "s32", "s64")
ALL_INTEGERS = ("u8", "s8", *INTEGERS)
ROUNDINGS = ("rn", "rz", "rm", "rp")


def width(name: str) -> int:
    return int(name.lstrip("abefsu"))


def storage(name: str) -> str:
    """The type that arrays hold these bits as; 8-bit values travel in the low bytes of 32-bit words."""
    return f"s{max(width(name), 16) if name not in ('u8', 's8') else 32}"


def run(
    spelling: str,
    result: str,
    sources: tuple[str, ...],
    arrays: tuple[np.ndarray, ...],
    write: Callable[..., None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """`spelling` on the arrays, thread by thread: the executor's answer and the GPU's, as raw bits."""
    tiles = [Tile(COUNT, getattr(types, storage(t))) for t in sources]

    out_tile = Tile(COUNT, getattr(types, storage(result)))

    def body(*tensors):
        pointers = ptx.global_ptrs(*tensors)
        index = reg.from_(ptx.special.ctaid.x(), types.u32) * THREADS + reg.from_(ptx.special.tid.x(), types.u32)
        values = []
        for pointer, name in zip(pointers, sources, strict=False):
            bits = width(storage(name))
            value = reg.scalar(getattr(types, name if bits == width(name) else storage(name)))
            getattr(ptx.inst.ld.global_, f"b{bits}")(value, ptx.addr(pointer + index * (bits // 8)))
            values.append(value)
        bits = width(storage(result))
        out = reg.scalar(getattr(types, result if bits == width(result) else storage(result)))
        if write is None:
            instruction = ptx.inst
            for word in spelling.split("."):
                instruction = getattr(instruction, word + "_" if word in ("and", "or", "xor", "not") else word)
            instruction(out, *values)
        else:
            write(out, *values)
        getattr(ptx.inst.st.global_, f"b{bits}")(ptx.addr(pointers[-1] + index * (bits // 8)), out)
        ptx.ret()

    names = "ABCDEFG"[: len(sources) + 1]
    scope: dict[str, object] = {"body": body}
    exec(f"def differential({', '.join(names)}):\n    body({', '.join(names)})", scope)  # a kernel's tensors are its parameters
    k = kernel(in_specs=tiles, out_specs=[out_tile], grid=COUNT // THREADS, block=THREADS, arch="sm_90a")(scope["differential"])
    cpu = k(*arrays)
    gpu = k(*(torch.from_numpy(a).cuda() for a in arrays)).cpu().numpy()
    return cpu, gpu


# ---- values ----------------------------------------------------------------------------------------------------------


def special(name: str) -> np.ndarray:
    """Bit patterns worth trying, as the storage type."""
    bits, holder = width(name), np.dtype(f"i{width(storage(name)) // 8}")
    if name[0] in "bf":
        mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[name]
        one = ((1 << (bits - 2 - mantissa)) - 1) << mantissa
        top = ((1 << (bits - 1 - mantissa)) - 1) << mantissa  # infinity
        half = 1 << (mantissa - 1)
        least = 1 << mantissa  # the least normal
        positive = [
            0,
            1,
            2,
            least - 1,
            least,
            least + 1,
            one - 1,
            one,
            one + 1,
            one + half,
            top - least,
            top - 1,
            top,
            top + half,
        ]
        positive += [one + ((k << mantissa) | half) for k in range(1, 12)]  # 3, 6, 12 …: in range of the integers
        patterns = [p | s << (bits - 1) for p in positive for s in (0, 1)]
    else:
        edge = 1 << (bits - 1)
        patterns = [0, 1, 2, 3, 7, 10, 255, 256, edge - 1, edge, edge + 1, 2 * edge - 1, 2 * edge - 2, 2 * edge - 7]
    unsigned = np.array([p % (1 << (8 * holder.itemsize)) for p in patterns], dtype=f"u{holder.itemsize}")
    return unsigned.view(holder)


def values(names: tuple[str, ...], seed: int = 1) -> tuple[np.ndarray, ...]:
    """All pairs of special values first, then random bits, small numbers and numbers near each other."""
    rng = np.random.default_rng(seed)
    columns = []
    grids = np.meshgrid(*[special(n) for n in names[:2]], indexing="ij")
    for i, name in enumerate(names):
        holder = np.dtype(f"i{width(storage(name)) // 8}")
        column = rng.integers(0, 256, size=COUNT * holder.itemsize, dtype=np.uint8).view(holder).copy()
        if name[0] not in "bf":
            column[COUNT // 2 :] >>= rng.integers(0, width(name), size=COUNT // 2).astype(holder)
        elif name == "f32":
            column[COUNT // 2 :] = rng.standard_normal(COUNT // 2).astype(np.float32).view(np.int32)
        elif name == "f64":
            column[COUNT // 2 :] = rng.standard_normal(COUNT // 2).view(np.int64)
        pairs = grids[i].ravel() if i < 2 else rng.choice(special(name), grids[0].size)
        n = min(len(pairs), COUNT // 2)
        column[:n] = pairs[:n]
        columns.append(column)
    return tuple(columns)


def is_nan(bits: np.ndarray, name: str) -> np.ndarray:
    mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[name]
    magnitude = bits & ((1 << (width(name) - 1)) - 1)
    return magnitude > (((1 << (width(name) - 1 - mantissa)) - 1) << mantissa)


def agree(
    spelling: str,
    result: str,
    sources: tuple[str, ...],
    write: Callable[..., None] | None = None,
    arrays: tuple[np.ndarray, ...] | None = None,
) -> None:
    arrays = arrays or values(sources)
    cpu, gpu = run(spelling, result, sources, arrays, write)
    same = cpu == gpu
    if result[0] in "f" or result == "bf16":
        same |= is_nan(cpu, result) & is_nan(gpu, result)
    if not same.all():
        first = int(np.argmin(same))
        seen = ", ".join(f"{int(a[first]) & ((1 << width(storage(s))) - 1):#x}" for a, s in zip(arrays, sources, strict=True))
        machines = ", ".join(f"{m} {int(bits[first]) & 0xFFFFFFFFFFFFFFFF:#x}" for m, bits in (("executor", cpu), ("GPU", gpu)))
        pytest.fail(f"{spelling} of {seen}: {machines}; {(~same).sum()} of {COUNT} differ")


# ---- integers, logic, comparison -------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_name", INTEGERS)
@pytest.mark.parametrize("op", ["add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"])
def test_integer_pairs(op: str, type_name: str) -> None:
    agree(f"{op}.{type_name}", type_name, (type_name, type_name))


@pytest.mark.parametrize("op", ["mad.lo", "mad.hi"])
@pytest.mark.parametrize("type_name", INTEGERS)
def test_integer_triples(op: str, type_name: str) -> None:
    agree(f"{op}.{type_name}", type_name, (type_name,) * 3)


@pytest.mark.parametrize(("narrow", "wide"), [("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")])
def test_wide(narrow: str, wide: str) -> None:
    agree(f"mul.wide.{narrow}", wide, (narrow, narrow))
    agree(f"mad.wide.{narrow}", wide, (narrow, narrow, wide))


def test_saturating() -> None:
    agree("add.sat.s32", "s32", ("s32", "s32"))
    agree("sub.sat.s32", "s32", ("s32", "s32"))


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_logic_and_shifts(bits: int) -> None:
    for op in ("and", "or", "xor"):
        agree(f"{op}.b{bits}", f"u{bits}", (f"u{bits}",) * 2)
    agree(f"not.b{bits}", f"u{bits}", (f"u{bits}",))
    for op in ("shl.b", "shr.b", "shr.u", "shr.s"):
        agree(f"{op}{bits}", f"u{bits}", (f"u{bits}", "u32"))
    for op in ("abs", "neg"):
        agree(f"{op}.s{bits}", f"s{bits}", (f"s{bits}",))


def chosen(compare: str) -> Callable[..., None]:
    def write(out, a, b):
        p = reg.scalar(types.pred)
        instruction = ptx.inst.setp
        for word in compare.split("."):
            instruction = getattr(instruction, word)
        instruction(p, a, b)
        ptx.inst.selp.u32(out, 1, 0, p)

    return write


@pytest.mark.parametrize("type_name", [*INTEGERS, "f32", "f64"])
def test_comparisons(type_name: str) -> None:
    names = ["eq", "ne", "lt", "le", "gt", "ge"]
    more = {"f": ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"], "u": ["lo", "ls", "hi", "hs"]}
    names += more.get(type_name[0], [])
    for name in names:
        agree(f"setp.{name}.{type_name}", "u32", (type_name,) * 2, chosen(f"{name}.{type_name}"))
    if type_name == "f32":
        agree("setp.lt.ftz.f32", "u32", ("f32", "f32"), chosen("lt.ftz.f32"))


def follow(spelling: str):
    """The instruction that a spelling names, behind `ptx.inst`."""
    instruction = ptx.inst
    for word in spelling.split("."):
        instruction = getattr(instruction, word + "_" if word in ("and", "or", "xor", "not") else word)
    return instruction


def test_24_bits_and_differences() -> None:
    for mode, t in itertools.product(("lo", "hi"), ("u32", "s32")):
        agree(f"mul24.{mode}.{t}", t, (t, t))
        agree(f"mad24.{mode}.{t}", t, (t, t, t))
    agree("mad24.hi.sat.s32", "s32", ("s32",) * 3)
    agree("mad.hi.sat.s32", "s32", ("s32",) * 3)
    for t in INTEGERS:
        agree(f"sad.{t}", t, (t, t, t))
    for bits in (16, 32, 64):
        agree(f"cnot.b{bits}", f"u{bits}", (f"u{bits}",))


@pytest.mark.parametrize("bits", [32, 64])
def test_bits(bits: int) -> None:
    for op in ("popc", "clz"):
        agree(f"{op}.b{bits}", "u32", (f"u{bits}",))
    agree(f"brev.b{bits}", f"u{bits}", (f"u{bits}",))
    for t in (f"u{bits}", f"s{bits}"):
        agree(f"bfind.{t}", "u32", (t,))
        agree(f"bfind.shiftamt.{t}", "u32", (t,))
        for below in (80, 256):  # up to 255, as the manual asks
            agree(f"bfe.{t}", t, (t, "u32", "u32"), arrays=small((t, "u32", "u32"), below))
    sources = (f"u{bits}", f"u{bits}", "u32", "u32")
    for below in (80, 256):
        agree(f"bfi.b{bits}", f"u{bits}", sources, arrays=small(sources, below))


def small(names: tuple[str, ...], below: int) -> tuple[np.ndarray, ...]:
    """Values whose last two columns lie below a number."""
    rng = np.random.default_rng(2)
    columns = values(names)
    return (*columns[:-2], *(rng.integers(0, below, COUNT).astype(c.dtype) for c in columns[-2:]))


def test_fields_and_bytes() -> None:
    for mode in ("clamp", "wrap"):
        agree(f"bmsk.{mode}.b32", "u32", ("u32", "u32"))
        agree(f"bmsk.{mode}.b32", "u32", ("u32", "u32"), arrays=small(("u32", "u32"), 40))
        for t in ("u32", "s32"):
            agree(f"szext.{mode}.{t}", t, (t, "u32"))
            agree(f"szext.{mode}.{t}", t, (t, "u32"), arrays=small((t, "u32"), 40))
        for direction in ("l", "r"):
            agree(f"shf.{direction}.{mode}.b32", "u32", ("u32",) * 3)
            agree(f"shf.{direction}.{mode}.b32", "u32", ("u32",) * 3, arrays=small(("u32",) * 3, 40))
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        agree(f"prmt.b32{mode}", "u32", ("u32",) * 3)
    # which set bit: a base up to 31, as the manual asks
    masks, bases, counts = small(("u32", "u32", "s32"), 32)
    agree("fns.b32", "u32", ("u32", "u32", "s32"), arrays=(masks, bases, counts))
    agree("fns.b32", "u32", ("u32", "u32", "s32"), arrays=(masks, bases, -counts))
    offsets = np.maximum(values(("u32", "u32", "s32"))[2], -(2**31) + 1)  # the least has no opposite (facts.md)
    agree("fns.b32", "u32", ("u32", "u32", "s32"), arrays=(masks, bases, offsets))


def test_three_operand_logic() -> None:
    for table in range(256):
        agree(
            f"lop3.b32 {table:#x}",
            "u32",
            ("u32",) * 3,
            lambda out, a, b, c, table=table: ptx.inst.lop3.b32(out, a, b, c, table),
        )
    for op, table in itertools.product(("and_", "or_"), (0, 1, 0x80, 0x96, 0xFF)):

        def write(out, a, b, c, op=op, table=table):
            p, q, t, flag = reg.scalar(types.pred), reg.scalar(types.pred), reg.scalar(types.b32), reg.scalar(types.u32)
            ptx.inst.setp.lt.s32(q, c, 0)
            getattr(ptx.inst.lop3, op).b32(t | p, a, b, c, table, q)
            ptx.inst.selp.u32(flag, 1, 0, p)
            ptx.inst.xor_.b32(out, t, flag)

        agree(f"lop3.{op}b32 {table:#x}", "u32", ("u32",) * 3, write)


def test_packed_integers() -> None:
    for a, b in itertools.product(("u32", "s32"), repeat=2):
        agree(f"dp4a.{a}.{b}", "s32", (a, b, "s32"))
        for mode in ("lo", "hi"):
            agree(f"dp2a.{mode}.{a}.{b}", "s32", (a, b, "s32"))
    for op in ("add", "min", "max"):
        for t in ("u16x2", "s16x2"):
            agree(f"{op}.{t}", "b32", ("b32", "b32"), arrays=values(("u32", "u32")))
    for op in ("min", "max"):
        agree(f"{op}.relu.s16x2", "b32", ("b32", "b32"), arrays=values(("u32", "u32")))
        agree(f"{op}.relu.s32", "s32", ("s32", "s32"))


@pytest.mark.parametrize("type_name", ["u32", "s32", "u64", "s64"])
def test_carries(type_name: str) -> None:
    """Each instruction with a flag from the one before it, and its own flag behind it."""

    def chain(*steps: str) -> Callable[..., None]:
        def write(out, a, b, c):
            t = reg.scalar(getattr(types, type_name))
            for i, step in enumerate(steps):
                sources = (a, b, c) if step.startswith("mad") else (a, b) if i == 0 else (c, a)
                follow(f"{step}.{type_name}")(out if i == len(steps) - 1 else t, *sources)
            if ".cc" in steps[-1]:
                getattr(ptx.inst.mov, f"b{width(type_name)}")(t, out)
                follow(f"addc.{type_name}")(out, t, t)

        return write

    first = ["add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"]
    second = ["addc", "addc.cc", "subc", "subc.cc", "madc.lo", "madc.lo.cc", "madc.hi", "madc.hi.cc"]
    for one in first:
        agree(f"{one}.{type_name}", type_name, (type_name,) * 3, chain(one))
        for other in second:
            agree(f"{one}, {other}.{type_name}", type_name, (type_name,) * 3, chain(one, other))


@pytest.mark.parametrize("type_name", [*INTEGERS, "b16", "b32", "b64", "f32", "f64"])
def test_comparisons_combined(type_name: str) -> None:
    names = ["eq", "ne"] if type_name[0] == "b" else ["eq", "ne", "lt", "le", "gt", "ge"]
    more = {"f": ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"], "u": ["lo", "ls", "hi", "hs"]}
    names += more.get(type_name[0], [])
    held = type_name.replace("b", "u") if type_name[0] == "b" else type_name
    for name, by, ftz in itertools.product(names, ("", "and", "or", "xor"), ("", "ftz")):
        if ftz and type_name != "f32":
            continue
        words = [name] + ([by] if by else []) + ([ftz] if ftz else [])
        sources = (held, held, "u32") if by else (held, held)

        def pair(out, a, b, c=None, words=words):
            p, q, r = (reg.scalar(types.pred) for _ in range(3))
            operands = (a, b)
            if c is not None:
                ptx.inst.setp.lt.s32(r, c, 0)
                operands = (a, b, r)
            follow(".".join(["setp", *words, type_name]))(p | q, *operands)
            x, y = reg.scalar(types.u32), reg.scalar(types.u32)
            ptx.inst.selp.u32(x, 1, 0, p)
            ptx.inst.selp.u32(y, 2, 0, q)
            ptx.inst.add.u32(out, x, y)

        agree(f"setp.{'.'.join(words)}.{type_name}", "u32", sources, pair)
        for result in ("u32", "s32", "f32"):

            def number(out, a, b, c=None, words=words, result=result):
                operands = (a, b)
                if c is not None:
                    r = reg.scalar(types.pred)
                    ptx.inst.setp.lt.s32(r, c, 0)
                    operands = (a, b, r)
                follow(".".join(["set", *words, result, type_name]))(out, *operands)

            agree(f"set.{'.'.join(words)}.{result}.{type_name}", result, sources, number)


@pytest.mark.parametrize("type_name", [*INTEGERS, "f32", "f64"])
def test_choices_by_sign(type_name: str) -> None:
    agree(f"slct.{type_name}.s32", type_name, (type_name, type_name, "s32"))
    agree(f"slct.{type_name}.f32", type_name, (type_name, type_name, "f32"))
    agree(f"slct.ftz.{type_name}.f32", type_name, (type_name, type_name, "f32"))


# ---- video: parts of registers are spelled in PTX ---------------------------------------------------------------------

VIDEO_TYPES = tuple(itertools.product(("u32", "s32"), repeat=3))
WORD_PARTS = ("", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1")


def video(*instructions: str) -> None:
    """Instructions with d, a, b and c for registers: each thread mixes their results into one word."""

    def write(out, a, b, c):
        d, factor = reg.scalar(types.u32), reg.scalar(types.u32)
        ptx.inst.mov.b32(out, 0)
        ptx.inst.mov.b32(factor, 0x01000193)
        for text in instructions:
            head, operands = text.split(" ", 1)
            named = {"d": d, "a": a, "b": b, "c": c}
            spelled = []
            for operand in operands.split(", "):
                name = operand.lstrip("-")
                spelled.append(operand[: len(operand) - len(name)] + f"{named[name[0]].name}{name[1:]}")
            ptx.inst.mov.b32(d, 0)
            ptx.raw(f"{head} {', '.join(spelled)};")
            ptx.inst.mad.lo.u32(out, out, factor, d)

    rng = np.random.default_rng(9)
    columns = values(("u32",) * 3)
    for column in columns:  # bytes that are special each
        chosen = rng.choice(np.array([0, 1, 0x7F, 0x80, 0x81, 0xFF], np.uint8), (COUNT // 4, 4))
        column[: COUNT // 4] = chosen.view(np.int32).ravel()
    columns[1][COUNT // 4 : COUNT // 2] = rng.integers(0, 70, COUNT // 4)
    agree("; ".join(instructions), "u32", ("u32",) * 3, write, columns)


@pytest.mark.parametrize("op", ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"])
def test_scalar_video(op: str) -> None:
    rng = np.random.default_rng(4)
    modes = {"vshl": (".clamp", ".wrap"), "vshr": (".clamp", ".wrap"), "vset": (".eq", ".ne", ".lt", ".le", ".gt", ".ge")}
    for d, a, b in VIDEO_TYPES:
        if (op in ("vshl", "vshr") and b == "s32") or (op == "vset" and d == "s32"):
            continue
        for mode, sat in itertools.product(modes.get(op, ("",)), ("",) if op == "vset" else ("", ".sat")):
            head = f"{op}.{a}.{b}{mode}" if op == "vset" else f"{op}.{d}.{a}.{b}{sat}{mode}"
            for second in ("", ".add", ".min", ".max"):
                parts = [("", "")] + [tuple(rng.choice(WORD_PARTS, 2)) for _ in range(3)]
                video(*(f"{head}{second} d, a{x}, b{y}{', c' if second else ''}" for x, y in parts))
            video(*(f"{head} d{into}, a{x}, b{y}, c" for into in WORD_PARTS[1:] for x, y in [rng.choice(WORD_PARTS, 2)]))


def test_vmad() -> None:
    rng = np.random.default_rng(5)
    signs = (("", "", ""), ("-", "", ""), ("", "-", ""), ("-", "-", ""), ("", "", "-"))
    for d, a, b in VIDEO_TYPES:
        for sat, scale in itertools.product(("", ".sat"), ("", ".shr7", ".shr15")):
            parts = [("", ""), tuple(rng.choice(WORD_PARTS, 2))]
            plain = [f"vmad.{d}.{a}.{b}{sat}{scale} d, {p}a{x}, {q}b{y}, {r}c" for p, q, r in signs for x, y in parts]
            video(*plain, *(f"vmad.{d}.{a}.{b}.po{sat}{scale} d, a{x}, b{y}, c" for x, y in parts))


@pytest.mark.parametrize("count", [2, 4])
def test_video_of_halves_and_bytes(count: int) -> None:
    rng = np.random.default_rng(6)
    letter = ".h" if count == 2 else ".b"

    def drawn() -> str:
        digits = [letter + "".join(str(rng.integers(0, 2 * count)) for _ in range(count)) for _ in range(2)]
        kept = [str(i) for i in reversed(range(count)) if rng.random() < 0.5] or ["0"]
        return f"d{letter}{''.join(kept)}, a{digits[0]}, b{digits[1]}, c"

    for d, a, b in VIDEO_TYPES:
        for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
            heads = [f"{op}{count}.{d}.{a}.{b}{more}" for more in ("", ".sat", ".add")]
            video(*(f"{head} {operands}" for head in heads for operands in ("d, a, b, c", drawn(), drawn())))
        if d == "u32":
            for order, more in itertools.product(("eq", "ne", "lt", "le", "gt", "ge"), ("", ".add")):
                video(f"vset{count}.{a}.{b}.{order}{more} d, a, b, c", f"vset{count}.{a}.{b}.{order}{more} {drawn()}")


# ---- floating point --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_f32_pairs(op: str) -> None:
    for rounding, ftz, sat in itertools.product(("", *(f".{r}" for r in ROUNDINGS)), ("", ".ftz"), ("", ".sat")):
        agree(f"{op}{rounding}{ftz}{sat}.f32", "f32", ("f32", "f32"))
    for rounding in ROUNDINGS:
        agree(f"{op}.{rounding}.f64", "f64", ("f64", "f64"))


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_rounded_once(rounding: str) -> None:
    for ftz, sat in itertools.product(("", ".ftz"), ("", ".sat")):
        agree(f"fma.{rounding}{ftz}{sat}.f32", "f32", ("f32",) * 3)
    for ftz in ("", ".ftz"):
        agree(f"div.{rounding}{ftz}.f32", "f32", ("f32",) * 2)
        agree(f"sqrt.{rounding}{ftz}.f32", "f32", ("f32",))
        agree(f"rcp.{rounding}{ftz}.f32", "f32", ("f32",))
    agree(f"fma.{rounding}.f64", "f64", ("f64",) * 3)


def test_flushed_at_the_edge() -> None:
    """.ftz flushes what is tiny after rounding to 24 bits, the exponent unbounded: results just below 2**-126."""
    rng = np.random.default_rng(5)
    sign = rng.choice([-1, 1], COUNT)
    a = (1 + rng.random(COUNT)).astype(np.float32)
    near_two = (np.float32(2) / a).view(np.int32) + rng.integers(-3, 4, COUNT, dtype=np.int32)
    x = np.ldexp(a, -64).astype(np.float32) * sign.astype(np.float32)
    y = np.ldexp(near_two.view(np.float32), -63).astype(np.float32)
    product = (x.view(np.int32).copy(), y.view(np.int32).copy())
    addend = np.where(rng.random(COUNT) < 0.5, 0, np.ldexp(rng.random(COUNT), -127) * sign).astype(np.float32).view(np.int32)
    numerator = np.ldexp(a, -100).astype(np.float32).view(np.int32).copy()
    denominator = numerator + ((126 << 23) + rng.integers(-2, 3, COUNT, dtype=np.int32))
    large = np.int32(0x7E800000) + rng.integers(-100, 100, COUNT, dtype=np.int32)
    wide = (np.ldexp(1 - rng.random(COUNT) * 2.0 ** -rng.integers(1, 40, COUNT), -126) * sign).view(np.int64)
    for rounding in ROUNDINGS:
        for sat in ("", ".sat"):
            agree(f"mul.{rounding}.ftz{sat}.f32", "f32", ("f32",) * 2, arrays=product)
            agree(f"fma.{rounding}.ftz{sat}.f32", "f32", ("f32",) * 3, arrays=(*product, addend))
        agree(f"div.{rounding}.ftz.f32", "f32", ("f32",) * 2, arrays=(numerator, denominator))
        agree(f"rcp.{rounding}.ftz.f32", "f32", ("f32",), arrays=(large,))
        agree(f"cvt.{rounding}.ftz.f32.f64", "f32", ("f64",), arrays=(wide,))


@pytest.mark.parametrize("op", ["min", "max"])
def test_f32_order(op: str) -> None:
    for ftz, nan in itertools.product(("", ".ftz"), ("", ".NaN")):
        agree(f"{op}{ftz}{nan}.f32", "f32", ("f32",) * 2)


def test_f32_sign() -> None:
    for op, ftz in itertools.product(("abs", "neg"), ("", ".ftz")):
        agree(f"{op}{ftz}.f32", "f32", ("f32",))


# ---- conversions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ALL_INTEGERS)
def test_integer_conversions(to: str) -> None:
    for source in ALL_INTEGERS:
        agree(f"cvt.{to}.{source}", to, (source,))
    for rounding in ("rni", "rzi", "rmi", "rpi"):
        for ftz in ("", ".ftz"):
            agree(f"cvt.{rounding}{ftz}.{to}.f32", to, ("f32",))
        agree(f"cvt.{rounding}.{to}.f64", to, ("f64",))
    for rounding in ROUNDINGS:
        agree(f"cvt.{rounding}.f32.{to}", "f32", (to,))
        agree(f"cvt.{rounding}.f64.{to}", "f64", (to,))


def test_float_conversions() -> None:
    for rounding, ftz in itertools.product(ROUNDINGS, ("", ".ftz")):
        agree(f"cvt.{rounding}{ftz}.f32.f64", "f32", ("f64",))
    for rounding in ("rni", "rzi", "rmi", "rpi"):
        agree(f"cvt.{rounding}.f32.f32", "f32", ("f32",))
    for ftz in ("", ".ftz"):
        agree(f"cvt{ftz}.f64.f32", "f64", ("f32",))
        agree(f"cvt{ftz}.f32.f16", "f32", ("f16",))
    agree("cvt.f32.bf16", "f32", ("bf16",))
    for rounding in ("rn", "rz"):
        agree(f"cvt.{rounding}.f16.f32", "f16", ("f32",))
        agree(f"cvt.{rounding}.bf16.f32", "bf16", ("f32",))
        agree(f"cvt.{rounding}.relu.bf16.f32", "bf16", ("f32",))
        agree(f"cvt.{rounding}.f16x2.f32", "b32", ("f32", "f32"), arrays=finite_pairs())
        agree(f"cvt.{rounding}.bf16x2.f32", "b32", ("f32", "f32"), arrays=finite_pairs())


def finite_pairs() -> tuple[np.ndarray, ...]:
    """Two columns without NaN: packed results are compared as bits."""
    return tuple(np.where(is_nan(c, "f32"), 0, c).astype(np.int32) for c in values(("f32", "f32")))


# ---- halves and their pairs ------------------------------------------------------------------------------------------


def halves(type_name: str, count: int, seed: int = 1) -> tuple[tuple[str, ...], tuple[np.ndarray, ...]]:
    """Sources of a half or pair instruction: their types in registers, and arrays."""
    if not type_name.endswith("x2"):
        return (type_name,) * count, values((type_name,) * count, seed)
    half = type_name.removesuffix("x2")
    low, high = values((half,) * count, seed), values((half,) * count, seed + 1)
    columns = tuple((h[::-1].astype(np.int32) << 16) | (x.astype(np.int32) & 0xFFFF) for x, h in zip(low, high, strict=True))
    return ("b32",) * count, columns


def agree_on_halves(spelling: str, type_name: str, count: int) -> None:
    sources, arrays = halves(type_name, count)
    agree(f"{spelling}.{type_name}", "b32" if type_name.endswith("x2") else type_name, sources, arrays=arrays)


HALVES = ("f16", "f16x2", "bf16", "bf16x2")


@pytest.mark.parametrize("type_name", HALVES)
def test_half_arithmetic(type_name: str) -> None:
    f16 = type_name[0] == "f"
    for op in ("add", "sub", "mul"):
        for rounding, ftz, sat in itertools.product(("", ".rn"), ("", ".ftz") if f16 else ("",), ("", ".sat") if f16 else ("",)):
            agree_on_halves(f"{op}{rounding}{ftz}{sat}", type_name, 2)
    for modifiers in ("", ".ftz", ".sat", ".ftz.sat", ".relu", ".ftz.relu") if f16 else ("", ".relu"):
        agree_on_halves(f"fma.rn{modifiers}", type_name, 3)
    for modifiers in ("", ".relu"):
        agree_on_halves(f"fma.rn.oob{modifiers}", type_name, 3)


@pytest.mark.parametrize("type_name", HALVES)
def test_half_order_and_sign(type_name: str) -> None:
    flushes = ("", ".ftz") if type_name[0] == "f" else ("",)
    for op, ftz, nan, sign in itertools.product(("min", "max"), flushes, ("", ".NaN"), ("", ".xorsign.abs")):
        agree_on_halves(f"{op}{ftz}{nan}{sign}", type_name, 2)
    for op, ftz in itertools.product(("abs", "neg"), flushes):
        agree_on_halves(f"{op}{ftz}", type_name, 1)


@pytest.mark.parametrize("type_name", HALVES)
def test_half_approximations(type_name: str) -> None:
    agree_on_halves("tanh.approx", type_name, 1)
    agree_on_halves("ex2.approx" if type_name[0] == "f" else "ex2.approx.ftz", type_name, 1)


FLOAT_ORDERS = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


@pytest.mark.parametrize("type_name", ["f16", "bf16"])
def test_half_comparisons(type_name: str) -> None:
    for name in FLOAT_ORDERS:
        agree(f"setp.{name}.{type_name}", "u32", (type_name,) * 2, chosen(f"{name}.{type_name}"))
        for result in ("u16", "s32", type_name):
            agree(f"set.{name}.{result}.{type_name}", result, (type_name,) * 2)
        for result in ("u32", f"{type_name}x2"):
            sources, arrays = halves(f"{type_name}x2", 2)
            agree(f"set.{name}.{result}.{type_name}x2", "b32", sources, arrays=arrays)
    if type_name == "f16":
        agree("setp.lt.ftz.f16", "u32", ("f16", "f16"), chosen("lt.ftz.f16"))


def test_comparisons_into_values() -> None:
    for name in FLOAT_ORDERS:
        for result in ("u32", "f32", "f16", "bf16"):
            agree(f"set.{name}.{result}.f64", result, ("f64", "f64"))
        agree(f"set.{name}.bf16.f32", "bf16", ("f32", "f32"))
    for name in ("eq", "lo", "hs"):
        agree(f"set.{name}.bf16.u32", "bf16", ("u32", "u32"))


# ---- f64, classes and signs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_f64_rounded_once(rounding: str) -> None:
    agree(f"div.{rounding}.f64", "f64", ("f64", "f64"))
    agree(f"rcp.{rounding}.f64", "f64", ("f64",))
    agree(f"sqrt.{rounding}.f64", "f64", ("f64",))
    agree(f"mad.{rounding}.f64", "f64", ("f64",) * 3)
    agree(f"mad.{rounding}.f32", "f32", ("f32",) * 3)


def test_order_sign_and_class() -> None:
    for op in ("min", "max"):
        agree(f"{op}.f64", "f64", ("f64", "f64"))
        for ftz, nan in itertools.product(("", ".ftz"), ("", ".NaN")):
            agree(f"{op}{ftz}{nan}.xorsign.abs.f32", "f32", ("f32", "f32"))
    for type_name in ("f32", "f64"):
        agree(f"copysign.{type_name}", type_name, (type_name,) * 2)
        for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):

            def write(out, a, test=test, type_name=type_name):
                p = reg.scalar(types.pred)
                getattr(getattr(ptx.inst.testp, test), type_name)(p, a)
                ptx.inst.selp.u32(out, 1, 0, p)

            agree(f"testp.{test}.{type_name}", "u32", (type_name,), write)
    for op in ("abs", "neg"):
        agree(f"{op}.f64", "f64", ("f64",))


# ---- conversions of halves, f64 and the formats of tensor cores ------------------------------------------------------


@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_half_conversions(half: str) -> None:
    for name in ALL_INTEGERS if half == "f16" else INTEGERS:
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            agree(f"cvt.{rounding}.{name}.{half}", name, (half,))
        for rounding in ROUNDINGS:
            agree(f"cvt.{rounding}.{half}.{name}", half, (name,))
    for rounding in ("", ".rni", ".rzi", ".rmi", ".rpi"):
        agree(f"cvt{rounding}.{half}.{half}", half, (half,))
        agree(f"cvt{rounding}.f64.f64", "f64", ("f64",))
    other = "bf16" if half == "f16" else "f16"
    agree(f"cvt.f64.{half}", "f64", (half,))
    for rounding in ROUNDINGS:
        agree(f"cvt.{rounding}.{half}.f64", half, ("f64",))
        agree(f"cvt.{rounding}.{half}.{other}", half, (other,))
        agree(f"cvt.{rounding}.{half}.f32", half, ("f32",))
        agree(f"cvt.{rounding}.ftz.{half}.f32", half, ("f32",))


def test_saturating_conversions() -> None:
    for name in ALL_INTEGERS:
        agree(f"cvt.rn.sat.f16.{name}", "f16", (name,))
    agree("cvt.sat.f16.f16", "f16", ("f16",))
    agree("cvt.sat.f64.f64", "f64", ("f64",))
    agree("cvt.sat.f64.f16", "f64", ("f16",))
    agree("cvt.rn.sat.f16.f64", "f16", ("f64",))
    for rounding, modifiers in itertools.product(("rn", "rz"), (".relu", ".satfinite", ".relu.satfinite")):
        agree(f"cvt.{rounding}{modifiers}.f16.f32", "f16", ("f32",))


def test_tensor_core_formats() -> None:
    for spelling in ("rna", "rna.satfinite", "rn", "rz", "rn.relu", "rz.relu"):
        agree(f"cvt.{spelling}.tf32.f32", "b32", ("f32",))
    for name, relu in itertools.product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        agree(f"cvt.rn.satfinite{relu}.{name}.f32", "b16", ("f32", "f32"))
        pairs, arrays = halves("f16x2", 1)
        agree(f"cvt.rn.satfinite{relu}.{name}.f16x2", "b16", pairs, arrays=arrays)
        agree(f"cvt.rn{relu}.f16x2.{name}", "b32", ("b16",), arrays=values(("u16",)))
    for name in ("u16", "s16"):
        agree(f"cvt.pack.sat.{name}.s32", "u32", ("s32", "s32"))
    for name in ("u8", "s8", "u4", "s4", "u2", "s2"):
        agree(f"cvt.pack.sat.{name}.s32.b32", "u32", ("s32", "s32", "u32"))


# ---- approximations: the manual's bounds, on both machines -----------------------------------------------------------


def ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distance to the exact value in units of the result's last place."""
    return np.abs(got.astype(np.float64) - exact) / np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)


APPROXIMATIONS = {
    # op: (exact function, smallest and largest argument tried, bound, what the bound counts)
    "rcp": (lambda x: 1 / x, 1e-30, 1e30, 1.0, "ulp"),
    "sqrt": (np.sqrt, 1e-30, 1e30, 2.0**-22, "relative"),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1e-30, 1e30, 2.0**-22.4, "relative"),
    "ex2": (np.exp2, -60.0, 60.0, 2.0, "ulp"),
    "lg2": (np.log2, 2.5, 1e30, 2.0**-22, "relative"),
    "sin": (np.sin, -np.pi, np.pi, 2.0**-20.5, "absolute"),
    "cos": (np.cos, -np.pi, np.pi, 2.0**-20.5, "absolute"),
    "tanh": (np.tanh, -10.0, 10.0, 2.0**-11, "relative"),
}


@pytest.mark.parametrize("op", APPROXIMATIONS)
def test_approximations(op: str) -> None:
    exact_of, low, high, bound, kind = APPROXIMATIONS[op]
    rng = np.random.default_rng(3)
    x = (np.exp(rng.uniform(np.log(low), np.log(high), COUNT)) if low > 0 else rng.uniform(low, high, COUNT)).astype(np.float32)
    exact = exact_of(x.astype(np.float64))
    for machine, bits in zip(("executor", "GPU"), run(f"{op}.approx.f32", "f32", ("f32",), (x.view(np.int32),)), strict=True):
        got = bits.view(np.float32)
        error = ulps(got, exact) if kind == "ulp" else np.abs(got - exact) / (np.abs(exact) if kind == "relative" else 1)
        worst = f"{error.max():.3g} {kind} at {x[np.argmax(error)]!r}"
        assert error.max() <= bound, f"{op}.approx.f32 on the {machine}: {worst}, bound {bound:.3g}"


@pytest.mark.parametrize("op", APPROXIMATIONS)
def test_approximations_bit_for_bit(op: str) -> None:
    for form in [f"{op}.approx.f32"] + ([f"{op}.approx.ftz.f32"] if op != "tanh" else []):
        for seed in (1, 2):
            agree(form, "f32", ("f32",), arrays=values(("f32",), seed))
            ordinary = (2 ** np.random.default_rng(seed).uniform(-20, 7, COUNT)).astype(np.float32)
            agree(form, "f32", ("f32",), arrays=(ordinary.view(np.int32),))


def test_quotients_and_coarse_values_bit_for_bit() -> None:
    for form, ftz in itertools.product(("approx", "full"), ("", ".ftz")):
        agree(f"div.{form}{ftz}.f32", "f32", ("f32", "f32"))
    for spelling in ("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64"):
        agree(spelling, "f64", ("f64",))


@pytest.mark.parametrize("op", APPROXIMATIONS)
def test_approximations_of_special_values(op: str) -> None:
    """Zeros, infinities, NaN, subnormals: what the manual's tables fix must be equal bit for bit."""
    fixed = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    if op in ("sqrt", "rsqrt", "lg2"):
        fixed = np.append(fixed, np.float32(-1.0))
    x = np.resize(fixed, COUNT)
    forms = [f"{op}.approx.f32"] + ([f"{op}.approx.ftz.f32"] if op != "tanh" else [])
    for form in forms:
        agree(form, "f32", ("f32",), arrays=(x.view(np.int32).copy(),))


# ---- exchange between lanes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode: str) -> None:
    for amount, clamp in itertools.product((0, 1, 3, 16, 31), (0, 31, 0x1F00 | 7, 0x1C1F, 0x1800 | 31)):

        def write(out, a, amount=amount, clamp=clamp):
            p = reg.scalar(types.pred)
            t, flag = reg.scalar(types.b32), reg.scalar(types.u32)
            getattr(ptx.inst.shfl.sync, mode).b32(t | p, a, amount, clamp, -1)
            ptx.inst.selp.u32(flag, 1, 0, p)
            ptx.inst.xor_.b32(out, t, flag)

        agree(f"shfl.sync.{mode}.b32 by {amount}, {clamp:#x}", "u32", ("u32",), write)


def test_votes_and_reductions() -> None:
    def ballot(out, a):
        ptx.inst.vote.sync.ballot.b32(out, (a & 1) == 1, -1)

    def any_all(out, a):
        p, q, all_of, any_of = (reg.scalar(types.pred) for _ in range(4))
        ptx.inst.setp.lt.u32(p, a, 0x20000000)
        ptx.inst.vote.sync.all.pred(all_of, p, -1)
        ptx.inst.vote.sync.any.pred(any_of, p, -1)
        ptx.inst.xor_.pred(q, all_of, any_of)
        ptx.inst.selp.u32(out, 1, 0, q)

    agree("vote.sync.ballot", "u32", ("u32",), ballot)
    agree("vote.sync.all and any", "u32", ("u32",), any_all)
    for op, type_name in itertools.product(("add", "min", "max"), ("u32", "s32")):
        redux = getattr(getattr(ptx.inst.redux.sync, op), type_name)
        agree(f"redux.sync.{op}.{type_name}", type_name, (type_name,), lambda out, a, redux=redux: redux(out, a, -1))
    for op in ("and_", "or_", "xor_"):
        agree(f"redux.sync.{op}.b32", "u32", ("u32",), lambda out, a, op=op: getattr(ptx.inst.redux.sync, op).b32(out, a, -1))
