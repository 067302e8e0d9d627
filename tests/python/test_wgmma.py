"""`ptx.wgmma`: what each helper writes, and what it refuses before anything is written."""

import warnings
from pathlib import Path

import pytest

from pyptx import PtxError, Tile, _ptx, kernel, ptx, reg, smem
from pyptx.types import b1, b32, b64, bf16, e4m3, e5m2, f16, f32, s8, s32, tf32, u8, u32, u64
from pyptx.wgmma_layout import Major

GOLDEN = Path(__file__).parents[1] / "golden" / "write" / "wgmma.ptx"


def lines(ctx) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements]


def operands(line: str) -> list[str]:
    """The operands of an instruction, a vector as one."""
    text, depth, parts = line.rstrip(";").split(" ", 1)[1], 0, [""]
    for c in text:
        depth += (c == "{") - (c == "}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def product(**changes):
    """A product of descriptors, m64n64k16 of bf16 unless changed."""
    given = {"shape": (64, 64, 16), "dtype_d": f32, "dtype_a": bf16, "dtype_b": bf16} | changes
    if "scale_d" not in given:
        given["scale_d"] = reg.scalar(u32) == 0
    for name, dtype in (("a", u64), ("b", b64)):
        if name not in given:
            given[name] = reg.scalar(dtype)
    if "d" not in given:
        given["d"] = reg.array(given["dtype_d"], 32)
    ptx.wgmma.mma_async(**given)


def test_a_factor_in_registers_has_the_type_that_cvt_gives_it(trace) -> None:
    one = reg.scalar(f32, init=1.0)
    product(a=[ptx.let.cvt.rn.bf16x2.f32(one, one) for _ in range(4)])
    product(shape=(64, 64, 8), dtype_a=tf32, dtype_b=tf32, a=[ptx.let.cvt.rna.tf32.f32(one) for _ in range(4)])
    with pytest.raises(PtxError, match=r"what fits is a vector of 4 \.bf16x2 registers"):
        product(a=[reg.scalar(u32) for _ in range(4)])


# -- one instruction each


def test_fence_and_groups(trace) -> None:
    p = reg.scalar(u32) == 0
    ptx.wgmma.fence()
    ptx.wgmma.commit_group()
    ptx.wgmma.wait_group(3)
    ptx.wgmma.wait_group()
    ptx.wgmma.fence(pred=~p)
    assert lines(trace)[1:] == [
        "wgmma.fence.sync.aligned",
        "wgmma.commit_group.sync.aligned",
        "wgmma.wait_group.sync.aligned 3",
        "wgmma.wait_group.sync.aligned 0",
        "@!%p0 wgmma.fence.sync.aligned",
    ]


def test_constants() -> None:
    w = ptx.wgmma
    assert (w.SWIZZLE_NONE, w.SWIZZLE_128B, w.SWIZZLE_64B, w.SWIZZLE_32B) == (0, 1, 2, 3)
    assert w.MASKED_DESC_B128 == 0x4000004000010000


# -- the product


def test_floats_of_16_bits_print_all_eight_operands(trace) -> None:
    product(scale_a=-1, trans_b=1)
    line = lines(trace)[-1]
    assert line.startswith("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%f0, ")
    assert operands(line)[1:] == ["%rd0", "%rd1", "%p0", "-1", "1", "0", "1"] and len(operands(line)) == 8


@pytest.mark.parametrize(
    ("k", "d", "a", "b", "count", "behind"),
    [
        (8, f32, tf32, tf32, 32, ["%p0", "1", "1"]),
        (32, f32, e4m3, e5m2, 32, ["%p0", "1", "1"]),
        (32, s32, s8, u8, 32, ["%p0"]),
        (256, s32, b1, b1, 32, ["%p0"]),
        (16, f32, f16, f16, 32, ["%p0", "1", "1", "0", "0"]),
    ],
)
def test_only_operands_that_the_types_have(trace, ptxas, k, d, a, b, count, behind) -> None:
    product(shape=(64, 64, k), dtype_d=d, dtype_a=a, dtype_b=b, d=reg.array(b32 if d is s32 else d, count))
    line = lines(trace)[-1]
    assert operands(line)[3:] == behind
    assert (".and.popc" in line) == (a is b1)
    assert ".m64n64k" + str(k) in line
    ptx.ret()
    ptxas(trace.finish().text)


def test_f16_accumulators_are_pairs(trace, ptxas) -> None:
    product(dtype_d=f16, dtype_a=f16, dtype_b=f16, d=reg.array(b32, 16))
    assert lines(trace)[-1].count("%r") == 16 + 2  # and two descriptors
    with pytest.raises(ValueError, match=r"`d` of `ptx.wgmma.mma_async` has 32 registers; .*f16.f16.f16` takes 16"):
        product(dtype_d=f16, dtype_a=f16, dtype_b=f16, d=reg.array(b32, 32))
    ptx.ret()
    ptxas(trace.finish().text)


@pytest.mark.parametrize("count", [16, 31, 33, 64])
def test_the_count_of_registers_is_checked(trace, count) -> None:
    before = None
    with pytest.raises(ValueError, match=rf"`d` .* has {count} registers; .* takes 32") as raised:
        accumulator, p, a = reg.array(f32, count), reg.scalar(u32) == 0, smem.wgmma_tile(bf16, (64, 64))
        before = list(trace.statements)
        product(d=accumulator, scale_d=p, a=a)
    assert trace.statements[: len(before)] == before and not any("shr.u64" in line for line in trace.statements)
    assert isinstance(raised.value, PtxError) and raised.value.where[0] == __file__


def test_saturation_and_sparsity(trace, ptxas) -> None:
    product(shape=(64, 64, 32), dtype_d=s32, dtype_a=s8, dtype_b=s8, satfinite=True)
    assert ".s32.s8.s8.satfinite " in lines(trace)[-1]
    product(shape=(64, 64, 32), sparse_metadata=reg.scalar(b32), sparsity_selector=1)
    line = lines(trace)[-1]
    assert line.startswith("wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.bf16.bf16 ")
    assert operands(line)[4:] == ["1", "%p1", "1", "1", "0", "0"]
    ptx.ret()
    ptxas(trace.finish().text)


def test_a_in_registers(trace, ptxas) -> None:
    a = reg.array(b32, 4)
    product(a=a, trans_b=1)
    assert operands(lines(trace)[-1])[1:] == ["{%r0, %r1, %r2, %r3}", "%rd0", "%p0", "1", "1", "1"]
    product(a=list(a))
    with pytest.raises(ValueError, match="no such operand for an a in registers"):
        product(a=a, trans_a=1)
    with pytest.raises(ValueError, match=r"`a` .* has 3 registers; .* takes 4"):
        product(a=[a[0], a[1], a[2]])
    with pytest.raises(ValueError, match=r"`b` .* is registers"):
        product(b=a)
    ptx.ret()
    ptxas(trace.finish().text)


@pytest.mark.parametrize("scale_d", [True, False, 0, 1])
def test_a_number_becomes_a_predicate(trace, scale_d) -> None:
    product(scale_d=scale_d)
    text = lines(trace)
    assert text[-3:-1] == [f"mov.u32 %r0, {int(scale_d)}", "setp.ne.b32 %p0, %r0, 0"]
    assert operands(text[-1])[3] == "%p0"


def test_a_predicate_is_used_as_it_is(trace) -> None:
    p = reg.scalar(u32) == 0
    before = len(trace.statements)
    product(scale_d=p)
    product(scale_d=~p, pred=p)
    text = lines(trace)[before:]
    assert len(text) == 2 and operands(text[0])[3] == "%p0"
    assert text[1].startswith("@%p0 wgmma") and operands(text[1].removeprefix("@%p0 "))[3] == "!%p0"


# -- tiles of shared memory


def test_a_tile_becomes_a_descriptor(trace) -> None:
    a, b = smem.wgmma_tile(bf16, (64, 64)), smem.wgmma_tile(bf16, (64, 64), "MN")
    p = reg.scalar(u32) == 0
    product(a=a, b=b[0], a_k_offset=32, trans_b=1, scale_d=p, d=reg.array(f32, 32))
    assert lines(trace)[1:-1] == [
        "mov.u64 %rd0, smem_0",
        "add.s64 %rd1, %rd0, 32",
        "shr.u64 %rd2, %rd1, 4",
        "and.b64 %rd2, %rd2, 16383",
        f"mov.b64 %rd3, {0x4000004000010000}",
        "or.b64 %rd2, %rd2, %rd3",
        "mov.u64 %rd4, smem_1",
        "shr.u64 %rd5, %rd4, 4",
        "and.b64 %rd5, %rd5, 16383",
        f"mov.b64 %rd6, {0x4000004000010000}",
        "or.b64 %rd5, %rd5, %rd6",
    ]
    assert operands(lines(trace)[-1])[1:3] == ["%rd2", "%rd5"]


def test_a_stage_and_dynamic_memory_are_addressed(ptxas) -> None:
    with _ptx.Trace("test", dynamic_smem=True) as ctx:
        smem.alloc(b32, 64)
        tile = smem.wgmma_tile(bf16, (64, 64))
        stages = smem.alloc_with_layout(bf16, (2, 64, 64), gmma_layout=tile.gmma_layout, gmma_major=Major.K)
        step = reg.scalar(u32, init=32)
        product(a=tile, b=stages[1], b_k_offset=step)
        ptx.ret()
        text = lines(ctx)
        assert text[2:5] == ["mov.u64 %rd0, dyn_smem", "add.s64 %rd0, %rd0, 256", "shr.u64 %rd1, %rd0, 4"]
        assert text[8:13] == [
            "mov.u64 %rd3, dyn_smem",
            f"add.s64 %rd3, %rd3, {256 + 2 * 8192}",
            "cvt.u64.u32 %rd4, %r0",
            "add.s64 %rd5, %rd3, %rd4",
            "shr.u64 %rd6, %rd5, 4",
        ]
        ptxas(ctx.finish().text)


def test_what_no_tile_is(trace) -> None:
    with pytest.raises(ValueError, match="without a layout of wgmma") as raised:
        product(a=smem.alloc(bf16, (64, 64)))
    assert "smem.wgmma_tile" in str(raised.value)
    with pytest.raises(ValueError, match="a descriptor has 64 bits"):
        product(b=reg.scalar(u32))
    with pytest.raises(TypeError, match="what fits is a descriptor"):
        product(a="tile")
    with pytest.raises(ValueError, match=r"`b_k_offset` .* a descriptor that is built already"):
        product(b_k_offset=32)


def test_a_tile_of_another_kernel(trace) -> None:
    with _ptx.Trace("other"):
        tile = smem.wgmma_tile(bf16, (64, 64))
    with pytest.raises(ValueError, match="belongs to another kernel"):
        product(a=tile)


# -- what the ISA has not


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": (64, 60, 16)}, "the shape of `ptx.wgmma.mma_async` is `m64n60k16`; what fits .bf16 and .bf16 is `m64n8k16`, "),
        ({"shape": (128, 64, 16)}, "m128n64k16"),
        ({"shape": (64, 64, 32)}, "is `m64n64k32`; what fits .bf16 and .bf16 is `m64n8k16`, "),
        (
            {"shape": (64, 40, 32), "dtype_d": s32, "dtype_a": s8, "dtype_b": s8},
            "is `m64n40k32`; what fits .s8 and .s8 is `m64n8k32`, ",
        ),
        ({"dtype_d": f16, "d": None}, "what fits after"),
        ({"dtype_b": f16}, "`dtype_b` of `ptx.wgmma.mma_async` is `f16`; .* `bf16`"),
        ({"scale_a": 2}, "`scale_a` .* is 2; what fits is 1 or -1"),
        ({"scale_b": 0}, "`scale_b`"),
        ({"trans_a": 2}, "`trans_a` .* is 2; what fits is 0 or 1"),
        ({"shape": (64, 64, 8), "dtype_a": tf32, "dtype_b": tf32, "trans_a": 1}, "`trans_a` .* has no such operand"),
        ({"shape": (64, 64, 32), "dtype_a": e4m3, "dtype_b": e4m3, "trans_b": 1}, "only f16 and bf16"),
        ({"shape": (64, 64, 32), "dtype_d": s32, "dtype_a": s8, "dtype_b": s8, "scale_a": -1}, "no signs to choose"),
        ({"satfinite": True}, "does not saturate"),
    ],
)
def test_what_the_isa_has_not(trace, changes, words) -> None:
    if changes.get("d", 0) is None:
        changes = changes | {"d": reg.array(b32, 16)}
    with pytest.raises(ValueError, match=words) as raised:
        product(**changes)
    assert raised.value.where[0] == __file__
    assert not any("wgmma" in line for line in trace.statements)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": (64, 64)}, "three ints"),
        ({"shape": "m64n64k16"}, "three ints"),
        ({"dtype_a": "bf16x"}, "bf16x"),
        ({"scale_d": 0.5}, "a predicate, a 32-bit register, or True or False"),
        ({"scale_d": None}, "a predicate"),
        ({"d": 5}, "an array or a list of registers"),
        ({"a_k_offset": 0.5}, "a number of bytes or a register"),
    ],
)
def test_arguments_of_the_wrong_kind(trace, changes, words) -> None:
    with pytest.raises(TypeError, match=words):
        product(**changes)


