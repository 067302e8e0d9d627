"""Every bad input of the authoring surface: one screen, the instruction, the value seen, what would fit, at the author's line."""

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from pyptx import PtxError, Tile, _ptx, kernel, ptx, reg, smem
from pyptx.types import b32, f32, pred, s32, u16, u32, u64


def dot_of_another_opcode():
    _ = ptx.inst.not_.f32


def dots_out_of_order():
    _ = ptx.inst.ld.f32.global_


def missing_rounding():
    a = reg.scalar(f32)
    ptx.inst.fma.f32(a, a, a, a)


def missing_type():
    a = reg.scalar(f32)
    ptx.inst.fma.rn(a, a, a, a)


def wide_register():
    a, wide = reg.scalar(u32), reg.scalar(u64)
    ptx.inst.add.u32(a, a, wide)


def wrong_type():
    a, x = reg.scalar(f32), reg.scalar(u32)
    ptx.inst.fma.rn.f32(a, a, x, a)


def too_few_operands():
    ptx.inst.add.u32(reg.scalar(u32), 1)


def short_vector():
    v = reg.array(f32, 4)
    ptx.inst.ld.global_.v4.f32([v[0], v[1]], ptx.addr(reg.scalar(u64)))


def bare_address():
    ptx.inst.ld.global_.f32(reg.scalar(f32), reg.scalar(u64))


def immediate_out_of_range():
    ptx.inst.mov.u32(reg.scalar(u32), 1 << 33)


def special_register_in_arithmetic():
    a = reg.scalar(u32)
    ptx.inst.add.u32(a, ptx.special.tid.x(), 1)


def guard_that_is_no_predicate():
    a = reg.scalar(u32)
    ptx.inst.add.u32(a, a, 1, pred=a)


def unknown_keyword():
    a = reg.scalar(u32)
    ptx.inst.add.u32(a, a, 1, predicate=a)


def none_as_operand():
    a = reg.scalar(u32)
    ptx.inst.add.u32(a, a, None)


def python_if():
    a = reg.scalar(u32)
    if a == 0:
        ptx.ret()


def float_operator():
    reg.scalar(f32) << 2


def short_operator():
    reg.scalar(u16) + 1


def not_a_predicate():
    ~reg.scalar(u32)


def if_of_a_number():
    with ptx.if_(reg.scalar(u32)):
        pass


def lone_else():
    with ptx.else_():
        pass


def else_too_late():
    p = reg.scalar(u32) == 0
    with ptx.if_(p):
        ptx.ret()
    reg.scalar(u32, init=1)
    with ptx.else_():
        pass


def broken_range():
    for _ in ptx.range_(0, 4):
        break


def range_without_step():
    for _ in ptx.range_(0, 4, 0):
        pass


def unknown_label():
    ptx.bra("nowhere")


def label_twice():
    ptx.label("here")
    ptx.label("here")


def dtype_by_name():
    reg.scalar("f32")


def slot_of_a_number():
    reg.array(u32, 2)[0] = 5


def unknown_special():
    ptx.sreg("%tid.q")


def unknown_param():
    ptx.param(u32, "n")


def empty_shared_array():
    smem.alloc(f32, (4, 0))


def unfit_width():
    ptx.warp.reduce_sum(reg.scalar(f32), width=5)


def warp_of_a_predicate():
    ptx.warp.reduce_sum(reg.scalar(pred))


def nothing():
    pass


