"""ptx.inst: dots that follow the table, and calls that write."""

import gc
import pydoc
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyptx import PtxError, _ptx, ptx, reg, smem
from pyptx.kernel import TensorSpec
from pyptx.types import b16, b32, bf16, f32, f64, pred, u32, u64


def line(ctx) -> str:
    return ctx.statements[-1]


# -- the dots


def test_dots_are_remembered() -> None:
    assert ptx.inst.fma.rn.f32 is ptx.inst.fma.rn.f32
    assert ptx.inst.fma.rn is not ptx.inst.fma.rz


def test_dots_in_turn_are_each_their_own() -> None:
    for _ in range(3):
        for word in ("rn", "rz", "".join(["r", "n"]), "rm"):
            assert repr(getattr(ptx.inst.fma, word)).splitlines()[0] == f"ptx.inst.fma.{word}"


def test_dir_lists_what_may_follow_as_python_spells_it() -> None:
    assert {"add", "and_", "ld", "mma", "not_"} <= set(dir(ptx.inst)) and "and" not in dir(ptx.inst)
    assert dir(ptx.inst.fma) == sorted(["rn", "rz", "rm", "rp"])
    assert {"global_", "shared__cta", "v4", "f32"} <= set(dir(ptx.inst.ld))
    assert dir(ptx.inst.ret.uni) == []


def test_dots_tell_syntax_availability_and_manual() -> None:
    for text in (repr(ptx.inst.fma.rn), ptx.inst.fma.rn.__doc__):
        assert "fma.rnd{.ftz}{.sat}.f32 d, a, b, c" in text
        assert "PTX 2.0, `sm_20` or newer" in text
        assert "#floating-point-instructions-fma" in text
        assert "to be followed by `.ftz`, `.sat`, `.f32`, `.f64`, `.f16`, " in text and "`.oob` or `.f32x2`" in text
    assert "mbarrier.try_wait" in pydoc.render_doc(ptx.inst.mbarrier.try_wait)  # what help() shows
    assert "ptx.inst.<opcode>" in ptx.inst.__doc__
    assert len(repr(ptx.inst.ld).splitlines()) <= 24


def test_python_protocols_find_no_dots_in_the_way() -> None:
    assert not hasattr(ptx.inst, "__wrapped__") and not hasattr(ptx.inst.fma, "_repr_html_")
    with pytest.raises(TypeError):
        type(ptx.inst)()


@pytest.mark.parametrize("value", [object(), None, {}, b"x", 1 + 2j, {1}])
def test_what_can_be_no_operand_is_a_type_error(trace, value) -> None:
    with pytest.raises(TypeError, match=r"an operand is .*; what fits is a register, a number"):
        ptx.inst.mov.u32(reg.scalar(u32), value)


def every_path(node, depth=0):
    for name in dir(node):
        child = getattr(node, name)
        yield name, child
        if depth < 3:
            yield from every_path(child, depth + 1)


def test_everything_that_may_follow_can_be_followed() -> None:
    count = sum(1 for _ in every_path(ptx.inst))
    assert count > 1000


@pytest.mark.parametrize("opcode", _ptx.opcodes())
def test_every_opcode_has_dots_and_documentation(opcode) -> None:
    spelled = next(name for name in dir(ptx.inst) if name.rstrip("_") == opcode)
    assert f"ptx.inst.{opcode}" in getattr(ptx.inst, spelled).__doc__


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=12))
def test_no_attribute_name_does_anything_but_follow_or_raise(name) -> None:
    for node in (ptx.inst, ptx.inst.ld, ptx.inst.ld.global_):
        try:
            getattr(node, name)
        except AttributeError:
            assert name not in dir(node)


