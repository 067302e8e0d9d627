"""`ptx.raw`: statements as text, which become instructions like any others."""

import pytest

from pyptx import PtxError, PtxWarning, _ptx, kernel, ptx, reg, smem
from pyptx._trace import trace_scope
from pyptx.ir import Block, Instruction, Label, PragmaDirective
from pyptx.reg import Reg
from pyptx.types import b32, b64, f32, pred, u32, u64


def lines(ctx) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("bar.sync 0;", ["bar.sync 0"]),
        ("", []),
        ("  // nothing but a comment\n", []),
        ("add.u32 %r0, %r0, 1; add.u32 %r1, %r0, 2;", ["add.u32 %r0, %r0, 1", "add.u32 %r1, %r0, 2"]),
        ("@!%p0 mov.b32\n   %r0 , 0xFF ;", ["@!%p0 mov.b32 %r0, 0xff"]),
        ("mov.b32 %r0, 42U;\nmov.b32 %r0, (1<<4)|~5;", ["mov.b32 %r0, 42U", "mov.b32 %r0, (1<<4)|~5"]),
        ("ld.global.v2.f32 {%f0, %f1}, [%rd0+-8];", ["ld.global.v2.f32 {%f0, %f1}, [%rd0+-8]"]),
        ("mov.f32 %f0, 0f7F800001;", ["mov.f32 %f0, 0f7F800001"]),
        ("mov.u32 %r0, %tid.x;", ["mov.u32 %r0, %tid.x"]),
        ("elect.sync %r0|%p0, -1;", ["elect.sync %r0|%p0, -1"]),
        ("LOOP: bra LOOP;", ["LOOP:", "bra LOOP"]),
        ('.pragma "nounroll";\n.loc 1 2 3', ['.pragma "nounroll"', ".loc 1 2 3"]),
        ("{ .reg .b32 t<2>; mov.b32 t1, %r0; }", ["{", ".reg .b32 t<2>", "mov.b32 t1, %r0", "}"]),
        (".shared .align 8 .b8 buf[64];\nmov.u32 %r0, buf;", [".shared .align 8 .b8 buf[64]", "mov.u32 %r0, buf"]),
    ],
)  # fmt: skip
def test_statements(trace, text, written) -> None:
    reg.array(u32, 2), reg.array(f32, 2), reg.scalar(u64), reg.scalar(pred)
    ptx.raw(text)
    assert lines(trace) == written
    assert trace.issues == []


def test_what_was_text_is_checked_printed_and_assembled_like_the_rest(ptxas) -> None:
    @kernel(raw_params=[("u64.ptr.global", "out")])
    def mixed():
        (out,) = ptx.global_ptrs("out")
        tile = smem.alloc(f32, 32)
        i = reg.from_(ptx.special.tid.x(), u32)
        ptx.raw(f"""
            .reg .f32 half, acc<2>;
            .reg .pred %q;
            setp.lt.u32 %q, {i.name}, 16;
            @!%q bra SKIP;             // a label of the trace, defined below
            cvt.rn.f32.u32 half, {i.name};
            {{
                .reg .f32 half2, %r0;    // hides the trace's
                mul.f32 %r0, half, 0f3F000000;
                st.shared.f32 [{tile.name}+4], %r0;
            }}
            mov.f32 acc1, half;
        """)
        ptx.st(f32, out, Reg("acc1", f32))
        ptx.label("SKIP")
        ptx.ret()

    text = mixed.ptx()
    ptxas(text)
    assert "\t\tmul.f32 %r0, half, 0f3F000000;\n" in text
    assert text.count(".reg .f32 half;") == 1


def test_the_executor_runs_it() -> None:
    np = pytest.importorskip("numpy")
    from pyptx import Tile

    @kernel(in_specs=(Tile(32, u32),), out_specs=(Tile(32, u32),), grid=(1,), block=(32,))
    def doubled(x, y):
        px, py = ptx.global_ptrs(x, y)
        at = reg.from_(ptx.special.tid.x(), u32) << 2
        source, sink = px + at, py + at
        ptx.raw(f"{{ .reg .b32 t; ld.global.u32 t, [{source.name}]; shl.b32 t, t, 1; st.global.u32 [{sink.name}], t; }}")
        ptx.ret()

    x = np.arange(32, dtype=np.uint32)
    assert (np.asarray(doubled(x)) == 2 * x).all()


def test_nodes_of_text() -> None:
    with trace_scope() as ctx:
        reg.scalar(u32)
        ptx.raw('.pragma "x";\nL:\nadd.u32 %r0, %r0, 1;\n{ bra L; }')
        assert [type(node) for node in ctx.statements] == [PragmaDirective, Label, Instruction, Block]


def test_declarations_join_the_trace(trace) -> None:
    ptx.raw(".reg .b32 %r<4>;\n.reg .f32 %acc<3>, %one;\n.reg .b64 %rd7;\n.reg .pred %x;")
    assert reg.scalar(u32).name == "%r4" and reg.scalar(u64).name == "%rd8", "families go on behind"
    ptx.inst.mov.f32(Reg("%acc2", f32), Reg("%one", f32))
    ptx.inst.mov.b64(Reg("%rd7", b64), 1)
    ptx.inst.add.u32(Reg("%r3", u32), "%r2", 1)
    for taken in (".reg .b32 %r<2>;", ".reg .f32 %acc<3>;", ".reg .f32 %one;", ".reg .f32 %acc1;", ".shared .b8 %one[4];"):
        with pytest.raises(ValueError, match="declared already"):
            ptx.raw(taken)
    with pytest.raises(ValueError, match="declared already"):
        reg.scalar(f32, name="%one")