CASES: list[tuple[Callable[[], None], str, type[Exception], int, list[str]]] = [
    # function, kind, also a, the line that errs (from the function's first), what the text must name
    (dot_of_another_opcode, "unknown_modifier", AttributeError, 1, ["`.f32`", "`not`", "`.b32`"]),
    (dots_out_of_order, "unknown_modifier", AttributeError, 1, ["`ld.f32`", "`.global`", "modifiers have an order"]),
    (missing_rounding, "unknown_modifier", AttributeError, 2, ["`fma`", "`.rn`, `.rz`, `.rm` or `.rp`"]),
    (missing_type, "missing_modifier", ValueError, 2, ["`fma.rn`", "`.f32`"]),
    (wide_register, "operand_mismatch", ValueError, 2,
     ["operand 3 `b` of `add.u32`", ".u64 register `%rd0`", "a .u32 register or an integer", "`cvt.u32.u64`"]),
    (wrong_type, "operand_mismatch", ValueError, 2, ["operand 3 `b` of `fma.rn.f32`", ".u32 register `%r0`", ".f32 register"]),
    (too_few_operands, "operand_count", TypeError, 1, ["`add.u32`", "takes 3 operands, 2 given"]),
    (short_vector, "operand_mismatch", ValueError, 2, ["`ld.global.v4.f32`", "a vector of 2", "a vector of 4 .f32 registers"]),
    (bare_address, "operand_mismatch", ValueError, 1, ["`ld.global.f32`", "`%rd0`", "an address in .global", "`ptx.addr(r)`"]),
    (immediate_out_of_range, "immediate_range", ValueError, 1, ["`mov.u32`", "8589934592", ".u32"]),
    (special_register_in_arithmetic, "operand_mismatch", ValueError, 2, ["`add.u32`", "`%tid.x`", "copy it first"]),
    (guard_that_is_no_predicate, "bad_guard", TypeError, 2, ["`Reg(%r0, u32)`", "a predicate register"]),
    (unknown_keyword, "argument_kind", TypeError, 2, ["`add.u32`", "`predicate`", "`pred`"]),
    (none_as_operand, "argument_kind", TypeError, 2, ["`None`", "a register, a number"]),
    (python_if, "bad_operator", TypeError, 2, ["`%p0`", "`with ptx.if_(p):`"]),
    (float_operator, "bad_operator", TypeError, 1, ["`<<`", "`%f0`", "`ptx.inst.shl"]),
    (short_operator, "bad_operator", TypeError, 1, ["`+`", "`%rs0`", "`ptx.inst.add"]),
    (not_a_predicate, "bad_operator", TypeError, 1, ["`%r0`", "`ptx.inst.not_.b32(d, a)`"]),
    (if_of_a_number, "bad_guard", TypeError, 1, ["`Reg(%r0, u32)`", "a predicate register"]),
    (lone_else, "bad_control_flow", RuntimeError, 1, ["`else_`", "`if_`"]),
    (else_too_late, "bad_control_flow", RuntimeError, 5, ["`else_`", "nothing may stand between"]),
    (broken_range, "bad_control_flow", RuntimeError, 1, ["`ptx.range_`", "`break`"]),
    (range_without_step, "bad_control_flow", RuntimeError, 1, ["`range_`", "0"]),
    (unknown_label, "undefined_label", ValueError, 1, ["`nowhere`"]),
    (label_twice, "duplicate_label", ValueError, 2, ["`here`", "first: "]),
    (dtype_by_name, "argument_kind", TypeError, 1, ["`reg.scalar`", "the str `'f32'`", "`pyptx.types`"]),
    (slot_of_a_number, "argument_kind", TypeError, 1, ["`%r[0]`", "the int `5`"]),
    (unknown_special, "undefined_symbol", ValueError, 1, ["`%tid.q`", "did you mean `%tid."]),
    (unknown_param, "undefined_symbol", ValueError, 1, ["`n`"]),
    (empty_shared_array, "bad_declaration", ValueError, 1, ["a dimension of 0"]),
    (unfit_width, "immediate_range", ValueError, 1, ["5 lanes", "2, 4, 8, 16 or 32"]),
    (warp_of_a_predicate, "bad_operator", TypeError, 1, ["pred"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind", "builtin", "line", "names"), CASES, ids=lambda value: getattr(value, "__name__", None))
def test_one_screen_at_the_authors_line(body, kind, builtin, line, names) -> None:
    with pytest.raises(PtxError) as raised:
        kernel(body).ptx()
    error, text = raised.value, str(raised.value)
    assert error.kind == kind, text
    assert isinstance(error, builtin)
    first = inspect.getsourcelines(body)[1]
    assert error.where == (__file__, first + line), text
    assert f"--> {__file__}:{first + line}" in text
    for name in names:
        assert name in text, text
    assert len(text.splitlines()) <= 12 and all(len(row) <= 240 for row in text.splitlines()), text
    assert error.message in text and all(note.split("\n")[0] in text for note in error.notes)
    assert not _ptx.is_tracing(), "an error in the body leaves no trace current"


def test_second_places_and_hints_are_data() -> None:
    with pytest.raises(PtxError) as raised:
        kernel(label_twice).ptx()
    error = raised.value
    line = inspect.getsourcelines(label_twice)[1] + 1
    assert error.places == [("first", __file__, line)] and f"first: {__file__}:{line}" in error.notes
    with pytest.raises(PtxError) as raised:
        kernel(unknown_special).ptx()
    assert any(hint.startswith("did you mean") for hint in raised.value.hints) and raised.value.places == []


def test_the_traceback_ends_at_the_authors_line() -> None:
    with pytest.raises(PtxError) as raised:
        kernel(wide_register).ptx()
    last = raised.traceback[-1]
    assert (Path(last.path).name, last.name) == (Path(__file__).name, "wide_register")


def test_a_helper_of_the_author_is_the_author() -> None:
    def helper(a):
        ptx.inst.add.u32(a, a, 1.5)

    def body():
        helper(reg.scalar(s32))

    with pytest.raises(PtxError) as raised:
        kernel(body).ptx()
    assert raised.value.where == (__file__, inspect.getsourcelines(helper)[1] + 1)


def test_the_same_line_is_found_again_and_again() -> None:
    def body():
        a = reg.scalar(b32)
        for i in range(3):
            ptx.inst.mov.b32(a, i)
        ptx.inst.mov.b32(a, 1 << 40)

    with pytest.raises(PtxError) as raised:
        kernel(body).ptx()
    assert raised.value.where == (__file__, inspect.getsourcelines(body)[1] + 4)


@pytest.mark.parametrize(
    "call",
    [
        lambda: reg.scalar(f32),
        lambda: reg.array(f32, 2),
        lambda: reg.from_(1, u32),
        lambda: ptx.inst.ret(),
        lambda: ptx.ret(),
        lambda: ptx.global_ptrs(),
        lambda: ptx.bar.sync(),
        lambda: smem.alloc(f32, 4),
        lambda: ptx.special.tid.x() + 1,
        lambda: ptx.if_(None).__enter__(),
    ],
)
def test_outside_a_kernel(call) -> None:
    with pytest.raises(RuntimeError, match="No active kernel trace") as raised:
        call()
    assert raised.value.kind == "no_active_trace" and raised.value.where[0] == __file__


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: kernel(len), TypeError, "takes a Python function"),
        (lambda: kernel(lambda *tensors: None), ValueError, "has its own name"),
        (lambda: kernel(in_specs=(Tile(4, f32),))(lambda: None), TypeError, "has 0 tensors"),
        (lambda: kernel(in_specs=(f32,))(lambda x: None), ValueError, "a sequence of `Tile`s"),
        (lambda: kernel(block=(0, 1))(lambda: None), ValueError, "at least 1"),
        (lambda: kernel(block="32")(lambda: None), TypeError, "one to three ints"),
        (lambda: kernel(arch="sm_91")(lambda: None).ptx(), ValueError, "is not a target of PTX"),
        (lambda: kernel(version=(7, 0))(nothing).ptx(), ValueError, "PTX 8.0"),
        (lambda: kernel(raw_params=[("q32", "n")])(nothing), ValueError, "`q32` is not a type"),
        (lambda: kernel(raw_params=[("u32.q", "n")])(nothing), ValueError, "`q` is not a part"),
        (lambda: kernel(raw_params=[("u32", "n"), ("u32", "n")])(nothing).ptx(), ValueError, "declared already"),
        (lambda: kernel(lambda: None).ptx(), ValueError, "`<lambda>` cannot name a kernel"),
    ],
)
def test_kernels_that_cannot_be(make, error, text) -> None:
    with pytest.raises(error, match=text) as raised:
        make()
    assert raised.value.where[0] == __file__


