"""What `Module` takes, refuses and says: arguments, initial values, texts, threads, copies, definitions that are run again."""

import array
import asyncio
import copy
import inspect
import itertools
import pickle
import threading
import types as python_types
import warnings

import pytest

np = pytest.importorskip("numpy")

import pyptx  # noqa: E402
from pyptx import Module, Tile, Var, kernel, ptx, reg  # noqa: E402
from pyptx.types import b8, bf16, f32, pred, u8, u32, u64  # noqa: E402

N = 32
at_top = Module()
table_at_top = at_top.var("table", f32, (2, 4), init=range(8), space="const")


@at_top.func(returns=u32, params=u32)
def function_at_top(x):
    return x + 1


def empty():
    ptx.ret()


def text_of(m):
    return kernel(module=m)(empty).ptx()


def here():
    return inspect.currentframe().f_back.f_lineno


def refused(call, *said, kind=None):
    """The error that a call on one line raises, which is at that line and has none of the core's signatures in it."""
    with pytest.raises(pyptx.PtxError) as raised:
        call()
    error, text = raised.value, str(raised.value)
    for part in said:
        assert part in text
    assert error.where == (__file__, call.__code__.co_firstlineno)
    assert "ModuleBuilder" not in text and "self," not in text
    assert kind is None or error.kind == kind
    return error


# -- initial values


class Indexed:
    def __getitem__(self, i):
        if i == 4:
            raise IndexError
        return i + 1


@pytest.mark.parametrize(
    "init",
    [
        lambda: iter([1, 2, 3, 4]),
        lambda: (i + 1 for i in range(4)),
        lambda: map(lambda i: i + 1, range(4)),
        lambda: range(1, 5),
        lambda: dict.fromkeys((1, 2, 3, 4)).keys(),
        lambda: np.arange(1, 5),
        lambda: np.arange(1, 5, dtype=np.uint8),
        lambda: [np.uint32(1), np.int8(2), np.array(3), 4],
        lambda: array.array("I", [1, 2, 3, 4]),
        lambda: bytes([1, 2, 3, 4]),
        lambda: bytearray([1, 2, 3, 4]),
        lambda: memoryview(bytes([1, 2, 3, 4])),
        lambda: itertools.chain([1, 2], (3,), iter([4])),
        Indexed,
    ],
)
def test_initial_values_are_taken_over_once(init):
    m = Module()
    m.var("v", u32, 4, init=init())
    m.var("later", u32)
    for _ in range(2):
        assert "v[4] = {1, 2, 3, 4};" in text_of(m)


def test_nested_iterators_and_generators():
    m = Module()
    m.var("v", u32, (2, 2), init=(map(int, row) for row in ("12", "34")))
    m.var("quads", u32, 2, vector=2, init=iter([iter((1, 2)), [3, 4]]))
    assert "v[2][2] = {{1, 2}, {3, 4}};" in text_of(m)
    assert "quads[2] = {{1, 2}, {3, 4}};" in text_of(m)


def test_what_the_author_changes_later_does_not_count():
    m = Module()
    numbers, large = [1, 2], np.zeros(5000, np.uint32)
    m.var("small", u32, 2, init=numbers)
    m.var("large", u32, 5000, init=large)
    k = kernel(module=m)(empty)
    before = k.ptx()
    numbers[0], large[:] = 9, 7
    m.var("v", u32)
    assert k.ptx() == before.replace("\n\n.visible", "\n.global .u32 v;\n\n.visible")


def test_sixteen_bit_scalars_of_other_libraries():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    m = Module()
    m.var("v", f32, 3, init=np.array([1, 2, 0.5], ml_dtypes.bfloat16))
    m.var("h", f32, 3, init=[np.float16(1), ml_dtypes.bfloat16(2), np.float32(0.5)])
    assert text_of(m).count("{0f3F800000, 0f40000000, 0f3F000000}") == 2


