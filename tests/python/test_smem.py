"""Shared memory: `smem`, its handles as operands, static and dynamic."""

from pathlib import Path

import pytest

from pyptx import PtxError, Tile, _ptx, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.types import b8, b16, b64, bf16, e4m3, f32, s32, u32, u64

GOLDEN = Path(__file__).parents[1] / "golden" / "write"  # also what ptx/write/door/smem_test.cpp writes


def lines(ctx) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements]


@pytest.fixture(params=[False, True], ids=["static", "dynamic"])
def mode(request):
    """A trace, whether its shared memory is dynamic, and what was written since it began."""
    with _ptx.Trace("test", dynamic_smem=request.param) as ctx:
        yield request.param, ctx


def body(text: str) -> list[str]:
    return [line.strip().rstrip(";") for line in text[text.index("{\n") + 2 : text.rindex("}")].splitlines()]


# -- the twin of the C++ program


def shared():
    x = ptx.param(u32, "n")
    tile = smem.alloc(f32, (4, 32))
    half = smem.alloc(bf16, 64, align=16, name="half")
    small = smem.alloc(b8, (2, 8))
    a = smem.wgmma_tile(bf16, (64, 64))
    full = smem.mbarrier(4)

    v = tile[1, x]
    tile[x, 2] = v
    v = tile[2, 3]
    tile[0, x] = v
    tile[x, ptx.special.tid.x()] = v
    byte = small[1, x]
    small[x, x] = byte

    ptx.inst.ld.shared.f32(v, ptx.addr(tile[2], 4))
    ptx.inst.st.shared.f32(ptx.addr(tile), v)
    ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(full[3]), 1)
    h = smem.load(bf16, half)
    smem.store(bf16, ptx.addr(half, 2), h)
    there = smem.apply_swizzle(x, a.swizzle)
    smem.apply_swizzle(there, "32B")
    smem.apply_swizzle(there, "64B")
    assert smem.apply_swizzle(there, "NONE") is there and smem.apply_swizzle(there, None) is there
    ptx.ret()


@pytest.mark.parametrize(("size", "name"), [(0, "smem.ptx"), (50_000, "smem_dynamic.ptx")])
def test_twin_of_the_cpp_program(size, name, ptxas) -> None:
    text = Kernel(shared, raw_params=[("u32", "n")], smem=size).ptx()
    assert text == (GOLDEN / name).read_text()
    ptxas(text)


# -- allocations


def test_what_an_allocation_knows() -> None:
    with _ptx.Trace("test") as ctx:
        tile = smem.alloc(f32, (4, 32), swizzle="64B")
        assert (tile.name, tile.shape, tile.dtype, tile.swizzle, tile.byte_offset) == ("smem_0", (4, 32), f32, "64B", 0)
        assert tile.gmma_layout is None and tile.gmma_major is None
        assert smem.alloc(f32, 7).shape == (7,) and smem.alloc(f32, [2, 3]).name == "smem_2"
        assert (tile[2].alloc, tile[2].stage, tile[2].byte_offset, tile[2].name) == (tile, 2, 256, "smem_0")
        m = smem.mbarrier(3)
        assert (m.name, m.count, m.byte_offset, len(m)) == ("mbar_0", 3, 0, 3)
        assert (m[2].array, m[2].idx, m[2].name, m[2].byte_offset) == (m, 2, "mbar_0", 16)
        assert [ref.idx for ref in m] == [0, 1, 2] and len(list(tile)) == 4
        assert smem.mbarrier(1, "full").name == "full" and smem.mbarrier(1).name == "mbar_1"
        assert ctx.var_decls == ["smem_0", "smem_1", "smem_2", "mbar_0", "full", "mbar_1"]
        assert repr(tile) == "SharedAlloc(smem_0, f32, (4, 32))"
    text = ctx.finish().text
    assert ".shared .align 128 .b8 smem_0[512];" in text and ".shared .align 8 .b64 mbar_0[3];" in text


