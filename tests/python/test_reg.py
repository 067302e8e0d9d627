"""Registers and their operators: what each writes."""

import operator
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyptx import _ptx, kernel, ptx, reg
from pyptx.reg import NegPred, PipeRef, Reg, RegArray
from pyptx.types import (
    b8,
    b16,
    b32,
    b64,
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
    s32,
    s64,
    tf32,
    u8,
    u16,
    u32,
    u64,
)


def written(ctx: _ptx.Trace, count: int | None = None) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements][-count if count else None :]


# -- names and declarations


def test_automatic_names_go_by_family(trace) -> None:
    made = [reg.scalar(t) for t in (f32, u32, b32, s32, u64, f64, pred, u16, f16, bf16, u8)]
    assert [str(r.name) for r in made] == ["%f0", "%r0", "%r1", "%r2", "%rd0", "%fd0", "%p0", "%rs0", "%h0", "%h1", "%r3"]
    assert [r.dtype for r in made[:3]] == [f32, u32, b32]
    assert trace.statements == []


def test_the_first_array_of_a_family_takes_its_name(trace) -> None:
    a = reg.array(b64, 4)
    assert [r.name for r in a] == ["%rd0", "%rd1", "%rd2", "%rd3"]
    assert reg.scalar(b64).name == "%rd4"
    second = reg.array(b64, 2)
    assert second.base == "%rdarr0_" and second[1].name == "%rdarr0_1"


def test_named_registers(trace) -> None:
    assert reg.scalar(u32, name="%counter").name == "%counter"
    assert reg.array(f32, 2, name="%acc")[1].name == "%acc1"
    with pytest.raises(ValueError, match="declared already"):
        reg.scalar(u32, name="%counter")


# A register of a type that PTX does not declare lives in a fundamental one of its width, and tells what it was asked for.
@pytest.mark.parametrize(
    ("dtype", "declared"),
    [
        (bf16, "b16"), (bf16x2, "b32"), (tf32, "b32"), (e4m3, "b16"), (e5m2, "b16"), (f16, "b16"), (f16x2, "b32"), (b8, "b32"),
        (u8, "b32"), (s8, "b32"), (f32, "f32"), (f64, "f64"), (u16, "b16"), (s32, "b32"), (u64, "b64"),
    ],
    ids=str,
)  # fmt: skip
def test_registers_are_declared_in_fundamental_types(dtype, declared) -> None:
    @kernel
    def registers():
        made = [reg.scalar(dtype), reg.scalar(dtype, name="%named"), *reg.array(dtype, 2, name="%array"), reg.alloc(dtype)]
        assert {r.dtype for r in made} == {dtype}

    assert set(re.findall(r"\.reg \.(\w+)", registers.ptx())) == {declared}


@pytest.mark.parametrize(
    ("dtype", "init", "line"),
    [
        (f32, 0.0, "mov.f32 %f0, 0f00000000"),
        (f32, 1, "mov.f32 %f0, 0f3F800000"),
        (f32, -0.5, "mov.f32 %f0, 0fBF000000"),
        (f32, float("inf"), "mov.f32 %f0, 0f7F800000"),
        (f64, 1.0, "mov.f64 %fd0, 0d3FF0000000000000"),
        (u32, 7, "mov.u32 %r0, 7"),
        (s32, -7, "mov.s32 %r0, -7"),
        (u64, 1 << 40, "mov.u64 %rd0, 1099511627776"),
    ],
)
def test_scalar_with_an_initial_value(trace, dtype, init, line) -> None:
    reg.scalar(dtype, init=init)
    assert written(trace) == [line]


def test_a_float_for_a_16_bit_register_is_refused(trace) -> None:
    for dtype in (bf16, f16):
        with pytest.raises(TypeError) as raised:
            reg.scalar(dtype, init=1.0)
        assert dtype.name in str(raised.value)
    assert trace.statements == []