LOOP: list = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("init", "said"),
    [
        ({1, 2}, "the set `{1, 2}`"),
        (frozenset({1}), "the frozenset"),
        ({1: 2}, "the dict `{1: 2}`"),
        ([[1], {2}], "the set `{2}`"),
        (LOOP, "holds itself"),
        (itertools.count(), "more elements than the 4 that fit"),
        ([object()], "the object `<object object"),
        ([None], "`None`"),
    ],
)
def test_what_is_no_initial_value(init, said):
    m = Module()
    refused(lambda: m.var("v", u32, 4, init=init), "initial value", "`v`", said, kind="bad_initialiser")
    m.var("v", u32, 4)  # nothing was declared


def test_an_open_variable_ends_somewhere():
    m = Module()
    refused(lambda: m.var("v", u8, 0, init=itertools.repeat(0)), "more elements than", kind="bad_initialiser")


# -- other arguments


@pytest.mark.parametrize("shape", [3, (3,), [3], np.int64(3), np.array(3), np.array([3]), (np.uint8(3),), iter([3])])
def test_shapes_that_fit(shape):
    m = Module()
    v = m.var("v", u32, shape)
    assert v.shape == (3,) and type(v.shape[0]) is int
    assert ".global .u32 v[3];" in text_of(m)


@pytest.mark.parametrize("shape", ["N", b"N", 1.5, None, (1, 2.5), True, {3}, {3: 3}, Tile(3, f32), np.array([1.5]), object()])
def test_shapes_of_the_wrong_kind(shape):
    refused(lambda: Module().var("v", u32, shape), "the shape of variable `v` is", "what fits is an int", kind="argument_kind")


@pytest.mark.parametrize("shape", [-1, 2**63, 2**64, (2, -1), (2**32, 2**32), (0, 2**64)])
def test_shapes_out_of_range(shape):
    refused(lambda: Module().var("v", u32, shape), f"the shape of variable `v` is `{shape}`", kind="bad_declaration")


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"align": -4}, "bad_declaration", "aligned to -4 bytes; what fits is a power of two"),
        ({"align": 3}, "bad_declaration", "aligned to 3 bytes"),
        ({"align": 2**40}, "bad_declaration", "aligned to 1099511627776 bytes"),
        ({"align": None}, "argument_kind", "aligned to None bytes"),
        ({"align": 4.0}, "argument_kind", "aligned to 4.0 bytes"),
        ({"align": "4"}, "argument_kind", "aligned to '4' bytes"),
        ({"space": None}, "argument_kind", "`None`; there are `global`, `const`, `shared`"),
        ({"space": ""}, "bad_declaration", "`''`; there are"),
        ({"space": "local"}, "bad_declaration", "`'local'`; there are"),
        ({"vector": 3}, "bad_declaration", "a vector of 3; what fits is 2 or 4"),
        ({"vector": 0}, "bad_declaration", "a vector of 0"),
        ({"vector": 258}, "bad_declaration", "a vector of 258"),
        ({"vector": None}, "argument_kind", "a vector of None"),
        ({"linkage": "here"}, "bad_declaration", "`'here'`; there are `visible`"),
        ({"linkage": 3}, "argument_kind", "the linkage `3`"),
        ({"attributes": None}, "argument_kind", "are `None`"),
        ({"attributes": [3]}, "argument_kind", "are `[3]`"),
        ({"dtype": None}, "argument_kind", "the dtype of variable `v` is `None`"),
        ({"dtype": "u32"}, "argument_kind", "is `'u32'`; what fits is a type of `pyptx.types`"),
        ({"dtype": int}, "argument_kind", "<class 'int'>"),
        ({"dtype": pred}, "bad_declaration", "no memory holds"),
        ({"name": None}, "argument_kind", "the name of a variable is `None`"),
        ({"name": 3}, "argument_kind", "is `3`"),
        ({"name": b"v"}, "argument_kind", "b'v'"),
        ({"name": ""}, "bad_declaration", "is empty"),
        ({"name": "a b"}, "bad_declaration", "`a b`"),
    ],
)
def test_what_does_not_fit_a_variable(options, kind, said):
    given = {"name": "v", "dtype": u32, **options}
    refused(lambda: Module().var(**given), said, kind=kind)