def test_offsets_are_given_in_the_order_of_the_calls() -> None:
    with _ptx.Trace("test", dynamic_smem=True) as ctx:
        first, barriers, second = smem.alloc(b8, 100), smem.mbarrier(3), smem.alloc(f32, (2, 64), align=512, name="ignored")
        assert [each.byte_offset for each in (first, barriers, second)] == [0, 104, 512]
        assert {each.name for each in (first, barriers, second, second[1], barriers[2])} == {"dyn_smem"}
        assert (barriers[2].byte_offset, second[1].byte_offset, ctx.shared_bytes) == (120, 768, 1024)
    assert ".extern .shared .align 512 .b8 dyn_smem[];" in ctx.finish().text


def test_names_are_counted_by_kernel() -> None:
    def one(Y):
        smem.alloc(f32, 4)
        smem.mbarrier(1)

    made = kernel(out_specs=(Tile(4, f32),))(one)
    assert made.ptx() == kernel(out_specs=(Tile(4, f32),))(one).ptx()
    assert "smem_0[16]" in made.ptx() and "mbar_0[1]" in made.ptx()


def test_a_tile_of_wgmma_has_its_layout() -> None:
    with _ptx.Trace("test"):
        a = smem.wgmma_tile(bf16, (64, 64))
        assert (a.shape, a.swizzle, a.gmma_layout.stride_byte_offset, a.gmma_layout.leading_byte_offset) == (
            (64, 64),
            "128B",
            1024,
            16,
        )
        assert a.gmma_major == 0
        b = smem.wgmma_tile(bf16, (64, 256), "MN", align=1024, name="b")
        assert (b.name, b.gmma_major, b.gmma_layout.leading_byte_offset) == ("b", 1, 64 * 128)
        assert smem.wgmma_tile(bf16, (64, 8)).swizzle is None
        assert smem.wgmma_tile(e4m3, (64, 32), "K").swizzle == "32B"
        same = smem.alloc_with_layout(bf16, (64, 64), "128B", gmma_layout=a.gmma_layout, gmma_major=a.gmma_major)
        assert (same.gmma_layout, same.gmma_major, same.swizzle) == (a.gmma_layout, a.gmma_major, "128B")
        for wrong in (
            lambda: smem.wgmma_tile(bf16, (63, 64)),
            lambda: smem.wgmma_tile(bf16, (64, 24)),
            lambda: smem.wgmma_tile(bf16, (4, 64), "MN"),
            lambda: smem.wgmma_tile(bf16, (64, 48), "MN"),
            lambda: smem.wgmma_tile(bf16, (64, 64), "N"),
            lambda: smem.wgmma_tile(bf16, (64, 64), None),
            lambda: smem.wgmma_tile(bf16, (64, 64, 2)),
            lambda: smem.alloc(bf16, 4, swizzle="96B"),
            lambda: smem.alloc(bf16, (4, -1)),
            lambda: smem.alloc(bf16, 4, align=48),
            lambda: smem.mbarrier(0),
        ):
            with pytest.raises(ValueError) as raised:
                wrong()
            assert raised.value.where[0] == __file__
        for wrong in (
            lambda: smem.alloc(bf16, (4, 2.5)),
            lambda: smem.alloc(bf16, "4"),
            lambda: smem.alloc(bf16, 4, swizzle=128),
            lambda: smem.alloc("bf16", 4),
            lambda: smem.alloc_with_layout(bf16, 4, gmma_layout="B128"),
        ):
            with pytest.raises(TypeError):
                wrong()


# -- handles as operands (FIX: with stage, index and dynamic offset)


