"""The text as tokens and as nodes: what is read, what is refused, and what no author may lose."""

from __future__ import annotations

import pickle
import random
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyptx.emitter import emit
from pyptx.ir import (
    AddressOperand,
    AddressSize,
    BlankLine,
    Block,
    Comment,
    Function,
    FunctionDirective,
    ImmediateOperand,
    Instruction,
    Label,
    LabelOperand,
    LinkingDirective,
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
from pyptx.parser import ParseError, parse
from pyptx.parser.lexer import tokenize
from pyptx.parser.tokens import Token, TokenKind

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n\n"
CORPUS = Path(__file__).parents[1] / "corpus"


def body(*lines: str):
    """The statements of an entry with these lines."""
    text = HEADER + ".visible .entry f()\n{\n" + "".join(f"\t{line}\n" for line in lines) + "}\n"
    (function,) = parse(text).directives
    assert isinstance(function, Function) and function.body is not None
    return function.body


def instruction(line: str) -> Instruction:
    (node,) = body(line)
    assert isinstance(node, Instruction)
    return node


def operand(text: str):
    return instruction(f"op.x d, {text};").operands[1]


def only(text: str):
    """The one thing of a module."""
    (node,) = parse(HEADER + text).directives
    return node


def kinds(text: str) -> list[str]:
    return [token.kind.name for token in tokenize(text)]


# ---- tokens


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (".shared::cta", "DIRECTIVE"), (".2d", "DIRECTIVE"), (".L2::128B", "DIRECTIVE"), (".x4", "DIRECTIVE"),
        ("%tid.x", "REGISTER"), ("%r0", "REGISTER"), ("%r1.h10", "REGISTER"), ("%p", "REGISTER"),
        ("0d3FF0000000000000", "FLOAT"), ("0f3F800000", "FLOAT"), ("1.5", "FLOAT"), ("8.5", "FLOAT"), ("1e5", "FLOAT"),
        ("1.", "FLOAT"), (".5", "FLOAT"), ("1.5e-3", "FLOAT"),
        ("0xFF", "INTEGER"), ("42U", "INTEGER"), ("0b1010", "INTEGER"), ("017", "INTEGER"), ("42", "INTEGER"),
        ("$L__BB0_1", "IDENTIFIER"), ("_", "IDENTIFIER"), ("add", "IDENTIFIER"), ('"a \\"', "STRING"),
        ("{", "LBRACE"), ("}", "RBRACE"), ("(", "LPAREN"), (")", "RPAREN"), ("[", "LBRACKET"), ("]", "RBRACKET"), (",", "COMMA"),
        (";", "SEMICOLON"), (":", "COLON"), ("@", "AT"), ("!", "BANG"), ("+", "PLUS"), ("-", "MINUS"), ("|", "PIPE"),
        ("<", "LESS"),
        (">", "GREATER"), ("=", "EQUALS"), ("*", "STAR"), ("/", "SLASH"), ("~", "TILDE"), ("&", "AMPERSAND"), ("^", "CARET"),
        ("?", "QUESTION"), ("%", "PERCENT"), ("\n", "NEWLINE"), ("// to the end", "COMMENT"), ("/* a\n b */", "COMMENT"),
        ("#", "OTHER"), ("é", "OTHER"),
    ],
)  # fmt: skip
def test_single_tokens(text: str, kind: str) -> None:
    token, end = tokenize(text)
    assert (token.kind, token.text) == (TokenKind[kind], text)
    assert end.kind is TokenKind.EOF and end.text == ""


def test_a_line_of_tokens_with_places_and_spaces() -> None:
    assert tokenize("  ld.shared::cta.u32\t%r1; // é\n}") == [
        Token(TokenKind.IDENTIFIER, "ld", 1, 3, "  "),
        Token(TokenKind.DIRECTIVE, ".shared::cta", 1, 5, ""),
        Token(TokenKind.DIRECTIVE, ".u32", 1, 17, ""),
        Token(TokenKind.REGISTER, "%r1", 1, 22, "\t"),
        Token(TokenKind.SEMICOLON, ";", 1, 25, ""),
        Token(TokenKind.COMMENT, "// é", 1, 27, " "),
        Token(TokenKind.NEWLINE, "\n", 1, 31, ""),
        Token(TokenKind.RBRACE, "}", 2, 1, ""),
        Token(TokenKind.EOF, "", 2, 2, ""),
    ]


def test_a_number_behind_a_word_is_a_modifier() -> None:
    assert kinds("cp.async.bulk.tensor.2d, .5") == ["IDENTIFIER", *["DIRECTIVE"] * 4, "COMMA", "FLOAT", "EOF"]
    assert kinds("v.x [r+-8]") == [
        "IDENTIFIER", "DIRECTIVE", "LBRACKET", "IDENTIFIER", "PLUS", "MINUS", "INTEGER", "RBRACKET", "EOF",
    ]  # fmt: skip


