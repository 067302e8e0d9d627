"""The helpers of `ptx` and `smem`: what each writes."""

import pytest

from pyptx import _ptx, kernel, ptx, reg, smem
from pyptx.kernel import TensorSpec
from pyptx.types import b32, b64, bf16, f32, s32, tf32, u32, u64


def lines(ctx) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements]


def test_global_pointers() -> None:
    with _ptx.Trace("test", params=[("u64", "X"), ("u64", "Y")]) as ctx:
        assert ptx.global_ptrs() == ()
        (x,) = ptx.global_ptrs(TensorSpec("X"))
        (y,) = ptx.global_ptrs("Y")
    assert x.dtype in (b64, u64) and y.name == "%rd1"
    assert lines(ctx) == [
        "ld.param.u64 %rd0, [X]",
        "cvta.to.global.u64 %rd0, %rd0",
        "ld.param.u64 %rd1, [Y]",
        "cvta.to.global.u64 %rd1, %rd1",
    ]


@pytest.mark.parametrize("wrong", [None, 5, "Z"])
def test_global_pointers_of_what_is_no_tensor(wrong) -> None:
    with _ptx.Trace("test", params=[("u64", "X")]), pytest.raises((TypeError, ValueError)):
        ptx.global_ptrs(wrong)


def test_special_registers(trace) -> None:
    assert [str(r.name) for r in (ptx.special.tid.x(), ptx.special.ntid.y(), ptx.special.ctaid.z(), ptx.special.nctaid.x())] == [
        "%tid.x", "%ntid.y", "%ctaid.z", "%nctaid.x",
    ]  # fmt: skip
    assert ptx.special.laneid().dtype is u32 and ptx.special.clock64().dtype is u64
    assert ptx.sreg("%cluster_ctarank").name == "%cluster_ctarank" and ptx.special.cluster_ctarank().name == "%cluster_ctarank"
    assert trace.statements == []


def test_if() -> None:
    with _ptx.Trace("test") as ctx:
        p = reg.scalar(u32) == 0
        with ptx.if_(p):
            ptx.ret()
        with ptx.if_(~p):
            ptx.ret()
    text = lines(ctx)
    assert text[1:6] == ["@!%p0 bra $_else_0", "ret", "bra $_endif_1", "$_else_0:", "$_endif_1:"]
    assert text[6] == "@%p0 bra $_else_2" and len(text) == 11


def test_else() -> None:
    with _ptx.Trace("test") as ctx:
        p, q = reg.scalar(u32) == 0, reg.scalar(u32) == 1
        with ptx.if_(p):
            with ptx.if_(q):
                ptx.ret()
            reg.scalar(u32, init=1)
        with ptx.else_():
            reg.scalar(u32, init=2)
    ctx.finish()
    text = [line for line in lines(ctx)]
    assert text == []  # a finished trace is spent


def test_if_and_else_are_paired_by_their_place(ptxas) -> None:
    @kernel
    def paired():
        tid = reg.from_(ptx.special.tid.x(), u32)
        with ptx.if_(tid < 4):
            with ptx.if_(tid == 1):
                reg.scalar(u32, init=1)
            reg.scalar(u32, init=2)
        with ptx.else_():
            reg.scalar(u32, init=3)
        ptx.ret()

    text = paired.ptx()
    ptxas(text)
    order = [
        text.index(part)
        for part in (
            "mov.u32 %r1, 1;",
            "$_else_2:",
            "$_endif_3:",
            "mov.u32 %r2, 2;",
            "$_else_0:",
            "mov.u32 %r3, 3;",
            "$_endif_1:",
        )
    ]
    assert order == sorted(order)


def test_loop() -> None:
    with _ptx.Trace("test") as ctx:
        n = reg.scalar(u32, init=4)
        p = n != 0
        with ptx.loop("again", pred=p):
            n -= 1
        with ptx.loop("forever"):
            ptx.ret(pred=p)
    assert lines(ctx)[2:] == ["again:", "sub.s32 %r0, %r0, 1", "@%p0 bra again", "forever:", "@%p0 ret", "bra.uni forever"]


