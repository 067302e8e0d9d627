"""Bodies that would not run, and bodies that read what changes."""

import asyncio
import functools
import types

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg
from pyptx.types import u32

X = np.zeros(32, np.uint32)


# -- bodies whose call runs nothing


def generator(X, Y):
    yield ptx.ret()


async def coroutine(X, Y):
    ptx.ret()


async def asynchronous_generator(X, Y):
    yield ptx.ret()


@types.coroutine
def old_coroutine(X, Y):
    yield ptx.ret()


def lambda_generator():
    return lambda X, Y: (yield)


@pytest.mark.parametrize(
    "body", [generator, coroutine, asynchronous_generator, old_coroutine, lambda_generator()], ids=lambda body: body.__name__
)
def test_a_body_that_does_not_run_is_refused_where_it_is_decorated(body):
    with pytest.raises(
        RuntimeError, match=rf"the body of kernel `{body.__name__}` is a.*; to call it would write nothing"
    ) as error:
        kernel(body)
    assert error.value.kind == "bad_control_flow" and error.value.where[0] == __file__


def one_that_returns(make):
    def body(X, Y):
        return make(X, Y)

    return body


@pytest.mark.parametrize("make", [generator, coroutine, asynchronous_generator, old_coroutine], ids=lambda make: make.__name__)
@pytest.mark.parametrize("call", ["ptx", "numpy"])
@pytest.mark.filterwarnings("error")
def test_a_body_that_returns_one_is_refused_when_it_is_traced(make, call):
    k = kernel(in_specs=(Tile(32, u32),), out_specs=(Tile(32, u32),), grid=1, block=32)(one_that_returns(make))
    with pytest.raises(RuntimeError, match=r"the body of kernel `body` returned <.*>, which has not run"):
        k.ptx() if call == "ptx" else k(X)


@pytest.mark.filterwarnings("error")
def test_a_future_is_refused_too():
    loop = asyncio.new_event_loop()
    k = kernel(lambda: loop.create_future())
    with pytest.raises(RuntimeError, match="which has not run"):
        k.ptx()
    loop.close()


class Callable_:
    def __call__(self, X):
        ptx.ret()

    def method(self):
        ptx.ret()


@pytest.mark.parametrize("what", [functools.partial(generator, 1), Callable_(), Callable_().method, print, Callable_, 5, "x", []])
def test_what_is_no_function_is_refused(what):
    with pytest.raises(TypeError, match=r"`@kernel` takes a Python function, `.*` was given") as error:
        kernel(what)
    assert error.value.where[0] == __file__


def test_a_wrapped_body_is_seen_through_no_further():
    @functools.wraps(generator)
    def wrapped(*args):
        return generator(*args)

    with pytest.raises(ValueError, match="kernel `generator` has `\\*` parameters"):
        kernel(wrapped)


# -- what a body reads


def writes(value):
    """Writes a number to every element."""
    (py,) = ptx.global_ptrs(OUT[-1])
    py += (reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)) * 4
    ptx.inst.st.global_.u32(ptx.addr(py), reg.scalar(u32, init=value))
    ptx.ret()