def test_a_stage_is_an_address_of_its_own(mode) -> None:
    dynamic, ctx = mode
    smem.alloc(b8, 128)
    tile, v = smem.alloc(f32, (4, 32)), reg.scalar(f32)
    ptx.inst.ld.shared.f32(v, ptx.addr(tile[0]))
    ptx.inst.ld.shared.f32(v, ptx.addr(tile[2]))
    ptx.inst.ld.shared.f32(v, ptx.addr(tile[2], 4))
    ptx.inst.ld.shared.f32(v, ptx.addr(ptx.addr(tile[2], 4), 4))
    if dynamic:
        assert lines(ctx) == [
            "mov.b32 %r0, dyn_smem", "add.s32 %r0, %r0, 128", "ld.shared.f32 %f0, [%r0]",
            "mov.b32 %r1, dyn_smem", "add.s32 %r1, %r1, 384", "ld.shared.f32 %f0, [%r1]",
            "mov.b32 %r2, dyn_smem", "add.s32 %r2, %r2, 384", "ld.shared.f32 %f0, [%r2+4]",
            "mov.b32 %r3, dyn_smem", "add.s32 %r3, %r3, 384", "ld.shared.f32 %f0, [%r3+8]",
        ]  # fmt: skip
    else:
        assert lines(ctx) == [f"ld.shared.f32 %f0, [smem_1{offset}]" for offset in ("", "+256", "+260", "+264")]


def test_an_mbarrier_is_an_address_of_its_own(mode) -> None:
    dynamic, ctx = mode
    m = smem.mbarrier(2)
    ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(m[0]), 1)
    ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(m[1]), 1)
    assert [line for line in lines(ctx) if "mbarrier" in line] == [
        f"mbarrier.init.shared::cta.b64 [{at}], 1" for at in (("%r0", "%r1") if dynamic else ("mbar_0", "mbar_0+8"))
    ]
    if dynamic:
        assert lines(ctx)[2:4] == ["mov.b32 %r1, dyn_smem", "add.s32 %r1, %r1, 8"]


def test_a_register_for_an_offset_is_added(mode) -> None:
    dynamic, ctx = mode
    tile, offset, v = smem.alloc(f32, (4, 32)), reg.scalar(u32), reg.scalar(f32)
    ptx.inst.ld.shared.f32(v, ptx.addr(tile[1], offset))
    start = ["mov.b32 %r1, dyn_smem", "add.s32 %r1, %r1, 128"] if dynamic else ["mov.u32 %r1, smem_0", "add.u32 %r2, %r1, 128"]
    at = 2 if dynamic else 3
    base = at - 1
    assert lines(ctx) == [*start, f"add.u32 %r{at}, %r{base}, %r0", f"ld.shared.f32 %f0, [%r{at}]"]


@pytest.mark.parametrize("bare", [lambda handle: handle, lambda handle: handle.name], ids=["handle", "name"])
def test_a_bare_handle_is_its_address(mode, bare) -> None:
    dynamic, ctx = mode
    first, tile, m = smem.alloc(b8, 128), smem.alloc(f32, (4, 32)), smem.mbarrier(2)
    r = reg.scalar(u32)
    for handle in (first, tile, tile[1], m[0], m[1]):
        ptx.inst.mov.u32(r, bare(handle))
    if dynamic:
        added = [line for line in lines(ctx) if line.startswith("add.s32")]
        assert [int(line.split()[-1]) for line in added] == [128, 256, 640, 648]
        moved = [line.split()[-1] for line in lines(ctx) if line.startswith("mov.u32")]
        assert moved[1:] == [line.split()[-2].rstrip(",") for line in added]
        assert moved[0] == ("%r1" if bare(first) is first else "dyn_smem")
    else:
        assert lines(ctx) == [
            "mov.u32 %r0, smem_0", "mov.u32 %r0, smem_1", "mov.u32 %r1, smem_1", "add.u32 %r2, %r1, 128", "mov.u32 %r0, %r2",
            "mov.u32 %r0, mbar_0", "mov.u32 %r3, mbar_0", "add.u32 %r4, %r3, 8", "mov.u32 %r0, %r4",
        ]  # fmt: skip


