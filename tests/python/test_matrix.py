"""Warp matrix operations: `ptx.ldmatrix`, `ptx.stmatrix`, `ptx.mma`."""

from pathlib import Path

import pytest

from pyptx import _ptx, kernel, ptx, reg, smem
from pyptx.types import b32, bf16, e4m3, f16, f32, f64, s8, s32, tf32, u32

GOLDEN = Path(__file__).parents[1] / "golden" / "write" / "matrix.ptx"  # also what ptx/write/door/matrix_test.cpp writes


def lines(ctx) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements]


def names(base: str, count: int) -> str:
    return "{" + ", ".join(f"{base}{i}" for i in range(count)) + "}"


def test_twin_of_the_cpp_program(ptxas) -> None:
    @kernel(arch="sm_90a")
    def matrix():
        tile = smem.alloc(bf16, (2, 64, 64))
        lane = reg.from_(ptx.special.tid.x(), u32)
        base = smem.base("smem_0")
        a, b, pack = reg.array(b32, 4), reg.array(b32, 2), reg.array(b32, 4)
        d, frag = reg.array(f32, 4), reg.array(f32, 16)
        halves = reg.array(bf16, 8)
        warp = lane < 32
        for register in (*d, *frag):
            ptx.inst.mov.f32(register, 0.0)

        ptx.ldmatrix(dst=a, src=base)
        ptx.ldmatrix(dst=b, src=ptx.addr(base, 64), layout="m8n8.x2", trans=True, pred=warp)
        types = {"dtype_d": f32, "dtype_a": bf16, "dtype_b": bf16, "dtype_c": f32}
        ptx.mma.sync(shape=(16, 8, 16), **types, d=d, a=a, b=b, c=d)
        types |= {"dtype_a": tf32, "dtype_b": tf32}
        ptx.mma.sync(shape=(16, 8, 8), **types, d=list(d), a=a, b=b, c=d, a_layout="row", b_layout="col", pred=~warp)
        ptx.stmatrix(smem=tile[1], regs=b, layout="x2.trans")
        ptx.stmatrix(smem=base, regs=a)
        ptx.stmatrix_x4_trans_f32_bf16(frag=frag, smem_base=base, lane=lane, row_stride=64, tmp_bf16=halves, tmp_pack=pack)
        ptx.stmatrix_x4_trans_f32_bf16(frag=frag, smem_base=tile[1], lane=ptx.special.tid.x(), row_stride=72, pred=warp)
        ptx.ret()

    text = matrix.ptx()
    assert text == GOLDEN.read_text()
    ptxas(text, "sm_90a")


def test_matrices_from_shared_memory(trace) -> None:
    p, address = reg.scalar(_ptx.type_from_name("pred"), name="p"), reg.scalar(u32)
    four, two = reg.array(b32, 4, name="a"), reg.array(b32, 2, name="b")
    ptx.ldmatrix(dst=four, src=address)
    ptx.ldmatrix(dst=four, src=ptx.addr(address), layout="m8n8.x4")
    ptx.ldmatrix(dst=[two[1], two[0]], src=ptx.addr(address, 32), layout="x2", trans=True, pred=~p)
    ptx.ldmatrix(dst=two[0], src=address, layout="m8n8.x1.trans")
    assert lines(trace) == [
        f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {names('a', 4)}, [%r0]",
        f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {names('a', 4)}, [%r0]",
        "@!p ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {b1, b0}, [%r0+32]",
        "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {b0}, [%r0]",
    ]


def test_matrices_of_bytes(ptxas) -> None:
    @kernel(arch="sm_100a")
    def narrow():
        address = smem.base("smem_0")
        smem.alloc(bf16, 1024)
        four, two = reg.array(b32, 4), reg.array(b32, 2)
        ptx.ldmatrix(dst=two, src=address, layout="m16n16.x1", trans=True)
        ptx.ldmatrix(dst=four, src=address, layout="m8n16.x4", source_format="b6x16_p32")
        ptx.stmatrix(smem=address, regs=two, layout="x2.trans", shape="m16n8")
        ptx.ret()

    text = narrow.ptx()
    assert "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 " in text
    assert "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 " in text
    assert "stmatrix.sync.aligned.m16n8.x2.trans.shared::cta.b8 " in text
    ptxas(text, "sm_100a")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"layout": "x3"}, "the layout of `ptx.ldmatrix` is `x3`; what fits .* `x1`, `x2` or `x4`"),
        ({"layout": "m8n9.x4"}, "the shape of `ptx.ldmatrix` is `m8n9`; what fits .* `m8n8`"),
        ({"layout": "x2"}, "has 4 registers; what fits .* is 2"),
        ({"layout": "m16n16.x1"}, "what fits .* `trans`"),
    ],
)
def test_matrices_that_are_not(options, text) -> None:
    with _ptx.Trace("test", arch="sm_100a") as ctx, pytest.raises(ValueError, match=text):
        ptx.ldmatrix(dst=reg.array(b32, 4), src=reg.scalar(u32), **options)
    assert ctx.statements == []


