"""`ptx.tcgen05`: what each helper writes, and what it refuses."""

import warnings
from pathlib import Path

import pytest

from pyptx import PtxError, Tile, _ptx, kernel, ptx, reg, smem
from pyptx.types import b16, b32, b64, bf16, f32, tf32, u16, u32, u64

GOLDEN = Path(__file__).parents[1] / "golden" / "write" / "tcgen05.ptx"
KNOWN = 0x4000404000010000


@pytest.fixture
def blackwell():
    with _ptx.Trace("test", arch="sm_100a") as ctx:
        yield ctx


def lines(ctx) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements]


def product(*, before: str = "", **changes) -> None:
    """A product of two descriptors; `taddr` is %r0, `desc` is %rd0."""
    taddr, desc = reg.scalar(b32), reg.scalar(b64)
    given = {"d": taddr, "a_desc": taddr if changes.get("a_is_tmem") else desc, "b_desc": desc, "idesc": 1} | changes
    ptx.tcgen05.mma(given.pop("d"), given.pop("a_desc"), given.pop("b_desc"), given.pop("idesc"), **given)


# -- allocation, order, completion


def test_allocation(blackwell, ptxas) -> None:
    slot = smem.alloc(b32, 4)
    ptx.tcgen05.alloc(slot, 512)
    ptx.tcgen05.alloc(slot[1], 32, cta_group=2)
    ptx.tcgen05.relinquish_alloc_permit()
    taddr = smem.load(b32, ptx.addr(slot))
    ptx.tcgen05.dealloc(taddr, 512)
    ptx.tcgen05.dealloc(taddr, reg.scalar(u32), cta_group=2)
    ptx.tcgen05.relinquish_alloc_permit(cta_group=2)
    assert lines(blackwell) == [
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem_0], 512",
        "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [smem_0+4], 32",
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
        "ld.shared.b32 %r0, [smem_0]",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 512",
        "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r0, %r1",
        "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned",
    ]
    for wrong in (31, 48, 1024):
        with pytest.raises(ValueError, match="columns"):
            ptx.tcgen05.alloc(slot, wrong)
    for helper in (
        lambda g: ptx.tcgen05.alloc(slot, 32, cta_group=g),
        lambda g: ptx.tcgen05.relinquish_alloc_permit(cta_group=g),
    ):
        with pytest.raises(ValueError, match=r"`cta_group` of .* is 3; what fits is 1 or 2"):
            helper(3)


def test_fences_and_waits(blackwell) -> None:
    p = reg.scalar(u32) == 0
    ptx.tcgen05.fence_before_thread_sync()
    ptx.tcgen05.fence_after_thread_sync()
    ptx.tcgen05.wait_ld()
    ptx.tcgen05.wait_st(pred=~p)
    assert lines(blackwell)[1:] == [
        "tcgen05.fence::before_thread_sync",
        "tcgen05.fence::after_thread_sync",
        "tcgen05.wait::ld.sync.aligned",
        "@!%p0 tcgen05.wait::st.sync.aligned",
    ]


def test_commit(blackwell, ptxas) -> None:
    m, mask, base = smem.mbarrier(2), reg.scalar(b16), reg.scalar(u32)
    plain = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"
    cast = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
    ptx.tcgen05.commit(m[0])
    ptx.tcgen05.commit(m[1], space="cta")  # ptxas has no .shared::cta here
    ptx.tcgen05.commit(ptx.mbarrier.array(base, 64, 2)[1])
    ptx.tcgen05.commit(base, multicast=True, multicast_mask=mask)
    ptx.tcgen05.commit(base, multicast_mask=3)  # a mask implies multicast
    ptx.tcgen05.commit(base, multicast_mask=reg.scalar(u16))
    assert lines(blackwell) == [
        f"{plain} [mbar_0]",
        f"{plain} [mbar_0+8]",
        f"{plain} [%r0+72]",
        f"{cast} [%r0], %rs0",
        "mov.b16 %rs1, 3",
        f"{cast} [%r0], %rs1",
        f"{cast} [%r0], %rs2",
    ]
    for arguments, words in [
        ({"multicast": True}, "needs a `multicast_mask`"),
        ({"space": "global"}, "`space` .* is `global`; what fits is `cluster` or `cta`"),
        ({"multicast_mask": 1 << 16}, "what fits is 1 to 65535"),
        ({"multicast_mask": 0}, "what fits is 1 to 65535"),
    ]:
        with pytest.raises(ValueError, match=words):
            ptx.tcgen05.commit(base, **arguments)
    ptx.ret()
    ptxas(blackwell.finish().text, "sm_100a")


