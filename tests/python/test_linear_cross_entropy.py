"""`linear_cross_entropy` on the executor, with all checks on, against float64: numpy, torch, JAX; what lies in place."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyptx import PtxTypeError, PtxValueError, executor, kernels
from pyptx.kernels._linear import LOGITS, rows_of_chunk
from pyptx.kernels._products import product_of

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    with executor.checking() as findings:
        yield
    assert not findings


def drawn(shape: tuple[int, ...], dtype: Any = BF16, seed: int = 0, scale: float = 1.0) -> Array:
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(dtype)


def losses_of(z: Array, target: Array, smoothing: float = 0.0, z_loss: float = 0.0) -> Array:
    with np.errstate(all="ignore"):
        most = z.max(-1)
        lse = most + np.log(np.exp(z - most[:, None]).sum(-1))
    right = z[np.arange(len(z)), np.clip(target, 0, z.shape[1] - 1)]
    found: Array = np.where(target != -100, lse - (1 - smoothing) * right - smoothing * z.mean(-1) + z_loss * lse**2, 0)
    return found


def gradient_of(z: Array, target: Array, smoothing: float = 0.0, z_loss: float = 0.0) -> Array:
    e = np.exp(z - z.max(-1, keepdims=True))
    lse = z.max(-1, keepdims=True) + np.log(e.sum(-1, keepdims=True))
    hit = np.eye(z.shape[1])[np.clip(target, 0, z.shape[1] - 1)]
    found = (1 + 2 * z_loss * lse) * e / e.sum(-1, keepdims=True) - (1 - smoothing) * hit - smoothing / z.shape[1]
    result: Array = found * (target != -100)[:, None]
    return result


# -- the kernels of which it is made


@pytest.mark.parametrize("int32", [False, True], ids=["int64", "int32"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("columns", [1, 7, 64, 1000, 4097, 20000])
def test_gradients_in_place_of_the_logits(columns: int, dtype: str, int32: bool) -> None:
    kind, tolerance = np.dtype(getattr(ml_dtypes, dtype, dtype)), {"float32": 1e-5, "float16": 2e-3, "bfloat16": 8e-3}[dtype]
    x, target = drawn((6, columns), kind, scale=3), np.random.default_rng(1).integers(0, columns, 6)
    target[2] = -100
    target = target.astype(np.int32) if int32 else target
    z = x.astype(np.float64)
    from pyptx.kernels._loss import Loss
    from pyptx.kernels._runs import run_losses

    losses, gradient = run_losses(Loss(-100, 0.1, 1e-2), x, target, np.linspace(0.5, 1, 6, dtype=np.float32), True)
    assert gradient is x
    assert np.allclose(losses, losses_of(z, target, 0.1, 1e-2), rtol=1e-4, atol=1e-4)
    expected = gradient_of(z, target, 0.1, 1e-2) * np.linspace(0.5, 1, 6)[:, None]
    assert np.abs(gradient.astype(np.float64) - expected).max() <= tolerance * max(np.abs(expected).max(), 1e-3)
    assert (gradient[2] == 0).all()


def test_extreme_logits() -> None:
    inf, nan, most = np.inf, np.nan, np.finfo(np.float32).max
    x = np.array([[-inf, 0, -inf, 1], [-inf, -inf, -inf, -inf], [nan, 0, 1, 2], [inf, 0, 1, 2], [most, -most, 0, most],
                  [-most, -most, -most, -most], [nan, nan, nan, nan], [1e4, 1e4 + 1, 0, 0]], np.float32)  # fmt: skip
    target = np.array([3, 0, 1, 1, 0, 2, -100, 1])
    for dtype in (np.dtype("float32"), BF16):
        logits = np.clip(x, *(s * float(ml_dtypes.finfo(dtype).max) for s in (-1, 1))).astype(dtype)
        logits[np.isinf(x)] = x[np.isinf(x)]
        losses, gradient = kernels.cross_entropy_and_gradient(logits, target, reduction="none")
        assert np.allclose(losses[[0, 4, 5, 6]], [np.log1p(np.exp(-1)), np.log(2), np.log(4), 0], rtol=1e-5)
        assert np.isnan(losses[1:4]).all()
        wide = gradient.astype(np.float32)
        assert np.allclose(wide[0], [0, 0.2689, 0, -0.2689], atol=2e-3) and np.allclose(wide[4], [-0.5, 0, 0, 0.5])
        assert np.allclose(wide[5], [0.25, 0.25, -0.75, 0.25]) and (wide[6] == 0).all()
        assert np.isnan(wide[2:4]).any(-1).all()


@pytest.mark.parametrize(("m", "n", "k"), [(70, 96, 40), (130, 257, 72), (5, 33, 1), (64, 24, 200)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_that_are_added_in_f32(m: int, n: int, k: int, dtype: str) -> None:
    """Where an f32 result lies, and to a result of 16 bits."""
    from pyptx.kernels._product_runs import product
    from pyptx.kernels._products import shape_of

    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    for layout in ("nn", "tn", "nt"):
        a = drawn((k, m), kind).T if layout[0] == "t" else drawn((m, k), kind)
        b = drawn((n, k), kind, 1).T if layout[1] == "t" else drawn((k, n), kind, 1)
        sums = drawn((m, n), np.float32, 2)
        expected = a.astype(np.float64) @ b.astype(np.float64) + sums
        rounded = product(shape_of(a.shape, b.shape), a, b, None, None, sums, dtype)
        assert rounded.dtype == kind and np.abs(rounded.astype(np.float64) - expected).max() < 2e-2 * np.abs(expected).max()
        found = product(shape_of(a.shape, b.shape), a, b, None, None, sums, "float32")
        assert np.shares_memory(found, sums) and np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


# -- the whole


@pytest.mark.parametrize("chunk", [None, 16, 1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_of_numpy_arrays(reduction: str, chunk: int | None) -> None:
    x, weight, bias = drawn((3, 11, 72)), drawn((133, 72), seed=1, scale=0.2), drawn((133,), seed=2)
    target = np.random.default_rng(3).integers(0, 133, (3, 11))
    target[1, 4] = -100
    z = (x.reshape(33, 72).astype(np.float64) @ weight.astype(np.float64).T + bias.astype(np.float64)).astype(BF16)
    each = losses_of(z.astype(np.float64), target.reshape(-1), 0.1, 1e-3)
    expected = {"mean": each.sum() / 32, "sum": each.sum(), "none": each.reshape(3, 11)}[reduction]
    own = kernels.linear_cross_entropy(
        x, weight, target, bias=bias, chunk=chunk, label_smoothing=0.1, z_loss=1e-3, reduction=reduction
    )
    assert own.dtype == np.float32 and np.allclose(own, expected, rtol=1e-2, atol=2e-2)


CASES = [
    ("bfloat16", 100, 64, 200, None, {}),
    ("bfloat16", 100, 64, 200, 48, {"label_smoothing": 0.1, "z_loss": 1e-2}),
    ("bfloat16", 33, 40, 131, 16, {}),  # an odd number of classes, a last chunk of one row
    ("float16", 70, 40, 136, 32, {"ignore_index": 7}),
]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[4]}")
def test_gradients_of_torch_tensors(case: Any, reduction: str, compiled: bool) -> None:
    torch: Any = pytest.importorskip("torch")
    dtype, rows, k, classes, chunk, options = case
    torch.manual_seed(0)
    torch._dynamo.reset()
    x, w, b = torch.randn(rows, k), torch.randn(classes, k) / 8, torch.randn(classes)
    own_inputs = [each.to(getattr(torch, dtype)).requires_grad_() for each in (x, w, b)]
    inputs = [each.detach().double().requires_grad_() for each in own_inputs]
    target, g = torch.randint(0, classes, (rows,)), torch.rand(rows)
    target[1] = options.get("ignore_index", -100)

    function = kernels.linear_cross_entropy
    if compiled:
        function = torch.compile(function, fullgraph=True, backend="aot_eager")
    loss = function(own_inputs[0], own_inputs[1], target, bias=own_inputs[2], chunk=chunk, reduction=reduction, **options)
    own = torch.autograd.grad((loss * g).sum() if reduction == "none" else loss * 1.5, own_inputs)

    options = dict(options)
    z, z_loss = torch.nn.functional.linear(*inputs), options.pop("z_loss", 0.0)
    each = torch.nn.functional.cross_entropy(z, target, reduction="none", **options)
    counts = target != options.get("ignore_index", -100)
    each = each + z_loss * z.logsumexp(-1).square() * counts
    expected = {"none": each, "sum": each.sum(), "mean": each.sum() / counts.sum()}[reduction]
    assert loss.dtype == torch.float32 and torch.allclose(loss.double(), expected, rtol=1e-2, atol=1e-2)
    wanted = torch.autograd.grad((expected * g).sum() if reduction == "none" else expected * 1.5, inputs)
    for mine, theirs in zip(own, wanted, strict=True):
        assert mine.dtype == own_inputs[0].dtype
        assert float((mine.double() - theirs).abs().max() / theirs.abs().max()) < (2e-3 if dtype == "float16" else 1.2e-2)


def test_torch_gives_what_is_asked_for_alone() -> None:
    """A frozen weight, no row that counts, no rows, a second backward."""
    torch: Any = pytest.importorskip("torch")
    x, w = torch.randn(20, 32).bfloat16().requires_grad_(), torch.randn(48, 32).bfloat16()
    target = torch.randint(0, 48, (20,))
    loss = kernels.linear_cross_entropy(x, w, target, chunk=8)
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    loss.backward(torch.tensor(2.0))
    assert w.grad is None and torch.allclose(x.grad.float(), 3 * first.float(), rtol=2e-2)
    w.requires_grad_()
    loss = kernels.linear_cross_entropy(x, w, torch.full((20,), -100), reduction="sum")
    x.grad = None
    loss.backward()
    assert float(loss.detach()) == 0 and not x.grad.any() and not w.grad.any()
    with torch.no_grad():
        each = kernels.linear_cross_entropy(x, w, target.int(), reduction="none")
    assert torch.equal(each, kernels.linear_cross_entropy(x, w, target, reduction="none").detach())


def test_one_graph_serves_every_number_of_rows_up_to_a_chunk() -> None:
    torch: Any = pytest.importorskip("torch")
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(kernels.linear_cross_entropy, fullgraph=True, dynamic=True, backend="aot_eager")
    w = torch.randn(64, 32).bfloat16().requires_grad_()
    for rows in (20, 37, 61):
        x, target = torch.randn(rows, 32).bfloat16(), torch.randint(0, 64, (rows,))
        own, expected = compiled(x, w, target), kernels.linear_cross_entropy(x, w, target)
        assert torch.allclose(own, expected, rtol=1e-3)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_gradients_of_jax_arrays(reduction: str) -> None:
    """With int32 targets, as JAX has them."""
    jax = pytest.importorskip("jax")
    x, w, b = (jax.numpy.asarray(drawn(s, seed=i, scale=0.5)) for i, s in enumerate([(2, 20, 40), (72, 40), (72,)]))
    target = jax.numpy.asarray(np.random.default_rng(0).integers(0, 72, (2, 20)), "int32").at[0, 3].set(-100)
    factors = jax.numpy.asarray(np.random.default_rng(1).random((2, 20)), "float32")

    def of(loss: Any) -> Any:
        return (loss * factors).sum() if reduction == "none" else loss * 1.5

    def ours(x: Any, w: Any, b: Any) -> Any:
        return of(
            kernels.linear_cross_entropy(x, w, target, bias=b, chunk=16, label_smoothing=0.1, z_loss=1e-3, reduction=reduction)
        )

    def theirs(x: Any, w: Any, b: Any) -> Any:
        z = x.astype("float32") @ w.astype("float32").T + b.astype("float32")
        logs, counts = jax.nn.log_softmax(z), target != -100
        right = jax.numpy.take_along_axis(logs, jax.numpy.where(counts, target, 0)[..., None], -1)[..., 0]
        losses = -(0.9 * right + 0.1 * logs.mean(-1)) + 1e-3 * jax.nn.logsumexp(z, -1) ** 2
        losses = jax.numpy.where(counts, losses, 0)
        return of(losses if reduction == "none" else losses.sum() / (counts.sum() if reduction == "mean" else 1))

    assert np.allclose(ours(x, w, b), theirs(x, w, b), rtol=1e-2)
    expected = jax.grad(theirs, (0, 1, 2))(x, w, b)
    for own in (jax.grad(ours, (0, 1, 2))(x, w, b), jax.jit(jax.grad(ours, (0, 1, 2)))(x, w, b)):
        for mine, theirs_ in zip(own, expected, strict=True):
            mine64, other = np.asarray(mine, np.float64), np.asarray(theirs_, np.float64)
            assert mine.dtype == BF16 and np.abs(mine64 - other).max() < 1.5e-2 * np.abs(other).max()


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda x, w, t: kernels.linear_cross_entropy(x, w[:, :4], t), PtxValueError, "a weight of shape [classes, 8]"),
        (lambda x, w, t: kernels.linear_cross_entropy(x, w, t[:2]), PtxValueError, "a class for each row"),
        (lambda x, w, t: kernels.linear_cross_entropy(x, w, t, bias=w[0]), PtxValueError, "a bias of shape (16,)"),
        (lambda x, w, t: kernels.linear_cross_entropy(x, w, t, chunk=0), PtxTypeError, "1 row or more"),
        (lambda x, w, t: kernels.linear_cross_entropy(x, w.astype(np.float16), t), PtxTypeError, "`weight` is float16"),
        (lambda x, w, t: kernels.linear_cross_entropy(x.astype(np.float32), w, t), PtxTypeError, "float16 or bfloat16"),
        (lambda x, w, t: kernels.linear_cross_entropy(x, w, t.astype(np.int16)), PtxTypeError, "int64 or int32"),
        (lambda x, w, t: kernels.linear_cross_entropy(x, w, t, reduction="all"), PtxTypeError, "'mean', 'sum' or 'none'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(call: Callable[[Array, Array, Array], Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=re.escape(says)):
        call(drawn((4, 8)), drawn((16, 8)), np.zeros(4, np.int64))


def test_chunks() -> None:
    assert rows_of_chunk(128_256, None) * 128_256 * 2 <= LOGITS < (rows_of_chunk(128_256, None) + 256) * 128_256 * 2
    assert rows_of_chunk(1 << 24, None) == 256 and rows_of_chunk(8, 3) == 3


def test_ptxas_keeps_the_kernels_in_registers(ptxas: Callable[..., str]) -> None:
    from pyptx import _ptx

    for columns in (4096, 50_264, 128_256, 201_088):
        for has in (("gradient",), ("gradient", "in_place", "int32"), ()):
            name = _ptx.choose_kernel("cross_entropy", "bfloat16", 4096, columns, 16, has)
            log = ptxas(_ptx.kernel_module(name).text, "sm_90", "-v")
            assert "0 bytes spill stores, 0 bytes spill loads" in log, name
    for out in ("float32", "bfloat16"):
        name = _ptx.choose_product("bfloat16", out, (128_256, 4096, 4096, 1), ("a_transposed", "residual", "wide"))
        assert product_of(name).__name__ == name
        log = ptxas(_ptx.kernel_module(name).text, "sm_90a", "-v")
        assert "0 bytes spill stores, 0 bytes spill loads" in log and "C75" not in log, name
