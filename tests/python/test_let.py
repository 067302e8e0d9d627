"""`ptx.let`, views, the operators of floats and predicates, `while_` and `elif_`: what they write, and what it computes."""

import sys

import pytest

np = pytest.importorskip("numpy")

import pyptx  # noqa: E402
from pyptx import PtxWarning, Tile, _ptx, kernel, ptx, reg  # noqa: E402
from pyptx.types import b32, bf16, f16, f32, f64, pred, s32, u8, u32, u64  # noqa: E402

N = 64


def one_block(body, dtype=f32, arch="sm_90a", inputs=1):
    """A kernel of 64 threads: thread i gives body(x[i], i)."""

    def k(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        i = reg.from_(ptx.special.tid.x(), u32)
        x = ptx.let.ld.global_.b32(ptx.addr(px + i * 4), dtype=dtype)
        ptx.inst.st.global_.b32(ptx.addr(py + i * 4), body(x, i))
        ptx.ret()

    return kernel(in_specs=(Tile(N, dtype),), out_specs=(Tile(N, dtype),), grid=1, block=N, arch=arch)(k)


def values(dtype):
    x = np.arange(N) * 7 % 23 - (0 if dtype is u32 else 11)
    return x.astype({f32: np.float32, u32: np.uint32, s32: np.int32}[dtype])


def test_the_row_says_the_type():
    with _ptx.Trace("test") as trace:
        a = ptx.let.mov.f32(1.5)
        b = ptx.let.fma.rn.f32(a, a, 2.0)
        p = ptx.let.setp.lt.f32(a, b)
        wide = ptx.let.mul.wide.u32(reg.scalar(u32), 4)
        vector = ptx.let.ld.global_.v4.f32(ptx.addr(wide))
        byte = ptx.let.ld.global_.u8(ptx.addr(wide))
        word = ptx.let.ld.global_.u8(ptx.addr(wide), dtype=u32)
        lane, elected = ptx.let.elect.sync(-1)
        half = ptx.let.cvt.rn.bf16.f32(a)
        address = ptx.let.mov.u64("smem")
        pair = ptx.let.mov.b64([reg.scalar(b32), reg.scalar(b32)])
    types = [r.dtype for r in (a, b, p, wide, *vector, byte, word, lane, elected, half, address)]
    assert types == [f32, f32, pred, u64, f32, f32, f32, f32, u8, u32, u32, pred, bf16, u64]
    assert pair.dtype.bits == 64
    assert trace.statements[:5] == [
        "mov.f32 %f0, 0f3FC00000;", "fma.rn.f32 %f1, %f0, %f0, 0f40000000;", "setp.lt.f32 %p0, %f0, %f1;",
        "mul.wide.u32 %rd0, %r0, 4;", "ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%rd0];",
    ]  # fmt: skip


def test_a_masked_load_has_its_other_value():
    @kernel(in_specs=(Tile(N, f32),), out_specs=(Tile(N, f32),), grid=1, block=N)
    def masked(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        i = reg.from_(ptx.special.tid.x(), u32)
        inside = i * 1000 < 20_000  # far beyond the tensor without the mask
        x = ptx.let.ld.global_.f32(ptx.addr(px + i * 4000), pred=i < 1, other=-1.0)
        y = ptx.let.ld.global_.f32(ptx.addr(px + i * 4), pred=~inside, other=7)
        ptx.inst.st.global_.f32(ptx.addr(py + i * 4), x + y)
        ptx.ret()

    x = values(f32)
    expected = np.where(np.arange(N) < 1, x[0], -1) + np.where(np.arange(N) < 20, 7, x)
    assert np.array_equal(masked(x), expected)
    assert "mov.f32 %f0, 0fBF800000;\n\t@%p1 ld.global.f32 %f0" in masked.ptx()


def test_what_let_refuses():
    def raised(write, error, *said):
        with _ptx.Trace("test") as trace:
            a, r = reg.scalar(f32), reg.scalar(u32)
            with pytest.raises(error) as caught:
                write(a, r)
            for words in said:
                assert words in str(caught.value)
            assert trace.statements == [] and [d for d in trace.reg_decls if "<0>" not in d] == [
                ".reg .b32 %r<1>",
                ".reg .f32 %f<1>",
            ]

    raised(lambda a, r: ptx.let.fma.rn.f32(a, a), pyptx.PtxError, "operand")
    raised(lambda a, r: ptx.let.add.f32(a, r), pyptx.PtxError, "%r0")
    raised(lambda a, r: ptx.let.st.global_.f32(ptx.addr("x"), a), pyptx.PtxError, "no result", "ptx.inst")
    raised(lambda a, r: ptx.let.fma.f32(a, a, a), (pyptx.PtxError, AttributeError), "rn")
    raised(lambda a, r: ptx.let.mov.f32(1.0, other=2.0), pyptx.PtxError, "`other`", "pred")
    raised(lambda a, r: ptx.let.mov.f32(1.0, wrong=2.0), pyptx.PtxError, "`wrong`", "dtype")
    raised(lambda a, r: ptx.let.mov.f32(1.0, dtype=u64), pyptx.PtxError)
    raised(lambda a, r: ptx.let.frobnicate.f32(a), pyptx.PtxError, "frobnicate", "dtype=")
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        ptx.let.mov.f32(1.0)


def test_words_that_the_table_does_not_know_need_a_type():
    with _ptx.Trace("test") as trace, pytest.warns(PtxWarning, match="frobnicate"):
        assert ptx.let.frobnicate.sync.f32(1, dtype=f32).dtype is f32
    assert trace.statements == ["frobnicate.sync.f32 %f0, 1;"]


def test_literals_keep_their_type(ptxas):
    @kernel
    def k():
        ptx.inst.mov.pred(reg.scalar(pred), -1)
        ptx.let.mov.f64("0d3FF0000000000000")
        ptx.let.mov.f32("0f3F800001")

    assert "mov.pred %p0, -1;" in k.ptx() and "mov.f64 %fd0, 0d3FF0000000000000;" in k.ptx() and "0f3F800001" in k.ptx()
    ptxas(k.ptx())


def test_a_view_is_the_same_register():
    @(lambda body: one_block(body, u32))
    def halved(x, i):
        return (x.as_(s32) >> 1).as_(u32)

    x = np.array([0, 1, 0x80000000, 0xFFFFFFFF] * 16, np.uint32)
    assert np.array_equal(halved(x), (x.view(np.int32) >> 1).view(np.uint32))
    with _ptx.Trace("test") as trace:
        r, f = reg.scalar(u32), reg.scalar(f32)
        assert r.as_(s32).name == r.name and r.as_(f32).dtype is f32 and f.as_(b32).dtype is b32
        for wrong, dtype in ((f, u32), (r, u64), (r, pred), (reg.scalar(pred), u32)):
            with pytest.raises(TypeError, match="declared"):
                wrong.as_(dtype)
        assert trace.statements == []


FLOATS = [
    (lambda x, i: x + 1, lambda x, i: x + 1),
    (lambda x, i: 1.5 - x, lambda x, i: np.float32(1.5) - x),
    (lambda x, i: x * x - x, lambda x, i: x * x - x),
    (lambda x, i: x / 3, lambda x, i: x / np.float32(3)),
    (lambda x, i: 2 / (abs(x) + 1), lambda x, i: np.float32(2) / (abs(x) + np.float32(1))),
    (lambda x, i: -x.max(-3).min(4.5), lambda x, i: -np.minimum(np.maximum(x, -3), np.float32(4.5))),
]
INTEGERS = [
    (lambda x, i: 63 - x, lambda x, i: 63 - x),
    (lambda x, i: 1 << (x & 31), lambda x, i: np.uint32(1) << (x & 31)),
    (lambda x, i: 0xFF00 >> (x & 7), lambda x, i: np.uint32(0xFF00) >> (x & 7)),
    (lambda x, i: x // 3 * 10 + x % 3, lambda x, i: x // 3 * 10 + x % 3),
    (lambda x, i: 100 // (x + 1) + 100 % (x + 1), lambda x, i: 100 // (x + 1) + 100 % (x + 1)),
    (lambda x, i: -x, lambda x, i: (0 - x.astype(np.int64)).astype(np.uint32)),
    (lambda x, i: x.min(5), lambda x, i: np.minimum(x, 5)),
]


@pytest.mark.parametrize(("dtype", "body", "reference"), [(f32, *c) for c in FLOATS] + [(u32, *c) for c in INTEGERS])
def test_operators_compute_as_numpy(dtype, body, reference):
    x = values(dtype)
    with np.errstate(over="ignore"):
        assert np.array_equal(one_block(body, dtype)(x), reference(x, np.arange(N, dtype=np.uint32)).astype(x.dtype))


def test_operators_with_an_equals_sign_write_in_place(ptxas):
    @kernel
    def k():
        x, n, p = reg.scalar(f32, init=1.0), reg.scalar(u32, init=9), reg.scalar(u32, init=1) == 1
        before = x, n, p
        x += 1
        x *= 2.5
        x /= x
        x -= x
        n //= 2
        n %= 3
        p &= n == 1
        p |= n == 2
        p ^= p
        assert all(a is b for a, b in zip(before, (x, n, p), strict=True))

    ptxas(k.ptx())
    for line in (
        "div.rn.f32 %f0, %f0, %f0;",
        "rem.u32 %r1, %r1, 3;" if "%r1, %r1" in k.ptx() else "rem.u32",
        "or.pred %p0, %p0, %p2;",
    ):
        assert line in k.ptx()


def test_operators_that_ptx_has_not():
    with _ptx.Trace("test"):
        x, d, h, s, u, p = (reg.scalar(t) for t in (f32, f64, f16, s32, u32, pred))
        for wrong in (
            lambda: x + d, lambda: x + u, lambda: x % 2, lambda: x // 2, lambda: h + 1, lambda: h / h, lambda: u / 2,
            lambda: s // 2, lambda: s % 2, lambda: 7 // s, lambda: -p, lambda: abs(u), lambda: u // 0, lambda: p + p,
            lambda: p & 1,
        ):  # fmt: skip
            with pytest.raises(TypeError):
                wrong()
        with pytest.raises(TypeError, match=r"(?s)rounds down.*ptx\.let\.div\.s32"):
            s // 2


def test_predicates_combine():
    @(lambda body: one_block(body, u32))
    def body(x, i):
        low, odd = x < 10, (x & 1) == 1
        return (
            ptx.let.selp.u32(1, 0, low & odd) + ptx.let.selp.u32(2, 0, low ^ odd) + ptx.let.selp.u32(4, 0, ~low & odd)
            + ptx.let.selp.u32(8, 0, odd & ~low)
        )  # fmt: skip

    x = values(u32)
    low, odd = x < 10, x % 2 == 1
    assert np.array_equal(body(x), 1 * (low & odd) + 2 * (low ^ odd) + 12 * (~low & odd))


def test_while_tests_first_and_can_be_left():
    @(lambda body: one_block(body, u32))
    def body(x, i):
        n, steps = reg.from_(i, u32), reg.scalar(u32, init=0)
        with ptx.while_(lambda: n != 0) as loop:
            n -= 1
            loop.continue_(pred=(n & 1) == 0)
            steps += 1
            loop.break_(pred=steps == 10)
        return steps * 100 + n

    def reference(i):
        n, steps = i, 0
        while n:
            n -= 1
            if n % 2 == 0:
                continue
            steps += 1
            if steps == 10:
                break
        return steps * 100 + n

    assert body(values(u32)).tolist() == [reference(i) for i in range(N)]
    with _ptx.Trace("test"):
        with pytest.raises(TypeError, match="lambda"), ptx.while_(reg.scalar(u32) == 0):
            pass
        with pytest.raises((TypeError, ValueError)), ptx.while_(lambda: 5):
            pass


@pytest.mark.parametrize("in_place", [False, True])
def test_elif_takes_the_first_true_branch(in_place):
    @(lambda body: one_block(body, u32))
    def body(x, i):
        r = reg.scalar(u32, init=0)
        with ptx.if_(i < 10):
            r += 1
        with ptx.elif_(i < 20) if in_place else ptx.elif_(lambda: i < 20):
            r += 2
        with ptx.elif_(lambda: (i & 1) == 0):
            with ptx.if_(i < 40):
                r += 10
            with ptx.else_():
                r += 20
        with ptx.else_():
            r += 3
        return r

    expected = [1 if i < 10 else 2 if i < 20 else (10 if i < 40 else 20) if i % 2 == 0 else 3 for i in range(N)]
    assert body(values(u32)).tolist() == expected


def test_elif_stands_behind_an_if():
    with _ptx.Trace("test"):
        p = reg.scalar(u32) == 0
        with pytest.raises(RuntimeError, match="`elif_` does not follow"), ptx.elif_(p):
            pass
        with ptx.if_(p):
            pass
        ptx.inst.bar.sync(0)
        with pytest.raises(RuntimeError, match="nothing may stand between"), ptx.elif_(p):
            pass


def test_what_the_condition_of_elif_computes_is_read_in_its_branches_alone():
    def branches(behind, between=lambda i: i & 7):
        @(lambda body: one_block(body, u32))
        def body(x, i):
            r = reg.scalar(u32, init=0)
            with ptx.if_(i < 10):
                r += 1
            q = between(i)
            with ptx.elif_(q == 2):
                r += q
                with ptx.if_(q == 2):
                    r += q
            with ptx.elif_(q == 3):
                with ptx.if_(i < 40):
                    r += q
                second = q + 1
                with ptx.elif_(second == 4):
                    r += second + q
            with ptx.else_():
                r += q
            return behind(r, q)

        return body

    def expected(i):
        return 1 if i < 10 else 4 if i & 7 == 2 else (3 if i < 40 else 7) if i & 7 == 3 else i & 7

    assert branches(lambda r, q: r)(values(u32)).tolist() == [expected(i) for i in range(N)]
    lines = []

    def again(r, q):
        ptx.inst.mov.u32(q, 5)
        return r + q

    def read(r, q):
        lines.append(sys._getframe().f_lineno + 1)
        return r + q

    def read_in_a_branch(r, q):
        with ptx.if_(r == 1):
            lines.append(sys._getframe().f_lineno + 1)
            ptx.inst.mov.u32(r, q)
        return r

    assert branches(again)(values(u32)).tolist() == [expected(i) + 5 for i in range(N)]
    for behind in (read, read_in_a_branch):
        for between in (lambda i: i & 7, lambda i: reg.scalar(u32, init=2), lambda i: (i + 1) * 2):
            with pytest.raises(pyptx.PtxError, match="has no value here for threads that took an earlier branch") as raised:
                branches(behind, between).ptx()
            assert raised.value.where == (__file__, lines[-1]) and raised.value.kind == "bad_control_flow"
            assert "compute it in front of `if_`" in str(raised.value) and "= computed: " in str(raised.value)


@pytest.mark.parametrize("write", [lambda i: reg.scalar(u32, init=5), lambda i: i + 1, lambda i: ptx.bar.sync(0)])
def test_nothing_stands_between_if_and_else(write):
    with _ptx.Trace("test"):
        i = reg.scalar(u32)
        with ptx.if_(i == 0):
            pass
        unwritten = reg.scalar(u32)  # a register alone is no statement
        with ptx.else_():
            ptx.inst.mov.u32(unwritten, i)
        with ptx.if_(i == 0):
            pass
        write(i)
        with pytest.raises(RuntimeError, match="nothing may stand between"), ptx.else_():
            pass


@pytest.mark.parametrize("threads", [32, 64, 96, 256, 1024])
@pytest.mark.parametrize(
    ("name", "dtype", "of"), [("sum", f32, np.sum), ("max", s32, np.max), ("min", u32, np.min), ("max", f32, np.max)]
)
def test_block_reductions(threads, name, dtype, of):
    @kernel(in_specs=(Tile(2 * threads, dtype),), out_specs=(Tile(2 * threads, dtype),), grid=2, block=(threads // 32, 8, 4))
    def k(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        tid = [reg.from_(getattr(ptx.special.tid, axis)(), u32) for axis in "xyz"]
        i = reg.from_(ptx.special.ctaid.x(), u32) * threads + (tid[2] * 8 + tid[1]) * (threads // 32) + tid[0]
        x = ptx.let.ld.global_.b32(ptx.addr(px + i * 4), dtype=dtype)
        for _ in range(2):  # again with what the first one gave
            assert getattr(ptx.block, f"reduce_{name}")(x, threads=threads) is x
        ptx.inst.st.global_.b32(ptx.addr(py + i * 4), x)
        ptx.ret()

    kind = {f32: np.float32, u32: np.uint32, s32: np.int32}[dtype]
    x = (np.arange(2 * threads) * 37 % 101 - (0 if dtype is u32 else 50)).astype(kind)
    each = [of(half) * (threads if name == "sum" else 1) for half in (x[:threads], x[threads:])]
    assert np.array_equal(k(x), np.repeat(np.array(each, kind), threads))


@pytest.mark.parametrize("block", [32, 64, 96, 1024, (16, 4), 1, 16, 31, 33, 48, (8, 2, 3)])
@pytest.mark.parametrize("threads", [0, 1, 16, 32, 33, 48, 64, 96, 1024, 1056, 2048])
def test_a_block_reduction_is_over_the_whole_block(block, threads):
    size = int(np.prod(block))
    module, specs = pyptx.Module(), (Tile(size, f32),)
    lines = []

    @module.func(params=f32, returns=f32)
    def summed(x):
        lines.append(sys._getframe().f_lineno + 1)
        return ptx.block.reduce_sum(x, threads=threads)

    def body(X, Y, *, IN_FUNCTION):
        px, py = ptx.global_ptrs(X, Y)
        t = [reg.from_(getattr(ptx.special.tid, axis)(), u32) for axis in "xyz"]
        n = [reg.from_(getattr(ptx.special.ntid, axis)(), u32) for axis in "xy"]
        at = ((t[2] * n[1] + t[1]) * n[0] + t[0]) * 4
        x = ptx.let.ld.global_.f32(ptx.addr(px + at))
        if IN_FUNCTION:
            x = summed(x)
        else:
            lines.append(sys._getframe().f_lineno + 1)
            ptx.block.reduce_sum(x, threads=threads)
        ptx.inst.st.global_.f32(ptx.addr(py + at), x)
        ptx.ret()

    for in_function in (False, True):
        k = kernel(module=module, in_specs=specs, out_specs=specs, grid=1, block=block)(body)
        if threads == size and size % 32 == 0:
            assert (k(np.ones(size, np.float32), IN_FUNCTION=in_function) == size).all()
            continue
        with pytest.raises(pyptx.PtxError, match="a block reduction over") as raised:
            k.ptx(IN_FUNCTION=in_function)
        assert raised.value.where == (__file__, lines[-1]) and isinstance(raised.value, ValueError)
        if 32 <= threads <= 1024 and threads % 32 == 0:
            assert f"over {threads} threads, in a kernel whose block has {size}" in str(raised.value)


def test_a_text_that_others_launch_may_have_any_block():
    @kernel
    def k():
        ptx.block.reduce_sum(reg.scalar(f32, init=1.0), threads=96)
        ptx.ret()

    assert "shfl.sync.bfly" in k.ptx()


def test_an_index_and_its_bounds_guard():
    @kernel(
        in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: -(-N // 128), block=128, raw_params=[("u32", "n")]
    )
    def k(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        i = ptx.global_index(ptx.param(u32, "n"))
        x = ptx.let.ld.global_.f32(ptx.addr(px + i * 4))
        ptx.inst.st.global_.f32(ptx.addr(py + i * 4), x + 1)
        ptx.ret()

    for size in (1, 127, 128, 129, 300):  # without the guard, the executor finds an access beyond the tensor
        x = np.arange(size, dtype=np.float32)
        assert np.array_equal(k(x, n=size), x + 1)
    with _ptx.Trace("test"):
        assert ptx.global_index(axis="z").dtype is u32
        for wrong in (lambda: ptx.global_index(axis="w"), lambda: ptx.block.reduce_sum(reg.scalar(f32), threads=48)):
            with pytest.raises((ValueError, TypeError), match="what fits is"):
                wrong()
        with pytest.raises(TypeError):
            ptx.block.reduce_sum(reg.scalar(f64), threads=64)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda p: ptx.if_(p), "`ptx.if_` is called here and never entered"),
        (lambda p: ptx.while_(lambda: p), "`ptx.while_` is called"),
        (lambda p: ptx.loop("again", pred=p), "`ptx.loop` is called"),
        (lambda p: ptx.scope(), "`ptx.scope` is called"),
        (lambda p: ptx.range_(0, 4), "`ptx.range_` is called here and never iterated over"),
    ],
)
def test_a_block_that_is_never_entered_is_an_error_at_its_line(make, said):
    m = pyptx.Module()

    @kernel
    def k():
        make(reg.scalar(pred))
        ptx.ret()

    @m.func
    def f():
        make(reg.scalar(pred))

    @kernel(module=m)
    def caller():
        f()
        ptx.ret()

    for wrong in (k, caller):
        with pytest.raises(pyptx.PtxError, match=said) as raised:
            wrong.ptx()
        assert raised.value.where == (__file__, make.__code__.co_firstlineno) and raised.value.kind == "bad_control_flow"


def test_the_condition_of_elif_may_read_memory():
    @kernel(in_specs=(Tile(N, u32),), out_specs=(Tile(N, u32),), grid=1, block=N, raw_params=[("u32", "n")])
    def k(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        i = reg.from_(ptx.special.tid.x(), u32)
        r = reg.scalar(u32, init=0)
        with ptx.if_(i < 3):
            r += 1
        with ptx.elif_(i < ptx.param(u32, "n")):
            r += 2
        with ptx.elif_(ptx.let.ld.global_.u32(ptx.addr(px + i * 4)) == 20):
            r += 3
        with ptx.else_():
            r += 4
        ptx.inst.st.global_.u32(ptx.addr(py + i * 4), r)
        ptx.ret()

    expected = [1 if i < 3 else 2 if i < 9 else 3 if i == 20 else 4 for i in range(N)]
    assert k(np.arange(N, dtype=np.uint32), n=9).tolist() == expected
    with _ptx.Trace("test"):
        p = reg.scalar(pred)
        with ptx.if_(p):
            pass
        value = ptx.let.atom.global_.add.u32(ptx.addr("x"), 1)
        with pytest.raises(RuntimeError, match=r"elif_\(lambda: …\)"), ptx.elif_(value == 1):
            pass


BLOCKS = {
    "if_": lambda p: ptx.if_(p), "while_": lambda p: ptx.while_(lambda: p), "loop": lambda p: ptx.loop("again", pred=p),
    "scope": lambda p: ptx.scope(),
}  # fmt: skip


@pytest.mark.parametrize("make", BLOCKS.values(), ids=BLOCKS)
def test_a_block_ends_once_where_it_began(make):
    with _ptx.Trace("a"):
        block = make(reg.scalar(pred))
        with pytest.raises(pyptx.PtxError, match="was not begun"):
            block.__exit__(None, None, None)
        with block:
            pass
        with pytest.raises(pyptx.PtxError, match="was not begun"):
            block.__exit__(None, None, None)
    with pytest.raises(ZeroDivisionError), _ptx.Trace("b"):
        block = make(reg.scalar(pred))
        block.__enter__()
        raise ZeroDivisionError
    with _ptx.Trace("c"):
        with pytest.raises(pyptx.PtxError, match="was not begun"):
            block.__exit__(None, None, None)
        block.__exit__(ValueError, None, None)


def test_a_loop_is_left_from_inside_alone():
    kept = []
    with _ptx.Trace("a"):
        p = reg.scalar(pred)
        with ptx.while_(lambda: p) as loop:
            loop.break_(pred=p)
            kept.append(loop)
        with pytest.raises(pyptx.PtxError, match="outside its loop"):
            loop.break_()
    with _ptx.Trace("b"):
        p = reg.scalar(pred)
        with ptx.while_(lambda: p), pytest.raises(pyptx.PtxError, match="outside its loop"):
            kept[0].continue_(pred=p)


def test_a_bounds_guard_in_a_function_ends_the_thread(ptxas):
    m = pyptx.Module()

    @m.func(params=(u32,))
    def guard(n):
        ptx.global_index(n)

    @kernel(module=m, in_specs=(Tile(N, u32),), out_specs=(Tile(N, u32),), grid=1, block=N)
    def k(X, Y):
        _, y = ptx.global_ptrs(X, Y)
        i = reg.from_(ptx.special.tid.x(), u32)
        guard(40)
        ptx.inst.st.global_.u32(ptx.addr(y + i * 4), i + 1)
        ptx.ret()

    out = np.zeros(N, np.uint32)
    k(np.zeros(N, np.uint32), out=out)
    assert np.array_equal(out, np.where(np.arange(N) < 40, np.arange(N) + 1, 0))
    ptxas(k.ptx())