def test_commit_of_a_pair_of_ctas(blackwell) -> None:
    ptx.tcgen05.commit(reg.scalar(u32), cta_group=2)
    assert "tcgen05.commit.cta_group::2.mbarrier" in lines(blackwell)[0]


# -- moving data


def test_loads_and_stores(blackwell, ptxas) -> None:
    taddr, r, f = reg.scalar(u32), reg.array(b32, 8), reg.array(f32, 4)
    ld, st = ptx.tcgen05.ld, ptx.tcgen05.st
    ld([r[0], r[1]], taddr)
    ld(r[0], taddr, shape="32x32b")
    ld(f, ptx.addr(taddr, 4), shape="32x32b", count=4, dtype=b32)
    ld(r, taddr, shape="16x256b", count=2, pack=True)
    ld(r, taddr, shape="16x32bx2", count=8, half_split_offset=16)
    st(taddr, r, shape="32x32b", count=8)
    st(taddr, [r[0], r[1]], shape="16x64b", count=2, unpack=True)
    st(taddr, f, shape="16x32bx2", count=4, half_split_offset=2)
    eight = ", ".join(x.name for x in r)
    four = ", ".join(x.name for x in f)
    assert lines(blackwell) == [
        f"tcgen05.ld.sync.aligned.16x128b.x1.b32 {{{r[0].name}, {r[1].name}}}, [%r0]",
        f"tcgen05.ld.sync.aligned.32x32b.x1.b32 {{{r[0].name}}}, [%r0]",
        f"tcgen05.ld.sync.aligned.32x32b.x4.b32 {{{four}}}, [%r0+4]",
        f"tcgen05.ld.sync.aligned.16x256b.x2.pack::16b.b32 {{{eight}}}, [%r0]",
        f"tcgen05.ld.sync.aligned.16x32bx2.x8.b32 {{{eight}}}, [%r0], 16",
        f"tcgen05.st.sync.aligned.32x32b.x8.b32 [%r0], {{{eight}}}",
        f"tcgen05.st.sync.aligned.16x64b.x2.unpack::16b.b32 [%r0], {{{r[0].name}, {r[1].name}}}",
        f"tcgen05.st.sync.aligned.16x32bx2.x4.b32 [%r0], 2, {{{four}}}",
    ]
    wide = reg.array(b32, 128)
    ld(wide, taddr, shape="32x32b", count=128)
    ptx.ret()
    text = blackwell.finish().text
    ptxas(text, "sm_100a")
    assert ".reg .b32 %r<" in text  # the address is declared .b32, though it was asked for as u32


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"count": 3}, "`count` of `ptx.tcgen05.ld` is `x3`; what fits"),
        ({"shape": "8x8b"}, "`shape` of `ptx.tcgen05.ld` is `8x8b`; .*`16x64b`"),
        ({"dtype": "f32"}, "`dtype` of `ptx.tcgen05.ld` is `f32`; .*`b32`"),
        ({"dtype": tf32}, "is `tf32`"),
        ({"count": 4}, "is given 4 registers; .* has 8 a thread"),
        ({"shape": "32x32b", "count": 8}, "is given 4 registers; .* has 8 a thread"),
        ({"shape": "16x32bx2", "count": 4}, "half_split_offset"),
    ],
)
def test_loads_that_cannot_be(blackwell, arguments, words) -> None:
    with pytest.raises((ValueError, TypeError), match=words) as raised:
        ptx.tcgen05.ld(reg.array(b32, 4), reg.scalar(b32), **arguments)
    assert isinstance(raised.value, PtxError) and raised.value.where[0] == __file__