def test_from_copies_registers_special_registers_numbers_and_symbols(trace) -> None:
    assert reg.from_(ptx.special.tid.x(), u32).name == "%r0"
    reg.from_(reg.from_(1.5, f32), f32)
    reg.from_("smem", u32)
    assert written(trace) == ["mov.u32 %r0, %tid.x", "mov.f32 %f0, 0f3FC00000", "mov.f32 %f1, %f0", "mov.u32 %r1, smem"]


def test_numpy_numbers_are_numbers(trace) -> None:
    numpy = pytest.importorskip("numpy")
    reg.scalar(u32, init=numpy.int64(5)) + numpy.uint8(3)
    reg.scalar(f32, init=numpy.float32(0.5))
    assert written(trace) == ["mov.u32 %r0, 5", "add.u32 %r1, %r0, 3", "mov.f32 %f0, 0f3F000000"]


# -- operators


@pytest.mark.parametrize(
    ("dtype", "operate", "lines", "result"),
    [
        (u32, lambda a: a + 1, ["add.u32 %r1, %r0, 1"], u32),
        (u32, lambda a: 1 + a, ["add.u32 %r1, %r0, 1"], u32),
        (b32, lambda a: a + 1, ["add.u32 %r1, %r0, 1"], b32),
        (s32, lambda a: a + 1, ["add.s32 %r1, %r0, 1"], s32),
        (u64, lambda a: a + 1, ["add.s64 %rd1, %rd0, 1"], u64),
        (u32, lambda a: a - 1, ["sub.s32 %r1, %r0, 1"], u32),
        (u32, lambda a: a * 4, ["mul.lo.s32 %r1, %r0, 4"], u32),
        (u32, lambda a: 4 * a, ["mul.lo.s32 %r1, %r0, 4"], u32),
        (u32, lambda a: a * a, ["mul.lo.u32 %r1, %r0, %r0"], u32),
        (u64, lambda a: a * 4, ["mul.lo.u64 %rd1, %rd0, 4"], u64),
        (u32, lambda a: a << 2, ["shl.b32 %r1, %r0, 2"], u32),
        (u32, lambda a: a >> 2, ["shr.u32 %r1, %r0, 2"], u32),
        (s32, lambda a: a >> 2, ["shr.s32 %r1, %r0, 2"], s32),
        (s64, lambda a: a >> 2, ["shr.s64 %rd1, %rd0, 2"], s64),
        (u32, lambda a: a & 31, ["and.b32 %r1, %r0, 31"], u32),
        (u32, lambda a: 31 & a, ["and.b32 %r1, %r0, 31"], u32),
        (u32, lambda a: a | 1, ["or.b32 %r1, %r0, 1"], u32),
        (u32, lambda a: a ^ a, ["xor.b32 %r1, %r0, %r0"], u32),
        (s32, lambda a: a.max(0), ["max.s32 %r1, %r0, 0"], s32),
        (u32, lambda a: a == 3, ["setp.eq.u32 %p0, %r0, 3"], pred),
        (b32, lambda a: a != 3, ["setp.ne.u32 %p0, %r0, 3"], pred),
        (s32, lambda a: a < 3, ["setp.lt.s32 %p0, %r0, 3"], pred),
        (u32, lambda a: a >= a, ["setp.ge.u32 %p0, %r0, %r0"], pred),
        (f32, lambda a: a > 0.5, ["setp.gt.f32 %p0, %f0, 0f3F000000"], pred),
        (u64, lambda a: a <= 3, ["setp.le.u64 %p0, %rd0, 3"], pred),
    ],
)
def test_operators(trace, dtype, operate, lines, result) -> None:
    made = operate(reg.scalar(dtype))
    assert written(trace) == lines
    assert made.dtype == result


def test_a_32_bit_right_side_of_a_64_bit_sum_is_widened_with_its_sign(trace) -> None:
    p, unsigned, signed = reg.scalar(u64), reg.scalar(u32), reg.scalar(s32)
    p + unsigned
    p += signed
    assert written(trace) == [
        "cvt.u64.u32 %rd1, %r0",
        "add.s64 %rd2, %rd0, %rd1",
        "cvt.s64.s32 %rd3, %r1",
        "add.s64 %rd0, %rd0, %rd3",
    ]


