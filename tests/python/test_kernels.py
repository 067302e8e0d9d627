"""The kernel library on the executor, with all checks on, against float64."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyptx import PtxTypeError, PtxValueError, _ptx, executor, kernels
from pyptx.kernels._library import alignment_of, kernel_of

Array = np.ndarray[Any, Any]
LENGTHS = (1, 3, 31, 33, 127, 1000, 1023, 4097, 8193, 65536, 262144)
TYPES = {
    "float32": (np.dtype("float32"), 2e-5),
    "float16": (np.dtype("float16"), 2e-3),
    "bfloat16": (np.dtype(ml_dtypes.bfloat16), 1.6e-2),
}


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    with executor.checking() as findings:
        yield
    assert not findings


def drawn(shape: tuple[int, ...], dtype: str, seed: int = 0, scale: float = 1.0, offset: float = 0.0) -> Array:
    return (np.random.default_rng(seed).normal(size=shape) * scale + offset).astype(TYPES[dtype][0])


def hold(result: Array, expected: Array, dtype: str, floor: float = 1e-2, factor: float = 1.0) -> None:
    assert result.shape == expected.shape and result.dtype == TYPES[dtype][0]
    floor = max(floor, 2.0**-14) if dtype == "float16" else floor  # numbers below are subnormal, and have fewer digits
    error = np.abs(result.astype(np.float64) - expected) / (np.abs(expected) + floor)
    assert float(error.max()) < TYPES[dtype][1] * factor


def rms_norm(x: Array, w: Array | float = 1.0, eps: float = 1e-6) -> Array:
    x = x.astype(np.float64)
    expected: Array = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w
    return expected


def layer_norm(x: Array, w: Array | float = 1.0, b: Array | float = 0.0, eps: float = 1e-5) -> Array:
    x = x.astype(np.float64)
    expected: Array = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * w + b
    return expected


def softmax(x: Array) -> Array:
    e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(-1, keepdims=True))
    expected: Array = e / e.sum(-1, keepdims=True)
    return expected


def silu(x: Array) -> Array:
    expected: Array = x.astype(np.float64) / (1 + np.exp(-x.astype(np.float64)))
    return expected


def gelu(x: Array) -> Array:
    x = x.astype(np.float64)
    expected: Array = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return expected


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("columns", LENGTHS)
def test_rows_of_every_length(columns: int, dtype: str) -> None:
    rows = 5 if columns < 10_000 else 2
    x, w, b = drawn((rows, columns), dtype), drawn((columns,), dtype, 1), drawn((columns,), dtype, 2)
    w64, b64 = w.astype(np.float64), b.astype(np.float64)
    hold(kernels.rms_norm(x, w), rms_norm(x, w64), dtype)
    hold(kernels.layer_norm(x, w, b), layer_norm(x, w64, b64), dtype, floor=0.1, factor=3 if columns > 1 else 1)
    hold(kernels.softmax(x), softmax(x), dtype, floor=1e-6)
    hold(kernels.log_softmax(x), np.log(softmax(x)), dtype)
    hold(kernels.swiglu(x, x[::-1].copy()), silu(x) * x[::-1].astype(np.float64), dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_more_rows_than_a_group_has(dtype: str) -> None:
    """Rows share blocks, and the last block has too few."""
    for rows, columns in ((1, 8), (131, 8), (9, 24), (33, 100), (257, 3)):
        x = drawn((rows, columns), dtype)
        hold(kernels.rms_norm(x), rms_norm(x), dtype)
        hold(kernels.softmax(x), softmax(x), dtype, floor=1e-6)
        hold(kernels.geglu(x, x), gelu(x) * x.astype(np.float64), dtype)


def test_options_of_the_norms() -> None:
    x, r, w = drawn((2, 3, 40), "bfloat16"), drawn((2, 3, 40), "bfloat16", 1), drawn((40,), "bfloat16", 2)
    y, total = kernels.rms_norm(x, w, eps=1e-3, residual=r, offset=1.0)
    rounded = (x.astype(np.float32) + r.astype(np.float32)).astype(x.dtype)
    assert (total == rounded).all()
    hold(y, rms_norm(rounded, w.astype(np.float64) + 1, 1e-3), "bfloat16")
    y, total = kernels.layer_norm(x, None, w, residual=r)
    hold(y, layer_norm(rounded, 1.0, w.astype(np.float64)), "bfloat16", floor=0.1)
    hold(kernels.layer_norm(x), layer_norm(x), "bfloat16", floor=0.1)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("columns", [1, 3, 31, 100, 130, 1000, 4096, 8193, 65536])
def test_norms_as_e4m3(columns: int, dtype: str) -> None:
    """A row's largest number is 448, and the scales give the others back, with 3 bits behind the first."""
    x, w, b, r = (drawn(shape, dtype, i) for i, shape in enumerate([(5, columns), (columns,), (columns,), (5, columns)]))
    y, scale = kernels.rms_norm(x, w, out_dtype=ml_dtypes.float8_e4m3fn)
    assert y.dtype == ml_dtypes.float8_e4m3fn and scale.shape == (5, 1) and scale.dtype == np.float32
    expected = rms_norm(x, w.astype(np.float64))
    most = np.abs(expected).max(-1, keepdims=True)
    assert np.allclose(scale, most / 448, rtol=1e-5)
    assert (np.abs(y.astype(np.float64) * scale - expected) <= np.maximum(np.abs(expected) / 15.9, most / 448 / 2**9)).all()
    y, scale, total = kernels.layer_norm(x, w, b, residual=r, out_dtype="float8_e4m3fn")
    assert (total == (x.astype(np.float32) + r.astype(np.float32)).astype(x.dtype)).all()
    expected = layer_norm(total, w.astype(np.float64), b.astype(np.float64))
    error = np.abs(y.astype(np.float64) * scale - expected)
    assert (error <= np.abs(expected) / 15 + np.abs(expected).max(-1, keepdims=True) * 1e-3).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("columns", [6, 200, 1000, 5000])
