"""Values of scalar parameters under JAX: operands of one program."""

from contextlib import nullcontext

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

from launching import WARP, add, copy_kernel, offset  # noqa: E402

from pyptx import PtxError, Tile, jax_support, kernel, ptx, reg  # noqa: E402
from pyptx.types import f32, f64, from_name, u32  # noqa: E402


def scaled(dtype="u32", **more):
    """Y = n X for a number n that comes with the call."""

    @kernel(
        in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // WARP, block=WARP, raw_params=[(dtype, "n")]
    )
    def scale(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        at, x, factor = offset(4), reg.scalar(f32), reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(px + at))
        n = ptx.param(from_name(dtype), "n")
        if dtype == "f32":
            factor = n
        else:
            getattr(ptx.inst.cvt.rn.f32, dtype)(factor, n)
        ptx.inst.mul.f32(x, x, factor)
        ptx.inst.st.global_.f32(ptx.addr(py + at), x)
        ptx.ret()

    return scale


X = np.arange(64, dtype=np.float32)


class Compilations:
    """How many programs XLA compiled meanwhile."""

    def __init__(self):
        self.count = 0
        self.on = True
        jax.monitoring.register_event_duration_secs_listener(self.hear)

    def hear(self, event, *_, **__):
        self.count += self.on and "backend_compile" in event


def test_values_outside_of_jit_share_one_program():
    k = scaled()
    x = jnp.asarray(X)
    assert (k(x, n=2) == 2 * X).all()
    counted = Compilations()
    kept = len(jax_support.lowering._calls)
    for n in range(3, 40):
        assert (k(x, n=n) == n * X).all()
    counted.on = False
    assert counted.count == 0
    assert len(jax_support.lowering._calls) == kept


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("u32", [0, 7, 2**31]),
        ("s32", [-3, 5]),
        ("u16", [9, 65535]),
        ("s64", [-(2**31), 12]),
        ("u64", [3, 2**31 - 1]),
        ("f32", [0.5, -2.0]),
        ("f64", [0.25]),
    ],
)
def test_a_traced_scalar_is_an_operand(dtype, values):
    k = scaled(dtype)
    wide = jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64()
    with wide if dtype == "f64" else nullcontext():
        kind = from_name(dtype) in (f32, f64) and np.dtype("float32" if dtype == "f32" else "float64")
        call = jax.jit(lambda x, n: k(x, n=n))
        x = jnp.asarray(X)
        made = (lambda n: jnp.asarray(n, kind)) if kind else (lambda n: jnp.asarray(n, np.uint32 if n > 2**31 - 1 else np.int32))
        for n in values:
            assert np.allclose(call(x, made(n)), np.float32(n) * X, rtol=1e-6), n
        before = call._cache_size()
        call(x, made(values[0]))
        assert call._cache_size() == before


def test_traced_integers_of_any_width_do():
    k = scaled("u32")
    call = jax.jit(lambda x, n: k(x, n=n))
    for n in (np.uint8(200), np.int8(7), np.int16(300), np.uint32(4_000_000_000), np.bool_(True)):
        assert np.allclose(call(X, n), np.float32(int(n)) * X, rtol=1e-6), n


def test_a_loop_and_a_map_trace_scalars_too():
    k = scaled()
    x = jnp.asarray(X)
    total = jax.lax.fori_loop(1, 5, lambda i, y: y + k(x, n=i), jnp.zeros_like(x))
    assert (total == 10 * X).all()
    rows = jax.vmap(lambda n: k(x, n=n))(jnp.arange(1, 4, dtype=np.uint32))
    assert (rows == np.arange(1, 4)[:, None] * X).all()
    assert (k(x, n=jnp.uint32(3)) == 3 * X).all()


def test_a_traced_scalar_that_does_not_fit():
    k, f = scaled(), scaled("f32")
    x = jnp.asarray(X)
    with pytest.raises(PtxError, match=r"parameter `n` of kernel `scale` is an array of shape \(2,\); what fits is one number"):
        jax.jit(lambda n: k(x, n=n))(jnp.arange(2))
    with pytest.raises(PtxError, match=r"a `.u32` parameter takes an integer; the value is float32"):
        jax.jit(lambda n: k(x, n=n))(1.5)
    with pytest.raises(PtxError, match=r"is complex64; what fits is a number"):
        jax.jit(lambda n: f(x, n=n))(1j)
    with pytest.raises(PtxError, match=r"float64; JAX has no 64-bit types"):
        jax.jit(lambda n: scaled("f64")(x, n=n))(1.5)
    with pytest.raises(PtxError, match=r"parameter `n` of kernel `scale` is differentiated; it has no backward"):
        jax.grad(lambda n: f(jax.lax.stop_gradient(x), n=n).sum())(2.0)

    with pytest.raises(PtxError, match="and `out`; a JAX array is never written to"):
        jax.jit(lambda n: k(x, n=n, out=np.empty(64, np.float32)))(jnp.uint32(1))


def test_a_parameter_whose_address_is_taken_takes_numbers_only():
    @kernel(in_specs=(Tile(WARP, f32),), out_specs=(Tile(WARP, f32),), grid=1, block=WARP, raw_params=[("u32", "n")])
    def strange(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        at, x, n, where = offset(4), reg.scalar(f32), reg.scalar(u32), reg.scalar(from_name("u64"))
        ptx.inst.mov.u64(where, "n")
        ptx.inst.ld.param.u32(n, ptx.addr(where))
        ptx.inst.ld.global_.f32(x, ptx.addr(px + at))
        ptx.inst.st.global_.f32(ptx.addr(py + at), x)
        ptx.ret()

    x = jnp.ones(WARP, np.float32)
    try:
        strange.ptx()
    except PtxError:
        pytest.skip("a parameter's address cannot be taken from Python")
    with pytest.raises(PtxError, match="the kernel does more with it than to load it"):
        jax.jit(lambda n: strange(x, n=n))(jnp.uint32(1))


def test_wide_numpy_arrays_beside_jax_arrays_are_not_cast():
    with pytest.raises(PtxError, match="the element type is float64; the kernel takes float32"):
        add(np.ones(64), jnp.ones(64, np.float32))
    wide = copy_kernel(f64)
    with pytest.raises(PtxError, match="argument 0 of kernel `copy` is float64, which JAX would make float32 of"):
        jax_support.call_plan(wide._plan_for({}), (np.ones(32),))


@pytest.mark.parametrize("how", ["a number", "a value of JAX's", "under jit"])
def test_a_fault_is_at_the_authors_line(how):
    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=1, block=WARP, raw_params=[("u32", "n")])
    def reads_beyond(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        n = ptx.param(u32, "n")
        x = ptx.let.ld.global_.f32(ptx.addr(px, 1 << 30))  # far from whatever else a call has
        ptx.inst.st.global_.f32(ptx.addr(py + n * 4), x)
        ptx.ret()

    line = reads_beyond.__wrapped__.__code__.co_firstlineno + 4
    with pytest.raises(jax.errors.JaxRuntimeError, match="loads 4 bytes at") as fault:
        if how == "under jit":
            jax.block_until_ready(jax.jit(lambda x, n: reads_beyond(x, n=n))(X, jnp.uint32(3)))
        else:
            jax.block_until_ready(reads_beyond(jnp.asarray(X), n=3 if how == "a number" else jnp.uint32(3)))
    assert f"--> {__file__}:{line}\n" in str(fault.value)