def test_dots_are_safe_among_threads() -> None:
    seen: list[object] = []

    def follow() -> None:
        for _ in range(200):
            seen.append(ptx.inst.st.shared.v2.b32)

    threads = [threading.Thread(target=follow) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert len(seen) == 800 and len({repr(each) for each in seen}) == 1


# -- operands


def test_a_call_returns_its_first_operand_when_it_is_a_register(trace) -> None:
    a, p = reg.scalar(f32), reg.scalar(u64)
    assert ptx.inst.mov.f32(a, 0.0) is a
    assert ptx.inst.st.global_.f32(ptx.addr(p), a) is None
    assert ptx.inst.ret() is None


def test_registers_of_other_types_and_kernels_are_told_apart_each_time(trace) -> None:
    x, y, wide = reg.scalar(u32), reg.scalar(f32), reg.scalar(u64)
    with _ptx.Trace("another"):
        foreign = [reg.scalar(u32) for _ in range(9)][-1]
    for _ in range(3):
        ptx.inst.add.u32(x, x, x)
        assert line(trace) == "add.u32 %r0, %r0, %r0;"
        for wrong in (y, wide):
            with pytest.raises(PtxError, match="operand"):
                ptx.inst.add.u32(x, x, wrong)
        with pytest.raises(PtxError, match="another kernel"):
            ptx.inst.add.u32(x, x, foreign)
        ptx.inst.add.u32(x, x, 7)
        assert line(trace) == "add.u32 %r0, %r0, 7;"


def test_numbers(trace) -> None:
    f, d, r, q = reg.scalar(f32), reg.scalar(f64), reg.scalar(u32), reg.scalar(u64)
    for number, text in (
        (1.5, "0f3FC00000"),
        (1, "0f3F800000"),
        (float("-inf"), "0fFF800000"),
        ("1.5", "0f3FC00000"),
        ("0f3F800000", "0f3F800000"),
    ):
        ptx.inst.mov.f32(f, number)
        assert line(trace) == f"mov.f32 %f0, {text};"
    ptx.inst.mov.f64(d, 0.1)
    assert line(trace) == "mov.f64 %fd0, 0d3FB999999999999A;"
    for number, text in (
        (5, "5"),
        (-1, "-1"),
        (True, "1"),
        ("7", "7"),
        ("0x1F", "0x1F"),
        ("-3", "-3"),
        ("42U", "42U"),
        ("0b101", "0b101"),
    ):
        ptx.inst.mov.u32(r, number)
        assert line(trace) == f"mov.u32 %r0, {text};"
    ptx.inst.mov.u64(q, 2**64 - 1)
    assert line(trace) == "mov.u64 %rd0, -1;"
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="does not fit in 64 bits"):
            ptx.inst.mov.u64(q, number)


@pytest.mark.parametrize("text", ["1..5", "0xZZ", "12abc", "-", "0f123"])
def test_text_that_looks_like_a_number_is_one_or_raises(trace, text) -> None:
    with pytest.raises(ValueError, match="is not a number of PTX"):
        ptx.inst.mov.u32(reg.scalar(u32), text)


def test_vectors_from_lists_and_arrays(trace) -> None:
    v, p = reg.array(f32, 4), reg.scalar(u64)
    ptx.inst.ld.global_.v4.f32(v, ptx.addr(p))
    assert line(trace) == "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];"
    ptx.inst.st.global_.v2.f32(ptx.addr(p, 8), [v[1], v[0]])
    assert line(trace) == "st.global.v2.f32 [%rd0+8], {%f1, %f0};"


def test_addresses(trace) -> None:
    f, p, offset = reg.scalar(f32), reg.scalar(u64), reg.scalar(u32)
    shared = smem.alloc(f32, 64, name="tile")
    for address, text in (
        (ptx.addr(p), "[%rd0]"),
        (ptx.addr(p, 16), "[%rd0+16]"),
        (ptx.addr(p, -8), "[%rd0+-8]"),
        (ptx.addr(ptx.addr(p, 16), 4), "[%rd0+20]"),
        (ptx.addr(ptx.addr(p), 4), "[%rd0+4]"),
    ):
        ptx.inst.ld.global_.f32(f, address)
        assert line(trace) == f"ld.global.f32 %f0, {text};"
    ptx.inst.ld.shared.f32(f, ptx.addr(shared, 4))
    assert line(trace) == "ld.shared.f32 %f0, [tile+4];"
    ptx.inst.ld.shared.f32(f, ptx.addr(offset))
    assert line(trace) == "ld.shared.f32 %f0, [%r0];"
    assert repr(ptx.addr(p, 16)) == "addr(Reg(%rd0, u64), 16)"


@pytest.mark.parametrize(
    ("base", "offset"), [(1.5, None), (None, None), ("x", 1.5), ("x", ", %r0"), ("x", ", {}"), ("x", ", {a,}")]
)
def test_bad_addresses(base, offset) -> None:
    with pytest.raises(TypeError, match=r"ptx\.addr"):
        ptx.addr(base, offset)


def test_tensor_maps(trace) -> None:
    dst, mbar, desc, x = reg.scalar(u32), reg.scalar(u32), reg.scalar(u64), reg.scalar(u32)
    copy = ptx.inst.cp.async_.bulk.tensor._2d.shared__cluster.global_.mbarrier__complete_tx__bytes
    copy(ptx.addr(dst), ptx.addr(desc, [x, 0]), ptx.addr(mbar))
    assert (
        line(trace)
        == "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r2, 0}], [%r1];"
    )