def test_range(ptxas) -> None:
    with _ptx.Trace("test") as ctx:
        for k in ptx.range_(0, reg.scalar(s32, init=8), 2):
            assert k.dtype is s32
            reg.scalar(u32) + k
    assert lines(ctx) == [
        "mov.s32 %r0, 8", "mov.s32 %ri0, 0", "$_range_0:", "setp.ge.s32 %p0, %ri0, %r0", "@%p0 bra $_endrange_1",
        "add.u32 %r2, %r1, %ri0", "add.s32 %ri0, %ri0, 2", "bra $_range_0", "$_endrange_1:",
    ]  # fmt: skip


def test_range_by_registers() -> None:
    with _ptx.Trace("test") as ctx:
        n = reg.scalar(s32, init=2)
        for _ in ptx.range_(n, n, n):
            pass
    assert lines(ctx)[1:] == [
        "mov.s32 %ri0, %r0", "$_range_0:", "setp.ge.s32 %p0, %ri0, %r0", "@%p0 bra $_endrange_1",
        "add.s32 %ri0, %ri0, %r0", "bra $_range_0", "$_endrange_1:",
    ]  # fmt: skip


def test_leaving_a_range_early_is_an_error() -> None:
    def by_break():
        for _ in ptx.range_(0, 4):
            break

    def by_return():
        for _ in ptx.range_(0, 4):
            return

    def by_an_exception():
        try:
            for _ in ptx.range_(0, 4):
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass

    for body in (by_break, by_return, by_an_exception):
        with pytest.raises(RuntimeError, match=r"`ptx\.range_` was left before its end"):
            kernel(body).ptx()


def test_a_range_is_for_a_for_statement() -> None:
    def by_list():
        list(ptx.range_(0, 4))

    def by_zip():
        for _ in zip((1, 2, 3), ptx.range_(0, 3), strict=True):
            pass

    def by_enumerate():
        for _ in enumerate(ptx.range_(0, 3)):
            pass

    def by_comprehension():
        return [i + i for i in ptx.range_(0, 3)]

    def by_generator():
        return sum(i for i in ptx.range_(0, 3))

    for body in (by_list, by_zip, by_enumerate, by_comprehension, by_generator):
        with pytest.raises(RuntimeError, match=r"`ptx\.range_` is for a `for` statement"):
            kernel(body).ptx()

    def by_a_name():
        steps = ptx.range_(0, 4)
        for _ in steps:
            pass

    kernel(by_a_name).ptx()


@pytest.mark.parametrize(
    ("start", "stop", "step", "after"),
    [(2**31 - 4, 2**31 - 1, 2, 2**31), (0, 2**31 - 1, 2**30, 2**31), (-(2**31) + 3, -(2**31), -2, -(2**31) - 1)],
)
def test_a_range_ends_within_its_counter(start: int, stop: int, step: int, after: int) -> None:
    def body():
        for _ in ptx.range_(start, stop, step):
            pass

    with pytest.raises(ValueError, match=rf"behind its last number comes {after}, which is none"):
        kernel(body).ptx()


def test_every_guard_is_a_predicate(trace) -> None:
    r = reg.scalar(u32)
    for call in (lambda: ptx.bra("L", pred=r), lambda: ptx.ret(pred=r), lambda: ptx.if_(r).__enter__(),
                 lambda: ptx.loop("L", pred=r).__enter__(), lambda: ptx.inst.bar.sync(0, pred=r), lambda: ptx.if_(5).__enter__(),
                 lambda: ptx.bra("L", pred="p"), lambda: ptx.ret(pred=ptx.special.tid.x())):  # fmt: skip
        with pytest.raises(TypeError, match="predicate"):
            call()
    assert trace.statements == []


def test_labels_are_unique_in_the_kernel_or_in_their_scope(ptxas) -> None:
    @kernel
    def labelled():
        for _ in range(2):
            with ptx.scope():
                ptx.label("again")
                ptx.bra("out")
        ptx.label("out")
        with pytest.raises(ValueError, match="`out` is defined already"):
            ptx.label("out")
        ptx.ret()

    ptxas(labelled.ptx())