def test_words_with_and_without_their_dot(ptxas):
    for attributes in ("managed", ".managed", ["managed"], (".managed",)):
        m = Module()
        m.var("v", u32, attributes=attributes, space=".global", linkage=".visible", align=np.int64(8))
        m.var("w", u32, linkage=None)
        assert ".visible .global .align 8 .attribute(.managed) .u32 v;" in text_of(m)
        ptxas(text_of(m))
    m = Module()
    m.var("v", u32, attributes="foo")
    with pytest.raises(pyptx.PtxError, match=r"the attribute `\.foo`"):
        text_of(m)


@pytest.mark.parametrize("what", [None, 3, b"text", ["text"]])
def test_texts_and_names_of_the_wrong_kind(what):
    m = Module()
    f = m.func(empty, name="f")
    refused(lambda: m.raw(what), "the text of `raw` is", kind="argument_kind")
    refused(lambda: m.pragma(what), "a pragma is", kind="argument_kind")
    refused(lambda: m.section(what, ""), "the name of a section is", kind="argument_kind")
    refused(lambda: m.section(".debug_str", what), "the content of the section `.debug_str`", kind="argument_kind")
    refused(lambda: m.alias(what, f), "the name of a function is", kind="argument_kind")
    refused(lambda: m.alias("g", what), "what fits is a function of the module", kind="argument_kind")
    refused(lambda: m.declare(what), "the name of a function is", kind="argument_kind")
    refused(lambda: pyptx.func(empty, module=what), "what fits is a `Module`", kind="argument_kind")
    if what is not None:
        refused(lambda: m.func(empty, name=what), "the name of a function is", kind="argument_kind")
        refused(lambda: m.func(empty, returns=what), "`returns` of the function `empty`", kind="argument_kind")
        refused(lambda: m.func(empty, params=what), "`params` of the function `empty`", kind="argument_kind")
    refused(lambda: Module(arch=what), "a target's name", kind="unknown_target")
    assert m.functions == (f,)


@pytest.mark.parametrize("version", ["8.5", 8.5, (8,), (8, 5, 0), (8, "5"), (8, -1), (264, 5), {8, 5}, b"85"])
def test_versions_of_the_wrong_kind(version):
    refused(lambda: Module(version=version), "what fits is a PTX version as two ints", kind="argument_kind")
    refused(lambda: kernel(version=version)(empty), "what fits is a PTX version as two ints", kind="argument_kind")


def test_what_no_text_can_be_made_for_is_refused_where_the_module_is_made():
    refused(lambda: Module(version=(1, 1)), "needs PTX 8.0", "`.version 8.0` knows it", kind="version_lacks")
    refused(lambda: Module(version=(99, 9)), "no PTX 99.9", kind="version_lacks")
    refused(lambda: Module("sm_90b"), "sm_90b", kind="unknown_target")
    assert Module(version=[8, np.int64(7)]).ptx().startswith(".version 8.7")


def test_a_kernel_of_another_target_or_version():
    m = Module(version=(8, 5))
    refused(lambda: kernel(module=m, version=(8, 7))(empty), "`empty` is for PTX 8.7 and its module for PTX 8.5")
    refused(lambda: kernel(module=m, arch="sm_80")(empty), "`empty` is for sm_80 and its module for sm_90a")
    refused(lambda: kernel(module=Module(), version=(8, 7))(empty), "for PTX 8.7 and its module for the default PTX version")
    assert kernel(module=m, version=(8, 5))(empty).ptx().startswith(".version 8.5")


def test_one_type_and_none(ptxas):
    m = Module()

    @m.func(returns=u32, params=u32)
    def one(x):
        return x + 1

    @m.func(returns=None, params=None)
    def none():
        pass

    m.raw(".func (.reg .u32 y) two (.reg .u32 x)\n{\n\tadd.u32 y, x, 2;\n\tret;\n}")
    two = m.declare("two", returns=u32, params=u32)

    @kernel(module=m)
    def k():
        none()
        two(one(1))
        ptx.ret()

    ptxas(k.ptx())
    assert one.params == two.params == (u32,) and none.params == none.returns == ()
    refused(lambda: m.func(empty, params=(u32, None)), "number 1, is `None`", kind="argument_kind")