def test_the_target_must_have_it() -> None:
    with _ptx.Trace("test", arch="sm_100a"), pytest.raises(ValueError, match="needs `sm_90a`"):
        product()


# -- descriptors


def test_make_descriptor(trace) -> None:
    base = reg.scalar(u32)
    d = ptx.wgmma.make_descriptor(
        base, leading_byte_offset=32, stride_byte_offset=64, swizzle=2, base_offset=3, addr_byte_offset=128
    )
    assert d.dtype is u64
    bits = 2 << 16 | 4 << 32 | 3 << 49 | 2 << 62
    assert lines(trace) == [
        "cvt.u64.u32 %rd0, %r0",
        "add.s64 %rd1, %rd0, 128",
        "shr.u64 %rd2, %rd1, 4",
        "and.b64 %rd2, %rd2, 16383",
        f"mov.b64 %rd3, {bits - (1 << 64)}",
        "or.b64 %rd2, %rd2, %rd3",
    ]
    wide = reg.scalar(u64)
    ptx.wgmma.make_descriptor(wide, leading_byte_offset=16, stride_byte_offset=1024)
    assert lines(trace)[6] == f"shr.u64 %rd5, {wide.name}, 4"
    ptx.wgmma.make_descriptor("buffer", leading_byte_offset=16, stride_byte_offset=1024)
    assert lines(trace)[10] == "mov.u64 %rd7, buffer"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"swizzle": 4}, "`swizzle` of a wgmma descriptor is 4; what fits is 0 to 3"),
        ({"swizzle": -1}, "`swizzle`"),
        ({"base_offset": 8}, "`base_offset` of a wgmma descriptor is 8; what fits is 0 to 7"),
        ({"leading_byte_offset": 8}, "a multiple of 16 up to 262128"),
        ({"stride_byte_offset": 1 << 18}, "`stride_byte_offset`"),
    ],
)
def test_descriptors_that_cannot_be(trace, changes, words) -> None:
    base = reg.scalar(u32)
    with pytest.raises(ValueError, match=words) as raised:
        ptx.wgmma.make_descriptor(base, **({"leading_byte_offset": 16, "stride_byte_offset": 1024} | changes))
    assert trace.statements == [] and raised.value.where[0] == __file__ and raised.value.kind == "bad_descriptor"


