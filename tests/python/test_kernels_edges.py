"""The library's functions at their edges: nothing to add up, vectors and rows that lie apart, memory in common, odd arguments."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx.kernels as K
from pyptx import PtxError

torch = pytest.importorskip("torch")
functional = torch.nn.functional


def test_losses_of_logits_and_targets_that_lie_apart() -> None:
    torch.manual_seed(3)
    apart, dense, target = torch.randn(5, 24)[:, :9], torch.randn(5, 9), torch.arange(10)[::2] % 9
    for logits in (apart, dense):
        for classes in (target, torch.tensor(3).expand(5)):
            torch.testing.assert_close(K.cross_entropy(logits, classes), functional.cross_entropy(logits, classes))
            ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
            K.cross_entropy(ours, classes).backward()
            functional.cross_entropy(theirs, classes).backward()
            torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.parametrize("m, n, k", [(4, 8, 0), (4, 0, 8), (0, 8, 4), (3, 0, 0)])
@pytest.mark.parametrize("outer", [(), (2,)])
def test_products_of_nothing_have_gradients(m: int, n: int, k: int, outer: tuple[int, ...]) -> None:
    a = torch.ones(*outer, m, k, dtype=torch.bfloat16, requires_grad=True)
    b = torch.ones(k, n, dtype=torch.bfloat16, requires_grad=True)
    bias = torch.zeros(n, dtype=torch.bfloat16, requires_grad=True)
    y = K.matmul(a, b, bias=bias)
    assert y.shape == (*outer, m, n) and not y.any()
    y.sum().backward()
    assert a.grad.shape == a.shape and b.grad.shape == b.shape and not a.grad.any() and not b.grad.any()
    assert bias.grad.tolist() == [float(2 * m if outer else m)] * n


def test_products_of_nothing_have_gradients_in_jax() -> None:
    jax = pytest.importorskip("jax")
    numpy = jax.numpy
    for m, n, k in ((2, 5, 0), (2, 0, 3)):
        a, b = numpy.ones((m, k), numpy.bfloat16), numpy.ones((k, n), numpy.bfloat16)
        of_a, of_b = jax.grad(lambda a, b: K.matmul(a, b).sum().astype(numpy.float32), (0, 1))(a, b)
        assert of_a.shape == a.shape and of_b.shape == b.shape and not of_a.any() and not of_b.any()


@pytest.mark.parametrize("scales", [((), ()), ((4, 1), (1, 8)), ((4, 0), (0, 1))])
def test_scaled_products_of_nothing_are_zeros(scales) -> None:
    a, b = (torch.zeros(shape).to(torch.float8_e4m3fn) for shape in ((4, 0), (8, 0)))
    y = K.scaled_matmul(a, b.mT, torch.full(scales[0], float("inf")), torch.ones(scales[1]))
    assert y.shape == (4, 8) and not y.any()


def test_no_groups() -> None:
    a = torch.ones(4, 16, dtype=torch.bfloat16, requires_grad=True)
    b = torch.ones(0, 16, 8, dtype=torch.bfloat16, requires_grad=True)
    y = K.grouped_matmul(a, b, torch.zeros(0, dtype=torch.int32), out_dtype=torch.float32)
    y.sum().backward()
    assert y.dtype == torch.float32 and y.shape == (4, 8) and not y.any()
    assert not a.grad.any() and b.grad.shape == b.shape


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("rows, ignored", [(0, False), (3, True)])
def test_the_mean_of_no_losses_has_no_gradients(dtype, rows: int, ignored: bool) -> None:
    x = torch.ones(rows, 8, dtype=dtype, requires_grad=True)
    weight, bias = (torch.ones(*shape, dtype=dtype, requires_grad=True) for shape in ((4, 8), (4,)))
    K.linear_cross_entropy(x, weight, torch.full((rows,), -100 if ignored else 0), bias=bias).backward()
    assert not x.grad.any() and not weight.grad.any() and not bias.grad.any()


@pytest.mark.parametrize("which", ["a", "b", "the next row of a"])
def test_out_is_apart_from_the_factors(which: str) -> None:
    memory = torch.zeros(65, 64, dtype=torch.bfloat16)
    a, b = memory[:64], torch.zeros(64, 64, dtype=torch.bfloat16)
    with pytest.raises(PtxError, match=r"output 0 .* lies where argument [01] .* does|overlaps argument 0"):
        K.matmul(a, b, out={"a": a, "b": b, "the next row of a": memory[1:]}[which])
    residual = torch.ones(64, 64, dtype=torch.bfloat16)
    assert K.matmul(a, b, residual=residual, out=residual) is residual


def test_arguments_that_do_not_fit() -> None:
    x, classes = torch.ones(3, 8), torch.zeros(3, dtype=torch.int64)
    for wrong, said in (
        (lambda: K.cross_entropy(x, classes, label_smoothing=2.0), r"`label_smoothing` is 2.0"),
        (lambda: K.cross_entropy(x, classes, z_loss="much"), r"`z_loss` is 'much'"),
        (lambda: K.rms_norm([1.0, 2.0]), r"`x` is a list"),
        (lambda: K.softmax([1.0, 2.0]), r"`x` is a list"),
        (lambda: K.matmul([1.0], [2.0]), r"`a` is a list"),
        (lambda: K.rms_norm(x, [1.0] * 8), r"`weight` is a list"),
        (lambda: K.rms_norm(x, eps="a"), r"`eps` is 'a'"),
        (lambda: K.rms_norm(x, np.ones(8, np.float32)), r"`weight` is a numpy.ndarray and `x` a torch.Tensor"),
    ):
        with pytest.raises(PtxError, match=said):
            wrong()
    assert set(K.__all__) == set(dir(K))


MOST = float(np.finfo(np.float32).max)
HUGE = {
    "largest": [MOST, MOST],
    "both signs": [MOST, -MOST],
    "largest and 0": [MOST, 0, 0, 0],
    "squares beyond f32": [1e20, 2e20, -1e20, 3e20],
    "equal": [1e30, 1e30],
    "squares within f32": [1e16, -2e16, 3e16, 0],
    "+inf": [np.inf, 0],
    "-inf": [-np.inf, 0],
    "all -inf": [-np.inf, -np.inf],
    "NaN": [np.nan, 0],
}


@pytest.mark.parametrize("row", HUGE)
@pytest.mark.parametrize("columns", [8, 1024])
def test_rows_of_huge_numbers_are_what_the_docstrings_say(row: str, columns: int) -> None:
    x = torch.tensor([(HUGE[row] * columns)[:columns]], dtype=torch.float32)
    one = torch.ones(columns)
    close = {"equal_nan": True, "rtol": 1e-5, "atol": 1e-6}
    torch.testing.assert_close(K.rms_norm(x, one, eps=1e-6), functional.rms_norm(x, (columns,), one, 1e-6), **close)
    torch.testing.assert_close(K.softmax(x), functional.softmax(x, -1), **close)
    torch.testing.assert_close(K.log_softmax(x), functional.log_softmax(x, -1), **close)
    target = torch.tensor([1])
    torch.testing.assert_close(K.cross_entropy(x, target), functional.cross_entropy(x, target), **close)
    if row in ("both signs", "squares beyond f32", "equal"):  # where torch has NaN
        assert not K.layer_norm(x, one).any()
    else:
        torch.testing.assert_close(K.layer_norm(x, one), functional.layer_norm(x, (columns,), one), **close)
