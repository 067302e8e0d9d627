"""Nodes as text: the canonical layout, and that what is written is read back as the same nodes."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyptx import _ptx
from pyptx.emitter import emit
from pyptx.ir import (
    AddressOperand,
    AddressSize,
    BlankLine,
    Block,
    Comment,
    CompoundExpr,
    Function,
    FunctionDirective,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    LinkingDirective,
    Module,
    NegatedOperand,
    Param,
    ParenthesizedOperand,
    PipeOperand,
    PragmaDirective,
    Predicate,
    RawLine,
    RegDecl,
    RegisterOperand,
    ScalarType,
    StateSpace,
    Target,
    VarDecl,
    VectorOperand,
    Version,
    normalize_module,
)
from pyptx.parser import parse


def module(*directives) -> Module:
    return Module(Version(8, 5), Target(("sm_90a",)), AddressSize(64), directives)


def entry(*body) -> Module:
    return module(Function(True, "f", body=body))


def statement(node) -> str:
    """The line of a statement in a body."""
    lines = emit(entry(node)).splitlines()
    assert lines[-3] == "{" and lines[-1] == "}"
    return lines[-2]


R, RD, P = RegisterOperand("%r0"), RegisterOperand("%rd0"), Predicate("%p0")


@pytest.mark.parametrize(
    ("node", "line"),
    [
        (RegDecl(ScalarType.B32, "%r", 100), "\t.reg .b32 %r<100>;"),
        (RegDecl(ScalarType.PRED, "done"), "\t.reg .pred done;"),
        (RegDecl("f32", "v", vector=4), "\t.reg .v4 .f32 v;"),
        (Instruction("bra", (), (LabelOperand("DONE"),), P), "\t@%p0 bra DONE;"),
        (Instruction("bra", (), (LabelOperand("DONE"),), Predicate("%p0", True)), "\t@!%p0 bra DONE;"),
        (Instruction("ld", (".global", ".f32"), (R, AddressOperand("%rd0", "16"))), "\tld.global.f32 %r0, [%rd0+16];"),
        (Instruction("ld", (".global", ".f32"), (R, AddressOperand("r", "-8"))), "\tld.global.f32 %r0, [r+-8];"),
        (Instruction("ld", (".u32",), (R, AddressOperand("smem", "%r1"))), "\tld.u32 %r0, [smem+%r1];"),
        (Instruction("ld", (".u32",), (R, AddressOperand("r", "(4*2)"))), "\tld.u32 %r0, [r+(4*2)];"),
        (Instruction("x", (), (AddressOperand("d", ", {x,y}"),)), "\tx [d, {x,y}];"),
        (Instruction("x", (), (VectorOperand((R, RD)),)), "\tx {%r0, %rd0};"),
        (Instruction("x", (), (PipeOperand(R, NegatedOperand(RD)),)), "\tx %r0|!%rd0;"),
        (Instruction("call", (), (ParenthesizedOperand((R,)), LabelOperand("f"))), "\tcall (%r0), f;"),
        (Instruction("ret"), "\tret;"),
        (Label("DONE"), "DONE:"),
        (VarDecl(StateSpace.SHARED, ScalarType.B8, "smem", 49152, 128), "\t.shared .align 128 .b8 smem[49152];"),
        (PragmaDirective("nounroll"), '\t.pragma "nounroll";'),
        (Comment("why"), "\t// why"),
        (Comment("/* why */"), "\t/* why */"),
        (RawLine("\t  warp speed;"), "\t  warp speed;"),
        (RawLine(".loc 1 2 3"), "\t.loc 1 2 3"),
    ],
)
def test_statements(node, line: str) -> None:
    assert statement(node) == line


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (VarDecl(StateSpace.SHARED, ScalarType.B8, "dyn_smem", alignment=128, linking=LinkingDirective.EXTERN),
         ".extern .shared .align 128 .b8 dyn_smem[];"),
        (VarDecl(StateSpace.GLOBAL, ScalarType.U32, "t", 2, initializer="{1, 0x2}"), ".global .u32 t[2] = {1, 0x2};"),
        (VarDecl(StateSpace.GLOBAL, ScalarType.F32, "m", 2, vector=2, inner=(3,), attributes=("managed",)),
         ".global .attribute(.managed) .v2 .f32 m[2][3];"),
        (VarDecl(StateSpace.GLOBAL, ScalarType.U32, "x", linking=LinkingDirective.EXTERN, unsized=False),
         ".extern .global .u32 x;"),
        (Function(False, "g", (Param(StateSpace.PARAM, ScalarType.B64, "x"),), (Param(StateSpace.PARAM, ScalarType.B32, "r"),),
                  None, LinkingDirective.EXTERN, (FunctionDirective("noreturn"),)),
         ".extern .func (.param .b32 r) g(\n\t.param .b64 x\n)\n.noreturn;"),
        (Function(False, "g", body=None), ".func g();"),
        (RawLine('.file 1 "a.cu"'), '.file 1 "a.cu"'),
    ],
)  # fmt: skip
def test_things_of_a_module(node, text: str) -> None:
    assert emit(module(node)) == f".version 8.5\n.target sm_90a\n.address_size 64\n\n{text}\n"


def test_a_whole_module() -> None:
    function = Function(
        True, "f",
        (Param(StateSpace.PARAM, ScalarType.U64, "param0"), Param(StateSpace.PARAM, ScalarType.B8, "map", 128, 64),
         Param(StateSpace.PARAM, ScalarType.U64, "p", None, None, StateSpace.GLOBAL, 16)),
        None,
        (Block((Instruction("ret"), Block((Label("L"),)))), BlankLine(), Comment("end")),
        LinkingDirective.VISIBLE,
        (FunctionDirective("maxntid", (128, 1, 1)), FunctionDirective("pragma", ('"a"',)), FunctionDirective("explicitcluster")),
    )  # fmt: skip
    variable = VarDecl(StateSpace.GLOBAL, ScalarType.U32, "x")
    text = emit(Module(Version(8, 6), Target(("sm_100a", "debug")), None, (variable, function, function, variable)))
    written = """.visible .entry f(
\t.param .u64 param0,
\t.param .align 64 .b8 map[128],
\t.param .u64 .ptr .global .align 16 p
)
.maxntid 128, 1, 1
.pragma "a";
.explicitcluster
{
\t{
\t\tret;
\t\t{
L:
\t\t}
\t}

\t// end
}
"""
    assert text == f".version 8.6\n.target sm_100a, debug\n\n.global .u32 x;\n\n{written}\n{written}\n.global .u32 x;\n"


def test_intrinsics_and_compounds() -> None:
    ret = Instruction("ret")
    lines = emit(entry(IntrinsicScope("relu", "x, 1", (ret,)), CompoundExpr((ret, ret)))).splitlines()
    assert lines[-6:-1] == ["\t// BEGIN relu(x, 1)", "\tret;", "\t// END relu", "\tret;", "\tret;"]


def test_what_is_no_node_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a statement is a node of pyptx\.ir; 'ret;' is a str"):
        emit(entry("ret;"))
    with pytest.raises(TypeError, match=r"an operand is a node of pyptx\.ir; 7 is a int"):
        emit(entry(Instruction("bra", (), (7,))))


UNTIDY = """// Made by hand: spaces, comments and spellings stay.
.version   8.5 // eight
.target sm_90a
.address_size 64