@given(st.text())
@example('"not closed')
@example("/* not closed")
@example("0x 0b 0f12")
@example(".\\\x00")
def test_tokens_and_their_spaces_are_the_whole_text(text: str) -> None:
    tokens = tokenize(text)
    assert "".join(token.leading_whitespace + token.text for token in tokens) == text
    assert [token.kind for token in tokens].count(TokenKind.EOF) == 1 and tokens[-1].kind is TokenKind.EOF


# ---- operands


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("%r1", RegisterOperand("%r1")),
        ("%tid.x", RegisterOperand("%tid.x")),
        ("smem", LabelOperand("smem")),
        ("_", LabelOperand("_")),
        ("v.x", LabelOperand("v.x")),
        ("{%r0, _}", VectorOperand((RegisterOperand("%r0"), LabelOperand("_")))),
        ("{}", VectorOperand(())),
        ("!%p1", NegatedOperand(RegisterOperand("%p1"))),
        ("%r1|%p1", PipeOperand(RegisterOperand("%r1"), RegisterOperand("%p1"))),
        ("%r1 | _", PipeOperand(RegisterOperand("%r1"), LabelOperand("_"))),
        ("(a, %r1)", ParenthesizedOperand((LabelOperand("a"), RegisterOperand("%r1")))),
        ("[%rd0]", AddressOperand("%rd0")),
        ("[%rd0+16]", AddressOperand("%rd0", "16")),
        ("[r+4]", AddressOperand("r", "4")),
        ("[r + 4]", AddressOperand("r", "4")),
        ("[r+-8]", AddressOperand("r", "-8")),
        ("[1024]", AddressOperand("1024")),
        ("[smem+%r1]", AddressOperand("smem", "%r1")),
        ("[r+(4*2)]", AddressOperand("r", "(4*2)")),
        ("[d, {x,y}]", AddressOperand("d", ", {x,y}")),
        ("[tex, samp, {x,y}]", AddressOperand("tex", ", samp, {x,y}")),
        ("[a].unified", AddressOperand("a", None, ".unified")),
    ],
)
def test_operands(text: str, node) -> None:
    assert operand(text) == node


@pytest.mark.parametrize(
    "text",
    [
        "1", "-1", "+1", "42U", "0xFF", "0b1010", "0777", "~5", "!0", "((128>>4)<<16)", "128>>4", "(1+2)*3", "1|2", "1||0",
        "5&3^1",
        "1?2:3", "(5)", "-(4)", "1e5", "1.", ".5", "1.5e-3", "0f3F800000", "0d3FF0000000000000", "sym+4", "WARP_SZ*2", "7%4",
        "1<2", "3!=4",
    ],
)  # fmt: skip
def test_a_number_or_expression_is_one_immediate_as_it_is_written(text: str) -> None:
    assert operand(text) == ImmediateOperand(text)


def test_an_expression_over_lines_is_on_one() -> None:
    assert operand("(1 +  // one\n\t\t2)") == ImmediateOperand("(1 + 2)")


def test_guards_and_modifiers() -> None:
    assert instruction("@!%p0 ld.global.L2::128B.v2.f32 {%f0, %f1}, [%rd0+16];") == Instruction(
        "ld", (".global", ".L2::128B", ".v2", ".f32"),
        (VectorOperand((RegisterOperand("%f0"), RegisterOperand("%f1"))), AddressOperand("%rd0", "16")), Predicate("%p0", True),
    )  # fmt: skip
    assert instruction("@done bra L;").predicate == Predicate("done")
    assert instruction("ret;") == Instruction("ret")


def test_calls_have_lists() -> None:
    assert instruction("call.uni (r), f, (5, %r1), proto;").operands == (
        ParenthesizedOperand((LabelOperand("r"),)),
        LabelOperand("f"),
        ParenthesizedOperand((ImmediateOperand("5"), RegisterOperand("%r1"))),
        LabelOperand("proto"),
    )
    assert instruction("call f, (5);").operands[1] == ParenthesizedOperand((ImmediateOperand("5"),))


def test_an_opcode_that_the_table_does_not_know_is_taken() -> None:
    assert instruction("warp.speed.f9 %r1, [%rd1+4], {1, 2};") == Instruction(
        "warp", (".speed", ".f9"),
        (RegisterOperand("%r1"), AddressOperand("%rd1", "4"), VectorOperand((ImmediateOperand("1"), ImmediateOperand("2")))),
    )  # fmt: skip


# ---- statements and declarations