# -- bodies


def test_bodies_that_a_call_would_not_run():
    m = Module()

    def generator():
        yield 1

    def another():
        yield 2

    async def coroutine():
        await asyncio.sleep(0)

    async def asynchronous():
        yield 1

    for body, said in (
        (generator, "a generator"),
        (coroutine, "asynchronous"),
        (asynchronous, "an asynchronous generator"),
        (python_types.coroutine(another), "a coroutine of `types.coroutine`"),
    ):
        refused(lambda: m.func(body), f"the body of function `{body.__name__}` is {said}", kind="bad_control_flow")  # noqa: B023
    assert not m.functions

    m.func(lambda: coroutine(), name="hidden")
    with warnings.catch_warnings(), pytest.raises(pyptx.PtxError, match="function `hidden` returned <coroutine") as raised:
        warnings.simplefilter("error")
        text_of(m)
    assert raised.value.kind == "bad_control_flow"


def test_a_module_that_is_asked_for_in_its_bodies():
    m = Module()
    other = Module()
    asked = []

    @m.func
    def f():
        asked[0]()

    @kernel(module=m)
    def k():
        if len(asked) > 1:
            asked[1]()
        f()
        ptx.ret()

    for in_function, body in ((True, "function `f`"), (False, "kernel `k`")):
        for ask, said, kind in (
            (m.ptx, f"in the body of {body}", "bad_control_flow"),
            (lambda: m.var("late", u32), f"is given a variable in the body of {body}", "bad_declaration"),
            (lambda: m.func(empty), f"is given a function in the body of {body}", "bad_declaration"),
            (k.ptx, "body", "bad_control_flow"),
        ):
            asked[:] = [ask] if in_function else [lambda: None, ask]
            for text in (k.ptx, m.ptx):
                k.clear()
                if text == m.ptx and ask == k.ptx:
                    continue
                with pytest.raises(pyptx.PtxError) as raised:
                    text()
                assert said in str(raised.value) and raised.value.kind == kind
                assert raised.value.where[0] == __file__
    asked[:] = [lambda: other.var(f"v{len(other.ptx())}", u32)]  # another module is another matter
    k.clear()
    assert "call f" in k.ptx() and "call f" in m.ptx()


def test_a_kernel_that_is_asked_for_in_its_body():
    @kernel(in_specs=(), out_specs=(), grid=1)
    def k(*, n=0):
        if n < 5:
            k.ptx(n=n + 1)  # which is another text
        else:
            k.ptx(n=n)
        ptx.ret()

    with pytest.raises(pyptx.PtxError, match="kernel `k` is asked for in its own body") as raised:
        k.ptx()
    assert raised.value.where == (__file__, k.__wrapped__.__code__.co_firstlineno + 5)


def test_a_function_outside_of_a_trace():
    m = Module()
    f = m.func(empty, name="f")
    error = refused(lambda: f(), "the function `f` was called outside the body of a kernel", kind="no_active_trace")
    assert isinstance(error, RuntimeError) and "`the" not in str(error)


def test_a_kernel_that_cannot_be_called_says_what_to_declare():
    k = kernel(empty)
    error = refused(lambda: k(), "it has no in_specs", "@kernel(in_specs=(", kind="bad_declaration")
    assert isinstance(error, NotImplementedError) and isinstance(error, ValueError)
    refused(lambda: kernel(in_specs=(), raw_params=[("b8.align64.array128", "map")], grid=1)(empty)(), "is not a scalar")


# -- texts


BAD = ".func {0} ()\n{{\n\t.reg .f32 a;\n\tadd.u32 a, a, 3;\n\tret;\n}}"
GOOD = ".func {0} ()\n{{\n\tret;\n}}\n\n// the end\n"
ODD = "\n.global .u8 {0} = 300;"


