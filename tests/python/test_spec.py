"""`pyptx.spec`: the table as data, instructions held to it, and the switch."""

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import pyptx
from pyptx import PtxError, PtxWarning, _ptx, kernel, ptx, reg, spec
from pyptx._trace import trace_scope
from pyptx.ir import Function, ImmediateOperand, Instruction, RegisterOperand
from pyptx.parser import parse
from pyptx.spec import (
    INSTRUCTIONS,
    InstructionSpec,
    ModifierGroup,
    PtxValidationError,
    UnvalidatedInstructionWarning,
    ValidationError,
    ValidationIssue,
    get_specs,
    is_strict,
    register_overload,
    set_strict,
    strict,
    validate_instruction,
    validate_or_raise,
)
from pyptx.types import f32, f64, pred, u32, u64

pytestmark = pytest.mark.filterwarnings("ignore::pyptx.spec.UnvalidatedInstructionWarning")


def instruction(text: str) -> Instruction:
    module = parse(f".version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n{{\n{text}\n}}\n")
    (function,) = (node for node in module.directives if isinstance(node, Function))
    return next(node for node in function.body if isinstance(node, Instruction))


def messages(text: str) -> list[str]:
    return [issue.message for issue in validate_instruction(instruction(text))]


# -- the table


def test_the_table_is_the_cores() -> None:
    assert isinstance(INSTRUCTIONS, dict)
    assert set(INSTRUCTIONS) == set(_ptx.opcodes()) and len(INSTRUCTIONS) == len(_ptx.opcodes()) >= 100
    assert "fma" in INSTRUCTIONS and "fmaa" not in INSTRUCTIONS and INSTRUCTIONS.get("fmaa") is None
    with pytest.raises(KeyError):
        INSTRUCTIONS["fmaa"]


def test_rows() -> None:
    rows = get_specs("fma")
    assert INSTRUCTIONS["fma"] == rows[0] and len(rows) > 1 and all(row.opcode == "fma" for row in rows)
    row = next(row for row in rows if any(".f32" in group.options for group in row.modifier_groups))
    rounding = next(group for group in row.modifier_groups if ".rn" in group.options)
    assert rounding.required and set(rounding.options) >= {".rn", ".rz", ".rm", ".rp"}
    assert (row.min_operands, row.max_operands) == (4, 4) and row.operand_pattern == "d, a, b, c"
    assert row.description and row.since_version >= (1, 0) and row.arch is not None
    assert get_specs("fmaa") == []
    wgmma = get_specs("wgmma")[0]
    assert wgmma.arch is not None and "sm_90a" in wgmma.arch and wgmma.since_version == (8, 0)


# -- instructions


