"""The scalar half of `ptx`: typed wrappers, registers of the families apart, unrolled loops, directives, grouping, operands."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from pyptx import _ptx, intrinsic, kernel, ptx, reg
from pyptx._trace import get_ctx, trace_scope
from pyptx.ir import (
    AddressOperand,
    Block,
    CompoundExpr,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    NegatedOperand,
    ParenthesizedOperand,
    RegDecl,
    RegisterOperand,
    VarDecl,
    VectorOperand,
)
from pyptx.kernel import TensorSpec
from pyptx.spec import PtxValidationError
from pyptx.types import (
    b8,
    b16,
    b32,
    b64,
    b128,
    bf16,
    bf16x2,
    e4m3,
    e5m2,
    f16,
    f16x2,
    f32,
    f64,
    pred,
    s8,
    s16,
    s32,
    s64,
    tf32,
    u8,
    u16,
    u32,
    u64,
)  # fmt: skip

GOLDEN = Path(__file__).parents[1] / "golden" / "write" / "scalar.ptx"  # also what ptx/write/door/scalar_test.cpp writes


def lines(ctx) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements]


def test_twin_of_the_cpp_program(ptxas) -> None:
    @kernel(arch="sm_90a", raw_params=[("u32", "n")])
    def scalar():
        n = ptx.param(u32, "n")
        total = reg.alloc(f32)
        parts = reg.alloc_array(u32, 2)
        tab = ptx.var("local", b32, "tab", size=4, align=16)
        ptx.file_(1, "scalar.cu")
        ptx.loc(1, 12, 5)
        ptx.mov(f32, total, 0.0)
        ptx.st(b32, tab, n, space="local")
        ptx.pragma("nounroll")
        ptx.kloop(n, unroll=4, body=lambda: ptx.add(f32, total, total, 1.0))
        ptx.kloop(2, unroll=4, body=lambda: ptx.add(u32, parts[0], n, 2))
        ptx.kloop(n, unroll=2, body=lambda: ptx.add(u32, parts[1], n, 3), loop_label="again")
        _ptx.comment("the end")
        ptx.inst._raw_emit("exit;")

    text = scalar.ptx()
    assert text == GOLDEN.read_text()
    ptxas(text)


# -- typed wrappers


@pytest.mark.parametrize(
    ("write", "line"),
    [
        (lambda r, w, p, f: ptx.mov(u32, r, 5), "mov.u32 %r0, 5"),
        (lambda r, w, p, f: ptx.mov(f32, f, 1), "mov.f32 %f0, 0f3F800000"),
        (lambda r, w, p, f: ptx.add(u32, r, r, 1), "add.u32 %r0, %r0, 1"),
        (lambda r, w, p, f: ptx.sub(f32, f, f, 0.5), "sub.f32 %f0, %f0, 0f3F000000"),
        (lambda r, w, p, f: ptx.mul(f32, f, f, f), "mul.f32 %f0, %f0, %f0"),
        (lambda r, w, p, f: ptx.mul(u32, w, r, r, mode="wide"), "mul.wide.u32 %rd0, %r0, %r0"),
        (lambda r, w, p, f: ptx.mul(u32, r, r, 3, mode=".hi"), "mul.hi.u32 %r0, %r0, 3"),
        (lambda r, w, p, f: ptx.mad(u32, r, r, r, 1), "mad.lo.u32 %r0, %r0, %r0, 1"),
        (lambda r, w, p, f: ptx.mad(u32, w, r, r, w, mode="wide"), "mad.wide.u32 %rd0, %r0, %r0, %rd0"),
        (lambda r, w, p, f: ptx.shl(b32, r, r, 2), "shl.b32 %r0, %r0, 2"),
        (lambda r, w, p, f: ptx.shr(s32, r, r, 2), "shr.s32 %r0, %r0, 2"),
        (lambda r, w, p, f: ptx.and_(b32, r, r, 7), "and.b32 %r0, %r0, 7"),
        (lambda r, w, p, f: ptx.or_(b64, w, w, w), "or.b64 %rd0, %rd0, %rd0"),
        (lambda r, w, p, f: ptx.xor_(b32, r, r, "0xFF"), "xor.b32 %r0, %r0, 0xFF"),
        (lambda r, w, p, f: ptx.not_(b32, r, r), "not.b32 %r0, %r0"),
        (lambda r, w, p, f: ptx.and_(pred, p, p, p), "and.pred %p0, %p0, %p0"),
        (lambda r, w, p, f: ptx.or_(pred, p, p, p), "or.pred %p0, %p0, %p0"),
        (lambda r, w, p, f: ptx.xor_(pred, p, p, p), "xor.pred %p0, %p0, %p0"),
        (lambda r, w, p, f: ptx.not_(pred, p, p), "not.pred %p0, %p0"),
        (lambda r, w, p, f: ptx.setp("lt", u32, p, r, 4), "setp.lt.u32 %p0, %r0, 4"),
        (lambda r, w, p, f: ptx.setp("eq", f32, p, f, 0, pred_negate=~p), "@!%p0 setp.eq.f32 %p0, %f0, 0f00000000"),
        (lambda r, w, p, f: ptx.selp(u32, r, 1, 0, p), "selp.u32 %r0, 1, 0, %p0"),
        (lambda r, w, p, f: ptx.cvt(u64, u32, w, r), "cvt.u64.u32 %rd0, %r0"),
        (lambda r, w, p, f: ptx.cvt(f32, u32, f, r, rounding="rn"), "cvt.rn.f32.u32 %f0, %r0"),
        (lambda r, w, p, f: ptx.cvt(u32, f32, r, f, rounding=".rzi", ftz=True, sat=True), "cvt.rzi.ftz.sat.u32.f32 %r0, %f0"),
        (lambda r, w, p, f: ptx.ld(f32, f, w), "ld.global.f32 %f0, [%rd0]"),
        (lambda r, w, p, f: ptx.ld(f32, f, ptx.addr(w, -8)), "ld.global.f32 %f0, [%rd0+-8]"),
        (lambda r, w, p, f: ptx.ld(f32, f, w, cache="cg"), "ld.global.cg.f32 %f0, [%rd0]"),
        (lambda r, w, p, f: ptx.ld(f32, f, r, space="shared"), "ld.shared.f32 %f0, [%r0]"),
        (lambda r, w, p, f: ptx.ld(f32, f, w, space="generic", pred=p), "@%p0 ld.f32 %f0, [%rd0]"),
        (lambda r, w, p, f: ptx.ld(u32, r, r, space="shared__cta"), "ld.shared::cta.u32 %r0, [%r0]"),
        (lambda r, w, p, f: ptx.st(f32, w, f), "st.global.f32 [%rd0], %f0"),
        (lambda r, w, p, f: ptx.st(u32, ptx.addr("smem", 4), r, space="shared"), "st.shared.u32 [smem+4], %r0"),
        (lambda r, w, p, f: ptx.st(u32, w, r, cache="wt", pred=~p), "@!%p0 st.global.wt.u32 [%rd0], %r0"),
    ],
)  # fmt: skip
def test_typed_wrappers(trace, write, line) -> None:
    write(reg.scalar(u32), reg.scalar(u64), reg.scalar(pred), reg.scalar(f32))
    assert lines(trace) == [line]


@pytest.mark.parametrize(
    ("dtype", "mode", "line", "result"),
    [
        (u32, "lo", "mad.lo.s32 %r1, %r0, 4, %r0", u32),
        (s32, "lo", "mad.lo.s32 %r1, %r0, 4, %r0", s32),
        (u32, "hi", "mad.hi.u32 %r1, %r0, 4, %r0", u32),
        (s32, "hi", "mad.hi.s32 %r1, %r0, 4, %r0", s32),
        (b32, "hi", "mad.hi.u32 %r1, %r0, 4, %r0", b32),
        (u64, "lo", "mad.lo.s64 %rd1, %rd0, 4, %rd0", u64),
        (u16, "lo", "mad.lo.u16 %rs1, %rs0, 4, %rs0", u16),
        (f32, "lo", "fma.rn.f32 %f1, %f0, 0f40800000, %f0", f32),
        (f64, "lo", "fma.rn.f64 %fd1, %fd0, 0d4010000000000000, %fd0", f64),
    ],
)
def test_mad_into_a_fresh_register(trace, dtype, mode, line, result) -> None:
    a = reg.scalar(dtype)
    made = ptx.mad(a, 4, a, mode=mode)
    assert lines(trace) == [line] and made.dtype is result


def test_a_wide_mad_has_a_wide_result(trace) -> None:
    a, c = reg.scalar(s32), reg.scalar(s64)
    made = ptx.mad(4, a, c, mode="wide")
    assert made.dtype is s64
    assert ptx.mad(reg.scalar(b32), 3, c, mode="wide").dtype is u64
    assert lines(trace) == ["mad.wide.s32 %rd1, 4, %r0, %rd0", "mad.wide.u32 %rd2, %r1, 3, %rd0"]


def test_mad_copies_special_registers(trace) -> None:
    assert ptx.mad(ptx.special.ctaid.x(), 128, ptx.special.tid.x()).dtype is u32
    assert lines(trace) == ["mov.u32 %r0, %ctaid.x", "mov.u32 %r1, %tid.x", "mad.lo.s32 %r2, %r0, 128, %r1"]


@pytest.mark.parametrize(
    ("write", "error", "text"),
    [
        (lambda r, f: ptx.mul(u32, r, r, r), PtxValidationError, "mul.u32"),
        (lambda r, f: ptx.add(u32, r, f, 1), PtxValidationError, "add.u32"),
        (lambda r, f: ptx.add(b32, r, r, 1), PtxValidationError, "add.b32"),
        (lambda r, f: ptx.shl(u32, r, r, 1), PtxValidationError, "shl.u32"),
        (lambda r, f: ptx.mad(f32, f, f, f, f), PtxValidationError, "mad.lo.f32"),
        (lambda r, f: ptx.cvt(f32, u32, f, r), PtxValidationError, "cvt.f32.u32"),
        (lambda r, f: ptx.cvt(f32, u32, f, r, rounding="up"), PtxValidationError, "cvt.up.f32.u32"),
        (lambda r, f: ptx.ld(f32, f, reg.scalar(u64), cache="xx"), PtxValidationError, "ld.global.xx.f32"),
        (lambda r, f: ptx.mov(u32, r, 1 << 40), PtxValidationError, "mov.u32"),
        (lambda r, f: ptx.setp("less", u32, r, r, r), ValueError, "lt"),
        (lambda r, f: ptx.mul(u32, r, r, r, mode="low"), ValueError, "mode"),
        (lambda r, f: ptx.ld(f32, f, r, space="globl"), ValueError, "space"),
        (lambda r, f: ptx.st(f32, r, f, space="reg"), ValueError, "space"),
        (lambda r, f: ptx.mad(f, f, f, mode="hi"), ValueError, "mode"),
        (lambda r, f: ptx.mad(reg.scalar(u64), 1, r, mode="wide"), ValueError, "wide"),
        (lambda r, f: ptx.mad(1, 2, 3), TypeError, "register"),
        (lambda r, f: ptx.mad(u32, r, r), TypeError, "3 arguments"),
        (lambda r, f: ptx.mad(r, r), TypeError, "2 arguments"),
        (lambda r, f: ptx.mov("u32", r, 1), TypeError, "pyptx.types"),
        (lambda r, f: ptx.setp("eq", u32, r == 0, r, 0, pred=r == 1, pred_negate=r == 1), TypeError, "guard"),
        (lambda r, f: ptx.add(u32, r, r, 1, pred=r), TypeError, "predicate"),
    ],
)  # fmt: skip
def test_typed_wrappers_are_strict(trace, write, error, text) -> None:
    with pytest.raises(error, match=text) as raised:
        write(reg.scalar(u32), reg.scalar(f32))
    assert raised.value.where[0] == __file__
    assert not any(line.startswith(("mul", "add", "shl", "mad", "cvt", "ld", "st", "mov")) for line in lines(trace))


# -- registers of the families apart

PREFIXES = [
    (b8, "%ab"), (b16, "%ah"), (b32, "%ar"), (b64, "%ad"), (b128, "%aq"), (u8, "%au8"), (u16, "%au16"), (u32, "%au"),
    (u64, "%aud"), (s8, "%as8"), (s16, "%as16"), (s32, "%as"), (s64, "%asd"), (f16, "%af16"), (f16x2, "%af16x2"),
    (bf16, "%abf"), (bf16x2, "%abfx2"), (tf32, "%atf"), (f32, "%af"), (f64, "%afd"), (e4m3, "%ae4"), (e5m2, "%ae5"),
    (pred, "%ap"),
]  # fmt: skip


def test_alloc_names_by_type(trace) -> None:
    for dtype, prefix in PREFIXES:
        first, second = reg.alloc(dtype), reg.alloc(dtype)
        assert (first.name, second.name, first.dtype) == (f"{prefix}0", f"{prefix}1", dtype)
        array = reg.alloc_array(dtype, 2)
        assert (array.base, array[1].name) == (f"{prefix}arr0_", f"{prefix}arr0_1")
    assert reg.scalar(b32).name == "%r0" and reg.scalar(f32).name == "%f0"


def test_alloc_declares_types_that_ptxas_takes(ptxas) -> None:
    @kernel
    def allocated():
        for dtype, _ in PREFIXES:
            reg.alloc(dtype)
            reg.alloc_array(dtype, 3)
        ptx.ret()

    ptxas(allocated.ptx())


@pytest.mark.parametrize("count", [0, -1])
def test_alloc_of_no_registers(trace, count) -> None:
    with pytest.raises(ValueError):
        reg.alloc_array(f32, count)


@pytest.mark.parametrize("call", [lambda: reg.alloc(f32), lambda: reg.alloc_array(f32, 2), lambda: ptx.raw("ret;"),
                                  lambda: ptx.mov(u32, None, 1), lambda: ptx.kloop(1, unroll=1, body=print),
                                  lambda: ptx.pragma("nounroll"), lambda: ptx.loc(1, 1), lambda: ptx.file_(1, "a"),
                                  lambda: ptx.var("shared", b8, "a"), lambda: ptx.expr().__enter__()])  # fmt: skip
def test_outside_a_kernel(call) -> None:
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        call()


# -- loops


def test_kloop_of_a_register(trace) -> None:
    n = reg.scalar(u32)
    ptx.kloop(n, unroll=2, body=lambda: ptx.bar.sync())
    assert lines(trace) == [
        "and.b32 %r1, %r0, 1", "sub.s32 %r2, %r0, %r1", "setp.ge.u32 %p0, %r0, 2", "@!%p0 bra $_else_0",
        "mov.u32 %r3, %r2", "kloop:", "bar.sync 0", "bar.sync 0", "sub.s32 %r3, %r3, 2", "setp.ne.u32 %p1, %r3, 0",
        "@%p1 bra kloop", "bra $_endif_1", "$_else_0:", "$_endif_1:",
        "setp.gt.u32 %p2, %r1, 0", "@!%p2 bra $_else_2", "bar.sync 0", "bra $_endif_3", "$_else_2:", "$_endif_3:",
    ]  # fmt: skip


def test_kloop_of_a_number(trace) -> None:
    calls = []
    ptx.kloop(5, unroll=2, body=lambda: calls.append(len(calls)))
    assert calls == [0, 1, 2, 3, 4] and trace.statements == []


def test_kloop_runs_its_body_as_often_as_it_says() -> None:
    """On the executor, for every remainder."""
    np = pytest.importorskip("numpy")
    from pyptx import Tile

    @kernel(in_specs=(Tile("M", u32),), out_specs=(Tile("M", u32),), grid=(1,), block=(32,))
    def passes(x, y):
        px, py = ptx.global_ptrs(x, y)
        offset = reg.from_(ptx.special.tid.x(), u32) << 2
        n, count = reg.scalar(u32), reg.scalar(u32, init=0)
        ptx.ld(u32, n, px + offset)

        def body():
            nonlocal count
            count += 1

        ptx.kloop(n, unroll=4, body=body)
        ptx.kloop(n, unroll=1, body=body)
        ptx.st(u32, py + offset, count)
        ptx.ret()

    totals = np.arange(32, dtype=np.uint32)
    assert (np.asarray(passes(totals)) == 2 * totals).all()


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"unroll": 3}, ValueError), ({"unroll": 0}, ValueError), ({"unroll": -2}, ValueError),
        ({"total": 1.5}, TypeError), ({"total": "n"}, TypeError), ({"total": None}, TypeError), ({"total": True}, TypeError),
        ({"total": -1}, ValueError), ({"body": None}, TypeError),
    ],
)  # fmt: skip
def test_kloops_that_cannot_be(trace, keywords, error) -> None:
    arguments = {"total": 4, "unroll": 2, "body": lambda: None, **keywords}
    with pytest.raises(error):
        ptx.kloop(arguments.pop("total"), **arguments)
    assert trace.statements == []


def test_two_kloops(ptxas) -> None:
    @kernel(raw_params=[("u32", "n")])
    def twice():
        n = ptx.param(u32, "n")
        ptx.kloop(n, unroll=2, body=lambda: ptx.kloop(n, unroll=2, body=ptx.bar.sync))
        ptx.kloop(n, unroll=2, body=ptx.bar.sync)
        ptx.ret()

    ptxas(twice.ptx())
    with trace_scope():
        n = reg.scalar(u32)
        ptx.kloop(n, unroll=2, body=lambda: None, loop_label="L")
        with pytest.raises(ValueError, match="`L` is defined already"):
            ptx.kloop(n, unroll=2, body=lambda: None, loop_label="L")


# -- pipes, directives, variables


def test_pipe(trace) -> None:
    a, d, e = reg.scalar(s32), reg.scalar(s32), reg.scalar(s32)
    ptx.pipe(a).add.s32(d, 5).shl.b32(e, 2, pred=a == 0)
    assert lines(trace) == ["add.s32 %r1, %r0, 5", "setp.eq.s32 %p0, %r0, 0", "@%p0 shl.b32 %r2, %r1, 2"]
    with pytest.raises(AttributeError, match=r"`add` cannot be followed by `\.global`"):
        _ = ptx.pipe(a).add.global_


def test_directives(ptxas) -> None:
    @kernel
    def directed():
        ptx.file_(1, "kernel.cu")
        ptx.loc(1, 7)
        ptx.file_(2, "other.cu")
        ptx.pragma("nounroll")
        ptx.loc(2, 9, 3)
        ptx.ret()

    text = directed.ptx()
    ptxas(text)
    head, body = text.split(".visible .entry")
    assert '.file 1 "kernel.cu"\n.file 2 "other.cu"\n' in head, "`.file` belongs to the module"
    assert '\t.loc 1 7 0\n\t.pragma "nounroll";\n\t.loc 2 9 3\n\tret;\n' in body


@pytest.mark.parametrize("call", [lambda: ptx.file_(0, "a"), lambda: ptx.file_(1, 'a"b'), lambda: ptx.loc(1, -1),
                                  lambda: ptx.pragma('a"b'), lambda: (ptx.file_(1, "a"), ptx.file_(1, "b"))])  # fmt: skip
def test_directives_that_cannot_be(trace, call) -> None:
    with pytest.raises(ValueError):
        call()


def test_variables(ptxas) -> None:
    @kernel
    def variables():
        assert ptx.var("shared", b8, "tile", size=256, align=128) == "tile"
        ptx.var("shared__cta", b64, "bar", align=8)
        ptx.var("local", f32, "tab", size=4)
        ptx.st(f32, "tab", reg.scalar(f32, init=1), space="local")
        reg.from_("tile", u32)
        ptx.ret()

    text = variables.ptx()
    ptxas(text)
    for line in (".shared .align 128 .b8 tile[256];", ".shared .align 8 .b64 bar;", ".local .f32 tab[4];"):
        assert f"\t{line}\n" in text
    with trace_scope() as ctx:
        ptx.var("shared", b8, "dyn", linking="extern", align=16)
        assert ctx.var_decls == [VarDecl(ctx.var_decls[0].state_space, ctx.var_decls[0].type, "dyn", None, 16, None,
                                         ctx.var_decls[0].linking)]  # fmt: skip
        for wrong in (("sharde", b8, "x"), ("shared", b8, "dyn"), ("shared", b8, "1x")):
            with pytest.raises(ValueError):
                ptx.var(*wrong)
        with pytest.raises(ValueError):
            ptx.var("shared", b8, "y", linking="hidden")
        with pytest.raises(ValueError):
            ptx.var("shared", b8, "z", size=0)


def test_shortcuts_of_special_registers(trace) -> None:
    assert ptx.ctaid_x().name == "%ctaid.x" and ptx.ctaid_y().name == "%ctaid.y" and ptx.special.clock().dtype is u32


# -- operands


@pytest.mark.parametrize(
    ("operand", "text"),
    [
        ("0x3F800000", "0x3F800000"), ("0xff", "0xff"), ("0b101", "0b101"), ("017", "017"), ("42U", "42U"), ("-5", "-5"),
        ("5", "5"),
        (5, "5"), (True, "1"), (0x10, "16"), ("smem", "smem"), ("%tid.x", "%tid.x"), ("%r0", "%r0"),
        (RegisterOperand("%r0"), "%r0"), (RegisterOperand("%tid.x"), "%tid.x"), (ImmediateOperand("0x1F"), "0x1F"),
        (LabelOperand("smem"), "smem"), (TensorSpec("A"), "A"), (TensorSpec("A").tma_desc, "A_tma_desc"),
    ],
)  # fmt: skip
def test_operands(operand, text) -> None:
    handle = operand() if callable(operand) else operand  # a descriptor's handle is made outside the trace
    with _ptx.Trace("test") as ctx:
        ptx.inst.mov.b32(reg.scalar(b32), handle)
        assert lines(ctx) == [f"mov.b32 %r0, {text}"]


def test_floating_point_texts_keep_their_bits(trace) -> None:
    f, d = reg.scalar(f32), reg.scalar(f64)
    for text in ("0f7F800001", "0f80000000", "0f3F800000"):
        ptx.inst.mov.f32(f, text)
    ptx.inst.mov.f64(d, "0d7FF0000000000001")
    ptx.inst.mov.f32(f, "1.5")
    ptx.inst.mov.b32(reg.scalar(b32), "0f7F800001")
    assert [line.split(", ")[1] for line in lines(trace)] == [
        "0f7F800001", "0f80000000", "0f3F800000", "0d7FF0000000000001", "0f3FC00000", "0f7F800001",
    ]  # fmt: skip


def test_operands_of_several_parts(trace) -> None:
    a, p = reg.array(b32, 2), reg.scalar(pred)
    ptx.inst.ld.shared.v2.b32(VectorOperand((RegisterOperand("%r0"), RegisterOperand("%r1"))), AddressOperand("smem", "16"))
    ptx.inst.ld.shared.v2.b32(a, ptx.addr("smem", "0x20"))
    ptx.inst.st.shared.b32(AddressOperand("%r0", "-8"), a[1])
    ptx.inst.elect.sync(a[0] | p, -1)
    ptx.inst.elect.sync("_" | p, -1)
    ptx.inst.and_.pred(p, p, NegatedOperand(RegisterOperand("%p0")))
    ptx.inst.bra("L", pred=~p)
    ptx.label("L")
    assert lines(trace) == [
        "ld.shared.v2.b32 {%r0, %r1}, [smem+16]", "ld.shared.v2.b32 {%r0, %r1}, [smem+0x20]", "st.shared.b32 [%r0+-8], %r1",
        "elect.sync %r0|%p0, -1", "elect.sync _|%p0, -1", "and.pred %p0, %p0, !%p0", "@!%p0 bra L", "L:",
    ]  # fmt: skip


def test_tensor_coordinates_as_text(trace) -> None:
    r, m = reg.scalar(u32), reg.scalar(u64)
    for address in (ptx.addr(m, [r, 8]), ptx.addr(m, ", {%r0, 8}"), AddressOperand("%rd0", ", {%r0, 8}")):
        ptx.inst.cp.async_.bulk.prefetch.tensor._2d.L2.global_.tile(address)
    assert set(lines(trace)) == {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd0, {%r0, 8}]"}


def test_calls_take_lists(trace) -> None:
    a = reg.scalar(b32)
    ptx.inst.call("f", (a, 1))
    ptx.inst.call.uni((a,), "f", ParenthesizedOperand((RegisterOperand("%r0"),)))
    assert lines(trace) == ["call f, (%r0, 1)", "call.uni (%r0), f, (%r0)"]


@pytest.mark.parametrize("operand", [object(), {}, None, 1j])
def test_what_is_no_operand(trace, operand) -> None:
    with pytest.raises((TypeError, ValueError), match="None" if operand is None else type(operand).__name__):
        ptx.inst.mov.b32(reg.scalar(b32), operand)


# -- the trace as nodes, groups


def test_counts_of_statements() -> None:
    def body():
        ptx.bar.sync()

    def count(write) -> int:
        with trace_scope() as ctx:
            p = reg.scalar(pred)
            write(p)
            return len(ctx.statements)

    def if_alone(p):
        with ptx.if_(p):
            body()

    def if_else(p):
        with ptx.if_(p):
            body()
        with ptx.else_():
            body()

    def range_(_):
        for _k in ptx.range_(0, 4):
            body()

    assert [count(w) for w in (if_alone, if_else, range_, lambda p: reg.scalar(u32, init=1))] == [5, 6, 8, 1]


def test_statements_are_nodes() -> None:
    with trace_scope(ptx_version=(8, 0)) as ctx:
        assert get_ctx() is ctx
        r = reg.scalar(u32, init=1)
        reg.scalar(f32)
        with ptx.scope():
            local = reg.scalar(u32, name="local")
            ptx.add(u32, local, r, 1)
            assert isinstance(ctx.statements[-1], Block), "an open block is one statement"
        ptx.label("end")
        mov, block, label = ctx.statements
        assert mov == Instruction("mov", (".u32",), (RegisterOperand("%r0"), ImmediateOperand("1")))
        assert isinstance(label, Label) and [type(node) for node in block.body] == [RegDecl, Instruction]
        assert [(d.name, d.count) for d in ctx.reg_decls] == [("%r", 1), ("%f", 1)]
        assert ctx.validation_issues == []
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        get_ctx()


def test_expressions_keep_labels_and_braces_in_place(ptxas) -> None:
    def write(grouped):
        r = reg.scalar(u32, init=1)
        with ptx.expr() if grouped else nullcontext():
            ptx.label("top")
            with ptx.scope(), ptx.if_(r == 0):
                r += 1
            ptx.bra("top", pred=r == 1)
        ptx.ret()

    texts = []
    for grouped in (True, False):
        with trace_scope() as ctx:
            write(grouped)
            kinds = [type(node).__name__ for node in ctx.statements]
            if grouped:
                group = ctx.statements[1]
                assert isinstance(group, CompoundExpr)
                assert [type(node).__name__ for node in group.instructions] == ["Label", "Block", "Instruction", "Instruction"]
        assert kinds == (["Instruction", "CompoundExpr", "Instruction"] if grouped
                         else ["Instruction", "Label", "Block", "Instruction", "Instruction", "Instruction"])  # fmt: skip
        texts.append(ctx.finish().text)
    assert texts[0] == texts[1]
    ptxas(texts[0])


def test_groups_in_groups() -> None:
    @intrinsic
    def inner(r):
        return r + 1

    @intrinsic
    def outer(r, *, by):
        with ptx.expr():
            r = inner(r)
            return r << by

    with trace_scope() as ctx:
        a = reg.scalar(u32)
        b = outer(a, by=2)
        assert b.name == "%r2"
        (scope,) = ctx.statements
    assert isinstance(scope, IntrinsicScope) and (scope.name, scope.args_repr) == ("outer", "%r0, by=2")
    (expression,) = scope.body
    assert isinstance(expression, CompoundExpr)
    assert [type(node).__name__ for node in expression.instructions] == ["IntrinsicScope", "Instruction"]
    assert len(expression.instructions[0].body) == 1
    text = ctx.finish().text
    begin, end = text.index("\t// BEGIN outer(%r0, by=2)\n"), text.index("\t// END outer\n")
    assert begin < text.index("\t// BEGIN inner(%r0)\n") < text.index("\t// END inner\n") < end


def test_an_expression_is_left_by_an_exception() -> None:
    with trace_scope() as ctx:
        with pytest.raises(ZeroDivisionError), ptx.expr():
            reg.scalar(u32, init=1)
            raise ZeroDivisionError
        assert [type(node) for node in ctx.statements] == [CompoundExpr]
        ptx.ret()
    assert ctx.finish().instructions == 2


def test_a_line_that_is_no_ptx_is_shown_as_it_is() -> None:
    with trace_scope() as ctx:
        ptx.inst._raw_emit("what is this")
        assert [node.text for node in ctx.statements] == ["what is this"]
