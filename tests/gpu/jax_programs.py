"""Programs on a GPU for processes of their own, which test_jax_gpu.py starts: `python jax_programs.py NAME`."""

import random
import sys

import jax
import jax.numpy as jnp
from launching import WARP, add, scale, value_and_index
from tma_kernels import round_trip_kernel

import pyptx
from pyptx import Layout, kernel
from pyptx.types import f32

ITERATIONS = 100


def ramp(n=64):
    return jnp.arange(n, dtype=jnp.float32)


def changing_buffers():
    """Arrays of changing sizes that come and go, so that the buffers of a program are elsewhere each time."""
    chance, kept = random.Random(0), []
    for i in range(ITERATIONS):
        kept.append(jnp.zeros(chance.randrange(1, 1 << 16)))
        if len(kept) > 5:
            kept.pop(chance.randrange(len(kept)))
        yield i


def command_buffers() -> None:
    """Each iteration runs compiled programs at other addresses."""

    @jax.jit
    def several(a, b):
        c = add(a, b)
        d = scale(add(c, a), factor=0.5)
        return add(d, c) + 1, value_and_index(d[:32])

    @jax.jit
    def one(a):
        return add(a, a)

    alive = []
    for i in changing_buffers():
        a, b = ramp() + i, ramp() * i
        result, (value, index) = several(a, b)
        alive = [*alive[-7:], (i, result)]
        assert jnp.array_equal(result, (2 * a + b) / 2 + a + b + 1), i
        assert jnp.array_equal(value, ((2 * a + b) / 2)[:32]) and jnp.array_equal(index, jnp.arange(32, dtype=jnp.uint32))
        assert jnp.array_equal(one(a), 2 * a)
        for j, earlier in alive:  # which nobody may have written to since
            assert jnp.array_equal(earlier, (2 * (ramp() + j) + ramp() * j) / 2 + ramp() + j + ramp() * j + 1), (i, j)


def tensor_copies() -> None:
    """TMA descriptors of buffers that change, eager and compiled, several kernels in a row."""
    two, three = (
        round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B),
        round_trip_kernel(f32, ("N", 8, 32), (8, 8, 32), Layout.ROW),
    )

    @jax.jit
    def f(x):
        y = two(two(x) + 1)
        return three(y.reshape(-1, 8, 32)).reshape(x.shape) * 2

    for i in changing_buffers():
        x = jnp.full((64 * (1 + i % 3), 32), float(i)) + jnp.arange(32.0)
        assert jnp.array_equal(f(x), (x + 1) * 2), i
        assert jnp.array_equal(two(x), x), i
    x = jnp.stack([jnp.full((64, 32), float(i)) for i in range(5)])
    assert jnp.array_equal(jax.jit(jax.vmap(two))(x), x)


def donation() -> None:
    """An output over an input: in place when the input is donated, on a copy when it is not."""
    over = kernel(in_specs=add.in_specs, out_specs=add.out_specs, grid=add.grid, block=WARP, input_output_aliases={0: 0})(
        add.__wrapped__
    )
    x, y = ramp(), ramp()
    for f in (over, jax.jit(over)):
        assert jnp.array_equal(f(x, y), 2 * ramp()) and jnp.array_equal(f(x, x), 2 * ramp())
        assert jnp.array_equal(x, ramp()) and not x.is_deleted()
    address = x.unsafe_buffer_pointer()
    z = jax.jit(over, donate_argnums=0)(x, y)
    assert x.is_deleted() and not y.is_deleted()
    assert z.unsafe_buffer_pointer() == address and jnp.array_equal(z, 2 * ramp())
    for _ in changing_buffers():
        z = jax.jit(over, donate_argnums=0)(z, y)
    assert jnp.array_equal(z, (2 + ITERATIONS) * ramp())


def gradients() -> None:
    """The gradient of 3 x by kernels, and the error without one."""
    triple = pyptx.differentiable_kernel(lambda x: scale(x, factor=3.0), lambda x, dy: scale(dy, factor=3.0))
    x = ramp()
    for wrap in (lambda f: f, jax.jit):
        assert jnp.array_equal(wrap(jax.grad(lambda x: (triple(x) * x).sum()))(x), 6 * x)
        assert jnp.array_equal(
            wrap(jax.vmap(jax.grad(lambda x: (triple(x) * x).sum())))(jnp.stack([x, x])), jnp.stack([6 * x] * 2)
        )
    try:
        jax.grad(lambda x: add(x, x).sum())(x)
    except pyptx.PtxError as error:
        assert error.kind == "argument_gradient" and "kernel `add` is differentiated" in str(error)
    else:
        raise AssertionError("a gradient without a backward")


def has_cuda() -> None:
    jax.devices("cuda")


if __name__ == "__main__":
    programs = (command_buffers, tensor_copies, donation, gradients, has_cuda)
    {program.__name__: program for program in programs}[sys.argv[1]]()