.visible .entry f ( .param .u64 p )   /* here */
{ .reg .b32 %r < 4 >,x;
  mov.u32 x ,0xFF ;   // x
     // alone
  @%p0 warp.speed   x ,((128>>4)<<16);
 }
"""


def test_an_unmodified_module_is_its_text() -> None:
    read = parse(UNTIDY)
    assert emit(read) == UNTIDY
    assert emit(dataclasses.replace(read)) == UNTIDY
    assert emit(dataclasses.replace(read, version=Version(8, 6))) != UNTIDY
    assert "\r\n" in emit(parse(UNTIDY.replace("\n", "\r\n")))


def test_an_edited_module_keeps_comments_and_spellings() -> None:
    read = parse(UNTIDY)
    function = read.directives[1]
    assert isinstance(function, Function)
    edited = dataclasses.replace(function, body=(*function.body, Instruction("ret")))
    assert (
        emit(dataclasses.replace(read, directives=(read.directives[0], edited)))
        == """// Made by hand: spaces, comments and spellings stay.
.version   8.5 // eight
.target sm_90a
.address_size 64


.visible .entry f(
\t.param .u64 p
)
{
\t.reg .b32 %r<4>;
\t.reg .b32 x;
\tmov.u32 x, 0xFF; // x
\t// alone
\t@%p0 warp.speed x, ((128>>4)<<16);
\tret;
}
"""
    )


# ---- one layout: the core's printer


def test_the_layout_is_that_of_the_cores_printer() -> None:
    read = parse(CANONICAL)
    assert _ptx.print_text(CANONICAL) == CANONICAL
    assert emit(normalize_module(read)) == CANONICAL.replace("\t\t", "\t").replace("\t{\n", "").replace("\t}\n", "")
    assert emit(dataclasses.replace(read, raw_source=None, raw_header=None)) == CANONICAL


CANONICAL = """.version 8.5
.target sm_90a, debug
.address_size 64

.extern .shared .align 128 .b8 dyn_smem[];
.global .align 16 .v4 .f32 v[2];

.extern .func (.param .b32 r) g(
\t.param .b64 x
)
.noreturn;