def test_names_in_other_places(mode) -> None:
    dynamic, ctx = mode
    smem.alloc(b8, 128)
    tile, v = smem.alloc(f32, (4, 32)), reg.scalar(f32)
    assert isinstance(tile.name, str) and tile.name == ("dyn_smem" if dynamic else "smem_1")
    smem.base(tile.name)
    ptx.inst.ld.shared.f32(v, ptx.addr(tile.name, 4))
    ptx.mbarrier.array(tile.name, 8, 2)[1].init(1)
    if dynamic:
        assert lines(ctx)[0:2] == ["mov.b32 %r0, dyn_smem", "add.s32 %r0, %r0, 128"]
        assert lines(ctx)[2:5] == ["mov.b32 %r1, dyn_smem", "add.s32 %r1, %r1, 128", "ld.shared.f32 %f0, [%r1+4]"]
        assert lines(ctx)[7] == "mbarrier.init.shared::cta.b64 [%r2+16], 1"
    else:
        assert lines(ctx) == [
            "mov.u32 %r0, smem_1",
            "ld.shared.f32 %f0, [smem_1+4]",
            "mbarrier.init.shared::cta.b64 [smem_1+16], 1",
        ]


def test_a_handle_of_another_kernel() -> None:
    with _ptx.Trace("other"):
        tile, m = smem.alloc(f32, (4, 4)), smem.mbarrier(1)
    with _ptx.Trace("test"):
        v = reg.scalar(f32)
        for use in (
            lambda: ptx.inst.ld.shared.f32(v, ptx.addr(tile)),
            lambda: tile[0, 0],
            lambda: ptx.inst.ld.shared.f32(v, ptx.addr(tile[1])),
            lambda: ptx.mbarrier.init(m[0], 1),
        ):
            with pytest.raises(PtxError, match="another kernel") as raised:
                use()
            assert raised.value.kind == "undefined_symbol"


# -- elements


def test_elements(mode) -> None:
    dynamic, ctx = mode
    smem.alloc(b8, 128)
    tile, row, col = smem.alloc(f32, (4, 32)), reg.scalar(u32), reg.scalar(s32)
    v = tile[1, 2]
    tile[1, col] = v
    tile[0, col] = v
    tile[row, 3] = v
    assert v.dtype is f32 and tile[row, col].dtype is f32
    symbol = "dyn_smem" if dynamic else "smem_1"

    def at(index: int, register: int, access: str) -> list[str]:
        offset = [f"add.s32 %r{register}, %r{register}, 128"] if dynamic else []
        return [
            f"shl.b32 %r{index + 1}, %r{index}, 2", f"mov.b32 %r{register}, {symbol}", *offset,
            f"add.u32 %r{register}, %r{register}, %r{index + 1}", access.format(f"[%r{register}]"),
        ]  # fmt: skip

    assert lines(ctx) == [
        "mov.u32 %r2, 34", *at(2, 4, "ld.shared.f32 %f0, {}"),
        "add.u32 %r5, %r1, 32", *at(5, 7, "st.shared.f32 {}, %f0"),
        "mov.u32 %r8, %r1", *at(8, 10, "st.shared.f32 {}, %f0"),
        "mul.lo.u32 %r11, %r0, 32", "add.u32 %r12, %r11, 3", *at(12, 14, "st.shared.f32 {}, %f0"),
        "mul.lo.u32 %r15, %r0, 32", "add.u32 %r16, %r15, %r1", *at(16, 18, "ld.shared.f32 %f1, {}"),
    ]  # fmt: skip


def test_elements_of_other_sizes(ptxas) -> None:
    with _ptx.Trace("test") as ctx:
        for dtype, shift, word in ((b8, None, "b8"), (bf16, 1, "b16"), (b16, 1, "b16"), (u64, 3, "u64")):
            tile = smem.alloc(dtype, (2, 8))
            before = len(ctx.statements)
            tile[0, 0] = tile[1, 1]
            written = lines(ctx)[before:]
            assert sum(f"ld.shared.{word} " in line for line in written) == 1
            assert [line[-1] for line in written if "shl" in line] == ([str(shift)] * 2 if shift else [])
    ptxas(ctx.finish().text)