@pytest.mark.parametrize(("count", "number"), [(1, 0), (3, 0), (3, 1), (3, 2)])
def test_what_is_found_in_a_text_is_said_of_its_call(count, number):
    m = Module()

    @m.func
    def called():
        pass

    lines = []
    for i in range(count):
        text = (BAD if i == number else GOOD).format(f"f{i}").replace("ret", "call called;\n\tret")
        lines.append(here() + 1)
        m.raw(text)
    for ask in (lambda: text_of(m), m.ptx):
        with pytest.raises(pyptx.PtxError, match=r"operand 1 `d` of `add\.u32`") as raised:
            ask()
        assert raised.value.where == (__file__, lines[number]) and raised.value.kind == "operand_mismatch"
        assert f"  --> {__file__}:{lines[number]} (line 4, column 2 of the text)\n" in str(raised.value)
        assert "<text>" not in str(raised.value) and any("add.type" in note for note in raised.value.notes)


@pytest.mark.parametrize("number", range(3))
def test_warnings_of_a_text_are_said_of_its_call(number):
    m = Module()
    lines = []
    for i in range(3):
        lines.append(here() + 1)
        m.raw((ODD if i == number else GOOD).format(f"f{i}"))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        text_of(m)
    (warning,) = seen
    assert (warning.filename, warning.lineno) == (__file__, lines[number])
    assert "(line 2, column 1 of the text)" in str(warning.message) and "<text>" not in str(warning.message)


@pytest.mark.parametrize(
    ("text", "line", "kind", "said"),
    [
        (".global .u32 a;\n.target sm_80", 2, "syntax", "whose `.target` is sm_90a already"),
        (".version 7.0", 1, "syntax", "whose `.version` is 8.5 already"),
        ("\n.address_size 32", 2, "syntax", "whose `.address_size` is 64 already"),
        (".version 8.5\n.target sm_90a\n.global .u32 a;", 1, "syntax", "leave the line out"),
        (".func f() {\n\tadd.u32 %r1, %r1, 1;\n\tret;\n}", 2, "undefined_symbol", "text: add.u32 %r1, %r1, 1;"),
        (".section .debug_str\n{\n\t.b8 300\n}", 3, "bad_declaration", "`300` does not fit .b8"),
        (".global .u32 a", 1, "syntax", "`;` is missing"),
        ("/* open", 1, "syntax", "is not closed"),
        ("} {", 1, "syntax", "is expected"),
        ("\ufeff.global .u32 a;", 1, "syntax", "begins with a byte order mark"),
    ],
)
def test_a_text_is_checked_where_it_is_given(text, line, kind, said):
    m = Module(arch="sm_90a")
    before = text_of(m)
    error = refused(lambda: m.raw(text), f"(line {line}, column ", said, kind=kind)
    assert f"  --> {__file__}:{error.where[1]} (line {line}, column " in str(error)
    assert text_of(m) == before  # what was refused is not there


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (".b8 300", "`300` does not fit .b8"), ("hello", "`:` after a label"), (".f32 1", "is not a type of debug data"),
        (".b8 1,", "a number or a label"), ("x:\n\n.b32 x\n.b8 y", "is .b32 or .b64"),
    ],
)  # fmt: skip
def test_the_lines_of_a_section_are_checked(lines, said):
    m = Module()
    refused(lambda: m.section(".debug_x", lines), "in the section `.debug_x`", said)
    refused(lambda: m.section(".v4", ".b8 1"), "cannot name a section")
    assert ".section" not in text_of(m)
    m.section("debug_x", "x:\n\n  .b8 255, -128\n.b32 x+4")
    assert "\nx:\n\t.b8 255, -128\n\t.b32 x+4\n" in text_of(m)