def test_two_destinations_sinks_and_negated_predicates(trace) -> None:
    d, a, p, q = reg.scalar(b32), reg.scalar(b32), reg.scalar(pred), reg.scalar(pred)
    ptx.inst.shfl.sync.bfly.b32(d | p, a, 1, 31, -1)
    assert line(trace) == "shfl.sync.bfly.b32 %r0|%p0, %r1, 1, 31, -1;"
    ptx.inst.elect.sync("_" | p, -1)
    assert line(trace) == "elect.sync _|%p0, -1;"
    ptx.inst.vote.sync.all.pred(p, ~q, -1)
    assert line(trace) == "vote.sync.all.pred %p0, !%p1, -1;"


def test_symbols_tensors_and_special_registers_by_name(trace) -> None:
    q, r = reg.scalar(u64), reg.scalar(u32)
    ptx.inst.ld.param.u64(q, ptx.addr(TensorSpec("X")))
    assert line(trace) == "ld.param.u64 %rd0, [X];"
    ptx.inst.mov.u32(r, "%tid.x")
    assert line(trace) == "mov.u32 %r0, %tid.x;"
    ptx.inst.bra("done")
    assert line(trace) == "bra done;"


def test_guards(trace) -> None:
    r, p = reg.scalar(u32), reg.scalar(pred)
    ptx.inst.add.u32(r, r, 1, pred=p)
    assert line(trace) == "@%p0 add.u32 %r0, %r0, 1;"
    ptx.inst.add.u32(r, r, 1, pred=~p)
    assert line(trace) == "@!%p0 add.u32 %r0, %r0, 1;"
    ptx.inst.add.u32(r, r, 1, pred=None)
    assert line(trace) == "add.u32 %r0, %r0, 1;"


def test_the_worst_rows_go_through(trace) -> None:
    desc, accumulator, p = reg.scalar(u64), reg.array(f32, 128), reg.scalar(pred)
    ptx.inst.wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16(accumulator.regs(), desc, desc, p, 1, 1, 0, 0)
    assert line(trace).startswith("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%f0, %f1, ") and line(trace).endswith(
        "}, %rd0, %rd0, %p0, 1, 1, 0, 0;"
    )
    d, a, b = reg.array(f32, 4), reg.array(b32, 4), reg.array(b32, 2)
    ptx.inst.mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32(d, a, b, d)
    assert "{%r0, %r1, %r2, %r3}" in line(trace)
    h, f = reg.scalar(bf16), reg.scalar(f32)
    ptx.inst.cvt.rn.bf16.f32(h, f)
    assert line(trace) == "cvt.rn.bf16.f32 %h0, %farr0_4;" or line(trace).startswith("cvt.rn.bf16.f32 %h0, %f")


def test_sixteen_bit_values_live_in_b16(trace) -> None:
    h, b = reg.scalar(bf16), reg.scalar(b16)
    ptx.inst.mov.b16(b, h)
    assert line(trace) == "mov.b16 %rs0, %h0;"


def test_text_is_kept(trace) -> None:
    ptx.inst._raw_emit("foo.bar %r1, %r2;")
    ptx.raw("griddepcontrol.wait;")
    assert trace.statements == ["foo.bar %r1, %r2;", "griddepcontrol.wait;"]


@pytest.mark.parametrize("operand", [None, object(), {}, (1, 2), b"x", "", 1j])
def test_other_objects_are_no_operands(trace, operand) -> None:
    with pytest.raises(PtxError) as raised:
        ptx.inst.add.u32(reg.scalar(u32), operand, 1)
    assert raised.value.kind == ("operand_mismatch" if operand in ("", (1, 2)) else "argument_kind")
    assert trace.statements == []


OPERANDS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.just("%r0")
    | st.just("%f0")
    | st.just("_"),
    lambda inner: st.lists(inner, max_size=3) | st.builds(lambda base, offset: (base, offset), inner, inner),
    max_leaves=5,
)


@given(
    st.sampled_from(["add.u32", "mov.b32", "ld.global.v2.f32", "setp.eq.s32", "fma.rn.f32", "st.shared.b16", "bra"]),
    st.lists(OPERANDS, max_size=5),
)
def test_an_instruction_is_whole_or_absent(dots, operands) -> None:
    node = ptx.inst
    for word in dots.split("."):
        node = getattr(node, word if hasattr(node, word) else word + "_")
    with _ptx.Trace("test") as ctx:
        reg.scalar(u32), reg.scalar(f32)
        try:
            node(*operands)
        except PtxError as error:
            assert error.kind and error.where
            assert ctx.statements == []
        else:
            assert len(ctx.statements) == 1
