"""`Module`: functions, variables, directives and text, written, executed, assembled and saved."""

import pytest

np = pytest.importorskip("numpy")

import pyptx  # noqa: E402
from pyptx import Module, Tile, _ptx, func, kernel, ptx, reg  # noqa: E402
from pyptx.types import b8, bf16, f32, pred, s32, u8, u16, u32, u64  # noqa: E402

N = 32
X = np.arange(N, dtype=np.float32)


def mapped(m, body, dtype=f32, **options):
    """A kernel of 32 threads in the module: thread i gives body(x[i], i)."""

    def k(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        i = reg.from_(ptx.special.tid.x(), u32)
        x = ptx.let.ld.global_.b32(ptx.addr(px + i * 4), dtype=dtype)
        ptx.inst.st.global_.b32(ptx.addr(py + i * 4), body(x, i))
        ptx.ret()

    return kernel(module=m, in_specs=(Tile(N, dtype),), out_specs=(Tile(N, dtype),), grid=1, block=N, **options)(k)


def test_the_example_of_the_class(golden, ptxas):
    m = Module(arch="sm_90a")
    table = m.var("table", f32, 4, init=[1, 2, 3, 4])

    @m.func(returns=f32, params=(f32, u32))
    def scaled(x, i):
        factor = ptx.let.ld.global_.f32(ptx.addr(reg.from_(table, u64) + i * 4))
        return x * factor

    k = mapped(m, lambda x, i: scaled(x, i & 3))
    assert np.array_equal(k(X), X * (np.arange(N) % 4 + 1))
    golden("module.ptx", k.ptx())
    ptxas(k.ptx())
    assert "scaled" in repr(scaled) and scaled.__name__ == "scaled" and m.functions == (scaled,) and m.kernels == (k,)


def test_functions_call_each_other_in_any_order(ptxas):
    m = Module()

    @func(returns=f32, params=(f32,), module=m)
    def outer(x):
        return inner(inner(x)) + 1

    @func(returns=f32, params=(f32,), module=m)
    def inner(x):
        """Twice."""
        return x * 2

    k = mapped(m, lambda x, i: outer(x) + inner(0.5))
    assert np.array_equal(k(X), X * 4 + 2)
    ptxas(k.ptx())
    assert inner.__doc__ == "Twice."


def test_several_values_none_and_guards(ptxas):
    m = Module()
    seen = m.var("seen", u32, N)

    @m.func(returns=(u32, f32), params=(u32, f32))
    def both(i, x):
        return i + 1, x * 0.5

    @m.func(params=(u32,))
    def note(i):
        ptx.inst.st.global_.u32(ptx.addr(reg.from_(seen, u64) + i * 4), i + 1)

    @m.func(returns=u16, params=(u16, bf16))
    def short(i, x):
        return ptx.let.add.u16(i, 7)

    def body(x, i):
        one, half = both(i, x)
        note(i, pred=i < 8)
        note(20)
        wide = ptx.let.cvt.u32.u16(short(ptx.let.cvt.u16.u32(i), ptx.let.cvt.rn.bf16.f32(x)))
        return ptx.let.cvt.rn.f32.u32(one + wide) + half

    k = mapped(m, body)
    i = np.arange(N)
    assert np.array_equal(k(X), (i + 1 + i + 7 + X * 0.5).astype(np.float32))
    assert np.array_equal(np.frombuffer(k.variable("seen"), np.uint32), np.where((i < 8) | (i == 20), i + 1, 0))
    ptxas(k.ptx())


def test_variables_of_every_kind_start_as_they_should(ptxas):
    m = Module()
    m.var("matrix", s32, (2, 3), init=[[1, -2], [3, 4, 5]])
    m.var("letters", b8, 6, init=b"hello\0")
    m.var("one", f32, init=2.5, space="const")
    m.var("open", u32, 0, init=np.arange(5))
    m.var("quads", f32, 2, vector=4, align=16, init=[[1, 2, 3, 4], [5, 6, 7, 8]])
    matrix_at = m.var("matrix_at", u64, init="matrix")

    def body(x, i):
        matrix = ptx.let.ld.global_.u64(ptx.addr(matrix_at))
        a = ptx.let.ld.s32(ptx.addr(matrix, 12))
        letter = ptx.let.ld.global_.u8(ptx.addr("letters", 1), dtype=u32)
        one = ptx.let.ld.const.f32(ptx.addr("one"))
        quad = ptx.let.ld.global_.v4.f32(ptx.addr("quads", 16))
        last = ptx.let.ld.global_.u32(ptx.addr("open", 16))
        return ptx.let.cvt.rn.f32.s32(a + letter.as_(s32) + last.as_(s32)) + one + quad[3]

    k = mapped(m, body)
    assert set(k(X)) == {3 + ord("e") + 4 + 2.5 + 8}
    ptxas(k.ptx())
    assert bytes(k.variable("letters")) == b"hello\0"


def test_variables_are_read_and_written_between_launches():
    m = Module()
    gain = m.var("gain", f32, init=2.0)
    k = mapped(m, lambda x, i: x * ptx.let.ld.global_.f32(ptx.addr(gain)))
    assert np.array_equal(k(X), X * 2)
    np.frombuffer(k.variable(gain), np.float32)[:] = 5
    assert np.array_equal(k(X), X * 5)
    with pytest.raises(pyptx.PtxError, match="nothing"):
        k.variable("nothing")


def test_pragmas_aliases_sections_and_text(ptxas):
    m = Module()
    m.pragma("nounroll")
    m.section(".debug_str", ".b8 104, 105, 0")

    @m.func(returns=u32, params=(u32,))
    def plus(x):
        return x + 1

    other = m.alias("another_plus", plus)
    m.raw(".func (.reg .u32 y) thrice (.reg .u32 x)\n{\n\tmul.lo.u32 y, x, 3;\n\tret;\n}\n.global .u32 seven = 7;")
    thrice = m.declare("thrice", returns=u32, params=(u32,))
    k = mapped(m, lambda x, i: thrice(other(x)) + ptx.let.ld.global_.u32(ptx.addr("seven")), u32)
    x = np.arange(N, dtype=np.uint32)
    assert np.array_equal(k(x), (x + 1) * 3 + 7)
    text = k.ptx()
    for line in ('.pragma "nounroll";', ".alias another_plus, plus;", ".section .debug_str", "mul.lo.u32"):
        assert line in text
    ptxas(text)


def test_each_kernel_has_the_module_and_the_module_has_all(ptxas):
    m = Module(arch="sm_80")

    @m.func(returns=f32, params=(f32,))
    def twice(x):
        return x + x

    @kernel(module=m)
    def first():
        ptx.ret()

    @kernel(module=m)
    def second():
        twice(1.0)
        ptx.ret()

    assert ".entry second" not in first.ptx() and ".func" in first.ptx() and ".target sm_80" in first.ptx()
    whole = m.ptx()
    assert whole.index("twice") < whole.index(".entry first") < whole.index(".entry second")
    ptxas(whole, "sm_80")
    assert first.arch == "sm_80"


def test_what_changes_is_traced_again():
    factor = 2.0
    m = Module()

    @m.func(returns=f32, params=(f32,))
    def scaled(x):
        return x * factor

    k = mapped(m, lambda x, i: scaled(x))
    assert np.array_equal(k(X), X * 2)
    factor = 3.0
    assert np.array_equal(k(X), X * 3)
    m.var("late", u32)
    assert ".global .u32 late;" in k.ptx()


def test_specialised_and_saved_like_the_rest(tmp_path):
    m = Module()

    @m.func(returns=f32, params=(f32,))
    def twice(x):
        return x * 2

    @kernel(module=m, in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
    def k(X, Y, *, plus=1):
        px, py = ptx.global_ptrs(X, Y)
        i = reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)
        x = ptx.let.ld.global_.f32(ptx.addr(px + i * 4))
        ptx.inst.st.global_.f32(ptx.addr(py + i * 4), twice(x) + plus)
        ptx.ret()

    for size in (32, 64):
        x = np.arange(size, dtype=np.float32)
        assert np.array_equal(k(x), x * 2 + 1)
        assert np.array_equal(k(x, plus=5), x * 2 + 5)
    k.save(tmp_path / "k.ptxk", N=64, targets=[])
    image = _ptx.load(str(tmp_path / "k.ptxk"))
    y = np.zeros(64, np.float32)
    image.launch([x], [y])
    assert np.array_equal(y, x * 2 + 1)


def test_a_fault_in_a_function_is_at_its_line():
    m = Module()

    @m.func(params=(u64,))
    def poke(address):
        ptx.inst.st.global_.u32(ptx.addr(address), 1)

    k = mapped(m, lambda x, i: (poke(64), x)[1])
    with pytest.raises(pyptx.PtxError) as raised:
        k(X)
    line = poke.__wrapped__.__code__.co_firstlineno + 2
    assert f"test_modules.py:{line}" in str(raised.value)


WRONG = [
    (lambda m: m.var("x", pred), ValueError, "no memory holds"),
    (lambda m: m.var("x", u32, space="local"), ValueError, "local"),
    (lambda m: m.var("%x", u32), ValueError, "cannot name"),
    (lambda m: (m.var("x", u32), m.var("x", f32)), ValueError, "already"),
    (lambda m: m.var("x", u32, init=object()), (ValueError, TypeError), "initial value"),
    (lambda m: m.var("x", u32, vector=3), ValueError, "2 or 4"),
    (lambda m: m.var("x", u32, align=3), ValueError, "power of two"),
    (lambda m: m.pragma('a"b'), ValueError, "quote"),
    (lambda m: m.raw(".func ("), ValueError, "of the text"),
    (lambda m: m.alias("x", "y"), TypeError, "a function of the module"),
    (lambda m: func(lambda a: a, params=(), module=m), ValueError, "1 parameters"),
    (
        lambda m: kernel(lambda: None, module=m, arch="sm_80") if False else kernel(module=m, arch="sm_80")(_nothing),
        TypeError,
        "sm_80",
    ),
    (lambda m: kernel(module=5)(_nothing), TypeError, "`Module`"),
]


def _nothing():
    ptx.ret()


@pytest.mark.parametrize(("write", "error", "said"), WRONG)
def test_what_cannot_be_declared(write, error, said):
    m = Module()
    with pytest.raises(error, match=said):
        write(m)
    assert ".entry _nothing" in kernel(module=m)(_nothing).ptx()  # what was refused is not there


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (lambda f: f(1.0, 2.0), "takes 1 argument; this call gives 2"),
        (lambda f: f(reg.scalar(u32, init=1)), "what fits is .f32"),
        (lambda f: f(1.0, pred=reg.scalar(u32)), "guard"),
        (lambda f: f("somewhere"), "neither a register nor a number"),
    ],
)
def test_calls_that_do_not_fit(body, said):
    m = Module()

    @m.func(returns=f32, params=(f32,))
    def f(x):
        return x

    @kernel(module=m)
    def k():
        body(f)

    with pytest.raises(pyptx.PtxError, match=said):
        k.ptx()