def test_copy_and_shift(blackwell, ptxas) -> None:
    taddr, desc = reg.scalar(b32), reg.scalar(b64)
    ptx.tcgen05.cp(taddr, desc)
    ptx.tcgen05.cp(ptx.addr(taddr, 8), desc, size="64x128b.warpx2::02_13")
    ptx.tcgen05.cp(taddr, desc, size="32x128b.warpx4.b8x16.b4x16_p64")
    ptx.tcgen05.shift(taddr)
    assert lines(blackwell) == [
        "tcgen05.cp.cta_group::1.128x256b [%r0], %rd0",
        "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r0+8], %rd0",
        "tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b4x16_p64 [%r0], %rd0",
        "tcgen05.shift.cta_group::1.down [%r0]",
    ]
    for source, options in [(smem.alloc(b32, 4), {}), (reg.scalar(u32), {}), (desc, {"src_is_addr": True})]:
        with pytest.raises(ValueError, match="matrix descriptor") as raised:
            ptx.tcgen05.cp(taddr, source, **options)
        assert "ptx.tcgen05.descriptor" in str(raised.value)
    with pytest.raises(ValueError, match=r"`size` of `ptx.tcgen05.cp` is `1x1b`"):
        ptx.tcgen05.cp(taddr, desc, size="1x1b")
    with pytest.raises(ValueError, match="warpx4"):
        ptx.tcgen05.cp(taddr, desc, size="32x128b")
    ptx.ret()
    ptxas(blackwell.finish().text, "sm_100a")


# -- products


def test_a_product(blackwell) -> None:
    p = reg.scalar(u32) == 0
    product(pred_operand=p)
    assert lines(blackwell)[1:] == [
        "mov.u32 %r2, 0",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd0, %rd0, 1, {%r2, %r2, %r2, %r2}, %p0",
    ]
    product(pred_operand=~p, cta_group=2, pred=p)
    vector = ", ".join(["%r4"] * 8)
    assert lines(blackwell)[-1] == f"@%p0 tcgen05.mma.cta_group::2.kind::f16 [%r3], %rd1, %rd1, 1, {{{vector}}}, !%p0"


@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        ({}, 1),  # enable_input_d, which is True
        ({"enable_input_d": True}, 1),
        ({"enable_input_d": False}, 0),
        ({"enable_input_d": True, "scale_d": False}, 0),
        ({"enable_input_d": False, "scale_d": True}, 1),
        ({"enable_input_d": False, "scale_d": True, "pred_operand": 0}, 0),
        ({"scale_d": False, "pred_operand": True}, 1),
    ],
)
def test_what_decides_whether_d_is_added(blackwell, arguments, number) -> None:
    product(**arguments)
    text = lines(blackwell)
    assert text[:2] == [f"mov.u32 %r1, {number}", "setp.ne.b32 %p0, %r1, 0"]
    assert text[-1].endswith(", %p0")


def test_a_register_decides(blackwell) -> None:
    flag = reg.scalar(u32)
    p = flag == 1
    for argument in ("pred_operand", "scale_d", "enable_input_d"):
        before = len(blackwell.statements)
        product(**{argument: flag})
        assert lines(blackwell)[before].startswith("setp.ne.b32 %p") and lines(blackwell)[before].endswith(", %r0, 0")
        before = len(blackwell.statements)
        product(**{argument: p})
        assert lines(blackwell)[before].startswith("mov.u32") and lines(blackwell)[-1].endswith(", %p0")


def test_older_versions_and_sparse_products_name_no_lanes(ptxas) -> None:
    with _ptx.Trace("test", arch="sm_100a", version=(8, 7)) as ctx:
        product()
        assert lines(ctx)[-1] == "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd0, 1, %p0"
    with _ptx.Trace("test", arch="sm_100a") as ctx:
        product(sparse=True, sparse_metadata=reg.scalar(b32))
        assert lines(ctx)[-1] == "tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd0, %rd0, [%r0], 1, %p0"
        lanes = reg.array(b32, 4)
        product(disable_output_lane=lanes)
        assert f"{{{', '.join(x.name for x in lanes)}}}, %p1" in lines(ctx)[-1]
        ptx.ret()
        ptxas(ctx.finish().text, "sm_100a")


@pytest.mark.parametrize("kind", ["f16", "tf32", "i8", "f8f6f4"])
@pytest.mark.parametrize("cta_group", [1, 2])
def test_kinds_and_collectors(blackwell, ptxas, kind, cta_group) -> None:
    for collector in (None, "fill", "use", "lastuse", "discard"):
        spelled = f"tcgen05.mma.cta_group::{cta_group}.kind::{kind}" + (f".collector::a::{collector}" if collector else "")
        product(kind=kind, collector_a=collector, cta_group=cta_group)
        assert lines(blackwell)[-1].startswith(f"{spelled} [%r")
        product(kind=kind, collector_a=collector, a_is_tmem=True, cta_group=cta_group)
        assert lines(blackwell)[-1].startswith(f"{spelled} [%r") and lines(blackwell)[-1].count("[%r") == 2
    ptx.ret()
    ptxas(blackwell.finish().text, "sm_100a")