def test_auto_descriptor(trace) -> None:
    base = reg.scalar(u32)
    ptx.wgmma.auto_descriptor(base, dtype=bf16, shape=(64, 64), major="K")
    ptx.wgmma.auto_descriptor(base, dtype=bf16, shape=(64, 256), major=Major.MN)
    assert [line for line in lines(trace) if line.startswith("mov.b64")] == [
        f"mov.b64 %rd2, {0x4000004000010000}",
        f"mov.b64 %rd5, {1 << 62 | 64 << 32 | (64 * 128 >> 4) << 16}",
    ]
    with pytest.raises(ValueError, match="not one of the canonical"):
        ptx.wgmma.auto_descriptor(base, dtype=bf16, shape=(64, 24), major="K")
    with pytest.raises(TypeError, match="two ints"):
        ptx.wgmma.auto_descriptor(base, dtype=bf16, shape=64, major="K")


def test_masked_descriptor(trace) -> None:
    base, step = reg.scalar(u32), reg.scalar(u32)
    d = ptx.wgmma.masked_descriptor(base)
    assert d.dtype is u64
    assert lines(trace) == [
        f"and.b32 %r2, %r0, {0x3FF80}",
        "shr.u32 %r2, %r2, 4",
        "cvt.u64.u32 %rd0, %r2",
        f"or.b64 %rd0, %rd0, {0x4000004000010000}",
    ]
    ptx.wgmma.masked_descriptor(base, byte_offset=64, mask=0x3FFF0, const_bits=1 << 63)
    assert lines(trace)[4:] == [
        "add.u32 %r3, %r0, 64",
        f"and.b32 %r3, %r3, {0x3FFF0}",
        "shr.u32 %r3, %r3, 4",
        "cvt.u64.u32 %rd1, %r3",
        f"or.b64 %rd1, %rd1, {-(1 << 63)}",
    ]
    ptx.wgmma.masked_descriptor(ptx.addr(base, 32), byte_offset=64)
    assert lines(trace)[9] == "add.u32 %r4, %r0, 96"
    ptx.wgmma.masked_descriptor(base, byte_offset=step)
    assert lines(trace)[14] == "add.u32 %r5, %r0, %r1"
    with pytest.raises(ValueError, match="what fits is 0 to 0xFFFFFFFF"):
        ptx.wgmma.masked_descriptor(base, mask=1 << 32)