def test_statements() -> None:
    assert body(
        ".reg .b32 %r<100>, x;", ".reg .v4 .f32 v;", ".shared .align 128 .b8 smem[49152];", "// a comment", "", "L:",
        '.pragma "nounroll";', "{", "add.u32 x, x, 1;", "}", ".loc 1 2 3", "P: .callprototype _ (.param .b32 _);",
    ) == (
        RegDecl(ScalarType.B32, "%r", 100),
        RegDecl(ScalarType.B32, "x"),
        RegDecl(ScalarType.F32, "v", vector=4),
        VarDecl(StateSpace.SHARED, ScalarType.B8, "smem", 49152, 128),
        Comment("a comment"),
        BlankLine(),
        Label("L"),
        PragmaDirective("nounroll"),
        Block((Instruction("add", (".u32",), (LabelOperand("x"), LabelOperand("x"), ImmediateOperand("1"))),)),
        RawLine(".loc 1 2 3"),
        Label("P"),
        RawLine(".callprototype _ (.param .b32 _);"),
    )  # fmt: skip


def test_comments_keep_their_place() -> None:
    nodes = body("// above", "ret; // behind, é", "/* one */ ret;", "/* a", " b */", "//tight", "//")
    assert nodes == (
        Comment("above"), Instruction("ret"), Comment("/* one */"), Instruction("ret"), Comment("/* a\n\t b */"),
        Comment("tight"),
        Comment(""),
    )  # fmt: skip
    assert nodes[1].formatting.trailing == "// behind, é"
    assert nodes[1].formatting.indent == "\t" and nodes[1].formatting.raw_line == "ret;"
    assert nodes[3].formatting is None


def test_several_statements_on_one_line() -> None:
    assert body("ret; /* a */ ret; ret; // c") == (Instruction("ret"), Comment("/* a */"), Instruction("ret"), Instruction("ret"))


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (".extern .shared .align 128 .b8 dyn_smem[];",
         VarDecl(StateSpace.SHARED, ScalarType.B8, "dyn_smem", alignment=128, linking=LinkingDirective.EXTERN)),
        (".global .v4 .f32 v;", VarDecl(StateSpace.GLOBAL, ScalarType.F32, "v", vector=4)),
        (".visible .global .attribute(.managed) .s32 m;",
         VarDecl(StateSpace.GLOBAL, ScalarType.S32, "m", linking=LinkingDirective.VISIBLE, attributes=("managed",))),
        (".const .u32 t[2][3] = {{1, 2, 3}, {4, 0x5, 6U}};",
         VarDecl(StateSpace.CONST, ScalarType.U32, "t", 2, inner=(3,), initializer="{{1, 2, 3}, {4, 0x5, 6U}}")),
        (".global .u64 p = generic(x)+4;", VarDecl(StateSpace.GLOBAL, ScalarType.U64, "p", initializer="generic(x)+4")),
        (".global .u32 u[] = {1, 2};", VarDecl(StateSpace.GLOBAL, ScalarType.U32, "u", unsized=True, initializer="{1, 2}")),
        (".global .f32 f = 1.5;", VarDecl(StateSpace.GLOBAL, ScalarType.F32, "f", initializer="1.5")),
        (".global .texref t;", VarDecl(StateSpace.GLOBAL, ScalarType.TEXREF, "t")),
        (".global .samplerref s = {addr_mode_0 = clamp_to_edge};",
         VarDecl(StateSpace.GLOBAL, ScalarType.SAMPLERREF, "s", initializer="{addr_mode_0 = clamp_to_edge}")),
        (".weak .global .surfref s;", VarDecl(StateSpace.GLOBAL, ScalarType.SURFREF, "s", linking=LinkingDirective.WEAK)),
        (".alias a, b;", RawLine(".alias a, b;")),
        ('.file 1 "a.cu"', RawLine('.file 1 "a.cu"')),
        ('.pragma "a", "b";', PragmaDirective('a", "b')),
        (".section .debug_info {\n.b8 1, 2\n}", RawLine(".section .debug_info {\n.b8 1, 2\n}")),
        (".extern .func (.param .b32 r) f (.param .b64 x, .reg .u32 y) .noreturn .abi_preserve 4;",
         Function(False, "f",
                  (Param(StateSpace.PARAM, ScalarType.B64, "x"), Param(StateSpace.REG, ScalarType.U32, "y")),
                  (Param(StateSpace.PARAM, ScalarType.B32, "r"),), None, LinkingDirective.EXTERN,
                  (FunctionDirective("noreturn"), FunctionDirective("abi_preserve", (4,))))),
        (".entry e(.param .u64 .ptr.global.align 16 p, .param .align 64 .b8 m[128], .param .u64 .ptr q) .maxntid 128, 1, 1 "
         ".blocksareclusters { }",
         Function(True, "e",
                  (Param(StateSpace.PARAM, ScalarType.U64, "p", None, None, StateSpace.GLOBAL, 16),
                   Param(StateSpace.PARAM, ScalarType.B8, "m", 128, 64),
                   Param(StateSpace.PARAM, ScalarType.U64, "q", is_ptr=True)),
                  None, (), None, (FunctionDirective("maxntid", (128, 1, 1)), FunctionDirective("blocksareclusters")))),
    ],
)  # fmt: skip
def test_things_of_a_module(text: str, node) -> None:
    assert only(text) == node


