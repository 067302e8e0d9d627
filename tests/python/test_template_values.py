"""Which template values share a kernel: those that no body can tell apart, and no others."""

import collections
import copy
import dataclasses
import decimal
import enum
import fractions
import functools
import itertools
import math
import operator
import pathlib
import struct
import types

import numpy as np
import pytest

from pyptx import Layout, PtxWarning, Tile, kernel, ptx, reg
from pyptx.types import bf16, f16, f32, u32


def fill(text_of):
    """A kernel that writes a hash of a text of its template value into every element, and counts its traces."""

    @kernel(in_specs=(Tile(32, u32),), out_specs=(Tile(32, u32),), grid=1, block=32)
    def filled(X, Y, *, value=None):
        traces[0] += 1
        (py,) = ptx.global_ptrs(Y)
        py += reg.from_(ptx.special.tid.x(), u32) * 4
        ptx.inst.st.global_.u32(ptx.addr(py), reg.scalar(u32, init=number(text_of(value))))
        ptx.ret()

    traces = [0]
    return filled, traces


def number(text):
    return sum(map(ord, text)) * 31 + len(text)


X = np.zeros(32, np.uint32)


def check(first, second, text_of=repr, same=False):
    """Calls one kernel with both values, in both orders; each answer is its own value's."""
    for one, other in ((first, second), (second, first)):
        filled, traces = fill(text_of)
        for value in (one, other, one, other):
            assert filled(X, value=value)[0] == number(text_of(value)), (value, one, other)
        assert traces[0] == (1 if same else 2), (one, other)


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Number(enum.IntEnum):
    ONE = 1


class Bits(enum.Flag):
    A = 1
    B = 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object


@dataclasses.dataclass(frozen=True)
class Hidden:
    x: object
    y: object = dataclasses.field(default=0, compare=False)


Point = collections.namedtuple("Point", "x y")


class Slotted:
    __slots__ = ("__private", "x")

    def __init__(self, x):
        self.x = x
        self.__private = x

    def __repr__(self):
        return f"Slotted({self.x!r}, {self.__private!r})"


class AllEqual:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, AllEqual)

    def __hash__(self):
        return 1

    def __repr__(self):
        return f"AllEqual({self.x!r})"


class Text(str):
    pass


EQUAL_AND_DIFFERENT = [
    (0.0, -0.0),
    (1, True),
    (1, 1.0),
    (True, 1.0),
    (0, False),
    (1.0, 1 + 0j),
    (0j, complex(0.0, -0.0)),
    (complex(-0.0, 0.0), 0j),
    ((1,), (True,)),
    ((1,), (1.0,)),
    ((0.0,), (-0.0,)),
    ([0.0], [-0.0]),
    ([1], (1,)),
    ((1,), Point(1, 1)),
    (((0.0,),), ((-0.0,),)),
    ({"a": 1}, {"a": True}),
    ({"a": 0.0}, {"a": -0.0}),
    ({1: 2}, {True: 2}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1}, collections.OrderedDict(a=1)),
    ({1}, {True}),
    ({1.0}, {1}),
    (frozenset({0.0}), frozenset({-0.0})),
    ({1}, frozenset({1})),
    (Frozen(0.0), Frozen(-0.0)),
    (Frozen(1), Frozen(True)),
    (Frozen((1,)), Frozen((1.0,))),
    (Hidden(1, 2), Hidden(1, 3)),
    (Slotted(1), Slotted(1.0)),
    (AllEqual(1), AllEqual(2)),
    (Point(0.0, 1), Point(-0.0, 1)),
    ("a", Text("a")),
    ("a", b"a"),
    (Number.ONE, 1),
    (Number.ONE, True),
    (Colour.RED, Colour.GREEN),
    (Bits.A | Bits.B, Bits.A),
    (Bits.A | Bits.B, 3),
    (np.float32(1), np.float64(1)),
    (np.float32(0.0), np.float32(-0.0)),
    (np.float64(1), 1.0),
    (np.int32(1), np.int64(1)),
    (np.int32(1), 1),
    (np.bool_(True), True),
    (np.dtype("f4"), np.dtype("f8")),
    (np.dtype("f4"), np.float32),
    (np.float32, np.float64),
    (np.zeros(3), np.zeros(4)),
    (np.zeros(3), -np.zeros(3)),
    (np.zeros(4), np.zeros((2, 2))),
    (np.zeros(3), np.zeros(3, np.float32)),
    (np.array([1, 2], object), np.array([1, 2.0], object)),
    (decimal.Decimal("1"), decimal.Decimal("1.0")),
    (fractions.Fraction(1), 1),
    (range(4), range(3)),
    (range(0), range(1, 1)),
    (slice(1), slice(True)),
    (bytearray(b"a"), b"a"),
    (collections.deque([1]), collections.deque([1.0])),
    (pathlib.PurePosixPath("a"), "a"),
    (functools.partial(max, 1), functools.partial(max, True)),
    (operator.itemgetter(1), operator.itemgetter(2)),
    (math.sin, math.cos),
    (int, bool),
    (f16, bf16),
    (Layout.ROW, Layout.COL),
    (Tile(4, f32), Tile(4, u32)),
    (types.SimpleNamespace(a=1), types.SimpleNamespace(a=1.0)),
    (None, ()),
    (..., None),
    (collections.Counter(a=1), {"a": 1}),
    (memoryview(b"ab"), memoryview(b"ac")),
]