.visible .entry f(
\t.param .u64 param0,
\t.param .align 64 .b8 map[128],
\t.param .u64 .ptr .global .align 16 p
)
.maxntid 128, 1, 1
.explicitcluster
{
\t.reg .b32 %r<4>;
\t.reg .pred %p<2>;
\t.shared .align 8 .b64 bar[2];
\tmov.u32 %r0, %tid.x;
\t@!%p0 bra L;
\t{
\t\tadd.u32 %r1, %r0, -8;
\t}
L:
\t.pragma "nounroll";
\tret;
}
"""


# ---- random modules

words = st.sampled_from(["f32", "global", "v2", "shared::cta", "L2::128B", "2d", "x4", "sync"])
names = st.sampled_from(["L", "x", "_a", "$L1", "smem", "f0"])
registers = st.sampled_from(["%r0", "%rd12", "%p1", "%tid.x", "%r1.h10", "%clock64"])
immediates = st.sampled_from(
    [
        "0",
        "-8",
        "42U",
        "0xFF",
        "0b1010",
        "~5",
        "1.5",
        "1e5",
        "1.",
        ".5",
        "0f3F800000",
        "((128>>4)<<16)",
        "1?2:3",
        "x+4",
        "(7)",
        "!0",
    ]
)
scalars = st.one_of(
    registers.map(RegisterOperand), names.map(LabelOperand), immediates.map(ImmediateOperand), st.just(LabelOperand("_"))
)
named = st.one_of(registers.map(RegisterOperand), names.map(LabelOperand))
addresses = st.builds(
    AddressOperand, st.one_of(registers, names), st.sampled_from([None, "16", "-8", "%r1", "(4*2)", ", {%r0, 1}", ", s, {%f0}"])
)
operands = st.one_of(
    scalars,
    st.lists(scalars, min_size=1, max_size=4).map(lambda elements: VectorOperand(tuple(elements))),
    st.lists(named, max_size=3).map(lambda elements: ParenthesizedOperand(tuple(elements))),
    addresses,
    named.map(NegatedOperand),
    st.builds(PipeOperand, named, named),
)
instructions = st.builds(
    Instruction,
    st.sampled_from(["add", "ld", "warp", "x7", "bar"]),
    st.lists(words.map(lambda word: f".{word}"), max_size=3).map(tuple),
    st.lists(operands, max_size=4).map(tuple),
    st.one_of(st.none(), st.builds(Predicate, st.sampled_from(["%p0", "%p1"]), st.booleans())),
)
types = st.sampled_from([t for t in ScalarType if t.value in ("b8", "b16", "b32", "b64", "u32", "s64", "f32", "f64", "pred")])
data_types = types.filter(lambda t: t is not ScalarType.PRED)
sizes = st.one_of(st.none(), st.integers(1, 1 << 20))
comments = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r\v\f/*", exclude_categories=("C", "Z"))), st.just("/* a */")
).map(Comment)
variables = st.builds(
    VarDecl, st.sampled_from([StateSpace.GLOBAL, StateSpace.SHARED, StateSpace.CONST]), data_types, names, sizes,
    st.sampled_from([None, 4, 128]), st.sampled_from([None, "{1, 2}", "generic(y)+4", "0x10"]),
    st.sampled_from([None, *LinkingDirective]), st.none(), st.sampled_from([None, 2, 4]),
    st.lists(st.integers(1, 9), max_size=2).map(tuple),
).filter(lambda v: v.array_size is not None or not v.inner)  # fmt: skip
params = st.builds(
    Param, st.just(StateSpace.PARAM), data_types, names, sizes, st.sampled_from([None, 16]),
    st.sampled_from([None, StateSpace.GLOBAL, StateSpace.SHARED]), st.sampled_from([None, 8]),
)  # fmt: skip
simple = st.one_of(
    instructions,
    st.builds(RegDecl, types, st.sampled_from(["%r", "x", "%f"]), sizes),
    st.builds(Label, names),
    st.just(PragmaDirective("nounroll")),
    comments,
    st.just(BlankLine()),
    st.just(RawLine(".loc 1 2 3")),
    variables.filter(lambda v: v.linking is None and v.state_space is not StateSpace.CONST),
)
bodies = st.recursive(
    st.lists(simple, max_size=6).map(tuple),
    lambda inner: st.lists(st.one_of(simple, inner.map(Block)), max_size=5).map(tuple),
    max_leaves=12,
)
functions = st.builds(
    Function, st.booleans(), names, st.lists(params, max_size=3).map(tuple), st.none(), st.one_of(st.none(), bodies),
    st.sampled_from([None, LinkingDirective.VISIBLE, LinkingDirective.WEAK, LinkingDirective.EXTERN]),
    st.sampled_from(
        [(), (FunctionDirective("noreturn"),), (FunctionDirective("maxntid", (128, 1)), FunctionDirective("maxnreg", (64,)))]
    ),
)  # fmt: skip
modules = st.builds(
    Module,
    st.builds(Version, st.integers(1, 9), st.integers(0, 9)),
    st.sampled_from([Target(("sm_90a",)), Target(("sm_80", "debug"))]),
    st.sampled_from([None, AddressSize(64), AddressSize(32)]),
    st.lists(st.one_of(functions, variables, comments, st.just(BlankLine()), st.just(RawLine('.file 1 "a"'))), max_size=5).map(
        tuple
    ),
)


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(modules)
def test_what_is_written_is_read_back(made: Module) -> None:
    text = emit(made)
    read = parse(text)
    assert read == made
    assert emit(dataclasses.replace(read, raw_source=None, raw_header=None)) == text