def test_in_place_operators_keep_the_register(trace) -> None:
    a = before = reg.scalar(u32)
    a += 1
    a -= 2
    a *= 3
    a <<= 4
    a >>= 5
    a &= 6
    a |= 7
    a ^= 8
    assert a is before
    assert written(trace) == [
        "add.u32 %r0, %r0, 1", "sub.s32 %r0, %r0, 2", "mul.lo.s32 %r0, %r0, 3", "shl.b32 %r0, %r0, 4",
        "shr.u32 %r0, %r0, 5", "and.b32 %r0, %r0, 6", "or.b32 %r0, %r0, 7", "xor.b32 %r0, %r0, 8",
    ]  # fmt: skip


def test_special_registers_are_copied_before_they_are_used(trace) -> None:
    ptx.special.tid.x() + 1
    reg.scalar(u32) + ptx.special.laneid()
    _ = ptx.special.ctaid.x() == 0
    assert written(trace) == [
        "mov.u32 %r0, %tid.x", "add.u32 %r1, %r0, 1",
        "mov.u32 %r3, %laneid", "add.u32 %r4, %r2, %r3",
        "mov.u32 %r5, %ctaid.x", "setp.eq.u32 %p0, %r5, 0",
    ]  # fmt: skip


BINARY = ["add", "sub", "mul", "lshift", "rshift", "and_", "or_", "xor", "eq", "ne", "lt", "le", "gt", "ge"]
IN_PLACE = ["iadd", "isub", "imul", "ilshift", "irshift", "iand", "ior", "ixor"]


@pytest.mark.parametrize("name", [*BINARY, *IN_PLACE, "max"])
@pytest.mark.parametrize("left", [False, True], ids=["right", "left"])
def test_only_mov_reads_a_special_register(trace, name, left) -> None:
    operate = getattr(operator, name, Reg.max)
    r, special = reg.scalar(u32), ptx.special.tid.x()
    if left and name in IN_PLACE:
        with pytest.raises(TypeError, match="cannot be written to"):
            operate(special, r)
        assert trace.statements == []
        return
    operate(*((special, r) if left else (r, special)))
    copy, instruction = written(trace)
    assert copy == "mov.u32 %r1, %tid.x" and "%tid" not in instruction and "%r1" in instruction


def test_special_registers_are_copied_before_they_are_widened_or_assigned(trace) -> None:
    reg.scalar(u64) + ptx.special.tid.x()
    reg.array(u32, 2, name="%a")[0] = ptx.special.tid.x()
    assert written(trace) == [
        "mov.u32 %r0, %tid.x", "cvt.u64.u32 %rd1, %r0", "add.s64 %rd2, %rd0, %rd1", "mov.b32 %a0, %tid.x",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "operate", "lines"),
    [
        (s32, None, lambda a, _: operator.irshift(a, 2), ["shr.s32 %r0, %r0, 2"]),
        (s64, None, lambda a, _: operator.irshift(a, 2), ["shr.s64 %rd0, %rd0, 2"]),
        (u64, None, lambda a, _: operator.irshift(a, 2), ["shr.u64 %rd0, %rd0, 2"]),
        (s32, u64, operator.add, ["cvt.s64.s32 %rd1, %r0", "add.s64 %rd2, %rd1, %rd0"]),
        (u32, u64, operator.add, ["cvt.u64.u32 %rd1, %r0", "add.s64 %rd2, %rd1, %rd0"]),
        (u64, s32, operator.sub, ["cvt.s64.s32 %rd1, %r0", "sub.s64 %rd2, %rd0, %rd1"]),
        (u64, s32, operator.isub, ["cvt.s64.s32 %rd1, %r0", "sub.s64 %rd0, %rd0, %rd1"]),
        (s64, s32, operator.mul, ["cvt.s64.s32 %rd1, %r0", "mul.lo.u64 %rd2, %rd0, %rd1"]),
        (s32, s32, Reg.max, ["max.s32 %r2, %r0, %r1"]),
    ],
)
def test_signed_registers_keep_their_sign(trace, left, right, operate, lines) -> None:
    operate(reg.scalar(left), right and reg.scalar(right))
    assert written(trace) == lines