def test_gated_products_as_e4m3(columns: int, dtype: str) -> None:
    gate, up = drawn((5, columns), dtype), drawn((5, columns), dtype, 1)
    for function, active in ((kernels.swiglu, silu), (kernels.geglu, gelu)):
        expected = active(gate) * up.astype(np.float64)
        most = np.abs(expected).max(-1, keepdims=True)
        for arguments in ((gate, up), (np.concatenate([gate, up], -1),)):
            y, scale = function(*arguments, out_dtype="float8_e4m3fn")
            assert y.dtype == ml_dtypes.float8_e4m3fn and y.shape == (5, columns) and scale.shape == (5, 1)
            assert np.allclose(scale, most / 448, rtol=1e-4)
            assert (np.abs(y.astype(np.float64) * scale - expected) <= np.maximum(np.abs(expected) / 15, most / 448 / 2**8)).all()
            given = np.full(1, most.max() / 300, np.float32)
            y = function(*arguments, out_dtype="float8_e4m3fn", scale=given)
            error = np.abs(y.astype(np.float64) * given - expected)
            assert y.dtype == ml_dtypes.float8_e4m3fn and (error <= np.maximum(np.abs(expected) / 15, given / 2**8)).all()


def test_norms_as_e4m3_by_a_given_scale() -> None:
    x, w, r = drawn((3, 200), "bfloat16"), drawn((200,), "bfloat16", 1), drawn((3, 200), "bfloat16", 2)
    given = np.full((), 0.01, np.float32)
    y = kernels.rms_norm(x, w, out_dtype="float8_e4m3fn", scale=given)
    expected = np.clip(rms_norm(x, w.astype(np.float64)), -4.48, 4.48)  # what is beyond becomes the largest number
    assert np.abs(expected).max() == 4.48
    assert (np.abs(y.astype(np.float64) * 0.01 - expected) <= np.maximum(np.abs(expected) / 15, 0.01 / 2**8)).all()
    y, total = kernels.layer_norm(x, residual=r, out_dtype="float8_e4m3fn", scale=given)
    assert y.dtype == ml_dtypes.float8_e4m3fn and total.dtype == x.dtype
    with pytest.raises(PtxTypeError, match="one float32"):
        kernels.rms_norm(x, out_dtype="float8_e4m3fn", scale=0.01)
    with pytest.raises(PtxValueError, match="what fits is one number"):
        kernels.swiglu(x, x, out_dtype="float8_e4m3fn", scale=np.ones(2, np.float32))
    with pytest.raises(PtxTypeError, match="what fits is float8_e4m3fn"):
        kernels.swiglu(x, x, scale=given)