def test_shifted_scaled_and_addressed(blackwell, ptxas) -> None:
    taddr, desc = reg.scalar(u32), reg.scalar(u64)
    ptx.tcgen05.mma(
        ptx.addr(taddr, 64), ptx.addr(taddr, 128), desc, reg.scalar(u32), a_is_tmem=True, ashift=True, collector_a="lastuse"
    )
    assert "kind::f16.ashift.collector::a::lastuse [%r0+64], [%r0+128], %rd0, %r1, {" in lines(blackwell)[-1]
    ptx.tcgen05.mma(taddr, desc, desc, 1, scale_c=15, kind="tf32")
    assert lines(blackwell)[-1].endswith(", %p1, 15")
    ptx.ret()
    ptxas(blackwell.finish().text, "sm_100a")


@pytest.mark.parametrize(
    ("kind", "size", "spelled"),
    [
        ("mxf8f6f4", None, ".block_scale"),
        ("mxf8f6f4", "scale_vec::1X", ".block_scale.scale_vec::1X"),
        ("mxf4", None, ".block_scale"),
        ("mxf4", "block32", ".block_scale.block32"),
        ("mxf4nvf4", "block16", ".block_scale.block16"),
        ("mxf4nvf4", "scale_vec::4X", ".block_scale.scale_vec::4X"),
    ],
)
def test_scales_in_tensor_memory(blackwell, ptxas, kind, size, spelled) -> None:
    scales = reg.scalar(b32)
    product(kind=kind, scale_a=scales, scale_b=ptx.addr(scales, 4), scale_size=size)
    assert lines(blackwell)[-1] == (f"tcgen05.mma.cta_group::1.kind::{kind}{spelled} [%r1], %rd0, %rd0, 1, [%r0], [%r0+4], %p0")
    product(kind=kind, scale_a=scales, scale_b=scales, scale_size=size, collector_a="use", sparse=True, sparse_metadata=scales)
    assert lines(blackwell)[-1].startswith(f"tcgen05.mma.sp.cta_group::1.kind::{kind}{spelled}.collector::a::use [")
    ptx.ret()
    ptxas(blackwell.finish().text, "sm_100a")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": "f64"}, "`kind` of `ptx.tcgen05.mma` is `kind::f64`; what fits"),
        ({"collector_a": "keep"}, "`collector_a` of `ptx.tcgen05.mma` is `collector::a::keep`; .*lastuse"),
        ({"cta_group": 4}, "`cta_group`"),
        ({"ashift": True}, "`ashift` .* a is a descriptor"),
        ({"ashift": True, "a_is_tmem": True, "collector_a": "fill"}, "`collector_a`"),
        ({"sparse": True}, "`sparse_metadata` of .* is missing"),
        ({"kind": "mxf4"}, "needs `scale_a` and `scale_b`"),
        ({"scale_c": 16}, "`scale_c` of .* is 16; what fits is 0 to 15"),
        ({"scale_c": 2, "kind": "i8"}, "only f16 and tf32 have it"),
        ({"kind": "mxf8f6f4", "scale_size": "block16"}, "scale_a"),
    ],
)
def test_products_that_cannot_be(blackwell, arguments, words) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        product(**arguments)
    assert isinstance(raised.value, PtxError) and raised.value.where[0] == __file__
    assert not any("tcgen05" in line for line in blackwell.statements)


def test_products_given_what_they_do_not_take(blackwell) -> None:
    with pytest.raises(ValueError, match="only the kinds mx"):
        product(scale_a=reg.scalar(b32), scale_b=reg.scalar(b32))
    with pytest.raises(ValueError, match="for a dense product"):
        product(sparse_metadata=reg.scalar(b32))
    with pytest.raises(ValueError, match="an address in tensor memory is a 32-bit register"):
        product(d=reg.scalar(u64))
    taddr, wide = reg.scalar(b32), reg.scalar(u64)
    for arguments, words in [
        ({"a_desc": taddr}, "`a_desc` .* is not a 64-bit register"),
        ({"b_desc": taddr}, "`b_desc` .* is not a 64-bit register"),
        ({"idesc": wide}, "`idesc` .* is neither a number nor a 32-bit register"),
        ({"disable_output_lane": [taddr] * 4, "cta_group": 2}, "has 4 registers; what fits is 8"),
        ({"disable_output_lane": [taddr] * 4, "kind": "mxf4", "scale_a": taddr, "scale_b": taddr}, "for a product with scales"),
    ]:
        with pytest.raises(ValueError, match=words):
            product(**arguments)
    assert blackwell.statements == []
    with pytest.raises(TypeError, match=r"`pred_operand` of `ptx\.tcgen05\.mma` is"):
        product(pred_operand=0.5)
    with pytest.raises(TypeError, match=r"`scale_d` is the .u64 register"):
        product(scale_d=reg.scalar(u64))
    with pytest.raises(TypeError, match="enable_input_d"):
        product(enable_input_d=None)