def told_apart(value):
    """More than `repr` says."""
    content = value.x, getattr(value, "y", None) if isinstance(value, Hidden) else value
    return repr(content)


@pytest.mark.parametrize(("first", "second"), EQUAL_AND_DIFFERENT, ids=lambda value: f"{type(value).__name__}")
def test_values_that_python_calls_equal_or_that_cannot_be_hashed(first, second):
    check(first, second, lambda value: f"{type(value)}{value!r}{bytes(value) if isinstance(value, memoryview) else ''}")


SAME = [
    (float("nan"), struct.unpack("<d", b"\1\0\0\0\0\0\xf8\xff")[0]),
    (np.float32("nan"), -np.float32("nan")),
    ([1, [2]], [1, [2]]),
    ({"a": [1.0]}, {"a": [1.0]}),
    ({1, 2}, {2, 1}),
    (Frozen((1, "a")), Frozen((1, "a"))),
    (Slotted(1), Slotted(1)),
    (types.SimpleNamespace(a=[1]), types.SimpleNamespace(a=[1])),
    (np.arange(3), np.arange(3)),
    (Point(1, 2), Point(1, 2)),
    (int("9" * 30), int("9" * 30)),
    (decimal.Decimal("0.1"), decimal.Decimal("0.1")),
    (complex("nan"), complex("nan")),
    (Tile("M", f32), Tile("M", f32)),
]


@pytest.mark.parametrize(("first", "second"), SAME, ids=lambda value: f"{type(value).__name__}")
def test_values_of_the_same_content_share_a_kernel(first, second):
    assert first is not second
    check(first, second, lambda value: "x", same=True)


def test_torch_and_jax_types():
    torch, jnp = pytest.importorskip("torch"), pytest.importorskip("jax.numpy")
    pairs = itertools.combinations((torch.float32, torch.float16, jnp.float32, jnp.float16, np.float32, np.dtype("float32")), 2)
    for first, second in pairs:
        check(first, second, lambda value: f"{type(value)}{value!r}")
    check(torch.device("cpu"), torch.device("meta"))


# -- functions


def scaled(factor):
    return lambda x: x * factor


def defaulted(factor):
    def f(x, by=factor, *, more=0):
        return x * by + more

    return f


class Method:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor

    def times(self, x):
        return x * self.factor


def called(value):
    return repr(value(3))


def test_functions_go_by_what_they_do():
    check(scaled(2), scaled(3), called)
    check(scaled(2), scaled(2.0), called)
    check(scaled(0.0), scaled(-0.0), called)
    check(scaled(2), scaled(2), called, same=True)
    check(defaulted(2), defaulted(2.0), called)
    check(defaulted(2), defaulted(2), called, same=True)
    check(lambda x: 0.0, lambda x: -0.0, called)
    check(Method(2), Method(2.0), called)
    check(Method(2).times, Method(3).times, called)
    check(functools.partial(operator.mul, 2), functools.partial(operator.mul, 2.0), called)
    check(scaled(scaled(2)(1)), scaled(scaled(2)(1.0)), called)
    check([scaled(2)], [scaled(3)], lambda value: called(value[0]))
    check({"f": scaled(2)}, {"f": scaled(3)}, lambda value: called(value["f"]))
    more = defaulted(1)
    more.__kwdefaults__["more"] = 5
    check(more, defaulted(1), called)


def test_a_function_is_what_it_reads_too(monkeypatch):
    filled, traces = fill(called)
    f = eval("lambda x: x * G", space := {"G": 2})
    assert filled(X, value=f)[0] == number("6")
    space["G"] = 5
    assert filled(X, value=f)[0] == number("15")
    assert filled(X, value=f)[0] == number("15") and traces[0] == 2


# -- values that change


def test_values_that_change_after_the_first_call():
    class Config:
        tile = 1

        def __init__(self):
            self.x = [1]

    def check_changes(value, text_of, *changes):
        filled, _ = fill(text_of)
        for change in (lambda: None, *changes):
            change()
            assert filled(X, value=value)[0] == number(text_of(value)), text_of(value)

    items = [1, 2]
    check_changes(items, repr, lambda: items.append(3), items.pop, items.pop, lambda: items.__setitem__(0, True))
    pairs = {"a": {"b": 1}}
    check_changes(pairs, repr, lambda: pairs["a"].update(b=2), lambda: pairs["a"].update(b=2.0), lambda: pairs.update(c=0))
    config = Config()
    said = lambda c: repr((c.x, c.tile, vars(c)))  # noqa: E731
    check_changes(config, said, lambda: config.x.append(1), lambda: setattr(config, "x", 2), lambda: setattr(config, "tile", 9))
    check_changes(Config, lambda c: repr(c.tile), lambda: setattr(Config, "tile", 10))
    check_changes(config, lambda c: repr(c.tile), lambda: delattr(config, "tile"), lambda: setattr(Config, "tile", 11))
    array = np.zeros(4)
    check_changes(array, repr, lambda: array.__setitem__(2, 1.0), lambda: array.__imul__(-1.0))
    node = [1]
    node.append(node)
    check_changes(node, repr, lambda: node.insert(0, 5))
    module = types.ModuleType("settings_of_a_test")
    module.__file__, module.tile = __file__, 1

    def read(m):
        return repr(m.tile)

    check_changes(module, read, lambda: setattr(module, "tile", 2), lambda: setattr(module, "tile", 2.0))