def test_an_error_of_no_line_of_the_body_is_at_the_kernel() -> None:
    with pytest.raises(PtxError) as raised:
        kernel(version=(7, 0))(nothing).ptx()
    assert raised.value.where == (__file__, inspect.getsourcelines(nothing)[1])


def test_an_instruction_that_the_target_lacks() -> None:
    def body():
        ptx.inst.setmaxnreg.inc.sync.aligned.u32(232)

    kernel(body).ptx()
    with pytest.raises(ValueError, match="sm_80") as raised:
        kernel(arch="sm_80")(body).ptx()
    assert raised.value.kind == "target_lacks" and raised.value.where == (__file__, inspect.getsourcelines(body)[1] + 1)


def test_every_kind_of_the_core_has_its_exception() -> None:
    from pyptx import errors

    for kind, builtin in _ptx.kinds():
        error = errors.from_diagnostic(kind, builtin, "m", "f.py", 3, [], "text")
        assert isinstance(error, PtxError) and error.kind == kind and str(error) == "text" and error.where == ("f.py", 3)
        assert type(error).__module__ == "pyptx"


def test_sass_without_tools(monkeypatch) -> None:
    monkeypatch.setenv("PYPTX_PTXAS", "/nowhere/ptxas")
    with pytest.raises(RuntimeError, match="ptxas") as raised:
        kernel(nothing).sass()
    assert raised.value.kind == "no_tool" and "/nowhere/ptxas" in str(raised.value)
    monkeypatch.delenv("PYPTX_PTXAS")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    monkeypatch.setattr("sys.path", [])
    if not Path("/usr/local/cuda/bin/ptxas").exists():
        with pytest.raises(RuntimeError, match="CUDA toolkit"):
            kernel(nothing).sass()