def test_names_of_a_block_end_with_it(trace) -> None:
    ptx.raw("{ .reg .b32 t; }")
    ptx.raw("{ .reg .b64 t; mov.b64 t, 1; }")
    with ptx.scope():
        ptx.raw(".reg .f32 t; mov.f32 t, 0f00000000; M: bra M;")
    with pytest.raises(ValueError, match=r"`d` of `mov\.b32` is the name `t`"):
        ptx.raw("mov.b32 t, 1;")


def test_labels_are_the_traces(trace) -> None:
    ptx.raw("bra LATER;")
    ptx.raw("A:")
    for again in (lambda: ptx.raw("A:"), lambda: ptx.label("A")):
        with pytest.raises(ValueError, match="`A` is defined already"):
            again()
    ptx.raw("{ A: bra A; }")
    ptx.label("LATER")
    ptx.ret()
    trace.finish()


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("add.u32 %r0, %r0", "line 1", "`;`"),
        ("bar.sync 0;\n  add.u32 %r0, %r0 %r0;", "line 2, column 20", "`,` or `;`"),
        ("mov.b32 %r0, %r9;", "line 1, column 14", "`%r9` is not declared"),
        ("add.u32 %r0, %rd0, 1;", "line 1, column 1", "operand 2 `a` of `add.u32`"),
        ("\n\nadd.u32 %r0, 1;", "line 3, column 1", "takes 3 operands"),
        ("mov.u8 %r0, 1;\nadd %r0, %r0, 1;", "line 2", "is incomplete"),
        ("@%r0 bra L;", "line 1, column 1", "a predicate"),
        ("tcgen05.wait::ld.sync.aligned;", "line 1, column 1", "sm_100"),
        ("not valid ptx", "line 1", ""),
        ("}", None, "closes a block"),
        ("{ bar.sync 0;", None, "does not close"),
        ("} .entry other() {", None, "closes a block"),
        (".entry other() { ret; }", None, ""),
        ('.file 1 "a"', "line 1", "`.file`"),
    ],
)  # fmt: skip
def test_text_that_is_rejected_says_where(trace, text, place, message) -> None:
    reg.scalar(u32), reg.scalar(u64)
    with pytest.raises(PtxError) as raised:
        ptx.raw(text)
    error = raised.value
    assert error.where[0] == __file__ and message in error.message, error
    assert place is None or (f"{place}" in error.message and "of the text" in error.message), error
    assert place is None or any(note.startswith("text: ") for note in error.notes)
    assert trace.statements == [], "all of it or nothing"


def test_words_that_the_table_does_not_know_are_kept_whole(trace) -> None:
    text = "frobnicate.rn.f32  {%f0, %f9},\n  [nowhere + 4], 5;"
    with pytest.warns(PtxWarning) as said:
        ptx.raw(f"bar.sync 0;\n{text}\nadd.wibble.u32 %r0, %r1;\nbar.sync 1;")
    assert [("frobnicate" in str(one.message), "wibble" in str(one.message)) for one in said] == [(True, False), (False, True)]
    assert all(one.filename == __file__ and "for ptxas to judge" in str(one.message) for one in said)
    assert [statement.split() for statement in trace.statements] == [
        ["bar.sync", "0;"], text.split(), ["add.wibble.u32", "%r0,", "%r1;"], ["bar.sync", "1;"],
    ]  # fmt: skip
    assert [(statement, kind) for statement, kind, _, _ in trace.issues] == [
        ("frobnicate.rn.f32  {%f0, %f9},", "unknown_opcode"), ("add.wibble.u32 %r0, %r1;", "unknown_modifier"),
    ]  # fmt: skip


def test_unknown_words_are_never_run() -> None:
    np = pytest.importorskip("numpy")
    from pyptx import Tile

    @kernel(in_specs=(Tile(4, u32),), out_specs=(Tile(4, u32),), grid=(1,), block=(4,))
    def strange(x, y):
        ptx.raw("frobnicate.f32;")
        ptx.ret()

    with pytest.warns(PtxWarning, match="frobnicate"):
        assert "\tfrobnicate.f32;\n" in strange.ptx()
    if _ptx_has_no_gpu():
        with pytest.raises(RuntimeError, match="does not know"):
            strange(np.zeros(4, np.uint32))


def _ptx_has_no_gpu() -> bool:
    try:
        _ptx.detect_arch()
    except RuntimeError:
        return True
    return False


def test_raw_emit_writes_a_line_as_it_is(trace) -> None:
    ptx.inst._raw_emit("// %r9, anything;")
    assert trace.statements == ["// %r9, anything;"]
    with pytest.raises(TypeError):
        ptx.inst._raw_emit(5)


def test_text_is_a_text(trace) -> None:
    with pytest.raises(TypeError):
        ptx.raw(reg.scalar(b32))