@pytest.mark.parametrize(
    ("dtype", "operate"),
    [
        (f32, lambda a: a << 1),
        (f32, lambda a: a // 2),
        (u16, lambda a: a + 1),
        (f16, lambda a: a * 2),
        (f16, lambda a: a / a),
        (u32, lambda a: a + 1.5),
        (u32, lambda a: a + "x"),
        (s32, lambda a: a // 2),
        (pred, lambda a: 5 - a),
        (u32, lambda a: ~a),
        (u64, lambda a: a.max(1)),
        (pred, lambda a: a + 1),
        (pred, lambda a: -a),
    ],
)
def test_operators_that_do_not_exist(trace, dtype, operate) -> None:
    with pytest.raises(TypeError):
        operate(reg.scalar(dtype))
    assert trace.statements == []


def test_a_32_bit_register_does_not_take_a_64_bit_sum(trace) -> None:
    a, wide = reg.scalar(u32), reg.scalar(u64)
    with pytest.raises((TypeError, ValueError)):
        a += wide
    assert (a + wide).dtype == u64


def test_a_register_has_no_truth_value(trace) -> None:
    a = reg.scalar(u32)
    p = a == 0
    for decide in (
        lambda: bool(p), lambda: bool(a), lambda: not a, lambda: 0 < a < 4, lambda: a == 0 or a == 1,
        lambda: not ~p, lambda: bool(a | p),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"ptx\.if_"):
            decide()


def test_comparing_with_what_is_no_operand_writes_nothing(trace) -> None:
    a = reg.scalar(u32)
    for other in (None, "a", object(), [a]):
        assert (a == other) is False and (a != other) is True
    with pytest.raises(TypeError):
        _ = a < None
    assert trace.statements == []


def test_registers_are_keys_of_dicts(trace) -> None:
    a = reg.array(u32, 2)
    assert {a[0]: 0, a[1]: 1}[a[1]] == 1
    assert trace.statements == []


def test_predicates(trace) -> None:
    p, d = reg.scalar(u32) == 0, reg.scalar(b32)
    negated = ~p
    assert isinstance(negated, NegPred) and negated.reg is p and ~negated is p and repr(negated) == "~Reg(%p0, pred)"
    pipe = d | p
    assert isinstance(pipe, PipeRef) and pipe.left is d and pipe.right is p
    assert isinstance("_" | p, PipeRef)


# -- objects


def test_a_register_by_its_attributes(trace) -> None:
    r = Reg("%r7", u32)
    assert (r.name, r.dtype, repr(r), hash(r)) == ("%r7", u32, "Reg(%r7, u32)", hash(Reg("%r7", f32)))
    with pytest.raises(AttributeError):
        r.name = "%r8"
    with pytest.raises(TypeError, match="dtype"):
        Reg("%r7", "u32")


def test_a_register_by_its_name_is_found_or_refused(trace) -> None:
    made = reg.scalar(u32)
    ptx.inst.add.u32(Reg(made.name, u32), "%r0", 1)
    assert written(trace) == ["add.u32 %r0, %r0, 1"]
    with pytest.raises(ValueError, match="no register `%r9`"):
        ptx.inst.add.u32(Reg("%r9", u32), made, 1)


def test_a_register_of_another_trace_is_refused(trace) -> None:
    with _ptx.Trace("other"):
        foreign, array = reg.scalar(u32), reg.array(u32, 2)
    with pytest.raises(ValueError, match="another kernel"):
        foreign + 1
    with pytest.raises(ValueError, match="trace has ended"):
        array[0]


def test_an_array_made_by_its_names(trace) -> None:
    reg.array(f32, 3)
    named = RegArray("%f", 3, f32)
    assert (len(named), named.base, named[2].name, named[1] is named[1]) == (3, "%f", "%f2", True)
    ptx.inst.add.f32(named[0], named[1], named[2])
    named[0] = named[1]
    assert written(trace) == ["add.f32 %f0, %f1, %f2", "mov.b32 %f0, %f1"]
    with pytest.raises(IndexError, match="index 3 is out of range"):
        named[3]
    for count in (0, 1 << 17):
        with pytest.raises(ValueError, match=f"an array of {count} registers; what fits is 1 to 65536"):
            RegArray("%f", count, f32)
    with pytest.raises(ValueError, match="no register `%f3`"):
        ptx.inst.neg.f32(named[0], RegArray("%f", 4, f32)[3])


def test_arrays(trace) -> None:
    a = reg.array(f32, 4)
    assert isinstance(a, RegArray) and (len(a), a.count, a.base, a.dtype) == (4, 4, "%f", f32)
    assert a[2] is a[2] and [r.name for r in a.hw_order(reverse=True)] == ["%f3", "%f2", "%f1", "%f0"] and a.regs() == list(a)
    for outside in (-1, 4):
        with pytest.raises(IndexError, match="4 registers"):
            a[outside]
        with pytest.raises(IndexError):
            a[outside] = a[0]
    with pytest.raises(TypeError):
        a[0] = 1.0
    with pytest.raises(ValueError):
        reg.array(f32, 0)


def test_a_slot_takes_over_a_temporary_and_copies_what_is_held(trace) -> None:
    x, a = reg.scalar(u32), reg.array(u32, 4, name="%a")
    a[0] = x + 1
    held = x + 2
    a[1] = held
    a[2] = a[2]
    a[3] += 5
    a[0] = a[3]
    assert written(trace) == [
        "add.u32 %a0, %r0, 1",
        "add.u32 %r1, %r0, 2",
        "mov.b32 %a1, %r1",
        "add.u32 %a3, %a3, 5",
        "mov.b32 %a0, %a3",
    ]


def test_a_slot_copies_what_others_hold_or_another_place_wrote(trace) -> None:
    def behind_a_label():
        made = x + 3
        ptx.label("L")
        return made

    x, a = reg.scalar(u32), reg.array(u32, 4, name="%a")
    a[0] = a[1] = x + 1
    (a[2],) = kept = [x + 2]
    a[3] = behind_a_label()
    assert kept[0].name == "%r2"
    assert written(trace) == [
        "add.u32 %r1, %r0, 1", "mov.b32 %a0, %r1", "mov.b32 %a1, %r1", "add.u32 %r2, %r0, 2", "mov.b32 %a2, %r2",
        "add.u32 %r3, %r0, 3", "L:", "mov.b32 %a3, %r3",
    ]  # fmt: skip


def test_slots_of_predicates_and_16_bits(trace) -> None:
    p, h = reg.array(pred, 2), reg.array(b16, 2)
    p[0] = p[1]
    h[0] = h[1]
    assert written(trace) == ["mov.pred %p0, %p1", "mov.b16 %rs0, %rs1"]


def test_fragments() -> None:
    with _ptx.Trace("test"):
        assert len(reg.wgmma_frag(m=64, n=256, dtype=f32)) == 128
        with pytest.raises(ValueError, match="128 threads"):
            reg.wgmma_frag(m=3, n=5, dtype=f32)


@given(st.lists(st.sampled_from([f32, u32, b64, pred, u16]), max_size=20))
def test_names_are_dense_and_unique(dtypes) -> None:
    with _ptx.Trace("test") as ctx:
        names = [reg.scalar(dtype).name for dtype in dtypes]
    assert len(set(names)) == len(names)
    for family, dtype in (("%f", f32), ("%r", u32), ("%rd", b64), ("%p", pred), ("%rs", u16)):
        mine = [name for name, each in zip(names, dtypes, strict=True) if each is dtype]
        assert mine == [f"{family}{i}" for i in range(len(mine))]
    assert ctx.statements == []


@given(st.floats(allow_nan=True, allow_infinity=True, width=32))
def test_floats_are_written_bit_by_bit(value) -> None:
    import struct

    with _ptx.Trace("test") as ctx:
        reg.scalar(f32, init=value)
    digits = ctx.statements[0].rstrip(";").split(", 0f")[1]
    (back,) = struct.unpack(">f", bytes.fromhex(digits))
    assert back == value or (back != back and value != value)