def test_what_the_table_does_not_know_is_warned_of_once():
    m = Module()
    with pytest.warns(pyptx.PtxWarning, match="no PTX instruction `frobnicate`") as seen:
        line = here() + 1
        m.raw(".func f()\n{\n\tfrobnicate;\n\tret;\n}")
    assert [(w.filename, w.lineno) for w in seen] == [(__file__, line)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.var("later", u32)
        m.raw(".global .u32 another;")
        assert "\tfrobnicate;" in text_of(m)
        with pytest.raises(pyptx.PtxWarning):
            m.raw(".func g()\n{\n\tfrobnicate;\n}")
        assert ".func g" not in text_of(m)


def test_a_fault_in_a_text_is_at_its_call_and_its_line():
    m = Module()
    m.raw(".global .u32 first;\n")
    line = here() + 1
    m.raw(".func f(.reg .u64 p)\n{\n\t.reg .b32 r;\n\tld.global.u32 r, [p];\n\tst.global.u32 [first], r;\n\tret;\n}")
    f = m.declare("f", params=u64)

    @kernel(module=m, in_specs=(Tile(N, u32),), out_specs=(Tile(N, u32),), grid=1, block=N)
    def k(X, Y):
        f(ptx.global_ptrs(X)[0] + 4096)
        ptx.ret()

    with pytest.raises(pyptx.PtxError, match=r"past the end|before the start") as raised:
        k(np.zeros(N, np.uint32))
    assert raised.value.where == (__file__, line)
    assert f"  --> {__file__}:{line} (line 4, column 2 of the text)\n" in str(raised.value)
    listed = k.ptx(lineinfo=True)
    assert f".loc 1 {line} 0" in listed and "(text)" not in listed


# -- threads


def test_threads_declare_and_define_at_the_same_time():
    m = Module()
    count, errors = 6, []
    start = threading.Barrier(count)

    def work(number):
        try:
            start.wait()
            for i in range(12):
                m.var(f"v{number}_{i}", u32)
                m.func(empty, name=f"f{number}_{i}")
                names = {"__name__": __name__}
                exec(compile(f"def k{number}_{i}():\n    ptx.ret()", f"k{number}_{i}.py", "exec"), {**names, "ptx": ptx}, names)
                made = kernel(module=m)(names[f"k{number}_{i}"])
                if i % 4 == 3:
                    text = made.ptx()
                    assert f"v{number}_{i};" in text and f".entry k{number}_{i}(" in text
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    text = m.ptx()
    for number, i in itertools.product(range(count), range(12)):
        assert f" v{number}_{i};" in text and f".func f{number}_{i}()" in text and f".entry k{number}_{i}()" in text


def test_a_text_that_was_made_meanwhile_is_not_kept():
    m = Module()
    traced, go_on = threading.Event(), threading.Event()
    first = [True]

    @kernel(module=m)
    def k():
        if first:
            first.clear()
            traced.set()
            go_on.wait(60)
        ptx.ret()

    seen = []
    thread = threading.Thread(target=lambda: seen.append(k.ptx()))
    thread.start()
    assert traced.wait(60)
    m.var("late", u32)
    go_on.set()
    thread.join()
    assert "late" not in seen[0] and ".global .u32 late;" in k.ptx()


# -- copies


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, *(lambda v, p=p: pickle.loads(pickle.dumps(v, p)) for p in range(6))])
def test_copies(make):
    v = make(table_at_top)
    assert type(v) is Var and v == "table" and (v.dtype, v.shape, v.space) == (f32, (2, 4), "const")
    assert make([table_at_top])[0].shape == (2, 4)
    assert make(function_at_top) is function_at_top and make(at_top) is at_top


def test_what_has_no_name_to_be_pickled_by():
    m = Module()
    f = m.func(empty, name="f")
    refused(
        lambda: pickle.dumps(f), "function `empty` cannot be pickled", "a function goes to another process", kind="argument_kind"
    )
    refused(lambda: pickle.dumps(m), "module `<module for sm_90a", "cannot be pickled", kind="argument_kind")
    refused(lambda: pickle.dumps(m.declare("g")), "function `g` cannot be pickled", kind="argument_kind")


# -- a variable is a name