OUT: list = []
SPECS = dict(in_specs=(Tile("N", u32),), out_specs=(Tile("N", u32),), grid=lambda N: N // 32, block=32)
CONSTANT = 1
NESTED = {"a": [1]}


def helper():
    return CONSTANT * 100


class Settings:
    value = 5


class Instance:
    def __init__(self):
        self.value = 6

    @property
    def twice(self):
        return 2 * self.value


INSTANCE = Instance()


def decorated(body):
    """A kernel of a body that gives the number to write."""

    def traced(A, B):
        traces.append(1)
        OUT.append(B)
        writes(body())

    traces: list = []
    return kernel(**SPECS)(traced), traces


def test_globals_closures_and_helpers_are_looked_at_before_each_call(monkeypatch):
    small, large = X, np.zeros(64, np.uint32)

    def check(body, *changes):
        k, traces = decorated(body)
        for change in (lambda: None, *changes):
            change()
            before = len(traces)
            for x in (small, large, small, large):  # sizes that are known and that are new
                assert set(k(x).tolist()) == {body()}
            assert str(body()) in k.ptx(N=32)
            assert len(traces) - before == 2, "one trace for each size"

    def set_global(name, value):
        return lambda: monkeypatch.setitem(globals(), name, value)

    check(lambda: CONSTANT, set_global("CONSTANT", 2), set_global("CONSTANT", 3))
    check(
        lambda: helper(), set_global("CONSTANT", 4), set_global("helper", lambda: 77), set_global("helper", lambda: CONSTANT + 1)
    )
    check(lambda: NESTED["a"][0], lambda: NESTED["a"].__setitem__(0, 9), set_global("NESTED", {"a": [10]}))
    check(lambda: len(NESTED), lambda: NESTED.update(b=1), lambda: NESTED.pop("b"))
    check(lambda: Settings.value, lambda: monkeypatch.setattr(Settings, "value", 55))
    check(lambda: INSTANCE.value, lambda: setattr(INSTANCE, "value", 66))
    check(lambda: INSTANCE.twice, lambda: setattr(INSTANCE, "value", 67))
    check(lambda: getattr(INSTANCE, "value"), lambda: setattr(INSTANCE, "value", 68))  # noqa: B009
    local = 1

    def read():
        return local

    def set_local(value):
        nonlocal local
        local = value

    check(read, lambda: set_local(5), lambda: set_local(6))
    table = np.array([1, 2, 3])
    check(lambda: int(table[1]), lambda: table.__setitem__(1, 44))
    chosen = {1, 2}
    check(lambda: sum(chosen), lambda: chosen.add(7))

    def defaults(x=11):
        return x

    check(lambda: defaults(), lambda: setattr(defaults, "__defaults__", (12,)))

    def code():
        return 21

    def another():
        return 22

    check(lambda: code(), lambda: setattr(code, "__code__", another.__code__))
    check(lambda: abs(-3), lambda: monkeypatch.setitem(globals(), "abs", lambda x: 33))


def test_what_is_equal_is_not_traced_again(monkeypatch):
    k, traces = decorated(lambda: CONSTANT + NESTED["a"][0])
    monkeypatch.setitem(globals(), "CONSTANT", 1 << 20)
    k(X)
    monkeypatch.setitem(globals(), "CONSTANT", int("1048576"))
    monkeypatch.setitem(globals(), "NESTED", {"a": list(NESTED["a"])})
    k(X)
    assert len(traces) == 1
    monkeypatch.setitem(globals(), "CONSTANT", 1048576.0)
    with pytest.raises(Exception):  # noqa: B017 (a float is no u32): it was traced again
        k(X)


def test_what_the_body_writes_is_no_reason_to_trace_again():
    counts = {"n": 0}
    seen = []
    calls = 0

    @kernel(**SPECS)
    def counting(A, B):
        nonlocal calls
        calls += 1
        counts["n"] += 1
        seen.append(A)
        OUT.append(B)
        writes(3)

    for _ in range(3):
        counting(X)
    assert (calls, counts["n"], len(seen)) == (1, 1, 1)


def test_grids_are_looked_at_too():
    threads = 32

    @kernel(in_specs=(Tile("N", u32),), out_specs=(Tile("N", u32),), grid=lambda N: N // threads, block=32)
    def k(A, B):
        (pb,) = ptx.global_ptrs(B)
        pb += (reg.from_(ptx.special.ctaid.x(), u32) * threads + reg.from_(ptx.special.tid.x(), u32)) * 4
        ptx.inst.st.global_.u32(ptx.addr(pb), reg.scalar(u32, init=1))
        ptx.ret()

    assert k._image({"N": 64}, {}, {}).grid == (2, 1, 1)
    k(X)
    threads = 16
    k._forget_if_changed()
    assert k._image({"N": 64}, {}, {}).grid == (4, 1, 1)


def test_clear_forgets(tmp_path):
    path = tmp_path / "constant"
    path.write_text("1")

    def read():
        return int(path.read_text())

    k, traces = decorated(read)
    assert k(X)[0] == 1
    path.write_text("2")
    assert k(X)[0] == 1, "a file is nothing that a call looks at"
    k.clear()
    assert k(X)[0] == 2 and len(traces) == 2


def test_torch_and_jax_see_the_change():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    value = 1
    k, _ = decorated(lambda: value)
    a, b = torch.zeros(32, dtype=torch.uint32), jax.numpy.zeros(32, "uint32")
    for value in (1, 2, 3):
        for _ in range(2):
            assert int(k(a)[0]) == value and int(k(b)[0]) == value
            assert int(k(a, out=torch.empty_like(a))[0]) == value
            assert int(jax.jit(lambda x: k(x))(b)[0]) == value
