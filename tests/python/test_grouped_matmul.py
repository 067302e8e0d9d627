"""Products of rows in groups, on the executor with all checks on, against float64; with numpy arrays and torch tensors."""

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyptx import PtxTypeError, PtxValueError, executor, kernels
from pyptx.kernels._products import Shape, product_of, sizes_of_product

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    with executor.checking() as findings:
        yield
    assert not findings


def drawn(shape: tuple[int, ...], seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(BF16)


def expected(a: Array, b: Array, offsets: Array) -> Array:
    result = np.zeros((offsets[-1], b.shape[2]))
    for group, end in enumerate(offsets):
        begin = offsets[group - 1] if group else 0
        result[begin:end] = a[begin:end].astype(np.float64) @ b[group].astype(np.float64)
    return result


def hold(result: Array, wanted: Array) -> None:
    assert float(np.abs(result[: len(wanted)].astype(np.float64) - wanted).max()) < 8e-3 * float(np.abs(wanted).max())


SIZES = {
    "one": [37], "ragged": [5, 0, 130, 64, 1], "empty": [0, 0, 7, 0], "many": [i % 4 for i in range(70)], "equal": [64, 64, 64],
}  # fmt: skip


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_means_what_float64_does(sizes: str, transposed: bool) -> None:
    offsets = np.cumsum(SIZES[sizes], dtype=np.int32)
    a, b = drawn((int(offsets[-1]), 72)), drawn((len(offsets), 72, 136), 1)
    given = np.ascontiguousarray(b.swapaxes(1, 2)).swapaxes(1, 2) if transposed else b
    hold(kernels.grouped_matmul(a, given, offsets), expected(a, b, offsets))


@pytest.mark.parametrize(
    "geometry",
    ["m128_n256_s4_d1_x1_k1_boxes", "m64_n64_s3_d1_x1_k1_boxes", "m192_n80_s2_d1_x1_k1_boxes", "m64_n96_s4_d1_x1_k1_pairs",
     "m128_n16_s8_d1_x1_k1_pairs_swapped", "m64_n64_s4_d1_x1_k1_singles_swapped", "m128_n64_s3_d2_x1_k1_boxes",
     "m64_n48_s4_d1_x2_k1_pairs", "m64_n64_s3_d2_x2_k1_boxes", "m128_n64_s4_d2_x1_k1_boxes_pingpong"],
)  # fmt: skip
def test_each_class_of_recipes(geometry: str) -> None:
    *place, last = geometry.split("_")
    words = f"nt_{last}" if last in ("swapped", "pingpong") else f"{last}_nt"
    kernel = product_of(f"matmul__bf16_bf16_{'_'.join(place)}_{words}_grouped_relu")
    counts = [3, 0, 129, 64, 0, 200, *[i % 3 for i in range(40)]]
    offsets = np.cumsum(counts, dtype=np.int32)
    m, n, k, groups = int(offsets[-1]) + 5, 200, 264, len(counts)
    a, b = drawn((m, k)), drawn((groups, n, k), 1)
    result = kernel(a, b, offsets, **sizes_of_product(kernel, Shape(m, n, k, groups, False, (m, n))))
    hold(result, np.maximum(expected(a, b.swapaxes(1, 2), offsets), 0))
    resources = kernel.resources()
    assert resources["spill_stores"] == resources["spill_loads"] == 0


def test_ends_that_make_no_sense_harm_nothing() -> None:
    a, b = drawn((40, 64)), drawn((4, 64, 32), 1)
    for ends in ([10, 5, 5, 5], [50, 60, 70, 80], [0, -1, -1, -1]):
        kernels.grouped_matmul(a, b, np.array(ends, dtype=np.int32))


def test_odd_sizes() -> None:
    offsets = np.array([3, 20], dtype=np.int32)
    for n, k in ((33, 64), (64, 33), (31, 7)):
        a, b = drawn((20, k)), drawn((2, k, n), 1)
        hold(kernels.grouped_matmul(a, b, offsets, activation="relu"), np.maximum(expected(a, b, offsets), 0))


def test_torch_means_the_same() -> None:
    torch: Any = pytest.importorskip("torch")
    torch.manual_seed(0)
    offsets = torch.tensor([5, 5, 70, 90], dtype=torch.int32)
    a, w = torch.randn(90, 64).bfloat16(), torch.randn(4, 48, 64).bfloat16()
    wanted = expected(a.float().numpy().astype(BF16), w.mT.float().numpy().astype(BF16), offsets.numpy())
    for _ in range(2):
        hold(kernels.grouped_matmul(a, w.mT, offsets).float().numpy(), wanted)
        hold(kernels.grouped_matmul(a, w.mT.contiguous(), offsets, out_dtype=torch.float32).numpy(), wanted)
    compiled = torch.compile(lambda a, w, offsets: kernels.grouped_matmul(a, w.mT, offsets), fullgraph=True)
    hold(compiled(a, w, offsets).float().numpy(), wanted)


def gradients(a: Array, b: Array, dy: Array, offsets: Array) -> tuple[Array, Array]:
    """Of a and b, in float64; rows behind the last end count for nothing."""
    da, db, begin = np.zeros(a.shape), np.zeros(b.shape), 0
    for group, end in enumerate(offsets):
        da[begin:end] = dy[begin:end].astype(np.float64) @ b[group].astype(np.float64).T
        db[group] = a[begin:end].astype(np.float64).T @ dy[begin:end].astype(np.float64)
        begin = end
    return da, db


@pytest.mark.parametrize("geometry", ["m64_n64_s2_d1_x1_k1_boxes", "m128_n256_s3_d1_x1_k1_boxes", "m192_n80_s3_d1_x1_k1_pairs",
                                      "m64_n48_s4_d1_x1_k1_singles"])  # fmt: skip
@pytest.mark.parametrize("sizes", SIZES)
def test_gradients_of_the_matrices(sizes: str, geometry: str) -> None:
    kernel = product_of(f"matmul__bf16_bf16_{geometry}_tn_ragged")
    offsets = np.cumsum(SIZES[sizes], dtype=np.int32)
    rows, m, n = int(offsets[-1]) + 3, 136, 72
    a, dy = drawn((rows, m)), drawn((rows, n), 1)
    a[offsets[-1] :] = dy[offsets[-1] :] = np.nan  # rows of no group
    result = kernel(a, dy, offsets, **sizes_of_product(kernel, Shape(m, n, rows, len(offsets), True, ())))
    wanted = gradients(a, np.zeros((len(offsets), m, n)), dy, offsets)[1]
    assert float(np.abs(result.astype(np.float64) - wanted).max()) < 8e-3 * float(np.abs(wanted).max())
    resources = kernel.resources()
    assert resources["spill_stores"] == resources["spill_loads"] == 0


@pytest.mark.parametrize("k", [64, 36])
def test_torch_differentiates(k: int) -> None:
    torch: Any = pytest.importorskip("torch")
    torch.manual_seed(0)
    offsets = torch.tensor([5, 5, 70, 90], dtype=torch.int32)
    a, w, dy = torch.randn(93, k).bfloat16(), torch.randn(4, 48, k).bfloat16(), torch.randn(93, 48).bfloat16()
    as_numpy = [x.float().numpy().astype(BF16) for x in (a, w.mT, dy)]
    wanted = gradients(*as_numpy, offsets.numpy())
    for function in (kernels.grouped_matmul, torch.compile(kernels.grouped_matmul, fullgraph=True)):
        a.requires_grad_(), w.requires_grad_()
        da, dw = torch.autograd.grad(function(a, w.mT, offsets), (a, w), dy)
        hold(da.float().numpy(), wanted[0])
        hold(dw.mT.float().numpy(), wanted[1])
    positive = kernels.grouped_matmul(a, w.mT, offsets, activation="relu")
    of_relu = np.where(expected(*as_numpy[:2], offsets.numpy()) > 0, as_numpy[2][:90].astype(np.float64), 0).astype(BF16)
    (dw,) = torch.autograd.grad(positive[:90], w, dy[:90])
    hold(dw.mT.float().numpy(), gradients(as_numpy[0][:90], as_numpy[1], of_relu, offsets.numpy())[1])


def test_jax_differentiates() -> None:
    jax: Any = pytest.importorskip("jax")
    offsets = np.array([5, 5, 70, 90], np.int32)
    a, b, dy = drawn((93, 64)), drawn((4, 64, 48), 1), drawn((93, 48), 2)
    wanted = gradients(a, b, dy, offsets)
    _, back = jax.vjp(lambda a, b: kernels.grouped_matmul(a, b, jax.numpy.asarray(offsets)), *map(jax.numpy.asarray, (a, b)))
    da, db = back(jax.numpy.asarray(dy))
    hold(np.asarray(da), wanted[0])
    hold(np.asarray(db), wanted[1])


def test_says_what_fits() -> None:
    a, b, offsets = drawn((4, 16)), drawn((2, 16, 8)), np.array([2, 4], np.int32)
    with pytest.raises(PtxValueError, match=r"weights \[G, N, K\]"):
        kernels.grouped_matmul(a, b.swapaxes(1, 2), offsets)
    with pytest.raises(PtxTypeError, match="int32"):
        kernels.grouped_matmul(a, b, offsets.astype(np.int64))
    with pytest.raises(PtxTypeError, match="one element type"):
        kernels.grouped_matmul(a, b.astype(np.float16), offsets)
    with pytest.raises(PtxTypeError, match="relu"):
        kernels.grouped_matmul(a, b, offsets, activation="tanh")