def test_matrices_to_shared_memory(trace) -> None:
    p, address = reg.scalar(_ptx.type_from_name("pred"), name="p"), reg.scalar(u32)
    tile = smem.alloc(bf16, (2, 32))
    four, two = reg.array(b32, 4, name="a"), reg.array(b32, 2, name="b")
    ptx.stmatrix(smem=address, regs=four)
    ptx.stmatrix(smem=tile[1], regs=four, trans=True, pred=p)
    ptx.stmatrix(smem=ptx.addr(address, 8), regs=two, layout="x2.trans")
    name = "stmatrix.sync.aligned.m8n8"
    assert lines(trace) == [
        f"{name}.x4.shared::cta.b16 [%r0], {names('a', 4)}",
        f"@p {name}.x4.trans.shared::cta.b16 [smem_0+64], {names('a', 4)}",
        f"{name}.x2.trans.shared::cta.b16 [%r0+8], {names('b', 2)}",
    ]
    with pytest.raises(ValueError, match=r"`regs` of `ptx.stmatrix` has 2 registers"):
        ptx.stmatrix(smem=address, regs=two)


def test_accumulators_to_shared_memory(trace) -> None:
    frag, base, lane = reg.array(f32, 16, name="f"), reg.scalar(u32, name="base"), reg.scalar(u32, name="lane")
    halves, packs = reg.array(bf16, 8, name="h"), reg.array(b32, 4, name="k")
    ptx.stmatrix_x4_trans_f32_bf16(frag=frag, smem_base=base, lane=lane, row_stride=128, tmp_bf16=halves, tmp_pack=packs)
    address = [
        "and.b32 %r0, lane, 31",
        "shr.u32 %r1, lane, 5",
        "mul.lo.s32 %r2, %r1, 16",
        "and.b32 %r3, %r0, 7",
        "mul.lo.s32 %r4, %r3, 128",
        "add.u32 %r2, %r2, %r4",
        "shr.u32 %r5, %r0, 4",
        "mul.lo.s32 %r6, %r5, 8",
        "mul.lo.s32 %r7, %r6, 128",
        "add.u32 %r2, %r2, %r7",
        "and.b32 %r8, %r0, 8",
        "add.u32 %r2, %r2, %r8",
        "mul.lo.s32 %r9, %r2, 2",
        "add.u32 %r10, base, %r9",
    ]
    groups = []
    for group, place in enumerate(("[%r10]", "[%r10+4096]")):
        groups += [f"cvt.rn.bf16.f32 h{i}, f{8 * group + i}" for i in range(8)]
        groups += [f"mov.b32 k{i}, {{h{2 * i}, h{2 * i + 1}}}" for i in range(4)]
        groups.append(f"stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {place}, {names('k', 4)}")
    assert lines(trace) == address + groups


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"frag": 12}, "has 12 registers; what fits is a multiple of 8"),
        ({"dtype": u32}, r"holds the \.u32 register `%r\d+`; what fits is \.f32"),
        ({"row_stride": 12}, "`row_stride` .* is 12 elements; what fits is a multiple of 8"),
        ({"tmp": 7}, "`tmp_bf16` .* has 7 registers; what fits is 8"),
    ],
)
def test_accumulators_that_are_not(wrong, text) -> None:
    with _ptx.Trace("test") as ctx:
        frag = reg.array(wrong.get("dtype", f32), wrong.get("frag", 16))
        tmp = reg.array(bf16, wrong.get("tmp", 8))
        with pytest.raises(ValueError, match=text):
            ptx.stmatrix_x4_trans_f32_bf16(
                frag=frag, smem_base=reg.scalar(u32), lane=reg.scalar(u32), row_stride=wrong.get("row_stride", 64), tmp_bf16=tmp
            )
    assert ctx.statements == []


