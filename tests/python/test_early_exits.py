"""Python's words that leave a block early are errors where they leave something out, and only there."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

from pyptx import Module, PtxError, Tile, kernel, ptx, reg
from pyptx.types import f32, s32, u32


def traced(body):
    return kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32, arch="sm_90a")(body).ptx()


def leaves_by_return(X, Y):
    i = reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(i >= 16):
        return  # word
    ptx.ret()


def leaves_by_continue(X, Y):
    s = reg.scalar(u32, init=0)
    for k in ptx.range_(0, 10):
        with ptx.if_(k == 3):
            continue  # word
        s += 1
    ptx.ret()


def leaves_by_break(X, Y):
    i = reg.scalar(u32, init=0)
    for _ in range(2):
        with ptx.scope(), ptx.if_(i == 1):
            break  # word
    ptx.ret()


def leaves_a_while(X, Y):
    i = reg.scalar(u32, init=0)
    with ptx.while_(lambda: i < 3):
        with ptx.if_(i == 1):
            return  # word
        i += 1
    ptx.ret()


def leaves_an_else(X, Y):
    i = reg.scalar(u32, init=0)
    with ptx.if_(i == 1):
        i += 1
    with ptx.else_():
        return  # word
    ptx.ret()


TAKEN = True


def leaves_where_python_says(X, Y):
    i = reg.scalar(u32, init=0)
    with ptx.if_(i == 1):
        i += 1
        if TAKEN:
            return  # word
    ptx.ret()


def leaves_from_a_loop_in_two_blocks(X, Y):
    i = reg.scalar(u32, init=0)
    with ptx.scope(), ptx.if_(i == 1):
        for j in range(3):
            with ptx.if_(i == 2):
                if j == 2:
                    return [i + j, None]  # word
    return ptx.ret()


def leaves_a_try(X, Y):
    i = reg.scalar(u32, init=0)
    with ptx.if_(i == 1):
        try:
            return  # word
        finally:
            i += 1
    ptx.ret()


@pytest.mark.parametrize(
    "body",
    [
        leaves_by_return, leaves_by_continue, leaves_by_break, leaves_a_while, leaves_an_else, leaves_where_python_says,
        leaves_from_a_loop_in_two_blocks, leaves_a_try,
    ],
)  # fmt: skip
def test_what_would_be_left_out_is_an_error(body) -> None:
    lines, first = inspect.getsourcelines(body)
    (at,) = (i for i, line in enumerate(lines) if line.endswith("# word\n"))
    word = lines[at].split()[0]
    with pytest.raises(PtxError, match=f"`{word}` in the block of `ptx\\.") as raised:
        traced(body)
    assert raised.value.kind == "bad_control_flow" and raised.value.where == (__file__, first + at)


def test_a_functions_early_result_is_an_error() -> None:
    m = Module(arch="sm_90a")

    @m.func(params=(f32,), returns=f32)
    def relu(x):
        with ptx.if_(x > 0.0):
            return x
        return x * 0.5

    with pytest.raises(PtxError, match=r"`return` in the block of `ptx.if_`"):
        m.ptx()


def at_the_end(X, Y):
    i = reg.scalar(u32, init=0)
    with ptx.if_(i == 1):
        ptx.ret()
        return


def of_a_helper(X, Y):
    def helper():
        with ptx.scope():
            return reg.scalar(u32, init=3)

    helper()
    ptx.ret()


def as_the_author_chose(X, Y):
    i = reg.scalar(u32, init=0)
    for j in range(4):
        with ptx.if_(i == 1):
            i += 1
            if j == 2:
                break
    ptx.ret()


def at_the_end_of_a_round(X, Y):
    i = reg.scalar(u32, init=0)
    for _ in range(4):
        with ptx.if_(i == 1):
            i += 1
            continue
    ptx.ret()


def does_not_take_it(X, Y):
    i = reg.scalar(u32, init=0)
    for _ in range(2):
        with ptx.scope(), ptx.if_(i == 1):
            i += 1
            if not TAKEN:
                return
    ptx.ret()


def at_the_end_if_python_says(X, Y):
    i = reg.scalar(u32, init=0)
    with ptx.if_(i == 1):
        if TAKEN:
            ptx.ret()
            return
        i += 1


RIGHT = [at_the_end, of_a_helper, as_the_author_chose, at_the_end_of_a_round, does_not_take_it, at_the_end_if_python_says]


@pytest.mark.parametrize("body", RIGHT)
def test_what_leaves_nothing_out_is_not(body) -> None:
    assert "ret;" in traced(body)


def without_its_source(body):
    """The same function, as at Python's prompt."""
    scope = dict(globals())
    exec(compile(inspect.getsource(body), "<string>", "exec"), scope)
    return scope[body.__name__]