@pytest.mark.parametrize(
    ("returns", "result", "said"),
    [
        ((), 1, "returns 0 values"),
        (f32, None, "returns 1 value"),
        (f32, (1, 2), "returns 1 value"),
        (pred, 1, "no call passes"),
        (u8, 1, "no call passes"),
    ],
)
def test_results_that_do_not_fit(returns, result, said):
    m = Module()

    @m.func(returns=returns)
    def f():
        return result

    @kernel(module=m)
    def k():
        ptx.ret()

    with pytest.raises(pyptx.PtxError, match=said):
        k.ptx()


def test_calls_from_elsewhere():
    m, other = Module(), Module()

    @m.func(returns=f32, params=(f32,))
    def f(x):
        return x

    @kernel(module=other)
    def k():
        f(1.0)

    @other.func(name="f", returns=f32, params=(f32,))
    def its_own(x):
        return -x

    @kernel
    def alone():
        f(1.0)

    for wrong in (k, alone):
        with pytest.raises(pyptx.PtxError, match="`f` is a function of another module"):
            wrong.ptx()
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        f(1.0)


def test_a_function_may_call_itself(ptxas):
    m = Module()

    @m.func(returns=u32, params=(u32,))
    def down(n):
        r = reg.from_(n, u32)
        with ptx.if_(n != 0):
            ptx.inst.add.u32(r, r, down(n - 1))
        return r

    k = mapped(m, lambda x, i: down(x), u32)
    ptxas(k.ptx())
    n = np.arange(N, dtype=np.uint32)
    np.testing.assert_array_equal(k(n), n * (n + 1) // 2)