def test_an_exception_in_a_block_is_the_authors() -> None:
    def body():
        with ptx.if_(reg.scalar(u32) == 0), ptx.scope():
            for _ in ptx.range_(0, 4):
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kernel(body).ptx()


def test_scopes_keep_their_registers(ptxas) -> None:
    @kernel
    def scoped():
        for _ in range(2):
            with ptx.scope():
                r = reg.scalar(u32, name="local")
                ptx.inst.mov.u32(r, 1)
        ptx.ret()

    text = scoped.ptx()
    ptxas(text)
    assert text.count(".reg .b32 local;") == 2


def test_labels_branches_barriers(ptxas) -> None:
    @kernel
    def flow():
        p = reg.from_(ptx.special.tid.x(), u32) == 0
        ptx.bra("done", pred=~p)
        ptx.bar.sync()
        ptx.bar.sync(1, 64)
        ptx.label("done")
        ptx.ret()

    text = flow.ptx()
    ptxas(text)
    assert "\t@!%p0 bra done;\n\tbar.sync 0;\n\tbar.sync 1, 64;\ndone:\n\tret;\n" in text


def test_warp_reductions(trace) -> None:
    v = reg.scalar(f32)
    assert ptx.warp.reduce_sum(v, width=2) is v
    assert lines(trace) == [
        "mov.b32 %r0, %f0",
        "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1",
        "mov.b32 %f1, %r1",
        "add.f32 %f0, %f0, %f1",
    ]


@pytest.mark.parametrize("name", ["sum", "max", "min"])
@pytest.mark.parametrize(("dtype", "spelled"), [(s32, "s32"), (u32, "u32"), (b32, "u32"), (f32, "f32"), (tf32, "f32")], ids=str)
def test_warp_reductions_know_the_sign(trace, name, dtype, spelled) -> None:
    getattr(ptx.warp, f"reduce_{name}")(reg.scalar(dtype), width=4)
    opcode = {"sum": "add"}.get(name, name)
    assert [line.split()[0] for line in lines(trace)].count(f"{opcode}.{spelled}") == 2  # distances 2 and 1
    assert lines(trace)[-1].startswith(f"{opcode}.{spelled} ")


def test_shared_memory(ptxas) -> None:
    @kernel
    def shared():
        tile = smem.alloc(f32, (4, 32))
        half = smem.alloc(bf16, 16, align=16, name="half")
        assert (tile.name, tile.shape, tile.dtype, half.shape, half.byte_offset) == ("smem_0", (4, 32), f32, (16,), 0)
        base = smem.base(tile.name)
        value = smem.load(f32, base)
        smem.store(f32, ptx.addr(tile, 4), value)
        h = smem.load(bf16, ptx.addr(half, 2))
        assert h.dtype is bf16
        ptx.ret()

    text = shared.ptx()
    ptxas(text)
    for line in (
        ".shared .align 128 .b8 smem_0[512];", ".shared .align 16 .b8 half[32];", "mov.u32 %r0, smem_0;",
        "ld.shared.f32 %f0, [%r0];", "st.shared.f32 [smem_0+4], %f0;", "ld.shared.b16 %h0, [half+2];",
    ):  # fmt: skip
        assert f"\t{line}\n" in text


def test_parameters_and_address_spaces() -> None:
    with _ptx.Trace("test", params=[("u32", "n"), ("b8.align64.array128", "map")]) as ctx:
        n = ptx.param(u32, "n")
        assert ptx.param(u32, "n", n) is n
        ptx.cvta.param(ptx.param(u64, "map"))
        ptx.cvta.to_global(reg.scalar(u64))
    assert lines(ctx) == [
        "ld.param.u32 %r0, [n]",
        "ld.param.u32 %r0, [n]",
        "mov.u64 %rd0, map",
        "cvta.param.u64 %rd1, %rd0",
        "cvta.to.global.u64 %rd3, %rd2",
    ]