@pytest.mark.parametrize("body", RIGHT)
def test_code_without_a_source_that_leaves_nothing_out(body) -> None:
    assert traced(without_its_source(body)) == traced(body)


@pytest.mark.parametrize("body", [leaves_by_return, leaves_a_while, leaves_an_else, leaves_where_python_says, leaves_a_try])
def test_a_return_in_code_without_a_source_is_an_error(body) -> None:
    with pytest.raises(PtxError, match=r"`return` in the block of `ptx\.") as raised:
        traced(without_its_source(body))
    assert raised.value.kind == "bad_control_flow"


def catches(X, Y):
    i = reg.scalar(u32, init=0)
    try:
        with ptx.if_(i == 1):
            raise ValueError("of the author's own")
    except ValueError:
        pass
    ptx.ret()


def test_an_exception_that_leaves_a_block_is_named() -> None:
    with pytest.raises(PtxError, match=r"an exception left the block of `ptx.if_`, which has no end now") as raised:
        traced(catches)
    assert raised.value.where == (__file__, inspect.getsourcelines(catches)[1] + 3)


def test_errors_can_be_pickled() -> None:
    with pytest.raises(PtxError) as raised:
        traced(catches)
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is type(raised.value) and str(again) == str(raised.value)
    assert (again.kind, again.where, again.notes) == (raised.value.kind, raised.value.where, raised.value.notes)


def test_a_range_is_looped_over_once() -> None:
    def twice(X, Y):
        three = ptx.range_(0, 3)
        for _ in three:
            pass
        for _ in three:
            pass

    with pytest.raises(PtxError, match=r"the loop of this `ptx.range_` is written already") as raised:
        traced(twice)
    assert raised.value.where == (__file__, inspect.getsourcelines(twice)[1] + 4)


@pytest.mark.parametrize("wrong", [3_000_000_000, -3_000_000_000])
def test_numbers_of_another_type_are_not_compared(wrong: int) -> None:
    def body(X, Y):
        i = reg.scalar(s32, init=5)
        i < wrong  # noqa: B015

    with pytest.raises(PtxError, match=r"which no .s32 is"):
        traced(body)

    def unsigned(X, Y):
        i = reg.scalar(u32, init=5)
        i >= -1  # noqa: B015

    with pytest.raises(PtxError, match=r"is -1, which no .u32 is"):
        traced(unsigned)

    def bits(X, Y):
        assert (reg.scalar(u32, init=5) == -1) is not None
        ptx.ret()

    assert "setp.eq.u32 %p0, %r0, -1;" in traced(bits)

    def loop(X, Y):
        for _ in ptx.range_(0, wrong):
            pass

    with pytest.raises(PtxError, match=r"counts in a .s32 register"):
        traced(loop)


def test_an_output_of_the_callers_keeps_what_it_holds() -> None:
    @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32, arch="sm_90a")
    def accumulate(X, Y):
        x, y = ptx.global_ptrs(X, Y)
        t = reg.from_(ptx.special.tid.x(), u32)
        a, b = reg.scalar(f32), reg.scalar(f32)
        ptx.inst.ld.global_.f32(a, ptx.addr(x + t * 4))
        ptx.inst.ld.global_.f32(b, ptx.addr(y + t * 4))
        ptx.inst.add.f32(b, b, a)
        ptx.inst.st.global_.f32(ptx.addr(y + t * 4), b)
        ptx.ret()

    ones, sums = np.ones(32, np.float32), np.full(32, 2, np.float32)
    assert accumulate(ones, out=sums) is sums and (sums == 3).all()
    assert (accumulate(ones, out=sums) == 4).all()
    with pytest.raises(PtxError) as raised:
        accumulate(ones)  # an output of ours starts as anything
    assert raised.value.kind == "uninitialised"