def test_what_elements_refuse() -> None:
    with _ptx.Trace("test") as ctx:
        tile, line, wide = smem.alloc(f32, (4, 32)), smem.alloc(f32, 32), reg.scalar(u64)
        r, v = reg.scalar(u32), reg.scalar(f32)
        for wrong in (
            lambda: line[0, 0],
            lambda: tile[0, 0, 0],
            lambda: tile[r],
            lambda: tile["a"],
            lambda: tile[True],
            lambda: tile[0, 1.0],
            lambda: tile[wide, 0],
            lambda: tile[0, v],
            lambda: tile.__setitem__((0, 0), 1.0),
            lambda: tile.__setitem__(0, v),
            lambda: line.__setitem__((0, 0), v),
        ):
            with pytest.raises(TypeError):
                wrong()
        for wrong in (lambda: tile[4], lambda: tile[-1], lambda: tile[4, 0], lambda: tile[0, -1], lambda: smem.mbarrier(2)[2]):
            with pytest.raises(IndexError):
                wrong()
        assert ctx.statements == []


# -- static and dynamic


def big(*, size=0):
    tile = smem.alloc(b8, 48 * 1024 - 8)
    m = smem.mbarrier(1)
    if size:
        smem.alloc(b8, size)
    ptx.mbarrier.init(m[0], 1)
    ptx.inst.st.shared.b32(ptx.addr(tile), reg.scalar(u32, init=0))
    ptx.ret()


def test_a_kernel_that_needs_it_is_traced_again(ptxas) -> None:
    runs = []

    def counted(*, size=0):
        runs.append(size)
        big(size=size)

    made = Kernel(counted)
    assert "dyn_smem" not in made.ptx() and ".b8 smem_0[49144]" in made.ptx() and runs == [0]
    text = made.ptx(size=1)
    assert runs == [0, 1, 1] and text.count(".extern .shared .align 128 .b8 dyn_smem[];") == 1 and "smem_0" not in text
    assert "add.s32 %r0, %r0, 49144;" in text
    assert (made.traced().dynamic_smem, made.traced(size=1).dynamic_smem) == (0, 49153)
    ptxas(made.ptx())
    ptxas(text)


def test_smem_of_the_kernel_makes_it_dynamic() -> None:
    assert "dyn_smem" not in Kernel(big, smem=49152).ptx()
    assert ".extern .shared .align 128 .b8 dyn_smem[];" in Kernel(big, smem=49153).ptx()


def test_the_dynamic_array_is_aligned_as_far_as_its_parts() -> None:
    def tiles():
        smem.mbarrier(1)
        assert [smem.alloc(u32, 1, align=align).byte_offset for align in (256, 1024, 16)] == [256, 1024, 1040]

    assert ".extern .shared .align 1024 .b8 dyn_smem[];" in Kernel(tiles, smem=100_000).ptx()


def test_the_dynamic_array_is_declared_when_it_is_used(ptxas) -> None:
    def nothing():
        ptx.ret()

    def small():
        smem.store(u32, smem.alloc(u32, 1), smem.load(u32, smem.base("tiles")))

    def by_name():
        ptx.inst.mov.b32(reg.scalar(u32), "dyn_smem")

    assert "dyn_smem" not in Kernel(nothing, smem=100_000, extern_smem="tiles").ptx()
    text = Kernel(small, smem=100_000, extern_smem="tiles").ptx()
    assert ".extern .shared .align 128 .b8 dyn_smem[];" in text and ".extern .shared .align 128 .b8 tiles[];" in text
    ptxas(text)
    assert ".extern .shared .align 128 .b8 dyn_smem[];" in Kernel(by_name, smem=100_000).ptx()
    with pytest.raises(PtxError, match="dyn_smem"):
        Kernel(small, smem=100_000, extern_smem="dyn_smem").ptx()

    def twice():
        for _ in range(2):
            with pytest.raises(PtxError, match="`dyn_smem` is declared already"):
                smem.alloc(u32, 1, align=1024)

    for name in ({"extern_smem": "dyn_smem"}, {"raw_params": [("u32", "dyn_smem")]}):
        assert ".align 1024" not in Kernel(twice, smem=100_000, **name).ptx()


