"""Array programs: fusions, reductions, sorts, scatters, loops, random numbers, convolutions of types; kernels in Pallas."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

try:
    from jax.experimental.pallas import triton as plt
except ImportError:
    plt = None

f16, bf16, f32, f64, i8, i32, u32, c64 = (
    jnp.float16,
    jnp.bfloat16,
    jnp.float32,
    jnp.float64,
    jnp.int8,
    jnp.int32,
    jnp.uint32,
    jnp.complex64,
)
f8 = jnp.float8_e4m3fn


def gelu(x, y):
    return jax.nn.gelu(x * y + 1, approximate=False) * jnp.tanh(y)


def softmax(x):
    return jax.nn.softmax(x, axis=-1)


def layer_norm(x, g):
    m = x.mean(-1, keepdims=True)
    return ((x - m) * lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5) * g).astype(x.dtype)


def sums(x):
    return x.sum(0), x.max(1), x.argmin(0), jnp.cumsum(x, 1)


def order(x):
    return jnp.sort(x, 1), lax.top_k(x, 4)


def scatter(x, i, v):
    return x.at[i].add(v), x.at[i].max(v), x[i] * 2


def random(k):
    return jax.random.normal(jax.random.wrap_key_data(k), (1024,)), jax.random.randint(jax.random.wrap_key_data(k), (64,), 0, 9)


def loop(x):
    return lax.fori_loop(0, 10, lambda i, c: jnp.sin(c) + i, x), lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2, x)


def transpose(x):
    return jnp.transpose(x, (2, 0, 1)) + 1, jnp.concatenate([x, x[::-1]], 0), jnp.pad(x, ((1, 1), (0, 2), (3, 0)))


def complexes(x):
    return jnp.exp(x) / (x + 1), jnp.abs(x), jnp.sqrt(x)


def integers(x, y):
    return x // (y | 1), x % (y | 1), lax.population_count(x), lax.clz(y), lax.shift_right_logical(x, y & 7), x.astype(i8), x ^ y


def conversions(x):
    return x.astype(f8), x.astype(bf16), x.astype(i8), x.astype(f16).astype(f32), jnp.round(x), lax.bitcast_convert_type(x, u32)


def special(x):
    return (
        lax.erf(x),
        lax.lgamma(x),
        lax.digamma(x),
        jnp.log1p(x),
        jnp.expm1(x),
        jnp.arctan2(x, x + 1),
        jnp.power(x, 2.5),
        jnp.cbrt(x),
        lax.erf_inv(x),
        jnp.nextafter(x, 1.0),
    )


def product(x, y):
    return jax.nn.relu(x @ y)


def window(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID"), lax.associative_scan(jnp.multiply, x)


def gradient(x, w):
    return jax.grad(lambda w: (jnp.tanh(x * w) ** 2).sum())(w)


def _add(x, y, o):
    o[...] = x[...] + y[...]


def pallas_add(x, y):
    return pl.pallas_call(
        _add,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=8,
        in_specs=[pl.BlockSpec((256,), lambda i: i)] * 2,
        out_specs=pl.BlockSpec((256,), lambda i: i),
        compiler_params=plt.CompilerParams(num_warps=4),
    )(x, y)


def _soft(x, o):
    v = x[...]
    e = jnp.exp(v - v.max())
    o[...] = e / e.sum()


def pallas_softmax(x):
    return pl.pallas_call(
        _soft,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=x.shape[0],
        in_specs=[pl.BlockSpec((None, x.shape[1]), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((None, x.shape[1]), lambda i: (i, 0)),
        compiler_params=plt.CompilerParams(num_warps=2),
    )(x)


def _product(x, y, o, *, block):
    def body(k, acc):
        return acc + pl.dot(x[:, pl.ds(k * block, block)], y[pl.ds(k * block, block), :])

    o[...] = lax.fori_loop(0, x.shape[1] // block, body, jnp.zeros(o.shape, f32)).astype(o.dtype)


def pallas_product(x, y):
    n, k = x.shape
    m = y.shape[1]
    return pl.pallas_call(
        functools.partial(_product, block=32),
        out_shape=jax.ShapeDtypeStruct((n, m), x.dtype),
        grid=(n // 64, m // 64),
        in_specs=[pl.BlockSpec((64, k), lambda i, j: (i, 0)), pl.BlockSpec((k, 64), lambda i, j: (0, j))],
        out_specs=pl.BlockSpec((64, 64), lambda i, j: (i, j)),
        compiler_params=plt.CompilerParams(num_warps=4, num_stages=2),
    )(x, y)


def _mosaic(x, y, o):
    o[...] = jnp.exp(x[...]) + y[...] * 2


def mosaic_add(x, y):
    return pl.pallas_call(_mosaic, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), compiler_params=plgpu.CompilerParams())(x, y)


def mosaic_pipeline(x, y):
    spec = pl.BlockSpec((64, 64), lambda i, j: (i, j))
    return pl.pallas_call(
        _mosaic,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(4, 4),
        in_specs=[spec, spec],
        out_specs=spec,
        compiler_params=plgpu.CompilerParams(dimension_semantics=["parallel", "sequential"], max_concurrent_steps=2),
    )(x, y)


def _mosaic_product(x, y, o):
    def scope(acc):
        plgpu.wgmma(acc, x, y)
        return acc[...]

    o[...] = pl.run_scoped(scope, plgpu.ACC(o.shape, f32)).astype(o.dtype)


def mosaic_product(x, y):
    tiles = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return pl.pallas_call(
        _mosaic_product,
        out_shape=jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), x.dtype),
        in_specs=[
            plgpu.BlockSpec((64, 128), lambda: (0, 0), transforms=tiles),
            plgpu.BlockSpec((128, 128), lambda: (0, 0), transforms=tiles),
        ],
        out_specs=plgpu.BlockSpec((64, 128), lambda: (0, 0), transforms=tiles),
        compiler_params=plgpu.CompilerParams(),
    )(x, y)


every = (8, 9, 10)
plans = [
    ("gelu", gelu, [(f32, (1024, 256))] * 2, (8,)),
    ("gelu_bf16", gelu, [(bf16, (1024, 256))] * 2, (9,)),
    ("gelu_f16", gelu, [(f16, (1024, 256))] * 2, (10,)),
    ("softmax", softmax, [(f32, (128, 1000))], (8, 10)),
    ("layer_norm", layer_norm, [(f16, (128, 768)), (f16, (768,))], (8, 9)),
    ("sums", sums, [(f32, (300, 500))], (8, 9)),
    ("sums_int", sums, [(i32, (64, 64))], (10,)),
    ("order", order, [(f32, (16, 300))], (8, 9)),
    ("scatter", scatter, [(f32, (1000,)), (i32, (50,)), (f32, (50,))], (8, 9)),
    ("scatter_bf16", scatter, [(bf16, (1000,)), (i32, (50,)), (bf16, (50,))], (10,)),
    ("random", random, [(u32, (2,))], (8,)),
    ("loop", loop, [(f32, (100,))], (9,)),
    ("transpose", transpose, [(i8, (32, 48, 64))], (8, 9)),
    ("complexes", complexes, [(c64, (500,))], (8, 10)),
    ("integers", integers, [(i32, (500,))] * 2, (8, 9)),
    ("conversions", conversions, [(f32, (512,))], every),
    ("special", special, [(f32, (512,))], (8, 9)),
    ("product", product, [(f16, (256, 256))] * 2, every),
    ("product_tf32", product, [(f32, (256, 256))] * 2, (8, 9)),
    ("window", window, [(f32, (64, 64))], (8,)),
    ("gradient", gradient, [(f32, (512, 64)), (f32, (64,))], (9,)),
    ("pallas_add", pallas_add, [(f32, (2048,))] * 2, (8, 9)),
    ("pallas_softmax", pallas_softmax, [(f32, (64, 512))], every),
    ("pallas_product", pallas_product, [(bf16, (128, 128))] * 2, every),
    ("mosaic_add", mosaic_add, [(f32, (128, 64))] * 2, (9,)),
    ("mosaic_add_bf16", mosaic_add, [(bf16, (128, 64))] * 2, (9,)),
    ("mosaic_pipeline", mosaic_pipeline, [(f32, (256, 256))] * 2, (9,)),
    ("mosaic_product", mosaic_product, [(f16, (64, 128)), (f16, (128, 128))], (9,)),
]
