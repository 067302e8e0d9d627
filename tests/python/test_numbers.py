"""Python's numbers as operands, initial values, arguments and scalars: each means itself, or is refused where it stands."""

import pytest

np = pytest.importorskip("numpy")

from pyptx import Module, PtxError, Tile, _ptx, kernel, ptx, reg  # noqa: E402
from pyptx.types import bf16, e4m3, f16, f16x2, f32, f64, s8, s32, s64, u8, u16, u32, u64  # noqa: E402

N = 32


def written(body):
    """The statements of a body, and the error that it ended with."""
    with _ptx.Trace("test") as trace:
        body()
    return trace.statements


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, np.uint64(2**64 - 1)])
@pytest.mark.parametrize("dtype", [f32, f64])
def test_a_large_integer_is_a_large_float(dtype, number):
    def body():
        reg.scalar(dtype) + number

    bits = {f32: np.float32, f64: np.float64}[dtype](int(number)).tobytes()[::-1].hex().upper()
    assert any(bits in line for line in written(body)), written(body)


FITS = {
    u8: (0, 255, -128), s8: (-128, 127, 255), u16: (65535, -1), u32: (2**32 - 1, -1, -(2**31)), s32: (2**31 - 1, -(2**31)),
    u64: (2**64 - 1, 2**63, -1), s64: (2**63 - 1, -(2**63)),
}  # fmt: skip
MISFITS = {
    u8: (256, -129), s8: (256, -129, 2**64 - 1), u16: (65536, 2**63), u32: (2**32, 2**63, 2**64 - 1, -(2**31) - 1),
    s32: (2**32, 2**64 - 1), u64: (2**64, -(2**63) - 1), s64: (2**63, 2**64 - 1, -(2**63) - 1),
}  # fmt: skip


def declared(dtype, number):
    m = Module()
    m.var("v", dtype, init=number)
    return m.ptx()


def started(dtype, number):
    return written(lambda: reg.scalar(dtype, init=number))


def called(dtype, number):
    m = Module()

    @m.func(params=(dtype,))
    def f(x):
        pass

    @kernel(module=m, in_specs=(), out_specs=(Tile(1, u32),), grid=1, block=1)
    def k(Y):
        f(number)
        ptx.ret()

    return k.ptx()


def passed(dtype, number):
    @kernel(in_specs=(), out_specs=(Tile(1, u64),), raw_params=[(dtype.name, "n")], grid=1, block=1)
    def k(Y):
        (y,) = ptx.global_ptrs(Y)
        n = ptx.param(dtype, "n")
        ptx.inst.st.global_.u64(ptx.addr(y), n if dtype.bits == 64 else ptx.let.cvt.u64.u32(n.as_(u32)))
        ptx.ret()

    return k(n=number)


# each way, and the width that it begins at: functions take no bytes, the kernel of `passed` none of 16 bits
WAYS = {declared: 8, started: 8, called: 16, passed: 32}


@pytest.mark.parametrize(("way", "dtype"), [(way, dtype) for way, least in WAYS.items() for dtype in FITS if dtype.bits >= least])
def test_integers_fit_or_are_refused(dtype, way):
    for number in FITS[dtype]:
        way(dtype, number)
    for number in MISFITS[dtype]:
        with pytest.raises(PtxError) as raised:
            way(dtype, number)
        assert str(number) in str(raised.value), raised.value
        assert raised.value.where[0] == __file__


def test_operators_refuse_what_a_register_cannot_hold():
    with _ptx.Trace("test"):
        u, s, big = reg.scalar(u32), reg.scalar(s64), reg.scalar(u64)
        for wrong in (lambda: u + (2**64 - 1), lambda: s < 2**64 - 1, lambda: s + 2**63, lambda: u * 2**63):
            with pytest.raises(PtxError, match=r"922337203685477580[78]|18446744073709551615"):
                wrong()
        with pytest.raises(PtxError):
            big << (2**64 - 1)
        assert (big + (2**64 - 1)).dtype is u64


@pytest.mark.parametrize("dtype", [bf16, f16, f16x2, e4m3])
def test_formats_without_literals_start_as_bits(dtype):
    for number in (1, 2.5):
        with pytest.raises(PtxError, match=r"literals|declare it \.b"):
            declared(dtype, number)


def test_addresses_of_functions_are_initial_values(ptxas):
    m = Module()

    @m.func(returns=u32, params=(u32,))
    def twice(x):
        return x * 2

    m.var("table", u64, 2, init=[twice, 0])

    @kernel(module=m, in_specs=(), out_specs=(Tile(1, u32),), grid=1, block=1)
    def k(Y):
        ptx.ret()

    assert "table[2] = {twice, 0};" in k.ptx()
    ptxas(k.ptx())


def test_comparisons_are_ordered():
    """PTX's `ne` is false of a NaN, unlike Python's `!=`; `neu` is true."""

    @kernel(in_specs=(Tile(N, f32),), out_specs=(Tile(N, u32),), grid=1, block=N)
    def k(X, Y):
        x, y = ptx.global_ptrs(X, Y)
        i = reg.from_(ptx.special.tid.x(), u32)
        v = ptx.let.ld.global_.f32(ptx.addr(x + i * 4))
        answer = (
            ptx.let.selp.u32(1, 0, v != v) + ptx.let.selp.u32(2, 0, ptx.let.setp.neu.f32(v, v)) + ptx.let.selp.u32(4, 0, v == v)
        )
        ptx.inst.st.global_.u32(ptx.addr(y + i * 4), answer)
        ptx.ret()

    x = np.zeros(N, np.float32)
    x[3] = np.nan
    assert np.array_equal(k(x), np.where(np.isnan(x), 2, 4))