def test_norms_as_e4m3_of_no_numbers_and_zeros() -> None:
    x = drawn((4, 64), "bfloat16")
    x[1, 3], x[2] = np.nan, 0
    y, scale = kernels.rms_norm(x, out_dtype="float8_e4m3fn")
    assert np.isnan(y[1].astype(np.float32)).all() and (y[2].astype(np.float32) == 0).all() and np.isfinite(scale[2]).all()
    with pytest.raises(PtxTypeError, match="what fits is float8_e4m3fn"):
        kernels.rms_norm(x, out_dtype="float16")


def test_numbers_far_from_zero_keep_their_digits() -> None:
    x = drawn((3, 5000), "float32", offset=1e4)
    assert np.abs(kernels.layer_norm(x) - layer_norm(x)).max() < 2e-3  # an ulp of 1e4 is 1e-3 of the deviation
    assert np.abs(kernels.softmax(x) - softmax(x)).max() < 1e-6


def test_extreme_numbers() -> None:
    inf, nan, most, least = np.inf, np.nan, np.finfo(np.float32).max, np.float32(1e-42)
    x = np.array([[-inf, -inf, -inf, -inf], [inf, 0, 1, 2], [nan, 0, 1, 2], [-inf, 0, -inf, 0], [most, -most, 0, most],
                  [least, -least, 0, least], [0, 0, 0, 0], [88, -88, 100, -100]], np.float32)  # fmt: skip
    with np.errstate(all="ignore"):
        expected, silu_of = softmax(x), silu(x)
    y = kernels.softmax(x)
    assert (np.isnan(y) == np.isnan(expected)).all() and np.isnan(y[:3]).all()
    assert np.allclose(y, expected, rtol=1e-6, atol=2.0**-126, equal_nan=True)
    y = kernels.swiglu(x, np.ones_like(x))
    good = np.isfinite(x)
    assert np.allclose(y[good], silu_of[good], rtol=1e-5, atol=2.0**-118)
    assert np.isnan(y[2, 0]) and y[1, 0] == inf
    y = kernels.geglu(x, np.ones_like(x))
    assert np.allclose(y[4], [most, 0, 0, most], rtol=1e-6) and np.isnan(y[2, 0])
    y = kernels.rms_norm(x)
    assert (y[6] == 0).all() and np.isnan(y[2]).all()
    assert np.allclose(y[5], x[5] * 1e3, atol=1e-44)
    assert (kernels.layer_norm(x)[6] == 0).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("columns", [1, 7, 64, 1000, 4097])
def test_cross_entropy(columns: int, dtype: str) -> None:
    x = drawn((6, columns), dtype)
    target = np.random.default_rng(1).integers(0, columns, 6)
    target[2] = -100
    counts = (target != -100)[:, None]
    p = softmax(x)
    smoothing, x64 = 0.1, x.astype(np.float64)
    lse = x64.max(-1) + np.log(np.exp(x64 - x64.max(-1, keepdims=True)).sum(-1))
    hit = np.eye(columns)[np.clip(target, 0, columns - 1)]
    losses = (lse - 0.9 * (x64 * hit).sum(-1) - 0.1 * x64.mean(-1)) * counts[:, 0]
    loss, gradient = kernels.cross_entropy_and_gradient(x, target, label_smoothing=smoothing)
    assert np.allclose(loss, losses.sum() / 5, rtol=1e-5)
    hold(gradient, (p - 0.9 * hit - 0.1 / columns) * counts / 5, dtype)
    assert np.allclose(
        kernels.cross_entropy(x, target, label_smoothing=smoothing, reduction="none"), losses, rtol=1e-4, atol=1e-5
    )
    plain = kernels.cross_entropy(x, target, reduction="sum")
    assert np.allclose(plain, ((lse - (x64 * hit).sum(-1)) * counts[:, 0]).sum(), rtol=1e-5, atol=1e-5)