PRODUCTS = [  # shape, types of d, a, b, c, registers of d, a, b, c
    ((16, 8, 16), (f32, bf16, bf16, f32), (4, 4, 2, 4)),
    ((16, 8, 8), (f32, bf16, bf16, f32), (4, 2, 1, 4)),
    ((16, 8, 16), (f32, f16, f16, f32), (4, 4, 2, 4)),
    ((16, 8, 16), (f16, f16, f16, f16), (2, 4, 2, 2)),
    ((16, 8, 4), (f32, tf32, tf32, f32), (4, 2, 1, 4)),
    ((16, 8, 32), (f32, e4m3, e4m3, f32), (4, 4, 2, 4)),
    ((16, 8, 32), (s32, s8, s8, s32), (4, 4, 2, 4)),
    ((8, 8, 16), (s32, s8, s8, s32), (2, 1, 1, 2)),
    ((8, 8, 4), (f64, f64, f64, f64), (2, 1, 1, 2)),
]


@pytest.mark.parametrize(("shape", "types", "counts"), PRODUCTS)
def test_products(shape, types, counts, ptxas) -> None:
    @kernel(arch="sm_90a")
    def product():
        d, a, b, c = (
            reg.array(dtype if dtype in (f32, s32, f64) else b32, count) for dtype, count in zip(types, counts, strict=True)
        )
        for fragment in (a, b, c):
            for register in fragment:
                reg.scalar(u32)
                getattr(ptx.inst.mov, register.dtype.name)(register, 0)
        options = dict(zip(("dtype_d", "dtype_a", "dtype_b", "dtype_c"), types, strict=True))
        ptx.mma.sync(shape=shape, **options, d=d, a=a, b=b, c=c)
        ptx.mma.sync(shape=shape, **options, d=list(c), a=tuple(a), b=b, c=d, pred=~(reg.scalar(u32, init=1) == 1))
        ptx.ret()

    m, n, k = shape
    d, a, b, c = (dtype.name for dtype in types)
    text = product.ptx()
    assert text.count(f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{d}.{a}.{b}.{c} ") == 2
    ptxas(text)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"shape": (16, 8, 32)}, "`dtype_a` .* is `bf16`; .*\n(.*\n)*.*the shapes are `m16n8k8` or `m16n8k16`"),
        ({"shape": (16, 8, 17)}, "the shape .* is `m16n8k17`; .*\n(.*\n)*.*the shapes are `m16n8k8` or `m16n8k16`"),
        ({"a_layout": "diagonal"}, "`a_layout` .* is `diagonal`; what fits is `row` or `col`"),
        ({"b_layout": "row"}, "`b_layout` .* is `row`; what fits .* `col`"),
        ({"a": 2}, "the fragment `a` .* has 2 registers; what fits .* is 4"),
        ({"b": 4}, "the fragment `b` .* has 4 registers; what fits .* is 2"),
        ({"d": 8}, "the fragment `d` .* has 8 registers; what fits .* is 4"),
        ({"dtype_d": s32}, "`dtype_d`|`dtype_a`"),
        ({"dtype_b": f16}, "`dtype_b` .* is `f16`; what fits .* `bf16`"),
    ],
)
def test_products_that_are_not(wrong, text) -> None:
    with _ptx.Trace("test") as ctx:
        options = {"shape": (16, 8, 16), "dtype_d": f32, "dtype_a": bf16, "dtype_b": bf16, "dtype_c": f32} | wrong
        for name, (dtype, count) in {"d": (f32, 4), "a": (b32, 4), "b": (b32, 2), "c": (f32, 4)}.items():
            options[name] = reg.array(dtype, wrong.get(name, count))
        with pytest.raises(ValueError, match=text):
            ptx.mma.sync(**options)
        with pytest.raises(TypeError, match=r"`shape` of `ptx.mma.sync` is .*\(16, 8\).*; what fits is three ints, \(M, N, K\)"):
            ptx.mma.sync(**(options | {"shape": (16, 8)}))
    assert ctx.statements == []
