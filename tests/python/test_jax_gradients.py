"""Gradients of kernels in JAX: with a backward kernel, and the error without one."""

from itertools import product

import pytest

jax = pytest.importorskip("jax")
np = pytest.importorskip("numpy")

import jax.numpy as jnp  # noqa: E402
from launching import WARP, add, offset, scale  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Tile, gradients, kernel, ptx, reg  # noqa: E402
from pyptx.jax_support import lowering  # noqa: E402
from pyptx.types import f32, s32  # noqa: E402

CPU = jax.devices("cpu")[0]
ONE_INPUT = {"grid": lambda N: N // WARP, "block": WARP}


@pytest.fixture(autouse=True)
def on_cpu():
    with jax.default_device(CPU):
        yield


def ramp(n=64):
    return jnp.arange(n, dtype=jnp.float32)


def loaded(*tensors):
    """This thread's addresses, and a register with its element of each of the tensors but the last."""
    addresses = ptx.global_ptrs(*tensors)
    at, values = offset(4), []
    for address in addresses:
        address += at
    for address in addresses[:-1]:
        values.append(reg.scalar(f32))
        ptx.inst.ld.global_.f32(values[-1], ptx.addr(address))
    return values, ptx.addr(addresses[-1])


@kernel(in_specs=(Tile("N", f32), Tile("N", f32)), out_specs=(Tile("N", f32),), **ONE_INPUT)
def multiply(A, B, C):
    (a, b), out = loaded(A, B, C)
    ptx.inst.mul.f32(a, a, b)
    ptx.inst.st.global_.f32(out, a)
    ptx.ret()


@kernel(in_specs=(Tile("N", f32), Tile("N", s32)), out_specs=(Tile("N", f32), Tile("N", s32)), **ONE_INPUT)
def scale_by_ints(X, COUNT, Y, SAME):
    """Y = X * COUNT, and COUNT again."""
    px, pn, py, ps = ptx.global_ptrs(X, COUNT, Y, SAME)
    at = offset(4)
    for pointer in (px, pn, py, ps):
        pointer += at
    x, n, factor = reg.scalar(f32), reg.scalar(s32), reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.ld.global_.s32(n, ptx.addr(pn))
    ptx.inst.cvt.rn.f32.s32(factor, n)
    ptx.inst.mul.f32(x, x, factor)
    ptx.inst.st.global_.f32(ptx.addr(py), x)
    ptx.inst.st.global_.s32(ptx.addr(ps), n)
    ptx.ret()


def product_of(**options):
    """a * b with its gradient, all of it by kernels that are differentiable themselves."""

    def backward(a, b, dy):
        f = product_of()
        return f(b, dy), f(a, dy)

    return pyptx.differentiable_kernel(multiply, backward, **options)


f = product_of()


def loss(a, b):
    return (f(a, b) * jnp.cos(a)).sum()


def expected_loss(a, b):
    return (a * b * jnp.cos(a)).sum()


# -- with a backward

TRANSFORMATIONS = {
    "grad": lambda loss: jax.grad(loss, argnums=(0, 1)),
    "jit of grad": lambda loss: jax.jit(jax.grad(loss, argnums=(0, 1))),
    "grad of jit": lambda loss: jax.grad(jax.jit(loss), argnums=(0, 1)),
    "grad of remat": lambda loss: jax.grad(jax.checkpoint(loss), argnums=(0, 1)),
    "value and grad": lambda loss: jax.value_and_grad(loss),
    "grad of grad": lambda loss: jax.grad(lambda a, b: jax.grad(loss)(a, b).sum(), argnums=(0, 1)),
    "vjp": lambda loss: lambda a, b: jax.vjp(loss, a, b)[1](jnp.float32(2)),
}


@pytest.mark.parametrize("how", TRANSFORMATIONS)
def test_a_gradient_is_that_of_the_backward_kernel(how):
    transformed = TRANSFORMATIONS[how]
    a, b = ramp() / 128, ramp() + 1
    for got, want in zip(
        jax.tree.leaves(transformed(loss)(a, b)), jax.tree.leaves(transformed(expected_loss)(a, b)), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_vmap_scan_and_grad():
    a, b = jnp.stack([ramp() / 64, ramp() / 32]), jnp.stack([ramp() + 1, ramp() - 1])

    def by_scan(loss):
        return lambda a, b: jax.lax.scan(lambda total, ab: (total + loss(*ab), None), jnp.float32(0), (a, b))[0]

    for transformed in (
        lambda loss: jax.vmap(jax.grad(loss)),
        lambda loss: jax.grad(lambda a, b: jax.vmap(loss)(a, b).sum()),
        lambda loss: jax.grad(lambda a, b: jax.vmap(loss, in_axes=(0, None))(a, b[0]).sum(), argnums=1),
        lambda loss: jax.jit(jax.grad(by_scan(loss), argnums=1)),
    ):
        np.testing.assert_allclose(transformed(loss)(a, b), transformed(expected_loss)(a, b), rtol=1e-5)


def test_integers_have_no_gradient():
    f = pyptx.differentiable_kernel(
        scale_by_ints, lambda x, n, dy, dn: (scale_by_ints(dy, n + dn)[0], n), save_for_backward=[0, 1]
    )
    x, n = ramp(), jnp.arange(64, dtype=jnp.int32)

    def loss(x, n):
        y, same = f(x, n)
        return y.sum() + same.sum()  # the second has no gradient

    dx, dn = jax.grad(loss, argnums=(0, 1), allow_int=True)(x, n)
    assert (dx == n).all()
    assert dn.dtype == jax.dtypes.float0 and dn.shape == n.shape


def test_saved_inputs_and_gradients_are_chosen():
    seen = []

    def backward(*given):
        seen.append(len(given))
        return (multiply(given[0], given[1]),)

    chosen = pyptx.differentiable_kernel(multiply, backward, save_for_backward=[1], num_grad_inputs=1)
    da, db = jax.grad(lambda a, b: chosen(a, b).sum(), argnums=(0, 1))(ramp(), ramp() + 1)
    assert seen == [2]
    assert (da == ramp() + 1).all() and (db == 0).all()
    assert chosen.forward_kernel is multiply and chosen.backward_kernel is backward


def test_a_backward_of_another_precision_is_rounded():
    narrow = pyptx.differentiable_kernel(lambda x: x * 2, lambda x, dy: multiply(x.astype(jnp.float32), dy.astype(jnp.float32)))
    x = ramp().astype(jnp.bfloat16)
    dx = jax.grad(lambda x: narrow(x).sum().astype(jnp.float32))(x)
    assert dx.dtype == jnp.bfloat16 and (dx == x).all()


def test_a_wrong_backward_says_what_is_wrong():
    def grad(backward, **options):
        wrong = pyptx.differentiable_kernel(multiply, backward, **options)
        return jax.grad(lambda a: wrong(a, ramp()).sum())(ramp())

    with pytest.raises(ValueError, match="gives 1 gradients; 2 inputs need one"):
        grad(lambda a, b, dy: multiply(b, dy))
    with pytest.raises(ValueError, match="gives 3 gradients; 2 inputs need one"):
        grad(lambda a, b, dy: (dy, dy, dy))
    with pytest.raises(ValueError, match="gives 3 gradients; 1 inputs need one"):
        grad(lambda a, b, dy: (dy, dy, dy), num_grad_inputs=1)
    with pytest.raises(ValueError, match=r"gives a gradient of shape \(32,\) for input 1, of shape \(64,\)"):
        grad(lambda a, b, dy: (dy, dy[:32]))
    with pytest.raises(IndexError):
        grad(lambda a, b, dy: (dy, dy), save_for_backward=[2])
    with pytest.raises(ValueError, match="num_grad_inputs is 3; the call has 2 inputs"):
        grad(lambda a, b, dy: (dy, dy, dy), num_grad_inputs=3)


def test_one_function_for_every_library():
    torch = pytest.importorskip("torch")
    a, b = np.arange(64, dtype=np.float32), np.ones(64, np.float32)
    assert isinstance(f(a, b), np.ndarray)
    x = torch.arange(64.0, requires_grad=True)
    both = pyptx.differentiable_kernel(multiply, lambda a, b, dy: (multiply(b, dy), multiply(a, dy)))
    both(x, torch.ones(64)).sum().backward()
    assert torch.equal(x.grad, torch.ones(64))
    assert (jax.grad(lambda a: both(a, b).sum())(ramp()) == 1).all()
    with pytest.raises(TypeError, match="torch tensors and JAX arrays; a call takes one kind"):
        both(x, ramp())
    assert gradients.differentiable_kernel(multiply, multiply).forward_kernel is multiply


# -- without

WITHOUT = {
    "grad": lambda k: jax.grad(lambda a: k(a, a).sum())(ramp()),
    "jvp": lambda k: jax.jvp(lambda a: k(a, a), (ramp(),), (ramp(),)),
    "linearize": lambda k: jax.linearize(lambda a: k(a, a), ramp()),
    "jit of grad": lambda k: jax.jit(jax.grad(lambda a: k(a, a).sum()))(ramp()),
    "grad of jit": lambda k: jax.grad(jax.jit(lambda a: k(a, a).sum()))(ramp()),
    "grad of vmap": lambda k: jax.grad(lambda a: jax.vmap(k)(a, a).sum())(jnp.stack([ramp()] * 2)),
    "vmap of grad": lambda k: jax.vmap(jax.grad(lambda a: k(a, a).sum()))(jnp.stack([ramp()] * 2)),
    "grad of remat": lambda k: jax.grad(jax.checkpoint(lambda a: k(a, a).sum()))(ramp()),
    "grad of scan": lambda k: jax.grad(lambda a: jax.lax.scan(lambda c, _: (k(c, c), None), a, None, length=2)[0].sum())(ramp()),
}


@pytest.mark.parametrize("how", WITHOUT)
def test_without_a_backward_the_error_is_ours(how):
    with pytest.raises(pyptx.PtxError, match="kernel `add` is differentiated; it has no backward") as raised:
        WITHOUT[how](add)
    assert raised.value.kind == "argument_gradient" and isinstance(raised.value, RuntimeError)
    assert raised.value.where[0] == __file__
    assert "pyptx.differentiable_kernel(forward, backward)" in str(raised.value)


def test_what_needs_no_gradient_is_let_through():
    stop = jax.lax.stop_gradient
    for wrap in (lambda f: f, jax.jit, jax.checkpoint):
        by_product = wrap(lambda a: (a * add(stop(a), stop(a))).sum())
        assert (jax.grad(by_product)(ramp()) == 2 * ramp()).all()
    assert (jax.jit(jax.checkpoint(lambda a: add(a, a)))(ramp()) == 2 * ramp()).all()
    total, each = jax.lax.scan(lambda c, x: (add(c, x), add(x, x)), ramp(), jnp.stack([ramp()] * 3))
    assert (total == 4 * ramp()).all() and (each == 2 * ramp()).all()


# -- several at once


def test_vmap_of_vmap_and_axes():
    x = jnp.stack([jnp.stack([ramp() + i + 10 * j for i in range(2)]) for j in range(3)])  # (3, 2, 64)
    for in_axes in product((0, None), (0, None)):
        if in_axes == (None, None):
            continue
        a, b = (x if axis == 0 else x[0] for axis in in_axes)
        assert (jax.vmap(jax.vmap(add), in_axes=in_axes)(a, b) == a + b).all()
    y = jnp.moveaxis(x, 2, 0)  # the mapped axis is not the first
    assert (jax.vmap(jax.vmap(add, in_axes=1, out_axes=1), in_axes=1, out_axes=1)(y, y) == 2 * y).all()


def test_a_kernel_of_the_whole_batch_by_custom_vmap():
    """The way to anything but one call after the other: here one launch for the batch."""
    launches = []

    @jax.custom_batching.custom_vmap
    def added(a, b):
        launches.append(a.shape)
        return add(a, b)

    @added.def_vmap
    def batched(size, in_batched, a, b):
        a, b = (
            x if is_batched else jnp.broadcast_to(x, (size, *x.shape)) for x, is_batched in zip((a, b), in_batched, strict=True)
        )
        return added(a.reshape(-1), b.reshape(-1)).reshape(a.shape), True

    x = jnp.stack([ramp(), ramp() + 1, ramp() + 2])
    for wrap in (lambda f: f, jax.jit):
        launches.clear()
        assert (wrap(jax.vmap(added, in_axes=(0, None)))(x, ramp()) == x + ramp()).all()
        assert launches[-1] == (192,)
    text = jax.jit(jax.vmap(added)).lower(x, x).as_text()
    assert text.count("pyptx_launch") == 1 and "while" not in text
    assert "while" in jax.jit(jax.vmap(add)).lower(x, x).as_text()
    with_gradient = pyptx.differentiable_kernel(added, lambda a, b, dy: (dy, dy))
    assert (jax.grad(lambda a: (jax.vmap(with_gradient)(a, x) * x).sum())(x) == x).all()


def test_calls_that_were_not_used_for_long_are_forgotten(monkeypatch):
    monkeypatch.setattr(lowering, "KEPT_CALLS", 4)
    for n in range(32, 32 * 11, 32):
        assert (jax.jit(add)(ramp(n), ramp(n)) == 2 * ramp(n)).all()
    assert len(lowering._calls) <= 513
    lowering._calls.clear()
    for n in range(32, 32 * 11, 32):
        assert (add(ramp(n), ramp(n)) == 2 * ramp(n)).all()
    assert len(lowering._calls) == 4


def test_keywords_go_to_both_kernels():
    scaled = pyptx.differentiable_kernel(scale, lambda dy, *, factor: scale(dy, factor=factor), save_for_backward=[])
    x = jnp.ones(32, jnp.float32)
    assert (scaled(x, factor=3) == 3).all()
    for factor in (3, 5):
        assert (jax.grad(lambda x, by=factor: scaled(x, factor=by).sum())(x) == factor).all()
        assert (jax.jit(jax.grad(lambda x, by=factor: scaled(x, factor=by).sum()))(x) == factor).all()
    assert (jax.vmap(jax.grad(lambda x: scaled(x, factor=2).sum()))(jnp.ones((3, 32))) == 2).all()
    with pytest.raises(TypeError, match="no template parameter or dimension `fctor`; it takes `N`, `factor`"):
        scaled(x, fctor=3)
