"""Products of 8-bit floats with scales, on the executor with all checks on, against float64."""

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyptx import PtxTypeError, PtxValueError, executor, kernels
from pyptx.kernels._products import Shape, product_of, sizes_of_product

Array = np.ndarray[Any, Any]
FLOAT8 = np.dtype(ml_dtypes.float8_e4m3fn)


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    with executor.checking() as findings:
        yield
    assert not findings


def drawn(shape: tuple[int, ...], seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(FLOAT8)


def scales(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).uniform(0.5, 2, size=shape).astype(np.float32)


def scale_shapes(kind: str, m: int, n: int, k: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    blocks = -(-k // 128)
    return {"tensorwise": ((), (1,)), "rowwise": ((m, 1), (1, n)), "blockwise": ((m, blocks), (blocks, -(-n // 128)))}[kind]


def expected(kind: str, a: Array, b: Array, scale_a: Array, scale_b: Array) -> Any:
    """Each scale spread over what it is of."""
    (_, k), n = a.shape, b.shape[1]
    if kind == "blockwise":
        scale_a = np.repeat(scale_a, 128, axis=1)[:, :k]
        scale_b = np.repeat(np.repeat(scale_b, 128, axis=0)[:k], 128, axis=1)[:, :n]
    return (a.astype(np.float64) * scale_a) @ (b.astype(np.float64) * scale_b)


def hold(result: Array, wanted: Array, tolerance: float) -> None:
    assert result.shape == wanted.shape
    assert float(np.abs(result.astype(np.float64) - wanted).max()) < tolerance * float(np.abs(wanted).max())


@pytest.mark.parametrize("kind", ["tensorwise", "rowwise", "blockwise"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 64, 128), (9, 136, 400), (130, 257, 272), (200, 128, 33)])
def test_means_what_float64_does(m: int, n: int, k: int, kind: str) -> None:
    a, b = drawn((m, k)), drawn((n, k), 1).T
    shape_a, shape_b = scale_shapes(kind, m, n, k)
    scale_a, scale_b = scales(shape_a, 2), scales(shape_b, 3)
    wanted = expected(kind, a, b, scale_a, scale_b)
    hold(kernels.scaled_matmul(a, b, scale_a, scale_b), wanted, 8e-3)
    hold(kernels.scaled_matmul(a, np.ascontiguousarray(b), scale_a, scale_b, out_dtype="float32"), wanted, 2e-3)
    hold(kernels.scaled_matmul(a, b, scale_a, scale_b, out_dtype="float32", fast_accumulation=False), wanted, 2e-3)


CLASSES = [
    ("m128_n256_s4_d2_x1_k1_boxes", "rowwise", ""), ("m64_n64_s4_d1_x1_k4_pairs", "tensorwise", ""),
    ("m128_n16_s8_d1_x1_k4_pairs", "rowwise", "swapped_"), ("m128_n128_s4_d2_x1_k1_boxes", "blockwise", "promoted_"),
    ("m192_n64_s3_d1_x2_k1_boxes", "blockwise", "promoted_"), ("m128_n128_s4_d1_x1_k1_boxes", "rowwise", "promoted_"),
    ("m128_n256_s3_d1_x2_k1_boxes", "blockwise", "promoted_"), ("m128_n176_s3_d1_x1_k1_boxes", "tensorwise", "promoted_"),
    ("m64_n64_s3_d1_x1_k4_pairs", "blockwise", "promoted_"), ("m128_n32_s3_d1_x1_k2_pairs", "blockwise", "swapped_promoted_"),
    ("m64_n16_s4_d1_x1_k1_pairs", "blockwise", "swapped_promoted_"),
    ("m128_n256_s3_d2_x1_k1_boxes", "blockwise", "promoted_columnscales_"),
    ("m192_n64_s3_d1_x2_k1_boxes", "blockwise", "promoted_columnscales_"),
    ("m64_n64_s3_d1_x1_k4_pairs", "blockwise", "promoted_columnscales_"),
    ("m128_n32_s3_d1_x1_k2_pairs", "blockwise", "swapped_promoted_columnscales_"),
    ("m64_n40_s4_d1_x2_k1_pairs", "blockwise", "swapped_promoted_columnscales_"),
]  # fmt: skip


@pytest.mark.parametrize(("geometry", "kind", "words"), CLASSES)
def test_each_class_of_recipes(geometry: str, kind: str, words: str) -> None:
    m, n, k = 296, 200, 1168
    kernel = product_of(f"matmul__e4m3_bf16_{geometry}_nt_{words}bias_residual_{kind}_relu")
    a, b = drawn((m, k)), drawn((n, k), 1)
    shape_a, shape_b = scale_shapes(kind, m, n, k)
    scale_a, scale_b = scales(shape_a, 2), scales(shape_b, 3)
    side = [np.random.default_rng(i).normal(size=s).astype(ml_dtypes.bfloat16) for i, s in enumerate(((n,), (m, n)))]
    sizes = sizes_of_product(kernel, Shape(m, n, k, 1, False, (m, n)))
    given = [np.ascontiguousarray(scale_a.T if "columnscales" in words else scale_a), np.ascontiguousarray(scale_b.T)]
    if kind != "blockwise":
        given = [x.reshape(-1) for x in given]
    result = kernel(a, b, *given, *side, **sizes)
    x = expected(kind, a, b.T, scale_a, scale_b) + side[0].astype(np.float64)
    hold(result, np.maximum(x, 0) + side[1].astype(np.float64), 8e-3)
    resources = kernel.resources()
    assert resources["spill_stores"] == resources["spill_loads"] == 0


@pytest.mark.parametrize(("m", "copied"), [(8, False), (132, False), (6, True)])
def test_scales_of_blocks_are_read_where_torch_has_them(m: int, copied: bool) -> None:
    torch: Any = pytest.importorskip("torch")
    torch.manual_seed(0)
    n, k = 136, 400
    a, w = torch.randn(m, k).to(torch.float8_e4m3fn), torch.randn(n, k).to(torch.float8_e4m3fn)
    scale_a, scale_b = (torch.rand(-(-k // 128), m) + 0.5).mT, (torch.rand(-(-n // 128), -(-k // 128)) + 0.5).mT
    as_numpy = [x.float().numpy().astype(FLOAT8) for x in (a, w)]
    wanted = expected("blockwise", as_numpy[0], as_numpy[1].T, scale_a.numpy(), scale_b.numpy())
    hold(kernels.scaled_matmul(a, w.mT, scale_a, scale_b).float().numpy(), wanted, 8e-3)
    hold(kernels.scaled_matmul(as_numpy[0], as_numpy[1].T, scale_a.numpy(), scale_b.numpy()), wanted, 8e-3)
    (taken,) = kernels.explain(kernels.scaled_matmul, a, w.mT, scale_a, scale_b)
    assert ("columnscales" not in taken.recipe) == copied


def test_torch_means_the_same() -> None:
    torch: Any = pytest.importorskip("torch")
    torch.manual_seed(0)
    m, n, k = 33, 136, 272
    a, w = torch.randn(m, k).to(torch.float8_e4m3fn), torch.randn(n, k).to(torch.float8_e4m3fn)
    for kind in ("tensorwise", "rowwise", "blockwise"):
        shape_a, shape_b = scale_shapes(kind, m, n, k)
        scale_a, scale_b = torch.rand(shape_a) + 0.5, torch.rand(shape_b) + 0.5
        as_numpy = [x.float().numpy().astype(FLOAT8) for x in (a, w)]
        wanted = expected(kind, as_numpy[0], as_numpy[1].T, scale_a.numpy(), scale_b.numpy())
        for _ in range(2):
            result = kernels.scaled_matmul(a, w.mT, scale_a, scale_b)
            assert result.dtype == torch.bfloat16
            hold(result.float().numpy(), wanted, 8e-3)
        bias = torch.randn(n, dtype=torch.float16)
        result = kernels.scaled_matmul(a, w.mT, scale_a, scale_b, bias=bias, out_dtype=torch.float16, activation="relu")
        hold(result.float().numpy(), np.maximum(wanted + bias.double().numpy(), 0), 2e-3)
    compiled = torch.compile(lambda a, s, t: kernels.scaled_matmul(a, w.mT, s, t), fullgraph=True)
    hold(compiled(a, scale_a, scale_b).float().numpy(), wanted, 8e-3)


def test_says_what_fits() -> None:
    a, b, one = drawn((4, 256)), drawn((256, 8)), np.ones((), np.float32)
    wrong: list[tuple[type[Exception], str, Any]] = [
        (PtxTypeError, "float8_e4m3fn", lambda: kernels.scaled_matmul(a.astype(np.float32), b, one, one)),
        (PtxTypeError, "what fits is float32", lambda: kernels.scaled_matmul(a, b, one.astype(np.float64), one)),
        (PtxValueError, "one number each", lambda: kernels.scaled_matmul(a, b, np.ones((3, 1), np.float32), one)),
        (PtxValueError, "two dimensions", lambda: kernels.scaled_matmul(drawn((2, 4, 256)), drawn((2, 256, 8)), one, one)),
    ]
    for kind, text, call in wrong:
        with pytest.raises(kind, match=text):
            call()


def test_torch_differentiates_what_has_more_bits() -> None:
    torch: Any = pytest.importorskip("torch")
    torch.manual_seed(0)
    a, w = (torch.randn(rows, 32).to(torch.float8_e4m3fn) for rows in (24, 16))
    bias, residual = torch.randn(16).bfloat16(), torch.randn(24, 16).bfloat16()
    for shapes in (((), ()), ((24, 1), (1, 16)), ((1,), (16,))):
        scale_a, scale_b = (torch.rand(shape) + 0.5 for shape in shapes)
        beside = [x.requires_grad_() for x in (scale_a, scale_b, bias, residual)]
        own = kernels.scaled_matmul(a, w.mT, scale_a, scale_b, bias=bias, residual=residual, activation="silu")
        sums = (a.double() * scale_a.double()) @ (w.mT.double() * scale_b.double())
        wanted = torch.nn.functional.silu(sums + bias.double()) + residual.double()
        hold(own.detach().float().numpy(), wanted.detach().numpy(), 8e-3)
        dy = torch.randn(24, 16)
        expected_gradients = torch.autograd.grad(wanted, beside, dy.double())
        for one, other in zip(torch.autograd.grad(own, beside, dy.bfloat16()), expected_gradients, strict=True):
            assert one.dtype in (torch.float32, torch.bfloat16) and one.shape == other.shape
            assert float((one.double() - other.double()).abs().max()) < 2e-2 * float(other.abs().max())
    with pytest.raises(Exception, match="no backward"):
        kernels.scaled_matmul(a.requires_grad_(), w.mT, torch.ones(()), torch.ones(()))
    a, w = (torch.randn(rows, 256).to(torch.float8_e4m3fn) for rows in (24, 16))
    with pytest.raises(Exception, match="the scales of blocks"):
        kernels.scaled_matmul(a, w.mT, torch.ones(24, 2).requires_grad_(), torch.ones(2, 1))