def test_objects_without_content_are_themselves():
    class Marker:
        pass

    for make in (object, Marker):
        one, other = make(), make()
        check(one, other, lambda value, one=one: str(value is one))


def test_a_copy_is_the_same_value():
    value = {"a": [1, Frozen((1.5, "b"))], "f": Point(1, 2)}
    check(value, copy.deepcopy(value), lambda v: "x", same=True)


# -- values that are none


def test_tensors_are_no_template_values():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    filled, _ = fill(repr)
    for value, what in ((torch.zeros(3), "torch tensor"), (jax.numpy.zeros(3), "JAX array")):
        with pytest.raises(TypeError, match=rf"template parameter `value` of kernel `filled` is a {what}") as error:
            filled(X, value=value)
        assert error.value.kind == "argument_kind" and error.value.where[0] == __file__
    with pytest.raises(TypeError, match="template parameter `value`"):
        jax.jit(lambda x: filled(X, value=x))(1.0)


def test_what_cannot_be_compared_is_said():
    filled, traces = fill(lambda value: "x")
    generator = (i for i in range(3))
    with pytest.warns(PtxWarning, match="template parameter `value` of kernel `filled` has `<generator") as seen:
        filled(X, value=generator)
        filled(X, value=generator)
    assert seen[0].filename == __file__ and traces[0] == 1
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(TypeError, match="is nested too deeply"):
        filled(X, value=deep)
    with pytest.raises(TypeError, match="has more than 100000 parts"):
        filled(X, value=[[] for _ in range(200_000)])


# -- every way in


def test_jax_and_torch_take_the_right_kernel():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    filled, _ = fill(repr)
    jitted = jax.jit(filled, static_argnames="value")
    eager_torch, eager_jax = torch.zeros(32, dtype=torch.uint32), jax.numpy.zeros(32, "uint32")
    for value in (0.0, -0.0, (1,), (True,), (1.0,), 1, True, 1.0):
        expected = number(repr(value))
        assert int(filled(eager_torch, value=value)[0]) == expected
        assert int(filled(eager_jax, value=value)[0]) == expected
        assert int(jax.jit(lambda x, value=value: filled(x, value=value))(eager_jax)[0]) == expected
        assert str(expected) in filled.ptx(value=value)
    del jitted  # JAX itself compares static arguments with `==`


def test_compiled_torch_takes_the_right_kernel():
    torch = pytest.importorskip("torch")
    x = torch.zeros(32, dtype=torch.int32)

    @kernel(in_specs=(Tile(32, u32),), out_specs=(Tile(32, u32),), grid=1, block=32)
    def signed(X, Y, *, value=None):
        (py,) = ptx.global_ptrs(Y)
        py += reg.from_(ptx.special.tid.x(), u32) * 4
        ptx.inst.st.global_.u32(ptx.addr(py), reg.scalar(u32, init=number(repr(value))))
        ptx.ret()

    x = torch.zeros(32, dtype=torch.uint32)
    for f in (lambda x: signed(x, value=0.0), lambda x: signed(x, value=-0.0), lambda x: signed(x, value=(-0.0,))):
        assert int(torch.compile(f, backend="eager", fullgraph=True)(x)[0]) == number(repr(f.__code__.co_consts[1]))
    # Of what a compiled function is given, Dynamo compares floats with `==`: there 0.0 and -0.0 are torch's to tell apart.
    for value in (0.0, (1,), (True,), (1.0,), 1, True, 1.0):
        compiled = torch.compile(lambda x, value=value: signed(x, value=value), backend="eager", fullgraph=True)
        assert int(compiled(x)[0]) == number(repr(value))


def test_factories_of_one_text_have_their_own_keys():
    """What torch's caches know a kernel by holds what its body reads."""

    def build(constant):
        @kernel(in_specs=(Tile(32, u32),), out_specs=(Tile(32, u32),), grid=1, block=32)
        def built(X, Y):
            (py,) = ptx.global_ptrs(Y)
            py += reg.from_(ptx.special.tid.x(), u32) * 4
            ptx.inst.st.global_.u32(ptx.addr(py), reg.scalar(u32, init=number(repr(constant))))
            ptx.ret()

        built(X)
        return built._plan_for({}).specialise.content()

    values = (0.0, -0.0, 1, True, 1.0, (1,), (True,), Frozen(1), Frozen(1.0), scaled(1), scaled(2), np.zeros(3), np.zeros(4))
    contents = [build(value) for value in values]
    assert len(set(contents)) == len(values)
    assert [build(value) for value in values] == contents