def test_a_variable_and_an_offset_are_an_address(ptxas):
    m = Module()
    tab = m.var("tab", f32, 4, init=[1, 2, 3, 4])

    @kernel(module=m, in_specs=(), out_specs=(Tile(6, f32),), grid=1, block=1)
    def k(Y):
        (y,) = ptx.global_ptrs(Y)
        places = (tab + 4, 8 + tab, ptx.addr(tab + 8, 4), tab + np.int64(0), ptx.addr(tab))
        for i, place in enumerate(places):
            ptx.inst.st.global_.f32(ptx.addr(y, 4 * i), ptx.let.ld.global_.f32(place))
        end = reg.from_(tab, u64) + 16
        ptx.inst.st.global_.f32(ptx.addr(y, 20), ptx.let.ld.global_.f32(ptx.addr(end, -16)))
        ptx.ret()

    assert k().tolist() == [2, 3, 4, 1, 1, 1]
    ptxas(k.ptx())
    assert repr(tab + 4) == repr(ptx.addr(tab, 4)) and repr(tab - 4) == repr(ptx.addr(tab, -4))


def test_a_variable_is_no_sequence_and_still_a_name():
    tab = Module().var("tab", f32, (4, 8))
    refused(lambda: len(tab), "`len(tab)`", "ptx.addr(tab, 4)", "`tab.shape`", kind="bad_operator")
    refused(lambda: tab[1], "`tab[1]`", "`ptx.addr(tab, 32)`", kind="bad_operator")
    refused(lambda: tab[1:2], "`ptx.addr(tab, 4)`", kind="bad_operator")
    refused(lambda: list(tab), "`ptx.addr(tab, 4)`", kind="bad_operator")
    refused(lambda: tab * 2, "`tab * 2`", kind="bad_operator")
    refused(lambda: 2 * tab, "`tab * 2`", kind="bad_operator")
    refused(lambda: tab + 1.5, "`tab + 1.5`", "`ptx.addr(tab, 4)`", kind="bad_operator")
    refused(lambda: tab + None, "`tab + None`", kind="bad_operator")
    refused(lambda: tab - "b", "`tab - 'b'`", kind="bad_operator")
    assert tab and tab == "tab" and hash(tab) == hash("tab") and {tab: 1}["tab"] == 1 and f"{tab}!" == "tab!"
    assert tab + "_2" == "tab_2" and "my_" + tab == "my_tab" and type(tab + "_2") is str and "".join([tab]) == "tab"
    assert tab.startswith("t") and "a" in tab

    @kernel
    def k():
        r = reg.scalar(u64, init=8)
        for sum_of in (lambda: tab + r, lambda: r + tab):
            refused(sum_of, "PTX adds constants alone", "`reg.from_(tab, u64) + …`", kind="bad_operator")
        ptx.ret()

    k.ptx()


# -- definitions that are run again


CELL = """
@m.func(returns=u32, params=(u32,))
def step(x):
    return x + {0}

@kernel(module=m, in_specs=(), out_specs=(Tile(1, u32),), grid=1, block=1)
def k(Y):
    (y,) = ptx.global_ptrs(Y)
    ptx.inst.st.global_.u32(ptx.addr(y), step(reg.scalar(u32, init={0})))
    ptx.ret()
"""
NAMES = {"kernel": kernel, "ptx": ptx, "reg": reg, "Tile": Tile, "u32": u32}


def run_cell(names, text, file):
    exec(compile(text, file, "exec"), names)


def test_a_cell_that_is_run_again_takes_the_place_of_itself():
    m = Module()
    names = {**NAMES, "m": m, "__name__": "__main__"}
    run_cell(names, CELL.format(1), "<cell 1>")
    first, step = names["k"], names["step"]
    m.func(empty, name="between")
    assert first().tolist() == [2]
    run_cell(names, CELL.format(20), "<cell 2>")  # a notebook has another file name for a cell that was edited
    assert names["k"]().tolist() == [40]
    assert m.kernels == (names["k"],) and [f.symbol for f in m.functions] == ["step", "between"]
    text = m.ptx()
    assert text.count(".entry k(") == 1 and text.count(") step(") == 1 and ", 20;" in text

    @kernel(module=m)
    def with_the_old():
        step(1)

    with pytest.raises(pyptx.PtxError, match=r"of <cell 1>:2, which was defined anew at <cell 2>:2") as raised:
        with_the_old.ptx()
    assert raised.value.kind == "call_mismatch"