@pytest.mark.parametrize(
    ("arch", "kib"), [("sm_80", 163), ("sm_86", 99), ("sm_89", 99), ("sm_90a", 227), ("sm_100a", 227), ("sm_120", 99)]
)
def test_more_than_the_target_has(arch, kib) -> None:
    def fits():
        smem.alloc(b8, kib * 1024)

    def too_much():
        smem.alloc(b8, kib * 1024)
        smem.mbarrier(1)

    assert Kernel(fits, arch=arch).traced().dynamic_smem == kib * 1024
    with pytest.raises(ValueError, match=str(kib * 1024)) as raised:
        Kernel(too_much, arch=arch).ptx()
    assert raised.value.kind == "shared_memory_size"
    assert raised.value.where == (__file__, too_much.__code__.co_firstlineno + 2)
    with pytest.raises(ValueError):
        Kernel(lambda: smem.alloc(u64, 1 << 61), arch=arch).ptx()


def test_a_trace_that_is_not_dynamic_says_so() -> None:
    with _ptx.Trace("test") as ctx:
        smem.alloc(b8, 49153)
    with pytest.raises(ValueError, match="have to be dynamic"):
        ctx.finish()


def last_element(X, Y):
    (y,) = ptx.global_ptrs(Y)
    tile = smem.alloc(f32, (2, 8000))
    tile[1, 7999] = reg.scalar(f32, init=2.5)
    ptx.inst.st.global_.f32(ptx.addr(y), tile[1, 7999])
    ptx.ret()


def test_the_launch_has_what_is_allocated() -> None:
    numpy = pytest.importorskip("numpy")
    specs = {"in_specs": (Tile(1, f32),), "out_specs": (Tile(1, f32),), "grid": 1, "block": 1}
    made = kernel(**specs)(last_element)
    assert made._image({}, {}, {}).smem == 64000
    assert made(numpy.zeros(1, numpy.float32)) == 2.5
    assert kernel(**specs, smem=70_000)(last_element)._image({}, {}, {}).smem == 70_000


# -- by address


def test_loads_and_stores(mode) -> None:
    dynamic, ctx = mode
    m, r = smem.mbarrier(1), reg.scalar(u32)
    smem.load(b64, m[0])
    smem.store(u32, r, smem.load(u32, ptx.addr(r, 8)))
    assert lines(ctx)[-2:] == ["ld.shared.u32 %r1, [%r0+8]", "st.shared.u32 [%r0], %r1"] or dynamic
    for wrong in (lambda: smem.store(u32, r, 1), lambda: smem.load(u32, 1.5), lambda: smem.base(3), lambda: smem.load(u32, None)):
        with pytest.raises(TypeError):
            wrong()


def test_swizzles() -> None:
    with _ptx.Trace("test") as ctx:
        off = reg.scalar(u32)
        for swizzle in ("32B", "64B", "128B"):
            assert smem.apply_swizzle(off, swizzle).dtype is u32
        assert lines(ctx) == [
            line
            for i, mask in ((1, 128), (3, 384), (5, 896))
            for line in (f"and.b32 %r{i}, %r0, {mask}", f"shr.u32 %r{i}, %r{i}, 3", f"xor.b32 %r{i + 1}, %r0, %r{i}")
        ]
        for wrong in ("16B", "", 128):
            with pytest.raises(ValueError):
                smem.apply_swizzle(off, wrong)