def test_the_target_must_have_it(trace) -> None:
    with pytest.raises(ValueError, match="this kernel targets `sm_90a`"):
        ptx.tcgen05.wait_ld()


# -- descriptors


def test_instruction_descriptors_are_the_known_numbers() -> None:
    make = ptx.tcgen05.make_instr_desc_f16bf16_f32
    assert make() == 0x08400490
    assert make(ab_dtype="f16") == 0x08400010
    assert make(ab_dtype="f16", scale_a=-1) == 0x08402010
    assert make(ab_dtype="tf32") == make(ab_dtype=tf32) == 0x08400910
    assert make(ab_dtype=bf16, m=64, n=8) == 0x04020490
    assert make(scale_b=-1, a_major="MN", b_major="MN", sparse=True, saturate=True, max_shift=3) == 0x08400490 | 0xC001C00C
    assert make(sparse=True, sparsity_selector=2) == 0x08400490 | 4 | 2


def test_instruction_descriptors_of_the_other_kinds() -> None:
    t = ptx.tcgen05
    assert (
        t.make_instr_desc_f16() == 0x08400000 and t.make_instr_desc_f16(d_dtype="f32", a_dtype=bf16, b_dtype=bf16) == 0x08400490
    )
    assert t.make_instr_desc_tf32() == 0x08400910
    assert t.make_instr_desc_f8f6f4() == 0x08400010
    assert t.make_instr_desc_f8f6f4(a_dtype="e2m1", b_dtype="e5m2", d_dtype="f16") == 0x08400000 | 5 << 7 | 1 << 10
    assert t.make_instr_desc_i8() == 0x084004A0 and t.make_instr_desc_i8(a_dtype="u8", saturate=True) == 0x08400428
    assert t.make_instr_desc_mxf8f6f4() == 0x08C00000
    assert t.make_instr_desc_mxf8f6f4(m=256, a_scale_id=3, b_scale_id=1) == 0x10C00000 | 3 << 29 | 1 << 4
    assert t.make_instr_desc_mxf4() == 0x08C00480
    assert t.make_instr_desc_mxf4nvf4() == 0x08400480 and t.make_instr_desc_mxf4nvf4(k96=True) == 0x88400480


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"m": 96}, "`m` of a kind::f16 instruction descriptor is 96; what fits is 64, 128 or 256"),
        ({"n": 12}, "a multiple of 8 from 8 to 256"),
        ({"n": 0}, "`n`"),
        ({"n": 264}, "`n`"),
        ({"scale_a": 0}, "`scale_a` .* what fits is 1 or -1"),
        ({"ab_dtype": "e4m3"}, "`a_dtype` .* is `e4m3`; what fits is `f16` or `bf16`"),
        ({"a_major": "M"}, "`a_major`"),
        ({"max_shift": 4}, "`max_shift`"),
    ],
)
def test_instruction_descriptors_that_cannot_be(arguments, words) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        ptx.tcgen05.make_instr_desc_f16bf16_f32(**arguments)
    assert raised.value.kind == "bad_descriptor" and raised.value.where[0] == __file__


def test_descriptor(blackwell) -> None:
    base = reg.scalar(u32)
    d = ptx.tcgen05.descriptor(base, byte_offset=32, stride_bytes=1024)
    assert d.dtype is b64
    assert lines(blackwell) == [
        "add.u32 %r1, %r0, 32",
        f"and.b32 %r1, %r1, {0x3FFF0}",
        "shr.u32 %r1, %r1, 4",
        "cvt.u64.u32 %rd0, %r1",
        f"or.b64 %rd0, %rd0, {KNOWN}",
        "mov.b64 %rd1, %rd0",
    ]