@pytest.mark.parametrize(
    "text",
    [
        "add.u32 %r0, %r1, 5;", "add.f32.rn.ftz %f0, %f1, %f2;", "fma.rn.f32 %f0, %f1, %f2, 0f3F800000;", "ret;", "bra.uni L;",
        "@!%p0 bra L;", "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0+16];", "ld.param.u64 %rd0, [x];", "mov.u32 %r0, %tid.x;",
        "mov.b64 %rd0, {%r0, %r1};", "mov.u32 %r0, smem;", "setp.lt.and.u32 %p0|%p1, %r0, 4, !%p2;", "elect.sync _|%p0, -1;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1, 8}], [%r2];",
        "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, s, {%f4, %f5}];", "call.uni (%r0), f, (%r1, 2);", "mov.f64 %fd0, 1.5;",
        "mov.u32 %r0, ((128>>4)<<16);", "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %r1}, [%r2];", "st.local.b32 [128], %r0;",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%rd0];",
        "shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;",
        "vadd.s32.s32.s32 %r0, %r1.b0, %r2.h1;",
    ],
)  # fmt: skip
def test_what_ptxas_takes_has_no_issues(text) -> None:
    assert messages(text) == []


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("add %r0, %r1, 5;", "Missing required modifier"),
        ("fma.f32 %f0, %f1, %f2, %f3;", "Missing required modifier"),
        ("add.u33 %r0, %r1, 5;", "`.u33`"),
        ("ld.globl.f32 %f0, [%rd0];", "`.globl`"),
        ("add.u32 %r0, %r1;", "Too few operands"),
        ("add.u32 %r0, %r1, 5, 6;", "Too many operands"),
        ("ret.uni 5;", "Too many operands"),
        ("ld.global.f32 %f0, %rd0;", "an address in .global"),
        ("ld.global.v4.f32 {%f0, %f1}, [%rd0];", "a vector of 4"),
        ("add.u32 5, %r0, %r1;", "operand 1 `d`"),
        ("add.u32 %r0, %tid.x, 1;", "`%tid.x`"),
        ("setmaxnreg.inc.sync.aligned.u32 7;", "is 7"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_instruction(text, fragment) -> None:
    (message,) = messages(text)
    assert fragment in message
    (issue,) = validate_instruction(instruction(text))
    assert issue.severity == "error" and issue.instruction == instruction(text)


def test_an_unknown_opcode_is_a_warning() -> None:
    (issue,) = validate_instruction(Instruction("frob", (".u32",)))
    assert issue.severity == "warning" and "Unknown opcode" in issue.message and "`frob`" in issue.message
    with pytest.warns(UnvalidatedInstructionWarning, match=r"frob\.u32"), warnings.catch_warnings():
        warnings.simplefilter("always")
        validate_or_raise(Instruction("frob", (".u32",)))
    with warnings.catch_warnings(record=True) as seen:
        warnings.resetwarnings()
        warnings.simplefilter("ignore", UnvalidatedInstructionWarning, append=True)
        validate_or_raise(Instruction("frob"))
    assert seen == []


def test_errors_raise_with_the_opcode_first() -> None:
    with pytest.raises(PtxValidationError) as raised:
        validate_or_raise(Instruction("add", (".u32",), (RegisterOperand("%r0"),)))
    error = raised.value
    assert str(error).splitlines()[0] == "add.u32" and "Too few operands" in str(error)
    assert isinstance(error, ValueError) and isinstance(error, PtxError) and len(error.issues) == 1 and error.user_frame is None
    with strict(False):
        validate_or_raise(Instruction("add", (".u32",), (RegisterOperand("%r0"),)))


def test_errors_and_issues_are_values() -> None:
    assert ValidationError is ValidationIssue
    issue = ValidationIssue(Instruction("add", (".u32",)), "bad")
    assert issue == ValidationIssue(Instruction("add", (".u32",)), "bad", "error")
    error = PtxValidationError([issue], user_frame=("k.py", 3))
    assert error.issues == [issue] and error.user_frame == ("k.py", 3) and error.where == ("k.py", 3)
    assert str(error) == "add.u32\n  error: bad\n  --> k.py:3"
    assert PtxValidationError([issue], user_frame=sys._getframe()).where[0] == __file__


def test_tables_of_ones_own() -> None:
    mine = {
        "frob": InstructionSpec(
            "frob", (ModifierGroup("type", (".u32", ".s32"), True), ModifierGroup("sat", ("sat",))), "d", 1, 2
        )
    }

    def wrong(*modifiers, operands=1):
        node = Instruction("frob", modifiers, (ImmediateOperand("1"),) * operands)
        return [issue.message for issue in validate_instruction(node, mine)]

    assert wrong(".u32") == [] and wrong(".sat", ".s32", operands=2) == []
    assert "Missing required modifier" in wrong(".sat")[0] and "`.f32`" in wrong(".u32", ".f32")[0]
    assert "Too few operands" in wrong(".u32", operands=0)[0] and "Too many operands" in wrong(".u32", operands=3)[0]
    assert validate_instruction(Instruction("add"), mine)[0].severity == "warning"
    assert validate_instruction(instruction("add.u32 %r0, %r1, 1;"), INSTRUCTIONS) == []


def test_overloads(monkeypatch) -> None:
    monkeypatch.setattr(spec.ptx, "overloads", {})
    node = Instruction("add", (".u7",), (RegisterOperand("%r0"),))
    assert validate_instruction(node) != []
    added = InstructionSpec("add", (ModifierGroup("type", (".u7",), True),), "d", 1, 1)
    register_overload(added)
    assert validate_instruction(node) == [] and get_specs("add")[-1] is added
    register_overload(InstructionSpec("frob"))
    assert validate_instruction(Instruction("frob")) == []


@pytest.mark.filterwarnings("ignore::pyptx.PtxWarning")  # of registers that nothing writes
def test_every_instruction_of_a_kernel_fits() -> None:
    """No false positives on what the table itself wrote."""

    @kernel
    def body():
        a, p, w, f = reg.array(u32, 4), reg.scalar(pred), reg.scalar(u64), reg.scalar(f32)
        ptx.inst.ld.global_.v4.u32(a, ptx.addr(w, 16), pred=~p)
        ptx.warp.reduce_sum(f)
        ptx.kloop(a[0], unroll=4, body=lambda: ptx.mad(u32, a[1], a[2], 3, a[3]))
        ptx.inst.cp.async_.bulk.prefetch.tensor._2d.L2.global_.tile(ptx.addr(w, [a[0], 1]))
        ptx.ret()

    nodes = [node for f in parse(body.ptx()).directives if isinstance(f, Function) for node in f.body]
    written = [node for node in nodes if isinstance(node, Instruction)]
    assert len(written) > 40 and [issue for node in written for issue in validate_instruction(node)] == []


# -- the switch


@pytest.fixture
def unchecked():
    with strict(False):
        yield


def test_strict_is_the_default_and_a_block_is_of_its_thread() -> None:
    assert is_strict()
    seen = []
    with strict(False):
        assert not is_strict()
        with strict(True):
            assert is_strict()
        thread = threading.Thread(target=lambda: seen.append(is_strict()))
        thread.start()
        thread.join()
    assert is_strict() and seen == [True]
    set_strict(False)
    try:
        assert not is_strict()
    finally:
        set_strict(True)
    assert is_strict()


def wrong_instructions() -> None:
    r, w, f, p = reg.scalar(u32), reg.scalar(u64), reg.scalar(f32), reg.scalar(pred)
    ptx.inst.frobnicate.rn.shared__cta(r, ptx.addr(w, -8), [r, 5], "sym", pred=~p)
    ptx.inst.add.wibble.u32(r, r, 1)
    ptx.inst.add(r, r, 1)
    ptx.inst.add.u32(r, w, 1)
    ptx.inst.add.u32(r, r)
    ptx.inst.setmaxnreg.inc.sync.aligned.u32(7)
    ptx.inst.add.f32(f, f, "%newreg.x")
    ptx.inst.frob.f64((r, w), ptx.addr(w, [r, 1]), 1.5, r | p, "_")
    ptx.add(u32, r, f, 1.5)


WRITTEN = [
    "@!%p0 frobnicate.rn.shared::cta %r0, [%rd0+-8], {%r0, 5}, sym;",
    "add.wibble.u32 %r0, %r0, 1;",
    "add %r0, %r0, 1;",
    "add.u32 %r0, %rd0, 1;",
    "add.u32 %r0, %r0;",
    "setmaxnreg.inc.sync.aligned.u32 7;",
    "add.f32 %f0, %f0, %newreg.x;",
    "frob.f64 (%r0, %rd0), [%rd0, {%r0, 1}], 0d3FF8000000000000, %r0|%p0, _;",
    "add.u32 %r0, %f0, 0f3FC00000;",
]


def test_off_records_what_the_table_refuses(unchecked) -> None:
    with _ptx.Trace("test") as trace:
        wrong_instructions()
        assert trace.statements == WRITTEN
        kinds = [kind for _, kind, _, _ in trace.issues]
        assert kinds == ["unknown_opcode", "unknown_modifier", "missing_modifier", "operand_mismatch", "operand_count",
                         "immediate_range", "operand_mismatch", "unknown_opcode", "operand_mismatch"]  # fmt: skip
    text = trace.finish().text
    assert all(f"\t{line}\n" in text for line in WRITTEN), "the module is not refused for it"


def test_what_was_let_through_is_ptxas_to_judge(unchecked, ptxas) -> None:
    @kernel
    def cut():
        ptx.inst.mov.u32(reg.scalar(u32), 1 << 40)
        ptx.ret()

    ptxas(cut.ptx())
    with strict(True), pytest.raises(ValueError, match="cannot hold"):
        kernel(cut._fn).ptx()


def test_off_keeps_the_register_that_a_call_gives_back(unchecked) -> None:
    with _ptx.Trace("test"):
        r = reg.scalar(u32)
        assert ptx.inst.frob.u32(r, 1) is r and ptx.inst.frob.u32(1, r) is None


def test_issues_on_the_context(unchecked) -> None:
    with trace_scope() as ctx:
        r = reg.scalar(u32)
        ptx.inst.add.u32(r, r)
        ptx.inst.frob.u32(r)
        first, second = ctx.validation_issues
        assert first.instruction == Instruction("add", (".u32",), (RegisterOperand("%r0"),) * 2)
        assert (first.severity, second.severity) == ("error", "warning") and "takes 3 operands" in first.message
        assert second.instruction.opcode == "frob"


def test_an_unknown_opcode_warns_when_it_is_written(unchecked) -> None:
    with _ptx.Trace("test"), pytest.warns(UnvalidatedInstructionWarning, match="frob"), warnings.catch_warnings():
        warnings.simplefilter("always")
        ptx.inst.frob.u32(1)


def test_off_is_for_the_table_alone(unchecked) -> None:
    with _ptx.Trace("test") as trace:
        r = reg.scalar(u32)
        for call in (lambda: ptx.inst.add.u32(r, r, object()), lambda: ptx.inst.add.u32(r, r, 1, pred=r),
                     lambda: ptx.inst.add.u32(r, r, 1, predicate=r), lambda: r + 1.5,
                     lambda: ptx.raw("add.u32 %r0")):  # fmt: skip
            with pytest.raises((TypeError, ValueError, RuntimeError)):
                call()
        assert trace.statements == []


def test_off_keeps_statements_of_text(unchecked) -> None:
    with _ptx.Trace("test") as trace:
        reg.scalar(u32)
        ptx.raw("add.u32 %r0, 1;\nadd.u32 %r0, %r0, %r7;\nadd.u32 %r0, %r0, 1;")
        assert trace.statements == ["add.u32 %r0, 1;", "add.u32 %r0, %r0, %r7;", "add.u32 %r0, %r0, 1;"]
        assert len(trace.issues) == 2


def test_words_that_were_let_through_warn_when_checks_are_on() -> None:
    with strict(False):
        frob = ptx.inst.frob.u32
        assert "no instruction of the table" in repr(frob) and dir(frob) == []
    with _ptx.Trace("test") as trace, pytest.warns(PtxWarning, match="no PTX instruction `frob`"):
        frob(1)
        assert trace.statements == ["frob.u32 1;"] and [issue[1] for issue in trace.issues] == ["unknown_opcode"]
    with strict(False):
        misplaced = ptx.inst.ld.f32.global_  # words that PTX has, in an order that it does not
    with _ptx.Trace("test"), pytest.raises(AttributeError, match="modifiers have an order"):
        misplaced(1)


def test_checks_on_raise_at_the_line() -> None:
    def body():
        r = reg.scalar(u32)
        ptx.inst.add.u32(r, r)

    with pytest.raises(PtxError) as raised:
        kernel(body).ptx()
    assert raised.value.where == (__file__, body.__code__.co_firstlineno + 2) and "form: add" in str(raised.value)

    def typed():
        ptx.mul(f64, reg.scalar(f64), 1, "smem")

    with pytest.raises(PtxValidationError) as raised:
        kernel(typed).ptx()
    assert str(raised.value).splitlines()[0] == "mul.f64"
    assert raised.value.user_frame == (
        __file__,
        typed.__code__.co_firstlineno + 1,
    )
    assert raised.value.kind == "operand_mismatch" and any(note.startswith("form: ") for note in raised.value.notes)
    assert len(raised.value.issues) == 1 and "`b` of `mul.f64`" in raised.value.issues[0].message


@pytest.mark.parametrize(("value", "strict_now"), [("", "True"), ("error", "True"), ("off", "False"), ("warn", None)])
def test_the_environment(value, strict_now) -> None:
    environment = {"PYTHONPATH": str(Path(pyptx.__file__).parents[1]), "PATH": os.environ["PATH"], "PYPTX_CHECK": value}
    code = "from pyptx import spec; print(spec.is_strict())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    if strict_now is None:
        assert done.returncode != 0 and "PYPTX_CHECK is `warn`; what fits is `error` or `off`" in done.stderr
    else:
        assert done.stdout.strip() == strict_now, done.stderr
