"""Matrix products of the kernel library with JAX arrays: under jit, and with gradients."""

from typing import Any

import numpy as np
import pytest

from pyptx import kernels

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")


def drawn(shape: tuple[int, ...], seed: int) -> Any:
    return jax.random.normal(jax.random.key(seed), shape).astype(jnp.bfloat16)


def close(own: Any, expected: Any, tolerance: float = 1e-2) -> None:
    own, expected = np.asarray(own, np.float64), np.asarray(expected, np.float64)
    assert own.shape == expected.shape
    assert float(np.abs(own - expected).max()) < tolerance * float(np.abs(expected).max())


def test_means_what_float64_does() -> None:
    a, b, bias = drawn((3, 20, 72), 0), drawn((72, 40), 1), drawn((40,), 2)
    wide = np.asarray(a, np.float64) @ np.asarray(b, np.float64)

    def linear(a: Any, b: Any) -> Any:
        return kernels.matmul(a, b, bias=bias, activation="relu")

    for function in (linear, jax.jit(linear)):
        close(function(a, b), np.maximum(wide + np.asarray(bias, np.float64), 0))
    odd = drawn((3, 72, 33), 3)
    result = jax.jit(lambda a, b: kernels.matmul(a, b, out_dtype=jnp.float32))(a, odd)
    assert result.dtype == jnp.float32
    close(result, np.asarray(a, np.float64) @ np.asarray(odd, np.float64), 1e-5)


@pytest.mark.parametrize("activation", [None, "silu", "gelu"])
def test_gradients(activation: str | None) -> None:
    arguments = drawn((20, 72), 0), drawn((72, 40), 1), drawn((40,), 2), drawn((20, 40), 3)
    active = {None: lambda x: x, "silu": jax.nn.silu, "gelu": lambda x: jax.nn.gelu(x, approximate=False)}[activation]

    def own(a: Any, b: Any, bias: Any, residual: Any) -> Any:
        y = kernels.matmul(a, b, bias=bias, activation=activation, residual=residual)
        return y.astype(jnp.float32).sum()

    def expected(a: Any, b: Any, bias: Any, residual: Any) -> Any:
        sums = a.astype(jnp.float32) @ b.astype(jnp.float32) + bias.astype(jnp.float32)
        return (active(sums) + residual.astype(jnp.float32)).sum()

    gradients = jax.grad(own, argnums=(0, 1, 2, 3))(*arguments)
    for gradient, other in zip(gradients, jax.grad(expected, argnums=(0, 1, 2, 3))(*arguments), strict=True):
        assert gradient.dtype == jnp.bfloat16
        close(gradient, other, 2e-2)


def test_gated() -> None:
    a, b = drawn((20, 72), 0), drawn((72, 40), 1)
    gate, up = np.split(np.asarray(a, np.float64) @ np.asarray(b, np.float64), 2, -1)
    close(jax.jit(kernels.gated_matmul)(a, b), gate / (1 + np.exp(-gate)) * up)
    gradients = jax.grad(lambda a, b: kernels.gated_matmul(a, b).astype(jnp.float32).sum(), argnums=(0, 1))(a, b)

    def expected(a: Any, b: Any) -> Any:
        gate, up = jnp.split(a.astype(jnp.float32) @ b.astype(jnp.float32), 2, -1)
        return (jax.nn.silu(gate) * up).sum()

    for gradient, other in zip(gradients, jax.grad(expected, argnums=(0, 1))(a, b), strict=True):
        close(gradient, other, 2e-2)


def test_in_groups() -> None:
    a, b, offsets = drawn((30, 64), 0), drawn((3, 64, 40), 1), jnp.array([4, 4, 30], jnp.int32)
    result = jax.jit(kernels.grouped_matmul)(a, b, offsets)
    close(result[:4], np.asarray(a[:4], np.float64) @ np.asarray(b[0], np.float64))
    close(result[4:], np.asarray(a[4:], np.float64) @ np.asarray(b[2], np.float64))


def test_alpha_scales_the_gradients() -> None:
    a, b = (jax.random.normal(jax.random.key(i), shape, jnp.bfloat16) for i, shape in enumerate(((24, 64), (64, 40))))
    for alpha in (1.0, -2.0):
        y, back = jax.vjp(lambda a, b, alpha=alpha: kernels.matmul(a, b, alpha=alpha), a, b)
        wanted, wanted_back = jax.vjp(lambda a, b, alpha=alpha: alpha * (a @ b), a, b)
        pairs = zip((y, *back(y)), (wanted, *wanted_back(y)), strict=True)
        for one, other in pairs:
            difference = jnp.abs(one.astype(jnp.float32) - other.astype(jnp.float32)).max()
            assert difference < 2e-2 * jnp.abs(other.astype(jnp.float32)).max()