def test_the_masked_default_is_a_descriptor(blackwell) -> None:
    base = reg.scalar(u32)
    ptx.tcgen05.masked_descriptor(base)
    ptx.tcgen05.descriptor(base, stride_bytes=1024)
    text = [line.replace("%r2", "%r1").replace("%rd2", "%rd0").replace("%rd3", "%rd1") for line in lines(blackwell)]
    assert len(text) == 10 and text[:5] == text[5:]
    ptx.tcgen05.masked_descriptor(base, mask=0xFF0, const_bits=5, byte_offset=reg.scalar(u32))
    assert lines(blackwell)[10:12] == ["add.u32 %r4, %r0, %r3", f"and.b32 %r4, %r4, {0xFF0}"]


@pytest.mark.parametrize(
    ("arguments", "bits"),
    [
        ({"swizzle": "NONE"}, 0),
        ({"swizzle": None}, 0),
        ({"swizzle": "128B_BASE32B"}, 1 << 61),
        ({"swizzle": "64B"}, 4 << 61),
        ({"swizzle": "32B"}, 6 << 61),
        ({"swizzle": "NONE", "leading_bytes": 4096, "base_offset": 7, "lbo_mode": 1}, 7 << 49 | 1 << 52 | 255 << 16),
    ],
)
def test_fields_of_a_descriptor(blackwell, arguments, bits) -> None:
    ptx.tcgen05.descriptor(reg.scalar(u32), stride_bytes=512, **arguments)
    expected = (1 << 46 | 32 << 32 | 1 << 16) + bits
    assert int(lines(blackwell)[-2].rsplit(" ", 1)[1]) % (1 << 64) == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"stride_bytes": 1000}, "`stride_bytes` .* a multiple of 16"),
        ({"stride_bytes": 1024, "leading_bytes": 8}, "`leading_bytes`"),
        ({"stride_bytes": 1024, "swizzle": "96B"}, "`swizzle` .* is `96B`"),
        ({"stride_bytes": 1024, "version": 0}, "`version`"),
        ({"stride_bytes": 1024, "base_offset": 8}, "`base_offset`"),
        ({"stride_bytes": 1024, "lbo_mode": 2}, "`lbo_mode`"),
    ],
)
def test_descriptors_that_cannot_be(blackwell, arguments, words) -> None:
    base = reg.scalar(u32)
    with pytest.raises(ValueError, match=words):
        ptx.tcgen05.descriptor(base, **arguments)
    assert blackwell.statements == []


# -- whole kernels


def test_the_twin_in_cpp(ptxas) -> None:
    """The kernel of ptx/write/door/tcgen05_test.cpp."""

    @kernel(arch="sm_100a", out_specs=(Tile(128, 64, f32),), block=(128, 1, 1), grid=(1, 1, 1))
    def tcgen05_twin(Y):
        (y,) = ptx.global_ptrs(Y)
        slot, a, done = smem.alloc(b32, 1), smem.alloc(bf16, (128, 64)), smem.mbarrier(1)
        t = ptx.tcgen05
        t.alloc(slot, 64)
        t.relinquish_alloc_permit()
        taddr = smem.load(b32, slot)
        base = smem.base(a.name)
        desc = t.descriptor(base, byte_offset=32, stride_bytes=1024)
        other = t.masked_descriptor(base)
        idesc = t.make_instr_desc_f16bf16_f32(m=128, n=64)
        first = reg.from_(ptx.special.tid.x(), u32) == 0
        t.mma(taddr, desc, desc, idesc, pred_operand=False, pred=first)
        t.mma(taddr, desc, other, idesc, collector_a="fill", pred=first)
        t.mma(taddr, ptx.addr(taddr, 64), other, idesc, enable_input_d=False, a_is_tmem=True, scale_c=3, pred=first)
        t.mma(
            taddr, desc, other, t.make_instr_desc_mxf8f6f4(n=64),
            kind="mxf8f6f4", scale_d=~first, scale_a=taddr, scale_b=ptx.addr(taddr, 4), pred=first,
        )  # fmt: skip
        t.commit(done[0], pred=first)
        t.commit(done[0], multicast_mask=3, pred=first)
        t.fence_before_thread_sync()
        t.fence_after_thread_sync()
        columns = reg.array(f32, 8)
        t.ld(columns, taddr, shape="32x32b", count=8)
        t.wait_ld()
        t.st(ptx.addr(taddr, 8), columns, shape="32x32b", count=8)
        t.wait_st()
        t.cp(taddr, desc, size="128x128b")
        t.shift(taddr)
        ptx.inst.st.global_.f32(ptx.addr(y), columns[0])
        t.dealloc(taddr, 64)
        ptx.ret()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = tcgen05_twin.ptx()
    assert text == GOLDEN.read_text()
    ptxas(text, "sm_100a")