def test_another_definition_of_a_name_is_an_error_that_names_both():
    m = Module()
    run_cell({**NAMES, "m": m, "__name__": "one"}, CELL.format(1), "one.py")
    with pytest.raises(pyptx.PtxError, match=r"the function `step` already, `step` at one.py:2; this one is `step` at two.py:2"):
        run_cell({**NAMES, "m": m, "__name__": "two"}, CELL.format(2), "two.py")
    with pytest.raises(pyptx.PtxError, match=r"the kernel `k` already, `k` at one.py:6; this one is `k` at two.py:6") as raised:
        run_cell({**NAMES, "m": m, "__name__": "two", "step": None}, "\n" * 5 + CELL[CELL.index("@kernel") :], "two.py")
    assert raised.value.kind == "duplicate_symbol"

    def k():
        ptx.ret()

    line = k.__code__.co_firstlineno
    refused(lambda: kernel(module=m)(k), "one.py:6", f"<locals>.k` at {__file__}:{line}", kind="duplicate_symbol")
    refused(lambda: m.func(k, name="step"), "one.py:2", f"<locals>.k` at {__file__}:{line}", kind="duplicate_symbol")
    m.func(lambda: None, name="unnamed")
    refused(lambda: m.func(lambda: None, name="unnamed"), "`unnamed` already", kind="duplicate_symbol")
    assert len(m.kernels) == 1 and len(m.functions) == 2 and m.ptx().count(".entry") == 1


def test_kernels_functions_and_variables_share_their_names():
    m = Module()
    kernel(module=m)(empty)
    m.var("v", u32)
    f = m.func(empty, name="f")
    m.alias("g", f)
    refused(lambda: m.var("empty", u32), "the module has the kernel `empty` already, at", kind="duplicate_symbol")
    refused(lambda: m.func(empty), "the module has the kernel `empty` already, at", kind="duplicate_symbol")
    refused(lambda: m.alias("empty", f), "the module has the kernel `empty` already, at", kind="duplicate_symbol")
    for name, what in (("v", "variable"), ("f", "function"), ("g", "alias")):
        made = python_types.FunctionType(empty.__code__, globals(), name)
        refused(lambda: kernel(module=m)(made), f"the module has the {what} `{name}` already, at {__file__}:")  # noqa: B023
    assert m.ptx().count(".entry") == 1


def test_short_initial_values_and_bytes():
    m = Module()
    m.var("short", u32, 4, init=[7])
    m.var("letters", u32, 4, init=b"ab")
    m.var("half", b8, 2, init=[1])
    k = kernel(module=m, in_specs=(), out_specs=(), grid=1)(empty)
    assert np.frombuffer(k.variable("short"), np.uint32).tolist() == [7, 0, 0, 0]
    assert np.frombuffer(k.variable("letters"), np.uint32).tolist() == [97, 98, 0, 0]
    assert bytes(k.variable("half")) == b"\1\0"


def test_kernels_of_the_same_text_share_their_variables():
    def counter(module):
        count = module.var("count_of_runs", u32)

        @kernel(module=module, in_specs=(), out_specs=(Tile(1, u32),), grid=1, block=1)
        def k(Y):
            (y,) = ptx.global_ptrs(Y)
            n = ptx.let.ld.global_.u32(ptx.addr(count)) + 1
            ptx.inst.st.global_.u32(ptx.addr(count), n)
            ptx.inst.st.global_.u32(ptx.addr(y), n)
            ptx.ret()

        return k

    one, two = counter(Module()), counter(Module())
    assert [one().item(), one().item(), two().item()] == [1, 2, 3]


def test_a_type_of_sixteen_bits_is_still_taken():
    assert Module().var("v", bf16, 2).dtype == bf16