def test_a_target_that_is_no_class_has_no_loss() -> None:
    x, target = drawn((3, 10), "float32"), np.array([3, 10, -1])
    losses = kernels.cross_entropy(x, target, reduction="none")
    assert np.isfinite(losses[0]) and np.isnan(losses[1:]).all()


OPERATIONS = {"rms_norm": ("weight",), "layer_norm": ("weight", "bias"), "softmax": (), "log_softmax": (), "swiglu": ()}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("columns", [96, 4096])
def test_every_recipe(operation: str, columns: int) -> None:
    """Not the chosen one alone: every way that is measured gives the same."""
    has, rows = OPERATIONS[operation], 3
    tensors = [drawn((rows, columns), "float32"), *(drawn((columns,), "float32", 1 + i) for i in range(len(has)))]
    if operation == "swiglu":
        tensors.append(drawn((rows, columns), "float32", 1))
    scalars = {"rms_norm": {"eps": 1e-6, "offset": 0.0}, "layer_norm": {"eps": 1e-5}}.get(operation, {})
    results = [kernel_of(name)(*tensors, **scalars) for name in _ptx.kernel_recipes(operation, "float32", rows, columns, 16, has)]
    assert len(results) > 3
    for result in results[1:]:
        assert np.allclose(result, results[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda x, w: kernels.rms_norm(x, w[:5]), PtxValueError, "`weight` has shape (5,)"),
        (lambda x, w: kernels.rms_norm(x, w.astype(np.float16)), PtxTypeError, "`weight` is float16 and `x` float32"),
        (lambda x, w: kernels.layer_norm(x, w, residual=x[:1]), PtxValueError, "`residual` has shape (1, 8)"),
        (lambda x, w: kernels.rms_norm(x.astype(np.float64)), PtxTypeError, "f32, f16 or bf16"),
        (lambda x, w: kernels.softmax(x, 0), PtxValueError, "what fits is the last one"),
        (lambda x, w: kernels.softmax(np.zeros((2, 262_145), np.float32)), PtxValueError, "1 to 262144"),
        (lambda x, w: kernels.softmax(np.zeros((2, 0), np.float32)), PtxValueError, "1 element or more"),
        (lambda x, w: kernels.swiglu(x, x[:1]), PtxValueError, "`up` has shape (1, 8)"),
        (lambda x, w: kernels.swiglu(x[:, :3]), PtxValueError, "an even number"),
        (lambda x, w: kernels.cross_entropy(x, np.zeros(3, np.int64)), PtxValueError, "a target of shape (2,)"),
        (lambda x, w: kernels.cross_entropy(x, np.zeros(2, np.int16)), PtxTypeError, "int64 or int32"),
        (lambda x, w: kernels.cross_entropy(x, np.zeros(2, np.int64), reduction="all"), PtxTypeError, "'mean', 'sum' or 'none'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(call: Callable[[Array, Array], Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=re.escape(says)):
        call(drawn((2, 8), "float32"), drawn((8,), "float32"))


def test_arrays_without_rows_give_none() -> None:
    assert kernels.softmax(np.zeros((0, 8), np.float32)).shape == (0, 8)
    assert kernels.swiglu(np.zeros((0, 8), np.float32)).shape == (0, 4)


def test_alignments() -> None:
    assert [alignment_of(n) for n in (64, 24, 6, 7)] == [16, 8, 2, 1]


def test_ptxas_keeps_everything_in_registers(ptxas: Callable[..., str]) -> None:
    """Of the recipes that are chosen: no spills, and as few registers as their blocks need."""
    for operation, has in OPERATIONS.items():
        for dtype, size in (("float32", 4), ("bfloat16", 2)):
            for rows, columns in ((256, 1024), (16384, 8192), (1024, 65536), (5, 65536)):
                name = _ptx.choose_kernel(operation, dtype, rows, columns, alignment_of(columns * size), has)
                log = ptxas(_ptx.kernel_module(name).text, "sm_90", "-v")
                assert "0 bytes spill stores, 0 bytes spill loads" in log, name


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    x, w = jax.numpy.asarray(drawn((2, 3, 96), "float32")), jax.numpy.asarray(drawn((96,), "float32", 1))
    y = jax.jit(lambda x, w: kernels.softmax(kernels.rms_norm(x, w)))(x, w)
    hold(np.asarray(y), softmax(rms_norm(np.asarray(x), np.asarray(w, np.float64))), "float32", floor=1e-6)

    def theirs(x: Any, w: Any, r: Any) -> Any:
        total = x + r
        y = total / jax.numpy.sqrt((total**2).mean(-1, keepdims=True) + 1e-6) * w
        z = (y - y.mean(-1, keepdims=True)) / jax.numpy.sqrt(y.var(-1, keepdims=True) + 1e-5) * w + w
        return (jax.nn.softmax(z) * jax.nn.silu(x) * r + jax.nn.log_softmax(total)).sum()

    def ours(x: Any, w: Any, r: Any) -> Any:
        y, total = kernels.rms_norm(x, w, residual=r)
        z = kernels.layer_norm(y, w, w)
        return (kernels.softmax(z) * kernels.swiglu(x, r) + kernels.log_softmax(total)).sum()

    r = jax.numpy.asarray(drawn((2, 3, 96), "float32", 2))
    for own, expected in zip(jax.grad(ours, (0, 1, 2))(x, w, r), jax.grad(theirs, (0, 1, 2))(x, w, r), strict=True):
        assert np.allclose(own, expected, rtol=1e-4, atol=1e-4)
    own = jax.jit(jax.grad(lambda x: (kernels.geglu(x) ** 2).sum()))(x)
    expected = jax.grad(lambda x: ((jax.nn.gelu(x[..., :48], approximate=True) * x[..., 48:]) ** 2).sum())(x)
    assert np.allclose(own, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_gradients_of_losses_with_jax(reduction: str) -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        x = jax.numpy.asarray(drawn((2, 3, 130), "float32"))
        target = jax.numpy.asarray([[5, -100, 129], [0, 64, 7]], "int64")

        def ours(x: Any, target: Any) -> Any:
            loss = kernels.cross_entropy(x, target, label_smoothing=0.1, reduction=reduction)
            return (loss * jax.numpy.arange(1.0, 1.0 + loss.size).reshape(loss.shape)).sum()

        def theirs(x: Any, target: Any) -> Any:
            logs, counts = jax.nn.log_softmax(x), target != -100
            right = jax.numpy.take_along_axis(logs, jax.numpy.where(counts, target, 0)[..., None], -1)[..., 0]
            losses = -jax.numpy.where(counts, 0.9 * right + 0.1 * logs.mean(-1), 0)
            loss = losses if reduction == "none" else losses.sum() / (counts.sum() if reduction == "mean" else 1)
            return (loss * jax.numpy.arange(1.0, 1.0 + loss.size).reshape(loss.shape)).sum()

        expected = jax.grad(theirs)(x, target)
        assert np.allclose(jax.grad(ours)(x, target), expected, rtol=1e-4, atol=1e-5)
        assert np.allclose(jax.jit(jax.grad(ours))(x, target), expected, rtol=1e-4, atol=1e-5)
        if reduction != "mean":
            batched = jax.vmap(jax.grad(lambda x, t: kernels.cross_entropy(x, t, reduction="sum")))(x, target)
            each = [
                jax.grad(lambda x, t: kernels.cross_entropy(x, t, reduction="sum"))(*pair) for pair in zip(x, target, strict=True)
            ]
            assert np.allclose(batched, np.stack(each), rtol=1e-5, atol=1e-6)


def test_arrays_that_lie_apart() -> None:
    wide, w = drawn((12, 80), "float32"), drawn((40,), "float32", 1)
    for x in (
        wide[:, :40],
        wide[::2, 40:],
        wide[::-1, :40],
        wide[:, 79:39:-1],
        wide.T[:, :3],
        np.broadcast_to(wide[:1, :40], (6, 40)),
    ):
        whole = x.copy()
        weight = w if x.shape[1] == 40 else w[: x.shape[1]]
        for own in (kernels.softmax, lambda x, weight=weight: kernels.rms_norm(x, weight), lambda x: kernels.swiglu(x, x)):
            np.testing.assert_array_equal(own(x), own(whole))