def test_no_trace() -> None:
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        ptx.wgmma.fence()


# -- whole kernels


def test_the_twin_in_cpp(ptxas) -> None:
    """The kernel of ptx/write/door/wgmma_test.cpp."""

    @kernel(out_specs=(Tile(64, 64, f32),), block=(128, 1, 1), grid=(1, 1, 1))
    def wgmma_twin(Y):
        (y,) = ptx.global_ptrs(Y)
        a = smem.wgmma_tile(bf16, (64, 64))
        b = smem.wgmma_tile(bf16, (64, 64), "MN")
        acc = reg.array(f32, 32)
        more = reg.from_(ptx.special.tid.x(), u32) < 128
        ptx.wgmma.fence()
        for step in range(4):
            ptx.wgmma.mma_async(
                shape=(64, 64, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=acc, a=a, b=b[0],
                scale_d=step > 0, trans_b=1, a_k_offset=32 * step, b_k_offset=2048 * step,
            )  # fmt: skip
        base = smem.base(a.name)
        desc_a = ptx.wgmma.make_descriptor(
            base, leading_byte_offset=16, stride_byte_offset=1024, swizzle=ptx.wgmma.SWIZZLE_128B, addr_byte_offset=64
        )
        desc_b = ptx.wgmma.auto_descriptor(b, dtype=bf16, shape=(64, 64), major="MN")
        ptx.wgmma.mma_async(
            shape=(64, 64, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=acc, a=desc_a, b=desc_b,
            scale_d=more, scale_a=-1, trans_b=1,
        )  # fmt: skip
        masked = ptx.wgmma.masked_descriptor(base, byte_offset=128)
        ptx.wgmma.mma_async(shape=(64, 64, 32), dtype_d=f32, dtype_a=e4m3, dtype_b=e5m2, d=acc, a=masked, b=masked, scale_d=~more)
        ptx.wgmma.commit_group()
        ptx.wgmma.wait_group(0)
        ptx.inst.st.global_.f32(ptx.addr(y), acc[0])
        ptx.ret()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = wgmma_twin.ptx()
    assert text == GOLDEN.read_text()
    ptxas(text)