def test_several_variables_of_one_statement() -> None:
    assert parse(HEADER + ".global .u32 a = 1, b[2] = {2, 3}, c;\n").directives == (
        VarDecl(StateSpace.GLOBAL, ScalarType.U32, "a", initializer="1"),
        VarDecl(StateSpace.GLOBAL, ScalarType.U32, "b", 2, initializer="{2, 3}"),
        VarDecl(StateSpace.GLOBAL, ScalarType.U32, "c"),
    )


def test_the_header() -> None:
    module = parse("// made by hand\n.version 8.5\n.target sm_90a, texmode_independent // two\n.address_size 64\n")
    assert (module.version, module.address_size) == (Version(8, 5), AddressSize(64))
    assert module.target == Target(("sm_90a", "texmode_independent")) and module.directives == ()
    assert module.raw_header == "// made by hand\n.version 8.5\n.target sm_90a, texmode_independent // two\n.address_size 64\n"
    assert parse(".version 8.5\n.target sm_90a\n").address_size is None


def test_layout_between_functions_is_no_node() -> None:
    text = HEADER + ".func f() { }\n\n.func g() { }\n\n\n// h\n.func h() { }\n\n"
    names = [getattr(node, "name", type(node).__name__) for node in parse(text).directives]
    assert names == ["f", "g", "BlankLine", "Comment", "h", "BlankLine"]


# ---- what is refused


@pytest.mark.parametrize(
    ("text", "line", "col"),
    [
        ("not valid ptx", 1, 1),
        (HEADER + ".entry f() {\n\tadd.u32 %r1 %r2;\n}\n", 6, 14),
        (HEADER + ".entry f() { /* é */ add.u32 [; }\n", 5, 31),
        (HEADER + ".entry f() {\n", 5, 12),
        ("", 1, 1),
    ],
)
def test_a_text_that_is_no_ptx_is_refused_at_its_place(text: str, line: int, col: int) -> None:
    with pytest.raises(ParseError) as error:
        parse(text)
    assert (error.value.line, error.value.col) == (line, col)
    assert error.value.message and str(error.value) == f"{line}:{col}: {error.value.message}"
    again = pickle.loads(pickle.dumps(error.value))
    assert (again.message, again.line, again.col) == (error.value.message, line, col)


def test_what_check_would_say_is_no_parse_error() -> None:
    parse(HEADER + ".entry f() { bra NOWHERE; fma.f32 %r1; add.u32 %r1, 7.5, [x]; }")


# ---- nothing is lost


def sources() -> list[Path]:
    return sorted((CORPUS / "hand").rglob("*.ptx"))


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.name)
def test_corpus_round_trip(path: Path) -> None:
    source = path.read_bytes().decode()
    module = parse(source)
    assert emit(module) == source
    assert parse(emit(replace(module, raw_source=None))) == module
    flat = normalize_module(module)
    assert normalize_module(parse(emit(flat))) == flat


def test_a_sample_of_the_corpus_round_trips() -> None:
    """Texts of compilers and by hand: as they are byte for byte, and rebuilt from their nodes as the same nodes."""
    seen = 0
    with tarfile.open(CORPUS / "corpus.tar.xz") as archive:
        for index, member in enumerate(archive):
            if index % 9 or not member.name.endswith(".ptx") or member.size > 150_000:
                continue
            file = archive.extractfile(member)
            assert file is not None
            source = file.read().decode()
            module = parse(source)
            assert emit(module) == source, member.name
            assert parse(emit(replace(module, raw_source=None))) == module, member.name
            seen += 1
    assert seen > 20


def test_a_text_cut_anywhere_is_read_or_refused() -> None:
    text = HEADER + (
        '.file 1 "a"\n.global .u32 t[2] = {1, 2};\n.visible .entry f(.param .u64 p)\n{\n\t.reg .b32 %r<4>;\n\t@%p0 ld.v2.u32 '
        '{%r0, %r1}, [p+4]; // é\n\t{ call (r), g, (1, 2); }\nL: .pragma "x";\n}\n'
    )
    rng = random.Random(3)
    for end in range(len(text) + 1):
        for piece in (text[:end], text[:end] + rng.choice(["}", ";", '"', "/*", "{", "\0", "(", "["]) + text[end:]):
            try:
                module = parse(piece)
            except ParseError as error:
                assert 1 <= error.line <= piece.count("\n") + 1 and error.col >= 1
            else:
                assert emit(module) == piece
